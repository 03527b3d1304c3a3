#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/bench: a short run. How good the figures are is not asked here.

load ../helpers

need_bench() {
	need_tracing
	need fio losetup mkfs.ext4 unshare
	[[ -c /dev/loop-control ]] || skip 'missing: /dev/loop-control'
	TESTS=${BT%/*}/tests
	[[ -x $TESTS/gauge && -e $TESTS/turns.so ]] || skip 'missing: gauge'
}

@test "bench: a short run writes its table, and names each peer" {
	local WORK=$BATS_TEST_TMPDIR J
	need_bench
	need sqlite3
	local before=(/dev/shm/barriertrace-bench.*)
	BENCH_ROUNDS=1 BENCH_OUT=$WORK/out "$TOP/scripts/bench" --quick start
	J=$WORK/out/quick.json
	jq -e '.rows | map(.id) == ["start.attached"]' "$J"
	jq -e '.rows[0] | .tools[0].median > 0 and (.result | IN("met", "missed"))' "$J"
	jq -e '[.rows[0].tools[] | select(.median or .missing).tool] - ["biolatency -Q -F -D", "bpftrace",
		"biostacks", "biosnoop -Q", "runqlat", "offcputime"] | length == 1' "$J"
	local after=(/dev/shm/barriertrace-bench.*)
	[[ "${before[*]}" == "${after[*]}" ]]
}

# kept_check TOOL..: three starts of one request after the other; all their blocks in $WORK/all
kept_check() {
	need_bench
	TOP=$TOP BT=$BT BENCH_ROUNDS=3 BUILD_DIR=${TESTS%/*} GAUGE=$TESTS/gauge EMPTY=$TESTS/empty.o TURNS=$TESTS/turns.so \
		WORK=$BATS_TEST_TMPDIR unshare -m bash -u -c '
		for part in rows tools turns measure; do source "$TOP/scripts/bench-$part.bash"; done
		say() { echo "$*" >&2; }
		trap "slots_stop; load_stop; ram_down" EXIT
		eval "start_$(declare -f ratios)"
		ratios() { start_ratios "$@" && cat "$WORK/blocks" >>"$WORK/all"; }
		QUICK= ASKED=() START_SECONDS=10
		declare -A ROW_UNIT=()
		ram_up none && fio_words onebyone 60 && kept check "$DISK" "$@" -- "${FIO[@]}"' - "$@"
}

# interval_of EXPRESSION: "LOW HIGH", the 99.9 % confidence interval of its median over all blocks, from ranks. Other work on the machine
# makes it wider and leaves the test as it is.
interval_of() {
	awk '$1 > 0 && $2 > 0 && $3 > 0 { print '"$1"' }' "$BATS_TEST_TMPDIR/all" | sort -g | awk '
		{ v[NR] = $1 }
		END { n = NR; far = 3.29 * sqrt(n) / 2; if (n > 30) print v[int((n + 1) / 2 - far)], v[int((n + 1) / 2 + far) + 1] }'
}

@test "bench: beside nothing a load keeps its throughput, and beside a program of 2 µs it loses 2 µs per request" {
	local low high
	kept_check nothing 'burn 2 µs'
	[[ $(wc -l <"$BATS_TEST_TMPDIR/samples") == 6 && ! -e $BATS_TEST_TMPDIR/missing ]]
	read -r low high < <(interval_of '100 * $2 / $1')
	echo "nothing: $low .. $high %"
	awk "BEGIN { exit !($low <= 100 && $high >= 100) }"
	read -r low high < <(interval_of '1e9 / $3 - 1e9 / $1')
	echo "burn: $low .. $high ns"
	awk "BEGIN { exit !($low > 0 && $low < 3500 && $high > 1500) }"
}

@test "bench: what can't take turns is named, and a bad file of turns is refused" {
	local WORK=$BATS_TEST_TMPDIR
	need_bench
	disk=$(ls /sys/block | head -n 1)
	echo '1000 2 1' >"$WORK/turns"
	LD_PRELOAD=$TESTS/turns.so TURNS_FILE=$WORK/turns TURNS_TOOL=1 TURNS_LOG=$WORK/log sleep 0.5
	[[ $(<"$WORK/log") == 'cannot: no link was seen' ]]
	for bad in '' '1000 2' '1000 0 1' '1000 9 1' 'x 2 1'; do
		echo "$bad" >"$WORK/turns"
		LD_PRELOAD=$TESTS/turns.so TURNS_FILE=$WORK/turns TURNS_TOOL=1 TURNS_LOG=$WORK/log sleep 0.3
		[[ $(<"$WORK/log") == 'cannot: bad TURNS_FILE' ]]
		run "$TESTS/gauge" turns "$disk" "$WORK/turns"
		[[ $status == 1 && $output == "gauge: $WORK/turns: "* ]]
	done
}
