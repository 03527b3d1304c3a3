#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Sync calls that have no end: they don't return, or the kernel skipped the program at their exit.

load ../helpers

setup() {
	need_rig
	J=$BATS_TEST_TMPDIR/report.json
}

teardown() {
	clean_up
}

@test "unended: a sync call that doesn't return is told of, also by a replay" {
	local bt=$BATS_TEST_TMPDIR/run.bt
	rig_up --flush-us 2000000
	"$BT" record -o "$bt" -d 1.2 "$RIG_DISK" -- dd if=/dev/zero of="$RIG_MNT/f" bs=4k count=1 conv=fsync status=none
	"$BT" report "$bt" --json "$J" >"$BATS_TEST_TMPDIR/text"
	head -n 4 "$BATS_TEST_TMPDIR/text"
	[[ $(json '.verdict.class' "$J") == device-flush && $(json .verdict.scope "$J") == outstanding ]]
	json '.verdict.sentence' "$J" | grep -q "dd ([0-9]*) has been in fsync on $RIG_MNT/f ($RIG_DISK) for 1\.[0-9]* s and has not returned\. It waits for "
	jq -c .sync "$J"
	jq -e '.sync | .under_way == 1 and .under_way_oldest_ns > 1e9 and .under_way_oldest_ns < 2e9' "$J"
}

# start_unseen ARGUMENT...: runs unseen.c beside the tool, and returns when it is certain that its call is over
start_unseen() {
	need "${CC:-cc}"
	"${CC:-cc}" -O1 -D_GNU_SOURCE -I"$TOP/bpf" -o "$BATS_TEST_TMPDIR/unseen" "$TOP/tests/live/unseen.c"
	start "$BATS_TEST_TMPDIR/unseen" "$STARTED" "$RIG_MNT/f" "$@" >"$BATS_TEST_TMPDIR/out"
	eventually 5 test -s "$BATS_TEST_TMPDIR/out"
	sleep 1.1
}

# unseen ARGUMENT...: the tool's report is in $J
unseen() {
	local tool
	rig_up
	start_tracing "$RIG_DISK" --json "$J" -o "$BATS_TEST_TMPDIR/text"
	tool=$STARTED
	start_unseen "$@"
	stop_tracing "$tool"
	jq -c '.verdict.sentence, .run.lost, .sync.calls' "$J"
	[[ $(jq -c '[.run.lost[] | select(.reason | test("end was not seen")) | .count]' "$J") == '[1]' ]]
}

@test "unended: a sync call whose end was not seen is lost once its task is in another call, and not said to hang" {
	unseen
	! json '.verdict.sentence' "$J" | grep -q 'had not returned'
}

@test "unended: a sync call whose end was not seen is lost, and no other call's end is its end" {
	unseen again
	json '.sync.calls.fsync == 2' "$J"
}

@test "unended: a sync call whose end was not seen is lost, also when its task ends" {
	unseen end
	json '.sync.calls.fsync == 1' "$J"
}

@test "unended: a sync call whose end was not seen is lost once, however many files a recording has" {
	local tool file lost=()
	need fio
	rig_up --flush-us 0 --write-us 0
	start_tracing record -q -o "$BATS_TEST_TMPDIR/rec" --rotate 1M,9 "$RIG_DISK"
	tool=$STARTED
	start_unseen
	fio --name=f --directory="$RIG_MNT" --size=4m --rw=randwrite --bs=4k --ioengine=sync --fdatasync=1 --overwrite=1 \
		--loops=12 --minimal >"$BATS_TEST_TMPDIR/fio"
	stop_tracing "$tool"
	for file in "$BATS_TEST_TMPDIR/rec"*; do
		"$BT" report -q --json "$J" -o "$BATS_TEST_TMPDIR/text" "$file" || [[ $? == 5 ]]
		lost+=("$(jq '[.run.lost[]? | select(.reason | test("end was not seen")) | .count] | add // 0' "$J")")
	done
	echo "${lost[*]}"
	((${#lost[@]} > 1 && $(IFS=+ && echo "${lost[*]}") == 1))
}
