/* SPDX-License-Identifier: GPL-2.0-only */
/* format.h - the layout of a recording, which is public (docs/reference/recording-format.md). Private to recording_*.c. */
#ifndef BT_RECORDING_FORMAT_H
#define BT_RECORDING_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"
#include "wire.h"

#define FILE_MAGIC \
	"\x89" \
	"BTREC\r\n"
#define FILE_HEAD 16 /* magic 8, version 4, CRC 4 */
#define BLOCK_MAGIC \
	"\xf5" \
	"BTBLK" /* and then the version, should the file's head be damaged, and '\n' */
#define BLOCK_HEAD  40
#define MAGIC_SIZE  8
#define COMMON_SIZE 6	       /* of a block's magic: what all versions have in common */
#define BLOCK_MAX   (1u << 20) /* what a reader accepts, before and after unpacking */

/* A piece of a long record. */
struct long_part {
	struct wire_head head;
	uint32_t item;	 /* counts the long records of the file */
	uint16_t number; /* of this piece, from 0 */
	uint16_t flags;
};
WIRE_ASSERT_SIZE(struct long_part, 16);

#define PART_MORE  1				       /* not the last piece */
#define PART_BYTES (65528u - sizeof(struct long_part)) /* the largest u16 that is a multiple of 8, less the head */

struct block_head {
	uint32_t length; /* of the payload */
	uint32_t stored; /* of the payload in the file: compressed if shorter than length */
	uint32_t records;
	uint32_t sequence; /* of the block, from 0 */
	uint64_t first;	   /* records in the blocks before */
	uint32_t crc;	   /* of the payload as it is stored */
};

static inline size_t align8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

/* Little-endian numbers. */
static inline void put32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static inline uint32_t get32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint32_t recording_crc(const void *p, size_t n);

/* BLOCK_HEAD bytes at p. */
void block_head_put(uint8_t *p, const struct block_head *h);

/* Whether the head of a block stands here, with lengths that can be. */
bool block_head_get(const uint8_t *p, struct block_head *h);

/* The records are stored as they lie in memory. */
int recording_check_machine(struct err *e);

#endif
