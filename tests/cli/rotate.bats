#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# barriertrace record --rotate: a recording in several files

bats_require_minimum_version 1.5.0
load ../helpers

setup() {
	need_tool
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	cd /
	clean_up
}

# said STATUS TEXT COMMAND...: this status, nothing on standard output, and one line with this text on standard error
said() {
	local expected=$1 text=$2 status=0
	shift 2
	timeout 20 "$@" >out 2>err </dev/null || status=$?
	echo "status $status, out: $(head -n 5 out), err:"
	cat err
	[[ $status == "$expected" && ! -s out && $(wc -l <err) == 1 && $(<err) == barriertrace:*$text* ]]
}

# none COMMAND...: it must fail; errexit does not see a bare `!`
none() {
	! "$@"
}

calls_of() { # JSON: with a ledger or without
	jq -e '.sync.count + (.sync.no_ledger // 0)' "$1"
}

# a run of fdatasync calls in 4 jobs that takes ARGUMENT.. as fio's
fdatasyncs() {
	fio --name=rotated --directory="$RIG_MNT" --ioengine=psync --rw=write --bs=4k --size=16m --overwrite=1 --fdatasync=1 \
		--numjobs=4 --group_reporting --output=/dev/null "$@"
}

@test "rotate: wrong values, one line each" {
	local value
	for value in '' , 1M ',3' '1M,' '1M,x' 'x,3' '1M,3,4' '1M 3' '-1M,3' '1X,3' '1MM,3' '0,3' '1023K,3' '1048575,3' '1M,1' \
		'1M,0' '1M,1001' '1M,-2' '99999999999999999999,3' '9999999T,3' '1.5M,3'; do
		said 2 "--rotate '$value': write SIZE,N, such as 100M,10" "$BT" record -o rec --rotate "$value" -- true
	done
	said 2 "option '--rotate' needs a value: SIZE,N" "$BT" record -o rec --rotate
	said 2 'record needs -o FILE' "$BT" record --rotate 1M,3
	said 2 "unknown option '--rotate'" "$BT" --rotate 1M,3
	[[ ! -e rec ]]
}

@test "rotate: only where files can be renamed, and nothing of others is removed" {
	need_tracing
	mkfifo pipe
	mknod null c 1 3
	echo mine >target
	ln -s target link
	said 2 '--rotate needs a file: standard output is none' "$BT" record -o - --rotate 1M,3 -- touch ran
	said 1 '--rotate needs a regular file, and pipe is none' "$BT" record -o pipe --rotate 1M,3 -- touch ran
	said 1 '--rotate needs a regular file, and null is none' "$BT" record -o null --rotate 1M,3 -- touch ran
	said 1 'will not write through the symbolic link link' "$BT" record -o link --rotate 1M,3 -- touch ran
	ln -s target rec.1
	said 1 'will not replace rec.1: it is a symbolic link' "$BT" record -o rec --rotate 1M,3 -- touch ran
	rm rec.1
	echo 'Some other text, and more of it than any head has' >rec.2
	said 1 'will not replace rec.2: it is not a recording' "$BT" record -o rec --rotate 1M,3 -- touch ran
	mkdir rec.1
	said 1 'will not replace rec.1: it is no regular file' "$BT" record -o rec --rotate 1M,3 -- touch ran
	rmdir rec.1
	[[ $(<target) == mine && $(<rec.2) == Some* && ! -e ran && ! -e rec ]]
}

@test "rotate: earlier recordings are replaced, later numbers left alone" {
	need_rig
	rig_up
	"$BT" record -q -o rec "$RIG_DISK" -- true
	cp rec rec.1
	cp rec rec.2
	cp rec rec.3
	: >rec.4
	"$BT" record -q -o rec --rotate 1M,3 "$RIG_DISK" -- true
	[[ -e rec && ! -e rec.1 && ! -e rec.2 && -e rec.3 && -e rec.4 ]]
	"$BT" report rec >/dev/null
}

@test "rotate: no file is too large, each is a recording of its own, and together they are the run" {
	local i n calls=0 writes=0 flushes=0 began=
	need_rig
	need fio
	rig_up
	export RIG_MNT
	fdatasyncs --fdatasync=0 # the files are there
	"$BT" record -o rec --rotate 1M,100 --json live.json "$RIG_DISK" -- \
		"$BASH" -c "$(declare -f fdatasyncs); fdatasyncs" 2>err
	ls -l rec*
	cat err
	n=$(find . -name 'rec*' | wc -l)
	((n >= 3))
	[[ $(<err) =~ [0-9,]+\ facts\ recorded\ in\ "$n"\ files,\ none\ removed ]]
	for ((i = n - 1; i >= 0; i--)); do
		local file=rec.$i
		((i)) || file=rec
		(($(stat -c %s "$file") <= 1048576))
		[[ $(stat -c %a "$file") == 600 ]]
		"$BT" report "$file" --json "$i.json" >"$i.txt" || [[ $? == 5 ]]
		[[ $(jq .run.incomplete "$i.json") == false || $(jq .run.incomplete live.json) == true ]]
		none grep 'not whole' "$i.txt"
		# the names of files and of the journal's thread come once, and are in each; all may have ended before the last file
		jq -e --arg name "$RIG_MNT/rotated." --argjson least $((i ? 4 : 0)) '[.sync.by_file[]?.path | select(startswith($name))] |
			length >= $least and length <= 4' "$i.json" || { jq -c .sync.by_file "$i.json"; false; }
		[[ -z $began || $(jq -r .run.start "$i.json") > $began || $(jq -r .run.start "$i.json") == "$began" ]]
		began=$(jq -r .run.start "$i.json")
		calls=$((calls + $(calls_of "$i.json")))
		writes=$((writes + $(of_disk "$i.json" "$RIG_DISK" ' | (.ops // {}) | map(select(.op == "write.sync").count) | add')))
		flushes=$((flushes + $(of_disk "$i.json" "$RIG_DISK" ' | (.ops // {}) | map(select(.op == "flush").count) | add')))
	done
	[[ $calls == "$(calls_of live.json)" ]]
	[[ $writes == "$(of_disk live.json "$RIG_DISK" ' | (.ops // {}) | map(select(.op == "write.sync").count) | add')" ]]
	[[ $flushes == "$(of_disk live.json "$RIG_DISK" ' | (.ops // {}) | map(select(.op == "flush").count) | add')" ]]
	# where one file ends and the next begins, calls keep their ledgers, but for those whose facts were lost
	((calls - $(jq -s 'map(.sync.count) | add' [0-9]*.json) <= 4 * n + $(lost live.json)))
}

@test "rotate: the oldest is removed" {
	need_rig
	need fio
	rig_up
	export RIG_MNT
	fdatasyncs --fdatasync=0
	"$BT" record -o rec --rotate 1M,2 "$RIG_DISK" -- "$BASH" -c "$(declare -f fdatasyncs); fdatasyncs" 2>err
	ls -l rec*
	cat err
	[[ $(find . -name 'rec*' | sort | xargs) == './rec ./rec.1' ]]
	[[ $(<err) =~ in\ ([0-9]+)\ files,\ ([0-9]+)\ removed ]]
	((BASH_REMATCH[1] == BASH_REMATCH[2] + 2 && BASH_REMATCH[2] > 0))
	or_lost "$BT" report rec --json 0.json >/dev/null
	or_lost "$BT" report rec.1 --json 1.json >/dev/null
}
