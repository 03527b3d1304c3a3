/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flush_profile.h - a barrier card: what a flush costs on one disk, and whether it is believable. The seam between measuring
 * (workload barrier, flush_profile.c), judging (analyse/verdict/plausibility.c), comparing and rendering.
 *
 * Strings are raw, as in a report: a renderer escapes them. NULL means "not known". Everything is owned by the card.
 * Times are nanoseconds, sizes bytes.
 */
#ifndef BT_MODEL_FLUSH_PROFILE_H
#define BT_MODEL_FLUSH_PROFILE_H

#include "model/comparison.h"
#include "model/fields.h"
#include "util/err.h"
#include "model/report.h"

/* In the order of the public names, card_test_name(), and what their parameter means. */
enum card_test {
	CARD_DIRTY,   /* bytes written since the flush before; 0: nothing, 4096: the call's own write */
	CARD_FLUSH,   /* bytes: a write, then fdatasync */
	CARD_FUA,     /* bytes: a write with O_DSYNC */
	CARD_DEPTH,   /* how many threads write 4 KiB at random places meanwhile */
	CARD_BUSY,    /* bytes of the writes that one thread does meanwhile, in order */
	CARD_IDLE,    /* ns of rest before each */
	CARD_DISCARD, /* bytes freed and discarded before each */
	CARD_TESTS
};

/* Each call is a write of 4 KiB past the page cache and its sync. */
struct card_row {
	enum card_test test;
	uint64_t param; /* dirty, flush, fua, busy, discard: bytes; depth: writers; idle: ns */
	uint64_t bytes; /* written by the calls and just before each, or freed */
	uint64_t wall_ns;
	struct hist call;  /* the sync call, by the tracer: fdatasync, or the write itself */
	struct hist flush; /* of calls that waited for one: its time in the device (of pre, post and alone: the mean) */
	uint64_t unwaited; /* calls whose FLUSH was over before they had to wait: it took less than the call */
	uint64_t flushless;   /* calls without one */
	struct ledger ledger; /* of all calls */
	char *missing;	      /* why there is less than there should be */
};

/* A quantile of the FLUSH's time. False: it is less than *ns. At least one call had a FLUSH. */
bool card_row_flush(const struct card_row *r, double q, uint64_t *ns);

/* What kind of thing keeps the data, as far as the kernel tells. */
enum card_medium { CARD_MEDIUM_VIRTUAL, CARD_MEDIUM_ROTATING, CARD_MEDIUM_FLASH, CARD_MEDIA };

enum card_grade {
	CARD_BELIEVABLE, /* nothing speaks against it */
	CARD_DOUBTFUL,	 /* true only for a device that keeps its cache over a power cut */
	CARD_IMPOSSIBLE, /* no device of this kind can be so quick: it is not made durable by the flush */
	CARD_NO_FLUSH,	 /* the kernel sends none: it takes the disk for one without a volatile cache */
	CARD_UNKNOWN,	 /* too little was measured */
	CARD_GRADES
};

struct card {
	char *version, *kernel, *arch, *start;
	char *name, *model, *firmware, *write_cache, *scheduler; /* of the disk */
	bool have_fua, fua, have_rotational, rotational, bio_based;
	uint64_t size;
	char *fstype, *options;
	uint64_t data_bytes; /* the largest file that was written to */
	uint64_t discards;   /* that reached the disk */
	uint64_t lost;	     /* events: some calls may not be in the rows */
	struct card_row *row;
	size_t n_rows;

	/* believe() */
	enum card_medium medium;
	enum card_grade grade;
	char *sentence;
	char **reasons;
};

/* Of struct card, as its JSON has them. */
extern const struct field card_run_fields[], card_disk_fields[];

const char *card_test_name(enum card_test t);	  /* "dirty" */
const char *card_test_param(enum card_test t);	  /* what its parameter is called: "bytes" */
const char *card_grade_name(enum card_grade g);	  /* "believable" */
const char *card_medium_name(enum card_medium m); /* "rotating" */

/* NULL: the card has no such row, or it could not be measured. */
const struct card_row *card_row_of(const struct card *c, enum card_test t, uint64_t param);

void card_free(struct card *c);

/*
 * Reads a card that render_card_json() wrote; `path` is for messages. *is_card tells whether the file is JSON at all: if
 * not, nothing is said, -EINVAL is returned, and it may be a recording: also of a pipe nothing has been taken then. On
 * failure *c is empty.
 */
int card_read(int fd, const char *path, struct card *c, bool *is_card, struct err *e);

/* Two cards, row by row. */
struct card_difference {
	const struct card_row *side[SIDES];
	struct comparison_interval flush, call;
};

struct card_comparison {
	const struct card *card[SIDES]; /* borrowed */
	const char *file[SIDES];	/* borrowed; the caller's to fill in */
	char *sentence;
	char **settings;	     /* what is not the same about the disks: "firmware: 1.0 and 1.1" */
	struct card_difference *row; /* that both have */
	size_t n_rows;
};

void card_comparison_free(struct card_comparison *c);

#endif
