// SPDX-License-Identifier: GPL-2.0-only
#include "util/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/mem.h"

#define MOST_BYTES (1 << 20)
#define REAP_MS	   500 /* one that hangs in the kernel dies when the kernel lets it */

static const char *const system_folders[] = { "/usr/sbin",	 "/usr/bin",	   "/sbin", "/bin",
					      "/usr/local/sbin", "/usr/local/bin", NULL };

char *tool_find(const char *name, const char *const *folders)
{
	for (folders = folders ? folders : system_folders; *folders; folders++) {
		char *path = xasprintf("%s/%s", *folders, name);
		struct stat st;

		if (!stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK))
			return path;
		free(path);
	}
	return NULL;
}

static uint64_t now_ms(void)
{
	return clock_ns() / 1000000;
}

/* Standard error is a pipe, too: a program without one could take the disk's descriptor for it. */
static int spawn(char *const argv[], int out, int err, pid_t *pid)
{
	static char *const environment[] = { "LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, usual;
	int ret;

	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGXFSZ);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &usual);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
	ret = posix_spawn(pid, argv[0], &files, &attr, argv, environment);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return -ret;
}

/* Reads what there is; closes what has ended. */
static void take(struct pollfd *p, struct buf *out)
{
	char part[4096];
	ssize_t n;

	if (!p->revents)
		return;
	n = read(p->fd, part, sizeof(part));
	if (n > 0 && out)
		buf_add(out, part, (size_t)n);
	if (n > 0 || (n < 0 && errno == EINTR))
		return;
	close(p->fd);
	p->fd = -1;
}

static int read_all(int out_fd, int err_fd, uint64_t until, struct buf *out)
{
	struct pollfd p[] = { { .fd = out_fd, .events = POLLIN }, { .fd = err_fd, .events = POLLIN } };
	size_t start = out->len;
	int ret = 0;

	while (!ret && (p[0].fd >= 0 || p[1].fd >= 0)) {
		uint64_t now = now_ms();

		if (now >= until)
			ret = -ETIMEDOUT;
		else if (poll(p, 2, (int)(until - now)) > 0) {
			take(&p[0], out);
			take(&p[1], NULL);
		}
		if (out->len - start > MOST_BYTES)
			ret = -E2BIG;
	}
	for (int i = 0; i < 2; i++)
		if (p[i].fd >= 0)
			close(p[i].fd);
	return ret;
}

static int reap(pid_t pid, uint64_t until)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	int status;
	pid_t got;

	while ((got = waitpid(pid, &status, WNOHANG)) == 0 && now_ms() < until)
		nanosleep(&pause, NULL);
	if (got != pid)
		return -ETIMEDOUT;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int tool_run(char *const argv[], unsigned int limit_ms, struct buf *out)
{
	uint64_t until = now_ms() + limit_ms;
	int o[2], e[2], ret, status;
	pid_t pid;

	if (pipe2(o, O_CLOEXEC))
		return -errno;
	if (pipe2(e, O_CLOEXEC)) {
		ret = -errno;
		close(o[0]);
		close(o[1]);
		return ret;
	}
	ret = spawn(argv, o[1], e[1], &pid);
	close(o[1]);
	close(e[1]);
	if (ret) {
		close(o[0]);
		close(e[0]);
		return ret;
	}
	ret = read_all(o[0], e[0], until, out);
	status = ret ? -ETIMEDOUT : reap(pid, until);
	if (status == -ETIMEDOUT) {
		kill(pid, SIGKILL);
		reap(pid, now_ms() + REAP_MS);
	}
	return ret ? ret : status;
}
