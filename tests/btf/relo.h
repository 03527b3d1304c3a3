/* SPDX-License-Identifier: GPL-2.0-only */
/* relo.h - what an instruction asks of the kernel's types (CO-RE), answered as libbpf would, but with names. */
#ifndef BT_BTF_RELO_H
#define BT_BTF_RELO_H

#include "kernel.h"
#include "object.h"

struct answer {
	char *use;		/* "field request.rq_flags", "type hd_struct", "enumerator x"; owned */
	char *form;		/* what the kernel has: "unsigned int"; "missing", or why it can't be used; owned */
	bool asks;		/* asks whether it is there: never an error */
	bool fits;		/* it is there, and as the program takes it */
};

/* `insn` is the instruction that has the relocation. Returns -1 when the object is damaged. */
int relo_answer(const struct object *o, const struct bpf_core_relo *r, const struct bpf_insn *insn,
		const struct kernel *k, struct answer *a);
void answer_free(struct answer *a);

#endif
