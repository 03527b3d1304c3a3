// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: forge FILE CALLS
 *
 * Writes a recording of that many sync calls, of 64 tasks of 16 processes on 3000 files: more files and leaves than have lines
 * of their own. Each call writes its data and waits for a commit by jbd2: 4 sleeps, 2 requests. One in a thousand is slow. No
 * chance is involved: the same arguments give the same bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording/recording.h"
#include "recording/run_context_json.h"
#include "util/mem.h"

#define US    1000ull
#define SDA   WIRE_DEV(8, 0)
#define JBD2  50u
#define TASKS 64u
#define FILES 3000u
#define T0    1000000000ull

static struct recording_writer *out;
static uint32_t sleeps[TASKS], jbd2_sleeps;
static struct view_counts counts;

static void send(void *record, uint16_t kind, uint16_t size)
{
	struct wire_head *h = record;
	struct err e = { 0 };

	h->kind = kind;
	h->size = size;
	if (recording_add(out, h, &e))
		exit(1);
}

static void send_json(const struct frame *f, uint16_t kind)
{
	json_t *j = frame_encode(f);
	char *s = json_dumps(j, JSON_COMPACT);
	struct err e = { 0 };

	if (recording_add_long(out, kind, s, strlen(s), &e))
		exit(1);
	free(s);
	json_decref(j);
}

static void follow(uint32_t tid, uint32_t tgid, const char *comm, uint32_t kind)
{
	struct wire_follow f = { .since = T0, .tid = tid, .tgid = tgid, .kind = kind };

	memcpy(f.comm, comm, strlen(comm));
	send(&f, WIRE_FOLLOW, sizeof(f));
}

static void name_file(uint32_t i)
{
	struct wire_file f = { .ino = 100 + i, .dev = SDA, .n = 2, .whole = 1 };

	snprintf(f.name[0], WIRE_NAME, "table_%04u.ibd", i);
	snprintf(f.name[1], WIRE_NAME, "database-%u", i % 7);
	send(&f, WIRE_FILE, sizeof(f));
}

static uint64_t chance(uint64_t below)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % below;
}

static void request(uint32_t tid, uint64_t begin, struct wire_request r)
{
	r.alloc = begin;
	r.rq = tid;
	r.dev = r.disk = SDA;
	r.bytes = 4096;
	r.tid = r.tgid = tid;
	send(&r, WIRE_REQUEST, sizeof(r));
}

static void count(enum wire_class c, uint64_t ns)
{
	counts.cell[c].count++;
	counts.cell[c].bytes += c == WIRE_FLUSH ? 0 : 4096;
	hist_add(&counts.cell[c].queue, 0);
	hist_add(&counts.cell[c].device, ns);
	hist_add(&counts.cell[c].total, ns);
}

/* Data of the caller's own; returns when it runs again. */
static uint64_t data_write(uint32_t task, uint64_t t)
{
	uint64_t done = t + 200 * US + chance(300 * US);
	struct wire_sleep s = { .off = t + 5 * US,
				.wake = done + 4 * US,
				.on = done + 6 * US,
				.rq = 1000 + task,
				.done = done,
				.tid = 1000 + task,
				.seq = sleeps[task]++,
				.how = HOW_REQUEST };

	request(1000 + task, t,
		(struct wire_request){ .done = done, .class = WIRE_WRITE_SYNC, .data = { .issue = t + US, .done = done } });
	count(WIRE_WRITE_SYNC, done - t - US);
	send(&s, WIRE_SLEEP, WIRE_SLEEP_SHORT);
	return s.on;
}

/* A commit by jbd2 for the caller, who sleeps from t on; returns when it runs again. */
static uint64_t commit(uint32_t task, uint64_t t, uint64_t flush)
{
	uint64_t begin = t + 10 * US, pre = begin + flush, data = pre + 300 * US, post = data + flush;
	struct wire_sleep idle = { .off = t - 50 * US,
				   .wake = t - US,
				   .on = t + 5 * US,
				   .tid = JBD2,
				   .seq = jbd2_sleeps++,
				   .how = HOW_TASK,
				   .waker = 1000 + task,
				   .waker_kind = TASK_USER };
	struct wire_sleep io = { .off = begin + US,
				 .wake = post + 3 * US,
				 .on = post + 5 * US,
				 .rq = JBD2,
				 .done = post,
				 .tid = JBD2,
				 .seq = jbd2_sleeps++,
				 .how = HOW_REQUEST };
	struct wire_sleep s = { .off = t,
				.wake = post + 9 * US,
				.on = post + 15 * US,
				.tid = 1000 + task,
				.seq = sleeps[task]++,
				.how = HOW_TASK,
				.waker = JBD2,
				.waker_kind = TASK_KTHREAD };

	request(JBD2, begin,
		(struct wire_request){
			.done = post,
			.class = WIRE_WRITE_BARRIER,
			.flags = REQUEST_SEQUENCE,
			.pre = { .begin = begin, .issue = begin, .done = pre },
			.data = { .issue = pre, .done = data },
			.post = { .begin = data, .issue = data, .done = post },
		});
	count(WIRE_FLUSH, flush);
	count(WIRE_WRITE_BARRIER, data - pre);
	count(WIRE_FLUSH, flush);
	send(&idle, WIRE_SLEEP, WIRE_SLEEP_SHORT);
	send(&io, WIRE_SLEEP, WIRE_SLEEP_SHORT);
	send(&s, WIRE_SLEEP, WIRE_SLEEP_SHORT);
	return s.on;
}

static uint64_t call(uint64_t i, uint64_t t)
{
	uint32_t task = (uint32_t)(i % TASKS);
	uint64_t slow = i % 1000 == 999 ? 5 + chance(40) : 1;
	struct wire_sync s = { .enter = t,
			       .ino = 100 + chance(FILES),
			       .dev = SDA,
			       .tid = 1000 + task,
			       .tgid = 1000 + task / 4 * 4,
			       .call = i % 3 ? CALL_FSYNC : CALL_FDATASYNC,
			       .sleeps = 2,
			       .switches = 2 };

	snprintf(s.comm, sizeof(s.comm), "worker-%u", task / 4);
	t = data_write(task, t + 8 * US);
	s.exit = commit(task, t + 30 * US, (800 * US + chance(600 * US)) * slow) + 3 * US;
	send(&s, WIRE_SYNC, sizeof(s));
	return s.exit;
}

static void describe(struct frame *f)
{
	struct frame_device *d = grow((void **)&f->device, &f->n_devices, sizeof(*d));
	struct device_name *place = grow((void **)&f->place, &f->n_places, sizeof(*place));

	f->run.version = xstrdup("0.0.0");
	f->run.start = xstrdup("2026-01-31T03:07:00Z");
	f->run.kernel = xstrdup("6.18.0");
	f->run.arch = xstrdup("x86_64");
	f->views = 1;
	f->ledger = true;
	f->start_ns = T0;
	strcpy(d->facts.name, "sda");
	d->facts.major = 8;
	d->facts.write_cache = xstrdup("write back");
	*place = (struct device_name){
		.dev = SDA, .name = "sda", .mount = "/srv", .fstype = "ext4", .traced = true, .volatile_cache = true
	};
}

static void finish(struct frame *f, uint64_t end)
{
	struct buf b = { 0 };
	struct err e = { 0 };

	f->run.wall_ns = end - T0;
	for (int c = 0; c < HEAT_CLASSES; c++)
		f->device[0].facts.heat[c] = xcalloc(1, sizeof(struct heat));
	for (uint64_t t = 0; t < f->run.wall_ns; t += f->run.wall_ns / 5000 + 1) {
		heat_add(f->device[0].facts.heat[HEAT_FLUSH], t, 700 * US + chance(2000 * US), 1 + chance(200));
		heat_add(f->device[0].facts.heat[HEAT_WRITE], t, 50 * US + chance(900 * US), 1 + chance(200));
	}
	recording_counts_encode(0, false, &counts, &b);
	if (recording_add_long(out, WIRE_COUNTS, b.data, b.len, &e))
		exit(1);
	buf_free(&b);
	send_json(f, WIRE_END);
}

int main(int argc, char **argv)
{
	struct frame f = { 0 };
	struct err e = { 0 };
	uint64_t t = T0 + 1000 * US;

	if (argc != 3 || recording_create(argv[1], &out, &e))
		return 2;
	describe(&f);
	send_json(&f, WIRE_HEADER);
	follow(JBD2, JBD2, "jbd2/sda-8", TASK_KTHREAD);
	for (uint32_t i = 0; i < TASKS; i++)
		follow(1000 + i, 1000 + i / 4 * 4, "worker", TASK_USER);
	for (uint32_t i = 0; i < FILES; i++)
		name_file(i);
	for (uint64_t i = 0; i < strtoull(argv[2], NULL, 10); i++)
		t = call(i, t) + 20 * US;
	finish(&f, t);
	frame_free(&f);
	return recording_close(out, &e) ? 1 : 0;
}
