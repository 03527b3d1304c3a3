// SPDX-License-Identifier: GPL-2.0-only
#include "probe/task_sweep.h"

/* True the second time in a row that nothing names what `owner` took. */
static bool twice(struct task_sweep *s, uint32_t *before, uint32_t owner, bool named)
{
	bool again = owner && !named && *before == owner;

	*before = named || again ? 0 : owner;
	s->unnamed |= *before != 0;
	return again;
}

/* The history of the helper that has not mattered for longest; WIRE_HISTORIES: each has, lately. */
static size_t least(struct task_state *const helper[WIRE_HISTORIES], uint64_t now)
{
	size_t found = WIRE_HISTORIES;

	for (size_t i = 0; i < WIRE_HISTORIES; i++) {
		const struct task_state *t = helper[i];

		if (t && t->history == i + 1 && !t->aio && t->mattered + SWEEP_RETIRE_NS < now &&
		    (found == WIRE_HISTORIES || t->mattered < helper[found]->mattered))
			found = i;
	}
	return found;
}

/* Everything wakes something: in time all tasks of a busy machine have been helpers. */
static void retire(struct task_sweep *s, struct task_state *const helper[WIRE_HISTORIES],
		   const volatile uint32_t owner[WIRE_HISTORIES], uint64_t now)
{
	size_t spare = 0, i;

	for (i = 0; i < WIRE_HISTORIES; i++)
		spare += !helper[i];
	for (; spare < SWEEP_SPARE && (i = least(helper, now)) < WIRE_HISTORIES; spare++) {
		helper[i]->history = 0;
		s->history[i] = owner[i];
		s->unnamed = true;
	}
}

void task_sweep(struct task_sweep *s, struct task_state *task, size_t n, volatile uint32_t owner[WIRE_HISTORIES],
		uint64_t now, const struct sweep_calls *calls, void *ctx)
{
	struct task_state *helper[WIRE_HISTORIES] = { NULL };

	s->unnamed = false;
	for (size_t i = 0; i < n; i++) {
		uint32_t tid = task[i].tid, history = task[i].history;
		bool named = tid && calls->names(ctx, tid, i);

		if (named && history && history <= WIRE_HISTORIES)
			helper[history - 1] = &task[i];
		if (named && calls->gone(ctx, tid))
			calls->bury(ctx, tid);
		if (!twice(s, &s->task[i], tid, named))
			continue;
		task[i].tid = 0;
		calls->free_task(ctx, (uint32_t)i);
	}
	for (uint32_t i = 0; i < WIRE_HISTORIES; i++) {
		if (!twice(s, &s->history[i], owner[i], helper[i]))
			continue;
		owner[i] = 0;
		calls->free_history(ctx, i);
	}
	retire(s, helper, owner, now);
}
