// SPDX-License-Identifier: GPL-2.0-only
/* checks_block.c - what hurts, and what is unsafe: devices and the machine. */
#include <stdlib.h>
#include <string.h>

#include "doctor/doctor_internal.h"
#include "util/num.h"

#define FEW_REQUESTS 32	   /* a SATA drive alone takes as many */
#define MANY_FLUSHES 1000  /* as many say something about the mean */
#define INSTANT_NS   20000 /* no drive empties a cache in less */

static uint64_t number(const char *s)
{
	return s ? strtoull(s, NULL, 10) : 0;
}

static uint64_t number_of(const struct diag_layer *l, const char *key)
{
	return number(diag_value(l, key));
}

/* A member whose cache is volatile, so that it needs the flushes; NULL: none. */
static const struct diag_layer *caching_below(const struct exam *x, const struct diag_layer *l, unsigned int depth)
{
	for (size_t i = 0; depth < 16 && l->below && l->below[i]; i++) {
		const struct diag_layer *below = diag_layer_named(x->d, l->below[i]), *found;

		if (!below || below == l)
			continue;
		if (diag_is(below, "write_cache", "write back"))
			return below;
		found = below->kind == DIAG_PARTITION || !diag_value(below, "write_cache") ?
				caching_below(x, below, depth + 1) :
				NULL;
		if (found)
			return found;
	}
	return NULL;
}

static bool is_virtual(const struct diag_layer *l)
{
	static const char *const makers[] = { "QEMU", "VBOX", "VMware", "Virtual" };
	const char *model = diag_value(l, "model");

	if (diag_is(l, "transport", "virtio") || diag_is(l, "transport", "xen") || diag_is(l, "transport", "hyperv"))
		return true;
	for (size_t i = 0; model && i < sizeof(makers) / sizeof(makers[0]); i++)
		if (strstr(model, makers[i]))
			return true;
	return false;
}

/* ---- the cache ---- */

/* clang-format off */
#define PUT_BACK "Tell the kernel the truth again: write \"write back\" into queue/write_cache. Risk: none; fsyncs " \
		 "get slower, because they work again."
/* clang-format on */

static void judge_write_through_disk(struct exam *x, const struct diag_layer *l, const struct diag_setting *s)
{
	const char *scsi = diag_value(l, "scsi_cache_type");

	if (diag_is(l, "drive_cache", "on"))
		finding_add(x, l, s, DIAG_UNSAFE, PUT_BACK,
			    "The kernel takes %s for a drive without a cache and sends it no flush, but the drive says "
			    "that its write cache is on: what fsync said was written can be lost in a power "
			    "cut.",
			    l->name);
	else if (scsi && !strncmp(scsi, "write back", 10))
		finding_add(x, l, s, DIAG_UNSAFE, PUT_BACK,
			    "The kernel sends %s no flush, though the drive's caching mode page says \"%s\": somebody "
			    "changed the kernel's view. What fsync said was written can be lost in a power "
			    "cut.",
			    l->name, scsi);
	else if (diag_is(l, "transport", "usb"))
		finding_add(x, l, s, DIAG_CHECK,
			    "Connect the drive directly (SATA, NVMe), or look whether the "
			    "enclosure has newer firmware; with smartctl or hdparm installed the drive itself is "
			    "asked.",
			    "%s is behind a USB bridge that tells of no cache, so that no flush is ever sent. If the "
			    "drive caches, it is fast because it is unsafe.",
			    l->name);
	else if (diag_is(l, "virtio_flush", "0"))
		finding_add(x, l, s, DIAG_CHECK,
			    "Ask whoever runs the host; in Firecracker set cache_type to "
			    "Writeback, in QEMU cache to none or writeback.",
			    "The host offers no flush for %s, so that an fsync ends in the host's memory unless the "
			    "host writes through (cache=unsafe looks like this).",
			    l->name);
	else if (diag_is(l, "transport", "nbd") || diag_is(l, "transport", "xen") || diag_is(l, "transport", "rbd"))
		finding_add(x, l, s, DIAG_CHECK, "Look at the server's settings.",
			    "The server behind %s takes no flush: whether its cache survives a power cut cannot be "
			    "told from here.",
			    l->name);
}

void judge_write_cache(struct exam *x, const struct diag_layer *l, const struct diag_setting *s)
{
	const struct diag_layer *below = caching_below(x, l, 0);

	if (strcmp(s->value, "write through"))
		return;
	if (l->kind == DIAG_DISK && !l->below)
		judge_write_through_disk(x, l, s);
	else if (l->kind == DIAG_LOOP)
		finding_add(x, l, s, DIAG_CHECK, PUT_BACK,
			    "%s never syncs its file: an fsync on it ends in the page cache, unless the file's writes "
			    "are synchronous.",
			    l->name);
	else if (below)
		finding_add(x, l, s, DIAG_UNSAFE, PUT_BACK,
			    "%s takes no flush, but %s below it has a volatile cache: what fsync said was written can "
			    "be lost in a power cut.",
			    l->name, below->name);
}

static bool stands_on(const struct exam *x, const struct diag_layer *l, const struct diag_layer *on, unsigned int depth)
{
	for (size_t i = 0; depth < 16 && l && l->below && l->below[i]; i++)
		if (!strcmp(l->below[i], on->name) || stands_on(x, diag_layer_named(x->d, l->below[i]), on, depth + 1))
			return true;
	return false;
}

/* Commit records: not where all file systems on it have no journal or are read-only. */
static bool gets_commits(const struct exam *x, const struct diag_layer *l)
{
	bool any = false;

	for (size_t i = 0; i < x->d->n_layers; i++) {
		const struct diag_layer *fs = &x->d->layer[i];

		if (fs->kind != DIAG_FS || !stands_on(x, fs, l, 0))
			continue;
		if (!diag_is(fs, "journal", "none") && !option_find(fs->options, "ro", NULL))
			return true;
		any = true;
	}
	return !any;
}

void judge_fua(struct exam *x, const struct diag_layer *l, const struct diag_setting *s)
{
	bool bottom = l->kind == DIAG_DISK || l->kind == DIAG_LOOP; /* others have what is below them */

	if (number(s->value) || !diag_is(l, "write_cache", "write back") || !bottom || !gets_commits(x, l))
		return;
	if (diag_is(l, "transport", "ata"))
		finding_add(x, l, s, DIAG_SLOW,
			    "If the drive takes FUA: boot with libata.fua=1 (off by default, "
			    "because some drives lie). Risk: such a drive loses commits.",
			    "%s is used without FUA: each commit record costs a second flush.", l->name);
	else
		finding_add(x, l, s, DIAG_SLOW, NULL, "%s has no FUA: each commit record costs a second flush.", l->name);
}

void judge_drive_cache(struct exam *x, const struct diag_layer *l, const struct diag_setting *s)
{
	if (!strcmp(s->value, "off") && diag_is(l, "write_cache", "write back"))
		finding_add(x, l, s, DIAG_NOTE, NULL,
			    "The drive says that its write cache is off, but the kernel still sends it flushes, which "
			    "then cost little.");
	if (!strcmp(s->value, "on") && diag_is(l, "transport", "ata") && diag_is(l, "rotational", "0"))
		finding_add(x, l, s, DIAG_NOTE,
			    "Measure with the cache off (hdparm -W 0): some SSDs write "
			    "synchronously faster without it. Risk: other writes may get slower.",
			    "The write cache of %s is on, and each fsync has to empty it.", l->name);
}

/* A flush of next to nothing: a cache that survives a power cut, or a lie. */
void judge_flush_ms(struct exam *x, const struct diag_layer *l, const struct diag_setting *s)
{
	uint64_t n = number_of(l, "flushes"), mean = n ? number(s->value) * 1000000 / n : 0;

	if (n < MANY_FLUSHES || mean >= INSTANT_NS || l->kind != DIAG_DISK || !diag_is(l, "write_cache", "write back"))
		return;
	if (is_virtual(l))
		finding_add(x, l, s, DIAG_CHECK,
			    "Ask whoever runs the host: in QEMU this is cache=unsafe, VirtualBox "
			    "ignores flushes unless told not to.",
			    "The host answered the %s flushes of %s in %s on average: it may drop them.",
			    num_count(n).s, l->name, num_duration(mean, 0).s);
	else
		finding_add(x, l, s, DIAG_NOTE, NULL,
			    "%s answered its %s flushes in %s on average: either its cache "
			    "survives a power cut, or it does not "
			    "obey.",
			    l->name, num_count(n).s, num_duration(mean, 0).s);
}

/* ---- the queue ---- */

void judge_scheduler(struct exam *x, const struct diag_layer *l, const struct diag_setting *s)
{
	bool rotational = diag_is(l, "rotational", "1");

	if (!strcmp(s->value, "none") && rotational && !is_virtual(l) && l->kind == DIAG_DISK)
		finding_add(x, l, s, DIAG_NOTE,
			    "Try mq-deadline or bfq: echo mq-deadline > queue/scheduler. Risk: "
			    "none.",
			    "%s turns, and no scheduler puts its requests in order: an fsync's writes queue up behind "
			    "background writes.",
			    l->name);
	else if (!strcmp(s->value, "bfq") && !rotational)
		finding_add(x, l, s, DIAG_SLOW,
			    "Try none or mq-deadline: echo none > queue/scheduler. Risk: less "
			    "fairness between programs.",
			    "bfq keeps %s idle between the requests of one program, which costs a fast drive more than "
			    "it gains.",
			    l->name);
	else if (strcmp(s->value, "none") && diag_is(l, "transport", "nvme"))
		finding_add(x, l, s, DIAG_NOTE,
			    "Try none: echo none > queue/scheduler. Risk: less fairness between "
			    "programs.",
			    "%s is an NVMe drive with the scheduler %s, which its queues don't need.", l->name, s->value);
}

void judge_nr_requests(struct exam *x, const struct diag_layer *l, const struct diag_setting *s)
{
	if (number(s->value) < FEW_REQUESTS)
		finding_add(x, l, s, DIAG_SLOW, "Raise queue/nr_requests. Risk: longer queues.",
			    "%s takes %s request%s at once: further ones wait for a tag, an fsync's among them.",
			    l->name, s->value, num_plural(number(s->value)));
}

void judge_lpm(struct exam *x, const struct diag_layer *l, const struct diag_setting *s)
{
	if (!strncmp(s->value, "min_power", 9) || !strcmp(s->value, "med_power_with_dipm"))
		finding_add(x, l, s, DIAG_NOTE,
			    "echo max_performance > .../link_power_management_policy. Risk: more "
			    "power is used.",
			    "The link to %s may sleep between requests (%s), and waking it delays the first write of "
			    "an fsync.",
			    l->name, s->value);
}

void judge_read_only(struct exam *x, const struct diag_layer *l, const struct diag_setting *s)
{
	if (number(s->value) && l->kind == DIAG_DISK)
		finding_add(x, l, s, DIAG_NOTE, NULL, "%s is read-only: nothing is written, and nothing flushed.", l->name);
}

/* ---- alignment ---- */

void judge_start(struct exam *x, const struct diag_layer *l, const struct diag_setting *s)
{
	const struct diag_layer *disk = l->below ? diag_layer_named(x->d, l->below[0]) : NULL;
	uint64_t block = disk ? number_of(disk, "physical_block_size") : 0, at = number(s->value) * 512;

	if (number_of(l, "alignment_offset"))
		return; /* it says the same */
	if (block && at % block)
		finding_add(x, l, s, DIAG_SLOW, "Make the partition anew at a multiple of 1 MiB, and restore the data.",
			    "%s begins in the middle of a physical sector of %s: each write makes the drive read two "
			    "sectors first.",
			    l->name, num_bytes(block, 0).s);
	else if (at % (1 << 20) && !diag_is(disk ? disk : l, "rotational", "1"))
		finding_add(x, l, s, DIAG_NOTE, "For the next time: begin partitions at multiples of 1 MiB.",
			    "%s does not begin at a multiple of 1 MiB, so that it may lie across the flash's erase "
			    "blocks.",
			    l->name);
}

/* ---- stacks ---- */

void judge_dm_targets(struct exam *x, const struct diag_layer *l, const struct diag_setting *s)
{
	static const struct {
		const char *type;
		enum diag_grade grade;
		const char *what;
	} types[] = {
		{ "snapshot", DIAG_SLOW, "copies each chunk before its first write, and flushes the list of them" },
		{ "thin", DIAG_SLOW, "commits the pool's metadata at each flush after a new block was allocated" },
		{ "integrity", DIAG_SLOW, "writes each sector's checksum too, in journal mode everything twice" },
		{ "delay", DIAG_SLOW, "holds requests back on purpose" },
		{ "cache", DIAG_NOTE, "commits its metadata at each flush that follows a change of it" },
		{ "writecache", DIAG_NOTE, "answers a flush once its own cache is written" },
		{ "flakey", DIAG_CHECK, "drops or fails writes on purpose at times" },
		{ "dust", DIAG_CHECK, "fails reads on purpose" },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		size_t n = strlen(types[i].type);

		for (const char *p = strstr(s->value, types[i].type); p; p = strstr(p + n, types[i].type)) {
			if ((p > s->value && p[-1] != ' ') || (p[n] && p[n] != ','))
				continue;
			finding_add(x, l, s, types[i].grade, NULL, "The dm target %s of %s %s.", types[i].type, l->name,
				    types[i].what);
			break;
		}
	}
}

/* ---- the machine ---- */

void judge_governor(struct exam *x, const struct diag_layer *l, const struct diag_setting *s)
{
	if (strstr(s->value, "powersave") || strstr(s->value, "conservative"))
		finding_add(x, l, s, DIAG_NOTE, "cpupower frequency-set -g performance. Risk: more power is used.",
			    "The CPUs save power (%s): the many short wake-ups of an fsync run at a low clock.", s->value);
}

void judge_dirty(struct exam *x, const struct diag_layer *l, const struct diag_setting *s)
{
	if (number(s->value) > 40 && !number_of(l, "dirty_bytes"))
		finding_add(x, l, s, DIAG_NOTE, "sysctl vm.dirty_ratio=20 (the default).",
			    "Up to %s %% of memory may be dirty: one fsync with data=ordered may have to write much of "
			    "it.",
			    s->value);
}
