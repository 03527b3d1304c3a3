// SPDX-License-Identifier: GPL-2.0-only
#include "host/covered_devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/sysfs.h"
#include "util/mem.h"
#include "wire.h"

#define STACK_DEPTH 8 /* of devices on devices */

/* A device that file systems are mounted from. */
struct mounted_on {
	char name[BLOCK_NAME_LEN];
	bool covered; /* all of them are */
};

struct reading {
	bool (*covers)(const void *ctx, const char *fstype);
	const void *ctx;
	struct mounted_on *device;
	size_t n;
};

static struct mounted_on *find(const struct reading *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->device[i].name, name))
			return &r->device[i];
	return NULL;
}

static void add_mount(void *ctx, const struct mounted *m)
{
	struct reading *r = ctx;
	bool covered = r->covers(r->ctx, m->fstype);

	for (size_t i = 0; m->names && m->names[i]; i++) {
		struct mounted_on *d = find(r, m->names[i]);

		if (!d) {
			d = grow((void **)&r->device, &r->n, sizeof(*d));
			snprintf(d->name, sizeof(d->name), "%s", m->names[i]);
			d->covered = true;
		}
		d->covered &= covered;
	}
}

/* A device that is neither mounted nor held can be written to by anybody. */
static bool is_covered(const struct reading *r, const char *name, unsigned int depth)
{
	const struct mounted_on *d = find(r, name);
	char **holder;
	bool all = true;

	if (d)
		return d->covered;
	holder = depth < STACK_DEPTH ? block_list(name, "holders") : NULL;
	for (size_t i = 0; holder && holder[i] && all; i++)
		all = is_covered(r, holder[i], depth + 1);
	all &= holder != NULL;
	strv_free(holder);
	return all;
}

void covered_devices_read(bool (*covers)(const void *ctx, const char *fstype), const void *ctx, struct covered_devices *out)
{
	struct reading r = { .covers = covers, .ctx = ctx };
	char **all = block_all();

	*out = (struct covered_devices){ 0 };
	mounts_each(add_mount, &r);
	for (size_t i = 0; all && all[i]; i++) {
		unsigned int major, minor;

		if (block_dev(all[i], &major, &minor) && is_covered(&r, all[i], 0))
			*(uint32_t *)grow((void **)&out->dev, &out->n, sizeof(*out->dev)) = WIRE_DEV(major, minor);
	}
	strv_free(all);
	free(r.device);
}

void covered_devices_free(struct covered_devices *c)
{
	free(c->dev);
	*c = (struct covered_devices){ 0 };
}
