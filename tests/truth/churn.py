# SPDX-License-Identifier: GPL-2.0-only
"""usage: churn.py write DIR NAMES RATE SECONDS    files of so many names are made, synced and removed, RATE a second; every hundred of
                                                them by a process of its own, in a cgroup of its own where there can be one
       churn.py read N                          what -i --json writes: each line adds up, and names N of each kind at most;
                                                prints of the intervals how many, the bytes of the longest, most names"""
import json
import os
import sys
import time

ROOTS = "/sys/fs/cgroup/unified", "/sys/fs/cgroup", "/sys/fs/cgroup/pids"


def cgroup(number):
    for root in ROOTS:
        path = f"{root}/barriertrace-churn-{os.getpid()}-{number}"
        try:
            if os.path.exists(root + "/cgroup.procs"):
                os.mkdir(path)
                return path
        except OSError:
            pass
    return None


def some(where, first, pause):
    for i in range(first, first + 100):
        path = f"{where}/name-{i}"
        with open(path, "wb") as f:
            f.write(b"x" * 512)
            f.flush()
            os.fsync(f.fileno())
        os.unlink(path)
        time.sleep(pause)


def write(where, names, rate, seconds):
    end, first = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        group = cgroup(first // 100)
        child = os.fork()
        if not child:
            if group:
                with open(group + "/cgroup.procs", "w") as f:
                    f.write("0")
            some(where, first, 1 / rate)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        if group:
            os.rmdir(group)
        if status:
            sys.exit(f"the child failed: {status}")
        first = (first + 100) % names
    print("in cgroups" if group else "without cgroups")


def read(top):
    lines = longest = most = 0
    for line in sys.stdin:
        report = json.loads(line)
        sync, interval = report["sync"], "interval" in report["run"]
        for kind, key in (("by_file", "total_ns"), ("by_process", "total_ns"), ("leaves", "ns")):
            rows = sync.get(kind, [])
            if sum(row[key] for row in rows) != sync["total_ns"]:
                sys.exit(f"{kind} does not add up: {line}")
        names = max((len(sync.get(kind, [])) for kind in ("by_file", "by_process")), default=0)
        if not interval:
            continue
        if names > top + 1:
            sys.exit(f"{names} names: {line}")
        lines, longest, most = lines + 1, max(longest, len(line)), max(most, names)
    print(lines, longest, most)


if sys.argv[1] == "write":
    write(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
else:
    read(int(sys.argv[2]))
