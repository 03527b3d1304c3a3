// SPDX-License-Identifier: GPL-2.0-only
/* A run's context as JSON: each value in its place in both directions, what makes no sense refused, what is too much counted. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/outstanding.h"
#include "recording/recording.h"
#include "recording/run_context_json.h"
#include "util/mem.h"
#include "json_at.h"
#include "tap.h"

static struct err e;

/* In C, JSON is easier to read with ' in the place of ". */
static json_t *json_of(const char *text)
{
	char *s = xstrdup(text);
	json_t *j;

	for (char *c = s; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	j = json_loads(s, JSON_ALLOW_NUL, NULL);
	if (!j)
		diag("no JSON: %s", text);
	free(s);
	return j;
}

static int decode(const char *text, struct frame *f)
{
	json_t *j = json_of(text);
	int err;

	memset(f, 0, sizeof(*f));
	err = frame_decode(j, f, &e);
	json_decref(j);
	return err;
}

/* ---- there and back ---- */

#define HEAT_BACK "'heat': {}"
#define KERNEL_ZERO \
	"'kernel': {'have': false, 'have_flush': false, 'reads': 0, 'read_bytes': 0, 'read_ns': 0, 'writes': 0," \
	" 'write_bytes': 0, 'write_ns': 0, 'discards': 0, 'discard_bytes': 0, 'discard_ns': 0, 'flushes': 0, 'flush_ns': 0, 'edge_flushes': 0}"

static const char whole[] =
	"{'views': 12, 'all': true, 'only_command': false, 'ledger': true, 'start_ns': 1001, 'known_ns': 1002,"
	" 'run': {'version': '1.2', 'start': '2026-01-31T03:07:00Z', 'wall_ns': 1003,"
	"  'command': ['dd', {'hex': '2f61ff'}, 'of=x'], 'arguments_hidden': true, 'have_exit_status': true, 'exit_status': -3, 'stopped': true,"
	"  'processes': 1006, 'threads': 1007, 'kernel': '6.1', 'arch': 'x86_64', 'filter': 'pid 42', 'final': true,"
	"  'lost_events': 1008, 'under_way': 1009, 'under_way_ns': 1010, 'left_running': 1011, 'left_pid': 4294967295,"
	"  'left_comm': 'sleep', 'looked_before': true, 'began_before': 1012, 'began_before_ns': 1013, 'unrecorded': 1014, 'unrecorded_ns': 1015, 'idle_unended': 1016, 'incomplete': true,"
	"  'notes': ['one']},"
	" 'probes': [{'name': 'p1', 'rung': 'tp', 'state': 3, 'reason': 'why'}, {'name': 'p2', 'state': 0}],"
	" 'lost': [{'reason': 'l1', 'count': 5, 'reach': 0}, {'reason': 'l2', 'count': 6, 'reach': 1}, {'reason': 'l3', 'count': 7, 'reach': 4294967295}],"
	" 'outstanding': [{'pid': 1, 'tid': 2, 'comm': 'c', 'cmdline': 'c d', 'call': 'fsync', 'path': '/x', 'device': 'sda',"
	"  'before': true, 'other': false, 'ns': 3, 'step': 'journal', 'where': 'f', 'via': 'jbd2', 'via_tid': 4, 'op': 'flush',"
	"  'disk': 'sdb', 'certain': true, 'queued': false, 'request_before': true, 'request_ns': 5}],"
	" 'devices': [{'name': 'sda', 'major': 8, 'minor': 16, 'model': 'M', 'write_cache': 'write back', 'scheduler': 'none',"
	"   'have_fua': true, 'fua': false, 'have_rotational': true, 'rotational': false, 'have_wbt': true, 'wbt_lat_us': 2001,"
	"   'nr_requests': 2002, 'size': 2003, 'slaves': ['a', 'b'], 'via': 'v', 'disk': 'd', 'vanished': true,"
	"   'bio_based': false, 'diskseq': 2004, 'from_ns': 2005,"
	"   'kernel': {'have': true, 'have_flush': true, 'reads': 1, 'read_bytes': 2, 'read_ns': 3, 'writes': 4, 'write_bytes': 5,"
	"    'write_ns': 6, 'discards': 7, 'discard_bytes': 8, 'discard_ns': 9, 'flushes': 10, 'flush_ns': 11, 'edge_flushes': 12},"
	"   'in_flight': {'have': true, 'by_kind': true, 'n[ROW_READ]': 1, 'n[ROW_WRITE]': 2, 'n[ROW_FUA]': 3, 'n[ROW_FLUSH]': 4,"
	"    'n[ROW_DISCARD]': 5, 'n[ROW_OTHER]': 6},"
	"   'mounts': [{'dir': '/', 'fstype': 'ext4', 'options': 'rw', 'barrier': 'barrier'}, {'dir': '/b', 'fstype': 'xfs'}],"
	"   'views': {'view': 0, 'n_parts': 8, 'part_view': [4, 5, 6, 7, 8, 9, 10, 11]},"
	"   'heat': {'write': {'column_ns': 7, 'n': [0, 59, 1, 239, 0, 4294967295]}, 'flush': {'column_ns': 8, 'n': [2, 3, 4]}}},"
	"  {'name': 'a name of thirty-one characters', 'major': 8, 'minor': 17, 'have_fua': false, 'fua': false,"
	"   'have_rotational': false, 'rotational': false, 'have_wbt': false, 'wbt_lat_us': 0, 'nr_requests': 0, 'size': 0,"
	"   'vanished': false, 'bio_based': true, 'diskseq': 0, 'from_ns': 0, " KERNEL_ZERO ", 'mounts': [],"
	"   'views': {'view': 11, 'n_parts': 0, 'part_view': [0, 0, 0, 0, 0, 0, 0, 0]}, " HEAT_BACK "}],"
	" 'places': [{'dev': 9, 'name': 'sda', 'mount': '/', 'fstype': 'ext4', 'traced': true, 'volatile_cache': false,"
	"   'nobarrier': true},"
	"  {'dev': 10, 'name': 'sdb', 'mount': '', 'fstype': '', 'traced': false, 'volatile_cache': true, 'nobarrier': false}],"
	" 'symbols': [{'name': 's1', 'start': 10, 'end': 20}, {'name': 's2', 'start': 9223372036854775807, 'end': -1}]}";

/* What differs first, for whoever looks at a failure. */
static void show_difference(json_t *a, json_t *b, const char *path)
{
	const char *key;
	json_t *v;

	json_object_foreach(a, key, v)
	{
		if (!json_equal(v, json_object_get(b, key)))
			diag("%s%s differs", path, key);
	}
}

static void test_there_and_back(void)
{
	json_t *want = json_of(whole), *got;
	struct frame f = { 0 };

	ok(!frame_decode(want, &f, &e), "a run with all there is can be read");
	got = frame_encode(&f);
	if (!ok(want && json_equal(got, want), "and is written as it was"))
		show_difference(want, got, "");
	json_decref(got);
	json_decref(want);
	frame_free(&f);
}

/* Where the two directions could agree on the wrong place. */
static void test_places(void)
{
	const struct report_device *d;
	struct frame f;

	decode(whole, &f);
	d = &f.device->facts;
	ok(f.views == 12 && f.all && !f.only_command && f.ledger && f.start_ns == 1001 && f.known_ns == 1002,
	   "the frame's own");
	ok(f.run.wall_ns == 1003 && f.run.exit_status == -3 && f.run.left_pid == UINT32_MAX && f.run.final,
	   "the run's numbers");
	ok(!strcmp(f.run.command[1], "/a\xff") && !f.run.command[3], "bytes that are no text");
	ok(f.run.n_probes == 2 && f.run.probe[0].state == PROBE_OFF && !f.run.probe[1].reason, "probes");
	ok(f.run.n_lost == 3 && f.run.lost[2].count == 7 && !strcmp(f.run.lost[2].reason, "l3"), "losses in their order");
	ok(f.n_devices == 2 && d->n_mounts == 2 && !strcmp(d->mounts[1].dir, "/b") && !d->mounts[1].options, "mounts");
	ok(f.device->n_parts == 8 && f.device->part_view[7] == 11 && f.device[1].view == 11, "views");
	ok(!d->heat[HEAT_READ] && d->heat[HEAT_WRITE]->columns == 240 && d->heat[HEAT_WRITE]->n[239][0] == UINT32_MAX &&
		   d->heat[HEAT_WRITE]->n[0][59] == 1 && d->heat[HEAT_FLUSH]->columns == 3 &&
		   d->heat[HEAT_FLUSH]->n[2][3] == 4,
	   "heat maps");
	ok(d->in_flight.n[ROW_OTHER] == 6 && d->kernel.flush_ns == 11, "the kernel's counters");
	ok(f.n_places == 2 && f.place[1].dev == 10 && f.place[1].volatile_cache && f.n_symbols == 2 && f.symbol[0].end == 20,
	   "places and functions");
	frame_free(&f);
}

static void test_bytes(void)
{
	static const struct {
		const char *json, *want; /* want: NULL where it is no string */
	} rows[] = {
		{ "'text'", "text" },
		{ "''", "" },
		{ "5", NULL },
		{ "null", NULL },
		{ "{}", NULL },
		{ "{'hex': 5}", NULL },
		{ "{'hex': ''}", "" },
		{ "{'hex': '61627f'}", "ab\x7f" },
		{ "{'hex': '09af90fa'}", "\x09\xaf\x90\xfa" },
		{ "{'hex': '616'}", "a" },
		{ "{'hex': '61g0'}", "a" },
		{ "{'hex': '610g'}", "a" },
		{ "{'hex': '61/0'}", "a" },
		{ "{'hex': '61:0'}", "a" },
		{ "{'hex': '61`0'}", "a" },
		{ "{'hex': '61FF'}", "a" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = xasprintf("{'run': {'filter': %s, 'left_comm': %s}}", rows[i].json, rows[i].json);
		struct frame f;
		bool good = !decode(text, &f);

		good = good && (rows[i].want ? f.run.filter && !strcmp(f.run.filter, rows[i].want) : !f.run.filter);
		good = good && !strcmp(f.run.left_comm, rows[i].want ? rows[i].want : "");
		ok(good, "a string that is %s", rows[i].json);
		frame_free(&f);
		free(text);
	}
}

/* What isn't UTF-8 is written as digits and comes back. */
static void test_hex_out(void)
{
	char raw[] = "a\x0f\xf0\x80z";
	struct frame f = { .run = { .filter = raw } };
	json_t *j = frame_encode(&f);
	struct frame back;

	ok(!strcmp(str(j, "run/filter/hex"), "610ff0807a"), "a byte is two digits");
	ok(!frame_decode(j, &back, &e) && !strcmp(back.run.filter, raw), "and comes back");
	ok(!at(j, "run/version") && !at(j, "run/command") && !at(j, "devices/0"), "what is not known is not there");
	frame_free(&back);
	json_decref(j);
}

static void test_missing(void)
{
	static const struct report_device none;
	struct frame f;

	decode("{'run': {}, 'views': 1, 'devices': [{}]}", &f);
	ok(f.n_devices == 1 && !f.device->view && !f.device->n_parts && !memcmp(&f.device->facts, &none, sizeof(none)),
	   "of a device of which nothing is said nothing is known");
	frame_free(&f);
}

static void test_long_text(void)
{
	struct frame f;

	decode("{'run': {'left_comm': '0123456789abcdefgh'}}", &f);
	ok(!strcmp(f.run.left_comm, "0123456789abcde"), "a name that is too long for its place is cut off");
	frame_free(&f);
}

static void test_vectors(void)
{
	static const struct {
		const char *json;
		size_t n;
		const char *last;
	} rows[] = {
		{ "['a', 'b', 'c']", 3, "c" }, { "[]", 0, NULL },	  { "[1, 2]", 0, NULL },
		{ "[1, 'b', null]", 1, "b" },  { "{'0': 'a'}", 0, NULL }, { "'abc'", 0, NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = xasprintf("{'run': {'command': %s}}", rows[i].json);
		struct frame f;

		ok(!decode(text, &f) && strv_len(f.run.command) == rows[i].n && !f.run.command == !rows[i].n &&
			   (!rows[i].n || !strcmp(f.run.command[rows[i].n - 1], rows[i].last)),
		   "a vector that is %s", rows[i].json);
		frame_free(&f);
		free(text);
	}
}

/* ---- sense ---- */

#define RUN	     "'run': {}, "
#define VIEW(fields) "'devices': [{'views': {" fields "}}]}"

static const struct {
	const char *json;
	bool good;
} senses[] = {
	{ "{'run': {}}", true },
	{ "{}", false },
	{ "[]", false },
	{ "{'run': 5}", false },
	{ "{'run': []}", false },
	{ "{" RUN "'views': 4096}", true },
	{ "{" RUN "'views': 4097}", false },
	{ "{" RUN "'views': 1, " VIEW("'view': 0"), true },
	{ "{" RUN "'views': 1, " VIEW("'view': 1"), false },
	{ "{" RUN VIEW("'view': 0"), false },
	{ "{" RUN "'views': 2, " VIEW("'n_parts': 2, 'part_view': [0, 1]"), true },
	{ "{" RUN "'views': 2, " VIEW("'n_parts': 2, 'part_view': [0, 2]"), false },
	{ "{" RUN "'views': 2, " VIEW("'n_parts': 2, 'part_view': [2, 1]"), false },
	{ "{" RUN "'views': 2, " VIEW("'n_parts': 1, 'part_view': [1, 2]"), true },
	{ "{" RUN "'views': 8, " VIEW("'n_parts': 8, 'part_view': [0, 1, 2, 3, 4, 5, 6, 7]"), true },
	{ "{" RUN "'views': 8, " VIEW("'n_parts': 9, 'part_view': [0, 1, 2, 3, 4, 5, 6, 7]"), false },
	{ "{" RUN "'views': 1, 'devices': [{'views': {'view': 0}}, {'views': {'view': 3}}]}", false },
	{ "{" RUN "'views': 1, 'devices': [{'views': {'view': 3}}, {'views': {'view': 0}}]}", false },
	{ "{" RUN "'views': 3, 'devices': [{'views': {'view': 0}}, {'views': {'view': 1}}]}", true },
	{ "{" RUN "'views': 3, 'devices': [{'views': {'view': 1}}, {'views': {'view': 1}}]}", false },
	{ "{" RUN "'views': 3, 'devices': [{'views': {'view': 0, 'n_parts': 1, 'part_view': [1]}}, {'views': {'view': 1}}]}",
	  true },
	{ "{" RUN "'views': 3, 'devices': [{'views': {'n_parts': 1, 'part_view': [2]}}, "
	  "{'views': {'view': 1, 'n_parts': 1, 'part_view': [2]}}]}",
	  false },
	{ "{" RUN "'views': 3, 'devices': [{'views': {'n_parts': 2, 'part_view': [2, 2]}}]}", false },
	{ "{" RUN "'probes': [{'name': 'p', 'state': 3}]}", true },
	{ "{" RUN "'probes': [{'name': 'p', 'state': 4}]}", false },
	{ "{" RUN "'probes': [{'name': 'p', 'state': -1}]}", false },
	{ "{" RUN "'probes': [{'name': 'p'}, {'state': 0}]}", false },
	{ "{" RUN "'probes': [{'state': 0}]}", false },
	{ "{" RUN "'lost': [{'reason': 'r'}]}", true },
	{ "{" RUN "'lost': [{'count': 5}]}", false },
	{ "{" RUN "'lost': [{'reason': 'r'}, {'count': 5}]}", false },
	{ "{" RUN "'outstanding': [{'comm': 'c', 'call': 'f', 'step': 's'}]}", true },
	{ "{" RUN "'outstanding': [{'comm': 'c', 'call': 'f', 'step': 's', 'op': 'o', 'disk': 'd'}]}", true },
	{ "{" RUN "'outstanding': [{'comm': 'c', 'call': 'f', 'step': 's', 'op': 'o'}]}", false },
	{ "{" RUN "'outstanding': [{'comm': 'c', 'call': 'f', 'step': 's', 'disk': 'd'}]}", false },
	{ "{" RUN "'outstanding': [{'call': 'f', 'step': 's'}]}", false },
	{ "{" RUN "'outstanding': [{'comm': 'c', 'step': 's'}]}", false },
	{ "{" RUN "'outstanding': [{'comm': 'c', 'call': 'f'}]}", false },
	{ "{" RUN "'outstanding': [{'comm': 'c', 'call': 'f', 'step': 's'}, {}]}", false },
};

static void test_sense(void)
{
	for (size_t i = 0; i < sizeof(senses) / sizeof(senses[0]); i++) {
		struct frame f;
		int err;

		e = (struct err){ 0 };
		err = decode(senses[i].json, &f);
		if (senses[i].good)
			ok(!err, "sense: %s", senses[i].json);
		else
			ok(err == -EBADMSG && e.status == EXIT_FAILED && !f.views && !f.run.n_probes &&
				   !strcmp(e.text, "the recording's description of the run makes no sense"),
			   "none: %s", senses[i].json);
		frame_free(&f);
	}
}

static const struct {
	const char *heat;
	int columns; /* -1: there is none */
	uint32_t sum;
} heats[] = {
	{ "{'column_ns': 1, 'n': [0, 0, 1]}", 1, 1 },
	{ "{'column_ns': 0, 'n': [0, 0, 1]}", -1, 0 },
	{ "{'column_ns': -1, 'n': [0, 0, 1]}", -1, 0 },
	{ "{'n': [0, 0, 1]}", -1, 0 },
	{ "{'column_ns': 38430716820228232, 'n': [0, 0, 1]}", 1, 1 }, /* 2^63 / 240 */
	{ "{'column_ns': 38430716820228233, 'n': [0, 0, 1]}", -1, 0 },
	{ "{'column_ns': 1}", 0, 0 },
	{ "{'column_ns': 1, 'n': [0, 0]}", 0, 0 },
	{ "{'column_ns': 1, 'n': [5, 0, 2, 1, 0, 4, 1, 1]}", 6, 6 },
	{ "{'column_ns': 1, 'n': [239, 59, 2, 0, 0, 4]}", 240, 6 },
	{ "{'column_ns': 1, 'n': [240, 0, 2]}", 0, 0 },
	{ "{'column_ns': 1, 'n': [-1, 0, 2]}", 0, 0 },
	{ "{'column_ns': 1, 'n': [0, 60, 2]}", 0, 0 },
	{ "{'column_ns': 1, 'n': [3, -1, 2, 4, 0, 1]}", 5, 1 },
	{ "{'column_ns': 1, 'n': [0, 0, 0]}", 0, 0 },
	{ "{'column_ns': 1, 'n': [0, 0, -1]}", 0, 0 },
	{ "{'column_ns': 1, 'n': [0, 0, 4294967295]}", 1, 4294967295 },
	{ "{'column_ns': 1, 'n': [0, 0, 4294967296]}", 0, 0 },
};

static void test_heats(void)
{
	for (size_t i = 0; i < sizeof(heats) / sizeof(heats[0]); i++) {
		char *text = xasprintf("{'run': {}, 'views': 1, 'devices': [{'heat': {'fua': %s}}]}", heats[i].heat);
		const struct heat *h;
		uint32_t sum = 0;
		struct frame f;
		bool good = !decode(text, &f) && f.n_devices == 1;

		h = good ? f.device->facts.heat[HEAT_FUA] : NULL;
		for (int c = 0; h && c < HEAT_COLUMNS; c++)
			for (int r = 0; r < HEAT_ROWS; r++)
				sum += h->n[c][r];
		ok(good && (h ? (int)h->columns : -1) == heats[i].columns && sum == heats[i].sum, "a heat map of %s",
		   heats[i].heat);
		frame_free(&f);
		free(text);
	}
}

/* ---- what is too much ---- */

/* `before`, n times `each` with commas between, `after` */
static char *repeated(const char *before, const char *each, size_t n, const char *after)
{
	struct buf b = { 0 };

	buf_str(&b, before);
	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%s%s", i ? "," : "", each);
	buf_str(&b, after);
	return b.data;
}

/* ---- texts replaced ---- */

static char *shorten(void *ctx, enum frame_text what, const char *text, size_t i)
{
	(void)ctx;
	(void)what;
	(void)text;
	(void)i;
	return xstrdup("s");
}

static void test_nothing_behind(void)
{
	struct frame f = { .run = { .left_comm = "a long name" } };
	bool clean = true;

	frame_replace_texts(&f, shorten, NULL);
	for (size_t i = 1; i < sizeof(f.run.left_comm); i++)
		clean = clean && !f.run.left_comm[i];
	ok(clean && *f.run.left_comm == 's', "nothing of a longer name stays behind a shorter one");
}

static void test_rows_in_reason(void)
{
	static const char *const rows[][3] = {
		{ "{'run': {}, 'lost': [", "{'reason': 'r'}", "]}" },
		{ "{'run': {}, 'probes': [", "{'name': 'p'}", "]}" },
		{ "{'run': {}, 'symbols': [", "{}", "]}" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t n = 1024; n <= 1025; n++) {
			char *text = repeated(rows[i][0], rows[i][1], n, rows[i][2]);
			struct frame f;

			ok(decode(text, &f) == (n == 1024 ? 0 : -EBADMSG), "of %zu times %s", n, rows[i][1]);
			frame_free(&f);
			free(text);
		}
}

/* ---- a record's bytes ---- */

static struct frame frame_of(size_t mounts, size_t places)
{
	struct frame f = { .views = 1, .device = xcalloc(1, sizeof(*f.device)), .n_devices = 1 };
	struct report_device *d = &f.device->facts;

	snprintf(d->name, sizeof(d->name), "sda");
	d->heat[HEAT_READ] = xcalloc(1, sizeof(*d->heat[HEAT_READ]));
	d->heat[HEAT_READ]->column_ns = 1;
	for (size_t i = 0; i < mounts; i++)
		((struct report_mount *)grow((void **)&d->mounts, &d->n_mounts, sizeof(*d->mounts)))->dir =
			xasprintf("%01000d", 0);
	for (size_t i = 0; i < places; i++)
		memset(((struct device_name *)grow((void **)&f.place, &f.n_places, sizeof(*f.place)))->mount, 'm', 255);
	return f;
}

static void is_written(size_t mounts, size_t places, const char *lacks)
{
	struct frame f = frame_of(mounts, places), back = { 0 };
	char *left_out, *text = frame_write(&f, &left_out), *last = NULL;

	ok(strlen(text) <= RECORDING_LONG_MAX && !frame_read(text, strlen(text), &back, &e) && back.n_devices == 1,
	   "%zu mounts and %zu places: there is a description", mounts, places);
	if (back.run.notes)
		last = back.run.notes[strv_len(back.run.notes) - 1];
	ok(!left_out == !lacks && (!lacks || !strcmp(left_out, lacks)) && back.run.incomplete == !!lacks &&
		   (!lacks || (last && strstr(last, lacks))),
	   "which lacks, and says so: %s", lacks ? lacks : "nothing");
	free(text);
	free(left_out);
	frame_free(&f);
	frame_free(&back);
}

static void test_length(void)
{
	struct frame f;

	is_written(1, 1, NULL);
	is_written(8000, 1, NULL);
	is_written(9000, 1, "heat maps, the disks' mounts");
	is_written(1, 30000, "heat maps, the disks' mounts, what is mounted");
	ok(frame_read("{", 1, &f, &e) == -EBADMSG, "what is no JSON makes no sense");
}

int main(void)
{
	test_there_and_back();
	test_places();
	test_bytes();
	test_hex_out();
	test_missing();
	test_long_text();
	test_vectors();
	test_sense();
	test_heats();
	test_rows_in_reason();
	test_nothing_behind();
	test_length();
	return tap_done();
}
