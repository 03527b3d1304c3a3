// SPDX-License-Identifier: GPL-2.0-only
#include "host/device_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "host/sysfs.h"
#include "wire.h"

#define STACK_DEPTH 8 /* devices on devices: more than anybody stacks, and an end to loops */

struct reading {
	struct places *p;
	const uint32_t *traced;
	size_t n_traced;
};

static bool is_traced(const struct reading *r, const char *disk)
{
	unsigned int major, minor;

	if (!block_dev(disk, &major, &minor))
		return false;
	for (size_t i = 0; i < r->n_traced; i++)
		if (r->traced[i] == WIRE_DEV(major, minor))
			return true;
	return false;
}

/* Looks through dm and md at what lies beneath. */
static void look_beneath(const struct reading *r, const char *name, unsigned int depth, struct device_name *d)
{
	char disk[BLOCK_NAME_LEN], *cache, **slaves;

	if (depth > STACK_DEPTH || !block_disk(name, disk))
		return;
	cache = block_text(disk, "queue/write_cache");
	if (cache && !strcmp(cache, "write back"))
		d->volatile_cache = true;
	free(cache);
	if (is_traced(r, disk))
		d->traced = true;
	slaves = block_slaves(disk);
	for (size_t i = 0; slaves && slaves[i]; i++)
		look_beneath(r, slaves[i], depth + 1, d);
	strv_free(slaves);
}

static struct device_name *find(struct places *p, uint32_t dev)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->device[i].dev == dev)
			return &p->device[i];
	return NULL;
}

/* What is on no block device, too: it has no name. */
static void add_mount(void *ctx, const struct mounted *m)
{
	struct reading *r = ctx;
	uint32_t dev = WIRE_DEV(m->major, m->minor);
	struct device_name *d;

	if (find(r->p, dev))
		return;
	d = grow((void **)&r->p->device, &r->p->n, sizeof(*d));
	d->dev = dev;
	if (!m->names)
		return;
	snprintf(d->name, sizeof(d->name), "%s", m->names[0]);
	snprintf(d->mount, sizeof(d->mount), "%s", m->dir);
	snprintf(d->fstype, sizeof(d->fstype), "%s", m->fstype);
	d->nobarrier = m->nobarrier;
	for (size_t i = 0; m->names[i]; i++)
		look_beneath(r, m->names[i], 0, d);
}

static void read_all(struct reading *r)
{
	char **all = block_all();

	mounts_each(add_mount, r);
	for (size_t i = 0; all && all[i]; i++) {
		unsigned int major, minor;
		struct device_name *d;

		if (!block_dev(all[i], &major, &minor) || find(r->p, WIRE_DEV(major, minor)))
			continue;
		d = grow((void **)&r->p->device, &r->p->n, sizeof(*d));
		d->dev = WIRE_DEV(major, minor);
		snprintf(d->name, sizeof(d->name), "%s", all[i]);
		look_beneath(r, all[i], 0, d);
	}
	strv_free(all);
}

/* What isn't mounted any more keeps where it was: its files' names may still be asked for. */
static bool learn(struct places *p, const struct device_name *now)
{
	struct device_name *known = find(p, now->dev);

	if (!*now->name)
		return false;
	if (!known)
		known = grow((void **)&p->device, &p->n, sizeof(*known));
	else if (!memcmp(known, now, sizeof(*known)) ||
		 (!*now->mount && !strcmp(known->name, now->name) && known->traced == now->traced))
		return false;
	*known = *now;
	return true;
}

/* Its number is somebody's who is on no disk, or free for a file system of a traced one. */
static bool is_stale(const struct device_name *known, struct places *now)
{
	const struct device_name *d = find(now, known->dev);

	return d ? !*d->name : !known->traced;
}

bool places_learn(struct places *p, const uint32_t *traced, size_t n_traced)
{
	struct places now = { 0 };
	size_t kept = 0;
	bool any;

	read_all(&(struct reading){ &now, traced, n_traced });
	for (size_t i = 0; i < p->n; i++)
		if (!is_stale(&p->device[i], &now))
			p->device[kept++] = p->device[i];
	any = kept < p->n;
	p->n = kept;
	for (size_t i = 0; i < now.n; i++)
		any |= learn(p, &now.device[i]);
	places_free(&now);
	return any;
}

void places_free(struct places *p)
{
	free(p->device);
	*p = (struct places){ 0 };
}

/* ---- symbols ---- */

/* The names, sorted, to be told from a hundred thousand others: by first letter, which lengths (modulo 32) there are. */
struct wanted {
	const char **name;
	size_t n;
	uint32_t lengths[256];
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort_names(struct wanted *w, const char *const *names)
{
	*w = (struct wanted){ 0 };
	while (names[w->n])
		w->n++;
	w->name = xcalloc(w->n, sizeof(*w->name));
	for (size_t i = 0; i < w->n; i++) {
		w->name[i] = names[i];
		w->lengths[(unsigned char)names[i][0]] |= 1u << strlen(names[i]) % 32;
	}
	qsort(w->name, w->n, sizeof(*w->name), by_name);
}

/* "f" and what the compiler made of it: "f.isra.0", "f.part.1"; ends where a module's name follows */
static bool wanted_name(const struct wanted *w, char *name)
{
	size_t len = strcspn(name, ". \t\n");
	char end = name[len];
	bool found;

	if (!(w->lengths[(unsigned char)name[0]] >> len % 32 & 1))
		return false;
	name[len] = '\0';
	found = bsearch(&name, w->name, w->n, sizeof(*w->name), by_name);
	name[len] = end;
	return found;
}

static bool is_function(const char *line)
{
	const char *type = strchr(line, ' ');

	return type && (type[1] == 't' || type[1] == 'T') && type[2];
}

/* The file is in the order of addresses: a function ends where the next symbol with another address begins. */
struct kernel_symbol *symbols_of(FILE *kallsyms, const char *const *names, size_t *n)
{
	struct kernel_symbol *all = NULL, *open = NULL;
	struct wanted wanted;
	char line[512];

	*n = 0;
	sort_names(&wanted, names);
	while (fgets(line, sizeof(line), kallsyms)) {
		char *name = is_function(line) ? strchr(line, ' ') + 3 : NULL;
		bool want = name && wanted_name(&wanted, name);
		uint64_t at = want || open ? strtoull(line, NULL, 16) : 0;

		if (open && at > open->start) {
			open->end = at;
			open = NULL;
		}
		if (!want || !at)
			continue;
		name[strcspn(name, " \t\n")] = '\0';
		open = grow((void **)&all, n, sizeof(*open));
		snprintf(open->name, sizeof(open->name), "%s", name);
		open->start = open->end = at;
	}
	free(wanted.name);
	return all;
}

FILE *symbols_open(void)
{
	FILE *f = fopen("/proc/kallsyms", "re");

	if (f)
		setvbuf(f, NULL, _IOFBF, 4096); /* as much as the kernel has ready at once, and not a quarter of it */
	return f;
}
