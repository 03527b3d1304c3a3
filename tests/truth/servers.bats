#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Real servers, held against their own counters.

load ../helpers
load servers

setup() {
	need_rig
	J=$BATS_TEST_TMPDIR/report.json TXT=$BATS_TEST_TMPDIR/report.txt DB=$BATS_TEST_TMPDIR/report.db
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

# wal_figures FLUSH_US: THEIRS, THEIR_NS, OURS and OUR_NS of one window, in which nothing else in pg_wal is synced
wal_figures() {
	local tool
	rig_set flush_us="$1"
	wal_syncs >/dev/null # those of before are in its counters, and go
	pg_sql "SELECT pg_stat_reset_shared('wal')" >/dev/null
	start_tracing "$RIG_DISK" --json "$J" --db "$DB" -o "$TXT"
	tool=$STARTED
	pg_work
	stop_tracing "$tool"
	wal_syncs >/dev/null
	read -r THEIRS THEIR_NS < <(pg_sql "SELECT wal_sync || ' ' || (wal_sync_time * 1e6)::bigint FROM pg_stat_wal")
	read -r OURS OUR_NS < <(calls_where "call = 'fdatasync' AND $WAL")
	[[ $(calls_where "path GLOB '*/pg_wal/*' AND NOT (call = 'fdatasync' AND $WAL)") == '0 0' ]]
	figures PostgreSQL "wal_sync, flush of $1 us"
}

# PostgreSQL's clock also holds the way into the kernel and out of it, with the probes' own work on both sides, and what else gets
# the CPU before the way out is done: 1 to 2 us of a call where a flush takes no time, 2 to 6 us where the CPU has slept meanwhile.
@test "servers: PostgreSQL's wal_sync is our fdatasyncs in pg_wal, and wal_sync_time their time" {
	need_postgres
	rig_up --size 512M --fs ext4 --write-us 200
	postgres_up "$RIG_MNT/pg"
	pg_preallocate
	WAL="path GLOB '*/pg_wal/0000*'"
	within_tries same_time 0.02 wal_figures 3000
	within_tries same_time 0.02 wal_figures 0
}

# insert_rows CLIENTS TRANSACTIONS, of each client
insert_rows() {
	local i pids=()
	make_inserts "$BATS_TEST_TMPDIR/sql" "$2"
	sed -i "1d; s/.*/INSERT INTO t.t (s) VALUES (repeat('x', 200));/" "$BATS_TEST_TMPDIR/sql"
	for ((i = 0; i < $1; i++)); do
		mariadb --no-defaults -S "$MARIA/s" -u root <"$BATS_TEST_TMPDIR/sql" &
		pids+=($!)
	done
	wait "${pids[@]}"
}

maria_figures() { # TRANSACTIONS of each client
	local tool before
	before=$(maria_status Innodb_data_fsyncs)
	start_tracing "$RIG_DISK" --json "$J" --db "$DB" -o "$TXT"
	tool=$STARTED
	insert_rows 4 "$1"
	maria_rests
	stop_tracing "$tool"
	THEIRS=$(($(maria_status Innodb_data_fsyncs) - before))
	read -r OURS _ < <(calls_where "call IN ('fsync', 'fdatasync') AND ($INNODB)")
	comment "MariaDB: the binary log: $(calls_where "path GLOB '*/binlog.0*'" | cut -d ' ' -f 1)"
	figures MariaDB Innodb_data_fsyncs
}

all_followed() {
	((!UNFOLLOWED))
}

# Outside of its count are the server's syncs of other files: the binary log, Aria's, table definitions. It has no clock of syncs.
@test "servers: MariaDB's Innodb_data_fsyncs are our calls on InnoDB's files" {
	need_mariadb
	rig_up --size 512M --fs ext4 --flush-us 3000 --write-us 200
	mariadb_up "$RIG_MNT/my"
	INNODB="path GLOB '*/ib_logfile0' OR path GLOB '*/ibdata1' OR path GLOB '*/undo00*' OR path GLOB '*.ibd'"
	within_tries all_followed '' maria_figures 20
}

puts() { # COUNT
	local i
	for ((i = 0; i < $1; i++)); do
		etcd_ctl put "key$i" "value $i" >/dev/null || return
	done
}

# wal_buckets BEFORE AFTER: etcd's buckets that have some of the window: upper end (s), theirs and ours up to there
wal_buckets() {
	local end theirs
	paste -d ' ' "$1" "$2" | awk '$1 ~ /^[0-9]/ && $4 > $2 { print $1, $4 - $2 }' | while read -r end theirs; do
		echo "$end $theirs $(calls_where "$WAL AND duration_ns <= $end * 1e9" | cut -d ' ' -f 1)"
	done
}

# p99_bucket COLUMN: of wal_buckets, the upper end of the first that reaches 99 %
p99_bucket() {
	awk -v c="$1" '{ end[NR] = $1; n[NR] = $c } END { for (i = 1; n[i] < n[NR] * 0.99; i++); print end[i] }'
}

etcd_figures() { # PUTS
	local tool before=$BATS_TEST_TMPDIR/before after=$BATS_TEST_TMPDIR/after
	etcd_metrics >"$before"
	start_tracing "$RIG_DISK" --json "$J" --db "$DB" -o "$TXT"
	tool=$STARTED
	puts "$1"
	stop_tracing "$tool"
	etcd_metrics >"$after"
	read -r THEIRS THEIR_NS < <(paste -d ' ' "$before" "$after" |
		awk '{ d[$1] = $4 - $2 } END { printf "%d %d\n", d["count"], d["sum"] * 1e9 }')
	read -r OURS OUR_NS < <(calls_where "$WAL")
	figures etcd etcd_disk_wal_fsync_duration_seconds
	wal_buckets "$before" "$after" | awk '{ print } $2 == n { exit }' n="$THEIRS" >"$BATS_TEST_TMPDIR/buckets"
	comment "up to (s), theirs, ours: $(paste -s -d ';' "$BATS_TEST_TMPDIR/buckets")"
}

same_p99_bucket() {
	((!UNFOLLOWED)) && [[ $(p99_bucket 2 <"$BATS_TEST_TMPDIR/buckets") == "$(p99_bucket 3 <"$BATS_TEST_TMPDIR/buckets")" ]]
}

# etcd's clock also holds the time until Go's scheduler lets the goroutine go on.
@test "servers: etcd's count of its log's syncs is our fdatasyncs of it, with p99 in the same bucket" {
	need_etcd
	rig_up --size 512M --fs ext4 --flush-us 3000 --write-us 200
	etcd_up "$RIG_MNT/etcd"
	WAL="call = 'fdatasync' AND path GLOB '*/member/wal/*.wal'"
	within_tries same_p99_bucket '' etcd_figures 200
}

# steps_explained STEPS START: each step lies in a call of at least 0.9 s then (a second less a tick). START: of the run, µs since 1970
steps_explained() {
	local sent received call missing=0
	while read -r sent received; do
		call=$(in_db "SELECT start_ns / 1000, (start_ns + duration_ns) / 1000 FROM sync_call
			WHERE $AOF AND start_ns / 1000 + 900000 <= $((received - $2)) AND (start_ns + duration_ns) / 1000 >= $((sent - $2))")
		[[ $call ]] || missing=$((missing + 1))
		comment "Redis: a step between $((sent - $2)) and $((received - $2)) us, our call from, to: ${call:-none}"
	done <"$1"
	((missing <= $(jq '.sync.no_ledger // 0' "$J")))
}

# calls_explained STEPS START END: a call that is under way when the second second after its begin begins, and 0.3 s later (two ticks,
# a write), has its step there. Not asked of one that begins in the last 0.25 s of a second, as its first write may come in the next,
# or after the writes (END).
calls_explained() {
	local from to due asked=0 failed=0
	while read -r from to; do
		due=$((((from + $2) / 1000000 + 2) * 1000000))
		(((from + $2) % 1000000 < 750000 && from + $2 < $3 - 250000 && to + $2 > due + 300000)) || continue
		asked=$((asked + 1))
		awk -v due=$due '$1 < due + 300000 && $2 > due - 100000 { found = 1 } END { exit !found }' "$1" ||
			{ failed=1; comment "Redis: our call from $from to $to us has no step"; }
	done < <(in_db "SELECT start_ns / 1000, (start_ns + duration_ns) / 1000 FROM sync_call WHERE $AOF")
	comment "Redis: calls that must have a step: $asked"
	((asked > 0)) && return $failed
}

# Every tenth of a second Redis puts off writing while a sync is under way, until its clock of whole seconds has gone on by two since the
# first time: then it counts a step and writes.
@test "servers: Redis: each step of aof_delayed_fsync is a long call of ours under way, and each of those a step" {
	local tool before start end steps=$BATS_TEST_TMPDIR/steps AOF="call = 'fdatasync' AND path GLOB '*/appendonlydir/*.incr.aof'"
	need_redis
	rig_up --fs ext4 --flush-us 0 --write-us 200
	redis_up "$RIG_MNT/redis"
	touch "$RIG_MNT/now"
	before=$(redis_info aof_delayed_fsync)
	start_tracing "$RIG_DISK" --json "$J" --db "$DB" -o "$TXT"
	tool=$STARTED
	start=${EPOCHREALTIME/[.,]/} # a call of this moment, to set the run's clock by
	sync -d "$RIG_MNT/now"
	rig_set flush_us=1500000
	redis_steps 18 >"$steps" & # what is put off last is written within three seconds
	redis_writes 14
	end=${EPOCHREALTIME/[.,]/}
	wait $!
	eventually 10 redis_is_synced
	stop_tracing "$tool"
	start=$((start - $(in_db "SELECT start_ns / 1000 FROM sync_call WHERE path LIKE '%/now'")))
	show_calls
	steps_explained "$steps" "$start"
	calls_explained "$steps" "$start" "$end"
	comment "Redis: aof_delayed_fsync: $(($(redis_info aof_delayed_fsync) - before)), seen $(wc -l <"$steps")"
	[[ $(($(redis_info aof_delayed_fsync) - before)) == "$(wc -l <"$steps")" ]]
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
