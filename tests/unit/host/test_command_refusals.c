// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wrapped command where the kernel refuses something, or gives back what was dropped. The functions below stand in for the C
 * library's; test_command.c has the real ones.
 */
#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/accounts.h"
#include "host/command.h"
#include "check.h"
#include "open_files.h"

static const char *refused = "";  /* this function fails */
static const char *regained = ""; /* this one makes us root again */
static int kept = -1;		  /* this ID stays root's: 0 to 2 of the user, 3 to 5 of the group */

/* ---- the C library's ---- */

static bool is_refused(const char *function)
{
	if (strcmp(function, refused) != 0)
		return false;
	errno = ENOMEM;
	return true;
}

int setgroups(size_t n, const gid_t *groups)
{
	return is_refused("setgroups") ? -1 : (int)syscall(SYS_setgroups, n, groups);
}

int setresgid(gid_t real, gid_t effective, gid_t saved)
{
	if (is_refused("setresgid"))
		return -1;
	return (int)syscall(SYS_setresgid, kept == 3 ? 0 : real, kept == 4 ? 0 : effective, kept == 5 ? 0 : saved);
}

int setresuid(uid_t real, uid_t effective, uid_t saved)
{
	if (is_refused("setresuid"))
		return -1;
	return (int)syscall(SYS_setresuid, kept == 0 ? 0 : real, kept == 1 ? 0 : effective, kept == 2 ? 0 : saved);
}

int getresgid(gid_t *real, gid_t *effective, gid_t *saved)
{
	return is_refused("getresgid") ? -1 : (int)syscall(SYS_getresgid, real, effective, saved);
}

int getresuid(uid_t *real, uid_t *effective, uid_t *saved)
{
	return is_refused("getresuid") ? -1 : (int)syscall(SYS_getresuid, real, effective, saved);
}

static int regain(const char *function, unsigned int id)
{
	return !id && !strcmp(function, regained) ? 0 : -1;
}

#define REGAIN(function) \
	int function(unsigned int id) \
	{ \
		return regain(#function, id); \
	}

REGAIN(setuid)
REGAIN(seteuid)
REGAIN(setgid)
REGAIN(setegid)

/* Of what the command asks. */
int prctl(int option, ...)
{
	return is_refused("prctl") ? -1 : (int)syscall(SYS_prctl, option, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

int socketpair(int domain, int type, int protocol, int fd[2])
{
	return is_refused("socketpair") ? -1 : (int)syscall(SYS_socketpair, domain, type, protocol, fd);
}

int pipe2(int fd[2], int flags)
{
	return is_refused("pipe2") ? -1 : (int)syscall(SYS_pipe2, fd, flags);
}

pid_t fork(void)
{
	pid_t (*real)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");

	return is_refused("fork") ? -1 : real();
}

/* ---- checks ---- */

static char *const argv_true[] = { "true", NULL };

/* The command is not run, and nothing is left of it. */
static void fails(int code, enum exit_status status, const char *text, const char *name)
{
	struct command c = { 0 };
	struct err e = { 0 };
	int ret = command_fork(&c, argv_true, false, &(struct command_io){ 0 }, &e);

	if (!ret)
		ret = command_release(&c, &e);
	if (!ok(ret == -code && e.status == status && !strcmp(e.text, text), "%s", name))
		diag("returned %d, status %d: %s", ret, e.status, e.text);
	ok(!c.pid && waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "nothing runs");
}

static void test_channels(void)
{
	static const char *const functions[] = { "socketpair", "pipe2", "fork" };
	int before = open_files();

	for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
		refused = functions[i];
		fails(ENOMEM, EXIT_FAILED, "cannot start the command: Cannot allocate memory", refused);
		ok(open_files() == before, "and no descriptor is left");
	}
	refused = "";
}

/* ---- as root by sudo ---- */

static void set_person(const char *uid, const char *gid)
{
	setenv("SUDO_UID", uid, 1);
	if (gid)
		setenv("SUDO_GID", gid, 1);
	else
		unsetenv("SUDO_GID");
}

static void test_refused(void)
{
	static const char *const functions[] = { "setgroups", "setresgid", "setresuid", "prctl" };

	for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
		refused = functions[i];
		fails(ENOMEM, EXIT_CANNOT_RUN, "cannot run 'true' as the user who called: Cannot allocate memory", refused);
	}
	refused = "";
}

/* Whatever could make the command root again: it isn't run. */
static void test_regained(void)
{
	static const char text[] = "will not run 'true': it could take root's rights back";
	static const char *const by[] = { "setuid", "seteuid", "setgid", "setegid" }, *const unknown[] = { "getresuid",
													   "getresgid" };

	for (kept = 0; kept < 6; kept++)
		fails(EPERM, EXIT_CANNOT_RUN, text, "one of the IDs stays root's");
	kept = -1;
	for (size_t i = 0; i < ARRAY_LEN(by); i++) {
		regained = by[i];
		fails(EPERM, EXIT_CANNOT_RUN, text, regained);
	}
	regained = "";
	for (size_t i = 0; i < ARRAY_LEN(unknown); i++) {
		refused = unknown[i];
		fails(EPERM, EXIT_CANNOT_RUN, text, refused);
	}
	refused = "";
}

static void hear(void *ctx, enum notice_level level, const char *text)
{
	*(int *)ctx += level == NOTICE_NORMAL && strstr(text, "54321");
}

/* Groups and home of an account that only a name service knows are missing in a static build. */
static void test_no_account(void)
{
	int heard = 0, status = -1;
	const struct notices to = { .tell = hear, .ctx = &heard };
	struct command c = { 0 };
	struct err e = { 0 };

	set_person("54321", "54322");
	ok(!command_fork(&c, argv_true, false, &(struct command_io){ .notices = &to }, &e) &&
		   !command_release(&c, &e) && !command_wait(&c, &status) && !status,
	   "a user without an account has a command run");
	ok(heard == (ACCOUNTS_ARE_FILES ? 1 : 0), "which is told where accounts are read from files alone");
	set_person("54321", NULL);
	fails(ENOENT, EXIT_FAILED, "cannot tell whom to run the command as: no user 54321 here",
	      "one whose group nobody knows has not");
}

int main(void)
{
	static const char *const person[] = { "SUDO_UID", "SUDO_GID", "SUDO_USER", "PKEXEC_UID", "DOAS_USER" };

	for (size_t i = 0; i < ARRAY_LEN(person); i++)
		unsetenv(person[i]);
	test_channels();
	if (getuid() != 0) {
		ok(true, "rights are dropped # SKIP needs root");
		return tap_done();
	}
	set_person("65534", "65534");
	test_refused();
	test_regained();
	test_no_account();
	return tap_done();
}
