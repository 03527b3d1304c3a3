/* SPDX-License-Identifier: GPL-2.0-only */
/* stack.h - the layers that a word means: the devices below it, and what stands on those. */
#ifndef BT_DOCTOR_STACK_H
#define BT_DOCTOR_STACK_H

#include "model/diagnosis.h"
#include "util/err.h"

/* Adds the layers without their settings, in their order. `word` as for doctor_look(). */
int stack_find(const char *word, struct diagnosis *d, struct err *e);

#endif
