// SPDX-License-Identifier: GPL-2.0-only
#include "render.h"

void render_csv_run(const struct report *r, const struct render_opts *o, struct buf *out)
{
	(void)r, (void)o, (void)out;
}

void render_csv_devices(const struct report *r, const struct render_opts *o, struct buf *out)
{
	(void)r, (void)o, (void)out;
}

void render_csv_operations(const struct report *r, const struct render_opts *o, struct buf *out)
{
	(void)r, (void)o, (void)out;
}

void render_csv_histograms(const struct report *r, const struct render_opts *o, struct buf *out)
{
	(void)r, (void)o, (void)out;
}

void render_csv_calls(const struct report *r, const struct render_opts *o, struct buf *out)
{
	(void)r, (void)o, (void)out;
}

void render_csv_ledger(const struct report *r, const struct render_opts *o, struct buf *out)
{
	(void)r, (void)o, (void)out;
}

void render_csv_processes(const struct report *r, const struct render_opts *o, struct buf *out)
{
	(void)r, (void)o, (void)out;
}

void render_csv_files(const struct report *r, const struct render_opts *o, struct buf *out)
{
	(void)r, (void)o, (void)out;
}

void render_csv_leaves(const struct report *r, const struct render_opts *o, struct buf *out)
{
	(void)r, (void)o, (void)out;
}

void render_csv_requests(const struct report *r, const struct render_opts *o, struct buf *out)
{
	(void)r, (void)o, (void)out;
}
