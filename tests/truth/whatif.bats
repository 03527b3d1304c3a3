#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The what-if against the real thing: what one traced run with barriers says of itself without flushes, beside the same work after a
# remount with barrier=0. Both are traced, in turn, so that the tracer's own cost and whatever else the machine does are in both.

load ../helpers
load matrix
load servers

setup_file() {
	build_syncs
}

setup() {
	need_rig
	need sqlite3 mount python3
	FILE=$BATS_TEST_TMPDIR BELOW=10
}

teardown() {
	clean_up
}

# What is run, with a folder: sh -c "$WORK" - FOLDER ARGUMENT...

# FOLDER SQL N: N copies of pts/sqlite at once, each with a database of its own
# shellcheck disable=SC2016
SQLITE='for i in $(seq "$3"); do sqlite3 -batch -bail -init /dev/null "$1/db$i" <"$2" & done; wait'

# FOLDER SYNCS N: a loop of fdatasyncs beside one that does 40 of them, one each 5 ms
# shellcheck disable=SC2016
TIMER='"$2" -o fdatasync "$1/loop" "$3" & "$2" -o -p 5 fdatasync "$1/timer" 40 & wait'

# FOLDER N: six threads that write and sync in turn, one mutex
MUTEX='exec python3 - "$@" <<"END"
import os, sys, threading
lock = threading.Lock()
def work(i):
    fd = os.open(f"{sys.argv[1]}/mutex{i}", os.O_CREAT | os.O_RDWR)
    for k in range(int(sys.argv[2])):
        with lock:
            os.pwrite(fd, bytes([k % 256]) * 4096, k * 4096)
            os.fdatasync(fd)
threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
for t in threads: t.start()
for t in threads: t.join()
END'

fresh() { # BARRIER
	mount -o "remount,barrier=$1" "$RIG_MNT"
	find "$RIG_MNT" -maxdepth 1 -type f -delete
	sync -f "$RIG_MNT"
}

# traced NAME BARRIER WORK ARGUMENT..: the report is in $FILE/NAME
traced() {
	fresh "$2"
	"$BT" -q "$RIG_DISK" --json "$FILE/$1" -o "$FILE/text" -- sh -c "$3" - "$RIG_MNT" "${@:4}"
}

predicted() { # FAMILY NAME: ns
	jq -er --arg f "$1" '.whatif[] | select(.remove == $f).wall_ns' "$FILE/$2"
}

# figures: of both runs, to those of the cell
figures() {
	jq -n --slurpfile a "$FILE/with" --slurpfile b "$FILE/without" '
		($a[0].whatif[] | select(.remove == "flush")) as $w | {
			took: ($a[0].run.wall_ns / 1e6), bound: $w.bound, predicted: $w.speedup,
			measured: ($a[0].run.wall_ns / $b[0].run.wall_ns), call: ($w.per_call_ns.without / 1e3),
			call_measured: ($b[0].sync.total_ns / $b[0].sync.count / 1e3)
		}' >>"$FILE/rounds"
}

# conclude NAME: of the rounds, the medians; a bound if one of them says so, and then at most $BELOW % too low
conclude() {
	jq -s --argjson below "$BELOW" 'def median(f): [.[] | f] | sort | .[length / 2 | floor];
		{ took: median(.took), bound: any(.[]; .bound), predicted: median(.predicted), measured: median(.measured),
		call: median(.call), call_measured: median(.call_measured) }
		| .off = (100 * (.predicted / .measured - 1)) | .call_off = (100 * (.call / .call_measured - 1))
		| .good = if .bound then .off >= -$below else (.off | fabs) <= 25 and (.call_off | fabs) <= 15 end' "$FILE/rounds" >"$FILE/cell"
	comment "$1: $(jq -r 'def r: . * 100 | round / 100;
		"took \(.took | round) ms; \(if .bound then "up to " else "" end)\(.predicted | r) times faster, measured \(.measured | r)"
		+ " (\(.off | round) %); a call \(.call | round) us, measured \(.call_measured | round) (\(.call_off | round) %)"' "$FILE/cell")"
	[[ $(jq '.good' "$FILE/cell") == true ]]
}

# cell NAME WORK ARGUMENT..: what the machine does beside it, it does in one of the runs more than in the other: one try of three has to hold
cell() {
	for _ in 1 2 3; do
		: >"$FILE/rounds"
		for _ in 1 2 3; do
			traced with 1 "${@:2}" && traced without 0 "${@:2}" && figures || return
		done
		! conclude "$1" || return 0
	done
	return 1
}

@test "truth: SQLite without flushes, 1 to 16 writers" {
	local flush write writers inserts off=()
	keep_awake
	rig_up --flush-us 500 --write-us 200 --fs ext4 --sched mq-deadline
	while read -r flush write writers inserts; do
		rig_set "flush_us=$flush" "write_us=$write"
		make_inserts "$FILE/sql" "$inserts"
		cell "flush $flush us, write $write us, $writers at once" "$SQLITE" "$FILE/sql" "$writers" || off+=("$flush us with $writers")
	done <<-END
		300 100 1 500
		1000 200 1 300
		3400 400 1 150
		7000 1000 1 70
		500 200 4 200
		1000 200 4 130
		3000 200 4 65
		500 200 16 120
		1000 200 16 90
		3000 200 16 40
	END
	((!${#off[@]})) || { echo "off: ${off[*]}"; return 1; }
}

# A thread that has waited computes slower for a while, with CPUs that poll, too: its caches are cold.
@test "truth: without flushes, six threads and a mutex" {
	BELOW=20
	keep_awake
	rig_up --flush-us 3000 --write-us 200 --fs ext4 --sched mq-deadline
	cell "six threads, one mutex" "$MUTEX" 50
	[[ $(jq '.bound' "$FILE/cell") == true ]]
}

@test "truth: without flushes, a loop beside a timer" {
	keep_awake
	need_syncs
	rig_up --flush-us 1000 --write-us 200 --fs ext4 --sched mq-deadline
	cell "a loop beside a timer" "$TIMER" "$SYNCS" 300
	[[ $(jq '.bound' "$FILE/cell") == true ]]
}

# pgbench_for BARRIER CLIENTS: the backends' calls of 4 s in $FILE/with or without, and the transactions a second in $tps
pgbench_for() {
	local out=with
	(($1)) || out=without
	mount -o "remount,barrier=$1" "$RIG_MNT"
	pg_preallocate >/dev/null
	pgbench -n -N -c "$2" -j 1 -T 5 -h "$PG" -U postgres postgres >"$FILE/bench" &
	sleep 0.5
	or_lost "$BT" -q -d 4 -p "$PG_PID" "$RIG_DISK" --json "$FILE/$out" -o "$FILE/text"
	wait $!
	tps=$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$FILE/bench")
}

# A watch has no length of its own: as much work a second at most. A quick sync call serves fewer commits, so the calls can grow by more.
@test "truth: without flushes, pgbench" {
	local clients with wanted
	need_postgres
	rig_up --flush-us 3000 --write-us 200 --fs ext4 --sched mq-deadline
	postgres_up "$RIG_MNT/pg"
	for clients in 1 4 8; do
		for _ in 1 2 3; do
			pgbench_for 1 "$clients"
			with=$tps
			pgbench_for 0 "$clients"
			wanted=$(jq -rn --slurpfile a "$FILE/with" --slurpfile b "$FILE/without" --argjson tps "$tps" --argjson with "$with" '
				def rate: .sync.count * 1e9 / .run.wall_ns;
				($a[0].whatif[] | select(.remove == "flush")) as $w |
				"\($w.speedup) \($tps / $with) \(($b[0] | rate) / ($a[0] | rate)) \($w.bound and ($w | has("wall_ns") | not))"')
			comment "pgbench -c$clients: at most, transactions measured, calls measured: $wanted"
			# shellcheck disable=SC2086
			set -- $wanted
			! holds "$1 >= 0.9 * $2" || break
		done
		holds "$1 >= 0.9 * $2" && [[ $4 == true ]]
	done
}

# The journal's FLUSH after the commit record goes, the rest stays: with one writer about a quarter of the flushes' time.
@test "truth: without emulated FUA, one writer" {
	local wall flush post
	rig_up --flush-us 3000 --write-us 200 --fs ext4 --sched mq-deadline
	make_inserts "$FILE/sql" 60
	traced with 1 "$SQLITE" "$FILE/sql" 1
	wall=$(json '.run.wall_ns' "$FILE/with") flush=$(predicted flush with) post=$(predicted flush.post with)
	comment "took $((wall / 1000000)) ms, without flush.post $((post / 1000000)), without flush $((flush / 1000000))"
	holds "$wall - $post >= 0.8 * ($wall - $flush) / 4 && $wall - $post <= 1.2 * ($wall - $flush) / 4"
}

@test "truth: nothing is predicted for what took no time, and no run of what was stopped" {
	rig_up --flush-us 3000 --write-us 200 --fs ext4 --sched none
	make_inserts "$FILE/sql" 30
	traced with 1 "$SQLITE" "$FILE/sql" 1
	[[ $(predicted throttle with || echo none) == none ]]
	traced without 0 "$SQLITE" "$FILE/sql" 1
	[[ $(predicted flush without || echo none) == none ]]
	make_inserts "$FILE/sql" 3000
	fresh 1
	"$BT" -q -d 1 "$RIG_DISK" --json "$FILE/with" -o "$FILE/text" -- sh -c "$SQLITE" - "$RIG_MNT" "$FILE/sql" 1 || true
	[[ $(json '.whatif[0] | has("wall_ns")' "$FILE/with") == false && $(json '.whatif[0].bound' "$FILE/with") == true ]]
	grep -q 'as much work a second' "$FILE/text"
}
