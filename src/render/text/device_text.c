// SPDX-License-Identifier: GPL-2.0-only
/* device_text.c - one device: what it is, what it did, and what its flushes cost. */
#include <string.h>

#include "render/text/text.h"

#define MOUNTS_SHOWN 4

/* The kernel counts everybody's requests: with a filter its figures are not ours to judge by. */
static bool comparable(const struct text *t, const struct report_device *d)
{
	return d->kernel.have && !t->r->filter;
}

static bool kernel_idle(const struct report_kernel *k)
{
	return !k->reads && !k->writes && !k->discards && !k->flushes;
}

/* "sda  GOODRAM C50, 112 GiB, SSD"; for an idle device this line, with `more`, is all. */
static void heading(struct text *t, const struct report_device *d, const char *more)
{
	struct buf b = { 0 }, name = { 0 };
	size_t at;

	text_raw(t, &name, d->name);
	text_style(t, STYLE_HEAD, name.data ? name.data : "?");
	at = name.data ? utf8_width(name.data, name.len) : 1;
	text_item_raw(t, &b, "", d->model);
	if (d->size) {
		text_item(&b, "%s", "");
		text_num(&b, num_bytes(d->size, t->num));
	}
	if (d->have_rotational)
		text_item(&b, d->rotational ? "HDD" : "SSD");
	text_item_raw(t, &b, "a partition of ", d->disk);
	if (d->from_ns) {
		text_item(&b, "traced from ");
		text_dur(t, &b, d->from_ns);
		buf_str(&b, " on");
	}
	if (d->vanished)
		text_item(&b, "vanished during the run");
	if (more)
		buf_printf(&b, "%s%s", b.len ? ": " : "", more);
	if (b.len)
		buf_str(t->out, "  ");
	text_wrap(t, more ? STYLE_DIM : STYLE_PLAIN, b.data ? b.data : "", at + 2, 4);
	buf_free(&b);
	buf_free(&name);
}

static void settings(struct text *t, const struct report_device *d)
{
	struct buf b = { 0 };

	text_item_raw(t, &b, "write cache: ", d->write_cache);
	if (d->have_fua)
		text_item(&b, "FUA: %s", d->fua ? "yes" : "no");
	text_item_raw(t, &b, "scheduler: ", d->scheduler);
	if (d->nr_requests)
		text_item(&b, "nr_requests: %s", num_count(d->nr_requests).s);
	if (d->have_wbt) {
		text_item(&b, "writeback throttling: ");
		if (d->wbt_lat_us)
			text_dur(t, &b, d->wbt_lat_us * 1000);
		else
			buf_str(&b, "off");
	}
	text_para_of(t, "settings", STYLE_PLAIN, &b);
}

static void above_and_below(struct text *t, const struct report_device *d)
{
	size_t shown = t->o->verbose ? d->n_mounts : MOUNTS_SHOWN;
	struct buf b = { 0 };

	for (size_t i = 0; i < d->n_mounts && i < shown; i++) {
		const struct report_mount *m = &d->mounts[i];

		text_item_raw(t, &b, "", m->dir ? m->dir : "?");
		buf_str(&b, " (");
		text_raw(t, &b, m->fstype ? m->fstype : "?");
		text_item_raw(t, &b, "", m->barrier);
		buf_char(&b, ')');
	}
	if (d->n_mounts > shown)
		buf_printf(&b, ", and %zu more", d->n_mounts - shown);
	text_para_of(t, "mounted", STYLE_PLAIN, &b);
	for (size_t i = 0; d->slaves && d->slaves[i]; i++)
		text_item_raw(t, &b, "", d->slaves[i]);
	text_para_of(t, "on top of", STYLE_PLAIN, &b);
	if (d->via) {
		text_raw(t, &b, d->via);
		text_para(t, "traced", STYLE_PLAIN, b.data ? b.data : "");
	}
	buf_free(&b);
}

/* "FLUSH requests 811: 207 before a commit record, 207 after it (FUA emulated), ..." */
static void flush_roles(struct text *t, const struct report_device *d, struct buf *b)
{
	const struct report_flush *f = &d->flush;
	uint64_t known = f->pre + f->post + f->only + f->mixed + f->unknown;
	uint64_t n = d->op[OP_FLUSH].count;
	const struct {
		uint64_t n;
		const char *what;
	} roles[] = {
		{ f->pre, "before a commit record" },
		{ f->post, f->pre ? "after it (FUA emulated)" : "after a commit record (FUA emulated)" },
		{ f->only, f->only == 1 ? "on its own" : "on their own" },
		{ f->mixed, "for several waiters in different roles" },
		{ f->unknown, "for waiters that could not be read" },
		{ known && n > known ? n - known : 0, "without a known role" },
	};
	struct buf list = { 0 };

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (roles[i].n)
			text_item(&list, "%s\x1f%s", num_count(roles[i].n).s, roles[i].what);
	}
	buf_printf(b, "FLUSH requests %s", num_count(n).s);
	if (list.data)
		buf_printf(b, ": %s", list.data);
	if (f->waiters)
		buf_printf(b, "; served %s\x1fwaiter%s", num_count(f->waiters).s, num_plural(f->waiters));
	buf_free(&list);
	if (!n)
		return;
	buf_str(b, "; ");
	text_dur(t, b, report_device_weight(d, OP_FLUSH));
	buf_str(b, d->bio_based ? " in all" : " in the device");
	text_in_time(t, b);
}

static void quantiles(struct text *t, struct buf *b, const struct tally *h)
{
	buf_str(b, "p50\x1f");
	text_dur(t, b, tally_quantile(h, 0.5));
	buf_str(b, ", p99\x1f");
	text_dur(t, b, tally_quantile(h, 0.99));
	buf_str(b, ", max\x1f");
	text_dur(t, b, h->max);
}

static void commits(const struct report_device *d, struct buf *b)
{
	const struct report_flush *f = &d->flush;

	if (!f->barrier_writes)
		return;
	if (f->barrier_flushes) {
		text_item(b, "%s flushes per commit (", num_ratio(f->barrier_flushes, f->barrier_writes).s);
		buf_printf(b, "%s\x1f%s waited for in ", num_count(f->barrier_flushes).s,
			   f->barrier_flushes == 1 ? "flush step" : "flush steps");
		buf_printf(b, "%s\x1f%s)", num_count(f->barrier_writes).s,
			   f->barrier_writes == 1 ? "barrier write" : "barrier writes");
	} else {
		text_item(b, "%s\x1f%s that waited for no flush", num_count(f->barrier_writes).s,
			  f->barrier_writes == 1 ? "barrier write" : "barrier writes");
	}
	if (f->native_fua)
		text_item(b, "%s\x1fof them with FUA done by the device", num_count(f->native_fua).s);
}

/* A flush that waits behind other people's data is not the same as a slow flush. */
static void company(struct text *t, const struct report_device *d)
{
	struct buf b = { 0 };

	if (!report_device_depths(d) || !d->flush.in_flight)
		return;
	buf_printf(&b,
		   "%s\x1fother requests were in the device, on average, when a FLUSH was "
		   "issued",
		   num_ratio(d->flush.in_flight, report_device_depths(d)).s);
	text_para_of(t, "company", STYLE_PLAIN, &b);
}

/* Why there was none is only said where nothing contradicts it. */
static void no_flush(struct text *t, const struct report_device *d)
{
	bool through = d->write_cache && !strcmp(d->write_cache, "write through");
	const char *s = "none was seen";

	if (t->r->filter)
		s = "none of the filtered tasks";
	else if (through && !d->kernel.flushes)
		s = "none was seen: the kernel takes this disk's cache for write through";
	text_para(t, "flushes", STYLE_DIM, s);
}

/* What held waiters back, where the flush machinery's own functions are seen. */
static void slot_wait_parts(struct buf *b, const struct report_flush *f)
{
	if (!f->slot_wait_flush.count || !f->slot_wait.sum)
		return;
	buf_str(b, "; ");
	text_num(b, num_percent(f->slot_wait_flush.sum, f->slot_wait.sum, 0));
	buf_str(b, "\x1fof it all for the FLUSH before, ");
	text_num(b, num_percent(f->slot_wait_data.sum, f->slot_wait.sum, 0));
	buf_str(b, "\x1f"
		   "for data of other barriers");
}

static void flushes(struct text *t, const struct report_device *d)
{
	const struct report_flush *f = &d->flush;
	struct buf b = { 0 };

	if (!d->op[OP_FLUSH].count && !f->barrier_writes) {
		if (!d->bio_based)
			no_flush(t, d);
		return;
	}
	flush_roles(t, d, &b);
	text_para_of(t, "flushes", STYLE_FLUSH, &b);
	commits(d, &b);
	text_para_of(t, "commits", STYLE_FLUSH, &b);
	if (f->slot_wait.count) {
		buf_str(&b, "a waiter waited for its FLUSH to start: ");
		quantiles(t, &b, &f->slot_wait);
		slot_wait_parts(&b, f);
		text_para_of(t, "slot wait", STYLE_PLAIN, &b);
	}
	if (f->sequence.count) {
		buf_str(&b, "a whole one, from allocation to the very end: ");
		quantiles(t, &b, &f->sequence);
		text_para_of(t, "barriers", STYLE_PLAIN, &b);
	}
	company(t, d);
}

/* The write as the device saw it, beside the write as most tools show it. */
static void honest_write(struct text *t, const struct report_device *d)
{
	struct report_op w, fua;
	struct buf b = { 0 };
	uint64_t honest, queued, naive = tally_mean(&d->naive_write);

	report_device_row(d, ROW_WRITE, &w);
	report_device_row(d, ROW_FUA, &fua);
	hist_merge(&w.device, &fua.device);
	hist_merge(&w.total, &fua.total);
	if (!w.device.count || !d->naive_write.count)
		return;
	honest = hist_mean(&w.device);
	queued = w.total.count ? hist_mean(&w.total) : honest;
	buf_str(&b, "a write takes ");
	text_dur(t, &b, honest);
	buf_str(&b, " in the device on average (");
	text_dur(t, &b, queued);
	buf_str(&b, " with its queue); ");
	if (naive > honest + honest / 2) {
		buf_str(&b, "tools that time the request from its allocation (iostat w_await, "
			    "biolatency) show ");
		text_dur(t, &b, naive);
		if (naive <= queued + queued / 2)
			buf_str(&b, ", because they count the queue too");
		else if (d->flush.barrier_writes)
			buf_str(&b, ", because flushes are booked on it");
	} else {
		buf_str(&b, "timed from its allocation, as other tools do: ");
		text_dur(t, &b, naive);
	}
	text_para_of(t, "writes", STYLE_PLAIN, &b);
}

static void kernel_flushes(struct text *t, const struct report_device *d)
{
	const struct report_op_tally *op = &d->op[OP_FLUSH];
	const struct report_kernel *k = &d->kernel;
	enum style style = STYLE_PLAIN;
	struct buf b = { 0 };

	if (!k->have || !k->have_flush || (!k->flushes && !op->count))
		return;
	buf_printf(&b, "kernel counted %s\x1f%s, ", num_count(k->flushes).s, k->flushes == 1 ? "flush" : "flushes");
	text_dur(t, &b, k->flush_ns);
	buf_printf(&b, "; this trace %s, ", num_count(op->count).s);
	text_dur(t, &b, op->total.sum);
	buf_str(&b, " with their queue");
	if (!comparable(t, d)) {
		buf_str(&b, " (filtered; the kernel counts everybody's)");
	} else if (!report_flushes_agree(d)) {
		buf_str(&b, ": they differ");
		style = STYLE_WARN;
	} else if (!report_flush_times_agree(d)) {
		buf_str(&b, ": same count, but the times differ");
		style = STYLE_WARN;
	} else {
		if (op->count > k->flushes)
			buf_printf(&b, ", %s of them while the two were read", num_count(op->count - k->flushes).s);
		buf_str(&b, t->o->unicode ? " ✓" : " [ok]");
	}
	text_para_of(t, style == STYLE_WARN ? "WARNING" : "check", style, &b);
}

static void kernel_io(struct text *t, const struct report_device *d, const char *label, enum style style)
{
	const struct report_kernel *k = &d->kernel;
	struct buf b = { 0 };

	if (!k->have)
		return;
	buf_printf(&b, "kernel counted %s\x1fread%s of ", num_count(k->reads).s, num_plural(k->reads));
	text_num(&b, num_bytes(k->read_bytes, t->num));
	buf_printf(&b, ", %s\x1fwrite%s of ", num_count(k->writes).s, num_plural(k->writes));
	text_num(&b, num_bytes(k->write_bytes, t->num));
	buf_printf(&b,
		   ", %s\x1f"
		   "discard%s of ",
		   num_count(k->discards).s, num_plural(k->discards));
	text_num(&b, num_bytes(k->discard_bytes, t->num));
	text_para_of(t, label, style, &b);
}

static void whose(struct text *t, const struct report_device *d)
{
	uint64_t n = report_device_sent(d);
	struct buf b = { 0 };

	if (!t->r->command || !n)
		return;
	buf_printf(&b, "%s of %s request%s (", num_count(d->by_command).s, num_count(n).s, num_plural(n));
	text_num(&b, num_percent(d->by_command, n, 0));
	buf_str(&b, ") came from the command's own threads");
	if (d->by_command < n)
		buf_str(&b, "; the rest from other tasks (journal, writeback, neighbours)");
	text_para_of(t, "sender", STYLE_PLAIN, &b);
}

static void troubles(struct text *t, const struct report_device *d)
{
	struct buf b = { 0 };

	if (d->errors) {
		buf_printf(&b, "%s request%s completed with an error", num_count(d->errors).s, num_plural(d->errors));
		text_para_of(t, "WARNING", STYLE_WARN, &b);
	}
	if (d->unpaired)
		text_item(&b, "%s without times (in flight when the run began, or lost)", num_count(d->unpaired).s);
	if (d->requeues)
		text_item(&b, "%s requeued", num_count(d->requeues).s);
	if (d->merges && t->o->verbose)
		text_item(&b, "%s merged", num_count(d->merges).s);
	text_para_of(t, "requests", STYLE_DIM, &b);
}

static bool idle(const struct report_device *d)
{
	return !report_device_requests(d) && !d->naive_write.count && !d->flush.barrier_writes && !d->errors &&
	       !d->unpaired;
}

/* The kernel's own count may tell that something went by unseen. */
static void idle_device(struct text *t, const struct report_device *d)
{
	struct buf b = { 0 };

	if (comparable(t, d) && !kernel_idle(&d->kernel)) {
		heading(t, d, "no I/O was seen, but the kernel counted some");
		kernel_flushes(t, d);
		if (d->kernel.reads || d->kernel.writes || d->kernel.discards)
			kernel_io(t, d, "WARNING", STYLE_WARN);
		return;
	}
	if (in_flight_any(&d->in_flight)) {
		buf_str(&b, "no request was completed, ");
		in_flight_words(&d->in_flight, &b);
		buf_str(&b, " in flight at the end");
		heading(t, d, b.data);
		buf_free(&b);
		return;
	}
	/* of a recording that was cut off the counters may be lost, and the kernel's with them */
	heading(t, d,
		t->r->filter			    ? "no I/O of the filtered tasks" :
		t->r->incomplete && !d->kernel.have ? "no I/O was seen" :
						      "no I/O");
}

void text_device(struct text *t, const struct report_device *d)
{
	if (idle(d)) {
		idle_device(t, d);
		return;
	}
	heading(t, d, NULL);
	settings(t, d);
	above_and_below(t, d);
	text_table(t, d);
	buf_char(t->out, '\n');
	flushes(t, d);
	honest_write(t, d);
	kernel_flushes(t, d);
	if (t->o->verbose)
		kernel_io(t, d, "", STYLE_DIM);
	whose(t, d);
	troubles(t, d);
	if (!t->o->quiet)
		text_hists(t, d);
}
