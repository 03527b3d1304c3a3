// SPDX-License-Identifier: GPL-2.0-only
#include "host/accounts.h"

#include <grp.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"

#ifdef BT_STATIC

/* By name, or by number if there is no name. */
static const struct passwd *find(const char *name, uid_t uid)
{
	FILE *f = fopen("/etc/passwd", "re");
	const struct passwd *pw = NULL;

	while (f && (pw = fgetpwent(f)) && (name ? strcmp(pw->pw_name, name) != 0 : pw->pw_uid != uid))
		;
	if (f)
		fclose(f);
	return pw;
}

const struct passwd *account_by_name(const char *name)
{
	return find(name, 0);
}

const struct passwd *account_by_uid(uid_t uid)
{
	return find(NULL, uid);
}

static bool has_member(const struct group *g, const char *name)
{
	for (char **m = g->gr_mem; *m; m++)
		if (!strcmp(*m, name))
			return true;
	return false;
}

int account_groups(const char *name, gid_t gid, gid_t **groups)
{
	FILE *f = fopen("/etc/group", "re");
	const struct group *g;
	size_t n = 0;

	*groups = NULL;
	*(gid_t *)grow((void **)groups, &n, sizeof(gid)) = gid;
	while (f && (g = fgetgrent(f)))
		if (g->gr_gid != gid && has_member(g, name))
			*(gid_t *)grow((void **)groups, &n, sizeof(gid)) = g->gr_gid;
	if (f)
		fclose(f);
	return (int)n;
}

#else

const struct passwd *account_by_name(const char *name)
{
	return getpwnam(name);
}

const struct passwd *account_by_uid(uid_t uid)
{
	return getpwuid(uid);
}

int account_groups(const char *name, gid_t gid, gid_t **groups)
{
	int n = 64;

	*groups = xcalloc((size_t)n, sizeof(**groups));
	while (getgrouplist(name, gid, *groups, &n) < 0)
		*groups = xrealloc(*groups, (size_t)n * sizeof(**groups));
	return n;
}

#endif
