// SPDX-License-Identifier: GPL-2.0-only
/* Where a recording may be written, when its blocks end, and what is said when it can't go on. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording/recording.h"
#include "util/mem.h"
#include "util/user_file.h"
#include "tap.h"

static struct err e;

static void put_text(const char *name, const char *text)
{
	FILE *f = fopen(name, "we");

	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

static off_t size_of(const char *name)
{
	struct stat st;

	return lstat(name, &st) ? -1 : st.st_size;
}

static void cannot(const char *path, int err, const char *words)
{
	struct recording_writer *w = NULL;
	int got;

	e = (struct err){ 0 };
	got = recording_create(path, &w, &e);
	if (!ok(got == err && e.status == EXIT_FAILED && strstr(e.text, words) && !w, "refused: %s", words))
		diag("got %d: %s", got, e.text);
	recording_drop(w);
}

static void write_one(const char *path)
{
	struct recording_writer *w;

	if (recording_create(path, &w, &e) || recording_add_long(w, WIRE_END, "{}", 2, &e) || recording_close(w, &e))
		abort();
}

static void test_places(void)
{
	put_text("text", "text");
	cannot("text", -EEXIST, "will not replace text: it is not a recording made by barriertrace");
	ok(size_of("text") == 4, "and it stays as it was");
	if (mkfifo("pipe", 0600) || mkdir("dir", 0700))
		abort();
	cannot("pipe", -EINVAL,
	       "will not write a recording to pipe: it is no regular file; write it to '-', and redirect that");
	cannot("dir", -EISDIR, "cannot write dir: Is a directory");
	cannot("none/x", -ENOENT, "cannot write none/x: No such file or directory");
	write_one("rec");
	ok(size_of("rec") == 16 + 40 + 24, "a recording of an end");
	write_one("rec");
	ok(size_of("rec") == 16 + 40 + 24, "may be replaced by another");
	put_text("empty", "");
	write_one("empty");
	ok(size_of("empty") == 16 + 40 + 24, "so may an empty file");
}

static void test_locked(void)
{
	struct recording_writer *w;
	char *who = xasprintf("(pid %d) holds it", getpid());

	recording_create("locked", &w, &e);
	cannot("locked", -EBUSY, who);
	ok(size_of("locked") == 16, "it stays the first one's");
	recording_close(w, &e);
	write_one("locked");
	ok(size_of("locked") == 16 + 40 + 24, "when that has ended, another can have it");
	free(who);
}

static void test_dropped(void)
{
	struct recording_writer *w;

	recording_create("dropped", &w, &e);
	recording_add_long(w, WIRE_HEADER, "{}", 2, &e);
	recording_drop(w);
	ok(size_of("dropped") < 0, "a new file goes when the run does not start");
	write_one("dropped");
	recording_create("dropped", &w, &e);
	ok(recording_size_bound(w) == 16 && size_of("dropped") == 80, "one that is replaced is as it was");
	recording_add_long(w, WIRE_HEADER, "{}", 2, &e);
	ok(recording_size_bound(w) == 16 + 40 + 24 && size_of("dropped") == 80, "until a block is written");
	recording_drop(w);
	ok(size_of("dropped") == 80, "and stays so when the run does not start");
	recording_create("begun", &w, &e);
	recording_add_long(w, WIRE_HEADER, "{}", 2, &e);
	recording_flush(w, &e);
	recording_drop(w);
	ok(size_of("begun") == 80, "what has a block stays");
	recording_create("dropped", &w, &e);
	recording_close(w, &e);
	ok(size_of("dropped") == 16, "a run without a fact replaces it, too");
	recording_create("dropped", &w, &e);
	recording_stop(w);
	recording_close(w, &e);
	ok(size_of("dropped") == 16, "one that has stopped does not");
	recording_drop(NULL);
}

static void test_modes(void)
{
	struct recording_writer *w;
	struct stat st;

	recording_create("mode", &w, &e);
	ok(!stat("mode", &st) && (st.st_mode & 0777) == 0600 && recording_is_private(w), "a recording is its owner's");
	recording_drop(w);
	user_files_mode(0644);
	recording_create("mode", &w, &e);
	ok(!stat("mode", &st) && (st.st_mode & 0777) == 0644 && !recording_is_private(w),
	   "unless another mode was asked for");
	recording_drop(w);
}

/* ---- streams ---- */

static void test_streams(void)
{
	int out = dup(STDOUT_FILENO), fd = open("stream", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct recording_writer *w = NULL;
	bool good;

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	good = !recording_create("-", &w, &e) && !recording_add_long(w, WIRE_END, "{}", 2, &e) && !recording_close(w, &e);
	dup2(out, STDOUT_FILENO);
	close(out);
	ok(good && size_of("stream") == 80, "to standard output");
	ok(!close(fd), "which stays open");
	fd = open("stream", O_RDWR); /* not closed on exec, as our caller's */
	if (fd >= 0) {
		char *path = xasprintf("/dev/fd/%d", fd);

		ok(lseek(fd, 0, SEEK_END) == 80 && !recording_create(path, &w, &e) && !recording_close(w, &e) &&
			   size_of("stream") == 96,
		   "to a descriptor, behind what is there");
		free(path);
		close(fd);
	}
}

/* ---- blocks ---- */

static bool add_small(struct recording_writer *w, int n)
{
	struct wire_head h = { .kind = 63, .size = 8 };
	int err = 0;

	while (n--)
		err = err ? err : recording_add(w, &h, &e);
	return !err;
}

static void test_blocks(void)
{
	const struct recording_written *k;
	struct recording_writer *w;
	struct wire_head longer[3] = { { .kind = 63, .size = 17 } };

	recording_create("blocks", &w, &e);
	k = recording_written(w);
	ok(add_small(w, 32768) && k->records == 0 && k->bytes == 16, "256 KiB of records wait");
	ok(recording_size_bound(w) == 16 + 40 + 262144, "as one block");
	ok(add_small(w, 1) && k->records == 32768 && k->bytes > 16 + 40 && k->bytes == (uint64_t)size_of("blocks"),
	   "which is written when there is one more");
	ok(recording_size_bound(w) == k->bytes + 40 + 8, "that waits");
	ok(!recording_add(w, longer, &e) && recording_size_bound(w) == k->bytes + 40 + 8 + 24,
	   "a record takes a multiple of 8 bytes");
	recording_flush(w, &e);
	ok(k->records == 32770 && recording_size_bound(w) == k->bytes, "a flush writes what waits");
	recording_stop(w);
	ok(add_small(w, 3) && k->not_kept == 3 && k->stopped && k->records == 32770,
	   "then it stops, and what comes is counted");
	recording_close(w, &e);
	recording_create("blocks", &w, &e);
	k = recording_written(w);
	add_small(w, 5);
	recording_stop(w);
	ok(k->not_kept == 5 && !k->records && recording_size_bound(w) == 16, "so is what waited");
	recording_close(w, &e);
}

/* A piece of a long record has 65,512 bytes at most. */
static void test_pieces(void)
{
	static const struct {
		size_t n;
		uint64_t pieces;
	} rows[] = { { 0, 1 },	   { 1, 1 },	     { 65511, 1 },	  { 65512, 1 },
		     { 65513, 2 }, { 2 * 65512, 2 }, { 2 * 65512 + 1, 3 } };
	char *zero = xcalloc(1, 3 * 65512);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct recording_writer *w;
		uint64_t bound;

		recording_create("pieces", &w, &e);
		recording_add_long(w, WIRE_HEADER, zero, rows[i].n, &e);
		bound = recording_size_bound(w);
		recording_flush(w, &e);
		ok(recording_written(w)->records == rows[i].pieces &&
			   bound == 16 + 40 + 16 * rows[i].pieces + (rows[i].n + 7) / 8 * 8,
		   "%zu bytes are %d pieces", rows[i].n, (int)rows[i].pieces);
		recording_drop(w);
		unlink("pieces");
	}
	free(zero);
}

/* ---- no room ---- */

static void stops(struct recording_writer *w, const char *words)
{
	struct rlimit was, tiny;
	char noise[4000];
	uint64_t x = 1;
	int err;

	for (size_t i = 0; i < sizeof(noise); i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		noise[i] = (char)(x >> 56);
	}
	recording_add_long(w, WIRE_HEADER, noise, 20, &e);
	recording_flush(w, &e);
	getrlimit(RLIMIT_FSIZE, &was);
	tiny = (struct rlimit){ .rlim_cur = 1000, .rlim_max = was.rlim_max };
	setrlimit(RLIMIT_FSIZE, &tiny);
	recording_add_long(w, WIRE_HEADER, noise, sizeof(noise), &e);
	err = recording_flush(w, &e);
	setrlimit(RLIMIT_FSIZE, &was);
	if (!ok(err == -EFBIG && e.status == EXIT_FAILED && !strcmp(e.text, words), "it says so: %s", words))
		diag("got %d: %s", err, e.text);
	ok(recording_written(w)->not_kept == 1 && recording_written(w)->stopped && !recording_close(w, &e), "  once");
}

static void test_no_room(void)
{
	struct recording_writer *w;
	int fd;

	signal(SIGXFSZ, SIG_IGN);
	recording_create("room", &w, &e);
	stops(w, "cannot write room: File too large; the recording stops here, it has 1 record (96 B)");
	ok(size_of("room") == 96, "half a block is cut off");
	fd = open("room2", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, "xx", 2) != 2)
		abort();
	recording_create_fd(fd, "it", &w, &e);
	stops(w, "cannot write it: File too large; the recording stops here, it has 1 record and perhaps half a block (96 B)");
	ok(size_of("room2") == 1000, "but not where other things are, too");
}

/* ---- with somebody's rights ---- */

#define SOMEBODY 65533

static int somebody(struct file_identity *id, struct err *err)
{
	static gid_t groups[] = { SOMEBODY };

	(void)err;
	*id = (struct file_identity){ true, SOMEBODY, SOMEBODY, groups, 1 };
	return 0;
}

static bool are_ours(void)
{
	return setfsuid((uid_t)-1) == 0;
}

static void test_rights(const char *dir)
{
	struct recording_writer *w;
	struct stat st;

	if (getuid()) {
		ok(true, "whose rights a recording is made with # SKIP missing: root");
		return;
	}
	if (chown(dir, SOMEBODY, SOMEBODY))
		abort();
	user_files_by(somebody);
	write_one("theirs");
	ok(!stat("theirs", &st) && st.st_uid == SOMEBODY && are_ours(), "who called gets the recording");
	cannot("rec", -EPERM,
	       "will not write a recording to rec: it belongs to uid 0, who could change it; remove it, or choose another name");
	ok(are_ours(), "and root's stays, with root's rights given back");
	recording_create("dropped2", &w, &e);
	recording_drop(w);
	ok(size_of("dropped2") < 0 && are_ours(), "so is it when the run does not start");
	if (chmod(dir, 0555))
		abort();
	cannot("new", -EACCES,
	       "cannot write new: Permission denied for uid 65533, who called; --as-root opens files as root");
	ok(are_ours(), "or can't");
}

int main(void)
{
	char dir[] = "/tmp/test_writer.XXXXXX", *command;
	int first;

	if (!mkdtemp(dir) || chdir(dir))
		abort();
	first = dup(STDIN_FILENO);
	close(first);
	test_places();
	test_locked();
	test_dropped();
	test_streams();
	test_blocks();
	test_pieces();
	test_no_room();
	test_modes();
	test_rights(dir);
	ok(dup(STDIN_FILENO) == first, "no descriptor is left open");
	command = xasprintf("rm -rf %s", dir);
	if (chdir("/") || system(command))
		abort();
	free(command);
	return tap_done();
}
