// SPDX-License-Identifier: GPL-2.0-only
/* The order of a report's lists, and shorter lists that add up to the same. */
#include <stdlib.h>
#include <string.h>

#include "analyse/report_top.h"
#include "util/mem.h"
#include "tap.h"

/* ---- order ---- */

static int group_order(uint64_t a_ns, const char *a, uint32_t a_pid, uint64_t b_ns, const char *b, uint32_t b_pid, bool files)
{
	struct report_group x = { .total_ns = a_ns, .pid = a_pid }, y = { .total_ns = b_ns, .pid = b_pid };

	*(files ? &x.path : &x.comm) = (char *)a;
	*(files ? &y.path : &y.comm) = (char *)b;
	return report_group_order(&x, &y);
}

TEST(group_order)
{
	ok(group_order(2, "b", 2, 1, "a", 1, false) < 0 && group_order(1, "a", 1, 2, "b", 2, false) > 0,
	   "groups: most time first");
	ok(group_order(1, "a", 2, 1, "b", 1, false) < 0 && group_order(1, "b", 1, 1, "a", 2, false) > 0, "then by name");
	ok(group_order(1, "a", 1, 1, "b", 1, true) < 0 && group_order(1, "b", 1, 1, "a", 1, true) > 0, "or by path");
	ok(group_order(1, "a", 1, 1, "a", 2, false) < 0 && group_order(1, "a", 2, 1, "a", 1, false) > 0, "then by number");
	ok(group_order(1, "a", 1, 1, "a", 1, false) == 0, "nothing is left to tell them apart");
}

static int leaf_order(int (*order)(const void *, const void *), uint64_t a_ns, const char *a, enum cause a_cause,
		      uint64_t b_ns, const char *b, enum cause b_cause)
{
	struct report_leaf x = { .path = (char *)a, .cause = a_cause, .ns = a_ns },
			   y = { .path = (char *)b, .cause = b_cause, .ns = b_ns };

	return order(&x, &y);
}

TEST(leaf_order)
{
	ok(leaf_order(report_leaf_by_path, 1, "a", CAUSE_LOCK, 2, "b", CAUSE_CPU) < 0 &&
		   leaf_order(report_leaf_by_path, 2, "b", CAUSE_CPU, 1, "a", CAUSE_LOCK) > 0,
	   "leaves: by path");
	ok(leaf_order(report_leaf_by_path, 1, "a", CAUSE_CPU, 2, "a", CAUSE_LOCK) < 0 &&
		   leaf_order(report_leaf_by_path, 1, "a", CAUSE_LOCK, 2, "a", CAUSE_CPU) > 0,
	   "then by cause");
	ok(!leaf_order(report_leaf_by_path, 1, "a", CAUSE_LOCK, 2, "a", CAUSE_LOCK), "whatever their time");
	ok(leaf_order(report_leaf_by_time, 2, "b", CAUSE_LOCK, 1, "a", CAUSE_CPU) < 0 &&
		   leaf_order(report_leaf_by_time, 1, "a", CAUSE_CPU, 2, "b", CAUSE_LOCK) > 0,
	   "leaves: most time first");
	ok(leaf_order(report_leaf_by_time, 1, "a", CAUSE_LOCK, 1, "b", CAUSE_CPU) < 0, "then by path");
}

/* ---- processes and files ---- */

static void add_group(struct report_group **g, size_t *n, const char *name, bool files, uint64_t ns, bool rest)
{
	struct report_group *to = grow((void **)g, n, sizeof(*to));

	*(files ? &to->path : &to->comm) = xstrdup(name);
	to->device = files ? xstrdup("sda") : NULL;
	to->pid = rest ? 0 : (uint32_t)ns;
	to->rest = rest;
	to->total_ns = ns;
	to->count = 1;
	to->unsafe = 2;
	to->unsafe_ns = 3;
	to->ledger.ns[CAUSE_CPU] = ns;
	tally_add(&to->latency, ns);
}

static struct report_sync five(bool with_rest)
{
	static const uint64_t ns[] = { 90, 70, 50, 30, 20 };
	struct report_sync s = { 0 };

	for (int i = 0; i < 5; i++) {
		add_group(&s.process, &s.n_processes, i == 1 && with_rest ? REPORT_OTHER_PROCESSES : "p", false, ns[i],
			  i == 1 && with_rest);
		add_group(&s.file, &s.n_files, i == 1 && with_rest ? REPORT_OTHER_FILES : "f", true, ns[i],
			  i == 1 && with_rest);
	}
	return s;
}

static void drop(struct report_sync *s)
{
	struct report r = { .sync = *s };

	report_free(&r);
}

static bool is_group(const struct report_group *g, const char *name, uint64_t ns, uint64_t count, bool rest)
{
	const char *is = g->path ? g->path : g->comm;
	bool good = !strcmp(is, name) && g->total_ns == ns && g->count == count && g->unsafe == 2 * count &&
		    g->unsafe_ns == 3 * count && g->ledger.ns[CAUSE_CPU] == ns && g->latency.count == count &&
		    g->latency.sum == ns && g->rest == rest;

	if (!good)
		diag("%s: %llu ns, %llu calls", is, (unsigned long long)g->total_ns, (unsigned long long)g->count);
	return good;
}

TEST(groups)
{
	struct report_sync s = five(false);

	s.gone_processes = 10;
	s.gone_files = 20;
	report_top(&s, 5);
	ok(s.n_processes == 5 && s.n_files == 5 && s.gone_processes == 10 && s.gone_files == 20, "five of five: all stay");
	report_top(&s, 4);
	ok(s.n_processes == 5 && s.n_files == 5 && s.gone_processes == 11 && s.gone_files == 21, "four of five: one went");
	ok(is_group(&s.process[4], REPORT_OTHER_PROCESSES, 20, 1, true) &&
		   is_group(&s.file[4], REPORT_OTHER_FILES, 20, 1, true),
	   "and has a line, with a name of its own");
	ok(is_group(&s.process[3], "p", 30, 1, false) && is_group(&s.file[3], "f", 30, 1, false), "the fourth stays");
	ok(!s.file[4].device && !s.process[4].pid && !s.process[4].path && !s.file[4].comm, "of no disk and no number");
	report_top(&s, 2);
	ok(s.n_processes == 3 && s.gone_processes == 13 && is_group(&s.process[0], REPORT_OTHER_PROCESSES, 100, 3, true) &&
		   is_group(&s.process[1], "p", 90, 1, false) && is_group(&s.process[2], "p", 70, 1, false),
	   "two of them: the sum of the rest has the most time, and comes first");
	ok(s.n_files == 3 && s.gone_files == 23 && is_group(&s.file[0], REPORT_OTHER_FILES, 100, 3, true), "of files, too");
	drop(&s);
}

TEST(groups_with_rest)
{
	struct report_sync s = five(true);

	report_top(&s, 4);
	ok(s.n_processes == 5 && !s.gone_processes && is_group(&s.process[1], REPORT_OTHER_PROCESSES, 70, 1, true),
	   "a rest is none of the four");
	report_top(&s, 3);
	ok(s.n_processes == 4 && s.gone_processes == 1 && is_group(&s.process[0], REPORT_OTHER_PROCESSES, 90, 2, true),
	   "it gets what went, and is no process that went");
	report_top(&s, 0);
	ok(s.n_processes == 1 && s.gone_processes == 4 && is_group(&s.process[0], REPORT_OTHER_PROCESSES, 260, 5, true),
	   "none stays");
	drop(&s);
	s = (struct report_sync){ 0 };
	report_top(&s, 0);
	ok(!s.n_processes && !s.n_files && !s.n_leaves && !s.gone_processes && !s.gone_files,
	   "of nothing there is no rest");
}

/* ---- stacks ---- */

static void add_leaf(struct report_sync *s, const char *path, enum cause c, uint64_t ns)
{
	struct report_leaf *l = grow((void **)&s->leaf, &s->n_leaves, sizeof(*l));

	l->path = xstrdup(path);
	l->cause = c;
	l->ns = ns;
	tally_add(&l->each, ns);
}

static bool is_leaf(const struct report_leaf *l, const char *path, enum cause c, uint64_t ns, uint64_t count)
{
	if (!strcmp(l->path, path) && l->cause == c && l->ns == ns && l->each.count == count && l->each.sum == ns)
		return true;
	diag("%s: %llu ns, %llu times", l->path, (unsigned long long)l->ns, (unsigned long long)l->each.count);
	return false;
}

#define OTHER "(other);(other calls);(other files);"

static struct report_sync stacks(void)
{
	struct report_sync s = { 0 };

	add_leaf(&s, "a", CAUSE_CPU, 90);
	add_leaf(&s, "b", CAUSE_LOCK, 80);
	add_leaf(&s, OTHER "lock", CAUSE_LOCK, 60);
	add_leaf(&s, "c", CAUSE_CPU, 50);
	add_leaf(&s, "d", CAUSE_UNKNOWN, 40);
	add_leaf(&s, "e", CAUSE_LOCK, 35);
	return s;
}

static void test_stacks(void)
{
	struct report_sync s = stacks();

	report_top(&s, 6);
	ok(s.n_leaves == 6 && is_leaf(&s.leaf[2], OTHER "lock", CAUSE_LOCK, 60, 1),
	   "as many stacks as are wanted: none goes");
	report_top(&s, 5);
	ok(s.n_leaves == 6, "five of them and the rest: none goes");
	report_top(&s, 2);
	ok(s.n_leaves == 5 && is_leaf(&s.leaf[0], OTHER "lock", CAUSE_LOCK, 95, 2) &&
		   is_leaf(&s.leaf[1], "a", CAUSE_CPU, 90, 1) && is_leaf(&s.leaf[2], "b", CAUSE_LOCK, 80, 1) &&
		   is_leaf(&s.leaf[3], OTHER "cpu", CAUSE_CPU, 50, 1) &&
		   is_leaf(&s.leaf[4], OTHER "unknown", CAUSE_UNKNOWN, 40, 1),
	   "two of them and a rest for each cause, by time");
	report_top(&s, 1);
	ok(s.n_leaves == 4 && is_leaf(&s.leaf[0], OTHER "lock", CAUSE_LOCK, 175, 3) &&
		   is_leaf(&s.leaf[1], "a", CAUSE_CPU, 90, 1),
	   "the one with most time that is no rest");
	report_top(&s, 0);
	ok(s.n_leaves == 3 && is_leaf(&s.leaf[1], OTHER "cpu", CAUSE_CPU, 140, 2), "none: all are summed up");
	drop(&s);
}

int main(void)
{
	tests_run();
	test_stacks();
	return tap_done();
}
