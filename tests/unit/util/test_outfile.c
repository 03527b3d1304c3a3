// SPDX-License-Identifier: GPL-2.0-only
/* Output files: what may be written to, when a file comes to stand in its place, and that nothing else stays behind. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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
#include "faults.h"
#include "killed.h"
#include "open_files.h"
#include "tap.h"

static struct err e;
static struct buf hello;

/* ---- what may fail, and may be missing: in the place of libc's ---- */

#define TAKEN ".barriertrace-5a5a5a5a5a5a5a5a"

static bool no_unnamed;				 /* files without a name */
static int same_numbers;			 /* so many random numbers come that make TAKEN a name */
static int numbers;				 /* that were asked for */
static int rename_error;			 /* of each; 0: none */
static bool all_held = true, all_private = true; /* names are given while signals wait, files are made for one user */

static void note_held(void)
{
	sigset_t now;

	pthread_sigmask(SIG_BLOCK, NULL, &now);
	all_held = all_held && sigismember(&now, SIGTERM);
}

int openat(int dir, const char *path, int flags, ...)
{
	bool unnamed = (flags & O_TMPFILE) == O_TMPFILE;
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	if (flags & O_CREAT)
		note_held();
	if (unnamed || (flags & O_CREAT))
		all_private = all_private && mode == 0600;
	if (no_unnamed && unnamed) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

ssize_t getrandom(void *to, size_t n, unsigned int flags)
{
	numbers++;
	if (same_numbers <= 0)
		return syscall(SYS_getrandom, to, n, flags);
	same_numbers--;
	memset(to, 0x5a, n);
	return (ssize_t)n;
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	note_held();
	return (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	errno = rename_error;
	return rename_error ? -1 : (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, 0);
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
	return n == (ssize_t)strlen(want) && !strcmp(got, want);
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
	char longer[NAME_MAX + 2] = "", *words;

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
	memset(longer, 'x', NAME_MAX + 1);
	words = xasprintf("cannot write %s: File name too long", longer);
	cannot(longer, -ENAMETOOLONG, EXIT_FAILED, words);
	free(words);
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

static void test_without_input(void)
{
	int dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), in = close_input();
	struct outfile o = OUTFILE_NONE;

	for (int i = 0; i < 2; i++) {
		no_unnamed = i;
		ok(!outfile_open_at(&o, dir, "out", "out", &e) && !o.fd && !o.temp == !i && !outfile_write(&o, &hello, &e) &&
			   !outfile_commit(&o, &e) && holds("out", "hello") && names() == 1,
		   "a file%s on descriptor 0 is written", i ? " with a name" : "");
		unlink("out");
		ok(!outfile_open_at(&o, dir, "out", "out", &e) && !o.fd, "a file on descriptor 0 is opened");
		outfile_close(&o);
		ok(!names() && fcntl(STDIN_FILENO, F_GETFD) < 0, "closing it removes the file and closes descriptor 0");
	}
	no_unnamed = false;
	no_proc = true;
	ok(!outfile_open_at(&o, dir, "out", "out", &e) && !o.fd && o.temp, "without /proc it gets a temporary name");
	outfile_close(&o);
	no_proc = false;
	restore_input(in);
	close(dir);
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
	ok(outfile_open_at(&o, dir, "at", "the report", &e) == -EBADF && o.fd < 0 &&
		   !strcmp(e.text, "cannot write the report: Bad file descriptor"),
	   "in one that isn't");
	unlink("at");
	outfile_open(&o, "out", false, &e);
	fd = outfile_scratch(&o);
	ok(fd > 2 && !fstat(fd, &st) && !st.st_size && !st.st_nlink && (st.st_mode & 0777) == 0600 &&
		   (fcntl(fd, F_GETFD) & FD_CLOEXEC),
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

/* Without /proc a file cannot get its name afterwards. */
static void test_no_proc(void)
{
	struct outfile o = OUTFILE_NONE;
	int fd;

	no_proc = true;
	ok(!outfile_open(&o, "out", false, &e) && o.temp && names() == 2 && (fcntl(o.fd, F_GETFD) & FD_CLOEXEC),
	   "without /proc a file has a name from the start");
	fd = outfile_scratch(&o);
	ok(fd > 2 && !close(fd), "one to note things in needs none");
	ok(!outfile_write(&o, &hello, &e) && !outfile_commit(&o, &e) && o.dir.fd < 0 && names() == 1 &&
		   holds("out", "hello"),
	   "and it comes in its place");
	no_proc = false;
}

/* All random numbers make a name that is in use. */
static void test_taken(void)
{
	struct outfile o = OUTFILE_NONE;

	put_text(TAKEN, "theirs", 0600);
	put_text("out", "old", 0600);
	for (int i = 0; i < 2; i++) {
		no_unnamed = i;
		same_numbers = 2;
		ok(!outfile_open(&o, "out", false, &e) && !outfile_write(&o, &hello, &e) && !outfile_commit(&o, &e) &&
			   names() == 2 && holds("out", "hello") && holds(TAKEN, "theirs"),
		   "a temporary name that is taken%s is not reused", i ? " at the start" : "");
	}
	same_numbers = 1000;
	numbers = 0;
	ok(outfile_open(&o, "out", false, &e) == -EEXIST && !strcmp(e.text, "cannot write out: File exists") &&
		   numbers > 1 && !o.temp && holds(TAKEN, "theirs"),
	   "it gives up after some tries");
	outfile_close(&o);
	no_unnamed = false;
	numbers = 0;
	ok(!outfile_open(&o, "out", false, &e) && !numbers && outfile_commit(&o, &e) == -EEXIST && numbers > 1 &&
		   !strcmp(e.text, "cannot write out: File exists") && holds("out", "hello"),
	   "at the end, too");
	outfile_close(&o);
	ok(holds(TAKEN, "theirs") && names() == 2, "and whoever has the name keeps the file");
	same_numbers = 0;
	unlink(TAKEN);
}

static void test_not_replaced(void)
{
	struct outfile o = OUTFILE_NONE;

	put_text("out", "old", 0600);
	rename_error = EACCES;
	for (int i = 0; i < 2; i++) {
		no_unnamed = i;
		ok(!outfile_open(&o, "out", false, &e) && outfile_commit(&o, &e) == -EACCES &&
			   !strcmp(e.text, "cannot write out: Permission denied") && o.fd >= 0,
		   "a failed rename fails the commit");
		outfile_close(&o);
		ok(names() == 1 && holds("out", "old"), "the temporary file is removed, the old file stays");
	}
	no_unnamed = false;
	ok(!outfile_open(&o, "out", true, &e) && outfile_write(&o, &hello, &e) == -EACCES && holds("out", "old"),
	   "a stream reports it on the first write");
	outfile_close(&o);
	rename_error = 0;
}

static void test_parts(void)
{
	struct outfile o = OUTFILE_NONE;

	outfile_open(&o, "out", false, &e);
	write_most = 2;
	write_error = EINTR;
	ok(!outfile_write(&o, &hello, &e) && !write_error, "a write that is interrupted goes on");
	write_most = 0;
	ok(!outfile_commit(&o, &e) && holds("out", "hello"), "and so does one of a part");
	outfile_open(&o, "out", false, &e);
	close_error = EIO;
	ok(outfile_commit(&o, &e) == -EIO && o.fd < 0 && !strcmp(e.text, "cannot write out: Input/output error"),
	   "an error of close() is reported");
	outfile_close(&o);
	ok(fcntl(STDOUT_FILENO, F_GETFD) >= 0, "and nothing else is closed");
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

static void killed_in_outfile(int dir)
{
	struct outfile o;

	(void)dir;
	outfile_open(&o, "out", false, &e);
	outfile_write(&o, &hello, &e);
}

/* Once the temporary file is gone, its name and its directory's descriptor number may be reused. */
static void killed_afterwards(int dir, bool commits)
{
	struct outfile o;
	int was;

	no_unnamed = true;
	same_numbers = 1;
	outfile_open(&o, "out", false, &e);
	was = o.dir.fd;
	if (strcmp(o.temp, TAKEN) || (commits && outfile_commit(&o, &e)))
		_exit(0);
	outfile_close(&o);
	put_text(TAKEN, "theirs", 0600);
	dup2(dir, was);
}

static void killed_when_complete(int dir)
{
	killed_afterwards(dir, true);
}

static void killed_when_given_up(int dir)
{
	killed_afterwards(dir, false);
}

static void test_killed(void)
{
	int dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	ok(killed_with(SIGTERM, killed_in_outfile, dir) == SIGTERM && !names(), "of an output file nothing stays");
	no_unnamed = true;
	ok(killed_with(SIGTERM, killed_in_outfile, dir) == SIGTERM && !names(), "even if it had a name");
	no_unnamed = false;
	ok(killed_with(SIGTERM, killed_when_complete, dir) == SIGTERM && names() == 2 && !unlink(TAKEN) && !unlink("out"),
	   "after a commit, the temporary name is not unlinked");
	ok(killed_with(SIGTERM, killed_when_given_up, dir) == SIGTERM && names() == 1 && !unlink(TAKEN),
	   "nor after the file is given up");
	close(dir);
}

int main(void)
{
	char dir[] = "/tmp/test_outfile.XXXXXX";
	sigset_t mask;
	int before;

	if (!mkdtemp(dir) || chdir(dir))
		abort();
	buf_str(&hello, "hello");
	before = open_files();
	test_killed();
	test_in_place();
	test_modes();
	test_refused();
	test_streams();
	test_others();
	test_named();
	test_no_proc();
	test_taken();
	test_not_replaced();
	test_parts();
	test_full();
	test_without_input();
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	ok(all_held && !sigismember(&mask, SIGTERM), "signals are blocked while a name is given");
	ok(all_private, "new files have mode 0600");
	ok(open_files() == before, "no descriptor is left open");
	buf_free(&hello);
	if (chdir("/") || rmdir(dir))
		abort();
	return tap_done();
}
