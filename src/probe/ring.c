// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel counts every mapped page of the buffer as resident, twice where it is mapped as libbpf does it: so only what is
 * to be read is mapped, and nothing while nothing waits. To map a page costs 0.3 us, and as much as 20 pages each time.
 */
#include "probe/ring.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/mem.h"

#define WINDOW \
	(8ul << 20) /* bytes that are mapped at once at most: twice what usually waits, and more than a record, whose length has 16 bits */
#define STEP \
	(64ul << 10) /* bytes read until those who write are told: with each record, that would cost them and us a cache miss */
#define FILLS 8 /* a part of so many is much: of the usual size it is what we are woken at */
#define NEVER UINT64_MAX

struct ring {
	int map_fd, epoll_fd;
	size_t page, size;	 /* of the data, a power of two: they lie in the map twice, one behind the other */
	unsigned long *consumer; /* read up to here; counts on for ever, as the next */
	const unsigned long *producer;
	const char *window;	/* NULL: none is mapped */
	unsigned long from, to; /* of the window: positions as the two above, at the beginnings of pages */
	uint64_t earliest[WINDOW / STEP + 2]; /* by step: when the first of the calls began whose records are in it, or behind it */
	struct ring_reader reader;
};

/* ---- the window ---- */

static void unmap_window(struct ring *r)
{
	if (r->window)
		munmap((void *)r->window, r->to - r->from);
	r->window = NULL;
}

/* From the page of `pos` on, as far as there is something to be read. */
static bool map_window(struct ring *r, unsigned long pos, unsigned long end)
{
	unsigned long from = pos & ~(r->page - 1), off = from & (r->size - 1);
	unsigned long to = (end + r->page - 1) & ~(r->page - 1);
	void *p;

	unmap_window(r);
	r->from = from;
	r->to = to - from < WINDOW ? to : from + WINDOW;
	p = mmap(NULL, r->to - r->from, PROT_READ, MAP_SHARED, r->map_fd, (off_t)(2 * r->page + off));
	r->window = p == MAP_FAILED ? NULL : p;
	return r->window;
}

/* ---- reading ---- */

struct place {
	const struct wire_head *record; /* NULL: it was given up */
	unsigned long next;
};

/* What stands at `pos`; false: it is still being written, or not all of it is in the window. */
static bool look_at(const struct ring *r, unsigned long pos, struct place *p)
{
	const char *at = r->window + (pos - r->from);
	uint32_t len = __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
	size_t size = len & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
	const struct wire_head *head = (const void *)(at + BPF_RINGBUF_HDR_SZ);

	p->next = pos + (BPF_RINGBUF_HDR_SZ + size + 7) / 8 * 8;
	if (len & BPF_RINGBUF_BUSY_BIT || p->next > r->to)
		return false;
	p->record = !(len & BPF_RINGBUF_DISCARD_BIT) && size >= sizeof(*head) && head->size <= size ? head : NULL;
	return true;
}

static uint64_t call_began(const struct wire_head *record)
{
	return record && record->kind == WIRE_SYNC && record->size >= sizeof(struct wire_sync) ?
		       ((const struct wire_sync *)record)->enter :
		       NEVER;
}

/* How far the window's records can be read, and which calls are still to come at each step. */
static unsigned long survey(struct ring *r, unsigned long begin, unsigned long end)
{
	unsigned long pos = begin;
	struct place p;
	size_t i;

	memset(r->earliest, 0xff, sizeof(r->earliest));
	for (; pos < end && look_at(r, pos, &p); pos = p.next) {
		uint64_t *earliest = &r->earliest[(pos - begin) / STEP], began = call_began(p.record);

		if (began < *earliest)
			*earliest = began;
	}
	for (i = (pos - begin) / STEP; i-- > 0;)
		if (r->earliest[i + 1] < r->earliest[i])
			r->earliest[i] = r->earliest[i + 1];
	return pos;
}

/* `all`: behind `to` there are only records that were sent later than this reading began. */
static void read_to(struct ring *r, unsigned long begin, unsigned long to, bool all)
{
	const struct ring_reader *reader = &r->reader;
	unsigned long pos = begin, step = 0;
	struct place p;

	for (; pos < to && look_at(r, pos, &p); pos = p.next) {
		if ((pos - begin) / STEP > step) {
			step = (pos - begin) / STEP;
			__atomic_store_n(r->consumer, pos, __ATOMIC_RELEASE);
			if (all)
				reader->to_come(reader->ctx, r->earliest[step]);
		}
		if (p.record)
			reader->each(reader->ctx, p.record);
	}
	__atomic_store_n(r->consumer, pos, __ATOMIC_RELEASE);
	if (all)
		reader->to_come(reader->ctx, NEVER);
}

bool ring_fills(const struct ring *r)
{
	return __atomic_load_n(r->producer, __ATOMIC_ACQUIRE) - *r->consumer >= r->size / FILLS;
}

static void forget_wakeups(struct ring *r)
{
	struct epoll_event e;

	epoll_wait(r->epoll_fd, &e, 1, 0);
}

void ring_drain(struct ring *r)
{
	unsigned long begin = *r->consumer, pos = begin, end = __atomic_load_n(r->producer, __ATOMIC_ACQUIRE), to;

	for (; pos < end && map_window(r, pos, end); pos = to) {
		to = survey(r, pos, end);
		if (to == pos)
			break;
		read_to(r, pos, to, to == end);
	}
	unmap_window(r);
	/* what has come since is little, and at the next wake-up it is counted again; of much none may come. Stuck, it waits for the next tick */
	if (pos == begin || !ring_fills(r))
		forget_wakeups(r);
}

/* ---- all ---- */

/* Asked itself, the map is readable as soon as it holds anything; through epoll and at the edge, when the kernel side has woken us. */
static int open_epoll(struct ring *r)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };

	r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return r->epoll_fd < 0 || epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, r->map_fd, &e) ? -1 : 0;
}

static int map_positions(struct ring *r)
{
	void *consumer = mmap(NULL, r->page, PROT_READ | PROT_WRITE, MAP_SHARED, r->map_fd, 0);
	void *producer = mmap(NULL, r->page, PROT_READ, MAP_SHARED, r->map_fd, (off_t)r->page);

	r->consumer = consumer == MAP_FAILED ? NULL : consumer;
	r->producer = producer == MAP_FAILED ? NULL : producer;
	return r->consumer && r->producer ? 0 : -1;
}

/* -1: errno says why */
static int open_map(struct ring *r)
{
	struct bpf_map_info info = { 0 };
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(r->map_fd, &info, &len))
		return -1;
	r->size = info.max_entries;
	return map_positions(r) || open_epoll(r) ? -1 : 0;
}

int ring_open(int map_fd, const struct ring_reader *reader, struct ring **out, struct err *e)
{
	struct ring *r = xcalloc(1, sizeof(*r));
	int err = 0;

	*r = (struct ring){ .map_fd = map_fd, .epoll_fd = -1, .page = (size_t)sysconf(_SC_PAGESIZE), .reader = *reader };
	if (open_map(r)) {
		err = err_set(e, errno, EXIT_FAILED, "cannot map the ring buffer: %s", strerror(errno));
		ring_close(r);
		return err;
	}
	*out = r;
	return 0;
}

int ring_fd(const struct ring *r)
{
	return r->epoll_fd;
}

void ring_close(struct ring *r)
{
	if (!r)
		return;
	unmap_window(r);
	if (r->consumer)
		munmap(r->consumer, r->page);
	if (r->producer)
		munmap((void *)r->producer, r->page);
	if (r->epoll_fd >= 0)
		close(r->epoll_fd);
	free(r);
}
