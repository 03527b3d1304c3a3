# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For kernels.bats: one guest per kernel, and how each cell of the table is judged by what the guest left behind.

KERNELS=(5.10:x86_64 6.1:x86_64 6.12:x86_64 6.18:x86_64 7.2:x86_64)
SUITES=(probes null devices delay raid1 limits)

# ---- guests ----

asked_for() { # KERNEL
	[[ ! ${BARRIERTRACE_KERNELS:-} || " $BARRIERTRACE_KERNELS " == *" $1 "* ]]
}

# Cloud kernels have an AHCI driver from 6.12 on.
ata_of() { # KERNEL
	case $1 in
	5.10 | 6.1) echo ide ;;
	*) echo ahci ;;
	esac
}

boot_guest() { # KERNEL ARCH
	local dir=$GUESTS/$1.$2 rc=0
	[[ ! -e $dir.rc ]] || return 0
	"$TOP/scripts/vm" --arch "$2" --timeout "${BARRIERTRACE_VM_TIMEOUT:-300}" --out "$dir" --disk nvme --disk "$(ata_of "$1")" --disk virtio:320 --disk scsi \
		"$1" -- tests/vm/guest "${SUITES[@]}" >"$dir.log" 2>&1 3>&- || rc=$?
	echo "$rc" >"$dir.rc"
}

# Two at once at most: more get in each other's way, and a guest has two CPUs itself.
boot_guests() {
	local row jobs=${BARRIERTRACE_VM_JOBS:-$(nproc)}
	mkdir -p "$GUESTS"
	for row in "${KERNELS[@]}"; do
		asked_for "${row%:*}" || continue
		while (($(jobs -rp | wc -l) >= (jobs < 2 ? jobs : 2))); do
			wait -n || :
		done
		boot_guest "${row%:*}" "${row#*:}" &
	done
	wait
}

# The guest that the test's name speaks of: what it left in $G; else skips or fails.
guest() {
	local rc
	asked_for "$KERNEL" || skip 'not asked for'
	G=$GUESTS/$KERNEL.$ARCH
	rc=$(<"$G.rc")
	((rc != 77)) || skip "$(grep -o 'missing: .*\|no kernel .*\|no guest .*' "$G.log" | sed -n 1p)"
	((rc == 0)) || { tail -n 40 "$G.log"; return 1; }
}

# cell: the test "vm KERNEL ARCH NAME: .." is that of judge_NAME
cell() {
	local name
	read -r _ KERNEL ARCH name _ <<<"$BATS_TEST_DESCRIPTION"
	name=${name%:}
	guest || return
	"judge_${name//-/_}"
}

# ---- what the raw events say ----

# raw_of RUN DISK: of a disk's requests: flushes and writes with data, how many were completed, the sum of their times in the device
# and the median; of the bios sent to it, how many are writes or flushes. As "name=value" for eval. Flushes come one at a time:
# one task makes all calls. A write with a flush completes twice, the second time without data.
raw_of() {
	awk -v to="$BATS_TEST_TMPDIR/raw" -v dev="$(awk -v d="$2" '$1 == d { sub(":", ",", $2); print $2 }' "$G/$1.after")" '
		function ns(t) { sub(/:$/, "", t); split(t, a, "."); return a[1] * 1e9 + a[2] * 1e3 }
		function median(v, n, i, j, x) {
			for (i = 2; i <= n; i++) {
				x = v[i]
				for (j = i - 1; j > 0 && v[j] > x; j--)
					v[j + 1] = v[j]
				v[j + 1] = x
			}
			return n ? v[int((n + 1) / 2)] : 0
		}
		match($0, /block_(rq_issue|rq_complete|bio_queue): /) {
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
			} else if (kind ~ /^F+$/) {
				if (event ~ /issue/) { issued++; since = time }
				else if (since) { d = time - since; flush[++flushes] = d; flush_ns += d; since = 0 }
			} else if (kind ~ /W/ && sectors > 0) {
				if (event ~ /issue/) at[sector] = time
				else if (sector in at) { d = time - at[sector]; write[++writes] = d; write_ns += d; delete at[sector] }
			}
		}
		END {
			for (i = 1; i <= flushes; i++)
				printf "%.0f\n", flush[i] >(to ".flush")
			for (i = 1; i <= writes; i++)
				printf "%.0f\n", write[i] >(to ".write")
			printf "raw_issued=%d raw_flushes=%d raw_flush_ns=%.0f raw_flush_p50=%.0f raw_bios=%d\n", issued, flushes, flush_ns,
				median(flush, flushes), bios
			printf "raw_writes=%d raw_write_ns=%.0f raw_write_p50=%.0f\n", writes, write_ns, median(write, writes)
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

# sums_are_near DISK CLASS OURS RAW N: of N times. Both tracers see an event one after the other, some microseconds apart where
# each instruction is emulated; and now and then the emulated CPU stands still in between, while the machine does something
# else: then all times but one in twenty have to be there on both sides.
sums_are_near() {
	local odd
	awk -v a="$3" -v b="$4" -v n="$5" 'BEGIN { exit !(a >= 0.99 * b - n * 30000 && a <= 1.01 * b + n * 30000) }' && return
	odd=$(awk -v tolerance=30000 '
		NR == FNR { raw[NR] = $1; n = NR; next }
		{ while ($2-- > 0) ours[++m] = $1 }
		END {
			for (i = j = 1; i <= n && j <= m;)
				if (ours[j] < raw[i] * 0.96 - tolerance) { j++; odd++ }
				else if (ours[j] > raw[i] * 1.04 + tolerance) { i++; odd++ }
				else { i++; j++ }
			print odd + n - i + 1 + m - j + 1
		}' <(sort -n "$BATS_TEST_TMPDIR/raw.$2") \
		<(jq -r --arg d "$1" --arg c "$2" '.devices[] | select(.name == $d) | .ops |
			(if $c == "write" then (.write, .fua) else .[$c] end).device.buckets[]? | @tsv' "$J" | sort -n))
	echo "$1: the sum of $2 times is $3 of $4; $odd times of $5 are not on both sides"
	((odd <= 2 + $5 / 10))
}

# A median within the width of a histogram's bucket (3 %)
near_median() {
	holds "$1 >= 0.97 * $2 - 30000 && $1 <= 1.03 * $2 + 30000"
}

kernel_flushes() { # RUN DISK: how many more the kernel counts after the run
	join <(sort "$G/$1.before") <(sort "$G/$1.after") | awk -v d="$2" '$1 == d { print $6 - $3 }'
}

# counts_are_raw RUN DISK: flushes and writes are those of the raw events, and their times
counts_are_raw() {
	local raw_issued raw_flushes raw_flush_ns raw_flush_p50 raw_writes raw_write_ns raw_write_p50 raw_bios
	local flushes writes
	eval "$(raw_of "$1" "$2")"
	flushes=$(figure "$2" .ops.flush.count)
	writes=$(($(figure "$2" .ops.write.count) + $(figure "$2" .ops.fua.count)))
	echo "$2: flushes $flushes, raw $raw_flushes of $raw_issued, kernel $(kernel_flushes "$1" "$2"), sum" \
		"$(figure "$2" .ops.flush.device.sum_ns) of $raw_flush_ns, p50 $(figure "$2" .ops.flush.device.p50_ns) of $raw_flush_p50"
	echo "$2: writes $writes, raw $raw_writes, p50 $(figure "$2" .ops.write.device.p50_ns) of $raw_write_p50"
	((raw_flushes > 5 && raw_writes > 5 && raw_issued == raw_flushes)) || return
	[[ $raw_flushes == "$(kernel_flushes "$1" "$2")" && $flushes == "$raw_flushes" && $writes == "$raw_writes" ]] || return
	sums_are_near "$2" flush "$(figure "$2" .ops.flush.device.sum_ns)" "$raw_flush_ns" "$raw_flushes" || return
	sums_are_near "$2" write "$(($(figure "$2" .ops.write.device.sum_ns) + $(figure "$2" .ops.fua.device.sum_ns)))" \
		"$raw_write_ns" "$raw_writes" || return
	near_median "$(figure "$2" .ops.flush.device.p50_ns)" "$raw_flush_p50" || return
	RAW_FLUSH_P50=$raw_flush_p50 RAW_WRITE_P50=$raw_write_p50
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
	local refused want
	case $KERNEL in
	5.10 | 6.1) want='request.start uring.submit async.xfs async.btrfs' ;;
	*) want='async.xfs async.btrfs' ;;
	esac
	cat "$G/probes.txt" "$G/probes.err"
	[[ $(<"$G/probes.status") == 0 ]]
	refused=$(awk 'NR > 1 && $3 != "attached" { print $1 }' "$G/probes.txt" | tr '\n' ' ')
	[[ ${refused% } == "$want" ]] || { echo "not attached: $refused"; return 1; }
}

# The timer gives 5 ms and whatever an emulated machine adds: the raw events tell what that is.
judge_null() {
	report_of null
	counts_are_raw null nullb0
	nothing_lost
	ledgers_add_up
	holds "$RAW_FLUSH_P50 >= 5e6 && $RAW_WRITE_P50 >= 5e6"
	near_median "$(figure nullb0 .ops.write.device.p50_ns)" "$RAW_WRITE_P50"
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

# Linear with XFS, crypt with btrfs: as many writes and flushes as bios were sent to them.
judge_dm() {
	local disk raw_bios ours
	report_of devices
	grep -c ^dm- "$G/devices.disks"
	while read -r disk; do
		eval "$(raw_of devices "$disk")"
		ours=$(($(figure "$disk" .ops.write.count) + $(figure "$disk" .ops.fua.count) + $(figure "$disk" .ops.flush.count)))
		echo "$disk: $ours writes and flushes, $raw_bios bios"
		((ours > 20 && ours == raw_bios)) || return
	done < <(grep ^dm- "$G/devices.disks")
}

verdict_is() { # RUN CLASS CAUSE..: and the ledger's largest cause is one of these
	local class first
	report_of "$1"
	class=$(jq -r .verdict.class "$J")
	first=$(jq -r '.sync.ledger | to_entries | max_by(.value) | .key' "$J")
	echo "$(jq -r .verdict.sentence "$J") $(jq -c .sync.ledger "$J")"
	[[ $class == "$2" && " ${*:3} " == *" $first "* ]]
}

judge_delay_flush() { verdict_is delay-flush device-flush flush.pre flush.only; }
judge_delay_write() { verdict_is delay-write device-write device.write; }

judge_raid1() {
	local slow
	report_of raid1
	slow=$(<"$G/raid1.slow")
	jq -r '.verdict.sentence, .verdict.evidence[]' "$J"
	jq -r '.verdict.evidence[]' "$J" | grep -F "md127 lies on several disks, and $slow is the slow one: a FLUSH takes"
}

# It works, or says precisely why not.
works() { # RUN
	cat "$G/$1.said" "$G/limits.err"
	[[ $(<"$G/$1.status") == 0 ]] && grep -q '3 fsync' "$G/$1.txt"
}

says_why() { # RUN STATUS WORDS
	cat "$G/$1.said" "$G/limits.err"
	[[ $(<"$G/$1.status") == "$2" ]] && grep -qF "$3" "$G/$1.said"
}

judge_no_btf() { says_why no-btf 4 'this kernel has no type information (BTF)'; }
judge_unprivileged() { works unprivileged; }
judge_integrity() { works integrity; }
judge_confidentiality() { says_why confidentiality 4 'the kernel is locked down (confidentiality)'; }
