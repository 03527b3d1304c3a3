// SPDX-License-Identifier: GPL-2.0-only
#include "host/caller.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/accounts.h"
#include "util/mem.h"

#define NO_GROUP 65534 /* the kernel's overflowgid */

static int env_id(const char *name, unsigned int *id)
{
	const char *text = getenv(name);
	unsigned long v;
	char *end;

	if (!text)
		return 0;
	errno = 0;
	v = strtoul(text, &end, 10);
	/* (uid_t)-1 means "leave as it is" to setresuid */
	if (!isdigit((unsigned char)*text) || *end || errno || v >= UINT32_MAX)
		return -EINVAL;
	*id = (unsigned int)v;
	return 1;
}

const struct passwd *caller_account(const struct caller *c)
{
	const char *name = getenv("SUDO_USER");
	const struct passwd *pw = name ? account_by_name(name) : NULL;

	return pw && pw->pw_uid == c->uid ? pw : account_by_uid(c->uid);
}

static void list_groups(struct caller *c, const struct passwd *pw)
{
	if (pw) {
		c->n_groups = account_groups(pw->pw_name, c->gid, &c->groups);
		return;
	}
	c->groups = xcalloc(1, sizeof(*c->groups));
	c->groups[0] = c->gid;
	c->n_groups = 1;
}

static int not_understood(const char *what, struct err *e)
{
	return err_set(e, EINVAL, EXIT_FAILED, "cannot tell who called: %s", what);
}

/* uid and, where the environment has it, gid; `by_group`: it has */
static int read_environment(struct caller *c, bool *by_group, struct err *e)
{
	const char *doas = getenv("DOAS_USER");
	unsigned int uid = 0, gid = 0;
	const struct passwd *pw;
	int sudo = env_id("SUDO_UID", &uid), group = env_id("SUDO_GID", &gid), pkexec;

	pkexec = sudo > 0 && uid ? 0 : env_id("PKEXEC_UID", &uid);
	if (sudo < 0)
		return not_understood("SUDO_UID is not a number", e);
	if (group < 0)
		return not_understood("SUDO_GID is not a number", e);
	if (pkexec < 0)
		return not_understood("PKEXEC_UID is not a number", e);
	*by_group = !pkexec && sudo > 0 && uid && group > 0;
	if (!uid && doas) {
		pw = account_by_name(doas);
		if (!pw)
			return not_understood("DOAS_USER is no user here", e);
		uid = pw->pw_uid;
	}
	c->uid = uid;
	c->gid = gid;
	return 0;
}

int caller_find(struct caller *c, struct err *e)
{
	const struct passwd *pw;
	bool by_group = false;
	int err;

	*c = (struct caller){ 0 };
	err = read_environment(c, &by_group, e);
	if (err || !c->uid)
		return err;
	pw = caller_account(c);
	if (!by_group)
		c->gid = pw ? pw->pw_gid : NO_GROUP;
	c->gid_known = by_group || pw;
	list_groups(c, pw);
	return 0;
}

void caller_free(struct caller *c)
{
	free(c->groups);
	c->groups = NULL;
}

/* Not root by our real uid: whatever rights we have beyond the caller's come from our own file, and are not for files. */
static void of_this_user(struct file_identity *id)
{
	int n = getgroups(0, NULL);

	id->uid = getuid();
	id->gid = getgid();
	id->groups = xcalloc((size_t)(n > 0 ? n : 1), sizeof(*id->groups));
	n = n > 0 ? getgroups(n, id->groups) : 0;
	id->n_groups = n > 0 ? (size_t)n : 0;
}

int caller_file_identity(struct file_identity *id, struct err *e)
{
	struct caller c;
	int err;

	*id = (struct file_identity){ .switched = true };
	if (getuid()) {
		of_this_user(id);
		return 0;
	}
	err = caller_find(&c, e);
	if (err) {
		err_add(e, "; --as-root opens files as root");
		return err;
	}
	*id = (struct file_identity){
		.switched = c.uid, .uid = c.uid, .gid = c.gid, .groups = c.groups, .n_groups = (size_t)c.n_groups
	};
	return 0;
}
