# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For what runs in a guest: a null_blk whose timer of 20 ms, or of so many ns, delays writes and flushes alike, with ext4 on it. With
# 5 ms, what several tools' programs take on an emulated CPU between two events was 2 % of a wait.

DISK=nullb0 MNT=/mnt

make_disk() { # [NS]; 0: it answers where it is asked
	local dir=/sys/kernel/config/nullb/$DISK
	modprobe null_blk nr_devices=0 || return
	[[ -d ${dir%/*} ]] || mount -t configfs configfs /sys/kernel/config || return
	mkdir "$dir" || return
	echo 1 >"$dir/memory_backed"
	echo 128 >"$dir/size"
	echo 512 >"$dir/blocksize"
	echo 32 >"$dir/cache_size" # MB: a disk with a cache is one that has flushes
	echo $((${1:-1} ? 2 : 0)) >"$dir/irqmode" # 2: by timer
	echo "${1:-20000000}" >"$dir/completion_nsec"
	echo 2 >"$dir/queue_mode"
	echo 1 >"$dir/submit_queues"
	echo 1 >"$dir/power"
	[[ -b /dev/$DISK ]] || return
	echo none >"/sys/block/$DISK/queue/scheduler"
	mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "/dev/$DISK" && modprobe -q ext4
	# the journal commits nothing of its own accord while something is measured
	mount -t ext4 -o commit=600 "/dev/$DISK" $MNT
}

drop_disk() {
	umount $MNT
	rmdir "/sys/kernel/config/nullb/$DISK"
}
