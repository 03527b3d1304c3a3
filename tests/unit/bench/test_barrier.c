// SPDX-License-Identifier: GPL-2.0-only
/* The barrier workload with its threads that write meanwhile: as short as it can be, on whatever disk is there. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/flush_profile.h"
#include "bench/workload_list.h"
#include "tap.h"
#include "util/mem.h"

/* Each has at least one call, however little time there is. */
static bool has_row(const struct scores *t, enum card_test kind, uint64_t param)
{
	for (uint32_t i = 0; i < t->n_rows; i++)
		if (t->row[i].kind == kind && t->row[i].param == param)
			return t->row[i].ops && t->row[i].each.count == t->row[i].ops;
	return false;
}

static bool takes_direct_io(int dir)
{
	int fd = openat(dir, "try", O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);

	unlinkat(dir, "try", 0);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void test_run(int dir, const char *path)
{
	struct workload_opts opts = { .size = 2 * MIB, .time_ns = 1000000 };
	struct scores *t = xcalloc(1, sizeof(*t));
	struct work w = { .t = t, .o = &opts, .dir = dir };

	snprintf(w.path, sizeof(w.path), "%s", path);
	if (!ok(!barrier_run(&w) && !*t->error, "it runs"))
		diag("%s", t->error);
	ok(has_row(t, CARD_DEPTH, 1) && has_row(t, CARD_DEPTH, 4) && has_row(t, CARD_DEPTH, 16) &&
		   has_row(t, CARD_DEPTH, 32),
	   "flushes beside 1 to 32 writers");
	ok(has_row(t, CARD_BUSY, MIB), "flushes beside a stream of large writes");
	for (uint32_t i = 0; i < t->n_rows; i++)
		unlinkat(dir, t->row[i].file, 0);
	unlinkat(dir, "data", 0);
	free(t);
}

int main(void)
{
	char path[] = "/var/tmp/barriertrace_test.XXXXXX";
	int dir = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (!ok(dir >= 0, "a folder for it"))
		return tap_done();
	if (takes_direct_io(dir))
		test_run(dir, path);
	else
		ok(true, "it runs # SKIP %s takes no O_DIRECT", path);
	close(dir);
	ok(!rmdir(path), "and nothing else is left behind");
	return tap_done();
}
