// SPDX-License-Identifier: GPL-2.0-only
/* device_html.c - what each device did: its classes of requests, their histograms queue | device, its flushes. */
#include "render/html/html.h"

#include <string.h>

static const char *class_color(enum op_class c)
{
	return c == OP_FLUSH ? "f-flush" : "f-device";
}

/* ---- the table of classes ---- */

static void quantile_cell(struct buf *b, const struct tally *h, double q)
{
	uint64_t ns = tally_quantile(h, q);

	html_cell_if(b, h->count, ns, num_duration(ns, 0));
}

static void class_row(struct buf *b, const struct report_device *d, enum op_class c)
{
	const struct report_op_tally *op = &d->op[c];
	const struct tally *h = d->bio_based ? &op->total : &op->device;

	buf_printf(b, "<tr class=\"%s\"><th scope=\"row\"><span class=\"swatch\"></span>%s</th>", class_color(c),
		   op_class_name(c));
	html_cell_count(b, op->count);
	html_cell_if(b, op->bytes, op->bytes, num_bytes(op->bytes, 0));
	if (!d->bio_based) {
		quantile_cell(b, &op->queue, 0.5);
		quantile_cell(b, &op->queue, 0.99);
		quantile_cell(b, &op->queue, 1);
	}
	quantile_cell(b, h, 0.5);
	quantile_cell(b, h, 0.9);
	quantile_cell(b, h, 0.99);
	quantile_cell(b, h, 1);
	buf_str(b, "</tr>\n");
}

static void classes(struct buf *b, const struct report_device *d)
{
	static const struct html_column of_requests[] = {
		{ "request", 's' }, { "count", 'n' }, { "bytes", 'n' },
		{ "queue p50", 'n' }, { "queue p99", 'n' }, { "queue max", 'n' },
		{ "device p50", 'n' }, { "device p90", 'n' }, { "device p99", 'n' }, { "device max", 'n' },
	}, of_bios[] = {
		{ "bio", 's' }, { "count", 'n' }, { "bytes", 'n' },
		{ "p50", 'n' }, { "p90", 'n' }, { "p99", 'n' }, { "max", 'n' },
	};
	struct buf caption = { 0 };

	buf_printf(&caption, "%s on %s", d->bio_based ? "Bios" : "Requests", d->name);
	if (d->bio_based)
		html_table(b, caption.data, of_bios, 7, SIZE_MAX);
	else
		html_table(b, caption.data, of_requests, 10, SIZE_MAX);
	for (int c = 0; c < OP_CLASSES; c++)
		if (d->op[c].count)
			class_row(b, d, (enum op_class)c);
	html_table_end(b, NULL);
	buf_free(&caption);
}

/* ---- histograms: latencies by powers of two in the middle, bars to both sides ---- */

#define POWERS (HIST_TOP_BITS + 1)

struct side {
	const struct hist *h;
	uint64_t n[POWERS], most;
};

static void group(struct side *s)
{
	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		unsigned int p = hist_log2(hist_lower(i));

		s->n[p] += s->h->bucket[i];
		s->most = s->n[p] > s->most ? s->n[p] : s->most;
	}
}

static void bar_cell(struct buf *b, const struct side *s, unsigned int p, const char *class)
{
	if (!s->n[p]) {
		buf_printf(b, "<td class=\"%s\"></td>", class);
		return;
	}
	buf_printf(b, "<td class=\"%s\"><div><span class=\"track\"><i style=\"", class);
	html_permyriad(b, "width", s->n[p], s->most);
	buf_printf(b, "\"></i></span><b>%s</b></div></td>", num_count_short(s->n[p]).s);
}

static void hist_row(struct buf *b, const struct side *queue, const struct side *device, unsigned int p)
{
	buf_str(b, "<tr>");
	if (queue)
		bar_cell(b, queue, p, "left");
	html_num_in(b, "<th scope=\"row\">", num_duration(p ? 1ull << p : 0, 0), " – ");
	html_dur(b, 2ull << p);
	buf_str(b, "</th>");
	bar_cell(b, device, p, "right");
	buf_str(b, "</tr>\n");
}

static void hist_rows(struct buf *b, const struct side *queue, const struct side *device)
{
	bool any = false, gap = false;

	for (unsigned int p = 0; p < POWERS; p++) {
		if (!device->n[p] && !(queue && queue->n[p])) {
			gap = any;
			continue;
		}
		if (gap)
			buf_printf(b, "<tr class=\"gap\" aria-hidden=\"true\"><td colspan=\"%d\">⋮</td></tr>\n",
				   queue ? 3 : 2);
		hist_row(b, queue, device, p);
		any = true;
		gap = false;
	}
}

static void side_head(struct buf *b, const char *name, const struct hist *h, const char *class)
{
	buf_printf(b, "<th scope=\"col\" class=\"%s\">%s <small>mean ", class, name);
	html_dur(b, hist_mean(h));
	buf_str(b, "</small></th>");
}

static void class_hist(struct buf *b, const struct report_device *d, enum op_class c)
{
	struct report_op op;
	struct side queue = { .h = &op.queue }, device = { .h = d->bio_based ? &op.total : &op.device };
	bool queued;

	report_device_op(d, c, &op);
	queued = !d->bio_based && op.queue.max; /* all zero: nothing waited, and the table has said so */
	if (!device.h->count)
		return;
	group(&queue);
	group(&device);
	buf_printf(b, "<table class=\"hist %s\"><caption>%s: %s</caption><thead><tr>", class_color(c), op_class_name(c),
		   num_count(op.count).s);
	if (queued)
		side_head(b, "queue", queue.h, "left");
	buf_str(b, "<th scope=\"col\">latency</th>");
	side_head(b, d->bio_based ? "total" : "device", device.h, "right");
	buf_str(b, "</tr></thead><tbody>\n");
	hist_rows(b, queued ? &queue : NULL, &device);
	buf_str(b, "</tbody></table>\n");
}

static void hists(struct buf *b, const struct report_device *d)
{
	enum op_class order[OP_CLASSES];

	report_device_by_weight(d, order);
	buf_str(b, "<div class=\"hists\">\n");
	for (int i = 0; i < OP_CLASSES; i++)
		class_hist(b, d, order[i]);
	buf_str(b, "</div>\n");
}

/* ---- facts ---- */

static void roles(struct buf *b, const struct report_device *d)
{
	const struct report_flush *f = &d->flush;
	const struct {
		uint64_t n;
		const char *what;
	} role[] = {
		{ f->pre, "before a commit record" },
		{ f->post, "after a commit record (FUA emulated)" },
		{ f->only, f->only == 1 ? "on its own" : "on their own" },
		{ f->mixed, "for several waiters in different roles" },
		{ f->unknown, "for waiters that could not be read" },
	};
	const char *between = ": ";

	if (!d->op[OP_FLUSH].count)
		return;
	html_fact(b, "FLUSH requests");
	buf_str(b, num_count(d->op[OP_FLUSH].count).s);
	for (size_t i = 0; i < sizeof(role) / sizeof(role[0]); i++) {
		if (!role[i].n)
			continue;
		buf_printf(b, "%s%s" NBSP "%s", between, num_count(role[i].n).s, role[i].what);
		between = ", ";
	}
	if (f->waiters)
		buf_printf(b, "; they served %s" NBSP "waiter%s", num_count(f->waiters).s, num_plural(f->waiters));
	html_fact_end(b);
}

static void commits(struct buf *b, const struct report_flush *f)
{
	if (!f->barrier_writes)
		return;
	html_fact(b, "commits");
	buf_printf(b, "%s" NBSP "barrier write%s", num_count(f->barrier_writes).s, num_plural(f->barrier_writes));
	if (f->barrier_flushes)
		buf_printf(b, ", %s flushes each", num_ratio(f->barrier_flushes, f->barrier_writes).s);
	if (f->native_fua)
		buf_printf(b, ", %s of them with FUA done by the device", num_count(f->native_fua).s);
	html_fact_end(b);
}

static void spread(struct buf *b, const char *name, const struct tally *h)
{
	if (!h->count)
		return;
	html_fact(b, name);
	html_num_in(b, "p50 ", num_duration(tally_quantile(h, 0.5), 0), ", p99 ");
	html_dur(b, tally_quantile(h, 0.99));
	buf_str(b, ", longest ");
	html_dur(b, h->max);
	html_fact_end(b);
}

static void company(struct buf *b, const struct report_device *d)
{
	if (!report_device_depths(d) || !d->flush.in_flight)
		return;
	html_fact(b, "company");
	html_num(b, num_ratio(d->flush.in_flight, report_device_depths(d)));
	buf_str(b, " other requests were in the device, on average, when a FLUSH was issued");
	html_fact_end(b);
}

/* The write as the device saw it, beside the write as most tools show it. */
static void honest_write(struct buf *b, const struct report_device *d)
{
	struct report_op w, fua;

	report_device_row(d, ROW_WRITE, &w);
	report_device_row(d, ROW_FUA, &fua);
	hist_merge(&w.device, &fua.device);
	if (!w.device.count || !d->naive_write.count)
		return;
	html_fact(b, "a write");
	html_num_in(b, "takes ", num_duration(hist_mean(&w.device), 0),
		    " in the device on average; timed from its allocation, as iostat and biolatency do: ");
	html_dur(b, tally_mean(&d->naive_write));
	html_fact_end(b);
}

static const char *agreement(const struct report *r, const struct report_device *d)
{
	if (r->filter)
		return " (filtered; the kernel counts everybody’s)";
	if (!report_flushes_agree(d))
		return ": <strong>they differ</strong>";
	return report_flush_times_agree(d) ? " ✓" : ": <strong>same count, but the times differ</strong>";
}

static void kernel_check(struct buf *b, const struct report *r, const struct report_device *d)
{
	const struct report_kernel *k = &d->kernel;

	if (!k->have || !k->have_flush || (!k->flushes && !d->op[OP_FLUSH].count))
		return;
	html_fact(b, "check");
	buf_printf(b, "the kernel itself counted %s" NBSP "flush%s, ", num_count(k->flushes).s,
		   k->flushes == 1 ? "" : "es");
	html_dur(b, k->flush_ns);
	buf_printf(b, "; this trace %s, ", num_count(d->op[OP_FLUSH].count).s);
	html_dur(b, d->op[OP_FLUSH].total.sum);
	buf_str(b, " with their queue");
	buf_str(b, agreement(r, d));
	html_fact_end(b);
}

static void kernel_io(struct buf *b, const struct report_kernel *k)
{
	if (!k->have)
		return;
	html_fact(b, "kernel’s count");
	buf_printf(b, "%s" NBSP "read%s of ", num_count(k->reads).s, num_plural(k->reads));
	html_num(b, num_bytes(k->read_bytes, 0));
	buf_printf(b, ", %s" NBSP "write%s of ", num_count(k->writes).s, num_plural(k->writes));
	html_num(b, num_bytes(k->write_bytes, 0));
	buf_printf(b, ", %s" NBSP "discard%s of ", num_count(k->discards).s, num_plural(k->discards));
	html_num(b, num_bytes(k->discard_bytes, 0));
	html_fact_end(b);
}

static void sender(struct buf *b, const struct report *r, const struct report_device *d)
{
	uint64_t n = report_device_sent(d);

	if (!r->command || !n)
		return;
	html_fact(b, "sender");
	buf_printf(b, "%s of %s request%s (", num_count(d->by_command).s, num_count(n).s, num_plural(n));
	html_num(b, num_percent(d->by_command, n, 0));
	buf_str(b, ") came from the command’s own threads");
	if (d->by_command < n)
		buf_str(b, ", the rest from others: journal, writeback, neighbours");
	html_fact_end(b);
}

static void oddities(struct buf *b, const struct report_device *d)
{
	const struct {
		uint64_t n;
		const char *what;
	} odd[] = {
		{ d->unpaired, "without times (in flight when the run began, or lost)" },
		{ d->requeues, "requeued" },
		{ d->merges, "merged" },
		{ d->errors, "completed with an error" },
	};
	const char *between = "";

	if (!d->unpaired && !d->requeues && !d->merges && !d->errors)
		return;
	html_fact(b, "requests");
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		if (!odd[i].n)
			continue;
		buf_printf(b, "%s%s" NBSP "%s", between, num_count(odd[i].n).s, odd[i].what);
		between = ", ";
	}
	html_fact_end(b);
}

static void facts(struct buf *b, const struct report *r, const struct report_device *d)
{
	struct buf list = { 0 };

	roles(&list, d);
	commits(&list, &d->flush);
	spread(&list, "a whole barrier", &d->flush.sequence);
	spread(&list, "wait for the slot", &d->flush.slot_wait);
	spread(&list, "of it, for the FLUSH before", &d->flush.slot_wait_flush);
	spread(&list, "of it, for data of other barriers", &d->flush.slot_wait_data);
	company(&list, d);
	honest_write(&list, d);
	kernel_check(&list, r, d);
	kernel_io(&list, &d->kernel);
	sender(&list, r, d);
	oddities(&list, d);
	if (list.len) {
		buf_str(b, "<dl class=\"facts\">\n");
		buf_add(b, list.data, list.len);
		buf_str(b, "</dl>\n");
	}
	buf_free(&list);
}

void html_devices(struct buf *b, const struct report *r)
{
	if (!r->n_devices)
		buf_printf(b, "<p>%s</p>\n", report_no_devices(r));
	for (size_t i = 0; i < r->n_devices; i++) {
		const struct report_device *d = &r->device[i];

		html_text_in(b, "<h3>", d->name, "</h3>\n");
		if (!report_device_requests(d)) {
			buf_str(b, r->filter ? "<p>No I/O of the filtered tasks.</p>\n" : "<p>No I/O was seen.</p>\n");
			facts(b, r, d);
			continue;
		}
		classes(b, d);
		hists(b, d);
		facts(b, r, d);
	}
}
