#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What cannot be done is said in one line on standard error, with the status of
# report-schema.md, and nothing is left behind half-written.

bats_require_minimum_version 1.5.0
load ../helpers

setup() {
	need_tool
	cd "$BATS_TEST_TMPDIR" || return
	mkdir work
	cd work || return
}

teardown() {
	cd /
	clean_up
}

any_disk() {
	need_tracing
	quiet_disk
}

# refused STATUS TEXT COMMAND...: this status, one line with this text (a pattern
# of [[ ]]) on standard error, nothing on standard output, no file here
refused() {
	local expected=$1 text=$2 status=0
	shift 2
	timeout 20 "$@" >../out 2>../err </dev/null || status=$?
	echo "status $status, out: $(head -n 5 ../out), err:"
	cat ../err
	# a loaded machine loses some
	sed -i '/events\? w[a-z]* lost: the report is incomplete$/d' ../err
	[[ $status == "$expected" ]]
	[[ $(wc -l <../err) == 1 ]]
	[[ $(<../err) == barriertrace:* && $(<../err) == *$text* ]]
	# no control characters, whoever wrote them
	[[ ! $(tr -d '\n' <../err) =~ [[:cntrl:]] ]]
	(($(wc -c <../err) < 500))
	[[ ! -s ../out ]]
	[[ ! $(ls -A) ]]
}

bad() { # STATUS TEXT ARGUMENT...
	local expected=$1 text=$2
	shift 2
	refused "$expected" "$text" "$BT" "$@"
}

@test "bad input: an unknown disk, with the names that there are" {
	any_disk
	bad 2 "no disk called '${DISK}x': there are *$DISK" "${DISK}x" -o report --json json
	bad 2 "no disk called '/dev/${DISK}x': there are *$DISK" "/dev/${DISK}x" -o report
	bad 2 "'/absent/dir'" /absent/dir -o report
	bad 2 empty '' -o report
}

@test "bad input: a command where a disk is expected" {
	any_disk
	bad 2 "no disk called 'docter': there are *; or did you mean barriertrace doctor?" docter
	bad 2 "no disk called 'true': there are *; a command to run stands behind --" true
	bad 2 "no disk called 'true': there are *; a command to run stands behind --" record -o rec true
	# where there is a command, or a disk before it, it is a disk that was meant
	[[ $("$BT" true -- true 2>&1) != *'behind --'* ]]
	[[ $("$BT" "$DISK" true 2>&1) != *'behind --'* ]]
}

@test "bad input: a partition of nothing" {
	need_root
	mknod ../node b 200 17 || skip "missing: the right to mknod"
	bad 2 "node' is block device 200:17" ../node -o report
	bad 2 '' /dev/null -o report
}

@test "bad input: a file on no disk" {
	bad 2 'proc' /proc/version -o report
}

@test "bad input: not root" {
	any_disk
	need setpriv
	chmod 777 . .. # that nothing is written isn't for lack of permission
	cp "$BT" ../bt
	refused 3 'run it as root' setpriv --reuid 65534 --regid 65534 --clear-groups ../bt "$DISK" -d 0.1 -o report
	refused 3 'run it as root' setpriv --reuid 65534 --regid 65534 --clear-groups ../bt "$DISK" -- true
}

# in_namespace SCRIPT ARGUMENT...: $0 is the tool
in_namespace() {
	unshare -m "$BASH" -ec "$1" "$BT" "${@:2}"
}

@test "bad input: no BTF" {
	any_disk
	need_mount_namespace
	refused 4 'no type information (BTF)*CONFIG_DEBUG_INFO_BTF' unshare -m "$BASH" -ec \
		'mount -t tmpfs none /sys/kernel/btf && exec "$0" "$@"' "$BT" "$DISK" -d 0.1 -o report
}

LOCKED='mount -t tmpfs none /sys/kernel/security && echo "$1" >/sys/kernel/security/lockdown; shift'

@test "bad input: a kernel locked down" {
	any_disk
	need_mount_namespace
	need setpriv
	[[ -d /sys/kernel/security ]] || skip "missing: /sys/kernel/security"
	# the kernel of this machine refuses for another reason; what it says is the same EPERM
	refused 4 'lock*down' unshare -m "$BASH" -ec \
		"$LOCKED; exec setpriv --bounding-set -sys_admin,-bpf,-perfmon \"\$0\" \"\$@\"" "$BT" \
		'none integrity [confidentiality]' "$DISK" -d 0.1 -o report
	# without that, it isn't called so
	refused 3 'run it as root' setpriv --bounding-set -sys_admin,-bpf,-perfmon "$BT" "$DISK" -d 0.1 -o report
	in_namespace "$LOCKED; exec \"\$0\" \"\$@\"" 'none [integrity] confidentiality' "$DISK" -d 0.1 --json ../json -o ../text
	[[ $(jq -r '.probes[0].state' ../json) == attached ]]
}

# What classic tracepoints have to be looked up in is mounted where nobody sees it.
@test "bad input: no tracefs is none" {
	# shellcheck disable=SC2016  # for the inner shell
	local hide='for d in /sys/kernel/tracing /sys/kernel/debug; do [ ! -d $d ] || mount -t tmpfs none $d; done; cat /proc/$$/mountinfo >../mounts'
	any_disk
	need_mount_namespace
	in_namespace "$hide; exec \"\$0\" \"\$@\"" "$DISK" -d 0.1 --json ../json -o ../text 2>../err
	[[ ! -s ../err ]]
	[[ $(jq -r '.probes[0].state' ../json) == attached ]]
	# shellcheck disable=SC2016  # for the inner shell
	in_namespace "$hide"'; "$0" "$@" sh -c "cat /proc/self/mountinfo >../during" && cmp ../during ../mounts && cmp /proc/$$/mountinfo ../mounts' \
		"$DISK" --rung sync=tp --json ../json -o ../text -- 2>../err
	[[ ! -s ../err ]]
	[[ $(jq -r '.probes[] | select(.name == "sync.enter").rung' ../json) == tp ]]
}

@test "bad input: no such command, none that can be run" {
	any_disk
	echo text >../plain
	bad 127 "'./absent': not found" "$DISK" -o report --json json -- ./absent
	bad 127 "'absent-command': not found" "$DISK" -o report -- absent-command
	bad 127 "'': " "$DISK" -o report -- ''
	# for a benchmark: how it can be had
	refused 127 "'fs_mark': not found; on Debian: apt install fsmark" env PATH=../none "$BT" "$DISK" -o report -- fs_mark
	refused 127 "'iozone': not found; on Debian: apt install iozone3" env PATH=../none "$BT" "$DISK" -o report -- iozone
	refused 127 "'compilebench': not found; no package: see http" env PATH=../none "$BT" "$DISK" -o report -- compilebench
	bad 126 "'../plain': permission denied" "$DISK" -o report --json json -- ../plain
	bad 126 "'/'" "$DISK" -o report -- /
	bad 2 "no command behind '--'" "$DISK" -o report --
}

@test "bad input: output into a directory that is not there" {
	any_disk
	bad 1 'cannot write /absent/x: No such file or directory' "$DISK" -d 0.1 -o /absent/x
	bad 1 'cannot write /absent/x: No such file or directory' "$DISK" -d 0.1 --json /absent/x -o report
	bad 1 'cannot write /absent/x: No such file or directory' "$DISK" -i 0.1 -d 0.2 --json /absent/x
	bad 1 'cannot write /absent/x: No such file or directory' "$DISK" -o /absent/x -- touch ran
	bad 1 'cannot write /proc/x' "$DISK" -d 0.1 -o /proc/x
	bad 2 'needs a name' "$DISK" -d 0.1 -o ''
}

@test "bad input: output that is a directory" {
	any_disk
	mkdir ../dir
	bad 1 'cannot write ../dir: Is a directory' "$DISK" -d 0.1 -o ../dir
	bad 1 'cannot write ../dir: Is a directory' "$DISK" -d 0.1 --json ../dir -o report
	[[ -d ../dir && ! $(ls -A ../dir) ]]
}

@test "bad input: output through a symbolic link" {
	any_disk
	echo precious >../target
	ln -s target ../link
	bad 1 'symbolic link ../link' "$DISK" -d 0.1 -o ../link
	bad 1 'symbolic link ../link' "$DISK" -i 0.1 -d 0.2 -o ../link
	bad 1 'symbolic link ../link' "$DISK" -d 0.1 --json ../link -o report
	[[ $(<../target) == precious && -L ../link ]]
	ln -s absent ../dangling
	bad 1 'symbolic link ../dangling' "$DISK" -d 0.1 -o ../dangling
	[[ ! -e ../absent ]]
	# what the name of a file led to before is replaced as a whole
	echo old >../text
	ln ../text ../other
	"$BT" "$DISK" -d 0.1 -o ../text
	[[ $(<../other) == old && $(<../text) != old ]]
}

@test "bad input: output on a disk that is full" {
	any_disk
	need_mount_namespace
	mkdir ../full
	local full='mount -t tmpfs -o size=4k none ../full && head -c 4096 /dev/zero >../full/fill
		"$0" "$@" || s=$?; ls -A ../full >../left; exit ${s:-0}'
	refused 1 'cannot write ../full/x: No space left on device' unshare -m "$BASH" -ec "$full" "$BT" "$DISK" \
		-d 0.1 -o ../full/x
	[[ $(<../left) == fill ]]
	refused 1 'cannot write ../full/x: No space left on device' unshare -m "$BASH" -ec "$full" "$BT" "$DISK" \
		-d 0.1 --json ../full/x -o report
	[[ $(<../left) == fill ]]
	[[ -c /dev/full ]] || skip "missing: /dev/full"
	refused 1 'cannot write standard output: No space left on device' sh -c '"$@" >/dev/full' - "$BT" "$DISK" -d 0.1
}

@test "bad input: an old report survives a run that fails" {
	any_disk
	echo old >../text
	bad 127 'not found' "$DISK" -o ../text --json json -- ./absent
	[[ $(<../text) == old ]]
	bad 1 'cannot write /absent/x' "$DISK" -d 0.1 -o ../text --json /absent/x
	[[ $(<../text) == old ]]
	# nor is a stream begun by one that cannot start
	echo old >../json
	bad 127 'not found' "$DISK" -i 0.1 -o ../text --json ../json -- ./absent
	bad 1 'cannot write /absent/x' "$DISK" -i 0.1 -d 0.2 --json ../json -o /absent/x
	[[ $(<../text) == old && $(<../json) == old ]]
	"$BT" "$DISK" -i 0.1 -d 0.2 -o ../text --json ../json
	[[ $(<../text) != *old* && $(head -c 1 ../json) == '{' ]]
}

@test "bad input: times" {
	local value
	for value in 0 0.0 x 1x '' ' ' -1 1e3 nan inf 1..2 . 0x10; do
		bad 2 "--interval" -i "$value" -o report
		bad 2 "--duration" -d "$value" -o report
	done
	bad 2 '--interval 99999999999999999999' -i 99999999999999999999 -o report
	bad 2 '--duration 9999999999h' -d 9999999999h -o report
	for value in '' 0 -1 64Q 1e3 ' 1M' 99999999999999999999; do
		bad 2 "--memory" --memory "$value" -o report
	done
}

@test "bad input: how many names" {
	local value
	for value in '' 0 -1 x 1.5 2049 99999999999999999999; do
		bad 2 "--top '$value'" -i 1 --top "$value" -o report
	done
	bad 2 '--top goes with --interval' --top 10 -o report
}

@test "bad input: a huge interval is only long" {
	any_disk
	"$BT" "$DISK" -i 9999999999 -d 0.2 --json ../json -o ../text
	[[ $(wc -l <../json) -ge 1 && $(sed -n '$p' ../json | jq -r '.run.wall_ns') -lt 5000000000 ]]
}

# the longest that has fewer nanoseconds than 2^64: since the boot they are more
@test "bad input: the longest time is only long, counted from now" {
	any_disk
	"$BT" "$DISK" -d 18446744073 --json ../json -o ../text -- sleep 0.5
	[[ $(jq .run.wall_ns ../json) -gt 400000000 ]]
	timeout 20 "$BT" "$DISK" -i 18446744073 --json ../json -o ../text -- sleep 0.5
	[[ $(jq -s length ../json) -le 2 && $(jq -s '.[-1].run.wall_ns' ../json) -gt 400000000 ]]
}

@test "bad input: a process that is not there, or no process" {
	local value
	bash -c 'echo $$ >../pid'
	bad 1 "no process $(<../pid)" -p "$(<../pid)" -o report
	for value in 0 -1 x 1x '' 99999999999; do
		bad 2 '--pid' -p "$value" -o report
	done
}

@test "bad input: a process that ends during the run ends it with its report" {
	any_disk
	start sleep 30
	local sleeper=$STARTED
	start_tracing -p "$sleeper" "$DISK" --json ../json -o ../text
	kill "$sleeper"
	status_of "$STARTED"
	[[ ! -s $ERR ]]
	[[ $(json '.run.notes[0]' ../json) == "process $sleeper ended during the run" ]]
	grep -q "process $sleeper ended" ../text
}

@test "bad input: a cgroup that is not there, or none" {
	mkdir ../dir
	bad 2 '--cgroup /absent: there is no such cgroup' --cgroup /absent -o report
	bad 2 '--cgroup absent/x: there is no such cgroup' --cgroup absent/x -o report
	bad 2 '--cgroup' --cgroup "$PWD/../dir" -o report
	bad 2 '--cgroup' --cgroup '' -o report
	bad 2 '--cgroup' --cgroup /etc/passwd -o report
}

@test "bad input: options" {
	bad 2 "unknown option '--frobnicate'" --frobnicate -o report
	bad 2 'did you mean --interval?' --intervall 3 -o report
	bad 2 "unknown option '-Z'" -Z -o report
	bad 2 "'--json' needs a value" -o report --json
	bad 2 "'-d' needs a value" -o report -d
	bad 2 "'--pid' needs a value" -o report --pid -- touch ran
	bad 2 "'--quiet' takes no value" -o report --quiet=1
}

@test "bad input: rungs" {
	bad 2 '--rung x: write NAME=RUNG' --rung x -o report
	bad 2 '--rung =tp_btf: write NAME=RUNG' --rung =tp_btf -o report
	bad 2 "'--rung' needs a value" -o report --rung
	bad 2 'no such probe: there are request, bio, *flush' --rung nothing=tp_btf -o report
	bad 2 'no such probe' --rung request.=tp_btf -o report
	bad 2 'no such probe' --rung reques=tp_btf -o report
	bad 2 'no such rung: request has tp_btf' --rung request=kprobe -o report
	bad 2 'no such rung: request.issue has tp_btf' --rung request.issue= -o report
	bad 2 'no such rung: flush.insert has fentry, kprobe' --rung flush.insert=tp_btf -o report
	bad 2 'no such rung: sync has' probes --rung sync=raw_tp
	bad 2 'no such probe' record --rung nothing=tp_btf -o report
}

# refused_rungs: NAME=RUNG of what this kernel refuses, one per line
refused_rungs() {
	"$BT" probes | awk '$3 == "refused" && /fentry: /  { print $1 "=fentry" } $3 == "refused" && /kprobe: / { print $1 "=kprobe" }'
}

@test "bad input: a rung that this kernel refuses" {
	local rung some=
	any_disk
	while read -r rung; do
		some=1
		bad 4 "--rung $rung: *: " "$DISK" -d 0.1 --rung "$rung" -o report
		bad 4 "--rung ${rung%%.*}.*=${rung#*=}: *: " "$DISK" -d 0.1 --rung "${rung%%.*}=${rung#*=}" -o report
	done < <(refused_rungs | awk -F= '!seen[$2]++') # one probe per rung
	[[ $some ]] || skip "missing: a kernel that refuses a rung"
}

@test "bad input: a probe that this kernel has not, asked for by name and with its family" {
	local name
	any_disk
	name=$("$BT" probes | awk '$3 == "absent" { print $1; exit }')
	[[ $name ]] || skip "missing: a kernel without some probe"
	bad 4 "--rung $name=tp_btf: this kernel has no tracepoint" "$DISK" -d 0.1 --rung "$name=tp_btf" -o report
	"$BT" "$DISK" -d 0.1 --rung "${name%%.*}=tp_btf" -o ../text
}

@test "bad input: classic tracepoints without a tracefs, nor the right to mount one" {
	# shellcheck disable=SC2016  # for the inner shell
	local hide='for dir in tracing debug; do mount -t tmpfs none /sys/kernel/$dir; done; exec setpriv --bounding-set -sys_admin "$0" "$@"'
	any_disk
	need_mount_namespace
	refused 4 '--rung sync.enter=tp: no tracefs: mount -t tracefs' unshare -m "$BASH" -ec "$hide" "$BT" "$DISK" --rung sync=tp -o report \
		-- true
}

@test "bad input: names with control characters stay one line" {
	local name=$'a\nb\e[31m\r\tc'
	any_disk
	bad 2 'no disk' "$name" -o report
	bad 2 'no disk' "/dev/$name" -o report
	bad 2 '' "/absent/$name" -o report
	bad 2 '--interval' -i "$name" -o report
	bad 2 '--duration' -d "$name" -o report
	bad 2 '--pid' -p "$name" -o report
	bad 2 '--cgroup' --cgroup "/$name" -o report
	bad 2 '--rung' --rung "$name" -o report
	bad 2 'unknown option' "--$name" -o report
	bad 1 'cannot write' "$DISK" -d 0.1 -o "/absent/$name"
	bad 127 'not found' "$DISK" -o report -- "./$name"
}

@test "bad input: a very long name stays readable" {
	local long
	any_disk
	long=$(printf 'x%.0s' {1..5000})
	bad 2 '' "$long" -o report
	bad 2 '' "/dev/$long" -o report
	bad 2 '' -i "$long" -o report
	bad 2 '' -p "$long" -o report
	bad 2 '' --cgroup "/$long" -o report
	bad 2 '' --rung "$long" -o report
	bad 2 '' "--$long" -o report
	bad 1 'cannot write' "$DISK" -d 0.1 -o "$long"
	bad 126 '' "$DISK" -o report -- "./$long"
}
