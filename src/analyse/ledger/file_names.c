// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/ledger/file_names.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#define INODES_MAX 32768u
#define NONE	   (~0u)

static uint32_t *inode_head(const struct inodes *t, uint32_t dev, uint64_t ino)
{
	uint64_t h = (ino ^ (uint64_t)dev << 32) * 0x9e3779b97f4a7c15;

	return &t->head[(h >> 32) % INODES_MAX];
}

static void forget_inode(struct inodes *t, uint32_t i)
{
	struct inode *e = &t->inode[i];
	uint32_t *at = inode_head(t, e->dev, e->ino);

	while (*at != i)
		at = &t->inode[*at].chain;
	*at = e->chain;
	free(e->path);
}

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
	forget_inode(t, i);
	return i;
}

static struct inode *new_inode(struct inodes *t, uint32_t dev, uint64_t ino)
{
	uint32_t i = free_inode(t), *head = inode_head(t, dev, ino);

	t->inode[i] = (struct inode){ .ino = ino, .dev = dev, .chain = *head };
	*head = i;
	return &t->inode[i];
}

struct inode *inodes_find(const struct inodes *t, uint32_t dev, uint64_t ino)
{
	uint32_t i = *inode_head(t, dev, ino);

	while (i != NONE && (t->inode[i].ino != ino || t->inode[i].dev != dev))
		i = t->inode[i].chain;
	return i == NONE ? NULL : &t->inode[i];
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
	t->head = xcalloc(INODES_MAX, sizeof(*t->head));
	memset(t->head, 0xff, INODES_MAX * sizeof(*t->head));
}

void inodes_free(struct inodes *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->inode[i].path);
	free(t->inode);
	free(t->head);
}
