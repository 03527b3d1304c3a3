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
		grep -nE "#include \"(probe|collect|render|session|commands|options)" src/analyse/*.[ch]
		grep -nE "#include \"(probe|collect|analyse|session|commands|options|wire|event)" src/render/*.[ch]
		grep -nE "#include \"(probe|collect|analyse|render|report|wire|event)" src/base/*.[ch] | grep -v hist_geometry
		grep -nE "#include \"(analyse/|render|session|commands)" src/probe/*.[ch]
		grep -nE "#include \"(render|session|commands)" src/collect/*.[ch]
		grep -nE "#include \"(probe|analyse|render|session|commands|options|wire|event)" src/doctor/*.[ch]
		grep -nE "#include \"(probe|analyse|render|session|commands|options|wire|event|report|outcome)" src/experiment/*.[ch]
		grep -nE "#include \"(probe|collect|analyse|render|report|session|commands|options|wire|event)" src/workload/*.[ch]
		grep -nE "(printf|puts|putchar|fwrite) ?\(|stderr|stdout" src/analyse/*.c src/render/*.c src/probe/*.c src/collect/*.c src/doctor/*.c src/experiment/*.c src/workload/*.c |
			grep -vE "snprintf|asprintf|buf_v?printf"
		true'
	[ -z "$output" ] || { echo "$output"; false; }
}

@test "shell scripts pass shellcheck" {
	need shellcheck
	run shellcheck -x scripts/* .ci/run tests/rig/rig
	[ "$status" -eq 0 ] || { echo "$output"; false; }
}
