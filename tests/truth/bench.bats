#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The barrier card's times on a disk with known ones; what it counts and leaves: ../live/bench.bats.

load ../helpers
load bench

@test "bench barrier: the card has the disk's flush, and its price beside FUA, writers and rest" {
	local flush
	rig_up --flush-us 3000 --write-us 300
	bench barrier "$RIG_MNT" --size 16M --time 5
	for flush in "$(row dirty bytes 4096 .flush.p50_ns)" "$(row dirty bytes 0 .flush.p50_ns)" \
		"$(row dirty bytes 16777216 .flush.p50_ns)" "$(row flush bytes 4096 .flush.p50_ns)" \
		"$(row depth writers 1 .flush.p50_ns)" "$(row idle rest_ns 500000000 .flush.p50_ns)"; do
		holds "$flush >= 2950000 && $flush <= 5000000"
	done
	# no FUA here: a write with O_DSYNC is a write and a flush, an fdatasync after a write the flush alone
	holds "$(row fua bytes 4096 .call.p50_ns) >= $(row flush bytes 4096 .call.p50_ns)"
	holds "$(row fua bytes 4096 .call.p50_ns) >= 3250000"
	jq -e '.verdict.class == "believable" and .verdict.medium == "virtual" and .disk.fua == false' "$J"
	jq -e '[.tests[] | select(.call) | .call.count > 0] | all' "$J"
	jq -e '.discards == 0' "$J"
	nothing_left
	cp "$J" "$BATS_TEST_TMPDIR/slow"

	rig_set flush_us=0
	bench barrier "$RIG_MNT" --size 16M --time 5
	flush=$(row dirty bytes 4096 .flush.p50_ns)
	holds "$flush < 1500000"
	if ((flush < 100000)); then
		jq -e '.verdict.class == "doubtful"' "$J"
	else
		jq -e '.verdict.class == "believable"' "$J"
	fi
	run -0 "$BT" diff "$BATS_TEST_TMPDIR/slow" "$J"
	[[ ${lines[0]} =~ 'times faster in B' ]]
	run -0 "$BT" diff --json - "$J" "$BATS_TEST_TMPDIR/slow"
	jq -e '.tests[] | select(.test == "dirty" and .bytes == 4096) | .flush.told and .flush.difference_ns > 1000000' <<<"$output"
}

@test "bench barrier: a FLUSH's time where a sync needs two of them" {
	need mkfs.btrfs
	grep -qw btrfs /proc/filesystems || skip 'missing: btrfs'
	rig_up --fs btrfs --size 512M --flush-us 3000
	bench barrier "$RIG_MNT" --size 4M --time 2
	holds "$(row dirty bytes 4096 .flush.p50_ns) >= 2950000 && $(row dirty bytes 4096 .flush.p50_ns) <= 5000000"
	holds "$(row dirty bytes 4096 .call.p50_ns) >= 6000000"
	nothing_left
}
