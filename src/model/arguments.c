// SPDX-License-Identifier: GPL-2.0-only
#include "model/arguments.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

/* The last part of a path. */
static char *base_of(const char *path, size_t len)
{
	size_t from = len;

	while (from && path[from - 1] != '/')
		from--;
	return xasprintf("%.*s", (int)(len - from), path + from);
}

char *arguments_program(const char *command_line)
{
	return command_line ? base_of(command_line, strcspn(command_line, " ")) : NULL;
}

bool arguments_hide(char *const *argv, char *name[2])
{
	name[0] = argv && argv[0] ? base_of(argv[0], strlen(argv[0])) : NULL;
	name[1] = NULL;
	return name[0] && argv[1];
}

void report_hide_arguments(const struct report *r, struct report_no_arguments *out)
{
	size_t n = r->n_outstanding;

	*out = (struct report_no_arguments){ .r = *r };
	out->r.arguments_hidden = arguments_hide(r->command, out->command) || r->arguments_hidden;
	if (r->command)
		out->r.command = out->command;
	out->outstanding = xcalloc(n ? n : 1, sizeof(*out->outstanding));
	for (size_t i = 0; i < n; i++) {
		out->outstanding[i] = r->outstanding[i];
		out->outstanding[i].cmdline = arguments_program(r->outstanding[i].cmdline);
	}
	out->r.outstanding = out->outstanding;
}

void report_no_arguments_free(struct report_no_arguments *out)
{
	for (size_t i = 0; out->outstanding && i < out->r.n_outstanding; i++)
		free(out->outstanding[i].cmdline);
	free(out->outstanding);
	free(out->command[0]);
}
