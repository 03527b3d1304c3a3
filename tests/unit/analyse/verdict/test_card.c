// SPDX-License-Identifier: GPL-2.0-only
/* Barrier cards made by hand: does a card survive its JSON, what of a spoiled one, and two of them. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/verdict/plausibility.h"
#include "layout.h"
#include "util/mem.h"
#include "render/render_documents.h"
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

TEST(round_trip)
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

static void refused(const char *text, const char *words)
{
	struct err e = { 0 };
	struct card c;
	bool is_card;

	write_file(text, strlen(text));
	if (!ok(read_it(&c, &is_card, &e) && is_card && strstr(e.text, words), "refused: %s", words))
		diag("%s: %s", text, e.text);
}

TEST(refused)
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

/* ---- text ---- */

TEST(text)
{
	const struct render_opts plain = { .width = 80 };
	FREED(card_comparison) struct card_comparison c;
	FREED(buf) struct buf out = { 0 };
	bool ascii = true, apart = false;
	FREED(card) struct card a;

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
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd >= 0)
		close(fd);
	tests_run();
	return tap_done();
}
