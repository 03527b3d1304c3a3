// SPDX-License-Identifier: GPL-2.0-only
#include "run/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/report_builder.h"
#include "recording/recording.h"
#include "model/outstanding.h"
#include "recording/run_context_json.h"
#include "util/mem.h"

/* A view's counters as the recording has them: unpacked they take up to 12000 times as much. */
struct packed_counts {
	void *bytes; /* NULL: none came */
	size_t size;
};

struct replay {
	struct frame begin, end;
	bool have_begin, have_end, detail;
	struct sync_analysis *sync;
	struct packed_counts *packed; /* by view */
	uint32_t n_packed;
	struct view_counts *view; /* the one that was asked for last */
};

/* How many a recording may have: see VIEWS_MAX. */
#define VIEWS_MAX 4096u

/* Something was mounted, or a disk came. */
static void take_places(struct replay *p, const struct recording_record *rec)
{
	struct err ignored;
	struct frame f;

	if (frame_read(rec->data, rec->size, &f, &ignored))
		return;
	if (f.n_places)
		sync_learn(p->sync, f.place, f.n_places);
	frame_free(&f);
}

static int take_begin(struct replay *p, const struct recording_record *rec, struct err *e)
{
	struct sync_opts o;
	int err;

	if (p->have_begin) {
		take_places(p, rec);
		return 0;
	}
	err = frame_read(rec->data, rec->size, &p->begin, e);
	if (err)
		return err;
	p->have_begin = true;
	p->begin.detail = p->detail;
	o = frame_sync_opts(&p->begin);
	p->sync = sync_new(&o);
	return 0;
}

/* A view can be new: disks may have appeared after the beginning. */
static struct packed_counts *packed_of(struct replay *p, uint32_t view)
{
	if (view >= p->n_packed) {
		p->packed = xrealloc(p->packed, (view + 1) * sizeof(*p->packed));
		memset(&p->packed[p->n_packed], 0, (view + 1 - p->n_packed) * sizeof(*p->packed));
		p->n_packed = view + 1;
	}
	return &p->packed[view];
}

/* The latest of a view counts. */
static void take_counts(struct replay *p, const struct recording_record *rec)
{
	struct counts_outline c;
	struct packed_counts *to;

	if (recording_counts_outline(rec->data, rec->size, &c) || c.interval || c.view >= VIEWS_MAX)
		return;
	to = packed_of(p, c.view);
	to->size = rec->size;
	to->bytes = xrealloc(to->bytes, rec->size);
	memcpy(to->bytes, rec->data, rec->size);
}

static const struct view_counts *unpacked(void *ctx, uint32_t view)
{
	struct replay *p = ctx;
	const struct packed_counts *c = view < p->n_packed ? &p->packed[view] : NULL;
	bool interval;

	if (!c || !c->bytes || recording_counts_decode(c->bytes, c->size, &view, &interval, p->view))
		return NULL;
	return p->view;
}

static int take(struct replay *p, const struct recording_record *rec, struct err *e)
{
	switch (rec->kind) {
	case WIRE_HEADER: return take_begin(p, rec, e);
	case WIRE_COUNTS: take_counts(p, rec); return 0;
	case WIRE_END:
		if (!p->have_end && !frame_read(rec->data, rec->size, &p->end, e))
			p->have_end = true;
		return 0;
	default:
		if (rec->head && p->sync)
			sync_feed(p->sync, rec->head);
		return 0;
	}
}

/* Cut off: the kernel's counters are those of the beginning, and have nothing to be compared with; what hung then may have returned. */
static void forget_kernel(struct frame *f)
{
	outstanding_free(f->run.outstanding, f->run.n_outstanding);
	f->run.outstanding = NULL;
	f->run.n_outstanding = f->run.under_way = f->run.under_way_ns = 0;
	f->run.looked_before = false;
	for (size_t i = 0; i < f->n_devices; i++)
		f->device[i].facts.kernel.have = f->device[i].facts.kernel.have_flush = false;
}

static void finish(struct replay *p, bool damaged, struct report *out)
{
	struct frame *f = p->have_end ? &p->end : &p->begin;

	if (!p->have_end)
		forget_kernel(f);
	f->damaged = damaged;
	report_build(f, unpacked, p, f->ledger ? p->sync : NULL, REPORT_FINAL, out);
	out->final = true;
}

static int replay_all(struct recording *r, const char *path, bool detail, struct report *out, char **damage, struct err *e)
{
	struct replay p = { .detail = detail, .view = xcalloc(1, sizeof(*p.view)) };
	struct recording_record rec;
	int err = 0;

	while (!err && recording_next(r, &rec))
		err = take(&p, &rec, e);
	if (!err && !p.have_begin)
		err = err_set(e, EBADMSG, EXIT_FAILED, "%s: its beginning is damaged: nothing can be shown", path);
	*damage = err ? NULL : recording_damage_note(r);
	if (!err)
		finish(&p, *damage, out);
	if (*damage) {
		out->incomplete = true;
		strv_add(&out->notes, xasprintf("the recording is not whole: %s", *damage));
	}
	recording_free(r);
	sync_free(p.sync);
	frame_free(&p.begin);
	frame_free(&p.end);
	for (uint32_t i = 0; i < p.n_packed; i++)
		free(p.packed[i].bytes);
	free(p.packed);
	free(p.view);
	return err;
}

int replay(const char *path, bool detail, struct report *out, char **damage, struct err *e)
{
	struct recording *r;
	int err = recording_open(path, &r, e);

	return err ? err : replay_all(r, path, detail, out, damage, e);
}

int replay_fd(int fd, const char *path, bool detail, struct report *out, char **damage, struct err *e)
{
	struct recording *r;
	int err = recording_open_fd(fd, path, &r, e);

	return err ? err : replay_all(r, path, detail, out, damage, e);
}
