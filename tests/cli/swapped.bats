#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What root writes for somebody else, while that one changes what names lead to.

bats_require_minimum_version 1.5.0
load ../helpers
load ../truth/files

@test "files: a directory that is swapped for a link wins nothing" {
	need strace python3
	# of openat the last ones: those before are the loader's
	swap 100 strace -qq -A -o trace -e trace=openat,linkat,rename,renameat -e inject=linkat,rename,renameat:delay_enter=2000 \
		-e inject=openat:delay_exit=500:when=40+
	# the program's own calls were slowed down, to the one that puts the file in its place
	grep -q 'linkat(.*(DELAYED)' trace && grep -q 'renameat(.*(DELAYED)' trace
}
