/* SPDX-License-Identifier: GPL-2.0-only */
/* rendered.h - what holds for every report's text and JSON, whatever stands in it. */
#ifndef RENDERED_H
#define RENDERED_H

#include <jansson.h>

#include "render/render.h"
#include "util/utf8.h"
#include "golden.h"
#include "json_at.h"
#include "layout.h"

#define HOSTILE \
	"\"><script>alert(1)</script>\x1b[2J\x9b\xff\xc3\x28\xed\xa0\x80\x7f\xc2\x9b\r\n" \
	"\t\xe2\x80\xae$(rm)\x1f\xc0\xaf\xc3\xa9"

static const struct render_opts plain = { .width = 80 };

typedef void make_report(struct report *r);

static inline char *text_of(const struct report *r, const struct render_opts *o)
{
	struct buf b = { 0 };

	render_text(r, o, &b);
	return b.data;
}

static inline void check_golden(const char *name, make_report *make)
{
	struct report r = { 0 };
	char *s, *again;

	make(&r);
	s = text_of(&r, &plain);
	again = text_of(&r, &plain);
	golden(name, "txt", s);
	ok(fits(s, 80), "%s: fits 80 columns", name);
	ok(!strcmp(s, again), "%s: the same report gives the same bytes", name);
	free(s);
	free(again);
	report_free(&r);
}

/* Valid UTF-8 of what a terminal displays; ASCII if it has to be. */
static inline bool displayable(const char *s, bool unicode)
{
	uint32_t cp;

	while (*s) {
		s += utf8_decode(s, &cp);
		if (cp == UTF8_BAD || cp == 0x202e || (cp >= 0x7f && cp < 0xa0) || (cp < 0x20 && cp != '\n') ||
		    (!unicode && cp >= 0x80))
			return false;
	}
	return true;
}

/* Without its colours, which are switched on and off in turn. */
static inline char *uncoloured(const char *s, bool *in_turn)
{
	struct buf b = { 0 };
	bool on = false;

	for (*in_turn = true; *s;) {
		if (*s != '\x1b') {
			buf_char(&b, *s++);
			continue;
		}
		*in_turn = *in_turn && on == !strncmp(s, "\x1b[0m", 4);
		on = !on;
		s += strcspn(s, "m") + 1;
	}
	*in_turn = *in_turn && !on;
	return b.data;
}

typedef char *draw_text(const void *what, const struct render_opts *o);

struct held {
	bool wide, clean, shown, wraps, turns;
};

static inline void text_holds(struct held *h, draw_text *draw, const void *what)
{
	for (unsigned int w = 60; w <= 200; w++) {
		struct render_opts o = { .width = w, .verbose = w & 1, .unicode = w & 2 };
		char *s = draw(what, &o), *coloured, *bare;
		bool turn;

		h->wide = h->wide && fits(s, w);
		h->clean = h->clean && tidy(s);
		h->shown = h->shown && displayable(s, o.unicode);
		o.color = true;
		coloured = draw(what, &o);
		bare = uncoloured(coloured, &turn);
		h->wraps = h->wraps && !strcmp(bare, s) && strcmp(coloured, s);
		h->turns = h->turns && turn;
		free(s);
		free(coloured);
		free(bare);
	}
}

static inline void held_all(const struct held *h)
{
	ok(h->wide, "every width from 60 to 200 is kept");
	ok(h->clean, "and is tidy");
	ok(h->shown, "no control character, no invalid byte reaches the terminal; without unicode all is ASCII");
	ok(h->wraps, "colour changes nothing else");
	ok(h->turns, "what is switched on is switched off");
}

static inline char *draw_report(const void *r, const struct render_opts *o)
{
	return text_of(r, o);
}

static inline void texts_hold(make_report *const *make, size_t n)
{
	struct held h = { true, true, true, true, true };

	for (size_t i = 0; i < n; i++) {
		struct report r = { 0 };

		make[i](&r);
		text_holds(&h, draw_report, &r);
		report_free(&r);
	}
	held_all(&h);
}

/* Parsed; NULL also where a control character is raw in it. */
static inline json_t *json_of(const struct report *r, render_fn *render)
{
	struct buf b = { 0 };
	bool raw = false;
	json_error_t e;
	json_t *j;

	render(r, &plain, &b);
	for (size_t i = 0; i + 1 < b.len; i++) {
		unsigned char c = (unsigned char)b.data[i], next = (unsigned char)b.data[i + 1];

		raw = raw || (c < 0x20 && c != '\n') || c == 0x7f || (c == 0xc2 && next < 0xa0);
	}
	j = raw ? NULL : json_loads(b.data, JSON_REJECT_DUPLICATES, &e);
	if (!j)
		diag("line %d: %s", raw ? 0 : e.line, raw ? "a raw control character" : e.text);
	buf_free(&b);
	return j;
}

#endif
