// SPDX-License-Identifier: GPL-2.0-only
/* Is a flush believable: the whole sentence and every reason, at the borders of what physics allows. */
#include <stdlib.h>
#include <string.h>

#include "analyse/verdict/plausibility.h"
#include "util/buf.h"
#include "util/mem.h"
#include "tap.h"

#define US  1000ull
#define MS  1000000ull
#define MIB (1ull << 20)

static void is_text(const char *have, const char *want, const char *what)
{
	if (!ok(have && !strcmp(have, want), "%s", what)) {
		diag("is   %s", have ? have : "NULL");
		diag("want %s", want);
	}
}

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

/* The sentence, and the reasons a line each; NULL: not asked about. */
static void judged(struct card *c, enum card_grade grade, const char *sentence, const char *reasons, const char *what)
{
	struct buf b = { 0 };

	believe(c);
	ok(c->grade == grade, "%s: %s", what, card_grade_name(grade));
	if (sentence)
		is_text(c->sentence, sentence, what);
	for (char **s = c->reasons; s && *s; s++)
		buf_printf(&b, "%s%s", b.len ? "\n" : "", *s);
	if (reasons)
		is_text(b.len ? b.data : "", reasons, what);
	buf_free(&b);
}

/* ---- what it is ---- */

static void test_medium(void)
{
	static const struct {
		const char *name, *model;
		bool have, rotational;
		enum card_medium medium;
	} rows[] = {
		{ "sda", "ST4000", true, true, CARD_MEDIUM_ROTATING },
		{ "sda", "ST4000", false, true, CARD_MEDIUM_FLASH },
		{ "sda", "ST4000", true, false, CARD_MEDIUM_FLASH },
		{ NULL, NULL, true, true, CARD_MEDIUM_ROTATING },
		{ "loop0", NULL, true, true, CARD_MEDIUM_VIRTUAL },
		{ "ublkb3", NULL, true, true, CARD_MEDIUM_VIRTUAL },
		{ "sda", "qemu harddisk", true, true, CARD_MEDIUM_VIRTUAL },
		{ "sda", "Amazon Elastic Block Store", true, true, CARD_MEDIUM_VIRTUAL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct card c = card_of(rows[i].name, rows[i].model, rows[i].rotational);

		c.have_rotational = rows[i].have;
		believe(&c);
		ok(c.medium == rows[i].medium, "%s, %s is %s", rows[i].name ? rows[i].name : "no name",
		   rows[i].model ? rows[i].model : "no model", card_medium_name(rows[i].medium));
		card_free(&c);
	}
}

/* ---- grades ---- */

#define PROGRAM "To program a page of flash takes 100 µs or more; its flush after 4 KiB takes "
#define BELOW \
	"vda is not a medium itself: what its flush means is decided by what is below it (a host, another file system, " \
	"memory), which cannot " \
	"be seen from here."

static const struct {
	const char *name;
	bool rotating;
	uint64_t flush_ns;
	enum card_grade grade;
	const char *sentence, *reasons;
} grades[] = {
	{ "sda", false, 100 * US, CARD_BELIEVABLE, "A flush of sda takes 100 µs, which is believable.", PROGRAM "100 µs." },
	{ "sda", false, 100 * US - 100, CARD_DOUBTFUL,
	  "A flush of sda takes 99.9 µs, which is believable only if its cache survives a power cut.",
	  "A flush after 4 KiB takes 99.9 µs, and to program a page of flash takes 100 µs or more. That is right for a drive "
	  "whose cache survives "
	  "a power cut (capacitors, a battery) and yet is called volatile; a consumer's SSD that does so keeps nothing." },
	{ "sda", true, 500 * US, CARD_BELIEVABLE, "A flush of sda takes 500 µs, which is believable.",
	  "The place of a write comes by once per rotation, of 4 ms or more; its flush after 4 KiB takes 500 µs." },
	{ "sda", true, 500 * US - 1000, CARD_IMPOSSIBLE,
	  "The flush of sda is not believable: it answers before the data can be on the medium.",
	  "A flush after 4 KiB takes 499 µs, less than an eighth of a rotation of the fastest disk there was (4 ms): the place "
	  "cannot have come "
	  "by." },
	{ "vda", true, 100 * US, CARD_BELIEVABLE,
	  "A flush of vda takes 100 µs, which is believable as far as it can be seen from here.", BELOW },
	{ "vda", false, 100 * US - 100, CARD_DOUBTFUL,
	  "A flush of vda takes 99.9 µs, which is believable only if what is below it survives a power cut.",
	  BELOW "\nA flush after 4 KiB takes 99.9 µs: in that time no flash and no rotating disk has written anything. Below "
		"it is a cache that "
		"survives a power cut, or a host that ignores flushes (cache=unsafe)." },
};

static void test_grades(void)
{
	for (size_t i = 0; i < sizeof(grades) / sizeof(grades[0]); i++) {
		struct card c = card_of(grades[i].name, "M", grades[i].rotating);

		add(&c, CARD_DIRTY, 4096, 5, grades[i].flush_ns);
		judged(&c, grades[i].grade, grades[i].sentence, grades[i].reasons, "a grade");
		card_free(&c);
	}
}

static void test_nameless(void)
{
	struct card c = card_of(NULL, "QEMU", false);

	add(&c, CARD_DIRTY, 4096, 5, MS);
	judged(&c, CARD_BELIEVABLE,
	       "A flush of this disk takes 1.00 ms, which is believable as far as it can be seen from here.",
	       "The disk is not a medium itself: what its flush means is decided by what is below it (a host, another file "
	       "system, memory), which "
	       "cannot be seen from here.",
	       "one without a name");
	free(c.write_cache);
	c.write_cache = xstrdup("write through");
	memset(&c.row[0].flush, 0, sizeof(c.row[0].flush));
	judged(&c, CARD_NO_FLUSH,
	       "No flush is sent to this disk, because the kernel takes it for a disk without a volatile cache; whether it has "
	       "one was not seen.",
	       NULL, "one without a name or a flush");
	ok(strstr(c.reasons[0], "`barriertrace doctor DISK` asks"), "may be asked by its name");
	card_free(&c);
}

/* The median of nine: five are quick. */
static void test_median(void)
{
	struct card c = card_of("sda", "M", false);
	struct card_row *r = add(&c, CARD_DIRTY, 4096, 5, 50 * US);

	for (int i = 0; i < 4; i++)
		hist_add(&r->flush, 9 * MS);
	judged(&c, CARD_DOUBTFUL, NULL, NULL, "the median counts");
	for (int i = 0; i < 2; i++)
		hist_add(&r->flush, 9 * MS);
	judged(&c, CARD_BELIEVABLE, NULL, NULL, "of eleven five are too few");
	card_free(&c);
}

/* ---- how much is written ---- */

#define ROTATION \
	"The place of a write comes by once per rotation, of 4 ms or more; its flush after 4 KiB takes 5.00 ms."
#define NO_LONGER ": the device writes out as it goes, or what the flush does has nothing to do with the data."

static void test_rate(void)
{
	struct card c = card_of("sda", "M", true);
	struct card_row *r;

	add(&c, CARD_DIRTY, 4096, 5, 5 * MS);
	r = add(&c, CARD_DIRTY, 8192, 1, 5 * MS);
	r->bytes = 600000000;
	judged(&c, CARD_BELIEVABLE, NULL, ROTATION, "600 MB a second");
	r->bytes++;
	judged(&c, CARD_IMPOSSIBLE, NULL,
	       ROTATION "\n572 MiB per second were written and flushed; no rotating disk takes more than 600 MB for good.",
	       "a byte more");
	r->wall_ns *= 2;
	judged(&c, CARD_BELIEVABLE, NULL, ROTATION, "in two seconds");
	r->wall_ns = 0;
	judged(&c, CARD_BELIEVABLE, NULL, ROTATION, "in a time that is not known");
	card_free(&c);
}

static void test_growth(void)
{
	static const struct {
		uint64_t flushes, ns;
		const char *reasons, *what;
	} rows[] = {
		{ 1, 9 * MS, ROTATION, "a single flush says nothing" },
		{ 2, 7500 * US, ROTATION "\nAfter 256 MiB were written it takes no longer (7.50 ms)" NO_LONGER,
		  "half more is no longer" },
		{ 2, 7500 * US + 1000,
		  ROTATION "\nAfter 256 MiB were written it takes 7.50 ms: there is more to write out, and it does.",
		  "more than half more is" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct card c = card_of("sda", "M", true);

		add(&c, CARD_DIRTY, 256 * MIB, rows[i].flushes, rows[i].ns)->bytes = 1;
		add(&c, CARD_DIRTY, 4096, 5, 5 * MS);
		add(&c, CARD_DIRTY, 128 * MIB, 5, 50 * MS);
		add(&c, CARD_DIRTY, 512 * MIB, 0, 0);	    /* was not measured */
		add(&c, CARD_FLUSH, 512 * MIB, 5, 50 * MS); /* another test */
		judged(&c, CARD_BELIEVABLE, NULL, rows[i].reasons, rows[i].what);
		card_free(&c);
	}
}

static void test_growth_of_flash(void)
{
	struct card c = card_of("sda", "M", false);

	add(&c, CARD_DIRTY, 4096, 5, 200 * US);
	add(&c, CARD_DIRTY, 256 * MIB, 2, 250 * US);
	judged(&c, CARD_BELIEVABLE, NULL,
	       PROGRAM "200 µs.\nAfter 256 MiB were written it takes no longer (250 µs)" NO_LONGER, "microseconds");
	card_free(&c);
}

/* Of flushes that nobody had to wait for it is known that they took less than the call. */
static void test_unwaited(void)
{
	struct card c = card_of("sda", "M", false);
	struct card_row *r = add(&c, CARD_DIRTY, 4096, 5, MS);

	memset(&r->flush, 0, sizeof(r->flush));
	r->unwaited = 5;
	judged(&c, CARD_UNKNOWN, "Whether the flush of sda is believable is not known.",
	       PROGRAM "less than 1.00 ms.\nIts flushes were over before the calls had to wait for them, and the calls take so long "
		       "for other reasons.",
	       "calls of a millisecond");
	r = add(&c, CARD_DIRTY, MIB, 2, 1400 * US);
	judged(&c, CARD_UNKNOWN, NULL,
	       PROGRAM "less than 1.00 ms.\nIts flushes were over before the calls had to wait for them, and the calls take so long "
		       "for other reasons.",
	       "that it grows a little tells nothing");
	hist_add(&r->flush, 3 * MS);
	hist_add(&r->flush, 3 * MS);
	hist_add(&r->flush, 3 * MS);
	ok(c.grade == CARD_UNKNOWN, "an unknown grade says nothing of growth");
	c.row[0].unwaited = 4;
	judged(&c, CARD_UNKNOWN, NULL, "Too few flushes were seen to judge: 4.", "four");
	card_free(&c);
	c = card_of("sda", "M", false);
	r = add(&c, CARD_DIRTY, 4096, 5, 50 * US);
	memset(&r->flush, 0, sizeof(r->flush));
	r->unwaited = 5;
	judged(&c, CARD_DOUBTFUL,
	       "A flush of sda takes less than 51.0 µs, which is believable only if its cache survives a power cut.",
	       NULL, "quick calls");
	add(&c, CARD_DIRTY, MIB, 2, 76500);
	believe(&c);
	ok(strv_len(c.reasons) == 1, "half more than at most that tells nothing");
	add(&c, CARD_DIRTY, 2 * MIB, 2, 77500);
	believe(&c);
	ok(strv_len(c.reasons) == 2 && strstr(c.reasons[1], "After 2 MiB were written it takes 77.5 µs: there is more"),
	   "more does: %s", strv_len(c.reasons) == 2 ? c.reasons[1] : "nothing");
	card_free(&c);
}

/* ---- none ---- */

#define OFF \
	"No flush reached the disk although it has a volatile cache: barriers are off in the file system, or below it."

static void test_none(void)
{
	struct card c = card_of("sda", "M", false);

	add(&c, CARD_DIRTY, 4096, 4, 0);
	judged(&c, CARD_UNKNOWN, NULL, "Too few flushes were seen to judge: none.", "four calls");
	add(&c, CARD_FUA, 4096, 9, 0);
	add(&c, CARD_DIRTY, 0, 9, 0);
	judged(&c, CARD_UNKNOWN, NULL, "Too few flushes were seen to judge: none.", "and others that need no flush");
	add(&c, CARD_BUSY, 0, 1, 0);
	judged(&c, CARD_NO_FLUSH,
	       "No flush is sent to sda: what an fsync promises rests on a cache that survives a power cut.", OFF,
	       "five calls without a flush");
	c.row[3].unwaited = 1;
	judged(&c, CARD_UNKNOWN, NULL, "Too few flushes were seen to judge: none.", "one that nobody waited for");
	c.row[3].unwaited = 0;
	hist_add(&c.row[0].flush, MS);
	judged(&c, CARD_UNKNOWN, NULL, "Too few flushes were seen to judge: 1.", "one that somebody waited for");
	c.row[0].unwaited = 1;
	judged(&c, CARD_UNKNOWN, NULL, "Too few flushes were seen to judge: 2.", "one of each");
	card_free(&c);
}

static void test_discards(void)
{
	struct card c = card_of("sda", "M", false);
	struct card_row *r;

	add(&c, CARD_DIRTY, 4096, 4, 0);
	r = add(&c, CARD_DISCARD, MIB, 1, MS);
#define FEW "Too few flushes were seen to judge: none."
	judged(&c, CARD_UNKNOWN, NULL, FEW "\nNo discard reached the disk: the row \"discard\" shows frees alone.",
	       "none arrived");
	r->missing = xstrdup("EPERM");
	judged(&c, CARD_UNKNOWN, NULL,
	       FEW "\nNo discard reached the disk, EPERM: the row \"discard\" shows frees alone.", "and why");
	c.discards = 1;
	judged(&c, CARD_UNKNOWN, NULL, FEW, "one arrived");
	card_free(&c);
	c = card_of("sda", "M", false);
	add(&c, CARD_DISCARD, MIB, 4, MS);
	judged(&c, CARD_UNKNOWN, NULL, FEW "\nNo discard reached the disk: the row \"discard\" shows frees alone.",
	       "nothing but discards");
	card_free(&c);
}

int main(void)
{
	test_medium();
	test_grades();
	test_nameless();
	test_median();
	test_rate();
	test_growth();
	test_growth_of_flash();
	test_unwaited();
	test_none();
	test_discards();
	return tap_done();
}
