/* SPDX-License-Identifier: GPL-2.0-only */
/* file_names.h - the names of files that were synced. A name comes once, so what was in use since the last turn stays. */
#ifndef BT_ANALYSE_LEDGER_FILE_NAMES_H
#define BT_ANALYSE_LEDGER_FILE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "util/hash_map.h"

struct inode {
	uint64_t ino;
	uint32_t dev;
	bool used;
	char *path;	/* NULL: not known (yet) */
	uint64_t epoch; /* when `group` was looked up */
	uint32_t group;
	uint32_t name; /* in the detail; 0: none */
};

struct inodes {
	struct inode *inode;
	struct hash_map map;
	uint32_t n, next;
};

void inodes_init(struct inodes *t);

/* NULL: there is none; and it doesn't count as used. */
struct inode *inodes_find(const struct inodes *t, uint32_t dev, uint64_t ino);

/* Made if there is none; then another may be forgotten. */
struct inode *inodes_use(struct inodes *t, uint32_t dev, uint64_t ino);

void inodes_free(struct inodes *t);

#endif
