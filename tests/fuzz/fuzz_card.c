// SPDX-License-Identifier: GPL-2.0-only
/* Barrier cards: what was read is the same after another turn, and is like itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/verdict/plausibility.h"
#include "fuzz.h"
#include "recording_forge.h"
#include "render/render_documents.h"
#include "util/mem.h"

static bool read_card(const void *bytes, size_t n, struct card *c)
{
	const int fd = forge_fd(bytes, n);
	bool is_card;
	struct err e;
	const int err = card_read(fd, "input", c, &is_card, &e);

	close(fd);
	if (!err)
		believe(c);
	return !err;
}

static void compare(struct card *c)
{
	const struct render_opts opts = { .unicode = true, .verbose = true };
	struct card_comparison with_itself = { 0 };
	struct buf b = { 0 };

	believe_compare(c, c, &with_itself);
	with_itself.file[0] = with_itself.file[1] = "input";
	render_cards_text(&with_itself, &opts, &b);
	render_cards_json(&with_itself, &b);
	render_card_text(c, &opts, &b);
	buf_free(&b);
	card_comparison_free(&with_itself);
}

static void run(const uint8_t *bytes, size_t n)
{
	struct card first = { 0 }, second = { 0 };
	struct buf once = { 0 }, twice = { 0 };

	if (!read_card(bytes, n, &first))
		return;
	render_card_json(&first, &once);
	fuzz_expect(read_card(once.data, once.len, &second), "a card is read again");
	render_card_json(&second, &twice);
	fuzz_expect(once.len == twice.len && !memcmp(once.data, twice.data, once.len), "it says the same");
	compare(&first);
	buf_free(&once);
	buf_free(&twice);
	card_free(&first);
	card_free(&second);
}

/* A card with a row for each test. */
static void seeds(void)
{
	struct card c = { .have_fua = true, .fua = true, .have_rotational = true, .size = 1ull << 40, .data_bytes = 1u << 28 };
	struct buf b = { 0 };

	c.name = xstrdup("sda");
	c.model = xstrdup("<model> \x1b[31m");
	c.write_cache = xstrdup("write back");
	for (int t = 0; t < CARD_TESTS; t++) {
		struct card_row *r = grow((void **)&c.row, &c.n_rows, sizeof(*r));

		r->test = (enum card_test)t;
		r->param = r->bytes = 4096;
		r->wall_ns = 1000000;
		for (uint64_t ns = 1000; ns < 20000; ns += 1300) {
			hist_add(&r->call, ns + 500);
			hist_add(&r->flush, ns);
			r->ledger.ns[CAUSE_FLUSH_ONLY] += ns;
			r->ledger.ns[CAUSE_CPU] += 500;
		}
	}
	believe(&c);
	render_card_json(&c, &b);
	fuzz_seed("card", b.data, b.len);
	buf_free(&b);
	card_free(&c);
}

const struct fuzz_target fuzz_card = { "card", run, fuzz_mutate_json, seeds };
