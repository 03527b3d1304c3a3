/* SPDX-License-Identifier: GPL-2.0-only */
/* module_btf.h - private to probe/: kernel modules that are loaded. */
#ifndef BT_PROBE_MODULE_BTF_H
#define BT_PROBE_MODULE_BTF_H

#include <stdbool.h>

/* The kernel's object with the types (BTF) of a module, open; -ENOENT when it has none of this name, or another negative errno. */
int module_types(const char *name);
/* Is it loaded, with types or without? */
bool module_is_loaded(const char *name);

#endif
