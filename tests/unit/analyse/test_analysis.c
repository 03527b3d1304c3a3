// SPDX-License-Identifier: GPL-2.0-only
/* The facts' way in: which records make sense, what files are called, whose calls count, and what lies between calls. */
#include <stdlib.h>
#include <string.h>

#include "analyse/analysis.h"
#include "analyse/whatif/whatif.h"
#include "tap.h"
#include "util/mem.h"
#include "wire.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
#define US     1000ull
#define MS     1000000ull
#define T0     (1000 * MS)
#define SDA    WIRE_DEV(8, 0)
#define SDA1   WIRE_DEV(8, 1)
#define SDB    WIRE_DEV(8, 16)
#define SDC    WIRE_DEV(8, 32) /* of which nothing is known */

static const struct device_name devices[] = {
	{ .dev = SDA1, .name = "sda1", .mount = "/srv", .fstype = "ext4", .traced = true, .volatile_cache = true },
	{ .dev = SDA, .name = "sda", .traced = true, .volatile_cache = true },
	{ .dev = SDB, .name = "sdb", .mount = "/", .fstype = "xfs" },
};

static struct sync_analysis *a;
static struct report r;

static void begin_with(struct sync_opts o)
{
	o.start_ns = T0;
	o.devices = devices;
	o.n_devices = LEN(devices);
	sync_free(a);
	report_free(&r);
	a = sync_new(&o);
}

static void begin(void)
{
	begin_with((struct sync_opts){ .slowest = 3 });
}

static void feed(void *record, uint16_t kind, size_t size)
{
	struct wire_head *h = record;

	h->kind = kind;
	h->size = (uint16_t)size;
	sync_feed(a, h);
}

#define FEED(record, kind) feed(&(record), kind, sizeof(record))

static void call(struct wire_sync s)
{
	s.call = s.call ? s.call : CALL_FSYNC;
	s.tid = s.tid ? s.tid : 7;
	s.tgid = s.tgid ? s.tgid : s.tid;
	FEED(s, WIRE_SYNC);
}

#define CALL(...) call((struct wire_sync){ __VA_ARGS__ })

static const struct report_sync *result(void)
{
	report_free(&r);
	sync_report(a, &r.sync, false);
	return &r.sync;
}

/* ---- names ---- */

TEST(paths)
{
	static const struct {
		uint32_t dev;
		struct wire_file f;
		const char *path;
	} all[] = {
		{ SDA1, { .n = 1, .whole = 1, .name = { "db" } }, "/srv/db" },
		{ SDA1, { .n = 2, .whole = 1, .name = { "db", "data" } }, "/srv/data/db" },
		{ SDA1, { .n = 2, .name = { "db", "data" } }, "/srv/.../data/db" },
		{ SDA1, { .n = 1, .whole = 1, .name = { "db", "data" } }, "/srv/db" },
		{ SDA1, { .n = 0, .whole = 1 }, "/srv" },
		{ SDA1, { .n = 0 }, "/srv/..." },
		{ SDB, { .n = 1, .whole = 1, .name = { "db" } }, "/db" },
		{ SDB, { .n = 1, .name = { "db" } }, "/.../db" },
		{ SDB, { .n = 0, .whole = 1 }, "/" },
		{ SDC, { .n = 1, .whole = 1, .name = { "db" } }, "/db" },
		{ SDA1, { .n = 8, .whole = 1, .name = { "a", "b", "c", "d", "e", "f", "g", "h" } }, "/srv/h/g/f/e/d/c/b/a" },
		{ SDB,
		  { .n = 2, .whole = 1, .name = { "x", "123456789012345678901234567890123456789012345678" } },
		  "/123456789012345678901234567890123456789012345678/x" },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		struct wire_file f = all[i].f;

		begin();
		f.ino = 5;
		f.dev = all[i].dev;
		FEED(f, WIRE_FILE);
		CALL(.enter = T0, .exit = T0 + 10, .dev = all[i].dev, .ino = 5);
		if (!ok(result()->n_files == 1 && !strcmp(r.sync.file[0].path, all[i].path), "a file called %s", all[i].path))
			diag("%s", r.sync.n_files ? r.sync.file[0].path : "none");
	}
}

TEST(without_names)
{
	static const struct {
		uint32_t dev;
		uint64_t ino;
		const char *path;
	} all[] = {
		{ SDA1, 5, "8:1:5" },
		{ SDC, UINT64_MAX - 1, "8:32:18446744073709551614" },
		{ SDA1, WIRE_INO_DISK, "/dev/sda1" },
		{ SDC, WIRE_INO_DISK, "/dev/8:32" },
		{ SDA1, 0, "(no file)" },
		{ 0, 0, "(no file)" },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		begin();
		CALL(.enter = T0, .exit = T0 + 10, .dev = all[i].dev, .ino = all[i].ino);
		ok(result()->n_files == 1 && !strcmp(r.sync.file[0].path, all[i].path), "a file without a name: %s",
		   all[i].path);
	}
}

TEST(names_of_processes)
{
	struct wire_sync s = { .enter = T0, .exit = T0 + 10, .call = CALL_FSYNC, .tid = 7, .tgid = 7, .comm = "app" };

	begin();
	FEED(s, WIRE_SYNC);
	memcpy(s.comm, "app\0rubbish", 11);
	FEED(s, WIRE_SYNC);
	ok(result()->n_processes == 1 && r.sync.process[0].count == 2 && !strcmp(r.sync.process[0].comm, "app"),
	   "what stands behind the end of a name is no part of it");
	memcpy(s.comm, "1234567890123456", 16);
	FEED(s, WIRE_SYNC);
	s.comm[15] = '\0';
	FEED(s, WIRE_SYNC);
	ok(result()->n_processes == 2 && r.sync.process[1].count == 2 &&
		   strlen(r.sync.process[0].comm) + strlen(r.sync.process[1].comm) == 18,
	   "a name without an end has 15 bytes");
}

static void name_file(uint64_t ino, const char *name)
{
	struct wire_file f = { .ino = ino, .dev = SDA1, .n = 1, .whole = 1 };

	memcpy(f.name[0], name, strlen(name));
	FEED(f, WIRE_FILE);
}

static void on_file(uint64_t enter, uint64_t ns, uint64_t ino)
{
	CALL(.enter = enter, .exit = enter + ns, .dev = SDA1, .ino = ino, .comm = "app");
}

/* The how manyth file by its time, how it is called, and how many calls it has. */
static bool file_is(size_t i, const char *path, uint64_t count)
{
	const struct report_group *g = i < r.sync.n_files ? &r.sync.file[i] : NULL;

	if (g && !strcmp(g->path, path) && g->count == count)
		return true;
	diag("file %zu is %s, not %s", i, g ? g->path : "none", path);
	return false;
}

TEST(late_names)
{
	begin();
	on_file(T0, 10, 5);
	on_file(T0, 100, 6);
	name_file(5, "first");
	on_file(T0, 1000, 5);
	result();
	ok(r.sync.n_files == 2 && file_is(0, "/srv/first", 2) && file_is(1, "8:1:6", 1),
	   "a name that comes late is that of the calls before");
	name_file(5, "second");
	on_file(T0, 10000, 5);
	result();
	ok(r.sync.n_files == 3 && file_is(0, "/srv/second", 1) && file_is(1, "/srv/first", 2),
	   "an inode that comes back is another file");
}

TEST(late_names_of_intervals)
{
	begin();
	on_file(T0, 10, 5);
	on_file(T0, 100, 6);
	report_free(&r);
	sync_report(a, &r.sync, true);
	on_file(T0, 100, 6);
	name_file(5, "five");
	on_file(T0, 10, 7);
	result();
	ok(r.sync.n_files == 2 && file_is(0, "8:1:6", 1) && file_is(1, "8:1:7", 1),
	   "the name of a file that has no call in an interval is no other file's");
}

static uint64_t stack_ns(const char *path)
{
	for (size_t i = 0; i < r.sync.n_leaves; i++)
		if (!strcmp(r.sync.leaf[i].path, path))
			return r.sync.leaf[i].ns;
	return 0;
}

#define FILES 2047 /* that have lines of their own */

/* File 1 was not seen for two minutes, file 2 neither, but it has more time than most. */
static void fill_up(uint64_t now)
{
	begin();
	name_file(2, "db");
	on_file(T0, 10, 1);
	on_file(T0, 1000, 2);
	for (uint64_t ino = 3; ino <= FILES; ino++)
		on_file(now, 100, ino);
}

TEST(crowd)
{
	const uint64_t now = T0 + 120000 * MS;

	fill_up(now);
	on_file(now, 2000, 5000);
	on_file(now, 3000, 5001);
	name_file(5001, "late");
	name_file(5002, "db");
	on_file(now, 7000, 5002);
	result();
	ok(r.sync.n_files == FILES + 1 && r.sync.gone_files == 1, "one file gave way to another");
	ok(file_is(1, REPORT_OTHER_FILES, 2) && r.sync.file[1].rest && r.sync.file[1].total_ns == 3010,
	   "it is among the others, and so is one without room, whatever name comes later");
	ok(file_is(2, "8:1:5000", 1) && r.sync.file[2].late, "the other has a line from then on");
	ok(file_is(0, "/srv/db", 2) && !r.sync.file[0].late,
	   "a file that stays has its calls before and after, of any inode");
	ok(stack_ns("app;fsync;db;cpu") == 8000 && stack_ns("app;fsync;8:1:5000;cpu") == 2000 &&
		   stack_ns("app;fsync;(other files);cpu") == 3010 && !stack_ns("app;fsync;8:1:1;cpu"),
	   "stacks go with their files");
}

/* ---- which records make sense ---- */

TEST(sane_calls)
{
	static const struct {
		struct wire_sync s;
		bool good;
	} all[] = {
		{ { .enter = 1, .exit = 1, .call = 1 }, true },
		{ { .enter = 0, .exit = 1, .call = 1 }, false },
		{ { .enter = 2, .exit = 1, .call = 1 }, false },
		{ { .enter = 1, .exit = 2, .call = 0 }, false },
		{ { .enter = 1, .exit = 2, .call = 10 }, true },
		{ { .enter = 1, .exit = 2, .call = 11 }, false },
		{ { .enter = 1, .exit = (1ull << 56) + 1, .call = 1 }, true },
		{ { .enter = 1, .exit = (1ull << 56) + 2, .call = 1 }, false },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		struct wire_sync s = all[i].s;

		begin();
		FEED(s, WIRE_SYNC);
		ok(result()->count == all[i].good && sync_damaged(a) == !all[i].good, "call %zu %s", i,
		   all[i].good ? "makes sense" : "does not");
	}
}

TEST(sane_records)
{
	static const struct {
		uint16_t kind;
		size_t least;
	} all[] = { { WIRE_SYNC, sizeof(struct wire_sync) },	   { WIRE_SLEEP, WIRE_SLEEP_SHORT },
		    { WIRE_REQUEST, sizeof(struct wire_request) }, { WIRE_FOLLOW, sizeof(struct wire_follow) },
		    { WIRE_FILE, sizeof(struct wire_file) },	   { WIRE_BIO, sizeof(struct wire_bio) },
		    { WIRE_WORK, sizeof(struct wire_work) } };
	static const uint16_t others[] = { WIRE_HEADER, WIRE_HEADER + 1, WIRE_END };
	static const uint16_t unknown[] = { 0, WIRE_WORK + 1, WIRE_HEADER - 1, WIRE_END + 1 };
	static union {
		struct wire_head h;
		unsigned char bytes[512];
	} record;
	struct wire_follow f = { .since = 1, .kind = TASK_USER };
	struct wire_bio b = { .queued = 1, .done = 1, .class = WIRE_FLUSH };
	struct wire_work w = { .begun = 1, .no = 1 };

	begin();
	for (size_t i = 0; i < LEN(all); i++)
		feed(&record, all[i].kind, all[i].least - 1);
	ok(sync_damaged(a) == LEN(all), "records that are too short make no sense");
	for (size_t i = 0; i < LEN(others); i++)
		feed(&record, others[i], 8);
	ok(sync_damaged(a) == LEN(all), "those of a recording itself are none of ours");
	for (size_t i = 0; i < LEN(unknown); i++)
		feed(&record, unknown[i], 8);
	ok(sync_damaged(a) == LEN(all) + LEN(unknown), "nobody knows any others");
	begin();
	CALL(.enter = T0, .exit = T0 + 10);
	FEED(f, WIRE_FOLLOW);
	FEED(b, WIRE_BIO);
	FEED(w, WIRE_WORK);
	ok(!sync_damaged(a), "records that make sense are no damage");
}

TEST(sane_files)
{
	struct wire_file f = { .ino = 5, .dev = SDA1, .n = WIRE_NAMES + 1 };

	begin();
	FEED(f, WIRE_FILE);
	f.n = 1;
	f.ino = 0;
	FEED(f, WIRE_FILE);
	ok(sync_damaged(a) == 2, "a file with too many names, and one that is none");
}

/* ---- whose calls count ---- */

TEST(traced_only)
{
	begin_with((struct sync_opts){ .only_traced = true });
	CALL(.enter = T0, .exit = T0 + 1, .dev = SDA1);
	CALL(.enter = T0, .exit = T0 + 10, .dev = SDB);
	CALL(.enter = T0, .exit = T0 + 100, .dev = SDC);
	CALL(.enter = T0, .exit = T0 + 1000);
	CALL(.enter = T0, .exit = T0 + 10000, .dev = SDB, .other = 1);
	CALL(.enter = T0, .exit = T0 + 100000, .dev = SDA1, .other = 1);
	ok(result()->count == 2 && r.sync.total_ns == 1001, "calls on traced disks, and on none");
	ok(r.sync.elsewhere == 2 && r.sync.elsewhere_ns == 110, "those elsewhere are counted");
	ok(r.sync.others == 1 && r.sync.others_ns == 100000, "of others only those on traced disks");
	ok(!sync_damaged(a), "none of them is damage");
	begin();
	CALL(.enter = T0, .exit = T0 + 10, .dev = SDB);
	CALL(.enter = T0, .exit = T0 + 10, .dev = SDC, .other = 1);
	ok(result()->count == 1 && r.sync.others == 1 && !r.sync.elsewhere, "on any disk, where all are asked for");
}

TEST(known_from)
{
	begin_with((struct sync_opts){ .known_ns = T0 + 50 });
	CALL(.enter = T0 + 49, .exit = T0 + 60, .call = CALL_MSYNC);
	CALL(.enter = T0 + 50, .exit = T0 + 70, .call = CALL_SYNC);
	CALL(.enter = T0 + 51, .exit = T0 + 90, .call = CALL_SYNC);
	ok(result()->count == 2 && r.sync.total_ns == 59 && r.sync.no_ledger == 1 && r.sync.no_ledger_ns == 11,
	   "calls that began before facts are known have no ledger");
	ok(r.sync.without[NO_LEDGER_BEFORE] == 1 && !r.sync.dropped_ns, "for that reason");
	ok(r.sync.calls[CALL_SYNC] == 2 && !r.sync.calls[CALL_MSYNC] && r.sync.latency.min == 20 && r.sync.latency.max == 39,
	   "the others are counted by their kind");
}

TEST(begun_idle)
{
	begin();
	CALL(.enter = T0, .exit = T0 + 10, .had = HAD_BEGUN_IDLE | HAD_PAGES);
	CALL(.enter = T0 + 20, .exit = T0 + 27);
	ok(result()->count == 1 && r.sync.total_ns == 7 && r.sync.no_ledger == 1 && r.sync.no_ledger_ns == 10,
	   "a call that began while nothing was attached has no ledger, the next one has");
	ok(r.sync.without[NO_LEDGER_IDLE] == 1 && !r.sync.dropped_ns && !r.sync.unsafe, "for that reason, and is no loss");
}

TEST(heat)
{
	begin();
	CALL(.enter = T0 - 5000, .exit = T0 - 1000);
	CALL(.enter = T0 + 30 * MS - 9000, .exit = T0 + 30 * MS);
	ok(result()->heat && r.sync.heat->n[0][heat_row(4000)] == 1 && r.sync.heat->n[2][heat_row(9000)] == 1 &&
		   r.sync.heat->columns == 3,
	   "a heat map: by the ends of calls since the start");
}

/* ---- through whom ---- */

static void follow(uint32_t tid, const char *comm)
{
	struct wire_follow f = { .since = T0, .tid = tid, .tgid = tid, .kind = TASK_KTHREAD };

	memcpy(f.comm, comm, strlen(comm));
	FEED(f, WIRE_FOLLOW);
}

static void woken_by(uint32_t tid, uint32_t waker, uint64_t off, uint64_t on)
{
	struct wire_sleep s = { .off = off, .wake = on, .on = on, .tid = tid, .waker = waker, .how = HOW_TASK };

	feed(&s, WIRE_SLEEP, WIRE_SLEEP_SHORT);
}

TEST(name_of_task)
{
	begin();
	follow(8, "1234567890123456");
	woken_by(7, 8, T0 + 10, T0 + 100);
	CALL(.enter = T0, .exit = T0 + 110, .sleeps = 1, .switches = 1, .comm = "app");
	result();
	ok(stack_ns("app;fsync;(no file);123456789012345;unknown") == 90, "the name of a task has 15 bytes, too");
}

/* ---- between calls ---- */

#define SYNC(...) ((struct wire_sync){ __VA_ARGS__ })

/* A call of 10 us, a FLUSH of 20 ms, and 5 us. Returns its end. */
static uint64_t flushing(uint64_t enter, uint32_t seq, struct wire_sync s)
{
	uint64_t off = enter + 10 * US, done = off + 20 * MS;
	uint32_t tid = s.tid ? s.tid : 7;
	struct wire_request q = { .rq = tid,
				  .done = done,
				  .alloc = off,
				  .dev = SDA1,
				  .disk = SDA,
				  .tid = tid,
				  .tgid = tid,
				  .class = WIRE_FLUSH,
				  .flags = REQUEST_SEQUENCE | REQUEST_ONLY,
				  .pre = { .begin = off, .issue = off, .done = done } };
	struct wire_sleep sleep = {
		.off = off, .wake = done, .on = done, .rq = tid, .done = done, .tid = tid, .seq = seq, .how = HOW_REQUEST
	};

	sleep.head.cpu = s.head.cpu;
	FEED(q, WIRE_REQUEST);
	feed(&sleep, WIRE_SLEEP, WIRE_SLEEP_SHORT);
	s.enter = enter;
	s.exit = done + 5 * US;
	s.sleeps = s.switches = 1;
	call(s);
	return s.exit;
}

TEST(stack_of_disk)
{
	begin();
	flushing(T0, 0, SYNC(.comm = "app"));
	result();
	ok(stack_ns("app;fsync;(no file);flush.only;sda1") == 20 * MS, "a stack ends with the disk that a call waits for");
}

/* From the task's call before the timeline knows how it has spent the time until this one. */
TEST(between_calls)
{
	static const struct {
		uint16_t voluntary;
		bool bound;
	} all[] = { { 40, false }, { 41, true } };

	for (size_t i = 0; i < LEN(all); i++) {
		uint64_t end;

		begin();
		end = flushing(T0, 0, SYNC(.waited_enter = 900, .waited_exit = 1000, .voluntary_exit = 40));
		end = flushing(end + 500 * US, 1, SYNC(.waited_enter = 1000, .voluntary_enter = all[i].voluntary));
		result();
		r.command = strv_dup((char *[]){ (char *)"x", NULL });
		r.have_sync = r.have_exit_status = true;
		r.wall_ns = end - T0;
		whatif_make(&r, sync_whatif(a));
		ok(r.n_whatif == 1 && r.whatif[0].wall_ns == r.wall_ns - 40 * MS && r.whatif[0].bound == all[i].bound,
		   "a run whose task %s between two calls", all[i].bound ? "went to sleep" : "did not sleep");
	}
}

int main(void)
{
	tests_run();
	report_free(&r);
	sync_free(a);
	sync_free(NULL);
	return tap_done();
}
