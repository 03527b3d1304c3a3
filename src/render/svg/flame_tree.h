/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flame_tree.h - the frames of the flame: the leaves' paths put together, each frame once below its parent.
 *
 *   all 10 ─┬─ python3 7 ── fsync 7 ─┬─ a.db 5 ── flush.pre 5 ── sda 5
 *           └─ sh 3 ── ...           └─ b.db 2 ── ...
 */
#ifndef BT_RENDER_SVG_FLAME_TREE_H
#define BT_RENDER_SVG_FLAME_TREE_H

#include "model/report.h"

struct flame_frame {
	char *name;		  /* raw bytes as in the path */
	uint32_t depth;		  /* 1: a command */
	uint64_t start_ns, ns;	  /* from the left edge; a frame holds all that stands below it */
	uint64_t own_ns;	  /* of ns, what belongs to no frame below: it ends here, and stands first */
	const struct tally *each; /* the contributions that own_ns is the sum of; NULL: none */
	bool caused;		  /* it is a cause, or stands below one */
	bool device;		  /* below the cause */
	enum cause cause;
	size_t smaller; /* 0, or: it stands for so many frames that are too narrow to be drawn */
};

struct flame_tree {
	struct flame_frame *frame; /* a parent stands before what is below it; siblings widest first */
	size_t n;
	uint64_t ns;	       /* of all leaves */
	struct tally **merged; /* of leaves with the same path */
	size_t n_merged;
};

/* Of siblings narrower than min_ns, if there are several, one frame is made. Borrows from the report. */
void flame_tree_make(struct flame_tree *t, const struct report_sync *s, uint64_t min_ns);
void flame_tree_free(struct flame_tree *t);

/* A part of a leaf: its contributions that lasted from `from` to `to` (both inclusive). */
struct flame_cell {
	uint64_t from, to;
	uint64_t count; /* exact */
	uint64_t ns;	/* apportioned: of a histogram's buckets only counts are known */
	bool exact;	/* ns is exact all the same */
};

/*
 * Cuts ns, the sum of h's values, into at most HEAT_ROWS cells, two to a power of two, shortest first; those that would
 * be narrower than min_ns are joined with a neighbour. Returns how many; they add up to ns and to h's count.
 */
size_t flame_cells(const struct hist *h, uint64_t ns, uint64_t min_ns, struct flame_cell cell[HEAT_ROWS]);

#endif
