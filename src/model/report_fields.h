/* SPDX-License-Identifier: GPL-2.0-only */
/* report_fields.h - what the public documents say of a device, in their order: JSON, CSV and database have it from the same rows. */
#ifndef BT_MODEL_REPORT_FIELDS_H
#define BT_MODEL_REPORT_FIELDS_H

#include "model/fields.h"

/* Of struct report_device */
extern const struct field report_device_name_fields[], report_device_since_fields[], report_device_facts_fields[];
extern const struct field report_mount_fields[];
/* Of struct report_kernel */
extern const struct field report_kernel_fields[];
/* Of struct report_flush */
extern const struct field report_flush_role_fields[], report_flush_barrier_fields[];

#endif
