// SPDX-License-Identifier: GPL-2.0-only
/* html.c - one self-contained page: the answer first, then what it rests on. It asks nobody for anything. */
#include "render/html/html.h"

#include "render/assets.h"
#include "render/svg/svg.h"
#include "render/palette.h"

typedef void section_fn(struct buf *b, const struct report *r);

static void flame(struct buf *b, const struct report *r)
{
	struct buf svg = { 0 };

	if (r->have_sync && r->sync.n_leaves)
		flame_svg_element(r, &svg);
	if (svg.len > HTML_ROOM_FLAME)
		buf_str(b, "<p>Too large for this page: <code>--flame</code> draws it into a file of its own.</p>\n");
	if (svg.len && svg.len <= HTML_ROOM_FLAME) {
		buf_str(b, "<div>\n");
		buf_add(b, svg.data, svg.len);
		buf_str(b, "</div>\n");
	}
	buf_free(&svg);
}

static const struct {
	const char *id, *name, *title;
	section_fn *write;
} sections[] = {
	{ "ledger", "Ledger", "Where the sync time went", html_ledger },
	{ "flame", "Flame", "Through whom it went", flame },
	{ "time", "Over time", "Latency over time", html_heat },
	{ "devices", "Devices", "What the devices did", html_devices },
	{ "who", "Processes and files", "Whose calls, on which files", html_groups },
	{ "settings", "Settings", "Settings of devices and mounts", html_settings },
	{ "run", "Run", "The run", html_run },
};

#define N_SECTIONS (sizeof(sections) / sizeof(sections[0]))

/* No request can leave the page, and no name that slipped through could act. */
static void head(struct buf *b, const struct report *r)
{
	buf_str(b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
		   "script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
		   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		   "<meta name=\"color-scheme\" content=\"light dark\">\n"
		   "<meta name=\"referrer\" content=\"no-referrer\">\n"
		   "<link rel=\"icon\" href=\"data:,\">\n<title>barriertrace");
	if (r->have_verdict && r->verdict.class) {
		buf_str(b, ": ");
		html_text(b, r->verdict.class);
	}
	if (r->command && r->command[0]) {
		buf_str(b, ", ");
		html_text(b, r->command[0]);
	}
	buf_str(b, "</title>\n<style>\n");
	for (int f = 0; f < FAMILY_COUNT; f++)
		buf_printf(b, ".%s{--c:%s}\n", html_family((enum cause_family)f).s, palette_family((enum cause_family)f));
	buf_str(b, asset_page_css);
	buf_str(b, asset_flame_css);
	buf_str(b, "</style>\n<noscript><style>tr[hidden] { display: table-row !important }</style></noscript>\n"
		   "</head>\n");
}

static void banner(struct buf *b, const struct report *r)
{
	buf_str(b, "<header><p class=\"brand\">barriertrace</p>");
	if (r->command && r->command[0]) {
		buf_str(b, "<p><code>");
		html_arguments(b, r->command);
		buf_str(b, "</code></p>");
	}
	if (r->wall_ns)
		html_num_in(b, "<p>", num_duration(r->wall_ns, 0), "</p>");
	if (r->start)
		html_text_in(b, "<p>from <time>", r->start, "</time></p>");
	if (r->kernel)
		html_text_in(b, "<p>Linux ", r->kernel, "</p>");
	buf_str(b, "</header>\n");
}

static void contents(struct buf *b, const struct buf *body)
{
	buf_str(b, "<nav aria-label=\"Contents\"><ul>");
	for (size_t i = 0; i < N_SECTIONS; i++)
		if (body[i].len)
			buf_printf(b, "<li><a href=\"#%s\">%s</a></li>", sections[i].id, sections[i].name);
	buf_str(b, "</ul></nav>\n");
}

static void scripts(struct buf *b, const struct report *r)
{
	html_json(b, r);
	buf_str(b, "<script>\n");
	buf_str(b, asset_page_js);
	buf_str(b, "</script>\n");
	buf_str(b, "<script>\n");
	buf_str(b, asset_flame_js);
	buf_str(b, "</script>\n");
}

void render_html(const struct report *r, const struct render_opts *o, struct buf *out)
{
	struct buf body[N_SECTIONS] = { 0 };

	(void)o;
	for (size_t i = 0; i < N_SECTIONS; i++)
		sections[i].write(&body[i], r);
	head(out, r);
	buf_str(out, "<body>\n<a class=\"skip\" href=\"#main\">Skip to the verdict</a>\n");
	banner(out, r);
	buf_str(out, "<main id=\"main\">\n");
	html_warnings(out, r);
	html_verdict(out, r);
	html_outstanding(out, r);
	contents(out, body);
	for (size_t i = 0; i < N_SECTIONS; i++) {
		if (!body[i].len)
			continue;
		buf_printf(out, "<section id=\"%s\" aria-labelledby=\"h-%s\"><h2 id=\"h-%s\">%s</h2>\n", sections[i].id,
			   sections[i].id, sections[i].id, sections[i].title);
		buf_add(out, body[i].data, body[i].len);
		buf_str(out, "</section>\n");
		buf_free(&body[i]);
	}
	buf_str(out, "</main>\n");
	scripts(out, r);
	buf_str(out, "</body>\n</html>\n");
}
