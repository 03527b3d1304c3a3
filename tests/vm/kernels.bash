# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For kernels.bats: one guest per kernel and file of tests, and what the raw events of its kernel say.

RUNS=(sqlite fdatasync overwrite)

# guest_of KERNEL: what tests/vm/guest left in $G; run once, its story kept for the other tests
guest_of() {
	local rc=0
	G=$BATS_FILE_TMPDIR/$1
	if [[ ! -e $G.rc ]]; then
		"$TOP/scripts/vm" --timeout 500 --out "$G" "$1" -- tests/vm/guest >"$G.log" 2>&1 || rc=$?
		echo "$rc" >"$G.rc"
	fi
	rc=$(<"$G.rc")
	((rc != 77)) || skip "$(grep -o 'missing: .*\|no kernel .*' "$G.log" | sed -n 1p)"
	cat "$G.log"
	((rc == 0)) || { cat "$G/disk.err" 2>/dev/null; return 1; }
}

# raw FILE: from the events of a run: how many flushes were issued and completed, the sum and the median of their time in the
# device, and the same of writes that have data; as "name=value" for eval. One flush at a time: the disk has one queue.
# A write with a flush completes twice, the second time without data.
raw() {
	awk '
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
		match($0, /block_rq_(issue|complete): /) {
			event = substr($0, RSTART, RLENGTH)
			split(substr($0, 1, RSTART - 1), left, " ")
			time = ns(left[length(left)])
			n = split(substr($0, RSTART + RLENGTH), f, " ")
			for (plus = 1; f[plus] != "+"; plus++)
				;
			kind = f[2]; sector = f[plus - 1]; sectors = f[plus + 1]
			if (kind ~ /^F+$/) {
				if (event ~ /issue/) { issued++; since = time }
				else if (since) { d = time - since; flush[++flushes] = d; flush_ns += d; since = 0 }
			} else if (kind ~ /W/ && sectors > 0) {
				if (event ~ /issue/) at[sector] = time
				else if (sector in at) { d = time - at[sector]; write[++writes] = d; write_ns += d; delete at[sector] }
			}
		}
		END {
			printf "raw_issued=%d raw_flushes=%d raw_flush_ns=%.0f raw_flush_p50=%.0f\n", issued, flushes, flush_ns,
				median(flush, flushes)
			printf "raw_writes=%d raw_write_ns=%.0f raw_write_p50=%.0f\n", writes, write_ns, median(write, writes)
		}' "$1"
}

figure() { # PATH: of the report in $J, 0 if it isn't there
	jq -r ".devices[0]$1 // 0" "$J"
}

# counts_are_the_kernels RUN: flushes by our account, by the raw events and by the kernel's counter
counts_are_the_kernels() {
	local raw_issued raw_flushes raw_flush_ns raw_flush_p50 raw_writes raw_write_ns raw_write_p50
	J=$G/$1.json
	[[ -s $J ]] || { cat "$G/$1.err"; return 1; }
	eval "$(raw "$G/$1.raw")"
	echo "$1: flushes: ours $(figure .ops.flush.count), raw $raw_flushes (issued $raw_issued), kernel $(<"$G/$1.flushes");" \
		"p50 $(figure .ops.flush.device.p50_ns), raw $raw_flush_p50; sum $(figure .ops.flush.device.sum_ns), raw $raw_flush_ns;" \
		"writes: $(figure .ops.write.count) and $(figure .flush.native_fua) FUA, raw $raw_writes; p50 $(figure .ops.write.device.p50_ns), raw $raw_write_p50; calls $(jq -c .sync.calls "$J")"
	[[ $(<"$G/$1.status") == 0 ]] || { cat "$G/$1.err"; return 1; }
	((raw_flushes > 20 && raw_issued == raw_flushes && raw_flushes == $(<"$G/$1.flushes")))
	[[ $(figure .ops.flush.count) == "$raw_flushes" ]]
	holds "$(figure .ops.flush.device.sum_ns) >= 0.99 * $raw_flush_ns && $(figure .ops.flush.device.sum_ns) <= 1.01 * $raw_flush_ns"
	(($(figure .ops.write.count) + $(figure .flush.native_fua) == raw_writes))
	near "$(figure .ops.flush.device.p50_ns)" "$raw_flush_p50"
	near "$(figure .ops.write.device.p50_ns)" "$raw_write_p50"
	# the timer, and what an emulated machine adds to it
	holds "$raw_flush_p50 >= 5e6 && $raw_flush_p50 <= 7e6"
}

near() { # OURS RAW: within the width of a histogram's bucket
	holds "$1 >= 0.97 * $2 && $1 <= 1.03 * $2"
}

# calls_are RUN N: so many fdatasync calls, or of another name
calls_are() { # RUN CALL N
	jq -e ".sync.calls.$2 == $3" "$G/$1.json" >/dev/null || { echo "$1: $(jq -c .sync.calls "$G/$1.json"), not $3"; return 1; }
}
