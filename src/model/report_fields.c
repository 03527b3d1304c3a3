// SPDX-License-Identifier: GPL-2.0-only
#include "model/report_fields.h"

#include "model/report.h"

/* clang-format off */
const struct field report_device_name_fields[] = {
	FIELD(TEXT, report_device, name), FIELD(U32, report_device, major), FIELD(U32, report_device, minor), FIELDS_END
};

const struct field report_device_since_fields[] = {
	FIELD_SET(U64, report_device, diskseq), FIELD_SET(U64, report_device, from_ns), FIELDS_END
};

const struct field report_device_facts_fields[] = {
	FIELD(STRING, report_device, disk), FIELD(STRING, report_device, via), FIELD(STRING, report_device, model),
	FIELD_SET(U64, report_device, size), FIELD(STRING, report_device, write_cache),
	FIELD_IF(have_fua, BOOL, report_device, fua), FIELD(STRING, report_device, scheduler),
	FIELD_SET(U64, report_device, nr_requests), FIELD_IF(have_wbt, U64, report_device, wbt_lat_us),
	FIELD_IF(have_rotational, BOOL, report_device, rotational), FIELD(BOOL, report_device, bio_based),
	FIELD(BOOL, report_device, vanished), FIELD(STRV, report_device, slaves), FIELDS_END
};

const struct field report_mount_fields[] = {
	FIELD(STRING, report_mount, dir), FIELD(STRING, report_mount, fstype), FIELD(STRING, report_mount, options),
	FIELD(STRING, report_mount, barrier), FIELDS_END
};

const struct field report_kernel_fields[] = {
	FIELD_IF(have, U64, report_kernel, reads), FIELD_IF(have, U64, report_kernel, read_bytes),
	FIELD_IF(have, U64, report_kernel, read_ns), FIELD_IF(have, U64, report_kernel, writes),
	FIELD_IF(have, U64, report_kernel, write_bytes), FIELD_IF(have, U64, report_kernel, write_ns),
	FIELD_IF(have, U64, report_kernel, discards), FIELD_IF(have, U64, report_kernel, discard_bytes),
	FIELD_IF(have, U64, report_kernel, discard_ns), FIELD_IF(have_flush, U64, report_kernel, flushes),
	FIELD_IF(have_flush, U64, report_kernel, flush_ns), FIELDS_END
};

const struct field report_flush_role_fields[] = {
	FIELD(U64, report_flush, pre), FIELD(U64, report_flush, post), FIELD(U64, report_flush, only),
	FIELD(U64, report_flush, mixed), FIELD(U64, report_flush, unknown), FIELD(U64, report_flush, waiters),
	FIELD(U64, report_flush, in_flight), FIELDS_END
};

const struct field report_flush_barrier_fields[] = {
	FIELD(U64, report_flush, barrier_writes), FIELD(U64, report_flush, barrier_flushes), FIELDS_END
};
/* clang-format on */
