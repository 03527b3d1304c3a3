// SPDX-License-Identifier: GPL-2.0-only
/*
 * heat_map_html.c - latency over time: one map for the sync calls, with the slowest of them as dots to pick, and one for each
 * class of each device. All have the same axis of time. Rows are those of struct heat, two to a power of two, the lowest
 * at the bottom.
 */
#include "render/html/html.h"

#include <inttypes.h>
#include <string.h>

#define WIDTH	    2400u /* units of the picture, which is stretched to fit */
#define LEVELS	    7u	  /* shades */
#define ROWS_LEAST  8u
#define TICKS_MOST  6u
#define CLOSE_TICKS 10u /* rows */
#define LOWEST_BITS 10	/* heat_map.h: rows begin at 1 µs, 2^10 ns */
#define SEC	    1000000000ull

struct map {
	const struct heat *h;
	uint64_t extent; /* what the axis of time ends with */
	unsigned int bottom, rows;
	uint32_t most; /* in one cell */
};

/* ---- scales ---- */

/* 256 times the binary logarithm, straight between powers of two: the same everywhere. */
static unsigned int log2_256(uint64_t v)
{
	unsigned int e = hist_log2(v);
	uint64_t rest = v - (1ull << e);

	return 256 * e + (unsigned int)(e > 8 ? rest >> (e - 8) : rest << (8 - e));
}

static unsigned int level(uint32_t n, uint32_t most)
{
	unsigned int all = log2_256(most);

	return all ? 1 + log2_256(n) * (LEVELS - 1) / all : LEVELS;
}

/* Where a latency lies, in thousandths of a row from the map's upper edge. */
static uint64_t depth(const struct map *m, uint64_t ns)
{
	uint64_t top = 1000ull * (m->bottom + m->rows), at = 0;
	unsigned int e = hist_log2(ns), shift = e > 20 ? e - 20 : 0; /* so that the product fits */

	if (ns && e >= LOWEST_BITS)
		at = 2000ull * (e - LOWEST_BITS) + ((ns - (1ull << e)) >> shift) * 2000 / (1ull << (e - shift));
	if (at < 1000ull * m->bottom)
		at = 1000ull * m->bottom;
	return at > top ? 0 : top - at;
}

/* The rows that have something, with a little air, and not fewer than look like a map. */
static void measure(struct map *m)
{
	unsigned int lowest = HEAT_ROWS, highest = 0;

	for (uint32_t c = 0; c < m->h->columns; c++) {
		for (unsigned int r = 0; r < HEAT_ROWS; r++) {
			if (!m->h->n[c][r])
				continue;
			lowest = r < lowest ? r : lowest;
			highest = r > highest ? r : highest;
			m->most = m->h->n[c][r] > m->most ? m->h->n[c][r] : m->most;
		}
	}
	if (!m->most)
		return;
	m->bottom = lowest ? lowest - 1 : 0;
	m->rows = highest + 2 - m->bottom;
	while (m->rows < ROWS_LEAST) {
		m->rows++;
		m->bottom -= m->bottom && m->rows % 2;
	}
}

/* ---- axes ---- */

static struct num long_label(uint64_t ns, uint64_t step)
{
	bool hours = step % (3600 * SEC) == 0;
	struct num n = num_count(ns / ((hours ? 3600 : 60) * SEC));

	strcat(n.s, hours ? " h" : " min");
	return n;
}

/* "1.50 s" is "1.5 s" on an axis, and "600 s" is "10 min" on one of minutes. */
static struct num tick_label(uint64_t ns, uint64_t step)
{
	struct num n = step && step % (60 * SEC) == 0 ? long_label(ns, step) : num_duration(ns, 0);
	char *unit = strchr(n.s, ' '), *end = unit;

	if (!ns)
		return (struct num){ "0" };
	if (!unit || !memchr(n.s, '.', (size_t)(unit - n.s)))
		return n;
	while (end[-1] == '0')
		end--;
	if (end[-1] == '.')
		end--;
	memmove(end, unit, strlen(unit) + 1);
	return n;
}

static uint64_t time_step(uint64_t extent)
{
	static const uint64_t long_steps[] = { 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400 };
	static const unsigned int digits[] = { 1, 2, 5 };
	uint64_t step;

	for (uint64_t ten = 1000; ten <= 10 * SEC; ten *= 10) {
		for (int i = 0; i < 3; i++) {
			step = digits[i] * ten;
			if (extent / step < TICKS_MOST && step <= 20 * SEC)
				return step;
		}
	}
	for (size_t i = 0; i < sizeof(long_steps) / sizeof(long_steps[0]); i++) {
		step = long_steps[i] * SEC;
		if (extent / step < TICKS_MOST)
			return step;
	}
	return extent / (TICKS_MOST - 1) + 1;
}

static void time_axis(struct buf *b, uint64_t extent)
{
	uint64_t step = time_step(extent);

	buf_str(b, "<div class=\"x\" aria-hidden=\"true\">");
	for (uint64_t i = 0; i <= extent / step; i++) {
		buf_str(b, "<span style=\"");
		html_permyriad(b, "left", i * step, extent);
		html_num_in(b, "\">", tick_label(i * step, step), "</span>");
	}
	buf_str(b, "</div>");
}

/* Where there is room for them: 1, 2, 5, 10, .. */
static uint64_t next_tick(uint64_t v, unsigned int rows)
{
	uint64_t digit = v;

	while (digit >= 10)
		digit /= 10;
	if (rows > CLOSE_TICKS)
		return v * 10;
	return digit == 2 ? v / 2 * 5 : v * 2;
}

static void latency_axis(struct buf *b, const struct map *m)
{
	uint64_t lowest = heat_row_lower(m->bottom), end = heat_row_lower(m->bottom + m->rows);

	buf_str(b, "<div class=\"y\" aria-hidden=\"true\">");
	for (uint64_t v = 1000; v < end; v = next_tick(v, m->rows)) {
		if (v < lowest || depth(m, v) < 500)
			continue;
		buf_str(b, "<span style=\"");
		html_permyriad(b, "top", depth(m, v), 1000ull * m->rows);
		html_num_in(b, "\">", tick_label(v, 0), "</span>");
	}
	buf_str(b, "</div>");
}

/* ---- cells ---- */

static unsigned int x_of(const struct map *m, uint32_t column)
{
	double x = (double)column * (double)m->h->column_ns / (double)m->extent * WIDTH;

	return x > WIDTH ? WIDTH : (unsigned int)(x + 0.5);
}

/* Cells of one shade in one row stand together; y counts rows from above. */
static void row_path(struct buf *b, const struct map *m, unsigned int r, unsigned int shade)
{
	const struct heat *h = m->h;
	unsigned int y = m->bottom + m->rows - 1 - r;

	for (uint32_t c = 0, first; c < h->columns; c++) {
		if (!h->n[c][r] || level(h->n[c][r], m->most) != shade)
			continue;
		for (first = c; c + 1 < h->columns && h->n[c + 1][r] && level(h->n[c + 1][r], m->most) == shade;)
			c++;
		buf_printf(b, "M%u %uH%uv1H%uz", x_of(m, first), y, x_of(m, c + 1), x_of(m, first));
	}
}

static void cells(struct buf *b, const struct map *m, const char *label)
{
	buf_printf(b, "<svg viewBox=\"0 0 %u %u\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"", WIDTH, m->rows);
	html_text(b, label);
	buf_str(b, "\">");
	for (unsigned int shade = 1; shade <= LEVELS; shade++) {
		size_t empty;

		buf_printf(b, "<path class=\"l%u\" d=\"", shade);
		empty = b->len;
		for (unsigned int r = m->bottom; r < m->bottom + m->rows && r < HEAT_ROWS; r++)
			row_path(b, m, r, shade);
		if (b->len == empty)
			buf_str(b, "M0 0");
		buf_str(b, "\"/>");
	}
	buf_str(b, "</svg>");
}

/* For the script, which names the cell under the pointer: "column,row,count" of each, rows counted from above. */
static void cell_data(struct buf *b, const struct map *m)
{
	const char *between = "";

	buf_printf(b, " data-column=\"%" PRIu64 "\" data-extent=\"%" PRIu64 "\"", m->h->column_ns, m->extent);
	buf_printf(b, " data-bottom=\"%u\" data-rows=\"%u\" data-n=\"", m->bottom, m->rows);
	for (uint32_t c = 0; c < m->h->columns; c++) {
		for (unsigned int r = 0; r < HEAT_ROWS; r++) {
			if (!m->h->n[c][r])
				continue;
			buf_printf(b, "%s%u,%u,%u", between, c, r, m->h->n[c][r]);
			between = " ";
		}
	}
	buf_char(b, '"');
}

/* ---- the slowest calls, as dots ---- */

static enum cause_family heaviest(const struct ledger *l)
{
	enum cause_family best = FAMILY_UNKNOWN;

	for (int f = 0; f < FAMILY_COUNT; f++)
		if (ledger_family(l, (enum cause_family)f) > ledger_family(l, best))
			best = (enum cause_family)f;
	return best;
}

static void dots(struct buf *b, const struct map *m, const struct report_sync *s)
{
	buf_str(b, "<div class=\"dots\" role=\"radiogroup\" "
		   "aria-label=\"The slowest calls: choose one to see its ledger\">");
	for (size_t i = 0; i < s->n_slowest; i++) {
		const struct report_call *c = &s->slowest[i];

		buf_printf(b, "<span class=\"dot %s\" data-call=\"%zu\" style=\"", html_family(heaviest(&c->ledger)).s, i);
		html_permyriad(b, "left", c->start_ns + c->duration_ns, m->extent);
		buf_char(b, ';');
		html_permyriad(b, "top", depth(m, c->duration_ns), 1000ull * m->rows);
		buf_str(b, "\"></span>");
	}
	buf_str(b, "</div>");
}

/* ---- a map ---- */

static void legend(struct buf *b, const struct map *m)
{
	buf_str(b, "<span class=\"scale\" aria-hidden=\"true\">1");
	for (unsigned int i = 1; i <= LEVELS; i++)
		buf_printf(b, "<i class=\"l%u\"></i>", i);
	buf_printf(b, "%s in a cell</span>", num_count_short(m->most).s);
}

static void map(struct buf *b, const struct heat *h, uint64_t extent, const char *class, const char *title,
		const struct report_sync *s)
{
	struct map m = { .h = h, .extent = extent };

	measure(&m);
	if (!m.most || !extent)
		return;
	buf_printf(b, "<figure class=\"heat %s\"><figcaption><b>", class);
	html_text(b, title);
	buf_str(b, "</b>");
	legend(b, &m);
	buf_printf(b, "</figcaption><div class=\"plot\" style=\"--rows:%u\">", m.rows);
	latency_axis(b, &m);
	buf_str(b, "<div class=\"area\"");
	cell_data(b, &m);
	buf_char(b, '>');
	cells(b, &m, title);
	if (s)
		dots(b, &m, s);
	buf_str(b, "</div>");
	time_axis(b, extent);
	buf_str(b, "</div></figure>\n");
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t end_of(const struct heat *h)
{
	return h ? (uint64_t)h->columns * h->column_ns : 0;
}

/* The run, or a little more where a last column or call ends after it. */
static uint64_t extent_of(const struct report *r)
{
	uint64_t extent = r->wall_ns;

	extent = later(extent, end_of(r->sync.heat));
	for (size_t i = 0; i < r->sync.n_slowest; i++)
		extent = later(extent, r->sync.slowest[i].start_ns + r->sync.slowest[i].duration_ns);
	for (size_t i = 0; i < r->n_devices; i++)
		for (int c = 0; c < HEAT_CLASSES; c++)
			extent = later(extent, end_of(r->device[i].heat[c]));
	return extent;
}

static void device_maps(struct buf *b, const struct report_device *d, uint64_t extent, size_t begin)
{
	static const struct {
		enum heat_class class;
		const char *title;
		enum cause_family family;
	} maps[HEAT_CLASSES] = {
		{ HEAT_FLUSH, "flush", FAMILY_FLUSH },
		{ HEAT_FUA, "write with FUA", FAMILY_DEVICE },
		{ HEAT_WRITE, "write", FAMILY_DEVICE },
		{ HEAT_READ, "read", FAMILY_DEVICE },
	};

	for (int i = 0; i < HEAT_CLASSES; i++) {
		struct buf title = { 0 };

		if (!d->heat[maps[i].class])
			continue;
		if (b->len - begin > HTML_ROOM_HEAT) {
			buf_str(b, "<p class=\"aside\">Further maps are left out to keep this page small.</p>\n");
			return;
		}
		buf_printf(&title, "%s: %s, %s", d->name, maps[i].title,
			   d->bio_based ? "from submission to end" : "time in the device");
		map(b, d->heat[maps[i].class], extent, html_family(maps[i].family).s, title.data, NULL);
		buf_free(&title);
	}
}

void html_heat(struct buf *b, const struct report *r)
{
	uint64_t extent = extent_of(r);
	size_t begin = b->len;

	if (r->have_sync && r->sync.heat)
		map(b, r->sync.heat, extent, "sync",
		    r->sync.n_slowest < r->sync.count ? "Sync calls, by when they ended; dots are the slowest" :
							"Sync calls, by when they ended; each has a dot",
		    &r->sync);
	html_slowest(b, r);
	for (size_t i = 0; i < r->n_devices; i++)
		device_maps(b, &r->device[i], extent, begin);
}
