#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Sync calls that hang: those that were under way before the trace, and those that begin to hang while it watches. A FLUSH of the rig's
# disk then takes 8 s.

bats_require_minimum_version 1.5.0
load ../helpers
load ../truth/screen

setup() {
	need_rig
	terminal
	J=$BATS_TEST_TMPDIR/json T=$BATS_TEST_TMPDIR/text
	rig_up --fs ext4
	sync_once f
	sync_once g
}

# What waits for a FLUSH can't be killed.
teardown() {
	rig_set flush_us=0 || true
	clean_up
}

# sync_once FILE: writes and syncs it
sync_once() {
	dd if=/dev/zero of="$RIG_MNT/$1" bs=4k count=1 conv=fsync,notrunc status=none
}

waits_for_commit() { # PID
	grep -q jbd2_log_wait_commit "/proc/$1/stack"
}

# hang FILE: an fsync that hangs from now on, by the process $HUNG, since $SINCE (microseconds)
hang() {
	rig_set flush_us=8000000
	SINCE=${EPOCHREALTIME/[.,]/}
	start dd if=/dev/zero of="$RIG_MNT/$1" bs=4k count=1 conv=fsync,notrunc status=none
	HUNG=$STARTED
	eventually 5 waits_for_commit "$HUNG"
}

# first_words FILE: the report's first sentences, as one line
first_words() {
	sed '/^  advice/,$d' "$1" | tr -s '\n ' ' '
}

# call_of FILE PID EXPRESSION: of the call of that process that has not returned
call_of() {
	jq -e --argjson pid "$2" ".sync.outstanding[] | select(.pid == \$pid) | $3" "$1" >/dev/null ||
		{ echo "not so: $3"; jq -c .sync.outstanding "$1"; return 1; }
}

# Watched from the outside, recorded, by somebody else's number, beside a command, and on the screen, all in one hang
@test "hang: whoever comes in the middle of an fsync is told who, where, since when, and for which FLUSH; so is who saw it begin" {
	local begun end watch second record filter
	hang f
	sleep 2
	begun=${EPOCHREALTIME/[.,]/}
	start_tracing -d 2 "$RIG_DISK" --json "$J" -o "$T" --html "$T.html"
	watch=$STARTED
	start dd if=/dev/zero of="$RIG_MNT/g" bs=4k count=1 conv=fsync,notrunc status=none
	second=$STARTED
	start "$BT" record -q -d 1.2 "$RIG_DISK" -o "$BATS_TEST_TMPDIR/run.bt" --json "$J.live" --text "$T.live"
	record=$STARTED
	start "$BT" -q -d 1.2 -p $$ --no-children "$RIG_DISK" --json "$J.filter" -o "$T.filter"
	filter=$STARTED
	in_pane "$RIG_DISK"
	shows ' not returned: '
	now_shows "s dd ($HUNG) fsync f ($RIG_DISK), flush in $RIG_DISK"
	[[ $(tm capture-pane -p | sed -n 1p) == *' not returned: '* ]]
	keys q
	status_of "$record" && status_of "$filter" && status_of "$watch"
	end=${EPOCHREALTIME/[.,]/}

	# three lines
	head -n 3 "$T"
	first_words "$T" | grep -qE "^dd \($HUNG\) has been in fsync on $RIG_MNT/f \($RIG_DISK\) for at least [3-5]\.[0-9]+ s and has not returned\."
	first_words "$T" | grep -qE "It waits for jbd2/$RIG_DISK-8, and $RIG_DISK has not completed a FLUSH for at least (1\.[5-9]|[23]\.)[0-9]* s\."
	head -n 3 "$T" | grep -q "$HUNG"
	head -n 3 "$T" | grep -q FLUSH
	[[ $(json .verdict.class "$J") == device-flush && $(json .verdict.scope "$J") == outstanding ]]
	call_of "$J" "$HUNG" '.call == "fsync" and .comm == "dd" and (.cmdline | startswith("dd if=")) and .step == "flush"'
	call_of "$J" "$HUNG" '.via == "jbd2/'"$RIG_DISK"'-8" and .request.op == "flush" and (has("since_ns") | not)'
	# never more than the truth, nor of the request than the tool was there
	call_of "$J" "$HUNG" ".at_least_ns > 3e9 and .at_least_ns <= $((end - SINCE)) * 1000"
	call_of "$J" "$HUNG" ".request.at_least_ns > 1.4e9 and .request.at_least_ns <= $((end - begun)) * 1000"
	# the one that was seen to begin, to the nanosecond
	call_of "$J" "$second" '(has("at_least_ns") | not) and .since_ns > 1e9 and .since_ns < 2.5e9 and .path == "'"$RIG_MNT"'/g"'
	grep -q "Sync calls that have not returned" "$T.html"

	"$BT" report -q "$BATS_TEST_TMPDIR/run.bt" --json "$J.again" -o "$T.again"
	cmp "$J.live" "$J.again"
	cmp "$T.live" "$T.again"
	call_of "$J.live" "$HUNG" '.at_least_ns > 2e9'

	# of the tasks that a filter leaves out it is said that it does
	first_words "$T.filter" | grep -q "It is none of the filtered tasks\."
	call_of "$J.filter" "$HUNG" .other
	[[ $(json .verdict.scope "$J.filter") == outstanding ]]
}

@test "hang: a call from before that returns while it is watched is no acquittal" {
	rig_set flush_us=1000000
	start sync_once f
	sleep 0.3
	"$BT" -d 2 "$RIG_DISK" --json "$J" -o "$T"
	first_words "$T"
	[[ $(json .verdict.class "$J") != no-sync ]]
	first_words "$T" | grep -q "One call began before the trace and returned after at least"
	jq -e '.sync.began_before == 1 and .sync.began_before_at_least_ns > 5e8 and .sync.began_before_at_least_ns < 2.3e9' "$J"
}

# io_uring's and the kernel's own calls from before are seen by nobody's task: a disk that was named has them in flight.
@test "hang: who makes no call is acquitted on a disk that was named, and on all disks with a reservation" {
	start sleep 60
	"$BT" -d 0.3 -p "$STARTED" "$RIG_DISK" -o "$T"
	first_words "$T" | grep -q "it isn't fsync\."
	"$BT" -d 0.3 -p "$STARTED" -o "$T"
	first_words "$T"
	# where others sync meanwhile, it speaks of them
	! first_words "$T" | grep -q "it isn't fsync\."
}

# As on a machine that doesn't mount debugfs; nobody else sees the one that the tool mounts.
@test "hang: a FLUSH is known as one where debugfs is not mounted, and nothing is mounted for that" {
	need_mount_namespace
	hang f
	# shellcheck disable=SC2016  # for the inner shell
	unshare -m bash -ec '[[ ! -d /sys/kernel/debug ]] || mount -t tmpfs none /sys/kernel/debug
		cat /proc/$$/mountinfo >"$1"; "${@:3}" & sleep 1; cat /proc/$!/mountinfo >"$2"; wait $!' - \
		"$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/during" "$BT" -d 1.5 "$RIG_DISK" --json "$J" -o "$T"
	# mounts of others may go meanwhile
	[[ ! $(comm -13 <(sort "$BATS_TEST_TMPDIR/before") <(sort "$BATS_TEST_TMPDIR/during")) ]]
	call_of "$J" "$HUNG" '.step == "flush" and .request.op == "flush" and .request.at_least_ns > 0'
	[[ $(of_disk "$J" "$RIG_DISK" .in_flight.flush) == 1 ]]
}
