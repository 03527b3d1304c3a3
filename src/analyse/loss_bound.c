// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/loss_bound.h"

uint64_t lost_of(const struct report *r, enum loss_reach reach)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->n_lost; i++)
		sum += r->lost[i].reach == (uint32_t)reach ? r->lost[i].count : 0;
	return sum;
}

static double ratio(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

/* Of the sync calls' time. Where there was no call, there was nothing to change. */
static double of_ledgers(const struct report *r)
{
	const struct report_sync *s = &r->sync;

	return ratio(s->ledger.ns[CAUSE_UNKNOWN] + s->dropped_ns + r->unrecorded_ns,
		     s->total_ns + s->no_ledger_ns + r->unrecorded_ns);
}

static double of_requests(const struct report *r, uint64_t missed)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < r->n_devices; i++)
		seen += report_device_requests(&r->device[i]);
	return ratio(missed, seen + missed);
}

void loss_bound(struct report *r)
{
	uint64_t facts = lost_of(r, LOSS_OF_LEDGERS), requests = lost_of(r, LOSS_OF_REQUESTS);
	double sum = 0;

	for (size_t i = 0; i < r->n_lost; i++) {
		struct report_lost *l = &r->lost[i];

		switch (l->reach) {
		case LOSS_OF_LEDGERS: l->at_most = of_ledgers(r) * ratio(l->count, facts); break;
		case LOSS_OF_REQUESTS: l->at_most = of_requests(r, requests) * ratio(l->count, requests); break;
		default:
			l->at_most = -1;
			r->incomplete |= l->count > 0;
			continue;
		}
		sum += l->at_most;
	}
	r->incomplete |= sum >= LOSS_MATTERS;
}
