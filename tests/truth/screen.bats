#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What the live screen costs; what it shows and does: ../live/screen.bats.

load ../helpers
load screen

# ticks SECONDS: of CPU time that the tool takes meanwhile
ticks() {
	local stat before
	read -ra stat <"/proc/$TOOL/stat"
	before=$((stat[13] + stat[14]))
	sleep "$1"
	read -ra stat <"/proc/$TOOL/stat"
	echo $((stat[13] + stat[14] - before))
}

@test "screen: drawing costs less than 1 % of a core" {
	local plain live hz
	hz=$(getconf CLK_TCK)
	load_disk
	in_pane --plain -i 1 "$RIG_DISK"
	sleep 3
	plain=$(ticks 15)
	keys C-c
	ended_well
	end_terminal
	in_pane -i 1 "$RIG_DISK"
	shows '>callers, the run'
	sleep 3
	live=$(ticks 15)
	keys q
	ended_well
	comment "CPU ticks of 15 s: plain $plain, live screen $live"
	# what the analysis takes varies with the load: 1 % more for that
	((live - plain <= 15 * hz * 2 / 100))
}
