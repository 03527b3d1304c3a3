// SPDX-License-Identifier: GPL-2.0-only
/* run_select.c - whose calls and requests count: what the filter selects, told to the kernel side. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/task_filter.h"
#include "run/run_internal.h"

#define ROUNDS_MAX 16

_Static_assert(FILTER_MAX == CONFIG_COMMS && FILTER_MAX == CONFIG_GROUPS &&
		       PROCESS_COMM == sizeof(*((struct probe_want *)0)->comm),
	       "the filter and the kernel side know as many");

void run_want_filter(struct probe_want *want, const struct filter *f)
{
	if (!f || !f->text)
		return;
	want->filter = true;
	want->filter_family = filter_by_process(f);
	want->no_children = f->no_children;
	want->n_comms = (uint32_t)f->n_comms;
	memcpy(want->comm, f->comm, sizeof(want->comm));
	for (size_t i = 0; i < f->n_groups; i++)
		if (f->group[i].by_bio)
			want->bio_groups++;
		else
			want->task_groups++;
}

static void tell_groups(struct traced_run *run)
{
	const struct filter *f = run->opts.filter;
	size_t tasks = 0, bios = 0;

	for (size_t i = 0; i < f->n_groups; i++)
		probes_tell_group(run->probes, f->group[i].by_bio, f->group[i].by_bio ? bios++ : tasks++, f->group[i].id);
}

/* ---- processes ---- */

/* What has ended before its end could be seen leaves a number behind that would be taken for who gets it next. */
static int join(const struct probes *p, uint32_t pid, bool by_name, bool *any)
{
	bool there = probes_follows_process(p, pid);
	int err = probes_follow_process(p, pid, by_name);

	if (err)
		return err;
	if (process_gone("/proc", (pid_t)pid))
		probes_leave_process(p, pid);
	else
		*any |= !there;
	return 0;
}

static bool by_number(const struct processes_wanted *want, pid_t pid)
{
	for (size_t i = 0; i < want->n_pids; i++)
		if (want->pid[i] == pid)
			return true;
	return false;
}

static int select_round(struct traced_run *run, bool *any, struct err *e)
{
	struct processes_wanted want = filter_processes(run->opts.filter);
	size_t n;
	pid_t *pid = processes_find("/proc", &want, &n);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = join(run->probes, (uint32_t)pid[i], want.no_children && !by_number(&want, pid[i]), any);
	free(pid);
	return err ? err_set(e, -err, EXIT_FAILED, "cannot follow %zu processes: %s", n, strerror(-err)) : 0;
}

/* Whom its parent forked before that one had joined is found in the next round. */
int run_select(struct traced_run *run, struct err *e)
{
	bool any = run->opts.want.filter_family;
	int err = 0;

	if (run->opts.want.filter)
		tell_groups(run);
	for (int i = 0; i < ROUNDS_MAX && any && !err; i++) {
		any = false;
		err = select_round(run, &any, e);
	}
	return err;
}

bool run_anybody_left(struct traced_run *run)
{
	uint32_t pid;

	while (probes_next_process(run->probes, NULL, &pid)) {
		if (!process_gone("/proc", (pid_t)pid))
			return true;
		probes_leave_process(run->probes, pid); /* its end was not seen */
	}
	return false;
}

void run_left_running(struct traced_run *run, struct report *r)
{
	uint32_t pid, *last = NULL;
	struct task_stat stat;

	while (probes_next_process(run->probes, last, &pid)) {
		last = &pid;
		if (process_gone("/proc", (pid_t)pid))
			continue;
		if (!r->left_running++ || pid < r->left_pid)
			r->left_pid = pid;
	}
	if (r->left_running && task_stat_read(r->left_pid, r->left_pid, &stat))
		memcpy(r->left_comm, stat.comm, sizeof(r->left_comm));
}

void run_look_for_groups(struct traced_run *run)
{
	if (run->opts.want.filter && filter_look_for_groups(run->opts.filter))
		tell_groups(run);
}
