/* SPDX-License-Identifier: GPL-2.0-only */
/* fuzz.h - the fuzz targets, one row each: what reads files and words of somebody else's. Run by tests/fuzz/run. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
	const char *name;
	void (*run)(const uint8_t *bytes, size_t n); /* aborts when what was read is not what it should be */
	/* The new length; what libFuzzer does to bytes is fuzz_mutate_bytes(). NULL: that alone. */
	size_t (*mutate)(uint8_t *bytes, size_t n, size_t most, unsigned int seed);
	void (*seeds)(void); /* by fuzz_seed() */
};

extern const struct fuzz_target fuzz_recording, fuzz_report, fuzz_header, fuzz_card, fuzz_state, fuzz_options;

/* An input to begin with. */
void fuzz_seed(const char *name, const void *bytes, size_t n);

/* The records of each of tests/golden/recordings, from the first to the last: NULL. */
struct recording_record;
typedef void fuzz_golden_fn(void *ctx, const char *file, const struct recording_record *rec);
void fuzz_each_golden(fuzz_golden_fn *each, void *ctx);

/* A JSON text with no list longer than some elements; the caller's. */
char *fuzz_shortened(const void *text, size_t n);

size_t fuzz_mutate_bytes(uint8_t *bytes, size_t n, size_t most);

/* Changes a value of a JSON text; text that is none, as bytes. */
size_t fuzz_mutate_json(uint8_t *text, size_t n, size_t most, unsigned int seed);

/* The next of a row of numbers that has no end, below `most`. */
uint32_t fuzz_random(unsigned int *seed, uint32_t most);

void fuzz_expect(int true_, const char *what);

/* A hash of the input: what is done for some inputs only is done for the same ones each time. */
uint32_t fuzz_hash(const uint8_t *bytes, size_t n);

#endif
