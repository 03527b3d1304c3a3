#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/check and .ci/run, with small test files made here.

setup() {
	top=$BATS_TEST_DIRNAME/../..
	check=$top/scripts/check
	cd "$BATS_TEST_TMPDIR" || return
	pids=$PWD/pids # of what the test files below leave behind
	: >"$pids"
}

teardown() {
	local pid
	while read -r pid; do
		kill -KILL "$pid" 2>/dev/null || true
	done <"$pids"
}

none_left() { # and COUNT pids were written down
	local pid
	[ "$(wc -l <"$pids")" -eq "$1" ]
	while read -r pid; do
		[ ! -e "/proc/$pid" ] || grep -q '^State:.[ZX]' "/proc/$pid/status"
	done <"$pids"
}

bats_file() { # NAME: from stdin
	mkdir -p "$(dirname "$1")"
	cat >"$1"
}

# Tests for these files (not written as @test "name" { here: bats would take a
# line that begins with that for one of this file).
test_case() { printf '@%s "%s" { %s; }\n' test "$1" "$2"; }
passing() { test_case "${1-good}" 'echo not shown; true'; }
failing() { test_case bad 'echo first line; echo second line; false'; }
skipping() { test_case absent 'skip "no such disk"'; }
hanging() { # in the process group of the test, and in another one
	test_case stuck "sleep 600 & echo \$! >>'$pids'; timeout 600 bash -c 'echo \$\$ >>$pids; exec sleep 600'"
}
# shellcheck disable=SC2016
crashing() { test_case crash 'kill -KILL $PPID $$'; }

unit() { # NAME STATEMENTS: a unit test program
	printf '#!/bin/bash\n%s\n' "$2" >"$1"
	chmod +x "$1"
}

last_line() {
	echo "$output" # for the report, if this fails
	[ "${lines[-1]}" = "$1" ]
}

@test "check: all passed is exit 0, one line each, the count last" {
	{ passing one; passing two; } | bats_file a.bats
	run "$check" a.bats
	[ "$status" -eq 0 ]
	last_line '2 passed, 0 failed, 0 skipped'
	[ "${lines[0]}" = '== a.bats' ]
	[ "${lines[1]}" = '  ok    one' ]
	[ "${lines[2]}" = '  ok    two' ]
	[[ $output != *'not shown'* ]]
}

@test "check: the count is on stdout" {
	passing | bats_file a.bats
	run bash -c '"$1" a.bats 2>/dev/null' - "$check"
	last_line '1 passed, 0 failed, 0 skipped'
}

@test "check: a failed test is exit 1 and shown in full" {
	{ passing; failing; skipping; } | bats_file a.bats
	run "$check" a.bats
	[ "$status" -eq 1 ]
	last_line '1 passed, 1 failed, 1 skipped'
	[[ $output == *'  FAIL  bad'*'first line'*'second line'* ]]
	# and again at the end: of a log often only that is kept
	[[ $output == *$'failed:\n  a.bats: bad\n'*'      # second line'* ]]
}

@test "check: a file with a failure runs once more, alone, at the end" {
	# passes from its second run on
	{ passing one; test_case shy 'echo >>"$BATS_TEST_DIRNAME/shy"; (($(wc -l <"$BATS_TEST_DIRNAME/shy") > 1))'; } | bats_file a.bats
	passing other | bats_file b.bats
	run "$check" a.bats b.bats
	[ "$status" -eq 0 ]
	last_line '3 passed, 0 failed, 0 skipped'
	[[ $output == *'  FAIL  shy'*'== a.bats (second try)'*'  ok    shy'* && $output == *'  ok    other'*'(second try)'* ]]
	[[ $output == *$'needed a second try:\n  a.bats: \'shy\'\n3 passed'* ]]
	rm shy
	failing | bats_file b.bats
	run "$check" a.bats b.bats
	[ "$status" -eq 1 ]
	last_line '2 passed, 1 failed, 0 skipped'
	[[ $output == *"needed a second try:"*"a.bats: 'shy'"*'failed:'*'b.bats: bad'* ]]
}

@test "check: a skip for what the set-up can install is a failure, in CI only" {
	mkdir scripts
	cp "$check" scripts
	# shellcheck disable=SC2016
	unit scripts/setup 'echo "$*" >>asked; for w in "${@:2}"; do [[ $w != bonnie++ ]] || echo "$w"; done'
	{ test_case tool 'skip "missing: iozone, bonnie++"'; test_case other 'skip "missing: /dev/full"'; skipping; } | bats_file a.bats
	CI=true run scripts/check a.bats
	[ "$status" -eq 1 ]
	last_line '0 passed, 1 failed, 2 skipped'
	[[ $output == *'  FAIL  tool (skipped, but scripts/setup has bonnie++)'* ]]
	[[ $(sort -u asked) == $'--offers /dev/full\n--offers iozone bonnie++' ]]
	passing | bats_file b.bats
	CI='' run scripts/check a.bats b.bats
	[ "$status" -eq 0 ]
	last_line '1 passed, 0 failed, 3 skipped'
}

@test "check -k: tests whose name contains a text, as it stands" {
	{ passing 'a [b] c'; passing 'a b c'; } | bats_file a.bats
	{ passing 'no such'; failing; } | bats_file b.bats
	unit t 'echo "ok 1 - sum"; echo "not ok 2 - with [b] in it"; echo 1..2; exit 1'
	run "$check" -k '[b]' a.bats b.bats
	[ "$status" -eq 0 ]
	last_line '1 passed, 0 failed, 0 skipped'
	[[ $output != *b.bats* ]]
	run "$check" -k '[b]' t a.bats
	[ "$status" -eq 1 ]
	last_line '1 passed, 1 failed, 0 skipped'
	run "$check" -k 'nowhere' t a.bats
	[ "$status" -eq 1 ]
	[[ $output == *'no test ran with this in its name: nowhere'* ]]
}

@test "check -n: how often each test passed, without second tries" {
	{ passing one; test_case shy 'echo >>"$BATS_TEST_DIRNAME/shy"; (($(wc -l <"$BATS_TEST_DIRNAME/shy") != 2))'; } | bats_file a.bats
	run "$check" -n 3 a.bats
	[ "$status" -eq 1 ]
	[[ $output == *$'  3 of 3  a.bats: one\n  2 of 3  a.bats: shy\n'* && $output != *'second try'* ]]
}

@test "check -o: a row per file" {
	{ passing one; skipping; } | bats_file cli/a.bats
	failing | bats_file cli/b.bats
	echo before >rows
	run "$check" -o rows -t quick cli
	[ "$status" -eq 1 ]
	[[ $(cut -f 1-6 rows) == $'before\nquick\tcli/a.bats\t1\t0\t1\t0\nquick\tcli/b.bats\t0\t1\t0\t0' ]]
	sed -i 1d rows
	run "$top/scripts/check-table" rows
	echo "$output"
	[[ ${lines[1]} =~ ^quick\ +cli/a.bats\ +1\ +0\ +1\ +0\ +[0-9]+$ ]]
	[[ ${lines[3]} =~ ^all\ +1\ +1\ +1\ +0\ +[0-9]+$ ]]
}

@test "check: the slowest tests are listed" {
	{ passing quick; test_case slow 'sleep 1.1'; } | bats_file a.bats
	run "$check" a.bats
	[[ $output == *$'slowest:\n    1.'?$' s  a.bats: slow\n2 passed'* ]]
}

@test "check: what a test waits for too long is killed, with the output so far shown, and the next test runs" {
	{ test_case long 'echo so far; sleep 30; echo never'; passing; } | bats_file a.bats
	BARRIERTRACE_TEST_LIMIT=3 run timeout 30 "$check" a.bats
	[ "$status" -eq 1 ]
	last_line '1 passed, 1 failed, 0 skipped'
	[[ $output == *'FAIL  long'*'so far'*'no result for 3 s: what it waited for was killed'* ]]
	# one that goes on all the same
	{ test_case stubborn 'n=0; while ((n++ < 100)); do sleep 0.1 || true; done'; passing never; } | bats_file a.bats
	BARRIERTRACE_TEST_LIMIT=1 run timeout 30 "$check" a.bats
	[ "$status" -eq 1 ]
	last_line '0 passed, 1 failed, 0 skipped'
	[[ $output == *'FAIL  no result 1 s later: stopped'* ]]
}

@test "check: a wrong option is a usage error" {
	run "$check" -x
	[[ $status -eq 2 && $output == *'usage: scripts/check '* ]]
	run "$check" -n many
	[[ $status -eq 2 && $output == *'usage: scripts/check '* ]]
}

@test "check: skips are listed with their reasons at the end, and are no failure" {
	{ skipping; passing; } | bats_file a.bats
	run "$check" a.bats
	[ "$status" -eq 0 ]
	last_line '1 passed, 0 failed, 1 skipped'
	[[ $output == *'  ok    good'*$'skipped:\n  a.bats: absent: no such disk\n'* ]]
}

@test "check: a crashed file is counted as failed, and the next one runs" {
	{ passing; crashing; passing never; } | bats_file a.bats
	passing other | bats_file b.bats
	run "$check" a.bats b.bats
	[ "$status" -eq 1 ]
	[[ $output == *$'failed:\n  a.bats: '* ]]
	[[ $output == *'  ok    other'* ]]
}

@test "check: a file that bats cannot read is counted as failed" {
	echo 'if then' | bats_file a.bats
	run "$check" a.bats
	[ "$status" -eq 1 ]
	[[ ${lines[-1]} =~ ^'0 passed, '[1-9][0-9]*' failed, 0 skipped'$ ]]
}

@test "check: a file that hangs is stopped with all it started, and named" {
	{ passing before; hanging; } | bats_file a.bats
	passing other | bats_file b.bats
	BARRIERTRACE_CHECK_LIMIT=3 run timeout 60 "$check" a.bats b.bats 3>&-
	[ "$status" -eq 1 ]
	last_line '2 passed, 1 failed, 0 skipped'
	[[ $output == *'  ok    before'* ]]
	[[ $output == *'a.bats: time limit of 3 s: stopped'* ]]
	[[ $output == *'  ok    other'* ]]
	none_left 4 # of both tries
}

@test "check: a program that ignores SIGTERM is killed at its limit" {
	unit t 'trap "" TERM; echo $$ >>pids; echo 1..1; while :; do sleep 0.2; done'
	mkdir none
	BARRIERTRACE_CHECK_LIMIT=1 run timeout 60 "$check" t none 3>&-
	[ "$status" -eq 1 ]
	last_line '0 passed, 1 failed, 0 skipped'
	none_left 2
}

@test "check: a program that leaves a process behind on its output does not block" {
	unit t "sleep 600 & echo \$! >>'$pids'; echo 1..1; echo ok 1 - x"
	mkdir none
	BARRIERTRACE_CHECK_LIMIT=30 run timeout 20 "$check" t none 3>&-
	[ "$status" -eq 1 ]
	[[ $output == *'t: left processes behind'* ]]
	none_left 2
}

# kernel_says TAINT: run the check with a kernel that says the lines of the file said, and has such a taint, once the test has run
kernel_says() {
	local name
	mkdir -p path
	echo "[[ \$1 == /proc/sys/kernel/tainted ]] || exec $(type -P cat) \"\$@\"; [[ -e ran ]] && echo $1 || echo 1" >path/cat
	echo 'echo "[ 1.0] WARNING: of the boot"; [[ ! -e ran ]] || exec cat said' >path/dmesg
	for name in dmesg cat; do
		sed -i '1i #!/bin/bash' path/$name
		chmod +x path/$name
	done
	PATH=$PWD/path:$PATH run "$check" a.bats
	echo "$output"
}

@test "check: a file that traces fails if the kernel complains meanwhile, and gets no second try" {
	local line
	{ echo 'need''_tracing() { :; }'; test_case traces ": >'$PWD/ran'"; } | bats_file a.bats
	while IFS= read -r line; do
		printf '[ 2.0] loop0: detected\n[ 2.1] %s\n' "$line" >said
		rm -f ran
		kernel_says 1
		[[ $status == 1 && $output == *'  FAIL  the kernel complained'*" $line"* && $output != *'second try'* && $output != *'of the boot'* ]]
	done <<-'END'
		WARNING: CPU: 0 PID: 1 at kernel/bpf/verifier.c:1
		BUG: sleeping function called from invalid context
		Call Trace:
		RIP: 0010:bpf_prog_run
	END
	rm ran
	echo '[ 2.0] loop0: detected' >said
	kernel_says $((1 | 1 << 9))
	[[ $status == 1 && $output == *'the kernel is tainted: 512 '* ]]
}

@test "check: of a busy host the kernel's complaints are none of ours; nor has a log that cannot be read" {
	local line
	{ echo 'need''_tracing() { :; }'; test_case traces ": >'$PWD/ran'"; } | bats_file a.bats
	for line in 'watchdog: BUG: soft lockup - CPU#0 stuck for 22s!' 'rcu: INFO: rcu_preempt self-detected stall on CPU'; do
		printf '[ 2.0] %s\n[ 2.1] RIP: 0010:x\n[ 2.2] Call Trace:\n' "$line" >said
		rm -f ran
		kernel_says $((1 | 1 << 14))
		[[ $status == 0 ]]
	done
	echo '[ 3.0] WARNING: CPU: 0' >>said
	rm -f ran
	kernel_says 1
	[[ $status == 1 && $output == *'3.0] WARNING'* ]]
	printf '#!/bin/sh\necho "dmesg: not permitted" >&2; exit 1\n' >path/dmesg
	PATH=$PWD/path:$PATH run "$check" a.bats
	[[ $status == 0 && $output == *"  skip  the kernel's log: dmesg: not permitted"* ]]
}

@test "check: unit test programs: ok, not ok and SKIP lines" {
	unit t 'echo quiet; echo "ok 1 - sum"; echo why; echo "not ok 2 - order"
		echo "# more"; echo "ok 3 - trace # SKIP no tracefs"; echo 1..3; exit 1'
	mkdir none
	run "$check" ./t none
	[ "$status" -eq 1 ]
	last_line '1 passed, 1 failed, 1 skipped'
	[[ $output == *$'  ok    sum\n  FAIL  order\n        why\n        # more\n  skip  trace: no tracefs\n'* ]]
	[[ $output != *quiet* ]]
}

@test "check: a whole program can be skipped" {
	unit t 'echo "1..0 # SKIP no kernel BTF"'
	passing | bats_file a.bats
	run "$check" t a.bats
	[ "$status" -eq 0 ]
	last_line '1 passed, 0 failed, 1 skipped'
	[[ $output == *'t: all of it: no kernel BTF'* ]]
}

@test "check: no plan, fewer or more results than planned, a bad exit status" {
	mkdir none
	local case
	for case in 'echo ok 1 - x' 'echo 1..2; echo ok 1 - x' 'echo 1..1; echo ok 1 - x; echo ok 2 - y' \
		'echo 1..1; echo ok 1 - x; exit 3' 'echo 1..1; echo ok 1 - x; kill -SEGV $$'; do
		unit t "$case"
		run "$check" t none
		echo "$case: $output"
		[ "$status" -eq 1 ]
		[[ ${lines[-1]} == *' passed, 1 failed, 0 skipped' ]]
		[[ $case == 'echo 1'* || $output == *'t: no plan'* ]]
	done
}

@test "check: a test file that is not there is counted as failed" {
	passing | bats_file a.bats
	run "$check" a.bats b.bats ./t
	[ "$status" -eq 1 ]
	last_line '1 passed, 2 failed, 0 skipped'
}

@test "check: no tests at all, or only skipped ones, is exit 1" {
	mkdir none
	run "$check" none
	[ "$status" -eq 1 ]
	last_line '0 passed, 0 failed, 0 skipped'
	skipping | bats_file a.bats
	run "$check" a.bats
	[ "$status" -eq 1 ]
	last_line '0 passed, 0 failed, 1 skipped'
	bats_file e.bats </dev/null
	run "$check" e.bats
	[ "$status" -eq 1 ]
	last_line '0 passed, 1 failed, 0 skipped'
}

@test "check: without an argument it runs tests, each file once; not what other tiers have" {
	mkdir scripts
	cp "$check" scripts/check
	unit t 'echo 1..1; echo ok 1 - binary'
	passing cli | bats_file tests/cli/a.bats
	passing golden | bats_file tests/golden/a.bats
	passing live | bats_file tests/live/a.bats
	failing | bats_file tests/truth/a.bats
	failing | bats_file tests/vm/a.bats
	run scripts/check
	[ "$status" -eq 0 ]
	last_line '3 passed, 0 failed, 0 skipped'
	run scripts/check t
	[ "$status" -eq 0 ]
	last_line '1 passed, 0 failed, 0 skipped'
	run scripts/check tests tests/cli/a.bats tests/cli
	last_line '3 passed, 0 failed, 0 skipped'
}

@test "check: files run side by side, of those that trace one at a time; -s: all one after the other" {
	(($(nproc) > 1)) || skip 'missing: a second CPU'
	# three that wait for each other, one of which traces; another one that does so must not meet the first
	unit meet 'echo >>met; for i in {1..100}; do (($(wc -l <met) < 3)) || exit 0; sleep 0.1; done; exit 1'
	test_case first "cd '$PWD' && ./meet" >first
	bats_file tests/cli/a.bats <first
	bats_file tests/golden/a.bats <first
	{ echo 'need''_tracing() { :; }'; test_case traces "cd '$PWD' && mkdir lane && ./meet && sleep 0.5 && rmdir lane"; } | bats_file tests/live/a.bats
	{ echo 'need''_tracing() { :; }'; test_case too "mkdir '$PWD/lane' && rmdir '$PWD/lane'"; } | bats_file tests/live/b.bats
	skipping | bats_file tests/style/a.bats
	run "$check" tests
	[ "$status" -eq 0 ]
	last_line '4 passed, 0 failed, 1 skipped'
	[[ $output != *'second try'* ]]
	[[ $output == *'skipped:
  tests/style/a.bats: absent: no such disk'* ]]
	test_case one "rm -f '$PWD/met'; sleep 0.5; [ ! -e '$PWD/met' ]" | bats_file tests/cli/a.bats
	test_case two "echo >>'$PWD/met'" | bats_file tests/golden/a.bats
	run "$check" -s tests/cli/a.bats tests/golden/a.bats
	[ "$status" -eq 0 ]
}

@test "check -b: what is built first, beside those that trace; if that fails nothing else runs" {
	unit built 'echo 1..1; echo "ok 1 - $(cat made)"'
	{ echo 'need''_tracing() { :; }'; test_case traces "cd '$PWD' && [ ! -e made ]"; } | bats_file a.bats
	run "$check" -b 'sleep 2; echo in time >made' a.bats built
	[ "$status" -eq 0 ]
	last_line '2 passed, 0 failed, 0 skipped'
	[[ $output == *'ok    in time'* ]]
	rm made
	for how in '' -s; do
		run "$check" $how -b 'echo error: no such thing; false' a.bats built
		[ "$status" -eq 1 ]
		last_line '0 passed, 1 failed, 0 skipped'
		[[ $output == *$'error: no such thing\nfailed: echo error: no such thing; false'* && $output != *'== built'* ]]
	done
	run "$check" -b 'touch made' built # a single one
	last_line '1 passed, 0 failed, 0 skipped'
	[ -e made ]
}

@test "check: what runs beside the others ends with it" {
	mkdir scripts
	cp "$check" scripts/check
	hanging | bats_file tests/golden/a.bats
	hanging | bats_file tests/cli/a.bats
	scripts/check >out 2>&1 3>&- &
	local pid=$! i
	for ((i = 0; i < 100; i++)); do
		[[ $(wc -l <"$pids") != 4 ]] || break
		sleep 0.1
	done
	kill "$pid"
	wait "$pid" || true
	none_left 4
}

@test "check: results are shown while the only file runs" {
	unit t "echo ok 1 - early; sleep 600 & echo \$! >>'$pids'; wait"
	mkdir none
	"$check" t none >out 2>&1 3>&- &
	local pid=$! i
	for ((i = 0; i < 50; i++)); do
		grep -q 'ok    early' out && break
		sleep 0.1
	done
	kill "$pid"
	wait "$pid" || true
	grep 'ok    early' out
	# and nothing is left of it when it is told to stop
	none_left 1
}

@test "check: works for an ordinary user" {
	[ "$(id -u)" -eq 0 ] || skip 'not root: the other tests have shown it'
	local dir
	dir=$(mktemp -d)
	{ passing; failing; } >"$dir/a.bats"
	cp "$check" "$dir/check"
	chmod -R a+rX "$dir"
	cd "$dir"
	run setpriv --reuid=65534 --regid=65534 --clear-groups \
		env HOME=/ TMPDIR=/tmp ./check a.bats
	cd "$BATS_TEST_TMPDIR"
	rm -rf "$dir"
	last_line '1 passed, 1 failed, 0 skipped'
}

@test "check-often: a row per run, with what needed a second try, and the exit status of all" {
	mkdir scripts bin
	cp "$top/scripts/check-often" scripts
	# shellcheck disable=SC2016
	unit bin/make '[[ $* == check && $CI == true ]] || exit 9
		printf "%s\n" "slowest:" "  1.0 s" "needed a second try:" "  a.bats: '"'one'"'" "  b.bats: '"'two'"'" "3 passed, 0 failed, 1 skipped"; exit "$(cat exit)"'
	echo 0 >exit
	PATH=$PWD/bin:$PATH BUILD=$PWD/build run scripts/check-often 2
	[ "$status" -eq 0 ]
	[[ $(cut -f 3-7 build/check-often.tsv | uniq -c | tail -n 1) == "      2 nothing	3	0	1	a.bats: 'one'; b.bats: 'two'" ]]
	[[ $output == *$'when\tcommit\tbeside\tpassed'* ]]
	echo 1 >exit
	PATH=$PWD/bin:$PATH BUILD=$PWD/build run scripts/check-often -b cpu
	[ "$status" -eq 1 ]
	[[ $(tail -n 1 build/check-often.tsv) == *$'\tcpu\t3\t'* ]]
	run scripts/check-often -b noise
	[ "$status" -eq 2 ]
}

ci() { # RECIPE: .ci/run with a make check that does this
	mkdir -p .ci
	cp "$top/.ci/run" .ci/run
	printf 'check:\n\t@%s\n' "$1" >Makefile
	MAKEFLAGS='' MAKELEVEL=0 run .ci/run
}

@test ".ci/run: exit status and last line of make check" {
	ci 'echo noise; echo "3 passed, 0 failed, 1 skipped"'
	[ "$status" -eq 0 ]
	last_line '3 passed, 0 failed, 1 skipped'
	[ "${#lines[@]}" -eq 2 ]
	ci 'echo "3 passed, 1 failed, 1 skipped"; exit 1'
	[ "$status" -eq 2 ]
	last_line '3 passed, 1 failed, 1 skipped'
}

@test ".ci/run: a make check without a good count is a failure" {
	ci 'echo something'
	[ "$status" -eq 1 ]
	last_line '0 passed, 1 failed, 0 skipped'
	ci 'echo "3 passed, 2 failed, 1 skipped"'
	[ "$status" -eq 1 ]
	ci 'kill -KILL $$$$'
	[ "$status" -ne 0 ]
	last_line '0 passed, 1 failed, 0 skipped'
}
