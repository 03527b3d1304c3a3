#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Recordings of which something is missing or damaged.

bats_require_minimum_version 1.5.0
load ../helpers

setup() {
	need python3
	cd "$BATS_TEST_TMPDIR" || return
	RECORDINGS=$BATS_TEST_DIRNAME/recordings
}

# stands_up MODE FILE: report of FILE cut or damaged: status 5 with a report or 1 without, and one clear line.
# MODE: every=N cuts at each N-th byte, last at each byte of the last block, random=N does damage with a fixed seed
stands_up() {
	python3 - "$BT" "$@" <<'PY'
import os, random, struct, subprocess, sys, tempfile
from multiprocessing.pool import ThreadPool

tool, mode, path = sys.argv[1:]
data = open(path, "rb").read()

def last_block():
    at = last = 16
    while at + 40 <= len(data):
        last, at = at, at + 40 + struct.unpack_from("<I", data, at + 12)[0]
    assert at == len(data)
    return last

def damaged(rng):
    while True:
        at = rng.randrange(len(data))
        n = min(rng.choice([1, 1, 2, 4, 64, 5000]), len(data) - at)
        new = rng.choice([
            lambda: data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:],
            lambda: data[:at] + rng.randbytes(n) + data[at + n:],
            lambda: data[:at] + bytes(n) + data[at + n:],
            lambda: data[:at] + data[at + n:],
            lambda: data[:at] + rng.randbytes(n) + data[at:],
            lambda: data[:at] + data[:at + n] + data[at + n:],
        ])()
        if new != data:
            return new

name, _, n = mode.partition("=")
if name == "every":
    cases = [("cut at %d" % i, data[:i]) for i in range(0, len(data), int(n))]
elif name == "last":
    cases = [("cut at %d" % i, data[:i]) for i in range(last_block(), len(data))]
else:
    rng = random.Random(20260131)
    cases = [("damage %d" % i, damaged(rng)) for i in range(int(n))]

def run(case):
    what, content = case
    with tempfile.NamedTemporaryFile(dir=".") as f:
        f.write(content)
        f.flush()
        try:
            p = subprocess.run([tool, "report", f.name, "--json", "-"], capture_output=True, timeout=20)
        except subprocess.TimeoutExpired:
            return None, what + ": hangs"
    err = p.stderr.decode(errors="replace")
    good = (p.returncode == 5 and p.stdout.endswith(b"}\n") or p.returncode == 1 and not p.stdout) and \
        err.startswith("barriertrace: ") and err.endswith("\n") and err[:-1].isprintable() and len(err) < 500
    return p.returncode, "" if good else "%s: status %d, %r" % (what, p.returncode, err)

with ThreadPool(os.cpu_count()) as pool:
    results = pool.map(run, cases, 8)
bad = [r[1] for r in results if r[1]]
print(len(cases), "cases, status 5:", sum(r[0] == 5 for r in results), "status 1:", sum(r[0] == 1 for r in results))
print("\n".join(bad[:10]))
sys.exit(bool(bad) or not cases)
PY
}

@test "damaged: cut off anywhere" {
	stands_up every=97 "$RECORDINGS/sqlite.btrec"
}

@test "damaged: cut off at each byte of the last block" {
	stands_up last "$RECORDINGS/blocks.btrec"
}

@test "damaged: anywhere" {
	stands_up random=200 "$RECORDINGS/sqlite.btrec"
}
