// SPDX-License-Identifier: GPL-2.0-only
#include "plan.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "constants.h"
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

/* Loads "return 0" as this rung's kind of program. */
static int load_trivial(enum rung rung, const char *event)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	int id;

	if (rung == RUNG_RAW_TP)
		return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "bt_try", "GPL", insns, 2, &opts);
	id = libbpf_find_vmlinux_btf_id(event, BPF_TRACE_RAW_TP);
	if (id < 0)
		return id;
	opts.attach_btf_id = (__u32)id;
	opts.expected_attach_type = BPF_TRACE_RAW_TP;
	return bpf_prog_load(BPF_PROG_TYPE_TRACING, "bt_try", "GPL", insns, 2, &opts);
}

static int try_rung(enum rung rung, const char *event, char *why, size_t size)
{
	int prog = load_trivial(rung, event), link;

	if (prog < 0) {
		snprintf(why, size, "load: %s", strerror(-prog));
		return prog;
	}
	link = bpf_raw_tracepoint_open(rung == RUNG_RAW_TP ? event : NULL, prog);
	if (link < 0)
		snprintf(why, size, "attach: %s", strerror(-link));
	else
		close(link);
	close(prog);
	return link < 0 ? link : 0;
}

static int plan_entry(struct plan_entry *pe, enum probe_id id, const struct probe_want *want, const struct btf *btf)
{
	const struct probe_row *row = &probe_table[id];
	int last = -ENOENT;

	if (tracepoint_args(btf, row->event) < 0) {
		pe->state = PROBE_ABSENT;
		snprintf(pe->refused[0], sizeof(pe->refused[0]), "this kernel has no tracepoint %s", row->event);
		return -ENOENT;
	}
	for (int r = 0; r < RUNG_COUNT; r++) {
		if (!row->program[r] || pe->barred[r])
			continue;
		if (want->force[id] >= 0 && want->force[id] != r)
			continue;
		last = try_rung((enum rung)r, row->event, pe->refused[r], sizeof(pe->refused[r]));
		if (!last) {
			pe->refused[r][0] = '\0';
			pe->state = PROBE_ATTACHED;
			pe->rung = (enum rung)r;
			return 0;
		}
		pe->barred[r] = true;
	}
	pe->state = PROBE_REFUSED;
	return last;
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

int plan_make(struct plan *plan, const struct probe_want *want, const struct btf *btf, struct err *e)
{
	for (int i = 0; i < PROBE_COUNT; i++) {
		struct plan_entry *pe = &plan->entry[i];
		int err;

		pe->state = PROBE_OFF;
		if (!want->on[i])
			continue;
		err = plan_entry(pe, (enum probe_id)i, want, btf);
		if (err && probe_table[i].required)
			return required_missing(&probe_table[i], pe, err, e);
	}
	return 0;
}

void plan_bar(struct plan *plan, enum probe_id id, enum rung rung, const char *why)
{
	struct plan_entry *pe = &plan->entry[id];

	pe->barred[rung] = true;
	snprintf(pe->refused[rung], sizeof(pe->refused[rung]), "%s", why);
}
