// SPDX-License-Identifier: GPL-2.0-only
/* run_open.c - what a run needs: sizes, probes, symbols; and its start. */
#include "run/run_internal.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/analysis.h"
#include "util/clock.h"
#include "recording/rotation_context.h"
#include "probe/counters.h"
#include "host/journal_threads.h"
#include "host/cpu_time.h"
#include "probe/heat_sampler.h"
#include "host/device_names.h"
#include "probe/ring.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/num.h"

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
	uint64_t least = (s->sizes.bytes + (1 << 20) - 1) >> 20; /* rounded up: what is said has to be enough */
	int cpus = libbpf_num_possible_cpus();

	return err_set(e, ENOMEM, EXIT_USAGE,
		       "--memory %s is too little: for %zu disk%s on %d CPU%s the kernel side takes %" PRIu64
		       "M at least (fewer disks take less%s)",
		       num_bytes(s->opts.memory, 0).s, s->n_disks, num_plural(s->n_disks), cpus,
		       num_plural((uint64_t)cpus), least, s->opts.want.ledger ? ", and --no-ledger does" : "");
}

static void say_sizes(const struct session *s)
{
	const struct sizes *z = &s->sizes;

	log_verbose("memory of the kernel side: counters %s (%u cop%s), request slots %s, ring buffer %s, tables %s: %s in all",
		    num_bytes(z->counters, 0).s, z->stripes, z->stripes == 1 ? "y" : "ies", num_bytes(z->slot_bytes, 0).s,
		    num_bytes(z->ring_bytes, 0).s, num_bytes(z->tables, 0).s, num_bytes(z->bytes, 0).s);
}

/* Before anything is loaded. */
static int choose_sizes(struct session *s, struct err *e)
{
	struct probe_want *want = &s->opts.want;
	struct sizes_input in = {
		.cpus = (uint32_t)libbpf_num_possible_cpus(),
		.pid_max = probes_pid_max(),
		.page = (uint32_t)sysconf(_SC_PAGESIZE),
		.disk = all_sizes(s),
		.n_disks = s->n_disks,
		.views = s->views,
		.all = s->opts.all,
		.ledger = want->ledger,
		.command = want->command || want->filter_family,
		.bios = want->on[PROBE_BIO_QUEUE],
		.memory = s->opts.memory,
	};
	bool fits = sizes_plan(&in, &s->sizes);

	free((void *)in.disk);
	if (!fits && s->opts.memory)
		return too_little(s, e);
	s->slots = 0;
	for (size_t i = 0; i < s->n_disks; i++)
		session_give_slots(s, &s->disk[i], s->disk[i].size);
	want->views = s->sizes.views;
	want->slots = s->sizes.slots;
	want->stripes = s->sizes.stripes;
	want->ring_bytes = s->sizes.ring_bytes;
	say_sizes(s);
	return 0;
}

static const enum probe_id sync_probes[] = {
	PROBE_SYS_ENTER, PROBE_SYS_EXIT,     PROBE_SWITCH,	     PROBE_WAKING,	   PROBE_FORGET,
	PROBE_IO_START,	 PROBE_URING_SUBMIT, PROBE_URING_SUBMIT_SQE, PROBE_URING_TASK_ADD, PROBE_URING_COMPLETE,
	PROBE_EXT4_SYNC, PROBE_XFS_SYNC,     PROBE_BTRFS_SYNC,	     PROBE_BTRFS_ENTER,	   PROBE_WORK_END,
};

static int open_probes(struct session *s, struct err *e)
{
	struct probe_want *want = &s->opts.want;
	int err;

	if (any_bio_based(s))
		want->on[PROBE_BIO_QUEUE] = want->on[PROBE_BIO_COMPLETE] = true;
	if (want->command || want->filter)
		want->on[PROBE_IO_START] = true;
	if (want->command || want->filter_family)
		want->on[PROBE_FORK] = want->on[PROBE_EXIT] = true;
	want->on[PROBE_RENAME] = want->n_comms > 0;
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
	session_link_stacks(s);
	for (size_t i = 0; i < s->n_disks; i++)
		if (session_tell_kernel(s, &s->disk[i]))
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

#define FIRST_PID_NAMESPACE 4026531836u /* PID_NS_INIT_INO of linux/nsfs.h */

bool session_knows_numbers(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) || st.st_ino == FIRST_PID_NAMESPACE;
}

/* The programs know processes by the numbers that the kernel's first PID namespace has for them. */
static int check_numbers(const struct probe_want *want, struct err *e)
{
	if ((!want->command && !want->filter_family) || session_knows_numbers())
		return 0;
	return err_set(e, ENOTSUP, EXIT_FAILED,
		       "%s: this container numbers processes in its own way (a PID namespace), by which "
		       "they are not found in the kernel: run it outside, or share the host's (docker run --pid=host)",
		       want->command ? "cannot follow a command" : "cannot watch a process");
}

int session_open(struct session_opts *opts, struct session **out, struct err *e)
{
	struct session *s = xcalloc(1, sizeof(*s));
	const struct ring_reader reader = { .each = session_feed, .to_come = session_forget, .ctx = s };
	int err;

	s->opts = *opts;
	session_want_filter(&s->opts.want, s->opts.filter);
	s->sizes.depth = UINT32_MAX;
	memset(&opts->targets, 0, sizeof(opts->targets));
	err = check_numbers(&s->opts.want, e);
	for (size_t i = 0; i < s->opts.targets.n && !err; i++)
		err = session_track(s, &s->opts.targets.t[i], e);
	if (!err)
		err = open_probes_and_symbols(s, e);
	if (!err && probes_maps(s->probes)->ring_fd >= 0 && probes_have_ledger(s->probes))
		err = ring_open(probes_maps(s->probes)->ring_fd, &reader, &s->ring, e);
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

/* ---- start ---- */

/* "jbd2/sda1-8": of a traced disk or of a partition of one? Others are learned when they turn out to matter. */
static bool is_journal(const struct session *s, const char *comm)
{
	for (size_t i = 0; i < s->n_disks; i++)
		if (!strncmp(comm + 5, s->disk[i].name, strlen(s->disk[i].name)))
			return true;
	return false;
}

/* The journals of the traced disks: every commit is waited for in one of them. */
static void follow_journals(struct session *s)
{
	size_t n;
	struct journal_thread *j = journal_threads(&n);

	for (size_t i = 0; i < n; i++)
		if (is_journal(s, j[i].name))
			probes_follow(s->probes, j[i].tid);
	free(j);
}

static void read_places(struct session *s)
{
	uint32_t *traced = xcalloc(s->n_disks, sizeof(*traced));

	for (size_t i = 0; i < s->n_disks; i++)
		traced[i] = session_disk_key(&s->disk[i]);
	places_read(&s->places, traced, s->n_disks);
	free(traced);
}

static void note_start(struct session *s)
{
	session_date(s->start_text);
	memcpy(s->turn.start_text, s->start_text, sizeof(s->turn.start_text));
	s->start_ns = s->step_ns = s->turn.start_ns = clock_ns();
	s->start_kernel_cpu_ns = cpu_kernel_ns();
}

int session_start(struct session *s, struct err *e)
{
	int err = session_select(s, e);

	if (!err)
		err = probes_attach(s->probes, e);
	/* those that came while the programs were attached */
	if (!err)
		err = session_select(s, e);
	if (err)
		return err;
	if (s->ring)
		follow_journals(s);
	read_places(s);
	s->heats = heats_new(s->counters);
	if (s->opts.recording && rotation_recent(s->opts.recording)) {
		s->carry = carry_new(rotation_recent(s->opts.recording), session_record_fact, s);
		s->turn.heats = heats_new(s->counters);
	}
	for (size_t i = 0; i < s->n_tracked; i++) {
		struct tracked *k = &s->tracked[i];

		if (kernel_stat_read(&k->t, &k->before))
			k->vanished = true;
		k->at_step = k->at_turn = k->last = k->before;
		session_watch_heat(s, k);
	}
	note_start(s);
	return 0;
}
