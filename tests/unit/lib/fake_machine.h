/* SPDX-License-Identifier: GPL-2.0-only */
/* fake_machine.h - the disks of a made-up machine: one, its partitions, what stands on them, and what is odd. */
#ifndef FAKE_MACHINE_H
#define FAKE_MACHINE_H

#include "fake_tree.h"

static inline void make_machine(void)
{
	DEVICE("pci/block/bta", "8:160", "size=4096\n", "device/model=  WDC  XYZ-1   \n", "queue/write_cache=write back\n",
	       "queue/fua=0\n", "queue/rotational=1\n", "queue/scheduler=none [mq-deadline] kyber\n",
	       "queue/wbt_lat_usec=75000\n", "queue/nr_requests=64\n", "mq/0/nr_tags=400\n", "mq/0/nr_reserved_tags=2\n",
	       "mq/1/nr_tags=400\n", "mq/1/nr_reserved_tags=2\n", "stat= 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n");
	DEVICE("pci/block/bta/bta1", "8:161", "partition=1\n", "size=1000\n",
	       "holders/dm-90=", "stat= 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n");
	DEVICE("pci/block/bta/bta2", "8:162", "partition=2\n", "size=2000\n");
	DEVICE("pci/block/btb", "8:176", "size=8192\n", "mq/0/nr_tags=31\n", "queue/nr_requests=700\n",
	       "queue/scheduler=[none] mq-deadline\n", "holders/dm-90=", "queue/fua=1\n",
	       "stat= 1 2 3 4 5 6 7 8 9 10 11\n");
	DEVICE("virtual/block/dm-90", "253:90", "size=9000\n", "slaves/bta1=", "slaves/btb=", "dm/name=vg-root\n",
	       "holders/dm-91=", "queue/scheduler=[none]\n", "queue/nr_requests=128\n");
	DEVICE("virtual/block/dm-91", "253:91", "size=9000\n", "slaves/dm-90=");
	DEVICE("virtual/block/md92", "9:92", "size=500\n", "slaves/md92=", "md/level=raid1\n");
	DEVICE("pci/block/cciss!c9d0", "104:9", "size=100\n", "mq/0/nr_tags=2000000000\n");
	DEVICE("virtual/block/loop90", "7:90", "size=0\n", "hidden=0\n", "mq/0/nr_tags=128\n");
	DEVICE("virtual/block/loop91", "7:91", "size=80\n", "mq/0/nr_tags=64\n", "loop/backing_file=/srv/disk image.img\n");
	DEVICE("virtual/block/nvme99n1", "259:90", "size=5000\n");
	DEVICE("pci/block/nvme99c3n1", NULL, "hidden=1\n", "size=0\n", "mq/0/nr_tags=1023\n");
	DEVICE("pci/block/nvme99c3n12", NULL, "hidden=1\n", "size=0\n", "mq/0/nr_tags=1023\n");
	DEVICE("virtual/block/nvme98n1", "259:93", "size=5000\n");
	DEVICE("pci/block/nvme98c3n1", NULL, "hidden=1\n", "size=0\n", "mq/0/nr_tags=1023\n");
	put("proc/diskstats", "   8     160 bta 1 2 3\n 259      91 nvme99c3n1 0 0 0\n 259      92 nvme99c3n12 0\n"
			      "   0       0 nvme98c3n1 0\n");
	put("sys/fs/btrfs/features/skinny_metadata", "0\n");
	put("sys/fs/btrfs/1234-abcd/devices/bta2", "");
	put("sys/fs/btrfs/1234-abcd/devices/btb", "");
}

#endif
