# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For bats files: load ../helpers (brings ../rig/helpers along).
#
#   setup()    { need_tracing; }
#   teardown() { clean_up; }

# shellcheck source=rig/helpers.bash
source "${BASH_SOURCE[0]%/*}/rig/helpers.bash"

TOP=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
BT=${BUILD:-build}/barriertrace
[[ $BT == /* ]] || BT=$TOP/$BT
export BT

# The tests are often run by sudo, which the tool heeds.
unset SUDO_UID SUDO_GID SUDO_USER PKEXEC_UID DOAS_USER NO_COLOR
export LC_ALL=C.UTF-8

# In an emulated machine (scripts/vm) everything takes long, so waits last so many times as long, and what takes a real CPU is
# not asked: see emulated.
PATIENCE=${BARRIERTRACE_PATIENCE:-1}

PIDS=()		# what was started in the background
ON_EXIT=()	# commands for teardown, the last one first

need_tool() {
	[[ -x $BT ]] || skip "missing: $BT"
}

# What scripts/setup cross installs
has_cross() {
	type -P aarch64-linux-gnu-gcc >/dev/null && [[ -e $("$TOP/scripts/sysroot" --where arm64)/.complete ]]
}

need_cross() {
	has_cross || skip 'missing: what builds for arm64 (scripts/setup cross)'
}

# why_no_guest FILE: what scripts/vm said last, with exit status 77
why_no_guest() {
	sed -n 's/^vm: //p' "$1" | tail -n 1
}

# What eBPF tracing takes: not asked of the tool that is under test.
need_tracing() {
	local caps
	need_tool
	need_root
	need jq
	[[ -r /sys/kernel/btf/vmlinux ]] || skip "missing: /sys/kernel/btf/vmlinux"
	caps=$(sed -n 's/^CapEff:\s*/0x/p' /proc/self/status)
	# CAP_SYS_ADMIN, or CAP_BPF and CAP_PERFMON
	((caps >> 21 & 1 || (caps >> 38 & 3) == 3)) || skip "missing: CAP_BPF and CAP_PERFMON"
}

need_rig() {
	need_tracing
	need_loop_fuse
}

# A mount namespace of our own: containers often refuse it.
need_mount_namespace() {
	need_root
	need unshare mount
	unshare -m mount -t tmpfs none /mnt 2>/dev/null || skip "missing: the right to unshare and mount"
}

# There is no governor on most virtual machines: two CPUs' are made up in the folder $GOVERNORS, for with_governors.
make_governors() {
	need_mount_namespace
	GOVERNORS=$BATS_TEST_TMPDIR/cpu
	mkdir -p "$GOVERNORS/cpu0/cpufreq" "$GOVERNORS/cpu1/cpufreq"
	cp /sys/devices/system/cpu/{possible,online,present} "$GOVERNORS"
	echo powersave >"$GOVERNORS/cpu0/cpufreq/scaling_governor"
	echo schedutil >"$GOVERNORS/cpu1/cpufreq/scaling_governor"
}

# with_governors COMMAND...: in a mount namespace where they are the machine's
with_governors() {
	# shellcheck disable=SC2016  # for the inner shell
	unshare -m bash -c 'mount --bind "$1" /sys/devices/system/cpu && shift && exec "$@"' - "$GOVERNORS" "$@"
}

# A disk that nobody uses, so that nothing of it can be lost; its name in $DISK. It goes with clean_up.
quiet_disk() {
	local image
	need losetup
	[[ -c /dev/loop-control ]] || skip "missing: /dev/loop-control"
	image=$(mktemp /dev/shm/barriertrace-disk.XXXXXX)
	on_exit "rm -f $image"
	truncate -s 1M "$image"
	DISK=$(losetup -f --show "$image")
	on_exit "losetup -d $DISK"
	DISK=${DISK#/dev/}
}

need_zram() {
	[[ -e /sys/class/zram-control/hot_add ]] || skip "missing: zram"
}

# A disk in memory that takes bios; its name in $ZRAM. It goes with clean_up.
zram_up() {
	local id
	id=$(</sys/class/zram-control/hot_add)
	ZRAM=zram$id
	on_exit "zram_down $id"
	echo 32M >"/sys/block/$ZRAM/disksize"
	eventually 5 test -b "/dev/$ZRAM"
}

zram_down() {
	[[ -e /sys/block/zram$1 ]] || return 0
	echo 1 >"/sys/block/zram$1/reset"
	echo "$1" >/sys/class/zram-control/hot_remove
}

# start COMMAND...: in the background; its number in $STARTED
start() {
	"$@" &
	STARTED=$!
	PIDS+=("$STARTED")
}

on_exit() {
	ON_EXIT+=("$*")
}

# For teardown, whatever the test came to.
clean_up() {
	local i pid
	for pid in "${PIDS[@]}"; do
		kill -KILL "$pid" 2>/dev/null || true
	done
	for pid in "${PIDS[@]}"; do
		wait "$pid" 2>/dev/null || true
	done
	for ((i = ${#ON_EXIT[@]} - 1; i >= 0; i--)); do
		eval "${ON_EXIT[i]}" || echo "clean_up: ${ON_EXIT[i]} failed"
	done
	rig_down
}

# eventually SECONDS COMMAND...: until it succeeds
eventually() {
	local end=$((${EPOCHREALTIME/[.,]/} + $1 * 1000000 * PATIENCE))
	shift
	until "$@"; do
		((${EPOCHREALTIME/[.,]/} < end)) || { echo "never: $*"; return 1; }
		sleep 0.02
	done
}

links_of() {
	grep -ls '^link_type' "/proc/$1/fdinfo/"* 2>/dev/null | wc -l
}

# It has its programs attached, more than the one that it has at a time while it plans, and waits for what they tell: until the
# last one is attached it waits for nothing so, and one alone may take a third of a second. wchan is 0 for all in 5.10.
is_tracing() {
	(($(links_of "$1") >= 4)) && [[ $(cat "/proc/$1/wchan" "/proc/$1/stack" 2>/dev/null) == *poll* ]]
}

# start_tracing ARGUMENT...: in the background; returns when every probe is
# attached. Its standard error is in $ERR.
start_tracing() {
	ERR=$BATS_TEST_TMPDIR/stderr.${#PIDS[@]}
	start "$BT" "$@" 2>"$ERR"
	eventually 10 is_tracing "$STARTED" || { cat "$ERR"; return 1; }
}

# stop_tracing PID [SIGNAL]: its exit status
stop_tracing() {
	local status=0
	kill -s "${2:-INT}" "$1"
	status_of "$1" || status=$?
	((status != 5)) || return 0 # events were lost: see whole()
	return $status
}

# status_of PID: wait for it, at most 10 s
status_of() {
	local end=$((SECONDS + 10 * PATIENCE + 1)) status=0
	while kill -0 "$1" 2>/dev/null && ((SECONDS < end)); do
		sleep 0.02
	done
	((SECONDS < end)) || { echo "process $1 does not end"; kill -KILL "$1"; }
	wait "$1" || status=$?
	return $status
}

# emulated WHAT: are we in a machine whose CPU is emulated? Then says what is not asked of it.
emulated() {
	[[ ${BARRIERTRACE_EMULATED:-} ]] || return 1
	[[ ! ${1:-} ]] || comment "not asked of an emulated CPU: $1"
}

# step TEXT: what comes next, on a guest's console: one that prints nothing for long is taken to hang
step() {
	echo "$*" >/dev/console
}

# holds EXPRESSION: of awk, with numbers; shown if it doesn't
holds() {
	awk "BEGIN { exit !($1) }" || { echo "does not hold: $1"; return 1; }
}

# mean FILE PATH: of the histogram at this jq path
mean() {
	jq -er "$2 | .sum_ns / .count" "$1"
}

# comment TEXT: shown also when the test passes
comment() {
	echo "# $*" >&3
}

# of_disk FILE NAME PATH: a figure of one device of a report; 0 if it is absent
of_disk() {
	jq -er --arg d "$2" "[.devices[]? | select(.name == \$d)][0]$3 // 0" "$1"
}

# make_inserts FILE N: SQL of as many autocommit transactions, and one for the table
make_inserts() {
	# no loop of ours: what bats does around a command takes 0.4 ms for each
	{
		echo 'CREATE TABLE IF NOT EXISTS t (i INTEGER, s VARCHAR(16));'
		seq 1 "$2" | sed "s/.*/INSERT INTO t VALUES (&, 'value &');/"
	} >"$1"
}

# fio_json FILE ARGUMENT...: synchronous, direct
fio_json() {
	local out=$1
	shift
	fio --name=t --ioengine=sync --direct=1 --bs=4k --randrepeat=0 --output-format=json --output="$out" "$@"
}


# lost JSON: events, and requests of which only a part was seen. Some kernels run no tracing program at all on top of certain
# tasks: where a completion's interrupt meets such a task, neither we nor ftrace nor biolatency see it. The tool finds that out by
# the kernel's own counters and says so: ours and what is said to be lost are as many as the kernel's.
lost() {
	jq '.run.lost_events + ([.devices[]?.unpaired // 0] | add // 0) + (.sync.no_ledger // 0)' "$1"
}

# accounted OURS THEIRS JSON: the same, but for what the report says to have lost
accounted() {
	(($1 <= $2 && $1 + $(lost "$3") >= $2)) || { echo "ours $1, theirs $2, lost $(lost "$3")"; return 1; }
}

# loss JSON: what lost events have changed at most, by the report's own bound: a share of the time, 1 where there is no bound
loss() {
	jq '[.run.lost[]? | .at_most_share // 1] | add // 0' "$1"
}

# or_lost COMMAND...: status 5, events were lost, is no failure
or_lost() {
	"$@" || [[ $? == 5 ]]
}

# cpu_times: what this machine's CPUs did since the boot, and what the hypervisor took of it meanwhile (ticks)
cpu_times() {
	awk '$1 == "cpu" { print $2 + $3 + $4 + $7 + $8 + $9, $9; exit }' /proc/stat
}

# stolen CPU_TIMES: whether the hypervisor has taken more than one part in 50 of the CPUs' time since then
stolen() {
	local busy taken
	read -r busy taken < <(cpu_times)
	((taken - ${1#* } > 0 && (taken - ${1#* }) * 50 > busy - ${1% *}))
}
