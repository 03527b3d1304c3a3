#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Recordings come from other people: whatever is in them, reading takes no more than 1 GiB, and time in proportion to what they are long.

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
	outstanding) echo 2000 ;;
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

# [N]: recordings that were read (default: 1)
check_bounds() {
	((kib <= 1 << 20)) || wrong 'too much memory' || return
	[[ $status == 0 || $status == 1 || $status == 5 ]] || wrong 'it did not end as it should' || return
	(($(wc -l <err) <= ${1:-1})) || wrong 'more than a line of each' || return
	[[ $status == 0 || -s err ]] || wrong 'nothing is said'
}

# KIND COMMAND..: with one and with eight times as much in the place of @
check_growth() {
	local kind=$1 n i least files=1
	shift
	n=$(how_many "$kind")
	[[ "$*" != *@*@* ]] || files=2
	for i in 1 8; do
		"$BOMBS" "$kind" $((n * i)) "$kind.$i" >length
		measure "${@//@/$kind.$i}"
		check_bounds "$files" || return
		((i > 1)) || least=$((ms > 20 ? ms : 20))
	done
	# Other load may have come between: try both again, at most four times.
	for ((i = 0; i < 4 && ms >= 12 * least; i++)); do
		measure "${@//@/$kind.1}"
		least=$((ms > 20 ? ms : 20))
		measure "${@//@/$kind.8}"
		check_bounds "$files" || return
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
	for kind in dense disks calls; do
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

# refused ARGUMENT...: one line, and status 1
refused() {
	run -1 --separate-stderr "$BT" "$@"
	[[ ! $output && ${#stderr_lines[@]} == 1 && $stderr == 'barriertrace: out of memory; '*'--read-memory SIZE'* ]]
}

@test "bombs: --read-memory is what reading may take" {
	"$BOMBS" heat 4000 heat
	refused report -q heat
	refused report heat --json json
	refused diff heat heat
	[[ ! -e json ]]
	"$BT" report -q --read-memory 3G heat
	"$BOMBS" disks 1000 b
	"$BT" report -q b
	refused report -q --read-memory 6M b
	refused diff --read-memory 6M b b
	refused record --anonymise --read-memory 6M b copy
	[[ ! -e copy && ! $(find . -name '*json*') ]] # what was begun is gone
	# a lower limit of the caller's stays
	run -1 "$BASH" -c 'ulimit -d 6000; "$BT" report -q b'
	[[ $output == 'barriertrace: out of memory' ]]
}

@test "bombs: --read-memory, wrongly used" {
	local command
	"$BOMBS" notes 10 b
	for command in 'report b' 'diff b b' 'record --anonymise b copy'; do
		run -2 "$BT" $command --read-memory 0
		[[ $output == *"--read-memory '0': write a size above 0"* ]]
		run -2 "$BT" $command --read-memory much
	done
	run -2 "$BT" record --read-memory 2G -o copy true
	[[ $output == *'--read-memory goes with --anonymise'* && ! -e copy ]]
}

@test "bombs: what no run has is no description of one" {
	local kind
	for kind in devices symbols probes lost; do
		"$BOMBS" "$kind" 1025 b
		run -1 "$BT" report b
		[[ $output == *'makes no sense' ]]
	done
	"$BOMBS" probes 1024 b
	"$BT" report -q b
}

@test "bombs: a recording has 1,000 headers" {
	"$BOMBS" headers 999 b
	"$BT" report -q b
	run -1 "$BOMBS" headers 1000 b
	[[ $output == *'cannot be recorded' ]]
}

@test "bombs: a barrier card" {
	local kind=card
	{
		printf '{"x":['
		yes '{},' | head -c 4000000
		printf '{}]}'
	} >card
	measure "$BT" diff card card
	check_bounds
	[[ $status == 1 && $(<err) == *card* ]]
}

@test "bombs: a thousand disks are none" {
	"$BOMBS" disks 1000 b
	"$BT" report --json json b
	(($(grep -c '"minor": ' json) == 1000))
}
