#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Whose I/O and sync calls are counted: -p and --cgroup.

bats_require_minimum_version 1.5.0
load ../helpers
load ../truth/counts

# reader_at_gate: a process that reads 60 blocks when told by go
reader_at_gate() {
	GATE=$BATS_TEST_TMPDIR/gate.$RANDOM
	mkfifo "$GATE"
	start "$BASH" -c 'read -r <"$1"; exec dd if="$2" of=/dev/null bs=4k count=60 iflag=direct status=none' - \
		"$GATE" "$RIG_DEV"
	READER=$STARTED
}

@test "filters: -p counts one process, and ends with it" {
	local tool
	rig_raw --read-us 1000
	reader_at_gate
	start_tracing -p "$READER" "$RIG_DISK" --json "$J" -o "$BATS_TEST_TMPDIR/text"
	tool=$STARTED
	start reads "$RIG_DEV" 100 1000
	echo go >"$GATE"
	status_of "$tool"
	echo "ours: $(our_io "$J" "$RIG_DISK")"
	[[ $(our_io "$J" "$RIG_DISK") == "60 480 0 0" ]]
	[[ $(json '.run.filter' "$J") == "pid $READER" ]]
	[[ $(json '.run.notes[0]' "$J") == *"$READER ended"* ]]
}

# cgroup_counts DISK: only what is sent from $CGROUP, or from below
cgroup_counts() {
	local tool
	mkdir "$CGROUP" "$CGROUP/below"
	on_exit "rmdir $CGROUP/below $CGROUP"
	start_tracing --cgroup "$CGROUP" "$1" --json "$J" -o "$BATS_TEST_TMPDIR/text"
	tool=$STARTED
	start reads "/dev/$1" 50 2000
	"$BASH" -c 'echo $$ >"$1/cgroup.procs" && reads "$2" 30' - "$CGROUP" "/dev/$1"
	"$BASH" -c 'echo $$ >"$1/below/cgroup.procs" && writes "$2" 20' - "$CGROUP" "/dev/$1"
	wait "$STARTED"
	stop_tracing "$tool"
	[[ $(our_io "$J" "$1") == "30 240 20 160" ]]
	[[ $(json '.run.filter' "$J") == *"${CGROUP##*/}"* ]]
}

@test "filters: -p knows what the process's calls waited for, though others sent it" {
	local pid
	need_rig
	rig_up --flush-us 3000
	mkfifo "$BATS_TEST_TMPDIR/go"
	start sh -c "read -r _ <'$BATS_TEST_TMPDIR/go'; exec dd if=/dev/zero of='$RIG_MNT/f' bs=4k count=50 oflag=dsync status=none"
	pid=${PIDS[-1]}
	start_tracing -p "$pid" "$RIG_DISK" --json "$J" -o "$BATS_TEST_TMPDIR/text"
	echo >"$BATS_TEST_TMPDIR/go"
	wait "$STARTED"
	jq -c '.sync.unflushed, .sync.ledger' "$J"
	# how much else it waited for is the machine's mood
	jq -e '.sync.unflushed == 0 and (.sync.ledger | .["flush.pre"] + .["flush.post"] >= 50 * 3e6)' "$J"
	# the journal's requests are waited for, not counted
	[[ $(of_disk "$J" "$RIG_DISK" .flush.post) == 0 ]]
}

# Tasks that wake the journal's thread are followed for others' sake: that must not hide their calls.
@test "filters: the calls of four others at once are counted beside a command, all of them" {
	local i syncs=$BATS_TEST_TMPDIR/syncs
	need_rig
	need "${CC:-cc}"
	"${CC:-cc}" -O1 -D_GNU_SOURCE -o "$syncs" "$TOP/tests/truth/syncs.c"
	rig_up --fs ext4 --flush-us 500 --write-us 100
	start_tracing "$RIG_DISK" --json "$J" -o "$BATS_TEST_TMPDIR/text" -- \
		sh -c "touch '$BATS_TEST_TMPDIR/go'; until test -e '$BATS_TEST_TMPDIR/over'; do sleep 0.05; done"
	set -- "$STARTED"
	eventually 10 test -e "$BATS_TEST_TMPDIR/go"
	for i in 1 2 3 4; do
		start "$syncs" fdatasync "$RIG_MNT/f$i" 50 >/dev/null
		set -- "$@" "$STARTED"
	done
	for i in "${@:2}"; do
		wait "$i"
	done
	touch "$BATS_TEST_TMPDIR/over"
	status_of "$1" || [[ $? == 5 ]]
	jq -c .sync.others "$J"
	accounted "$(jq '[.sync.others.by_process[] | select(.comm == "syncs").count] | add' "$J")" 200 "$J"
	[[ $(jq .sync.count "$J") == 0 ]]
}

# in_container COMMAND...: with numbers of processes of its own
in_container() {
	unshare --pid --fork --mount-proc "$@"
}

@test "filters: where processes have other numbers than in the kernel, a command and -p are refused, instead of counting nothing" {
	need_rig
	need unshare
	in_container true 2>/dev/null || skip "missing: the right to make a PID namespace"
	rig_up --flush-us 2000
	run -1 in_container "$BT" "$RIG_DISK" -- sync -d "$RIG_MNT"
	[[ ${#lines[@]} == 1 && $output == *'cannot follow a command'*'PID namespace'* ]]
	run -1 in_container "$BT" "$RIG_DISK" -d 1 -p 1
	[[ ${#lines[@]} == 1 && $output == *'cannot watch a process'*'PID namespace'* ]]
	start sync_writes "$RIG_MNT/f" 1000
	in_container "$BT" "$RIG_DISK" -d 0.5 -q --json "$J" || [[ $? == 5 ]]
	json '.sync.count > 0' "$J"
}

# These set CGROUP, one to be made in such a hierarchy.
cgroup_v1() {
	need findmnt
	CGROUP=$(findmnt -nt cgroup -O blkio -o TARGET | head -n 1)
	[[ $CGROUP ]] || skip "missing: a cgroup v1 blkio hierarchy"
	CGROUP+=/barriertrace-test.$$
}

cgroup_v2() {
	need findmnt
	CGROUP=$(findmnt -nt cgroup2 -o TARGET | head -n 1)
	[[ $CGROUP ]] || skip "missing: a cgroup v2 hierarchy"
	CGROUP+=/barriertrace-test.$$
}

# The bios carry the group then; without, they carry one above it, and who sent them tells.
cgroup_v2_io() {
	local dir
	cgroup_v2
	dir=${CGROUP%/*}
	grep -qsw io "$dir/cgroup.controllers" || skip "missing: the io controller in a cgroup v2 hierarchy"
	if ! grep -qw io "$dir/cgroup.subtree_control"; then
		on_exit "echo -io >'$dir/cgroup.subtree_control'"
		echo +io >"$dir/cgroup.subtree_control"
	fi
}

# sync_calls_of_group: only those of tasks in $CGROUP, or below
sync_calls_of_group() {
	local tool
	need_rig
	rig_up
	mkdir "$CGROUP" "$CGROUP/below"
	on_exit "rmdir $CGROUP/below $CGROUP"
	start_tracing --cgroup "$CGROUP" "$RIG_DISK" --json "$J" -o "$BATS_TEST_TMPDIR/text"
	tool=$STARTED
	sync_writes "$RIG_MNT/other" 7
	"$BASH" -c 'echo $$ >"$1/cgroup.procs" && sync_writes "$2" 5' - "$CGROUP" "$RIG_MNT/f"
	"$BASH" -c 'echo $$ >"$1/below/cgroup.procs" && sync_writes "$2" 3' - "$CGROUP" "$RIG_MNT/g"
	stop_tracing "$tool"
	jq -c '.sync.calls, .sync.by_file' "$J"
	[[ $(jq -c '.sync.calls' "$J") == '{"write":8}' ]]
}

sync_writes() { # FILE COUNT
	dd if=/dev/zero of="$1" bs=4k count="$2" oflag=dsync status=none
}
export -f sync_writes

@test "filters: --cgroup, version 1 blkio: the group's sync calls" {
	cgroup_v1
	sync_calls_of_group
}

@test "filters: --cgroup, version 2: the group's sync calls" {
	cgroup_v2
	sync_calls_of_group
}

@test "filters: --cgroup, version 1 blkio" {
	cgroup_v1
	rig_raw
	cgroup_counts "$RIG_DISK"
}

@test "filters: --cgroup, version 2" {
	cgroup_v2
	rig_raw
	cgroup_counts "$RIG_DISK"
}

@test "filters: --cgroup, version 2, where the io controller is handed down" {
	cgroup_v2_io
	rig_raw
	cgroup_counts "$RIG_DISK"
}

@test "filters: --cgroup of a disk that takes bios (zram), version 1 blkio" {
	cgroup_v1
	zram_raw
	cgroup_counts "$ZRAM"
}

@test "filters: --cgroup of a disk that takes bios (zram), version 2" {
	cgroup_v2
	zram_raw
	cgroup_counts "$ZRAM"
}

@test "filters: --cgroup of a disk that takes bios (zram), version 2, where the io controller is handed down" {
	cgroup_v2_io
	zram_raw
	cgroup_counts "$ZRAM"
}
