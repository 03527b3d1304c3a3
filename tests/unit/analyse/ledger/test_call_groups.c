// SPDX-License-Identifier: GPL-2.0-only
/* Tables of bounded size, asked directly: who has a place of its own, who gives way when, and that sums stay what they are. */
#include <stdlib.h>
#include <string.h>

#include "analyse/ledger/call_groups.h"
#include "analyse/ledger/device_table.h"
#include "analyse/ledger/file_names.h"
#include "analyse/ledger/make_room.h"
#include "analyse/ledger/other_calls.h"
#include "analyse/ledger/slowest_calls.h"
#include "rnd.h"
#include "tap.h"
#include "util/mem.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
#define SEC    1000000000ull
#define AGE    (60 * SEC)
#define PAUSE  (120 * SEC)

/* ---- room ---- */

TEST(when_to_look)
{
	uint64_t looked = 0;

	ok(!room_due(&looked, 0) && !room_due(&looked, PAUSE - 1) && !looked, "not within two minutes");
	ok(room_due(&looked, PAUSE) && looked == PAUSE, "then, and it is noted");
	ok(!room_due(&looked, PAUSE - 1) && !room_due(&looked, 2 * PAUSE - 1) && room_due(&looked, 2 * PAUSE), "and again");
	ok(!room_due(&looked, 5), "not for a time before");
}

/* ---- groups ---- */

static struct groups g;

static void begin(uint32_t max)
{
	g = (struct groups){ 0 };
	groups_init(&g, max, "others");
}

static void add(uint32_t group, uint64_t end, uint64_t ns)
{
	struct ledger l = { { 0 } };

	l.ns[CAUSE_TAG] = ns;
	group_add(g.group[group], end, ns, &l);
}

TEST(find_groups)
{
	begin(4);
	ok(g.n == 1 && !strcmp(g.group[GROUPS_OTHER]->text, "others") && !g.group[GROUPS_OTHER]->id &&
		   !g.group[GROUPS_OTHER]->count,
	   "at first there are the others");
	ok(groups_find(&g, 1, "a") == 1 && groups_find(&g, 2, "a") == 2 && groups_find(&g, 1, "b") == 3,
	   "by number and text");
	ok(groups_find(&g, 2, "a") == 2 && groups_find(&g, 1, "a") == 1, "the same again");
	ok(groups_find(&g, 9, "z") == GROUPS_OTHER && g.n == 4 && groups_find(&g, 1, "b") == 3, "no room: the others");
	ok(!g.group[1]->late && g.group[2]->id == 2 && !strcmp(g.group[3]->text, "b"), "each as it was called");
	groups_free(&g);
}

TEST(sum_groups)
{
	begin(4);
	groups_find(&g, 1, "a");
	add(1, 100, 30);
	add(1, 200, 50);
	group_add_unsafe(g.group[1], 50);
	group_prefetch(g.group[1]);
	ok(g.group[1]->count == 2 && g.group[1]->total_ns == 80 && g.group[1]->last_ns == 200 && g.group[1]->unsafe == 1 &&
		   g.group[1]->unsafe_ns == 50 && g.group[1]->ledger.ns[CAUSE_TAG] == 80 && g.group[1]->latency.sum == 80,
	   "calls are added up");
	groups_clear(&g);
	ok(g.n == 1 && !g.group[0]->count && groups_find(&g, 1, "a") == 1 && !g.group[1]->count, "cleared, it is empty");
	groups_free(&g);
}

/* The mean of 100, 10, 10, 11, 10, 39 and the others' 0 is 25: two of 10 have been silent for a minute. */
TEST(make_room)
{
	static const struct {
		uint64_t ns, end;
	} all[] = {
		{ 0, 0 },   { 100, SEC }, { 10, 2 * SEC }, { 10, PAUSE }, { 11, PAUSE - AGE + 1 }, { 10, PAUSE - AGE },
		{ 39, SEC }
	};
	static const uint32_t want[] = { 0, 1, 0, 2, 3, 0, 4 };
	char name[2] = "a";
	uint32_t *to;
	bool good = true;

	begin(8);
	for (uint32_t i = 1; i < LEN(all); i++, name[0]++) {
		groups_find(&g, i, name);
		add(i, all[i].end, all[i].ns);
	}
	group_add_unsafe(g.group[2], 10);
	ok(!groups_make_room(&g, PAUSE - 1) && g.n == LEN(all), "no room within two minutes");
	to = groups_make_room(&g, PAUSE);
	for (uint32_t i = 0; to && i < LEN(want); i++)
		good = good && to[i] == want[i];
	ok(to && good && g.n == 5, "who gives way, and where the others are now");
	free(to);
	ok(g.gone == 2 && g.group[0]->count == 2 && g.group[0]->total_ns == 20 && g.group[0]->last_ns == PAUSE - AGE &&
		   g.group[0]->unsafe == 1 && g.group[0]->unsafe_ns == 10 && g.group[0]->ledger.ns[CAUSE_TAG] == 20 &&
		   g.group[0]->latency.count == 2,
	   "their sums are among the others");
	ok(groups_find(&g, 1, "a") == 1 && groups_find(&g, 3, "c") == 2 && groups_find(&g, 4, "d") == 3 &&
		   groups_find(&g, 6, "f") == 4 && g.group[4]->total_ns == 39 && !g.group[4]->late,
	   "those that stay are found");
	ok(groups_find(&g, 2, "b") == 5 && g.group[5]->late && !g.group[5]->count,
	   "one that comes back may have been here before");
	ok(!groups_make_room(&g, 2 * PAUSE - 1), "two minutes have to pass");
	groups_clear(&g);
	ok(!g.gone && groups_find(&g, 2, "b") == 1 && !g.group[1]->late, "cleared, nobody has gone");
	groups_free(&g);
}

TEST(rename_groups)
{
	begin(8);
	groups_find(&g, 1, "a");
	groups_find(&g, 1, "b");
	groups_rename(&g, 1, 1, "new");
	ok(groups_find(&g, 1, "new") == 1 && !strcmp(g.group[1]->text, "new"), "it is found by its new name");
	ok(groups_find(&g, 1, "a") == 3, "and no longer by its old one");
	groups_rename(&g, 2, 1, "new");
	ok(groups_find(&g, 1, "new") == 1 && groups_find(&g, 1, "b") == 2, "unless another has that");
	groups_free(&g);
}

/* ---- calls of others ---- */

static struct other_calls *others;

static void other(uint32_t pid, uint64_t enter, uint64_t ns)
{
	struct wire_sync s = { .enter = enter, .exit = enter + ns, .tgid = pid };

	snprintf(s.comm, sizeof(s.comm), "p%u", pid);
	others_add(others, &s);
}

TEST(calls_of_others)
{
	struct report_sync r = { 0 };

	others = xcalloc(1, sizeof(*others));
	others_report(others, &r);
	ok(!r.others && !r.other && !r.n_other, "no calls of others");
	for (uint32_t pid = 1; pid <= OTHERS_KEPT; pid++)
		other(pid, SEC, pid);
	other(1, 2 * SEC, 1000);
	ok(others->n == OTHERS_KEPT && others->count == OTHERS_KEPT + 1 && others->total_ns == 256 * 257 / 2 + 1000,
	   "all have room");
	other(900, 3 * SEC, 7);
	ok(others->n == OTHERS_KEPT + 1 && others->process[OTHERS_KEPT].count == 1 &&
		   others->process[OTHERS_KEPT].total_ns == 7,
	   "one more has none");
	/* the mean of the 256 is 132: the first of those that have not more and were silent for a minute is 2 */
	other(901, 61 * SEC - 8, 9);
	ok(others->process[OTHERS_KEPT].count == 2 && others->process[OTHERS_KEPT].total_ns == 16, "a minute has to pass");
	other(902, 61 * SEC - 1, 3);
	ok(others->process[1].pid == 902 && others->process[1].count == 1 && others->process[1].total_ns == 3 &&
		   others->process[OTHERS_KEPT].count == 3 && others->process[OTHERS_KEPT].total_ns == 18,
	   "then one gives way that has no more than the mean");
	others_report(others, &r);
	ok(r.n_other == OTHERS_KEPT + 1 && r.other[0].pid == 1 && r.other[0].total_ns == 1001 &&
		   !strcmp(r.other[0].comm, "p1") && r.other[1].pid == 256 && r.others == others->count &&
		   r.others_ns == others->total_ns,
	   "the longest first");
	ok(r.other[OTHERS_KEPT].pid == 902 && r.other[OTHERS_KEPT - 1].pid == 3 && r.other[239].pid == 0 &&
		   r.other[240].pid == 18 && !strcmp(r.other[239].comm, "(others)"),
	   "of equal ones the lower number");
	free(r.other);
	free(others);
}

/* ---- slowest ---- */

static int slow_first(const void *a, const void *b)
{
	const struct wire_sync *x = a, *y = b;
	uint64_t p = x->exit - x->enter, q = y->exit - y->enter;

	if (p != q)
		return p > q ? -1 : 1;
	return x->enter < y->enter ? -1 : x->enter > y->enter;
}

#define RUN 300

/* As many as there is room for, of calls of which many are equally slow: against a sorted list. */
static bool slowest_of(size_t n, size_t max)
{
	static struct wire_sync all[RUN];
	struct slowest l = { 0 };
	struct ledger none = { { 0 } };
	bool good = true;

	slowest_init(&l, max);
	for (size_t i = 0; i < n; i++) {
		uint64_t enter = 1 + rnd() % 1000 * 1000 + i, ns = rnd() % 20;

		all[i] = (struct wire_sync){ .enter = enter, .exit = enter + ns };
		if (slowest_wants(&l, &all[i]))
			slowest_add(&l, &all[i], "path", &none, ns % 2);
	}
	qsort(all, n, sizeof(all[0]), slow_first);
	good = l.n == (n < max ? n : max);
	for (size_t i = 0; i < l.n; i++)
		good = good && l.call[i]->call.enter == all[i].enter && l.call[i]->call.exit == all[i].exit &&
		       l.call[i]->unsafe == (all[i].exit - all[i].enter) % 2 && !strcmp(l.call[i]->path, "path");
	slowest_clear(&l);
	good = good && !l.n && slowest_wants(&l, &all[0]) == (max > 0);
	slowest_free(&l);
	return good;
}

TEST(slowest)
{
	bool good = true;

	for (int i = 0; i < 300; i++)
		good = good && slowest_of(rnd() % RUN, rnd() % 20);
	ok(good, "300 times the slowest of random calls; of two that are equally slow the earlier");
}

/* ---- devices ---- */

TEST(devices)
{
	static const struct device_name all[] = { { .dev = 50, .name = "e" },
						  { .dev = 10, .name = "a" },
						  { .dev = 30, .name = "c" },
						  { .dev = 20, .name = "b" },
						  { .dev = 40, .name = "d" } };
	struct devices d, none;
	char label[32], *name;
	bool good = true;

	for (size_t n = 1; n <= LEN(all); n++) {
		devices_copy(&d, all, n);
		for (size_t i = 0; i < n; i++)
			good = good && devices_find(&d, all[i].dev) &&
			       !strcmp(devices_find(&d, all[i].dev)->name, all[i].name) &&
			       !devices_find(&d, all[i].dev + 1) && !devices_find(&d, all[i].dev - 1);
		devices_free(&d);
	}
	ok(good, "devices are found, one to five of them, and no others");
	devices_copy(&d, all, LEN(all));
	devices_copy(&none, NULL, 0);
	ok(!devices_find(&none, 10), "none is found where there are none");
	ok(!strcmp(devices_label(&d, 30, label), "c") && !strcmp(devices_label(&d, WIRE_DEV(8, 33), label), "8:33") &&
		   !strcmp(devices_label(&d, 0, label), ""),
	   "a name, a number, or nothing");
	name = devices_name(&d, 40);
	ok(!strcmp(name, "d") && !devices_name(&d, 0), "the same for the caller");
	free(name);
	devices_free(&d);
	devices_free(&none);
}

/* ---- names of files ---- */

#define INODES 32768u

TEST(inodes)
{
	struct inodes t = { 0 };
	bool good = true;

	inodes_init(&t);
	ok(!inodes_find(&t, 1, 1), "a file that was never synced");
	for (uint32_t i = 0; i < INODES; i++)
		inodes_use(&t, i % 2, i)->group = i;
	for (uint32_t i = 0; i < INODES; i++)
		good = good && inodes_find(&t, i % 2, i) && inodes_find(&t, i % 2, i)->group == i &&
		       !inodes_find(&t, 1 - i % 2, i);
	ok(good && t.n == INODES, "32,768 files are known, by disk and number");
	inodes_find(&t, 1, 1);
	inodes_use(&t, 0, 0)->path = xstrdup("used");
	inodes_use(&t, 0, 2);
	inodes_use(&t, 1, INODES - 1);
	ok(!inodes_use(&t, 7, 7)->group, "for one more");
	ok(!inodes_find(&t, 1, 1) && inodes_find(&t, 0, 0), "one goes that was not in use since");
	inodes_use(&t, 7, 8);
	ok(!inodes_find(&t, 1, 3) && inodes_find(&t, 0, 2), "then the next");
	for (uint32_t i = 4; i < INODES - 1; i++)
		inodes_use(&t, 8, i);
	ok(inodes_find(&t, 1, INODES - 1) && inodes_find(&t, 0, 0) && !inodes_find(&t, 0, INODES - 2),
	   "all others before those in use");
	inodes_use(&t, 9, 9);
	ok(inodes_find(&t, 1, INODES - 1) && !inodes_find(&t, 0, 0) && inodes_find(&t, 7, 7),
	   "which are asked once more each");
	inodes_free(&t);
}

int main(void)
{
	tests_run();
	return tap_done();
}
