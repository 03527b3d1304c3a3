// SPDX-License-Identifier: GPL-2.0-only
/* Barrier cards made by hand: is the flush believable, does a card survive its JSON, what of a spoiled one, and two of them. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/verdict/plausibility.h"
#include "layout.h"
#include "util/mem.h"
#include "render/render_bench.h"
#include "tap.h"

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
		/* a little unlike each other */
		hist_add(&r->call, flush_ns + 20 * US + i % 7 * 100);
		if (flush_ns)
			hist_add(&r->flush, flush_ns + i % 5 * 100);
		else
			r->flushless++;
	}
	r->ledger.ns[CAUSE_FLUSH_ONLY] = calls * flush_ns;
	r->ledger.ns[CAUSE_CPU] = calls * 20 * US;
	r->bytes = calls * (param > 4096 ? param : 4096);
	r->wall_ns = 1000 * MS;
	return r;
}

/* A disk whose flush takes `small` after 4 KiB and `large` after 256 MiB. */
static void make(struct card *c, const char *name, const char *model, bool rotating, uint64_t small, uint64_t large)
{
	memset(c, 0, sizeof(*c));
	c->name = xstrdup(name);
	c->model = xstrdup(model);
	c->write_cache = xstrdup("write back");
	c->version = xstrdup("0.1.0");
	c->have_rotational = true;
	c->rotational = rotating;
	c->data_bytes = 256 * MIB;
	add(c, CARD_DIRTY, 0, 20, small);
	add(c, CARD_DIRTY, 4096, 20, small);
	add(c, CARD_DIRTY, 256 * MIB, 2, large);
	add(c, CARD_FLUSH, 4096, 20, small);
	believe(c);
}

static bool gives(struct card *c, const char *text)
{
	for (size_t i = 0; c->reasons && c->reasons[i]; i++)
		if (strstr(c->reasons[i], text))
			return true;
	for (size_t i = 0; c->reasons && c->reasons[i]; i++)
		diag("%s", c->reasons[i]);
	return false;
}

static void graded(const char *what, struct card *c, enum card_medium medium, enum card_grade grade, const char *reason)
{
	ok(c->medium == medium, "%s: it is %s", what, card_medium_name(medium));
	if (!ok(c->grade == grade, "%s: %s", what, card_grade_name(grade)))
		diag("but %s: %s", card_grade_name(c->grade), c->sentence);
	ok(gives(c, reason), "%s: the reason says \"%s\"", what, reason);
	ok(c->sentence && *c->sentence, "%s: there is a sentence", what);
	card_free(c);
}

static void test_grades(void)
{
	struct card c;

	make(&c, "sda", "GOODRAM C50", false, 3400 * US, 9 * MS);
	graded("a consumer's SSD", &c, CARD_MEDIUM_FLASH, CARD_BELIEVABLE, "more to write out");
	make(&c, "sda", "GOODRAM C50", false, 20 * US, 20 * US);
	graded("an SSD that flushes 256 MiB in 20 us", &c, CARD_MEDIUM_FLASH, CARD_DOUBTFUL, "consumer");
	make(&c, "nvme0n1", "SAMSUNG", false, 99 * US, 5 * MS);
	graded("just below a page's programming", &c, CARD_MEDIUM_FLASH, CARD_DOUBTFUL, "program a page");
	make(&c, "nvme0n1", "SAMSUNG", false, 101 * US, 5 * MS);
	graded("just above it", &c, CARD_MEDIUM_FLASH, CARD_BELIEVABLE, "program a page");
	make(&c, "sdb", "ST2000DM008", true, 8300 * US, 60 * MS);
	graded("a rotating disk", &c, CARD_MEDIUM_ROTATING, CARD_BELIEVABLE, "rotation");
	make(&c, "sdb", "ST2000DM008", true, 400 * US, 60 * MS);
	graded("one quicker than its rotation", &c, CARD_MEDIUM_ROTATING, CARD_IMPOSSIBLE, "eighth of a rotation");
	make(&c, "vda", NULL, true, 3 * MS, 3 * MS);
	graded("virtio, which calls itself rotating", &c, CARD_MEDIUM_VIRTUAL, CARD_BELIEVABLE, "not a medium itself");
	make(&c, "sda", "QEMU HARDDISK", true, 30 * US, 30 * US);
	graded("QEMU with cache=unsafe", &c, CARD_MEDIUM_VIRTUAL, CARD_DOUBTFUL, "cache=unsafe");
}

/* 256 MiB, ten times in a second */
static void test_rate(void)
{
	struct card c;

	make(&c, "sdb", "ST2000DM008", true, 8300 * US, 9 * MS);
	add(&c, CARD_DIRTY, 512 * MIB, 10, 9 * MS);
	believe(&c);
	graded("a rotating disk that takes 5 GiB a second", &c, CARD_MEDIUM_ROTATING, CARD_IMPOSSIBLE, "600 MB");
}

static void test_none(void)
{
	struct card c;

	make(&c, "sda", "INTEL", false, 0, 0);
	ok(strstr(c.sentence, "rests on a cache that survives a power cut"),
	   "write back: its cache has to keep what it has");
	graded("no flush though there is a cache", &c, CARD_MEDIUM_FLASH, CARD_NO_FLUSH, "barriers are off");
	make(&c, "sda", "INTEL", false, 0, 0);
	free(c.write_cache);
	c.write_cache = xstrdup("write through");
	believe(&c);
	ok(!strcmp(c.sentence, "No flush is sent to sda, because the kernel takes it for a disk without a volatile cache; "
			       "whether it has one was not seen."),
	   "write through: no word of a cache that nobody saw");
	ok(gives(&c, "hdparm -W 0") && gives(&c, "`barriertrace doctor sda` asks the drive"), "but of who may know");
	graded("write through", &c, CARD_MEDIUM_FLASH, CARD_NO_FLUSH, "write through");
	memset(&c, 0, sizeof(c));
	c.name = xstrdup("sda");
	believe(&c);
	graded("nothing measured", &c, CARD_MEDIUM_FLASH, CARD_UNKNOWN, "Too few");
	memset(&c, 0, sizeof(c));
	add(&c, CARD_DIRTY, 4096, 4, 3 * MS);
	believe(&c);
	graded("four calls, no name", &c, CARD_MEDIUM_FLASH, CARD_UNKNOWN, "Too few");
}

/* Of 20 calls in each row so many had to wait for their FLUSH. */
static void make_unwaited(struct card *c, const char *name, bool rotating, uint64_t call_ns, uint64_t flushed)
{
	memset(c, 0, sizeof(*c));
	c->name = xstrdup(name);
	c->have_rotational = true;
	c->rotational = rotating;
	for (int i = 0; i < 2; i++) {
		struct card_row *r = add(c, i ? CARD_FLUSH : CARD_DIRTY, 4096, flushed, 5 * MS);

		for (uint64_t k = 0; k < 20 - flushed; k++)
			hist_add(&r->call, call_ns);
		r->unwaited = 20 - flushed;
	}
	believe(c);
}

static void test_unwaited(void)
{
	struct card c;

	make_unwaited(&c, "sdb", true, 50 * US, 0);
	graded("a rotating disk whose flushes nobody had to wait for", &c, CARD_MEDIUM_ROTATING, CARD_IMPOSSIBLE,
	       "takes less than 5");
	make_unwaited(&c, "sda", false, 50 * US, 0);
	graded("an SSD of that kind", &c, CARD_MEDIUM_FLASH, CARD_DOUBTFUL, "takes less than 5");
	make_unwaited(&c, "vda", false, 50 * US, 9);
	graded("a virtual disk, for most calls", &c, CARD_MEDIUM_VIRTUAL, CARD_DOUBTFUL, "takes less than 5");
	make_unwaited(&c, "sdb", true, 50 * US, 11);
	graded("for fewer than half", &c, CARD_MEDIUM_ROTATING, CARD_BELIEVABLE, "4 KiB takes 5.");
	make_unwaited(&c, "sdb", true, 9 * MS, 0);
	graded("where the calls take long for other reasons", &c, CARD_MEDIUM_ROTATING, CARD_UNKNOWN, "other reasons");
}

static void test_discard(void)
{
	struct card c;

	make(&c, "sda", "GOODRAM C50", false, 3400 * US, 9 * MS);
	add(&c, CARD_DISCARD, 4 * MIB, 5, 4 * MS)->missing = xstrdup("FITRIM: Operation not permitted");
	believe(&c);
	graded("no discard arrived", &c, CARD_MEDIUM_FLASH, CARD_BELIEVABLE, "Operation not permitted");
}

/* ---- JSON ---- */

static char path[] = "/tmp/test_card.XXXXXX";

static void write_file(const void *data, size_t n)
{
	FILE *f = fopen(path, "w");

	if (f)
		fwrite(data, 1, n, f);
	if (!f || fclose(f))
		diag("cannot write %s", path);
}

static int read_it(struct card *c, bool *is_card, struct err *e)
{
	int fd = open(path, O_RDONLY), err = card_read(fd, path, c, is_card, e);

	if (fd >= 0)
		close(fd);
	if (!err)
		believe(c);
	return err;
}

static bool same_row(const struct card_row *a, const struct card_row *b)
{
	return a->test == b->test && a->param == b->param && a->bytes == b->bytes && a->wall_ns == b->wall_ns &&
	       !memcmp(&a->call, &b->call, sizeof(a->call)) && !memcmp(&a->flush, &b->flush, sizeof(a->flush)) &&
	       a->unwaited == b->unwaited && a->flushless == b->flushless &&
	       !memcmp(&a->ledger, &b->ledger, sizeof(a->ledger));
}

static void test_round_trip(void)
{
	struct buf json = { 0 }, again = { 0 };
	struct card a, b;
	struct err e = { 0 };
	bool is_card, same;

	make(&a, "sda", "evil \x1b[31m\"\\", false, 3400 * US, 9 * MS);
	add(&a, CARD_DISCARD, 4 * MIB, 0, 0)->missing = xstrdup("no time for it");
	believe(&a);
	render_card_json(&a, &json);
	write_file(json.data, json.len);
	ok(!read_it(&b, &is_card, &e) && is_card, "a card is read back");
	same = a.n_rows == b.n_rows;
	for (size_t i = 0; same && i < a.n_rows; i++)
		same = same_row(&a.row[i], &b.row[i]);
	ok(same, "every row is the same");
	render_card_json(&b, &again);
	ok(json.len == again.len && !memcmp(json.data, again.data, json.len), "and so is its JSON");
	buf_free(&json);
	buf_free(&again);
	card_free(&a);
	card_free(&b);
}

/* No byte may be changed into something that crashes us; that it reads what it shouldn't is seen by the sanitizers. */
static void test_spoiled(void)
{
	static const char junk[] = { '0', '9', '-', '}', '"', '\0', (char)0xff };
	struct buf json = { 0 };
	size_t read = 0, refused = 0;
	struct card a, b;
	struct err e;
	bool is_card;

	make(&a, "sda", "C50", false, 3400 * US, 9 * MS);
	render_card_json(&a, &json);
	for (size_t i = 1; i < json.len; i += 3) {
		char *copy = xmust(malloc(json.len));

		memcpy(copy, json.data, json.len);
		copy[i] = junk[i % sizeof(junk)];
		write_file(copy, i % 2 ? json.len : i);
		if (read_it(&b, &is_card, &e))
			refused++;
		else
			read++;
		card_free(&b);
		free(copy);
	}
	ok(refused > read, "%zu spoiled cards are refused, %zu are still cards", refused, read);
	buf_free(&json);
	card_free(&a);
}

static void refused(const char *text, const char *words)
{
	struct err e = { 0 };
	struct card c;
	bool is_card;

	write_file(text, strlen(text));
	if (!ok(read_it(&c, &is_card, &e) && is_card && strstr(e.text, words), "refused: %s", words))
		diag("%s: %s", text, e.text);
}

static void test_refused(void)
{
	struct err e = { 0 };
	struct card c;
	bool is_card = true;

	refused("{}", "no barrier card");
	refused("{\"barriertrace\":{\"schema\":1,\"document\":\"doctor\"}}", "no barrier card");
	refused("{\"barriertrace\":{\"schema\":2,\"document\":\"card\"}}", "another schema");
	refused("{\"barriertrace\":{\"schema\":1,\"document\":\"card\"},\"disk\":{\"name\":\"a\"}}", "damaged");
	refused("{\"barriertrace\":{\"schema\":1,\"document\":\"card\"},\"disk\":{\"name\":\"a\"},\"tests\":[{\"test\":\"dirty\","
		"\"bytes\":0,\"call\":{\"count\":2,\"sum_ns\":5,\"min_ns\":1,\"max_ns\":4,\"buckets\":[[1,1]]}}]}",
		"damaged");
	refused("{\"barriertrace\":{\"schema\":1,\"document\":\"card\"},\"disk\":{\"name\":\"a\"},\"tests\":[{\"test\":\"dirty\","
		"\"bytes\":-1}]}",
		"damaged");
	refused("{\"barriertrace\":", "line 1");
	write_file("\x89"
		   "BTREC",
		   6);
	ok(read_it(&c, &is_card, &e) && !is_card, "a recording is no card");
	unlink(path);
	ok(read_it(&c, &is_card, &e) && !is_card, "nor is what isn't there");
}

/* ---- two cards ---- */

static void says(const char *what, const struct card_comparison *c, const char *words)
{
	if (!ok(strstr(c->sentence, words), "%s: \"%s\"", what, words))
		diag("%s", c->sentence);
}

static void test_compare(void)
{
	struct card_comparison c;
	struct card a, b, none;

	make(&a, "sda", "C50", false, 3400 * US, 9 * MS);
	make(&b, "sdb", "860 EVO", false, 850 * US, 9 * MS);
	make(&none, "sdc", "860 EVO", false, 0, 0);
	believe_compare(&a, &b, &c);
	says("a quarter", &c, "4.00 times faster in B");
	ok(c.n_rows == 4 && c.row[1].flush.told, "four tests in common, and no chance");
	ok(c.settings && strstr(c.settings[0], "model: C50 and 860 EVO"), "the models are not the same");
	card_comparison_free(&c);
	believe_compare(&b, &a, &c);
	says("four times", &c, "4.00 times slower in B");
	card_comparison_free(&c);
	believe_compare(&a, &a, &c);
	says("the same card", &c, "as far as can be told");
	ok(!c.settings, "nothing differs");
	card_comparison_free(&c);
	believe_compare(&a, &none, &c);
	says("one without flushes", &c, "No flush was sent to B");
	card_comparison_free(&c);
	none.n_rows = 0;
	believe_compare(&a, &none, &c);
	says("an empty one", &c, "no test in common");
	card_comparison_free(&c);
	memset(&a.row[1].flush, 0, sizeof(a.row[1].flush));
	hist_add(&a.row[1].flush, 2 * MS);
	believe_compare(&a, &b, &c);
	says("a single flush", &c,
	     "took 850 µs in B and 2.00 ms in A on average, but a single flush says nothing about chance.");
	card_comparison_free(&c);
	card_free(&a);
	card_free(&b);
	card_free(&none);
}

/* ---- text ---- */

static void test_text(void)
{
	const struct render_opts plain = { .width = 80 };
	struct card_comparison c;
	struct buf out = { 0 };
	bool ascii = true, apart = false;
	struct card a;

	make(&a, "sda", "evil \x1b[31m\xc2\x9b", false, 340 * US, 900 * US);
	add(&a, CARD_FUA, 4096, 20, 350 * US);
	for (int t = CARD_DEPTH; t < CARD_TESTS; t++)
		add(&a, (enum card_test)t, 4 * MIB, 3, 500 * US);
	believe_compare(&a, &a, &c);
	render_card_text(&a, &plain, &out);
	render_cards_text(&c, &plain, &out);
	for (size_t i = 0; i < out.len; i++)
		ascii &= out.data[i] == '\n' || (out.data[i] >= ' ' && out.data[i] <= '~');
	ok(ascii, "in ASCII nothing but printable ASCII, whatever a drive calls itself");
	ok(strstr(out.data, "340 us") || strstr(out.data, "339 us") || strstr(out.data, "342 us"), "microseconds are us");
	for (unsigned int w = 60; w <= 120 && !apart; w++) {
		buf_clear(&out);
		render_card_text(&a, &(struct render_opts){ .width = w }, &out);
		render_cards_text(&c, &(struct render_opts){ .width = w }, &out);
		apart = unit_starts_line(out.data);
	}
	ok(!apart, "no line ends between a number and its unit");
	buf_free(&out);
	card_comparison_free(&c);
	card_free(&a);
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd >= 0)
		close(fd);
	test_grades();
	test_rate();
	test_none();
	test_unwaited();
	test_discard();
	test_round_trip();
	test_spoiled();
	test_refused();
	test_compare();
	test_text();
	return tap_done();
}
