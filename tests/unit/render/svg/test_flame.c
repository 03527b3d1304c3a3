// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flame and the folded stacks of reports built by hand: sums, and names that would rather be markup. The picture of a run:
 * tests/golden/expected/sqlite/flame.svg.
 *
 * The golden directory is argv[1], GOLDEN_DIR, or tests/unit/golden. GOLDEN_UPDATE=1 rewrites it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "render/svg/svg.h"
#include "render/svg/flame_tree.h"
#include "util/mem.h"
#include "golden.h"
#include "tap.h"

#define MS 1000000ull

static const struct render_opts plain = { .width = 80 };

/* --- reports --- */

static struct report_leaf *leaf(struct report *r, const char *path, enum cause cause)
{
	struct report_leaf *l = grow((void **)&r->sync.leaf, &r->sync.n_leaves, sizeof(*l));

	l->path = xstrdup(path);
	l->cause = cause;
	r->have_sync = true;
	return l;
}

static void took(struct report *r, struct report_leaf *l, uint64_t ns)
{
	l->ns += ns;
	tally_add(&l->each, ns);
	r->sync.total_ns += ns;
	r->sync.ledger.ns[l->cause] += ns;
}

static void report_hostile(struct report *r)
{
	took(r,
	     leaf(r, "</title><script>alert(1)</script>;fsync;\"' onload=\"x\xff\xc3\x28\xed\xa0\x80;]]>&amp;;cpu",
		  CAUSE_CPU),
	     40 * MS);
	took(r, leaf(r, "\x1b[2J\x9b\r\n\t\x7f;fsync;\xef\xbf\xbe\xef\xbf\xbf\xe2\x80\xae\xc2\x85;lock", CAUSE_LOCK),
	     30 * MS);
	took(r, leaf(r, ";;;unknown", CAUSE_UNKNOWN), 20 * MS);
	r->sync.count = 3;
	strv_add(&r->command, xstrdup("<script>\x01--></style>"));
	r->have_verdict = true;
	r->verdict.sentence = xstrdup("<b>&\x02]]></b>");
}

static char *drawn(const struct report *r, bool alone)
{
	struct buf b = { 0 };

	if (alone)
		render_flame(r, &plain, &b);
	else
		flame_svg_element(r, &b);
	return b.data;
}

static char *folded(const struct report *r)
{
	struct buf b = { 0 };

	render_folded(r, &plain, &b);
	buf_str(&b, "");
	return b.data;
}

/* --- golden --- */

TEST(golden)
{
	FREED(report) struct report r = { 0 };
	char *s;

	report_hostile(&r);
	s = drawn(&r, false);
	golden("flame_hostile", "svg", s);
	free(s);
	s = folded(&r);
	golden("flame_hostile", "folded", s);
	free(s);
}

/* --- the tree --- */

static const struct flame_frame *frame(const struct flame_tree *t, const char *name, uint32_t depth)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->frame[i].depth == depth && !strcmp(t->frame[i].name, name))
			return &t->frame[i];
	}
	return NULL;
}

TEST(tree)
{
	const struct flame_frame *f;
	FREED(report) struct report r = { 0 };
	struct flame_tree t;

	took(&r, leaf(&r, "a;fsync;x;cpu", CAUSE_CPU), 10);
	took(&r, leaf(&r, "a b;fsync;x;cpu", CAUSE_CPU), 70);
	took(&r, leaf(&r, "a;fsync;cpu", CAUSE_CPU), 5);
	took(&r, leaf(&r, "a;fsync;cpu;cpu", CAUSE_CPU), 7);
	took(&r, leaf(&r, "a;fsync;x;cpu", CAUSE_CPU), 20);
	took(&r, leaf(&r, "a;fsync;flush.pre;flush.pre;sda", CAUSE_FLUSH_PRE), 8);
	took(&r, leaf(&r, "a;fsync;lock;lock", CAUSE_LOCK), 1);
	took(&r, leaf(&r, "a;fsync;cpu 1;lock", CAUSE_LOCK), 2);
	leaf(&r, "a;fsync;runq", CAUSE_RUNQ);
	flame_tree_make(&t, &r.sync, 0);
	ok(t.ns == 123 && t.n == 17, "a frame once below its parent, none of nothing");
	ok(!strcmp(t.frame[0].name, "a b") && !strcmp(t.frame[4].name, "a") && t.frame[4].start_ns == 70, "widest first");
	f = frame(&t, "cpu", 4);
	ok(frame(&t, "x", 3)->ns == 70 && f->ns == 70 && f->own_ns == 70, "names that only begin alike are two");
	for (f = t.frame; f->depth != 4 || f->ns != 30; f++)
		;
	ok(f->own_ns == 30 && f->each->count == 2 && f->each->sum == 30, "leaves of the same path are one");
	f = frame(&t, "cpu", 3);
	ok(f->ns == 12 && f->own_ns == 5 && f->each->count == 1 && f[1].ns == 7 && f[1].start_ns == f->start_ns + 5,
	   "a frame may end here and go on");
	ok(!frame(&t, "lock", 3)->caused && !frame(&t, "flush.pre", 3)->caused && frame(&t, "flush.pre", 4)->caused &&
		   frame(&t, "sda", 5)->device,
	   "a file with the name of a cause is none");
	flame_tree_free(&t);
	flame_tree_make(&t, &r.sync, 21);
	f = frame(&t, "4 smaller", 3);
	ok(f && f->ns == 23 && f->smaller == 4 && !f->each && frame(&t, "x", 3), "narrow siblings are put together");
	flame_tree_free(&t);
	flame_tree_make(&t, &r.sync, 60);
	ok(frame(&t, "a", 1), "but not a single one");
	flame_tree_free(&t);
}

/* --- cells --- */

static uint64_t sum_cells(const struct flame_cell *c, size_t n, uint64_t *count)
{
	uint64_t ns = 0;

	*count = 0;
	for (size_t i = 0; i < n; i++) {
		ns += c[i].ns;
		*count += c[i].count;
	}
	return ns;
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Against the true time of what is in each cell. */
static void test_cells_close(void)
{
	static uint64_t value[1000];
	struct flame_cell c[HEAT_ROWS];
	struct hist h = { 0 };
	uint64_t state = 1, count;
	bool close = true, counts = true;
	size_t n;

	for (unsigned int i = 0; i < 1000; i++) {
		value[i] = (next_random(&state) % 1000 + 1) << next_random(&state) % 25;
		hist_add(&h, value[i]);
	}
	n = flame_cells(&h, h.sum, 0, c);
	ok(n > 20 && sum_cells(c, n, &count) == h.sum && count == 1000, "cells add up, in time and in number");
	for (size_t i = 0; i < n; i++) {
		uint64_t in = 0, ns = 0;

		for (unsigned int v = 0; v < 1000; v++) {
			if (value[v] >= c[i].from && value[v] <= c[i].to) {
				ns += value[v];
				in++;
			}
		}
		counts = counts && in == c[i].count;
		close = close && c[i].ns * 100 >= ns * 97 && c[i].ns * 100 <= ns * 103 + 100;
	}
	ok(counts, "their numbers are exact");
	ok(close, "their times within 3 %%");
	n = flame_cells(&h, h.sum, h.sum / 50, c);
	for (size_t i = 0; i < n; i++)
		close = close && c[i].ns >= h.sum / 51 && (!i || c[i].from > c[i - 1].to);
	ok(n > 2 && close && sum_cells(c, n, &count) == h.sum && count == 1000, "narrow ones are joined");
}

TEST(cells)
{
	struct flame_cell c[HEAT_ROWS];
	struct hist h = { 0 };
	uint64_t count;
	size_t n;

	ok(!flame_cells(&h, 0, 0, c), "no contribution, no cell");
	hist_add(&h, 2000003);
	ok(flame_cells(&h, 2000003, 0, c) == 1 && c[0].ns == 2000003 && c[0].exact && c[0].from == 2000003 &&
		   c[0].to == 2000003,
	   "one contribution");
	hist_add(&h, 17);
	ok(flame_cells(&h, 2000020, 0, c) == 2 && c[0].ns == 17 && c[1].ns == 2000003 && c[0].exact, "two are exact");
	hist_add(&h, 0);
	hist_add(&h, UINT64_C(1) << 50);
	n = flame_cells(&h, h.sum, 0, c);
	ok(n == 3 && sum_cells(c, n, &count) == h.sum && count == 4 && c[0].count == 2 && c[0].from == 0 &&
		   c[2].to == UINT64_C(1) << 50 && !c[0].exact,
	   "from nothing to days");
	h = (struct hist){ 0 };
	hist_add(&h, 0);
	n = flame_cells(&h, 9, 0, c);
	ok(n == 1 && c[0].ns == 9, "what doesn't fit its histogram still adds up");
	test_cells_close();
}

/* --- too little and too much --- */

TEST(nothing)
{
	FREED(report) struct report r = { 0 };
	char *s = drawn(&r, true), *lines = folded(&r);

	ok(strstr(s, "Sync calls were not traced") && strstr(s, "</svg>") && !*lines, "not traced");
	free(s);
	free(lines);
	r.have_sync = true;
	s = drawn(&r, true);
	ok(strstr(s, "No sync calls in this run") && strstr(s, "</svg>") && !strstr(s, "0 ns"), "no calls");
	free(s);
	r.sync.count = 3;
	s = drawn(&r, false);
	ok(strstr(s, "not known where the time"), "no leaves");
	free(s);
}

TEST(bounded)
{
	FREED(report) struct report r = { 0 };
	uint64_t state = 1;
	char *s, name[320];

	for (unsigned int i = 0; i < 2500; i++) {
		int n = snprintf(name, sizeof(name), "c%u;fsync;%04u", i % 3, i);

		memset(name + n, '"', 200);
		snprintf(name + n + 200, sizeof(name) - (size_t)n - 200, ";flush.pre;sda");
		leaf(&r, name, CAUSE_FLUSH_PRE);
		for (unsigned int k = 0; k < 4; k++)
			took(&r, &r.sync.leaf[i], next_random(&state) % 9000000 + 1);
	}
	s = drawn(&r, false);
	ok(strlen(s) < 1u << 20 && strlen(s) > 500000, "a picture of 2,500 files stays below 1 MiB: %zu", strlen(s));
	ok(strstr(s, " smaller\n"), "and says what is put together");
	free(s);
}

TEST(folded)
{
	FREED(report) struct report r = { 0 };
	char *s;

	took(&r, leaf(&r, "b;sync;cpu", CAUSE_CPU), 3);
	took(&r, leaf(&r, "a;sync;\xff;cpu", CAUSE_CPU), 4);
	took(&r, leaf(&r, "b;sync;cpu", CAUSE_CPU), UINT64_C(1) << 60);
	leaf(&r, "c;sync;cpu", CAUSE_CPU);
	took(&r, leaf(&r, "a;sync;\xfe;cpu", CAUSE_CPU), 6);
	s = folded(&r);
	ok(!strcmp(s, "a;sync;\xef\xbf\xbd;cpu 10\nb;sync;cpu 1152921504606846979\n"),
	   "folded: sorted, each path once, nothing of nothing");
	free(s);
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	return tap_done();
}
