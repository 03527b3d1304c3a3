// SPDX-License-Identifier: GPL-2.0-only
/* Names of what facts hold as numbers: the kernel's functions by their addresses. */
#include <stdlib.h>
#include <string.h>

#include "host/device_names.h"
#include "tap.h"

static const char *const wanted[] = { "mutex_lock", "blk_mq_get_tag", "jbd2_log_wait_commit", "down", "last_one", NULL };

static struct kernel_symbol *read_from(const char *text, size_t *n)
{
	FILE *f = fmemopen((char *)text, strlen(text), "r");
	struct kernel_symbol *s;

	if (!f)
		abort();
	s = symbols_of(f, wanted, n);
	fclose(f);
	return s;
}

static bool is(const struct kernel_symbol *s, const char *name, uint64_t start, uint64_t end)
{
	return !strcmp(s->name, name) && s->start == start && s->end == end;
}

static void functions(void)
{
	size_t n;
	struct kernel_symbol *s = read_from("ffffffff81000000 T _stext\n"
					    "ffffffff81000100 T mutex_lock\n"
					    "ffffffff81000100 t __pfx_alias\n"
					    "ffffffff81000140 t mutex_lock_io\n"
					    "ffffffff81000200 t blk_mq_get_tag.isra.0\n"
					    "ffffffff81000280 T down\n"
					    "ffffffff81000300 T down_read\n"
					    "ffffffff81000400 D blk_mq_get_tag\n"
					    "ffffffffc0000000 t jbd2_log_wait_commit\t[jbd2]\n"
					    "ffffffffc0000080 t jbd2_next\t[jbd2]\n"
					    "ffffffffc0001000 t last_one\n",
					    &n);

	ok(n == 5, "%zu functions of the kernel and of modules are found, data is none", n);
	ok(n == 5 && is(&s[0], "mutex_lock", 0xffffffff81000100, 0xffffffff81000140),
	   "one ends where the next address begins, whatever else is called that has its own");
	ok(n == 5 && is(&s[1], "blk_mq_get_tag.isra.0", 0xffffffff81000200, 0xffffffff81000280) &&
		   is(&s[2], "down", 0xffffffff81000280, 0xffffffff81000300),
	   "what a compiler made of one is that one, and one that only begins so isn't");
	ok(n == 5 && is(&s[3], "jbd2_log_wait_commit", 0xffffffffc0000000, 0xffffffffc0000080),
	   "the module is no part of the name");
	ok(n == 5 && is(&s[4], "last_one", 0xffffffffc0001000, 0xffffffffc0001000), "of the last one no end is known");
	free(s);
}

static void nothing(void)
{
	size_t n = 7;
	struct kernel_symbol *s = read_from("0000000000000000 T mutex_lock\n0000000000000000 T down\n", &n);

	ok(!s && !n, "addresses that are hidden are none");
	free(s);
	s = read_from("damaged\n\nffffffff81000100\nffffffff81000100 T\nffffffff81000100 T \n", &n);
	ok(!s && !n, "nor are lines that make no sense");
	free(s);
}

int main(void)
{
	functions();
	nothing();
	return tap_done();
}
