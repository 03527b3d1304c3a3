/* SPDX-License-Identifier: GPL-2.0-only */
/* kernel_side.h - what the kernel side is told while it runs: disks, processes, cgroups; and its sums, as they are now. */
#ifndef BT_PROBE_KERNEL_SIDE_H
#define BT_PROBE_KERNEL_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/counters.h"
#include "probe/probe.h"
#include "wire.h"

/* CPUs that there may be, those to come included: counters have a copy for each. */
uint32_t probes_cpus(void);

/* Sums of the run, mapped: the kernel side writes them. Valid as long as the probes. */
struct wire_run *probes_sums(const struct probes *p);

/* Depths of all views together. */
struct wire_depth probes_depths(const struct probes *p, uint32_t views);

/* Requests completed so far, FLUSHes apart. */
void probes_progress(const struct probes *p, uint32_t views, uint64_t *requests, uint64_t *flushes);

/* Reads what the kernel side counts; not beyond the life of the probes. */
struct counters *probes_counters(const struct probes *p, uint32_t views);

/* The ring buffer of facts about sync calls; -1: they are not traced. */
int probes_ring_fd(const struct probes *p);

/* ---- disks ---- */

/* A disk is traced, or is another now. 0 or a negative errno. */
int probes_tell_disk(const struct probes *p, const struct wire_disk *d);

/* What comes under this number is not this disk any more. */
void probes_drop_disk(const struct probes *p, uint32_t dev);

/* Queues that were ignored are looked at afresh: one may be of a disk that has been told since. */
void probes_look_at_queues(const struct probes *p);

/* ---- processes, by their numbers as the kernel's first PID namespace has them ---- */

/* 0, also if it is followed already, or a negative errno. `by_name`: as long as it has the name that is asked for. */
int probes_follow_process(const struct probes *p, uint32_t pid, bool by_name);
void probes_leave_process(const struct probes *p, uint32_t pid);
bool probes_follows_process(const struct probes *p, uint32_t pid);

/* The one after `last`; NULL: the first. False: there is none. Those that join or leave meanwhile may be missed, or told twice. */
bool probes_next_process(const struct probes *p, const uint32_t *last, uint32_t *pid);

/* A command's first process: those that it forks follow by themselves. 0 or a negative errno. */
int probes_follow_command(const struct probes *p, uint32_t pid);

/* ---- cgroups, by their numbers, as many of each as struct probe_want says ---- */

void probes_tell_group(const struct probes *p, bool of_bio, size_t i, uint64_t id);

/* Where aio_fsync_work() stands in the kernel: fsyncs through AIO are seen from then on. */
void probes_tell_aio(const struct probes *p, uint64_t function);

#endif
