// SPDX-License-Identifier: GPL-2.0-only
/* What the doctor finds in made-up machines: layers, values, findings, tools; and how it is shown. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "util/buf.h"
#include "model/diagnosis.h"
#include "doctor/doctor.h"
#include "check.h"
#include "fake_tree.h"
#include "golden.h"
#include "layout.h"
#include "util/mem.h"
#include "util/utf8.h"
#include "render/render_documents.h"

/* ---- the machine ---- */

#define SATA "pci/ata1/host0/target0:0:0/0:0:0:0/block/sda"
#define USB  "pci/usb1/1-1/host6/target6:0:0/6:0:0:0/block/sdb"
/* clang-format off */
#define QUEUE "queue/fua=0\n", "queue/rotational=0\n", "queue/nr_requests=64\n", "mq/0/nr_tags=32\n", \
	      "queue/physical_block_size=4096\n", "ro=0\n", "size=800000\n", "hidden=0\n"
/* clang-format on */

static void make_sata(void)
{
	DEVICE(SATA, "8:0", QUEUE, "queue/write_cache=write back\n", "queue/scheduler=none mq-deadline [bfq]\n",
	       "queue/wbt_lat_usec=0\n", "queue/nomerges=2\n", "queue/rq_affinity=0\n", "queue/iostats=0\n",
	       "device/queue_depth=1\n", "device/scsi_level=6\n", "device/scsi_disk/0:0:0:0/cache_type=write back\n",
	       "device/scsi_disk/0:0:0:0/FUA=0\n", "stat=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 2000 8000\n",
	       "device/model=XYZ SSD         \n", "queue/discard_granularity=4096\n");
	DEVICE(SATA "/sda1", "8:1", "partition=1\n", "start=63\n", "size=1000\n", "alignment_offset=0\n");
	DEVICE(SATA "/sda2", "8:2", "partition=2\n", "start=4096\n", "size=2000\n",
	       "holders/dm-0=", "alignment_offset=3584\n");
	DEVICE(SATA "/sda3", "8:3", "partition=3\n", "start=8200\n", "size=2000\n");
	DEVICE(SATA "/sda4", "8:4", "partition=4\n", "start=8192\n", "size=2000\n");
	put("sys/class/scsi_host/host0/link_power_management_policy", "min_power\n");
}

static void make_disks(void)
{
	make_sata();
	DEVICE(USB, "8:16", QUEUE, "queue/write_cache=write through\n", "queue/scheduler=[mq-deadline]\n",
	       "device/scsi_level=6\n", "device/scsi_disk/6:0:0:0/cache_type=write through\n", "holders/md1=");
	DEVICE("pci/usb1/1-2/host7/x/block/sdc", "8:32", QUEUE, "queue/write_cache=write through\n");
	DEVICE("pci/host8/x/block/sdd", "8:48", QUEUE, "queue/write_cache=write through\n", "device/scsi_level=6\n",
	       "device/scsi_disk/8:0:0:0/cache_type=write back\n", "device/power/runtime_status=suspended\n");
	DEVICE("pci/host9/x/block/sde", "8:64", QUEUE, "queue/write_cache=write through\n",
	       "device/scsi_disk/9:0:0:0/cache_type=temporary write through\n");
	DEVICE("pci/host10/x/block/sdf", "8:80", QUEUE, "queue/write_cache=write back\n", "queue/rotational=1\n",
	       "queue/scheduler=[none] mq-deadline\n", "device/scsi_level=6\n", "queue/fua=1\n", "queue/nr_requests=4\n");
	DEVICE("pci/host11/x/block/sdg", "8:96", "ro=1\n", "size=8\n", "queue/write_cache=write through\n");
	DEVICE("pci/nvme/nvme0/nvme0c0n1", "259:7", "hidden=1\n", "size=8\n", "queue/write_cache=write back\n");
	DEVICE("pci/virtio1/block/vdb", "254:16", QUEUE, "queue/write_cache=write through\n",
	       "device/features=0010001000100110\n", "queue/discard_granularity=0\n");
	DEVICE("pci/virtio2/block/vdc", "254:32", QUEUE, "queue/write_cache=write back\n",
	       "device/features=0010001001100110\n", "stat=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 5000 10\n", "holders/md0=");
	DEVICE("pci/nvme/nvme0/nvme0n1", "259:0", QUEUE, "queue/write_cache=write back\n",
	       "queue/scheduler=none [mq-deadline]\n");
	DEVICE("pci/nvme/nvme1/nvme1n1", "259:1", QUEUE, "queue/write_cache=write back\n",
	       "queue/scheduler=[none] mq-deadline\n", "stat=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 5000 10\n",
	       "holders/md0=");
}

static void make_stacks(void)
{
	DEVICE("virtual/block/dm-0", "253:0", "size=2000\n", "slaves/sda2=", "dm/name=secret\n", "dm/suspended=0\n",
	       "queue/write_cache=write back\n", "queue/scheduler=none\n", "queue/nr_requests=128\n");
	DEVICE("virtual/block/dm-1", "253:1", "size=2000\n", "slaves/nvme0n1=", "dm/name=snap\n", "dm/suspended=1\n",
	       "queue/write_cache=write through\n");
	DEVICE("virtual/block/md0", "9:0", "size=2000\n", "slaves/nvme1n1=", "slaves/vdc=", "md/level=raid5\n",
	       "md/raid_disks=3\n", "md/degraded=1\n", "md/sync_action=resync\n", "md/bitmap/location=+8\n",
	       "md/consistency_policy=ppl\n", "queue/write_cache=write back\n");
	DEVICE("virtual/block/md1", "9:1", "size=2000\n", "slaves/sdb=", "md/level=raid1\n", "md/degraded=0\n",
	       "md/sync_action=idle\n", "md/bitmap/location=none\n", "md/consistency_policy=resync\n",
	       "queue/write_cache=write through\n");
	DEVICE("virtual/block/loop0", "7:0", "size=80\n", "loop/dio=0\n", "queue/write_cache=write back\n");
	DEVICE("virtual/block/loop1", "7:1", "size=80\n", "loop/dio=1\n", "queue/write_cache=write through\n",
	       "loop/backing_file=/gone\x1b[31m/f\n");
}

/* "ID parent dev root dir options - type source options" */
static const char mountinfo[] =
	"900021 1 8:1 / /srv/old rw,noatime - ext4 /dev/sda1 rw,nobarrier,discard\n"
	"900022 1 8:3 / /srv/strict rw - ext4 /dev/sda3 rw,sync\n"
	"900023 1 8:4 / /srv/good rw,relatime - ext4 /dev/sda4 rw\n"
	"900024 1 253:0 / /srv/secret rw,relatime - xfs /dev/mapper/secret rw,wsync,logdev=/dev/sdz1\n"
	"900025 1 9:1 / /srv/usb rw,relatime - ext4 /dev/md1 rw\n"
	"900026 1 0:40 / /srv/tree rw,relatime - btrfs /dev/vdc "
	"rw,nobarrier,notreelog,flushoncommit,discard=async,commit=300\n"
	"900027 1 254:16 / /srv/f2 rw,relatime - f2fs /dev/vdb rw,fsync_mode=nobarrier,discard,dirsync\n";

static void put_ext4(const char *name, const char *options, const char *task)
{
	char *path = xasprintf("proc/fs/ext4/%s/options", name);

	put(path, options);
	free(path);
	path = xasprintf("sys/fs/ext4/%s/journal_task", name);
	put(path, task);
	free(path);
}

static void make_file_systems(void)
{
	char *whole = full("cg/work"),
	     *text = xasprintf("%s900040 1 0:30 / %s/cg rw - cgroup2 cgroup2 rw\n", mountinfo, dir);

	put("proc/self/mountinfo", text);
	put_ext4("sda1", "rw\nnobarrier\ndiscard\nnodelalloc\ndata=ordered\ncommit=5\nnoauto_da_alloc\n", "123\n");
	put_ext4("sda3", "rw\nbarrier\nnodiscard\ndelalloc\ndata=journal\ncommit=120\n", "124\n");
	put_ext4("sda4",
		 "rw\nbarrier\nnodiscard\ndelalloc\ndata=ordered\ncommit=5\nauto_da_alloc\n"
		 "max_batch_time=15000\n",
		 "125\n");
	put_ext4("md1", "rw\nnobarrier\ndata=writeback\n", "<none>\n");
	put("cg/io.max", "");
	put("cg/io.cost.qos", "8:16 enable=0 ctrl=auto\n8:0 enable=1 ctrl=auto rpct=0.00 rlat=5000\n");
	put("cg/work/io.latency", "8:0 target=5000\n");
	put("cg/work/io.max", "8:16 rbps=max wbps=99 riops=max wiops=max\n8:0 rbps=max wbps=1048576 riops=max "
			      "wiops=max\n");
	put("proc/sys/vm/dirty_ratio", "60\n");
	put("proc/sys/vm/dirty_bytes", "0\n");
	put("proc/sys/vm/laptop_mode", "5\n");
	put("proc/sys/kernel/bpf_stats_enabled", "1\n");
	put("proc/pressure/io", "some avg10=0.01 avg60=0.02 avg300=0.03 total=4\nfull avg10=0.00\n");
	put("sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
	put("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
	put("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave\n");
	put("sys/devices/system/cpu/cpuidle/cpufreq/scaling_governor", "nonsense\n");
	free(text);
	free(whole);
}

/* ---- the tools ---- */

static char *tools; /* folder */

static void put_tool(const char *name, const char *script)
{
	char *path = xasprintf("bin/%s", name), *whole = full(path), *text;

	text = xasprintf("#!/bin/sh\necho \"${0##*/} $*\" >>%s/asked\n%s\n", dir, script);
	put(path, text);
	chmod(whole, 0755);
	free(text);
	free(whole);
	free(path);
}

static void remove_tools(void)
{
	static const char *const names[] = { "bin/smartctl", "bin/hdparm", "bin/nvme", "asked" };

	for (size_t i = 0; i < 4; i++) {
		char *whole = full(names[i]);

		unlink(whole);
		free(whole);
	}
}

/* What the tools were asked, a line each; owned. */
static char *asked(void)
{
	char *path = full("asked"), *text = file_text(path);

	free(path);
	return text;
}

static char *fake_table(unsigned int major, unsigned int minor)
{
	if (major != 253)
		return NULL;
	return xstrdup(minor ? "0 8 snapshot\n8 8 linear\n16 8 writecache\n24 8 linear" :
			       "0 2000 crypt : 1 allow_discards");
}

static uint64_t fake_block_size(const char *folder, unsigned int major, unsigned int minor)
{
	(void)folder;
	return major == 8 && minor == 4 ? 1024 : 0;
}

/* ---- looking ---- */

static struct diagnosis d;

static void look_with(const char *word, bool no_tools)
{
	const char *const folders[] = { tools, NULL };
	char *dev = full("dev");
	struct doctor_opts o = {
		.tool_folders = folders, .dev = dev, .dm_table = fake_table, .no_tools = no_tools, .block_size = fake_block_size
	};
	struct err e = { 0 };

	diagnosis_free(&d);
	if (doctor_look(word, &o, &d, &e))
		diag("%s: %s", word, e.text);
	free(dev);
}

static void look(const char *word)
{
	look_with(word, false);
}

static const struct diag_setting *setting(const char *layer, const char *key)
{
	const struct diag_layer *l = diag_layer_named(&d, layer);

	for (size_t i = 0; l && i < l->n_settings; i++)
		if (!strcmp(l->setting[i].key, key))
			return &l->setting[i];
	return NULL;
}

/* "unsafe", or NULL: no finding */
static const char *grade(const char *layer, const char *key)
{
	for (size_t i = 0; i < d.n_findings; i++)
		if (!strcmp(d.finding[i].place, layer) && !strcmp(d.finding[i].key, key))
			return diag_grade_name(d.finding[i].grade);
	return NULL;
}

static const char *what(const char *layer, const char *key)
{
	for (size_t i = 0; i < d.n_findings; i++)
		if (!strcmp(d.finding[i].place, layer) && !strcmp(d.finding[i].key, key))
			return d.finding[i].what;
	return "";
}

static char *layer_names(void)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < d.n_layers; i++)
		buf_printf(&b, "%s%s", i ? " " : "", d.layer[i].name);
	return b.data;
}

static void layers_are(const char *word, const char *want)
{
	char *got;

	look(word);
	got = layer_names();
	is_str(got, want, word);
	free(got);
}

/* ---- tests ---- */

static void test_layers(void)
{
	static const char sda[] = "/srv/secret /srv/good /srv/old /srv/strict dm-0 sda1 sda2 sda3 sda4 sda machine";

	layers_are("sda", sda);
	layers_are("sda1", sda);
	layers_are("dm-0", sda);
	layers_are("md1", "/srv/usb md1 sdb machine");
	layers_are("sdb", "/srv/usb md1 sdb machine");
	layers_are("vdc", "/srv/tree md0 nvme1n1 vdc machine");
	look("dm-0");
	is_str(diag_layer_named(&d, "/srv/secret")->fstype, "xfs", "a file system's type");
	is_str(diag_layer_named(&d, "/srv/secret")->below[0], "dm-0", "what it stands on");
	is_str(diag_layer_named(&d, "dm-0")->below[0], "sda2", "what that stands on");
	is_str(diag_layer_named(&d, "sda2")->below[0], "sda", "a partition's disk");
	look(NULL);
	ok(diag_layer_named(&d, "sda") && diag_layer_named(&d, "loop0") && diag_layer_named(&d, "/srv/f2"),
	   "without a word: every disk");
}

/* Without a commit record there is none that a second flush could follow. */
static void test_fua(void)
{
	put("sys/devices/" USB "/queue/write_cache", "write back\n");
	look("sdb");
	ok(!grade("sdb", "fua"), "no file system on it has a journal");
	put("sys/fs/ext4/md1/journal_task", "126\n");
	look("sdb");
	is_str(grade("sdb", "fua"), "slow", "one that has");
	put("sys/devices/" USB "/ro", "1\n");
	look("sdb");
	ok(!grade("sdb", "fua"), "a disk that takes no writes");
	put("sys/devices/" USB "/ro", "0\n");
	put("sys/fs/ext4/md1/journal_task", "<none>\n");
	put("sys/devices/" USB "/queue/write_cache", "write through\n");
}

/* Keys of what was found about a layer, a blank before each. Owned by the caller. */
static char *found(const char *layer)
{
	struct buf b = { 0 };

	buf_str(&b, "");
	for (size_t i = 0; i < d.n_findings; i++)
		if (!strcmp(d.finding[i].place, layer))
			buf_printf(&b, " %s", d.finding[i].key);
	return b.data;
}

/* Nothing is synced there: no cache, no queue makes it slow or unsafe. */
static void test_read_only(void)
{
	char *keys;

	put("sys/devices/" SATA "/ro", "1\n");
	look("sda");
	keys = found("sda");
	is_str(keys, " read_only iostats", "a disk that takes no writes");
	free(keys);
	put("sys/devices/" SATA "/ro", "0\n");
	put("sys/devices/virtual/block/loop0/ro", "1\n");
	look("loop0");
	keys = found("loop0");
	is_str(keys, "", "a loop device that takes no writes");
	free(keys);
	put("sys/devices/virtual/block/loop0/ro", "0\n");
}

/* ---- the drive's own word ---- */

static const char smartctl_on[] =
	"cat <<'X'\n{\"model_name\": \"ACME 1\", \"firmware_version\": \"F1\", \"write_cache\": {\"enabled\": true},\n"
	"\"endurance_used\": {\"current_percent\": 91}, \"smart_status\": {\"passed\": false}}\nX";
static const char hdparm_on[] = "case $1 in -C) printf '\\n%s:\\n drive state is:  active/idle\\n' $2 ;;\n"
				"*) printf '\\n%s:\\n write-caching =  1 (on)\\n\\tModel Number:       ACME 2   \\n\\tFirmware Revision:  "
				"F2\\n' $3 ;; esac";
static const char hdparm_asleep[] = "printf '\\n%s:\\n drive state is:  standby\\n' $2";
static const char nvme_on[] = "case $1 in id-ctrl) echo '{\"mn\": \"ACME N  \", \"fr\": \"F3 \", \"vwc\": 7}' ;;\n"
			      "get-feature) echo 'get-feature:0x06 (Volatile Write Cache), Current value:0x00000001' ;;\n"
			      "smart-log) echo '{\"critical_warning\": 0, \"percent_used\": 3}' ;; esac";

static const struct {
	const char *tool, *script, *disk;
	bool no_tools;
} answers[] = {
	{ "smartctl", smartctl_on, "sdb", false },
	{ "smartctl", "echo '{\"model_name\": \"ACME 1\"}'; exit 2", "sdb", false },
	{ "smartctl", "echo '{\"model_name\": 7, \"write_cache\": [1], \"smart_status\": \"x'", "sdb", false },
	{ "hdparm", hdparm_on, "sda", false },
	{ "hdparm", hdparm_asleep, "sda", false },
	{ "hdparm", hdparm_on, "sdd", false }, /* which the kernel has suspended */
	{ "hdparm", hdparm_on, "sda", true },
	{ "hdparm", hdparm_on, "vdb", false },	 /* without a drive to ask */
	{ "nvme", nvme_on, "nvme0c0n1", false }, /* without a node to ask by */
	{ "nvme", nvme_on, "nvme0n1", false },
	{ "nvme", "[ $1 = id-ctrl ] && echo '{\"mn\": \"ACME P\", \"vwc\": 0}'", "nvme0n1", false },
};

/* What is known by a tool, or why it isn't, and how the drive's cache is judged then. */
static void add_answer(struct buf *b, const char *disk)
{
	static const char *const keys[] = { "drive_cache", "drive_model", "firmware", "wear", "health" };
	char *log = asked();

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const struct diag_setting *s = setting(disk, keys[i]);
		const char *found = grade(disk, keys[i]);

		if (s)
			buf_printf(b, "  %s: %s%s%s\n", keys[i], s->value ? s->value : s->unknown, found ? ", " : "",
				   found ? found : "");
	}
	buf_printf(b, "  write_cache: %s\n", grade(disk, "write_cache") ? grade(disk, "write_cache") : "no finding");
	/* each line begins with what was asked, and ends with the disk's node */
	for (char *at = log, *end; at && *at; at = *end ? end + 1 : end) {
		end = strchrnul(at, '\n');
		buf_printf(b, "  asked: %.*s\n", (int)strcspn(at, "/\n"), at);
	}
	free(log);
}

static void test_tools(void)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		remove_tools();
		put_tool(answers[i].tool, answers[i].script);
		look_with(answers[i].disk, answers[i].no_tools);
		buf_printf(&b, "%s of %s\n", answers[i].tool, answers[i].disk);
		add_answer(&b, answers[i].disk);
	}
	golden("doctor_tools", "txt", b.data);
	buf_free(&b);
	remove_tools();
}

/* ---- all of it, as it is shown ---- */

/* "sda: size=800000 fua=0 ..", what is known, a line for each layer */
static void add_values(struct buf *b)
{
	for (size_t i = 0; i < d.n_layers; i++) {
		const struct diag_layer *l = &d.layer[i];

		buf_printf(b, "%s:", l->name);
		for (size_t k = 0; k < l->n_settings; k++)
			if (l->setting[k].value) {
				buf_printf(b, " %s=", l->setting[k].key);
				utf8_escape(b, l->setting[k].value, false);
			}
		buf_char(b, '\n');
	}
}

static void test_everything(void)
{
	struct render_opts o = { .width = 120, .quiet = true };
	struct buf b = { 0 };

	look(NULL);
	free(d.kernel);
	free(d.arch);
	d.kernel = xstrdup("6.18.5");
	d.arch = xstrdup("x86_64");
	render_diagnosis_text(&d, &o, &b);
	add_values(&b);
	golden("doctor", "txt", b.data);
	buf_clear(&b);
	o.quiet = false;
	render_diagnosis_text(&d, &o, &b);
	ok(fits(b.data, 120) && strstr(b.data, "\\x1b") && !strchr(b.data, '\x1b') && strstr(b.data, "\nsda  disk"),
	   "the whole report, hostile names escaped");
	buf_free(&b);
}

/* ---- the trace ---- */

static void test_weigh(void)
{
	struct report r = { .wall_ns = 1000, .have_sync = true, .have_verdict = true };

	look("sda");
	r.sync.count = 10;
	r.sync.unsafe = 2;
	r.sync.ledger.ns[CAUSE_FLUSH_POST] = 300;
	r.sync.ledger.ns[CAUSE_IOQ] = 600;
	r.sync.ledger.ns[CAUSE_CPU] = 100;
	r.verdict.sentence = "It is the scheduler.";
	doctor_weigh(&d, &r);
	for (size_t i = 0; i < d.n_findings; i++) {
		const struct diag_finding *f = &d.finding[i];

		if (!strcmp(f->key, "fua"))
			ok(f->have_weight && f->weight_ns == 300, "FUA weighs the post-flushes");
		if (!strcmp(f->key, "iostats"))
			ok(!f->have_weight, "what acts on no cause has no weight");
	}
	is_str(grade("sync calls", "unflushed"), "check", "calls without a flush are told of");
	ok(d.finding[0].grade == DIAG_UNSAFE, "the worst first");
	for (size_t i = 1; i < d.n_findings; i++)
		if (d.finding[i - 1].grade > d.finding[i].grade ||
		    (d.finding[i - 1].grade == d.finding[i].grade && d.finding[i - 1].weight_ns < d.finding[i].weight_ns))
			ok(false, "findings by grade, then by weight");
	is_str(d.trace.sentence, "It is the scheduler.", "the verdict");
	look("sdb");
	ok(!grade("sdb", "scheduler"), "a setting that doesn't hurt by itself");
	doctor_weigh(&d, &r);
	is_str(grade("sdb", "scheduler"), "slow", "is told of when it took much of the time");
	ok(!grade("sdb", "write_cache") || strcmp(grade("sdb", "write_cache"), "slow"), "but not a cache that isn't "
											"flushed");
	look("sdf");
	r.sync.ledger.ns[CAUSE_FLUSH_ONLY] = 300;
	r.sync.unsafe = 0;
	doctor_weigh(&d, &r);
	is_str(grade("sdf", "write_cache"), "slow", "flushes that took much of the time are told of");
	ok(!grade("sdf", "nomerges") && !grade("sync calls", "unflushed"), "and nothing that did not");
	r.sync.count = r.sync.unsafe = 1;
	look("sdf");
	doctor_weigh(&d, &r);
	ok(strstr(what("sync calls", "unflushed"), "1 of 1 sync call returned"), "one call is not spoken of as many");
	r.sync.unsafe = 0;
	look(NULL);
	doctor_weigh(&d, &r);
	ok(!grade("sdf", "write_cache"), "of several disks the ledger does not know which it was");
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tree_make();
	tools = full("bin");
	free(full("bin/x"));
	free(full("dev/x"));
	make_disks();
	make_stacks();
	make_file_systems();
	test_everything();
	test_layers();
	test_fua();
	test_read_only();
	test_tools();
	test_weigh();
	diagnosis_free(&d);
	free(tools);
	return tree_done();
}
