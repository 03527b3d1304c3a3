#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The what-if against the real thing: the run's time without flushes, as predicted from one traced run, beside the
# time that the same work takes after a remount with barrier=0. Both are traced, in turn, so that the tracer's own cost
# and whatever else the machine does are in both.

load ../helpers

setup() {
	need_rig
	need sqlite3 mount
	FILE=$BATS_TEST_TMPDIR
}

teardown() {
	clean_up
}

# WRITERS copies of pts/sqlite at once, each with a database of its own. Arguments: folder, SQL, WRITERS.
# shellcheck disable=SC2016
WORK='for i in $(seq "$3"); do sqlite3 -batch -bail -init /dev/null "$1/db$i" <"$2" & done; wait'

fresh() { # BARRIER
	mount -o "remount,barrier=$1" "$RIG_MNT"
	rm -f "$RIG_MNT"/db*
	sync -f "$RIG_MNT"
}

# traced BARRIER WRITERS: the report is in $FILE/json
traced() {
	fresh "$1"
	"$BT" -q "$RIG_DISK" --json "$FILE/json" -o "$FILE/text" -- sh -c "$WORK" - "$RIG_MNT" "$FILE/sql" "$2"
}

# untraced WRITERS: without barriers; prints µs
untraced() {
	local start
	fresh 0
	start=${EPOCHREALTIME/[.,]/}
	sh -c "$WORK" - "$RIG_MNT" "$FILE/sql" "$1"
	echo $((${EPOCHREALTIME/[.,]/} - start))
}

predicted() { # FAMILY: ns
	jq -er --arg f "$1" '.whatif[] | select(.remove == $f).wall_ns' "$FILE/json"
}

median() {
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# errexit is off in what `||` follows, hence the chains.

# compare FLUSH-US WRITERS INSERTS: medians of three rounds. Sets wall, guess, real, bare (ms) and error (%).
compare() {
	local wrong
	rig_set "flush_us=$1"
	make_inserts "$FILE/sql" "$3"
	: >"$FILE/wall"; : >"$FILE/guess"; : >"$FILE/real"; : >"$FILE/bare"
	for _ in 1 2 3; do
		{
			traced 1 "$2" &&
				json '.run.wall_ns' "$FILE/json" >>"$FILE/wall" &&
				predicted flush >>"$FILE/guess" &&
				traced 0 "$2" &&
				json '.run.wall_ns' "$FILE/json" >>"$FILE/real" &&
				untraced "$2" >>"$FILE/bare"
		} || return
	done
	wall=$(($(median <"$FILE/wall") / 1000000))
	guess=$(($(median <"$FILE/guess") / 1000))
	real=$(($(median <"$FILE/real") / 1000))
	bare=$(($(median <"$FILE/bare") / 1000))
	wrong=$(((guess - real) * 1000 / real))
	error=$((wrong / 10)) guess=$((guess / 1000)) real=$((real / 1000))
}

# What the machine does beside it, it does in one of the runs more than in the other: the bound holds in one try of three.
within() { # PERCENT FLUSH-US WRITERS INSERTS
	for _ in 1 2 3; do
		compare "$2" "$3" "$4" || return
		comment "$(printf '%5s µs %3s %8s %7s %10s %7s %8s' "$2" "$3" "$wall ms" "$guess ms" "$real ms" "$error %" "$bare ms")"
		((${error#-} > $1)) || return 0
	done
	return 1
}

@test "truth: without flushes, 1, 4 and 16 writers" {
	local flush writers inserts off=()
	rig_up --flush-us 500 --write-us 200 --fs ext4 --sched mq-deadline
	comment "   flush  writers   took  without: predicted  real  error  untraced"
	while read -r flush writers inserts; do
		within 20 "$flush" "$writers" "$inserts" || off+=("$flush µs with $writers")
		echo "${error#-}" >>"$FILE/errors"
	done <<-END
		500 1 400
		500 4 200
		500 16 120
		1000 1 300
		1000 4 130
		1000 16 90
		3000 1 150
		3000 4 65
		3000 16 40
		7000 1 90
		7000 4 40
		7000 16 28
	END
	comment "median error $(median <"$FILE/errors") %"
	(($(median <"$FILE/errors") <= 10))
	((!${#off[@]})) || { echo "more than 20 % off: ${off[*]}"; return 1; }
}

# The journal's FLUSH after the commit record goes, the rest stays: with one writer about a quarter of the flushes' time.
@test "truth: without emulated FUA, one writer" {
	local wall flush post
	rig_up --flush-us 3000 --write-us 200 --fs ext4 --sched mq-deadline
	make_inserts "$FILE/sql" 60
	traced 1 1
	wall=$(json '.run.wall_ns' "$FILE/json") flush=$(predicted flush) post=$(predicted flush.post)
	comment "took $((wall / 1000000)) ms, without flush.post $((post / 1000000)), without flush $((flush / 1000000))"
	holds "$wall - $post >= 0.8 * ($wall - $flush) / 4 && $wall - $post <= 1.2 * ($wall - $flush) / 4"
}

# Where sync calls leave the CPUs idle, beside the run and not after it. $PPID: the tool, whose other threads do it.
@test "truth: the pace of CPUs is measured while a run goes on" {
	rig_up --flush-us 3000 --write-us 200 --fs ext4 --sched none
	make_inserts "$FILE/sql" 60
	traced 1 1
	[[ $(json '[.run.pace[] | select(.work_ns > 0 and .wake_ns > 0).idle_ns] | . == (sort | unique) and length == 5' "$FILE/json") == true ]]
	# shellcheck disable=SC2016  # for the inner shell
	"$BT" -q "$RIG_DISK" --json "$FILE/json" -o "$FILE/text" -- sh -c "($WORK); ls /proc/\$PPID/task | wc -l >$FILE/threads" - \
		"$RIG_MNT" "$FILE/sql" 1
	[[ $(<"$FILE/threads") == 3 ]]
	# no more than it has to be
	traced 0 1
	[[ $(json '.run.pace' "$FILE/json") == null ]]
}

@test "truth: nothing is predicted for what took no time" {
	rig_up --flush-us 3000 --write-us 200 --fs ext4 --sched none
	make_inserts "$FILE/sql" 30
	traced 1 1
	[[ $(predicted throttle || echo none) == none ]]
	traced 0 1
	[[ $(predicted flush || echo none) == none ]]
}
