// SPDX-License-Identifier: GPL-2.0-only
/* barriertrace bench [WORKLOAD] [DIR]: a workload under the tracer, its score with the reason beside it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "util/clock.h"
#include "cmd/install_hints.h"
#include "host/target.h"
#include "cmd/cmd.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/edit_distance.h"
#include "util/num.h"
#include "cmd/outputs.h"
#include "render/render_documents.h"
#include "analyse/verdict/plausibility.h"
#include "bench/bench_result.h"
#include "run/run.h"
#include "bench/workload.h"

#define MIB	     (1ull << 20)
#define MOST_SIZE    (1024 * MIB) /* of what is written for a flush to write out */
#define MOST_TIME_NS (86400 * 1000000000ull)
#define MOST_COPIES  32u

/* clang-format off */
enum {
	OPT_SIZE,
	OPT_TIME,
	OPT_INSERTS,
	OPT_COPIES,
	OPT_JOURNAL,
	OPT_SYNCHRONOUS,
	OPT_DISCARD
};
/* clang-format on */

#define G_WORKLOAD "The workload"
#define G_OUT	   "Output"

/* clang-format off */
static const struct option_def options[] = {
	{ "size", 0, "SIZE", OPT_SIZE,
	  "barrier, etcd, ars: how much data, such as 64M. barrier: the most that is written before a flush, 1M to 1G "
	  "(256M).",
	  G_WORKLOAD },
	{ "time", 0, "SECONDS", OPT_TIME,
	  "How long to measure, about (also 500ms, 2m): barrier 30, sync 16, etcd and ars 60; sqlite runs until it is "
	  "through.",
	  G_WORKLOAD },
	{ "inserts", 0, "N", OPT_INSERTS, "sqlite: inserts of each copy (12500).", G_WORKLOAD },
	{ "copies", 0, "N", OPT_COPIES, "sqlite: so many at once, each with its own database (1).", G_WORKLOAD },
	{ "journal", 0, "MODE", OPT_JOURNAL,
	  "sqlite: journal_mode: delete (the default), truncate, persist, memory, wal, off.", G_WORKLOAD },
	{ "synchronous", 0, "LEVEL", OPT_SYNCHRONOUS, "sqlite: synchronous: off, normal, full (the default), extra.",
	  G_WORKLOAD },
	{ "discard", 0, NULL, OPT_DISCARD,
	  "barrier: also free parts of its file before a flush, and discard these blocks if the file system doesn't by "
	  "itself (FITRIM, which only root may ask for).",
	  G_WORKLOAD },
	{ "as-root", 0, NULL, OUTPUT_AS_ROOT, "Run the workload, and open files, as root instead of as the user who called sudo.",
	  G_WORKLOAD },
	{ "output", 'o', "FILE", OUTPUT_TEXT, "Write the text to FILE.", G_OUT },
	{ "json", 0, "FILE", OUTPUT_JSON,
	  "Write the result as JSON to FILE, or to standard output for '-'; of barrier: the card, for barriertrace "
	  "diff.",
	  G_OUT },
	OUTPUT_MODE_OPTION(G_OUT)
	{ "quiet", 'q', NULL, OUTPUT_QUIET,
	  "Without the report behind the score (barrier: without the words below the table), and no progress.", G_OUT },
	{ "verbose", 'v', NULL, OUTPUT_VERBOSE, "The whole report behind the score.", G_OUT },
	{ "ascii", 0, NULL, OUTPUT_ASCII, "Draw with plain ASCII.", G_OUT },
	OPTIONS_HELP_ROW
	{ 0 },
};
/* clang-format on */

const struct command_def bench_def = {
	.name = "bench",
	.usage = "[OPTION].. [WORKLOAD] [DIR]",
	.summary = "Run a benchmark under the tracer: its score, and why it is no better.",
	.about = "A WORKLOAD is barrier (the barrier card of a disk: what a flush costs after so much data, beside "
		 "other writes, against FUA, and whether it is believable for such a device), sync (what pg_test_fsync "
		 "tests), sqlite (pts/sqlite: 12,500 inserts), etcd (the fio recipe for etcd's log) or ars (Ars "
		 "Technica's three fio recipes, each also with fsync=1). Without one, they are listed.\n\n"
		 "It writes only in a folder of its own inside DIR (without one: where you are), with the rights of "
		 "the user who called sudo, and removes it at the end, on an error and on every signal that can be "
		 "caught. It refuses to start where the disk would become full.\n\n"
		 "Any other benchmark is wrapped: barriertrace DIR -- fio .., or bonnie++, compilebench, dbench, dd, "
		 "fs_mark, hdparm, iozone, postmark, sqlite3. Two cards (bench barrier --json FILE) are compared by barriertrace diff.",
	.options = options,
	.words = "DIR",
};

struct ctx {
	struct outputs out;
	struct workload_opts o;
	unsigned int given;  /* TAKES_ bits of the options that were */
	const char *what[8]; /* their names, by bit */

	const struct workload *w;
	struct scores *scores;
	int fd;
	uint64_t first_ns, first_done, next_ns; /* of the progress */
};

/* ---- options ---- */

static void note_given(struct ctx *c, unsigned int bit, const char *name)
{
	c->given |= bit;
	c->what[__builtin_ctz(bit)] = name;
}

static int set_size(struct ctx *c, const char *value, struct err *e)
{
	note_given(c, TAKES_SIZE, "size");
	if (num_parse_bytes(value, &c->o.size) || c->o.size < MIB || c->o.size > 1ull << 50)
		return err_set(e, EINVAL, EXIT_USAGE, "--size %s: write a size from 1M to 1024T, such as 64M or 1G", value);
	return 0;
}

static int set_time(struct ctx *c, const char *value, struct err *e)
{
	note_given(c, TAKES_TIME, "time");
	if (num_parse_seconds(value, &c->o.time_ns) || !c->o.time_ns || c->o.time_ns > MOST_TIME_NS)
		return err_set(e, EINVAL, EXIT_USAGE,
			       "--time %s: write a time above 0 and up to a day, such as 10, 500ms or 2m", value);
	return 0;
}

static int set_count(struct ctx *c, const char *name, const char *value, uint64_t most, uint64_t *out, struct err *e)
{
	note_given(c, TAKES_SQLITE, name);
	if (num_parse_range(value, 1, most, out))
		return err_set(e, EINVAL, EXIT_USAGE, "--%s %s: write a number from 1 to %" PRIu64, name, value, most);
	return 0;
}

static int set_word(struct ctx *c, const char *name, const char *value, const char *const *words, const char *list,
		    char out[12], struct err *e)
{
	note_given(c, TAKES_SQLITE, name);
	for (; *words; words++)
		if (!strcasecmp(*words, value)) {
			snprintf(out, 12, "%s", *words);
			return 0;
		}
	return err_set(e, EINVAL, EXIT_USAGE, "--%s %s: it is one of %s", name, value, list);
}

static const char *const journals[] = { "delete", "truncate", "persist", "memory", "wal", "off", NULL };
static const char *const levels[] = { "off", "normal", "full", "extra", NULL };

static int set(void *arg, int id, const char *value, struct err *e)
{
	struct ctx *c = arg;
	int err = outputs_set(&c->out, id, value, e);

	if (err <= 0)
		return err;
	switch (id) {
	case OPT_SIZE: return set_size(c, value, e);
	case OPT_TIME: return set_time(c, value, e);
	case OPT_INSERTS: return set_count(c, "inserts", value, 1000000000, &c->o.inserts, e);
	case OPT_COPIES: return set_count(c, "copies", value, MOST_COPIES, &c->o.copies, e);
	case OPT_JOURNAL:
		return set_word(c, "journal", value, journals, "delete, truncate, persist, memory, wal, off",
				c->o.journal, e);
	case OPT_SYNCHRONOUS:
		return set_word(c, "synchronous", value, levels, "off, normal, full, extra", c->o.synchronous, e);
	case OPT_DISCARD:
		note_given(c, TAKES_DISCARD, "discard");
		c->o.discard = true;
		return 0;
	default: return 0;
	}
}

static const char *near_workload(const char *word)
{
	const char *best = NULL;
	size_t least = 3;

	for (const struct workload *w = workloads; w->name; w++) {
		size_t d = near_distance(word, strlen(word), w->name);

		if (d < least) {
			least = d;
			best = w->name;
		}
	}
	return best;
}

static int no_workload(const char *word, struct err *e)
{
	const char *near = near_workload(word);

	if (benchmark_find(word))
		return err_set(e, EINVAL, EXIT_USAGE, "%s is none of our own: barriertrace DIR -- %s .. wraps it", word,
			       word);
	return err_set(e, EINVAL, EXIT_USAGE, "no workload '%s'%s%s; barriertrace bench lists them", word,
		       near ? ", but there is " : "", near ? near : "");
}

static int choose(struct ctx *c, char *const *words, struct err *e)
{
	unsigned int wrong;

	c->w = workload_find(words[0]);
	if (!c->w)
		return no_workload(words[0], e);
	wrong = c->given & ~c->w->takes;
	if (wrong)
		return err_set(e, EINVAL, EXIT_USAGE, "%s has no --%s", c->w->name, c->what[__builtin_ctz(wrong)]);
	if (!strcmp(c->w->name, "barrier") && (c->o.size > MOST_SIZE))
		return err_set(e, EINVAL, EXIT_USAGE, "barrier takes a --size of 1G at most");
	if (snprintf(c->o.dir, sizeof(c->o.dir), "%s", words[1] ? words[1] : ".") >= (int)sizeof(c->o.dir) - 64)
		return err_set(e, ENAMETOOLONG, EXIT_USAGE, "the name of the folder is too long");
	snprintf(c->o.workload, sizeof(c->o.workload), "%s", c->w->name);
	c->o.size = (c->o.size ? c->o.size : c->w->size) / MIB * MIB;
	c->o.time_ns = c->o.time_ns ? c->o.time_ns : c->w->time_ns;
	return 0;
}

/* ---- progress ---- */

/* What was done since it was first seen at work tells how long the rest takes. */
static void add_left(struct ctx *c, uint64_t now, struct buf *b)
{
	uint64_t done = c->scores->done, total = c->scores->total;
	double left;

	if (!done || done > total)
		return;
	buf_printf(b, ", %s", num_percent(done, total, 0).s);
	if (!c->first_done) {
		c->first_done = done;
		c->first_ns = now;
	}
	left = (double)(now - c->first_ns) / (double)(done - c->first_done) * (double)(total - done) / 1e9;
	if (done > c->first_done && left >= 1)
		buf_printf(b, ", %s left", num_duration((uint64_t)left * 1000000000, 0).s);
}

static void tick(void *arg)
{
	struct ctx *c = arg;
	uint64_t now = clock_ns();
	char phase[sizeof(c->scores->phase)];
	struct buf b = { 0 };

	if (now < c->next_ns)
		return;
	c->next_ns = now + 1000000000;
	snprintf(phase, sizeof(phase), "%.*s", (int)sizeof(phase) - 1, c->scores->phase);
	for (char *p = phase; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	buf_printf(&b, "%s: %s", c->w->name, phase);
	add_left(c, now, &b);
	log_progress("%s", b.data);
	buf_free(&b);
}

/* ---- the run ---- */

static int trace(struct ctx *c, struct run_result *t, struct err *e)
{
	char *argv[] = { "/proc/self/exe", WORKLOAD_ENTRY, NULL };
	const struct run_observer observer = {
		.tick = !c->out.quiet && isatty(STDERR_FILENO) ? tick : NULL,
		.ctx = c,
	};
	struct run_opts o = {
		.detail = !strcmp(c->w->name, "barrier"),
		.command = argv,
		.io = { .out = c->fd },
		.notices = command_notices,
		.as_root = c->out.as_root,
	};
	int err = target_resolve(c->o.dir, &o.targets, e);

	run_opts_default(&o);
	if (err)
		return err;
	/* rights that come from our own file are not to come back by running it */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_set(e, errno, EXIT_FAILED, "cannot give up the right to new rights: %s", strerror(errno));
	c->scores->opts = c->o;
	err = run_traced(&o, &observer, t, e);
	log_progress_end();
	return err;
}

/* What the workload says went wrong; its words about files are escaped by the log. */
static int outcome(struct ctx *c, const struct run_result *t, int *status, struct err *e)
{
	scores_check(c->scores);
	if (t->end.signal) {
		*status = 128 + t->end.signal;
		return err_set(e, EINTR, (enum exit_status) * status, "ended by a signal: there is no result%s%s",
			       *c->scores->error ? "; " : "", c->scores->error);
	}
	if (*c->scores->error)
		return err_set(e, EIO, EXIT_FAILED, "%s: %s", c->w->name, c->scores->error);
	if (!t->end.have_status || t->end.status)
		return err_set(e, ECHILD, EXIT_FAILED, "%s ended with status %d", c->w->name, t->end.status);
	return 0;
}

/* Ours in the report, not the hidden entry */
static void name_command(struct ctx *c, struct report *r)
{
	strv_free(r->command);
	r->command = NULL;
	strv_add(&r->command, xstrdup("barriertrace"));
	strv_add(&r->command, xstrdup("bench"));
	strv_add(&r->command, xstrdup(c->w->name));
	strv_add(&r->command, xstrdup(c->o.dir));
}

/* ---- output ---- */

/* What is shown, and how much of the report behind it */
struct shown {
	const struct outputs *out;
	const struct card *card;
	const struct bench *bench;
	const struct report *report;
};

static void put_card(const void *document, const struct render_opts *opts, bool hide, struct buf *b)
{
	const struct shown *s = document;

	(void)hide; /* the command is one of ours */
	if (!opts) {
		render_card_json(s->card, b);
		return;
	}
	render_card_text(s->card, opts, b);
	if (s->out->verbose)
		render_text(s->report, opts, b);
}

static int write_card(struct ctx *c, const struct report *r, struct err *e)
{
	struct card card;
	int err;

	results_card(c->scores, r, &card);
	believe(&card);
	err = outputs_document(&c->out, put_card, &(struct shown){ .out = &c->out, .card = &card, .report = r }, e);
	card_free(&card);
	return err;
}

static void put_bench(const void *document, const struct render_opts *opts, bool hide, struct buf *b)
{
	const struct shown *s = document;
	struct render_opts behind;

	(void)hide;
	if (!opts) {
		render_bench_json(s->bench, b);
		return;
	}
	render_bench_text(s->bench, opts, b);
	behind = *opts;
	behind.quiet = !s->out->verbose;
	if (!s->out->quiet)
		render_text(&s->bench->report, &behind, b);
}

static int write_bench(struct ctx *c, struct report *r, struct err *e)
{
	struct bench bench;
	int err;

	results_bench(c->w, c->scores, r, &bench);
	err = outputs_document(&c->out, put_bench, &(struct shown){ .out = &c->out, .bench = &bench }, e);
	bench_free(&bench);
	return err;
}

static int write_results(struct ctx *c, struct run_result *t, int *status, struct err *e)
{
	bool incomplete = t->report.incomplete;
	int err;

	name_command(c, &t->report);
	if (incomplete && t->report.lost_events)
		log_error("%" PRIu64 " event%s lost: the report is incomplete", t->report.lost_events,
			  t->report.lost_events == 1 ? " was" : "s were");
	err = !strcmp(c->w->name, "barrier") ? write_card(c, &t->report, e) : write_bench(c, &t->report, e);
	*status = incomplete ? EXIT_INCOMPLETE : EXIT_OK;
	return err;
}

static int measure(struct ctx *c, char *const *words, int *status, struct err *e)
{
	struct run_result t = { 0 };
	int err = choose(c, words, e);

	if (!err)
		err = workload_allowed(c->w, &c->o, e);
	if (!err)
		err = outputs_open(&c->out, TEXT_STDOUT, e);
	if (!err)
		err = scores_new(&c->scores, &c->fd, e);
	if (!err)
		err = trace(c, &t, e);
	if (!err)
		err = outcome(c, &t, status, e);
	if (!err)
		err = write_results(c, &t, status, e);
	run_result_free(&t);
	scores_free(c->scores, c->fd);
	return err;
}

static void list(void)
{
	for (const struct workload *w = workloads; w->name; w++)
		printf("%-8s %s%s%s\n", w->name, w->summary, w->tool ? "; needs " : "", w->tool ? w->tool : "");
	puts("\nbarriertrace bench WORKLOAD [DIR] runs one; --help has their options\n"
	     "Any other is wrapped: barriertrace DIR -- TOOL ..");
	for (const struct benchmark *b = benchmarks; b->name; b++)
		printf("%s%s", b == benchmarks ? "  such as " : ", ", b->name);
	puts("");
}

static int run(void *ctx, const struct options_result *words, int *status, struct err *e)
{
	struct ctx *c = ctx;

	if (strv_len(words->words) > 2)
		return err_set(e, EINVAL, EXIT_USAGE, "bench takes a workload and a folder");
	log_level(c->out.quiet, c->out.verbose);
	if (words->words)
		return measure(c, words->words, status, e);
	list();
	return 0;
}

int cmd_bench(char **argv)
{
	struct ctx c = {
		.out = OUTPUTS_NONE,
		.fd = -1,
		.o = { .inserts = 12500, .copies = 1, .journal = "delete", .synchronous = "full" },
	};
	int status = command_do(&bench_def, argv, set, run, &c);

	outputs_close(&c.out);
	return status;
}
