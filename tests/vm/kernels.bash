# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For kernels.bats: one guest per kernel, and how each cell of the table is judged by what the guest left behind.

DISKS=(nvme virtio:320 scsi nvme-multipath)
SUITES=(probes null devices delay raid1 limits)
# The cells that have a guest of their own; the others share their kernel's
OWN_GUEST=' integrity confidentiality '

# ---- guests ----

# is_of LIST WORD: or is there no list?
is_of() {
	[[ ! $1 || " $1 " == *" $2 "* ]]
}

asked_for() { # KERNEL ARCH CELL
	is_of "${BARRIERTRACE_KERNELS:-}" "$1" && is_of "${BARRIERTRACE_ARCHS:-}" "$2" && is_of "${BARRIERTRACE_CELLS:-}" "$3"
}

# Cloud kernels have an AHCI driver from 6.12 on; before, those for x86_64 have one for IDE, those for arm64 none.
ata_of() { # KERNEL ARCH
	case $2:$1 in
	x86_64:5.10 | x86_64:6.1) echo ide ;;
	*) echo ahci ;;
	esac
}

flavour_of() { # KERNEL ARCH
	case $2:$1 in
	arm64:5.10 | arm64:6.1) echo generic ;;
	*) echo cloud ;;
	esac
}

# The option for a clock that counts instructions. Two CPUs of x86_64 wait for each other for minutes that way, so it has one.
steady() { # ARCH
	if [[ $1 == arm64 ]]; then echo --steady; else echo --icount; fi
}

# boot KERNEL ARCH NAME OPTION... -- COMMAND...: what the guest leaves goes to $GUESTS/NAME
boot() {
	local kernel=$1 dir=$GUESTS/$3 rc=0 options=(--arch "$2" --flavour "$(flavour_of "$1" "$2")")
	[[ ! -e $dir.rc ]] || return 0
	options+=(--timeout "${BARRIERTRACE_VM_TIMEOUT:-400}" --silence 60 --out "$dir")
	[[ $2 != arm64 ]] || options+=(--steady)
	shift 3
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	"$TOP/scripts/vm" "${options[@]}" "$kernel" "$@" </dev/null >"$dir.log" 2>&1 3>&- || rc=$?
	echo "$rc" >"$dir.rc"
}

# The test file's cells that are asked for: "KERNEL CELL" of each, in its order
cells_of() { # ARCH
	local kernel cell
	sed -nE "s/^@test \"vm ([^ ]+) $1 ([^ :]+):.*/\1 \2/p" "$BATS_TEST_FILENAME" | while read -r kernel cell; do
		! asked_for "$kernel" "$1" "$cell" || echo "$kernel $cell"
	done
}

# kernels_of ARCH [CELL]: those that there is such a cell for; without CELL, one of those that share a guest
kernels_of() {
	local kernel cell
	cells_of "$1" | while read -r kernel cell; do
		if [[ ${2-} ]]; then [[ $cell == "$2" ]]; else [[ $OWN_GUEST != *" $cell "* ]]; fi && echo "$kernel"
	done | uniq
}

boot_guest() { # KERNEL ARCH
	local disk disks=()
	for disk in "${DISKS[@]}" "$(ata_of "$1" "$2")"; do
		disks+=(--disk "$disk")
	done
	boot "$1" "$2" "$1.$2" "$(steady "$2")" "${disks[@]}" -- tests/vm/guest "${SUITES[@]}"
}

# Two at once at most: more get in each other's way, and a guest has two CPUs itself.
wait_for_place() {
	local jobs=${BARRIERTRACE_VM_JOBS:-$(nproc)}
	while (($(jobs -rp | wc -l) >= (jobs < 2 ? jobs : 2))); do
		wait -n || :
	done
}

# boots COMMAND...: in the background, so that each cell is known as soon as its guest has ended (see guest). For setup_file.
boots() {
	mkdir -p "$GUESTS"
	set -m # a process group of its own
	"$@" </dev/null >"$GUESTS/log" 2>&1 3>&- &
	export BOOTING=$!
	set +m
}

# For teardown_file: after a filter of tests there may be guests that nobody waits for.
guests_end() {
	while kill -TERM -- "-$BOOTING"; do
		sleep 0.2
	done 2>/dev/null
}

# One guest with all disks, and one for each lockdown, which a kernel is started with and doesn't give up again
boot_guests() { # ARCH
	local kernel mode
	for kernel in $(kernels_of "$1"); do
		wait_for_place
		boot_guest "$kernel" "$1" &
	done
	for mode in integrity confidentiality; do
		for kernel in $(kernels_of "$1" "$mode"); do
			wait_for_place
			boot "$kernel" "$1" "$kernel.$1.$mode" "$(steady "$1")" --append "lockdown=$mode" -- tests/vm/guest lockdown &
		done
	done
	wait
}

# guest_has_ended: those that are booting may be others, or none any more
guest_has_ended() {
	until [[ -s $G.rc ]]; do
		kill -0 "${BOOTING:-0}" 2>/dev/null || { [[ -s $G.rc ]]; return; }
		sleep 0.5
	done
}

# guest NAME: what it left in $G; else skips or fails. For $KERNEL, $ARCH and $CELL.
guest() {
	local rc
	asked_for "$KERNEL" "$ARCH" "$CELL" || skip 'not asked for'
	G=$GUESTS/$1
	guest_has_ended || { echo "no guest $1"; cat "$GUESTS/log"; return 1; }
	rc=$(<"$G.rc")
	((rc != 77)) || skip "$(why_no_guest "$G.log")"
	! grep -q '^vm: no output for' "$G.log" || comment "second start: $1: $(sed -n 's/^vm: \(no output for .*\)/\1/p' "$G.log" | head -n 1)"
	comment "kernel $(sed -nE 's/^vm: .*(package version |of its series: )([^ ]+) .*/\2/p' "$G.log" | sed -n 1p), seen $(date -r "$G.rc" +%F)"
	((rc == 0)) || { tail -n 40 "$G.log"; return 1; }
	kernel_is_content
}

# What a guest of several cells did to its kernel is a failure of each: which of them it was, the log doesn't say.
kernel_is_content() {
	[[ -e $G/complaints && ! -s $G/complaints ]] || { echo 'the kernel complained:'; cat "$G/complaints"; return 1; }
}

# cell: the test "vm KERNEL ARCH NAME: .." is that of judge_NAME; "NAME: none: .." is one that this kernel can't have.
cell() {
	local what own=''
	read -r _ KERNEL ARCH CELL what _ <<<"$BATS_TEST_DESCRIPTION"
	CELL=${CELL%:}
	[[ $OWN_GUEST != *" $CELL "* ]] || own=.$CELL
	guest "$KERNEL.$ARCH$own" || return
	if [[ $what == none: ]]; then
		has_no_module "$CELL"
	else
		"judge_${CELL//-/_}"
	fi
}

has_no_module() {
	cat "$G/devices.err"
	grep -q "Module $1 not found in directory" "$G/devices.err"
}

# ---- what the raw events say ----

declare -gA RAW_N RAW_NS RAW_P50 RAW_LOW RAW_HIGH

# raw_of RUN DISK: of a disk's requests of each class (flush, write, fua): how many were completed, the sum of their times in the
# device, the median and the times next to it in order, in RAW_*; "issued": FLUSHes that the device took; "bios": writes and flushes that
# were sent to it. FLUSHes come one at a time: one task makes all calls. A write with a flush completes twice, the second time without data.
raw_of() {
	local class n ns p50 low high
	while read -r class n ns low p50 high; do
		RAW_N[$class]=$n RAW_NS[$class]=$ns RAW_P50[$class]=$p50 RAW_LOW[$class]=$low RAW_HIGH[$class]=$high
	done < <(raw_figures "$@")
}

raw_figures() {
	awk -v dev="$(awk -v d="$2" '$1 == d { sub(":", ",", $2); print $2 }' "$G/$1.after")" '
		function ns(t) { sub(/:$/, "", t); split(t, a, "."); return a[1] * 1e9 + a[2] * 1e3 }
		function took(class, d) { v[class, ++count[class]] = d; sum[class] += d }
		function sort_times(class, i, j, x) {
			for (i = 2; i <= count[class]; i++) {
				x = v[class, i]
				for (j = i - 1; j > 0 && v[class, j] > x; j--)
					v[class, j + 1] = v[class, j]
				v[class, j + 1] = x
			}
		}
		function near_median(class, by, n, i) {
			n = count[class]
			i = int((n + 1) / 2) + by
			return n ? v[class, i < 1 ? 1 : i > n ? n : i] : 0
		}
		match($0, /block_(rq_issue|rq_requeue|rq_complete|bio_queue): /) {
			event = substr($0, RSTART, RLENGTH)
			n = split(substr($0, RSTART + RLENGTH), f, " ")
			if (f[1] != dev)
				next
			split(substr($0, 1, RSTART - 1), left, " ")
			time = ns(left[length(left)])
			for (plus = 1; f[plus] != "+"; plus++)
				;
			kind = f[2]; sector = f[plus - 1]; sectors = f[plus + 1]
			if (event ~ /bio/) {
				bios += kind ~ /[WF]/
			} else if (event ~ /requeue/) {
				issued -= kind ~ /^F+$/ # ATA: no FLUSH while a queued write is in the device; it is issued again
			} else if (kind ~ /^F+$/) {
				if (event ~ /issue/) { issued++; since = time }
				else if (since) { took("flush", time - since); since = 0 }
			} else if (kind ~ /W/ && sectors > 0) {
				if (event ~ /issue/) at[sector] = time
				else if (sector in at) { took(kind ~ /W.*F/ ? "fua" : "write", time - at[sector]); delete at[sector] }
			}
		}
		END {
			for (split("flush write fua", c, " "); ++i <= 3;) {
				sort_times(c[i])
				printf "%s %d %.0f %.0f %.0f %.0f\n", c[i], count[c[i]], sum[c[i]], near_median(c[i], -1), near_median(c[i], 0), near_median(c[i], 1)
			}
			printf "issued %d\nbios %d\n", issued, bios
		}' "$G/$1.raw"
}

# ---- what the tool says ----

figure() { # DISK PATH: of the report in $J, 0 if it isn't there
	jq -r --arg d "$1" "[.devices[] | select(.name == \$d) | $2 // 0][0] // 0" "$J"
}

# report_of RUN: in $J; the run and the tool have succeeded
report_of() {
	J=$G/$1.json
	[[ -s $J && $(<"$G/$1.status") == 0 ]] || { cat "$G"/*.err "$G/$1.said" "$G/$1.out"; return 1; }
}

# near OURS LOW HIGH N: within 1 % of what the raw events say. Both tracers read the same clock, one after the other: for each of N times there are the
# raw events' resolution, a microsecond either way, and what runs at the end between the two, of which a guest's clock counts an instruction
# as a nanosecond: up to 350 for a write, 850 for a FLUSH in the mean of a disk's, and a thousand is allowed for.
near() {
	holds "$1 >= 0.99 * $2 - $4 * 2000 && $1 <= 1.01 * $3 + $4 * 1000"
}

kernel_flushes() { # RUN DISK: how many more the kernel counts after the run
	join <(sort "$G/$1.before") <(sort "$G/$1.after") | awk -v d="$2" '$1 == d { print $6 - $3 }'
}

# class_is_raw DISK CLASS: count, sum and median. An interrupt between the two tracers makes one time differ by several microseconds: the
# median may be the time next to it then.
class_is_raw() {
	local n ns p50
	n=$(figure "$1" ".ops.$2.count") ns=$(figure "$1" ".ops.$2.device.sum_ns") p50=$(figure "$1" ".ops.$2.device.p50_ns")
	echo "$1 $2: $n, raw ${RAW_N[$2]}; sum $ns, raw ${RAW_NS[$2]}; p50 $p50, raw ${RAW_P50[$2]}, next to it ${RAW_LOW[$2]} and ${RAW_HIGH[$2]}"
	[[ $n == "${RAW_N[$2]}" ]] && near "$ns" "${RAW_NS[$2]}" "${RAW_NS[$2]}" "$n" && near "$p50" "${RAW_LOW[$2]}" "${RAW_HIGH[$2]}" 1
}

# counts_are_raw RUN DISK: flushes and writes are those of the raw events, and their times
counts_are_raw() {
	local class
	raw_of "$1" "$2"
	echo "$2: flushes that the kernel counts: $(kernel_flushes "$1" "$2")"
	((RAW_N[flush] > 5 && RAW_N[write] + RAW_N[fua] > 5 && RAW_N[issued] == RAW_N[flush])) || return
	[[ $(kernel_flushes "$1" "$2") == "${RAW_N[flush]}" ]] || return
	for class in flush write fua; do
		class_is_raw "$2" $class || return
	done
}

# Where the device does FUA itself there is no flush after a commit, else there is one.
fua_is_seen() { # RUN DISK
	local fua
	fua=$(awk -v d="$2" '$1 == d { print $4 }' "$G/$1.after")
	echo "$2: FUA $fua, native $(figure "$2" .flush.native_fua), pre $(figure "$2" .flush.pre), post $(figure "$2" .flush.post)"
	if ((fua)); then
		(($(figure "$2" .flush.native_fua) > 0 && $(figure "$2" .flush.post) == 0))
	else
		(($(figure "$2" .flush.native_fua) == 0 && $(figure "$2" .flush.post) > 0))
	fi
}

# ---- the cells ----

# Every probe is attached, except those that this kernel can't have.
judge_probes() {
	local refused want calls
	calls=$(printf 'call.%s ' {fsync,fdatasync,msync,syncfs,sync_file_range,sync}{,_end}) # they need request.start
	case $ARCH:$KERNEL in
	x86_64:5.10) want='request.start CALLS uring.submit uring.submit_sqe async.xfs async.btrfs async.btrfs_enter async.xfs_fs async.btrfs_fs' ;;
	arm64:5.10) want='request.start CALLS uring.submit uring.submit_sqe async.ext4 async.xfs async.btrfs async.btrfs_enter async.ext4_fs async.xfs_fs async.btrfs_fs' ;; # ext4 is a module
	# what was renamed is there under one of its names
	*:6.1) want='request.start CALLS uring.submit async.btrfs_enter' ;;
	*:6.12 | *:6.18) want='uring.submit_sqe async.btrfs_enter' ;;
	*) want='uring.submit_sqe async.btrfs' ;;
	esac
	cat "$G/probes.txt" "$G/probes.err"
	[[ $(<"$G/probes.status") == 0 ]]
	refused=$(awk 'NR > 1 && $3 != "attached" { print $1 }' "$G/probes.txt" | tr '\n' ' ')
	[[ ${refused% } == "${want/CALLS/${calls% }}" ]] || { echo "not attached: $refused"; return 1; }
}

# Nothing of a request or a call. The kernel runs no program within itself: an interrupt on top of one, which wakes somebody or ends a
# request, is not seen then, and that is said. An emulated CPU, whose programs take long, has one now and then.
only_skipped_runs() {
	jq -e 'all(.run.lost[]?; .reason | startswith("program runs that the kernel skipped")) and .sync.no_ledger == 0' "$J" >/dev/null ||
		{ jq -c '.run.lost, .sync.no_ledger' "$J"; return 1; }
}

judge_null() {
	local class
	report_of null
	counts_are_raw null nullb0
	only_skipped_runs
	ledgers_add_up
	for class in flush write; do
		holds "${RAW_P50[$class]} >= 5e6"
		holds "${RAW_P50[$class]} <= 5.25e6 && $(figure nullb0 ".ops.$class.device.p50_ns") <= 5.25e6"
	done
	(($(jq '.sync.calls.fdatasync' "$J") >= 30 + 15))
}

judge_device() { # NAME: of the disk
	local disk
	disk=$(awk -v n="$1" '$1 == n { print $2 }' "$G/devices.names")
	[[ $disk ]] || { cat "$G/devices.err" "$G/devices.names"; return 1; }
	report_of devices
	counts_are_raw devices "$disk"
	fua_is_seen devices "$disk"
}

judge_nvme() { judge_device nvme; }
judge_ata() { judge_device ata; }
judge_virtio() { judge_device virtio; }
judge_scsi() { judge_device scsi; }
judge_scsi_debug() { judge_device scsi_debug; }

# The disk that has a name stands on hidden ones, one per path, and all requests are theirs.
judge_multipath() {
	local top path paths=()
	top=$(awk '$1 == "multipath" { print $2 }' "$G/devices.names")
	[[ $top ]] || { cat "$G/devices.err" "$G/devices.names"; return 1; }
	report_of devices
	mapfile -t paths < <(jq -r --arg top "$top" '.devices[] | select(.name == $top) | .slaves // [] | .[]' "$J")
	jq -c --arg top "$top" '.devices[] | select(.name == $top or ((.via // "") | startswith($top))) |
		[.name, .via, .bio_based, .ops.write.count, .ops.fua.count, .ops.flush.count]' "$J"
	if [[ $KERNEL == 5.10 ]]; then
		((!${#paths[@]})) && (($(figure "$top" .ops.write.count))) && grep -q '^nvme.*c.* 0:0 ' "$G/devices.after"
		return
	fi
	((${#paths[@]} == 2)) || return
	for path in "${paths[@]}"; do
		((!$(figure "$path" .ops.flush.count))) || { counts_are_raw devices "$path" && fua_is_seen devices "$path"; return; }
	done
	return 1
}

# RUN: check that its ledger adds up to the nanosecond, and that at most 2 % is unknown
is_explained() {
	report_of "$1"
	jq -r '.sync | "\(.count) calls, \(.total_ns) ns, unknown \(.ledger.unknown // 0)"' "$J"
	jq -e '.sync | ([.ledger[]] | add) == .total_ns and (.ledger.unknown // 0) <= 0.02 * .total_ns' "$J" >/dev/null
}

# Linear with XFS, crypt with btrfs: as many writes and flushes as bios were sent to them.
judge_dm() {
	local disk ours
	report_of devices
	grep -c ^dm- "$G/devices.disks"
	while read -r disk; do
		raw_of devices "$disk"
		ours=$(($(figure "$disk" .ops.write.count) + $(figure "$disk" .ops.fua.count) + $(figure "$disk" .ops.flush.count)))
		echo "$disk: $ours writes and flushes, ${RAW_N[bios]} bios"
		((ours > 20 && ours == RAW_N[bios])) || return
	done < <(grep ^dm- "$G/devices.disks")
	is_explained devices
}

verdict_is() { # RUN CLASS CAUSE..: and the ledger's largest cause is one of these
	local class first
	report_of "$1"
	class=$(jq -r .verdict.class "$J")
	first=$(jq -r '.sync.ledger | to_entries | max_by(.value) | .key' "$J")
	echo "$(jq -r .verdict.sentence "$J") $(jq -c .sync.ledger "$J")"
	[[ $class == "$2" && " ${*:3} " == *" $first "* ]]
}

# Also of one process: the journal's bios are waited for, not counted.
judge_delay_flush() {
	verdict_is delay-flush device-flush flush.pre flush.only
	is_explained delay-flush
	verdict_is delay-pid device-flush flush.pre
	jq -c '.devices[] | select(.bio_based) | .ops' "$J"
	jq -e '.devices[] | select(.bio_based) | .ops | .write.count <= 12 and .flush == null' "$J" >/dev/null
}

judge_delay_write() {
	verdict_is delay-write device-write device.write
	is_explained delay-write
}

judge_raid1() {
	local slow
	report_of raid1
	slow=$(<"$G/raid1.slow")
	jq -r '.verdict.sentence, .verdict.evidence[]' "$J"
	jq -r '.verdict.evidence[]' "$J" | grep -F "md127 lies on several disks, and $slow is the slow one: a FLUSH takes"
	is_explained raid1
}

# It works, or says precisely why not.
works() { # RUN
	cat "$G/$1.said" "$G/"*.err
	[[ $(<"$G/$1.status") == 0 ]] && grep -q '3 fsync' "$G/$1.txt"
}

says_why() { # RUN STATUS WORDS
	cat "$G/$1.said" "$G/"*.err
	[[ $(<"$G/$1.status") == "$2" ]] && grep -qF "$3" "$G/$1.said"
}

judge_no_btf() { says_why no-btf 4 'this kernel has no type information (BTF)'; }
judge_unprivileged() { works unprivileged; }
judge_integrity() { works integrity; }
judge_confidentiality() { says_why confidentiality 4 'the kernel is locked down (confidentiality)'; }
