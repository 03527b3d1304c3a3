// SPDX-License-Identifier: GPL-2.0-only
/* A disk and the one that took its place under the same name and device number: apart in a report, live and from a recording. */
#include <string.h>

#include "analyse/report_builder.h"
#include "model/scope_counts.h"
#include "recording/run_context_json.h"
#include "render/render.h"
#include "util/mem.h"
#include "tap.h"

static struct view_counts views[2];

static struct report_device *add(struct frame *f, const char *name, uint32_t view, uint64_t diskseq)
{
	struct frame_device *fd = grow((void **)&f->device, &f->n_devices, sizeof(*fd));

	fd->view = view;
	strcpy(fd->facts.name, name);
	fd->facts.major = 7;
	fd->facts.minor = 77;
	fd->facts.diskseq = diskseq;
	return &fd->facts;
}

/* The first wrote 25 times, the second 35 times, of which the kernel says that it were 36. */
static void make(struct frame *f)
{
	struct report_device *d;

	*f = (struct frame){ .views = 2 };
	views[0].cell[WIRE_WRITE_SYNC].count = 25;
	views[1].cell[WIRE_WRITE_SYNC].count = 35;
	add(f, "loop77", 0, 15)->vanished = true;
	d = add(f, "loop77 (diskseq 17)", 1, 17);
	d->from_ns = 2500000000;
	d->kernel = (struct report_kernel){ .have = true, .writes = 36 };
}

static void is_apart(const struct report *r, const char *how)
{
	const struct report_device *a = r->device, *b = a + 1;

	if (!ok(r->n_devices == 2, "%s: two disks", how))
		return;
	ok(!strcmp(a->name, "loop77") && a->diskseq == 15 && a->vanished && !a->from_ns, "%s: the first has gone", how);
	ok(!strcmp(b->name, "loop77 (diskseq 17)") && b->diskseq == 17 && !b->vanished && b->from_ns == 2500000000,
	   "%s: the second has come", how);
	ok(a->op[OP_WRITE_SYNC].count == 25 && b->op[OP_WRITE_SYNC].count == 35, "%s: each has its own requests", how);
	ok(!a->kernel.have && b->kernel.writes == 36 && r->lost_events == 1,
	   "%s: the kernel's counters are compared with those of their own disk", how);
}

static void is_in_json(const struct report *r)
{
	struct render_opts o = { 0 };
	FREED(buf) struct buf b = { 0 };

	render_ndjson(r, &o, &b);
	buf_str(&b, "");
	ok(strstr(b.data, "\"diskseq\":15") && strstr(b.data, "\"diskseq\":17") && strstr(b.data, "\"from_ns\":2500000000"),
	   "the JSON says which disk and from when");
}

int main(void)
{
	struct frame live, replayed = { 0 };
	struct report r;
	struct err e = { 0 };
	json_t *j;

	make(&live);
	j = frame_encode(&live);
	ok(!frame_decode(j, &replayed, &e), "the disks are recorded: %s", e.text);
	json_decref(j);
	report_build(&live, view_counts_at, views, NULL, REPORT_FINAL, &r);
	is_apart(&r, "live");
	is_in_json(&r);
	report_free(&r);
	report_build(&replayed, view_counts_at, views, NULL, REPORT_FINAL, &r);
	is_apart(&r, "replayed");
	report_free(&r);
	frame_free(&live);
	frame_free(&replayed);
	return tap_done();
}
