#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Races for the files that root writes, as often as it takes to win one: in ../cli they are few, and slowed down.

bats_require_minimum_version 1.5.0
load ../helpers
load files

@test "files: a directory that is swapped for a link wins nothing in 2,000 tries" {
	swap 2000
}
