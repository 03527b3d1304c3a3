#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The page of a long run: how long it takes to write, how large it is, and that a browser opens it.

load ../helpers
load ../golden/browser

setup() {
	need_tool
	cd "$BATS_TEST_TMPDIR" || return
}

# Most of the time goes to reading a recording of 50 minutes and to a ledger for each call.
@test "page: 1,000,000 sync calls in 10 s and 5 MiB, and it opens and reacts within 1 s" {
	local forge=${BUILD:-build}/tests/forge TIMEFORMAT='%R %U %S' wall user system
	[[ $forge == /* ]] || forge=$TOP/$forge
	[[ -x $forge ]] || skip "missing: $forge"
	"$forge" big.btrec 1000000
	# what else the machine does counts as well: the better of two
	for _ in 1 2; do
		{ time "$BT" report big.btrec --html page.html -q -o "$BATS_TEST_TMPDIR/text"; } 2>took.txt
		read -r wall user system <took.txt
		comment "$wall s, $user + $system s of CPU time, $(stat -c %s page.html) bytes"
		! holds "$wall < 10" || break
	done
	holds "$wall < 10"
	holds "$(stat -c %s page.html) < 5 * 1024 * 1024"
	echo '{}' >report.json
	in_browser html.py page.html million
}
