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

# The other outputs are within it too, but for those that list every call.
@test "replay: 1,000,000 sync calls in 300 MiB, and no more than 4 s of CPU time" {
	local forge=${BUILD:-build}/tests/forge seconds kib
	[[ $forge == /* ]] || forge=$TOP/$forge
	[[ -x $forge ]] || skip "missing: $forge"
	"$forge" big.btrec 1000000
	# shellcheck disable=SC2034
	read -r seconds kib < <(python3 - "$BT" <<'PY'
import resource, subprocess, sys
subprocess.run([sys.argv[1], "report", "big.btrec", "-o", "big.txt"], check=True)
u = resource.getrusage(resource.RUSAGE_CHILDREN)
print(round(u.ru_utime + u.ru_stime, 3), u.ru_maxrss)
PY
	)
	comment "$seconds s of CPU time, $kib KiB, a recording of $(stat -c %s big.btrec) bytes"
	grep -q '1,000,000' big.txt
	holds "$kib <= 300 * 1024"
	holds "$seconds <= 4"
}
