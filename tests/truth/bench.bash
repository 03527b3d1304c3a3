# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For bench.bats here and in ../live: workloads, and what they leave. load ../helpers first.

setup() {
	need_rig
	need fio
	J=$BATS_TEST_TMPDIR/json
}

teardown() {
	clean_up
}

# bench ARGUMENT...: JSON in $J; lost events are no failure here
bench() {
	local status=0
	"$BT" bench --json "$J" -o "$BATS_TEST_TMPDIR/text" "$@" 2>"$BATS_TEST_TMPDIR/stderr" || status=$?
	((status == 0 || status == 5)) || { cat "$BATS_TEST_TMPDIR/stderr"; return "$status"; }
}

# start_bench ARGUMENT...: in the background, until its folder is there
start_bench() {
	ERR=$BATS_TEST_TMPDIR/stderr
	start "$BT" bench "$@" 2>"$ERR" >"$BATS_TEST_TMPDIR/stdout"
	eventually 10 compgen -G "$RIG_MNT/barriertrace-bench.*"
}

nothing_left() {
	! compgen -G "$RIG_MNT/barriertrace-bench.*"
}

# ends STATUS COMMAND...: which waits for a child of ours, hence no `run`
ends() {
	local want=$1 status=0
	shift
	"$@" || status=$?
	((status == want)) || { echo "status $status, not $want"; cat "$ERR"; return 1; }
}

nobody_left() {
	! pgrep -f -- '^/proc/self/exe --workload' && ! pgrep -f -- '^fio --name=(etcd|ars)'
}

# one_line WORDS: of $ERR, but for lost events
one_line() {
	local lines
	mapfile -t lines < <(grep -v 'events\? w.* lost: ' "$ERR")
	# shellcheck disable=SC2053  # a pattern
	((${#lines[@]} == 1)) && [[ ${lines[0]} == "barriertrace: "*$1* ]] || { printf '%s\n' "${lines[@]}"; return 1; }
}

# Every sync call that the workload counts is in the report, with a ledger or without, or is said to be lost.
same_count() {
	jq -e '(.report.sync.count + (.report.sync.no_ledger // 0)) as $n | .bench.syncs > 0 and $n <= .bench.syncs and
		.bench.syncs <= $n + .report.run.lost_events' "$J" ||
		{ jq -c '[.bench.syncs, .report.sync.count, .report.sync.no_ledger, .report.run.lost]' "$J"; return 1; }
}

# row TEST KEY VALUE FILTER: of a card
row() {
	jq -er --arg t "$1" --arg k "$2" --argjson v "$3" ".tests[] | select(.test == \$t and .[\$k] == \$v) | $4" "$J"
}
