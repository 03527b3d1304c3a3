/* SPDX-License-Identifier: GPL-2.0-only */
/* outputs.h - where a command's reports go: the places and how they are drawn there. Shared by tracing and replaying. */
#ifndef BT_CMD_OUTPUTS_H
#define BT_CMD_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "util/err.h"
#include "util/outfile.h"
#include "render/render.h"
#include "model/report.h"

struct outputs {
	/* what the user wants; paths are borrowed */
	const char *text_path, *json_path; /* NULL: the default place, or none; "-": standard output */
	const char *file_path[RENDER_N_FILES];
	const char *csv_dir;
	const char *taken[2]; /* files that the command itself reads or writes: no output may go there */
	uint32_t taken_turns; /* nor to taken[0].1 up to the one before this; 0: there are none */
	bool quiet, verbose, ascii;
	bool show_args; /* commands' arguments also where others can read them */
	bool as_root;
	uint64_t read_memory; /* 0: as usual */
	bool stream;	      /* one report after another */
	bool on_screen;	      /* redrawn in place on a terminal */

	struct outfile text, json, file[RENDER_N_FILES], csv[RENDER_N_CSV];
	char **csv_path;
	char *csv_name; /* its path, of which csv_parent has the last part */
	struct user_dir csv_parent;
	bool csv_made; /* it is ours */
};

/* clang-format off */
#define OUTPUTS_NONE { .text = OUTFILE_NONE, .json = OUTFILE_NONE, .csv_parent = USER_DIR_NONE, \
		       .file = { [0 ... RENDER_N_FILES - 1] = OUTFILE_NONE }, \
		       .csv = { [0 ... RENDER_N_CSV - 1] = OUTFILE_NONE } }
/* clang-format on */

/* Rows for a command's table of options. Their ids are OUTPUT_ID and up: hand them to outputs_set(). */
#define OUTPUT_ID  1000
#define OUTPUT_CSV (OUTPUT_ID + RENDER_N_FILES)
#define OUTPUT_ROW(row, option, arg, fn, detail, help) \
	{ option, 0, arg, OUTPUT_ID + RENDER_##row, help, "Pictures and other formats" },
/* clang-format off */
#define OUTPUT_OPTIONS \
	RENDER_FILES(OUTPUT_ROW) \
	{ "csv", 0, "DIR", OUTPUT_CSV, "Write every table as a CSV file into DIR, which is made if it isn't there.", \
	  "Pictures and other formats" },
/* clang-format on */

/* Of what each command words in its own way, only the ids. */
enum {
	OUTPUT_TEXT = OUTPUT_CSV + 1,
	OUTPUT_JSON,
	OUTPUT_ASCII,
	OUTPUT_QUIET,
	OUTPUT_VERBOSE,
	OUTPUT_MODE,
	OUTPUT_AS_ROOT,
	OUTPUT_SHOW_ARGS,
	OUTPUT_READ_MEMORY
};

/* clang-format off */
#define OUTPUT_MODE_OPTION(group) \
	{ "mode", 0, "MODE", OUTPUT_MODE, "Permissions of new files, such as 0644 (default: 0600).", group },
#define OUTPUT_AS_ROOT_OPTION(group) \
	{ "as-root", 0, NULL, OUTPUT_AS_ROOT, "Open files as root instead of as the user who called sudo.", group },
#define OUTPUT_SHOW_ARGS_OPTION(group) \
	{ "show-args", 0, NULL, OUTPUT_SHOW_ARGS, "Keep commands' arguments also in what others may read: pipes, and files whose mode is " \
	  "not 0600.", group },
/* For those that read recordings, which may come from anybody. */
#define OUTPUT_READ_MEMORY_OPTION(group) \
	{ "read-memory", 0, "SIZE", OUTPUT_READ_MEMORY, "Take at most SIZE of memory (default: 1G).", group },
/* clang-format on */

/* For command_do(), of a struct outputs. OUTPUTS_OTHER: not an id of these. */
#define OUTPUTS_OTHER 1
int outputs_set(void *o, int id, const char *value, struct err *e);

/* Before a recording is opened. */
void outputs_limit_memory(const struct outputs *o);

/* Whether one of them needs report.detail. */
bool outputs_want_detail(const struct outputs *o);

/* Where text goes that has no path: standard output unless JSON takes it, standard error, nowhere. */
enum text_default { TEXT_STDOUT, TEXT_STDERR, TEXT_NOWHERE };

int outputs_open(struct outputs *o, enum text_default text, struct err *e);

/* Does the environment name a locale of UTF-8? */
bool outputs_utf8_locale(void);

/* Text and JSON each time; the other files with the report that is final. */
int outputs_write(struct outputs *o, const struct report *r, struct err *e);

/*
 * A document that is no report, as JSON and as text, and commits them. `put` adds it to *b: as text the way `opts` wants it, or as
 * JSON where that is NULL; `hide`: others may read it there, so without commands' arguments.
 */
typedef void outputs_put(const void *document, const struct render_opts *opts, bool hide, struct buf *b);
int outputs_document(struct outputs *o, outputs_put *put, const void *document, struct err *e);

int outputs_commit(struct outputs *o, struct err *e);
void outputs_close(struct outputs *o);

#endif
