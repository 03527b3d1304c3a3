// SPDX-License-Identifier: GPL-2.0-only
/* readers_block.c - how a setting is read: of a block device, of the machine. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/buf.h"
#include "host/sysfs.h"
#include "doctor/doctor_internal.h"
#include "util/mem.h"

/* What isn't there is no setting; what may not be read is one that isn't known. Takes the path. */
static void read_file(char *path, struct reading *r)
{
	errno = 0;
	r->value = file_text(path);
	if (!r->value && (errno == EACCES || errno == EPERM))
		r->unknown = xasprintf("%s (run as root)", strerror(errno));
	r->where = path;
}

/* Replaces a part "*" of the path by the first name that is there; NULL: none. Takes the path. */
static char *expand(char *path)
{
	char *star = strstr(path, "/*/"), *whole = NULL, **names;

	if (!star)
		return path;
	*star = '\0';
	names = folder_list(path);
	if (names)
		whole = xasprintf("%s/%s%s", path, names[0], star + 2);
	strv_free(names);
	free(path);
	return whole;
}

static char *block_path(const struct diag_layer *l, const char *attribute)
{
	return xasprintf("%s/class/block/%s/%s", sys_root(), l->name, attribute);
}

void read_attr(const struct query *q, struct reading *r)
{
	char *path = expand(block_path(q->l, q->row->arg));

	if (path)
		read_file(path, r);
}

void read_mq_attr(const struct query *q, struct reading *r)
{
	if (block_has(q->l->name, "mq"))
		read_attr(q, r);
}

/* "none [mq-deadline] bfq" */
void read_scheduler(const struct query *q, struct reading *r)
{
	char *from, *to;

	if (!block_has(q->l->name, "mq"))
		return;
	read_file(block_path(q->l, "queue/scheduler"), r);
	from = r->value ? strchr(r->value, '[') : NULL;
	to = from ? strchr(from, ']') : NULL;
	if (!to)
		return;
	*to = '\0';
	memmove(r->value, from + 1, strlen(from + 1) + 1);
}

void read_stat(const struct query *q, struct reading *r)
{
	unsigned int field = (unsigned int)atoi(q->row->arg);
	char *path = block_path(q->l, "stat"), *text = file_text(path), *save = NULL;

	for (char *word = text ? strtok_r(text, " \t", &save) : NULL; word; word = strtok_r(NULL, " \t", &save))
		if (!--field)
			r->value = xstrdup(word);
	free(text);
	r->where = xasprintf("%s field %s", path, q->row->arg);
	free(path);
}

/* /sys/devices/pci0000:00/0000:00:02.0/virtio1/block/vda; owned by the caller; NULL: gone */
static char *device_path(const struct diag_layer *l)
{
	char *link = xasprintf("%s/class/block/%s", sys_root(), l->name), *path = realpath(link, NULL);

	free(link);
	return path;
}

void read_transport(const struct query *q, struct reading *r)
{
	static const struct {
		const char *part, *name;
	} ways[] = {
		/* the first that is on the way: a SATA drive in a USB enclosure is reached by USB */
		{ "/usb", "usb" },	{ "/vmbus", "hyperv" },	 { "/vbd-", "xen" },	    { "/session", "iscsi" },
		{ "/rport-", "fc" },	{ "/ata", "ata" },	 { "/end_device-", "sas" }, { "/nvme", "nvme" },
		{ "/mmc_host", "mmc" }, { "/virtio", "virtio" }, { "/nbd", "nbd" },	    { "/rbd", "rbd" },
	};
	char *path = device_path(q->l);

	for (size_t i = 0; path && i < sizeof(ways) / sizeof(ways[0]) && !r->value; i++)
		if (strstr(path, ways[i].part))
			r->value = xstrdup(ways[i].name);
	r->where = path;
}

void read_virtio_bit(const struct query *q, struct reading *r)
{
	size_t bit = (size_t)atoi(q->row->arg);
	char *path = device_path(q->l);
	bool virtio = path && strstr(path, "/virtio");
	char *bits;

	free(path);
	if (!virtio)
		return;
	path = block_path(q->l, "device/features");
	bits = file_text(path);
	if (bits && strlen(bits) > bit) {
		r->value = xasprintf("%c", bits[bit]);
		r->where = xasprintf("%s bit %zu", path, bit);
	}
	free(bits);
	free(path);
}

/* .../ata1/host0/target0:0:0/0:0:0:0/block/sda */
void read_scsi_host(const struct query *q, struct reading *r)
{
	char *path = device_path(q->l), *host = path ? strstr(path, "/host") : NULL;

	if (host && isdigit((unsigned char)host[5]))
		read_file(xasprintf("%s/class/scsi_host/%.*s/%s", sys_root(), (int)strcspn(host + 1, "/"), host + 1,
				    q->row->arg),
			  r);
	free(path);
}

void read_sys(const struct query *q, struct reading *r)
{
	read_file(xasprintf("%s/%s", sys_root(), q->row->arg), r);
}

void read_proc(const struct query *q, struct reading *r)
{
	char *end;

	read_file(xasprintf("%s/%s", proc_root(), q->row->arg), r);
	end = r->value ? strchr(r->value, '\n') : NULL;
	if (end)
		*end = '\0';
}

void read_sys_size(const struct query *q, struct reading *r)
{
	struct stat st;

	r->where = xasprintf("%s/%s", sys_root(), q->row->arg);
	if (stat(r->where, &st))
		r->value = xstrdup("none");
	else
		r->value = xasprintf("%" PRIu64, (uint64_t)st.st_size);
}

static char *joined(char *const *v, const char *between)
{
	struct buf b = { 0 };

	for (size_t i = 0; v && v[i]; i++)
		buf_printf(&b, "%s%s", i ? between : "", v[i]);
	return b.data;
}

/* Each governor once: they differ from CPU to CPU. */
void read_governor(const struct query *q, struct reading *r)
{
	char *folder = xasprintf("%s/devices/system/cpu", sys_root()), **cpus = folder_list(folder), **found = NULL;

	(void)q;
	for (size_t i = 0; cpus && cpus[i]; i++) {
		char *path = xasprintf("%s/%s/cpufreq/scaling_governor", folder, cpus[i]);
		char *text = strncmp(cpus[i], "cpu", 3) || !isdigit((unsigned char)cpus[i][3]) ? NULL : file_text(path);

		if (text && !strv_has(found, text))
			strv_add(&found, xstrdup(text));
		free(text);
		free(path);
	}
	r->value = joined(found, ", ");
	r->where = xasprintf("%s/cpu*/cpufreq/scaling_governor", folder);
	strv_free(found);
	strv_free(cpus);
	free(folder);
}

/* ---- cgroups ---- */

#define CGROUPS_MAX  4096 /* more would take long to look through */
#define CGROUP_DEPTH 12

struct cgroups {
	const struct diag_layer *l;
	const char *file;
	unsigned int looked_at;
	char **found; /* "/a/b: 8:0 rbps=max wbps=1048576 .." */
	char *where;  /* of the first one */
};

/* io.max and its like have a line for each device: "8:0 rbps=max wbps=1048576 riops=max wiops=max" */
static void cgroup_file(struct cgroups *g, const char *top, const char *folder)
{
	char *path = xasprintf("%s/%s", folder, g->file), *text = file_text(path), *save = NULL;
	char *device = xasprintf("%u:%u ", g->l->major, g->l->minor);

	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, device, strlen(device)) || strstr(line, "enable=0"))
			continue;
		if (!g->where)
			g->where = xstrdup(path);
		strv_add(&g->found,
			 xasprintf("%s: %s", folder[strlen(top)] ? folder + strlen(top) : "/", line + strlen(device)));
	}
	free(device);
	free(text);
	free(path);
}

static void cgroup_walk(struct cgroups *g, const char *top, const char *folder, unsigned int depth)
{
	char **names;

	if (depth > CGROUP_DEPTH || g->looked_at++ >= CGROUPS_MAX)
		return;
	cgroup_file(g, top, folder);
	names = folder_list(folder);
	for (size_t i = 0; names && names[i]; i++) {
		char *path = xasprintf("%s/%s", folder, names[i]);
		struct stat st;

		if (!lstat(path, &st) && S_ISDIR(st.st_mode))
			cgroup_walk(g, top, path, depth + 1);
		free(path);
	}
	strv_free(names);
}

static void cgroup_mount(void *ctx, const struct mounted *m)
{
	struct cgroups *g = ctx;
	bool v1 = !strncmp(g->file, "blkio.", 6);

	if (v1 ? !strcmp(m->fstype, "cgroup") && m->options && strstr(m->options, "blkio") : !strcmp(m->fstype, "cgroup2"))
		cgroup_walk(g, m->dir, m->dir, 0);
}

void read_cgroup(const struct query *q, struct reading *r)
{
	struct cgroups g = { .l = q->l, .file = q->row->arg };

	mounts_each(cgroup_mount, &g);
	r->value = joined(g.found, "; ");
	r->where = g.where;
	strv_free(g.found);
}
