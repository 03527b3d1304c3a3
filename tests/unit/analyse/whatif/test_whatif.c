// SPDX-License-Identifier: GPL-2.0-only
/* The what-if as a subtraction: what is left of a call and of the run, and when that is a bound or not known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/whatif/whatif.h"
#include "tap.h"
#include "util/mem.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
#define T0     1000000u /* the clock at the first call */

static char *command[] = { (char *)"x", NULL };
static struct whatif *w;
static struct report r;

static void begin(void)
{
	whatif_free(w);
	report_free(&r);
	w = whatif_new();
	r.command = strv_dup(command);
	r.have_exit_status = true;
	r.have_sync = true;
}

static void end(void)
{
	report_free(&r);
	whatif_free(w);
	w = NULL;
}

/* A call that computes, is in `cause` in [from, to), and computes again. */
static void call(struct wire_sync s, enum cause cause, uint64_t from, uint64_t to, const struct tl_task *before)
{
	struct walk_slice slice[] = { { .ns = from - s.enter, .cause = CAUSE_CPU },
				      { .ns = to - from, .cause = (uint8_t)cause },
				      { .ns = s.exit - to, .cause = CAUSE_CPU } };
	struct walk_result result = { .slice = slice, .n = LEN(slice) };

	for (size_t i = 0; i < LEN(slice); i++)
		r.sync.ledger.ns[slice[i].cause] += slice[i].ns;
	r.sync.count++;
	r.sync.total_ns += s.exit - s.enter;
	whatif_call(w, &s, &result, before);
}

static const struct report_whatif *without(const char *what)
{
	for (size_t i = 0; i < r.n_whatif; i++)
		if (!strcmp(r.whatif[i].remove, what))
			return &r.whatif[i];
	return NULL;
}

static bool is(const struct report_whatif *q, uint64_t now, uint64_t left, uint64_t wall, bool bound)
{
	if (q && q->now_ns == now && q->without_ns == left && q->wall_ns == wall && q->bound == bound)
		return true;
	if (q)
		diag("a call %llu to %llu, the run %llu, bound %d", (unsigned long long)q->now_ns,
		     (unsigned long long)q->without_ns, (unsigned long long)q->wall_ns, q->bound);
	return false;
}

/* ---- causes and families ---- */

static void removals(void)
{
	static const enum cause spent[] = { CAUSE_FLUSH_PRE,   CAUSE_FLUSH_POST, CAUSE_FLUSH_WAIT, CAUSE_DEVICE_WRITE,
					    CAUSE_DEVICE_READ, CAUSE_IOQ,	 CAUSE_THROTTLE,   CAUSE_RUNQ,
					    CAUSE_WORKER,      CAUSE_JOURNAL,	 CAUSE_LOCK,	   CAUSE_UNKNOWN,
					    CAUSE_CPU,	       CAUSE_COMPLETION };
	static const struct {
		const char *what;
		uint64_t ns; /* of each 1,400 */
	} all[] = { { "flush", 300 },	 { "flush.post", 100 },	   { "device", 200 },	   { "I/O scheduler", 200 },
		    { "throttle", 100 }, { "CPU scheduler", 200 }, { "file system", 100 }, { "lock", 100 } };

	begin();
	for (size_t i = 0; i < LEN(spent); i++)
		call((struct wire_sync){ .enter = T0 + i * 100, .exit = T0 + i * 100 + 100 }, spent[i], T0 + i * 100,
		     T0 + i * 100 + 100, NULL);
	r.wall_ns = 1400;
	whatif_make(&r, w);
	for (size_t i = 0; i < LEN(all); i++)
		ok(is(without(all[i].what), 100, (1400 - all[i].ns) / 14, 1400 - all[i].ns, false), "without %s",
		   all[i].what);
	ok(r.n_whatif == LEN(all), "nothing else can be taken away");
	end();
}

static void little(void)
{
	static const struct {
		uint64_t flush;
		bool told;
	} all[] = { { 0, false }, { 9, false }, { 10, true } };

	for (size_t i = 0; i < LEN(all); i++) {
		begin();
		call((struct wire_sync){ .enter = T0, .exit = T0 + 1000 }, CAUSE_FLUSH_ONLY, T0, T0 + all[i].flush, NULL);
		r.wall_ns = 1000;
		whatif_make(&r, w);
		ok(!without("flush") == !all[i].told, "%llu of 1,000 ns: %s", (unsigned long long)all[i].flush,
		   all[i].told ? "worth telling" : "not worth it");
	}
	begin();
	r.wall_ns = 1000;
	whatif_make(&r, w);
	ok(!r.n_whatif, "no call, no what-if");
	end();
}

/* ---- estimates and bounds ---- */

static void close_calls(void)
{
	begin();
	for (uint64_t i = 0; i < 3; i++)
		call((struct wire_sync){ .enter = T0 + i * 100, .exit = T0 + i * 100 + 100 }, CAUSE_FLUSH_ONLY,
		     T0 + i * 100, T0 + i * 100 + 100, NULL);
	r.wall_ns = 300;
	whatif_make(&r, w);
	ok(is(without("flush"), 100, 0, 1, false) && without("flush")->speedup == 300,
	   "a run of nothing else does not come to 0");
	end();
	begin();
	call((struct wire_sync){ .enter = T0, .exit = T0 + 100 }, CAUSE_FLUSH_ONLY, T0, T0 + 100, NULL);
	whatif_make(&r, w);
	ok(is(without("flush"), 100, 0, 0, true) && isinf(without("flush")->speedup),
	   "nor has a factor, where its length is not known");
	end();
}

/* Two calls of 1,000 ns, 800 of them in a FLUSH. */
static const struct two {
	const char *name;
	struct wire_sync second; /* from T0 */
	uint64_t left_ago;	 /* its task's call before ended so long before it; 0: not known */
	uint16_t voluntary;	 /* how often it has gone to sleep since */
	uint64_t waited;	 /* of that time, for a CPU */
	uint64_t wall, want;
	bool bound;
} twos[] = {
	{ "one after the other", { .enter = 1000, .exit = 2000 }, 0, 0, 0, 2000, 400, false },
	{ "calls that overlap by a twentieth", { .enter = 900, .exit = 1900 }, 0, 0, 0, 1900, 300, false },
	{ "and by more", { .enter = 899, .exit = 1899 }, 0, 0, 0, 1899, 299, true },
	{ "FLUSHes that overlap count once", { .enter = 500, .exit = 1500 }, 0, 0, 0, 1500, 200, true },
	{ "computing between calls", { .enter = 2000, .exit = 3000 }, 1000, 0, 0, 3000, 1400, false },
	{ "asleep between them, for all that is known", { .enter = 2000, .exit = 3000 }, 1000, 1, 0, 3000, 1400, true },
	{ "nine tenths of it ready for a CPU", { .enter = 2000, .exit = 3000 }, 1000, 1, 900, 3000, 1400, false },
	{ "and less than that", { .enter = 2000, .exit = 3000 }, 1000, 1, 899, 3000, 1400, true },
	{ "more than there is", { .enter = 2000, .exit = 3000 }, 1000, 1, UINT64_MAX / 2, 3000, 1400, false },
	{ "nothing known of the time between calls", { .enter = 2000, .exit = 3000 }, 0, 0, 0, 3000, 1400, true },
	{ "a tenth of the run has no call", { .enter = 1000, .exit = 2000 }, 0, 0, 0, 2222, 622, false },
	{ "and more than that", { .enter = 1000, .exit = 2000 }, 0, 0, 0, 2223, 623, true },
	{ "a task that goes on beside its call", { .enter = 1000, .exit = 2000, .call = CALL_URING_FSYNC }, 0, 0, 0, 2000, 400, true },
	{ "or whose call another one makes", { .enter = 1000, .exit = 2000, .worker = 9 }, 0, 0, 0, 2000, 400, true },
};

static void one_after_the_other(void)
{
	for (size_t i = 0; i < LEN(twos); i++) {
		const struct two *t = &twos[i];
		struct wire_sync s = t->second;
		struct tl_task task = { .exit = T0 + s.enter - t->left_ago, .waited = 70, .voluntary = 65535 };

		begin();
		s.enter += T0;
		s.exit += T0;
		s.voluntary_enter = (uint16_t)(65535 + t->voluntary);
		s.waited_enter = task.waited + t->waited;
		call((struct wire_sync){ .enter = T0, .exit = T0 + 1000 }, CAUSE_FLUSH_ONLY, T0 + 100, T0 + 900, NULL);
		call(s, CAUSE_FLUSH_ONLY, s.enter + 100, s.enter + 900, t->left_ago ? &task : NULL);
		r.wall_ns = t->wall;
		whatif_make(&r, w);
		ok(is(without("flush"), 1000, 200, t->want, t->bound) &&
			   fabs(without("flush")->speedup - (double)t->wall / (double)t->want) < 1e-9,
		   "%s: %s", t->name, t->bound ? "a bound" : "an estimate");
	}
	end();
}

/* ---- runs without a length ---- */

static const struct {
	const char *name;
	bool watch, running, stopped;
	uint64_t no_ledger, unrecorded, under_way;
	bool known;
} lengths[] = {
	{ .name = "a command that ended", .known = true },
	{ .name = "a watch", .watch = true },
	{ .name = "a command that still runs", .running = true },
	{ .name = "a run that was stopped", .stopped = true },
	{ .name = "a twentieth of the sync time without a ledger", .no_ledger = 50, .known = true },
	{ .name = "more than that", .no_ledger = 53 },
	{ .name = "in calls that were not recorded", .unrecorded = 53 },
	{ .name = "in one that had not returned", .under_way = 53 },
	{ .name = "or all of these", .no_ledger = 20, .unrecorded = 20, .under_way = 20 },
};

static void without_a_length(void)
{
	for (size_t i = 0; i < LEN(lengths); i++) {
		const struct report_whatif *q;

		begin();
		call((struct wire_sync){ .enter = T0, .exit = T0 + 1000 }, CAUSE_FLUSH_ONLY, T0, T0 + 750, NULL);
		r.wall_ns = 1000;
		r.have_exit_status = !lengths[i].running;
		r.stopped = lengths[i].stopped;
		r.sync.no_ledger_ns = lengths[i].no_ledger;
		r.unrecorded_ns = lengths[i].unrecorded;
		r.under_way_ns = lengths[i].under_way;
		if (lengths[i].watch) {
			strv_free(r.command);
			r.command = NULL;
		}
		whatif_make(&r, w);
		q = without("flush");
		ok(is(q, 1000, 250, lengths[i].known ? 250 : 0, !lengths[i].known) && q->speedup == 4, "%s: %s",
		   lengths[i].name, lengths[i].known ? "for the same work" : "of a call only");
	}
	end();
}

/* A call without a ledger is in no cause, but there it was. */
static void no_ledger(void)
{
	struct wire_sync s = { .enter = T0 + 1000, .exit = T0 + 1040 };

	begin();
	call((struct wire_sync){ .enter = T0, .exit = T0 + 1000 }, CAUSE_FLUSH_ONLY, T0, T0 + 750, NULL);
	whatif_call(w, &s, NULL, NULL);
	r.wall_ns = 1040;
	r.sync.no_ledger_ns = 40;
	whatif_make(&r, w);
	ok(is(without("flush"), 1000, 250, 290, false), "a call without a ledger stays, and is no time between calls");
	end();
}

/* ---- the union ---- */

/* Counted ns by ns, where the tested union has intervals. */
#define MAP_NS 400000u

static uint64_t marked(const bool *map)
{
	uint64_t n = 0;

	for (size_t i = 0; i < MAP_NS; i++)
		n += map[i];
	return n;
}

/* As many as that, of up to 40 ns, around a time that advances by `step`, up to `back` earlier. */
static void unions(void)
{
	static const struct {
		uint32_t n, step, back;
	} all[] = { { 10, 100, 0 },	{ 1024, 50, 0 },     { 5000, 50, 0 },
		    { 5000, 50, 2000 }, { 9000, 30, 20000 }, { 9000, 5, 20000 } };

	for (size_t i = 0; i < LEN(all); i++) {
		bool *map = xcalloc(MAP_NS, 1);
		uint64_t last = 0, seed = 7;

		begin();
		for (uint32_t k = 0; k < all[i].n; k++) {
			uint64_t from, ns, at = 20000 + (uint64_t)k * all[i].step;

			seed = seed * 6364136223846793005u + 1442695040888963407u;
			from = at - (all[i].back ? (seed >> 33) % all[i].back : 0);
			ns = 1 + (seed >> 45) % 40;
			memset(map + from, 1, ns);
			call((struct wire_sync){ .enter = T0 + from, .exit = T0 + from + ns }, CAUSE_FLUSH_ONLY,
			     T0 + from, T0 + from + ns, NULL);
			last = from + ns > last ? from + ns : last;
		}
		r.wall_ns = last;
		whatif_make(&r, w);
		ok(without("flush")->wall_ns == last - marked(map), "%u intervals in steps of %u, %u early at most",
		   all[i].n, all[i].step, all[i].back);
		free(map);
	}
	end();
}

/* After 4,000 FLUSHes of 100 ns, apart from each other, comes one that began so many earlier. */
static void late(void)
{
	static const struct {
		uint64_t ago, ns;
		bool known, bound;
	} all[] = { { 1000, 100000, true, true }, /* calls overlap */
		    { 3000, 100, true, false },
		    { 3900, 4000, true, false },
		    { 3900, 5000, false, true } };

	for (size_t i = 0; i < LEN(all); i++) {
		uint64_t from = T0 + (4000 - all[i].ago) * 200;

		begin();
		for (uint64_t k = 0; k < 4000; k++) {
			struct tl_task computed = { .exit = T0 + k * 200 - 100 };

			call((struct wire_sync){ .enter = T0 + k * 200, .exit = T0 + k * 200 + 100 }, CAUSE_FLUSH_ONLY,
			     T0 + k * 200, T0 + k * 200 + 100, &computed);
		}
		call((struct wire_sync){ .enter = from, .exit = from + all[i].ns }, CAUSE_FLUSH_ONLY, from,
		     from + all[i].ns, NULL);
		r.wall_ns = 800000;
		whatif_make(&r, w);
		ok(!without("flush")->wall_ns == !all[i].known && without("flush")->bound == all[i].bound,
		   "%llu ns that come %llu FLUSHes late: %s", (unsigned long long)all[i].ns,
		   (unsigned long long)all[i].ago, all[i].known ? "merged, or hardly missed" : "too much is missing");
	}
	end();
}

int main(void)
{
	removals();
	little();
	close_calls();
	one_after_the_other();
	without_a_length();
	no_ledger();
	unions();
	late();
	whatif_free(NULL);
	return tap_done();
}
