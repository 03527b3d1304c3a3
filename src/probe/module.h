/* SPDX-License-Identifier: GPL-2.0-only */
/* module.h - private to probe/: the types (BTF) of a kernel module that is loaded. */
#ifndef BT_PROBE_MODULE_H
#define BT_PROBE_MODULE_H

#include <bpf/btf.h>
#include <stdbool.h>

struct module {
	struct btf *btf;	/* on top of the kernel's, which must outlive it; NULL: there is none */
	int fd;			/* the kernel's own object; -1 */
};

/* Looks for it. Returns 0, -ENOENT when the kernel has no types of a module of this name, or another negative errno. */
int module_open(struct module *m, const char *name, struct btf *kernel);
/* Also right for one that wasn't found. */
void module_close(struct module *m);
/* Is it loaded, with types or without? */
bool module_is_loaded(const char *name);

#endif
