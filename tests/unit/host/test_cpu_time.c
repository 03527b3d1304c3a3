// SPDX-License-Identifier: GPL-2.0-only
/* What CPUs have spent in the kernel: of a made-up /proc/stat. fopen() and fclose() stand in for the C library's. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/cpu_time.h"
#include "tap.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static const char *stat_text; /* NULL: there is no such file */

static int open_streams;

FILE *fopen(const char *path, const char *mode)
{
	if (!stat_text || strcmp(path, "/proc/stat"))
		return NULL;
	open_streams++;
	return fmemopen((char *)stat_text, strlen(stat_text), mode);
}

int fclose(FILE *f)
{
	int (*real)(FILE *) = (int (*)(FILE *))dlsym(RTLD_NEXT, "fclose");

	open_streams--;
	return real(f);
}

int main(void)
{
	static const struct {
		const char *text;
		uint64_t want; /* in ticks */
	} rows[] = {
		{ "cpu  1 2 30 4 5 600 7000 8 9 10\ncpu0 1 1 1 1 1 1 1 0 0 0\n", 7630 },
		{ "cpu 0 0 1 0 0 0 0\n", 1 },
		{ "cpu 0 0 0 0 0 1 0\n", 1 },
		{ "cpu 0 0 0 0 0 0 1\n", 1 },
		{ "cpu 1 1 0 1 1 0 0 1 1 1\n", 0 },
		{ "cpu 1 2 30 4 5 600\n", 0 },
		{ "cpu 1 2 x 4 5 600 7\n", 0 },
		{ "intr 1 2 3 4 5 6 7\n", 0 },
		{ NULL, 0 },
	};
	uint64_t tick = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		stat_text = rows[i].text;
		ok(cpu_kernel_ns() == rows[i].want * tick, "time in the kernel, text %zu", i);
	}
	ok(!open_streams, "none is left open");
	return tap_done();
}
