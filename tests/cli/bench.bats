#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What bench says to words that it cannot use: one line, and nothing is written.

bats_require_minimum_version 1.5.0
load ../helpers

setup() {
	need_tool
	DIR=$BATS_TEST_TMPDIR/dir
	mkdir "$DIR"
}

# refused STATUS WORDS ARGUMENT...: with $ONLY_PATH as PATH, if set
refused() {
	local status=$1 words=$2
	shift 2
	run "-$status" --separate-stderr env "PATH=${ONLY_PATH-$PATH}" "$BT" bench "$@"
	[[ $stderr == "barriertrace: "*"$words"* && $stderr != *$'\n'* && ! $output ]] || { echo "$stderr"; return 1; }
	[[ ! $(ls -A "$DIR") ]]
}

@test "bench: without words it lists the workloads" {
	run -0 "$BT" bench
	for w in barrier sync sqlite etcd ars; do
		[[ $output == *"$w "* ]]
	done
}

@test "bench: an unknown workload, with the one that may be meant" {
	refused 2 "no workload 'sqlit', but there is sqlite; barriertrace bench lists them" sqlit "$DIR"
	refused 2 "no workload 'nonsense'; barriertrace bench lists them" nonsense "$DIR"
	refused 2 'takes a workload and a folder' sync "$DIR" more
}

@test "bench: a benchmark that is wrapped, not built in" {
	local tool list
	list=$("$BT" bench)
	for tool in fio bonnie++ hdparm dd fs_mark dbench iozone postmark compilebench; do
		refused 2 "$tool is none of our own: barriertrace DIR -- $tool .. wraps it" $tool "$DIR"
		[[ " ${list##*such as }," == *" $tool,"* ]]
	done
}

@test "bench: sizes" {
	local s
	for s in 0 1 -1M x 1023K 99999999999G '' 1e9; do
		refused 2 '--size' barrier "$DIR" --size "$s"
	done
	refused 2 'a --size of 1G at most' barrier "$DIR" --size 1025M
}

@test "bench: times" {
	local s
	for s in 0 -1 x 25h '' 1e3; do
		refused 2 '--time' barrier "$DIR" --time "$s"
	done
}

@test "bench: counts and words of SQLite" {
	refused 2 '--inserts 0' sqlite "$DIR" --inserts 0
	refused 2 '--inserts x' sqlite "$DIR" --inserts x
	refused 2 '--copies 33' sqlite "$DIR" --copies 33
	refused 2 '--journal foo' sqlite "$DIR" --journal foo
	refused 2 '--synchronous 2' sqlite "$DIR" --synchronous 2
	refused 2 '--journal wal; drop' sqlite "$DIR" --journal 'wal; drop table'
}

@test "bench: an option of another workload" {
	refused 2 'sync has no --size' sync "$DIR" --size 64M
	refused 2 'barrier has no --copies' barrier "$DIR" --copies 2
	refused 2 'sqlite has no --discard' sqlite "$DIR" --discard
}

@test "bench: what is no folder" {
	refused 1 'No such file' sync "$DIR/none"
	refused 2 'is a file' sync "$BT"
	refused 2 'is a device' sync /dev/null
	refused 2 'too long' sync "$(printf '%05000d' 0)"
}

@test "bench: a program that isn't there" {
	ONLY_PATH=$BATS_TEST_TMPDIR refused 127 'apt install fio' etcd "$DIR"
	ONLY_PATH='' refused 127 'apt install fio' ars "$DIR"
}

@test "bench: the hidden entry runs for the tool alone" {
	run -2 "$BT" --workload
	[[ ! $output ]]
	"$BT" --workload >"$BATS_TEST_TMPDIR/out" && false
	[[ ! -s $BATS_TEST_TMPDIR/out ]]
}

@test "diff: a card and something else, and spoiled cards" {
	local card=$BATS_TEST_TMPDIR/card
	echo '{"barriertrace":{"schema":1,"document":"card"},"disk":{"name":"sda"},"tests":[]}' >"$card"
	run -0 "$BT" diff "$card" "$card"
	[[ $output == *'no test in common'* ]]
	run -2 "$BT" diff "$card" "$TOP/tests/golden/recordings/sample.btrec"
	[[ $output == *'is a barrier card and'*'is not'* ]]
	run -2 "$BT" diff "$TOP/tests/golden/recordings/sample.btrec" "$card"
	[[ $output == *'is a barrier card and'*'is not'* ]]
	echo '{' >"$BATS_TEST_TMPDIR/cut"
	run -1 "$BT" diff "$card" "$BATS_TEST_TMPDIR/cut"
	[[ $output == *cut* && ${#lines[@]} == 1 ]]
	run -1 "$BT" diff "$BATS_TEST_TMPDIR/cut" "$card"
	[[ $output == *cut* && ${#lines[@]} == 1 ]]
	run -1 "$BT" diff "$card" "$BATS_TEST_TMPDIR/none"
	[[ ${#lines[@]} == 1 ]]
	run -1 "$BT" diff "$card" "$BATS_TEST_TMPDIR"
	[[ $output == *'Is a directory' && ${#lines[@]} == 1 ]]
	run -1 "$BT" diff "$BATS_TEST_TMPDIR" "$card"
	[[ $output == *'Is a directory' && ${#lines[@]} == 1 ]]
}

# More than a pipe holds, so that who fills one has to wait for its reader.
@test "diff: two pipes that one program fills one after the other" {
	local card=$BATS_TEST_TMPDIR/card long=$BATS_TEST_TMPDIR/long a=$TOP/tests/golden/recordings/sample.btrec
	# shellcheck disable=SC2016  # for the inner shell
	local both='exec "$0" diff /dev/fd/7 /dev/fd/8 7<one 8<two'
	cd "$BATS_TEST_TMPDIR"
	mkfifo one two
	{ echo '{"barriertrace":{"schema":1,"document":"card"},"disk":{"name":"sda"},"tests":[]}' && printf '%200000s' ''; } >"$card"
	{ cat "$a" && head -c 200000 /dev/zero; } >"$long"
	{ cat "$card" >&5 && exec 5>&- && cat "$card" >&6; } 5>one 6>two &
	run -0 timeout 20 "$BASH" -c "$both" "$BT"
	wait $!
	[[ ${lines[0]} == *'no test in common'* ]]
	{ cat "$long" >&5 && exec 5>&- && cat "$long" >&6; } 5>one 6>two &
	run -5 timeout 20 "$BASH" -c "$both" "$BT"
	wait $!
	[[ ${lines[0]} == 'No difference that could be told'* ]]
	# which is no reason to read for long when there is no second one
	run -1 "$BT" diff "$a" none
	[[ $output == *'cannot read none'* ]]
}

@test "diff: cards and recordings out of pipes" {
	local card=$BATS_TEST_TMPDIR/card a=$TOP/tests/golden/recordings/sample.btrec b=$TOP/tests/golden/recordings/sqlite.btrec
	cd "$BATS_TEST_TMPDIR"
	sentence() { "$BT" diff --json - "$@" | jq -er .sentence; }
	sentence "$a" "$b" >want
	sentence <(cat "$a") <(cat "$b") | cmp - want
	sentence - <(cat "$b") < <(cat "$a") | cmp - want
	mkfifo pipe
	for pair in "pipe $b" "$a pipe" "/dev/null $b"; do
		# shellcheck disable=SC2086  # two words
		run -1 timeout 20 "$BT" diff $pair
		[[ $output == *'it is no regular file'* && ${#lines[@]} == 1 ]]
	done
	echo '{"barriertrace":{"schema":1,"document":"card"},"disk":{"name":"sda"},"tests":[]}' >"$card"
	sentence <(cat "$card") - <"$card" | grep -q 'no test in common'
	run -2 "$BT" diff <(cat "$card") <(cat "$a")
	[[ $output == *'is a barrier card and'*'is not'* ]]
	run -1 "$BT" diff "$a" <(true)
	[[ $output == *'is empty'* && ${#lines[@]} == 1 ]]
}
