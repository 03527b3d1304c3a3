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

# Seconds that one writer takes for 3000 WAL inserts, by the clock of the shell around it.
wal() { # COMMAND-PREFIX..
	rm -f "$RIG_MNT"/wal.db*
	"$@" sh -c 's=$(date +%s%N); sqlite3 "$1" ".read $2" > /dev/null; e=$(date +%s%N); echo $((e - s)) > "$3"' - \
		"$RIG_MNT/wal.db" "$BATS_TEST_TMPDIR/wal.sql" "$BATS_TEST_TMPDIR/ns" 2>> "$BATS_TEST_TMPDIR/err"
	cat "$BATS_TEST_TMPDIR/ns"
}

fio_iops() { # COMMAND-PREFIX..
	rm -f "$RIG_MNT"/f.*
	"$@" fio --name=f --directory="$RIG_MNT" --size=8m --rw=randwrite --bs=4k --ioengine=sync --fdatasync=1 \
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

# The aim is 90 %. Not reached yet: 81 % and 69 % with 2 CPUs, of which the rig's own daemon takes its share. What is held is
# that it does not get worse.
kept() { # PERCENT AT-LEAST
	[ "$1" -ge "$2" ]
}

@test "throughput kept: SQLite WAL with one writer, ledgers on, no drops" {
	rig_up --flush-us 0 --write-us 0 --fs ext4 --sched none
	{
		echo 'PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);'
		for i in $(seq 3000); do echo "INSERT INTO t (a) VALUES ('row $i');"; done
	} > "$BATS_TEST_TMPDIR/wal.sql"
	local with=() without=() i
	wal > /dev/null
	for i in 1 2 3 4 5 6 7; do
		without+=("$(wal)")
		with+=("$(wal "$BT" -q --json "$BATS_TEST_TMPDIR/j$i" "$RIG_DISK" --)")
	done
	local a b
	a=$(median "${without[@]}") b=$(median "${with[@]}")
	echo "# 3000 inserts: $((a / 1000000)) ms without, $((b / 1000000)) ms with ledgers: $((a * 100 / b)) % kept" >&3
	no_drops "$BATS_TEST_TMPDIR"/j*
	kept $((a * 100 / b)) 60
}

@test "throughput kept: fio --fdatasync=1 with 4 jobs, ledgers on, no drops" {
	rig_up --flush-us 0 --write-us 0 --fs ext4 --sched none
	local with=() without=() i
	fio_iops > /dev/null
	for i in 1 2 3 4 5 6 7; do
		without+=("$(fio_iops)")
		with+=("$(fio_iops "$BT" -q --json "$BATS_TEST_TMPDIR/j$i" "$RIG_DISK" --)")
	done
	local a b
	a=$(median "${without[@]}") b=$(median "${with[@]}")
	echo "# fdatasync IOPS: $a without, $b with ledgers: $((b * 100 / a)) % kept" >&3
	no_drops "$BATS_TEST_TMPDIR"/j*
	kept $((b * 100 / a)) 50
}
