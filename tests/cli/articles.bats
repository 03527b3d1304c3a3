#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The pages of docs/articles: every command line in them is one that this program, and fio, take. None is run.

load ../helpers

setup() {
	need_tool
}

# commands FILE..: the lines "$ sudo barriertrace ..", each in one, whatever was broken with a backslash
commands() {
	sed -n '/^\$ .*barriertrace/{:more; /\\$/{N; s/\\\n *//; b more}; s/^\$ \(sudo \)\?//; p}' "$@"
}

# Is it there? Any other word would be a TARGET.
has_command() {
	[[ $1 == -* || $1 == /* || $1 == sd* ]] || "$BT" "$1" --help 2>/dev/null | grep -q "^Usage: barriertrace $1 "
}

# parses LINE: the words before "--" as ours, those behind it as fio's
parses() {
	local words ours=() i
	eval "words=($1)"
	for ((i = 1; i < ${#words[@]}; i++)); do
		[[ ${words[i]} != -- ]] || break
		ours+=("${words[i]}")
	done
	has_command "${ours[0]}" || { comment "no such command here: ${ours[0]}"; return 0; }
	"$BT" "${ours[@]}" --help >/dev/null || return
	[[ ${words[i + 1]:-} != fio ]] || ! type -P fio >/dev/null || fio --parse-only "${words[@]:i+2}"
}

@test "articles: a page for each, with commands in it" {
	local page n=0
	for page in "$TOP"/docs/articles/*.md; do
		[[ $page != */README.md ]] || continue
		[[ $(commands "$page" | wc -l) -ge 2 ]] || { echo "$page: no commands"; return 1; }
		grep -q "(${page##*/})" "$TOP/docs/articles/README.md" || { echo "$page is not in the list"; return 1; }
		n=$((n + 1))
	done
	((n == 5))
}

@test "articles: every command line is taken" {
	local line
	while IFS= read -r line; do
		echo "$line"
		parses "$line"
	done < <(commands "$TOP"/docs/articles/*.md)
}

@test "articles: a command line that is not taken is found" {
	local page=$BATS_TEST_TMPDIR/page line
	printf '$ sudo barriertrace --jsn x \\\n    /mnt -- true\n$ sudo barriertrace /mnt -- fio --name=f --fsnc=1\n' >"$page"
	[[ $(commands "$page" | wc -l) == 2 ]]
	while IFS= read -r line; do
		[[ $line != *fio* ]] || type -P fio >/dev/null || continue
		! parses "$line" || { echo "taken: $line"; return 1; }
	done < <(commands "$page")
}
