// SPDX-License-Identifier: GPL-2.0-only
#include "recording/format.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "recording/recording.h"

static void put64(uint8_t *p, uint64_t v)
{
	put32(p, (uint32_t)v);
	put32(p + 4, (uint32_t)(v >> 32));
}

static uint64_t get64(const uint8_t *p)
{
	return get32(p) | (uint64_t)get32(p + 4) << 32;
}

uint32_t recording_crc(const void *p, size_t n)
{
	return (uint32_t)crc32_z(0, p, n);
}

void block_head_put(uint8_t *p, const struct block_head *h)
{
	memcpy(p, BLOCK_MAGIC, COMMON_SIZE);
	p[6] = '0' + RECORDING_VERSION;
	p[7] = '\n';
	put32(p + 8, h->length);
	put32(p + 12, h->stored);
	put32(p + 16, h->records);
	put32(p + 20, h->sequence);
	put64(p + 24, h->first);
	put32(p + 32, h->crc);
	put32(p + 36, recording_crc(p, 36));
}

bool block_head_get(const uint8_t *p, struct block_head *h)
{
	if (memcmp(p, BLOCK_MAGIC, COMMON_SIZE) || p[6] != '0' + RECORDING_VERSION || p[7] != '\n' ||
	    get32(p + 36) != recording_crc(p, 36))
		return false;
	h->length = get32(p + 8);
	h->stored = get32(p + 12);
	h->records = get32(p + 16);
	h->sequence = get32(p + 20);
	h->first = get64(p + 24);
	h->crc = get32(p + 32);
	return h->length && h->length <= BLOCK_MAX && h->length % 8 == 0 && h->stored && h->stored <= h->length &&
	       h->records && h->records <= h->length / sizeof(struct wire_head);
}

int recording_check_machine(struct err *e)
{
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		return 0;
	return err_set(e, ENOTSUP, EXIT_FAILED, "recordings can be written and read on little-endian machines only");
}
