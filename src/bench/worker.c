// SPDX-License-Identifier: GPL-2.0-only
/*
 * worker.c - a workload's own processes: a keeper that makes the folder, waits, and removes it again whatever comes
 * (an error, a signal, the end of the tool); and below it the worker.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"
#include "bench/workdir.h"

/* Standard output, if it is scores of this very build; it is /dev/null from then on. */
static struct scores *take_tally(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct scores *t = MAP_FAILED;
	struct stat st;

	if (null >= 0 && !fstat(STDOUT_FILENO, &st) && S_ISREG(st.st_mode) && st.st_size == sizeof(*t))
		t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_SHARED, STDOUT_FILENO, 0);
	if (t == MAP_FAILED || t->magic != SCORES_MAGIC || t->bytes != sizeof(*t))
		return NULL;
	return dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDIN_FILENO) < 0 ? NULL : t;
}

static _Noreturn void worker(struct work *w, const struct workload *what)
{
	sigset_t none;
	uint64_t began;
	int err;

	/* a group of its own: all of it ends when the keeper says so, and Ctrl-C is the keeper's to heed */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* a full disk is an error to be told */
	signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	began = clock_ns();
	w->until_ns = w->o->time_ns ? began + w->o->time_ns : 0;
	err = what->run(w);
	w->t->wall_ns = clock_ns() - began;
	_exit(err ? EXIT_FAILED : EXIT_OK);
}

/* Until the worker has ended, or we are asked to end: that signal, or 0. */
static int wait_for(pid_t pid, const sigset_t *heeded, int *status)
{
	for (;;) {
		int sig = sigwaitinfo(heeded, NULL);

		if (sig == SIGCHLD && waitpid(pid, status, WNOHANG) == pid)
			return 0;
		if (sig > 0 && sig != SIGCHLD)
			return sig;
	}
}

static int keep(struct work *w, const struct workload *what, const sigset_t *heeded)
{
	pid_t pid = fork();
	int status = 0, sig;

	if (!pid)
		worker(w, what);
	if (pid < 0)
		return work_fail(w, errno, "cannot start the workload");
	setpgid(pid, pid);
	sig = wait_for(pid, heeded, &status);
	/* nobody is to write there when the folder is removed: a program that the worker started is our child by now */
	kill(-pid, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	if (sig)
		return 128 + sig;
	if (status)
		work_fail(w, 0,
			  WIFSIGNALED(status) ? "the workload was ended by signal %d" : "the workload ended with status %d",
			  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return w->t->status;
}

/* Blocked before there is a folder. PDEATHSIG: the tool itself was killed. */
static void heed_signals(sigset_t *heeded)
{
	sigemptyset(heeded);
	sigaddset(heeded, SIGINT);
	sigaddset(heeded, SIGTERM);
	sigaddset(heeded, SIGHUP);
	sigaddset(heeded, SIGQUIT);
	sigaddset(heeded, SIGCHLD);
	sigprocmask(SIG_BLOCK, heeded, NULL);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int workload_main(void)
{
	struct scores *t = take_tally();
	struct work w = { .t = t, .dir = -1 };
	struct workload_opts opts;
	const struct workload *what;
	sigset_t heeded;
	char name[16];
	int status;

	if (!t)
		return EXIT_USAGE;
	opts = t->opts;
	w.o = &opts;
	what = workload_find(opts.workload);
	if (!what)
		return EXIT_USAGE;
	snprintf(name, sizeof(name), "bench-%s", what->name);
	prctl(PR_SET_NAME, name);
	heed_signals(&heeded);
	status = place_make(&w) ? t->status : keep(&w, what, &heeded);
	place_remove(&w);
	return status ? status : t->status;
}
