# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For the tests of ledgers and verdicts: workloads, neighbours, and what has to hold of every ledger.
# load ../helpers first.

need_matrix() {
	need_rig
	need sqlite3 fio
	need_syncs
}

need_syncs() {
	emulated || need "${CC:-cc}"
}

# The driver of sync calls, built once per file: in $SYNCS. For setup_file.
build_syncs() {
	if emulated; then # a guest has no compiler; scripts/vm has brought it
		export SYNCS=$BUILD/tests/syncs
		return
	fi
	command -v "${CC:-cc}" >/dev/null || return 0
	export SYNCS=$BATS_FILE_TMPDIR/syncs
	"${CC:-cc}" -O1 -D_GNU_SOURCE -o "$SYNCS" "$TOP/tests/truth/syncs.c"
}

# For a prediction beside what was measured: what a CPU loses by resting while its task waits is in no ledger, and goes with the wait. While
# somebody has this file open, and has asked for a latency of 0 µs, an idle CPU does not leave its first state, in which it polls.
keep_awake() {
	grep -qsx POLL /sys/devices/system/cpu/cpu0/cpuidle/state0/name || skip 'missing: an idle state that polls'
	start sh -c "printf '\\0\\0\\0\\0' && exec sleep infinity" >/dev/cpu_dma_latency
}

# ---- workloads ----

# inserts_ready DIR N: a database with its table in DIR, and SQL for N inserts in $SQL
inserts_ready() {
	SQL=$BATS_TEST_TMPDIR/sql DB=$1/db
	make_inserts "$SQL" "$2"
	sqlite3 -batch -init /dev/null "$DB" 'CREATE TABLE t (i INTEGER, s VARCHAR(16));' || return
	sync -f "$1"
}

# The inserts as a command's words, in $INSERTS
inserts() {
	INSERTS=(sqlite3 -batch -bail -init /dev/null "$DB" ".read $SQL")
}

# background_file FILE: what a background writer overwrites
background_file() {
	dd if=/dev/zero of="$1" bs=1M count=32 conv=fsync status=none
}

# background ARGUMENT...: of fio, until the test ends. Threads, so that nothing is left when it is killed.
background() {
	start fio --name=background --thread --time_based --runtime=120 --randrepeat=0 "$@" --output=/dev/null
}

in_flight_is() { # DISK N: so many requests at least
	local fields
	read -ra fields <"/sys/block/$1/inflight"
	((fields[0] + fields[1] >= $2))
}

cpu_hogs() { # N
	local i
	for ((i = 0; i < $1; i++)); do
		start bash -c 'while :; do :; done'
	done
}

# ---- cgroups ----

# limited_group DISK WRITES: a cgroup that does so many writes a second at most; in $GROUP
limited_group() {
	local dev root
	dev=$(<"/sys/block/$1/dev")
	for root in /sys/fs/cgroup /sys/fs/cgroup/unified; do
		grep -qw io "$root/cgroup.controllers" 2>/dev/null || continue
		echo +io >"$root/cgroup.subtree_control" 2>/dev/null || continue
		make_group "$root" || continue
		echo "$dev wiops=$2" >"$GROUP/io.max" && return
	done
	make_group /sys/fs/cgroup/blkio 2>/dev/null || skip "missing: io.max or blkio.throttle"
	echo "$dev $2" >"$GROUP/blkio.throttle.write_iops_device"
}

make_group() {
	[[ -d $1 ]] || return
	GROUP=$1/barriertrace-test.$$
	mkdir "$GROUP" || return
	on_exit "rmdir_group '$GROUP'"
}

rmdir_group() {
	local pid
	while read -r pid; do
		kill -KILL "$pid"
	done <"$1/cgroup.procs"
	eventually 5 rmdir "$1"
}

# in_group WORDS...: as a command, in $IN_GROUP
in_group() {
	# shellcheck disable=SC2016  # for the inner shell
	IN_GROUP=(sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$GROUP" "$@")
}

# ---- a traced run ----

TRACE_WITH=()	# more options

# trace WORD...: a run of this command; $J and $TXT are its reports
trace() {
	J=$BATS_TEST_TMPDIR/report.json TXT=$BATS_TEST_TMPDIR/report.txt
	"$BT" "${TRACE_WITH[@]}" "$RIG_DISK" --json "$J" -o "$TXT" -- "$@" >"$BATS_TEST_TMPDIR/output"
}

figures() {
	jq -r '.sync as $s | ($s.total_ns | if . == 0 then 1 else . end) as $t |
		"\(.verdict.class), share \(.verdict.share * 1000 | round / 10) %, unknown \(($s.ledger.unknown // 0) / $t * 10000 | round / 100) %, " +
		"\($s.count) calls of \($s.total_ns / ([$s.count, 1] | max) / 1e4 | round / 100) ms: " +
		([$s.ledger // {} | to_entries[] | select(.value / $t >= 0.01)] | sort_by(-.value) |
		map("\(.key) \(.value / $t * 1000 | round / 10)") | join(", "))' "$J"
}

# Every ledger adds up to the nanosecond, and all of them to the whole.
ledgers_add_up() {
	jq -e '
		def total(l): [l[]] | add // 0;
		.sync as $s |
		total($s.ledger // {}) == ($s.total_ns // 0) and
		all($s.by_process[]?, $s.by_file[]?; total(.ledger) == .total_ns) and
		all($s.slowest[]?; total(.ledger) == .duration_ns) and
		([$s.by_process[]?.total_ns] | add // 0) == $s.total_ns and
		([$s.by_file[]?.total_ns] | add // 0) == $s.total_ns and
		([$s.by_process[]?.count] | add // 0) == $s.count and
		([$s.calls[]?] | add // 0) == $s.count
	' "$J" >/dev/null || { echo "a ledger doesn't add up"; return 1; }
}

# Where tracepoints can be preempted (7.0: system calls are taken by classic ones there) the kernel skips block events meanwhile. The
# report says how many; what it makes of the rest is held to everything else.
only_preempted() {
	[[ ! ${TRACE_WITH[*]} ]] && jq -e '[.probes[] | select(.name == "sync.enter") | .rung] == ["tp"] and
		(.run.lost | length > 0 and all(.[].reason; startswith("program runs that the kernel skipped")))' "$J" >/dev/null
}

# True if no events were lost, or too few to matter for bounds in percent.
little_lost() {
	whole "$J" || only_preempted || { jq -c '.run.lost // .lost' "$J"; return 1; }
	jq -e '.sync.no_ledger <= .run.lost_events' "$J" >/dev/null || { echo "$(jq .sync.no_ledger "$J") calls without a ledger"; return 1; }
}

# unknown_below SHARE
unknown_below() {
	jq -e "(.sync.ledger.unknown // 0) <= $1 * .sync.total_ns" "$J" >/dev/null ||
		{ echo "unknown: more than $1"; jq -c '.sync.leaves[] | select(.cause == "unknown") | [.path, .ns]' "$J"; return 1; }
}

UNKNOWN=0.01	# the share of it that is allowed

sound() { # what holds of every run
	figures
	ledgers_add_up && little_lost && unknown_below "$UNKNOWN"
}

class_is() { # CLASS [FAMILY]
	jq -e --arg class "$1" --arg family "${2:-}" '.verdict |
		.class == $class and (.family // "") == $family and (.sentence | length) > 20 and (.evidence | length) > 0
	' "$J" >/dev/null || { jq -c .verdict "$J"; return 1; }
}

# says PATH WORD: of the verdict
says() {
	jq -e --arg word "$2" ".verdict$1 | if type == \"array\" then join(\"\\n\") else . end | contains(\$word)" "$J" >/dev/null ||
		{ echo "no $2 in the verdict's $1"; return 1; }
}

# cause NAME: its share of the sync time
cause() {
	jq -r --arg c "$1" '(.sync.ledger[$c] // 0) / .sync.total_ns' "$J"
}

ledger_flush_ns() {
	jq '.sync.ledger | (."flush.pre" // 0) + (."flush.post" // 0) + (."flush.only" // 0)' "$J"
}

# One writer waits for each of its flushes: the ledger's sum is the sum of the block requests' times.
flushes_are_the_blocks() {
	local ledger block running
	ledger=$(ledger_flush_ns)
	block=$(jq '.devices[0].ops.flush.device.sum_ns // 0' "$J")
	holds "$ledger >= $block * 0.99 && $ledger <= $block * 1.01" && return
	# one CPU, and a flush of no more than what it does for one: 24 µs, in 12 of which the caller still ran or wanted to
	running=$(jq '.sync.ledger | (.cpu // 0) + (.runq // 0)' "$J")
	emulated 'a caller that is off its CPU before a flush begins' &&
		holds "$ledger <= $block * 1.01 && $ledger + $running >= $block * 0.99"
}

# disk_hop N: what a plain flush takes beyond the daemon's own time, in ns, in $HOP
disk_hop() {
	local i ms
	rig_reset
	ms=$(kernel_stat "$RIG_DISK" 17)
	for ((i = 0; i < $1; i++)); do
		sync "$RIG_DEV"
	done
	ms=$(($(kernel_stat "$RIG_DISK" 17) - ms))
	HOPS=$1 HOP=$(((ms * 1000000 - $(rig_stat flush_sum_ns)) / $1))
	rig_reset
}

# The disk's own clock, and the way to it and back.
flushes_are_the_disks() {
	local ledger disk
	ledger=$(ledger_flush_ns)
	disk="($(rig_stat flush_sum_ns) + $(rig_stat flush_count) * $HOP)"
	holds "$ledger >= $disk * 0.98 && $ledger <= $disk * 1.02"
}

ONE_WRITER=1	# nobody else's sync calls or commits send flushes
HOP=		# measured where nothing but the writer is at work: see disk_hop

# A busy disk holds a flush up on its way too, and how long is in nobody's clock but the block layer's.
flushes_are_true() {
	[[ $ONE_WRITER ]] || return 0
	flushes_are_the_blocks || { echo "ledger $(ledger_flush_ns), blocks $(jq '.devices[0].ops.flush.device' -c "$J")"; return 1; }
	holds "$(ledger_flush_ns) >= $(rig_stat flush_sum_ns)" || return
	[[ ! $HOP ]] || flushes_are_the_disks
}

TRIES=12
LOST=0.005	# the share of a whole run that lost events may have changed: see loss()

# Whatever a report calls whole has to be right at once, but for what it says it lost; what it doesn't is tried again.
whole() { # JSON
	holds "$(loss "$1") <= $LOST" &&
		jq -e "[.devices[]? | (.unpaired // 0) <= $LOST * ([.ops[]?.count // 0] | add // 0)] | all" "$1" >/dev/null
}

# one_of_three COMMAND...: what a busy machine can spoil has to hold in one run of three. (Tracepoints miss events while
# another tracer comes or goes, a compiler takes the CPU.) A ledger that doesn't add up is no such thing.
one_of_three() {
	local try held=0
	for ((try = 1; try <= TRIES && held < 3; try++)); do
		"$@" && return
		echo "try $try: failed"
		[[ ! -e $J ]] || ledgers_add_up || return
		# lost events may explain the failure
		[[ -e $J ]] && (($(lost "$J"))) || ((++held))
		# one of its flushes, too, may have met a compiler
		[[ ! $HOP ]] || disk_hop "$HOPS"
	done
	return 1
}

# answer CLASS FAMILY COMMAND...: what a run of it has to come to, in one of three
answer() {
	one_of_three answer_once "$@" || return
	comment "$(figures)"
}

answer_once() {
	local class=$1 family=$2
	shift 2
	[[ ! $ONE_WRITER ]] || rig_reset
	trace "$@" && sound && class_is "$class" "$family" && flushes_are_true
}
