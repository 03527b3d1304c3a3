#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The keys of an experiment: what it takes is what its help, the man page and the how-to say.

bats_require_minimum_version 1.5.0
load ../helpers

setup() {
	need_tool
}

# Those that the parser knows: its words to one that it doesn't
known() {
	"$BT" experiment --set no-such-key=1 -- true 2>&1 | sed -n 's/.*there are //p' | tr -d ',' | tr ' ' '\n' | sort
}

of_help() {
	"$BT" experiment --help | sed -n '/^Keys of --set:$/,$s/^  \([a-z]\S*\) .*/\1/p' | sort
}

of_man() {
	sed -n '/^\\fBKeys of \\-\\-set\\fR$/,/^\.S[HS]/s/^\.B //p' "${BT%/*}/barriertrace.1" | tr -d '\\' | sort
}

of_how_to() {
	tr '\n' ' ' <"$TOP/docs/how-to/experiment.md" | sed 's/.*kill -9` by [^.]*\. Keys: //; s/\. A disk.*//' | grep -o '`[a-z_]*`' | tr -d '`' | sort
}

@test "experiment: the keys that it knows are those of its help, its man page and the how-to" {
	local k
	[[ $(known | wc -l) -gt 10 ]]
	diff <(known) <(of_help)
	diff <(known) <(of_man)
	diff <(known) <(of_how_to)
	for k in $(known); do
		run ! "$BT" experiment --set "$k=" -- true
		[[ $output == *"$k="* && $output != *'no key'* ]] || { echo "$output"; false; }
	done
}

@test "experiment: a key that takes --unsafe says so in its help" {
	run -2 --separate-stderr "$BT" experiment --set write_cache=through -- true
	[[ $stderr == *'write_cache takes --unsafe'* ]]
	[[ $("$BT" experiment --help | tr -s ' \n' ' ') == *' write_cache what the kernel '*'; takes --unsafe read_ahead_kb '* ]]
}
