// SPDX-License-Identifier: GPL-2.0-only
/* What a file may take, and that its JSON can be refused at any byte of it. */
#include <string.h>

#include "recording/bounded_json.h"
#include "tap.h"

#define MIB (1ull << 20)

static void check_most(void)
{
	struct budget b = { 0 };

	ok(budget_left(&b) == BUDGET_BASE - BUDGET_OWN, "an empty file has the base");
	b.length = MIB;
	ok(budget_left(&b) == BUDGET_BASE - BUDGET_OWN + BUDGET_RATIO * MIB, "and each byte of it a share");
	b.length = 1ull << 40;
	ok(budget_left(&b) == BUDGET_MOST - BUDGET_OWN, "up to the most");
	b.huge = true;
	ok(budget_left(&b) > BUDGET_RATIO * b.length, "unless it may be huge");
	ok(budget_take(NULL, UINT64_MAX), "no budget has no end");
}

static void check_take(void)
{
	struct budget b = { 0 };
	uint64_t all = budget_left(&b);

	ok(!budget_take(&b, all + 1) && b.used == 0, "more than there is is not taken");
	ok(budget_take(&b, all) && !budget_take(&b, 1), "all can be");
	budget_give(&b, 10);
	ok(budget_take(&b, 10) && budget_kept(&b), "what was given back, too");
	b.used = all + 5;
	ok(!budget_left(&b) && !budget_take(&b, 1) && budget_take(&b, 0), "beyond it there is nothing left");
	budget_give(NULL, 5);
	b.left_out = 1;
	ok(!budget_kept(&b), "something may be left out");
	b = (struct budget){ .surplus = 1 };
	ok(!budget_kept(&b), "or be more than can be");
}

static void check_note(void)
{
	struct budget b = { .left_out = 1, .surplus = 2 };
	struct buf note = { 0 };

	buf_str(&note, "damaged");
	budget_note(&b, &note);
	ok(!strcmp(note.data, "damaged; left out: 1 entry for which more than 64 MiB of memory would be needed, "
			      "too much for a file of this size; left out: 2 entries, more than a run can have"),
	   "what is left out is said: %s", note.data);
	buf_clear(&note);
	b = (struct budget){ .length = 1ull << 40, .left_out = 5 };
	budget_note(&b, &note);
	ok(!strcmp(note.data, "left out: 5 entries for which more than 1 GiB of memory would be needed, which takes --huge"),
	   "and what helps: %s", note.data);
	buf_clear(&note);
	b.huge = true;
	budget_reason(&b, &note);
	ok(strstr(note.data, "more than 16.0 TiB of memory would be needed, too much"), "where it is huge nothing: %s",
	   note.data);
	for (uint64_t more = 0; more < 2; more++) {
		b = (struct budget){ .length = (BUDGET_MOST - BUDGET_BASE) / BUDGET_RATIO + more };
		buf_clear(&note);
		budget_reason(&b, &note);
		ok(strstr(note.data, more ? "1 GiB of memory would be needed, which takes --huge" :
					    "1 GiB of memory would be needed, too much for a file of this size"),
		   "of %llu bytes: %s", (unsigned long long)b.length, note.data);
	}
	buf_free(&note);
}

/* With less than it takes a document is refused, wherever that is seen: in a table, a node, or in the middle of a token. */
static void check_refusals(const char *text, size_t n, uint64_t step, const char *what)
{
	struct budget b = { 0 };
	uint64_t bytes = 0, whole;
	size_t refusals = 0, tries = 0;
	bool refused, good = true;
	json_t *j = bounded_json(text, n, 0, &b, &bytes, &refused, NULL);

	ok(j && !refused && bytes && b.used == bytes, "%s: takes %llu bytes", what, (unsigned long long)bytes);
	json_decref(j);
	whole = 2 * bytes + 8 * n;
	for (uint64_t room = 0; room < whole; room += step, tries++) {
		b = (struct budget){ 0 };
		b.used = budget_left(&b) - room;
		j = bounded_json(text, n, 0, &b, &bytes, &refused, NULL);
		good = good && (!j == refused) && (refused ? b.left_out == 1 : bytes <= room);
		refusals += refused;
		json_decref(j);
	}
	ok(good && refusals > 100 && refusals < tries, "%s: is refused with less", what);
}

static void check_json(void)
{
	static const char small[] =
		"{\"a\": [1, 2.5, null, true, \"a string that has to grow\\u00e4\", [], {}, [[[{\"b\": \"c\"}]]]], "
		"\"k1\": 1, \"k2\": 2, \"k3\": 3, \"k4\": 4, \"k5\": 5, \"k6\": 6, \"k7\": 7, \"k8\": 8, \"k9\": 1431655765.3333333}";
	struct budget b = { 0 };
	struct buf long_one = { 0 };
	uint64_t bytes;
	bool refused;
	json_t *j;

	check_refusals(small, strlen(small), 1, "a small document");
	buf_str(&long_one, "[");
	for (int i = 0; i < 400; i++)
		buf_printf(&long_one, "%d.%0*d, ", i, 1 + i / 4, 1);
	for (int i = 0; i < 10; i++)
		buf_printf(&long_one, "%.*f, \"%0*d\", {\"%0*d\": 1}, ", i * 100, 1 / 3.0, i * 2000, 1, i * 3000, 1);
	buf_str(&long_one, "[]]");
	check_refusals(long_one.data, long_one.len, 1999, "long tokens");
	buf_free(&long_one);
	j = bounded_json("{", 1, 0, &b, &bytes, &refused, NULL);
	ok(!j && !refused && !bytes, "what is no document is not refused");
}

int main(void)
{
	check_most();
	check_take();
	check_note();
	check_json();
	return tap_done();
}
