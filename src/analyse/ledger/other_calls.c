// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/ledger/other_calls.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/ledger/make_room.h"
#include "util/mem.h"

/* For all that have no line of their own: the last. */
static void give_to_rest(struct other_calls *o, const struct report_other *p)
{
	struct report_other *rest = &o->process[OTHERS_KEPT];

	o->n = OTHERS_KEPT + 1;
	memcpy(rest->comm, "(others)", sizeof("(others)"));
	rest->count += p->count;
	rest->total_ns += p->total_ns;
}

/* One that gives way; OTHERS_KEPT: none does. */
static size_t room_at(struct other_calls *o, uint64_t now_ns)
{
	uint64_t mean = (o->total_ns - o->process[OTHERS_KEPT].total_ns) / OTHERS_KEPT;
	size_t i = 0;

	while (i < OTHERS_KEPT && !room_gives_way(o->last_ns[i], o->process[i].total_ns, mean, now_ns))
		i++;
	return i;
}

/* Its own, or that of all that have none. */
static size_t process_of(struct other_calls *o, const struct wire_sync *s)
{
	size_t i, n = o->n < OTHERS_KEPT ? o->n : OTHERS_KEPT;

	for (i = 0; i < n; i++)
		if (o->process[i].pid == s->tgid)
			return i;
	if (n < OTHERS_KEPT) {
		o->n++;
	} else {
		i = room_at(o, s->exit);
		if (i == OTHERS_KEPT) {
			give_to_rest(o, &(struct report_other){ 0 });
			return i;
		}
		give_to_rest(o, &o->process[i]);
	}
	o->process[i] = (struct report_other){ .pid = s->tgid };
	return i;
}

void others_add(struct other_calls *o, const struct wire_sync *s)
{
	size_t i = process_of(o, s);
	struct report_other *p = &o->process[i];

	if (i < OTHERS_KEPT) {
		/* the last name: a process may be another program by now */
		memcpy(p->comm, s->comm, sizeof(p->comm));
		o->last_ns[i] = s->exit;
	}
	p->count++;
	p->total_ns += s->exit - s->enter;
	o->count++;
	o->total_ns += s->exit - s->enter;
}

static int longer(const void *a, const void *b)
{
	const struct report_other *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

void others_report(const struct other_calls *o, struct report_sync *out)
{
	out->others = o->count;
	out->others_ns = o->total_ns;
	if (!o->n)
		return;
	out->other = xcalloc(o->n, sizeof(*out->other));
	memcpy(out->other, o->process, o->n * sizeof(*out->other));
	out->n_other = o->n;
	qsort(out->other, out->n_other, sizeof(*out->other), longer);
}
