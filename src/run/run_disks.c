// SPDX-License-Identifier: GPL-2.0-only
/* run_disks.c - which view counts what; disks that come and go. */
#include "run/run_internal.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "probe/heat_sampler.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/num.h"

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
	d->n_slots = sizes_slots(&size, s->sizes.depth);
	s->slots += d->n_slots;
}

/* The slots of a disk that has gone. False: there is none, or they don't do. */
static bool take_over_slots(struct disk *d, const struct disk *from)
{
	uint32_t each = from && d->size.hw_queues ? from->n_slots / d->size.hw_queues : 0;

	if (!from || (d->size.hw_queues && each < 2))
		return false;
	d->wire.hw_queues = d->size.hw_queues;
	d->wire.depth = !each || d->size.depth < each ? d->size.depth : each - 1;
	d->wire.slot_base = from->wire.slot_base;
	d->n_slots = from->n_slots;
	return true;
}

uint32_t session_disk_key(const struct disk *d)
{
	return d->wire.dev;
}

struct disk *session_disk(struct session *s, uint32_t dev)
{
	for (size_t i = 0; i < s->n_disks; i++)
		if (session_disk_key(&s->disk[i]) == dev && !s->disk[i].gone)
			return &s->disk[i];
	return NULL;
}

/* Whose place a disk takes; NULL: nobody's. */
static const struct disk *disk_before(const struct session *s, uint32_t dev)
{
	for (size_t i = s->n_disks; i--;)
		if (session_disk_key(&s->disk[i]) == dev && s->disk[i].gone)
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
	d->wire.diskseq = t->diskseq;
	d->wire.view = s->views++;
	d->size = size_of(t);
	if (take_over_slots(d, disk_before(s, dev)))
		probes_clear_slots(s->probes, d->wire.slot_base, d->n_slots);
	else
		session_give_slots(s, d, d->size);
	return d;
}

/* "sda (diskseq 17)" where another disk has that name in the report; "sda (2)" where the kernel doesn't number them. */
static void give_name(const struct session *s, struct tracked *k)
{
	unsigned int n = 1;
	char more[32] = "";
	size_t room;

	for (size_t i = 0; i < s->n_tracked; i++)
		n += &s->tracked[i] != k && !strcmp(s->tracked[i].t.name, k->t.name);
	if (n > 1 && k->t.diskseq)
		snprintf(more, sizeof(more), " (diskseq %" PRIu64 ")", k->t.diskseq);
	else if (n > 1)
		snprintf(more, sizeof(more), " (%u)", n);
	room = sizeof(k->name) - strlen(more);
	snprintf(k->name, room, "%s", k->t.name);
	strcat(k->name, more);
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
	k->disk = (size_t)(d - s->disk);
	give_name(s, k);
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
	const struct disk *disk = &s->disk[k->disk];
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
	for (size_t i = 0; i < s->n_tracked; i++) {
		const struct tracked *k = &s->tracked[i];

		if (k->t.major == t->major && k->t.minor == t->minor && !s->disk[k->disk].gone)
			return true;
	}
	return false;
}

/* A partition of a disk that is not traced takes two views. */
static bool has_room(struct session *s, const struct target *t)
{
	uint32_t dev = WIRE_DEV(t->disk_major, t->disk_minor);
	bool whole = t->major == t->disk_major && t->minor == t->disk_minor, known = session_disk(s, dev);
	struct disk d = { .size = size_of(t) };

	if (s->views + !known + !whole > s->sizes.views)
		return false;
	return known || take_over_slots(&d, disk_before(s, dev)) ||
	       s->slots + sizes_slots(&d.size, s->sizes.depth) <= s->sizes.slots;
}

/* The kernel's counters after ours: what it has counted from then on we have, too. */
static void add_newcomer(struct session *s, const struct target *t)
{
	struct tracked *k;
	struct err e;

	if (!has_room(s, t)) {
		s->not_followed++;
		return;
	}
	if (session_track(s, t, &e))
		return;
	k = &s->tracked[s->n_tracked - 1];
	session_tell_kernel(s, &s->disk[k->disk]);
	forget_ignored(s);
	if (kernel_stat_read(&k->t, &k->before))
		k->vanished = true;
	k->at_step = k->at_turn = k->last = k->before;
	k->from_ns = clock_ns();
	session_watch_heat(s, k);
	log_verbose("%s appeared, tracing it", k->name);
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

/* Who names a disk means the name: what comes in its place is traced as well, apart from it. */
static void look_for_successors(struct session *s)
{
	for (size_t i = 0; i < s->n_tracked; i++) {
		struct targets now = { 0 };

		if (!s->disk[s->tracked[i].disk].gone || s->tracked[i].succeeded || target_again(&s->tracked[i].t, &now))
			continue;
		s->tracked[i].succeeded = true;
		if (!is_tracked(s, now.t))
			add_newcomer(s, now.t);
		targets_free(&now);
	}
}

/* A kernel that doesn't number its disks would take the next one under this dev_t for the one that has gone. */
static void forget_disk(struct session *s, struct disk *d)
{
	const struct wire_maps *m = probes_maps(s->probes);
	uint32_t dev = d->wire.dev;

	d->gone = true;
	log_verbose("%s has gone", d->name);
	if (d->wire.diskseq)
		return;
	bpf_map_delete_elem(m->disks_fd, &dev);
	for (size_t i = 0; i < WIRE_MAX_QUEUES; i++)
		if (m->queues[i].state == QUEUE_TRACED && m->queues[i].disk.dev == dev)
			m->queues[i].state = QUEUE_NEW;
}

/* The first disk that comes into an empty drive is the one that was meant. */
static void look_into_drive(struct session *s, struct tracked *k)
{
	uint64_t seq = k->t.diskseq ? 0 : target_diskseq(&k->t);

	if (!seq)
		return;
	k->t.diskseq = s->disk[k->disk].wire.diskseq = seq;
	session_tell_kernel(s, &s->disk[k->disk]);
}

static void look_at_disk(struct session *s, struct tracked *k)
{
	struct disk *d = &s->disk[k->disk];

	if (!d->gone && target_gone(&k->t))
		forget_disk(s, d);
	if (!d->gone)
		look_into_drive(s, k);
	if (d->gone || (!k->vanished && kernel_stat_read(&k->t, &k->last)))
		k->vanished = true;
}

void session_look_around(struct session *s)
{
	session_look_for_groups(s);
	for (size_t i = 0; i < s->n_tracked; i++)
		look_at_disk(s, &s->tracked[i]);
	if (s->opts.all)
		look_for_newcomers(s);
	else if (!s->not_followed)
		look_for_successors(s);
}

/* ---- for the report ---- */

void session_note_replaced(const struct session *s, uint64_t start_ns, struct report *r)
{
	for (size_t i = 0; i < s->n_tracked; i++) {
		const struct tracked *k = &s->tracked[i];

		if (strcmp(k->name, k->t.name) && k->from_ns > start_ns)
			strv_add(&r->notes,
				 xasprintf("%s was replaced during the run: \"%s\" is another disk, traced from %s on; what it "
					   "did before is not counted. The kernel's counters of the disk before went with it, so "
					   "its counts can't be compared",
					   k->t.name, k->name, num_duration(k->from_ns - start_ns, 0).s));
	}
}
