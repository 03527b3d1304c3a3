/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recording_forge.h - bytes of recordings made by hand, after docs/reference/recording-format.md and not by the code under test:
 * checksums are right, all the rest is as wrong as is wanted.
 */
#ifndef RECORDING_FORGE_H
#define RECORDING_FORGE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#define FORGE_FILE   16
#define FORGE_BLOCK  40
#define FORGE_UNUSED __attribute__((unused))

static FORGE_UNUSED void forge_put(uint8_t *p, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static FORGE_UNUSED uint64_t forge_get(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

static FORGE_UNUSED void forge_file(uint8_t *p, uint32_t version)
{
	static const uint8_t magic[] = { 0x89, 'B', 'T', 'R', 'E', 'C', '\r', '\n' };

	memcpy(p, magic, 8);
	forge_put(p + 8, version, 4);
	forge_put(p + 12, crc32(0, p, 12), 4);
}

struct forge_block {
	uint32_t length, stored, records, sequence;
	uint64_t first;
	uint32_t crc;
	uint8_t version; /* 0 is 3, today's */
};

static FORGE_UNUSED void forge_block(uint8_t *p, const struct forge_block *b)
{
	const uint8_t magic[] = { 0xf5, 'B', 'T', 'B', 'L', 'K', (uint8_t)('0' + (b->version ? b->version : 3)), '\n' };

	memcpy(p, magic, 8);
	forge_put(p + 8, b->length, 4);
	forge_put(p + 12, b->stored, 4);
	forge_put(p + 16, b->records, 4);
	forge_put(p + 20, b->sequence, 4);
	forge_put(p + 24, b->first, 8);
	forge_put(p + 32, b->crc, 4);
	forge_put(p + 36, crc32(0, p, 36), 4);
}

/* A descriptor with these bytes, at its beginning. */
static FORGE_UNUSED int forge_fd(const void *bytes, size_t n)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

#endif
