# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For scripts/vm: find a Debian kernel of a series, fetch it, and take out of its packages what a guest needs.
# Used from there: $CACHE, $DEB_ARCH (amd64, arm64), $FLAVOUR (cloud, generic), say, die, unavailable.

# Where to look, in this order; the first suite that has the series gives it.
SUITES=(bullseye bullseye-security bookworm bookworm-security trixie trixie-security
	bookworm-backports trixie-backports forky sid experimental)
# Only so that not every suite has to be asked first.
declare -A HINT=([5.10]=bullseye [6.1]=bookworm [6.12]=trixie [6.18]=trixie-backports [7.2]=trixie-backports)
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
LISTS_MINUTES=1440
# A mirror that did not answer isn't asked again for as long: there may be a dozen guests, and eleven suites to look in for each.
PATIENCE_MINUTES=5

# What guests can be asked to do takes these, where the kernel has them as modules.
MODULES=(virtio_pci virtio_console virtio_blk virtio_scsi virtio_rng nvme ahci ata_piix sd_mod scsi_debug loop brd null_blk
	fuse ext4 xfs btrfs configfs dm_mod dm_delay dm_flakey dm_crypt raid1 bfq kyber_iosched mq_deadline
	xts aes_generic aesni_intel aes_ce_blk crc32c_generic crc32c_intel crc32c_cryptoapi sha256_generic)

# The mirrors that the machine's own apt uses for Debian. LABEL: Debian, Debian-Security
mirror() {
	apt-get indextargets --format "\$(REPO_URI)" 'Created-By: Packages' 'Origin: Debian' "Label: $1" 2>/dev/null | sed -n 1p
}

# private_apt SUITE PROGRAM ARGUMENT...: with lists and a state of their own
private_apt() {
	local dir=$CACHE/apt/$1 program=$2
	shift 2
	LC_ALL=C "$program" -qq -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State="$dir" \
		-o Dir::State::lists="$dir/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$dir/cache" \
		-o APT::Architecture="$DEB_ARCH" -o APT::Architectures="$DEB_ARCH" -o APT::Sandbox::User="$(id -un)" \
		-o Acquire::Languages=none -o APT::Get::List-Cleanup=false "$@"
}

# No answer at all, unlike one that there is no such suite
mirror_is_silent() {
	[[ $(find "$CACHE/apt/silent" -mmin -$PATIENCE_MINUTES 2>/dev/null) ]]
}

# Its signed lists are fetched when they are a day old. False: there are none.
fresh_lists() { # SUITE
	local dir=$CACHE/apt/$1 label=Debian uri
	local stamp=$dir/lists.$DEB_ARCH
	[[ $1 != *-security ]] || label=Debian-Security
	[[ ! $(find "$stamp" -mmin -$LISTS_MINUTES 2>/dev/null) ]] || return 0
	! mirror_is_silent || return
	uri=$(mirror $label)
	[[ $uri ]] || return
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	echo "deb [signed-by=$KEYRING] $uri $1 main" >"$dir/sources.list"
	private_apt "$1" apt-get update >"$dir/log" 2>&1 && ! grep -q '^[WE]:' "$dir/log" && : >"$stamp" && return
	! grep -q 'Could not connect\|Could not resolve\|Temporary failure\|Unable to connect\|timed out' "$dir/log" || : >"$CACHE/apt/silent"
	return 1
}

# The suite's kernels as "package version"
suite_kernels() { # SUITE
	local list=$CACHE/apt/$1/kernels.$DEB_ARCH
	if fresh_lists "$1" && [[ ! $list -nt $CACHE/apt/$1/lists.$DEB_ARCH ]]; then
		private_apt "$1" apt-cache dumpavail | awk -v arch="$DEB_ARCH" '
			/^Package: / { p = $2 }
			/^Version: / { v = $2 }
			/^$/ && p ~ "^linux-image-[0-9].*-" arch "$" && p !~ /-(dbg|unsigned)/ { print p, v; p = "" }' >"$list.new"
		mv "$list.new" "$list"
	fi
	[[ ! -e $list ]] || cat "$list"
}

# "version package", the highest version last
of_series() { # SERIES: reads suite_kernels
	local package version kind
	while read -r package version; do
		case ${package%"-$DEB_ARCH"} in
		*-cloud) kind=cloud ;;
		*-rt | *-16k) continue ;;
		*) kind=generic ;;
		esac
		[[ $kind == "$FLAVOUR" && ($version == "$1".* || $version == "$1"[-~]*) ]] && echo "$version $package"
	done | sort -V
}

upstream() { # VERSION: 6.1.176 of 6.1.176-1~bpo
	echo "${1%%[-~]*}"
}

# nearest VERSION: of the lines of of_series: itself, else the next one, else the last one
nearest() {
	local version package last=''
	while read -r version package; do
		last="$version $package"
		[[ $(printf '%s\n%s\n' "$1" "$(upstream "$version")" | sort -V | sed -n 1p) != "$1" ]] || break
	done
	[[ ! $last ]] || echo "$last"
}

# find_kernel SERIES-OR-VERSION: sets K_PACKAGE, K_VERSION, K_SUITE
find_kernel() {
	local series suite found
	series=$(sed -E 's/^([0-9]+\.[0-9]+).*/\1/' <<<"$1")
	for suite in ${HINT[$series]:+"${HINT[$series]}"} "${SUITES[@]}"; do
		found=$(suite_kernels "$suite" | of_series "$series")
		[[ $found ]] || continue
		if [[ $1 == "$series" ]]; then
			found=${found##*$'\n'}
		else
			found=$(nearest "$1" <<<"$found")
		fi
		read -r K_VERSION K_PACKAGE <<<"$found"
		K_SUITE=$suite
		return
	done
	return 1
}

# What the mirror no longer has may still be here: sets the same.
find_cached_kernel() { # SERIES-OR-VERSION
	local found deb
	found=$(for deb in "$CACHE"/debs/linux-image-*_"$DEB_ARCH".deb; do
		[[ ! -e $deb ]] || { deb=${deb##*/} && deb=${deb%_*} && echo "${deb%%_*} ${deb#*_}"; }
	done | of_series "$(sed -E 's/^([0-9]+\.[0-9]+).*/\1/' <<<"$1")" | tail -n 1)
	[[ $found ]] || return 1
	read -r K_VERSION K_PACKAGE <<<"$found"
	K_SUITE='the cache'
}

# From 6.19 on a kernel is several packages, the image being an empty one: one per line, those that are still there.
parts() {
	local release=${K_PACKAGE#linux-image-} part
	echo "$K_PACKAGE"
	for part in linux-{base,binary,modules}-"$release"; do
		if [[ -e $CACHE/debs/${part}_${K_VERSION}_$DEB_ARCH.deb ]] ||
			[[ $(private_apt "$K_SUITE" apt-cache show "$part=$K_VERSION" 2>/dev/null) ]]; then
			echo "$part"
		fi
	done
}

# fetch PACKAGE: into the cache, if it isn't there; apt checks what it fetches against its signed lists, and
# the sum from there is kept for later. Prints the file's name.
fetch() {
	local deb=$1_${K_VERSION}_$DEB_ARCH.deb sum
	if [[ ! -e $CACHE/debs/$deb ]]; then
		(cd "$CACHE/debs/new" && private_apt "$K_SUITE" apt-get download "$1:$DEB_ARCH=$K_VERSION" >"$CACHE/debs/log" 2>&1) ||
			unavailable "no kernel $K_VERSION for $DEB_ARCH, $FLAVOUR: cannot fetch $1: $(tail -n 1 "$CACHE/debs/log")"
		sum=$(private_apt "$K_SUITE" apt-cache show "$1=$K_VERSION" | sed -n 's/^SHA256: //p' | sed -n 1p)
		mv "$CACHE/debs/new/"* "$CACHE/debs/$deb"
		echo "$sum  $deb" >"$CACHE/debs/$deb.sha256"
	fi
	(cd "$CACHE/debs" && sha256sum --quiet -c "$deb.sha256") >&2 ||
		{ rm -f "$CACHE/debs/$deb"*; die "$deb was damaged and is gone from the cache: run this again"; }
	echo "$CACHE/debs/$deb"
}

# The modules with those that they need, unpacked (a guest without KVM is slow at that), as a cpio archive.
pack_modules() { # ROOT RELEASE: of the unpacked packages; writes an archive to standard output
	local root=$1 release=$2 stage=$1/stage dir=$1/stage/usr/lib/modules/$2 name file
	mkdir -p "$dir"
	ln -s usr/lib "$stage/lib"
	depmod -b "$root" "$release" 2>/dev/null
	for name in "${MODULES[@]}"; do
		modprobe -d "$root" -S "$release" --show-depends "$name" 2>/dev/null
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
		name=$dir/${file##*/}
		case $file in
		*.xz) xz -dc "$file" >"${name%.xz}" ;;
		*.zst) zstd -qdc "$file" >"${name%.zst}" ;;
		*) cp "$file" "$name" ;;
		esac
	done
	cp "$root/lib/modules/$release/"modules.{builtin,builtin.modinfo,order} "$dir" 2>/dev/null
	depmod -b "$stage" "$release"
	(cd "$stage" && find usr | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0)
}

unpack() { # RELEASE DIR: the packages there
	local dir=$2 root=$2/root part deb image
	mkdir -p "$root/usr/lib" "$CACHE/debs/new"
	ln -s usr/lib "$root/lib"
	for part in $(parts); do
		deb=$(fetch "$part") || exit
		# not -x: its symbolic link lib would have to give way to a directory
		dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$root" || die "cannot unpack $deb"
	done
	for image in "$root/boot/vmlinuz-$1" "$root/usr/lib/modules/$1/vmlinuz"; do
		[[ ! -e $image ]] || cp "$image" "$dir/vmlinuz"
	done
	[[ -e $dir/vmlinuz ]] || die "no kernel in $K_PACKAGE"
	pack_modules "$root" "$1" >"$dir/modules.cpio" || die "cannot pack the modules of $1"
	rm -rf "$root"
	(cd "$dir" && sha256sum vmlinuz modules.cpio >sums)
}

# get_kernel SERIES-OR-VERSION: sets K_DIR, which has vmlinuz and modules.cpio, and says what it is
get_kernel() {
	local key release why="not in the suites of this machine's mirror"
	[[ -e $KEYRING ]] || unavailable "missing: $KEYRING (package debian-archive-keyring)"
	if ! find_kernel "$1" && ! find_cached_kernel "$1"; then
		! mirror_is_silent || why="this machine's mirror does not answer"
		unavailable "no kernel of the series of $1 for $DEB_ARCH, $FLAVOUR: $why, and none is cached"
	fi
	release=${K_PACKAGE#linux-image-}
	if [[ $1 =~ ^[0-9]+\.[0-9]+\. && $(upstream "$K_VERSION") != "$1" ]]; then
		say "$1 is not there; instead, the nearest one of its series: $K_VERSION ($K_SUITE)"
	else
		say "kernel $release, package version $K_VERSION ($K_SUITE)"
	fi
	key=$(printf '%s ' "${MODULES[@]}" "$K_VERSION" | sha256sum)
	K_DIR=$CACHE/kernels/$release.${key:0:12}
	if [[ -e $K_DIR/sums ]] && (cd "$K_DIR" && sha256sum --quiet -c sums >&2); then
		return
	fi
	rm -rf "$K_DIR"
	unpack "$release" "$K_DIR"
}
