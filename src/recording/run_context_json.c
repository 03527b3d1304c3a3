// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frame as JSON.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/fields_json.h"
#include "model/outstanding.h"
#include "recording/recording.h"
#include "recording/run_context_json.h"
#include "util/buf.h"
#include "util/mem.h"

#define FRAME_MAX (RECORDING_LONG_MAX - 1024) /* and what is said of what was left out */

/* clang-format off */
static const struct field run_fields[] = {
	FIELD_THAT(TEXT_OPEN, STRING, report, version), FIELD_THAT(TEXT_OPEN, STRING, report, start), FIELD(U64, report, wall_ns),
	FIELD_THAT(TEXT_COMMAND, STRV, report, command), FIELD(BOOL, report, arguments_hidden), FIELD(BOOL, report, have_exit_status), FIELD(INT, report, exit_status), FIELD(BOOL, report, stopped),
	FIELD(U64, report, processes), FIELD(U64, report, threads), FIELD_THAT(TEXT_RELEASE, STRING, report, kernel), FIELD_THAT(TEXT_OPEN, STRING, report, arch),
	FIELD(STRING, report, filter), FIELD(BOOL, report, final), FIELD(U64, report, lost_events),
	FIELD(U64, report, under_way), FIELD(U64, report, under_way_ns), FIELD(U64, report, left_running), FIELD(U32, report, left_pid), FIELD_THAT(TEXT_TASK, TEXT, report, left_comm),
	FIELD(BOOL, report, looked_before), FIELD(U64, report, began_before), FIELD(U64, report, began_before_ns),
	FIELD(U64, report, unrecorded), FIELD(U64, report, unrecorded_ns), FIELD(U64, report, idle_unended), FIELD(BOOL, report, incomplete), FIELD_THAT(TEXT_NOTE, STRV, report, notes), FIELDS_END
};

static const struct field probe_fields[] = {
	FIELD_THAT(TEXT_OPEN, STRING, report_probe, name), FIELD_THAT(TEXT_OPEN, STRING, report_probe, rung), FIELD(INT, report_probe, state),
	FIELD_THAT(TEXT_OPEN, STRING, report_probe, reason), FIELDS_END
};

static const struct field outstanding_fields[] = {
	FIELD(U32, report_outstanding, pid), FIELD(U32, report_outstanding, tid), FIELD_THAT(TEXT_TASK, STRING, report_outstanding, comm),
	FIELD_THAT(TEXT_CMDLINE, STRING, report_outstanding, cmdline), FIELD_THAT(TEXT_OPEN, STRING, report_outstanding, call), FIELD_THAT(TEXT_PATH, STRING, report_outstanding, path),
	FIELD_THAT(TEXT_DISK, STRING, report_outstanding, device), FIELD(BOOL, report_outstanding, before), FIELD(BOOL, report_outstanding, other),
	FIELD(U64, report_outstanding, ns), FIELD_THAT(TEXT_OPEN, STRING, report_outstanding, step), FIELD_THAT(TEXT_OPEN, STRING, report_outstanding, where),
	FIELD_THAT(TEXT_TASK, STRING, report_outstanding, via), FIELD(U32, report_outstanding, via_tid), FIELD_THAT(TEXT_OPEN, STRING, report_outstanding, op),
	FIELD_THAT(TEXT_DISK, STRING, report_outstanding, disk), FIELD(BOOL, report_outstanding, certain), FIELD(BOOL, report_outstanding, queued),
	FIELD(BOOL, report_outstanding, request_before), FIELD(U64, report_outstanding, request_ns), FIELDS_END
};

static const struct field lost_fields[] = {
	FIELD_THAT(TEXT_OPEN, STRING, report_lost, reason), FIELD(U64, report_lost, count), FIELD(U32, report_lost, reach), FIELDS_END
};

static const struct field device_fields[] = {
	FIELD_THAT(TEXT_DISK, TEXT, report_device, name), FIELD(U32, report_device, major), FIELD(U32, report_device, minor),
	FIELD_THAT(TEXT_OPEN, STRING, report_device, model) /* see replace_model() */, FIELD_THAT(TEXT_OPEN, STRING, report_device, write_cache),
	FIELD_THAT(TEXT_OPEN, STRING, report_device, scheduler), FIELD(BOOL, report_device, have_fua), FIELD(BOOL, report_device, fua),
	FIELD(BOOL, report_device, have_rotational), FIELD(BOOL, report_device, rotational),
	FIELD(BOOL, report_device, have_wbt), FIELD(U64, report_device, wbt_lat_us), FIELD(U64, report_device, nr_requests),
	FIELD(U64, report_device, size), FIELD_THAT(TEXT_DISK, STRV, report_device, slaves), FIELD_THAT(TEXT_VIA, STRING, report_device, via),
	FIELD_THAT(TEXT_DISK, STRING, report_device, disk), FIELD(BOOL, report_device, vanished), FIELD(BOOL, report_device, bio_based),
	FIELD(U64, report_device, diskseq), FIELD(U64, report_device, from_ns), FIELDS_END
};

static const struct field kernel_fields[] = {
	FIELD(BOOL, report_kernel, have), FIELD(BOOL, report_kernel, have_flush), FIELD(U64, report_kernel, reads),
	FIELD(U64, report_kernel, read_bytes), FIELD(U64, report_kernel, read_ns), FIELD(U64, report_kernel, writes),
	FIELD(U64, report_kernel, write_bytes), FIELD(U64, report_kernel, write_ns), FIELD(U64, report_kernel, discards),
	FIELD(U64, report_kernel, discard_bytes), FIELD(U64, report_kernel, discard_ns),
	FIELD(U64, report_kernel, flushes), FIELD(U64, report_kernel, flush_ns), FIELD(U64, report_kernel, edge_flushes), FIELDS_END
};

static const struct field in_flight_fields[] = {
	FIELD(BOOL, requests_in_flight, have), FIELD(BOOL, requests_in_flight, by_kind), FIELD(U64, requests_in_flight, n[ROW_READ]),
	FIELD(U64, requests_in_flight, n[ROW_WRITE]), FIELD(U64, requests_in_flight, n[ROW_FUA]),
	FIELD(U64, requests_in_flight, n[ROW_FLUSH]), FIELD(U64, requests_in_flight, n[ROW_DISCARD]),
	FIELD(U64, requests_in_flight, n[ROW_OTHER]), FIELDS_END
};

static const struct field mount_fields[] = {
	FIELD_THAT(TEXT_PATH, STRING, report_mount, dir), FIELD_THAT(TEXT_FSTYPE, STRING, report_mount, fstype), FIELD_THAT(TEXT_OPTIONS, STRING, report_mount, options),
	FIELD_THAT(TEXT_OPEN, STRING, report_mount, barrier), FIELDS_END
};

static const struct field view_fields[] = {
	FIELD(U32, frame_device, view), FIELD(U32, frame_device, n_parts), FIELD(U32S, frame_device, part_view), FIELDS_END
};

static const struct field frame_fields[] = {
	FIELD(U32, frame, views), FIELD(BOOL, frame, all), FIELD(BOOL, frame, only_command), FIELD(BOOL, frame, ledger),
	FIELD(U64, frame, start_ns), FIELD(U64, frame, known_ns), FIELDS_END
};

static const struct field place_fields[] = {
	FIELD(U32, device_name, dev), FIELD_THAT(TEXT_DISK, TEXT, device_name, name), FIELD_THAT(TEXT_PATH, TEXT, device_name, mount),
	FIELD_THAT(TEXT_FSTYPE, TEXT, device_name, fstype), FIELD(BOOL, device_name, traced), FIELD(BOOL, device_name, volatile_cache),
	FIELD(BOOL, device_name, nobarrier), FIELDS_END
};

static const struct field symbol_fields[] = {
	FIELD_THAT(TEXT_OPEN, TEXT, kernel_symbol, name), FIELD(U64, kernel_symbol, start), FIELD(U64, kernel_symbol, end), FIELDS_END
};
/* clang-format on */

/* ---- writing ---- */

/* {"column_ns": .., "n": [column, row, count, column, row, ..]} */
static json_t *heat_out(const struct heat *h)
{
	json_t *n = xmust(json_array());

	for (uint32_t c = 0; c < h->columns; c++) {
		for (int r = 0; r < HEAT_ROWS; r++) {
			if (!h->n[c][r])
				continue;
			json_array_append_new(n, json_integer(c));
			json_array_append_new(n, json_integer(r));
			json_array_append_new(n, json_integer(h->n[c][r]));
		}
	}
	return xmust(json_pack("{s:I, s:o}", "column_ns", (json_int_t)h->column_ns, "n", n));
}

static json_t *heats_out(const struct report_device *d)
{
	json_t *o = xmust(json_object());

	for (int c = 0; c < HEAT_CLASSES; c++)
		if (d->heat[c])
			json_object_set_new(o, heat_class_name((enum heat_class)c), heat_out(d->heat[c]));
	return o;
}

static json_t *device_out(const struct frame_device *fd)
{
	json_t *o = fields_to_json(device_fields, &fd->facts);

	json_object_set_new(o, "kernel", fields_to_json(kernel_fields, &fd->facts.kernel));
	if (fd->facts.in_flight.have)
		json_object_set_new(o, "in_flight", fields_to_json(in_flight_fields, &fd->facts.in_flight));
	json_object_set_new(o, "mounts",
			    fields_to_json_array(mount_fields, fd->facts.mounts, fd->facts.n_mounts,
						 sizeof(struct report_mount)));
	json_object_set_new(o, "views", fields_to_json(view_fields, fd));
	json_object_set_new(o, "heat", heats_out(&fd->facts));
	return o;
}

json_t *frame_encode(const struct frame *f)
{
	json_t *o = fields_to_json(frame_fields, f), *devices = xmust(json_array());

	json_object_set_new(o, "run", fields_to_json(run_fields, &f->run));
	json_object_set_new(o, "probes",
			    fields_to_json_array(probe_fields, f->run.probe, f->run.n_probes, sizeof(struct report_probe)));
	json_object_set_new(o, "lost",
			    fields_to_json_array(lost_fields, f->run.lost, f->run.n_lost, sizeof(struct report_lost)));
	json_object_set_new(o, "outstanding",
			    fields_to_json_array(outstanding_fields, f->run.outstanding, f->run.n_outstanding,
						 sizeof(struct report_outstanding)));
	for (size_t i = 0; i < f->n_devices; i++)
		json_array_append_new(devices, device_out(&f->device[i]));
	json_object_set_new(o, "devices", devices);
	json_object_set_new(o, "places", fields_to_json_array(place_fields, f->place, f->n_places, sizeof(*f->place)));
	json_object_set_new(o, "symbols", fields_to_json_array(symbol_fields, f->symbol, f->n_symbols, sizeof(*f->symbol)));
	return o;
}

/* What a description can do without, if it is too long: the first of these first. */
static const struct {
	const char *key;
	bool of_devices;
	const char *name;
} extras[] = {
	{ "heat", true, "heat maps" },
	{ "mounts", true, "the disks' mounts" },
	{ "places", false, "what is mounted" },
	{ "outstanding", false, "calls that have not returned" },
};

static void leave_out(json_t *o, size_t i)
{
	json_t *devices = json_object_get(o, "devices"), *device;
	size_t at;

	if (!extras[i].of_devices)
		json_object_del(o, extras[i].key);
	else
		json_array_foreach(devices, at, device) json_object_del(device, extras[i].key);
}

/* What was left out stands in it, and makes it incomplete. */
static void note_left_out(json_t *o, const char *what)
{
	json_t *run = json_object_get(o, "run"), *notes = json_object_get(run, "notes");
	char *note = xasprintf("the recording does not have %s, as its description of the run would be too long", what);

	if (!notes)
		json_object_set_new(run, "notes", notes = xmust(json_array()));
	json_array_append_new(notes, xmust(json_string(note)));
	json_object_set_new(run, "incomplete", json_true());
	free(note);
}

char *frame_write(const struct frame *f, char **left_out)
{
	json_t *o = frame_encode(f);
	char *text = xmust(json_dumps(o, JSON_COMPACT));
	struct buf what = { 0 };

	for (size_t i = 0; strlen(text) > FRAME_MAX && i < sizeof(extras) / sizeof(extras[0]); i++) {
		leave_out(o, i);
		buf_printf(&what, "%s%s", what.len ? ", " : "", extras[i].name);
		free(text);
		text = xmust(json_dumps(o, JSON_COMPACT));
	}
	if (what.len) {
		note_left_out(o, what.data);
		free(text);
		text = xmust(json_dumps(o, JSON_COMPACT));
	}
	json_decref(o);
	*left_out = what.data;
	return text;
}

/* ---- names ---- */

static void string_replace(char **s, enum frame_text what, size_t at, frame_text_fn *replace, void *ctx)
{
	char *new = replace(ctx, what, *s, at);

	free(*s);
	*s = new;
}

static void field_replace(const struct field *f, void *p, frame_text_fn *replace, void *ctx)
{
	const enum frame_text what = (enum frame_text)f->holds;
	char **v = f->type == FIELD_STRV ? *(char ***)p : NULL, *text;

	if (f->type == FIELD_STRING && *(char **)p)
		string_replace(p, what, 0, replace, ctx);
	for (size_t i = 0; v && v[i]; i++)
		string_replace(&v[i], what, i, replace, ctx);
	if (f->type != FIELD_TEXT)
		return;
	text = replace(ctx, what, p, 0);
	memset(p, 0, f->size);
	snprintf(p, f->size, "%s", text);
	free(text);
}

static void struct_replace(const struct field *f, void *s, frame_text_fn *replace, void *ctx)
{
	for (; f->key; f++)
		field_replace(f, (char *)s + f->offset, replace, ctx);
}

static void array_replace(const struct field *f, void *first, size_t n, size_t size, frame_text_fn *replace, void *ctx)
{
	for (size_t i = 0; i < n; i++)
		struct_replace(f, (char *)first + i * size, replace, ctx);
}

/* Mount points first: a directory is seen to be one there, and in arguments it is not. */
void frame_replace_texts(struct frame *f, frame_text_fn *replace, void *ctx)
{
	struct report *r = &f->run;

	array_replace(place_fields, f->place, f->n_places, sizeof(*f->place), replace, ctx);
	for (size_t i = 0; i < f->n_devices; i++) {
		struct report_device *d = &f->device[i].facts;

		array_replace(mount_fields, d->mounts, d->n_mounts, sizeof(*d->mounts), replace, ctx);
		struct_replace(device_fields, d, replace, ctx);
	}
	struct_replace(run_fields, r, replace, ctx);
	array_replace(probe_fields, r->probe, r->n_probes, sizeof(*r->probe), replace, ctx);
	array_replace(lost_fields, r->lost, r->n_lost, sizeof(*r->lost), replace, ctx);
	array_replace(outstanding_fields, r->outstanding, r->n_outstanding, sizeof(*r->outstanding), replace, ctx);
	array_replace(symbol_fields, f->symbol, f->n_symbols, sizeof(*f->symbol), replace, ctx);
}

/* ---- reading: from a file that anybody may have written ---- */

/* NULL when it makes no sense: a picture less, no reason to refuse the rest. */
static struct heat *heat_in(const json_t *o)
{
	const json_t *n = json_object_get(o, "n");
	json_int_t width = json_integer_value(json_object_get(o, "column_ns"));
	struct heat *h;

	if (width <= 0 || width > INT64_MAX / HEAT_COLUMNS)
		return NULL;
	h = xcalloc(1, sizeof(*h));
	h->column_ns = (uint64_t)width;
	for (size_t i = 0; i + 2 < json_array_size(n); i += 3) {
		json_int_t c = json_integer_value(json_array_get(n, i)), r = json_integer_value(json_array_get(n, i + 1));
		json_int_t count = json_integer_value(json_array_get(n, i + 2));

		if (c < 0 || c >= HEAT_COLUMNS || r < 0 || r >= HEAT_ROWS || count <= 0 || count > UINT32_MAX)
			continue;
		h->n[c][r] = (uint32_t)count;
		if (c >= h->columns)
			h->columns = (uint32_t)c + 1;
	}
	return h;
}

static void heats_in(const json_t *o, struct report_device *d)
{
	for (int c = 0; c < HEAT_CLASSES; c++) {
		const json_t *j = json_object_get(o, heat_class_name((enum heat_class)c));

		if (j)
			d->heat[c] = heat_in(j);
	}
}

/*
 * What can be meant. A run has no more than 4096 disks (WIRE_MAX_QUEUES), and a view is one disk's or partition's, and a
 * part of one disk. Probes, reasons for losses and functions are rows of this program's tables, of which none has 100.
 */
#define VIEWS_MAX 4096u
#define ROWS_MAX  1024u

/* Which views were taken, by a device or as a part. */
struct taken {
	bool device[VIEWS_MAX], part[VIEWS_MAX];
};

static bool sane_views(const struct frame *f, const struct frame_device *fd)
{
	if (fd->view >= f->views || fd->n_parts > WIRE_MAX_PARTS)
		return false;
	for (uint32_t i = 0; i < fd->n_parts; i++)
		if (fd->part_view[i] >= f->views)
			return false;
	return true;
}

/* False: another device has one of them. */
static bool take_views(const struct frame_device *fd, struct taken *t)
{
	bool again = t->device[fd->view];

	t->device[fd->view] = true;
	for (uint32_t i = 0; i < fd->n_parts; i++) {
		again |= t->part[fd->part_view[i]];
		t->part[fd->part_view[i]] = true;
	}
	return !again;
}

static void device_in(const json_t *o, struct frame_device *fd)
{
	fields_from_json(device_fields, o, &fd->facts);
	fields_from_json(kernel_fields, json_object_get(o, "kernel"), &fd->facts.kernel);
	fd->facts.kernel.have_flush &= fd->facts.kernel.have;
	fields_from_json(in_flight_fields, json_object_get(o, "in_flight"), &fd->facts.in_flight);
	fields_from_json_array(mount_fields, json_object_get(o, "mounts"), (void **)&fd->facts.mounts,
			       &fd->facts.n_mounts, sizeof(struct report_mount));
	heats_in(json_object_get(o, "heat"), &fd->facts);
}

static bool devices_in(const json_t *a, struct frame *f)
{
	struct taken *taken = xcalloc(1, sizeof(*taken));
	bool ok = true;

	for (size_t i = 0; ok && i < json_array_size(a); i++) {
		const json_t *one = json_array_get(a, i);
		struct frame_device fd = { 0 };

		fields_from_json(view_fields, json_object_get(one, "views"), &fd);
		ok = sane_views(f, &fd) && take_views(&fd, taken);
		if (!ok)
			break;
		device_in(one, &fd);
		*(struct frame_device *)grow((void **)&f->device, &f->n_devices, sizeof(fd)) = fd;
	}
	free(taken);
	return ok;
}

static bool sane_probes(const struct frame *f)
{
	for (size_t i = 0; i < f->run.n_probes; i++)
		if (!f->run.probe[i].name || f->run.probe[i].state > PROBE_OFF)
			return false;
	for (size_t i = 0; i < f->run.n_lost; i++)
		if (!f->run.lost[i].reason)
			return false;
	return true;
}

static bool sane_outstanding(const struct frame *f)
{
	for (size_t i = 0; i < f->run.n_outstanding; i++) {
		const struct report_outstanding *o = &f->run.outstanding[i];

		if (!o->comm || !o->call || !o->step || !o->op != !o->disk)
			return false;
	}
	return true;
}

/* Arrays of the frame's own. False: one is longer than any run's. */
static bool arrays_in(const json_t *j, struct frame *f)
{
	const struct {
		const char *key;
		const struct field *fields;
		size_t most, size;
		void **first;
		size_t *n;
	} arrays[] = {
#define A(key, what, most, first, n) { key, what##_fields, most, sizeof(*(first)), (void **)&(first), &(n) }
		A("probes", probe, ROWS_MAX, f->run.probe, f->run.n_probes),
		A("lost", lost, ROWS_MAX, f->run.lost, f->run.n_lost),
		A("outstanding", outstanding, SIZE_MAX, f->run.outstanding, f->run.n_outstanding),
		A("places", place, SIZE_MAX, f->place, f->n_places),
		A("symbols", symbol, ROWS_MAX, f->symbol, f->n_symbols),
#undef A
	};

	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		const json_t *a = json_object_get(j, arrays[i].key);

		if (json_array_size(a) > arrays[i].most)
			return false;
		fields_from_json_array(arrays[i].fields, a, arrays[i].first, arrays[i].n, arrays[i].size);
	}
	return true;
}

int frame_decode(const json_t *j, struct frame *out, struct err *e)
{
	struct frame f = { 0 };
	bool ok = json_is_object(j) && json_is_object(json_object_get(j, "run"));

	fields_from_json(frame_fields, j, &f);
	fields_from_json(run_fields, json_object_get(j, "run"), &f.run);
	ok = ok && arrays_in(j, &f) && f.views <= VIEWS_MAX && sane_probes(&f) && sane_outstanding(&f) &&
	     devices_in(json_object_get(j, "devices"), &f);
	if (!ok) {
		frame_free(&f);
		return err_set(e, EBADMSG, EXIT_FAILED, "the recording's description of the run makes no sense");
	}
	*out = f;
	return 0;
}

int frame_read(const void *text, size_t n, struct frame *out, struct err *e)
{
	json_t *j = json_loadb(text, n, 0, NULL);
	int err = frame_decode(j, out, e);

	json_decref(j);
	return err;
}
