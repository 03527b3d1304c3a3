// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state files of experiments, by which root writes: nothing is named that no experiment could have set, and what was read is the
 * same after another turn.
 */
#include <stdlib.h>
#include <string.h>

#include "experiment/restore_file.h"
#include "fuzz.h"

static void check_place(const struct place *p)
{
	bool mounted = p->row->kind == KEY_EXT4 || p->row->kind == KEY_ATIME;

	fuzz_expect(mounted == !!strchr(p->unit, '/'), "a disk or a CPU is no path, a mount point is one");
	fuzz_expect(!p->sub || !strchr(p->sub, '/'), "an attribute is no path");
	fuzz_expect(strcmp(p->unit, "..") && strcmp(p->unit, "."), "nothing leads elsewhere");
}

static void check(const struct state *s)
{
	struct buf once = { 0 }, twice = { 0 };
	struct state again;
	struct err e;

	for (size_t i = 0; i < s->n; i++)
		check_place(&s->place[i]);
	state_encode(s, &once);
	fuzz_expect(!state_decode(once.data, once.len, &again, &e), "a state is read again");
	state_encode(&again, &twice);
	fuzz_expect(once.len == twice.len && !memcmp(once.data, twice.data, once.len), "it says the same");
	state_free(&again);
	buf_free(&once);
	buf_free(&twice);
}

static void run(const uint8_t *bytes, size_t n)
{
	struct state s;
	struct err e;

	if (state_decode((const char *)bytes, n, &s, &e))
		return;
	check(&s);
	state_free(&s);
}

static void seeds(void)
{
	for (const struct key_row *row = key_rows; row->name; row++) {
		struct buf b = { 0 };

		buf_printf(&b,
			   "{\"version\":1,\"pid\":1,\"disks\":[{\"major\":7,\"minor\":0,\"name\":\"my disk\"}],"
			   "\"settings\":[{\"key\":\"%s\",\"unit\":\"%s\",%s\"before\":\"write back\",\"diskseq\":5383}]}",
			   row->name,
			   row->kind == KEY_CPU				   ? "cpu0" :
			   row->kind == KEY_EXT4 || row->kind == KEY_ATIME ? "/srv" :
									     "sda",
			   row->hidden ? "\"sub\":\"read_expire\"," : "");
		fuzz_seed(row->name, b.data, b.len);
		buf_free(&b);
	}
}

const struct fuzz_target fuzz_state = { "state", run, NULL, seeds };
