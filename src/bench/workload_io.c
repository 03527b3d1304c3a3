// SPDX-License-Identifier: GPL-2.0-only
#include "bench/workload_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <linux/fs.h>
#include <signal.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/mem.h"

#define MOST_OUTPUT (4u << 20)

int work_fail(struct work *w, int code, const char *fmt, ...)
{
	struct scores *t = w->t;
	va_list ap;
	size_t n;

	if (*t->error)
		return -1;
	va_start(ap, fmt);
	vsnprintf(t->error, sizeof(t->error), fmt, ap);
	va_end(ap);
	n = strlen(t->error);
	if (code)
		snprintf(t->error + n, sizeof(t->error) - n, ": %s", strerror(code));
	t->status = EXIT_FAILED;
	return -1;
}

void work_phase(struct work *w, const char *phase)
{
	snprintf(w->t->phase, sizeof(w->t->phase), "%s", phase);
}

struct scores_row *work_row(struct work *w, const char *name, const char *file)
{
	struct scores *t = w->t;
	struct scores_row *row = &t->row[t->n_rows < SCORES_ROWS ? t->n_rows++ : SCORES_ROWS - 1];

	memset(row, 0, sizeof(*row));
	snprintf(row->name, sizeof(row->name), "%s", name);
	snprintf(row->file, sizeof(row->file), "%s", file);
	return row;
}

void work_row_times(struct scores_row *row, const struct hist *h)
{
	row->each = (struct scores_times){
		.count = h->count,
		.sum = h->sum,
		.min = h->min,
		.max = h->max,
		.p50 = hist_quantile(h, 0.50),
		.p90 = hist_quantile(h, 0.90),
		.p99 = hist_quantile(h, 0.99),
	};
}

/* btrfs would write elsewhere each time, and log that: not what is to be measured. Others refuse, and that is fine. */
static void no_copy_on_write(int fd)
{
	int flags;

	if (!ioctl(fd, FS_IOC_GETFLAGS, &flags) && !(flags & FS_NOCOW_FL)) {
		flags |= FS_NOCOW_FL;
		ioctl(fd, FS_IOC_SETFLAGS, &flags);
	}
}

int work_open(struct work *w, const char *name, int flags)
{
	int fd = openat(w->dir, name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		work_fail(w, errno, "%s/%s", w->path, name);
	return fd;
}

void *work_buffer(size_t bytes)
{
	uint64_t x = 0x9e3779b97f4a7c15, *p;
	void *buffer = NULL;

	if (posix_memalign(&buffer, 4096, bytes))
		buffer = NULL;
	p = xmust(buffer);
	for (size_t i = 0; i < bytes / sizeof(*p); i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		p[i] = x;
	}
	return buffer;
}

int write_all(int fd, const void *data, size_t n, off_t at)
{
	while (n) {
		ssize_t done = pwrite(fd, data, n, at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EIO;
		data = (const char *)data + done;
		n -= (size_t)done;
		at += done;
	}
	return 0;
}

int work_sync(struct work *w, int fd, bool data_only, const char *name)
{
	__atomic_add_fetch(&w->t->syncs, 1, __ATOMIC_RELAXED);
	if (data_only ? fdatasync(fd) : fsync(fd))
		return work_fail(w, errno, "%s %s/%s", data_only ? "fdatasync" : "fsync", w->path, name);
	return 0;
}

static int lay_out(struct work *w, int fd, const char *name, uint64_t *size, uint64_t limit_ns)
{
	const size_t step = *size < MIB ? (size_t)*size : MIB;
	uint64_t at = 0, end = clock_ns() + limit_ns;
	void *data = work_buffer(step);
	int err = 0;

	while (!err && at < *size && (!at || clock_ns() < end)) {
		err = write_all(fd, data, step, (off_t)at);
		at += step;
		/* what is still in the page cache is not laid out, and would be written while we measure */
		if (!err && at % (32 * MIB) == 0)
			err = sync_file_range(fd, (off_t)(at - 32 * MIB), 32 * MIB, SYNC_FILE_RANGE_WRITE) ? -errno : 0;
	}
	free(data);
	*size = at;
	return err ? work_fail(w, -err, "write %s/%s", w->path, name) : work_sync(w, fd, false, name);
}

int work_prepare(struct work *w, const char *name, uint64_t *size, uint64_t limit_ns)
{
	int fd = work_open(w, name, O_RDWR | O_CREAT | O_EXCL);

	if (fd < 0)
		return -1;
	no_copy_on_write(fd);
	if (!lay_out(w, fd, name, size, limit_ns))
		return fd;
	close(fd);
	return -1;
}

static _Noreturn void program(struct work *w, char *const argv[], int out, int err)
{
	int in = open("/dev/null", O_RDONLY);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fchdir(w->dir) || in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(126);
	execvp(argv[0], argv);
	_exit(errno == ENOENT ? 127 : 126);
}

static int run_program(struct work *w, char *const argv[], int out, int err)
{
	pid_t pid = out < 0 || err < 0 ? -1 : fork();
	int status;

	if (pid < 0)
		return work_fail(w, errno, "cannot start %s", argv[0]);
	if (!pid)
		program(w, argv, out, err);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return work_fail(w, errno, "cannot wait for %s", argv[0]);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static char *text_of(int fd)
{
	char *text = xcalloc(1, MOST_OUTPUT + 1);
	size_t n = 0;
	ssize_t got = 1;

	while (fd >= 0 && n < MOST_OUTPUT && (got = pread(fd, text + n, MOST_OUTPUT - n, (off_t)n)) > 0)
		n += (size_t)got;
	if (fd >= 0)
		close(fd);
	return text;
}

int work_program(struct work *w, char *const argv[], char **out, char **err)
{
	int o = memfd_create("output", MFD_CLOEXEC), e = memfd_create("errors", MFD_CLOEXEC);
	int status = run_program(w, argv, o, e);

	*out = text_of(o);
	*err = text_of(e);
	return status;
}
