// SPDX-License-Identifier: GPL-2.0-only
#include "check.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "util/mem.h"
#include "probe/kernel_constants.h"
#include "probe/probe_plan.h"
#include "probe/probe_table.h"
#include "reach.h"
#include "relo.h"

/* What an instruction uses. */
struct site {
	size_t fact;	/* its number + 1, 0: nothing */
	char *lack;	/* why the instruction can't be run; NULL: it can; owned */
};

struct work {
	struct check *c;
	const struct object *o;
	const struct kernel *k;
	signed char **answer;	/* per section of code, per instruction */
	bool **reached;
	struct bt_config config;	/* as user space would fill it for this kernel */
	bool decided[sizeof(struct bt_config)];
	unsigned int *arguments;	/* per function: that it takes */
	struct site **site;	/* per section of code, per instruction */
};

/* ---- facts ---- */

/* Names come from files: nothing of them may reach a terminal as a control. */
static char *printable(const char *s)
{
	char *copy = xstrdup(s);

	for (char *p = copy; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127 || *p == '|')
			*p = '?';
	return copy;
}

static bool is_bad(const char *form)
{
	return !strcmp(form, "missing") || strchr(form, ' ') != NULL;
}

/* One use can be seen by several types of the program's own; the one that fits tells most. Returns its number. */
static size_t add_fact(struct check *c, const char *use, const char *form, bool fits)
{
	struct fact *f;

	for (size_t i = 0; i < c->n_facts; i++) {
		if (strcmp(c->fact[i].use, use) != 0)
			continue;
		if (fits && is_bad(c->fact[i].form)) {
			free(c->fact[i].form);
			c->fact[i].form = printable(form);
		}
		return i;
	}
	f = grow((void **)&c->fact, &c->n_facts, sizeof(*f));
	f->use = printable(use);
	f->form = printable(form);
	return c->n_facts - 1;
}

static int by_use(const void *a, const void *b)
{
	return strcmp(((const struct fact *)a)->use, ((const struct fact *)b)->use);
}

const char *check_form(const struct check *c, const char *use)
{
	for (size_t i = 0; i < c->n_facts; i++)
		if (!strcmp(c->fact[i].use, use))
			return c->fact[i].form;
	return NULL;
}

/* Nothing twice; `between` is "; " or ", ". */
static void add_word(struct buf *b, const char *s, const char *between)
{
	const char *at = b->len ? strstr(b->data, s) : NULL;
	size_t n = strlen(s);

	for (; at; at = strstr(at + 1, s))
		if ((at == b->data || at[-1] == ' ') && (!at[n] || at[n] == *between))
			return;
	if (b->len)
		buf_str(b, between);
	buf_str(b, s);
}

static void add_once(struct buf *b, const char *s)
{
	add_word(b, s, "; ");
}

static void add_user(struct work *w, size_t fact, const struct program *p)
{
	add_word(&w->c->fact[fact].users, p->probe ? p->probe : p->function->name, ", ");
}

/* ---- instructions ---- */

static const char *helper_name(int id)
{
#define NAME_OF(x, ...) [BPF_FUNC_##x] = "bpf_" #x,
#define NAME_ONLY(x) [BPF_FUNC_##x] = "bpf_" #x
	static const char *const names[] = { __BPF_FUNC_MAPPER(NAME_ONLY) };

	return id > 0 && (size_t)id < sizeof(names) / sizeof(names[0]) && names[id] ? names[id] : NULL;
}

static void miss(struct work *w, size_t code, size_t insn, const char *use, const char *form)
{
	char *text = !strcmp(form, "missing") ? xasprintf("%s is missing", use) : xasprintf("%s is %s", use, form);

	free(w->site[code][insn].lack);
	w->site[code][insn].lack = printable(text);
	free(text);
}

static int look_at_relo(struct work *w, size_t code, size_t insn)
{
	const struct code *c = &w->o->code[code];
	struct answer a;

	if (relo_answer(w->o, c->relo[insn], &c->insn[insn], w->k, &a)) {
		fprintf(stderr, "btfcheck: %s: damaged: a relocation of %s, instruction %zu\n", w->o->img.path, c->name, insn);
		return -1;
	}
	w->site[code][insn].fact = add_fact(w->c, a.use, a.form, a.fits) + 1;
	if (a.asks)
		w->answer[code][insn] = a.fits;
	if (!a.asks && !a.fits)
		miss(w, code, insn, a.use, a.form);
	answer_free(&a);
	return 0;
}

static void look_at_helper(struct work *w, size_t code, size_t insn, int id)
{
	const char *name = helper_name(id);
	char *use = name ? xasprintf("helper %s", name) : xasprintf("helper %d", id);
	bool there = kernel_enum_has(w->k, "bpf_func_id", id);

	w->site[code][insn].fact = add_fact(w->c, use, there ? "there" : "missing", there) + 1;
	if (!there)
		miss(w, code, insn, use, "missing");
	free(use);
}

/* weak: the program does without it, too. */
static void look_at_kfunc(struct work *w, size_t code, size_t insn, const char *name, bool weak)
{
	char *use = xasprintf("function %s", name);
	struct buf form = { 0 };
	bool there = kernel_function(w->k, name, &form) >= 0;

	w->site[code][insn].fact = add_fact(w->c, use, there ? form.data : "missing", there) + 1;
	if (!there && !weak)
		miss(w, code, insn, use, "missing");
	buf_free(&form);
	free(use);
}

static int look_at_code(struct work *w, size_t code)
{
	const struct code *c = &w->o->code[code];

	for (size_t i = 0; i < c->n; i++) {
		w->answer[code][i] = UNKNOWN_ANSWER;
		if (c->relo[i] && look_at_relo(w, code, i))
			return -1;
		if (c->kfunc[i])
			look_at_kfunc(w, code, i, c->kfunc[i], c->weak[i]);
		else if (c->insn[i].code == (BPF_JMP | BPF_CALL) && c->insn[i].imm == CONFIG_CAST)
			look_at_kfunc(w, code, i, CONFIG_CAST_FUNCTION, true);
		else if (c->insn[i].code == (BPF_JMP | BPF_CALL) && !c->insn[i].src_reg)
			look_at_helper(w, code, i, c->insn[i].imm);
		i += c->insn[i].code == (BPF_LD | BPF_DW | BPF_IMM);
	}
	return 0;
}

/* ---- programs ---- */

static void take_instructions(struct work *w, struct program *p, const struct function *f)
{
	for (size_t i = f->start; i < f->start + f->n; i++) {
		const struct site *site = &w->site[f->code][i];

		if (site->fact)
			add_user(w, site->fact - 1, p);
		if (site->lack)
			add_once(w->reached[f->code][i] ? &p->lacks : &p->without, site->lack);
	}
}

/* A function and what it calls; `taken` says which are done. */
static void take_function(struct work *w, struct program *p, size_t number, bool *taken)
{
	const struct function *f = &w->o->function[number];
	const struct code *c = &w->o->code[f->code];

	if (taken[number])
		return;
	taken[number] = true;
	take_instructions(w, p, f);
	for (size_t i = f->start; i < f->start + f->n; i++) {
		int to = c->calls[i];

		if (to != NOT_CALLED && (w->reached[f->code][i] || w->o->function[to].global))
			take_function(w, p, (size_t)to, taken);
	}
}

/* Takes a program's target into the facts; `have`: its arguments, -1: it is missing. */
static void add_named(struct work *w, struct program *p, const char *use, const struct buf *form, int have)
{
	char *text = NULL;

	add_user(w, add_fact(w->c, use, have < 0 ? "missing" : form->data, have >= 0), p);
	if (have < 0)
		text = xasprintf("%s is missing", use);
	else if (p->arguments > (unsigned int)have)
		text = xasprintf("%s has %d argument%s, the program takes %u", use, have, have == 1 ? "" : "s", p->arguments);
	if (text)
		add_once(&p->lacks, text);
	free(text);
}

static void add_tracepoint(struct work *w, struct program *p, const char *name)
{
	char *use = xasprintf("tracepoint %s", name), *text;
	struct buf form = { 0 };
	bool module = false;

	add_named(w, p, use, &form, kernel_tracepoint(w->k, name, &form, &module));
	if (module) {
		text = xasprintf("%s is a module's: there while that is loaded", use);
		add_once(&p->notes, text);
		free(text);
	}
	free(use);
	buf_free(&form);
}

/* The results of kprobes are registers: what they take of those is checked as fields. */
static void add_function(struct work *w, struct program *p, const char *name)
{
	char *use = xasprintf("function %.*s", (int)strcspn(name, "+"), name);
	struct buf form = { 0 };
	int have = kernel_function(w->k, use + strlen("function "), &form);
	bool result = !strncmp(p->kind, "fexit", 5) || !strcmp(p->kind, "fmod_ret");

	if (strstr(p->kind, "probe"))
		p->arguments = 0;
	add_named(w, p, use, &form, have < 0 ? have : have + result);
	free(use);
	buf_free(&form);
}

/* "category/name": what it hands over stands in fields, which are checked as such */
static void add_event(struct work *w, struct program *p, const char *name)
{
	const char *slash = strchr(name, '/');

	p->arguments = 0;
	if (slash && strncmp(name, "syscalls/", 9) != 0)
		add_tracepoint(w, p, slash + 1);
	else
		add_once(&p->notes, "its event stands in no BTF");
}

typedef void (*target_fn)(struct work *w, struct program *p, const char *name);

static const struct {
	const char *kind;
	target_fn add;
} targets[] = {
	{ "tp_btf", add_tracepoint },
	{ "raw_tp", add_tracepoint }, { "raw_tracepoint", add_tracepoint },
	{ "raw_tp.w", add_tracepoint },
	{ "tp", add_event }, { "tracepoint", add_event },
	{ "fentry", add_function }, { "fexit", add_function }, { "fmod_ret", add_function },
	{ "fentry.s", add_function }, { "fexit.s", add_function },
	{ "kprobe", add_function }, { "kretprobe", add_function },
};

static void add_target(struct work *w, struct program *p, const char *section)
{
	const char *slash = strchr(section, '/');
	size_t len = strcspn(section, "/");

	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		if (strlen(targets[i].kind) != len || strncmp(targets[i].kind, section, len) != 0)
			continue;
		p->kind = targets[i].kind;
		if (slash && slash[1])
			targets[i].add(w, p, slash + 1);
	}
}

static void find_probe(struct program *p)
{
	for (int i = 0; i < PROBE_COUNT; i++)
		for (int r = 0; r < RUNG_COUNT; r++)
			if (probe_table[i].program[r] && !strcmp(probe_table[i].program[r], p->function->name)) {
				p->probe = probe_table[i].name;
				p->rung = rung_names[r];
			}
}

static void check_program(struct work *w, size_t number)
{
	const struct function *f = &w->o->function[number];
	bool *taken = xcalloc(w->o->n_functions, sizeof(*taken));
	struct program *p = grow((void **)&w->c->program, &w->c->n_programs, sizeof(*p));
	const char *section = w->o->code[f->code].name;

	p->function = f;
	p->kind = "";
	p->arguments = w->arguments[number];
	find_probe(p);
	add_target(w, p, *section == '?' ? section + 1 : section);
	take_function(w, p, number, taken);
	free(taken);
}

/* ---- what user space asks of BTF ---- */

static void check_constants(struct work *w)
{
	const char *name;

	for (size_t i = 0; (name = constants_enumerator(i)); i++) {
		char *use = xasprintf("enumerator %s", name), *form;
		long long value;
		bool there = kernel_enumerator(w->k, NULL, name, &value);

		form = there ? xasprintf("%lld", value) : xstrdup("missing");
		add_fact(w->c, use, form, there);
		free(use);
		free(form);
	}
}

static void check_guard(struct work *w)
{
	struct ktype found;
	bool there = kernel_named(w->k, PLAN_PREEMPTIBLE, 1u << BTF_KIND_TYPEDEF, &found, 1) > 0;

	add_fact(w->c, "type " PLAN_PREEMPTIBLE, there ? "there" : "missing", there);
}

static void check_maps(struct work *w)
{
	for (size_t i = 0; i < w->o->n_map_types; i++) {
		const char *name = libbpf_bpf_map_type_str((enum bpf_map_type)w->o->map_type[i]);
		char *use = name ? xasprintf("map %s", name) : xasprintf("map type %u", w->o->map_type[i]);
		bool there = kernel_enum_has(w->k, "bpf_map_type", w->o->map_type[i]);

		add_fact(w->c, use, there ? "there" : "missing", there);
		for (size_t p = 0; p < w->c->n_programs && !there; p++) {
			buf_str(&w->c->program[p].lacks, w->c->program[p].lacks.len ? "; " : "");
			buf_printf(&w->c->program[p].lacks, "%s is missing", use);
		}
		free(use);
	}
}

/* Which rungs of a probe this kernel would take. */
static void check_probes(struct check *c)
{
	for (int i = 0; i < PROBE_COUNT; i++) {
		char *use = xasprintf("probe %s", probe_table[i].name);
		struct buf form = { 0 };
		bool any = false;

		for (size_t p = 0; p < c->n_programs; p++) {
			const struct program *pr = &c->program[p];

			if (!pr->probe || strcmp(pr->probe, probe_table[i].name) != 0)
				continue;
			any = true;
			if (!pr->lacks.len)
				buf_printf(&form, "%s%s", form.len ? " " : "", pr->rung);
		}
		if (any)
			add_fact(c, use, form.len ? form.data : "missing", form.len != 0);
		buf_free(&form);
		free(use);
	}
}

/* ---- all of it ---- */

/* What comes out alike whatever stood there before is what BTF decides. */
static void decide_config(struct work *w)
{
	struct bt_config other;

	memset(&w->config, 0, sizeof(w->config));
	memset(&other, 0xff, sizeof(other));
	constants_from_btf(w->k->btf[0], &w->config);
	constants_from_btf(w->k->btf[0], &other);
	for (size_t i = 0; i < sizeof(other); i++)
		w->decided[i] = ((unsigned char *)&w->config)[i] == ((unsigned char *)&other)[i];
}

static void reach_function(struct work *w, size_t number)
{
	const struct function *f = &w->o->function[number];
	struct constants k = {
		.answer = w->answer[f->code],
		.config = (unsigned char *)&w->config,
		.decided = w->decided,
		/* programs of another build have other settings */
		.config_size = w->o->config_size == sizeof(w->config) ? sizeof(w->config) : 0,
	};

	w->arguments[number] = reach(&w->o->code[f->code], f, &k, w->reached[f->code]);
}

static void work_start(struct work *w)
{
	w->answer = xcalloc(w->o->n_code, sizeof(*w->answer));
	w->reached = xcalloc(w->o->n_code, sizeof(*w->reached));
	w->arguments = xcalloc(w->o->n_functions, sizeof(*w->arguments));
	w->site = xcalloc(w->o->n_code, sizeof(*w->site));
	for (size_t i = 0; i < w->o->n_code; i++) {
		w->answer[i] = xcalloc(w->o->code[i].n, sizeof(**w->answer));
		w->reached[i] = xcalloc(w->o->code[i].n, sizeof(**w->reached));
		w->site[i] = xcalloc(w->o->code[i].n, sizeof(**w->site));
	}
}

static void work_end(struct work *w)
{
	for (size_t i = 0; i < w->o->n_code; i++) {
		for (size_t n = 0; n < w->o->code[i].n; n++)
			free(w->site[i][n].lack);
		free(w->answer[i]);
		free(w->reached[i]);
		free(w->site[i]);
	}
	free(w->arguments);
	free(w->answer);
	free(w->reached);
	free(w->site);
}

int check_kernel(struct check *c, const struct object *o, const struct kernel *k)
{
	struct work w = { .c = c, .o = o, .k = k };
	int err = 0;

	*c = (struct check){ 0 };
	work_start(&w);
	for (size_t i = 0; i < o->n_code && !err; i++)
		err = look_at_code(&w, i);
	decide_config(&w);
	for (size_t i = 0; i < o->n_functions && !err; i++)
		reach_function(&w, i);
	for (size_t i = 0; i < o->n_functions && !err; i++)
		if (o->function[i].program)
			check_program(&w, i);
	if (!err) {
		check_constants(&w);
		check_guard(&w);
		check_maps(&w);
		check_probes(c);
		qsort(c->fact, c->n_facts, sizeof(*c->fact), by_use);
	}
	work_end(&w);
	if (err)
		check_free(c);
	return err;
}

void check_free(struct check *c)
{
	for (size_t i = 0; i < c->n_facts; i++) {
		free(c->fact[i].use);
		free(c->fact[i].form);
		buf_free(&c->fact[i].users);
	}
	for (size_t i = 0; i < c->n_programs; i++) {
		buf_free(&c->program[i].lacks);
		buf_free(&c->program[i].without);
		buf_free(&c->program[i].notes);
	}
	free(c->fact);
	free(c->program);
	*c = (struct check){ 0 };
}
