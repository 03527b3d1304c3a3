#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What a long recording takes to be read again. How fast that is on this machine is in `make bench`.

bats_require_minimum_version 1.5.0
load ../helpers

setup() {
	need_tool
	need python3
	cd "$BATS_TEST_TMPDIR" || return
}

# reads RECORDING OPTION..: sets SECONDS_USED and KIB
reads() {
	# shellcheck disable=SC2034
	read -r SECONDS_USED KIB < <(python3 - "$BT" "$@" <<'PY'
import resource, subprocess, sys
subprocess.run([sys.argv[1], "report"] + sys.argv[2:], check=True)
u = resource.getrusage(resource.RUSAGE_CHILDREN)
print(round(u.ru_utime + u.ru_stime, 3), u.ru_maxrss)
PY
	)
}

need_forge() {
	FORGE=${BUILD:-build}/tests/forge
	[[ $FORGE == /* ]] || FORGE=$TOP/$FORGE
	[[ -x $FORGE ]] || skip "missing: $FORGE"
}

# All files, processes and leaves that have lines of their own are there after some 20,000 calls: what comes on top is each call's.
@test "replay: 100,000 sync calls in 120 MiB for outputs that list no calls, and 300 bytes a call more for the others" {
	local out
	need_forge
	"$FORGE" big.btrec 100000
	for out in json html flame folded; do
		reads big.btrec -o big.txt "--$out" big.out
		comment "$out: $KIB KiB"
		holds "$KIB <= 120 * 1024"
	done
	for out in csv db perfetto; do
		reads big.btrec -o big.txt "--$out" "big.$out"
		comment "$out: $KIB KiB"
		holds "$KIB <= 120 * 1024 + 100000 * 300 / 1024"
	done
}

@test "replay: 1,000,000 sync calls in 300 MiB with every call listed, and in 120 MiB for text" {
	need_forge
	"$FORGE" big.btrec 1000000
	reads big.btrec -o big.txt
	comment "$SECONDS_USED s of CPU time, $KIB KiB, a recording of $(stat -c %s big.btrec) bytes"
	grep -q '1,000,000' big.txt
	holds "$KIB <= 120 * 1024"
	reads big.btrec -o big.txt --csv big.csv
	comment "csv: $KIB KiB"
	holds "$KIB <= 300 * 1024"
}

# instructions CALLS: of reading so many
instructions() {
	"$FORGE" "$1.btrec" "$1"
	valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file=log "$BT" report "$1.btrec" -o text
	awk '/Collected/ { print $NF }' log
}

# CPU time varies with what else the machine does: `make bench` measures it. Instructions do not.
@test "replay: a sync call takes no more than 17,000 instructions to read, analyse and report" {
	local few many
	need_forge
	need valgrind
	[[ $(uname -m) == x86_64 ]] || skip "the figure is that of x86_64"
	few=$(instructions 20000) many=$(instructions 40000)
	comment "$(((many - few) / 20000)) instructions"
	holds "$many - $few <= 17000 * 20000"
}
