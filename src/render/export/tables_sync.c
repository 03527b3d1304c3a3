// SPDX-License-Identifier: GPL-2.0-only
/* tables_sync.c - all sync calls together, and by cause, process, file; what follows from them. */
#include "render/export/tables.h"

#include <math.h>

/* clang-format off */
const char *const cause_columns[] = {
	"seq INTEGER PRIMARY KEY", "cause TEXT NOT NULL UNIQUE", "family TEXT NOT NULL", "ns INTEGER",
	"meaning TEXT NOT NULL", NULL
};
/* clang-format on */

void fill_cause(const struct report *r, struct rows *to)
{
	for (enum cause c = 0; c < CAUSE_COUNT; c++) {
		to->integer(to, c);
		to->text(to, cause_name(c));
		to->text(to, family_name(cause_family(c)));
		row_known(to, r->have_sync, r->sync.ledger.ns[c]);
		to->text(to, cause_help(c));
		to->end(to);
	}
}

/* clang-format off */
const char *const leaf_columns[] = {
	"id INTEGER PRIMARY KEY", "path TEXT NOT NULL", "cause TEXT NOT NULL REFERENCES cause (cause)",
	"ns INTEGER NOT NULL", "count INTEGER NOT NULL", HIST_COLUMNS(""), NULL
};
/* clang-format on */

void fill_leaf(const struct report *r, struct rows *to)
{
	for (size_t i = 0; i < r->sync.n_leaves; i++) {
		const struct report_leaf *l = &r->sync.leaf[i];
		struct hist each;

		tally_hist(&l->each, &each);
		to->integer(to, i + 1);
		to->text(to, l->path);
		to->text(to, cause_name(l->cause));
		to->integer(to, l->ns);
		to->integer(to, l->each.count);
		row_hist(to, &each);
		to->end(to);
	}
}

/* ---- by process, by file ---- */

const char *const process_columns[] = {
	"id INTEGER PRIMARY KEY",    "pid INTEGER",    "comm TEXT", "count INTEGER NOT NULL",
	"total_ns INTEGER NOT NULL", HIST_COLUMNS(""), NULL
};

const char *const file_columns[] = {
	"id INTEGER PRIMARY KEY",    "path TEXT",      "device TEXT", "count INTEGER NOT NULL",
	"total_ns INTEGER NOT NULL", HIST_COLUMNS(""), NULL
};

static void group(const struct report_group *g, struct rows *to)
{
	struct hist latency;

	tally_hist(&g->latency, &latency);
	to->integer(to, g->count);
	to->integer(to, g->total_ns);
	row_hist(to, &latency);
	to->end(to);
}

void fill_process(const struct report *r, struct rows *to)
{
	for (size_t i = 0; i < r->sync.n_processes; i++) {
		const struct report_group *g = &r->sync.process[i];

		to->integer(to, i + 1);
		row_known(to, g->pid, g->pid);
		to->text(to, g->comm);
		group(g, to);
	}
}

void fill_file(const struct report *r, struct rows *to)
{
	for (size_t i = 0; i < r->sync.n_files; i++) {
		const struct report_group *g = &r->sync.file[i];

		to->integer(to, i + 1);
		to->text(to, g->path);
		to->text(to, g->device);
		group(g, to);
	}
}

#define CAUSE_CELLS "cause TEXT NOT NULL REFERENCES cause (cause)", "ns INTEGER NOT NULL", NULL

const char *const process_ledger_columns[] = { "process_id INTEGER NOT NULL REFERENCES process (id)", CAUSE_CELLS };
const char *const file_ledger_columns[] = { "file_id INTEGER NOT NULL REFERENCES file (id)", CAUSE_CELLS };

static void group_ledgers(const struct report_group *g, size_t n, struct rows *to)
{
	for (size_t i = 0; i < n; i++) {
		for (enum cause c = 0; c < CAUSE_COUNT; c++) {
			if (!g[i].ledger.ns[c])
				continue;
			to->integer(to, i + 1);
			to->text(to, cause_name(c));
			to->integer(to, g[i].ledger.ns[c]);
			to->end(to);
		}
	}
}

void fill_process_ledger(const struct report *r, struct rows *to)
{
	group_ledgers(r->sync.process, r->sync.n_processes, to);
}

void fill_file_ledger(const struct report *r, struct rows *to)
{
	group_ledgers(r->sync.file, r->sync.n_files, to);
}

/* ---- what follows ---- */

const char *const verdict_columns[] = { "class TEXT NOT NULL", "family TEXT", "share REAL", "sentence TEXT",
					"confidence REAL",     "second TEXT", NULL };

void fill_verdict(const struct report *r, struct rows *to)
{
	if (!r->have_verdict)
		return;
	to->text(to, r->verdict.class);
	to->text(to, r->verdict.family);
	to->real(to, r->verdict.share);
	to->text(to, r->verdict.sentence);
	to->real(to, r->verdict.confidence > 0 ? r->verdict.confidence : NAN);
	to->text(to, r->verdict.second);
	to->end(to);
}

const char *const remark_columns[] = { "kind TEXT NOT NULL", "seq INTEGER NOT NULL", "sentence TEXT NOT NULL", NULL };

static void remarks(const char *kind, char *const *v, struct rows *to)
{
	for (size_t i = 0; v && v[i]; i++) {
		to->text(to, kind);
		to->integer(to, i + 1);
		to->text(to, v[i]);
		to->end(to);
	}
}

void fill_remark(const struct report *r, struct rows *to)
{
	if (r->have_verdict) {
		remarks("evidence", r->verdict.evidence, to);
		remarks("advice", r->verdict.advice, to);
	}
	remarks("note", r->notes, to);
}

const char *const whatif_columns[] = { "without TEXT NOT NULL",
				       "wall_ns INTEGER",
				       "speedup REAL",
				       "bound INTEGER NOT NULL",
				       "call_now_ns INTEGER NOT NULL",
				       "call_without_ns INTEGER NOT NULL",
				       NULL };

void fill_whatif(const struct report *r, struct rows *to)
{
	for (size_t i = 0; i < r->n_whatif; i++) {
		const struct report_whatif *w = &r->whatif[i];

		to->text(to, w->remove);
		row_known(to, w->wall_ns, w->wall_ns);
		to->real(to, w->speedup);
		to->integer(to, w->bound);
		to->integer(to, w->now_ns);
		to->integer(to, w->without_ns);
		to->end(to);
	}
}
