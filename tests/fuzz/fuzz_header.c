// SPDX-License-Identifier: GPL-2.0-only
/* The frame of a run, as a recording's first and last record hold it: what was read is the same after another turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "recording/recording.h"
#include "recording/run_context_json.h"

static char *dumped(const struct frame *f)
{
	json_t *j = frame_encode(f);
	char *text = json_dumps(j, JSON_SORT_KEYS | JSON_COMPACT);

	fuzz_expect(text != NULL, "a frame becomes JSON");
	json_decref(j);
	return text;
}

static bool read_frame(const char *text, size_t n, struct frame *f)
{
	struct err e;

	return !frame_read(text, n, f, &e);
}

static void run(const uint8_t *bytes, size_t n)
{
	struct frame first = { 0 }, second = { 0 };
	char *text = malloc(n + 1), *once, *twice;
	bool read;

	if (!text)
		abort();
	memcpy(text, bytes, n);
	text[n] = '\0'; /* as the reader of recordings has it */
	read = read_frame(text, n, &first);
	if (read) {
		once = dumped(&first);
		fuzz_expect(read_frame(once, strlen(once), &second), "a frame is read again");
		twice = dumped(&second);
		fuzz_expect(!strcmp(once, twice), "it says the same");
		free(once);
		free(twice);
		frame_free(&first);
		frame_free(&second);
	}
	free(text);
}

/* Of the recordings of tests/golden: the header, and the end. */
static void seed(void *ctx, const char *file, const struct recording_record *rec)
{
	char *text, name[300];

	(void)ctx;
	if (!rec || (rec->kind != WIRE_HEADER && rec->kind != WIRE_END))
		return;
	text = fuzz_shortened(rec->data, rec->size);
	snprintf(name, sizeof(name), "%s.%u", file, rec->kind);
	fuzz_seed(name, text, strlen(text));
	free(text);
}

static void seeds(void)
{
	fuzz_each_golden(seed, NULL);
}

const struct fuzz_target fuzz_header = { "header", run, fuzz_mutate_json, seeds };
