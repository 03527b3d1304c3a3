// SPDX-License-Identifier: GPL-2.0-only
/*
 * flame.c - the flame-style histogram, from the top: all sync calls, and below each frame what it is made of, as wide
 * as the time that it took; below the last one its time cut by how long the single contributions lasted.
 *
 * Everything can be seen without the script: flame.js lays out anew for the width that there is, zooms, searches and
 * points. It, and tests, read the exact figures from data-start and data-ns. The frames stand in the tree's order,
 * without nesting:
 *
 *   <g class="f cause" data-depth="5" data-start="0" data-ns="110152175" data-t="110 ms" ...><title>flush.post
 *   110 ms (110,152,175 ns), 9.6 % of the sync calls' time
 *   flush: FLUSH in the device, after it (emulated FUA)</title><rect .../><text .../></g>
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "render/assets.h"
#include "render/svg/svg.h"
#include "render/svg/flame_tree.h"
#include "util/mem.h"
#include "util/num.h"
#include "render/command_line.h"
#include "render/palette.h"

#define WIDTH  1200u
#define PAD    10u
#define INNER  (WIDTH - 2 * PAD)
#define ROW    21u /* from frame to frame */
#define HEIGHT 20u
#define FONT   12u
#define ROOM   (900u << 10) /* the page that this is a part of has room for 1 MiB */
#define TRIES  16	    /* at how wide a frame has to be, where there are too many: to 1/65536 of the picture */

#define COMMAND 240u /* bytes of a command line, which may be without end */

struct flame {
	const struct report *r;
	struct buf *out;
	bool alone; /* not a part of a page that says itself what ran, and how it went */
	struct flame_tree tree;
	uint64_t min_ns;
	unsigned int y; /* where the frames begin */
	uint32_t deepest;
};

/* ---- frames ---- */

static uint64_t milli_x(const struct flame *f, uint64_t ns)
{
	return (uint64_t)((unsigned __int128)ns * INNER * 1000 / f->tree.ns);
}

/* A share may be "<0.1 %". */
static void exact(struct flame *f, uint64_t ns, bool about)
{
	buf_printf(f->out, "%s%s (%s ns), ", about ? "about " : "", num_duration(ns, 0).s, num_count(ns).s);
	svg_text(f->out, num_percent(ns, f->tree.ns, 0).s);
	buf_str(f->out, " of the sync calls&#39; time");
}

/* The rectangle and, where there is room, its name and time. Edges are rounded, not widths: neighbours meet. */
static void box(struct flame *f, uint32_t depth, uint64_t start, uint64_t ns, const char *name, const char *time,
		const struct svg_color *c)
{
	uint64_t x = milli_x(f, start), width = milli_x(f, start + ns) - x;
	unsigned int px = width < 8000 ? 0 : (unsigned int)(width / 1000) - 8;
	char *full = xasprintf("%s%s%s", name, *time ? "  " : "", time);

	buf_str(f->out, "<rect x=\"");
	svg_milli(f->out, PAD * 1000 + x);
	buf_printf(f->out, "\" y=\"%u\" width=\"", f->y + depth * ROW);
	svg_milli(f->out, width);
	buf_printf(f->out, "\" height=\"%u\"", HEIGHT);
	if (c)
		buf_printf(f->out, " fill=\"%s\"", c->hex);
	buf_str(f->out, "/><text x=\"");
	svg_milli(f->out, PAD * 1000 + x + 4000);
	buf_printf(f->out, "\" y=\"%u\"%s>", f->y + depth * ROW + 14, c && c->dark ? " class=\"l\"" : "");
	svg_fit(f->out, svg_width(full, strlen(full), FONT) <= px ? full : name, px, FONT);
	buf_str(f->out, "</text></g>\n");
	free(full);
}

static void open_frame(struct flame *f, const char *class, uint32_t depth, uint64_t start, uint64_t ns, const char *time)
{
	buf_printf(f->out,
		   "<g class=\"f%s%s\" data-depth=\"%u\" data-start=\"%" PRIu64 "\" data-ns=\"%" PRIu64 "\" "
		   "data-t=\"%s\"",
		   *class ? " " : "", class, depth, start, ns, time);
	if (depth > f->deepest)
		f->deepest = depth;
}

/* "3 times: median 2.13 ms, 99 % within 2.20 ms, longest 2.31 ms" */
static void times(struct buf *b, const struct tally *each)
{
	struct hist all, *h = &all;

	tally_hist(each, h);
	if (h->count == 1) {
		buf_str(b, "\nonce");
		return;
	}
	buf_printf(b, "\n%s times: p50 %s, p99 %s, longest %s", num_count(h->count).s,
		   num_duration(hist_quantile(h, 0.5), 0).s, num_duration(hist_quantile(h, 0.99), 0).s,
		   num_duration(h->max, 0).s);
}

/* "2.10–2.20 ms" */
static void range(struct buf *b, const struct flame_cell *c)
{
	struct num from = num_duration(c->from, 0), to = num_duration(c->to, 0);
	char *unit = strchr(from.s, ' '), *other = strchr(to.s, ' ');

	if (strcmp(from.s, to.s)) {
		if (unit && other && !strcmp(unit, other))
			*unit = '\0';
		buf_printf(b, "%s–", from.s);
	}
	buf_str(b, to.s);
}

/* "50× 2.10–2.20 ms": the part of a leaf that lasted so long each time. */
static void cell(struct flame *f, const struct flame_frame *of, const struct flame_cell *c, uint64_t start)
{
	struct svg_color color = svg_shade(palette_family(cause_family(of->cause)), c->from + (c->to - c->from) / 2);
	struct num time = c->count == 1 ? (struct num){ "" } : num_duration(c->ns, 0); /* its name says it */
	struct buf name = { 0 };

	buf_printf(&name, "%s× ", num_count(c->count).s);
	range(&name, c);
	open_frame(f, "cell", of->depth + 1, start, c->ns, time.s);
	buf_printf(f->out, " data-count=\"%" PRIu64 "\" data-from=\"%" PRIu64 "\" data-to=\"%" PRIu64 "\"><title>",
		   c->count, c->from, c->to);
	svg_text(f->out, name.data);
	buf_str(f->out, "\n");
	exact(f, c->ns, !c->exact);
	buf_str(f->out, "</title>");
	box(f, of->depth + 1, start, c->ns, name.data, time.s, &color);
	buf_free(&name);
}

static void cells(struct flame *f, const struct flame_frame *of)
{
	struct flame_cell part[HEAT_ROWS];
	uint64_t start = of->start_ns;
	struct hist each;
	size_t n;

	if (!of->each)
		return;
	tally_hist(of->each, &each);
	n = flame_cells(&each, of->own_ns, f->min_ns, part);
	for (size_t i = 0; i < n; i++) {
		cell(f, of, &part[i], start);
		start += part[i].ns;
	}
}

static void frame(struct flame *f, const struct flame_frame *frame)
{
	const char *name = *frame->name ? frame->name : "(no name)", *kind = "";
	struct svg_color color = svg_plain(palette_family(cause_family(frame->cause)));
	struct num time = num_duration(frame->ns, 0);

	if (frame->smaller)
		kind = "rest";
	else if (frame->caused)
		kind = "cause";
	open_frame(f, kind, frame->depth, frame->start_ns, frame->ns, time.s);
	if (frame->caused)
		buf_printf(f->out, " data-family=\"%s\"", family_name(cause_family(frame->cause)));
	buf_str(f->out, "><title>");
	svg_text(f->out, name);
	buf_str(f->out, "\n");
	exact(f, frame->ns, false);
	if (frame->caused && !frame->device)
		buf_printf(f->out, "\n%s: %s", family_name(cause_family(frame->cause)), cause_help(frame->cause));
	if (frame->smaller)
		buf_str(f->out, "\nnot drawn one by one: too narrow");
	if (frame->each)
		times(f->out, frame->each);
	buf_str(f->out, "</title>");
	box(f, frame->depth, frame->start_ns, frame->ns, name, time.s, frame->caused ? &color : NULL);
}

static void root(struct flame *f)
{
	struct num time = num_duration(f->tree.ns, 0);

	open_frame(f, "", 0, 0, f->tree.ns, time.s);
	buf_str(f->out, "><title>all sync calls\n");
	exact(f, f->tree.ns, false);
	buf_printf(f->out, "\n%s %s</title>", num_count(f->r->sync.count).s, f->r->sync.count == 1 ? "call" : "calls");
	box(f, 0, 0, f->tree.ns, "all sync calls", time.s, NULL);
}

static void frames(struct flame *f)
{
	buf_str(f->out, "<g class=\"frames\">\n");
	root(f);
	for (size_t i = 0; i < f->tree.n; i++) {
		frame(f, &f->tree.frame[i]);
		cells(f, &f->tree.frame[i]);
	}
	buf_str(f->out, "</g>\n");
}

/* ---- around them ---- */

static void text(struct buf *b, const char *class, unsigned int x, unsigned int y, const char *raw)
{
	buf_printf(b, "<text class=\"%s\" x=\"%u\" y=\"%u\">", class, x, y);
	svg_text(b, raw);
	buf_str(b, "</text>");
}

static void cut(struct buf *b, size_t len)
{
	if (b->len <= len)
		return;
	while (len && ((unsigned char)b->data[len] & 0xc0) == 0x80)
		len--;
	b->len = len;
	buf_str(b, "…");
}

/* "python3 w.py · 1.14 s in 240 sync calls · run time 533 ms" */
static char *what_ran(const struct report *r)
{
	struct buf b = { 0 };

	command_line_add(&b, r->command, true);
	cut(&b, COMMAND);
	if (r->sync.count)
		buf_printf(&b, "%s%s in %s sync %s", b.len ? " · " : "", num_duration(r->sync.total_ns, 0).s,
			   num_count(r->sync.count).s, r->sync.count == 1 ? "call" : "calls");
	if (r->wall_ns)
		buf_printf(&b, "%srun time %s", b.len ? " · " : "", num_duration(r->wall_ns, 0).s);
	buf_str(&b, "");
	return b.data;
}

static void head(struct flame *f)
{
	const char *name = "Where the time of sync calls went";
	const char *sentence = f->r->have_verdict ? f->r->verdict.sentence : NULL;
	char *ran = what_ran(f->r);

	buf_printf(f->out, "<title>%s</title>\n", name);
	f->y += 22;
	f->y += 20 * svg_wrap(f->out, "title", sentence ? sentence : name, f->y, INNER, 15, 20);
	f->y += 16 * svg_wrap(f->out, "sub", ran, f->y, INNER, FONT, 16);
	free(ran);
}

static uint64_t family_ns(const struct report_sync *s, enum cause_family family)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->n_leaves; i++) {
		if (cause_family(s->leaf[i].cause) == family)
			sum += s->leaf[i].ns;
	}
	return sum;
}

/* "■ flush 71.1 %", the families that have a part in it */
static void families(struct flame *f)
{
	unsigned int x = PAD;

	for (int i = 0; i < FAMILY_COUNT; i++) {
		uint64_t ns = family_ns(&f->r->sync, (enum cause_family)i);
		char *words;

		if (!ns)
			continue;
		words = xasprintf("%s %s", family_name((enum cause_family)i), num_percent(ns, f->tree.ns, 0).s);
		buf_printf(f->out, "<g class=\"key\"><rect x=\"%u\" y=\"%u\" width=\"12\" height=\"12\" fill=\"%s\"/>",
			   x, f->y - 10, palette_family((enum cause_family)i));
		text(f->out, "word", x + 16, f->y, words);
		buf_str(f->out, "</g>\n");
		x += 16 + svg_width(words, strlen(words), FONT) + 18;
		free(words);
	}
}

/* The shades of one colour stand for those of all. */
static void shades(struct flame *f)
{
	static const char *const name[] = { "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s" };
	const char *grey = palette_family(FAMILY_UNKNOWN), *words = "last row, how long it took each time:";
	unsigned int x = PAD + svg_width(words, strlen(words), FONT) + 8;
	uint64_t latency = 10000;

	buf_str(f->out, "<g class=\"key apart\">");
	text(f->out, "word", PAD, f->y, words);
	buf_str(f->out, "</g>\n<g class=\"key\">");
	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++, latency *= 10) {
		struct svg_color c = svg_shade(grey, latency);

		buf_printf(f->out,
			   "<rect x=\"%u\" y=\"%u\" width=\"52\" height=\"16\" fill=\"%s\"/>"
			   "<text class=\"%s\" x=\"%u\" y=\"%u\">%s</text>",
			   x, f->y - 12, c.hex, c.dark ? "step l" : "step", x + 26, f->y, name[i]);
		x += 52;
	}
	buf_str(f->out, "</g>\n");
}

static void legend(struct flame *f)
{
	f->y += f->alone ? 8 : 16;
	families(f);
	f->y += 22;
	shades(f);
	f->y += 14;
}

/* What the picture lacks. */
static void lacking(struct flame *f, struct buf *b)
{
	const struct report *r = f->r;

	if (r->sync.no_ledger)
		buf_printf(b, " Not in the picture: %s sync %s, because facts about %s were lost.",
			   num_count(r->sync.no_ledger).s, r->sync.no_ledger == 1 ? "call" : "calls",
			   r->sync.no_ledger == 1 ? "it" : "them");
	if (r->incomplete)
		buf_str(b, " The report is incomplete.");
}

static void foot(struct flame *f)
{
	struct buf b = { 0 };

	buf_str(&b, "Width is time. Downwards: command, sync call, file, through whom it waited, cause, device; in the last "
		    "row that time by how long it took each time (×: how often), pale when short, deep when long: the numbers "
		    "of times are exact, their widths within about 3 %.");
	lacking(f, &b);
	f->y += (f->deepest + 1) * ROW + 18;
	buf_str(f->out, "<g class=\"foot\">\n");
	f->y += 16 * svg_wrap(f->out, "note", b.data, f->y, INNER, FONT, 16);
	buf_str(f->out, "</g>\n");
	buf_free(&b);
}

/* ---- the whole ---- */

static void nothing(struct flame *f)
{
	const char *why = "No sync calls in this run: there is nothing to draw.";

	if (!f->r->have_sync)
		why = "Sync calls were not traced: there is nothing to draw.";
	else if (f->r->sync.count || f->r->sync.no_ledger)
		why = "It is not known where the time of the sync calls went: there is nothing to draw.";
	else if (report_may_lack_calls(f->r))
		why = "No sync call was seen: there is nothing to draw.";
	f->y += f->alone ? 10 : 22;
	f->y += 20 * svg_wrap(f->out, "none", why, f->y, INNER, FONT + 2, 20);
}

static void content(struct flame *f)
{
	flame_tree_make(&f->tree, &f->r->sync, f->min_ns);
	if (f->alone)
		head(f);
	if (f->tree.ns) {
		legend(f);
		frames(f);
		foot(f);
	} else {
		nothing(f);
	}
	flame_tree_free(&f->tree);
}

static unsigned int draw(const struct report *r, struct buf *out, bool alone, uint64_t min_ns)
{
	struct flame f = { .r = r, .out = out, .alone = alone, .min_ns = min_ns };

	buf_clear(out);
	content(&f);
	return f.y;
}

/* Everything there is; where that takes too much room, what is narrow is put together, no more of it than need be. */
static unsigned int fitting_content(const struct report *r, struct buf *out, bool alone)
{
	uint64_t too_fine = 0, fits = r->sync.total_ns;
	unsigned int height = draw(r, out, alone, 0);

	if (out->len <= ROOM)
		return height;
	for (int i = 0; i < TRIES; i++) {
		uint64_t middle = too_fine + (fits - too_fine) / 2;

		draw(r, out, alone, middle);
		if (out->len <= ROOM)
			fits = middle;
		else
			too_fine = middle;
	}
	return draw(r, out, alone, fits);
}

static void svg(const struct report *r, struct buf *out, bool alone)
{
	struct buf inside = { 0 };
	unsigned int height = fitting_content(r, &inside, alone);

	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame%s\" width=\"100%%\" viewBox=\"0 0 %u %u\" "
		   "preserveAspectRatio=\"xMinYMin meet\" aria-label=\"Flame-style histogram of where the time of sync calls "
		   "went\">\n",
		   alone ? " alone" : "", WIDTH, height);
	if (alone)
		buf_printf(out, "<style><![CDATA[\n%s]]></style>\n", asset_flame_css);
	buf_add(out, inside.data, inside.len);
	if (alone)
		buf_printf(out, "<script><![CDATA[\n%s]]></script>\n", asset_flame_js);
	buf_str(out, "</svg>\n");
	buf_free(&inside);
}

void flame_svg_element(const struct report *r, struct buf *out)
{
	svg(r, out, false);
}

void render_flame(const struct report *r, const struct render_opts *o, struct buf *out)
{
	(void)o;
	buf_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	svg(r, out, true);
}
