// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording in several files: their names and how many are kept; and what an analysis makes of a file that begins amid calls.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/analysis.h"
#include "recording/rotation.h"
#include "util/mem.h"
#include "util/user_file.h"
#include "open_files.h"
#include "tap.h"

static struct err e;

/* ---- files ---- */

static bool there(const char *name)
{
	struct stat st;

	return !lstat(name, &st);
}

/* A fact that the file can be known by, and an end. */
static void fill(struct rotation *r, uint32_t tid)
{
	struct wire_follow f = { .head = { .kind = WIRE_FOLLOW, .size = sizeof(f) }, .since = 1, .tid = tid, .kind = TASK_USER };

	recording_add(rotation_writer(r), &f.head, &e);
	rotation_ends(r, &e);
	recording_add_long(rotation_writer(r), WIRE_END, "{}", 2, &e);
}

/* The task of a whole recording's fact; 0: it isn't one. */
static uint32_t task_in(const char *name)
{
	struct recording *r;
	struct recording_record rec;
	struct recording_damage d;
	uint32_t tid = 0;

	if (recording_open(name, &r, &e))
		return 0;
	while (recording_next(r, &rec))
		if (rec.head)
			tid = ((const struct wire_follow *)rec.head)->tid;
	if (recording_damage(r, &d))
		tid = 0;
	recording_free(r);
	return tid;
}

static void test_files(void)
{
	struct rotation_opts o = { .path = "rec", .size = 1 << 20, .files = 3 };
	struct rotation_written w;
	struct rotation *r;

	ok(!rotation_open(&o, &r, &e) && !rotation_due(r), "a rotation begins with one file");
	for (uint32_t i = 1; i < 6; i++) {
		fill(r, i);
		ok(!rotation_turn(r, &e) && !rotation_begun(r, &e), "turn %u", i);
	}
	fill(r, 6);
	w = rotation_written(r);
	ok(w.files == 6 && w.removed == 3 && !w.stopped, "six files, three removed");
	recording_flush(rotation_writer(r), &e);
	ok(rotation_written(r).records == 12, "with two records each");
	ok(!rotation_close(r, &e), "it ends");
	ok(task_in("rec") == 6 && task_in("rec.1") == 5 && task_in("rec.2") == 4,
	   "the last three are there, the newest first");
	ok(!there("rec.3"), "and no other");
}

static void test_due(void)
{
	struct rotation_opts o = { .path = "due", .size = 1 << 20, .files = 2 };
	struct {
		struct wire_head head;
		uint8_t noise[8000];
	} f = { .head = { .kind = 63, .size = sizeof(f) } };
	struct rotation *r;
	uint64_t x = 1;
	struct stat st;

	rotation_open(&o, &r, &e);
	recording_add_long(rotation_writer(r), WIRE_HEADER, "{}", 2, &e);
	rotation_begun(r, &e);
	while (!rotation_due(r)) {
		for (size_t i = 0; i < sizeof(f.noise); i++) {
			x = x * 6364136223846793005ull + 1442695040888963407ull;
			f.noise[i] = (uint8_t)(x >> 56);
		}
		recording_add(rotation_writer(r), &f.head, &e);
	}
	fill(r, 1);
	rotation_turn(r, &e);
	rotation_close(r, &e);
	ok(!stat("due.1", &st) && st.st_size <= 1 << 20 && st.st_size > 900000, "noise fills a file as far as it may");
}

/* Something in the way: the recording stops, says so once, and what is there stays. */
static void test_in_the_way(void)
{
	struct rotation_opts o = { .path = "way", .size = 1 << 20, .files = 3 };
	struct rotation *r;

	rotation_open(&o, &r, &e);
	fill(r, 1);
	if (mkdir("way.1", 0700))
		abort();
	ok(rotation_turn(r, &e) < 0 && strstr(e.text, "cannot rename way to way.1") && strstr(e.text, "stops here"),
	   "a directory in the way ends the recording");
	fill(r, 2);
	ok(rotation_written(r).stopped && !rotation_due(r) && !rotation_turn(r, &e) && !rotation_close(r, &e),
	   "nothing comes after that, without another error");
	ok(task_in("way") == 1, "the file is whole");
}

/* One after the other: so many files of a rotation. */
static struct rotation *begun(const char *path, uint32_t files)
{
	struct rotation_opts o = { .path = path, .size = 1 << 20, .files = 3 };
	struct rotation *r;

	if (rotation_open(&o, &r, &e))
		abort();
	for (uint32_t i = 1; i <= files; i++) {
		fill(r, i);
		if (i < files && (rotation_turn(r, &e) || rotation_begun(r, &e)))
			abort();
	}
	return r;
}

static void test_removed_by_others(void)
{
	struct rotation *r = begun("gone", 3);

	unlink("gone.2");
	ok(!rotation_turn(r, &e) && task_in("gone.1") == 3 && task_in("gone.2") == 2, "the oldest may have been removed");
	unlink("gone.1");
	ok(!rotation_turn(r, &e) && there("gone.1") && !there("gone.2"), "or another one");
	unlink("gone");
	ok(rotation_turn(r, &e) == -ENOENT && e.status == EXIT_FAILED &&
		   !strcmp(e.text, "cannot rename gone to gone.1: No such file or directory; the recording stops here"),
	   "but not the one that is written: %s", e.text);
	rotation_close(r, &e);
}

static void test_not_removed(void)
{
	struct rotation *r = begun("last", 3);

	unlink("last.2");
	if (mkdir("last.2", 0700))
		abort();
	ok(rotation_turn(r, &e) == -EISDIR && e.status == EXIT_FAILED &&
		   !strcmp(e.text, "cannot remove last.2: Is a directory; the recording stops here"),
	   "what can't be removed ends the recording: %s", e.text);
	ok(task_in("last") == 3 && task_in("last.1") == 2 && rotation_written(r).stopped, "the others stay where they are");
	rotation_close(r, &e);
}

/* The next file can't be begun. */
static void test_no_next(void)
{
	struct rotation *r = begun("next", 1);
	struct rlimit was, tiny;
	int err;

	signal(SIGXFSZ, SIG_IGN);
	recording_flush(rotation_writer(r), &e);
	getrlimit(RLIMIT_FSIZE, &was);
	tiny = (struct rlimit){ .rlim_cur = 10, .rlim_max = was.rlim_max };
	setrlimit(RLIMIT_FSIZE, &tiny);
	err = rotation_turn(r, &e);
	setrlimit(RLIMIT_FSIZE, &was);
	ok(err == -EFBIG && !strcmp(e.text, "cannot write next: File too large"), "without room for the next file: %s",
	   e.text);
	fill(r, 2);
	ok(rotation_written(r).stopped && rotation_written(r).files == 1 && rotation_written(r).records == 2 &&
		   !rotation_close(r, &e) && task_in("next.1") == 1 && !there("next"),
	   "the recording stops with the one before");
}

static void test_one(void)
{
	struct rotation_opts o = { .path = "one" };
	struct rotation *r;

	ok(!rotation_open(&o, &r, &e) && !rotation_begun(r, &e) && !rotation_due(r) && !rotation_recent(r),
	   "without a size nothing turns");
	rotation_close(r, &e);
}

static void write_recording(const char *path, uint32_t tid)
{
	struct rotation_opts o = { .path = path };
	struct rotation *r;

	rotation_open(&o, &r, &e);
	fill(r, tid);
	rotation_close(r, &e);
}

/* A run that doesn't start */
static void test_dropped(void)
{
	struct rotation_opts o = { .path = "old", .size = 1 << 20, .files = 3 }, other = { .path = "new" };
	struct rotation *r;

	write_recording("old", 7);
	write_recording("old.1", 8);
	ok(!rotation_open(&o, &r, &e), "recordings of an earlier run may be replaced");
	recording_add_long(rotation_writer(r), WIRE_HEADER, "{}", 2, &e);
	rotation_drop(r);
	ok(task_in("old") == 7 && task_in("old.1") == 8, "they are as they were after a run that didn't start");
	rotation_open(&o, &r, &e);
	fill(r, 9);
	recording_flush(rotation_writer(r), &e);
	ok(!rotation_begun(r, &e) && !there("old.1"), "an older one goes when the run has begun");
	rotation_close(r, &e);
	ok(task_in("old") == 9, "  and so does what the first file held");
	rotation_open(&other, &r, &e);
	ok(there("new"), "a new file is made at once");
	rotation_drop(r);
	ok(!there("new"), "  and removed when the run doesn't start");
	rotation_open(&o, &r, &e);
	rotation_close(r, &e);
	ok(there("old") && !task_in("old"), "a run without a fact leaves a recording without one");
	rotation_drop(NULL);
}

static void test_parse(void)
{
	static const struct {
		const char *value;
		uint64_t size;
		uint32_t files; /* 0: refused */
	} rows[] = {
		{ "100M,10", 100ull << 20, 10 },
		{ "1M,2", 1 << 20, 2 },
		{ "1048576,1000", 1 << 20, 1000 },
		{ "1048575,2", 0, 0 },
		{ "1024T,2", 1ull << 50, 2 },
		{ "1125899906842625,2", 0, 0 },
		{ "1M,1", 0, 0 },
		{ "1M,1001", 0, 0 },
		{ "1M", 0, 0 },
		{ "1M,", 0, 0 },
		{ ",2", 0, 0 },
		{ "", 0, 0 },
		{ "1M,2,3", 0, 0 },
		{ "1M,2x", 0, 0 },
		{ "1X,2", 0, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rotation_opts o = { .size = 5, .files = 6 };
		int err = rotation_parse(rows[i].value, &o, &e);

		if (rows[i].files)
			ok(!err && o.size == rows[i].size && o.files == rows[i].files, "--rotate %s", rows[i].value);
		else
			ok(err == -EINVAL && e.status == EXIT_USAGE && o.size == 5 && o.files == 6, "not --rotate '%s'",
			   rows[i].value);
	}
	ok(!strcmp(e.text, "--rotate '1X,2': write SIZE,N, such as 100M,10: files of at most SIZE, from 1M on, and at most N of them, "
			   "2 to 1000"),
	   "so: %s", e.text);
}

/* So many bytes of records that are 8 bytes each, not yet in a block. */
static void add_bytes(struct rotation *r, size_t bytes)
{
	struct wire_head h = { .kind = 63, .size = 8 };

	for (size_t i = 0; i < bytes; i += 8)
		recording_add(rotation_writer(r), &h, &e);
}

/* Of a block the head has 40 bytes and of a file 16; the end gets 64 KiB, and twice the longest beginning or end. */
static void test_due_at(void)
{
	static const struct {
		uint64_t size;
		size_t beginning, last; /* bytes of records; with the last it isn't due yet, and with one more it is */
	} rows[] = {
		{ 200000, 0, 200000 - 65536 - 2 * 16 - 56 },		/* the end has to fit */
		{ 100000, 40000 - 56, 40000 + 25000 - 8 - 56 - 39944 }, /* a quarter is for more than beginnings */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rotation_opts o = { .path = "at", .size = rows[i].size, .files = 2 };
		struct rotation *r;
		bool early;

		unlink("at");
		rotation_open(&o, &r, &e);
		add_bytes(r, rows[i].beginning);
		rotation_begun(r, &e);
		add_bytes(r, rows[i].last);
		early = rotation_due(r);
		add_bytes(r, 8);
		ok(!early && rotation_due(r), "a file of %llu bytes is due with %zu more",
		   (unsigned long long)rows[i].size, rows[i].last);
		recording_stop(rotation_writer(r));
		ok(!rotation_due(r) && rotation_written(r).stopped && rotation_written(r).files == 1,
		   "not once it has stopped");
		rotation_drop(r);
	}
}

/* A long end makes the next file due the sooner. */
static void test_longest_end(void)
{
	struct rotation_opts o = { .path = "end", .size = 300000, .files = 2 };
	struct rotation *r;
	uint64_t noise = 1;
	char bytes[20000];
	bool early;

	for (size_t i = 0; i < sizeof(bytes); i++) {
		noise = noise * 6364136223846793005ull + 1442695040888963407ull;
		bytes[i] = (char)(noise >> 56);
	}
	rotation_open(&o, &r, &e);
	rotation_begun(r, &e);
	rotation_ends(r, &e);
	recording_add_long(rotation_writer(r), WIRE_END, bytes, sizeof(bytes), &e);
	rotation_turn(r, &e);
	rotation_begun(r, &e);
	/* of the end: 40 of its block, 16 of its record */
	add_bytes(r, 300000 - 65536 - 2 * (40 + 16 + 20000) - 56);
	early = rotation_due(r);
	add_bytes(r, 8);
	ok(!early && rotation_due(r), "of a file the end before it says how much room its own needs");
	rotation_close(r, &e);
}

static void test_recent_bytes(void)
{
	static const struct {
		uint64_t size;
		size_t recent;
	} rows[] = { { 0, 0 },
		     { 127, 8 },
		     { 128, 16 },
		     { 1 << 20, 1 << 17 },
		     { (8 << 20) - 8, 1048568 },
		     { 8 << 20, 1 << 20 },
		     { 17 << 19, 1 << 20 },
		     { 1ull << 40, 1 << 20 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rotation_opts o = { .path = "recent", .size = rows[i].size, .files = 2 };
		struct rotation *r;

		rotation_open(&o, &r, &e);
		ok(rotation_recent(r) == rows[i].recent, "of %llu bytes %zu are for the latest facts",
		   (unsigned long long)rows[i].size, rows[i].recent);
		rotation_drop(r);
	}
}

static void test_arguments(void)
{
	for (int i = 0; i < 4; i++) {
		struct rotation_opts o = { .path = "args", .show_args = i & 1 };
		struct rotation *r;

		rotation_open(&o, &r, &e);
		if (chmod("args", i & 2 ? 0644 : 0600))
			abort();
		ok(rotation_hides_arguments(r) == (i == 2),
		   "arguments are hidden where others can read, unless they are asked for: %d", i);
		rotation_drop(r);
	}
}

static int open_at(const char *path)
{
	struct rotation_opts o = { .path = path, .size = 1 << 20, .files = 3 };
	struct rotation *r;
	int err;

	e = (struct err){ 0 };
	err = rotation_open(&o, &r, &e);
	if (!err)
		rotation_drop(r);
	return err;
}

static void put_text(const char *name, const char *text)
{
	FILE *f = fopen(name, "we");

	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

static void cannot(const char *path, int err, enum exit_status status, const char *words)
{
	int got = open_at(path);

	if (!ok(got == err && e.status == status && !strcmp(e.text, words), "cannot begin: %s", words))
		diag("got %d, %d: %s", got, e.status, e.text);
}

/* What stands under a name that will be needed, and is no recording. */
static void test_refused(void)
{
	struct rotation_opts two = { .path = "first", .size = 1 << 20, .files = 2 };
	struct rotation *r;
	char fd[32];

	write_recording("no.1", 5);
	put_text("no.2", "text");
	cannot("no", -EEXIST, EXIT_FAILED, "will not replace no.2: it is not a recording made by barriertrace");
	ok(task_in("no.1") == 5 && !there("no"), "and nothing has been touched");
	put_text("no.2", "");
	ok(!open_at("no"), "an empty file is as good as none");
	unlink("no.2");
	put_text("no.3", "text");
	ok(!open_at("no"), "and what is not needed may be anything");
	if (symlink("no.1", "no.2"))
		abort();
	cannot("no", -ELOOP, EXIT_FAILED, "will not replace no.2: it is a symbolic link");
	unlink("no.2");
	if (mkfifo("no.2", 0600))
		abort();
	cannot("no", -EEXIST, EXIT_FAILED, "will not replace no.2: it is no regular file");
	put_text("first.1", "text");
	write_recording("first.2", 5);
	cannot("first", -EEXIST, EXIT_FAILED, "will not replace first.1: it is not a recording made by barriertrace");
	ok(rotation_open(&two, &r, &e) == -EEXIST && !there("first"), "also where there are two files at most");
	if (symlink("no.1", "to-no"))
		abort();
	cannot("to-no", -ELOOP, EXIT_FAILED, "will not write through the symbolic link to-no");
	cannot("/dev/stdin", -EINVAL, EXIT_USAGE, "--rotate needs a file, and /dev/stdin is none");
	cannot("-", -EINVAL, EXIT_USAGE, "--rotate needs a file: standard output is none");
	cannot("", -EINVAL, EXIT_USAGE, "a recording needs a file name");
	cannot(".", -EINVAL, EXIT_FAILED, "--rotate needs a regular file, and . is none");
	cannot("no.2", -EINVAL, EXIT_FAILED, "--rotate needs a regular file, and no.2 is none");
	snprintf(fd, sizeof(fd), "/dev/fd/%d", STDERR_FILENO);
	ok(open_at(fd) == -EINVAL && strstr(e.text, "--rotate needs a file"), "nor a descriptor");
}

#define SOMEBODY 65533

static int somebody(struct file_identity *id, struct err *err)
{
	static gid_t groups[] = { SOMEBODY };

	(void)err;
	*id = (struct file_identity){ true, SOMEBODY, SOMEBODY, groups, 1 };
	return 0;
}

static bool is_theirs(const char *name)
{
	struct stat st;

	return !lstat(name, &st) && st.st_uid == SOMEBODY && setfsuid((uid_t)-1) == 0;
}

/* Each file with the rights of who called, and root's given back. */
static void test_rights(void)
{
	struct rotation_opts o = { .path = "theirs/rec", .size = 1 << 20, .files = 2 };
	struct rotation *r;

	if (getuid()) {
		ok(true, "whose rights files are turned with # SKIP missing: root");
		return;
	}
	if (chmod(".", 0755) || mkdir("theirs", 0700) || chown("theirs", SOMEBODY, SOMEBODY))
		abort();
	user_files_by(somebody);
	ok(!rotation_open(&o, &r, &e) && is_theirs("theirs/rec"), "a file of who called");
	fill(r, 1);
	ok(!rotation_begun(r, &e) && is_theirs("theirs/rec"), "and after its beginning");
	ok(!rotation_turn(r, &e) && is_theirs("theirs/rec") && is_theirs("theirs/rec.1"), "and when it has turned");
	if (chown("theirs", 0, 0))
		abort();
	fill(r, 2);
	ok(rotation_turn(r, &e) < 0 && setfsuid((uid_t)-1) == 0 && rotation_written(r).stopped,
	   "but no file where that may not write");
	ok(strstr(e.text,
		  "Permission denied for uid 65533, who called; --as-root opens files as root; the recording stops here"),
	   "so: %s", e.text);
	rotation_close(r, &e);
	user_files_by(NULL);
	user_files_by_root(&e);
}

/* What who called may not read isn't replaced, and what can't be removed is told. */
static void test_rights_missing(void)
{
	struct rotation_opts o = { .path = "yours/rec", .size = 1 << 20, .files = 2 };
	struct rotation *r;

	if (getuid())
		return;
	if (mkdir("yours", 0700) || chown("yours", SOMEBODY, SOMEBODY))
		abort();
	write_recording("yours/rec.1", 1);
	user_files_by(somebody);
	ok(rotation_open(&o, &r, &e) == -EACCES &&
		   !strcmp(e.text, "cannot read yours/rec.1, which --rotate would replace: Permission denied for uid 65533, "
				   "who called; --as-root opens files as root"),
	   "%s", e.text);
	ok(setfsuid((uid_t)-1) == 0, "  with root's rights given back");
	if (chown("yours/rec.1", SOMEBODY, SOMEBODY))
		abort();
	ok(!rotation_open(&o, &r, &e), "an older one that is theirs");
	fill(r, 2);
	if (chown("yours", 0, 0) || chmod("yours", 0755))
		abort();
	ok(rotation_begun(r, &e) == -EACCES &&
		   !strcmp(e.text, "cannot remove yours/rec.1: Permission denied for uid 65533, who called; "
				   "--as-root opens files as root"),
	   "%s", e.text);
	ok(setfsuid((uid_t)-1) == 0 && task_in("yours/rec.1") == 1, "  and it stays");
	rotation_close(r, &e);
	user_files_by(NULL);
	user_files_by_root(&e);
}

/* ---- calls that were under way when a file began ---- */

static void test_known(void)
{
	struct sync_opts o = { .known_ns = 1000 };
	struct sync_analysis *a = sync_new(&o);
	struct wire_sync s = { .head = { .kind = WIRE_SYNC, .size = sizeof(s) },
			       .enter = 999,
			       .exit = 2000,
			       .tid = 1,
			       .tgid = 1,
			       .call = CALL_FSYNC,
			       .comm = "x" };
	struct report r = { 0 };

	sync_feed(a, &s.head);
	s.enter = 1000;
	s.tid = 2;
	sync_feed(a, &s.head);
	sync_report(a, &r.sync, false);
	ok(r.sync.count == 1 && r.sync.no_ledger == 1 && r.sync.without[NO_LEDGER_BEFORE] == 1,
	   "a call that began before the facts are complete gets no ledger");
	report_free(&r);
	sync_free(a);
}

static void remove_dir(const char *dir)
{
	char *command = xasprintf("rm -rf %s", dir);

	if (chdir("/") || system(command))
		abort();
	free(command);
}

int main(void)
{
	char dir[] = "/tmp/test_rotation.XXXXXX";
	int before;

	if (!mkdtemp(dir) || chdir(dir))
		abort();
	before = open_files();
	test_files();
	test_due();
	test_in_the_way();
	test_removed_by_others();
	test_not_removed();
	test_no_next();
	test_one();
	test_dropped();
	test_parse();
	test_due_at();
	test_longest_end();
	test_recent_bytes();
	test_arguments();
	test_refused();
	test_rights();
	test_rights_missing();
	test_known();
	ok(open_files() == before, "no descriptor is left open");
	remove_dir(dir);
	return tap_done();
}
