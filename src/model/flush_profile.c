// SPDX-License-Identifier: GPL-2.0-only
#include "model/flush_profile.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

/* clang-format off */
const struct field card_run_fields[] = {
	FIELD(STRING, card, start), FIELD(STRING, card, kernel), FIELD(STRING, card, arch), FIELDS_END
};

const struct field card_disk_fields[] = {
	FIELD(STRING, card, name), FIELD(STRING, card, model), FIELD(STRING, card, firmware), FIELD_SET(U64, card, size),
	FIELD(STRING, card, write_cache), FIELD_IF(have_fua, BOOL, card, fua), FIELD_IF(have_rotational, BOOL, card, rotational),
	FIELD(BOOL, card, bio_based), FIELD(STRING, card, scheduler), FIELDS_END
};
/* clang-format on */

static const struct {
	const char *name, *param;
} tests[CARD_TESTS] = {
	[CARD_DIRTY] = { "dirty", "bytes" },	 [CARD_FLUSH] = { "flush", "bytes" },
	[CARD_FUA] = { "fua", "bytes" },	 [CARD_DEPTH] = { "depth", "writers" },
	[CARD_BUSY] = { "busy", "bytes" },	 [CARD_IDLE] = { "idle", "rest_ns" },
	[CARD_DISCARD] = { "discard", "bytes" },
};

const char *card_test_name(enum card_test t)
{
	return tests[t].name;
}

const char *card_test_param(enum card_test t)
{
	return tests[t].param;
}

const char *card_grade_name(enum card_grade g)
{
	static const char *const names[CARD_GRADES] = {
		[CARD_BELIEVABLE] = "believable", [CARD_DOUBTFUL] = "doubtful", [CARD_IMPOSSIBLE] = "impossible",
		[CARD_NO_FLUSH] = "no flush",	  [CARD_UNKNOWN] = "unknown",
	};

	return names[g];
}

const char *card_medium_name(enum card_medium m)
{
	static const char *const names[CARD_MEDIA] = {
		[CARD_MEDIUM_VIRTUAL] = "virtual",
		[CARD_MEDIUM_ROTATING] = "rotating",
		[CARD_MEDIUM_FLASH] = "flash",
	};

	return names[m];
}

const struct card_row *card_row_of(const struct card *c, enum card_test t, uint64_t param)
{
	for (size_t i = 0; i < c->n_rows; i++)
		if (c->row[i].test == t && c->row[i].param == param && c->row[i].call.count)
			return &c->row[i];
	return NULL;
}

/* Those that were not waited for are the quickest, and none took longer than its call. */
bool card_row_flush(const struct card_row *r, double q, uint64_t *ns)
{
	double rank = q * (double)(r->flush.count + r->unwaited) - (double)r->unwaited;

	if (!r->flush.count || rank < 0) {
		*ns = hist_quantile(&r->call, q);
		return false;
	}
	*ns = hist_quantile(&r->flush, rank / (double)r->flush.count);
	return true;
}

void card_free(struct card *c)
{
	free_all(c->version, c->kernel, c->arch, c->start, c->name, c->model, c->firmware, c->write_cache, c->scheduler,
		 c->fstype, c->options, c->sentence);
	for (size_t i = 0; i < c->n_rows; i++)
		free(c->row[i].missing);
	free(c->row);
	strv_free(c->reasons);
	memset(c, 0, sizeof(*c));
}

void card_comparison_free(struct card_comparison *c)
{
	free(c->sentence);
	free(c->row);
	strv_free(c->settings);
	memset(c, 0, sizeof(*c));
}
