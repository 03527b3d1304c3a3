// SPDX-License-Identifier: GPL-2.0-only
#include "model/report.h"

#include "model/outstanding.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "wire.h"

/* clang-format off */
static const char *const row_names[OP_ROWS] = {
	[ROW_READ] = "read",
	[ROW_WRITE] = "write",
	[ROW_FUA] = "fua",
	[ROW_FLUSH] = "flush",
	[ROW_DISCARD] = "discard",
	[ROW_OTHER] = "other",
};

static const struct {
	enum op_row row;
	const char *name, *kind;
} classes[OP_CLASSES] = {
	[OP_READ_SYNC] = { ROW_READ, "read", "sync" },
	[OP_READ_ASYNC] = { ROW_READ, "read-ahead", "async" },
	[OP_WRITE_SYNC] = { ROW_WRITE, "write sync", "sync" },
	[OP_WRITE_ASYNC] = { ROW_WRITE, "write async", "async" },
	[OP_WRITE_BARRIER] = { ROW_WRITE, "write barrier", "barrier" },
	[OP_FUA] = { ROW_FUA, "write fua", NULL },
	[OP_FLUSH] = { ROW_FLUSH, "flush", NULL },
	[OP_DISCARD] = { ROW_DISCARD, "discard", NULL },
	[OP_OTHER] = { ROW_OTHER, "other", NULL },
};
/* clang-format on */

const char *op_row_name(enum op_row row)
{
	return row_names[row];
}

enum op_row op_class_row(enum op_class c)
{
	return classes[c].row;
}

const char *op_class_name(enum op_class c)
{
	return classes[c].name;
}

const char *op_class_kind(enum op_class c)
{
	return classes[c].kind;
}

uint64_t report_device_requests(const struct report_device *d)
{
	uint64_t n = 0;

	for (int c = 0; c < OP_CLASSES; c++)
		n += d->op[c].count;
	return n;
}

uint64_t report_device_sent(const struct report_device *d)
{
	uint64_t all = report_device_requests(d) - d->op[OP_FLUSH].count;
	uint64_t sequences = d->flush.sequence.count;

	return all + (sequences > d->flush.barrier_writes ? sequences - d->flush.barrier_writes : 0);
}

uint64_t report_device_weight(const struct report_device *d, enum op_class c)
{
	return d->bio_based ? d->op[c].total.sum : d->op[c].device.sum;
}

void report_device_by_weight(const struct report_device *d, enum op_class order[OP_CLASSES])
{
	for (int c = 0; c < OP_CLASSES; c++) {
		int at = c;

		for (; at && report_device_weight(d, order[at - 1]) < report_device_weight(d, (enum op_class)c); at--)
			order[at] = order[at - 1];
		order[at] = (enum op_class)c;
	}
}

bool report_may_lack_calls(const struct report *r)
{
	return r->sync.lost || r->incomplete;
}

const char *report_no_devices(const struct report *r)
{
	return r->filter ? "No I/O of the filtered tasks was seen on any disk." : "No I/O was seen on any disk.";
}

uint64_t report_device_depths(const struct report_device *d)
{
	uint64_t flushes = d->op[OP_FLUSH].count;

	return flushes > d->flush.no_depth ? flushes - d->flush.no_depth : 0;
}

/*
 * Both begin when the FLUSH is set up (start_time_ns, of blk_rq_init() in blk_kick_flush()). The kernel's ends in
 * flush_end_io(), after the tracepoint where ours does and what is traced there: 0.6 to 1.7 us a FLUSH later, measured on
 * 6.18 with 1 to 6 waiters each. Its counters are read in whole ms, twice. And of a FLUSH that was under way when the run
 * began only the kernel may know the time: of few that can be a tenth.
 */
bool report_flushes_agree(const struct report_device *d)
{
	const struct report_kernel *k = &d->kernel;
	uint64_t n = d->op[OP_FLUSH].count;

	return n >= k->flushes && n - k->flushes <= k->edge_flushes;
}

bool report_flush_times_agree(const struct report_device *d)
{
	uint64_t kernel = d->kernel.flush_ns, ours = d->op[OP_FLUSH].total.sum;
	uint64_t apart = kernel > ours ? kernel - ours : ours - kernel;

	if (d->op[OP_FLUSH].count != d->kernel.flushes)
		return true; /* not of the same ones */
	return apart <= kernel / 10 + d->kernel.flushes * 3000 + 2000000;
}

void report_device_op(const struct report_device *d, enum op_class c, struct report_op *out)
{
	const struct report_op_tally *op = &d->op[c];

	out->count = op->count;
	out->bytes = op->bytes;
	tally_hist(&op->queue, &out->queue);
	tally_hist(&op->device, &out->device);
	tally_hist(&op->total, &out->total);
}

void report_device_row(const struct report_device *d, enum op_row row, struct report_op *out)
{
	memset(out, 0, sizeof(*out));
	for (int c = 0; c < OP_CLASSES; c++) {
		const struct report_op_tally *op = &d->op[c];

		if (classes[c].row != row)
			continue;
		out->count += op->count;
		out->bytes += op->bytes;
		hist_merge_tally(&out->queue, &op->queue);
		hist_merge_tally(&out->device, &op->device);
		hist_merge_tally(&out->total, &op->total);
	}
}

const struct cause_row cause_rows[CAUSE_COUNT] = {
	[CAUSE_CPU] = { "cpu", FAMILY_HOST, "running, itself or a task that it waited for" },
	[CAUSE_RUNQ] = { "runq", FAMILY_CPU_SCHEDULER, "ready to run, waiting for a CPU" },
	[CAUSE_WORKER] = { "worker", FAMILY_CPU_SCHEDULER, "work queued, no kernel worker at it yet" },
	[CAUSE_THROTTLE] = { "throttle", FAMILY_IO_SCHEDULER, "held back by wbt, iocost, io.max or io.latency" },
	[CAUSE_TAG] = { "tag", FAMILY_IO_SCHEDULER, "waiting for a free request" },
	[CAUSE_IOQ] = { "ioq", FAMILY_IO_SCHEDULER, "request inserted and not yet issued" },
	[CAUSE_DEVICE_READ] = { "device.read", FAMILY_DEVICE, "a read was in the device" },
	[CAUSE_DEVICE_WRITE] = { "device.write", FAMILY_DEVICE, "a write was in the device" },
	[CAUSE_DEVICE_FUA] = { "device.fua", FAMILY_DEVICE, "a FUA write was in the device" },
	[CAUSE_DEVICE_DISCARD] = { "device.discard", FAMILY_DEVICE, "a discard was in the device" },
	[CAUSE_DEVICE_OTHER] = { "device.other", FAMILY_DEVICE, "another request was in the device" },
	[CAUSE_FLUSH_WAIT] = { "flush.wait", FAMILY_FLUSH, "the flush was held back by a flush or data in flight" },
	[CAUSE_FLUSH_PRE] = { "flush.pre", FAMILY_FLUSH, "FLUSH in the device, before a commit record" },
	[CAUSE_FLUSH_POST] = { "flush.post", FAMILY_FLUSH, "FLUSH in the device, after it (emulated FUA)" },
	[CAUSE_FLUSH_ONLY] = { "flush.only", FAMILY_FLUSH, "FLUSH in the device, on its own" },
	[CAUSE_COMPLETION] = { "completion", FAMILY_HOST, "device done, the waiter not yet told" },
	[CAUSE_JOURNAL] = { "journal", FAMILY_FILE_SYSTEM, "waiting for the journal, no I/O of it outstanding" },
	[CAUSE_LOCK] = { "lock", FAMILY_HOST, "asleep for another task" },
	[CAUSE_UNKNOWN] = { "unknown", FAMILY_UNKNOWN, "not explained" },
};

static const char *const families[FAMILY_COUNT] = {
	[FAMILY_HOST] = "host",
	[FAMILY_CPU_SCHEDULER] = "CPU scheduler",
	[FAMILY_IO_SCHEDULER] = "I/O scheduler",
	[FAMILY_DEVICE] = "device",
	[FAMILY_FLUSH] = "flush",
	[FAMILY_FILE_SYSTEM] = "file system",
	[FAMILY_UNKNOWN] = "unknown",
};

/* clang-format off */
static const char *const calls[CALL_COUNT] = {
	[CALL_FSYNC] = "fsync",
	[CALL_FDATASYNC] = "fdatasync",
	[CALL_MSYNC] = "msync",
	[CALL_SYNC] = "sync",
	[CALL_SYNCFS] = "syncfs",
	[CALL_SYNC_FILE_RANGE] = "sync_file_range",
	[CALL_WRITE] = "write",
	[CALL_URING_FSYNC] = "io_uring fsync",
	[CALL_AIO_FSYNC] = "aio fsync",
	[CALL_KERNEL_FSYNC] = "kernel fsync",
};
/* clang-format on */

const char *cause_name(enum cause c)
{
	return cause_rows[c].name;
}

const char *cause_help(enum cause c)
{
	return cause_rows[c].help;
}

const char *family_name(enum cause_family f)
{
	return families[f];
}

const char *call_name(unsigned int call)
{
	return call < CALL_COUNT && calls[call] ? calls[call] : "unknown call";
}

uint64_t ledger_sum(const struct ledger *l)
{
	uint64_t sum = 0;

#pragma GCC unroll 32 /* for each call, as the next */
	for (int c = 0; c < CAUSE_COUNT; c++)
		sum += l->ns[c];
	return sum;
}

void ledger_add(struct ledger *to, const struct ledger *from)
{
#pragma GCC unroll 32
	for (int c = 0; c < CAUSE_COUNT; c++)
		to->ns[c] += from->ns[c];
}

size_t ledger_causes(const struct ledger *l, enum cause order[CAUSE_COUNT])
{
	size_t n = 0;

	for (enum cause c = 0; c < CAUSE_COUNT; c++) {
		size_t at = n;

		if (!l->ns[c])
			continue;
		for (; at && l->ns[order[at - 1]] < l->ns[c]; at--)
			order[at] = order[at - 1];
		order[at] = c;
		n++;
	}
	return n;
}

const enum cause volume_causes[VOLUME_CAUSES] = { CAUSE_DEVICE_WRITE, CAUSE_DEVICE_FUA, CAUSE_TAG, CAUSE_IOQ };

uint64_t volume_wait(const struct volume *v)
{
	uint64_t ns = 0;

	for (int i = 0; i < VOLUME_CAUSES; i++)
		ns += v->wait_ns[i];
	return ns;
}

void call_sums_add(struct call_sums *to, const struct call_sums *calls)
{
	to->count += calls->count;
	to->total_ns += calls->total_ns;
	to->unsafe += calls->unsafe;
	to->unsafe_ns += calls->unsafe_ns;
	to->durable += calls->durable;
	to->volume.calls += calls->volume.calls;
	to->volume.total_ns += calls->volume.total_ns;
	to->volume.writes += calls->volume.writes;
	to->volume.bytes += calls->volume.bytes;
	for (int i = 0; i < VOLUME_CAUSES; i++)
		to->volume.wait_ns[i] += calls->volume.wait_ns[i];
	ledger_add(&to->ledger, &calls->ledger);
}

uint64_t ledger_family(const struct ledger *l, enum cause_family f)
{
	uint64_t sum = 0;

	for (int c = 0; c < CAUSE_COUNT; c++)
		if (cause_rows[c].family == f)
			sum += l->ns[c];
	return sum;
}

const char *probe_state_name(enum probe_state s)
{
	static const char *const names[] = {
		[PROBE_ATTACHED] = "attached",
		[PROBE_REFUSED] = "refused",
		[PROBE_ABSENT] = "absent",
		[PROBE_OFF] = "off",
	};

	return names[s];
}

void report_add_lost(struct report *r, uint64_t count, enum loss_reach reach, const char *reason)
{
	struct report_lost *l = NULL;

	if (!count)
		return;
	for (size_t i = 0; i < r->n_lost && !l; i++)
		if (!strcmp(r->lost[i].reason, reason))
			l = &r->lost[i];
	if (!l) {
		l = grow((void **)&r->lost, &r->n_lost, sizeof(*l));
		l->count = 0;
		l->reason = xstrdup(reason);
		l->reach = reach;
		l->at_most = -1;
	}
	l->count += count;
	r->lost_events += count;
}

const char *heat_class_name(enum heat_class c)
{
	static const char *const names[HEAT_CLASSES] = {
		[HEAT_READ] = "read",
		[HEAT_WRITE] = "write",
		[HEAT_FUA] = "fua",
		[HEAT_FLUSH] = "flush",
	};

	return names[c];
}

static void device_tallies_free(struct report_device *d)
{
	for (int c = 0; c < OP_CLASSES; c++) {
		tally_free(&d->op[c].queue);
		tally_free(&d->op[c].device);
		tally_free(&d->op[c].total);
	}
	tally_free(&d->naive_write);
	tally_free(&d->flush.slot_wait);
	tally_free(&d->flush.slot_wait_flush);
	tally_free(&d->flush.slot_wait_data);
	tally_free(&d->flush.sequence);
}

void report_device_free(struct report_device *d)
{
	device_tallies_free(d);
	for (int c = 0; c < HEAT_CLASSES; c++)
		free(d->heat[c]);
	free_all(d->model, d->write_cache, d->scheduler, d->via, d->disk);
	strv_free(d->slaves);
	for (size_t i = 0; i < d->n_mounts; i++)
		free_all(d->mounts[i].dir, d->mounts[i].fstype, d->mounts[i].options, d->mounts[i].barrier);
	free(d->mounts);
}

void report_group_free(struct report_group *g)
{
	free_all(g->comm, g->path, g->device);
	tally_free(&g->latency);
}

static void sync_free(struct report_sync *s)
{
	for (size_t i = 0; i < s->n_processes; i++)
		report_group_free(&s->process[i]);
	for (size_t i = 0; i < s->n_files; i++)
		report_group_free(&s->file[i]);
	for (size_t i = 0; i < s->n_slowest; i++)
		free_all(s->slowest[i].comm, s->slowest[i].call, s->slowest[i].path, s->slowest[i].device);
	free_all(s->process, s->file, s->slowest, s->sample, s->tail.path, s->tail.comm, s->tail.sentence);
	for (size_t i = 0; i < s->n_leaves; i++) {
		free(s->leaf[i].path);
		tally_free(&s->leaf[i].each);
	}
	free_all(s->leaf, s->heat, s->other);
}

void report_probes_free(struct report_probe *probe, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free_all(probe[i].name, probe[i].rung, probe[i].could, probe[i].reason);
	free(probe);
}

void report_free(struct report *r)
{
	if (!r)
		return;
	sync_free(&r->sync);
	report_detail_free(r->detail);
	for (size_t i = 0; i < r->n_whatif; i++)
		free(r->whatif[i].remove);
	strv_free(r->verdict.evidence);
	strv_free(r->verdict.advice);
	for (size_t i = 0; i < r->n_devices; i++)
		report_device_free(&r->device[i]);
	report_probes_free(r->probe, r->n_probes);
	for (size_t i = 0; i < r->n_lost; i++)
		free(r->lost[i].reason);
	strv_free(r->command);
	strv_free(r->notes);
	free_all(r->whatif, r->verdict.sentence, r->device, r->lost, r->version, r->start, r->kernel, r->arch, r->filter);
	outstanding_free(r->outstanding, r->n_outstanding);
	memset(r, 0, sizeof(*r));
}
