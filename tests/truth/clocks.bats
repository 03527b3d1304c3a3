#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Without ledgers, under a load that is worth it, issue is not traced: times are then the requests' own clocks. Beside a
# tool that traces it, and where those clocks don't do.

load ../helpers
load clocks

@test "clocks: under a fast load only completions are traced, and say what a tool that traces issue says" {
	local sched
	for sched in none mq-deadline; do
		grep -qw $sched "/sys/block/$DISK/queue/scheduler" || continue
		scheduler $sched
		traced_twice
		# a scheduler makes so many of so short ones that the clocks may be too far off
		[[ $sched != none ]] || { (($(trusted) >= 1)) && noted; }
		agrees_with_beside
		[[ $(figure "$J" read device count) == "$(jq .devices[0].ops.read.count "$J")" ]]
	done
}

@test "clocks: trusted ones are compared again after two seconds" {
	traced reads 4
	(($(trusted) == 2 && $(untrusted) == 1))
	[[ $(of_disk "$J" "$DISK" .unpaired) == 0 ]]
}

@test "clocks: all requests are counted, and have times, when the load ends and another begins" {
	local was now
	read -ra was <"/sys/block/$DISK/stat"
	traced eval 'reads 1 && sleep 1.5 && reads 1'
	read -ra now <"/sys/block/$DISK/stat"
	(($(trusted) == 2 && $(untrusted) == 1))
	[[ $(of_disk "$J" "$DISK" .unpaired) == 0 ]]
	# what the kernel kept from us is said
	(($(of_disk "$J" "$DISK" .ops.read.count) + $(jq .run.lost_events "$J") == now[0] - was[0]))
}

# Then nothing says when a request began, so insert is traced; when it was issued it says itself where the queue collects statistics.
@test "clocks: with iostats off, inserts and completions are traced, and say what a tool that traces issue says" {
	local sched
	echo 0 >"/sys/block/$DISK/queue/iostats"
	on_exit "echo 1 >/sys/block/$DISK/queue/iostats"
	for sched in none mq-deadline; do
		grep -qw $sched "/sys/block/$DISK/queue/scheduler" || continue
		scheduler $sched
		traced_twice
		# a kernel without writeback throttling may collect none
		[[ ! -e /sys/block/$DISK/queue/wbt_lat_usec ]] || { (($(trusted) >= 1)) && noted 'inserts and completions'; }
		agrees_with_beside
		# what waits in a scheduler is not in the device
		[[ $sched == none ]] || holds "$(figure "$J" read queue p50_ns) >= 100"
		[[ $(of_disk "$J" "$DISK" .unpaired) == 0 ]]
		holds "$(of_disk "$J" "$DISK" .ops.read.queue.count) == $(of_disk "$J" "$DISK" .ops.read.count)"
	done
}

@test "clocks: with iostats off, a FLUSH amid reads brings issue back" {
	echo 0 >"/sys/block/$DISK/queue/iostats"
	on_exit "echo 1 >/sys/block/$DISK/queue/iostats"
	[[ -e /sys/block/$DISK/queue/wbt_lat_usec ]] || skip "missing: wbt_lat_usec"
	traced eval 'reads 2 & sleep 1.5; dd if=/dev/zero of="$DEV" bs=4k count=1 oflag=direct conv=fsync status=none; wait $!'
	(($(trusted) >= 1 && $(untrusted) >= 1))
	[[ $(of_disk "$J" "$DISK" .ops.flush.count) -ge 1 ]]
	holds "$(of_disk "$J" "$DISK" .ops.read.device.count) == $(of_disk "$J" "$DISK" .ops.read.count)"
}

@test "clocks: requests that are sent in batches have their issue traced" {
	traced reads 1 --iodepth=32 --iodepth_batch=32 --iodepth_batch_complete_min=16
	! trusted
	[[ $(of_disk "$J" "$DISK" .unpaired) == 0 ]]
}

@test "clocks: a batch amid others has no times, and brings issue back" {
	# merged ones have none either
	echo 2 >"/sys/block/$DISK/queue/nomerges"
	on_exit "echo 0 >/sys/block/$DISK/queue/nomerges"
	traced eval 'reads 3 & sleep 1.5; reads 1 --iodepth=32 --iodepth_batch=32 --iodepth_batch_complete_min=16; wait $!'
	(($(trusted) >= 1 && $(untrusted) >= 1))
	(($(of_disk "$J" "$DISK" .unpaired) > 0))
	(($(of_disk "$J" "$DISK" .ops.read.device.count) + $(of_disk "$J" "$DISK" .unpaired) ==
		$(of_disk "$J" "$DISK" .ops.read.count)))
}

@test "clocks: of a FLUSH amid reads it is said that what else was in the device is not known" {
	traced eval 'reads 2 & sleep 1.5; dd if=/dev/zero of="$DEV" bs=4k count=1 oflag=direct conv=fsync status=none; wait $!'
	(($(trusted) >= 1 && $(untrusted) >= 1))
	[[ $(of_disk "$J" "$DISK" .ops.flush.count) -ge 1 ]]
	[[ $(of_disk "$J" "$DISK" .flush.in_flight_unknown) -ge 1 ]]
	holds "$(of_disk "$J" "$DISK" .ops.flush.device.count) == $(of_disk "$J" "$DISK" .ops.flush.count)"
}
