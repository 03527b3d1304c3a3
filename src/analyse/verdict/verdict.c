// SPDX-License-Identifier: GPL-2.0-only
/*
 * verdict.c - which class: a table of rules over the facts (facts.c), the first that applies. Their words are in words.c.
 *
 * The order is: what makes any further word meaningless (nothing was seen, nothing is safe, it isn't fsync),
 * then the largest group of causes, if one stands out.
 */
#include "analyse/verdict/verdict.h"

#include <math.h>
#include <string.h>

#include "analyse/verdict/facts.h"
#include "wire.h"

#define MSEC 1000000ull

/*
 * Thresholds. All are about what a person could do with the answer, none about a disk.
 *
 * With sync calls at a fifth of the run, making them free would make it 1.25 times as fast at most (Amdahl).
 */
#define NOT_SYNC_BELOW 0.20
/* FLUSHes that fill half of the run, or of the time of others' sync calls: whatever waits for those waits for the drive. */
#define MOSTLY 0.50
/* The share of a sum of N values that scatter as much as their mean is good to 1/sqrt(N): about a third for 10. */
#define ENOUGH_CALLS 10
/* Below, the clocks' own cost, about a microsecond per event, is in the shares. */
#define ENOUGH_NS (1 * MSEC)
/* A cause stands out when it is clearly more than half, or at least a third and TWICE the next. */
#define CLEARLY	   0.60
#define STANDS_OUT (1.0 / 3)
/*
 * A disk that rotates at 15,000/min needs 4 ms for a turn, and half of it on average until a sector comes
 * along: what is durable after less than 1 ms isn't on the platter.
 */
#define FASTER_THAN_A_PLATTER (1 * MSEC)

static double ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

/* ---- rules; each returns whether it applies, and the share that goes with its class, if any does ---- */

/* Calls that have not returned are in no other figure, and longer than all that did. */
static bool rule_outstanding(struct facts *f, double *share)
{
	double returned = (double)f->s->total_ns;

	*share = f->hung ? f->hung_ns / (f->hung_ns + returned) : NAN;
	return f->hung && f->hung_ns > returned;
}

/* Of none nothing is known where its record may be among what was lost. */
static bool made_none(const struct facts *f)
{
	return !f->s->count && !f->s->no_ledger && !f->s->lost && !f->r->under_way && !f->r->began_before &&
	       !f->r->idle_unended;
}

/*
 * Client and server: who was asked about made no sync calls, or hardly any, and others did meanwhile. FLUSHes tell of those whose calls
 * nobody sees (the kernel's own: nfsd, a loop device); of them what the asked's own calls took is taken off, which may have waited
 * for the same.
 */
static bool others_synced(struct facts *f, double *share)
{
	uint64_t own = f->s->total_ns + f->s->elsewhere_ns;
	uint64_t flushes = f->flushed && f->flushes_ns > own ? f->flushes_ns - own : 0;

	*share = ratio(flushes > f->s->others_ns ? flushes : f->s->others_ns, f->r->wall_ns);
	if (!made_none(f) &&
	    (!f->s->count || !(f->r->command || f->r->filter) || ratio(own, f->r->wall_ns) >= NOT_SYNC_BELOW))
		return false;
	return *share >= NOT_SYNC_BELOW;
}

static bool rule_others_flush(struct facts *f, double *share)
{
	double flushes = (double)f->flushes_ns;

	return others_synced(f, share) && (flushes >= MOSTLY * (double)f->r->wall_ns ||
					   (f->s->others && flushes >= MOSTLY * (double)f->s->others_ns));
}

static bool rule_others(struct facts *f, double *share)
{
	bool applies = others_synced(f, share);

	*share = NAN;
	return applies;
}

static bool rule_no_sync(struct facts *f, double *share)
{
	(void)share;
	return made_none(f);
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

/* One that had its FLUSH for each that had not: somebody's way of syncing, not the disk's. */
static bool most_unsafe(const struct report_sync *s)
{
	return s->unsafe > s->durable;
}

/* The device of a file is the disk, or a partition of it; not known of those that had no line of their own. */
static bool has_unsafe(const struct report_sync *s, const struct report_device *d)
{
	size_t len = strlen(d->name);

	for (size_t i = 0; i < s->n_files; i++)
		if (s->file[i].unsafe && (!s->file[i].device || !strncmp(s->file[i].device, d->name, len)))
			return true;
	return false;
}

static bool find_nobarrier(struct facts *f)
{
	for (size_t i = 0; i < f->r->n_devices; i++) {
		const struct report_device *d = &f->r->device[i];
		const struct report_mount *m = has_unsafe(f->s, d) ? facts_nobarrier(d) : NULL;

		if (!m)
			continue;
		f->unsafe_dev = d;
		f->unsafe_mount = m;
		return true;
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
	if (facts_cache_is(d, "write through") && d->op[OP_WRITE_SYNC].count >= ENOUGH_CALLS &&
	    tally_quantile(&d->op[OP_WRITE_SYNC].device, 0.5) < FASTER_THAN_A_PLATTER)
		return UNSAFE_WRITE_THROUGH;
	/* a FLUSH with nothing written before it has nothing to do */
	if (facts_cache_is(d, "write back") && d->op[OP_FLUSH].count >= ENOUGH_CALLS &&
	    writes_of(d) >= d->op[OP_FLUSH].count && f->flush_p50 < FASTER_THAN_A_PLATTER)
		return UNSAFE_TOO_FAST;
	return SAFE;
}

static enum unsafe find_unsafe(struct facts *f)
{
	const struct report_sync *s = f->s;

	/* one is enough where it is known why */
	if (s->unsafe && find_nobarrier(f))
		return UNSAFE_NOBARRIER;
	f->unsafe_dev = f->dev;
	f->unsafe_mount = NULL;
	if (!most_unsafe(s) || !f->dev)
		return unsafe_by_speed(f);
	if (!facts_cache_is(f->dev, "write back") || !writes_of(f->dev))
		return SAFE;
	if (s->calls[CALL_SYNC_FILE_RANGE] > s->count / 2)
		return UNSAFE_RANGE;
	return never_flushed(f->r, f->dev) ? UNSAFE_NO_FLUSH : SAFE;
}

/* Before all others that speak of time: that it is fast, or where it is slow, is nothing to go by then. */
static bool rule_unsafe(struct facts *f, double *share)
{
	f->unsafe = find_unsafe(f);
	*share = ratio(f->s->unsafe, f->s->count);
	return f->unsafe != SAFE;
}

/*
 * Only of a command: a disk that is watched may be idle for most of the time and its fsyncs slow. Calls that run
 * at the same time count each, so the share is an upper bound, and this never said wrongly. Calls on disks that were not
 * traced, those without a ledger and those that hang make the run take its time as well.
 */
static bool rule_not_sync(struct facts *f, double *share)
{
	*share = ratio(f->s->total_ns, f->r->wall_ns);
	return f->r->command && f->s->count && f->s->no_ledger < f->s->count && f->r->wall_ns >= ENOUGH_NS &&
	       ratio(f->s->total_ns + f->s->no_ledger_ns + f->s->elsewhere_ns + f->r->under_way_ns, f->r->wall_ns) <
		       NOT_SYNC_BELOW;
}

/* That they are few is no reason: all is known of these. */
static bool rule_too_little(struct facts *f, double *share)
{
	const struct report_sync *s = f->s;

	(void)share;
	/* which calls have no ledger is no accident: those in the busiest moments */
	return s->no_ledger > s->count || !ledger_sum(&s->ledger) || s->total_ns < ENOUGH_NS;
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

/* clang-format off */
static const struct rule {
	const char *class, *scope;
	int family;		/* enum cause_family; -1: none */
	bool (*applies)(struct facts *f, double *share);	/* NULL: where the first group is this one */
	enum group group;
} rules[] = {
	{ NULL, "outstanding", -1, rule_outstanding, 0 },	/* what the oldest waits for decides */
	{ "device-flush", "others", FAMILY_FLUSH, rule_others_flush, 0 },
	{ "too-little-data", "others", -1, rule_others, 0 },
	{ "no-sync", "asked", -1, rule_no_sync, 0 },
	{ "unsafe-fast", "asked", -1, rule_unsafe, 0 },
	{ "not-sync", "asked", -1, rule_not_sync, 0 },
	{ "too-little-data", "asked", -1, rule_too_little, 0 },
	{ "mixed", "asked", -1, rule_mixed, 0 },
	{ "device-flush", "asked", FAMILY_FLUSH, NULL, GROUP_FLUSH },
	{ "volume", "asked", FAMILY_DEVICE, NULL, GROUP_VOLUME },
	{ "device-busy", "asked", FAMILY_DEVICE, NULL, GROUP_BUSY },
	{ "device-fua", "asked", FAMILY_DEVICE, NULL, GROUP_FUA },
	{ "device-read", "asked", FAMILY_DEVICE, NULL, GROUP_READ },
	{ "device-write", "asked", FAMILY_DEVICE, NULL, GROUP_WRITE },
	/* there is no class for discards: the words say what they are */
	{ "device-write", "asked", FAMILY_DEVICE, NULL, GROUP_DISCARD },
	{ "io-scheduler", "asked", FAMILY_IO_SCHEDULER, NULL, GROUP_SCHEDULER },
	{ "throttled", "asked", FAMILY_IO_SCHEDULER, NULL, GROUP_THROTTLE },
	{ "cpu-scheduler", "asked", FAMILY_CPU_SCHEDULER, NULL, GROUP_RUNQ },
	{ "journal", "asked", FAMILY_FILE_SYSTEM, NULL, GROUP_JOURNAL },
	{ "lock", "asked", FAMILY_HOST, NULL, GROUP_LOCK },
	{ "cpu", "asked", FAMILY_HOST, NULL, GROUP_CPU },
};
/* clang-format on */

static bool applies(const struct rule *rule, struct facts *f, double *share)
{
	*share = rule->applies ? NAN : ratio(f->ns[rule->group], ledger_sum(&f->s->ledger));
	return rule->applies ? rule->applies(f, share) : f->first == rule->group;
}

/* One does: rule_mixed() where the first group is none of the others. */
static const struct rule *choose(struct facts *f, double *share)
{
	const struct rule *rule = rules;

	while (!applies(rule, f, share))
		rule++;
	return rule;
}

const char *verdict_class(struct facts *f)
{
	double share;

	return choose(f, &share)->class;
}

void verdict_make(struct report *r)
{
	const struct rule *rule;
	struct facts f;
	double share;
	int family;

	if (!r->have_sync || r->have_verdict)
		return;
	facts_of(r, &f);
	rule = choose(&f, &share);
	family = rule->family;
	r->verdict.class = rule->class ? rule->class : outstanding_class(&f, &family);
	r->verdict.scope = rule->scope;
	r->verdict.family = family < 0 ? NULL : family_name((enum cause_family)family);
	r->verdict.share = share > 1 ? 1 : share;
	verdict_confidence(&f, &r->verdict);
	verdict_words(&f, &r->verdict);
	tail_words(&r->sync);
	r->have_verdict = true;
}
