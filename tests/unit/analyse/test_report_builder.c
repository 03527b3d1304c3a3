// SPDX-License-Identifier: GPL-2.0-only
/* A report out of a run's context and counters: which disks are in it, what the notes say, and how calls are to be analysed. */
#include <stdlib.h>
#include <string.h>

#include "analyse/analysis.h"
#include "analyse/report_builder.h"
#include "util/mem.h"
#include "tap.h"

static struct view_counts views[4];

/* The third view counted nothing at all. */
static const struct view_counts *view_of(void *ctx, uint32_t view)
{
	(void)ctx;
	return view == 2 ? NULL : &views[view];
}

static struct frame_device *add(struct frame *f, const char *name, uint32_t view)
{
	struct frame_device *fd = grow((void **)&f->device, &f->n_devices, sizeof(*fd));

	fd->view = view;
	strcpy(fd->facts.name, name);
	return fd;
}

static void nothing_counted(void)
{
	memset(views, 0, sizeof(views));
}

/* ---- disks ---- */

static bool disks_are(struct frame *f, enum report_scope scope, const char *names)
{
	char have[100] = "";
	struct report r;

	report_build(f, view_of, NULL, NULL, scope, &r);
	for (size_t i = 0; i < r.n_devices; i++)
		strcat(strcat(have, have[0] ? " " : ""), r.device[i].name);
	report_free(&r);
	frame_free(f);
	if (!strcmp(have, names))
		return true;
	diag("is \"%s\", not \"%s\"", have, names);
	return false;
}

static struct frame disks(bool all, bool only_command)
{
	struct frame f = { .views = 4, .all = all, .only_command = only_command };

	add(&f, "sda", 0)->facts.scheduler = xstrdup("none"); /* goes with a disk that is left out */
	add(&f, "sdb", 1);
	add(&f, "sdc", 2);
	add(&f, "sdd", 3);
	return f;
}

static void test_which_disks(void)
{
	struct frame f = disks(false, false);

	nothing_counted();
	views[1].cell[WIRE_WRITE_SYNC].count = 1;
	views[3].cell[WIRE_READ_SYNC].count = 1;
	views[3].sums.by_command = 1;
	ok(disks_are(&f, REPORT_FINAL, "sda sdb sdc sdd"), "named disks are always there");
	f = disks(true, false);
	ok(disks_are(&f, REPORT_FINAL, "sdb sdd"), "of all those that did something");
	f = disks(false, true);
	ok(disks_are(&f, REPORT_FINAL, "sdd"), "of those that the command reached no others");
	views[3].sums.by_command = 0;
	f = disks(false, true);
	ok(disks_are(&f, REPORT_FINAL, "sda sdb sdc sdd"), "it reached none: all stay");
	f = disks(true, true);
	ok(disks_are(&f, REPORT_FINAL, "sdb sdd"), "of all those that did something");
	views[0].sums.by_command = 1;
	f = disks(true, true);
	ok(disks_are(&f, REPORT_FINAL, "sda"), "it reached the first");
}

/* A whole disk has what was counted in its named partitions; but the FLUSHes of these are the disk's own. */
static void test_parts(void)
{
	struct frame f = { .views = 4 };
	struct frame_device *fd = add(&f, "sda", 0);
	struct report r;

	nothing_counted();
	for (uint32_t i = 0; i < 4; i++) {
		views[i].cell[WIRE_WRITE_SYNC].count = 1 + 9 * i;
		views[i].cell[WIRE_FLUSH].count = 1;
		views[i].sums.flush_pre = 1;
		views[i].sums.merges = 2;
	}
	fd->facts.scheduler = xstrdup("none"); /* the report's, from then on */
	fd->n_parts = 3;
	fd->part_view[0] = 1;
	fd->part_view[1] = 2; /* which counted nothing */
	fd->part_view[2] = 3;
	fd->part_view[3] = 1;
	hist_add(&views[0].cell[WIRE_WRITE_SYNC].total, 5);
	report_build(&f, view_of, NULL, NULL, REPORT_FINAL, &r);
	ok(r.n_devices == 1 && r.device[0].op[OP_WRITE_SYNC].count == 39 && r.device[0].merges == 6,
	   "the disk and its parts add up");
	ok(r.device[0].naive_write.count == 1, "what other tools see is made of both");
	ok(!strcmp(r.device[0].scheduler, "none") && !fd->facts.scheduler,
	   "what is known of the disk goes into the report");
	ok(r.device[0].op[OP_FLUSH].count == 1 && r.device[0].flush.pre == 1, "FLUSHes are counted once");
	report_free(&r);
	frame_free(&f);
}

/* ---- what was missed ---- */

static uint64_t missed(const char *filter, enum report_scope scope)
{
	struct frame f = { .views = 1 };
	struct report r;
	uint64_t lost;

	add(&f, "sda", 0)->facts.kernel = (struct report_kernel){ .have = true, .reads = 7 };
	f.run.filter = xstrdup(filter);
	report_build(&f, view_of, NULL, NULL, scope, &r);
	lost = r.lost_events;
	report_free(&r);
	frame_free(&f);
	return lost;
}

static void test_missed(void)
{
	nothing_counted();
	ok(missed(NULL, REPORT_FINAL) == 7, "requests that only the kernel counted were missed");
	ok(missed(NULL, REPORT_SO_FAR) == 7, "until now, too");
	ok(missed(NULL, REPORT_INTERVAL) == 0, "not of an interval");
	ok(missed("pid 4", REPORT_FINAL) == 0, "nor with a filter, which leaves some out");
}

static void test_overflow(void)
{
	struct frame f = { .views = 2 };
	struct report r;

	nothing_counted();
	views[2].sums.overflow = views[3].sums.overflow = 9; /* of no view of this run */
	report_build(&f, view_of, NULL, NULL, REPORT_FINAL, &r);
	ok(!r.notes && !r.have_sync && !r.have_verdict, "no note, and no calls");
	report_free(&r);
	views[0].sums.overflow = 1;
	report_build(&f, view_of, NULL, NULL, REPORT_FINAL, &r);
	ok(strv_len(r.notes) == 1 && !strncmp(r.notes[0], "1 request with a tag beyond", 27),
	   "one request with such a tag");
	report_free(&r);
	views[1].sums.overflow = 3;
	f.views = 4;
	views[3].sums.overflow = 0;
	report_build(&f, view_of, NULL, NULL, REPORT_FINAL, &r);
	ok(strv_len(r.notes) == 1 && !strncmp(r.notes[0], "4 requests with a tag beyond", 28), "of several views");
	report_free(&r);
	frame_free(&f);
}

/* ---- calls ---- */

/* Nothing was fed to the analysis. */
static void test_no_calls(void)
{
	static const struct {
		enum report_scope scope;
		bool damaged, detail, verdict;
		const char *what;
	} rows[] = {
		{ REPORT_FINAL, false, true, true, "the run: a verdict, every call" },
		{ REPORT_FINAL, true, true, false, "a damaged one: no verdict on calls that may be missing" },
		{ REPORT_SO_FAR, false, false, true, "until now: the calls stay" },
		{ REPORT_INTERVAL, false, false, true, "an interval" },
	};

	nothing_counted();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct frame f = { .views = 1, .detail = true, .damaged = rows[i].damaged };
		struct sync_opts o = frame_sync_opts(&f);
		struct sync_analysis *a = sync_new(&o);
		struct report r;

		report_add_lost(&f.run, 70, LOSS_OF_LEDGERS, "facts and the record of two calls");
		report_add_lost(&f.run, 6, LOSS_OF_ANYTHING, "calls that were not followed");
		f.run.unrecorded = 2;
		report_build(&f, view_of, NULL, a, rows[i].scope, &r);
		ok(r.have_sync && r.have_verdict == rows[i].verdict && !r.detail == !rows[i].detail &&
			   r.sync.lost == 8 && r.incomplete,
		   "%s", rows[i].what);
		ok(!r.notes, "no notes");
		report_free(&r);
		sync_free(a);
		frame_free(&f);
	}
}

/* ---- what was lost ---- */

static struct sync_analysis *analysis(void)
{
	struct frame f = { .all = true };
	struct sync_opts o = frame_sync_opts(&f);

	return sync_new(&o);
}

/* A call of 1 ms, for most of which it waited for a CPU. The kernel counted so many more switches than there are facts of. */
static void feed_call(struct sync_analysis *a, uint64_t enter, uint32_t seq, uint16_t missed)
{
	struct wire_sleep sleep = { .head = { .kind = WIRE_SLEEP, .size = WIRE_SLEEP_SHORT },
				    .off = enter + 1000,
				    .wake = enter + 1000,
				    .on = enter + 900000,
				    .tid = 1,
				    .seq = seq,
				    .how = HOW_PREEMPTED };
	struct wire_sync s = { .head = { .kind = WIRE_SYNC, .size = sizeof(s) },
			       .call = CALL_FSYNC,
			       .tid = 1,
			       .tgid = 1,
			       .enter = enter,
			       .exit = enter + 1000000,
			       .sleeps = 1 };

	s.switches = (uint16_t)(1 + missed);
	sync_feed(a, &sleep.head);
	sync_feed(a, &s.head);
}

static uint64_t lost_of(const struct report *r, const char *reason)
{
	for (size_t i = 0; i < r->n_lost; i++)
		if (!strncmp(r->lost[i].reason, reason, strlen(reason)))
			return r->lost[i].count;
	return 0;
}

static void test_damaged_facts(void)
{
	struct wire_head odd = { .kind = 0, .size = sizeof(odd) };
	struct frame f = { .views = 1 };
	struct sync_analysis *a = analysis();
	struct report r;

	nothing_counted();
	sync_feed(a, &odd);
	sync_feed(a, &odd);
	report_build(&f, view_of, NULL, a, REPORT_FINAL, &r);
	ok(lost_of(&r, "facts about sync calls that made no sense") == 2 && r.sync.lost == 2 && r.incomplete,
	   "facts that make no sense may have been of anything");
	report_free(&r);
	sync_free(a);
}

/* Of the switches that were missed those are known already whose facts were dropped. */
static void test_missed_switches(void)
{
	static const struct {
		uint64_t dropped, late, missed;
	} rows[] = { { 0, 0, 7 }, { 3, 0, 4 }, { 2, 4, 1 }, { 0, 7, 0 }, { 8, 0, 0 } };

	nothing_counted();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct frame f = { .views = 1 };
		struct sync_analysis *a = analysis();
		struct report r;

		report_add_lost(&f.run, rows[i].dropped, LOSS_OF_LEDGERS, "dropped");
		report_add_lost(&f.run, 100, LOSS_OF_REQUESTS, "requests");
		report_add_lost(&f.run, rows[i].late, LOSS_OF_LEDGERS, "late");
		feed_call(a, 1000000000, 0, 7);
		report_build(&f, view_of, NULL, a, REPORT_FINAL, &r);
		ok(lost_of(&r, "switches of tasks") == rows[i].missed && lost_of(&r, "dropped") == rows[i].dropped &&
			   !r.sync.lost,
		   "seven switches were missed, %llu facts dropped and %llu late", (unsigned long long)rows[i].dropped,
		   (unsigned long long)rows[i].late);
		report_free(&r);
		sync_free(a);
	}
}

/* One fact of a ledger was lost, and no time is unknown. */
static void test_lost_in_scopes(void)
{
	static const struct {
		enum report_scope scope;
		uint64_t lost;
		bool incomplete;
	} rows[] = { { REPORT_FINAL, 1, false },
		     { REPORT_SO_FAR, 1, false },
		     { REPORT_INTERVAL, 1, true },
		     { REPORT_INTERVAL, 0, false } };

	nothing_counted();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct frame f = { .views = 1 };
		struct sync_analysis *a = analysis();
		struct report r;

		report_add_lost(&f.run, rows[i].lost, LOSS_OF_LEDGERS, "dropped");
		feed_call(a, 1000000000, 0, 0);
		report_build(&f, view_of, NULL, a, rows[i].scope, &r);
		ok(r.incomplete == rows[i].incomplete,
		   rows[i].incomplete ? "an interval cannot tell what it changed" : "nothing that could matter");
		report_free(&r);
		sync_free(a);
	}
}

/* Two calls that waited for a CPU. */
static void test_what_if(void)
{
	nothing_counted();
	for (int damaged = 0; damaged < 2; damaged++)
		for (enum report_scope scope = REPORT_INTERVAL; scope <= REPORT_FINAL; scope++) {
			struct frame f = { .views = 1, .damaged = damaged, .run.wall_ns = 3000000 };
			struct sync_analysis *a = analysis();
			struct report r;

			feed_call(a, 1000000000, 0, 0);
			feed_call(a, 1002000000, 1, 0);
			report_build(&f, view_of, NULL, a, scope, &r);
			ok(!r.n_whatif == (scope != REPORT_FINAL), "what-if only of the run");
			ok(r.have_verdict, "a verdict, as there are calls");
			report_free(&r);
			sync_free(a);
		}
}

/* ---- names that gave way ---- */

/* So many names of which the first were not seen for two minutes when there is room for no more; each file or process is another. */
static void feed_names(struct sync_analysis *a, uint32_t names, uint32_t old, bool files)
{
	for (uint32_t i = 0; i < names; i++) {
		struct wire_sync s = { .head = { .kind = WIRE_SYNC, .size = sizeof(s) },
				       .call = CALL_FSYNC,
				       .dev = WIRE_DEV(8, 1) };

		s.enter = 1000000000ull + (i < old ? 0 : 120000000000ull) + i * 10000;
		s.exit = s.enter + (i < old ? 10 : 1000);
		s.tid = s.tgid = files ? 1 : 1 + i;
		s.ino = files ? 1 + i : 1;
		sync_feed(a, &s.head);
	}
}

static const struct {
	uint32_t names, old;
	bool files;
	enum report_scope scope;
	const char *note;
} gone[] = {
	{ 1100, 1, false, REPORT_FINAL,
	  "1 process that had not been seen for a minute gave way to later ones: what they came to is under (other processes), and one that "
	  "came back is counted from then on" },
	{ 1100, 2, false, REPORT_SO_FAR,
	  "2 processes that had not been seen for a minute gave way to later ones: what they came to is under (other processes), and one that "
	  "came back is counted from then on" },
	{ 2100, 1, true, REPORT_FINAL,
	  "1 file that had not been seen for a minute gave way to later ones: what they came to is under (other files), and one that came back "
	  "is counted from then on" },
	{ 2100, 2, true, REPORT_FINAL,
	  "2 files that had not been seen for a minute gave way to later ones: what they came to is under (other files), and one that came back "
	  "is counted from then on" },
	{ 2100, 2, true, REPORT_INTERVAL, NULL },
	{ 900, 2, true, REPORT_FINAL, NULL },
};

static void test_gone(void)
{
	nothing_counted();
	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
		struct frame f = { .views = 1, .all = true };
		struct sync_opts o = frame_sync_opts(&f);
		struct sync_analysis *a = sync_new(&o);
		struct report r;
		bool good;

		feed_names(a, gone[i].names, gone[i].old, gone[i].files);
		report_build(&f, view_of, NULL, a, gone[i].scope, &r);
		good = gone[i].note ? strv_len(r.notes) == 1 && !strcmp(r.notes[0], gone[i].note) : !r.notes;
		if (!ok(good, "%u names, %u of them old", gone[i].names, gone[i].old))
			diag("is %s", r.notes ? r.notes[0] : "nothing");
		report_free(&r);
		sync_free(a);
		frame_free(&f);
	}
}

int main(void)
{
	test_which_disks();
	test_parts();
	test_missed();
	test_overflow();
	test_no_calls();
	test_damaged_facts();
	test_missed_switches();
	test_lost_in_scopes();
	test_what_if();
	test_gone();
	return tap_done();
}
