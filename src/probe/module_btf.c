// SPDX-License-Identifier: GPL-2.0-only
#include "probe/module_btf.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Is this object the types of that module? Returns 1, 0 or a negative errno. */
static int is_of(int fd, const char *name)
{
	char has[64] = "";
	struct bpf_btf_info info = { .name = (uintptr_t)has, .name_len = sizeof(has) };
	__u32 len = sizeof(info);
	int err = bpf_obj_get_info_by_fd(fd, &info, &len);

	return err ? err : info.kernel_btf && !strcmp(has, name);
}

int module_types(const char *name)
{
	__u32 id = 0;

	while (!bpf_btf_get_next_id(id, &id)) {
		int fd = bpf_btf_get_fd_by_id(id), found = fd < 0 ? fd : is_of(fd, name);

		if (found > 0)
			return fd;
		if (fd >= 0)
			close(fd);
		/* one that has gone meanwhile is no reason to stop */
		if (found < 0 && found != -ENOENT)
			return found;
	}
	return -errno;
}

bool module_is_loaded(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/%s", name);
	return !access(path, F_OK);
}
