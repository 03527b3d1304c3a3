// SPDX-License-Identifier: GPL-2.0-only
/*
 * btfcheck - would these BPF programs run on that kernel, and has it what they know? Answered from its BTF, without
 * booting it.
 *
 *   btfcheck [-v] KNOWN OBJECT KERNEL...     hold kernels against the table KNOWN
 *   btfcheck --table OBJECT KERNEL...        write such a table
 *   btfcheck --changes OBJECT OLD NEW        what is not the same on NEW
 *   btfcheck --btf IMAGE FILE                write an image's BTF alone
 *
 * KERNEL is an image (ELF, flat or its BTF alone) or a directory with vmlinux and modules; its name says which series
 * it is of. Exit status: 0 all is as known, 1 something is new or a required probe has no rung, 2 bad input.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "known.h"
#include "util/mem.h"
#include "probe/probe_table.h"

enum { ALL_KNOWN, SOMETHING_NEW, BAD_INPUT };

static bool verbose;

/* ---- what a kernel has ---- */

static void print_program(const struct program *p)
{
	const char *name = p->probe ? p->probe : p->function->name;

	if (p->lacks.len)
		printf("  %-18s %-7s no: %s\n", name, p->kind, p->lacks.data);
	else if (verbose || p->notes.len)
		printf("  %-18s %-7s yes%s%s\n", name, p->kind, p->notes.len ? "; " : "", p->notes.len ? p->notes.data : "");
	if (p->without.len && verbose)
		printf("  %-18s %-7s asked for before it is used: %s\n", name, p->kind, p->without.data);
}

/* What the loss of a probe means; true: nothing works without it. */
static bool print_probe(const struct check *c, const struct probe_row *row)
{
	char *use = xasprintf("probe %s", row->name);
	const char *form = check_form(c, use);
	bool lost = form && !strcmp(form, "missing");

	if (lost)
		printf("  %-18s has no rung: %s\n", row->name, row->required ? "NOTHING WORKS WITHOUT IT" : row->without);
	free(use);
	return lost && row->required;
}

static bool print_programs(const struct check *c)
{
	bool fatal = false;

	for (size_t i = 0; i < c->n_programs; i++)
		print_program(&c->program[i]);
	for (int i = 0; i < PROBE_COUNT; i++)
		fatal |= print_probe(c, &probe_table[i]);
	return fatal;
}

/* ---- what is new in it ---- */

static void print_fact(const struct known *known, struct series nearest, const struct fact *f, enum verdict v)
{
	printf("  NEW  %s: %s; ", f->use, f->form);
	if (v == NEW_USE) {
		printf("not in the table");
	} else {
		printf("known: ");
		known_print(known, f->use, stdout);
	}
	if (v == AS_ELSEWHERE) {
		printf("; expected as on ");
		series_print(stdout, nearest);
	}
	printf("%s%s\n", f->users.len ? "; used by " : "", f->users.len ? f->users.data : "");
}

static size_t print_news(const struct known *known, struct series nearest, const struct check *c)
{
	size_t news = 0;

	for (size_t i = 0; i < c->n_facts; i++) {
		enum verdict v = known_verdict(known, nearest, c->fact[i].use, c->fact[i].form);

		news += v != AS_KNOWN;
		if (v != AS_KNOWN)
			print_fact(known, nearest, &c->fact[i], v);
		else if (verbose)
			printf("       %s: %s\n", c->fact[i].use, c->fact[i].form);
	}
	return news;
}

static int hold_against(const struct known *known, const struct object *o, const char *path)
{
	struct series nearest;
	struct kernel k;
	struct check c;
	size_t news;
	int status;

	if (kernel_open(&k, path))
		return BAD_INPUT;
	if (check_kernel(&c, o, &k)) {
		kernel_close(&k);
		return BAD_INPUT;
	}
	nearest = known_nearest(known, series_of(k.label));
	printf("%s: %zu programs, %zu uses, %zu modules with BTF, %zu without\n", k.label, c.n_programs, c.n_facts, k.n - 1,
	       k.bare);
	status = print_programs(&c) ? SOMETHING_NEW : ALL_KNOWN;
	news = print_news(known, nearest, &c);
	printf("  %zu new\n", news);
	check_free(&c);
	kernel_close(&k);
	return news ? SOMETHING_NEW : status;
}

static int do_check(const char *table, const char *object, char **path)
{
	struct known known;
	struct object o;
	int status = ALL_KNOWN;

	if (known_open(&known, table))
		return BAD_INPUT;
	if (object_open(&o, object)) {
		known_close(&known);
		return BAD_INPUT;
	}
	for (; *path; path++) {
		int here = hold_against(&known, &o, *path);

		status = here > status ? here : status;
	}
	object_close(&o);
	known_close(&known);
	return status;
}

/* ---- tables and changes: several kernels beside each other ---- */

struct column {
	struct kernel k;
	struct check c;
};

static void close_columns(struct column *col, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		check_free(&col[i].c);
		kernel_close(&col[i].k);
	}
	free(col);
}

static struct column *open_columns(const struct object *o, char **path, size_t *n)
{
	struct column *col = NULL;

	for (*n = 0; *path; path++) {
		struct column *here = grow((void **)&col, n, sizeof(*col));

		if (kernel_open(&here->k, *path) || check_kernel(&here->c, o, &here->k)) {
			close_columns(col, *n);
			return NULL;
		}
	}
	return col;
}

static bool same_form(const struct column *a, const struct column *b, const char *use)
{
	const char *x = check_form(&a->c, use), *y = check_form(&b->c, use);

	return x && y && !strcmp(x, y);
}

/* The series of all kernels that have the same form as this one, each once. */
static void print_series(const struct column *col, size_t n, size_t of, const char *use)
{
	struct series last = { 0 };

	for (size_t i = of; i < n; i++) {
		struct series s = series_of(col[i].k.label);

		if (!same_form(&col[of], &col[i], use) || (s.major == last.major && s.minor == last.minor))
			continue;
		putchar(' ');
		series_print(stdout, s);
		last = s;
	}
}

/* One row per form, in the order of the kernels. */
static void print_rows(const struct column *col, size_t n, const char *use)
{
	for (size_t i = 0; i < n; i++) {
		size_t before = 0, same = 0;

		for (size_t j = 0; j < n; j++) {
			same += same_form(&col[i], &col[j], use);
			before += j < i && same_form(&col[i], &col[j], use);
		}
		if (before)
			continue;
		printf("%s | %s |", use, check_form(&col[i].c, use));
		if (same == n)
			fputs(" all", stdout);
		else
			print_series(col, n, i, use);
		putchar('\n');
	}
}

static void print_table(const struct column *col, size_t n)
{
	for (size_t i = 0; i < col[0].c.n_facts; i++)
		print_rows(col, n, col[0].c.fact[i].use);
}

static int print_changes(const struct column *col)
{
	int status = ALL_KNOWN;

	for (size_t i = 0; i < col[0].c.n_facts; i++) {
		const char *use = col[0].c.fact[i].use;

		if (same_form(&col[0], &col[1], use))
			continue;
		printf("%s: %s -> %s\n", use, check_form(&col[0].c, use), check_form(&col[1].c, use));
		status = SOMETHING_NEW;
	}
	return status;
}

static int do_columns(const char *object, char **path, bool changes)
{
	int status = ALL_KNOWN;
	struct column *col;
	struct object o;
	size_t n;

	if (object_open(&o, object))
		return BAD_INPUT;
	col = open_columns(&o, path, &n);
	if (!col)
		status = BAD_INPUT;
	else if (changes)
		status = print_changes(col);
	else
		print_table(col, n);
	if (col)
		close_columns(col, n);
	object_close(&o);
	return status;
}

static int write_btf(const struct btf *btf, const char *path)
{
	__u32 size = 0;
	const void *data = btf__raw_data(btf, &size);
	FILE *f = fopen(path, "we");
	bool ok = f && data && fwrite(data, size, 1, f) == 1;

	if ((f && fclose(f)) || !ok) {
		fprintf(stderr, "btfcheck: %s: %s\n", path, strerror(errno));
		return BAD_INPUT;
	}
	return ALL_KNOWN;
}

static int do_btf(const char *path, const char *out)
{
	int status = BAD_INPUT;
	struct image img;
	const char *why;
	struct btf *btf;

	if (image_open(&img, path))
		return BAD_INPUT;
	btf = image_btf(&img, NULL, &why);
	if (btf)
		status = write_btf(btf, out);
	else
		fprintf(stderr, "btfcheck: %s: %s\n", path, why);
	btf__free(btf);
	image_close(&img);
	return status;
}

static int usage(void)
{
	fputs("usage: btfcheck [-v] KNOWN OBJECT KERNEL... | --table OBJECT KERNEL... | --changes OBJECT OLD NEW | "
	      "--btf IMAGE FILE\n", stderr);
	return BAD_INPUT;
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

int main(int argc, char **argv)
{
	libbpf_set_print(quiet);
	if (argc > 1 && !strcmp(argv[1], "-v")) {
		verbose = true;
		argc--;
		argv++;
	}
	if (argc >= 4 && !strcmp(argv[1], "--table"))
		return do_columns(argv[2], argv + 3, false);
	if (argc == 5 && !strcmp(argv[1], "--changes"))
		return do_columns(argv[2], argv + 3, true);
	if (argc == 4 && !strcmp(argv[1], "--btf"))
		return do_btf(argv[2], argv[3]);
	if (argc < 4 || argv[1][0] == '-')
		return usage();
	return do_check(argv[1], argv[2], argv + 3);
}
