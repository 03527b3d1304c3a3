#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The verdict where one cause is many times all others together: true on a busy machine, too. Causes that are close, and how
# large each is: ../truth/matrix.bats.

bats_require_minimum_version 1.5.0
load ../helpers
load ../truth/matrix

setup_file() {
	build_syncs
}

setup() {
	need_rig
	need_syncs
	rig_up --fs ext4 --mount-opts commit=600
	"$SYNCS" fdatasync "$RIG_MNT/file" 10
}

teardown() {
	clean_up
}

# verdict_of CLASS FAMILY WORD...: of ten fdatasyncs that only overwrite
verdict_of() {
	or_lost trace "$SYNCS" -o fdatasync "$RIG_MNT/file" 10
	figures
	ledgers_add_up
	class_is "$1" "$2"
	accounted "$(jq .sync.count "$J")" 10 "$J"
	[[ $(jq .sync.unsafe "$J") == null ]]
}

@test "verdict: a flush of 50 ms" {
	rig_set flush_us=50000 write_us=0
	verdict_of device-flush flush
}

@test "verdict: writes of 50 ms" {
	rig_set flush_us=0 write_us=50000
	verdict_of device-write device
}

@test "verdict: no sync call" {
	or_lost trace dd if=/dev/zero of="$RIG_MNT/other" bs=4k count=10 status=none
	class_is no-sync
}

# A server that syncs for whoever asks, and a client that waits for it
serve() { # FILE
	while read -r _; do
		dd if=/dev/zero of="$1" bs=4k count=1 oflag=direct conv=notrunc,fsync status=none
		echo done
	done <>"$BATS_TEST_TMPDIR/ask" >"$BATS_TEST_TMPDIR/answer"
}

ask_often() { # TIMES
	local i
	exec 8>"$BATS_TEST_TMPDIR/ask" 9<"$BATS_TEST_TMPDIR/answer"
	for ((i = 0; i < $1; i++)); do
		echo please >&8
		read -r _ <&9
	done
}
export -f ask_often

is_about_others() {
	jq -r .verdict.sentence "$J"
	class_is device-flush flush
	[[ $(json .verdict.scope "$J") == others ]]
	says .sentence 'no sync call (fsync or the like) by '
	says .sentence ", but others made $(jq .sync.others.count "$J") on the same disks ("
	says .sentence " by dd ("
	says .sentence "$RIG_DISK spent "
	says .sentence " in FLUSHes. Watch the disk: barriertrace $RIG_DISK."
	accounted "$(jq .sync.others.count "$J")" 10 "$J"
	jq -e '.sync.others | ([.by_process[].total_ns] | add) == .total_ns and ([.by_process[] | select(.comm == "dd")] | length) > 5' "$J"
	# nothing of theirs is in the figures of those who were asked about
	jq -e '.sync.count == 0 and (.sync.by_process // []) == [] and (.sync.leaves // []) == []' "$J"
	! says .sentence "isn't fsync"
}

@test "verdict: a client whose server syncs is not acquitted, wrapped or by -p" {
	local client
	export BATS_TEST_TMPDIR
	rig_set flush_us=50000 write_us=0
	mkfifo "$BATS_TEST_TMPDIR/ask" "$BATS_TEST_TMPDIR/answer"
	start serve "$RIG_MNT/file"
	or_lost trace "$BASH" -c 'ask_often 10'
	is_about_others
	mkfifo "$BATS_TEST_TMPDIR/go"
	start "$BASH" -c 'read -r _ <"$BATS_TEST_TMPDIR/go"; ask_often 10'
	client=$STARTED
	start_tracing -p "$client" "$RIG_DISK" --json "$J" -o "$TXT"
	echo >"$BATS_TEST_TMPDIR/go"
	status_of "$STARTED" || [[ $? == 5 ]]
	is_about_others
}

@test "verdict: a client whose server computes is not accused" {
	mkfifo "$BATS_TEST_TMPDIR/ask" "$BATS_TEST_TMPDIR/answer"
	export BATS_TEST_TMPDIR
	start "$BASH" -c 'while read -r _; do for ((i = 0; i < 20000; i++)); do :; done; echo done; done <>"$BATS_TEST_TMPDIR/ask" >"$BATS_TEST_TMPDIR/answer"'
	or_lost trace "$BASH" -c 'ask_often 5'
	class_is no-sync
	[[ $(json .verdict.scope "$J") == asked ]]
	says .sentence "it isn't fsync."
}

@test "verdict: a command that failed is not told that it isn't fsync" {
	trace "$BASH" -c "exit 3" || [[ $? == 3 ]]
	class_is no-sync
	says .sentence "by ${BASH##*/} in the "
	says .sentence ", and it ended with exit status 3."
	! says .sentence "isn't fsync"
}

# The daemon's own calls come when the command, its parent, has ended.
@test "verdict: a command that leaves a daemon behind is told so, and how to watch it" {
	local daemon
	# until then it is still the shell
	or_lost trace "$BASH" -c 'sleep 30 & echo $! >"$0"; until [[ $(</proc/$!/comm) == sleep ]]; do :; done' "$BATS_TEST_TMPDIR/daemon"
	daemon=$(<"$BATS_TEST_TMPDIR/daemon")
	on_exit "kill $daemon"
	class_is no-sync
	says .sentence "The command left sleep ($daemon) running."
	says .sentence "watch barriertrace -p $daemon."
	! says .sentence "isn't fsync"
}

# ---- what a call wrote ----

# A completion that was not shown to the tool leaves a call unexplained: several calls, and the class where most is explained.
@test "verdict: fsyncs of 32 MiB are volume, and it speaks of bytes" {
	local bytes
	rig_set channels=1 write_us=1500 flush_us=1500
	# shellcheck disable=SC2016  # for the inner shell
	or_lost trace sh -c 'for i in 1 2 3 4; do
		dd if=/dev/zero of="$1" bs=1M count=32 conv=fsync,notrunc status=none
	done' sh "$RIG_MNT/big"
	figures
	jq -c .sync.volume "$J"
	jq -e '.sync | .volume.wait_ns >= 3 * ([.ledger | del(.unknown, .["device.write"], .ioq, .tag)[]] | max)' "$J"
	if jq -e '.sync | (.ledger.unknown // 0) * 5 < .total_ns' "$J"; then
		class_is volume device
		says .sentence ' slow because each writes '
	else
		jq -e '.verdict | [.class, .second, .sentence] | tostring | test("volume|many writes of each call")' "$J"
	fi
	bytes=$(jq .sync.volume.bytes "$J")
	# the kernel may have begun before the call
	((bytes > 64 << 20 && bytes <= 128 << 20))
}

@test "verdict: four fsyncs are enough, and are what it speaks of" {
	rig_set flush_us=50000 write_us=0
	or_lost trace "$SYNCS" fsync "$RIG_MNT/file" 4
	figures
	class_is device-flush flush
	says .sentence 'The 4 fsyncs of syncs took '
}

# Of 21 calls one has anything to make durable.
one_with_data() {
	# shellcheck disable=SC2016  # for the inner shell
	or_lost trace sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		dd if=/dev/null of="$1" conv=fsync,notrunc status=none
	done
	"$2" -o fdatasync "$1" 1' sh "$RIG_MNT/file" "$SYNCS"
	figures
}

@test "verdict: one call whose data was not flushed, on a mount without barriers, is unsafe" {
	mount -o remount,barrier=0 "$RIG_MNT"
	one_with_data
	class_is unsafe-fast
	jq -e '.verdict | .confidence == 1 and .second == null' "$J"
	[[ $(jq -c '.sync.unsafe | [.count, .by_file[].path]' "$J") == "[1,\"$RIG_MNT/file\"]" ]]
}

@test "verdict: with barriers, no call is unsafe" {
	one_with_data
	[[ $(jq -c '.sync | [.count, .unsafe]' "$J") == "[21,null]" ]]
}

# What was written with O_DIRECT is on the disk before the call, which has nothing left to write. MariaDB's log is such a file.
direct_writes() {
	or_lost trace fio --name=t --filename="$RIG_MNT/direct" --size=1M --rw=write --bs=4k --direct=1 --fdatasync=1 --number_ios=100
	jq -c '.verdict.class, .sync.unsafe, .sync.count' "$J"
}

@test "verdict: direct writes without barriers are unsafe, and with barriers they are not" {
	need fio
	dd if=/dev/zero of="$RIG_MNT/direct" bs=1M count=1 conv=fsync status=none
	rig_set flush_us=5000 write_us=0
	direct_writes
	class_is device-flush flush
	[[ $(jq .sync.unsafe "$J") == null ]]
	mount -o remount,barrier=0 "$RIG_MNT"
	direct_writes
	class_is unsafe-fast
	(($(jq .sync.count "$J") > 90 && $(jq .sync.unsafe.count "$J") == $(jq .sync.count "$J")))
}

# ---- the tail ----

@test "verdict: one call in 40 that takes 400 times as long is told of, and how often it comes" {
	rig_set flush_us=500
	# shellcheck disable=SC2016  # for the inner shell
	or_lost trace bash -c 'for i in 1 2 3 4 5 6; do
		"$1" -o fdatasync "$2" 39
		"$3" set "$4" flush_us=200000
		"$1" -o fdatasync "$2" 1
		"$3" set "$4" flush_us=500
	done' bash "$SYNCS" "$RIG_MNT/file" "$RIG_TOOL" "$RIG"
	jq -c .sync.tail "$J"
	# the slowest 3 of 240, of which one or two may not be known
	jq -e '.sync.tail | .count == 3 and .threshold_ns >= 2e8 and .ledger."flush.only" > 0.5 * .total_ns' "$J"
	head -n 6 "$TXT"
	tr -s '\n ' ' ' <"$TXT" | grep -qE 'The slowest 3 of 2[34][0-9] calls took [0-9.]+ ms and longer, '
	# between calls that aren't known there is no period
	(($(jq .sync.count "$J") == 240)) || return 0
	[[ $(jq .sync.tail.period "$J") == 40 ]]
	tr -s '\n ' ' ' <"$TXT" | grep -qE ' 1 call in 40 is slow: '
}
