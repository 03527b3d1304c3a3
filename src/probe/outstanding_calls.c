// SPDX-License-Identifier: GPL-2.0-only
#include "probe/outstanding_calls.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "probe/syscalls.h"
#include "task_state.h"

#define CHUNK 64 /* PIDS_PER_CHUNK */

/* ---- has it returned, though no program was told? ---- */

static bool has_state(const struct wire_maps *m, uint32_t tid, size_t index)
{
	uint16_t entry[CHUNK];
	uint32_t key = tid / CHUNK;

	return !bpf_map_lookup_elem(m->pids_fd, &key, entry) && entry[tid % CHUNK] == index + 1;
}

/* The thread of a process whose state stands there; 0: none has. */
static uint32_t thread_of_state(const struct wire_maps *m, uint32_t tgid, size_t index)
{
	struct dirent *entry;
	uint32_t tid = 0;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", tgid);
	dir = opendir(path);
	while (dir && !tid && (entry = readdir(dir))) {
		tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		if (tid && !has_state(m, tid, index))
			tid = 0;
	}
	if (dir)
		closedir(dir);
	return tid;
}

/*
 * The file holds the number of the system call that the task sleeps in, -1 if it sleeps in none, or "running", which tells nothing;
 * nor can we always read it.
 */
static bool sleeps_elsewhere(uint32_t tid, uint32_t call)
{
	char path[32], line[32], *end = line;
	long nr = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/syscall", tid);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f))
		nr = strtol(line, &end, 10);
	if (f)
		fclose(f);
	return end != line && !syscalls_can_be(nr, call);
}

static bool in_call(const struct task_state *t)
{
	return __atomic_load_n(&t->follow, __ATOMIC_ACQUIRE) & FOLLOW_CALLER;
}

/* In the same call before and after we look where its task is. The kernel's own are no system calls. */
static bool has_returned(const struct wire_maps *m, const struct task_state *t, size_t index)
{
	uint64_t enter = t->enter;
	uint32_t call = t->call, tid;

	if (call == CALL_KERNEL_FSYNC)
		return false;
	tid = thread_of_state(m, t->tgid, index);
	return tid && sleeps_elsewhere(tid, call) && in_call(t) && t->enter == enter;
}

/* ---- looks ---- */

static void look_at(const struct wire_maps *m, const struct task_state *t, size_t index, struct calls_look *l)
{
	struct calls_under_way *found = &l->found;
	uint64_t enter;

	if (!in_call(t))
		return;
	enter = t->enter;
	if (enter >= l->until || (l->counts && !l->counts(l->ctx, t->dev)))
		return;
	if (l->ask && has_returned(m, t, index)) {
		found->returned++;
		return;
	}
	if (!found->n++ || enter < found->oldest)
		found->oldest = enter;
}

/* Mapped only for this look: all that is mapped counts as resident. */
bool calls_look(const struct wire_maps *m, struct calls_look *l)
{
	size_t n = sizeof(m->run->tasks_used), size;
	const struct task_state *t;

	while (n && !m->run->tasks_used[n - 1])
		n--;
	if (!n)
		return true;
	size = n * WIRE_TASKS_PART * sizeof(*t);
	t = mmap(NULL, size, PROT_READ, MAP_SHARED, m->tasks_fd, 0);
	if (t == MAP_FAILED)
		return false;
	for (size_t i = 0; i < n * WIRE_TASKS_PART; i++)
		if (m->run->tasks_used[i / WIRE_TASKS_PART])
			look_at(m, &t[i], i, l);
	munmap((void *)t, size);
	return true;
}
