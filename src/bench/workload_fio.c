// SPDX-License-Identifier: GPL-2.0-only
/*
 * workload_fio.c - recipes for fio, run as they were published, one after the other:
 *
 *   etcd  how fast the log of etcd can be: 22 MiB in writes of 2,300 bytes, each with fdatasync; p99 should be below
 *         10 ms
 *   ars   Ars Technica, "How fast are your disks? Find out the open source way, with fio": random writes of 4 KiB,
 *         of 64 KiB by 16 jobs, of 1 MiB, to 4, 4 and 16 GB (here: a quarter, a quarter and all of --size); each
 *         also with fsync=1; and with end_fsync: a job's last fsync, unless it has just made one, which fio never
 *         counts
 */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/mem.h"
#include "bench/workload_list.h"

struct recipe {
	const char *name, *file;
	const char *arguments[12];
	unsigned int jobs;
	unsigned int part;  /* of --size, all jobs together: one n-th */
	unsigned int depth; /* of posixaio: requests that a job has under way; 0: it is another engine's */
	bool timed;	    /* for its share of --time, not until it is through */
	bool fsync, end_fsync;
};

static const struct recipe etcd = {
	.name = "write 2300, fdatasync",
	.file = "etcd",
	.arguments = { "--rw=write", "--ioengine=sync", "--fdatasync=1", "--bs=2300" },
	.jobs = 1,
	.part = 1,
};

/* clang-format off */
#define ARS(size, in_flight, n, share) \
	.arguments = { "--rw=randwrite", "--ioengine=posixaio", "--bs=" size }, \
	.depth = in_flight, .jobs = n, .part = share, .timed = true, .end_fsync = true
/* clang-format on */

static const struct recipe ars[] = {
	{ .name = "4k", .file = "ars-4k", ARS("4k", 1, 1, 4) },
	{ .name = "4k, fsync=1", .file = "ars-4k-fsync", ARS("4k", 1, 1, 4), .fsync = true },
	{ .name = "64k x 16 jobs", .file = "ars-64k", ARS("64k", 16, 16, 4) },
	{ .name = "64k x 16 jobs, fsync=1", .file = "ars-64k-fsync", ARS("64k", 16, 16, 4), .fsync = true },
	{ .name = "1m", .file = "ars-1m", ARS("1m", 1, 1, 1) },
	{ .name = "1m, fsync=1", .file = "ars-1m-fsync", ARS("1m", 1, 1, 1), .fsync = true },
};

#define N_ARS (sizeof(ars) / sizeof(ars[0]))

uint64_t fio_need(const struct workload_opts *o)
{
	return o->size + 4 * MIB;
}

/* ---- the command line ---- */

static char **command(const struct recipe *r, const struct workload_opts *o, uint64_t share_ns)
{
	uint64_t size = o->size / r->part / r->jobs;
	char **argv = NULL;

	strv_add(&argv, xstrdup("fio"));
	strv_add(&argv, xasprintf("--name=%s", r->file));
	/* jobs as threads: they end with fio, however that ends */
	strv_add(&argv, xstrdup("--thread"));
	strv_add(&argv, xstrdup("--output-format=json"));
	strv_add(&argv, xstrdup("--directory=."));
	strv_add(&argv, xasprintf("--size=%llu", (unsigned long long)size));
	strv_add(&argv, xasprintf("--numjobs=%u", r->jobs));
	strv_add(&argv, xstrdup("--group_reporting"));
	strv_add(&argv, xasprintf("--runtime=%llums", (unsigned long long)(share_ns / 1000000 ? share_ns / 1000000 : 1)));
	if (r->timed)
		strv_add(&argv, xstrdup("--time_based"));
	if (r->depth)
		strv_add(&argv, xasprintf("--iodepth=%u", r->depth));
	if (r->fsync)
		strv_add(&argv, xstrdup("--fsync=1"));
	if (r->end_fsync)
		strv_add(&argv, xstrdup("--end_fsync=1"));
	for (size_t i = 0; i < sizeof(r->arguments) / sizeof(r->arguments[0]) && r->arguments[i]; i++)
		strv_add(&argv, xstrdup(r->arguments[i]));
	return argv;
}

/* ---- what it says ---- */

static uint64_t number(json_t *o, const char *key)
{
	double v = json_number_value(json_object_get(o, key));

	return v > 0 && v < 9e18 ? (uint64_t)v : 0;
}

static void take_times(json_t *lat, struct scores_times *t)
{
	json_t *p = json_object_get(lat, "percentile");

	t->count = number(lat, "N");
	t->sum = (uint64_t)(json_number_value(json_object_get(lat, "mean")) * (double)t->count);
	t->min = number(lat, "min");
	t->max = number(lat, "max");
	t->p50 = number(p, "50.000000");
	t->p90 = number(p, "90.000000");
	t->p99 = number(p, "99.000000");
}

/*
 * The fsyncs of end_fsync. One request at a time: a counted fsync follows each write, but perhaps not the last. With
 * more under way a job's last answer can be a write's or an fsync's, and fio doesn't say which.
 */
static void add_last_syncs(struct scores *t, const struct recipe *r, struct scores_row *row)
{
	uint64_t counted = row->syncs;

	if (!r->end_fsync)
		return;
	if (!r->fsync)
		row->syncs += r->jobs;
	else if (r->depth == 1)
		row->syncs = row->ops;
	else
		row->uncounted = r->jobs;
	t->syncs += row->syncs - counted;
	t->uncounted += row->uncounted;
}

/* The one job that group_reporting makes of all. */
static int take_result(struct work *w, const struct recipe *r, json_t *doc, struct scores_row *row)
{
	json_t *job = json_array_get(json_object_get(doc, "jobs"), 0), *wr = json_object_get(job, "write"),
	       *sync = json_object_get(job, "sync");
	const char *version = json_string_value(json_object_get(doc, "fio version"));

	if (!job || !wr)
		return work_fail(w, 0, "fio's answer cannot be read");
	snprintf(w->t->tool, sizeof(w->t->tool), "%s", version ? version : "fio");
	row->ops = number(wr, "total_ios");
	row->bytes = number(wr, "io_bytes");
	row->wall_ns = number(wr, "runtime") * 1000000;
	/* it counts those of fsync= in one place, those of fdatasync= in the other */
	row->syncs = number(sync, "total_ios");
	if (!row->syncs)
		row->syncs = number(json_object_get(sync, "lat_ns"), "N");
	w->t->syncs += row->syncs;
	take_times(json_object_get(row->syncs ? sync : wr, row->syncs ? "lat_ns" : "clat_ns"), &row->each);
	add_last_syncs(w->t, r, row);
	return 0;
}

/* fio's first complaint, for what it is worth; its "fio: " is said by us. */
static int complain(struct work *w, int status, const char *line)
{
	int n;

	while (!strncmp(line, "fio: ", 5))
		line += 5;
	n = (int)strcspn(line, "\r\n");
	return work_fail(w, 0, "fio ended with status %d: %.*s", status, n ? n : 15, n ? line : "it said nothing");
}

static int take_output(struct work *w, const struct recipe *r, const char *text, struct scores_row *row)
{
	const char *start = strchr(text, '{');
	json_t *doc = start ? json_loads(start, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
	int err = doc ? take_result(w, r, doc, row) : work_fail(w, 0, "fio's answer cannot be read");

	json_decref(doc);
	return err;
}

/* ---- running ---- */

/* The files of a recipe are done with when it is: the next needs the room. */
static void remove_files(struct work *w, const struct recipe *r)
{
	char name[80];

	for (unsigned int i = 0; i < r->jobs; i++) {
		snprintf(name, sizeof(name), "%s.%u.0", r->file, i);
		unlinkat(w->dir, name, 0);
	}
}

static int run_recipe(struct work *w, const struct recipe *r, uint64_t share_ns)
{
	char **argv = command(r, w->o, share_ns), file[60], *out, *errors;
	struct scores_row *row;
	int err;

	snprintf(file, sizeof(file), "%s.0.0", r->file);
	row = work_row(w, r->name, r->jobs == 1 ? file : "");
	work_phase(w, r->name);
	err = work_program(w, argv, &out, &errors);
	if (!err)
		err = take_output(w, r, out, row);
	else if (err > 0)
		err = complain(w, err, errors);
	strv_free(argv);
	free(out);
	free(errors);
	if (err)
		return -1;
	remove_files(w, r);
	w->t->done += share_ns;
	return 0;
}

int etcd_run(struct work *w)
{
	return run_recipe(w, &etcd, w->o->time_ns);
}

int ars_run(struct work *w)
{
	uint64_t share = w->o->time_ns / N_ARS;
	int err = 0;

	w->t->total = share * N_ARS;
	for (size_t i = 0; i < N_ARS && !err; i++)
		err = run_recipe(w, &ars[i], share);
	return err;
}
