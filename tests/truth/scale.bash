# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For scale.bats here and in ../live: as many sync calls as CPUs can make. load ../helpers first.

resident() { # PID: KiB
	awk '/^VmRSS/ { print $2 }' "/proc/$1/status"
}

takes_at_most() { # KIB PID
	(($(resident "$2") <= $1))
}

# A disk in memory, whose file system has neither a journal nor barriers: calls are as cheap as can be
memory_disk() {
	local image=/dev/shm/barriertrace.$$.img loop
	need mkfs.ext4
	STORM=$BATS_TEST_TMPDIR/storm MNT=$BATS_TEST_TMPDIR/mnt
	"${CC:-cc}" -O2 -pthread -o "$STORM" "$TOP/tests/live/storm.c"
	truncate -s 32M "$image"
	on_exit "rm -f $image"
	mkfs.ext4 -q -F -O ^has_journal "$image"
	loop=$(losetup -f --show "$image")
	on_exit "losetup -d $loop"
	mkdir "$MNT"
	mount -o nobarrier "$loop" "$MNT"
	on_exit "umount $MNT"
	DISK=${loop#/dev/}
}

# storm RATE SECONDS [COMMAND]: runs it under the tool; COMMAND PID meanwhile
storm() {
	start "$BT" "$DISK" --json storm.json -o storm.txt -- "$STORM" "$MNT/file" 2 "$1" "$2" > made
	eventually 10 is_tracing "$STARTED"
	[[ ! ${3:-} ]] || "$3" "$STARTED"
	status_of "$STARTED"
	comment "$(< made) calls in $2 s"
}

nothing_lost() {
	jq -e --argjson made "$(< made)" '(.run.lost // []) == [] and .sync.count == $made' storm.json > /dev/null ||
		{ jq -c '[.run.lost, .sync.count]' storm.json; return 1; }
}

# readings FILE: of what strace saw, how often the ring buffer was read (first comes a look at the calls under way, at a map's
# beginning), in how many pieces it was mapped for that, and how often it was read again at once
readings() {
	awk '/^[0-9. ]+munmap/ { ended = $1 }
		!/PROT_READ, MAP_SHARED/ { next }
		/, 0\) = / { readings++; again += ended && $1 - ended < 0.005; next }
		{ pieces++ }
		END { print readings + 0, pieces + 0, again + 0 }' "$1"
}

# least_memory DISK: the least that --memory may say, with which the ring buffer has 1 MiB
least_memory() {
	"$BT" "$1" --memory 1M -- true 2>&1 | sed -n 's/.* takes \([0-9]*M\) at least.*/\1/p'
}

ring_was_full() { # JSON: how many facts it had no room for
	jq '[.run.lost[]? | select(.reason | test("ring buffer was full")) | .count] | add // 0' "$1"
}
