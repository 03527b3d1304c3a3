// SPDX-License-Identifier: GPL-2.0-only
/* stack.c - the layers that a word means: the devices below it, and what stands on those. */
#include "doctor/doctor_internal.h"

#include <stdlib.h>
#include <string.h>

#include "host/sysfs.h"
#include "host/target.h"
#include "util/mem.h"

#define DEPTH_MAX 16 /* devices on devices: deeper ones are mistakes */

static bool layer_is_there(const struct diagnosis *d, enum diag_kind kind, const char *name)
{
	for (size_t i = 0; i < d->n_layers; i++)
		if (d->layer[i].kind == kind && !strcmp(d->layer[i].name, name))
			return true;
	return false;
}

static struct diag_layer *add_layer(struct diagnosis *d, enum diag_kind kind, const char *name)
{
	struct diag_layer *l = grow((void **)&d->layer, &d->n_layers, sizeof(*l));

	l->kind = kind;
	l->name = xstrdup(name);
	return l;
}

static void add_fs(struct diagnosis *d, const char *dir, const char *fstype, const char *options, char *const *names)
{
	struct diag_layer *l;

	if (layer_is_there(d, DIAG_FS, dir))
		return;
	l = add_layer(d, DIAG_FS, dir);
	l->fstype = xstrdup(fstype);
	l->options = xstrdup(options);
	l->below = strv_dup(names);
}

static enum diag_kind kind_of(const char *name)
{
	if (block_has(name, "partition"))
		return DIAG_PARTITION;
	if (block_has(name, "dm"))
		return DIAG_DM;
	if (block_has(name, "md"))
		return DIAG_MD;
	return block_has(name, "loop") ? DIAG_LOOP : DIAG_DISK;
}

/* The devices under a path; without one, its file system. */
static char **devices_of_path(struct diagnosis *d, const char *path)
{
	struct mount_origin o = { 0 };
	char **names = NULL;

	if (mount_origin(path, &o))
		return NULL;
	names = strv_dup(o.names);
	if (!names && o.dir) {
		add_fs(d, o.dir, o.fstype, o.options, NULL);
		strv_add(&names, xstrdup(o.dir));
	}
	mount_origin_free(&o);
	return names;
}

/* What a device stands on, by its own word. */
static char **names_below(struct diagnosis *d, const char *name)
{
	char disk[BLOCK_NAME_LEN], **below = NULL, *file;

	switch (kind_of(name)) {
	case DIAG_PARTITION:
		if (block_disk(name, disk))
			strv_add(&below, xstrdup(disk));
		return below;
	case DIAG_LOOP:
		file = block_text(name, "loop/backing_file");
		below = file ? devices_of_path(d, file) : NULL;
		free(file);
		return below;
	default: return block_slaves(name);
	}
}

/* The device and all that it stands on. */
static void add_device(struct diagnosis *d, const char *name, unsigned int depth)
{
	enum diag_kind kind = kind_of(name);
	unsigned int major, minor;
	struct diag_layer *l;
	char **below;
	size_t at;

	if (depth > DEPTH_MAX || layer_is_there(d, kind, name) || !block_dev(name, &major, &minor))
		return;
	l = add_layer(d, kind, name);
	l->major = major;
	l->minor = minor;
	at = d->n_layers - 1;
	below = names_below(d, name);
	d->layer[at].below = below;
	for (size_t i = 0; below && below[i]; i++) {
		char *copy = xstrdup(below[i]);

		add_device(d, copy, depth + 1);
		free(copy);
	}
}

struct mounted_on {
	const char *name; /* a device's */
	bool found;
};

static void is_mounted_on(void *ctx, const struct mounted *m)
{
	struct mounted_on *q = ctx;

	q->found = q->found || strv_has(m->names, q->name);
}

static bool is_used(const char *name)
{
	char **holders = block_list(name, "holders");
	struct mounted_on q = { .name = name, .found = holders != NULL };

	strv_free(holders);
	if (!q.found)
		mounts_each(is_mounted_on, &q);
	return q.found;
}

/* What stands on a device: its holders, and those of its partitions that are in use. */
static void add_above(struct diagnosis *d, const char *name)
{
	char **inside = block_list(name, "holders");

	for (size_t i = 0; inside && inside[i]; i++)
		add_device(d, inside[i], 0);
	strv_free(inside);
	inside = block_list(name, "");
	for (size_t i = 0; inside && inside[i]; i++) {
		char *attribute = xasprintf("%s/partition", inside[i]);

		if (block_has(name, attribute) && is_used(inside[i]))
			add_device(d, inside[i], 0);
		free(attribute);
	}
	strv_free(inside);
}

static void add_mounted(void *ctx, const struct mounted *m)
{
	struct diagnosis *d = ctx;

	for (size_t i = 0; m->names && m->names[i]; i++) {
		if (diag_layer_named(d, m->names[i])) {
			add_fs(d, m->dir, m->fstype, m->options, m->names);
			return;
		}
	}
}

/* ---- order ---- */

/* How many layers are below, at most. */
static unsigned int height(const struct diagnosis *d, const struct diag_layer *l, unsigned int depth)
{
	unsigned int most = 0;

	for (size_t i = 0; depth < DEPTH_MAX && l->below && l->below[i]; i++) {
		const struct diag_layer *below = diag_layer_named(d, l->below[i]);
		unsigned int h = below && below != l ? 1 + height(d, below, depth + 1) : 1;

		most = h > most ? h : most;
	}
	return most;
}

static void sort_layers(struct diagnosis *d)
{
	unsigned int *rank = xcalloc(d->n_layers + 1, sizeof(*rank));

	for (size_t i = 0; i < d->n_layers; i++)
		rank[i] = height(d, &d->layer[i], 0);
	for (size_t i = 1; i < d->n_layers; i++) {
		struct diag_layer l = d->layer[i];
		unsigned int r = rank[i];
		size_t at = i;

		for (; at && (r > rank[at - 1] || (r == rank[at - 1] && strverscmp(l.name, d->layer[at - 1].name) < 0));
		     at--) {
			d->layer[at] = d->layer[at - 1];
			rank[at] = rank[at - 1];
		}
		d->layer[at] = l;
		rank[at] = r;
	}
	free(rank);
}

/* ---- the word ---- */

/* An overlay has no device, and options of its own. */
static void add_overlay(struct diagnosis *d, const char *word)
{
	struct mount_origin o = { 0 };
	char **names = NULL;

	if (mount_origin(word, &o))
		return;
	for (size_t i = 0; o.below && i < d->n_layers; i++)
		strv_add(&names, xstrdup(d->layer[i].name));
	if (o.below)
		add_fs(d, o.dir ? o.dir : word, o.fstype, o.options, names);
	strv_free(names);
	mount_origin_free(&o);
}

int stack_find(const char *word, struct diagnosis *d, struct err *e)
{
	struct targets t = { 0 };
	int err = word ? target_resolve(word, &t, e) : target_all(&t, e);

	if (err)
		return err;
	for (size_t i = 0; i < t.n; i++)
		add_device(d, t.t[i].name, 0);
	if (word)
		add_overlay(d, word);
	for (size_t i = 0; i < d->n_layers; i++) {
		/* the array moves while it grows */
		char *name = xstrdup(d->layer[i].name);

		if (d->layer[i].kind != DIAG_FS)
			add_above(d, name);
		free(name);
	}
	mounts_each(add_mounted, d);
	sort_layers(d);
	add_layer(d, DIAG_MACHINE, "machine");
	targets_free(&t);
	return 0;
}
