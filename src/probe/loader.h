/* SPDX-License-Identifier: GPL-2.0-only */
/* loader.h - private to probe/: the maps, and the programs of a plan. */
#ifndef BT_PROBE_LOADER_H
#define BT_PROBE_LOADER_H

#include <bpf/libbpf.h>

#include "probe/maps.h"
#include "probe/probe_plan.h"

struct load;

/* Nothing is in the kernel yet. The path of the types is where load_programs() will find them. */
int load_new(const struct types *path, const struct probe_want *want, struct load **out, struct err *e);
void load_ask(const struct load *l, struct types *types); /* for what the programs use */
void load_free(struct load *l);				  /* with all that was loaded; NULL is fine */

/* -EAGAIN: a program was refused and barred, or it is not known which, and the plan is to try them all: to be planned anew, for a new load. */
int load_programs(struct load *l, const struct probe_want *want, struct plan *plan, const struct types *types,
		  struct err *e);

struct bpf_program *load_program(const struct load *l, enum probe_id id);
int load_seed_fd(const struct load *l);
int load_bury_fd(const struct load *l);
const struct wire_maps *load_maps(const struct load *l);

bool load_may_use_clocks(const struct load *l); /* see probes_may_use_clocks() */

/* Forget what insert and issue wrote, as the requests may be gone when these are attached again. 0, or -errno. */
int load_forget_requests(struct load *l);
/* Forget only which requests are in the devices: they are counted anew from here on. 0, or -errno. */
int load_forget_issued(struct load *l);
/* Forget only how many are in the devices. */
void load_forget_depths(struct load *l);

#endif
