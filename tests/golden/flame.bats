#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The flame as a file, and in a browser: that it can be used there, and that what it draws adds up there.

bats_require_minimum_version 1.5.0
load ../helpers
load browser

setup() {
	need_tool
	need jq
	cd "$BATS_TEST_TMPDIR" || return
}

# draw NAME: what the tests look at, from a recording
draw() {
	"$BT" report "$TOP/tests/golden/recordings/$1.btrec" --flame flame.svg --json report.json --folded folded.txt \
		-o "$BATS_TEST_TMPDIR/text"
}

@test "flame: well-formed, self-contained, no foreignObject, whatever the names are" {
	local foreign='//*[local-name() = "foreignObject"] | //@href | //@src | //@style | //@*[starts-with(name(), "on")]'
	need xmllint
	for name in sample sqlite hostile; do
		draw "$name"
		xmllint --noout --nonet flame.svg
		[[ $(xmllint --xpath 'count(//*[local-name() = "script"])' flame.svg) == 1 ]]
		[[ $(xmllint --xpath "count($foreign)" flame.svg) == 0 ]]
		run ! grep -aE '(url|import)\b *\(?["'\'']?https?:' flame.svg
	done
}

@test "flame: figures in the file add up to the ledger at every level" {
	need xmllint
	for name in sample sqlite hostile; do
		draw "$name"
		grep -o 'data-depth="[0-9]*" data-start="[0-9]*" data-ns="[0-9]*"' flame.svg | tr -dc '0-9 \n' >frames
		awk -v total="$(jq '[.sync.ledger[]] | add' report.json)" '
			function close_down_to(depth) {
				for (; open > depth; open--) {
					if (!parts[open - 1] || below[open - 1] == ns[open - 1]) continue
					print "not the sum:", open - 1, ns[open - 1]
					bad = 1
				}
			}
			NR == 1 && $3 != total { print "not the total:", $3; bad = 1 }
			{ close_down_to($1); if ($1) { below[$1 - 1] += $3; parts[$1 - 1]++ }
			  ns[$1] = $3; below[$1] = parts[$1] = 0; open = $1 + 1 }
			END { close_down_to(0); exit bad || NR < 10 }' frames
	done
}

@test "folded: a line per leaf, as in JSON, to the nanosecond" {
	for name in sample sqlite hostile; do
		draw "$name"
		[[ $(awk '{ sum += $NF } END { print sum }' folded.txt) == "$(jq .sync.total_ns report.json)" ]]
		jq -r '.sync.leaves[] | "\(.path) \(.ns)"' report.json | LC_ALL=C sort >leaves.txt
		LC_ALL=C sort folded.txt | diff leaves.txt -
		run ! grep -avE '^[^;]+(;[^;]+){2,} [1-9][0-9]*$' folded.txt
	done
}

@test "flame in a browser: widths are time, at every level and width of the window" {
	draw sample
	in_browser flame.py flame.svg widths
}

@test "flame in a browser: zoom and reset" {
	draw sample
	in_browser flame.py flame.svg zoom
}

@test "flame in a browser: search, and the share that matched" {
	draw sample
	in_browser flame.py flame.svg search
}

@test "flame in a browser: all of it by keyboard" {
	draw sample
	in_browser flame.py flame.svg keyboard
}

@test "flame in a browser: exact figures where one points" {
	draw sample
	in_browser flame.py flame.svg details
}

@test "flame in a browser: to be read without the script" {
	draw sample
	in_browser flame.py flame.svg noscript
}

@test "flame in a browser: light, dark, and black on white on paper" {
	draw sample
	in_browser flame.py flame.svg media
}

@test "flame in a browser: a hostile name does nothing" {
	draw hostile
	in_browser flame.py flame.svg hostile
}
