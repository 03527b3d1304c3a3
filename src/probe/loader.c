// SPDX-License-Identifier: GPL-2.0-only
#include "probe/loader.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "barriertrace.skel.h"
#include "probe/kernel_constants.h"
#include "slot.h"
#include "util/mem.h"
#include "probe/syscalls.h"
#include "probe/probe_table.h"

#define MAX_LOADERS 4 /* more gain nothing: the largest program alone takes a quarter of the time */

struct refusal {
	char program[64]; /* whose load failed */
	char reason[160]; /* the last line of the verifier's log */
};

/* An object with some of the programs, and its thread. */
struct loader {
	struct bpf_object *obj;
	const char *path; /* borrowed from the types */
	pthread_t thread;
	bool running; /* the thread has to be waited for */
	bool any;     /* it has programs to load */
	size_t work;  /* steps of the verifier */
	int err;
	struct refusal refusal;
};

/* To make the ring buffer takes some ms, as its pages are cleared. A thread does it while the objects are opened. */
struct ring_maker {
	pthread_t thread;
	bool running;
	uint32_t bytes;
	int fd;
};

struct load {
	struct barriertrace_bpf *skel; /* the maps */
	struct ring_maker ring;
	struct loader loader[MAX_LOADERS];
	int n_loaders;
	struct bpf_program *program[PROBE_COUNT], *seed, *fill;
	struct wire_maps maps;
	size_t cells_size, views_size, queues_size, depths_size;
};

/* ---- libbpf's own words: kept for the reason of a refusal, shown with -v ---- */

static _Thread_local struct refusal refusal;

static void refusal_take(const char *line)
{
	const char *p = strstr(line, "prog '"), *end;

	if (p && strstr(line, "BPF program load failed")) {
		p += 6;
		end = strchr(p, '\'');
		if (end && (size_t)(end - p) < sizeof(refusal.program))
			snprintf(refusal.program, sizeof(refusal.program), "%.*s", (int)(end - p), p);
		p = strrchr(line, ':');
		snprintf(refusal.reason, sizeof(refusal.reason), "load:%s", p ? p + 1 : " failed");
		refusal.reason[strcspn(refusal.reason, "\n")] = '\0';
	}
}

/* libbpf has one function to speak to for all it does. Set before there are threads. */
static struct notices listener;

static int libbpf_says(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char *line = NULL;

	if (level == LIBBPF_DEBUG || vasprintf(&line, fmt, ap) < 0)
		return 0;
	refusal_take(line);
	if (*line && line[strlen(line) - 1] == '\n')
		line[strlen(line) - 1] = '\0';
	notice(&listener, NOTICE_DETAIL, "%s", line);
	free(line);
	return 0;
}

/* ---- what programs attach to: looked up in the types that are here, and not, by each object anew, in all of the kernel's ---- */

/* Of the present load: libbpf's calls bring nothing along. */
static const struct types *target_types;
static int cast_id; /* the kernel's number of its function for CONFIG_CAST; 0: there is none to call */

static const char *target_name(const struct bpf_program *prog)
{
	const char *slash = strchr(bpf_program__section_name(prog), '/');

	return slash ? slash + 1 : "";
}

/* libbpf keeps its hands off the kernel's types where a program is said to attach to another program: to any but 0. */
static int target_later(struct bpf_program *prog, long cookie __attribute__((unused)))
{
	return bpf_program__set_attach_target(prog, 1, NULL);
}

/* Does the kernel translate programs? One that interprets them loads none in which its functions are called, and has no such file if it can't. */
static bool translates(void)
{
	FILE *f = fopen("/proc/sys/net/core/bpf_jit_enable", "re");
	int first = f ? getc(f) : EOF;

	if (f)
		fclose(f);
	return first != EOF && first != '0';
}

static int find_cast(void)
{
	struct types_target to;

	return target_types && translates() && !types_target(target_types, CONFIG_CAST_FUNCTION, BTF_KIND_FUNC, &to) ?
		       to.id :
		       0;
}

/* Turns the programs' CONFIG_CAST into calls of the kernel's function. Where there is none to call, the verifier takes them out. */
static int cast_now(struct bpf_program *prog)
{
	size_t n = bpf_program__insn_cnt(prog);
	struct bpf_insn *insns;
	int err;

	if (!cast_id)
		return 0;
	insns = xcalloc(n, sizeof(*insns));
	memcpy(insns, bpf_program__insns(prog), n * sizeof(*insns));
	for (size_t i = 0; i < n; i++) {
		if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg || insns[i].imm != CONFIG_CAST)
			continue;
		insns[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
		insns[i].imm = cast_id;
	}
	err = bpf_program__set_insns(prog, insns, n);
	free(insns);
	return err;
}

static int untyped_now(struct bpf_program *prog, struct bpf_prog_load_opts *opts __attribute__((unused)),
		       long cookie __attribute__((unused)))
{
	return cast_now(prog);
}

static int target_now(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long function)
{
	struct types_target to;
	int err = plan_target(target_types, target_name(prog), function, &to);

	if (err)
		return err;
	opts->attach_prog_fd = 0;
	opts->attach_btf_id = (__u32)to.id;
	opts->attach_btf_obj_fd = (__u32)to.object;
	return cast_now(prog);
}

static int attach_typed(const struct bpf_program *prog, long cookie __attribute__((unused)), struct bpf_link **link)
{
	*link = bpf_program__attach_trace(prog);
	return *link ? 0 : -errno;
}

static int attach_kprobe(const struct bpf_program *prog, long at_end, struct bpf_link **link)
{
	*link = bpf_program__attach_kprobe(prog, at_end, target_name(prog));
	return *link ? 0 : -errno;
}

static int take_sections(void)
{
	static const struct {
		const char *section;
		enum bpf_prog_type type;
		enum bpf_attach_type how;
		long cookie; /* typed: its target is a function's type, not a tracepoint's; kprobe: at the function's end */
		int (*attach)(const struct bpf_program *prog, long cookie, struct bpf_link **link);
	} taken[] = {
		{ "tp_btf+", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, false, attach_typed },
		{ "fentry+", BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, true, attach_typed },
		{ "fexit+", BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT, true, attach_typed },
		{ "raw_tp+", BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 0, NULL }, /* see plan_attach() */
		{ "kprobe+", BPF_PROG_TYPE_KPROBE, 0, false, attach_kprobe },
		{ "kretprobe+", BPF_PROG_TYPE_KPROBE, 0, true, attach_kprobe },
		{ "tp+", BPF_PROG_TYPE_TRACEPOINT, 0, 0, NULL }, /* probe_plan.c attaches it, to an event of its own */
	};
	static bool done;

	for (size_t i = 0; !done && i < sizeof(taken) / sizeof(taken[0]); i++) {
		bool typed = taken[i].type == BPF_PROG_TYPE_TRACING;
		LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = taken[i].cookie,
			    .prog_setup_fn = typed ? target_later : NULL,
			    .prog_prepare_load_fn = typed ? target_now : untyped_now, .prog_attach_fn = taken[i].attach);
		int err = libbpf_register_prog_handler(taken[i].section, taken[i].type, taken[i].how, &opts);

		if (err < 0)
			return err;
	}
	done = true;
	return 0;
}

/* ---- configuration, sizes ---- */

#define RING_BYTES (1u << 20) /* for a look at the probes; a run says what it wants, see map_sizes.h */
#define RING_WAKE \
	(4u << 20) /* waits to be read before the reader is woken: what is not needed any more is known after each reading */

static uint32_t ring_bytes(const struct probe_want *want)
{
	if (!want->ledger)
		return (uint32_t)sysconf(_SC_PAGESIZE);
	return want->ring_bytes ? want->ring_bytes : RING_BYTES;
}

/*
 * 16 KiB on x86_64 and arm64, and on arm64 a page if that is more (asm/thread_info.h, asm/memory.h). Not in BTF; only a
 * kernel with KASAN has larger ones.
 */
static uint32_t thread_size(void)
{
	long page = sysconf(_SC_PAGESIZE);

	return page > 16384 ? (uint32_t)page : 16384;
}

static bool flush_path(const struct plan *plan)
{
	return plan->entry[PROBE_FLUSH_INSERT].state == PROBE_ATTACHED &&
	       plan->entry[PROBE_FLUSH_DATA].state == PROBE_ATTACHED &&
	       plan->entry[PROBE_FLUSH_END].state == PROBE_ATTACHED;
}

static void fill_types(struct bt_config *cfg)
{
	static const struct {
		const char *name;
		size_t offset; /* in struct bt_config */
	} cast[] = {
#define CAST(name) { #name, offsetof(struct bt_config, type_##name) }
		CAST(address_space), CAST(dentry),  CAST(file),	       CAST(inode),	  CAST(pt_regs),
		CAST(rb_node),	     CAST(request), CAST(super_block), CAST(task_struct),
#undef CAST
	};
	struct types_target to;

	for (size_t i = 0; cast_id && i < sizeof(cast) / sizeof(cast[0]); i++)
		if (!types_target(target_types, cast[i].name, BTF_KIND_STRUCT, &to))
			*(__u32 *)((char *)cfg + cast[i].offset) = (__u32)to.id;
}

static void fill_filter(struct bt_config *cfg, const struct probe_want *want)
{
	cfg->filter = want->filter;
	cfg->filter_family = want->filter_family;
	cfg->no_children = want->no_children;
	cfg->task_groups = want->task_groups;
	cfg->bio_groups = want->bio_groups;
	cfg->n_comms = want->n_comms;
	memcpy(cfg->comm, want->comm, sizeof(cfg->comm));
}

static void fill_config(struct bt_config *cfg, const struct probe_want *want, const struct plan *plan, const struct btf *btf)
{
	constants_from_btf(btf, cfg);
	fill_types(cfg);
	cfg->stripes = want->stripes;
	cfg->atomic = want->stripes < (uint32_t)libbpf_num_possible_cpus();
	cfg->command = want->command;
	fill_filter(cfg, want);
	cfg->track_task = want->ledger || want->command || want->filter;
	cfg->ledger = want->ledger;
	cfg->may_idle = want->may_idle;
	cfg->bios = want->on[PROBE_BIO_QUEUE];
	cfg->ring_wake = ring_bytes(want) / 2 < RING_WAKE ? ring_bytes(want) / 2 : RING_WAKE;
	cfg->thread_size = thread_size();
	cfg->flush_path = flush_path(plan);
	/* with ledgers, only while what they need is not attached */
	cfg->own_clocks = (!want->ledger || want->may_idle) && !want->command && !want->filter && !cfg->flush_path;
	syscalls_fill(cfg);
}

/* Process numbers that can occur, now or after pid_max is raised to what this kernel allows at most by default. */
uint32_t probes_pid_max(void)
{
	FILE *f = fopen("/proc/sys/kernel/pid_max", "re");
	unsigned int max = 0;

	if (!f || fscanf(f, "%u", &max) != 1)
		max = 1u << 22;
	if (f)
		fclose(f);
	return max;
}

static void set_ledger_sizes(struct load *l, const struct probe_want *want)
{
	bpf_map__set_max_entries(l->skel->maps.ring, ring_bytes(want));
	if (want->ledger) {
		bpf_map__set_max_entries(l->skel->maps.pids, probes_pid_max() / 64 + 1); /* PIDS_PER_CHUNK */
		return;
	}
	bpf_map__set_max_entries(l->skel->maps.covered, 1);
	bpf_map__set_max_entries(l->skel->maps.elsewhere, 1);
	bpf_map__set_max_entries(l->skel->maps.tasks, 1);
	bpf_map__set_max_entries(l->skel->maps.histories, 1);
	bpf_map__set_max_entries(l->skel->maps.free_tasks, 1);
	bpf_map__set_max_entries(l->skel->maps.free_histories, 1);
	bpf_map__set_max_entries(l->skel->maps.files, 1);
	bpf_map__set_max_entries(l->skel->maps.pendings, 1);
	bpf_map__set_max_entries(l->skel->maps.queued, 1);
}

static void set_sizes(struct load *l, const struct probe_want *want)
{
	bpf_map__set_max_entries(l->skel->maps.cells, want->views * WIRE_CELLS * want->stripes);
	bpf_map__set_max_entries(l->skel->maps.views, want->views * want->stripes);
	bpf_map__set_max_entries(l->skel->maps.depths, want->views * want->stripes);
	bpf_map__set_max_entries(l->skel->maps.slots, want->slots ? want->slots : 1);
	if (!want->command && !want->filter_family)
		bpf_map__set_max_entries(l->skel->maps.family, 1);
	if (!want->on[PROBE_BIO_QUEUE])
		bpf_map__set_max_entries(l->skel->maps.bios, 1);
	set_ledger_sizes(l, want);
}

static void *map_memory(struct bpf_map *map, size_t *size)
{
	long page = sysconf(_SC_PAGESIZE);
	void *mem;

	*size = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);
	*size = (*size + (size_t)page - 1) / (size_t)page * (size_t)page;
	mem = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	return mem == MAP_FAILED ? NULL : mem;
}

static int map_all(struct load *l, const struct probe_want *want, struct err *e)
{
	l->maps.cells = map_memory(l->skel->maps.cells, &l->cells_size);
	l->maps.views = map_memory(l->skel->maps.views, &l->views_size);
	l->maps.queues = map_memory(l->skel->maps.queues, &l->queues_size);
	l->maps.depths = map_memory(l->skel->maps.depths, &l->depths_size);
	l->maps.run = &l->skel->data->run;
	l->maps.groups = &l->skel->data->groups;
	l->maps.aio_fsync_work = &l->skel->data->aio_fsync_work;
	l->maps.stripes = want->stripes;
	l->maps.callers = (volatile unsigned long long *)&l->skel->data->callers;
	l->maps.last_call = (volatile unsigned long long *)&l->skel->data->last_call;
	l->maps.last_sys_enter_call = (volatile unsigned long long *)&l->skel->data->last_sys_enter_call;
	l->maps.elsewhere_fd = bpf_map__fd(l->skel->maps.elsewhere);
	l->maps.covered_fd = bpf_map__fd(l->skel->maps.covered);
	l->maps.disks_fd = bpf_map__fd(l->skel->maps.disks);
	l->maps.family_fd = bpf_map__fd(l->skel->maps.family);
	l->maps.ring_fd = want->ledger ? bpf_map__fd(l->skel->maps.ring) : -1;
	l->maps.slots_fd = bpf_map__fd(l->skel->maps.slots);
	l->maps.n_slots = bpf_map__max_entries(l->skel->maps.slots);
	l->maps.tasks_fd = bpf_map__fd(l->skel->maps.tasks);
	l->maps.pids_fd = bpf_map__fd(l->skel->maps.pids);
	l->maps.pendings_fd = bpf_map__fd(l->skel->maps.pendings);
	if (!l->maps.cells || !l->maps.views || !l->maps.queues || !l->maps.depths)
		return err_set(e, errno, EXIT_FAILED, "cannot map the counters: %s", strerror(errno));
	return 0;
}

/* ---- the threads ---- */

static void start(struct loader *w, void *(*work)(void *))
{
	w->running = !pthread_create(&w->thread, NULL, work, w);
	if (!w->running)
		work(w);
}

static int finish(struct loader *w)
{
	if (w->running)
		pthread_join(w->thread, NULL);
	w->running = false;
	return w->err;
}

/* The first that failed, if any did. */
static int finish_all(struct load *l)
{
	int err = 0;

	for (int i = 0; i < l->n_loaders; i++)
		if (finish(&l->loader[i]) && !err)
			err = l->loader[i].err;
	return err;
}

/*
 * libbpf keeps the instructions of all programs for as long as their object, and there is one object per thread: of each that
 * isn't to be loaded, leave a single one. Only before the object is loaded; where it fails, memory is all that it costs. None of
 * them may take a function's address (bpf_loop(), timers): libbpf writes those into programs that aren't loaded, too.
 */
static void drop_unloaded(struct bpf_object *obj)
{
	static struct bpf_insn exit_only = { .code = BPF_JMP | BPF_EXIT };
	struct bpf_program *prog = NULL;

	while ((prog = bpf_object__next_program(obj, prog)))
		if (!bpf_program__autoload(prog))
			bpf_program__set_insns(prog, &exit_only, 1);
}

static void *open_object(void *arg)
{
	struct loader *w = arg;
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "barriertrace_bpf", .btf_custom_path = w->path);
	size_t size;
	const void *elf = barriertrace_bpf__elf_bytes(&size);

	w->obj = bpf_object__open_mem(elf, size, &opts);
	w->err = w->obj ? 0 : -errno;
	return NULL;
}

static void *load_object(void *arg)
{
	struct loader *w = arg;

	memset(&refusal, 0, sizeof(refusal));
	drop_unloaded(w->obj);
	w->err = bpf_object__load(w->obj);
	w->refusal = refusal;
	return NULL;
}

static void *make_ring(void *arg)
{
	struct ring_maker *r = arg;

	r->fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, r->bytes, NULL);
	return NULL;
}

static void start_ring(struct ring_maker *r, const struct probe_want *want)
{
	r->bytes = ring_bytes(want);
	r->fd = -1;
	r->running = want->ledger && !pthread_create(&r->thread, NULL, make_ring, r);
}

/* Where it could not be made, libbpf tries once more, and tells why. */
static int take_ring(struct ring_maker *r, struct bpf_map *map)
{
	int err = 0;

	if (r->running)
		pthread_join(r->thread, NULL);
	r->running = false;
	if (r->fd < 0)
		return 0;
	if (map)
		err = bpf_map__reuse_fd(map, r->fd);
	close(r->fd);
	r->fd = -1;
	return err;
}

static int cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

int load_new(const struct types *path, const struct probe_want *want, struct load **out, struct err *e)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = types_path(path));
	struct load *l;
	int err;

	listener = want->notices;
	libbpf_set_print(libbpf_says);
	err = take_sections();
	if (err)
		return err_set(e, -err, EXIT_FAILED, "cannot open the BPF programs: %s", strerror(-err));
	l = xcalloc(1, sizeof(*l));
	start_ring(&l->ring, want);
	l->n_loaders = cpus() < MAX_LOADERS ? cpus() : MAX_LOADERS;
	for (int i = 0; i < l->n_loaders; i++) {
		l->loader[i].path = types_path(path);
		start(&l->loader[i], open_object);
	}
	l->skel = barriertrace_bpf__open_opts(&opts);
	if (!l->skel) {
		err = err_set(e, errno, EXIT_FAILED, "cannot open the BPF programs: %s", strerror(errno));
		load_free(l);
		return err;
	}
	drop_unloaded(l->skel->obj);
	*out = l;
	return 0;
}

void load_ask(const struct load *l, struct types *types)
{
	const struct btf *btf = bpf_object__btf(l->skel->obj);
	__u32 n = btf__type_cnt(btf);

	for (__u32 id = 1; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (btf_is_composite(t) || btf_is_any_enum(t) || btf_is_typedef(t))
			types_ask(types, btf__name_by_offset(btf, t->name_off));
	}
	types_ask(types, CONFIG_CAST_FUNCTION);
	for (size_t i = 0; constants_enumerator(i); i++)
		types_ask(types, constants_enumerator(i));
}

/* ---- which thread loads what ---- */

#define SMALL 1000 /* steps of the verifier, about */

static struct loader *least_work(struct load *l)
{
	struct loader *least = &l->loader[0];

	for (int i = 1; i < l->n_loaders; i++)
		if (l->loader[i].work < least->work)
			least = &l->loader[i];
	return least;
}

/* An object knows its own copy of each program only. */
static struct bpf_program *give_program(struct load *l, const char *name, size_t steps)
{
	struct loader *w = least_work(l);
	struct bpf_program *prog = bpf_object__find_program_by_name(w->obj, name);

	if (!prog)
		return NULL;
	bpf_program__set_autoload(prog, true);
	w->work += steps;
	w->any = true;
	return prog;
}

/* Most have little more to verify than their own instructions; what others call is a multiple of that. */
static size_t steps_of(const struct load *l, int id, enum rung rung)
{
	const struct probe_row *row = &probe_table[id];
	const struct bpf_program *prog = bpf_object__find_program_by_name(l->loader[0].obj, row->program[rung]);

	if (!prog)
		return 0;
	return row->steps ? row->steps : bpf_program__insn_cnt(prog);
}

/* Of the planned programs that have no thread yet, the one with most to verify; PROBE_COUNT: there is none. */
static int largest(const struct load *l, const struct plan *plan, size_t *steps)
{
	int which = PROBE_COUNT;

	*steps = 0;
	for (int i = 0; i < PROBE_COUNT; i++) {
		const struct plan_entry *pe = &plan->entry[i];
		size_t n = pe->state == PROBE_ATTACHED && !l->program[i] ? steps_of(l, i, pe->rung) : 0;

		if (n > *steps) {
			*steps = n;
			which = i;
		}
	}
	return which;
}

/* One that serves several tracepoints is loaded once. */
static void share_out_program(struct load *l, const struct plan *plan, const char *name, size_t steps)
{
	struct bpf_program *prog = give_program(l, name, steps);

	for (int i = 0; i < PROBE_COUNT; i++) {
		const struct plan_entry *pe = &plan->entry[i];

		if (pe->state == PROBE_ATTACHED && !strcmp(probe_table[i].program[pe->rung], name))
			l->program[i] = prog;
	}
}

static void share_out(struct load *l, const struct probe_want *want, const struct plan *plan)
{
	size_t steps;
	int i;

	while ((i = largest(l, plan, &steps)) != PROBE_COUNT)
		share_out_program(l, plan, probe_table[i].program[plan->entry[i].rung], steps);
	if (!want->ledger)
		return;
	l->seed = give_program(l, "seed", SMALL);
	l->fill = give_program(l, "fill", SMALL);
}

static int share_maps(struct load *l, struct loader *w)
{
	struct bpf_map *from = NULL, *to = NULL;

	while ((from = bpf_object__next_map(l->skel->obj, from))) {
		int err;

		to = bpf_object__next_map(w->obj, to);
		err = to ? bpf_map__reuse_fd(to, bpf_map__fd(from)) : -EINVAL;
		if (err)
			return err;
	}
	return 0;
}

/* ---- load ---- */

static int fill(const struct load *l, enum wire_free which, uint32_t entries)
{
	for (uint64_t part = entries / WIRE_FREE_PART; part-- > 0;) {
		uint64_t args[] = { which, part };
		LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));

		if (bpf_prog_test_run_opts(bpf_program__fd(l->fill), &opts))
			return -errno;
	}
	return 0;
}

/* Marks all tasks and histories as free. */
static int fill_all(const struct load *l)
{
	int err = fill(l, WIRE_FREE_TASKS, WIRE_TASKS);

	return err ? err : fill(l, WIRE_FREE_HISTORIES, WIRE_HISTORIES);
}

static int create_maps(struct load *l, const struct probe_want *want, const struct plan *plan, const struct btf *btf)
{
	int err, opened;

	fill_config(&l->skel->rodata->cfg, want, plan, btf);
	set_sizes(l, want);
	err = take_ring(&l->ring, l->skel->maps.ring);
	if (!err)
		err = barriertrace_bpf__load(l->skel);
	opened = finish_all(l); /* even without maps: their results are read next */
	return err ? err : opened;
}

/* A program that was refused is barred from the plan, if the refusal tells which one it was. */
static bool bar_refused(const struct load *l, struct plan *plan)
{
	bool barred = false;

	for (int k = 0; k < l->n_loaders; k++) {
		const struct refusal *r = &l->loader[k].refusal;

		for (int i = 0; i < PROBE_COUNT && l->loader[k].err; i++) {
			const struct plan_entry *pe = &plan->entry[i];

			if (pe->state != PROBE_ATTACHED || strcmp(r->program, probe_table[i].program[pe->rung]))
				continue;
			plan_bar(plan, (enum probe_id)i, pe->rung, r->reason);
			barred = true;
		}
	}
	return barred;
}

static int load_all(struct load *l)
{
	int err = 0;

	for (int i = 0; i < l->n_loaders && !err; i++)
		err = l->loader[i].any ? share_maps(l, &l->loader[i]) : 0;
	if (err)
		return err;
	for (int i = 0; i < l->n_loaders; i++)
		if (l->loader[i].any)
			start(&l->loader[i], load_object);
	err = finish_all(l);
	return err || !l->fill ? err : fill_all(l);
}

int load_programs(struct load *l, const struct probe_want *want, struct plan *plan, const struct plan_types *types,
		  struct err *e)
{
	int err;

	target_types = types->target;
	cast_id = find_cast();
	err = create_maps(l, want, plan, types_btf(types->kernel));
	if (!err) {
		share_out(l, want, plan);
		err = load_all(l);
	}
	target_types = NULL;
	if (!err)
		return map_all(l, want, e);
	if (bar_refused(l, plan))
		return -EAGAIN;
	if (!plan->careful) {
		plan->careful = true;
		return -EAGAIN;
	}
	if (err == -EPERM)
		return err_set(e, EPERM, EXIT_NOT_PERMITTED,
			       "not permitted to create BPF maps: run it as root (sudo barriertrace ...)");
	return err_set(e, -err, EXIT_KERNEL_CANNOT, "the kernel refuses the BPF programs: %s%s (-v shows why)",
		       strerror(-err), err == -ENOMEM ? " (fewer disks need less)" : "");
}

struct bpf_program *load_program(const struct load *l, enum probe_id id)
{
	return l->program[id];
}

int load_seed_fd(const struct load *l)
{
	return bpf_program__fd(l->seed);
}

const struct wire_maps *load_maps(const struct load *l)
{
	return &l->maps;
}

bool load_may_use_clocks(const struct load *l)
{
	return l->skel->rodata->cfg.own_clocks;
}

int load_forget_issued(struct load *l)
{
	size_t size;
	struct slot *slots = map_memory(l->skel->maps.slots, &size);

	if (!slots)
		return -errno;
	for (size_t i = 0; i < size / sizeof(*slots); i++)
		if (slots[i].issued)
			slots[i].issued = 0;
	munmap(slots, size);
	load_forget_depths(l);
	return 0;
}

void load_forget_depths(struct load *l)
{
	memset(l->maps.depths, 0, l->depths_size);
}

int load_forget_requests(struct load *l)
{
	size_t size;
	void *slots = map_memory(l->skel->maps.slots, &size);

	if (!slots)
		return -errno;
	memset(slots, 0, size);
	munmap(slots, size);
	load_forget_depths(l);
	return 0;
}

void load_free(struct load *l)
{
	if (!l)
		return;
	take_ring(&l->ring, NULL);
	for (int i = 0; i < l->n_loaders; i++) {
		finish(&l->loader[i]);
		bpf_object__close(l->loader[i].obj);
	}
	if (l->maps.cells)
		munmap(l->maps.cells, l->cells_size);
	if (l->maps.views)
		munmap(l->maps.views, l->views_size);
	if (l->maps.queues)
		munmap(l->maps.queues, l->queues_size);
	if (l->maps.depths)
		munmap(l->maps.depths, l->depths_size);
	barriertrace_bpf__destroy(l->skel);
	free(l);
}
