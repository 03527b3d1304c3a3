/* SPDX-License-Identifier: GPL-2.0-only */
/* output.h - where a command's reports go: the places and how they are drawn there. Shared by tracing and replaying. */
#ifndef BT_OUTPUT_H
#define BT_OUTPUT_H

#include <stdbool.h>

#include "err.h"
#include "outfile.h"
#include "render/render.h"
#include "report.h"

struct outputs {
	/* what the user wants; paths are borrowed */
	const char *text_path, *json_path;	/* NULL: the default place, or none; "-": standard output */
	bool quiet, verbose, ascii;
	bool stream;			/* one report after another */
	bool on_screen;			/* redrawn in place on a terminal */

	struct outfile text, json;
};

#define OUTPUTS_NONE { .text = OUTFILE_NONE, .json = OUTFILE_NONE }

/* Where text goes that has no path: standard output unless JSON takes it, standard error, nowhere. */
enum text_default { TEXT_STDOUT, TEXT_STDERR, TEXT_NOWHERE };

int outputs_open(struct outputs *o, enum text_default text, struct err *e);
/* How to draw on where the text goes: colour on a terminal, Unicode in a UTF-8 locale, its width. */
struct render_opts outputs_text_opts(const struct outputs *o);

int outputs_write(struct outputs *o, const struct report *r, struct err *e);
int outputs_commit(struct outputs *o, struct err *e);
void outputs_close(struct outputs *o);

#endif
