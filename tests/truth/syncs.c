// SPDX-License-Identifier: GPL-2.0-only
/*
 * syncs.c - makes sync calls of one kind, and says how many.
 *
 * usage: syncs [-o] [-p MS] CALL FILE N [BYTES]
 *
 * N times: write BYTES (4096) to FILE, then the call. -o: over and over in the same place, else one after the other.
 * -p: wait so long after each. CALL: fsync fdatasync dsync (a write with O_DSYNC) rwf (with RWF_DSYNC) msync syncfs sync
 * range (sync_file_range) uring aio aio2 (two at once), or none. Prints "CALL N".
 * "pieces" as CALL: makes FILE of N bytes, every other page of which is a hole.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int fd;
static size_t bytes = 4096;
static char *data;
static off_t at;

static void die(const char *what)
{
	fprintf(stderr, "syncs: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void put(void)
{
	if (pwrite(fd, data, bytes, at) != (ssize_t)bytes)
		die("pwrite");
}

static int by_fsync(void)
{
	put();
	return fsync(fd);
}

static int by_fdatasync(void)
{
	put();
	return fdatasync(fd);
}

static int by_dsync(void)
{
	put();
	return 0;
}

static int by_rwf(void)
{
	struct iovec v = { data, bytes };

	return pwritev2(fd, &v, 1, at, RWF_DSYNC) == (ssize_t)bytes ? 0 : -1;
}

static int by_msync(void)
{
	char *m;
	int err;

	if (ftruncate(fd, at + (off_t)bytes))
		return -1;
	m = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);
	if (m == MAP_FAILED)
		return -1;
	memcpy(m, data, bytes);
	err = msync(m, bytes, MS_SYNC);
	munmap(m, bytes);
	return err;
}

static int by_syncfs(void)
{
	put();
	return syncfs(fd);
}

static int by_sync(void)
{
	put();
	sync();
	return 0;
}

static int by_range(void)
{
	put();
	return sync_file_range(fd, at, (off_t)bytes,
			       SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
}

static int by_none(void)
{
	put();
	return 0;
}

/* ---- io_uring and AIO, without their libraries ---- */

static struct {
	int fd;
	struct io_uring_params p;
	char *sq, *cq;
	struct io_uring_sqe *sqe;
} ring;

static unsigned int *field(char *base, uint32_t offset)
{
	return (unsigned int *)(base + offset);
}

static void *map_ring(size_t size, off_t offset)
{
	void *m = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd, offset);

	if (m == MAP_FAILED)
		die("mmap of the ring");
	return m;
}

static void open_ring(void)
{
	ring.fd = (int)syscall(SYS_io_uring_setup, 4, &ring.p);
	if (ring.fd < 0)
		die("io_uring_setup");
	ring.sq = map_ring(ring.p.sq_off.array + ring.p.sq_entries * sizeof(unsigned int), IORING_OFF_SQ_RING);
	ring.cq = map_ring(ring.p.cq_off.cqes + ring.p.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
	ring.sqe = map_ring(ring.p.sq_entries * sizeof(*ring.sqe), IORING_OFF_SQES);
}

static int by_uring(void)
{
	unsigned int tail, head, mask;
	struct io_uring_cqe *cqe;

	if (!ring.sq)
		open_ring();
	put();
	mask = *field(ring.sq, ring.p.sq_off.ring_mask);
	tail = *field(ring.sq, ring.p.sq_off.tail);
	ring.sqe[tail & mask] = (struct io_uring_sqe){ .opcode = IORING_OP_FSYNC, .fd = fd };
	field(ring.sq, ring.p.sq_off.array)[tail & mask] = tail & mask;
	__atomic_store_n(field(ring.sq, ring.p.sq_off.tail), tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		return -1;
	head = *field(ring.cq, ring.p.cq_off.head);
	cqe = (struct io_uring_cqe *)(ring.cq + ring.p.cq_off.cqes) + (head & *field(ring.cq, ring.p.cq_off.ring_mask));
	errno = -cqe->res;
	__atomic_store_n(field(ring.cq, ring.p.cq_off.head), head + 1, __ATOMIC_RELEASE);
	return cqe->res;
}

/* So many at once, of one file. */
static int aio_fsyncs(long n)
{
	static aio_context_t ctx;
	struct iocb cb[2], *cbs[] = { &cb[0], &cb[1] };
	struct io_event event[2] = { 0 };

	if (!ctx && syscall(SYS_io_setup, 4, &ctx))
		return -1;
	for (int i = 0; i < 2; i++)
		cb[i] = (struct iocb){ .aio_lio_opcode = IOCB_CMD_FSYNC, .aio_fildes = (uint32_t)fd };
	put();
	if (syscall(SYS_io_submit, ctx, n, cbs) != n || syscall(SYS_io_getevents, ctx, n, n, event, NULL) != n)
		return -1;
	errno = (int)-(event[0].res ? event[0].res : event[1].res);
	return errno ? -1 : 0;
}

static int by_aio(void)
{
	return aio_fsyncs(1);
}

static int by_two_aio(void)
{
	return aio_fsyncs(2);
}

/* clang-format off */
static const struct way {
	const char *name;
	int (*call)(void);
	int open_flags;
} ways[] = {
	{ "fsync", by_fsync, 0 }, { "fdatasync", by_fdatasync, 0 }, { "dsync", by_dsync, O_DSYNC },
	{ "rwf", by_rwf, 0 }, { "msync", by_msync, 0 }, { "syncfs", by_syncfs, 0 }, { "sync", by_sync, 0 },
	{ "range", by_range, 0 }, { "uring", by_uring, 0 }, { "aio", by_aio, 0 }, { "aio2", by_two_aio, 0 },
	{ "none", by_none, 0 },
};
/* clang-format on */

static const struct way *find(const char *name)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(ways[i].name, name))
			return &ways[i];
	errno = EINVAL;
	die(name);
	return NULL;
}

/* A file of many pieces takes long to cut off: so long a transaction is open. */
static void make_pieces(const char *path, off_t size)
{
	int file = open(path, O_RDWR | O_CREAT, 0600);

	if (file < 0 || fallocate(file, 0, 0, size))
		die(path);
	for (off_t o = 0; o < size; o += 8192)
		if (fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, o, 4096))
			die(path);
	close(file);
}

int main(int argc, char **argv)
{
	bool over = false;
	long n, pause_ms = 0;
	const struct way *w;
	int opt;

	while ((opt = getopt(argc, argv, "op:")) > 0) {
		if (opt == 'o')
			over = true;
		else if (opt == 'p')
			pause_ms = atol(optarg);
		else
			return 2;
	}
	if (argc - optind < 3)
		return 2;
	n = atol(argv[optind + 2]);
	if (!strcmp(argv[optind], "pieces")) {
		make_pieces(argv[optind + 1], n);
		return 0;
	}
	w = find(argv[optind]);
	if (argc - optind > 3)
		bytes = (size_t)atol(argv[optind + 3]);
	data = malloc(bytes);
	memset(data, 'x', bytes);
	fd = open(argv[optind + 1], O_RDWR | O_CREAT | w->open_flags, 0600);
	if (fd < 0)
		die(argv[optind + 1]);
	for (long i = 0; i < n; i++) {
		if (w->call())
			die(w->name);
		at += over ? 0 : (off_t)bytes;
		if (pause_ms)
			nanosleep(&(struct timespec){ pause_ms / 1000, pause_ms % 1000 * 1000000 }, NULL);
	}
	printf("%s %ld\n", w->name, n);
	return 0;
}
