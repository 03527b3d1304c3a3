// SPDX-License-Identifier: GPL-2.0-only
#include "probe/btf_subset.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/buf.h"
#include "util/hash_map.h"
#include "util/mem.h"
#include "probe/module_btf.h"

/* Types as they were read. Those of a module go on where the kernel's end, with their numbers and with their strings. */
struct source {
	void *raw;
	size_t size;
	bool mapped; /* or else allocated */
	int object;
	const char *strings;
	uint32_t strings_base, strings_len;
	uint32_t first, n; /* numbers */
	uint32_t *at;	   /* where each one begins, from `types` on */
	uint32_t *kept;	   /* its number among those that are kept; 0: it isn't */
	const char *types;
	uint32_t types_len;
};

struct asked {
	char *name;
	bool found;
};

struct tried {
	char *name;
	int err;
};

struct kept {
	uint32_t source, id;
};

struct types {
	int fd; /* memory, in which libbpf finds them */
	char path[32];
	struct asked *asked;
	size_t n_asked;
	struct hash_map asked_by_name;
	bool begins[1 << 16]; /* so, with two letters, does a name that was asked for */
	struct source *source;
	size_t n_sources;
	struct tried *module;
	size_t n_modules;
	struct kept *kept;
	size_t n_kept;
	struct btf *btf;
};

static void source_free(struct source *s)
{
	if (s->mapped)
		munmap(s->raw, s->size);
	else
		free(s->raw);
	free(s->at);
	free(s->kept);
	s->raw = s->at = s->kept = NULL;
}

/* What was read is needed no more, nor what was asked; the objects stay open. */
static void drop_sources(struct types *t)
{
	for (size_t i = 0; i < t->n_sources; i++)
		source_free(&t->source[i]);
	for (size_t i = 0; i < t->n_asked; i++)
		free(t->asked[i].name);
	free(t->asked);
	hash_map_free(&t->asked_by_name);
	t->asked = NULL;
	t->n_asked = 0;
}

void types_free(struct types *t)
{
	if (!t)
		return;
	drop_sources(t);
	for (size_t i = 0; i < t->n_sources; i++)
		if (t->source[i].object)
			close(t->source[i].object);
	for (size_t i = 0; i < t->n_modules; i++)
		free(t->module[i].name);
	free_all(t->module, t->source, t->kept);
	btf__free(t->btf);
	close(t->fd);
	free(t);
}

const char *types_path(const struct types *t)
{
	return t->path;
}

const struct btf *types_btf(const struct types *t)
{
	return t->btf;
}

/* ---- what is asked for ---- */

/* "x___y" is a flavour of "x": what follows is no part of a name. */
static size_t name_len(const char *name)
{
	const char *flavour = strstr(name, "___");

	return flavour ? (size_t)(flavour - name) : strlen(name);
}

static uint16_t beginning(const char *name)
{
	return (uint16_t)((unsigned char)name[0] << 8 | (unsigned char)(name[0] ? name[1] : 0));
}

static struct asked *find_asked(const struct types *t, const char *name, size_t len)
{
	uint32_t hash = hash_bytes(name, len);

	HASH_MAP_EACH (&t->asked_by_name, hash, i)
		if (!strncmp(t->asked[i].name, name, len) && !t->asked[i].name[len])
			return &t->asked[i];
	return NULL;
}

struct types *types_new(void)
{
	int fd = memfd_create("types", MFD_CLOEXEC);
	struct types *t;

	if (fd < 0)
		return NULL;
	t = xcalloc(1, sizeof(*t));
	t->fd = fd;
	snprintf(t->path, sizeof(t->path), "/proc/self/fd/%d", fd);
	return t;
}

void types_ask(struct types *t, const char *name)
{
	size_t len = name_len(name);
	struct asked *a;

	if (!len || find_asked(t, name, len))
		return;
	hash_map_add(&t->asked_by_name, (uint32_t)t->n_asked, hash_bytes(name, len));
	a = grow((void **)&t->asked, &t->n_asked, sizeof(*a));
	a->name = xasprintf("%.*s", (int)len, name);
	t->begins[beginning(a->name)] = true;
}

/* ---- reading ---- */

static const struct btf_type *type_at(const struct source *s, uint32_t id)
{
	return (const struct btf_type *)(s->types + s->at[id - s->first]);
}

/* The one of the two that has the type: its own, or the kernel's, on which it stands. */
static struct source *owner(struct types *t, struct source *s, uint32_t id)
{
	return id < s->first ? &t->source[0] : s;
}

static const char *name_at(const struct types *t, const struct source *s, uint32_t off)
{
	if (off < s->strings_base)
		s = &t->source[0];
	return s->strings + (off - s->strings_base);
}

/* Bytes that follow a type's head. */
static int tail_size(const struct btf_type *t)
{
	int n = btf_vlen(t);

	switch (btf_kind(t)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG: return 4;
	case BTF_KIND_ARRAY: return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION: return n * (int)sizeof(struct btf_member);
	case BTF_KIND_ENUM: return n * (int)sizeof(struct btf_enum);
	case BTF_KIND_ENUM64: return n * (int)sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO: return n * (int)sizeof(struct btf_param);
	case BTF_KIND_DATASEC: return n * (int)sizeof(struct btf_var_secinfo);
	default: return btf_kind(t) <= BTF_KIND_ENUM64 ? 0 : -1;
	}
}

static uint32_t keep(struct types *t, struct source *s, uint32_t id)
{
	struct kept *k;

	if (!id)
		return 0;
	s = owner(t, s, id);
	if (s->kept[id - s->first])
		return s->kept[id - s->first];
	k = grow((void **)&t->kept, &t->n_kept, sizeof(*k));
	k->source = (uint32_t)(s - t->source);
	k->id = id;
	return s->kept[id - s->first] = (uint32_t)t->n_kept;
}

/* NULL: it is none that was asked for. */
static struct asked *asked_by_name(const struct types *t, const char *name)
{
	if (!t->begins[beginning(name)])
		return NULL;
	return find_asked(t, name, name_len(name));
}

/* Those that the kernel itself has are not looked for in its modules. */
static bool name_asked(const struct types *t, const struct source *s, uint32_t off)
{
	const struct asked *a = asked_by_name(t, name_at(t, s, off));

	return a && (!a->found || s == &t->source[0]);
}

static bool enumerator_asked(const struct types *t, const struct source *s, const struct btf_type *type)
{
	const struct btf_enum *e = btf_enum(type);

	for (int i = 0; i < btf_vlen(type); i++)
		if (name_asked(t, s, e[i].name_off))
			return true;
	return false;
}

static bool can_be_asked(const struct btf_type *type)
{
	return btf_is_composite(type) || btf_is_any_enum(type) || btf_is_typedef(type) || btf_is_func(type);
}

static void add_index(struct source *s, uint32_t at, size_t *room)
{
	if (s->n == *room) {
		*room = *room ? 2 * *room : 1 << 14;
		s->at = xrealloc(s->at, *room * sizeof(*s->at));
	}
	s->at[s->n++] = at;
}

/* Where each type begins. A kind that is not known here could not be skipped. */
static int index_types(struct source *s)
{
	size_t room = 0;

	for (uint32_t at = 0; at < s->types_len;) {
		const struct btf_type *type = (const struct btf_type *)(s->types + at);
		int tail = tail_size(type);

		if (tail < 0)
			return -EINVAL;
		add_index(s, at, &room);
		at += (uint32_t)sizeof(*type) + (uint32_t)tail;
	}
	s->kept = xcalloc(s->n, sizeof(*s->kept));
	return 0;
}

static void keep_asked(struct types *t, struct source *s)
{
	for (uint32_t id = s->first; id < s->first + s->n; id++) {
		const struct btf_type *type = type_at(s, id);

		if (can_be_asked(type) &&
		    (name_asked(t, s, type->name_off) || (btf_is_enum(type) && enumerator_asked(t, s, type))))
			keep(t, s, id);
	}
	/* not before: a name can come several times */
	for (size_t i = t->n_kept; i-- > 0;) {
		const struct source *from = &t->source[t->kept[i].source];
		struct asked *a = asked_by_name(t, name_at(t, from, type_at(from, t->kept[i].id)->name_off));

		if (a)
			a->found = true;
	}
}

/* The kernel's own types are well formed: nothing else is read. */
static int parse(struct source *s)
{
	const struct btf_header *h = s->raw;
	const char *body = (const char *)s->raw + (s->size >= sizeof(*h) ? h->hdr_len : 0);

	if (s->size < sizeof(*h) || h->magic != BTF_MAGIC)
		return -EINVAL;
	s->types = body + h->type_off;
	s->types_len = h->type_len;
	s->strings = body + h->str_off;
	s->strings_len = h->str_len;
	return index_types(s);
}

/* Takes over what *read has, also on failure. */
static int add_source(struct types *t, const struct source *read)
{
	struct source *s = grow((void **)&t->source, &t->n_sources, sizeof(*s));
	int err;

	*s = *read;
	s->first = 1;
	if (s != t->source) {
		s->first += t->source[0].n;
		s->strings_base = t->source[0].strings_len;
	}
	err = parse(s);
	if (!err)
		keep_asked(t, s);
	return err;
}

static int read_all(int fd, struct source *s)
{
	size_t got = 0;

	s->raw = xcalloc(1, s->size);
	while (got < s->size) {
		ssize_t n = read(fd, (char *)s->raw + got, s->size - got);

		if (n <= 0)
			return n ? -errno : -EINVAL;
		got += (size_t)n;
	}
	return 0;
}

/* Mapping it, which the kernel allows from 6.17 on, costs nothing; reading it costs a call for each 4 KiB. */
static int read_kernel(struct source *s)
{
	int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC), err = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		st.st_size = 0;
	s->size = (size_t)st.st_size;
	s->raw = mmap(NULL, s->size, PROT_READ, MAP_PRIVATE, fd, 0);
	s->mapped = s->raw != MAP_FAILED;
	if (!s->mapped)
		err = read_all(fd, s);
	close(fd);
	return err;
}

int types_read(struct types *t)
{
	struct source s = { .raw = NULL };
	int err = read_kernel(&s);

	if (!err)
		return add_source(t, &s);
	if (!s.mapped && s.raw != MAP_FAILED)
		free(s.raw);
	return err;
}

static int read_object(int fd, struct source *s)
{
	struct bpf_btf_info info = { 0 };
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	s->size = info.btf_size;
	s->raw = xcalloc(1, s->size);
	s->object = fd;
	info = (struct bpf_btf_info){ .btf = (uintptr_t)s->raw, .btf_size = (__u32)s->size };
	return bpf_obj_get_info_by_fd(fd, &info, &len) ? -errno : 0;
}

static int read_module(struct types *t, const char *name)
{
	struct source s = { .raw = NULL };
	int fd = module_types(name), err;

	if (fd < 0)
		return fd;
	err = read_object(fd, &s);
	if (!err)
		return add_source(t, &s);
	free(s.raw);
	close(fd);
	return err;
}

static const struct tried *tried(const struct types *t, const char *name)
{
	for (size_t i = 0; i < t->n_modules; i++)
		if (!strcmp(t->module[i].name, name))
			return &t->module[i];
	return NULL;
}

void types_read_module(struct types *t, const char *name)
{
	struct tried *m;

	if (tried(t, name))
		return;
	m = grow((void **)&t->module, &t->n_modules, sizeof(*m));
	m->name = xstrdup(name);
	m->err = read_module(t, name);
}

int types_module(const struct types *t, const char *name)
{
	const struct tried *m = tried(t, name);

	return m ? m->err : 0;
}

bool types_have(const struct types *t, const char *name, __u32 kind)
{
	for (size_t i = 0; i < t->n_kept; i++) {
		const struct source *s = &t->source[t->kept[i].source];
		const struct btf_type *type = type_at(s, t->kept[i].id);

		if (btf_kind(type) == kind && !strcmp(name_at(t, s, type->name_off), name))
			return true;
	}
	return false;
}

/* ---- writing ---- */

struct writer {
	struct types *t;
	struct source *s; /* whose type is being written */
	struct buf types, strings;
};

static uint32_t write_name(struct writer *w, uint32_t off)
{
	const char *name = name_at(w->t, w->s, off);
	uint32_t at = (uint32_t)w->strings.len;

	if (!*name)
		return 0;
	buf_add(&w->strings, name, strlen(name) + 1);
	return at;
}

static uint32_t write_ref(struct writer *w, uint32_t id)
{
	return keep(w->t, w->s, id);
}

/* Only what a tracepoint's arguments are is looked up behind a pointer. */
static uint32_t write_pointer(struct writer *w, uint32_t id)
{
	return id && btf_is_func_proto(type_at(owner(w->t, w->s, id), id)) ? write_ref(w, id) : 0;
}

static void write_members(struct writer *w, const struct btf_type *type)
{
	for (int i = 0; i < btf_vlen(type); i++) {
		struct btf_member m = btf_members(type)[i];

		m.name_off = write_name(w, m.name_off);
		m.type = write_ref(w, m.type);
		buf_add(&w->types, &m, sizeof(m));
	}
}

static void write_enumerators(struct writer *w, const struct btf_type *type)
{
	size_t size = btf_is_enum(type) ? sizeof(struct btf_enum) : sizeof(struct btf_enum64);

	for (int i = 0; i < btf_vlen(type); i++) {
		struct btf_enum64 e; /* both begin with the name */

		memcpy(&e, (const char *)(type + 1) + (size_t)i * size, size);
		e.name_off = write_name(w, e.name_off);
		buf_add(&w->types, &e, size);
	}
}

static void write_tail(struct writer *w, const struct btf_type *type)
{
	static const struct btf_param none;
	struct btf_array a;

	switch (btf_kind(type)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION: write_members(w, type); return;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64: write_enumerators(w, type); return;
	case BTF_KIND_ARRAY:
		a = *btf_array(type);
		a.type = write_ref(w, a.type);
		a.index_type = write_ref(w, a.index_type);
		buf_add(&w->types, &a, sizeof(a));
		return;
	case BTF_KIND_FUNC_PROTO: /* their number is all that counts */
		for (int i = 0; i < btf_vlen(type); i++)
			buf_add(&w->types, &none, sizeof(none));
		return;
	default: buf_add(&w->types, type + 1, (size_t)tail_size(type));
	}
}

static void write_type(struct writer *w, const struct btf_type *type)
{
	struct btf_type head = *type;

	head.name_off = write_name(w, type->name_off);
	switch (btf_kind(type)) {
	case BTF_KIND_PTR: head.type = write_pointer(w, type->type); break;
	case BTF_KIND_FUNC_PROTO: head.type = 0; break;
	case BTF_KIND_FUNC:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG: head.type = write_ref(w, type->type); break;
	}
	buf_add(&w->types, &head, sizeof(head));
	write_tail(w, type);
}

/* As it stands in a file. */
static void assemble(struct writer *w, struct buf *out)
{
	struct btf_header h = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(h),
		.type_len = (__u32)w->types.len,
		.str_off = (__u32)w->types.len,
		.str_len = (__u32)w->strings.len,
	};

	buf_add(out, &h, sizeof(h));
	buf_add(out, w->types.data, w->types.len);
	buf_add(out, w->strings.data, w->strings.len);
}

static int give(struct types *t, const struct buf *b)
{
	for (size_t done = 0; done < b->len;) {
		ssize_t n = pwrite(t->fd, b->data + done, b->len - done, (off_t)done);

		if (n <= 0)
			return n ? -errno : -EIO;
		done += (size_t)n;
	}
	t->btf = btf__new(b->data, (__u32)b->len);
	return t->btf ? 0 : -errno;
}

int types_fill(struct types *t)
{
	struct writer w = { .t = t };
	struct buf all = { 0 };
	int err;

	buf_char(&w.strings, '\0');
	/* grows meanwhile: what a type consists of is kept too */
	for (size_t i = 0; i < t->n_kept; i++) {
		w.s = &t->source[t->kept[i].source];
		write_type(&w, type_at(w.s, t->kept[i].id));
	}
	assemble(&w, &all);
	err = give(t, &all);
	buf_free(&all);
	buf_free(&w.types);
	buf_free(&w.strings);
	drop_sources(t);
	return err;
}

int types_target(const struct types *t, const char *name, __u32 kind, struct types_target *target)
{
	int id = btf__find_by_name_kind(t->btf, name, kind);
	const struct kept *k;

	if (id <= 0)
		return -ENOENT;
	k = &t->kept[id - 1];
	*target = (struct types_target){ (int)k->id, t->source[k->source].object };
	return 0;
}
