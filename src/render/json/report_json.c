// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_json.c - the public document, schema 1. What is not known, and what did not happen, is left out.
 */
#include <string.h>
#include <stdlib.h>

#include "model/report_fields.h"
#include "render/json_put.h"

static json_t *op_json(const struct report_op *op)
{
	json_t *j = xmust(json_object());

	put_u64(j, "count", op->count);
	put_u64(j, "bytes", op->bytes);
	put_hist(j, "queue", &op->queue);
	put_hist(j, "device", &op->device);
	put_hist(j, "total", &op->total);
	return j;
}

/* Rows that are made of several classes show each of them, too. */
static json_t *ops_json(const struct report_device *d)
{
	json_t *ops = xmust(json_object());

	for (enum op_row row = 0; row < OP_ROWS; row++) {
		struct report_op sum, part;
		json_t *j;

		report_device_row(d, row, &sum);
		if (!sum.count)
			continue;
		j = op_json(&sum);
		for (enum op_class c = 0; c < OP_CLASSES; c++) {
			if (op_class_row(c) != row || !op_class_kind(c) || !d->op[c].count)
				continue;
			report_device_op(d, c, &part);
			put(j, op_class_kind(c), op_json(&part));
		}
		put(ops, op_row_name(row), j);
	}
	return ops;
}

/* Absent on a device where the machinery did nothing, or that has none (dm, md). */
static void put_flush(json_t *o, const struct report_flush *f)
{
	json_t *j;

	if (!f->pre && !f->post && !f->only && !f->mixed && !f->unknown && !f->waiters && !f->barrier_writes)
		return;
	j = xmust(json_object());
	put_fields(j, report_flush_role_fields, f);
	put_if(j, "in_flight_unknown", f->no_depth);
	put_fields(j, report_flush_barrier_fields, f);
	if (f->barrier_writes && f->barrier_flushes)
		put(j, "flushes_per_commit", json_real((double)f->barrier_flushes / (double)f->barrier_writes));
	put_u64(j, "native_fua", f->native_fua);
	put_tally(j, "slot_wait", &f->slot_wait);
	put_tally(j, "slot_wait_flush", &f->slot_wait_flush);
	put_tally(j, "slot_wait_data", &f->slot_wait_data);
	put_tally(j, "sequence", &f->sequence);
	put(o, "flush", j);
}

static void put_mounts(json_t *o, const struct report_device *d)
{
	json_t *a = xmust(json_array());

	for (size_t i = 0; i < d->n_mounts; i++) {
		json_t *m = xmust(json_object());

		put_fields(m, report_mount_fields, &d->mounts[i]);
		push(a, m);
	}
	put_filled(o, "mounts", a);
}

static json_t *device_json(const struct report *r, const struct report_device *d)
{
	json_t *j = xmust(json_object()), *kernel = xmust(json_object());

	put_fields(j, report_device_name_fields, d);
	put_fields(j, report_device_since_fields, d);
	put_fields(j, report_device_facts_fields, d);
	put_mounts(j, d);
	put_fields(kernel, report_kernel_fields, &d->kernel);
	put_filled(j, "kernel", kernel);
	put_flush(j, &d->flush);
	put_filled(j, "ops", ops_json(d));
	put_tally(j, "naive_write", &d->naive_write);
	if (!d->bio_based) { /* bios are neither merged nor requeued */
		put_u64(j, "requeues", d->requeues);
		put_u64(j, "merges", d->merges);
	}
	put_in_flight(j, &d->in_flight);
	put_u64(j, "errors", d->errors);
	put_u64(j, "unpaired", d->unpaired);
	if (r->command)
		put_u64(j, "by_command", d->by_command);
	return j;
}

static void put_lost(json_t *run, const struct report *r)
{
	json_t *a = xmust(json_array());

	put_u64(run, "lost_events", r->lost_events);
	for (size_t i = 0; i < r->n_lost; i++) {
		json_t *l = xmust(json_object());

		put_str(l, "reason", r->lost[i].reason);
		put_u64(l, "count", r->lost[i].count);
		if (r->lost[i].at_most >= 0)
			put(l, "at_most_share", json_real(r->lost[i].at_most));
		push(a, l);
	}
	put_filled(run, "lost", a);
}

static void put_interval(json_t *run, const struct report *r)
{
	json_t *j;

	if (!r->interval || r->final || !(r->interval_start_s >= 0 && r->interval_start_s < 9e9))
		return;
	j = xmust(json_object());
	put(j, "start_ns", json_integer((json_int_t)llround(r->interval_start_s * 1e9)));
	put(run, "interval", j);
}

void put_command(json_t *o, char *const *command, bool arguments_hidden)
{
	put_strv(o, "command", command);
	if (arguments_hidden)
		put(o, "arguments_hidden", json_true());
}

static json_t *run_json(const struct report *r)
{
	json_t *j = xmust(json_object());

	put_str(j, "start", r->start);
	put_if(j, "wall_ns", r->wall_ns);
	put_interval(j, r);
	put_command(j, r->command, r->arguments_hidden);
	if (r->have_exit_status)
		put(j, "exit_status", json_integer(r->exit_status));
	if (r->command) {
		put_u64(j, "processes", r->processes);
		put_u64(j, "threads", r->threads);
	}
	put_str(j, "filter", r->filter);
	put_str(j, "kernel", r->kernel);
	put_str(j, "arch", r->arch);
	put_lost(j, r);
	put(j, "incomplete", json_boolean(r->incomplete));
	put_strv(j, "notes", r->notes);
	return j;
}

void put_probes(json_t *o, const struct report_probe *p, size_t n)
{
	json_t *a = xmust(json_array());

	for (size_t i = 0; i < n; i++) {
		json_t *j = xmust(json_object());

		put_str(j, "name", p[i].name);
		put_str(j, "rung", p[i].rung);
		put_str(j, "state", probe_state_name(p[i].state));
		put_str(j, "reason", p[i].reason);
		push(a, j);
	}
	put_filled(o, "probes", a);
}

static json_t *head_json(const struct report *r)
{
	json_t *doc = json_start(r->version, NULL);

	if (r->interval && r->final)
		put(doc, "final", json_true());
	put(doc, "run", run_json(r));
	put_probes(doc, r->probe, r->n_probes);
	return doc;
}

json_t *report_json(const struct report *r)
{
	json_t *doc = head_json(r), *devices = xmust(json_array());

	for (size_t i = 0; i < r->n_devices; i++)
		push(devices, device_json(r, &r->device[i]));
	put_filled(doc, "devices", devices);
	put_sync(doc, r);
	return doc;
}

/* jansson escapes C0 only, and DEL and C1 can act on a terminal, too. Lines but the first are moved to the right. */
static void add_escaped(struct buf *out, const char *s, size_t n, size_t indent)
{
	for (const char *end = s + n; s < end; s++) {
		unsigned char c = (unsigned char)s[0], next = (unsigned char)s[1];

		if (c == '\n') {
			buf_char(out, '\n');
			buf_fill(out, ' ', indent);
		} else if (c == 0x7f) {
			buf_str(out, "\\u007f");
		} else if (c == 0xc2 && next >= 0x80 && next <= 0x9f) {
			buf_printf(out, "\\u00%02x", next);
			s++;
		} else {
			buf_char(out, *s);
		}
	}
}

static char *dumped(json_t *doc, size_t flags)
{
	/* 15 digits carry any count or ratio here, and 2.3 stays 2.3 */
	char *s = xmust(json_dumps(doc, flags | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(15)));

	json_decref(doc);
	return s;
}

json_t *json_start(const char *version, const char *what)
{
	json_t *doc = xmust(json_object()), *head = xmust(json_object());

	put_str(head, "version", version);
	put(head, "schema", json_integer(1));
	put_str(head, "document", what);
	put(doc, "barriertrace", head);
	return doc;
}

void json_finish(json_t *doc, size_t flags, struct buf *out)
{
	char *s = dumped(doc, flags);

	add_escaped(out, s, strlen(s), 0);
	buf_char(out, '\n');
	free(s);
}

/* ---- the document in pieces: as one tree, histograms would take a hundred times what they take in a report ---- */

/* What stands between an object's braces; it is not empty. */
static void add_members(struct buf *out, json_t *o, size_t flags)
{
	char *s = dumped(o, flags);
	size_t end = flags & JSON_COMPACT ? 1 : 2; /* the brace, and the line's end before it */

	add_escaped(out, s + 1, strlen(s) - 1 - end, 0);
	free(s);
}

static void drop_buckets(json_t *j)
{
	const char *key;
	json_t *v;

	json_object_del(j, "buckets");
	json_object_foreach(j, key, v) drop_buckets(v);
}

static void add_devices(struct buf *out, const struct report *r, const struct render_opts *o, size_t flags)
{
	bool lines = !(flags & JSON_COMPACT);

	buf_str(out, lines ? ",\n  \"devices\": [" : ",\"devices\":[");
	for (size_t i = 0; i < r->n_devices; i++) {
		json_t *device = device_json(r, &r->device[i]);
		char *s;

		if (o->no_buckets)
			drop_buckets(device);
		s = dumped(device, flags);
		buf_str(out, i ? "," : "");
		buf_str(out, lines ? "\n    " : "");
		add_escaped(out, s, strlen(s), lines ? 4 : 0);
		free(s);
	}
	buf_str(out, lines ? "\n  ]" : "]");
}

static void add_report(struct buf *out, const struct report *r, const struct render_opts *o, size_t flags)
{
	json_t *sync = xmust(json_object());

	buf_char(out, '{');
	add_members(out, head_json(r), flags);
	if (r->n_devices)
		add_devices(out, r, o, flags);
	put_sync(sync, r);
	if (json_object_size(sync)) {
		buf_char(out, ',');
		add_members(out, sync, flags);
	} else {
		json_decref(sync);
	}
	buf_str(out, flags & JSON_COMPACT ? "}\n" : "\n}\n");
}

void render_json(const struct report *r, const struct render_opts *o, struct buf *out)
{
	add_report(out, r, o, JSON_INDENT(2));
}

void render_ndjson(const struct report *r, const struct render_opts *o, struct buf *out)
{
	add_report(out, r, o, JSON_COMPACT);
}
