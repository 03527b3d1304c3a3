// SPDX-License-Identifier: GPL-2.0-only
#define STATE
#include "file.bpf.h"

char LICENSE[] SEC("license") = "GPL";
