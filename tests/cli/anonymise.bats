#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# barriertrace record --anonymise: a recording that can be sent to somebody. What becomes of each kind of name: tests/unit/recording/test_anonymise.c

bats_require_minimum_version 1.5.0
load ../helpers

RECORDINGS=$TOP/tests/golden/recordings

setup() {
	need_tool
	need jq
	cd "$BATS_TEST_TMPDIR" || return
	cp "$RECORDINGS/sqlite.btrec" in
}

anonymise() {
	"$BT" record --anonymise "$@"
}

# refused STATUS TEXT ARGUMENT...: this status, and one line with this text (a pattern of [[ ]]); no OUT comes into being
refused() {
	local expected=$1 text=$2
	shift 2
	run --separate-stderr anonymise "$@"
	echo "status $status, out: $output, err: $stderr"
	[[ $status == "$expected" && ! $output && ${#stderr_lines[@]} == 1 ]]
	[[ $stderr == barriertrace:* && $stderr == *$text* ]]
	[[ ! -e out ]]
}

# json_of FILE OUT: its report, whatever status that gives
json_of() {
	"$BT" report "$1" --json "$2" >/dev/null 2>&1 || [[ $? == 5 ]]
}

# numbers FILE: the report without its strings
numbers() {
	jq 'walk(if type == "string" then "" else . end)' "$1"
}

@test "anonymise: each recording has the same report but for names" {
	local file name status
	for file in "$RECORDINGS"/*.btrec; do
		name=${file##*/}
		status=0
		anonymise "$file" out 2>err || status=$?
		[[ $(wc -l <err) == 1 && ($status == 0 || $name == cut.btrec && $status == 5) ]] || { cat err; false; }
		json_of "$file" a.json
		json_of out b.json
		diff <(numbers a.json) <(numbers b.json)
		# names: of the rig's folder, the commands, the files; none of these in any string, and what analysis goes by still there
		jq -r '.. | strings' b.json >strings
		run -1 grep -E 'barriertrace-rig|python|sqlite3|PRAGMA|work\.py|mnt|script|fuse/' strings
		jq -e '[.devices[].name] == (input | [.devices[].name])' a.json b.json
		rm out
	done
}

@test "anonymise: what is known of the kernel stays" {
	anonymise in out
	json_of out b.json
	jq -r '.sync.leaves[].path' b.json | grep -q 'jbd2/loop0-8;flush'
	[[ $(jq -r '.devices[0].mounts[0] | .fstype, .options' b.json) == ext4 ]]
	[[ $(jq -r .run.kernel b.json) =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]
	# files are below their mount point
	jq -e '.devices[0].mounts[0].dir as $dir | [.sync.by_file[].path] | length > 2 and all(startswith($dir))' b.json
	[[ $(jq -r '.sync.by_process[0].comm' b.json) == "$(jq -r '.run.command[0]' b.json)" ]]
}

@test "anonymise: from and to a stream, and with -o" {
	anonymise in out
	anonymise - - <in 2>err | cmp - out
	anonymise in -o other
	cmp out other
	anonymise in open --mode 0644
	[[ $(stat -c %a out open) == $'600\n644' ]]
	# an earlier recording is replaced, and IN stays as it was
	cp "$RECORDINGS/mixed.btrec" other
	anonymise in other
	cmp out other
	cmp in "$RECORDINGS/sqlite.btrec"
}

@test "anonymise: twice is as good as once" {
	anonymise in out
	anonymise out again
	json_of out a.json
	json_of again b.json
	diff <(numbers a.json) <(numbers b.json)
}

@test "anonymise: takes no rights" {
	need_root
	need setpriv
	chmod 755 "$BATS_TEST_TMPDIR"
	chmod 644 in
	mkdir -m 777 all
	setpriv --reuid 65534 --regid 65534 --clear-groups "$BT" record --anonymise in all/out
	[[ -s all/out ]]
}

@test "anonymise: wrong usage" {
	refused 2 'IN OUT'
	refused 2 'IN OUT' in
	refused 2 'IN OUT' in out more
	refused 2 'IN OUT' in out -o more
	refused 2 'IN OUT' -o out
	refused 2 'no other option' in out -q
	refused 2 'no other option' in out --json x
	refused 2 'no other option' in out --rotate 1M,2
	refused 2 'no other option' in out -p 1
	refused 2 'no other option' in out -- true
	refused 2 'takes no value' --anonymise=in out
	[[ ! -e more && ! -e x ]]
}

@test "anonymise: not onto the recording itself" {
	refused 2 'that is read' in in
	refused 2 'that is read' in ./in
	ln in hard
	refused 2 'that is read' in hard
	run --separate-stderr "$BASH" -c '"$BT" record --anonymise - in <in'
	[[ $status == 2 && $stderr == *'that is read'* ]]
	run --separate-stderr "$BASH" -c '"$BT" record --anonymise in - >>in'
	[[ $status == 2 && $stderr == *'that is read'* ]]
	cmp in "$RECORDINGS/sqlite.btrec"
}

@test "anonymise: what is no recording, or can't be written" {
	echo 'Some other text, and more of it than any head has' >foreign
	echo mine >target
	ln -s target link
	refused 1 'foreign' foreign out
	refused 1 'absent: No such file' absent out
	refused 1 'absent/out' in absent/out
	refused 1 'symbolic link link' in link
	[[ $(<target) == mine ]]
	# an earlier OUT stays as it is
	run -1 "$BT" record --anonymise foreign target
	[[ $(<target) == mine ]]
}

@test "anonymise: of a damaged recording what is intact" {
	local i bytes
	cp "$RECORDINGS/sample.btrec" in
	bytes=$(stat -c %s in)
	for ((i = 0; i < bytes; i += 997)); do
		head -c "$i" in >cut
		local a=0 b=0
		"$BT" report cut --json a.json >/dev/null 2>&1 || a=$?
		anonymise cut out 2>err || b=$?
		[[ $a == "$b" && $(wc -l <err) == 1 ]] || { echo "cut at $i: $a, $b"; cat err; false; }
		((b == 5)) || { [[ ! -e out ]]; continue; }
		json_of out b.json
		diff <(numbers a.json) <(numbers b.json)
		rm out
	done
}
