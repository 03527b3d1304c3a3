# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For counts.bats here and in ../live: one run of fio, as it, the kernel and the tool count it. load ../helpers first.

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
	jq -r --arg disk "$2" '[.devices[] | select(.name == $disk) | .ops.read, .ops.write | .count // 0, (.bytes // 0) / 512] | join(" ")' "$1"
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

# until_whole COMMAND...: runs it again when events were lost, for what is compared one by one; three times at most
until_whole() {
	local i
	for i in 1 2 3; do
		"$@" || return
		(($(lost "$J"))) || return 0
	done
}

# equal_counts DISK FIO-ARGUMENT...: traces it, fio runs; all three agree
equal_counts() {
	count_once "$@"
	counts_agree "$1"
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

# same_io OURS THEIRS JSON: reads, sectors read, writes, sectors written; what was lost had 64k at most
same_io() {
	local ours theirs
	read -ra ours <<<"$1"
	read -ra theirs <<<"$2"
	[[ $1 != "$2" ]] || return 0
	accounted "${ours[0]}" "${theirs[0]}" "$3" && accounted "${ours[2]}" "${theirs[2]}" "$3" &&
		((ours[1] + 128 * (theirs[0] - ours[0]) >= theirs[1] && ours[3] + 128 * (theirs[2] - ours[2]) >= theirs[3]))
}

counts_agree() { # DISK
	same_io "$(our_io "$J" "$1")" "$(fio_io "$F")" "$J" && same_io "$(with_flushes "$J" "$1")" "$KERNEL" "$J"
}

zram_raw() {
	need_zram
	zram_up
	lock_disk "/dev/$ZRAM"
}

reads() { # FILE N [FROM]
	dd if="$1" of=/dev/null bs=4k count="$2" skip="${3:-0}" iflag=direct status=none
}

writes() { # FILE N [FROM]
	dd if=/dev/zero of="$1" bs=4k count="$2" seek="${3:-0}" oflag=direct status=none
}

# a sub shell, for what is traced as one command
script() {
	"$BASH" -c "$(declare -f reads writes)"'; '"$1" - "${@:2}"
}
export -f reads writes script
