// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/tmpfiles.h"
#include "model/arguments.h"
#include "util/mem.h"
#include "util/num.h"

#define WIDEST 120 /* longer lines are hard to read */

struct file_row {
	render_fn *render;
	bool detail;
	size_t table; /* of CSV */
};

#define ROW(row, option, arg, fn, detail, help) [RENDER_##row] = { fn, detail, 0 },
static const struct file_row file_rows[RENDER_N_FILES] = { RENDER_FILES(ROW) };
#undef ROW

static int set_mode(const char *value, struct err *e)
{
	char *end;
	unsigned long mode = strtoul(value, &end, 8);

	if (value[strspn(value, "01234567")] || end == value || mode > 0777)
		return err_set(e, EINVAL, EXIT_USAGE, "--mode '%s': write permissions in octal, such as 0644", value);
	user_files_mode((mode_t)mode);
	return 0;
}

static int set_read_memory(const char *value, uint64_t *bytes, struct err *e)
{
	if (num_parse_bytes(value, bytes) || !*bytes)
		return err_set(e, EINVAL, EXIT_USAGE, "--read-memory '%s': write a size above 0, such as 4G", value);
	return 0;
}

void outputs_limit_memory(const struct outputs *o)
{
	mem_limit(o->read_memory ? o->read_memory : 1ull << 30,
		  "; for a recording of your own, --read-memory SIZE allows more (default: 1G)");
}

int outputs_set(void *ctx, int id, const char *value, struct err *e)
{
	struct outputs *o = ctx;

	if (id >= OUTPUT_ID && id < OUTPUT_CSV) {
		o->file_path[id - OUTPUT_ID] = value;
		return 0;
	}
	switch (id) {
	case OUTPUT_CSV: o->csv_dir = value; return 0;
	case OUTPUT_TEXT: o->text_path = value; return 0;
	case OUTPUT_JSON: o->json_path = value; return 0;
	case OUTPUT_ASCII: o->ascii = true; return 0;
	case OUTPUT_QUIET: o->quiet = true; return 0;
	case OUTPUT_VERBOSE: o->verbose = true; return 0;
	case OUTPUT_MODE: return set_mode(value, e);
	case OUTPUT_SHOW_ARGS: o->show_args = true; return 0;
	case OUTPUT_AS_ROOT: o->as_root = true; return user_files_by_root(e);
	case OUTPUT_READ_MEMORY: return set_read_memory(value, &o->read_memory, e);
	default: return OUTPUTS_OTHER;
	}
}

bool outputs_want_detail(const struct outputs *o)
{
	for (int i = 0; i < RENDER_N_FILES; i++)
		if (o->file_path[i] && file_rows[i].detail)
			return true;
	return o->csv_dir;
}

bool outputs_utf8_locale(void)
{
	const char *vars[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < 3; i++) {
		const char *v = getenv(vars[i]);

		if (v && *v)
			return strcasestr(v, "utf-8") || strcasestr(v, "utf8");
	}
	return false;
}

/* How to draw on where the text goes: colour on a terminal, Unicode in a UTF-8 locale, its width. */
static struct render_opts text_opts(const struct outputs *o)
{
	int fd = o->text.fd;
	struct winsize ws = { 0 };
	bool tty = isatty(fd);
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	unsigned int width = tty && !ioctl(fd, TIOCGWINSZ, &ws) && ws.ws_col ? ws.ws_col : 80;

	return (struct render_opts){
		.color = tty && !(no_color && *no_color) && term && strcmp(term, "dumb"),
		.unicode = !o->ascii && outputs_utf8_locale(),
		.width = width < WIDEST ? width : WIDEST,
		.quiet = o->quiet,
		.verbose = o->verbose,
	};
}

static int csv_failed(const struct outputs *o, int code, struct err *e)
{
	return err_set(e, code, EXIT_FAILED, "cannot use %s as a directory to write to: %s%s", o->csv_dir,
		       strerror(code), user_files_hint(code));
}

/* Who may read the tables may list them. */
static mode_t directory_mode(void)
{
	mode_t mode = user_files_new_mode();

	return mode | (mode & 0444) >> 2;
}

/* With the user's rights; its descriptor, or -errno. Only a directory of this very name: no link to another. */
static int make_dir(struct outputs *o, const char *name)
{
	int at = o->csv_parent.fd, fd;

	tmpfiles_hold();
	o->csv_made = !mkdirat(at, name, 0700);
	if (o->csv_made)
		tmpfiles_note(at, name);
	tmpfiles_release();
	if (!o->csv_made && errno != EEXIST)
		return -errno;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && o->csv_made && fchmod(fd, directory_mode())) {
		close(fd);
		return -errno;
	}
	return fd < 0 ? -errno : fd;
}

/* Of "tables/" it is "tables"; of "." and the like it is the directory itself. */
static int open_parent(struct outputs *o, struct err *e)
{
	size_t len = strlen(o->csv_dir);
	const char *slash, *last;

	while (len > 1 && o->csv_dir[len - 1] == '/')
		len--;
	o->csv_name = xasprintf("%.*s", (int)len, o->csv_dir);
	slash = strrchr(o->csv_name, '/');
	last = slash ? slash + 1 : o->csv_name;
	if (*last && strcmp(last, ".") && strcmp(last, ".."))
		return user_dir_open(o->csv_name, &o->csv_parent, e);
	free(o->csv_name);
	o->csv_name = xasprintf("%s/.", o->csv_dir);
	return user_dir_open_itself(o->csv_name, &o->csv_parent, e);
}

static int open_dir(struct outputs *o, struct err *e)
{
	int err, fd;

	if (!*o->csv_dir || !strcmp(o->csv_dir, "-"))
		return err_set(e, EINVAL, EXIT_USAGE, "--csv needs the name of a directory");
	err = open_parent(o, e);
	if (!err)
		err = user_files_begin(e);
	if (err)
		return err;
	fd = make_dir(o, o->csv_parent.name);
	user_files_end();
	return fd < 0 ? csv_failed(o, -fd, e) : fd;
}

static int open_csv(struct outputs *o, struct err *e)
{
	int dir = open_dir(o, e), err = 0;

	if (dir < 0)
		return dir;
	for (size_t i = 0; i < RENDER_N_CSV && !err; i++) {
		char *path = xasprintf("%s/%s", o->csv_dir, render_csv_file(i));

		strv_add(&o->csv_path, path);
		err = outfile_open_at(&o->csv[i], dir, render_csv_file(i), path, e);
	}
	close(dir);
	return err;
}

static int open_files(struct outputs *o, struct err *e)
{
	int err = 0;

	for (int i = 0; i < RENDER_N_FILES && !err; i++)
		if (o->file_path[i])
			err = outfile_open(&o->file[i], o->file_path[i], false, e);
	return !err && o->csv_dir ? open_csv(o, e) : err;
}

static bool is_stdout(const char *path)
{
	return path && (!strcmp(path, "-") || user_inherited_fd(path) == STDOUT_FILENO);
}

static int how_many_on_stdout(const struct outputs *o)
{
	int n = is_stdout(o->json_path) + is_stdout(o->text_path);

	for (int i = 0; i < RENDER_N_FILES; i++)
		n += is_stdout(o->file_path[i]);
	return n;
}

/* Where a file is, or would be: however its name is spelled. */
struct place {
	const char *path;
	bool there, regular;
	const char *name; /* of what is not there, in the directory that the numbers are of; NULL: nor is that, or standard output */
	dev_t dev;
	ino_t ino;
};

static struct place place_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct place p = { .path = path };
	struct stat st;
	char *dir;

	if (is_stdout(path))
		return p;
	p.there = !stat(path, &st);
	if (!p.there) {
		dir = slash ? xasprintf("%.*s", (int)(slash + 1 - path), path) : xstrdup(".");
		if (!stat(dir, &st))
			p.name = slash ? slash + 1 : path;
		free(dir);
	}
	if (p.there || p.name) {
		p.regular = S_ISREG(st.st_mode);
		p.dev = st.st_dev;
		p.ino = st.st_ino;
	}
	return p;
}

/* What is no regular file, /dev/null say, can take several. */
static bool same_place(const struct place *a, const struct place *b)
{
	if (!strcmp(a->path, b->path))
		return !a->there || a->regular;
	if (a->there || b->there)
		return a->regular && b->regular && a->dev == b->dev && a->ino == b->ino;
	return a->name && b->name && !strcmp(a->name, b->name) && a->dev == b->dev && a->ino == b->ino;
}

struct places {
	struct place *v;
	size_t n;
};

static void add_place(struct places *p, const char *path)
{
	if (path && *path)
		*(struct place *)grow((void **)&p->v, &p->n, sizeof(*p->v)) = place_of(path);
}

static void add_taken(struct places *p, const struct outputs *o, char ***turns)
{
	for (size_t i = 0; i < sizeof(o->taken) / sizeof(o->taken[0]); i++)
		add_place(p, o->taken[i]);
	for (uint32_t i = 1; i < o->taken_turns; i++)
		strv_add(turns, xasprintf("%s.%u", o->taken[0], i));
	for (size_t i = 0; *turns && (*turns)[i]; i++)
		add_place(p, (*turns)[i]);
}

/*
 * The later would replace the earlier, and a report the recording that it is made from, or a file of the one that is being made.
 * Once all are open, for then their directories are there; nothing has been replaced yet.
 */
static int check_apart(const struct outputs *o, struct err *e)
{
	size_t n_single, n_out;
	struct places p = { 0 };
	char **turns = NULL;
	int err = 0;

	for (int i = 0; i < RENDER_N_FILES; i++)
		add_place(&p, o->file_path[i]);
	add_place(&p, o->json_path);
	add_place(&p, o->text_path);
	n_single = p.n;
	for (size_t i = 0; o->csv_path && o->csv_path[i]; i++)
		add_place(&p, o->csv_path[i]);
	n_out = p.n;
	add_taken(&p, o, &turns);
	for (size_t i = 0; i < n_out && !err; i++)
		for (size_t k = i < n_single ? i + 1 : n_out; k < p.n && !err; k++)
			if (same_place(&p.v[i], &p.v[k]))
				err = err_set(e, EINVAL, EXIT_USAGE,
					      "%s is already used: each output needs a file of its own", p.v[i].path);
	strv_free(turns);
	free(p.v);
	return err;
}

int outputs_open(struct outputs *o, enum text_default text, struct err *e)
{
	int on_stdout = how_many_on_stdout(o), err;

	if (on_stdout > 1)
		return err_set(e, EINVAL, EXIT_USAGE, "only one output can go to standard output");
	err = open_files(o, e);
	if (!err && o->json_path)
		err = outfile_open(&o->json, o->json_path, o->stream, e);
	if (err)
		return err;
	if (o->text_path)
		err = outfile_open(&o->text, o->text_path, o->stream, e);
	else if (text == TEXT_STDERR)
		o->text = (struct outfile){ .fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3),
					    .path = "standard error",
					    .dir = USER_DIR_NONE };
	else if (text == TEXT_STDOUT && !on_stdout)
		err = outfile_open(&o->text, "-", o->stream, e);
	if (!err)
		err = check_apart(o, e);
	o->on_screen = !err && o->stream && !o->text_path && o->text.fd >= 0 && isatty(o->text.fd);
	return err;
}

/* Whether commands' arguments don't belong there. */
static bool hide_arguments(const struct outputs *o, const struct outfile *f)
{
	return !o->show_args && !outfile_is_private(f->fd);
}

/* Where an output goes while it is made. */
struct drain {
	struct outfile *file;
	struct err *e;
	int err; /* of the first write that failed */
};

static void drain(void *ctx, const struct buf *b)
{
	struct drain *d = ctx;

	if (!d->err)
		d->err = outfile_write(d->file, b, d->e);
}

/* In pieces where it can get long: text looks back at what it has written, and a stream's lines come whole. */
static int write_one(const struct outputs *o, struct outfile *f, const struct file_row *row, struct render_opts opts,
		     const struct report *r, struct err *e)
{
	struct report_no_arguments hidden = { 0 };
	struct drain to = { .file = f, .e = e };
	struct buf b = { .ctx = &to };

	if (f->fd < 0)
		return 0;
	if (hide_arguments(o, f)) {
		report_hide_arguments(r, &hidden);
		r = &hidden.r;
	}
	if (row->detail || row->render == render_json)
		b.drain = drain;
	if (row->detail)
		opts.scratch = outfile_scratch(f);
	if (o->on_screen && f == &o->text)
		buf_str(&b, "\033[H\033[J");
	opts.table = row->table;
	row->render(r, &opts, &b);
	if (b.drain)
		buf_drain(&b);
	else
		to.err = outfile_write(f, &b, e);
	if (opts.scratch)
		close(opts.scratch);
	report_no_arguments_free(&hidden);
	buf_free(&b);
	return to.err;
}

static int write_files(struct outputs *o, const struct report *r, struct err *e)
{
	const struct render_opts none = { 0 };
	int err = 0;

	for (int i = 0; i < RENDER_N_FILES && !err; i++)
		err = write_one(o, &o->file[i], &file_rows[i], none, r, e);
	for (size_t i = 0; i < RENDER_N_CSV && !err; i++)
		err = write_one(o, &o->csv[i], &(struct file_row){ render_csv, true, i }, none, r, e);
	return err;
}

int outputs_write(struct outputs *o, const struct report *r, struct err *e)
{
	const struct file_row json = { .render = o->stream ? render_ndjson : render_json },
			      text = { .render = render_text };
	int err = write_one(o, &o->json, &json, (struct render_opts){ 0 }, r, e);

	if (!err && r->final)
		err = write_files(o, r, e);
	return err ? err : write_one(o, &o->text, &text, text_opts(o), r, e);
}

int outputs_commit(struct outputs *o, struct err *e)
{
	int err = outfile_commit(&o->text, e);

	if (!err)
		err = outfile_commit(&o->json, e);
	for (int i = 0; i < RENDER_N_FILES && !err; i++)
		err = outfile_commit(&o->file[i], e);
	for (size_t i = 0; i < RENDER_N_CSV && !err; i++)
		err = outfile_commit(&o->csv[i], e);
	return err;
}

static int write_document(const struct outputs *o, struct outfile *f, outputs_put *put, const void *document,
			  const struct render_opts *opts, struct err *e)
{
	struct buf b = { 0 };
	int err;

	if (f->fd < 0)
		return 0;
	put(document, opts, hide_arguments(o, f), &b);
	err = outfile_write(f, &b, e);
	buf_free(&b);
	return err;
}

int outputs_document(struct outputs *o, outputs_put *put, const void *document, struct err *e)
{
	const struct render_opts opts = text_opts(o);
	int err = write_document(o, &o->json, put, document, NULL, e);

	if (!err)
		err = write_document(o, &o->text, put, document, &opts, e);
	return err ? err : outputs_commit(o, e);
}

void outputs_close(struct outputs *o)
{
	outfile_close(&o->text);
	outfile_close(&o->json);
	for (int i = 0; i < RENDER_N_FILES; i++)
		outfile_close(&o->file[i]);
	for (size_t i = 0; i < RENDER_N_CSV; i++)
		outfile_close(&o->csv[i]);
	/* fails when tables are in it, as it should */
	if (o->csv_made) {
		unlinkat(o->csv_parent.fd, o->csv_parent.name, AT_REMOVEDIR);
		tmpfiles_forget(o->csv_parent.fd, o->csv_parent.name);
	}
	user_dir_close(&o->csv_parent);
	free(o->csv_name);
	o->csv_name = NULL;
	strv_free(o->csv_path);
	o->csv_path = NULL;
	o->csv_made = false;
}
