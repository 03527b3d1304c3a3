// SPDX-License-Identifier: GPL-2.0-only
#define STATE
#include "file.bpf.h"

char LICENSE[] SEC("license") = "GPL";

__noinline u64 bucket_of(u64 value)
{
	return hist_index(value);
}
