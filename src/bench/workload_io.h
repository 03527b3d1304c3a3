/* SPDX-License-Identifier: GPL-2.0-only */
/* workload_io.h - what workloads share: their folder, their clock, rows of the scores. Private to them. */
#ifndef BT_BENCH_WORKLOAD_IO_H
#define BT_BENCH_WORKLOAD_IO_H

#include <sys/types.h>

#include "model/histogram.h"
#include "bench/workload.h"

#define MIB    (1ull << 20)
#define SECOND 1000000000ull

struct work {
	struct scores *t;
	const struct workload_opts *o;
	int dir;	   /* our folder; its files are opened from here */
	char path[4200];   /* its path */
	uint64_t until_ns; /* when the measuring is to be over */
};

/* Sets the error, with errno's text behind it if code is not 0, unless there is one already; returns -1. */
int work_fail(struct work *w, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* What is going on, for the progress; `total` in whatever `done` will count. */
void work_phase(struct work *w, const char *phase);

/* A row of the scores; the last one again when there are too many. */
struct scores_row *work_row(struct work *w, const char *name, const char *file);

/* Ends a row: its times. */
void work_row_times(struct scores_row *row, const struct hist *each);

/* Opens (or makes) a file of ours. -1: failed, and the error is set. */
int work_open(struct work *w, const char *name, int flags);

/*
 * Opens a file that is laid out: `size` bytes written (or, after `limit_ns`, fewer: see *size) and synced, so that
 * later writes change no metadata. -1: failed, and the error is set.
 */
int work_prepare(struct work *w, const char *name, uint64_t *size, uint64_t limit_ns);

/* fsync or fdatasync, counted. */
int work_sync(struct work *w, int fd, bool data_only, const char *name);

/* A buffer for O_DIRECT, filled with what doesn't compress. Never NULL. */
void *work_buffer(size_t bytes);

/* Writes all of it, or fails with -errno. */
int write_all(int fd, const void *data, size_t n, off_t at);

/*
 * Runs another program in our folder and waits for it. Its exit status, or 128+N; -1 when it can't be run, and the
 * error is set. What it wrote is kept in memory, so that it is told of a full or broken disk as well; both texts are
 * owned by the caller and never NULL.
 */
int work_program(struct work *w, char *const argv[], char **out, char **err);

#endif
