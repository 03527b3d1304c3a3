# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For files.bats here and in ../cli: who calls, and who would like to get a hold of something. load ../helpers first.

ALICE=65533 # who calls sudo
OTHER=65532 # who has nothing to do with it

setup() {
	need_tool
	need_root
	chmod 755 "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR" || return
	# relative: nobody else may go through the directories above
	REC=sqlite.btrec
	cp "$TOP/tests/golden/recordings/sqlite.btrec" "$REC"
	chmod 644 "$REC"
	mkdir alices roots
	chmod 700 roots
	chown "$ALICE:$ALICE" alices
	echo secret >roots/secret
	chmod 600 roots/secret
}

teardown() {
	clean_up
}

# as_alice ARGUMENT..: as sudo calls it for her
as_alice() {
	SUDO_UID=$ALICE SUDO_GID=$ALICE timeout 20 "$BT" "$@"
}

# refused TEXT COMMAND..: status 1, one line, and nothing of root's has changed
refused() {
	local text=$1 status=0
	shift
	"$@" >out 2>err || status=$?
	echo "$*: status $status, $(<err)"
	[[ $status == 1 && $(wc -l <err) == 1 && $(<err) == *$text* && ! -s out ]]
	[[ $(ls -A roots) == secret && $(<roots/secret) == secret && $(stat -c '%u %a' roots/secret) == '0 600' ]]
}

owner() {
	stat -c '%u:%g %a' "$1"
}

SWAP='import os, sys
d, link, other = sys.argv[1:]
while True:
    os.rename(d, other); os.rename(link, d); os.rename(d, link); os.rename(other, d)'

# A directory on the way is swapped for a link again and again, by somebody who may: report -o never leaves a byte in root's.
# swap TIMES OPTION..: that often, with these options of strace, which slow the calls down in which it could happen
swap() {
	local times=$1 i swapper
	shift
	mkdir -p alices/dir
	chown "$ALICE" alices/dir
	ln -s ../roots alices/link
	start python3 -c "$SWAP" alices/dir alices/link alices/other
	swapper=$STARTED
	for ((i = 0; i < times; i++)); do
		"$@" env SUDO_UID="$ALICE" SUDO_GID="$ALICE" "$BT" report "$REC" -o alices/dir/report.txt >/dev/null 2>&1 || true
	done
	kill "$swapper"
	# some came through to the directory itself
	[[ -s alices/dir/report.txt || -s alices/other/report.txt ]]
	[[ $(ls -A roots) == secret && $(<roots/secret) == secret ]]
}
