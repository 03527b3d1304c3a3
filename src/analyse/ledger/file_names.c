// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/ledger/file_names.h"

#include <stdlib.h>

#include "util/mem.h"

#define INODES_MAX 32768u

static uint32_t free_inode(struct inodes *t)
{
	uint32_t i;

	if (t->n < INODES_MAX)
		return t->n++;
	while (t->inode[t->next].used) {
		t->inode[t->next].used = false;
		t->next = (t->next + 1) % INODES_MAX;
	}
	i = t->next;
	t->next = (i + 1) % INODES_MAX;
	hash_map_remove(&t->map, i);
	free(t->inode[i].path);
	return i;
}

struct inode *inodes_find(const struct inodes *t, uint32_t dev, uint64_t ino)
{
	HASH_MAP_EACH (&t->map, hash_words(ino, dev), i)
		if (t->inode[i].ino == ino && t->inode[i].dev == dev)
			return &t->inode[i];
	return NULL;
}

static struct inode *new_inode(struct inodes *t, uint32_t dev, uint64_t ino)
{
	uint32_t i = free_inode(t);

	t->inode[i] = (struct inode){ .ino = ino, .dev = dev };
	hash_map_add(&t->map, i, hash_words(ino, dev));
	return &t->inode[i];
}

struct inode *inodes_use(struct inodes *t, uint32_t dev, uint64_t ino)
{
	struct inode *e = inodes_find(t, dev, ino);

	if (!e)
		return new_inode(t, dev, ino);
	e->used = true;
	return e;
}

void inodes_init(struct inodes *t)
{
	t->inode = xcalloc(INODES_MAX, sizeof(*t->inode));
}

void inodes_free(struct inodes *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->inode[i].path);
	free(t->inode);
	hash_map_free(&t->map);
}
