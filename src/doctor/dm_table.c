// SPDX-License-Identifier: GPL-2.0-only
/* dm_table.c - the table of a device-mapper device: its targets, and dm-crypt's options. Keys are never kept. */
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "util/buf.h"
#include "doctor/doctor_internal.h"
#include "util/mem.h"

#define TABLE_BYTES  (256 << 10)
#define CRYPT_FIELDS 5 /* cipher, key, IV offset, device, start; the options follow, with their number */

/* Lines "0 1024 linear 8:1 0"; of a crypt target only its name and, behind " : ", its options. */
static void add_target(struct buf *b, const struct dm_target_spec *t, const char *parameters)
{
	const char *options = parameters;

	buf_printf(b, "%s%llu %llu %.*s", b->len ? "\n" : "", (unsigned long long)t->sector_start,
		   (unsigned long long)t->length, (int)sizeof(t->target_type), t->target_type);
	if (strcmp(t->target_type, "crypt"))
		return;
	for (int i = 0; i < CRYPT_FIELDS && *options; i++) {
		options += strcspn(options, " ");
		options += strspn(options, " ");
	}
	buf_printf(b, " : %s", options);
}

static char *table_text(const struct dm_ioctl *io)
{
	struct buf b = { 0 };
	uint32_t at = io->data_start;

	for (uint32_t i = 0; i < io->target_count; i++) {
		const struct dm_target_spec *t = (const void *)((const char *)io + at);

		if (at + sizeof(*t) > io->data_size)
			break;
		add_target(&b, t, (const char *)(t + 1));
		at = io->data_start + t->next;
	}
	return b.data;
}

/* DM_TABLE_STATUS is the question that dmsetup table asks; it needs no right to write. NULL: the kernel doesn't tell. */
static char *kernel_table(unsigned int major, unsigned int minor)
{
	int fd = open("/dev/mapper/control", O_RDONLY | O_CLOEXEC);
	struct dm_ioctl *io;
	char *text = NULL;

	if (fd < 0)
		return NULL;
	io = xcalloc(1, TABLE_BYTES);
	io->version[0] = 4;
	io->data_size = TABLE_BYTES;
	io->data_start = sizeof(*io);
	io->dev = makedev(major, minor);
	io->flags = DM_STATUS_TABLE_FLAG | DM_NOFLUSH_FLAG | DM_SECURE_DATA_FLAG;
	if (!ioctl(fd, DM_TABLE_STATUS, io) && !(io->flags & DM_BUFFER_FULL_FLAG))
		text = table_text(io);
	explicit_bzero(io, TABLE_BYTES);
	free(io);
	close(fd);
	return text;
}

static char *table_of(const struct exam *x, const struct diag_layer *l, struct reading *r)
{
	char *text = x->o->dm_table ? x->o->dm_table(l->major, l->minor) : kernel_table(l->major, l->minor);

	r->where = xstrdup("ioctl DM_TABLE_STATUS on /dev/mapper/control");
	if (!text)
		r->unknown = xstrdup("the kernel did not tell (run as root)");
	return text;
}

/* Each target's type once, in their order: "linear, crypt" */
void read_dm_targets(const struct query *q, struct reading *r)
{
	char *text = table_of(q->x, q->l, r), *save = NULL, type[DM_MAX_TYPE_NAME];
	struct buf b = { 0 };

	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
		char *all, *one;

		if (sscanf(line, "%*u %*u %15s", type) != 1)
			continue;
		all = xasprintf(", %s,", b.data ? b.data : "");
		one = xasprintf(", %s,", type);
		if (!strstr(all, one))
			buf_printf(&b, "%s%s", b.len ? ", " : "", type);
		free(all);
		free(one);
	}
	r->value = b.data;
	free(text);
}

void read_dm_options(const struct query *q, struct reading *r)
{
	char *text = table_of(q->x, q->l, r), *crypt = text ? strstr(text, " crypt : ") : NULL;

	free(r->unknown); /* said with the targets */
	r->unknown = NULL;
	if (crypt) {
		crypt += strlen(" crypt : ");
		crypt[strcspn(crypt, "\n")] = '\0';
		r->value = xstrdup(*crypt ? crypt + strspn(crypt, "0123456789 ") : "none");
	}
	free(text);
}
