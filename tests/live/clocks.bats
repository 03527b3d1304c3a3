#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Requests are counted whichever probes are attached at the moment; ../truth/clocks.bats has their times.

load ../helpers
load ../truth/clocks

@test "clocks: all requests are counted when the load ends and another begins" {
	local was now
	read -ra was <"/sys/block/$DISK/stat"
	traced eval 'reads 1 && sleep 1.5 && reads 1'
	read -ra now <"/sys/block/$DISK/stat"
	# what the kernel kept from us is said
	(($(of_disk "$J" "$DISK" .ops.read.count) + $(jq .run.lost_events "$J") == now[0] - was[0]))
}
