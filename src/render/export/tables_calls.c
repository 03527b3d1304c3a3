// SPDX-License-Identifier: GPL-2.0-only
/* tables_calls.c - every single sync call and request that was kept. Ids count from 1 in the report's order. */
#include "render/export/tables.h"

static void name(const struct report_detail *d, uint32_t i, struct rows *to)
{
	row_text_or_none(to, d->name[i]);
}

/* clang-format off */
const char *const sync_call_columns[] = {
	"id INTEGER PRIMARY KEY", "start_ns INTEGER NOT NULL", "duration_ns INTEGER NOT NULL", "pid INTEGER NOT NULL",
	"tid INTEGER NOT NULL", "comm TEXT", "call TEXT NOT NULL", "path TEXT", "device TEXT", NULL
};
/* clang-format on */

void fill_sync_call(const struct report *r, struct rows *to)
{
	const struct report_detail *d = r->detail;

	for (size_t i = 0; d && i < d->n_calls; i++) {
		const struct detail_call *c = &d->call[i];

		to->integer(to, i + 1);
		to->integer(to, c->start_ns);
		to->integer(to, c->duration_ns);
		to->integer(to, c->pid);
		to->integer(to, c->tid);
		name(d, c->comm, to);
		to->text(to, d->name[c->call]);
		name(d, c->path, to);
		name(d, c->device, to);
		to->end(to);
	}
}

/* clang-format off */
const char *const ledger_columns[] = {
	"call_id INTEGER NOT NULL REFERENCES sync_call (id)", "cause TEXT NOT NULL REFERENCES cause (cause)",
	"ns INTEGER NOT NULL", NULL
};
/* clang-format on */

void fill_ledger(const struct report *r, struct rows *to)
{
	const struct report_detail *d = r->detail;

	for (size_t i = 0; d && i < d->n_calls; i++) {
		struct ledger l;

		detail_ledger(d, &d->call[i], &l);
		for (enum cause c = 0; c < CAUSE_COUNT; c++) {
			if (!l.ns[c])
				continue;
			to->integer(to, i + 1);
			to->text(to, cause_name(c));
			to->integer(to, l.ns[c]);
			to->end(to);
		}
	}
}

/* clang-format off */
const char *const slice_columns[] = {
	"call_id INTEGER NOT NULL REFERENCES sync_call (id)", "seq INTEGER NOT NULL", "offset_ns INTEGER NOT NULL",
	"ns INTEGER NOT NULL", "cause TEXT NOT NULL REFERENCES cause (cause)", "via TEXT", "device TEXT", NULL
};
/* clang-format on */

static void slices(const struct report_detail *d, size_t call, struct rows *to)
{
	struct detail_slices all = detail_slices(d, &d->call[call]);
	struct detail_slice s;
	uint64_t offset = 0;

	for (size_t i = 0; detail_next_slice(&all, &s); i++, offset += s.ns) {
		to->integer(to, call + 1);
		to->integer(to, i + 1);
		to->integer(to, offset);
		to->integer(to, s.ns);
		to->text(to, cause_name(s.cause));
		name(d, s.via, to);
		name(d, s.device, to);
		to->end(to);
	}
}

void fill_slice(const struct report *r, struct rows *to)
{
	for (size_t i = 0; r->detail && i < r->detail->n_calls; i++)
		slices(r->detail, i, to);
}

/* ---- requests ---- */

/* clang-format off */
const char *const request_columns[] = {
	"id INTEGER PRIMARY KEY", "device TEXT", "disk TEXT", "op TEXT NOT NULL", "kind TEXT",
	"begin_ns INTEGER NOT NULL", "end_ns INTEGER NOT NULL", "sector INTEGER NOT NULL", "bytes INTEGER NOT NULL",
	"pid INTEGER", "tid INTEGER", "sequence INTEGER NOT NULL", "throttled INTEGER NOT NULL", NULL
};
/* clang-format on */

void fill_request(const struct report *r, struct rows *to)
{
	const struct report_detail *d = r->detail;

	for (size_t i = 0; d && i < d->n_requests; i++) {
		struct detail_request all, *q = &all;

		detail_request(d, i, q);
		to->integer(to, i + 1);
		name(d, q->device, to);
		name(d, q->disk, to);
		to->text(to, op_row_name(op_class_row(q->class)));
		to->text(to, op_class_kind(q->class));
		to->integer(to, q->begin_ns);
		to->integer(to, q->end_ns);
		to->integer(to, q->sector);
		to->integer(to, q->bytes);
		row_known(to, q->pid, q->pid);
		row_known(to, q->tid, q->tid);
		to->integer(to, q->sequence);
		to->integer(to, q->throttled);
		to->end(to);
	}
}

/* clang-format off */
const char *const step_columns[] = {
	"request_id INTEGER NOT NULL REFERENCES request (id)", "step TEXT NOT NULL", "begin_ns INTEGER",
	"issue_ns INTEGER", "done_ns INTEGER", "in_flight INTEGER", NULL
};
/* clang-format on */

static void step(size_t request, const char *which, const struct detail_step *s, struct rows *to)
{
	if (!s->happened)
		return;
	to->integer(to, request + 1);
	to->text(to, which);
	to->integer(to, s->begin_ns);
	row_known(to, s->issue_ns, s->issue_ns);
	row_known(to, s->done_ns, s->done_ns);
	to->integer(to, s->in_flight);
	to->end(to);
}

void fill_step(const struct report *r, struct rows *to)
{
	const struct report_detail *d = r->detail;

	for (size_t i = 0; d && i < d->n_requests; i++) {
		struct detail_request q;

		detail_request(d, i, &q);
		step(i, "preflush", &q.pre, to);
		step(i, "data", &q.data, to);
		step(i, "postflush", &q.post, to);
	}
}
