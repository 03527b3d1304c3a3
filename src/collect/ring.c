// SPDX-License-Identifier: GPL-2.0-only
#include "ring.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

struct ring {
	struct ring_buffer *rb;
	ring_fn *each;
	void *ctx;
};

static int take(void *ctx, void *data, size_t size)
{
	struct ring *r = ctx;
	const struct wire_head *head = data;

	if (size >= sizeof(*head) && head->size <= size)
		r->each(r->ctx, head);
	return 0;
}

int ring_open(int map_fd, ring_fn *each, void *ctx, struct ring **out, struct err *e)
{
	struct ring *r = xcalloc(1, sizeof(*r));

	r->each = each;
	r->ctx = ctx;
	r->rb = ring_buffer__new(map_fd, take, r, NULL);
	if (!r->rb) {
		free(r);
		return err_set(e, errno, EXIT_FAILED, "cannot map the ring buffer: %s", strerror(errno));
	}
	*out = r;
	return 0;
}

int ring_fd(const struct ring *r)
{
	return ring_buffer__epoll_fd(r->rb);
}

void ring_drain(struct ring *r)
{
	ring_buffer__consume(r->rb);
}

void ring_close(struct ring *r)
{
	if (!r)
		return;
	ring_buffer__free(r->rb);
	free(r);
}
