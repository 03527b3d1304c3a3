// SPDX-License-Identifier: GPL-2.0-only
/* run_open.c - what a run needs: sizes, probes, symbols; and its start. */
#include "run/run_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/analysis.h"
#include "util/clock.h"
#include "recording/rotation_context.h"
#include "probe/addresses.h"
#include "probe/counters.h"
#include "host/journal_threads.h"
#include "probe/heat_sampler.h"
#include "host/device_names.h"
#include "probe/ring.h"
#include "util/mem.h"
#include "util/num.h"

static bool any_bio_based(const struct traced_run *run)
{
	for (size_t i = 0; i < run->n_tracked; i++)
		if (run->tracked[i].t.bio_based)
			return true;
	return run->opts.all;
}

static struct sizes_disk *all_sizes(const struct traced_run *run)
{
	struct sizes_disk *all = xcalloc(run->n_disks, sizeof(*all));

	for (size_t i = 0; i < run->n_disks; i++)
		all[i] = run->disk[i].size;
	return all;
}

static int too_little(const struct traced_run *run, struct err *e)
{
	uint64_t least = (run->sizes.bytes + (1 << 20) - 1) >> 20; /* rounded up: what is said has to be enough */
	uint32_t cpus = probes_cpus();

	return err_set(e, ENOMEM, EXIT_USAGE,
		       "--memory %s is too little: for %zu disk%s on %u CPU%s the kernel side takes %" PRIu64
		       "M at least (fewer disks take less%s)",
		       num_bytes(run->opts.memory, 0).s, run->n_disks, num_plural(run->n_disks), cpus, num_plural(cpus),
		       least, run->opts.want.ledger ? ", and --no-ledger does" : "");
}

static void say_sizes(const struct traced_run *run)
{
	const struct sizes *z = &run->sizes;

	notice(&run->opts.notices, NOTICE_DETAIL,
	       "memory of the kernel side: counters %s (%u cop%s), request slots %s, ring buffer %s, tables %s: %s in all",
	       num_bytes(z->counters, 0).s, z->stripes, z->stripes == 1 ? "y" : "ies", num_bytes(z->slot_bytes, 0).s,
	       num_bytes(z->ring_bytes, 0).s, num_bytes(z->tables, 0).s, num_bytes(z->bytes, 0).s);
}

/* Before anything is loaded. */
static int choose_sizes(struct traced_run *run, struct err *e)
{
	struct probe_want *want = &run->opts.want;
	struct sizes_input in = {
		.cpus = probes_cpus(),
		.pid_max = probes_pid_max(),
		.page = (uint32_t)sysconf(_SC_PAGESIZE),
		.disk = all_sizes(run),
		.n_disks = run->n_disks,
		.views = run->views,
		.all = run->opts.all,
		.ledger = want->ledger,
		.command = want->command || want->filter_family,
		.bios = want->on[PROBE_BIO_QUEUE],
		.memory = run->opts.memory,
	};
	bool fits = sizes_plan(&in, &run->sizes);

	free((void *)in.disk);
	if (!fits && run->opts.memory)
		return too_little(run, e);
	run->slots = 0;
	for (size_t i = 0; i < run->n_disks; i++)
		run_give_slots(run, &run->disk[i], run->disk[i].size);
	want->views = run->sizes.views;
	want->slots = run->sizes.slots;
	want->stripes = run->sizes.stripes;
	want->ring_bytes = run->sizes.ring_bytes;
	say_sizes(run);
	return 0;
}

static const enum probe_id sync_probes[] = {
	PROBE_SYS_ENTER,  PROBE_SYS_EXIT,     PROBE_SWITCH,	      PROBE_WAKING,	    PROBE_FORGET,
	PROBE_IO_START,	  PROBE_URING_SUBMIT, PROBE_URING_SUBMIT_SQE, PROBE_URING_TASK_ADD, PROBE_URING_COMPLETE,
	PROBE_EXT4_SYNC,  PROBE_XFS_SYNC,     PROBE_BTRFS_SYNC,	      PROBE_BTRFS_ENTER,    PROBE_WORK_END,
	PROBE_WORK_QUEUE, PROBE_WORK_START,
};

static const enum probe_id bells[] = { PROBE_EXT4_SYNC_FS, PROBE_XFS_SYNC_FS, PROBE_BTRFS_SYNC_FS };

static int open_probes(struct traced_run *run, struct err *e)
{
	struct probe_want *want = &run->opts.want;
	bool by_choice;
	int err;

	if (any_bio_based(run))
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
	/* not if --rung says how to trace calls; nor beside ksync, which takes a write for a call of the kernel */
	by_choice = want->may_idle && want->force[PROBE_SYS_ENTER] < 0 && want->force[PROBE_KSYNC_RANGE] < 0 &&
		    want->force[PROBE_KSYNC_FILE] < 0;
	for (int i = PROBE_CALL_FSYNC; i <= PROBE_CALL_SYNC_END; i++)
		want->on[i] = want->ledger && (want->force[i] >= 0 || by_choice);
	for (size_t i = 0; i < sizeof(bells) / sizeof(bells[0]); i++)
		want->on[bells[i]] = want->may_idle;
	err = choose_sizes(run, e);
	if (!err)
		err = probes_open(want, &run->probes, e);
	if (err)
		return err;
	run->counters = probes_counters(run->probes, run->sizes.views);
	run_link_stacks(run);
	return 0;
}

/*
 * Takes 50 ms of CPU time: before anything is attached, as calls that begin between that and the start of counting lack their first
 * requests, and so that none is taken from a command.
 */
static void read_symbols(struct traced_run *run)
{
	FILE *kallsyms = run->opts.want.ledger ? symbols_open() : NULL;

	if (!kallsyms)
		return;
	run->symbols = symbols_of(kallsyms, sync_symbol_names, &run->n_symbols);
	fclose(kallsyms);
	for (size_t i = 0; i < run->n_symbols; i++)
		if (!strcmp(run->symbols[i].name, "aio_fsync_work"))
			probes_tell_aio(run->probes, run->symbols[i].start);
}

#define FIRST_PID_NAMESPACE 4026531836u /* PID_NS_INIT_INO of linux/nsfs.h */

static bool knows_numbers(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) || st.st_ino == FIRST_PID_NAMESPACE;
}

/* The programs know processes by the numbers that the kernel's first PID namespace has for them. */
static int check_numbers(const struct probe_want *want, struct err *e)
{
	if ((!want->command && !want->filter_family) || want->own_numbers)
		return 0;
	return err_set(e, ENOTSUP, EXIT_FAILED,
		       "%s: this container numbers processes in its own way (a PID namespace), by which "
		       "they are not found in the kernel: run it outside, or share the host's (docker run --pid=host)",
		       want->command ? "cannot follow a command" : "cannot watch a process");
}

int run_prepare(struct traced_run *run, struct err *e)
{
	const struct ring_reader reader = { .each = run_feed, .to_come = run_forget, .ctx = run };
	int err;

	run->opts.want.command = run->opts.command != NULL;
	run->opts.want.notices = run->opts.notices;
	run_want_filter(&run->opts.want, run->opts.filter);
	/* who asks about certain tasks asks about their calls */
	run->opts.want.may_idle = run->opts.want.ledger && !run->opts.eager && !run->opts.command && !run->opts.want.filter;
	run->sizes.depth = UINT32_MAX;
	run->opts.want.own_numbers = knows_numbers();
	err = check_numbers(&run->opts.want, e);
	for (size_t i = 0; i < run->opts.targets.n && !err; i++)
		err = run_track(run, &run->opts.targets.t[i], e);
	if (!err)
		err = open_probes(run, e);
	if (!err && probes_ring_fd(run->probes) >= 0)
		err = ring_open(probes_ring_fd(run->probes), &reader, &run->ring, e);
	return err;
}

int run_follow(struct traced_run *run, pid_t pid, struct err *e)
{
	int err = probes_follow_command(run->probes, (uint32_t)pid);

	return err ? err_set(e, -err, EXIT_FAILED, "cannot follow the command: %s", strerror(-err)) : 0;
}

/* ---- start ---- */

/* "jbd2/sda1-8": of a traced disk or of a partition of one? Others are learned when they turn out to matter. */
static bool is_journal(const struct traced_run *run, const char *comm)
{
	for (size_t i = 0; i < run->n_disks; i++)
		if (!strncmp(comm + 5, run->disk[i].name, strlen(run->disk[i].name)))
			return true;
	return false;
}

/* The journals of the traced disks: every commit is waited for in one of them. */
void run_follow_journals(struct traced_run *run)
{
	size_t n;
	struct journal_thread *j = journal_threads(&n);

	for (size_t i = 0; i < n; i++)
		if (is_journal(run, j[i].name))
			probes_follow(run->probes, j[i].tid);
	free(j);
}

static void note_start(struct traced_run *run)
{
	run_date(run->start_text);
	memcpy(run->turn.start_text, run->start_text, sizeof(run->turn.start_text));
	run->start_ns = run->step_ns = run->turn.start_ns = clock_ns();
	run_attached_start(run, run->start_ns);
}

static int tell_disks(struct traced_run *run, struct err *e)
{
	int err = 0;

	for (size_t i = 0; i < run->n_disks && !err; i++) {
		err = probes_tell_disk(run->probes, &run->disk[i].wire);
		if (err)
			err_set(e, -err, EXIT_FAILED, "cannot name %s to the kernel side: %s", run->disk[i].name,
				strerror(-err));
	}
	probes_look_at_queues(run->probes);
	return err;
}

/*
 * Programs take a second to attach, one after the other: requests count from when their disk is told of, and the kernel's counters are read
 * around that. What was passed over until then may be marked so by a program that is just at it, so queues are looked at again.
 */
static int start_counting(struct traced_run *run, struct err *e)
{
	int err;

	for (size_t i = 0; i < run->n_tracked; i++)
		if (kernel_stat_read(&run->tracked[i].t, &run->tracked[i].before))
			run->tracked[i].vanished = true;
	err = tell_disks(run, e);
	for (size_t i = 0; i < run->n_tracked && !err; i++) {
		struct tracked *k = &run->tracked[i];
		struct report_kernel now;

		if (k->vanished || kernel_stat_read(&k->t, &now))
			k->vanished = true;
		else
			k->edge_flushes = now.flushes - k->before.flushes;
		if (!k->vanished)
			k->at_step = k->at_turn = k->last = k->before = now;
	}
	probes_look_at_queues(run->probes);
	return err;
}

int run_attach(struct traced_run *run, struct err *e)
{
	int err;

	read_symbols(run);
	err = run_select(run, e);
	if (!err)
		err = probes_attach(run->probes, e);
	/* those that came while the programs were attached */
	if (!err)
		err = run_select(run, e);
	if (err)
		return err;
	if (run->ring)
		run_follow_journals(run);
	run_places_read(run);
	run->heats = heats_new(run->counters);
	if (run->opts.recording && rotation_recent(run->opts.recording)) {
		run->carry = carry_new(rotation_recent(run->opts.recording), run_record_fact, run);
		run->turn.heats = heats_new(run->counters);
	}
	err = addresses_new(run->symbols, run->n_symbols, &run->addresses, e);
	if (!err)
		err = start_counting(run, e);
	for (size_t i = 0; i < run->n_tracked; i++)
		run_watch_heat(run, &run->tracked[i]);
	note_start(run);
	return err;
}
