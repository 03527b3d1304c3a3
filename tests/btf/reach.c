// SPDX-License-Identifier: GPL-2.0-only
#include "reach.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#define REGISTERS 11
#define SLOTS 64	/* of 8 bytes: the stack */

enum kind {
	UNKNOWN,
	NUMBER,
	CONTEXT,	/* the pointer that the program was given */
	CONFIG,		/* a pointer into the settings: v is the offset */
};

struct value {
	enum kind kind;
	uint64_t v;	/* 0 if there is nothing to say */
};

/* What is known before an instruction, on all ways to it. */
struct state {
	bool seen;
	struct value reg[REGISTERS];
	struct value slot[SLOTS];	/* slot[i] is at fp - 8 * (i + 1) */
};

struct walk {
	const struct code *c;
	const struct function *f;
	const struct constants *k;
	struct state *at;	/* per instruction of the function */
	size_t *todo, n_todo;
	bool *queued;
	unsigned int arguments;
	int lowest;		/* stack below this offset is only the compiler's own */
};

/*
 * Whose address is taken can be written through a pointer, upwards from there. The compiler keeps its own copies of
 * registers below all that.
 */
static int lowest_address_taken(const struct code *c, const struct function *f)
{
	int lowest = 0;

	for (size_t i = f->start; i < f->start + f->n; i++) {
		const struct bpf_insn *mov = &c->insn[i], *add = mov;

		if (mov->code != (BPF_ALU64 | BPF_MOV | BPF_X) || mov->src_reg != BPF_REG_10)
			continue;
		while (++add < c->insn + f->start + f->n && add < mov + 8)
			if (add->code == (BPF_ALU64 | BPF_ADD | BPF_K) && add->dst_reg == mov->dst_reg)
				break;
		if (add == c->insn + f->start + f->n || add == mov + 8)
			return -8 * SLOTS;
		if (add->imm < lowest)
			lowest = add->imm;
	}
	return lowest;
}

static bool merge_value(struct value *to, const struct value *from)
{
	if (to->kind == UNKNOWN || (to->kind == from->kind && to->v == from->v))
		return false;
	*to = (struct value){ UNKNOWN, 0 };
	return true;
}

static bool merge(struct state *to, const struct state *from)
{
	bool changed = false;

	if (!to->seen) {
		*to = *from;
		to->seen = true;
		return true;
	}
	for (int i = 0; i < REGISTERS; i++)
		changed |= merge_value(&to->reg[i], &from->reg[i]);
	for (int i = 0; i < SLOTS; i++)
		changed |= merge_value(&to->slot[i], &from->slot[i]);
	return changed;
}

static void go(struct walk *w, size_t from, long by, const struct state *s)
{
	long to = (long)from + by;

	if (to < 0 || (size_t)to >= w->f->n || !merge(&w->at[to], s) || w->queued[to])
		return;
	w->queued[to] = true;
	w->todo[w->n_todo++] = (size_t)to;
}

static struct value operand(const struct state *s, const struct bpf_insn *i)
{
	if (BPF_SRC(i->code) == BPF_K)
		return (struct value){ NUMBER, (uint64_t)(int64_t)i->imm };
	return i->src_reg < REGISTERS ? s->reg[i->src_reg] : (struct value){ UNKNOWN, 0 };
}

static struct value constant(signed char answer)
{
	return answer == UNKNOWN_ANSWER ? (struct value){ UNKNOWN, 0 } : (struct value){ NUMBER, (uint64_t)answer };
}

/* ---- arithmetic ---- */

static struct value compute(int op, uint64_t a, uint64_t b, unsigned int bits)
{
	switch (op) {
	case BPF_ADD: return (struct value){ NUMBER, a + b };
	case BPF_SUB: return (struct value){ NUMBER, a - b };
	case BPF_AND: return (struct value){ NUMBER, a & b };
	case BPF_OR: return (struct value){ NUMBER, a | b };
	case BPF_XOR: return (struct value){ NUMBER, a ^ b };
	case BPF_MUL: return (struct value){ NUMBER, a * b };
	case BPF_LSH: return (struct value){ NUMBER, a << (b & (bits - 1)) };
	case BPF_RSH: return (struct value){ NUMBER, a >> (b & (bits - 1)) };
	default: return (struct value){ UNKNOWN, 0 };
	}
}

static struct value low_half(struct value v)
{
	return v.kind == NUMBER ? (struct value){ NUMBER, (uint32_t)v.v } : (struct value){ UNKNOWN, 0 };
}

static void do_alu(const struct bpf_insn *i, struct state *s, signed char answer)
{
	unsigned int bits = BPF_CLASS(i->code) == BPF_ALU ? 32 : 64;
	struct value dst = s->reg[i->dst_reg], by = operand(s, i), result = { UNKNOWN, 0 };

	if (answer != UNKNOWN_ANSWER)
		by = constant(answer);
	if (bits == 32) {
		dst = low_half(dst);
		by = low_half(by);
	}
	if (BPF_OP(i->code) == BPF_MOV && !i->off)
		result = by;
	else if (dst.kind == NUMBER && by.kind == NUMBER && !i->off)
		result = compute(BPF_OP(i->code), dst.v, by.v, bits);
	else if (dst.kind == CONFIG && by.kind == NUMBER && BPF_OP(i->code) == BPF_ADD)
		result = (struct value){ CONFIG, dst.v + by.v };
	s->reg[i->dst_reg] = bits == 32 ? low_half(result) : result;
}

/* ---- the stack ---- */

static struct value *slot_of(const struct walk *w, struct state *s, int off)
{
	if (off + 8 > w->lowest || off < -8 * SLOTS || off % 8)
		return NULL;
	return &s->slot[-off / 8 - 1];
}

/* A store of another width spoils what it touches. */
static void do_store(const struct walk *w, const struct bpf_insn *i, struct state *s)
{
	struct value *slot = slot_of(w, s, i->off), *around;

	if (BPF_CLASS(i->code) == BPF_STX && BPF_MODE(i->code) != BPF_MEM && i->src_reg < REGISTERS) {
		s->reg[i->src_reg] = (struct value){ UNKNOWN, 0 };	/* an atomic operation fetches */
		s->reg[BPF_REG_0] = (struct value){ UNKNOWN, 0 };
	}
	if (i->dst_reg != BPF_REG_10)
		return;
	around = slot_of(w, s, i->off - (i->off % 8 + 8) % 8);
	if (around)
		*around = (struct value){ UNKNOWN, 0 };
	if (!slot || BPF_SIZE(i->code) != BPF_DW || BPF_MODE(i->code) != BPF_MEM)
		return;
	if (BPF_CLASS(i->code) == BPF_ST)
		*slot = (struct value){ NUMBER, (uint64_t)(int64_t)i->imm };
	else if (i->src_reg < REGISTERS)
		*slot = s->reg[i->src_reg];
}

static size_t width_of(const struct bpf_insn *i)
{
	switch (BPF_SIZE(i->code)) {
	case BPF_B: return 1;
	case BPF_H: return 2;
	case BPF_W: return 4;
	default: return 8;
	}
}

static struct value config_at(const struct constants *k, uint64_t offset, size_t width)
{
	struct value v = { NUMBER, 0 };

	if (offset > k->config_size || k->config_size - offset < width)
		return (struct value){ UNKNOWN, 0 };
	for (size_t i = 0; i < width; i++) {
		if (!k->decided[offset + i])
			return (struct value){ UNKNOWN, 0 };
		v.v |= (uint64_t)k->config[offset + i] << 8 * i;
	}
	return v;
}

static void do_load(struct walk *w, const struct bpf_insn *i, struct state *s)
{
	struct value from = i->src_reg < REGISTERS ? s->reg[i->src_reg] : (struct value){ UNKNOWN, 0 };
	struct value *slot = slot_of(w, s, i->off), got = { UNKNOWN, 0 };

	if (from.kind == CONTEXT && i->off >= 0 && (unsigned int)i->off / 8 >= w->arguments)
		w->arguments = (unsigned int)i->off / 8 + 1;
	if (BPF_MODE(i->code) == BPF_MEM && from.kind == CONFIG)
		got = config_at(w->k, from.v + (uint64_t)(int64_t)i->off, width_of(i));
	else if (BPF_MODE(i->code) == BPF_MEM && slot && i->src_reg == BPF_REG_10 && width_of(i) == 8)
		got = *slot;
	s->reg[i->dst_reg] = got;
}

/* ---- jumps ---- */

static bool holds(int op, uint64_t a, uint64_t b, bool wide)
{
	int64_t sa = wide ? (int64_t)a : (int32_t)a, sb = wide ? (int64_t)b : (int32_t)b;

	if (!wide) {
		a = (uint32_t)a;
		b = (uint32_t)b;
	}
	switch (op) {
	case BPF_JEQ: return a == b;
	case BPF_JNE: return a != b;
	case BPF_JGT: return a > b;
	case BPF_JGE: return a >= b;
	case BPF_JLT: return a < b;
	case BPF_JLE: return a <= b;
	case BPF_JSGT: return sa > sb;
	case BPF_JSGE: return sa >= sb;
	case BPF_JSLT: return sa < sb;
	case BPF_JSLE: return sa <= sb;
	default: return (a & b) != 0;	/* BPF_JSET */
	}
}

static void do_call(struct state *s)
{
	for (int r = 0; r <= 5; r++)
		s->reg[r] = (struct value){ UNKNOWN, 0 };
}

static void do_jump(struct walk *w, size_t n, const struct bpf_insn *i, struct state *s)
{
	bool wide = BPF_CLASS(i->code) == BPF_JMP;
	struct value by = operand(s, i);
	int op = BPF_OP(i->code);

	if (op == BPF_EXIT)
		return;
	if (op == BPF_CALL) {
		do_call(s);
		go(w, n, 1, s);
	} else if (op == BPF_JA) {
		go(w, n, wide ? i->off + 1L : i->imm + 1L, s);
	} else if (s->reg[i->dst_reg].kind == NUMBER && by.kind == NUMBER) {
		go(w, n, holds(op, s->reg[i->dst_reg].v, by.v, wide) ? i->off + 1L : 1, s);
	} else {
		go(w, n, 1, s);
		go(w, n, i->off + 1L, s);
	}
}

static void do_instruction(struct walk *w, size_t n)
{
	const struct bpf_insn *i = &w->c->insn[w->f->start + n];
	struct state s = w->at[n];

	if (i->dst_reg >= REGISTERS)
		return;
	switch (BPF_CLASS(i->code)) {
	case BPF_JMP:
	case BPF_JMP32:
		do_jump(w, n, i, &s);
		return;
	case BPF_ALU:
	case BPF_ALU64:
		do_alu(i, &s, w->k->answer[w->f->start + n]);
		break;
	case BPF_LDX:
		do_load(w, i, &s);
		break;
	case BPF_ST:
	case BPF_STX:
		do_store(w, i, &s);
		break;
	default:
		s.reg[i->dst_reg] = constant(w->k->answer[w->f->start + n]);
		if (w->c->config[w->f->start + n] != NOT_CONFIG)
			s.reg[i->dst_reg] = (struct value){ CONFIG, (uint64_t)w->c->config[w->f->start + n] };
	}
	go(w, n, i->code == (BPF_LD | BPF_DW | BPF_IMM) ? 2 : 1, &s);
}

unsigned int reach(const struct code *c, const struct function *f, const struct constants *k, bool *reached)
{
	struct walk w = { .c = c, .f = f, .k = k, .lowest = lowest_address_taken(c, f) };
	struct state start = { .reg[BPF_REG_1].kind = f->program ? CONTEXT : UNKNOWN };

	w.at = xcalloc(f->n, sizeof(*w.at));
	w.todo = xcalloc(f->n, sizeof(*w.todo));
	w.queued = xcalloc(f->n, sizeof(*w.queued));
	go(&w, 0, 0, &start);
	while (w.n_todo) {
		size_t n = w.todo[--w.n_todo];

		w.queued[n] = false;
		reached[f->start + n] = true;
		do_instruction(&w, n);
	}
	free(w.at);
	free(w.todo);
	free(w.queued);
	return w.arguments;
}
