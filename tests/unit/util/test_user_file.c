// SPDX-License-Identifier: GPL-2.0-only
/* Files that the user names: with whose rights, and through which links. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults.h"
#include "killed.h"
#include "open_files.h"
#include "tap.h"
#include "util/buf.h"
#include "util/mem.h"
#include "util/outfile.h"
#include "util/user_file.h"

#define SOMEBODY 65533
#define GROUP	 65532

static struct err e;
static char dir[] = "/tmp/barriertrace-user.XXXXXX";

/* In the place of libc's. */
int open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	if (no_proc && !strncmp(path, "/proc/", 6)) {
		errno = ENOENT;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* ---- system calls of rights that fail, in the place of libc's ---- */

static long refused = -1;	  /* this one, when its turn comes; -1: none */
static int before_refused;	  /* so many succeed */
static bool stuck_uid, stuck_gid; /* these stay as they are */

long syscall(long number, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall"), a[4];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number != refused || before_refused--)
		return real(number, a[0], a[1], a[2], a[3]);
	refused = -1;
	errno = EPERM;
	return -1;
}

int setfsuid(uid_t uid)
{
	return (int)syscall(SYS_setfsuid, stuck_uid ? (uid_t)-1 : uid);
}

int setfsgid(gid_t gid)
{
	return (int)syscall(SYS_setfsgid, stuck_gid ? (gid_t)-1 : gid);
}

static int somebody(struct file_identity *id, struct err *err)
{
	static gid_t groups[] = { SOMEBODY, GROUP };

	(void)err;
	*id = (struct file_identity){ true, SOMEBODY, SOMEBODY, groups, 2 };
	return 0;
}

static void make(const char *name, mode_t mode, uid_t uid, gid_t gid)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || fchmod(fd, mode) || fchown(fd, uid, gid) || write(fd, "x", 1) != 1)
		abort();
	close(fd);
}

static void make_link(const char *to, const char *name, uid_t uid)
{
	if (symlink(to, name) || lchown(name, uid, uid))
		abort();
}

static void make_dir(const char *name, mode_t mode, uid_t uid)
{
	if (mkdir(name, mode) || chmod(name, mode) || chown(name, uid, uid))
		abort();
}

static bool can_open_dir(const char *path)
{
	struct user_dir d;

	if (user_dir_open(path, &d, &e))
		return false;
	user_dir_close(&d);
	return true;
}

/* ---- as anybody ---- */

static bool reads(const char *path, char want)
{
	int fd = user_file_read(path, &e);
	char c = 0;
	bool good = fd > 2 && (fcntl(fd, F_GETFD) & FD_CLOEXEC) && read(fd, &c, 1) == 1 && c == want;

	if (fd >= 0)
		close(fd);
	return good;
}

static void cannot_read(const char *path, int err, const char *words)
{
	e = (struct err){ 0 };
	ok(user_file_read(path, &e) == err && e.status == EXIT_FAILED && !strcmp(e.text, words), "%s", words);
}

static void test_read(void)
{
	int in = dup(STDIN_FILENO), fd;
	char path[32];

	make("plain", 0600, getuid(), getgid());
	ok(reads("plain", 'x') && reads("./plain", 'x'), "a file is read");
	if (symlink("plain", "to-plain") || mkfifo("fifo", 0600) || mkdir("folder", 0700))
		abort();
	ok(reads("to-plain", 'x'), "by way of a link, too");
	cannot_read("folder", -EISDIR, "cannot read folder: Is a directory");
	cannot_read("fifo", -EINVAL, "cannot read fifo: it is no regular file; '-' reads standard input");
	cannot_read("/dev/null", -EINVAL, "cannot read /dev/null: it is no regular file; '-' reads standard input");
	cannot_read("absent", -ENOENT, "cannot read absent: No such file or directory");
	fd = open("plain", O_RDONLY);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ok(reads(path, 'x') && lseek(fd, 0, SEEK_SET) == 0, "a descriptor of our caller's is read");
	dup2(fd, STDIN_FILENO);
	ok(reads("-", 'x') && lseek(fd, 0, SEEK_SET) == 0 && reads("/dev/stdin", 'x'), "and standard input");
	close(STDIN_FILENO);
	cannot_read("-", -EBADF, "cannot read standard input: Bad file descriptor");
	restore_input(in);
	close(fd);
}

static void test_reopen(void)
{
	int found = open("plain", O_PATH | O_CLOEXEC), before = open_files(), fd;
	char c = 0;

	errno = ENOENT; /* from before */
	fd = user_file_reopen(found, AT_FDCWD, "plain", O_RDWR | O_NOFOLLOW);
	ok(fd >= 0 && read(fd, &c, 1) == 1 && c == 'x' && (fcntl(fd, F_GETFD) & FD_CLOEXEC) && open_files() == before + 1,
	   "what was found is opened, once");
	close(fd);
	fd = user_file_reopen(found, AT_FDCWD, "absent", O_RDONLY);
	ok(fd >= 0 && !close(fd), "whatever its name is now");
	close(found);
	ok(user_file_reopen(found, AT_FDCWD, "absent", O_RDONLY) < 0, "or isn't");
}

/* Nothing can be read by it, and no program that is run has it. */
static bool is_place(int fd)
{
	return (fcntl(fd, F_GETFL) & O_PATH) && (fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

static void test_dirs(void)
{
	struct user_dir d = USER_DIR_NONE;
	struct stat a, b;

	user_dir_close(&d);
	ok(!user_dir_open("folder/name", &d, &e) && !strcmp(d.name, "name") && !fstat(d.fd, &a) &&
		   !stat("folder", &b) && a.st_ino == b.st_ino,
	   "a name in a directory");
	user_dir_close(&d);
	ok(d.fd < 0 && !user_dir_open("name", &d, &e) && !strcmp(d.name, "name") && !fstat(d.fd, &a) &&
		   !stat(".", &b) && a.st_ino == b.st_ino,
	   "and in this one");
	user_dir_close(&d);
	ok(!user_dir_open("/name", &d, &e) && is_place(d.fd) && !fstat(d.fd, &a) && !stat("/", &b) && a.st_ino == b.st_ino,
	   "and in the first");
	user_dir_close(&d);
	ok(!user_dir_open_itself("folder/.", &d, &e) && !strcmp(d.name, ".") && is_place(d.fd), "itself");
	user_dir_close(&d);
	ok(user_dir_open("", &d, &e) == -EISDIR && user_dir_open("folder/", &d, &e) == -EISDIR &&
		   user_dir_open(".", &d, &e) == -EISDIR && user_dir_open("folder/..", &d, &e) == -EISDIR &&
		   !strcmp(e.text, "cannot write folder/..: Is a directory"),
	   "a directory is no file");
	ok(!user_dir_open("folder/.a", &d, &e) && !strcmp(d.name, ".a"), "but a name may begin with a dot");
	user_dir_close(&d);
}

/* ---- as root ---- */

/* link1 leads to link2, and so on, to a directory. */
static void test_many_links(void)
{
	char from[32], to[32];

	for (int i = 1; i <= 41; i++) {
		snprintf(from, sizeof(from), "link%d", i);
		snprintf(to, sizeof(to), i < 41 ? "link%d" : "folder", i + 1);
		make_link(to, from, 0);
	}
	ok(can_open_dir("link2/f"), "forty links are followed");
	ok(!can_open_dir("link1/f") && strstr(e.text, "Too many levels"), "forty-one are not");
}

static void test_absolute_links(void)
{
	char *to = xasprintf("%s/folder", dir);
	struct user_dir d = USER_DIR_NONE;

	make_link(to, "absolute", 0);
	make_link("/", "first", 0);
	ok(can_open_dir("absolute/f"), "a link may begin with the first directory");
	ok(!user_dir_open("first/f", &d, &e) && is_place(d.fd), "a link may lead to /");
	user_dir_close(&d);
	free(to);
}

static void test_links_of_others(void)
{
	make_dir("theirs", 0755, SOMEBODY);
	make_dir("everybodys", 01777, 0);
	make_dir("loose", 0777, 0);
	make_dir("shared", 0775, 0);
	make_dir("to", 0755, 0);
	make_link("../to", "theirs/link", 0);
	make_link("../to", "everybodys/roots", 0);
	make_link("../to", "everybodys/theirs", SOMEBODY);
	make_link("../to", "loose/link", 0);
	make_link("../to", "shared/link", 0);
	make_link("to", "link", 0);
	make_link("round", "round", 0);
	make_link("theirs/link", "through", 0);
	ok(can_open_dir("link/f") && can_open_dir("./link/../to/f") && can_open_dir("to//f"),
	   "root follows links of root's");
	ok(can_open_dir("theirs/f") && can_open_dir("everybodys/f"), "and goes where others write");
	ok(can_open_dir("everybodys/roots/f"), "root's own link in /tmp is nobody else's");
	ok(!can_open_dir("theirs/link/f") && strstr(e.text, "somebody else could have put"),
	   "a link in somebody's directory");
	ok(!can_open_dir("everybodys/theirs/f") && !can_open_dir("loose/link/f") && !can_open_dir("shared/link/f"),
	   "or that others could have put there, is not followed");
	ok(!can_open_dir("through/f") && !can_open_dir("to/../through/f"), "nor is one that a link of root's leads to");
	ok(!can_open_dir("round/f") && strstr(e.text, "Too many levels"), "a link to itself");
	ok(!can_open_dir("absent/f") && strstr(e.text, "No such file"), "a directory that isn't there");
	make("file", 0644, 0, 0);
	ok(!can_open_dir("file/f") && strstr(e.text, "Not a directory"), "a file on the way");
	ok(!can_open_dir("to/") && !can_open_dir("..") && !can_open_dir("to/."), "a directory is no file");
}

/* Without /proc by its name, if that is still the same file. */
static void test_reopen_by_name(void)
{
	int found = open("plain", O_PATH | O_CLOEXEC), next = dup(found), fd;

	close(next);
	no_proc = true;
	ok(reads("plain", 'x'), "without /proc a file is read, too");
	fd = user_file_reopen(found, AT_FDCWD, "plain", O_RDWR);
	ok(fd == next && (fcntl(fd, F_GETFD) & FD_CLOEXEC) && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR,
	   "with the same flags");
	close(fd);
	make("another", 0600, getuid(), getgid());
	ok(user_file_reopen(found, AT_FDCWD, "another", O_RDONLY) == -1 && errno == ENOENT,
	   "but not another one that has got its name");
	ok(user_file_reopen(found, AT_FDCWD, "folder", O_RDONLY) == -1 && errno == ENOENT, "nor a folder");
	ok(user_file_reopen(found, AT_FDCWD, "absent", O_RDONLY) == -1 && errno == ENOENT, "nor one that has gone");
	no_proc = false;
	fd = dup(found);
	ok(fd == next, "and nothing stays open");
	close(fd);
	close(found);
}

static bool replaces(const char *path)
{
	struct outfile o;
	bool good = !outfile_open(&o, path, false, &e) && !outfile_commit(&o, &e);

	outfile_close(&o);
	return good;
}

/* ---- as somebody ---- */

/* In /tmp and its like the rename would fail: so it is told at once. */
static void test_sticky(void)
{
	struct outfile o;

	make_dir("sticky", 01777, 0);
	make_dir("own-sticky", 01777, SOMEBODY);
	make_dir("not-sticky", 0777, 0);
	make("sticky/roots", 0666, 0, 0);
	make("sticky/theirs", 0600, SOMEBODY, SOMEBODY);
	make("own-sticky/roots", 0600, 0, 0);
	make("not-sticky/roots", 0600, 0, 0);
	ok(outfile_open(&o, "sticky/roots", false, &e) == -EPERM &&
		   strstr(e.text, "cannot write sticky/roots: Operation not permitted for uid 65533"),
	   "another's file where each keeps his own");
	outfile_close(&o);
	ok(replaces("sticky/theirs") && replaces("own-sticky/roots") && replaces("not-sticky/roots") &&
		   replaces("sticky/new"),
	   "any other can be replaced");
}

static int times_asked;

static int nobody_knows(struct file_identity *id, struct err *err)
{
	(void)id;
	times_asked++;
	return err_set(err, ESRCH, EXIT_FAILED, "nobody knows");
}

static int this_process(struct file_identity *id, struct err *err)
{
	(void)err;
	times_asked++;
	*id = (struct file_identity){ .uid = 5 };
	return 0;
}

static void test_who(void)
{
	ok(user_files_uid() == geteuid() && user_files_new_mode() == 0600 && !user_files_mode_given(),
	   "at first files are this process's");
	user_files_by(nobody_knows);
	ok(user_files_begin(&e) == -ESRCH && !strcmp(e.text, "nobody knows") && user_file_read("plain", &e) == -ESRCH &&
		   times_asked == 2,
	   "who isn't known is asked for again");
	user_files_by(this_process);
	ok(!user_files_begin(&e) && times_asked == 3, "who is known");
	user_files_end();
	ok(!user_files_begin(&e) && times_asked == 3 && user_files_uid() == geteuid() && !*user_files_hint(EACCES),
	   "is asked for once");
	user_files_end();
}

/* Between an output file's opening and its end. */
static void test_who_no_longer(void)
{
	struct outfile o;

	ok(!outfile_open(&o, "lost", false, &e), "a file of somebody's");
	user_files_by(nobody_knows);
	ok(!outfile_scratch(&o), "no scratch file once the caller is unknown");
	ok(outfile_commit(&o, &e) == -ESRCH && !strcmp(e.text, "nobody knows") && access("lost", F_OK), "the commit fails");
	outfile_close(&o);
	user_files_by(this_process);
}

/* Of this thread: the lower 32 capabilities, and its groups. */
static uint32_t capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	return syscall(SYS_capget, &head, data) ? 0 : data[0].effective;
}

/* The capabilities that are of files. */
static uint32_t of_files(void)
{
	return 1u << CAP_CHOWN | 1u << CAP_MKNOD | 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH |
	       1u << CAP_FOWNER | 1u << CAP_FSETID | 1u << CAP_LINUX_IMMUTABLE;
}

static void test_taken(void)
{
	uint32_t before = capabilities(), now;
	static gid_t was[NGROUPS_MAX], groups[NGROUPS_MAX];
	int n_was = getgroups(NGROUPS_MAX, was), n;

	user_files_begin(&e);
	now = capabilities();
	n = getgroups(NGROUPS_MAX, groups);
	ok(now == (before & ~of_files()), "capabilities that are of files are taken, no others");
	ok(n == 2 && ((groups[0] == GROUP && groups[1] == SOMEBODY) || (groups[1] == GROUP && groups[0] == SOMEBODY)),
	   "the groups are somebody's");
	ok(setfsuid((uid_t)-1) == SOMEBODY && setfsgid((gid_t)-1) == SOMEBODY && user_files_uid() == SOMEBODY,
	   "so are user and group");
	errno = ENOTTY;
	user_files_end();
	ok(errno == ENOTTY && capabilities() == before && getgroups(NGROUPS_MAX, groups) == n_was &&
		   !memcmp(was, groups, (size_t)n_was * sizeof(*was)),
	   "all is given back, and errno kept");
	ok(!*user_files_hint(ENOENT) && strstr(user_files_hint(EPERM), "--as-root") &&
		   strstr(user_files_hint(EACCES), "uid 65533"),
	   "where rights are missing, a way out is named");
}

static bool has_groups(int n, const gid_t *want)
{
	gid_t now[8];

	return getgroups(8, now) == n && !memcmp(now, want, (size_t)n * sizeof(*want));
}

/* Whatever groups this process is in. */
static void test_groups(void)
{
	static const gid_t theirs[] = { GROUP, SOMEBODY }, others[] = { 7, 8 };

	for (int n = 0; n <= 2; n++) {
		bool taken;

		if (setgroups((size_t)n, others))
			abort();
		taken = !user_files_begin(&e) && has_groups(2, theirs);
		user_files_end();
		ok(taken && has_groups(n, others), "groups in the place of %d others", n);
	}
	setgroups(1, others);
}

static bool cannot_take(long call, int after)
{
	static const gid_t own[] = { 7 };
	uint32_t before = capabilities();

	e = (struct err){ 0 };
	refused = call;
	before_refused = after;
	if (user_files_begin(&e) != -EPERM)
		return false;
	refused = -1;
	return e.status == EXIT_FAILED &&
	       !strcmp(e.text, "cannot take the rights of uid 65533, who called: Operation not permitted") &&
	       setfsuid((uid_t)-1) == 0 && setfsgid((gid_t)-1) == 0 && has_groups(1, own) && capabilities() == before;
}

static void test_not_taken(void)
{
	ok(cannot_take(SYS_capget, 0), "capget fails at first"); /* and the sanitizers see its groups freed */
	ok(cannot_take(SYS_setgroups, 0), "setgroups fails");
	ok(cannot_take(SYS_capget, 1), "capget fails later");
	ok(cannot_take(SYS_capset, 0), "capset fails");
	stuck_uid = true;
	ok(cannot_take(-1, 0), "setfsuid has no effect");
	stuck_uid = false;
	stuck_gid = true;
	ok(cannot_take(-1, 0), "setfsgid has no effect");
	stuck_gid = false;
}

static const struct {
	const char *what;
	long call;
	int after;
	bool uid, gid;
} kept[] = {
	{ "capset fails at first", SYS_capset, 0, false, false },
	{ "capset fails at the end", SYS_capset, 1, false, false },
	{ "setgroups fails", SYS_setgroups, 0, false, false },
	{ "setfsuid has no effect", -1, 0, true, false },
	{ "setfsgid has no effect", -1, 0, false, true },
};

/* Take somebody's rights, and fail to give them back. */
static void keep_rights(int row)
{
	if (user_files_begin(&e))
		return;
	refused = kept[row].call;
	before_refused = kept[row].after;
	stuck_uid = kept[row].uid;
	stuck_gid = kept[row].gid;
	user_files_end();
}

static void test_not_restored(void)
{
	for (int i = 0; i < (int)(sizeof(kept) / sizeof(kept[0])); i++)
		ok(killed_with(0, keep_rights, i) == SIGABRT, "rights are not given back, the program ends: %s",
		   kept[i].what);
}

struct beside {
	pthread_mutex_t lock;
	pthread_cond_t turn;
	int step;
	bool root;
};

static void *beside(void *arg)
{
	struct beside *b = arg;

	pthread_mutex_lock(&b->lock);
	while (b->step < 1)
		pthread_cond_wait(&b->turn, &b->lock);
	b->root = setfsuid((uid_t)-1) == 0 && !close(open("roots", O_RDONLY | O_CLOEXEC));
	b->step = 2;
	pthread_cond_broadcast(&b->turn);
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

static void test_other_threads(void)
{
	struct beside b = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false };
	pthread_t thread;

	pthread_create(&thread, NULL, beside, &b);
	make("roots", 0600, 0, 0);
	ok(!user_files_begin(&e), "while this thread has somebody's rights");
	pthread_mutex_lock(&b.lock);
	b.step = 1;
	pthread_cond_broadcast(&b.turn);
	while (b.step < 2)
		pthread_cond_wait(&b.turn, &b.lock);
	pthread_mutex_unlock(&b.lock);
	user_files_end();
	pthread_join(thread, NULL);
	ok(b.root, "the others have their own");
}

static void test_dirs_of_others(void)
{
	struct user_dir d = USER_DIR_NONE;

	make_dir("dark", 0711, 0);
	ok(can_open_dir("f") && !user_dir_open("dark/f", &d, &e) && is_place(d.fd),
	   "a directory with only search permission can be opened");
	user_dir_close(&d);
}

static void test_scratch(void)
{
	struct outfile o;
	struct stat st;
	int fd;

	outfile_open(&o, "mine/noted", false, &e);
	fd = outfile_scratch(&o);
	ok(fd > 0 && !fstat(fd, &st) && st.st_uid == SOMEBODY && setfsuid((uid_t)-1) == 0,
	   "rights are given back once there is a file to note things in");
	close(fd);
	outfile_close(&o);
	ok(setfsuid((uid_t)-1) == 0 && access("mine/noted", F_OK), "and once it is given up");
}

static void test_outfile(void)
{
	struct outfile o = OUTFILE_NONE;
	struct buf text = { 0 };
	struct stat st;

	buf_str(&text, "hello");
	make_dir("mine", 0700, SOMEBODY);
	ok(!outfile_open(&o, "mine/out", false, &e) && !outfile_write(&o, &text, &e) && !outfile_commit(&o, &e), "a file");
	ok(!stat("mine/out", &st) && st.st_uid == SOMEBODY && st.st_gid == SOMEBODY && (st.st_mode & 07777) == 0600 &&
		   st.st_size == 5,
	   "is somebody's own, and nobody else's to read");
	test_scratch();
	ok(outfile_open(&o, "to/out", false, &e) == -EACCES && access("to/out", F_OK), "not where only root may write");
	outfile_close(&o);
	ok(outfile_open(&o, "theirs/link/out", false, &e) == -EACCES, "nor through a link");
	outfile_close(&o);
	ok(!user_files_by_root(&e) && !outfile_open(&o, "to/out", false, &e) && !outfile_commit(&o, &e) &&
		   !stat("to/out", &st) && !st.st_uid,
	   "but as root after all");
	outfile_close(&o);
	buf_free(&text);
}

static void remove_dir(void)
{
	char *command = xasprintf("rm -rf %s", dir);

	if (chdir("/") || system(command))
		abort();
	free(command);
}

int main(void)
{
	int open_before = open_files();

	if (!mkdtemp(dir) || chmod(dir, 0755) || chdir(dir))
		abort();
	test_read();
	test_reopen();
	test_reopen_by_name();
	test_dirs();
	test_who();
	test_who_no_longer();
	if (getuid()) {
		ok(user_files_by_root(&e) == -EPERM && e.status == EXIT_NOT_PERMITTED, "only root is root");
		ok(true, "whose rights files are opened with # SKIP missing: root");
		ok(open_files() == open_before, "nothing stays open");
		remove_dir();
		return tap_done();
	}
	test_links_of_others();
	test_many_links();
	test_absolute_links();
	user_files_by(somebody);
	test_sticky();
	test_taken();
	test_groups();
	test_not_taken();
	test_not_restored();
	test_dirs_of_others();
	test_other_threads();
	test_outfile();
	ok(open_files() == open_before, "nothing stays open");
	remove_dir();
	return tap_done();
}
