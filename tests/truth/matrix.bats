#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The truth matrix: disks and neighbours whose answer is known, one class each. In all of them the ledgers add up,
# and next to nothing is unexplained.

load ../helpers
load matrix

setup_file() {
	build_syncs
}

setup() {
	need_matrix
}

teardown() {
	clean_up
}

# ---- the disk ----

slow_flush() {
	disk_hop 40
	trace "${INSERTS[@]}" && sound && class_is device-flush flush && flushes_are_the_blocks && flushes_are_the_disks
}

@test "matrix: a slow flush is device-flush" {
	rig_up
	inserts_ready "$RIG_MNT" 100
	inserts
	rig_set flush_us=7000 write_us=200
	one_of_three slow_flush
	comment "$(figures)"
}

@test "matrix: a slow write without company is device-write" {
	rig_up
	inserts_ready "$RIG_MNT" 60
	inserts
	rig_set write_us=5000
	answer device-write device "${INSERTS[@]}"
}

# A scheduler that comes later doesn't give the tags back, nor does one that goes.
tags_back() { # QUEUE
	echo none >"$1/scheduler"
	echo 64 >"$1/nr_requests"
	echo 128 >"$1/nr_requests"
}

# Tags are few already when the scheduler comes: then what waits, waits in it.
few_tags() { # SCHEDULER INSERTS JOBS
	rig_up --nr-requests 4
	on_exit tags_back "/sys/block/$RIG_DISK/queue"
	echo "$1" >"/sys/block/$RIG_DISK/queue/scheduler"
	echo 128 >"/sys/block/$RIG_DISK/queue/nr_requests"
	inserts_ready "$RIG_MNT" "$2"
	inserts
	background_file "$RIG_MNT/background"
	rig_set write_us=5000 channels=1
	background --filename="$RIG_MNT/background" --size=32m --rw=randwrite --bs=4k --direct=1 --ioengine=libaio \
		--iodepth=4 --numjobs="$3" --group_reporting
	eventually 10 in_flight_is "$RIG_DISK" 4
}

@test "matrix: a queue of one under mq-deadline and a background writer are io-scheduler" {
	few_tags mq-deadline 3 8
	answer io-scheduler 'I/O scheduler' "${INSERTS[@]}"
	holds "$(cause ioq) > $(cause tag)"
}

@test "matrix: a queue of one under bfq and a background writer are io-scheduler" {
	few_tags bfq 5 24
	answer io-scheduler 'I/O scheduler' "${INSERTS[@]}"
}

@test "matrix: few requests and many who want one are io-scheduler, by tags" {
	rig_up --nr-requests 4
	inserts_ready "$RIG_MNT" 10
	inserts
	background_file "$RIG_MNT/background"
	rig_set write_us=5000
	background --filename="$RIG_MNT/background" --size=32m --rw=randwrite --bs=4k --direct=1 --ioengine=psync \
		--numjobs=48 --group_reporting
	eventually 10 in_flight_is "$RIG_DISK" 4
	answer io-scheduler 'I/O scheduler' "${INSERTS[@]}"
	holds "$(cause tag) > $(cause ioq)"
	says .sentence slots
}

# dioread_lock: or ext4 ends its writes in the workers that also serve the loop device, and what these did before, for
# the background writer, can't be told from what they do for the insert.
@test "matrix: a quick flush behind 128 writes is device-busy" {
	rig_up --mount-opts dioread_lock
	inserts_ready "$RIG_MNT" 40
	inserts
	background_file "$RIG_MNT/background"
	rig_set write_us=20000 # 100 at once are 5,000 a second, which two CPUs can do
	background --filename="$RIG_MNT/background" --size=32m --rw=randwrite --bs=4k --direct=1 --ioengine=libaio \
		--iodepth=200
	eventually 10 in_flight_is "$RIG_DISK" 100
	answer device-busy device "${INSERTS[@]}"
}

# ---- held back ----

# The worst one: a worker that has waited for the limit before it was known that anybody waits for it is not explained.
@test "matrix: a cgroup's limit is throttled" {
	rig_up --mount-opts dioread_lock # as above
	inserts_ready "$RIG_MNT" 60
	limited_group "$RIG_DISK" 50
	inserts
	in_group "${INSERTS[@]}"
	UNKNOWN=0.03
	answer throttled 'I/O scheduler' "${IN_GROUP[@]}"
}

@test "matrix: writeback throttling is throttled" {
	local queue
	rig_up
	queue=/sys/block/$RIG_DISK/queue
	[[ -e $queue/wbt_lat_usec ]] || skip "missing: wbt_lat_usec"
	background_file "$RIG_MNT/background"
	background_file "$RIG_MNT/read"
	"$SYNCS" fdatasync "$RIG_MNT/file" 1 1048576
	rig_set write_us=2000 read_us=3000
	echo 1 >"$queue/wbt_lat_usec"
	background --filename="$RIG_MNT/read" --size=32m --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=4
	background --filename="$RIG_MNT/background" --size=32m --rw=randwrite --bs=4k --ioengine=psync --numjobs=4 \
		--sync_file_range=write:1
	sleep 1
	answer throttled 'I/O scheduler' "$SYNCS" -o fdatasync "$RIG_MNT/file" 20 65536
}

@test "matrix: CPU hogs of higher priority are cpu-scheduler" {
	rig_up
	inserts_ready "$RIG_MNT" 20
	inserts
	cpu_hogs $((2 * $(nproc)))
	answer cpu-scheduler 'CPU scheduler' nice -n 19 "${INSERTS[@]}"
}

# ---- neighbours ----

# Both are traced: the disk is watched, not a command.
watch_two() {
	"$BT" "$RIG_DISK" -d 3 --json "$J" -o "$TXT" && sound && class_is device-flush flush
}

neighbour() { # DIR
	inserts_ready "$RIG_MNT" 2000
	inserts
	rig_set flush_us=5000 write_us=200
	J=$BATS_TEST_TMPDIR/report.json TXT=$BATS_TEST_TMPDIR/report.txt
	start "$SYNCS" -o fdatasync "$1/neighbour" 1000000
	start "${INSERTS[@]}"
	one_of_three watch_two
	comment "$(figures)"
	jq -e '[.sync.by_process[].comm] | sort == ["sqlite3", "syncs"]' "$J"
	says .evidence sqlite3
	says .evidence syncs
	# one FLUSH at a time: who comes second waits for the first one's
	holds "$(cause flush.wait) > 0.05"
}

@test "matrix: a neighbour on the same file system is device-flush, and named" {
	rig_up
	neighbour "$RIG_MNT"
}

@test "matrix: a neighbour on another partition is device-flush, and named" {
	rig_up --parts 2
	neighbour "$RIG_MNT2"
}

# ---- the file system ----

# A neighbour cuts off files of many pieces on a CPU that a hog has almost for itself. Whenever it loses that CPU
# inside a transaction, no commit can begin.
@test "matrix: a process that holds the journal is journal, and named" {
	local i
	(($(nproc) > 1)) || skip "missing: a second CPU"
	rig_up --size 1G
	for i in 1 2 3 4 5 6; do
		"$SYNCS" pieces "$RIG_MNT/big$i" 100000000
	done
	inserts_ready "$RIG_MNT" 30
	inserts
	start taskset -c 1 bash -c 'while :; do :; done'
	ONE_WRITER=
	start taskset -c 1 chrt -i 0 truncate -s 0 "$RIG_MNT"/big{1,2,3,4,5,6}
	sleep 0.2
	answer journal 'file system' taskset -c 0 "${INSERTS[@]}"
	says .evidence truncate
}

@test "matrix: no barriers on a disk with a volatile cache is unsafe-fast" {
	rig_up --mount-opts barrier=0
	inserts_ready "$RIG_MNT" 50
	inserts
	rig_set flush_us=7000 write_us=200
	answer unsafe-fast '' "${INSERTS[@]}"
	[[ $(jq '.devices[0].ops.flush.count // 0' "$J") == 0 ]]
	says .sentence nobarrier
}

# ---- volume ----

@test "matrix: an fsync of 200 MB is volume" {
	rig_up --size 512M
	rig_set channels=1 write_us=1500 flush_us=1500
	answer volume device dd if=/dev/zero of="$RIG_MNT/big" bs=1M count=200 conv=fsync status=none
}

# Not `answer`: a write that begins in the window and ends after it is counted by the kernel alone.
syncfs_is_volume() {
	# shellcheck disable=SC2016  # for the inner shell
	or_lost trace sh -c 'dd if=/dev/zero of="$1" bs=1M count=200 conv=notrunc status=none; sync -f "$1"' sh "$RIG_MNT/big" &&
		class_is volume device && figures
}

@test "matrix: syncfs of what others dirtied is volume" {
	rig_up --size 512M
	rig_set channels=1 write_us=1500 flush_us=1500
	one_of_three syncfs_is_volume
	says .sentence 'it writes whatever is dirty'
}

# ---- not fsync ----

@test "matrix: a run that hardly syncs is not-sync" {
	rig_up
	rig_set flush_us=5000 write_us=200
	disk_hop 20
	# shellcheck disable=SC2016  # for the inner shell
	answer not-sync '' bash -c 'for i in {1..2000000}; do :; done; "$0" fsync "$1/file" 12' "$SYNCS" "$RIG_MNT"
	[[ $(json .sync.count "$J") == 12 ]]
}

@test "matrix: a run that never syncs is no-sync" {
	rig_up
	rig_set flush_us=5000 write_us=200
	answer no-sync '' "$SYNCS" none "$RIG_MNT/file" 2000
	[[ $(jq .sync.count "$J") == 0 ]]
}

# An overwritten block without a journal: two writes (its inode is the other one), and a flush.
@test "matrix: as much write as flush is mixed" {
	rig_up --fs ext4-nojournal
	"$SYNCS" fdatasync "$RIG_MNT/file" 1
	rig_set flush_us=5000 write_us=2400
	disk_hop 20
	answer mixed '' "$SYNCS" -o fdatasync "$RIG_MNT/file" 60
	holds "$(cause device.write) > 0.4 && $(cause flush.only) > 0.4"
}
