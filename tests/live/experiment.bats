#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# An experiment puts everything back: at its end, on errors, on signals, after kill -9; and it says what stopped it in one line.

load ../helpers

STATE=/run/barriertrace

setup() {
	need_rig
	need losetup findmnt
	[[ ! $(ls "$STATE" 2>/dev/null) ]] || skip "missing: an empty $STATE"
	ERR=$BATS_TEST_TMPDIR/stderr J=$BATS_TEST_TMPDIR/json
	ALL=scheduler=bfq,rq_affinity=2,barrier=0,commit=99,noatime=0
}

teardown() {
	"$BT" experiment --restore 2>/dev/null || true
	clean_up
}

# Every setting of the rig's disk, its mount and its file system
settings() {
	local f
	for f in "/sys/block/$RIG_DISK/queue/"* "/sys/block/$RIG_DISK/queue/iosched/"*; do
		[[ ! -f $f ]] || printf '%s %s\n' "$f" "$(cat "$f" 2>/dev/null)"
	done
	findmnt -nro OPTIONS "$RIG_MNT"
	cat "/proc/fs/ext4/$RIG_DISK/options"
}

is_restored() {
	[[ ! $(ls -A "$STATE" 2>/dev/null) ]] || { echo "left behind: $(ls -A "$STATE")"; return 1; }
	diff <(echo "$BEFORE") <(settings)
}

one_line() { # WORD..: on standard error, but for the risks that were named before
	local word lines
	lines=$(grep -v 'a power cut\|predicted from' "$ERR")
	[[ $(wc -l <<<"$lines") == 1 ]] || { echo "not one line: $lines"; return 1; }
	for word; do
		[[ $lines == *"$word"* ]] || { echo "no '$word' in: $lines"; return 1; }
	done
}

# fails STATUS COMMAND..: what it says is in $ERR
fails() {
	local want=$1 status=0
	shift
	"$@" 2>"$ERR" >/dev/null || status=$?
	((status == want)) || { echo "status $status, not $want: $*"; cat "$ERR"; return 1; }
}

is_running() { # the command of begin(); its process is noted there
	[[ -s $BATS_TEST_TMPDIR/runs ]]
}

# begin WORD..: an experiment of these variants whose first run does not end; its process in $STARTED
begin() {
	local set=()
	for word; do set+=(--set "$word"); done
	rm -f "$BATS_TEST_TMPDIR/runs"
	# what is started in the background ignores SIGINT and SIGQUIT otherwise
	start env --default-signal "$BT" experiment "$RIG_MNT" --unsafe "${set[@]}" -n 1 -o "$BATS_TEST_TMPDIR/text" -- \
		sh -c "echo \$\$ >'$BATS_TEST_TMPDIR/runs'; exec sleep 30" 2>"$ERR"
	eventually 10 is_running || { cat "$ERR"; return 1; }
}

status_is() { # PID STATUS
	local status=0
	status_of "$1" || status=$?
	((status == $2)) || { echo "status $status, not $2"; cat "$ERR"; return 1; }
}

no_sleeper() { # what a killed experiment leaves running
	kill -KILL "$(<"$BATS_TEST_TMPDIR/runs")" 2>/dev/null || true
}

@test "experiment: kill -9 in mid-run, then --restore: every key" {
	local word key tested=(governor) # that is the next test's
	rig_up
	# no default of the kernel's, which sets it to one with other keys
	echo 192 >"/sys/block/$RIG_DISK/queue/read_ahead_kb"
	BEFORE=$(settings)
	for word in scheduler=bfq scheduler=mq-deadline,write_cache=through write_cache=through \
		nr_requests=99,wbt_lat_usec=1234,rq_affinity=2,read_ahead_kb=64,write_cache=through \
		barrier=0,commit=99,max_batch_time=77,discard=1,noatime=0; do
		begin "$word" "$word"
		kill -KILL "$STARTED"
		wait "$STARTED" || true
		[[ $(settings) != "$BEFORE" ]]
		[[ $(stat -c %a:%u "$STATE" "$STATE"/*) == $'700:0\n600:0' ]]
		"$BT" experiment --restore 2>"$ERR"
		# what was set is named, so it was another value
		for key in ${word//,/ }; do
			tested+=("${key%%=*}")
			grep -q "${key%%=*} of .* again" "$ERR" || { echo "$key was not set"; cat "$ERR"; false; }
		done
		is_restored || { echo "after $word"; false; }
		no_sleeper
	done
	"$BT" experiment --restore 2>"$ERR"
	one_line 'no experiment left anything'
	diff <(printf '%s\n' "${tested[@]}" | sort -u) <("$BT" experiment --help | sed -n '/^Keys of --set:$/,$s/^  \([a-z]\S*\) .*/\1/p' | sort)
}

@test "experiment: kill -9 in mid-run, then --restore: the governor" {
	make_governors
	rig_up
	with_governors "$BT" experiment "$RIG_MNT" --set governor=performance --set governor=performance -n 1 -o "$BATS_TEST_TMPDIR/text" -- \
		bash -c "kill -KILL \$PPID; sleep 0.1" || true
	grep -x performance "$GOVERNORS/cpu0/cpufreq/scaling_governor" && grep -x performance "$GOVERNORS/cpu1/cpufreq/scaling_governor"
	with_governors "$BT" experiment --restore
	grep -x powersave "$GOVERNORS/cpu0/cpufreq/scaling_governor" && grep -x schedutil "$GOVERNORS/cpu1/cpufreq/scaling_governor"
}

@test "experiment: every signal that can be caught ends it, with everything restored" {
	local sig
	rig_up
	BEFORE=$(settings)
	for sig in INT TERM HUP QUIT USR1 40 SEGV; do
		begin "$ALL" "$ALL"
		kill -s "$sig" "$STARTED"
		status_is "$STARTED" $((128 + $(kill -l "$sig" | grep -x '[0-9]*' || echo "$sig")))
		[[ $sig == SEGV ]] || one_line 'stopped by signal' 'settings are as before'
		is_restored || { echo "after $sig"; false; }
		no_sleeper
	done
}

@test "experiment: its end, and an earlier end by the command's failure" {
	rig_up
	BEFORE=$(settings)
	"$BT" experiment "$RIG_MNT" --set "$ALL" -n 2 -q --json "$J" -- \
		sh -c "echo x >'$RIG_MNT/f'; sync '$RIG_MNT/f'; rm '$RIG_MNT/f'" 2>"$ERR"
	is_restored
	jq -e '.restored and .runs == 2 and (.variants | length) == 2 and (.variants[0] | .name == "as it is" and (.set | not)) and
		(.variants[1] | (.set | length) == 5 and (.runs | length) == 2 and .risk and .measured.faster > 0 and
		.measured.low <= .measured.faster and .measured.faster <= .measured.high) and
		([.variants[].ledger | add] == [.variants[].sync_ns])' "$J"
	fails 3 "$BT" experiment "$RIG_MNT" --set "$ALL" -n 2 -- sh -c 'exit 3'
	one_line "'sh' ended with status 3 in run 1 of 5"
	is_restored
}

@test "experiment: what has to be put back is noted, synced and named before anything is set" {
	local log=$BATS_TEST_TMPDIR/log synced named set
	need strace
	rig_up
	BEFORE=$(settings)
	strace -o "$log" -e trace=openat,fsync,renameat,renameat2,fspick "$BT" experiment "$RIG_MNT" --set rq_affinity=2 --set barrier=0 \
		-n 1 -q -o "$BATS_TEST_TMPDIR/text" -- true 2>"$ERR"
	synced=$(grep -n -m1 '^fsync' "$log" | cut -d: -f1)
	named=$(grep -n -m1 '^rename.*experiment\.' "$log" | cut -d: -f1)
	set=$(grep -n -m1 'rq_affinity.*O_WRONLY\|^fspick' "$log" | cut -d: -f1)
	((synced && synced < named && named < set)) || { grep 'fsync\|rename\|O_WRONLY\|fspick' "$log"; false; }
	is_restored
}

@test "experiment: two at once on a disk, and one after a killed one, are refused" {
	local first
	rig_up
	BEFORE=$(settings)
	begin "$ALL" "$ALL"
	first=$STARTED
	fails 1 "$BT" experiment "$RIG_DEV" --set rq_affinity=0 -- true
	one_line "another experiment (process $first)" "$RIG_DISK" 'wait for its end'
	# nor is a live one restored
	"$BT" experiment --restore 2>"$ERR"
	one_line 'still runs'
	kill -KILL "$first"
	wait "$first" || true
	fails 1 "$BT" experiment "$RIG_DEV" --set rq_affinity=0 -- true
	one_line "process $first" 'barriertrace experiment --restore'
	"$BT" experiment --restore 2>"$ERR"
	is_restored
	no_sleeper
}

@test "experiment: what cannot be done is one line, and nothing is touched" {
	local nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	need setpriv
	rig_up
	BEFORE=$(settings)
	fails 127 "$BT" experiment "$RIG_MNT" --set barrier=0 -- no-such-tool
	one_line "cannot run 'no-such-tool': not found"
	is_restored
	fails 2 "$BT" experiment "$RIG_MNT" --set write_cache=through -- true
	[[ $(<"$ERR") == *--unsafe*'power cut loses'* && $(wc -l <"$ERR") == 1 ]]
	fails 2 "$BT" experiment "$RIG_MNT" --set scheduler=nonsense -- true
	one_line 'offers' mq-deadline
	fails 2 "$BT" experiment /proc --set barrier=0 -- true
	one_line /proc
	fails 2 "$BT" experiment no-such-disk --set barrier=0 -- true
	one_line no-such-disk
	fails 3 "${nobody[@]}" "$BT" experiment / --set noatime=1 -- true
	one_line root
	fails 3 "${nobody[@]}" "$BT" experiment --restore
	one_line root
	fails 2 "$BT" experiment --set barrier=0
	one_line 'no command'
	fails 2 "$BT" experiment -- true
	one_line 'nothing to compare'
	is_restored
}

@test "experiment: a read-only file system" {
	rig_up
	mount -o remount,ro "$RIG_MNT"
	BEFORE=$(settings)
	fails 1 "$BT" experiment "$RIG_MNT" --set barrier=0 -- true
	one_line "$RIG_MNT is mounted read-only"
	is_restored
}

@test "experiment: a full disk" {
	rig_up
	BEFORE=$(settings)
	fails 1 "$BT" experiment "$RIG_MNT" --set "$ALL" -- sh -c "exec 2>/dev/null; dd if=/dev/zero of='$RIG_MNT/big' bs=1M; s=\$?
		rm '$RIG_MNT/big'; exit \$s"
	one_line "'sh' ended with status 1 in run 1"
	is_restored
	[[ ! -e $RIG_MNT/big ]]
}

@test "experiment: no room for what has to be put back" {
	need_mount_namespace
	rig_up
	BEFORE=$(settings)
	[[ -d $STATE ]] || mkdir -m 700 "$STATE"
	# shellcheck disable=SC2016  # for the inner shell
	fails 1 unshare -m bash -c 'mount -t tmpfs -o nr_inodes=1,mode=700 none "$1" && shift && exec "$@"' - "$STATE" \
		"$BT" experiment "$RIG_MNT" --set rq_affinity=2 --set rq_affinity=0 -- true
	one_line 'cannot note what has to be put back: No space left'
	is_restored
}

# loses_the_disk STATUS SHELL: in mid-run of this shell command; what is said of it is in $ERR, and all is as before but for the disk
loses_the_disk() {
	local before
	rig_up
	before=$(settings | grep queue/)
	rm -f "$BATS_TEST_TMPDIR/runs"
	start "$BT" experiment "$RIG_MNT" --set scheduler=bfq,rq_affinity=2,barrier=0 --set scheduler=none -n 1 -o "$BATS_TEST_TMPDIR/text" -- \
		sh -c "exec 2>/dev/null; echo \$\$ >'$BATS_TEST_TMPDIR/runs'; one() { dd if=/dev/zero of='$RIG_MNT/f' bs=4k count=1 conv=fsync; }; $2" 2>"$ERR"
	eventually 10 is_running || { cat "$ERR"; false; }
	sleep 0.2
	kill -KILL "$RIG_PID"
	status_is "$STARTED" "$1" || return
	[[ ! $(ls -A "$STATE") && ! -e $BATS_TEST_TMPDIR/text ]] || { ls -A "$STATE"; cat "$ERR"; return 1; }
	diff <(echo "$before") <(settings | grep queue/)
}

@test "experiment: the disk goes away in mid-run" {
	loses_the_disk 7 'while one; do :; done; exit 7'
	one_line "'sh' ended with status 7"
}

@test "experiment: the disk goes away, and the command doesn't care" {
	loses_the_disk 1 'while one; do :; done; exit 0'
	one_line "$RIG_MNT cannot be synced, with 1 of 3 runs done: " 'the experiment is over'
}

@test "experiment: the loop device is detached and its mount gone, before --restore" {
	rig_up --fs none
	mkfs.ext4 -q -F "$RIG_DEV"
	RIG_MNT=$BATS_TEST_TMPDIR/mnt
	mkdir "$RIG_MNT"
	mount "$RIG_DEV" "$RIG_MNT"
	on_exit "umount '$RIG_MNT' 2>/dev/null || true"
	BEFORE=$(settings | grep queue/)
	begin scheduler=bfq,barrier=0 scheduler=none
	kill -KILL "$STARTED"
	wait "$STARTED" || true
	no_sleeper
	umount "$RIG_MNT"
	losetup -d "$RIG_DEV"
	"$BT" experiment --restore 2>"$ERR"
	grep -q "barrier of $RIG_MNT is gone" "$ERR"
	[[ ! $(ls -A "$STATE") ]]
	[[ $(<"/sys/block/$RIG_DISK/queue/scheduler") == *'[none]'* ]]
}
