# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For filesystems.bats here and in ../live: each way to sync, on each file system. load ../helpers and matrix first.

setup_file() {
	build_syncs
}

setup() {
	need_rig
	need_syncs
}

teardown() {
	clean_up
}

# visible WAY: has the kernel what it takes? 5.10: io_uring's completions don't tell of which request they are.
visible() {
	local complete=/sys/kernel/tracing/events/io_uring/io_uring_complete/format
	[[ $1 != uring || ! -r $complete ]] || grep -q 'field:void \* req;' $complete
}

# ways_on FILE-SYSTEM: on a disk with it, those that this kernel shows; in $WAYS, "NAME:CALL" each
ways_on() {
	local name
	need "mkfs.${1%-nojournal}"
	rig_up --fs "$1" --size 512M
	rig_set flush_us=3000 write_us=300
	WAYS=()
	for name in fsync:fsync fdatasync:fdatasync dsync:write rwf:write msync:msync syncfs:syncfs sync:sync range:sync_file_range \
		uring:'io_uring fsync' aio:'aio fsync'; do
		if visible "${name%%:*}"; then
			WAYS+=("$name")
		else
			comment "not to be seen on this kernel: $1, ${name#*:}"
		fi
	done
}

# trace_ways: all of $WAYS in one run, each by a program named after it, $CALLS calls each
trace_ways() {
	local name
	for name in "${WAYS[@]}"; do
		ln -sf "$SYNCS" "$BATS_TEST_TMPDIR/${name%%:*}"
		echo "$BATS_TEST_TMPDIR/${name%%:*} ${name%%:*} $RIG_MNT/${name%%:*} $CALLS"
	done >"$BATS_TEST_TMPDIR/all"
	trace sh -e "$BATS_TEST_TMPDIR/all"
}
