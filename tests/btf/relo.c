// SPDX-License-Identifier: GPL-2.0-only
#include "relo.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#define MAX_STEPS 64
#define MAX_DEPTH 32
#define MAX_CANDIDATES 64

/* From a type to a member of it, or an element of an array. */
struct step {
	const char *name;	/* NULL: an element */
	__u32 index;
	__u32 type;		/* of what is reached */
};

/* The way to a field, as the program's own types have it. */
struct way {
	__u32 root;
	struct step step[MAX_STEPS];
	size_t n;
	__u32 type;		/* of the field */
};

/* Where it ends in the kernel's types. */
struct place {
	const struct btf *btf;
	__u32 type;
	unsigned long long bit;
	unsigned int bitfield;	/* its width, 0: none */
	bool misfit;		/* it is there, but of another kind */
};

static bool asks(const struct bpf_core_relo *r)
{
	return r->kind == BPF_CORE_FIELD_EXISTS || r->kind == BPF_CORE_TYPE_EXISTS || r->kind == BPF_CORE_ENUMVAL_EXISTS ||
	       r->kind == BPF_CORE_TYPE_MATCHES;
}

static bool of_field(const struct bpf_core_relo *r)
{
	return r->kind <= BPF_CORE_FIELD_RSHIFT_U64;
}

static bool of_enumerator(const struct bpf_core_relo *r)
{
	return r->kind == BPF_CORE_ENUMVAL_EXISTS || r->kind == BPF_CORE_ENUMVAL_VALUE;
}

/* ---- the way, in the program's types ---- */

static bool add_member(struct way *w, const struct btf *btf, const struct btf_type *t, unsigned long index)
{
	const char *name;

	if (index >= btf_vlen(t))
		return false;
	w->type = btf_members(t)[index].type;
	name = btf__name_by_offset(btf, btf_members(t)[index].name_off);
	if (name && *name)	/* unnamed structures stand elsewhere in other kernels */
		w->step[w->n++] = (struct step){ name, 0, w->type };
	return true;
}

static bool add_step(struct way *w, const struct btf *btf, unsigned long index)
{
	const struct btf_type *t = type_skip(btf, w->type, NULL);

	if (!t || w->n == MAX_STEPS)
		return false;
	if (btf_is_composite(t))
		return add_member(w, btf, t, index);
	if (!btf_is_array(t))
		return false;
	w->type = btf_array(t)->type;
	w->step[w->n++] = (struct step){ NULL, (__u32)index, w->type };
	return true;
}

/* "0:1:2": an index of the pointer, then members and elements */
static bool parse_way(struct way *w, const struct btf *btf, const struct bpf_core_relo *r, const char *s)
{
	char *end;

	*w = (struct way){ .root = r->type_id };
	if (!type_skip(btf, r->type_id, &w->type))
		return false;
	for (bool first = true; *s; first = false) {
		unsigned long index = strtoul(s, &end, 10);

		if (end == s || (*end && *end != ':'))
			return false;
		if (!first && !add_step(w, btf, index))
			return false;
		s = *end ? end + 1 : end;
	}
	return true;
}

/* ---- the same way, in the kernel's ---- */

static const char *essential_name(const struct btf *btf, const struct btf_type *t)
{
	const char *name = btf__name_by_offset(btf, t->name_off);

	return name ? name : "";
}

static bool same_essential_name(const char *a, const char *b)
{
	size_t len = essential_len(a);

	return !*a || !*b || (len == essential_len(b) && !strncmp(a, b, len));
}

/* May the program read a field of its type `mine` where the kernel has `theirs`? */
static bool kinds_fit(const struct btf *mine, __u32 my_id, const struct btf *theirs, __u32 their_id, int depth)
{
	const struct btf_type *m = type_skip(mine, my_id, NULL), *t = type_skip(theirs, their_id, NULL);

	if (!m || !t || depth == MAX_DEPTH)
		return false;
	if (btf_is_composite(m) && btf_is_composite(t))
		return true;
	if (btf_is_any_enum(m) && btf_is_any_enum(t))
		return same_essential_name(essential_name(mine, m), essential_name(theirs, t));
	if (btf_kind(m) != btf_kind(t))
		return false;
	if (btf_is_fwd(m))
		return same_essential_name(essential_name(mine, m), essential_name(theirs, t));
	if (btf_is_int(m))
		return !btf_int_offset(m) && !btf_int_offset(t);
	if (btf_is_array(m))
		return kinds_fit(mine, btf_array(m)->type, theirs, btf_array(t)->type, depth + 1);
	return btf_is_ptr(m) || btf_is_float(m);
}

/* Looks for a member also in the unnamed structures of this one. */
static bool find_member(struct place *p, __u32 id, const char *name, int depth)
{
	const struct btf_type *t = type_skip(p->btf, id, NULL);

	if (!t || !btf_is_composite(t) || depth == MAX_DEPTH)
		return false;
	for (__u32 i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *here = btf__name_by_offset(p->btf, m->name_off);
		struct place inner = *p;

		inner.bit += btf_member_bit_offset(t, i);
		inner.type = m->type;
		inner.bitfield = btf_member_bitfield_size(t, i);
		if (!here || (*here && strcmp(here, name) != 0))
			continue;
		if (*here || find_member(&inner, m->type, name, depth + 1)) {
			*p = inner;
			return true;
		}
	}
	return false;
}

static bool find_element(struct place *p, __u32 index)
{
	const struct btf_type *t = type_skip(p->btf, p->type, NULL);
	long long size;

	if (!t || !btf_is_array(t) || (btf_array(t)->nelems && index >= btf_array(t)->nelems))
		return false;
	p->type = btf_array(t)->type;
	size = btf__resolve_size(p->btf, p->type);
	p->bit += size > 0 ? (unsigned long long)size * 8 * index : 0;
	return true;
}

static bool walk(const struct way *w, const struct btf *mine, const struct ktype *from, struct place *p)
{
	*p = (struct place){ .btf = from->btf, .type = from->id };
	for (size_t i = 0; i < w->n; i++) {
		const struct step *s = &w->step[i];

		if (!(s->name ? find_member(p, p->type, s->name, 0) : find_element(p, s->index)))
			return false;
		if (s->name && !kinds_fit(mine, s->type, p->btf, p->type, 0)) {
			p->misfit = true;
			return true;
		}
	}
	return true;
}

/* ---- one relocation ---- */

static void say_use(struct buf *b, const struct way *w, const char *root)
{
	buf_str(b, w->n ? "field " : "type ");
	buf_add(b, root, essential_len(root));
	for (size_t i = 0; i < w->n; i++) {
		if (w->step[i].name)
			buf_printf(b, ".%s", w->step[i].name);
		else
			buf_printf(b, "[%u]", w->step[i].index);
	}
	if (!*root)
		buf_printf(b, "(unnamed, type %u)", w->root);
}

static void say_place(struct buf *b, const struct place *p)
{
	type_describe(b, p->btf, p->type);
	if (p->bitfield)
		buf_printf(b, " : %u", p->bitfield);
}

static bool is_unsigned(const struct btf_type *t)
{
	return btf_is_int(t) && !(btf_int_encoding(t) & BTF_INT_SIGNED);
}

/* libbpf changes the width of a load only between pointers or between unsigned integers. */
static bool width_fits(const struct object *o, const struct bpf_core_relo *r, const struct bpf_insn *insn, __u32 mine,
		       const struct place *p)
{
	const struct btf_type *m = type_skip(o->btf, mine, NULL), *t = type_skip(p->btf, p->type, NULL);
	int class = BPF_CLASS(insn->code);

	if (r->kind != BPF_CORE_FIELD_BYTE_OFFSET || p->bitfield || !m || !t)
		return true;
	if (class != BPF_LDX && class != BPF_ST && class != BPF_STX)
		return true;
	if (btf__resolve_size(o->btf, mine) == btf__resolve_size(p->btf, p->type))
		return true;
	return (btf_is_ptr(m) && btf_is_ptr(t)) || (is_unsigned(m) && is_unsigned(t));
}

/* All types of that name have to agree where the field is. */
static bool find_place(const struct object *o, const struct way *w, const struct ktype *from, size_t n, struct place *p,
		       bool *several)
{
	struct place here, misfit = { 0 };
	bool found = false;

	*several = false;
	for (size_t i = 0; i < n; i++) {
		if (!walk(w, o->btf, &from[i], &here))
			continue;
		if (here.misfit) {
			misfit = here;
			continue;
		}
		*several |= found && here.bit != p->bit;
		if (!found)
			*p = here;
		found = true;
	}
	if (!found)
		*p = misfit;
	return found || misfit.btf;
}

static void answer_field(const struct object *o, const struct bpf_core_relo *r, const struct bpf_insn *insn,
			 const struct way *w, const struct ktype *from, size_t n, struct answer *a)
{
	struct buf form = { 0 };
	struct place p = { 0 };
	bool several;

	if (!find_place(o, w, from, n, &p, &several)) {
		a->form = xstrdup("missing");
		return;
	}
	say_place(&form, &p);
	if (several && !a->asks)
		buf_str(&form, " (there are several, of different places)");
	else if (p.misfit)
		buf_str(&form, " (of another kind than the program takes it for)");
	else if (!width_fits(o, r, insn, w->type, &p))
		buf_str(&form, " (of another width than the program reads)");
	else
		a->fits = true;
	a->form = form.data;
}

static int answer_enumerator(const struct object *o, const struct btf_type *t, const struct kernel *k,
			     const char *access, struct answer *a)
{
	const char *in = essential_name(o->btf, t), *name;
	unsigned long index = strtoul(access, NULL, 10);
	long long value;

	if (!btf_is_any_enum(t) || index >= btf_vlen(t))
		return -1;
	name = btf__name_by_offset(o->btf, btf_kind(t) == BTF_KIND_ENUM64 ? btf_enum64(t)[index].name_off
									   : btf_enum(t)[index].name_off);
	if (!name)
		return -1;
	a->use = xasprintf("enumerator %.*s.%.*s", (int)essential_len(in), in, (int)essential_len(name), name);
	a->fits = kernel_enumerator(k, in, name, &value);
	a->form = a->fits ? xasprintf("%lld", value) : xstrdup("missing");
	return 0;
}

static unsigned int kinds_of(const struct btf_type *t)
{
	return btf_is_any_enum(t) ? 1u << BTF_KIND_ENUM | 1u << BTF_KIND_ENUM64 : 1u << btf_kind(t);
}

int relo_answer(const struct object *o, const struct bpf_core_relo *r, const struct bpf_insn *insn,
		const struct kernel *k, struct answer *a)
{
	const char *access = btf__name_by_offset(o->btf, r->access_str_off);
	const struct btf_type *root = type_skip(o->btf, r->type_id, NULL);
	struct ktype from[MAX_CANDIDATES];
	struct buf use = { 0 };
	struct way w;
	size_t n;

	*a = (struct answer){ .asks = asks(r) };
	if (!access || !root)
		return -1;
	if (of_enumerator(r))
		return answer_enumerator(o, root, k, access, a);
	if (!parse_way(&w, o->btf, r, access))
		return -1;
	say_use(&use, &w, essential_name(o->btf, btf__type_by_id(o->btf, w.root)));
	a->use = use.data;
	if (r->kind == BPF_CORE_TYPE_ID_LOCAL) {
		a->fits = true;
		a->form = xstrdup("its own");
		return 0;
	}
	root = btf__type_by_id(o->btf, w.root);
	n = kernel_named(k, essential_name(o->btf, root), kinds_of(root), from, MAX_CANDIDATES);
	if (of_field(r)) {
		answer_field(o, r, insn, &w, from, n, a);
	} else {
		a->fits = n > 0;
		a->form = xstrdup(n ? "there" : "missing");
	}
	return 0;
}

void answer_free(struct answer *a)
{
	free(a->use);
	free(a->form);
	*a = (struct answer){ 0 };
}
