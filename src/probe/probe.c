// SPDX-License-Identifier: GPL-2.0-only
#include "probe/probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/outstanding_calls.h"
#include "probe/kernel_side.h"
#include "probe/loader.h"
#include "probe/task_sweep.h"
#include "slot.h"
#include "util/clock.h"
#include "util/mem.h"
#include "probe/probe_plan.h"
#include "probe/probe_table.h"

struct probes {
	struct load *load;
	struct bpf_link *link[PROBE_COUNT];
	bool by_functions; /* sync calls are traced at their own functions */
	struct plan plan;
	struct types *types; /* of the kernel, while it is being opened */
	bool forced[PROBE_COUNT];
	struct task_sweep sweep;
	uint64_t swept, asked; /* when that last was, and which tasks are gone */
};

/* The plan that was made last, for `barriertrace probes` when opening failed. */
static struct plan last_plan;
static bool planned;

static void keep_plan(const struct plan *plan)
{
	last_plan = *plan;
	planned = true;
}

void probe_want_default(struct probe_want *want)
{
	static const enum probe_id always[] = {
		PROBE_RQ_COMPLETE, PROBE_RQ_ISSUE, PROBE_RQ_INSERT, PROBE_RQ_REQUEUE, PROBE_RQ_MERGE,
	};

	memset(want, 0, sizeof(*want));
	for (int i = 0; i < PROBE_COUNT; i++)
		want->force[i] = -1;
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		want->on[always[i]] = true;
}

static int rung_of_name(const char *name)
{
	for (int r = 0; r < RUNG_COUNT; r++)
		if (!strcmp(name, rung_names[r]))
			return r;
	return -1;
}

/* *all = "tp_btf, raw_tp", word by word */
static void join(char **all, const char *gap, const char *word, size_t len)
{
	char *longer = xasprintf("%s%s%.*s", *all ? *all : "", *all ? gap : "", (int)len, word);

	free(*all);
	*all = longer;
}

static char *join_rungs(const bool has[RUNG_COUNT], const char *gap)
{
	char *all = NULL;

	for (int r = 0; r < RUNG_COUNT; r++)
		if (has[r])
			join(&all, gap, rung_names[r], strlen(rung_names[r]));
	return all;
}

/* A whole family ("request") or one probe ("request.issue"). */
static bool probe_is(int id, const char *name, size_t len)
{
	const char *has = probe_table[id].name;

	return !strncmp(has, name, len) && (!has[len] || has[len] == '.');
}

static int no_such_probe(const char *spec, struct err *e)
{
	char *families = NULL;
	int err;

	for (int i = 0; i < PROBE_COUNT; i++) {
		size_t len = strcspn(probe_table[i].name, ".");

		/* those of a family stand together */
		if (!i || !probe_is(i - 1, probe_table[i].name, len))
			join(&families, ", ", probe_table[i].name, len);
	}
	err = err_set(e, EINVAL, EXIT_USAGE, "--rung %s: no such probe: there are %s (barriertrace probes lists each)",
		      spec, families);
	free(families);
	return err;
}

static int no_such_rung(const char *spec, size_t len, const bool has[RUNG_COUNT], struct err *e)
{
	char *rungs = join_rungs(has, ", ");
	int err = err_set(e, EINVAL, EXIT_USAGE, "--rung %s: no such rung: %.*s has %s", spec, (int)len, spec, rungs);

	free(rungs);
	return err;
}

int probe_want_force(struct probe_want *want, const char *spec, struct err *e)
{
	size_t len = strcspn(spec, "=");
	int rung = spec[len] ? rung_of_name(spec + len + 1) : -1;
	bool meant = false, has[RUNG_COUNT] = { false };

	if (!spec[len] || !len)
		return err_set(e, EINVAL, EXIT_USAGE, "--rung %s: write NAME=RUNG (barriertrace probes lists both)", spec);
	for (int i = 0; i < PROBE_COUNT; i++) {
		if (!probe_is(i, spec, len))
			continue;
		meant = true;
		for (int r = 0; r < RUNG_COUNT; r++)
			has[r] |= probe_table[i].program[r] != NULL;
		if (rung < 0 || !probe_table[i].program[rung])
			continue;
		want->force[i] = rung;
		want->named[i] = !probe_table[i].name[len];
	}
	if (!meant)
		return no_such_probe(spec, e);
	return rung >= 0 && has[rung] ? 0 : no_such_rung(spec, len, has, e);
}

/* ---- open ---- */

static int read_types(struct probes *p, const struct probe_want *want, struct err *e)
{
	int err;

	load_ask(p->load, p->types);
	plan_ask(want, p->types);
	err = types_read(p->types);
	if (!err) {
		plan_read_modules(want, p->types);
		err = types_fill(p->types);
	}
	if (!err)
		return 0;
	return err_set(e, ENOENT, EXIT_KERNEL_CANNOT,
		       "this kernel has no type information (BTF) at /sys/kernel/btf/vmlinux: use a kernel built with "
		       "CONFIG_DEBUG_INFO_BTF=y");
}

/* Anew while the kernel refuses something that can be done without. */
static int load_planned(struct probes *p, const struct probe_want *want, struct err *e)
{
	int err;

	for (;;) {
		err = plan_make(&p->plan, want, p->types, e);
		if (!err)
			err = load_programs(p->load, want, &p->plan, p->types, e);
		keep_plan(&p->plan);
		if (err != -EAGAIN)
			return err;
		load_free(p->load);
		p->load = NULL;
		err = load_new(p->types, want, &p->load, e);
		if (err)
			return err;
	}
}

int probes_open(const struct probe_want *want, struct probes **out, struct err *e)
{
	struct probes *p = xcalloc(1, sizeof(*p));
	int err;

	plan_new(&p->plan);
	p->types = types_new();
	if (p->types)
		err = load_new(p->types, want, &p->load, e);
	else
		err = err_set(e, errno, EXIT_FAILED, "cannot get memory for the kernel's types: %s", strerror(errno));
	if (!err)
		err = read_types(p, want, e);
	if (!err)
		err = load_planned(p, want, e);
	if (err) {
		probes_close(p);
		return err;
	}
	types_free(p->types);
	p->types = NULL;
	for (int i = 0; i < PROBE_COUNT; i++)
		p->forced[i] = want->force[i] >= 0;
	*out = p;
	return 0;
}

/* ---- attach, look, close ---- */

static void stop(struct probes *p, enum probe_id id)
{
	bpf_link__destroy(p->link[id]);
	p->link[id] = NULL;
}

/* Attaches a program, unless it is attached or refused. 0 or a negative errno. */
static int start(struct probes *p, enum probe_id id)
{
	if (p->link[id] || p->plan.entry[id].state != PROBE_ATTACHED)
		return 0;
	p->link[id] = plan_attach(&p->plan, id, load_program(p->load, id));
	return p->link[id] ? 0 : -errno;
}

static void refuse(struct plan_entry *pe, int err)
{
	pe->state = PROBE_REFUSED;
	snprintf(pe->refused[pe->rung], sizeof(pe->refused[pe->rung]), "attach: %s", strerror(-err));
}

/* Optional ones that can't be attached are refused. */
static int attach(struct probes *p, enum probe_id id, struct err *e)
{
	int err = probe_table[id].later && !p->forced[id] ? 0 : start(p, id);

	if (!err)
		return 0;
	refuse(&p->plan.entry[id], err);
	keep_plan(&p->plan);
	if (probe_table[id].required || p->forced[id])
		return err_set(e, -err, EXIT_KERNEL_CANNOT, "cannot attach %s by %s: %s", probe_table[id].name,
			       rung_names[p->plan.entry[id].rung], strerror(-err));
	return 0;
}

static bool all_functions(const struct probes *p)
{
	for (int i = PROBE_CALL_FSYNC; i <= PROBE_CALL_SYNC_END; i++)
		if (!p->link[i])
			return false;
	return true;
}

static void functions_from(struct probes *p, uint64_t time)
{
	__atomic_store_n(&load_maps(p->load)->run->functions_since, time, __ATOMIC_SEQ_CST);
	p->by_functions = true;
}

int probes_attach(struct probes *p, struct err *e)
{
	int err = 0;

	for (int begins = 0; begins < 2; begins++)
		for (int i = 0; i < PROBE_COUNT && !err; i++)
			if (probe_table[i].begins == begins)
				err = attach(p, (enum probe_id)i, e);
	if (err)
		return err;
	if (all_functions(p))
		functions_from(p, clock_ns());
	keep_plan(&p->plan);
	return 0;
}

/* ---- the requests' own clocks ---- */

static const enum probe_id before_device[] = { PROBE_RQ_INSERT, PROBE_RQ_ISSUE };

#define N_BEFORE_DEVICE (sizeof(before_device) / sizeof(before_device[0]))

bool probes_may_use_clocks(const struct probes *p)
{
	return load_may_use_clocks(p->load);
}

static void detach_before_device(struct probes *p, const bool keep[N_BEFORE_DEVICE])
{
	for (size_t i = 0; i < N_BEFORE_DEVICE; i++) {
		if (!keep[i])
			stop(p, before_device[i]);
	}
}

static int attach_before_device(struct probes *p)
{
	bool had[N_BEFORE_DEVICE], any = false;
	int err = 0;

	for (size_t i = 0; i < N_BEFORE_DEVICE; i++)
		any |= had[i] = p->link[before_device[i]];
	/* what has been inserted and not yet issued is known if inserts were traced */
	if (any)
		load_forget_depths(p->load);
	else
		err = load_forget_requests(p->load);
	for (size_t i = 0; i < N_BEFORE_DEVICE && !err; i++)
		err = start(p, before_device[i]);
	if (err)
		detach_before_device(p, had);
	return err;
}

int probes_use_clocks(struct probes *p, enum wire_clocks which)
{
	const bool keep[N_BEFORE_DEVICE] = { which == CLOCKS_ISSUE, false };
	int err;

	if (which == CLOCKS_TRACED) {
		err = attach_before_device(p);
		if (!err)
			__atomic_store_n(&load_maps(p->load)->run->own_clocks, which, __ATOMIC_SEQ_CST);
		return err;
	}
	/* not the other way round: the requests that begin meanwhile would have no slot */
	__atomic_store_n(&load_maps(p->load)->run->own_clocks, which, __ATOMIC_SEQ_CST);
	detach_before_device(p, keep);
	return which == CLOCKS_ALL ? load_forget_requests(p->load) : 0;
}

/* ---- while nobody syncs ---- */

/* In this order they are attached again: what ends a call first, as those that have rung may end now, what begins one last. */
static const enum probe_id for_ledgers[] = {
	PROBE_SYS_EXIT,	      PROBE_SWITCH,	  PROBE_WAKING,		  PROBE_WORK_END,
	PROBE_WORK_START,     PROBE_WORK_QUEUE,	  PROBE_IO_START,	  PROBE_URING_COMPLETE,
	PROBE_URING_TASK_ADD, PROBE_URING_SUBMIT, PROBE_URING_SUBMIT_SQE, PROBE_SYS_ENTER,
};

#define N_FOR_LEDGERS (sizeof(for_ledgers) / sizeof(for_ledgers[0]))

static void set_idle(const struct probes *p, enum wire_bell idle)
{
	__atomic_store_n(&load_maps(p->load)->run->idle, idle, __ATOMIC_SEQ_CST);
}

enum wire_bell probes_sys_enter_bell(const struct probes *p)
{
	return __atomic_load_n(&load_maps(p->load)->run->sys_enter_bell, __ATOMIC_SEQ_CST);
}

static void set_sys_enter_bell(const struct probes *p, enum wire_bell state)
{
	__atomic_store_n(&load_maps(p->load)->run->sys_enter_bell, state, __ATOMIC_SEQ_CST);
}

void probes_rest(struct probes *p)
{
	set_idle(p, BELL_LISTENS);
	if (p->by_functions)
		set_sys_enter_bell(p, BELL_LISTENS);
	for (size_t i = N_FOR_LEDGERS; i-- > 0;)
		stop(p, for_ledgers[i]);
	load_forget_issued(p->load);
}

bool probes_rung(const struct probes *p)
{
	return __atomic_load_n(&load_maps(p->load)->run->idle, __ATOMIC_SEQ_CST) == BELL_RUNG;
}

uint64_t probes_last_call(const struct probes *p)
{
	return *load_maps(p->load)->last_call;
}

void probes_forget_tasks(struct probes *p, bool (*counts)(const void *ctx, uint32_t dev), const void *ctx)
{
	calls_forget_tasks(load_maps(p->load), counts, ctx);
}

/* How many requests are in a queue's device is counted anew; those that are in it now are not among them. */
static void forget_in_flight(const struct probes *p)
{
	struct wire_queue *q = load_maps(p->load)->queues;

	for (size_t i = 0; i < WIRE_MAX_QUEUES; i++)
		if (q[i].in_flight)
			q[i].in_flight = 0;
}

/* From here on begins of calls are awaited, by programs that take the requests' steps for granted. */
static int wake_requests(struct probes *p)
{
	int err = probes_use_clocks(p, CLOCKS_TRACED);

	if (err)
		return err;
	set_idle(p, BELL_OFF);
	forget_in_flight(p);
	return load_forget_issued(p->load);
}

int probes_wake(struct probes *p)
{
	bool with_syscalls = probes_sys_enter_bell(p) != BELL_LISTENS;
	int err = 0;

	for (size_t i = 0; i < N_FOR_LEDGERS && !err; i++) {
		enum probe_id id = for_ledgers[i];

		if (probe_table[id].begins && __atomic_load_n(&load_maps(p->load)->run->idle, __ATOMIC_SEQ_CST))
			err = wake_requests(p);
		if (!err && (with_syscalls || (id != PROBE_SYS_ENTER && id != PROBE_SYS_EXIT)))
			err = start(p, id);
	}
	if (with_syscalls)
		set_sys_enter_bell(p, BELL_OFF);
	return err;
}

/* ---- sync calls at their own functions ---- */

#define FUNCTIONS_IN_NS 2000000 /* until all CPUs run the functions' programs */

uint64_t probes_last_sys_enter_call(const struct probes *p)
{
	return *load_maps(p->load)->last_sys_enter_call;
}

/* The programs that see calls end come first. */
static int start_functions(struct probes *p)
{
	int err = 0;

	for (int begins = 0; begins < 2; begins++)
		for (int i = PROBE_CALL_FSYNC; i <= PROBE_CALL_SYNC_END && !err; i++)
			if (probe_table[i].begins == begins)
				err = start(p, (enum probe_id)i);
	return err || all_functions(p) ? err : -ENOENT;
}

/* With link-time optimisation a kernel may have inlined them: call each without effect. There is no such call of sync(2). */
static bool functions_are_called(const struct probes *p)
{
	const uint32_t calls = 1u << CALL_FSYNC | 1u << CALL_FDATASYNC | 1u << CALL_SYNCFS |
			       1u << CALL_SYNC_FILE_RANGE | 1u << CALL_MSYNC;
	struct wire_run *run = load_maps(p->load)->run;

	__atomic_store_n(&run->selftest_pid, (uint32_t)getpid(), __ATOMIC_SEQ_CST);
	fsync(-1);
	fdatasync(-1);
	syncfs(-1);
	sync_file_range(-1, 0, 0, SYNC_FILE_RANGE_WRITE);
	msync((void *)1, 1, MS_ASYNC);
	__atomic_store_n(&run->selftest_pid, 0, __ATOMIC_SEQ_CST);
	return (__atomic_load_n(&run->selftest_calls, __ATOMIC_SEQ_CST) & calls) == calls;
}

static void refuse_functions(struct probes *p, int err)
{
	for (int i = PROBE_CALL_FSYNC; i <= PROBE_CALL_SYNC_END; i++) {
		stop(p, (enum probe_id)i);
		if (p->plan.entry[i].state == PROBE_ATTACHED)
			refuse(&p->plan.entry[i], err);
	}
	keep_plan(&p->plan);
}

int probes_trace_functions(struct probes *p)
{
	int err;

	if (p->by_functions)
		return 0;
	err = start_functions(p);
	if (!err && !functions_are_called(p))
		err = -ENOTSUP;
	if (err)
		refuse_functions(p, err);
	else
		functions_from(p, clock_ns() + FUNCTIONS_IN_NS);
	return err;
}

void probes_stop_sys_enter(struct probes *p)
{
	set_sys_enter_bell(p, BELL_LISTENS);
	stop(p, PROBE_SYS_ENTER);
}

void probes_stop_sys_exit(struct probes *p)
{
	stop(p, PROBE_SYS_EXIT);
}

int probes_trace_syscalls(struct probes *p)
{
	int err = start(p, PROBE_SYS_ENTER);

	if (!err)
		err = start(p, PROBE_SYS_EXIT);
	set_sys_enter_bell(p, err ? BELL_LISTENS : BELL_OFF);
	return err;
}

void probes_drop_idle(struct probes *p)
{
	calls_drop_idle(load_maps(p->load));
}

void probes_tell_cached(const struct probes *p, struct wire_disk *disk, bool cached)
{
	struct wire_queue *q = load_maps(p->load)->queues;

	if (disk->cached == cached)
		return;
	disk->cached = cached;
	probes_tell_disk(p, disk);
	for (size_t i = 0; i < WIRE_MAX_QUEUES; i++)
		if (q[i].state == QUEUE_TRACED && q[i].disk.dev == disk->dev)
			q[i].disk.cached = cached;
}

bool probes_hear(const struct probes *p, const char *fstype)
{
	static const struct {
		const char *fstype;
		enum probe_id file, other, fs; /* `file` or `other`, and `fs` */
	} heard[] = {
		{ "ext4", PROBE_EXT4_SYNC, PROBE_EXT4_SYNC, PROBE_EXT4_SYNC_FS },
		{ "ext3", PROBE_EXT4_SYNC, PROBE_EXT4_SYNC, PROBE_EXT4_SYNC_FS },
		{ "xfs", PROBE_XFS_SYNC, PROBE_XFS_SYNC, PROBE_XFS_SYNC_FS },
		{ "btrfs", PROBE_BTRFS_SYNC, PROBE_BTRFS_ENTER, PROBE_BTRFS_SYNC_FS },
	};

	for (size_t i = 0; i < sizeof(heard) / sizeof(heard[0]); i++)
		if (!strcmp(fstype, heard[i].fstype))
			return (p->link[heard[i].file] || p->link[heard[i].other]) && p->link[heard[i].fs];
	return false;
}

/* A set of numbers: these, and no others. */
static void tell_set(int fd, const uint32_t *dev, size_t n)
{
	uint32_t key, next, one = 1;
	bool more;

	for (size_t i = 0; i < n; i++)
		bpf_map_update_elem(fd, &dev[i], &one, BPF_ANY);
	more = !bpf_map_get_next_key(fd, NULL, &next);
	while (more) {
		bool still = false;

		key = next;
		more = !bpf_map_get_next_key(fd, &key, &next);
		for (size_t i = 0; i < n && !still; i++)
			still = dev[i] == key;
		if (!still)
			bpf_map_delete_elem(fd, &key);
	}
}

void probes_tell_covered(const struct probes *p, const uint32_t *dev, size_t n)
{
	tell_set(load_maps(p->load)->covered_fd, dev, n);
}

void probes_tell_elsewhere(const struct probes *p, const uint32_t *dev, size_t n)
{
	tell_set(load_maps(p->load)->elsewhere_fd, dev, n);
}

const struct wire_maps *probes_maps(const struct probes *p)
{
	return load_maps(p->load);
}

bool probes_have_ledger(const struct probes *p)
{
	static const enum probe_id needed[] = { PROBE_SYS_ENTER, PROBE_SYS_EXIT, PROBE_SWITCH, PROBE_WAKING };

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (p->plan.entry[needed[i]].state != PROBE_ATTACHED)
			return false;
	return true;
}

static void run_for_task(int program, uint32_t tid)
{
	uint64_t args[1] = { tid };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));

	bpf_prog_test_run_opts(program, &opts);
}

/* A kernel that cannot run it learns the task at its first wake-up instead. */
void probes_follow(const struct probes *p, uint32_t tid)
{
	run_for_task(load_seed_fd(p->load), tid);
}

/* ---- entries for tasks ---- */

#define SWEEP_LEAST_NS 50000000ull /* from one to the next: the main loop may wait before each, see programs_ended() */
#define SWEEP_MOST_NS  1000000000ull /* while no program wants one */

struct sweeping {
	const struct probes *p;
	const struct wire_maps *maps;
	bool ask; /* whether tasks are gone: their numbers are ours, and it was not asked for a second */
};

static bool names(void *ctx, uint32_t tid, size_t task)
{
	const struct sweeping *s = ctx;

	return calls_state_is(s->maps, tid, task);
}

static bool gone(void *ctx, uint32_t tid)
{
	const struct sweeping *s = ctx;

	return s->ask && kill((pid_t)tid, 0) && errno == ESRCH;
}

static void bury(void *ctx, uint32_t tid)
{
	const struct sweeping *s = ctx;

	run_for_task(load_bury_fd(s->p->load), tid);
}

static void free_task(void *ctx, uint32_t task)
{
	const struct sweeping *s = ctx;

	bpf_map_update_elem(s->maps->free_tasks_fd, NULL, &task, BPF_ANY);
}

/* Nothing is left in it of the helper before. */
static void free_history(void *ctx, uint32_t history)
{
	const struct sweeping *s = ctx;
	void *blank = xcalloc(1, s->maps->history_size);

	bpf_map_update_elem(s->maps->histories_fd, &history, blank, BPF_ANY);
	bpf_map_update_elem(s->maps->free_histories_fd, NULL, &history, BPF_ANY);
	free(blank);
}

/*
 * Have all programs ended that were running when this was called? A stretch of time alone doesn't tell: a CPU of a guest may stand still
 * within a program. All of ours run within RCU, for whose readers this call waits: 7 to 15 ms on an idle machine with two CPUs. Kernels with
 * nohz_full refuse it, and with one CPU they don't wait.
 */
static bool programs_ended(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN) > 1 && !syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

static void sweep(struct probes *p, uint64_t now, bool ask)
{
	static const struct sweep_calls calls = { names, gone, bury, free_task, free_history };
	const struct wire_maps *m = load_maps(p->load);
	struct sweeping s = { .p = p, .maps = m, .ask = ask };
	struct task_state *t;
	size_t n;

	*m->sweep_wanted = 0;
	t = calls_map_tasks(m, PROT_READ | PROT_WRITE, &n);
	if (t)
		task_sweep(&p->sweep, t, n, m->history_owner, now, &calls, &s);
	calls_unmap_tasks(t, n);
	p->swept = now;
}

void probes_sweep_tasks(struct probes *p)
{
	const struct wire_maps *m = load_maps(p->load);
	uint64_t now = clock_ns();
	bool due = now >= p->asked + SWEEP_MOST_NS;

	if (now < p->swept + SWEEP_LEAST_NS || (!*m->sweep_wanted && !due && !p->sweep.unnamed))
		return;
	/* where it can't be told, entries are without a name for so long before they come back */
	if (p->sweep.unnamed && !programs_ended() && now < p->swept + SWEEP_MOST_NS)
		return;
	sweep(p, now, due && m->own_numbers);
	if (p->sweep.unnamed && programs_ended())
		sweep(p, now, false);
	if (due)
		p->asked = now;
}

/* ---- calls and requests under way ---- */

#define SURELY_NS 1000000000ull /* a call that is under way for longer may be one whose end was missed */
#define FORGOTTEN_NS \
	(120 * 1000000000ull) /* one that another task carries out, and whose end was missed, is in nobody's way then */

uint64_t probes_oldest_call(const struct probes *p, const struct calls_wanted *want)
{
	const uint64_t now = want->until;
	struct calls_look l = { .until = now, .wanted = want, .ask_before = now > SURELY_NS ? now - SURELY_NS : 0 };
	uint64_t oldest = now,
		 pending = calls_pending_since(load_maps(p->load), now > FORGOTTEN_NS ? now - FORGOTTEN_NS : 0, want);

	if (!pending || !calls_look(load_maps(p->load), &l))
		return 0;
	if (l.found.n)
		oldest = l.found.oldest;
	return pending < oldest ? pending : oldest;
}

struct calls_under_way probes_calls_under_way(const struct probes *p, const struct calls_wanted *want)
{
	struct calls_look l = { .until = want->until, .wanted = want, .ask_before = UINT64_MAX };

	calls_look(load_maps(p->load), &l);
	return l.found;
}

bool probes_in_call(const struct probes *p, uint32_t tid)
{
	return calls_has(load_maps(p->load), tid);
}

void probes_requests_under_way(const struct probes *p, const struct wire_disk *disk,
			       void (*each)(void *ctx, const struct request_under_way *q), void *ctx)
{
	requests_look(load_maps(p->load), disk, each, ctx);
}

void probes_clear_slots(const struct probes *p, uint32_t first, uint32_t n)
{
	static const struct slot none;

	for (uint32_t i = first; i < first + n; i++)
		bpf_map_update_elem(load_maps(p->load)->slots_fd, &i, &none, BPF_ANY);
}

/* One program may serve several probes. */
static bool is_first_of_program(const struct probes *p, int id)
{
	for (int i = 0; i < id; i++)
		if (load_program(p->load, (enum probe_id)i) == load_program(p->load, (enum probe_id)id))
			return false;
	return true;
}

uint64_t probes_skipped_runs(const struct probes *p)
{
	uint64_t sum = 0;

	for (int i = 0; i < PROBE_COUNT; i++) {
		struct bpf_prog_info info = { 0 };
		__u32 len = sizeof(info);

		if (p->plan.entry[i].state == PROBE_ATTACHED && is_first_of_program(p, i) &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(load_program(p->load, (enum probe_id)i)), &info, &len))
			sum += info.recursion_misses;
	}
	return sum;
}

static char *reason_text(const struct plan_entry *pe, int id)
{
	char *all = NULL;

	if (pe->state == PROBE_OFF)
		return xstrdup("this run does not need it");
	if (pe->state == PROBE_ABSENT)
		return xstrdup(pe->refused[0]);
	for (int r = 0; r < RUNG_COUNT; r++) {
		char *why;

		if (!pe->refused[r][0])
			continue;
		why = xasprintf("%s: %s", rung_names[r], pe->refused[r]);
		join(&all, "; ", why, strlen(why));
		free(why);
	}
	if (pe->state == PROBE_REFUSED && probe_table[id].without) {
		char *next = xasprintf("%s (%s)", all ? all : "refused", probe_table[id].without);

		free(all);
		all = next;
	}
	return all;
}

void probes_report(const struct probes *p, struct report *r)
{
	const struct plan *plan = p ? &p->plan : &last_plan;

	for (int i = 0; i < PROBE_COUNT && (p || planned); i++) {
		const struct plan_entry *pe = &plan->entry[i];
		struct report_probe *rp = grow((void **)&r->probe, &r->n_probes, sizeof(*rp));

		rp->name = xstrdup(probe_table[i].name);
		rp->state = pe->state;
		rp->rung = pe->state == PROBE_ATTACHED ? xstrdup(rung_names[pe->rung]) : NULL;
		rp->reason = reason_text(pe, i);
		rp->could = join_rungs(pe->could, ",");
	}
}

void probes_close(struct probes *p)
{
	if (!p)
		return;
	for (int i = 0; i < PROBE_COUNT; i++)
		stop(p, (enum probe_id)i);
	plan_end(&p->plan);
	load_free(p->load);
	types_free(p->types);
	free(p);
}
