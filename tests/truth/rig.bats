#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The times that the disk of known latencies keeps; what it counts and serves: ../live/rig.bats.

load ../helpers

setup() {
	need_loop_fuse
}

teardown() {
	rig_down
}

# mean_flush_is US: over 20 flushes, not below, at most 5 % + 0.2 ms above
mean_flush_is() {
	local i mean
	rig_reset
	for ((i = 0; i < 20; i++)); do
		sync "$RIG_DEV"
	done
	[[ $(rig_stat flush_count) == 20 ]]
	mean=$(($(rig_stat flush_sum_ns) / 20000))
	echo "flush: $mean us, set: $1 us"
	((mean >= $1 && mean <= $1 * 105 / 100 + 200))
}

@test "rig: a flush takes the time set, changed while it runs" {
	rig_up --fs none --flush-us 1000
	mean_flush_is 1000
	rig_set flush_us=7000
	mean_flush_is 7000
}

@test "rig: requests are served in parallel, as many as there are channels" {
	local busy=() channels
	need fio jq
	rig_up --fs none --write-us 50000 # so long that what the CPUs add to eight at once does not matter
	for channels in 0 1; do
		"$RIG_TOOL" set "$RIG" channels=$channels reset
		fio --name=w --filename="$RIG_DEV" --direct=1 --rw=randwrite --bs=4k --iodepth=8 \
			--ioengine=libaio --number_ios=32 --output-format=json \
			--output="$BATS_TEST_TMPDIR/fio" >/dev/null
		busy+=("$(json '.jobs[0].write.runtime' "$BATS_TEST_TMPDIR/fio")")
	done
	echo "32 writes: ${busy[0]} ms with 8 at once, ${busy[1]} ms with 1"
	((busy[1] >= 32 * 50))
	emulated 'eight writes at once that take hardly more time than one' || ((busy[1] * 10 > busy[0] * 65))
	# but for the first eight, each waits for 7 others: 350 ms
	(($(rig_stat write_wait_ns) / 32 > 250000000))
	(($(rig_stat write_sum_ns) / 32 < 60000000))
}
