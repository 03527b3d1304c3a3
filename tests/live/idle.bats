#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# While nobody syncs, what only ledgers need is not attached: who syncs then is heard all the same.

load ../helpers

setup() {
	need_rig
	J=$BATS_TEST_TMPDIR/json
}

teardown() {
	clean_up
}

# sync_once FILE: writes and syncs it, with a program of its own
sync_once() {
	dd if=/dev/zero of="$RIG_MNT/$1" bs=4k count=1 conv=fsync,notrunc status=none
}

# rest ARGUMENT...: watches the rig's disk until what only ledgers need is detached; how many links it had and has: $ALL, $FEW
rest() {
	start_tracing "$RIG_DISK" -v --json "$J" -o "$BATS_TEST_TMPDIR/text" "$@"
	TOOL=$STARTED ALL=$(links_of "$STARTED")
	eventually 20 grep -q 'ledgers are off until the next' "$ERR"
	sleep 0.3
	FEW=$(links_of "$TOOL")
}

@test "idle: who syncs after a while without a sync call is heard, is counted, and has a ledger from the next call on; --eager waits for it" {
	local eager stderr
	rig_up --fs ext4 --flush-us 300000
	start_tracing "$RIG_DISK" -v --eager --json "$BATS_TEST_TMPDIR/eager.json" -o "$BATS_TEST_TMPDIR/eager"
	eager=$STARTED stderr=$ERR
	rest
	echo "links: $ALL, at rest $FEW"
	((FEW < ALL - 5))
	sync_once f # 300 ms: its end is seen
	eventually 3 grep -q 'ledgers are on again' "$ERR"
	(($(links_of "$TOOL") == ALL))
	rig_set flush_us=2000
	for i in 1 2 3 4 5; do sync_once g; done
	stop_tracing "$TOOL"
	stop_tracing "$eager"
	jq -c '(.sync | {count, no_ledger, without_ledger, total_ns, ledger}), (.run | .lost, .notes)' "$J"
	jq -e '.sync | .count == 5 and .without_ledger == { idle: 1 }' "$J"
	# 4 calls with 2 flushes of 2 ms each, 16 ms. Half is enough: a busy kernel hides some switches from programs.
	jq -e '.sync.ledger | .["flush.pre"] + .["flush.post"] > 8e6' "$J"
	jq -e '.run.notes | any(test("ledgers were off"))' "$J"
	[[ ! $(grep "ledgers are off" "$stderr") ]]
	jq -e '.sync | .count == 6 and .without_ledger == null' "$BATS_TEST_TMPDIR/eager.json"
}
