#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Reads and writes beside fio's own figures and the kernel's counters.

bats_require_minimum_version 1.5.0
load ../helpers
load ../truth/counts

@test "counts: fio on a raw disk is what fio says and the kernel counts" {
	local rw kinds=(randread randwrite randrw)
	# a run takes ten times as long there, and the last one has both
	! emulated || kinds=(randrw)
	rig_raw
	for rw in "${kinds[@]}"; do
		equal_counts "$RIG_DISK" --filename="$RIG_DEV" --rw="$rw" --bsrange=4k-64k --number_ios=250
		[[ $(json '.devices[0].ops | has("flush")' "$J" || true) == false ]]
	done
	# of 250 as good as none was only reads or writes
	holds "$(of_disk "$J" "$RIG_DISK" .ops.read.count) > 50 && $(of_disk "$J" "$RIG_DISK" .ops.write.count) > 50"
}

@test "counts: fio on a file of ext4 is what fio says and the kernel counts" {
	need_rig
	need fio
	# no commit of the journal while fio runs
	rig_up --fs ext4 --mount-opts commit=600
	dd if=/dev/zero of="$RIG_MNT/f" bs=1M count=32 oflag=direct status=none
	sync -f "$RIG_MNT"
	equal_counts "$RIG_DISK" --filename="$RIG_MNT/f" --size=32m --rw=randrw --number_ios=500
}

@test "counts: this machine's own disk" {
	local dir name
	need fio findmnt
	dir=$(mktemp -d /var/tmp/barriertrace-test.XXXXXX)
	on_exit "rm -rf $dir"
	name=$(findmnt -nvo SOURCE -T "$dir")
	[[ -b $name ]] || skip "missing: a disk beneath /var/tmp"
	dd if=/dev/zero of="$dir/f" bs=1M count=8 oflag=direct conv=fsync status=none ||
		skip "missing: direct I/O on /var/tmp"
	# named by a file: how that led to the disk is told
	"$BT" "$dir/f" --json "$J" -o "$BATS_TEST_TMPDIR/text" -- "$BASH" -c "$(declare -f fio_json)"'; fio_json "$@"' \
		- "$F" --filename="$dir/f" --size=8m --rw=randrw --number_ios=300 --fsync=50
	echo "fio: $(fio_io "$F"), ours: $(our_io "$J" "${name##*/}")"
	[[ $(json '.devices[0].via' "$J") == *"$dir/f"* ]]
	holds "$(json '[.devices[].ops.read.count // 0] | add' "$J") >= $(json '.jobs[0].read.total_ios' "$F")"
	holds "$(json '[.devices[].ops.write.count // 0] | add' "$J") >= $(json '.jobs[0].write.total_ios' "$F")"
	holds "$(json '[.devices[].by_command] | add' "$J") >= 300"
	holds "$(json '.devices[0].kernel.reads' "$J") >= $(json '.jobs[0].read.total_ios' "$F")"
}

# Before 5.12 the kernel takes the partition off a bio where it begins at the disk (blk_partition_remap), and an empty flush has no
# sector that would tell it: it is counted, there as here, for the disk.
@test "counts: a partition is its own, and both make the disk" {
	local p1 p2 b1 b2 bd i empty=1
	[[ $(uname -r) != 5.10.* ]] || empty=0
	rig_raw --parts 2
	p1=${RIG_DISK}p1 p2=${RIG_DISK}p2
	one_partition() {
		b1=$(kernel_io "$p1")
		"$BT" "$p1" --json "$J" -o "$BATS_TEST_TMPDIR/text" -- "$BASH" -c \
			'reads "$1" 30; writes "$1" 40; reads "$2" 7; writes "$2" 9; sync "$1"; sync "$2"; sync "$2"' - \
			"$RIG_DEV1" "$RIG_DEV2"
	}
	until_whole one_partition
	[[ $(our_io "$J" "$p1") == "30 240 40 320" ]]
	# the kernel also counts an empty flush as a write
	[[ $(since "$b1" "$(kernel_io "$p1")") == "30 240 $((40 + empty)) 320" ]]
	[[ $(json '[.devices[].name] | join(" ")' "$J") == "$p1" ]]
	[[ $(of_disk "$J" "$p1" .ops.flush.count) == "$empty" ]]

	all_of_it() {
		b1=$(kernel_io "$p1") b2=$(kernel_io "$p2") bd=$(kernel_io "$RIG_DISK")
		"$BT" "$p1" "$RIG_DISK" "$p2" --json "$J" -o "$BATS_TEST_TMPDIR/text" -- "$BASH" -c \
			'reads "$1" 30; writes "$1" 40; reads "$2" 7; writes "$2" 9; reads "$3" 5' - \
			"$RIG_DEV1" "$RIG_DEV2" "$RIG_DEV"
	}
	until_whole all_of_it
	[[ $(our_io "$J" "$p1") == "30 240 40 320" && $(our_io "$J" "$p1") == "$(since "$b1" "$(kernel_io "$p1")")" ]]
	[[ $(our_io "$J" "$p2") == "7 56 9 72" && $(our_io "$J" "$p2") == "$(since "$b2" "$(kernel_io "$p2")")" ]]
	[[ $(our_io "$J" "$RIG_DISK") == "42 336 49 392" ]]
	[[ $(our_io "$J" "$RIG_DISK") == "$(since "$bd" "$(kernel_io "$RIG_DISK")")" ]]
	for i in "$p1" "$p2" "$RIG_DISK"; do
		[[ $(of_disk "$J" "$i" .ops.read.total.count) == "$(of_disk "$J" "$i" .ops.read.count)" ]]
	done
}

@test "counts: a disk that takes bios (zram) shows counts and total times" {
	need fio
	zram_raw
	# a read of what was never written needs no data, but is a read
	equal_counts "$ZRAM" --filename="/dev/$ZRAM" --rw=randrw --number_ios=400
	[[ $(json '.devices[0].bio_based' "$J") == true ]]
	[[ $(json '.devices[0].ops.read.total.count' "$J") == "$(json '.jobs[0].read.total_ios' "$F")" ]]
	[[ $(json '.devices[0].ops.write.total.count' "$J") == "$(json '.jobs[0].write.total_ios' "$F")" ]]
	holds "$(mean "$J" '.devices[0].ops.write.total') > 100"
	holds "$(mean "$J" '.devices[0].ops.write.total') <= $(json '.jobs[0].write.lat_ns.mean' "$F")"
	[[ $(jq '.devices[0].ops.read | has("queue") or has("device")' "$J") == false ]]
	exec {LOCK}<&-
}

@test "counts: -i streams a JSON object a line, which add up" {
	local S=$BATS_TEST_TMPDIR/stream tool
	rig_raw
	"$BT" "$RIG_DISK" -i 0.5 -d 2 --json - >"$S" &
	tool=$!
	PIDS+=($tool)
	eventually 10 is_tracing $tool
	reads "$RIG_DEV" 50
	eventually 5 test -s "$S"
	# the first interval is here while the run goes on
	kill -0 $tool
	reads "$RIG_DEV" 70
	status_of $tool
	jq -c '[.final, .run.interval, .devices[0].ops.read.count]' "$S"
	[[ $(wc -l <"$S") == 5 && $(jq -s 'length' "$S") == 5 ]]
	[[ $(sed -n '$p' "$S" | jq '.devices[0].ops.read.count') == 120 ]]
	[[ $(sed '$d' "$S" | jq -s 'map(.devices[0].ops.read.count // 0) | add') == 120 ]]
	[[ $(sed '$d' "$S" | jq -s 'map(.devices[0].ops.read.total.sum_ns // 0) | add') == \
		$(sed -n '$p' "$S" | jq '.devices[0].ops.read.total.sum_ns') ]]
	[[ $(sed '$d' "$S" | jq -s 'map(select(.run.interval)) | length') == 4 ]]
	[[ $(sed '$d' "$S" | jq -s 'map(has("final")) | any') == false ]]
	[[ $(sed -n '$p' "$S" | jq '.final') == true ]]
}

@test "counts: intervals add up also when the run ends within one" {
	local S=$BATS_TEST_TMPDIR/stream
	rig_raw
	start_tracing "$RIG_DISK" -i 0.3 --json "$S" -o "$BATS_TEST_TMPDIR/text"
	sleep 0.35
	reads "$RIG_DEV" 50
	stop_tracing "$STARTED"
	jq -c '[.final, .run.interval, .devices[0].ops.read.count]' "$S"
	[[ $(sed -n '$p' "$S" | jq '.devices[0].ops.read.count') == 50 ]]
	[[ $(sed '$d' "$S" | jq -s 'map(.devices[0].ops.read.count // 0) | add') == 50 ]]
}

@test "counts: an interval names the files with the most time, and adds up (--top)" {
	local S=$BATS_TEST_TMPDIR/stream i
	rig_up --flush-us 200 --write-us 50
	start_tracing "$RIG_DISK" -i 10 --top 2 --json "$S" -o "$BATS_TEST_TMPDIR/text"
	for i in 1 2 3 4 5; do
		dd if=/dev/zero of="$RIG_MNT/file$i" bs=4k count=1 conv=fsync status=none
	done
	stop_tracing "$STARTED"
	jq -c '[.run.interval, .sync.count, .sync.files_summed, .sync.by_file]' "$S"
	# of each: what is named, whether it adds up
	[[ $(jq -c 'select(.run.interval).sync | [(.by_file | length), ([.by_file[].path] | index("(other files)") != null),
		.files_summed == .count - 2, ([.by_file[].total_ns] | add) == .total_ns, ([.leaves[].ns] | add) == .total_ns]' "$S") \
		== '[3,true,true,true,true]' ]]
	[[ $(jq -c 'select(.final).sync | [(.by_file | length) == .count, has("files_summed")]' "$S") == '[true,false]' ]]
}

# A read that got the time of a write beside it would be shorter than any that the disk gives.
@test "counts: requests in flight together have each its own time" {
	rig_raw --read-us 20000 --write-us 2000
	count_once "$RIG_DISK" --filename="$RIG_DEV" --ioengine=psync --rw=randrw --numjobs=6 --number_ios=60 --group_reporting
	jq -c '.devices[0].ops | .read.device, .write.device' "$J"
	jq -e '.devices[0].ops | .read.device.count > 100 and .write.device.count > 100 and
		.read.device.min_ns >= 20e6 and .write.device.min_ns >= 2e6' "$J" >/dev/null
}

# One of them around the work. What one of them missed the other missed, too: what they saw took the same time.
@test "counts: two runs at once agree" {
	local other=$BATS_TEST_TMPDIR/other.json tool op
	rig_raw --read-us 500 --write-us 500 --flush-us 1000
	start_tracing "$RIG_DISK" --json "$other" -o "$BATS_TEST_TMPDIR/other.txt"
	tool=$STARTED
	count_once "$RIG_DISK" --filename="$RIG_DEV" --rw=randrw --number_ios=300 --fsync=20
	stop_tracing "$tool"
	counts_agree "$RIG_DISK"
	same_io "$(our_io "$other" "$RIG_DISK")" "$(fio_io "$F")" "$other"
	holds "$(of_disk "$J" "$RIG_DISK" .ops.flush.count) > 5"
	for op in read write flush; do
		[[ $(of_disk "$J" "$RIG_DISK" .ops.$op.total.count) == "$(of_disk "$other" "$RIG_DISK" .ops.$op.total.count)" ]] || continue
		holds "$(of_disk "$J" "$RIG_DISK" .ops.$op.total.sum_ns) / \
			$(of_disk "$other" "$RIG_DISK" .ops.$op.total.sum_ns) > 0.98"
		holds "$(of_disk "$J" "$RIG_DISK" .ops.$op.total.sum_ns) / \
			$(of_disk "$other" "$RIG_DISK" .ops.$op.total.sum_ns) < 1.02"
	done
}
