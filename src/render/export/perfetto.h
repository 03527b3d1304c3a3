/* SPDX-License-Identifier: GPL-2.0-only */
/* perfetto.h - what the files of the trace output share. Private to them. */
#ifndef BT_RENDER_EXPORT_PERFETTO_H
#define BT_RENDER_EXPORT_PERFETTO_H

#include "render/render.h"

/* Beyond any pid of the kernel (PID_MAX_LIMIT is 2^22): devices, and lanes beside a task's own track. */
#define TRACE_FIRST_PID ((1u << 22) + 1)
#define TRACE_FIRST_TID (1u << 23)

struct trace_track {
	uint32_t pid, tid;
};

/* Where a FLUSH stands in the trace. */
struct trace_flush {
	enum cause role; /* CAUSE_FLUSH_PRE, _POST, _ONLY */
	uint32_t device;
	uint64_t issue_ns, done_ns;
	uint32_t request;
};

/* From what waits to what it waits for. */
struct trace_arrow {
	struct trace_track from, to;
	uint64_t at;
};

struct trace {
	const struct report_detail *d;
	struct buf *out;
	bool any; /* an event stands in `out` */
	uint32_t next_tid;
	struct trace_track *request; /* of each request */
	struct trace_flush *flush;   /* by role, device and end */
	size_t n_flushes;
	struct trace_arrow *flow; /* behind all slices, for their ends must be there already */
	size_t n_flows;
};

/* perfetto_event.c */
/* A number for JSON: the nearest that its readers take. */
static inline uint64_t trace_number(uint64_t v)
{
	return v > INT64_MAX ? INT64_MAX : v;
}

void trace_string(struct buf *b, const char *raw); /* a JSON string, quotes included */
void trace_name(struct trace *t, const char *what, struct trace_track where, const char *name);

/* An X slice up to and with `"args":{`; the caller adds members and trace_close()s it. */
void trace_open(struct trace *t, struct trace_track where, const char *cat, const char *name, uint64_t from, uint64_t ns);
void trace_close(struct trace *t);
void trace_flow(struct trace *t, struct trace_track from, struct trace_track to, uint64_t at);
void trace_flows(struct trace *t); /* writes those that have been noted */

/*
 * Lanes: slices on one track must nest, so those that overlap go to different ones. To be asked in order of begins;
 * gives the first lane that is free.
 */
struct trace_lanes {
	uint64_t *end;
	size_t n;
};

size_t trace_lane(struct trace_lanes *l, uint64_t from, uint64_t to);
void trace_lanes_free(struct trace_lanes *l);

/* perfetto_requests.c: gives each request its track and finds the FLUSHes; then writes them */
void trace_plan_requests(struct trace *t);
void trace_requests(struct trace *t);

/* The FLUSH that a slice of a call was spent in; NULL: none that is known for certain. */
const struct trace_flush *trace_find_flush(const struct trace *t, const struct detail_slice *s, uint64_t from);

/* perfetto_calls.c */
void trace_calls(struct trace *t);

#endif
