// SPDX-License-Identifier: GPL-2.0-only
/* Locks: a file has one writer, and who that is is found in /proc, which is made up here. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "open_files.h"
#include "tap.h"
#include "util/file_lock.h"
#include "util/mem.h"

#define NOBODY 0x7fffffff /* no process has this number */

static const char *locks;			  /* in the place of /proc/locks; NULL: the kernel's */
static bool has_init;				  /* process 1 is "init" */
static int fstat_error;				  /* 0: none */
static bool fstat_other_device, fstat_other_file; /* what is open is not what it is */

static FILE *text_file(const char *text)
{
	int fd = memfd_create("text", MFD_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || lseek(fd, 0, SEEK_SET))
		abort();
	return fdopen(fd, "r");
}

/* In the place of libc's, as is the next one. */
FILE *fopen(const char *path, const char *mode)
{
	int fd;

	if (locks && !strcmp(path, "/proc/locks"))
		return text_file(locks);
	if (has_init && !strcmp(path, "/proc/1/comm"))
		return text_file("init\n");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? NULL : fdopen(fd, mode);
}

int fstat(int fd, struct stat *to)
{
	int ret = fstatat(fd, "", to, AT_EMPTY_PATH);

	errno = fstat_error;
	if (fstat_error)
		return -1;
	to->st_dev += fstat_other_device;
	to->st_ino += fstat_other_file;
	return ret;
}

static char file[] = "/tmp/test_file_lock.XXXXXX";
static struct stat st; /* of that file */

/* A line of /proc/locks. A file system may be of another device there than stat(2) says. */
static char *line(const char *kind, int pid, bool other_device, unsigned long ino)
{
	return xasprintf("1: %s %d %02x:%02x:%lu 0 EOF\n", kind, pid, major(st.st_dev) + other_device, minor(st.st_dev),
			 ino);
}

static char *flock_line(int pid, bool other_device, unsigned long ino)
{
	return line("FLOCK  ADVISORY  WRITE", pid, other_device, ino);
}

/* Who has it, after these lines, which are freed; -1: nobody. */
static pid_t holder_after(char *first, char *second)
{
	int a = open(file, O_RDWR | O_CLOEXEC), b = open(file, O_RDWR | O_CLOEXEC), err;
	char *text = xasprintf("%s%s", first, second ? second : "");
	pid_t holder = -1;

	err = file_lock(a, &holder);
	if (err || holder != -1)
		abort();
	locks = text;
	err = file_lock(b, &holder);
	locks = NULL;
	close(a);
	close(b);
	free(text);
	free(first);
	free(second);
	return err == -EWOULDBLOCK ? holder : -1;
}

static void test_lock(void)
{
	int a = open(file, O_RDWR | O_CLOEXEC), b = open(file, O_RDWR | O_CLOEXEC);
	pid_t holder = -1;
	char *name;

	ok(!file_lock(a, &holder) && holder == -1 && !file_lock(-1, &holder),
	   "a file can be locked; what has no locks is no error");
	ok(file_lock(b, &holder) == -EWOULDBLOCK && holder == getpid(), "once, and who has it is known");
	fstat_error = EIO;
	ok(file_lock(b, &holder) == -EWOULDBLOCK && !holder, "or isn't, if the file cannot be told from others");
	fstat_error = 0;
	name = file_lock_holder_name(getpid());
	ok(strstr(name, "test_file_lock") == name && strstr(name, "(pid "), "by name: %s", name);
	free(name);
	close(a);
	ok(!file_lock(b, &holder), "and again when it is closed");
	close(b);
}

static void test_by_device(void)
{
	ok(holder_after(flock_line(NOBODY, false, st.st_ino), NULL) == NOBODY,
	   "a lock of this device and file is this file's");
	ok(holder_after(flock_line(1, false, st.st_ino), flock_line(NOBODY, false, st.st_ino)) == 1,
	   "of any process, and the first one counts");
	ok(holder_after(flock_line(NOBODY, false, st.st_ino + 1), flock_line(1, false, st.st_ino)) == 1,
	   "that of another file is another's");
	ok(holder_after(flock_line(-1, false, st.st_ino), NULL) == 0 &&
		   holder_after(flock_line(0, false, st.st_ino), flock_line(1, false, st.st_ino)) == 1,
	   "a process that cannot be seen from here has no number");
}

static void test_by_descriptor(void)
{
	int before;

	ok(holder_after(flock_line(getpid(), true, st.st_ino), NULL) == getpid(),
	   "of another device, it is this file's if that process has it open");
	ok(holder_after(flock_line(NOBODY, true, st.st_ino), NULL) == 0, "but not of a process that isn't there");
	ok(holder_after(flock_line(getppid(), true, st.st_ino), NULL) == 0, "nor of one that has not");
	ok(holder_after(flock_line(getppid(), true, st.st_ino), flock_line(getpid(), true, st.st_ino)) == getpid(),
	   "then the next is looked at");
	fstat_other_file = true;
	ok(holder_after(flock_line(getpid(), true, st.st_ino + 1), NULL) == 0, "another file of the device is another");
	fstat_other_file = false;
	fstat_other_device = true;
	ok(holder_after(flock_line(getpid(), false, st.st_ino), NULL) == 0, "as is one of that number on another device");
	fstat_other_device = false;
	before = open_files();
	holder_after(flock_line(getppid(), true, st.st_ino), flock_line(getpid(), true, st.st_ino));
	ok(open_files() == before, "nothing stays open");
}

static void test_name(void)
{
	int before = open_files();
	char *name = file_lock_holder_name(0);

	ok(!strcmp(name, "another process"), "pid 0 has no name");
	free(name);
	name = file_lock_holder_name(-1);
	ok(!strcmp(name, "another process"), "nor has a negative pid");
	free(name);
	name = file_lock_holder_name(NOBODY);
	ok(!strcmp(name, "process 2147483647"), "a process that does not exist is named by its pid");
	free(name);
	has_init = true;
	name = file_lock_holder_name(1);
	ok(!strcmp(name, "init (pid 1)"), "process 1 is named");
	has_init = false;
	free(name);
	name = file_lock_holder_name(getpid());
	free(name);
	ok(open_files() == before, "nothing stays open");
}

int main(void)
{
	int fd = mkstemp(file);

	if (fd < 0 || fstat(fd, &st))
		abort();
	close(fd);
	test_lock();
	test_by_device();
	test_by_descriptor();
	test_name();
	unlink(file);
	return tap_done();
}
