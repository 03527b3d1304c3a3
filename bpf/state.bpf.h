/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps and the configuration that all programs share: defined in state.bpf.c, declared everywhere else. */
#ifndef BT_STATE_BPF_H
#define BT_STATE_BPF_H

#include "compat.bpf.h"
#include "config.h"
#include "slot.h"

#ifndef STATE
#define STATE extern
#endif

/* The request whose completion is being handled on a CPU: who is woken now is woken by it. */
struct completing {
	u64 rq, done;
	u32 slot;	  /* its key in slots */
	u32 pid;	  /* the task that was interrupted, or that does it */
	u32 irq;	  /* done in interrupt context */
	u32 sent;	  /* its record has been sent */
	u16 class, flags; /* as in struct wire_request */
	u32 disk, bytes;
	u32 sender; /* tid of who sent it */
	u32 dev;    /* as in struct wire_request */
	u64 sector;
	u64 at, at_waking, at_queue; /* scratch of in_interrupt() */
};

/* By wire_disk's key: the kernel dev_t of a whole disk. */
STATE struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, struct wire_disk);
} disks SEC(".maps");

STATE struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_MAX_QUEUES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct wire_queue);
} queues SEC(".maps");

STATE struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);		   /* set before load: wire_disk.slot_base of the last disk + its slots */
	__uint(map_flags, BPF_F_MMAPABLE); /* for its alignment: the array begins with a page */
	__type(key, u32);
	__type(value, struct slot);
} slots SEC(".maps");

STATE struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set before load: views * WIRE_CELLS * stripes */
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct wire_cell);
} cells SEC(".maps");

STATE struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set before load: views * stripes */
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct wire_view);
} views SEC(".maps");

STATE struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set before load: as views, of which only whole disks' are used */
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct wire_depth);
} depths SEC(".maps");

/* The processes of the wrapped command, or those that -p and --comm name, by thread group. */
STATE struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, u32);
} family SEC(".maps");

/*
 * Answers of that table which a CPU lately got, by the low bits of the thread group: with a command wrapped each write of the machine
 * and each request asks. An answer holds until the family changes. One word each: programs interrupt each other here.
 */
#define FAMILY_SEEN  256 /* a machine has some processes that call all the time: each should find its own answer */
#define FAMILY_IN    1ull
#define FAMILY_ASKED 2ull

struct family_seen {
	u64 answer[FAMILY_SEEN]; /* turn, thread group, FAMILY_x */
};

STATE struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct family_seen);
} family_seen SEC(".maps");

/* Disks and partitions, by kernel dev_t, above which there are but file systems that tell of each sync call themselves. */
#define COVERED 1024

STATE struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, COVERED);
	__type(key, u32);
	__type(value, u32);
} covered SEC(".maps");

/* File systems and disks, by kernel dev_t, whose sync calls are not of this run, see run_is_of_run(): no other is told of here. */
#define ELSEWHERE 1024

STATE struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ELSEWHERE);
	__type(key, u32);
	__type(value, u32);
} elsewhere SEC(".maps");

/* Bios in flight of bio-based disks, by address. */
struct bio_start {
	u64 queued;
	u32 flags; /* bi_opf as queued: lower layers may change it */
	u32 bytes;
	u32 view;
	u32 disk; /* key in disks */
	u32 mine; /* 1: it passes the filter */
	u32 pad;
};

STATE struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct bio_start);
} bios SEC(".maps");

#define COMPLETION_MAX_NS 500000 /* what a completion may take before a wake-up is no longer put down to it */

/* The bio whose completion is being handled on a CPU, as in struct completing. */
struct bio_end {
	u64 queued, done, flushed; /* as in struct wire_bio */
	u32 disk, class;
	u32 pid, irq;
	u64 at; /* scratch of in_interrupt() */
};

STATE struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct bio_end);
} bio_ends SEC(".maps");

/* The head of a record that is made on this CPU. */
static __always_inline void fill_head(struct wire_head *head, enum wire_kind kind, u16 size)
{
	head->kind = kind;
	head->size = size;
	head->cpu = bpf_get_smp_processor_id();
}

/* Fill *b from the bio being completed on this CPU, for sleep or work `seq` of task `tid`. False: there is none. */
static __always_inline bool bio_ending(struct wire_bio *b, bool irq, u32 pid, u64 now, u32 tid, u32 seq)
{
	u32 zero = 0;
	struct bio_end *e = bpf_map_lookup_elem(&bio_ends, &zero);

	if (!e || !e->done || e->irq != irq || e->pid != pid || now - e->done > COMPLETION_MAX_NS)
		return false;
	fill_head(&b->head, WIRE_BIO, sizeof(*b));
	b->queued = e->queued;
	b->done = e->done;
	b->flushed = e->flushed;
	b->tid = tid;
	b->seq = seq;
	b->disk = e->disk;
	b->class = e->class;
	b->work = 0;
	return true;
}

STATE struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct completing);
} completions SEC(".maps");

/* Readings of the clock that requests lately completed on a CPU began with. */
#define STAMPS 64

struct stamps {
	u64 seen[STAMPS];
};

STATE struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stamps);
} stamps SEC(".maps");

static __always_inline struct completing *completing_cpu(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&completions, &zero);
}

STATE const volatile struct bt_config cfg SEC(".rodata");
STATE volatile struct bt_groups groups SEC(".data");
STATE struct wire_run run SEC(".data") __attribute__((aligned(64)));

static void *(*const cast)(const void *pointer, u64 type) = (void *)CONFIG_CAST;

/* clang-format off */
#define TYPE_OF(ptr) _Generic((ptr), \
	struct address_space *: cfg.type_address_space, \
	struct dentry *: cfg.type_dentry, \
	struct file *: cfg.type_file, \
	struct inode *: cfg.type_inode, \
	struct pt_regs *: cfg.type_pt_regs, \
	struct rb_node *: cfg.type_rb_node, \
	struct request *: cfg.type_request, \
	struct super_block *: cfg.type_super_block, \
	struct task_struct *: cfg.type_task_struct)

/* ptr->member, whatever the verifier knows of ptr: a load where the kernel lets programs say its type, else a copy by a helper, 20 ns */
#define LOOK(ptr, member) ({ \
	typeof(ptr) __p = (ptr); \
	typeof(__p->member) __v; \
	if (TYPE_OF(__p)) \
		__v = ((typeof(__p))cast(__p, TYPE_OF(__p)))->member; \
	else \
		bpf_core_read(&__v, sizeof(__v), &__p->member); \
	__v; \
})
/* clang-format on */

/* The address that stands at an address, as a number: only such are arguments and results of global functions. */
static __always_inline u64 address_at(const void *at)
{
	return LOOK((struct rb_node *)at, __rb_parent_color); /* any type that begins with a word would do */
}

/*
 * The same pointer, to load pointers through. Of one that is loaded out of what a tracepoint hands over, or of the current task, the
 * verifier asks whether it can be trusted, too, and looks for the answer in all types of the kernel: a millisecond, on each way to it.
 * What has been cast isn't trusted to begin with; reading it is as safe.
 */
#define LOOSE(direct, ptr) ((direct) && TYPE_OF(ptr) ? (typeof(ptr))cast(ptr, TYPE_OF(ptr)) : (ptr))

/* The empty asm keeps clang from making an atomic "or" of an "add" of nothing: kernels before 5.12 have no such instruction. */
/* clang-format off */
#define ADD(shared, x, n) do { \
	if (shared) { \
		typeof(x) by_ = (n); \
		asm volatile("" : "+r"(by_)); \
		__sync_fetch_and_add(&(x), by_); \
	} else { \
		(x) += (n); \
	} \
} while (0)
/* clang-format on */

/* Which copy of the counters this CPU writes to. */
static __always_inline u32 stripe(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return cfg.atomic ? cpu % cfg.stripes : cpu;
}

static __always_inline struct wire_cell *cell_of(u32 view, u32 cell)
{
	u32 key = (view * WIRE_CELLS + cell) * cfg.stripes + stripe();

	return bpf_map_lookup_elem(&cells, &key);
}

static __always_inline struct wire_view *view_of(u32 view)
{
	u32 key = view * cfg.stripes + stripe();

	return bpf_map_lookup_elem(&views, &key);
}

static __always_inline struct wire_depth *depth_of(const struct wire_queue *qs)
{
	u32 key = qs->disk.view * cfg.stripes + stripe();

	return bpf_map_lookup_elem(&depths, &key);
}

/* `i` is the value's bucket. */
static __always_inline void time_add(struct wire_cell *c, enum wire_time which, u64 value, u64 i)
{
	struct wire_extremes *x = &c->extremes[run.generation & 1];

	if (rarely(i >= HIST_BUCKETS))
		return;
	asm volatile(""
		     : "+r"(i)); /* or clang computes the place before the check, and the verifier knows no bound of it */
	ADD(cfg.atomic, c->sum[which], value);
	ADD(cfg.atomic, c->bucket[i][which], 1);
	if (rarely(value > x->max[which]))
		x->max[which] = value;
	if (rarely(~value > x->min[which]))
		x->min[which] = ~value;
}

static __always_inline void time_record(struct wire_cell *c, enum wire_time which, u64 value)
{
	time_add(c, which, value, hist_index(value));
}

/* Is it the disk that is traced, or one that has come in its place? Then it isn't counted until user space has seen it, and apart. */
static __always_inline bool same_disk(const struct wire_disk *d, u64 diskseq)
{
	return !d->diskseq || !diskseq || d->diskseq == diskseq;
}

/* A FLUSH has ended in this disk: somebody on top of it may have waited for that. */
static __always_inline void flushed_below(const struct wire_disk *d, u64 now)
{
	u32 above = d->above;
	struct wire_disk *top = above ? bpf_map_lookup_elem(&disks, &above) : NULL;

	if (top)
		top->flushed = now;
}

#define FAMILY_TGID_BITS 24 /* pid_max is at most 2^22 */

/* The turn is read before the table: an answer of before a change is not taken for one of after it. */
static __always_inline bool in_family(u32 tgid)
{
	u64 question = (u64)run.family_turn << (FAMILY_TGID_BITS + 2) | (u64)tgid << 2 | FAMILY_ASKED, answer;
	u32 zero = 0, i = tgid % FAMILY_SEEN;
	struct family_seen *seen = bpf_map_lookup_elem(&family_seen, &zero);

	if (seen && (seen->answer[i] | FAMILY_IN) == (question | FAMILY_IN))
		return seen->answer[i] & FAMILY_IN;
	answer = bpf_map_lookup_elem(&family, &tgid) ? question | FAMILY_IN : question;
	if (seen)
		seen->answer[i] = answer;
	return answer & FAMILY_IN;
}

#endif
