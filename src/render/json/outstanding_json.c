// SPDX-License-Identifier: GPL-2.0-only
/* outstanding_json.c - sync calls that have not returned. */
#include "model/outstanding.h"
#include "render/json_put.h"

static json_t *request_json(const struct report_outstanding *o)
{
	json_t *j = xmust(json_object());

	if (!o->op)
		return j;
	put_str(j, "op", o->op);
	put_str(j, "device", o->disk);
	if (o->request_ns)
		put_u64(j, o->request_before ? "at_least_ns" : "since_ns", o->request_ns);
	put(j, "certain", json_boolean(o->certain));
	put(j, "issued", json_boolean(!o->queued));
	return j;
}

static json_t *call_json(const struct report_outstanding *o)
{
	json_t *j = xmust(json_object());

	put_u64(j, "pid", o->pid);
	put_u64(j, "tid", o->tid);
	put_str(j, "comm", o->comm);
	put_str(j, "cmdline", o->cmdline);
	put_str(j, "call", o->call);
	put_str(j, "path", o->path);
	put_str(j, "device", o->device);
	put_u64(j, o->before ? "at_least_ns" : "since_ns", o->ns);
	put(j, "other", json_boolean(o->other));
	put_str(j, "step", o->step);
	put_str(j, "where", o->where);
	put_str(j, "via", o->via);
	if (o->via)
		put_u64(j, "via_tid", o->via_tid);
	put_filled(j, "request", request_json(o));
	return j;
}

void put_in_flight(json_t *o, const struct requests_in_flight *n)
{
	json_t *j = xmust(json_object());

	for (enum op_row row = 0; row < OP_ROWS; row++) {
		bool known = n->by_kind ? row != ROW_FUA : row == ROW_READ || row == ROW_WRITE;

		if (n->have && known)
			put_u64(j, op_row_name(row), n->n[row]);
	}
	put_filled(o, "in_flight", j);
}

void put_outstanding(json_t *o, const struct report *r)
{
	json_t *a = xmust(json_array());

	for (size_t i = 0; i < r->n_outstanding; i++)
		push(a, call_json(&r->outstanding[i]));
	put_filled(o, "outstanding", a);
	if (!r->began_before)
		return;
	put_u64(o, "began_before", r->began_before);
	put_u64(o, "began_before_at_least_ns", r->began_before_ns);
}
