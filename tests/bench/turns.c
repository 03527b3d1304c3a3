// SPDX-License-Identifier: GPL-2.0-only
/*
 * turns.c - attaches and detaches a tool's BPF links in turns, so that scripts/bench can compare times that lie 100 ms apart.
 *
 * A library for LD_PRELOAD: any tool that links the C library dynamically is measured as it is installed, ours included. It keeps
 * what the tool gives to bpf() for a link. Out of turn, the link's descriptor is one of /dev/null: with its last descriptor the
 * kernel drops a link. In turn, the same call makes the link again. The tool notices nothing but that nothing happens.
 *
 *   TURNS_FILE   its appearance begins the turns (turns.h)
 *   TURNS_TOOL   this tool's turn, 1 and up
 *   TURNS_LOG    "links N": the tool takes turns with so many, from now on, and once more after the last turn. "SLOT NS CHANGES" for
 *                each slot that began or ended a turn of this tool, or found the library late: how long after its begin that was done,
 *                and links that the tool made or closed in the slot before. "cannot: WHY": it takes no turns, or none any more, and may be attached
 *
 * Only raw tracepoints (tp_btf among them) take turns. A perf event waits for an RCU grace period when it is closed, which may be
 * longer than a turn; a fentry or kprobe_multi program waits as well. A child of the tool that is no other program keeps its links
 * attached: no tool that is measured has one.
 */
#include "turns.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINKS_MAX 128
#define WAIT_NS	  20000000ull /* between two looks for TURNS_FILE */

struct link {
	int fd;
	const char *why; /* it takes no turns */
	int cmd;
	unsigned size; /* of attr, as the tool gave it */
	union bpf_attr attr;
	char name[128]; /* what attr.raw_tracepoint.name points to */
};

static struct link links[LINKS_MAX]; /* in the order in which the tool attached them */
static unsigned count, changes;
static const char *failed; /* why no turns can be taken, whatever the links are */
static bool out_of_turn;
static int null_fd = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for all of the above */
static pthread_cond_t in_turn = PTHREAD_COND_INITIALIZER;

static void *real(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (!f)
		abort();
	return f;
}

/* The C library's own; asked for when it is called, as that may be before our constructor */
#define REAL(name) \
	({ \
		static __typeof__(&name) f; \
		if (!f) \
			f = (__typeof__(&name))real(#name); \
		f; \
	})

/* ---- what the tool calls ---- */

/* The function tracer and its like make links of other kinds. */
static bool is_raw_tracepoint(int fd)
{
	char path[64], line[128];
	bool is = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		is |= !strcmp(line, "link_type:\traw_tracepoint\n");
	if (f)
		fclose(f);
	return is;
}

/* Called with the lock held. NULL: there is no room. */
static struct link *new_link(int fd, const char *why)
{
	struct link *l = &links[count];

	changes++;
	if (count == LINKS_MAX) {
		failed = "too many links";
		return NULL;
	}
	count++;
	memset(l, 0, sizeof(*l));
	l->fd = fd;
	l->why = why;
	return l;
}

static void keep(int cmd, const union bpf_attr *attr, unsigned size, int fd)
{
	struct link *l;

	pthread_mutex_lock(&lock);
	l = new_link(fd, is_raw_tracepoint(fd) ? NULL : "not all its links are of raw tracepoints");
	if (l && size > sizeof(l->attr)) {
		l->why = "it knows more of links than this library";
	} else if (l) {
		l->cmd = cmd;
		l->size = size;
		memcpy(&l->attr, attr, size);
		if (cmd == BPF_RAW_TRACEPOINT_OPEN && attr->raw_tracepoint.name) {
			const char *name = (const char *)(uintptr_t)attr->raw_tracepoint.name;

			snprintf(l->name, sizeof(l->name), "%s", name);
		}
	}
	pthread_mutex_unlock(&lock);
}

/* Called with the lock held. */
static void forget(int fd)
{
	for (unsigned i = 0; i < count; i++)
		if (links[i].fd == fd) {
			memmove(&links[i], &links[i + 1], (count - i - 1) * sizeof(links[0]));
			count--;
			changes++;
			return;
		}
}

long syscall(long nr, ...)
{
	long a[6], ret;
	va_list ap;

	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	ret = REAL(syscall)(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (nr == __NR_bpf && ret >= 0 && (a[0] == BPF_LINK_CREATE || a[0] == BPF_RAW_TRACEPOINT_OPEN))
		keep((int)a[0], (const union bpf_attr *)a[1], (unsigned)a[2], (int)ret);
	return ret;
}

int close(int fd)
{
	int ret;

	pthread_mutex_lock(&lock);
	forget(fd);
	ret = REAL(close)(fd);
	pthread_mutex_unlock(&lock);
	return ret;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;
	int ret;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	ret = REAL(ioctl)(fd, request, arg);
	if (request == PERF_EVENT_IOC_SET_BPF && !ret) {
		pthread_mutex_lock(&lock);
		new_link(fd, "its programs hang on perf events");
		pthread_mutex_unlock(&lock);
	}
	return ret;
}

/* What a tool reads in its turn is work of that turn: it goes on with it in the next one, not in somebody else's. */
static void wait_for_turn(void)
{
	int kept = errno;

	pthread_mutex_lock(&lock);
	while (out_of_turn)
		pthread_cond_wait(&in_turn, &lock);
	pthread_mutex_unlock(&lock);
	errno = kept;
}

int poll(struct pollfd *fds, nfds_t n, int ms)
{
	int ret = REAL(poll)(fds, n, ms);

	wait_for_turn();
	return ret;
}

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *ts, const sigset_t *mask)
{
	int ret = REAL(ppoll)(fds, n, ts, mask);

	wait_for_turn();
	return ret;
}

int epoll_wait(int fd, struct epoll_event *events, int n, int ms)
{
	int ret = REAL(epoll_wait)(fd, events, n, ms);

	wait_for_turn();
	return ret;
}

/* ---- the thread that switches ---- */

static void detach_all(void)
{
	for (unsigned i = count; i-- > 0;)
		dup3(null_fd, links[i].fd, O_CLOEXEC);
}

static void attach_all(void)
{
	for (unsigned i = 0; i < count; i++) {
		struct link *l = &links[i];
		int fd;

		if (l->name[0])
			l->attr.raw_tracepoint.name = (uintptr_t)l->name;
		fd = (int)REAL(syscall)(__NR_bpf, l->cmd, &l->attr, l->size);
		if (fd < 0) {
			failed = "a link could not be made again";
			continue;
		}
		dup3(fd, l->fd, O_CLOEXEC);
		REAL(close)(fd);
	}
}

/* The links change at once, the tool goes on with its own work when the turn is measured: what became due meanwhile is in it. */
static void switch_to(bool in)
{
	pthread_mutex_lock(&lock);
	if (in)
		attach_all();
	else
		detach_all();
	out_of_turn = true;
	pthread_mutex_unlock(&lock);
}

static void open_gate(void)
{
	pthread_mutex_lock(&lock);
	out_of_turn = false;
	pthread_cond_broadcast(&in_turn);
	pthread_mutex_unlock(&lock);
}

/* False, and says why, if the tool can't take turns (any more). */
static bool can_go_on(FILE *log)
{
	const char *why;

	pthread_mutex_lock(&lock);
	why = failed;
	for (unsigned i = 0; i < count && !why; i++)
		why = links[i].why;
	pthread_mutex_unlock(&lock);
	if (why)
		fprintf(log, "cannot: %s\n", why);
	return !why;
}

static void say_links(FILE *log)
{
	pthread_mutex_lock(&lock);
	fprintf(log, "links %u\n", count);
	pthread_mutex_unlock(&lock);
}

static unsigned take_changes(void)
{
	unsigned n;

	pthread_mutex_lock(&lock);
	n = changes;
	changes = 0;
	pthread_mutex_unlock(&lock);
	return n;
}

static void take_turns(FILE *log, unsigned tool, struct turns *turns)
{
	bool in = true;
	struct turn t;

	say_links(log);
	while (can_go_on(log) && turns_next(turns, &t)) {
		bool switches = in != (t.tool == tool);
		unsigned before;
		uint64_t late;

		sleep_until(t.begin + (switches && !in ? TURN_ATTACH : 0));
		before = take_changes();
		if (switches)
			switch_to(in = !in);
		late = now_ns() - t.begin;
		if (switches || before || late > TURN_SETTLE)
			fprintf(log, "%u %llu %u\n", t.slot, (unsigned long long)late, before);
		if (switches && in) {
			sleep_until(t.begin + TURN_SETTLE);
			open_gate();
		}
	}
	if (!in)
		switch_to(true);
	open_gate();
	say_links(log);
}

static void *run(void *arg)
{
	struct sched_param param = { .sched_priority = 1 };
	const char *file = getenv("TURNS_FILE");
	struct turns turns;
	FILE *log = arg, *f;

	while (!(f = fopen(file, "re")))
		sleep_until(now_ns() + WAIT_NS);
	pthread_mutex_lock(&lock);
	if (!turns_read(&turns, f))
		failed = "bad TURNS_FILE";
	else if (!count && !failed)
		failed = "no link was seen";
	changes = 0;
	pthread_mutex_unlock(&lock);
	fclose(f);
	/* a load that keeps the CPUs busy must not delay a switch; where that is refused it may */
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
	if (can_go_on(log))
		take_turns(log, (unsigned)atoi(getenv("TURNS_TOOL")), &turns);
	fclose(log);
	return NULL;
}

/* Blocks all signals for the thread: the tool's own wait for them. */
static void start_thread(FILE *log)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, run, log))
		abort();
	pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("TURNS_LOG");
	FILE *log;

	/* a tool's children have no turn */
	unsetenv("LD_PRELOAD");
	if (!path || !getenv("TURNS_FILE") || !getenv("TURNS_TOOL"))
		return;
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	log = fopen(path, "we");
	if (null_fd < 0 || !log)
		abort();
	setvbuf(log, NULL, _IOLBF, 0);
	start_thread(log);
}
