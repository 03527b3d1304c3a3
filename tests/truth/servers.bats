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

wal_syncs() {
	sleep 1 # its statistics come with a second's delay
	pg_sql 'SELECT wal_sync FROM pg_stat_wal'
}

pg_work() {
	pgbench -n -N -c 4 -t 100 -h "$PG" -U postgres postgres >"$BATS_TEST_TMPDIR/bench"
}

@test "servers: PostgreSQL behind a wrapped pgbench" {
	local before
	need_postgres
	rig_up --fs ext4 --flush-us 3000 --write-us 200
	postgres_up "$RIG_MNT/pg"
	before=$(wal_syncs)
	or_lost "$BT" "$RIG_DISK" --json "$J" -o "$TXT" -- pgbench -n -N -c 4 -t 100 -h "$PG" -U postgres postgres >"$BATS_TEST_TMPDIR/bench"
	about_postgres $(($(wal_syncs) - before))
}

# postgres_selected OPTION...: its backends, forked for pgbench, are those whose calls count
postgres_selected() {
	local before tool
	before=$(wal_syncs)
	start_tracing "$@" "$RIG_DISK" --json "$J" -o "$TXT"
	tool=$STARTED
	pg_work
	stop_tracing "$tool"
	jq -r '.run.filter, .verdict.sentence, "\(.sync.count) calls, \(.run.lost_events) lost"' "$J"
	[[ $(json .verdict.scope "$J") == asked && $(json .verdict.class "$J") == device-flush ]]
	accounted "$(jq .sync.count "$J")" $(($(wal_syncs) - before)) "$J"
	[[ $(jq '.sync.by_process | map(select(.comm == "postgres")) | length' "$J") -ge 4 ]]
}

@test "servers: PostgreSQL by -p of the postmaster, and by --comm" {
	need_postgres
	rig_up --fs ext4 --flush-us 3000 --write-us 200
	postgres_up "$RIG_MNT/pg"
	postgres_selected -p "$PG_PID"
	postgres_selected --comm postgres
}

# Redis counts the writes that had to wait because the sync of the second before was still under way.
@test "servers: Redis with a flush of 1.5 s, by -p: it is fsync where Redis itself says that fsyncs delay it" {
	local tool before
	need_redis
	rig_up --fs ext4 --flush-us 0 --write-us 200
	redis_up "$RIG_MNT/redis"
	rig_set flush_us=1500000
	before=$(redis_info aof_delayed_fsync)
	start_tracing -p "$REDIS_PID" "$RIG_DISK" --json "$J" -o "$TXT"
	tool=$STARTED
	redis_writes 10
	stop_tracing "$tool"
	rig_set flush_us=0
	jq -c '.verdict.class, .verdict.scope, .verdict.sentence, .sync.calls, .sync.outstanding' "$J"
	echo "aof_delayed_fsync: $before, then $(redis_info aof_delayed_fsync)"
	(($(redis_info aof_delayed_fsync) > before))
	[[ $(json .verdict.class "$J") == device-flush ]]
	[[ $(json .verdict.sentence "$J") != *"isn't fsync"* ]]
	jq -e '.sync.total_ns > .run.wall_ns / 2' "$J"
}
