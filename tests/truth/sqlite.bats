#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The sync calls of SQLite per autocommit insert, in each mode of its journal and of its `synchronous`: as many as
# are known of this version, or as strace counts with another.

load ../helpers
load matrix

N=20
VERSION=3.40.1	# whose calls are known

setup() {
	need_rig
	need sqlite3
}

teardown() {
	clean_up
}

# OFF NORMAL FULL EXTRA
known() {
	case $1 in
	DELETE) echo 0 3 4 5 ;;
	TRUNCATE) echo 0 3 5 5 ;;
	PERSIST) echo 0 4 5 5 ;;
	MEMORY) echo 0 1 1 1 ;;
	WAL) echo 0 0 1 1 ;;
	esac
}

# A database in this mode, with its journal there already, as after many inserts
ready() { # JOURNAL SYNCHRONOUS
	local i
	DB=$RIG_MNT/$1-$2 SQL=$BATS_TEST_TMPDIR/sql
	INSERTS=(sqlite3 -batch -bail -init /dev/null "$DB" "PRAGMA journal_mode=$1" "PRAGMA synchronous=$2")
	"${INSERTS[@]}" 'CREATE TABLE t (i INTEGER)' 'INSERT INTO t VALUES (0)' >/dev/null || return
	INSERTS+=("BEGIN; SELECT * FROM t; COMMIT")
	BEFORE=("${INSERTS[@]}")
	for ((i = 1; i <= N; i++)); do
		INSERTS+=("INSERT INTO t VALUES ($i)")
	done
}

traced_calls() { # COMMAND...
	trace "$@" || return
	ledgers_add_up && nothing_lost || return
	jq '.sync.count' "$J"
}

straced_calls() {
	local out=$BATS_TEST_TMPDIR/strace
	need strace
	strace -f -e trace=fsync,fdatasync,msync,sync_file_range,sync,syncfs -o "$out" "$@" >/dev/null
	grep -c '(' "$out" || true
}

# per_insert COUNTER: opening and closing a database can take calls of its own, so the inserts are the difference
per_insert() {
	local with without
	with=$("$1" "${INSERTS[@]}") && without=$("$1" "${BEFORE[@]}") || return
	GOT=$(((with - without) / N)) REST=$(((with - without) % N))
}

check() { # JOURNAL
	local i modes=(OFF NORMAL FULL EXTRA) want=()
	rig_up
	read -ra want <<<"$(known "$1")"
	for i in 0 1 2 3; do
		ready "$1" "${modes[i]}"
		if [[ $(sqlite3 --version) != "$VERSION "* ]]; then
			per_insert straced_calls
			want[i]=$GOT
		fi
		one_of_three per_insert traced_calls
		echo "$1 ${modes[i]}: $GOT per insert and $REST in all, want ${want[i]}"
		# the last one to close a write-ahead log copies it, which is up to 5 calls
		((GOT == want[i] && REST <= 5))
	done
}

@test "sqlite: DELETE" {
	check DELETE
}

@test "sqlite: TRUNCATE" {
	check TRUNCATE
}

@test "sqlite: PERSIST" {
	check PERSIST
}

@test "sqlite: MEMORY" {
	check MEMORY
}

@test "sqlite: WAL" {
	check WAL
}
