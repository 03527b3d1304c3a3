// SPDX-License-Identifier: GPL-2.0-only
/* Is a flush believable, at the borders of what physics allows: golden/plausibility.txt has the grade, the sentence and the reasons. */
#include <stdlib.h>
#include <string.h>

#include "analyse/verdict/plausibility.h"
#include "util/mem.h"
#include "situations.h"

#define US  1000ull
#define MS  1000000ull
#define MIB (1ull << 20)

/* ---- cards ---- */

static struct card_row *add(struct card *c, enum card_test test, uint64_t param, uint64_t calls, uint64_t flush_ns)
{
	struct card_row *r = grow((void **)&c->row, &c->n_rows, sizeof(*r));

	r->test = test;
	r->param = param;
	for (uint64_t i = 0; i < calls; i++) {
		hist_add(&r->call, flush_ns + US);
		if (flush_ns)
			hist_add(&r->flush, flush_ns);
	}
	r->bytes = calls * param;
	r->wall_ns = 1000 * MS;
	return r;
}

static struct card card_of(const char *name, const char *model, bool rotating)
{
	struct card c = { .name = xstrdup(name), .model = xstrdup(model), .have_rotational = true, .rotational = rotating };

	c.write_cache = xstrdup("write back");
	return c;
}

static void judged(struct card *c, const char *what)
{
	believe(c);
	SAY("%s: %s\n  %s\n", what, card_grade_name(c->grade), c->sentence);
	for (char **s = c->reasons; s && *s; s++)
		SAY("  - %s\n", *s);
}

/* ---- what it is ---- */

TEST(medium)
{
	static const struct {
		const char *name, *model;
		bool have, rotational;
	} rows[] = {
		{ "sda", "ST4000", true, true },	{ "sda", "ST4000", false, true },
		{ "sda", "ST4000", true, false },	{ NULL, NULL, true, true },
		{ "loop0", NULL, true, true },		{ "ublkb3", NULL, true, true },
		{ "sda", "qemu harddisk", true, true }, { "sda", "Amazon Elastic Block Store", true, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		FREED(card) struct card c = card_of(rows[i].name, rows[i].model, rows[i].rotational);

		c.have_rotational = rows[i].have;
		believe(&c);
		SAY("%s, %s, %s: %s\n", c.name ? c.name : "no name", c.model ? c.model : "no model",
		    !c.have_rotational ? "not known" :
		    c.rotational       ? "rotating" :
					 "not rotating",
		    card_medium_name(c.medium));
	}
}

/* ---- grades ---- */

static const struct {
	const char *name;
	bool rotating;
	uint64_t flush_ns;
	const char *what;
} grades[] = {
	{ "sda", false, 100 * US, "flash, the time of a page" },
	{ "sda", false, 100 * US - 100, "less" },
	{ "sda", true, 500 * US, "an eighth of a rotation" },
	{ "sda", true, 500 * US - 1000, "less" },
	{ "vda", true, 100 * US, "virtual, which calls itself rotating" },
	{ "vda", false, 100 * US - 100, "less" },
};

TEST(grades)
{
	for (size_t i = 0; i < sizeof(grades) / sizeof(grades[0]); i++) {
		FREED(card) struct card c = card_of(grades[i].name, "M", grades[i].rotating);

		add(&c, CARD_DIRTY, 4096, 5, grades[i].flush_ns);
		judged(&c, grades[i].what);
	}
}

TEST(nameless)
{
	FREED(card) struct card c = card_of(NULL, "QEMU", false);

	add(&c, CARD_DIRTY, 4096, 5, MS);
	judged(&c, "one without a name");
	free(c.write_cache);
	c.write_cache = xstrdup("write through");
	memset(&c.row[0].flush, 0, sizeof(c.row[0].flush));
	judged(&c, "one without a name or a flush");
}

/* The median of nine: five are quick. */
TEST(median)
{
	FREED(card) struct card c = card_of("sda", "M", false);
	struct card_row *r = add(&c, CARD_DIRTY, 4096, 5, 50 * US);

	for (int i = 0; i < 4; i++)
		hist_add(&r->flush, 9 * MS);
	judged(&c, "the median counts");
	for (int i = 0; i < 2; i++)
		hist_add(&r->flush, 9 * MS);
	judged(&c, "of eleven five are too few");
}

/* ---- how much is written ---- */

TEST(rate)
{
	FREED(card) struct card c = card_of("sda", "M", true);
	struct card_row *r;

	add(&c, CARD_DIRTY, 4096, 5, 5 * MS);
	r = add(&c, CARD_DIRTY, 8192, 1, 5 * MS);
	r->bytes = 600000000;
	judged(&c, "600 MB a second");
	r->bytes++;
	judged(&c, "a byte more");
	r->wall_ns *= 2;
	judged(&c, "in two seconds");
	r->wall_ns = 0;
	judged(&c, "in a time that is not known");
}

TEST(growth)
{
	static const struct {
		uint64_t flushes, ns;
		const char *what;
	} rows[] = {
		{ 1, 9 * MS, "a single flush says nothing" },
		{ 2, 7500 * US, "half more is no longer" },
		{ 2, 7500 * US + 1000, "more than half more is" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		FREED(card) struct card c = card_of("sda", "M", true);

		add(&c, CARD_DIRTY, 256 * MIB, rows[i].flushes, rows[i].ns)->bytes = 1;
		add(&c, CARD_DIRTY, 4096, 5, 5 * MS);
		add(&c, CARD_DIRTY, 128 * MIB, 5, 50 * MS);
		add(&c, CARD_DIRTY, 512 * MIB, 0, 0);	    /* was not measured */
		add(&c, CARD_FLUSH, 512 * MIB, 5, 50 * MS); /* another test */
		judged(&c, rows[i].what);
	}
}

TEST(growth_of_flash)
{
	FREED(card) struct card c = card_of("sda", "M", false);

	add(&c, CARD_DIRTY, 4096, 5, 200 * US);
	add(&c, CARD_DIRTY, 256 * MIB, 2, 250 * US);
	judged(&c, "microseconds");
}

/* Of flushes that nobody had to wait for it is known that they took less than the call. */
TEST(unwaited)
{
	struct card c = card_of("sda", "M", false);
	struct card_row *r = add(&c, CARD_DIRTY, 4096, 5, MS);

	memset(&r->flush, 0, sizeof(r->flush));
	r->unwaited = 5;
	judged(&c, "calls of a millisecond");
	r = add(&c, CARD_DIRTY, MIB, 2, 1400 * US);
	judged(&c, "that it grows a little tells nothing");
	hist_add(&r->flush, 3 * MS);
	hist_add(&r->flush, 3 * MS);
	hist_add(&r->flush, 3 * MS);
	ok(c.grade == CARD_UNKNOWN, "an unknown grade says nothing of growth");
	c.row[0].unwaited = 4;
	judged(&c, "four");
	card_free(&c);
	c = card_of("sda", "M", false);
	r = add(&c, CARD_DIRTY, 4096, 5, 50 * US);
	memset(&r->flush, 0, sizeof(r->flush));
	r->unwaited = 5;
	judged(&c, "quick calls");
	add(&c, CARD_DIRTY, MIB, 2, 76500);
	judged(&c, "half more than at most that tells nothing");
	add(&c, CARD_DIRTY, 2 * MIB, 2, 77500);
	judged(&c, "more does");
	card_free(&c);
}

/* ---- none ---- */

TEST(none)
{
	FREED(card) struct card c = card_of("sda", "M", false);

	add(&c, CARD_DIRTY, 4096, 4, 0);
	judged(&c, "four calls");
	add(&c, CARD_FUA, 4096, 9, 0);
	add(&c, CARD_DIRTY, 0, 9, 0);
	judged(&c, "and others that need no flush");
	add(&c, CARD_BUSY, 0, 1, 0);
	judged(&c, "five calls without a flush");
	c.row[3].unwaited = 1;
	judged(&c, "one that nobody waited for");
	c.row[3].unwaited = 0;
	hist_add(&c.row[0].flush, MS);
	judged(&c, "one that somebody waited for");
	c.row[0].unwaited = 1;
	judged(&c, "one of each");
}

TEST(discards)
{
	struct card c = card_of("sda", "M", false);
	struct card_row *r;

	add(&c, CARD_DIRTY, 4096, 4, 0);
	r = add(&c, CARD_DISCARD, MIB, 1, MS);
	judged(&c, "none arrived");
	r->missing = xstrdup("EPERM");
	judged(&c, "and why");
	c.discards = 1;
	judged(&c, "one arrived");
	card_free(&c);
	c = card_of("sda", "M", false);
	add(&c, CARD_DISCARD, MIB, 4, MS);
	judged(&c, "nothing but discards");
	card_free(&c);
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	return situations_done("plausibility");
}
