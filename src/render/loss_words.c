// SPDX-License-Identifier: GPL-2.0-only
#include "render/loss_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/num.h"

static void add(struct loss_words *w, const char *text)
{
	size_t n = strlen(w->s);

	snprintf(w->s + n, sizeof(w->s) - n, "%s", text);
}

/* Rounded up: it is a bound. */
static void add_share(struct loss_words *w, double share, const char *of)
{
	char text[64];

	if (share < 0.001)
		snprintf(text, sizeof(text), "less than 0.1 %% %s", of);
	else
		snprintf(text, sizeof(text), "at most %.1f %% %s", ceil(share * 1000) / 10, of);
	add(w, text);
}

struct loss_words say_at_most(const struct report *r)
{
	struct loss_words w = { "" };
	double ledgers = 0, requests = 0;

	for (size_t i = 0; i < r->n_lost; i++) {
		if (!r->lost[i].count)
			continue;
		if (r->lost[i].at_most < 0) {
			add(&w, "and nobody can say what they would have changed");
			return w;
		}
		*(r->lost[i].reach == LOSS_OF_REQUESTS ? &requests : &ledgers) += r->lost[i].at_most;
	}
	if (ledgers > 0 || requests > 0)
		add(&w, "which can have changed ");
	if (ledgers > 0)
		add_share(&w, ledgers, "of the sync calls' time");
	if (requests > 0) {
		add(&w, ledgers > 0 ? " and " : "");
		add_share(&w, requests, "of the requests");
	}
	if (!w.s[0])
		add(&w, "on which no time depends");
	return w;
}

struct loss_words say_no_ledger(const struct report_sync *s)
{
	static const char *const reasons[NO_LEDGER_REASONS] = {
		[NO_LEDGER_DROPPED] = "facts were dropped",
		[NO_LEDGER_BEFORE] = "begun before the trace",
		[NO_LEDGER_IDLE] = "made while such calls were not traced",
		[NO_LEDGER_LIMIT] = "more sleeps than are remembered",
	};
	struct loss_words w = { "" };

	for (int i = 0; i < NO_LEDGER_REASONS; i++) {
		if (!s->without[i])
			continue;
		add(&w, w.s[0] ? ", " : "");
		add(&w, reasons[i]);
		if (s->without[i] != s->no_ledger) {
			add(&w, ": ");
			add(&w, num_count(s->without[i]).s);
		}
	}
	if (!w.s[0]) /* of an earlier version's report */
		add(&w, "facts were dropped");
	return w;
}
