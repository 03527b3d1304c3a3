// SPDX-License-Identifier: GPL-2.0-only
/* Two barrier cards: the whole sentence, which tests they have in common, and every setting that can differ. */
#include <stdlib.h>
#include <string.h>

#include "analyse/verdict/plausibility.h"
#include "util/buf.h"
#include "util/mem.h"
#include "tap.h"

static void is_text(const char *have, const char *want, const char *what)
{
	if (!ok(have && !strcmp(have, want), "%s", what)) {
		diag("is   %s", have ? have : "NULL");
		diag("want %s", want);
	}
}

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

static void says(const struct card *a, const struct card *b, const char *want, const char *what)
{
	struct card_comparison c;

	believe_compare(a, b, &c);
	is_text(c.sentence, want, what);
	card_comparison_free(&c);
}

#define LONG "A flush after 4 KiB "

/* 100 flushes each: half of 10 and half of 30 have a mean of 20, and from 40 the interval of 100: 20 -+ 1.99. */
static void test_sentences(void)
{
	static const struct {
		uint64_t a, a_low, a_high, b, b_low, b_high;
		const char *want, *what;
	} rows[] = {
		{ 100, 10, 10, 100, 25, 25,
		  LONG "is 2.50 times slower in B: 25 ns instead of 10 ns on average (95 % sure of 15 ns to 15 ns more).",
		  "slower" },
		{ 100, 25, 25, 100, 10, 10,
		  LONG "is 2.50 times faster in B: 10 ns instead of 25 ns on average (95 % sure of 15 ns to 15 ns less).",
		  "faster" },
		{ 100, 10, 30, 100, 40, 40,
		  LONG "is 2.00 times slower in B: 40 ns instead of 20 ns on average (95 % sure of 18 ns to 21 ns more).",
		  "slower by a range" },
		{ 100, 40, 40, 100, 10, 30,
		  LONG "is 2.00 times faster in B: 20 ns instead of 40 ns on average (95 % sure of 18 ns to 21 ns less).",
		  "faster by a range" },
		{ 100, 10, 10, 100, 11, 11,
		  LONG "is 1.10 times slower in B: 11 ns instead of 10 ns on average (95 % sure of 1 ns to 1 ns more).",
		  "slower by a nanosecond" },
		{ 100, 11, 11, 100, 10, 10,
		  LONG "is 1.10 times faster in B: 10 ns instead of 11 ns on average (95 % sure of 1 ns to 1 ns less).",
		  "faster by a nanosecond" },
		{ 100, 10000, 10000, 100, 25000, 25000,
		  LONG "is 2.50 times slower in B: 25.0 µs instead of 10.0 µs on average (95 % sure of 15.0 µs to 15.0 µs more).",
		  "slower by microseconds" },
		{ 100, 10000, 30000, 100, 11000, 31000,
		  LONG "takes as long in B as in A, as far as can be told: 21.0 µs and 20.0 µs on average.",
		  "microseconds" },
		{ 1, 10000, 10000, 100, 11000, 11000,
		  LONG "took 11.0 µs in B and 10.0 µs in A on average, but a single flush says nothing about chance.",
		  "a single one of microseconds" },
		{ 100, 10, 30, 100, 11, 31,
		  LONG "takes as long in B as in A, as far as can be told: 21 ns and 20 ns on average.", "not told" },
		{ 1, 10, 10, 100, 11, 11,
		  LONG "took 11 ns in B and 10 ns in A on average, but a single flush says nothing about chance.",
		  "a single one" },
		{ 9, 10, 10, 0, 0, 0, "No flush was sent to B, but to A: what their syncs promise is not the same.",
		  "none to B" },
		{ 0, 0, 0, 9, 10, 10, "No flush was sent to A, but to B: what their syncs promise is not the same.",
		  "none to A" },
		{ 0, 0, 0, 0, 0, 0, "No flush was sent to either.", "none" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct card a = { 0 }, b = { 0 };

		add(&a, CARD_DIRTY, 8192, 9, 1, 1);
		add(&b, CARD_DIRTY, 8192, 9, 2, 2);
		add(&a, CARD_FLUSH, 4096, 9, 1, 1);
		add(&b, CARD_FLUSH, 4096, 9, 2, 2);
		add(&a, CARD_DIRTY, 4096, rows[i].a, rows[i].a_low, rows[i].a_high);
		add(&b, CARD_DIRTY, 4096, rows[i].b, rows[i].b_low, rows[i].b_high);
		says(&a, &b, rows[i].want, rows[i].what);
		card_free(&a);
		card_free(&b);
	}
}

static void test_rows(void)
{
	struct card a = { 0 }, b = { 0 };
	struct card_comparison c;

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
	is_text(c.sentence, "These cards have no test in common that tells the cost of a flush.",
		"which is not that of 4 KiB");
	ok(c.card[0] == &a && c.card[1] == &b && !c.settings, "nothing is known of either to differ");
	card_comparison_free(&c);
	card_free(&a);
	card_free(&b);
}

static void test_first_row(void)
{
	struct card a = { 0 }, b = { 0 };

	add(&a, CARD_DIRTY, 4096, 0, 1, 1);
	add(&b, CARD_DIRTY, 4096, 0, 1, 1);
	says(&a, &b, "No flush was sent to either.", "the only test is the one that tells");
	card_free(&a);
	card_free(&b);
}

static void settings_are(const struct card *a, const struct card *b, const char *want, const char *what)
{
	struct card_comparison c;
	struct buf lines = { 0 };

	believe_compare(a, b, &c);
	for (char **s = c.settings; s && *s; s++)
		buf_printf(&lines, "%s%s", lines.len ? "; " : "", *s);
	is_text(lines.len ? lines.data : "", want, what);
	buf_free(&lines);
	card_comparison_free(&c);
}

static void test_settings(void)
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

	settings_are(&a, &a, "", "nothing differs");
	settings_are(&a, &b,
		     "model: M and N; firmware: 1 and none; kernel: 6.1 and 6.2; cache: write back and write through; FUA: no "
		     "and yes; rotating: no and "
		     "yes; scheduler: none and bfq; file system: ext4 and xfs; mount options: rw and ro; data written to: 4 "
		     "KiB and 8 KiB; "
		     "barriertrace: 1.0 and 1.1",
		     "everything differs");
	a.have_fua = false;
	b.have_rotational = false;
	b.data_bytes = 4096;
	a.model = a.firmware = a.kernel = a.write_cache = NULL;
	b.scheduler = b.fstype = b.options = b.version = NULL;
	settings_are(&a, &b, "", "what is not known of one doesn't differ");
	a.have_fua = b.have_rotational = true;
	a.have_rotational = b.have_fua = false;
	settings_are(&a, &b, "", "nor of the other");
}

int main(void)
{
	test_sentences();
	test_rows();
	test_first_row();
	test_settings();
	return tap_done();
}
