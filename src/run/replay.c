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

struct replay {
	struct frame begin, end;
	bool have_begin, have_end, detail;
	struct sync_analysis *sync;
	struct view_counts *views; /* room for every view that the frames may name */
	uint32_t n_views;
};

static int take_frame(const struct recording_record *rec, struct frame *f, struct err *e)
{
	json_t *j = json_loadb(rec->data, rec->size, 0, NULL);
	int err = frame_decode(j, f, e);

	json_decref(j);
	return err;
}

static int take_begin(struct replay *p, const struct recording_record *rec, struct err *e)
{
	struct sync_opts o;
	int err;

	if (p->have_begin)
		return 0;
	err = take_frame(rec, &p->begin, e);
	if (err)
		return err;
	p->have_begin = true;
	p->begin.detail = p->detail;
	o = frame_sync_opts(&p->begin);
	p->sync = sync_new(&o);
	return 0;
}

/* A view can be new: disks may have appeared after the beginning. */
static void take_counts(struct replay *p, const struct recording_record *rec)
{
	struct view_counts *v = xcalloc(1, sizeof(*v));
	uint32_t view;
	bool interval;

	if (!recording_counts_decode(rec->kind, rec->data, rec->size, &view, &interval, v) && !interval && view < 4096) {
		if (view >= p->n_views) {
			p->views = xrealloc(p->views, (view + 1) * sizeof(*p->views));
			memset(&p->views[p->n_views], 0, (view + 1 - p->n_views) * sizeof(*p->views));
			p->n_views = view + 1;
		}
		p->views[view] = *v;
	}
	free(v);
}

static int take(struct replay *p, const struct recording_record *rec, struct err *e)
{
	switch (rec->kind) {
	case WIRE_HEADER: return take_begin(p, rec, e);
	case WIRE_COUNTS:
	case WIRE_COUNTS_32: take_counts(p, rec); return 0;
	case WIRE_END:
		if (!p->have_end && !take_frame(rec, &p->end, e))
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
		f->device[i].facts.kernel.have = false;
}

static void finish(struct replay *p, bool damaged, struct report *out)
{
	struct frame *f = p->have_end ? &p->end : &p->begin;

	if (!p->have_end)
		forget_kernel(f);
	if (p->n_views < f->views) {
		p->views = xrealloc(p->views, f->views * sizeof(*p->views));
		memset(&p->views[p->n_views], 0, (f->views - p->n_views) * sizeof(*p->views));
		p->n_views = f->views;
	}
	f->damaged = damaged;
	report_build(f, p->views, f->ledger ? p->sync : NULL, REPORT_FINAL, out);
	out->final = true;
}

static int replay_all(struct recording *r, const char *path, bool detail, struct report *out, char **damage, struct err *e)
{
	struct replay p = { .detail = detail };
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
	free(p.views);
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
