/* SPDX-License-Identifier: GPL-2.0-only */
/* filter.bpf.h - whose requests and sync calls count: everybody's, the wrapped command's, or those that -p, --comm and --cgroup name. */
#ifndef BT_FILTER_BPF_H
#define BT_FILTER_BPF_H

#include "state.bpf.h"

/* Is the group, or one above it, among the first n of these? */
static __always_inline bool group_among(struct cgroup_subsys_state *css, volatile u64 *groups_wanted, u32 n)
{
	for (int depth = 0; depth < 16 && css; depth++) {
		u64 id = BPF_CORE_READ(css, cgroup, kn, id);

		for (u32 i = 0; i < CONFIG_GROUPS && i < n; i++)
			if (groups_wanted[i] == id)
				return true;
		css = BPF_CORE_READ(css, parent);
	}
	return false;
}

/* Whose a bio is stands in itself: somebody else may send it, as a worker does for writeback. */
static __always_inline bool bio_matches(struct bio *bio)
{
	struct blkcg *blkcg = cfg.bio_groups ? BPF_CORE_READ(bio, bi_blkg, blkcg) : NULL;

	return blkcg && group_among(&blkcg->css, groups.of_bio, cfg.bio_groups);
}

static __always_inline bool task_in_task_group(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct cgroup *cgrp;

	if (!cfg.task_groups)
		return false;
	cgrp = BPF_CORE_READ(task, cgroups, dfl_cgrp);
	return group_among(&cgrp->self, groups.of_task, cfg.task_groups);
}

/* By the hierarchy that the group is in: version 1 has one for each controller. */
static __always_inline bool task_in_bio_group(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct cgroup_subsys_state *css = NULL, **first;
	struct css_set *sets;

	if (!cfg.bio_groups || !bpf_core_enum_value_exists(enum cgroup_subsys_id, io_cgrp_id))
		return false;
	sets = BPF_CORE_READ(task, cgroups);
	first = __builtin_preserve_access_index(&sets->subsys[0]);
	bpf_probe_read_kernel(&css, sizeof(css), &first[bpf_core_enum_value(enum cgroup_subsys_id, io_cgrp_id)]);
	return group_among(css, groups.of_bio, cfg.bio_groups);
}

/* Are the sync calls of the current task, of this process, asked for? */
static __always_inline bool caller_wanted(u32 tgid)
{
	if (!cfg.command && !cfg.filter)
		return true;
	return ((cfg.command || cfg.filter_family) && in_family(tgid)) || task_in_task_group() || task_in_bio_group();
}

/*
 * Is what the current task, of this process, sends asked for, whatever the bio says? Asked while the sender runs. The first bios of a group
 * on a disk can be charged to a group above it: where there is no per-CPU memory at hand for its blkg (blkg_create(), GFP_NOWAIT).
 */
static __always_inline bool sender_wanted(u32 tgid)
{
	return !cfg.filter || (cfg.filter_family && in_family(tgid)) || task_in_task_group() || task_in_bio_group();
}

#endif
