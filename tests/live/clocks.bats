#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Without ledgers, under a load that is worth it, issue is not traced: times are then the requests' own clocks. Beside a
# tool that traces it, and where those clocks don't do.

load ../helpers
try_tests_again

setup() {
	need_rig
	need fio
	memory_disk
	J=$BATS_TEST_TMPDIR/report.json V=$BATS_TEST_TMPDIR/verbose
}

teardown() {
	clean_up
}

memory_disk() {
	local image=/dev/shm/barriertrace.$$.img
	on_exit "rm -f $image"
	dd if=/dev/zero of="$image" bs=1M count=32 status=none
	DEV=$(losetup -f --show "$image")
	on_exit "losetup -d $DEV"
	DISK=${DEV#/dev/}
	scheduler none
}

# What is set would stay with the loop device.
scheduler() { # NAME
	local file=/sys/block/$DISK/queue/scheduler
	[[ ${SCHEDULER-} ]] || {
		SCHEDULER=$(sed 's/.*\[\(.*\)\].*/\1/' "$file")
		on_exit "echo $SCHEDULER >$file"
	}
	echo "$1" >"$file"
}

# 4k reads, eight at once
reads() { # SECONDS FIO-ARGUMENT...
	fio --name=r --filename="$DEV" --size=32m --direct=1 --bs=4k --rw=randread --norandommap --ioengine=libaio --iodepth=8 \
		--time_based --runtime="$1" --output=/dev/null "${@:2}"
}

# traced COMMAND...: without ledgers, meanwhile
traced() {
	local pid
	start "$BT" -v --plain --no-ledger "$DISK" --json "$J" -o "$BATS_TEST_TMPDIR/text" 2>"$V"
	pid=$STARTED
	eventually 10 is_tracing "$pid"
	"$@"
	sleep 0.3
	stop_tracing "$pid"
	cat "$V"
	jq -c '.run.notes, .run.lost, (.devices[0] | .unpaired, (.ops | map_values([.count, (.queue, .device | .sum_ns, .p50_ns)])))' "$J"
}

trusted() { # how often
	grep -c "times are the requests' own clocks" "$V"
}

untrusted() {
	grep -c 'times are taken at insert and issue' "$V"
}

noted() { # [WHAT]
	jq -e --arg what "${1:-completions}" \
		'[.run.notes[]? | select(test("^for .* of the run only \($what) were traced"))] | length == 1' "$J"
}

# figure FILE OP HISTOGRAM KEY
figure() {
	jq -er ".devices[0].ops.$2.$3.$4" "$1"
}

near() { # A B: within what two histograms of 1/32 and clocks off by another 1/32 can differ
	holds "$1 <= $2 * (1 + 3 / 32) && $1 >= $2 * (1 - 3 / 32)"
}

# Reads, traced, and by a tool beside that traces issue.
traced_twice() {
	local other
	start_tracing "$DISK" --plain --json "$BATS_TEST_TMPDIR/beside.json" -o "$BATS_TEST_TMPDIR/beside"
	other=$STARTED
	traced reads 2
	stop_tracing "$other"
}

# What the tool beside says of the reads.
agrees_with_beside() {
	local beside=$BATS_TEST_TMPDIR/beside.json
	near "$(mean "$J" .devices[0].ops.read.device)" "$(mean "$beside" .devices[0].ops.read.device)" &&
		near "$(figure "$J" read device p50_ns)" "$(figure "$beside" read device p50_ns)" &&
		near "$(figure "$J" read total p99_ns)" "$(figure "$beside" read total p99_ns)"
}

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
