# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For screen.bats here and in ../live: the tool on a terminal (tmux). load ../helpers first.

setup() {
	need_rig
	need sqlite3
	terminal
	rig_up --fs ext4 --flush-us 2000 --write-us 200
}

teardown() {
	clean_up
}

# terminal: for in_pane
terminal() {
	need tmux
	DIR=$BATS_TEST_TMPDIR
	# not in $DIR: a socket's path has to be short
	SOCKET=$(mktemp -d /tmp/screen.XXXXXX)/tmux
	on_exit "tm kill-server 2>/dev/null; rm -rf ${SOCKET%/*}"
}

# A tmux of our own. Not with bats' descriptor: it would be waited for.
tm() {
	tmux -S "$SOCKET" -f /dev/null "$@" 3>&-
}

# end_terminal: so that the next one is not asked of a server that is about to end
end_terminal() {
	local pid
	pid=$(of_terminal pid)
	tm kill-server
	eventually 5 has_ended "$pid"
}

has_ended() { # PID
	[[ ! -e /proc/$1 ]] || grep -q '^State:.[ZX]' "/proc/$1/status" 2>/dev/null
}

# load_disk: SQLite, for as long as the test takes
load_disk() {
	make_inserts "$DIR/sql" 20000
	start sqlite3 -init /dev/null "$RIG_MNT/db" ".read $DIR/sql" >/dev/null
	LOAD=$STARTED
}

# in_pane ARGUMENT...: the tool, in a terminal of 80 by 24 and under a shell that leaves the terminal alone. $TOOL: its
# pid; what the terminal gets is in raw.
in_pane() {
	rm -f "$DIR"/{go,pid,before,after,status,raw}
	{
		echo "until test -e $DIR/go; do sleep 0.01; done"
		echo "${IN_PANE:-}"
		echo "stty -g >$DIR/before"
		# shellcheck disable=SC2016  # for the inner shell
		printf "sh -c 'echo \$\$ >%s/pid; exec \"\$0\" \"\$@\"' %q" "$DIR" "$BT"
		printf ' %q' "$@"
		echo " ${REDIRECT:-}"
		echo "echo \$? >$DIR/status"
		echo "stty -g >$DIR/after"
		echo "exec sleep 1000"
	} >"$DIR/script"
	tm new-session -d -x 80 -y 24 "exec bash $DIR/script"
	tm pipe-pane "cat >$DIR/raw"
	eventually 5 test -e "$DIR/raw"
	touch "$DIR/go"
	eventually 5 test -s "$DIR/pid"
	TOOL=$(<"$DIR/pid")
}

keys() {
	tm send-keys "$@"
}

now_shows() {
	tm capture-pane -p | grep -qF -- "$1"
}

shows() {
	eventually 10 now_shows "$1" || { tm capture-pane -p; return 1; }
}

shows_no() {
	! now_shows "$1"
}

gone() {
	eventually 10 shows_no "$1" || { tm capture-pane -p; return 1; }
}

# fills ROWS: from the first line to the last one
fills() {
	[[ $(tm capture-pane -p | sed -n 1p) == *running* && $(tm capture-pane -p | sed -n "$1p") == *quit* ]]
}

# Something went to the terminal's other screen.
was_screen() {
	grep -qF $'\e[?1049h' "$DIR/raw"
}

# Of the terminal as tmux sees it.
of_terminal() {
	tm display-message -p "#{$1}"
}

on_screen() {
	[[ $(of_terminal alternate_on) == 1 ]]
}

off_screen() {
	[[ $(of_terminal alternate_on) == 0 ]]
}

# The tool has ended, with this status, and the terminal is as it was.
ended() {
	eventually 15 test -s "$DIR/after" || { tm capture-pane -p; return 1; }
	[[ $(<"$DIR/status") == "$1" ]] || { echo "status $(<"$DIR/status")"; tm capture-pane -p; return 1; }
	cmp "$DIR/before" "$DIR/after"
	off_screen
	[[ $(of_terminal cursor_flag) == 1 ]]
}

# 5 is what a run says that lost events
ended_well() {
	eventually 15 test -s "$DIR/after"
	[[ $(<"$DIR/status") != 5 ]] || echo 0 >"$DIR/status"
	ended 0
}
