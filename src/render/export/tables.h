/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tables.h - the tables of --csv and --db. Both take the same rows from the same place, so they cannot disagree.
 *
 * A table's fill() hands out cells, one per column, and ends each row. What is not known is none(). Documented in
 * docs/reference/formats.md.
 */
#ifndef BT_RENDER_EXPORT_TABLES_H
#define BT_RENDER_EXPORT_TABLES_H

#include "render/render.h"

#define ROWS_SCHEMA 1 /* grows when a column changes its meaning or goes away */

struct rows {
	void (*integer)(struct rows *to, uint64_t v);
	void (*real)(struct rows *to, double v);
	void (*text)(struct rows *to, const char *raw); /* NULL: not known */
	void (*none)(struct rows *to);
	void (*end)(struct rows *to);
};

struct table {
	const char *name;	   /* in the database */
	const char *file;	   /* among the CSV files */
	const char *const *column; /* "pid INTEGER": name and SQL type; NULL-terminated */
	const char *key;	   /* columns of its primary key; NULL: none, or the column says so itself */
	void (*fill)(const struct report *r, struct rows *to);
};

extern const struct table tables[RENDER_N_CSV + 1]; /* the last one has no name */

typedef void table_fill(const struct report *r, struct rows *to);

/* tables_run.c */
extern const char *const run_columns[],
	*const device_columns[], *const mount_columns[], *const operation_columns[], *const histogram_columns[];
table_fill fill_run, fill_device, fill_mount, fill_operation, fill_histogram;

/* tables_sync.c: what is known of all sync calls, left out in the detail or not */
extern const char *const cause_columns[], *const leaf_columns[], *const process_columns[], *const file_columns[];
extern const char *const process_ledger_columns[], *const file_ledger_columns[];
extern const char *const verdict_columns[], *const remark_columns[], *const whatif_columns[];
table_fill fill_cause, fill_leaf, fill_process, fill_file, fill_process_ledger, fill_file_ledger, fill_verdict,
	fill_remark, fill_whatif;

/* tables_calls.c: empty where the report has no detail */
extern const char *const sync_call_columns[],
	*const ledger_columns[], *const slice_columns[], *const request_columns[], *const step_columns[];
table_fill fill_sync_call, fill_ledger, fill_slice, fill_request, fill_step;

/* Valid UTF-8 without control characters, as every table has it: `raw` itself, or what is made of it in `room`. */
const char *row_safe(struct buf *room, const char *raw);

static inline void row_text_or_none(struct rows *to, const char *s)
{
	if (s && *s)
		to->text(to, s);
	else
		to->none(to);
}

static inline void row_known(struct rows *to, bool known, uint64_t v)
{
	if (known)
		to->integer(to, v);
	else
		to->none(to);
}

static inline void row_u64s(struct rows *to, const uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to->integer(to, v[i]);
}

/* Columns of a histogram whose name begins with `p`, and their cells */
#define HIST_COLUMNS(p) \
	p "min_ns INTEGER", p "mean_ns INTEGER", p "p50_ns INTEGER", p "p99_ns INTEGER", p "max_ns INTEGER"

static inline void row_hist(struct rows *to, const struct hist *h)
{
	const uint64_t v[] = { h->min, hist_mean(h), hist_quantile(h, 0.50), hist_quantile(h, 0.99), h->max };

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		row_known(to, h->count, v[i]);
}

#endif
