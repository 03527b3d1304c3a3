// SPDX-License-Identifier: GPL-2.0-only
#include "probe/probe_plan.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "probe/kernel_constants.h"
#include "probe/module_btf.h"
#include "probe/perf_event.h"
#include "probe/probe_table.h"

/* Is the kernel locked down so far that BPF may not read its memory? */
static bool kernel_confidential(void)
{
	FILE *f = fopen("/sys/kernel/security/lockdown", "re");
	char line[128] = "";
	bool yes;

	if (!f)
		return false;
	yes = fgets(line, sizeof(line), f) && strstr(line, "[confidentiality]");
	fclose(f);
	return yes;
}

static bool by_function(enum rung rung)
{
	return rung == RUNG_FENTRY || rung == RUNG_KPROBE;
}

/* The rungs, best first. */
static const enum rung *best_first(const struct types *types)
{
	static const enum rung usual[RUNG_COUNT] = { RUNG_TP_BTF, RUNG_RAW_TP, RUNG_TP, RUNG_FENTRY, RUNG_KPROBE };
	static const enum rung preemptible[RUNG_COUNT] = { RUNG_TP, RUNG_TP_BTF, RUNG_RAW_TP, RUNG_FENTRY, RUNG_KPROBE };

	return btf__find_by_name_kind(types_btf(types), PLAN_PREEMPTIBLE, BTF_KIND_TYPEDEF) > 0 ? preemptible : usual;
}

static void tracepoint_type(const char *event, char name[128])
{
	snprintf(name, 128, "btf_trace_%s", event);
}

/* A probe that another one stands in for comes before it in the table. */
static bool is_wanted(const struct plan *plan, enum probe_id id, const struct probe_want *want)
{
	enum probe_id other = probe_table[id].stands_in;

	return want->on[id] || (other && want->on[other] && plan->entry[other].state == PROBE_ABSENT);
}

void plan_ask(const struct probe_want *want, struct types *types)
{
	char name[128];

	types_ask(types, PLAN_PREEMPTIBLE);
	for (int i = 0; i < PROBE_COUNT; i++) {
		const struct probe_row *row = &probe_table[i];

		if (row->event) {
			tracepoint_type(row->event, name);
			types_ask(types, name);
		}
		if (row->function && (want->on[i] || row->stands_in))
			types_ask(types, row->function);
	}
}

/* Only where the tracepoint is the module's. */
void plan_read_modules(const struct probe_want *want, struct types *types)
{
	char name[128];

	for (int i = 0; i < PROBE_COUNT; i++) {
		const struct probe_row *row = &probe_table[i];

		if (!row->module || !want->on[i])
			continue;
		tracepoint_type(row->event, name);
		if (!types_have(types, name, BTF_KIND_TYPEDEF))
			types_read_module(types, row->module);
	}
}

int plan_target(const struct types *types, const char *target, bool function, struct types_target *found)
{
	char name[128];

	if (function)
		return types_target(types, target, BTF_KIND_FUNC, found);
	tracepoint_type(target, name);
	return types_target(types, name, BTF_KIND_TYPEDEF, found);
}

/*
 * Loads "return 0" as this rung's kind of program. For a system call's function it reads the argument first: the verifier refuses that
 * where the kernel's types only declare struct pt_regs (msync of 5.10).
 */
static int load_trivial(enum rung rung, const char *target, const struct probe_row *row, const struct types *types)
{
	static const struct {
		enum bpf_prog_type type;
		enum bpf_attach_type attach; /* 0: needs no type of its target */
	} kind[RUNG_COUNT] = {
		[RUNG_TP_BTF] = { BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP },
		[RUNG_RAW_TP] = { BPF_PROG_TYPE_RAW_TRACEPOINT, 0 },
		[RUNG_FENTRY] = { BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY },
		[RUNG_KPROBE] = { BPF_PROG_TYPE_KPROBE, 0 },
	};
	const struct bpf_insn insns[] = {
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_1 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	enum bpf_attach_type attach = kind[rung].attach;
	struct types_target to;

	if (attach == BPF_TRACE_FENTRY && row->at_return)
		attach = BPF_TRACE_FEXIT;
	if (attach) {
		if (plan_target(types, target, by_function(rung), &to))
			return -ENOENT;
		opts.attach_btf_id = (__u32)to.id;
		opts.attach_btf_obj_fd = (__u32)to.object;
		opts.expected_attach_type = attach;
	}
	return bpf_prog_load(kind[rung].type, "bt_try", "GPL", row->later ? insns : insns + 1, row->later ? 3 : 2, &opts);
}

static int attach_kprobe(const char *function, bool at_return, int prog)
{
	int fd = perf_event_kprobe(function, at_return), err;

	if (fd < 0 || !ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static int attach_trivial(enum rung rung, const char *target, bool at_return, int prog)
{
	if (rung == RUNG_KPROBE)
		return attach_kprobe(target, at_return, prog);
	return bpf_raw_tracepoint_open(rung == RUNG_RAW_TP ? target : NULL, prog);
}

/* Probes that are attached later are attached here only if `careful`, as detaching from a function is slow. */
static int try_rung(enum rung rung, const struct probe_row *row, const struct types *types, bool careful, char *why,
		    size_t size)
{
	const char *target = by_function(rung) ? row->function : row->event;
	int prog = load_trivial(rung, target, row, types), link;

	if (prog < 0) {
		snprintf(why, size, "load: %s", strerror(-prog));
		return prog;
	}
	if (row->later && !careful) {
		close(prog);
		return 0;
	}
	link = attach_trivial(rung, target, row->at_return, prog);
	if (link < 0)
		snprintf(why, size, "attach: %s",
			 rung == RUNG_KPROBE && !perf_event_has_kprobes() ? "this kernel has no kprobes" : strerror(-link));
	else
		close(link);
	close(prog);
	return link < 0 ? link : 0;
}

/* To open it again would cost as much as the first time, and to close it more: it is kept for when the program is attached. */
static int open_event(struct plan_entry *pe, const struct probe_row *row)
{
	char *why = pe->refused[RUNG_TP];

	if (pe->event < 0)
		pe->event = perf_event_tracepoint(row->group, row->event);
	if (pe->event == -ENOENT)
		snprintf(why, sizeof(pe->refused[RUNG_TP]), "no tracefs: mount -t tracefs tracefs /sys/kernel/tracing");
	else if (pe->event < 0)
		snprintf(why, sizeof(pe->refused[RUNG_TP]), "attach: %s", strerror(-pe->event));
	return pe->event < 0 ? pe->event : 0;
}

/*
 * Without care a tracepoint that the types know is taken at its word: trying all of them costs as much as loading the
 * programs.
 */
static int plan_rung(struct plan_entry *pe, const struct probe_row *row, enum rung r, const struct types *types, bool careful)
{
	if (r == RUNG_TP)
		return open_event(pe, row);
	if (!careful && !by_function(r))
		return 0;
	return try_rung(r, row, types, careful, pe->refused[r], sizeof(pe->refused[r]));
}

/* Of one probe: the first rung that can be had. */
static int plan_rungs(struct plan *plan, enum probe_id id, const struct probe_want *want, const struct types *types)
{
	const struct probe_row *row = &probe_table[id];
	struct plan_entry *pe = &plan->entry[id];
	int last = -ENOENT;

	for (int i = 0; i < RUNG_COUNT; i++) {
		enum rung r = plan->order[i];

		if (!row->program[r] || pe->barred[r])
			continue;
		if (want->force[id] >= 0 && want->force[id] != (int)r)
			continue;
		last = plan_rung(pe, row, r, types, plan->careful || want->try_all);
		pe->barred[r] = last;
		pe->could[r] = !last;
		if (last)
			continue;
		pe->refused[r][0] = '\0';
		if (pe->state != PROBE_ATTACHED)
			pe->rung = r;
		pe->state = PROBE_ATTACHED;
		if (!want->try_all)
			return 0;
	}
	return pe->state == PROBE_ATTACHED ? 0 : last;
}

/* Has the kernel, or the module that the probe names, its tracepoint? If not, says why. */
static int find_event(const struct probe_row *row, const struct types *types, char *why, size_t size)
{
	int err;

	if (!row->event || tracepoint_args(types_btf(types), row->event) >= 0)
		return 0;
	err = row->module ? types_module(types, row->module) : 0;
	if (err == -ENOENT && module_is_loaded(row->module))
		snprintf(why, size, "this kernel has no types (BTF) of its module %s, where %s would be", row->module,
			 row->event);
	else if (err && err != -ENOENT)
		snprintf(why, size, "cannot read the types (BTF) of the module %s: %s", row->module, strerror(-err));
	else
		snprintf(why, size, "this kernel has no tracepoint %s%s%s", row->event, err ? ", nor a module " : "",
			 err ? row->module : "");
	return -ENOENT;
}

static int plan_entry(struct plan *plan, enum probe_id id, const struct probe_want *want, const struct types *types)
{
	struct plan_entry *pe = &plan->entry[id];
	int err = find_event(&probe_table[id], types, pe->refused[0], sizeof(pe->refused[0]));

	if (err) {
		pe->state = PROBE_ABSENT;
		return err;
	}
	err = plan_rungs(plan, id, want, types);
	if (err)
		pe->state = PROBE_REFUSED;
	return err;
}

static int required_missing(const struct probe_row *row, const struct plan_entry *pe, int code, struct err *e)
{
	const char *why = "no rung is left";

	if (pe->state != PROBE_ABSENT && kernel_confidential())
		return err_set(e, EPERM, EXIT_KERNEL_CANNOT,
			       "the kernel is locked down (confidentiality), so that no tracing program may read its memory: "
			       "boot with lockdown=integrity or without lockdown");
	if (code == -EPERM || code == -EACCES)
		return err_set(e, EPERM, EXIT_NOT_PERMITTED,
			       "not permitted to load BPF programs: run it as root (sudo barriertrace ...), "
			       "or with CAP_BPF and CAP_PERFMON");
	for (int r = 0; r < RUNG_COUNT; r++)
		if (pe->refused[r][0])
			why = pe->refused[r];
	return err_set(e, ENOTSUP, EXIT_KERNEL_CANNOT, "this kernel cannot do %s: %s (see barriertrace probes)",
		       row->name, why);
}

/* Whoever asks for a rung gets that rung or none; of a family, the probes that this kernel has. */
static int forced_missing(const struct plan_entry *pe, enum probe_id id, const struct probe_want *want, struct err *e)
{
	int rung = want->force[id];
	const char *why = pe->state == PROBE_ABSENT ? pe->refused[0] : pe->refused[rung];

	return err_set(e, ENOTSUP, EXIT_KERNEL_CANNOT, "--rung %s=%s: %s", probe_table[id].name, rung_names[rung],
		       *why ? why : "it can't be had");
}

static bool is_forced(const struct plan_entry *pe, enum probe_id id, const struct probe_want *want)
{
	return want->force[id] >= 0 && (pe->state == PROBE_REFUSED || want->named[id]);
}

/* Without request.start, which stands before it in the table, a request could not ring for a call that needs sys_enter. */
static bool lacks_start(const struct plan *plan, enum probe_id id, const struct probe_want *want)
{
	return probe_table[id].later && want->force[id] < 0 && plan->entry[PROBE_IO_START].state != PROBE_ATTACHED;
}

int plan_make(struct plan *plan, const struct probe_want *want, const struct types *types, struct err *e)
{
	plan->order = best_first(types);
	for (int i = 0; i < PROBE_COUNT; i++) {
		struct plan_entry *pe = &plan->entry[i];
		int err;

		pe->state = PROBE_OFF;
		if (!is_wanted(plan, (enum probe_id)i, want))
			continue;
		if (lacks_start(plan, (enum probe_id)i, want)) {
			pe->state = PROBE_ABSENT;
			snprintf(pe->refused[0], sizeof(pe->refused[0]), "it takes %s", probe_table[PROBE_IO_START].name);
			continue;
		}
		err = plan_entry(plan, (enum probe_id)i, want, types);
		if (err && probe_table[i].required)
			return required_missing(&probe_table[i], pe, err, e);
		if (err && is_forced(pe, (enum probe_id)i, want))
			return forced_missing(pe, (enum probe_id)i, want, e);
	}
	return 0;
}

void plan_new(struct plan *plan)
{
	memset(plan, 0, sizeof(*plan));
	for (int i = 0; i < PROBE_COUNT; i++)
		plan->entry[i].event = -ENOENT;
}

struct bpf_link *plan_attach(struct plan *plan, enum probe_id id, const struct bpf_program *program)
{
	struct plan_entry *pe = &plan->entry[id];
	struct bpf_link *link;

	if (pe->rung == RUNG_RAW_TP) /* its program may be that of several */
		return bpf_program__attach_raw_tracepoint(program, probe_table[id].event);
	if (pe->rung != RUNG_TP)
		return bpf_program__attach(program);
	if (pe->event < 0) /* it was attached before */
		pe->event = perf_event_tracepoint(probe_table[id].group, probe_table[id].event);
	link = bpf_program__attach_perf_event(program, pe->event);
	if (link)
		pe->event = -ENOENT;
	return link;
}

void plan_end(struct plan *plan)
{
	for (int i = 0; i < PROBE_COUNT; i++)
		if (plan->entry[i].event >= 0)
			close(plan->entry[i].event);
	plan_new(plan);
}

void plan_bar(struct plan *plan, enum probe_id id, enum rung rung, const char *why)
{
	struct plan_entry *pe = &plan->entry[id];

	pe->barred[rung] = true;
	pe->could[rung] = false;
	snprintf(pe->refused[rung], sizeof(pe->refused[rung]), "%s", why);
}
