// SPDX-License-Identifier: GPL-2.0-only
/* What is said, to whom, and in how much room. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "util/log.h"
#include "util/mem.h"

/* ---- what is said ---- */

static char said[4096];

/* What `say` says, into `said`. */
static void hear(void (*say)(void))
{
	int told = dup(STDERR_FILENO);
	FILE *f = tmpfile();

	if (!f || dup2(fileno(f), STDERR_FILENO) < 0)
		abort();
	say();
	fflush(stderr);
	dup2(told, STDERR_FILENO);
	close(told);
	rewind(f);
	said[fread(said, 1, sizeof(said) - 1, f)] = '\0';
	fclose(f);
}

static void is_said(void (*say)(void), const char *want, const char *name)
{
	hear(say);
	if (!ok(!strcmp(said, want), "%s", name))
		diag("got '%s'", said);
}

static void say_each(void)
{
	log_error("error %d", 1);
	log_note("note %d", 2);
	log_verbose("detail\n%d", 3);
}

static void say_controls(void)
{
	log_error("a\nb\x1b[31m \x1f~\x7f\xc3\xa9");
}

static void say_long(void)
{
	log_note("%0479d", 5);
	log_note("%0480d", 5);
}

static void say_progress(void)
{
	log_progress("%d %%", 1);
	log_progress("%d %%", 2);
	log_error("e");
	log_error("f");
	log_progress("%d %%", 3);
	log_progress_end();
	log_progress_end();
}

static void say_progress_verbose(void)
{
	log_progress("x");
	log_verbose("v");
}

static void test_words(void)
{
	char *want, *digits;

	log_level(false, false);
	is_said(say_each, "barriertrace: error 1\nbarriertrace: note 2\n", "errors and notes are said");
	log_level(true, false);
	is_said(say_each, "barriertrace: error 1\n", "errors only, to who wants it quiet");
	log_level(true, true);
	is_said(say_each, "barriertrace: error 1\nbarriertrace: detail\n3\n", "details, to who asks for them");
	log_level(false, false);
	is_said(say_controls, "barriertrace: a?b?[31m ?~?\xc3\xa9\n", "a message is one line without control characters");
	digits = xasprintf("%0479d", 5);
	want = xasprintf("barriertrace: %s\nbarriertrace: %0479d...\n", digits, 0);
	is_said(say_long, want, "and of bounded length");
	free(want);
	free(digits);
	is_said(say_progress, "\r\033[K1 %\r\033[K2 %\r\033[Kbarriertrace: e\nbarriertrace: f\n\r\033[K3 %\r\033[K",
		"progress makes room for words");
	log_level(false, true);
	is_said(say_progress_verbose, "\r\033[Kx\r\033[Kbarriertrace: v\n", "and for details");
}

int main(void)
{
	test_words();
	return tap_done();
}
