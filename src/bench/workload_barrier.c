// SPDX-License-Identifier: GPL-2.0-only
/*
 * workload_barrier.c - the figures of a barrier card. Each test has a small file of its own, in which 4 KiB are written past
 * the page cache and synced, over and over; what else goes on meanwhile, or went on just before, is what differs.
 * The files are laid out beforehand: such a sync changes no metadata and is one flush.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "model/flush_profile.h"
#include "util/clock.h"
#include "util/mem.h"
#include "bench/workload_list.h"

#define BLOCK	     4096u
#define MOST_CALLS   1000u /* of a test */
#define SMALL_BYTES  (16 * BLOCK)
#define HOLE	     (4 * MIB)
#define MOST_EXTENTS 8u
#define MOST_WRITERS 32u
#define PAUSE_NS     500000000l

struct bench {
	struct work *w;
	int data;	   /* the large file */
	uint64_t size, at; /* its size; where the next large write goes */
	uint64_t rate;	   /* bytes per second when it was laid out */
	void *block, *large;
	uint64_t end_ns;
};

/* One test: its row, its file, what its calls took. */
struct test {
	struct bench *b;
	struct scores_row *row;
	int fd;
	struct hist each;
	uint64_t began_ns, end_ns;
};

uint64_t barrier_need(const struct workload_opts *o)
{
	return o->size + 4 * MIB;
}

/* ---- tests ---- */

static int test_open(struct test *t, struct bench *b, const char *name, enum card_test kind, uint64_t param, int flags)
{
	uint64_t size = SMALL_BYTES;
	char file[40];
	int fd;

	memset(t, 0, sizeof(*t));
	snprintf(file, sizeof(file), "%s-%llu", name, (unsigned long long)param);
	t->b = b;
	t->row = work_row(b->w, name, file);
	t->row->kind = kind;
	t->row->param = param;
	t->row->syncs = 1; /* the preparation's fsync, on the same file; it is none of the test's calls */
	fd = work_prepare(b->w, file, &size, SECOND);
	if (fd < 0)
		return -1;
	close(fd);
	t->fd = work_open(b->w, file, O_RDWR | O_DIRECT | flags);
	work_phase(b->w, file);
	return t->fd < 0 ? -1 : 0;
}

static void test_close(struct test *t)
{
	t->row->wall_ns = clock_ns() - t->began_ns;
	work_row_times(t->row, &t->each);
	close(t->fd);
}

static void test_begin(struct test *t, uint64_t share_ns)
{
	t->began_ns = clock_ns();
	t->end_ns = t->began_ns + share_ns;
}

/* At least one call; the progress moves on. */
static bool test_goes_on(const struct test *t)
{
	struct scores *all = t->b->w->t;
	uint64_t now = clock_ns();

	if (now + all->total > t->b->end_ns && now < t->b->end_ns)
		all->done = all->total - (t->b->end_ns - now);
	return !t->row->ops || (now < t->end_ns && t->row->ops < MOST_CALLS);
}

/* A write and, unless the file was opened with O_DSYNC, an fdatasync. */
static int call(struct test *t, bool with_write, bool with_sync)
{
	struct work *w = t->b->w;
	uint64_t before = clock_ns();
	off_t at = (off_t)(t->row->ops % (SMALL_BYTES / BLOCK) * BLOCK);
	int err = with_write ? write_all(t->fd, t->b->block, BLOCK, at) : 0;

	if (err)
		return work_fail(w, -err, "write %s/%s", w->path, t->row->file);
	if (with_sync && work_sync(w, t->fd, true, t->row->file))
		return -1;
	if (!with_sync)
		w->t->syncs++;
	hist_add(&t->each, clock_ns() - before);
	t->row->ops++;
	t->row->syncs++;
	return 0;
}

/* Past the page cache, into the drive's: so much is there to be flushed, unless the drive writes it out at once. */
static int fill_cache(struct bench *b, uint64_t bytes)
{
	while (bytes) {
		size_t n = bytes < MIB ? (size_t)bytes : MIB;
		int err;

		if (b->at + n > b->size)
			b->at = 0;
		err = write_all(b->data, b->large, n, (off_t)b->at);
		if (err)
			return work_fail(b->w, -err, "write %s/data", b->w->path);
		b->at += n;
		bytes -= n;
	}
	return 0;
}

/* ---- flush against dirty data ---- */

static const uint64_t dirty_steps[] = { 0, BLOCK, 65536, MIB, 16 * MIB, 64 * MIB, 256 * MIB, 1024 * MIB };

#define N_DIRTY (sizeof(dirty_steps) / sizeof(dirty_steps[0]))

static int dirty(struct bench *b, uint64_t bytes, uint64_t share_ns)
{
	uint64_t more = bytes > BLOCK ? bytes - BLOCK : 0;
	struct test t;
	int err = test_open(&t, b, "dirty", CARD_DIRTY, bytes, 0);

	if (err)
		return err;
	if (b->rate && clock_ns() + more * SECOND / b->rate > b->end_ns) {
		snprintf(t.row->missing, sizeof(t.row->missing), "no time for it: see --time");
		close(t.fd);
		return 0;
	}
	test_begin(&t, share_ns);
	while (!err && test_goes_on(&t)) {
		err = fill_cache(b, more);
		t.row->bytes += bytes;
		if (!err)
			err = call(&t, bytes > 0, true);
	}
	test_close(&t);
	return err;
}

static int dirty_all(struct bench *b, uint64_t share_ns)
{
	int err = 0;

	for (size_t i = 0; i < N_DIRTY && dirty_steps[i] <= b->size && !err; i++)
		err = dirty(b, dirty_steps[i], share_ns / N_DIRTY);
	return err;
}

/* ---- others write meanwhile ---- */

struct writers {
	struct bench *b;
	size_t bytes; /* of a write */
	bool in_order;
	bool stop;
	int err;
	unsigned int n;
	pthread_t thread[MOST_WRITERS];
};

static void *write_on(void *arg)
{
	struct writers *all = arg;
	uint64_t places = all->b->size / all->bytes, place = 0;
	unsigned int seed = (unsigned int)(uintptr_t)&places;
	int err = 0;

	while (!__atomic_load_n(&all->stop, __ATOMIC_RELAXED) && !err) {
		place = (all->in_order ? place + 1 : (uint64_t)rand_r(&seed)) % places;
		err = write_all(all->b->data, all->b->large, all->bytes, (off_t)(place * all->bytes));
	}
	if (err)
		__atomic_store_n(&all->err, err, __ATOMIC_RELAXED);
	return NULL;
}

static int writers_start(struct writers *all, unsigned int n)
{
	int err = 0;

	while (all->n < n && !err) {
		err = pthread_create(&all->thread[all->n], NULL, write_on, all);
		all->n += !err;
	}
	return err ? work_fail(all->b->w, err, "cannot start a thread") : 0;
}

static int writers_stop(struct writers *all)
{
	__atomic_store_n(&all->stop, true, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < all->n; i++)
		pthread_join(all->thread[i], NULL);
	return all->err ? work_fail(all->b->w, -all->err, "write %s/data", all->b->w->path) : 0;
}

static int beside(struct bench *b, struct test *t, struct writers *others, unsigned int n, uint64_t share_ns)
{
	int err = writers_start(others, n), stopped;

	test_begin(t, share_ns);
	while (!err && !__atomic_load_n(&others->err, __ATOMIC_RELAXED) && test_goes_on(t))
		err = call(t, true, true);
	stopped = writers_stop(others);
	test_close(t);
	(void)b;
	return err ? err : stopped;
}

static int depth(struct bench *b, unsigned int n, uint64_t share_ns)
{
	struct writers others = { .b = b, .bytes = BLOCK };
	struct test t;

	if (test_open(&t, b, "depth", CARD_DEPTH, n, 0))
		return -1;
	return beside(b, &t, &others, n, share_ns);
}

static int depth_all(struct bench *b, uint64_t share_ns)
{
	static const unsigned int steps[] = { 1, 4, 16, MOST_WRITERS };
	int err = 0;

	for (size_t i = 0; i < 4 && !err; i++)
		err = depth(b, steps[i], share_ns / 4);
	return err;
}

static int busy(struct bench *b, uint64_t share_ns)
{
	struct writers others = { .b = b, .bytes = MIB, .in_order = true };
	struct test t;

	if (test_open(&t, b, "busy", CARD_BUSY, MIB, 0))
		return -1;
	return beside(b, &t, &others, 1, share_ns);
}

/* ---- the drive has rested ---- */

static int idle(struct bench *b, uint64_t share_ns)
{
	struct timespec pause = { .tv_nsec = PAUSE_NS };
	struct test t;
	int err = test_open(&t, b, "idle", CARD_IDLE, PAUSE_NS, 0);

	if (err)
		return err;
	test_begin(&t, share_ns);
	while (!err && test_goes_on(&t)) {
		nanosleep(&pause, NULL);
		err = call(&t, true, true);
	}
	test_close(&t);
	return err;
}

/* ---- two ways to write 4 KiB durably, in turn ---- */

static int fua(struct bench *b, uint64_t share_ns)
{
	struct test by_write, by_flush;
	int err;

	if (test_open(&by_flush, b, "flush", CARD_FLUSH, BLOCK, 0))
		return -1;
	if (test_open(&by_write, b, "fua", CARD_FUA, BLOCK, O_DSYNC)) {
		close(by_flush.fd);
		return -1;
	}
	test_begin(&by_flush, share_ns);
	test_begin(&by_write, share_ns);
	do {
		err = call(&by_flush, true, true);
		if (!err)
			err = call(&by_write, true, false);
	} while (!err && test_goes_on(&by_write));
	test_close(&by_flush);
	test_close(&by_write);
	return err;
}

/* ---- discard ---- */

/* Trims the blocks that lay there, and no others. 0: done; else errno. */
static int trim(struct bench *b, const struct fiemap_extent *x)
{
	struct fstrim_range range = { .start = x->fe_physical, .len = x->fe_length };

	return ioctl(b->w->dir, FITRIM, &range) ? errno : 0;
}

/* The blocks that this part of the file has, as far as the file system tells; the caller's. NULL: it doesn't. */
static struct fiemap *blocks_of(int fd, uint64_t at)
{
	struct fiemap *map = xcalloc(1, sizeof(*map) + MOST_EXTENTS * sizeof(map->fm_extents[0]));

	map->fm_start = at;
	map->fm_length = HOLE;
	map->fm_extent_count = MOST_EXTENTS;
	if (!ioctl(fd, FS_IOC_FIEMAP, map))
		return map;
	free(map);
	return NULL;
}

/* Only what lay in this part alone. */
static int trim_all(struct bench *b, const struct fiemap *map, uint64_t at)
{
	int err = 0;

	for (unsigned int i = 0; i < map->fm_mapped_extents && !err; i++) {
		const struct fiemap_extent *x = &map->fm_extents[i];

		if (x->fe_logical >= at && x->fe_logical + x->fe_length <= at + HOLE)
			err = trim(b, x);
	}
	return err;
}

/* Frees a piece of the data; where the file system doesn't discard that itself, it is asked to. */
static int discard_piece(struct bench *b, uint64_t at, int *trimmed)
{
	struct fiemap *map = blocks_of(b->data, at);
	int err = 0;

	if (fallocate(b->data, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, HOLE))
		err = work_fail(b->w, errno, "free a part of %s/data", b->w->path);
	if (!err)
		err = work_sync(b->w, b->data, false, "data");
	if (!err && map && !*trimmed)
		*trimmed = trim_all(b, map, at);
	free(map);
	return err;
}

static int discard(struct bench *b, uint64_t share_ns)
{
	struct test t;
	uint64_t at = 0;
	int err = test_open(&t, b, "discard", CARD_DISCARD, HOLE, 0), trimmed = 0;

	if (err)
		return err;
	test_begin(&t, share_ns);
	while (!err && at + HOLE <= b->size && test_goes_on(&t)) {
		err = discard_piece(b, at, &trimmed);
		at += HOLE;
		t.row->bytes += HOLE;
		if (!err)
			err = call(&t, true, true);
	}
	test_close(&t);
	if (!err && trimmed)
		snprintf(t.row->missing, sizeof(t.row->missing), "FITRIM: %s", strerror(trimmed));
	return err;
}

/* ---- the card ---- */

static const struct part {
	int (*run)(struct bench *b, uint64_t share_ns);
	unsigned int share; /* of the time, in percent */
} parts[] = { { dirty_all, 40 }, { fua, 15 }, { depth_all, 20 }, { busy, 10 }, { idle, 15 } };

static int lay_out(struct bench *b)
{
	struct work *w = b->w;
	uint64_t began = clock_ns(), took;
	int fd;

	work_phase(w, "laying out");
	b->size = w->o->size;
	fd = work_prepare(w, "data", &b->size, w->o->time_ns / 3);
	if (fd < 0)
		return -1;
	close(fd);
	took = clock_ns() - began;
	b->rate = (uint64_t)((double)b->size * (double)SECOND / (double)(took ? took : 1));
	w->t->prepared = b->size;
	b->data = work_open(w, "data", O_RDWR | O_DIRECT);
	return b->data < 0 ? -1 : 0;
}

int barrier_run(struct work *w)
{
	struct bench b = { .w = w, .data = -1, .block = work_buffer(BLOCK), .large = work_buffer(MIB) };
	uint64_t time = w->o->time_ns;
	int err = lay_out(&b);

	b.end_ns = clock_ns() + time;
	w->t->total = time;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !err; i++)
		err = parts[i].run(&b, time / 100 * parts[i].share);
	if (!err && w->o->discard)
		err = discard(&b, time / 10);
	if (b.data >= 0)
		close(b.data);
	free(b.block);
	free(b.large);
	return err;
}
