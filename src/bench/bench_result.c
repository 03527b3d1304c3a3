// SPDX-License-Identifier: GPL-2.0-only
#include "bench/bench_result.h"

#include <stdlib.h>
#include <string.h>

#include "host/sysfs.h"
#include "util/mem.h"
#include "util/num.h"

/* The last part of a path, if the folder above it is a workload's. */
static const char *own_file(const char *path)
{
	const char *name = path ? strrchr(path, '/') : NULL, *folder;

	if (!name)
		return "";
	folder = memrchr(path, '/', (size_t)(name - path));
	folder = folder ? folder + 1 : path;
	return strncmp(folder, WORKLOAD_PREFIX, strlen(WORKLOAD_PREFIX)) ? "" : name + 1;
}

/* ---- score and rows ---- */

static const struct report_group *file_of(const struct report *r, const char *name)
{
	for (size_t i = 0; *name && i < r->sync.n_files; i++)
		if (!strcmp(own_file(r->sync.file[i].path), name))
			return &r->sync.file[i];
	return NULL;
}

static void add_row(struct bench *b, const struct scores_row *from)
{
	struct bench_row *to = grow((void **)&b->row, &b->n_rows, sizeof(*to));

	to->name = xstrdup(from->name);
	to->ops = from->ops;
	to->bytes = from->bytes;
	to->syncs = from->syncs;
	to->uncounted = from->uncounted;
	to->wall_ns = from->wall_ns;
	to->each = (struct bench_times){ from->each.count, from->each.sum, from->each.min, from->each.p50,
					 from->each.p90,   from->each.p99, from->each.max };
	to->missing = *from->missing ? xstrdup(from->missing) : NULL;
	to->traced = file_of(&b->report, from->file);
	b->score_ops += from->ops;
}

static void settings(const struct workload *w, const struct workload_opts *o, struct bench *b)
{
	if (w->takes & TAKES_SQLITE) {
		strv_add(&b->settings, xasprintf("journal_mode %s", o->journal));
		strv_add(&b->settings, xasprintf("synchronous %s", o->synchronous));
		strv_add(&b->settings, xasprintf("%s insert%s", num_count(o->inserts).s, num_plural(o->inserts)));
		strv_add(&b->settings, xasprintf("%s at once", num_count(o->copies).s));
	}
	if (w->takes & TAKES_SIZE)
		strv_add(&b->settings, xasprintf("size %s", num_bytes(o->size, 0).s));
	if (o->time_ns)
		strv_add(&b->settings, xasprintf("time %s", num_duration(o->time_ns, 0).s));
}

void results_bench(const struct workload *w, const struct scores *t, struct report *r, struct bench *out)
{
	*out = (struct bench){
		.workload = xstrdup(w->name),
		.summary = xstrdup(w->summary),
		.dir = xstrdup(t->opts.dir),
		.tool = *t->tool ? xstrdup(t->tool) : NULL,
		.unit = xstrdup(w->unit),
		.wall_ns = t->wall_ns,
		.syncs = t->syncs,
		.uncounted = t->uncounted,
		.report = *r,
	};
	memset(r, 0, sizeof(*r));
	settings(w, &t->opts, out);
	for (uint32_t i = 0; i < t->n_rows; i++)
		add_row(out, &t->row[i]);
}

/* ---- the card ---- */

/* What sends requests itself, and the most of them: below dm and md, a member. */
static const struct report_device *the_disk(const struct report *r)
{
	const struct report_device *best = NULL;

	for (size_t i = 0; i < r->n_devices; i++) {
		const struct report_device *d = &r->device[i];

		if (!best || (best->bio_based && !d->bio_based) ||
		    (best->bio_based == d->bio_based && report_device_sent(d) > report_device_sent(best)))
			best = d;
	}
	return best;
}

static char *firmware(const char *disk)
{
	char *text = block_text(disk, "device/firmware_rev");

	return text ? text : block_text(disk, "device/rev");
}

static void take_disk(struct card *c, const struct report_device *d)
{
	c->name = xstrdup(d->disk ? d->disk : d->name);
	c->model = xstrdup(d->model);
	c->firmware = firmware(c->name);
	c->write_cache = xstrdup(d->write_cache);
	c->scheduler = xstrdup(d->scheduler);
	c->have_fua = d->have_fua;
	c->fua = d->fua;
	c->have_rotational = d->have_rotational;
	c->rotational = d->rotational;
	c->bio_based = d->bio_based;
	c->size = d->size;
	c->discards = d->op[OP_DISCARD].count;
}

static size_t length_of_prefix(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return !strncmp(path, dir, n) && (!path[n] || path[n] == '/' || n == 1) ? n : 0;
}

/* The mount that the folder is in: the longest that fits. */
static void take_mount(struct card *c, const struct report *r, const char *dir)
{
	const struct report_mount *best = NULL;

	for (size_t i = 0; i < r->n_devices; i++)
		for (size_t j = 0; j < r->device[i].n_mounts; j++) {
			const struct report_mount *m = &r->device[i].mounts[j];

			if (length_of_prefix(dir, m->dir) && (!best || strlen(m->dir) > strlen(best->dir)))
				best = m;
		}
	c->fstype = best ? xstrdup(best->fstype) : NULL;
	c->options = best ? xstrdup(best->options) : NULL;
}

static void add_card_row(struct card *c, const struct scores_row *from)
{
	struct card_row *to = grow((void **)&c->row, &c->n_rows, sizeof(*to));

	to->test = from->kind < CARD_TESTS ? from->kind : CARD_DIRTY;
	to->param = from->param;
	to->bytes = from->bytes;
	to->wall_ns = from->wall_ns;
	to->missing = *from->missing ? xstrdup(from->missing) : NULL;
}

/*
 * How long a FLUSH was in the device for the call: where it waited for one before a commit record and one after it (btrfs
 * commits its log so), for each on average. 0: for none.
 */
static uint64_t flush_time(const struct ledger *l)
{
	static const enum cause flushes[] = { CAUSE_FLUSH_PRE, CAUSE_FLUSH_POST, CAUSE_FLUSH_ONLY };
	uint64_t sum = 0, n = 0;

	for (size_t i = 0; i < sizeof(flushes) / sizeof(flushes[0]); i++) {
		sum += l->ns[flushes[i]];
		n += l->ns[flushes[i]] > 0;
	}
	return n ? sum / n : 0;
}

static void add_call(struct card_row *row, const struct report_detail *d, const struct detail_call *call)
{
	struct ledger l;
	uint64_t flush;

	detail_ledger(d, call, &l);
	flush = flush_time(&l);
	hist_add(&row->call, call->duration_ns);
	ledger_add(&row->ledger, &l);
	if (flush)
		hist_add(&row->flush, flush);
	else if (call->flushed)
		row->unwaited++;
	else
		row->flushless++;
}

/* The preparation of a test's file is an fsync; its calls are none. */
static void take_calls(struct card *c, const struct scores *t, const struct report_detail *d)
{
	for (size_t i = 0; i < d->n_calls; i++) {
		const char *file = own_file(d->name[d->call[i].path]);

		if (!*file || !strcmp(d->name[d->call[i].call], "fsync"))
			continue;
		for (uint32_t j = 0; j < t->n_rows; j++)
			if (!strcmp(t->row[j].file, file))
				add_call(&c->row[j], d, &d->call[i]);
	}
	c->lost += d->calls_left_out;
}

void results_card(const struct scores *t, const struct report *r, struct card *c)
{
	const struct report_device *disk = the_disk(r);
	char *dir = realpath(t->opts.dir, NULL);

	*c = (struct card){
		.version = xstrdup(r->version),
		.kernel = xstrdup(r->kernel),
		.arch = xstrdup(r->arch),
		.start = xstrdup(r->start),
		.data_bytes = t->prepared,
		.lost = r->lost_events,
	};
	if (disk)
		take_disk(c, disk);
	take_mount(c, r, dir ? dir : t->opts.dir);
	free(dir);
	for (uint32_t i = 0; i < t->n_rows; i++)
		add_card_row(c, &t->row[i]);
	if (r->detail)
		take_calls(c, t, r->detail);
}
