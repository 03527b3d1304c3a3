// SPDX-License-Identifier: GPL-2.0-only
/* run_disks.c - which view counts what; disks that come and go. */
#include "run/run_internal.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "probe/heat_sampler.h"
#include "util/log.h"
#include "util/mem.h"

static struct sizes_disk size_of(const struct target *t)
{
	return (struct sizes_disk){ t->hw_queues, t->depth };
}

/* Its request slots, behind those of the disks before. Tags beyond them are told apart by no slot: see wire_view.overflow. */
void session_give_slots(struct session *s, struct disk *d, struct sizes_disk size)
{
	d->wire.hw_queues = size.hw_queues;
	d->wire.depth = size.depth < s->sizes.depth ? size.depth : s->sizes.depth;
	d->wire.slot_base = s->slots;
	s->slots += sizes_slots(&size, s->sizes.depth);
}

uint32_t session_disk_key(const struct disk *d)
{
	return d->wire.dev;
}

struct disk *session_disk(struct session *s, uint32_t dev)
{
	for (size_t i = 0; i < s->n_disks; i++)
		if (session_disk_key(&s->disk[i]) == dev)
			return &s->disk[i];
	return NULL;
}

static struct disk *add_disk(struct session *s, const struct target *t)
{
	uint32_t dev = WIRE_DEV(t->disk_major, t->disk_minor);
	struct disk *d = session_disk(s, dev);

	if (d)
		return d;
	d = grow((void **)&s->disk, &s->n_disks, sizeof(*d));
	memcpy(d->name, t->disk, sizeof(d->name));
	d->wire.dev = dev;
	d->wire.view = s->views++;
	d->size = size_of(t);
	session_give_slots(s, d, d->size);
	return d;
}

int session_track(struct session *s, const struct target *t, struct err *e)
{
	struct disk *d = add_disk(s, t);
	bool whole = t->major == t->disk_major && t->minor == t->disk_minor;
	struct tracked *k;

	if (!whole && d->wire.n_parts == WIRE_MAX_PARTS)
		return err_set(e, ENOSPC, EXIT_USAGE, "more than %d partitions of %s: name the disk instead",
			       WIRE_MAX_PARTS, d->name);
	k = grow((void **)&s->tracked, &s->n_tracked, sizeof(*k));
	k->t = *t;
	k->t.via = xstrdup(t->via);
	k->view = d->wire.view;
	if (!whole) {
		k->view = s->views++;
		d->wire.part_dev[d->wire.n_parts] = WIRE_DEV(t->major, t->minor);
		d->wire.part_view[d->wire.n_parts++] = k->view;
	}
	return 0;
}

/* Which traced disk without requests lies on which others: a FLUSH in these is a step of what it does. */
void session_link_stacks(struct session *s)
{
	for (size_t i = 0; i < s->n_tracked; i++) {
		const struct target *t = &s->tracked[i].t;

		for (size_t k = 0; t->bio_based && k < s->n_disks; k++)
			if (target_stands_on(t, s->disk[k].name))
				s->disk[k].wire.above = WIRE_DEV(t->disk_major, t->disk_minor);
	}
}

int session_tell_kernel(struct session *s, const struct disk *d)
{
	uint32_t dev = d->wire.dev;

	return bpf_map_update_elem(probes_maps(s->probes)->disks_fd, &dev, &d->wire, BPF_ANY);
}

void session_watch_heat(struct session *s, const struct tracked *k)
{
	const struct disk *disk = session_disk(s, WIRE_DEV(k->t.disk_major, k->t.disk_minor));
	struct heats_source from = { .view = k->view, .bio_based = k->t.bio_based };

	if (k->view == disk->wire.view) {
		from.n_parts = disk->wire.n_parts;
		memcpy(from.part_view, disk->wire.part_view, sizeof(from.part_view));
	}
	heats_add(s->heats, &from);
	if (s->carry)
		heats_add(s->turn.heats, &from);
}

/* ---- while it runs ---- */

/* Queues that were ignored before a disk came are looked at afresh. */
static void forget_ignored(struct session *s)
{
	struct wire_queue *q = probes_maps(s->probes)->queues;

	for (size_t i = 0; i < WIRE_MAX_QUEUES; i++)
		if (q[i].state == QUEUE_IGNORED)
			q[i].state = QUEUE_NEW;
}

static bool is_tracked(const struct session *s, const struct target *t)
{
	for (size_t i = 0; i < s->n_tracked; i++)
		if (s->tracked[i].t.major == t->major && s->tracked[i].t.minor == t->minor)
			return true;
	return false;
}

static void add_newcomer(struct session *s, const struct target *t)
{
	struct sizes_disk size = size_of(t);
	struct tracked *k;
	struct err e;

	if (s->views == s->sizes.views || s->slots + sizes_slots(&size, s->sizes.depth) > s->sizes.slots) {
		s->not_followed++;
		return;
	}
	if (session_track(s, t, &e))
		return;
	k = &s->tracked[s->n_tracked - 1];
	if (kernel_stat_read(&k->t, &k->before))
		k->vanished = true;
	k->at_step = k->at_turn = k->last = k->before;
	session_tell_kernel(s, &s->disk[s->n_disks - 1]);
	session_watch_heat(s, k);
	forget_ignored(s);
	log_verbose("%s appeared, tracing it", t->name);
}

static void look_for_newcomers(struct session *s)
{
	struct targets all = { 0 };
	struct err e;

	if (target_all(&all, &e))
		return;
	for (size_t i = 0; i < all.n; i++)
		if (!is_tracked(s, &all.t[i]) && !s->not_followed)
			add_newcomer(s, &all.t[i]);
	targets_free(&all);
}

void session_look_around(struct session *s)
{
	session_look_for_groups(s);
	for (size_t i = 0; i < s->n_tracked; i++) {
		struct tracked *k = &s->tracked[i];

		if (!k->vanished && kernel_stat_read(&k->t, &k->last))
			k->vanished = true;
	}
	if (s->opts.all)
		look_for_newcomers(s);
}
