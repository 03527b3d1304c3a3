// SPDX-License-Identifier: GPL-2.0-only
#include "recording/anonymise.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/fact_size.h"
#include "recording/anonymise_text.h"
#include "util/mem.h"

struct anonymiser {
	struct stand_ins *names;
	struct recording_writer *out;
	struct anonymised done;
	bool begun, ended; /* a header is written; `end` waits until all damage is known */
	struct frame end;
	struct buf text;
};

/* ---- facts ---- */

union fact {
	struct wire_head head;
	struct wire_sync sync;
	struct wire_sleep sleep;
	struct wire_request request;
	struct wire_follow follow;
	struct wire_file file;
	struct wire_bio bio;
	struct wire_work work;
};

/* What stands behind a name is cleared too: it may be the end of another. */
static void put_name(struct anonymiser *a, char *to, size_t size)
{
	size_t n = a->text.len < size ? a->text.len : size - 1;

	memset(to, 0, size);
	memcpy(to, a->text.data ? a->text.data : "", n);
}

static void name_task(struct anonymiser *a, char comm[16], bool kernel)
{
	buf_clear(&a->text);
	replace_task(a->names, comm, strnlen(comm, 15), kernel, &a->text);
	put_name(a, comm, 16);
}

static void name_file(struct anonymiser *a, struct wire_file *f)
{
	for (size_t i = WIRE_NAMES; i-- > 0;) {
		buf_clear(&a->text);
		if (i < f->n && f->name[i][0])
			replace_part(a->names, f->name[i], strnlen(f->name[i], WIRE_NAME), &a->text);
		put_name(a, f->name[i], WIRE_NAME);
	}
}

static void name_fact(struct anonymiser *a, union fact *f)
{
	switch (f->head.kind) {
	case WIRE_SYNC: name_task(a, f->sync.comm, false); break;
	case WIRE_FOLLOW:
		name_task(a, f->follow.comm, f->follow.kind != TASK_USER);
		f->follow.pad = 0;
		break;
	case WIRE_BIO: f->bio.work = f->bio.work == 1; break;
	case WIRE_WORK: memset(f->work.pad, 0, sizeof(f->work.pad)); break;
	case WIRE_FILE: name_file(a, &f->file); break;
	}
}

/* Of what can't be read only the head is written: reports count it among what was lost. What later versions add is cut off. */
static int take_fact(struct anonymiser *a, const struct wire_head *head, struct err *e)
{
	const struct fact_size size = fact_size(head->kind);
	union fact f = { .head = *head };

	if (head->size >= size.least) {
		f.head.size = head->size < size.whole ? head->size : (uint16_t)size.whole;
		memcpy((char *)&f + sizeof(f.head), head + 1, f.head.size - sizeof(f.head));
		name_fact(a, &f);
	} else {
		f.head.size = sizeof(f.head);
		a->done.left_out++;
	}
	a->done.records++;
	return recording_add(a->out, &f.head, e);
}

/* ---- counters ---- */

static int take_counts(struct anonymiser *a, const struct recording_record *rec, struct err *e)
{
	struct view_counts *v = xcalloc(1, sizeof(*v));
	uint32_t view;
	bool interval;
	int err = 0;

	if (recording_counts_decode(rec->data, rec->size, &view, &interval, v)) {
		a->done.left_out++;
	} else {
		buf_clear(&a->text);
		recording_counts_encode(view, interval, v, &a->text);
		err = recording_add_long(a->out, WIRE_COUNTS, a->text.data, a->text.len, e);
	}
	free(v);
	return err;
}

/* ---- what a run says of itself ---- */

static char *text_without_names(void *ctx, enum frame_text what, const char *text, size_t at)
{
	struct anonymiser *a = ctx;

	buf_clear(&a->text);
	replace_text(a->names, what, text, at, &a->text);
	return xstrdup(a->text.len ? a->text.data : "");
}

/* Of loop and dm it is a name. Their own names stay, so what kind a device is can be told afterwards too. */
static void name_model(struct anonymiser *a, struct report_device *d)
{
	if (!d->model)
		return;
	buf_clear(&a->text);
	replace_model(a->names, d->name, d->model, &a->text);
	free(d->model);
	d->model = xstrdup(a->text.len ? a->text.data : "");
}

static int read_frame(struct anonymiser *a, const struct recording_record *rec, struct frame *f, struct err *e)
{
	int err = frame_read(rec->data, rec->size, f, e);

	if (err)
		return err;
	frame_replace_texts(f, text_without_names, a);
	for (size_t i = 0; i < f->n_devices; i++)
		name_model(a, &f->device[i].facts);
	return 0;
}

static int write_frame(struct anonymiser *a, uint16_t kind, const struct frame *f, struct err *e)
{
	char *left_out, *text = frame_write(f, &left_out);
	int err = recording_add_long(a->out, kind, text, strlen(text), e);

	free(text);
	free(left_out);
	return err;
}

/* One that comes later brings places that are new: see the format. */
static int take_header(struct anonymiser *a, const struct recording_record *rec, struct err *e)
{
	struct frame f;
	int err = read_frame(a, rec, &f, e);

	if (err && !a->begun)
		return err;
	if (err) {
		a->done.left_out++;
		return 0;
	}
	err = write_frame(a, WIRE_HEADER, &f, e);
	frame_free(&f);
	a->begun = true;
	return err;
}

static void take_end(struct anonymiser *a, const struct recording_record *rec)
{
	struct err ignored;

	if (!a->ended && !read_frame(a, rec, &a->end, &ignored))
		a->ended = true;
	else
		a->done.left_out++;
}

/* The gaps that damage left are none in the new file: its end says of them. Without an end it is seen to be cut off. */
static int write_end(struct anonymiser *a, struct recording *in, struct err *e)
{
	char *damage;

	if (!a->ended)
		return 0;
	damage = recording_damage_note(in);
	if (damage) {
		a->end.run.incomplete = true;
		strv_add(&a->end.run.notes, xasprintf("%s%s", FROM_DAMAGED, damage));
	}
	free(damage);
	return write_frame(a, WIRE_END, &a->end, e);
}

/* ---- all ---- */

static int take(struct anonymiser *a, const struct recording_record *rec, struct err *e)
{
	if (rec->kind != WIRE_HEADER && !a->begun)
		return 0;
	switch (rec->kind) {
	case WIRE_HEADER: return take_header(a, rec, e);
	case WIRE_COUNTS: return take_counts(a, rec, e);
	case WIRE_END: take_end(a, rec); return 0;
	default:
		if (rec->head)
			return take_fact(a, rec->head, e);
		a->done.left_out++;
		return 0;
	}
}

int anonymise(struct recording *in, struct recording_writer *out, struct anonymised *done, struct err *e)
{
	struct anonymiser a = { .names = stand_ins_new(), .out = out };
	struct recording_record rec;
	int err = 0;

	while (!err && recording_next(in, &rec))
		err = take(&a, &rec, e);
	if (!err && !a.begun)
		err = err_set(e, EBADMSG, EXIT_FAILED,
			      "the beginning of the recording is damaged: nothing of it could be shown");
	if (!err)
		err = write_end(&a, in, e);
	if (!err)
		*done = a.done;
	frame_free(&a.end);
	buf_free(&a.text);
	stand_ins_free(a.names);
	return err;
}
