#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Each way to sync, on each file system: as many calls as were made, each by the name that it has, and every ledger adds up.
# How much of their time is explained: ../truth/filesystems.bats.

load ../helpers
load ../truth/matrix
load ../truth/filesystems

CALLS=30

each_way() { # FILE-SYSTEM
	local name
	ways_on "$1"
	or_lost trace_ways
	figures
	ledgers_add_up
	for name in "${WAYS[@]}"; do
		echo "$name"
		accounted "$(jq --arg p "${name%%:*}" --arg c "${name#*:}" '[.sync.by_process[] | select(.comm == $p)] |
			if length == 1 then .[0].count else 0 end' "$J")" "$CALLS" "$J"
	done
	printf '%s\n' "${WAYS[@]#*:}" | sort | uniq -c | while read -r n name; do
		echo "$name"
		accounted "$(jq --arg c "$name" '.sync.calls[$c] // 0' "$J")" $((n * CALLS)) "$J" || exit
	done
	# msync names memory; the file is known by what the file system tells of its syncs
	! jq -e --arg p "async.${1%-nojournal}" '[.probes[] | select(.state == "attached" and (.name | startswith($p)))] != []' "$J" ||
		accounted "$(jq --arg p "$RIG_MNT/msync" '[.sync.by_file[] | select(.path == $p).count] | add // 0' "$J")" "$CALLS" "$J"
}

@test "file systems: ext4" {
	each_way ext4
}

@test "file systems: ext4 without a journal" {
	each_way ext4-nojournal
}

# 7.0 and later take the sync calls so; here they can be told to.
@test "file systems: ext4, by classic tracepoints" {
	TRACE_WITH=(--rung sync=tp)
	each_way ext4
	[[ $(jq -r '[.probes[] | select(.name == "sync.enter" or .name == "sync.exit") | .rung] | unique | join(" ")' "$J") == tp ]]
}

@test "file systems: XFS" {
	each_way xfs
}

@test "file systems: btrfs" {
	each_way btrfs
}

# Each is a work of its own.
@test "file systems: two AIO fsyncs of one file at once are two" {
	need mkfs.ext4
	rig_up --fs ext4 --size 512M
	or_lost trace "$SYNCS" aio2 "$RIG_MNT/aio2" "$CALLS"
	jq -c '[.sync.calls, .sync.no_ledger, .run.lost]' "$J"
	jq -e --argjson n "$((2 * CALLS))" '((.sync.calls["aio fsync"] // 0) + .sync.no_ledger) as $seen |
		$seen == $n or ($seen < $n and $seen + .run.lost_events >= $n)' "$J"
}
