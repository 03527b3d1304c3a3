// SPDX-License-Identifier: GPL-2.0-only
#include "experiment/experiment_runner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyse/compare/experiment_runs.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/num.h"
#include "run/run.h"

struct lab {
	const struct lab_opts *o;
	struct outcome *out;
	sigset_t signals; /* all that would end us, and can wait */
	int nothing;	  /* /dev/null */
	int dir;	  /* on the file system that is measured; -1: there is none */
	size_t done, all; /* runs, the warm-up included */
	const struct variant *now;
	uint64_t *spent_ns, began_ns; /* by variant: all its runs, with what is around them; this run's start */
	unsigned int *ran;	      /* by variant */
	uint64_t said_s;
	int *status;
};

/* ---- whatever ends us: the settings go back ---- */

/* What cannot wait (a fault, an abort, memory that is out) leaves it to another process. */
static struct {
	volatile sig_atomic_t armed;
	struct state_claim claim;
} rescue = { .claim = STATE_CLAIM_NONE };

static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS };

/* Only what is safe in a handler. */
static void hand_over(void)
{
	static char *const argv[] = { "barriertrace", "experiment", "--restore", NULL };
	int status;
	pid_t pid;

	if (!rescue.armed)
		return;
	rescue.armed = 0;
	state_leave(&rescue.claim);
	pid = fork();
	if (!pid) {
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}

static void on_fault(int sig)
{
	hand_over();
	raise(sig); /* the default again (SA_RESETHAND) */
}

static void watch_faults(void)
{
	static char stack[64 << 10];
	static bool registered;
	const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction on = { .sa_handler = on_fault, .sa_flags = SA_RESETHAND | SA_NODEFER | SA_ONSTACK }, now;

	sigaltstack(&alternate, NULL);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (!sigaction(faults[i], NULL, &now) && now.sa_handler == SIG_DFL)
			sigaction(faults[i], &on, NULL);
	if (!registered)
		atexit(hand_over);
	registered = true;
	rescue.armed = 1;
}

/* Every signal that would end us and can wait, but for those of no matter to us. */
static void choose_signals(sigset_t *set)
{
	static const int others[] = { SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH, SIGPIPE, SIGXFSZ };

	sigfillset(set);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(set, faults[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		sigdelset(set, others[i]);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

static int stopped(struct lab *l, int sig, struct err *e)
{
	*l->status = 128 + sig;
	return err_set(e, EINTR, EXIT_FAILED, "stopped by signal %d (%s); the settings are as before", sig, strsignal(sig));
}

/* One that came between two runs. */
static int look_for_signal(struct lab *l, struct err *e)
{
	const struct timespec none = { 0 };
	int sig = sigtimedwait(&l->signals, NULL, &none);

	return sig > 0 ? stopped(l, sig, e) : 0;
}

/* ---- progress ---- */

/* What the runs that are to come will take, as those before did. */
static uint64_t time_left(const struct lab *l)
{
	uint64_t all = 0, ran = 0, left = 0, each, now = clock_ns() - l->began_ns;
	size_t n = l->o->plan->n;

	for (size_t i = 0; i < n; i++) {
		all += l->spent_ns[i];
		ran += l->ran[i];
	}
	if (!ran)
		return 0;
	for (size_t i = 0; i < n; i++) {
		/* the warm-up is one of the first variant's */
		unsigned int to_come = l->o->runs + (i ? 0 : 1) - l->ran[i];

		each = l->ran[i] ? l->spent_ns[i] / l->ran[i] : all / ran;
		left += to_come * each;
		if (&l->o->plan->variant[i] == l->now)
			left -= now < each ? now : each;
	}
	return left;
}

static void show_progress(void *ctx)
{
	struct lab *l = ctx;
	uint64_t second = clock_ns() / 1000000000, left;

	if (!l->o->progress || second == l->said_s)
		return;
	l->said_s = second;
	left = time_left(l) / 1000000000 * 1000000000;
	notice(&l->o->notices, NOTICE_PROGRESS, "run %zu of %zu, %s%s%s%s", l->done + 1, l->all,
	       l->done ? l->now->name : "to warm up", left ? "; about " : "", left ? num_duration(left, 0).s : "",
	       left ? " left" : "");
}

/* ---- one run ---- */

static void open_dir(struct lab *l)
{
	l->dir = l->o->dir ? open(l->o->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	/* an error from before our time that nobody has been told of yet is not ours */
	if (l->dir >= 0)
		syncfs(l->dir);
}

/*
 * What the run before left to be written is not to be the next one's. A disk that failed meanwhile is told here, to
 * who has had the folder open all the time: not every command heeds its errors, and those of a broken disk are fast.
 */
static int settle(const struct lab *l, struct err *e)
{
	if (l->dir < 0 || !syncfs(l->dir))
		return 0;
	return err_set(e, errno, EXIT_FAILED, "%s cannot be synced, with %zu of %zu runs done: %s: the experiment is over",
		       l->o->dir, l->done, l->all, strerror(errno));
}

static int failed(struct lab *l, const struct run_result *t, struct err *e)
{
	if (t->end.signal)
		return stopped(l, t->end.signal, e);
	if (!t->end.status)
		return 0;
	*l->status = t->end.status;
	return err_set(e, ECANCELED, EXIT_FAILED,
		       "'%s' ended with status %d in run %zu of %zu (%s): the experiment is over", l->o->command[0],
		       t->end.status, l->done + 1, l->all, l->done ? l->now->name : "to warm up");
}

static int one_run(struct lab *l, size_t v, struct run_result *t, struct err *e)
{
	const struct run_observer observer = { .tick = show_progress, .ctx = l };
	struct run_opts ro = {
		.command = l->o->command,
		.as_root = l->o->as_root,
		.io = { .in = l->nothing, .out = l->nothing },
		.signals = &l->signals,
		.notices = l->o->notices,
	};
	int err;

	*t = (struct run_result){ 0 };
	run_opts_default(&ro);
	l->now = &l->o->plan->variant[v];
	l->began_ns = clock_ns();
	show_progress(l);
	err = look_for_signal(l, e);
	if (!err)
		err = plan_apply(l->o->plan, l->now, e);
	if (!err)
		err = target_resolve(l->o->target, &ro.targets, e);
	if (!err)
		err = settle(l, e);
	if (err)
		return err;
	err = run_traced(&ro, &observer, t, e);
	notice(&l->o->notices, NOTICE_PROGRESS, "%s", "");
	if (err)
		*l->status = (int)e->status;
	else
		err = failed(l, t, e);
	l->spent_ns[v] += clock_ns() - l->began_ns;
	l->ran[v]++;
	l->done++;
	return err;
}

/* ---- all runs ---- */

static void take_facts(struct outcome *o, const struct report *r)
{
	o->version = xstrdup(r->version);
	o->kernel = xstrdup(r->kernel);
	o->arch = xstrdup(r->arch);
	o->start = xstrdup(r->start);
}

static void say_predictions(const struct notices *notices, const struct outcome *o)
{
	for (size_t i = 1; i < o->n; i++) {
		const struct outcome_prediction *p = &o->variant[i].prediction;

		if (p->have)
			notice(notices, NOTICE_NORMAL, "predicted from a run of %s: %s%s takes %s%s instead of %s",
			       o->variant[0].name, p->wall_ns ? "" : "a sync call with ", o->variant[i].name,
			       p->at_most && p->without ? "no less than " : "",
			       num_duration(p->wall_ns ? p->wall_ns : p->call_ns, 0).s,
			       num_duration(p->wall_ns ? p->base_ns : p->call_now_ns, 0).s);
	}
}

static int run_and_add(struct lab *l, size_t v, bool first, struct err *e)
{
	struct run_result t;
	int err = one_run(l, v, &t, e);

	if (!err) {
		trials_add(&l->out->variant[v], &t.report, t.end.wall_ns);
		if (first) {
			take_facts(l->out, &t.report);
			trials_predict(l->out, &t.report);
			say_predictions(&l->o->notices, l->out);
		}
	}
	run_result_free(&t);
	return err;
}

static int warm_up(struct lab *l, struct err *e)
{
	struct run_result t;
	int err = one_run(l, 0, &t, e);

	if (!err)
		trials_predict(l->out, &t.report);
	run_result_free(&t);
	return err;
}

static int all_runs(struct lab *l, struct err *e)
{
	size_t n = l->o->plan->n;
	int err;

	l->all = n * l->o->runs + 1;
	l->spent_ns = xcalloc(n, sizeof(*l->spent_ns));
	l->ran = xcalloc(n, sizeof(*l->ran));
	err = warm_up(l, e);
	for (unsigned int round = 0; round < l->o->runs && !err; round++)
		for (size_t i = 0; i < n && !err; i++)
			err = run_and_add(l, plan_turn(l->o->plan, round, i), !round && !i, e);
	if (!err)
		err = settle(l, e);
	notice(&l->o->notices, NOTICE_PROGRESS, "%s", "");
	free(l->spent_ns);
	free(l->ran);
	return err;
}

/* ---- putting back ---- */

/* Only what isn't as it should be: what was put back is nobody's business at the end of an experiment. */
static void tell_trouble(void *ctx, enum put_back how, const struct place *p, const char *text)
{
	char *name = p ? place_name(p) : NULL;

	if (how == PUT_GONE)
		notice(ctx, NOTICE_NORMAL, "%s is gone: nothing to put back there", name);
	else if (how == PUT_OTHER)
		notice(ctx, NOTICE_ERROR, "%s is left alone: another device has that name now", name);
	else if (how == PUT_FAILED)
		notice(ctx, NOTICE_ERROR, "%s", text);
	free(name);
}

static void tell_all(void *ctx, enum put_back how, const struct place *p, const char *text)
{
	char *name = p ? place_name(p) : NULL;

	if (how == PUT_BACK)
		notice(ctx, NOTICE_NORMAL, "%s is %s again", name, text);
	else if (how == PUT_SAME)
		notice(ctx, NOTICE_DETAIL, "%s is %s", name, text);
	else if (how == PUT_BUSY)
		notice(ctx, NOTICE_NORMAL, "%s/%s: that experiment still runs, and will put its settings back itself",
		       STATE_FOLDER, text);
	else if (how == PUT_DAMAGED)
		notice(ctx, NOTICE_ERROR, "%s/%s is damaged: see that the settings are what they should be, and remove it",
		       STATE_FOLDER, text);
	else
		tell_trouble(ctx, how, p, text);
	free(name);
}

static void finish(struct lab *l, const struct state *s)
{
	l->out->restored = !state_put_back(s, tell_trouble, (void *)&l->o->notices);
	rescue.armed = 0;
	if (l->out->restored) {
		state_release(&rescue.claim);
		return;
	}
	state_leave(&rescue.claim);
	notice(&l->o->notices, NOTICE_ERROR,
	       "not all could be put back; try again with: barriertrace experiment --restore");
}

int lab_run(const struct lab_opts *o, struct outcome *out, int *status, struct err *e)
{
	struct lab l = { .o = o, .out = out, .dir = -1, .status = status };
	struct state s = {
		.pid = getpid(),
		.disk = (struct state_disk *)o->disk,
		.n_disks = o->n_disks,
		.place = o->plan->place,
		.n = o->plan->n_places,
	};
	sigset_t before;
	int err;

	choose_signals(&l.signals);
	sigprocmask(SIG_BLOCK, &l.signals, &before);
	l.nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	err = l.nothing < 0 ? err_set(e, errno, EXIT_FAILED, "/dev/null: %s", strerror(errno)) :
			      state_claim(STATE_FOLDER, &s, &rescue.claim, e);
	if (!err) {
		open_dir(&l);
		watch_faults();
		err = all_runs(&l, e);
		finish(&l, &s);
	}
	if (!err)
		trials_conclude(out);
	if (l.nothing >= 0)
		close(l.nothing);
	if (l.dir >= 0)
		close(l.dir);
	/* one that comes now may end us: nothing is left to be put back */
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}

int lab_restore(const struct notices *notices, bool *bad, struct err *e)
{
	unsigned int found;
	int n = state_restore_all(STATE_FOLDER, tell_all, (void *)notices, &found, e);

	if (n < 0)
		return n;
	if (!found)
		notice(notices, NOTICE_NORMAL, "no experiment left anything to put back");
	*bad = n > 0;
	return 0;
}
