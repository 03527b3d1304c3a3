#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# barriertrace -- COMMAND

bats_require_minimum_version 1.5.0
load ../helpers

setup() {
	need_tracing
	cd "$BATS_TEST_TMPDIR" || return
	quiet_disk
}

teardown() {
	clean_up
}

untraced() { # PID
	(($(links_of "$1") == 0))
}

# wrap ARGUMENT...: with the report as report.json and report.txt
wrap() {
	"$BT" --json report.json -o report.txt "$DISK" "$@"
}

@test "command: its exit status is ours" {
	local n
	for n in 7 0 1 255; do
		run wrap -- sh -c "exit $n"
		[ "$status" -eq "$n" ]
		[ "$output" = '' ]
		[[ $(jq .run.exit_status report.json) == "$n" ]]
	done
}

@test "command: ended by signal N is 128+N" {
	run wrap -- sh -c 'kill -KILL $$'
	[ "$status" -eq 137 ]
	[[ $(json .run.exit_status report.json) == 137 ]]
	run wrap -- sh -c 'kill -TERM $$'
	[ "$status" -eq 143 ]
	grep -q '143 = 128 + signal 15' report.txt
}

@test "command: its forks are followed and counted" {
	wrap -- true
	[[ $(json .run.processes report.json) == 1 ]]
	# itself, three of the pipe, one in the background, its child and grandchild
	wrap -- "$BASH" -c 'cat /dev/null | cat | cat >/dev/null; ("$BASH" -c "/bin/true; :"; :) & wait'
	[[ $(json .run.processes report.json) == 7 ]]
	[[ $(jq -c .run.command report.json) == *'"-c"'* ]]
}

@test "command: what its forks do is the command's" {
	need_rig
	rig_up --fs none
	"$BT" "$RIG_DISK" --json report.json -o report.txt -- "$BASH" -c \
		'for i in 1 2 3; do (dd if="$1" of=/dev/null bs=4k count=10 skip=$((i * 10)) iflag=direct status=none; :); done' \
		- "$RIG_DEV"
	[[ $(of_disk report.json "$RIG_DISK" .ops.read.count) == 30 ]]
	[[ $(of_disk report.json "$RIG_DISK" .by_command) == 30 ]]
	[[ $(json .run.processes report.json) == 7 ]] # each sub shell, and its dd
}

@test "command: its input and output are its own" {
	local head
	printf 'in\n' >in
	"$BT" "$DISK" -- sh -c 'cat; echo err >&2; [ ! -t 0 ]' <in >out 2>err
	[[ $(<out) == in ]]
	[[ $(grep -c '^err$' err) == 1 ]]
	# the report is on standard error
	grep -q "^$DISK " err
	grep -Eq '^ *command +sh, arguments hidden' err
	"$BT" "$DISK" --show-args -o report.txt --json - -- sh -c 'echo err >&2' <in >out 2>err
	[[ $(<err) == err ]]
	[[ $(jq -c .run.command out) == '["sh","-c","echo err >&2"]' ]]
	grep -q "^$DISK " report.txt
	# a descriptor of ours does not get through
	head=$("$BT" "$DISK" -o report.txt -- "$BASH" -c 'ls -l /proc/self/fd' 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-)
	echo "$head"
	! grep -Eq 'bpf|pidfd|signalfd|timerfd|report.txt' <<<"$head"
}

# bats has files open of its own: what the command gets is compared with what a plain one gets
@test "command: it gets the files that our caller had, and none of ours" {
	local list='import os; print([f for f in range(64) if os.path.exists("/proc/self/fd/%d" % f)], file=open("files", "w"))'
	need python3
	python3 -c "$list" && mv files plain
	"$BT" --json - "$DISK" -- python3 -c "$list" >report.json 2>report.txt
	cmp plain files
	python3 -c "$list" >&- 2>&- && mv files plain
	"$BT" --json report.json -o report.txt "$DISK" -- python3 -c "$list" >&- 2>&-
	cmp plain files
}

@test "command: what is said goes into no output when standard error is closed" {
	"$BT" -v -d 0.2 --json report.json -o report.txt "$DISK" 2>&-
	jq -e .run report.json >/dev/null
	[[ $(<report.txt) != *barriertrace:* ]]
}

@test "command: it gets the signals as our caller had them" {
	wrap -- sh -c 'grep -E "^Sig(Blk|Ign)" /proc/self/status >status'
	sh -c 'grep -E "^Sig(Blk|Ign)" /proc/self/status >expected'
	diff expected status
}

@test "command: runs as the user who called sudo" {
	need getent
	getent passwd nobody >/dev/null || skip "missing: user nobody"
	local uid gid
	uid=$(id -u nobody) gid=$(id -g nobody)
	chmod 777 .
	SUDO_UID=$uid SUDO_GID=$gid SUDO_USER=nobody wrap -- sh -c \
		'id -u; id -g; id -G; echo "$HOME $USER"; grep ^CapEff: /proc/self/status' >who
	[[ $(sed -n 1p who) == "$uid" && $(sed -n 2p who) == "$gid" ]]
	[[ " $(sed -n 3p who) " != *' 0 '* ]]
	[[ $(sed -n 4p who) == "$(getent passwd nobody | cut -d: -f6) nobody" ]]
	[[ $(sed -n 5p who) =~ 0000000000000000$ ]]
	# who also owns the report
	[[ $(stat -c %u:%g report.txt) == "$uid:$gid" && $(stat -c %u report.json) == "$uid" ]]
	# and not more than that user may
	run env SUDO_UID="$uid" SUDO_GID="$gid" SUDO_USER=nobody "$BT" "$DISK" -o report.txt -- \
		cat /proc/1/environ
	[ "$status" -eq 1 ]
}

@test "command: --as-root stays root" {
	SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=nobody wrap --as-root -- sh -c 'id -u; echo "$HOME"' >who
	[[ $(sed -n 1p who) == 0 && $(sed -n 2p who) == "$HOME" ]]
}

@test "command: a nonsense SUDO_UID is no root" {
	run env SUDO_UID=x SUDO_GID=0 "$BT" "$DISK" -- id
	[ "$status" -eq 1 ]
	[[ ${#lines[@]} == 1 && $output == *SUDO_UID* ]]
}

@test "command: not found is 127, not executable 126, no report" {
	run -127 wrap -- ./absent
	[[ ${#lines[@]} == 1 && $output == *"'./absent': not found" ]]
	run -127 wrap -- absent-command
	[[ ${#lines[@]} == 1 && $output == *absent-command*'not found' ]]
	echo data >plain
	run wrap -- ./plain
	[ "$status" -eq 126 ]
	[[ ${#lines[@]} == 1 && $output == *"'./plain': permission denied" ]]
	run wrap -- /
	[ "$status" -eq 126 ]
	printf '#!/absent/interpreter\n' >script
	chmod +x script
	run wrap -- ./script
	[ "$status" -eq 126 ]
	[[ $output == *interpreter* ]]
	[[ ! -e report.json && ! -e report.txt ]]
	[[ $(ls) == $'plain\nscript' ]] # nothing half-written either
}

# The report's place is taken before the programs are loaded, which takes long here: strace holds up each call of bpf().
@test "command: a signal before it starts leaves nothing behind" {
	local status=0
	need strace
	start env --default-signal strace -D -qq -o /dev/null -e trace=bpf -e inject=bpf:delay_enter=100000 "$BT" record -o run.btrec --csv tables --text report.txt "$DISK" -- touch begun
	eventually 10 eval '(($(ls | wc -l) == 2))'
	kill -TERM "$STARTED"
	status_of "$STARTED" || status=$?
	[[ $status == 143 && ! $(ls) ]] || { echo "$status: $(ls)"; false; }
}

@test "command: its very first request is counted" {
	local i
	need_rig
	rig_up --fs none
	for i in 1 2 3; do
		"$BT" "$RIG_DISK" --json report.json -o report.txt -- \
			dd if="$RIG_DEV" of=/dev/null bs=4k count=1 skip=$i iflag=direct status=none
		[[ $(of_disk report.json "$RIG_DISK" .ops.read.count) == 1 ]]
		[[ $(of_disk report.json "$RIG_DISK" .ops.read.total.count) == 1 ]]
		[[ $(of_disk report.json "$RIG_DISK" .by_command) == 1 ]]
	done
}

# wrap_in_background ARGUMENT...: returns when the command has made the file `up`
wrap_in_background() {
	start "$BT" --json report.json -o report.txt "$DISK" "$@"
	eventually 10 test -e up
}

# The command ends when we do.
ends() {
	! kill -0 "$1" 2>/dev/null
}

@test "command: SIGTERM is passed on, the report still comes" {
	local status=0
	wrap_in_background -- "$BASH" -c 'trap "echo got >term; exit 9" TERM; echo $$ >up; while :; do sleep 0.05; done'
	kill -TERM "$STARTED"
	status_of "$STARTED" || status=$?
	[[ $status == 9 && $(<term) == got ]]
	[[ $(json .run.exit_status report.json) == 9 ]]
	grep -q "^$DISK " report.txt
}

@test "command: SIGTERM ends a plain command, status 128+15" {
	local status=0
	wrap_in_background -- "$BASH" -c 'echo $$ >up; exec sleep 60'
	kill -TERM "$STARTED"
	status_of "$STARTED" || status=$?
	[[ $status == 143 ]]
	[[ $(json .run.exit_status report.json) == 143 ]]
	eventually 2 ends "$(<up)"
}

@test "command: a first signal waits for a stubborn command, a second ends at once" {
	local begin status=0
	wrap_in_background -- "$BASH" -c 'trap "" INT TERM; echo $$ >up; for ((i = 0; i < 200; i++)); do sleep 0.05; done'
	PIDS+=("$(<up)")
	kill -INT "$STARTED"
	sleep 0.5
	kill -0 "$STARTED"
	begin=$SECONDS
	kill -INT "$STARTED"
	status_of "$STARTED" || status=$?
	((SECONDS - begin <= 2))
	[[ -s report.json && -s report.txt ]]
	# what it was that ended: not the command
	[[ $(jq '.run | has("exit_status")' report.json) == false ]]
	[[ $status == 130 ]]
}

@test "command: without one, Ctrl-C ends with the report and status 0" {
	start_tracing --json report.json -o report.txt "$DISK"
	stop_tracing "$STARTED" INT
	[[ -s report.json && -s report.txt ]]
	start_tracing --json report.json -o report.txt "$DISK"
	stop_tracing "$STARTED" TERM
}

@test "command: without one, progress takes one line of the terminal" {
	local lines
	need script stty
	script -qec "stty cols 40; '$BT' --plain -d 2.3 -o report.txt $DISK" /dev/null </dev/null >terminal
	lines=$(tr '\r' '\n' <terminal | sed 's/\x1b\[K//g')
	echo "$lines"
	grep -q '^tracing, 1\.00 s: ' <<<"$lines"
	(($(wc -L <<<"$lines") < 40))
}

@test "command: -d ends the report, the command goes on and its status counts" {
	local status=0 begin=${EPOCHREALTIME/[.,]/}
	wrap -d 0.3 -- sh -c 'sleep 1; exit 5' || status=$?
	[[ $status == 5 ]]
	((${EPOCHREALTIME/[.,]/} - begin >= 1000000))
	holds "$(json .run.wall_ns report.json) >= 3e8 && $(json .run.wall_ns report.json) < 8e8"
	[[ $(jq '.run | has("exit_status")' report.json) == false ]]
	# a command that is quicker ends the run
	wrap -d 30 -- true
	holds "$(json .run.wall_ns report.json) < 5e9"
}

@test "command: after -d it is no longer traced, and SIGTERM is passed on" {
	local status=0
	start "$BT" --json report.json -o report.txt -d 0.3 "$DISK" -- sh -c 'trap "echo told >told; kill \$!; exit 7" TERM; sleep 60 & echo begun >begun; wait'
	eventually 20 test -s report.json
	[[ -s begun ]]
	eventually 5 untraced "$STARTED"
	kill -TERM "$STARTED"
	status_of "$STARTED" || status=$?
	[[ $status == 7 && -s told ]]
}
