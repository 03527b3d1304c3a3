#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The live screen on a real terminal (tmux), driven by keys and signals.

load ../helpers
load ../truth/screen

@test "screen: every pane and every key" {
	load_disk
	in_pane "$RIG_DISK"
	shows '>callers, the run'
	on_screen
	shows ">$RIG_DISK"
	shows 'sqlite3'
	shows 'our fsyncs'
	shows ' last 1s'
	shows ' run '
	shows 'flush.'
	shows 'q quit'
	[[ $(of_terminal cursor_flag) == 0 ]]
	# sorted by something else
	shows '▾total'
	keys s
	shows '▾mean'
	keys s s s
	shows 'callers by name'
	keys s
	# into the caller, and back
	keys Enter
	shows "sqlite3 ($LOAD), the run:"
	shows 'db-journal'
	shows 'its slowest calls of the run'
	keys Down Up Escape
	shows '▾total'
	keys Enter
	shows 'its slowest calls of the run'
	keys BSpace
	shows '▾total'
	# of the interval
	keys i
	shows '>callers, last 1s'
	keys Tab
	shows '>devices, last 1s'
	keys i
	shows '>devices, the run'
	keys h
	shows "histogram of $RIG_DISK, the run"
	keys Tab
	shows '>histogram'
	keys h
	gone 'histogram of'
	keys '?'
	shows 'any key closes this'
	keys x
	gone 'any key closes this'
	# what another program wrote over it
	tm run-shell "printf 'RUBBISH' >$(of_terminal pane_tty)"
	shows RUBBISH
	keys C-l
	gone RUBBISH
	keys q
	ended_well
	tm capture-pane -p -S - | grep -qF 'where the sync time went'
	tm capture-pane -p -S - | grep -qF "$RIG_DISK"
	was_screen
}

@test "screen: small, smaller, and large again" {
	load_disk
	in_pane -i 0.3 "$RIG_DISK"
	shows '>callers, the run'
	shows 'our fsyncs'
	tm resize-window -x 40 -y 10
	gone callers
	shows 'where the sync time went'
	shows 'our fsyncs'
	shows 'last '
	keys h '?' Enter
	tm resize-window -x 3 -y 2
	sleep 0.5
	kill -0 "$TOOL"
	tm resize-window -x 40 -y 10
	tm resize-window -x 160 -y 50
	shows 'callers, the run'
	shows 'slowest calls of the run'
	tm resize-window -x 80 -y 24
	# which pane there is room for depends on the size at which it read the keys
	gone 'slowest calls of the run'
	shows 'sync calls'
	eventually 5 fills 24
	keys C-c
	ended_well
}

@test "screen: what the command writes comes when the screen is closed; killed, it ends the run" {
	in_pane -i 0.3 "$RIG_MNT" -- sh -c "read x && echo got-\$((1 + 1)); echo to-out; echo to-err >&2
		echo \$\$ >$DIR/command
		while :; do dd if=/dev/zero of=$RIG_MNT/f count=1 conv=fsync status=none; done"
	eventually 5 test -s "$DIR/command"
	shows '>callers, the run'
	shows 'dd '
	on_screen
	run tm capture-pane -p
	[[ $output != *to-out* && $output != *to-err* ]]
	kill -KILL "$(<"$DIR/command")"
	ended 137
	run tm capture-pane -p -S -
	[[ $output == *to-out*to-err*'where the sync time went'* && $output != *got-2* ]]
}

@test "screen: a command's own files are its own, and it may outlive the screen" {
	REDIRECT="2>$DIR/report" in_pane -i 0.2 -d 0.6 "$RIG_MNT" -- sh -c \
		"echo early; until test -e $DIR/two; do sleep 0.05; done; echo late; until test -e $DIR/three; do sleep 0.05; done; exit 7"
	eventually 5 on_screen
	eventually 5 off_screen
	shows early
	touch "$DIR/two"
	shows late
	# as it comes, not at the end, and beyond more than an interval
	sleep 0.5
	[[ ! -e $DIR/status ]] || { cat "$DIR/status" "$DIR/report"; false; }
	touch "$DIR/three"
	ended 7
	grep -q 'the whole run' "$DIR/report"
	# what is no terminal is left alone
	[[ $(tm capture-pane -p -S -) != *'the whole run'* ]]
}

@test "screen: q with a command ends both" {
	in_pane -i 0.5 "$RIG_MNT" -- sh -c "trap 'until test -e $DIR/end; do sleep 0.05; done; exit 3' INT; while :; do sleep 0.1; done"
	shows '>callers, the run'
	keys q
	shows 'ending: waiting for the command'
	touch "$DIR/end"
	ended 3
	end_terminal
	in_pane -i 0.5 "$RIG_MNT" -- sh -c "trap '' INT; sleep 30"
	shows '>callers, the run'
	keys q
	shows 'ending: waiting for the command'
	keys q
	eventually 5 test -s "$DIR/after"
	off_screen
}

@test "screen: the terminal is given back whatever ends the tool" {
	local signal
	mkdir "$DIR/out"
	for signal in TERM HUP SEGV ABRT QUIT USR1; do
		in_pane "$RIG_DISK" --html "$DIR/out/html"
		shows '>callers, the run'
		[[ $(stty -g -F "$(of_terminal pane_tty)") != "$(<"$DIR/before")" ]]
		kill -s "$signal" "$TOOL"
		if [[ $signal == TERM || $signal == HUP ]]; then
			ended_well
			shows 'barriertrace'
		else
			ended $((128 + $(kill -l "$signal")))
			# a fault removes nothing: it may come from anywhere
			[[ $signal == SEGV || $signal == ABRT || ! $(ls "$DIR/out") ]] || { ls "$DIR/out"; false; }
		fi
		rm -f "$DIR/out/"*
		end_terminal
	done
}

@test "screen: suspended and continued" {
	load_disk
	tm new-session -d -x 80 -y 24 "PS1='prompt: ' bash --norc --noprofile"
	keys "$BT $RIG_DISK" Enter
	shows '>callers, the run'
	keys C-z
	eventually 5 off_screen
	shows 'Stopped'
	[[ $(of_terminal cursor_flag) == 1 ]]
	keys 'stty -a' Enter
	shows ' icanon'
	tm resize-window -x 100 -y 30
	keys fg Enter
	shows '>callers, the run'
	on_screen
	eventually 5 fills 30
	# nobody asks about this one
	kill -STOP "$(pgrep -f "^$BT $RIG_DISK\$")"
	shows 'Stopped'
	keys fg Enter
	gone Stopped
	shows '>callers, the run'
	keys q
	eventually 10 off_screen
	shows 'prompt:'
}

@test "screen: a command's name with control characters is harmless" {
	local evil=$DIR/$'ev\e[31m\a;il\n'
	cp "$(command -v dd)" "$evil"
	start "$evil" if=/dev/zero of="$RIG_MNT/f" bs=512 count=20000 oflag=sync conv=notrunc status=none
	in_pane -i 0.3 "$RIG_DISK"
	# as long as a column has room
	shows 'ev\x1b[31m\x07'
	shows 'slowest calls of the run'
	keys Enter
	shows 'ev\x1b[31m\x07;il\x0a ('
	[[ $(of_terminal window_bell_flag) == 0 ]]
	run tm capture-pane -p -e
	[[ $output != *$'\e[31mil'* ]]
	keys q
	ended_well
	tm capture-pane -p -S - | grep -qF 'ev\x1b[31m\x07;il\x0a ('
}

@test "screen: without colours or Unicode causes are letters" {
	load_disk
	IN_PANE='export NO_COLOR=1' in_pane -i 0.3 --ascii "$RIG_DISK"
	shows 'F flush.post'
	shows 'vtotal'
	tm capture-pane -p >"$DIR/shown"
	run env LC_ALL=C grep -n '[^ -~]' "$DIR/shown"
	[[ $status == 1 ]]
	run tm capture-pane -p -e
	[[ $output != *$'\e[3'[1-7]* ]]
	shows 'EF' # side by side in a bar
	keys q
	ended_well
}

@test "screen: on a terminal that can little" {
	load_disk
	IN_PANE='export TERM=vt100' in_pane -i 0.3 "$RIG_DISK"
	shows '>callers, the run'
	shows 'flush.post'
	shows 'q quit'
	keys q
	eventually 10 test -s "$DIR/after"
	cmp "$DIR/before" "$DIR/after"
}

# over_without ARGUMENT...: what runs in the pane now
over_without() {
	eventually 15 test -s "$DIR/after"
	[[ $(<"$DIR/status") != [1-4] ]] || { tm capture-pane -p; return 1; }
	! was_screen || { echo "a screen: $*"; return 1; }
	end_terminal
}

@test "screen: only where one is wanted" {
	local arguments
	for arguments in --plain "-o $DIR/out" "-i 0.3 -o $DIR/out" '--plain -i 0.3' '--json -' '--folded -' -q; do
		# shellcheck disable=SC2086  # words
		in_pane -d 0.1 $arguments "$RIG_DISK"
		over_without "$arguments"
	done
	for arguments in TERM=dumb TERM= TERM=nonsense; do
		IN_PANE="export $arguments" in_pane -d 0.1 "$RIG_DISK"
		over_without "$arguments"
	done
	for arguments in '</dev/null' "| cat"; do
		REDIRECT=$arguments in_pane -d 0.1 "$RIG_DISK"
		over_without "$arguments"
	done
	in_pane "$RIG_MNT" -- true
	over_without 'a command'
	# and it would be seen
	in_pane -d 0.1 "$RIG_DISK"
	eventually 15 test -s "$DIR/after"
	was_screen
}

@test "screen: it ends with its terminal" {
	in_pane -i 0.3 "$RIG_DISK"
	shows '>callers, the run'
	end_terminal
	eventually 5 test ! -e "/proc/$TOOL"
}

# held: the tool's descriptor of what is held back
held() {
	local fd
	for fd in "/proc/$TOOL/fd/"*; do
		[[ $(readlink "$fd") != /memfd:*terminal* ]] || basename "$fd"
	done | head -n 1
}

holds_at_most() { # MIB
	(($(stat -L -c %b "/proc/$TOOL/fd/$(held)") * 512 <= $1 << 20))
}

@test "screen: a command that writes without end fills nothing" {
	in_pane -i 0.5 "$RIG_MNT" -- sh -c "yes 0123456789abcdef | head -c 50000000; echo the last line
		touch $DIR/wrote; exec sleep 30"
	eventually 20 test -e "$DIR/wrote"
	# of 50 MB at most 16 MiB are kept
	eventually 5 holds_at_most 16
	keys q
	eventually 30 test -s "$DIR/after"
	grep -qF 'MiB of the output that was held back are left out' "$DIR/raw"
	tm capture-pane -p -S - | grep -q 'the last line'
}

has_lines() {
	(($(wc -l <"$2") >= $1))
}

@test "screen: JSON goes on beside it" {
	load_disk
	in_pane -i 0.3 --json "$DIR/stream" "$RIG_DISK"
	shows '>callers, the run'
	eventually 10 has_lines 2 "$DIR/stream"
	keys q
	ended_well
	[[ $(jq -s '[.[].final] | map(select(.)) | length' "$DIR/stream") == 1 ]]
	end_terminal
	in_pane --json "$DIR/one" "$RIG_DISK"
	shows '>callers, the run'
	shows sqlite3
	keys q
	ended_well
	[[ $(jq -s length "$DIR/one") == 1 && $(jq .sync.count "$DIR/one") -gt 0 ]]
}
