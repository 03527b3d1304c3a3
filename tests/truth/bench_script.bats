#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/bench: a short run. How good the figures are is not asked here.

load ../helpers

@test "bench: a short run writes its table, and names each peer" {
	local WORK=$BATS_TEST_TMPDIR J
	need_tracing
	need jq
	need fio sqlite3 losetup mkfs.ext4 unshare bpftool
	[[ -c /dev/loop-control ]] || skip 'missing: /dev/loop-control'
	[[ -x ${BT%/*}/tests/gauge ]] || skip 'missing: gauge'
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
