/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * btf_subset.h - private to probe/: the running kernel's types (BTF), read once, and of them only what the programs and the plan ask for.
 *
 * A kernel has 100,000 types and more. libbpf looks through all of them once for each type that a program names, for each program's
 * target, and for each object that is loaded anew: longer than all the rest of a start takes. What is kept here are some
 * hundreds: the types of the names that were asked for and all that lies in them; pointers in them point to nothing, since a
 * relocation never goes through one.
 */
#ifndef BT_PROBE_BTF_SUBSET_H
#define BT_PROBE_BTF_SUBSET_H

#include <bpf/btf.h>
#include <stdbool.h>

struct types;

/* A place for them, whose path can be given to libbpf before it is filled. NULL: errno says why. */
struct types *types_new(void);
void types_free(struct types *t); /* NULL is fine */
const char *types_path(const struct types *t);

/* Asks for what has this name: structures, unions, enumerations (or one of their values), typedefs, functions. */
void types_ask(struct types *t, const char *name);

/* Reads the kernel's types. Returns 0 or a negative errno. */
int types_read(struct types *t);
/* And those of a kernel module, for the names asked for that the kernel itself hasn't got. */
void types_read_module(struct types *t, const char *name);
/* How that went: 0, -ENOENT when there are no types of a module of this name, or another negative errno. */
int types_module(const struct types *t, const char *name);
/* Has what was read a type of this name and kind? */
bool types_have(const struct types *t, const char *name, __u32 kind);

/* Afterwards it can be used as libbpf does: as types, or by its path. */
int types_fill(struct types *t);
const struct btf *types_btf(const struct types *t);

/* What a program attaches to: the kernel's own number of a type, and the object it is in (0: the kernel itself). */
struct types_target {
	int id;
	int object; /* stays open as long as the types */
};

/* Returns 0 or -ENOENT. */
int types_target(const struct types *t, const char *name, __u32 kind, struct types_target *target);

#endif
