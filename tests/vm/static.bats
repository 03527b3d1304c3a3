#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# make static and make dist: one file per architecture that runs where nothing else is.

load ../helpers

# Not every distribution has the libraries as archives.
has_archives() {
	local libs
	libs=$(pkg-config --static --libs libbpf libelf zlib libzstd jansson sqlite3 ncursesw) || return
	# shellcheck disable=SC2086 # words
	"${CC:-cc}" -static -x c -o /dev/null - $libs -lm <<<'int main(void) { return 0; }' 2>/dev/null
}

setup_file() {
	has_archives || { export NO_ARCHIVES=1; return 0; }
	make -C "$TOP" -s static O="${BT%/*}" >&2
	if has_cross; then
		make -C "$TOP" -s static ARCH=arm64 O="${BT%/*}" >&2
	fi
}

setup() {
	need_tool
	[[ ! ${NO_ARCHIVES-} ]] || skip 'missing: static archives of the libraries'
	HERE=$(uname -m)
	STATIC=${BT%/*}/static/${HERE/aarch64/arm64}/barriertrace
	ARM64=${BT%/*}/static/arm64/barriertrace
	DIR=$BATS_TEST_TMPDIR/root
	CHROOT=$(PATH=$PATH:/usr/sbin:/sbin type -P chroot)
	export CHROOT
	mkdir -p -m 1777 "$DIR/tmp"
}

teardown() {
	clean_up
}

# alone COMMAND...: in $DIR, which has nothing but the tool and what the test put there, without an environment
alone() {
	cp "$STATIC" "$DIR/barriertrace"
	env -i "$CHROOT" "$DIR" "$@"
}

# alone_with_kernel COMMAND...: and with the kernel's own file systems
alone_with_kernel() {
	cp "$STATIC" "$DIR/barriertrace"
	mkdir -p "$DIR/proc" "$DIR/sys" "$DIR/dev"
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m bash -c 'for d in proc sys dev; do mount --rbind "/$d" "$1/$d" || exit 99; done
		dir=$1; shift; exec env -i ${SUDO_UID+"SUDO_UID=$SUDO_UID" "SUDO_GID=$SUDO_GID"} "$CHROOT" "$dir" "$@"' - \
		"$DIR" "$@"
}

recordings() {
	local file
	for file in "$TOP"/tests/golden/recordings/*.btrec; do
		[[ $file == */cut.btrec ]] || echo "$file"
	done
}

needs_no_library() { # FILE
	need readelf
	run readelf -ld "$1"
	[ "$status" -eq 0 ]
	[[ $output != *NEEDED* && $output != *INTERP* && $output != *'Requesting program interpreter'* ]]
	# a position of its own at each start
	[[ $output == *'DYN '* ]]
}

@test "static: one file, no library, no loader, no path of the build in it" {
	needs_no_library "$STATIC"
	! grep -aqF -e "$TOP/" -e "${BT%/*}/" "$STATIC"
}

@test "static: the same bytes from another folder" {
	local dir=$BATS_TEST_TMPDIR/elsewhere/deep
	mkdir -p "$dir"
	cp -r "$TOP"/{Makefile,VERSION,src,bpf,vmlinux,scripts} "$dir"
	make -s -C "$dir" -j"$(nproc)" static O=out >&2
	cmp "$dir/out/static/${STATIC#*/static/}" "$STATIC"
}

@test "static: in an empty folder: options, reports, files" {
	local file
	need_root
	run alone /barriertrace --version
	[ "$output" = "barriertrace $(<"$TOP/VERSION")" ]
	run alone /barriertrace --help
	[ "$output" = "$("$BT" --help)" ]
	while read -r file; do
		cp "$file" "$DIR/run.btrec"
		alone /barriertrace report run.btrec >"$BATS_TEST_TMPDIR/alone"
		env -i "$BT" report "$file" | cmp - "$BATS_TEST_TMPDIR/alone"
		alone /barriertrace report run.btrec --json - | cmp - <(env -i "$BT" report "$file" --json -)
	done < <(recordings)
	alone /barriertrace report run.btrec --html page.html --flame flame.svg --db run.db --csv csv -o text
	env -i "$BT" report "$DIR/run.btrec" --html "$BATS_TEST_TMPDIR/page.html" -o "$BATS_TEST_TMPDIR/text"
	cmp "$BATS_TEST_TMPDIR/page.html" "$DIR/page.html"
	need sqlite3
	[ "$(sqlite3 "$DIR/run.db" 'PRAGMA integrity_check')" = ok ]
	# nothing to trace with there: one line that says so
	run alone /barriertrace probes
	[ "$status" -ne 0 ]
	[[ $output == barriertrace:* ]]
}

@test "static: traces alone" {
	need_tracing
	need_mount_namespace
	need gcc
	gcc -static -O1 -D_GNU_SOURCE -o "$DIR/syncs" "$TOP/tests/truth/syncs.c"
	alone_with_kernel /barriertrace --json /run.json -- /syncs fdatasync /file 25
	jq -e '.sync.calls.fdatasync == 25' "$DIR/run.json"
}

# A program that says who runs it: its user, its group, its other groups, its home
who() {
	gcc -static -O1 -x c -o "$DIR/who" - <<-'EOF'
		#include <grp.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <unistd.h>
		int main(void)
		{
			gid_t groups[32];
			int n = getgroups(32, groups);

			printf("%d %d", (int)getuid(), (int)getgid());
			for (int i = 0; i < n; i++)
				if (groups[i] != getgid())
					printf(" %d", (int)groups[i]);
			printf(" %s\n", getenv("HOME"));
			return 0;
		}
	EOF
}

@test "static: knows the users and groups of the files, and says what it does not know" {
	need_tracing
	need_mount_namespace
	need gcc
	who
	mkdir -p "$DIR/etc"
	echo 'passwd: files sss systemd' >"$DIR/etc/nsswitch.conf"
	printf '%s\n' root:x:0:0:root:/root:/bin/sh 'broken line' someone:x:4242:4243::/home/someone:/bin/sh >"$DIR/etc/passwd"
	printf '%s\n' some:x:4243: disk:x:6:else,someone none:x:7:someoneelse more:x:8:someone >"$DIR/etc/group"
	SUDO_UID=4242 SUDO_GID=4243 run alone_with_kernel /barriertrace -q -o /tmp/text -- /who
	echo "$status: $output"
	# 5: the kernel kept an event to itself, which is not what is asked here
	[[ $status == [05] && ${lines[0]} == '4242 4243 6 8 /home/someone' ]]
	SUDO_UID=4244 SUDO_GID=4243 run alone_with_kernel /barriertrace -o /tmp/other -- /who
	echo "$status: $output"
	[[ $status == [05] && $output == *'note: user 4244 is not in /etc/passwd'* && $output == *$'\n4244 4243 '* ]]
}

# on_terminal TERM: what the static tool writes to a terminal of this kind
on_terminal() {
	# script was seen to wait for ever at the end of its input: this one has none
	[[ -p $BATS_TEST_TMPDIR/input ]] || mkfifo "$BATS_TEST_TMPDIR/input"
	timeout 60 script -qec "TERM=$1 $STATIC -d 0.5 $RIG_DISK" /dev/null <>"$BATS_TEST_TMPDIR/input"
}

@test "static: a screen where this machine knows the terminal, else plain text and one line" {
	local term
	need_rig
	need script infocmp
	rig_up
	for term in xterm xterm-256color linux screen tmux-256color; do
		infocmp "$term" >/dev/null 2>&1 || continue
		run on_terminal "$term"
		[ "$status" -eq 0 ]
		# the line of keys
		[[ $output == *$'\e'*quit*histogram* && $output != *terminfo* ]] || { echo "$term: $output"; return 1; }
	done
	run on_terminal nonsense
	[ "$status" -eq 0 ]
	[ "$(grep -c terminfo <<<"$output")" -eq 1 ]
	[[ $output == *'barriertrace: no live screen: this machine has no terminfo for TERM=nonsense'* && $output != *histogram* ]]
}

@test "static: arm64: no library; its reports are those of this machine, byte for byte" {
	local file qemu
	need_cross
	needs_no_library "$ARM64"
	qemu=$(type -P qemu-aarch64-static || type -P qemu-aarch64) || skip 'missing: qemu-aarch64'
	[ "$("$qemu" "$ARM64" --version)" = "barriertrace $(<"$TOP/VERSION")" ]
	while read -r file; do
		"$qemu" "$ARM64" report "$file" | cmp - <("$BT" report "$file")
		"$qemu" "$ARM64" report "$file" --json - | cmp - <("$BT" report "$file" --json -)
	done < <(recordings)
}

@test "make dist: a file for each architecture, with size and sum" {
	local dist=${BT%/*}/dist name
	need_cross
	run make -C "$TOP" -s dist O="${BT%/*}"
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 2 ]
	for name in arm64 x86_64; do
		name=barriertrace-$(<"$TOP/VERSION")-linux-$name
		[[ $output == *"$(stat -c %s "$dist/$name") $(sha256sum <"$dist/$name" | cut -d' ' -f1) $name"* ]]
	done
	(cd "$dist" && sha256sum -c SHA256SUMS)
	cmp "$dist/$name" "${BT%/*}/static/x86_64/barriertrace"
}

@test "make static: an architecture that it does not know, and one whose compiler is not there" {
	run make -C "$TOP" -s static ARCH=mips O="$BATS_TEST_TMPDIR/o"
	[ "$status" -ne 0 ]
	[[ $output == *'no such architecture here: mips'* ]]
	XDG_CACHE_HOME=$BATS_TEST_TMPDIR/empty run make -C "$TOP" -s static ARCH=arm64 O="$BATS_TEST_TMPDIR/o"
	[ "$status" -ne 0 ]
	[[ $output == *'to build for arm64, first: scripts/setup cross'* ]]
}
