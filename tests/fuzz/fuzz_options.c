// SPDX-License-Identifier: GPL-2.0-only
/* Command lines: the first byte is the command, words end with a NUL. And the words of --set and the like, by their own readers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/trace_options.h"
#include "experiment/variants.h"
#include "fuzz.h"
#include "util/mem.h"

static const struct command_def *const defs[] = {
	&trace_def, &record_def, &report_def, &diff_def, &doctor_def, &experiment_def, &bench_def, &probes_def,
};

#define N_DEFS (sizeof(defs) / sizeof(defs[0]))

/* A command that keeps its reader to itself: what it asks for the values of --set. */
static int set(void *ctx, int id, const char *value, struct err *e)
{
	struct plan p = { 0 };

	(void)ctx;
	(void)id;
	if (!value)
		return 0;
	if (!plan_add(&p, value, e))
		plan_complete(&p);
	for (size_t i = 0; i < p.n; i++)
		free(variant_risk(&p.variant[i]));
	plan_free(&p);
	return 0;
}

static void parse(const struct command_def *def, char *const argv[])
{
	struct trace_opts o = TRACE_OPTS_NONE;
	struct options_result words = { 0 };
	struct err e = { 0 };
	bool traces = def == &trace_def || def == &record_def;
	int err = options_parse(def, argv, traces ? trace_opts_set : set, &o, &words, &e);

	if (!err) {
		o.argv = words.command;
		err = traces ? trace_opts_check(&o, &e) : 0;
	}
	fuzz_expect(!err || e.text[0], "what is refused is said");
	fuzz_expect(memchr(e.text, '\0', sizeof(e.text)) != NULL, "what is said has an end");
	options_result_free(&words);
	filter_free(&o.filter);
}

static void run(const uint8_t *bytes, size_t n)
{
	char *line = xcalloc(n + 1, 1), **argv = xcalloc(n + 2, sizeof(*argv));
	size_t words = 0;

	memcpy(line, bytes, n);
	for (size_t at = 1; at < n; at += strlen(line + at) + 1)
		argv[words++] = line + at;
	if (n)
		parse(defs[bytes[0] % N_DEFS], argv);
	free(argv);
	free(line);
}

/* An option of any command, as one word or as two. */
static size_t an_option(char *to, size_t most, unsigned int *seed)
{
	static const char *const values[] = { "1",	  "0.5",
					      "-1",	  "99999999999999999999",
					      "1G",	  "16M",
					      "init",	  "scheduler=none",
					      "a=b=c",	  "wbt=0,scheduler=none",
					      "100MiB,3", "/dev/null",
					      "",	  "0777",
					      "\xff" };
	const struct command_def *def = defs[fuzz_random(seed, N_DEFS)];
	size_t rows = 0;
	const struct option_def *o;
	int n;

	while (def->options[rows].name || def->options[rows].short_name)
		rows++;
	o = &def->options[fuzz_random(seed, (uint32_t)rows)];
	if (!o->name)
		n = snprintf(to, most, "-%c", o->short_name);
	else
		n = snprintf(to, most, "--%s", o->name);
	if (o->arg && (size_t)n < most)
		n += snprintf(to + n, most - (size_t)n, "%c%s", fuzz_random(seed, 2) ? '=' : 0,
			      values[fuzz_random(seed, sizeof(values) / sizeof(values[0]))]);
	return (size_t)n < most ? (size_t)n + 1 : most;
}

static size_t mutate(uint8_t *bytes, size_t n, size_t most, unsigned int seed)
{
	char word[256];
	size_t length, at;

	if (n < 2 || fuzz_random(&seed, 2))
		return fuzz_mutate_bytes(bytes, n, most);
	length = an_option(word, sizeof(word), &seed);
	at = 1 + fuzz_random(&seed, (uint32_t)n - 1);
	while (at < n && bytes[at - 1])
		at++;
	if (n + length > most)
		return fuzz_mutate_bytes(bytes, n, most);
	memmove(bytes + at + length, bytes + at, n - at);
	memcpy(bytes + at, word, length);
	return n + length;
}

static void seeds(void)
{
	static const char watch[] = "\0--json=-\0-i\0001\0sda\0--\0true\0-x",
			  experiment[] = "\5--set\0scheduler=none\0-n\0003\0--\0true";

	fuzz_seed("watch", watch, sizeof(watch) - 1);
	fuzz_seed("experiment", experiment, sizeof(experiment) - 1);
}

const struct fuzz_target fuzz_options = { "options", run, mutate, seeds };
