// SPDX-License-Identifier: GPL-2.0-only
/* Facts without addresses: what belonged together still does, and nothing of where the kernel lies is left. */
#include <string.h>

#include "probe/addresses.h"
#include "tap.h"

#define TEXT 0xffffffff81000000 /* where functions lie, */
#define HEAP 0xffff888100000000 /* and requests */

static struct kernel_symbol symbols[] = {
	{ "second", TEXT + 0x200, TEXT + 0x300 },
	{ "first", TEXT + 0x100, TEXT + 0x180 },
	{ "alias", TEXT + 0x200, TEXT + 0x200 },
};
static struct addresses *a;

static struct wire_sleep slept(struct wire_sleep s)
{
	s.head = (struct wire_head){ .kind = WIRE_SLEEP, .size = sizeof(s) };
	memcpy(&s, addresses_replace(a, &s.head), sizeof(s));
	return s;
}

static struct wire_request requested(uint64_t rq)
{
	struct wire_request r = { .head = { .kind = WIRE_REQUEST, .size = sizeof(r) }, .rq = rq, .done = 7, .sector = 9 };

	memcpy(&r, addresses_replace(a, &r.head), sizeof(r));
	return r;
}

static struct wire_work worked(struct wire_work w)
{
	w.head = (struct wire_head){ .kind = WIRE_WORK, .size = sizeof(w) };
	memcpy(&w, addresses_replace(a, &w.head), sizeof(w));
	return w;
}

static void functions(void)
{
	const uint64_t stack[WIRE_STACK] = { TEXT + 0x17f, TEXT + 0x200, TEXT + 0x2ff, TEXT + 0x180, TEXT, TEXT + 0x300 };
	struct wire_sleep s = { .stack_len = 6, .waker = 3 };

	ok(symbols[1].start == 1 && symbols[1].end == 2 && symbols[0].start == 2 && symbols[0].end == 3 &&
		   symbols[2].start == 2 && symbols[2].end == 2,
	   "functions are numbered in their order, those with one address alike");
	memcpy(s.stack, stack, sizeof(stack));
	s.stack[6] = TEXT + 0x250;
	s = slept(s);
	ok(s.stack[0] == 1 && s.stack[1] == 2 && s.stack[2] == 2, "a stack has the numbers of its functions");
	ok(!s.stack[3] && !s.stack[4] && !s.stack[5], "and 0 for those that mean nothing");
	ok(!s.stack[6] && s.stack_len == 6 && s.waker == 3, "what stands behind its end goes, the rest stays");
	ok(worked((struct wire_work){ .function = TEXT + 0x200 }).function == 2 &&
		   !worked((struct wire_work){ .function = TEXT + 0x400 }).function,
	   "so does a work");
}

static void requests(void)
{
	const uint64_t of_request = slept((struct wire_sleep){ .how = HOW_REQUEST, .rq = HEAP, .done = 7 }).rq;
	struct wire_request r = requested(HEAP);

	ok(r.rq == of_request && r.done == 7 && r.sector == 9 &&
		   worked((struct wire_work){ .how = HOW_REQUEST, .rq = HEAP, .done = 7 }).rq == of_request,
	   "a request is the same in all facts");
	ok(r.rq != requested(HEAP + 0x180).rq, "another is another");
	ok(r.rq >> 48 != 0xffff && r.rq != HEAP && r.rq, "what stands for it is no address");
	ok(slept((struct wire_sleep){ .how = HOW_TASK, .rq = 5ull << 32 | 6, .done = 1 }).rq == (5ull << 32 | 6),
	   "a waker's sleep and work are no address");
	ok(!slept((struct wire_sleep){ .how = HOW_TASK, .rq = HEAP, .done = 2 }).rq &&
		   !slept((struct wire_sleep){ .how = HOW_IRQ, .rq = HEAP, .done = 1 }).rq &&
		   !worked((struct wire_work){ .rq = HEAP, .done = 1 }).rq,
	   "what is neither goes");
}

static void others(void)
{
	struct wire_sync call = { .head = { .kind = WIRE_SYNC, .size = sizeof(call) }, .ino = WIRE_INO_DISK };
	struct {
		struct wire_sleep s;
	} brief = { { .head = { .kind = WIRE_SLEEP, .size = WIRE_SLEEP_SHORT }, .on = 8, .stack_len = 1 } };
	const struct wire_sleep *copy;

	ok(addresses_replace(a, &call.head) == &call.head, "a fact without addresses is itself");
	brief.s.stack[0] = TEXT + 0x100;
	copy = (const void *)addresses_replace(a, &brief.s.head);
	ok(copy->head.size == WIRE_SLEEP_SHORT && copy->on == 8, "a sleep without a stack stays as short");
}

static void keys(void)
{
	struct addresses *other = NULL;
	uint64_t mine = requested(HEAP).rq;
	struct err e;

	addresses_free(a);
	ok(!addresses_new(NULL, 0, &other, &e), "without symbols");
	a = other;
	ok(requested(HEAP).rq != mine, "another run has another key");
	ok(!slept((struct wire_sleep){ .stack_len = 1, .stack = { TEXT } }).stack[0], "no function means anything then");
}

int main(void)
{
	struct err e;

	ok(!addresses_new(symbols, 3, &a, &e), "made");
	functions();
	requests();
	others();
	keys();
	addresses_free(a);
	return tap_done();
}
