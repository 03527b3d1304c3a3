#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Kernels held against the BPF programs by their types (scripts/check-btf): Debian's, the running one, and forged ones in which
# something changed. Those that are not here are fetched, for at most BARRIERTRACE_FETCH_LIMIT seconds (40) in all.

load ../helpers

setup() {
	BUILD=${BUILD:-build}
	[[ $BUILD == /* ]] || BUILD=$TOP/$BUILD
	export BUILD
	BTFCHECK=$BUILD/tests/btfcheck FORGE=$BUILD/tests/btfforge SAMPLE=$BUILD/tests/btfsample.o
	[[ -x $BTFCHECK && -x $FORGE && -e $SAMPLE && -e $BUILD/btf/x86.o ]] || skip "missing: make btf-tests"
	cd "$BATS_TEST_TMPDIR" || return
}

# ---- kernels that there are ----

# here SERIES: of x86 or arm64; skips if it can be had neither from the cache nor from the mirror
here() {
	local found=("${XDG_CACHE_HOME:-$HOME/.cache}/barriertrace/vm/kernels/$1"[.-]*"$2"*) spent=$BATS_FILE_TMPDIR/spent
	local start=$SECONDS left=${BARRIERTRACE_FETCH_LIMIT:-40}
	[[ ! -e ${found[0]}/sums ]] || return 0
	[[ ! -e $spent ]] || left=$((left - $(<"$spent")))
	((left > 0)) && [[ $2 == amd64 ]] && timeout "$left" "$TOP/scripts/vm" --fetch "$1" || skip "missing: Linux $1 for $2"
	echo $((${BARRIERTRACE_FETCH_LIMIT:-40} - left + SECONDS - start)) >"$spent"
}

as_known() { # SERIES[-arm64]
	need cpio xz zstd lz4
	if [[ $1 == *-arm64 ]]; then
		here "${1%-arm64}" arm64
	else
		here "$1" amd64
	fi
	run "$TOP/scripts/check-btf" "$1"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"  0 new" ]]
}

@test "btf: the running kernel has what the programs use" {
	[[ -e /sys/kernel/btf/vmlinux ]] || skip "missing: /sys/kernel/btf/vmlinux"
	run "$TOP/scripts/check-btf" --running
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == running-* && $output == *"  0 new" ]]
}

@test "btf 5.10: all is as known" { as_known 5.10; }
@test "btf 6.1: all is as known" { as_known 6.1; }
@test "btf 6.12: all is as known" { as_known 6.12; }
@test "btf 6.18: all is as known" { as_known 6.18; }
@test "btf 7.2: all is as known" { as_known 7.2; }
@test "btf 5.10 on arm64: all is as known" { as_known 5.10-arm64; }
@test "btf 6.1 on arm64: all is as known" { as_known 6.1-arm64; }
@test "btf 6.12 on arm64: all is as known" { as_known 6.12-arm64; }
@test "btf 6.18 on arm64: all is as known" { as_known 6.18-arm64; }
@test "btf 7.2 on arm64: all is as known" { as_known 7.2-arm64; }

@test "btf: what changed between two kernels is named" {
	need cpio lz4
	here 5.10 amd64
	here 6.1 amd64
	run "$TOP/scripts/check-btf" --changes 5.10 6.1
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"tracepoint block_bio_queue: (struct request_queue *, struct bio *) -> (struct bio *)"* ]]
	[[ $output == *"field task_struct.__state: missing -> unsigned int"* ]]
}

# ---- kernels that there are not: the running one's types, with one change ----

# forged CHANGE...: holds a kernel with that change against what the running one has; its output without the known
forged() {
	local arch base table
	arch=$(uname -m)
	[[ -e /sys/kernel/btf/vmlinux ]] || skip "missing: /sys/kernel/btf/vmlinux"
	OBJECT=${OBJECT:-$SAMPLE}
	base=$BATS_FILE_TMPDIR/1.1.0-$arch
	table=$BATS_FILE_TMPDIR/${OBJECT##*/}.table
	[[ -e $base ]] || cp /sys/kernel/btf/vmlinux "$base"
	[[ -e $table ]] || "$BTFCHECK" --table "$OBJECT" "$base" >"$table"
	"$FORGE" "$base" "1.2.0-$arch" "$@"
	run "$BTFCHECK" "$table" "$OBJECT" "1.2.0-$arch"
	echo "$output"
	[[ $output != *'ERROR: AddressSanitizer'* && $output != *'runtime error'* ]]
	[ "$status" -le 1 ]
}

says() { # LINE: a whole one
	grep -qxF -- "$1" <<<"$output" || { echo "not said: $1"; return 1; }
}

news() { # N
	says "  $1 new"
	[ "$status" -eq $(($1 > 0)) ]
}

@test "forged: nothing changed, nothing is new" {
	forged value REQ_OP_DRV_IN 99
	news 0
	[[ $output != *' no: '* ]]
}

@test "forged: a renamed field" {
	forged member request tag label
	says '  typed              tp_btf  no: field request.tag is missing'
	says '  NEW  field request.tag: missing; known: int (all); used by typed'
	news 1
}

@test "forged: a field in an unnamed structure, used by a function that a program calls" {
	forged member request flush washed
	says '  calling            raw_tp  no: field request.flush.seq is missing'
	says '  NEW  field request.flush.seq: missing; known: unsigned int (all); used by calling'
	news 1
}

@test "forged: a structure that is gone" {
	forged drop request
	says '  typed              tp_btf  no: field request.tag is missing'
	says '  guarded            raw_tp  no: field request.io_start_time_ns is missing'
	says '  on_function        fentry  no: field request.cmd_flags is missing'
	[[ $output == *'NEW  field request.tag: missing; known: int (all); used by typed'* ]]
}

@test "forged: a field became a bit field" {
	forged bits request cmd_flags
	says '  NEW  field request.cmd_flags: unsigned int : 5; known: unsigned int (all); used by on_function'
	news 1
}

@test "forged: a field of another width: a load that libbpf widens, and one that it does not" {
	forged longer request cmd_flags
	says '  NEW  field request.cmd_flags: long long unsigned int; known: unsigned int (all); used by on_function'
	[[ $output != *' no: '* ]]
	news 1
	forged longer request tag
	says '  typed              tp_btf  no: field request.tag is long long unsigned int (of another width than the program reads)'
}

@test "forged: a field of another kind" {
	forged pointer request tag
	says '  typed              tp_btf  no: field request.tag is void * (of another kind than the program takes it for)'
	says '  NEW  field request.tag: void * (of another kind than the program takes it for); known: int (all); used by typed'
	news 1
}

@test "forged: a tracepoint with one argument more" {
	forged argument block_rq_issue
	says '  NEW  tracepoint block_rq_issue: (struct request *, struct request *); known: (struct request *) (all); used by typed'
	[[ $output != *' no: '* ]]
	news 1
}

@test "forged: a tracepoint with less arguments than a program takes" {
	forged fewer block_rq_issue
	says '  typed              tp_btf  no: tracepoint block_rq_issue has 0 arguments, the program takes 1'
	says '  NEW  tracepoint block_rq_issue: (); known: (struct request *) (all); used by typed'
}

@test "forged: a tracepoint that is gone" {
	forged drop btf_trace_block_rq_insert
	says '  calling            raw_tp  no: tracepoint block_rq_insert is missing'
	says '  NEW  tracepoint block_rq_insert: missing; known: (struct request *) (all); used by calling'
	news 1
}

@test "forged: a function that is gone, for fentry, kprobe and as a kernel function" {
	forged drop blk_insert_flush
	says '  on_function        fentry  no: function blk_insert_flush is missing'
	[[ $output == *'NEW  function blk_insert_flush: missing; known: '* ]]
	news 1
	forged drop flush_end_io
	says '  on_kprobe          kprobe  no: function flush_end_io is missing'
	news 1
	forged drop bpf_rcu_read_lock
	says '  kernel_calling     tp_btf  no: function bpf_rcu_read_lock is missing'
	news 1
}

@test "forged: what is asked for before it is used may be gone, or come" {
	forged drop-value BPF_FUNC_get_current_task_btf
	says '  NEW  enumerator bpf_func_id.BPF_FUNC_get_current_task_btf: missing; known: 158 (all); used by helping'
	says '  NEW  helper bpf_get_current_task_btf: missing; known: there (all); used by helping'
	[[ $output != *' no: '* ]]
	news 2
	forged member request io_start_time_ns issue_time_ns
	says '  NEW  field request.io_start_time_ns: missing; known: long long unsigned int (all); used by guarded'
	says '  NEW  field request.issue_time_ns: long long unsigned int; known: missing (all); used by guarded'
	[[ $output != *' no: '* ]]
	news 2
	forged member request io_start_time_ns neither
	says '  guarded            raw_tp  no: field request.io_start_time_ns is missing'
}

@test "forged: a helper and a kind of map that are gone" {
	forged drop-value BPF_FUNC_ringbuf_reserve
	says '  helping            tp_btf  no: helper bpf_ringbuf_reserve is missing'
	forged drop-value BPF_MAP_TYPE_RINGBUF
	says '  typed              tp_btf  no: map ringbuf is missing'
}

@test "forged: an enumerator of another value, one that the programs use and one that user space asks for" {
	forged value REQ_OP_FLUSH 77
	says '  NEW  enumerator REQ_OP_FLUSH: 77; known: 2 (all)'
	says '  NEW  enumerator req_op.REQ_OP_FLUSH: 77; known: 2 (all); used by helping'
	news 2
}

@test "forged: the tool's own programs: what changed is named with its probe, a lost one is fatal" {
	OBJECT=$BUILD/btf/x86.o
	[[ $(uname -m) == x86_64 ]] || OBJECT=$BUILD/btf/arm64.o
	forged argument block_io_start
	says '  NEW  tracepoint block_io_start: (struct request *, struct request *); known: (struct request *) (all); used by request.start'
	news 1
	forged drop btf_trace_block_rq_complete
	says '  request.complete   has no rung: NOTHING WORKS WITHOUT IT'
	says '  NEW  probe request.complete: missing; known: tp_btf raw_tp (all)'
	[ "$status" -eq 1 ]
}

@test "forged: settings that user space takes from this kernel decide which arguments a program takes" {
	OBJECT=$BUILD/btf/x86.o
	[[ $(uname -m) == x86_64 ]] || OBJECT=$BUILD/btf/arm64.o
	# two arguments there mean (queue, request) to the tool, for the others too
	forged argument block_rq_issue
	says '  request.insert     raw_tp  no: tracepoint block_rq_insert has 1 argument, the program takes 2'
	says '  NEW  tracepoint block_rq_issue: (struct request *, struct request *); known: (struct request *) (all); used by request.issue'
}

@test "table: a kernel is compared with its own series, a future one with the last, one without a number with all" {
	[[ -e /sys/kernel/btf/vmlinux ]] || skip "missing: /sys/kernel/btf/vmlinux"
	cp /sys/kernel/btf/vmlinux 3.1.0
	"$FORGE" 3.1.0 3.2.0 drop flush_end_io
	"$BTFCHECK" --table "$SAMPLE" 3.1.0 3.2.0 >table
	grep -x 'function flush_end_io | missing | 3.2' table
	cp 3.1.0 unnumbered
	for name in 3.1.9 3.0.0 3.1 unnumbered; do
		[[ -e $name ]] || cp 3.1.0 "$name"
		run "$BTFCHECK" table "$SAMPLE" "$name"
		news 0
	done
	for name in 3.2.7 3.3.0 4.0.1; do
		cp 3.1.0 "$name"
		run "$BTFCHECK" table "$SAMPLE" "$name"
		echo "$output"
		[[ $output == *'NEW  function flush_end_io: enum '*'; expected as on 3.2; used by on_kprobe'* ]]
		news 1
	done
}

@test "table: what the programs use and the table does not have is named" {
	[[ -e /sys/kernel/btf/vmlinux ]] || skip "missing: /sys/kernel/btf/vmlinux"
	"$BTFCHECK" --table "$SAMPLE" /sys/kernel/btf/vmlinux | grep -v '^field request.tag' >table
	run "$BTFCHECK" table "$SAMPLE" /sys/kernel/btf/vmlinux
	says '  NEW  field request.tag: int; not in the table; used by typed'
	news 1
}

# ---- bad input ----

# refuses REASON ARGUMENT...: one line, exit status 2, nothing of the sanitizers
refuses() {
	local reason=$1
	shift
	run "$BTFCHECK" "$@"
	echo "$output"
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"$reason"* && $output != *Sanitizer* ]]
}

@test "bad kernels: one line each" {
	: >table
	: >empty
	echo 'no kernel at all' >text
	head -c 100000 /dev/urandom >noise
	head -c 3000 "$SAMPLE" >short.o
	cp "$BUILD/tests/btfcheck" elf-without
	mkdir directory
	refuses 'absent: No such file or directory' table "$SAMPLE" absent
	refuses 'empty: no BTF in it' table "$SAMPLE" empty
	refuses 'text: no BTF in it' table "$SAMPLE" text
	refuses 'noise: no BTF in it' table "$SAMPLE" noise
	refuses 'elf-without: no BTF in it' table "$SAMPLE" elf-without
	refuses 'short.o: ' table "$SAMPLE" short.o
	refuses 'directory/vmlinux: No such file or directory' table "$SAMPLE" directory
	if [[ -e /sys/kernel/btf/vmlinux ]]; then
		head -c 1000000 /sys/kernel/btf/vmlinux >half
		{ echo 'a flat image:'; cat half; } >flat
		refuses 'flat: no BTF in it' table "$SAMPLE" flat
		refuses 'half: its BTF is damaged, or of a kind that this libbpf does not know' table "$SAMPLE" half
	fi
}

@test "bad programs: one line each" {
	: >table
	: >empty
	echo 'no object' >text
	head -c 3000 "$SAMPLE" >short.o
	need llvm-objcopy
	llvm-objcopy --remove-section=.BTF.ext --remove-section=.rel.BTF.ext "$SAMPLE" no-ext.o
	refuses 'absent: No such file or directory' table absent "$SAMPLE"
	refuses 'empty: not an object file of BPF programs' table empty "$SAMPLE"
	refuses 'text: not an object file of BPF programs' table text "$SAMPLE"
	refuses 'btfcheck: not an object file of BPF programs' table "$BTFCHECK" "$SAMPLE"
	refuses 'short.o: ' table short.o "$SAMPLE"
	refuses 'no .BTF.ext in it' table no-ext.o "$SAMPLE"
}

@test "bad tables and arguments: one line each" {
	echo 'field x: int' >table
	refuses 'table:1: not "use | form | series"' table "$SAMPLE" "$SAMPLE"
	refuses 'absent: No such file or directory' absent "$SAMPLE" "$SAMPLE"
	refuses 'usage: btfcheck' table
	refuses 'usage: btfcheck' --changes "$SAMPLE" "$SAMPLE"
	run "$TOP/scripts/check-btf" --no-such
	[ "$status" -eq 2 ]
	run "$TOP/scripts/check-btf" absent
	[ "$status" -eq 2 ]
	[[ $output == *'absent: no such file'* ]]
}

# flipped FILE N: a copy with N bytes of it changed
flipped() {
	local size i
	size=$(stat -c %s "$1")
	cp "$1" flipped
	for ((i = 0; i < $2; i++)); do
		printf '%b' "\\x$(printf %x $((RANDOM % 256)))" |
			dd of=flipped bs=1 seek=$(((RANDOM * 32768 + RANDOM) % size)) conv=notrunc status=none
	done
}

@test "damaged files, as programs and as kernels: never more than a refusal" {
	local i
	RANDOM=5
	: >table
	for ((i = 0; i < 50; i++)); do
		flipped "$SAMPLE" $((1 + i))
		for args in "flipped $SAMPLE" "$SAMPLE flipped"; do
			# shellcheck disable=SC2086 # two words
			run "$BTFCHECK" table $args
			[[ $status -le 2 && $output != *Sanitizer* && $output != *'runtime error'* ]] ||
				{ echo "$i $args: $output"; false; }
		done
	done
}

# ---- images ----

# little-endian number of 4 bytes
le4() {
	local i
	for i in 0 8 16 24; do
		printf '%b' "\\x$(printf %x $(($1 >> i & 255)))"
	done
}

# bzimage PAYLOAD: x86's boot protocol, with one sector of setup
bzimage() {
	head -c 1024 /dev/zero >image
	printf '\1' | dd of=image bs=1 seek=497 conv=notrunc status=none
	printf 'HdrS' | dd of=image bs=1 seek=514 conv=notrunc status=none
	le4 100 | dd of=image bs=1 seek=584 conv=notrunc status=none
	le4 "$(stat -c %s "$1")" | dd of=image bs=1 seek=588 conv=notrunc status=none
	head -c 100 /dev/zero >>image
	cat "$1" >>image
	head -c 500 /dev/zero >>image
}

# zboot PAYLOAD: an EFI image that unpacks itself
zboot() {
	{
		printf 'MZ\0\0zimg'
		le4 64
		le4 "$(stat -c %s "$1")"
		head -c 48 /dev/zero
		cat "$1"
		echo more
	} >image
}

@test "images: each way of packing gives what was packed" {
	local how
	need gzip xz zstd lz4
	cp "$SAMPLE" vmlinux
	for how in 'gzip -c' 'xz -c --check=crc32' 'zstd -qc' 'lz4 -l -qc'; do
		$how vmlinux >packed
		[[ $how != gzip* ]] && le4 "$(stat -c %s vmlinux)" >>packed
		bzimage packed
		"$TOP/scripts/kernel-btf" image out
		cmp out vmlinux
	done
	gzip -c vmlinux >packed
	zboot packed
	"$TOP/scripts/kernel-btf" image out
	cmp out vmlinux
	"$TOP/scripts/kernel-btf" packed out
	cmp out vmlinux
	"$TOP/scripts/kernel-btf" vmlinux out
	cmp out vmlinux
}

@test "images: types are found in one that is neither packed nor ELF" {
	[[ -e /sys/kernel/btf/vmlinux ]] || skip "missing: /sys/kernel/btf/vmlinux"
	{
		printf 'MZ\237\353\1\0 what only begins so: \237\353\1\0\30\0\0\0\0\0\0\0'
		head -c 1001 /dev/zero
		cat /sys/kernel/btf/vmlinux
		head -c 1001 /dev/zero
	} >image
	"$BTFCHECK" --btf image out
	cmp out /sys/kernel/btf/vmlinux
}

@test "bad images: one line each" {
	local how
	bad() { # REASON IMAGE
		run "$TOP/scripts/kernel-btf" "$2" out
		echo "$output"
		[ "$status" -eq 1 ]
		[[ $output == *"$1"* ]]
	}
	need gzip
	gzip -c "$SAMPLE" >packed
	bad 'absent: no such file' absent
	bzimage packed
	head -c 2000 image >short
	bad 'short: truncated: its payload ends at ' short
	dd if=/dev/zero of=image bs=1 seek=1200 count=200 conv=notrunc status=none
	bad 'image: damaged: gzip cannot unpack it' image
	echo 'not packed by anything that is known' >packed
	bzimage packed
	bad 'image: packed in a way that is not known: 6e6f74207061' image
	printf '\x89LZO and more of it' >packed
	bzimage packed
	bad 'image: packed with lzop, which this does not unpack' image
}
