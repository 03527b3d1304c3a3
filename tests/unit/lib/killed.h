/* SPDX-License-Identifier: GPL-2.0-only */
/* killed.h - children that are ended by a signal. */
#ifndef KILLED_H
#define KILLED_H

#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The signal that ends a child that runs fn(arg) and then raises `sig` (0: none); 0 if it exits. */
static inline int killed_with(int sig, void (*fn)(int arg), int arg)
{
	const struct rlimit no_core = { 0 };
	int status = 0;
	sigset_t none;
	pid_t child = fork();

	if (!child) {
		setrlimit(RLIMIT_CORE, &no_core);
		signal(sig, SIG_DFL); /* our caller may ignore or block it */
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		fn(arg);
		raise(sig);
		_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

#endif
