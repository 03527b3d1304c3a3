// SPDX-License-Identifier: GPL-2.0-only
/*
 * Option tables: what the parser makes of a command line, and what help, man page and completion
 * make of a table.
 */
#include <errno.h>

#include "util/mem.h"
#include "cmd/options_doc.h"
#include "check.h"
#include "golden.h"

enum { OPT_VERBOSE, OPT_QUIET, OPT_OUTPUT, OPT_INTERVAL, OPT_SECRET, OPT_SHORT, OPT_LONG };

static const struct option_def options[] = {
	{ "verbose", 'v', NULL, OPT_VERBOSE, "say more", NULL },
	{ "quiet", 'q', NULL, OPT_QUIET, "say nothing", NULL },
	{ "output", 'o', "FILE", OPT_OUTPUT,
	  "write to FILE, not to stdout; a dash is stdout, and a long line wraps at "
	  "the same column as the first",
	  "Output" },
	{ "interval", 0, "SECONDS", OPT_INTERVAL, ".5 or \\more", "Output" },
	{ "secret", 0, NULL, OPT_SECRET, NULL, NULL },
	{ NULL, 'x', NULL, OPT_SHORT, "short only", "Odd" },
	{ "an-option-that-is-rather-long", 0, "NUMBER", OPT_LONG, "below", "Odd" },
	{ 0 },
};

static const struct command_def record = {
	.name = "record",
	.usage = "[OPTION].. [DISK].. [-- COMMAND]",
	.summary = "Records.",
	.about = "One paragraph.\n\nAnother one.",
	.options = options,
	.wraps = true,
	.words = "DISK",
};

static const struct command_def replay = { .name = "replay", .summary = "Replays.", .options = options };

static const struct command_def *const commands[] = { &record, &replay, NULL };

/* What the callback saw, by number: "0 2=x" */
static struct buf seen;
static int fail_at = -1;

static int note(void *ctx, int id, const char *value, struct err *e)
{
	struct buf *b = ctx;

	if (id == fail_at)
		return err_set(e, ERANGE, EXIT_USAGE, "too much");
	buf_printf(b, "%s%d", b->len ? " " : "", id);
	if (value)
		buf_printf(b, "=%s", value);
	return 0;
}

/* Parses and tells in one line: options | words | command, or the error. */
static char *parse(const struct command_def *def, char *const argv[])
{
	struct options_result r = { 0 };
	struct err e = { 0 };
	struct buf b = { 0 };
	int ret;

	buf_clear(&seen);
	buf_str(&seen, "");
	ret = options_parse(def, argv, note, &seen, &r, &e);
	if (ret) {
		buf_printf(&b, "%d %d %s", ret, e.status, e.text);
	} else {
		buf_printf(&b, "%s |", seen.data);
		for (size_t i = 0; r.words && r.words[i]; i++)
			buf_printf(&b, " %s", r.words[i]);
		buf_str(&b, " |");
		for (size_t i = 0; r.command && r.command[i]; i++)
			buf_printf(&b, " %s", r.command[i]);
	}
	options_result_free(&r);
	return b.data;
}

struct parse_case {
	const char *name;
	const struct command_def *def;
	const char *argv[6];
	const char *want;
};

/* clang-format off */
static const struct parse_case cases[] = {
	{ "nothing", &record, { NULL }, " | |" },
	{ "long flag and words mix", &record, { "sda", "--verbose", "sdb" }, "0 | sda sdb |" },
	{ "long value after =", &record, { "--output=a=b" }, "2=a=b | |" },
	{ "long value apart", &record, { "--output", "-" }, "2=- | |" },
	{ "an empty value is a value", &record, { "--output=" }, "2= | |" },
	{ "a value may look like an option", &record, { "--output", "--quiet" }, "2=--quiet | |" },
	{ "short flags combined", &record, { "-vq" }, "0 1 | |" },
	{ "short with its value attached", &record, { "-oout" }, "2=out | |" },
	{ "short with its value apart", &record, { "-vo", "out", "sda" }, "0 2=out | sda |" },
	{ "short without a long name", &record, { "-x" }, "5 | |" },
	{ "a dash is a word", &record, { "-" }, " | - |" },
	{ "-- starts the command, whose options are its own",
	  &record,
	  { "-v", "sda", "--", "ls", "-q" },
	  "0 | sda | ls -q" },
	{ "-- in the command is the command's", &record, { "--", "sh", "--", "x" }, " | | sh -- x" },
	{ "-- ends the options where nothing is wrapped", &replay, { "--", "-v" }, " | -v |" },
	{ "a hidden option works", &record, { "--secret" }, "4 | |" },
	{ "exact names only, with a hint",
	  &record,
	  { "--verb" },
	  "-22 2 unknown option '--verb': did you mean --verbose?" },
	{ "nearest by edits", &record, { "--ouptut=x" }, "-22 2 unknown option '--ouptut': did you mean --output?" },
	{ "far from all", &record, { "--zzzzzzzzz" }, "-22 2 unknown option '--zzzzzzzzz' (see record --help)" },
	{ "a hidden option is no hint", &record, { "--secre" }, "-22 2 unknown option '--secre' (see record --help)" },
	{ "a longer name is not the option",
	  &record,
	  { "--verbosely" },
	  "-22 2 unknown option '--verbosely': did you mean --verbose?" },
	{ "unknown short", &record, { "-vz" }, "-22 2 unknown option '-z' (see record --help)" },
	{ "one dash too few", &record, { "-interval" }, "-22 2 unknown option '-interval': did you mean --interval?" },
	{ "missing value", &record, { "--output" }, "-22 2 option '--output' needs a value: FILE" },
	{ "missing value of a short one", &record, { "-o" }, "-22 2 option '-o' needs a value: FILE" },
	{ "-- is no value", &record, { "--output", "--", "ls" }, "-22 2 option '--output' needs a value: FILE" },
	{ "a value for a flag", &record, { "--quiet=yes" }, "-22 2 option '--quiet' takes no value" },
	{ "no command behind --", &record, { "--" }, "-22 2 no command behind '--'" },
};
/* clang-format on */

static void test_parse(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		is_text(parse(cases[i].def, (char *const *)cases[i].argv), cases[i].want, cases[i].name);
	}
}

static void test_callback_error(void)
{
	char *const argv[] = { "-v", "--interval=9", "-q", NULL };
	struct options_result r = { .words = (char **)argv };
	struct err e = { 0 };
	int ret;

	buf_clear(&seen);
	fail_at = OPT_INTERVAL;
	ret = options_parse(&record, argv, note, &seen, &r, &e);
	fail_at = -1;
	ok(ret == -ERANGE, "what the callback returns is returned");
	is_str(e.text, "too much", "its words stay");
	is_str(seen.data, "0", "nothing is read behind its error");
	ok(r.words == (char **)argv, "the result is unchanged on failure");
}

static void test_help(void)
{
	struct buf b = { 0 };

	options_help("tool", &record, &b);
	golden("options_help", "txt", b.data);
	buf_free(&b);
}

static void test_man(void)
{
	const struct command_def *const one[] = { &replay, NULL };
	struct buf b = { 0 };

	options_man(one, &b);
	golden("options_man", "txt", b.data);
	buf_free(&b);
}

/* Runs the completion in a real bash for a line; its different answers, joined by spaces. */
static char *complete(const char *script, const char *words, int at)
{
	char answer[4096] = "", *command;
	size_t n;
	FILE *f;

	setenv("COMPLETION", script, 1);
	command = xasprintf("exec bash --norc -c 'eval \"$COMPLETION\"; COMP_WORDS=(%s); COMP_CWORD=%d; _tool; "
			    "printf \"%%s\\n\" \"${COMPREPLY[@]}\" | sort -u | paste -sd\" \" | tr -d \"\\n\"' 2>&1",
			    words, at);
	f = popen(command, "r");
	n = f ? fread(answer, 1, sizeof(answer) - 1, f) : 0;
	answer[n] = '\0';
	if (f)
		pclose(f);
	free(command);
	return xstrdup(answer);
}

static void test_completion(void)
{
	static const struct {
		const char *words, *want, *name;
		int at;
	} rows[] = {
		{ "tool re", "record replay", "completion: commands", 1 },
		{ "tool record --v", "--verbose", "completion: options", 2 },
		{ "tool record --s", "", "completion: hidden options stay hidden", 2 },
		{ "tool replay --output /etc/hostn", "/etc/hostname", "completion: files for FILE", 3 },
		{ "tool record --interval \"\"", "", "completion: nothing for a number", 3 },
		{ "tool record -- ech", "echo", "completion: a command behind --", 3 },
	};
	struct buf b = { 0 };

	options_completion_bash("tool", commands, &b);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		is_text(complete(b.data, rows[i].words, rows[i].at), rows[i].want, rows[i].name);
	}
	buf_free(&b);
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	test_parse();
	test_callback_error();
	test_help();
	test_man();
	test_completion();
	buf_free(&seen);
	return tap_done();
}
