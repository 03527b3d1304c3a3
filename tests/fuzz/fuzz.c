// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: fuzz TARGET [libFuzzer's options and files]
 *        fuzz --targets
 *
 * The entry points of libFuzzer. With SEEDS_TO=DIR a target puts its seeds there.
 *
 * No input, which run makes no longer than 32 KiB, may take more than 64 MiB while it is read: of what reads recordings the limit is that
 * of the process (mem_limit()), which the sanitizers do without.
 */
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sanitizer/allocator_interface.h>
#include <unistd.h>

#include "fuzz.h"
#include "util/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t n, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t most, unsigned int seed);

static const struct fuzz_target *const targets[] = {
	&fuzz_recording, &fuzz_report, &fuzz_header, &fuzz_card, &fuzz_state, &fuzz_options,
};

/* libFuzzer starts itself anew (-merge) with the arguments that it knows. */
#define BY_PARENT "FUZZ_TARGET"

#define N_TARGETS (sizeof(targets) / sizeof(targets[0]))

static const struct fuzz_target *target;
#define MOST (64ll << 20)

static int64_t taken, most_taken; /* bytes; libFuzzer's one thread */

/* ---- memory ---- */

static void took(const volatile void *p, size_t n)
{
	(void)p;
	taken += (int64_t)n;
	most_taken = taken > most_taken ? taken : most_taken;
}

static void gave(const volatile void *p)
{
	taken -= p ? (int64_t)__sanitizer_get_allocated_size(p) : 0;
}

static void expect_memory(size_t n)
{
	if (most_taken <= MOST)
		return;
	fprintf(stderr, "%zu bytes took %lld\n", n, (long long)most_taken);
	abort();
}

/* ---- what the targets use ---- */

size_t fuzz_mutate_bytes(uint8_t *bytes, size_t n, size_t most)
{
	return LLVMFuzzerMutate(bytes, n, most);
}

uint32_t fuzz_random(unsigned int *seed, uint32_t most)
{
	*seed = *seed * 1103515245 + 12345;
	return most ? (*seed >> 8) % most : 0;
}

void fuzz_expect(int true_, const char *what)
{
	if (true_)
		return;
	fprintf(stderr, "not so: %s\n", what);
	abort();
}

uint32_t fuzz_hash(const uint8_t *bytes, size_t n)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ bytes[i]) * 16777619u;
	return h;
}

void fuzz_seed(const char *name, const void *bytes, size_t n)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", getenv("SEEDS_TO"), name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		abort();
	close(fd);
}

/* ---- libFuzzer ---- */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	taken = most_taken = 0;
	target->run(bytes, n);
	expect_memory(n);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t most, unsigned int seed)
{
	return target->mutate ? target->mutate(bytes, n, most, seed) : LLVMFuzzerMutate(bytes, n, most);
}

static bool pick(const char *name)
{
	for (size_t i = 0; name && i < N_TARGETS; i++)
		if (!strcmp(targets[i]->name, name))
			target = targets[i];
	return target;
}

static void list(const char *name)
{
	for (size_t i = 0; i < N_TARGETS; i++)
		puts(targets[i]->name);
	fflush(stdout);
	_exit(strcmp(name, "--targets") ? 2 : 0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = *argc > 1 ? (*argv)[1] : "";

	if (pick(name)) {
		setenv(BY_PARENT, name, 1);
		(*argv)[1] = (*argv)[0];
		++*argv;
		--*argc;
	} else if (!pick(getenv(BY_PARENT))) {
		list(name);
	}
	libbpf_set_print(NULL);
	if (getenv("SEEDS_TO"))
		target->seeds();
	__sanitizer_install_malloc_and_free_hooks(took, gave);
	return 0;
}
