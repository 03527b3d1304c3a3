// SPDX-License-Identifier: GPL-2.0-only
/* How calls and requests are packed: numbers of every length come back, and take no more bytes than they need. */
#include <stdlib.h>
#include <string.h>

#include "model/report.h"
#include "rnd.h"
#include "tap.h"
#include "util/mem.h"

static struct report_detail *d;

static void begin(void)
{
	report_detail_free(d);
	d = xcalloc(1, sizeof(*d));
}

#define EDGES 30

/* ---- slices ---- */

/* ---- requests ---- */

static uint64_t any(void)
{
	return rnd() >> rnd() % 64;
}

static struct detail_step any_step(void)
{
	struct detail_step s = { .happened = rnd() % 2 };

	if (s.happened)
		s = (struct detail_step){ true, any(), any(), any(), (uint32_t)any() };
	return s;
}

static struct detail_request any_request(void)
{
	return (struct detail_request){
		.begin_ns = any(),
		.end_ns = any(),
		.sector = any(),
		.bytes = (uint32_t)any(),
		.pid = (uint32_t)any(),
		.tid = (uint32_t)any(),
		.device = (uint32_t)any(),
		.disk = (uint32_t)any(),
		.class = (enum op_class)(rnd() % OP_CLASSES),
		.sequence = rnd() % 2,
		.throttled = rnd() % 2,
		.pre = any_step(),
		.data = any_step(),
		.post = any_step(),
	};
}

static bool same_step(const struct detail_step *a, const struct detail_step *b)
{
	return a->happened == b->happened && a->begin_ns == b->begin_ns && a->issue_ns == b->issue_ns &&
	       a->done_ns == b->done_ns && a->in_flight == b->in_flight;
}

static bool same_request(const struct detail_request *a, const struct detail_request *b)
{
	return a->begin_ns == b->begin_ns && a->end_ns == b->end_ns && a->sector == b->sector && a->bytes == b->bytes &&
	       a->pid == b->pid && a->tid == b->tid && a->device == b->device && a->disk == b->disk &&
	       a->class == b->class && a->sequence == b->sequence && a->throttled == b->throttled &&
	       same_step(&a->pre, &b->pre) && same_step(&a->data, &b->data) && same_step(&a->post, &b->post);
}

#define REQUESTS 10000

TEST(requests)
{
	struct detail_request *all = xcalloc(REQUESTS, sizeof(*all)), back;
	unsigned int good = 0;

	begin();
	for (size_t i = 0; i < REQUESTS; i++) {
		all[i] = any_request();
		report_detail_add_request(d, &all[i]);
	}
	for (size_t i = REQUESTS; i-- > 0;) {
		detail_request(d, i, &back);
		good += same_request(&all[i], &back);
	}
	ok(good == REQUESTS && d->n_requests == REQUESTS, "10,000 random requests come back (%u)", good);
	free(all);
}

int main(void)
{
	tests_run();
	report_detail_free(d);
	report_detail_free(NULL);
	return tap_done();
}
