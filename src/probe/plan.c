// SPDX-License-Identifier: GPL-2.0-only
#include "plan.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "constants.h"
#include "module.h"
#include "table.h"

bool kernel_confidential(void)
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

	if (!types)
		return -ENOENT;
	if (function)
		return types_target(types, target, BTF_KIND_FUNC, found);
	tracepoint_type(target, name);
	return types_target(types, name, BTF_KIND_TYPEDEF, found);
}

/* Loads "return 0" as this rung's kind of program. */
static int load_trivial(enum rung rung, const char *target, bool at_return, const struct types *types)
{
	static const struct {
		enum bpf_prog_type type;
		enum bpf_attach_type attach;	/* 0: needs no type of its target */
	} kind[RUNG_COUNT] = {
		[RUNG_TP_BTF] = { BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP },
		[RUNG_RAW_TP] = { BPF_PROG_TYPE_RAW_TRACEPOINT, 0 },
		[RUNG_FENTRY] = { BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY },
		[RUNG_KPROBE] = { BPF_PROG_TYPE_KPROBE, 0 },
	};
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	enum bpf_attach_type attach = kind[rung].attach;
	struct types_target to;

	if (attach == BPF_TRACE_FENTRY && at_return)
		attach = BPF_TRACE_FEXIT;
	if (attach) {
		if (plan_target(types, target, by_function(rung), &to))
			return -ENOENT;
		opts.attach_btf_id = (__u32)to.id;
		opts.attach_btf_obj_fd = (__u32)to.object;
		opts.expected_attach_type = attach;
	}
	return bpf_prog_load(kind[rung].type, "bt_try", "GPL", insns, 2, &opts);
}

/* The kind of event that the kernel's kprobes are to perf_event_open(); -ENOENT: it has none. */
static int kprobe_type(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/kprobe/type", "re");
	int type = -ENOENT;

	if (f && fscanf(f, "%d", &type) != 1)
		type = -ENOENT;
	if (f)
		fclose(f);
	return type;
}

/* Bit 0 of `config` is what libbpf takes it for as well: the format's "retprobe". */
static int kprobe_open(const char *function, bool at_return, int prog)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .config = at_return, .config1 = (uint64_t)(uintptr_t)function,
	};
	int type = kprobe_type(), fd;

	if (type < 0)
		return type;
	attr.type = (__u32)type;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog))
		return fd;
	type = -errno;
	close(fd);
	return type;
}

static int attach_trivial(enum rung rung, const char *target, bool at_return, int prog)
{
	if (rung == RUNG_KPROBE)
		return kprobe_open(target, at_return, prog);
	return bpf_raw_tracepoint_open(rung == RUNG_RAW_TP ? target : NULL, prog);
}

static int try_rung(enum rung rung, const struct probe_row *row, const struct types *types, char *why, size_t size)
{
	const char *target = by_function(rung) ? row->function : row->event;
	int prog = load_trivial(rung, target, row->at_return, types), link;

	if (prog < 0) {
		snprintf(why, size, "load: %s", strerror(-prog));
		return prog;
	}
	link = attach_trivial(rung, target, row->at_return, prog);
	if (link < 0)
		snprintf(why, size, "attach: %s", rung == RUNG_KPROBE && kprobe_type() < 0 ? "this kernel has no kprobes" :
							 strerror(-link));
	else
		close(link);
	close(prog);
	return link < 0 ? link : 0;
}

/*
 * Of one probe: the first rung that can be had. Without care a typed tracepoint that the types know is taken at its word:
 * trying all of them costs as much as loading the programs.
 */
static int plan_rungs(struct plan_entry *pe, enum probe_id id, const struct probe_want *want, const struct types *types,
		      bool careful)
{
	const struct probe_row *row = &probe_table[id];
	int last = -ENOENT;

	for (int r = 0; r < RUNG_COUNT; r++) {
		if (!row->program[r] || pe->barred[r])
			continue;
		if (want->force[id] >= 0 && want->force[id] != r)
			continue;
		last = !careful && !by_function((enum rung)r) && (r != RUNG_TP_BTF || types) ? 0 :
		       try_rung((enum rung)r, row, types, pe->refused[r], sizeof(pe->refused[r]));
		pe->barred[r] = last;
		pe->could[r] = !last;
		if (last)
			continue;
		pe->refused[r][0] = '\0';
		if (pe->state != PROBE_ATTACHED)
			pe->rung = (enum rung)r;
		pe->state = PROBE_ATTACHED;
		if (!want->try_all)
			return 0;
	}
	return pe->state == PROBE_ATTACHED ? 0 : last;
}

/*
 * Has the kernel, or the module that the probe names, its tracepoint? If not, says why. A kernel's types that the user
 * brought have none of its modules.
 */
static int find_event(const struct probe_row *row, const struct types *types, char *why, size_t size)
{
	int err;

	if (!row->event || tracepoint_args(types_btf(types), row->event) >= 0)
		return 0;
	err = row->module ? types_module(types, row->module) : 0;
	if (err == -ENOENT && module_is_loaded(row->module))
		snprintf(why, size, "this kernel has no types (BTF) of its module %s, where %s would be", row->module, row->event);
	else if (err && err != -ENOENT)
		snprintf(why, size, "cannot read the types (BTF) of the module %s: %s", row->module, strerror(-err));
	else
		snprintf(why, size, "this kernel has no tracepoint %s%s%s", row->event, err ? ", nor a module " : "",
			 err ? row->module : "");
	return -ENOENT;
}

static int plan_entry(struct plan *plan, enum probe_id id, const struct probe_want *want, const struct plan_types *types)
{
	struct plan_entry *pe = &plan->entry[id];
	int err = find_event(&probe_table[id], types->kernel, pe->refused[0], sizeof(pe->refused[0]));

	if (err) {
		pe->state = PROBE_ABSENT;
		return err;
	}
	err = plan_rungs(pe, id, want, types->target, plan->careful || want->try_all);
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

int plan_make(struct plan *plan, const struct probe_want *want, const struct plan_types *types, struct err *e)
{
	for (int i = 0; i < PROBE_COUNT; i++) {
		struct plan_entry *pe = &plan->entry[i];
		int err;

		pe->state = PROBE_OFF;
		if (!is_wanted(plan, (enum probe_id)i, want))
			continue;
		err = plan_entry(plan, (enum probe_id)i, want, types);
		if (err && probe_table[i].required)
			return required_missing(&probe_table[i], pe, err, e);
		if (err && is_forced(pe, (enum probe_id)i, want))
			return forced_missing(pe, (enum probe_id)i, want, e);
	}
	return 0;
}

void plan_bar(struct plan *plan, enum probe_id id, enum rung rung, const char *why)
{
	struct plan_entry *pe = &plan->entry[id];

	pe->barred[rung] = true;
	pe->could[rung] = false;
	snprintf(pe->refused[rung], sizeof(pe->refused[rung]), "%s", why);
}
