// SPDX-License-Identifier: GPL-2.0-only
/* The order of a report's lists, and shorter lists that add up to the same: golden/report_top.txt. */
#include <stdlib.h>
#include <string.h>

#include "analyse/report_top.h"
#include "util/mem.h"
#include "situations.h"

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
	ok(leaf_order(report_leaf_by_time, 1, "a", CAUSE_LOCK, 1, "b", CAUSE_CPU) < 0 &&
		   leaf_order(report_leaf_by_time, 1, "b", CAUSE_CPU, 1, "a", CAUSE_LOCK) > 0,
	   "then by path");
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

static void say_groups(const char *kind, const struct report_group *g, size_t n, uint64_t gone)
{
	SAY("  %s (%llu gone):", kind, (unsigned long long)gone);
	for (size_t i = 0; i < n; i++) {
		SAY(" %s%s%s %llu,", g[i].path ? g[i].path : g[i].comm, g[i].rest ? ", the rest," : "",
		    g[i].device ? " on a disk" : "", (unsigned long long)g[i].total_ns);
		ok(g[i].ledger.ns[CAUSE_CPU] == g[i].total_ns && g[i].latency.sum == g[i].total_ns &&
			   g[i].latency.count == g[i].count && g[i].unsafe == 2 * g[i].count &&
			   g[i].unsafe_ns == 3 * g[i].count,
		   "all of it adds up");
	}
	SAY("\n");
}

static void top(struct report_sync *s, size_t n, const char *what)
{
	report_top(s, n);
	SAY("%s:\n", what);
	say_groups("processes", s->process, s->n_processes, s->gone_processes);
	say_groups("files", s->file, s->n_files, s->gone_files);
}

TEST(groups)
{
	struct report_sync s = five(false), none = { 0 };

	s.gone_processes = 10;
	s.gone_files = 20;
	top(&s, 5, "five of five: all stay");
	top(&s, 4, "four of five: one went");
	top(&s, 2, "two of them: the sum of the rest has the most time, and comes first");
	drop(&s);
	s = five(true);
	top(&s, 4, "a rest is none of the four");
	top(&s, 3, "it gets what went, and is no process that went");
	top(&s, 0, "none stays");
	drop(&s);
	top(&none, 0, "of nothing there is no rest");
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

static void top_stacks(struct report_sync *s, size_t n, const char *what)
{
	report_top(s, n);
	SAY("%s:\n", what);
	for (size_t i = 0; i < s->n_leaves; i++) {
		const struct report_leaf *l = &s->leaf[i];

		SAY("  %s %s %llu, %llu times\n", l->path, cause_name(l->cause), (unsigned long long)l->ns,
		    (unsigned long long)l->each.count);
		ok(l->each.sum == l->ns, "it adds up");
	}
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

TEST(of_stacks)
{
	struct report_sync s = stacks();

	top_stacks(&s, 6, "as many stacks as are wanted: none goes");
	top_stacks(&s, 5, "five of them and the rest: none goes");
	top_stacks(&s, 2, "two of them and a rest for each cause, by time");
	top_stacks(&s, 1, "the one with most time that is no rest");
	top_stacks(&s, 0, "none: all are summed up");
	drop(&s);
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	return situations_done("report_top");
}
