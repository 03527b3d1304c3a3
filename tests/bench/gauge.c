// SPDX-License-Identifier: GPL-2.0-only
/*
 * gauge.c - what scripts/bench needs beside fio: loads of a known size, and a clock for other programs.
 *
 * usage: gauge attach OBJECT PROGRAM          load and attach one program of a BPF object, until killed
 *        gauge switches N                     N times there and back between two tasks on one CPU
 *        gauge syncs FILE TASKS RATE SECONDS  each task has a FILE.n of its own: 4096 bytes in place, fdatasync(); RATE calls a
 *                                             second in all (0: as many as there can be). Prints calls and seconds; how many
 *                                             there were so far is in FILE.calls, 8 bytes for each task
 *        gauge turns DISK|FILE.calls FILE     amid turns that FILE describes (turns.h): "BLOCK TOOL SLOT NS WORK" each, requests of
 *                                             the disk or sync calls that were made in those ns
 *        gauge programs PID...                "ID NAME NS RUNS" of each BPF program that these processes hold, as the kernel counted
 *                                             while kernel.bpf_stats_enabled was 1
 *        gauge started COMMAND...             ms from its start to its last BPF link (or perf event); then it gets SIGINT
 *        gauge cost COMMAND...                seconds by the clock, seconds of CPU, KiB resident at most
 */
#include "turns.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S       1000000000ull
#define LOOK_AT_ALL    16
#define POLL_NS	       1000000u	  /* between two looks at a program that starts */
#define SETTLED_NS     400000000u /* no new link for so long: it has started */
#define START_LIMIT_NS (20 * NS_PER_S)
#define TASKS_MAX      64	  /* of syncs, where turns reads */
#define TURN_READ      1000000ull /* before its end, a turn's work is read */
#define PROGRAMS_MAX   256	  /* of one process */
#define BLOCK	       4096
#define BLOCKS	       256 /* of each file */

static void die(const char *what)
{
	fprintf(stderr, "gauge: %s: %s\n", what, strerror(errno));
	exit(1);
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

/* ---- turns ---- */

/* Requests that the disk has completed, by its /sys/block/DISK/stat: reads, writes, flushes. */
static uint64_t requests_of(int fd)
{
	unsigned long long reads, writes, flushes = 0;
	char text[512] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) <= 0 ||
	    sscanf(text, "%llu %*u %*u %*u %llu %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %llu", &reads, &writes, &flushes) < 2)
		die("stat");
	return reads + writes + flushes;
}

static uint64_t calls_of(int fd)
{
	uint64_t made[TASKS_MAX], sum = 0;
	ssize_t n = pread(fd, made, sizeof(made), 0);

	if (n <= 0)
		die("calls");
	for (size_t i = 0; i < (size_t)n / sizeof(made[0]); i++)
		sum += made[i];
	return sum;
}

static void work_of(struct turn t, int fd, uint64_t (*work)(int fd))
{
	uint64_t from, ns, n;

	sleep_until(t.begin + TURN_SETTLE);
	from = now_ns();
	n = work(fd);
	sleep_until(t.end - TURN_READ);
	ns = now_ns() - from;
	n = work(fd) - n;
	/* one that was read too late has some of the next */
	if (now_ns() < t.end)
		printf("%u %u %u %llu %llu\n", t.block, t.tool, t.slot, (unsigned long long)ns, (unsigned long long)n);
}

static int turns(char **arg)
{
	bool is_file = strchr(arg[0], '/');
	struct sched_param param = { .sched_priority = 1 };
	struct turns plan;
	struct turn t;
	char path[300];
	FILE *f;
	int fd;

	snprintf(path, sizeof(path), is_file ? "%s" : "/sys/block/%s/stat", arg[0]);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	f = fopen(arg[1], "re");
	if (fd < 0 || !f || !turns_read(&plan, f))
		die(arg[fd < 0 ? 0 : 1]);
	fclose(f);
	/* where that is refused more turns are read too late */
	sched_setscheduler(0, SCHED_FIFO, &param);
	while (turns_next(&plan, &t))
		work_of(t, fd, is_file ? calls_of : requests_of);
	return 0;
}

/* ---- BPF programs ---- */

/* Of the function: the kernel keeps 15 characters of a program's own name. NULL: it has no types. */
static const char *function_name(struct btf *btf, int fd)
{
	struct bpf_func_info func = { 0 };
	struct bpf_prog_info info = {
		.nr_func_info = 1,
		.func_info_rec_size = sizeof(func),
		.func_info = (uintptr_t)&func,
	};
	__u32 size = sizeof(info);
	const struct btf_type *t;

	if (!btf || bpf_obj_get_info_by_fd(fd, &info, &size) || !info.nr_func_info)
		return NULL;
	t = btf__type_by_id(btf, func.type_id);
	return t ? btf__name_by_offset(btf, t->name_off) : NULL;
}

/* One that is unloaded meanwhile is none. */
static void print_program(__u32 id)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);
	struct btf *btf = NULL;
	const char *name;

	if (fd < 0)
		return;
	if (!bpf_obj_get_info_by_fd(fd, &info, &size)) {
		btf = info.btf_id ? btf__load_from_kernel_by_id(info.btf_id) : NULL;
		name = function_name(btf, fd);
		if (!name)
			name = info.name[0] ? info.name : "-";
		printf("%u %s %llu %llu\n", id, name, info.run_time_ns, info.run_cnt);
	}
	btf__free(btf);
	close(fd);
}

/* The program that a descriptor is of, or of a link that it is of; 0: none */
static __u32 program_of(const char *dir, const char *fd)
{
	char path[400], line[256];
	__u32 id = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, fd);
	f = fopen(path, "re");
	while (f && !id && fgets(line, sizeof(line), f))
		if (sscanf(line, "prog_id: %u", &id) != 1)
			id = 0;
	if (f)
		fclose(f);
	return id;
}

static void programs_of(const char *pid)
{
	__u32 ids[PROGRAMS_MAX], id;
	struct dirent *e;
	char dir[64];
	size_t n = 0;
	DIR *d;

	snprintf(dir, sizeof(dir), "/proc/%s/fdinfo", pid);
	d = opendir(dir);
	while (d && n < PROGRAMS_MAX && (e = readdir(d))) {
		id = program_of(dir, e->d_name);
		for (size_t i = 0; i < n && id; i++)
			if (ids[i] == id)
				id = 0;
		if (id)
			ids[n++] = id;
	}
	if (d)
		closedir(d);
	for (size_t i = 0; i < n; i++)
		print_program(ids[i]);
}

static int programs(char **arg)
{
	while (*arg)
		programs_of(*arg++);
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

/*
 * Of those that the process holds. To look at all files takes a CPU that the process could use, the more, the more files it has: they are
 * looked at when their number is another than before (st_size says so from 6.2 on), and now and then.
 */
static int events_of(pid_t pid, int had, unsigned int look, off_t *files)
{
	char dir[64];
	struct dirent *e;
	struct stat st;
	int n = 0;
	DIR *d;

	snprintf(dir, sizeof(dir), "/proc/%d/fd", pid);
	if (!stat(dir, &st) && st.st_size && st.st_size == *files && look % LOOK_AT_ALL)
		return had;
	*files = st.st_size;
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
	unsigned int look = 0;
	off_t files = 0;

	while ((!last || t - last < SETTLED_NS) && t - begin < START_LIMIT_NS && !waitpid(pid, &status, WNOHANG)) {
		int n = events_of(pid, had, look++, &files);

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
	{ "attach", 2, attach }, { "switches", 1, switches }, { "syncs", 4, syncs }, { "turns", 2, turns },
	{ "programs", 1, programs }, { "started", 1, started }, { "cost", 1, cost },
};
/* clang-format on */

int main(int argc, char **argv)
{
	/* a shell starts what it puts into the background with SIGINT ignored */
	signal(SIGINT, SIG_DFL);
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name) && argc - 2 >= ways[i].least)
			return ways[i].run(argv + 2);
	fprintf(stderr, "usage: gauge attach|switches|syncs|turns|programs|started|cost ARGUMENT...\n");
	return 2;
}
