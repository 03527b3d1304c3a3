/* SPDX-License-Identifier: GPL-2.0-only */
/* cgroup_find.h - the cgroup of a systemd unit or of a container, by the names that managers give to folders. */
#ifndef BT_HOST_CGROUP_FIND_H
#define BT_HOST_CGROUP_FIND_H

#include <stddef.h>

enum cgroup_of { CGROUP_OF_UNIT, CGROUP_OF_CONTAINER };

/*
 * A unit's name may leave ".service" away. A container is named by its ID, its name where that stands in the folder's, or how that
 * begins: "docker-ID.scope", "libpod-", "cri-containerd-", "crio-", "docker/ID", "lxc.payload.NAME", "machine-NAME.scope".
 */
struct cgroup_found {
	size_t n;	      /* how many have the name; what is within one is part of it */
	char *first, *second; /* whole paths, or NULL; owned */
	char *instance;	      /* of a unit that wasn't found: "NAME@x.service", which was, or NULL; owned */
};

/* Looks below `root`, the mount point of a hierarchy. To be freed with cgroup_found_free(). */
struct cgroup_found cgroup_find(const char *root, enum cgroup_of of, const char *name);
void cgroup_found_free(struct cgroup_found *f);

#endif
