/* SPDX-License-Identifier: GPL-2.0-only */
/* probe_plan.h - private to probe/: which rung each probe takes, found by trying, with every refusal's reason. */
#ifndef BT_PROBE_PROBE_PLAN_H
#define BT_PROBE_PROBE_PLAN_H

#include "probe/probe.h"
#include "probe/btf_subset.h"

/*
 * Since 7.0 (a46023d5616e "tracing: Guard __DECLARE_TRACE() use of __DO_TRACE_CALL() with SRCU-fast") tracepoints are called under this
 * guard, and their programs can be preempted. One that is keeps all other tasks of that CPU from running it: the kernel skips them, until
 * it goes on. The classic tracepoint keeps the CPU while its program runs, for 35 ns more, so it comes first there.
 */
#define PLAN_PREEMPTIBLE "class_srcu_fast_notrace_t"

struct plan_entry {
	enum probe_state state;
	enum rung rung;		       /* when attached (planned) */
	char refused[RUNG_COUNT][160]; /* why each rung was not taken; "" */
	bool barred[RUNG_COUNT];       /* not to be tried again */
	bool could[RUNG_COUNT];	       /* tried and not refused */
	int event;		       /* RUNG_TP: open, until its program is attached; negative: there is none */
};

struct plan {
	struct plan_entry entry[PROBE_COUNT];
	const enum rung *order; /* all of them, best first on this kernel */
	bool careful;		/* try tracepoints too, which hardly a kernel refuses: after a refusal, to learn why */
};

struct bpf_link;
struct bpf_program;

/* An empty one; what a plan holds open is let go of by plan_end(). */
void plan_new(struct plan *plan);
void plan_end(struct plan *plan);

/* Asks for, and after types_read() looks for, what the wanted probes attach to. */
void plan_ask(const struct probe_want *want, struct types *types);
void plan_read_modules(const struct probe_want *want, struct types *types);

/*
 * Takes the first rung of each wanted probe that the types know and the kernel lets a trivial program attach to. May be
 * called again after plan_bar(). Fails, with *e filled, when a required probe is left without a rung.
 */
int plan_make(struct plan *plan, const struct probe_want *want, const struct types *types, struct err *e);

/* Where a program of this rung attaches. Returns 0 or -ENOENT; not for kprobes and raw tracepoints, which go by the name. */
int plan_target(const struct types *types, const char *target, bool function, struct types_target *found);

/* Starts a probe's program in the way that was planned. NULL: errno says why. The link is the caller's. */
struct bpf_link *plan_attach(struct plan *plan, enum probe_id id, const struct bpf_program *program);

/* Takes a rung out of the plan because its real program was refused; `why` is one line. */
void plan_bar(struct plan *plan, enum probe_id id, enum rung rung, const char *why);

#endif
