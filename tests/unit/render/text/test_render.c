// SPDX-License-Identifier: GPL-2.0-only
/*
 * Renderers: a report built by hand, its exact text, and its JSON read back.
 *
 * The golden directory is argv[1], GOLDEN_DIR, or tests/unit/golden. GOLDEN_UPDATE=1 rewrites it.
 */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "rendered.h"
#include "wire.h"

#define US 1000ull
#define MS 1000000ull

/* --- reports --- */

static uint64_t seed;

/* mid, give or take up to a quarter; every tenth twice that and every hundredth four times */
static uint64_t around(uint64_t mid)
{
	uint64_t v;

	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	v = mid - mid / 4 + (seed >> 33) % (mid / 2 + 1);
	return v * ((seed >> 20) % 100 == 0 ? 4 : (seed >> 20) % 10 == 0 ? 2 : 1);
}

static void requests(struct report_op_tally *op, uint64_t n, uint64_t size, uint64_t queue, uint64_t device)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t q = queue ? around(queue) : 0, d = around(device);

		op->count++;
		op->bytes += size;
		tally_add(&op->queue, q);
		tally_add(&op->device, d);
		tally_add(&op->total, q + d);
	}
}

static void flushes(struct report_op_tally *op, uint64_t n, uint64_t device)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t d = around(device);

		op->count++;
		tally_add(&op->device, d);
		tally_add(&op->total, d);
	}
}

static struct report_device *add_device(struct report *r, const char *name)
{
	struct report_device *d = grow((void **)&r->device, &r->n_devices, sizeof(*d));

	snprintf(d->name, sizeof(d->name), "%s", name);
	return d;
}

static void add_mount(struct report_device *d, const char *dir, const char *type, const char *barrier)
{
	struct report_mount *m = grow((void **)&d->mounts, &d->n_mounts, sizeof(*m));

	m->dir = xstrdup(dir);
	m->fstype = xstrdup(type);
	m->options = xstrdup("rw,relatime");
	m->barrier = xstrdup(barrier);
}

static void ssd_facts(struct report_device *d)
{
	d->major = 8;
	d->model = xstrdup("GOODRAM C50");
	d->write_cache = xstrdup("write back");
	d->scheduler = xstrdup("mq-deadline");
	d->have_fua = d->have_rotational = d->have_wbt = true;
	d->wbt_lat_us = 2000;
	d->nr_requests = 64;
	d->size = 120034123776;
	d->via = xstrdup("/srv/db/test.sqlite is on /srv, on sda1, a partition of sda");
	add_mount(d, "/srv", "ext4", "barrier");
	add_mount(d, "/scratch", "ext4", "nobarrier");
	add_mount(d, "/boot/efi", "vfat", NULL);
}

/* A slow controller: every journal commit pays for two flushes of about 7 ms. */
static void slow_flush(struct report_device *d)
{
	seed = 1;
	requests(&d->op[OP_READ_SYNC], 58, 16384, 3 * US, 110 * US);
	requests(&d->op[OP_READ_ASYNC], 9, 131072, 5 * US, 420 * US);
	requests(&d->op[OP_WRITE_SYNC], 412, 8192, 4 * US, 240 * US);
	requests(&d->op[OP_WRITE_ASYNC], 1290, 65536, 900 * US, 310 * US);
	requests(&d->op[OP_WRITE_BARRIER], 207, 4096, 2 * US, 230 * US);
	flushes(&d->op[OP_FLUSH], 811, 6900 * US);
	for (int i = 0; i < 1909; i++)
		tally_add(&d->naive_write, i < 207  ? around(14500 * US) :
					   i < 1000 ? around(300 * US) :
						      around(1200 * US));
	d->flush = (struct report_flush){
		.pre = 207,
		.post = 207,
		.only = 397,
		.waiters = 823,
		.barrier_writes = 207,
		.barrier_flushes = 414,
		.in_flight = 105,
	};
	for (int i = 0; i < 823; i++)
		tally_add(&d->flush.slot_wait, around(i % 9 ? 4 * US : 2 * MS));
	for (int i = 0; i < 604; i++)
		tally_add(&d->flush.sequence, around(i % 3 ? 7 * MS : 14 * MS));
	d->kernel = (struct report_kernel){
		.have = true,
		.have_flush = true,
		.reads = 67,
		.read_bytes = 2129920,
		.read_ns = 11 * MS,
		.writes = 1909,
		.write_bytes = 88764416,
		.write_ns = 4380 * MS,
		.flushes = 811,
		.flush_ns = d->op[OP_FLUSH].device.sum / MS * MS + 3 * MS,
	};
	d->by_command = 1400;
	d->requeues = 2;
	d->merges = 31;
}

static void run_facts(struct report *r)
{
	static const char *const argv[] = { "sqlite3", "/srv/db/test.sqlite", ".read insert 2500.sql", NULL };

	r->version = xstrdup("0.1.0");
	r->start = xstrdup("2026-01-31T03:07:00Z");
	r->wall_ns = 9873 * MS;
	r->command = strv_dup((char *const *)argv);
	r->have_exit_status = true;
	r->processes = 1;
	r->threads = 1;
	r->kernel = xstrdup("6.18.0");
	r->arch = xstrdup("x86_64");
}

static void add_probe(struct report *r, const char *name, const char *rung, enum probe_state state, const char *reason)
{
	struct report_probe *p = grow((void **)&r->probe, &r->n_probes, sizeof(*p));

	p->name = xstrdup(name);
	p->rung = xstrdup(rung);
	p->state = state;
	p->reason = xstrdup(reason);
}

static void report_journal(struct report *r)
{
	struct report_device *d;

	run_facts(r);
	d = add_device(r, "sda");
	ssd_facts(d);
	slow_flush(d);
	d = add_device(r, "sdb");
	d->major = 8;
	d->minor = 16;
	d->model = xstrdup("WDC WD10EZEX");
	d->have_rotational = d->rotational = true;
	add_probe(r, "block_rq_issue", "tp_btf", PROBE_ATTACHED, NULL);
	add_probe(r, "block_rq_requeue", NULL, PROBE_REFUSED, "not permitted");
}

/* Everything that is unusual at once. */
static void report_odd(struct report *r)
{
	struct report_lost *l;
	struct report_device *d;

	run_facts(r);
	r->exit_status = 137;
	r->lost_events = 1234;
	r->incomplete = true;
	l = grow((void **)&r->lost, &r->n_lost, sizeof(*l));
	l->reason = xstrdup("ring buffer full");
	l->count = 1200;
	l->at_most = -1;
	l = grow((void **)&r->lost, &r->n_lost, sizeof(*l));
	l->reason = xstrdup("map full");
	l->count = 34;
	l->at_most = -1;
	strv_add(&r->notes, xstrdup("block_rq_requeue could not be attached: requeued requests show "
				    "the time of their last issue only."));
	d = add_device(r, "nvme0n1");
	d->write_cache = xstrdup("write through");
	d->have_fua = d->fua = true;
	d->vanished = true;
	d->errors = 3;
	d->unpaired = 5;
	seed = 2;
	requests(&d->op[OP_WRITE_SYNC], 40, 4096, 0, 20 * US);
	tally_add(&d->op[OP_WRITE_SYNC].device, 1ull << 41);
	tally_add(&d->op[OP_WRITE_SYNC].total, 1ull << 41);
	for (int i = 0; i < 40; i++)
		tally_add(&d->naive_write, around(20 * US));
	d = add_device(r, "sdc");
	ssd_facts(d);
	slow_flush(d);
	d->kernel.flushes = 815;
	d->flush.mixed = 12;
	d->flush.pre = 195;
	d->op[OP_FUA] = (struct report_op_tally){
		d->op[OP_WRITE_SYNC].count,
		d->op[OP_WRITE_SYNC].bytes,
		tally_copy(&d->op[OP_WRITE_SYNC].queue),
		tally_copy(&d->op[OP_WRITE_SYNC].device),
		tally_copy(&d->op[OP_WRITE_SYNC].total),
	};
	d->flush.native_fua = 7;
	d = add_device(r, "dm-0");
	d->bio_based = true;
	strv_add(&d->slaves, xstrdup("sda"));
	strv_add(&d->slaves, xstrdup("sdb"));
	requests(&d->op[OP_WRITE_ASYNC], 100, 4096, 0, 5 * MS);
	tally_free(&d->op[OP_WRITE_ASYNC].queue);
	tally_free(&d->op[OP_WRITE_ASYNC].device);
	d = add_device(r, "sdd");
	d->kernel = (struct report_kernel){ .have = true, .have_flush = true, .flushes = 2, .flush_ns = MS };
}

static void report_hostile(struct report *r)
{
	struct report_device *d;

	run_facts(r);
	strv_add(&r->command, xstrdup(HOSTILE));
	strv_add(&r->notes, xstrdup(HOSTILE));
	r->filter = xstrdup("cgroup /" HOSTILE);
	free(r->version);
	r->version = xstrdup(HOSTILE);
	d = add_device(r, "sd\x1b[31m");
	ssd_facts(d);
	d->disk = xstrdup(HOSTILE);
	free(d->via);
	d->via = xstrdup(HOSTILE);
	free(d->model);
	d->model = xstrdup(HOSTILE);
	add_mount(d, "/mnt/" HOSTILE, HOSTILE, HOSTILE);
	strv_add(&d->slaves, xstrdup(HOSTILE));
	slow_flush(d);
	add_probe(r, HOSTILE, HOSTILE, PROBE_REFUSED, HOSTILE);
}

/* --- text --- */

static void report_nothing(struct report *r)
{
	r->wall_ns = 5 * MS;
}

static void report_stream(struct report *r)
{
	report_journal(r);
	r->interval = true;
	r->interval_start_s = 2;
	r->wall_ns = 1000 * MS;
}

/* One of everything that is counted. */
static void report_ones(struct report *r)
{
	struct report_device *d;

	run_facts(r);
	d = add_device(r, "sda");
	requests(&d->op[OP_WRITE_BARRIER], 1, 4096, US, MS);
	flushes(&d->op[OP_FLUSH], 1, MS);
	d->flush = (struct report_flush){
		.only = 1, .waiters = 1, .barrier_writes = 1, .barrier_flushes = 1, .native_fua = 1
	};
	d->kernel = (struct report_kernel){
		.have = true, .have_flush = true, .reads = 1, .writes = 1, .discards = 1, .flushes = 1
	};
	d->by_command = d->errors = d->unpaired = d->requeues = 1;
	report_add_lost(r, 1, LOSS_OF_REQUESTS, "requests that the kernel counted and this trace missed");
	r->have_sync = true;
	r->sync.count = r->sync.calls[CALL_FSYNC] = r->sync.unsafe = r->sync.no_ledger = 1;
	r->sync.total_ns = r->sync.ledger.ns[CAUSE_CPU] = MS;
}

/* A 1 with a plural behind it, at once or behind one more word; NULL: there is none. Owned by the caller. */
static char *wrong_plural(render_fn *render, const struct report *r, const struct render_opts *o)
{
	static const char nouns[] = "(^|[^0-9.,:])1 ([A-Za-z]+ )?(call|discard|event|flushe|processe|read|request|step|thread|waiter|"
				    "write)s[^a-z]";
	struct buf b = { 0 }, flat = { 0 };
	char *found = NULL;
	regmatch_t at;
	regex_t re;

	render(r, o, &b);
	for (const char *c = b.data; *c; c++) /* lines and blanks that may not be broken are blanks */
		if (strncmp(c, "\xc2\xa0", 2))
			buf_char(&flat, *c == '\n' ? ' ' : *c);
		else
			buf_char(&flat, (c++, ' '));
	if (!regcomp(&re, nouns, REG_EXTENDED) && !regexec(&re, flat.data, 1, &at, 0))
		found = xasprintf("%.*s", (int)(at.rm_eo - at.rm_so), flat.data + at.rm_so);
	regfree(&re);
	buf_free(&b);
	buf_free(&flat);
	return found;
}

TEST(ones)
{
	render_fn *const render[] = { render_text, render_html };
	const struct render_opts o = { .width = 200, .verbose = true };
	FREED(report) struct report r = { 0 };

	report_ones(&r);
	for (size_t i = 0; i < 2; i++) {
		char *wrong = wrong_plural(render[i], &r, &o);

		if (!ok(!wrong, "%s: one is not spoken of as many", i ? "html" : "text"))
			diag("%s", wrong);
		free(wrong);
	}
}

static bool says(const struct report *r, const struct render_opts *o, const char *what)
{
	char *s = text_of(r, o), *flat;
	size_t n = 0;
	bool found;

	flat = xcalloc(strlen(s) + 1, 1); /* wrapped lines count as one */
	for (const char *c = s; *c; c++) {
		if (*c == '\n' || (*c == ' ' && n && flat[n - 1] == ' '))
			continue;
		flat[n++] = *c;
	}
	found = strstr(flat, what) != NULL;
	free(flat);
	free(s);
	return found;
}

TEST(sentences)
{
	struct render_opts wide = { .width = 200 }, quiet = { .width = 80, .quiet = true };
	FREED(report) struct report r = { 0 };
	struct report_device *d;

	report_journal(&r);
	d = &r.device[0];
	ok(!says(&r, &quiet, "device 811, mean") && says(&r, &wide, "device 811, mean"), "quiet leaves the histograms out");
	d->kernel.flushes++;
	ok(says(&r, &wide, "they differ"), "disagreement with the kernel is a warning");
	r.filter = xstrdup("pid 42");
	ok(!says(&r, &wide, "they differ"), "but not under a filter: the kernel has none");
	tally_free(&d->naive_write);
	for (int i = 0; i < 100; i++)
		tally_add(&d->naive_write, 400 * US);
	ok(says(&r, &wide, "timed from its allocation, as other tools do: 400 us") && !says(&r, &wide, "booked on it"),
	   "near figures are stated without the reproach");
	for (int i = 0; i < 100; i++)
		tally_add(&d->naive_write, 2000 * US);
	ok(says(&r, &wide, "because they count the queue too"), "a queue is not blamed on flushes");
	for (int i = 0; i < 3; i++) /* three heavier classes, and still the flush is shown */
		requests(&d->op[i], 20, 4096, 0, 4000 * MS);
	ok(says(&r, &wide, "flush device 811, mean"), "the flush has its histogram, however light");
	ok(!says(&r, &wide, "write async queue"), "the fourth class has not");
}

TEST(no_devices)
{
	FREED(report) struct report r = { .wall_ns = 5 * MS, .filter = xstrdup("pid 42") };
	const struct render_opts wide = { .width = 200 };

	ok(says(&r, &wide, "No I/O of the filtered tasks was seen on any disk."), "without a disk, the filter is told of");
}

/* The kernel times a FLUSH from when it is set up: its queue, too. */
TEST(flush_check)
{
	struct render_opts wide = { .width = 200 };
	FREED(report) struct report r = { 0 };
	struct report_device *d;
	struct buf page = { 0 };

	run_facts(&r);
	d = add_device(&r, "loop0");
	for (int i = 0; i < 10000; i++) {
		d->op[OP_FLUSH].count++;
		tally_add(&d->op[OP_FLUSH].queue, 12 * US);
		tally_add(&d->op[OP_FLUSH].device, 50 * US);
		tally_add(&d->op[OP_FLUSH].total, 62 * US);
	}
	d->kernel = (struct report_kernel){ .have = true, .have_flush = true, .flushes = 10000, .flush_ns = 632 * MS };
	ok(says(&r, &wide, "10,000; 500 ms in the device") &&
		   says(&r, &wide, "kernel counted 10,000 flushes, 632 ms; this trace 10,000, 620 ms with their queue [ok]"),
	   "flushes that are quick, and wait as long as a fourth of that");
	render_html(&r, &wide, &page);
	ok(strstr(page.data, "ms with their queue ✓"), "on the page, too");
	buf_free(&page);
	d->kernel.flush_ns = 750 * MS;
	ok(says(&r, &wide, "same count, but the times differ"), "more than the clocks can be apart");
	d->kernel.flush_ns = 500 * MS;
	ok(says(&r, &wide, "same count, but the times differ"), "less");
}

/* What cannot be known is not said, and what does not add up is. */
TEST(honesty)
{
	struct render_opts wide = { .width = 200 };
	FREED(report) struct report r = { 0 };
	struct report_device *d;
	char *s;

	run_facts(&r);
	d = add_device(&r, "dm-0");
	d->bio_based = true;
	seed = 3;
	flushes(&d->op[OP_FLUSH], 10, 5 * MS);
	tally_free(&d->op[OP_FLUSH].device);
	ok(says(&r, &wide, "FLUSH requests 10;") && !says(&r, &wide, " 0 ns"),
	   "a stacked device's flushes have total times only");
	d->bio_based = false;
	d->flush.pre = 4;
	ok(!says(&r, &wide, "none was seen"), "flushes are not denied");
	ok(says(&r, &wide, "4 before a commit record, 6 without a known role"), "roles that do not add up are said");
	ok(!says(&r, &wide, "other requests were in the device") && !says(&r, &wide, "kernel counted"),
	   "no figure that the report does not have");
	d->kernel = (struct report_kernel){ .have = true, .have_flush = true, .flushes = 10, .flush_ns = 900 * MS };
	ok(says(&r, &wide, "same count, but the times differ"), "equal counts with other times are said");
	d->kernel.have_flush = false;
	ok(!says(&r, &wide, "kernel counted"), "a kernel without flush counters is not quoted");
	d = add_device(&r, "sdx");
	d->kernel = (struct report_kernel){ .have = true, .reads = 7, .read_bytes = 4096 };
	ok(says(&r, &wide, "no I/O was seen, but the kernel counted some") && says(&r, &wide, "7 reads of 4 KiB"),
	   "what only the kernel saw is a warning");
	add_device(&r, "sdy");
	add_device(&r, "sdz");
	s = text_of(&r, &wide);
	ok(strstr(s, "sdy  no I/O\nsdz  no I/O\n"), "idle devices stand together");
	free(s);
	r.incomplete = true;
	ok(says(&r, &wide, "sdy no I/O was seen"), "of an incomplete report, that there was none is not known");
}

/* --- JSON --- */

TEST(stream)
{
	const struct render_opts wide = { .width = 200 };
	FREED(report) struct report r = { 0 };
	FREED(buf) struct buf b = { 0 };
	json_t *j, *pretty;

	report_stream(&r);
	ok(says(&r, &wide, "interval from 2.00 s, 1.00 s long") && says(&r, &wide, "in an interval of 1.00 s") &&
		   !says(&r, &wide, "exit status"),
	   "text: an interval");
	render_ndjson(&r, &plain, &b);
	ok(b.len && strchr(b.data, '\n') == b.data + b.len - 1, "ndjson: one line and its end");
	j = json_of(&r, render_ndjson);
	pretty = json_of(&r, render_json);
	ok(j && json_equal(j, pretty), "ndjson: the same document");
	ok(number(j, "run/interval/start_ns") == 2000000000 && !at(j, "final"), "ndjson: an interval");
	json_decref(j);
	json_decref(pretty);
	r.final = true;
	j = json_of(&r, render_ndjson);
	ok(json_is_true(at(j, "final")), "ndjson: the last one says so");
	json_decref(j);
}

/* --- hostile names --- */

TEST(hostile_json)
{
	FREED(report) struct report r = { 0 };
	json_t *j;

	report_hostile(&r);
	j = json_of(&r, render_ndjson);
	ok(j && !strcmp(str(j, "devices/0/via"),
			"\"><script>alert(1)</script>\x1b[2J\xef\xbf\xbd\xef\xbf\xbd"
			"\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\x7f\xc2\x9b\r\n\t\xe2\x80\xae$(rm)\x1f"
			"\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9"),
	   "hostile: what was valid comes back, what was not is U+FFFD");
	ok(!strcmp(str(j, "devices/0/name"), "sd\x1b[31m") && json_array_size(at(j, "run/command")) == 4,
	   "hostile: every argument is there");
	json_decref(j);
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	check_golden("journal", report_journal);
	check_golden("odd", report_odd);
	check_golden("hostile", report_hostile);
	check_golden("nothing", report_nothing);
	texts_hold((make_report *const[]){ report_journal, report_odd, report_hostile, report_stream }, 4);
	tests_run();
	return tap_done();
}
