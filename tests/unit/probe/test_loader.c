// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a kernel refuses: it is gone without where that can be, told with what to do where not, and the verifier's log is passed on.
 * The linker puts this file's __wrap function in front of libbpf (--wrap, see Makefile).
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/report.h"
#include "probe/probe.h"
#include "probe/probe_table.h"
#include "barriertrace.skel.h"
#include "tap.h"
#include "util/buf.h"
#include "util/mem.h"

static const char *spoil; /* a program that no kernel takes; NULL: none */
static int maps_err;	  /* what becomes of the maps; 0: they are made */
static char *said;	  /* by libbpf */

/* Takes the end of a program away. */
static void spoil_program(struct bpf_object *obj)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(obj, spoil);
	size_t n = bpf_program__insn_cnt(prog);
	struct bpf_insn *insns = xmust(malloc(n * sizeof(*insns)));

	memcpy(insns, bpf_program__insns(prog), n * sizeof(*insns));
	insns[n - 1] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K };
	bpf_program__set_insns(prog, insns, n);
	free(insns);
}

int __real_bpf_object__load_skeleton(struct bpf_object_skeleton *s);
int __wrap_bpf_object__load_skeleton(struct bpf_object_skeleton *s)
{
	if (spoil)
		spoil_program(*s->obj);
	return maps_err ? maps_err : __real_bpf_object__load_skeleton(s);
}

static void hear(void *ctx __attribute__((unused)), enum notice_level level, const char *text)
{
	char *all = xasprintf("%s%s%s\n", said, level == NOTICE_DETAIL ? "" : "not a detail: ", text);

	free(said);
	said = all;
}

static int open_probes(struct probes **p, struct err *e)
{
	struct probe_want want;

	probe_want_default(&want);
	want.views = want.stripes = 1;
	want.notices.tell = hear;
	return probes_open(&want, p, e);
}

static const struct report_probe *probe_of(const struct report *r, const char *name)
{
	for (size_t i = 0; i < r->n_probes; i++)
		if (!strcmp(r->probe[i].name, name))
			return &r->probe[i];
	return NULL;
}

/* No program of the table has a name that the object lacks: on some kernel it would be looked for. */
static void test_table(void)
{
	struct barriertrace_bpf *skel = barriertrace_bpf__open();
	struct buf lacking = { 0 };

	for (int i = 0; skel && i < PROBE_COUNT; i++)
		for (int r = 0; r < RUNG_COUNT; r++) {
			const char *name = probe_table[i].program[r];

			if (name && !bpf_object__find_program_by_name(skel->obj, name))
				buf_printf(&lacking, " %s", name);
		}
	if (!ok(skel && !lacking.len, "each program of the table is in the object"))
		diag("but for:%s", lacking.len ? lacking.data : " all");
	buf_free(&lacking);
	barriertrace_bpf__destroy(skel);
}

static void test_optional(void)
{
	struct report r = { 0 };
	const struct report_probe *merge;
	struct probes *p = NULL;
	struct err e = { 0 };

	spoil = "rq_merge_btf";
	ok(!open_probes(&p, &e), "an optional program that is refused: %s", e.text);
	probes_report(p, &r);
	merge = probe_of(&r, "request.merge");
	ok(merge && merge->state == PROBE_REFUSED && strstr(merge->reason, "tp_btf: load: "), "the report says so: %s",
	   merge ? merge->reason : "");
	ok(strstr(said, "BEGIN PROG LOAD LOG") && strstr(said, "last insn is not an exit") && !strstr(said, "not a detail"),
	   "and the verifier's log can be seen");
	report_free(&r);
	probes_close(p);
}

static void test_refused(void)
{
	struct probes *p = NULL;
	struct err e = { 0 };

	spoil = "rq_complete_btf";
	ok(open_probes(&p, &e) && !p && e.status == EXIT_KERNEL_CANNOT && strstr(e.text, "cannot do request.complete"),
	   "a required program that is refused: %s", e.text);
	probes_close(p);
	p = NULL;
	spoil = NULL;
	maps_err = -EPERM;
	ok(open_probes(&p, &e) && !p && e.status == EXIT_NOT_PERMITTED && strstr(e.text, "run it as root"),
	   "maps that are refused: %s", e.text);
	probes_close(p);
	maps_err = 0;
}

int main(void)
{
	struct probes *p = NULL;
	struct err e = { 0 };

	test_table();
	said = xstrdup("");
	if (open_probes(&p, &e)) {
		ok(true, "what a kernel refuses # SKIP %s", e.text);
		return tap_done();
	}
	probes_close(p);
	test_optional();
	test_refused();
	free(said);
	return tap_done();
}
