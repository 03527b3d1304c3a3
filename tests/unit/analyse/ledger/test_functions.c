// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel functions: their classes by name and by address, which frame of a stack decides, and the names of work functions.
 */
#include <stdio.h>
#include <string.h>

#include "analyse/ledger/functions.h"
#include "tap.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static struct functions *f;

static enum stack_class at(uint64_t address)
{
	const struct wire_sleep s = { .head.size = sizeof(s), .stack_len = 1, .stack = { address } };

	return functions_class(f, &s);
}

/* ---- names ---- */

static enum stack_class of_name(const char *name)
{
	struct kernel_symbol s = { .start = 100, .end = 200 };
	enum stack_class class;

	snprintf(s.name, sizeof(s.name), "%s", name);
	f = functions_new(&s, 1);
	class = at(150);
	functions_free(f);
	return class;
}

TEST(names)
{
	ok(of_name("blk_mq_get_tag") == STACK_TAG && of_name("mutex_lock") == STACK_LOCK &&
		   of_name("__bio_queue_enter") == STACK_LOCK && of_name("jbd2_journal_stop") == STACK_JOURNAL &&
		   of_name("jbd2_log_wait_commit") == STACK_COMMIT,
	   "listed names have their class");
	ok(of_name("__mutex_lock.constprop.0") == STACK_LOCK && of_name("rq_qos_wait.cold") == STACK_THROTTLE,
	   "compilers append to names");
	ok(of_name("mutex_loc") == STACK_NONE && of_name("mutex_lock_") == STACK_NONE &&
		   of_name("mutex_lick") == STACK_NONE && of_name("putex_lock") == STACK_NONE,
	   "shorter, longer and similar names mean nothing");
	ok(of_name("") == STACK_NONE && of_name(".mutex_lock") == STACK_NONE, "nor do empty ones");
}

/* ---- addresses ---- */

static const struct kernel_symbol unsorted[] = {
	{ "folio_wait_writeback", 500, 501 },
	{ "mutex_lock", 100, 200 },
	{ "blk_mq_get_tag", 300, 400 },
	{ "schedule", 400, 500 },
	{ "rq_qos_wait", 200, 300 },
	{ "xlog_wait", 900, 900 },
	{ "down_read", 800, 700 },
	{ "down_write", 600, 700 },
	{ "mutex_unlock", 620, 630 },
	{ "wait_for_commit", 640, 640 },
};

TEST(addresses)
{
	f = functions_new(unsorted, LEN(unsorted));
	ok(at(99) == STACK_NONE && at(100) == STACK_LOCK && at(199) == STACK_LOCK && at(200) == STACK_THROTTLE &&
		   at(299) == STACK_THROTTLE && at(300) == STACK_TAG && at(399) == STACK_TAG,
	   "side by side, in whatever order they were told");
	ok(at(400) == STACK_NONE && at(499) == STACK_NONE && at(500) == STACK_IO && at(501) == STACK_NONE,
	   "those that mean nothing lie between them, and one of a byte behind them");
	ok(at(600) == STACK_LOCK && at(699) == STACK_LOCK && at(700) == STACK_NONE && at(UINT64_MAX) == STACK_NONE,
	   "the last one");
	ok(at(625) == STACK_LOCK && at(630) == STACK_LOCK && at(640) == STACK_LOCK,
	   "what means nothing, or is empty, hides nothing of what is around it");
	ok(at(750) == STACK_NONE && at(800) == STACK_NONE && at(899) == STACK_NONE && at(900) == STACK_NONE,
	   "what is empty, or ends before it starts, is nowhere");
	functions_free(f);
}

TEST(none)
{
	f = functions_new(NULL, 0);
	ok(at(0) == STACK_NONE && at(100) == STACK_NONE && !functions_work(f, 0), "no symbols: nothing means anything");
	functions_free(f);
	functions_free(NULL);
}

/* One cache slot, three addresses. */
TEST(the_same_slot)
{
	static const struct kernel_symbol far[] = { { "mutex_lock", 0x10000, 0x10100 },
						    { "blk_mq_get_tag", 0x20000, 0x20100 },
						    { "submit_bio_wait", 0x1000000000, 0x1000000100 } };
	bool good = true;

	f = functions_new(far, LEN(far));
	for (int i = 0; i < 3; i++)
		good = good && at(0x10010) == STACK_LOCK && at(0x20010) == STACK_TAG && at(0x30010) == STACK_NONE &&
		       at(0x1000000010) == STACK_IO && at(0x10010) == STACK_LOCK && at(0x10010) == STACK_LOCK;
	ok(good, "addresses that share a cache slot keep their own class");
	functions_free(f);
}

/* ---- stacks ---- */

/* `address` stands at `at`: before it what means nothing, and after it `rest`. */
struct stack {
	unsigned int size; /* of the record; 0: whole */
	unsigned int len, at;
	uint64_t address, rest;
};

static enum stack_class of_stack(struct stack stack)
{
	struct wire_sleep s = { .head.size = sizeof(s), .stack_len = (uint8_t)stack.len };

	if (stack.size)
		s.head.size = (uint16_t)stack.size;
	for (unsigned int i = 0; i < WIRE_STACK; i++)
		s.stack[i] = i < stack.at ? 450 : i == stack.at ? stack.address : stack.rest;
	return functions_class(f, &s);
}

#define STACK(...) of_stack((struct stack){ __VA_ARGS__ })

TEST(stacks)
{
	const unsigned int size = sizeof(struct wire_sleep);

	f = functions_new(unsorted, LEN(unsorted));
	ok(STACK(.len = 3, .address = 100, .rest = 300) == STACK_LOCK &&
		   STACK(.len = 3, .at = 1, .address = 100, .rest = 300) == STACK_LOCK &&
		   STACK(.len = 3, .at = 1, .address = 300, .rest = 100) == STACK_TAG,
	   "the innermost function that means something decides");
	ok(STACK(.len = 0, .address = 100, .rest = 100) == STACK_NONE &&
		   STACK(.len = 2, .at = 2, .address = 100, .rest = 100) == STACK_NONE &&
		   STACK(.len = 3, .at = 2, .address = 100, .rest = 300) == STACK_LOCK,
	   "the stack ends where its length says");
	ok(STACK(.len = WIRE_STACK, .at = WIRE_STACK - 1, .address = 100) == STACK_LOCK &&
		   STACK(.len = 255, .at = WIRE_STACK - 1, .address = 100) == STACK_LOCK &&
		   STACK(.len = 255, .at = WIRE_STACK) == STACK_NONE,
	   "or with the record");
	ok(STACK(.size = size - 1, .len = 3, .address = 100, .rest = 100) == STACK_NONE &&
		   STACK(.size = WIRE_SLEEP_SHORT, .len = 3, .address = 100, .rest = 100) == STACK_NONE &&
		   STACK(.size = size + 8, .len = 3, .address = 100, .rest = 100) == STACK_LOCK,
	   "a record that ends before it has none");
	functions_free(f);
}

/* ---- works ---- */

static bool runs(uint64_t address, const char *want)
{
	const char *name = functions_work(f, address);

	return want ? name && !strcmp(name, want) : !name;
}

TEST(works)
{
	static const struct kernel_symbol all[] = { { "rpc_async_schedule", 700, 800 }, { "wb_workfn", 300, 400 },
						    { "wb_workfn.cold", 500, 501 },	{ "mutex_lock", 200, 300 },
						    { "loop_rootcg_workfn", 100, 100 }, { "wb_workf", 600, 700 } };

	f = functions_new(all, LEN(all));
	ok(runs(700, "rpc_async_schedule") && runs(300, "wb_workfn") && runs(100, "loop_rootcg_workfn"),
	   "what a work runs, by where that begins");
	ok(runs(0, NULL) && runs(299, NULL) && runs(301, NULL) && runs(799, NULL), "not within");
	ok(runs(200, NULL) && runs(500, NULL) && runs(600, NULL), "nor what no work runs");
	ok(at(300) == STACK_NONE && at(299) == STACK_LOCK, "where a worker sleeps is another matter");
	functions_free(f);
}

int main(void)
{
	tests_run();
	return tap_done();
}
