// SPDX-License-Identifier: GPL-2.0-only
/*
 * rigd - a disk whose latencies are known, for tests.
 *
 * A FUSE file system with three files: `disk`, kept in anonymous memory, whose
 * reads, writes and fsyncs take the time the test sets; `ctl`, which sets it;
 * `stats`, which says how long every operation really took. A loop device on
 * `disk` is then a block device with a known truth: a FLUSH becomes an fsync,
 * a discard becomes a hole punched.
 *
 *   rigd serve SIZE DIRECTORY [SETTING=VALUE...]   mount and serve
 *   rigd guard PID COMMAND [ARG...]                exec COMMAND when PID ends
 *
 * Both stay in the foreground, and close every inherited descriptor but
 * 0, 1 and 2.
 */
#define _GNU_SOURCE
#define FUSE_USE_VERSION 35
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <linux/falloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif
#ifndef PR_SET_IO_FLUSHER
#define PR_SET_IO_FLUSHER 57
#endif

#define NSEC	     1000000000LL
#define BLOCK	     4096ULL
#define MAX_US	     1000000000LL /* 1000 s: longer can only be a mistake */
#define MAX_CHANNELS 4096
/* The loop driver has 128 tags; the rest keeps ctl and stats answering. */
#define WORKERS	     144
#define WORKER_STACK (256 * 1024)
#define MAX_IO	     (1024 * 1024)
/* Below this a sleep costs more than it lasts. */
#define SPIN_NS 8000LL
/* A sleep is cut into such pieces, so that a lowered setting frees sleepers. */
#define NAP_NS	     (50 * 1000000LL)
#define ATTR_TIMEOUT 3600.0

enum { INO_ROOT = FUSE_ROOT_ID, INO_DISK, INO_CTL, INO_STATS, INO_END };
enum { OP_READ, OP_WRITE, OP_FLUSH, OP_DISCARD, OP_COUNT };

/* clang-format off */
static const char *const file_name[INO_END] = {
	[INO_DISK] = "disk", [INO_CTL] = "ctl", [INO_STATS] = "stats",
};
/* clang-format on */
static const char *const op_name[OP_COUNT] = { "read", "write", "flush", "discard" };

struct settings {
	int64_t delay_ns[OP_COUNT];
	int64_t channels;
};

struct op_stats {
	uint64_t count, bytes, sum_ns, min_ns, max_ns, wait_ns;
};

struct waiter {
	pthread_cond_t granted;
	int64_t granted_at; /* 0 while waiting */
	struct waiter *next;
};

/* One operation, from its arrival to its reply. */
struct service {
	int op;
	bool channel; /* counts against the channels setting */
	int64_t arrived, start;
};

static char *disk;
static uint64_t disk_size;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct settings now_set;		/* under lock; delays also read bare */
static struct op_stats stats[OP_COUNT]; /* all below: under lock */
static struct waiter *queue_head, **queue_tail = &queue_head;
static int64_t busy_channels;
static uint64_t in_service, in_service_max;

static int64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NSEC + t.tv_nsec;
}

/* ---- time ------------------------------------------------------------- */

static void sleep_until(int64_t deadline)
{
	struct timespec t = { deadline / NSEC, deadline % NSEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

/* Stay here until `start` plus the delay set for `op`, as it is set *now*. */
static void serve_time(int op, int64_t start)
{
	for (;;) {
		int64_t delay = __atomic_load_n(&now_set.delay_ns[op], __ATOMIC_RELAXED);
		int64_t deadline = start + delay;
		int64_t now = delay ? clock_ns() : 0;

		if (!delay || now >= deadline)
			return;
		if (deadline - now <= SPIN_NS) {
			while (clock_ns() < deadline)
				;
			return;
		}
		sleep_until(deadline - now > NAP_NS ? now + NAP_NS : deadline);
	}
}

/* ---- channels: first come, first served -------------------------------- */

static bool channel_free(void)
{
	return !now_set.channels || busy_channels < now_set.channels;
}

/* The time of the grant is the waiter's start: its wake-up isn't added. */
static void grant_channels(void)
{
	while (queue_head && channel_free()) {
		struct waiter *w = queue_head;

		queue_head = w->next;
		if (!queue_head)
			queue_tail = &queue_head;
		busy_channels++;
		w->granted_at = clock_ns();
		pthread_cond_signal(&w->granted);
	}
}

/* Called with the lock held; returns the time at which service starts. */
static int64_t take_channel(int64_t arrived)
{
	struct waiter w = { .granted = PTHREAD_COND_INITIALIZER };

	if (!queue_head && channel_free()) {
		busy_channels++;
		return arrived;
	}
	*queue_tail = &w;
	queue_tail = &w.next;
	while (!w.granted_at)
		pthread_cond_wait(&w.granted, &lock);
	pthread_cond_destroy(&w.granted);
	return w.granted_at;
}

/* ---- an operation and its account -------------------------------------- */

static struct service op_begin(int op)
{
	struct service s = { .op = op, .channel = op == OP_READ || op == OP_WRITE };

	s.arrived = clock_ns();
	s.start = s.arrived;
	pthread_mutex_lock(&lock);
	if (s.channel)
		s.start = take_channel(s.arrived);
	if (++in_service > in_service_max)
		in_service_max = in_service;
	pthread_mutex_unlock(&lock);
	return s;
}

/* Wait out the set time and book the operation; the reply comes next. */
static void op_end(const struct service *s, uint64_t bytes)
{
	struct op_stats *o = &stats[s->op];
	uint64_t ns;

	serve_time(s->op, s->start);
	pthread_mutex_lock(&lock);
	ns = clock_ns() - s->start;
	if (!o->count || ns < o->min_ns)
		o->min_ns = ns;
	if (ns > o->max_ns)
		o->max_ns = ns;
	o->count++;
	o->bytes += bytes;
	o->sum_ns += ns;
	o->wait_ns += s->start - s->arrived;
	in_service--;
	if (s->channel) {
		busy_channels--;
		grant_channels();
	}
	pthread_mutex_unlock(&lock);
}

/* ---- settings ----------------------------------------------------------- */

/* Digits with at most three decimals, no sign, no exponent: ns, or -1. */
static int64_t parse_us(const char *s)
{
	int64_t ns = 0;
	int digits = 0, decimals = -1;

	for (; *s; s++) {
		if (*s == '.' && digits && decimals < 0) {
			decimals = 0;
			continue;
		}
		if (*s < '0' || *s > '9' || decimals == 3 || ns > MAX_US * 1000)
			return -1;
		ns = ns * 10 + (*s - '0');
		digits++;
		decimals += decimals >= 0;
	}
	if (!digits || !decimals)
		return -1;
	for (decimals = decimals < 0 ? 0 : decimals; decimals < 3; decimals++)
		ns *= 10;
	return ns > MAX_US * 1000 ? -1 : ns;
}

static int64_t parse_count(const char *s, int64_t max)
{
	int64_t n = 0;

	if (!*s)
		return -1;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return -1;
		n = n * 10 + (*s - '0');
		if (n > max)
			return -1;
	}
	return n;
}

/* Apply "key=value" to *set; false if there is no such key or value. */
static bool parse_setting(char *word, struct settings *set)
{
	char *value = strchr(word, '='), key[16];

	if (!value)
		return false;
	*value++ = '\0';
	if (!strcmp(word, "channels"))
		return (set->channels = parse_count(value, MAX_CHANNELS)) >= 0;
	for (int op = 0; op < OP_COUNT; op++) {
		snprintf(key, sizeof(key), "%s_us", op_name[op]);
		if (!strcmp(word, key))
			return (set->delay_ns[op] = parse_us(value)) >= 0;
	}
	return false;
}

static void reset_stats(void)
{
	memset(stats, 0, sizeof(stats));
	in_service_max = in_service;
}

/* All the words of one write take effect, or none. */
static bool apply_settings(char *text)
{
	struct settings set;
	bool reset = false, ok = true, any = false;
	char *save = NULL;

	pthread_mutex_lock(&lock);
	set = now_set;
	for (char *w = strtok_r(text, " \t\n", &save); w && ok; w = strtok_r(NULL, " \t\n", &save)) {
		any = true;
		if (!strcmp(w, "reset"))
			reset = true;
		else
			ok = parse_setting(w, &set);
	}
	ok = ok && any;
	if (ok) {
		for (int op = 0; op < OP_COUNT; op++)
			__atomic_store_n(&now_set.delay_ns[op], set.delay_ns[op], __ATOMIC_RELAXED);
		now_set.channels = set.channels;
		if (reset)
			reset_stats();
		grant_channels();
	}
	pthread_mutex_unlock(&lock);
	return ok;
}

/* ---- what `ctl` and `stats` say ------------------------------------------ */

struct text {
	size_t len;
	char buf[4096];
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->buf + t->len, sizeof(t->buf) - t->len, format, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < sizeof(t->buf) - t->len)
		t->len += n;
}

static void describe_stats(struct text *t)
{
	struct op_stats copy[OP_COUNT];
	uint64_t busy, most;

	pthread_mutex_lock(&lock);
	memcpy(copy, stats, sizeof(copy));
	busy = in_service;
	most = in_service_max;
	pthread_mutex_unlock(&lock);

	for (int op = 0; op < OP_COUNT; op++) {
		const struct op_stats *o = &copy[op];
		const struct {
			const char *key;
			uint64_t value;
		} line[] = {
			{ "count", o->count },	 { "bytes", o->bytes },	  { "sum_ns", o->sum_ns },
			{ "min_ns", o->min_ns }, { "max_ns", o->max_ns }, { "wait_ns", o->wait_ns },
		};

		for (size_t i = 0; i < sizeof(line) / sizeof(line[0]); i++)
			add(t, "%s_%s=%llu\n", op_name[op], line[i].key, (unsigned long long)line[i].value);
	}
	add(t, "in_service=%llu\nin_service_max=%llu\n", (unsigned long long)busy, (unsigned long long)most);
}

static void describe_settings(struct text *t)
{
	struct settings s;

	pthread_mutex_lock(&lock);
	s = now_set;
	pthread_mutex_unlock(&lock);
	for (int op = 0; op < OP_COUNT; op++)
		add(t, "%s_us=%lld.%03lld\n", op_name[op], (long long)(s.delay_ns[op] / 1000),
		    (long long)(s.delay_ns[op] % 1000));
	add(t, "channels=%lld\n", (long long)s.channels);
}

/* ---- FUSE ------------------------------------------------------------------ */

static void fill_attr(fuse_ino_t ino, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	st->st_ino = ino;
	st->st_nlink = ino == INO_ROOT ? 2 : 1;
	st->st_mode = ino == INO_ROOT ? S_IFDIR | 0700 : S_IFREG | 0600;
	st->st_blksize = BLOCK;
	if (ino == INO_DISK) {
		st->st_size = disk_size;
		st->st_blocks = disk_size / 512;
	}
}

static void rig_init(void *data, struct fuse_conn_info *conn)
{
	(void)data;
	/* Async direct I/O is "background" to FUSE, which allows 12 unless told. */
	conn->max_background = 512;
	conn->congestion_threshold = 512;
	conn->max_write = MAX_IO;
	conn->want |= conn->capable & FUSE_CAP_ASYNC_DIO;
	conn->want &= ~FUSE_CAP_WRITEBACK_CACHE;
}

static void rig_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e = { .attr_timeout = ATTR_TIMEOUT, .entry_timeout = ATTR_TIMEOUT };

	for (fuse_ino_t ino = INO_DISK; parent == INO_ROOT && ino < INO_END; ino++) {
		if (strcmp(name, file_name[ino]))
			continue;
		e.ino = ino;
		fill_attr(ino, &e.attr);
		fuse_reply_entry(req, &e);
		return;
	}
	fuse_reply_err(req, ENOENT);
}

static void rig_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st;

	(void)fi;
	fill_attr(ino, &st);
	fuse_reply_attr(req, &st, ATTR_TIMEOUT);
}

/* The shell's `>` truncates ctl; the disk keeps its size. */
static void rig_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set, struct fuse_file_info *fi)
{
	if ((to_set & FUSE_SET_ATTR_SIZE) && ino == INO_DISK && (uint64_t)attr->st_size != disk_size) {
		fuse_reply_err(req, EPERM);
		return;
	}
	rig_getattr(req, ino, fi);
}

static void rig_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	char buf[1024];
	size_t used = 0;

	(void)fi;
	if (ino != INO_ROOT) {
		fuse_reply_err(req, ENOTDIR);
		return;
	}
	for (fuse_ino_t i = INO_DISK + off; i < INO_END; i++) {
		struct stat st = { .st_ino = i, .st_mode = S_IFREG };
		size_t room = (size < sizeof(buf) ? size : sizeof(buf)) - used;
		size_t n = fuse_add_direntry(req, buf + used, room, file_name[i], &st, i - INO_DISK + 1);

		if (n > room)
			break;
		used += n;
	}
	fuse_reply_buf(req, buf, used);
}

/* A text file's contents are fixed at its opening, so that it reads whole. */
static void rig_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct text *t = NULL;

	if (ino != INO_DISK) {
		t = calloc(1, sizeof(*t));
		if (!t) {
			fuse_reply_err(req, ENOMEM);
			return;
		}
		if (ino == INO_CTL)
			describe_settings(t);
		else
			describe_stats(t);
	}
	fi->fh = (uintptr_t)t;
	fi->direct_io = 1;
	if (fuse_reply_open(req, fi))
		free(t);
}

static void rig_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	free((void *)(uintptr_t)fi->fh);
	fuse_reply_err(req, 0);
}

static void rig_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	const struct text *t = (const struct text *)(uintptr_t)fi->fh;
	uint64_t end = t ? t->len : disk_size;
	const char *from = t ? t->buf : disk;
	struct service s;

	if (off < 0 || (uint64_t)off >= end)
		size = 0;
	else if (size > end - off)
		size = end - off;
	if (ino == INO_DISK) {
		s = op_begin(OP_READ);
		op_end(&s, size);
	}
	fuse_reply_buf(req, size ? from + off : NULL, size);
}

static void ctl_write(fuse_req_t req, const char *buf, size_t size)
{
	char text[1024];

	if (size >= sizeof(text) || memchr(buf, '\0', size)) {
		fuse_reply_err(req, EINVAL);
		return;
	}
	memcpy(text, buf, size);
	text[size] = '\0';
	if (apply_settings(text))
		fuse_reply_write(req, size);
	else
		fuse_reply_err(req, EINVAL);
}

static void rig_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct service s;

	(void)fi;
	if (ino == INO_CTL) {
		ctl_write(req, buf, size);
		return;
	}
	if (ino != INO_DISK) {
		fuse_reply_err(req, EPERM);
		return;
	}
	if (off < 0 || (uint64_t)off > disk_size || size > disk_size - off) {
		fuse_reply_err(req, ENOSPC);
		return;
	}
	s = op_begin(OP_WRITE);
	memcpy(disk + off, buf, size);
	op_end(&s, size);
	fuse_reply_write(req, size);
}

static void rig_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	struct service s;

	(void)datasync;
	(void)fi;
	if (ino == INO_DISK) {
		s = op_begin(OP_FLUSH);
		op_end(&s, 0);
	}
	fuse_reply_err(req, 0);
}

/* Give whole pages back, so that a discarded disk takes no memory. */
static void zero_range(uint64_t from, uint64_t len)
{
	uint64_t a = (from + BLOCK - 1) & ~(BLOCK - 1), b = (from + len) & ~(BLOCK - 1);

	if (a >= b || madvise(disk + a, b - a, MADV_DONTNEED_LOCKED)) {
		memset(disk + from, 0, len);
		return;
	}
	memset(disk + from, 0, a - from);
	memset(disk + b, 0, from + len - b);
}

static void rig_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t off, off_t len, struct fuse_file_info *fi)
{
	int what = mode & ~FALLOC_FL_KEEP_SIZE;
	struct service s;

	(void)fi;
	if (ino != INO_DISK || (what != FALLOC_FL_PUNCH_HOLE && what != FALLOC_FL_ZERO_RANGE)) {
		fuse_reply_err(req, EOPNOTSUPP);
		return;
	}
	if (off < 0 || len <= 0 || (uint64_t)off > disk_size || (uint64_t)len > disk_size - off) {
		fuse_reply_err(req, EINVAL);
		return;
	}
	s = op_begin(OP_DISCARD);
	zero_range(off, len);
	op_end(&s, len);
	fuse_reply_err(req, 0);
}

/* Loop takes the block size as the discard granularity: none, no discard. */
static void rig_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct statvfs v = { .f_bsize = BLOCK, .f_frsize = BLOCK, .f_namemax = 255 };

	(void)ino;
	v.f_blocks = disk_size / BLOCK;
	fuse_reply_statfs(req, &v);
}

static const struct fuse_lowlevel_ops ops = {
	.init = rig_init,
	.lookup = rig_lookup,
	.getattr = rig_getattr,
	.setattr = rig_setattr,
	.readdir = rig_readdir,
	.open = rig_open,
	.release = rig_release,
	.read = rig_read,
	.write = rig_write,
	.fsync = rig_fsync,
	.fallocate = rig_fallocate,
	.statfs = rig_statfs,
};

/* ---- serve -------------------------------------------------------------------- */

static bool process_one(struct fuse_session *se, struct fuse_buf *buf)
{
	int n = fuse_session_receive_buf(se, buf);

	if (n > 0)
		fuse_session_process_buf(se, buf);
	return n > 0 || n == -EINTR;
}

static void *worker(void *se)
{
	struct fuse_buf buf = { .mem = NULL };

	while (process_one(se, &buf))
		;
	free(buf.mem);
	return NULL;
}

/*
 * All the workers exist from the start: libfuse's own loop makes a thread when
 * a request finds none idle, and that first request would take longer.
 */
static int run_workers(struct fuse_session *se)
{
	struct fuse_buf buf = { .mem = NULL };
	pthread_t thread[WORKERS];
	pthread_attr_t attr;
	int started = 0;

	/* The first request is FUSE_INIT, and must not race with others. */
	process_one(se, &buf);
	free(buf.mem);

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, WORKER_STACK);
	while (started < WORKERS && !pthread_create(&thread[started], &attr, worker, se))
		started++;
	if (!started)
		fprintf(stderr, "rigd: cannot start a thread\n");
	for (int i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	return started ? 0 : 1;
}

/* A device doesn't wait for a CPU, and memory pressure must not stop it. */
static void become_a_device(void)
{
	struct sched_param first = { .sched_priority = 1 };

	prctl(PR_SET_TIMERSLACK, 1);
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		setpriority(PRIO_PROCESS, 0, -20);
	prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0);
	if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT))
		fprintf(stderr, "rigd: memory not locked: %s\n", strerror(errno));
}

static uint64_t parse_size(const char *text)
{
	char s[32];
	size_t len = strlen(text);
	int shift = 0;
	int64_t n;

	if (!len || len >= sizeof(s))
		return 0;
	memcpy(s, text, len + 1);
	if (strchr("KMG", s[len - 1])) {
		shift = s[len - 1] == 'K' ? 10 : s[len - 1] == 'M' ? 20 : 30;
		s[len - 1] = '\0';
	}
	n = parse_count(s, (1LL << 40) >> shift);
	n = n < 0 ? 0 : n << shift;
	return n < (1 << 20) || n % BLOCK ? 0 : n;
}

static int serve(int argc, char **argv)
{
	static char *fuse_argv[] = { "rigd", "-o", "fsname=barriertrace-rig,nodev,nosuid", NULL };
	struct fuse_args args = FUSE_ARGS_INIT(3, fuse_argv);
	struct fuse_session *se;
	int rc;

	disk_size = parse_size(argv[0]);
	if (!disk_size) {
		fprintf(stderr, "rigd: bad size (1M to 1024G, whole 4K blocks)\n");
		return 2;
	}
	for (int i = 2; i < argc; i++) {
		if (!parse_setting(argv[i], &now_set)) {
			fprintf(stderr, "rigd: bad setting: %s\n", argv[i]);
			return 2;
		}
	}
	become_a_device();
	disk = mmap(NULL, disk_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (disk == MAP_FAILED) {
		perror("rigd: mmap");
		return 1;
	}
	se = fuse_session_new(&args, &ops, sizeof(ops), NULL);
	if (!se || fuse_session_mount(se, argv[1]))
		return 1;
	rc = run_workers(se);
	fuse_session_unmount(se);
	fuse_session_destroy(se);
	return rc;
}

/* ---- guard ---------------------------------------------------------------------- */

static void wake_up(int sig)
{
	(void)sig;
}

/* SIGUSR1 means: don't wait for the owner. SIGTERM ends the guard. */
static int guard(char **argv)
{
	struct sigaction act = { .sa_handler = wake_up };
	int64_t owner = parse_count(argv[0], INT32_MAX);
	sigset_t usr1, none;
	struct pollfd p = { .events = POLLIN };
	int n;

	if (owner <= 0)
		return 2;
	sigemptyset(&none);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	sigaction(SIGUSR1, &act, NULL);
	p.fd = syscall(SYS_pidfd_open, (pid_t)owner, 0);
	if (p.fd >= 0) {
		n = ppoll(&p, 1, NULL, &none);
	} else if (errno == ENOSYS) {
		/* before Linux 5.3 */
		struct timespec tick = { .tv_nsec = 200 * 1000000 };

		while (!kill(owner, 0) && !(n = ppoll(NULL, 0, &tick, &none)))
			;
	}
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGUSR1, SIG_IGN);
	execvp(argv[1], argv + 1);
	return 127;
}

/* ---- start ------------------------------------------------------------------------ */

/* Whoever waits for the end of a pipe or a lock must not wait for us. */
static void close_inherited(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	while (d && (e = readdir(d))) {
		int fd = atoi(e->d_name);

		if (fd > STDERR_FILENO && fd != dirfd(d))
			close(fd);
	}
	if (d)
		closedir(d);
}

int main(int argc, char **argv)
{
	close_inherited();
	if (chdir("/"))
		return 1;
	if (argc >= 4 && !strcmp(argv[1], "serve"))
		return serve(argc - 2, argv + 2);
	if (argc >= 4 && !strcmp(argv[1], "guard"))
		return guard(argv + 2);
	fprintf(stderr, "usage: rigd serve SIZE DIRECTORY [SETTING=VALUE...]\n"
			"       rigd guard PID COMMAND [ARG...]\n");
	return 2;
}
