// SPDX-License-Identifier: GPL-2.0-only
/* Memory: what grows keeps what is in it; buffers, vectors of words, and how far a mistyped word is from a known one. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/buf.h"
#include "util/clock.h"
#include "util/edit_distance.h"
#include "util/err.h"
#include "util/mem.h"
#include "util/notice.h"
#include "tap.h"

static void test_grow(void)
{
	uint64_t *array = NULL;
	size_t n = 0;
	bool zeroed = true, kept = true;

	for (uint64_t i = 0; i < 100; i++) {
		uint64_t *one = grow((void **)&array, &n, sizeof(*one));

		zeroed = zeroed && !*one && one == &array[i] && n == i + 1;
		*one = i + 1;
	}
	for (uint64_t i = 0; i < 100; i++)
		kept = kept && array[i] == i + 1;
	ok(zeroed && kept, "an array grows by one empty element behind the others");
	array[n] = UINT64_MAX; /* there is room for 128 */
	ok(!*(uint64_t *)grow((void **)&array, &n, sizeof(*array)), "whatever was there");
	free(array);
	array = xcalloc(0, 0);
	ok(array && (array = xrealloc(array, 0)), "nothing of nothing is some memory");
	free(array);
}

static void test_words(void)
{
	char **v = NULL, **copy;

	ok(!strv_len(NULL) && !strv_dup(NULL), "no vector has no words");
	strv_add(&v, xstrdup("a"));
	strv_add(&v, xstrdup("b"));
	strv_add(&v, xstrdup("c"));
	ok(strv_len(v) == 3 && !strcmp(v[0], "a") && !strcmp(v[2], "c") && !v[3], "words in their order");
	copy = strv_dup(v);
	ok(strv_len(copy) == 3 && copy[0] != v[0] && !strcmp(copy[0], "a") && !strcmp(copy[2], "c"),
	   "and a copy of its own");
	strv_free(v);
	strv_free(copy);
	v = xcalloc(1, sizeof(*v));
	copy = strv_dup(v);
	ok(!copy && !xstrdup(NULL), "a copy of none is none");
	strv_free(v);
	strv_free(NULL);
}

static void test_out_of_memory(void)
{
	char text[64] = "", *none;
	int ends[2], status = 0;
	pid_t child;

	if (pipe(ends))
		abort();
	child = fork();
	if (!child) {
		dup2(ends[1], STDERR_FILENO);
		xmust(NULL);
		_exit(0);
	}
	close(ends[1]);
	ok(read(ends[0], text, sizeof(text) - 1) > 0 && !strcmp(text, "barriertrace: out of memory\n"),
	   "without memory a word is said");
	close(ends[0]);
	ok(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1, "and the program ends");
	ok(xmust(text) == text, "what is there is given back");
	none = xasprintf("%s", "");
	ok(none && !*none, "an empty string is not taken for lack of memory");
	free(none);
}

/* ---- buffers ---- */

static void test_buf(void)
{
	struct buf b = { 0 };
	bool whole = true;

	buf_add(&b, "", 0);
	ok(b.data && !b.len && !*b.data, "nothing in a buffer is a string");
	buf_str(&b, "ab");
	buf_char(&b, 'c');
	buf_fill(&b, '.', 3);
	buf_printf(&b, "%d", 1);
	buf_printf(&b, "%d%s", 2, "x");
	buf_printf(&b, "%s", "");
	ok(b.len == 9 && !strcmp(b.data, "abc...12x"), "one comes behind the other");
	buf_clear(&b);
	ok(!b.len && b.data && !*b.data, "a cleared buffer is empty");
	for (int i = 0; i < 1000; i++)
		buf_char(&b, (char)('a' + i % 26));
	for (int i = 0; i < 1000; i++)
		whole = whole && b.data[i] == 'a' + i % 26;
	ok(whole && b.len == 1000 && !b.data[1000], "a thousand bytes");
	buf_printf(&b, "%2000d", 5);
	buf_fill(&b, '-', 5000);
	ok(b.len == 8000 && b.data[2998] == ' ' && b.data[2999] == '5' && b.data[3000] == '-' && b.data[7999] == '-' &&
		   !b.data[8000],
	   "and more at once");
	buf_drain(&b);
	ok(b.len == 8000, "without a drain nothing goes");
	buf_free(&b);
	ok(!b.data && !b.len && !b.cap, "then there is none");
	buf_clear(&b);
	ok(!b.data, "which is empty, too");
}

struct drained {
	size_t calls, bytes, least, most;
};

static void count_drained(void *ctx, const struct buf *b)
{
	struct drained *d = ctx;

	d->calls++;
	d->bytes += b->len;
	d->least = d->least && d->least < b->len ? d->least : b->len;
	d->most = d->most > b->len ? d->most : b->len;
}

static void test_drain(void)
{
	struct drained d = { 0 };
	struct buf b = { .drain = count_drained, .ctx = &d };
	char part[1000];

	memset(part, 'x', sizeof(part));
	buf_drain(&b);
	ok(!d.calls, "nothing is not handed over");
	buf_fill(&b, 'x', 256 << 10);
	ok(!d.calls && b.len == 256 << 10, "256 KiB come together");
	buf_char(&b, 'y');
	ok(d.calls == 1 && d.bytes == 256 << 10 && b.len == 1 && *b.data == 'y', "and go when there is more");
	for (int i = 0; i < 1000; i++)
		buf_add(&b, part, sizeof(part));
	ok(d.calls == 4 && d.least == 256 << 10 && d.most < (256 << 10) + 1000, "so it goes on");
	buf_drain(&b);
	ok(!b.len && d.bytes == (256 << 10) + 1 + 1000000, "until all has gone");
	buf_free(&b);
}

/* ---- words to the user ---- */

static void test_err(void)
{
	char longer[600];
	struct err e;

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	ok(err_set(&e, 5, EXIT_USAGE, "a %d", 1) == -5 && e.status == EXIT_USAGE && !strcmp(e.text, "a 1"), "an error");
	ok(err_set(&e, -5, EXIT_FAILED, "b") == -5 && !err_set(&e, 0, EXIT_FAILED, "b"), "its code is negative either way");
	err_add(&e, ", c%s", "d");
	ok(!strcmp(e.text, "b, cd"), "more can be said");
	err_add(&e, "%s", longer);
	ok(strlen(e.text) == sizeof(e.text) - 1 && !strncmp(e.text, "b, cdx", 6), "as far as there is room");
}

static void test_distance(void)
{
	static const struct {
		const char *a;
		size_t n;
		const char *b;
		size_t want;
	} rows[] = {
		{ "kitten", 6, "sitting", 3 }, { "same", 4, "same", 0 }, { "SAME", 4, "same", 0 },
		{ "", 0, "abc", 3 },	       { "abc", 3, "", 3 },	 { "abcd", 3, "abc", 0 },
		{ "abc", 3, "xyz", 3 },	       { "a", 1, "b", 1 },	 { "intention", 9, "execution", 5 },
	};
	char b[65];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(near_distance(rows[i].a, rows[i].n, rows[i].b) == rows[i].want, "from %.*s to %s it is %zu",
		   (int)rows[i].n, rows[i].a, rows[i].b, rows[i].want);
	memset(b, 'x', sizeof(b));
	b[63] = '\0';
	ok(near_distance("x", 1, b) == 62, "to 63 bytes");
	b[63] = 'x';
	b[64] = '\0';
	ok(near_distance("x", 1, b) == SIZE_MAX, "64 are too many");
}

int main(void)
{
	test_grow();
	test_words();
	test_out_of_memory();
	test_buf();
	test_drain();
	test_err();
	test_distance();
	return tap_done();
}
