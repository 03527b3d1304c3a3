#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The rules of the house that a machine can check.

bats_require_minimum_version 1.5.0

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
		$(files '*.c' '*.h' '*.bats' '*.bash' 'scripts/*' Makefile .ci/run tests/rig/rig tests/style/include-graph tests/style/frames)
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

# A row whose help is NULL is hidden from help, man page and completion; only the tests' own tables have such rows.
@test "every option of a command says what it does" {
	local row='\{ "[a-z-]+",\s[^,]+,\s[^,]+,\s[A-Z_]+,[\s\\]*'
	(($(grep -rPzoh "$row\"" src | tr '\0' '\n' | grep -c '{') > 60))
	run grep -rPzo "${row}NULL" src
	[[ $status == 1 ]] || { echo "$output"; false; }
}

ROOMS=docs/explanation/architecture.md

@test "data goes one way: a folder includes only what the table of rooms allows" {
	run tests/style/include-graph $ROOMS src
	[[ $status == 0 && ! $output ]] || { echo "$output"; false; }
}

@test "an include that the table of rooms does not allow is found, and so is a circle of folders" {
	local tree=$BATS_TEST_TMPDIR/src
	cp -r src "$tree"
	echo '#include "run/run.h"' >>"$tree/render/text/layout.c"
	run -1 tests/style/include-graph $ROOMS "$tree"
	[[ $output == 'src/render/text/layout.c: #include "run/run.h"' ]]
	cp src/render/text/layout.c "$tree/render/text"
	echo '#include <bpf/libbpf.h>' >>"$tree/util/num.h"
	run -1 tests/style/include-graph $ROOMS "$tree"
	[[ $output == 'src/util/num.h: #include <bpf/libbpf.h>' ]]
	cp src/util/num.h "$tree/util"
	echo '#include "analyse/whatif/whatif.h"' >>"$tree/analyse/ledger/walk.h"
	run -1 tests/style/include-graph <(sed 's|^. .src/analyse/whatif/.*|&\n\| `src/analyse/ledger/` \| `analyse/whatif/` \||' $ROOMS) "$tree"
	[[ $output == 'a circle: '* && $output == *analyse/whatif* && ${#lines[@]} == 1 ]]
	cp src/analyse/ledger/walk.h "$tree/analyse/ledger"
	mkdir "$tree/attic"
	echo '#include "util/num.h"' >"$tree/attic/old.c"
	run -1 tests/style/include-graph $ROOMS "$tree"
	[[ ${lines[0]} == 'src/attic/ has no row' ]]
}

@test "verdict and what-if are made in one place" {
	run bash -c 'grep -rlE "\b(verdict_make|whatif_make)\(" src | LC_ALL=C sort | xargs'
	[[ $output == 'src/analyse/analysis.h src/analyse/report_builder.c src/analyse/verdict/verdict.c'\
' src/analyse/verdict/verdict.h src/analyse/whatif/whatif.c src/analyse/whatif/whatif.h' ]] || { echo "$output"; false; }
}

# Comments apart. What a stage knows goes to its caller: it is a command that speaks.
uses() { # TREE: "KIND FILE" of each, in order
	(cd "$1" && find src bpf -name '*.[ch]' -exec perl -0777 -ne '
		BEGIN {
			%text = (
				tmp => qr{"[^"\n]*/tmp\b},
				write => qr/\bf?(re|d)?open ?\([^;]*"[rb]*[wa+]|\bcreat ?\(|\bO_(WRONLY|RDWR|CREAT|TMPFILE)\b/,
			);
			%code = (
				environment => qr/\b(secure_)?getenv ?\(/,
				shell => qr/\b(system|popen) ?\(/,
				stream => qr/\b(v?f?printf|v?dprintf|f?puts|f?putc|putchar|fwrite|perror|bpf_\w*printk) ?\(|\bstd(err|out)\b|\blog_(error|note|verbose|progress)/,
			);
		}
		sub look {
			my ($text, %kind) = @_;
			for (keys %kind) {
				print "$_ ", $_ eq "stream" && $ARGV =~ m{^(src/cmd/)} ? $1 : $ARGV, "\n" if $text =~ $kind{$_};
			}
		}
		s{("(?:\\.|[^"\\\n])*")|/\*.*?\*/|//[^\n]*}{$1 // ""}gse;
		look($_, %text);
		look(s/"(?:\\.|[^"\\\n])*"//gr, %code);' {} +) | LC_ALL=C sort -u
}

# ... and why. A row that nothing needs any more is an error, too.
MAY_USE=$(
	cat <<-'END'
		environment src/cmd/live_screen.c       what the terminal is
		environment src/cmd/outputs.c           colours, languages
		environment src/host/caller.c           who called sudo
		environment src/host/command.c          PATH, as execvp() reads it
		stream src/cmd/                         commands speak
		stream src/util/log.c                   their words
		stream src/util/log.h                   likewise
		stream src/util/mem.c                   without memory nobody can be told anything
		stream src/util/patient.c               a stream in memory
		write src/bench/worker.c                /dev/null
		write src/bench/workload_barrier.c      the files of a bench, in its own folder
		write src/bench/workload_io.c           likewise
		write src/bench/workload_sync.c         likewise
		write src/experiment/experiment_runner.c  /dev/null
		write src/experiment/restore_file.c     what has to be put back
		write src/experiment/tunable.c          a setting in sysfs or procfs
		write src/main.c                        /dev/null
		write src/recording/writer.c            recordings
		write src/util/outfile.c                every other file that a user asks for
	END
)

@test "environment, shells, streams, /tmp and files to write are for the files that may use them" {
	run diff <(awk '{ print $1, $2 }' <<<"$MAY_USE") <(uses .)
	[[ $status == 0 ]] || { echo "$output"; false; }
}

@test "what only some files may use is found elsewhere" {
	local line tree=$BATS_TEST_TMPDIR found
	mkdir "$tree"/{src,bpf}
	while read -r found line; do
		printf '/* %s */\nint f(void)\n{\n\t%s\n}\n' "$line" "$line" >"$tree/src/a.c"
		run uses "$tree"
		[[ $output == "${found/-/}"* && (! ${found/-/} || $output == "$found src/a.c") ]] || { echo "$line: $output"; false; }
	done <<-'END'
		environment  return getenv("X") != NULL;
		write  FILE *f = fopen(path, "we");
		write  FILE *f = fopen(path, "r+");
		write  int fd = open(path, O_CREAT | O_TRUNC, 0600);
		shell  system("reboot");
		shell  FILE *f = popen(command, "r");
		tmp  const char *log = "/tmp/log";
		stream  perror("x");
		stream  fputs("here\n", to);
		stream  bpf_printk("here");
		-  FILE *f = fopen("/sys/block/*/stat", "re"); // not getenv("X")
		-  snprintf(b, sizeof(b), "system time");
	END
}

@test "all commands are read, helped and refused by one skeleton" {
	run bash -c 'grep -rlE "\b(options_parse|options_help|outfile_write)\(" src --include="*.c" | LC_ALL=C sort | xargs'
	[[ $output == 'src/cmd/cmd.c src/cmd/options.c src/cmd/options_doc.c src/cmd/outputs.c src/util/outfile.c' ]] ||
		{ echo "$output"; false; }
}

@test "a run waits in one place, and leaves maps to those who know them" {
	run bash -c 'grep -rlE "\bp?poll ?\(|epoll_wait|\bselect ?\(" src/run | xargs'
	[[ $output == src/run/run_loop.c ]] || { echo "$output"; false; }
	run bash -c 'grep -rnE "include [<\"](bpf/|probe/maps\.h)" src | grep -v ^src/probe/'
	[ -z "$output" ] || { echo "$output"; false; }
	[[ $(wc -l <src/main.c) -le 60 ]]
}

@test "a chain of calls of a BPF program fits on the stack, of older kernels too" {
	need llvm-objdump
	run tests/style/frames "${BUILD:-build}/bpf/barriertrace.o"
	[ "$status" -eq 0 ]
	((${#lines[@]} > 50))
	[[ $output == *" send_kept learn make_state"* ]]
	((${lines[0]%% *} <= 512)) || { head -5 <<<"$output"; false; }
	! awk '$2 > 8' <<<"$output" | grep .
}

@test "C is laid out as .clang-format says" {
	need clang-format-14
	files '*.c' '*.h' | sed 's|^[.]/||' | grep -E '^(src|bpf|tests)/' | xargs -P "$(nproc)" -n 30 clang-format-14 --dry-run -Werror
}

@test "shell scripts pass shellcheck" {
	need shellcheck
	run shellcheck -x scripts/* .ci/run tests/rig/rig tests/style/include-graph tests/style/frames
	[ "$status" -eq 0 ] || { echo "$output"; false; }
}

# CHANGELOG.md names what was.
@test "functions and files that a document names are there" {
	local page name missing=()
	for page in $(files '*.md'); do
		[[ $page != *CHANGELOG.md ]] || continue
		for name in $(grep -ohE '`[a-z0-9_]+\(\)`' "$page" | tr -d '\`()'); do
			grep -rqE --include='*.[ch]' "\b$name ?\(" src bpf tests || missing+=("$page: $name()")
		done
		for name in $(grep -ohE '`(bpf|docs|scripts|src|tests|vmlinux)/[A-Za-z0-9_./-]+`' "$page" | tr -d '\`'); do
			[[ -e $name ]] || missing+=("$page: $name")
		done
	done
	((!${#missing[@]})) || { printf '%s\n' "${missing[@]}"; false; }
}

@test "the tests that the security document names are there" {
	local file name missing=()
	while IFS=: read -r file name; do
		name=${name%%[….]*}
		name=${name# }
		grep -qF -e "${name% }" "tests/$file" || missing+=("$file: $name")
	done < <(grep -oE '`[a-z]+/[a-z_]+\.bats`: [^;|)]+' docs/explanation/security.md | tr -d '`')
	((!${#missing[@]})) || { printf '%s\n' "${missing[@]}"; false; }
}

@test "what a document links to is there, and README has at most 120 lines" {
	local page target missing=()
	for page in $(files '*.md'); do
		while read -r target; do
			[[ $target == *://* || $target == *" "* || -e $(dirname "$page")/$target ]] || missing+=("$page: $target")
		done < <(grep -oE '\]\([^)#]+' "$page" | cut -c3-)
	done
	((!${#missing[@]})) || { printf '%s\n' "${missing[@]}"; false; }
	(($(wc -l <README.md) <= 120))
}
