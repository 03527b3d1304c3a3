// SPDX-License-Identifier: GPL-2.0-only
/* Two barrier cards: golden/flush_profiles.txt has the sentences and every setting that can differ. */
#include <stdlib.h>
#include <string.h>

#include "analyse/verdict/plausibility.h"
#include "util/mem.h"
#include "situations.h"

static struct card_row *add(struct card *c, enum card_test test, uint64_t param, uint64_t flushes, uint64_t low,
			    uint64_t high)
{
	struct card_row *r = grow((void **)&c->row, &c->n_rows, sizeof(*r));

	r->test = test;
	r->param = param;
	for (uint64_t i = 0; i < flushes; i++)
		hist_add(&r->flush, i % 2 ? low : high);
	hist_add(&r->call, low);
	hist_add(&r->call, high);
	return r;
}

static void says(const struct card *a, const struct card *b, const char *what)
{
	FREED(card_comparison) struct card_comparison c;

	believe_compare(a, b, &c);
	SAY("%s:\n  %s\n", what, c.sentence);
	for (char **s = c.settings; s && *s; s++)
		SAY("  - %s\n", *s);
}

/* 100 flushes each: half of 10 and half of 30 have a mean of 20, and from 40 the interval of 100: 20 -+ 1.99. */
TEST(sentences)
{
	static const struct {
		uint64_t a, a_low, a_high, b, b_low, b_high;
		const char *what;
	} rows[] = {
		{ 100, 10, 10, 100, 25, 25, "slower" },
		{ 100, 25, 25, 100, 10, 10, "faster" },
		{ 100, 10, 30, 100, 40, 40, "slower by a range" },
		{ 100, 40, 40, 100, 10, 30, "faster by a range" },
		{ 100, 10, 10, 100, 11, 11, "slower by a nanosecond" },
		{ 100, 11, 11, 100, 10, 10, "faster by a nanosecond" },
		{ 100, 10000, 10000, 100, 25000, 25000, "slower by microseconds" },
		{ 100, 10000, 30000, 100, 11000, 31000, "microseconds" },
		{ 1, 10000, 10000, 100, 11000, 11000, "a single one of microseconds" },
		{ 100, 10, 30, 100, 11, 31, "not told" },
		{ 1, 10, 10, 100, 11, 11, "a single one" },
		{ 9, 10, 10, 0, 0, 0, "none to B" },
		{ 0, 0, 0, 9, 10, 10, "none to A" },
		{ 0, 0, 0, 0, 0, 0, "none" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct card a = { 0 }, b = { 0 };

		add(&a, CARD_DIRTY, 8192, 9, 1, 1);
		add(&b, CARD_DIRTY, 8192, 9, 2, 2);
		add(&a, CARD_FLUSH, 4096, 9, 1, 1);
		add(&b, CARD_FLUSH, 4096, 9, 2, 2);
		add(&a, CARD_DIRTY, 4096, rows[i].a, rows[i].a_low, rows[i].a_high);
		add(&b, CARD_DIRTY, 4096, rows[i].b, rows[i].b_low, rows[i].b_high);
		says(&a, &b, rows[i].what);
		card_free(&a);
		card_free(&b);
	}
}

TEST(rows)
{
	struct card a = { 0 }, b = { 0 };
	FREED(card_comparison) struct card_comparison c;

	add(&a, CARD_DIRTY, 8192, 9, 1, 1);
	add(&a, CARD_FLUSH, 4096, 9, 1, 1);
	add(&a, CARD_IDLE, 5, 9, 1, 1);
	memset(&a.row[2].call, 0, sizeof(a.row[2].call)); /* was not measured */
	add(&b, CARD_IDLE, 5, 9, 2, 2);
	add(&b, CARD_FLUSH, 8192, 9, 2, 2);
	add(&b, CARD_DIRTY, 8192, 9, 3, 3);
	believe_compare(&a, &b, &c);
	ok(c.n_rows == 1 && c.row[0].side[0] == &a.row[0] && c.row[0].side[1] == &b.row[2] &&
		   c.row[0].flush.difference == 2 && c.row[0].call.difference == 2,
	   "the test that both have");
	SAY("%s\n", c.sentence);
	ok(c.card[0] == &a && c.card[1] == &b && !c.settings, "nothing is known of either to differ");
	card_free(&a);
	card_free(&b);
}

TEST(first_row)
{
	struct card a = { 0 }, b = { 0 };

	add(&a, CARD_DIRTY, 4096, 0, 1, 1);
	add(&b, CARD_DIRTY, 4096, 0, 1, 1);
	says(&a, &b, "the only test is the one that tells");
	card_free(&a);
	card_free(&b);
}

TEST(settings)
{
	struct card a = { .model = (char *)"M",
			  .firmware = (char *)"1",
			  .kernel = (char *)"6.1",
			  .write_cache = (char *)"write back",
			  .scheduler = (char *)"none",
			  .fstype = (char *)"ext4",
			  .options = (char *)"rw",
			  .version = (char *)"1.0",
			  .have_fua = true,
			  .have_rotational = true,
			  .data_bytes = 4096 };
	struct card b = { .model = (char *)"N",
			  .firmware = (char *)"",
			  .kernel = (char *)"6.2",
			  .write_cache = (char *)"write through",
			  .scheduler = (char *)"bfq",
			  .fstype = (char *)"xfs",
			  .options = (char *)"ro",
			  .version = (char *)"1.1",
			  .have_fua = true,
			  .have_rotational = true,
			  .fua = true,
			  .rotational = true,
			  .data_bytes = 8192 };

	says(&a, &a, "nothing differs");
	says(&a, &b, "everything differs");
	a.have_fua = false;
	b.have_rotational = false;
	b.data_bytes = 4096;
	a.model = a.firmware = a.kernel = a.write_cache = NULL;
	b.scheduler = b.fstype = b.options = b.version = NULL;
	says(&a, &b, "what is not known of one doesn't differ");
	a.have_fua = b.have_rotational = true;
	a.have_rotational = b.have_fua = false;
	says(&a, &b, "nor of the other");
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	return situations_done("flush_profiles");
}
