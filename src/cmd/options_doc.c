// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options_doc.h"

#include <stdint.h>
#include <string.h>

#define WIDTH		80
#define HELP_COLUMN_MAX 30 /* a longer option gets its help on the next line */

/*
 * Breaks a text at spaces; lines after the first are indented. `column` is where we are. Empty
 * lines part paragraphs.
 */
static void wrap(struct buf *b, const char *text, size_t column, size_t indent)
{
	size_t at = column;

	while (*text) {
		size_t n = strcspn(text, " \n");

		if (at > indent && at + 1 + n > WIDTH) {
			buf_char(b, '\n');
			buf_fill(b, ' ', indent);
			at = indent;
		} else if (at > indent) {
			buf_char(b, ' ');
			at++;
		}
		buf_add(b, text, n);
		at += n;
		text += n;
		if (!strncmp(text, "\n\n", 2)) {
			buf_str(b, "\n\n");
			buf_fill(b, ' ', indent);
			at = indent;
		}
		text += strspn(text, " \n");
	}
	buf_char(b, '\n');
}

/* "  -o, --output FILE" */
static void label(struct buf *b, const struct option_def *o)
{
	if (o->short_name)
		buf_printf(b, "  -%c%s", o->short_name, o->name ? ", " : "");
	else
		buf_str(b, "      ");
	if (o->name)
		buf_printf(b, "--%s", o->name);
	if (o->arg)
		buf_printf(b, " %s", o->arg);
}

static size_t help_column(const struct command_def *def)
{
	size_t most = 0;

	for (const struct option_def *o = def->options; !option_is_end(o); o++) {
		struct buf one = { 0 };

		label(&one, o);
		if (o->help && one.len + 2 <= HELP_COLUMN_MAX && one.len + 2 > most)
			most = one.len + 2;
		buf_free(&one);
	}
	return most ? most : HELP_COLUMN_MAX;
}

static const char *group_of(const struct option_def *o)
{
	return o->group ? o->group : "Options";
}

static bool same_group(const struct option_def *a, const struct option_def *b)
{
	return a && !strcmp(group_of(a), group_of(b));
}

static void help_terms(const struct command_def *def, size_t column, struct buf *b)
{
	const char *name, *what;

	buf_printf(b, "\n%s:\n", def->terms);
	for (size_t i = 0; def->term(i, &name, &what); i++) {
		buf_printf(b, "  %-*s", (int)column - 2, name);
		wrap(b, what, column, column);
	}
}

void options_help(const char *program, const struct command_def *def, struct buf *b)
{
	const struct option_def *last = NULL;
	size_t column = help_column(def), start = b->len;

	buf_printf(b, "Usage: %s%s%s", program, *def->name ? " " : "", def->name);
	if (def->usage)
		wrap(b, def->usage, b->len - start, strlen("Usage: "));
	else
		buf_char(b, '\n');
	buf_char(b, '\n');
	wrap(b, def->summary, 0, 0);
	if (def->about) {
		buf_char(b, '\n');
		wrap(b, def->about, 0, 0);
	}
	for (const struct option_def *o = def->options; !option_is_end(o); o++) {
		size_t from;

		if (!o->help)
			continue;
		if (!same_group(last, o))
			buf_printf(b, "\n%s:\n", group_of(o));
		last = o;
		from = b->len;
		label(b, o);
		if (b->len - from + 2 > column) {
			buf_char(b, '\n');
			from = b->len;
		}
		buf_fill(b, ' ', column - (b->len - from));
		wrap(b, o->help, column, column);
	}
	if (def->terms)
		help_terms(def, column, b);
}

/*
 * roff reads backslashes, a dash as a hyphen, and a dot or quote at the start of a line as a
 * request.
 */
static void roff(struct buf *b, const char *text)
{
	bool start = !b->len || b->data[b->len - 1] == '\n';

	for (; *text; text++) {
		if (start && (*text == '.' || *text == '\''))
			buf_str(b, "\\&");
		if (*text == '\\')
			buf_str(b, "\\e");
		else if (*text == '-')
			buf_str(b, "\\-");
		else
			buf_char(b, *text);
		start = *text == '\n';
	}
}

static void man_option(const struct option_def *o, struct buf *b)
{
	buf_str(b, ".TP\n");
	if (o->short_name)
		buf_printf(b, "\\fB\\-%c\\fR%s", o->short_name, o->name ? ", " : "");
	if (o->name) {
		buf_str(b, "\\fB\\-\\-");
		roff(b, o->name);
		buf_str(b, "\\fR");
	}
	if (o->arg) {
		buf_str(b, " \\fI");
		roff(b, o->arg);
		buf_str(b, "\\fR");
	}
	buf_char(b, '\n');
	roff(b, o->help);
	buf_char(b, '\n');
}

/* A heading is one argument of its macro: quotes in it are doubled. */
static void man_heading(const char *macro, const char *text, struct buf *b)
{
	buf_printf(b, ".%s \"", macro);
	for (; *text; text++) {
		char one[] = { *text, '\0' };

		if (*text == '"')
			buf_str(b, "\"\"");
		else
			roff(b, one);
	}
	buf_str(b, "\"\n");
}

static void man_terms(const struct command_def *def, struct buf *b)
{
	const char *name, *what;

	buf_str(b, ".PP\n\\fB");
	roff(b, def->terms);
	buf_str(b, "\\fR\n");
	for (size_t i = 0; def->term(i, &name, &what); i++) {
		buf_str(b, ".TP\n.B ");
		roff(b, name);
		buf_char(b, '\n');
		roff(b, what);
		buf_char(b, '\n');
	}
}

void options_man(const struct command_def *const *defs, struct buf *b)
{
	buf_str(b, ".SH OPTIONS\n");
	for (size_t i = 0; defs[i]; i++) {
		const struct option_def *last = NULL;

		if (*defs[i]->name)
			man_heading("SS", defs[i]->name, b);
		for (const struct option_def *o = defs[i]->options; !option_is_end(o); o++) {
			if (!o->help)
				continue;
			/*
			 * below a command's heading there is no room for another level: the group
			 * is a bold line
			 */
			if (!same_group(last, o) && *defs[i]->name)
				buf_printf(b, ".PP\n\\fB%s\\fR\n", group_of(o));
			else if (!same_group(last, o))
				man_heading("SS", group_of(o), b);
			last = o;
			man_option(o, b);
		}
		if (defs[i]->terms)
			man_terms(defs[i], b);
	}
}

/*
 * bash that fills COMPREPLY with what a metavariable stands for; false when it is nothing that a
 * shell could know.
 */
static bool completion_of(const char *arg, struct buf *b)
{
	if (!strcmp(arg, "FILE"))
		buf_str(b, "COMPREPLY=($(compgen -f -- \"$cur\"))");
	else if (!strcmp(arg, "DIR"))
		buf_str(b, "COMPREPLY=($(compgen -d -- \"$cur\"))");
	else if (!strcmp(arg, "DISK"))
		buf_str(b, "COMPREPLY=($(compgen -W \"$(ls /sys/class/block 2>/dev/null)\" -- \"$cur\")"
			   " $(compgen -f -- \"$cur\"))");
	else if (!strcmp(arg, "COMMAND"))
		buf_str(b, "COMPREPLY=($(compgen -c -- \"$cur\"))");
	else
		return false;
	return true;
}

/* Behind an option with a value: complete the value, or nothing. */
static void completion_values(const struct command_def *def, struct buf *b)
{
	buf_str(b, "\t\tcase $prev in\n");
	for (const struct option_def *o = def->options; !option_is_end(o); o++) {
		if (!o->help || !o->arg)
			continue;
		buf_str(b, "\t\t");
		if (o->short_name)
			buf_printf(b, "-%c%s", o->short_name, o->name ? "|" : "");
		if (o->name)
			buf_printf(b, "--%s", o->name);
		buf_str(b, ") ");
		if (completion_of(o->arg, b))
			buf_str(b, "; ");
		buf_str(b, "return ;;\n");
	}
	buf_str(b, "\t\tesac\n");
}

static void completion_command(const struct command_def *def, struct buf *b)
{
	const char *gap = "";

	buf_printf(b, "\t%s)\n", *def->name ? def->name : "*");
	completion_values(def, b);
	buf_str(b, "\t\twords=\"");
	for (const struct option_def *o = def->options; !option_is_end(o); o++) {
		if (!o->help)
			continue;
		if (o->name)
			buf_printf(b, "%s--%s", gap, o->name);
		else
			buf_printf(b, "%s-%c", gap, o->short_name);
		gap = " ";
	}
	buf_str(b, "\"\n");
	if (def->words) {
		buf_str(b, "\t\tif [[ $cur != -* ]]; then ");
		if (!completion_of(def->words, b))
			buf_char(b, ':');
		buf_str(b, "; fi\n");
	}
	buf_str(b, "\t\t;;\n");
}

/*
 * Behind `--` stands another program's command line: bash-completion, when it is there, completes
 * that one.
 */
static void completion_wrapped(struct buf *b)
{
	buf_str(b, "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		   "\t\t[[ ${COMP_WORDS[i]} == -- ]] || continue\n"
		   "\t\tif declare -F _command_offset >/dev/null; then\n"
		   "\t\t\t_command_offset $((i + 1))\n"
		   "\t\telse\n"
		   "\t\t\tCOMPREPLY=($(compgen -c -f -- \"$cur\"))\n"
		   "\t\tfi\n"
		   "\t\treturn\n"
		   "\tdone\n");
}

void options_completion_bash(const char *program, const struct command_def *const *defs, struct buf *b)
{
	const struct command_def *plain = NULL;

	buf_printf(b, "# bash completion for %s; made by the program itself\n_%s()\n{\n", program, program);
	buf_str(b, "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words= i\n\n"
		   "\tCOMPREPLY=()\n");
	completion_wrapped(b);
	buf_str(b, "\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; defs[i]; i++) {
		if (*defs[i]->name)
			completion_command(defs[i], b);
		else
			plain = defs[i];
	}
	if (plain)
		completion_command(plain, b);
	buf_str(b, "\tesac\n\tif ((COMP_CWORD == 1)); then\n\t\twords+=\"");
	for (size_t i = 0; defs[i]; i++)
		buf_printf(b, " %s", defs[i]->name);
	buf_str(b, "\"\n\tfi\n\tCOMPREPLY+=($(compgen -W \"$words\" -- \"$cur\"))\n}\n");
	buf_printf(b, "complete -F _%s %s\n", program, program);
}
