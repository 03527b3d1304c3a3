// SPDX-License-Identifier: GPL-2.0-only
/* What real runs wrote, to begin with. */
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "recording/recording.h"

#define FOLDER	"tests/golden/recordings"
#define LONGEST 4u /* of a list */

static void each_record(const char *file, fuzz_golden_fn *each, void *ctx)
{
	struct recording_record rec;
	struct recording *r;
	char path[400];
	struct err e;

	snprintf(path, sizeof(path), FOLDER "/%s", file);
	if (recording_open(path, &r, &e))
		abort();
	while (recording_next(r, &rec))
		each(ctx, file, &rec);
	each(ctx, file, NULL);
	recording_free(r);
}

void fuzz_each_golden(fuzz_golden_fn *each, void *ctx)
{
	DIR *d = opendir(FOLDER);
	struct dirent *entry;

	if (!d)
		abort();
	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.')
			each_record(entry->d_name, each, ctx);
	closedir(d);
}

static void shorten(json_t *j)
{
	const char *key;
	json_t *v;
	size_t i;

	while (json_is_array(j) && json_array_size(j) > LONGEST)
		json_array_remove(j, json_array_size(j) - 1);
	json_array_foreach(j, i, v) shorten(v);
	json_object_foreach(j, key, v) shorten(v);
}

char *fuzz_shortened(const void *text, size_t n)
{
	json_t *j = json_loadb(text, n, 0, NULL);
	char *out;

	if (!j)
		abort();
	shorten(j);
	out = json_dumps(j, JSON_COMPACT);
	json_decref(j);
	return out;
}
