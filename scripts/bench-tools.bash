# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# shellcheck disable=SC2034,SC2153 # used, or set, by scripts/bench and its other parts
#
# For scripts/bench: the tools that are measured, what the kernel says that they cost, the disk, the loads.

# Ours first; who a row's limit speaks of.
OURS=barriertrace
DEFAULT="$OURS, by default"
RIVAL='biolatency -Q -F -D'
PEERS=(biolatency 'biolatency -F -D' 'biolatency -Q -F -D' bpftrace biostacks 'biosnoop -Q')
# What one would run beside those to learn what else a sync call waits for
OF_TASKS=(runqlat offcputime)
SETTLED=3	# looks in a row that find the same programs: it has started
LOOK=0.04	# seconds between them
START_LIMIT=10	# seconds

program_of() { # NAME: as Debian, Fedora or Arch call it
	type -P "$1" || type -P "bpf-$1" || type -P "libbpf-$1"
}

# The command of a tool on $DISK, in COMMAND; status 1, and why in $WHY, if there is none.
command_of() { # TOOL
	local program words
	case $1 in
	"$OURS") COMMAND=("$BT" -q --plain --no-ledger -o "$WORK/report" "$DISK") && return ;;
	"$DEFAULT") COMMAND=("$BT" -v --plain -o "$WORK/report" "$DISK") && return ;;
	"$OURS, ledgers on") COMMAND=("$BT" -q --plain -o "$WORK/report" --json "$WORK/report.json" "$DISK") && return ;;
	'empty program') COMMAND=("$GAUGE" attach "$EMPTY" empty_complete) && return ;;
	'burn 2 µs') COMMAND=("$GAUGE" attach "$EMPTY" burn_complete) && return ;;
	'empty sched_switch') COMMAND=("$GAUGE" attach "$EMPTY" empty_switch) && return ;;
	bpftrace) COMMAND=(bpftrace "$TOP/tests/bench/biolatency.bt") ;;
	*) read -ra COMMAND <<<"$1" ;;
	esac
	words=("${COMMAND[@]}")
	program=$(program_of "${words[0]}") || { WHY='not installed'; return 1; }
	COMMAND=("$program" "${words[@]:1}")
}

# until_rest ERRORS: by what the default command says in that file. What only ledgers need is detached 10 s after its start, if nobody
# syncs. Status 1, and why in $WHY, if it wasn't.
until_rest() {
	local i
	for ((i = 0; i < 150; i++)); do
		! at_rest "$1" || { sleep 0.3; return; }
		sleep 0.1
	done
	WHY='did not come to rest: somebody syncs'
	return 1
}

# at_rest ERRORS: and it was not woken since
at_rest() {
	grep -q 'ledgers are off until the next' "$1" && ! grep -q 'ledgers are on again' "$1"
}

PRELOAD=()	# what runs the tool's command
TOOLS_STARTED=0

# tool_start TOOL: returns when all its programs are attached; its process in $TOOL_PID, what it says in $TOOL_ERR
tool_start() {
	local end=$((SECONDS + START_LIMIT)) same=0 least=1 before='' now
	command_of "$1" || return
	# while it tries what the kernel lets it, it has one attached at a time
	[[ $1 != "$OURS"* ]] || least=2
	TOOL_ERR=$WORK/tool.err.$((++TOOLS_STARTED))
	"${PRELOAD[@]}" "${COMMAND[@]}" >"$WORK/tool.out" 2>"$TOOL_ERR" </dev/null &
	TOOL_PID=$!
	disown # or the shell tells how it ended
	while ((same < SETTLED)); do
		sleep "$LOOK"
		kill -0 "$TOOL_PID" 2>/dev/null || { why_not "$1"; return 1; }
		((SECONDS < end)) || { WHY="did not start in $START_LIMIT s"; tool_stop; return 1; }
		now=$(links_of "$TOOL_PID")
		[[ $now == "$before" && $(wc -w <<<"$now") -ge $least ]] && ((++same)) || same=0
		before=$now
	done
}

# What shows that it is attached: links, raw tracepoints' among them, or perf events
links_of() { # PID
	find "/proc/$1/fd" -maxdepth 1 \( -lname '*bpf*link*' -o -lname '*perf_event*' -o -lname '*raw-tracepoint*' \) -printf '%f ' 2>/dev/null
}

why_not() { # TOOL
	TOOL_PID=
	WHY="does not run here: $(grep -v '^\s*$' "$TOOL_ERR" "$WORK/tool.out" -h | head -n 1 | tr '\t' ' ' | cut -c 1-100)"
}

# Its report is written by then
tool_stop() {
	tool_end INT
}

tool_end() { # SIGNAL
	local i
	[[ ${TOOL_PID-} ]] || return 0
	kill -s "$1" "$TOOL_PID" 2>/dev/null
	for ((i = 0; i < 500; i++)); do
		kill -0 "$TOOL_PID" 2>/dev/null || { TOOL_PID=; return; }
		sleep 0.02
	done
	kill -KILL "$TOOL_PID" 2>/dev/null
	TOOL_PID=
}

# A second one, beside it
other_stop() {
	TOOL_PID=${OTHER_PID-} OTHER_PID=''
	tool_stop
}

# ---- what the kernel says ----

statistics() { # 0 or 1
	echo "$1" >/proc/sys/kernel/bpf_stats_enabled
}

# run_times [PID..]: the programs of the tool, or of those: "ID NAME NS RUNS" each
run_times() {
	"$GAUGE" programs "${@:-$TOOL_PID}"
}

# costs FILE FILE N: between two run_times: "TOTAL NS-PER-N", then "NAME NS-PER-N RUNS-PER-N NS-PER-RUN" of each that ran
costs() {
	awk -v n="$3" '
		NR == FNR { ns[$1] = $3; runs[$1] = $4; next }
		$4 > runs[$1] {
			d = $3 - ns[$1]; r = $4 - runs[$1]; sum += d
			line[++lines] = sprintf("%s %.2f %.3f %.1f", $2, d / n, r / n, d / r)
		}
		END {
			if (n <= 0) exit 1
			printf "TOTAL %.2f\n", sum / n
			for (i = 1; i <= lines; i++) print line[i]
		}' "$1" "$2"
}

# What a process has used of the CPU, its threads that are over included: ns
cpu_of() { # PID
	cat "/proc/$1/task/"*/schedstat 2>/dev/null | awk '{ n += $1 } END { printf "%d\n", n }'
}

resident_mib() { # PID
	awk '/^VmRSS:/ { printf "%.2f\n", $2 / 1024 }' "/proc/$1/status"
}

# ---- the disk: a loop device on a file in memory ----

# ram_up SCHEDULER [FILE-SYSTEM-SIZE]: sets $DISK, with a size an ext4 on it at $MNT. The page cache is the disk (no direct I/O).
ram_up() {
	ram_down
	RAM=$(mktemp -d /dev/shm/barriertrace-bench.XXXXXX) || return
	truncate -s "${2:-256M}" "$RAM/disk" || return
	# holes would be faster than what was written
	[[ ${2-} ]] || dd if=/dev/zero of="$RAM/disk" bs=1M count=256 conv=notrunc status=none
	DEV=$(losetup --find --show "$RAM/disk") || return
	DISK=${DEV#/dev/}
	queue_kept=$(sed -n 's/.*\[\(.*\)\].*/\1/p' "/sys/block/$DISK/queue/scheduler")
	echo "$1" >"/sys/block/$DISK/queue/scheduler" || return
	[[ ! ${2-} ]] || ram_fs
}

ram_fs() {
	MNT=$RAM/mnt
	mkdir "$MNT" && mkfs.ext4 -q -F -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 "$DEV" && mount -o noatime "$DEV" "$MNT" &&
		sync -f "$MNT"
}

ram_down() {
	local i
	[[ ${RAM-} ]] || return 0
	for ((i = 0; i < 50; i++)); do
		mountpoint -q "${MNT:-/nosuch}" || break
		umount "$MNT" 2>/dev/null || sleep 0.1 # a load is ending
	done
	if [[ ${DEV-} ]]; then
		echo "$queue_kept" >"/sys/block/$DISK/queue/scheduler"
		echo 1 >"/sys/block/$DISK/queue/iostats"
		for ((i = 0; i < 50; i++)); do
			losetup -d "$DEV" 2>/dev/null
			[[ -e /sys/block/$DISK/loop ]] || break
			sleep 0.05
		done
	fi
	rm -rf --one-file-system "$RAM"
	RAM='' DEV='' DISK='' MNT=''
}

# Requests of the disk, by the kernel's own account: reads, writes, flushes
requests_of() { # DISK
	awk '{ print $1 + $5 + $16 }' "/sys/block/$1/stat"
}

# ---- loads ----

# fio_words WORK SECONDS: 4k; in FIO
fio_words() {
	FIO=(fio --name=b --filename="$DEV" --size=256m --direct=1 --bs=4k --randrepeat=0 --norandommap --gtod_reduce=1 --time_based
		--runtime="$2" --output-format=json --output="$WORK/fio.json")
	case $1 in
	onebyone) FIO+=(--rw=randread --ioengine=psync) ;;
	randread | randwrite) FIO+=(--rw="$1" --ioengine=libaio --iodepth=8) ;;
	fsync) FIO+=(--rw=randwrite --ioengine=sync --fsync=1) ;;
	esac
}

fio_load() { # WORK SECONDS
	fio_words "$@"
	"${FIO[@]}" >/dev/null 2>"$WORK/fio.err"
}

# In the background, until load_stop
load_start() { # COMMAND...
	"$@" >"$WORK/load.out" 2>"$WORK/load.err" </dev/null &
	LOAD_PID=$!
}

load_stop() {
	[[ ${LOAD_PID-} ]] || return 0
	kill "$LOAD_PID" 2>/dev/null
	wait "$LOAD_PID" 2>/dev/null
	LOAD_PID=
}
