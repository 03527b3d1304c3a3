// SPDX-License-Identifier: GPL-2.0-only
/* perfetto_event.c - single events of the trace, one on a line, and lanes. */
#include <inttypes.h>
#include <stdlib.h>

#include "util/mem.h"
#include "render/export/perfetto.h"
#include "util/utf8.h"

/* Pairs of surrogates would be valid JSON, but Perfetto's parser refuses them: what is beyond ASCII stays as it is. */
void trace_string(struct buf *b, const char *raw)
{
	uint32_t cp;
	size_t len;

	buf_char(b, '"');
	for (; *raw; raw += len) {
		len = utf8_decode(raw, &cp);
		if (cp == UTF8_BAD)
			buf_str(b, "\xef\xbf\xbd");
		else if (cp == '"' || cp == '\\')
			buf_printf(b, "\\%c", (int)cp);
		else if (cp < 0x20 || (cp >= 0x7f && cp <= 0x9f))
			buf_printf(b, "\\u%04x", cp);
		else
			buf_add(b, raw, len);
	}
	buf_char(b, '"');
}

/* Microseconds with three decimals */
static void trace_us(struct buf *b, uint64_t ns)
{
	buf_printf(b, "%" PRIu64 ".%03u", ns / 1000, (unsigned int)(ns % 1000));
}

static void begin(struct trace *t, char ph, struct trace_track where)
{
	buf_printf(t->out, "%s\n{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u", t->any ? "," : "", ph, where.pid, where.tid);
	t->any = true;
}

void trace_name(struct trace *t, const char *what, struct trace_track where, const char *name)
{
	begin(t, 'M', where);
	buf_printf(t->out, ",\"name\":\"%s\",\"args\":{\"name\":", what);
	trace_string(t->out, name);
	trace_close(t);
}

void trace_open(struct trace *t, struct trace_track where, const char *cat, const char *name, uint64_t from, uint64_t ns)
{
	begin(t, 'X', where);
	buf_str(t->out, ",\"ts\":");
	trace_us(t->out, from);
	buf_str(t->out, ",\"dur\":");
	trace_us(t->out, ns);
	buf_str(t->out, ",\"cat\":");
	trace_string(t->out, cat);
	buf_str(t->out, ",\"name\":");
	trace_string(t->out, name);
	buf_str(t->out, ",\"args\":{");
}

void trace_close(struct trace *t)
{
	buf_str(t->out, "}}");
}

static void flow_end(struct trace *t, const char *ph, size_t id, struct trace_track where, uint64_t at)
{
	buf_printf(t->out, ",\n{\"ph\":%s,\"id\":%zu,\"pid\":%u,\"tid\":%u,\"ts\":", ph, id, where.pid, where.tid);
	trace_us(t->out, at);
	buf_str(t->out, ",\"cat\":\"flush\",\"name\":\"waits for\"}");
}

void trace_flow(struct trace *t, struct trace_track from, struct trace_track to, uint64_t at)
{
	struct trace_arrow *new = grow((void **)&t->flow, &t->n_flows, sizeof(*new));

	*new = (struct trace_arrow){ from, to, at };
}

/* Both ends at one time, at which both slices are open: a reader drops an arrow that points back in time. */
void trace_flows(struct trace *t)
{
	for (size_t i = 0; i < t->n_flows; i++) {
		flow_end(t, "\"s\"", i + 1, t->flow[i].from, t->flow[i].at);
		flow_end(t, "\"f\",\"bp\":\"e\"", i + 1, t->flow[i].to, t->flow[i].at);
	}
}

size_t trace_lane(struct trace_lanes *l, uint64_t from, uint64_t to)
{
	size_t i = 0;

	while (i < l->n && l->end[i] > from)
		i++;
	if (i == l->n)
		grow((void **)&l->end, &l->n, sizeof(*l->end));
	l->end[i] = to;
	return i;
}

void trace_lanes_free(struct trace_lanes *l)
{
	free(l->end);
	*l = (struct trace_lanes){ 0 };
}
