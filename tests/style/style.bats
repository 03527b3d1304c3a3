#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The rules of the house that a machine can check.

setup() {
	load ../rig/helpers
	cd "$BATS_TEST_DIRNAME/../.." || return 1
}

# Tracked files, or in a tarball all but the build directory.
files() { # PATTERN..
	if git rev-parse --git-dir >/dev/null 2>&1; then
		git ls-files --cached --others --exclude-standard -- "$@"
	else
		local p
		for p; do find . -path ./build -prune -o -name "$p" -print; done
	fi
}

@test "every source file says its licence" {
	run bash -c 'for f; do head -3 "$f" | grep -q "SPDX-License-Identifier: GPL-2.0-only" || echo "$f"; done' - \
		$(files '*.c' '*.h' '*.bats' '*.bash' 'scripts/*' Makefile .ci/run tests/rig/rig)
	[ -z "$output" ] || { echo "$output"; false; }
}

@test "no function is longer than 120 lines, main is shorter than 40" {
	need ctags
	run bash -c 'ctags --languages=C --c-kinds=f --fields=+ne -o - "$@" | awk -F"\t" "{l=0; e=0
		for (i = 4; i <= NF; i++) { if (\$i ~ /^line:/) l = substr(\$i, 6); if (\$i ~ /^end:/) e = substr(\$i, 5) }
		n = e - l + 1; if (n > 120 || (\$1 == \"main\" && \$2 ~ /^src/ && n >= 40)) print n, \$1, \$2 }"' - \
		$(files '*.c' '*.h')
	[ -z "$output" ] || { echo "$output"; false; }
}

@test "data goes one way: each stage includes only what it may use" {
	# stage: what it must not include
	run bash -c '
		grep -rnE "#include \"(probe|recording|host|run|render|cmd)/" src/analyse
		grep -rnE "#include \"(probe|recording|host|run|analyse|cmd)/|\"wire.h" src/render
		grep -rnE "#include \"(probe|recording|host|run|analyse|render|model|cmd)/|\"wire.h" src/util
		grep -rnE "#include \"(host|analyse|render|run|recording|cmd)/" src/probe
		grep -rnE "#include \"(render|run)/" src/host src/recording
		grep -rnE "#include \"(probe|analyse|render|run|recording|cmd)/|\"wire.h" src/doctor
		grep -rnE "#include \"(probe|render|recording|cmd)/|\"wire.h" src/experiment
		grep -rnE "#include \"(probe|render|run|recording|cmd)/|\"wire.h" src/bench
		grep -rnE "(printf|puts|putchar|fwrite) ?\(|stderr|stdout" --include="*.c" src/analyse src/render src/probe src/host src/recording src/doctor src/experiment src/bench |
			grep -vE "snprintf|asprintf|buf_v?printf"
		true'
	[ -z "$output" ] || { echo "$output"; false; }
}

@test "shell scripts pass shellcheck" {
	need shellcheck
	run shellcheck -x scripts/* .ci/run tests/rig/rig
	[ "$status" -eq 0 ] || { echo "$output"; false; }
}
