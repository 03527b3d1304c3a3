// SPDX-License-Identifier: GPL-2.0-only
/*
 * outstanding_line.c - a line while sync calls do not return:
 *
 *   1 call has not returned: 3.06s dd (32119) fsync f (loop0), flush in loop0 3.06s
 */
#include <string.h>

#include "model/outstanding.h"
#include "render/tui/screen_internal.h"

static void request(const struct screen *s, const struct report_outstanding *o, struct buf *b)
{
	if (!o->op) {
		buf_printf(b, ", %s", o->step);
		return;
	}
	buf_printf(b, ", %s in ", o->op);
	utf8_escape(b, o->disk, s->state->unicode);
	if (o->request_ns)
		buf_printf(b, " %s", screen_time(s, o->request_ns).s);
}

/* A line of 80 columns has no room for folders. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void oldest(const struct screen *s, const struct report_outstanding *o, struct buf *b)
{
	buf_printf(b, "%s ", screen_time(s, o->ns).s);
	utf8_escape(b, o->comm, s->state->unicode);
	buf_printf(b, " (%u) %s", o->pid, o->call);
	if (o->path) {
		buf_char(b, ' ');
		utf8_escape(b, base_name(o->path), s->state->unicode);
	}
	if (o->device) {
		buf_str(b, " (");
		utf8_escape(b, o->device, s->state->unicode);
		buf_char(b, ')');
	}
	request(s, o, b);
}

/* Of the last report: the run's may be older. */
unsigned int screen_outstanding(const struct screen *s, unsigned int row)
{
	const struct report *r = s->v->interval ? s->v->interval : s->v->run;
	struct buf b = { 0 };
	uint64_t n;

	if (!r || !r->n_outstanding || row >= s->g->rows)
		return 0;
	/* not all of many are told of */
	n = r->under_way > r->n_outstanding ? r->under_way : r->n_outstanding;
	buf_printf(&b, " %s %s not returned: ", num_count(n).s, n == 1 ? "call has" : "calls have");
	oldest(s, &r->outstanding[0], &b);
	screen_put_cut(s, row, 0, s->g->cols, SCREEN_WARN, b.data);
	buf_free(&b);
	return 1;
}
