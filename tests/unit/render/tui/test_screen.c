// SPDX-License-Identifier: GPL-2.0-only
/*
 * The live screen without a terminal: reports built by hand, drawn into cells; the exact screens, keys, every size,
 * names that would act on a terminal.
 *
 * The golden directory is argv[1], GOLDEN_DIR, or tests/unit/golden. GOLDEN_UPDATE=1 rewrites it.
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "render/tui/screen.h"
#include "render/tui/screen_internal.h"
#include "golden.h"
#include "tap.h"
#include "wire.h"

#define US	1000ull
#define MS	1000000ull
#define SEC	1000000000ull
#define HOSTILE "ev\x1b[31m\x07;il\n\x9b\xff\xe2\x80\xae"

/* --- reports --- */

static void fill(struct tally *t, uint64_t n, uint64_t from, uint64_t step)
{
	for (uint64_t i = 0; i < n; i++)
		tally_add(t, from + i * step);
}

static void add_device(struct report *r, const char *name, uint64_t flushes)
{
	struct report_device *d = grow((void **)&r->device, &r->n_devices, sizeof(*d));

	snprintf(d->name, sizeof(d->name), "%s", name);
	d->op[OP_FLUSH].count = flushes;
	fill(&d->op[OP_FLUSH].device, flushes, 6900 * US, US);
	fill(&d->op[OP_FLUSH].queue, flushes, 0, 0);
	d->op[OP_WRITE_SYNC].count = 2 * flushes;
	fill(&d->op[OP_WRITE_SYNC].device, 2 * flushes, 250 * US, US);
	fill(&d->op[OP_WRITE_SYNC].queue, 2 * flushes, 4 * US, 0);
	d->op[OP_FUA].count = 3;
	fill(&d->op[OP_FUA].device, 3, 310 * US, US);
}

/* Calls of one process on one file: two thirds flush, the rest divided. */
static struct ledger split(uint64_t ns)
{
	struct ledger l = { 0 };

	l.ns[CAUSE_FLUSH_POST] = ns * 45 / 100;
	l.ns[CAUSE_FLUSH_PRE] = ns * 30 / 100;
	l.ns[CAUSE_DEVICE_WRITE] = ns * 10 / 100;
	l.ns[CAUSE_RUNQ] = ns * 5 / 100;
	l.ns[CAUSE_IOQ] = ns * 3 / 100;
	l.ns[CAUSE_JOURNAL] = ns * 2 / 100;
	l.ns[CAUSE_CPU] = ns - ledger_sum(&l);
	return l;
}

static void add_leaf(struct report *r, const char *comm, const char *file, enum cause c, uint64_t ns)
{
	struct report_leaf *l = grow((void **)&r->sync.leaf, &r->sync.n_leaves, sizeof(*l));
	char *clean = xstrdup(comm);

	for (char *p = clean; *p; p++)
		if (*p == ';' || (unsigned char)*p < ' ')
			*p = '_';
	l->path = xasprintf("%s;fdatasync;%s;jbd2/sda1-8;%s;sda", clean, file, cause_name(c));
	l->cause = c;
	l->ns = ns;
	free(clean);
}

static void add_leaves(struct report *r, const char *comm, const char *file, const struct ledger *l)
{
	for (enum cause c = 0; c < CAUSE_COUNT; c++)
		if (l->ns[c])
			add_leaf(r, comm, file, c, l->ns[c]);
}

static void add_slow(struct report *r, const char *comm, uint32_t pid, const char *path, uint64_t at, uint64_t ns)
{
	struct report_call *c = grow((void **)&r->sync.slowest, &r->sync.n_slowest, sizeof(*c));

	*c = (struct report_call){
		.start_ns = at,
		.duration_ns = ns,
		.pid = pid,
		.tid = pid,
		.comm = xstrdup(comm),
		.call = xstrdup("fdatasync"),
		.path = xstrdup(path),
		.device = xstrdup("sda1"),
		.ledger = split(ns),
	};
}

static void add_caller(struct report *r, const char *comm, uint32_t pid, uint64_t calls, uint64_t each)
{
	struct report_group *g = grow((void **)&r->sync.process, &r->sync.n_processes, sizeof(*g));

	g->pid = pid;
	g->comm = xstrdup(comm);
	g->count = calls;
	g->total_ns = calls * each;
	g->ledger = split(g->total_ns);
	fill(&g->latency, calls, each, 0);
	r->have_sync = true;
	r->sync.count += calls;
	r->sync.total_ns += g->total_ns;
	ledger_add(&r->sync.ledger, &g->ledger);
	hist_merge_tally(&r->sync.latency, &g->latency);
}

static void facts(struct report *r, uint64_t from, uint64_t wall)
{
	r->kernel = xstrdup("6.18.0");
	r->wall_ns = wall;
	r->interval_start_s = (double)from / 1e9;
	r->have_sync = true;
}

static void make_interval(struct report *r)
{
	facts(r, 71 * SEC, 1002 * MS);
	r->interval = true;
	add_device(r, "sda", 90);
	add_caller(r, "sqlite3", 4711, 100, 8 * MS);
	add_caller(r, "postgres", 815, 20, 3 * MS);
}

static void make_run(struct report *r)
{
	facts(r, 0, 72 * SEC);
	add_device(r, "sda", 800);
	add_device(r, "nvme0n1", 12);
	add_caller(r, "postgres", 815, 2000, 2 * MS);
	add_caller(r, "sqlite3", 4711, 800, 8 * MS);
	add_caller(r, "touch", 99, 1, 90 * MS);
	add_leaves(r, "sqlite3", "test.sqlite-journal", &r->sync.process[1].ledger);
	add_leaf(r, "sqlite3", "test.sqlite", CAUSE_FLUSH_ONLY, 70 * MS);
	add_leaf(r, "sqlite3", "test.sqlite", CAUSE_CPU, 20 * MS);
	add_leaf(r, "sqlite3x", "not-its-own", CAUSE_CPU, 20 * MS);
	for (unsigned int i = 0; i < 12; i++)
		add_slow(r, i % 3 ? "sqlite3" : "postgres", i % 3 ? 4711 : 815,
			 i % 3 ? "/srv/databases/of/somebody/with/long/names/test.sqlite-journal" : "/var/lib/pg/wal/0001",
			 i * SEC, (40 - i) * MS);
	r->have_verdict = true;
	r->verdict.class = "device-flush";
	r->verdict.sentence = xstrdup("Your fsyncs are slow because the drive takes 6.90 ms to empty its write cache: "
				      "75.0 % of the 10.5 s that sqlite3, postgres and touch spent in sync calls.");
}

/* --- screens as text --- */

struct shown {
	struct report interval, run;
	struct screen_state state;
	struct screen_grid grid;
};

static void draw(struct shown *w, unsigned int rows, unsigned int cols)
{
	const struct screen_view v = {
		.interval = w->interval.wall_ns ? &w->interval : NULL,
		.run = w->run.wall_ns ? &w->run : NULL,
		.state = &w->state,
	};

	w->grid.rows = rows;
	w->grid.cols = cols;
	screen_draw(&v, &w->grid);
}

static const struct screen_cell *at(const struct shown *w, unsigned int row, unsigned int col)
{
	return &w->grid.cell[row * w->grid.cols + col];
}

static void row_text(const struct shown *w, unsigned int row, struct buf *b)
{
	size_t from = b->len;

	for (unsigned int col = 0; col < w->grid.cols; col++)
		buf_str(b, at(w, row, col)->text);
	while (b->len > from && b->data[b->len - 1] == ' ')
		b->data[--b->len] = 0;
	buf_char(b, '\n');
}

static char *screen_text(const struct shown *w)
{
	struct buf b = { 0 };

	for (unsigned int row = 0; row < w->grid.rows; row++)
		row_text(w, row, &b);
	return b.data ? b.data : xstrdup("");
}

static struct shown *show(bool unicode)
{
	struct shown *w = xcalloc(1, sizeof(*w));

	screen_state_init(&w->state, unicode, unicode);
	make_interval(&w->interval);
	make_run(&w->run);
	for (unsigned int i = 0; i < 5; i++)
		screen_note(&w->state, &w->interval);
	w->interval.device[0].op[OP_FLUSH].count = 10;
	screen_note(&w->state, &w->interval);
	w->interval.device[0].op[OP_FLUSH].count = 90;
	return w;
}

static void drop(struct shown *w)
{
	report_free(&w->interval);
	report_free(&w->run);
	screen_state_free(&w->state);
	screen_grid_free(&w->grid);
	free(w);
}

static void press(struct shown *w, const char *keys)
{
	for (; *keys; keys++)
		screen_press(&w->state, w->interval.wall_ns ? &w->interval : NULL, w->run.wall_ns ? &w->run : NULL,
			     (unsigned char)*keys);
}

static void golden_screen(struct shown *w, const char *name, unsigned int rows, unsigned int cols)
{
	char *file = xasprintf("screen_%s", name), *got;

	draw(w, rows, cols);
	got = screen_text(w);
	golden(file, "txt", got);
	free(got);
	free(file);
}

/* On 24 rows of 80 columns. */
static bool has(struct shown *w, const char *text, bool wanted)
{
	char *got;
	bool found;

	draw(w, 24, 80);
	got = screen_text(w);
	found = strstr(got, text);
	if (found != wanted)
		diag("%s \"%s\" in:\n%s", wanted ? "no" : "a", text, got);
	free(got);
	return found == wanted;
}

static bool shows(struct shown *w, const char *text)
{
	return has(w, text, true);
}

static bool lacks(struct shown *w, const char *text)
{
	return has(w, text, false);
}

TEST(goldens)
{
	struct shown *w = show(true);

	golden_screen(w, "callers", 24, 80);
	golden_screen(w, "small", 10, 40);
	golden_screen(w, "large", 50, 120);
	press(w, "\r");
	golden_screen(w, "detail", 24, 80);
	press(w, "h");
	golden_screen(w, "hist", 24, 80);
	golden_screen(w, "hist_large", 50, 120);
	press(w, "?");
	golden_screen(w, "help", 40, 80);
	drop(w);
	w = show(false);
	golden_screen(w, "ascii", 24, 80);
	drop(w);
	w = xcalloc(1, sizeof(*w));
	screen_state_init(&w->state, true, true);
	golden_screen(w, "nothing_yet", 24, 80);
	drop(w);
}

/* --- keys --- */

/* The row that begins with this text, or rows. */
static unsigned int row_of(struct shown *w, const char *text)
{
	unsigned int row;

	draw(w, 24, 80);
	for (row = 0; row < 24; row++) {
		struct buf b = { 0 };
		bool found;

		row_text(w, row, &b);
		found = !strncmp(b.data, text, strlen(text));
		buf_free(&b);
		if (found)
			break;
	}
	return row;
}

TEST(sort)
{
	static const char *const first[] = { ">sqlite3", ">touch", ">touch", ">postgres", ">postgres" };
	struct shown *w = show(true);

	for (unsigned int i = 0; i < SCREEN_SORTS; i++) {
		ok(row_of(w, first[i]) == 13, "order %u: %s is first", i, first[i] + 1);
		press(w, "s");
	}
	ok(row_of(w, ">sqlite3") == 13, "and round again");
	press(w, "j");
	ok(row_of(w, ">postgres") == 14, "down: the second is chosen");
	press(w, "sss");
	ok(row_of(w, ">postgres") == 13, "in another order the same caller is chosen");
	press(w, "Gk");
	ok(row_of(w, ">sqlite3") == 14, "End and up");
	press(w, "kkkk");
	ok(row_of(w, ">postgres") == 13, "not above the first");
	press(w, "jjjjjjjj");
	ok(row_of(w, ">touch") == 15, "nor below the last");
	drop(w);
}

TEST(panes)
{
	struct shown *w = show(true);

	ok(row_of(w, ">callers, the run") == 12, "the callers have the keys first");
	ok(!at(w, 3, 0)->text[1] && at(w, 3, 0)->text[0] == ' ', "the devices don't");
	press(w, "i");
	ok(row_of(w, ">callers, last 1s") == 12 && lacks(w, "touch   "), "i: of the interval");
	press(w, "i\t");
	ok(row_of(w, ">devices, last 1s") == 3, "Tab: the devices");
	press(w, "j");
	ok(row_of(w, ">nvme0n1") == 6, "down: the next device");
	press(w, "i");
	ok(row_of(w, ">devices, the run") == 3 && row_of(w, " callers, the run") == 12, "i: only theirs");
	press(w, "\r");
	ok(shows(w, "histogram of nvme0n1"), "Enter: the device's histogram");
	press(w, "\t");
	ok(row_of(w, ">histogram of nvme0n1, the run") == 12, "Tab: the histogram");
	press(w, "i");
	ok(row_of(w, ">histogram of nvme0n1, last 1s") == 12, "i: of the interval");
	press(w, "\x1b");
	ok(row_of(w, ">callers") == 12, "Esc: the callers again");
	press(w, "h\th");
	ok(w->state.focus != PANE_HIST && !w->state.hist, "h twice: gone");
	drop(w);
}

TEST(detail)
{
	struct shown *w = show(true);
	char *before, *after;

	press(w, "\r");
	ok(shows(w, "sqlite3 (4711), the run: 800 calls") && shows(w, "test.sqlite-journal"), "Enter: into the first");
	ok(lacks(w, "not-its-own"), "a command whose name begins alike is another");
	ok(lacks(w, "/var/lib/pg"), "only its own calls");
	draw(w, 24, 80);
	before = screen_text(w);
	press(w, "jjj");
	draw(w, 24, 80);
	after = screen_text(w);
	ok(strcmp(before, after), "down: scrolls");
	for (int i = 0; i < 100; i++)
		press(w, "j");
	ok(shows(w, "29.0ms"), "to the last line, and no further");
	ok(!strcmp(w->state.comm, "sqlite3") && w->state.drilled, "the caller stays");
	press(w, "\b");
	ok(row_of(w, ">sqlite3") == 13, "Backspace: back");
	free(before);
	free(after);
	drop(w);
}

TEST(help)
{
	struct shown *w = show(true);

	press(w, "?");
	ok(shows(w, "any key closes this"), "?: help");
	press(w, "s");
	ok(!w->state.help && w->state.sort == SORT_TOTAL, "any key closes it, and does nothing else");
	ok(!screen_press(&w->state, &w->interval, &w->run, 'x'), "an unknown key changes nothing");
	w->state.stopping = true;
	ok(shows(w, "ending: waiting for the command"), "the end is waited for: it says so");
	drop(w);
}

/* --- what is shown --- */

TEST(ledger)
{
	struct shown *w = show(true);
	unsigned int n[SCREEN_STYLES] = { 0 };

	draw(w, 24, 80);
	/* the bar of the run, 48 columns */
	for (unsigned int col = 31; col < 79; col++)
		n[at(w, 9, col)->style]++;
	ok(n[SCREEN_FAMILY + FAMILY_FLUSH] == 36, "75 %% flush: %u of 48 columns", n[SCREEN_FAMILY + FAMILY_FLUSH]);
	ok(n[SCREEN_FAMILY + FAMILY_DEVICE] + n[SCREEN_FAMILY + FAMILY_CPU_SCHEDULER] >= 6, "device and CPU scheduler");
	ok(!n[SCREEN_PLAIN], "nothing is left over");
	w->run.lost_events = 1234;
	ok(shows(w, "1.23k events lost"), "lost events");
	w->run.lost_events = 0;
	w->run.sync.count = w->interval.sync.count = 0;
	ok(shows(w, "no sync calls"), "none: said");
	w->run.have_sync = w->interval.have_sync = false;
	ok(shows(w, "sync calls are not traced"), "not traced: said");
	drop(w);
}

TEST(trend)
{
	struct shown *w = show(true);

	ok(shows(w, "█████▂"), "five times as many, then fewer");
	for (unsigned int i = 0; i < SCREEN_HISTORY + 7; i++)
		screen_note(&w->state, &w->interval);
	ok(w->state.trend[0].n == SCREEN_HISTORY, "a history of limited length");
	w->interval.n_devices = 0;
	screen_note(&w->state, &w->interval);
	w->interval.n_devices = 1;
	ok(w->state.trend[0].flushes[SCREEN_HISTORY - 1] == 0, "a disk that is left out did nothing");
	ok(shows(w, "█_"), "and nothing is drawn as nothing");
	drop(w);
}

TEST(many)
{
	struct shown *w = show(true);
	char name[32];

	for (unsigned int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "proc%02u", i);
		add_caller(&w->run, name, 1000 + i, 1, MS - i);
		snprintf(name, sizeof(name), "sd%02u", i);
		add_device(&w->run, name, 1);
	}
	ok(shows(w, "1-7 of 53 callers") && shows(w, "1-4 of 52"), "more than fit: says which");
	press(w, "G\tG");
	ok(shows(w, ">proc49") && shows(w, ">sd49"), "the chosen ones are in sight");
	ok(shows(w, "47-53 of 53 callers") && shows(w, "49-52 of 52"), "and the places are said");
	drop(w);
}

/* Nothing but one displayable character per cell, of the width that is said. */
static bool harmless(const struct shown *w)
{
	for (unsigned int i = 0; i < w->grid.rows * w->grid.cols; i++) {
		const struct screen_cell *c = &w->grid.cell[i];
		uint32_t cp = 0;

		if (!c->width) {
			if (c->text[0] || i % w->grid.cols == 0 || w->grid.cell[i - 1].width != 2)
				return false;
			continue;
		}
		utf8_decode(c->text, &cp);
		if (utf8_width(c->text, sizeof(c->text)) != c->width || cp < ' ' || (cp >= 0x7f && cp < 0xa0) ||
		    cp == UTF8_BAD || (cp >= 0x202a && cp <= 0x202e) || (!w->state.unicode && cp > 0x7e) ||
		    c->style >= SCREEN_STYLES)
			return false;
		if (c->width == 2 && (i + 1) % w->grid.cols == 0)
			return false;
	}
	return true;
}

static void hostile(struct report *r)
{
	add_caller(r, HOSTILE, 666, 3000, 9 * MS);
	add_caller(r, "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad", 667, 30, 9 * MS); /* wide, and cut off */
	add_caller(r, "e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81", 668, 30, 9 * MS);
	add_caller(r, "", 669, 30, 9 * MS);
	add_leaves(r, HOSTILE, HOSTILE "\xe6\xbc\xa2", &r->sync.process[0].ledger);
	add_slow(r, HOSTILE, 666, "/\xe6\xbc\xa2\xe5\xad\x97/" HOSTILE, 0, 99 * MS);
	add_device(r, "sd\x1b[2J\x9b", 3);
	free(r->verdict.sentence);
	r->verdict.sentence = xstrdup("Because of " HOSTILE " \xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2.");
	free(r->kernel);
	r->kernel = xstrdup(HOSTILE);
}

static void test_sizes(bool unicode)
{
	static const unsigned int rows[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16, 17, 24, 29, 30, 39, 40, 60 };
	static const unsigned int cols[] = {
		1, 2, 3, 4, 5, 9, 10, 11, 20, 39, 40, 41, 59, 60, 61, 71, 72, 73, 80, 101, 102, 199,
	};
	static const char *const ways[] = { "", "\r", "jj\r", "h", "?", "\tj", "h\t\t" };
	struct shown *w = show(unicode);
	unsigned int bad = 0;

	hostile(&w->run);
	hostile(&w->interval);
	screen_note(&w->state, &w->interval);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		bool color = w->state.color;

		screen_state_free(&w->state);
		screen_state_init(&w->state, unicode, color);
		screen_note(&w->state, &w->interval);
		press(w, ways[i]);
		for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++)
			for (size_t c = 0; c < sizeof(cols) / sizeof(cols[0]); c++) {
				draw(w, rows[r], cols[c]);
				bad += !harmless(w);
			}
	}
	ok(!bad, "%s: hostile names are harmless at every size (%u are not)", unicode ? "Unicode" : "ASCII", bad);
	press(w, "\x1b\x1b");
	ok(shows(w, "ev\\x1b[31m"), "they are shown escaped");
	draw(w, 0, 0);
	ok(w->grid.rows == 0, "no size at all");
	drop(w);
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	test_sizes(true);
	test_sizes(false);
	return tap_done();
}
