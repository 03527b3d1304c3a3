// SPDX-License-Identifier: GPL-2.0-only
#include "probe/map_sizes.h"

#include "wire.h"

#define COUNTERS_BUDGET (128ull << 20) /* bytes of counters, before CPUs have to share them */
#define RING_BYTES	(32u << 20)    /* three seconds of 8000 fsyncs per second */
#define RING_LEAST	(1u << 20)
#define DEPTH_LEAST	64u

/*
 * What the kernel accounts for the other maps, with what it needs beside keys and values (tests/live/scale.bats compares).
 * SLOT_BYTES is the size of bpf/state.bpf.h's struct slot.
 */
#define SLOT_BYTES   320u
#define ALWAYS_BYTES (1008u << 10) /* queues, disks, settings */
#define CPU_BYTES    2768u	   /* what each CPU notes: its completions, stamps of requests, who is of the command */
#define LEDGER_BYTES (10254u << 10) /* tasks, histories, files, works, calls on their way, devices that need not ring */
#define PID_BYTES    2u
#define FAMILY_BYTES (1282u << 10)
#define BIOS_BYTES   (1664u << 10)

uint32_t sizes_slots(const struct sizes_disk *d, uint32_t depth)
{
	return d->hw_queues * ((d->depth < depth ? d->depth : depth) + 1);
}

static uint64_t view_bytes(void)
{
	return WIRE_CELLS * sizeof(struct wire_cell) + sizeof(struct wire_view) + sizeof(struct wire_depth);
}

static uint64_t tables(const struct sizes_input *in)
{
	uint64_t bytes = ALWAYS_BYTES + (uint64_t)in->cpus * CPU_BYTES;

	if (in->ledger)
		bytes += LEDGER_BYTES + (uint64_t)in->pid_max * PID_BYTES;
	return bytes + (in->command ? FAMILY_BYTES : 0) + (in->bios ? BIOS_BYTES : 0);
}

static void add_up(const struct sizes_input *in, struct sizes *s)
{
	uint64_t slots = in->all ? SIZES_SPARE_DISKS * SIZES_SPARE_SLOTS : 0;

	for (size_t i = 0; i < in->n_disks; i++)
		slots += sizes_slots(&in->disk[i], s->depth);
	s->slots = slots < UINT32_MAX ? (uint32_t)slots : UINT32_MAX;
	s->counters = (uint64_t)s->views * s->stripes * view_bytes();
	s->slot_bytes = slots * SLOT_BYTES;
	s->bytes = s->counters + s->slot_bytes + s->ring_bytes + s->tables;
}

static uint32_t deepest(const struct sizes_input *in)
{
	uint32_t depth = 0;

	for (size_t i = 0; i < in->n_disks; i++)
		if (in->disk[i].depth > depth)
			depth = in->disk[i].depth;
	return depth;
}

static void wish(const struct sizes_input *in, uint32_t spare, struct sizes *s)
{
	uint64_t fit;

	*s = (struct sizes){ .depth = deepest(in), .ring_bytes = in->ledger ? RING_BYTES : in->page, .tables = tables(in) };
	s->views = in->views + spare;
	fit = COUNTERS_BUDGET / (s->views ? s->views * view_bytes() : 1);
	if (fit > WIRE_MAX_STRIPES)
		fit = WIRE_MAX_STRIPES;
	s->stripes = !fit ? 1 : fit < in->cpus ? (uint32_t)fit : in->cpus;
	add_up(in, s);
}

/* False: nothing can get smaller. */
static bool shrink(const struct sizes_input *in, struct sizes *s)
{
	uint64_t counters = s->stripes > 1 ? s->counters : 0, ring = s->ring_bytes > RING_LEAST ? s->ring_bytes : 0;
	uint64_t slots = s->depth > DEPTH_LEAST ? s->slot_bytes : 0;

	if (!counters && !ring && !slots)
		return false;
	if (counters >= ring && counters >= slots) {
		s->stripes /= 2;
	} else if (ring >= slots) {
		s->ring_bytes /= 2;
		s->smaller_ring = true;
	} else {
		s->depth = s->depth / 2 > DEPTH_LEAST ? s->depth / 2 : DEPTH_LEAST;
		s->fewer_slots = true;
	}
	add_up(in, s);
	return true;
}

static bool plan(const struct sizes_input *in, uint32_t spare, struct sizes *out)
{
	uint64_t most = in->memory ? in->memory : SIZES_DEFAULT;

	wish(in, spare, out);
	while (out->bytes > most && shrink(in, out))
		;
	return out->bytes <= most;
}

bool sizes_plan(const struct sizes_input *in, struct sizes *out)
{
	struct sizes spare;
	bool fits = plan(in, in->all ? SIZES_SPARE_DISKS : 0, out);

	if (fits && !in->all && plan(in, SIZES_SPARE_VIEWS, &spare) && spare.stripes == out->stripes &&
	    spare.ring_bytes == out->ring_bytes && spare.depth == out->depth)
		*out = spare;
	return fits;
}
