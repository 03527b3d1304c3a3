// SPDX-License-Identifier: GPL-2.0-only
/* The bytes of counts, against docs/reference/recording-format.md, and what is known of them without making room. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recording/recording.h"
#include "util/mem.h"
#include "tap.h"

#define SUMS 17 /* numbers in front of the cells */

static struct view_counts *view;

static void is_encoded(uint32_t id, bool interval, const char *want, size_t n, const char *name)
{
	struct buf b = { 0 };

	recording_counts_encode(id, interval, view, &b);
	if (!ok(b.len == n && !memcmp(b.data, want, n), "%s", name))
		diag("%zu bytes, not %zu", b.len, n);
	buf_free(&b);
}

/* Seven bits a byte, lowest first, the top bit set but in the last. */
static void test_numbers(void)
{
	static const struct {
		uint32_t id;
		const char *bytes;
	} rows[] = {
		{ 1, "\1" },
		{ 127, "\x7f" },
		{ 128, "\x80\1" },
		{ 255, "\xff\1" },
		{ 256, "\x80\2" },
		{ 16383, "\xff\x7f" },
		{ 16384, "\x80\x80\1" },
		{ 0x12345678, "\xf8\xac\xd1\x91\1" },
		{ UINT32_MAX, "\xff\xff\xff\xff\x0f" },
	};

	memset(view, 0, sizeof(*view));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char want[64] = "";
		size_t n = strlen(rows[i].bytes);

		memcpy(want, rows[i].bytes, n);
		want[n + 1] = SUMS;
		is_encoded(rows[i].id, false, want, n + 2 + SUMS + 1, "a number as bytes");
	}
}

/* `view` comes back; of less there is nothing. */
static void is_decoded(const char *bytes, size_t n)
{
	struct view_counts *out = xcalloc(1, sizeof(*out)), *none = xcalloc(1, sizeof(*out));
	bool interval = false, refused = true;
	uint32_t id = 0;

	for (size_t cut = 0; cut < n; cut++) {
		uint8_t *exact = memcpy(xcalloc(1, cut), bytes, cut); /* so that a byte too far is seen */

		refused = refused && recording_counts_decode(exact, cut, &id, &interval, out) == -EBADMSG;
		free(exact);
	}
	ok(refused && !id && !memcmp(out, none, sizeof(*out)), "cut anywhere they are refused, and nothing is put out");
	memset(out, 0x55, sizeof(*out));
	ok(!recording_counts_decode(bytes, n, &id, &interval, out) && id == 5 && interval &&
		   !memcmp(out, view, sizeof(*out)),
	   "they come back");
	free(out);
	free(none);
}

static void test_bytes(void)
{
	static const char want[] = "\5\1\x11"
				   "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2"
				   "\2"
				   /* a cell that is there for its bytes only */
				   "\0\0\7\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				   /* and one with a histogram: buckets 3, 4 and 200 */
				   "\12\3\4"
				   "\0\0\0\0\0"
				   "\6\7\10\11\3\3\1\1\2\xc4\1\3"
				   "\0\0\0\0\0";
	struct hist *h = &view->cell[10].device;

	memset(view, 0, sizeof(*view));
	view->sums.flush_pre = 1;
	view->sums.flush_no_depth = 2;
	view->cell[0].bytes = 7;
	view->cell[10].count = 3;
	view->cell[10].bytes = 4;
	h->count = 6;
	h->sum = 7;
	h->min = 8;
	h->max = 9;
	h->bucket[3] = 1;
	h->bucket[4] = 2;
	h->bucket[200] = 3;
	is_encoded(5, true, want, sizeof(want) - 1, "sums, cells with something in them, and of their buckets the steps");
	is_decoded(want, sizeof(want) - 1);
}

/* One cell with one histogram in `device`; the others are empty. */
#define CELL(hist) \
	"\1\0\0" \
	"\1" \
	"\0\0\0" \
	"\0\0\0\0\0" hist "\0\0\0\0\0"

static void test_checked(void)
{
	static const struct {
		const char *bytes;
		size_t n;
		bool good;
		const char *name;
	} rows[] = {
#define ROW(bytes, good, name) { bytes, sizeof(bytes) - 1, good, name }
		ROW("\1\0\0\0", true, "no sums, no cells"),
		ROW("\xff\xff\xff\xff\x0f\0\0\0", true, "the largest view"),
		ROW("\x80\x80\x80\x80\x10\0\0\0", false, "one beyond it"),
		ROW("\1\0\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\0", true, "the largest number"),
		ROW("\1\0\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\2\0", false, "one bit more"),
		ROW("\1\0\1\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\0\0", false, "a byte more"),
		ROW("\1\0\0\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", false,
		    "a cell that has no next"),
		ROW(CELL("\0\0\0\0\0"), true, "a cell"),
		ROW(CELL("\0\0\0\0\1\0\1"), true, "the first bucket"),
		ROW(CELL("\0\0\0\0\2\0\1\1\1"), true, "and the second"),
		ROW(CELL("\0\0\0\0\2\0\1\0\1"), false, "twice the first"),
		ROW(CELL("\0\0\0\0\2\1\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1"), false, "a step that leads back"),
		ROW(CELL("\0\0\0\0\2\0\1\1"), false, "a bucket without a value"),
		ROW(CELL("\0\0\0\0\0") "\0", false, "a byte behind the end"),
		ROW(CELL("\0\0\0\0\1\xc0\x11\1"), false, "a bucket beyond the last"),
		ROW(CELL("\0\0\0\0\2\xb0\x09\1\xb0\x09\1"), false, "one beyond it by its step"),
		ROW("\1\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", false, "a huge number of sums"),
		ROW("\1\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", false, "a huge number of cells"),
#undef ROW
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t *exact = memcpy(xcalloc(1, rows[i].n), rows[i].bytes, rows[i].n);
		struct counts_outline out = { .view = 77 };
		int err = recording_counts_outline(exact, rows[i].n, &out);

		ok(rows[i].good ? !err : err == -EBADMSG && out.view == 77, "%s", rows[i].name);
		free(exact);
	}
}

/* Flags that a later version adds are passed over. */
static void test_flags(void)
{
	struct counts_outline later = { .interval = true }, both = { 0 };

	ok(!recording_counts_outline("\1\2\0\0", 4, &later) && !later.interval,
	   "a flag that is not known is not an interval's");
	ok(!recording_counts_outline("\1\3\0\0", 4, &both) && both.interval && both.view == 1, "nor does it hide one");
}

/* The last bucket is one, and what is behind it none. */
static void test_last_bucket(void)
{
	bool in, out;

	for (int more = 0; more < 2; more++) {
		unsigned int at = HIST_BUCKETS - 1 + (unsigned int)more, steps[2] = { at, at };

		for (int parts = 1; parts <= 2; parts++) {
			struct counts_outline outline_of;
			struct buf b = { 0 };
			int err;

			buf_add(&b, "\1\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0", 16);
			buf_char(&b, (char)parts);
			if (parts == 2) {
				buf_add(&b, "\1\1", 2);
				steps[1] = at - 1;
			}
			buf_char(&b, (char)(steps[parts - 1] | 0x80));
			buf_char(&b, (char)(steps[parts - 1] >> 7));
			buf_add(&b, "\1\0\0\0\0\0", 6);
			err = recording_counts_outline(b.data, b.len, &outline_of);
			in = !err;
			out = err == -EBADMSG;
			ok(more ? out : in, "bucket %u in %d steps is %s", at, parts, more ? "none" : "one");
			buf_free(&b);
		}
	}
}

/* What a later version adds is passed over. */
static void test_more_counts(void)
{
	const char later[] = "\5\3"
			     "\22"
			     "\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20\21\22"
			     "\2"
			     "\12\7\10"
			     "\0\0\0\0\0"
			     "\1\2\2\2\1\2\1"
			     "\0\0\0\0\0"
			     "\13\7\10"
			     "\0\0\0\0\0"
			     "\1\2\2\2\1\2\1"
			     "\0\0\0\0\0";
	struct view_counts *out = xcalloc(1, sizeof(*out));
	bool interval = false;
	uint32_t view = 0;

	ok(!recording_counts_decode(later, sizeof(later) - 1, &view, &interval, out) && view == 5 && interval &&
		   out->sums.flush_pre == 1 && out->sums.overflow == 16 && out->sums.flush_no_depth == 17 &&
		   out->cell[10].bytes == 8 && out->cell[10].device.sum == 2 && out->cell[10].device.bucket[2] == 1 &&
		   !out->cell[0].count,
	   "sums, cells and flags of a later version are passed over");
	free(out);
}

int main(void)
{
	view = xcalloc(1, sizeof(*view));
	test_numbers();
	test_bytes();
	test_checked();
	test_flags();
	test_last_bucket();
	test_more_counts();
	free(view);
	return tap_done();
}
