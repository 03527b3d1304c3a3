// SPDX-License-Identifier: GPL-2.0-only
/* barriertrace experiment [TARGET] --set KEY=VALUE.. -- COMMAND: settings changed, measured, explained, put back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/sysfs.h"
#include "host/target.h"
#include "cmd/install_hints.h"
#include "cmd/cmd.h"
#include "experiment/experiment_runner.h"
#include "model/arguments.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/num.h"
#include "cmd/outputs.h"
#include "render/render_documents.h"

#define RUNS_DEFAULT 5
#define RUNS_MOST    1000

enum { OPT_SET, OPT_RUNS, OPT_UNSAFE, OPT_RESTORE };

/* clang-format off */
static const struct option_def options[] = {
	{ "set", 's', "KEY=VALUE", OPT_SET, "A variant to compare; KEY=VALUE,KEY2=VALUE2 sets several at once. The first one "
	  "is what the others are compared with; a single one is compared with things as they are.", NULL },
	{ "runs", 'n', "RUNS", OPT_RUNS, "Run COMMAND so often under each variant (5).", NULL },
	{ "unsafe", 0, NULL, OPT_UNSAFE, "Allow write_cache, which makes the kernel send no flushes.", NULL },
	{ "restore", 0, NULL, OPT_RESTORE, "Put back what an experiment left that was killed.", NULL },
	{ "as-root", 0, NULL, OUTPUT_AS_ROOT, "Run COMMAND, and open files, as root instead of as the user who "
	  "called sudo.", NULL },
	{ "output", 'o', "FILE", OUTPUT_TEXT, "Write the text to FILE.", NULL },
	{ "json", 0, "FILE", OUTPUT_JSON, "Write the outcome as JSON to FILE, or to standard output for '-'.", NULL },
	OUTPUT_MODE_OPTION(NULL)
	OUTPUT_SHOW_ARGS_OPTION(NULL)
	{ "quiet", 'q', NULL, OUTPUT_QUIET, "No progress, no notes, no verdicts.", NULL },
	{ "ascii", 0, NULL, OUTPUT_ASCII, "Draw with plain ASCII.", NULL },
	OPTIONS_HELP_ROW
	{ 0 },
};
/* clang-format on */

static bool key_term(size_t i, const char **name, const char **what)
{
	for (const struct key_row *row = key_rows; row->name; row++)
		if (!row->hidden && !i--) {
			*name = row->name;
			*what = row->what;
			return true;
		}
	return false;
}

const struct command_def experiment_def = {
	.name = "experiment",
	.usage = "[OPTION].. [TARGET] --set KEY=VALUE.. -- COMMAND [ARGUMENT]..",
	.summary = "Change a setting, run a command under each of its values, say what is faster and why, and put it back.",
	.about = "COMMAND is run once to warm up, then under each variant in turn, over and over, each time "
		 "traced. What comes out is how much faster or slower each variant is, with a 95 % confidence "
		 "interval, and why: where the time of the sync calls went under each. Before the other "
		 "variants are measured, a prediction from a run of the first one is printed.\n\nTARGET is the disk, or a folder or file "
		 "on it, whose settings are changed and that is traced; without one: the file system of the "
		 "current directory. COMMAND's input is empty and its standard output is thrown away; it has to do "
		 "the same work each time, and to succeed.\n\nAll settings are put back at the end, after an error and after "
		 "every signal that can be caught. After kill -9 or a crash of this tool: barriertrace experiment "
		 "--restore. A reboot puts all of them back by itself.",
	.options = options,
	.wraps = true,
	.words = "DISK",
	.terms = "Keys of --set",
	.term = key_term,
};

struct ctx {
	struct outputs out;
	struct plan plan;
	uint64_t runs;
	bool unsafe, restore;

	/* the target */
	const char *word;
	struct mount_origin mount; /* dir NULL: none */
	char *no_mount;
	char **disks;		 /* with a queue of their own */
	struct state_disk *disk; /* all of them */
	size_t n_disks;
};

static int set(void *arg, int id, const char *value, struct err *e)
{
	struct ctx *c = arg;
	int err = outputs_set(&c->out, id, value, e);

	if (err <= 0)
		return err;
	switch (id) {
	case OPT_SET: return plan_add(&c->plan, value, e);
	case OPT_RUNS:
		if (num_parse_range(value, 1, RUNS_MOST, &c->runs))
			return err_set(e, EINVAL, EXIT_USAGE, "-n %s: write a number from 1 to %d", value, RUNS_MOST);
		break;
	case OPT_UNSAFE: c->unsafe = true; break;
	case OPT_RESTORE: c->restore = true; break;
	}
	return 0;
}

/* ---- the target ---- */

static void add_disk(struct ctx *c, const struct target *t)
{
	struct state_disk *d;

	for (size_t i = 0; i < c->n_disks; i++)
		if (c->disk[i].major == t->disk_major && c->disk[i].minor == t->disk_minor)
			return;
	d = grow((void **)&c->disk, &c->n_disks, sizeof(*d));
	d->major = t->disk_major;
	d->minor = t->disk_minor;
	memcpy(d->name, t->disk, sizeof(d->name));
	if (!t->bio_based && !strv_has(c->disks, t->disk))
		strv_add(&c->disks, xstrdup(t->disk));
}

/* The mount of a disk that was named itself: if it has but one. */
static void mount_of_disk(struct ctx *c, const struct target *t)
{
	struct report_device d = { 0 };

	device_facts(t, &d);
	if (d.n_mounts == 1)
		mount_origin(d.mounts[0].dir, &c->mount);
	else
		c->no_mount = xasprintf("%s is mounted %s: name the folder to work in", t->name,
					d.n_mounts ? "more than once" : "nowhere");
	report_device_free(&d);
}

static int find_target(struct ctx *c, struct err *e)
{
	struct targets t = { 0 };
	struct stat st;
	int err = target_resolve(c->word, &t, e);

	if (err)
		return err;
	for (size_t i = 0; i < t.n; i++)
		add_disk(c, &t.t[i]);
	if (!stat(c->word, &st) && !S_ISBLK(st.st_mode))
		mount_origin(c->word, &c->mount);
	else
		mount_of_disk(c, &t.t[0]);
	targets_free(&t);
	return 0;
}

static char *target_text(const struct ctx *c)
{
	struct buf b = { 0 };

	if (c->mount.dir)
		buf_printf(&b, "%s: %s on ", c->mount.dir, c->mount.fstype);
	for (size_t i = 0; i < c->n_disks; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", c->disk[i].name);
	return b.data;
}

/* ---- before the first run ---- */

static bool is_read_only(const struct ctx *c)
{
	return c->mount.options && !strncmp(c->mount.options, "ro", 2) &&
	       (!c->mount.options[2] || c->mount.options[2] == ',');
}

/* What was asked for can be done, and nothing has been changed yet. */
static int prepare(struct ctx *c, struct err *e)
{
	struct place_target t = { 0 };
	const struct key_row *unsafe = plan_unsafe(&c->plan);
	int err;

	if (unsafe && !c->unsafe)
		return err_set(e, EPERM, EXIT_USAGE, "%s takes --unsafe: %s", unsafe->name, unsafe->risk);
	if (geteuid())
		return err_set(e, EPERM, EXIT_NOT_PERMITTED, "experiment changes settings: run it as root (sudo)");
	err = find_target(c, e);
	if (err)
		return err;
	if (is_read_only(c))
		return err_set(e, EROFS, EXIT_FAILED, "%s is mounted read-only: nothing can be synced there", c->mount.dir);
	t.disks = c->disks;
	t.dir = c->mount.dir;
	t.fstype = c->mount.fstype;
	t.major = c->mount.major;
	t.minor = c->mount.minor;
	t.no_mount = c->no_mount;
	return plan_find(&c->plan, &t, e);
}

/* ---- the outcome ---- */

/* Several keys at once: the what-if knows only one removal at a time. */
static struct outcome_removal removal_of(const struct plan *p, const struct variant *v)
{
	struct outcome_removal r = { .same = true };
	unsigned int changes = 0;

	for (size_t i = 0; i < p->n_places; i++) {
		const struct key_row *row = p->place[i].row;
		const char *was = variant_value(&p->variant[0], row), *is = variant_value(v, row);

		was = was ? was : p->place[i].before;
		is = is ? is : p->place[i].before;
		if (!strcmp(was, is) || (i && p->place[i - 1].row == row))
			continue;
		changes++;
		r.same = false;
		if (row->gone && !strcmp(is, row->gone))
			r = (struct outcome_removal){ row->without, row->at_most, false };
	}
	return changes > 1 ? (struct outcome_removal){ 0 } : r;
}

static void name_variants(const struct ctx *c, struct outcome *o)
{
	for (size_t i = 0; i < c->plan.n; i++) {
		const struct variant *from = &c->plan.variant[i];
		struct outcome_variant *v = grow((void **)&o->variant, &o->n, sizeof(*v));

		v->name = xstrdup(from->name);
		for (size_t k = 0; k < from->n; k++)
			strv_add(&v->set, xasprintf("%s=%s", from->set[k].row->name, from->set[k].value));
		v->risk = variant_risk(from);
		v->removal = removal_of(&c->plan, from);
		if (v->risk)
			log_error("%s: %s", v->name, v->risk);
	}
}

static void put(const void *document, const struct render_opts *opts, bool hide, struct buf *b)
{
	struct outcome o = *(const struct outcome *)document;
	char *name[2] = { 0 };

	if (hide) {
		o.arguments_hidden = arguments_hide(o.command, name);
		o.command = name;
	}
	if (opts)
		render_outcome_text(&o, opts, b);
	else
		render_outcome_json(&o, b);
	free(name[0]);
}

static int lab(struct ctx *c, char *const *command, int *status, struct err *e)
{
	const struct lab_opts o = {
		.target = c->word,
		.dir = c->mount.dir,
		.plan = &c->plan,
		.disk = c->disk,
		.n_disks = c->n_disks,
		.command = command,
		.runs = (unsigned int)c->runs,
		.as_root = c->out.as_root,
		.progress = !c->out.quiet && isatty(STDERR_FILENO),
		.notices = command_notices,
	};
	struct outcome outcome = { .n_runs = c->runs, .target = target_text(c), .command = strv_dup(command) };
	int err, failed = EXIT_FAILED; /* the command's own, if it is that */

	name_variants(c, &outcome);
	err = lab_run(&o, &outcome, &failed, e);
	if (err)
		e->status = failed;
	else
		err = outputs_document(&c->out, put, &outcome, e);
	*status = outcome.restored ? EXIT_OK : EXIT_FAILED;
	outcome_free(&outcome);
	return err;
}

static int measure(struct ctx *c, const struct options_result *words, int *status, struct err *e)
{
	int err;

	log_level(c->out.quiet, false);
	plan_complete(&c->plan);
	c->word = words->words ? words->words[0] : ".";
	err = prepare(c, e);
	if (!err)
		err = outputs_open(&c->out, TEXT_STDOUT, e);
	if (!err)
		err = lab(c, words->command, status, e);
	if (err)
		benchmark_hint(words->command[0], e);
	return err;
}

static int restore(int *status, struct err *e)
{
	bool bad = false;
	int err;

	if (geteuid())
		return err_set(e, EPERM, EXIT_NOT_PERMITTED, "--restore changes settings: run it as root (sudo)");
	err = lab_restore(&command_notices, &bad, e);
	*status = bad ? EXIT_FAILED : EXIT_OK;
	return err;
}

static void clean_up(struct ctx *c)
{
	outputs_close(&c->out);
	plan_free(&c->plan);
	mount_origin_free(&c->mount);
	free(c->no_mount);
	strv_free(c->disks);
	free(c->disk);
}

/* What is missing of a call, or NULL. */
static const char *missing(const struct ctx *c, const struct options_result *words)
{
	if (c->restore)
		return c->plan.n || words->command || words->words ? "--restore stands alone" : NULL;
	if (strv_len(words->words) > 1)
		return "experiment takes one target, or none for the current directory's file system";
	if (!c->plan.n)
		return "nothing to compare: name a setting with --set KEY=VALUE";
	return words->command ? NULL : "no command to run: put it behind --";
}

static int run(void *ctx, const struct options_result *words, int *status, struct err *e)
{
	struct ctx *c = ctx;
	const char *lacks = missing(c, words);

	if (lacks)
		return err_set(e, EINVAL, EXIT_USAGE, "%s", lacks);
	return c->restore ? restore(status, e) : measure(c, words, status, e);
}

int cmd_experiment(char **argv)
{
	struct ctx c = { .out = OUTPUTS_NONE, .runs = RUNS_DEFAULT };
	int status = command_do(&experiment_def, argv, set, run, &c);

	clean_up(&c);
	return status;
}
