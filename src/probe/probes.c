// SPDX-License-Identifier: GPL-2.0-only
#include "probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "barriertrace.skel.h"
#include "constants.h"
#include "log.h"
#include "mem.h"
#include "plan.h"
#include "table.h"

struct probes {
	struct barriertrace_bpf *skel;
	struct bpf_link *link[PROBE_COUNT];
	struct bpf_program *program[PROBE_COUNT];
	struct plan plan;
	bool forced[PROBE_COUNT];
	struct wire_maps maps;
	size_t cells_size, views_size, queues_size;
};

/* The plan that was made last, for `barriertrace probes` when opening failed. */
static struct plan last_plan;

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
	err = err_set(e, EINVAL, EXIT_USAGE, "--rung %s: no such probe: there are %s (barriertrace probes lists each)", spec,
		      families);
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

/* ---- libbpf's own words: kept for the reason of a refusal, shown with -v ---- */

static struct {
	char program[64];	/* whose load failed */
	char reason[160];	/* the last line of the verifier's log */
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

static int libbpf_says(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char *line = NULL;

	if (level == LIBBPF_DEBUG || vasprintf(&line, fmt, ap) < 0)
		return 0;
	refusal_take(line);
	if (*line && line[strlen(line) - 1] == '\n')
		line[strlen(line) - 1] = '\0';
	log_verbose("%s", line);
	free(line);
	return 0;
}

/* ---- open ---- */

static struct btf *load_btf(const char *path, struct err *e)
{
	struct btf *btf = path ? btf__parse(path, NULL) : btf__load_vmlinux_btf();

	if (btf)
		return btf;
	if (path)
		err_set(e, ENOENT, EXIT_FAILED, "--btf %s: cannot read it as BTF: %s", path, strerror(errno));
	else
		err_set(e, ENOENT, EXIT_KERNEL_CANNOT,
			"this kernel has no type information (BTF) at /sys/kernel/btf/vmlinux: use a kernel built with "
			"CONFIG_DEBUG_INFO_BTF=y, or pass its BTF with --btf FILE");
	return NULL;
}

#define RING_BYTES (1u << 20)	/* for a look at the probes; a run says what it wants, see sizes.h */

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

/*
 * What can be a sync call; the arguments decide. The second number is that of 32-bit programs: of i386
 * (arch/x86/entry/syscalls/syscall_32.tbl), or of arm (arch/arm64/tools/syscall_32.tbl), where sync_file_range is sync_file_range2.
 */
#ifdef __x86_64__
#define BOTH(name, i386, arm)	SYS_##name, i386
#else
#define BOTH(name, i386, arm)	SYS_##name, arm
#endif

static const struct {
	uint16_t nr, nr_32;
	uint8_t call;	/* enum wire_call */
} sync_syscalls[] = {
	{ BOTH(fsync, 118, 118), CALL_FSYNC },
	{ BOTH(fdatasync, 148, 148), CALL_FDATASYNC },
	{ BOTH(msync, 144, 144), CALL_MSYNC },
	{ BOTH(sync, 36, 36), CALL_SYNC },
	{ BOTH(syncfs, 344, 373), CALL_SYNCFS },
	{ BOTH(sync_file_range, 314, 341), CALL_SYNC_FILE_RANGE },
	{ BOTH(write, 4, 4), CALL_WRITE },
	{ BOTH(writev, 146, 146), CALL_WRITE },
	{ BOTH(pwrite64, 181, 181), CALL_WRITE },
	{ BOTH(pwritev, 334, 362), CALL_WRITE },
	{ BOTH(pwritev2, 379, 393), CALL_WRITE },
	{ BOTH(io_submit, 248, 246), CALL_AIO_FSYNC },	/* those of its iocbs that are one */
};

static void fill_syscalls(struct bt_config *cfg)
{
	for (size_t i = 0; i < sizeof(sync_syscalls) / sizeof(sync_syscalls[0]); i++) {
		cfg->call_of_nr[sync_syscalls[i].nr].native = sync_syscalls[i].call;
		cfg->call_of_nr[sync_syscalls[i].nr_32].compat = sync_syscalls[i].call;
		if (sync_syscalls[i].nr == SYS_pwritev2)
			cfg->nr_pwritev2_32 = sync_syscalls[i].nr_32;
	}
	cfg->nr_pwritev2 = SYS_pwritev2;
}

static bool flush_path(const struct plan *plan)
{
	return plan->entry[PROBE_FLUSH_INSERT].state == PROBE_ATTACHED &&
	       plan->entry[PROBE_FLUSH_DATA].state == PROBE_ATTACHED && plan->entry[PROBE_FLUSH_END].state == PROBE_ATTACHED;
}

static void fill_config(struct bt_config *cfg, const struct probe_want *want, const struct plan *plan, const struct btf *btf)
{
	constants_from_btf(btf, cfg);
	cfg->stripes = want->stripes;
	cfg->atomic = want->stripes < (uint32_t)libbpf_num_possible_cpus();
	cfg->command = want->command;
	cfg->filter_tgid = want->filter_tgid;
	cfg->filter_cgroup = want->filter_cgroup;
	cfg->cgroup_id = want->cgroup_id;
	cfg->track_task = want->ledger || want->command || want->filter_tgid ||
			  want->filter_cgroup == CGROUP_OF_TASK;
	cfg->ledger = want->ledger;
	cfg->ring_wake = ring_bytes(want) / 2;
	cfg->thread_size = thread_size();
	cfg->flush_path = flush_path(plan);
	fill_syscalls(cfg);
}

static struct bpf_program *program_of(struct probes *p, int id, int rung)
{
	const char *name = probe_table[id].program[rung];

	return name ? bpf_object__find_program_by_name(p->skel->obj, name) : NULL;
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

static void set_ledger_sizes(struct probes *p, const struct probe_want *want)
{
	bpf_map__set_max_entries(p->skel->maps.ring, ring_bytes(want));
	if (want->ledger) {
		bpf_map__set_max_entries(p->skel->maps.pids, probes_pid_max() / 64 + 1);	/* PIDS_PER_CHUNK */
		return;
	}
	bpf_map__set_max_entries(p->skel->maps.tasks, 1);
	bpf_map__set_max_entries(p->skel->maps.histories, 1);
	bpf_map__set_max_entries(p->skel->maps.free_tasks, 1);
	bpf_map__set_max_entries(p->skel->maps.free_histories, 1);
	bpf_map__set_max_entries(p->skel->maps.files, 1);
	bpf_map__set_max_entries(p->skel->maps.pendings, 1);
}

static void set_sizes(struct probes *p, const struct probe_want *want)
{
	bpf_map__set_max_entries(p->skel->maps.cells, want->views * WIRE_CELLS * want->stripes);
	bpf_map__set_max_entries(p->skel->maps.views, want->views * want->stripes);
	bpf_map__set_max_entries(p->skel->maps.slots, want->slots ? want->slots : 1);
	if (!want->command)
		bpf_map__set_max_entries(p->skel->maps.family, 1);
	if (!want->on[PROBE_BIO_QUEUE])
		bpf_map__set_max_entries(p->skel->maps.bios, 1);
	set_ledger_sizes(p, want);
}

/* One attempt with the present plan. -EAGAIN: a program was refused and barred, plan anew. */
static int open_once(struct probes *p, const struct probe_want *want, const struct btf *btf, struct err *e)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = want->btf_path);
	int err;

	p->skel = barriertrace_bpf__open_opts(&opts);
	if (!p->skel)
		return err_set(e, errno, EXIT_FAILED, "cannot open the BPF programs: %s", strerror(errno));
	fill_config(&p->skel->rodata->cfg, want, &p->plan, btf);
	set_sizes(p, want);
	for (int i = 0; i < PROBE_COUNT; i++) {
		if (p->plan.entry[i].state != PROBE_ATTACHED)
			continue;
		p->program[i] = program_of(p, i, p->plan.entry[i].rung);
		bpf_program__set_autoload(p->program[i], true);
	}
	bpf_program__set_autoload(p->skel->progs.seed, want->ledger);
	refusal.program[0] = refusal.reason[0] = '\0';
	err = barriertrace_bpf__load(p->skel);
	if (!err)
		return 0;
	for (int i = 0; i < PROBE_COUNT; i++) {
		const struct plan_entry *pe = &p->plan.entry[i];

		if (pe->state == PROBE_ATTACHED && !strcmp(refusal.program, probe_table[i].program[pe->rung])) {
			plan_bar(&p->plan, (enum probe_id)i, pe->rung, refusal.reason);
			err = -EAGAIN;
		}
	}
	barriertrace_bpf__destroy(p->skel);
	p->skel = NULL;
	if (err == -EPERM)
		return err_set(e, EPERM, EXIT_NOT_PERMITTED,
			       "not permitted to create BPF maps: run it as root (sudo barriertrace ...)");
	if (err != -EAGAIN)
		return err_set(e, -err, EXIT_KERNEL_CANNOT, "the kernel refuses the BPF programs: %s%s (-v shows why)",
			       strerror(-err), err == -ENOMEM ? " (fewer disks need less)" : "");
	return err;
}

/* Every index of the map is free. */
static int fill_stack(const struct bpf_map *stack, const struct bpf_map *map)
{
	for (uint32_t i = bpf_map__max_entries(map); i-- > 0;)
		if (bpf_map_update_elem(bpf_map__fd(stack), NULL, &i, BPF_ANY))
			return -errno;
	return 0;
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

static int map_all(struct probes *p, const struct probe_want *want, struct err *e)
{
	p->maps.cells = map_memory(p->skel->maps.cells, &p->cells_size);
	p->maps.views = map_memory(p->skel->maps.views, &p->views_size);
	p->maps.queues = map_memory(p->skel->maps.queues, &p->queues_size);
	p->maps.run = &p->skel->data->run;
	p->maps.stripes = want->stripes;
	p->maps.disks_fd = bpf_map__fd(p->skel->maps.disks);
	p->maps.family_fd = bpf_map__fd(p->skel->maps.family);
	p->maps.ring_fd = want->ledger ? bpf_map__fd(p->skel->maps.ring) : -1;
	if (fill_stack(p->skel->maps.free_tasks, p->skel->maps.tasks) ||
	    fill_stack(p->skel->maps.free_histories, p->skel->maps.histories))
		return err_set(e, errno, EXIT_FAILED, "cannot fill the tables of tasks: %s", strerror(errno));
	if (!p->maps.cells || !p->maps.views || !p->maps.queues)
		return err_set(e, errno, EXIT_FAILED, "cannot map the counters: %s", strerror(errno));
	return 0;
}

static int open_with_btf(struct probes *p, const struct probe_want *want, struct btf *btf, struct err *e)
{
	int err;

	do {
		err = plan_make(&p->plan, want, btf, e);
		if (!err)
			err = open_once(p, want, btf, e);
	} while (err == -EAGAIN);
	if (!err)
		err = map_all(p, want, e);
	last_plan = p->plan;
	return err;
}

int probes_open(const struct probe_want *want, struct probes **out, struct err *e)
{
	struct probes *p = xcalloc(1, sizeof(*p));
	struct btf *btf;
	int err = -ENOENT;

	libbpf_set_print(libbpf_says);
	btf = load_btf(want->btf_path, e);
	if (btf)
		err = open_with_btf(p, want, btf, e);
	btf__free(btf);
	if (err) {
		probes_close(p);
		return err;
	}
	for (int i = 0; i < PROBE_COUNT; i++)
		p->forced[i] = want->force[i] >= 0;
	*out = p;
	return 0;
}

/* ---- attach, look, close ---- */

int probes_attach(struct probes *p, struct err *e)
{
	for (int i = 0; i < PROBE_COUNT; i++) {
		struct plan_entry *pe = &p->plan.entry[i];

		if (pe->state != PROBE_ATTACHED)
			continue;
		p->link[i] = bpf_program__attach(p->program[i]);
		if (p->link[i])
			continue;
		pe->state = PROBE_REFUSED;
		snprintf(pe->refused[pe->rung], sizeof(pe->refused[pe->rung]), "attach: %s", strerror(errno));
		last_plan = p->plan;
		if (probe_table[i].required || p->forced[i])
			return err_set(e, errno, EXIT_KERNEL_CANNOT, "cannot attach %s by %s: %s", probe_table[i].name,
				       rung_names[pe->rung], strerror(errno));
	}
	last_plan = p->plan;
	return 0;
}

const struct wire_maps *probes_maps(const struct probes *p)
{
	return &p->maps;
}

bool probes_have_ledger(const struct probes *p)
{
	static const enum probe_id needed[] = { PROBE_SYS_ENTER, PROBE_SYS_EXIT, PROBE_SWITCH, PROBE_WAKING };

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (p->plan.entry[needed[i]].state != PROBE_ATTACHED)
			return false;
	return true;
}

void probes_follow(const struct probes *p, uint32_t tid)
{
	uint64_t args[1] = { tid };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));

	/* a kernel that cannot run it learns the task at its first wake-up instead */
	bpf_prog_test_run_opts(bpf_program__fd(p->skel->progs.seed), &opts);
}

uint64_t probes_skipped_runs(const struct probes *p)
{
	uint64_t sum = 0;

	for (int i = 0; i < PROBE_COUNT; i++) {
		struct bpf_prog_info info = { 0 };
		__u32 len = sizeof(info);

		if (p->link[i] && !bpf_obj_get_info_by_fd(bpf_program__fd(p->program[i]), &info, &len))
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

	for (int i = 0; i < PROBE_COUNT; i++) {
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
		bpf_link__destroy(p->link[i]);
	if (p->maps.cells)
		munmap(p->maps.cells, p->cells_size);
	if (p->maps.views)
		munmap(p->maps.views, p->views_size);
	if (p->maps.queues)
		munmap(p->maps.queues, p->queues_size);
	barriertrace_bpf__destroy(p->skel);
	free(p);
}
