/* SPDX-License-Identifier: GPL-2.0-only */
/* stream.h - facts as the kernel side sends them, fed to the analysis `a`. */
#ifndef STREAM_H
#define STREAM_H

#include <string.h>

#include "analyse/analysis.h"
#include "wire.h"

#define T0   1000000000ull /* times of facts count from it; 0 stays 0 */
#define APP  100	   /* the caller */
#define JBD2 50
#define SDA  WIRE_DEV(8, 0)
#define SDA1 WIRE_DEV(8, 1)
#define INO  77

static struct sync_analysis *a;
static struct kernel_symbol symbols[128];
static size_t n_symbols;
static uint64_t asked;			      /* duration of all calls */
static unsigned int skip_record, seen_record; /* leave out the record with this number, from 1 */

static inline uint64_t at(int64_t t)
{
	return t ? T0 + (uint64_t)t : 0;
}

static inline void send(void *record, uint16_t kind, uint16_t size)
{
	struct wire_head *h = record;

	h->kind = kind;
	h->size = size;
	if (++seen_record != skip_record)
		sync_feed(a, h);
}

static inline uint64_t address(const char *function)
{
	for (size_t i = 0; function && i < n_symbols; i++)
		if (!strcmp(symbols[i].name, function))
			return symbols[i].start + 5;
	return 0x10; /* in no listed function */
}

struct fact { /* a sleep; what isn't named is 0 */
	uint32_t tid, seq;
	int64_t off, wake, on;
	uint32_t waker, kind;
	uint64_t rq;
	int64_t done;
	const char *in, *of; /* function that it sleeps in, and one that called that */
	enum wire_how how;
};

static inline void sleep_fact(struct fact f)
{
	struct wire_sleep s = {
		.off = at(f.off),
		.wake = at(f.wake),
		.on = at(f.on),
		.rq = f.rq,
		.done = at(f.done),
		.tid = f.tid,
		.waker = f.waker,
		.seq = f.seq,
		.how = (uint8_t)f.how,
		.waker_kind = (uint8_t)f.kind,
	};

	if (!f.how && f.waker)
		s.how = HOW_TASK;
	if (!f.how && f.rq)
		s.how = HOW_REQUEST;
	if (f.in) {
		s.stack[0] = address(NULL);
		s.stack[1] = address(f.in);
		s.stack[2] = address(f.of);
		s.stack_len = 3;
	}
	send(&s, WIRE_SLEEP, s.stack_len ? sizeof(s) : WIRE_SLEEP_SHORT);
}

#define SLEEP(...) sleep_fact((struct fact){ __VA_ARGS__ })

static inline void shift_step(struct wire_step *s)
{
	s->begin = at((int64_t)s->begin);
	s->issue = at((int64_t)s->issue);
	s->done = at((int64_t)s->done);
	s->issuer_wake = at((int64_t)s->issuer_wake);
	s->issuer_on = at((int64_t)s->issuer_on);
}

static inline void request_fact(struct wire_request r)
{
	r.done = at((int64_t)r.done);
	r.alloc = at((int64_t)r.alloc);
	r.dev = r.dev ? r.dev : SDA1;
	r.disk = r.disk ? r.disk : SDA;
	r.tid = r.tid ? r.tid : APP;
	r.tgid = r.tgid ? r.tgid : r.tid;
	shift_step(&r.pre);
	shift_step(&r.data);
	shift_step(&r.post);
	send(&r, WIRE_REQUEST, sizeof(r));
}

#define REQUEST(...) request_fact((struct wire_request){ __VA_ARGS__ })

static inline void follow(uint32_t tid, const char *comm, uint32_t kind, int64_t since)
{
	struct wire_follow f = { .since = at(since), .tid = tid, .tgid = tid, .kind = kind };

	memcpy(f.comm, comm, strnlen(comm, 15));
	send(&f, WIRE_FOLLOW, sizeof(f));
}

static inline void sync_fact(struct wire_sync s)
{
	s.enter = at((int64_t)s.enter);
	s.exit = at((int64_t)s.exit);
	s.call = s.call ? s.call : CALL_FDATASYNC;
	s.tid = s.tid ? s.tid : APP;
	s.tgid = s.tgid ? s.tgid : s.tid;
	s.dev = s.dev ? s.dev : SDA1;
	s.ino = s.ino ? s.ino : INO;
	if (!s.comm[0])
		strcpy(s.comm, "app");
	asked += s.exit - s.enter;
	send(&s, WIRE_SYNC, sizeof(s));
}

#define SYNC(...) sync_fact((struct wire_sync){ __VA_ARGS__ })

static inline void name_file(uint32_t dev, uint64_t ino, const char *name, const char *dir)
{
	struct wire_file f = { .ino = ino, .dev = dev, .n = dir ? 2 : 1, .whole = 1 };

	memcpy(f.name[0], name, strnlen(name, WIRE_NAME - 1));
	if (dir)
		memcpy(f.name[1], dir, strnlen(dir, WIRE_NAME - 1));
	send(&f, WIRE_FILE, sizeof(f));
}

/* A commit by the journal's thread, and one that waits for it. */
static inline void commit_requests(uint32_t tid)
{
	REQUEST(.rq = 1, .done = 1098, .alloc = 1025, .tid = tid, .class = WIRE_WRITE_SYNC, .sector = 5000,
		.bytes = 8192, .data = { .begin = 1026, .issue = 1028, .done = 1098 });
	REQUEST(.rq = 2, .done = 1415, .alloc = 1106, .tid = tid, .class = WIRE_WRITE_BARRIER,
		.flags = REQUEST_SEQUENCE, .pre = { .begin = 1107, .issue = 1115, .done = 1215, .in_flight = 1 },
		.data = { .begin = 1220, .issue = 1225, .done = 1300 },
		.post = { .begin = 1302, .issue = 1310, .done = 1410, .in_flight = 4 });
}

static inline void commit_sleeps(void)
{
	SLEEP(.tid = JBD2, .seq = 7, .off = 500, .wake = 1009, .on = 1020, .waker = APP, .kind = TASK_USER);
	SLEEP(.tid = JBD2, .seq = 8, .off = 1030, .wake = 1100, .on = 1104, .rq = 1, .done = 1098);
	SLEEP(.tid = JBD2, .seq = 9, .off = 1110, .wake = 1416, .on = 1420, .rq = 2, .done = 1415);
}

static inline void wait_for_commit(uint32_t seq)
{
	SLEEP(.tid = APP, .seq = seq, .off = 1010, .wake = 1500, .on = 1505, .waker = JBD2, .kind = TASK_KTHREAD);
}

#endif
