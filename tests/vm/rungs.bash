# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For rungs.bats and full/rungs.bats: one guest per kernel in which several tools see one piece of work, each by other rungs, and how
# their reports are compared. load ../helpers and kernels first.

# The rungs that there are beside plain tracepoints, the best one first. ftrace of 5.10 and 6.1 calls nothing directly on arm64.
rungs_of() { # KERNEL ARCH
	case $2:$1 in
	arm64:5.10 | arm64:6.1) echo kprobe ;;
	*) echo fentry kprobe ;;
	esac
}

# The clock counts instructions, so that what else this machine does is in no time.
boot_rungs() {
	local kernel arch
	for arch in x86_64 arm64; do
		for kernel in $(kernels_of $arch); do
			wait_for_place
			# shellcheck disable=SC2046 # words
			boot "$kernel" $arch "$kernel.$arch" --icount --silence 240 --timeout "${BARRIERTRACE_VM_TIMEOUT:-500}" \
				-- tests/vm/guest_rungs $(rungs_of "$kernel" $arch) &
		done
	done
	wait
}

# figures of a device that are the same in two reports
same_counts() { # A B PATH...
	local a=$G/$1.json b=$G/$2.json path
	for path in "${@:3}"; do
		echo "$path: $1 $(figure_of "$a" "$path"), $2 $(figure_of "$b" "$path")"
		[[ $(figure_of "$a" "$path") == "$(figure_of "$b" "$path")" ]]
	done
}

figure_of() { # FILE PATH
	jq -r "(.devices[0]$2) // \"none\"" "$1"
}

# quantile FILE PATH SHARE: of a histogram, within its bucket by the share of what lies there; a bucket is 1/64 wide
quantile() {
	jq -r --argjson share "$3" "$2"' as $h | reduce $h.buckets[] as [$upper, $n] ({left: ($h.count * $share)};
		if .at then . elif .left > $n then .left -= $n else .at = $upper * (1 - (1 - .left / $n) / 64) end) | .at' "$1"
}

# within 2 %. Sums are not compared: one pause of the emulated machine between two programs at the same event is in one only
same_quantile() { # A B SHARE PATH...
	local path a b
	for path in "${@:4}"; do
		a=$(quantile "$G/$1.json" "$path" "$3") b=$(quantile "$G/$2.json" "$path" "$3")
		echo "$path, $3 of it: $1 $a, $2 $b"
		holds "$b > 0 && $a >= 0.98 * $b && $a <= 1.02 * $b"
	done
}

took() { # NAME RUNG FAMILY: all of it that this kernel has
	[[ $(jq -r --arg f "$3." '[.probes[] | select(.name | startswith($f)) | .rung // empty] | unique | join(" ")' \
		"$G/$1.json") == "$2" ]]
}

# In $RUNGS, and the first of them in $BEST: the kernel has these, and no other
find_rungs() {
	read -ra RUNGS <<<"$(rungs_of "$KERNEL" "$ARCH")"
	BEST=${RUNGS[0]}
	grep '^flush\.' "$G/probes.txt"
	[[ $(awk '/^flush\./ { print $4 }' "$G/probes.txt" | sort -u) == "$(tr ' ' , <<<"${RUNGS[*]}")" ]]
}

judge_rungs() {
	local rung counts=(.ops.flush.count .ops.write.count .ops.fua.count .flush.pre .flush.post .flush.only .flush.mixed .flush.unknown
		.flush.waiters .flush.barrier_writes .flush.slot_wait.count .flush.sequence.count)
	local times=(.devices[0].ops.flush.device .devices[0].ops.flush.total .devices[0].flush.slot_wait .devices[0].flush.sequence)
	find_rungs
	[[ $(<"$G/run.status") == 0 ]] || { cat "$G/run.err"; return 1; }
	for rung in "${RUNGS[@]}"; do
		took "$rung" "$rung" flush
		took "$rung" tp_btf request
		[[ $(jq .run.lost_events "$G/$rung.json") == 0 ]]
	done
	# one where that takes the place of block_io_start
	took plain "$([[ $KERNEL != 5.10 && $KERNEL != 6.1 ]] || echo "$BEST")" flush
	[[ $(jq .run.lost_events "$G/plain.json") == 0 ]]
	same_counts "$BEST" plain "${counts[@]}" .by_command
	(($(figure_of "$G/plain.json" .flush.waiters) >= 120))
	same_quantile "$BEST" plain 0.5 "${times[@]}"
	[[ $BEST == kprobe ]] || kprobes_agree
}

# With fentry, also in what only these two see
kprobes_agree() {
	same_counts kprobe fentry "${counts[@]}" .by_command .flush.slot_wait_flush.count .flush.slot_wait_data.count
	same_quantile kprobe fentry 0.5 "${times[@]}"
	# half of the waiters had no FLUSH before theirs
	same_quantile kprobe fentry 0.8 .devices[0].flush.slot_wait_flush
}

# What held the waiters back is nearly all of their wait, and none of it is there without the rungs.
judge_waits() {
	local flush data all
	find_rungs
	flush=$(figure_of "$G/$BEST.json" .flush.slot_wait_flush.sum_ns)
	data=$(figure_of "$G/$BEST.json" .flush.slot_wait_data.sum_ns)
	all=$(figure_of "$G/$BEST.json" .flush.slot_wait.sum_ns)
	echo "for a FLUSH $flush, for data $data, of $all"
	holds "$flush > 0 && $data > 0 && $flush + $data <= $all && $flush + $data >= 0.9 * $all"
	tr -s ' \n' ' ' <"$G/$BEST.txt" | grep -q '% of it all for the FLUSH before, [0-9.<>]* % for data of other barriers'
	! tr -s ' \n' ' ' <"$G/plain.txt" | grep 'for the FLUSH before'
	[[ $(jq '.devices[0].flush | has("slot_wait_flush") or has("slot_wait_data")' "$G/plain.json") == false ]]
	[[ $(figure_of "$G/$BEST.json" .flush.slot_wait_flush.count) == $(figure_of "$G/$BEST.json" .flush.slot_wait.count) ]]
}

# True if the kernel lacks fentry or block_io_start, so that the tracepoint traces all calls.
by_tracepoint_only() {
	[[ $BEST != fentry || $KERNEL == 5.10 || $KERNEL == 6.1 ]] && grep '^sync\.enter *tp_btf *attached' "$G/probes.txt"
}

# How many calls of each kind were counted. On a slow guest ten seconds may pass before the first write that syncs. sys_enter is detached
# then, and that write is counted as one without a ledger and not by its kind: it is added here.
calls_of() { # FILE
	jq -c '.sync | .without_ledger.idle as $rang | .calls | .write += ($rang // 0)' "$1"
}

judge_calls_rungs() {
	local call
	find_rungs
	! by_tracepoint_only || return 0
	took call fentry call
	took sync tp_btf sync
	echo "at functions: $(calls_of "$G/call.json"), by tp_btf: $(calls_of "$G/sync.json")"
	[[ $(calls_of "$G/call.json") == "$(calls_of "$G/sync.json")" ]]
	for call in fsync fdatasync write msync syncfs sync sync_file_range; do
		calls_of "$G/call.json" | jq -e --arg call $call '.[$call] == if $call == "write" then 30 else 15 end' >/dev/null
	done
	same_quantile call sync 0.5 .sync.latency
	[[ $(jq '.run.lost_events' "$G/call.json") == 0 ]]
	jq -e '.sync.without_ledger | . == null or . == { idle: 1 }' "$G/call.json" >/dev/null
	jq -e '.sync.without_ledger == null' "$G/sync.json" >/dev/null
}

# Times are exact: the guest's clock counts instructions.
judge_functions() {
	local alone entry functions
	find_rungs
	! by_tracepoint_only || return 0
	alone=$(<"$G/others.alone") entry=$(<"$G/others.entry") functions=$(<"$G/others.functions")
	echo "20000 writes to /dev/null: $alone ns alone, $entry beside sys_enter, $functions beside functions"
	((functions * 100 <= alone * 103))
	((entry * 100 >= alone * 120))
	grep 'every system call is seen again' "$G/functions.err"
	jq -c '.sync | .calls, .without_ledger' "$G/functions.json"
	# the write that rang has no ledger, and perhaps no end
	jq -e '.run.lost_events == 0 and .sync.calls.fdatasync == 400 and (.sync.calls.write | . == 14 or . == 15) and
		.sync.without_ledger == { idle: 1 }' "$G/functions.json" >/dev/null
	jq -e '.sync | .ledger.unknown // 0 | . == 0' "$G/functions.json" >/dev/null
}

judge_kernel_calls() {
	local rung flushes
	find_rungs
	flushes=$(<"$G/loop.flushes")
	((flushes >= 15))
	for rung in "${RUNGS[@]}"; do
		echo "$rung: $(jq -c .sync.calls "$G/ksync.$rung.json"), flushes of the loop device: $flushes"
		took "ksync.$rung" "$rung" ksync
		jq -e --argjson n "$flushes" '.sync.calls["kernel fsync"] == $n and .sync.calls.fdatasync == 15' \
			"$G/ksync.$rung.json" >/dev/null
		jq -e '[.sync.by_process[] | select(.comm | test("^(kworker|loop)"))] | length > 0' "$G/ksync.$rung.json" >/dev/null
		[[ $(jq -c .sync.calls "$G/ksync.$rung.json") == "$(jq -c .sync.calls "$G/ksync.$BEST.json")" ]]
		same_quantile "ksync.$BEST" "ksync.$rung" 0.5 .sync.latency
	done
}
