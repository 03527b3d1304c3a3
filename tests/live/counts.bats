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
	local rw
	need_rig
	need fio
	# no commit of the journal while fio runs
	rig_up --fs ext4 --mount-opts commit=600
	dd if=/dev/zero of="$RIG_MNT/f" bs=1M count=32 oflag=direct status=none
	sync -f "$RIG_MNT"
	for rw in randread randwrite randrw; do
		equal_counts "$RIG_DISK" --filename="$RIG_MNT/f" --size=32m --rw=$rw --number_ios=250
	done
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

reads() { # FILE N [FROM]
	dd if="$1" of=/dev/null bs=4k count="$2" skip="${3:-0}" iflag=direct status=none
}

writes() { # FILE N [FROM]
	dd if=/dev/zero of="$1" bs=4k count="$2" seek="${3:-0}" oflag=direct status=none
}

# a sub shell, for what is traced as one command
script() {
	"$BASH" -c "$(declare -f reads writes)"'; '"$1" - "${@:2}"
}
export -f reads writes script

# Before 5.12 the kernel takes the partition off a bio where it begins at the disk (blk_partition_remap), and an empty flush has no
# sector that would tell it: it is counted, there as here, for the disk.
@test "counts: a partition is its own, and both make the disk" {
	local p1 p2 b1 b2 bd i empty=1
	[[ $(uname -r) != 5.10.* ]] || empty=0
	rig_raw --parts 2
	p1=${RIG_DISK}p1 p2=${RIG_DISK}p2
	b1=$(kernel_io "$p1")
	"$BT" "$p1" --json "$J" -o "$BATS_TEST_TMPDIR/text" -- "$BASH" -c \
		'reads "$1" 30; writes "$1" 40; reads "$2" 7; writes "$2" 9; sync "$1"; sync "$2"; sync "$2"' - \
		"$RIG_DEV1" "$RIG_DEV2"
	[[ $(our_io "$J" "$p1") == "30 240 40 320" ]]
	# the kernel also counts an empty flush as a write
	[[ $(since "$b1" "$(kernel_io "$p1")") == "30 240 $((40 + empty)) 320" ]]
	[[ $(json '[.devices[].name] | join(" ")' "$J") == "$p1" ]]
	[[ $(of_disk "$J" "$p1" .ops.flush.count) == "$empty" ]]

	b1=$(kernel_io "$p1") b2=$(kernel_io "$p2") bd=$(kernel_io "$RIG_DISK")
	"$BT" "$p1" "$RIG_DISK" "$p2" --json "$J" -o "$BATS_TEST_TMPDIR/text" -- "$BASH" -c \
		'reads "$1" 30; writes "$1" 40; reads "$2" 7; writes "$2" 9; reads "$3" 5' - \
		"$RIG_DEV1" "$RIG_DEV2" "$RIG_DEV"
	[[ $(our_io "$J" "$p1") == "30 240 40 320" && $(our_io "$J" "$p1") == "$(since "$b1" "$(kernel_io "$p1")")" ]]
	[[ $(our_io "$J" "$p2") == "7 56 9 72" && $(our_io "$J" "$p2") == "$(since "$b2" "$(kernel_io "$p2")")" ]]
	[[ $(our_io "$J" "$RIG_DISK") == "42 336 49 392" ]]
	[[ $(our_io "$J" "$RIG_DISK") == "$(since "$bd" "$(kernel_io "$RIG_DISK")")" ]]
	for i in "$p1" "$p2" "$RIG_DISK"; do
		[[ $(of_disk "$J" "$i" .ops.read.total.count) == "$(of_disk "$J" "$i" .ops.read.count)" ]]
	done
}

zram_raw() {
	need_zram
	zram_up
	lock_disk "/dev/$ZRAM"
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

# reader_at_gate: a process that reads 60 blocks when told by go
reader_at_gate() {
	GATE=$BATS_TEST_TMPDIR/gate.$RANDOM
	mkfifo "$GATE"
	start "$BASH" -c 'read -r <"$1"; exec dd if="$2" of=/dev/null bs=4k count=60 iflag=direct status=none' - \
		"$GATE" "$RIG_DEV"
	READER=$STARTED
}

@test "counts: -p counts one process, and ends with it" {
	local tool
	rig_raw --read-us 1000
	reader_at_gate
	start_tracing -p "$READER" "$RIG_DISK" --json "$J" -o "$BATS_TEST_TMPDIR/text"
	tool=$STARTED
	start reads "$RIG_DEV" 100 1000
	echo go >"$GATE"
	status_of "$tool"
	echo "ours: $(our_io "$J" "$RIG_DISK")"
	[[ $(our_io "$J" "$RIG_DISK") == "60 480 0 0" ]]
	[[ $(json '.run.filter' "$J") == "pid $READER" ]]
	[[ $(json '.run.notes[0]' "$J") == *"$READER ended"* ]]
}

# cgroup_counts DISK: only what is sent from $CGROUP, or from below
cgroup_counts() {
	local tool
	mkdir "$CGROUP" "$CGROUP/below"
	on_exit "rmdir $CGROUP/below $CGROUP"
	start_tracing --cgroup "$CGROUP" "$1" --json "$J" -o "$BATS_TEST_TMPDIR/text"
	tool=$STARTED
	start reads "/dev/$1" 50 2000
	"$BASH" -c 'echo $$ >"$1/cgroup.procs" && reads "$2" 30' - "$CGROUP" "/dev/$1"
	"$BASH" -c 'echo $$ >"$1/below/cgroup.procs" && writes "$2" 20' - "$CGROUP" "/dev/$1"
	wait "$STARTED"
	stop_tracing "$tool"
	[[ $(our_io "$J" "$1") == "30 240 20 160" ]]
	[[ $(json '.run.filter' "$J") == *"${CGROUP##*/}"* ]]
}

@test "counts: -p knows what the process's calls waited for, though others sent it" {
	local pid
	need_rig
	rig_up --flush-us 3000
	mkfifo "$BATS_TEST_TMPDIR/go"
	start sh -c "read -r _ <'$BATS_TEST_TMPDIR/go'; exec dd if=/dev/zero of='$RIG_MNT/f' bs=4k count=50 oflag=dsync status=none"
	pid=${PIDS[-1]}
	start_tracing -p "$pid" "$RIG_DISK" --json "$J" -o "$BATS_TEST_TMPDIR/text"
	echo >"$BATS_TEST_TMPDIR/go"
	wait "$STARTED"
	jq -c '.verdict.class, .sync.unflushed, .sync.ledger' "$J"
	[[ $(json '.verdict.class' "$J") == device-flush && $(jq .sync.unflushed "$J") == 0 ]]
	# the journal's requests are waited for, not counted
	[[ $(of_disk "$J" "$RIG_DISK" .flush.post) == 0 ]]
}

# in_container COMMAND...: with numbers of processes of its own
in_container() {
	unshare --pid --fork --mount-proc "$@"
}

@test "counts: where processes have other numbers than in the kernel, a command and -p are refused, instead of counting nothing" {
	need_rig
	need unshare
	in_container true 2>/dev/null || skip "missing: the right to make a PID namespace"
	rig_up --flush-us 2000
	run -1 in_container "$BT" "$RIG_DISK" -- sync -d "$RIG_MNT"
	[[ ${#lines[@]} == 1 && $output == *'cannot follow a command'*'PID namespace'* ]]
	run -1 in_container "$BT" "$RIG_DISK" -d 1 -p 1
	[[ ${#lines[@]} == 1 && $output == *'cannot watch a process'*'PID namespace'* ]]
	start sync_writes "$RIG_MNT/f" 1000
	in_container "$BT" "$RIG_DISK" -d 0.5 -q --json "$J" || [[ $? == 5 ]]
	json '.sync.count > 0' "$J"
}

# These set CGROUP, one to be made in such a hierarchy.
cgroup_v1() {
	need findmnt
	CGROUP=$(findmnt -nt cgroup -O blkio -o TARGET | head -n 1)
	[[ $CGROUP ]] || skip "missing: a cgroup v1 blkio hierarchy"
	CGROUP+=/barriertrace-test.$$
}

cgroup_v2() {
	need findmnt
	CGROUP=$(findmnt -nt cgroup2 -o TARGET | head -n 1)
	[[ $CGROUP ]] || skip "missing: a cgroup v2 hierarchy"
	CGROUP+=/barriertrace-test.$$
}

# The bios carry the group then; without, they carry one above it, and who sent them tells.
cgroup_v2_io() {
	local dir
	cgroup_v2
	dir=${CGROUP%/*}
	grep -qsw io "$dir/cgroup.controllers" || skip "missing: the io controller in a cgroup v2 hierarchy"
	if ! grep -qw io "$dir/cgroup.subtree_control"; then
		on_exit "echo -io >'$dir/cgroup.subtree_control'"
		echo +io >"$dir/cgroup.subtree_control"
	fi
}

# sync_calls_of_group: only those of tasks in $CGROUP, or below
sync_calls_of_group() {
	local tool
	need_rig
	rig_up
	mkdir "$CGROUP" "$CGROUP/below"
	on_exit "rmdir $CGROUP/below $CGROUP"
	start_tracing --cgroup "$CGROUP" "$RIG_DISK" --json "$J" -o "$BATS_TEST_TMPDIR/text"
	tool=$STARTED
	sync_writes "$RIG_MNT/other" 7
	"$BASH" -c 'echo $$ >"$1/cgroup.procs" && sync_writes "$2" 5' - "$CGROUP" "$RIG_MNT/f"
	"$BASH" -c 'echo $$ >"$1/below/cgroup.procs" && sync_writes "$2" 3' - "$CGROUP" "$RIG_MNT/g"
	stop_tracing "$tool"
	jq -c '.sync.calls, .sync.by_file' "$J"
	[[ $(jq -c '.sync.calls' "$J") == '{"write":8}' ]]
}

sync_writes() { # FILE COUNT
	dd if=/dev/zero of="$1" bs=4k count="$2" oflag=dsync status=none
}
export -f sync_writes

@test "counts: --cgroup, version 1 blkio: the group's sync calls" {
	cgroup_v1
	sync_calls_of_group
}

@test "counts: --cgroup, version 2: the group's sync calls" {
	cgroup_v2
	sync_calls_of_group
}

@test "counts: --cgroup, version 1 blkio" {
	cgroup_v1
	rig_raw
	cgroup_counts "$RIG_DISK"
}

@test "counts: --cgroup, version 2" {
	cgroup_v2
	rig_raw
	cgroup_counts "$RIG_DISK"
}

@test "counts: --cgroup, version 2, where the io controller is handed down" {
	cgroup_v2_io
	rig_raw
	cgroup_counts "$RIG_DISK"
}

@test "counts: --cgroup of a disk that takes bios (zram), version 1 blkio" {
	cgroup_v1
	zram_raw
	cgroup_counts "$ZRAM"
}

@test "counts: --cgroup of a disk that takes bios (zram), version 2" {
	cgroup_v2
	zram_raw
	cgroup_counts "$ZRAM"
}

@test "counts: --cgroup of a disk that takes bios (zram), version 2, where the io controller is handed down" {
	cgroup_v2_io
	zram_raw
	cgroup_counts "$ZRAM"
}

@test "counts: -i streams a JSON object a line, which add up" {
	local S=$BATS_TEST_TMPDIR/stream tool
	rig_raw
	"$BT" "$RIG_DISK" -i 1 -d 3 --json - >"$S" &
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
	[[ $(wc -l <"$S") == 4 && $(jq -s 'length' "$S") == 4 ]]
	[[ $(sed -n '$p' "$S" | jq '.devices[0].ops.read.count') == 120 ]]
	[[ $(sed '$d' "$S" | jq -s 'map(.devices[0].ops.read.count // 0) | add') == 120 ]]
	[[ $(sed '$d' "$S" | jq -s 'map(.devices[0].ops.read.total.sum_ns // 0) | add') == \
		$(sed -n '$p' "$S" | jq '.devices[0].ops.read.total.sum_ns') ]]
	[[ $(sed '$d' "$S" | jq -s 'map(select(.run.interval)) | length') == 3 ]]
	[[ $(sed '$d' "$S" | jq -s 'map(has("final")) | any') == false ]]
	[[ $(sed -n '$p' "$S" | jq '.final') == true ]]
}

@test "counts: intervals add up also when the run ends within one" {
	local S=$BATS_TEST_TMPDIR/stream
	rig_raw
	start_tracing "$RIG_DISK" -i 1 --json "$S" -o "$BATS_TEST_TMPDIR/text"
	sleep 1.1
	reads "$RIG_DEV" 50
	stop_tracing "$STARTED"
	jq -c '[.final, .run.interval, .devices[0].ops.read.count]' "$S"
	[[ $(sed -n '$p' "$S" | jq '.devices[0].ops.read.count') == 50 ]]
	[[ $(sed '$d' "$S" | jq -s 'map(.devices[0].ops.read.count // 0) | add') == 50 ]]
}

@test "counts: a loop device detached under load doesn't break the run" {
	local tool
	need_rig
	rig_up --fs none --read-us 200
	start_tracing "$RIG_DISK" --json "$J" -o "$BATS_TEST_TMPDIR/text"
	tool=$STARTED
	start dd if="$RIG_DEV" of=/dev/null bs=4k iflag=direct status=none
	sleep 0.3
	losetup -d "$RIG_DEV" # goes when its last user closes it
	sleep 0.2
	kill "$STARTED"
	wait "$STARTED" || true
	eventually 5 test ! -e "/sys/block/$RIG_DISK/loop/backing_file"
	sleep 1.1 # it looks around once a second
	stop_tracing "$tool"
	holds "$(of_disk "$J" "$RIG_DISK" .ops.read.count) > 100"
	(($(json '.run.lost_events' "$J") <= 8))
}

@test "counts: a disk that vanishes is told, another one is traced on" {
	local tool
	need_zram
	rig_raw
	zram_up
	start_tracing "$RIG_DISK" "$ZRAM" --json "$J" -o "$BATS_TEST_TMPDIR/text"
	tool=$STARTED
	writes "/dev/$ZRAM" 25
	zram_down "${ZRAM#zram}"
	[[ ! -e /sys/block/$ZRAM ]]
	sleep 1.2
	reads "$RIG_DEV" 35
	stop_tracing "$tool"
	[[ $(of_disk "$J" "$ZRAM" .vanished) == true ]]
	[[ $(of_disk "$J" "$ZRAM" .ops.write.count) == 25 ]]
	[[ $(our_io "$J" "$RIG_DISK") == "35 280 0 0" ]]
	grep -q "$ZRAM.*" "$BATS_TEST_TMPDIR/text"
}

@test "counts: a disk that appears is traced when none was named" {
	local tool
	need_rig
	need_zram
	start_tracing --json "$J" -o "$BATS_TEST_TMPDIR/text"
	tool=$STARTED
	zram_up
	rig_up --fs none
	sleep 2.2 # it looks around once a second
	writes "/dev/$ZRAM" 25
	reads "$RIG_DEV" 35
	stop_tracing "$tool"
	holds "$(of_disk "$J" "$RIG_DISK" .ops.read.count) >= 35"
	[[ $(of_disk "$J" "$ZRAM" .ops.write.count) == 25 ]]
}

# Two tools at once, one of them around the work. Arguments: of the first. What one of them missed the other missed, too: what
# they saw took the same time.
agree() {
	local other=$BATS_TEST_TMPDIR/other.json tool op
	rig_raw --read-us 500 --write-us 500 --flush-us 1000
	start_tracing "$@" "$RIG_DISK" --json "$other" -o "$BATS_TEST_TMPDIR/other.txt"
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
	[[ $(jq -r '[.probes[] | select(.name | startswith("request.")) | .rung // empty] | unique | join(" ")' \
		"$other") == "$RUNG" ]]
}

@test "counts: two runs at once agree" {
	RUNG=tp_btf
	agree
}

@test "counts: raw_tp counts what tp_btf counts" {
	RUNG=raw_tp
	agree --rung request=raw_tp
}
