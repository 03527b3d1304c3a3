// SPDX-License-Identifier: GPL-2.0-only
/*
 * words.c - a verdict's sentence (for somebody who doesn't know the kernel), its evidence (figures with
 * units, for somebody who does), and advice: what has most effect first, each with its risk.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/verdict/facts.h"
#include "util/buf.h"
#include "util/mem.h"
#include "util/num.h"
#include "wire.h"

/* Below this, on average, calls aren't called slow: a good drive with a protected cache takes about 0.4 ms. */
#define SLOW_NS 1000000ull
/* A process or a kind of call that makes up so much is spoken of as if it were alone. */
#define ALMOST_ALL 0.9
/* A share of the time that is worth a line: a neighbour's of the flushes, that of a mirror's legs. */
#define WORTH_A_LINE 0.05
#define CAUSES_SHOWN 6
#define OTHERS_SHOWN 3

static const char *dur(struct num *n, uint64_t ns)
{
	*n = num_duration(ns, 0);
	return n->s;
}

/* ---- who and what ---- */

/* Those that have no line of their own stand together, under no process's number. */
static bool is_rest(const struct report_group *p)
{
	return !p->pid;
}

static const struct report_group *main_process(const struct report_sync *s)
{
	const struct report_group *best = NULL;

	for (size_t i = 0; i < s->n_processes; i++)
		if (!best || is_rest(best) || (!is_rest(&s->process[i]) && s->process[i].total_ns > best->total_ns))
			best = &s->process[i];
	return best;
}

static int by_pid(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Those with a line of their own; one that took another name, by exec say, has two. */
static uint64_t named_processes(const struct report_sync *s)
{
	uint32_t *pid = xcalloc(s->n_processes + 1, sizeof(*pid)); /* the first one is 0, as the rest's */
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_processes; i++)
		pid[i + 1] = s->process[i].pid;
	qsort(pid, s->n_processes + 1, sizeof(*pid), by_pid);
	for (size_t i = 1; i <= s->n_processes; i++)
		n += pid[i] != pid[i - 1];
	free(pid);
	return n;
}

static bool has_rest(const struct report_sync *s)
{
	for (size_t i = 0; i < s->n_processes; i++)
		if (is_rest(&s->process[i]))
			return true;
	return false;
}

static void add_who(struct buf *b, const struct report_sync *s)
{
	const struct report_group *p = main_process(s);
	uint64_t n;

	if (p && !is_rest(p) && p->comm && (double)p->total_ns >= ALMOST_ALL * (double)s->total_ns) {
		buf_str(b, p->comm);
	} else if (s->n_processes > 1) {
		n = named_processes(s);
		buf_printf(b, "%s%s process%s", has_rest(s) ? "more than " : "", num_count(n).s, n == 1 ? "" : "es");
	} else {
		buf_str(b, "programs");
	}
}

/* The kind of call that nearly all are; NULL: there is none. */
static const char *main_call(const struct report_sync *s)
{
	for (unsigned int c = 0; c < CALL_COUNT; c++)
		if (s->count && (double)s->calls[c] >= ALMOST_ALL * (double)s->count)
			return c == CALL_WRITE ? "synchronous write" : call_name(c);
	return NULL;
}

/* As what time is spent in: "fdatasync", "synchronous writes" */
static void add_call(struct buf *b, const struct report_sync *s)
{
	const char *call = main_call(s);

	buf_printf(b, "%s%s", call ? call : "sync call", !call || strchr(call, ' ') ? "s" : "");
}

/* ---- sentences ---- */

/* What stands for the calls: a single one is "it". */
static const struct pronoun {
	const char *they, *them, *their, *s, *have, *were;
} many = { "they", "them", "their", "", "have", "were" }, one_call = { "it", "it", "its", "s", "has", "was" };

static const struct pronoun *pronoun(const struct facts *f)
{
	return f->s->count == 1 ? &one_call : &many;
}

/* Where the time is not the drive's but that of a disk on top of it, by its name. */
static const char *the_drive(const struct facts *f)
{
	return f->dev && f->dev->bio_based ? f->dev->name : "the drive";
}

static void because_flush(const struct facts *f, struct buf *b)
{
	struct num n;

	buf_printf(b, "%s takes %s to empty its write cache", the_drive(f), f->flush_p50 ? dur(&n, f->flush_p50) : "long");
	if (f->s->flush_foreign_ns > f->s->flush_own_ns)
		buf_str(b, ", mostly for programs other than the one that waits");
}

static void because_write(const struct facts *f, struct buf *b)
{
	struct num n;

	buf_printf(b, "%s takes %s for a write", the_drive(f), f->write_p50 ? dur(&n, f->write_p50) : "long");
}

static void because_fua(const struct facts *f, struct buf *b)
{
	struct num n;
	const struct report_op_tally *op = f->dev ? &f->dev->op[OP_FUA] : NULL;
	uint64_t p50 = op ? tally_quantile(f->dev->bio_based ? &op->total : &op->device, 0.5) : 0;

	buf_printf(b, "%s takes %s for a write that must not stay in its cache (FUA)", the_drive(f),
		   p50 ? dur(&n, p50) : "long");
}

static void because_read(const struct facts *f, struct buf *b)
{
	buf_printf(b, "%s %s to read from the drive first", pronoun(f)->they, pronoun(f)->have);
}

static void because_discard(const struct facts *f, struct buf *b)
{
	buf_printf(b, "%s wait%s for requests that are neither reads nor writes, such as discards (TRIM)",
		   pronoun(f)->they, pronoun(f)->s);
}

static void because_busy(const struct facts *f, struct buf *b)
{
	struct num n = num_ratio((uint64_t)(f->ahead * 100), 100);

	buf_printf(b, "the drive is busy with other requests (%s of them before each one that is waited for), %s", n.s,
		   f->flush_mean ? "not because it is slow to empty its cache" : "not because it is slow");
}

/* Of each call, on average. Side by side they share the disk, and what one of them gets is not what it takes. */
static void because_volume(const struct facts *f, struct buf *b)
{
	const struct volume *v = &f->volume;
	struct num bytes = num_bytes(v->bytes / v->calls, 0);

	buf_printf(b, "%s writes %s%s in %s requests", f->s->count == 1 ? "it" : "each",
		   f->for_everybody ? "whatever is dirty, " : "", bytes.s, num_count(v->writes / v->calls).s);
	if (volume_wait(v) && f->s->total_ns <= f->r->wall_ns)
		buf_printf(b, ", and %s takes %s/s", the_drive(f),
			   num_bytes((uint64_t)((double)v->bytes * 1e9 / (double)volume_wait(v)), 0).s);
}

static void because_scheduler(const struct facts *f, struct buf *b)
{
	const struct ledger *l = &f->s->ledger;

	if (l->ns[CAUSE_TAG] > l->ns[CAUSE_IOQ]) {
		buf_printf(b, "%s wait%s for one of the disk's few request slots", pronoun(f)->they, pronoun(f)->s);
		if (f->dev && f->dev->nr_requests)
			buf_printf(b, " (%s)", num_count(f->dev->nr_requests).s);
		buf_str(b, ", which other I/O holds");
		return;
	}
	buf_printf(b, "%s requests wait in the kernel's I/O scheduler", pronoun(f)->their);
	if (f->dev && f->dev->scheduler)
		buf_printf(b, " (%s)", f->dev->scheduler);
	buf_str(b, " behind other I/O, before the drive even sees them");
}

static void because_throttle(const struct facts *f, struct buf *b)
{
	buf_printf(b, "the kernel holds %s I/O back on purpose (writeback throttling, or an I/O limit of a cgroup)",
		   pronoun(f)->their);
}

static void because_runq(const struct facts *f, struct buf *b)
{
	buf_printf(b, "%s %s ready to go on and had to wait for a CPU, which other programs used", pronoun(f)->they,
		   pronoun(f)->were);
}

static void because_journal(const struct facts *f, struct buf *b)
{
	buf_printf(b, "the file system's journal lets %s wait for other operations, while the journal does no I/O of its own",
		   pronoun(f)->them);
}

static void because_lock(const struct facts *f, struct buf *b)
{
	buf_printf(b, "%s wait%s for another task (a lock), not for the disk", pronoun(f)->they, pronoun(f)->s);
}

static void because_cpu(const struct facts *f, struct buf *b)
{
	(void)f;
	buf_str(b, "the kernel computes; hardly any of the time is a wait for the disk");
}

/* clang-format off */
static void (*const because[GROUPS])(const struct facts *f, struct buf *b) = {
	[GROUP_FLUSH] = because_flush, [GROUP_WRITE] = because_write, [GROUP_READ] = because_read,
	[GROUP_FUA] = because_fua, [GROUP_DISCARD] = because_discard, [GROUP_VOLUME] = because_volume, [GROUP_BUSY] = because_busy,
	[GROUP_SCHEDULER] = because_scheduler, [GROUP_THROTTLE] = because_throttle, [GROUP_RUNQ] = because_runq,
	[GROUP_JOURNAL] = because_journal, [GROUP_LOCK] = because_lock, [GROUP_CPU] = because_cpu,
	[GROUP_UNKNOWN] = because_cpu,
};

static const char *const group_names[GROUPS] = {
	[GROUP_FLUSH] = "flushes of the drive's cache", [GROUP_WRITE] = "writes in the drive",
	[GROUP_READ] = "reads in the drive", [GROUP_FUA] = "FUA writes in the drive",
	[GROUP_DISCARD] = "discards and the like in the drive", [GROUP_VOLUME] = "the many writes of each call", [GROUP_BUSY] = "other I/O in the drive's queue",
	[GROUP_SCHEDULER] = "the I/O scheduler", [GROUP_THROTTLE] = "throttling",
	[GROUP_RUNQ] = "waiting for a CPU", [GROUP_JOURNAL] = "the journal", [GROUP_LOCK] = "locks",
	[GROUP_CPU] = "computing", [GROUP_UNKNOWN] = "not explained",
};
/* clang-format on */

/* "91 % of the 6.28 s that sqlite3 spent in fdatasync" */
static void add_share(const struct facts *f, uint64_t part, struct buf *b)
{
	const struct report_sync *s = f->s;
	struct num n;

	buf_printf(b, "%s of the %s that ", num_percent(part, ledger_sum(&s->ledger), 0).s, dur(&n, s->total_ns));
	add_who(b, s);
	buf_str(b, " spent in ");
	add_call(b, s);
}

/* So few that they are spoken of as these calls, and not as what the program does. */
#define FEW_CALLS 10

/* "The 4 fsyncs of git took 33.1 ms of the 43.2 ms traced." */
static void say_these(const struct facts *f, struct buf *b)
{
	const struct report_sync *s = f->s;
	const struct report_group *p = main_process(s);
	const char *call = main_call(s);
	struct num n, wall;

	if (p && p->comm && call && !strcmp(p->comm, call)) /* not "the sync of sync" */
		call = NULL;
	buf_str(b, "The ");
	if (s->count > 1)
		buf_printf(b, "%s ", num_count(s->count).s);
	buf_printf(b, "%s%s of ", call ? call : "sync call", num_plural(s->count));
	add_who(b, s);
	buf_printf(b, " took %s", dur(&n, s->total_ns));
	if (f->r->wall_ns >= s->total_ns)
		buf_printf(b, " of the %s traced", dur(&wall, f->r->wall_ns));
	buf_str(b, ". ");
}

static const char *slow_because(const struct facts *f, struct buf *b)
{
	uint64_t mean = f->s->count ? f->s->total_ns / f->s->count : 0;
	bool few = f->s->count < FEW_CALLS, one = f->s->count == 1;
	const char *they = !few ? "Your fsyncs are" : one ? "It is" : "They are";
	struct num n;

	if (few)
		say_these(f, b);
	if (mean >= SLOW_NS)
		buf_printf(b, "%s %sslow because ", they, f->near ? "probably " : "");
	else
		buf_printf(b, "%s quick (%s%s). Most of that is %sthere because ", they, dur(&n, mean),
			   one ? "" : " on average", f->near ? "probably " : "");
	return few ? "that time" : NULL;
}

/* Which part of the time the cause is. */
static void end_because(const struct facts *f, uint64_t part, const char *whole, struct buf *b)
{
	buf_str(b, ": ");
	if (whole)
		buf_printf(b, "%s of %s", num_percent(part, ledger_sum(&f->s->ledger), 0).s, whole);
	else
		add_share(f, part, b);
	buf_char(b, '.');
}

static void say_cause(const struct facts *f, struct buf *b)
{
	const char *whole = slow_because(f, b);

	because[f->first](f, b);
	end_because(f, f->ns[f->first], whole, b);
}

/* What is not explained is no place that time can go to. */
static void say_unknown(const struct facts *f, struct buf *b)
{
	uint64_t second = f->ns[f->second], sum = ledger_sum(&f->s->ledger);

	buf_str(b, f->ns[f->first] > sum / 2 ? "Where most of the time of your fsyncs went is not known: " :
					       "There is no single reason for the time of your fsyncs: ");
	add_share(f, f->ns[f->first], b);
	buf_str(b, " is not explained.");
	if (second)
		buf_printf(b, " %s went to %s.", num_percent(second, sum, 0).s, group_names[f->second]);
}

static void say_mixed(const struct facts *f, struct buf *b)
{
	struct num second = num_percent(f->ns[f->second], ledger_sum(&f->s->ledger), 0);

	if (f->first == GROUP_UNKNOWN) {
		say_unknown(f, b);
		return;
	}
	buf_printf(b, "There is %sno single reason for the time of your fsyncs: ", f->near ? "probably " : "");
	add_share(f, f->ns[f->first], b);
	buf_printf(b, " went to %s, %s %s%s.", group_names[f->first], second.s,
		   f->second == GROUP_UNKNOWN ? "is " : "to ", group_names[f->second]);
}

static void say_not_sync(const struct facts *f, struct buf *b)
{
	struct num spent, wall;

	buf_printf(b, "Fsync is %snot what makes this run take its time: of its %s, %s (%s) went to sync calls.",
		   f->near ? "probably " : "", dur(&wall, f->r->wall_ns), dur(&spent, f->s->total_ns),
		   num_percent(f->s->total_ns, f->r->wall_ns, 0).s);
}

static void say_elsewhere(const struct facts *f, struct buf *b)
{
	const struct report_sync *s = f->s;
	struct num n, wall;

	buf_printf(b,
		   "In the %s traced no sync call (fsync or the like) was on the disks that were traced, but %s %s elsewhere, "
		   "which took %s.",
		   dur(&wall, f->r->wall_ns), num_count(s->elsewhere).s, s->elsewhere == 1 ? "was" : "were",
		   dur(&n, s->elsewhere_ns));
}

/* The command by its name, or those that the filter names; NULL: everybody. */
static const char *asked(const struct facts *f)
{
	const char *command = f->r->command ? f->r->command[0] : NULL, *slash = command ? strrchr(command, '/') : NULL;

	return command ? slash && slash[1] ? slash + 1 : command : f->r->filter ? "the filtered tasks" : NULL;
}

/* Where somebody synced, nobody may say that it isn't fsync. */
static bool somebody_synced(const struct facts *f)
{
	return f->s->others || f->flushed || (f->written && f->writes_ns >= f->r->wall_ns / 5);
}

static void say_meanwhile(const struct facts *f, struct buf *b)
{
	const struct report_device *d = f->flushed ? f->flushed : f->written;
	uint64_t n = f->flushed ? f->flushes : f->writes;
	struct num sum;

	if (f->s->others)
		buf_printf(b, ". Meanwhile others made %s, %s in all.", num_count(f->s->others).s,
			   dur(&sum, f->s->others_ns));
	else
		buf_printf(b, ". Meanwhile %s did %s %s%s, %s in all.", d->name, num_count(n).s,
			   f->flushed ? "FLUSH" : "write",
			   n == 1     ? "" :
			   f->flushed ? "es" :
					"s",
			   dur(&sum, f->flushed ? f->flushes_ns : f->writes_ns));
}

/* A disk that completed nothing and has something to do; NULL: none. */
static const struct report_device *in_flight(const struct facts *f)
{
	for (size_t i = 0; i < f->r->n_devices; i++)
		if (in_flight_any(&f->r->device[i].in_flight))
			return &f->r->device[i];
	return NULL;
}

static void say_in_flight(const struct report_device *d, struct buf *b)
{
	buf_printf(b, ", but %s completed nothing, and had ", d->name);
	in_flight_words(&d->in_flight, b);
	buf_str(b, " in flight at the end.");
}

/* A disk that is watched while nothing happens: that says nothing of the time in which it is slow. */
static bool nothing_happened(const struct facts *f)
{
	uint64_t requests = 0;

	for (size_t i = 0; i < f->r->n_devices; i++)
		requests += report_device_requests(&f->r->device[i]) + f->r->device[i].kernel.reads +
			    f->r->device[i].kernel.writes;
	return !f->r->command && !f->r->filter && !requests && !somebody_synced(f) && !in_flight(f);
}

static void say_nothing_happened(const struct facts *f, struct buf *b)
{
	struct num n;

	buf_printf(b, "There was no sync call (fsync or the like) and no other I/O in the %s traced: trace while it is slow.",
		   dur(&n, f->r->wall_ns));
	if (!f->r->looked_before)
		buf_str(b, " A call that hangs since before would not be seen.");
}

/* A call that began before a disk was watched isn't seen; a wrapped command has none. */
static void say_no_sync(const struct facts *f, struct buf *b)
{
	const char *who = asked(f);
	bool failed = f->r->have_exit_status && f->r->exit_status;
	struct num n;

	if (f->s->elsewhere) {
		say_elsewhere(f, b);
		return;
	}
	if (nothing_happened(f)) {
		say_nothing_happened(f, b);
		return;
	}
	buf_printf(b, "There was no sync call (fsync or the like)%s%s in the %s traced", who ? " by " : "",
		   who ? who : "", dur(&n, f->r->wall_ns));
	if (failed)
		buf_printf(b, ", and it ended with exit status %d", f->r->exit_status);
	if (somebody_synced(f))
		say_meanwhile(f, b);
	else if (in_flight(f))
		say_in_flight(in_flight(f), b);
	else if (failed || f->r->left_running)
		buf_char(b, '.');
	else
		buf_printf(b, ": whatever is slow, it isn't fsync%s.",
			   f->r->command || f->r->looked_before ? "" : ", unless one hangs that began before");
}

/* The program whose processes took most of the others' time, and how many they are. */
static const struct report_other *main_other(const struct report_sync *s, unsigned int *processes)
{
	const struct report_other *main = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < s->n_other; i++) {
		uint64_t sum = 0;
		unsigned int n = 0;

		for (size_t j = 0; j < s->n_other; j++)
			if (!strcmp(s->other[i].comm, s->other[j].comm)) {
				sum += s->other[j].total_ns;
				n++;
			}
		if (sum <= most)
			continue;
		main = &s->other[i];
		most = sum;
		*processes = n;
	}
	return main;
}

/* Whether the calls of others had anything to make durable is not known: their mount is. */
static void say_nobarrier(const struct facts *f, struct buf *b)
{
	const struct report_mount *m = f->dev ? facts_nobarrier(f->dev) : NULL;

	if (m)
		buf_printf(b, ". %s is mounted without barriers: what is synced there may not survive a power cut",
			   m->dir ? m->dir : f->dev->name);
}

static void say_whose(const struct facts *f, struct buf *b)
{
	unsigned int processes = 0;
	const struct report_other *main = main_other(f->s, &processes);
	struct num n, wall;

	buf_printf(b, ", but others made %s on the same disks (%s in all, in a run of %s)", num_count(f->s->others).s,
		   dur(&n, f->s->others_ns), dur(&wall, f->r->wall_ns));
	if (main && processes > 1)
		buf_printf(b, ", most of it by %s (%s processes)", main->comm, num_count(processes).s);
	else if (main)
		buf_printf(b, ", most of it by %s (%u)", main->comm, main->pid);
	if (f->flushed && (f->flushes_ns >= f->s->others_ns / TWICE || f->flushes_ns >= f->r->wall_ns / TWICE))
		buf_printf(b, ". %s spent %s in FLUSHes", f->flushed->name, dur(&n, f->flushes_ns));
	say_nobarrier(f, b);
	if (main && processes == 1 && main->pid)
		buf_printf(b, ". Watch it: barriertrace -p %u.", main->pid);
	else if (f->flushed || f->dev)
		buf_printf(b, ". Watch the disk: barriertrace %s.", f->flushed ? f->flushed->name : f->dev->name);
	else
		buf_str(b, ". Watch the disk.");
}

static void say_others(const struct facts *f, struct buf *b)
{
	const char *who = asked(f);
	struct num n, wall;

	if (f->s->count)
		buf_printf(b, "The %s sync call%s of %s took %s", num_count(f->s->count).s, num_plural(f->s->count),
			   who, dur(&n, f->s->total_ns));
	else
		buf_printf(b, "There was no sync call (fsync or the like)%s%s", who ? " by " : "", who ? who : "");
	if (f->s->others)
		say_whose(f, b);
	else
		buf_printf(b, ", but %s spent %s of the %s traced in %s FLUSH%s%s. Watch the disk: barriertrace %s.",
			   f->flushed->name, dur(&n, f->flushes_ns), dur(&wall, f->r->wall_ns), num_count(f->flushes).s,
			   f->flushes == 1 ? "" : "es", who ? " that others sent" : "", f->flushed->name);
}

static void say_too_little(const struct facts *f, struct buf *b)
{
	struct num n;

	buf_printf(b, "Too little data for a verdict: %s sync call%s, %s in all", num_count(f->s->count).s,
		   num_plural(f->s->count), dur(&n, f->s->total_ns));
	if (f->s->no_ledger)
		buf_printf(b, ", and %s more that could not be followed", num_count(f->s->no_ledger).s);
	if (!f->s->count && f->s->lost)
		buf_printf(b, ", and %s event%s lost", num_count(f->s->lost).s, f->s->lost == 1 ? " was" : "s were");
	buf_char(b, '.');
}

/* A daemon's parent ends at once, and the daemon is who syncs. */
static void say_left(const struct facts *f, struct buf *b)
{
	const struct report *r = f->r;
	bool one = r->left_running == 1;

	if (!r->left_running)
		return;
	buf_str(b, " The command left ");
	if (!one)
		buf_printf(b, "%s processes running, such as ", num_count(r->left_running).s);
	buf_printf(b, "%s (%u)%s. What %s from then on is not in this report: watch barriertrace -p %u.", r->left_comm,
		   r->left_pid, one ? " running" : "", one ? "it does" : "they do", r->left_pid);
}

/* The other reading where a figure is near a threshold, or other calls might give it. */
static const struct reading {
	const char *class, *words;
} readings[] = {
	{ "device-flush", "the drive is slow to empty its write cache" },
	{ "device-fua", "the drive is slow with writes that must not stay in its cache" },
	{ "device-write", "the drive is slow to write" },
	{ "device-read", "the drive is slow to read" },
	{ "device-busy", "the drive is busy with other requests" },
	{ "volume", "much is written in each call" },
	{ "io-scheduler", "requests wait in the I/O scheduler" },
	{ "throttled", "the kernel holds I/O back on purpose" },
	{ "cpu-scheduler", "they wait for a CPU" },
	{ "journal", "they wait for the file system's journal" },
	{ "lock", "they wait for another task" },
	{ "cpu", "the kernel computes" },
	{ "mixed", "there is no single reason" },
	{ "not-sync", "fsync is not what makes the run take its time" },
	{ "unsafe-fast", "they are not safe" },
};

static void say_near(const struct facts *f, struct buf *b)
{
	for (size_t i = 0; f->near && i < sizeof(readings) / sizeof(readings[0]); i++)
		if (!strcmp(f->near, readings[i].class))
			buf_printf(b, " Another reading is near: %s.", readings[i].words);
}

/* Whatever class: the one that hangs is in no figure, and may be what this is about. */
static void say_under_way(const struct facts *f, struct buf *b)
{
	const struct report *r = f->r;
	const char *more = f->s->count ? " more" : "";
	struct num n;

	if (f->hung) {
		buf_char(b, ' ');
		outstanding_say(f, b);
		return;
	}
	/* of older recordings, which don't tell who */
	if (r->under_way == 1)
		buf_printf(b, " One%s had not returned after %s.", more, dur(&n, r->under_way_ns));
	else if (r->under_way)
		buf_printf(b, " %s%s had not returned, the oldest after %s.", num_count(r->under_way).s, more,
			   dur(&n, r->under_way_ns));
}

static void say_unsafe(const struct facts *f, struct buf *b)
{
	const char *disk = f->unsafe_dev->name;
	struct num n;

	switch (f->unsafe) {
	case UNSAFE_NOBARRIER:
		buf_printf(b,
			   "Your fsyncs are not safe: %s is mounted without barriers (nobarrier), so the drive %s is never "
			   "told to empty its write cache, and a power cut loses what fsync said was written.",
			   f->unsafe_mount->dir ? f->unsafe_mount->dir : "the file system", disk);
		break;
	case UNSAFE_RANGE:
		buf_printf(b,
			   "Your sync calls are not safe: sync_file_range never makes the drive %s empty its write cache, so "
			   "a power cut loses what it said was written.",
			   disk);
		break;
	case UNSAFE_NO_FLUSH:
		buf_printf(b,
			   "Your fsyncs are not safe: they returned without the drive %s being told to empty its write "
			   "cache, and a power cut loses what they said was written.",
			   disk);
		break;
	case UNSAFE_WRITE_THROUGH:
		buf_printf(b,
			   "Your fsyncs are probably not safe: the kernel takes the disk %s for one without a volatile "
			   "cache and never flushes it, but %s for a write is too fast for a turning disk.",
			   disk, dur(&n, f->write_p50));
		break;
	default:
		buf_printf(b,
			   "Your fsyncs are perhaps not safe: the disk %s says after %s that its write cache is empty, which "
			   "is too fast for a turning disk.",
			   disk, dur(&n, f->flush_p50));
	}
}

/* ---- evidence ---- */

static void add(char ***to, struct buf *b)
{
	if (b->len)
		strv_add(to, xstrdup(b->data));
	buf_free(b);
}

static void calls_by_kind(const struct report_sync *s, struct buf *b)
{
	const char *comma = " (";

	for (unsigned int c = 0; c < CALL_COUNT; c++)
		if (s->calls[c]) {
			buf_printf(b, "%s%s %s", comma, num_count(s->calls[c]).s, call_name(c));
			comma = ", ";
		}
	if (*comma == ',')
		buf_char(b, ')');
}

static void show_calls(const struct facts *f, char ***to)
{
	const struct report_sync *s = f->s;
	struct num p50, p99, max, sum;
	struct buf b = { 0 };

	if (!s->count) {
		strv_add(to, xasprintf("0 sync calls in %s", dur(&sum, f->r->wall_ns)));
		return;
	}
	buf_printf(&b, "%s sync call%s", num_count(s->count).s, num_plural(s->count));
	calls_by_kind(s, &b);
	buf_printf(&b, " took %s: p50 %s, p99 %s, longest %s", dur(&sum, s->total_ns),
		   dur(&p50, hist_quantile(&s->latency, 0.5)), dur(&p99, hist_quantile(&s->latency, 0.99)),
		   dur(&max, s->latency.max));
	add(to, &b);
}

static void show_wall(const struct facts *f, char ***to)
{
	uint64_t ns = f->s->total_ns, wall_ns = f->r->wall_ns;
	struct num wall = num_duration(wall_ns, 0);

	if (!f->s->count || !wall_ns)
		return;
	if (ns > wall_ns)
		strv_add(to, xasprintf("Several at once: together %s times the %s that the run took",
				       num_ratio(ns, wall_ns).s, wall.s));
	else
		strv_add(to, xasprintf("That is %s of the %s that the run took", num_percent(ns, wall_ns, 0).s, wall.s));
}

static int largest_below(const struct ledger *l, const bool *shown)
{
	int best = -1;

	for (int c = 0; c < CAUSE_COUNT; c++)
		if (!shown[c] && l->ns[c] && (best < 0 || l->ns[c] > l->ns[best]))
			best = c;
	return best;
}

/* The other causes' shares: a reader should see how clear it is. */
static void show_causes(const struct facts *f, char ***to)
{
	const struct ledger *l = &f->s->ledger;
	uint64_t sum = ledger_sum(l);
	bool shown[CAUSE_COUNT] = { false };
	struct buf b = { 0 };
	int c;

	if (!sum)
		return;
	buf_str(&b, "Where that time went:");
	for (int i = 0; i < CAUSES_SHOWN && (c = largest_below(l, shown)) >= 0; i++) {
		shown[c] = true;
		buf_printf(&b, "%s %s %s", i ? "," : "", cause_name(c), num_percent(l->ns[c], sum, 0).s);
	}
	if (!shown[CAUSE_UNKNOWN])
		buf_printf(&b, "; %s %s", cause_name(CAUSE_UNKNOWN), num_percent(l->ns[CAUSE_UNKNOWN], sum, 0).s);
	add(to, &b);
}

/* Leaves that differ only in who called what on which file: the same tasks waited for, and the same cause at their end. */
struct way {
	const char *frames; /* of a leaf's path: through whom.., cause, device */
	enum cause cause;
	uint64_t ns;
};

/* What follows the command, the call and the file. */
static const char *frames_of_way(const char *path)
{
	for (int i = 0; i < 3 && path; i++) {
		path = strchr(path, ';');
		path = path ? path + 1 : NULL;
	}
	return path ? path : "";
}

static int by_frames(const void *a, const void *b)
{
	return strcmp(((const struct way *)a)->frames, ((const struct way *)b)->frames);
}

/* Frames before the cause: through whom. */
static size_t through_len(const struct way *w)
{
	const char *name = cause_name(w->cause), *at = w->frames;
	size_t len;

	while (*at) {
		len = strcspn(at, ";");
		if (len == strlen(name) && !memcmp(at, name, len))
			break;
		at += len + (at[len] == ';');
	}
	return (size_t)(at - w->frames);
}

/* Of the ways that lead through others to the first group's causes, the one that took longest; ns is 0 if there is none. */
static struct way longest_way(const struct facts *f)
{
	struct way *way = xcalloc(f->s->n_leaves + 1, sizeof(*way)), best = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < f->s->n_leaves; i++) {
		const struct report_leaf *l = &f->s->leaf[i];
		struct way w = { l->path ? frames_of_way(l->path) : "", l->cause, l->ns };

		if (facts_group(f, l->cause) == f->first && through_len(&w))
			way[n++] = w;
	}
	qsort(way, n, sizeof(*way), by_frames);
	for (size_t i = 0; i < n; i++) {
		if (i && !by_frames(&way[i - 1], &way[i]))
			way[i].ns += way[i - 1].ns;
		if (way[i].ns > best.ns)
			best = way[i];
	}
	free(way);
	return best;
}

/* Which tasks the waiting went through: the journal's thread, and who it had to wait for. */
static void show_through(const struct facts *f, char ***to)
{
	struct way most = longest_way(f);
	struct buf b = { 0 };
	size_t len;

	if (!most.ns)
		return;
	len = through_len(&most);
	buf_printf(&b, "The largest part that went through other tasks, %s: %s, by way of ",
		   num_percent(most.ns, f->s->total_ns, 0).s, cause_name(most.cause));
	for (const char *at = most.frames, *end = at + len; at < end; at += len + 1) {
		len = strcspn(at, ";");
		buf_str(&b, at > most.frames ? ", " : "");
		buf_add(&b, at, len);
	}
	add(to, &b);
}

static void show_flushes(const struct facts *f, char ***to)
{
	const struct report_kernel *k;
	const struct tally *h;
	struct num p50, p99, sum;
	struct buf b = { 0 };

	if (!f->dev)
		return;
	h = facts_flush_hist(f->dev);
	k = &f->dev->kernel;
	if (h->count)
		buf_printf(&b, "%s did %s FLUSH%s: p50 %s, p99 %s", f->dev->name, num_count(h->count).s,
			   h->count == 1 ? "" : "es", dur(&p50, tally_quantile(h, 0.5)),
			   dur(&p99, tally_quantile(h, 0.99)));
	else
		buf_printf(&b, "%s did no FLUSH", f->dev->name);
	if (k->have && k->have_flush)
		buf_printf(&b, "; the kernel itself counted %s, %s", num_count(k->flushes).s, dur(&sum, k->flush_ns));
	add(to, &b);
}

static bool flushes_matter_most(const struct facts *f)
{
	return f->ns[GROUP_FLUSH] >= f->ns[GROUP_WRITE] + f->ns[GROUP_FUA];
}

static uint64_t leg_mean(const struct facts *f, const struct report_device *d)
{
	struct report_op w;

	if (flushes_matter_most(f))
		return tally_mean(facts_flush_hist(d));
	report_device_row(d, ROW_WRITE, &w);
	return hist_mean(d->bio_based ? &w.total : &w.device);
}

/* A mirror waits for its slowest leg: is one much slower than all others? */
static void show_slow_leg(const struct facts *f, const struct report_device *top, char ***to)
{
	const struct report_device *slow = NULL, *next = NULL;
	struct num n, m;

	for (size_t i = 0; i < f->r->n_devices; i++) {
		const struct report_device *d = &f->r->device[i];

		if (!facts_is_leg(top, d))
			continue;
		if (!slow || leg_mean(f, d) > leg_mean(f, slow)) {
			next = slow;
			slow = d;
		} else if (!next || leg_mean(f, d) > leg_mean(f, next)) {
			next = d;
		}
	}
	if (!next || !leg_mean(f, next) || leg_mean(f, slow) < TWICE * leg_mean(f, next))
		return;
	strv_add(to, xasprintf("%s lies on several disks, and %s is the slow one: a %s takes %s (mean) in it, %s in %s",
			       top->name, slow->name, flushes_matter_most(f) ? "FLUSH" : "write",
			       dur(&n, leg_mean(f, slow)), dur(&m, leg_mean(f, next)), next->name));
}

static void show_legs(const struct facts *f, char ***to)
{
	uint64_t waited = f->ns[GROUP_FLUSH] + f->ns[GROUP_WRITE] + f->ns[GROUP_FUA];

	for (size_t i = 0; i < f->r->n_devices; i++)
		if (waited && (double)waited >= WORTH_A_LINE * (double)ledger_sum(&f->s->ledger))
			show_slow_leg(f, &f->r->device[i], to);
}

static void show_writes(const struct facts *f, char ***to)
{
	struct buf b = { 0 };
	struct num p50, p99, queue;
	struct report_op w;

	if (!f->dev || !f->s->count)
		return;
	report_device_row(f->dev, ROW_WRITE, &w);
	if (!w.device.count)
		return;
	buf_printf(&b, "A write took %s (p50; p99 %s) in %s", dur(&p50, hist_quantile(&w.device, 0.5)),
		   dur(&p99, hist_quantile(&w.device, 0.99)), f->dev->name);
	if (w.queue.count)
		buf_printf(&b, " after %s (mean) in its queue", dur(&queue, hist_mean(&w.queue)));
	add(to, &b);
}

static void show_depth(const struct facts *f, char ***to)
{
	struct buf b = { 0 };

	if (!f->dev || !f->flush_mean || !f->s->count || !(f->s->busy_flushes || report_device_depths(f->dev)))
		return;
	buf_printf(&b, "When a FLUSH was sent, %s other requests were in the drive on average",
		   num_ratio((uint64_t)(f->ahead * 100 + 0.5), 100).s);
	if (f->flush_queued) {
		struct num flush, write;

		buf_printf(&b,
			   ", and it took %s (mean), as writes did (a tenth of them took less than %s): it waited in their "
			   "queue",
			   dur(&flush, f->flush_mean), dur(&write, f->write_fast));
	}
	add(to, &b);
}

static void other_processes(const struct report_sync *s, const struct report_group *but, struct buf *b)
{
	size_t shown = 0, left = 0;
	struct num n;

	for (size_t i = 0; i < s->n_processes; i++) {
		const struct report_group *p = &s->process[i];

		if (p == but)
			continue;
		if (shown == OTHERS_SHOWN) {
			left++;
			continue;
		}
		if (is_rest(p))
			buf_printf(b, "%s other processes (", shown++ ? "," : "");
		else
			buf_printf(b, "%s %s (pid %" PRIu32 ", ", shown++ ? "," : "", p->comm ? p->comm : "?", p->pid);
		buf_printf(b, "%s call%s, %s)", num_count(p->count).s, num_plural(p->count), dur(&n, p->total_ns));
	}
	if (left)
		buf_printf(b, ", and %zu more", left);
}

static void show_neighbours(const struct facts *f, char ***to)
{
	const struct report_sync *s = f->s;
	const struct report_group *p = main_process(s);
	uint64_t flush = s->flush_own_ns + s->flush_foreign_ns;
	struct buf b = { 0 };

	if (flush && (double)s->flush_foreign_ns >= WORTH_A_LINE * (double)flush)
		strv_add(to, xasprintf("%s of the time in flushes went to those of a neighbour",
				       num_percent(s->flush_foreign_ns, flush, 0).s));
	if (s->n_processes < 2)
		return;
	buf_printf(&b, "Besides %s (pid %" PRIu32 ", %s call%s), these made sync calls:", p->comm ? p->comm : "?",
		   p->pid, num_count(p->count).s, num_plural(p->count));
	other_processes(s, p, &b);
	add(to, &b);
}

static void show_unsafe(const struct facts *f, char ***to)
{
	const struct report_device *d = f->unsafe_dev;
	const struct report_sync *s = f->s;
	struct buf b = { 0 };

	if (f->unsafe == SAFE)
		return;
	strv_add(to, xasprintf("%s of %s sync call%s returned without a FLUSH or FUA write and had data to make durable",
			       num_count(s->unsafe).s, num_count(s->count).s, num_plural(s->count)));
	if (d->write_cache)
		buf_printf(&b, "%s: write cache \"%s\"", d->name, d->write_cache);
	if (d->have_fua && b.len)
		buf_printf(&b, ", FUA %s", d->fua ? "yes" : "no");
	if (d->have_rotational && b.len)
		buf_printf(&b, ", %s", d->rotational ? "rotating" : "not rotating");
	add(to, &b);
	if (f->unsafe_mount && f->unsafe_mount->options)
		strv_add(to, xasprintf("Mounted with %s", f->unsafe_mount->options));
}

static void show_settings(const struct facts *f, char ***to)
{
	const struct report_device *d = f->dev;
	struct buf b = { 0 };
	struct num n;

	if (!d || (f->first != GROUP_SCHEDULER && f->first != GROUP_THROTTLE && f->first != GROUP_BUSY))
		return;
	if (d->scheduler)
		buf_printf(&b, "%s: scheduler %s", d->name, d->scheduler);
	if (d->nr_requests && b.len)
		buf_printf(&b, ", nr_requests %s", num_count(d->nr_requests).s);
	if (d->have_wbt && b.len)
		buf_printf(&b, ", writeback throttling %s", d->wbt_lat_us ? dur(&n, d->wbt_lat_us * 1000) : "off");
	add(to, &b);
}

/* A cache that the kernel doesn't know of is never flushed: only the owner can tell. */
static void show_write_through(const struct facts *f, char ***to)
{
	const struct report_device *d = f->dev;

	if (!d || f->unsafe != SAFE || !f->s->count || strncmp(d->name, "sd", 2) || !facts_cache_is(d, "write through"))
		return;
	strv_add(to, xasprintf("The kernel takes %s for a disk without a volatile cache, so it is never flushed; behind a USB "
			       "bridge that can be a mistake (`hdparm -W`, `smartctl -g wcache` ask the drive itself)",
			       d->name));
}

static void show_gaps(const struct facts *f, char ***to)
{
	struct buf b = { 0 };

	if (f->s->no_ledger) {
		buf_printf(&b, "%s more call%s", num_count(f->s->no_ledger).s, num_plural(f->s->no_ledger));
		if (f->s->no_ledger_ns)
			buf_printf(&b, ", of %s%s,", num_duration(f->s->no_ledger_ns, 0).s,
				   f->s->no_ledger > 1 ? " in all" : "");
		buf_str(&b, f->s->without[NO_LEDGER_IDLE] ?
				    " could not be followed: not in these figures" :
				    " could not be followed, because facts were dropped: not in these figures");
	}
	add(to, &b);
}

#define OTHERS_NAMED 3

static void show_others(const struct facts *f, char ***to)
{
	struct buf b = { 0 };
	struct num n;

	if (!f->s->others)
		return;
	buf_printf(&b, "Others made %s sync call%s on the same disks, %s in all: ", num_count(f->s->others).s,
		   num_plural(f->s->others), dur(&n, f->s->others_ns));
	for (size_t i = 0; i < f->s->n_other && i < OTHERS_NAMED; i++)
		buf_printf(&b, "%s%s (%u) %s, %s", i ? "; " : "", f->s->other[i].comm, f->s->other[i].pid,
			   num_count(f->s->other[i].count).s, dur(&n, f->s->other[i].total_ns));
	if (f->s->n_other > OTHERS_NAMED)
		buf_printf(&b, "; %s more processes", num_count(f->s->n_other - OTHERS_NAMED).s);
	add(to, &b);
}

static void show_elsewhere(const struct facts *f, char ***to)
{
	uint64_t n = f->s->elsewhere;

	if (f->s->count && n)
		strv_add(to, xasprintf("%s more call%s, %s in all, %s elsewhere, on no disk that was traced: not in these figures",
				       num_count(n).s, num_plural(n), num_duration(f->s->elsewhere_ns, 0).s,
				       n == 1 ? "was" : "were"));
}

static void show_evidence(const struct facts *f, char ***to)
{
	static void (*const shows[])(const struct facts *f, char ***to) = {
		show_unsafe,   show_calls,	   show_wall,	show_causes, show_through,
		show_flushes,  show_legs,	   show_writes, show_depth,  show_neighbours,
		show_settings, show_write_through, show_gaps,	show_others, show_elsewhere,
	};

	for (size_t i = 0; i < sizeof(shows) / sizeof(shows[0]); i++)
		shows[i](f, to);
}

/* ---- advice: what has most effect first, each with its risk ---- */

#define BATCH \
	"Sync less often: put several changes into one transaction, or let commits share a call (SQLite: journal_mode=WAL, " \
	"1 call where DELETE needs 4; PostgreSQL: commit_delay; MariaDB: binlog_group_commit_sync_delay). Risk: none to the " \
	"files; a crash loses the transactions that were not yet committed."
#define PLP \
	"Use a drive with power-loss protection: it answers a flush at once because its cache survives. Risk: none, but " \
	"check that it really has capacitors; many consumer drives don't."
#define APART "Move the other I/O to another disk, or to another time. Risk: none."
#define SCHEDULER_OF_OTHERS \
	"Give the other I/O a lower priority or a limit (ionice -c 3 under bfq or mq-deadline; io.weight, io.max of its " \
	"cgroup). Risk: it takes longer."

static const char *const on_flush[] = {
	BATCH, PLP,
	"Only where the cache survives a power cut (such a drive, or a controller with a battery): mount with barrier=0 "
	"(ext4). Risk without that: a power cut can destroy the file system and lose what fsync said was written.",
	"Where the drive writes faster without its cache (some do): switch it off with hdparm -W 0. Risk: other writes get "
	"slower.",
	NULL
};
static const char *const on_write[] = {
	BATCH,
	"Write less per call: preallocate files and overwrite in place, use fdatasync rather than fsync, mount with "
	"noatime. Risk: fdatasync leaves out the times of a file.",
	"Use a faster drive, or put the journal on one (ext4: external journal). Risk: without the journal's disk the file "
	"system can't be mounted.",
	NULL
};
static const char *const on_volume[] = {
	"Write less before each call, or sync oftener, while there is less to write. Risk: none to the files; the time in all is about the same.",
	"Let the kernel begin to write earlier: sync_file_range after each few MB, or a lower vm.dirty_background_bytes. Risk: a page that changes "
	"again is written again.",
	"Use a drive that takes more bytes per second. Risk: none.", NULL
};
static const char *const on_fua[] = {
	BATCH, PLP,
	"See whether the drive is quicker with a flush than with FUA writes (libata.fua=0 for ATA disks). Risk: none to "
	"the data; it can be slower.",
	NULL
};
static const char *const on_read[] = {
	"Give the machine more memory, or keep the files' metadata in it (vm.vfs_cache_pressure). Risk: less memory for "
	"the rest.",
	"Preallocate files, so that no bitmaps have to be read while syncing. Risk: space that is taken before it is used.",
	NULL
};
/* clang-format off */
static const char *const on_discard[] = {
	"Mount without the option discard and run fstrim once a week. Risk: the drive learns of free space later.",
	NULL
};
/* clang-format on */
static const char *const on_busy[] = {
	APART, SCHEDULER_OF_OTHERS,
	"Let fewer requests into the drive, so that the scheduler has something to choose from (nr_requests or the "
	"drive's queue_depth, with mq-deadline or bfq). Risk: less throughput for the other I/O.",
	NULL
};
static const char *const on_queue[] = {
	SCHEDULER_OF_OTHERS,
	"Try another scheduler (echo bfq, mq-deadline, kyber or none into queue/scheduler): some prefer synchronous "
	"requests. Risk: less throughput; put it back if it doesn't help.",
	APART, NULL
};
static const char *const on_tag[] = {
	"Raise queue/nr_requests, as far as the drive takes it. Risk: more requests wait in the drive, where no scheduler "
	"can choose among them.",
	"Use a scheduler (mq-deadline, bfq) in place of none: it keeps slots for synchronous requests. Risk: some CPU time "
	"per request.",
	SCHEDULER_OF_OTHERS, APART, NULL
};
static const char *const on_throttle[] = {
	"If the command's cgroup has an I/O limit (io.max, io.latency, blkio.throttle.*), loosen it. Risk: its neighbours "
	"get less.",
	"Loosen writeback throttling: a larger queue/wbt_lat_usec, or 0 for off. Risk: background writes make reads wait "
	"longer.",
	SCHEDULER_OF_OTHERS, NULL
};
static const char *const on_runq[] = {
	"Take the load off the CPUs: fewer threads at once, or a lower priority (nice) for what computes. Risk: that takes "
	"longer.",
	"Give the program that syncs a higher priority (nice -n -5, chrt) or CPUs of its own (cpuset). Risk: the others get "
	"less; a real-time program that spins can lock up a CPU.",
	"If its cgroup has a CPU quota (cpu.max), raise it: a task that has used it up waits here. Risk: its neighbours "
	"get less.",
	NULL
};
static const char *const on_journal[] = {
	"Find out who else works on this file system (by process, by file), and move its files or your own to another "
	"one. Risk: none.",
	"Avoid large truncates and deletions, and many small changes of metadata, beside the program that syncs. Risk: "
	"none.",
	"ext4: mount with max_batch_time=0, so that a commit doesn't wait for company. Risk: more commits when many "
	"programs sync.",
	NULL
};
static const char *const on_lock[] = {
	"Sync from one thread per file, or open separate files: calls on the same file wait for each other. Risk: none to "
	"the data.",
	BATCH, NULL
};
static const char *const on_cpu[] = { BATCH, "Use a faster CPU, or less logging and tracing. Risk: none.", NULL };
static const char *const on_mixed[] = {
	BATCH, "Take on the largest share first and measure again: what remains may be something else. Risk: none.", NULL
};
/* clang-format off */
static const char *const on_left[] = { "Watch what it left while that works. Risk: none.", NULL };
static const char *const on_failed[] = { "See in the command's own messages why it failed. Risk: none.", NULL };
static const char *const on_not_sync[] = {
	"Look elsewhere: a CPU profile, reads, plain writes, the network. Risk: none.", NULL
};
/* clang-format on */
static const char *const on_idle[] = { "Trace while the load runs. Risk: none.", NULL };
static const char *const on_elsewhere[] = {
	"Trace the disks that the calls are on: without a disk's name all are traced. Risk: none.", NULL
};
static const char *const on_others[] = {
	"Watch the server's processes or its disk while the load runs: the sync calls of a server are made by processes of its "
	"own. Risk: none.",
	NULL
};
static const char *const on_too_little[] = { "Trace for longer, or a larger piece of work. Risk: none.", NULL };
static const char *const on_nobarrier[] = {
	"Unless the cache survives a power cut (power-loss protection, a battery), mount with barriers: mount -o "
	"remount,barrier=1. Risk: none; fsync gets as slow as the drive's flush is.",
	NULL
};
static const char *const on_range[] = {
	"Call fdatasync where the data has to be durable: sync_file_range was not made for that. Risk: none; it takes as "
	"long as the drive's flush.",
	NULL
};
static const char *const on_no_flush[] = {
	"Find out what swallows the flushes: a layer below (a virtual disk with cache=unsafe), an option of the file "
	"system. Until then don't rely on this disk in a power cut.",
	NULL
};
/* clang-format off */
static const char *const on_cache[] = {
	"Ask the drive itself for its cache (hdparm -W, smartctl -g wcache). If it has one and no battery: switch it off "
	"(hdparm -W 0), or tell the kernel by writing \"write back\" into /sys/class/scsi_disk/*/cache_type. Risk: none; "
	"fsync gets slower.",
	"If a controller with a battery is in between, all is well: this is a false alarm. Risk: none.",
	NULL
};

static const char *const *const on_group[GROUPS] = {
	[GROUP_FLUSH] = on_flush, [GROUP_WRITE] = on_write, [GROUP_READ] = on_read, [GROUP_FUA] = on_fua,
	[GROUP_DISCARD] = on_discard, [GROUP_VOLUME] = on_volume, [GROUP_BUSY] = on_busy, [GROUP_SCHEDULER] = on_queue,
	[GROUP_THROTTLE] = on_throttle, [GROUP_RUNQ] = on_runq, [GROUP_JOURNAL] = on_journal, [GROUP_LOCK] = on_lock,
	[GROUP_CPU] = on_cpu, [GROUP_UNKNOWN] = on_mixed,
};
/* clang-format on */

static const char *const *const on_unsafe[] = {
	[UNSAFE_NOBARRIER] = on_nobarrier, [UNSAFE_RANGE] = on_range,	 [UNSAFE_NO_FLUSH] = on_no_flush,
	[UNSAFE_WRITE_THROUGH] = on_cache, [UNSAFE_TOO_FAST] = on_cache,
};

static const char *const *advice_for_cause(const struct facts *f)
{
	const struct ledger *l = &f->s->ledger;

	if (f->first == GROUP_SCHEDULER && l->ns[CAUSE_TAG] > l->ns[CAUSE_IOQ])
		return on_tag;
	return on_group[f->first];
}

static const char *const *advice_for_unsafe(const struct facts *f)
{
	return on_unsafe[f->unsafe];
}

static const char *const *advice_for_no_sync(const struct facts *f)
{
	if (f->s->elsewhere)
		return on_elsewhere;
	if (f->r->left_running)
		return on_left;
	if (f->r->have_exit_status && f->r->exit_status)
		return on_failed;
	if (nothing_happened(f) || (somebody_synced(f) && !asked(f)))
		return on_idle;
	return somebody_synced(f) ? on_others : on_not_sync;
}

/* ---- all of it ---- */

/* Classes that have words of their own; the others speak of the largest cause. */
static const struct special {
	const char *class;
	void (*say)(const struct facts *f, struct buf *b);
	const char *const *advice;
	const char *const *(*choose)(const struct facts *f);
} specials[] = {
	{ "no-sync", say_no_sync, NULL, advice_for_no_sync },
	{ "unsafe-fast", say_unsafe, NULL, advice_for_unsafe },
	{ "not-sync", say_not_sync, on_not_sync, NULL },
	{ "too-little-data", say_too_little, on_too_little, NULL },
	{ "mixed", say_mixed, on_mixed, NULL },
	{ NULL, say_cause, NULL, advice_for_cause },
};

void verdict_words(const struct facts *f, struct report_verdict *v)
{
	static const struct special others = { "others", say_others, on_others, NULL };
	static const struct special outstanding = { "outstanding", outstanding_say, NULL, outstanding_advice };
	const struct special *w = specials;
	const char *const *advice;
	struct buf b = { 0 };

	while (w->class && strcmp(w->class, v->class))
		w++;
	if (!strcmp(v->scope, "others"))
		w = &others;
	if (!strcmp(v->scope, "outstanding"))
		w = &outstanding;
	w->say(f, &b);
	say_near(f, &b);
	if (w != &outstanding)
		say_under_way(f, &b);
	outstanding_say_began(f, &b);
	say_left(f, &b);
	v->sentence = xstrdup(b.data);
	buf_free(&b);
	show_evidence(f, &v->evidence);
	advice = w->choose ? w->choose(f) : w->advice;
	for (size_t i = 0; advice[i]; i++)
		strv_add(&v->advice, xstrdup(advice[i]));
}
