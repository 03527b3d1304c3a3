// SPDX-License-Identifier: GPL-2.0-only
#include "session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "analyse/block.h"
#include "collect/counters.h"
#include "log.h"
#include "mem.h"

#define COUNTERS_BUDGET	(64ul << 20)	/* bytes of counters, before CPUs have to share them */
#define SPARE_DISKS	8		/* room for disks that appear while every disk is traced */
#define SPARE_SLOTS	1024		/* request slots for each of them */
#define NO_VIEW		UINT32_MAX

/* One thing that is reported: a disk or a partition. */
struct tracked {
	struct target t;
	uint32_t view;
	bool vanished;
	struct report_kernel before, at_step, last;
};

/* One whole disk whose requests are counted. */
struct disk {
	char name[32];
	struct wire_disk wire;
};

struct session {
	struct session_opts opts;
	struct probes *probes;
	struct counters *counters;
	struct tracked *tracked;
	size_t n_tracked;
	struct disk *disk;
	size_t n_disks;
	uint32_t views, max_views, slots, max_slots;
	uint64_t start_ns, step_ns;
	char start_text[32];
	unsigned int not_followed;	/* disks that appeared when there was no room left */
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ---- which view counts what ---- */

static uint32_t disk_key(const struct disk *d)
{
	return d->wire.dev;
}

static struct disk *find_disk(struct session *s, uint32_t dev)
{
	for (size_t i = 0; i < s->n_disks; i++)
		if (disk_key(&s->disk[i]) == dev)
			return &s->disk[i];
	return NULL;
}

static struct disk *add_disk(struct session *s, const struct target *t)
{
	uint32_t dev = WIRE_DEV(t->disk_major, t->disk_minor);
	struct disk *d = find_disk(s, dev);

	if (d)
		return d;
	d = grow((void **)&s->disk, &s->n_disks, sizeof(*d));
	memcpy(d->name, t->disk, sizeof(d->name));
	d->wire.dev = dev;
	d->wire.view = s->views++;
	d->wire.hw_queues = t->hw_queues;
	d->wire.depth = t->depth;
	d->wire.slot_base = s->slots;
	s->slots += t->hw_queues * (t->depth + 1);
	return d;
}

static int add_tracked(struct session *s, const struct target *t, struct err *e)
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

static int tell_kernel(struct session *s, const struct disk *d)
{
	uint32_t dev = d->wire.dev;

	return bpf_map_update_elem(probes_maps(s->probes)->disks_fd, &dev, &d->wire, BPF_ANY);
}

/* ---- open and start ---- */

static uint32_t choose_stripes(uint32_t views)
{
	uint64_t per_stripe = (uint64_t)views * WIRE_CELLS * sizeof(struct wire_cell);
	uint64_t fit = COUNTERS_BUDGET / per_stripe;
	uint32_t cpus = (uint32_t)libbpf_num_possible_cpus();

	if (!fit)
		fit = 1;
	return fit < cpus ? (uint32_t)fit : cpus;
}

static bool any_bio_based(const struct session *s)
{
	for (size_t i = 0; i < s->n_tracked; i++)
		if (s->tracked[i].t.bio_based)
			return true;
	return s->opts.all;
}

static int open_probes(struct session *s, struct err *e)
{
	struct probe_want *want = &s->opts.want;
	int err;

	s->max_views = s->views + (s->opts.all ? SPARE_DISKS : 0);
	s->max_slots = s->slots + (s->opts.all ? SPARE_DISKS * SPARE_SLOTS : 0);
	want->views = s->max_views;
	want->slots = s->max_slots;
	want->stripes = choose_stripes(s->max_views);
	if (any_bio_based(s))
		want->on[PROBE_BIO_QUEUE] = want->on[PROBE_BIO_COMPLETE] = true;
	if (want->command || want->filter_tgid || want->filter_cgroup)
		want->on[PROBE_IO_START] = true;
	if (want->command)
		want->on[PROBE_FORK] = want->on[PROBE_EXIT] = true;
	err = probes_open(want, &s->probes, e);
	if (err)
		return err;
	s->counters = counters_new(probes_maps(s->probes), s->max_views);
	for (size_t i = 0; i < s->n_disks; i++)
		if (tell_kernel(s, &s->disk[i]))
			return err_set(e, errno, EXIT_FAILED, "cannot name %s to the kernel side: %s", s->disk[i].name,
				       strerror(errno));
	return 0;
}

int session_open(struct session_opts *opts, struct session **out, struct err *e)
{
	struct session *s = xcalloc(1, sizeof(*s));
	int err = 0;

	s->opts = *opts;
	memset(&opts->targets, 0, sizeof(opts->targets));
	for (size_t i = 0; i < s->opts.targets.n && !err; i++)
		err = add_tracked(s, &s->opts.targets.t[i], e);
	if (!err)
		err = open_probes(s, e);
	if (err) {
		session_close(s);
		return err;
	}
	*out = s;
	return 0;
}

int session_follow(struct session *s, pid_t pid, struct err *e)
{
	const struct wire_maps *m = probes_maps(s->probes);
	uint32_t key = (uint32_t)pid, one = 1;

	if (bpf_map_update_elem(m->family_fd, &key, &one, BPF_ANY))
		return err_set(e, errno, EXIT_FAILED, "cannot follow the command: %s", strerror(errno));
	m->run->processes = m->run->threads = 1;
	return 0;
}

static void note_start(struct session *s)
{
	time_t t = time(NULL);
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(s->start_text, sizeof(s->start_text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	s->start_ns = s->step_ns = now_ns();
}

int session_start(struct session *s, struct err *e)
{
	int err = probes_attach(s->probes, e);

	if (err)
		return err;
	for (size_t i = 0; i < s->n_tracked; i++) {
		struct tracked *k = &s->tracked[i];

		if (kernel_stat_read(&k->t, &k->before))
			k->vanished = true;
		k->at_step = k->last = k->before;
	}
	note_start(s);
	return 0;
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
	struct tracked *k;
	struct err e;

	if (s->views == s->max_views || s->slots + t->hw_queues * (t->depth + 1) > s->max_slots) {
		s->not_followed++;
		return;
	}
	if (add_tracked(s, t, &e))
		return;
	k = &s->tracked[s->n_tracked - 1];
	if (kernel_stat_read(&k->t, &k->before))
		k->vanished = true;
	k->at_step = k->last = k->before;
	tell_kernel(s, &s->disk[s->n_disks - 1]);
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
	for (size_t i = 0; i < s->n_tracked; i++) {
		struct tracked *k = &s->tracked[i];

		if (!k->vanished && kernel_stat_read(&k->t, &k->last))
			k->vanished = true;
	}
	if (s->opts.all)
		look_for_newcomers(s);
}

void session_progress(struct session *s, uint64_t *requests, uint64_t *flushes)
{
	const struct wire_maps *m = probes_maps(s->probes);

	*requests = *flushes = 0;
	for (uint32_t v = 0; v < s->views; v++)
		for (uint32_t c = 0; c < WIRE_CLASSES; c++)
			for (uint32_t i = 0; i < m->stripes; i++) {
				uint64_t n = m->cells[((size_t)v * WIRE_CELLS + c) * m->stripes + i].count;

				*(c == WIRE_FLUSH ? flushes : requests) += n;
			}
}

/* ---- the report ---- */

static void run_facts(struct session *s, struct report *r)
{
	const struct wire_run *run = probes_maps(s->probes)->run;
	struct utsname un;

	r->version = xstrdup(BT_VERSION);
	r->start = xstrdup(s->start_text);
	if (!uname(&un)) {
		r->kernel = xstrdup(un.release);
		r->arch = xstrdup(un.machine);
	}
	if (s->opts.want.command) {
		r->processes = run->processes;
		r->threads = run->threads;
	}
	probes_report(s->probes, r);
}

static void add_lost(struct report *r, uint64_t count, const char *reason)
{
	struct report_lost *l;

	if (!count)
		return;
	l = grow((void **)&r->lost, &r->n_lost, sizeof(*l));
	l->count = count;
	l->reason = xstrdup(reason);
	r->lost_events += count;
	r->incomplete = true;
}

static void run_losses(struct session *s, struct report *r)
{
	const struct wire_run *run = probes_maps(s->probes)->run;

	add_lost(r, probes_skipped_runs(s->probes),
		 "program runs that the kernel skipped because an interrupt came while the same program ran on that CPU");
	add_lost(r, run->bios_full, "bios not timed: too many in flight");
	add_lost(r, run->family_full, "processes of the command not followed: too many at once");
	if (s->not_followed)
		strv_add(&r->notes, xasprintf("%u disks appeared when there was no room left to trace them",
					      s->not_followed));
}

static void view_of_run(struct session *s, uint32_t view, bool interval, struct view_counts *out)
{
	if (interval)
		counters_interval(s->counters, view, out);
	else
		counters_total(s->counters, view, out);
}

static void kernel_delta(struct tracked *k, bool interval, struct report_device *d)
{
	struct report_kernel now;

	if (k->vanished || kernel_stat_read(&k->t, &now)) {
		k->vanished = true;
		return;
	}
	kernel_stat_delta(interval ? &k->at_step : &k->before, &now, &d->kernel);
	k->last = now;
	if (interval)
		k->at_step = now;
}

static void fill_device(struct session *s, struct tracked *k, struct view_counts *v, bool interval,
			struct report_device *d)
{
	struct disk *disk = find_disk(s, WIRE_DEV(k->t.disk_major, k->t.disk_minor));

	memcpy(d->name, k->t.name, sizeof(d->name));
	d->major = k->t.major;
	d->minor = k->t.minor;
	d->bio_based = k->t.bio_based;
	kernel_delta(k, interval, d);
	d->vanished = k->vanished;
	device_facts(&k->t, d);
	block_add_view(d, &v[k->view], true);
	if (k->view == disk->wire.view)
		for (uint32_t i = 0; i < disk->wire.n_parts; i++)
			block_add_view(d, &v[disk->wire.part_view[i]], false);
	block_finish(d);
}

static uint64_t requests_of(const struct report_device *d)
{
	uint64_t n = 0;

	for (int c = 0; c < OP_CLASSES; c++)
		n += d->op[c].count;
	return n;
}

/* Named disks are always shown; of all disks, those that did something. */
static bool worth_showing(const struct session *s, const struct report_device *d, bool any_by_command)
{
	if (s->opts.only_command && any_by_command)
		return d->by_command > 0;
	return !s->opts.all || requests_of(d) > 0;
}

static void drop_idle_devices(struct session *s, struct report *r)
{
	bool any = false;
	size_t kept = 0;

	for (size_t i = 0; i < r->n_devices; i++)
		any |= r->device[i].by_command > 0;
	for (size_t i = 0; i < r->n_devices; i++) {
		if (!worth_showing(s, &r->device[i], any)) {
			report_device_free(&r->device[i]);
			continue;
		}
		if (kept != i)
			memcpy(&r->device[kept], &r->device[i], sizeof(r->device[0]));
		kept++;
	}
	r->n_devices = kept;
}

static void make_report(struct session *s, bool interval, struct report *r)
{
	struct view_counts *v = xcalloc(s->max_views, sizeof(*v));
	uint64_t overflow = 0;

	memset(r, 0, sizeof(*r));
	run_facts(s, r);
	for (uint32_t i = 0; i < s->views; i++) {
		view_of_run(s, i, interval, &v[i]);
		overflow += v[i].sums.overflow;
	}
	for (size_t i = 0; i < s->n_tracked; i++)
		fill_device(s, &s->tracked[i], v, interval,
			    grow((void **)&r->device, &r->n_devices, sizeof(struct report_device)));
	drop_idle_devices(s, r);
	run_losses(s, r);
	if (overflow)
		strv_add(&r->notes, xasprintf("%" PRIu64 " requests had tags beyond what was reserved (nr_requests raised "
					      "meanwhile?): timed by the request's own clock, or not at all", overflow));
	free(v);
}

void session_report_interval(struct session *s, struct report *r)
{
	uint64_t now = now_ns(), from = s->step_ns;

	counters_step(s->counters);
	s->step_ns = now;
	make_report(s, true, r);
	r->interval = true;
	r->interval_start_s = (double)(from - s->start_ns) / 1e9;
	r->wall_ns = now - from;
}

void session_report_total(struct session *s, struct report *r)
{
	uint64_t wall = now_ns() - s->start_ns;

	make_report(s, false, r);
	r->wall_ns = wall;
	r->final = true;
}

void session_close(struct session *s)
{
	if (!s)
		return;
	counters_free(s->counters);
	probes_close(s->probes);
	for (size_t i = 0; i < s->n_tracked; i++)
		free(s->tracked[i].t.via);
	free(s->tracked);
	free(s->disk);
	targets_free(&s->opts.targets);
	free(s);
}
