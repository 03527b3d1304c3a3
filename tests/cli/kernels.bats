#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/check-kernels: a table of TAP, without any guest.

setup() {
	load ../helpers
	need bats
	cd "$BATS_TEST_TMPDIR" || return
	DOC=$BATS_TEST_TMPDIR/kernels.md
	# not as it stands: it would be taken for tests of this file
	sed 's/^T /@test /' >"$BATS_TEST_TMPDIR/t.bats" <<-'END'
		seen() { echo "# kernel $1, seen $2" >&3; }
		T "vm 5.10 x86_64 probes: limit: no such tracepoint" { seen 5.10.223-1 2026-01-02; }
		T "vm 5.10 x86_64 raid1: a leg" { seen 5.10.223-1 2026-01-02; echo here it is; false; }
		T "vm 6.1 arm64 scsi_debug: none: no such module" { seen 6.1.9-1 2026-01-02; }
		T "vm 6.1 arm64 raid1: a leg" { skip 'missing: QEMU'; }
		T "vm 7.2 x86_64 probes: all" { skip 'not asked for'; }
	END
}

table() { # of t.bats, less the test of this name
	[[ ! ${1-} ]] || sed -i "/$1/d" "$BATS_TEST_TMPDIR/t.bats"
	run "$TOP/scripts/check-kernels" ${WRITE:+"--write=$DOC"} "$BATS_TEST_TMPDIR/t.bats"
	echo "$output"
}

doc() {
	printf '%s\n' before '<!-- seen by check-kernels -->' '<!-- end of what was seen -->' after >"$DOC"
	WRITE=1
}

# cell_is KERNEL ARCH COLUMN TEXT: in the tables of $DOC; column "seen" is the row's
cell_is() {
	awk -F ' *[|] *' -v row="$1 $2" -v column="$3" '
		/^[|] kernel/ { at = 0; for (i = 1; i <= NF; i++) if ($i == column || $i == "`" column "`") at = i }
		at && $2 == row { print $at }' "$DOC" | grep -qxF -e "$4" || { cat "$DOC"; return 1; }
}

@test "kernels: the table has a row per kernel, a column per test, and what failed" {
	table
	[ "$status" -eq 1 ]
	[ "${lines[0]}" = '               probes raid1 scsi_debug' ]
	[ "${lines[1]}" = '5.10 x86_64    limit  FAIL' ]
	[ "${lines[2]}" = '6.1 arm64             skip  none' ]
	[ "${lines[3]}" = 'limit: 5.10 x86_64 probes: no such tracepoint' ]
	[ "${lines[4]}" = 'none: 6.1 arm64 scsi_debug: no such module' ]
	[ "${lines[5]}" = 'skipped: 6.1 arm64: missing: QEMU' ]
	[[ $output == *'failed: 5.10 x86_64 raid1'*'  here it is'* ]]
	[ "${lines[-1]}" = '2 ok, 1 failed, 1 skipped' ]
}

@test "kernels: nothing failed" {
	table '5.10 x86_64 raid1'
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = '2 ok, 0 failed, 1 skipped' ]
	"$TOP/scripts/check-kernels" -o "$PWD/rows" "$BATS_TEST_TMPDIR/t.bats"
	[[ $(<rows) == $'kernels\tguests\t2\t0\t1\t0\t'* ]]
}

@test "kernels: a guest that hung and was started once more is named and counted" {
	sed 's/^T /@test /' >>"$BATS_TEST_TMPDIR/t.bats" <<-'END'
		again() { echo "# second start: $1: no output for 60 s: stopped, start 1 of 2" >&3; }
		T "vm 6.18 x86_64 probes: all" { again 6.18.x86_64; }
		T "vm 6.18 x86_64 null: all" { again 6.18.x86_64; }
	END
	sed -i '/5.10 x86_64 raid1/d' "$BATS_TEST_TMPDIR/t.bats"
	run "$TOP/scripts/check-kernels" -o "$PWD/rows" "$BATS_TEST_TMPDIR/t.bats"
	[ "$status" -eq 0 ]
	[[ $output == *$'needed a second start: 6.18.x86_64: no output for 60 s: stopped, start 1 of 2\n4 ok, 0 failed, 1 skipped' ]]
	[[ $(<rows) == $'kernels\tguests\t4\t0\t1\t1\t'* ]]
}

@test "kernels: nothing ran" {
	table ' \(5.10\|6.1\) '
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = '0 ok, 0 failed, 0 skipped' ]
}

@test "kernels: only those of an architecture, a kernel and a cell" {
	export GUESTS=$BATS_TEST_TMPDIR/guests
	mkdir "$GUESTS"
	sed 's/^T /@test /' >"$BATS_TEST_TMPDIR/t.bats" <<-END
		load "$TOP/tests/helpers"
		load "$TOP/tests/vm/kernels"
		T "vm 5.10 arm64 null: what there is" { cell; }
		T "vm 6.1 x86_64 null: what there is" { cell; }
		T "vm 6.1 arm64 null: what there is" { cell; }
		T "vm 6.1 arm64 integrity: what there is" { cell; }
	END
	for guest in 5.10.arm64 6.1.{x86_64,arm64,arm64.integrity}; do
		echo 77 >"$GUESTS/$guest.rc"
		echo "vm: no $guest" >"$GUESTS/$guest.log"
	done
	run "$TOP/scripts/check-kernels" arm64 "$BATS_TEST_TMPDIR/t.bats" 6.1
	echo "$output"
	[[ $output == *'no 6.1.arm64'* && $output == *' 0 failed, 2 skipped' ]]
	run "$TOP/scripts/check-kernels" arm64 "$BATS_TEST_TMPDIR/t.bats" integrity
	echo "$output"
	[[ $output == *'no 6.1.arm64.integrity'* && $output == *' 0 failed, 1 skipped' ]]
}

@test "kernels: written, only what was seen has a result" {
	doc
	table
	[ "$(sed -n '1p;$p' "$DOC" | tr '\n' ' ')" = 'before after ' ]
	cell_is 5.10 x86_64 seen '5.10.223-1, 2026-01-02'
	cell_is 5.10 x86_64 probes limit
	cell_is 5.10 x86_64 raid1 FAIL
	cell_is 5.10 x86_64 null 'not run'
	cell_is 6.1 arm64 scsi_debug none
	cell_is 6.1 arm64 raid1 'not run'
	cell_is 7.2 x86_64 seen 'not seen yet'
	cell_is 7.2 x86_64 probes 'not run'
	# a test that there is for some kernels only
	grep -q '^\* 5.10 x86_64 `probes`: no tracepoint ' "$DOC"
}

@test "kernels: a cell is written before the next one is known" {
	doc
	sed 's/^T /@test /' >>"$BATS_TEST_TMPDIR/t.bats" <<-'END'
		written() { grep -q '^| 5.10 x86_64 .* limit |' "$DOC"; }
		soon() { for _ in {1..100}; do ! written || return 0; sleep 0.1; done; return 1; }
		T "vm 7.2 x86_64 null: all" { soon; }
	END
	sed -i 's/echo here it is; false;/:;/' "$BATS_TEST_TMPDIR/t.bats"
	export DOC
	table
	[ "$status" -eq 0 ]
}

@test "kernels: written again, what was not run stays, with its own version and day" {
	doc
	table
	sed -i -e 's/2026-01-02/2026-03-04/; s/5.10.223-1/5.10.224-1/' -e 's/; false;/;/' -e '/ \(probes\|scsi_debug\): /d' "$BATS_TEST_TMPDIR/t.bats"
	sed -i 's/ raid1: / null: /' "$BATS_TEST_TMPDIR/t.bats"
	cp "$DOC" "$BATS_TEST_TMPDIR/first"
	table
	cell_is 5.10 x86_64 seen '5.10.223-1, 2026-01-02'
	cell_is 5.10 x86_64 raid1 FAIL
	cell_is 5.10 x86_64 null 'ok (5.10.224-1, 2026-03-04)'
	sed -i 's/ null: / raid1: /' "$BATS_TEST_TMPDIR/t.bats"
	table
	cell_is 5.10 x86_64 seen '5.10.224-1, 2026-03-04'
	cell_is 5.10 x86_64 probes 'limit (5.10.223-1, 2026-01-02)'
	cell_is 5.10 x86_64 raid1 ok
	cell_is 6.1 arm64 scsi_debug none
	# nothing new: as it was
	cp "$DOC" "$BATS_TEST_TMPDIR/last"
	table
	cmp "$DOC" "$BATS_TEST_TMPDIR/last"
}

@test "kernels: a file without a place for the tables is left alone" {
	echo text >"$DOC"
	WRITE=1
	table '5.10 x86_64 raid1'
	[ "$status" -eq 1 ]
	[[ $output == *'has no place for the tables'* ]]
	[ "$(cat "$DOC")" = text ]
}
