// SPDX-License-Identifier: GPL-2.0-only
/* run_html.c - under which circumstances: settings of devices, mounts, the command, the probes. */
#include "render/html/html.h"

/* ---- settings ---- */

static void device_cell(struct buf *b, const char *value)
{
	if (value)
		html_cell_text(b, value);
	else
		html_cell_none(b);
}

static void bool_cell(struct buf *b, bool have, bool value, const char *yes, const char *no)
{
	device_cell(b, have ? value ? yes : no : NULL);
}

static void throttling_cell(struct buf *b, const struct report_device *d)
{
	if (d->have_wbt && d->wbt_lat_us)
		html_cell_dur(b, d->wbt_lat_us * 1000);
	else
		bool_cell(b, d->have_wbt, false, "", "off");
}

static void names(struct buf *b, const char *before, char *const *v)
{
	for (size_t i = 0; v && v[i]; i++) {
		buf_str(b, i ? ", " : before);
		html_text(b, v[i]);
	}
}

static void relations(struct buf *b, const struct report_device *d)
{
	buf_str(b, "<td class=\"prose\">");
	if (d->via)
		html_text(b, d->via);
	if (d->disk) {
		buf_str(b, d->via ? "; a partition of " : "a partition of ");
		html_text(b, d->disk);
	}
	names(b, d->via || d->disk ? "; on top of " : "on top of ", d->slaves);
	buf_str(b, "</td>");
}

static void device_row(struct buf *b, const struct report_device *d)
{
	buf_str(b, "<tr><th scope=\"row\">");
	html_text(b, d->name);
	buf_printf(b, " <small>%u:%u</small></th>", d->major, d->minor);
	buf_str(b, "<td class=\"prose\">");
	if (d->model)
		html_text(b, d->model);
	if (d->have_rotational)
		buf_str(b, d->rotational ? " <small>HDD</small>" : " <small>SSD</small>");
	buf_str(b, "</td>");
	html_cell_if(b, d->size, d->size, num_bytes(d->size, 0));
	device_cell(b, d->write_cache);
	bool_cell(b, d->have_fua, d->fua, "yes", "no");
	device_cell(b, d->scheduler);
	html_cell_if(b, d->nr_requests, d->nr_requests, num_count(d->nr_requests));
	throttling_cell(b, d);
	relations(b, d);
	buf_str(b, "</tr>\n");
}

static void devices(struct buf *b, const struct report *r)
{
	static const struct html_column columns[] = {
		{ "device", 's' },	{ "model", 's' }, { "size", 'n' },
		{ "write cache", 's' }, { "FUA", 's' },	  { "scheduler", 's' },
		{ "nr_requests", 'n' }, { "wbt", 'n' },	  { "how it was found", ' ' },
	};

	if (!r->n_devices)
		return;
	html_table(b, "Devices", columns, 9, SIZE_MAX);
	for (size_t i = 0; i < r->n_devices; i++)
		device_row(b, &r->device[i]);
	html_table_end(b, NULL);
}

static void mount_rows(struct buf *b, const struct report_device *d)
{
	for (size_t i = 0; i < d->n_mounts; i++) {
		const struct report_mount *m = &d->mounts[i];

		html_text_in(b, "<tr><th scope=\"row\" class=\"name\">", m->dir, "</th>");
		html_cell_text(b, d->name);
		device_cell(b, m->fstype);
		device_cell(b, m->barrier);
		buf_str(b, "<td class=\"prose\">");
		if (m->options)
			html_text(b, m->options);
		buf_str(b, "</td></tr>\n");
	}
}

static void mounts(struct buf *b, const struct report *r)
{
	static const struct html_column columns[] = {
		{ "mounted at", 's' }, { "device", 's' },  { "file system", 's' },
		{ "barriers", 's' },   { "options", ' ' },
	};
	size_t n = 0, begin = b->len;

	for (size_t i = 0; i < r->n_devices; i++)
		n += r->device[i].n_mounts;
	if (!n)
		return;
	html_table(b, "Mounts", columns, 5, SIZE_MAX);
	for (size_t i = 0; i < r->n_devices && b->len - begin < HTML_ROOM_TABLE; i++)
		mount_rows(b, &r->device[i]);
	html_table_end(b, NULL);
}

void html_settings(struct buf *b, const struct report *r)
{
	devices(b, r);
	mounts(b, r);
}

/* ---- the run ---- */

static void text_fact(struct buf *b, const char *name, const char *value)
{
	if (!value)
		return;
	html_fact(b, name);
	html_text(b, value);
	html_fact_end(b);
}

static void command(struct buf *b, const struct report *r)
{
	if (r->command && r->command[0]) {
		html_fact(b, "command");
		buf_str(b, "<code>");
		html_arguments(b, r->command);
		buf_str(b, "</code>");
		if (r->arguments_hidden)
			html_text(b, ", arguments hidden");
		html_fact_end(b);
	}
	if (r->have_exit_status) {
		html_fact(b, "exit status");
		buf_printf(b, "%d", r->exit_status);
		if (r->exit_status > 128 && r->exit_status <= 128 + 64)
			buf_printf(b, " = 128 + signal %d", r->exit_status - 128);
		html_fact_end(b);
	}
	if (r->processes) {
		html_fact(b, "followed");
		buf_printf(b, "%s process%s with %s thread%s", num_count(r->processes).s, r->processes == 1 ? "" : "es",
			   num_count(r->threads).s, num_plural(r->threads));
		html_fact_end(b);
	}
}

static void lost(struct buf *b, const struct report *r)
{
	html_fact(b, "lost events");
	buf_str(b, num_count(r->lost_events).s);
	html_fact_end(b);
}

static void probes(struct buf *b, const struct report *r)
{
	/* clang-format off */
	static const struct html_column columns[] = {
		{ "probe", 's' }, { "state", 's' }, { "by way of", 's' }, { "reason", 's' },
	};
	/* clang-format on */

	if (!r->n_probes)
		return;
	buf_printf(b, "<details><summary>Probes (%zu)</summary>\n", r->n_probes);
	html_table(b, "Probes", columns, 4, SIZE_MAX);
	for (size_t i = 0; i < r->n_probes; i++) {
		html_text_in(b, "<tr><th scope=\"row\" class=\"name\">", r->probe[i].name, "</th>");
		html_cell_text(b, probe_state_name(r->probe[i].state));
		device_cell(b, r->probe[i].rung);
		device_cell(b, r->probe[i].reason);
		buf_str(b, "</tr>\n");
	}
	html_table_end(b, NULL);
	buf_str(b, "</details>\n");
}

void html_run(struct buf *b, const struct report *r)
{
	buf_str(b, "<dl class=\"facts\">\n");
	command(b, r);
	text_fact(b, "began", r->start);
	if (r->wall_ns) { /* 0: cut off, nobody knows */
		html_fact(b, "lasted");
		html_dur(b, r->wall_ns);
		html_fact_end(b);
	}
	if (r->filter) {
		html_fact(b, "filter");
		html_text(b, r->filter);
		buf_str(b, " only: the requests of others are not in these figures");
		html_fact_end(b);
	}
	text_fact(b, "kernel", r->kernel);
	text_fact(b, "architecture", r->arch);
	text_fact(b, "barriertrace", r->version);
	lost(b, r);
	buf_str(b, "</dl>\n");
	probes(b, r);
	buf_str(b, "<p class=\"aside\">For machines: the report as JSON is in this page, in the element with the id "
		   "<code>report</code>. <span id=\"save\"></span></p>\n");
}
