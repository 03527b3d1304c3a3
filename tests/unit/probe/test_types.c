// SPDX-License-Identifier: GPL-2.0-only
/* What is kept of the kernel's types is what libbpf finds in all of them. */
#include <bpf/btf.h>
#include <errno.h>
#include <string.h>

#include "probe/kernel_constants.h"
#include "probe/btf_subset.h"
#include "tap.h"

static struct btf *all;

/* clang-format off */
static const char *const asked[] = {
	"request", "request_queue", "task_struct___flavour", "gendisk", "bio", "file", "btf_trace_block_rq_issue",
	"REQ_OP_FLUSH", "vfs_fsync", "list_head", "no_such_type",
};
/* clang-format on */

static struct types *read_asked(void)
{
	struct types *t = types_new();

	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		types_ask(t, asked[i]);
	if (types_read(t) || types_fill(t)) {
		types_free(t);
		return NULL;
	}
	return t;
}

static bool same_members(const struct btf *a, const struct btf_type *at, const struct btf *b, const struct btf_type *bt,
			 int depth);

/* By value only: what a pointer points to is not kept. */
static bool same_type(const struct btf *a, __u32 a_id, const struct btf *b, __u32 b_id, int depth)
{
	const struct btf_type *at = btf__type_by_id(a, a_id), *bt = btf__type_by_id(b, b_id);

	if (!at || !bt || btf_kind(at) != btf_kind(bt) ||
	    strcmp(btf__name_by_offset(a, at->name_off), btf__name_by_offset(b, bt->name_off)))
		return false;
	if (!a_id || btf_is_ptr(at) || depth > 6)
		return true;
	if (btf_is_mod(at) || btf_is_typedef(at) || btf_kind(at) == BTF_KIND_TYPE_TAG)
		return same_type(a, at->type, b, bt->type, depth + 1);
	if (btf_is_array(at))
		return btf_array(at)->nelems == btf_array(bt)->nelems &&
		       same_type(a, btf_array(at)->type, b, btf_array(bt)->type, depth + 1);
	if (at->size != bt->size)
		return false;
	return !btf_is_composite(at) || same_members(a, at, b, bt, depth);
}

static bool same_members(const struct btf *a, const struct btf_type *at, const struct btf *b, const struct btf_type *bt,
			 int depth)
{
	if (at->info != bt->info)
		return false;
	for (int i = 0; i < btf_vlen(at); i++) {
		const struct btf_member *am = &btf_members(at)[i], *bm = &btf_members(bt)[i];

		if (am->offset != bm->offset ||
		    strcmp(btf__name_by_offset(a, am->name_off), btf__name_by_offset(b, bm->name_off)) ||
		    !same_type(a, am->type, b, bm->type, depth + 1)) {
			printf("# %s.%s\n", btf__name_by_offset(a, at->name_off), btf__name_by_offset(a, am->name_off));
			return false;
		}
	}
	return true;
}

static void check_struct(const struct btf *kept, const char *name)
{
	int a = btf__find_by_name_kind(all, name, BTF_KIND_STRUCT),
	    b = btf__find_by_name_kind(kept, name, BTF_KIND_STRUCT);

	ok(a > 0 && b > 0 && same_type(all, (__u32)a, kept, (__u32)b, 0), "struct %s is as in the kernel's types", name);
}

/* A program that attaches by a wrong number traces something else. */
static void check_target(const struct types *t, const char *name, __u32 kind)
{
	struct types_target to = { 0 };

	ok(!types_target(t, name, kind, &to) && to.id == btf__find_by_name_kind(all, name, kind) && !to.object,
	   "%s has the kernel's own number", name);
}

static void check_constants(void)
{
	struct types *mine = types_new();
	struct bt_config a = { 0 }, b = { 0 };

	for (size_t i = 0; constants_enumerator(i); i++)
		types_ask(mine, constants_enumerator(i));
	types_ask(mine, "btf_trace_block_rq_issue");
	types_ask(mine, "btf_trace_block_bio_queue");
	ok(!types_read(mine) && !types_fill(mine), "types for the constants");
	constants_from_btf(all, &a);
	constants_from_btf(types_btf(mine), &b);
	ok(!memcmp(&a, &b, sizeof(a)), "the same constants as of all types");
	ok(tracepoint_args(all, "block_bio_queue") == tracepoint_args(types_btf(mine), "block_bio_queue"),
	   "the same arguments of a tracepoint");
	types_free(mine);
}

static void check_kernel(void)
{
	struct types *t = read_asked();
	struct types_target to;
	struct btf *by_path;

	ok(t != NULL, "the kernel's types can be read");
	if (!t)
		return;
	check_struct(types_btf(t), "request");
	check_struct(types_btf(t), "task_struct");
	check_struct(types_btf(t), "bio");
	check_struct(types_btf(t), "file");
	check_target(t, "btf_trace_block_rq_issue", BTF_KIND_TYPEDEF);
	check_target(t, "vfs_fsync", BTF_KIND_FUNC);
	ok(types_target(t, "no_such_type", BTF_KIND_STRUCT, &to) == -ENOENT, "what the kernel hasn't got is not found");
	ok(btf__type_cnt(types_btf(t)) * 10 < btf__type_cnt(all), "most of the kernel's types are left out");
	by_path = btf__parse(types_path(t), NULL);
	ok(by_path && btf__type_cnt(by_path) == btf__type_cnt(types_btf(t)), "libbpf reads the same at their path");
	btf__free(by_path);
	types_free(t);
}

int main(void)
{
	all = btf__load_vmlinux_btf();
	if (!all) {
		printf("1..0 # SKIP missing: /sys/kernel/btf/vmlinux\n");
		return 0;
	}
	check_kernel();
	check_constants();
	btf__free(all);
	return tap_done();
}
