// SPDX-License-Identifier: GPL-2.0-only
/* What a file of a rotated recording needs of those before it: which tasks and files each fact names, and how much is kept. */
#include <stdlib.h>
#include <string.h>

#include "recording/rotation_context.h"
#include "util/buf.h"
#include "util/mem.h"
#include "tap.h"

union fact {
	struct wire_head head;
	struct wire_sync sync;
	struct wire_sleep sleep;
	struct wire_request request;
	struct wire_follow follow;
	struct wire_file file;
	struct wire_bio bio;
	struct wire_work work;
};

static struct buf written;   /* in words */
static union fact last;	     /* that was written */
static bool as_asked = true; /* each with the head that it came with */

static void note(void *ctx, const struct wire_head *h)
{
	(void)ctx;
	memset(&last, 0, sizeof(last));
	memcpy(&last, h, h->size < sizeof(last) ? h->size : sizeof(last));
	switch (h->kind) {
	case WIRE_FOLLOW: buf_printf(&written, "task %u ", last.follow.tid); break;
	case WIRE_FILE: buf_printf(&written, "file %llu/%u ", (unsigned long long)last.file.ino, last.file.dev); break;
	case WIRE_SYNC: buf_str(&written, "call "); break;
	case WIRE_SLEEP: buf_printf(&written, "sleep %llu ", (unsigned long long)last.sleep.on); break;
	case WIRE_REQUEST: buf_printf(&written, "request %llu ", (unsigned long long)last.request.done); break;
	case WIRE_BIO: buf_printf(&written, "bio %llu ", (unsigned long long)last.bio.done); break;
	case WIRE_WORK: buf_printf(&written, "work %llu ", (unsigned long long)last.work.begun); break;
	default: buf_printf(&written, "kind %u ", h->kind);
	}
	as_asked = as_asked && h->cpu == 5;
}

static void wrote(const char *want, const char *name)
{
	if (!ok(!strcmp(written.data ? written.data : "", want), "%s", name))
		diag("got '%s'", written.data ? written.data : "");
	buf_clear(&written);
}

static void feed(struct carry *c, union fact *f, uint16_t kind, size_t size)
{
	f->head = (struct wire_head){ kind, (uint16_t)size, 5 };
	carry_record(c, &f->head);
}

static void follow(struct carry *c, uint32_t tid)
{
	union fact f = { .follow = { .tid = tid } };

	feed(c, &f, WIRE_FOLLOW, sizeof(f.follow));
}

static void name(struct carry *c, uint64_t ino, uint32_t dev)
{
	union fact f = { .file = { .ino = ino, .dev = dev, .n = 1, .name = { "x" } } };

	feed(c, &f, WIRE_FILE, sizeof(f.file));
}

static void sleeps(struct carry *c, uint64_t on)
{
	union fact f = { .sleep = { .on = on } };

	feed(c, &f, WIRE_SLEEP, WIRE_SLEEP_SHORT);
}

/* Tasks 1 to 9 and two files of one number are known of an earlier file; the present one has nothing. */
static struct carry *second_file(size_t recent)
{
	struct carry *c = carry_new(recent, note, NULL);

	for (uint32_t tid = 1; tid <= 9; tid++)
		follow(c, tid);
	name(c, 100, 1);
	name(c, 100, 2);
	carry_begin_file(c);
	buf_clear(&written);
	return c;
}

/* Each fact at the size that it has at least, and with a byte less: then it is passed on, but says nothing. */
static void test_named(void)
{
	static const struct {
		uint16_t kind;
		size_t least;
		union fact fact;
		const char *whole, *cut;
	} rows[] = {
		{ WIRE_SYNC,
		  sizeof(struct wire_sync),
		  { .sync = { .tid = 1, .worker = 2, .dev = 2, .ino = 100 } },
		  "task 1 task 2 file 100/2 call ",
		  "call " },
		{ WIRE_SYNC, sizeof(struct wire_sync), { .sync = { .tid = 10, .dev = 3, .ino = 100 } }, "call ", "call " },
		{ WIRE_SYNC,
		  sizeof(struct wire_sync),
		  { .sync = { .worker = 3, .dev = 1, .ino = 100 } },
		  "task 3 file 100/1 call ",
		  "call " },
		{ WIRE_SLEEP, WIRE_SLEEP_SHORT, { .sleep = { .tid = 3, .waker = 4, .on = 7 } }, "task 3 task 4 sleep 7 ", "sleep 7 " },
		{ WIRE_REQUEST,
		  sizeof(struct wire_request),
		  { .request = { .tid = 1, .pre.issuer = 2, .data.issuer = 3, .post.issuer = 4, .done = 8 } },
		  "task 1 task 2 task 3 task 4 request 8 ",
		  "request 8 " },
		{ WIRE_BIO, sizeof(struct wire_bio), { .bio = { .tid = 9, .done = 9 } }, "task 9 bio 9 ", "bio 9 " },
		{ WIRE_WORK,
		  sizeof(struct wire_work),
		  { .work = { .tid = 5, .by = 6, .begun = 7 } },
		  "task 5 task 6 work 7 ",
		  "work 7 " },
		{ 50, 48, { .sync = { .tid = 1 } }, "kind 50 ", "kind 50 " },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct carry *c = second_file(4096);
		union fact f = rows[i].fact;

		feed(c, &f, rows[i].kind, rows[i].least - 1);
		wrote(rows[i].cut, "a fact that is cut short names nothing");
		feed(c, &f, rows[i].kind, rows[i].least);
		wrote(rows[i].whole, "a whole one names these");
		carry_free(c);
	}
}

static void test_cut_names(void)
{
	struct carry *c = carry_new(1024, note, NULL);
	union fact f = { .follow = { .tid = 1 } }, call = { .sync = { .tid = 1, .ino = 7 } };

	feed(c, &f, WIRE_FOLLOW, sizeof(f.follow) - 1);
	f = (union fact){ .file = { .ino = 7, .n = 1 } };
	feed(c, &f, WIRE_FILE, sizeof(f.file) - 1);
	carry_begin_file(c);
	buf_clear(&written);
	feed(c, &call, WIRE_SYNC, sizeof(call.sync));
	wrote("call ", "a name that is cut short is not remembered");
	carry_free(c);
}

static struct wire_file seen_file;

static void keep_file(void *ctx, const struct wire_head *h)
{
	(void)ctx;
	if (h->kind == WIRE_FILE)
		memcpy(&seen_file, h, sizeof(seen_file));
}

static void test_file_bytes(void)
{
	static const uint16_t parts[] = { 0, 1, 3, WIRE_NAMES, WIRE_NAMES + 1 };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		union fact f = { .file = { .ino = 7, .dev = 8, .n = parts[i], .whole = 1 } },
			   call = { .sync = { .ino = 7, .dev = 8 } };
		struct carry *c = carry_new(1024, keep_file, NULL);
		struct wire_file want;

		for (int p = 0; p < WIRE_NAMES; p++)
			snprintf(f.file.name[p], WIRE_NAME, "part %d", p);
		memset(f.file.name[1], 'x', WIRE_NAME);
		memset(f.file.name[2], 0, WIRE_NAME);
		for (int p = parts[i]; p < WIRE_NAMES; p++)
			memset(f.file.name[p], 0, WIRE_NAME);
		feed(c, &f, WIRE_FILE, sizeof(f.file));
		want = f.file;
		if (parts[i] > 1)
			want.name[1][WIRE_NAME - 1] = '\0';
		memset(&seen_file, 0, sizeof(seen_file));
		carry_begin_file(c);
		feed(c, &call, WIRE_SYNC, sizeof(call.sync));
		ok(!memcmp(&seen_file, &want, sizeof(want)), "a name of %u parts comes again as it was", parts[i]);
		carry_free(c);
	}
}

/* What a later version adds to a task stays in the file where it came. */
static void test_longer(void)
{
	struct {
		union fact f;
		char more[16];
	} later = { .f = { .follow = { .tid = 1, .comm = "x" } }, .more = "later" };
	union fact call = { .sync = { .tid = 1 } };
	struct carry *c = carry_new(1024, note, NULL);

	feed(c, &later.f, WIRE_FOLLOW, sizeof(struct wire_follow) + 8);
	ok(last.head.size == sizeof(struct wire_follow) + 8, "a longer fact is passed on as it is");
	carry_begin_file(c);
	buf_clear(&written);
	call.head = (struct wire_head){ WIRE_SLEEP, WIRE_SLEEP_SHORT, 5 };
	call.sleep.tid = 1;
	carry_record(c, &call.head);
	wrote("task 1 sleep 0 ", "and what is known of it comes again");
	carry_free(c);
}

/* Room for three sleeps: WIRE_SLEEP_SHORT is a multiple of 8. */
static void test_recent(void)
{
	struct carry *c = carry_new(3 * WIRE_SLEEP_SHORT, note, NULL);

	for (uint64_t on = 1; on <= 3; on++)
		sleeps(c, on * 10);
	ok(!carry_known_ns(c), "what has room is kept");
	buf_clear(&written);
	carry_begin_file(c);
	wrote("sleep 10 sleep 20 sleep 30 ", "and comes again, the oldest first");
	sleeps(c, 40);
	ok(carry_known_ns(c) == 10, "the oldest makes room");
	for (uint64_t on = 5; on <= 40; on++)
		sleeps(c, on * 10);
	ok(carry_known_ns(c) == 370, "and so it goes on");
	buf_clear(&written);
	carry_begin_file(c);
	wrote("sleep 380 sleep 390 sleep 400 ", "until the latest are left");
	sleeps(c, 5);
	sleeps(c, 6);
	sleeps(c, 7);
	sleeps(c, 8);
	ok(carry_known_ns(c) == 400, "facts are complete from the latest end of what is gone");
	carry_free(c);
}

static void test_kinds_kept(void)
{
	static const struct {
		uint16_t kind;
		size_t size;
		union fact fact;
		const char *again;
		uint64_t end;
	} rows[] = {
		{ WIRE_SLEEP, WIRE_SLEEP_SHORT, { .sleep = { .off = 1, .wake = 2, .on = 7 } }, "sleep 7 ", 7 },
		{ WIRE_REQUEST, sizeof(struct wire_request), { .request = { .alloc = 1, .done = 7 } }, "request 7 ", 7 },
		{ WIRE_BIO, sizeof(struct wire_bio), { .bio = { .queued = 1, .done = 7 } }, "bio 7 ", 7 },
		{ WIRE_WORK, sizeof(struct wire_work), { .work = { .queued = 1, .begun = 7 } }, "work 7 ", 7 },
		{ WIRE_SYNC, sizeof(struct wire_sync), { .sync = { .enter = 1, .exit = 7 } }, "", 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct carry *c = carry_new(sizeof(struct wire_request), note, NULL);
		union fact f = rows[i].fact, other = { .request = { .done = 5 } };

		feed(c, &f, rows[i].kind, rows[i].size);
		buf_clear(&written);
		carry_begin_file(c);
		wrote(rows[i].again, "what may explain a call comes again, a call does not");
		feed(c, &other, WIRE_REQUEST, sizeof(other.request));
		ok(carry_known_ns(c) == rows[i].end, "and once it has made room, its end counts");
		carry_free(c);
		buf_clear(&written);
	}
}

static void test_named_again(void)
{
	struct carry *c = second_file(4096);
	union fact f = { .sleep = { .tid = 3, .waker = 4, .on = 7 } };

	feed(c, &f, WIRE_SLEEP, WIRE_SLEEP_SHORT);
	buf_clear(&written);
	carry_begin_file(c);
	wrote("task 3 task 4 sleep 7 ", "what comes again has the tasks before it that it names");
	feed(c, &f, WIRE_SLEEP, WIRE_SLEEP_SHORT);
	wrote("sleep 7 ", "which come once in a file");
	follow(c, 5);
	f.sleep.tid = 5;
	feed(c, &f, WIRE_SLEEP, WIRE_SLEEP_SHORT);
	wrote("task 5 sleep 7 ", "also when they were followed in it");
	carry_free(c);
}

/* As a later version's may be. */
static void test_uneven_sizes(void)
{
	struct carry *c = carry_new(2 * (WIRE_SLEEP_SHORT + 8), note, NULL);

	for (uint64_t on = 1; on <= 2; on++) {
		union fact f = { .sleep = { .on = on } };

		feed(c, &f, WIRE_SLEEP, WIRE_SLEEP_SHORT + 4);
	}
	ok(!carry_known_ns(c), "a fact takes a multiple of 8 bytes");
	buf_clear(&written);
	carry_begin_file(c);
	ok(last.head.size == WIRE_SLEEP_SHORT + 4, "and comes again as long as it was");
	wrote("sleep 1 sleep 2 ", "behind the one before");
	sleeps(c, 3);
	ok(carry_known_ns(c) == 1, "a third has no room");
	buf_clear(&written);
	carry_free(c);
}

static void gather(void *ctx, const struct wire_head *h)
{
	buf_add(ctx, h, h->size);
}

static void test_bytes_kept(void)
{
	struct buf bytes = { 0 };
	struct carry *c = carry_new(1024, gather, &bytes);
	union fact f;
	char *came;

	memset(&f, 'x', sizeof(f));
	feed(c, &f, WIRE_SLEEP, WIRE_SLEEP_SHORT);
	feed(c, &f, WIRE_SLEEP, sizeof(f.sleep));
	feed(c, &f, WIRE_REQUEST, sizeof(f.request));
	feed(c, &f, WIRE_WORK, sizeof(f.work) + 4);
	feed(c, &f, WIRE_BIO, sizeof(f.bio));
	came = memcpy(xcalloc(1, bytes.len), bytes.data, bytes.len);
	buf_clear(&bytes);
	carry_begin_file(c);
	ok(bytes.len > 500 && !memcmp(bytes.data, came, bytes.len), "what comes again has all of its bytes");
	free(came);
	buf_free(&bytes);
	carry_free(c);
}

/* ---- no more tasks and files than there is room for ---- */

#define MOST_TASKS 16384u
#define MOST_FILES 32768u

static union fact named; /* the last task or file that was written */

static void note_name(void *ctx, const struct wire_head *h)
{
	(void)ctx;
	if (h->kind == WIRE_FOLLOW || h->kind == WIRE_FILE)
		memcpy(&named, h, h->size < sizeof(named) ? h->size : sizeof(named));
}

/* As long as the task is not in this file yet. */
static bool knows_task(struct carry *c, uint32_t tid)
{
	union fact f = { .sync = { .tid = tid } };

	memset(&named, 0, sizeof(named));
	feed(c, &f, WIRE_SYNC, sizeof(f.sync));
	return named.head.kind == WIRE_FOLLOW && named.follow.tid == tid;
}

static bool knows_file(struct carry *c, uint64_t ino)
{
	union fact f = { .sync = { .ino = ino, .dev = 1 } };

	memset(&named, 0, sizeof(named));
	feed(c, &f, WIRE_SYNC, sizeof(f.sync));
	return named.head.kind == WIRE_FILE && named.file.ino == ino && named.file.dev == 1;
}

static uint32_t tasks_known(struct carry *c, uint32_t first, uint32_t n)
{
	uint32_t known = 0;

	for (uint32_t i = 0; i < n; i++)
		known += knows_task(c, first + i);
	return known;
}

static struct carry *follow_many(uint32_t n)
{
	struct carry *c = carry_new(0, note_name, NULL);

	for (uint32_t tid = 1; tid <= n; tid++)
		follow(c, tid);
	carry_begin_file(c);
	return c;
}

/* Each that was asked for since its last turn has another one. */
static void test_many_tasks(void)
{
	struct carry *c = follow_many(MOST_TASKS);

	ok(tasks_known(c, 1, MOST_TASKS) == MOST_TASKS, "each task that there is room for is known");
	follow(c, MOST_TASKS + 1);
	carry_begin_file(c);
	ok(!knows_task(c, 1) && knows_task(c, MOST_TASKS + 1),
	   "one more takes the place of the first if all were asked for");
	ok(knows_task(c, 2), "the next is asked for");
	follow(c, MOST_TASKS + 2);
	carry_begin_file(c);
	ok(knows_task(c, 2) && !knows_task(c, 3) && knows_task(c, 4), "so the one behind it makes room");
	ok(knows_task(c, MOST_TASKS) && knows_task(c, MOST_TASKS + 1) && knows_task(c, MOST_TASKS + 2),
	   "and the others stay");
	carry_free(c);
}

static void test_tasks_in_turn(void)
{
	struct carry *c = follow_many(2 * MOST_TASKS + 1);

	ok(!tasks_known(c, 1, MOST_TASKS + 1), "of those that nobody asks for the oldest makes room");
	ok(tasks_known(c, MOST_TASKS + 2, MOST_TASKS) == MOST_TASKS, "the latest stay");
	carry_free(c);
}

static void test_many_files(void)
{
	struct carry *c = carry_new(0, note_name, NULL);

	for (uint64_t ino = 1; ino <= MOST_FILES; ino++)
		name(c, ino, 1);
	carry_begin_file(c);
	ok(knows_file(c, 1), "a file is asked for");
	name(c, MOST_FILES + 1, 1);
	carry_begin_file(c);
	ok(knows_file(c, 1) && !knows_file(c, 2) && knows_file(c, 3), "so the one behind it makes room");
	ok(knows_file(c, MOST_FILES) && knows_file(c, MOST_FILES + 1), "and the others stay");
	carry_free(c);
}

static void test_renamed(void)
{
	struct carry *c = carry_new(0, note_name, NULL);
	union fact f = { .follow = { .tid = 1, .comm = "old" } };

	feed(c, &f, WIRE_FOLLOW, sizeof(f.follow));
	strcpy(f.follow.comm, "new");
	feed(c, &f, WIRE_FOLLOW, sizeof(f.follow));
	carry_begin_file(c);
	ok(knows_task(c, 1) && !strcmp(named.follow.comm, "new"), "a task that is followed again has its latest name");
	carry_free(c);
}

/* ---- what is larger than the room ---- */

static void test_too_large(void)
{
	struct carry *c = carry_new(WIRE_SLEEP_SHORT, note, NULL);
	union fact f = { .request = { .done = 70 } };

	sleeps(c, 50);
	feed(c, &f, WIRE_REQUEST, sizeof(f.request));
	ok(carry_known_ns(c) == 70, "what has no room at all is gone at once, and what made room for it");
	sleeps(c, 80);
	buf_clear(&written);
	carry_begin_file(c);
	wrote("sleep 80 ", "another has room after it");
	carry_free(c);
	c = carry_new(0, note, NULL);
	sleeps(c, 5);
	ok(carry_known_ns(c) == 5, "without room nothing is kept");
	carry_free(c);
	carry_free(NULL);
}

int main(void)
{
	test_named();
	test_cut_names();
	test_file_bytes();
	test_longer();
	test_recent();
	test_kinds_kept();
	test_named_again();
	test_uneven_sizes();
	test_bytes_kept();
	test_many_tasks();
	test_tasks_in_turn();
	test_many_files();
	test_renamed();
	test_too_large();
	ok(as_asked, "heads stay as they are");
	buf_free(&written);
	return tap_done();
}
