/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live_screen.h - the terminal of the live screen: taken, drawn on, listened to, and given back whatever happens. What is drawn
 * is render/tui/screen.h's.
 */
#ifndef BT_CMD_LIVE_SCREEN_H
#define BT_CMD_LIVE_SCREEN_H

#include <signal.h>
#include <stdbool.h>

#include "util/err.h"
#include "model/report.h"

struct live;

/* Standard input and output are a terminal that a screen can be drawn on. */
bool live_possible(void);

/* Gets ready; the terminal is left alone until live_open(). */
int live_new(bool ascii, struct live **out, struct err *e);

/*
 * Gets what must not reach the terminal while the screen stands there, for descriptors of a traced command;
 * live_close() writes it to the terminal. Our own standard error goes there too, when it is a terminal.
 */
int live_held_fd(const struct live *l);

/* Takes the terminal. Signals of `handled` are the caller's: it gets them through a signalfd. */
int live_open(struct live *l, const sigset_t *handled, struct err *e);

/* The reports to show from now on; takes what they own. A report that is NULL stays as it is. */
void live_show(struct live *l, struct report *interval, struct report *run);

enum live_wish { LIVE_NOTHING, LIVE_QUIT, LIVE_GONE }; /* gone: the terminal is no more */

int live_fd(const struct live *l); /* readable: call live_keys(); -1: nothing to wait for */
enum live_wish live_keys(struct live *l);

/* For SIGWINCH, SIGTSTP and SIGCONT, with all of them blocked. live_suspend() returns when the process is continued. */
void live_resize(struct live *l);
void live_suspend(struct live *l);
void live_continue(struct live *l);

/* The end was asked for and is waited for. */
void live_stopping(struct live *l);

/* To be called now and then: what is held must not fill the memory, the oldest goes, and live_close() says how much. */
void live_trim(struct live *l);

/* Gives the terminal back, as it was, and writes out what was held. Does nothing the second time. */
void live_close(struct live *l);

/* After live_close(): writes out what has been held since. */
void live_release(struct live *l);

void live_free(struct live *l); /* closes too; NULL is fine */

#endif
