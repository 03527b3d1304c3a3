// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/ledger/other_calls.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

static struct report_other *process_of(struct other_calls *o, const struct wire_sync *s)
{
	struct report_other *p;

	for (size_t i = 0; i < o->n; i++)
		if (o->process[i].pid == s->tgid || i == OTHERS_KEPT)
			return &o->process[i];
	p = &o->process[o->n++];
	*p = (struct report_other){ .pid = o->n <= OTHERS_KEPT ? s->tgid : 0 };
	return p;
}

void others_add(struct other_calls *o, const struct wire_sync *s)
{
	struct report_other *p = process_of(o, s);

	/* the last name: a process may be another program by now */
	memcpy(p->comm, p->pid ? s->comm : "(others)\0\0\0\0\0\0\0", sizeof(p->comm));
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
