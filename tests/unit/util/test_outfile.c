// SPDX-License-Identifier: GPL-2.0-only
/* Output files: what may be written to, when a file comes to stand in its place, and that nothing else stays behind. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/mem.h"
#include "util/outfile.h"
#include "tap.h"

static struct err e;
static struct buf hello;

/* ---- file systems that have no files without a name ---- */

static bool no_unnamed;

/* In the place of libc's. */
int openat(int dir, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	if (no_unnamed && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

static void put_text(const char *name, const char *text, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || fchmod(fd, mode) || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
}

static bool holds(const char *name, const char *want)
{
	char got[64] = "";
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, got, sizeof(got) - 1);

	if (fd >= 0)
		close(fd);
	return n >= 0 && !strcmp(got, want);
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	return lstat(name, &st) ? 0 : st.st_mode & 07777;
}

/* Names in the working directory. */
static int names(void)
{
	DIR *d = opendir(".");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n - 2;
}

static bool write_it(const char *path)
{
	struct outfile o;
	bool good = !outfile_open(&o, path, false, &e) && !outfile_write(&o, &hello, &e) && !outfile_commit(&o, &e);

	outfile_close(&o);
	return good;
}

static void test_in_place(void)
{
	struct outfile o = OUTFILE_NONE;

	outfile_close(&o);
	ok(!outfile_commit(&o, &e), "what is not open is in place");
	ok(!outfile_open(&o, "out", false, &e) && !outfile_write(&o, &hello, &e) && !names(),
	   "before it is complete there is no file");
	outfile_close(&o);
	ok(!names() && o.fd < 0 && o.dir.fd < 0, "nor after one that is given up");
	ok(write_it("out") && holds("out", "hello") && mode_of("out") == 0600 && names() == 1, "a complete one is there");
	put_text("out", "an old text", 0640);
	ok(!outfile_open(&o, "out", false, &e) && !outfile_write(&o, &hello, &e) && holds("out", "an old text"),
	   "one that stands there stays");
	ok(!outfile_write(&o, &hello, &e) && !outfile_commit(&o, &e) && holds("out", "hellohello"),
	   "until the new one is complete");
	ok(mode_of("out") == 0640 && names() == 1, "which gets its mode");
	outfile_close(&o);
	ok(!outfile_open(&o, "out", true, &e) && holds("out", "hellohello") && !outfile_write(&o, &hello, &e) &&
		   holds("out", "hello"),
	   "a stream is in place with its first word");
	ok(!outfile_write(&o, &hello, &e) && holds("out", "hellohello") && !outfile_commit(&o, &e) && names() == 1,
	   "and grows there");
	outfile_close(&o);
}

static void test_modes(void)
{
	put_text("linked", "x", 0644);
	if (link("linked", "twin"))
		abort();
	ok(write_it("linked") && mode_of("linked") == 0600 && holds("twin", "x"),
	   "of a file with two names the mode is not taken over");
	put_text("set", "x", 04711);
	ok(write_it("set") && mode_of("set") == 0711, "nor any bit beyond permissions");
	unlink("linked");
	unlink("twin");
	unlink("set");
}

static void cannot(const char *path, int err, enum exit_status status, const char *words)
{
	struct outfile o;
	int got;

	e = (struct err){ 0 };
	got = outfile_open(&o, path, false, &e);
	if (!ok(got == err && e.status == status && !strcmp(e.text, words), "refused: %s", words))
		diag("got %d: %s", got, e.text);
	outfile_close(&o);
}

static void test_refused(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (symlink("out", "link") || mkfifo("pipe", 0600) || mkdir("dir", 0700) ||
	    bind(s, (struct sockaddr *)&a, sizeof(a)))
		abort();
	cannot("", -EINVAL, EXIT_USAGE, "an output file needs a name");
	cannot("link", -ELOOP, EXIT_FAILED, "will not write through the symbolic link link");
	cannot("dir", -EISDIR, EXIT_FAILED, "cannot write dir: Is a directory");
	cannot("pipe", -EINVAL, EXIT_FAILED, "will not write to pipe: it is a named pipe; write to '-', and redirect that");
	cannot("socket", -EINVAL, EXIT_FAILED, "will not write to socket: it is a socket; write to '-', and redirect that");
	if (mknod("null", S_IFCHR | 0666, makedev(1, 3))) /* one of our own: a mistake here costs nobody theirs */
		ok(true, "refused: a character device # SKIP missing: root");
	else
		cannot("null", -EINVAL, EXIT_FAILED,
		       "will not write to null: it is a character device; write to '-', and redirect that");
	cannot("none/out", -ENOENT, EXIT_FAILED, "cannot write none/out: No such file or directory");
	cannot("out/out", -ENOTDIR, EXIT_FAILED, "cannot write out/out: Not a directory");
	close(s);
	unlink("link");
	unlink("pipe");
	unlink("null");
	unlink("socket");
	rmdir("dir");
}

static void test_streams(void)
{
	int file = open("stream", O_RDWR | O_CREAT, 0600), out = dup(STDOUT_FILENO);
	struct outfile o = OUTFILE_NONE;
	char *path = xasprintf("/dev/fd/%d", file);
	bool good;

	fflush(stdout);
	dup2(file, STDOUT_FILENO);
	good = !outfile_open(&o, "-", false, &e) && !strcmp(o.path, "standard output") && !outfile_scratch(&o) &&
	       !outfile_write(&o, &hello, &e) && !outfile_commit(&o, &e);
	dup2(out, STDOUT_FILENO);
	close(out);
	ok(good && holds("stream", "hello"), "to standard output");
	ok(!outfile_open(&o, path, false, &e) && o.fd != file && !outfile_write(&o, &hello, &e) &&
		   !outfile_commit(&o, &e) && holds("stream", "hellohello") && !outfile_check_stream(file, "it", &e),
	   "to a descriptor of our caller's");
	ok(!close(file), "which stays open");
	unlink("stream");
	free(path);
}

static void test_others(void)
{
	int dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), fd, ends[2];
	struct outfile o = OUTFILE_NONE;
	struct stat st;

	ok(!outfile_open_at(&o, dir, "at", "the report", &e) && o.dir.fd != dir && !outfile_write(&o, &hello, &e) &&
		   !outfile_commit(&o, &e) && holds("at", "hello"),
	   "in a directory that is open");
	close(dir);
	ok(outfile_open_at(&o, dir, "at", "the report", &e) == -EBADF &&
		   !strcmp(e.text, "cannot write the report: Bad file descriptor"),
	   "in one that isn't");
	unlink("at");
	outfile_open(&o, "out", false, &e);
	fd = outfile_scratch(&o);
	ok(fd > 2 && !fstat(fd, &st) && !st.st_size && !st.st_nlink && (fcntl(fd, F_GETFD) & FD_CLOEXEC),
	   "a file to note things in");
	close(fd);
	outfile_close(&o);
	if (pipe2(ends, O_CLOEXEC))
		abort();
	fd = open("out", O_RDWR | O_CLOEXEC);
	for (mode_t mode = 0; mode < 0100; mode = mode ? mode * 2 : 1)
		if (fchmod(fd, 0600 | mode) || outfile_is_private(fd) != !mode)
			ok(false, "who can read mode %o", 0600 | mode);
	ok(!outfile_is_private(ends[0]) && !outfile_is_private(-1), "a pipe may lead to anybody");
	close(fd);
	close(ends[0]);
	close(ends[1]);
}

static void test_named(void)
{
	struct outfile o = OUTFILE_NONE;

	no_unnamed = true;
	put_text("out", "old", 0604);
	ok(!outfile_open(&o, "out", false, &e) && !outfile_write(&o, &hello, &e) && names() == 2 && o.temp &&
		   mode_of(o.temp) == 0604 && !strncmp(o.temp, ".barriertrace-", 14) && strlen(o.temp) == 14 + 16 &&
		   holds("out", "old"),
	   "a file beside the old one, where there is none without a name");
	ok(!outfile_scratch(&o), "nor one to note things in");
	ok(!outfile_commit(&o, &e) && names() == 1 && holds("out", "hello") && mode_of("out") == 0604,
	   "comes in its place");
	ok(!outfile_open(&o, "out", false, &e) && names() == 2, "and another");
	outfile_close(&o);
	ok(names() == 1 && holds("out", "hello"), "goes when it is given up");
	no_unnamed = false;
}

/* Not of ours, so that a write to it fails. */
static void test_full(void)
{
	struct outfile o = OUTFILE_NONE;

	outfile_open(&o, "out", false, &e);
	close(o.fd);
	o.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ok(outfile_write(&o, &hello, &e) == -EBADF && !strcmp(e.text, "cannot write out: Bad file descriptor"),
	   "a write that fails is told");
	outfile_close(&o);
	user_files_mode(0640);
	put_text("given", "x", 0604);
	ok(write_it("given") && mode_of("given") == 0640, "a mode that is asked for comes before the old file's");
	unlink("given");
	unlink("out");
	ok(!names(), "nothing is left");
}

/* ---- what a signal leaves ---- */

static int killed_with(void (*make)(int dir), int dir)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		make(dir);
		raise(SIGTERM);
		_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void killed_in_outfile(int dir)
{
	struct outfile o;

	(void)dir;
	outfile_open(&o, "out", false, &e);
	outfile_write(&o, &hello, &e);
}

static void test_killed(void)
{
	int dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	ok(killed_with(killed_in_outfile, dir) == SIGTERM && !names(), "of an output file nothing stays");
	no_unnamed = true;
	ok(killed_with(killed_in_outfile, dir) == SIGTERM && !names(), "even if it had a name");
	no_unnamed = false;
	close(dir);
}

int main(void)
{
	char dir[] = "/tmp/test_outfile.XXXXXX";
	int first;

	if (!mkdtemp(dir) || chdir(dir))
		abort();
	buf_str(&hello, "hello");
	first = dup(STDIN_FILENO);
	close(first);
	test_killed();
	test_in_place();
	test_modes();
	test_refused();
	test_streams();
	test_others();
	test_named();
	test_full();
	ok(dup(STDIN_FILENO) == first, "no descriptor is left open");
	buf_free(&hello);
	if (chdir("/") || rmdir(dir))
		abort();
	return tap_done();
}
