#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Is the disk with known latencies what it says? Everything else that is
# measured live rests on it.

load ../helpers

setup() {
	need_loop_fuse
}

teardown() {
	rig_down
	[[ ! ${holder:-} ]] || kill "$holder" 2>/dev/null || true
}

# counters DISK: reads, writes, sectors written, flushes of the kernel
counters() {
	printf '%s ' "$(kernel_stat "$1" 1)" "$(kernel_stat "$1" 5)" "$(kernel_stat "$1" 7)" \
		"$(kernel_stat "$1" 16)"
}

# Nothing of the rig in directory $1, on disk $2, with daemon $3 and guard $4
nothing_left() {
	local pid
	[[ ! -e $1 ]] || { echo "directory $1"; return 1; }
	! grep -F "$1" /proc/self/mountinfo || return 1
	! grep -sF "$1" "/sys/block/$2/loop/backing_file" || return 1
	for pid in "$3" "$4"; do
		! tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -F "$1" || return 1
	done
}

# within SECONDS COMMAND...
within() {
	local end=$((SECONDS + $1 + 1))
	shift
	until "$@" >/dev/null; do
		((SECONDS < end)) || { "$@"; return; }
		sleep 0.05
	done
}

@test "rig: reads, bytes and flushes are as many as the kernel counts" {
	local before after extra
	need sqlite3
	rig_up --fs ext4 --flush-us 200 --write-us 50
	before=$(counters "$RIG_DISK")
	[[ $(rig_stat write_count) == 0 && $(rig_stat flush_count) == 0 ]]
	sqlite_inserts "$RIG_MNT/db" 50
	[[ $(sqlite3 "$RIG_MNT/db" 'SELECT count(*) FROM pts1') == 50 ]]
	sync -f "$RIG_MNT"
	read -ra before <<<"$before"
	read -ra after <<<"$(counters "$RIG_DISK")"
	echo "kernel: ${before[*]} to ${after[*]}; daemon: $(grep count "$RIG_STATS" | tr '\n' ' ')"
	((after[0] - before[0] == $(rig_stat read_count)))
	((after[2] - before[2] == $(rig_stat write_bytes) / 512))
	((after[3] - before[3] == $(rig_stat flush_count)))
	# four syncs per insert at least, each with one flush or more
	(($(rig_stat flush_count) >= 200 && $(rig_stat write_count) >= 200))
	# the kernel also counts as a write each request that is nothing but a flush
	extra=$((after[1] - before[1] - $(rig_stat write_count)))
	((extra >= 0 && extra <= $(rig_stat flush_count)))
}

@test "rig: writes are as many as the kernel counts, large ones too" {
	local before i
	rig_up --fs none
	# FUSE takes 1 MiB at once, and splits what is larger
	(($(<"/sys/block/$RIG_DISK/queue/max_sectors_kb") <= 512))
	before=$(kernel_stat "$RIG_DISK" 5)
	dd if=/dev/zero of="$RIG_DEV" bs=4M count=8 oflag=direct status=none
	dd if=/dev/zero of="$RIG_DEV" bs=512 count=50 seek=100 oflag=direct status=none
	echo "kernel: $(($(kernel_stat "$RIG_DISK" 5) - before)), daemon: $(rig_stat write_count)"
	(($(kernel_stat "$RIG_DISK" 5) - before == $(rig_stat write_count)))
	(($(rig_stat write_count) >= 64 + 50))
	[[ $(rig_stat write_bytes) == $(((32 << 20) + 50 * 512)) ]]
	for i in 1 2 3; do
		sync "$RIG_DEV"
	done
	[[ $(rig_stat flush_count) == 3 ]]
	(($(kernel_stat "$RIG_DISK" 5) - before == $(rig_stat write_count) + 3))
}

@test "rig: requests are served in parallel, as many as there are channels" {
	local channels
	need fio jq
	rig_up --fs none --write-us 20000
	for channels in 0 1; do
		"$RIG_TOOL" set "$RIG" channels=$channels reset
		fio --name=w --filename="$RIG_DEV" --direct=1 --rw=randwrite --bs=4k --iodepth=8 \
			--ioengine=libaio --number_ios=40 --output-format=json \
			--output="$BATS_TEST_TMPDIR/fio" >/dev/null
		comment "channels=$channels: $(rig_stat in_service_max) at once"
		[[ $(rig_stat in_service_max) == $((channels ? 1 : 8)) ]]
	done
}

@test "rig: what is written is read, with and without direct I/O" {
	local dio
	head -c 3M /dev/urandom >"$BATS_TEST_TMPDIR/data"
	for dio in on off; do
		rig_up --fs none --dio $dio
		[[ $(<"/sys/block/$RIG_DISK/loop/dio") == $([[ $dio == on ]] && echo 1 || echo 0) ]]
		dd if="$BATS_TEST_TMPDIR/data" of="$RIG_DEV" bs=1M oflag=direct seek=5 status=none
		dd if="$RIG_DEV" bs=1M skip=5 count=3 iflag=direct status=none |
			cmp - "$BATS_TEST_TMPDIR/data"
		rig_down
	done
}

@test "rig: a discard zeroes, and is counted" {
	local zeroed=(0 0)
	need blkdiscard
	rig_up --fs none
	head -c 1M /dev/urandom >"$BATS_TEST_TMPDIR/data"
	dd if="$BATS_TEST_TMPDIR/data" of="$RIG_DEV" bs=1M oflag=direct status=none
	# FUSE of older kernels (5.10) refuses to zero a range, and the kernel writes the zeroes instead
	if fallocate -z -o 2048 -l 512 "${RIG_CTL%ctl}disk" 2>"$BATS_TEST_TMPDIR/err"; then
		zeroed=(1 512)
	else
		grep -q 'not supported' "$BATS_TEST_TMPDIR/err"
	fi
	# neither end is at a page
	blkdiscard -z -o 1536 -l 520192 "$RIG_DEV"
	((!zeroed[0])) || zeroed=(2 $((512 + 520192)))
	[[ $(rig_stat discard_count) == "${zeroed[0]}" && $(rig_stat discard_bytes) == "${zeroed[1]}" ]]
	dd if=/dev/zero of="$BATS_TEST_TMPDIR/data" bs=512 seek=3 count=1016 conv=notrunc status=none
	dd if="$RIG_DEV" bs=1M count=1 iflag=direct status=none | cmp - "$BATS_TEST_TMPDIR/data"
	blkdiscard -o 4096 -l 8192 "$RIG_DEV"
	[[ $(rig_stat discard_count) == $((zeroed[0] + 1)) ]]
}

@test "rig: bad settings are refused, and nothing of them is taken" {
	local bad before
	rig_up --fs none --flush-us 12.5
	before=$(<"$RIG_CTL")
	for bad in flush_us=-1 flush_us=1e3 flush_us= flush_us=0x10 flush_us=1.2345 flush_us=1. \
		flush_us=.5 flush_us=99999999999 channels=1.5 channels=5000 nothing=1 flush_us '' \
		'write_us=5 flush_us=x' ' '; do
		run rig_set "$bad"
		[[ $status == 1 ]] || { echo "taken: $bad"; false; }
		[[ $(<"$RIG_CTL") == "$before" ]]
	done
	rig_set write_us=0.5 channels=3
	[[ $(<"$RIG_CTL") == *write_us=0.500*flush_us=12.500*channels=3* ]]
	for bad in '--flush-us x' '--size 1' '--sched fast' '--fs fat' '--dio maybe' '--parts 5' \
		'--owner 0' '--what 1' '--nr-requests 0'; do
		# shellcheck disable=SC2086  # option and value
		run "$RIG_TOOL" up $bad
		[[ $status == 1 && $output == rig:* ]] || { echo "taken: $bad"; false; }
	done
}

@test "rig: every scheduler can be set, and is put back" {
	local sched disk before
	for sched in none mq-deadline kyber bfq; do
		rig_up --fs none
		disk=$RIG_DISK
		grep -qw "$sched" "/sys/block/$disk/queue/scheduler" || skip "missing: $sched"
		before=$(<"/sys/block/$disk/queue/scheduler")
		rig_down
		rig_up --fs none --sched $sched --nr-requests 32
		[[ $(<"/sys/block/$RIG_DISK/queue/scheduler") == *"[$sched]"* ]]
		[[ $(<"/sys/block/$RIG_DISK/queue/nr_requests") == 32 ]]
		rig_down
		[[ $(<"/sys/block/$disk/queue/scheduler") == "$before" ]]
	done
}

@test "rig: partitions and file systems" {
	local fs
	need mkfs.xfs mkfs.btrfs addpart
	for fs in ext4 ext4-nojournal xfs btrfs; do
		rig_up --parts 2 --fs $fs --size 300M --mount-opts nodev
		echo 1 >"$RIG_MNT1/file"
		echo 2 >"$RIG_MNT2/file"
		sync -f "$RIG_MNT2"
		# shellcheck disable=SC2153  # from rig_up
		[[ $(findmnt -no SOURCE "$RIG_MNT2") == "$RIG_DEV2" && $RIG_MNT == "$RIG_MNT1" ]]
		[[ $(findmnt -no OPTIONS "$RIG_MNT1") == *nodev* ]]
		rig_down
	done
}

@test "rig: two at once, and down leaves nothing of either" {
	local one two
	rig_up
	one=("$RIG" "$RIG_DISK" "$RIG_PID" "$(<"$RIG/guard.pid")")
	rig_up
	two=("$RIG" "$RIG_DISK" "$RIG_PID" "$(<"$RIG/guard.pid")")
	run nothing_left "${one[@]}"
	[[ $status == 1 ]]
	"$RIG_TOOL" down "${one[0]}"
	nothing_left "${one[@]}"
	echo alive >"$RIG_MNT/file"
	sync -f "$RIG_MNT"
	"$RIG_TOOL" down "${two[0]}"
	nothing_left "${two[@]}"
	"$RIG_TOOL" down "${two[0]}"
}

@test "rig: down needs no patience with a slow disk" {
	local start=$SECONDS was
	rig_up
	was=("$RIG" "$RIG_DISK" "$RIG_PID" "$(<"$RIG/guard.pid")")
	rig_set read_us=900000000 write_us=900000000 flush_us=900000000 channels=1
	dd if=/dev/zero of="$RIG_MNT/file" bs=4k count=100 conv=fsync status=none 3>&- &
	holder=$!
	sleep 0.3
	kill -STOP "$RIG_PID"
	rig_down
	nothing_left "${was[@]}"
	((SECONDS - start < 6))
}

@test "rig: a busy mount is left to its user, and goes with it" {
	local was
	rig_up
	was=("$RIG" "$RIG_DISK" "$RIG_PID" "$(<"$RIG/guard.pid")")
	# shellcheck disable=SC2217  # open, not read
	sleep 60 3>&- <"$RIG_MNT" &
	holder=$!
	RIG_BUSY_SECONDS=1 run rig_down
	[[ $status == 1 && $output == *"still in use"* ]]
	kill -0 "$holder"
	run grep -F "${was[0]}/mnt" /proc/self/mountinfo
	[[ $status == 1 ]]
	kill "$holder"
	within 3 nothing_left "${was[@]}"
}

@test "rig: nothing is left when the owner is killed" {
	local was
	# shellcheck disable=SC2016  # for the inner shell
	bash -c 'set -e; eval "$("$0" up --flush-us 1000)"
		echo "$RIG $RIG_DISK $RIG_PID $(<"$RIG/guard.pid")" >"$1"
		exec sleep 60' "$RIG_TOOL" "$BATS_TEST_TMPDIR/rig" 3>&- &
	holder=$!
	within 5 test -s "$BATS_TEST_TMPDIR/rig"
	read -ra was <"$BATS_TEST_TMPDIR/rig"
	# shellcheck disable=SC2030  # for teardown
	RIG=${was[0]}
	sleep 0.2
	run nothing_left "${was[@]}"
	[[ $status == 1 ]]
	kill -KILL "$holder"
	within 5 nothing_left "${was[@]}"
}

@test "rig: nothing is left when the daemon is killed" {
	local was
	rig_up
	# shellcheck disable=SC2031  # not the one above
	was=("$RIG" "$RIG_DISK" "$RIG_PID" "$(<"$RIG/guard.pid")")
	echo dirty >"$RIG_MNT/file"
	kill -KILL "$RIG_PID"
	rig_down
	nothing_left "${was[@]}"
}

@test "rig: an up that fails half-way leaves nothing" {
	local tmp=$BATS_TEST_TMPDIR/tmp
	mkdir "$tmp"
	TMPDIR=$tmp run "$RIG_TOOL" up --owner $$ --mount-opts nonsense=1
	[[ $status == 1 && $output == *"mount failed"* ]]
	[[ ! $(ls -A "$tmp") ]]
	run grep -sF "$tmp" /proc/self/mountinfo /sys/block/loop*/loop/backing_file
	[[ ! $output ]]
}
