#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Ten seconds of fuzzing (BARRIERTRACE_FUZZ_SECONDS for more or less).

load ../helpers

@test "fuzz: recordings, from the bytes of a file to the ledgers" {
	run "$TOP/tests/fuzz/run" "${BARRIERTRACE_FUZZ_SECONDS:-10}"
	echo "$output"
	[[ $output != *' # SKIP missing: '* ]] || skip "missing: ${output##* # SKIP missing: }"
	[[ $status == 0 && $output == *$'\nok 1 - '* ]]
}
