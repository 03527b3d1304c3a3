// SPDX-License-Identifier: GPL-2.0-only
/* What /proc says of tasks: its texts field by field, up to the last value that makes sense, and its files in a made-up tree. */
#include <errno.h>
#include <unistd.h>

#include "host/sysfs.h"
#include "host/task_proc.h"
#include "util/mem.h"
#include "check.h"
#include "fake_tree.h"
#include "open_files.h"
#include "wire.h"

/* ---- texts ---- */

static bool is_call(const char *text, long nr, const uint64_t arg[6], uint64_t sp)
{
	struct task_call c;

	return task_call_parse(text, &c) && c.nr == nr && !memcmp(c.arg, arg, sizeof(c.arg)) && c.sp == sp && !c.running;
}

static void test_call(void)
{
	static const char *const bad[] = {
		"run",
		"-1 0x1",
		"-1 0x1 2",
		"-2 0x1 0x2",
		"9223372036854775808 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8",
		"0 0x1 0x2 0x3 0x4 0x5 0x6 0x7",
		"0 0x1 0x2 0x3 0x4 0x5 6 0x7 0x8",
		"0 0X1 0x2 0x3 0x4 0x5 0x6 0x7 0x8",
		"0 0x1 0x2 0x3 0x4 0x5 0x6 0x10000000000000000 0x8",
	};
	static const uint64_t none[6], all[6] = { 1, 2, 3, 4, 5, 0xffffffffffffffff };
	struct task_call c;

	ok(is_call("0 0x1 0x2 0x3 0x4 0x5 0xffffffffffffffff 0x7 0x8\n", 0, all, 7), "call 0 and six arguments");
	ok(is_call("1  0x1   0x2 0x3 0x4 0x5 0xffffffffffffffff 0x7f 0x8", 1, all, 0x7f), "more blanks than one");
	ok(is_call("-1 0x7 0x8", -1, none, 7), "no call: two addresses");
	ok(task_call_parse("running\n", &c) && c.running && c.nr == -1 && !c.sp && !c.arg[0], "one that runs");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ok(!task_call_parse(bad[i], &c), "no call: '%s'", bad[i]);
}

#define FIRST_FIELD 4 /* of proc(5), behind the state */
#define LAST_FIELD  52

/* A line of `stat` in which field n is 11 n, but one of them is `value`; `last` is the last field. */
static char *stat_line(const char *comm, int field, const char *value, int last)
{
	char *line = xasprintf("7 (%s) S", comm), *longer;

	for (int n = FIRST_FIELD; n <= last; n++, line = longer) {
		longer = n == field ? xasprintf("%s %s", line, value) : xasprintf("%s %d", line, 11 * n);
		free(line);
	}
	return line;
}

static bool parses(int field, const char *value, int last, struct task_stat *s)
{
	char *line = stat_line("dd", field, value, last);
	bool good = task_stat_parse(line, s);

	free(line);
	return good;
}

static void test_stat_fields(void)
{
	static const int read[] = { 4, 9, 20, 22, 39 };
	struct task_stat s;

	ok(parses(0, "", LAST_FIELD, &s) && s.state == 'S' && !strcmp(s.comm, "dd"), "all fields");
	ok(s.parent == 44 && s.threads == 220 && s.start == 242 && s.cpu == 429 && !s.kernel_thread, "each at its place");
	ok(parses(9, "2097152", LAST_FIELD, &s) && s.kernel_thread, "the flag of a kernel thread");
	ok(parses(9, "4292870143", LAST_FIELD, &s) && !s.kernel_thread, "all flags but that one");
	ok(parses(4, "0", LAST_FIELD, &s) && !s.parent, "no parent");
	for (int n = FIRST_FIELD; n <= LAST_FIELD; n++) {
		bool is_read = false;

		for (size_t i = 0; i < ARRAY_LEN(read); i++)
			is_read = is_read || read[i] == n;
		ok(parses(n, "x", LAST_FIELD, &s) != is_read, "field %d is %s", n, is_read ? "read" : "not read");
	}
	ok(parses(0, "", 39, &s) && s.cpu == 429, "fields that an old kernel ends with");
	ok(!parses(0, "", 38, &s), "one fewer is too few");
	ok(!parses(39, "-1", LAST_FIELD, &s), "a negative number is none");
}

/* The names joined by commas; "-" for none at all. */
static void stack_is(const char *text, const char *want)
{
	char **names = task_stack_parse(text), *all = xstrdup(""), *longer;

	for (size_t i = 0; names && names[i]; i++, all = longer) {
		longer = xasprintf("%s%s%s", all, i ? "," : "", names[i]);
		free(all);
	}
	is_str(names ? all : "-", want, "a stack");
	strv_free(names);
	free(all);
}

static void test_stack(void)
{
	stack_is("[<0>] a+0x1/0x2\n[<0>] b+0x1/0x2 [mod]\n[<ffffffff81000000>] c.isra.0+0x1/0x2\n", "a,b,c.isra.0");
	stack_is("[<0>] a [mod]\n[<0>] b\n", "a,b");
	stack_is("[<0>] a", "a");
	stack_is("[<0>]\n[<0>] b\n", "b");
	stack_is("x] a\n [<0>] b\n[<0>] c\n", "c");
	stack_is("[<0>] +0x1\n[<0>] 0xffffffff81000000\n", "-");
}

static void test_on_cpu(void)
{
	static const struct {
		const char *value;
		uint64_t want; /* 0: not known */
	} rows[] = {
		{ "0.000001", 1 },
		{ "1.000000", 1000000 },
		{ "393300.480467\n", 393300480467 },
		{ "9223372036854.000000", 9223372036854000000 },
		{ "9223372036855.000000", 0 },
		{ "1.0000000", 0 },
		{ "1,000000", 0 },
		{ "1.x00000", 0 },
		{ "-1.000000", 0 },
		{ "0.000000", 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *text = xasprintf("x\nse.exec_start_x : 5.000000\nse.exec_start\nse.exec_start \t : \t%s",
				       rows[i].value);
		uint64_t ns = 0;
		bool known = task_on_cpu_parse(text, &ns);

		ok(known == !!rows[i].want && (!known || ns == rows[i].want), "last ran at '%s'", rows[i].value);
		free(text);
	}
}

static void test_status(void)
{
	static const struct {
		const char *own, *other;
		bool want;
	} rows[] = { { "7", "5", true }, { "0", "12", true }, { "x", "5", false }, { "7", "x", false }, { "7", "", false } };
	static const char caps[] = "CapInh:\tffffffffffffffff\nCapEff:\t8000000000000005\nCapBnd:\tffffffffffffffff\n";
	uint64_t n;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *text = xasprintf("Name:\tvoluntary\nvoluntary_ctxt_switches:\t%s\nnonvoluntary_ctxt_switches:\t%s\n",
				       rows[i].own, rows[i].other);

		ok(task_switches_parse(text, &n) == rows[i].want && (!rows[i].want || n == 12),
		   "switches: '%s' and '%s'", rows[i].own, rows[i].other);
		free(text);
	}
	ok(!task_switches_parse("nonvoluntary_ctxt_switches:\t5\n", &n) &&
		   !task_switches_parse("voluntary_ctxt_switches:\t5\n", &n),
	   "switches: both or none");
	for (unsigned int i = 0; i < 64; i++)
		ok(task_capable_parse(caps, i) == (i == 0 || i == 2 || i == 63), "capability %u", i);
	ok(!task_capable_parse("CapEff:\tx\n", 0) && !task_capable_parse("CapInh:\t1\n", 0),
	   "capabilities that are not told");
}

static void test_file(void)
{
	struct task_file f = { 0 };

	ok(task_file_parse("flags:\t0100002\nmnt_id:\t0\n", &f) && f.flags == 0100002 && f.mount == 0, "flags are octal");
	ok(task_file_parse("mnt_id:\t10\nflags:\t0\n", &f) && f.flags == 0 && f.mount == 10,
	   "in any order, the mount is decimal");
	ok(task_file_parse("flags:\t037777777777\nmnt_id:\t1\n", &f) && f.flags == 0xffffffff, "all flags");
	ok(!task_file_parse("flags:\t-1\nmnt_id:\t1\n", &f) && !task_file_parse("flags:\t1\nmnt_id:\t-1\n", &f),
	   "no signs");
	ok(!task_file_parse("flags:\t1\n", &f) && !task_file_parse("mnt_id:\t1\n", &f), "both or none");
}

static const char maps[] = "1000-2000 r-xp 00000000 08:01 5                          /bin/dd\n"
			   "2000-3000 rw-p 00000000 00:00 0 \n"
			   "3000-4000 rw-p 00000000 00:00 0                          [heap]\n"
			   "5000-6000 rw-s 00001000 103:0a 123                       /srv/a b (deleted)\n"
			   "7000-8000 rw-s 00000000 fd:02 9                          /last";

static void test_mapping(void)
{
	static const struct {
		uint64_t address;
		const char *path;
		uint32_t dev;
	} rows[] = {
		{ 0x1000, "/bin/dd", WIRE_DEV(8, 1) },
		{ 0x1fff, "/bin/dd", WIRE_DEV(8, 1) },
		{ 0x3000, NULL, 0 },
		{ 0x5000, "/srv/a b (deleted)", WIRE_DEV(0x103, 10) },
		{ 0x6000, NULL, 0 },
		{ 0x8000, NULL, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint32_t dev = 0;
		char *path = NULL;
		bool found = task_mapping_parse(maps, rows[i].address, &path, &dev);

		ok(found == !!rows[i].path && dev == rows[i].dev && (!found || !strcmp(path, rows[i].path)),
		   "the mapping of address %" PRIx64, rows[i].address);
		free(path);
	}
}

/* ---- files ---- */

static void put_bytes(const char *path, const char *bytes, size_t n)
{
	char *whole = full(path);
	FILE *f = fopen(whole, "w");

	if (!f || fwrite(bytes, 1, n, f) != n)
		diag("cannot write %s", whole);
	if (f)
		fclose(f);
	free(whole);
}

#define PUT_BYTES(path, text) put_bytes(path, text, sizeof(text) - 1)

static void test_task_files(void)
{
	char *first = stat_line("first", 0, "", LAST_FIELD), *second = stat_line("second", 0, "", LAST_FIELD), **names;
	struct task_call c;
	struct task_stat s;
	uint64_t n = 0;
	int before = open_files();

	put("proc/70/syscall", "-1 0x7 0x8\n");
	put("proc/70/task/70/syscall", "running\n");
	put("proc/70/task/71/syscall", "5 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8\n");
	put("proc/70/task/72/syscall", "");
	ok(task_call_read(70, 70, &c) && c.nr == -1 && c.sp == 7,
	   "the call of a first thread: of the process's own folder");
	ok(task_call_read(70, 71, &c) && c.nr == 5 && c.arg[5] == 6, "the call of another one");
	ok(!task_call_read(70, 72, &c) && !task_call_read(70, 73, &c) && !task_call_read(73, 73, &c), "no call");
	ok(open_files() == before, "no descriptor is left");
	put("proc/70/task/70/stat", first);
	put("proc/70/task/71/stat", second);
	ok(task_stat_read(70, 70, &s) && !strcmp(s.comm, "first") && task_stat_read(70, 71, &s) && !strcmp(s.comm, "second"),
	   "each thread's name");
	ok(!task_stat_read(70, 73, &s), "of none that is gone");
	put("proc/70/task/71/stack", "[<0>] a+0x1/0x2\n");
	names = task_stack_read(70, 71);
	ok(strv_len(names) == 1 && !strcmp(names[0], "a"), "where it sleeps");
	strv_free(names);
	ok(!task_stack_read(70, 70), "not known where");
	put("proc/70/task/71/status", "voluntary_ctxt_switches:\t20\nnonvoluntary_ctxt_switches:\t3\n");
	ok(task_switches_read(70, 71, &n) && n == 23 && !task_switches_read(70, 70, &n), "its switches");
	free(first);
	free(second);
}

static void cmdline_is(uint32_t pid, const char *want, const char *name)
{
	char *got = task_cmdline(pid);

	is_str(got, want, name);
	free(got);
}

static void test_cmdline(void)
{
	PUT_BYTES("proc/80/cmdline", "dd\0if=a b\0\0of=c\0");
	PUT_BYTES("proc/81/cmdline", "postgres: writer\0\0\0\0");
	PUT_BYTES("proc/82/cmdline", "x");
	PUT_BYTES("proc/83/cmdline", "\0\0");
	PUT_BYTES("proc/84/cmdline", "");
	PUT_BYTES("proc/86/cmdline", "\0a\0");
	cmdline_is(80, "dd if=a b  of=c", "arguments with blanks between them");
	cmdline_is(81, "postgres: writer", "none behind the last");
	cmdline_is(82, "x", "one without an end");
	cmdline_is(83, NULL, "nothing but ends");
	cmdline_is(84, NULL, "a kernel thread has none");
	cmdline_is(85, NULL, "nor has one that is gone");
	cmdline_is(86, " a", "an empty first argument");
}

static void test_open_files(void)
{
	struct task_file f;
	uint32_t dev = 0;
	char *path;

	link_to("proc/90/fd/3", "/srv/db/wal (deleted)");
	put("proc/90/fdinfo/3", "pos:\t0\nflags:\t0100001\nmnt_id:\t29\n");
	put("proc/90/maps", maps);
	put("proc/90/mountinfo",
	    "28 1 8:1 / /a rw - ext4 /dev/x rw\n29 1 253:7 / /b rw - ext4 /dev/y rw\n30 1 8:3 / /c rw - ext4 x rw\n");
	path = task_fd_path(90, 3);
	is_str(path, "/srv/db/wal (deleted)", "the path of an open file");
	free(path);
	path = task_fd_path(90, 4);
	is_str(path, NULL, "of one that isn't open");
	free(path);
	ok(task_fd_read(90, 3, &f) && f.flags == 0100001 && f.mount == 29 && !task_fd_read(90, 4, &f), "its flags");
	ok(task_mapping_read(90, 0x1000, &path, &dev) && dev == WIRE_DEV(8, 1) && !strcmp(path, "/bin/dd"), "a mapping");
	free(path);
	ok(!task_mapping_read(90, 0x9000, &path, &dev) && !task_mapping_read(91, 0x1000, &path, &dev), "no mapping");
	is_u64(task_mount_dev(90, 28), WIRE_DEV(8, 1), "the device of the first mount");
	is_u64(task_mount_dev(90, 29), WIRE_DEV(253, 7), "of the second");
	is_u64(task_mount_dev(90, 31), 0, "of none");
	is_u64(task_mount_dev(91, 28), 0, "of a process that is gone");
}

/* ---- all tasks ---- */

struct seen {
	uint64_t tids, pids;
	int n, most;
};

static bool see(void *ctx, uint32_t pid, uint32_t tid)
{
	struct seen *s = ctx;

	s->tids += tid;
	s->pids += pid;
	return ++s->n < s->most;
}

static void test_each(void)
{
	static const char *const files[] = {
		"all/5/task/5/x",   "all/60/task/60/x",	     "all/60/task/700/x", "all/60/task/8000/x",
		"all/60/task/y/x",  "all/self/task/90000/x", "all/9/x",		  "all/70/task/70/x",
		"all/70/task/71/x",
	};
	char *all = full("all");
	struct seen s = { .most = 100 }, first = { .most = 1 };

	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		put(files[i], "");
	sysfs_roots(NULL, all);
	task_each(see, &s);
	ok(s.n == 6 && s.tids == 8906 && s.pids == 325, "every thread of every process, and nothing else");
	task_each(see, &first);
	ok(first.n == 1, "until it is enough");
	sysfs_roots(NULL, "/no/such/place");
	task_each(see, &first);
	ok(first.n == 1, "no tasks at all");
	free(all);
}

int main(void)
{
	char *proc;

	if (!mkdtemp(dir)) {
		printf("Bail out! no temporary folder\n");
		return 1;
	}
	proc = full("proc");
	sysfs_roots(NULL, proc);
	test_call();
	test_stat_fields();
	test_stack();
	test_on_cpu();
	test_status();
	test_file();
	test_mapping();
	test_task_files();
	test_cmdline();
	test_open_files();
	test_each();
	tree_remove();
	free(proc);
	return tap_done();
}
