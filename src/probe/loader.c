// SPDX-License-Identifier: GPL-2.0-only
#include "probe/loader.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "barriertrace.skel.h"
#include "probe/kernel_constants.h"
#include "slot.h"
#include "task_state.h"
#include "util/mem.h"
#include "probe/syscalls.h"
#include "probe/probe_table.h"

struct load {
	struct barriertrace_bpf *skel;
	struct bpf_program *program[PROBE_COUNT];
	struct wire_maps maps;
	size_t cells_size, views_size, queues_size, depths_size;
};

/* ---- libbpf's own words: kept for the reason of a refusal, shown with -v ---- */

static struct {
	char program[64]; /* whose load failed; "": of none */
	char reason[160]; /* the last line of the verifier's log */
} refusal;

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

/* libbpf has one function to speak to for all it does. */
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

/* ---- what programs attach to: looked up in the types that are here, and not in all of the kernel's ---- */

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

	return translates() && !types_target(target_types, CONFIG_CAST_FUNCTION, BTF_KIND_FUNC, &to) ? to.id : 0;
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
		bpf_map__set_max_entries(l->skel->maps.pids, probes_pid_max() / PIDS_PER_CHUNK + 1);
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
	bpf_map__set_max_entries(l->skel->maps.being_made, 1);
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
	l->maps.own_numbers = want->own_numbers;
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
	l->maps.histories_fd = bpf_map__fd(l->skel->maps.histories);
	l->maps.history_size = bpf_map__value_size(l->skel->maps.histories);
	l->maps.free_tasks_fd = bpf_map__fd(l->skel->maps.free_tasks);
	l->maps.free_histories_fd = bpf_map__fd(l->skel->maps.free_histories);
	l->maps.sweep_wanted = &l->skel->data->sweep_wanted;
	l->maps.history_owner = l->skel->data->history_owner;
	l->maps.pendings_fd = bpf_map__fd(l->skel->maps.pendings);
	if (!l->maps.cells || !l->maps.views || !l->maps.queues || !l->maps.depths)
		return err_set(e, errno, EXIT_FAILED, "cannot map the counters: %s", strerror(errno));
	return 0;
}

/* ---- open ---- */

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
	l->skel = barriertrace_bpf__open_opts(&opts);
	if (!l->skel) {
		err = err_set(e, errno, EXIT_FAILED, "cannot open the BPF programs: %s", strerror(errno));
		load_free(l);
		return err;
	}
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

/* ---- load ---- */

/* One that serves several tracepoints is loaded once. */
static int choose_programs(struct load *l, const struct probe_want *want, const struct plan *plan, struct err *e)
{
	for (int i = 0; i < PROBE_COUNT; i++) {
		const struct plan_entry *pe = &plan->entry[i];

		if (pe->state != PROBE_ATTACHED)
			continue;
		l->program[i] = bpf_object__find_program_by_name(l->skel->obj, probe_table[i].program[pe->rung]);
		if (!l->program[i])
			return err_set(e, ENOENT, EXIT_FAILED, "this build has no program %s for %s: build it anew",
				       probe_table[i].program[pe->rung], probe_table[i].name);
		bpf_program__set_autoload(l->program[i], true);
	}
	bpf_program__set_autoload(l->skel->progs.seed, want->ledger);
	bpf_program__set_autoload(l->skel->progs.bury, want->ledger);
	bpf_program__set_autoload(l->skel->progs.fill, want->ledger);
	return 0;
}

static int fill(const struct load *l, enum wire_free which, uint32_t entries)
{
	for (uint64_t part = entries / WIRE_FREE_PART; part-- > 0;) {
		uint64_t args[] = { which, part };
		LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));

		if (bpf_prog_test_run_opts(bpf_program__fd(l->skel->progs.fill), &opts))
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

/* A program that was refused is barred from the plan, if the refusal tells which one it was. */
static bool bar_refused(struct plan *plan)
{
	bool barred = false;

	for (int i = 0; i < PROBE_COUNT; i++) {
		const struct plan_entry *pe = &plan->entry[i];

		if (pe->state != PROBE_ATTACHED || strcmp(refusal.program, probe_table[i].program[pe->rung]))
			continue;
		plan_bar(plan, (enum probe_id)i, pe->rung, refusal.reason);
		barred = true;
	}
	return barred;
}

static int load_object(struct load *l, const struct probe_want *want, const struct plan *plan, const struct types *types)
{
	int err;

	target_types = types;
	cast_id = find_cast();
	fill_config(&l->skel->rodata->cfg, want, plan, types_btf(types));
	set_sizes(l, want);
	memset(&refusal, 0, sizeof(refusal));
	err = barriertrace_bpf__load(l->skel);
	target_types = NULL;
	return err || !want->ledger ? err : fill_all(l);
}

int load_programs(struct load *l, const struct probe_want *want, struct plan *plan, const struct types *types,
		  struct err *e)
{
	int err = choose_programs(l, want, plan, e);

	if (err)
		return err;
	err = load_object(l, want, plan, types);
	if (!err)
		return map_all(l, want, e);
	if (bar_refused(plan))
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
	return bpf_program__fd(l->skel->progs.seed);
}

int load_bury_fd(const struct load *l)
{
	return bpf_program__fd(l->skel->progs.bury);
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
