// SPDX-License-Identifier: GPL-2.0-only
/*
 * perfetto.c - every sync call and every request that was waited for, as a trace for Perfetto and others that read
 * Chrome's JSON: a process per process and per device, a track per task, lanes for requests.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "render/export/perfetto.h"

/* A string member, the comma behind it included; nothing if it is not known. The last one's goes away in the end. */
static void member(struct buf *out, const char *key, const char *raw)
{
	if (!raw)
		return;
	buf_printf(out, "\"%s\":", key);
	trace_string(out, raw);
	buf_char(out, ',');
}

static void command(struct buf *out, char *const *v)
{
	if (!v)
		return;
	buf_str(out, "\"command\":[");
	for (size_t i = 0; v[i]; i++) {
		if (i)
			buf_char(out, ',');
		trace_string(out, v[i]);
	}
	buf_str(out, "],");
}

static void left_out(struct buf *out, const char *what, uint64_t n)
{
	buf_printf(out, "\"%s_left_out\":%" PRIu64 ",", what, trace_number(n));
}

static void members(const struct report *r, struct buf *out)
{
	const struct report_detail *d = r->detail;

	member(out, "version", r->version);
	member(out, "start", r->start);
	member(out, "kernel", r->kernel);
	member(out, "arch", r->arch);
	command(out, r->command);
	if (d) {
		left_out(out, "calls", d->calls_left_out);
		left_out(out, "slices", d->slices_left_out);
		left_out(out, "requests", d->requests_left_out);
	}
	if (r->wall_ns)
		buf_printf(out, "\"wall_ns\":%" PRIu64 ",", trace_number(r->wall_ns));
}

static void head(const struct report *r, struct buf *out)
{
	struct buf b = { 0 };

	members(r, &b);
	buf_str(out, "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{");
	buf_add(out, b.data, b.len ? b.len - 1 : 0);
	buf_str(out, "},\n\"traceEvents\":[");
	buf_free(&b);
}

void render_perfetto(const struct report *r, const struct render_opts *o, struct buf *out)
{
	struct trace t = { .d = r->detail, .out = out, .next_tid = TRACE_FIRST_TID };

	(void)o;
	head(r, out);
	if (r->detail) {
		trace_plan_requests(&t);
		trace_calls(&t);
		trace_requests(&t);
		trace_flows(&t);
	}
	buf_str(out, "\n]}\n");
	free(t.request);
	free(t.flush);
	free(t.flow);
}
