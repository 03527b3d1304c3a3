#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# barriertrace doctor: what is asked wrongly, and how the answer comes.

bats_require_minimum_version 1.5.0
load ../helpers

setup() {
	need_tool
	need jq lsblk
	cd "$BATS_TEST_TMPDIR" || return
	mkdir work
	cd work || return
	# a loop device may be another test's, and change meanwhile
	DISK=$({ lsblk -bndo NAME,SIZE -e 7; lsblk -bndo NAME,SIZE; } | awk '$2 { print $1; exit }')
	[[ $DISK ]] || skip "missing: a disk"
}

teardown() {
	cd /
	clean_up
}

doctor() {
	"$BT" doctor --no-probes "$@"
}

# refused STATUS TEXT ARGUMENT...: this status, one line with this text on standard error, nothing else anywhere
refused() {
	local expected=$1 text=$2 status=0
	shift 2
	timeout 20 "$BT" doctor "$@" >../out 2>../err </dev/null || status=$?
	echo "status $status, out: $(head -n 5 ../out), err:"
	cat ../err
	[[ $status == "$expected" ]]
	[[ $(wc -l <../err) == 1 ]]
	[[ $(<../err) == barriertrace:* && $(<../err) == *$text* ]]
	[[ ! $(tr -d '\n' <../err) =~ [[:cntrl:]] ]]
	[[ ! -s ../out ]]
	[[ ! $(ls -A) ]]
}

@test "doctor, bad input: no such disk, file or device" {
	refused 2 "no disk called '${DISK}x': there are *$DISK" "${DISK}x" -o report --json json
	refused 2 "no disk called '/dev/${DISK}x'" "/dev/${DISK}x"
	refused 2 "'/absent/dir'" /absent/dir
	refused 2 "no disk called 'a?b'" $'a\nb'
	refused 2 empty ''
	refused 2 'character device' /dev/null
	refused 2 'has no disk beneath' /proc/version
}

@test "doctor, bad input: more than one target" {
	refused 2 'one target' "$DISK" "$DISK"
}

@test "doctor, bad input: options" {
	refused 2 'did you mean --json' --jsn -
	refused 2 'needs a value' --json
	refused 2 'takes no value' --no-tools=1
	refused 2 'write a time above 0' --trace 0
	refused 2 'write a time above 0' --trace -1
	refused 2 'write a time above 0' --trace soon
	refused 2 'write a time above 0' -t ''
}

@test "doctor, bad input: an output that cannot be written" {
	refused 1 'absent/json' --no-probes "$DISK" --json absent/json
	refused 1 'absent/text' --no-probes "$DISK" -o absent/text
	mkdir ../dir
	refused 1 '../dir' --no-probes "$DISK" -o ../dir
}

@test "doctor, bad input: a full disk" {
	[[ -c /dev/full ]] || skip "missing: /dev/full"
	run -1 sh -c '"$@" >/dev/full' - "$BT" doctor --no-probes "$DISK"
	[[ $output == *'cannot write standard output: No space left on device' && ${#lines[@]} == 1 ]]
}

@test "doctor: without root it reads what it may, and says what it may not" {
	need_root
	need setpriv
	chmod 755 . ..
	cp "$BT" ../bt
	# setpriv keeps the working directory, which may lie where nobody may look
	cd /
	run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups "$BATS_TEST_TMPDIR/bt" doctor "$DISK"
	echo "$stderr"
	[ "$status" -eq 0 ]
	[[ $output == *write_cache* && $output == *'run it as root'* ]]
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$BATS_TEST_TMPDIR/bt" doctor --trace 0.1 "$DISK"
	[ "$status" -eq 3 ]
	[[ $output == *'run it as root'* ]]
}

@test "doctor: JSON to standard output is JSON alone" {
	doctor "$DISK" --json - >../json
	[[ $(jq -r '.barriertrace | "\(.document) \(.schema)"' ../json) == 'doctor 1' ]]
	[[ $(jq -r .target ../json) == "$DISK" ]]
	jq -e --arg d "$DISK" '.layers[] | select(.name == $d) | .settings | length > 10' ../json
	jq -e '.layers[-1].kind == "machine"' ../json
	# each setting has a value or says why not, and what it does
	jq -e '[.layers[].settings[]? | (has("value") != has("unknown")) and (.effect | length > 10)] | all' ../json
	jq -e '.findings | type == "array"' ../json
}

@test "doctor: text is 80 columns wide, in plain ASCII and without colour where it is no terminal" {
	doctor "$DISK" --ascii -o ../text
	[[ $(head -n 1 ../text) == "$DISK: "* ]]
	! LC_ALL=C grep -n '[^ -~]' ../text
	awk 'length > 80 { print; bad = 1 } END { exit bad }' ../text
	grep -qE '^ +write_cache +(write back|write through) +/sys/class/block/' ../text
}

@test "doctor: quiet is the findings alone" {
	doctor -q "$DISK" >../quiet
	doctor "$DISK" >../all
	[[ $(wc -l <../quiet) -lt $(wc -l <../all) ]]
	! grep -q '/sys/class/block' ../quiet
	[[ $(head -n 1 ../quiet) == "$(head -n 1 ../all)" ]]
}

@test "doctor: without a target it looks at every disk with a size" {
	local d
	doctor --json - >../json
	for d in $(lsblk -bndo NAME,SIZE | awk '$2 { print $1 }'); do
		jq -e --arg d "$d" '[.layers[].name] | index($d)' ../json || { echo "not there: $d"; return 1; }
	done
	# an empty file would please jq
	[[ $(jq 'has("target")' ../json) == false ]]
}

@test "doctor: its help and its line in the man page" {
	run "$BT" doctor --help
	[ "$status" -eq 0 ]
	[[ $output == *'Reads, and changes nothing'* && $output == *--trace* ]]
	grep -q '^\.B barriertrace doctor' "$TOP/docs/reference/barriertrace.1.in"
}
