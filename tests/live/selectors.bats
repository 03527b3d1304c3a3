#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Whose sync calls count where processes, names, units and containers select them: children of before and of later, and nobody else's.

bats_require_minimum_version 1.5.0
load ../helpers
load ../truth/matrix

setup_file() {
	build_syncs
}

setup() {
	need_rig
	need_syncs
	need findmnt
	rig_up --fs ext4 --mount-opts commit=600 --flush-us 500 --write-us 100
	J=$BATS_TEST_TMPDIR/report.json TXT=$BATS_TEST_TMPDIR/report.txt
	export SYNCS RIG_MNT BATS_TEST_TMPDIR
}

teardown() {
	clean_up
}

# watch OPTION...: starts the tool, $TOOL
watch() {
	start_tracing "$@" "$RIG_DISK" --json "$J" -o "$TXT"
	TOOL=$STARTED
}

# counted ASKED OTHERS: this many calls of those who were asked for, and by syncs beside them
counted() {
	jq -c '.run.filter, .sync.by_process, .sync.others, .run.notes' "$J"
	accounted "$(jq '.sync.count // 0' "$J")" "$1" "$J"
	accounted "$(jq '[.sync.others.by_process[]? | select(.comm == "syncs").count] | add // 0' "$J")" "$2" "$J"
}

# A server with a worker that was there before it is watched; each forks a child for whoever asks.
serve() { # NAME
	local n
	while read -r n; do
		"$SYNCS" fdatasync "$RIG_MNT/$1" "$n" >/dev/null
		echo "$n" >>"$BATS_TEST_TMPDIR/done"
	done <>"$BATS_TEST_TMPDIR/$1"
}

server() {
	serve worker &
	echo $! >"$BATS_TEST_TMPDIR/worker.pid"
	serve server
}
export -f serve server

start_server() {
	mkfifo "$BATS_TEST_TMPDIR/worker" "$BATS_TEST_TMPDIR/server"
	start "$BASH" -c server
	SERVER=$STARTED
	eventually 5 test -s "$BATS_TEST_TMPDIR/worker.pid"
	on_exit "kill $(<"$BATS_TEST_TMPDIR/worker.pid") 2>/dev/null || true"
}

# done_with N: so has one of them
done_with() {
	grep -qx "$1" "$BATS_TEST_TMPDIR/done"
}

@test "selectors: -p counts the calls of children, of before and of later, and ends with the last of them" {
	start_server
	watch -p "$SERVER"
	echo 6 >"$BATS_TEST_TMPDIR/server"
	echo 7 >"$BATS_TEST_TMPDIR/worker"
	eventually 10 done_with 6
	eventually 10 done_with 7
	"$SYNCS" fdatasync "$RIG_MNT/stranger" 5
	kill "$SERVER"
	wait "$SERVER" || true
	sleep 0.3
	kill -0 "$TOOL" # its worker is still there
	echo 8 >"$BATS_TEST_TMPDIR/worker"
	eventually 10 done_with 8
	kill "$(<"$BATS_TEST_TMPDIR/worker.pid")"
	status_of "$TOOL" || [[ $? == 5 ]]
	counted 21 5
	[[ $(json '.run.notes[0]' "$J") == "process $SERVER ended during the run" ]]
	[[ $(json .verdict.scope "$J") == asked ]]
}

@test "selectors: --no-children leaves them out" {
	start_server
	watch -p "$SERVER" --no-children
	echo 9 >"$BATS_TEST_TMPDIR/server"
	eventually 10 done_with 9
	stop_tracing "$TOOL"
	counted 0 9
}

# at_gate NAME WORD...: a process of this name that does it when told by: echo >NAME.go
at_gate() {
	local gate=$BATS_TEST_TMPDIR/$1.go
	mkfifo "$gate"
	start "$BASH" -c 'read -r _ <"$0"; exec "$@"' "$gate" "${@:2}"
}

@test "selectors: several processes are a union" {
	local one two three
	at_gate one "$SYNCS" fdatasync "$RIG_MNT/one" 3
	one=$STARTED
	at_gate two "$SYNCS" fdatasync "$RIG_MNT/two" 4
	two=$STARTED
	at_gate three "$SYNCS" fdatasync "$RIG_MNT/three" 5
	three=$STARTED
	watch -p "$one" -p "$two"
	echo >"$BATS_TEST_TMPDIR/three.go"
	wait "$three"
	echo >"$BATS_TEST_TMPDIR/one.go"
	echo >"$BATS_TEST_TMPDIR/two.go"
	status_of "$TOOL" || [[ $? == 5 ]]
	counted 7 5
	[[ $(json .run.filter "$J") == "pid $one, pid $two" ]]
}

# What is called renamed: a script that was there before, whose child makes calls, and a program that begins later.
@test "selectors: --comm counts all of a name, of before and of later" {
	local script=$BATS_TEST_TMPDIR/renamed program=$BATS_TEST_TMPDIR/later/renamed alone
	mkfifo "$BATS_TEST_TMPDIR/go"
	mkdir "${program%/*}"
	cp "$SYNCS" "$program"
	# shellcheck disable=SC2016  # for the script
	printf '#!%s\nread -r _ <"$BATS_TEST_TMPDIR/go"\n"$SYNCS" fdatasync "$RIG_MNT/first" 3\n' "$BASH" >"$script"
	chmod +x "$script"
	start "$script"
	set -- "$STARTED"
	eventually 5 grep -qx renamed "/proc/$1/comm"
	start_tracing --comm renamed --no-children "$RIG_DISK" --json "$J.alone" -o "$TXT.alone"
	alone=$STARTED
	watch --comm renamed
	"$program" fdatasync "$RIG_MNT/second" 6
	"$SYNCS" fdatasync "$RIG_MNT/stranger" 4
	echo >"$BATS_TEST_TMPDIR/go"
	wait "$1"
	kill -0 "$TOOL" # others of this name may come
	stop_tracing "$TOOL"
	stop_tracing "$alone"
	counted 9 4
	J=$J.alone counted 6 7
}

# group NAME: such a cgroup, $GROUP
group() {
	local root
	root=$(findmnt -nt cgroup2 -o TARGET | head -n 1)
	root=${root:-$(findmnt -nt cgroup -O blkio -o TARGET | head -n 1)}
	[[ $root ]] || skip "missing: a cgroup hierarchy"
	GROUP=$root/$1
	mkdir "$GROUP"
	on_exit "rmdir '$GROUP'"
}

# from_group FILE TIMES: sync calls of a process in $GROUP
from_group() {
	# shellcheck disable=SC2016  # for the inner shell
	"$BASH" -c 'echo $$ >"$0/cgroup.procs"; "$SYNCS" fdatasync "$RIG_MNT/$1" "$2"' "$GROUP" "$@"
}

@test "selectors: --unit counts a service, and goes on counting it when it has been restarted" {
	group "bt-$$.service"
	watch --unit "bt-$$"
	from_group one 5
	"$SYNCS" fdatasync "$RIG_MNT/stranger" 4
	eventually 5 rmdir "$GROUP"
	sleep 1.2
	mkdir "$GROUP"
	sleep 1.2
	from_group two 6
	stop_tracing "$TOOL"
	counted 11 4
	[[ $(json .run.filter "$J") == "unit bt-$$" ]]
}

@test "selectors: --container and -p together count both" {
	local one
	group "docker-4f5eb7a6c1d2$$abc.scope"
	at_gate one "$SYNCS" fdatasync "$RIG_MNT/one" 3
	one=$STARTED
	watch --container "4f5eb7a6c1d2$$" -p "$one"
	echo >"$BATS_TEST_TMPDIR/one.go"
	from_group two 5
	"$SYNCS" fdatasync "$RIG_MNT/stranger" 4
	wait "$one"
	stop_tracing "$TOOL"
	counted 8 4
}
