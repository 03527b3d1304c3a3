# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# shellcheck disable=SC2034,SC2153 # used, or set, by scripts/bench and its other parts
#
# For scripts/bench: throughput beside tools that take turns in one run of a load. A load differs more from one run to the next, by
# the CPUs that its tasks stay on, than by any tool; so do seconds of one run. Turns of 100 ms that lie side by side don't.
#
# A start of the load gives one sample, the median over its blocks: blocks of one start share what makes starts differ. Least and most
# of six such samples hold the median of all with 96.9 % (1 - 2 / 2^6), if starts are independent.

STARTS=6
START_SECONDS=15
LONG_START_SECONDS=60	# for rows with a limit of one point: medians of 15 s starts differ by more than that
TURN_SETTLE_NS=35000000	# as in tests/bench/turns.h: a switch that took longer reached into what was measured
TURN_TOOLS=7		# at most, beside the baseline
NOTHING=nothing		# a tool that isn't there: the method's own check
declare -gA SLOT=()	# by tool: its turn
declare -ga SLOT_PIDS=()	# by turn: its process
declare -ga SLOT_ERRS=()	# .. what it says
declare -gA TURNLESS=()	# by tool that can't take turns: why

# slot_start N TOOL: its process in SLOT_PIDS[N]
slot_start() {
	[[ $2 != "$NOTHING" ]] || return 0
	PRELOAD=(env LD_PRELOAD="$TURNS" TURNS_FILE="$WORK/turns" TURNS_TOOL="$1" TURNS_LOG="$WORK/turns.log.$1")
	tool_start "$2"
	local status=$?
	PRELOAD=()
	((!status)) || return "$status"
	SLOT_PIDS[$1]=$TOOL_PID
	SLOT_ERRS[$1]=$TOOL_ERR
	TOOL_PID=
}

slot_stop() { # N
	TOOL_PID=${SLOT_PIDS[$1]}
	unset "SLOT_PIDS[$1]"
	tool_end KILL
}

slots_stop() {
	local n
	for n in "${!SLOT_PIDS[@]}"; do
		slot_stop "$n"
	done
}

# slots_start ROW TOOL..: those that run are in SLOT[TOOL], the others are missing
slots_start() {
	local row=$1 tool n=0
	shift
	SLOT_PIDS=() SLOT=([baseline]=0)
	rm -f "$WORK"/turns*
	for tool; do
		[[ ! ${TURNLESS[$tool]-} ]] || { missing "$row" "$tool" "${TURNLESS[$tool]}"; continue; }
		slot_start "$((n + 1))" "$tool" || { missing "$row" "$tool" "$WHY"; continue; }
		SLOT[$tool]=$((++n))
	done
}

# A tool that takes no turns is attached all the time: it must end before the first turn.
slots_check() { # ROW
	local tool n
	for tool in "${!SLOT[@]}"; do
		n=${SLOT[$tool]}
		[[ ${SLOT_PIDS[n]-} ]] || continue
		grep -q '^links' "$WORK/turns.log.$n" && continue
		WHY=$(sed -n 's/^cannot: //p' "$WORK/turns.log.$n")
		[[ ! $WHY ]] || TURNLESS[$tool]="takes no turns: $WHY"
		missing "$1" "$tool" "takes no turns: ${WHY:-the library was not loaded, or in no time}"
		slot_stop "$n"
		unset "SLOT[$tool]"
	done
}

# Did all that began take turns to the end? Else one was attached, or wasn't, in others' turns. Links that come and go in a tool's own
# turns are its own choice.
slots_ended_well() { # ROW
	local tool n log
	for tool in "${!SLOT[@]}"; do
		n=${SLOT[$tool]}
		[[ ${SLOT_PIDS[n]-} ]] || continue
		log=$(grep '^[cl]' "$WORK/turns.log.$n")
		[[ $log =~ ^'links '[0-9]+$'\nlinks '[0-9]+$ ]] && kill -0 "${SLOT_PIDS[n]}" 2>/dev/null && continue
		say "$1: $tool ended, or no longer took turns: ${log//$'\n'/, }"
		return 1
	done
}

# run_turns ROW DISK|FILE.calls SECONDS TOOL.. -- LOAD..: what was done in each turn in $WORK/blocks; status 2 if it can't be used
run_turns() {
	local row=$1 work=$2 time=$3 up tools=() status=0 rests=''
	shift 3
	while [[ $1 != -- ]]; do
		tools+=("$1")
		shift
	done
	shift
	((${#tools[@]} <= TURN_TOOLS)) || return 1
	slots_start "$row" "${tools[@]}"
	load_start "$@"
	# under the load a tool may find out what it can do without
	sleep 1
	if [[ ${SLOT[$DEFAULT]-} && $work != *.calls ]]; then
		rests=${SLOT_ERRS[SLOT[$DEFAULT]]}
		until_rest "$rests" || { say "$row: $DEFAULT $WHY"; slots_stop; load_stop; return 2; }
	fi
	# hundredths of a second; the tools look for the file fifty times a second
	read -r up _ </proc/uptime
	printf '%s %s %.0f\n' $((10#${up/./} * 10000000 + 1000000000)) ${#SLOT[@]} "${time}e9" >"$WORK/turns.new"
	mv "$WORK/turns.new" "$WORK/turns"
	sleep 0.5
	slots_check "$row"
	"$GAUGE" turns "$work" "$WORK/turns" >"$WORK/worked" || status=1
	sleep 0.1
	kill -0 "$LOAD_PID" 2>/dev/null || { say "$row: the load ended: $(head -n 1 "$WORK/load.err")"; status=1; }
	((status)) || slots_ended_well "$row" || status=2
	((status)) || [[ ! $rests ]] || at_rest "$rests" || { say "$row: somebody synced"; status=2; }
	slots_stop
	load_stop
	((status)) || blocks_of "$(cut -d' ' -f2 "$WORK/turns")" || status=2
	return $status
}

# blocks_of TURNS: a line for each block, a column for each turn: work per second, "-" if a switch or a link that the tool made or
# closed reached into it. Status 1 if that is more than a fifth of them: what is left may be of a kind.
blocks_of() {
	find "$WORK" -maxdepth 1 -name 'turns.log.*' -exec cat {} + | awk -v turns="$1" -v settle=$TURN_SETTLE_NS '
		logs && !/^[0-9]/ { next }
		logs { if ($2 > settle) bad[$1]; if ($3) bad[$1 - 1]; next }
		{ blocks = $1; if (!($3 in bad)) { rate[$1, $2] = $5 / $4 * 1e9; kept++ } }
		END {
			for (b = 0; b <= blocks; b++)
				for (t = 0; t < turns; t++)
					printf "%s%s", (b, t) in rate ? rate[b, t] : "-", t < turns - 1 ? " " : "\n"
			if (kept < 0.8 * (blocks + 1) * turns) {
				printf "bench: %d of %d turns had to be dropped\n", (blocks + 1) * turns - kept, (blocks + 1) * turns >"/dev/stderr"
				exit 1
			}
		}' logs=1 - logs=0 "$WORK/worked" >"$WORK/blocks"
}

# start_sample ROW TOOL OF: of this start, the median of what was done beside TOOL in % of what was done beside OF in the same block
start_sample() {
	[[ ${SLOT[$2]-} && ${SLOT[$3]-} ]] || return 0
	awk -v a="$((SLOT[$2] + 1))" -v of="$((SLOT[$3] + 1))" '
		$a == "-" || $of == "-" || $a + $of == 0 { next }
		# a load that stood still: the median needs no more than to know on which side it lies
		{ print($of > 0 ? 100 * $a / $of : 1e6) }' "$WORK/blocks" | sort -g | awk -v row="$1" -v tool="$2" '
		{ v[NR] = $1 }
		END { if (NR) printf "%s\t%s\t%.3f\tstart\n", row, tool, (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }' >>"$WORK/samples"
}

# ratios ROW TOOL..: what this start says of them
ratios() {
	local row=$1 tool of
	shift
	for tool; do
		start_sample "$row" "$tool" baseline
	done
	for of in plain:"$OURS" rival:"$RIVAL"; do
		[[ ${ROW_UNIT[$row.${of%%:*}]-} ]] || continue
		[[ ${SLOT[$1]-} && ${SLOT[${of#*:}]-} ]] || missing "$row.${of%%:*}" "$1" "one of the two takes no turns"
		start_sample "$row.${of%%:*}" "$1" "${of#*:}"
	done
}

# kept ROW DISK|FILE.calls TOOL.. -- LOAD..: what the load keeps of its throughput beside each tool, in % of the baseline; in rows
# ROW.plain and ROW.rival, where there are such, the first tool's in % of that beside $OURS and $RIVAL
kept() {
	local row=$1 start=0 tries=0 starts status tool tools=()
	for tool in "${@:3}"; do
		[[ $tool != -- ]] || break
		tools+=("$tool")
	done
	statistics 0
	starts=$(rounds $STARTS | wc -l)
	while ((start < starts && tries++ < starts + 3)); do
		run_turns "$row" "$2" "$(seconds $START_SECONDS)" "${@:3}"
		status=$?
		((status != 2)) || continue
		((!status)) || return $status
		((++start))
		ratios "$row" "${tools[@]}"
	done
	((start == starts)) && return
	missing "$row" "${tools[0]}" "only $start of $starts starts could be used"
	return 1
}
