/* SPDX-License-Identifier: GPL-2.0-only */
/* object.h - the BPF programs of an object file, and what each of their instructions needs of a kernel. */
#ifndef BT_BTF_OBJECT_H
#define BT_BTF_OBJECT_H

#include <bpf/btf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include "image.h"

enum { NOT_CALLED = -1, NOT_CONFIG = -1 };

/* Executable section. */
struct code {
	const char *name;
	size_t elf_index;
	struct bpf_insn *insn;
	size_t n;
	int *calls;		/* per instruction: number of the function that it calls or hands over, or NOT_CALLED */
	const char **kfunc;	/* per instruction: kernel function that it calls, or NULL */
	bool *weak;		/* ... that may be missing */
	int *config;		/* per instruction: offset in the programs' settings that it points to, or NOT_CONFIG */
	const struct bpf_core_relo **relo;	/* per instruction: what it asks of the kernel's types, or NULL */
};

struct function {
	const char *name;
	size_t code, start, n;	/* instructions */
	bool program;		/* else a function that programs call */
	bool global;		/* verified even where no reachable call leads to it */
};

struct object {
	struct image img;
	struct btf *btf;
	size_t config_size;	/* of the settings in read-only data, the variable cfg; 0: none */
	struct code *code;
	size_t n_code;
	struct function *function;
	size_t n_functions;
	const struct bpf_core_relo *relos[4096];	/* all of them */
	size_t n_relos;
	unsigned int map_type[64];
	size_t n_map_types;
};

/* Fails with one line on stderr. */
int object_open(struct object *o, const char *path);
void object_close(struct object *o);

#endif
