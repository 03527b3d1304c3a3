// SPDX-License-Identifier: GPL-2.0-only
/* flush_profile_file.c - a card back from its JSON. The file may come from anybody: what does not add up is refused. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/fields_json.h"
#include "model/flush_profile.h"
#include "util/mem.h"

/* bench barrier writes one row for each test and parameter, some 20, of up to 2 * HIST_BUCKETS pairs of numbers: 100 kB. */
#define MOST_ROWS  256u
#define MOST_BYTES (4l << 20)

static char *text_of(const json_t *o, const char *key)
{
	return xstrdup(json_string_value(json_object_get(o, key)));
}

/* 0 where there is none; false for what is no count. */
static bool count_of(const json_t *o, const char *key, uint64_t *out)
{
	const json_t *v = json_object_get(o, key);

	*out = 0;
	if (!v)
		return true;
	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return false;
	*out = (uint64_t)json_integer_value(v);
	return true;
}

/* The buckets have to hold as many as `count` says, and the sum has to be possible. */
static bool buckets_of(const json_t *buckets, struct hist *h)
{
	uint64_t total = 0, low = 0, high = 0;
	const json_t *pair;
	size_t i;

	json_array_foreach((json_t *)buckets, i, pair)
	{
		json_int_t upper = json_integer_value(json_array_get(pair, 0)),
			   n = json_integer_value(json_array_get(pair, 1));
		unsigned int at = hist_index((uint64_t)upper);

		if (upper < 0 || n <= 0 || n > 1 << 30 || total + (uint64_t)n > h->count)
			return false;
		h->bucket[at] += (uint64_t)n;
		total += (uint64_t)n;
		low += hist_lower(at) * (uint64_t)n;
		high += (uint64_t)upper * (uint64_t)n;
	}
	return total == h->count && h->sum >= low && (h->sum <= high || h->sum <= h->max * h->count);
}

static bool hist_of(const json_t *o, const char *key, struct hist *h)
{
	const json_t *j = json_object_get(o, key);

	if (!j)
		return true;
	return count_of(j, "count", &h->count) && h->count && h->count < 1 << 30 && count_of(j, "sum_ns", &h->sum) &&
	       count_of(j, "min_ns", &h->min) && count_of(j, "max_ns", &h->max) && h->min <= h->max &&
	       h->max < 1ull << 50 && h->sum >= h->min && buckets_of(json_object_get(j, "buckets"), h);
}

static bool ledger_of(const json_t *o, struct ledger *l)
{
	const json_t *j = json_object_get(o, "ledger");

	for (int c = 0; c < CAUSE_COUNT; c++)
		if (!count_of(j, cause_name(c), &l->ns[c]))
			return false;
	return true;
}

/* One of a later version is left out. */
static bool test_of(const json_t *o, enum card_test *test)
{
	const char *name = json_string_value(json_object_get(o, "test"));

	for (int t = 0; name && t < CARD_TESTS; t++) {
		*test = (enum card_test)t;
		if (!strcmp(name, card_test_name(*test)))
			return true;
	}
	return false;
}

static bool row_of(const json_t *o, struct card *c)
{
	struct card_row *row;
	enum card_test test;

	if (!test_of(o, &test))
		return true;
	row = grow((void **)&c->row, &c->n_rows, sizeof(*row));
	row->test = test;
	row->missing = text_of(o, "missing");
	return count_of(o, card_test_param(test), &row->param) && count_of(o, "written", &row->bytes) &&
	       count_of(o, "wall_ns", &row->wall_ns) && hist_of(o, "call", &row->call) &&
	       hist_of(o, "flush", &row->flush) && count_of(o, "unwaited", &row->unwaited) &&
	       count_of(o, "flushless", &row->flushless) && ledger_of(o, &row->ledger);
}

static bool rows_of(const json_t *doc, struct card *c)
{
	const json_t *rows = json_object_get(doc, "tests"), *row;
	size_t i;

	if (!json_is_array(rows) || json_array_size(rows) > MOST_ROWS)
		return false;
	json_array_foreach((json_t *)rows, i, row) if (!row_of(row, c)) return false;
	return true;
}

/* Of the texts and flags what is of another type is as if it were missing. */
static bool disk_of(const json_t *doc, struct card *c)
{
	const json_t *d = json_object_get(doc, "disk"), *fs = json_object_get(doc, "file_system");

	fields_from_json(card_disk_fields, d, c);
	c->fstype = text_of(fs, "type");
	c->options = text_of(fs, "options");
	return json_is_string(json_object_get(d, "name")) && count_of(d, "size", &c->size);
}

static bool card_of(const json_t *doc, struct card *c)
{
	c->version = text_of(json_object_get(doc, "barriertrace"), "version");
	fields_from_json(card_run_fields, doc, c);
	return disk_of(doc, c) && count_of(doc, "data_bytes", &c->data_bytes) &&
	       count_of(doc, "discards", &c->discards) && count_of(doc, "lost_events", &c->lost) && rows_of(doc, c);
}

static int not_a_card(const char *path, const json_t *doc, struct err *e)
{
	const json_t *head = json_object_get(doc, "barriertrace");
	const char *what = json_string_value(json_object_get(head, "document"));
	json_int_t schema = json_integer_value(json_object_get(head, "schema"));

	if (!what || strcmp(what, "card"))
		return err_set(e, EINVAL, EXIT_FAILED, "%s is JSON, but no barrier card (bench barrier --json)", path);
	return schema == 1 ? 0 :
			     err_set(e, EINVAL, EXIT_FAILED, "%s: a card of another schema: this version reads 1", path);
}

/* The first byte, which stays to be read: of a pipe by way of another one. '\0': there is none to be had like that. */
static char first_of(int fd)
{
	off_t at = lseek(fd, 0, SEEK_CUR);
	char first = '\0';
	int copy[2];

	if (at >= 0)
		return pread(fd, &first, 1, at) == 1 ? first : '\0';
	if (pipe2(copy, O_CLOEXEC))
		return '\0';
	if (tee(fd, copy[1], 1, 0) == 1 && read(copy[0], &first, 1) != 1)
		first = '\0';
	close(copy[0]);
	close(copy[1]);
	return first;
}

static size_t read_all(int fd, char *to, size_t room)
{
	size_t n = 0;
	ssize_t got = 1;

	while (n < room && got) {
		got = read(fd, to + n, room - n);
		if (got < 0 && errno != EINTR)
			break;
		n += got > 0 ? (size_t)got : 0;
	}
	return n;
}

/* The document, if it begins as JSON does; otherwise all is still to be read. */
static json_t *load(int fd, bool *is_json, json_error_t *why)
{
	char *text;
	json_t *doc;

	*is_json = first_of(fd) == '{';
	if (!*is_json)
		return NULL;
	text = xcalloc(1, MOST_BYTES);
	doc = json_loadb(text, read_all(fd, text, MOST_BYTES), JSON_REJECT_DUPLICATES, why);
	free(text);
	return doc;
}

int card_read(int fd, const char *path, struct card *c, bool *is_card, struct err *e)
{
	json_error_t why = { 0 };
	json_t *doc = load(fd, is_card, &why);
	int err;

	memset(c, 0, sizeof(*c));
	if (!*is_card)
		return -EINVAL;
	if (!doc)
		return err_set(e, EINVAL, EXIT_FAILED, "%s: line %d: %s", path, why.line, why.text);
	err = not_a_card(path, doc, e);
	if (!err && !card_of(doc, c))
		err = err_set(e, EINVAL, EXIT_FAILED, "%s: this card is damaged: its figures don't fit together", path);
	json_decref(doc);
	if (err)
		card_free(c);
	return err;
}
