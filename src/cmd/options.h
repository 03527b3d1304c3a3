/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * options.h - the options of a command as a table: the parser, the help, the man page and the
 * completion read the same rows.
 */
#ifndef BT_CMD_OPTIONS_H
#define BT_CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/err.h"

struct option_def {
	const char *name;  /* long, without dashes; NULL: short only */
	char short_name;   /* 0: long only */
	const char *arg;   /* metavariable: FILE, DIR, DISK, COMMAND can be completed; NULL: a flag */
	int id;		   /* the caller's own */
	const char *help;  /* a sentence; NULL hides it from help, man page and completion */
	const char *group; /* heading; rows of one group stand together; NULL: "Options" */
};

static inline bool option_is_end(const struct option_def *o)
{
	return !o->name && !o->short_name;
}

/* --help's row, in every table: the reading itself notes it. */
#define OPTION_HELP (-1)
/* clang-format off */
#define OPTIONS_HELP_ROW { "help", 'h', NULL, OPTION_HELP, "Show this help.", NULL },
/* clang-format on */

struct command_def {
	const char *name;		  /* "record"; "" for what the program does without a command word */
	const char *usage;		  /* "[OPTION].. [DISK].. [-- COMMAND [ARGUMENT]..]" */
	const char *summary;		  /* one line */
	const char *about;		  /* paragraphs parted by an empty line, or NULL */
	const struct option_def *options; /* ends with a row that has neither name */
	bool wraps;			  /* `--` starts a command to run; otherwise it only ends the options */
	/* What was read makes no sense: may put a better sentence into *e; `words` are those before that are no options, or NULL. NULL: no */
	int (*misread)(char *const *words, int err, struct err *e);
	const char *words; /* metavariable of the other words, for the completion; or NULL */
	const char *terms; /* heading of the words that its options take; NULL: none to list */
	bool (*term)(size_t i, const char **name, const char **what); /* the i-th of them; false: no more */
};

/* What is no option. Free with options_result_free(). */
struct options_result {
	char **words;	      /* NULL-terminated, owned; NULL when there are none */
	char *const *command; /* what stands behind `--`, borrowed from argv; NULL: none */
	bool help;	      /* --help was asked for */
};

/*
 * Reads argv (NULL-terminated, without the names of program and command). Options and words may
 * mix. `set` is called for each option but --help in order, with value NULL for a flag; what it returns other
 * than 0 ends the reading and is returned. Wrong usage: -EINVAL and *e with EXIT_USAGE. On failure
 * *out is unchanged.
 */
int options_parse(const struct command_def *def, char *const argv[],
		  int (*set)(void *ctx, int id, const char *value, struct err *e), void *ctx,
		  struct options_result *out, struct err *e);
void options_result_free(struct options_result *r);

#endif
