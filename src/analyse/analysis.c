// SPDX-License-Identifier: GPL-2.0-only
/* analysis.c - the facts' way in, and what the calls' ledgers add up to. */
#include "analyse/analysis_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/fact_size.h"
#include "util/buf.h"
#include "util/mem.h"

#define FILES_MAX     2048u /* files and processes with a line of their own (in a report 9 KiB each) */
#define PROCESSES_MAX 1024u
#define CALL_MAX_NS   (1ull << 56) /* two years: more is damage, and sums of calls must not overflow */

/* ---- names of files ---- */

/* "/srv/db/.../wal/0001": the mount point, then the components that are known. Trimmed, as tens of thousands are kept. */
static char *file_path(const struct sync_analysis *a, const struct wire_file *w)
{
	const struct device_name *d = devices_find(&a->devices, w->dev);
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
	return xrealloc(b.data, b.len + 1);
}

static void inode_text(const struct sync_analysis *a, const struct wire_sync *s, char text[64])
{
	char label[32];

	if (s->ino == WIRE_INO_DISK)
		snprintf(text, 64, "/dev/%s", devices_label(&a->devices, s->dev, label));
	else if (s->ino)
		snprintf(text, 64, "%u:%u:%llu", WIRE_MAJOR(s->dev), WIRE_MINOR(s->dev), (unsigned long long)s->ino);
	else
		snprintf(text, 64, "(no file)");
}

/* What the call will be added to, while it is walked. */
static void prefetch_groups(const struct sync_analysis *a, const struct wire_sync *s)
{
	const struct inode *e = inodes_find(&a->inodes, s->dev, s->ino);

	if (e && e->epoch == a->epoch)
		group_prefetch(a->files.group[e->group]);
}

/* Inodes ask for their group anew. */
static void make_file_room(struct sync_analysis *a, uint64_t now_ns)
{
	uint32_t *to = groups_make_room(&a->files, now_ns);

	if (!to)
		return;
	leaves_move(&a->leaves, to);
	a->epoch++;
	free(to);
}

static uint32_t file_group(struct sync_analysis *a, const struct wire_sync *s, const char *text)
{
	uint32_t group = groups_find(&a->files, s->dev, text);

	if (group != GROUPS_OTHER)
		return group;
	make_file_room(a, s->exit);
	return groups_find(&a->files, s->dev, text);
}

static struct group *process_of(struct sync_analysis *a, const struct wire_sync *s)
{
	uint32_t group = groups_find(&a->processes, s->tgid, s->comm);

	if (group == GROUPS_OTHER) {
		free(groups_make_room(&a->processes, s->exit));
		group = groups_find(&a->processes, s->tgid, s->comm);
	}
	return a->processes.group[group];
}

static uint32_t file_of(struct sync_analysis *a, const struct wire_sync *s)
{
	struct inode *e = inodes_use(&a->inodes, s->dev, s->ino);
	char text[64];

	if (e->epoch != a->epoch) {
		inode_text(a, s, text);
		e->group = file_group(a, s, e->path ? e->path : text);
		e->epoch = a->epoch;
	}
	return e->group;
}

/* The name came after calls that it belongs to: they get it too, unless another inode has that name already. */
static void rename_group(struct sync_analysis *a, const struct inode *e)
{
	if (e->epoch == a->epoch && e->group != GROUPS_OTHER)
		groups_rename(&a->files, e->group, e->dev, e->path);
}

static bool feed_file(struct sync_analysis *a, const struct wire_file *w)
{
	struct inode *e;
	bool late;

	if (!w->ino || w->n > WIRE_NAMES)
		return false;
	e = inodes_use(&a->inodes, w->dev, w->ino);
	late = !e->path;
	free(e->path);
	e->path = file_path(a, w);
	if (late)
		rename_group(a, e);
	if (late && e->name && a->detail)
		detail_rename(a->detail, e->name, e->path);
	else if (!late)
		e->name = 0; /* another file's turn: calls so far keep theirs */
	e->epoch = 0;
	return true;
}

/* ---- calls ---- */

/* NULL: it is not known. Most often it is the one that was asked for last. */
static const struct device_name *device_of(struct sync_analysis *a, uint32_t dev)
{
	if (!a->device || a->device->dev != dev)
		a->device = devices_find(&a->devices, dev);
	return a->device;
}

static bool left_out(struct sync_analysis *a, const struct wire_sync *s)
{
	const struct device_name *d;

	if (!a->opts.only_traced || !s->dev)
		return false;
	d = device_of(a, s->dev);
	return !d || !d->traced;
}

static bool had_data(const struct wire_sync *s, const struct walk_result *r)
{
	return s->writes || r->ledger.ns[CAUSE_DEVICE_WRITE] || s->had & HAD_PAGES ||
	       (s->call == CALL_WRITE && s->ret > 0);
}

static bool had_flush(const struct wire_sync *s, const struct walk_result *r)
{
	return s->flushes || s->had & HAD_FUA || r->ledger.ns[CAUSE_DEVICE_FUA] || ledger_family(&r->ledger, FAMILY_FLUSH);
}

/*
 * Direct writes are on the disk before the call, and nothing of them shows in it. With barriers a FLUSH follows them, but none where
 * the file wasn't written (btrfs).
 */
static bool had_direct_data(struct sync_analysis *a, const struct wire_sync *s, const struct walk_result *r)
{
	const struct device_name *d = device_of(a, s->dev);

	return s->had & HAD_DIRECT && (had_flush(s, r) || (d && d->nobarrier));
}

static bool has_volatile_cache(struct sync_analysis *a, const struct wire_sync *s)
{
	const struct device_name *d = device_of(a, s->dev);

	return d && d->volatile_cache;
}

enum safety { NOTHING_TO_DO, DURABLE, UNSAFE };

static enum safety safety_of(struct sync_analysis *a, const struct wire_sync *s, const struct walk_result *r)
{
	if (s->ret < 0 || !(had_data(s, r) || had_direct_data(a, s, r)))
		return NOTHING_TO_DO;
	if (had_flush(s, r))
		return DURABLE;
	return !r->blind && has_volatile_cache(a, s) ? UNSAFE : NOTHING_TO_DO;
}

static void add_volume(struct volume *v, const struct wire_sync *s, const struct ledger *l)
{
	v->calls++;
	v->total_ns += s->exit - s->enter;
	v->writes += s->writes;
	v->bytes += s->write_bytes;
	for (int i = 0; i < VOLUME_CAUSES; i++)
		v->wait_ns[i] += l->ns[volume_causes[i]];
}

/* Each sample once in a turn of CALL_SAMPLES calls, in a turn's own order: what comes in every so many calls is in all of them. */
static struct call_sums *sample_of_call(struct totals *t)
{
	uint64_t n = t->count++, turn = n / CALL_SAMPLES;

	return &t->sample[(n + (turn * 0x9e3779b97f4a7c15 >> 32)) % CALL_SAMPLES];
}

static void add_totals(struct sync_analysis *a, const struct wire_sync *s, const struct walk_result *r, enum safety safety)
{
	struct totals *t = &a->totals;
	struct call_sums *sums = sample_of_call(t);
	uint64_t ns = s->exit - s->enter;

	sums->count++;
	sums->total_ns += ns;
	sums->unsafe += safety == UNSAFE;
	sums->unsafe_ns += safety == UNSAFE ? ns : 0;
	sums->durable += safety == DURABLE;
	if (s->writes >= VOLUME_WRITES)
		add_volume(&sums->volume, s, &r->ledger);
	ledger_add(&sums->ledger, &r->ledger);
	t->calls[s->call]++;
	t->flush_own_ns += r->flush_own_ns;
	t->flush_foreign_ns += r->flush_foreign_ns;
	t->busy_in_flight += r->in_flight;
	t->busy_flushes += r->flushes;
	hist_add(&t->latency, ns);
}

/* "jbd2/sda1-8;kworker": through whom a slice came */
static uint32_t via_name(struct sync_analysis *a, uint32_t via)
{
	const char *name[VIAS_DEPTH];
	size_t n = walk_via(a->walk, via, name);
	char text[VIAS_DEPTH * (VIA_NAME + 1)];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%.31s", i ? ";" : "", name[i]);
	return detail_name(a->detail, text);
}

static void keep_detail(struct sync_analysis *a, const struct wire_sync *s, const struct walk_result *r)
{
	struct inode *e = inodes_use(&a->inodes, s->dev, s->ino);
	char text[64], label[32];

	inode_text(a, s, text);
	if (!e->name)
		e->name = detail_own_name(a->detail, e->path ? e->path : text);
	detail_add_call(a->detail, s, e->name, detail_name(a->detail, devices_label(&a->devices, s->dev, label)),
			&r->ledger);
	for (size_t i = 0; i < r->n; i++)
		detail_add_slice(a->detail, &r->slice[i], via_name(a, r->slice[i].via),
				 detail_name(a->detail, devices_label(&a->devices, r->slice[i].dev, label)));
}

static void note_slow(struct sync_analysis *a, const struct wire_sync *s, uint32_t file, const struct ledger *l, bool unsafe)
{
	const struct inode *e;

	if (!slowest_wants(&a->slowest, s))
		return;
	e = inodes_use(&a->inodes, s->dev, s->ino);
	slowest_add(&a->slowest, s, e->path ? e->path : a->files.group[file]->text, l, unsafe);
}

static void add_call(struct sync_analysis *a, const struct wire_sync *s, const struct walk_result *r)
{
	uint64_t ns = s->exit - s->enter;
	uint32_t file = file_of(a, s);
	enum safety safety = safety_of(a, s, r);

	a->damaged += r->mended;
	add_totals(a, s, r, safety);
	group_add(process_of(a, s), s->exit, ns, &r->ledger);
	group_add(a->files.group[file], s->exit, ns, &r->ledger);
	if (safety == UNSAFE)
		group_add_unsafe(a->files.group[file], ns);
	leaves_add(&a->leaves, s, file, r);
	note_slow(a, s, file, &r->ledger, safety == UNSAFE);
	tail_add(&a->tail, s->enter, ns, &r->ledger);
	heat_add(&a->heat, s->exit > a->opts.start_ns ? s->exit - a->opts.start_ns : 0, ns, 1);
	if (a->detail)
		keep_detail(a, s, r);
}

/* The kernel terminates names; a damaged record may not, and what stands behind the end is no part of them. */
static void clean_name(char name[16])
{
	size_t len = strnlen(name, 15);

	memset(name + len, 0, 16 - len);
}

static void add_unexplained(struct totals *t, uint64_t ns, enum no_ledger why)
{
	t->no_ledger++;
	t->no_ledger_ns += ns;
	t->without[why]++;
	if (why == NO_LEDGER_DROPPED)
		t->dropped_ns += ns;
}

static bool feed_call(struct sync_analysis *a, const struct wire_sync *s)
{
	const struct walk_result *r;
	bool complete, idle = s->had & HAD_BEGUN_IDLE, known = s->enter >= a->opts.known_ns && !idle;

	if (!s->enter || s->exit < s->enter || s->exit - s->enter > CALL_MAX_NS || !s->call || s->call >= CALL_COUNT)
		return false;
	if (s->other) {
		if (!left_out(a, s))
			others_add(&a->others, s);
		return true;
	}
	if (left_out(a, s)) {
		a->totals.elsewhere++;
		a->totals.elsewhere_ns += s->exit - s->enter;
		return true;
	}
	prefetch_groups(a, s);
	complete = known && walk_call(a->walk, s, &r);
	if (complete)
		add_call(a, s, r);
	else
		add_unexplained(&a->totals, s->exit - s->enter,
				known ? walk_why(a->walk) :
				idle  ? NO_LEDGER_IDLE :
					NO_LEDGER_BEFORE);
	if (a->whatif)
		whatif_call(a->whatif, s, complete ? r : NULL,
			    tl_task(a->tl, s->tid)); /* which knows of no call yet but those before */
	tl_add_call(a->tl, s, complete);
	return true;
}

static bool feed_sync(struct sync_analysis *a, const struct wire_sync *record)
{
	struct wire_sync s = *record;

	clean_name(s.comm);
	return feed_call(a, &s);
}

/* ---- requests ---- */

static void keep_request(struct sync_analysis *a, const struct wire_request *r)
{
	char dev[32], disk[32];

	detail_add_request(a->detail, r, detail_name(a->detail, devices_label(&a->devices, r->dev, dev)),
			   detail_name(a->detail, devices_label(&a->devices, r->disk, disk)));
}

/* A device that has no name is shown as its disk. */
static bool feed_request(struct sync_analysis *a, const struct wire_request *r)
{
	struct wire_request renamed;

	if (!device_of(a, r->dev) && device_of(a, r->disk)) {
		renamed = *r;
		renamed.dev = r->disk;
		r = &renamed;
	}
	if (a->detail && r->done >= a->opts.start_ns && r->class < WIRE_CLASSES && !tl_request(a->tl, r->rq, r->done))
		keep_request(a, r);
	return tl_add_request(a->tl, r);
}

/* ---- the way in ---- */

/* False: it makes no sense. */
static bool feed(struct sync_analysis *a, const struct wire_head *head)
{
	const void *record = head;

	if (head->kind >= WIRE_HEADER && head->kind <= WIRE_END) /* of the recording itself */
		return true;
	if (head->size < fact_size(head->kind).least)
		return false;
	switch (head->kind) {
	case WIRE_SYNC: return feed_sync(a, record);
	case WIRE_SLEEP: return tl_add_sleep(a->tl, record);
	case WIRE_REQUEST: return feed_request(a, record);
	case WIRE_FOLLOW: return tl_add_follow(a->tl, record);
	case WIRE_FILE: return feed_file(a, record);
	case WIRE_BIO: return tl_add_bio(a->tl, record);
	default: return tl_add_work(a->tl, record);
	}
}

void sync_feed(struct sync_analysis *a, const struct wire_head *record)
{
	a->damaged += !feed(a, record);
}

void sync_forget(struct sync_analysis *a, uint64_t until)
{
	tl_forget(a->tl, until);
}

const struct whatif *sync_whatif(const struct sync_analysis *a)
{
	return a->whatif;
}

uint64_t sync_damaged(const struct sync_analysis *a)
{
	return a->damaged;
}

uint64_t sync_missed_switches(const struct sync_analysis *a)
{
	return walk_missed_switches(a->walk);
}

/* ---- all ---- */

struct sync_analysis *sync_new(const struct sync_opts *o)
{
	struct sync_analysis *a = xcalloc(1, sizeof(*a));

	a->opts = *o;
	devices_copy(&a->devices, o->devices, o->n_devices);
	a->tl = tl_new(o->symbols, o->n_symbols);
	a->walk = walk_new(a->tl);
	a->whatif = o->interval ? NULL : whatif_new();
	a->epoch = 1;
	inodes_init(&a->inodes);
	groups_init(&a->processes, PROCESSES_MAX, REPORT_OTHER_PROCESSES);
	groups_init(&a->files, FILES_MAX, REPORT_OTHER_FILES);
	leaves_init(&a->leaves);
	slowest_init(&a->slowest, o->slowest);
	if (o->detail)
		a->detail = detail_new(o->start_ns);
	return a;
}

void sync_learn(struct sync_analysis *a, const struct device_name *devices, size_t n)
{
	devices_free(&a->devices);
	devices_copy(&a->devices, devices, n);
	a->device = NULL;
}

void sync_free(struct sync_analysis *a)
{
	if (!a)
		return;
	groups_free(&a->processes);
	groups_free(&a->files);
	inodes_free(&a->inodes);
	leaves_free(&a->leaves);
	slowest_free(&a->slowest);
	tail_clear(&a->tail);
	detail_free(a->detail);
	devices_free(&a->devices);
	walk_free(a->walk);
	whatif_free(a->whatif);
	tl_free(a->tl);
	free(a);
}
