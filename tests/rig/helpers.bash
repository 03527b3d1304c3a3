# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For bats files: load ../rig/helpers
#
#   setup()    { rig_up --flush-us 1000; }
#   teardown() { rig_down; }

RIG_TOOL=$(cd "${BASH_SOURCE[0]%/*}" && pwd)/rig

# need TOOL...: skip, with the names of those that are missing
need() {
	local tool missing=()
	for tool in "$@"; do
		command -v "$tool" >/dev/null || missing+=("$tool")
	done
	((!${#missing[@]})) || skip "missing: ${missing[*]}"
}

need_root() {
	((EUID == 0)) || skip "missing: root"
}

need_loop_fuse() {
	local missing=() root=${RIG_TOOL%/tests/rig/rig} build=${BUILD:-build}
	[[ $build == /* ]] || build=$root/$build
	need_root
	[[ -c /dev/fuse ]] || missing+=(/dev/fuse)
	[[ -c /dev/loop-control ]] || missing+=(/dev/loop-control)
	[[ -x ${RIGD:-$build/tests/rigd} ]] || missing+=(rigd)
	((!${#missing[@]})) || skip "missing: ${missing[*]}"
	need losetup flock setsid mkfs.ext4
}

# rig_up [OPTION...]: as `rig up`; the rig ends with the test at the latest
rig_up() {
	local text
	# $$ is bats' process for this test also where we are in a subshell
	text=$("$RIG_TOOL" up --owner "$$" "$@") || return
	eval "$text"
}

# For teardown: also right when there is no rig, or no longer.
rig_down() {
	local dir=${RIG:-}
	unset RIG
	[[ ! $dir ]] || "$RIG_TOOL" down "$dir"
}

rig_set() {
	"$RIG_TOOL" set "$RIG" "$@"
}

rig_reset() {
	"$RIG_TOOL" reset "$RIG"
}

# rig_stat KEY: one figure of the daemon's own account
rig_stat() {
	local key value
	while IFS='=' read -r key value; do
		if [[ $key == "$1" ]]; then
			printf '%s\n' "$value"
			return
		fi
	done <"$RIG_STATS"
	printf 'rig_stat: no %s\n' "$1" >&2
	return 1
}

# kernel_stat DISK FIELD: numbered from 1 as in the kernel's
# Documentation/block/stat.rst; 5: writes, 16: flushes, 17: ms spent in them.
# A request that is nothing but a flush is counted as a write of 0 sectors, too.
# They go on counting when a loop device gets another file: use differences.
kernel_stat() {
	local fields
	read -ra fields <"/sys/block/$1/stat" || return
	[[ ${fields[$2 - 1]:-} ]] || return
	printf '%s\n' "${fields[$2 - 1]}"
}

# sqlite_inserts DB N: N autocommit INSERTs by one process, default settings
# (rollback journal deleted after each, synchronous FULL), as pts/sqlite does.
# The table is made if there is none, which costs a transaction more.
sqlite_inserts() {
	local db=$1 n=$2 i
	{
		printf '%s\n' 'CREATE TABLE IF NOT EXISTS pts1 (I SMALLINT NOT NULL,' \
			'DT TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,' \
			'F1 VARCHAR(4) NOT NULL, F2 VARCHAR(16) NOT NULL);'
		for ((i = 1; i <= n; i++)); do
			printf "INSERT INTO pts1 (I, F1, F2) VALUES (%d, '%04d', 'value %08d');\n" \
				$((i % 32768)) $((i % 10000)) "$i"
		done
	} | sqlite3 -batch -bail -init /dev/null "$db"
}

# json KEY FILE: the value of a jq path; fails if it is null, false or not there
json() {
	jq -er "$1" "$2"
}
