# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# shellcheck disable=SC2034,SC2153 # used, or set, by scripts/bench and its other parts
#
# For scripts/bench: a function per group of rows. Each takes its samples in rounds, in which the tools take turns.

rounds() { # N: fewer with --quick; BENCH_ROUNDS: so many at most
	[[ ! $QUICK ]] || set -- $((($1 + 2) / 3))
	((BENCH_ROUNDS == 0 || $1 < BENCH_ROUNDS)) || set -- "$BENCH_ROUNDS"
	seq "$1"
}

seconds() { # N
	[[ $QUICK ]] && awk "BEGIN { print $1 / 2 }" || echo "$1"
}

ratio() { # A B DIGITS [FACTOR]
	awk "BEGIN { printf \"%.$3f\n\", ($1) / ($2) * ${4-1} }"
}

# share_costs ROW TOOL: of $WORK/costs
sample_costs() {
	local name ns rest
	while read -r name ns rest; do
		if [[ $name == TOTAL ]]; then
			sample "$1" "$2" "$ns"
			COST=$ns
		else
			read -r _ rest <<<"$rest"
			part "$1" "$2" "$name" "$ns"
		fi
	done <"$WORK/costs"
}

# ---- (a) BPF time per request ----

# block_run ROW TOOL WORK: amid one run, its cost in $COST
block_run() {
	local n
	COST=''
	tool_start "$2" || { missing "$1" "$2" "$WHY"; return; }
	[[ $2 != "$DEFAULT" ]] || until_rest "$TOOL_ERR" || { missing "$1" "$2" "$WHY"; tool_stop; return 0; }
	fio_words "$3" 60
	load_start "${FIO[@]}"
	# the load begins, and the tool may find out what it can do without under it
	sleep 1
	run_times >"$WORK/before"
	n=$(requests_of "$DISK")
	sleep "$(seconds 0.6)"
	run_times >"$WORK/after"
	n=$(($(requests_of "$DISK") - n))
	load_stop
	tool_stop
	costs "$WORK/before" "$WORK/after" "$n" >"$WORK/costs" && sample_costs "$1" "$2"
}

# The slow ones in the first rounds only
measure_block_row() { # SCHEDULER WORK
	local row=block.$1.$2 round tool ours rival
	for round in $(rounds 5); do
		block_run "$row" "$OURS" "$2" || return
		ours=$COST
		block_run "$row" "$RIVAL" "$2" || return
		rival=$COST
		[[ ! $ours || ! $rival ]] || sample "block.ratio.$1.$2" "$OURS" "$(ratio "$ours" "$rival" 3)"
		((round <= 2)) || continue
		for tool in "${PEERS[@]}" 'empty program'; do
			[[ $tool == "$RIVAL" ]] || block_run "$row" "$tool" "$2" || return
		done
	done
}

measure_unstamped() { # SCHEDULER
	local round tool
	echo 0 >"/sys/block/$DISK/queue/iostats"
	for round in $(rounds 5); do
		for tool in "$OURS" "$RIVAL"; do
			# without iostats the kernel counts nothing either: fio does
			unstamped_run "block.unstamped.$1" "$tool" || return
		done
	done
	echo 1 >"/sys/block/$DISK/queue/iostats"
}

unstamped_run() { # ROW TOOL
	tool_start "$2" || { missing "$1" "$2" "$WHY"; return 0; }
	run_times >"$WORK/before"
	fio_load randread "$(seconds 600)ms" || { tool_stop; return 1; }
	run_times >"$WORK/after"
	tool_stop
	costs "$WORK/before" "$WORK/after" "$(jq '.jobs[0].read.total_ios' "$WORK/fio.json")" >"$WORK/costs" && sample_costs "$1" "$2"
}

measure_block() {
	local sched work
	statistics 1
	for sched in none mq-deadline; do
		ram_up "$sched" || return
		for work in randread randwrite fsync; do
			wanted "block.$sched.$work" || wanted "block.ratio.$sched.$work" || continue
			measure_block_row "$sched" "$work" || return
		done
		! wanted "block.unstamped.$sched" || measure_unstamped "$sched" || return
	done
	statistics 0
}

# ---- (b) throughput kept ----

# kept_reads ROW TOOL..: of random reads of $DEV
kept_reads() {
	fio_words randread 300
	kept "$1" "$DISK" "${@:2}" -- "${FIO[@]}"
}

# kept_syncs ROW FILE TASKS TOOL..
kept_syncs() {
	kept "$1" "$2.calls" "${@:4}" -- "$GAUGE" syncs "$2" "$3" 0 300
}

measure_default() {
	local sched round ours START_SECONDS=$LONG_START_SECONDS
	for sched in none mq-deadline; do
		ram_up "$sched" || return
		statistics 1
		for round in $(rounds 3); do
			wanted "default.$sched" || wanted "default.ratio.$sched" || break
			block_run "default.$sched" "$DEFAULT" randread || return
			ours=$COST
			block_run "default.$sched" "$OURS" randread || return
			block_run "default.$sched" "$RIVAL" randread || return
			[[ ! $ours || ! $COST ]] || sample "default.ratio.$sched" "$DEFAULT" "$(ratio "$ours" "$COST" 3)"
		done
		statistics 0
		! wanted "default.kept.$sched" || kept_reads "default.kept.$sched" "$DEFAULT" "$OURS" "$RIVAL" || return
	done
}

# own_disk FILE: sets $DISK, the whole disk that the file's file system says that it is on
own_disk() {
	local dev
	dev=$(findmnt -nro MAJ:MIN -T "$1") && dev=$(readlink -f "/sys/dev/block/$dev") || return
	[[ ! -e $dev/partition ]] || dev=${dev%/*}
	DISK=${dev##*/}
	[[ -e /sys/block/$DISK/stat ]]
}

# Files only: the disk is the machine's.
measure_own() {
	local row status
	if ! own_disk "$WORK"; then
		for row in own.kept own.sync; do
			missing "$row" "$DEFAULT" "no disk below ${WORK%/*}"
		done
		DISK=''
		return
	fi
	own_rows
	status=$?
	rm -f "$WORK"/own*
	DISK=''
	return $status
}

own_rows() {
	if wanted own.kept; then
		# what a host might store as holes would be faster
		head -c 256M /dev/urandom >"$WORK/own" && sync "$WORK/own" || return
		DEV=$WORK/own kept_reads own.kept "$DEFAULT" "$OURS" "$RIVAL" || return
	fi
	! wanted own.sync || kept_syncs own.sync "$WORK/own.s" 1 "$DEFAULT" "$RIVAL"
}

measure_kept() {
	local sched
	for sched in none mq-deadline; do
		wanted "kept.$sched" || continue
		ram_up "$sched" && kept_reads "kept.$sched" "$OURS" "$RIVAL" bpftrace biostacks 'biosnoop -Q' 'empty program' || return
	done
	wanted kept.sync || return 0
	ram_up none 512M || return
	kept_syncs kept.sync "$MNT/s" 1 "$OURS, ledgers on" "$RIVAL" "${OF_TASKS[@]}" || return
	! wanted kept.sync4 || kept_syncs kept.sync4 "$MNT/s" 4 "$OURS, ledgers on" "$RIVAL" "${OF_TASKS[@]}"
}

# ---- (c) context switches ----

# ns_per_run PATTERN: print the time per run of the programs whose name matches
ns_per_run() {
	awk -v name="$1" '$1 ~ name { print $4 }' "$WORK/costs"
}

# switch_run TOOL: ns of sched_switch and of sched_waking per run of theirs, in $SWITCH and $WAKING
switch_run() {
	SWITCH='' WAKING=''
	tool_start "$1" || return
	run_times >"$WORK/before"
	"$GAUGE" switches "$(seconds 60000 | cut -d. -f1)" >/dev/null || { tool_stop; return 1; }
	run_times >"$WORK/after"
	tool_stop
	costs "$WORK/before" "$WORK/after" 1 >"$WORK/costs"
	SWITCH=$(ns_per_run switch)
	WAKING=$(ns_per_run 'waking|wakeup$')
}

switch_peers() { # NS-OF-EMPTY
	local tool
	for tool in "${OF_TASKS[@]}"; do
		switch_run "$tool" || { missing switch.ns "$tool" "$WHY"; continue; }
		[[ ! $SWITCH ]] || sample switch.ns "$tool" "$SWITCH"
		[[ ! $SWITCH ]] || sample switch.unfollowed "$tool" "$(ratio "$SWITCH" "$1" 3)"
		[[ ! $WAKING ]] || sample switch.waking "$tool" "$WAKING"
	done
}

switch_followed() {
	tool_start "$OURS, ledgers on" || return
	load_start "$GAUGE" syncs "$MNT/s" 1 0 "$(seconds 1)"
	sleep 0.2
	run_times >"$WORK/before"
	sleep "$(seconds 0.6)"
	run_times >"$WORK/after"
	wait "$LOAD_PID"
	LOAD_PID=
	tool_stop
	costs "$WORK/before" "$WORK/after" 1 >"$WORK/costs"
	sample switch.followed "$OURS" "$(ns_per_run switch)"
}

measure_switch() {
	local round empty
	statistics 1
	ram_up none 512M || return
	for round in $(rounds 9); do
		switch_run 'empty sched_switch' || return
		empty=$SWITCH
		sample switch.ns 'empty program' "$empty"
		switch_run "$OURS, ledgers on" || return
		sample switch.ns "$OURS" "$SWITCH"
		[[ ! $WAKING ]] || sample switch.waking "$OURS" "$WAKING"
		sample switch.unfollowed "$OURS" "$(ratio "$SWITCH" "$empty" 3)"
		((round > 3)) || switch_peers "$empty"
		((round > 5)) || ! wanted switch.followed || switch_followed || return
	done
	statistics 0
}

# ---- (d) BPF time per sync call ----

measure_sync() {
	local round tool rig
	SYNC_CALLS=''
	rig=$("$TOP/tests/rig/rig" up --owner "$$" --flush-us 0 --write-us 0 --sched none) || return
	eval "$rig"
	DISK=$RIG_DISK
	{
		echo 'PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);'
		seq -f "INSERT INTO t (a) VALUES ('row %.0f');" "$(seconds 4000)"
	} >"$WORK/wal.sql"
	statistics 1
	for round in $(rounds 7); do
		sync_run "$OURS, ledgers on" || break
		((round <= 2)) || continue
		for tool in "$RIVAL" "${OF_TASKS[@]}"; do
			sync_run "$tool" || break 2
		done
	done
	statistics 0
	DISK=''
	"$TOP/tests/rig/rig" down "$RIG"
	((round))
}

# Sample the time per run of each workqueue program.
sample_works() {
	local what ns
	for what in queue start end; do
		ns=$(ns_per_run "^work_${what}_")
		[[ ! $ns ]] || sample "sync.work.$what" "$OURS" "$ns"
	done
}

# sync_run TOOL: its cost per call; those are counted by ours, and as many in each run
sync_run() {
	local name=${1%%,*} n=$SYNC_CALLS
	rm -f "$RIG_MNT"/wal.db*
	tool_start "$1" || { missing sync.bpf "$name" "$WHY"; [[ $name != "$OURS" ]]; return; }
	run_times >"$WORK/before"
	sqlite3 "$RIG_MNT/wal.db" ".read $WORK/wal.sql" >/dev/null
	run_times >"$WORK/after"
	tool_stop
	[[ $name != "$OURS" ]] || SYNC_CALLS=$(jq .sync.count "$WORK/report.json") n=$SYNC_CALLS
	costs "$WORK/before" "$WORK/after" "$n" | awk '{ $2 /= 1000; $2 = sprintf("%.3f", $2); print }' >"$WORK/costs" && sample_costs sync.bpf "$name" || return
	[[ $name != "$OURS" ]] || sample_works
}

# ---- (e) start, memory, CPU ----

measure_start() {
	local round tool ms
	ram_up none || return
	for round in $(rounds 7); do
		for tool in "$OURS, ledgers on" "${PEERS[@]}" "${OF_TASKS[@]}"; do
			[[ $tool != biolatency* || $tool == "$RIVAL" ]] || continue
			((round <= 3)) || [[ $tool != bio[s]* ]] || continue
			command_of "$tool" || { missing start.attached "$tool" "$WHY"; continue; }
			ms=$("$GAUGE" started "${COMMAND[@]}" 2>/dev/null) || { missing start.attached "$tool" 'does not run here'; continue; }
			sample start.attached "$tool" "$ms"
		done
	done
}

measure_rest() {
	local round tool before time
	ram_up none || return
	time=$(seconds 2)
	for round in $(rounds 3); do
		for tool in "$OURS, ledgers on" "$RIVAL" bpftrace biostacks 'biosnoop -Q' "${OF_TASKS[@]}"; do
			tool_start "$tool" || { missing rest.memory "$tool" "$WHY"; continue; }
			sleep 0.5
			before=$(cpu_of "$TOOL_PID")
			sleep "$time"
			sample rest.cpu "$tool" "$(ratio "$(cpu_of "$TOOL_PID") - $before" "$time" 3 1e-7)"
			sample rest.memory "$tool" "$(resident_mib "$TOOL_PID")"
			tool_stop
		done
	done
}

# Calls at a pace; what they cost the reader, its work after them included
measure_load() {
	local round tool
	ram_up none 512M || return
	for round in $(rounds 3); do
		for tool in "$OURS, ledgers on" "$RIVAL" bpftrace "${OF_TASKS[@]}"; do
			load_run "$tool" || return
		done
	done
}

load_run() { # TOOL
	local name=${1%%,*} before calls took rate=20000
	tool_start "$1" || { missing load.cpu "$name" "$WHY"; return 0; }
	before=$(cpu_of "$TOOL_PID")
	read -r calls took < <("$GAUGE" syncs "$MNT/s" 4 $rate "$(seconds 4)") || return
	sleep 0.5
	# a disk that can't do as many: as much more per call
	sample load.cpu "$name" "$(awk "BEGIN { printf \"%.2f\", ($(cpu_of "$TOOL_PID") - $before) / $calls * $rate / 1e7 }")"
	sample load.memory "$name" "$(resident_mib "$TOOL_PID")"
	[[ $name != "$OURS" ]] || sample load.rate "$name" "$(ratio "$calls" "$took" 0)"
	tool_stop
}

# ---- (f) replay; lost events ----

measure_replay() {
	local round wall cpu kib calls=1000000 records
	rm -f "$WORK/big"
	"$BUILD_DIR/tests/forge" /dev/shm/barriertrace-bench.btrec $calls || return
	for round in $(rounds 5); do
		read -r wall cpu kib < <("$GAUGE" cost "$BT" report /dev/shm/barriertrace-bench.btrec -o "$WORK/report") || break
		sample replay.time "$OURS" "$wall"
		part replay.time "$OURS" 'seconds of CPU' "$cpu"
		sample replay.memory "$OURS" "$(ratio "$kib" 1024 1)"
		# 2 requests, 4 sleeps and the call itself
		records=$((calls * 7))
		sample replay.rate "$OURS" "$(ratio "$records" "$wall" 0)"
		sample replay.beyond "$OURS" "$(ratio $calls "$wall" 0)"
	done
	rm -f /dev/shm/barriertrace-bench.btrec
	[[ $wall ]]
}

measure_lost() {
	local calls took why n
	ram_up none 512M || return
	tool_start "$OURS, ledgers on" || { missing lost.events "$OURS" "$WHY"; return; }
	read -r calls took < <("$GAUGE" syncs "$MNT/s" 8 50000 "$(seconds 30)") || return
	tool_stop
	sample lost.events "$OURS" "$(jq '.run.lost_events // 0' "$WORK/report.json")"
	while IFS=$'\t' read -r why n; do
		part lost.events "$OURS" "$why" "$n"
	done < <(jq -r '.run.lost[]? | "\(.reason)\t\(.count)"' "$WORK/report.json")
	sample lost.rate "$OURS" "$(ratio "$calls" "$took" 0)"
	! wanted lost.told || measure_told
}

# Whom the kernel told of completions, of two at once
measure_told() {
	local calls
	tool_start 'empty program' || { missing lost.told "$OURS" "$WHY"; return 0; }
	OTHER_PID=$TOOL_PID
	tool_start "$OURS, ledgers on" || return
	statistics 1
	run_times "$TOOL_PID" "$OTHER_PID" >"$WORK/before"
	"$GAUGE" syncs "$MNT/s" 8 50000 "$(seconds 10)" >/dev/null || return
	sync -f "$MNT"
	run_times "$TOOL_PID" "$OTHER_PID" >"$WORK/after"
	statistics 0
	tool_stop
	other_stop
	costs "$WORK/before" "$WORK/after" 1 >"$WORK/costs"
	sample lost.told "$OURS" "$(awk '$1 == "empty_complete" { n += $3 } $1 ~ /^rq_complete/ { n -= $3 } END { printf "%d", n }' "$WORK/costs")"
}

# ---- (g) instructions ----

ICOUNT_KERNEL=6.12

# as many rounds with --quick: a start takes longer than they do
measure_in_guest() { # SCRIPT ROW: the row that says why there is none
	local row tool n part status
	"$TOP/scripts/vm" --icount --timeout 600 "$ICOUNT_KERNEL" -- bash "tests/bench/$1" >"$WORK/icount" 2>"$WORK/icount.err"
	status=$?
	if ((status == 77)); then
		missing "icount.$2" "$OURS" "$(grep -o 'missing: .*\|no kernel .*' "$WORK/icount.err" | head -n 1)"
		return 0
	fi
	((status == 0)) || { cat "$WORK/icount.err" >&2; return 1; }
	while IFS=$'\t' read -r row tool n part; do
		if [[ $part ]]; then
			part "icount.$row" "$tool" "$part" "$n"
		elif [[ $n =~ ^-?[0-9]+(\.[0-9]+)?$ ]]; then
			sample "icount.$row" "$tool" "$n"
		else
			missing "icount.$row" "$tool" "${n#-}"
		fi
	done <"$WORK/icount"
}

measure_icount() {
	local row
	for row in none mq-deadline own; do
		wanted "icount.$row" || continue
		measure_in_guest guest "$row" || return
		break
	done
	for row in dd call start; do
		wanted "icount.$row" || continue
		measure_in_guest guest_calls "$row"
		return
	done
}
