#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# How much of what people do is explained: each row of one table on each of another (explained.bash). LOAD=1 runs it beside a busy loop
# per CPU and somebody else's works on the same workqueues. The table is printed, and appended to $BARRIERTRACE_TABLE.

load ../helpers
load matrix
load explained

setup_file() {
	build_syncs
}

setup() {
	need_rig
	need_syncs
	need python3 sqlite3 fio dpkg-deb git rsync
	make_programs "$BATS_TEST_TMPDIR/bin"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	export SYNCS OWN PATH
	unset "${!GIT_@}"
	export GIT_CONFIG_GLOBAL=/dev/null
}

teardown() {
	clean_up
}

# What a cell has to be: nothing unexplained beyond 1 %, each ledger exact, no call without one where nothing was lost
holds_up() {
	local name=$1 calls=${FIGURES[2]} unknown=${FIGURES[4]} without=${FIGURES[7]} lost=${FIGURES[8]} status=${FIGURES[9]} exact=${FIGURES[10]}
	[[ $exact == true ]] || { echo "$name: ledgers don't add up"; return 1; }
	((calls > 0)) || { echo "$name: no calls"; return 1; }
	holds "$unknown <= 1" || { echo "$name: $unknown % unknown"; return 1; }
	((lost || !without)) || { echo "$name: $without calls without a ledger, and nothing was lost"; return 1; }
	((lost || !status)) || { echo "$name: status $status, and nothing was lost"; return 1; }
}

print_row() {
	local row
	row=$(printf '%-16s %-16s %5d %9.1f %7.2f %7.2f %7.1f %3d %3d' "${FIGURES[@]:0:9}")
	comment "$row"
	[[ ! ${BARRIERTRACE_TABLE-} ]] || echo "$row" >>"$BARRIERTRACE_TABLE"
}

# each_workload SETUP FILE-SYSTEM MOUNT-OPTIONS; a cell that fails has a second try, as one that met somebody else's tracer
each_workload() {
	local name command failed=() try
	rig_up --fs "$2" ${3:+--mount-opts "$3"} --size 512M
	OWN=$RIG_MNT/own
	make_own "$OWN"
	rig_set flush_us=2000 write_us=150
	while read -r name command; do
		[[ $name ]] || continue
		for try in 1 2; do
			rm -rf "${RIG_MNT:?}/$name"
			if cell "$1" "$name" "$command" && holds_up "$1, $name"; then
				print_row
				continue 2
			fi
		done
		print_row
		failed+=("$name")
	done <<<"$WORKLOADS"
	((!${#failed[@]})) || { echo "failed on $1: ${failed[*]}"; return 1; }
}

@test "explained: what people do, on each file system" {
	local name fs options failed=() end=$((SECONDS + 720))
	[[ ! ${LOAD-} ]] || neighbours
	comment "$(printf '%-16s %-16s %5s %9s %7s %7s %7s %3s %3s' on what calls ms 'unkn. %' 'worker' 'flush %' nol lost)"
	while read -r name fs options; do
		[[ $name ]] || continue
		[[ ! ${ONLY-} || $name == "$ONLY" ]] || continue
		each_workload "$name" "$fs" "${options#-}" || failed+=("$name")
		rig_down
	done <<<"$SETUPS"
	((SECONDS < end))
	((!${#failed[@]}))
}
