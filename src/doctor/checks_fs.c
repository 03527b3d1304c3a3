// SPDX-License-Identifier: GPL-2.0-only
/* checks_fs.c - what hurts, and what is unsafe: file systems. */
#include <stdlib.h>
#include <string.h>

#include "doctor/doctor_internal.h"
#include "util/num.h"

static bool is_read_only(const struct diag_layer *l)
{
	return option_find(l->options, "ro", NULL);
}

/* Is there anything below that a flush would reach? True also where it isn't known. */
static bool needs_flushes(const struct exam *x, const struct diag_layer *l, unsigned int depth)
{
	bool known = false;

	for (size_t i = 0; depth < 16 && l->below && l->below[i]; i++) {
		const struct diag_layer *below = diag_layer_named(x->d, l->below[i]);
		const char *cache = below ? diag_value(below, "write_cache") : NULL;

		if (!below || (cache ? strcmp(cache, "write through") : needs_flushes(x, below, depth + 1)))
			return true;
		known = true;
	}
	return !known;
}

/* The layer's first device that has this setting; NULL: none. */
static const struct diag_layer *device_with(const struct exam *x, const struct diag_layer *l, const char *key)
{
	const struct diag_layer *below = l;

	for (unsigned int depth = 0; below && depth < 16 && (below == l || !diag_value(below, key)); depth++)
		below = below->below ? diag_layer_named(x->d, below->below[0]) : NULL;
	return below == l ? NULL : below;
}

void judge_barrier(struct exam *x, const struct diag_layer *l, const struct diag_setting *s)
{
	if (strcmp(s->value, "off") || is_read_only(l))
		return;
	if (needs_flushes(x, l, 0))
		finding_add(x, l, s, DIAG_UNSAFE,
			    "mount -o remount,barrier=1 (ext4) or without nobarrier, unless the "
			    "drive's cache survives a power cut. Risk: none; fsyncs get slower, because they work "
			    "again.",
			    "%s is mounted without barriers over a drive with a volatile cache: a power cut can lose "
			    "what fsync said was written, and destroy the file system.",
			    l->name);
	else
		finding_add(x, l, s, DIAG_NOTE, NULL,
			    "%s is mounted without barriers, which gains nothing: no device "
			    "below it takes flushes.",
			    l->name);
}

void judge_discard(struct exam *x, const struct diag_layer *l, const struct diag_setting *s)
{
	const struct diag_layer *device = device_with(x, l, "discard_granularity");

	if (!strcmp(s->value, "off") || is_read_only(l))
		return;
	if (device && diag_is(device, "discard_granularity", "0"))
		finding_add(x, l, s, DIAG_NOTE, NULL, "%s is mounted with discard, but %s takes none.", l->name,
			    device->name);
	else if (!strcmp(s->value, "async"))
		finding_add(x, l, s, DIAG_NOTE, NULL,
			    "%s discards freed blocks in the background, beside other "
			    "requests.",
			    l->name);
	else
		finding_add(x, l, s, DIAG_SLOW,
			    "Mount with nodiscard, and run fstrim once a week (fstrim.timer). "
			    "Risk: none.",
			    "%s is mounted with discard: blocks freed by a commit are discarded right after it, and "
			    "the next flush may wait for that.",
			    l->name);
}

void judge_journal(struct exam *x, const struct diag_layer *l, const struct diag_setting *s)
{
	if (!strcmp(s->value, "none") && !is_read_only(l))
		finding_add(x, l, s, DIAG_CHECK,
			    "tune2fs -O has_journal on the unmounted file system. Risk: fsyncs "
			    "get slower.",
			    "%s has no journal: fsyncs are short, but a crash can leave it inconsistent until e2fsck "
			    "has run.",
			    l->name);
}

void judge_block_size(struct exam *x, const struct diag_layer *l, const struct diag_setting *s)
{
	const struct diag_layer *device = device_with(x, l, "physical_block_size");
	uint64_t size = strtoull(s->value, NULL, 10);
	uint64_t physical = device ? strtoull(diag_value(device, "physical_block_size"), NULL, 10) : 0;

	if (physical > size)
		finding_add(x, l, s, DIAG_SLOW, "Make the file system anew with blocks of 4 KiB, and restore the data.",
			    "The blocks of %s have %s, the sectors of %s %s: each small write makes the drive read "
			    "first.",
			    l->name, num_bytes(size, 0).s, device->name, num_bytes(physical, 0).s);
}

void judge_delalloc(struct exam *x, const struct diag_layer *l, const struct diag_setting *s)
{
	if (!strcmp(s->value, "off") && diag_is(l, "data", "ordered"))
		finding_add(x, l, s, DIAG_SLOW, "Mount without nodelalloc.",
			    "%s allocates blocks at once, so that each commit has to write all new data of all files "
			    "first.",
			    l->name);
}
