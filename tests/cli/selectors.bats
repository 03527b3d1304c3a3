#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# -p, --comm, --no-children, --cgroup, --unit, --container: what they take, what does not go together, and a command without `--`.

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

# bad STATUS TEXT ARGUMENT...: this status, one line with this text on standard error, nothing on standard output
bad() {
	local expected=$1 text=$2 status=0
	shift 2
	timeout 20 "$BT" "$@" >out 2>err </dev/null || status=$?
	echo "status $status, err:"
	cat err
	[[ $status == "$expected" && ! -s out ]]
	# shellcheck disable=SC2053  # a pattern
	[[ $(wc -l <err) == 1 && $(<err) == "barriertrace: "$text ]]
}

@test "selectors: a command without -- is told of, whatever its options mean to us" {
	local text="'sleep' is a command: put -- before it (barriertrace -- sleep ..)"
	bad 2 "$text" sleep -c1
	bad 2 "$text" sleep -d never
	bad 2 "$text" sleep --no-such-option
	bad 2 "$text" record -o rec sleep -c1
	bad 2 "$text" / sleep -c1
	bad 2 "unknown option '-c': did you mean --csv?" -c1
	bad 2 "unknown option '-c': did you mean --csv?" / -c1
}

@test "selectors: what runs already and a command cannot be joined, and nothing runs" {
	local text='selects what runs already, and a command behind -- is watched itself: leave one of them out'
	bad 2 "'pid $$' $text" -p $$ -- touch ran
	bad 2 "'comm bash' $text" --comm bash -- touch ran
	bad 2 "'comm bash' $text" record -o rec --comm bash -- touch ran
	bad 2 '--no-children goes with --pid or --comm: of whom?' --no-children
	bad 2 '--no-children goes with --pid or --comm: of whom?' --no-children -- touch ran
	[[ ! -e rec && ! -e ran ]]
}

@test "selectors: numbers and names that nobody has, or that are none" {
	bad 2 '--pid x: not a process number' -p x
	bad 1 'there is no process 4194304' -p 4194304
	bad 2 '--comm needs the name of processes' --comm ''
	bad 1 '--comm no-such-name: there is no process of this name' --comm no-such-name
	bad 2 '--unit needs a name; --cgroup takes a path' --unit ''
	bad 2 '--container needs a name; --cgroup takes a path' --container a/b
	bad 1 '--unit no-such-unit: no unit of this name has processes' --unit no-such-unit
	bad 1 '--container 0123nobody: no cgroup has this name; *' --container 0123nobody
	bad 2 '--comm can be given 8 times' $(printf -- '--comm bash %.0s' {1..9})
}

# a_root: in $ROOT, where groups can be made
a_root() {
	need_root
	need findmnt
	ROOT=$(findmnt -nt cgroup2 -o TARGET | head -n 1)
	ROOT=${ROOT:-$(findmnt -nt cgroup -O blkio -o TARGET | head -n 1)}
	[[ $ROOT ]] || skip 'missing: a cgroup hierarchy'
}

make_groups() {
	local name
	for name in "$@"; do
		mkdir "$ROOT/$name"
		on_exit "rmdir '$ROOT/$name'"
	done
}

@test "selectors: a name that two groups have, and a unit that has only instances" {
	a_root
	make_groups "docker-bt-two-$$-a.scope" "docker-bt-two-$$-b.scope" "bt-$$@15-main.service"
	bad 2 "--container bt-two-$$: 2 cgroups have that name, /docker-bt-two-$$-[ab].scope and /docker-bt-two-$$-[ab].scope: name one with --cgroup" --container "bt-two-$$"
	bad 1 "--unit bt-$$: no unit of this name has processes; there is bt-$$@15-main.service" --unit "bt-$$"
}

@test "selectors: a thread stands for its process, twice the same is one, and several are told of" {
	need_tracing
	start sleep 60
	eventually 5 grep -qx sleep "/proc/$STARTED/comm"
	"$BT" -p "$STARTED" -p "$STARTED" --comm sleep -d 0.1 --json json -o text
	[[ $(json .run.filter json) == "pid $STARTED, comm sleep" ]]
}
