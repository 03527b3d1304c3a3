# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For tools.bats here and in ../live: a tool wrapped, its own figures beside the report's. load ../helpers and matrix first.

setup() {
	need_tracing
	J=$BATS_TEST_TMPDIR/report.json OUT=$BATS_TEST_TMPDIR/out CALLS=$BATS_TEST_TMPDIR/calls
	BEFORE=()
}

teardown() {
	clean_up
}

# A disk with ext4 on it, whose journal commits nothing of its own accord, and whose bitmaps have been read
rig_ext4() {
	rig_up --flush-us 200 --write-us 50 --mount-opts commit=600
	dd if=/dev/zero of="$RIG_MNT/read" bs=1M count=8 conv=fsync status=none
	rm "$RIG_MNT/read"
	sync -f "$RIG_MNT"
}

# Only what the tool itself sends is counted, not what the journal or writeback do for it: by wrapped, in $IN_GROUP.
own_requests() {
	local dir
	need findmnt
	dir=$(findmnt -nt cgroup -O blkio -o TARGET | head -n 1)
	dir=${dir:-$(findmnt -nt cgroup2 -o TARGET | head -n 1)}
	[[ $dir ]] || skip "missing: a cgroup hierarchy"
	make_group "$dir"
	in_group
}

# watched OPTION... -- TOOL [ARGUMENT]..: run in $IN_GROUP, whose calls and requests count
watched() {
	local trace=() tool status=0
	while [[ $1 != -- ]]; do
		trace+=("$1")
		shift
	done
	start_tracing --cgroup "$GROUP" "${trace[@]}"
	tool=$STARTED
	"${IN_GROUP[@]}" "${@:2}" || status=$?
	stop_tracing "$tool" && return $status
}

# wrapped TOOL [ARGUMENT]..: what it prints is in $OUT and $OUT.err
wrapped() {
	local trace=("$RIG_DISK" --json "$J" -o "$BATS_TEST_TMPDIR/text")
	if ((${#IN_GROUP[@]})); then
		watched "${trace[@]}" -- "$@"
	else
		or_lost "$BT" "${trace[@]}" -- "$@"
	fi >"$OUT" 2>"$OUT.err" || { cat "$OUT" "$OUT.err"; return 1; }
	# who else was there: a page that another writes first is missing in the tool's own requests
	jq -c '.sync.others, [.devices[]?.kernel], [.sync.calls, (.devices[]? | .name, (.ops // {} | map_values([.count, .bytes])))]' "$J"
}

# straced [OPTION].. TOOL [ARGUMENT]..: the same, with its calls in $CALLS
straced() {
	wrapped strace -f -y -qq -s 512 -o "$CALLS" "$@"
}

# agrees CHECK wrapped|straced TOOL..: what CHECK says of a run of it
agrees() {
	"${@:2}" && "$1"
}

SYNC_CALLS='fsync|fdatasync|sync|syncfs|msync|sync_file_range'

# What strace saw: "fdatasync 3, fsync 1"
straced_syncs() {
	sed -nE "s/^[0-9]+ +($SYNC_CALLS)\(.*/\1/p" "$CALLS" | sort | uniq -c | awk '{ printf "%s%s %s", n++ ? ", " : "", $2, $1 }'
}

# syncs_are TEXT: the report's, in the same form, less what it says to have lost
syncs_are() {
	local got
	got=$(jq -r '.sync.calls // {} | to_entries | sort_by(.key) | map("\(.key) \(.value)") | join(", ")' "$J")
	[[ $(jq .sync.count "$J") == "$(jq '[.sync.calls // {} | .[]] | add // 0' "$J")" ]] || return
	[[ $got != "$1" ]] || return 0
	echo "the report has '$got', not '$1'"
	accounted "$(jq .sync.count "$J")" "$(grep -oE '[0-9]+(,|$)' <<<"$1" | awk '{ n += $1 } END { print n + 0 }')" "$J"
}

# requests_are OP COUNT BYTES: "-" stands for a count that merging decides
requests_are() {
	local count bytes
	count=$(of_disk "$J" "$RIG_DISK" ".ops.$1.count") bytes=$(of_disk "$J" "$RIG_DISK" ".ops.$1.bytes")
	[[ $2 != @("$count"|-) || $bytes != "$3" ]] || return 0
	echo "$1: $count of $bytes bytes in all, not $2 of $3"
	(($(lost "$J") > 0 && bytes < $3)) && { [[ $2 == - ]] || accounted "$count" "$2" "$J"; }
}

# buffered_writes_are COUNT BYTES: the same of writes through the page cache, of which writeback or any sync on the machine may write some
# before the tool does. Then no more than that, at least half, and the kernel's counter of the disk has all. Exactly that with EXACT=1.
buffered_writes_are() {
	local count bytes all
	count=$(of_disk "$J" "$RIG_DISK" .ops.write.count) bytes=$(of_disk "$J" "$RIG_DISK" .ops.write.bytes)
	all=$(of_disk "$J" "$RIG_DISK" .kernel.write_bytes)
	[[ ! ${EXACT:-} ]] || { requests_are write "$1" "$2"; return; }
	((bytes <= $2 && 2 * bytes >= $2 && all >= $2)) && [[ $1 == - || count -le $1 ]] ||
		{ echo "write: $count of $bytes bytes, $all of anybody, where the tool wrote $1 of $2"; return 1; }
}

# buffered_reads_are BYTES: those of a file, and whatever the file system has to read of its own for the tool; the kernel's counter of the
# disk has all. Exactly that with EXACT=1.
buffered_reads_are() {
	local bytes all
	[[ ! ${EXACT:-} ]] || { requests_are read - "$1"; return; }
	bytes=$(of_disk "$J" "$RIG_DISK" .ops.read.bytes) all=$(of_disk "$J" "$RIG_DISK" .kernel.read_bytes)
	((bytes >= $1 && bytes <= all)) || { echo "read: $bytes bytes, $all of anybody, where the tool read $1"; return 1; }
}

# ---- what runs here to the byte, and there without ----

# The last line of figures has the number of files.
as_fs_mark_counts() {
	local n
	n=$(awk '$1 ~ /^[0-9]+$/ && NF >= 5 { n = $2 } END { print n }' "$OUT")
	((n == 100)) && syncs_are "fsync $n" && buffered_writes_are "$n" $((n * 8192))
}

fs_mark_agrees() {
	agrees as_fs_mark_counts wrapped fs_mark -l "$BATS_TEST_TMPDIR/log" -d "$RIG_MNT/f" -n 50 -s 8192 -S 1 -L 2
}

# 1,024 chunks of 8 KiB, written with O_DIRECT; read and written again, and read, through the page cache
as_bonnie_was_told() {
	local bytes=$((8 << 20))
	[[ $(cut -d, -f6 "$OUT") == 8M ]] && as_straced && (($(grep -c 'Bonnie\.[0-9]*>.*= 8192$' "$CALLS") == 2048)) &&
		buffered_reads_are $bytes && buffered_writes_are - $((2 * bytes))
}

bonnie_agrees() {
	agrees as_bonnie_was_told straced -e trace="${SYNC_CALLS//|/,},write" bonnie++ -d "$RIG_MNT" -u root -r 0 -f -s 8:8k:0 -n 0 -D -q
}

# What strace saw is what the report has.
as_straced() {
	syncs_are "$(straced_syncs)"
}
