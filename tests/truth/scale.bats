#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What the tool itself takes, and how many sync calls a second it follows without losing one.

load ../helpers
load scale

setup() {
	need_rig
}

teardown() {
	clean_up
}

# at_rest PID: resident memory once a second has passed, since when sync calls can be explained at any time. What else the machine
# syncs meanwhile is remembered for a while, so no longer than needed.
at_rest() {
	sleep 1.2
	eventually 5 takes_at_most 12288 "$1" || true
	comment "$(resident "$1") KiB resident at rest, $(awk '/^Pss:/ { print $2 }' "/proc/$1/smaps_rollup") of them nobody else's"
	takes_at_most 12288 "$1"
}

@test "resident memory at rest, watching one disk: 12 MiB" {
	rig_up --flush-us 0 --write-us 0
	start_tracing "$RIG_DISK" --plain -o "$BATS_TEST_TMPDIR/text"
	at_rest "$STARTED"
	stop_tracing "$STARTED"
}

@test "resident memory at rest, beside a command and with outputs that list every call: 12 MiB" {
	rig_up --flush-us 0 --write-us 0
	start_tracing "$RIG_DISK" --db "$BATS_TEST_TMPDIR/db" --csv "$BATS_TEST_TMPDIR/csv" -- sleep 4
	at_rest "$STARTED"
	status_of "$STARTED"
}

# CPU time of the tool's threads so far, ns
cpu_of() { # PID
	cat "/proc/$1/task/"*/schedstat | awk '{ sum += $1 } END { printf "%d\n", sum }'
}

userspace_cpu() { # PID
	local before
	sleep 0.5
	before=$(cpu_of "$1")
	sleep 3
	SHARE=$((($(cpu_of "$1") - before) / 30000000))
	RESIDENT=$(resident "$1")
	comment "$SHARE % of a core"
}

@test "20,000 sync calls a second: none lost, user space takes 10 % of a core at most" {
	cd "$BATS_TEST_TMPDIR"
	memory_disk
	storm 20000 5 userspace_cpu
	nothing_lost
	holds "$SHARE <= 10"
}

# Some 350,000 a second with 2 CPUs: the ring buffer is filled several times over. That it stays unmapped is what keeps the
# resident memory small.
@test "as many sync calls as two CPUs can make: none lost, and 24 MiB resident at most" {
	cd "$BATS_TEST_TMPDIR"
	memory_disk
	storm 10000000 5 userspace_cpu
	nothing_lost
	holds "$RESIDENT <= 24 * 1024"
}

@test "a busy trace drains the ring in one go and forgets old data: at most 20 MiB resident" {
	local readings pieces again
	need fio strace
	rig_up --flush-us 0 --write-us 0 --fs ext4 --sched none
	start "$BT" "$RIG_DISK" --json "$BATS_TEST_TMPDIR/json" -o "$BATS_TEST_TMPDIR/text" -- fio --name=f --directory="$RIG_MNT" \
		--size=4m --rw=randwrite --bs=4k --ioengine=sync --fdatasync=1 --overwrite=1 --numjobs=4 --time_based --runtime=6 --minimal \
		> "$BATS_TEST_TMPDIR/fio"
	eventually 10 is_tracing "$STARTED"
	sleep 1
	timeout 4 strace -ttt -e trace=mmap,munmap -e signal=none -o "$BATS_TEST_TMPDIR/calls" -p "$STARTED" 2> "$BATS_TEST_TMPDIR/err" || true
	RESIDENT=$(resident "$STARTED")
	status_of "$STARTED"
	read -r readings pieces again < <(readings "$BATS_TEST_TMPDIR/calls")
	comment "$readings readings in $pieces pieces, $again at once after another; $RESIDENT KiB resident"
	holds "$readings >= 2 && $pieces <= $readings + 1 && $again == 0 && $RESIDENT <= 20 * 1024"
}

# Nobody is woken within a call.
@test "one call that sends more than the ring buffer holds: nothing is lost" {
	need fio jq
	rig_up --flush-us 0 --write-us 0 --fs ext4-nojournal --sched none --nr-requests 4
	dd if=/dev/zero of="$RIG_MNT/f" bs=1M count=160 conv=fsync status=none
	# every second page: no two writes are one, and few find a free request
	fio --name=f --filename="$RIG_MNT/f" --size=160m --rw=write:4k --bs=4k --ioengine=sync --end_fsync=0 --minimal > /dev/null
	"$BT" "$RIG_DISK" --memory "$(least_memory "$RIG_DISK")" --json "$BATS_TEST_TMPDIR/json" -o "$BATS_TEST_TMPDIR/text" -- \
		sync -d "$RIG_MNT/f" || [[ $? == 5 ]]
	jq -c '[.run.lost, .sync.count, .sync.no_ledger, .devices[0].ops.write.count]' "$BATS_TEST_TMPDIR/json"
	[[ $(ring_was_full "$BATS_TEST_TMPDIR/json") == 0 ]]
	jq -e '.sync.count + .sync.no_ledger == 1 and .devices[0].ops.write.count > 10000' "$BATS_TEST_TMPDIR/json"
}

# Two minutes (BARRIERTRACE_CHURN_SECONDS for more), in the first sixth of which all names have come once.
@test "20,000 names that come and go, in 200 cgroups: memory stays as it is once all have come, and intervals are short" {
	cd "$BATS_TEST_TMPDIR"
	local seconds=${BARRIERTRACE_CHURN_SECONDS:-120} i kib=() out
	need python3 fio
	memory_disk
	start_tracing "$DISK" -i 1 --json - > >(python3 "$TOP/tests/truth/churn.py" read 100 > stream)
	# calls that another task carries out keep nothing that comes after them
	fio --name=aio --filename="$MNT/aio" --size=64k --rw=write --ioengine=libaio --fsync=1 --output=fio.txt
	python3 "$TOP/tests/truth/churn.py" write "$MNT" 20000 $((120000 / seconds + 1)) "$seconds" > churned 3>&- &
	for ((i = 1; i <= 12; i++)); do
		sleep $((seconds / 12))
		kib[i]=$(resident "$STARTED")
		comment "after $((i * seconds / 12)) s: ${kib[i]} KiB"
	done
	wait $! # the load
	stop_tracing "$STARTED"
	eventually 5 test -s stream
	comment "$(< churned); lines, longest, most names: $(< stream)"
	read -r -a out < stream
	holds "${out[0]} >= $seconds - 5 && ${out[1]} < 250000"
	holds "${kib[12]} <= ${kib[6]} + 1024"
}
