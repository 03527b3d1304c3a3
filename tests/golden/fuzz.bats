#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Five seconds of fuzzing for each target (BARRIERTRACE_FUZZ_SECONDS for more or less); make fuzz takes longer.

load ../helpers

@test "fuzz: what others wrote, from the bytes of files and words to what comes of them" {
	run "$TOP/tests/fuzz/run" -j 2 "${BARRIERTRACE_FUZZ_SECONDS:-5}"
	echo "$output"
	[[ $output != *' # SKIP missing: '* ]] || skip "missing: ${output##* # SKIP missing: }"
	[[ $status == 0 && $output == *$'\nok 1 - '* && $output != *'not ok '* ]]
}
