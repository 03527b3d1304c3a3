/* SPDX-License-Identifier: GPL-2.0-only */
/* anonymise.h - barriertrace record --anonymise IN OUT: a recording that can be sent to somebody. */
#ifndef BT_CMD_ANONYMISE_H
#define BT_CMD_ANONYMISE_H

#include "cmd/options.h"
#include "cmd/trace_options.h"

/* *status: as `report` gives it for IN. */
int command_anonymise(const struct trace_opts *o, const struct options_result *words, int *status, struct err *e);

#endif
