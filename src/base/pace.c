// SPDX-License-Identifier: GPL-2.0-only
#include "pace.h"

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

static double ratio(const struct pace *p, uint64_t from, uint64_t to, bool wake)
{
	double slow = at(p, from, wake), fast = at(p, to, wake);

	return fast > 0 && fast < slow ? fast / slow : 1;
}

double pace_work(const struct pace *p, uint64_t from, uint64_t to)
{
	return ratio(p, from, to, false);
}

double pace_wake(const struct pace *p, uint64_t from, uint64_t to)
{
	return ratio(p, from, to, true);
}

uint64_t pace_wake_ns(const struct pace *p, uint64_t idle)
{
	return (uint64_t)at(p, idle, true);
}
