// SPDX-License-Identifier: GPL-2.0-only
/* The detail: every call with its slices, every request once, out of forged records; and the bounds of what is kept. */
#include <stdlib.h>
#include <string.h>

#include "analyse/ledger/call_recorder.h"
#include "model/report.h"
#include "situations.h"
#include "stream.h"

#define SDC WIRE_DEV(8, 32) /* of which nothing is known */

/* hundreds of MiB are outgrown here: keep none of them */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8";
}

static const struct device_name devices[] = {
	{ .dev = SDA1, .name = "sda1", .mount = "/srv", .fstype = "ext4", .traced = true, .volatile_cache = true },
	{ .dev = SDA, .name = "sda", .traced = true, .volatile_cache = true },
};

static struct report_detail *d;

/* ---- what came of them ---- */

static void begin(bool detail)
{
	const struct sync_opts o = {
		.start_ns = T0,
		.devices = devices,
		.n_devices = 2,
		.slowest = 3,
		.detail = detail,
	};

	sync_free(a);
	report_detail_free(d);
	d = NULL;
	a = sync_new(&o);
}

static void end(void)
{
	report_detail_free(d);
	d = sync_take_detail(a);
}

static bool is(uint32_t name, const char *text)
{
	return name < d->n_names && !strcmp(d->name[name], text);
}

/* The slices of call i add up to it: in all, and cause by cause. */
static bool adds_up(size_t i)
{
	const struct detail_call *c = &d->call[i];
	struct detail_slices all = detail_slices(d, c);
	struct ledger l = { { 0 } }, whole;
	struct detail_slice s;
	uint64_t ns = 0;

	while (detail_next_slice(&all, &s)) {
		ns += s.ns;
		l.ns[s.cause] += s.ns;
		if (s.via >= d->n_names || s.device >= d->n_names)
			return false;
	}
	detail_ledger(d, c, &whole);
	return ns == c->duration_ns && !memcmp(&l, &whole, sizeof(l));
}

struct piece {
	uint64_t ns;
	enum cause cause;
	const char *via, *device;
};

static bool same(const struct detail_slice *s, const struct piece *want)
{
	return s->ns == want->ns && s->cause == want->cause && is(s->via, want->via) && is(s->device, want->device);
}

static void has_slices(const char *what, const struct piece *want, size_t n)
{
	const struct detail_call *c = d->call;
	bool good = d->n_calls == 1 && c->n_slices == n && adds_up(0);

	struct detail_slices all = detail_slices(d, c);
	struct detail_slice s;

	for (size_t i = 0; good && i < n; i++)
		good = detail_next_slice(&all, &s) && same(&s, &want[i]);
	if (ok(good, "%s", what))
		return;
	for (all = detail_slices(d, c); detail_next_slice(&all, &s);)
		diag("  %llu %s via '%s' on '%s'", (unsigned long long)s.ns, cause_name(s.cause), d->name[s.via],
		     d->name[s.device]);
}

#define PIECES(...) \
	(const struct piece[]) \
	{ \
		__VA_ARGS__ \
	}
/* clang-format off */
#define HAS_SLICES(what, ...) \
	has_slices(what, PIECES(__VA_ARGS__), sizeof(PIECES(__VA_ARGS__)) / sizeof(struct piece))
/* clang-format on */

static void commit(void)
{
	follow(JBD2, "jbd2/sda1-8", TASK_KTHREAD, 5);
	commit_requests(JBD2);
	commit_sleeps();
	wait_for_commit(0);
}

TEST(one_call)
{
	begin(true);
	name_file(SDA1, INO, "db", NULL);
	REQUEST(.rq = 1, .done = 1100, .alloc = 1010, .tid = APP, .tgid = APP, .class = WIRE_WRITE_SYNC,
		.data = { .begin = 1011, .issue = 1013, .done = 1100 });
	SLEEP(.tid = APP, .off = 1015, .wake = 1102, .on = 1110, .rq = 1, .done = 1100);
	SYNC(.enter = 1000, .exit = 1120, .tid = APP + 1, .tgid = APP, .call = CALL_FSYNC);
	SYNC(.enter = 1000, .exit = 1120, .call = CALL_WRITE, .flushes = 1);
	SYNC(.enter = 1130, .exit = 1140, .ino = INO + 7);
	end();
	ok(d->n_calls == 3 && d->call[0].pid == APP && d->call[0].tid == APP + 1 && is(d->call[0].call, "fsync") &&
		   d->call[1].tid == APP && is(d->call[1].call, "write"),
	   "calls stand in the order of their ends");
	ok(d->call[1].start_ns == 1000 && d->call[1].duration_ns == 120 && is(d->call[1].comm, "app") &&
		   is(d->call[1].path, "/srv/db") && is(d->call[1].device, "sda1"),
	   "with all that is known of them");
	ok(d->call[1].flushed && !d->call[0].flushed && !d->call[2].flushed, "one of them was flushed");
	ok(!d->calls_left_out && !d->slices_left_out && !d->requests_left_out, "nothing is left out");
	ok(is(0, "") && !sync_take_detail(a), "the first name is empty, and it can be taken once");
	SYNC(.enter = 1200, .exit = 1210);
	name_file(SDA1, INO + 7, "late", NULL);
	ok(!sync_damaged(a), "calls may come after that, and names of files of calls before");
}

TEST(slices)
{
	begin(true);
	REQUEST(.rq = 1, .done = 1100, .alloc = 1010, .tid = APP, .tgid = APP, .class = WIRE_WRITE_SYNC,
		.data = { .begin = 1015, .issue = 1020, .done = 1100 });
	SLEEP(.tid = APP, .off = 1015, .wake = 1102, .on = 1110, .rq = 1, .done = 1100);
	SYNC(.enter = 1000, .exit = 1120, .call = CALL_WRITE);
	end();
	HAS_SLICES("the slices of a direct write, in order of time", { 15, CAUSE_CPU, "", "" },
		   { 5, CAUSE_IOQ, "", "sda1" }, { 80, CAUSE_DEVICE_WRITE, "", "sda1" },
		   { 2, CAUSE_COMPLETION, "", "sda1" }, { 8, CAUSE_RUNQ, "", "" }, { 10, CAUSE_CPU, "", "" });
}

#define J "jbd2/sda1-8"

/* ---- many calls ---- */

static uint64_t seed = 88172645463325252ull;

static uint64_t rnd(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

/* A sleep that a request ends, or the journal, or nobody. Returns when it is over. */
static uint64_t random_sleep(uint64_t off, uint32_t seq)
{
	uint64_t issue = off + rnd(20), done = issue + rnd(200), wake = done + rnd(9), on = wake + rnd(9);

	switch (rnd(4)) {
	case 0: SLEEP(.tid = APP, .seq = seq, .off = off, .wake = off, .on = on); break;
	case 1:
		SLEEP(.tid = APP, .seq = seq, .off = off, .wake = wake, .on = on, .waker = JBD2, .kind = TASK_KTHREAD);
		break;
	default:
		REQUEST(.rq = 1000 + seq, .done = done, .alloc = off, .tid = APP, .tgid = APP,
			.class = (uint16_t)rnd(WIRE_CLASSES), .data = { .issue = issue, .done = done });
		SLEEP(.tid = APP, .seq = seq, .off = off, .wake = wake, .on = on, .rq = 1000 + seq, .done = done);
	}
	return on;
}

static uint64_t random_call(uint64_t t)
{
	static uint32_t seq;
	uint64_t enter = t += 1 + rnd(50);
	uint16_t n = (uint16_t)rnd(6);

	for (int i = 0; i < n; i++)
		t = random_sleep(t + rnd(30), seq++);
	t += rnd(20);
	SYNC(.enter = enter, .exit = t, .ino = 1 + rnd(5), .call = (uint16_t)(1 + rnd(CALL_COUNT - 1)), .sleeps = n,
	     .switches = n);
	return t;
}

TEST(many_calls)
{
	FREED(report) struct report r = { 0 };
	struct ledger l = { { 0 } }, one;
	bool good = true, order = true;
	uint64_t t = 1000, n = 0;

	begin(true);
	follow(JBD2, "jbd2/sda1-8", TASK_KTHREAD, 5);
	for (int i = 0; i < 20000; i++)
		t = random_call(t);
	sync_report(a, &r.sync, false);
	end();
	for (size_t i = 0; i < d->n_calls; i++) {
		const struct detail_call *c = &d->call[i];

		good = good && adds_up(i) && (c->n_slices || !c->duration_ns);
		n += c->n_slices;
		order = order && !c->summed && (!i || c->start_ns + c->duration_ns >= c[-1].start_ns + c[-1].duration_ns);
		detail_ledger(d, c, &one);
		ledger_add(&l, &one);
	}
	ok(good, "the slices of 20,000 random calls add up, cause by cause");
	ok(order && n == d->n_slices, "each slice is of one call");
	ok(d->n_calls == r.sync.count && d->n_calls == 20000 && !memcmp(&l, &r.sync.ledger, sizeof(l)),
	   "together they are the report");
}

/* ---- requests ---- */

static void say_step(const char *name, const struct detail_step *s)
{
	if (s->happened)
		SAY(", %s %llu %llu %llu (%u)", name, (unsigned long long)s->begin_ns, (unsigned long long)s->issue_ns,
		    (unsigned long long)s->done_ns, s->in_flight);
}

static void say_requests(const char *what)
{
	SAY("%s:\n", what);
	for (size_t i = 0; i < d->n_requests; i++) {
		struct detail_request q;

		detail_request(d, i, &q);
		SAY("  %llu to %llu: %s of %u (%u), %u bytes at %llu of %s on %s%s%s", (unsigned long long)q.begin_ns,
		    (unsigned long long)q.end_ns, op_class_name(q.class), q.pid, q.tid, q.bytes,
		    (unsigned long long)q.sector, d->name[q.device], d->name[q.disk], q.sequence ? ", a sequence" : "",
		    q.throttled ? ", throttled" : "");
		say_step("pre", &q.pre);
		say_step("data", &q.data);
		say_step("post", &q.post);
		SAY("\n");
	}
}

TEST(requests)
{
	begin(true);
	commit();
	commit();
	SYNC(.enter = 1000, .exit = 1510);
	commit();
	end();
	say_requests("requests that come three times are there once");
}

TEST(odd_requests)
{
	begin(true);
	REQUEST(.rq = 1, .done = 1100, .alloc = 1001, .flags = REQUEST_NO_START | REQUEST_THROTTLED,
		.class = WIRE_OTHER, .dev = SDC, .disk = SDC, .data = { .issue = 1050, .done = 1100 });
	REQUEST(.rq = 2, .done = 1200, .class = WIRE_CLASSES);
	REQUEST(.rq = 3, .done = 1300, .class = WIRE_READ_SYNC);
	/* one of before the run */
	REQUEST(.rq = 4, .done = 1400, .alloc = 1 - T0 + 5, .class = WIRE_READ_SYNC,
		.data = { .issue = 1300, .done = 1400 });
	/* of each step a part */
	REQUEST(.rq = 5, .done = 1500, .class = WIRE_WRITE_BARRIER, .pre = { .begin = 1410, .issue = 1420 },
		.data = { .done = 1450 }, .post = { .issue = 1460 });
	end();
	say_requests(
		"on an unknown disk; of no class, which is none; only the end; older than the run; steps of which a part is known");
}

/* ---- names ---- */

TEST(late_names)
{
	begin(true);
	SYNC(.enter = 1000, .exit = 1010, .ino = 5);
	SYNC(.enter = 1000, .exit = 1020, .ino = 6);
	SYNC(.enter = 1000, .exit = 1030, .ino = 5);
	SYNC(.enter = 1000, .exit = 1040, .ino = 5, .dev = SDC);
	name_file(SDA1, 5, "late", NULL);
	SYNC(.enter = 1000, .exit = 1050, .ino = 5);
	name_file(SDA1, 7, "late", NULL);
	SYNC(.enter = 1000, .exit = 1060, .ino = 7);
	name_file(SDA1, 5, "another", NULL);
	SYNC(.enter = 1000, .exit = 1070, .ino = 5);
	end();
	ok(is(d->call[0].path, "/srv/late") && is(d->call[2].path, "/srv/late"),
	   "a name that came late is that of the calls before");
	ok(is(d->call[1].path, "8:1:6") && is(d->call[3].path, "8:32:5"), "and of no others");
	ok(is(d->call[4].path, "/srv/late") && is(d->call[5].path, "/srv/late"), "calls after it have it, too");
	ok(is(d->call[6].path, "/srv/another") && is(d->call[0].path, "/srv/late"),
	   "an inode that comes back as another file leaves the old calls alone");
}

/* ---- bounds ---- */

#define CALLS	 (1u << 20)
#define SLICES	 (1u << 21)
#define REQUESTS (1u << 19)

static struct detail *fill_calls(uint32_t n, uint32_t each)
{
	const struct wire_sync s = { .enter = T0, .exit = T0 + 10, .call = CALL_FSYNC, .comm = "app" };
	const struct walk_slice slice = { .ns = 5, .cause = CAUSE_CPU };
	struct detail *new = detail_new(T0);
	const struct ledger l = { .ns = { [CAUSE_CPU] = 3, [CAUSE_UNKNOWN] = UINT64_MAX - 5 } };

	report_detail_free(d);
	d = NULL;
	for (uint32_t i = 0; i < n; i++) {
		detail_add_call(new, &s, 0, 0, &l);
		for (uint32_t j = 0; j < each; j++)
			detail_add_slice(new, &slice, 0, 0);
	}
	return new;
}

TEST(too_many_calls)
{
	struct detail *new = fill_calls(CALLS + 10, 0);

	d = detail_take(new);
	detail_free(new);
	ok(d->n_calls == CALLS && d->calls_left_out == 10 && d->slices_left_out == 10,
	   "calls beyond a million are counted");
}

/* Where a call has `each`. */
static void too_many_slices(uint32_t each)
{
	const uint32_t whole = (SLICES + each - 1) / each; /* the last one of these may still begin */
	struct detail *new = fill_calls(whole + 10, each);
	bool good = true;
	struct ledger l;

	d = detail_take(new);
	detail_free(new);
	for (size_t i = 0; i < d->n_calls; i++) {
		const struct detail_call *c = &d->call[i];

		detail_ledger(d, c, &l);
		good = good && c->n_slices == (i < whole ? each : 0) && l.ns[CAUSE_CPU] == (i < whole ? 5 * each : 3) &&
		       l.ns[CAUSE_UNKNOWN] == (i < whole ? 0 : UINT64_MAX - 5);
	}
	ok(d->n_packed < 40u << 20, "packed: %zu bytes", d->n_packed);
	ok(good && d->n_calls == whole + 10 && d->n_slices == (size_t)each * whole, "a call has all its slices, or none");
	ok(d->slices_left_out == 10 && !d->calls_left_out, "those without are counted");
}

TEST(too_many_requests)
{
	const struct wire_request r = { .done = T0 + 5, .class = WIRE_FUA };
	struct detail *new = detail_new(T0);

	report_detail_free(d);
	for (uint32_t i = 0; i < REQUESTS + 10; i++)
		detail_add_request(new, &r, 0, 0);
	d = detail_take(new);
	detail_free(new);
	ok(d->n_requests == REQUESTS && d->requests_left_out == 10, "requests beyond half a million are counted");
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	too_many_slices(3);
	too_many_slices(8);
	sync_free(a);
	report_detail_free(d);
	return situations_done("detail");
}
