// SPDX-License-Identifier: GPL-2.0-only
/* A barrier card from JSON that anybody may have written: each value in its place, and what doesn't add up refused. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/flush_profile.h"
#include "util/buf.h"
#include "util/mem.h"
#include "open_files.h"
#include "recording_forge.h"
#include "tap.h"

static struct err e;
static bool is_card;

/* In C, JSON is easier to read with ' in the place of ". */
static char *quoted(const char *text)
{
	char *s = xstrdup(text);

	for (char *at = s; *at; at++)
		*at = *at == '\'' ? '"' : *at;
	return s;
}

static int read_card(const char *text, struct card *c)
{
	char *s = quoted(text);
	int fd = forge_fd(s, strlen(s)), err;

	e = (struct err){ 0 };
	err = card_read(fd, "it", c, &is_card, &e);
	close(fd);
	free(s);
	return err;
}

#define HEAD "{'barriertrace': {'version': '1', 'document': 'card', 'schema': 1}, "
#define SDA  "'disk': {'name': 'sda'}, "

static void test_all(void)
{
	static const char text[] = HEAD
		"'kernel': '6.1', 'arch': 'x86_64', 'start': 'then', 'data_bytes': 11, 'discards': 12, 'lost_events': 13,"
		" 'disk': {'name': 'sda', 'model': 'M', 'firmware': 'F', 'write_cache': 'W', 'scheduler': 'S', 'fua': true,"
		"  'rotational': false, 'bio_based': true, 'size': 14},"
		" 'file_system': {'type': 'ext4', 'options': 'rw'},"
		" 'tests': [{'test': 'depth', 'writers': 4, 'written': 15, 'wall_ns': 16, 'unwaited': 17, 'flushless': 18,"
		"  'missing': 'why', 'ledger': {'cpu': 19, 'unknown': 20},"
		"  'call': {'count': 3, 'sum_ns': 8, 'min_ns': 2, 'max_ns': 4, 'buckets': [[2, 2], [4, 1]]},"
		"  'flush': {'count': 1, 'sum_ns': 1, 'min_ns': 1, 'max_ns': 1, 'buckets': [[1, 1]]}},"
		"  {'test': 'of another version', 'call': 5}, {'test': 'idle'}, {}]}";
	struct card c;
	bool good = !read_card(text, &c) && is_card;
	const struct card_row *r = c.row;

	if (!ok(good && c.n_rows == 2 && r[0].test == CARD_DEPTH && r[1].test == CARD_IDLE,
		"a card is read, of its rows those that are known"))
		diag("%s", e.text);
	if (!good)
		return;
	ok(!strcmp(c.version, "1") && !strcmp(c.kernel, "6.1") && !strcmp(c.arch, "x86_64") && !strcmp(c.start, "then"),
	   "the run");
	ok(!strcmp(c.name, "sda") && !strcmp(c.model, "M") && !strcmp(c.firmware, "F") && !strcmp(c.write_cache, "W") &&
		   !strcmp(c.scheduler, "S"),
	   "the disk");
	ok(c.have_fua && c.fua && c.have_rotational && !c.rotational && c.bio_based && c.size == 14, "what kind it is");
	ok(!strcmp(c.fstype, "ext4") && !strcmp(c.options, "rw"), "the file system");
	ok(c.data_bytes == 11 && c.discards == 12 && c.lost == 13, "sums");
	ok(r->bytes == 15 && r->wall_ns == 16 && r->unwaited == 17 && r->flushless == 18 && !strcmp(r->missing, "why"),
	   "a row");
	ok(r->ledger.ns[CAUSE_CPU] == 19 && r->ledger.ns[CAUSE_UNKNOWN] == 20 && !r->ledger.ns[CAUSE_TAG], "its ledger");
	ok(r->call.count == 3 && r->call.sum == 8 && r->call.min == 2 && r->call.max == 4 &&
		   r->call.bucket[hist_index(2)] == 2 && r->call.bucket[hist_index(4)] == 1,
	   "its calls");
	ok(r->flush.count == 1 && !r[1].call.count && !r[1].missing, "its flushes; and where nothing is said, nothing is");
	ok(!r[1].param && !r[1].bytes && !r[1].wall_ns && !r[1].unwaited && !r[1].flushless && !r[1].ledger.ns[CAUSE_CPU],
	   "and nothing was counted");
	card_free(&c);
	ok(!read_card(HEAD SDA "'tests': []}", &c) && !c.n_rows && !c.have_fua && !c.have_rotational && !c.model,
	   "a card that says next to nothing");
	ok(!c.size && !c.data_bytes && !c.discards && !c.lost && !c.bio_based, "whose sums are 0");
	card_free(&c);
}

static void test_tests(void)
{
	for (int t = 0; t < CARD_TESTS; t++) {
		enum card_test test = (enum card_test)t;
		char *text = xasprintf(HEAD SDA "'tests': [{'test': '%s', '%s': 7}]}", card_test_name(test),
				       card_test_param(test));
		struct card c;

		ok(!read_card(text, &c) && c.n_rows == 1 && c.row->test == test && c.row->param == 7,
		   "a row of the test %s, with its parameter", card_test_name(test));
		card_free(&c);
		free(text);
	}
}

static void test_causes(void)
{
	struct buf text = { 0 };
	bool good;
	struct card c;

	buf_str(&text, HEAD SDA "'tests': [{'test': 'fua', 'ledger': {");
	for (int i = 0; i < CAUSE_COUNT; i++)
		buf_printf(&text, "%s'%s': %d", i ? ", " : "", cause_name((enum cause)i), i + 1);
	buf_str(&text, "}}]}");
	good = !read_card(text.data, &c) && c.n_rows == 1;
	for (int i = 0; good && i < CAUSE_COUNT; i++)
		good = c.row->ledger.ns[i] == (uint64_t)i + 1;
	ok(good, "each cause has its own time");
	card_free(&c);
	buf_free(&text);
}

/* Each value as the one of an otherwise good card. */
static void test_counts(void)
{
	static const char *const places[] = {
		HEAD "'disk': {'name': 'sda', 'size': %s}, 'tests': []}",
		HEAD SDA "'tests': [], 'data_bytes': %s}",
		HEAD SDA "'tests': [], 'discards': %s}",
		HEAD SDA "'tests': [], 'lost_events': %s}",
		HEAD SDA "'tests': [{'test': 'dirty', 'bytes': %s}]}",
		HEAD SDA "'tests': [{'test': 'dirty', 'written': %s}]}",
		HEAD SDA "'tests': [{'test': 'dirty', 'wall_ns': %s}]}",
		HEAD SDA "'tests': [{'test': 'dirty', 'unwaited': %s}]}",
		HEAD SDA "'tests': [{'test': 'dirty', 'flushless': %s}]}",
		HEAD SDA "'tests': [{'test': 'dirty', 'ledger': {'cpu': %s}}]}",
		HEAD SDA "'tests': [{'test': 'dirty', 'ledger': {'unknown': %s}}]}",
	};
	static const struct {
		const char *value;
		bool good;
	} values[] = { { "0", true },	 { "1", true },	   { "-1", false },
		       { "1.5", false }, { "'1'", false }, { "null", false } };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		size_t n = strcspn(places[i], "%");
		bool good = true;
		struct card c;

		for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
			char *text = xasprintf("%.*s%s%s", (int)n, places[i], values[v].value, places[i] + n + 2);

			good = good && !read_card(text, &c) == values[v].good;
			card_free(&c);
			free(text);
		}
		ok(good, "a count is whole and not negative: %s", places[i] + strlen(HEAD));
	}
}

#define CALLS(count, sum, min, max, buckets) \
	"{'count': " count ", 'sum_ns': " sum ", 'min_ns': " min ", 'max_ns': " max ", 'buckets': [" buckets "]}"

/* Small values have buckets of their own; the one of 2^20 goes on to 2^20 + 65535. */
static const struct {
	const char *calls;
	bool good;
} hists[] = {
	{ CALLS("2", "6", "2", "4", "[2, 1], [4, 1]"), true },
	{ CALLS("1", "3", "3", "3", "[3, 1]"), true },
	{ CALLS("0", "0", "0", "0", ""), false },
	{ CALLS("-1", "6", "2", "4", "[2, 1], [4, 1]"), false },
	{ CALLS("2", "-6", "2", "4", "[2, 1], [4, 1]"), false },
	{ CALLS("2", "6", "-2", "4", "[2, 1], [4, 1]"), false },
	{ CALLS("2", "6", "2", "-4", "[2, 1], [4, 1]"), false },
	{ CALLS("1", "3", "4", "3", "[3, 1]"), false },
	{ CALLS("3", "6", "2", "4", "[2, 1], [4, 1]"), false },
	{ CALLS("1", "6", "2", "4", "[2, 1], [4, 1]"), false },
	{ CALLS("2", "6", "2", "4", "[2, 1], [4, 1], [4, 0]"), false },
	{ CALLS("2", "6", "2", "4", "[2, 3], [4, -1]"), false },
	{ CALLS("2", "6", "2", "4", "[-1, 1], [4, 1]"), false },
	{ CALLS("2", "6", "2", "4", "[4, 2]"), false }, /* their sum would be 8 at least */
	{ CALLS("2", "5", "2", "4", "[2, 1], [4, 1]"), false },
	{ CALLS("2", "8", "2", "4", "[2, 1], [4, 1]"),
	  true }, /* a later version's buckets may be others: as much as the largest allows */
	{ CALLS("2", "9", "2", "4", "[2, 1], [4, 1]"), false },
	{ CALLS("2", "2", "0", "1", "[0, 1], [2, 1]"), true },
	{ CALLS("2", "3", "0", "1", "[0, 1], [2, 1]"), false },
	{ CALLS("1", "1048581", "1048581", "1048581", "[1048600, 1]"), true },
	{ CALLS("1", "1048580", "1048581", "1048581", "[1048600, 1]"), false },
	{ CALLS("1", "1048600", "1048581", "1048581", "[1048600, 1]"), true },
	{ CALLS("1", "1048601", "1048581", "1048581", "[1048600, 1]"), false },
	{ CALLS("2", "2097200", "1048581", "1048581", "[1048600, 2]"), true },
	{ CALLS("2", "2097201", "1048581", "1048581", "[1048600, 2]"), false },
	{ CALLS("1", "2", "3", "3", "[2, 1]"), false }, /* a sum that is less than one call */
	{ CALLS("1", "1125899906842623", "1", "1125899906842623", "[1125899906842623, 1]"), true }, /* 2^50 - 1 */
	{ CALLS("1", "1125899906842624", "1", "1125899906842624", "[1125899906842624, 1]"), false },
	{ CALLS("1073741823", "1073741823", "1", "1", "[1, 1073741823]"), true }, /* 2^30 - 1 */
	{ CALLS("1073741824", "1073741824", "1", "1", "[1, 1073741824]"), false },
	{ "{'count': 1, 'sum_ns': 3, 'min_ns': 3, 'max_ns': 3}", false },
	{ "{}", false },
	{ "5", false },
};

static void test_hists(void)
{
	for (size_t i = 0; i < sizeof(hists) / sizeof(hists[0]); i++)
		for (int flush = 0; flush < 2; flush++) {
			char *text = xasprintf(HEAD SDA "'tests': [{'test': 'fua', '%s': %s}]}",
					       flush ? "flush" : "call", hists[i].calls);
			struct card c;
			int err = read_card(text, &c);

			if (hists[i].good)
				ok(!err, "adds up: %s", hists[i].calls);
			else
				ok(err == -EINVAL && e.status == EXIT_FAILED && !c.n_rows && !c.name &&
					   !strcmp(e.text, "it: this card is damaged: its figures don't fit together"),
				   "does not: %s", hists[i].calls);
			card_free(&c);
			free(text);
		}
}

static void test_sense(void)
{
	static const struct {
		const char *text, *error; /* error: NULL where it is a card */
	} rows[] = {
		{ HEAD SDA "'tests': []}", NULL },
		{ HEAD SDA "'tests': {}}", "damaged" },
		{ HEAD SDA "'tests': 5}", "damaged" },
		{ HEAD "'disk': {'name': 'sda'}}", "damaged" },
		{ HEAD "'disk': {}, 'tests': []}", "damaged" },
		{ HEAD "'disk': {'name': {'hex': '73'}}, 'tests': []}", "damaged" },
		{ HEAD "'disk': {'name': 'sda', 'model': 5, 'fua': 1, 'bio_based': 'no'}, 'kernel': 6, 'tests': []}", NULL },
		{ HEAD "'tests': []}", "damaged" },
		{ "{'barriertrace': {'document': 'card', 'schema': 2}, " SDA "'tests': []}",
		  "it: a card of another schema: this version reads 1" },
		{ "{'barriertrace': {'document': 'card', 'schema': 0}, " SDA "'tests': []}", "another schema" },
		{ "{'barriertrace': {'document': 'report', 'schema': 1}, " SDA "'tests': []}",
		  "it is JSON, but no barrier card (bench barrier --json)" },
		{ "{'barriertrace': {'schema': 1}, " SDA "'tests': []}", "no barrier card" },
		{ "{}", "no barrier card" },
		{ "{'a': 1, 'a': 2}", "it: line 1: duplicate object key" },
		{ "{", "it: line 1: " },
		{ HEAD SDA "'tests': []} 5", "it: line 1: " },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct card c;
		int err = read_card(rows[i].text, &c);

		if (!ok(is_card && (rows[i].error ?
					    err == -EINVAL && e.status == EXIT_FAILED && strstr(e.text, rows[i].error) :
					    !err),
			"%s: %s", rows[i].error ? rows[i].error : "a card", rows[i].text))
			diag("got %d, %s", err, e.text);
		card_free(&c);
	}
}

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

static void test_too_much(void)
{
	char *most = repeated(HEAD SDA "'tests': [", "{'test': 'idle'}", 256, "]}");
	char *more = repeated(HEAD SDA "'tests': [", "{'test': 'idle'}", 257, "]}");
	struct card c;

	ok(!read_card(most, &c) && c.n_rows == 256, "as many rows as are taken");
	card_free(&c);
	ok(read_card(more, &c) == -EINVAL && !c.n_rows, "one more");
	card_free(&c);
	free(most);
	free(more);
}

static void test_too_long(void)
{
	char *text = xasprintf(HEAD "'kernel': '%0*d', " SDA "'tests': []}", 4 << 20, 6);
	struct card c;

	ok(read_card(text, &c) == -EINVAL && is_card && !c.name && !strncmp(e.text, "it: line 1: ", 12),
	   "of a card that is longer than 4 MiB the rest is missing: %.40s", e.text);
	free(text);
}

/* What is no JSON is somebody else's to read: nothing of it is taken. */
static void test_first_byte(void)
{
	static const char *const texts[] = { "{\"a\": 1}", "not JSON", " {}", "" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		bool json = *texts[i] == '{';
		int ends[2], file = forge_fd("xy", 2);
		char got[16] = "";
		struct card c;
		ssize_t n = (ssize_t)strlen(texts[i]);

		if (pipe(ends) || write(ends[1], texts[i], (size_t)n) != n || pwrite(file, texts[i], (size_t)n, 2) != n)
			abort();
		close(ends[1]);
		ok(card_read(ends[0], "it", &c, &is_card, &e) == -EINVAL && is_card == json, "a pipe with '%s'", texts[i]);
		ok(json || (read(ends[0], got, sizeof(got)) == n && !memcmp(got, texts[i], (size_t)n)),
		   "  stays as it is if that is no JSON");
		if (lseek(file, 2, SEEK_SET) != 2)
			abort();
		ok(card_read(file, "it", &c, &is_card, &e) == -EINVAL && is_card == json,
		   "a file that goes on with '%s'", texts[i]);
		ok(json || lseek(file, 0, SEEK_CUR) == 2, "  too");
		close(ends[0]);
		close(file);
	}
}

#define LONG 200000 /* bytes: more than a pipe holds */

static void write_and_exit(int fd, const char *text)
{
	size_t n = strlen(text);

	_exit(write(fd, text, n) != (ssize_t)n);
}

static void test_pieces(void)
{
	char *text = xasprintf(HEAD "'kernel': '%0*d', " SDA "'tests': []}", LONG, 6), *json = quoted(text);
	int ends[2], status = -1;
	struct card c;
	pid_t child;

	if (pipe(ends))
		abort();
	child = fork();
	if (!child) {
		close(ends[0]);
		write_and_exit(ends[1], json);
	}
	close(ends[1]);
	ok(!card_read(ends[0], "it", &c, &is_card, &e) && strlen(c.kernel) == LONG, "a pipe that brings a card in pieces");
	ok(waitpid(child, &status, 0) == child && !status, "  is read to its end");
	card_free(&c);
	close(ends[0]);
	free(text);
	free(json);
}

int main(void)
{
	int open = open_files();

	test_all();
	test_tests();
	test_causes();
	test_counts();
	test_hists();
	test_sense();
	test_too_much();
	test_too_long();
	test_first_byte();
	test_pieces();
	ok(open_files() == open, "no descriptor is left open");
	return tap_done();
}
