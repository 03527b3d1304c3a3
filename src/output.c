// SPDX-License-Identifier: GPL-2.0-only
#include "output.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDEST 120	/* longer lines are hard to read */

static bool utf8_locale(void)
{
	const char *vars[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < 3; i++) {
		const char *v = getenv(vars[i]);

		if (v && *v)
			return strcasestr(v, "utf-8") || strcasestr(v, "utf8");
	}
	return false;
}

struct render_opts outputs_text_opts(const struct outputs *o)
{
	int fd = o->text.fd;
	struct winsize ws = { 0 };
	bool tty = isatty(fd);
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	unsigned int width = tty && !ioctl(fd, TIOCGWINSZ, &ws) && ws.ws_col >= 60 ? ws.ws_col : 80;

	return (struct render_opts){
		.color = tty && !(no_color && *no_color) && term && strcmp(term, "dumb"),
		.unicode = !o->ascii && utf8_locale(),
		.width = width < WIDEST ? width : WIDEST,
		.quiet = o->quiet,
		.verbose = o->verbose,
	};
}

int outputs_open(struct outputs *o, enum text_default text, struct err *e)
{
	bool json_stdout = o->json_path && !strcmp(o->json_path, "-");
	int err = 0;

	if (o->json_path)
		err = outfile_open(&o->json, o->json_path, o->stream, e);
	if (err)
		return err;
	if (o->text_path)
		err = outfile_open(&o->text, o->text_path, o->stream, e);
	else if (text == TEXT_STDERR)
		o->text = (struct outfile){ .fd = dup(STDERR_FILENO), .path = "standard error" };
	else if (text == TEXT_STDOUT && !json_stdout)
		err = outfile_open(&o->text, "-", o->stream, e);
	o->on_screen = !err && o->stream && !o->text_path && o->text.fd >= 0 && isatty(o->text.fd);
	return err;
}

static int write_text(struct outputs *o, const struct report *r, struct err *e)
{
	struct render_opts opts = outputs_text_opts(o);
	struct buf b = { 0 };
	int err;

	if (o->on_screen)
		buf_str(&b, "\033[H\033[J");
	render_text(r, &opts, &b);
	err = outfile_write(&o->text, &b, e);
	buf_free(&b);
	return err;
}

static int write_json(struct outputs *o, const struct report *r, struct err *e)
{
	const struct render_opts opts = { 0 };
	struct buf b = { 0 };
	int err;

	if (o->stream)
		render_ndjson(r, &opts, &b);
	else
		render_json(r, &opts, &b);
	err = outfile_write(&o->json, &b, e);
	buf_free(&b);
	return err;
}

int outputs_write(struct outputs *o, const struct report *r, struct err *e)
{
	int err = o->json.fd >= 0 ? write_json(o, r, e) : 0;

	if (!err && o->text.fd >= 0)
		err = write_text(o, r, e);
	return err;
}

int outputs_commit(struct outputs *o, struct err *e)
{
	int err = outfile_commit(&o->text, e);

	return err ? err : outfile_commit(&o->json, e);
}

void outputs_close(struct outputs *o)
{
	outfile_close(&o->text);
	outfile_close(&o->json);
}
