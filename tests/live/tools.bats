#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The tools that people measure disks with, each wrapped: its own count of sync calls, reads and writes is the report's.
# What a tool doesn't count itself is known from its options, or strace counts it in the same run.

bats_require_minimum_version 1.5.0
load ../helpers
load ../truth/matrix
load ../truth/tools

# counted OP COUNT BYTES ALL: the report that has so many of the tool's, of so many bytes of anybody's
counted() {
	jq -n --arg d "$RIG_DISK" "{devices: [{name: \$d, ops: {$1: {count: $2, bytes: $3}}, kernel: {${1}_bytes: $4}}]}" >"$J"
}

@test "tools: writes that others got to first are no fault, those that nobody's requests have are" {
	RIG_DISK=none
	counted write 100 819200 819200
	buffered_writes_are 100 819200
	EXACT=1 buffered_writes_are 100 819200
	counted write 99 811008 819200
	buffered_writes_are 100 819200
	EXACT=1 run -1 buffered_writes_are 100 819200
	# not counted, hardly, too often, in too many requests, missing on the disk
	counted write 0 0 819200
	run -1 buffered_writes_are 100 819200
	counted write 49 401408 819200
	run -1 buffered_writes_are - 819200
	counted write 100 823296 823296
	run -1 buffered_writes_are - 819200
	counted write 101 819200 819200
	run -1 buffered_writes_are 100 819200
	counted write 99 811008 811008
	run -1 buffered_writes_are 100 819200
}

@test "tools: the file system's own reads are no fault, reads that are not counted or twice are" {
	RIG_DISK=none
	counted read 70 8392704 8392704
	buffered_reads_are 8388608
	EXACT=1 run -1 buffered_reads_are 8388608
	counted read 0 0 8388608
	run -1 buffered_reads_are 8388608
	counted read 138 16777216 8388608
	run -1 buffered_reads_are 8388608
}

# ---- fio ----

# fio_counts FILE: sync calls (total_ios has no fdatasyncs, in fio 3.33), reads and their bytes, writes and theirs
fio_counts() {
	jq -r '[.jobs[0] | .sync.lat_ns.N, .read.total_ios, .read.io_bytes, .write.total_ios, .write.io_bytes] | join(" ")' "$1"
}

# fio CALL ARGUMENT..: on a raw disk, where nothing but its own requests happen
fio_with() {
	CALL=$1
	agrees as_fio_counts wrapped fio --name=t --filename="$RIG_DEV" --direct=1 --bs=4k --randrepeat=0 --number_ios=300 \
		--output-format=json --output="$BATS_TEST_TMPDIR/fio.json" "${@:2}"
}

as_fio_counts() {
	local n
	read -ra n <<<"$(fio_counts "$BATS_TEST_TMPDIR/fio.json")"
	echo "fio: ${n[*]}"
	((n[0] > 50)) && syncs_are "$CALL ${n[0]}" && requests_are read "${n[1]}" "${n[2]}" && requests_are write "${n[3]}" "${n[4]}"
}

@test "tools: fio, each way to sync" {
	need_rig
	need fio
	rig_up --fs none
	fio_with fsync --ioengine=sync --rw=randwrite --fsync=3
	fio_with fdatasync --ioengine=psync --rw=randrw --fdatasync=2
	fio_with sync_file_range --ioengine=sync --rw=write --sync_file_range=wait_before,write,wait_after:3
	fio_with fsync --ioengine=libaio --iodepth=4 --rw=randwrite --fsync=3
	fio_with fsync --ioengine=posixaio --iodepth=4 --rw=randrw --fsync=3
	# this engine knows no other sync
	fio_with fsync --ioengine=posixaio --iodepth=1 --rw=randwrite --fdatasync=1
}

@test "tools: fio's io_uring fsyncs" {
	need_rig
	need fio
	rig_up --fs none
	fio --name=t --filename="$RIG_DEV" --ioengine=io_uring --rw=write --bs=4k --number_ios=1 >/dev/null 2>&1 || skip "missing: io_uring"
	fio_with 'io_uring fsync' --ioengine=io_uring --rw=randwrite --fsync=3
}

# It counts all but the last one: see src/bench/workload_fio.c.
as_fio_counts_and_one() {
	local n
	read -ra n <<<"$(fio_counts "$BATS_TEST_TMPDIR/fio.json")"
	((n[3] == 50)) && as_straced && syncs_are "fsync $((n[0] + 1))" && requests_are write "${n[3]}" "${n[4]}"
}

@test "tools: fio's end_fsync, which it counts nowhere" {
	local every
	need_rig
	need fio strace
	rig_up --fs none
	for every in 0 3; do
		agrees as_fio_counts_and_one straced -e trace="${SYNC_CALLS//|/,}" fio --name=t --filename="$RIG_DEV" --ioengine=posixaio \
			--direct=1 --rw=randwrite --bs=4k --number_ios=50 --fsync=$every --end_fsync=1 \
			--output-format=json --output="$BATS_TEST_TMPDIR/fio.json"
	done
}

as_fio_writes() {
	local n
	read -ra n <<<"$(fio_counts "$BATS_TEST_TMPDIR/fio.json")"
	((n[3] == 300)) && syncs_are "write ${n[3]}" && requests_are write - "${n[4]}"
}

@test "tools: fio's O_SYNC writes" {
	need_rig
	need fio
	rig_up --fs none
	agrees as_fio_writes wrapped fio --name=t --filename="$RIG_DEV" --sync=1 --ioengine=sync --rw=randwrite --bs=4k --number_ios=300 \
		--output-format=json --output="$BATS_TEST_TMPDIR/fio.json"
}

# ---- fs_mark ----

two_calls() {
	syncs_are 'fsync 1, sync 1'
}

no_calls() {
	syncs_are ''
}

@test "tools: fs_mark, a sync per file, one for all, and none" {
	need_rig
	need fs_mark
	rig_ext4
	own_requests
	fs_mark_agrees
	agrees two_calls wrapped fs_mark -l "$BATS_TEST_TMPDIR/log" -d "$RIG_MNT/f" -n 50 -s 8192 -S 2
	agrees no_calls wrapped fs_mark -l "$BATS_TEST_TMPDIR/log" -d "$RIG_MNT/f" -n 50 -s 8192 -S 0
}

# ---- bonnie++ ----

@test "tools: bonnie++, its blocks and its fsyncs" {
	need_rig
	need bonnie++ strace
	rig_ext4
	own_requests
	bonnie_agrees
}

# Each phase makes 1,024 files: an fsync after each.
as_bonnie_files() {
	as_straced && (($(jq .sync.calls.fsync "$J") >= 2 * 1024))
}

@test "tools: bonnie++, an fsync per file" {
	need_rig
	need bonnie++ strace
	rig_up
	agrees as_bonnie_files straced -e trace="${SYNC_CALLS//|/,}" bonnie++ -d "$RIG_MNT" -u root -r 0 -s 0 -n 1 -b -q
}

# ---- dbench ----

# What a netbench client does, in short: dbench runs it again and again until its time is over.
make_load() {
	local i file='\clients\client1\a.dat'
	cat <<-END
		Mkdir "\\clients" NT_STATUS_OK
		Mkdir "\\clients\\client1" NT_STATUS_OK
		NTCreateX "$file" 0x40 0x2 7 NT_STATUS_OK
	END
	for i in 0 1 2 3 4 5 6 7; do
		echo "WriteX 7 $((i * 4096)) 4096 4096 NT_STATUS_OK"
	done
	cat <<-END
		Flush 7 NT_STATUS_OK
		ReadX 7 0 4096 4096 NT_STATUS_OK
		Close 7 NT_STATUS_OK
		Unlink "$file" 0x6 NT_STATUS_OK
		Deltree "\\clients\\client1" NT_STATUS_OK
	END
}

dbench_count() { # OPERATION
	awk -v op="$1" '$1 == op { print $2 }' "$OUT"
}

# Each flush follows eight writes of a block.
as_dbench_flushes() {
	local n
	n=$(dbench_count Flush)
	((n > 5)) && syncs_are "fsync $n" && buffered_writes_are - $((n * 8 * 4096))
}

as_dbench_writes() {
	local n
	n=$(dbench_count WriteX)
	((n > 40)) && syncs_are "fsync $(dbench_count Flush), write $n" && buffered_writes_are "$n" $((n * 4096))
}

# An fsync of each write, and of the folder that a file appears in or goes from
as_dbench_fsyncs() {
	local n
	n=$(dbench_count WriteX)
	((n > 40)) && syncs_are "fsync $((n + $(dbench_count Flush)))" && buffered_writes_are "$n" $((n * 4096))
}

@test "tools: dbench, flushes, O_SYNC writes, and a sync for each of what it does" {
	local load=$BATS_TEST_TMPDIR/load
	need_rig
	need dbench
	rig_ext4
	make_load >"$load"
	own_requests
	# at this rate the journal, 4 MiB, is not full before the end: who finds it full writes other blocks
	agrees as_dbench_flushes wrapped dbench -c "$load" -D "$RIG_MNT" -t 1 -R 0.5 1
	agrees as_dbench_writes wrapped dbench -c "$load" -D "$RIG_MNT" -t 1 -R 0.5 -s 1
	agrees as_dbench_fsyncs wrapped dbench -c "$load" -D "$RIG_MNT" -t 1 -R 0.5 -F 1
	agrees as_straced straced -e trace="${SYNC_CALLS//|/,}" dbench -c "$load" -D "$RIG_MNT" -t 1 -R 0.5 -S 1
}

# ---- SQLite ----

# The bytes that its fdatasyncs had to write, by the pwrites before them: pages of files, each once, unless the file was deleted.
dirtied() {
	sed -nE 's/^[0-9]+ +pwrite64\([0-9]+<([^>]*)>, .*, ([0-9]+), ([0-9]+)\) += [0-9]+$/w \1 \2 \3/p
		s/^[0-9]+ +fdatasync\([0-9]+<([^>]*)>\) += 0$/s \1/p; s/^[0-9]+ +unlink\("([^"]*)"\) += 0$/u \1/p' "$CALLS" |
		awk '
			$1 == "w" { for (p = int($4 / 4096); p <= int(($4 + $3 - 1) / 4096); p++) dirty[$2, p] = 1 }
			$1 != "w" { for (k in dirty) if (index(k, $2 SUBSEP) == 1) { n += $1 == "s"; delete dirty[k] } }
			END { print n * 4096 }'
}

# Four per insert with a journal that is deleted, and full synchronous: see tests/truth/sqlite.bats
as_sqlite_is_known() {
	syncs_are "fdatasync $((4 * N))"
}

as_sqlite_calls() {
	as_straced && (($(dirtied) >= N * 3 * 4096)) && buffered_writes_are - "$(dirtied)" && requests_are read 0 0
}

@test "tools: SQLite, every fdatasync and every page" {
	N=50
	need_rig
	need sqlite3 strace
	rig_ext4
	inserts_ready "$RIG_MNT" $N
	inserts
	own_requests
	[[ $(sqlite3 --version) != 3.40.1\ * ]] || agrees as_sqlite_is_known wrapped "${INSERTS[@]}"
	agrees as_sqlite_calls straced -e trace="${SYNC_CALLS//|/,},pwrite64,unlink" "${INSERTS[@]}"
}

# ---- dd ----

dd_records() { # in or out
	sed -nE "s/^([0-9]+)\+0 records $1/\1/p" "$OUT.err"
}

as_dd_writes() {
	(($(dd_records out) == 40)) && syncs_are "write $(dd_records out)" && requests_are write "$(dd_records out)" $((40 * 8192))
}

as_dd_syncs_at_its_end() {
	syncs_are 'fdatasync 1' && buffered_writes_are - $((40 * 8192))
}

as_dd_reads() {
	(($(dd_records in) == 40)) && no_calls && requests_are read "$(dd_records in)" $((40 * 8192))
}

@test "tools: dd, each way to sync" {
	local sync
	need_rig
	rig_ext4
	own_requests
	for sync in dsync sync; do
		agrees as_dd_writes wrapped dd if=/dev/zero of="$RIG_MNT/f" bs=8k count=40 oflag=direct,$sync conv=notrunc
	done
	agrees as_dd_syncs_at_its_end wrapped dd if=/dev/zero of="$RIG_MNT/f" bs=8k count=40 conv=notrunc,fdatasync
	agrees as_dd_reads wrapped dd if="$RIG_MNT/f" of=/dev/null bs=8k iflag=direct
}

as_dd_on_the_disk() {
	as_dd_writes && [[ $(jq -r '.sync.by_file[] | "\(.path) \(.device)"' "$J") == "$RIG_DEV $RIG_DISK" ]] &&
		accounted "$(jq '.sync.by_file[0].count' "$J")" 40 "$J"
}

one_flush() {
	syncs_are 'fsync 1' && requests_are flush 1 0
}

@test "tools: dd, on the disk itself" {
	need_rig
	rig_up --fs none --flush-us 200
	agrees as_dd_on_the_disk wrapped dd if=/dev/zero of="$RIG_DEV" bs=8k count=40 oflag=direct,dsync
	agrees one_flush wrapped dd if=/dev/zero of="$RIG_DEV" bs=8k count=40 oflag=direct conv=fsync
}

# ---- PostMark ----

as_postmark_writes() {
	local n
	n=$(grep -c "<$RIG_MNT/" "$CALLS")
	((n > 40)) && syncs_are "write $n"
}

@test "tools: PostMark, without a sync call and on a file system mounted sync" {
	local conf=$BATS_TEST_TMPDIR/postmark
	need_rig
	need postmark strace
	rig_ext4
	printf '%s\n' "set location $RIG_MNT" 'set number 20' 'set transactions 40' 'set buffering false' run quit >"$conf"
	agrees no_calls straced -e trace="${SYNC_CALLS//|/,}" postmark "$conf"
	mount -o remount,sync "$RIG_MNT"
	agrees as_postmark_writes straced -e trace=write,pwrite64 postmark "$conf"
}

# ---- iozone ----

# 32 records of 8 KiB, written and rewritten, read and read again, the first one of each once more before; its own fsyncs lie
# between, and two syncs before, which are to find nothing of the run before.
iozone_run() {
	sync -f "$RIG_MNT"
	straced -e trace="${SYNC_CALLS//|/,},read,write" iozone -i 0 -i 1 -s 256k -r 8k "$@" -f "$RIG_MNT/f"
}

records() { # read|write
	grep -c " $1([0-9]*<$RIG_MNT/f>.*= 8192$" "$CALLS"
}

as_iozone_writes() {
	(($(records write) == 64)) && syncs_are "$(straced_syncs), write 64" && buffered_writes_are 64 $((64 * 8192))
}

as_iozone_requests() {
	(($(records write) == 64 && $(records read) == 66)) && as_straced && requests_are write 64 $((64 * 8192)) &&
		requests_are read 66 $((66 * 8192))
}

@test "tools: iozone, O_SYNC, an fsync in its time, and past the page cache" {
	need_rig
	need iozone strace
	rig_ext4
	own_requests
	agrees as_iozone_writes iozone_run -o
	agrees as_straced iozone_run -e
	agrees as_iozone_requests iozone_run -I
}

# ---- compilebench ----

# make_trees DIR: its data sets: the files of a tree, patched or not, compiled or not. It leaves out what two have in common, and
# divides by times in hundredths of a second, so that none may be too small.
make_trees() {
	local tree i size=3000
	mkdir "$1"
	for tree in unpatched patched unpatched-compiled patched-compiled; do
		for ((i = 0; i < 600; i++)); do
			echo "dir$((i / 40))/file$i.c $size"
			[[ $tree != *compiled ]] || echo "dir$((i / 40))/file$i.o $size"
		done >"$1/dataset-$tree"
		size=$((size + 1000))
	done
}

# It calls sync after the first trees and in each of its runs: each time a process of its own.
as_compilebench() {
	grep -q '^run complete' "$OUT" && (($(jq .sync.calls.sync "$J") >= 5)) && as_straced
}

@test "tools: compilebench, the syncs around its runs" {
	need_rig
	need compilebench strace
	rig_ext4
	make_trees "$BATS_TEST_TMPDIR/trees"
	agrees as_compilebench straced -e trace="${SYNC_CALLS//|/,}" compilebench -D "$RIG_MNT/c" -i 2 -r 4 -s "$BATS_TEST_TMPDIR/trees"
}
