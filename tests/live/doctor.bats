#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What the doctor says equals what the system's own tools say, it finds what was spoiled on purpose, and it touches nothing.

bats_require_minimum_version 1.5.0
load ../helpers
load ../doctor
load ../truth/matrix

setup() {
	need_tool
	need_root
	need jq lsblk findmnt
	J=$BATS_TEST_TMPDIR/json
}

teardown() {
	clean_up
}

# The disk that this machine's root file system is on; a partition's whole disk
root_disk() {
	local dev
	dev=$(findmnt -nro MAJ:MIN /)
	[[ -e /sys/dev/block/$dev ]] || skip "missing: a disk under /"
	ROOT_DEV=$(basename "$(readlink "/sys/dev/block/$dev")")
	ROOT_DISK=$(lsblk -ndo PKNAME "/dev/$ROOT_DEV" 2>/dev/null)
	ROOT_DISK=${ROOT_DISK:-$ROOT_DEV}
}

@test "doctor: the machine's own disk, as its files, lsblk, findmnt and ext4 have it" {
	root_disk
	doctor /
	same_as_files
	same_as_lsblk "$ROOT_DISK"
	same_as_findmnt /
	[[ $(value / type) != ext4 ]] || same_as_ext4 / "$ROOT_DEV"
	# between two looks of our own: it counts on
	local before after
	before=$(kernel_stat "$ROOT_DISK" 16)
	doctor /
	after=$(kernel_stat "$ROOT_DISK" 16)
	holds "$before <= $(value "$ROOT_DISK" flushes) && $(value "$ROOT_DISK" flushes) <= $after"
}

disks() {
	lsblk -bndo NAME,SIZE | awk '$2 { print $1 }' | sort
}

# Grows whenever a loop device is attached or detached, also where one came and went (from Linux 5.15 on)
sequences() {
	cat /sys/block/*/diskseq 2>/dev/null || true
}

as_files_and_lsblk() { # DISK...
	local d
	same_as_files
	for d; do
		same_as_lsblk "$d"
	done
}

# Where a disk came or went meanwhile (a test beside this one has its own) it is looked again.
@test "doctor: every disk of the machine, as files and lsblk have it" {
	local before sequences again status
	for again in 1 2 3 4 5 6 7 8 9 10; do
		sequences=$(sequences) # first: a disk that comes from now on is seen in the end
		before=$(disks)
		doctor
		status=0
		# shellcheck disable=SC2086  # words; in the background, where a failure within still ends it
		as_files_and_lsblk $before &
		wait "$!" || status=$?
		[[ $(disks) != "$before" || $(sequences) != "$sequences" ]] || return "$status"
	done
	return "$status"
}

@test "doctor: the rig, as lsblk, blockdev, losetup, findmnt and tune2fs have it" {
	need_rig
	need tune2fs losetup blockdev
	rig_up --sched mq-deadline --nr-requests 99 --mount-opts max_batch_time=7777
	doctor "$RIG_MNT"
	same_as_files
	same_as_lsblk "$RIG_DISK"
	same_as_findmnt "$RIG_MNT"
	same_as_ext4 "$RIG_MNT" "$RIG_DISK"
	is "$RIG_DISK" scheduler mq-deadline
	is "$RIG_DISK" nr_requests 99
	is "$RIG_MNT" max_batch_time 7777
	is "$RIG_DISK" physical_block_size "$(blockdev --getpbsz "$RIG_DEV")"
	is "$RIG_DISK" logical_block_size "$(blockdev --getss "$RIG_DEV")"
	is "$RIG_DISK" minimum_io_size "$(blockdev --getiomin "$RIG_DEV")"
	is "$RIG_DISK" optimal_io_size "$(blockdev --getioopt "$RIG_DEV")"
	is "$RIG_DISK" alignment_offset "$(blockdev --getalignoff "$RIG_DEV")"
	is "$RIG_DISK" read_only "$(blockdev --getro "$RIG_DEV")"
	is "$RIG_DISK" size "$(blockdev --getsz "$RIG_DEV")"
	is "$RIG_DISK" backing_file "$(losetup -nlO BACK-FILE "$RIG_DEV")"
	is "$RIG_DISK" dio "$(losetup -nlO DIO "$RIG_DEV" | tr -d ' ')"
	# the file is in a FUSE file system, which is shown below it
	jq -e '[.layers[].fstype] | any(. != null and startswith("fuse"))' "$J"
	# the journal's thread is the process of this name
	[[ $(ps -o comm= -p "$(value "$RIG_MNT" journal)") == jbd2/* ]]
}

# mounted BLOCK-SIZE [FEATURE]: an ext4 like this on the rig's disk, at $MNT
mounted() {
	mkfs.ext4 -q -F -b "$1" ${2:+-O "$2"} "$RIG_DEV"
	MNT=$BATS_TEST_TMPDIR/mnt.$1
	mkdir "$MNT"
	mount "$RIG_DEV" "$MNT" || skip "missing: $2 in this kernel"
	on_exit "umount $MNT 2>/dev/null || true"
}

@test "doctor: ext4 with fast_commit, and with small blocks" {
	need_rig
	need tune2fs
	rig_up --fs none
	mounted "$(getconf PAGESIZE)" fast_commit
	doctor "$MNT"
	same_as_ext4 "$MNT" "$RIG_DISK"
	is "$MNT" fast_commit on
	umount "$MNT"
	mounted 1024
	doctor "$MNT"
	same_as_ext4 "$MNT" "$RIG_DISK"
	is "$MNT" block_size 1024
}

@test "doctor: partitions, as lsblk has them" {
	local p
	need_rig
	rig_up --parts 2
	doctor "$RIG_DISK"
	for p in "$RIG_DEV1" "$RIG_DEV2"; do
		is "${p##*/}" start "$(cat "/sys/class/block/${p##*/}/start")"
		is "${p##*/}" size "$(($(lsblk -bndo SIZE "$p") / 512))"
	done
	same_as_findmnt "$RIG_MNT1"
	same_as_findmnt "$RIG_MNT2"
	# from a file of the second one: its own stack, and what shares the disk
	doctor "$RIG_MNT2/lost+found"
	jq -e --arg m "$RIG_MNT2" --arg p "${RIG_DEV2##*/}" '.layers[] | select(.name == $m) | .below == [$p]' "$J"
}

@test "doctor: XFS, as findmnt has it" {
	need_rig
	need mkfs.xfs
	rig_up --fs xfs --size 512M --mount-opts wsync,logbsize=64k
	doctor "$RIG_MNT"
	same_as_findmnt "$RIG_MNT"
	is "$RIG_MNT" wsync on
	is "$RIG_MNT" logbsize 64k
	[[ $(finding "$RIG_MNT" wsync) == slow ]]
}

@test "doctor: XFS with its log on another device, as findmnt and xfs_info have it" {
	need_rig
	need mkfs.xfs xfs_info
	rig_up --fs none --size 1G --parts 2
	MNT=$BATS_TEST_TMPDIR/mnt
	mkdir "$MNT"
	umount "$RIG_DEV1" "$RIG_DEV2" 2>/dev/null || true
	mkfs.xfs -q -f -l logdev="$RIG_DEV2",size=64m "$RIG_DEV1"
	mount -o logdev="$RIG_DEV2",logbufs=4 "$RIG_DEV1" "$MNT"
	on_exit "umount $MNT 2>/dev/null || true"
	doctor "$MNT"
	same_as_findmnt "$MNT"
	is "$MNT" logbufs 4
	is "$MNT" logdev "$(xfs_info "$MNT" | sed -nE 's/^log +=([^ ]+) .*/\1/p')"
	is "$MNT" block_size "$(xfs_info "$MNT" | sed -nE 's/^data .*bsize=([0-9]+) .*/\1/p')"
}

@test "doctor: ext4 with a journal whose commit waits for nothing, and an overlay that syncs nothing, as findmnt has them" {
	local o=$BATS_TEST_TMPDIR
	need_rig
	rig_up --mount-opts journal_async_commit,data=writeback
	doctor "$RIG_MNT"
	has_option "$RIG_MNT" journal_async_commit
	is "$RIG_MNT" journal_async_commit on
	mkdir "$o/merged" "$RIG_MNT/upper" "$RIG_MNT/work" "$o/lower"
	mount -t overlay -o "lowerdir=$o/lower,upperdir=$RIG_MNT/upper,workdir=$RIG_MNT/work,volatile" none "$o/merged" ||
		skip 'missing: overlay, or its option volatile'
	on_exit "umount '$o/merged' 2>/dev/null || true"
	doctor "$o/merged"
	has_option "$o/merged" volatile || has_option "$o/merged" fsync=volatile
	is "$o/merged" volatile on
	[[ $(finding "$o/merged" volatile) == unsafe ]]
}

@test "doctor: the governor, as each CPU's file has it" {
	make_governors
	with_governors "$BT" doctor --no-probes --json "$J" -o "$BATS_TEST_TMPDIR/text"
	is machine governor "$(cat "$GOVERNORS"/cpu?/cpufreq/scaling_governor | paste -sd, | sed 's/,/, /')"
}

@test "doctor: what is spoiled on purpose is found, and what isn't is not" {
	need_rig
	rig_up --mount-opts data=ordered
	doctor "$RIG_DISK"
	[[ ! $(finding "$RIG_MNT" barrier)$(finding "$RIG_MNT" discard)$(finding "$RIG_MNT" atime)$(finding "$RIG_DISK" nomerges) ]]
	[[ ! $(finding "$RIG_DISK" write_cache)$(finding "$RIG_DISK" rq_affinity)$(finding "$RIG_DISK" iostats) ]]
	mount -o remount,barrier=0,discard,strictatime "$RIG_MNT"
	echo 2 >"/sys/block/$RIG_DISK/queue/nomerges"
	echo 0 >"/sys/block/$RIG_DISK/queue/rq_affinity"
	echo 0 >"/sys/block/$RIG_DISK/queue/iostats"
	doctor "$RIG_DISK"
	same_as_findmnt "$RIG_MNT"
	same_as_ext4 "$RIG_MNT" "$RIG_DISK"
	[[ $(finding "$RIG_MNT" barrier) == unsafe ]]
	[[ $(finding "$RIG_MNT" atime) == slow ]]
	[[ $(finding "$RIG_MNT" discard) == @(slow|note) ]]
	[[ $(finding "$RIG_DISK" nomerges) == slow ]]
	[[ $(finding "$RIG_DISK" rq_affinity) == note ]]
	[[ $(finding "$RIG_DISK" iostats) == note ]]
	[[ $(jq -r '.findings[0].grade' "$J") == unsafe ]]
	# without a cache below there is nothing for a barrier to do; a loop device that never flushes is another matter
	echo 'write through' >"/sys/block/$RIG_DISK/queue/write_cache"
	doctor "$RIG_DISK"
	[[ $(finding "$RIG_MNT" barrier) == note ]]
	[[ $(finding "$RIG_DISK" write_cache) == check ]]
}

@test "doctor: btrfs, and the options of any file system, as findmnt has them" {
	local o
	need_rig
	need mkfs.btrfs
	rig_up --fs btrfs --mount-opts notreelog,flushoncommit,commit=77,discard
	doctor "$RIG_MNT"
	same_as_findmnt "$RIG_MNT"
	is "$RIG_MNT" notreelog on
	is "$RIG_MNT" flushoncommit on
	is "$RIG_MNT" commit 77
	is "$RIG_MNT" discard on
	[[ $(finding "$RIG_MNT" notreelog) == slow && $(finding "$RIG_MNT" flushoncommit) ]]
	mount -o remount,sync,dirsync,lazytime "$RIG_MNT"
	doctor "$RIG_MNT"
	same_as_findmnt "$RIG_MNT"
	has_option "$RIG_MNT" sync
	for o in sync dirsync lazytime; do
		! has_option "$RIG_MNT" $o || is "$RIG_MNT" $o on
	done
}

@test "doctor: the machine's settings, as sysctl has them" {
	local key n=0
	need sysctl
	doctor
	for key in vm.dirty_ratio vm.dirty_bytes vm.dirty_background_ratio vm.dirty_background_bytes vm.dirty_expire_centisecs \
		vm.dirty_writeback_centisecs vm.laptop_mode kernel.kptr_restrict kernel.bpf_stats_enabled; do
		sysctl -n $key >/dev/null 2>&1 || continue
		is machine ${key#*.} "$(sysctl -n $key)"
		n=$((n + 1))
	done
	((n >= 6))
	is machine btf "$(stat -c %s /sys/kernel/btf/vmlinux)"
	[[ ! -e /sys/kernel/security/lockdown ]] || is machine lockdown "$(cat /sys/kernel/security/lockdown)"
}

# Those read from one file of /sys or /proc/sys are held against it wherever the doctor runs (same_as_files): all others are named.
@test "doctor: no setting that is not held against another tool" {
	local key reader n=0 left=()
	while read -r key reader; do
		n=$((n + 1))
		[[ $reader == read_@(attr|mq_attr|scheduler|sys|scsi_host|proc) ]] || grep -qw "$key" "$TOP"/tests/{doctor.bash,{live,vm}/doctor.bats} ||
			left+=("$key")
	done < <(sed -nE 's/^\t\{ "([a-z_0-9]+)", .*[ ,](read_[a-z_0-9]+),.*/\1 \2/p' "$TOP/src/doctor/setting_table.c")
	((n > 90))
	# nothing here has f2fs: its settings are known from made-up files (tests/unit/golden/doctor.txt)
	comment "only from made-up files: ${left[*]}"
	for key in "${left[@]}"; do
		grep -qw "$key" "$TOP/tests/unit/golden/doctor.txt" || { echo "held against nothing: $key"; false; }
	done
}

@test "doctor: the kernel's flushes and their time, as iostat has them" {
	local n ms
	need_rig
	need iostat
	rig_up --flush-us 20000
	n=$(kernel_stat "$RIG_DISK" 16) ms=$(kernel_stat "$RIG_DISK" 17)
	dd if=/dev/zero of="$RIG_MNT/f" bs=4k count=10 oflag=dsync status=none
	doctor "$RIG_DISK"
	# 10 writes, at least a flush of 20 ms each
	holds "$(value "$RIG_DISK" flushes) - $n >= 10 && $(value "$RIG_DISK" flush_ms) - $ms >= 200"
	[[ $(value "$RIG_DISK" flushes) == "$(kernel_stat "$RIG_DISK" 16)" && $(value "$RIG_DISK" flush_ms) == "$(kernel_stat "$RIG_DISK" 17)" ]]
	# since boot: its flushes a second times the uptime
	n=$(iostat -dx -o JSON "$RIG_DISK" | jq -r '.sysstat.hosts[0].statistics[0].disk[0].f_await')
	holds "$n > $(value "$RIG_DISK" flush_ms) / $(value "$RIG_DISK" flushes) - 0.01"
	holds "$n < $(value "$RIG_DISK" flush_ms) / $(value "$RIG_DISK" flushes) + 0.01"
}

@test "doctor: a cgroup's limit on the disk, as its file has it" {
	local key
	need_rig
	rig_up
	limited_group "$RIG_DISK" 123
	doctor "$RIG_DISK"
	key=cgroup_write_iops
	[[ ! -e $GROUP/io.max ]] || key=cgroup_io_max
	if [[ $key == cgroup_write_iops ]]; then
		echo "$(<"/sys/block/$RIG_DISK/dev") 1048576" >"$GROUP/blkio.throttle.write_bps_device"
		doctor "$RIG_DISK"
		is "$RIG_DISK" cgroup_write_bps "/${GROUP##*/}: $(cut -d' ' -f2 "$GROUP/blkio.throttle.write_bps_device")"
		is "$RIG_DISK" cgroup_write_iops "/${GROUP##*/}: $(cut -d' ' -f2 "$GROUP/blkio.throttle.write_iops_device")"
	fi
	jq -c --arg d "$RIG_DISK" '.layers[] | select(.name == $d) | .settings[] | select(.key | startswith("cgroup"))' "$J"
	[[ $(value "$RIG_DISK" $key) == *123* ]]
	[[ $(finding "$RIG_DISK" $key) ]]
}

# stirred: what a run left changed in the settings of a disk
settings_of() {
	local f
	for f in "/sys/block/$1/queue/"* "/sys/block/$1/queue/iosched/"*; do
		[[ ! -f $f ]] || printf '%s %s\n' "$f" "$(cat "$f" 2>/dev/null)"
	done
	grep -F "/dev/$1 " /proc/self/mountinfo
}

@test "doctor: changes nothing: no file is opened for writing, no ioctl that sets anything" {
	local before after text
	need_rig
	need strace
	rig_up
	before=$(settings_of "$RIG_DISK")
	strace -f -y -qq -o "$BATS_TEST_TMPDIR/trace" "$BT" doctor --no-probes "$RIG_MNT" >"$BATS_TEST_TMPDIR/out"
	after=$(settings_of "$RIG_DISK")
	[[ $before == "$after" ]]
	grep -q openat "$BATS_TEST_TMPDIR/trace"
	text=$(touches "$BATS_TEST_TMPDIR/trace")
	[[ ! $text ]] || { echo "$text"; false; }
	# no disk is read or written for it either
	strace -f -y -qq -e trace=openat -o "$BATS_TEST_TMPDIR/trace" "$BT" doctor --no-probes >"$BATS_TEST_TMPDIR/out"
	text=$(touches "$BATS_TEST_TMPDIR/trace")
	[[ ! $text ]] || { echo "$text"; false; }
}

@test "doctor: reads no block from a disk" {
	local before after
	need_rig
	rig_up
	sync
	before=$(kernel_stat "$RIG_DISK" 1)
	doctor "$RIG_MNT"
	after=$(kernel_stat "$RIG_DISK" 1)
	[[ $before == "$after" ]]
	is "$RIG_MNT" block_size 4096
}

@test "doctor: its probes are those of barriertrace probes, and are gone afterwards" {
	need_tracing
	root_disk
	"$BT" doctor / --json "$J" -o "$BATS_TEST_TMPDIR/text"
	jq -e '.probes | length > 10 and any(.state == "attached")' "$J"
	[[ $(jq -r '.probes[] | "\(.name) \(.state)"' "$J" | sort) == "$("$BT" probes | awk 'NR > 1 { print $1, $3 }' | sort)" ]]
}

@test "doctor --trace: findings carry the weight that the trace measured" {
	need_rig
	need_tracing
	need sqlite3
	rig_up --flush-us 3000 --write-us 300
	start sqlite_endless "$RIG_MNT/db"
	doctor --trace 2 "$RIG_MNT" || [[ $? == 5 ]]
	jq .trace "$J"
	[[ $(jq .trace.calls "$J") -gt 20 ]]
	holds "$(jq '.trace.wall_ns / 1e9' "$J") >= 1.9"
	[[ $(jq '[.trace.ledger[]] | add' "$J") == $(jq .trace.total_ns "$J") ]]
	jq -er .trace.sentence "$J"
	# no FUA: the second flush of each commit
	jq -e --arg d "$RIG_DISK" '.trace.ledger["flush.post"] as $post | .findings[] | select(.key == "fua" and .place == $d)
		| .measured.ns == $post and .measured.share > 0.1' "$J"
	grep -q 'Measured: ' "$BATS_TEST_TMPDIR/text"
}

sqlite_endless() {
	while :; do
		sqlite_inserts "$1" 50
	done
}

@test "doctor --trace: no sync call, no weight" {
	need_rig
	need_tracing
	rig_up --fs none
	doctor --trace 0.3 "$RIG_DEV" || [[ $? == 5 ]]
	[[ $(jq .trace.calls "$J") == 0 ]] || skip "somebody else synced"
	jq -e '[.findings[] | has("measured")] | any | not' "$J"
	grep -q 'no sync calls' "$BATS_TEST_TMPDIR/text"
}

@test "doctor --trace: a signal ends it early, with its report" {
	need_tracing
	root_disk
	start_tracing doctor --trace 60 / --json "$J" -o "$BATS_TEST_TMPDIR/text"
	stop_tracing "$STARTED" INT
	jq -e '.trace.wall_ns < 30e9' "$J"
}
