/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * render.h - the outputs. A renderer turns a report into bytes and sees nothing else: no clock, no
 * locale, no globals. To add one: a file with one function, and a row in the table below.
 */
#ifndef BT_RENDER_H
#define BT_RENDER_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "report.h"

struct render_opts {
	bool color;		/* ANSI sequences */
	bool unicode;		/* µ, bars and rules; otherwise every byte is ASCII */
	unsigned int width;	/* columns; 0: 80 */
	bool quiet;		/* text: no histograms; notes and warnings stay */
	bool verbose;		/* text: every class's histogram, every mount, the probes */
};

typedef void render_fn(const struct report *r, const struct render_opts *o, struct buf *out);

render_fn render_text;		/* for reading */
render_fn render_json;		/* one indented document */
render_fn render_ndjson;	/* the same on one line, for streams */

struct render_output {
	const char *name;
	render_fn *render;
};

static const struct render_output render_outputs[] __attribute__((unused)) = {
	{ "text", render_text },
	{ "json", render_json },
	{ "ndjson", render_ndjson },
	{ NULL, NULL },
};

#endif
