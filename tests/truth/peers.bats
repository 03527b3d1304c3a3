#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Beside biolatency and iostat in one run: what they get right we say too, and
# what they get wrong we know.

load ../helpers

setup() {
	need_rig
	need fio
	J=$BATS_TEST_TMPDIR/report.json
	rig_up --flush-us 7000 --write-us 200 --read-us 1000
	make_inserts "$BATS_TEST_TMPDIR/sql" 60
	dd if=/dev/zero of="$RIG_MNT/f" bs=1M count=8 oflag=direct status=none
	sync -f "$RIG_MNT"
}

teardown() {
	clean_up
}

# 60 inserts and 200 reads
work() {
	"$BT" "$RIG_DISK" --json "$J" -o "$BATS_TEST_TMPDIR/text" -- sh -c '
		sqlite3 -batch -bail -init /dev/null "$1/db" <"$2" && sync -f "$1" &&
		fio --name=t --ioengine=sync --direct=1 --bs=4k --rw=randread --number_ios=200 --filename="$1/f" \
			--size=8m --output=/dev/null' - "$RIG_MNT" "$BATS_TEST_TMPDIR/sql"
}

# What biolatency prints is a histogram for each set of flags. Arguments: file, pattern of flags
row_count() {
	awk -v flags="$2" '/flags = / { on = $NF ~ flags } on && $2 == "->" { n += $5 } END { print n + 0 }' "$1"
}

# The mean by the bounds of its power-of-two buckets: from, to in us
row_means() {
	awk -v flags="$2" '/flags = / { on = $NF ~ flags }
		on && $2 == "->" { n += $5; low += $1 * $5; high += ($3 + 1) * $5 }
		END { print low / n, high / n }' "$1"
}

has_links() {
	(($(links_of "$1") >= 2))
}

@test "peers: biolatency -F counts the flushes and times the reads as we do" {
	local out=$BATS_TEST_TMPDIR/biolatency tool means
	need biolatency sqlite3
	biolatency -h 2>&1 | grep -q -- '-F' || skip "missing: biolatency of libbpf-tools"
	start biolatency -F -D -d "$RIG_DISK" >"$out" 2>&1
	tool=$STARTED
	eventually 10 has_links "$tool"
	sleep 0.5
	work
	kill -INT "$tool"
	status_of "$tool" || true
	cat "$out"
	grep -q 'flags = ' "$out"
	[[ $(row_count "$out" 'Flush$') == "$(json .devices[0].ops.flush.count "$J")" ]]
	[[ $(row_count "$out" 'Flush$') == "$(json .devices[0].kernel.flushes "$J")" ]]
	# to it, a journal commit is a write like others
	[[ $(row_count "$out" 'Write$') == "$(json .devices[0].ops.write.count "$J")" ]]
	[[ $(row_count "$out" 'Read$') == "$(json .devices[0].ops.read.count "$J")" ]]
	means=($(row_means "$out" 'Read$'))
	holds "$(mean "$J" .devices[0].ops.read.device) / 1000 > ${means[0]}"
	holds "$(mean "$J" .devices[0].ops.read.device) / 1000 < ${means[1]}"
	means=($(row_means "$out" 'Flush$'))
	holds "$(mean "$J" .devices[0].ops.flush.device) / 1000 > ${means[0]}"
	holds "$(mean "$J" .devices[0].ops.flush.device) / 1000 < ${means[1]}"
}

# iostat KEY: of the disk, in the one interval
of_iostat() {
	jq -er --arg k "$1" '.sysstat.hosts[0].statistics[-1].disk[0][$k]' "$BATS_TEST_TMPDIR/iostat"
}

@test "peers: iostat's flushes and reads are ours, its w_await is our naive write" {
	local naive honest
	need iostat sqlite3
	iostat -dxy -o JSON "$RIG_DISK" 1 1 | jq -e '.sysstat.hosts[0].statistics[0].disk[0].f_await' >/dev/null ||
		skip "missing: iostat with f_await and JSON"
	# without -y there would be the time since boot, too
	start iostat -dxy -o JSON "$RIG_DISK" 6 1 >"$BATS_TEST_TMPDIR/iostat"
	sleep 0.5
	work
	kill -0 "$STARTED" # or the work didn't fit in
	wait "$STARTED"
	naive=$(mean "$J" .devices[0].naive_write)
	honest=$(mean "$J" .devices[0].ops.write.total)
	echo "iostat: f_await $(of_iostat f_await) w_await $(of_iostat w_await) r_await $(of_iostat r_await) ms;" \
		"ours: flush $(mean "$J" .devices[0].ops.flush.total), naive $naive, honest $honest," \
		"read $(mean "$J" .devices[0].ops.read.total) ns"
	holds "$(of_iostat f_await) * 1e6 > $(mean "$J" .devices[0].ops.flush.total) * 0.98"
	holds "$(of_iostat f_await) * 1e6 < $(mean "$J" .devices[0].ops.flush.total) * 1.02"
	holds "$(of_iostat r_await) * 1e6 > $(mean "$J" .devices[0].ops.read.total) * 0.98"
	holds "$(of_iostat r_await) * 1e6 < $(mean "$J" .devices[0].ops.read.total) * 1.02"
	holds "$naive > $(of_iostat w_await) * 1e6 * 0.9 && $naive < $(of_iostat w_await) * 1e6 * 1.1"
	holds "$honest < $(of_iostat w_await) * 1e6 / 4"
}
