// SPDX-License-Identifier: GPL-2.0-only
#include "host/cgroup_find.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#define DEPTH_MAX 16 /* no manager nests as deeply */

struct looking {
	enum cgroup_of of;
	const char *name;
	struct cgroup_found found;
};

static bool is_unit(const char *folder, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(folder, name, len) && (!folder[len] || !strcmp(folder + len, ".service"));
}

/* Debian's postgresql.service runs nothing: postgresql@15-main.service does. */
static bool is_instance(const char *folder, const char *name)
{
	size_t len = strcspn(name, ".");

	return !strncmp(folder, name, len) && folder[len] == '@';
}

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* An ID as docker and Kubernetes make them: 64 hexadecimal digits. */
static bool is_id(const char *folder)
{
	return strspn(folder, "0123456789abcdef") == 64 && !folder[64];
}

/*
 * Behind what a manager puts before it, or the folder's whole name, which may be an ID of which only the beginning is given. What else
 * begins so is no container: a service, or what podman has outside of it to watch it.
 */
static bool is_container(const char *folder, const char *name)
{
	static const char *const before[] = {
		"docker-", "libpod-payload-", "libpod-",      "cri-containerd-",
		"crio-",   "containerd-",     "lxc.payload.", "machine-",
	};
	static const char *const no_container[] = { ".service", ".slice", ".mount", ".socket", ".swap" };
	const char *suffix = strrchr(folder, '.');

	for (size_t i = 0; suffix && i < sizeof(no_container) / sizeof(no_container[0]); i++)
		if (!strcmp(suffix, no_container[i]))
			return false;
	if (strstr(folder, "conmon"))
		return false;
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		if (begins(folder, before[i]))
			return begins(folder + strlen(before[i]), name);
	return !strcmp(folder, name) || (is_id(folder) && begins(folder, name));
}

static bool fits(const struct looking *l, const char *folder)
{
	return l->of == CGROUP_OF_UNIT ? is_unit(folder, l->name) : is_container(folder, l->name);
}

static void look_into(struct looking *l, const char *folder, int depth);

static void look_at(struct looking *l, const char *parent, const char *folder, int depth)
{
	char *path = xasprintf("%s/%s", parent, folder);

	if (!fits(l, folder)) {
		if (l->of == CGROUP_OF_UNIT && !l->found.instance && is_instance(folder, l->name))
			l->found.instance = xstrdup(folder);
		look_into(l, path, depth + 1);
		free(path);
		return;
	}
	l->found.n++;
	if (!l->found.first)
		l->found.first = path;
	else if (!l->found.second)
		l->found.second = path;
	else
		free(path);
}

static void look_into(struct looking *l, const char *folder, int depth)
{
	DIR *dir = depth < DEPTH_MAX ? opendir(folder) : NULL;
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (d->d_type == DT_DIR && d->d_name[0] != '.')
			look_at(l, folder, d->d_name, depth);
	if (dir)
		closedir(dir);
}

struct cgroup_found cgroup_find(const char *root, enum cgroup_of of, const char *name)
{
	struct looking l = { .of = of, .name = name };

	look_into(&l, root, 0);
	return l.found;
}

void cgroup_found_free(struct cgroup_found *f)
{
	free_all(f->first, f->second, f->instance);
	*f = (struct cgroup_found){ 0 };
}
