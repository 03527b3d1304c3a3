// SPDX-License-Identifier: GPL-2.0-only
/* Sync calls that have not returned: what /proc, sysfs and debugfs say, also where it makes no sense; what follows; the words for it. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyse/verdict/verdict.h"
#include "analyse/waiting.h"
#include "util/buf.h"
#include "util/clock.h"
#include "host/in_flight.h"
#include "host/journal_threads.h"
#include "host/task_proc.h"
#include "fake_tree.h"
#include "model/outstanding.h"
#include "recording/run_context_json.h"
#include "util/mem.h"
#include "render/render.h"
#include "render/tui/screen.h"
#include "tap.h"
#include "wire.h"

#define MS  1000000ull
#define SEC 1000000000ull

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* ---- /proc ---- */

static void test_call(void)
{
	static const char *const bad[] = {
		"",
		"x",
		"74",
		"74 0x1",
		"74 0x1 0x0 0x1000 0x0 0x0 0x0 0x7ffe",
		"74 1 2 3 4 5 6 7 8",
		"-2 0x1 0x2",
		"-1",
		"99999999999999999999 0x1 0x0 0x1000 0x0 0x0 0x0 0x7ffe 0x1",
		"74 0x1 0x0 0x1000 0x0 0x0 0xg 0x7ffe 0x1",
		"74 0x11111111111111111 0x0 0x1000 0x0 0x0 0x0 0x7ffe 0x1",
	};
	struct task_call c = { .nr = 7 };

	ok(task_call_parse("74 0x3 0x0 0x1000 0x7fbf 0x0 0xff 0x7ffe917d2498 0x7fbfdcfb5c20\n", &c) && c.nr == 74 &&
		   c.arg[0] == 3 && c.arg[2] == 0x1000 && c.arg[5] == 0xff && c.sp == 0x7ffe917d2498 && !c.running,
	   "a system call and its arguments");
	ok(!task_call_is_32bit(&c), "of a 64-bit program");
	ok(task_call_parse("118 0x3 0x0 0x0 0x0 0x0 0x0 0xff8f1c2c 0xf7f2b549", &c) && task_call_is_32bit(&c),
	   "of a 32-bit one");
	ok(task_call_parse("running", &c) && c.running && c.nr == -1 && !task_call_is_32bit(&c), "a task that runs");
	ok(task_call_parse("-1 0x7ffe917d2498 0x7fbfdcfb5c20", &c) && c.nr == -1 && !c.running, "none");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		c.nr = 7;
		ok(!task_call_parse(bad[i], &c) && c.nr == 7, "no system call: '%s'", bad[i]);
	}
	ok(!task_call_parse(NULL, &c), "no file");
}

#define STAT(comm) \
	"14457 (" comm \
	") D 14257 14188 6930 0 -1 4194304 125 0 0 0 0 0 0 0 20 0 1 0 39338 3039232 414 1844 94 94 14 0 0 0 0 6 " \
	"512 1 0 0 17 3 0 0 0 0 0 94 94 94 14 14 14 14 0\n"

static void test_stat(void)
{
	static const char *const bad[] = {
		"",
		"14457",
		"14457 (dd",
		"14457 (dd)",
		"14457 (dd) ",
		"14457 (dd) 7 1 2",
		"14457 dd) D 1",
		"14457 (dd) D 1 2 3",
		"14457 (dd) D 14257 14188 6930 0 -1 x 125 0 0 0 0 0 0 0 20 0 1 0 39338 3039232 414",
	};
	struct task_stat s;

	ok(task_stat_parse(STAT("dd"), &s) && !strcmp(s.comm, "dd") && s.state == 'D' && s.start == 39338 &&
		   s.cpu == 3 && !s.kernel_thread,
	   "a task");
	ok(task_stat_parse(STAT("a) R (b"), &s) && !strcmp(s.comm, "a) R (b") && s.state == 'D',
	   "its name may hold anything");
	ok(task_stat_parse(STAT("kworker/u8:2-loop0-and-more"), &s) && strlen(s.comm) == 15, "a long one is cut");
	ok(task_stat_parse("9 (jbd2/loop0-8) D 2 0 0 0 -1 2359360 0 0 0 0 0 0 0 0 20 0 1 0 39334 0 0 1 0 0 0 0 0 0 0 2147483647 0 1 0 0 17 0 0",
			   &s) &&
		   s.kernel_thread,
	   "a kernel thread");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ok(!task_stat_parse(bad[i], &s), "no task: '%s'", bad[i]);
	ok(!task_stat_parse(NULL, &s), "no file");
}

static void test_stack(void)
{
	char **names = task_stack_parse(
		"[<0>] jbd2_log_wait_commit+0xc2/0x150 [jbd2]\n[<0>] do_fsync+0x3b/0xa0\n\ngarbage\n[<0>\n[<0>] \n"
		"[<0>] 0xffffffff81000000\n[<0>] last");

	ok(strv_len(names) == 3 && !strcmp(names[0], "jbd2_log_wait_commit") && !strcmp(names[1], "do_fsync") &&
		   !strcmp(names[2], "last"),
	   "functions of a stack, and no more");
	strv_free(names);
	ok(!task_stack_parse("") && !task_stack_parse(NULL) && !task_stack_parse("none"), "no stack");
}

static void test_sched(void)
{
	static const char *const bad[] = {
		"",
		"se.exec_start",
		"se.exec_start :",
		"se.exec_start : x",
		"se.exec_start : 12",
		"se.exec_start : 12.5",
		"se.exec_start : 0.000000",
		"se.exec_start : 99999999999999999999.000001",
		"exec_start : 1.000000",
	};
	uint64_t ns = 0;

	ok(task_on_cpu_parse("cat (1, #threads: 1)\n----\nse.exec_start                :        393300.480467\nse.vruntime : 1.2\n",
			     &ns) &&
		   ns == 393300480467ull,
	   "when a task last ran");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ok(!task_on_cpu_parse(bad[i], &ns), "not known when: '%s'", bad[i]);
	ok(task_switches_parse("Name:\tx\nvoluntary_ctxt_switches:\t20\nnonvoluntary_ctxt_switches:\t3\n", &ns) && ns == 23,
	   "switches");
	ok(!task_switches_parse("voluntary_ctxt_switches:\t20\n", &ns) && !task_switches_parse(NULL, &ns), "no switches");
	ok(task_capable_parse("CapPrm:\t0\nCapEff:\t0000000000080000\n", 19) &&
		   !task_capable_parse("CapEff:\t0000000000080000\n", 18) && !task_capable_parse("CapEff:\t\n", 19) &&
		   !task_capable_parse(NULL, 19),
	   "a capability");
}

static void test_files(void)
{
	struct task_file f;
	char *path = NULL;
	uint32_t dev = 0;

	ok(task_file_parse("pos:\t4096\nflags:\t0110001\nmnt_id:\t61\nino:\t12\n", &f) && f.flags == 0110001 &&
		   f.mount == 61,
	   "a file");
	ok(!task_file_parse("pos:\t4096\nflags:\t0110001\n", &f) && !task_file_parse("flags:\tx\nmnt_id:\t1\n", &f) &&
		   !task_file_parse(NULL, &f),
	   "no file");
	ok(task_mapping_parse("7f00-7f10 rw-p 00000000 00:00 0 \n7f20-7f40 rw-s 00000000 fd:01 123                        /srv/a b\n",
			      0x7f30, &path, &dev) &&
		   !strcmp(path, "/srv/a b") && dev == WIRE_DEV(0xfd, 1),
	   "the mapping of an address");
	free(path);
	ok(!task_mapping_parse("7f00-7f10 rw-p 00000000 00:00 0 \n", 0x7f05, &path, &dev) &&
		   !task_mapping_parse("7f20-7f40 rw-s 0 fd:01 123 /srv/a\n", 0x7f40, &path, &dev) &&
		   !task_mapping_parse("garbage\n-\n7f20\n", 0x7f20, &path, &dev) &&
		   !task_mapping_parse(NULL, 1, &path, &dev),
	   "none");
}

/* Of a real task: never more than it is. */
static void test_asleep(void)
{
	uint64_t began = 0, now, ns;
	int pipes[2];
	pid_t child;

	sysfs_roots(NULL, NULL);
	if (pipe(pipes) || (child = fork()) < 0) {
		ok(false, "a child to look at");
		return;
	}
	if (!child) {
		began = clock_ns();
		if (write(pipes[1], &began, sizeof(began)) == sizeof(began))
			for (;;)
				pause();
		_exit(1);
	}
	ok(read(pipes[0], &began, sizeof(began)) == sizeof(began), "a child that goes to sleep");
	usleep(300000);
	ns = task_asleep_ns((uint32_t)child, (uint32_t)child);
	now = clock_ns();
	if (!ok(ns <= now - began && (ns > 100 * MS || access("/proc/self/sched", R_OK)),
		"for how long it has slept, at least"))
		diag("%" PRIu64 " ns of %" PRIu64, ns, now - began);
	ok(task_asleep_ns((uint32_t)getpid(), (uint32_t)getpid()) < 100 * MS, "who has just run hasn't slept for long");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ok(!task_asleep_ns((uint32_t)child, (uint32_t)child), "nor does who is gone");
	close(pipes[0]);
	close(pipes[1]);
}

/* ---- in flight ---- */

#define BUSY(op, state) \
	"00000000064050fc {.op=" op ", .cmd_flags=SYNC, .rq_flags=STATS, .state=" state ", .tag=45, .internal_tag=-1}\n"

static void test_in_flight(void)
{
	struct requests_in_flight n = { 0 };

	ok(in_flight_busy(BUSY("WRITE", "in_flight") BUSY("FLUSH", "in_flight") BUSY("WRITE", "complete")
				  BUSY("ZONE_RESET", "in_flight") "\n",
			  &n) &&
		   n.n[ROW_WRITE] == 1 && n.n[ROW_FLUSH] == 1 && n.n[ROW_OTHER] == 1 && !n.n[ROW_READ],
	   "what debugfs says");
	ok(in_flight_busy("", &n), "nothing");
	ok(!in_flight_busy("something else\n", &n) && !in_flight_busy("{.op=\n", &n) && !in_flight_busy(NULL, &n),
	   "nonsense");
	ok(in_flight_sysfs("       3        2", &n) && n.n[ROW_READ] == 3 && n.n[ROW_WRITE] == 2, "what sysfs says");
	ok(!in_flight_sysfs("3", &n) && !in_flight_sysfs("", &n) && !in_flight_sysfs(NULL, &n), "nonsense");
}

static struct in_flight look(uint64_t from, uint64_t to, uint64_t flushes, uint64_t done)
{
	struct in_flight f = { .from_ns = from, .to_ns = to, .n = { .have = true, .by_kind = true } };

	f.n.n[ROW_FLUSH] = flushes;
	f.before.have[ROW_FLUSH] = f.after.have[ROW_FLUSH] = true;
	f.before.n[ROW_FLUSH] = f.after.n[ROW_FLUSH] = done;
	return f;
}

static void test_in_flight_since(void)
{
	struct in_flight then = look(100, 110, 1, 7), now = look(500, 510, 1, 7);

	ok(in_flight_since(&then, &now, ROW_FLUSH) == 390, "it is the same one: none was completed");
	now.after.n[ROW_FLUSH] = 8;
	ok(!in_flight_since(&then, &now, ROW_FLUSH), "one was completed: not known whether it is");
	now = look(500, 510, 0, 7);
	ok(!in_flight_since(&then, &now, ROW_FLUSH), "none is left");
	now = look(500, 510, 1, 7);
	then.n.n[ROW_FLUSH] = 0;
	ok(!in_flight_since(&then, &now, ROW_FLUSH), "none was there");
	then = look(100, 110, 1, 7);
	then.before.have[ROW_FLUSH] = false;
	ok(!in_flight_since(&then, &now, ROW_FLUSH), "an old kernel that doesn't count them");
}

static void test_in_flight_files(void)
{
	struct in_flight f;

	put("sys/class/block/bta/inflight", "  1   4\n");
	put("sys/class/block/bta/stat", " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n");
	in_flight_read("bta", &f);
	ok(f.n.have && !f.n.by_kind && f.n.n[ROW_READ] == 1 && f.n.n[ROW_WRITE] == 4 && f.before.n[ROW_FLUSH] == 16 &&
		   f.after.n[ROW_WRITE] == 5,
	   "without debugfs");
	put("sys/kernel/debug/block/bta/hctx0/busy", BUSY("FLUSH", "in_flight"));
	put("sys/kernel/debug/block/bta/hctx1/busy", BUSY("READ", "in_flight"));
	in_flight_read("bta", &f);
	ok(f.n.by_kind && f.n.n[ROW_FLUSH] == 1 && f.n.n[ROW_READ] == 1 && !f.n.n[ROW_WRITE], "with it, all queues");
	put("sys/kernel/debug/block/bta/hctx1/busy", "a format to come\n");
	in_flight_read("bta", &f);
	ok(!f.n.by_kind && f.n.n[ROW_WRITE] == 4, "one that is not understood is as good as none");
	in_flight_read("nosuch", &f);
	ok(!f.n.have, "no such disk");
}

/* ---- the journals' threads ---- */

static void test_journals(void)
{
	struct journal_thread *j;
	size_t n;

	put("proc/7/comm", "jbd2/sda1-8\n");
	put("proc/8/comm", "kworker/0:1\n");
	put("proc/9/comm", "jbd2/dm-0-8\n");
	put("proc/10/comm", "bash\n");
	j = journal_threads(&n);
	ok(n == 2 && j[0].tid == 7 && !strcmp(j[0].name, "jbd2/sda1-8") && j[1].tid == 9, "among all processes");
	free(j);
	put("proc/2/comm", "kthreadd\n");
	put("proc/2/task/2/children", "3 7 8 \n");
	j = journal_threads(&n);
	ok(n == 1 && j[0].tid == 7, "among kernel threads alone, where the kernel says which these are");
	free(j);
	put("proc/2/comm", "bash\n");
	j = journal_threads(&n);
	ok(n == 2, "with numbers of our own process 2 is no kernel thread");
	free(j);
}

/* ---- what it waits for ---- */

static char *const commit[] = { "jbd2_log_wait_commit", "ext4_sync_file", NULL };
static char *const committing[] = { "jbd2_journal_commit_transaction", "kjournald2", NULL };
static char *const batching[] = { "jbd2_journal_wait_updates", "jbd2_journal_commit_transaction", NULL };
static char *const pages[] = { "folio_wait_bit", "folio_wait_writeback", NULL };
static char *const own_flush[] = { "submit_bio_wait", "blkdev_issue_flush", "ext4_sync_file", NULL };
static char *const tag[] = { "blk_mq_get_tag.isra.0", "__blk_mq_alloc_requests", NULL };
static char *const strange[] = { "some_function", NULL };

static struct report_outstanding explained(const struct waiting *w)
{
	struct report_outstanding o = { 0 };

	waiting_explain(w, &o);
	return o;
}

static void drop(struct report_outstanding *o)
{
	struct report_outstanding *one = xcalloc(1, sizeof(*one));

	*one = *o;
	outstanding_free(one, 1);
}

static bool is(const char *s, const char *want)
{
	return s && want ? !strcmp(s, want) : s == want;
}

/* step, via, op, certain, for how long */
static void waits(const struct waiting *w, const char *step, const char *op, bool certain, uint64_t ns, const char *name)
{
	struct report_outstanding o = explained(w);

	if (!ok(is(o.step, step) && is(o.op, op) && o.certain == certain && o.request_ns == ns, "%s", name))
		diag("step %s, op %s, certain %d, %" PRIu64 " ns", o.step, o.op ? o.op : "none", o.certain, o.request_ns);
	drop(&o);
}

static void test_waiting_seen(void)
{
	struct waiting_request q[] = {
		{ .sender = 9, .held = true, .unsent = true, .op = ROW_OTHER, .ns = 4 * SEC },
		{ .flush = true, .op = ROW_FLUSH, .ns = 3 * SEC },
		{ .sender = 8, .op = ROW_WRITE, .ns = 5 * SEC },
	};
	struct waiting_disk d = { .name = "sda", .request = q, .n_requests = 3 };
	struct waiting w = {
		.call = { 5, 'D', commit, NULL },
		.journal = { 9, 'D', committing, "jbd2/sda-8" },
		.disk = &d,
		.n_disks = 1,
	};
	struct report_outstanding o = explained(&w);

	ok(is(o.step, "flush") && is(o.via, "jbd2/sda-8") && o.via_tid == 9 && is(o.op, "flush") && is(o.disk, "sda") &&
		   o.certain && !o.queued && o.request_ns == 3 * SEC && !o.request_before &&
		   is(o.where, "jbd2_log_wait_commit"),
	   "the journal's commit waits for a FLUSH");
	drop(&o);
	d.n_requests = 1;
	waits(&w, "flush.wait", "flush", true, 4 * SEC, "one that has not been sent");
	q[0] = (struct waiting_request){ .sender = 9, .op = ROW_WRITE, .ns = 2 * SEC };
	waits(&w, "device.write", "write", true, 2 * SEC, "its write is in the device");
	q[0] = (struct waiting_request){ .sender = 9, .queued = true, .op = ROW_OTHER, .ns = 2 * SEC };
	waits(&w, "ioq", "other", true, 2 * SEC, "or in the queue");
	q[0].sender = 5;
	waits(&w, "journal", NULL, false, 0, "another's request in the queue is none that is in the device");
	w.call.stack = strange;
	waits(&w, "ioq", "other", true, 2 * SEC, "its own request tells where its stack doesn't");
}

static void test_waiting_before(void)
{
	struct waiting_disk d2[2] = { { .name = "sda" }, { .name = "sdb" } };
	struct waiting w = {
		.call = { 5, 'D', commit, NULL },
		.journal = { 9, 'D', committing, "jbd2/sda-8" },
		.disk = d2,
		.n_disks = 1,
	};

	waits(&w, "journal", NULL, false, 0, "nothing is known to be in flight");
	d2->n.have = d2->n.by_kind = true;
	d2->n.n[ROW_FLUSH] = d2->n.n[ROW_WRITE] = 1;
	waits(&w, "flush", "flush", false, 0, "a FLUSH is, not known for how long");
	d2->since_ns[ROW_FLUSH] = d2->since_ns[ROW_WRITE] = 2 * SEC;
	waits(&w, "flush", "flush", false, 2 * SEC, "of two that are there for as long a commit waits for the FLUSH");
	d2->since_ns[ROW_WRITE] = 3 * SEC;
	waits(&w, "device.write", "write", false, 3 * SEC, "the older one comes first");
	w.journal.stack = batching;
	waits(&w, "journal", NULL, false, 0, "a commit that waits for handles waits for no I/O");
	w.journal.stack = committing;
	w.journal.state = 'S';
	waits(&w, "journal", NULL, false, 0, "nor does one that has nothing to do");
	w.journal.tid = 0;
	waits(&w, "device.write", "write", false, 3 * SEC, "no thread of the journal is known");
	w.call.stack = pages;
	d2->since_ns[ROW_FLUSH] = d2->since_ns[ROW_WRITE] = SEC;
	waits(&w, "device.write", "write", false, SEC, "who waits for pages waits for a write");
	w.call.stack = own_flush;
	waits(&w, "flush", "flush", false, SEC, "a flush of its own waits for the one that is in flight");
	w.n_disks = 2;
	waits(&w, "flush", "flush", false, SEC, "on which of two disks isn't known");
	w.n_disks = 1;
	w.call.stack = tag;
	waits(&w, "tag", NULL, false, 0, "no request is free; a compiler's name for it");
	w.call.stack = strange;
	waits(&w, "unknown", NULL, false, 0, "a place that is not listed");
	w.call.stack = NULL;
	waits(&w, "unknown", NULL, false, 0, "no stack can be read");
	w.call.state = 'R';
	waits(&w, "cpu", NULL, false, 0, "it runs");
	d2->n.n[ROW_FLUSH] = 0;
	w.call = (struct waiting_task){ 5, 'D', (char *const[]){ "blkdev_issue_flush", NULL }, NULL };
	waits(&w, "flush", NULL, false, 0, "its own flush, of which the disk says nothing");
}

/* A FLUSH or a write from before, and what the trace saw somebody else send since: its time is exact, and may be more than "at least". */
static void test_waiting_older_than_seen(void)
{
	struct waiting_request q = { .sender = 8, .op = ROW_WRITE, .ns = 1990 * MS };
	struct waiting_disk d = {
		.name = "sda",
		.n = { .have = true, .by_kind = true, .n = { [ROW_FLUSH] = 1, [ROW_WRITE] = 1 } },
		.since_ns = { [ROW_FLUSH] = 1970 * MS },
		.first_look_ns = 1969 * MS,
		.request = &q,
		.n_requests = 1,
	};
	struct waiting w = {
		.call = { 5, 'D', commit, NULL },
		.journal = { 9, 'D', committing, "jbd2/sda-8" },
		.disk = &d,
		.n_disks = 1,
	};

	waits(&w, "flush", "flush", false, 1970 * MS, "a FLUSH from before is older than a write that was seen to begin");
	w.call.stack = pages;
	waits(&w, "flush", "flush", false, 1970 * MS, "also for who waits for pages");
	d.since_ns[ROW_WRITE] = 1970 * MS;
	waits(&w, "flush", "flush", false, 1970 * MS, "the write that the first look found is the one that was seen");
	q.ns = 1960 * MS;
	waits(&w, "device.write", "write", false, 1970 * MS, "it is an older one");
	d.since_ns[ROW_WRITE] = 0;
	q = (struct waiting_request){ .flush = true, .op = ROW_FLUSH, .ns = 1990 * MS };
	waits(&w, "flush", "flush", false, 1990 * MS, "a FLUSH that was seen to begin has its exact time");
	d.since_ns[ROW_FLUSH] = 0;
	q = (struct waiting_request){ .sender = 8, .op = ROW_WRITE, .ns = 1990 * MS };
	waits(&w, "device.write", "write", false, 1990 * MS, "of a FLUSH it isn't known that it is older");
}

/* ---- words ---- */

static void says(const struct report_outstanding *o, const char *who, const char *wait, const char *name)
{
	struct buf a = { 0 }, b = { 0 };

	outstanding_who(o, &a);
	outstanding_wait(o, &b);
	if (!ok((!who || is(a.data, who)) && is(b.data, wait), "%s", name))
		diag("'%s' '%s'", a.data, b.data);
	buf_free(&a);
	buf_free(&b);
}

#define S(s) ((char *)(s))

static void test_words(void)
{
	struct report_outstanding o = {
		.pid = 17,
		.tid = 17,
		.comm = S("dd"),
		.call = S("fsync"),
		.path = S("/srv/f"),
		.device = S("sda"),
		.before = true,
		.ns = 3 * SEC,
		.step = S("flush"),
		.via = S("jbd2/sda-8"),
		.op = S("flush"),
		.disk = S("sda"),
		.request_before = true,
		.request_ns = 2 * SEC,
	};

	says(&o, "dd (17) has been in fsync on /srv/f (sda) for at least 3.00 s",
	     "It waits for jbd2/sda-8, and sda has not completed a FLUSH for at least 2.00 s.", "from before the trace");
	o = (struct report_outstanding){
		.pid = 17,
		.tid = 18,
		.comm = S("dd"),
		.call = S("syncfs"),
		.device = S("sda"),
		.ns = 3 * SEC,
		.step = S("device.write"),
		.op = S("write"),
		.disk = S("sda"),
		.request_ns = 2 * SEC,
		.certain = true,
	};
	says(&o, "dd (17, thread 18) has been in syncfs on sda for 3.00 s",
	     "It waits for a write that has been in sda for 2.00 s.", "seen");
	o.queued = true;
	says(&o, NULL, "It waits for a write that has been in the queue of sda for 2.00 s.", "queued");
	o.op = S("flush");
	says(&o, NULL, "It waits for a FLUSH that has not been sent to sda.", "a FLUSH to come");
	o.op = o.device = NULL;
	o.step = S("unknown");
	o.comm = S("");
	says(&o, "? (17, thread 18) has been in syncfs for 3.00 s", "What it waits for is not known.",
	     "hardly anything is known");
	o.where = S("some_function");
	says(&o, NULL, "What it waits for is not known: it sleeps in some_function.", "but where it sleeps");
	o.step = S("tag");
	says(&o, NULL, "It waits for a free request of the disk.", "a step without a request");
}

/* ---- the verdict, and what the outputs make of it ---- */

static struct report_outstanding *hangs(struct report *r, bool before)
{
	struct report_outstanding *o = grow((void **)&r->outstanding, &r->n_outstanding, sizeof(*o));

	*o = (struct report_outstanding){
		.pid = 4711,
		.tid = 4711,
		.comm = xstrdup("dd"),
		.cmdline = xstrdup("dd of=<f>"),
		.call = xstrdup("fsync"),
		.path = xstrdup("/srv/<f>\x1b"),
		.device = xstrdup("sda"),
		.before = before,
		.ns = 3 * SEC,
		.step = xstrdup("flush"),
		.where = xstrdup("jbd2_log_wait_commit"),
		.via = xstrdup("jbd2/sda-8"),
		.via_tid = 9,
		.op = xstrdup("flush"),
		.disk = xstrdup("sda"),
		.certain = !before,
		.request_before = before,
		.request_ns = 2 * SEC,
	};
	r->under_way++;
	r->under_way_ns = 3 * SEC;
	return o;
}

static struct report fresh(void)
{
	struct report r = { .have_sync = true, .wall_ns = 2 * SEC };
	struct report_device *d = grow((void **)&r.device, &r.n_devices, sizeof(*d));

	snprintf(d->name, sizeof(d->name), "sda");
	return r;
}

static void judged(struct report *r, const char *class, const char *part, const char *name)
{
	verdict_make(r);
	if (!ok(is(r->verdict.class, class) && strstr(r->verdict.sentence, part), "%s", name))
		diag("%s: %s", r->verdict.class, r->verdict.sentence);
	report_free(r);
}

static void test_verdict(void)
{
	struct report r = fresh();

	hangs(&r, true);
	judged(&r, "device-flush",
	       "for at least 3.00 s and has not returned. It waits for jbd2/sda-8, and sda has not completed a FLUSH for",
	       "the only call hangs");
	r = fresh();
	hangs(&r, true);
	r.outstanding->step[0] = '\0';
	judged(&r, "mixed", "has not returned", "a step that is not known");
	r = fresh();
	hangs(&r, false);
	hangs(&r, false);
	r.sync.count = 1000;
	r.sync.total_ns = 3900 * MS;
	r.sync.ledger.ns[CAUSE_CPU] = 3900 * MS;
	judged(&r, "device-flush", "1 more call has not returned.",
	       "two hang, for longer in this run than all others took together");
	r = fresh();
	hangs(&r, false);
	r.sync.count = 1000;
	r.sync.total_ns = 2 * SEC;
	r.sync.ledger.ns[CAUSE_CPU] = 2 * SEC;
	judged(&r, "cpu", "dd (4711) has been in fsync", "it took less of the run than those that returned");
	r = fresh();
	hangs(&r, false)->other = true;
	r.under_way = r.under_way_ns = 0;
	r.filter = xstrdup("pid 1");
	judged(&r, "device-flush", "It is none of the filtered tasks.",
	       "another's hangs, and of those asked for there is none");
	r = fresh();
	hangs(&r, false)->other = true;
	r.under_way = r.under_way_ns = 0;
	r.sync.count = 1000;
	r.sync.total_ns = r.sync.ledger.ns[CAUSE_CPU] = 1 * SEC;
	verdict_make(&r);
	ok(is(r.verdict.class, "cpu") && !strstr(r.verdict.sentence, "4711"),
	   "another's is no verdict on those that were asked for");
	report_free(&r);
}

static void test_began_before(void)
{
	struct report r = fresh();

	r.looked_before = true;
	r.filter = xstrdup("pid 42");
	judged(&r, "no-sync", "it isn't fsync.", "it was looked for calls from before, and there were none");
	r = fresh();
	r.began_before = 1;
	r.began_before_ns = 2100 * MS;
	judged(&r, "too-little-data", "One call began before the trace and returned after at least 2.10 s.",
	       "one was, and returned");
	r = fresh();
	r.began_before = 3;
	r.began_before_ns = 2100 * MS;
	judged(&r, "too-little-data", "3 calls began before the trace and returned, the longest after at least 2.10 s.",
	       "three were");
}

static char *rendered(render_fn *render, const struct report *r, unsigned int width)
{
	struct render_opts o = { .unicode = false, .width = width };
	struct buf b = { 0 };

	render(r, &o, &b);
	return b.data;
}

static void test_outputs(void)
{
	struct report r = fresh();
	char *s;

	hangs(&r, true);
	verdict_make(&r);
	s = rendered(render_text, &r, 200);
	ok(strstr(s, ">= 3.00 s  dd (4711) fsync /srv/<f>") && strstr(s, "dd of=<f>") && !strchr(s, '\x1b'), "text");
	ok(strstr(s, "has not returned") < strstr(s, "sync calls none returned"), "above all figures");
	free(s);
	s = rendered(render_html, &r, 0);
	ok(strstr(s, "Sync calls that have not returned") && strstr(s, "/srv/&lt;f&gt;") && !strstr(s, "/srv/<f>") &&
		   !strchr(s, '\x1b'),
	   "page");
	free(s);
	s = rendered(render_json, &r, 0);
	ok(strstr(s, "\"at_least_ns\": 3000000000") && !strstr(s, "since_ns"), "json: at least");
	free(s);
	r.outstanding->before = r.outstanding->request_before = false;
	s = rendered(render_json, &r, 0);
	ok(strstr(s, "\"since_ns\": 3000000000") && !strstr(s, "at_least_ns"), "json: since");
	free(s);
	report_free(&r);
}

static bool on_screen(const struct screen_grid *g, const char *text)
{
	struct buf b = { 0 };
	bool found;

	for (unsigned int i = 0; i < g->rows * g->cols; i++)
		buf_str(&b, g->cell[i].text);
	found = strstr(b.data, text);
	buf_free(&b);
	return found;
}

static void test_screen(void)
{
	struct report r = fresh();
	struct screen_state state;
	struct screen_grid g = { 0 };
	struct screen_view v = { .run = &r, .state = &state };

	hangs(&r, true);
	verdict_make(&r);
	screen_state_init(&state, false, false);
	for (unsigned int rows = 8; rows <= 32; rows += 24) {
		screen_grid_size(&g, rows, 100);
		screen_draw(&v, &g);
		ok(on_screen(&g, "1 call has not returned: 3.00s dd (4711) fsync <f>"), "screen of %u rows", rows);
	}
	screen_grid_free(&g);
	screen_state_free(&state);
	report_free(&r);
}

/* ---- recordings ---- */

static void test_frame(void)
{
	static const char *const asked_for[] = { "comm", "call", "step", "op", "disk" };
	struct frame f = { .views = 1 }, back = { 0 };
	struct report_outstanding *o;
	struct err e;
	json_t *j;

	hangs(&f.run, true);
	f.run.began_before = 2;
	j = frame_encode(&f);
	ok(!frame_decode(j, NULL, &back, &e) && back.run.n_outstanding == 1 && back.run.began_before == 2,
	   "a frame with a call that hangs can be read again");
	o = back.run.outstanding;
	ok(o && o->before && o->ns == 3 * SEC && is(o->path, "/srv/<f>\x1b") && is(o->via, "jbd2/sda-8") &&
		   o->request_ns == 2 * SEC && !o->certain,
	   "and it is the same");
	frame_free(&back);
	for (size_t i = 0; i < ARRAY_LEN(asked_for); i++) {
		json_t *broken = json_deep_copy(j);

		json_object_del(json_array_get(json_object_get(broken, "outstanding"), 0), asked_for[i]);
		ok(frame_decode(broken, NULL, &back, &e), "without %s, which every output asks for, it is refused",
		   asked_for[i]);
		json_decref(broken);
	}
	json_decref(j);
	frame_free(&f);
}

int main(void)
{
	test_asleep();
	tree_make();
	test_call();
	test_stat();
	test_stack();
	test_sched();
	test_files();
	test_in_flight();
	test_in_flight_since();
	test_in_flight_files();
	test_journals();
	test_waiting_seen();
	test_waiting_before();
	test_waiting_older_than_seen();
	test_words();
	test_verdict();
	test_began_before();
	test_outputs();
	test_screen();
	test_frame();
	return tree_done();
}
