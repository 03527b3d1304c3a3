// SPDX-License-Identifier: GPL-2.0-only
#include "model/outstanding.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/num.h"

static void add_time(struct buf *b, uint64_t ns, bool at_least)
{
	buf_printf(b, "for %s%s", at_least ? "at least " : "", num_duration(ns, 0).s);
}

void outstanding_who(const struct report_outstanding *o, struct buf *b)
{
	buf_printf(b, "%s (%u", *o->comm ? o->comm : "?", o->pid);
	if (o->tid != o->pid)
		buf_printf(b, ", thread %u", o->tid);
	buf_printf(b, ") has been in %s", o->call);
	if (o->path)
		buf_printf(b, " on %s", o->path);
	if (o->device)
		buf_printf(b, o->path ? " (%s)" : " on %s", o->device);
	buf_char(b, ' ');
	add_time(b, o->ns, o->before);
}

/* ---- what it waits for ---- */

/* "a FLUSH", "a write" */
static const char *request_name(const struct report_outstanding *o)
{
	static const struct {
		const char *op, *name;
	} names[] = {
		{ "flush", "a FLUSH" },	  { "write", "a write" },     { "read", "a read" },
		{ "fua", "a FUA write" }, { "discard", "a discard" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(o->op, names[i].op))
			return names[i].name;
	return "a request";
}

static void certain_request(const struct report_outstanding *o, struct buf *b)
{
	if (o->queued && !strcmp(o->op, "flush")) {
		buf_printf(b, "for a FLUSH that has not been sent to %s", o->disk);
		return;
	}
	buf_printf(b, "for %s that has been %s %s", request_name(o), o->queued ? "in the queue of" : "in", o->disk);
	if (o->request_ns) {
		buf_char(b, ' ');
		add_time(b, o->request_ns, o->request_before);
	}
}

/* What the disk has in flight, where that it is this which is waited for can only be supposed. */
static void likely_request(const struct report_outstanding *o, struct buf *b)
{
	if (!o->request_ns) {
		buf_printf(b, "%s has %s in flight", o->disk, request_name(o));
		return;
	}
	buf_printf(b, "%s has not completed %s ", o->disk, request_name(o));
	add_time(b, o->request_ns, o->request_before);
}

static const struct {
	const char *step, *words;
} steps[] = {
	{ "cpu", "It is running, or ready to run." },
	{ "tag", "It waits for a free request of the disk." },
	{ "throttle", "The kernel holds its I/O back (writeback throttling, or an I/O limit of a cgroup)." },
	{ "journal", "It waits for the journal." },
	{ "lock", "It waits for another task." },
	{ "flush", "It waits for a FLUSH." },
};

static void step_alone(const struct report_outstanding *o, struct buf *b)
{
	if (o->via) {
		buf_printf(b, "It waits for %s.", o->via);
		return;
	}
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (!strcmp(o->step, steps[i].step)) {
			buf_str(b, steps[i].words);
			return;
		}
	buf_str(b, "What it waits for is not known");
	if (o->where)
		buf_printf(b, ": it sleeps in %s", o->where);
	buf_char(b, '.');
}

void outstanding_wait(const struct report_outstanding *o, struct buf *b)
{
	if (!o->op) {
		step_alone(o, b);
		return;
	}
	buf_str(b, "It waits ");
	if (o->via)
		buf_printf(b, "for %s, %s", o->via, o->certain ? "which waits " : "and ");
	else if (!o->certain)
		buf_str(b, "for I/O, and ");
	if (o->certain)
		certain_request(o, b);
	else
		likely_request(o, b);
	buf_char(b, '.');
}

enum cause_family outstanding_family(const struct report_outstanding *o)
{
	for (enum cause c = 0; c < CAUSE_COUNT; c++)
		if (!strcmp(o->step, cause_name(c)))
			return cause_family(c);
	for (enum cause_family f = 0; f < FAMILY_COUNT; f++)
		if (!strcmp(o->step, family_name(f)))
			return f;
	return FAMILY_UNKNOWN;
}

void outstanding_free(struct report_outstanding *o, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free_all(o[i].comm, o[i].cmdline, o[i].call, o[i].path, o[i].device, o[i].step, o[i].where, o[i].via,
			 o[i].op, o[i].disk);
	free(o);
}
/* ---- what a disk has in flight ---- */

void in_flight_words(const struct requests_in_flight *n, struct buf *b)
{
	static const struct {
		enum op_row row;
		const char *one, *many;
	} kinds[] = {
		{ ROW_FLUSH, "FLUSH", "FLUSHes" },
		{ ROW_WRITE, "write", "writes" },
		{ ROW_READ, "read", "reads" },
		{ ROW_DISCARD, "discard", "discards" },
		{ ROW_OTHER, "other request", "other requests" },
	};
	size_t left = 0, said = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		left += n->have && n->n[kinds[i].row];
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && left; i++) {
		uint64_t count = n->n[kinds[i].row];

		if (!count)
			continue;
		buf_printf(b, "%s%s %s",
			   !said++   ? "" :
			   left == 1 ? " and " :
				       ", ",
			   num_count(count).s, count == 1 ? kinds[i].one : kinds[i].many);
		left--;
	}
}

bool in_flight_any(const struct requests_in_flight *n)
{
	for (int i = 0; n->have && i < OP_ROWS; i++)
		if (n->n[i])
			return true;
	return false;
}
