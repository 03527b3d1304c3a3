// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report out of a run's context and counters: which disks are in it, what was lost, and what the notes say:
 * golden/report_builder.txt.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/analysis.h"
#include "analyse/report_builder.h"
#include "util/mem.h"
#include "situations.h"

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

TEST(which_disks)
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
TEST(parts)
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

TEST(missed)
{
	nothing_counted();
	ok(missed(NULL, REPORT_FINAL) == 7, "requests that only the kernel counted were missed");
	ok(missed(NULL, REPORT_SO_FAR) == 7, "until now, too");
	ok(missed(NULL, REPORT_INTERVAL) == 0, "not of an interval");
	ok(missed("pid 4", REPORT_FINAL) == 0, "nor with a filter, which leaves some out");
}

/* Builds a report, and says what it is like; the frame and the analysis are the caller's. */
static void says(struct frame *f, struct sync_analysis *a, enum report_scope scope, const char *what)
{
	FREED(report) struct report r;

	report_build(f, view_of, NULL, a, scope, &r);
	SAY("%s:%s%s%s%s\n", what, r.have_sync ? " calls" : "", r.have_verdict ? ", a verdict" : "",
	    r.detail ? ", each call" : "", r.incomplete ? ", incomplete" : "");
	for (size_t i = 0; i < r.n_lost; i++)
		SAY("  lost: %llu %s\n", (unsigned long long)r.lost[i].count, r.lost[i].reason);
	if (r.sync.lost)
		SAY("  of calls: %llu\n", (unsigned long long)r.sync.lost);
	for (char **s = r.notes; s && *s; s++)
		SAY("  %s\n", *s);
}

TEST(overflow)
{
	FREED(frame) struct frame f = { .views = 2 };

	nothing_counted();
	views[2].sums.overflow = views[3].sums.overflow = 9;
	says(&f, NULL, REPORT_FINAL, "of no view of this run");
	views[0].sums.overflow = 1;
	says(&f, NULL, REPORT_FINAL, "one request with such a tag");
	views[1].sums.overflow = 3;
	f.views = 4;
	views[3].sums.overflow = 0;
	says(&f, NULL, REPORT_FINAL, "of several views");
}

/* ---- calls ---- */

/* Nothing was fed to the analysis. */
TEST(no_calls)
{
	static const struct {
		enum report_scope scope;
		bool damaged;
		const char *what;
	} rows[] = {
		{ REPORT_FINAL, false, "the run" },
		{ REPORT_FINAL, true, "a damaged one, in which calls may be missing" },
		{ REPORT_SO_FAR, false, "until now" },
		{ REPORT_INTERVAL, false, "an interval" },
	};

	nothing_counted();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		FREED(frame) struct frame f = { .views = 1, .detail = true, .damaged = rows[i].damaged };
		struct sync_opts o = frame_sync_opts(&f);
		struct sync_analysis *a = sync_new(&o);

		report_add_lost(&f.run, 70, LOSS_OF_LEDGERS, "facts and the record of two calls");
		report_add_lost(&f.run, 6, LOSS_OF_ANYTHING, "calls that were not followed");
		f.run.unrecorded = 2;
		says(&f, a, rows[i].scope, rows[i].what);
		sync_free(a);
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

TEST(damaged_facts)
{
	struct wire_head odd = { .kind = 0, .size = sizeof(odd) };
	struct frame f = { .views = 1 };
	struct sync_analysis *a = analysis();

	nothing_counted();
	sync_feed(a, &odd);
	sync_feed(a, &odd);
	says(&f, a, REPORT_FINAL, "facts that make no sense may have been of anything");
	sync_free(a);
}

/* Of the seven switches that were missed those are known already whose facts were dropped. */
TEST(missed_switches)
{
	static const uint64_t rows[][2] = { { 0, 0 }, { 3, 0 }, { 2, 4 }, { 0, 7 }, { 8, 0 } };

	nothing_counted();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct frame f = { .views = 1 };
		struct sync_analysis *a = analysis();

		report_add_lost(&f.run, rows[i][0], LOSS_OF_LEDGERS, "dropped");
		report_add_lost(&f.run, 100, LOSS_OF_REQUESTS, "requests");
		report_add_lost(&f.run, rows[i][1], LOSS_OF_LEDGERS, "late");
		feed_call(a, 1000000000, 0, 7);
		says(&f, a, REPORT_FINAL, "seven switches");
		sync_free(a);
	}
}

/* One fact of a ledger was lost, and no time is unknown. */
TEST(lost_in_scopes)
{
	static const struct {
		enum report_scope scope;
		uint64_t lost;
		const char *what;
	} rows[] = { { REPORT_FINAL, 1, "the run" },
		     { REPORT_SO_FAR, 1, "until now" },
		     { REPORT_INTERVAL, 1, "an interval cannot tell what it changed" },
		     { REPORT_INTERVAL, 0, "of which nothing was lost" } };

	nothing_counted();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct frame f = { .views = 1 };
		struct sync_analysis *a = analysis();

		report_add_lost(&f.run, rows[i].lost, LOSS_OF_LEDGERS, "dropped");
		feed_call(a, 1000000000, 0, 0);
		says(&f, a, rows[i].scope, rows[i].what);
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
	const char *what;
} gone[] = {
	{ 1100, 1, false, REPORT_FINAL, "a process" },
	{ 1100, 2, false, REPORT_SO_FAR, "two processes" },
	{ 2100, 1, true, REPORT_FINAL, "a file" },
	{ 2100, 2, true, REPORT_FINAL, "two files" },
	{ 2100, 2, true, REPORT_INTERVAL, "of an interval" },
	{ 900, 2, true, REPORT_FINAL, "there was room" },
};

TEST(gone)
{
	nothing_counted();
	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
		FREED(frame) struct frame f = { .views = 1, .all = true };
		struct sync_opts o = frame_sync_opts(&f);
		struct sync_analysis *a = sync_new(&o);

		feed_names(a, gone[i].names, gone[i].old, gone[i].files);
		says(&f, a, gone[i].scope, gone[i].what);
		sync_free(a);
	}
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	test_what_if();
	return situations_done("report_builder");
}
