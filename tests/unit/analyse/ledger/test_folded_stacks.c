// SPDX-License-Identifier: GPL-2.0-only
/* Leaves of the flame graph, asked directly: which are told apart, and what is left of them where there are too many. */
#include <stdlib.h>
#include <string.h>

#include "analyse/ledger/call_groups.h"
#include "analyse/ledger/folded_stacks.h"
#include "tap.h"
#include "util/mem.h"

#define SEC	   1000000000ull
#define LEAVES_MAX 8192u
#define LEAVES_END 9216u

static struct leaves l;

static void begin(void)
{
	leaves_free(&l);
	leaves_init(&l);
}

/* A call with `n` slices of `ns` each, through `via` and those that follow. */
static void add(const char *comm, uint32_t file, uint64_t exit, uint32_t via, uint32_t n, uint64_t ns)
{
	struct walk_slice *slice = xcalloc(n + 1, sizeof(*slice));
	const struct walk_result r = { .slice = slice, .n = n };
	struct wire_sync s = { .exit = exit, .call = CALL_FSYNC };

	snprintf(s.comm, sizeof(s.comm), "%s", comm);
	for (uint32_t i = 0; i < n; i++)
		slice[i] = (struct walk_slice){ .ns = ns, .via = via + i, .dev = 3, .cause = CAUSE_LOCK };
	leaves_add(&l, &s, file, &r);
	free(slice);
}

/* One slice of each. */
static void add_each_cause(const char *comm)
{
	struct walk_slice slice[CAUSE_COUNT];
	const struct walk_result r = { .slice = slice, .n = CAUSE_COUNT };
	struct wire_sync s = { .exit = SEC, .call = CALL_FSYNC };

	snprintf(s.comm, sizeof(s.comm), "%s", comm);
	for (uint8_t i = 0; i < CAUSE_COUNT; i++)
		slice[i] = (struct walk_slice){ .ns = 7, .via = i, .dev = i, .cause = i };
	leaves_add(&l, &s, 1, &r);
}

/* Of all leaves of this command and file; what is 0 or NULL may be any. */
struct sum {
	uint32_t leaves;
	uint64_t count, ns;
};

static struct sum sum_of(const char *comm, uint32_t file)
{
	struct sum sum = { 0 };

	for (uint32_t i = 0; i < l.n; i++) {
		const struct leaf *p = &l.leaf[i];
		const struct leaf_owner *o = &l.owner[p->owner_cause >> 32];

		if ((comm && strcmp(o->comm, comm)) || (file != UINT32_MAX && o->file != file))
			continue;
		sum.leaves++;
		sum.count += p->each->count;
		sum.ns += p->each->sum;
	}
	return sum;
}

static bool has(const char *comm, uint32_t file, uint32_t leaves, uint64_t count, uint64_t ns)
{
	struct sum s = sum_of(comm, file);

	if (s.leaves == leaves && s.count == count && s.ns == ns)
		return true;
	diag("%s: %u leaves, %llu times, %llu ns", comm ? comm : "all", s.leaves, (unsigned long long)s.count,
	     (unsigned long long)s.ns);
	return false;
}

#define ANY UINT32_MAX

TEST(told_apart)
{
	struct walk_slice slice[] = {
		{ .ns = 5, .cause = CAUSE_CPU },	   { .ns = 6, .cause = CAUSE_RUNQ },
		{ .ns = 7, .cause = CAUSE_CPU, .via = 1 }, { .ns = 8, .cause = CAUSE_CPU, .dev = 1 },
		{ .ns = 50, .cause = CAUSE_CPU },	   { .ns = 70, .cause = CAUSE_CPU, .via = 1 }
	};
	const struct walk_result r = { .slice = slice, .n = 6 }, none = { .slice = slice };
	struct wire_sync s = { .exit = 1, .call = CALL_FSYNC, .comm = "a" };

	begin();
	leaves_add(&l, &s, 1, &none);
	ok(!l.n && !l.n_owners, "a call without slices has no leaf");
	leaves_add(&l, &s, 1, &r);
	ok(l.n == 4 && has("a", 1, 4, 6, 5 + 6 + 7 + 8 + 50 + 70), "by cause, through whom and device");
	leaves_add(&l, &s, 1, &r);
	ok(l.n == 4 && l.n_owners == 1 && has("a", 1, 4, 12, 292), "the same again");
	leaves_add(&l, &s, 2, &r);
	s.call = CALL_MSYNC;
	leaves_add(&l, &s, 2, &r);
	strcpy(s.comm, "b");
	leaves_add(&l, &s, 2, &r);
	ok(l.n == 16 && l.n_owners == 4 && has("b", 2, 4, 6, 146) && has("a", 2, 8, 12, 292), "by command, call and file");
	leaves_clear(&l);
	ok(!l.n && !l.n_owners && has(NULL, ANY, 0, 0, 0), "cleared, there are none");
	leaves_add(&l, &s, 2, &r);
	ok(has("b", 2, 4, 6, 146) && l.n == 4 && l.n_owners == 1, "and it begins anew");
}

/* Within the first two minutes nothing gives way. */
TEST(too_many)
{
	begin();
	add("a", 5, SEC, 0, LEAVES_MAX, 10);
	ok(l.n == LEAVES_MAX && has("a", 5, LEAVES_MAX, LEAVES_MAX, 10 * LEAVES_MAX), "8,192 leaves with their file");
	add("a", 5, SEC, LEAVES_MAX, 1, 10);
	ok(has("a", GROUPS_OTHER, 1, 1, 10), "then without");
	add("a", 5, SEC, LEAVES_MAX - 1, 1, 10);
	ok(has("a", 5, LEAVES_MAX, LEAVES_MAX + 1, 10 * LEAVES_MAX + 10), "those that are there are added to");
	add("a", 5, SEC, LEAVES_MAX + 1, LEAVES_END - LEAVES_MAX - 1, 10);
	ok(l.n == LEAVES_END && has("a", GROUPS_OTHER, LEAVES_END - LEAVES_MAX, LEAVES_END - LEAVES_MAX,
				    10 * (LEAVES_END - LEAVES_MAX)),
	   "9,216 in all");
	add("b", 5, SEC, 0, 3, 10);
	ok(l.n == LEAVES_END + 1 && has("(other)", GROUPS_OTHER, 1, 3, 30), "then only by cause");
	add("a", 5, SEC, LEAVES_END, 2, 10);
	add("a", 6, SEC, LEAVES_MAX, 1, 10);
	ok(has("(other)", GROUPS_OTHER, 1, 5, 50), "for all");
	ok(has("a", GROUPS_OTHER, LEAVES_END - LEAVES_MAX, LEAVES_END - LEAVES_MAX + 1, 10 * (LEAVES_END - LEAVES_MAX) + 10),
	   "unless there is a leaf without the file");
	ok(l.n_owners == 3, "who has no leaf is not remembered");
	add_each_cause("c");
	add_each_cause("d");
	ok(l.n == LEAVES_END + CAUSE_COUNT &&
		   has("(other)", GROUPS_OTHER, CAUSE_COUNT, 5 + 2 * CAUSE_COUNT, 50 + 2 * 7 * CAUSE_COUNT),
	   "each cause has room");
}

#define FULL (LEAVES_MAX - 256 + 1)

/* Two minutes later those that have no more than the mean, of those that were silent for a minute, give way. */
TEST(files_give_way)
{
	begin();
	add("a", 5, SEC, 0, 4095, 10);
	add("a", 6, SEC, 0, FULL - 4095, 10);
	add("c", 7, SEC, 0, 1, 10);
	ok(l.n == FULL + 1, "nothing gives way within two minutes");
	add("c", 7, 120 * SEC, 0, 1, 1000000);
	ok(has("a", GROUPS_OTHER, 4095, FULL, 10 * FULL) && has("c", GROUPS_OTHER, 1, 1, 10), "the files go first");
	ok(l.n == 4096 + 1 && has("c", 7, 1, 1, 1000000), "and with half of the room free nothing else");
	begin();
	add("a", 5, SEC, 0, 4095, 10);
	add("a", 6, SEC, 0, FULL - 4095, 10);
	add("b", 7, SEC, 0, 1, 1000000);
	add("c", 7, 61 * SEC, 0, 1, 7);
	add("d", 8, 120 * SEC, 0, 1, 8);
	ok(has("(other)", GROUPS_OTHER, 1, FULL, 10 * FULL), "then all but the cause");
	ok(has("b", 7, 1, 1, 1000000) && has("c", 7, 1, 1, 7) && has("d", 8, 1, 1, 8) && l.n == 4,
	   "those with much, or of late, stay as they are");
	add("d", 8, 121 * SEC, 0, FULL, 1);
	add("d", 8, 239 * SEC, FULL, 1, 1);
	ok(has("d", 8, FULL + 1, FULL + 2, FULL + 9), "two minutes have to pass");
}

/* Whoever has called within the last minute stays, whatever became of the file. */
TEST(seen_of_late)
{
	static const uint32_t same[] = { 0, 1, 2, 3, 4, 5, 6, 7 };

	begin();
	add("a", 5, SEC, 0, LEAVES_MAX, 10);
	add("b", 6, 100 * SEC, 0, 1, 10);
	add("c", 7, 121 * SEC, 0, 1, 10);
	ok(has("(other)", GROUPS_OTHER, 1, LEAVES_MAX, 10 * LEAVES_MAX) && has("b", GROUPS_OTHER, 1, 1, 10),
	   "one that had room only without its file");
	begin();
	add("a", 5, SEC, 0, FULL - 1, 10);
	add("b", 6, 100 * SEC, 0, 1, 10);
	leaves_move(&l, same);
	add("c", 7, 121 * SEC, 0, 1, 10);
	ok(has("b", 6, 1, 1, 10) && has("(other)", GROUPS_OTHER, 1, FULL - 1, 10 * (FULL - 1)),
	   "one whose files were moved since");
}

TEST(files_move)
{
	static const uint32_t to[] = { 0, 2, 0, 1 };

	begin();
	add("a", 1, SEC, 0, 2, 10);
	add("a", 2, SEC, 0, 2, 20);
	add("a", 3, SEC, 0, 3, 40);
	add("a", GROUPS_OTHER, SEC, 0, 1, 80);
	leaves_move(&l, to);
	ok(has("a", 2, 2, 2, 20) && has("a", 1, 3, 3, 120), "files that have another number");
	ok(has("a", GROUPS_OTHER, 2, 3, 120) && l.n == 7, "those that have gone are with the others");
	add("a", 1, SEC, 1, 1, 100);
	ok(has("a", 1, 3, 4, 220) && l.n == 7, "and they are found");
}

int main(void)
{
	leaves_init(&l);
	tests_run();
	leaves_free(&l);
	return tap_done();
}
