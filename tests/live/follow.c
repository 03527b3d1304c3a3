// SPDX-License-Identifier: GPL-2.0-only
/* follow PROGRAM TASK: runs the BPF program with this id, whose only argument is the task's number. */
#include <bpf/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	uint64_t args[1] = { argc > 2 ? strtoul(argv[2], NULL, 10) : 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));
	int fd = argc > 2 ? bpf_prog_get_fd_by_id((uint32_t)strtoul(argv[1], NULL, 10)) : -1;

	if (fd < 0 || bpf_prog_test_run_opts(fd, &opts)) {
		perror("follow");
		return 1;
	}
	return 0;
}
