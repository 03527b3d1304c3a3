// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/install_hints.h"

#include <stddef.h>
#include <string.h>

const struct benchmark benchmarks[] = {
	{ "bonnie++", "on Debian: apt install bonnie++" },
	{ "compilebench", "no package: see https://oss.oracle.com/~mason/compilebench/" },
	{ "dbench", "on Debian: apt install dbench" },
	{ "dd", "on Debian: apt install coreutils" },
	{ "fio", "on Debian: apt install fio" },
	{ "fs_mark", "on Debian: apt install fsmark" },
	{ "hdparm", "on Debian: apt install hdparm" },
	{ "iozone", "on Debian: apt install iozone3, which is in non-free" },
	{ "postmark", "on Debian: apt install postmark" },
	{ "sqlite3", "on Debian: apt install sqlite3" },
	{ 0 },
};

const struct benchmark *benchmark_find(const char *name)
{
	for (const struct benchmark *b = benchmarks; b->name; b++)
		if (!strcmp(b->name, name))
			return b;
	return NULL;
}

void benchmark_hint(const char *command, struct err *e)
{
	const struct benchmark *b = command && e->status == EXIT_NOT_FOUND ? benchmark_find(command) : NULL;

	if (b)
		err_add(e, "; %s", b->get);
}
