#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Each way to sync, on each file system, after a while in which nobody did: it is heard.

load ../helpers
load matrix
load filesystems

CALLS=5

# disk_for WAY FILE-SYSTEM: one of its own
disk_for() {
	rig_up --fs "$2" --size 512M
	on_exit "'$RIG_TOOL' down '$RIG'"
	# so long that the first one's end is seen
	rig_set flush_us=150000 write_us=100000
	DISKS[$1]=$RIG_DISK FILES[$1]=$RIG_MNT/f
	unset RIG
}

# watch_way WAY: its disk
watch_way() {
	start_tracing "${DISKS[$1]}" -v --json "$BATS_TEST_TMPDIR/$1.json" -o "$BATS_TEST_TMPDIR/$1.text"
	TOOLS[$1]=$STARTED ERRS[$1]=$ERR
}

# heard WAY: the first call is counted, timed from when it was heard; those after it have a ledger
heard() {
	jq -e --argjson n $CALLS '.sync | .without_ledger == { idle: 1 } and .count == $n - 1' "$BATS_TEST_TMPDIR/$1.json" >/dev/null && return
	echo "$1: $(jq -c '.sync | {count, calls: (.calls | keys), no_ledger, without_ledger}' "$BATS_TEST_TMPDIR/$1.json")"
	grep -v '^$' "${ERRS[$1]}"
	return 1
}

# A file system may ask for durability of its own accord in its first minute (btrfs does), which wakes a watch.
all_rest() {
	local err
	for err in "${ERRS[@]}"; do
		[[ $(grep -E 'ledgers are (off|on)' "$err" | tail -n 1) == *'off until the next'* ]] || return
	done
}

# Not "sync": it waits for each of the disks in turn. Nor sync_file_range, which is not heard (README, known limits).
all_are_heard() { # FILE-SYSTEM
	local -A DISKS=() FILES=() TOOLS=() ERRS=()
	local way pid pids=() bad=0
	need "mkfs.${1%-nojournal}"
	for way in fsync fdatasync dsync rwf msync syncfs uring aio; do
		! visible $way || disk_for $way "$1"
	done
	for way in "${!DISKS[@]}"; do watch_way "$way"; done
	eventually 90 all_rest
	for way in "${!TOOLS[@]}"; do
		"$SYNCS" -p 200 "$way" "${FILES[$way]}" $CALLS >/dev/null &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do wait "$pid"; done
	for way in "${!TOOLS[@]}"; do stop_tracing "${TOOLS[$way]}"; done
	for way in "${!TOOLS[@]}"; do heard "$way" || ((++bad)); done
	((!bad))
}

@test "idle: after a rest each way to sync is heard: ext4" {
	all_are_heard ext4
}

@test "idle: after a rest each way to sync is heard: ext4 without a journal" {
	all_are_heard ext4-nojournal
}

@test "idle: after a rest each way to sync is heard: XFS" {
	all_are_heard xfs
}

@test "idle: after a rest each way to sync is heard: btrfs" {
	all_are_heard btrfs
}

# Nothing but the mount table knows whose btrfs's device number is.
@test "idle: who syncs on another disk, in a btrfs that was mounted during the rest, wakes nothing" {
	local -A DISKS=() FILES=() TOOLS=() ERRS=()
	need mkfs.btrfs
	disk_for ours ext4
	disk_for other btrfs
	umount "${FILES[other]%/*}"
	watch_way ours
	eventually 90 all_rest
	mount "/dev/${DISKS[other]}" "${FILES[other]%/*}"
	sleep 1.2
	"$SYNCS" -p 200 fsync "${FILES[other]}" $CALLS >/dev/null
	sleep 0.5
	all_rest
	stop_tracing "${TOOLS[ours]}"
	jq -e '.sync.count == 0 and .sync.without_ledger == null and .sync.elsewhere == 0' "$BATS_TEST_TMPDIR/ours.json"
}
