# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For scripts/sysroot and scripts/vm: Debian packages of another architecture, with all that they depend on, unpacked in a
# directory. None is installed and none of their scripts is run. Used from there: $CACHE, $DEB_ARCH, vm-kernel.bash, say, die, unavailable.

# The suite of this machine if it is a Debian, so that both sides are of one age.
foreign_suite() {
	local id='' name='' key value
	while IFS='=' read -r key value; do
		case $key in ID) id=${value//\"/} ;; VERSION_CODENAME) name=${value//\"/} ;; esac
	done </etc/os-release
	[[ $id == debian && $name ]] && echo "$name" || echo trixie
}

# tree_of NAME PACKAGE...: the directory; another one for other packages
tree_of() {
	local suite key
	suite=$(foreign_suite)
	key=$(printf '%s ' "$suite" "${@:2}" | sha256sum)
	echo "$CACHE/trees/$1-$DEB_ARCH-$suite.${key:0:12}"
}

# fetch_packages SUITE DIR PACKAGE...: and what they depend on; apt checks them against the suite's signed lists
fetch_packages() {
	local suite=$1 debs=$2
	shift 2
	mkdir -p "$debs/partial"
	private_apt "$suite" apt-get install -y --download-only --no-install-recommends -o Dir::Cache::archives="$debs" "$@" \
		>"$debs/log" 2>&1 || unavailable "cannot fetch $*: $(tail -n 1 "$debs/log")"
}

# make_tree NAME PACKAGE...: unpack it if it isn't there, and print where
make_tree() {
	local dir suite deb
	dir=$(tree_of "$@")
	if [[ ! -e $dir/.complete ]]; then
		[[ -e $KEYRING ]] || unavailable "missing: $KEYRING (package debian-archive-keyring)"
		suite=$(foreign_suite)
		fresh_lists "$suite" || unavailable "no Debian $suite for $DEB_ARCH from the mirror of this machine's apt"
		say "unpacking $DEB_ARCH packages of $suite"
		# another checkout may use another list of packages
		find "$CACHE/trees" -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf {} + 2>/dev/null
		rm -rf "$dir"
		mkdir -p "$dir/usr/lib" "$dir/usr/bin" "$dir/usr/sbin"
		ln -s usr/bin usr/sbin usr/lib "$dir"
		fetch_packages "$suite" "$dir/.debs" "${@:2}"
		for deb in "$dir"/.debs/*.deb; do
			dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$dir" --exclude='./usr/share/doc/*' \
				--exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' --exclude='./dev/*' ||
				die "cannot unpack $deb"
		done
		rm -rf "$dir/.debs"
		: >"$dir/.complete"
	fi
	echo "$dir"
}
