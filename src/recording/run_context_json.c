// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frame as JSON. Each struct is a table of its members, read in both directions, so that what is written and what is
 * read can't differ.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/outstanding.h"
#include "recording/recording.h"
#include "recording/run_context_json.h"
#include "util/buf.h"
#include "util/mem.h"

#define FRAME_MAX (RECORDING_LONG_MAX - 1024) /* and what is said of what was left out */

enum member_type { M_STRING, M_TEXT, M_U64, M_U32, M_INT, M_BOOL, M_STRV, M_U32S };

struct member {
	const char *key;
	enum member_type type;
	size_t offset, size; /* size: of a char array (M_TEXT) */
	enum frame_text text;
};

#define M(type_, struct_, field) T(type_, TEXT_PRIVATE, struct_, field)
#define T(type_, text_, struct_, field) \
	{ \
#field, type_, offsetof(struct struct_, field), sizeof(((struct struct_ *)0)->field), text_ \
	}
#define END \
	{ \
		NULL, M_STRING, 0, 0, TEXT_PRIVATE \
	}

/* clang-format off */
static const struct member run_members[] = {
	T(M_STRING, TEXT_OPEN, report, version), T(M_STRING, TEXT_OPEN, report, start), M(M_U64, report, wall_ns), M(M_U64, report, user_ns), M(M_U64, report, kernel_cpu_ns),
	T(M_STRV, TEXT_COMMAND, report, command), M(M_BOOL, report, arguments_hidden), M(M_BOOL, report, have_exit_status), M(M_INT, report, exit_status),
	M(M_U64, report, processes), M(M_U64, report, threads), T(M_STRING, TEXT_RELEASE, report, kernel), T(M_STRING, TEXT_OPEN, report, arch),
	M(M_STRING, report, filter), M(M_BOOL, report, final), M(M_U64, report, lost_events),
	M(M_U64, report, under_way), M(M_U64, report, under_way_ns), M(M_U64, report, left_running), M(M_U32, report, left_pid), T(M_TEXT, TEXT_TASK, report, left_comm),
	M(M_BOOL, report, looked_before), M(M_U64, report, began_before), M(M_U64, report, began_before_ns),
	M(M_U64, report, unrecorded), M(M_U64, report, unrecorded_ns), M(M_U64, report, idle_unended), M(M_BOOL, report, incomplete), T(M_STRV, TEXT_NOTE, report, notes), END
};

static const struct member probe_members[] = {
	T(M_STRING, TEXT_OPEN, report_probe, name), T(M_STRING, TEXT_OPEN, report_probe, rung), M(M_INT, report_probe, state),
	T(M_STRING, TEXT_OPEN, report_probe, reason), END
};

static const struct member outstanding_members[] = {
	M(M_U32, report_outstanding, pid), M(M_U32, report_outstanding, tid), T(M_STRING, TEXT_TASK, report_outstanding, comm),
	T(M_STRING, TEXT_CMDLINE, report_outstanding, cmdline), T(M_STRING, TEXT_OPEN, report_outstanding, call), T(M_STRING, TEXT_PATH, report_outstanding, path),
	T(M_STRING, TEXT_DISK, report_outstanding, device), M(M_BOOL, report_outstanding, before), M(M_BOOL, report_outstanding, other),
	M(M_U64, report_outstanding, ns), T(M_STRING, TEXT_OPEN, report_outstanding, step), T(M_STRING, TEXT_OPEN, report_outstanding, where),
	T(M_STRING, TEXT_TASK, report_outstanding, via), M(M_U32, report_outstanding, via_tid), T(M_STRING, TEXT_OPEN, report_outstanding, op),
	T(M_STRING, TEXT_DISK, report_outstanding, disk), M(M_BOOL, report_outstanding, certain), M(M_BOOL, report_outstanding, queued),
	M(M_BOOL, report_outstanding, request_before), M(M_U64, report_outstanding, request_ns), END
};

static const struct member lost_members[] = {
	T(M_STRING, TEXT_OPEN, report_lost, reason), M(M_U64, report_lost, count), M(M_U32, report_lost, reach), END
};

static const struct member pace_members[] = {
	M(M_U64, pace_point, idle_ns), M(M_U64, pace_point, work_ns), M(M_U64, pace_point, wake_ns), END
};

static const struct member device_members[] = {
	T(M_TEXT, TEXT_DISK, report_device, name), M(M_U32, report_device, major), M(M_U32, report_device, minor),
	T(M_STRING, TEXT_OPEN, report_device, model) /* see replace_model() */, T(M_STRING, TEXT_OPEN, report_device, write_cache),
	T(M_STRING, TEXT_OPEN, report_device, scheduler), M(M_BOOL, report_device, have_fua), M(M_BOOL, report_device, fua),
	M(M_BOOL, report_device, have_rotational), M(M_BOOL, report_device, rotational),
	M(M_BOOL, report_device, have_wbt), M(M_U64, report_device, wbt_lat_us), M(M_U64, report_device, nr_requests),
	M(M_U64, report_device, size), T(M_STRV, TEXT_DISK, report_device, slaves), T(M_STRING, TEXT_VIA, report_device, via),
	T(M_STRING, TEXT_DISK, report_device, disk), M(M_BOOL, report_device, vanished), M(M_BOOL, report_device, bio_based),
	M(M_U64, report_device, diskseq), M(M_U64, report_device, from_ns), END
};

static const struct member kernel_members[] = {
	M(M_BOOL, report_kernel, have), M(M_BOOL, report_kernel, have_flush), M(M_U64, report_kernel, reads),
	M(M_U64, report_kernel, read_bytes), M(M_U64, report_kernel, read_ns), M(M_U64, report_kernel, writes),
	M(M_U64, report_kernel, write_bytes), M(M_U64, report_kernel, write_ns), M(M_U64, report_kernel, discards),
	M(M_U64, report_kernel, discard_bytes), M(M_U64, report_kernel, discard_ns),
	M(M_U64, report_kernel, flushes), M(M_U64, report_kernel, flush_ns), M(M_U64, report_kernel, edge_flushes), END
};

static const struct member in_flight_members[] = {
	M(M_BOOL, requests_in_flight, have), M(M_BOOL, requests_in_flight, by_kind), M(M_U64, requests_in_flight, n[ROW_READ]),
	M(M_U64, requests_in_flight, n[ROW_WRITE]), M(M_U64, requests_in_flight, n[ROW_FUA]),
	M(M_U64, requests_in_flight, n[ROW_FLUSH]), M(M_U64, requests_in_flight, n[ROW_DISCARD]),
	M(M_U64, requests_in_flight, n[ROW_OTHER]), END
};

static const struct member mount_members[] = {
	T(M_STRING, TEXT_PATH, report_mount, dir), T(M_STRING, TEXT_FSTYPE, report_mount, fstype), T(M_STRING, TEXT_OPTIONS, report_mount, options),
	T(M_STRING, TEXT_OPEN, report_mount, barrier), END
};

static const struct member view_members[] = {
	M(M_U32, frame_device, view), M(M_U32, frame_device, n_parts), M(M_U32S, frame_device, part_view), END
};

static const struct member frame_members[] = {
	M(M_U32, frame, views), M(M_BOOL, frame, all), M(M_BOOL, frame, only_command), M(M_BOOL, frame, ledger),
	M(M_U64, frame, start_ns), M(M_U64, frame, known_ns), END
};

static const struct member place_members[] = {
	M(M_U32, device_name, dev), T(M_TEXT, TEXT_DISK, device_name, name), T(M_TEXT, TEXT_PATH, device_name, mount),
	T(M_TEXT, TEXT_FSTYPE, device_name, fstype), M(M_BOOL, device_name, traced), M(M_BOOL, device_name, volatile_cache),
	M(M_BOOL, device_name, nobarrier), END
};

static const struct member symbol_members[] = {
	T(M_TEXT, TEXT_OPEN, kernel_symbol, name), M(M_U64, kernel_symbol, start), M(M_U64, kernel_symbol, end), END
};
/* clang-format on */

/* ---- writing ---- */

/* Names are bytes. What is not UTF-8 becomes {"hex": "..."}. */
static json_t *string_out(const char *s)
{
	json_t *j = json_string(s);
	char *hex;

	if (j)
		return j;
	hex = xcalloc(2 * strlen(s) + 1, 1);
	for (size_t i = 0; s[i]; i++)
		snprintf(hex + 2 * i, 3, "%02x", (unsigned char)s[i]);
	j = json_pack("{s:s}", "hex", hex);
	free(hex);
	return xmust(j);
}

static json_t *strv_out(char *const *v)
{
	json_t *a = xmust(json_array());

	for (size_t i = 0; v[i]; i++)
		json_array_append_new(a, string_out(v[i]));
	return a;
}

static json_t *u32s_out(const uint32_t *v, size_t n)
{
	json_t *a = xmust(json_array());

	for (size_t i = 0; i < n; i++)
		json_array_append_new(a, json_integer(v[i]));
	return a;
}

static json_t *member_out(const struct member *m, const void *p)
{
	switch (m->type) {
	case M_STRING: return *(char *const *)p ? string_out(*(char *const *)p) : NULL;
	case M_TEXT: return string_out(p);
	case M_U64: return json_integer((json_int_t) * (const uint64_t *)p);
	case M_U32: return json_integer(*(const uint32_t *)p);
	case M_INT: return json_integer(*(const int *)p);
	case M_BOOL: return json_boolean(*(const bool *)p);
	case M_STRV: return *(char **const *)p ? strv_out(*(char **const *)p) : NULL;
	case M_U32S: return u32s_out(p, m->size / sizeof(uint32_t));
	}
	return NULL;
}

static json_t *struct_out(const struct member *m, const void *s)
{
	json_t *o = xmust(json_object());

	for (; m->key; m++) {
		json_t *v = member_out(m, (const char *)s + m->offset);

		if (v)
			json_object_set_new(o, m->key, v);
	}
	return o;
}

static json_t *array_out(const struct member *m, const void *first, size_t n, size_t size)
{
	json_t *a = xmust(json_array());

	for (size_t i = 0; i < n; i++)
		json_array_append_new(a, struct_out(m, (const char *)first + i * size));
	return a;
}

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
	json_t *o = struct_out(device_members, &fd->facts);

	json_object_set_new(o, "kernel", struct_out(kernel_members, &fd->facts.kernel));
	if (fd->facts.in_flight.have)
		json_object_set_new(o, "in_flight", struct_out(in_flight_members, &fd->facts.in_flight));
	json_object_set_new(o, "mounts",
			    array_out(mount_members, fd->facts.mounts, fd->facts.n_mounts, sizeof(struct report_mount)));
	json_object_set_new(o, "views", struct_out(view_members, fd));
	json_object_set_new(o, "heat", heats_out(&fd->facts));
	return o;
}

json_t *frame_encode(const struct frame *f)
{
	json_t *o = struct_out(frame_members, f), *devices = xmust(json_array());

	json_object_set_new(o, "run", struct_out(run_members, &f->run));
	json_object_set_new(o, "probes",
			    array_out(probe_members, f->run.probe, f->run.n_probes, sizeof(struct report_probe)));
	json_object_set_new(o, "lost", array_out(lost_members, f->run.lost, f->run.n_lost, sizeof(struct report_lost)));
	json_object_set_new(o, "outstanding",
			    array_out(outstanding_members, f->run.outstanding, f->run.n_outstanding,
				      sizeof(struct report_outstanding)));
	json_object_set_new(o, "pace",
			    array_out(pace_members, f->run.pace.point, f->run.pace.n, sizeof(struct pace_point)));
	for (size_t i = 0; i < f->n_devices; i++)
		json_array_append_new(devices, device_out(&f->device[i]));
	json_object_set_new(o, "devices", devices);
	json_object_set_new(o, "places", array_out(place_members, f->place, f->n_places, sizeof(*f->place)));
	json_object_set_new(o, "symbols", array_out(symbol_members, f->symbol, f->n_symbols, sizeof(*f->symbol)));
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
	json_array_append_new(notes, string_out(note));
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

static void member_replace(const struct member *m, void *p, frame_text_fn *replace, void *ctx)
{
	char **v = m->type == M_STRV ? *(char ***)p : NULL, *text;

	if (m->type == M_STRING && *(char **)p)
		string_replace(p, m->text, 0, replace, ctx);
	for (size_t i = 0; v && v[i]; i++)
		string_replace(&v[i], m->text, i, replace, ctx);
	if (m->type != M_TEXT)
		return;
	text = replace(ctx, m->text, p, 0);
	memset(p, 0, m->size);
	snprintf(p, m->size, "%s", text);
	free(text);
}

static void struct_replace(const struct member *m, void *s, frame_text_fn *replace, void *ctx)
{
	for (; m->key; m++)
		member_replace(m, (char *)s + m->offset, replace, ctx);
}

static void array_replace(const struct member *m, void *first, size_t n, size_t size, frame_text_fn *replace, void *ctx)
{
	for (size_t i = 0; i < n; i++)
		struct_replace(m, (char *)first + i * size, replace, ctx);
}

/* Mount points first: a directory is seen to be one there, and in arguments it is not. */
void frame_replace_texts(struct frame *f, frame_text_fn *replace, void *ctx)
{
	struct report *r = &f->run;

	array_replace(place_members, f->place, f->n_places, sizeof(*f->place), replace, ctx);
	for (size_t i = 0; i < f->n_devices; i++) {
		struct report_device *d = &f->device[i].facts;

		array_replace(mount_members, d->mounts, d->n_mounts, sizeof(*d->mounts), replace, ctx);
		struct_replace(device_members, d, replace, ctx);
	}
	struct_replace(run_members, r, replace, ctx);
	array_replace(probe_members, r->probe, r->n_probes, sizeof(*r->probe), replace, ctx);
	array_replace(lost_members, r->lost, r->n_lost, sizeof(*r->lost), replace, ctx);
	array_replace(outstanding_members, r->outstanding, r->n_outstanding, sizeof(*r->outstanding), replace, ctx);
	array_replace(symbol_members, f->symbol, f->n_symbols, sizeof(*f->symbol), replace, ctx);
}

/* ---- reading: from a file that anybody may have written ---- */

static int nibble(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* NULL when it is no string. Owned by the caller. */
static char *string_in(const json_t *j)
{
	const char *s = json_string_value(j), *hex = json_string_value(json_object_get(j, "hex"));
	char *out;
	size_t n = 0;

	if (s)
		return xstrdup(s);
	if (!hex)
		return NULL;
	out = xcalloc(strlen(hex) / 2 + 1, 1);
	for (; hex[0] && hex[1] && nibble(hex[0]) >= 0 && nibble(hex[1]) >= 0; hex += 2)
		out[n++] = (char)(nibble(hex[0]) << 4 | nibble(hex[1]));
	return out;
}

static void text_in(const json_t *j, char *to, size_t size)
{
	char *s = string_in(j);

	if (s)
		snprintf(to, size, "%s", s);
	free(s);
}

static char **strv_in(const json_t *j)
{
	size_t entries = json_array_size(j), n = 0;
	char **v;

	if (!entries)
		return NULL;
	v = xcalloc(entries + 1, sizeof(*v));
	for (size_t i = 0; i < entries; i++) {
		v[n] = string_in(json_array_get(j, i));
		n += v[n] != NULL;
	}
	if (!n) {
		free(v);
		return NULL;
	}
	return v;
}

static void u32s_in(const json_t *j, uint32_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (uint32_t)json_integer_value(json_array_get(j, i));
}

static void member_in(const struct member *m, const json_t *j, void *p)
{
	switch (m->type) {
	case M_STRING: *(char **)p = string_in(j); break;
	case M_TEXT: text_in(j, p, m->size); break;
	case M_U64: *(uint64_t *)p = (uint64_t)json_integer_value(j); break;
	case M_U32: *(uint32_t *)p = (uint32_t)json_integer_value(j); break;
	case M_INT: *(int *)p = (int)json_integer_value(j); break;
	case M_BOOL: *(bool *)p = json_is_true(j); break;
	case M_STRV: *(char ***)p = strv_in(j); break;
	case M_U32S: u32s_in(j, p, m->size / sizeof(uint32_t)); break;
	}
}

static void struct_in(const struct member *m, const json_t *o, void *s)
{
	for (; m->key; m++) {
		const json_t *v = json_object_get(o, m->key);

		if (v)
			member_in(m, v, (char *)s + m->offset);
	}
}

static void array_in(const struct member *m, const json_t *a, void **first, size_t *n, size_t size)
{
	for (size_t i = 0; i < json_array_size(a); i++)
		struct_in(m, json_array_get(a, i), grow(first, n, size));
}

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
 * part of one disk. Probes, reasons for losses and functions are rows of this program's tables, of which none has 100; a run
 * measures PACE_POINTS.
 */
#define VIEWS_MAX 4096u
#define ROWS_MAX  1024u
#define PACE_MAX  (8u * PACE_POINTS)

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
	struct_in(device_members, o, &fd->facts);
	struct_in(kernel_members, json_object_get(o, "kernel"), &fd->facts.kernel);
	struct_in(in_flight_members, json_object_get(o, "in_flight"), &fd->facts.in_flight);
	array_in(mount_members, json_object_get(o, "mounts"), (void **)&fd->facts.mounts, &fd->facts.n_mounts,
		 sizeof(struct report_mount));
	heats_in(json_object_get(o, "heat"), &fd->facts);
}

static bool devices_in(const json_t *a, struct frame *f)
{
	struct taken *taken = xcalloc(1, sizeof(*taken));
	bool ok = true;

	for (size_t i = 0; ok && i < json_array_size(a); i++) {
		const json_t *one = json_array_get(a, i);
		struct frame_device fd = { 0 };

		struct_in(view_members, json_object_get(one, "views"), &fd);
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
		const struct member *members;
		size_t most, size;
		void **first;
		size_t *n;
	} arrays[] = {
#define A(key, what, most, first, n) { key, what##_members, most, sizeof(*(first)), (void **)&(first), &(n) }
		A("probes", probe, ROWS_MAX, f->run.probe, f->run.n_probes),
		A("lost", lost, ROWS_MAX, f->run.lost, f->run.n_lost),
		A("outstanding", outstanding, SIZE_MAX, f->run.outstanding, f->run.n_outstanding),
		A("pace", pace, PACE_MAX, f->run.pace.point, f->run.pace.n),
		A("places", place, SIZE_MAX, f->place, f->n_places),
		A("symbols", symbol, ROWS_MAX, f->symbol, f->n_symbols),
#undef A
	};

	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		const json_t *a = json_object_get(j, arrays[i].key);

		if (json_array_size(a) > arrays[i].most)
			return false;
		array_in(arrays[i].members, a, arrays[i].first, arrays[i].n, arrays[i].size);
	}
	return true;
}

int frame_decode(const json_t *j, struct frame *out, struct err *e)
{
	struct frame f = { 0 };
	bool ok = json_is_object(j) && json_is_object(json_object_get(j, "run"));

	struct_in(frame_members, j, &f);
	struct_in(run_members, json_object_get(j, "run"), &f.run);
	ok = ok && arrays_in(j, &f) && f.views <= VIEWS_MAX && sane_probes(&f) && sane_outstanding(&f) &&
	     pace_sane(&f.run.pace) && devices_in(json_object_get(j, "devices"), &f);
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
