#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What root writes and reads for somebody else: with that person's rights, and not where it doesn't belong.

bats_require_minimum_version 1.5.0
load ../helpers
load ../truth/files

@test "files: a directory on the way that is a link leads the caller where the caller may go" {
	local option
	ln -s ../roots alices/link
	mkdir alices/real
	chown "$ALICE" alices/real
	ln -s real alices/own
	for option in -o --json --html --db --csv; do
		refused "for uid $ALICE, who called; --as-root" as_alice report "$REC" "$option" alices/link/secret
		refused "for uid $ALICE, who called; --as-root" as_alice report "$REC" "$option" alices/link/new
	done
	as_alice report "$REC" -o alices/own/report.txt
	[[ $(owner alices/real/report.txt) == "$ALICE:$ALICE 600" ]]
}

@test "files: a recording and its turns go no further, either" {
	need_tracing
	ln -s ../roots alices/link
	refused 'Permission denied' as_alice record -o alices/link/secret -d 0.1
	refused 'Permission denied' as_alice record -o alices/link/new -d 0.1
	refused 'Permission denied' as_alice record -o alices/link/new --rotate 1M,3 -d 0.1
}

@test "files: root and --as-root follow no link that somebody else could have put there" {
	local root
	ln -s ../roots alices/link
	chown -h "$ALICE" alices/link
	mkdir plain everybodys
	chmod 1777 everybodys
	ln -s ../roots plain/link
	ln -s ../roots everybodys/roots
	ln -s ../roots everybodys/others
	chown -h "$OTHER" everybodys/others
	for root in '' --as-root; do
		# shellcheck disable=SC2086  # one word, or none
		{
			refused 'somebody else could have put the symbolic link' "$BT" report $root "$REC" -o alices/link/report
			refused 'somebody else could have put the symbolic link' "$BT" report $root "$REC" -o everybodys/others/report
			SUDO_UID=${root:+$ALICE} "$BT" report ${root:- --as-root} "$REC" -o plain/link/report
			"$BT" report $root "$REC" -o everybodys/roots/more
		}
		[[ $(owner roots/report) == '0:0 600' && $(owner roots/more) == '0:0 600' ]]
		rm roots/report roots/more
	done
}

@test "files: what the caller may not read is not read" {
	cp "$REC" roots/rec
	refused_reading() {
		run -1 as_alice "$@"
		[[ ${#lines[@]} == 1 && $output == *"Permission denied for uid $ALICE, who called; --as-root"* ]]
	}
	refused_reading report roots/rec
	refused_reading diff roots/rec "$REC"
	refused_reading diff "$REC" roots/rec
	as_alice report --as-root roots/rec >/dev/null
	as_alice diff --as-root roots/rec "$REC" >/dev/null
}

@test "files: what one of the caller's groups may read is read" {
	local user group
	user=$(getent group | awk -F: '$4 ~ /^[a-z_][a-z0-9_-]*$/ { print $4 ":" $3; exit }')
	[[ $user ]] || skip 'missing: a group with one member'
	group=${user#*:} user=${user%:*}
	chmod 755 roots
	cp "$REC" roots/rec
	chown "0:$group" roots/rec
	chmod 640 roots/rec
	SUDO_UID=$(id -u "$user") SUDO_GID=$(id -g "$user") SUDO_USER=$user "$BT" report roots/rec >/dev/null
}

# as_capable COMMAND..: as Alice, whom a file's capabilities let trace, and override permissions
as_capable() {
	setpriv --reuid "$ALICE" --regid "$ALICE" --clear-groups --inh-caps "$CAPS" --ambient-caps "$CAPS" "$@"
}

@test "files: without root, capabilities that override permissions are not for files" {
	need_tracing
	need setpriv
	local CAPS=+bpf,+perfmon,+dac_override,+dac_read_search
	cp "$BT" bt
	chmod 755 bt
	refused 'Permission denied' as_capable ./bt report "$REC" -o roots/new
	refused 'Permission denied' as_capable ./bt report roots/secret
	CAPS=+bpf,+perfmon
	as_capable ./bt -q -o alices/text --json alices/json --csv alices/tables -- true || [[ $? == 5 ]]
	as_capable ./bt record -q -o alices/rec -d 0.1 || [[ $? == 5 ]]
	as_capable ./bt report alices/rec -o alices/again || [[ $? == 5 ]] # events were lost, as above
	[[ $(stat -c '%u %a' alices/{text,json,rec,again}) == $'65533 600\n65533 600\n65533 600\n65533 600' ]]
}

@test "files: into somebody else's file nothing is written, and not over what is no recording" {
	need_tracing
	chmod 1777 "$BATS_TEST_TMPDIR"
	: >theirs
	chmod 666 theirs
	chown "$OTHER" theirs
	refused "it belongs to uid $OTHER" "$BT" record -o theirs -d 0.1
	sysctl -qn fs.protected_regular | grep -qx 0 || true
	refused '' as_alice record -o theirs -d 0.1
	[[ ! -s theirs ]]
	echo mine >mine
	refused 'it is not a recording' "$BT" record -o mine -d 0.1
	[[ $(<mine) == mine ]]
	: >empty
	"$BT" record -q -o empty -d 0.1 || [[ $? == 5 ]]
	"$BT" record -q -o empty -d 0.1 || [[ $? == 5 ]]
	"$BT" report empty >/dev/null || [[ $? == 5 ]]
}

@test "files: devices and pipes are not written to, and not waited for" {
	local name option
	mkfifo pipe
	mknod null c 1 3
	mknod disk b 7 250 # no such loop device: opening it would say so
	ln -s /dev/null link
	python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")' || : >socket.missing
	for name in pipe:'a named pipe' null:'a character device' disk:'a block device' link:'symbolic link' socket:'a socket'; do
		[[ -e ${name%%:*}.missing ]] && continue
		for option in -o --json --html --db --folded; do
			refused "${name#*:}" timeout 10 "$BT" report "$REC" "$option" "${name%%:*}"
		done
		run -1 timeout 10 "$BT" report "${name%%:*}"
		[[ ${#lines[@]} == 1 && $output == *'no regular file'* ]]
	done
	need_tracing
	for name in pipe null disk socket; do
		[[ -e $name.missing ]] && continue
		refused 'it is no regular file' timeout 10 "$BT" record -o "$name" -d 0.1
	done
}

@test "files: a mounted disk is not written to, by name, link or redirection" {
	local size
	need_loop_fuse
	rig_up --size 64M # sha256sum reads the whole disk
	size=$(sha256sum <"$RIG_DEV")
	refused 'a block device' "$BT" report "$REC" -o "$RIG_DEV"
	refused 'a block device' "$BT" report "$REC" --html "$RIG_DEV"
	refused 'a block device' "$BT" report "$REC" --csv t -o "/dev/fd/5" 5<>"$RIG_DEV"
	refused 'a block device' bash -c '"$@" 1<>"$0"' "$RIG_DEV" "$BT" report "$REC"
	if has_tracing; then
		refused 'no regular file' "$BT" record -o "$RIG_DEV" -d 0.1
		refused 'a block device' bash -c '"$@" 1<>"$0"' "$RIG_DEV" "$BT" record -o - -d 0.1
	fi
	[[ $(sha256sum <"$RIG_DEV") == "$size" ]]
}

has_tracing() {
	[[ -r /sys/kernel/btf/vmlinux ]]
}

@test "files: what somebody else left in /tmp is found before the run, not after it" {
	need_tracing
	mkdir everybodys
	chmod 1777 everybodys
	echo theirs >everybodys/report
	chmod 666 everybodys/report
	chown "$OTHER" everybodys/report
	refused 'Operation not permitted for uid' as_alice -q -o everybodys/report -- touch everybodys/ran
	[[ ! -e everybodys/ran && $(<everybodys/report) == theirs ]]
	as_alice -q --as-root -o everybodys/report -d 0.1 || [[ $? == 5 ]]
	[[ $(owner everybodys/report) == '0:0 600' ]]
}

@test "files: a recording without names, too" {
	refused 'Permission denied' as_alice record --anonymise "$REC" roots/new
	refused 'Permission denied' as_alice record --anonymise roots/secret alices/new
	as_alice record --anonymise "$REC" alices/new
	[[ $(owner alices/new) == "$ALICE:$ALICE 600" ]]
	as_alice record --anonymise --as-root "$REC" roots/new
	[[ $(owner roots/new) == '0:0 600' ]]
}

@test "files: the second recorder of a file is told who has it" {
	local first
	need_tracing
	start_tracing record -q -o rec --rotate 1M,2
	first=$STARTED
	run -1 "$BT" record -q -o rec -d 0.1
	[[ ${#lines[@]} == 1 && $output == *"cannot write rec: barriertrace (pid $first) holds it" ]]
	run -1 "$BT" record -q -o ./rec --rotate 1M,2 -d 0.1
	[[ $output == *"(pid $first)"* ]]
	kill -INT "$first"
	status_of "$first" || [[ $? == 5 ]]
	"$BT" record -q -o rec -d 0.1 || [[ $? == 5 ]]
}

@test "files: a limit on open files is raised as far as it may be, and a command has it as it was" {
	need_tracing
	quiet_disk
	run bash -c 'ulimit -Hn 20000 && ulimit -Sn 64 && "$@"' - "$BT" -q "$DISK" --csv tables -o text -- bash -c 'ulimit -Sn; ulimit -Hn'
	[[ $status == 0 || $status == 5 ]]
	[[ ${lines[*]} == *'64 20000'* ]]
	[[ -s tables/run.csv ]]
}

@test "files: a limit on the size of files is told" {
	run -1 bash -c 'ulimit -f 8 && "$@"' - "$BT" report "$REC" --html html -o text
	[[ ${#lines[@]} == 1 && $output == *'cannot write html: File too large' && ! -e html && ! -e text ]]
	need_tracing
	quiet_disk
	"$BT" -q "$DISK" -o text -- bash -c 'grep -E "^Sig(Blk|Ign|Cgt)" /proc/self/status' >had
	bash -c 'grep -E "^Sig(Blk|Ign|Cgt)" /proc/self/status' | diff - had
}

# hidden_in FILE TEXT: it holds something, but not that
hidden_in() {
	[[ -s $1 ]] && ! grep -rqa "$2" "$1"
}

@test "files: a command's arguments stand only in what its caller alone can read" {
	local name
	"$BT" report "$REC" -o text --json json --html html --flame flame --db db --csv csv --perfetto perfetto
	for name in text json html flame db csv/run.csv perfetto; do
		grep -qa 'INSERT INTO' "$name" || { echo "$name"; false; }
	done
	"$BT" report --mode 0640 "$REC" --json json2 --html html2 --flame flame2 --db db2 --csv csv2 --perfetto perfetto2 -o text2
	"$BT" report "$REC" >piped
	"$BT" report "$REC" --json - | cat >piped2
	for name in text2 json2 html2 flame2 db2 csv2 perfetto2 piped piped2; do
		hidden_in "$name" 'INSERT INTO' || { echo "$name"; false; }
	done
	grep -q 'sqlite3, arguments hidden (--show-args)' text2
	[[ $(jq -c '.run | [.command, .arguments_hidden]' json2) == '[["sqlite3"],true]' ]]
	[[ $(jq -c '.run | [(.command | length > 1), .arguments_hidden]' json) == '[true,null]' ]]
	# but for names nothing else has changed
	diff <(jq -S 'del(.run.command, .run.arguments_hidden)' json) <(jq -S 'del(.run.command, .run.arguments_hidden)' json2)
	"$BT" report --show-args "$REC" | grep -q 'INSERT INTO'
	"$BT" diff "$REC" "$REC" | hidden_from 'INSERT INTO'
	"$BT" diff --json - "$REC" "$REC" | hidden_from 'INSERT INTO'
	"$BT" diff "$REC" "$REC" -o diffed && grep -q 'INSERT INTO' diffed
	"$BT" diff --show-args "$REC" "$REC" | grep -q 'INSERT INTO'
}

hidden_from() {
	! tee last | grep -qa "$1" && [[ -s last ]]
}

@test "files: a recording that others may read holds no arguments" {
	need_tracing
	quiet_disk
	"$BT" record -q -o own "$DISK" -- sh -c 'exit 0; secret' || [[ $? == 5 ]]
	"$BT" record -q --mode 0644 -o all "$DISK" -- sh -c 'exit 0; secret' || [[ $? == 5 ]]
	"$BT" record -q --mode 0644 --show-args -o shown "$DISK" -- sh -c 'exit 0; secret' || [[ $? == 5 ]]
	[[ $(stat -c %a own all shown) == $'600\n644\n644' ]]
	"$BT" report own -o own.txt || [[ $? == 5 ]]
	"$BT" report all -o all.txt || [[ $? == 5 ]]
	"$BT" report shown -o shown.txt || [[ $? == 5 ]]
	grep -q secret own.txt
	grep -q secret shown.txt
	! grep -q secret all.txt
	grep -q 'sh, arguments hidden' all.txt
}
