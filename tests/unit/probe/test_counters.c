// SPDX-License-Identifier: GPL-2.0-only
/* Counters as the kernel side leaves them in its maps: stripes added up, intervals, and what is smallest and largest in each. */
#include <stdlib.h>
#include <string.h>

#include "probe/counters.h"
#include "probe/maps.h"
#include "tap.h"
#include "util/mem.h"

#define VIEWS	2
#define STRIPES 3

static struct wire_cell cells[VIEWS * WIRE_CELLS * STRIPES];
static struct wire_view views[VIEWS * STRIPES];
static struct wire_run sums;
static const struct wire_maps maps = { .cells = cells, .views = views, .run = &sums, .stripes = STRIPES };
static struct counters *c;

static struct wire_cell *cell(uint32_t view, uint32_t which, uint32_t stripe)
{
	return &cells[((size_t)view * WIRE_CELLS + which) * STRIPES + stripe];
}

/* A request, as bpf/ counts it: queue, device and total are ns. */
static void request(uint32_t view, uint32_t which, uint32_t stripe, uint64_t queue, uint64_t device)
{
	const uint64_t ns[WIRE_TIMES] = { [WIRE_QUEUE] = queue, [WIRE_DEVICE] = device, [WIRE_TOTAL] = queue + device };
	struct wire_cell *w = cell(view, which, stripe);
	struct wire_extremes *x = &w->extremes[sums.generation & 1];

	w->count++;
	w->bytes += 4096;
	for (int t = 0; t < WIRE_TIMES; t++) {
		w->sum[t] += ns[t];
		w->bucket[hist_index(ns[t])][t]++;
		if (~ns[t] > x->min[t])
			x->min[t] = ~ns[t];
		if (ns[t] > x->max[t])
			x->max[t] = ns[t];
	}
}

static bool is(const struct hist *h, uint64_t count, uint64_t sum, uint64_t min, uint64_t max)
{
	uint64_t buckets = 0;

	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		buckets += h->bucket[i];
	return h->count == count && buckets == count && h->sum == sum && h->min == min && h->max == max;
}

static void begin(void)
{
	memset(cells, 0, sizeof(cells));
	memset(views, 0, sizeof(views));
	memset(&sums, 0, sizeof(sums));
	counters_free(c);
	c = counters_new(&maps, VIEWS);
}

/* Counted on one side of a step, its extremes noted on the other. */
static void without_extremes(struct view_counts *v)
{
	const uint64_t device = 5000, queue = 10;

	begin();
	request(0, WIRE_FLUSH, 0, queue, device);
	request(0, WIRE_FLUSH, 0, queue, 2 * device);
	memset(cell(0, WIRE_FLUSH, 0)->extremes, 0, sizeof(cells[0].extremes));
	counters_total(c, 0, v);
	ok(v->cell[WIRE_FLUSH].device.min == hist_lower(hist_index(device)) &&
		   v->cell[WIRE_FLUSH].device.max == hist_upper(hist_index(2 * device)) &&
		   v->cell[WIRE_FLUSH].queue.min == queue,
	   "without them they are the bounds of the buckets");
	request(0, WIRE_FLUSH, 1, 0, device);
	memset(cell(0, WIRE_FLUSH, 1)->extremes, 0, sizeof(cells[0].extremes));
	counters_total(c, 0, v);
	ok(!v->cell[WIRE_FLUSH].queue.min && v->cell[WIRE_FLUSH].queue.max == hist_upper(hist_index(queue)),
	   "the first of which has 0 and nothing else");
}

static void rows(void)
{
	uint64_t device[HEAT_ROWS] = { 0 }, total[HEAT_ROWS] = { 0 };
	uint64_t n = 0;

	begin();
	request(0, WIRE_FLUSH, 0, 1000000, 5000);
	request(0, WIRE_FLUSH, 2, 1000000, 5000);
	request(0, WIRE_FLUSH, 1, 0, 90000000);
	request(1, WIRE_FLUSH, 1, 0, 90000000);
	request(0, WIRE_FLUSH + 1, 0, 0, 90000000);
	request(0, WIRE_FLUSH - 1, 2, 0, 90000000);
	counters_rows(c, 0, WIRE_FLUSH, false, device);
	counters_rows(c, 0, WIRE_FLUSH, true, total);
	for (int i = 0; i < HEAT_ROWS; i++)
		n += device[i];
	ok(n == 3 && device[heat_row(hist_lower(hist_index(5000)))] == 2 &&
		   device[heat_row(hist_lower(hist_index(90000000)))] == 1,
	   "rows of a heat map are those of the device");
	ok(total[heat_row(hist_lower(hist_index(1005000)))] == 2, "or of the whole time");
	counters_rows(c, 0, WIRE_FLUSH, false, device);
	ok(device[heat_row(hist_lower(hist_index(5000)))] == 4, "and are added to");
}

/* Each figure of each cell and view is its own: the sum over stripes, and what is new of it. */
static void number_all(uint64_t factor)
{
	for (uint32_t v = 0; v < VIEWS * STRIPES; v++) {
		uint64_t *w = (uint64_t *)&views[v];

		for (size_t i = 0; i < sizeof(views[v]) / sizeof(*w); i++)
			w[i] = factor * (v + 1) * (i + 1);
	}
	for (uint32_t i = 0; i < VIEWS * WIRE_CELLS * STRIPES; i++) {
		struct wire_cell *w = &cells[i];

		w->count = factor * (i + 1);
		w->bytes = factor * (i + 1) * 10;
		for (unsigned int t = 0; t < WIRE_TIMES; t++) {
			w->sum[t] = factor * (i + 1) * (100 + t);
			for (unsigned int b = 0; b < HIST_BUCKETS; b++)
				w->bucket[b][t] = factor * (i + 1) * (b % 7 + t);
		}
	}
}

/* As many times as number_all() has it: of a view's three stripes. */
static bool hist_is(const struct hist *h, uint64_t i, uint64_t t)
{
	uint64_t count = 0;

	for (unsigned int b = 0; b < HIST_BUCKETS; b++) {
		if (h->bucket[b] != i * (b % 7 + t))
			return false;
		count += i * (b % 7 + t);
	}
	return h->count == count && h->sum == i * (100 + t);
}

static bool view_is(const struct view_counts *v, uint32_t view, uint64_t factor)
{
	const uint64_t *sums = (const uint64_t *)&v->sums;
	uint64_t of_stripes = 3 * (view * STRIPES + 2) * factor;

	for (size_t i = 0; i < sizeof(v->sums) / sizeof(*sums); i++)
		if (sums[i] != of_stripes * (i + 1))
			return false;
	for (uint32_t i = 0; i < WIRE_CELLS; i++) {
		const struct cell_counts *got = &v->cell[i];

		of_stripes = 3 * ((view * WIRE_CELLS + i) * STRIPES + 2) * factor;
		if (got->count != of_stripes || got->bytes != of_stripes * 10 ||
		    !hist_is(&got->queue, of_stripes, WIRE_QUEUE) || !hist_is(&got->device, of_stripes, WIRE_DEVICE) ||
		    !hist_is(&got->total, of_stripes, WIRE_TOTAL))
			return false;
	}
	return true;
}

static void each_figure(struct view_counts *v)
{
	bool good = true;

	begin();
	number_all(1);
	for (uint32_t view = 0; view < VIEWS; view++) {
		counters_total(c, view, v);
		good = good && view_is(v, view, 1);
	}
	ok(good, "each figure of each view");
	for (uint32_t view = 0; view < VIEWS; view++) {
		counters_interval(c, view, v);
		good = good && view_is(v, view, 1);
	}
	ok(good, "in the first interval, too");
	number_all(5);
	for (uint32_t view = 0; view < VIEWS; view++) {
		counters_since(c, view, v);
		good = good && view_is(v, view, 4);
		counters_interval(c, view, v);
		good = good && view_is(v, view, 4);
		counters_since(c, view, v);
		good = good && view_is(v, view, 0);
	}
	ok(good, "of later ones what is new");
}

/* In both generations of all stripes, and of those that were cleared. */
static void extremes(struct view_counts *v)
{
	begin();
	for (uint32_t stripe = 0; stripe < STRIPES; stripe++) {
		request(1, 0, stripe, 100 - stripe, 1000 + stripe);
		request(1, WIRE_CELLS - 1, stripe, 50 + stripe, 500 - stripe);
	}
	for (unsigned int step = 0; step < 5; step++) {
		counters_step(c);
		counters_interval(c, 1, v);
		ok(is(&v->cell[0].queue, step ? 0 : 3, step ? 0 : 297, step ? 0 : 98, step ? 0 : 100),
		   "step %u: extremes are those of one interval", step);
		counters_total(c, 1, v);
		ok(is(&v->cell[0].queue, 3, 297, 98, 100) && is(&v->cell[0].device, 3, 3003, 1000, 1002) &&
			   is(&v->cell[WIRE_CELLS - 1].queue, 3, 153, 50, 52) &&
			   is(&v->cell[WIRE_CELLS - 1].device, 3, 1497, 498, 500),
		   "and of the run those of all");
	}
	ok(sums.generation == 5, "each step is a generation");
	request(1, 0, 1, 7, 5000);
	counters_since(c, 1, v);
	ok(is(&v->cell[0].queue, 1, 7, 7, 7) && is(&v->cell[0].device, 1, 5000, 5000, 5000),
	   "since the last step there is one");
	counters_total(c, 1, v);
	ok(is(&v->cell[0].queue, 4, 304, 7, 100) && is(&v->cell[0].device, 4, 8003, 1000, 5000),
	   "which is of the run at once");
	counters_total(c, 0, v);
	ok(is(&v->cell[0].queue, 0, 0, 0, 0), "and not of another view");
}

/* The entries for extremes take turns: each is empty when its turn comes. */
static void turns(struct view_counts *v, uint32_t view, uint32_t stripe)
{
	begin();
	request(view, WIRE_CELLS - 1, stripe, 1, 9000);
	counters_step(c);
	counters_interval(c, view, v);
	counters_step(c);
	counters_interval(c, view, v);
	request(view, WIRE_CELLS - 1, stripe, 50, 500);
	counters_since(c, view, v);
	ok(is(&v->cell[WIRE_CELLS - 1].queue, 1, 50, 50, 50) && is(&v->cell[WIRE_CELLS - 1].device, 1, 500, 500, 500),
	   "two steps later only the new one counts");
	counters_step(c);
	counters_interval(c, view, v);
	ok(is(&v->cell[WIRE_CELLS - 1].total, 1, 550, 550, 550), "also of the interval");
	counters_total(c, view, v);
	ok(is(&v->cell[WIRE_CELLS - 1].total, 2, 9551, 550, 9001), "but the run has both");
}

int main(void)
{
	struct view_counts *v = xcalloc(1, sizeof(*v));

	without_extremes(v);
	rows();
	each_figure(v);
	extremes(v);
	turns(v, 0, 0);
	turns(v, 1, STRIPES - 1);
	counters_free(c);
	counters_free(NULL);
	free(v);
	return tap_done();
}
