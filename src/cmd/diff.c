// SPDX-License-Identifier: GPL-2.0-only
/* barriertrace diff A B: what changed from one recording to another. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/verdict/plausibility.h"
#include "analyse/compare/reports.h"
#include "cmd/cmd.h"
#include "model/arguments.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/user_file.h"
#include "cmd/outputs.h"
#include "render/render_documents.h"
#include "run/replay.h"

/* clang-format off */
static const struct option_def options[] = {
	{ "output", 'o', "FILE", OUTPUT_TEXT, "Write the text to FILE.", NULL },
	{ "json", 0, "FILE", OUTPUT_JSON, "Write the comparison as JSON to FILE, or to standard output for '-'.", NULL },
	OUTPUT_MODE_OPTION(NULL)
	OUTPUT_SHOW_ARGS_OPTION(NULL)
	OUTPUT_AS_ROOT_OPTION(NULL)
	{ "ascii", 0, NULL, OUTPUT_ASCII, "Draw with plain ASCII.", NULL },
	OUTPUT_READ_MEMORY_OPTION(NULL)
	OPTIONS_HELP_ROW
	{ 0 },
};
/* clang-format on */

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

/* ---- the work ---- */

static void put_cards(const void *document, const struct render_opts *opts, bool hide, struct buf *b)
{
	(void)hide; /* the command is one of ours */
	if (opts)
		render_cards_text(document, opts, b);
	else
		render_cards_json(document, b);
}

static void put_runs(const void *document, const struct render_opts *opts, bool hide, struct buf *b)
{
	struct comparison c = *(const struct comparison *)document;
	struct report_no_arguments hidden[SIDES] = { 0 };

	for (int i = 0; i < SIDES && hide; i++) {
		report_hide_arguments(c.run[i], &hidden[i]);
		c.run[i] = &hidden[i].r;
	}
	if (opts)
		render_compare_text(&c, opts, b);
	else
		render_compare_json(&c, b);
	for (int i = 0; i < SIDES; i++)
		report_no_arguments_free(&hidden[i]);
}

static int write_outputs(struct outputs *o, outputs_put *put, const void *document, struct err *e)
{
	int err = outputs_open(o, TEXT_STDOUT, e);

	return err ? err : outputs_document(o, put, document, e);
}

/* ---- what is compared ---- */

static const char *name_of(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

/* One side: a card, or the report of a recording */
struct side {
	bool is_card;
	struct card card;
	struct report report;
	char *damage;
};

static void side_free(struct side *s)
{
	card_free(&s->card);
	report_free(&s->report);
	free(s->damage);
}

/* `card` is one, `other` is none. */
static int not_two(const char *card, const char *other, struct err *e)
{
	return err_set(e, EINVAL, EXIT_USAGE, "%s is a barrier card and %s is not: two of a kind can be compared", card,
		       other);
}

/* `fd` is read and closed. `card`: the name of the other side, when that is one, or NULL. */
static int read_side(int fd, const char *path, const char *card, struct side *s, struct err *e)
{
	int err = card_read(fd, name_of(path), &s->card, &s->is_card, e);

	if (!err && s->is_card)
		believe(&s->card);
	if (!s->is_card && !card)
		return replay_fd(fd, name_of(path), false, &s->report, &s->damage, e);
	close(fd);
	return s->is_card ? err : not_two(card, path, e);
}

/* That the second is there is seen before the first is read: one program may fill two pipes one after the other. */
static int read_sides(char *const *path, struct side *s, struct err *e)
{
	int fd = user_file_read(path[SIDE_A], e), other, err;

	if (fd < 0)
		return fd;
	other = user_file_read(path[SIDE_B], e);
	if (other < 0) {
		close(fd);
		return other;
	}
	err = read_side(fd, path[SIDE_A], NULL, &s[SIDE_A], e);
	if (err)
		close(other);
	else
		err = read_side(other, path[SIDE_B], s[SIDE_A].is_card ? path[SIDE_A] : NULL, &s[SIDE_B], e);
	if (!err && s[SIDE_A].is_card != s[SIDE_B].is_card)
		err = not_two(path[SIDE_B], path[SIDE_A], e);
	return err;
}

static int compare_cards(struct outputs *o, char *const *path, const struct side *s, struct err *e)
{
	struct card_comparison c;
	int err;

	believe_compare(&s[SIDE_A].card, &s[SIDE_B].card, &c);
	c.file[SIDE_A] = path[SIDE_A];
	c.file[SIDE_B] = path[SIDE_B];
	err = write_outputs(o, put_cards, &c, e);
	card_comparison_free(&c);
	return err;
}

static int compare_recordings(struct outputs *o, char *const *path, const struct side *s, struct err *e)
{
	struct comparison c;
	int err;

	compare_reports(&s[SIDE_A].report, &s[SIDE_B].report, &c);
	c.name[SIDE_A] = path[SIDE_A];
	c.name[SIDE_B] = path[SIDE_B];
	err = write_outputs(o, put_runs, &c, e);
	comparison_free(&c);
	for (int i = 0; i < SIDES && !err; i++)
		if (s[i].damage)
			log_error("%s: %s", path[i], s[i].damage);
	return err;
}

static int compare(struct outputs *o, char *const *path, int *status, struct err *e)
{
	struct side s[SIDES] = { 0 };
	int err;

	outputs_limit_memory(o);
	for (int i = 0; i < SIDES; i++)
		o->taken[i] = strcmp(path[i], "-") ? path[i] : NULL;
	err = read_sides(path, s, e);
	if (!err)
		err = (s[SIDE_A].is_card ? compare_cards : compare_recordings)(o, path, s, e);
	*status = s[SIDE_A].report.incomplete || s[SIDE_B].report.incomplete ? EXIT_INCOMPLETE : EXIT_OK;
	side_free(&s[SIDE_A]);
	side_free(&s[SIDE_B]);
	return err;
}

static int run(void *ctx, const struct options_result *words, int *status, struct err *e)
{
	char *const *path = words->words;

	if (strv_len(path) != SIDES)
		return err_set(e, EINVAL, EXIT_USAGE, "diff takes two recordings: barriertrace diff A B");
	if (!strcmp(path[SIDE_A], "-") && !strcmp(path[SIDE_B], "-"))
		return err_set(e, EINVAL, EXIT_USAGE, "only one of the recordings can come from standard input");
	return compare(ctx, path, status, e);
}

int cmd_diff(char **argv)
{
	struct outputs o = OUTPUTS_NONE;
	int status = command_do(&diff_def, argv, outputs_set, run, &o);

	outputs_close(&o);
	return status;
}
