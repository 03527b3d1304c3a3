/* SPDX-License-Identifier: GPL-2.0-only */
/* loss_words.h - what is said of lost events and of calls without a ledger, in text and in HTML. */
#ifndef BT_RENDER_LOSS_WORDS_H
#define BT_RENDER_LOSS_WORDS_H

#include "model/report.h"

struct loss_words {
	char s[160];
};

/* To follow "4 events were lost, ": "which can have changed at most 0.3 % of the sync calls' time and at most 0.1 % of the requests" */
struct loss_words say_at_most(const struct report *r);

/* Why calls have no ledger: "facts were dropped", or of several reasons "facts were dropped: 3, began before the trace: 1" */
struct loss_words say_no_ledger(const struct report_sync *s);

#endif
