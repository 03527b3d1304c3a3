// SPDX-License-Identifier: GPL-2.0-only
/*
 * drive_tools.c - what the drive says of itself,
 	through the tools that are installed. None of the questions writes to a drive
 * or wakes one that sleeps: smartctl has -n standby, hdparm is asked for the power mode first, and a device that the
 * kernel has put to sleep is left alone.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/sysfs.h"
#include "doctor/doctor_internal.h"
#include "util/mem.h"
#include "util/subprocess.h"

#define LIMIT_MS	5000
#define ASLEEP		"the drive is asleep and was not woken"
#define SMARTCTL_ASLEEP 2 /* its exit status with -n standby */

enum bus { BUS_NONE, BUS_SCSI, BUS_NVME };

/* One run of a tool. The device's node is its last argument. */
struct question {
	const char *tool, *package;
	enum bus bus;
	const char *args[8];
	/* Takes the answer; false: don't ask this tool further. */
	bool (*take)(struct exam *x, const struct diag_layer *l, int status, const char *answer, const char *where);
};

static const char *const keys[] = { "drive_model", "firmware", "drive_cache", "wear", "health" };
#define N_KEYS (sizeof(keys) / sizeof(keys[0]))

static struct drive_fact *fact_of(const struct exam *x, const char *disk, const char *key)
{
	for (size_t i = 0; i < x->n_facts; i++)
		if (!strcmp(x->fact[i].key, key) && !strcmp(x->fact[i].disk, disk))
			return &x->fact[i];
	return NULL;
}

/* The first answer counts; a reason gives way to one. Takes the value. */
static void learn(struct exam *x, const struct diag_layer *l, const char *key, char *value, const char *unknown,
		  const char *where)
{
	struct drive_fact *f = fact_of(x, l->name, key);

	if (f && (f->value || !value)) {
		free(value);
		return;
	}
	if (!f)
		f = grow((void **)&x->fact, &x->n_facts, sizeof(*f));
	free(f->disk);
	free(f->where);
	free(f->unknown);
	*f = (struct drive_fact){
		.disk = xstrdup(l->name),
		.key = key,
		.value = value,
		.where = xstrdup(where),
		.unknown = value ? NULL : xstrdup(unknown),
	};
}

static void learn_nothing(struct exam *x, const struct diag_layer *l, const char *why, const char *where)
{
	for (size_t i = 0; i < N_KEYS; i++)
		learn(x, l, keys[i], NULL, why, where);
}

/* ---- answers in JSON ---- */

static const json_t *at(const json_t *j, const char *path)
{
	char name[64];

	while (j && *path) {
		size_t n = strcspn(path, ".");

		if (n >= sizeof(name))
			return NULL;
		memcpy(name, path, n);
		name[n] = '\0';
		j = json_object_get(j, name);
		path += n + (path[n] == '.');
	}
	return j;
}

/* Texts without the blanks that fill them up, numbers, and "yes" or "no"; owned by the caller; NULL: not there. */
static char *text_at(const json_t *doc, const char *path, const char *yes, const char *no)
{
	const json_t *j = at(doc, path);
	char *s;

	if (json_is_boolean(j))
		return xstrdup(json_is_true(j) ? yes : no);
	if (json_is_integer(j))
		return xasprintf("%" JSON_INTEGER_FORMAT, json_integer_value(j));
	if (!json_is_string(j))
		return NULL;
	s = xstrdup(json_string_value(j));
	for (size_t n = strlen(s); n && s[n - 1] == ' ';)
		s[--n] = '\0';
	return s;
}

struct path_row {
	const char *key, *path, *yes, *no;
};

static void learn_rows(struct exam *x, const struct diag_layer *l, const json_t *doc, const struct path_row *row,
		       const char *where)
{
	for (; row->key; row++) {
		char *value = text_at(doc, row->path, row->yes, row->no);

		if (value)
			learn(x, l, row->key, value, NULL, where);
	}
}

static bool take_smartctl(struct exam *x, const struct diag_layer *l, int status, const char *answer, const char *where)
{
	static const struct path_row rows[] = {
		{ "drive_model", "model_name", "", "" },
		{ "firmware", "firmware_version", "", "" },
		{ "firmware", "scsi_revision", "", "" },
		{ "drive_cache", "write_cache.enabled", "on", "off" },
		{ "wear", "endurance_used.current_percent", "", "" },
		{ "wear", "nvme_smart_health_information_log.percentage_used", "", "" },
		{ "wear", "scsi_percentage_used_endurance_indicator", "", "" },
		{ "health", "smart_status.passed", "ok", "failing" },
		{ 0 },
	};
	json_t *doc = json_loads(answer, 0, NULL);

	learn_rows(x, l, doc, rows, where);
	if (status == SMARTCTL_ASLEEP)
		learn_nothing(x, l, ASLEEP, where);
	json_decref(doc);
	return status != SMARTCTL_ASLEEP;
}

static bool take_nvme(struct exam *x, const struct diag_layer *l, int status, const char *answer, const char *where)
{
	/* clang-format off */
	static const struct path_row rows[] = {
		{ "drive_model", "mn", "", "" }, { "firmware", "fr", "", "" }, { "wear", "percent_used", "", "" },
			{ 0 },
	};
	/* clang-format on */
	json_t *doc = json_loads(answer, 0, NULL);
	const json_t *vwc = at(doc, "vwc"), *warning = at(doc, "critical_warning");

	learn_rows(x, l, doc, rows, where);
	if (json_is_integer(vwc) && !(json_integer_value(vwc) & 1))
		learn(x, l, "drive_cache", xstrdup("none"), NULL, where);
	if (json_is_integer(warning))
		learn(x, l, "health", xstrdup(json_integer_value(warning) ? "failing" : "ok"), NULL, where);
	json_decref(doc);
	return !status;
}

/* "get-feature:0x06 (Volatile Write Cache), Current value:0x00000001" */
static bool take_nvme_feature(struct exam *x, const struct diag_layer *l, int status, const char *answer, const char *where)
{
	const char *value = strstr(answer, "value:");

	if (!status && value)
		learn(x, l, "drive_cache", xstrdup(strtoull(value + strlen("value:"), NULL, 16) & 1 ? "on" : "off"),
		      NULL, where);
	return true;
}

/* ---- hdparm's answers ---- */

/* What stands behind the label, up to the end of the line; owned by the caller; NULL: not there. */
static char *behind(const char *answer, const char *label)
{
	const char *p = strstr(answer, label);
	size_t n;

	if (!p)
		return NULL;
	p += strlen(label);
	p += strspn(p, " \t");
	n = strcspn(p, "\n");
	while (n && (p[n - 1] == ' ' || p[n - 1] == '\t'))
		n--;
	return n ? xasprintf("%.*s", (int)n, p) : NULL;
}

static bool take_power(struct exam *x, const struct diag_layer *l, int status, const char *answer, const char *where)
{
	char *state = behind(answer, "drive state is:");
	bool awake = !status && state && !strncmp(state, "active", 6);

	if (state && (!strncmp(state, "standby", 7) || !strncmp(state, "sleeping", 8)))
		learn_nothing(x, l, ASLEEP, where);
	free(state);
	return awake;
}

static bool take_hdparm(struct exam *x, const struct diag_layer *l, int status, const char *answer, const char *where)
{
	char *cache = behind(answer, "write-caching ="), *model = behind(answer, "Model Number:"),
	     *firmware = behind(answer, "Firmware Revision:");

	if (cache && (*cache == '0' || *cache == '1'))
		learn(x, l, "drive_cache", xstrdup(*cache == '1' ? "on" : "off"), NULL, where);
	free(cache);
	if (model)
		learn(x, l, "drive_model", model, NULL, where);
	if (firmware)
		learn(x, l, "firmware", firmware, NULL, where);
	return !status;
}

/* ---- asking ---- */

/* A tool's questions stand together. */
/* clang-format off */
static const struct question questions[] = {
	{ "nvme", "nvme-cli", BUS_NVME, { "id-ctrl", "-o", "json" }, take_nvme },
	{ "nvme", "nvme-cli", BUS_NVME, { "get-feature", "-f", "6" }, take_nvme_feature },
	{ "nvme", "nvme-cli", BUS_NVME, { "smart-log", "-o", "json" }, take_nvme },
	{ "hdparm", "hdparm", BUS_SCSI, { "-C" }, take_power },
	{ "hdparm", "hdparm", BUS_SCSI, { "-W", "-I" }, take_hdparm },
	{ "smartctl", "smartmontools", BUS_SCSI, { "-n", "standby", "-j", "-i", "-H", "-A", "-g", "wcache" },
		take_smartctl },
	{ "smartctl", "smartmontools", BUS_NVME, { "-j", "-i", "-H", "-A" }, take_smartctl },
};
/* clang-format on */

static enum bus bus_of(const struct diag_layer *l)
{
	uint64_t hidden = 0;

	if (block_u64(l->name, "hidden", &hidden) && hidden)
		return BUS_NONE; /* a path of a multipath disk: it has no node */
	if (block_has(l->name, "device/scsi_level"))
		return BUS_SCSI;
	return !strncmp(l->name, "nvme", 4) ? BUS_NVME : BUS_NONE;
}

/* "smartctl -n standby -j /dev/sda" */
static char *spelled(char *const *argv, const char *tool)
{
	struct buf b = { 0 };

	buf_str(&b, tool);
	for (size_t i = 1; argv[i]; i++)
		buf_printf(&b, " %s", argv[i]);
	return b.data;
}

/* Whether the tool can be asked further. */
static bool ask(struct exam *x, const struct diag_layer *l, const struct question *q, const char *node, char *path)
{
	char *argv[12] = { path }, *where;
	struct buf answer = { 0 };
	size_t n = 1;
	bool more = false;
	int status;

	for (size_t i = 0; i < sizeof(q->args) / sizeof(q->args[0]) && q->args[i]; i++)
		argv[n++] = (char *)q->args[i];
	argv[n] = (char *)node;
	where = spelled(argv, q->tool);
	buf_str(&answer, "");
	status = tool_run(argv, LIMIT_MS, &answer);
	if (status >= 0)
		more = q->take(x, l, status, answer.data, where);
	else if (status == -ETIMEDOUT)
		learn_nothing(x, l, "the tool did not answer in time", where);
	free(where);
	buf_free(&answer);
	return more;
}

char *node_path(const struct exam *x, const char *disk)
{
	char *node = xasprintf("%s/%s", x->o->dev ? x->o->dev : "/dev", disk);

	for (char *p = node; (p = strchr(p, '!'));)
		*p = '/';
	return node;
}

static void ask_all(struct exam *x, const struct diag_layer *l, enum bus bus)
{
	const char *refused = NULL; /* a tool that is not to be asked further */
	char *node = node_path(x, l->name);

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		const struct question *q = &questions[i];
		char *path;

		if (q->bus != bus || (refused && !strcmp(refused, q->tool)))
			continue;
		path = tool_find(q->tool, x->o->tool_folders);
		if (!path || !ask(x, l, q, node, path))
			refused = q->tool;
		free(path);
	}
	free(node);
}

/* "hdparm is not installed (apt install hdparm), smartctl is .."; owned by the caller; NULL: all are there */
static char *missing(const struct exam *x, enum bus bus)
{
	const char *last = "";
	struct buf b = { 0 };

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		const struct question *q = &questions[i];
		char *path;

		if (q->bus != bus || !strcmp(q->tool, last))
			continue;
		last = q->tool;
		path = tool_find(q->tool, x->o->tool_folders);
		if (!path)
			buf_printf(&b, "%s%s is not installed (apt install %s)", b.len ? ", " : "", q->tool, q->package);
		free(path);
	}
	return b.data;
}

void drive_ask(struct exam *x, const struct diag_layer *l)
{
	enum bus bus = l->kind == DIAG_DISK ? bus_of(l) : BUS_NONE;
	char *state, *why;

	if (bus == BUS_NONE)
		return;
	state = block_text(l->name, "device/power/runtime_status");
	if (x->o->no_tools)
		learn_nothing(x, l, "not asked (--no-tools)", NULL);
	else if (state && !strcmp(state, "suspended"))
		learn_nothing(x, l, ASLEEP, NULL);
	else
		ask_all(x, l, bus);
	free(state);
	why = missing(x, bus);
	learn_nothing(x, l, why ? why : "the drive's tools did not tell", NULL);
	free(why);
}

void drive_free(struct exam *x)
{
	for (size_t i = 0; i < x->n_facts; i++) {
		free(x->fact[i].disk);
		free(x->fact[i].value);
		free(x->fact[i].where);
		free(x->fact[i].unknown);
	}
	free(x->fact);
	x->fact = NULL;
	x->n_facts = 0;
}

void read_drive(const struct query *q, struct reading *r)
{
	const struct drive_fact *f = fact_of(q->x, q->l->name, q->row->key);

	if (!f)
		return;
	r->value = xstrdup(f->value);
	r->where = xstrdup(f->where);
	r->unknown = xstrdup(f->unknown);
}
