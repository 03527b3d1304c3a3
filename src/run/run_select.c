// SPDX-License-Identifier: GPL-2.0-only
/* run_select.c - whose calls and requests count: what the filter selects, told to the kernel side. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/task_filter.h"
#include "run/run_internal.h"

#define ROUNDS_MAX 16

_Static_assert(FILTER_MAX == CONFIG_COMMS && FILTER_MAX == CONFIG_GROUPS &&
		       PROCESS_COMM == sizeof(*((struct probe_want *)0)->comm),
	       "the filter and the kernel side know as many");

void session_want_filter(struct probe_want *want, const struct filter *f)
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

static void tell_groups(struct session *s)
{
	volatile struct bt_groups *groups = probes_maps(s->probes)->groups;
	const struct filter *f = s->opts.filter;
	size_t tasks = 0, bios = 0;

	for (size_t i = 0; i < f->n_groups; i++)
		if (f->group[i].by_bio)
			groups->of_bio[bios++] = f->group[i].id;
		else
			groups->of_task[tasks++] = f->group[i].id;
}

/* ---- processes ---- */

static void family_changed(const struct wire_maps *m)
{
	__sync_fetch_and_add(&m->run->family_turn, 1);
}

static void leave(const struct wire_maps *m, uint32_t pid)
{
	bpf_map_delete_elem(m->family_fd, &pid);
	family_changed(m);
}

/* What has ended before its end could be seen leaves a number behind that would be taken for who gets it next. */
static int join(const struct wire_maps *m, uint32_t pid, uint32_t why, bool *any)
{
	uint32_t is;
	bool there = !bpf_map_lookup_elem(m->family_fd, &pid, &is);

	if (!there && bpf_map_update_elem(m->family_fd, &pid, &why, BPF_ANY))
		return -errno;
	family_changed(m);
	if (process_gone("/proc", (pid_t)pid))
		leave(m, pid);
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

static int select_round(struct session *s, bool *any, struct err *e)
{
	const struct wire_maps *m = probes_maps(s->probes);
	struct processes_wanted want = filter_processes(s->opts.filter);
	size_t n;
	pid_t *pid = processes_find("/proc", &want, &n);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = join(m, (uint32_t)pid[i], want.no_children && !by_number(&want, pid[i]) ? MEMBER_BY_NAME : MEMBER,
			   any);
	free(pid);
	return err ? err_set(e, -err, EXIT_FAILED, "cannot follow %zu processes: %s", n, strerror(-err)) : 0;
}

/* Whom its parent forked before that one had joined is found in the next round. */
int session_select(struct session *s, struct err *e)
{
	bool any = s->opts.want.filter_family;
	int err = 0;

	if (s->opts.want.filter)
		tell_groups(s);
	for (int i = 0; i < ROUNDS_MAX && any && !err; i++) {
		any = false;
		err = select_round(s, &any, e);
	}
	return err;
}

bool session_anybody_left(struct session *s)
{
	const struct wire_maps *m = probes_maps(s->probes);
	uint32_t pid;

	while (!bpf_map_get_next_key(m->family_fd, NULL, &pid)) {
		if (!process_gone("/proc", (pid_t)pid))
			return true;
		leave(m, pid); /* its end was not seen */
	}
	return false;
}

void session_left_running(struct session *s, struct report *r)
{
	const struct wire_maps *m = probes_maps(s->probes);
	uint32_t pid, *last = NULL;
	struct task_stat stat;

	while (!bpf_map_get_next_key(m->family_fd, last, &pid)) {
		last = &pid;
		if (process_gone("/proc", (pid_t)pid))
			continue;
		if (!r->left_running++ || pid < r->left_pid)
			r->left_pid = pid;
	}
	if (r->left_running && task_stat_read(r->left_pid, r->left_pid, &stat))
		memcpy(r->left_comm, stat.comm, sizeof(r->left_comm));
}

void session_look_for_groups(struct session *s)
{
	if (s->opts.want.filter && filter_look_for_groups(s->opts.filter))
		tell_groups(s);
}
