// SPDX-License-Identifier: GPL-2.0-only
/*
 * verdict.c - which class: a table of rules, the first that applies. Their words are in verdict_words.c.
 *
 * The order is: what makes any further word meaningless (nothing was seen, nothing is safe, it isn't fsync),
 * then the largest group of causes, if one stands out.
 */
#include "analyse/verdict.h"

#include <ctype.h>
#include <string.h>

#include "analyse/verdict_facts.h"
#include "wire.h"

#define MSEC	1000000ull
#define SEC	1000000000ull

/*
 * Thresholds. All are about what a person could do with the answer, none about a disk.
 *
 * With sync calls at a fifth of the run, making them free would make it 1.25 times as fast at most (Amdahl).
 */
#define NOT_SYNC_BELOW		0.20
/* The share of a sum of N values that scatter as much as their mean is good to 1/sqrt(N): about a third for 10. */
#define ENOUGH_CALLS		10
/* Below, the clocks' own cost, about a microsecond per event, is in the shares. */
#define ENOUGH_NS		(1 * MSEC)
/* One call that long (a `sync` by hand) is what somebody wants to know about, and its ledger is exact. */
#define LONG_ENOUGH_NS		(1 * SEC)
/* A cause stands out when it is clearly more than half, or at least a third and twice the next. */
#define CLEARLY			0.60
#define STANDS_OUT		(1.0 / 3)
#define TWICE			2
/* Others in the device's queue: fewer than two can't make a request much longer than it is by itself. */
#define QUEUED_BEHIND		2.0
/* So many that any device, also a parallel one, is at work on them (an ATA queue has 32). */
#define DEEP			8.0
/*
 * A disk that rotates at 15,000/min needs 4 ms for a turn, and half of it on average until a sector comes
 * along: what is durable after less than 1 ms isn't on the platter.
 */
#define FASTER_THAN_A_PLATTER	(1 * MSEC)

const struct hist *facts_flush_hist(const struct report_device *d)
{
	return d->bio_based ? &d->op[OP_FLUSH].total : &d->op[OP_FLUSH].device;
}

/* A partition's disk has the partition's name, then a digit, or p and a digit. */
bool facts_is_leg(const struct report_device *top, const struct report_device *d)
{
	size_t len = strlen(d->name);

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

/* ---- facts ---- */

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
 * of a slow cache takes much longer than a write.
 */
static bool flush_is_queued(const struct facts *f)
{
	return f->ahead >= QUEUED_BEHIND && f->flush_mean && f->flush_mean <= TWICE * f->write_fast;
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
	const struct hist *h = facts_flush_hist(f->dev);
	struct report_op w;

	f->flush_mean = hist_mean(h);
	f->flush_p50 = hist_quantile(h, 0.5);
	report_device_row(f->dev, ROW_WRITE, &w);
	h = f->dev->bio_based ? &w.total : &w.device;
	f->write_mean = hist_mean(h);
	f->write_p50 = hist_quantile(h, 0.5);
	f->write_fast = hist_quantile(h, 0.1);
	f->ahead = others_ahead(f);
	f->flush_queued = flush_is_queued(f);
	f->data_queued = data_is_queued(f);
}

enum group facts_group(const struct facts *f, enum cause c)
{
	static const enum group groups[CAUSE_COUNT] = {
		[CAUSE_CPU] = GROUP_CPU, [CAUSE_COMPLETION] = GROUP_CPU,
		[CAUSE_RUNQ] = GROUP_RUNQ,
		[CAUSE_THROTTLE] = GROUP_THROTTLE,
		[CAUSE_TAG] = GROUP_SCHEDULER, [CAUSE_IOQ] = GROUP_SCHEDULER,
		[CAUSE_DEVICE_READ] = GROUP_READ, [CAUSE_DEVICE_WRITE] = GROUP_WRITE, [CAUSE_DEVICE_FUA] = GROUP_FUA,
		[CAUSE_DEVICE_DISCARD] = GROUP_DISCARD, [CAUSE_DEVICE_OTHER] = GROUP_DISCARD,
		[CAUSE_FLUSH_WAIT] = GROUP_FLUSH, [CAUSE_FLUSH_PRE] = GROUP_FLUSH,
		[CAUSE_FLUSH_POST] = GROUP_FLUSH, [CAUSE_FLUSH_ONLY] = GROUP_FLUSH,
		[CAUSE_JOURNAL] = GROUP_JOURNAL, [CAUSE_LOCK] = GROUP_LOCK, [CAUSE_UNKNOWN] = GROUP_UNKNOWN,
	};
	enum group g = groups[c];

	if (g == GROUP_FLUSH)
		return f->flush_queued ? GROUP_BUSY : g;
	return g < GROUP_FLUSH || g > GROUP_DISCARD || !f->data_queued ? g : GROUP_BUSY;
}

static void rank(struct facts *f)
{
	for (int c = 0; c < CAUSE_COUNT; c++)
		f->ns[facts_group(f, c)] += f->s->ledger.ns[c];
	for (int g = 1; g < GROUPS; g++)
		if (f->ns[g] > f->ns[f->first])
			f->first = g;
	f->second = f->first ? 0 : 1;
	for (int g = 0; g < GROUPS; g++)
		if (g != (int)f->first && f->ns[g] > f->ns[f->second])
			f->second = g;
}

static double ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

/* ---- rules; each returns whether it applies, and the share that goes with its class ---- */

static bool rule_no_sync(struct facts *f, double *share)
{
	(void)share;
	return !f->s->count && !f->s->no_ledger;
}

static bool is_write_back(const struct report_device *d)
{
	return d->write_cache && !strcmp(d->write_cache, "write back");
}

static bool is_write_through(const struct report_device *d)
{
	return d->write_cache && !strcmp(d->write_cache, "write through");
}

static uint64_t writes_of(const struct report_device *d)
{
	uint64_t n = 0;

	for (int c = 0; c < OP_CLASSES; c++)
		n += op_class_row(c) == ROW_WRITE || op_class_row(c) == ROW_FUA ? d->op[c].count : 0;
	return n;
}

/* Neither we nor the kernel saw a FLUSH or FUA write, whatever the filter. */
static bool never_flushed(const struct report *r, const struct report_device *d)
{
	if (d->op[OP_FLUSH].count || d->op[OP_FUA].count || d->flush.native_fua)
		return false;
	return d->kernel.have_flush ? !d->kernel.flushes : !r->filter;
}

/* Some calls have nothing to make durable and need no FLUSH (one in four of SQLite's): only most of them tell. */
static bool most_unflushed(const struct report_sync *s)
{
	return s->unflushed > s->count / 2;
}

static bool find_nobarrier(struct facts *f)
{
	for (size_t i = 0; i < f->r->n_devices; i++) {
		const struct report_device *d = &f->r->device[i];

		for (size_t m = 0; m < d->n_mounts && is_write_back(d); m++)
			if (d->mounts[m].barrier && !strcmp(d->mounts[m].barrier, "nobarrier")) {
				f->unsafe_dev = d;
				f->unsafe_mount = &d->mounts[m];
				return true;
			}
	}
	return false;
}

/*
 * Does a real platter turn in it? Virtual disks often say that they rotate, whatever is behind them, and so do
 * the volumes of RAID controllers, which may have a battery: only SCSI and ATA disks, and none of the known others.
 */
static bool has_platter(const struct report_device *d)
{
	static const char *const not_a_disk[] = {
		"QEMU", "VBOX", "VMware", "Virtual", "Msft", "LOGICAL", "RAID", "PERC", "MR", "LUN", "iSCSI",
	};

	if (strncmp(d->name, "sd", 2) || !d->have_rotational || !d->rotational || !d->model)
		return false;
	for (size_t i = 0; i < sizeof(not_a_disk) / sizeof(not_a_disk[0]); i++)
		if (strstr(d->model, not_a_disk[i]))
			return false;
	return true;
}

static enum unsafe unsafe_by_speed(const struct facts *f)
{
	const struct report_device *d = f->dev;

	if (!d || !has_platter(d))
		return SAFE;
	if (is_write_through(d) && d->op[OP_WRITE_SYNC].count >= ENOUGH_CALLS &&
	    hist_quantile(&d->op[OP_WRITE_SYNC].device, 0.5) < FASTER_THAN_A_PLATTER)
		return UNSAFE_WRITE_THROUGH;
	/* a FLUSH with nothing written before it has nothing to do */
	if (is_write_back(d) && d->op[OP_FLUSH].count >= ENOUGH_CALLS && writes_of(d) >= d->op[OP_FLUSH].count &&
	    f->flush_p50 < FASTER_THAN_A_PLATTER)
		return UNSAFE_TOO_FAST;
	return SAFE;
}

static enum unsafe find_unsafe(struct facts *f)
{
	const struct report_sync *s = f->s;

	f->unsafe_dev = f->dev;
	if (!most_unflushed(s) || !f->dev)
		return unsafe_by_speed(f);
	if (find_nobarrier(f) && writes_of(f->unsafe_dev))
		return UNSAFE_NOBARRIER;
	f->unsafe_dev = f->dev;
	f->unsafe_mount = NULL;
	if (!is_write_back(f->dev) || !writes_of(f->dev))
		return SAFE;
	if (s->calls[CALL_SYNC_FILE_RANGE] > s->count / 2)
		return UNSAFE_RANGE;
	return never_flushed(f->r, f->dev) ? UNSAFE_NO_FLUSH : SAFE;
}

/* Before all others that speak of time: that it is fast, or where it is slow, is nothing to go by then. */
static bool rule_unsafe(struct facts *f, double *share)
{
	f->unsafe = find_unsafe(f);
	*share = ratio(f->s->unflushed, f->s->count);
	return f->unsafe != SAFE;
}

/*
 * Only of a command: a disk that is watched may be idle for most of the time and its fsyncs slow. Calls that run
 * at the same time count each, so the share is an upper bound, and this never said wrongly.
 */
static bool rule_not_sync(struct facts *f, double *share)
{
	*share = ratio(f->s->total_ns, f->r->wall_ns);
	return f->r->command && !f->s->no_ledger && f->r->wall_ns >= ENOUGH_NS && *share < NOT_SYNC_BELOW;
}

static bool rule_too_little(struct facts *f, double *share)
{
	const struct report_sync *s = f->s;

	(void)share;
	/* which calls have no ledger is no accident: those in the busiest moments */
	if (s->no_ledger > s->count || !ledger_sum(&s->ledger))
		return true;
	return s->total_ns < LONG_ENOUGH_NS && (s->count < ENOUGH_CALLS || s->total_ns < ENOUGH_NS);
}

static bool rule_mixed(struct facts *f, double *share)
{
	double first = ratio(f->ns[f->first], ledger_sum(&f->s->ledger));

	*share = first;
	if (f->first == GROUP_UNKNOWN)
		return true;
	if (first >= CLEARLY)
		return false;
	return first < STANDS_OUT || f->ns[f->first] < TWICE * f->ns[f->second];
}

static bool first_is(const struct facts *f, enum group g, double *share)
{
	*share = ratio(f->ns[g], ledger_sum(&f->s->ledger));
	return f->first == g;
}

#define RULE_OF_GROUP(name, group) \
	static bool rule_##name(struct facts *f, double *share) { return first_is(f, group, share); }

RULE_OF_GROUP(flush, GROUP_FLUSH)
RULE_OF_GROUP(busy, GROUP_BUSY)
RULE_OF_GROUP(fua, GROUP_FUA)
RULE_OF_GROUP(read, GROUP_READ)
RULE_OF_GROUP(write, GROUP_WRITE)
RULE_OF_GROUP(discard, GROUP_DISCARD)
RULE_OF_GROUP(scheduler, GROUP_SCHEDULER)
RULE_OF_GROUP(throttle, GROUP_THROTTLE)
RULE_OF_GROUP(runq, GROUP_RUNQ)
RULE_OF_GROUP(journal, GROUP_JOURNAL)
RULE_OF_GROUP(lock, GROUP_LOCK)

static bool rule_cpu(struct facts *f, double *share)
{
	first_is(f, GROUP_CPU, share);
	return true;
}

static const struct rule {
	const char *class;
	int family;		/* enum cause_family; -1: none */
	bool (*applies)(struct facts *f, double *share);
} rules[] = {
	{ "no-sync", -1, rule_no_sync },
	{ "unsafe-fast", -1, rule_unsafe },
	{ "not-sync", -1, rule_not_sync },
	{ "too-little-data", -1, rule_too_little },
	{ "mixed", -1, rule_mixed },
	{ "device-flush", FAMILY_FLUSH, rule_flush },
	{ "device-busy", FAMILY_DEVICE, rule_busy },
	{ "device-fua", FAMILY_DEVICE, rule_fua },
	{ "device-read", FAMILY_DEVICE, rule_read },
	{ "device-write", FAMILY_DEVICE, rule_write },
	/* there is no class for discards: the words say what they are */
	{ "device-write", FAMILY_DEVICE, rule_discard },
	{ "io-scheduler", FAMILY_IO_SCHEDULER, rule_scheduler },
	{ "throttled", FAMILY_IO_SCHEDULER, rule_throttle },
	{ "cpu-scheduler", FAMILY_CPU_SCHEDULER, rule_runq },
	{ "journal", FAMILY_FILE_SYSTEM, rule_journal },
	{ "lock", FAMILY_HOST, rule_lock },
	{ "cpu", FAMILY_HOST, rule_cpu },	/* always applies */
};

void verdict_make(struct report *r)
{
	struct facts f = { .r = r, .s = &r->sync };
	const struct rule *rule = rules;
	double share = 0;

	if (!r->have_sync || r->have_verdict)
		return;
	f.dev = main_device(r);
	if (f.dev)
		device_facts_of(&f);
	rank(&f);
	while (!rule->applies(&f, &share)) {
		rule++;
		share = 0;
	}
	r->verdict.class = rule->class;
	r->verdict.family = rule->family < 0 ? NULL : family_name(rule->family);
	r->verdict.share = share > 1 ? 1 : share;
	verdict_words(&f, &r->verdict);
	r->have_verdict = true;
}
