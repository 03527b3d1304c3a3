/* SPDX-License-Identifier: GPL-2.0-only */
/* plan.h - private to probe/: which rung each probe takes, found by trying, with every refusal's reason. */
#ifndef BT_PROBE_PLAN_H
#define BT_PROBE_PLAN_H

#include <bpf/btf.h>

#include "probe.h"

struct plan_entry {
	enum probe_state state;
	enum rung rung;			/* when attached (planned) */
	char refused[RUNG_COUNT][160];	/* why each rung was not taken; "" */
	bool barred[RUNG_COUNT];	/* not to be tried again */
	bool could[RUNG_COUNT];		/* tried and not refused */
};

struct plan {
	struct plan_entry entry[PROBE_COUNT];
};

/*
 * Takes the first rung of each wanted probe that `btf`, or its module's, knows and the kernel lets a trivial program attach to. May be
 * called again after plan_bar(). Fails, with *e filled, when a required probe is left without a rung.
 */
int plan_make(struct plan *plan, const struct probe_want *want, struct btf *btf, struct err *e);

/* Takes a rung out of the plan because its real program was refused; `why` is one line. */
void plan_bar(struct plan *plan, enum probe_id id, enum rung rung, const char *why);

/* Is the kernel locked down so far that BPF may not read its memory? */
bool kernel_confidential(void);

#endif
