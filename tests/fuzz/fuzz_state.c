// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state files of experiments, by which root writes: nothing is named that no experiment could have set, and what was read is the
 * same after another turn. The checksum is made right, unless the first byte says otherwise.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

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
	struct buf b = { 0 };
	struct state s;
	struct err e;

	if (!n)
		return;
	buf_add(&b, bytes + 1, n - 1);
	if (bytes[0] != '!')
		buf_printf(&b, "end %08lx\n", crc32(0, bytes + 1, (uInt)(n - 1)));
	if (!state_decode(b.data, b.len, &s, &e)) {
		check(&s);
		state_free(&s);
	}
	buf_free(&b);
}

static void seeds(void)
{
	static const char text[] = ".barriertrace experiment 1\n"
				   "pid 4711\n"
				   "disk 7:0 loop0\n"
				   "disk 252:0 my%20disk\n"
				   "place scheduler|7:0|5383|loop0||none\n"
				   "place write-cache|252:0|1|dm-0||write%20back\n";

	fuzz_seed("state", text, sizeof(text) - 1);
	for (const struct key_row *row = key_rows; row->name; row++) {
		struct buf b = { 0 };

		buf_printf(&b, ".barriertrace experiment 1\npid 1\nplace %s|7:0|1|%s|%s|1\n", row->name,
			   row->kind == KEY_CPU				   ? "cpu0" :
			   row->kind == KEY_EXT4 || row->kind == KEY_ATIME ? "/srv" :
									     "sda",
			   row->hidden ? "read_expire" : "");
		fuzz_seed(row->name, b.data, b.len);
		buf_free(&b);
	}
}

const struct fuzz_target fuzz_state = { "state", run, NULL, seeds };
