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

/* Asked while the sender runs. */
static __always_inline bool sender_wanted(u32 tgid)
{
	struct task_struct *task;
	struct cgroup *cgrp;

	if (cfg.filter_tgid)
		return tgid == cfg.filter_tgid;
	if (cfg.filter_cgroup != CGROUP_OF_TASK)
		return true;
	task = (struct task_struct *)bpf_get_current_task();
	cgrp = BPF_CORE_READ(task, cgroups, dfl_cgrp);
	return cgroup_matches(&cgrp->self);
}

#endif
