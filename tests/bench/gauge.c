// SPDX-License-Identifier: GPL-2.0-only
/*
 * gauge.c - what scripts/bench needs beside fio: loads of a known size, and a clock for other programs.
 *
 * usage: gauge attach OBJECT PROGRAM          load and attach one program of a BPF object, until killed
 *        gauge switches N                     N times there and back between two tasks on one CPU
 *        gauge syncs FILE TASKS RATE SECONDS  each task has a FILE.n of its own: 4096 bytes in place, fdatasync(); RATE calls a
 *                                             second in all (0: as many as there can be). Prints calls and seconds; how many
 *                                             there were so far is in FILE.calls, 8 bytes for each task
 *        gauge started COMMAND...             ms from its start to its last BPF link (or perf event); then it gets SIGINT
 *        gauge cost COMMAND...                seconds by the clock, seconds of CPU, KiB resident at most
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S       1000000000ull
#define POLL_NS	       1000000u	  /* between two looks at a program that starts */
#define SETTLED_NS     400000000u /* no new link for so long: it has started */
#define START_LIMIT_NS (20 * NS_PER_S)
#define BLOCK	       4096
#define BLOCKS	       256 /* of each file */

static void die(const char *what)
{
	fprintf(stderr, "gauge: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static void sleep_until(uint64_t t)
{
	struct timespec ts = { .tv_sec = (time_t)(t / NS_PER_S), .tv_nsec = (long)(t % NS_PER_S) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static int attach(char **arg)
{
	struct bpf_object *o = bpf_object__open_file(arg[0], NULL);
	struct bpf_program *p = o ? bpf_object__find_program_by_name(o, arg[1]) : NULL;

	if (!p || bpf_program__set_autoload(p, true) || bpf_object__load(o) || !bpf_program__attach(p))
		die(arg[1]);
	pause();
	return 0;
}

/* ---- context switches ---- */

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static void pass(int from, int to, long n, bool first)
{
	char c = 0;

	for (long i = 0; i < n; i++) {
		if (first && write(to, &c, 1) != 1)
			die("write");
		if (read(from, &c, 1) != 1)
			die("read");
		if (!first && write(to, &c, 1) != 1)
			die("write");
	}
}

static int switches(char **arg)
{
	long n = atol(arg[0]);
	int there[2], back[2];
	uint64_t begin;
	pid_t child;

	if (pipe(there) || pipe(back))
		die("pipe");
	stay_on(0);
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		pass(there[0], back[1], n, false);
		_exit(0);
	}
	begin = now_ns();
	pass(back[0], there[1], n, true);
	begin = now_ns() - begin;
	waitpid(child, NULL, 0);
	printf("%.1f\n", (double)begin / 2 / (double)n);
	return 0;
}

/* ---- sync calls ---- */

static int open_file(const char *path, int task)
{
	static const char zero[BLOCK];
	char name[4096];
	int fd;

	snprintf(name, sizeof(name), "%s.%d", path, task);
	fd = open(name, O_RDWR | O_CREAT, 0600);
	for (int i = 0; fd >= 0 && i < BLOCKS; i++)
		if (pwrite(fd, zero, BLOCK, (off_t)i * BLOCK) != BLOCK)
			die(name);
	if (fd < 0 || fsync(fd))
		die(name);
	return fd;
}

/* Late ones are made up for at once. */
static void sync_calls(int fd, uint64_t begin, uint64_t end, uint64_t every, volatile uint64_t *made)
{
	static const char data[BLOCK] = "x";
	uint64_t next = begin;

	sleep_until(begin);
	while (now_ns() < end) {
		if (every && next > now_ns())
			sleep_until(next);
		next += every;
		if (pwrite(fd, data, BLOCK, (off_t)(*made % BLOCKS) * BLOCK) != BLOCK || fdatasync(fd))
			die("fdatasync");
		++*made;
	}
}

static uint64_t *count_in(const char *path, int tasks)
{
	size_t size = (size_t)tasks * sizeof(uint64_t);
	uint64_t *made = MAP_FAILED;
	char name[4096];
	int fd;

	snprintf(name, sizeof(name), "%s.calls", path);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd >= 0 && !ftruncate(fd, (off_t)size))
		made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (made == MAP_FAILED)
		die(name);
	return made;
}

static int syncs(char **arg)
{
	int tasks = atoi(arg[1]);
	double rate = atof(arg[2]), seconds = atof(arg[3]);
	uint64_t every = rate > 0 ? (uint64_t)(tasks / rate * NS_PER_S) : 0, begin, sum = 0;
	uint64_t *made = count_in(arg[0], tasks);

	begin = now_ns() + (uint64_t)tasks * 20000000; /* for the files to be there */
	for (int i = 0; i < tasks; i++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sync_calls(open_file(arg[0], i), begin, begin + (uint64_t)(seconds * NS_PER_S), every, &made[i]);
		_exit(0);
	}
	for (int i = 0, status; i < tasks; i++)
		if (wait(&status) < 0 || status)
			return 1;
	for (int i = 0; i < tasks; i++)
		sum += made[i];
	printf("%llu %.3f\n", (unsigned long long)sum, (double)(now_ns() - begin) / NS_PER_S);
	return 0;
}

/* ---- other programs ---- */

static pid_t run(char **arg)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execvp(arg[0], arg);
		_exit(127);
	}
	return pid;
}

static bool holds_event(const char *dir, const char *fd)
{
	char path[400], to[64] = "";

	snprintf(path, sizeof(path), "%s/%s", dir, fd);
	if (readlink(path, to, sizeof(to) - 1) < 0)
		return false;
	return strstr(to, "bpf_link") || strstr(to, "bpf-link") || strstr(to, "perf_event") ||
	       strstr(to, "raw-tracepoint");
}

static int events_of(pid_t pid)
{
	char dir[64];
	struct dirent *e;
	int n = 0;
	DIR *d;

	snprintf(dir, sizeof(dir), "/proc/%d/fd", pid);
	d = opendir(dir);
	while (d && (e = readdir(d)))
		n += holds_event(dir, e->d_name);
	if (d)
		closedir(d);
	return n;
}

static int started(char **arg)
{
	uint64_t begin = now_ns(), last = 0, t = begin;
	pid_t pid = run(arg);
	int had = 0, status;

	while ((!last || t - last < SETTLED_NS) && t - begin < START_LIMIT_NS && !waitpid(pid, &status, WNOHANG)) {
		int n = events_of(pid);

		t = now_ns();
		if (n != had)
			last = n ? t : 0;
		had = n;
		usleep(POLL_NS / 1000);
	}
	if (!last || t - last < SETTLED_NS) {
		kill(pid, SIGKILL);
		fprintf(stderr, "gauge: %s did not start\n", arg[0]);
		return 1;
	}
	kill(pid, SIGINT);
	waitpid(pid, &status, 0);
	printf("%.1f\n", (double)(last - begin) / 1e6);
	return 0;
}

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static int cost(char **arg)
{
	uint64_t begin = now_ns();
	struct rusage u;
	int status;

	if (wait4(run(arg), &status, 0, &u) < 0 || status)
		return 1;
	printf("%.3f %.3f %ld\n", (double)(now_ns() - begin) / 1e9, seconds_of(u.ru_utime) + seconds_of(u.ru_stime),
	       u.ru_maxrss);
	return 0;
}

/* clang-format off */
static const struct {
	const char *name;
	int least;	/* arguments */
	int (*run)(char **arg);
} ways[] = {
	{ "attach", 2, attach }, { "switches", 1, switches }, { "syncs", 4, syncs }, { "started", 1, started }, { "cost", 1, cost },
};
/* clang-format on */

int main(int argc, char **argv)
{
	/* a shell starts what it puts into the background with SIGINT ignored */
	signal(SIGINT, SIG_DFL);
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name) && argc - 2 >= ways[i].least)
			return ways[i].run(argv + 2);
	fprintf(stderr, "usage: gauge attach|switches|syncs|started|cost ARGUMENT...\n");
	return 2;
}
