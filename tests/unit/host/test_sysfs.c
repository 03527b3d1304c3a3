// SPDX-License-Identifier: GPL-2.0-only
/* Block devices in a made-up /sys and /proc: names, numbers, attributes, what they stand on, and the tags of their queues. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/sysfs.h"
#include "util/buf.h"
#include "util/mem.h"
#include "check.h"
#include "fake_tree.h"
#include "open_files.h"

#define LONGEST "x23456789x123456789x123456789x1" /* 31 letters, as long as a kernel name can be */

/* Takes the vector. */
static void is_list(char **got, const char *want, const char *name)
{
	struct buf b = { 0 };

	buf_str(&b, got ? "" : "-");
	for (size_t i = 0; got && got[i]; i++)
		buf_printf(&b, "%s%s", i ? " " : "", got[i]);
	is_str(b.data, want, name);
	buf_free(&b);
	strv_free(got);
}

static void test_text(void)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "", "" },	{ " \t\n", "" },    { "a", "a" }, { "a\n", "a" }, { "\n a b \n\n", "a b" },
		{ "  a", "a" }, { "\x01", "\x01" },
	};
	char *path = xasprintf("%s/text", dir), *large = xcalloc(9001, 1);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		put("text", rows[i].text);
		is_text(file_text(path), rows[i].want, "a file without the white space around it");
	}
	memset(large, 'x', 9000);
	put("text", large);
	is_text(file_text(path), large, "a large one");
	is_text(file_text("/no/such/file"), NULL, "none");
	is_text(file_text(dir), NULL, "one that can be opened and not read");
	free(large);
	free(path);
}

static void test_numbers(void)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t want;
	} rows[] = {
		{ "0\n", true, 0 },   { " 12\n", true, 12 }, { "18446744073709551615\n", true, UINT64_MAX },
		{ "", false, 0 },     { "12x\n", false, 0 }, { "-1\n", false, 0 },
		{ "+1\n", false, 0 }, { "1 2\n", false, 0 }, { "x\n", false, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t v = 77;

		put("sys/class/block/numbers/value", rows[i].text);
		ok(block_u64("numbers", "value", &v) == rows[i].good && v == (rows[i].good ? rows[i].want : 77),
		   "number '%s'", rows[i].text);
	}
	ok(!block_u64("numbers", "none", &(uint64_t){ 0 }) && !block_has("numbers", "none") && block_has("numbers", "value"),
	   "an attribute that isn't there");
}

static void test_lists(void)
{
	char *path = xasprintf("%s/list", dir);

	put("list/a10/x", "");
	put("list/a9", "");
	put("list/.hidden", "");
	put("list/b", "");
	put("empty/.x", "");
	is_list(folder_list(path), "a9 a10 b", "names in natural order");
	free(path);
	path = xasprintf("%s/empty", dir);
	is_list(folder_list(path), "-", "an empty folder");
	is_list(folder_list("/no/such/folder"), "-", "none");
	free(path);
	DEVICE("pci/block/bta", "8:160", "slaves/c=", "slaves/a=");
	is_list(block_list("bta", "slaves"), "a c", "the names in a device's folder");
	is_list(block_list("bta", "holders"), "-", "which it lacks");
}

static void dev_is(const char *name, const char *want, const char *what)
{
	unsigned int major = 7, minor = 8;
	bool good = block_dev(name, &major, &minor);
	char *got = good ? xasprintf("%u:%u", major, minor) : xstrdup(major == 7 && minor == 8 ? "none" : "changed");

	is_str(got, want, what);
	free(got);
}

static void name_is(unsigned int major, unsigned int minor, const char *want, const char *what)
{
	char name[BLOCK_NAME_LEN] = "unchanged";

	is_str(block_name(major, minor, name) ? name : NULL, want, what);
}

static void make_devices(void)
{
	DEVICE("pci/block/bta", "8:160", "size=4096\n");
	DEVICE("pci/block/bta/bta1", "8:161", "partition=1\n");
	DEVICE("pci/block/" LONGEST, "8:192", "size=1\n");
	DEVICE("pci/block/" LONGEST "2", "8:208", "size=1\n");
	DEVICE("pci/block/damaged", NULL, "dev=8\n");
	DEVICE("pci/block/hidden1", NULL, "hidden=1\n");
	DEVICE("pci/block/hidden2", NULL, "hidden=1\n");
	DEVICE("pci/block/hidden3", NULL, "hidden=1\n");
	DEVICE("pci/block/hidden4", NULL, "hidden=1\n");
	put("proc/diskstats",
	    " 259 77\n"
	    " 259 5 hidden1 0 0\n 0 6 hidden2 0\n 260 0 hidden3 0\n 0 0 hidden4 0\n 259 9 unknown 0\n 259 10 . 0\n"
	    " 259 11 .. 0\n");
	link_to("sys/dev/block/8:224", "z");
}

static void test_names(void)
{
	dev_is("bta", "8:160", "the number of a disk");
	dev_is("bta1", "8:161", "of a partition");
	dev_is(LONGEST, "8:192", "of the longest name");
	dev_is(LONGEST "2", "none", "of one that is longer");
	dev_is("damaged", "none", "an attribute that holds no number");
	dev_is("hidden1", "259:5", "of a hidden disk");
	dev_is("hidden4", "none", "an old kernel doesn't tell it");
	dev_is("unknown", "none", "a name that is listed, but not there");
	dev_is("none", "none", "no such device");
	dev_is("", "none", "no name");
	dev_is(".", "none", "this folder");
	dev_is("..", "none", "the folder above");
	dev_is("bta/bta1", "none", "a path");
	name_is(8, 160, "bta", "the name of a disk");
	name_is(8, 161, "bta1", "of a partition");
	name_is(8, 192, LONGEST, "of the longest name");
	name_is(8, 208, NULL, "of one that is longer");
	name_is(259, 5, "hidden1", "of a hidden disk");
	name_is(0, 0, NULL, "number 0:0 is nobody's");
	name_is(259, 6, NULL, "another minor number");
	name_is(259, 9, NULL, "one that is listed, but not there");
	put("proc/diskstats", "");
	name_is(259, 5, NULL, "nothing is listed");
}

static void disk_is(const char *name, const char *want, const char *what)
{
	char disk[BLOCK_NAME_LEN] = "unchanged";

	is_str(block_disk(name, disk) ? disk : NULL, want, what);
}

static void test_disks(void)
{
	disk_is("bta", "bta", "a disk is its own");
	disk_is("bta1", "bta", "a partition's");
	disk_is("none", NULL, "none");
	put("sys/class/block/nolink/partition", "1\n");
	disk_is("nolink", NULL, "a partition that is no link");
	put("sys/class/block/short/partition", "1\n");
	link_to("sys/class/block/lone", "short");
	disk_is("lone", NULL, "a link with nothing above");
	put("sys/class/block/d/p/partition", "1\n");
	link_to("sys/class/block/two", "d/p");
	disk_is("two", "d", "a link of two parts");
}

static void test_slaves(void)
{
	DEVICE("virtual/block/nvme1n2", "259:1", "size=1\n");
	DEVICE("virtual/block/nvme1n2p1", "259:2", "size=1\n");
	DEVICE("virtual/block/nvme1c0n2", "259:3", "size=1\n");
	DEVICE("virtual/block/nvme1c5n2", "259:4", "size=1\n");
	DEVICE("virtual/block/nvme1c0n3", "259:5", "size=1\n");
	DEVICE("virtual/block/nvme2c0n2", "259:6", "size=1\n");
	DEVICE("virtual/block/nvme1c0n2p1", "259:7", "size=1\n");
	DEVICE("virtual/block/nvme1c6n2", NULL, "size=1\n");
	DEVICE("virtual/block/nvme3n1", "259:8", "slaves/bta=");
	DEVICE("virtual/block/nvme3c0n1", "259:9", "size=1\n");
	is_list(block_slaves("nvme1n2"), "nvme1c0n2 nvme1c5n2", "the paths to a multipath disk that have a number");
	is_list(block_slaves("nvme1n3"), "nvme1c0n3", "to another one");
	is_list(block_slaves("nvme1n2p1"), "-", "a partition has none");
	is_list(block_slaves("nvme4n1"), "-", "nor has one without multipath");
	is_list(block_slaves("nvme3n1"), "bta", "the kernel's own list goes first");
	is_list(block_slaves("bta1"), "-", "another kind of disk");
}

static void test_queues(void)
{
	static const struct {
		const char *tags, *reserved, *requests; /* "": there is no such attribute */
		uint32_t want;
	} rows[] = {
		{ "1", "", "", 256 },	    { "129", "", "", 258 },
		{ "128", "1", "", 258 },    { "200", "", "201", 402 },
		{ "200", "2", "201", 404 }, { "x", "x", "x", 256 },
		{ "300", "x", "x", 600 },   { "18446744073709551615", "", "", 1048576 },
	};
	uint32_t n, depth;
	bool bio;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		put("sys/class/block/queue/mq/0/nr_tags", rows[i].tags);
		put("sys/class/block/queue/mq/0/nr_reserved_tags", rows[i].reserved);
		put("sys/class/block/queue/queue/nr_requests", rows[i].requests);
		block_queue("queue", &bio, &n, &depth);
		if (!ok(!bio && n == 1 && depth == rows[i].want, "%s tags, '%s' reserved, '%s' requests", rows[i].tags,
			rows[i].reserved, rows[i].requests))
			diag("%" PRIu32 " queues, depth %" PRIu32, n, depth);
	}
	put("sys/class/block/queue/mq/0/nr_tags", "300\n");
	put("sys/class/block/queue/mq/1/nr_tags", "310\n");
	put("sys/class/block/queue/mq/2/nr_tags", "305\n");
	put("sys/class/block/queue/mq/2/nr_reserved_tags", "6\n");
	block_queue("queue", &bio, &n, &depth);
	ok(!bio && n == 3 && depth == 622, "the largest of several queues, with its reserve");
	block_queue("bta", &bio, &n, &depth);
	ok(bio && !n && !depth, "no queue");
}

int main(void)
{
	int before = open_files();

	tree_make();
	test_text();
	test_numbers();
	test_lists();
	make_devices();
	test_names();
	test_disks();
	test_slaves();
	is_list(block_all(),
		"bta bta1 d damaged hidden1 hidden2 hidden3 hidden4 lone nolink numbers nvme1c0n2 nvme1c0n2p1 nvme1c0n3 "
		"nvme1c5n2 nvme1c6n2 nvme1n2 nvme1n2p1 nvme2c0n2 nvme3c0n1 nvme3n1 short two " LONGEST " " LONGEST "2",
		"all of them");
	test_queues();
	ok(open_files() == before, "no file is left open");
	return tree_done();
}
