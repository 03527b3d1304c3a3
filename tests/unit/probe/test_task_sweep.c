// SPDX-License-Identifier: GPL-2.0-only
/* Which entries come back, and which helpers make room. */
#include <stdlib.h>
#include <string.h>

#include "probe/task_sweep.h"
#include "tap.h"

#define FIRST  1000 /* tid of task 0 */
#define SECOND 1000000000ull

static struct task_sweep sweep;
static struct task_state task[WIRE_HISTORIES];
static uint32_t owner[WIRE_HISTORIES];
static uint64_t now;
static uint32_t nameless, dead; /* tids */
static uint32_t buried, tasks_back, histories_back, last_back;

static bool names(void *ctx, uint32_t tid, size_t i)
{
	(void)ctx;
	return tid != nameless && tid == FIRST + i;
}

static bool gone(void *ctx, uint32_t tid)
{
	(void)ctx;
	return tid == dead;
}

static void bury(void *ctx, uint32_t tid)
{
	(void)ctx;
	buried = nameless = tid;
}

static void free_task(void *ctx, uint32_t i)
{
	(void)ctx;
	tasks_back++;
	last_back = i;
}

static void free_history(void *ctx, uint32_t i)
{
	(void)ctx;
	histories_back++;
	last_back = i;
}

/* The first n tasks are helpers, of which number i last mattered at i seconds. */
static void begin(size_t n)
{
	memset(&sweep, 0, sizeof(sweep));
	memset(task, 0, sizeof(task));
	memset(owner, 0, sizeof(owner));
	nameless = dead = buried = tasks_back = histories_back = 0;
	for (uint32_t i = 0; i < n; i++) {
		task[i] = (struct task_state){ .tid = FIRST + i, .history = (uint16_t)(i + 1), .mattered = (i + 1) * SECOND };
		owner[i] = FIRST + i;
	}
	now = (n + 1) * SECOND;
}

static void look(void)
{
	static const struct sweep_calls calls = { names, gone, bury, free_task, free_history };

	task_sweep(&sweep, task, WIRE_HISTORIES, owner, now, &calls, NULL);
}

static size_t helpers(void)
{
	size_t n = 0;

	for (size_t i = 0; i < WIRE_HISTORIES; i++)
		n += task[i].history != 0;
	return n;
}

int main(void)
{
	begin(10);
	for (int i = 0; i < 3; i++)
		look();
	ok(!sweep.unnamed && !tasks_back && !histories_back && helpers() == 10, "what has a name stays");

	nameless = FIRST + 3; /* it has ended */
	task[3].history = 0;
	look();
	ok(sweep.unnamed && !tasks_back && !histories_back && task[3].tid,
	   "what was named at the last sweep does not come back yet");
	look();
	ok(tasks_back == 1 && histories_back == 1 && last_back == 3 && !task[3].tid && !owner[3],
	   "at the second sweep both do");
	look();
	ok(tasks_back == 1 && histories_back == 1 && !sweep.unnamed, "and once only");

	begin(10);
	nameless = FIRST + 3;
	look();
	nameless = 0;
	look();
	nameless = FIRST + 3;
	look();
	ok(!tasks_back, "one that got its name between two sweeps stays");
	task[3].tid = FIRST + 20; /* another task has taken it meanwhile */
	look();
	ok(!tasks_back, "so does one that was taken anew");

	begin(10);
	dead = FIRST + 4;
	look();
	ok(buried == dead && !tasks_back, "a task that is gone, and whose end was not seen, loses its name");
	task[4].history = 0;
	look();
	ok(!tasks_back, "its entry may have been found until then");
	look();
	ok(tasks_back == 1 && histories_back == 1, "and comes back like the others");

	begin(2);
	owner[7] = FIRST + 1; /* two CPUs have taken one for the same helper, which kept the other */
	look();
	look();
	ok(!tasks_back && histories_back == 1 && last_back == 7 && task[1].history == 2,
	   "of two histories for one helper the other comes back");

	begin(WIRE_HISTORIES);
	task[0].aio = 1;
	look();
	ok(helpers() == WIRE_HISTORIES - SWEEP_SPARE && task[0].history && !task[1].history &&
		   !task[SWEEP_SPARE].history && task[SWEEP_SPARE + 1].history,
	   "where histories are short, the helpers that have not mattered for longest make room, but for one in an fsync of AIO");
	ok(sweep.unnamed && !histories_back, "a program may be at their histories until then");
	look();
	ok(histories_back == SWEEP_SPARE && !sweep.unnamed, "they come back with the next sweep");
	look();
	ok(histories_back == SWEEP_SPARE && helpers() == WIRE_HISTORIES - SWEEP_SPARE, "so many, and no more");

	begin(WIRE_HISTORIES);
	for (size_t i = 0; i < WIRE_HISTORIES; i++)
		task[i].mattered = now - SWEEP_RETIRE_NS;
	look();
	ok(helpers() == WIRE_HISTORIES, "none that matters");
	return tap_done();
}
