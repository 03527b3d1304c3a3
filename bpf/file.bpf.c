// SPDX-License-Identifier: GPL-2.0-only
/* file.bpf.c - what file.bpf.h leaves to global functions: a file by its descriptor, and its path. */
#include "file.bpf.h"

__noinline u64 file_address(u32 fd)
{
	struct task_struct *task = current_task(), *loose = LOOSE(TASK_BTF, task);
	struct files_struct *open = GET(TASK_BTF, loose, files);
	struct fdtable *fdt = GET(TASK_BTF, open, fdt);
	struct file **table;

	if (fd >= GET(TASK_BTF, fdt, max_fds))
		return 0;
	table = GET(TASK_BTF, fdt, fd);
	return address_at(&table[fd]);
}

__noinline int send_file(u64 dentry_address, u64 inode_address)
{
	struct dentry *d = (struct dentry *)dentry_address, *parent;
	struct inode *inode = (struct inode *)inode_address;
	struct wire_file *w = bpf_ringbuf_reserve(&ring, sizeof(*w), 0);
	u32 n = 0, whole = 0;

	if (!w) {
		__sync_fetch_and_add(&run.drops[DROP_RING_FULL], 1);
		return 0;
	}
	w->head.kind = WIRE_FILE;
	w->head.size = sizeof(*w);
	w->head.cpu = 0;
	w->ino = LOOK(inode, i_ino);
	w->dev = LOOK(LOOK(inode, i_sb), s_dev);
	for (u32 i = 0; i < WIRE_NAMES; i++) {
		const unsigned char *name = LOOK(d, d_name.name);

		parent = LOOK(d, d_parent);
		if (!parent || parent == d) {
			whole = 1;
			break;
		}
		if (bpf_probe_read_kernel_str(w->name[i], WIRE_NAME, name) < 0)
			break;
		n = i + 1;
		d = parent;
	}
	if (!whole && LOOK(d, d_parent) == d)
		whole = 1;
	w->n = n;
	w->whole = whole;
	bpf_ringbuf_submit(w, BPF_RB_NO_WAKEUP);
	return 0;
}
