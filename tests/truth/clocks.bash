# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For clocks.bats here and in ../live: loads on a disk in memory, traced without ledgers. load ../helpers first.

setup() {
	need_rig
	need fio
	memory_disk
	J=$BATS_TEST_TMPDIR/report.json V=$BATS_TEST_TMPDIR/verbose
}

teardown() {
	clean_up
}

memory_disk() {
	local image=/dev/shm/barriertrace.$$.img
	on_exit "rm -f $image"
	dd if=/dev/zero of="$image" bs=1M count=32 status=none
	DEV=$(losetup -f --show "$image")
	on_exit "losetup -d $DEV"
	DISK=${DEV#/dev/}
	scheduler none
}

# What is set would stay with the loop device.
scheduler() { # NAME
	local file=/sys/block/$DISK/queue/scheduler
	[[ ${SCHEDULER-} ]] || {
		SCHEDULER=$(sed 's/.*\[\(.*\)\].*/\1/' "$file")
		on_exit "echo $SCHEDULER >$file"
	}
	echo "$1" >"$file"
}

# 4k reads, eight at once
reads() { # SECONDS FIO-ARGUMENT...
	fio --name=r --filename="$DEV" --size=32m --direct=1 --bs=4k --rw=randread --norandommap --ioengine=libaio --iodepth=8 \
		--time_based --runtime="$1" --output=/dev/null "${@:2}"
}

# traced COMMAND...: without ledgers, meanwhile
traced() {
	local pid
	start "$BT" -v --plain --no-ledger "$DISK" --json "$J" -o "$BATS_TEST_TMPDIR/text" 2>"$V"
	pid=$STARTED
	eventually 10 is_tracing "$pid"
	"$@"
	sleep 0.3
	stop_tracing "$pid"
	cat "$V"
	jq -c '.run.notes, .run.lost, (.devices[0] | .unpaired, (.ops | map_values([.count, (.queue, .device | .sum_ns, .p50_ns)])))' "$J"
}

trusted() { # how often
	grep -c "times are the requests' own clocks" "$V"
}

untrusted() {
	grep -c 'times are taken at insert and issue' "$V"
}

noted() { # [WHAT]
	jq -e --arg what "${1:-completions}" \
		'[.run.notes[]? | select(test("^for .* of the run only \($what) were traced"))] | length == 1' "$J"
}

# figure FILE OP HISTOGRAM KEY
figure() {
	jq -er ".devices[0].ops.$2.$3.$4" "$1"
}

near() { # A B: within what two histograms of 1/32 and clocks off by another 1/32 can differ
	holds "$1 <= $2 * (1 + 3 / 32) && $1 >= $2 * (1 - 3 / 32)"
}

# Reads, traced, and by a tool beside that traces issue.
traced_twice() {
	local other
	start_tracing "$DISK" --plain --json "$BATS_TEST_TMPDIR/beside.json" -o "$BATS_TEST_TMPDIR/beside"
	other=$STARTED
	traced reads 2
	stop_tracing "$other"
}

# What the tool beside says of the reads.
agrees_with_beside() {
	local beside=$BATS_TEST_TMPDIR/beside.json
	near "$(mean "$J" .devices[0].ops.read.device)" "$(mean "$beside" .devices[0].ops.read.device)" &&
		near "$(figure "$J" read device p50_ns)" "$(figure "$beside" read device p50_ns)" &&
		near "$(figure "$J" read total p99_ns)" "$(figure "$beside" read total p99_ns)"
}
