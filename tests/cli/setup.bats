#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/setup on a machine made of fakes: a private PATH, its own root, and
# package managers that only write down what they are asked for.

setup() {
	setup=$BATS_TEST_DIRNAME/../../scripts/setup
	root=$BATS_TEST_TMPDIR/root
	bin=$BATS_TEST_TMPDIR/bin
	log=$BATS_TEST_TMPDIR/log
	mkdir -p "$root/etc" "$bin"
	: >"$log"
	ln -s "$(type -P env)" "$bin/env"
	fake id 'echo 0'
}

fake() { # NAME STATEMENTS: a command on the private PATH
	printf '#!/bin/bash\n%s\n' "$2" >"$bin/$1"
	chmod +x "$bin/$1"
}

run_setup() { run env -i PATH="$bin" BARRIERTRACE_SETUP_ROOT="$root" /bin/bash "$setup" "$@"; }

machine() { # ID MANAGER [STATEMENTS]: its os-release and package manager
	printf 'NAME="Some System"\n%s\n' "$1" >"$root/etc/os-release"
	fake "$2" "echo $2 \"\$@\" >>'$log'; ${3-}"
}

# Put a need of the table there: TABLE's probe is taken from --list.
provide() { # PROBE
	local alt=${1%%|*}
	case $alt in
	cmd:pkg-config)
		# shellcheck disable=SC2016
		fake pkg-config 'shift; echo "pkg-config $*" >>'"'$log'"'
			for m; do [[ -e '"$root"'/pc/${m%% *} ]] || exit 1; done'
		;;
	cmd:* | run:*) fake "${alt#*:}" : ;;
	pc:*)
		alt=${alt#pc:}
		mkdir -p "$root/pc"
		: >"$root/pc/${alt%%>*}"
		;;
	file:*)
		alt=$root${alt#*:}
		alt=${alt//\*/x}
		mkdir -p "${alt%/*}"
		: >"$alt"
		;;
	esac
}

provide_all() { # PURPOSE [EXCEPT-NEED...]
	local need probe except=" ${*:2} "
	run_setup --list "$1"
	while read -r _ _ _ need probe _; do
		[[ $except == *" $need "* ]] || provide "$probe"
	done <<<"$output"
}

line_has() { # PATTERN: some line of the output is like this
	local line
	for line in "${lines[@]}"; do
		# shellcheck disable=SC2053
		[[ $line == $1 ]] && return
	done
	echo "no line like '$1' in: $output"
	return 1
}

@test "setup: nothing missing: silent, exit 0, no package manager, one pkg-config" {
	machine ID=debian apt-get
	fake sudo "echo sudo >>'$log'"
	for purpose in build test truth kernels demo bench; do
		provide_all "$purpose"
		: >"$log"
		run_setup "$purpose"
		[ "$status" -eq 0 ]
		[ -z "$output" ]
		[ "$(wc -l <"$log")" -eq 1 ]
		grep -q '^pkg-config libbpf >= 1.0 libelf ' "$log"
	done
}

@test "setup: --list has a row for each need, and whether it is there" {
	provide cmd:make
	run_setup --list build
	[ "$status" -eq 0 ]
	line_has 'there * make *'
	line_has 'missing * libbpf *pc:libbpf>=1.0 *apt:libbpf-dev dnf:libbpf-devel pacman:libbpf zypper:libbpf-devel'
	[[ $output != *fio* && $output != *cmd:sqlite3* ]]
	run_setup --list demo
	line_has '* make *'
	line_has '* sqlite3 *'
	[[ $output != *fio* ]]
	run_setup --list test
	line_has '* make *'
	line_has '* fio *'
	[[ $output != *QEMU* && $output != *mdadm* && $output != *arm64* && $output != *biolatency* ]]
	run_setup --list truth
	line_has '* biolatency *'
	[[ $output != *QEMU* ]]
	run_setup --list kernels
	line_has '* QEMU *'
	line_has '* mdadm *'
	line_has '* arm64-compiler *'
	run_setup --list cross
	line_has '* cross *must *arm64-compiler *'
	line_has '* make *'
	[[ $output != *fio* ]]
	run_setup --list
	local line words
	for line in "${lines[@]}"; do
		read -ra words <<<"$line"
		echo "$line"
		[ "${#words[@]}" -eq 9 ]
		[[ ${words[4]} =~ ^((cmd|run|pc|file):[^|]+)(\|(cmd|run|pc|file):[^|]+)*$ ]]
		[[ $line =~ \ apt:[^:\ ]+\ dnf:[^:\ ]+\ pacman:[^:\ ]+\ zypper:[^:\ ]+$ ]]
	done
}

@test "setup: --dry-run with apt (Debian)" {
	machine ID=debian apt-get
	mkdir -p "$root/var/lib/apt/lists"
	: >"$root/var/lib/apt/lists/host_dists_x_Packages"
	provide_all demo libbpf sqlite3 make
	: >"$log"
	run_setup --dry-run demo
	[ "$status" -eq 0 ]
	[ "$output" = 'env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends make libbpf-dev sqlite3' ]
	run grep apt-get "$log"
	[ "$status" -eq 1 ]
}

@test "setup: what a cross build takes, only when it is asked for" {
	machine ID=debian apt-get
	mkdir -p "$root/var/lib/apt/lists"
	: >"$root/var/lib/apt/lists/x_Packages"
	provide_all test
	provide_all kernels
	run_setup kernels
	[ -z "$output" ]
	run_setup --dry-run cross
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == *' install -y --no-install-recommends qemu-user-static' ]]
	[[ ${lines[-1]} == */scripts/sysroot' arm64' ]]
	[[ $output != *:arm64* ]]
	provide_all cross
	run_setup --dry-run cross
	[[ ${#lines[@]} -eq 1 && $output == */scripts/sysroot' arm64' ]]
	# with the compiler, but no Debian packages: says so
	provide_all cross
	run_setup cross
	[ "$status" -eq 77 ]
	line_has 'sysroot: missing: *'
}

@test "setup: --dry-run with apt (Ubuntu): no lists yet, bpftool in linux-tools" {
	machine $'ID=ubuntu\nID_LIKE=debian' apt-get
	# shellcheck disable=SC2016
	fake apt-cache 'case $2 in bpftool) echo "  Candidate: (none)" ;; *) echo "  Candidate: 6.8" ;; esac'
	provide_all build bpftool
	run_setup --dry-run build
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = 'apt-get update' ]
	[[ ${lines[1]} == *' --no-install-recommends linux-tools-common linux-tools-generic' ]]
	fake apt-cache 'echo "  Candidate: 7.4"'
	run_setup --dry-run build
	[[ ${lines[1]} == *' --no-install-recommends bpftool' ]]
}

@test "setup: --dry-run with dnf (Fedora, and what is like it)" {
	for id in ID=fedora $'ID="rocky"\nID_LIKE="rhel centos fedora"'; do
		machine "$id" dnf
		run_setup --dry-run build
		[ "$status" -eq 0 ]
		line_has 'dnf install -y --setopt=install_weak_deps=False gcc glibc-devel *elfutils-libelf-devel*'
	done
}

@test "setup: --dry-run with pacman (Arch)" {
	machine ID=arch pacman
	run_setup --dry-run demo
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = 'pacman -Sy' ]
	line_has 'pacman -S --needed --noconfirm gcc * bpf * jansson sqlite ncurses'
	mkdir -p "$root/var/lib/pacman/sync"
	: >"$root/var/lib/pacman/sync/core.db"
	run_setup --dry-run demo
	[ "${#lines[@]}" -eq 1 ]
}

@test "setup: --dry-run with zypper (openSUSE); optional needs apart" {
	machine $'ID="opensuse-leap"\nID_LIKE="suse opensuse"' zypper
	run_setup --dry-run test
	[ "$status" -eq 0 ]
	line_has 'zypper --non-interactive install --no-recommends gcc glibc-devel *libjansson-devel*'
	line_has 'zypper --non-interactive install --no-recommends btrfsprogs * bonnie++ * python3'
	[[ ${lines[0]} != *btrfsprogs* ]]
	# several needs, one package: named once
	[[ ${lines[0]} != *' util-linux '*' util-linux'* ]]
}

@test "setup: installs what is missing, once, and looks again" {
	machine ID=fedora dnf ": >'$bin/jq'; $(type -P chmod) +x '$bin/jq'"
	provide_all test jq
	: >"$log"
	run_setup test
	[ "$status" -eq 0 ]
	[ "$output" = 'setup: missing for test: jq; installing with dnf: jq' ]
	[ "$(grep -c ^dnf "$log")" -eq 1 ]
	grep -x 'dnf install -y --setopt=install_weak_deps=False jq' "$log"
}

@test "setup: still missing afterwards is exit 1, with the need and how to get it" {
	machine ID=fedora dnf
	provide_all build libbpf
	run_setup build
	[ "$status" -eq 1 ]
	line_has 'setup: still missing: libbpf (looked for pc:libbpf>=1.0)*dnf install *libbpf-devel*'
}

@test "setup: a failed apt-get install is tried once more with new lists" {
	# shellcheck disable=SC2016
	machine ID=debian apt-get '[[ $1 == update ]] && : >'"'$root/new'; [[ -e $root/new ]]"
	mkdir -p "$root/var/lib/apt/lists"
	: >"$root/var/lib/apt/lists/x_Packages.lz4"
	provide_all build make
	: >"$log"
	run_setup build
	[ "$status" -eq 1 ] # the fake one brings nothing
	grep ^apt-get "$log" | cut -d' ' -f1-2 | diff - <(printf 'apt-get %s\n' install update install)
}

@test "setup: an optional need that cannot be installed is a note" {
	machine ID=fedora dnf 'exit 1'
	provide_all test bonnie++ python3
	run_setup test
	[ "$status" -eq 0 ]
	line_has 'setup: note: not installed (optional): bonnie++'
	line_has 'setup: note: still missing, tests that need it skip: bonnie++ python3'
	# together, then each alone
	grep -x 'dnf install .*weak_deps=False bonnie++ python3' "$log"
	grep -x 'dnf install .*weak_deps=False bonnie++' "$log"
	grep -x 'dnf install .*weak_deps=False python3' "$log"
}

@test "setup: --offers names what is missing and could be fetched now, of what make check takes" {
	machine ID=debian apt-get '[[ $* == *--download-only* && $* != *" fsmark" ]]'
	provide_all test bonnie++ fs_mark
	provide_all kernels QEMU
	run_setup --offers /dev/full bonnie++ fs_mark jq qemu-system-x86_64
	[ "$status" -eq 0 ]
	[ "$output" = bonnie++ ]
	machine ID=alpine apk
	run_setup --offers bonnie++
	[[ $status -eq 0 && ! $output ]]
}

@test "setup: an ordinary user installs with sudo" {
	machine ID=arch pacman
	fake id 'echo 1000'
	# shellcheck disable=SC2016
	fake sudo "echo sudo \"\$@\" >>'$log'"' && "$@"'
	provide_all build make
	run_setup build
	grep -x 'sudo pacman -Sy' "$log"
	grep -x 'sudo pacman -S --needed --noconfirm make' "$log"
	run_setup --dry-run build
	line_has 'sudo pacman -S --needed --noconfirm make'
}

@test "setup: no root and no sudo: the exact command, exit 1" {
	machine ID=debian apt-get
	fake id 'echo 1000'
	mkdir -p "$root/var/lib/apt/lists"
	: >"$root/var/lib/apt/lists/x_Packages"
	provide_all demo sqlite3 make
	: >"$log"
	run_setup demo
	[ "$status" -eq 1 ]
	[ "$output" = 'setup: missing for demo: make sqlite3; not root and no sudo; run as root: env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends make sqlite3' ]
	run grep apt-get "$log"
	[ "$status" -eq 1 ]
	rm "$root/var/lib/apt/lists/x_Packages"
	run_setup demo
	[[ $output == *'run as root: apt-get update && env '* ]]
	provide_all test bonnie++
	run_setup test
	[ "$status" -eq 0 ]
	[ "$output" = 'setup: note: optional, missing: bonnie++' ]
}

@test "setup: unknown package manager: the needs, exit 1" {
	machine ID=alpine apk
	provide_all build make libelf
	run_setup build
	[ "$status" -eq 1 ]
	line_has 'setup: missing for build: make libelf; no known package manager*'
	# known, but its command is not there; no os-release at all
	echo ID=debian >"$root/etc/os-release"
	run_setup build
	[ "$status" -eq 1 ]
	line_has '*missing for build: make libelf; no known*'
	rm "$root/etc/os-release"
	run_setup --dry-run build
	[ "$status" -eq 1 ]
	line_has '*missing for build: make libelf; no known*'
}

@test "setup: biolatency under its other names, commands in sbin" {
	machine ID=fedora dnf
	provide_all test mkfs.ext4
	provide_all truth biolatency
	mkdir -p "$root/usr/sbin"
	fake bpf-biolatency :
	mv "$bin/bpf-biolatency" "$root/usr/sbin"
	fake mkfs.ext4 :
	mv "$bin/mkfs.ext4" "$root/usr/sbin"
	run_setup test
	[ -z "$output" ]
	run_setup truth
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "setup: bpftool that does not run (Ubuntu's wrapper, other kernel) is missing" {
	machine ID=debian apt-get
	provide_all build
	fake bpftool 'echo "not found for this kernel" >&2; exit 2'
	run_setup --dry-run build
	line_has '*install*bpftool'
	mkdir -p "$root/usr/lib/linux-tools/6.8.0-31-generic"
	: >"$root/usr/lib/linux-tools/6.8.0-31-generic/bpftool"
	run_setup build
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "setup: no or a wrong argument is a usage error" {
	run_setup
	[ "$status" -eq 2 ]
	run_setup --dry-run
	[ "$status" -eq 2 ]
	provide_all build
	run_setup build everything
	[ "$status" -eq 2 ]
	[[ $output == usage:* ]]
}
