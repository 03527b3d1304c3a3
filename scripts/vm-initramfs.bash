# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For scripts/vm: what the guest has beside its kernel's modules, as cpio archives. Programs come from this machine, with
# the libraries that they name. Used from there: $CACHE, $TOP, $TMP, $BUILD_DIR, die.

# Those that are here; what is missing is busybox's, if it has it, or the tests skip.
PROGRAMS=(bash sh env cat cp mv rm ln ls mkdir rmdir mkfifo mktemp mknod touch chmod chown stat df du dd sync truncate sleep timeout date
	id whoami basename dirname realpath readlink pwd printf echo true false test expr seq sort uniq cut tr head tail wc tee
	tac od paste join comm split shuf fmt fold nl nproc tty uname env nice nohup stdbuf sha256sum md5sum base64 numfmt
	grep sed awk mawk gawk find xargs diff cmp file bc jq sqlite3 tar gzip xz ps pgrep pkill kill
	mount umount losetup sfdisk setpriv unshare nsenter flock setsid blkid blockdev lsblk findmnt dmesg fallocate fsfreeze
	taskset chrt ionice script wipefs fstrim
	mkfs.ext4 mke2fs tune2fs e2fsck dumpe2fs mkfs.xfs xfs_io mkfs.btrfs btrfs fusermount3
	dmsetup mdadm nvme modprobe insmod rmmod lsmod fio strace iostat tmux bats)
FILES=(/etc/passwd /etc/group /etc/nsswitch.conf /etc/mke2fs.conf /etc/ld.so.cache /usr/lib/locale/C.utf8 /usr/lib/bats-core
	/usr/libexec/bats-core /usr/lib/bats /usr/share/terminfo/x/xterm /lib/terminfo/x/xterm /lib/terminfo/x/xterm-256color
	/lib/terminfo/d/dumb /lib/terminfo/s/screen /lib/terminfo/t/tmux)

program_paths() {
	local name
	for name in "${PROGRAMS[@]}"; do
		PATH=$PATH:/usr/sbin:/sbin type -P "$name"
	done
}

# The libraries that programs name, the loader too: one path per line.
libraries_of() { # FILE...
	ldd "$@" 2>/dev/null | sed -nE 's/^.*(=> |\t)(\/[^ ]+) .*/\2/p' | sort -u
}

# Each path without symbolic links in its directory; what a link points at, as well: as there will be no other /bin.
follow_links() {
	local path target
	while read -r path; do
		while :; do
			path=$(realpath -e "${path%/*}/" 2>/dev/null)/${path##*/}
			[[ -e $path ]] || break
			echo "$path"
			[[ -L $path ]] || break
			target=$(readlink "$path")
			[[ $target == /* ]] || target=${path%/*}/$target
			path=$target
		done
	done
}

# cpio wants each directory before what is in it.
with_parents() {
	awk -F/ '{ p = ""; for (i = 2; i < NF; i++) { p = p "/" $i; print p } print }' | LC_ALL=C sort -u
}

# Below /: names on standard input, the archive on standard output
pack_from_root() {
	sed 's,^/,,' | (cd / && cpio --quiet -o -H newc -R 0:0)
}

# What doesn't change from run to run: sets $USERLAND
pack_userland() {
	local list key link
	list=$({
		program_paths
		program_paths | xargs -d '\n' -n 1 realpath | { mapfile -t programs && libraries_of "${programs[@]}"; }
		find "${FILES[@]}" 2>/dev/null
	} | follow_links | with_parents
	for link in /bin /sbin /lib /lib64; do
		[[ ! -L $link ]] || echo $link
	done)
	key=$(xargs -d '\n' stat -c '%n %s %Y' <<<"$list" | cat - "${BASH_SOURCE[0]}" | sha256sum)
	USERLAND=$CACHE/userland.${key:0:12}.cpio
	[[ ! -e $USERLAND ]] || return 0
	rm -f "$CACHE"/userland.*.cpio
	pack_from_root <<<"$list" >"$USERLAND.new" || die 'cannot pack the programs of this machine'
	mv "$USERLAND.new" "$USERLAND"
}

# The tool, the tests, the command: sets $PROJECT
pack_project() { # WORD...: the command
	local stage=$TMP/project top=$TMP/project/barriertrace file
	mkdir -p "$top/build/tests" "$stage/out" "$stage/busybox"
	cp -r "$TOP/tests" "$TOP/scripts" "$top"
	cp "$BUILD_DIR/barriertrace" "$top/build"
	for file in rigd forge; do
		[[ ! -e $BUILD_DIR/tests/$file ]] || cp "$BUILD_DIR/tests/$file" "$top/build/tests"
	done
	"${CC:-cc}" -O1 -D_GNU_SOURCE -o "$top/build/tests/syncs" "$TOP/tests/truth/syncs.c" 2>/dev/null
	cp "$(type -P busybox)" "$stage/busybox/busybox"
	cp "$TOP/scripts/vm-init.sh" "$stage/init"
	chmod 755 "$stage/init"
	printf '%q ' "$@" >"$stage/command"
	PROJECT=$TMP/project.cpio
	{
		(cd "$stage" && find . -mindepth 1 | cpio --quiet -o -H newc -R 0:0)
		libraries_of "$top/build/barriertrace" "$top/build/tests/"* | follow_links | with_parents | pack_from_root
	} >"$PROJECT" || die 'cannot pack the project'
}
