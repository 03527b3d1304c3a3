// SPDX-License-Identifier: GPL-2.0-only
/*
 * speedscope.c - the leaves as a sampled profile for speedscope: a sample is a leaf, its weight the nanoseconds.
 * https://www.speedscope.app/file-format-schema.json
 */
#include <string.h>

#include "render/json_put.h"

struct profile {
	json_t *frames, *index; /* the list, and where a name stands in it */
	json_t *samples, *weights;
	uint64_t end;
};

static size_t frame_index(struct profile *p, const char *name)
{
	json_t *at = json_object_get(p->index, name), *frame;

	if (at)
		return (size_t)json_integer_value(at);
	frame = xmust(json_object());
	put(frame, "name", json_string(name));
	push(p->frames, frame);
	put(p->index, name, json_integer((json_int_t)json_array_size(p->frames) - 1));
	return json_array_size(p->frames) - 1;
}

/* `path` is valid UTF-8; the root comes first in both */
static json_t *stack(struct profile *p, char *path)
{
	json_t *s = xmust(json_array());
	char *rest = path, *name;

	while ((name = strsep(&rest, ";")))
		push(s, json_integer((json_int_t)frame_index(p, name)));
	return s;
}

static void add_leaf(struct profile *p, const struct report_leaf *l)
{
	struct buf path = { 0 };

	buf_str(&path, "");
	utf8_repair(&path, l->path);
	push(p->samples, stack(p, path.data));
	push(p->weights, integer(l->ns));
	p->end += l->ns;
	buf_free(&path);
}

static json_t *profile_json(struct profile *p)
{
	json_t *j = xmust(json_object());

	put(j, "type", json_string("sampled"));
	put(j, "name", json_string("sync calls"));
	put(j, "unit", json_string("nanoseconds"));
	put_u64(j, "startValue", 0);
	put_u64(j, "endValue", p->end);
	put(j, "samples", p->samples);
	put(j, "weights", p->weights);
	return j;
}

static void put_exporter(json_t *doc, const char *version)
{
	char *exporter = xasprintf("barriertrace@%s", version ? version : "");

	put(doc, "name", json_string("barriertrace: where the sync calls' time went"));
	put(doc, "exporter", string(exporter));
	free(exporter);
}

void render_speedscope(const struct report *r, const struct render_opts *o, struct buf *out)
{
	json_t *doc = xmust(json_object()), *shared = xmust(json_object()), *profiles = xmust(json_array());
	struct profile p = { xmust(json_array()), xmust(json_object()), xmust(json_array()), xmust(json_array()), 0 };

	(void)o;
	for (size_t i = 0; i < r->sync.n_leaves; i++)
		add_leaf(&p, &r->sync.leaf[i]);
	put(doc, "$schema", json_string("https://www.speedscope.app/file-format-schema.json"));
	put_exporter(doc, r->version);
	put_u64(doc, "activeProfileIndex", 0);
	put(shared, "frames", p.frames);
	put(doc, "shared", shared);
	push(profiles, profile_json(&p));
	put(doc, "profiles", profiles);
	json_decref(p.index);
	json_finish(doc, JSON_COMPACT, out);
}
