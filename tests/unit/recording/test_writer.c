// SPDX-License-Identifier: GPL-2.0-only
/* Where a recording may be written, when its blocks end, and what is said when it can't go on. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recording/recording.h"
#include "util/mem.h"
#include "util/user_file.h"
#include "faults.h"
#include "open_files.h"
#include "tap.h"

static struct err e;

/* ---- others, who come between: in the place of libc's ---- */

static int races;		/* how often "raced" is there, and gone when it is looked at */
static void (*meanwhile)(void); /* before a file is locked, once */
static int removed_by;		/* whose rights the last file was removed with */

int unlinkat(int dir, const char *path, int flags)
{
	removed_by = setfsuid((uid_t)-1);
	return (int)syscall(SYS_unlinkat, dir, path, flags);
}

int openat(int dir, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	if (races && (flags & O_EXCL))
		close((int)syscall(SYS_openat, dir, path, O_CREAT | O_WRONLY, 0600));
	if (races && (flags & O_PATH) && !strcmp(path, "raced") && !unlinkat(dir, path, 0))
		races--;
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

int flock(int fd, int how)
{
	void (*now)(void) = meanwhile;

	meanwhile = NULL;
	if (now)
		now();
	return (int)syscall(SYS_flock, fd, how);
}

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

/* A file that comes and goes while it is opened. */
static void test_raced(void)
{
	races = 1;
	write_one("raced");
	ok(!races && size_of("raced") == 16 + 40 + 24, "a file that goes before it is opened is made");
	unlink("raced");
	races = 100;
	cannot("raced", -EBUSY, "cannot write raced: Device or resource busy");
	ok(races == 90, "after ten times it is given up");
	races = 0;
}

static void move_away(void)
{
	if (rename("moved", "other"))
		abort();
}

static void put_in_its_place(void)
{
	if (rename("moved", "other") || rename("spare", "moved"))
		abort();
}

static int others = -1;

static void take(void)
{
	others = open("taken", O_RDWR | O_CLOEXEC);
	if (others < 0 || syscall(SYS_flock, others, LOCK_EX))
		abort();
}

/* Another recorder, before we have the lock. */
static void test_meanwhile(void)
{
	meanwhile = move_away;
	write_one("moved");
	ok(size_of("moved") == 80 && size_of("other") == 0, "a new file that got another name is made anew");
	meanwhile = move_away;
	write_one("moved");
	ok(size_of("moved") == 80 && size_of("other") == 80, "and so is one that was there");
	write_one("spare");
	put_text("moved", "");
	meanwhile = put_in_its_place;
	write_one("moved");
	ok(size_of("moved") == 80 && size_of("other") == 0, "nor is one written to in whose place another has come");
	meanwhile = take;
	cannot("taken", -EBUSY, "holds it");
	ok(!size_of("taken"), "a new file that another has locked is the other's");
	close(others);
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
	write_one("dropped");
	recording_create("dropped", &w, &e);
	recording_stop(w);
	recording_close(w, &e);
	ok(size_of("dropped") == 80, "one that has stopped does not");
	recording_drop(NULL);
}

/* How it ends with a signal, after `make`. */
static bool is_killed(void (*make)(void))
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		make();
		raise(SIGTERM);
		_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
}

static void gather(void)
{
	struct recording_writer *w;

	recording_create("killed", &w, &e);
	recording_add_long(w, WIRE_HEADER, "{}", 2, &e);
}

static void flush(void)
{
	struct recording_writer *w;

	recording_create("killed", &w, &e);
	recording_add_long(w, WIRE_HEADER, "{}", 2, &e);
	recording_flush(w, &e);
}

/* Every descriptor is the folder, as the one of the recording was. */
static void give_up(void)
{
	struct recording_writer *w;
	int folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	recording_create("killed", &w, &e);
	recording_drop(w);
	put_text("killed", "x");
	for (int fd = 3; fd < 40; fd++)
		dup2(folder, fd);
}

static void test_killed(void)
{
	ok(is_killed(gather) && size_of("killed") < 0, "without a block a new file goes when a signal ends the run");
	ok(is_killed(flush) && size_of("killed") == 80, "with one it stays");
	ok(is_killed(gather) && size_of("killed") == 80, "and one that was there stays as it was");
	unlink("killed");
	ok(is_killed(give_up) && size_of("killed") == 1, "once it is given up, what has its name is another's");
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
			   size_of("stream") == 96 && recording_begins(fd),
		   "to a descriptor, behind what is there");
		free(path);
		close(fd);
	}
}

static void test_terminal(void)
{
	int other_end = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), fd;
	struct recording_writer *w = NULL;
	char *path;

	if (other_end < 0 || grantpt(other_end) || unlockpt(other_end)) {
		ok(true, "no recording goes to a terminal # SKIP missing: terminals");
		return;
	}
	fd = open(ptsname(other_end), O_RDWR | O_NOCTTY);
	path = xasprintf("/dev/fd/%d", fd);
	ok(recording_create(path, &w, &e) == -EINVAL && e.status == EXIT_USAGE &&
		   !strcmp(e.text, "will not write a recording to a terminal"),
	   "%s", e.text);
	free(path);
	close(fd);
	close(other_end);
}

/* Descriptors that a command would get from us. */
static int for_commands(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++) {
		int flags = fcntl(fd, F_GETFD);

		n += flags >= 0 && !(flags & FD_CLOEXEC);
	}
	return n;
}

static void test_descriptors(void)
{
	int before = for_commands(), fd;
	struct recording_writer *w = NULL;

	recording_create("descriptors", &w, &e);
	ok(for_commands() == before, "no descriptor of a new file goes to commands");
	recording_close(w, &e);
	recording_create("descriptors", &w, &e);
	ok(for_commands() == before, "nor one of a file that was there");
	recording_close(w, &e);
	ok(recording_create_at(-1, "x", "folder/x", &w, &e) == -EBADF &&
		   !strcmp(e.text, "cannot write folder/x: Bad file descriptor"),
	   "a folder that isn't open");
	block_devices = true;
	fd = dup(STDIN_FILENO);
	ok(recording_create_fd(fd, "it", &w, &e) == -EINVAL &&
		   !strcmp(e.text, "will not write to it: it is a block device") && fcntl(fd, F_GETFD) < 0,
	   "a disk is not overwritten");
	fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	ok(recording_create_at(fd, "rec", "the disk", &w, &e) == -EINVAL &&
		   !strcmp(e.text, "will not write a recording to the disk: it is no regular file"),
	   "by whatever name");
	close(fd);
	block_devices = false;
}

/* ---- blocks ---- */

static bool same_bytes(const char *a, const char *b)
{
	char one[512], other[512];
	int fd = open(a, O_RDONLY | O_CLOEXEC), fd2 = open(b, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, one, sizeof(one)), n2 = read(fd2, other, sizeof(other));

	close(fd);
	close(fd2);
	return n > 0 && n == n2 && !memcmp(one, other, (size_t)n);
}

static void test_interrupted(void)
{
	struct recording_writer *w;

	write_one("at-once");
	write_error = EINTR;
	write_most = 7;
	write_one("bit-by-bit");
	write_most = 0;
	ok(!write_error && same_bytes("at-once", "bit-by-bit"), "a write may be interrupted, or take a part only");
	recording_create("closed", &w, &e);
	recording_add_long(w, WIRE_END, "{}", 2, &e);
	close_error = EIO;
	ok(recording_close(w, &e) == -EIO && e.status == EXIT_FAILED &&
		   !strcmp(e.text, "cannot write closed: Input/output error"),
	   "what closing a file says is said: %s", e.text);
}

/* 400 bytes, some of them zero, the others noise. */
static void make_noise(uint8_t bytes[400], size_t zeroes)
{
	uint64_t x = zeroes + 1;

	memset(bytes, 0, zeroes);
	for (size_t i = zeroes; i < 400; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		bytes[i] = (uint8_t)(x >> 56);
	}
}

/* Blocks that compression makes longer, by nothing, and shorter; in the place of another recording. */
static void test_hardly_compresses(void)
{
	struct recording_writer *w;
	struct recording_record rec;
	struct recording *r;
	uint8_t noise[400];
	bool same = true;

	write_one("noise");
	recording_create("noise", &w, &e);
	for (size_t zeroes = 0; zeroes < 100; zeroes++) {
		make_noise(noise, zeroes);
		recording_add_long(w, WIRE_HEADER, noise, sizeof(noise), &e);
		recording_flush(w, &e);
	}
	recording_close(w, &e);
	if (recording_open("noise", &r, &e))
		abort();
	for (size_t zeroes = 0; zeroes < 100; zeroes++) {
		make_noise(noise, zeroes);
		same = same && recording_next(r, &rec) && rec.size == sizeof(noise) &&
		       !memcmp(rec.data, noise, sizeof(noise));
	}
	ok(same && !recording_next(r, &rec), "a block comes back, whether compression saves anything or not");
	recording_free(r);
}

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

/* How long a file may get; gives back what it was. */
static struct rlimit limit_size(rlim_t bytes)
{
	struct rlimit was, tiny;

	getrlimit(RLIMIT_FSIZE, &was);
	tiny = (struct rlimit){ .rlim_cur = bytes, .rlim_max = was.rlim_max };
	setrlimit(RLIMIT_FSIZE, &tiny);
	return was;
}

static void stops(struct recording_writer *w, const char *words)
{
	struct rlimit was;
	char noise[4000];
	uint64_t x = 1;
	int err;

	for (size_t i = 0; i < sizeof(noise); i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		noise[i] = (char)(x >> 56);
	}
	recording_add_long(w, WIRE_HEADER, noise, 20, &e);
	recording_flush(w, &e);
	was = limit_size(1000);
	recording_add_long(w, WIRE_HEADER, noise, sizeof(noise), &e);
	err = recording_flush(w, &e);
	setrlimit(RLIMIT_FSIZE, &was);
	if (!ok(err == -EFBIG && e.status == EXIT_FAILED && !strcmp(e.text, words), "it says so: %s", words))
		diag("got %d: %s", err, e.text);
	ok(recording_written(w)->not_kept == 1 && recording_written(w)->stopped && !recording_close(w, &e), "  once");
}

/* In a file of so many bytes, from `at` on. */
static void stops_in(const char *name, off_t bytes, off_t at, off_t want)
{
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct recording_writer *w;

	if (fd < 0 || ftruncate(fd, bytes) || lseek(fd, at, SEEK_SET) != at || recording_create_fd(fd, "it", &w, &e))
		abort();
	stops(w, "cannot write it: File too large; the recording stops here, it has 1 record and perhaps half a block (96 B)");
	ok(size_of(name) == want, "but not where other things are, too");
}

static void test_no_room(void)
{
	struct recording_writer *w;

	recording_create("room", &w, &e);
	stops(w, "cannot write room: File too large; the recording stops here, it has 1 record (96 B)");
	ok(size_of("room") == 96, "half a block is cut off");
	write_one("room");
	recording_create("room", &w, &e);
	stops(w, "cannot write room: File too large; the recording stops here, it has 1 record (96 B)");
	ok(size_of("room") == 96, "also in the place of another recording");
	stops_in("room2", 2, 2, 1000);
	stops_in("room3", 2000, 0, 2000);
	stops_in("room4", 0, 10, 1000);
}

/* Not even for the head of the file. */
static void test_no_room_at_all(void)
{
	struct rlimit was;
	struct recording_writer *w;
	int err;

	was = limit_size(10);
	cannot("full", -EFBIG, "cannot write full: File too large");
	ok(size_of("full") < 0, "of a new file nothing stays");
	setrlimit(RLIMIT_FSIZE, &was);
	write_one("full");
	recording_create("full", &w, &e);
	limit_size(10);
	err = recording_close(w, &e);
	setrlimit(RLIMIT_FSIZE, &was);
	ok(err == -EFBIG && !size_of("full") &&
		   !strcmp(e.text, "cannot write full: File too large; the recording stops here, it has 0 records (0 B)"),
	   "in the place of another one: %s", e.text);
	write_one("full");
	recording_create("full", &w, &e);
	recording_add_long(w, WIRE_END, "{}", 2, &e);
	limit_size(10);
	err = recording_flush(w, &e);
	setrlimit(RLIMIT_FSIZE, &was);
	ok(err == -EFBIG && !size_of("full") && recording_written(w)->not_kept == 1, "also with something to write");
	recording_close(w, &e);
}

/* ---- with somebody's rights ---- */

#define SOMEBODY 65533

int main(void)
{
	char dir[] = "/tmp/test_writer.XXXXXX", *command;
	int before;

	if (!mkdtemp(dir) || chdir(dir))
		abort();
	before = open_files();
	signal(SIGXFSZ, SIG_IGN);
	test_killed(); /* before this process has files of its own to remove */
	test_places();
	test_raced();
	test_meanwhile();
	test_locked();
	test_dropped();
	test_streams();
	test_terminal();
	test_descriptors();
	test_interrupted();
	test_hardly_compresses();
	test_blocks();
	test_pieces();
	test_no_room();
	test_no_room_at_all();
	ok(open_files() == before, "no descriptor is left open");
	command = xasprintf("rm -rf %s", dir);
	if (chdir("/") || system(command))
		abort();
	free(command);
	return tap_done();
}
