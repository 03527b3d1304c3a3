// SPDX-License-Identifier: GPL-2.0-only
/* Another program asked: where it is found, what comes of it, and that nothing is waited for too long. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/subprocess.h"
#include "fake_tree.h"
#include "open_files.h"
#include "tap.h"

#define LONG_MS 20000 /* never reached */

static int shell(const char *script, unsigned int limit_ms, struct buf *out)
{
	char *argv[] = { "/bin/sh", "-c", (char *)script, NULL };

	return tool_run(argv, limit_ms, out);
}

static void put_tool(const char *path, mode_t mode)
{
	char *whole = full(path);

	put(path, "x");
	if (chmod(whole, mode))
		abort();
	free(whole);
}

static void finds(const char *const *folders, const char *name, const char *want)
{
	char *path = tool_find(name, folders), *whole = want ? full(want) : NULL;

	if (!ok(path && whole ? !strcmp(path, whole) : path == whole, "%s is %s", name, want ? want : "not there"))
		diag("got %s", path ? path : "(nothing)");
	free(path);
	free(whole);
}

static void test_find(void)
{
	char *a = full("a"), *b = full("b"), *none = full("none");
	const char *const folders[] = { none, a, b, NULL };
	char *sh;

	put_tool("a/one", 0755);
	put_tool("b/one", 0755);
	put_tool("a/two", 0644);
	put_tool("b/two", 0755);
	put("a/three/x", "");
	put_tool("b/three", 0755);
	put_tool("b/four", 0644);
	finds(folders, "one", "a/one");
	finds(folders, "two", "b/two");
	finds(folders, "three", "b/three");
	finds(folders, "four", NULL);
	finds(folders, "five", NULL);
	sh = tool_find("sh", NULL);
	ok(sh && !strcmp(strrchr(sh, '/'), "/sh"), "the system has a shell");
	free(sh);
	free(a);
	free(b);
	free(none);
}

static void test_output(void)
{
	struct buf b = { 0 };

	buf_str(&b, "before ");
	ok(shell("printf out; printf err >&2; exit 3", LONG_MS, &b) == 3 && !strcmp(b.data, "before out"),
	   "its output is added, what it complains of dropped, its status told");
	buf_clear(&b);
	ok(!shell("cat; printf '%s|%s' \"$LC_ALL\" \"$PATH\"; test -z \"$BARRIERTRACE_TEST\"", LONG_MS, &b) &&
		   !strcmp(b.data, "C|/usr/sbin:/usr/bin:/sbin:/bin"),
	   "it gets no input, and nothing of our environment");
	buf_clear(&b);
	ok(!shell("head -c 300000 /dev/zero >&2; printf done", LONG_MS, &b) && !strcmp(b.data, "done"),
	   "however much it complains");
	buf_clear(&b);
	ok(shell("exec >&- 2>&-; exit 4", LONG_MS, &b) == 4 && !b.len, "one that says nothing");
	buf_free(&b);
}

/* Nothing of ours is read, and nothing is said in our place. */
static void test_apart(void)
{
	int in = dup(STDIN_FILENO), said = dup(STDERR_FILENO), ends[2];
	FILE *f = tmpfile();
	struct buf b = { 0 };
	bool good;

	if (!f || pipe(ends) || write(ends[1], "ours", 4) != 4)
		abort();
	dup2(ends[0], STDIN_FILENO);
	dup2(fileno(f), STDERR_FILENO);
	close(ends[0]);
	close(ends[1]);
	good = !shell("cat; echo wrong >&2", LONG_MS, &b);
	dup2(in, STDIN_FILENO);
	dup2(said, STDERR_FILENO);
	close(in);
	close(said);
	ok(good && !b.len && !lseek(fileno(f), 0, SEEK_END), "our input and our standard error are not for it");
	fclose(f);
	buf_free(&b);
}

static void test_ends(void)
{
	char *argv[] = { "/nowhere/at-all", NULL };
	struct buf b = { 0 };
	sigset_t term, before;

	ok(shell("kill -9 $$", LONG_MS, &b) == 137, "ended by a signal");
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &before);
	ok(shell("kill -TERM $$; exit 5", LONG_MS, &b) == 143, "that we have blocked, but it has not");
	sigprocmask(SIG_SETMASK, &before, NULL);
	signal(SIGXFSZ, SIG_IGN);
	ok(shell("kill -XFSZ $$; exit 5", LONG_MS, &b) == 128 + SIGXFSZ, "that we ignore, but it does not");
	ok(tool_run(argv, LONG_MS, &b) == -ENOENT && !b.len, "a program that isn't there");
	ok(shell("printf $$; exec sleep 60", 100, &b) == -ETIMEDOUT, "one that takes too long");
	ok(!b.len || kill((pid_t)atoi(b.data), 0), "is gone then");
	buf_clear(&b);
	ok(shell("printf $$; exec >&- 2>&-; exec sleep 60", 100, &b) == -ETIMEDOUT,
	   "so is one that has nothing more to say");
	ok(!b.len || kill((pid_t)atoi(b.data), 0), "but does not end");
	buf_free(&b);
}

int main(void)
{
	int before;

	if (!mkdtemp(dir))
		return 1;
	setenv("BARRIERTRACE_TEST", "x", 1);
	before = open_files();
	test_find();
	test_output();
	test_apart();
	test_ends();
	tree_remove();
	ok(open_files() == before, "no descriptor is left open");
	return tap_done();
}
