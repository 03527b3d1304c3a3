#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The observer must not become the cause: throughput with ledgers on against without, on the fastest disk that the rig
# can be, interleaved, medians. What starting the tool takes is not in it.

setup() {
	load ../rig/helpers
	load ../helpers
	need_root
	need_loop_fuse
	need sqlite3 fio jq
}

teardown() {
	clean_up
}

median() { # NUMBER..
	printf '%s\n' "$@" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# What a second of a load writes, in blocks of 4 KiB and by the kernel's own account (field 7 of its stat: sectors written)
pace() {
	local from now sectors
	from=$(date +%s%N) sectors=$(kernel_stat "$RIG_DISK" 7)
	sleep 1
	sectors=$(($(kernel_stat "$RIG_DISK" 7) - sectors)) now=$(date +%s%N)
	echo $((sectors * 1000000000 / 8 / (now - from)))
}

# One SQLite whose statements are transactions, and whose database stays small.
# shellcheck disable=SC2317  # as the next: by name
wal_load() {
	{
		echo 'PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, a TEXT);'
		yes "REPLACE INTO t VALUES (abs(random()) % 1000, 'a text of some length');"
	} | sqlite3 "$RIG_MNT/wal.db" >/dev/null &
}

# Four tasks that write 4 KiB and call fdatasync all the time. The files are written before (--overwrite): else how fast the blocks
# get allocated decides how soon commits cease, and a run is now of this kind, now of that.
# shellcheck disable=SC2317
fio_load() {
	fio --name=f --directory="$RIG_MNT" --size=8m --rw=randwrite --bs=4k --ioengine=sync --fdatasync=1 --overwrite=1 \
		--numjobs=4 --time_based --runtime=600 --output=/dev/null &
}

load_goes_on() { # NAME
	"$1_load"
	LOAD=$!
	on_exit load_ends
	sleep 3
	[[ $(pace) -gt 0 ]]
}

# fio ends its jobs, which outlive it when it is killed.
load_ends() {
	[[ $LOAD ]] || return 0
	kill "$LOAD"
	wait "$LOAD" || true
	LOAD=''
}

no_drops() { # JSON..
	local j
	for j; do
		jq -e '(.run.lost // []) | map(select(.reason | test("ring buffer|not followed|remembered"))) | length == 0' "$j" > /dev/null ||
			{ jq -c .run.lost "$j"; return 1; }
	done
}

# In turn, without and with ledgers: to WITHOUT and WITH, and a report of each run to j1, j2 .. Runs of a load differ more than a tool that
# comes and goes makes them differ: one goes on all the time.
rounds() { # LOAD
	local i
	load_goes_on "$1" || return
	for i in 1 2 3 4 5 6 7 8 9 10; do
		WITHOUT+=("$(pace)")
		start_tracing -q --json "$BATS_TEST_TMPDIR/j$i" -o "$BATS_TEST_TMPDIR/text" "$RIG_DISK" || return
		sleep 1 # what it looks at once, it still does when it has said that it traces
		WITH+=("$(pace)")
		stop_tracing "$STARTED" || return
	done
	load_ends
}

# How many rounds kept so much
rounds_that_keep() { # PERCENT
	local i n=0
	for i in "${!WITH[@]}"; do
		((WITH[i] * 100 < WITHOUT[i] * $1)) || n=$((n + 1))
	done
	echo "$n"
}

# kept PERCENT LOAD [rounds]: of the medians, in one of three times: what else the machine does falls on one side or the other. (2 CPUs,
# of which the rig's own daemon takes its share.) `rounds`: where none of them does, all their rounds have to say so: if as much is kept,
# half of the rounds keep it, and fewer than half less 1.165 * sqrt(rounds) do in one run of a hundred (sign test).
kept() {
	local a b n=0 good=0
	for _ in 1 2 3; do
		WITHOUT=() WITH=()
		rounds "$2" || return
		a=$(median "${WITHOUT[@]}") b=$(median "${WITH[@]}")
		n=$((n + ${#WITH[@]})) good=$((good + $(rounds_that_keep "$1")))
		echo "# $2: $a a second without, $b with ledgers: $((b * 100 / a)) % kept; $1 % in $good of $n rounds" >&3
		no_drops "$BATS_TEST_TMPDIR"/j* || return
		((b * 100 < a * $1)) || return 0
	done
	[[ ${3-} ]] && holds "$good >= $n / 2 - 1.165 * sqrt($n)"
}

@test "throughput kept: SQLite WAL with one writer, ledgers on, no drops" {
	rig_up --flush-us 0 --write-us 0 --fs ext4 --sched none
	kept 90 wal
}

@test "throughput kept: fio --fdatasync=1 with 4 jobs, ledgers on, no drops" {
	rig_up --flush-us 0 --write-us 0 --fs ext4 --sched none
	kept 90 fio rounds
}
