// SPDX-License-Identifier: GPL-2.0-only
/* A sync call that has not returned heads each output, its hostile path tamed; live, see tests/live/hang.bats. */
#include <stdlib.h>
#include <string.h>

#include "analyse/verdict/verdict.h"
#include "model/outstanding.h"
#include "render/render.h"
#include "render/tui/screen.h"
#include "tap.h"
#include "util/mem.h"

#define SEC 1000000000ull

static void make(struct report *r)
{
	struct report_outstanding *o = grow((void **)&r->outstanding, &r->n_outstanding, sizeof(*o));
	struct report_device *d = grow((void **)&r->device, &r->n_devices, sizeof(*d));

	snprintf(d->name, sizeof(d->name), "sda");
	*o = (struct report_outstanding){
		.pid = 4711,
		.tid = 4711,
		.comm = xstrdup("dd"),
		.cmdline = xstrdup("dd of=<f>"),
		.call = xstrdup("fsync"),
		.path = xstrdup("/srv/<f>\x1b"),
		.device = xstrdup("sda"),
		.before = true,
		.ns = 3 * SEC,
		.step = xstrdup("flush"),
	};
	r->have_sync = true;
	r->wall_ns = 2 * SEC;
	r->under_way = 1;
	r->under_way_ns = 3 * SEC;
	verdict_make(r);
}

static void shows(render_fn *render, const struct report *r, const char *first, const char *then, const char *never)
{
	struct render_opts o = { .unicode = false, .width = 200 };
	struct buf b = { 0 };
	const char *at;

	render(r, &o, &b);
	at = strstr(b.data, first);
	ok(at && strstr(at, then) && !strstr(b.data, never) && !strchr(b.data, '\x1b'), "%s .. %s", first, then);
	buf_free(&b);
}

static bool on_screen(const struct screen_grid *g, const char *text)
{
	struct buf b = { 0 };
	bool found;

	for (unsigned int i = 0; i < g->rows * g->cols; i++)
		buf_str(&b, g->cell[i].text);
	found = strstr(b.data, text);
	buf_free(&b);
	return found;
}

static void test_screen(const struct report *r)
{
	struct screen_state state;
	struct screen_grid g = { 0 };
	struct screen_view v = { .run = r, .state = &state };

	screen_state_init(&state, false, false);
	for (unsigned int rows = 8; rows <= 32; rows += 24) {
		screen_grid_size(&g, rows, 100);
		screen_draw(&v, &g);
		ok(on_screen(&g, "1 call has not returned: 3.00s dd (4711) fsync <f>"), "screen of %u rows", rows);
	}
	screen_grid_free(&g);
	screen_state_free(&state);
}

int main(void)
{
	struct report r = { 0 };

	make(&r);
	shows(render_text, &r, "has not returned", "sync calls none returned", "\x1b");
	shows(render_text, &r, ">= 3.00 s  dd (4711) fsync /srv/<f>", "dd of=<f>", "\x1b");
	shows(render_html, &r, "Sync calls that have not returned", "/srv/&lt;f&gt;", "/srv/<f>");
	shows(render_json, &r, "outstanding", "\"at_least_ns\": 3000000000", "since_ns");
	test_screen(&r);
	r.outstanding->before = false;
	shows(render_json, &r, "outstanding", "\"since_ns\": 3000000000", "at_least_ns");
	report_free(&r);
	return tap_done();
}
