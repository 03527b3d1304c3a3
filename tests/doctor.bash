# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For bats files that ask barriertrace doctor; beside helpers. Its JSON is in $J.

doctor() {
	"$BT" doctor --no-probes --json "$J" -o "$BATS_TEST_TMPDIR/text" "$@"
}

# value LAYER KEY: fails where there is none
value() {
	jq -er --arg l "$1" --arg k "$2" '.layers[] | select(.name == $l) | .settings[] | select(.key == $k) | .value' "$J"
}

# finding LAYER KEY: the grades of its findings; empty: none
finding() {
	jq -r --arg l "$1" --arg k "$2" '.findings[] | select(.place == $l and .key == $k) | .grade' "$J"
}

# is LAYER KEY VALUE
is() {
	local got
	got=$(value "$1" "$2") || { echo "$1 has no $2"; return 1; }
	[[ $got == "$3" ]] || { echo "$2 of $1 is '$got', not '$3'"; return 1; }
}

# Each value that was read from a file is that file's text, word for word.
same_as_files() {
	local layer key where value text n=0
	while IFS=$'\t' read -r layer key where value; do
		[[ -f $where && $key != @(btf|journal|io_pressure|flushes|flush_ms) && $where == /sys/* || $where == /proc/sys/* ]] || continue
		text=$(sed 's/[[:space:]]*$//; s/^[[:space:]]*//' "$where")
		[[ $key != scheduler || $text != *\[* ]] || text=$(sed 's/.*\[\(.*\)\].*/\1/' <<<"$text")
		[[ $text == "$value" ]] || { echo "$layer $key: '$value', but $where has '$text'"; return 1; }
		n=$((n + 1))
	done < <(jq -r '.layers[] as $l | $l.settings[]? | select(.value) | [$l.name, .key, .where, .value] | @tsv' "$J")
	comment "$n values equal their files"
	((n > 20))
}

# lsblk DISK COLUMN
column() {
	lsblk -bndo "$2" "/dev/$1" | tr -d ' '
}

# Columns of lsblk beside our keys. Those that lsblk of this machine doesn't have, or leaves empty, are left out.
same_as_lsblk() {
	local disk=$1 pair key text
	for pair in RO=read_only ROTA=rotational RQ-SIZE=nr_requests RA=read_ahead_kb SCHED=scheduler ALIGNMENT=alignment_offset \
		MIN-IO=minimum_io_size OPT-IO=optimal_io_size PHY-SEC=physical_block_size LOG-SEC=logical_block_size \
		DISC-GRAN=discard_granularity DISC-MAX=discard_max_bytes ZONED=zoned; do
		key=${pair#*=} text=$(column "$disk" "${pair%=*}" 2>/dev/null)
		[[ ! $text ]] || is "$disk" "$key" "$text"
	done
	text=$(column "$disk" SIZE)
	is "$disk" size "$((text / 512))"
	text=$(column "$disk" TRAN)
	[[ ! $text ]] || [[ $text == *"$(value "$disk" transport)" ]] || { echo "transport: lsblk says $text"; return 1; }
}

# mount option by findmnt: also where it is written OPTION=VALUE
has_option() {
	[[ ,$(findmnt -nro OPTIONS -T "$1" | tail -n 1), == *,"$2"[,=]* ]]
}

same_as_findmnt() { # MOUNT-POINT
	local atime=strictatime o
	for o in relatime noatime; do
		! has_option "$1" "$o" || atime=$o
	done
	is "$1" atime "$atime"
	is "$1" type "$(findmnt -nro FSTYPE -T "$1" | tail -n 1)"
	o=$(findmnt -nro OPTIONS -T "$1" | tail -n 1)
	[[ $(jq -r --arg l "$1" '.layers[] | select(.name == $l) | .options' "$J") == "$o" ]]
}

# The superblock and the kernel's file of options, as e2fsprogs has them
same_as_ext4() { # MOUNT-POINT DISK
	local options=/proc/fs/ext4/$2/options key text super
	for key in data commit max_batch_time min_batch_time errors journal_ioprio; do
		text=$(sed -n "s/^$key=//p" "$options")
		[[ ! $text ]] || is "$1" "$key" "$text"
	done
	for key in barrier delalloc discard auto_da_alloc; do
		text=
		! grep -qx "$key" "$options" || text=on
		! grep -qx "no$key" "$options" || text=off
		[[ ! $text ]] || is "$1" "$key" "$text"
	done
	super=$(tune2fs -l "/dev/$2" 2>/dev/null) || { comment "the superblock of $2 is not for us"; return 0; }
	text=$(sed -n 's/^Block size: *//p' <<<"$super")
	is "$1" block_size "$text"
	# of a page that holds more than the superblock's block, not all is in memory
	((text == $(getconf PAGESIZE))) || return 0
	text=off
	[[ $super != *' fast_commit'* ]] || text=on
	is "$1" fast_commit "$text"
}

# touches TRACE: the system calls in it (strace -y) that could change something; what is printed goes to a file "out"
touches() {
	grep -E 'O_WRONLY|O_RDWR|O_CREAT|O_TRUNC' "$1" | grep -v '= -1 ' || true
	grep -E '^([0-9]+ +)?(unlink|unlinkat|rename|renameat2?|mkdir|mkdirat|rmdir|mknod|mknodat|link|linkat|symlink|symlinkat|truncate|ftruncate|fallocate|chmod|fchmod|fchmodat|chown|fchown|lchown|fchownat|mount|umount2?|move_mount|fsconfig|setxattr|fsetxattr|utimensat|sync|syncfs|fsync|fdatasync|pwrite64|pwritev2?|reboot|swapon|kill)\(' "$1" || true
	grep -E '^([0-9]+ +)?writev?\(' "$1" | grep -vE 'writev?\([0-9]+<[^>]*/out>' || true
	# of a terminal, and the question for a dm table
	grep -E '^([0-9]+ +)?ioctl\(' "$1" | grep -vE 'TCGETS|TIOCGWINSZ|DM_TABLE_STATUS|PERF_EVENT_IOC_' || true
}
