// SPDX-License-Identifier: GPL-2.0-only
/* workload_table.c - the workloads, and the scores that they share with the tool. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/workdir.h"
#include "bench/workload_list.h"
#include "host/command.h"

const struct workload workloads[] = {
	{ .name = "barrier",
	  .summary = "the barrier card of a disk: what a flush costs, and whether it is believable",
	  .takes = TAKES_SIZE | TAKES_TIME | TAKES_DISCARD,
	  .size = 256 * MIB,
	  .time_ns = 30 * SECOND,
	  .need = barrier_need,
	  .run = barrier_run },
	{ .name = "sync",
	  .summary = "what pg_test_fsync tests: ways to make writes durable",
	  .takes = TAKES_TIME,
	  .time_ns = 16 * SECOND,
	  .need = sync_need,
	  .run = sync_run },
	{ .name = "sqlite",
	  .summary = "pts/sqlite: 12,500 inserts, each a transaction",
	  .unit = "inserts",
	  .takes = TAKES_SQLITE | TAKES_TIME,
	  .need = sqlite_need,
	  .run = sqlite_run },
	{ .name = "etcd",
	  .summary = "fio as etcd's log: writes of 2,300 bytes, each with fdatasync",
	  .unit = "writes",
	  .takes = TAKES_SIZE | TAKES_TIME,
	  .size = 22 * MIB,
	  .time_ns = 60 * SECOND,
	  .tool = "fio",
	  .need = fio_need,
	  .run = etcd_run },
	{ .name = "ars",
	  .summary = "Ars Technica's three fio recipes, each also with fsync=1",
	  .takes = TAKES_SIZE | TAKES_TIME,
	  .size = 1024 * MIB,
	  .time_ns = 60 * SECOND,
	  .tool = "fio",
	  .need = fio_need,
	  .run = ars_run },
	{ 0 },
};

const struct workload *workload_find(const char *name)
{
	for (const struct workload *w = workloads; w->name; w++)
		if (!strcmp(w->name, name))
			return w;
	return NULL;
}

int workload_allowed(const struct workload *w, const struct workload_opts *o, struct err *e)
{
	if (w->tool && !command_in_path(w->tool, X_OK))
		return err_set(e, ENOENT, EXIT_NOT_FOUND, "%s runs %s, which is not installed; on Debian: apt install %s",
			       w->name, w->tool, w->tool);
	return place_allowed(o, w->need(o), w->takes & TAKES_SIZE, e);
}

/* ---- the scores ---- */

int scores_new(struct scores **t, int *fd, struct err *e)
{
	*t = MAP_FAILED;
	*fd = memfd_create("barriertrace-scores", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	/* of a size for good: the other process is not to take it from under us */
	if (*fd >= 0 && !ftruncate(*fd, sizeof(**t)) && !fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		*t = mmap(NULL, sizeof(**t), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (*t != MAP_FAILED) {
		(*t)->magic = SCORES_MAGIC;
		(*t)->bytes = sizeof(**t);
		return 0;
	}
	*t = NULL;
	return err_set(e, errno, EXIT_FAILED, "no memory to share with a workload: %s", strerror(errno));
}

void scores_free(struct scores *t, int fd)
{
	if (t)
		munmap(t, sizeof(*t));
	if (fd >= 0)
		close(fd);
}

#define END(array) ((array)[sizeof(array) - 1] = 0)

void scores_check(struct scores *t)
{
	END(t->phase);
	END(t->tool);
	END(t->error);
	if (t->n_rows > SCORES_ROWS)
		t->n_rows = SCORES_ROWS;
	for (uint32_t i = 0; i < t->n_rows; i++) {
		END(t->row[i].name);
		END(t->row[i].file);
		END(t->row[i].missing);
	}
}
