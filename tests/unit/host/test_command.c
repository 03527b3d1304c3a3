// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wrapped command: the gate, its failures, its signals and descriptors, and, as root, whose
 * rights it has.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/command.h"
#include "util/mem.h"
#include "open_files.h"
#include "tap.h"

#define NOBODY 65534

static char dir[] = "/tmp/test_command.XXXXXX";

static void is_str(const char *got, const char *want, const char *name)
{
	if (!ok(!strcmp(got, want), "%s", name))
		diag("got '%s', want '%s'", got, want);
}

static void is_int(long got, long want, const char *name)
{
	if (!ok(got == want, "%s", name))
		diag("got %ld, want %ld", got, want);
}

static bool there(const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	bool found = access(path, F_OK) == 0;

	free(path);
	return found;
}

static void put(const char *name, const char *text, mode_t mode)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	if (f) {
		fputs(text, f);
		fclose(f);
	}
	chmod(path, mode);
	free(path);
}

static void drop(const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);

	unlink(path);
	free(path);
}

/*
 * Runs a shell line to its end; what it wrote to ./out, its lines joined by a space. "error: .."
 * when it did not start.
 */
static char *shell(const char *line, bool as_root, int *status)
{
	char text[4096] = "", *script = xasprintf("{ %s; } >out 2>&1", line);
	char *const argv[] = { "sh", "-c", script, NULL };
	struct command c = { 0 };
	struct err e = { 0 };
	FILE *f;

	drop("out");
	*status = -1;
	if (command_fork(&c, argv, as_root, &e) || command_release(&c, &e)) {
		free(script);
		return xasprintf("error: %d %s", e.status, e.text);
	}
	command_wait(&c, status);
	free(script);
	f = fopen("out", "r");
	if (f) {
		text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
		fclose(f);
	}
	if (*text && text[strlen(text) - 1] == '\n')
		text[strlen(text) - 1] = '\0';
	for (char *p = text; *p; p++)
		*p = *p == '\n' ? ' ' : *p;
	return xstrdup(text);
}

static void says(const char *line, const char *want, const char *name)
{
	int status;
	char *got = shell(line, false, &status);

	is_str(got, want, name);
	free(got);
}

/* Those that a command gets, too. */
static int inherited_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *entry;
	int n = 0;

	while (d && (entry = readdir(d))) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] == '.' || fd == dirfd(d))
			continue;
		n += !(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	}
	closedir(d);
	return n;
}

static void test_gate(void)
{
	char *const argv[] = { "sh", "-c", "echo >ran; exit 7", NULL };
	struct command c = { 0 };
	struct err e = { 0 };
	struct pollfd p;
	int status = -1;

	is_int(command_fork(&c, argv, false, &e), 0, "a command is forked");
	ok(c.pid > 0 && c.go >= 0 && c.failed >= 0, "it has a pid and a gate");
	usleep(100000);
	ok(!there("ran"), "it does not run before the gate opens");
	is_int(kill(c.pid, 0), 0, "it waits");
	is_int(command_release(&c, &e), 0, "the gate opens");
	p = (struct pollfd){ .fd = c.pidfd, .events = POLLIN };
	is_int(poll(&p, 1, 5000), 1, "the pidfd tells of its end");
	is_int(command_wait(&c, &status), 0, "it is reaped");
	is_int(status, 7, "its status comes back");
	ok(there("ran"), "it ran");
	is_int(c.pid, 0, "nothing is left of it");
	drop("ran");
}

static void test_ends(void)
{
	int status;

	free(shell("kill -TERM $$", false, &status));
	is_int(status, 128 + SIGTERM, "a signal's number plus 128 is its status");
	says("printf '%s|' \"$0\" a 'b c'", "sh|a|b c|", "arguments arrive as they are");
}

static void text_is(const char *name, const char *want)
{
	char text[100] = "";
	FILE *f = fopen(name, "r");

	if (f) {
		text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
		fclose(f);
	}
	is_str(text, want, name);
	drop(name);
}

static void test_files(void)
{
	char *const argv[] = { "sh", "-c",
			       "cat; echo said; echo wrong >&2; i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done",
			       NULL };
	struct command_io io = {
		.in = open("in", O_RDWR | O_CREAT | O_CLOEXEC, 0600),
		.out = open("o", O_WRONLY | O_CREAT | O_CLOEXEC, 0600),
		.err = open("e", O_WRONLY | O_CREAT | O_CLOEXEC, 0600),
	};
	struct command c = { 0 };
	struct err e = { 0 };
	int status = -1;

	ok(pwrite(io.in, "given\n", 6, 0) == 6, "an input is prepared");
	ok(!command_fork_io(&c, argv, false, &io, &e) && !command_release(&c, &e) && !command_wait(&c, &status),
	   "a command runs with files of its own");
	is_int(status, 0, "and ends well");
	ok(c.user_ns > 0, "its CPU time is known");
	text_is("o", "given\nsaid\n");
	text_is("e", "wrong\n");
	drop("in");
	close(io.in);
	close(io.out);
	close(io.err);
}

/* A command inherits our standard input unless it is given another. */
static void test_own_files(void)
{
	int in = dup(STDIN_FILENO), file = open("in", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	ok(pwrite(file, "given\n", 6, 0) == 6 && dup2(file, STDIN_FILENO) == STDIN_FILENO, "an input is prepared");
	says("cat", "given", "a command reads our input");
	restore_input(in);
	close(file);
	drop("in");
}

/* Expects that `file` cannot be run. */
static void fails(const char *file, int code, enum exit_status want, const char *text, const char *name)
{
	char *const argv[] = { (char *)file, NULL };
	struct command c = { 0 };
	struct err e = { 0 };
	int ret;

	ret = command_fork(&c, argv, false, &e);
	if (!ret)
		ret = command_release(&c, &e);
	ok(ret == -code && e.status == want, "%s: status %d", name, want);
	is_str(e.text, text, name);
	ok(c.pid == 0 && waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "%s: reaped", name);
	command_abandon(&c);
}

static void test_failures(void)
{
	put("plain", "x", 0644);
	put("script", "#!/no/such/interpreter\n", 0755);
	fails("no-such-command-here", ENOENT, EXIT_NOT_FOUND, "cannot run 'no-such-command-here': not found",
	      "not in PATH");
	fails("./no-such-file", ENOENT, EXIT_NOT_FOUND, "cannot run './no-such-file': not found", "no such path");
	fails("", ENOENT, EXIT_NOT_FOUND, "cannot run '': not found", "an empty name");
	fails("./plain", EACCES, EXIT_CANNOT_RUN, "cannot run './plain': permission denied", "not executable");
	fails("/", EACCES, EXIT_CANNOT_RUN, "cannot run '/': permission denied", "a folder");
	fails("./script", ENOENT, EXIT_CANNOT_RUN, "cannot run './script': its interpreter is not there", "no interpreter");
}

/* What execvp() says that is none of the above, and what a path says that leads through a file. */
static void test_other_failures(void)
{
	char *long_word = xcalloc(200001, 1), *const argv[] = { "true", long_word, NULL };
	struct command c = { 0 };
	struct err e = { 0 };

	fails("./plain/x", ENOTDIR, EXIT_NOT_FOUND, "cannot run './plain/x': not found", "a file where a folder should be");
	memset(long_word, 'x', 200000); /* the kernel takes 128 KiB */
	ok(!command_fork(&c, argv, false, &e) && command_release(&c, &e) == -E2BIG && e.status == EXIT_CANNOT_RUN,
	   "a long argument");
	is_str(e.text, "cannot run 'true': Argument list too long", "and why");
	command_abandon(&c);
	free(long_word);
}

/* Descriptors that are not open. */
static void test_no_files(void)
{
	static const struct command_io io[] = { { .in = 1000 }, { .out = 1000 }, { .err = 1000 } };
	char *const argv[] = { "sh", "-c", "echo >ran", NULL };

	for (size_t i = 0; i < sizeof(io) / sizeof(*io); i++) {
		struct command c = { 0 };
		struct err e = { 0 };

		ok(!command_fork_io(&c, argv, false, &io[i], &e) && command_release(&c, &e) == -EBADF &&
			   e.status == EXIT_CANNOT_RUN,
		   "a standard file that can't be had: %zu", i);
		is_str(e.text, "cannot run 'sh': its input or output: Bad file descriptor", "and why");
		ok(!there("ran") && !c.pid, "it did not run");
	}
}

/* PATH as a shell reads it: an empty part is this folder. */
static void test_in_path(void)
{
	static const struct {
		const char *path, *name;
		bool want;
	} rows[] = {
		{ "one:two", "in_one", true },	    { "one:two", "in_two", true },  { "one:two", "here", false },
		{ "two", "in_one", false },	    { "", "here", true },	    { ":one", "here", true },
		{ "one:", "here", true },	    { "one::two", "here", true },   { "one::two", "in_two", true },
		{ "one/", "in_one", true },	    { "none:one", "in_one", true }, { NULL, "here", false },
		{ "one:two", "two/in_two", false }, { "", "two/in_two", true },
	};
	char *before = xstrdup(getenv("PATH"));

	mkdir("one", 0755);
	mkdir("two", 0755);
	put("one/in_one", "", 0755);
	put("two/in_two", "", 0755);
	put("here", "", 0755);
	put("one/no_program", "", 0644);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (rows[i].path)
			setenv("PATH", rows[i].path, 1);
		else
			unsetenv("PATH");
		ok(command_in_path(rows[i].name, F_OK) == rows[i].want, "%s %s in PATH=%s", rows[i].name,
		   rows[i].want ? "is" : "isn't", rows[i].path ? rows[i].path : "(none)");
	}
	setenv("PATH", "two:one", 1);
	ok(command_in_path("no_program", F_OK) && !command_in_path("no_program", X_OK) && command_in_path("in_one", X_OK),
	   "a file that can't be run is no program");
	setenv("PATH", before, 1);
	free(before);
}

/* The longest path that the kernel takes has 4,095 letters. */
static void test_long_path(void)
{
	char *before = xstrdup(getenv("PATH")), path[4200];

	put("one/x", "", 0755);
	for (size_t n = 4093; n <= 4095; n++) {
		memset(path, '/', n);
		memcpy(path, dir, strlen(dir));
		strcpy(path + n - 5, "./one");
		path[n - 6] = '/';
		strcpy(path + n, ":two");
		setenv("PATH", path, 1);
		/* behind it: a slash, one letter */
		ok(command_in_path("x", F_OK) == (n <= 4093), "a folder's name of %zu letters and one more", n);
		ok(command_in_path("in_two", F_OK), "doesn't hide the folders after it");
	}
	setenv("PATH", before, 1);
	free(before);
	drop("one/x");
	drop("one/in_one");
	drop("two/in_two");
	drop("here");
	rmdir("one");
	rmdir("two");
}

/* A new terminal's end for a command, or -1. */
static int terminal(int *other_end)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	*other_end = fd;
	if (fd < 0 || grantpt(fd) || unlockpt(fd))
		return -1;
	return open(ptsname(fd), O_RDWR | O_NOCTTY | O_CLOEXEC);
}

static void run_beside_screen(const struct command_io *io)
{
	char *const argv[] = { "sh", "-c", "cat; echo said; echo wrong >&2", NULL };
	struct command c = { 0 };
	struct err e = { 0 };
	int status = -1;

	ok(!command_fork_io(&c, argv, false, io, &e) && !command_release(&c, &e) && !command_wait(&c, &status) && !status,
	   "a command runs beside a screen");
}

/* A descriptor that nobody asked for would keep the terminal, or a pipe, open. */
static void test_held_descriptors(int tty, int held)
{
	char *const argv[] = { "sh", "-c", "ls /proc/self/fd | wc -l", NULL };
	/* and the folder that ls reads */
	char *want = xasprintf("%d\n", inherited_files() + 1);
	struct command c = { 0 };
	struct err e = { 0 };
	int status = -1;

	ok(!command_fork_io(&c, argv, false, &(struct command_io){ .in = tty, .out = tty, .held = held }, &e) &&
		   !command_release(&c, &e) && !command_wait(&c, &status) && !status,
	   "beside a screen the command has three files");
	text_is("held", want);
	free(want);
}

static void test_no_hold(int tty)
{
	char *const argv[] = { "sh", "-c", "echo >ran", NULL };
	struct command c = { 0 };
	struct err e = { 0 };

	ok(!command_fork_io(&c, argv, false, &(struct command_io){ .out = tty, .held = 1000 }, &e) &&
		   command_release(&c, &e) == -EBADF && e.status == EXIT_CANNOT_RUN && !there("ran"),
	   "what can't be held back is not run");
	is_str(e.text, "cannot run 'sh': its input or output: Bad file descriptor", "and why");
}

/* What would go to a terminal is held back, and nothing is read from one; other files are left alone. */
static void test_held(void)
{
	int other_end, tty = terminal(&other_end);
	int file = open("o", O_RDWR | O_CREAT | O_CLOEXEC, 0600),
	    held = open("held", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	int in = open("in", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (tty < 0) {
		ok(true, "beside a screen # SKIP there is no terminal");
	} else {
		run_beside_screen(&(struct command_io){ .in = tty, .out = tty, .err = tty, .held = held });
		text_is("held", "said\nwrong\n");
		close(held);
		held = open("held", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		ok(pwrite(in, "given\n", 6, 0) == 6, "an input is prepared");
		run_beside_screen(&(struct command_io){ .in = in, .out = file, .err = tty, .held = held });
		text_is("held", "wrong\n");
		text_is("o", "given\nsaid\n");
		close(held);
		held = open("held", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		test_held_descriptors(tty, held);
		test_no_hold(tty);
	}
	drop("o");
	drop("in");
	drop("held");
	close(file);
	close(held);
	close(in);
	close(tty);
	close(other_end);
}

/* Exactly what the kernel has booked for our children meanwhile. */
static void test_user_time(void)
{
	char *const argv[] = { "sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done; exit 255", NULL };
	struct rusage before, after;
	struct command c = { 0 };
	struct err e = { 0 };
	int status = -1;
	int64_t ns;

	getrusage(RUSAGE_CHILDREN, &before);
	ok(!command_fork(&c, argv, false, &e) && !command_release(&c, &e) && !command_wait(&c, &status) && status == 255,
	   "it works");
	getrusage(RUSAGE_CHILDREN, &after);
	ns = (after.ru_utime.tv_sec - before.ru_utime.tv_sec) * INT64_C(1000000000) +
	     (after.ru_utime.tv_usec - before.ru_utime.tv_usec) * INT64_C(1000);
	if (!ok(llabs((int64_t)c.user_ns - ns) <= 2000, "for as long as the kernel says"))
		diag("%lld ns, not %lld", (long long)c.user_ns, (long long)ns);
	ok(command_wait(&c, &status) < 0, "nobody is left to wait for");
}

/* We may have raised the limit for ourselves. */
static void test_limit(void)
{
	struct rlimit was, ours;
	char *want;

	getrlimit(RLIMIT_NOFILE, &was);
	ours = was;
	ours.rlim_cur = was.rlim_cur - 1;
	want = xasprintf("%llu", (unsigned long long)was.rlim_cur);
	setrlimit(RLIMIT_NOFILE, &ours);
	if (was.rlim_cur == RLIM_INFINITY)
		ok(true, "open files # SKIP no limit");
	else
		says("ulimit -n", want, "the command's limit of open files is our caller's");
	setrlimit(RLIMIT_NOFILE, &was);
	free(want);
}

static void test_no_command(void)
{
	char *const argv[] = { NULL };
	struct command c = { .pid = 42 };
	struct err e = { 0 };

	is_int(command_fork(&c, argv, false, &e), -EINVAL, "no command is an error");
	ok(e.status == EXIT_USAGE && c.pid == 42, "of usage, and the struct is unchanged");
}

static void test_abandon(void)
{
	char *const argv[] = { "sh", "-c", "echo >ran", NULL };
	struct command c = { 0 };
	struct err e = { 0 };
	pid_t pid;

	command_abandon(&c);
	ok(fcntl(0, F_GETFD) >= 0, "abandoning a zeroed command leaves descriptor 0 alone");
	command_fork(&c, argv, false, &e);
	pid = c.pid;
	command_abandon(&c);
	ok(pid > 0 && kill(pid, 0) < 0 && errno == ESRCH, "an abandoned command is gone");
	ok(!there("ran"), "and never ran");
	ok(c.pid == 0 && c.go == -1 && c.failed == -1 && c.pidfd == -1, "and everything is closed");
	command_abandon(&c);
	ok(true, "abandoning twice is fine");
}

/* Whoever runs is waited for by somebody else then. */
static void test_abandon_running(void)
{
	char *const argv[] = { "sh", "-c", "exit 7", NULL };
	struct command c = { 0 };
	struct err e = { 0 };
	int status = -1;
	pid_t pid;

	ok(!command_fork(&c, argv, false, &e) && !command_release(&c, &e), "a command runs");
	pid = c.pid;
	command_abandon(&c);
	ok(!c.pid && c.pidfd == -1 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7,
	   "abandoning one that runs leaves it alone");
}

static void test_signal_at_gate(void)
{
	char *const argv[] = { "sh", "-c", "echo >ran", NULL };
	struct command c = { 0 };
	struct err e = { 0 };
	int status = -1;

	ok(!command_fork(&c, argv, false, &e) && c.pid > 0 && !kill(c.pid, SIGTERM), "a command gets a signal at the gate");
	usleep(50000);
	is_int(command_release(&c, &e), 0, "releasing a command that a signal ended is no failure and no SIGPIPE");
	command_wait(&c, &status);
	is_int(status, 128 + SIGTERM, "its status tells of the signal");
	ok(!there("ran"), "it never ran");
}

/* A middle process forks the command and dies: the command must then exit by itself. */
static void test_parent_dies(void)
{
	char *const argv[] = { "sh", "-c", "echo >ran", NULL };
	int status = 0, left = 0;
	pid_t middle;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	middle = fork();
	if (middle == 0) {
		struct command c = { 0 };
		struct err e = { 0 };

		_exit(command_fork(&c, argv, false, &e) ? 1 : 0);
	}
	waitpid(middle, &status, 0);
	is_int(status, 0, "a parent that dies before the gate opens ...");
	for (int i = 0; i < 100 && waitpid(-1, &left, WNOHANG) == 0; i++)
		usleep(20000);
	ok(WIFEXITED(left) && WEXITSTATUS(left) == EXIT_FAILED, "... takes the command along, quietly");
	ok(!there("ran"), "which never ran");
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void on_signal(int s)
{
	(void)s;
}

/* The line of /proc/self/status with this name. */
static char *status_line(const char *name)
{
	char line[256], *found = NULL;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && !found && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, name, strlen(name))) {
			line[strcspn(line, "\n")] = '\0';
			found = xstrdup(line);
		}
	}
	if (f)
		fclose(f);
	return found ? found : xstrdup("");
}

/* Is this line in the command's own status? Without a shell: dash would clear the signal mask. */
static void has_line(const char *line, const char *name)
{
	char *const argv[] = { "grep", "-qx", (char *)line, "/proc/self/status", NULL };
	struct command c = { 0 };
	struct err e = { 0 };
	int status = -1;

	if (!command_fork(&c, argv, false, &e) && !command_release(&c, &e))
		command_wait(&c, &status);
	if (!ok(status == 0, "%s", name))
		diag("want '%s'", line);
}

/* We ignore, catch and block; the command has what our caller had. */
static void test_signals(void)
{
	char *blocked = status_line("SigBlk"), *ignored = status_line("SigIgn");
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &before);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_DFL);   /* the first .. */
	signal(SIGRTMAX, SIG_DFL); /* .. and the last, which our caller ignored */
	signal(SIGTERM, on_signal);
	has_line(blocked, "the command's signal mask is our caller's");
	has_line(ignored, "the command ignores what our caller ignored");
	sigprocmask(SIG_SETMASK, NULL, &set);
	ok(sigismember(&set, SIGUSR1) && !sigismember(&set, SIGUSR2), "our own mask is as it was");
	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(blocked);
	free(ignored);
}

static void test_descriptors(void)
{
	int before = open_files(), inherited = inherited_files(), after;
	char *const argv[] = { "no-such-command-here", NULL };
	/* and the folder that ls reads */
	char *want = xasprintf("%d", inherited + 1), *got;
	struct command c = { 0 };
	struct err e = { 0 };
	int status;

	got = shell("ls /proc/self/fd | wc -l", false, &status);
	is_str(got, want, "the command inherits none of our channels");
	command_fork(&c, argv, false, &e);
	command_release(&c, &e);
	command_fork(&c, argv, false, &e);
	command_abandon(&c);
	after = open_files();
	is_int(after, before, "we keep no descriptor open");
	free(got);
	free(want);
}

static void set_person(const char *uid, const char *gid, const char *user)
{
	setenv("SUDO_UID", uid, 1);
	setenv("SUDO_GID", gid, 1);
	setenv("SUDO_USER", user, 1);
}

static void clear_person(void)
{
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	unsetenv("SUDO_USER");
	unsetenv("PKEXEC_UID");
}

static const char show_caps[] = "grep -E '^Cap(Inh|Prm|Eff|Amb)' /proc/self/status | tr -d '\\t0\\n'";

static void test_sudo(void)
{
	set_person("65534", "65534", "nobody");
	says("id -u; id -ru", "65534 65534", "sudo: the caller's uid");
	says("id -G", "65534", "sudo: the caller's groups, none of root's");
	says("echo $USER $LOGNAME $SUDO_UID", "nobody nobody 65534", "sudo: USER, LOGNAME; SUDO_UID is kept");
	says("test \"$HOME:$SHELL\" = \"$(getent passwd nobody | cut -d: -f6,7)\" && echo same", "same",
	     "sudo: HOME and SHELL from the password file");
	says("echo $MAIL", "/var/mail/nobody", "sudo: MAIL");
	says("cat secret >/dev/null 2>&1 || echo closed", "closed", "sudo: root's file is closed");
	says(show_caps, "CapInh:CapPrm:CapEff:CapAmb:", "sudo: no capability is left");
	fails("only-root", EACCES, EXIT_CANNOT_RUN, "cannot run 'only-root': permission denied",
	      "sudo: PATH is searched with the caller's rights");
	unsetenv("SUDO_GID");
	says("id -g", "65534", "sudo: without SUDO_GID the password file's group");
}

/* The kernel's own list of what the command began with, from the first variable to the last. */
static void test_environment(void)
{
	static const char names[] = "tr '\\0' '\\n' </proc/$$/environ | grep -o -e ^HOME= -e ^USERS=all$";
	char *path = xasprintf("PATH=%s", getenv("PATH")), **before = environ;
	char *few[] = { "HOME=/wrong", "USERS=all", path, "SUDO_UID=65534", "SUDO_GID=65534", "SUDO_USER=nobody", NULL };

	environ = few;
	says("echo $HOME | grep -c /wrong", "0", "sudo: HOME is replaced where it comes first");
	says(names, "HOME= USERS=all", "sudo: it is there once, and others are left alone");
	environ = before;
	free(path);
}

static void test_whose(void)
{
	int status;
	char *got;

	set_person("65534", "65534", "nobody");
	got = shell("id -u; cat secret", true, &status);
	is_str(got, "0 root's own", "as_root: the rights stay");
	free(got);
	set_person("0", "0", "root");
	says("id -u", "0", "SUDO_UID=0: root in person");
	set_person("54321", "54322", "nosuchuser");
	says("id -u; id -G; echo $SUDO_USER", "54321 54322 nosuchuser", "a user without an account has one group");
	clear_person();
	says("id -u", "0", "no sudo: root in person");
	setenv("PKEXEC_UID", "65534", 1);
	says("id -u; id -g; id -G; echo $USER", "65534 65534 65534 nobody", "pkexec: the caller");
	clear_person();
	set_person("1x", "0", "x");
	says("id -u", "error: 1 cannot tell who called: SUDO_UID is not a number", "a broken SUDO_UID is no root");
	set_person("4294967295", "0", "x");
	says("id -u", "error: 1 cannot tell who called: SUDO_UID is not a number", "nor is the uid that means 'unchanged'");
	clear_person();
}

/* As nobody, but with a file's capabilities, also inheritable and ambient ones. */
static void become_capable(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2] = { 0 };

	caps[0].effective = caps[0].permitted = caps[0].inheritable = 1U << CAP_DAC_OVERRIDE;
	prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY) ||
	    syscall(SYS_capset, &head, caps) || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_OVERRIDE, 0, 0))
		_exit(99);
}

static void become_setuid(void)
{
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, 0) || setresuid(NOBODY, 0, 0))
		_exit(99);
}

/* Without a shell, which would give the rights back by itself. */
static void run_and_exit(char *const argv[], int want)
{
	struct command c = { 0 };
	struct err e = { 0 };
	int status = -1;

	if (command_fork(&c, argv, false, &e) || command_release(&c, &e) || command_wait(&c, &status))
		_exit(98);
	_exit(status != want);
}

static void become_setuid_and_read(void)
{
	char *const argv[] = { "test", "-r", "secret", NULL };

	become_setuid();
	run_and_exit(argv, 1);
}

static void become_setgid_and_show(void)
{
	char *const argv[] = { "grep", "-q", "^Gid:.65534.65534.65534.65534$", "/proc/self/status", NULL };

	if (setgroups(0, NULL) || setresgid(NOBODY, 0, 0) || setresuid(NOBODY, NOBODY, NOBODY))
		_exit(99);
	run_and_exit(argv, 0);
}

/* Lets a process that is not root by its real uid run a line; true when that says what we want. */
static bool in_process(void (*become)(void), const char *line, bool as_root, const char *want)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		char *got;

		become();
		got = shell(line, as_root, &status);
		if (strcmp(got, want))
			diag("got '%s', want '%s'", got, want);
		fflush(stdout);
		_exit(strcmp(got, want) != 0);
	}
	waitpid(pid, &status, 0);
	return status == 0;
}

static void test_not_root(void)
{
	ok(in_process(become_capable, show_caps, false, "CapInh:CapPrm:CapEff:CapAmb:"),
	   "capabilities of our own file do not reach the command");
	ok(in_process(become_capable, "cat secret >/dev/null 2>&1 || echo closed", false, "closed"), "nor what they open");
	ok(in_process(become_capable, "id -u", true, "error: 3 only root can run the command as root"),
	   "as_root is refused to others");
	setenv("SUDO_UID", "54321", 1);
	setenv("SUDO_GID", "54321", 1);
	ok(in_process(become_setuid, "id -u; id -ru; id -g", false, "65534 65534 65534"),
	   "set-user-ID: the real user, whatever SUDO_UID says");
	ok(in_process(become_setuid_and_read, "", false, ""), "set-user-ID: root's file is closed");
	ok(in_process(become_setgid_and_show, "", false, ""), "set-group-ID: the real group");
	clear_person();
}

/* /root/bin in PATH, seen by a user who may not look into it */
static void test_closed_path(void)
{
	char *before = xstrdup(getenv("PATH")), *path = xasprintf("%s/closed:%s", dir, before);

	set_person("65534", "65534", "nobody");
	setenv("PATH", path, 1);
	fails("no-such-command-here", ENOENT, EXIT_NOT_FOUND, "cannot run 'no-such-command-here': not found",
	      "a closed folder in PATH");
	clear_person();
	setenv("PATH", before, 1);
	free(path);
	free(before);
}

static void test_rights(void)
{
	char *before = xstrdup(getenv("PATH")), *path = xasprintf("%s:%s", dir, before);

	if (getuid() != 0) {
		ok(true, "rights are dropped # SKIP needs root");
		free(path);
		free(before);
		return;
	}
	put("secret", "root's own\n", 0600);
	put("only-root", "#!/bin/sh\n", 0700);
	mkdir("closed", 0700);
	setenv("PATH", path, 1);
	test_sudo();
	test_environment();
	clear_person();
	test_whose();
	test_not_root();
	setenv("PATH", before, 1);
	test_closed_path();
	free(path);
	free(before);
}

static void clean_up(void)
{
	/* clang-format off */
	static const char *const files[] = {
		"out", "ran", "plain", "script", "secret", "only-root"
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		drop(files[i]);
	rmdir("closed");
	if (chdir("/") == 0)
		rmdir(dir);
}

/*
 * Starts over with a caller that ignores three signals, blocks one and is in a group: command.c
 * notes that before main().
 */
static void start_again(char *const argv[])
{
	static const gid_t group = 12345;
	sigset_t set;

	if (getenv("TEST_COMMAND_AGAIN"))
		return;
	setenv("TEST_COMMAND_AGAIN", "1", 1);
	signal(SIGUSR2, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGRTMAX, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGURG);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (getuid() == 0 && setgroups(1, &group))
		diag("cannot take a group");
	execv("/proc/self/exe", argv);
}

int main(int argc, char *argv[])
{
	(void)argc;
	setpgid(0, 0); /* a signal to process 0, sent by mistake, is for us alone */
	start_again(argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	clear_person();
	if (!mkdtemp(dir) || chmod(dir, 0777) || chdir(dir)) {
		printf("Bail out! no temporary folder\n");
		return 1;
	}
	test_gate();
	test_ends();
	test_files();
	test_own_files();
	test_failures();
	test_other_failures();
	test_no_files();
	test_in_path();
	test_long_path();
	test_held();
	test_user_time();
	test_limit();
	test_no_command();
	test_abandon();
	test_abandon_running();
	test_signal_at_gate();
	test_parent_dies();
	test_signals();
	test_descriptors();
	test_rights();
	clean_up();
	return tap_done();
}
