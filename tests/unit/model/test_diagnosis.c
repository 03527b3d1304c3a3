// SPDX-License-Identifier: GPL-2.0-only
/* Settings, findings and rows of cards: which one is found, and in what order they stand; command lines without their arguments. */
#include <stdlib.h>
#include <string.h>

#include "model/arguments.h"
#include "model/diagnosis.h"
#include "model/flush_profile.h"
#include "tap.h"
#include "util/mem.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static bool is(const char *have, const char *want)
{
	return want ? have && !strcmp(have, want) : !have;
}

/* The key says where each belongs; those with the same grade and weight stay as they are. */
TEST(order_of_findings)
{
	struct diag_finding all[] = {
		{ .grade = DIAG_NOTE, .key = "6", .weight_ns = 900 },
		{ .grade = DIAG_SLOW, .key = "4", .weight_ns = 5 },
		{ .grade = DIAG_SLOW, .key = "5", .weight_ns = 5 },
		{ .grade = DIAG_UNSAFE, .key = "1" },
		{ .grade = DIAG_SLOW, .key = "3", .weight_ns = 6 },
		{ .grade = DIAG_UNSAFE, .key = "2" },
		{ .grade = DIAG_UNSAFE, .key = "0", .weight_ns = 1 },
		{ .grade = DIAG_NOTE, .key = "7" },
	};
	struct diagnosis d = { .finding = all, .n_findings = LEN(all) };
	bool good = true;

	diagnosis_sort(&d);
	for (size_t i = 0; i < LEN(all); i++)
		good = good && all[i].key[0] == (char)('0' + i);
	ok(good, "the worst first, then by weight");
	d.n_findings = 0;
	diagnosis_sort(&d);
	ok(all[0].key[0] == '0', "none need no order");
}

/* ---- command lines ---- */

TEST(arguments)
{
	static const char *const lines[][2] = {
		{ "/usr/bin/mysql -psecret", "mysql" },
		{ "mysql -p/secret", "mysql" },
		{ "mysql", "mysql" },
		{ "/bin/", "" },
		{ "/a b", "a" },
		{ "", "" },
		{ " x", "" },
	};
	char path[] = "/opt/tool", secret[] = "secret", bare[] = "x";
	char *both[] = { path, secret, NULL }, *one[] = { bare, NULL }, *none[] = { NULL }, *name[2];

	for (size_t i = 0; i < LEN(lines); i++) {
		char *p = arguments_program(lines[i][0]);

		ok(is(p, lines[i][1]), "the program of '%s'", lines[i][0]);
		free(p);
	}
	ok(!arguments_program(NULL), "no command line has none");
	ok(arguments_hide(both, name) && is(name[0], "tool") && !name[1], "arguments are hidden");
	free(name[0]);
	ok(!arguments_hide(one, name) && is(name[0], "x") && !name[1], "where there are any");
	free(name[0]);
	ok(!arguments_hide(none, name) && !name[0], "nothing to hide");
	ok(!arguments_hide(NULL, name) && !name[0], "no command");
}

TEST(hidden_in_reports)
{
	char path[] = "/opt/tool", secret[] = "secret", line[] = "/bin/db --key 5";
	char *command[] = { path, secret, NULL };
	struct report_outstanding calls[] = { { .pid = 7, .cmdline = line }, { .pid = 8 } };
	struct report r = { .command = command, .outstanding = calls, .n_outstanding = 2, .wall_ns = 5 };
	struct report_no_arguments out;

	report_hide_arguments(&r, &out);
	ok(out.r.arguments_hidden && is(out.r.command[0], "tool") && !out.r.command[1] && out.r.wall_ns == 5 &&
		   is(r.command[1], "secret"),
	   "a report without arguments; the report itself has them");
	ok(out.r.n_outstanding == 2 && out.r.outstanding[0].pid == 7 && is(out.r.outstanding[0].cmdline, "db") &&
		   out.r.outstanding[1].pid == 8 && !out.r.outstanding[1].cmdline && is(calls[0].cmdline, line),
	   "nor those of calls that have not returned");
	report_no_arguments_free(&out);
	r.command = NULL;
	r.n_outstanding = 0;
	report_hide_arguments(&r, &out);
	ok(!out.r.arguments_hidden && !out.r.command && !out.r.n_outstanding, "without a command there are none");
	report_no_arguments_free(&out);
	r.arguments_hidden = true;
	report_hide_arguments(&r, &out);
	ok(out.r.arguments_hidden, "hidden before, it stays said");
	report_no_arguments_free(&out);
}

int main(void)
{
	tests_run();
	return tap_done();
}
