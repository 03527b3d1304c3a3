#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# barriertrace record, and what report and diff make of its recordings

bats_require_minimum_version 1.5.0
load ../helpers

setup() {
	need_tracing
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	cd /
	clean_up
}

slow_disk() {
	need_rig
	need sqlite3
	rig_up --flush-us 1000
}

# record_inserts FILE N ARGUMENT...: a recording of N inserts
record_inserts() {
	local out=$1 n=$2
	shift 2
	make_inserts sql "$n"
	rm -f "$RIG_MNT/db"
	or_lost "$BT" record -o "$out" "$@" "$RIG_DISK" -- sqlite3 -batch -bail -init /dev/null "$RIG_MNT/db" <sql
}

# said STATUS TEXT COMMAND...: this status and one line with this text (a pattern of [[ ]]) on standard error; events may be lost
said() {
	local expected=$1 text=$2 status=0 lost='^barriertrace: [0-9,]+ events? (was|were) lost: the report is incomplete$'
	shift 2
	timeout 20 "$@" >out 2>err </dev/null || status=$?
	echo "status $status, out: $(head -n 5 out), err:"
	cat err
	if [[ $expected == [07] ]] && grep -qE "$lost" err; then
		[[ $status != 5 ]] || status=0
		sed -i -E "/$lost/d" err
	fi
	[[ $status == "$expected" ]]
	[[ $(wc -l <err) == 1 ]]
	[[ $(<err) == barriertrace:* && $(<err) == *$text* ]]
}

# none COMMAND...: it must fail; errexit does not see a bare `!`
none() {
	! "$@"
}

ascii() {
	! LC_ALL=C grep -n '[^ -~]' "$1"
}

refused() {
	said "$@"
	[[ ! -s out ]]
}

@test "record: report of the recording is the live report, byte for byte" {
	slow_disk
	local style
	for style in '' --ascii -q -v; do
		record_inserts rec 20 --text live.txt --json live.json $style
		or_lost "$BT" report rec -o later.txt --json later.json ${style:+"$style"}
		cmp live.txt later.txt
		cmp live.json later.json
		or_lost "$BT" report --show-args rec ${style:+"$style"} >later.txt
		cmp live.txt later.txt
		grep -q '^where the sync time went' later.txt
		[[ $(json .sync.count later.json) -ge 60 ]]
	done
	# any other output can still be made
	or_lost "$BT" report --ascii rec >later.txt
	ascii later.txt
	or_lost "$BT" report --show-args rec >later.txt
	"$BT" report --show-args - <rec | cmp - later.txt
}

@test "record: ASCII where the locale has nothing else" {
	slow_disk
	LC_ALL=C record_inserts rec 20 --text live.txt
	LC_ALL=C "$BT" report --show-args rec | cmp - live.txt
	ascii live.txt
}

@test "record: says how much it has" {
	slow_disk
	record_inserts rec 20 2>err
	sed -i '/ w[a-z]* lost: /d' err
	[[ $(wc -l <err) == 1 ]]
	[[ $(<err) =~ ^barriertrace:\ ([0-9,]+)\ facts\ recorded.*report\ rec$ ]]
	((${BASH_REMATCH[1]//,/} > 100))
	record_inserts rec 1 -q 2>err
	sed -i '/ w[a-z]* lost: /d' err
	[[ ! -s err ]]
}

@test "record: a damaged one says so in its report" {
	slow_disk
	record_inserts rec 20
	head -c -1 rec >cut
	said 5 'cut: ' "$BT" report cut --json cut.json
	[[ $(json .run.incomplete cut.json) == true ]]
	jq -er '.run.notes[]' cut.json | grep -q 'not whole'
	or_lost "$BT" report rec --json whole.json
	! jq -r '.run.notes[]?' whole.json | grep 'not whole'
	[[ $(jq .run.incomplete whole.json) == false || $(jq .run.lost_events whole.json) != 0 ]]
}

@test "record: what is no recording" {
	local command
	echo 'Some other text, and more of it than any head has' >foreign
	head -c 5000 /dev/zero >zeros
	: >empty
	mkdir dir
	for command in report "diff foreign" "diff empty"; do
		# shellcheck disable=SC2086
		refused 1 '' "$BT" $command foreign
		refused 1 '' "$BT" $command zeros
		refused 1 '' "$BT" $command empty
		refused 1 '' "$BT" $command dir
		refused 1 '' "$BT" $command absent
	done
	refused 1 'foreign' "$BT" report foreign
	refused 1 'dir: Is a directory' "$BT" report dir
	refused 1 'absent: No such file' "$BT" report absent
}

@test "record: wrong usage" {
	refused 2 '-o FILE' "$BT" record
	refused 2 '-o FILE' "$BT" record -- true
	refused 2 '' "$BT" record -o
	refused 2 '' "$BT" record -o '' -- true
	refused 2 'one recording' "$BT" report
	refused 2 'one recording' "$BT" report a b
	refused 2 'two recordings' "$BT" diff
	refused 2 'two recordings' "$BT" diff a
	refused 2 'two recordings' "$BT" diff a b c
	refused 2 'standard input' "$BT" diff - -
	refused 2 '' "$BT" diff --absent a b
}

@test "record: onto the traced disk" {
	slow_disk
	"$BT" record -o "$RIG_MNT/rec" --text live.txt "$RIG_DISK" -- true
	"$BT" report "$RIG_MNT/rec" --json here.json | cmp - live.txt
	jq -er '.run.notes[]' here.json | grep -q "lies on $RIG_DISK, which is traced"
	"$BT" record -o rec --json there.json "$RIG_DISK" -- true
	none grep -q 'lies on' there.json
}

# Arguments: size of the file system, tool, its further arguments. What was recorded is in ./kept then.
FULL='mount -t tmpfs -o size="$1" none full || exit 99
	tool=$2; shift 2; "$tool" record -o full/rec "$@"; s=$?; cp full/rec kept; exit $s'

@test "record: onto a disk that gets full" {
	need_mount_namespace
	slow_disk
	mkdir full
	# more than fits, also where facts are lost
	make_inserts sql 60
	# with the last block
	refused 7 'full/rec: No space left on device' unshare -m "$BASH" -c "$FULL" - 4k "$BT" "$RIG_DISK" -- \
		sh -c 'sqlite3 -batch "$1/db" <sql; exit 7' - "$RIG_MNT"
	said 5 '' "$BT" report kept
	grep -q 'not whole' out
	# in the middle of the run
	refused 7 'full/rec: No space left on device' unshare -m "$BASH" -c "$FULL" - 8k "$BT" "$RIG_DISK" -- \
		sh -c 'sqlite3 -batch "$1/db" <sql; sleep 2.2; exit 7' - "$RIG_MNT"
	said 5 '' "$BT" report kept
	# no status of a command to keep, or asked to tell
	refused 5 'full/rec: No space left on device' unshare -m "$BASH" -c "$FULL" - 4k "$BT" "$RIG_DISK" -d 0.3
	refused 5 'full/rec: No space left on device' unshare -m "$BASH" -c "$FULL" - 4k "$BT" --strict "$RIG_DISK" -- true
}

@test "record: the live report stands when the recording is lost" {
	need_mount_namespace
	slow_disk
	mkdir full
	said 0 'No space left on device' unshare -m "$BASH" -c "$FULL" - 4k "$BT" "$RIG_DISK" --text live.txt -- sync -d "$RIG_MNT"
	grep -q "^$RIG_DISK " live.txt
}

@test "record: a run that doesn't start leaves no file, and an earlier one as it was" {
	local nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	need setpriv
	chmod 755 "$BATS_TEST_TMPDIR"
	mkdir -m 777 all
	echo '#!/no/such/interpreter' >script
	chmod 755 script
	cp "$(type -P true)" forbidden
	chmod 644 forbidden
	"$BT" record -q -o earlier -- true || [[ $? == 5 ]]
	cp earlier all/old
	cp earlier all/old.1
	: >all/empty
	chmod 666 all/*
	for f in old new empty; do
		for more in '' '--rotate 1M,3'; do
			# shellcheck disable=SC2086  # two words, or none
			{
				refused 127 'not found' "$BT" record -o all/$f $more -- no-such-command
				refused 126 'its interpreter' "$BT" record -o all/$f $more -- ./script
				refused 126 'permission denied' "$BT" record -o all/$f $more -- ./forbidden
				refused 2 'no-such-disk' "$BT" record -o all/$f $more no-such-disk
				chown -R 65534 all
				refused 3 '' "${nobody[@]}" "$BT" record -o all/$f $more -- true
				chown -R 0 all
			}
		done
	done
	[[ $(cd all && echo *) == 'empty old old.1' && ! -s all/empty ]] || { ls -l all; false; }
	cmp earlier all/old
	cmp earlier all/old.1
}

@test "record: the recording and a report are not written to one place" {
	run -2 --separate-stderr "$BT" record -o x --json x -d 0.2
	[[ $stderr == *'x is already used'* && ! -e x ]]
	"$BT" record -o - --json - -d 0.2 >out 2>err && false
	[[ $? == 2 && ! -s out && $(<err) == *'- is already used'* ]]
	rm out err
	# what has been recorded goes on to these names
	for more in x.1 ./x.2; do
		run -2 --separate-stderr "$BT" record -o x --rotate 1M,3 --json $more -d 0.2
		[[ $stderr == *"$more is already used"* && ! -e x && ! -e $more ]]
	done
	"$BT" record -q -o x --rotate 1M,3 --json x.3 -d 0.2 || [[ $? == 5 ]]
	[[ -s x.3 ]]
}

@test "record: not through a symbolic link" {
	slow_disk
	echo mine >target
	ln -s target link
	ln -s absent dangling
	refused 1 'symbolic link link' "$BT" record -o link "$RIG_DISK" -- touch ran
	refused 1 'symbolic link dangling' "$BT" record -o dangling "$RIG_DISK" -- touch ran
	[[ $(<target) == mine && ! -e absent && ! -e ran ]]
}

@test "record: belongs to the user who called sudo, and to nobody else" {
	local uid gid
	need getent
	getent passwd nobody >/dev/null || skip "missing: user nobody"
	uid=$(id -u nobody) gid=$(id -g nobody)
	slow_disk
	chmod 777 .
	SUDO_UID=$uid SUDO_GID=$gid SUDO_USER=nobody "$BT" record -o rec "$RIG_DISK" -- true
	[[ $(stat -c '%u:%g %a' rec) == "$uid:$gid 600" ]]
	"$BT" record -o roots "$RIG_DISK" -- true
	[[ $(stat -c '%u %a' roots) == '0 600' ]]
}

has_calls() { # FILE
	cp "$1" copy && "$BT" report copy -o copy.txt --json copy.json 2>copy.err || [[ $? == 5 ]] && (($(jq .sync.count copy.json) > 0))
}

@test "record: what was written survives kill -9" {
	slow_disk
	start_tracing record -o rec "$RIG_DISK"
	local pid=$STARTED
	sqlite_inserts "$RIG_MNT/db" 20
	eventually 5 has_calls rec
	kill -KILL "$pid"
	wait "$pid" || true
	said 5 'rec: ' "$BT" report rec --json cut.json
	[[ $(json .run.incomplete cut.json) == true ]]
	# what was asked after the last block is lost
	(($(json .sync.count cut.json) > 0))
	grep -q '^where the sync time went' out
}

@test "diff: a slower flush is named" {
	slow_disk
	record_inserts a 30
	rig_set flush_us=15000
	record_inserts b 30
	or_lost "$BT" diff a b --json diff.json -o diff.txt
	cat diff.txt
	head -n 5 diff.txt | tr '\n' ' ' | grep -Eq "B's sync calls are [0-9.]+ times slower \(.* more\), because flush\.[a-z]+ rose by"
	[[ $(json .sync.mean.told_from_chance diff.json) == true ]]
	[[ $(json '.causes[0].family' diff.json) == flush ]]
	holds "$(json '[.causes[] | select(.family == "flush") | .difference_ns] | add' diff.json) > 1e6"
	holds "$(json .sync.mean.low_ns diff.json) > 0"
	holds "$(json '.devices[0].ops[] | select(.op == "flush") | .b.device.p50_ns - .a.device.p50_ns' diff.json) > 1.5e6"
	# means are exact: those of the two reports
	or_lost "$BT" report a --json a.json >/dev/null
	[[ $(json .sync.latency.sum_ns a.json) == $(json .sync.a.total_ns diff.json) ]]
	# the other way round, and with itself
	"$BT" diff b a | head -n 1 | grep -q 'times faster'
	"$BT" diff a a | head -n 1 | grep -q '^No difference that could be told from chance'
	# text and JSON in one go, ASCII, no colours, 80 columns
	[[ $("$BT" diff a b --json - | jq -r .sentence) == "$(jq -r .sentence diff.json)" ]]
	or_lost "$BT" diff --ascii a b >ascii.txt
	ascii ascii.txt
	none grep -E '.{81}' diff.txt
	"$BT" diff --show-args - b <a | sed 's/ -: / a: /' | cmp - diff.txt
}

@test "diff: a damaged recording is compared as far as it goes" {
	slow_disk
	record_inserts a 20
	head -c -1 a >cut
	said 5 'cut: ' "$BT" diff a cut
	grep -q 'WARNING  *B' out
	grep -q 'note  *B: the recording is not whole' out
	said 5 'cut: ' "$BT" diff cut a --json -
	[[ $(json .incomplete out) == true && $(json .a.incomplete out) == true && $(jq .b.incomplete out) == false ]]
	echo foreign >foreign
	refused 1 'foreign' "$BT" diff a foreign
	refused 1 'foreign' "$BT" diff foreign a
	refused 1 'cannot write /absent/x' "$BT" diff a a -o /absent/x
}
