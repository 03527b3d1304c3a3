#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Real servers, held against their own counters.

load ../helpers
load servers

setup() {
	need_rig
	J=$BATS_TEST_TMPDIR/report.json TXT=$BATS_TEST_TMPDIR/report.txt
}

teardown() {
	clean_up
}

# about_postgres SYNCS: its backends' calls are the others', as many as it says itself, and nothing is acquitted
about_postgres() {
	jq -r '.verdict.sentence, "\(.sync.others.count) calls of others, \(.run.lost_events) lost"' "$J"
	[[ $(json .verdict.scope "$J") == others && $(json .verdict.class "$J") == device-flush ]]
	[[ $(json .verdict.sentence "$J") == *'others made '*'by postgres ('*' processes)'* ]]
	[[ $(jq .sync.count "$J") == 0 ]]
	accounted "$(jq .sync.others.count "$J")" "$1" "$J"
}

@test "servers: PostgreSQL behind a wrapped pgbench, and by -p of the postmaster" {
	local before tool
	need_postgres
	rig_up --fs ext4 --flush-us 3000 --write-us 200
	postgres_up "$RIG_MNT/pg"
	before=$(pg_sql 'SELECT wal_sync FROM pg_stat_wal')
	or_lost "$BT" "$RIG_DISK" --json "$J" -o "$TXT" -- pgbench -n -N -c 4 -t 100 -h "$PG" -U postgres postgres >"$BATS_TEST_TMPDIR/bench"
	sleep 1 # its statistics come with a second's delay
	about_postgres $(($(pg_sql 'SELECT wal_sync FROM pg_stat_wal') - before))

	start_tracing -p "$PG_PID" "$RIG_DISK" --json "$J" -o "$TXT"
	tool=$STARTED
	before=$(pg_sql 'SELECT wal_sync FROM pg_stat_wal')
	pgbench -n -N -c 4 -t 100 -h "$PG" -U postgres postgres >"$BATS_TEST_TMPDIR/bench"
	stop_tracing "$tool"
	sleep 1
	about_postgres $(($(pg_sql 'SELECT wal_sync FROM pg_stat_wal') - before))
}
