// SPDX-License-Identifier: GPL-2.0-only
/* run_disks.c - which view counts what; disks that come and go. */
#include "run/run_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "probe/heat_sampler.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/num.h"

static struct sizes_disk size_of(const struct target *t)
{
	return (struct sizes_disk){ t->hw_queues, t->depth };
}

/* Its request slots, behind those of the disks before. Tags beyond them are told apart by no slot: see wire_view.overflow. */
void run_give_slots(struct traced_run *run, struct disk *d, struct sizes_disk size)
{
	d->wire.hw_queues = size.hw_queues;
	d->wire.depth = size.depth < run->sizes.depth ? size.depth : run->sizes.depth;
	d->wire.slot_base = run->slots;
	d->n_slots = sizes_slots(&size, run->sizes.depth);
	run->slots += d->n_slots;
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

struct disk *run_disk(struct traced_run *run, uint32_t dev)
{
	for (size_t i = 0; i < run->n_disks; i++)
		if (run->disk[i].wire.dev == dev && !run->disk[i].gone)
			return &run->disk[i];
	return NULL;
}

/* Whose place a disk takes; NULL: nobody's. */
static const struct disk *disk_before(const struct traced_run *run, uint32_t dev)
{
	for (size_t i = run->n_disks; i--;)
		if (run->disk[i].wire.dev == dev && run->disk[i].gone)
			return &run->disk[i];
	return NULL;
}

static struct disk *add_disk(struct traced_run *run, const struct target *t)
{
	uint32_t dev = WIRE_DEV(t->disk_major, t->disk_minor);
	struct disk *d = run_disk(run, dev);

	if (d)
		return d;
	d = grow((void **)&run->disk, &run->n_disks, sizeof(*d));
	memcpy(d->name, t->disk, sizeof(d->name));
	d->wire.dev = dev;
	d->wire.diskseq = t->diskseq;
	d->wire.view = run->views++;
	d->size = size_of(t);
	if (take_over_slots(d, disk_before(run, dev)))
		probes_clear_slots(run->probes, d->wire.slot_base, d->n_slots);
	else
		run_give_slots(run, d, d->size);
	return d;
}

/* "sda (diskseq 17)" where another disk has that name in the report; "sda (2)" where the kernel doesn't number them. */
static void give_name(const struct traced_run *run, struct tracked *k)
{
	unsigned int n = 1;
	char more[32] = "";
	size_t room;

	for (size_t i = 0; i < run->n_tracked; i++)
		n += &run->tracked[i] != k && !strcmp(run->tracked[i].t.name, k->t.name);
	if (n > 1 && k->t.diskseq)
		snprintf(more, sizeof(more), " (diskseq %" PRIu64 ")", k->t.diskseq);
	else if (n > 1)
		snprintf(more, sizeof(more), " (%u)", n);
	room = sizeof(k->name) - strlen(more);
	snprintf(k->name, room, "%s", k->t.name);
	strcat(k->name, more);
}

int run_track(struct traced_run *run, const struct target *t, struct err *e)
{
	struct disk *d = add_disk(run, t);
	bool whole = t->major == t->disk_major && t->minor == t->disk_minor;
	struct tracked *k;

	if (!whole && d->wire.n_parts == WIRE_MAX_PARTS)
		return err_set(e, ENOSPC, EXIT_USAGE, "more than %d partitions of %s: name the disk instead",
			       WIRE_MAX_PARTS, d->name);
	k = grow((void **)&run->tracked, &run->n_tracked, sizeof(*k));
	k->t = *t;
	k->t.via = xstrdup(t->via);
	k->disk = (size_t)(d - run->disk);
	give_name(run, k);
	k->view = d->wire.view;
	if (!whole) {
		k->view = run->views++;
		d->wire.part_dev[d->wire.n_parts] = WIRE_DEV(t->major, t->minor);
		d->wire.part_view[d->wire.n_parts++] = k->view;
	}
	return 0;
}

/* Which traced disk without requests lies on which others: a FLUSH in these is a step of what it does. */
void run_link_stacks(struct traced_run *run)
{
	for (size_t i = 0; i < run->n_tracked; i++) {
		const struct target *t = &run->tracked[i].t;

		for (size_t k = 0; t->bio_based && k < run->n_disks; k++)
			if (target_stands_on(t, run->disk[k].name))
				run->disk[k].wire.above = WIRE_DEV(t->disk_major, t->disk_minor);
	}
}

void run_watch_heat(struct traced_run *run, const struct tracked *k)
{
	const struct disk *disk = &run->disk[k->disk];
	struct heats_source from = { .view = k->view, .bio_based = k->t.bio_based };

	if (k->view == disk->wire.view) {
		from.n_parts = disk->wire.n_parts;
		memcpy(from.part_view, disk->wire.part_view, sizeof(from.part_view));
	}
	heats_add(run->heats, &from);
	if (run->carry)
		heats_add(run->turn.heats, &from);
}

/* ---- while it runs ---- */

static bool is_tracked(const struct traced_run *run, const struct target *t)
{
	for (size_t i = 0; i < run->n_tracked; i++) {
		const struct tracked *k = &run->tracked[i];

		if (k->t.major == t->major && k->t.minor == t->minor && !run->disk[k->disk].gone)
			return true;
	}
	return false;
}

/* A partition of a disk that is not traced takes two views. */
static bool has_room(struct traced_run *run, const struct target *t)
{
	uint32_t dev = WIRE_DEV(t->disk_major, t->disk_minor);
	bool whole = t->major == t->disk_major && t->minor == t->disk_minor, known = run_disk(run, dev);
	struct disk d = { .size = size_of(t) };

	if (run->views + !known + !whole > run->sizes.views)
		return false;
	return known || take_over_slots(&d, disk_before(run, dev)) ||
	       run->slots + sizes_slots(&d.size, run->sizes.depth) <= run->sizes.slots;
}

/* The kernel's counters after ours: what it has counted from then on we have, too. */
static void add_newcomer(struct traced_run *run, const struct target *t)
{
	struct tracked *k;
	struct err e;

	if (!has_room(run, t)) {
		run->not_followed++;
		return;
	}
	if (run_track(run, t, &e))
		return;
	k = &run->tracked[run->n_tracked - 1];
	probes_tell_disk(run->probes, &run->disk[k->disk].wire);
	probes_look_at_queues(run->probes);
	if (kernel_stat_read(&k->t, &k->before))
		k->vanished = true;
	k->at_step = k->at_turn = k->last = k->before;
	k->from_ns = clock_ns();
	run_watch_heat(run, k);
	run->places_changed = true;
	notice(&run->opts.notices, NOTICE_DETAIL, "%s appeared, tracing it", k->name);
}

static void look_for_newcomers(struct traced_run *run)
{
	struct targets all = { 0 };
	struct err e;

	if (target_all(&all, &e))
		return;
	for (size_t i = 0; i < all.n; i++)
		if (!is_tracked(run, &all.t[i]) && !run->not_followed)
			add_newcomer(run, &all.t[i]);
	targets_free(&all);
}

/* Who names a disk means the name: what comes in its place is traced as well, apart from it. */
static void look_for_successors(struct traced_run *run)
{
	for (size_t i = 0; i < run->n_tracked; i++) {
		struct targets now = { 0 };

		if (!run->disk[run->tracked[i].disk].gone || run->tracked[i].succeeded ||
		    target_again(&run->tracked[i].t, &now))
			continue;
		run->tracked[i].succeeded = true;
		if (!is_tracked(run, now.t))
			add_newcomer(run, now.t);
		targets_free(&now);
	}
}

/* A kernel that doesn't number its disks would take the next one under this dev_t for the one that has gone. */
static void forget_disk(struct traced_run *run, struct disk *d)
{
	d->gone = true;
	notice(&run->opts.notices, NOTICE_DETAIL, "%s has gone", d->name);
	if (!d->wire.diskseq)
		probes_drop_disk(run->probes, d->wire.dev);
}

/* The first disk that comes into an empty drive is the one that was meant. */
static void look_into_drive(struct traced_run *run, struct tracked *k)
{
	uint64_t seq = k->t.diskseq ? 0 : target_diskseq(&k->t);

	if (!seq)
		return;
	k->t.diskseq = run->disk[k->disk].wire.diskseq = seq;
	probes_tell_disk(run->probes, &run->disk[k->disk].wire);
}

static void look_at_disk(struct traced_run *run, struct tracked *k)
{
	struct disk *d = &run->disk[k->disk];

	if (!d->gone && target_gone(&k->t))
		forget_disk(run, d);
	if (!d->gone)
		look_into_drive(run, k);
	if (d->gone || (!k->vanished && kernel_stat_read(&k->t, &k->last)))
		k->vanished = true;
}

void run_rescan(struct traced_run *run)
{
	run_look_for_groups(run);
	for (size_t i = 0; i < run->n_tracked; i++)
		look_at_disk(run, &run->tracked[i]);
	if (run->opts.all)
		look_for_newcomers(run);
	else if (!run->not_followed)
		look_for_successors(run);
	run_places_look(run);
}

/* ---- for the report ---- */

void run_note_replaced(const struct traced_run *run, uint64_t start_ns, struct report *r)
{
	for (size_t i = 0; i < run->n_tracked; i++) {
		const struct tracked *k = &run->tracked[i];

		if (strcmp(k->name, k->t.name) && k->from_ns > start_ns)
			strv_add(&r->notes,
				 xasprintf("%s was replaced during the run: \"%s\" is another disk, traced from %s on; what it "
					   "did before is not counted. The kernel's counters of the disk before went with it, so "
					   "its counts can't be compared",
					   k->t.name, k->name, num_duration(k->from_ns - start_ns, 0).s));
	}
}
