#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The observer must not become the cause: throughput with ledgers on against without, on the fastest disk that the rig
# can be, interleaved, medians. The work times itself, so that starting the tool is not in it.

setup() {
	load ../rig/helpers
	load ../helpers
	need_root
	need_loop_fuse
	need sqlite3 fio jq
}

teardown() {
	rig_down
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

# The files are written before (--overwrite): else how fast the blocks get allocated decides how soon commits cease, and a run
# is now of this kind, now of that.
fio_iops() { # COMMAND-PREFIX..
	rm -f "$RIG_MNT"/f.*
	"$@" fio --name=f --directory="$RIG_MNT" --size=8m --rw=randwrite --bs=4k --ioengine=sync --fdatasync=1 --overwrite=1 \
		--numjobs=4 --time_based --runtime=2 --group_reporting --output-format=json \
		--output="$BATS_TEST_TMPDIR/fio.json" > /dev/null 2>> "$BATS_TEST_TMPDIR/err"
	jq '.jobs[0].write.iops | round' "$BATS_TEST_TMPDIR/fio.json"
}

no_drops() { # JSON..
	local j
	for j; do
		jq -e '(.run.lost // []) | map(select(.reason | test("ring buffer|not followed|remembered"))) | length == 0' "$j" > /dev/null ||
			{ jq -c .run.lost "$j"; return 1; }
	done
}

# rounds COMMAND: its figure without and with ledgers, in turn; sets KEPT, the share of the median that is left, in %
rounds() {
	local with=() without=() i a b
	"$1" > /dev/null
	for i in 1 2 3 4 5 6 7 8 9; do
		without+=("$("$1")")
		with+=("$("$1" "$BT" -q --json "$BATS_TEST_TMPDIR/j$i" "$RIG_DISK" --)")
	done
	a=$(median "${without[@]}") b=$(median "${with[@]}")
	KEPT=$((b * 100 / a))
	echo "# $1: $a a second without, $b with ledgers: $KEPT % kept" >&3
	no_drops "$BATS_TEST_TMPDIR"/j*
}

# What else the machine does falls on one side or the other: the bound holds in one of three. (2 CPUs, of which the rig's
# own daemon takes its share.)
kept() { # PERCENT COMMAND
	local try
	for try in 1 2 3; do
		rounds "$2" || return
		((KEPT < $1)) || return 0
	done
	return 1
}

@test "throughput kept: SQLite WAL with one writer, ledgers on, no drops" {
	rig_up --flush-us 0 --write-us 0 --fs ext4 --sched none
	{
		echo 'PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);'
		for i in $(seq 3000); do echo "INSERT INTO t (a) VALUES ('row $i');"; done
	} > "$BATS_TEST_TMPDIR/wal.sql"
	kept 90 wal
}

# 90 % is the aim here too. Not reached yet: 87 to 91 % on a quiet machine with 2 CPUs, of which the block histograms alone
# take 5; 83 to 94 beside other work. What is held is that it gets no worse.
@test "throughput kept: fio --fdatasync=1 with 4 jobs, ledgers on, no drops" {
	rig_up --flush-us 0 --write-us 0 --fs ext4 --sched none
	kept 80 fio_iops
}
