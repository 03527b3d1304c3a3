// SPDX-License-Identifier: GPL-2.0-only
/* facts.c - what a verdict is made of: the disk that matters, whether it is busy or slow, and what the ledger's causes add up to. */
#include "analyse/verdict/facts.h"

#include <ctype.h>
#include <string.h>

#include "wire.h"

/* Others in the device's queue: fewer than two can't make a request much longer than it is by itself. */
#define QUEUED_BEHIND 2.0
/* So many that any device, also a parallel one, is at work on them (an ATA queue has 32). */
#define DEEP 8.0

const struct tally *facts_flush_hist(const struct report_device *d)
{
	return d->bio_based ? &d->op[OP_FLUSH].total : &d->op[OP_FLUSH].device;
}

/* A partition's disk has the partition's name, then a digit, or p and a digit. "sda (diskseq 17)" is sda, too. */
bool facts_is_leg(const struct report_device *top, const struct report_device *d)
{
	size_t len = strcspn(d->name, " ");

	for (char **s = top->slaves; s && *s; s++) {
		const char *rest = *s + len;

		if (strncmp(*s, d->name, len))
			continue;
		if (!*rest || (len && !isdigit((unsigned char)rest[-1]) && isdigit((unsigned char)*rest)) ||
		    (*rest == 'p' && isdigit((unsigned char)rest[1])))
			return true;
	}
	return false;
}

bool facts_cache_is(const struct report_device *d, const char *cache)
{
	return d->write_cache && !strcmp(d->write_cache, cache);
}

const struct report_mount *facts_nobarrier(const struct report_device *d)
{
	for (size_t m = 0; m < d->n_mounts && facts_cache_is(d, "write back"); m++)
		if (d->mounts[m].barrier && !strcmp(d->mounts[m].barrier, "nobarrier"))
			return &d->mounts[m];
	return NULL;
}

static uint64_t op_time(const struct report_device *d, enum op_class c)
{
	return d->bio_based ? d->op[c].total.sum : d->op[c].device.sum;
}

/* Only what sync calls may wait for. */
static uint64_t waited_time(const struct report_device *d)
{
	static const enum op_class waited_for[] = { OP_FLUSH, OP_WRITE_BARRIER, OP_WRITE_SYNC, OP_FUA };
	uint64_t t = 0;

	for (size_t c = 0; c < sizeof(waited_for) / sizeof(waited_for[0]); c++)
		t += op_time(d, waited_for[c]);
	return t;
}

/* Of those that have at least so much time, below another or with requests of their own: the one with most; NULL: none. */
static const struct report_device *device_with(const struct report *r, const struct report_device *below, uint64_t least)
{
	const struct report_device *best = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < r->n_devices; i++) {
		const struct report_device *d = &r->device[i];
		uint64_t t = waited_time(d);

		if (t >= least && (!best || t > most) && (!below || !d->bio_based || facts_is_leg(below, d))) {
			best = d;
			most = t;
		}
	}
	return best;
}

/*
 * A disk comes before what lies on it, as it knows the device's time: but only if most of the time is spent there and not on
 * the way to it.
 */
static const struct report_device *main_device(const struct report *r)
{
	const struct report_device *d = device_with(r, NULL, 0), *next = d;

	for (size_t i = 0; i < r->n_devices && next && d->bio_based; i++) {
		next = device_with(r, d, (waited_time(d) + TWICE - 1) / TWICE);
		d = next ? next : d;
	}
	return d;
}

/* How many requests, FLUSHes left out, were in the device on average: Little's law. */
static double mean_depth(const struct report *r, const struct report_device *d)
{
	uint64_t sum = 0;

	for (int c = 0; c < OP_CLASSES; c++)
		sum += c == OP_FLUSH ? 0 : d->op[c].device.sum;
	return r->wall_ns ? (double)sum / (double)r->wall_ns : 0;
}

/*
 * Others in the device when a FLUSH was issued tell more than the mean depth: a call's own data is through by
 * then, so what is still there is somebody else's.
 */
static double others_ahead(const struct facts *f)
{
	const struct report_flush *m = &f->dev->flush;
	uint64_t flushes = report_device_depths(f->dev);

	if (f->s->busy_flushes)
		return (double)f->s->busy_in_flight / (double)f->s->busy_flushes;
	if (flushes)
		return (double)m->in_flight / (double)flushes;
	/* one of them is the caller's own */
	return mean_depth(f->r, f->dev) - 1;
}

/*
 * A FLUSH that takes as long as the quick ones of the writes beside it waits in the same queue as they do; one
 * of a slow cache takes much longer than a write, and one that goes past them much less.
 */
static bool flush_is_queued(const struct facts *f)
{
	return f->ahead >= QUEUED_BEHIND && f->flush_mean && f->flush_mean <= TWICE * f->write_fast &&
	       f->write_fast <= TWICE * f->flush_mean;
}

/* A write is long for the others in front of it: then a FLUSH is, too, or it is much longer than the quickest. */
static bool data_is_queued(const struct facts *f)
{
	if (f->ahead < QUEUED_BEHIND)
		return false;
	return f->flush_queued || f->ahead >= DEEP || f->write_mean >= TWICE * f->write_fast;
}

static void device_facts_of(struct facts *f)
{
	const struct tally *flush = facts_flush_hist(f->dev);
	const struct hist *h;
	struct report_op w;

	f->flush_mean = tally_mean(flush);
	f->flush_p50 = tally_quantile(flush, 0.5);
	report_device_row(f->dev, ROW_WRITE, &w);
	h = f->dev->bio_based ? &w.total : &w.device;
	f->write_mean = hist_mean(h);
	f->write_p50 = hist_quantile(h, 0.5);
	f->write_fast = hist_quantile(h, 0.1);
	f->ahead = others_ahead(f);
}

enum group facts_group(const struct facts *f, enum cause c)
{
	/* clang-format off */
	static const enum group groups[CAUSE_COUNT] = {
		[CAUSE_CPU] = GROUP_CPU, [CAUSE_COMPLETION] = GROUP_CPU,
		[CAUSE_RUNQ] = GROUP_RUNQ, [CAUSE_WORKER] = GROUP_RUNQ,
		[CAUSE_THROTTLE] = GROUP_THROTTLE,
		[CAUSE_TAG] = GROUP_SCHEDULER, [CAUSE_IOQ] = GROUP_SCHEDULER,
		[CAUSE_DEVICE_READ] = GROUP_READ, [CAUSE_DEVICE_WRITE] = GROUP_WRITE, [CAUSE_DEVICE_FUA] = GROUP_FUA,
		[CAUSE_DEVICE_DISCARD] = GROUP_DISCARD, [CAUSE_DEVICE_OTHER] = GROUP_DISCARD,
		[CAUSE_FLUSH_WAIT] = GROUP_FLUSH, [CAUSE_FLUSH_PRE] = GROUP_FLUSH,
		[CAUSE_FLUSH_POST] = GROUP_FLUSH, [CAUSE_FLUSH_ONLY] = GROUP_FLUSH,
		[CAUSE_JOURNAL] = GROUP_JOURNAL, [CAUSE_LOCK] = GROUP_LOCK, [CAUSE_UNKNOWN] = GROUP_UNKNOWN,
	};
	/* clang-format on */
	enum group g = groups[c];

	if (g == GROUP_FLUSH)
		return f->flush_queued ? GROUP_BUSY : g;
	return g > GROUP_DISCARD || !f->data_queued ? g : GROUP_BUSY;
}

static void rank(struct facts *f)
{
	memset(f->ns, 0, sizeof(f->ns));
	f->first = 0;
	for (int c = 0; c < CAUSE_COUNT; c++)
		f->ns[facts_group(f, c)] += f->s->ledger.ns[c];
	for (int i = 0; f->own_queue && i < VOLUME_CAUSES; i++) {
		f->ns[facts_group(f, volume_causes[i])] -= f->volume.wait_ns[i];
		f->ns[GROUP_VOLUME] += f->volume.wait_ns[i];
	}
	for (int g = 1; g < GROUPS; g++)
		if (f->ns[g] > f->ns[f->first])
			f->first = g;
	f->second = f->first ? 0 : 1;
	for (int g = 0; g < GROUPS; g++)
		if (g != (int)f->first && f->ns[g] > f->ns[f->second])
			f->second = g;
}

void facts_of_queue(struct facts *f)
{
	f->flush_queued = f->dev && flush_is_queued(f);
	f->data_queued = f->dev && data_is_queued(f);
	rank(f);
}

/* Whatever is dirty is written by sync and syncfs, mostly by others for them: no request of the caller's own tells how much. */
static bool are_for_everybody(const struct report_sync *s)
{
	return s->count && s->calls[CALL_SYNC] + s->calls[CALL_SYNCFS] == s->count;
}

static void volume_for_everybody(struct facts *f)
{
	struct report_op w;

	report_device_row(f->dev, ROW_WRITE, &w);
	if (w.count < VOLUME_WRITES * f->s->count)
		return;
	f->for_everybody = true;
	f->volume = (struct volume){ f->s->count, f->s->total_ns, w.count, w.bytes, { 0 } };
	for (int i = 0; i < VOLUME_CAUSES; i++)
		f->volume.wait_ns[i] = f->s->ledger.ns[volume_causes[i]];
}

/* What was in the disk's queue in all: with a filter, only the kernel knows. Background writes that it also counts wait for nobody. */
static uint64_t queued_requests(const struct facts *f)
{
	const struct report_kernel *k = &f->dev->kernel;
	uint64_t n = report_device_requests(f->dev), background = f->dev->op[OP_WRITE_ASYNC].count;

	if (f->r->filter && k->have)
		n = k->reads + k->writes;
	return n > background ? n - background : 0;
}

static void find_volume(struct facts *f)
{
	f->volume = f->s->volume;
	if (!f->dev)
		return;
	if (are_for_everybody(f->s))
		volume_for_everybody(f);
	f->own_queue = f->for_everybody || f->volume.writes * TWICE >= queued_requests(f);
}

void facts_with_calls(const struct facts *f, const struct call_sums *calls, struct report_sync *s, struct facts *to)
{
	*s = *f->s;
	s->count = calls->count;
	s->total_ns = calls->total_ns;
	s->unsafe = calls->unsafe;
	s->unsafe_ns = calls->unsafe_ns;
	s->durable = calls->durable;
	s->ledger = calls->ledger;
	*to = *f;
	to->s = s;
	to->volume = calls->volume;
	if (f->for_everybody)
		volume_for_everybody(to);
	rank(to);
}

/* The kernel counts whatever the filter leaves out. */
static void find_flushed(struct facts *f)
{
	for (size_t i = 0; i < f->r->n_devices; i++) {
		const struct report_device *d = &f->r->device[i];
		const struct report_kernel *k = &d->kernel;
		bool counted = k->have && k->have_flush;
		uint64_t n = counted ? k->flushes : d->op[OP_FLUSH].count;
		uint64_t ns = counted ? k->flush_ns : d->op[OP_FLUSH].device.sum;

		if (!n || (f->flushed && ns <= f->flushes_ns))
			continue;
		f->flushed = d;
		f->flushes = n;
		f->flushes_ns = ns;
	}
}

/* Writes that somebody waits for, but for the command's own. Of those that a filter leaves out the kernel only knows that they are writes. */
static uint64_t writes_of_others(const struct report *r, const struct report_device *d, uint64_t *ns)
{
	const enum op_class durable[] = { OP_WRITE_SYNC, OP_WRITE_BARRIER, OP_FUA };
	uint64_t n = 0;

	*ns = 0;
	for (size_t i = 0; i < sizeof(durable) / sizeof(durable[0]); i++) {
		n += d->op[durable[i]].count;
		*ns += d->op[durable[i]].total.sum;
	}
	if (!r->filter)
		return r->command && n > d->by_command ? n - d->by_command : 0;
	if (!d->kernel.have || d->kernel.writes <= n)
		return 0;
	*ns = d->kernel.write_ns > *ns ? d->kernel.write_ns - *ns : 0;
	return d->kernel.writes - n;
}

static void find_written(struct facts *f)
{
	for (size_t i = 0; i < f->r->n_devices; i++) {
		uint64_t ns, n = writes_of_others(f->r, &f->r->device[i], &ns);

		if (!n || (f->written && ns <= f->writes_ns))
			continue;
		f->written = &f->r->device[i];
		f->writes = n;
		f->writes_ns = ns;
	}
}

void facts_of(const struct report *r, struct facts *f)
{
	*f = (struct facts){ .r = r, .s = &r->sync };
	f->dev = main_device(r);
	if (f->dev)
		device_facts_of(f);
	find_flushed(f);
	find_written(f);
	find_volume(f);
	facts_of_queue(f);
	outstanding_facts(f);
}
