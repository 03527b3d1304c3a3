#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# A ring buffer that is full, calls that outlast thousands of others, memory of the kernel side. What the tool takes of CPU and
# memory: ../truth/scale.bats. What cannot be made here (days, more than these CPUs yield) is replayed: ../truth/replay.bats.

bats_require_minimum_version 1.5.0
load ../helpers
load ../truth/scale

setup() {
	need_rig
}

teardown() {
	clean_up
}

@test "as many sync calls as two CPUs can make, when the run begins: the ends of all whose beginnings were seen are" {
	local i
	cd "$BATS_TEST_TMPDIR"
	memory_disk
	start "$STORM" "$MNT/file" 2 10000000 60 > made
	for i in 1 2 3; do
		"$BT" "$DISK" -d 0.1 -q --json begun.json || [[ $? == 5 ]]
		jq -c '[.run.lost, .sync.count, .sync.no_ledger]' begun.json
		jq -e '[.run.lost[]? | select(.reason | test("end was not seen"))] == [] and .sync.count > 100 and .sync.no_ledger == 0' begun.json
	done
	kill "$STARTED"
	wait "$STARTED" || true
}

# Twice per reading something is unmapped, the second time before the reader forgets that it was woken meanwhile.
@test "a reader that is held up until the ring buffer is full reads on" {
	local readings
	need strace jq
	cd "$BATS_TEST_TMPDIR"
	memory_disk
	start "$BT" "$DISK" --memory "$(least_memory "$DISK")" --json storm.json -o storm.txt -- "$STORM" "$MNT/file" 2 10000000 4 > made
	eventually 10 is_tracing "$STARTED"
	timeout 3 strace -ttt -e trace=mmap,munmap -e signal=none -e inject=munmap:delay_exit=20000 -o calls -p "$STARTED" 2> err || true
	status_of "$STARTED" || [[ $? == 5 ]]
	read -r readings _ < <(readings calls)
	comment "$readings readings; $(ring_was_full storm.json) of $(< made) calls were lost"
	holds "$(ring_was_full storm.json) > 0 && $readings >= 30"
	# not one of the calls goes unsaid, and what they took bounds what can be wrong
	jq -c '.run.lost, .run.incomplete, .sync.without_ledger' storm.json
	jq -e --argjson made "$(< made)" '([.run.lost[] | select(.reason | startswith("sync calls")) | .count] | add // 0) as $lost |
		.sync.count + .sync.no_ledger + $lost == $made and .sync.without_ledger.dropped == .sync.no_ledger + $lost and
		([.run.lost[].at_most_share] | all(. >= 0 and . <= 1)) and .run.incomplete == (([.run.lost[].at_most_share] | add) >= 0.01)' storm.json
}

# ---- what the kernel side takes ----

# Bytes that the kernel accounts for the maps of a process, of which some have several descriptors
maps_of() { # PID
	cat "/proc/$1/fdinfo/"* 2>"$BATS_TEST_TMPDIR/gone" |
		awk '/^memlock/ { n = $2 } /^map_id/ { of[$2] = n } END { for (id in of) sum += of[id]; print sum + 0 }'
}

# said FILE: what was stated before load, in KiB
said() {
	sed -n 's/.*memory of the kernel side: .*: \([0-9.]*\) \([KM]\)iB in all.*/\1 \2/p' "$1" |
		awk '{ print int($1 * ($2 == "M" ? 1024 : 1)) }'
}

# What is remembered of requests and sleeps is what calls under way may ask for, however long they take, and those whose records
# are still to be read: a recording's report, which remembers all, is the same.
# outlasting US CALLS: so many calls on a disk whose writes and flushes take so long, beside thousands on another one
outlasting() {
	local slow_disk slow_mnt
	need fio jq
	rig_up --flush-us "$1" --write-us "$1" --fs ext4-nojournal --sched none
	slow_disk=$RIG_DISK slow_mnt=$RIG_MNT
	on_exit "$RIG_TOOL down $RIG"
	rig_up --flush-us 0 --write-us 0 --fs ext4 --sched none
	status=0
	"$BT" record -q -o "$BATS_TEST_TMPDIR/rec" --json "$BATS_TEST_TMPDIR/live" "$slow_disk" "$RIG_DISK" -- sh -c '
		{ sleep 0.5; for i in $(seq "$3"); do dd if=/dev/zero of="$1/f" bs=4k count=1 conv=fdatasync; done; } &
		fio --name=f --directory="$2" --size=4m --rw=randwrite --bs=4k --ioengine=sync --fdatasync=1 --overwrite=1 \
			--numjobs=4 --time_based --runtime=2 --minimal
		wait' - "$slow_mnt" "$RIG_MNT" "$2" > /dev/null 2>&1 || status=$?
	[[ $status == 0 || $status == 5 ]]
	"$BT" report -q --json "$BATS_TEST_TMPDIR/later" "$BATS_TEST_TMPDIR/rec" || [[ $? == 5 ]]
	jq '[.sync.count, .sync.slowest[0].duration_ns, .sync.slowest[0].ledger]' "$BATS_TEST_TMPDIR/live"
	jq -e --argjson us "$1" '.sync.count > 1000 and .sync.slowest[0].duration_ns > 1400 * $us' "$BATS_TEST_TMPDIR/live"
	diff <(jq -S .sync "$BATS_TEST_TMPDIR/live") <(jq -S .sync "$BATS_TEST_TMPDIR/later")
}

@test "a call that outlasts thousands of others on another disk is explained as in the recording" {
	outlasting 1000000 1
}

@test "calls that outlast hundreds of others, and are read together with them, are explained as in the recording" {
	outlasting 25000 40
}

@test "memory of the kernel side is stated before load, and is what the kernel accounts for it" {
	local args stated actual runs
	rig_up --flush-us 0 --write-us 0
	runs=("$RIG_DISK --no-ledger" "$RIG_DISK" "$RIG_DISK --memory 16M" "")
	if [[ -e /sys/class/zram-control/hot_add ]]; then
		zram_up
		runs+=("$ZRAM --no-ledger")
	fi
	for args in "${runs[@]}"; do
		# shellcheck disable=SC2086
		start_tracing $args --plain -v -o "$BATS_TEST_TMPDIR/text"
		stated=$(said "$ERR") actual=$(($(maps_of "$STARTED") / 1024))
		comment "'$args': $stated KiB stated, $actual KiB taken"
		stop_tracing "$STARTED"
		holds "$stated > $actual * 0.98 - 60 && $stated < $actual * 1.1 + 100"
		[[ $args != *16M ]] || holds "$actual <= 16 * 1024 * 1.02"
	done
}

@test "--memory: what is too little is refused with the least that is not, and that is enough" {
	local least
	rig_up --flush-us 0 --write-us 0
	run -2 "$BT" "$RIG_DISK" --memory 1M -- true
	[[ $output == *"--memory 1 MiB is too little: for 1 disk on "*" the kernel side takes "*" at least"* ]]
	least=$(sed -n 's/.* takes \([0-9]*M\) at least.*/\1/p' <<< "$output")
	comment "$least"
	"$BT" "$RIG_DISK" --memory "$least" --json "$BATS_TEST_TMPDIR/json" -o "$BATS_TEST_TMPDIR/text" -- \
		sh -c "echo > $RIG_MNT/file; sync $RIG_MNT/file"
	jq -e '.sync.count == 1 and (.run.lost // []) == []' "$BATS_TEST_TMPDIR/json"
	grep -q 'ring buffer is 1 MiB, to keep within --memory' "$BATS_TEST_TMPDIR/text"
}
