// SPDX-License-Identifier: GPL-2.0-only
#include "util/tmpfiles.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define MOST 64 /* more stay behind */

/* A handler may come at any time: no memory that could be given back, and a name is there before `used` says so. */
static struct {
	volatile sig_atomic_t used;
	int dir;
	char name[NAME_MAX + 1];
} files[MOST];

static volatile pid_t owner; /* a child has our handler until it runs another program */

void tmpfiles_remove(void)
{
	for (int i = MOST; i-- > 0 && getpid() == owner;)
		if (files[i].used && unlinkat(files[i].dir, files[i].name, 0))
			unlinkat(files[i].dir, files[i].name, AT_REMOVEDIR);
}

static void on_deadly(int sig)
{
	tmpfiles_remove();
	raise(sig); /* the default again (SA_RESETHAND), once we return */
}

/* Those that are sent to end a process, or come of a place that cannot be written to. */
static const int deadly[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2 };
static sigset_t before_hold;

void tmpfiles_hold(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
		sigaddset(&set, deadly[i]);
	pthread_sigmask(SIG_BLOCK, &set, &before_hold);
}

void tmpfiles_release(void)
{
	pthread_sigmask(SIG_SETMASK, &before_hold, NULL);
}

/* Not those that our caller ignores. */
static void catch_deadly(void)
{
	struct sigaction now, on = { .sa_handler = on_deadly, .sa_flags = SA_RESETHAND };

	owner = getpid();
	for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
		if (!sigaction(deadly[i], NULL, &now) && now.sa_handler == SIG_DFL)
			sigaction(deadly[i], &on, NULL);
}

void tmpfiles_note(int dir, const char *name)
{
	size_t len = strlen(name);

	if (!owner)
		catch_deadly();
	for (int i = 0; i < MOST && len <= NAME_MAX; i++) {
		if (files[i].used)
			continue;
		memcpy(files[i].name, name, len + 1);
		files[i].dir = dir;
		files[i].used = 1;
		return;
	}
}

void tmpfiles_forget(int dir, const char *name)
{
	for (int i = 0; i < MOST; i++)
		if (files[i].used && files[i].dir == dir && !strcmp(files[i].name, name))
			files[i].used = 0;
}
