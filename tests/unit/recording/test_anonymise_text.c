// SPDX-License-Identifier: GPL-2.0-only
/* What stands for each kind of text once names are replaced. Each row begins anew, so numbers begin with 1. */
#include <stdlib.h>
#include <string.h>

#include "recording/anonymise_text.h"
#include "util/mem.h"
#include "tap.h"

#define AMONG	"its own writes are among those that are shown"
#define ANOTHER "\" is another disk, traced from 3 s on; what it did before is not counted."

static const struct {
	enum frame_text what;
	const char *text, *want;
} rows[] = {
	{ TEXT_OPEN, "write back", "write back" },
	{ TEXT_PRIVATE, "joe", "name1" },
	{ TEXT_PRIVATE, "", "name1" },

	{ TEXT_DIRECTORY, "/home/joe", "/d1/d2" },
	{ TEXT_DIRECTORY, "home/joe", "d1/d2" },
	{ TEXT_DIRECTORY, "/home//joe/", "/d1//d2/" },
	{ TEXT_DIRECTORY, "/joe/joe", "/d1/d1" },
	{ TEXT_DIRECTORY, "./joe/./../x", "./d1/./../d2" },
	{ TEXT_DIRECTORY, ".../.j/..j", "d1/d2/d3" },
	{ TEXT_DIRECTORY, ".", "." },
	{ TEXT_DIRECTORY, "a/.b/b./.", "d1/d2/d3/." },
	{ TEXT_FILE, "/home/joe.db", "/d1/f2.db" },
	{ TEXT_FILE, "/home/joe.joe", "/d1/f2" },
	{ TEXT_FILE, "joe", "f1" },
	{ TEXT_FILE, "joe/", "d1/" },
	{ TEXT_FILE, "/joe.service/x", "/d1.service/f2" },
	{ TEXT_FILE, "/dev/sda", "/dev/sda" },
	{ TEXT_FILE, "/dev/", "/d1/" },
	{ TEXT_FILE, "/dev/joe", "/d1/f2" },
	{ TEXT_FILE, "/deu/sda", "/d1/f2" },
	{ TEXT_FILE, "/dev/sda/joe", "/d1/d2/f3" },

	{ TEXT_DISK, "", "" },
	{ TEXT_DISK, "sda1", "sda1" },
	{ TEXT_DISK, "joe", "disk1" },
	{ TEXT_DISK, "joe1", "disk1p1" },
	{ TEXT_DISK, "joe12", "disk1p12" },
	{ TEXT_DISK, "joep1", "disk1p1" },
	{ TEXT_DISK, "joe0p1", "disk1p0p1" },
	{ TEXT_DISK, "joe1p", "disk1" },
	{ TEXT_DISK, "123", "disk1" },
	{ TEXT_DISK, "p1", "disk1p1" },
	{ TEXT_DISK, "md_joe", "md_1" },
	{ TEXT_DISK, "md_joe1", "md_1p1" },
	{ TEXT_DISK, "mdx", "disk1" },
	{ TEXT_DISK, "joe (2)", "disk1 (2)" },
	{ TEXT_DISK, "joe (12)", "disk1 (12)" },
	{ TEXT_DISK, "x (2)", "disk1 (2)" },
	{ TEXT_DISK, " (2)", "disk1" },
	{ TEXT_DISK, " (12)", "disk1" },
	{ TEXT_DISK, "joe ()", "disk1" },
	{ TEXT_DISK, "joe(2)", "disk1" },
	{ TEXT_DISK, "joe (x)", "disk1" },
	{ TEXT_DISK, "joe (2", "disk1p2" },
	{ TEXT_DISK, "joe (2x", "disk1" },
	{ TEXT_DISK, "1234)", "disk1" },
	{ TEXT_DISK, "joe 2)", "disk1" },
	{ TEXT_DISK, "joe (diskseq 17)", "disk1 (diskseq 17)" },
	{ TEXT_DISK, "x (diskseq 1)", "disk1 (diskseq 1)" },
	{ TEXT_DISK, " (diskseq 1)", "disk1" },
	{ TEXT_DISK, "(diskseq 1)", "disk1" },
	{ TEXT_DISK, "joe (diskseQ 17)", "disk1" },
	{ TEXT_DISK, "joe (Xdiskseq 17)", "disk1" },

	{ TEXT_VIA, "dm-0 is on sda", "dm-0 is on sda" },
	{ TEXT_VIA, "md_joe is on sda", "md_1 is on sda" },
	{ TEXT_VIA, "/srv/joe is on dm-0, on sda, sdb", "/d1/f2 is on dm-0, on sda, sdb" },
	{ TEXT_VIA, "joe", "f1" },
	{ TEXT_VIA, "joe is joe is on sdc", "f1 is on sdc" },
	{ TEXT_VIA, "x is on joe, in, iso, no, ann", "f1 is on disk1, disk2, disk3, disk4, disk5" },
	{ TEXT_VIA, "x is  on,, sda ", "f1 is  on,, sda " },
	{ TEXT_VIA, "x is on 0p1, 0", "f1 is on disk1p1, disk1" },
	{ TEXT_VIA, "x is on joep1, joep, joe", "f1 is on disk1p1, disk1, disk2" },
	{ TEXT_VIA, "x is on joe1, joe, joe2", "f1 is on disk1p1, disk1, disk1p2" },
	{ TEXT_VIA, "x is on md_joe, md_ann", "f1 is on md_1, md_2" },

	{ TEXT_TASK, "", "" },
	{ TEXT_TASK, "joe", "task1" },
	{ TEXT_KERNEL_TASK, "joe", "kthread1" },
	{ TEXT_TASK, "?", "?" },
	{ TEXT_TASK, "??", "task1" },
	{ TEXT_TASK, "jbd2/sda1-8", "jbd2/sda1-8" },
	{ TEXT_TASK, "jbd2/md_joe-8", "jbd2/md_1-8" },
	{ TEXT_TASK, "jbd2/md_joe-12", "jbd2/md_1-12" },
	{ TEXT_TASK, "jbd2/md_joe-", "jbd2/md_1-" },
	{ TEXT_TASK, "jbd2/md_joe8", "jbd2/md_1p8" },
	{ TEXT_TASK, "jbd2/md_joe-a", "jbd2/md_1" },
	{ TEXT_TASK, "jbd2/md_j12", "jbd2/md_1p12" },
	{ TEXT_TASK, "jbd2/joe-8", "task1" },
	{ TEXT_TASK, "joe/md_joe-8", "task1" },
	{ TEXT_TASK, "kworker/u8:2-joe", "kworker/-w1" },
	{ TEXT_TASK, "kworker/u8:2+joe", "kworker/+w1" },
	{ TEXT_TASK, "kworker/joe-x", "task1" },
	{ TEXT_TASK, "kworker/joe", "task1" },
	{ TEXT_TASK, "kworkes/0-x", "task1" },

	{ TEXT_COMMAND, "/usr/bin/dd", "/d1/d2/task1" },
	{ TEXT_COMMAND, "dd", "task1" },
	{ TEXT_COMMAND, "bin/kworker", "d1/kworker" },
	{ TEXT_CMDLINE, "", "" },
	{ TEXT_CMDLINE, "dd ", "task1 " },
	{ TEXT_CMDLINE, "dd if=x /a  y if=x", "task1 arg1 /f1  arg2 arg1" },

	{ TEXT_FILTER, "pid 42, pid 43", "pid 42, pid 43" },
	{ TEXT_FILTER, "pid 42x", "pid container1" },
	{ TEXT_FILTER, "comm joe", "comm task1" },
	{ TEXT_FILTER, "comm joe, x, pid 4", "comm task1, pid 4" },
	{ TEXT_FILTER, "comm , pid 4", "comm , pid 4" },
	{ TEXT_FILTER, "comm joe, ", "comm task1" },
	/* a task's name has 15 bytes at most */
	{ TEXT_FILTER, "comm a-long-program-n, comm a-long-program-, comm a-long-program",
	  "comm task1, comm task1, comm task2" },
	{ TEXT_FILTER, "cgroup /a/b.slice", "cgroup /d1/d2.slice" },
	{ TEXT_FILTER, "unit joe.service, container c, cgroup /d", "unit unit1.service, container container2, cgroup /d3" },
	{ TEXT_FILTER, "joe", "container1" },

	{ TEXT_NOTE, "the ring buffer is 16 MiB, to keep within --memory",
	  "the ring buffer is 16 MiB, to keep within --memory" },
	{ TEXT_NOTE, "the ring buffer is 1,024.5 KiB, to keep within --memory",
	  "the ring buffer is 1,024.5 KiB, to keep within --memory" },
	{ TEXT_NOTE, "the ring buffer is MiB, to keep within --memory", NOTE_LEFT_OUT },
	{ TEXT_NOTE, "the ring buffer is 16 joe, to keep within --memory", NOTE_LEFT_OUT },
	{ TEXT_NOTE, "the ring buffer is 16 MiB, to keep within", NOTE_LEFT_OUT },
	{ TEXT_NOTE, "for 3 sx of the run only completions were traced", NOTE_LEFT_OUT },
	{ TEXT_NOTE, "for 3 sof the run only completions were traced", NOTE_LEFT_OUT },
	{ TEXT_NOTE, "of each hardware queue 1 tag is kept", "of each hardware queue 1 tag is kept" },
	{ TEXT_NOTE, "of each hardware queue 1xs tag is kept", NOTE_LEFT_OUT },
	{ TEXT_NOTE, "of each hardware queue 1  tag is kept", NOTE_LEFT_OUT },
	{ TEXT_NOTE, "1 disk appeared when there was no room left to trace it",
	  "1 disk appeared when there was no room left to trace it" },
	{ TEXT_NOTE, "joe disks appeared when there was no room left to trace them", NOTE_LEFT_OUT },
	{ TEXT_NOTE, "sync calls were not traced: no BTF", "sync calls were not traced: no BTF" },
	{ TEXT_NOTE, "process 42 ended during the run", "process 42 ended during the run" },
	{ TEXT_NOTE, "process joe ended during the run", NOTE_LEFT_OUT },
	{ TEXT_NOTE, FROM_DAMAGED "it is damaged", FROM_DAMAGED "it is damaged" },
	{ TEXT_NOTE, NOTE_LEFT_OUT, NOTE_LEFT_OUT },
	{ TEXT_NOTE, "", NOTE_LEFT_OUT },
	{ TEXT_NOTE, "joe", NOTE_LEFT_OUT },
	{ TEXT_NOTE, "joe ended during the run", NOTE_LEFT_OUT },
	{ TEXT_NOTE, "comm joe ended during the runs", NOTE_LEFT_OUT },
	{ TEXT_NOTE, "comm joe, pid 4 ended during the run", "comm task1, pid 4 ended during the run" },
	{ TEXT_NOTE, "unit joe ended during the run", "unit unit1 ended during the run" },
	{ TEXT_NOTE, "the recording /srv/joe lies on sda, which is traced: joe",
	  "the recording /d1/f2 lies on sda, which is traced: " AMONG },
	{ TEXT_NOTE, "the recording /a lies on b lies on md_joe, which is traced: ",
	  "the recording /f1 lies on md_1, which is traced: " AMONG },
	{ TEXT_NOTE, "the recording /srv/joe lies on sda", NOTE_LEFT_OUT },
	{ TEXT_NOTE, "the recording lies on sda, which is traced: " AMONG, NOTE_LEFT_OUT },
	{ TEXT_NOTE, "the record is /joe lies on sda, which is traced: " AMONG, NOTE_LEFT_OUT },
	{ TEXT_NOTE, "joe was replaced during the run: \"joe (2)" ANOTHER,
	  "disk1 was replaced during the run: \"disk1 (2)" ANOTHER },
	{ TEXT_NOTE, "joe was replaced during the run: \"joe (2)", NOTE_LEFT_OUT },
	{ TEXT_NOTE, "joe was replaced during the run: \"joe (2)\" is another disk", NOTE_LEFT_OUT },
	{ TEXT_NOTE, "joe (2)" ANOTHER, NOTE_LEFT_OUT },

	{ TEXT_RELEASE, "", "" },
	{ TEXT_RELEASE, "6.1.0-18-amd64", "6.1.0-18-amd64" },
	{ TEXT_RELEASE, "6.-+_~1", "6.-+_~1" },
	{ TEXT_RELEASE, "6.1-joe/x86", "6.1-local_x86" },
	{ TEXT_RELEASE, "6\xc3\xa9 1", "6___1" },
	{ TEXT_RELEASE, "-joe-", "-local-" },

	{ TEXT_OPTIONS, "", "" },
	{ TEXT_OPTIONS, "rw,noatime", "rw,noatime" },
	{ TEXT_OPTIONS, "rw,joe,ann=1,joe,", "rw,option1,option2,option1," },
	{ TEXT_OPTIONS, ",rw", ",rw" },

	{ TEXT_FSTYPE, "", "" },
	{ TEXT_FSTYPE, "fuse", "fuse" },
	{ TEXT_FSTYPE, "joefs", "fs1" },
	{ TEXT_FSTYPE, "fuse.joe", "fuse.fs1" },
	{ TEXT_FSTYPE, "fuse_joe", "fs1" },
};

static void is(enum frame_text what, const char *text, size_t place, const char *want)
{
	struct stand_ins *s = stand_ins_new();
	struct buf b = { 0 };

	replace_text(s, what, text, place, &b);
	if (!ok(!strcmp(b.data ? b.data : "", want), "'%s' becomes '%s'", text, want))
		diag("got '%s'", b.data ? b.data : "");
	buf_free(&b);
	stand_ins_free(s);
}

static void test_rows(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is(rows[i].what, rows[i].text, 0, rows[i].want);
}

static void test_arguments(void)
{
	is(TEXT_COMMAND, "/a/b.db", 1, "/d1/f2.db");
	is(TEXT_COMMAND, "secret", 1, "arg1");
	is(TEXT_COMMAND, "a/b", 2, "arg1");
	is(TEXT_COMMAND, "", 1, "");
}

static void test_quantities(void)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "kB", "MB", "GB", "min",
					     "ns",  "us",  "µs",  "ms",	 "s",  "h",  "d",  "B" };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		char *text = xasprintf("for 1.25 %s of the run only x", units[i]);

		is(TEXT_NOTE, text, 0, text);
		free(text);
	}
}

/* Two names after each other, of which the second is the first again or is not. */
static void test_same_names(void)
{
	static const struct {
		enum frame_text what;
		const char *text, *want;
	} turns[] = {
		{ TEXT_COMMAND, "/usr/a-long-program-name", "/d1/task1" },
		{ TEXT_TASK, "a-long-program-", "task1" },
		{ TEXT_TASK, "a-long-program", "task2" },
		{ TEXT_KERNEL_TASK, "a-long-program", "task2" },
		{ TEXT_FILE, "usr", "d1" },
		{ TEXT_FILE, "usr.db", "d1.db" },
		{ TEXT_DISK, "usr", "disk1" },
		{ TEXT_FILE, "us", "f2" },
		{ TEXT_KERNEL_TASK, "jbd2/md_usr-8", "jbd2/md_2-8" },
		{ TEXT_DISK, "md_usr", "md_2" },
		{ TEXT_OPTIONS, "usr", "option1" },
		{ TEXT_FSTYPE, "usr", "fs1" },
		{ TEXT_PRIVATE, "usr", "name1" },
		{ TEXT_PRIVATE, "usr2", "name2" },
		{ TEXT_KERNEL_TASK, "kworker/u8:2-usr", "kworker/-w3" },
		{ TEXT_KERNEL_TASK, "kworker/1:1+usr", "kworker/+w3" },
		{ TEXT_KERNEL_TASK, "kworker/1:1+ust", "kworker/+w4" },
		{ TEXT_TASK, "usr", "w3" },
		{ TEXT_TASK, "ust", "w4" },
	};
	struct stand_ins *s = stand_ins_new();

	for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
		struct buf b = { 0 };

		replace_text(s, turns[i].what, turns[i].text, 0, &b);
		if (!ok(!strcmp(b.data, turns[i].want), "then '%s' is '%s'", turns[i].text, turns[i].want))
			diag("got '%s'", b.data);
		buf_free(&b);
	}
	stand_ins_free(s);
}

static void test_models(void)
{
	static const struct {
		const char *device, *model, *want;
	} models[] = {
		{ "sda", "Samsung 980", "Samsung 980" },
		{ "sda", "/home/joe", "/d1/f2" },
		{ "loop0", "joe.img", "f1.img" },
		{ "dm-0", "joe-root", "f1" },
		{ "loo", "joe", "joe" },
		{ "dm0", "joe", "joe" },
		{ "dm", "joe", "joe" },
		{ "sda", "", "" },
	};

	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		struct stand_ins *s = stand_ins_new();
		struct buf b = { 0 };

		replace_model(s, models[i].device, models[i].model, &b);
		ok(!strcmp(b.data ? b.data : "", models[i].want), "the model of %s, '%s'", models[i].device,
		   models[i].model);
		buf_free(&b);
		stand_ins_free(s);
	}
}

int main(void)
{
	stand_ins_free(NULL);
	test_rows();
	test_arguments();
	test_quantities();
	test_same_names();
	test_models();
	return tap_done();
}
