// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel counts every mapped page of the buffer as resident, twice where it is mapped as libbpf does it: so only the window
 * that is being read is mapped, and nothing while nothing waits. To map a page costs 0.3 us, and as much as 20 pages each time.
 */
#include "ring.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mem.h"

#define WINDOW	(1ul << 20)	/* bytes that are mapped at once at most; more than a page and the longest record, whose length has 16 bits */
#define GIVE_BACK	(64ul << 10)	/* bytes read until those who write are told: with each record, that would cost them and us a cache miss */

struct ring {
	int map_fd, epoll_fd;
	size_t page, size;	/* of the data, a power of two: they lie in the map twice, one behind the other */
	unsigned long *consumer;	/* read up to here; counts on for ever, as the next */
	const unsigned long *producer;
	const char *window;	/* NULL: none is mapped */
	unsigned long from, to;	/* of the window: positions as the two above, at the beginnings of pages */
	ring_fn *each;
	void *ctx;
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

/* `n` bytes at `pos`, all of which lie before `end`; NULL: no memory for the window. */
static const void *at(struct ring *r, unsigned long pos, size_t n, unsigned long end)
{
	if ((!r->window || pos + n > r->to) && !map_window(r, pos, end))
		return NULL;
	return r->window + (pos - r->from);
}

/* ---- reading ---- */

static void take(struct ring *r, const void *data, size_t size)
{
	const struct wire_head *head = data;

	if (size >= sizeof(*head) && head->size <= size)
		r->each(r->ctx, head);
}

/* What stands at `pos`; NULL: it is still being written, or there is no memory for the window. */
static const char *record_at(struct ring *r, unsigned long pos, unsigned long end, uint32_t *len)
{
	const uint32_t *head = at(r, pos, BPF_RINGBUF_HDR_SZ, end);

	*len = head ? __atomic_load_n(head, __ATOMIC_ACQUIRE) : BPF_RINGBUF_BUSY_BIT;
	if (*len & BPF_RINGBUF_BUSY_BIT)
		return NULL;
	return at(r, pos, BPF_RINGBUF_HDR_SZ + (*len & ~BPF_RINGBUF_DISCARD_BIT), end);
}

static void give_back(struct ring *r, unsigned long pos)
{
	__atomic_store_n(r->consumer, pos, __ATOMIC_RELEASE);
}

/* Read up to there; what came meanwhile is little, and the next wake-up counts it. */
static void forget_wakeups(struct ring *r)
{
	struct epoll_event e;

	epoll_wait(r->epoll_fd, &e, 1, 0);
}

bool ring_drain(struct ring *r)
{
	unsigned long pos = *r->consumer, given = pos, end = __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);
	const char *record;
	uint32_t len;

	while (pos < end && (record = record_at(r, pos, end, &len))) {
		size_t size = len & ~BPF_RINGBUF_DISCARD_BIT;

		if (!(len & BPF_RINGBUF_DISCARD_BIT))
			take(r, record + BPF_RINGBUF_HDR_SZ, size);
		pos += (size + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
		if (pos - given >= GIVE_BACK)
			give_back(r, given = pos);
	}
	give_back(r, pos);
	unmap_window(r);
	forget_wakeups(r);
	return pos >= end;
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

int ring_open(int map_fd, ring_fn *each, void *ctx, struct ring **out, struct err *e)
{
	struct ring *r = xcalloc(1, sizeof(*r));
	int err = 0;

	*r = (struct ring){ .map_fd = map_fd, .epoll_fd = -1, .page = (size_t)sysconf(_SC_PAGESIZE), .each = each, .ctx = ctx };
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
