#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/vm where no kernel can be had, without any guest.

setup() {
	load ../helpers
	need apt-get
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR APT_CONFIG=$BATS_TEST_TMPDIR/apt.conf
	# nobody listens there
	printf '%s\n' 'Acquire::http::Proxy "http://127.0.0.1:9";' 'Acquire::https::Proxy "http://127.0.0.1:9";' 'Acquire::Retries "0";' >"$APT_CONFIG"
}

fetch() { # KERNEL
	run "$TOP/scripts/vm" --fetch "$1"
	echo "$output"
	[[ $output != *'missing: '* ]] || skip "${lines[-1]#vm: }"
	[ "$status" -eq 77 ]
}

suites_asked() {
	ls "$XDG_CACHE_HOME"/barriertrace/vm/apt/*/log | wc -l
}

@test "vm: a mirror that does not answer is asked once for all kernels, and named" {
	apt-get indextargets --format "\$(REPO_URI)" 'Created-By: Packages' 'Origin: Debian' | grep -q . || skip "missing: a Debian mirror"
	fetch 6.1
	[ "${lines[-1]}" = "vm: no kernel of the series of 6.1 for amd64, cloud: this machine's mirror does not answer, and none is cached" ]
	fetch 7.2
	[ "$(suites_asked)" -eq 1 ]
	# five minutes later
	touch -d '-10 min' "$XDG_CACHE_HOME/barriertrace/vm/apt/silent"
	fetch 7.2
	[ "$(suites_asked)" -eq 2 ]
}

@test "vm: a machine whose apt knows no Debian has no kernels" {
	echo "Dir::Etc::sourcelist \"/dev/null\"; Dir::Etc::sourceparts \"-\";" >>"$APT_CONFIG"
	fetch 6.1
	[ "${lines[-1]}" = "vm: no kernel of the series of 6.1 for amd64, cloud: not in the suites of this machine's mirror, and none is cached" ]
}
