#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# On both sides of a threshold: what is said surely is true by the ledger, near it the other class is named (verdict.second), and far from it
# nothing else is.

load ../helpers
load matrix

setup_file() {
	build_syncs
}

setup() {
	need_matrix
}

teardown() {
	clean_up
}

# What the verdict says is true: one of the two where it has three fifths of the time (see CLEARLY), else mixed. Close to that the other
# one is named, far from it none.
said_of() { # CLASS PART OTHER PART: of the causes' names
	jq -c --arg a "$1" --arg x "$2" --arg b "$3" --arg y "$4" '
		.verdict as $v | .sync as $s |
		def part(names): ([$s.ledger | to_entries[] | select(.key | test(names)) | .value] | add // 0) / $s.total_ns;
		part($x) as $x | part($y) as $y | ([$x, $y] | max) as $most |
		(if $most < 0.6 then "mixed" elif $x > $y then $a else $b end) as $class |
		{class: $v.class, second: $v.second, confidence: $v.confidence, x: ($x * 1000 | round / 1000), y: ($y * 1000 | round / 1000),
		 true: (([$v.class, $v.second] | index($class)) != null and
			(if ($most - 0.6 | fabs) < 0.02 then $v.second != null
			 elif $most > 0.75 or $most < 0.5 then $v.class == $class and $v.second == null else true end))
		}' "$J" | tee -a "$BATS_TEST_TMPDIR/said"
}

near() { # FLUSH_US WRITE_US
	rig_set flush_us="$1" write_us="$2"
	trace "$SYNCS" -o fdatasync "$RIG_MNT/file" 60
	ledgers_add_up && said_of device-flush '^flush' device-write '^device.write$'
}

@test "thresholds: flush and write, from a quarter to four times as much" {
	local write
	rig_up
	"$SYNCS" -o fdatasync "$RIG_MNT/file" 2
	for write in 800 1600 2400 2800 3000 3200 3600 4400 5200; do
		near $((6000 - write)) $write
	done
	comment "$(< "$BATS_TEST_TMPDIR/said")"
	[[ $(jq -s 'all(.true)' "$BATS_TEST_TMPDIR/said") == true ]]
	# and not all of it is unsure
	[[ $(jq -s 'map(select(.second == null).class) | unique | length' "$BATS_TEST_TMPDIR/said") == 3 ]]
}

paused() { # MS
	trace "$SYNCS" -o -p "$1" fdatasync "$RIG_MNT/file" 60
	ledgers_add_up && jq -c '.verdict as $v | ((.sync.total_ns + (.sync.no_ledger_ns // 0)) / .run.wall_ns) as $x |
		{class: $v.class, second: $v.second, confidence: $v.confidence, x: ($x * 1000 | round / 1000),
		 true: (($v.class == "device-flush" or $v.class == "not-sync") and
			($v.second != null or $v.class == (if $x >= 0.2 then "device-flush" else "not-sync" end)) and
			# within a twentieth of it: not sure; twice or half of it: sure
			(if ($x - 0.2 | fabs) < 0.01 then $v.second != null
			 elif $x > 0.4 or $x < 0.1 then $v.second == null else true end))}' "$J" | tee -a "$BATS_TEST_TMPDIR/said"
}

@test "thresholds: a fifth of the time, from half to a twentieth" {
	local ms
	rig_up
	"$SYNCS" -o fdatasync "$RIG_MNT/file" 2
	rig_set flush_us=3000 write_us=200
	for ms in 3 7 11 13 14 15 18 30 60; do
		paused $ms
	done
	comment "$(< "$BATS_TEST_TMPDIR/said")"
	[[ $(jq -s 'all(.true)' "$BATS_TEST_TMPDIR/said") == true ]]
	[[ $(jq -s 'map(select(.second == null).class) | unique | length' "$BATS_TEST_TMPDIR/said") == 2 ]]
}
