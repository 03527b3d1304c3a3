// SPDX-License-Identifier: GPL-2.0-only
/* barriertrace diff A B: what changed from one recording to another. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/believe.h"
#include "analyse/compare.h"
#include "commands.h"
#include "log.h"
#include "mem.h"
#include "output.h"
#include "render/render_bench.h"
#include "render/render_compare.h"
#include "replay.h"

enum { OPT_HELP };

static const struct option_def options[] = {
	{ "output", 'o', "FILE", OUTPUT_TEXT, "Write the text to FILE.", NULL },
	{ "json", 0, "FILE", OUTPUT_JSON, "Write the comparison as JSON to FILE, or to standard output for '-'.", NULL },
	{ "ascii", 0, NULL, OUTPUT_ASCII, "Draw with plain ASCII.", NULL },
	{ "help", 'h', NULL, OPT_HELP, "Show this help.", NULL },
	{ 0 },
};

const struct command_def diff_def = {
	.name = "diff",
	.usage = "[OPTION].. A B",
	.summary = "Compare two recordings, or two barrier cards.",
	.about = "Says what changed from A to B in the time of the sync calls, by cause, and in what the disks did. The "
		 "difference has a 95 % confidence interval (Welch's), as if each call were independent of the others. A damaged "
		 "recording is compared as far as it goes, and gives status 5.\n\n"
		 "Barrier cards (barriertrace bench barrier --json FILE) of two disks, kernels or firmwares are compared test "
		 "by test.",
	.options = options,
	.words = "FILE",
};

struct ctx {
	struct outputs out;
	bool help;
};

static int set(void *arg, int id, const char *value, struct err *e)
{
	struct ctx *c = arg;

	(void)e;
	if (!outputs_set(&c->out, id, value))
		c->help = id == OPT_HELP;
	return 0;
}

/* ---- the work ---- */

/* One of two kinds of comparison */
struct shown {
	const struct comparison *runs;
	const struct card_comparison *cards;	/* NULL: runs */
};

static void render_shown_json(const struct shown *s, struct buf *b)
{
	if (s->cards)
		render_cards_json(s->cards, b);
	else
		render_compare_json(s->runs, b);
}

static void render_shown_text(const struct shown *s, const struct render_opts *o, struct buf *b)
{
	if (s->cards)
		render_cards_text(s->cards, o, b);
	else
		render_compare_text(s->runs, o, b);
}

static int write_outputs(struct outputs *o, const struct shown *s, struct err *e)
{
	struct render_opts opts;
	struct buf b = { 0 };
	int err = outputs_open(o, TEXT_STDOUT, e);

	if (!err && o->json.fd >= 0) {
		render_shown_json(s, &b);
		err = outfile_write(&o->json, &b, e);
	}
	buf_clear(&b);
	if (!err && o->text.fd >= 0) {
		opts = outputs_text_opts(o);
		render_shown_text(s, &opts, &b);
		err = outfile_write(&o->text, &b, e);
	}
	buf_free(&b);
	return err ? err : outputs_commit(o, e);
}

/* ---- what is compared ---- */

static const char *name_of(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

static int open_one(const char *path, int *fd, struct err *e)
{
	*fd = strcmp(path, "-") ? open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC) : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	return *fd < 0 ? err_set(e, errno, EXIT_FAILED, "cannot read %s: %s", name_of(path), strerror(errno)) : 0;
}

/* ---- cards ---- */

static int compare_cards(struct outputs *o, char *const *path, const struct card *card, struct err *e)
{
	struct card_comparison c;
	int err;

	believe_compare(&card[SIDE_A], &card[SIDE_B], &c);
	c.file[SIDE_A] = path[SIDE_A];
	c.file[SIDE_B] = path[SIDE_B];
	err = write_outputs(o, &(struct shown){ .cards = &c }, e);
	card_comparison_free(&c);
	return err;
}

/* `card` is one, `other` is none. */
static int not_two(const char *card, const char *other, struct err *e)
{
	return err_set(e, EINVAL, EXIT_USAGE, "%s is a barrier card and %s is not: two of a kind can be compared", card,
		       other);
}

static int read_cards(const int *fd, char *const *path, struct card *card, bool *is_card, struct err *e)
{
	int err[SIDES];

	for (int i = 0; i < SIDES; i++) {
		err[i] = card_read(fd[i], name_of(path[i]), &card[i], &is_card[i], e);
		if (is_card[i] && err[i])
			return err[i];
	}
	if (is_card[SIDE_A] == is_card[SIDE_B])
		return err[SIDE_A];
	return is_card[SIDE_A] ? not_two(path[SIDE_A], path[SIDE_B], e) : not_two(path[SIDE_B], path[SIDE_A], e);
}

/* Whether one is a card: then that is all, done or failed. */
static bool run_cards(struct ctx *c, const int *fd, char *const *path, struct err *e, int *err)
{
	struct card card[SIDES] = { 0 };
	bool is_card[SIDES] = { false };

	*err = read_cards(fd, path, card, is_card, e);
	if (!*err)
		*err = compare_cards(&c->out, path, card, e);
	card_free(&card[SIDE_A]);
	card_free(&card[SIDE_B]);
	return is_card[SIDE_A] || is_card[SIDE_B];
}

/* ---- recordings ---- */

static int compare(struct outputs *o, char *const *path, const struct report *r, struct err *e)
{
	struct comparison c;
	int err;

	compare_reports(&r[SIDE_A], &r[SIDE_B], &c);
	c.name[SIDE_A] = path[SIDE_A];
	c.name[SIDE_B] = path[SIDE_B];
	err = write_outputs(o, &(struct shown){ .runs = &c }, e);
	comparison_free(&c);
	return err;
}

static int run_recordings(struct ctx *c, int *fd, char *const *path, struct err *e, int *status)
{
	struct report r[SIDES] = { 0 };
	char *damage[SIDES] = { 0 };
	int err = 0;

	for (int i = 0; i < SIDES && !err; i++) {
		err = replay_fd(fd[i], name_of(path[i]), false, &r[i], &damage[i], e);
		fd[i] = -1;
	}
	if (!err)
		err = compare(&c->out, path, r, e);
	*status = r[SIDE_A].incomplete || r[SIDE_B].incomplete ? EXIT_INCOMPLETE : EXIT_OK;
	for (int i = 0; i < SIDES; i++) {
		if (!err && damage[i])
			log_error("%s: %s", path[i], damage[i]);
		free(damage[i]);
		report_free(&r[i]);
	}
	return err;
}

/* Each is opened once: what comes out of a pipe comes only once. */
static int run(struct ctx *c, char *const *path, struct err *e, int *status)
{
	int fd[SIDES] = { -1, -1 }, err = 0;

	*status = EXIT_OK;
	for (int i = 0; i < SIDES && !err; i++) {
		c->out.taken[i] = strcmp(path[i], "-") ? path[i] : NULL;
		err = open_one(path[i], &fd[i], e);
	}
	if (!err && !run_cards(c, fd, path, e, &err))
		err = run_recordings(c, fd, path, e, status);
	for (int i = 0; i < SIDES; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return err;
}

int cmd_diff(char **argv)
{
	struct ctx c = { .out = OUTPUTS_NONE };
	struct options_result words = { 0 };
	struct err e = { 0 };
	int status;

	if (options_parse(&diff_def, argv, set, &c, &words, &e)) {
		status = command_failed(&e);
	} else if (c.help) {
		status = command_help(&diff_def);
	} else if (strv_len(words.words) != SIDES) {
		log_error("diff takes two recordings: barriertrace diff A B");
		status = EXIT_USAGE;
	} else if (!strcmp(words.words[SIDE_A], "-") && !strcmp(words.words[SIDE_B], "-")) {
		log_error("only one of the recordings can come from standard input");
		status = EXIT_USAGE;
	} else if (run(&c, words.words, &e, &status)) {
		status = command_failed(&e);
	}
	outputs_close(&c.out);
	options_result_free(&words);
	return status;
}
