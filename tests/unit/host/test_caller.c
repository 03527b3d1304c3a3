// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who made this process root, as the environment says. The machine's users are made up: the functions below stand in for the
 * C library's where accounts.c and caller.c ask for them.
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/caller.h"
#include "util/mem.h"
#include "tap.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* ---- the C library's ---- */

static struct passwd users[] = {
	{ .pw_name = "root", .pw_uid = 0, .pw_gid = 0 },
	{ .pw_name = "ann", .pw_uid = 1001, .pw_gid = 2001 },
	{ .pw_name = "ann_too", .pw_uid = 1001, .pw_gid = 2002 },
	{ .pw_name = "bob", .pw_uid = 1003, .pw_gid = 2003 },
	{ .pw_name = "big", .pw_uid = 4294967294, .pw_gid = 2004 },
};

static uid_t our_uid;
static int our_groups; /* -1: not to be told */

struct passwd *getpwnam(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(users); i++)
		if (!strcmp(users[i].pw_name, name))
			return &users[i];
	return NULL;
}

struct passwd *getpwuid(uid_t uid)
{
	for (size_t i = 0; i < ARRAY_LEN(users); i++)
		if (users[i].pw_uid == uid)
			return &users[i];
	return NULL;
}

/* The user's own group, and as many others as the name has letters times 30: 3000, 3001, .. */
int getgrouplist(const char *name, gid_t gid, gid_t *groups, int *n)
{
	int all = 1 + 30 * (int)strlen(name), room = *n;

	for (int i = 0; i < room && i < all; i++)
		groups[i] = i ? 3000 + (gid_t)i - 1 : gid;
	*n = all;
	return room < all ? -1 : all;
}

uid_t getuid(void)
{
	return our_uid;
}

gid_t getgid(void)
{
	return 2042;
}

int getgroups(int size, gid_t groups[])
{
	for (int i = 0; i < size && i < our_groups; i++)
		groups[i] = 4000 + (gid_t)i;
	return our_groups;
}

/* ---- the environment ---- */

static const char *const names[] = { "SUDO_UID", "SUDO_GID", "SUDO_USER", "PKEXEC_UID", "DOAS_USER" };

struct row {
	const char *env[5]; /* the values of these; NULL: not set */
	const char *want;   /* "uid gid known n_groups account", or an error's text */
	const char *name;
};

static const struct row rows[] = {
	{ { 0 }, "0", "root in person" },
	{ { "1001", "2050", "ann" }, "1001 2050 known 91 ann", "sudo: uid and gid" },
	{ { "1001", "2050", "ann_too" }, "1001 2050 known 211 ann_too", "of two names of one uid the one that sudo saw" },
	{ { "1001", "2050", "bob" }, "1001 2050 known 91 ann", "a name of another uid is not believed" },
	{ { "1001", "2050", "nobody here" }, "1001 2050 known 91 ann", "nor one that is unknown" },
	{ { "1001", "2050" }, "1001 2050 known 91 ann", "no name" },
	{ { "1001", NULL, "ann" }, "1001 2001 known 91 ann", "no gid: the account's" },
	{ { "1001", "0", "ann" }, "1001 0 known 91 ann", "the group of root" },
	{ { "1500", "2050", "x" }, "1500 2050 known 1 -", "an unknown user with a group" },
	{ { "1500", NULL, "x" }, "1500 65534 unknown 1 -", "an unknown user without one" },
	{ { "1", "2050" }, "1 2050 known 1 -", "the smallest uid that isn't root" },
	{ { "4294967294", "1" }, "4294967294 1 known 91 big", "the largest one" },
	{ { "4294967295", "1" }, "cannot tell who called: SUDO_UID is not a number", "the one that means 'unchanged'" },
	{ { "1001", "4294967295" }, "cannot tell who called: SUDO_GID is not a number", "the same of a group" },
	{ { "99999999999999999999", "1" }, "cannot tell who called: SUDO_UID is not a number", "far too large" },
	{ { "1001x", "1" }, "cannot tell who called: SUDO_UID is not a number", "letters" },
	{ { "", "1" }, "cannot tell who called: SUDO_UID is not a number", "nothing" },
	{ { " 1", "1" }, "cannot tell who called: SUDO_UID is not a number", "a blank" },
	{ { "-1", "1" }, "cannot tell who called: SUDO_UID is not a number", "a sign" },
	{ { "1001", "x" }, "cannot tell who called: SUDO_GID is not a number", "a group of letters" },
	{ { "0", "0", "root" }, "0", "sudo by root" },
	{ { NULL, NULL, NULL, "1003" }, "1003 2003 known 91 bob", "pkexec" },
	{ { NULL, "2050", NULL, "1003" }, "1003 2003 known 91 bob", "the group is sudo's, not pkexec's" },
	{ { NULL, NULL, NULL, "0" }, "0", "pkexec by root" },
	{ { NULL, NULL, NULL, "x" }, "cannot tell who called: PKEXEC_UID is not a number", "pkexec: letters" },
	{ { "1001", "2050", "ann", "1003" }, "1001 2050 known 91 ann", "sudo within pkexec: sudo is the later one" },
	{ { "1001", "2050", "ann", "x" }, "1001 2050 known 91 ann", "and pkexec isn't asked" },
	{ { "0", "0", "root", "1003" }, "1003 2003 known 91 bob", "sudo by the root that pkexec made" },
	{ { NULL, NULL, NULL, NULL, "bob" }, "1003 2003 known 91 bob", "doas" },
	{ { NULL, NULL, NULL, NULL, "root" }, "0", "doas by root" },
	{ { NULL, NULL, NULL, NULL, "x" }, "cannot tell who called: DOAS_USER is no user here", "doas: an unknown user" },
	{ { "1001", "2050", "ann", NULL, "x" }, "1001 2050 known 91 ann", "sudo within doas" },
	{ { "0", "0", "root", NULL, "bob" }, "1003 2003 known 91 bob", "sudo by the root that doas made" },
};

static void set_environment(const struct row *r)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (r->env[i])
			setenv(names[i], r->env[i], 1);
		else
			unsetenv(names[i]);
}

static char *found(void)
{
	struct caller c = { .n_groups = 77 };
	struct err e = { 0 };
	int ret = caller_find(&c, &e);
	char *text;

	if (ret) {
		text = ret == -EINVAL && e.status == EXIT_FAILED ? xstrdup(e.text) :
								   xasprintf("error %d, status %d", ret, e.status);
	} else if (!c.uid) {
		text = xstrdup(c.gid || c.n_groups || c.groups || c.gid_known ? "root, but with groups" : "0");
	} else {
		const struct passwd *pw = caller_account(&c);

		text = xasprintf("%u %u %s %d %s", c.uid, c.gid, c.gid_known ? "known" : "unknown", c.n_groups,
				 pw ? pw->pw_name : "-");
		ok(c.n_groups > 0 && c.groups[0] == c.gid &&
			   (c.n_groups == 1 || c.groups[c.n_groups - 1] == 3000u + (gid_t)c.n_groups - 2),
		   "its own group is the first one, the others follow");
	}
	caller_free(&c);
	ok(!c.groups, "nothing is left");
	return text;
}

static void test_environment(void)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *got;

		set_environment(&rows[i]);
		got = found();
		if (!ok(!strcmp(got, rows[i].want), "%s", rows[i].name))
			diag("got '%s', want '%s'", got, rows[i].want);
		free(got);
	}
}

/* ---- with whose rights files are opened ---- */

static void test_files(void)
{
	struct file_identity id = { 0 };
	struct err e = { 0 };

	our_uid = 0;
	set_environment(&(struct row){ { "1001", "2050", "ann" }, "", "" });
	ok(!caller_file_identity(&id, &e) && id.switched && id.uid == 1001 && id.gid == 2050 && id.n_groups == 91 &&
		   id.groups[0] == 2050,
	   "files of root by sudo: with the caller's rights");
	free(id.groups);
	set_environment(&(struct row){ { "x" }, "", "" });
	ok(caller_file_identity(&id, &e) == -EINVAL && e.status == EXIT_FAILED, "files of nobody knows whom: none");
	ok(!strcmp(e.text, "cannot tell who called: SUDO_UID is not a number; --as-root opens files as root"),
	   "and what helps");
	set_environment(&(struct row){ { 0 }, "", "" });
	ok(!caller_file_identity(&id, &e) && !id.switched && !id.uid && !id.gid && !id.n_groups,
	   "files of root in person: as we are");
	our_uid = 1009;
	for (our_groups = -1; our_groups <= 3; our_groups += 1) {
		set_environment(&(struct row){ { "1001", "2050", "ann" }, "", "" });
		ok(!caller_file_identity(&id, &e) && id.switched && id.uid == 1009 && id.gid == 2042 &&
			   id.n_groups == (our_groups > 0 ? (size_t)our_groups : 0) && id.groups,
		   "files of somebody else with %d groups: with that user's rights, whatever the environment says",
		   our_groups);
		ok(our_groups < 1 || (id.groups[0] == 4000 && id.groups[our_groups - 1] == 3999u + (gid_t)our_groups),
		   "and groups");
		free(id.groups);
	}
}

int main(void)
{
	test_environment();
	test_files();
	return tap_done();
}
