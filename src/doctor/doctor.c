// SPDX-License-Identifier: GPL-2.0-only
#include "doctor/doctor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "doctor/doctor_internal.h"
#include "util/mem.h"

int doctor_look(const char *word, const struct doctor_opts *o, struct diagnosis *d, struct err *e)
{
	struct exam x = { .o = o, .d = d };
	struct utsname un;
	int err;

	err = stack_find(word, d, e);
	if (err)
		return err;
	d->version = xstrdup(BT_VERSION);
	d->target = xstrdup(word);
	if (!uname(&un)) {
		d->kernel = xstrdup(un.release);
		d->arch = xstrdup(un.machine);
	}
	for (size_t i = 0; i < d->n_layers; i++) {
		drive_ask(&x, &d->layer[i]);
		settings_read(&x, &d->layer[i]);
	}
	settings_judge(&x);
	diagnosis_sort(d);
	drive_free(&x);
	return 0;
}
