#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The doctor on NVMe, AHCI and SCSI disks, dm-crypt and md: every value as the system's own tools have it; and the barrier card of
# a disk that says it rotates. On a machine of its own, because the disks are written to: here that machine is started, and in it the
# tests are these.

bats_require_minimum_version 1.5.0
load ../helpers
load ../doctor
load disk

KERNEL=6.12
DISKS=(nvme ahci scsi virtio)

setup() {
	need_tool
	need jq
	J=$BATS_TEST_TMPDIR/json
}

teardown() {
	! in_guest || tidy
	clean_up
}

in_guest() {
	[[ -d /barriertrace/tests && -x /busybox/busybox ]]
}

need_guest() {
	local module
	in_guest || skip "for the machine that the last test starts"
	for module in ahci sd_mod virtio_scsi virtio_blk nvme dm-crypt dm-snapshot raid1 ext4; do
		modprobe -q $module 2>/dev/null || true
	done
	NVME=nvme0n1
	AHCI=$(disk_of /ata) SCSI=$(disk_of /virtio sd) VIRTIO=$(disk_of /virtio vd)
}

# disk_of PART-OF-ITS-PATH [PREFIX]
disk_of() {
	local link
	for link in /sys/block/"${2:-sd}"*; do
		[[ $(readlink -f "$link") != *"$1"* ]] || { echo "${link##*/}"; return; }
	done
}

# Whatever a test has set up, the last first
tidy() {
	umount /mnt 2>/dev/null
	for d in top secret; do
		dmsetup remove $d 2>/dev/null
	done
	mdadm --stop /dev/md0 >/dev/null 2>&1
	drop_disk 2>/dev/null
	true
}

# make_dm NAME TABLE: its kernel name in $DM; nobody else makes the node here
make_dm() {
	dmsetup create "$1" --table "$2" && dmsetup mknodes || return
	DM=dm-$(dmsetup info -c --noheadings -o minor "$1" | tr -d ' ')
	[[ -b /dev/mapper/$1 ]]
}

mount_ext4() { # DEVICE [OPTIONS]
	mkfs.ext4 -q -F "$1" && mount -o "${2:-relatime}" "$1" /mnt
}

@test "in the guest: NVMe, as lsblk and nvme have it" {
	need_guest
	[[ -b /dev/$NVME ]]
	doctor "$NVME"
	same_as_files
	same_as_lsblk "$NVME"
	is "$NVME" transport nvme
	is "$NVME" model "$(sed 's/ *$//' /sys/block/$NVME/device/model)"
	need nvme
	is "$NVME" firmware "$(nvme id-ctrl /dev/$NVME -o json | jq -r '.fr | sub(" +$"; "")')"
	is "$NVME" drive_model "$(nvme id-ctrl /dev/$NVME -o json | jq -r '.mn | sub(" +$"; "")')"
	is "$NVME" wear "$(nvme smart-log /dev/$NVME -o json | jq -r .percent_used)"
	local cache=off
	! nvme get-feature /dev/$NVME -f 6 -H | grep -q 'Enabled' || cache=on
	is "$NVME" drive_cache $cache
	is "$NVME" health "$(nvme smart-log /dev/$NVME -o json | jq -r 'if .critical_warning == 0 then "ok" else "failing" end')"
	need smartctl
	is "$NVME" health "$(smartctl -j -H /dev/$NVME | jq -r 'if .smart_status.passed then "ok" else "failing" end')"
	is "$NVME" firmware "$(smartctl -j -i /dev/$NVME | jq -r .firmware_version)"
}

@test "in the guest: a disk on AHCI, as lsblk, hdparm and smartctl have it" {
	need_guest
	[[ $AHCI ]]
	doctor "$AHCI"
	same_as_files
	same_as_lsblk "$AHCI"
	is "$AHCI" transport ata
	is "$AHCI" queue_depth "$(cat /sys/block/"$AHCI"/device/queue_depth)"
	need hdparm
	local cache=off
	! hdparm -W "/dev/$AHCI" | grep -q '1 (on)' || cache=on
	is "$AHCI" drive_cache $cache
	is "$AHCI" firmware "$(hdparm -I "/dev/$AHCI" | sed -nE 's/.*Firmware Revision: +([^ ]+).*/\1/p')"
	is "$AHCI" drive_model "$(hdparm -I "/dev/$AHCI" | sed -nE 's/.*Model Number: +(.*[^ ]) *$/\1/p')"
	need smartctl
	is "$AHCI" drive_model "$(smartctl -j -i "/dev/$AHCI" | jq -r .model_name)"
	is "$AHCI" drive_cache "$(smartctl -j -g wcache "/dev/$AHCI" | jq -r 'if .write_cache.enabled then "on" else "off" end')"
	is "$AHCI" health "$(smartctl -j -H "/dev/$AHCI" | jq -r 'if .smart_status.passed then "ok" else "failing" end')"
	# what the kernel believes, against what the drive says
	echo 'write through' >"/sys/block/$AHCI/queue/write_cache"
	doctor "$AHCI"
	echo 'write back' >"/sys/block/$AHCI/queue/write_cache"
	[[ $(finding "$AHCI" write_cache) == unsafe ]]
}

@test "in the guest: SCSI and virtio, as lsblk has them" {
	need_guest
	[[ $SCSI && $VIRTIO ]]
	doctor
	same_as_files
	same_as_lsblk "$SCSI"
	same_as_lsblk "$VIRTIO"
	is "$VIRTIO" virtio_flush "$(cut -c10 /sys/block/"$VIRTIO"/device/features)"
	is "$SCSI" scsi_cache_type "$(cat /sys/block/"$SCSI"/device/scsi_disk/*/cache_type)"
	is "$SCSI" scsi_fua "$(cat /sys/block/"$SCSI"/device/scsi_disk/*/FUA)"
	need smartctl
	is "$SCSI" firmware "$(smartctl -j -i "/dev/$SCSI" | jq -r '.scsi_revision // .revision // .firmware_version' | sed 's/ *$//')"
}

@test "in the guest: dm-crypt, as dmsetup has it, and never its key" {
	local key=00112233445566778899aabbccddeeff0123456789abcdef0123456789abcdef
	need_guest
	need dmsetup
	make_dm secret "0 100000 crypt aes-xts-plain64 $key 0 /dev/$NVME 0 1 allow_discards" || skip "missing: dm-crypt in this kernel"
	mount_ext4 /dev/mapper/secret
	doctor /mnt
	same_as_files
	same_as_findmnt /mnt
	is "$DM" dm_name secret
	is "$DM" dm_targets crypt
	is "$DM" dm_options allow_discards
	[[ $(finding "$DM" dm_options) == note ]]
	[[ $(jq -r --arg d "$DM" '.layers[] | select(.name == $d) | .below[0]' "$J") == "$NVME" ]]
	run ! grep -q 00112233 "$J"
	same_as_ext4 /mnt "$DM"
	umount /mnt
	dmsetup remove secret
	make_dm secret "0 100000 crypt aes-xts-plain64 $key 0 /dev/$NVME 0 2 no_read_workqueue no_write_workqueue"
	doctor "$NVME"
	is "$DM" dm_options 'no_read_workqueue no_write_workqueue'
	[[ ! $(finding "$DM" dm_options) ]]
}

@test "in the guest: dm-crypt, as cryptsetup has it" {
	local status dm
	need_guest
	need cryptsetup dmsetup
	export DM_DISABLE_UDEV=1
	cryptsetup open --type plain --cipher aes-xts-plain64 --key-size 256 --hash sha256 --allow-discards --perf-no_write_workqueue \
		"/dev/$NVME" secret <<<"no secret at all" || skip "missing: what cryptsetup needs of this kernel"
	status=$(cryptsetup status secret)
	echo "$status"
	dm=dm-$(dmsetup info -c --noheadings -o minor secret | tr -d ' ')
	doctor "$NVME"
	is "$dm" dm_name secret
	is "$dm" dm_uuid "$(dmsetup info -c --noheadings -o uuid secret)"
	is "$dm" size "$(sed -nE 's/^ +size: +([0-9]+) .*/\1/p' <<<"$status")"
	is "$dm" read_only "$([[ $status != *read/write* ]] && echo 1 || echo 0)"
	# the same flags, in cryptsetup's words
	[[ $(sed -nE 's/^ +flags: +(.*[^ ]) *$/\1/p' <<<"$status") == 'discards no_write_workqueue' ]]
	is "$dm" dm_options 'allow_discards no_write_workqueue'
	[[ $(jq -r --arg d "$dm" '.layers[] | select(.name == $d) | .below[0]' "$J") == "$NVME" ]]
	[[ $(sed -nE 's,^ +device: +/dev/,,p' <<<"$status") == "$NVME" ]]
}

@test "in the guest: dm targets on two disks" {
	need_guest
	need dmsetup
	make_dm top "0 100000 linear /dev/$NVME 0
100000 100000 linear /dev/$VIRTIO 0"
	doctor "$NVME"
	is "$DM" dm_targets linear
	is "$DM" suspended 0
	[[ $(jq -c --arg d "$DM" '.layers[] | select(.name == $d) | .below | sort' "$J") == "[\"$NVME\",\"$VIRTIO\"]" ]]
	# what shares the disk leads to the other disk
	jq -e --arg d "$VIRTIO" '.layers[] | select(.name == $d)' "$J"
	dmsetup suspend top
	doctor "$DM"
	dmsetup resume top
	is "$DM" suspended 1
	[[ $(finding "$DM" suspended) == slow ]]
}

@test "in the guest: md raid1, as mdadm and its files have it" {
	need_guest
	need mdadm
	yes | mdadm --create /dev/md0 --metadata=1.2 --level=1 --raid-devices=2 --bitmap=internal --assume-clean "/dev/$SCSI" "/dev/$VIRTIO" ||
		skip "missing: md in this kernel"
	mount_ext4 /dev/md0 strictatime
	doctor /mnt
	same_as_files
	same_as_lsblk md0
	same_as_findmnt /mnt
	same_as_ext4 /mnt md0
	is md0 md_level "$(mdadm --detail /dev/md0 | sed -nE 's/.*Raid Level : //p')"
	is md0 md_disks "$(mdadm --detail /dev/md0 | sed -nE 's/.*Raid Devices : //p')"
	is md0 md_degraded 0
	is md0 md_consistency "$(mdadm --detail /dev/md0 | sed -nE 's/.*Consistency Policy : //p')"
	# "Chunksize : 64 MB"
	is md0 md_bitmap_chunk "$(mdadm -X "/dev/$SCSI" | sed -nE 's/.*Chunksize : ([0-9]+) ([KMG])B.*/\1\2/p' | numfmt --from=iec)"
	[[ $(finding md0 md_bitmap) == note ]]
	[[ $(finding /mnt atime) == slow ]]
	mdadm /dev/md0 --fail "/dev/$VIRTIO" --remove "/dev/$VIRTIO"
	doctor md0
	is md0 md_degraded 1
	[[ $(finding md0 md_degraded) == unsafe ]]
}

@test "in the guest: limits of cgroup v2, as their files have them" {
	local root=$BATS_TEST_TMPDIR/cgroup key folder file dev n=0
	need_guest
	mkdir "$root"
	mount -t cgroup2 none "$root" || skip "missing: cgroup v2"
	on_exit "rmdir '$root/limited'; umount '$root'"
	dev=$(<"/sys/block/$NVME/dev")
	echo +io >"$root/cgroup.subtree_control"
	mkdir "$root/limited"
	echo "$dev wiops=123 wbps=1048576" >"$root/limited/io.max"
	[[ ! -e $root/limited/io.latency ]] || echo "$dev target=5000" >"$root/limited/io.latency"
	if [[ -e $root/io.cost.qos ]]; then
		echo "$dev enable=1" >"$root/io.cost.qos"
		on_exit "echo '$dev enable=0' >'$root/io.cost.qos'"
	fi
	doctor "$NVME"
	while read -r key folder file; do
		[[ -e $root$folder/$file ]] || continue
		is "$NVME" "$key" "$folder: $(sed -n "s/^$dev //p" "$root$folder/$file")"
		n=$((n + 1))
	done <<-END
		cgroup_io_max /limited io.max
		cgroup_io_latency /limited io.latency
		cgroup_io_cost / io.cost.qos
	END
	((n >= 1))
}

# card NS: of a disk of memory with this delay that calls itself rotating
card() {
	make_disk "$1"
	echo 1 >"/sys/block/$DISK/queue/rotational"
	"$BT" bench barrier "$MNT" --size 4M --time 3 --json "$J" -o "$BATS_TEST_TMPDIR/text" || [[ $? == 5 ]]
	jq -c '.disk, .verdict' "$J"
	drop_disk
}

@test "in the guest: a rotating disk's flush that answers at once is impossible, one of 5 ms believable" {
	local text
	need_guest
	need_tracing
	card 0
	jq -e '.verdict.class == "impossible" and .verdict.medium == "rotating"' "$J"
	text=$(tr -s ' \n' ' ' <"$BATS_TEST_TMPDIR/text")
	[[ $text == *'not believable: it answers before the data can be on the medium'*'an eighth of a rotation'* ]] || { echo "$text"; false; }
	card 5000000
	jq -e '.verdict.class == "believable" and .verdict.medium == "rotating"' "$J"
}

@test "in the guest: nothing is opened for writing, not by the drives' tools either, and no ioctl sets anything" {
	local text
	need_guest
	need strace dmsetup
	make_dm top "0 100000 linear /dev/$NVME 0"
	strace -f -y -qq -o "$BATS_TEST_TMPDIR/trace" "$BT" doctor --no-probes --no-tools >"$BATS_TEST_TMPDIR/out"
	text=$(touches "$BATS_TEST_TMPDIR/trace")
	[[ ! $text ]] || { echo "$text"; false; }
	grep -q DM_TABLE_STATUS "$BATS_TEST_TMPDIR/trace"
	strace -f -y -qq -e trace=openat,open,execve -o "$BATS_TEST_TMPDIR/trace" "$BT" doctor --no-probes >"$BATS_TEST_TMPDIR/out"
	text=$(touches "$BATS_TEST_TMPDIR/trace")
	[[ ! $text ]] || { echo "$text"; false; }
}

# skipped_rightly LOG: in there nothing is missing but tools that are not here either
skipped_rightly() {
	local line tool
	while read -r line; do
		for tool in ${line##*missing: }; do
			[[ $tool == @(nvme|smartctl|hdparm|mdadm|cryptsetup|dmsetup|strace) ]] && ! command -v "$tool" >/dev/null ||
				{ echo "skipped in there: $line"; return 1; }
		done
	done < <(sed -n '/^skipped:$/,$d; s/^  skip  //p' "$1" | grep -v ': we are in it$')
}

@test "doctor on NVMe, AHCI, SCSI, dm-crypt and md, in a machine of its own" {
	local rc=0 disk options=()
	! in_guest || skip "we are in it"
	for disk in "${DISKS[@]}"; do
		options+=(--disk "$disk")
	done
	"$TOP/scripts/vm" "${options[@]}" --timeout 500 --out "$BATS_TEST_TMPDIR/out" "$KERNEL" -- tests/vm/doctor.bats >"$BATS_TEST_TMPDIR/log" 2>&1 || rc=$?
	cat "$BATS_TEST_TMPDIR/log"
	((rc != 77)) || skip "$(why_no_guest "$BATS_TEST_TMPDIR/log")"
	((rc == 0))
	diff /dev/null "$BATS_TEST_TMPDIR/out/complaints"
	comment "in there: $(tail -n 1 "$BATS_TEST_TMPDIR/log")"
	skipped_rightly "$BATS_TEST_TMPDIR/log"
}
