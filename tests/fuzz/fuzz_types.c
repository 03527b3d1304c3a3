// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kernel's types, as --btf reads them. The first byte says what the rest is: a whole file, or types and, behind a byte of 255,
 * their names, to which a right head is made.
 */
#include <bpf/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "probe/btf_subset.h"
#include "probe/kernel_constants.h"
#include "recording_forge.h"
#include "util/buf.h"
#include "util/mem.h"

enum { WHOLE_FILE, PARTS, WAYS };

static const char *const asked[] = { "request", "req_opf", "task_struct___flavour", "bio", "a", "u64", "REQ_OP_FLUSH" };

#define N_ASKED (sizeof(asked) / sizeof(asked[0]))

static void ask_all(struct types *t)
{
	const char *name;

	for (size_t i = 0; i < N_ASKED; i++)
		types_ask(t, asked[i]);
	for (size_t i = 0; (name = constants_enumerator(i)); i++)
		types_ask(t, name);
}

static void read_types(const void *bytes, size_t n)
{
	struct types *t = types_new();
	struct bt_config cfg = { 0 };
	struct types_target target;
	int fd = forge_fd(bytes, n);
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ask_all(t);
	if (!types_read(t, path)) {
		for (size_t i = 0; i < N_ASKED; i++)
			types_have(t, asked[i], BTF_KIND_STRUCT);
		if (!types_fill(t)) {
			constants_from_btf(types_btf(t), &cfg);
			tracepoint_args(types_btf(t), "block_rq_issue");
			for (size_t i = 0; i < N_ASKED; i++)
				types_target(t, asked[i], BTF_KIND_STRUCT, &target);
		}
	}
	types_free(t);
	close(fd);
}

static void read_parts(const uint8_t *bytes, size_t n)
{
	const uint8_t *edge = memchr(bytes, 255, n);
	size_t types = (edge ? (size_t)(edge - bytes) : n) & ~(size_t)3, names = edge ? n - (size_t)(edge - bytes) - 1 : 0;
	struct btf_header head = {
		.magic = 0xeB9F,
		.version = 1,
		.hdr_len = sizeof(head),
		.type_len = (__u32)types,
		.str_off = (__u32)types,
		.str_len = (__u32)names + 2,
	};
	uint8_t *file = xcalloc(1, sizeof(head) + types + names + 2);

	memcpy(file, &head, sizeof(head));
	memcpy(file + sizeof(head), bytes, types);
	if (names)
		memcpy(file + sizeof(head) + types + 1, edge + 1, names);
	read_types(file, sizeof(head) + types + names + 2);
	free(file);
}

static void run(const uint8_t *bytes, size_t n)
{
	if (!n)
		return;
	if (bytes[0] % WAYS == WHOLE_FILE)
		read_types(bytes + 1, n - 1);
	else
		read_parts(bytes + 1, n - 1);
}

/* One of each kind that this library can make, all in a structure that is asked for. */
static struct btf *some_types(void)
{
	struct btf *b = btf__new_empty();
	int u64 = btf__add_int(b, "u64", 8, 0), array = btf__add_array(b, u64, u64, 3), enumeration, inner, proto;

	enumeration = btf__add_enum(b, "req_opf", 4);
	btf__add_enum_value(b, "REQ_OP_FLUSH", 2);
	inner = btf__add_union(b, "bio", 8);
	btf__add_field(b, "x", u64, 0, 0);
	proto = btf__add_func_proto(b, 0);
	btf__add_func_param(b, "data", btf__add_ptr(b, 0));
	btf__add_func_param(b, "rq", btf__add_ptr(b, inner));
	btf__add_typedef(b, "btf_trace_block_rq_issue", btf__add_ptr(b, proto));
	btf__add_func(b, "a", BTF_FUNC_GLOBAL, proto);
	btf__add_var(b, "v", BTF_VAR_STATIC, u64);
	btf__add_datasec(b, ".data", 8);
	btf__add_datasec_var_info(b, u64, 0, 8);
	btf__add_fwd(b, "gone", BTF_FWD_STRUCT);
	btf__add_float(b, "f", 8);
	btf__add_struct(b, "request", 48);
	btf__add_field(b, "a", array, 0, 0);
	btf__add_field(b, "e", enumeration, 192, 0);
	btf__add_field(b, "i", inner, 256, 0);
	btf__add_field(b, "c", btf__add_const(b, btf__add_volatile(b, u64)), 320, 4);
	return b;
}

static void seeds(void)
{
	struct btf *b = some_types();
	__u32 n;
	const void *raw = btf__raw_data(b, &n);
	const struct btf_header *h = raw;
	struct buf file = { 0 }, parts = { 0 };

	buf_char(&file, WHOLE_FILE);
	buf_add(&file, raw, n);
	fuzz_seed("file", file.data, file.len);
	buf_char(&parts, PARTS);
	buf_add(&parts, (const char *)raw + h->hdr_len + h->type_off, h->type_len);
	buf_char(&parts, (char)255);
	buf_add(&parts, (const char *)raw + h->hdr_len + h->str_off + 1, h->str_len - 1);
	fuzz_seed("parts", parts.data, parts.len);
	buf_free(&file);
	buf_free(&parts);
	btf__free(b);
}

const struct fuzz_target fuzz_types = { "types", run, NULL, seeds };
