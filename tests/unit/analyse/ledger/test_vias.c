// SPDX-License-Identifier: GPL-2.0-only
/* Ways through tasks, asked directly: the same way has one number, and both their number and their length are bounded. */
#include <stdbool.h>
#include <stdio.h>

#include "analyse/ledger/vias.h"
#include "joined.h"
#include "tap.h"

static struct vias v;

static bool is(uint32_t via, const char *want)
{
	const char *name[VIAS_DEPTH];

	return joined_are(name, vias_names(&v, via, name), want);
}

static void one_number_each(void)
{
	uint32_t a, b, ab, ba;

	vias_forget(&v);
	a = vias_push(&v, 0, "a");
	b = vias_push(&v, 0, "b");
	ab = vias_push(&v, a, "b");
	ba = vias_push(&v, b, "a");
	ok(is(0, "") && is(a, "a") && is(b, "b") && is(ab, "a;b") && is(ba, "b;a"), "from the caller's own helper on");
	ok(vias_push(&v, 0, "a") == a && vias_push(&v, a, "b") == ab && vias_push(&v, b, "a") == ba && v.n == 5,
	   "the same again");
	ok(is(vias_push(&v, ab, "b"), "a;b;b"), "one may come twice");
}

static void long_names(void)
{
	uint32_t a;

	vias_forget(&v);
	a = vias_push(&v, 0, "a name of 31 letters, and no more");
	ok(is(a, "a name of 31 letters, and no mo"), "names are cut");
	ok(vias_push(&v, 0, "a name of 31 letters, and no moon") == a, "what differs only then is the same");
	ok(vias_push(&v, 0, "a name of 31 letters, and no my") != a, "what differs before is not");
}

static void no_name(void)
{
	const char *name[VIAS_DEPTH];
	uint32_t via;

	vias_forget(&v);
	via = vias_push(&v, 0, "");
	ok(via && vias_names(&v, via, name) == 1 && !*name[0] && vias_push(&v, 0, "") == via, "a name may be empty");
}

static void long_ways(void)
{
	uint32_t via = 0;

	vias_forget(&v);
	for (int i = 1; i < VIAS_DEPTH; i++)
		via = vias_push(&v, via, "x");
	ok(is(via, "x;x;x;x;x;x;x;x"), "eight names");
	via = vias_push(&v, via, "y");
	ok(is(via, "x;x;x;x;x;x;x;x;y"), "nine");
	ok(vias_push(&v, via, "z") == via, "there are no longer ways");
}

static bool known(uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i <= to; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%u", i);
		if (!is(vias_push(&v, 0, name), name))
			return false;
	}
	return true;
}

static void many_ways(void)
{
	uint32_t last;

	vias_forget(&v);
	ok(known(1, VIAS_MAX - 1), "4,095 ways beside the caller's own");
	last = vias_push(&v, 0, "n4095");
	ok(!vias_push(&v, 0, "more") && vias_push(&v, last, "more") == last, "beyond, what is known of them stays");
	ok(known(1, VIAS_MAX - 1) && v.n == VIAS_MAX, "all others are found");
	vias_forget(&v);
	ok(v.n == 1 && is(vias_push(&v, 0, "more"), "more") && vias_push(&v, 0, "n5") < v.n, "forgotten, it begins anew");
}

int main(void)
{
	one_number_each();
	long_names();
	no_name();
	long_ways();
	many_ways();
	vias_free(&v);
	return tap_done();
}
