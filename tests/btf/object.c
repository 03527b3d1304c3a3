// SPDX-License-Identifier: GPL-2.0-only
#include "object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#ifndef EM_BPF
#define EM_BPF 247
#endif
#define R_BPF_64_64 1
#define R_BPF_64_32 10

static int bad(const struct object *o, const char *why)
{
	fprintf(stderr, "btfcheck: %s: %s\n", o->img.path, why);
	return -1;
}

/* ---- sections of code ---- */

static void add_code(struct object *o, Elf_Scn *scn, const char *name)
{
	Elf_Data *data = elf_rawdata(scn, NULL);
	struct code *c;

	if (!data || !data->d_buf || data->d_size < sizeof(struct bpf_insn))
		return;
	c = grow((void **)&o->code, &o->n_code, sizeof(*c));
	c->name = name;
	c->elf_index = elf_ndxscn(scn);
	c->n = data->d_size / sizeof(struct bpf_insn);
	c->insn = xcalloc(c->n, sizeof(*c->insn));
	memcpy(c->insn, data->d_buf, c->n * sizeof(*c->insn));
	c->calls = xcalloc(c->n, sizeof(*c->calls));
	c->kfunc = xcalloc(c->n, sizeof(*c->kfunc));
	c->weak = xcalloc(c->n, sizeof(*c->weak));
	c->relo = xcalloc(c->n, sizeof(*c->relo));
	c->config = xcalloc(c->n, sizeof(*c->config));
	for (size_t i = 0; i < c->n; i++) {
		c->calls[i] = NOT_CALLED;
		c->config[i] = NOT_CONFIG;
	}
}

static int read_code(struct object *o)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(o->img.elf, &names))
		return bad(o, "damaged: no names of sections");
	while ((scn = elf_nextscn(o->img.elf, scn))) {
		GElf_Shdr sh;
		const char *name = gelf_getshdr(scn, &sh) ? elf_strptr(o->img.elf, names, sh.sh_name) : NULL;

		if (name && sh.sh_type == SHT_PROGBITS && sh.sh_flags & SHF_EXECINSTR)
			add_code(o, scn, name);
	}
	return o->n_code ? 0 : bad(o, "no programs in it");
}

static struct code *code_at(const struct object *o, size_t elf_index)
{
	for (size_t i = 0; i < o->n_code; i++)
		if (o->code[i].elf_index == elf_index)
			return &o->code[i];
	return NULL;
}

/* ---- functions ---- */

static Elf_Scn *symbols(const struct object *o, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(o->img.elf, scn)))
		if (gelf_getshdr(scn, sh) && sh->sh_type == SHT_SYMTAB)
			return scn;
	return NULL;
}

static void add_function(struct object *o, const GElf_Sym *sym, const char *name)
{
	const struct code *c = code_at(o, sym->st_shndx);
	size_t start = sym->st_value / sizeof(struct bpf_insn), n = sym->st_size / sizeof(struct bpf_insn);
	struct function *f;

	if (!c || !name || start >= c->n || !n || n > c->n - start)
		return;
	f = grow((void **)&o->function, &o->n_functions, sizeof(*f));
	*f = (struct function){ .name = name, .code = (size_t)(c - o->code), .start = start, .n = n };
	f->program = strcmp(c->name, ".text") != 0;
	/* libbpf makes hidden ones static */
	f->global = GELF_ST_BIND(sym->st_info) == STB_GLOBAL && GELF_ST_VISIBILITY(sym->st_other) == STV_DEFAULT;
}

static int read_functions(struct object *o)
{
	GElf_Shdr sh = { 0 };
	Elf_Scn *scn = symbols(o, &sh);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	GElf_Sym sym;

	for (int i = 0; data && gelf_getsym(data, i, &sym); i++)
		if (GELF_ST_TYPE(sym.st_info) == STT_FUNC)
			add_function(o, &sym, elf_strptr(o->img.elf, sh.sh_link, sym.st_name));
	return o->n_functions ? 0 : bad(o, "damaged: no functions in its table of symbols");
}

static int function_at(const struct object *o, const struct code *c, size_t insn)
{
	for (size_t i = 0; i < o->n_functions; i++)
		if (&o->code[o->function[i].code] == c && o->function[i].start == insn)
			return (int)i;
	return NOT_CALLED;
}

/* ---- calls ---- */

static bool is_call(const struct bpf_insn *i, int how)
{
	return i->code == (BPF_JMP | BPF_CALL) && i->src_reg == how;
}

static bool is_pointer(const struct bpf_insn *i)
{
	return i->code == (BPF_LD | BPF_DW | BPF_IMM) && (i->src_reg == BPF_PSEUDO_FUNC || !i->src_reg);
}

/* One relocation of the ELF file. */
static void link_call(struct object *o, struct code *c, size_t at, const GElf_Sym *sym, const char *name)
{
	const struct bpf_insn *i = &c->insn[at];
	const struct code *target = code_at(o, sym->st_shndx);
	size_t start = sym->st_value / sizeof(*i);

	if (i->code == (BPF_JMP | BPF_CALL) && sym->st_shndx == SHN_UNDEF) {
		c->kfunc[at] = name;
		c->weak[at] = GELF_ST_BIND(sym->st_info) == STB_WEAK;
	} else if (target && is_call(i, BPF_PSEUDO_CALL)) {
		c->calls[at] = function_at(o, target, start + (size_t)(long)i->imm + 1);
	} else if (is_pointer(i) && name && !strcmp(name, "cfg")) {
		c->config[at] = i->imm;
		o->config_size = sym->st_size;
	} else if (target && is_pointer(i)) {
		c->calls[at] = function_at(o, target, start + (size_t)((long)i->imm / (long)sizeof(*i)));
	}
}

static void read_relocations(struct object *o, Elf_Scn *scn, const GElf_Shdr *sh)
{
	struct code *c = code_at(o, sh->sh_info);
	Elf_Data *rels = elf_getdata(scn, NULL), *syms;
	Elf_Scn *table = elf_getscn(o->img.elf, sh->sh_link);
	GElf_Shdr table_sh;
	GElf_Rel rel;
	GElf_Sym sym;

	syms = table ? elf_getdata(table, NULL) : NULL;
	if (!c || !rels || !syms || !gelf_getshdr(table, &table_sh))
		return;
	for (int i = 0; gelf_getrel(rels, i, &rel); i++) {
		size_t at = rel.r_offset / sizeof(struct bpf_insn);

		if (at < c->n && gelf_getsym(syms, (int)GELF_R_SYM(rel.r_info), &sym))
			link_call(o, c, at, &sym, elf_strptr(o->img.elf, table_sh.sh_link, sym.st_name));
	}
}

/* Calls within a section need no relocation. */
static void link_near_calls(struct object *o, struct code *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (is_call(&c->insn[i], BPF_PSEUDO_CALL) && c->calls[i] == NOT_CALLED)
			c->calls[i] = function_at(o, c, i + (size_t)(long)c->insn[i].imm + 1);
}

static void read_calls(struct object *o)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(o->img.elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_REL)
			read_relocations(o, scn, &sh);
	for (size_t i = 0; i < o->n_code; i++)
		link_near_calls(o, &o->code[i]);
}

/* ---- .BTF.ext: what instructions ask of the kernel's types ---- */

struct ext_header {
	__u16 magic;
	__u8 version, flags;
	__u32 hdr_len;
	__u32 func_off, func_len, line_off, line_len, relo_off, relo_len;
};

struct ext_section {
	__u32 name_off, n;
};

static struct code *code_named(const struct object *o, const char *name)
{
	for (size_t i = 0; name && i < o->n_code; i++)
		if (!strcmp(o->code[i].name, name))
			return &o->code[i];
	return NULL;
}

/* The relocations of one section; returns their size in bytes, 0 if they are damaged. */
static size_t read_ext_section(struct object *o, const char *p, size_t room, size_t record)
{
	struct ext_section s;
	struct code *c;

	if (room < sizeof(s))
		return 0;
	memcpy(&s, p, sizeof(s));
	if (s.n > (room - sizeof(s)) / record)
		return 0;
	c = code_named(o, btf__name_by_offset(o->btf, s.name_off));
	for (__u32 i = 0; i < s.n; i++) {
		const struct bpf_core_relo *r = (const void *)(p + sizeof(s) + i * record);

		if (!c || r->insn_off / sizeof(struct bpf_insn) >= c->n)
			return 0;
		if (o->n_relos == sizeof(o->relos) / sizeof(o->relos[0]))
			return 0;
		c->relo[r->insn_off / sizeof(struct bpf_insn)] = r;
		o->relos[o->n_relos++] = r;
	}
	return sizeof(s) + s.n * record;
}

static int read_ext(struct object *o)
{
	Elf_Data *data = image_section(&o->img, ".BTF.ext", NULL);
	struct ext_header h;
	const char *p, *end;
	__u32 record;

	if (!data || !data->d_buf || data->d_size < sizeof(h))
		return bad(o, "no .BTF.ext in it: nothing says which fields its programs read");
	memcpy(&h, data->d_buf, sizeof(h));
	if (h.magic != BTF_MAGIC || h.hdr_len < sizeof(h) || h.hdr_len > data->d_size ||
	    h.relo_off > data->d_size - h.hdr_len || h.relo_len > data->d_size - h.hdr_len - h.relo_off)
		return bad(o, "damaged: .BTF.ext");
	if (h.relo_len < sizeof(record))
		return 0;
	p = (const char *)data->d_buf + h.hdr_len + h.relo_off;
	end = p + h.relo_len;
	memcpy(&record, p, sizeof(record));
	if (record < sizeof(struct bpf_core_relo) || record % 4 || h.relo_off % 4 || h.hdr_len % 4)
		return bad(o, "damaged: .BTF.ext");
	for (p += sizeof(record); p < end;) {
		size_t used = read_ext_section(o, p, (size_t)(end - p), record);

		if (!used)
			return bad(o, "damaged: .BTF.ext");
		p += used;
	}
	return 0;
}

/* ---- maps ---- */

/* __uint(type, N) is a pointer to an array of N elements */
static void take_map_type(struct object *o, const struct btf_type *map)
{
	for (int i = 0; map && btf_is_struct(map) && i < btf_vlen(map); i++) {
		const char *name = btf__name_by_offset(o->btf, btf_members(map)[i].name_off);
		const struct btf_type *t = btf__type_by_id(o->btf, btf_members(map)[i].type);

		t = t && btf_is_ptr(t) ? btf__type_by_id(o->btf, t->type) : NULL;
		if (name && !strcmp(name, "type") && t && btf_is_array(t) && o->n_map_types < 64)
			o->map_type[o->n_map_types++] = btf_array(t)->nelems;
	}
}

static void read_maps(struct object *o)
{
	int id = btf__find_by_name_kind(o->btf, ".maps", BTF_KIND_DATASEC);
	const struct btf_type *sec = id > 0 ? btf__type_by_id(o->btf, (__u32)id) : NULL;

	for (int i = 0; sec && i < btf_vlen(sec); i++) {
		const struct btf_type *var = btf__type_by_id(o->btf, btf_var_secinfos(sec)[i].type);

		if (var && btf_is_var(var))
			take_map_type(o, btf__type_by_id(o->btf, var->type));
	}
}

static int read_object(struct object *o)
{
	const char *why;
	GElf_Ehdr eh;

	if (!o->img.elf || !gelf_getehdr(o->img.elf, &eh) || eh.e_machine != EM_BPF || eh.e_ident[EI_CLASS] != ELFCLASS64)
		return bad(o, "not an object file of BPF programs");
	o->btf = image_btf(&o->img, NULL, &why);
	if (!o->btf)
		return bad(o, why);
	if (read_code(o) || read_functions(o) || read_ext(o))
		return -1;
	read_calls(o);
	read_maps(o);
	return 0;
}

int object_open(struct object *o, const char *path)
{
	int err;

	memset(o, 0, sizeof(*o));
	if (image_open(&o->img, path))
		return -1;
	err = read_object(o);
	if (err)
		object_close(o);
	return err;
}

void object_close(struct object *o)
{
	for (size_t i = 0; i < o->n_code; i++) {
		free(o->code[i].insn);
		free(o->code[i].calls);
		free(o->code[i].kfunc);
		free(o->code[i].weak);
		free(o->code[i].relo);
		free(o->code[i].config);
	}
	free(o->code);
	free(o->function);
	btf__free(o->btf);
	image_close(&o->img);
	memset(o, 0, sizeof(*o));
}
