# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For scripts/vm: what the guest has beside its kernel's modules, as cpio archives. Programs come from this machine, or for another
# architecture from Debian's packages unpacked in $ROOT, with the libraries that they name.
# Used from there: $CACHE, $TOP, $TMP, $BUILD_DIR, $TOOL, $ARCH, foreign.bash, die.

# Those that are here; what is missing is busybox's, if it has it, or the tests skip.
PROGRAMS=(bash sh env cat cp mv rm ln ls mkdir rmdir mkfifo mktemp mknod touch chmod chown stat df du dd sync truncate sleep timeout date
	id whoami basename dirname realpath readlink pwd printf echo true false test expr seq sort uniq cut tr head tail wc tee
	tac od paste join comm split shuf fmt fold nl nproc tty uname env nice nohup stdbuf sha256sum md5sum base64 numfmt
	grep sed awk mawk gawk find xargs diff cmp file bc jq sqlite3 tar gzip xz ps pgrep pkill kill
	mount umount losetup sfdisk setpriv unshare nsenter flock setsid blkid blockdev lsblk findmnt dmesg fallocate fsfreeze blkdiscard addpart
	taskset chrt ionice script wipefs fstrim
	mkfs.ext4 mke2fs tune2fs e2fsck dumpe2fs mkfs.xfs xfs_io mkfs.btrfs btrfs fusermount3
	dmsetup mdadm nvme smartctl hdparm cryptsetup modprobe insmod rmmod lsmod fio strace iostat biolatency tmux busybox)
# The same for every architecture
FILES=(/etc/passwd /etc/group /etc/nsswitch.conf /etc/mke2fs.conf /usr/lib/locale/C.utf8 /usr/bin/bats /usr/lib/bats-core
	/usr/libexec/bats-core /usr/lib/bats /usr/share/terminfo/x/xterm /lib/terminfo/x/xterm /lib/terminfo/x/xterm-256color
	/lib/terminfo/d/dumb /lib/terminfo/s/screen /lib/terminfo/t/tmux)
# Where those programs are, for another architecture
PACKAGES=(bash coreutils findutils grep sed mawk gawk diffutils procps util-linux mount fdisk e2fsprogs xfsprogs btrfs-progs
	jq sqlite3 tar gzip xz-utils bc file kmod dmsetup mdadm nvme-cli fio strace sysstat tmux busybox-static fuse3)

# $ROOT: nothing for this machine's own programs
find_root() {
	ROOT=''
	[[ $ARCH == "$(uname -m)" ]] || ROOT=$(make_tree userland "${PACKAGES[@]}") || exit
}

# Paths below $ROOT, without it; so in all that follows.
program_paths() {
	local name dir
	for name in "${PROGRAMS[@]}"; do
		if [[ ! $ROOT ]]; then
			PATH=$PATH:/usr/sbin:/sbin type -P "$name"
			continue
		fi
		for dir in /usr/sbin /usr/bin; do
			[[ ! -x $ROOT$dir/$name ]] || echo "$dir/$name"
		done
	done
}

# The libraries that programs name, the loader too: one path per line.
libraries_of() { # FILE...
	if [[ $ROOT ]]; then
		foreign_libraries_of "$@"
	else
		ldd "$@" 2>/dev/null | sed -nE 's/^.*(=> |\t)(\/[^ ]+) .*/\2/p' | sort -u
	fi
}

# The same without running the loader: round by round those that the last ones name
foreign_libraries_of() { # FILE...
	local all=() new=("$@") names name path
	local -A seen=()
	while ((${#new[@]})); do
		mapfile -t names < <(readelf -dl "${new[@]}" 2>/dev/null |
			sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p; s/.*program interpreter: (.*)\]/\1/p' | sort -u)
		new=()
		for name in "${names[@]}"; do
			[[ ! ${seen[$name]-} ]] || continue
			seen[$name]=1
			case $name in
			/*) path=$ROOT$name ;;
			*) path=$(find "$ROOT/usr/lib/" -name "$name" -print -quit) ;;
			esac
			[[ ! $path ]] || { new+=("$path") && all+=("${path#"$ROOT"}"); }
		done
	done
	((!${#all[@]})) || printf '%s\n' "${all[@]}"
}

# Each path without symbolic links in its directory; what a link points at, as well: as there will be no other /bin.
follow_links() {
	local path target
	while read -r path; do
		while :; do
			path=$(realpath -e "$ROOT${path%/*}/" 2>/dev/null)/${path##*/}
			[[ -e $path || -L $path ]] || break
			path=${path#"$ROOT"}
			echo "$path"
			[[ -L $ROOT$path ]] || break
			target=$(readlink "$ROOT$path")
			[[ $target == /* ]] || target=${path%/*}/$target
			path=$target
		done
	done
}

# cpio wants each directory before what is in it.
with_parents() {
	awk -F/ '{ p = ""; for (i = 2; i < NF; i++) { p = p "/" $i; print p } print }' | LC_ALL=C sort -u
}

# Names on standard input, the archive on standard output
pack_from_root() {
	sed 's,^/,,' | (cd "$ROOT/" && cpio --quiet -o -H newc -R 0:0)
}

pack_files() {
	local ROOT=''
	{ find "${FILES[@]}" 2>/dev/null || :; } | follow_links | with_parents | pack_from_root
}

# What doesn't change from run to run: sets $USERLAND
pack_userland() {
	local list key link path
	find_root
	list=$({
		program_paths
		program_paths | sed "s,^,$ROOT," | xargs -d '\n' -n 1 realpath | { mapfile -t programs && libraries_of "${programs[@]}"; }
		[[ $ROOT ]] || ls -d /etc/ld.so.cache
	} | follow_links | with_parents
	for link in /bin /sbin /lib /lib64; do
		[[ ! -L $ROOT$link ]] || echo $link
	done)
	key=$({
		while read -r path; do echo "$ROOT$path"; done <<<"$list"
		find "${FILES[@]}" 2>/dev/null
	} | xargs -d '\n' stat -c '%n %s %Y' | cat - "${BASH_SOURCE[0]}" | sha256sum)
	USERLAND=$CACHE/userland-$ARCH.${key:0:12}.cpio
	[[ ! -e $USERLAND ]] || return 0
	rm -f "$CACHE/userland-$ARCH".*.cpio
	{
		pack_from_root <<<"$list"
		pack_files
	} >"$USERLAND.new" || die 'cannot pack the programs of the guest'
	mv "$USERLAND.new" "$USERLAND"
}

compiler_here() { # ARGUMENT...: of the guest's architecture
	if [[ $ROOT ]]; then
		"${ARCH/arm64/aarch64}-linux-gnu-gcc" --sysroot="$("$TOP/scripts/sysroot" --where "$ARCH")" -static "$@"
	else
		"${CC:-cc}" "$@"
	fi
}

# arm64 has 32-bit calls from whole programs for arm only. It takes no compiler more: clang is every architecture's, the cross linker arm's, too.
build_compat() { # FILE
	local source=$TOP/tests/live/compat.c
	if [[ $ARCH == arm64 ]]; then
		clang --target=arm-linux-gnueabi -march=armv7-a -marm -O1 -ffreestanding -c -o "$TMP/compat.o" "$source" &&
			aarch64-linux-gnu-ld -m armelf_linux_eabi -static -o "$1" "$TMP/compat.o"
	else
		compiler_here -O1 -D_GNU_SOURCE -o "$1" "$source"
	fi
}

# The tool, the tests, the command: sets $PROJECT
pack_project() { # WORD...: the command
	local stage=$TMP/project top=$TMP/project/barriertrace file
	mkdir -p "$top/build/tests" "$stage/out" "$stage/busybox"
	cp -r "$TOP/tests" "$TOP/scripts" "$top"
	cp "$TOOL" "$top/build"
	for file in rigd forge gauge; do
		[[ ! -e ${TOOL%/*}/tests/$file ]] || cp "${TOOL%/*}/tests/$file" "$top/build/tests"
	done
	[[ ! -e ${TOOL%/*}/tests/empty.o ]] || cp "${TOOL%/*}/tests/empty.o" "$top/build"
	compiler_here -O1 -D_GNU_SOURCE -o "$top/build/tests/syncs" "$TOP/tests/truth/syncs.c" 2>/dev/null
	[[ ! $ROOT ]] || compiler_here -O2 -std=gnu11 -I=/usr/include/fuse3 -o "$top/build/tests/rigd" "$TOP/tests/rig/rigd.c" \
		-lfuse3 -lpthread -ldl 2>/dev/null
	build_compat "$top/build/tests/compat" 2>/dev/null
	cp "$(program_paths | grep '/busybox$' | sed "s,^,$ROOT,")" "$stage/busybox/busybox"
	cp "$TOP/scripts/vm-init.sh" "$stage/init"
	chmod 755 "$stage/init"
	printf '%q ' "$@" >"$stage/command"
	PROJECT=$TMP/project.cpio
	{
		(cd "$stage" && find . -mindepth 1 | cpio --quiet -o -H newc -R 0:0)
		libraries_of "$top/build/barriertrace" "$top/build/tests/"* | follow_links | with_parents | pack_from_root
	} >"$PROJECT" || die 'cannot pack the project'
}
