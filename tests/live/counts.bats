#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Reads and writes beside fio's own figures and the kernel's counters.

load ../helpers
try_tests_again

setup() {
	need_tracing
	HURRY=()
	J=$BATS_TEST_TMPDIR/report.json F=$BATS_TEST_TMPDIR/fio.json
}

teardown() {
	clean_up
}

# No one else is to read the disk: systemd-udevd does after each writer, unless somebody has this lock.
lock_disk() {
	exec {LOCK}<"$1"
	flock "$LOCK"
	on_exit "exec $LOCK<&-"
}

rig_raw() {
	need_rig
	need fio
	rig_up --fs none "$@"
	lock_disk "$RIG_DEV"
}

# kernel_io DISK: reads, sectors read, writes, sectors written
kernel_io() {
	local f
	read -ra f <"/sys/class/block/$1/stat"
	echo "${f[0]} ${f[2]} ${f[4]} ${f[6]}"
}

# our_io FILE DISK: the same of a report
our_io() {
	local of=(of_disk "$1" "$2")
	echo "$("${of[@]}" .ops.read.count) $(($("${of[@]}" .ops.read.bytes) / 512))" \
		"$("${of[@]}" .ops.write.count) $(($("${of[@]}" .ops.write.bytes) / 512))"
}

# with_flushes FILE DISK: as the kernel counts, to which an empty flush is a write, too
with_flushes() {
	local io
	read -ra io <<<"$(our_io "$1" "$2")"
	echo "${io[0]} ${io[1]} $((io[2] + $(of_disk "$1" "$2" .flush.only))) ${io[3]}"
}

# fio_io FILE
fio_io() {
	jq -r '[.jobs[] | .read.total_ios, .read.io_bytes / 512, .write.total_ios, .write.io_bytes / 512] | join(" ")' "$1"
}

since() { # BEFORE AFTER
	local -a b=($1) a=($2)
	echo "$((a[0] - b[0])) $((a[1] - b[1])) $((a[2] - b[2])) $((a[3] - b[3]))"
}

# equal_counts DISK FIO-ARGUMENT...: traces it, fio runs; all three agree
equal_counts() {
	local try
	for ((try = 1; try <= TRIES; try++)); do
		count_once "$@"
		not_far_off "$1"
		if whole "$J"; then
			counts_agree "$1"
			return
		fi
		comment "run $try: ours $(with_flushes "$J" "$1"), the kernel's $KERNEL"
	done
	return 1
}

count_once() { # DISK FIO-ARGUMENT...
	local disk=$1
	shift
	KERNEL=$(kernel_io "$disk")
	"$BT" "$disk" --json "$J" -o "$BATS_TEST_TMPDIR/text" -- "${HURRY[@]}" \
		"$BASH" -c "$(declare -f fio_json)"'; fio_json "$@"' - "$F" "$@"
	KERNEL=$(since "$KERNEL" "$(kernel_io "$disk")")
	echo "ours: $(our_io "$J" "$disk"), fio: $(fio_io "$F"), kernel: $KERNEL"
}

counts_agree() {
	local other=$BATS_TEST_TMPDIR/other.json tool op try
	rig_raw --read-us 500 --write-us 500 --flush-us 1000
	for ((try = 1; try <= TRIES; try++)); do
		start_tracing "$@" "$RIG_DISK" --json "$other" -o "$BATS_TEST_TMPDIR/other.txt"
		tool=$STARTED
		count_once "$RIG_DISK" --filename="$RIG_DEV" --rw=randrw --number_ios=600 --fsync=20
		stop_tracing "$tool"
		! { whole "$J" && whole "$other"; } || break
		comment "run $try: ours $(with_flushes "$J" "$RIG_DISK"), the kernel's $KERNEL"
	done
	((try <= TRIES))
	counts_agree "$RIG_DISK"
	[[ $(our_io "$J" "$RIG_DISK") == "$(our_io "$other" "$RIG_DISK")" ]]
	[[ $(of_disk "$J" "$RIG_DISK" .ops.flush.count) == "$(of_disk "$other" "$RIG_DISK" .ops.flush.count)" ]]
	[[ $(of_disk "$J" "$RIG_DISK" .flush.only) == "$(of_disk "$other" "$RIG_DISK" .flush.only)" ]]
	holds "$(of_disk "$J" "$RIG_DISK" .ops.flush.count) > 5"
	for op in read write flush; do
		holds "$(of_disk "$J" "$RIG_DISK" .ops.$op.total.sum_ns) / \
			$(of_disk "$other" "$RIG_DISK" .ops.$op.total.sum_ns) > 0.98"
		holds "$(of_disk "$J" "$RIG_DISK" .ops.$op.total.sum_ns) / \
			$(of_disk "$other" "$RIG_DISK" .ops.$op.total.sum_ns) < 1.02"
	done
	[[ $(jq -r '[.probes[] | select(.name | startswith("request.")) | .rung // empty] | unique | join(" ")' \
		"$other") == "$RUNG" ]]
}

@test "counts: two runs at once agree" {
	RUNG=tp_btf
	agree
}

@test "counts: raw_tp counts what tp_btf counts" {
	RUNG=raw_tp
	agree --rung request=raw_tp
}
