// SPDX-License-Identifier: GPL-2.0-only
#include "kernel.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "image.h"
#include "util/mem.h"

#define BUCKETS 65536
#define MAX_DEPTH 32	/* of types in types; deeper is damaged BTF */

struct kernel_entry {
	size_t next;	/* 0: none */
	size_t btf;
	__u32 id;
};

/* A ___ with something else before and behind it. */
static bool is_suffix(const char *s)
{
	return s[0] != '_' && !strncmp(s + 1, "___", 3) && s[4] != '_';
}

size_t essential_len(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = n < 5 ? 0 : n - 4; i-- > 0;)
		if (is_suffix(name + i))
			return i + 1;
	return n;
}

static size_t bucket_of(const char *name, size_t len)
{
	__u32 h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)name[i]) * 16777619u;
	return h % BUCKETS;
}

static __u32 first_id(const struct kernel *k, size_t which)
{
	return which ? btf__type_cnt(k->btf[0]) : 1;
}

static const char *name_of(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	const char *name = t ? btf__name_by_offset(btf, t->name_off) : NULL;

	return name ? name : "";
}

/* From the last type to the first, so that chains are in their order. */
static void index_types(struct kernel *k, size_t which)
{
	for (__u32 id = btf__type_cnt(k->btf[which]); id-- > first_id(k, which);) {
		const char *name = name_of(k->btf[which], id);
		size_t bucket = bucket_of(name, essential_len(name));
		struct kernel_entry *e;

		if (!*name)
			continue;
		e = grow((void **)&k->entry, &k->n_entries, sizeof(*e));
		*e = (struct kernel_entry){ k->head[bucket], which, id };
		k->head[bucket] = k->n_entries - 1;
	}
}

static void index_all(struct kernel *k)
{
	k->head = xcalloc(BUCKETS, sizeof(*k->head));
	grow((void **)&k->entry, &k->n_entries, sizeof(*k->entry));
	for (size_t i = k->n; i-- > 0;)
		index_types(k, i);
}

static int add_file(struct kernel *k, const char *path)
{
	struct image img;
	struct btf **slot, *btf;
	const char *why;

	if (image_open(&img, path))
		return -1;
	btf = image_btf(&img, k->n ? k->btf[0] : NULL, &why);
	image_close(&img);
	if (!btf && !k->n) {
		fprintf(stderr, "btfcheck: %s: %s\n", path, why);
		return -1;
	}
	if (!btf) {
		k->bare++;
		return 0;
	}
	slot = grow((void **)&k->btf, &k->n, sizeof(*slot));
	*slot = btf;
	return 0;
}

static int is_module(const struct dirent *d)
{
	return d->d_name[0] != '.' && strcmp(d->d_name, "vmlinux") != 0;
}

static int add_directory(struct kernel *k, const char *path)
{
	char *file = xasprintf("%s/vmlinux", path);
	struct dirent **list = NULL;
	int err = add_file(k, file), n = err ? 0 : scandir(path, &list, is_module, alphasort);

	free(file);
	for (int i = 0; i < n; i++) {
		file = xasprintf("%s/%s", path, list[i]->d_name);
		err = err ? err : add_file(k, file);
		free(file);
		free(list[i]);
	}
	free(list);
	return err;
}

int kernel_open(struct kernel *k, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct stat st;
	int err;

	*k = (struct kernel){ .label = slash && slash[1] ? slash + 1 : path };
	err = !stat(path, &st) && S_ISDIR(st.st_mode) ? add_directory(k, path) : add_file(k, path);
	if (err)
		kernel_close(k);
	else
		index_all(k);
	return err;
}

void kernel_close(struct kernel *k)
{
	for (size_t i = k->n; i-- > 0;)
		btf__free(k->btf[i]);
	free(k->btf);
	free(k->entry);
	free(k->head);
	*k = (struct kernel){ 0 };
}

/* ---- types ---- */

size_t kernel_named(const struct kernel *k, const char *name, unsigned int kinds, struct ktype *out, size_t max)
{
	size_t len = essential_len(name), n = 0;

	for (size_t i = k->head[bucket_of(name, len)]; i && n < max; i = k->entry[i].next) {
		const struct kernel_entry *e = &k->entry[i];
		const char *here = name_of(k->btf[e->btf], e->id);

		if (e->btf && n && !out[0].module)
			break;
		if (!(kinds >> btf_kind(btf__type_by_id(k->btf[e->btf], e->id)) & 1))
			continue;
		if (essential_len(here) == len && !strncmp(here, name, len))
			out[n++] = (struct ktype){ k->btf[e->btf], e->id, e->btf != 0 };
	}
	return n;
}

const struct btf_type *type_skip(const struct btf *btf, __u32 id, __u32 *out_id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	for (int depth = 0; t && (btf_is_mod(t) || btf_is_typedef(t)); depth++) {
		if (depth == MAX_DEPTH)
			return NULL;
		id = t->type;
		t = btf__type_by_id(btf, id);
	}
	if (out_id)
		*out_id = id;
	return t;
}

static void describe(struct buf *b, const struct btf *btf, __u32 id, int depth)
{
	const struct btf_type *t = depth < MAX_DEPTH ? type_skip(btf, id, &id) : NULL;
	const char *name = t ? name_of(btf, id) : "";

	if (!t)
		buf_str(b, "damaged");
	else if (!id)
		buf_str(b, "void");
	else if (btf_is_ptr(t)) {
		size_t before = b->len;

		describe(b, btf, t->type, depth + 1);
		buf_str(b, b->len > before && b->data[b->len - 1] == '*' ? "*" : " *");
	} else if (btf_is_array(t)) {
		describe(b, btf, btf_array(t)->type, depth + 1);
		buf_printf(b, "[%u]", btf_array(t)->nelems);
	} else if (btf_is_func_proto(t))
		buf_str(b, "function");
	else if (btf_is_struct(t) || (btf_is_fwd(t) && !btf_kflag(t)))
		buf_printf(b, "struct %s", *name ? name : "{}");
	else if (btf_is_union(t) || btf_is_fwd(t))
		buf_printf(b, "union %s", *name ? name : "{}");
	else if (btf_is_any_enum(t))
		buf_printf(b, "enum %s", *name ? name : "{}");
	else
		buf_str(b, name);
}

void type_describe(struct buf *b, const struct btf *btf, __u32 id)
{
	describe(b, btf, id, 0);
}

/* ---- prototypes ---- */

static int prototype(struct buf *b, const struct btf *btf, __u32 id, int first)
{
	const struct btf_type *t = type_skip(btf, id, NULL);

	if (!t || !btf_is_func_proto(t))
		return -1;
	buf_char(b, '(');
	for (int i = first; i < btf_vlen(t); i++) {
		if (i > first)
			buf_str(b, ", ");
		if (!btf_params(t)[i].type)
			buf_str(b, "...");
		else
			type_describe(b, btf, btf_params(t)[i].type);
	}
	buf_char(b, ')');
	return btf_vlen(t) > first ? btf_vlen(t) - first : 0;
}

int kernel_tracepoint(const struct kernel *k, const char *name, struct buf *form, bool *module)
{
	char *type = xasprintf("btf_trace_%s", name);
	const struct btf_type *t = NULL;
	struct ktype found;
	size_t n = kernel_named(k, type, 1u << BTF_KIND_TYPEDEF, &found, 1);

	free(type);
	if (n)
		t = type_skip(found.btf, found.id, NULL);
	if (!t || !btf_is_ptr(t))
		return -1;
	*module = found.module;
	/* the first parameter is the tracepoint's own data */
	return prototype(form, found.btf, t->type, 1);
}

int kernel_function(const struct kernel *k, const char *name, struct buf *form)
{
	const struct btf_type *func, *proto;
	struct ktype found;

	if (!kernel_named(k, name, 1u << BTF_KIND_FUNC, &found, 1))
		return -1;
	func = btf__type_by_id(found.btf, found.id);
	proto = type_skip(found.btf, func->type, NULL);
	if (!proto)
		return -1;
	type_describe(form, found.btf, proto->type);
	buf_char(form, ' ');
	return prototype(form, found.btf, func->type, 0);
}

/* ---- enumerators ---- */

typedef bool (*enumerator_fn)(const char *name, long long value, void *arg);

static bool each_enumerator(const struct btf *btf, const struct btf_type *t, enumerator_fn fn, void *arg)
{
	bool wide = btf_kind(t) == BTF_KIND_ENUM64;

	for (int i = 0; i < btf_vlen(t); i++) {
		__u32 off = wide ? btf_enum64(t)[i].name_off : btf_enum(t)[i].name_off;
		long long v = wide ? (long long)btf_enum64_value(&btf_enum64(t)[i]) : btf_enum(t)[i].val;
		const char *name = btf__name_by_offset(btf, off);

		if (name && fn(name, v, arg))
			return true;
	}
	return false;
}

struct wanted {
	const char *name;
	long long value;
};

static bool is_name(const char *name, long long value, void *arg)
{
	struct wanted *w = arg;
	size_t len = essential_len(w->name);

	if (essential_len(name) != len || strncmp(name, w->name, len) != 0)
		return false;
	w->value = value;
	return true;
}

static bool is_value(const char *name, long long value, void *arg)
{
	(void)name;
	return value == ((struct wanted *)arg)->value;
}

#define ENUMS (1u << BTF_KIND_ENUM | 1u << BTF_KIND_ENUM64)
#define MAX_ENUMS 16	/* of one name */

static bool in_enum(const struct kernel *k, const char *in, enumerator_fn fn, struct wanted *w)
{
	struct ktype found[MAX_ENUMS];
	size_t n = kernel_named(k, in, ENUMS, found, MAX_ENUMS);

	for (size_t i = 0; i < n; i++)
		if (each_enumerator(found[i].btf, btf__type_by_id(found[i].btf, found[i].id), fn, w))
			return true;
	return false;
}

bool kernel_enumerator(const struct kernel *k, const char *in, const char *name, long long *value)
{
	struct wanted w = { .name = name };
	bool found = in && in_enum(k, in, is_name, &w);

	for (__u32 id = 1; !in && !found && id < btf__type_cnt(k->btf[0]); id++) {
		const struct btf_type *t = btf__type_by_id(k->btf[0], id);

		found = btf_is_any_enum(t) && each_enumerator(k->btf[0], t, is_name, &w);
	}
	*value = w.value;
	return found;
}

bool kernel_enum_has(const struct kernel *k, const char *in, long long value)
{
	struct wanted w = { .value = value };

	return in_enum(k, in, is_value, &w);
}
