// SPDX-License-Identifier: GPL-2.0-only
#include "probe/kernel_constants.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/*
 * Enumerators, wherever they stand: the enum around them was renamed (req_opf, req_op) or is anonymous on some kernels, so only
 * the enumerator's own name is asked for.
 */
struct constant {
	const char *enumerator;
	size_t offset;	       /* in struct bt_config */
	unsigned int fallback; /* where it is a macro and so not in BTF */
	bool bit;	       /* the number of a bit, of which the mask is wanted */
};

/* clang-format off */
#define BIT_OF(field, name, number) { name, offsetof(struct bt_config, field), number, true }
#define VALUE_OF(field, name, number) { name, offsetof(struct bt_config, field), number, false }

static const struct constant constants[] = {
	/* RQF_* became an enum in 5f89154e8e9e ("block: Use enum to define RQF_x bit indexes", 6.11): macros before */
	BIT_OF(rqf_flush_seq, "__RQF_FLUSH_SEQ", 4),
	BIT_OF(rqf_io_stat, "__RQF_IO_STAT", 13),
	BIT_OF(rqf_stats, "__RQF_STATS", 17),
	BIT_OF(req_sync, "__REQ_SYNC", 11),
	BIT_OF(req_fua, "__REQ_FUA", 17),
	BIT_OF(req_preflush, "__REQ_PREFLUSH", 18),
	BIT_OF(req_rahead, "__REQ_RAHEAD", 19),
	BIT_OF(req_idle, "__REQ_IDLE", 15),
	BIT_OF(req_meta, "__REQ_META", 12),
	VALUE_OF(fseq_preflush, "REQ_FSEQ_PREFLUSH", 1),
	VALUE_OF(fseq_data, "REQ_FSEQ_DATA", 2),
	VALUE_OF(fseq_postflush, "REQ_FSEQ_POSTFLUSH", 4),
	VALUE_OF(op_flush, "REQ_OP_FLUSH", 2),
};
/* clang-format on */

struct op_name {
	const char *enumerator;
	enum wire_class class;
};

/* Zone appends are writes; everything that is not named here is "other". */
/* clang-format off */
static const struct op_name op_names[] = {
	{ "REQ_OP_READ", WIRE_READ_SYNC },
	{ "REQ_OP_WRITE", WIRE_WRITE_SYNC },
	{ "REQ_OP_ZONE_APPEND", WIRE_WRITE_SYNC },
	{ "REQ_OP_FLUSH", WIRE_FLUSH },
	{ "REQ_OP_DISCARD", WIRE_DISCARD },
};
/* clang-format on */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void set(struct bt_config *cfg, const struct constant *c, unsigned int value)
{
	if (!c->bit || value < 32)
		*(__u32 *)((char *)cfg + c->offset) = c->bit ? 1u << value : value;
}

static void defaults(struct bt_config *cfg)
{
	for (size_t i = 0; i < COUNT(constants); i++)
		set(cfg, &constants[i], constants[i].fallback);
	for (size_t i = 0; i < CONFIG_OPS; i++)
		cfg->op_class[i] = WIRE_OTHER;
}

static void take(struct bt_config *cfg, const char *name, unsigned int value)
{
	for (size_t i = 0; i < COUNT(constants); i++)
		if (!strcmp(name, constants[i].enumerator))
			set(cfg, &constants[i], value);
	for (size_t i = 0; i < COUNT(op_names); i++)
		if (!strcmp(name, op_names[i].enumerator) && value < CONFIG_OPS)
			cfg->op_class[value] = op_names[i].class;
}

const char *constants_enumerator(size_t i)
{
	if (i < COUNT(constants))
		return constants[i].enumerator;
	i -= COUNT(constants);
	return i < COUNT(op_names) ? op_names[i].enumerator : NULL;
}

static bool worth_a_look(const char *name)
{
	return !strncmp(name, "REQ_", 4) || !strncmp(name, "__RQF_", 6) || !strncmp(name, "__REQ_", 6);
}

void constants_from_btf(const struct btf *btf, struct bt_config *cfg)
{
	__u32 n = btf__type_cnt(btf);

	defaults(cfg);
	for (__u32 id = 1; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const struct btf_enum *e;

		if (!btf_is_enum(t))
			continue;
		e = btf_enum(t);
		for (int i = 0; i < btf_vlen(t); i++) {
			const char *name = btf__name_by_offset(btf, e[i].name_off);

			if (name && worth_a_look(name))
				take(cfg, name, (unsigned int)e[i].val);
		}
	}
	cfg->queue_first = tracepoint_args(btf, "block_rq_issue") == 2;
	cfg->bio_queue_first = tracepoint_args(btf, "block_bio_queue") == 2;
}

int tracepoint_args(const struct btf *btf, const char *event)
{
	const struct btf_type *t;
	char name[128];
	int id;

	snprintf(name, sizeof(name), "btf_trace_%s", event);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return -ENOENT;
	/* typedef -> pointer -> prototype, whose first parameter is the tracepoint's own data pointer */
	t = btf__type_by_id(btf, btf__type_by_id(btf, (__u32)id)->type);
	t = t ? btf__type_by_id(btf, t->type) : NULL;
	return t && btf_is_func_proto(t) ? btf_vlen(t) - 1 : -ENOENT;
}
