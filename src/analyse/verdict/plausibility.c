// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/verdict/plausibility.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/buf.h"
#include "util/mem.h"
#include "util/num.h"

#define BLOCK 4096u

struct judge {
	struct card *c;
	const struct card_row *small, *large; /* after 4 KiB, and after the most that was tried; NULL: not measured */
	uint64_t quick;			      /* median flush after 4 KiB */
	bool at_most;			      /* it took less than that */
	char took[64];			      /* in words */
};

static void reason(struct judge *j, char *owned)
{
	strv_add(&j->c->reasons, owned);
}

/* ---- what is it? ---- */

static enum card_medium medium(const struct card *c)
{
	static const char *const names[] = { "loop", "vd",  "xvd", "zram", "ram",  "nbd",
					     "rbd",  "dm-", "md",  "pmem", "ublkb" };
	static const char *const models[] = { "QEMU", "VBOX",	    "VMware",	       "Virtual",
					      "Msft", "scsi_debug", "Persistent Disk", "Elastic Block" };

	/* these first: virtio's disks are called rotating whatever is below them */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (c->name && !strncmp(c->name, names[i], strlen(names[i])))
			return CARD_MEDIUM_VIRTUAL;
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (c->model && strcasestr(c->model, models[i]))
			return CARD_MEDIUM_VIRTUAL;
	return c->have_rotational && c->rotational ? CARD_MEDIUM_ROTATING : CARD_MEDIUM_FLASH;
}

static const struct card_row *most_dirty(const struct card *c)
{
	const struct card_row *most = NULL;

	for (size_t i = 0; i < c->n_rows; i++) {
		const struct card_row *r = &c->row[i];

		if (r->test == CARD_DIRTY && r->call.count && r->param > BLOCK && (!most || r->param > most->param))
			most = r;
	}
	return most;
}

/* The calls that should have flushed: all but those that wrote nothing, and those that may use FUA. */
static void count_flushes(const struct card *c, uint64_t *calls, uint64_t *flushed)
{
	*calls = *flushed = 0;
	for (size_t i = 0; i < c->n_rows; i++) {
		const struct card_row *r = &c->row[i];

		if (r->test == CARD_FUA || (r->test == CARD_DIRTY && !r->param))
			continue;
		*calls += r->call.count;
		*flushed += r->flush.count + r->unwaited;
	}
}

/* ---- reasons ---- */

static void say_medium(struct judge *j)
{
	const struct card *c = j->c;

	if (c->medium == CARD_MEDIUM_VIRTUAL)
		reason(j, xasprintf("%s is not a medium itself: what its flush means is decided by what is below it (a "
				    "host, another file system, memory), which cannot be seen from here.",
				    c->name ? c->name : "The disk"));
	if (c->medium == CARD_MEDIUM_FLASH && j->quick >= BELIEVE_PROGRAM_NS)
		reason(j, xasprintf("To program a page of flash takes %s or more; its flush after 4 KiB takes %s.",
				    num_duration(BELIEVE_PROGRAM_NS, 0).s, j->took));
	if (c->medium == CARD_MEDIUM_ROTATING && j->quick >= BELIEVE_ROTATION_NS)
		reason(j, xasprintf("The place of a write comes by once per rotation, of 4 ms or more; its flush after "
				    "4 KiB takes %s.",
				    j->took));
}

/* Does it cost more when there is more to write out? A cost is a sign of work. */
static void say_growth(struct judge *j)
{
	uint64_t many;

	if (!j->large || j->large->flush.count < 2)
		return;
	many = hist_quantile(&j->large->flush, 0.5);
	if (j->at_most && many <= j->quick + j->quick / 2)
		return;
	if (many > j->quick + j->quick / 2)
		reason(j, xasprintf("After %s were written it takes %s: there is more to write out, and it does.",
				    num_bytes(j->large->param, 0).s, num_duration(many, 0).s));
	else
		reason(j, xasprintf("After %s were written it takes no longer (%s): the device writes out as it goes, "
				    "or what the flush does has nothing to do with the data.",
				    num_bytes(j->large->param, 0).s, num_duration(many, 0).s));
}

static void say_discards(struct judge *j)
{
	const struct card_row *d = NULL;

	for (size_t i = 0; i < j->c->n_rows; i++)
		if (j->c->row[i].test == CARD_DISCARD)
			d = &j->c->row[i];
	if (d && !j->c->discards)
		reason(j, xasprintf("No discard reached the disk%s%s: the row \"discard\" shows frees alone.",
				    d->missing ? ", " : "", d->missing ? d->missing : ""));
}

/* ---- grades ---- */

/* What was written and flushed for good, per second; 0: not known. */
static double durable_rate(const struct card_row *r)
{
	return r && r->wall_ns ? (double)r->bytes * 1e9 / (double)r->wall_ns : 0;
}

static enum card_grade grade_rotating(struct judge *j)
{
	double rate = durable_rate(j->large);

	if (j->quick < BELIEVE_ROTATION_NS)
		reason(j, xasprintf("A flush after 4 KiB takes %s, less than an eighth of a rotation of the fastest "
				    "disk there was (4 ms): the place cannot have come by.",
				    j->took));
	if (rate > BELIEVE_ROTATING_RATE)
		reason(j, xasprintf("%s per second were written and flushed; no rotating disk takes more than 600 MB "
				    "for good.",
				    num_bytes((uint64_t)rate, 0).s));
	return j->quick < BELIEVE_ROTATION_NS || rate > BELIEVE_ROTATING_RATE ? CARD_IMPOSSIBLE : CARD_BELIEVABLE;
}

static enum card_grade grade_flash(struct judge *j)
{
	if (j->quick >= BELIEVE_PROGRAM_NS)
		return CARD_BELIEVABLE;
	reason(j, xasprintf("A flush after 4 KiB takes %s, and to program a page of flash takes %s or more. That is "
			    "right for a drive whose cache survives a power cut (capacitors, a battery) and yet is "
			    "called volatile; a consumer's SSD that does so keeps nothing.",
			    j->took, num_duration(BELIEVE_PROGRAM_NS, 0).s));
	return CARD_DOUBTFUL;
}

static enum card_grade grade_virtual(struct judge *j)
{
	if (j->quick >= BELIEVE_PROGRAM_NS)
		return CARD_BELIEVABLE;
	reason(j, xasprintf("A flush after 4 KiB takes %s: in that time no flash and no rotating disk has written "
			    "anything. Below it is a cache that survives a power cut, or a host that ignores flushes "
			    "(cache=unsafe).",
			    j->took));
	return CARD_DOUBTFUL;
}

/* As the kernel sees it, which is all that is known of it here. */
static bool is_write_through(const struct card *c)
{
	return c->write_cache && !strcmp(c->write_cache, "write through");
}

static enum card_grade grade_none(struct judge *j)
{
	const struct card *c = j->c;

	if (is_write_through(c))
		reason(j, xasprintf("The kernel's view (write_cache: write through) is right for a drive without a volatile "
				    "cache: with protection against power loss, or with its cache switched off (hdparm -W "
				    "0). It is wrong for a USB bridge that doesn't tell of its drive's cache, and where "
				    "somebody wrote it there. Which it is cannot be seen from here: `barriertrace doctor "
				    "%s` asks the drive, where that is possible.",
				    c->name ? c->name : "DISK"));
	else
		reason(j, xstrdup("No flush reached the disk although it has a volatile cache: barriers are off in the "
				  "file system, or below it."));
	return CARD_NO_FLUSH;
}

static enum card_grade grade_time(struct judge *j)
{
	enum card_grade (*const grades[CARD_MEDIA])(struct judge * j) = {
		[CARD_MEDIUM_VIRTUAL] = grade_virtual,
		[CARD_MEDIUM_ROTATING] = grade_rotating,
		[CARD_MEDIUM_FLASH] = grade_flash,
	};
	enum card_grade g = grades[j->c->medium](j);

	if (g != CARD_BELIEVABLE || !j->at_most)
		return g;
	reason(j, xstrdup("Its flushes were over before the calls had to wait for them, and the calls take so long for "
			  "other reasons."));
	return CARD_UNKNOWN;
}

static enum card_grade grade(struct judge *j)
{
	uint64_t calls, flushed;

	count_flushes(j->c, &calls, &flushed);
	if (calls >= BELIEVE_FEW && !flushed)
		return grade_none(j);
	flushed = j->small ? j->small->flush.count + j->small->unwaited : 0;
	if (flushed < BELIEVE_FEW) {
		reason(j, xasprintf("Too few flushes were seen to judge: %s.", flushed ? num_count(flushed).s : "none"));
		return CARD_UNKNOWN;
	}
	j->at_most = !card_row_flush(j->small, 0.5, &j->quick);
	snprintf(j->took, sizeof(j->took), "%s%s", j->at_most ? "less than " : "", num_duration(j->quick, 0).s);
	say_medium(j);
	return grade_time(j);
}

static char *sentence(const struct judge *j)
{
	const char *name = j->c->name ? j->c->name : "this disk";

	switch (j->c->grade) {
	case CARD_BELIEVABLE:
		return xasprintf("A flush of %s takes %s, which is believable%s.", name, j->took,
				 j->c->medium == CARD_MEDIUM_VIRTUAL ? " as far as it can be seen from here" : "");
	case CARD_DOUBTFUL:
		return xasprintf("A flush of %s takes %s, which is believable only if %s survives a power cut.", name,
				 j->took, j->c->medium == CARD_MEDIUM_VIRTUAL ? "what is below it" : "its cache");
	case CARD_IMPOSSIBLE:
		return xasprintf("The flush of %s is not believable: it answers before the data can be on the medium.",
				 name);
	case CARD_NO_FLUSH:
		if (is_write_through(j->c))
			return xasprintf("No flush is sent to %s, because the kernel takes it for a disk without a volatile "
					 "cache; whether it has one was not seen.",
					 name);
		return xasprintf("No flush is sent to %s: what an fsync promises rests on a cache that survives a "
				 "power cut.",
				 name);
	default: return xasprintf("Whether the flush of %s is believable is not known.", name);
	}
}

void believe(struct card *c)
{
	struct judge j = { .c = c, .small = card_row_of(c, CARD_DIRTY, BLOCK), .large = most_dirty(c) };

	free(c->sentence);
	strv_free(c->reasons);
	c->reasons = NULL;
	c->medium = medium(c);
	c->grade = grade(&j);
	if (c->grade < CARD_NO_FLUSH)
		say_growth(&j);
	say_discards(&j);
	c->sentence = sentence(&j);
}
