// SPDX-License-Identifier: GPL-2.0-only
/* Temporary files: what a signal that ends the process, or its own last act, takes with it, and what not. */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "killed.h"
#include "tap.h"
#include "util/tmpfiles.h"

#define MOST 64 /* that are remembered */

static const int deadly[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2 };
#define N_DEADLY (sizeof(deadly) / sizeof(deadly[0]))

static int dir; /* the one that we work in */

static void make(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		abort();
	close(fd);
}

static void note(const char *name)
{
	make(name);
	tmpfiles_note(dir, name);
}

static bool there(const char *name)
{
	return !access(name, F_OK);
}

static void note_four(int sig)
{
	(void)sig;
	tmpfiles_hold();
	note("temp0");
	note("temp1");
	note("temp2");
	mkdir("tempdir", 0700);
	tmpfiles_note(dir, "tempdir");
	note("temp3");
	tmpfiles_forget(dir, "temp0");
	tmpfiles_forget(dir, "temp2");
	tmpfiles_release();
}

static void test_each_signal(void)
{
	for (size_t i = 0; i < N_DEADLY; i++) {
		ok(killed_with(deadly[i], note_four, deadly[i]) == deadly[i] && !there("temp1") && !there("temp3") &&
			   !there("tempdir"),
		   "what is noted goes when signal %d ends the process", deadly[i]);
		ok(!unlink("temp0") && !unlink("temp2"), "but not what was forgotten");
	}
}

/* There is a file by then, and it has not been noted. */
static void killed_while_held(int sig)
{
	tmpfiles_hold();
	make("held");
	raise(sig);
	tmpfiles_note(dir, "held");
	tmpfiles_release();
}

static void ignore_it(int sig)
{
	signal(sig, SIG_IGN);
	note("temp1");
}

static void test_held(void)
{
	for (size_t i = 0; i < N_DEADLY; i++)
		ok(killed_with(deadly[i], killed_while_held, deadly[i]) == deadly[i] && !there("held"),
		   "signal %d waits until a name is noted", deadly[i]);
	for (size_t i = 0; i < N_DEADLY; i++) {
		ok(!killed_with(deadly[i], ignore_it, deadly[i]) && there("temp1"),
		   "signal %d is ignored if our caller does", deadly[i]);
		unlink("temp1");
	}
}

static void note_too_many(int sig)
{
	char name[16];

	(void)sig;
	for (int i = 0; i <= MOST; i++) {
		snprintf(name, sizeof(name), "many%d", i);
		note(name);
	}
}

static int count_many(void)
{
	char name[16];
	int n = 0;

	for (int i = 0; i <= MOST; i++) {
		snprintf(name, sizeof(name), "many%d", i);
		n += !unlink(name);
	}
	return n;
}

static void note_long(int sig)
{
	char name[NAME_MAX + 2];

	(void)sig;
	memset(name, 'x', NAME_MAX + 1);
	name[NAME_MAX + 1] = '\0';
	tmpfiles_note(dir, name);
	name[NAME_MAX] = '\0';
	note(name);
}

static void test_room(void)
{
	char longest[NAME_MAX + 1] = "";

	ok(killed_with(SIGTERM, note_too_many, SIGTERM) == SIGTERM && there("many64") && count_many() == 1,
	   "sixty-four are remembered, more stay behind");
	memset(longest, 'x', NAME_MAX);
	ok(killed_with(SIGTERM, note_long, SIGTERM) == SIGTERM && !there(longest), "a name may be as long as names can be");
	unlink(longest);
}

/* Has our handler, but not our files. */
static void kill_a_child(int sig)
{
	int status = 0;
	pid_t child;

	note("kept");
	child = fork();
	if (!child) {
		raise(sig);
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (there("kept") && WIFSIGNALED(status) && WTERMSIG(status) == sig)
		make("child-ended");
}

static void test_whose(void)
{
	ok(killed_with(SIGTERM, kill_a_child, SIGTERM) == SIGTERM && there("child-ended") && !there("kept"),
	   "a child that ends so takes nothing with it");
	unlink("child-ended");
}

/* As with a signal, on the way out. */
static void remove_all(int sig)
{
	note_four(sig);
	if (!fork()) {
		tmpfiles_remove();
		_exit(0);
	}
	wait(NULL);
	if (there("temp1"))
		make("child-ended");
	tmpfiles_remove();
}

static void test_remove(void)
{
	ok(!killed_with(0, remove_all, 0) && !there("temp1") && !there("temp3") && !there("tempdir") &&
		   !unlink("temp0") && !unlink("temp2"),
	   "without a signal, too");
	ok(!unlink("child-ended"), "but not from a child");
}

int main(void)
{
	char path[] = "/tmp/test_tmpfiles.XXXXXX";

	if (!mkdtemp(path) || chdir(path))
		abort();
	dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	test_each_signal();
	test_held();
	test_room();
	test_whose();
	test_remove();
	close(dir);
	if (chdir("/") || rmdir(path))
		abort();
	return tap_done();
}
