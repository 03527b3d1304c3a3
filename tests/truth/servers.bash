# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Real servers on scratch directories, started without a service manager and ended with the test, each by its own process number.
# load ../helpers first. Each NAME_up DIRECTORY makes what the server keeps there, starts it, and waits until it answers.

# The servers that refuse to run as root run as this user.
SERVER_USER=nobody

need_postgres() {
	local dir
	dir=$(compgen -G '/usr/lib/postgresql/*/bin' | sort -V | tail -n 1)
	[[ ! $dir ]] || PATH=$dir:$PATH
	need initdb pgbench postgres psql setpriv
}

# The rig's folder is root's alone.
let_users_in() { # DIRECTORY: made for $SERVER_USER
	mkdir -p "$1"
	chown "$SERVER_USER" "$1"
	chmod 711 "$RIG" "${1%/*}"
}

as_server_user() {
	setpriv --reuid "$SERVER_USER" --regid "$(id -g "$SERVER_USER")" --clear-groups env HOME=/ "$@"
}

# start_as_user COMMAND...: in the background, its own number in $STARTED
start_as_user() {
	start setpriv --reuid "$SERVER_USER" --regid "$(id -g "$SERVER_USER")" --clear-groups env HOME=/ "$@"
}

# server_answers LOG PID COMMAND...: within 30 s; shows the log of one that ends or stays silent
server_answers() {
	local log=$1 pid=$2
	shift 2
	eventually 30 answers_or_ends "$pid" "$@" && kill -0 "$pid" 2>/dev/null && return
	echo "the server does not answer:"
	tail -n 20 "$log"
	return 1
}

answers_or_ends() {
	! kill -0 "$1" 2>/dev/null || "${@:2}" &>/dev/null
}

# stop_server PID [SIGNAL]: wait for its end, at most 20 s
stop_server() {
	kill -s "${2:-TERM}" "$1" 2>/dev/null || return 0
	eventually 20 server_ended "$1" || kill -KILL "$1"
	wait "$1" || true
}

server_ended() {
	[[ ! -e /proc/$1 ]] || grep -q '^State:.[ZX]' "/proc/$1/status"
}

# ---- ours and theirs: every single call of a run is in the database $DB ----

# in_db SQL: columns with a blank between
in_db() {
	sqlite3 -batch -init /dev/null -separator ' ' "$DB" "$1"
}

# calls_where CONDITION: how many calls, and their time in ns
calls_where() {
	in_db "SELECT count(*), ifnull(sum(duration_ns), 0) FROM sync_call WHERE $1"
}

# show_calls: by process, call and file, for who reads a failed test
show_calls() {
	in_db "SELECT comm, call, path, count(*), sum(duration_ns) / 1000 || ' us' FROM sync_call GROUP BY 1, 2, 3"
}

# figures SERVER COUNTER: theirs and ours, shown of each run, also of one that passes. A call that could not be followed is said to
# be so, and has no time: with those we have as many as they.
figures() {
	local text
	UNFOLLOWED=$(jq '.sync.no_ledger // 0' "$J")
	text="$1: $2: theirs $THEIRS, ours $OURS"
	((!UNFOLLOWED)) || text+=" and $UNFOLLOWED not followed"
	[[ ! ${THEIR_NS:-} ]] || text+=$(awk -v t="$THEIR_NS" -v o="$OUR_NS" -v n="$OURS" 'BEGIN {
		printf "; theirs %.3f ms, ours %.3f ms (%+.2f %%, %+.1f us a call)",
			t / 1e6, o / 1e6, t ? (o - t) / t * 100 : 0, n ? (o - t) / n / 1000 : 0 }')
	comment "$text"
	((OURS > 0 && OURS <= THEIRS && OURS + UNFOLLOWED >= THEIRS)) || { show_calls; return 1; }
}

# same_time SHARE: of theirs that ours may differ by; fails where a call has no time
same_time() {
	((!UNFOLLOWED)) && holds "($THEIR_NS - $OUR_NS) ^ 2 <= ($THEIR_NS * $1) ^ 2"
}

# within_tries CHECK ARGUMENT FIGURES ARGUMENT: one of ten windows passes the check (on a busy machine most have a call
# that could not be followed); the figures themselves hold in each
within_tries() {
	for _ in {1..10}; do
		"$3" "$4" # whatever fails in there fails the test
		! "$1" "$2" || return 0
	done
	return 1
}

# ---- PostgreSQL: one cluster, socket in its folder; its own clock of the WAL's syncs is on ----

PG=	# its folder
PG_SETTINGS="
fsync = on
wal_sync_method = fdatasync
track_wal_io_timing = on
listen_addresses = ''
shared_buffers = 16MB
dynamic_shared_memory_type = mmap
# nothing but the clients' commits writes while a test looks
autovacuum = off
checkpoint_timeout = 1h
max_wal_size = 512MB
wal_level = minimal
max_wal_senders = 0
wal_writer_delay = 10s
bgwriter_lru_maxpages = 0
"

postgres_up() { # DIRECTORY
	PG=$1
	let_users_in "$PG"
	as_server_user initdb -N -A trust -U postgres --no-locale -E UTF8 -D "$PG/data" >"$BATS_TEST_TMPDIR/initdb" || return
	printf "%s\nunix_socket_directories = '%s'\n" "$PG_SETTINGS" "$PG" >>"$PG/data/postgresql.conf"
	start_as_user postgres -D "$PG/data" &>"$BATS_TEST_TMPDIR/postgres"
	PG_PID=$STARTED
	on_exit stop_server "$PG_PID" INT
	server_answers "$BATS_TEST_TMPDIR/postgres" "$PG_PID" pg_sql 'SELECT 1' || return
	pgbench -q -i -s 1 -h "$PG" -U postgres postgres &>"$BATS_TEST_TMPDIR/pgbench.init" || return
	pg_sql CHECKPOINT
	sync -f "$PG"
}

# The log's next files are there: nobody makes one while a test looks.
pg_preallocate() {
	for _ in 1 2 3 4 5; do
		pg_sql 'UPDATE pgbench_branches SET bbalance = bbalance'
		pg_sql 'SELECT pg_switch_wal()' >/dev/null
	done
	pg_sql CHECKPOINT
	pg_sql CHECKPOINT
}

pg_sql() {
	psql -h "$PG" -U postgres -XAtqc "$1" postgres
}

# ---- MariaDB: the binary log is synced beside InnoDB's own; socket in its folder ----

MARIA=	# its folder

need_mariadb() {
	PATH+=:/usr/libexec
	need mariadbd mariadb-install-db mariadb setpriv
}

mariadb_up() { # DIRECTORY
	MARIA=$1
	let_users_in "$MARIA"
	as_server_user mariadb-install-db --no-defaults --auth-root-authentication-method=normal --skip-test-db \
		--datadir="$MARIA/data" &>"$BATS_TEST_TMPDIR/mariadb-install" || return
	start_as_user mariadbd --no-defaults --datadir="$MARIA/data" --socket="$MARIA/s" --pid-file="$MARIA/pid" --skip-networking \
		--innodb-log-file-size=32M --innodb-buffer-pool-size=32M --innodb-flush-log-at-trx-commit=1 \
		--log-bin="$MARIA/data/binlog" --sync-binlog=1 &>"$BATS_TEST_TMPDIR/mariadb"
	MARIA_PID=$STARTED
	on_exit stop_server "$MARIA_PID"
	server_answers "$BATS_TEST_TMPDIR/mariadb" "$MARIA_PID" maria_sql 'SELECT 1' || return
	maria_sql 'CREATE DATABASE t; CREATE TABLE t.t (i INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(200)) ENGINE=InnoDB'
	maria_rests
	sync -f "$MARIA"
}

maria_sql() {
	mariadb --no-defaults -S "$MARIA/s" -u root -BN -e "$1"
}

maria_status() { # COUNTER
	maria_sql "SHOW GLOBAL STATUS LIKE '$1'" | cut -f 2
}

# All changed pages are written and synced, and the purge of old versions has nothing to do.
maria_rests() {
	maria_sql 'SET GLOBAL innodb_max_dirty_pages_pct = 0, GLOBAL innodb_max_dirty_pages_pct_lwm = 0'
	eventually 20 maria_is_clean
	maria_sql 'SET GLOBAL innodb_max_dirty_pages_pct = 90'
	eventually 20 maria_same_twice
}

maria_is_clean() {
	[[ $(maria_status Innodb_buffer_pool_pages_dirty) == 0 ]]
}

# Its own threads sync once a second where there is something to sync.
maria_same_twice() {
	local before
	before=$(maria_status Innodb_data_fsyncs)
	sleep 2.5
	[[ $(maria_status Innodb_data_fsyncs) == "$before" ]]
}

# ---- etcd: one member that nobody else talks to, on free ports of this machine ----

ETCD=	# its folder

need_etcd() {
	need etcd etcdctl
}

# free_port: one on which nobody listens
free_port() {
	local port
	for ((port = 20000 + RANDOM % 20000; ; port++)); do
		(: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
	done
}

etcd_up() { # DIRECTORY
	local peer
	ETCD=$1
	ETCD_PORT=$(free_port)
	peer=http://127.0.0.1:$(free_port)
	mkdir -p "$ETCD"
	start env ETCD_UNSUPPORTED_ARCH="$(uname -m)" etcd --name one --data-dir "$ETCD/data" \
		--listen-client-urls "http://127.0.0.1:$ETCD_PORT" --advertise-client-urls "http://127.0.0.1:$ETCD_PORT" \
		--listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "one=$peer" &>"$BATS_TEST_TMPDIR/etcd"
	ETCD_PID=$STARTED
	on_exit stop_server "$ETCD_PID"
	server_answers "$BATS_TEST_TMPDIR/etcd" "$ETCD_PID" etcd_ctl get x || return
	sync -f "$ETCD"
}

etcd_ctl() {
	ETCDCTL_API=3 etcdctl --endpoints "http://127.0.0.1:$ETCD_PORT" "$@"
}

# etcd_metrics: the syncs of its log, a line each: upper end of a bucket (seconds) and how many lie below it, "sum", "count"
etcd_metrics() {
	local http
	exec {http}<>"/dev/tcp/127.0.0.1/$ETCD_PORT"
	printf 'GET /metrics HTTP/1.0\r\n\r\n' >&"$http"
	tr -d '\r' <&"$http" | sed -n 's/+Inf/1e9/; s/bucket{le="\(.*\)"}/\1/; s/^etcd_disk_wal_fsync_duration_seconds_//p'
	exec {http}>&-
}

# ---- Redis: a log that is synced every second, by a thread of its own ----

REDIS=	# its folder

need_redis() {
	need redis-server redis-cli
}

redis_up() { # DIRECTORY
	REDIS=$1
	mkdir -p "$REDIS"
	start redis-server --port 0 --unixsocket "$REDIS/s" --dir "$REDIS" --save '' --appendonly yes --appendfsync everysec \
		--daemonize no &>"$BATS_TEST_TMPDIR/redis"
	REDIS_PID=$STARTED
	on_exit stop_server "$REDIS_PID"
	server_answers "$BATS_TEST_TMPDIR/redis" "$REDIS_PID" redis_answers || return
	sync -f "$REDIS"
}

redis() {
	redis-cli -s "$REDIS/s" "$@"
}

redis_answers() {
	[[ $(redis PING) == PONG ]]
}

redis_info() { # FIELD
	redis INFO persistence | sed -n "s/^$1:\([0-9]*\).*/\1/p"
}

redis_is_synced() {
	[[ $(redis_info aof_pending_bio_fsync) == 0 ]]
}

# redis_writes SECONDS: a write every 0.1 s
redis_writes() {
	local end=$((SECONDS + $1))
	while ((SECONDS < end)); do
		redis SET key "$SECONDS" >/dev/null || return
		sleep 0.1
	done
}

# redis_steps SECONDS: of aof_delayed_fsync, a line each: when it was last seen without the step, when first with it (µs since 1970)
redis_steps() {
	local end=$((SECONDS + $1)) now sent=0 field value seen=
	coproc CLI { redis; }
	while ((SECONDS < end)); do
		now=${EPOCHREALTIME/[.,]/}
		echo 'INFO persistence' >&"${CLI[1]}"
		while IFS=$':\r' read -r field value _ && [[ $field != aof_delayed_fsync ]]; do :; done <&"${CLI[0]}"
		for (( ; ${seen:=$value} < value; seen++)); do
			echo "$sent ${EPOCHREALTIME/[.,]/}"
		done
		sent=$now
		sleep 0.02
	done
	kill "$CLI_PID"
}
