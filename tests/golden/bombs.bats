#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Recordings come from other people: what they take is in proportion to what they are long. See src/util/budget.h.

bats_require_minimum_version 1.5.0
load ../helpers

BOMBS=$(dirname "$BT")/tests/bombs

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	ulimit -t 20 -v 4000000
}

# KIND: how many of it; eight times as many still fit into one record, and take some 100 ms
how_many() {
	case $1 in
	dense) echo 1 ;;
	ends | headers) echo 25 ;;
	sparse) echo 100 ;;
	disks | heat) echo 500 ;;
	counts) echo 1000 ;;
	*) echo 8000 ;;
	esac
}

# COMMAND..: sets `status`, `kib` and `ms`
measure() {
	rm -rf csv
	"$BOMBS" -m result "$@" >out 2>err
	read -r status kib ms <result
}

wrong() {
	echo "$kind: $*; status $status, $kib KiB, $ms ms: $(head -c 500 err)"
	return 1
}

# KIND LENGTH [N]: LENGTH is the sum over all N recordings (default: 1) that were read
check_bounds() {
	((kib * 1024 <= 16 * $2 + (64 << 20))) || wrong "too much memory for $2 bytes" || return
	[[ $status == 0 || $status == 1 || $status == 5 ]] || wrong 'it did not end as it should' || return
	(($(wc -l <err) <= ${3:-1})) || wrong 'more than a line of each' || return
	[[ $status == 0 || -s err ]] || wrong 'nothing is said'
}

# KIND COMMAND..: with one and with eight times as much in the place of @
check_growth() {
	local kind=$1 n i length least files=1
	shift
	n=$(how_many "$kind")
	[[ "$*" != *@*@* ]] || files=2
	for i in 1 8; do
		length=$("$BOMBS" "$kind" $((n * i)) "$kind.$i")
		measure "${@//@/$kind.$i}"
		((length *= files))
		check_bounds "$kind" "$length" "$files" || return
		((i > 1)) || least=$((ms > 20 ? ms : 20))
	done
	# Other load may have come between: try both again, at most four times.
	for ((i = 0; i < 4 && ms >= 12 * least; i++)); do
		measure "${@//@/$kind.1}"
		least=$((ms > 20 ? ms : 20))
		measure "${@//@/$kind.8}"
		check_bounds "$kind" "$length" "$files" || return
	done
	((ms < 12 * least)) || wrong "$least ms became $ms ms"
}

@test "bombs: every part of a recording, in the report" {
	local bad=0
	for kind in $("$BOMBS"); do
		check_growth "$kind" "$BT" report -q @ || bad=1
	done
	((!bad))
}

@test "bombs: two of them, in a comparison" {
	local bad=0
	for kind in places disks sparse calls notes heat; do
		check_growth "$kind" "$BT" diff @ @ || bad=1
	done
	((!bad))
}

@test "bombs: in every other output" {
	local bad=0
	for kind in dense sparse disks calls; do
		check_growth "$kind" "$BT" report -q --json json --html html --flame svg @ || bad=1
	done
	for kind in sparse disks outstanding; do
		check_growth "$kind" "$BT" report -q --csv csv --db db --perfetto trace @ || bad=1
	done
	((!bad))
}

@test "bombs: in a copy without names" {
	local bad=0
	for kind in places headers outstanding disks files notes; do
		check_growth "$kind" "$BT" record --anonymise @ copy || bad=1
	done
	((!bad))
}

@test "bombs: what is intact is shown, and what is left out is said" {
	"$BOMBS" devices 16000 b
	run -5 --separate-stderr "$BT" report b
	[[ $stderr == *': b: left out: 31,998 entries, more than a run can have' ]]
	"$BOMBS" places 160000 b
	run -5 --separate-stderr "$BT" report --json - b
	[[ $stderr == *': b: left out: '*' entries for which more than '*' of memory would be needed, too much for a file of this size' ]]
	[[ $output == *'the recording is not whole: left out: '* && $output == *'"incomplete": true'* ]]
}

@test "bombs: a barrier card" {
	local kind=card
	{
		printf '{"x":['
		yes '{},' | head -c 4000000
		printf '{}]}'
	} >card
	measure "$BT" diff card card
	check_bounds card "$(stat -c %s card)"
	[[ $status == 5 && $(<err) == *'card: no barrier card takes so much memory for its size' ]]
}

@test "bombs: a thousand disks are none" {
	"$BOMBS" disks 1000 b
	"$BT" report --json json b
	(($(grep -c '"minor": ' json) == 1000))
}

@test "bombs: --huge belongs to recordings that are read" {
	"$BOMBS" notes 10 b
	"$BT" report --huge -q b
	"$BT" diff --huge b b
	"$BT" record --anonymise --huge b copy
	run -2 "$BT" record --huge -o copy true
	[[ $output == *'--huge goes with --anonymise'* ]]
}
