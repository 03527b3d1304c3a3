/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * restore_file.h - what has to be put back, on disk before anything is changed: a file for each experiment, in a folder that
 * is root's alone. The experiment holds a lock on it; a file without one is that of an experiment that was killed.
 *
 *	{ "version": 1, "pid": 4711, "disks": [{ "major": 7, "minor": 0, "name": "loop0" }], "settings": [{ "key": "scheduler",
 *	  "unit": "loop0", "before": "none", "major": 7, "minor": 0, "diskseq": 5383 }] }
 */
#ifndef BT_EXPERIMENT_RESTORE_FILE_H
#define BT_EXPERIMENT_RESTORE_FILE_H

#include "util/buf.h"
#include "experiment/tunable.h"

#define STATE_FOLDER "/run/barriertrace"

struct state_disk {
	unsigned int major, minor;
	char name[32];
};

struct state {
	int pid;
	struct state_disk *disk; /* on which no other experiment may be */
	size_t n_disks;
	struct place *place;
	size_t n;
};

void state_free(struct state *s); /* zeroes it */

void state_encode(const struct state *s, struct buf *out);

/* -EBADMSG and *e when it is damaged or names what is no place; *out is unchanged then. */
int state_decode(const char *text, size_t len, struct state *out, struct err *e);

struct state_claim {
	int folder, fd; /* -1: none */
	char name[40];
};

#define STATE_CLAIM_NONE \
	{ \
		.folder = -1, .fd = -1 \
	}

/*
 * Writes the file, synced, and holds it. Refuses when another one has one of the disks, or settings of CPUs where we
 * have some, with what can be done about it. `folder` is made if it isn't there.
 */
int state_claim(const char *folder, const struct state *s, struct state_claim *claim, struct err *e);

/* The settings are back: removes the file. */
void state_release(struct state_claim *claim);

/* Lets go of it and leaves the file for --restore. Safe in a signal's handler. */
void state_leave(struct state_claim *claim);

/* What became of one setting, or of a whole file. */
enum put_back { PUT_BACK, PUT_SAME, PUT_GONE, PUT_OTHER, PUT_FAILED, PUT_BUSY, PUT_DAMAGED };

/* `p` is NULL for a whole file; `text` is what was wrong, or what was set before; both are borrowed. */
typedef void put_back_fn(void *ctx, enum put_back how, const struct place *p, const char *text);

/* Puts all of them back, the first one first. How many could not be. */
unsigned int state_put_back(const struct state *s, put_back_fn *told, void *ctx);

/*
 * Puts back what every abandoned file in the folder says, and removes those that are done. How many settings and files
 * could not be; -errno and *e when the folder can't be looked into. *found is how many files there were.
 */
int state_restore_all(const char *folder, put_back_fn *told, void *ctx, unsigned int *found, struct err *e);

#endif
