// SPDX-License-Identifier: GPL-2.0-only
#include "probe/kernel_side.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "config.h"
#include "probe/maps.h"

uint32_t probes_cpus(void)
{
	return (uint32_t)libbpf_num_possible_cpus();
}

struct wire_run *probes_sums(const struct probes *p)
{
	return probes_maps(p)->run;
}

struct wire_depth probes_depths(const struct probes *p, uint32_t views)
{
	const struct wire_maps *m = probes_maps(p);
	struct wire_depth sum = { 0 };

	for (size_t i = 0; i < (size_t)views * m->stripes; i++) {
		sum.completed += m->depths[i].completed;
		sum.by_clocks += m->depths[i].by_clocks;
		sum.off += m->depths[i].off;
		sum.of += m->depths[i].of;
	}
	return sum;
}

void probes_progress(const struct probes *p, uint32_t views, uint64_t *requests, uint64_t *flushes)
{
	const struct wire_maps *m = probes_maps(p);

	*requests = *flushes = 0;
	for (uint32_t v = 0; v < views; v++)
		for (uint32_t c = 0; c < WIRE_CLASSES; c++)
			for (uint32_t i = 0; i < m->stripes; i++) {
				uint64_t n = m->cells[((size_t)v * WIRE_CELLS + c) * m->stripes + i].count;

				*(c == WIRE_FLUSH ? flushes : requests) += n;
			}
}

struct counters *probes_counters(const struct probes *p, uint32_t views)
{
	return counters_new(probes_maps(p), views);
}

int probes_ring_fd(const struct probes *p)
{
	return probes_have_ledger(p) ? probes_maps(p)->ring_fd : -1;
}

/* ---- disks ---- */

int probes_tell_disk(const struct probes *p, const struct wire_disk *d)
{
	return bpf_map_update_elem(probes_maps(p)->disks_fd, &d->dev, d, BPF_ANY) ? -errno : 0;
}

void probes_drop_disk(const struct probes *p, uint32_t dev)
{
	const struct wire_maps *m = probes_maps(p);

	bpf_map_delete_elem(m->disks_fd, &dev);
	for (size_t i = 0; i < WIRE_MAX_QUEUES; i++)
		if (m->queues[i].state == QUEUE_TRACED && m->queues[i].disk.dev == dev)
			m->queues[i].state = QUEUE_NEW;
}

void probes_look_at_queues(const struct probes *p)
{
	struct wire_queue *q = probes_maps(p)->queues;

	for (size_t i = 0; i < WIRE_MAX_QUEUES; i++)
		if (q[i].state == QUEUE_IGNORED)
			q[i].state = QUEUE_NEW;
}

/* ---- processes ---- */

static void family_changed(const struct wire_maps *m)
{
	__sync_fetch_and_add(&m->run->family_turn, 1);
}

int probes_follow_process(const struct probes *p, uint32_t pid, bool by_name)
{
	const struct wire_maps *m = probes_maps(p);
	uint32_t why = by_name ? MEMBER_BY_NAME : MEMBER;

	if (bpf_map_update_elem(m->family_fd, &pid, &why, BPF_NOEXIST) && errno != EEXIST)
		return -errno;
	family_changed(m);
	return 0;
}

void probes_leave_process(const struct probes *p, uint32_t pid)
{
	const struct wire_maps *m = probes_maps(p);

	bpf_map_delete_elem(m->family_fd, &pid);
	family_changed(m);
}

bool probes_follows_process(const struct probes *p, uint32_t pid)
{
	uint32_t why;

	return !bpf_map_lookup_elem(probes_maps(p)->family_fd, &pid, &why);
}

bool probes_next_process(const struct probes *p, const uint32_t *last, uint32_t *pid)
{
	return !bpf_map_get_next_key(probes_maps(p)->family_fd, last, pid);
}

int probes_follow_command(const struct probes *p, uint32_t pid)
{
	const struct wire_maps *m = probes_maps(p);

	m->run->processes = m->run->threads = 1;
	return probes_follow_process(p, pid, false);
}

/* ---- cgroups ---- */

void probes_tell_group(const struct probes *p, bool of_bio, size_t i, uint64_t id)
{
	volatile struct bt_groups *groups = probes_maps(p)->groups;

	*(of_bio ? &groups->of_bio[i] : &groups->of_task[i]) = id;
}

void probes_tell_aio(const struct probes *p, uint64_t function)
{
	*probes_maps(p)->aio_fsync_work = function;
}
