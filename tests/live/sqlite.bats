#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The sync calls of SQLite per autocommit insert, in each mode of its journal and of its `synchronous`: as many as
# are known of this version, or as strace counts with another.

load ../helpers
load ../truth/matrix

N=20
VERSION=3.40.1	# whose calls are known
MODES=(OFF NORMAL FULL EXTRA)

setup() {
	need_rig
	need sqlite3
}

teardown() {
	clean_up
}

# In each of $MODES
known() {
	case $1 in
	DELETE) echo 0 3 4 5 ;;
	TRUNCATE) echo 0 3 5 5 ;;
	PERSIST) echo 0 4 5 5 ;;
	MEMORY) echo 0 1 1 1 ;;
	WAL) echo 0 0 1 1 ;;
	esac
}

# A database for each mode, with its journal there already, as after many inserts; and a program named so, whose calls are told
# from the others' in one report
ready() { # JOURNAL
	local mode
	for mode in "${MODES[@]}"; do
		ln -s "$(type -P sqlite3)" "$BATS_TEST_TMPDIR/$mode"
		command_of "$1" "$mode" 0
		"${COMMAND[@]}" 'CREATE TABLE t (i INTEGER)' 'INSERT INTO t VALUES (0)' >/dev/null || return
	done
}

# In $COMMAND: so many autocommit inserts in this mode
command_of() { # JOURNAL MODE INSERTS
	local i
	COMMAND=("$BATS_TEST_TMPDIR/$2" -batch -bail -init /dev/null "$RIG_MNT/$1-$2" "PRAGMA journal_mode=$1" "PRAGMA synchronous=$2")
	(($3)) || return 0
	COMMAND+=('BEGIN; SELECT * FROM t; COMMIT')
	for ((i = 1; i < $3; i++)); do
		COMMAND+=("INSERT INTO t VALUES ($i)")
	done
}

# The calls of each mode, in $CALLS; all of them in one run, as starting the tool takes long in an emulated machine
traced_calls() { # JOURNAL INSERTS
	local i
	for i in "${!MODES[@]}"; do
		command_of "$1" "${MODES[i]}" "$2"
		printf '%q ' "${COMMAND[@]}"
		echo
	done >"$BATS_TEST_TMPDIR/all"
	or_lost trace sh -e "$BATS_TEST_TMPDIR/all"
	ledgers_add_up
	# each flush once, by what it was for
	jq -e 'all(.devices[]; ([.flush | .pre, .post, .only, .mixed, .unknown | . // 0] | add) == (.ops.flush.count // 0))' "$J" >/dev/null ||
		{ jq -c '.devices[] | .flush, .ops.flush' "$J"; return 1; }
	LOST=$((LOST + $(lost "$J")))
	for i in "${!MODES[@]}"; do
		CALLS[i]=$(jq --arg mode "${MODES[i]}" '[.sync.by_process[]? | select(.comm == $mode) | .count] | add // 0' "$J")
	done
	[[ $(jq .sync.count "$J") == $((CALLS[0] + CALLS[1] + CALLS[2] + CALLS[3])) ]]
}

straced_calls() { # JOURNAL INSERTS
	local i out=$BATS_TEST_TMPDIR/strace
	need strace
	for i in "${!MODES[@]}"; do
		command_of "$1" "${MODES[i]}" "$2"
		strace -f -e trace=fsync,fdatasync,msync,sync_file_range,sync,syncfs -o "$out" "${COMMAND[@]}" >/dev/null
		CALLS[i]=$(grep -c '(' "$out" || true)
	done
}

# of_inserts COUNTER JOURNAL: the calls of N inserts. Opening and closing a database can take calls of its own, so they are the
# difference.
of_inserts() {
	local i with
	"$1" "$2" $((N + 1))
	with=("${CALLS[@]}")
	"$1" "$2" 1
	for i in "${!MODES[@]}"; do
		GOT[i]=$((with[i] - CALLS[i]))
	done
}

check() { # JOURNAL
	local i n want=() CALLS=() GOT=() LOST=0
	rig_up
	ready "$1"
	read -ra want <<<"$(known "$1")"
	if [[ $(sqlite3 --version) != "$VERSION "* ]]; then
		of_inserts straced_calls "$1"
		for i in "${!MODES[@]}"; do
			want[i]=$((GOT[i] / N))
		done
	fi
	of_inserts traced_calls "$1"
	for i in "${!MODES[@]}"; do
		n=$((N * want[i]))
		echo "$1 ${MODES[i]}: ${GOT[i]} by $N inserts, want $n; lost in all: $LOST"
		# the last one to close a write-ahead log copies it, which is up to 5 calls
		((GOT[i] >= n - LOST && GOT[i] <= n + 5 + LOST))
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
