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

# started_as_user COMMAND...: in the background, its own number in $STARTED
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

# ---- PostgreSQL: one cluster, socket in its folder; its own clock of the WAL's syncs is on ----

PG=	# its folder
PG_SETTINGS="
fsync = on
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

pg_sql() {
	psql -h "$PG" -U postgres -XAtqc "$1" postgres
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

# redis_writes SECONDS: a write every 0.1 s
redis_writes() {
	local end=$((SECONDS + $1))
	while ((SECONDS < end)); do
		redis SET key "$SECONDS" >/dev/null || return
		sleep 0.1
	done
}
