// SPDX-License-Identifier: GPL-2.0-only
#include "util/budget.h"

#include "util/num.h"

static uint64_t most(const struct budget *b)
{
	uint64_t fair = BUDGET_BASE + BUDGET_RATIO * b->length;

	return b->huge || fair < BUDGET_MOST ? fair : BUDGET_MOST;
}

uint64_t budget_left(const struct budget *b)
{
	uint64_t free_for_all = most(b) - BUDGET_OWN;

	return b->used < free_for_all ? free_for_all - b->used : 0;
}

bool budget_take(struct budget *b, uint64_t bytes)
{
	if (!b)
		return true;
	if (bytes > budget_left(b))
		return false;
	b->used += bytes;
	return true;
}

void budget_give(struct budget *b, uint64_t bytes)
{
	if (b)
		b->used -= bytes;
}

bool budget_kept(const struct budget *b)
{
	return !b->left_out && !b->surplus;
}

static void entries(struct buf *to, uint64_t n)
{
	buf_printf(to, "%sleft out: %s entr%s", to->len ? "; " : "", num_count(n).s, n == 1 ? "y" : "ies");
}

void budget_reason(const struct budget *b, struct buf *to)
{
	bool more_with_huge = !b->huge && BUDGET_BASE + BUDGET_RATIO * b->length > BUDGET_MOST;

	buf_printf(to, "for which more than %s of memory would be needed, %s", num_bytes(most(b), 0).s,
		   more_with_huge ? "which takes --huge" : "too much for a file of this size");
}

void budget_note(const struct budget *b, struct buf *to)
{
	if (b->left_out) {
		entries(to, b->left_out);
		buf_char(to, ' ');
		budget_reason(b, to);
	}
	if (b->surplus) {
		entries(to, b->surplus);
		buf_str(to, ", more than a run can have");
	}
}
