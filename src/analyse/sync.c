// SPDX-License-Identifier: GPL-2.0-only
/*
 * sync.c - the facts' way in, what the calls' ledgers add up to, and the report. Everything below struct totals starts
 * afresh with each interval; names of files, sleeps and requests stay.
 */
#include "sync.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "detail.h"
#include "hist.h"
#include "mem.h"
#include "tally.h"
#include "timeline.h"
#include "walk.h"
#include "whatif.h"

#define FILES_MAX	2048u	/* files and processes with a line of their own (in a report 9 KiB each) */
#define PROCESSES_MAX	1024u
#define LEAVES_MAX	8192u	/* leaves with their file's name (some 1 KiB each); beyond, without */
#define LEAVES_END	9216u	/* beyond, only causes are told apart */
#define LEAF_SLOTS	32768u
#define INODES_MAX	32768u	/* names of files that are remembered */
#define NONE		(~0u)
#define CALL_MAX_NS	(1ull << 56)	/* two years: more is damage, and sums of calls must not overflow */
#define OTHER		0u	/* first entry of each table of groups: those that have no line of their own */

/* ---- types ---- */

/* What is summed over the calls of one process, or on one file. */
struct group {
	uint32_t id;		/* tgid, or kernel dev_t */
	char *text;		/* comm, or path */
	uint64_t count, total_ns;
	struct ledger ledger;
	struct tally latency;
};

struct groups {
	struct group **group;
	uint32_t n, max;
	uint32_t *slot;		/* index; OTHER: empty */
	uint32_t n_slots;	/* a power of two, at least 4 * max: a renamed file leaves its old slot behind */
	const char *other;
};

/* No padding: compared and hashed as bytes. */
struct leaf_key {
	char comm[16];
	uint32_t file;		/* index of a group */
	uint32_t via, dev;
	uint16_t call, cause;
};
_Static_assert(sizeof(struct leaf_key) == 32, "padding");

struct leaf {
	uint64_t ns;
	struct tally each;
};

struct leaf_slot {
	uint32_t leaf;		/* index + 1; 0: empty */
	uint32_t hash;		/* of its key: most others are passed over without a look at them */
};

struct slow {
	struct wire_sync call;
	char *path;
	struct ledger ledger;
};

/* The name of a file that was synced. It comes once, so what was in use since the last turn stays. */
struct inode {
	uint64_t ino;
	uint32_t dev;
	uint32_t chain;		/* next of the same hash */
	bool used;
	char *path;		/* NULL: not known (yet) */
	uint64_t epoch;		/* when `group` was looked up */
	uint32_t group;
	uint32_t name;		/* in the detail; 0: none */
};

struct totals {
	uint64_t count, total_ns, calls[CALL_COUNT], no_ledger;
	uint64_t flush_own_ns, flush_foreign_ns, busy_in_flight, busy_flushes, unflushed;
	struct ledger ledger;
	struct hist latency;
};

struct sync_analysis {
	struct sync_opts opts;
	struct sync_device *device;	/* by number */
	struct timeline *tl;
	struct walk *walk;
	struct whatif *whatif;
	uint64_t damaged;
	uint64_t epoch;			/* steps when groups are thrown away */

	struct inode *inode;		/* INODES_MAX */
	uint32_t *inode_hash;
	uint32_t n_inodes, next_inode;

	struct totals totals;
	struct groups processes, files;
	struct leaf **leaf;
	struct leaf_key *leaf_key;	/* beside them: to look for one is not to touch all others */
	uint32_t n_leaves;
	struct leaf_slot *leaf_slot;
	struct slow *slow;		/* a heap, the fastest on top */
	size_t n_slow;
	struct heat heat;		/* of the calls */
	struct detail *detail;		/* NULL: not wanted */
};

_Static_assert(sizeof(((struct report_sync *)0)->calls) == CALL_COUNT * sizeof(uint64_t), "calls differ");

/* ---- devices ---- */

static int device_order(const void *a, const void *b)
{
	const struct sync_device *x = a, *y = b;

	return (x->dev > y->dev) - (x->dev < y->dev);
}

static const struct sync_device *device(const struct sync_analysis *a, uint32_t dev)
{
	size_t lo = 0, hi = a->opts.n_devices;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (a->device[mid].dev == dev)
			return &a->device[mid];
		if (a->device[mid].dev < dev)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

static const char *device_label(const struct sync_analysis *a, uint32_t dev, char label[32])
{
	const struct sync_device *d = device(a, dev);

	if (d)
		snprintf(label, 32, "%.31s", d->name);
	else
		snprintf(label, 32, "%u:%u", WIRE_MAJOR(dev), WIRE_MINOR(dev));
	return dev ? label : "";
}

static void device_text(const struct sync_analysis *a, uint32_t dev, struct buf *b)
{
	char label[32];

	device_label(a, dev, label);
	buf_str(b, label);
}

/* ---- names of files ---- */

static uint32_t *inode_head(const struct sync_analysis *a, uint32_t dev, uint64_t ino)
{
	uint64_t h = (ino ^ (uint64_t)dev << 32) * 0x9e3779b97f4a7c15;

	return &a->inode_hash[(h >> 32) % INODES_MAX];
}

static void forget_inode(struct sync_analysis *a, uint32_t i)
{
	struct inode *e = &a->inode[i];
	uint32_t *at = inode_head(a, e->dev, e->ino);

	while (*at != i)
		at = &a->inode[*at].chain;
	*at = e->chain;
	free(e->path);
}

static uint32_t free_inode(struct sync_analysis *a)
{
	uint32_t i;

	if (a->n_inodes < INODES_MAX)
		return a->n_inodes++;
	while (a->inode[a->next_inode].used) {
		a->inode[a->next_inode].used = false;
		a->next_inode = (a->next_inode + 1) % INODES_MAX;
	}
	i = a->next_inode;
	a->next_inode = (i + 1) % INODES_MAX;
	forget_inode(a, i);
	return i;
}

static struct inode *new_inode(struct sync_analysis *a, uint32_t dev, uint64_t ino)
{
	uint32_t i = free_inode(a), *head = inode_head(a, dev, ino);

	a->inode[i] = (struct inode){ .ino = ino, .dev = dev, .chain = *head };
	*head = i;
	return &a->inode[i];
}

static struct inode *inode(struct sync_analysis *a, uint32_t dev, uint64_t ino)
{
	for (uint32_t i = *inode_head(a, dev, ino); i != NONE; i = a->inode[i].chain) {
		if (a->inode[i].ino == ino && a->inode[i].dev == dev) {
			a->inode[i].used = true;
			return &a->inode[i];
		}
	}
	return new_inode(a, dev, ino);
}

/* "/srv/db/.../wal/0001": where the file system is mounted, then the components that are known */
static char *file_path(const struct sync_analysis *a, const struct wire_file *w)
{
	const struct sync_device *d = device(a, w->dev);
	struct buf b = { 0 };

	if (d && strcmp(d->mount, "/"))
		buf_add(&b, d->mount, strnlen(d->mount, sizeof(d->mount)));
	if (!w->whole)
		buf_str(&b, "/...");
	for (int i = w->n; i-- > 0;) {
		buf_char(&b, '/');
		buf_add(&b, w->name[i], strnlen(w->name[i], WIRE_NAME));
	}
	if (!b.len)
		buf_char(&b, '/');
	return b.data;
}

/* ---- groups ---- */

static uint32_t hash_group(uint32_t id, const char *text)
{
	uint64_t h = id + 0x9e3779b97f4a7c15;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3;
	return (uint32_t)(h ^ h >> 32);
}

static uint32_t add_group(struct groups *g, uint32_t id, const char *text)
{
	struct group *new = xcalloc(1, sizeof(*new));

	new->id = id;
	new->text = xstrdup(text);
	g->group[g->n] = new;
	return g->n++;
}

/* The slot of a group; an empty one if there is none. */
static uint32_t *group_slot(const struct groups *g, uint32_t id, const char *text)
{
	uint32_t h = hash_group(id, text) & (g->n_slots - 1);

	for (; g->slot[h] != OTHER; h = (h + 1) & (g->n_slots - 1)) {
		const struct group *have = g->group[g->slot[h]];

		if (have->id == id && !strcmp(have->text, text))
			break;
	}
	return &g->slot[h];
}

static uint32_t find_group(struct groups *g, uint32_t id, const char *text)
{
	uint32_t *slot = group_slot(g, id, text);

	if (*slot == OTHER && g->n < g->max)
		*slot = add_group(g, id, text);
	return *slot;
}

static void clear_groups(struct groups *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		tally_free(&g->group[i]->latency);
		free(g->group[i]->text);
		free(g->group[i]);
	}
	g->n = 0;
	memset(g->slot, 0, g->n_slots * sizeof(*g->slot));
	add_group(g, 0, g->other);
}

static void new_groups(struct groups *g, uint32_t max, const char *other)
{
	g->max = max;
	g->n_slots = 4 * max;
	g->other = other;
	g->group = xcalloc(max, sizeof(*g->group));
	g->slot = xcalloc(g->n_slots, sizeof(*g->slot));
	clear_groups(g);
}

static void free_groups(struct groups *g)
{
	clear_groups(g);
	free(g->group[OTHER]->text);
	free(g->group[OTHER]);
	free(g->group);
	free(g->slot);
}

static void group_add(struct group *g, uint64_t ns, const struct ledger *l)
{
	g->count++;
	g->total_ns += ns;
	ledger_add(&g->ledger, l);
	tally_add(&g->latency, ns);
}

/* ---- files ---- */

static void inode_text(const struct sync_analysis *a, const struct wire_sync *s, char text[64])
{
	char label[32];

	if (s->ino == WIRE_INO_DISK)
		snprintf(text, 64, "/dev/%s", device_label(a, s->dev, label));
	else if (s->ino)
		snprintf(text, 64, "%u:%u:%llu", WIRE_MAJOR(s->dev), WIRE_MINOR(s->dev), (unsigned long long)s->ino);
	else
		snprintf(text, 64, "(no file)");
}

/* What the call will be added to, while it is walked. */
static void prefetch_groups(const struct sync_analysis *a, const struct wire_sync *s)
{
	uint32_t i = *inode_head(a, s->dev, s->ino);
	const struct group *g;

	while (i != NONE && (a->inode[i].ino != s->ino || a->inode[i].dev != s->dev))
		i = a->inode[i].chain;
	if (i == NONE || a->inode[i].epoch != a->epoch)
		return;
	g = a->files.group[a->inode[i].group];
	__builtin_prefetch(&g->count, 1);
	for (size_t at = 0; at < sizeof(g->ledger); at += 64)
		__builtin_prefetch((const char *)&g->ledger + at, 1);
	__builtin_prefetch(&g->latency, 1);
}

static uint32_t file_of(struct sync_analysis *a, const struct wire_sync *s)
{
	struct inode *e = inode(a, s->dev, s->ino);
	char text[64];

	if (e->epoch != a->epoch) {
		inode_text(a, s, text);
		e->group = find_group(&a->files, s->dev, e->path ? e->path : text);
		e->epoch = a->epoch;
	}
	return e->group;
}

/* The name came after calls that it belongs to: they get it too, unless another inode has that name already. */
static void rename_group(struct sync_analysis *a, const struct inode *e)
{
	struct groups *g = &a->files;
	uint32_t *slot;

	if (e->epoch != a->epoch || e->group == OTHER)
		return;
	slot = group_slot(g, e->dev, e->path);
	if (*slot != OTHER)
		return;
	free(g->group[e->group]->text);
	g->group[e->group]->text = xstrdup(e->path);
	*slot = e->group;
}

static bool feed_file(struct sync_analysis *a, const struct wire_file *w)
{
	struct inode *e;
	bool late;

	if (!w->ino || w->n > WIRE_NAMES)
		return false;
	e = inode(a, w->dev, w->ino);
	late = !e->path;
	free(e->path);
	e->path = file_path(a, w);
	if (late)
		rename_group(a, e);
	if (late && e->name)
		detail_rename(a->detail, e->name, e->path);
	else if (!late)
		e->name = 0;	/* another file's turn: calls so far keep theirs */
	e->epoch = 0;
	return true;
}

/* ---- leaves ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
	return (h ^ v ^ h >> 29) * 0x9e3779b97f4a7c15;
}

/* The part that all slices of a call have in common, and the rest. */
static uint64_t hash_call(const struct leaf_key *k)
{
	uint64_t comm[2];

	memcpy(comm, k->comm, sizeof(comm));
	return mix(mix(mix(0, comm[0]), comm[1]), (uint64_t)k->file << 16 | k->call);
}

static uint32_t hash_leaf(uint64_t call, const struct leaf_key *k)
{
	return (uint32_t)(mix(mix(call, (uint64_t)k->via << 32 | k->dev), k->cause) >> 32);
}

static bool same_leaf(const struct leaf_key *a, const struct leaf_key *b)
{
	return a->cause == b->cause && a->via == b->via && a->file == b->file && a->dev == b->dev && a->call == b->call &&
	       !memcmp(a->comm, b->comm, sizeof(a->comm));
}

/* Its index; NONE: there is none, and no room for one. */
static uint32_t find_leaf(struct sync_analysis *a, const struct leaf_key *k, uint32_t hash, uint32_t max)
{
	uint32_t i = hash % LEAF_SLOTS;

	for (; a->leaf_slot[i].leaf; i = (i + 1) % LEAF_SLOTS)
		if (a->leaf_slot[i].hash == hash && same_leaf(&a->leaf_key[a->leaf_slot[i].leaf - 1], k))
			return a->leaf_slot[i].leaf - 1;
	if (a->n_leaves >= max)
		return NONE;
	a->leaf_key[a->n_leaves] = *k;
	a->leaf[a->n_leaves++] = xcalloc(1, sizeof(struct leaf));
	a->leaf_slot[i] = (struct leaf_slot){ a->n_leaves, hash };
	return a->n_leaves - 1;
}

/* What is common to a call's leaves, with its file and without. */
struct leaf_call {
	struct leaf_key key, no_file;
	uint64_t hash, no_file_hash;
};

static struct leaf_call leaf_call(const struct wire_sync *s, uint32_t file)
{
	struct leaf_call c = { .key = { .file = file, .call = s->call } };

	memcpy(c.key.comm, s->comm, sizeof(c.key.comm));
	c.no_file = c.key;
	c.no_file.file = OTHER;
	c.hash = hash_call(&c.key);
	c.no_file_hash = hash_call(&c.no_file);
	return c;
}

static void complete_key(struct leaf_key *k, const struct walk_slice *slice)
{
	k->via = slice->via;
	k->dev = slice->dev;
	k->cause = (uint16_t)slice->cause;
}

static uint32_t leaf_for(struct sync_analysis *a, struct leaf_call *c, const struct walk_slice *slice)
{
	struct leaf_key other = { .comm = "(other)", .cause = (uint16_t)slice->cause };
	uint32_t i;

	complete_key(&c->key, slice);
	i = find_leaf(a, &c->key, hash_leaf(c->hash, &c->key), LEAVES_MAX);
	if (i != NONE)
		return i;
	complete_key(&c->no_file, slice);
	i = find_leaf(a, &c->no_file, hash_leaf(c->no_file_hash, &c->no_file), LEAVES_END);
	if (i != NONE)
		return i;
	return find_leaf(a, &other, hash_leaf(hash_call(&other), &other), LEAVES_END + CAUSE_COUNT);
}

#define BATCH 32

/* First all are found, then added to: the memory has time to come. */
static void add_leaves(struct sync_analysis *a, const struct wire_sync *s, uint32_t file, const struct walk_result *r)
{
	struct leaf_call c = leaf_call(s, file);
	struct leaf *l[BATCH];

	for (size_t at = 0; at < r->n; at += BATCH) {
		size_t n = r->n - at < BATCH ? r->n - at : BATCH;

		for (size_t i = 0; i < n; i++) {
			l[i] = a->leaf[leaf_for(a, &c, &r->slice[at + i])];
			__builtin_prefetch(l[i], 1);
		}
		for (size_t i = 0; i < n; i++)
			tally_prefetch(&l[i]->each, r->slice[at + i].ns);
		for (size_t i = 0; i < n; i++) {
			l[i]->ns += r->slice[at + i].ns;
			tally_add(&l[i]->each, r->slice[at + i].ns);
		}
	}
}

static void clear_leaves(struct sync_analysis *a)
{
	for (uint32_t i = 0; i < a->n_leaves; i++) {
		tally_free(&a->leaf[i]->each);
		free(a->leaf[i]);
	}
	a->n_leaves = 0;
	memset(a->leaf_slot, 0, LEAF_SLOTS * sizeof(*a->leaf_slot));
}

/* ---- the slowest ---- */

static uint64_t took(const struct slow *s)
{
	return s->call.exit - s->call.enter;
}

/* Of two equally slow ones the later is the faster. */
static bool faster(const struct slow *a, const struct slow *b)
{
	return took(a) != took(b) ? took(a) < took(b) : a->call.enter > b->call.enter;
}

static void swap_slow(struct slow *a, struct slow *b)
{
	struct slow keep = *a;

	*a = *b;
	*b = keep;
}

static void sift_up(struct slow *heap, size_t i)
{
	for (; i && faster(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap_slow(&heap[i], &heap[(i - 1) / 2]);
}

static void sift_down(struct slow *heap, size_t n)
{
	for (size_t i = 0, least; (least = 2 * i + 1) < n; i = least) {
		if (least + 1 < n && faster(&heap[least + 1], &heap[least]))
			least++;
		if (!faster(&heap[least], &heap[i]))
			break;
		swap_slow(&heap[least], &heap[i]);
	}
}

static void note_slow(struct sync_analysis *a, const struct wire_sync *s, uint32_t file, const struct ledger *l)
{
	struct slow new = { .call = *s, .ledger = *l };
	const struct inode *e;
	bool full = a->n_slow == a->opts.slowest;

	if (!a->opts.slowest || (full && !faster(&a->slow[0], &new)))
		return;
	e = inode(a, s->dev, s->ino);
	new.path = xstrdup(e->path ? e->path : a->files.group[file]->text);
	if (!full) {
		a->slow[a->n_slow] = new;
		sift_up(a->slow, a->n_slow++);
		return;
	}
	free(a->slow[0].path);
	a->slow[0] = new;
	sift_down(a->slow, a->n_slow);
}

/* ---- calls ---- */

static bool left_out(const struct sync_analysis *a, const struct wire_sync *s)
{
	const struct sync_device *d;

	if (!a->opts.only_traced || !s->dev)
		return false;
	d = device(a, s->dev);
	return !d || !d->traced;
}

/* It wrote, said that all was well, and the disk's cache was not told: only if no part of its time can hide a flush. */
static bool is_unflushed(const struct sync_analysis *a, const struct wire_sync *s, const struct walk_result *r)
{
	const struct sync_device *d = device(a, s->dev);

	return s->ret >= 0 && d && d->volatile_cache && !s->flushes && !r->blind && r->ledger.ns[CAUSE_DEVICE_WRITE] &&
	       !r->ledger.ns[CAUSE_DEVICE_FUA] && !ledger_family(&r->ledger, FAMILY_FLUSH);
}

static void add_totals(struct sync_analysis *a, const struct wire_sync *s, const struct walk_result *r)
{
	struct totals *t = &a->totals;
	uint64_t ns = s->exit - s->enter;

	t->count++;
	t->total_ns += ns;
	t->calls[s->call]++;
	t->flush_own_ns += r->flush_own_ns;
	t->flush_foreign_ns += r->flush_foreign_ns;
	t->busy_in_flight += r->in_flight;
	t->busy_flushes += r->flushes;
	t->unflushed += is_unflushed(a, s, r);
	ledger_add(&t->ledger, &r->ledger);
	hist_add(&t->latency, ns);
}

/* "jbd2/sda1-8;kworker": through whom a slice came */
static uint32_t via_name(struct sync_analysis *a, uint32_t via)
{
	const char *name[WALK_DEPTH + 1];
	size_t n = walk_via(a->walk, via, name);
	char text[(WALK_DEPTH + 1) * 17];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%.15s", i ? ";" : "", name[i]);
	return detail_name(a->detail, text);
}

static void keep_detail(struct sync_analysis *a, const struct wire_sync *s, const struct walk_result *r)
{
	struct inode *e = inode(a, s->dev, s->ino);
	char text[64], label[32];

	inode_text(a, s, text);
	if (!e->name)
		e->name = detail_own_name(a->detail, e->path ? e->path : text);
	detail_add_call(a->detail, s, e->name, detail_name(a->detail, device_label(a, s->dev, label)), &r->ledger);
	for (size_t i = 0; i < r->n; i++)
		detail_add_slice(a->detail, &r->slice[i], via_name(a, r->slice[i].via),
				 detail_name(a->detail, device_label(a, r->slice[i].dev, label)));
}

static void add_call(struct sync_analysis *a, const struct wire_sync *s, const struct walk_result *r)
{
	uint64_t ns = s->exit - s->enter;
	uint32_t file = file_of(a, s);

	a->damaged += r->mended;
	add_totals(a, s, r);
	group_add(a->processes.group[find_group(&a->processes, s->tgid, s->comm)], ns, &r->ledger);
	group_add(a->files.group[file], ns, &r->ledger);
	add_leaves(a, s, file, r);
	note_slow(a, s, file, &r->ledger);
	heat_add(&a->heat, s->exit > a->opts.start_ns ? s->exit - a->opts.start_ns : 0, ns, 1);
	if (a->detail)
		keep_detail(a, s, r);
}

/* The kernel terminates names; a damaged record may not, and what stands behind the end is no part of them. */
static void clean_name(char to[16], const char from[16])
{
	size_t len = strnlen(from, 15);

	memset(to + len, 0, 16 - len);
}

/* Before the timeline knows of the call. */
static struct whatif_gap gap_before(const struct sync_analysis *a, const struct wire_sync *s)
{
	const struct tl_task *t = tl_task(a->tl, s->tid);
	struct whatif_gap g = { 0 };

	if (!t || !t->exit || t->exit > s->enter)
		return g;
	g.from = t->exit;
	if (!t->waited || s->waited_enter < t->waited)
		return g;
	g.waited = s->waited_enter - t->waited;
	g.busy = (uint16_t)(s->switches_all - s->switches) == t->switches;
	return g;
}

static bool feed_sync(struct sync_analysis *a, const struct wire_sync *s)
{
	const struct walk_result *r;
	bool complete;

	if (!s->enter || s->exit < s->enter || s->exit - s->enter > CALL_MAX_NS || !s->call || s->call >= CALL_COUNT)
		return false;
	if (left_out(a, s))
		return true;
	prefetch_groups(a, s);
	complete = s->enter >= a->opts.known_ns && walk_call(a->walk, s, &r);
	if (complete)
		add_call(a, s, r);
	else
		a->totals.no_ledger++;
	whatif_call(a->whatif, s, complete ? r : NULL, gap_before(a, s));
	tl_add_call(a->tl, s, complete);
	return true;
}

static void keep_request(struct sync_analysis *a, const struct wire_request *r)
{
	char dev[32], disk[32];

	detail_add_request(a->detail, r, detail_name(a->detail, device_label(a, r->dev, dev)),
			   detail_name(a->detail, device_label(a, r->disk, disk)));
}

/* A device that has no name is shown as its disk. */
static bool feed_request(struct sync_analysis *a, const struct wire_request *r)
{
	struct wire_request renamed;

	if (!device(a, r->dev) && device(a, r->disk)) {
		renamed = *r;
		renamed.dev = r->disk;
		r = &renamed;
	}
	if (a->detail && r->done >= a->opts.start_ns && r->class < WIRE_CLASSES && !tl_request(a->tl, r->rq, r->done))
		keep_request(a, r);
	whatif_request(a->whatif, r);
	return tl_add_request(a->tl, r);
}

/* ---- the way in ---- */

union record {
	struct wire_head head;
	struct wire_sync sync;
	struct wire_sleep sleep;
	struct wire_request request;
	struct wire_follow follow;
	struct wire_file file;
	struct wire_bio bio;
};

static const struct {
	size_t least, whole;
} sizes[] = {
	[WIRE_SYNC] = { WIRE_SYNC_SHORT, sizeof(struct wire_sync) },
	[WIRE_SLEEP] = { WIRE_SLEEP_SHORT, sizeof(struct wire_sleep) },
	[WIRE_REQUEST] = { sizeof(struct wire_request), sizeof(struct wire_request) },
	[WIRE_FOLLOW] = { sizeof(struct wire_follow), sizeof(struct wire_follow) },
	[WIRE_FILE] = { sizeof(struct wire_file), sizeof(struct wire_file) },
	[WIRE_BIO] = { sizeof(struct wire_bio), sizeof(struct wire_bio) },
};

/* Those that are changed on their way are copied. */
static bool feed(struct sync_analysis *a, const union record *r)
{
	struct wire_sync sync;
	struct wire_follow follow;

	switch (r->head.kind) {
	case WIRE_SYNC:
		sync = r->sync;
		clean_name(sync.comm, r->sync.comm);
		return feed_sync(a, &sync);
	case WIRE_SLEEP:
		whatif_cpu(a->whatif, r->head.cpu);
		return tl_add_sleep(a->tl, &r->sleep);
	case WIRE_REQUEST:
		return feed_request(a, &r->request);
	case WIRE_FOLLOW:
		follow = r->follow;
		clean_name(follow.comm, r->follow.comm);
		return tl_add_follow(a->tl, &follow);
	case WIRE_BIO:
		return tl_add_bio(a->tl, &r->bio);
	default:
		return feed_file(a, &r->file);
	}
}

/* Later versions may send more than we know of, and some send less: the rest is 0. */
static bool feed_copy(struct sync_analysis *a, const struct wire_head *record)
{
	union record r;
	size_t n = record->size < sizeof(r) ? record->size : sizeof(r);

	memcpy(&r, record, n);
	memset((char *)&r + n, 0, sizeof(r) - n);
	return feed(a, &r);
}

void sync_feed(struct sync_analysis *a, const struct wire_head *record)
{
	uint16_t kind = record->kind;
	bool good;

	if (kind >= WIRE_HEADER && kind <= WIRE_END)
		return;
	if (kind < WIRE_SYNC || kind > WIRE_BIO || record->size < sizes[kind].least) {
		a->damaged++;
		return;
	}
	/* a short sleep has no stack, and is known to have none (timeline.c) */
	good = (uintptr_t)record % sizeof(uint64_t) == 0 && (kind == WIRE_SLEEP || record->size >= sizes[kind].whole);
	if (!(good ? feed(a, (const union record *)record) : feed_copy(a, record)))
		a->damaged++;
}

const struct whatif *sync_whatif(const struct sync_analysis *a)
{
	return a->whatif;
}

uint64_t sync_period(const struct sync_analysis *a)
{
	return whatif_period(a->whatif, &a->totals.ledger);
}

uint64_t sync_damaged(const struct sync_analysis *a)
{
	return a->damaged;
}

/* ---- the report ---- */

static char *device_name(const struct sync_analysis *a, uint32_t dev)
{
	struct buf b = { 0 };

	if (!dev)
		return NULL;
	device_text(a, dev, &b);
	return b.data ? b.data : xstrdup("");
}

static int group_order(const void *a, const void *b)
{
	const struct report_group *x = a, *y = b;
	int by_text;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	by_text = strcmp(x->path ? x->path : x->comm, y->path ? y->path : y->comm);
	return by_text ? by_text : (x->pid > y->pid) - (x->pid < y->pid);
}

static void copy_group(struct report_group *to, const struct group *from)
{
	to->count = from->count;
	to->total_ns = from->total_ns;
	to->ledger = from->ledger;
	tally_hist(&from->latency, &to->latency);
}

static struct report_group *report_groups(const struct sync_analysis *a, const struct groups *g, bool files, size_t *n)
{
	struct report_group *out = xcalloc(g->n, sizeof(*out));

	*n = 0;
	for (uint32_t i = 0; i < g->n; i++) {
		const struct group *from = g->group[i];
		struct report_group *to = &out[*n];

		if (!from->count)
			continue;
		copy_group(to, from);
		if (files) {
			to->path = xstrdup(from->text);
			to->device = device_name(a, from->id);
		} else {
			to->comm = xstrdup(from->text);
			to->pid = from->id;
		}
		(*n)++;
	}
	qsort(out, *n, sizeof(*out), group_order);
	return out;
}

/* Frames are separated by ';', and some readers take a line each. */
static void frame(struct buf *b, const char *text, size_t max)
{
	if (b->len)
		buf_char(b, ';');
	for (size_t i = 0; i < max && text[i]; i++) {
		unsigned char c = (unsigned char)text[i];

		buf_char(b, c == ';' || c < ' ' || c == 0x7f ? '_' : (char)c);
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static char *leaf_path(const struct sync_analysis *a, const struct leaf_key *key)
{
	const char *via[WALK_DEPTH + 1];
	size_t n = walk_via(a->walk, key->via, via);
	struct buf b = { 0 }, dev = { 0 };

	frame(&b, key->comm, sizeof(key->comm));
	frame(&b, key->call ? call_name(key->call) : "(other calls)", SIZE_MAX);
	frame(&b, base_name(a->files.group[key->file]->text), SIZE_MAX);
	for (size_t i = 0; i < n; i++)
		frame(&b, via[i], 16);
	frame(&b, cause_name((enum cause)key->cause), SIZE_MAX);
	if (key->dev) {
		device_text(a, key->dev, &dev);
		if (dev.len)
			frame(&b, dev.data, SIZE_MAX);
		buf_free(&dev);
	}
	return b.data;
}

static int leaf_by_path(const void *a, const void *b)
{
	const struct report_leaf *x = a, *y = b;
	int by_path = strcmp(x->path, y->path);

	return by_path ? by_path : (int)x->cause - (int)y->cause;
}

static int leaf_by_time(const void *a, const void *b)
{
	const struct report_leaf *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return leaf_by_path(a, b);
}

/* Files in different folders may have the same name. Sorted by path; returns how many are left. */
static size_t merge_leaves(struct report_leaf *l, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (kept && !leaf_by_path(&l[kept - 1], &l[i])) {
			l[kept - 1].ns += l[i].ns;
			tally_merge(&l[kept - 1].each, &l[i].each);
			tally_free(&l[i].each);
			free(l[i].path);
		} else {
			if (kept != i)
				l[kept] = l[i];
			kept++;
		}
	}
	return kept;
}

static struct report_leaf *report_leaves(const struct sync_analysis *a, size_t *n)
{
	struct report_leaf *out = xcalloc(a->n_leaves, sizeof(*out));

	for (uint32_t i = 0; i < a->n_leaves; i++) {
		const struct leaf *l = a->leaf[i];

		out[i].path = leaf_path(a, &a->leaf_key[i]);
		out[i].cause = (enum cause)a->leaf_key[i].cause;
		out[i].ns = l->ns;
		out[i].each = tally_copy(&l->each);
	}
	qsort(out, a->n_leaves, sizeof(*out), leaf_by_path);
	*n = merge_leaves(out, a->n_leaves);
	qsort(out, *n, sizeof(*out), leaf_by_time);
	return out;
}

static int slow_order(const void *a, const void *b)
{
	const struct slow *x = a, *y = b;

	return faster(y, x) ? -1 : faster(x, y);
}

static void report_one(const struct sync_analysis *a, const struct slow *s, struct report_call *out)
{
	out->start_ns = s->call.enter > a->opts.start_ns ? s->call.enter - a->opts.start_ns : 0;
	out->duration_ns = took(s);
	out->pid = s->call.tgid;
	out->tid = s->call.tid;
	out->comm = xstrdup(s->call.comm);
	out->call = xstrdup(call_name(s->call.call));
	out->path = xstrdup(s->path);
	out->device = device_name(a, s->call.dev);
	out->ledger = s->ledger;
}

static struct report_call *report_slowest(const struct sync_analysis *a, size_t *n)
{
	struct report_call *out = xcalloc(a->n_slow, sizeof(*out));
	struct slow *sorted = xcalloc(a->n_slow, sizeof(*sorted));

	if (a->n_slow)
		memcpy(sorted, a->slow, a->n_slow * sizeof(*sorted));
	qsort(sorted, a->n_slow, sizeof(*sorted), slow_order);
	for (size_t i = 0; i < a->n_slow; i++)
		report_one(a, &sorted[i], &out[i]);
	free(sorted);
	*n = a->n_slow;
	return out;
}

static void report_totals(const struct totals *t, struct report_sync *out)
{
	out->count = t->count;
	out->total_ns = t->total_ns;
	memcpy(out->calls, t->calls, sizeof(out->calls));
	out->no_ledger = t->no_ledger;
	out->latency = t->latency;
	out->ledger = t->ledger;
	out->flush_own_ns = t->flush_own_ns;
	out->flush_foreign_ns = t->flush_foreign_ns;
	out->busy_in_flight = t->busy_in_flight;
	out->busy_flushes = t->busy_flushes;
	out->unflushed = t->unflushed;
}

static void clear_slow(struct sync_analysis *a)
{
	for (size_t i = 0; i < a->n_slow; i++)
		free(a->slow[i].path);
	a->n_slow = 0;
}

static void start_over(struct sync_analysis *a)
{
	memset(&a->totals, 0, sizeof(a->totals));
	memset(&a->heat, 0, sizeof(a->heat));
	clear_groups(&a->processes);
	clear_groups(&a->files);
	clear_leaves(a);
	clear_slow(a);
	walk_forget(a->walk);
	whatif_forget(a->whatif);
	a->epoch++;
}

void sync_report(struct sync_analysis *a, struct report_sync *out, bool reset)
{
	memset(out, 0, sizeof(*out));
	report_totals(&a->totals, out);
	out->process = report_groups(a, &a->processes, false, &out->n_processes);
	out->file = report_groups(a, &a->files, true, &out->n_files);
	out->leaf = report_leaves(a, &out->n_leaves);
	out->slowest = report_slowest(a, &out->n_slowest);
	if (a->heat.columns) {
		out->heat = xcalloc(1, sizeof(*out->heat));
		*out->heat = a->heat;
	}
	if (reset)
		start_over(a);
}

struct report_detail *sync_take_detail(struct sync_analysis *a)
{
	struct report_detail *d = a->detail ? detail_take(a->detail) : NULL;

	detail_free(a->detail);
	a->detail = NULL;
	return d;
}

/* ---- all ---- */

static void copy_devices(struct sync_analysis *a, const struct sync_opts *o)
{
	a->device = xcalloc(o->n_devices, sizeof(*a->device));
	if (!o->n_devices)
		return;
	memcpy(a->device, o->devices, o->n_devices * sizeof(*a->device));
	qsort(a->device, o->n_devices, sizeof(*a->device), device_order);
}

struct sync_analysis *sync_new(const struct sync_opts *o)
{
	struct sync_analysis *a = xcalloc(1, sizeof(*a));

	a->opts = *o;
	copy_devices(a, o);
	a->tl = tl_new(o->symbols, o->n_symbols);
	a->walk = walk_new(a->tl);
	a->whatif = whatif_new();
	a->epoch = 1;
	a->inode = xcalloc(INODES_MAX, sizeof(*a->inode));
	a->inode_hash = xcalloc(INODES_MAX, sizeof(*a->inode_hash));
	memset(a->inode_hash, 0xff, INODES_MAX * sizeof(*a->inode_hash));
	new_groups(&a->processes, PROCESSES_MAX, "(other processes)");
	new_groups(&a->files, FILES_MAX, "(other files)");
	a->leaf = xcalloc(LEAVES_END + CAUSE_COUNT, sizeof(*a->leaf));
	a->leaf_key = xcalloc(LEAVES_END + CAUSE_COUNT, sizeof(*a->leaf_key));
	a->leaf_slot = xcalloc(LEAF_SLOTS, sizeof(*a->leaf_slot));
	a->slow = xcalloc(o->slowest, sizeof(*a->slow));
	if (o->detail)
		a->detail = detail_new(o->start_ns);
	return a;
}

void sync_free(struct sync_analysis *a)
{
	if (!a)
		return;
	clear_leaves(a);
	clear_slow(a);
	free_groups(&a->processes);
	free_groups(&a->files);
	for (uint32_t i = 0; i < a->n_inodes; i++)
		free(a->inode[i].path);
	free(a->inode);
	free(a->inode_hash);
	free(a->leaf);
	free(a->leaf_key);
	free(a->leaf_slot);
	free(a->slow);
	detail_free(a->detail);
	free(a->device);
	walk_free(a->walk);
	whatif_free(a->whatif);
	tl_free(a->tl);
	free(a);
}
