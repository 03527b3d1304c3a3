#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The page, in a browser: that it can be read and used there, that it asks nobody for anything. Of a million
# calls: ../truth/html.bats.

bats_require_minimum_version 1.5.0
load ../helpers
load browser

setup() {
	need_tool
	need jq
	cd "$BATS_TEST_TMPDIR" || return
}

# draw RECORDING: a name of tests/golden/recordings, or a file
draw() {
	local file=$TOP/tests/golden/recordings/$1.btrec
	[[ -e $file ]] || file=$1
	"$BT" report "$file" --html page.html --json report.json -o "$BATS_TEST_TMPDIR/text"
}

@test "page: it names no other place, and forbids itself to ask" {
	draw hostile
	# names of dialects are no addresses
	sed -E 's,http://www\.w3\.org/(2000/svg|1999/xhtml),,g' page.html >stripped.html
	run ! grep -aEo '.{0,20}((src|href)="[^#d]|\b(url|import|fetch) *\(|@import|https?://).{0,20}' stripped.html
	grep -q "default-src 'none'" page.html
}

@test "page: no byte of a name gets through that could act" {
	draw hostile
	run ! grep -aP '[\x00-\x08\x0b-\x1f\x7f]' page.html
	run ! grep -aF '<script>x' page.html
	# as JSON it is the same report, and HTML ends nowhere in it
	sed -n 's/.*<script type="application\/json" id="report">\(.*\)<\/script>.*/\1/p' page.html >inside.json
	run ! grep -aq '[<>&]' inside.json
	diff <(jq -S . inside.json) <(jq -S . report.json)
}

@test "page in a browser: renders from phone to wide screen, light and dark" {
	draw sample
	in_browser html.py page.html renders
}

@test "page in a browser: names, headings, focus, reduced motion" {
	draw sample
	in_browser html.py page.html accessible
}

@test "page in a browser: tables can be sorted" {
	draw sample
	in_browser html.py page.html sorts
}

@test "page in a browser: picking a slow call shows its ledger" {
	draw sample
	in_browser html.py page.html picks
}

@test "page in a browser: pointing at a map" {
	draw sample
	in_browser html.py page.html points
}

@test "page in a browser: hostile names do nothing" {
	draw hostile
	in_browser html.py page.html hostile
}

@test "page in a browser: without sync calls it is about the devices" {
	draw blocks
	in_browser html.py page.html devices_alone
}
