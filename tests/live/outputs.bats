#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Outputs of a live run: those that its recording gives later, byte for byte.

bats_require_minimum_version 1.5.0
load ../helpers

FILES=(flame html folded perfetto db)

setup() {
	need_rig
	need sqlite3
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	cd /
	clean_up
}

# asked DIR: what asks for every output in it
asked() {
	local name
	mkdir -p "$1"
	ASKED=(--json "$1/json" --csv "$1/csv")
	for name in "${FILES[@]}"; do
		ASKED+=("--$name" "$1/$name")
	done
}

# same_later ARGUMENT...: record with these, and every output of the run is that of the recording
same_later() {
	local name
	rm -rf live later rec
	asked live
	"$BT" record -o rec --text live/text "${ASKED[@]}" "$@" 2>err || [[ $? == 5 ]] || { cat err; return 1; }
	asked later
	"$BT" report rec -o later/text "${ASKED[@]}" 2>err || [[ $? == 5 ]] || { cat err; return 1; }
	for name in text json "${FILES[@]}"; do
		cmp "live/$name" "later/$name"
		[[ -s live/$name || $name == folded ]]
	done
	diff -r live/csv later/csv
	[[ $(find live -type f | wc -l) == $(find later -type f | wc -l) ]]
}

inserts() { # FILE N
	make_inserts sql "$2"
	sqlite3 -batch -bail -init /dev/null "$1" <sql
}

@test "live outputs: of a command, are those of its recording" {
	rig_up --flush-us 500
	make_inserts sql 20
	same_later "$RIG_MNT" -- sqlite3 -batch -bail -init /dev/null "$RIG_MNT/db" '.read sql'
	[[ -s live/folded && $(json .sync.count live/json) -ge 60 ]]
	[[ $(sqlite3 live/db 'SELECT count(*) FROM sync_call') == "$(json .sync.count live/json)" ]]
	same_later "$RIG_DISK" -- sh -c 'sync -d "$1/db"; dd if=/dev/zero of="$1/f" bs=4k count=3 oflag=dsync status=none' \
		- "$RIG_MNT"
}

# FILE: its payloads, unpacked
payloads() {
	python3 - "$1" <<-'END'
		import struct, subprocess, sys
		data, at = open(sys.argv[1], "rb").read(), 16
		while at < len(data):
		    length, stored = struct.unpack_from("<2I", data, at + 8)
		    payload = data[at + 40:at + 40 + stored]
		    if stored < length:
		        payload = subprocess.run(["zstd", "-dc"], input=payload, stdout=subprocess.PIPE, check=True).stdout
		    sys.stdout.buffer.write(payload)
		    at += 40 + stored
	END
}

@test "live outputs: a recording tells nothing of where the kernel lies" {
	need zstd
	grep -q ' [tT] jbd2_log_wait_commit' /proc/kallsyms || skip "missing: jbd2 in /proc/kallsyms"
	rig_up --flush-us 500
	make_inserts sql 20
	same_later "$RIG_MNT" -- sqlite3 -batch -bail -init /dev/null "$RIG_MNT/db" '.read sql'
	payloads rec >bytes
	grep -qa '"name":"jbd2_log_wait_commit"' bytes
	python3 - bytes <<-'END'
		import re, struct, sys
		data = open(sys.argv[1], "rb").read()
		last = max(int(line.split()[0], 16) for line in open("/proc/kallsyms"))
		numbers = [n for n, in struct.iter_unpack("<Q", data)] + [int(n) for n in re.findall(rb"\d{15,20}", data)]
		# functions; what is mapped of memory
		bad = [n for n in numbers if 0xffffffff80000000 <= n <= last or 0xffff800000000000 <= n < 0xfffffe0000000000]
		assert len(numbers) > 1000 and not bad, [hex(n) for n in bad[:5]]
	END
}

@test "live outputs: of a disk for a while, of all disks, of a process" {
	rig_up --flush-us 500
	inserts "$RIG_MNT/db" 1
	start sh -c 'while sqlite3 -batch -init /dev/null "$1" "INSERT INTO t VALUES (1, 1)"; do :; done' - "$RIG_MNT/db"
	same_later "$RIG_DISK" -d 0.5
	[[ -s live/folded ]]
	same_later -d 0.5
	same_later -p "$STARTED" -d 0.3
}

@test "live outputs: without a ledger, and of nothing" {
	rig_up --flush-us 500
	same_later --no-ledger "$RIG_DISK" -- sync -d "$RIG_MNT"
	[[ ! -s live/folded && $(of_disk live/json "$RIG_DISK" .name) == "$RIG_DISK" ]]
	same_later "$RIG_DISK" -- true
	[[ ! -s live/folded ]]
}

@test "live outputs: with hostile names" {
	local name=$'"><script>x<\t\e[31m;=cmd|\'x\'\xff\n'
	rig_up --flush-us 500
	mkdir "$RIG_MNT/$name"
	same_later "$RIG_MNT" -- bash -c 'exec -a "$1" dd if=/dev/zero of="$0/$1/$1" bs=4k count=3 oflag=dsync status=none' \
		"$RIG_MNT" "$name"
	[[ $(json .sync.count live/json) -ge 3 ]]
	# nothing breaks out
	! LC_ALL=C grep -l $'[\x01-\x08\x0b-\x1f]' live/flame live/html live/folded live/perfetto live/text || return 1
	! grep -l '<script>x' live/flame live/html || return 1
}

@test "live outputs: without recording, and together with what goes to standard output" {
	rig_up --flush-us 500
	asked here
	make_inserts sql 5
	"$BT" "${ASKED[@]}" "$RIG_DISK" -- sqlite3 -batch -bail -init /dev/null "$RIG_MNT/db" '.read sql' 2>text || [[ $? == 5 ]]
	[[ -s here/flame && -s here/html && -s here/perfetto && -s here/csv/calls.csv ]]
	[[ $(sqlite3 here/db 'SELECT sum(ns) FROM ledger') == "$(json .sync.total_ns here/json)" ]]
	grep -q '^where the sync time went' text
	"$BT" --folded - "$RIG_DISK" -- sync -d "$RIG_MNT/db" >folded 2>text || [[ $? == 5 ]]
	[[ -s folded ]]
	! grep -Ev '^[^ ].*;.* [0-9]+$' folded || return 1
}

@test "live outputs: a place that cannot be written to is found before the command runs" {
	local name
	rig_up --flush-us 500
	for name in "${FILES[@]}" csv; do
		echo "--$name"
		run -1 --separate-stderr "$BT" "--$name" /absent/x --json json "$RIG_DISK" -- touch ran
		[[ ! $output && $stderr == *'/absent/x'*'No such file or directory'* && ! -e ran && ! -e json ]]
		run -1 --separate-stderr "$BT" record -o rec "--$name" /absent/x "$RIG_DISK" -- touch ran
		[[ ! $output && $stderr == *'/absent/x'*'No such file or directory'* && ! -e ran && ! -s rec ]]
	done
	[[ ! $(find . -name '*.??????') ]]
}

@test "live outputs: a command that fails has them, too" {
	rig_up --flush-us 500
	asked here
	run -7 "$BT" "${ASKED[@]}" "$RIG_DISK" -- sh -c 'sync -d "$1"; exit 7' - "$RIG_MNT"
	[[ -s here/flame && -s here/db && -s here/csv/run.csv ]]
	run -127 "$BT" --flame none.svg --csv none "$RIG_DISK" -- ./absent
	[[ ! -e none.svg && ! -e none ]]
}

@test "live outputs: stopped by a signal, they are there" {
	rig_up --flush-us 500
	asked here
	start_tracing "${ASKED[@]}" -o text "$RIG_DISK"
	inserts "$RIG_MNT/db" 5
	stop_tracing "$STARTED" INT
	[[ -s here/flame && -s here/html && -s text ]]
	[[ $(sqlite3 here/db 'SELECT count(*) FROM sync_call') == "$(json .sync.count here/json)" ]]
}

@test "live outputs: of intervals, they are the whole run's" {
	rig_up --flush-us 500
	asked here
	inserts "$RIG_MNT/db" 1
	start sh -c 'while sqlite3 -batch -init /dev/null "$1" "INSERT INTO t VALUES (1, 1)"; do :; done' - "$RIG_MNT/db"
	"$BT" "${ASKED[@]}" -i 0.2 -d 1 -o text "$RIG_DISK" || [[ $? == 5 ]]
	[[ $(wc -l <here/json) -ge 4 ]]
	tail -n 1 here/json >last
	[[ $(sqlite3 here/db 'SELECT count(*) FROM sync_call') == "$(json .sync.count last)" ]]
	[[ $(awk '{ ns += $NF } END { printf "%.0f", ns }' here/folded) == "$(json .sync.total_ns last)" ]]
	# intervals add up to the run
	[[ $(json .sync.count last) == "$(jq -s 'map(select(.final | not) | .sync.count // 0) | add' here/json)" ]]
}
