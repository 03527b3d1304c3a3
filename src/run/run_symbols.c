// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_symbols.c - reads where the kernel's functions are. That takes 50 ms of CPU time, so a thread of low priority does it while the run
 * starts. It is waited for before anything is counted, so that it takes no CPU time from the traced work.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analyse/analysis.h"
#include "run/run_internal.h"

#define LEAST_PRIORITY 19

static bool set_priority(id_t tid, int nice)
{
	return !setpriority(PRIO_PROCESS, tid, nice);
}

/* Only if it can be taken back: else a busy machine would let the reader wait for long. */
static void give_way(const struct symbol_reader *r)
{
	if (r->nice < LEAST_PRIORITY && set_priority(0, r->nice + 1) && set_priority(0, r->nice))
		set_priority(0, LEAST_PRIORITY);
}

static void *read_symbols(void *ctx)
{
	struct traced_run *run = ctx;
	struct symbol_reader *r = &run->reader;

	__atomic_store_n(&r->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	give_way(r);
	if (__atomic_load_n(&r->hurry, __ATOMIC_SEQ_CST))
		set_priority(0, r->nice);
	run->symbols = symbols_read(sync_symbol_names, &run->n_symbols);
	return NULL;
}

void run_symbols_read(struct traced_run *run)
{
	struct symbol_reader *r = &run->reader;
	sigset_t all, before;

	errno = 0;
	r->nice = getpriority(PRIO_PROCESS, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r->beside = !pthread_create(&r->thread, NULL, read_symbols, run);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!r->beside)
		run->symbols = symbols_read(sync_symbol_names, &run->n_symbols);
}

void run_symbols_wait(struct traced_run *run)
{
	struct symbol_reader *r = &run->reader;
	pid_t tid;

	if (!r->beside)
		return;
	__atomic_store_n(&r->hurry, true, __ATOMIC_SEQ_CST);
	tid = __atomic_load_n(&r->tid, __ATOMIC_SEQ_CST);
	if (tid)
		set_priority((id_t)tid, r->nice);
	pthread_join(r->thread, NULL);
	r->beside = false;
}
