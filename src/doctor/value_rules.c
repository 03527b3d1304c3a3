// SPDX-License-Identifier: GPL-2.0-only
/* value_rules.c - settings that hurt, or are unsafe, by their value alone. What depends on others is in checks_*.c. */
#include <stdlib.h>
#include <string.h>

#include "doctor/doctor_internal.h"
#include "util/mem.h"

enum when { WHEN_THERE, WHEN_ZERO, WHEN_NOT_ZERO, WHEN_AT_LEAST, WHEN_ONE_OF, WHEN_OTHER, WHEN_CONTAINS, WHEN_LACKS };

#define UNSYNC "Mount without it, if the programs sync for themselves. Risk: what they don't sync is written later."
#define LIMIT  "Raise the limit, if the programs in it sync.", "I/O on %s is limited or ruled by a cgroup: %s."

/* clang-format off */
static const struct rule {
	const char *key;
	enum diag_grade grade;
	enum when when;
	const char *than; /* a number; for WHEN_ONE_OF and WHEN_OTHER words with blanks around them */
	const char *advice; /* NULL: none */
	const char *what;   /* a format of the layer's name and the value */
} rules[] = {
	/* file systems */
	{ "volatile", DIAG_UNSAFE, WHEN_THERE, NULL, "Mount it without the option volatile.",
	  "%s is a volatile overlay: an fsync in it does nothing, and says that it has." },
	{ "atime", DIAG_SLOW, WHEN_ONE_OF, " strictatime ",
	  "Mount with relatime or noatime. Risk: programs that compare access times see old ones.",
	  "On %s each read of a file changes its inode, which commits then have to write." },
	{ "sync", DIAG_SLOW, WHEN_THERE, NULL, UNSYNC, "%s is mounted with sync: every write waits for the drive." },
	{ "dirsync", DIAG_SLOW, WHEN_THERE, NULL, UNSYNC,
	  "%s is mounted with dirsync: every change of a directory waits for the drive." },
	{ "data", DIAG_SLOW, WHEN_ONE_OF, " journal ",
	  "Measure with data=ordered. Risk: less atomicity of data after a crash.",
	  "%s writes data twice, first into the journal (short fsyncs can gain by it, long ones lose)." },
	{ "data", DIAG_CHECK, WHEN_ONE_OF, " writeback ",
	  "Mount with data=ordered, if programs do not fsync what they need.",
	  "%s may show old contents in files written just before a crash (data=writeback)." },
	{ "commit", DIAG_NOTE, WHEN_AT_LEAST, "61", NULL,
	  "%s keeps changes for up to %s s: what isn't synced can be lost that long, and an fsync may have more to "
	  "write." },
	{ "auto_da_alloc", DIAG_CHECK, WHEN_ONE_OF, " off ",
	  "Mount without noauto_da_alloc, unless all programs fsync before they rename.",
	  "On %s a file replaced by rename without an fsync can be empty after a crash." },
	{ "notreelog", DIAG_SLOW, WHEN_THERE, NULL, "Mount without notreelog. Risk: none.",
	  "%s has no log tree: each fsync commits the whole transaction, everybody's changes included." },
	{ "flushoncommit", DIAG_SLOW, WHEN_THERE, NULL,
	  "Mount without flushoncommit, unless snapshots must hold all data.",
	  "A commit of %s writes out the data of all files first." },
	{ "wsync", DIAG_SLOW, WHEN_THERE, NULL, "Mount without wsync, unless this serves NFS.",
	  "On %s each create, rename and unlink waits for the log." },
	{ "logdev", DIAG_NOTE, WHEN_THERE, NULL, "Look at that device, too: barriertrace doctor, with its name.",
	  "The log of %s, which every fsync writes, is on %s." },

	/* stacks */
	{ "dio", DIAG_SLOW, WHEN_ZERO, NULL, "losetup --direct-io=on. Risk: none.",
	  "%s writes into the page cache: data is kept twice, and a flush has to write all of it at once." },
	{ "dm_options", DIAG_NOTE, WHEN_LACKS, "no_write_workqueue",
	  "On a fast drive try cryptsetup refresh --perf-no_write_workqueue --perf-no_read_workqueue. Risk: encryption "
	  "runs in the writer's own time.",
	  "dm-crypt hands each write to %s from one worker to the next before the drive sees it." },
	{ "suspended", DIAG_SLOW, WHEN_NOT_ZERO, NULL, "dmsetup resume, once whoever suspended it is done.",
	  "%s is suspended: every request waits, an fsync for good." },
	{ "md_degraded", DIAG_UNSAFE, WHEN_NOT_ZERO, NULL, "Replace the missing member (mdadm --add).",
	  "%s lacks %s of its members: the next failure can lose everything." },
	{ "md_sync_action", DIAG_SLOW, WHEN_OTHER, " idle frozen ",
	  "Wait until it is done, or lower md/sync_speed_max meanwhile.",
	  "%s is busy with a %s, and every fsync shares the drives with it." },
	{ "md_consistency", DIAG_SLOW, WHEN_ONE_OF, " ppl journal ", NULL,
	  "%s writes to its %s before each write of a stripe: safer, and slower." },
	{ "md_bitmap", DIAG_NOTE, WHEN_OTHER, " none ",
	  "A larger bitmap chunk (mdadm --grow --bitmap-chunk) makes it rarer. Risk: a longer resync.",
	  "%s has a write-intent bitmap: the first write into a clean region waits for a flushed write of it." },
	{ "alignment_offset", DIAG_SLOW, WHEN_NOT_ZERO, NULL,
	  "Make the partition anew at a multiple of 1 MiB, and restore the data.",
	  "%s is not aligned to the blocks of the device below it (%s bytes off): writes make it read first." },

	/* the queue */
	{ "wbt_lat_usec", DIAG_NOTE, WHEN_ZERO, NULL,
	  "If background writing makes fsyncs slow: echo -1 > queue/wbt_lat_usec (the default). Risk: none.",
	  "Writeback to %s is not throttled: it can fill the drive's queue before an fsync." },
	{ "queue_depth", DIAG_SLOW, WHEN_ONE_OF, " 1 ",
	  "Look in the kernel's log why queueing is off (NCQ); a USB enclosure with UAS has it.",
	  "%s takes one command at a time: an fsync waits for every request before it." },
	{ "rq_affinity", DIAG_NOTE, WHEN_ZERO, NULL, "echo 1 > queue/rq_affinity (the default).",
	  "Requests of %s end on whichever CPU the interrupt came to, and the caller is woken from afar." },
	{ "nomerges", DIAG_SLOW, WHEN_NOT_ZERO, NULL, "echo 0 > queue/nomerges (the default).",
	  "Writes to %s are not merged: a commit's blocks become a request each." },
	{ "iostats", DIAG_NOTE, WHEN_ZERO, NULL, "echo 1 > queue/iostats (the default).",
	  "The kernel does not count the requests and flushes of %s: iostat shows nothing, and this tool cannot check "
	  "itself." },
	{ "cgroup_io_max", DIAG_SLOW, WHEN_THERE, NULL, LIMIT },
	{ "cgroup_io_latency", DIAG_SLOW, WHEN_THERE, NULL, LIMIT },
	{ "cgroup_io_cost", DIAG_SLOW, WHEN_THERE, NULL, LIMIT },
	{ "cgroup_write_bps", DIAG_SLOW, WHEN_THERE, NULL, LIMIT },
	{ "cgroup_write_iops", DIAG_SLOW, WHEN_THERE, NULL, LIMIT },

	/* the drive */
	{ "scsi_cache_type", DIAG_NOTE, WHEN_CONTAINS, "temporary", NULL,
	  "The cache type of %s was set by hand, until the next boot." },
	{ "wear", DIAG_NOTE, WHEN_AT_LEAST, "80", "Plan a replacement.", "%s has used up %s %% of its rated life." },
	{ "health", DIAG_UNSAFE, WHEN_ONE_OF, " failing ", "Save what is on it, and replace it.",
	  "%s says of itself that it is failing." },

	/* the machine */
	{ "laptop_mode", DIAG_SLOW, WHEN_NOT_ZERO, NULL, "sysctl vm.laptop_mode=0.",
	  "laptop_mode is on: dirty data is kept back, and an fsync finds it." },
	{ "btf", DIAG_NOTE, WHEN_ONE_OF, " none ", "Use a kernel with CONFIG_DEBUG_INFO_BTF=y.",
	  "This kernel has no type information (BTF): it cannot be traced." },
	{ "lockdown", DIAG_NOTE, WHEN_CONTAINS, "[confidentiality]", NULL,
	  "The kernel is locked down for confidentiality: it refuses tracing." },
	{ "bpf_stats_enabled", DIAG_NOTE, WHEN_NOT_ZERO, NULL, "sysctl kernel.bpf_stats_enabled=0.",
	  "The kernel takes the time of every BPF program: tracing costs more than it has to." },
};
/* clang-format on */

static bool is_one_of(const char *words, const char *value)
{
	char *word = xasprintf(" %s ", value);
	bool found = strstr(words, word);

	free(word);
	return found;
}

static bool holds(const struct rule *rule, const char *value)
{
	uint64_t n = strtoull(value, NULL, 10);

	switch (rule->when) {
	case WHEN_THERE: return true;
	case WHEN_ZERO: return !n;
	case WHEN_NOT_ZERO: return n;
	case WHEN_AT_LEAST: return n >= strtoull(rule->than, NULL, 10);
	case WHEN_ONE_OF: return is_one_of(rule->than, value);
	case WHEN_OTHER: return *value && !is_one_of(rule->than, value);
	case WHEN_CONTAINS: return strstr(value, rule->than);
	default: return !strstr(value, rule->than);
	}
}

void judge_by_value(struct exam *x, const struct diag_layer *l, const struct diag_setting *s)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (!strcmp(rules[i].key, s->key) && holds(&rules[i], s->value))
			finding_add(x, l, s, rules[i].grade, rules[i].advice, rules[i].what, l->name, s->value);
}
