// SPDX-License-Identifier: GPL-2.0-only
#include "host/task_proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/mountinfo.h"
#include "host/sysfs.h"
#include "util/mem.h"
#include "util/patient.h"
#include "wire.h"

#define PF_KTHREAD  0x00200000 /* include/linux/sched.h; unchanged since 2.6 */
#define SPACE_32BIT (1ull << 32)

/* ---- parsers ---- */

bool task_call_is_32bit(const struct task_call *c)
{
	return c->nr >= 0 && c->sp < SPACE_32BIT;
}

static bool hex(const char **at, uint64_t *out)
{
	char *end;

	while (**at == ' ')
		(*at)++;
	if (strncmp(*at, "0x", 2) || !isxdigit((unsigned char)(*at)[2]))
		return false;
	errno = 0;
	*out = strtoull(*at, &end, 16);
	*at = end;
	return !errno;
}

/* "running"; "-1 SP PC"; "74 ARGUMENT.. SP PC", six of them */
bool task_call_parse(const char *text, struct task_call *out)
{
	struct task_call c = { 0 };
	uint64_t pc;
	char *end;

	if (!text)
		return false;
	if (!strncmp(text, "running", 7)) {
		*out = (struct task_call){ .running = true, .nr = -1 };
		return true;
	}
	errno = 0;
	c.nr = strtol(text, &end, 10);
	if (end == text || errno || c.nr < -1)
		return false;
	text = end;
	for (int i = 0; i < 6 && c.nr >= 0; i++)
		if (!hex(&text, &c.arg[i]))
			return false;
	if (!hex(&text, &c.sp) || !hex(&text, &pc))
		return false;
	*out = c;
	return true;
}

/* Field n, counted from the state on, which is field 3 of proc(5). */
static const char *stat_field(const char *state, int n)
{
	for (int i = 3; i < n && state; i++) {
		state = strchr(state, ' ');
		state = state ? state + 1 : NULL;
	}
	return state && *state ? state : NULL;
}

static bool stat_u64(const char *state, int n, uint64_t *out)
{
	const char *s = stat_field(state, n);

	if (!s || !isdigit((unsigned char)*s))
		return false;
	*out = strtoull(s, NULL, 10);
	return true;
}

/* "4711 (name) D 1 ..": a name may hold anything, also ") D " */
bool task_stat_parse(const char *text, struct task_stat *out)
{
	const char *open = text ? strchr(text, '(') : NULL, *close = open ? strrchr(open, ')') : NULL;
	struct task_stat s = { 0 };
	uint64_t parent, flags, cpu;

	if (!close || close[1] != ' ' || !isalpha((unsigned char)close[2]))
		return false;
	snprintf(s.comm, sizeof(s.comm), "%.*s", (int)(close - open - 1), open + 1);
	s.state = close[2];
	if (!stat_u64(close + 2, 4, &parent) || !stat_u64(close + 2, 9, &flags) ||
	    !stat_u64(close + 2, 20, &s.threads) || !stat_u64(close + 2, 22, &s.start) || !stat_u64(close + 2, 39, &cpu))
		return false;
	s.parent = (int)parent;
	s.kernel_thread = flags & PF_KTHREAD;
	s.cpu = (uint32_t)cpu;
	*out = s;
	return true;
}

/* "[<0>] jbd2_log_wait_commit+0xc2/0x150 [jbd2]", a line for each */
char **task_stack_parse(const char *text)
{
	char **names = NULL;

	for (; text && *text; text = strchr(text, '\n'), text = text ? text + 1 : NULL) {
		const char *name = strstr(text, "] "), *end = strchr(text, '\n');
		size_t len;

		if (*text != '[' || !name || (end && name > end))
			continue;
		name += 2;
		len = strcspn(name, "+ \n");
		if (len && name[0] != '0') /* an address: the kernel hides its names */
			strv_add(&names, xasprintf("%.*s", (int)len, name));
	}
	return names;
}

/* What follows "name :" or "name:\t" on its line. */
static const char *labelled(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (; text && *text; text = strchr(text, '\n'), text = text ? text + 1 : NULL) {
		const char *value = text + len;

		if (strncmp(text, name, len))
			continue;
		value += strspn(value, " \t");
		if (*value == ':')
			return value + 1 + strspn(value + 1, " \t");
	}
	return NULL;
}

/* "se.exec_start     :     393300.480467": milliseconds */
bool task_on_cpu_parse(const char *text, uint64_t *ns)
{
	const char *at = labelled(text, "se.exec_start");
	uint64_t ms, rest;
	char *end, *last;

	if (!at || !isdigit((unsigned char)*at))
		return false;
	ms = strtoull(at, &end, 10);
	if (*end != '.' || !isdigit((unsigned char)end[1]) || ms > UINT64_MAX / 2000000)
		return false;
	rest = strtoull(end + 1, &last, 10);
	if (last - end != 7)
		return false;
	*ns = ms * 1000000 + rest;
	return *ns;
}

bool task_switches_parse(const char *text, uint64_t *n)
{
	const char *own = labelled(text, "voluntary_ctxt_switches"), *other = labelled(text, "nonvoluntary_ctxt_switches");

	if (!own || !other || !isdigit((unsigned char)*own) || !isdigit((unsigned char)*other))
		return false;
	*n = strtoull(own, NULL, 10) + strtoull(other, NULL, 10);
	return true;
}

bool task_capable_parse(const char *text, unsigned int capability)
{
	const char *at = labelled(text, "CapEff");

	return at && isxdigit((unsigned char)*at) && strtoull(at, NULL, 16) >> capability & 1;
}

bool task_file_parse(const char *text, struct task_file *out)
{
	const char *flags = labelled(text, "flags"), *mount = labelled(text, "mnt_id");

	if (!flags || !mount || !isdigit((unsigned char)*flags) || !isdigit((unsigned char)*mount))
		return false;
	out->flags = (uint32_t)strtoul(flags, NULL, 8);
	out->mount = (int)strtol(mount, NULL, 10);
	return true;
}

/* "7f00-7f10 rw-s 00000000 fd:01 123   /srv/db/wal" */
static bool mapping_line(const char *line, uint64_t address, char **path, uint32_t *dev)
{
	unsigned int major, minor;
	uint64_t from, to;
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*x %x:%x %*u %n", &from, &to, &major, &minor, &at) < 4 || !at ||
	    address < from || address >= to || line[at] != '/')
		return false;
	*path = xasprintf("%.*s", (int)strcspn(line + at, "\n"), line + at);
	*dev = WIRE_DEV(major, minor);
	return true;
}

bool task_mapping_parse(const char *text, uint64_t address, char **path, uint32_t *dev)
{
	for (; text && *text; text = strchr(text, '\n'), text = text ? text + 1 : NULL)
		if (mapping_line(text, address, path, dev))
			return true;
	return false;
}

/* ---- readers ---- */

static char *task_text(uint32_t pid, uint32_t tid, const char *file)
{
	return file_textf("%s/%" PRIu32 "/task/%" PRIu32 "/%s", proc_root(), pid, tid, file);
}

bool task_may_look(void)
{
	char *text = file_textf("%s/self/status", proc_root());
	bool may = task_capable_parse(text, CAP_SYS_PTRACE);

	free(text);
	return may;
}

/*
 * Asked of every thread of the machine: no stream, and of a first thread without the two folders between, which the kernel would make
 * for us.
 */
bool task_call_read(uint32_t pid, uint32_t tid, struct task_call *out)
{
	char path[300], text[200];
	ssize_t n;
	int fd;

	if (pid == tid)
		snprintf(path, sizeof(path), "%s/%" PRIu32 "/syscall", proc_root(), pid);
	else
		snprintf(path, sizeof(path), "%s/%" PRIu32 "/task/%" PRIu32 "/syscall", proc_root(), pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return task_call_parse(text, out);
}

bool task_stat_read(uint32_t pid, uint32_t tid, struct task_stat *out)
{
	char *text = task_text(pid, tid, "stat");
	bool good = task_stat_parse(text, out);

	free(text);
	return good;
}

char **task_stack_read(uint32_t pid, uint32_t tid)
{
	char *text = task_text(pid, tid, "stack"), **names = task_stack_parse(text);

	free(text);
	return names;
}

bool task_switches_read(uint32_t pid, uint32_t tid, uint64_t *n)
{
	char *text = task_text(pid, tid, "status");
	bool good = task_switches_parse(text, n);

	free(text);
	return good;
}

char *task_cmdline(uint32_t pid)
{
	char *path = xasprintf("%s/%" PRIu32 "/cmdline", proc_root(), pid), *words;
	size_t n = 0;

	words = patient_text(path, &n);
	free(path);
	while (words && n && !words[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		if (!words[i])
			words[i] = ' ';
	if (n)
		return words;
	free(words);
	return NULL;
}

char *task_fd_path(uint32_t pid, uint32_t fd)
{
	char link[300], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "%s/%" PRIu32 "/fd/%" PRIu32, proc_root(), pid, fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return NULL;
	path[n] = '\0';
	return xstrdup(path);
}

bool task_fd_read(uint32_t pid, uint32_t fd, struct task_file *out)
{
	char *text = file_textf("%s/%" PRIu32 "/fdinfo/%" PRIu32, proc_root(), pid, fd);
	bool good = task_file_parse(text, out);

	free(text);
	return good;
}

bool task_mapping_read(uint32_t pid, uint64_t address, char **path, uint32_t *dev)
{
	char *file = xasprintf("%s/%" PRIu32 "/maps", proc_root(), pid), *text;
	size_t size;
	bool found;

	text = patient_text(file, &size);
	found = task_mapping_parse(text, address, path, dev);
	free(text);
	free(file);
	return found;
}

uint32_t task_mount_dev(uint32_t pid, int mount)
{
	char *path = xasprintf("%s/%" PRIu32 "/mountinfo", proc_root(), pid);
	struct mount_table t = { 0 };
	uint32_t dev = 0;

	mount_table_read(path, &t);
	for (size_t i = 0; i < t.n && !dev; i++)
		if (t.mounts[i].id == mount)
			dev = WIRE_DEV(t.mounts[i].major, t.mounts[i].minor);
	mount_table_free(&t);
	free(path);
	return dev;
}

/* ---- since when a task sleeps ---- */

static bool last_on_cpu(uint32_t pid, uint32_t tid, uint64_t *ns)
{
	char *text = task_text(pid, tid, "sched");
	bool good = task_on_cpu_parse(text, ns);

	free(text);
	return good;
}

/* What the clock of this CPU showed when this thread last began to run, or later: it is behind the clock, never ahead. */
static bool clock_on(uint32_t cpu, uint64_t *ns)
{
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *one = CPU_ALLOC(cpu + 1);
	bool good;

	if (!one)
		return false;
	CPU_ZERO_S(size, one);
	CPU_SET_S(cpu, size, one);
	good = !sched_setaffinity(0, size, one) && last_on_cpu((uint32_t)getpid(), (uint32_t)gettid(), ns);
	CPU_FREE(one);
	return good;
}

struct asleep {
	uint32_t pid, tid;
	uint64_t ns;
};

/* The same sleep before and after the clock was read: when the task last ran has not changed. */
static void measure_sleep(void *job)
{
	struct asleep *a = job;
	uint64_t from, now, again;
	struct task_stat s;

	if (!task_stat_read(a->pid, a->tid, &s) || s.state == 'R' || !last_on_cpu(a->pid, a->tid, &from) ||
	    !clock_on(s.cpu, &now) || !last_on_cpu(a->pid, a->tid, &again))
		return;
	a->ns = from == again && now > from ? now - from : 0;
}

#define ASLEEP_MS 100 /* its CPU may belong to somebody who never lets go of it */

uint64_t task_asleep_ns(uint32_t pid, uint32_t tid)
{
	struct asleep *a = xcalloc(1, sizeof(*a));
	uint64_t ns;

	*a = (struct asleep){ .pid = pid, .tid = tid };
	if (!patient_run(measure_sleep, a, free, ASLEEP_MS))
		return 0;
	ns = a->ns;
	free(a);
	return ns;
}

/* ---- all tasks ---- */

static uint32_t number(const char *name)
{
	return isdigit((unsigned char)*name) ? (uint32_t)strtoul(name, NULL, 10) : 0;
}

static bool each_thread(uint32_t pid, bool (*each)(void *ctx, uint32_t pid, uint32_t tid), void *ctx)
{
	bool go_on = true;
	struct dirent *d;
	struct stat st;
	char path[300];
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%" PRIu32 "/task", proc_root(), pid);

	/* a folder for each thread, "." and "..": most processes have one thread, and a machine has thousands of processes */
	if (!stat(path, &st) && st.st_nlink == 3)
		return each(ctx, pid, pid);
	dir = opendir(path);
	while (dir && go_on && (d = readdir(dir)))
		if (number(d->d_name))
			go_on = each(ctx, pid, number(d->d_name));
	if (dir)
		closedir(dir);
	return go_on;
}

void task_each(bool (*each)(void *ctx, uint32_t pid, uint32_t tid), void *ctx)
{
	DIR *dir = opendir(proc_root());
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (number(d->d_name) && !each_thread(number(d->d_name), each, ctx))
			break;
	if (dir)
		closedir(dir);
}
