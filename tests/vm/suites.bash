# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For suites.bats and full/suites.bats: guests that run the project's own test files and tests/vm/guest_suites' file systems,
# and how each cell of the table is judged by what they left behind. load ../helpers and kernels first.

# QUICK: what `make check-kernels` asks; FULL: what it asks with FULL=1 besides. A row is one of guest_suites'.
# shellcheck disable=SC2034 # for whoever loads it
QUICK=(
	'fs'
	'counts tests/live/counts.bats raw.disk'
)
# shellcheck disable=SC2034
FULL=(
	'rig tests/live/rig.bats,tests/truth/rig.bats'
	'compat tests/live/compat.bats'
	'flush tests/truth/flush.bats 1.ms|20.ms'
	'calls tests/truth/filesystems.bats'
	'sqlite tests/live/sqlite.bats'
	'matrix tests/truth/matrix.bats slow|few.requests|cgroup|no.barriers|never.syncs'
	'all-counts tests/live/counts.bats,tests/live/filters.bats,tests/live/hotplug.bats,tests/live/unended.bats'
)
OWN_GUEST+=" ${FULL[*]%% *} "
FILE_SYSTEMS=(ext4 nojournal fast_commit data_journal xfs btrfs)

# all_suites TIMEOUT ROW...: one guest per kernel, with disks of several drivers
all_suites() {
	local kernel arch timeout=${BARRIERTRACE_VM_TIMEOUT:-$1}
	shift
	for arch in x86_64 arm64; do
		for kernel in $(kernels_of $arch); do
			wait_for_place
			boot "$kernel" $arch "$kernel.$arch" --silence 240 --timeout "$timeout" --disk nvme:512 --disk "$(ata_of "$kernel" $arch):512" \
				--disk virtio:512 -- tests/vm/guest_suites "$@" &
		done
	done
	wait
}

# each_suite TIMEOUT ROW...: a guest per kernel and row, whose clock counts instructions: what else this machine does is in no time
each_suite() {
	local kernel arch cell row timeout=${BARRIERTRACE_VM_TIMEOUT:-$1}
	local -A rows=()
	for row in "${@:2}"; do
		rows[${row%% *}]=$row
	done
	for arch in x86_64 arm64; do
		while read -r kernel cell; do
			wait_for_place
			boot "$kernel" $arch "$kernel.$arch.$cell" --icount --silence 240 --timeout "$timeout" --disk virtio \
				-- tests/vm/guest_suites "${rows[$cell]}" &
		done < <(cells_of $arch)
	done
	wait
}

# ---- the cells ----

# suite NAME: all tests of that file have held in the guest; those that it couldn't have are named.
suite() {
	local tap=$G/$1.tap plan results
	[[ -s $tap ]] || { echo "nothing came of $1"; return 1; }
	plan=$(sed -nE 's/^1\.\.([0-9]+)$/\1/p' "$tap")
	results=$(grep -cE '^(not )?ok ' "$tap")
	grep -E '^ok .*# skip|^# ' "$tap" | sed 's/^# //' | while read -r line; do comment "$KERNEL: $line"; done
	if ((!plan || results != plan)) || grep -q '^not ok' "$tap" || ! grep -E '^ok ' "$tap" | grep -qv '# skip'; then
		cat "$tap"
		return 1
	fi
}

# Calls of each file in the report: plain ones, and those in the background that this kernel lets us see
wanted() { # FILE-SYSTEM: as "file=N async=N"
	local uring=3
	# see docs/reference/kernels.md
	[[ $KERNEL != 5.10 ]] || uring=0
	echo "file=24 async=$((3 + uring))"
}

# file_is PATH N SHARE: in each of $RUNS so many calls, and a ledger that adds up; in one of them no more than that share not known
file_is() {
	jq -se --arg path "$1" --argjson n "$2" --argjson share "$3" '[.[].sync.by_file | map(select(.path == $path))] |
		if $n == 0 then all(length == 0) else all(length == 1) and (map(.[0]) |
		all(.count == $n and ([.ledger[]] | add) == .total_ns) and
		any((.ledger.unknown // 0) <= $share * .total_ns)) end' \
		"${RUNS[@]}" >/dev/null && return
	jq -c --arg path "$1" '.sync.by_file[] | select(.path == $path)' "${RUNS[@]}"
	echo "$1: not $2 calls, explained"
	return 1
}

# Counts are asked for to the last call.
nothing_lost() {
	[[ $(jq '.run.lost_events + .sync.no_ledger' "$J") == 0 ]] || only_preempted
}

# The runs that say that they are whole, in $RUNS; every ledger adds up in the others, too.
whole_runs() {
	RUNS=()
	for J in "$G"/fs.?.json; do
		ledgers_add_up || return
		! nothing_lost || RUNS+=("$J")
	done
	((${#RUNS[@]})) || { cat "$G"/fs.?.said; return 1; }
}

# Three AIO or io_uring calls are too few to be judged by what is unknown: a new worker is not explained until it begins to sync.
judge_fs() { # NAME: of the disk
	local disk fs file async counted
	cat "$G/fs.err"
	disk=$(awk -v n="$1" '$1 == n { print $2 }' "$G/fs.disks")
	whole_runs
	for fs in "${FILE_SYSTEMS[@]}"; do
		eval "$(wanted "$fs")"
		file_is "/mnt/$disk.$fs/file" "$file" 0.02
		file_is "/mnt/$disk.$fs/async" "$async" 1
	done
	for J in "${RUNS[@]}"; do
		# the kernel's own count of the time of the run; around it there may have been more
		counted=$(join "${J%.json}.before" "${J%.json}.after" | awk -v d="$disk" '$1 == d { print $3 - $2 }')
		[[ $(figure "$disk" .ops.flush.count) == "$(figure "$disk" .kernel.flushes)" ]]
		(($(figure "$disk" .ops.flush.count) <= counted && counted > 100))
	done
}

judge_fs_nvme() { judge_fs nvme; }
judge_fs_ata() { judge_fs ata; }
judge_fs_virtio() { judge_fs virtio; }
judge_counts() { suite counts; }
judge_flush() { suite flush; }
judge_rig() { suite rig; }
judge_compat() { suite compat; }
judge_all_counts() { suite all-counts; }
judge_calls() { suite calls; }
judge_sqlite() { suite sqlite; }
judge_matrix() { suite matrix; }
