// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wrapped command: the gate, and rights that it could have beyond its caller's. What a user sees of it is in tests/cli/command.bats.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/command.h"
#include "util/mem.h"
#include "check.h"

static const struct command_io ours; /* our own standard files */

#define NOBODY 65534

static char dir[] = "/tmp/test_command.XXXXXX";

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
	if (command_fork(&c, argv, as_root, &ours, &e) || command_release(&c, &e)) {
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

static void test_gate(void)
{
	char *const argv[] = { "sh", "-c", "echo >ran; exit 7", NULL };
	struct command c = { 0 };
	struct err e = { 0 };
	struct pollfd p;
	int status = -1;

	is_int(command_fork(&c, argv, false, &ours, &e), 0, "a command is forked");
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
		{ "one:two", "two/in_two", false }, { "", "two/in_two", true },	    { "", "one", false },
	};
	char *before = xstrdup(getenv("PATH"));

	mkdir("one", 0755);
	mkdir("two", 0755);
	put("one/in_one", "", 0755);
	put("two/in_two", "", 0755);
	put("here", "", 0755);
	put("one/no_program", "", 0644);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
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

static void test_abandon(void)
{
	char *const argv[] = { "sh", "-c", "echo >ran", NULL };
	struct command c = { 0 };
	struct err e = { 0 };
	pid_t pid;

	command_abandon(&c);
	ok(fcntl(0, F_GETFD) >= 0, "abandoning a zeroed command leaves descriptor 0 alone");
	command_fork(&c, argv, false, &ours, &e);
	pid = c.pid;
	command_abandon(&c);
	ok(pid > 0 && kill(pid, 0) < 0 && errno == ESRCH, "an abandoned command is gone");
	ok(!there("ran"), "and never ran");
	ok(c.pid == 0 && c.go == -1 && c.failed == -1 && c.pidfd == -1, "and everything is closed");
	command_abandon(&c);
	ok(true, "abandoning twice is fine");
}

static void test_signal_at_gate(void)
{
	char *const argv[] = { "sh", "-c", "echo >ran", NULL };
	struct command c = { 0 };
	struct err e = { 0 };
	int status = -1;

	ok(!command_fork(&c, argv, false, &ours, &e) && c.pid > 0 && !kill(c.pid, SIGTERM),
	   "a command gets a signal at the gate");
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

		_exit(command_fork(&c, argv, false, &ours, &e) ? 1 : 0);
	}
	waitpid(middle, &status, 0);
	is_int(status, 0, "a parent that dies before the gate opens ...");
	for (int i = 0; i < 100 && waitpid(-1, &left, WNOHANG) == 0; i++)
		usleep(20000);
	ok(WIFEXITED(left) && WEXITSTATUS(left) == EXIT_FAILED, "... takes the command along, quietly");
	ok(!there("ran"), "which never ran");
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void clear_person(void)
{
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	unsetenv("SUDO_USER");
	unsetenv("PKEXEC_UID");
}

static const char show_caps[] = "grep -E '^Cap(Inh|Prm|Eff|Amb)' /proc/self/status | tr -d '\\t0\\n'";

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

	if (command_fork(&c, argv, false, &ours, &e) || command_release(&c, &e) || command_wait(&c, &status))
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
	char *const argv[] = { "no-such-command-here", NULL };
	struct command c = { 0 };
	struct err e = { 0 };

	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	setenv("PATH", path, 1);
	ok(!command_fork(&c, argv, false, &ours, &e) && command_release(&c, &e) == -ENOENT &&
		   e.status == EXIT_NOT_FOUND && !c.pid,
	   "a folder in PATH that is closed to the caller doesn't hide that there is no such command");
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
	mkdir("closed", 0700);
	setenv("PATH", path, 1);
	clear_person();
	test_not_root();
	setenv("PATH", before, 1);
	test_closed_path();
	free(path);
	free(before);
}

static void clean_up(void)
{
	char *command = xasprintf("rm -rf %s", dir);

	if (chdir("/") || system(command))
		abort();
	free(command);
}

int main(void)
{
	setpgid(0, 0); /* a signal to process 0, sent by mistake, is for us alone */
	setvbuf(stdout, NULL, _IOLBF, 0);
	clear_person();
	if (!mkdtemp(dir) || chmod(dir, 0777) || chdir(dir)) {
		printf("Bail out! no temporary folder\n");
		return 1;
	}
	test_gate();
	test_in_path();
	test_abandon();
	test_signal_at_gate();
	test_parent_dies();
	test_rights();
	clean_up();
	return tap_done();
}
