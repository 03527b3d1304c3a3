// SPDX-License-Identifier: GPL-2.0-only
#include "host/command.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/accounts.h"
#include "host/caller.h"
#include "util/mem.h"

/* What went wrong in the child, as it crosses the pipe. */
enum step { STEP_IDENTITY, STEP_REGAIN, STEP_EXEC, STEP_INTERPRETER, STEP_FILES };

struct failure {
	int32_t step;
	int32_t code; /* errno */
};

/* Whom the command runs as, looked up before the fork: the child only makes system calls. */
struct identity {
	bool switch_ids;    /* to uid and gid */
	bool switch_groups; /* to groups[] */
	bool drop_caps;
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	int n_groups;
	char **env; /* NULL: as it is */
};

/*
 * What our caller had, noted before main() can change it: a caught signal goes back to its default
 * by exec alone, but one that we ignore or block for our own sake would stay so in the command.
 */
static sigset_t caller_mask;
static bool caller_ignores[NSIG];
static struct rlimit caller_files; /* likewise: open files */

/* What rt_sigaction(2) takes: libc's sigaction() refuses two signals, one of which its first thread catches. */
struct kernel_sigaction {
	uint64_t handler, flags, restorer, mask;
};

static int signal_action(int s, const struct kernel_sigaction *set, struct kernel_sigaction *was)
{
	return (int)syscall(SYS_rt_sigaction, s, set, was, sizeof(set->mask));
}

__attribute__((constructor)) static void note_caller(void)
{
	struct kernel_sigaction now;

	sigprocmask(SIG_SETMASK, NULL, &caller_mask);
	getrlimit(RLIMIT_NOFILE, &caller_files);
	for (int s = 1; s < NSIG; s++)
		caller_ignores[s] = !signal_action(s, NULL, &now) && now.handler == (uintptr_t)SIG_IGN;
}

static void restore_caller(void)
{
	struct kernel_sigaction action = { 0 };

	for (int s = 1; s < NSIG; s++) {
		action.handler = (uintptr_t)(caller_ignores[s] ? SIG_IGN : SIG_DFL);
		/* KILL and STOP refuse: nothing to restore there */
		signal_action(s, &action, NULL);
	}
	sigprocmask(SIG_SETMASK, &caller_mask, NULL);
	setrlimit(RLIMIT_NOFILE, &caller_files);
}

static void env_set(char ***env, const char *name, const char *value)
{
	size_t n = strlen(name);
	char *entry = xasprintf("%s=%s", name, value);

	for (size_t i = 0; *env && (*env)[i]; i++) {
		if (!strncmp((*env)[i], name, n) && (*env)[i][n] == '=') {
			free((*env)[i]);
			(*env)[i] = entry;
			return;
		}
	}
	strv_add(env, entry);
}

static char **user_env(const struct passwd *pw)
{
	char **env = strv_dup(environ), *mail;

	mail = xasprintf("/var/mail/%s", pw->pw_name);
	env_set(&env, "HOME", pw->pw_dir);
	env_set(&env, "USER", pw->pw_name);
	env_set(&env, "LOGNAME", pw->pw_name);
	env_set(&env, "SHELL", *pw->pw_shell ? pw->pw_shell : "/bin/sh");
	env_set(&env, "MAIL", mail);
	free(mail);
	return env;
}

/* Root by sudo or the like: the person behind it. Root in person: nobody else. */
static int person_behind_root(struct identity *id, const struct notices *notices, struct err *e)
{
	const struct passwd *pw;
	struct caller c;
	int err = caller_find(&c, e);

	if (err || !c.uid)
		return err;
	pw = caller_account(&c);
	if (!c.gid_known) {
		caller_free(&c);
		return err_set(e, ENOENT, EXIT_FAILED, "cannot tell whom to run the command as: no user %u here", c.uid);
	}
	id->switch_ids = id->switch_groups = id->drop_caps = true;
	id->uid = c.uid;
	id->gid = c.gid;
	id->groups = c.groups;
	id->n_groups = c.n_groups;
	id->env = pw ? user_env(pw) : NULL;
	if (!pw && ACCOUNTS_ARE_FILES)
		notice(notices, NOTICE_NORMAL,
		       "note: user %u is not in /etc/passwd, and a static build looks nowhere else: the command runs without "
		       "the user's further groups and home",
		       c.uid);
	return 0;
}

static int identity_find(struct identity *id, bool as_root, const struct notices *notices, struct err *e)
{
	if (getuid() == 0)
		return as_root ? 0 : person_behind_root(id, notices, e);
	if (as_root)
		return err_set(e, EPERM, EXIT_NOT_PERMITTED, "only root can run the command as root");
	/*
	 * Whatever rights we have beyond the caller's come from our own file (set-user-ID or
	 * capabilities). The environment proves nothing then.
	 */
	id->switch_ids = geteuid() != getuid() || getegid() != getgid();
	id->drop_caps = true;
	id->uid = getuid();
	id->gid = getgid();
	return 0;
}

static void identity_free(struct identity *id)
{
	free(id->groups);
	strv_free(id->env);
}

static int caps_drop(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 }, now[2];

	/* EINVAL: before Linux 4.3 there is no ambient set */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) && errno != EINVAL)
		return -errno;
	if (syscall(SYS_capset, &head, none) || syscall(SYS_capget, &head, now))
		return -errno;
	return memcmp(now, none, sizeof(now)) ? -EPERM : 0;
}

/* True when the rights that were dropped are gone for good. */
static bool rights_gone(const struct identity *id)
{
	uid_t u[3];
	gid_t g[3];

	if (getresuid(&u[0], &u[1], &u[2]) || getresgid(&g[0], &g[1], &g[2]))
		return false;
	for (int i = 0; i < 3; i++) {
		if (u[i] != id->uid || g[i] != id->gid)
			return false;
	}
	if (id->uid && (setuid(0) == 0 || seteuid(0) == 0))
		return false;
	return !(id->gid && (setgid(0) == 0 || setegid(0) == 0));
}

/* In the child. 0, or a failure that is told. */
static int identity_take(const struct identity *id, struct failure *f)
{
	f->step = STEP_IDENTITY;
	if (id->switch_groups && setgroups((size_t)id->n_groups, id->groups))
		return f->code = errno;
	if (id->switch_ids && (setresgid(id->gid, id->gid, id->gid) || setresuid(id->uid, id->uid, id->uid)))
		return f->code = errno;
	if (id->drop_caps) {
		f->code = -caps_drop();
		if (f->code)
			return f->code;
	}
	if (id->switch_ids && !rights_gone(id)) {
		f->step = STEP_REGAIN;
		return f->code = EPERM;
	}
	if (id->env)
		environ = id->env;
	return 0;
}

bool command_in_path(const char *name, int mode)
{
	const char *path = getenv("PATH"), *end;
	char file[4096];
	struct stat st;

	for (; path; path = *end ? end + 1 : NULL) {
		int n = (int)((end = strchrnul(path, ':')) - path);

		if (snprintf(file, sizeof(file), "%.*s%s%s", n, path, n ? "/" : "", name) < (int)sizeof(file) &&
		    !access(file, mode) && !stat(file, &st) && S_ISREG(st.st_mode))
			return true;
	}
	return false;
}

/* In the child: execvp, and on return what a shell would say about it. */
static void run(char *const argv[], struct failure *f)
{
	struct stat st;

	execvp(argv[0], argv);
	f->step = STEP_EXEC;
	f->code = errno;
	if (strchr(argv[0], '/')) {
		if (f->code == ENOENT && stat(argv[0], &st) == 0)
			f->step = STEP_INTERPRETER;
	} else if (f->code == EACCES && !command_in_path(argv[0], F_OK)) {
		/* a folder in PATH that is closed to us (root's own) says EACCES for every name */
		f->code = ENOENT;
	}
}

/* In the child. 0, or a failure that is told. */
static int take_files(const struct command_io *io, struct failure *f)
{
	const int instead[] = { io->in, io->out, io->err };

	f->step = STEP_FILES;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (instead[fd] && dup2(instead[fd], fd) < 0)
			return f->code = errno;
	return 0;
}

/* In the child: off the terminal, on which a screen is drawn. 0, or a failure that is told. */
static int leave_terminal(int held, struct failure *f)
{
	int nothing;

	if (!held)
		return 0;
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (isatty(fd) && dup2(held, fd) < 0)
			return f->code = errno;
	if (!isatty(STDIN_FILENO))
		return 0;
	nothing = open("/dev/null", O_RDONLY);
	if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0)
		return f->code = errno;
	close(nothing);
	return 0;
}

/* What the child is to be. */
struct plan {
	struct identity id;
	char *const *argv;
	struct command_io io;
};

static void child(int gate, int report, const struct plan *plan) __attribute__((noreturn));

static void child(int gate, int report, const struct plan *plan)
{
	struct failure f = { 0 };
	ssize_t n;
	char go;

	restore_caller();
	do {
		n = read(gate, &go, 1);
	} while (n < 0 && errno == EINTR);
	/* the end of file: our parent gave up or is gone, and there is nobody to tell */
	if (n != 1)
		_exit(EXIT_FAILED);
	if (!take_files(&plan->io, &f) && !leave_terminal(plan->io.held, &f) && !identity_take(&plan->id, &f))
		run(plan->argv, &f);
	n = write(report, &f, sizeof(f));
	_exit(f.code == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int open_channels(int gate[2], int report[2], struct err *e)
{
	/* a socket and not a pipe: send() can do without SIGPIPE when the child is gone */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate))
		return err_set(e, errno, EXIT_FAILED, "cannot start the command: %s", strerror(errno));
	if (pipe2(report, O_CLOEXEC)) {
		int code = errno;

		close(gate[0]);
		close(gate[1]);
		return err_set(e, code, EXIT_FAILED, "cannot start the command: %s", strerror(code));
	}
	return 0;
}

/* fork() with every signal held back, so that none of our handlers runs in the child. */
static pid_t fork_quietly(int gate[2], int report[2], const struct plan *plan)
{
	sigset_t all, before;
	pid_t pid;
	int code;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0) {
		close(gate[1]);
		close(report[0]);
		child(gate[0], report[1], plan);
	}
	code = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = code;
	return pid;
}

int command_fork(struct command *c, char *const argv[], bool as_root, const struct command_io *io, struct err *e)
{
	struct plan plan = { .argv = argv, .io = *io };
	int gate[2], report[2], ret;
	pid_t pid;

	if (!argv || !argv[0])
		return err_set(e, EINVAL, EXIT_USAGE, "no command to run");
	ret = identity_find(&plan.id, as_root, io->notices, e);
	if (!ret)
		ret = open_channels(gate, report, e);
	if (ret)
		goto out;
	pid = fork_quietly(gate, report, &plan);
	if (pid < 0)
		ret = err_set(e, errno, EXIT_FAILED, "cannot start the command: %s", strerror(errno));
	close(gate[0]);
	close(report[1]);
	if (pid < 0) {
		close(gate[1]);
		close(report[0]);
		goto out;
	}
	*c = (struct command){
		.pid = pid,
		.pidfd = (int)syscall(SYS_pidfd_open, pid, 0),
		.go = gate[1],
		.failed = report[0],
		.name = argv[0],
	};
out:
	identity_free(&plan.id);
	return ret;
}

static int reap(pid_t pid, int *status)
{
	pid_t got;

	do {
		got = waitpid(pid, status, 0);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : 0;
}

static int failure_text(const struct failure *f, const char *name, struct err *e)
{
	switch (f->step) {
	case STEP_IDENTITY:
		return err_set(e, f->code, EXIT_CANNOT_RUN, "cannot run '%s' as the user who called: %s", name,
			       strerror(f->code));
	case STEP_REGAIN:
		return err_set(e, f->code, EXIT_CANNOT_RUN, "will not run '%s': it could take root's rights back", name);
	case STEP_FILES:
		return err_set(e, f->code, EXIT_CANNOT_RUN, "cannot run '%s': its input or output: %s", name,
			       strerror(f->code));
	case STEP_INTERPRETER:
		return err_set(e, f->code, EXIT_CANNOT_RUN, "cannot run '%s': its interpreter is not there", name);
	}
	if (f->code == ENOENT || f->code == ENOTDIR)
		return err_set(e, f->code, EXIT_NOT_FOUND, "cannot run '%s': not found", name);
	if (f->code == EACCES)
		return err_set(e, f->code, EXIT_CANNOT_RUN, "cannot run '%s': permission denied", name);
	return err_set(e, f->code, EXIT_CANNOT_RUN, "cannot run '%s': %s", name, strerror(f->code));
}

int command_release(struct command *c, struct err *e)
{
	struct failure f;
	ssize_t n;
	int status;

	/* a child that a signal ended at the gate is for command_wait() to tell */
	send(c->go, "g", 1, MSG_NOSIGNAL);
	close_fd(&c->go);
	do {
		n = read(c->failed, &f, sizeof(f));
	} while (n < 0 && errno == EINTR);
	close_fd(&c->failed);
	if (n != (ssize_t)sizeof(f))
		return 0;
	reap(c->pid, &status);
	close_fd(&c->pidfd);
	c->pid = 0;
	return failure_text(&f, c->name, e);
}

int command_wait(struct command *c, int *status)
{
	int raw, ret;

	ret = reap(c->pid, &raw);
	if (ret)
		return ret;
	*status = WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw);
	close_fd(&c->pidfd);
	c->pid = 0;
	return 0;
}

void command_abandon(struct command *c)
{
	int status;

	if (!c->pid)
		return;
	if (c->go >= 0) {
		close_fd(&c->go);
		kill(c->pid, SIGKILL);
		reap(c->pid, &status);
	}
	close_fd(&c->failed);
	close_fd(&c->pidfd);
	c->pid = 0;
}
