#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What the tool itself takes, and how many sync calls a second it follows without losing one. What cannot be made here (more than
# these CPUs yield, days) is replayed: tests/golden/replay.bats.

bats_require_minimum_version 1.5.0
load ../helpers

setup() {
	need_rig
}

try_tests_again

teardown() {
	clean_up
}

resident() { # PID: KiB
	awk '/^VmRSS/ { print $2 }' "/proc/$1/status"
}

takes_at_most() { # KIB PID
	(($(resident "$2") <= $1))
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

# ---- sync calls by the thousand ----

# A disk in memory, whose file system has neither a journal nor barriers: calls are as cheap as can be
memory_disk() {
	local image=/dev/shm/barriertrace.$$.img loop
	need mkfs.ext4
	STORM=$BATS_TEST_TMPDIR/storm MNT=$BATS_TEST_TMPDIR/mnt
	"${CC:-cc}" -O2 -pthread -o "$STORM" "$TOP/tests/live/storm.c"
	truncate -s 32M "$image"
	on_exit "rm -f $image"
	mkfs.ext4 -q -F -O ^has_journal "$image"
	loop=$(losetup -f --show "$image")
	on_exit "losetup -d $loop"
	mkdir "$MNT"
	mount -o nobarrier "$loop" "$MNT"
	on_exit "umount $MNT"
	DISK=${loop#/dev/}
}

# CPU time of the tool's threads so far, ns
cpu_of() { # PID
	cat "/proc/$1/task/"*/schedstat | awk '{ sum += $1 } END { printf "%d\n", sum }'
}

# storm RATE SECONDS [COMMAND]: runs it under the tool; COMMAND PID meanwhile
storm() {
	start "$BT" "$DISK" --json storm.json -o storm.txt -- "$STORM" "$MNT/file" 2 "$1" "$2" > made
	eventually 10 is_tracing "$STARTED"
	[[ ! ${3:-} ]] || "$3" "$STARTED"
	status_of "$STARTED"
	comment "$(< made) calls in $2 s"
}

nothing_lost() {
	jq -e --argjson made "$(< made)" '(.run.lost // []) == [] and .sync.count == $made' storm.json > /dev/null ||
		{ jq -c '[.run.lost, .sync.count]' storm.json; return 1; }
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

@test "as many sync calls as two CPUs can make, when the run begins: the ends of all whose beginnings were seen are" {
	local i
	cd "$BATS_TEST_TMPDIR"
	memory_disk
	start "$STORM" "$MNT/file" 2 10000000 5 > made
	for i in 1 2 3; do
		"$BT" "$DISK" -d 0.1 -q --json begun.json || [[ $? == 5 ]]
		jq -c '[.run.lost, .sync.count, .sync.no_ledger]' begun.json
		jq -e '[.run.lost[]? | select(.reason | test("end was not seen"))] == [] and .sync.count > 100 and .sync.no_ledger == 0' begun.json
	done
	status_of "$STARTED"
}

# readings FILE: of what strace saw, how often the ring buffer was read (first comes a look at the calls under way, at a map's
# beginning), in how many pieces it was mapped for that, and how often it was read again at once
readings() {
	awk '/^[0-9. ]+munmap/ { ended = $1 }
		!/PROT_READ, MAP_SHARED/ { next }
		/, 0\) = / { readings++; again += ended && $1 - ended < 0.005; next }
		{ pieces++ }
		END { print readings + 0, pieces + 0, again + 0 }' "$1"
}

@test "what waits is read in one go, and what is not needed any more is forgotten meanwhile: 17 MiB resident at most" {
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
	holds "$readings >= 2 && $pieces <= $readings + 1 && $again == 0 && $RESIDENT <= 17 * 1024"
}

# least_memory DISK: the least that --memory may say, with which the ring buffer has 1 MiB
least_memory() {
	"$BT" "$1" --memory 1M -- true 2>&1 | sed -n 's/.* takes \([0-9]*M\) at least.*/\1/p'
}

ring_was_full() { # JSON: how many facts it had no room for
	jq '[.run.lost[]? | select(.reason | test("ring buffer was full")) | .count] | add // 0' "$1"
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
		{ sleep 1; for i in $(seq "$3"); do dd if=/dev/zero of="$1/f" bs=4k count=1 conv=fdatasync; done; } &
		fio --name=f --directory="$2" --size=4m --rw=randwrite --bs=4k --ioengine=sync --fdatasync=1 --overwrite=1 \
			--numjobs=4 --time_based --runtime=6 --minimal
		wait' - "$slow_mnt" "$RIG_MNT" "$2" > /dev/null 2>&1 || status=$?
	[[ $status == 0 || $status == 5 ]]
	"$BT" report -q --json "$BATS_TEST_TMPDIR/later" "$BATS_TEST_TMPDIR/rec" || [[ $? == 5 ]]
	jq '[.sync.count, .sync.slowest[0].duration_ns, .sync.slowest[0].ledger]' "$BATS_TEST_TMPDIR/live"
	jq -e --argjson us "$1" '.sync.count > 6000 and .sync.slowest[0].duration_ns > 1400 * $us' "$BATS_TEST_TMPDIR/live"
	diff <(jq -S .sync "$BATS_TEST_TMPDIR/live") <(jq -S .sync "$BATS_TEST_TMPDIR/later")
}

@test "a call that outlasts thousands of others on another disk is explained as in the recording" {
	outlasting 1500000 1
}

@test "calls that outlast hundreds of others, and are read together with them, are explained as in the recording" {
	outlasting 25000 50
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
