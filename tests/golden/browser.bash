# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only

# in_browser SCRIPT FILE CHECK: a check of a script in this folder, on a file of ours and report.json
in_browser() {
	local python
	need chromedriver
	[[ $(type -P chromium chromium-browser google-chrome) ]] || skip "missing: chromium"
	for python in python3 /usr/bin/python3; do
		"$python" -c 'import selenium' 2>/dev/null || continue
		"$python" -B "$TOP/tests/golden/$1" "$PWD/$2" report.json "$3"
		return
	done
	skip "missing: python3-selenium"
}
