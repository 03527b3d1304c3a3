// SPDX-License-Identifier: GPL-2.0-only
#include "model/run_context.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

void frame_free(struct frame *f)
{
	report_free(&f->run);
	for (size_t i = 0; i < f->n_devices; i++)
		report_device_free(&f->device[i].facts);
	free_all(f->device, f->place, f->symbol);
	memset(f, 0, sizeof(*f));
}
