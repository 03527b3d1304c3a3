#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The observer must not become the cause: throughput with ledgers on against without, on the fastest disk that the rig
# can be, interleaved, medians. What starting the tool takes is not in it.

setup() {
	load ../rig/helpers
	load ../helpers
	need_root
	need_loop_fuse
	need sqlite3 fio jq
}

teardown() {
	clean_up
}

median() { # NUMBER..
	printf '%s\n' "$@" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# 3000 WAL inserts by one writer, by the clock of the shell around it: inserts a second
wal() { # COMMAND-PREFIX..
	rm -f "$RIG_MNT"/wal.db*
	"$@" sh -c 's=$(date +%s%N); sqlite3 "$1" ".read $2" > /dev/null; e=$(date +%s%N); echo $((e - s)) > "$3"' - \
		"$RIG_MNT/wal.db" "$BATS_TEST_TMPDIR/wal.sql" "$BATS_TEST_TMPDIR/ns" 2>> "$BATS_TEST_TMPDIR/err"
	echo $((3000 * 1000000000 / $(< "$BATS_TEST_TMPDIR/ns")))
}

# What a second of it writes, in blocks of 4 KiB and by the kernel's own account (field 7 of its stat: sectors written)
pace() {
	local from now sectors
	from=$(date +%s%N) sectors=$(kernel_stat "$RIG_DISK" 7)
	sleep 1
	sectors=$(($(kernel_stat "$RIG_DISK" 7) - sectors)) now=$(date +%s%N)
	echo $((sectors * 1000000000 / 8 / (now - from)))
}

# Four tasks that write 4 KiB and call fdatasync all the time. The files are written before (--overwrite): else how fast the blocks
# get allocated decides how soon commits cease, and a run is now of this kind, now of that.
fio_goes_on() {
	fio --name=f --directory="$RIG_MNT" --size=8m --rw=randwrite --bs=4k --ioengine=sync --fdatasync=1 --overwrite=1 \
		--numjobs=4 --time_based --runtime=600 --output=/dev/null &
	FIO=$!
	on_exit fio_ends
	sleep 3
	[[ $(pace) -gt 0 ]]
}

# It ends its jobs, which outlive it when it is killed.
fio_ends() {
	[[ $FIO ]] || return 0
	kill "$FIO"
	wait "$FIO" || true
	FIO=''
}

no_drops() { # JSON..
	local j
	for j; do
		jq -e '(.run.lost // []) | map(select(.reason | test("ring buffer|not followed|remembered"))) | length == 0' "$j" > /dev/null ||
			{ jq -c .run.lost "$j"; return 1; }
	done
}

# In turn, without and with ledgers: to WITHOUT and WITH, and a report of each run to j1, j2 ..
wal_rounds() {
	local i
	wal > /dev/null || return
	for i in 1 2 3 4 5 6 7 8 9; do
		WITHOUT+=("$(wal)")
		WITH+=("$(wal "$BT" -q --json "$BATS_TEST_TMPDIR/j$i" "$RIG_DISK" --)")
	done
}

# Runs of fio differ more than a tool that comes and goes makes them differ: one goes on all the time.
fio_rounds() {
	local i
	fio_goes_on || return
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
		WITHOUT+=("$(pace)")
		start_tracing -q --json "$BATS_TEST_TMPDIR/j$i" -o /dev/null "$RIG_DISK" || return
		WITH+=("$(pace)")
		stop_tracing "$STARTED" || return
	done
	fio_ends
}

# How many rounds kept so much
rounds_that_keep() { # PERCENT
	local i n=0
	for i in "${!WITH[@]}"; do
		((WITH[i] * 100 < WITHOUT[i] * $1)) || n=$((n + 1))
	done
	echo "$n"
}

# kept PERCENT WHAT [rounds]: of the medians, in one of three times: what else the machine does falls on one side or the other. (2 CPUs,
# of which the rig's own daemon takes its share.) `rounds`: where none of them does, all their rounds have to say so: if as much is kept,
# half of the rounds keep it, and fewer than half less 1.165 * sqrt(rounds) do in one run of a hundred (sign test).
kept() {
	local a b n=0 good=0
	for _ in 1 2 3; do
		WITHOUT=() WITH=()
		"$2_rounds" || return
		a=$(median "${WITHOUT[@]}") b=$(median "${WITH[@]}")
		n=$((n + ${#WITH[@]})) good=$((good + $(rounds_that_keep "$1")))
		echo "# $2: $a a second without, $b with ledgers: $((b * 100 / a)) % kept; $1 % in $good of $n rounds" >&3
		no_drops "$BATS_TEST_TMPDIR"/j* || return
		((b * 100 < a * $1)) || return 0
	done
	[[ ${3-} ]] && holds "$good >= $n / 2 - 1.165 * sqrt($n)"
}

@test "throughput kept: SQLite WAL with one writer, ledgers on, no drops" {
	rig_up --flush-us 0 --write-us 0 --fs ext4 --sched none
	{
		echo 'PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);'
		for i in $(seq 3000); do echo "INSERT INTO t (a) VALUES ('row $i');"; done
	} > "$BATS_TEST_TMPDIR/wal.sql"
	kept 90 wal
}

@test "throughput kept: fio --fdatasync=1 with 4 jobs, ledgers on, no drops" {
	rig_up --flush-us 0 --write-us 0 --fs ext4 --sched none
	kept 90 fio rounds
}
