#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Recordings (made by tests/golden/record) and the exact bytes of every output. When an output changes on purpose:
# make golden-update, and look at the difference.

bats_require_minimum_version 1.5.0
load ../helpers
load render

setup() {
	need_tool
	need sqlite3
	cd "$BATS_TEST_TMPDIR" || return
}

# as_expected NAME: the lines that differ are shown; of what is kept as a checksum, its name
as_expected() {
	make_expected "$1" got
	diff -rua "$EXPECTED/$1" got >difference || {
		head -n 40 difference | cut -c 1-300
		echo "$(wc -l <difference) lines differ from tests/golden/expected/$1"
		return 1
	}
}

@test "golden: sqlite, every output to be read" {
	as_expected sqlite
}

@test "golden: sample, three threads" {
	as_expected sample
}

@test "golden: hostile names" {
	as_expected hostile
}

@test "golden: mixed, XFS on a partition with a busy neighbour" {
	as_expected mixed
}

@test "golden: blocks, without a ledger" {
	as_expected blocks
}

@test "golden: cut off" {
	as_expected cut
	grep -q 'status 5' got/messages
	grep -q 'not whole' got/text.txt
}

@test "golden: every recording has its test and what it expects, and nothing is left over" {
	diff <(recording_names) <(sed -n 's/^\tas_expected \([a-z].*\)/\1/p' "$BATS_TEST_FILENAME" | sort)
	diff <(recording_names) <(ls "$EXPECTED")
}

@test "golden: the bytes depend on nothing but the recording" {
	render hostile here
	(
		export TZ=Pacific/Chatham COLUMNS=40 LINES=5 TERM=dumb NO_COLOR=1 HOME=/absent
		umask 077
		render hostile there
	)
	diff -r here there
	# a locale in which a comma stands in numbers, if there is one
	LC_ALL=$(locale -a 2>/dev/null | grep -m 1 -E '^(de|fr|it|es|ru)_.*utf-?8$') || LC_ALL=C
	export LC_ALL
	"$BT" report "$RECORDINGS/hostile.btrec" --json other.json --html other.html --perfetto other.perfetto \
		--flame other.svg --csv other.csv -o "$BATS_TEST_TMPDIR/text"
	cmp here/report.json other.json
	cmp here/page.html other.html
	cmp here/perfetto.json other.perfetto
	cmp here/flame.svg other.svg
	diff -r here/csv other.csv
}
