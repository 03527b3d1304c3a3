// SPDX-License-Identifier: GPL-2.0-only
#include "probe/perf_event.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/detached_mount.h"

/* What a file says, which is named from that directory on. */
static int number_in(int dir, const char *path)
{
	int n = -ENOENT, fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (f && fscanf(f, "%d", &n) != 1)
		n = -ENOENT;
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	return n;
}

/* Of the whole machine: the CPU is only where the event is kept. */
static int open_event(struct perf_event_attr *attr)
{
	int fd;

	attr->size = sizeof(*attr);
	attr->disabled = 1;
	fd = (int)syscall(SYS_perf_event_open, attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int perf_event_tracepoint(const char *group, const char *name)
{
	static const char *const tracefs[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT };
	int id = -ENOENT, dir;
	char path[128];

	for (size_t i = 0; id < 0 && i < sizeof(tracefs) / sizeof(tracefs[0]); i++) {
		snprintf(path, sizeof(path), "%s/events/%s/%s/id", tracefs[i], group, name);
		id = number_in(AT_FDCWD, path);
	}
	dir = id < 0 ? detached_mount("tracefs") : -1;
	if (dir >= 0) {
		snprintf(path, sizeof(path), "events/%s/%s/id", group, name);
		id = number_in(dir, path);
		close(dir);
	}
	attr.config = (uint64_t)id;
	return id < 0 ? id : open_event(&attr);
}

/* The kind of event that the kernel's kprobes are. */
static int kprobe_type(void)
{
	return number_in(AT_FDCWD, "/sys/bus/event_source/devices/kprobe/type");
}

bool perf_event_has_kprobes(void)
{
	return kprobe_type() >= 0;
}

/* Bit 0 of `config` is what libbpf takes it for as well: the format's "retprobe". */
int perf_event_kprobe(const char *function, bool at_return)
{
	struct perf_event_attr attr = { .config = at_return, .config1 = (uint64_t)(uintptr_t)function };
	int type = kprobe_type();

	attr.type = (uint32_t)type;
	return type < 0 ? type : open_event(&attr);
}
