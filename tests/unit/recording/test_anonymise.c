// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording without names: nothing of a name is left in any of its bytes or reports, all numbers are the same, and what can't be read
 * is not copied.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "model/outstanding.h"
#include "recording/anonymise.h"
#include "recording/anonymise_text.h"
#include "recording/run_context_json.h"
#include "render/render.h"
#include "run/replay.h"
#include "util/mem.h"
#include "json_at.h"
#include "recording_forge.h"
#include "rnd.h"
#include "tap.h"

#define MARK "zq7" /* is in each name, and by chance in nothing else */
#define DM0  WIRE_DEV(253, 0)
#define T0   1000000000ull
#define MS   1000000ull

static struct err e;
static char dir[] = "/tmp/test_anonymise.XXXXXX";

static char *in_dir(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

/* ---- a recording with a mark wherever there is text ---- */

static void add(struct recording_writer *w, void *record, uint16_t kind, size_t size)
{
	struct wire_head *h = record;

	h->kind = kind;
	h->size = (uint16_t)size;
	if (recording_add(w, h, &e))
		abort();
}

/* Whatever a description of a run can say; ' stands for ". */
static const char description[] =
	"{'views': 4, 'ledger': true, 'start_ns': 1000000000, 'run': {'version': '0.1.0', 'start': '2026-01-31T03:07:00Z', 'wall_ns': 1000000000,"
	" 'final': true, 'kernel': '6.1.0-18-" MARK "-amd64', 'arch': 'x86_64', 'filter': 'pid 42, comm " MARK
	"d, cgroup /" MARK ".slice/a',"
	" 'command': ['/opt/" MARK "/" MARK "d', '--dir=/srv/" MARK "', '/srv/" MARK "/a.db', '" MARK " secret'],"
	" 'notes': ['the recording /home/" MARK "/run.bt lies on dm-0', 'what another version says of " MARK "'],"
	" 'left_running': 1, 'left_pid': 77, 'left_comm': '" MARK "d', 'under_way': 1, 'under_way_ns': 3000000000},"
	" 'probes': [{'name': 'insert', 'rung': 'tp', 'reason': 'not needed'}], 'lost': [{'reason': 'full', 'count': 0}],"
	" 'symbols': [{'name': 'fsync'}],"
	" 'outstanding': [{'pid': 42, 'tid': 43, 'comm': '" MARK "d', 'cmdline': '/opt/" MARK "/" MARK
	"d --password=" MARK "', 'call': 'fsync',"
	"  'path': '/srv/" MARK "/hangs-" MARK
	"', 'device': 'dm-0', 'ns': 3000000000, 'step': 'journal', 'where': 'jbd2_log_wait_commit',"
	"  'via': 'jbd2/md_" MARK "-8', 'via_tid': 50, 'op': 'flush', 'disk': 'md_" MARK "'}],"
	" 'devices': ["
	"  {'name': 'dm-0', 'major': 253, 'views': {'view': 0}, 'model': '" MARK
	"-root', 'write_cache': 'write back', 'scheduler': 'none',"
	"   'slaves': ['md_" MARK "1'], 'via': '/srv/" MARK " is on dm-0, on md_" MARK "1',"
	"   'mounts': [{'dir': '/srv/" MARK "', 'fstype': 'ext4', 'options': 'rw,journal_path=/dev/" MARK
	"', 'barrier': 'barrier'},"
	"    {'dir': '/mnt/" MARK "', 'fstype': 'fuse." MARK "', 'options': 'rw', 'barrier': 'barrier'}]},"
	"  {'name': 'md_" MARK "', 'major': 253, 'minor': 1, 'views': {'view': 1}, 'model': 'raid1'},"
	"  {'name': 'md_" MARK "1', 'major': 253, 'minor': 2, 'views': {'view': 2}, 'model': 'raid1', 'disk': 'md_" MARK
	"'},"
	"  {'name': 'loop0', 'major': 253, 'minor': 3, 'views': {'view': 3}, 'model': '/home/" MARK "/disk.img'}],"
	" 'places': [{'dev': 265289728, 'name': 'dm-0', 'mount': '/srv/" MARK "', 'fstype': 'ext4', 'traced': true}]}";

static json_t *description_json(void)
{
	char *s = xstrdup(description);
	json_t *j;

	for (char *p = s; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	j = xmust(json_loads(s, 0, NULL));
	free(s);
	return j;
}

static void add_json(struct recording_writer *w, uint16_t kind, const json_t *j)
{
	char *s = json_dumps(j, JSON_COMPACT);

	if (recording_add_long(w, kind, s, strlen(s), &e))
		abort();
	free(s);
}

static void add_task(struct recording_writer *w, uint32_t tid, uint32_t kind, const char *comm)
{
	struct wire_follow f = { .since = T0, .tid = tid, .tgid = tid, .kind = kind };

	memcpy(f.comm + 12, MARK, 3); /* of a longer name that was there before */
	memcpy(f.comm, comm, strlen(comm) + (strlen(comm) < 12));
	add(w, &f, WIRE_FOLLOW, sizeof(f));
}

static void add_file(struct recording_writer *w)
{
	struct wire_file f = { .ino = 7, .dev = DM0, .n = 2, .whole = 1 };

	memset(f.name, 'x', sizeof(f.name));
	for (int i = 0; i < WIRE_NAMES; i++)
		memcpy(f.name[i] + 20, MARK, 3);
	strcpy(f.name[0], MARK ".db-wal");
	strcpy(f.name[1], "base-" MARK);
	add(w, &f, WIRE_FILE, sizeof(f));
}

/* It waits for one write, and for a task of the kernel. */
static void add_call(struct recording_writer *w, uint64_t t, const char *comm)
{
	struct wire_request r = { .rq = 9,
				  .done = t + MS,
				  .alloc = t,
				  .dev = DM0,
				  .disk = DM0,
				  .bytes = 4096,
				  .tid = 42,
				  .tgid = 42,
				  .class = WIRE_WRITE_SYNC,
				  .data = { .issue = t, .done = t + MS } };
	struct wire_sleep by_disk = { .off = t + 1000,
				      .wake = t + MS,
				      .on = t + MS + 1000,
				      .rq = 9,
				      .done = t + MS,
				      .tid = 42,
				      .how = HOW_REQUEST,
				      .seq = (uint32_t)(2 * (t / (10 * MS))) };
	struct wire_sleep by_task = { .off = t + MS + 2000,
				      .wake = t + 3 * MS,
				      .on = t + 3 * MS + 1000,
				      .tid = 42,
				      .how = HOW_TASK,
				      .waker = 52,
				      .waker_kind = TASK_KTHREAD,
				      .seq = by_disk.seq + 1 };
	struct wire_sync s = { .enter = t,
			       .exit = t + 4 * MS,
			       .ino = 7,
			       .dev = DM0,
			       .tid = 42,
			       .tgid = 42,
			       .call = CALL_FSYNC,
			       .sleeps = 2,
			       .switches = 2 };

	struct wire_work k = { .begun = t + MS, .tid = 53, .no = 1 };

	memcpy(k.pad, MARK, 3);
	memcpy(s.comm + 12, MARK, 3);
	strcpy(s.comm, comm);
	add(w, &r, WIRE_REQUEST, sizeof(r));
	add(w, &k, WIRE_WORK, sizeof(k));
	add(w, &by_disk, WIRE_SLEEP, WIRE_SLEEP_SHORT);
	add(w, &by_task, WIRE_SLEEP, WIRE_SLEEP_SHORT);
	add(w, &s, WIRE_SYNC, sizeof(s));
}

static void add_unknown(struct recording_writer *w)
{
	struct {
		union {
			struct wire_follow follow;
			struct wire_head head;
		};
		char more[16];
	} later = { .follow = { .since = T0, .tid = 60, .tgid = 60, .kind = TASK_USER, .comm = "later" },
		    .more = "later " MARK };

	add(w, &later, WIRE_FOLLOW, sizeof(later));
	add(w, &later, 50, sizeof(later));
	add(w, &later, WIRE_SYNC, 24);
	memcpy(&later.follow.comm, MARK, 4);
	if (recording_add_long(w, 200, "long " MARK, 9, &e) || recording_add_long(w, WIRE_COUNTS, "\xff" MARK, 5, &e))
		abort();
}

static void add_counts(struct recording_writer *w)
{
	struct view_counts *v = xcalloc(1, sizeof(*v));
	struct buf b = { 0 };

	v->cell[WIRE_FLUSH].count = 5;
	for (uint64_t i = 1; i <= 5; i++)
		hist_add(&v->cell[WIRE_FLUSH].device, i * MS);
	recording_counts_encode(0, false, v, &b);
	if (recording_add_long(w, WIRE_COUNTS, b.data, b.len, &e))
		abort();
	buf_free(&b);
	free(v);
}

static void make_recording(const char *path)
{
	json_t *j = description_json();
	struct recording_writer *w;

	if (recording_create(path, &w, &e))
		abort();
	add_json(w, WIRE_HEADER, j);
	add_task(w, 42, TASK_USER, MARK "d");
	add_task(w, 50, TASK_KTHREAD, "jbd2/dm-0-8");
	add_task(w, 51, TASK_KTHREAD, "jbd2/md_" MARK "-8");
	add_task(w, 52, TASK_KTHREAD, "drbd_w_" MARK);
	add_task(w, 53, TASK_KWORKER, "kworker/1:2-" MARK);
	add_file(w);
	add_unknown(w);
	for (uint64_t i = 1; i <= 20; i++)
		add_call(w, T0 + i * 10 * MS, i % 4 ? MARK "d" : "other-" MARK);
	add_counts(w);
	add_json(w, WIRE_END, j);
	json_decref(j);
	if (recording_close(w, &e))
		abort();
}

/* ---- bytes ---- */

struct bytes {
	uint8_t *p;
	size_t n;
};

static struct bytes slurp_bytes(const char *path)
{
	struct bytes b = { 0 };
	struct stat st;
	FILE *f = fopen(path, "re");

	if (!f || fstat(fileno(f), &st))
		abort();
	b.n = (size_t)st.st_size;
	b.p = xcalloc(1, b.n + 1);
	if (fread(b.p, 1, b.n, f) != b.n)
		abort();
	fclose(f);
	return b;
}

/* How often the mark stands in what the blocks hold. */
static size_t marks_in(const char *path)
{
	struct bytes b = slurp_bytes(path);
	size_t marks = 0, blocks = 0;

	for (size_t at = FORGE_FILE; at < b.n; blocks++) {
		size_t length = forge_get(b.p + at + 8, 4), stored = forge_get(b.p + at + 12, 4);
		uint8_t *payload = xcalloc(1, length);

		if (stored == length)
			memcpy(payload, b.p + at + FORGE_BLOCK, length);
		else if (ZSTD_decompress(payload, length, b.p + at + FORGE_BLOCK, stored) != length)
			abort();
		for (size_t i = 0; i + strlen(MARK) <= length; i++)
			marks += !memcmp(payload + i, MARK, strlen(MARK));
		free(payload);
		at += FORGE_BLOCK + stored;
	}
	free(b.p);
	return blocks ? marks : SIZE_MAX;
}

static int convert(const char *in, const char *out, struct anonymised *done)
{
	struct recording *r = NULL;
	struct recording_writer *w = NULL;
	int err;

	if (recording_open(in, &r, &e) || recording_create(out, &w, &e))
		abort();
	err = anonymise(r, w, done, &e);
	if (err)
		recording_drop(w);
	else
		recording_close(w, &e);
	recording_free(r);
	return err;
}

/* ---- reports ---- */

struct reports {
	json_t *json;
	char *text;
	bool incomplete;
};

static struct reports reports_of(const char *path)
{
	struct render_opts o = { .verbose = true, .unicode = true };
	struct buf json = { 0 }, text = { 0 };
	struct report r = { 0 };
	struct reports out;
	char *damage = NULL;

	if (replay(path, false, &r, &damage, &e))
		abort();
	render_json(&r, &o, &json);
	render_text(&r, &o, &text);
	out = (struct reports){ json_loads(json.data, 0, NULL), text.data, r.incomplete };
	buf_free(&json);
	report_free(&r);
	free(damage);
	return out;
}

static void reports_free(struct reports *r)
{
	json_decref(r->json);
	free(r->text);
}

static bool has_mark(json_t *j)
{
	char *s = json_dumps(j, 0);
	bool found = strstr(s, MARK);

	free(s);
	return found;
}

/* The same but for strings. */
static bool same_numbers(json_t *a, json_t *b)
{
	const char *key;
	json_t *v;
	size_t i;

	if (json_typeof(a) != json_typeof(b) || json_object_size(a) != json_object_size(b) ||
	    json_array_size(a) != json_array_size(b))
		return false;
	json_object_foreach(a, key, v)
	{
		if (!json_object_get(b, key) || !same_numbers(v, json_object_get(b, key))) {
			diag("%s differs", key);
			return false;
		}
	}
	json_array_foreach(a, i, v)
	{
		if (!same_numbers(v, json_array_get(b, i)))
			return false;
	}
	return json_is_string(a) || json_is_object(a) || json_is_array(a) || json_equal(a, b);
}

/* ---- tests ---- */

static void test_nothing_is_left(const char *in, const char *out)
{
	struct anonymised done = { 0 };
	struct reports a, b;

	ok(marks_in(in) > 60, "the recording is full of names");
	ok(!convert(in, out, &done), "it is copied without them");
	ok(!marks_in(out), "none is left in what the blocks hold");
	ok(done.left_out == 4, "what can't be read is counted");
	a = reports_of(in);
	b = reports_of(out);
	ok(has_mark(a.json) && strstr(a.text, MARK), "reports show names");
	ok(!has_mark(b.json) && !strstr(b.text, MARK), "but none of these");
	ok(number(a.json, "sync/count") == 20 && same_numbers(a.json, b.json), "and are the same in all numbers");
	reports_free(&a);
	reports_free(&b);
}

static void test_same_name(const char *out)
{
	struct reports r = reports_of(out);
	const char *comm = str(r.json, "sync/by_process/0/comm"), *path = str(r.json, "sync/by_file/0/path");
	const char *mount = str(r.json, "devices/0/mounts/0/dir"), *program = strrchr(str(r.json, "run/command/0"), '/');

	ok(*comm && program && !strcmp(program + 1, comm), "a process and its program have one name");
	ok(strcmp(comm, str(r.json, "sync/by_process/1/comm")), "another process has another");
	ok(*mount == '/' && !strncmp(path, mount, strlen(mount)) && path[strlen(mount)] == '/',
	   "a file is below its mount point");
	ok(!strncmp(str(r.json, "run/command/2"), mount, strlen(mount)), "an argument is on that mount point");
	ok(!strncmp(str(r.json, "devices/0/via"), mount, strlen(mount)), "and so is what led to the disk");
	ok(!strcmp(str(r.json, "devices/0/name"), "dm-0") && !strcmp(str(r.json, "devices/3/name"), "loop0"),
	   "disks keep their names");
	ok(!strcmp(str(r.json, "devices/1/name"), str(r.json, "devices/2/disk")), "a partition is of its disk");
	reports_free(&r);
}

/* ---- facts, one by one ---- */

union fact {
	struct wire_head head;
	struct wire_sync sync;
	struct wire_sleep sleep;
	struct wire_request request;
	struct wire_follow follow;
	struct wire_file file;
	struct wire_bio bio;
	struct wire_work work;
	uint8_t bytes[sizeof(struct wire_file) + 16];
};

/* Of kind `kind` with `size` bytes, all of them set, in; `left` bytes of it out. */
static const struct {
	uint16_t kind;
	size_t size, left;
} sizes[] = {
	{ WIRE_SYNC, sizeof(struct wire_sync), sizeof(struct wire_sync) },
	{ WIRE_SYNC, sizeof(struct wire_sync) + 8, sizeof(struct wire_sync) },
	{ WIRE_SYNC, sizeof(struct wire_sync) - 1, 8 },
	{ WIRE_SLEEP, WIRE_SLEEP_SHORT, WIRE_SLEEP_SHORT },
	{ WIRE_SLEEP, sizeof(struct wire_sleep), sizeof(struct wire_sleep) },
	{ WIRE_SLEEP, sizeof(struct wire_sleep) + 8, sizeof(struct wire_sleep) },
	{ WIRE_SLEEP, WIRE_SLEEP_SHORT - 1, 8 },
	{ WIRE_REQUEST, sizeof(struct wire_request), sizeof(struct wire_request) },
	{ WIRE_REQUEST, sizeof(struct wire_request) - 1, 8 },
	{ WIRE_FOLLOW, sizeof(struct wire_follow), sizeof(struct wire_follow) },
	{ WIRE_FOLLOW, sizeof(struct wire_follow) - 1, 8 },
	{ WIRE_FILE, sizeof(struct wire_file), sizeof(struct wire_file) },
	{ WIRE_FILE, sizeof(struct wire_file) - 1, 8 },
	{ WIRE_BIO, sizeof(struct wire_bio), sizeof(struct wire_bio) },
	{ WIRE_BIO, sizeof(struct wire_bio) - 1, 8 },
	{ WIRE_WORK, sizeof(struct wire_work), sizeof(struct wire_work) },
	{ WIRE_WORK, sizeof(struct wire_work) + 8, sizeof(struct wire_work) },
	{ WIRE_WORK, sizeof(struct wire_work) - 1, 8 },
	{ 0, 40, 8 },
	{ WIRE_WORK + 1, 40, 8 },
	{ 50, 40, 8 },
	{ 63, 8, 8 },
};

#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void fill_fact(union fact *f, size_t i)
{
	memset(f, 'x', sizeof(*f));
	f->head = (struct wire_head){ sizes[i].kind, (uint16_t)sizes[i].size, 3 };
	if (sizes[i].kind == WIRE_FILE)
		f->file.n = 2;
	if (sizes[i].kind == WIRE_FOLLOW)
		f->follow.kind = TASK_KTHREAD;
}

/* What it is to be: names of 15 or 48 times the same byte replaced, and nothing but zeroes behind what stands for them. */
static void expect(union fact *f, size_t i)
{
	fill_fact(f, i);
	f->head.size = (uint16_t)sizes[i].left;
	if (sizes[i].left == 8)
		return;
	switch (sizes[i].kind) {
	case WIRE_SYNC: strncpy(f->sync.comm, "task1", 16); break;
	case WIRE_FOLLOW:
		f->follow.comm[15] = 0; /* a word of the kernel's */
		f->follow.pad = 0;
		break;
	case WIRE_BIO: f->bio.work = f->bio.work == 1; break;
	case WIRE_WORK: memset(f->work.pad, 0, sizeof(f->work.pad)); break;
	case WIRE_FILE:
		memset(f->file.name, 0, sizeof(f->file.name));
		strcpy(f->file.name[0], "n1");
		strcpy(f->file.name[1], "n1");
		break;
	}
}

static void write_facts(const char *path)
{
	struct recording_writer *w = NULL;
	union fact f;

	if (recording_create(path, &w, &e))
		abort();
	recording_add_long(w, WIRE_HEADER, "{\"run\": {}}", 11, &e);
	for (size_t i = 0; i < N_SIZES; i++) {
		fill_fact(&f, i);
		recording_add(w, &f.head, &e);
	}
	recording_add_long(w, WIRE_HEADER, "{\"run\": {}}", 11, &e); /* a later one may have new places */
	recording_add_long(w, WIRE_HEADER, "{}", 2, &e);	     /* these are none */
	recording_add_long(w, WIRE_END, "{}", 2, &e);
	recording_add_long(w, WIRE_END, "{\"run\": {}}", 11, &e);
	recording_add_long(w, WIRE_END, "{\"run\": {}}", 11, &e); /* there is one already */
	if (recording_close(w, &e))
		abort();
}

static void test_facts(const char *in, const char *out)
{
	struct anonymised done = { 0 };
	struct recording_record rec;
	struct recording *r = NULL;
	size_t i = 0, longs = 0;
	union fact want;

	write_facts(in);
	ok(!convert(in, out, &done) && done.records == N_SIZES, "facts of all kinds and sizes");
	ok(done.left_out == 11 + 3, "those that can't be read are counted, a header and ends too");
	if (recording_open(out, &r, &e))
		abort();
	while (recording_next(r, &rec)) {
		longs += !rec.head;
		if (!rec.head)
			continue;
		if (i == N_SIZES)
			break;
		expect(&want, i);
		ok(rec.size == sizes[i].left && !memcmp(rec.head, &want, rec.size),
		   "kind %u of %zu bytes: %zu are left", sizes[i].kind, sizes[i].size, sizes[i].left);
		i++;
	}
	ok(i == N_SIZES && longs == 3, "in their order, between a header and an end, and a later header");
	recording_free(r);
}

/* ---- default deny ---- */

/* Each string of the description is a mark from now on, also those that no reader knows: every object gets one more. */
static void mark_all(json_t *j)
{
	const char *key;
	json_t *v;
	size_t i;

	json_object_foreach(j, key, v) if (json_is_string(v))
		json_object_set_new(j, key, json_string("/" MARK ", " MARK " is on " MARK));
	else mark_all(v);
	json_array_foreach(j, i, v) if (json_is_string(v)) json_array_set_new(j, i, json_string(MARK "=" MARK));
	else mark_all(v);
	if (json_is_object(j))
		json_object_set_new(j, "later", json_string(MARK));
}

/* The keys that have a mark, each once. */
static void marked_keys(json_t *j, const char *under, struct buf *to)
{
	const char *key;
	json_t *v;
	size_t i;

	json_object_foreach(j, key, v) marked_keys(v, key, to);
	json_array_foreach(j, i, v) marked_keys(v, under, to);
	if (json_is_string(j) && strstr(json_string_value(j), MARK) && !(to->len && strstr(to->data, under)))
		buf_printf(to, "%s ", under);
}

static void test_default_deny(const char *in, const char *out)
{
	json_t *j = description_json();
	struct recording_writer *w = NULL;
	struct recording *r = NULL;
	struct recording_record rec;
	struct anonymised done;
	struct buf keys = { 0 };

	mark_all(j);
	if (recording_create(in, &w, &e))
		abort();
	add_json(w, WIRE_HEADER, j);
	if (recording_close(w, &e) || convert(in, out, &done) || recording_open(out, &r, &e))
		abort();
	json_decref(j);
	j = recording_next(r, &rec) ? json_loadb(rec.data, rec.size, 0, NULL) : NULL;
	marked_keys(j, "", &keys);
	/* what the kernel and this program say */
	if (!ok(keys.data && !strcmp(keys.data, "version start arch name rung reason call step where op write_cache scheduler "
						"fstype barrier "),
		"nothing stays that is not listed here"))
		diag("%s", keys.data);
	ok(!strstr(str(j, "devices/0/name"), MARK) && !strstr(str(j, "places/0/name"), MARK) &&
		   strstr(str(j, "probes/0/name"), MARK) && strstr(str(j, "symbols/0/name"), MARK),
	   "names are those of probes and functions");
	buf_free(&keys);
	json_decref(j);
	recording_free(r);
}

/* ---- names in facts ---- */

static void begin(const char *path, struct recording_writer **w)
{
	if (recording_create(path, w, &e) || recording_add_long(*w, WIRE_HEADER, "{\"run\": {}}", 11, &e))
		abort();
}

/* By a task of this name, which may be as long as its place. */
static void sync_by(struct recording_writer *w, const char *comm)
{
	struct wire_sync s = { 0 };

	memcpy(s.comm, comm, strnlen(comm, sizeof(s.comm)));
	add(w, &s, WIRE_SYNC, sizeof(s));
}

/* The names in the copy: of tasks, and of files from the file's own up, each with a blank behind it. */
static char *names_of(const char *path)
{
	struct buf b = { 0 };
	struct recording_record rec;
	struct recording *r = NULL;

	if (recording_open(path, &r, &e))
		abort();
	while (recording_next(r, &rec)) {
		const union fact *f = (const void *)rec.head;

		if (rec.kind == WIRE_SYNC)
			buf_printf(&b, "%.16s ", f->sync.comm);
		if (rec.kind == WIRE_FOLLOW)
			buf_printf(&b, "%.16s ", f->follow.comm);
		for (int i = 0; rec.kind == WIRE_FILE && i < WIRE_NAMES; i++)
			buf_printf(&b, "%s%s", f->file.name[i], *f->file.name[i] ? " " : "");
	}
	recording_free(r);
	return b.data;
}

static void become(const char *in, const char *out, struct recording_writer *w, const char *want, const char *what)
{
	struct anonymised done;
	char *names;

	if (recording_close(w, &e) || convert(in, out, &done))
		abort();
	names = names_of(out);
	if (!ok(!strcmp(names, want), "%s", what))
		diag("got '%s'", names);
	free(names);
}

static void test_task_names(const char *in, const char *out)
{
	struct recording_writer *w = NULL;

	begin(in, &w);
	add_task(w, 1, TASK_USER, "jbd2/sda1-8");
	add_task(w, 2, TASK_KTHREAD, "jbd2/sda1-8");
	add_task(w, 3, TASK_KWORKER, "kworker/1:2");
	sync_by(w, "jbd2/sda1-8");
	become(in, out, w, "task1 jbd2/sda1-8 kworker/1:2 task1 ", "a task of the kernel keeps its name");
	begin(in, &w);
	sync_by(w, "of fifteen byte");
	sync_by(w, "of fifteen bytes");
	become(in, out, w, "task1 task1 ", "a task's name has no more than 15 bytes");
}

static void test_file_names(const char *in, const char *out)
{
	struct wire_file f = { .ino = 7, .dev = DM0, .n = 4, .whole = 1, .name = { "a", "b", "\0joe", "c", "joe" } };
	struct recording_writer *w = NULL;

	begin(in, &w);
	add(w, &f, WIRE_FILE, sizeof(f));
	become(in, out, w, "n3 n2 n1 ", "names are numbered from the root on");
}

/* ---- texts ---- */

/* In this order: numbers are given by first appearance. */
static const struct {
	enum frame_text what;
	const char *text, *want;
} texts[] = {
	{ TEXT_DISK, "sda1", "sda1" },
	{ TEXT_DISK, "nvme0n1p2", "nvme0n1p2" },
	{ TEXT_DISK, "nvme0c1n1", "nvme0c1n1" },
	{ TEXT_DISK, "mmcblk0boot1", "mmcblk0boot1" },
	{ TEXT_DISK, "dm-12", "dm-12" },
	{ TEXT_DISK, "sda (diskseq 17)", "sda (diskseq 17)" },
	{ TEXT_DISK, "sda (2)", "sda (2)" },
	{ TEXT_DISK, "", "" },
	{ TEXT_DISK, "sda (joe)", "disk1" },
	{ TEXT_DISK, "sda (2) joe", "disk2" },
	{ TEXT_DISK, "md_home", "md_3" },
	{ TEXT_DISK, "md_home (2)", "md_4" },
	{ TEXT_DISK, "sdabcd", "disk5" },
	{ TEXT_DISK, "sd1", "disk6" },
	{ TEXT_DISK, "loopy", "disk7" },
	{ TEXT_DISK, "nvme0x1", "disk8" },
	{ TEXT_PATH, "/dev/sda1", "/dev/sda1" },
	{ TEXT_PATH, "/dev/joe", "/n1/n2" },
	{ TEXT_PATH, "/srv//joe/", "/n3//n2/" },
	{ TEXT_PATH, "joe", "n2" },
	{ TEXT_VIA, "/srv/joe is on dm-0, on sda, sdb", "/n3/n2 is on dm-0, on sda, sdb" },
	{ TEXT_VIA, "dm-0 is on md_home", "dm-0 is on md_3" },
	{ TEXT_VIA, "/srv/my own is here is on sda", "/n3/n4 n5 is n6 is on sda" },
	{ TEXT_TASK, "joe", "task1" },
	{ TEXT_TASK, "?", "?" },
	{ TEXT_TASK, "iou-wrk-123", "iou-wrk-123" },
	{ TEXT_TASK, "iou-wrk-joe", "task2" },
	{ TEXT_COMMAND, "/srv/joe", "/n3/task1" },
	{ TEXT_COMMAND, "a-name-of-more-than-15-bytes", "task3" },
	{ TEXT_TASK, "a-name-of-more-", "task3" },
	{ TEXT_CMDLINE, "joe --password=joe /srv/joe  x", "task1 arg1 /n3/n2  arg2" },
	{ TEXT_NOTE, "joe was here", NOTE_LEFT_OUT },
	{ TEXT_RELEASE, "6.1.0-18-amd64", "6.1.0" },
	{ TEXT_RELEASE, "6.18.5.7", "6.18.5" },
	{ TEXT_RELEASE, "7.0-joe", "7.0" },
	{ TEXT_RELEASE, "6..1", "6" },
	{ TEXT_RELEASE, "joe", "" },
	{ TEXT_OPTIONS, "rw,nobarrier,user=joe,barrier=0,barrier=joe", "nobarrier,barrier=0" },
	{ TEXT_OPTIONS, "rw", "" },
	{ TEXT_FSTYPE, "ext4", "ext4" },
	{ TEXT_FSTYPE, "fuse.joefs", "fuse" },
	{ TEXT_OPEN, "write back", "write back" },
	{ TEXT_PRIVATE, "what is new", "name1" },
};

/* Of the kernel's threads. */
static const char *const threads[][2] = {
	{ "jbd2/sda1-8", "jbd2/sda1-8" },
	{ "jbd2/dm-0-8", "jbd2/dm-0-8" },
	{ "jbd2/md_home-8", "jbd2/k1" },
	{ "xfsaild/nvme0n1p2", "xfsaild/nvme0n1p2" },
	{ "xfsaild/dm-joe", "xfsaild/k2" },
	{ "ksoftirqd/3", "ksoftirqd/3" },
	{ "kworker/u8:2", "kworker/u8:2" },
	{ "kworker/1:1H", "kworker/1:1H" },
	{ "kworker/u16:12-joe", "kworker/-k3" },
	{ "kworker/0:1+joe", "kworker/+k3" },
	{ "kworker/R-joe", "kworker/-k3" },
	{ "kworker/joe", "kworker/-k3" },
	{ "md127_raid1", "md127_k4" },
	{ "loop0", "loop0" },
	{ "irq/24-joe", "irq/24-k3" },
	{ "iou-wrk-7", "iou-wrk-7" },
	{ "jbd2/", "jbd2/" },
	{ "(joe)", "(k5" },
	{ "", "" },
};

static void becomes(const struct buf *b, const char *text, const char *want)
{
	const char *got = b->data ? b->data : "";

	if (!ok(!strcmp(got, want), "%s", *text ? text : "(empty)"))
		diag("got %s, want %s", got, want);
}

static void test_texts(void)
{
	struct stand_ins *s = stand_ins_new();
	struct buf b = { 0 };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		buf_clear(&b);
		replace_text(s, texts[i].what, texts[i].text, 0, &b);
		becomes(&b, texts[i].text, texts[i].want);
	}
	stand_ins_free(s);
	s = stand_ins_new();
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		buf_clear(&b);
		replace_task(s, threads[i][0], strlen(threads[i][0]), true, &b);
		becomes(&b, threads[i][0], threads[i][1]);
	}
	buf_free(&b);
	stand_ins_free(s);
}

static void test_many_names(void)
{
	struct stand_ins *s = stand_ins_new();
	struct buf b = { 0 };
	bool good = true;
	char name[32], want[32];

	for (int turn = 0; turn < 2; turn++)
		for (int i = 1; i <= 20000; i++) {
			snprintf(name, sizeof(name), "file-%d", i);
			snprintf(want, sizeof(want), "n%d", i);
			buf_clear(&b);
			replace_part(s, name, strlen(name), &b);
			good &= !strcmp(b.data, want);
		}
	ok(good, "twenty thousand names, each by its own");
	buf_free(&b);
	stand_ins_free(s);
}

/* Of pieces that mean something somewhere, in any order, with a name among them. */
static void test_any_text(void)
{
	static const char *const pieces[] = { MARK,	    MARK,   "/",     "/dev/",	 "md_",	  "sda1",
					      "dm-0",	    "1",    " is ",  "on ",	 ", ",	  "kworker/",
					      "-",	    "+",    "jbd2/", "iou-wrk-", ".",	  "rw,",
					      "barrier=0,", " (2)", " ",     "\xff",	 "6.1.0-" };
	struct stand_ins *s = stand_ins_new();
	bool good = true;

	for (int i = 0; i < 40000; i++) {
		enum frame_text what = (enum frame_text)(rnd() % TEXT_FSTYPE);
		struct buf text = { 0 }, out = { 0 };

		for (uint64_t n = 1 + rnd() % 8; n; n--)
			buf_str(&text, pieces[rnd() % (sizeof(pieces) / sizeof(pieces[0]))]);
		replace_text(s, what, text.data, rnd() % 2, &out);
		if (what != TEXT_OPEN && out.len && strstr(out.data, MARK)) {
			diag("%d: %s -> %s", what, text.data, out.data);
			good = false;
		}
		buf_free(&text);
		buf_free(&out);
	}
	ok(good, "no name comes through, whatever stands around it");
	stand_ins_free(s);
}

int main(void)
{
	char *in, *out;

	if (!mkdtemp(dir))
		return 1;
	in = in_dir("in");
	out = in_dir("out");
	make_recording(in);
	test_nothing_is_left(in, out);
	test_same_name(out);
	test_facts(in, out);
	test_default_deny(in, out);
	test_task_names(in, out);
	test_file_names(in, out);
	test_texts();
	test_many_names();
	test_any_text();
	unlink(in);
	unlink(out);
	rmdir(dir);
	free(in);
	free(out);
	return tap_done();
}
