#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What the kernel makes of our programs.

load ../helpers

setup() {
	need_tracing
	need bpftool jq
}

teardown() {
	clean_up
}

# no_copies PID PROGRAM: it never calls the helper that copies memory of the kernel
no_copies() {
	local id ids
	ids=$(sed -n 's/^prog_id:\s*//p' "/proc/$1/fdinfo/"* | sort -nu | paste -sd,)
	id=$(bpftool prog show -j | jq --arg name "$2" "[.[] | select(.name == \$name and (.id | IN($ids)))][0].id")
	bpftool prog dump xlated id "$id" opcodes >"$BATS_TEST_TMPDIR/program"
	[[ -s $BATS_TEST_TMPDIR/program ]]
	! grep 'call bpf_probe_read_kernel#' "$BATS_TEST_TMPDIR/program"
}

@test "programs: at each system call, memory of the kernel is loaded and not copied, where programs may say what lies there" {
	grep -qw bpf_rdonly_cast /proc/kallsyms || skip 'missing: bpf_rdonly_cast'
	start_tracing -q -o "$BATS_TEST_TMPDIR/text" --json "$BATS_TEST_TMPDIR/json"
	no_copies "$STARTED" sys_enter_btf
	no_copies "$STARTED" sys_exit_btf
	stop_tracing "$STARTED"
}

# Nor has one that it would never come to: such a program is not loaded at all. Many kernels can't be told to interpret: this says so only.
@test "programs: where the kernel says that it interprets programs, they call none of its functions" {
	need strace
	need_mount_namespace
	cd "$BATS_TEST_TMPDIR"
	echo 0 >interprets
	# shellcheck disable=SC2016  # for the inner shell
	unshare -m sh -c 'mount --bind interprets /proc/sys/net/core/bpf_jit_enable && exec "$@"' - \
		strace -f -v -e trace=bpf -o calls "$BT" probes >probes
	grep -c 'prog_type=BPF_PROG_TYPE_TRACING' calls
	grep -q 'BPF_CALL, dst_reg=BPF_REG_0, src_reg=BPF_REG_0' calls
	# BPF_PSEUDO_KFUNC_CALL
	! grep -o 'BPF_CALL, dst_reg=BPF_REG_0, src_reg=BPF_REG_2[^}]*' calls
}

# What all tasks of a CPU do is missed by classic tracepoints while one is preempted within such a call.
@test "programs: few changes of maps are made, as classic tracepoints miss what happens meanwhile" {
	need strace
	strace -f -e trace=bpf,ioctl -o "$BATS_TEST_TMPDIR/calls" "$BT" -q --rung sync=tp -o "$BATS_TEST_TMPDIR/text" -- true
	awk '/BPF_PERF_EVENT|PERF_EVENT_IOC_SET_BPF/ { there = 1 } /BPF_MAP_UPDATE_ELEM/ { n[there + 0]++ } END { print n[0], n[1]; exit !(n[0] > 0 && n[0] + n[1] < 100) }' \
		"$BATS_TEST_TMPDIR/calls"
}

# held PID KIND NAME: the id of the program or map (KIND) of this name that the process holds
held() {
	local ids
	ids=$(sed -n "s/^$2_id:\s*//p" "/proc/$1/fdinfo/"* | sort -nu | paste -sd,)
	bpftool "$2" show -j | jq -e "[.[] | select(.name == \"$3\" and (.id | IN($ids)))][0].id"
}

# ids_kept PID: of the tasks of which the tool with this number keeps a state; 65535: the task has ended
ids_kept() {
	bpftool map dump id "$(held "$1" map pids)" -j |
		jq '.[].formatted | .key as $chunk | .value.entry | to_entries[] | select(.value > 0 and .value < 65535) | $chunk * 64 + .key'
}

# follow PID TASK: the tool with this number follows the task, as it does at its start with a journal's
follow() {
	need "${CC:-cc}"
	"${CC:-cc}" -o follow "$TOP/tests/live/follow.c" -lbpf
	./follow "$(held "$1" prog seed)" "$2"
}

# Who ends wakes its parent, and has then told already that it ends.
@test "programs: of processes that have ended nothing is kept, whomever they wake in their end" {
	local kept gone parent
	cd "$BATS_TEST_TMPDIR"
	start_tracing -q --eager -o text --json json
	mkfifo go
	start sh -c 'read -r go <go; for i in $(seq 300); do /bin/true; done; echo done >done; read -r go <go'
	parent=$STARTED
	follow "${PIDS[0]}" "$parent"
	echo >go
	eventually 5 test -s done
	kept=$(ids_kept "${PIDS[0]}")
	stop_tracing "${PIDS[0]}"
	gone=$(gone_of "$kept")
	echo "kept: $(wc -w <<<"$kept"), of tasks that have ended: $gone"
	grep -qx "$parent" <<<"$kept"
	((gone < 30))
}

# gone_of IDS: how many of these tasks there are no more
gone_of() {
	local id gone=0
	for id in $1; do
		[[ -e /proc/$id ]] || ((++gone))
	done
	echo "$gone"
}

crowd() {
	"${CC:-cc}" -O2 -o crowd "$TOP/tests/live/crowd.c"
}

# A disk in memory with a journal and four requests, mounted on mnt; its name in $DISK. It goes with clean_up.
journaled_disk() {
	local image
	image=$(mktemp /dev/shm/barriertrace-disk.XXXXXX)
	on_exit "rm -f $image"
	truncate -s 200M "$image"
	mkfs.ext4 -q -F "$image"
	DISK=$(losetup -f --show "$image")
	on_exit "losetup -d $DISK"
	mkdir mnt
	mount "$DISK" mnt
	on_exit "umount $BATS_TEST_TMPDIR/mnt"
	DISK=${DISK#/dev/}
	echo none >"/sys/block/$DISK/queue/scheduler"
	on_exit give_requests_back
	echo 4 >"/sys/block/$DISK/queue/nr_requests"
}

# A loop device keeps its number when it gets another file, and takes as many only if the number changes.
give_requests_back() {
	echo 64 >"/sys/block/$DISK/queue/nr_requests"
	echo 128 >"/sys/block/$DISK/queue/nr_requests"
}

# Tasks of other tests may be helpers here, and may have ended just now.
few_gone() { # PID
	local kept
	kept=$(ids_kept "$1")
	gone=$(gone_of "$kept")
	((gone < 5))
}

# Each frees the request that a syncing task, or its journal, waits for, and has ended when that is told.
@test "programs: of 10,000 processes that write past the page cache and end nothing is kept, and no sync call is refused for want of room" {
	local gone
	need losetup mkfs.ext4 "${CC:-cc}"
	cd "$BATS_TEST_TMPDIR"
	crowd
	journaled_disk
	start_tracing "$DISK" -q --eager --plain -o text --json json
	./crowd enders mnt 10000
	eventually 5 few_gone "$STARTED" || { echo "kept of tasks that have ended: $gone"; false; }
	stop_tracing "$STARTED"
	jq -c '[.sync.count, .run.lost]' json
	jq -e '.sync.count > 100 and ([.run.lost[]? | select(.reason | test("too many at once"))] == [])' json
}

# More than there is room for, which is told, and none of them has to do with the sync calls.
@test "programs: 400 tasks that wake one that is followed, at once: no ledger has time of theirs" {
	need_loop_fuse
	need "${CC:-cc}" fio
	cd "$BATS_TEST_TMPDIR"
	crowd
	rig_up --flush-us 1000 --write-us 100 --fs ext4 --sched none
	start_tracing "$RIG_DISK" -q --eager --plain -o text --json json --folded folded
	start ./crowd wakers 400 100 3
	follow "${PIDS[0]}" "$STARTED"
	fio --name=f --directory="$RIG_MNT" --size=4m --rw=write --bs=4k --ioengine=sync --fdatasync=1 --numjobs=4 --time_based \
		--runtime=3 --output=fio
	stop_tracing "${PIDS[0]}"
	jq -c '[.sync.count, .sync.no_ledger, .sync.ledger.unknown / .sync.total_ns, .run.lost]' json
	jq -e '.sync.count > 100 and .sync.no_ledger == 0 and .sync.ledger.unknown < .sync.total_ns / 20' json
	jq -e '[.run.lost[].reason | select(test("too many"))] == ["tasks that sync calls waited for, not followed: too many"]' json
	[[ -s folded ]]
	! grep -E 'waker|crowd' folded
}

# told RECORDING: of the sleeps of the task called napper, how many were told until the task of the longest sync call had slept for the last
# time in it, how many between that and the record of the call, and how many of them twice
told() {
	python3 - "$1" <<-'END'
		import struct, subprocess, sys
		SYNC, SLEEP, FOLLOW = 1, 2, 4
		data, at, records = open(sys.argv[1], "rb").read(), 16, []
		while at < len(data):
		    length, stored = struct.unpack_from("<II", data, at + 8)
		    block = data[at + 40 : at + 40 + stored]
		    if stored < length:
		        block = subprocess.run(["zstd", "-dcq"], input=block, stdout=subprocess.PIPE, check=True).stdout
		    at, i = at + 40 + stored, 0
		    while i < length:
		        kind, size = struct.unpack_from("<HH", block, i)
		        records.append((kind, block[i : i + size]))
		        i += size + 7 & ~7
		word = lambda r, offset: struct.unpack_from("<I", r, offset)[0]
		napper = next(word(r, 16) for kind, r in records if kind == FOLLOW and r[32:39] == b"napper\0")
		call = max((i for i, (kind, r) in enumerate(records) if kind == SYNC and not r[102]),
		           key=lambda i: int.__sub__(*struct.unpack_from("<QQ", records[i][1], 8)[::-1]))
		last = max(i for i, (kind, r) in enumerate(records[:call]) if kind == SLEEP and word(r, 48) == word(records[call][1], 40))
		naps = [(i, word(r, 56)) for i, (kind, r) in enumerate(records) if kind == SLEEP and word(r, 48) == napper]
		print(sum(i < last for i, seq in naps), sum(last < i < call for i, seq in naps), len(naps) - len({seq for i, seq in naps}))
	END
}

# nap END: a sync call, beside those of others (which are passed over), and meanwhile a helper that has slept 60 times wakes somebody who is followed
nap() {
	start_tracing record -q --eager -p "$BASHPID" -o recording "$RIG_DISK"
	start ./crowd naps 60 "$1"
	follow "${PIDS[-2]}" "$STARTED"
	start dd if=/dev/zero of="$RIG_DEV" bs=4k count=1 conv=fsync status=none
	eventually 3 grep -q '^State:.D' "/proc/$STARTED/status" # it waits for the disk
	timeout 5 sh -c ": >go"
	wait "$STARTED"
	stop_tracing "${PIDS[-3]}"
	told recording >told
	cat told
	read -r before rest twice <told
	((before + rest >= 60 && !twice))
}

# Interrupts are off then, and other CPUs may spin for the lock. This is one history. What else a wake-up sends
# (works that led to it, a sleep that was missed, what a bio displaces) is bounded where it is sent: see WAKEUP_ROOM.
@test "programs: of what a helper did, a wake-up sends few records, and the rest comes before that of the call that it was in" {
	local before rest twice
	need_loop_fuse
	need "${CC:-cc}" python3 zstd
	cd "$BATS_TEST_TMPDIR"
	crowd
	mkfifo go
	rig_up --flush-us 4000000 --fs none
	nap 0
	((before > 0 && before <= 32))
	nap 1 # it ends before the call does
}
