/* SPDX-License-Identifier: GPL-2.0-only */
/* kernel.h - what a kernel has, by its BTF: the image's types, and on top of them those of its modules. */
#ifndef BT_BTF_KERNEL_H
#define BT_BTF_KERNEL_H

#include <bpf/btf.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/buf.h"

struct kernel {
	const char *label;	/* how it is called in the output; points into the path */
	struct btf **btf;	/* [0]: the image's; owned */
	size_t n;
	size_t bare;		/* modules without BTF */
	struct kernel_entry *entry;	/* all named types, chained by name */
	size_t n_entries;
	size_t *head;
};

/* A type in one of the kernel's BTFs. */
struct ktype {
	const struct btf *btf;
	__u32 id;
	bool module;
};

/*
 * Reads a kernel: a file (an ELF image, a flat image with BTF in it, or BTF alone), or a directory with such a file
 * as vmlinux and modules beside it (/sys/kernel/btf is one). Speaks to stderr, one line, and returns -1 if it can't
 * be used.
 */
int kernel_open(struct kernel *k, const char *path);
void kernel_close(struct kernel *k);

/*
 * Types of this name up to a ___suffix, of the kinds in the mask (1 << BTF_KIND_x): the image's, else those of
 * modules, as libbpf looks for them. At most `max` are stored; returns how many.
 */
size_t kernel_named(const struct kernel *k, const char *name, unsigned int kinds, struct ktype *out, size_t max);

/* Length of a type's name without its ___suffix. */
size_t essential_len(const char *name);

/* Through typedefs, const, volatile, ...; NULL when the BTF is damaged. */
const struct btf_type *type_skip(const struct btf *btf, __u32 id, __u32 *out_id);

/* "struct bio *", "unsigned int", "struct list_head[2]": typedefs and qualifiers are left out. */
void type_describe(struct buf *b, const struct btf *btf, __u32 id);

/*
 * The form of a tracepoint "(struct request *)" or of a function "int (struct file *)", and how many arguments it
 * has; -1: there is none.
 */
int kernel_tracepoint(const struct kernel *k, const char *name, struct buf *form, bool *module);
int kernel_function(const struct kernel *k, const char *name, struct buf *form);

/* The value of an enumerator of any enum of the image; with `in`, of that enum only. */
bool kernel_enumerator(const struct kernel *k, const char *in, const char *name, long long *value);

/* Has the image's enum of this name an enumerator of this value? */
bool kernel_enum_has(const struct kernel *k, const char *in, long long value);

#endif
