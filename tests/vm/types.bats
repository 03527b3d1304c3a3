#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Has each kernel that scripts/vm fetched every type, field and prototype that the probes ask for, without booting it? What one
# has and another lacks must be in types.known.

bats_require_minimum_version 1.5.0
load ../helpers

BUILD=${BUILD:-$TOP/build}
KERNELS=${XDG_CACHE_HOME:-$HOME/.cache}/barriertrace/vm/kernels

# The last fetched one of each series, and what it has of what is asked for
setup_file() {
	local dir series
	need bpftool cpio xz zstd lz4
	[[ $(uname -m) == x86_64 ]] || skip "missing: x86_64, which the programs are built for here"
	for dir in "$KERNELS"/*amd64*/; do
		[[ -e $dir/sums ]] || continue
		series=$(basename "$dir" | grep -oE '^[0-9]+\.[0-9]+')
		"$TOP/tests/vm/types" "$BUILD/bpf/barriertrace.o" "$dir" | LC_ALL=C sort -u >"$BATS_FILE_TMPDIR/$series.has"
		[[ -s $BATS_FILE_TMPDIR/$series.has ]]
	done
}

setup() {
	HAS=("$BATS_FILE_TMPDIR"/*.has)
	((${#HAS[@]} > 1)) || skip "missing: two kernels that scripts/vm has fetched"
}

# surprises KNOWN: what a kernel lacks and KNOWN does not say, or has and KNOWN says that it lacks
surprises() {
	local has series
	for has in "${HAS[@]}"; do
		series=$(basename "$has" .has)
		LC_ALL=C comm -13 "$has" <(LC_ALL=C sort -u "${HAS[@]}") >"$BATS_TEST_TMPDIR/lacks"
		grep -v '^#' "$1" | awk -F '\t' -v s="$series" '(" " $2 " ") ~ (" " s " ") { print $1 }' | LC_ALL=C sort >"$BATS_TEST_TMPDIR/known"
		LC_ALL=C comm -23 "$BATS_TEST_TMPDIR/lacks" "$BATS_TEST_TMPDIR/known" | sed "s/^/$series lacks /"
		LC_ALL=C comm -12 "$has" "$BATS_TEST_TMPDIR/known" | sed "s/^/$series does not lack /"
	done
}

@test "types: each kernel that is here has what the probes ask for, but for what is known" {
	run surprises "$TOP/tests/vm/types.known"
	[[ ! $output ]] || { echo "$output"; false; }
	comment "$(basename -s .has "${HAS[@]}" | xargs), $(sort -u "${HAS[@]}" | wc -l) types, fields and prototypes"
}

@test "types: what a kernel lacks is named, and so is what it does not lack any more" {
	grep -v '^bio.bi_disk' "$TOP/tests/vm/types.known" >"$BATS_TEST_TMPDIR/less"
	echo $'request.q\t6.1 7.2' >>"$BATS_TEST_TMPDIR/less"
	run surprises "$BATS_TEST_TMPDIR/less"
	[[ $output == *'lacks bio.bi_disk'* && $output == *'does not lack request.q'* && $output != *sched_switch* ]]
}
