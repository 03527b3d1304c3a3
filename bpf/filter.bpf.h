/* SPDX-License-Identifier: GPL-2.0-only */
/* filter.bpf.h - what -p and --cgroup let be counted. */
#ifndef BT_FILTER_BPF_H
#define BT_FILTER_BPF_H

#include "state.bpf.h"

static __always_inline bool cgroup_matches(struct cgroup_subsys_state *css)
{
	for (int depth = 0; depth < 16 && css; depth++) {
		if (BPF_CORE_READ(css, cgroup, kn, id) == cfg.cgroup_id)
			return true;
		css = BPF_CORE_READ(css, parent);
	}
	return false;
}

/* Whose a bio is stands in itself: somebody else may send it, as a worker does for writeback. */
static __always_inline bool bio_matches(struct bio *bio)
{
	struct blkcg *blkcg = BPF_CORE_READ(bio, bi_blkg, blkcg);

	return blkcg && cgroup_matches(&blkcg->css);
}

/* Is the current task in the group? By the hierarchy that the group is in: version 1 has one for each controller. */
static __always_inline bool task_matches(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct css_set *groups = BPF_CORE_READ(task, cgroups);
	struct cgroup_subsys_state *css = NULL, **first;
	struct cgroup *cgrp;

	if (cfg.filter_cgroup == CGROUP_OF_TASK) {
		cgrp = BPF_CORE_READ(groups, dfl_cgrp);
		return cgroup_matches(&cgrp->self);
	}
	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, io_cgrp_id))
		return false;
	first = __builtin_preserve_access_index(&groups->subsys[0]);
	bpf_probe_read_kernel(&css, sizeof(css), &first[bpf_core_enum_value(enum cgroup_subsys_id, io_cgrp_id)]);
	return cgroup_matches(css);
}

/* Are the sync calls of the current task's group asked for? */
static __always_inline bool wanted_group(void)
{
	return !cfg.filter_cgroup || task_matches();
}

/* Asked while the sender runs. */
static __always_inline bool sender_wanted(u32 tgid)
{
	if (cfg.filter_tgid)
		return tgid == cfg.filter_tgid;
	return cfg.filter_cgroup != CGROUP_OF_TASK || task_matches();
}

#endif
