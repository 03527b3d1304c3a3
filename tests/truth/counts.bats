#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Times beside fio's own; counts: ../live/counts.bats.

load ../helpers
load counts

# The last of the reads, a tenth or so, are to take ten times as long.
slow_down_after() {
	until (($(rig_stat read_count) >= $1)); do
		sleep 0.01
	done
	rig_set read_us=5000
}

# percentile_agrees P: ours lies between fio's and fio's less the software around
# (what fio sees more than we do, in the mean), give or take the error of both histograms
percentile_agrees() {
	local ours theirs
	ours=$(of_disk "$J" "$RIG_DISK" ".ops.read.total.p$1_ns")
	theirs=$(json ".jobs[0].read.clat_ns.percentile[\"$1.000000\"]" "$F")
	echo "p$1: ours $ours, fio $theirs, software $software"
	holds "$ours <= $theirs * (1 + 1 / 64 + 1 / 64) && $ours >= $theirs * (1 - 1 / 64 - 1 / 64) - 2 * $software"
}

@test "counts: p50 and p99 are fio's, less the software around" {
	local try software reads=800 quick=700
	# there the one CPU is fio's first, and who looks for the last ones gets what is left of it
	! emulated || reads=4000 quick=2500
	need chrt
	rig_raw --read-us 500
	# a machine busy with others lets fio wait where we don't look
	HURRY=(chrt -f 10)
	for try in 1 2 3; do
		rig_set read_us=500
		rig_reset
		start slow_down_after $quick
		equal_counts "$RIG_DISK" --filename="$RIG_DEV" --rw=randread --number_ios=$reads
		wait "$STARTED"
		software=$(awk "BEGIN { print $(json '.jobs[0].read.clat_ns.mean' "$F") - \
			$(mean "$J" '.devices[0].ops.read.total') }")
		holds "$software > 0"
		holds "$(of_disk "$J" "$RIG_DISK" .ops.read.total.p99_ns) > 5e6"
		holds "$(of_disk "$J" "$RIG_DISK" .ops.read.total.p50_ns) >= 5e5"
		if percentile_agrees 50 && percentile_agrees 99 && holds "$software < 200000"; then
			return
		fi
	done
	return 1
}
