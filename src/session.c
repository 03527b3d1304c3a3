// SPDX-License-Identifier: GPL-2.0-only
#include "session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "analyse/sync.h"
#include "clock.h"
#include "collect/carry.h"
#include "collect/clocks.h"
#include "collect/counters.h"
#include "collect/cpu_time.h"
#include "collect/heats.h"
#include "collect/pace_measure.h"
#include "collect/places.h"
#include "collect/ring.h"
#include "collect/recording.h"
#include "frame.h"
#include "log.h"
#include "mem.h"
#include "num.h"
#include "probe/sizes.h"

#define PACE_MATTERS_NS	500000		/* a CPU that was left alone for less is hardly slower */
#define NO_VIEW		UINT32_MAX

/* One thing that is reported: a disk or a partition. */
struct tracked {
	struct target t;
	uint32_t view;
	bool vanished;
	struct report_kernel before, at_step, at_turn, last;
};

/* One whole disk whose requests are counted. */
struct disk {
	char name[32];
	struct wire_disk wire;
	struct sizes_disk size;		/* what it has */
};

/* What a report is of. */
enum span { SPAN_RUN, SPAN_INTERVAL, SPAN_FILE };

/* Since when the present file of a recording that rotates has been written: what the sums were then. */
struct turn {
	uint64_t start_ns;
	char start_text[32];
	struct wire_run run;
	uint64_t skipped;
	struct heats *heats;
};

struct session {
	struct session_opts opts;
	struct probes *probes;
	struct counters *counters;
	struct heats *heats;		/* by tracked; NULL before the start */
	struct carry *carry;		/* NULL: the recording, if there is one, doesn't rotate */
	struct turn turn;
	struct tracked *tracked;
	size_t n_tracked;
	struct disk *disk;
	size_t n_disks;
	uint32_t views, slots;
	struct sizes sizes;		/* of the maps: more views and slots there are not */
	uint64_t start_ns, step_ns;
	uint64_t start_kernel_cpu_ns;	/* see cpu_kernel_ns() */
	char start_text[32];
	struct ring *ring;		/* NULL: sync calls are not traced */
	struct places places;
	struct sync_symbol *symbols;
	size_t n_symbols;
	struct sync_analysis *sync;	/* of the run */
	struct sync_analysis *sync_step;	/* of the interval; NULL without a stream */
	bool given_back;
	struct clocks clocks;		/* do the requests' own do? */
	bool clocks_failed;		/* insert and issue can't be attached any more */
	enum wire_clocks clocks_now;
	uint64_t clocks_since_ns, clocks_ns[CLOCKS_KINDS];	/* since when that; for how long each, before */
	unsigned int not_followed;	/* disks that appeared when there was no room left */
};

/* ---- which view counts what ---- */

static struct sizes_disk size_of(const struct target *t)
{
	return (struct sizes_disk){ t->hw_queues, t->depth };
}

/* Its request slots, behind those of the disks before. Tags beyond them are told apart by no slot: see wire_view.overflow. */
static void give_slots(struct session *s, struct disk *d, struct sizes_disk size)
{
	d->wire.hw_queues = size.hw_queues;
	d->wire.depth = size.depth < s->sizes.depth ? size.depth : s->sizes.depth;
	d->wire.slot_base = s->slots;
	s->slots += sizes_slots(&size, s->sizes.depth);
}

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
	d->size = size_of(t);
	give_slots(s, d, d->size);
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

/* Which traced disk without requests lies on which others: a FLUSH in these is a step of what it does. */
static void link_stacks(struct session *s)
{
	for (size_t i = 0; i < s->n_tracked; i++) {
		const struct target *t = &s->tracked[i].t;

		for (size_t k = 0; t->bio_based && k < s->n_disks; k++)
			if (target_stands_on(t, s->disk[k].name))
				s->disk[k].wire.above = WIRE_DEV(t->disk_major, t->disk_minor);
	}
}

static int tell_kernel(struct session *s, const struct disk *d)
{
	uint32_t dev = d->wire.dev;

	return bpf_map_update_elem(probes_maps(s->probes)->disks_fd, &dev, &d->wire, BPF_ANY);
}

/* ---- sync calls ---- */

static const enum probe_id sync_probes[] = {
	PROBE_SYS_ENTER, PROBE_SYS_EXIT, PROBE_SWITCH, PROBE_WAKING, PROBE_FORGET, PROBE_IO_START, PROBE_URING_SUBMIT,
	PROBE_URING_SUBMIT_SQE, PROBE_URING_TASK_ADD, PROBE_URING_COMPLETE, PROBE_EXT4_SYNC, PROBE_XFS_SYNC, PROBE_BTRFS_SYNC,
	PROBE_BTRFS_ENTER, PROBE_WORK_END,
};

/* The recording says once what went wrong with it; the run goes on. */
static void record_said(int err, const struct err *e)
{
	if (err)
		log_error("%s", e->text);
}

static void record_long(struct session *s, uint16_t kind, const void *bytes, size_t n)
{
	struct err e = { 0 };

	record_said(recording_add_long(rotation_writer(s->opts.recording), kind, bytes, n, &e), &e);
}

static void record_fact(void *ctx, const struct wire_head *record)
{
	struct session *s = ctx;
	struct err e = { 0 };

	record_said(recording_add(rotation_writer(s->opts.recording), record, &e), &e);
}

static void next_file(struct session *s);

static void record(struct session *s, const struct wire_head *record)
{
	if (!s->carry) {
		record_fact(s, record);
		return;
	}
	if (rotation_due(s->opts.recording))
		next_file(s);
	carry_record(s->carry, record);
}

static void feed(void *ctx, const struct wire_head *fact)
{
	struct session *s = ctx;

	if (s->opts.recording)
		record(s, fact);
	sync_feed(s->sync, fact);
	if (s->sync_step)
		sync_feed(s->sync_step, fact);
}

static struct sync_analysis *new_analysis(struct session *s, bool detail)
{
	struct frame f = {
		.all = s->opts.all, .start_ns = s->start_ns, .place = s->places.device, .n_places = s->places.n,
		.symbol = s->symbols, .n_symbols = s->n_symbols, .detail = detail,
	};
	struct sync_opts o = frame_sync_opts(&f);

	return sync_new(&o);
}

static void record_start(struct session *s);

static void read_places(struct session *s)
{
	uint32_t *traced = xcalloc(s->n_disks, sizeof(*traced));

	for (size_t i = 0; i < s->n_disks; i++)
		traced[i] = disk_key(&s->disk[i]);
	places_read(&s->places, traced, s->n_disks);
	free(traced);
}

/* What opening and reading BTF took is used no more. */
static void give_back(struct session *s)
{
	malloc_trim(0);
	s->given_back = true;
}

static void start_analysis(struct session *s)
{
	s->sync = new_analysis(s, s->opts.detail);
	if (s->opts.stream)
		s->sync_step = new_analysis(s, false);
	if (s->opts.recording)
		record_start(s);
	give_back(s);
}

int session_fd(const struct session *s)
{
	return s->ring ? ring_fd(s->ring) : -1;
}

void session_drain(struct session *s)
{
	if (!s->sync)
		start_analysis(s);
	if (s->ring)
		ring_drain(s->ring);
}

/* ---- the requests' own clocks ---- */

static struct wire_depth all_depths(const struct session *s)
{
	const struct wire_maps *m = probes_maps(s->probes);
	struct wire_depth sum = { 0 };

	for (size_t i = 0; i < (size_t)s->views * m->stripes; i++) {
		sum.completed += m->depths[i].completed;
		sum.by_clocks += m->depths[i].by_clocks;
		sum.off += m->depths[i].off;
		sum.of += m->depths[i].of;
	}
	return sum;
}

static void change_clocks(struct session *s)
{
	static const char *const said[CLOCKS_KINDS] = {
		[CLOCKS_TRACED] = "taken at insert and issue", [CLOCKS_ALL] = "the requests' own clocks",
		[CLOCKS_ISSUE] = "the requests' own clocks, but for insert",
	};
	bool unbegun = probes_maps(s->probes)->run->unbegun;
	enum wire_clocks which = !s->clocks.own ? CLOCKS_TRACED : unbegun ? CLOCKS_ISSUE : CLOCKS_ALL;
	int err = probes_use_clocks(s->probes, which);
	uint64_t now;

	s->clocks_failed = err;
	if (err) {
		log_error("cannot %s tracing insert and issue: %s", s->clocks.own ? "stop" : "start", strerror(-err));
		return;
	}
	s->clocks.last = (struct wire_depth){ 0 };
	now = clock_ns();
	s->clocks_ns[s->clocks_now] += now - s->clocks_since_ns;
	s->clocks_since_ns = now;
	s->clocks_now = which;
	log_verbose("times are %s", said[which]);
}

static void look_at_clocks(struct session *s)
{
	struct wire_run *run = probes_maps(s->probes)->run;
	struct wire_depth now;
	uint32_t unclocked;

	if (!probes_may_use_clocks(s->probes) || s->clocks_failed)
		return;
	unclocked = __atomic_exchange_n(&run->unclocked, UNCLOCKED_NONE, __ATOMIC_SEQ_CST);
	now = all_depths(s);
	if (clocks_tick(&s->clocks, &now, unclocked))
		change_clocks(s);
}

static void note_clocks(const struct session *s, struct report *r)
{
	static const char *const told[CLOCKS_KINDS] = {
		[CLOCKS_ALL] = "only completions were traced: then a request's times are by its own clocks, its queue begins when it "
			       "came into being, and without valid clocks it has no times",
		[CLOCKS_ISSUE] = "only inserts and completions were traced: then when a request was issued is by its own clock, and "
				 "without a valid one it has no times",
	};

	for (int i = CLOCKS_ALL; i < CLOCKS_KINDS; i++) {
		uint64_t ns = s->clocks_ns[i] + ((int)s->clocks_now == i ? clock_ns() - s->clocks_since_ns : 0);

		if (ns)
			strv_add(&r->notes, xasprintf("for %s of the run %s", num_duration(ns, 0).s, told[i]));
	}
}

void session_tick(struct session *s)
{
	uint64_t time = clock_ns() - s->start_ns;

	look_at_clocks(s);

	if (!s->given_back)
		give_back(s);
	heats_look(s->heats, time, false);
	if (s->carry)
		heats_look(s->turn.heats, clock_ns() - s->turn.start_ns, false);
	/* what is recorded is to survive a crash */
	if (s->opts.recording)
		session_drain(s);
}

/* ---- open and start ---- */

static bool any_bio_based(const struct session *s)
{
	for (size_t i = 0; i < s->n_tracked; i++)
		if (s->tracked[i].t.bio_based)
			return true;
	return s->opts.all;
}

static struct sizes_disk *all_sizes(const struct session *s)
{
	struct sizes_disk *all = xcalloc(s->n_disks, sizeof(*all));

	for (size_t i = 0; i < s->n_disks; i++)
		all[i] = s->disk[i].size;
	return all;
}

static int too_little(const struct session *s, struct err *e)
{
	uint64_t least = (s->sizes.bytes + (1 << 20) - 1) >> 20;	/* rounded up: what is said has to be enough */

	return err_set(e, ENOMEM, EXIT_USAGE, "--memory %s is too little: for %zu %s on %d CPUs the kernel side takes %" PRIu64
		       "M at least (fewer disks take less%s)", num_bytes(s->opts.memory, 0).s, s->n_disks,
		       s->n_disks == 1 ? "disk" : "disks", libbpf_num_possible_cpus(), least,
		       s->opts.want.ledger ? ", and --no-ledger does" : "");
}

static void say_sizes(const struct session *s)
{
	const struct sizes *z = &s->sizes;

	log_verbose("memory of the kernel side: counters %s (%u copies), request slots %s, ring buffer %s, tables %s: %s in all",
		    num_bytes(z->counters, 0).s, z->stripes, num_bytes(z->slot_bytes, 0).s, num_bytes(z->ring_bytes, 0).s,
		    num_bytes(z->tables, 0).s, num_bytes(z->bytes, 0).s);
}

/* Before anything is loaded. */
static int choose_sizes(struct session *s, struct err *e)
{
	struct probe_want *want = &s->opts.want;
	struct sizes_input in = {
		.cpus = (uint32_t)libbpf_num_possible_cpus(), .pid_max = probes_pid_max(),
		.page = (uint32_t)sysconf(_SC_PAGESIZE), .disk = all_sizes(s), .n_disks = s->n_disks, .views = s->views,
		.all = s->opts.all, .ledger = want->ledger, .command = want->command, .bios = want->on[PROBE_BIO_QUEUE],
		.memory = s->opts.memory,
	};
	bool fits = sizes_plan(&in, &s->sizes);

	free((void *)in.disk);
	if (!fits && s->opts.memory)
		return too_little(s, e);
	s->slots = 0;
	for (size_t i = 0; i < s->n_disks; i++)
		give_slots(s, &s->disk[i], s->disk[i].size);
	want->views = s->sizes.views;
	want->slots = s->sizes.slots;
	want->stripes = s->sizes.stripes;
	want->ring_bytes = s->sizes.ring_bytes;
	say_sizes(s);
	return 0;
}

static int open_probes(struct session *s, struct err *e)
{
	struct probe_want *want = &s->opts.want;
	int err;

	if (any_bio_based(s))
		want->on[PROBE_BIO_QUEUE] = want->on[PROBE_BIO_COMPLETE] = true;
	if (want->command || want->filter_tgid || want->filter_cgroup)
		want->on[PROBE_IO_START] = true;
	if (want->command)
		want->on[PROBE_FORK] = want->on[PROBE_EXIT] = true;
	for (int i = PROBE_FLUSH_INSERT; i <= PROBE_FLUSH_END; i++)
		want->on[i] = want->force[i] >= 0;
	for (int i = PROBE_KSYNC_RANGE; i <= PROBE_KSYNC_FILE_END; i++)
		want->on[i] = want->ledger && want->force[i] >= 0;
	for (size_t i = 0; want->ledger && i < sizeof(sync_probes) / sizeof(sync_probes[0]); i++)
		want->on[sync_probes[i]] = true;
	err = choose_sizes(s, e);
	if (!err)
		err = probes_open(want, &s->probes, e);
	if (err)
		return err;
	s->counters = counters_new(probes_maps(s->probes), s->sizes.views);
	link_stacks(s);
	for (size_t i = 0; i < s->n_disks; i++)
		if (tell_kernel(s, &s->disk[i]))
			return err_set(e, errno, EXIT_FAILED, "cannot name %s to the kernel side: %s", s->disk[i].name,
				       strerror(errno));
	return 0;
}

static void *read_symbols(void *ctx)
{
	struct session *s = ctx;

	s->symbols = symbols_read(sync_symbol_names, &s->n_symbols);
	return NULL;
}

/*
 * Reading kallsyms takes a CPU for 50 ms: beside the verifier, and before the traced work begins. Once facts are wanted it would take
 * them from that work, and the ring buffer, half full by then, would wait.
 */
static int open_probes_and_symbols(struct session *s, struct err *e)
{
	pthread_t reader;
	bool beside = s->opts.want.ledger && !pthread_create(&reader, NULL, read_symbols, s);
	int err = open_probes(s, e);

	if (beside)
		pthread_join(reader, NULL);
	else if (s->opts.want.ledger)
		read_symbols(s);
	return err;
}

int session_open(struct session_opts *opts, struct session **out, struct err *e)
{
	struct session *s = xcalloc(1, sizeof(*s));
	int err = 0;

	s->opts = *opts;
	s->sizes.depth = UINT32_MAX;
	memset(&opts->targets, 0, sizeof(opts->targets));
	for (size_t i = 0; i < s->opts.targets.n && !err; i++)
		err = add_tracked(s, &s->opts.targets.t[i], e);
	if (!err)
		err = open_probes_and_symbols(s, e);
	if (!err && probes_maps(s->probes)->ring_fd >= 0 && probes_have_ledger(s->probes))
		err = ring_open(probes_maps(s->probes)->ring_fd, feed, s, &s->ring, e);
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
	m->run->family_turn++;
	return 0;
}

/* "jbd2/sda1-8": of a traced disk or of a partition of one? Others are learned when they turn out to matter. */
static bool is_journal(const struct session *s, const char *comm)
{
	if (strncmp(comm, "jbd2/", 5))
		return false;
	for (size_t i = 0; i < s->n_disks; i++)
		if (!strncmp(comm + 5, s->disk[i].name, strlen(s->disk[i].name)))
			return true;
	return false;
}

/* The journals of the traced disks: every commit is waited for in one of them. */
static void follow_journals(struct session *s)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;

	while (proc && (d = readdir(proc))) {
		char path[300], comm[32] = "";
		FILE *f;

		if (d->d_name[0] < '1' || d->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", d->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fgets(comm, sizeof(comm), f) && is_journal(s, comm))
			probes_follow(s->probes, (uint32_t)strtoul(d->d_name, NULL, 10));
		fclose(f);
	}
	if (proc)
		closedir(proc);
}

static void watch_heat(struct session *s, const struct tracked *k)
{
	const struct disk *disk = find_disk(s, WIRE_DEV(k->t.disk_major, k->t.disk_minor));
	struct heats_source from = { .view = k->view, .bio_based = k->t.bio_based };

	if (k->view == disk->wire.view) {
		from.n_parts = disk->wire.n_parts;
		memcpy(from.part_view, disk->wire.part_view, sizeof(from.part_view));
	}
	heats_add(s->heats, &from);
	if (s->carry)
		heats_add(s->turn.heats, &from);
}

static void date(char text[32])
{
	time_t t = time(NULL);
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static void note_start(struct session *s)
{
	date(s->start_text);
	memcpy(s->turn.start_text, s->start_text, sizeof(s->turn.start_text));
	s->start_ns = s->step_ns = s->turn.start_ns = clock_ns();
	s->start_kernel_cpu_ns = cpu_kernel_ns();
}

int session_start(struct session *s, struct err *e)
{
	int err = probes_attach(s->probes, e);

	if (err)
		return err;
	if (s->ring)
		follow_journals(s);
	read_places(s);
	s->heats = heats_new(s->counters);
	if (s->opts.recording && rotation_recent(s->opts.recording)) {
		s->carry = carry_new(rotation_recent(s->opts.recording), record_fact, s);
		s->turn.heats = heats_new(s->counters);
	}
	for (size_t i = 0; i < s->n_tracked; i++) {
		struct tracked *k = &s->tracked[i];

		if (kernel_stat_read(&k->t, &k->before))
			k->vanished = true;
		k->at_step = k->at_turn = k->last = k->before;
		watch_heat(s, k);
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
	struct sizes_disk size = size_of(t);
	struct tracked *k;
	struct err e;

	if (s->views == s->sizes.views || s->slots + sizes_slots(&size, s->sizes.depth) > s->sizes.slots) {
		s->not_followed++;
		return;
	}
	if (add_tracked(s, t, &e))
		return;
	k = &s->tracked[s->n_tracked - 1];
	if (kernel_stat_read(&k->t, &k->before))
		k->vanished = true;
	k->at_step = k->at_turn = k->last = k->before;
	tell_kernel(s, &s->disk[s->n_disks - 1]);
	watch_heat(s, k);
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

static void run_facts(struct session *s, const struct session_facts *facts, enum span span, struct report *r)
{
	const struct wire_run *run = probes_maps(s->probes)->run;
	struct utsname un;

	r->version = xstrdup(BT_VERSION);
	r->start = xstrdup(span == SPAN_FILE ? s->turn.start_text : s->start_text);
	if (!uname(&un)) {
		r->kernel = xstrdup(un.release);
		r->arch = xstrdup(un.machine);
	}
	if (s->opts.want.command) {
		r->processes = run->processes;
		r->threads = run->threads;
		r->command = strv_dup(facts->command);
		r->have_exit_status = facts->have_exit_status;
		r->exit_status = facts->exit_status;
		r->user_ns = facts->user_ns;
	}
	r->filter = xstrdup(facts->filter);
	if (facts->note)
		strv_add(&r->notes, xstrdup(facts->note));
	probes_report(s->probes, r);
}

/* What was made smaller can cost events. */
static void note_sizes(const struct session *s, struct report *r)
{
	const struct sizes *z = &s->sizes;

	if (z->smaller_ring)
		strv_add(&r->notes, xasprintf("the ring buffer is %s, to keep within --memory", num_bytes(z->ring_bytes, 0).s));
	if (z->fewer_slots)
		strv_add(&r->notes, xasprintf("of each hardware queue %u tags have a slot, to keep within --memory", z->depth));
}

static void run_losses(struct session *s, enum span span, struct report *r)
{
	static const struct turn from_start;
	const struct turn *before = span == SPAN_FILE ? &s->turn : &from_start;
	static const char *const drops[DROP_COUNT] = {
		[DROP_RING_FULL] = "facts about sync calls: the ring buffer was full",
		[DROP_CALLERS_FULL] = "sync calls not followed: too many at once",
		[DROP_HELPERS_FULL] = "tasks that sync calls waited for, not followed: too many",
		[DROP_HISTORY] = "sleeps of followed tasks: more within one wait than is remembered",
	};
	const struct wire_run *run = probes_maps(s->probes)->run;

	report_add_lost(r, probes_skipped_runs(s->probes) - before->skipped,
			"program runs that the kernel skipped because an interrupt came while the same program ran");
	report_add_lost(r, run->bios_full - before->run.bios_full, "bios not timed: too many in flight");
	report_add_lost(r, run->family_full - before->run.family_full, "processes of the command not followed: too many at once");
	for (int i = 0; i < DROP_COUNT; i++)
		report_add_lost(r, run->drops[i] - before->run.drops[i], drops[i]);
	note_sizes(s, r);
	note_clocks(s, r);
	if (s->not_followed)
		strv_add(&r->notes, xasprintf("%u disks appeared when there was no room left to trace them",
					      s->not_followed));
	if (!s->ring && s->opts.want.ledger)
		strv_add(&r->notes, xstrdup("sync calls were not traced: this kernel refuses a probe "
					    "(barriertrace probes says which)"));
}

static void kernel_delta(struct tracked *k, enum span span, struct report_device *d)
{
	const struct report_kernel *from[] = {
		[SPAN_RUN] = &k->before, [SPAN_INTERVAL] = &k->at_step, [SPAN_FILE] = &k->at_turn,
	};
	struct report_kernel now;

	if (k->vanished || kernel_stat_read(&k->t, &now)) {
		k->vanished = true;
		return;
	}
	kernel_stat_delta(from[span], &now, &d->kernel);
	k->last = now;
	if (span == SPAN_INTERVAL)
		k->at_step = now;
}

static void frame_add_device(struct session *s, struct tracked *k, enum span span, struct frame *f)
{
	const struct heats *heats = span == SPAN_FILE ? s->turn.heats : s->heats;
	struct disk *disk = find_disk(s, WIRE_DEV(k->t.disk_major, k->t.disk_minor));
	struct frame_device *fd = grow((void **)&f->device, &f->n_devices, sizeof(*fd));
	struct report_device *d = &fd->facts;

	memcpy(d->name, k->t.name, sizeof(d->name));
	d->major = k->t.major;
	d->minor = k->t.minor;
	d->bio_based = k->t.bio_based;
	kernel_delta(k, span, d);
	d->vanished = k->vanished;
	device_facts(&k->t, d);
	for (int c = 0; c < HEAT_CLASSES && span != SPAN_INTERVAL; c++)
		d->heat[c] = heats_copy(heats, (size_t)(k - s->tracked), (enum heat_class)c);
	fd->view = k->view;
	if (k->view != disk->wire.view)
		return;
	fd->n_parts = disk->wire.n_parts;
	memcpy(fd->part_view, disk->wire.part_view, sizeof(fd->part_view));
}

/* Places and symbols are lent: see frame_unlend(). */
static void make_frame(struct session *s, const struct session_facts *facts, enum span span, struct frame *f)
{
	*f = (struct frame){
		.views = s->views, .all = s->opts.all, .only_command = s->opts.only_command, .ledger = s->ring,
		.start_ns = span == SPAN_FILE ? s->turn.start_ns : s->start_ns,
		.known_ns = span == SPAN_FILE ? carry_known_ns(s->carry) : 0, .place = s->places.device, .n_places = s->places.n,
		.symbol = s->symbols, .n_symbols = s->n_symbols,
	};
	run_facts(s, facts, span, &f->run);
	run_losses(s, span, &f->run);
	for (size_t i = 0; i < s->n_tracked; i++)
		frame_add_device(s, &s->tracked[i], span, f);
}

static void drop_frame(struct frame *f)
{
	f->place = NULL;
	f->symbol = NULL;
	frame_free(f);
}

static void record_frame(struct session *s, uint16_t kind, const struct frame *f)
{
	json_t *j = frame_encode(f);
	char *text = xmust(json_dumps(j, JSON_COMPACT));

	record_long(s, kind, text, strlen(text));
	free(text);
	json_decref(j);
}

/* A recording that is cut off still says what it is of. */
static void record_start(struct session *s)
{
	struct session_facts facts = { .command = s->opts.command };
	struct err e = { 0 };
	struct frame f;

	make_frame(s, &facts, s->carry ? SPAN_FILE : SPAN_RUN, &f);
	record_frame(s, WIRE_HEADER, &f);
	drop_frame(&f);
	session_save(s);
	record_said(rotation_begun(s->opts.recording, &e), &e);
}

static void record_counts(struct session *s, const struct view_counts *v)
{
	struct buf b = { 0 };

	for (uint32_t i = 0; i < s->views; i++) {
		buf_clear(&b);
		recording_counts_encode(i, false, &v[i], &b);
		record_long(s, WIRE_COUNTS, b.data, b.len);
	}
	buf_free(&b);
}

/* Those of a file are those since the last step, which only intervals and turns take, and never both. */
static struct view_counts *all_counts(struct session *s, enum span span)
{
	static void (*const counts[])(struct counters *c, uint32_t view, struct view_counts *out) = {
		[SPAN_RUN] = counters_total, [SPAN_INTERVAL] = counters_interval, [SPAN_FILE] = counters_since,
	};
	struct view_counts *v = xcalloc(s->sizes.views, sizeof(*v));

	for (uint32_t i = 0; i < s->views; i++)
		counts[span](s->counters, i, &v[i]);
	return v;
}

void session_save(struct session *s)
{
	struct err e = { 0 };
	struct view_counts *v;

	if (!s->opts.recording)
		return;
	v = all_counts(s, s->carry ? SPAN_FILE : SPAN_RUN);
	record_counts(s, v);
	free(v);
	record_said(recording_flush(rotation_writer(s->opts.recording), &e), &e);
}

/* ---- a recording that rotates: each file has its own beginning and end, and sums from the one to the other ---- */

static void end_file(struct session *s, const struct session_facts *facts)
{
	uint64_t now = clock_ns();
	struct err e = { 0 };
	struct view_counts *v;
	struct frame f;

	record_said(rotation_ends(s->opts.recording, &e), &e);
	heats_look(s->turn.heats, now - s->turn.start_ns, true);
	make_frame(s, facts, SPAN_FILE, &f);
	f.run.wall_ns = now - s->turn.start_ns;
	f.run.final = true;
	counters_step(s->counters);
	v = all_counts(s, SPAN_INTERVAL);
	record_counts(s, v);
	record_frame(s, WIRE_END, &f);
	drop_frame(&f);
	free(v);
}

/* The kernel's counters after ours: what it has counted from then on we have, too. */
static void begin_turn(struct session *s)
{
	s->turn.start_ns = clock_ns();
	date(s->turn.start_text);
	s->turn.run = *probes_maps(s->probes)->run;
	s->turn.skipped = probes_skipped_runs(s->probes);
	heats_restart(s->turn.heats);
	for (size_t i = 0; i < s->n_tracked; i++) {
		struct tracked *k = &s->tracked[i];

		if (!k->vanished && kernel_stat_read(&k->t, &k->at_turn))
			k->vanished = true;
	}
}

static void next_file(struct session *s)
{
	struct session_facts facts = { .command = s->opts.command };
	struct err e = { 0 };
	int err;

	end_file(s, &facts);
	err = rotation_turn(s->opts.recording, &e);
	record_said(err, &e);
	if (err)
		return;
	begin_turn(s);
	record_start(s);
	carry_begin_file(s->carry);
}

static void record_end(struct session *s, const struct session_facts *facts, const struct frame *f,
		       const struct view_counts *v)
{
	if (s->carry) {
		end_file(s, facts);
		return;
	}
	record_counts(s, v);
	record_frame(s, WIRE_END, f);
}

/* With the programs still there, as they were during the run. */
static void measure_pace(struct session *s, struct report *r)
{
	uint64_t period = s->ring ? sync_period(s->sync) : 0;

	if (period > PACE_MATTERS_NS)
		pace_measure(period, &r->pace);
}

static void make_report(struct session *s, const struct session_facts *facts, bool interval, uint64_t wall_ns,
			struct report *r)
{
	struct view_counts *v;
	struct frame f;

	if (!facts->same_facts)
		session_drain(s);
	if (!interval)
		heats_look(s->heats, clock_ns() - s->start_ns, true);
	/* the kernel's counters before ours: what it has counted and we have not is missing */
	make_frame(s, facts, interval ? SPAN_INTERVAL : SPAN_RUN, &f);
	v = all_counts(s, interval ? SPAN_INTERVAL : SPAN_RUN);
	f.run.wall_ns = wall_ns;
	f.run.final = !interval;
	if (!interval) {
		f.run.kernel_cpu_ns = s->start_kernel_cpu_ns ? cpu_kernel_ns() - s->start_kernel_cpu_ns : 0;
		measure_pace(s, &f.run);
	}
	if (s->opts.recording && !interval)
		record_end(s, facts, &f, v);
	frame_report(&f, v, !s->ring ? NULL : interval ? s->sync_step : s->sync, interval, r);
	drop_frame(&f);
	free(v);
}

void session_report_interval(struct session *s, const struct session_facts *facts, struct report *r)
{
	uint64_t now = clock_ns(), from = s->step_ns;

	counters_step(s->counters);
	s->step_ns = now;
	make_report(s, facts, true, now - from, r);
	r->interval = true;
	r->interval_start_s = (double)(from - s->start_ns) / 1e9;
}

void session_report_so_far(struct session *s, const struct session_facts *facts, struct report *r)
{
	struct view_counts *v;
	struct frame f;

	session_drain(s);
	make_frame(s, facts, SPAN_RUN, &f);
	v = all_counts(s, SPAN_RUN);
	f.run.wall_ns = clock_ns() - s->start_ns;
	/* the analysis beside it: what only the last report may take stays there */
	frame_report(&f, v, NULL, false, r);
	r->have_sync = s->ring;
	if (s->ring)
		sync_report(s->sync, &r->sync, false);
	drop_frame(&f);
	free(v);
}

void session_report_total(struct session *s, const struct session_facts *facts, struct report *r)
{
	make_report(s, facts, false, clock_ns() - s->start_ns, r);
}

void session_close(struct session *s)
{
	if (!s)
		return;
	heats_free(s->heats);
	heats_free(s->turn.heats);
	carry_free(s->carry);
	counters_free(s->counters);
	ring_close(s->ring);
	sync_free(s->sync);
	sync_free(s->sync_step);
	places_free(&s->places);
	free(s->symbols);
	probes_close(s->probes);
	for (size_t i = 0; i < s->n_tracked; i++)
		free(s->tracked[i].t.via);
	free(s->tracked);
	free(s->disk);
	targets_free(&s->opts.targets);
	free(s);
}
