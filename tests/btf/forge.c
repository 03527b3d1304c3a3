// SPDX-License-Identifier: GPL-2.0-only
/*
 * btfforge - the BTF of a kernel that there isn't, made of one that there is.
 *
 *   btfforge IN OUT CHANGE ARGUMENT...
 *
 *   drop NAME             no type of that name: structure, typedef, function (a tracepoint is a typedef btf_trace_NAME)
 *   member TYPE OLD NEW   rename a member
 *   pointer TYPE MEMBER   make it a pointer
 *   longer TYPE MEMBER    make it a u64
 *   bits TYPE MEMBER      make it a bit field
 *   argument TRACEPOINT   one more at the end
 *   fewer TRACEPOINT      without its arguments
 *   value ENUMERATOR N    another value
 *   drop-value ENUMERATOR
 */
#include <bpf/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct btf *btf;

static int die(const char *what, const char *name)
{
	fprintf(stderr, "btfforge: %s: %s\n", name, what);
	exit(1);
}

static struct btf_type *type_at(__u32 id)
{
	return (struct btf_type *)btf__type_by_id(btf, id);
}

static __u32 named(const char *name, __u32 kind)
{
	int id = btf__find_by_name_kind(btf, name, kind);

	return id > 0 ? (__u32)id : (__u32)die("no such type", name);
}

static void drop(char **arg)
{
	int gone = btf__add_str(btf, "no_longer_there"), found = 0;

	for (__u32 id = 1; id < btf__type_cnt(btf); id++) {
		struct btf_type *t = type_at(id);

		if (strcmp(btf__name_by_offset(btf, t->name_off), arg[0]) != 0)
			continue;
		t->name_off = (__u32)gone;
		found++;
	}
	if (!found)
		die("no such type", arg[0]);
}

/* Looks in unnamed structures too. */
static struct btf_member *find(__u32 id, const char *name, struct btf_type **in)
{
	struct btf_type *t = type_at(id);

	for (int i = 0; i < btf_vlen(t); i++) {
		struct btf_member *m = &btf_members(t)[i], *inner;
		const char *here = btf__name_by_offset(btf, m->name_off);

		*in = t;
		if (!strcmp(here, name))
			return m;
		inner = *here || !btf_is_composite(type_at(m->type)) ? NULL : find(m->type, name, in);
		if (inner)
			return inner;
	}
	return NULL;
}

static struct btf_member *member_of(char **arg, struct btf_type **in)
{
	struct btf_member *m = find(named(arg[0], BTF_KIND_STRUCT), arg[1], in);

	if (!m)
		die("no such member", arg[1]);
	return m;
}

static void rename_member(char **arg)
{
	int name = btf__add_str(btf, arg[2]);
	struct btf_type *in;

	member_of(arg, &in)->name_off = (__u32)name;
}

static void make_pointer(char **arg)
{
	int pointer = btf__add_ptr(btf, 0);
	struct btf_type *in;

	member_of(arg, &in)->type = (__u32)pointer;
}

static void longer(char **arg)
{
	int type = btf__add_int(btf, "long long unsigned int", 8, 0);
	struct btf_type *in;

	member_of(arg, &in)->type = (__u32)type;
}

static void bits(char **arg)
{
	struct btf_type *in;
	struct btf_member *m;

	btf__add_str(btf, "writable from here on");
	m = member_of(arg, &in);
	in->info |= 1u << 31;
	m->offset |= 5u << 24;
}

/*
 * A tracepoint's prototype can be that of others too: it gets one of its own, of the first `n` parameters, and
 * the last one `more` times again.
 */
static void prototype(const char *tracepoint, int n, int more)
{
	char name[128];
	const struct btf_type *old;
	__u32 id, params[16];
	int pointer, have;

	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	id = named(name, BTF_KIND_TYPEDEF);
	old = type_at(type_at(type_at(id)->type)->type);
	have = btf_vlen(old);
	n = n < have ? n : have;
	for (int i = 0; i < have && i < 16; i++)
		params[i] = btf_params(old)[i].type;
	pointer = btf__add_ptr(btf, btf__type_cnt(btf) + 1);
	btf__add_func_proto(btf, 0);
	for (int i = 0; i < n && i < 16; i++)
		btf__add_func_param(btf, NULL, params[i]);
	for (int i = 0; i < more; i++)
		btf__add_func_param(btf, NULL, params[have - 1]);
	type_at(id)->type = (__u32)pointer;
}

static void add_argument(char **arg)
{
	prototype(arg[0], 16, 1);
}

static void fewer(char **arg)
{
	prototype(arg[0], 1, 0);
}

static struct btf_enum *enumerator(const char *name)
{
	for (__u32 id = 1; id < btf__type_cnt(btf); id++) {
		struct btf_type *t = type_at(id);

		for (int i = 0; btf_is_enum(t) && i < btf_vlen(t); i++)
			if (!strcmp(btf__name_by_offset(btf, btf_enum(t)[i].name_off), name))
				return &btf_enum(t)[i];
	}
	die("no such enumerator", name);
	return NULL;
}

static void value(char **arg)
{
	btf__add_str(btf, "writable from here on");
	enumerator(arg[0])->val = atoi(arg[1]);
}

static void drop_value(char **arg)
{
	int name = btf__add_str(btf, "NO_LONGER_THERE");

	struct btf_enum *e = enumerator(arg[0]);

	e->name_off = (__u32)name;
	e->val = -12345;
}

static const struct {
	const char *name;
	int args;
	void (*make)(char **arg);
} changes[] = {
	{ "drop", 1, drop }, { "member", 3, rename_member },
	{ "pointer", 2, make_pointer }, { "longer", 2, longer }, { "bits", 2, bits },
	{ "argument", 1, add_argument }, { "fewer", 1, fewer }, { "value", 2, value }, { "drop-value", 1, drop_value },
};

static int write_to(const char *path)
{
	__u32 size;
	const void *data = btf__raw_data(btf, &size);
	FILE *f = fopen(path, "we");

	if (!data || !f || fwrite(data, size, 1, f) != 1 || fclose(f))
		return die("cannot write", path);
	return 0;
}

int main(int argc, char **argv)
{
	btf = argc > 3 ? btf__parse(argv[1], NULL) : NULL;
	if (!btf)
		return die("usage: btfforge IN OUT CHANGE ARGUMENT...", argc > 1 ? argv[1] : "");
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		if (strcmp(changes[i].name, argv[3]) != 0 || argc != 4 + changes[i].args)
			continue;
		changes[i].make(argv + 4);
		write_to(argv[2]);
		btf__free(btf);
		return 0;
	}
	return die("no such change", argv[3]);
}
