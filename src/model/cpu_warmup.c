// SPDX-License-Identifier: GPL-2.0-only
#include "model/cpu_warmup.h"

bool pace_sane(const struct pace *p)
{
	for (size_t i = 1; i < p->n; i++)
		if (p->point[i].idle_ns <= p->point[i - 1].idle_ns)
			return false;
	return true;
}

static double value(const struct pace_point *p, bool wake)
{
	return (double)(wake ? p->wake_ns : p->work_ns);
}

/* 0 when nothing is known. */
static double at(const struct pace *p, uint64_t idle, bool wake)
{
	size_t i = 0;
	double part;

	if (!p->n)
		return 0;
	while (i < p->n && p->point[i].idle_ns < idle)
		i++;
	if (i == 0 || i == p->n)
		return value(&p->point[i ? i - 1 : 0], wake);
	part = (double)(idle - p->point[i - 1].idle_ns) / (double)(p->point[i].idle_ns - p->point[i - 1].idle_ns);
	return value(&p->point[i - 1], wake) + part * (value(&p->point[i], wake) - value(&p->point[i - 1], wake));
}

void pace_add(struct pace_sum *s, uint64_t idle_ns)
{
	s->work += at(s->pace, idle_ns, false);
	s->wake += at(s->pace, idle_ns, true);
}

double pace_left(double now, double was)
{
	return now > 0 && now < was ? now / was : 1;
}

uint64_t pace_wake_ns(const struct pace *p, uint64_t idle)
{
	return (uint64_t)at(p, idle, true);
}
