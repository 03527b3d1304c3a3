// SPDX-License-Identifier: GPL-2.0-only
#include "table.h"

/*
 * Tracepoints only: they work where fentry is refused and kprobes are absent. The classic tracepoint is no
 * rung here: it hands over formatted fields and not the request, so a FLUSH could not be matched to anything.
 */
const char *const rung_names[RUNG_COUNT] = {
	[RUNG_TP_BTF] = "tp_btf",
	[RUNG_RAW_TP] = "raw_tp",
};

#define RUNGS(program) { [RUNG_TP_BTF] = program "_btf", [RUNG_RAW_TP] = program "_raw" }

const struct probe_row probe_table[PROBE_COUNT] = {
	[PROBE_RQ_COMPLETE] = {
		.name = "request.complete", .event = "block_rq_complete", .program = RUNGS("rq_complete"),
		.required = true,
	},
	[PROBE_RQ_ISSUE] = {
		.name = "request.issue", .event = "block_rq_issue", .program = RUNGS("rq_issue"),
		.required = true,
	},
	[PROBE_RQ_INSERT] = {
		.name = "request.insert", .event = "block_rq_insert", .program = RUNGS("rq_insert"),
		.required = true,
	},
	[PROBE_RQ_REQUEUE] = {
		.name = "request.requeue", .event = "block_rq_requeue", .program = RUNGS("rq_requeue"),
		.without = "requeued requests are not counted",
	},
	[PROBE_RQ_MERGE] = {
		.name = "request.merge", .event = "block_rq_merge", .program = RUNGS("rq_merge"),
		.without = "merged requests are not counted",
	},
	[PROBE_IO_START] = {
		.name = "request.start", .event = "block_io_start", .program = RUNGS("io_start"),
		.without = "a request's sender is taken where it is inserted or issued",
	},
	[PROBE_BIO_QUEUE] = {
		.name = "bio.queue", .event = "block_bio_queue", .program = RUNGS("bio_queue"),
		.without = "dm, md and other bio-based disks show nothing",
	},
	[PROBE_BIO_COMPLETE] = {
		.name = "bio.complete", .event = "block_bio_complete", .program = RUNGS("bio_complete"),
		.without = "dm, md and other bio-based disks show nothing",
	},
	[PROBE_FORK] = {
		.name = "task.fork", .event = "sched_process_fork", .program = RUNGS("fork"),
		.without = "the command's children are not followed",
	},
	[PROBE_EXIT] = {
		.name = "task.exit", .event = "sched_process_exit", .program = RUNGS("exit"),
		.without = "a reused process number can be taken for the command's",
	},
};
