#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Where outputs go: files of their own, tables in a directory, standard output. Made from a recording: no rights needed.

bats_require_minimum_version 1.5.0
load ../helpers

FILES=(flame html folded perfetto db) # and --csv DIR
ALL=(-o --json "${FILES[@]/#/--}")               # what takes a FILE
TABLES=(calls causes devices file_ledger files histograms leaves ledger mounts operations process_ledger processes remarks
	requests run slices steps verdict whatif)

setup() {
	need_tool
	REC=$TOP/tests/golden/recordings/sqlite.btrec
	cd "$BATS_TEST_TMPDIR" || return
	mkdir work
	cd work || return
}

teardown() {
	clean_up
}

# refused STATUS TEXT ARGUMENT...: of report; one line with TEXT (a pattern of [[ ]]) on standard error, nothing else, no file here
refused() {
	local expected=$1 text=$2 status=0
	shift 2
	timeout 20 "$BT" report "$REC" "$@" >../out 2>../err </dev/null || status=$?
	echo "report $*: status $status, err: $(<../err)"
	[[ $status == "$expected" ]]
	[[ $(wc -l <../err) == 1 ]]
	[[ $(<../err) == barriertrace:* && $(<../err) == *$text* ]]
	[[ ! $(tr -d '\n' <../err) =~ [[:cntrl:]] ]]
	[[ ! -s ../out ]]
	[[ ! $(ls -A) ]]
}

quietly() { # ARGUMENT...: works, says nothing
	"$BT" report "$REC" "$@" >../out 2>../err
	[[ ! -s ../out && ! -s ../err ]]
}

files_here() {
	LC_ALL=C ls -A | tr '\n' ' '
}

@test "outputs: each into a file of its own" {
	local name
	for name in "${FILES[@]}"; do
		"$BT" report "$REC" "--$name" "$name" >../text
		"$BT" report "$REC" | cmp - ../text
		[[ -s $name && $(stat -c %a "$name") == 600 ]]
	done
	[[ $(files_here) == 'db flame folded html perfetto ' ]]
}

@test "outputs: new ones are their owner's alone, replaced ones keep their permissions, --mode decides" {
	(umask 022 && quietly --json json --html html -o text)
	[[ $(stat -c %a json html text) == $'600\n600\n600' ]]
	chmod 640 json
	chmod 664 html
	quietly --json json --html html --folded folded -o text
	[[ $(stat -c %a json html text folded) == $'640\n664\n600\n600' ]]
	(umask 077 && quietly --mode 0644 --json json --flame flame --csv tables -o text)
	[[ $(stat -c %a json flame text tables tables/run.csv) == $'644\n644\n644\n755\n644' ]]
	rm -r ./*
	for mode in '' 8 1777 rw -1 0x1ff; do
		refused 2 "--mode '$mode'" --mode "$mode" -o text
	done
}

@test "outputs: all at once are what each is alone" {
	local name all=()
	for name in "${FILES[@]}"; do
		all+=("--$name" "$name")
		"$BT" report "$REC" "--$name" "../$name" >../out
	done
	"$BT" report "$REC" --csv ../csv --json ../json -o ../text
	quietly "${all[@]}" --csv csv --json json -o text
	for name in "${FILES[@]}" json text; do
		cmp "$name" "../$name"
	done
	diff -r csv ../csv
}

@test "outputs: every table in the directory, which is made" {
	quietly --csv tables -o ../text
	diff <(printf '%s.csv\n' "${TABLES[@]}") <(LC_ALL=C ls -A tables)
	[[ $(files_here) == 'tables ' ]]
	[[ $(stat -c %a tables) == 700 && $(stat -c %a tables/run.csv) == 600 ]]
	# only the last part of the path is made
	rm -r tables
	refused 1 'absent/tables' --csv absent/tables
}

@test "outputs: into a directory that is there, beside what is in it" {
	mkdir tables
	echo mine >tables/mine.txt
	echo old >tables/run.csv
	ln tables/run.csv ../hard
	quietly --csv tables -o ../text
	[[ $(<tables/mine.txt) == mine && $(<../hard) == old && $(<tables/run.csv) != old ]]
	[[ $(ls -A tables | wc -l) == $((${#TABLES[@]} + 1)) ]]
	quietly --csv tables/ -o ../text
	quietly --csv . -o ../text
	cmp run.csv tables/run.csv
}

@test "outputs: the directory is a file, or a link" {
	echo mine >../file
	mkdir ../dir
	ln -s dir ../link
	ln -s absent ../dangling
	refused 1 '../file' --csv ../file
	refused 1 '../link' --csv ../link
	refused 1 '../dangling' --csv ../dangling
	mknod ../null c 1 3
	refused 1 '../null' --csv ../null
	[[ $(<../file) == mine && ! $(ls -A ../dir) && ! -e ../absent ]]
}

@test "outputs: a table's place is taken" {
	mkdir -p ../tables/leaves.csv
	refused 1 '../tables/leaves.csv: Is a directory' --csv ../tables
	[[ $(ls -A ../tables) == leaves.csv ]]
	rmdir ../tables/leaves.csv
	ln -s target ../tables/leaves.csv
	refused 1 'symbolic link ../tables/leaves.csv' --csv ../tables
	[[ $(ls -A ../tables) == leaves.csv && ! -e ../tables/target ]]
}

@test "outputs: where nothing can be written" {
	local option
	mkdir ../dir
	for option in "${ALL[@]}"; do
		refused 1 'cannot write /absent/x: No such file or directory' "$option" /absent/x
		refused 1 'cannot write ../dir: Is a directory' "$option" ../dir
		refused 1 'cannot write /proc/x' "$option" /proc/x
		refused 2 'needs a name' "$option" ''
	done
	refused 1 '/absent/x' --csv /absent/x
	refused 1 '/proc/x' --csv /proc/x
	refused 2 'needs the name' --csv ''
	[[ ! $(ls -A ../dir) ]]
}

@test "outputs: not through a symbolic link" {
	local option
	echo precious >../target
	ln -s target ../link
	ln -s absent ../dangling
	for option in "${ALL[@]}"; do
		refused 1 'symbolic link ../link' "$option" ../link
		refused 1 'symbolic link ../dangling' "$option" ../dangling
	done
	[[ $(<../target) == precious && -L ../link && -L ../dangling && ! -e ../absent ]]
}

@test "outputs: one that fails takes the others with it" {
	local option
	echo old >../old
	for option in --flame --db --json -o; do
		refused 1 'cannot write /absent/x' --folded f --html ../old --csv ../new "$option" /absent/x
		[[ $(<../old) == old ]]
		[[ ! -e ../new ]]
	done
	refused 1 '/absent/x' --folded f --html ../old --json j -o t --csv /absent/x
	[[ $(<../old) == old ]]
}

@test "outputs: on a disk that gets full" {
	local option full='mount -t tmpfs -o size=16k none full || exit 99
		head -c 12288 /dev/zero >full/fill; tool=$1; shift
		"$tool" "$@"; s=$?; ls -A full >left; exit $s'
	need_mount_namespace
	cd ..
	mkdir full
	"$BT" report "$REC" --csv csv --html html --perfetto perfetto -o text
	for option in "--html full/x" "--perfetto full/x" "--csv full" "--folded full/a --html full/x" "--json full/x"; do
		# shellcheck disable=SC2086
		run -1 --separate-stderr unshare -m bash -c "$full" - "$BT" report "$REC" -o text $option
		[[ ! $output && ${#stderr_lines[@]} == 1 && $stderr == *'cannot write full/'*': No space left on device' ]]
		[[ $(<left) == fill ]]
	done
}

@test "outputs: to standard output, each" {
	local name
	for name in "${FILES[@]}" json; do
		"$BT" report --show-args "$REC" "--$name" "../$name" >../text
		"$BT" report --show-args "$REC" "--$name" - | cmp - "../$name"
		# the text has to be asked for then
		"$BT" report --show-args "$REC" "--$name" - -o ../asked | cmp - "../$name"
		cmp ../text ../asked
	done
	"$BT" report --show-args "$REC" -o - | cmp - ../text
	[[ ! $(ls -A) ]]
}

@test "outputs: to standard output, one only, and no tables" {
	local option
	for option in "${ALL[@]}"; do
		[[ $option == --flame ]] || refused 2 'only one output' --flame - "$option" -
	done
	refused 2 'only one output' -o - --json - --csv tables
	refused 2 'name of a directory' --csv -
	refused 2 'name of a directory' --csv - --flame -
}

@test "outputs: none into another, nor into the recording that it is made from" {
	refused 2 'x is already used: each output needs a file of its own' --json x -o x
	refused 2 'x is already used' --html x --flame x
	# however it is spelled, and a table is an output too
	refused 2 'x is already used' --html ./x --flame x
	refused 2 'x is already used' --html x --flame "$PWD/x" --json y
	refused 2 'run.csv is already used' --csv tables --json tables/run.csv
	refused 2 'calls.csv is already used' --csv ../tables -o .././tables/calls.csv
	[[ ! -e ../tables ]]
	mkdir ../tables
	cp "$REC" ../tables/run.csv
	run -2 "$BT" report --csv ../tables ../tables/run.csv
	cmp ../tables/run.csv "$REC"
	[[ $(ls -A ../tables) == run.csv ]]
	cp "$REC" ../run.btrec
	REC=../run.btrec
	refused 2 'run.btrec is already used' -o ../run.btrec
	refused 2 '.././run.btrec is already used' --html .././run.btrec
	run -2 "$BT" diff ../run.btrec ../run.btrec -o ../run.btrec
	cmp ../run.btrec "$TOP/tests/golden/recordings/sqlite.btrec"
	"$BT" diff ../run.btrec ../run.btrec >/dev/null
	# "-" is where the report reads from, and where it writes to
	"$BT" report - --json - <../run.btrec | jq -e .run >/dev/null
}

@test "outputs: into what its caller has opened, and into nothing else that is no regular file" {
	local name
	"$BT" report "$REC" --folded ../folded --flame ../flame -o ../text
	for name in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
		"$BT" report --show-args "$REC" -o "$name" | cmp - ../text
	done
	"$BT" report --show-args "$REC" --flame /dev/fd/7 -o ../text 7>../came
	cmp ../flame ../came
	"$BT" report --show-args "$REC" --flame /dev/stderr -o ../text 2>../came
	cmp ../flame ../came
	refused 2 'only one output' --flame - -o /dev/stdout
	# 9 is nobody's
	refused 1 'cannot write /dev/fd/9' --flame /dev/fd/9 -o ../text
	mkfifo ../pipe
	mknod ../null c 1 3
	for name in "${FILES[@]}" json output; do
		refused 1 'will not write to ../pipe: it is a named pipe' "--$name" ../pipe
		refused 1 'will not write to ../null: it is a character device' "--$name" ../null
	done
	[[ -p ../pipe && -c ../null && ! $(ls -A) ]]
	[[ -c /dev/full ]] || skip "missing: /dev/full"
	run -1 sh -c '"$@" >/dev/full' - "$BT" report "$REC" --html - --folded f --csv ../tables -o t
	[[ $output == *'cannot write standard output: No space left on device' && ! -e ../tables && ! $(ls -A) ]]
}

@test "outputs: a reader that goes away is no success" {
	local status
	(
		trap '' PIPE
		status=0
		"$BT" report "$REC" --html - 2>../err || status=$?
		echo "$status" >../status
	) | true
	status=$(<../status)
	# it may have been quicker than the reader was
	[[ $status == 0 || ($status == 1 && $(<../err) == *'cannot write standard output: Broken pipe') ]]
}

@test "outputs: a closed standard output is none to write to" {
	local status=0
	"$BT" report "$REC" --json json 2>../err >&- || status=$?
	[[ $status == 1 && $(<../err) == *'cannot write standard output: Bad file descriptor' && ! $(ls -A) ]]
}

@test "outputs: help and lists that cannot be written are no success" {
	local status words
	for words in --help --version 'record --help' 'diff --help' 'doctor --help' 'experiment --help' bench; do
		status=0
		# shellcheck disable=SC2086
		"$BT" $words >/dev/full 2>../err || status=$?
		echo "$words: status $status: $(<../err)"
		[[ $status == 1 && $(<../err) == 'barriertrace: cannot write standard output: No space left on device' ]]
		status=0
		# shellcheck disable=SC2086
		"$BT" $words >&- 2>../err || status=$?
		[[ $status == 1 && $(<../err) == 'barriertrace: cannot write standard output: Bad file descriptor' ]]
	done
}

# on_terminal COLUMNS COMMAND...: what it writes to a terminal of that width, without colours
on_terminal() {
	NO_COLOR=1 script -qec "stty cols $1; ${*:2}" /dev/null </dev/null | tr -d '\r'
}

@test "outputs: text is as wide as the terminal, from 60 columns to 120" {
	need script stty
	local cols widest
	for cols in 40:60 59:60 72:72 200:120; do
		widest=$(on_terminal "${cols%:*}" "$BT" report "$REC" | wc -L)
		echo "$cols: $widest"
		((widest <= ${cols#*:} && widest > ${cols#*:} - 10))
	done
}

@test "outputs: without their argument" {
	local option
	for option in "${FILES[@]/#/--}" --csv --json --output -o; do
		run -2 --separate-stderr "$BT" report "$REC" "$option"
		[[ ! $output && ${#stderr_lines[@]} == 1 && $stderr == *"'$option' needs a value"* ]]
	done
	refused 2 'did you mean --flame?' --flam x
	refused 2 'did you mean --perfetto?' --perfeto x
}

@test "outputs: help names each, for what tracing and replaying do" {
	local command name
	for command in '' record report; do
		# shellcheck disable=SC2086
		"$BT" $command --help >../help
		for name in "${FILES[@]}" csv json; do
			grep -q -- "^ *--$name [A-Z]" ../help
		done
	done
}

@test "help: each heading once" {
	local command
	for command in '' record report diff doctor experiment bench; do
		# shellcheck disable=SC2086
		"$BT" $command --help >../help
		grep -q '^Options:$' ../help
		[[ ! $(grep '^[A-Z][^.]*:$' ../help | sort | uniq -d) ]] || { echo "$command:"; grep '^[A-Z][^.]*:$' ../help; false; }
	done
}

# A row is "  -o, --output FILE  A sentence", or the sentence begins on the next line, indented further.
@test "help: each option has a sentence" {
	local command
	for command in '' doctor experiment bench probes record report diff; do
		"$BT" $command --help >help
		awk '/^  +-/ { if (row != "") print row; row = $0; sub(/^ +(-[^ ]+,? )*-[^ ]+( [A-Z][^ ]*)?/, ""); if ($0 ~ /^  +[^ ]/) row = "" ; next }
			row != "" && /^ {10,}[^ -]/ { row = ""; next }
			row != "" { print row; row = "" }
			END { if (row != "") print row }' help >without
		(($(grep -cE '^ +-' help) > 3))
		[[ ! -s without ]] || { echo "$command:"; cat without; false; }
	done
}

@test "help: names no option that the command hasn't" {
	local command
	for command in '' record report diff doctor experiment bench; do
		# shellcheck disable=SC2086
		"$BT" $command --help >../help
		grep -oE '^ +(-., )?--[a-z-]+' ../help | grep -oE -- '-(-[a-z-]+|[a-z])$|-[a-z]\b' >../have
		grep -q '^--help$' ../have && grep -q '^-h$' ../have
		[[ ! $(grep -oE '(^|[ (])-(-[a-z][a-z-]*|[a-z])\b' ../help | tr -d ' (' | grep -vxFf ../have) ]] ||
			{ echo "$command: an option is named and not listed"; false; }
	done
}

# as_nobody COMMAND..: as sudo would call it for nobody
as_nobody() {
	SUDO_UID=65534 SUDO_GID=65534 "$@"
}

@test "outputs: belong to the user who called sudo" {
	need_root
	local name all=()
	for name in "${FILES[@]}" json; do
		all+=("--$name" "$name")
	done
	cp "$REC" ../recording
	REC=../recording
	chmod 644 "$REC"
	chown 65534 .
	as_nobody "$BT" report "$REC" "${all[@]}" --csv tables -o text
	for name in "${FILES[@]}" json text tables tables/*; do
		[[ $(stat -c %u:%g "$name") == 65534:65534 ]] || { echo "$name: $(stat -c %u:%g "$name")"; return 1; }
	done
	rm -r ./*
	env PKEXEC_UID=65534 "$BT" report "$REC" -o text
	[[ $(stat -c %u text) == 65534 ]]
	rm text
	if getent passwd nobody >/dev/null; then
		env DOAS_USER=nobody "$BT" report "$REC" -o text
		[[ $(stat -c %u text) == "$(id -u nobody)" ]]
		rm text
	fi
	for name in SUDO_UID=x SUDO_UID= PKEXEC_UID=-1 DOAS_USER=no-such-user; do
		run -1 env "$name" "$BT" report "$REC" -o text
		[[ ${#lines[@]} == 1 && $output == *"${name%%=*}"*--as-root* && ! -e text ]]
	done
	env SUDO_UID=x "$BT" report --as-root "$REC" -o text
	[[ $(stat -c %u text) == 0 ]]
}

@test "outputs: what root replaces stays whose it was" {
	need_root
	local name
	mkdir theirs roots
	chmod 755 roots
	for name in theirs/json theirs/html roots/json; do
		echo old >"$name"
		chmod 640 "$name"
		chown 65534:12 "$name"
	done
	chown 65534 theirs
	quietly --json theirs/json --html theirs/html -o text
	quietly --json roots/json -o text
	[[ $(stat -c '%u:%g %a' theirs/json theirs/html roots/json) == $'65534:12 640\n65534:12 640\n65534:12 640' ]]
	chmod 4750 theirs/json
	quietly --json theirs/json -o text
	[[ $(stat -c '%u:%g %a' theirs/json) == '65534:12 750' ]]
}

@test "outputs: who leaves a file where anybody may gets nothing of what replaces it" {
	need_root
	local whose
	mkdir everybodys
	for whose in '775 0' '757 0' '755 65533' '1777 0'; do # mode and owner of the directory
		chmod "${whose% *}" everybodys
		chown "${whose#* }" everybodys
		echo old >everybodys/json
		chmod 666 everybodys/json
		chown 65534:65534 everybodys/json
		quietly --json everybodys/json -o text
		[[ $(stat -c '%u:%g %a' everybodys/json) == '0:0 600' ]] || { echo "$whose"; false; }
	done
	# nor who gives an old one of root's a second name there, or has one for an own
	for whose in '1777 0' '755 65534'; do # mode of the directory, owner of the old one
		echo old >old
		chmod 666 old
		chown "${whose#* }" old
		chmod "${whose% *}" everybodys
		ln -f old everybodys/html
		quietly --html everybodys/html -o text
		[[ $(stat -c '%u:%g %a' everybodys/html) == '0:0 600' ]] || { echo "$whose"; false; }
	done
}

@test "outputs: a damaged recording gives all of them, and status 5" {
	local name all=()
	head -c -1 "$REC" >../cut
	for name in "${FILES[@]}" json; do
		all+=("--$name" "$name")
	done
	REC=../cut
	run -5 --separate-stderr "$BT" report ../cut "${all[@]}" --csv tables -o text
	[[ ! $output && ${#stderr_lines[@]} == 1 ]]
	[[ $(files_here) == 'db flame folded html json perfetto tables text ' ]]
}

# It opens its text last, and waits there: nobody reads the pipe.
# signalled CALLS WHEN: a report, which gets a signal as its WHENth such call ends
signalled() {
	run strace -f -qq -o ../calls -e "trace=$1" -e "inject=$1:signal=TERM:when=$2" "$BT" report "$REC" --json json --html html \
		--csv tables -o text
}

@test "outputs: a signal while a file is being made leaves nothing behind" {
	local when=0
	need strace
	signalled mkdir,mkdirat 1
	[[ $status == 143 && ! $(ls -A) ]]
	while signalled openat $((++when)) && ((status)); do
		[[ $status == 143 && ! $(ls -A) ]] || { echo "$when: $status, $(files_here)"; tail -n 2 ../calls; false; }
	done
	((when > 1 + 3 + ${#TABLES[@]}))
	[[ -s text && -s json && -s html ]]
}

# no_proc COMMAND..: in the background, where files can't be made without a name, as on vfat
no_proc() {
	exec unshare -m "$BASH" -ec 'mount -t tmpfs none /proc && exec "$@"' - "$@"
}

# It waits for a reader of its pipe.
is_writing() {
	local call
	read -r call _ <"/proc/$1/syscall" && [[ $call == 1 || $call == 64 ]]
}

@test "outputs: a signal that ends it leaves nothing behind" {
	local signal status how
	need_mount_namespace
	for how in '' no_proc; do
		for signal in TERM HUP INT QUIT PIPE; do
			mkfifo ../hold
			exec 9<>../hold
			head -c 65536 /dev/zero >&9
			start $how env --default-signal "$BT" report "$REC" --json json --html html --folded folded --csv tables -o - >&9
			eventually 10 is_writing "$STARTED"
			[[ $how && $(ls -A . tables | grep -c '^.barriertrace-') == $((3 + ${#TABLES[@]})) || ! $how && $(files_here) == 'tables ' ]]
			kill "-$signal" "$STARTED"
			status=0
			status_of "$STARTED" || status=$?
			[[ $status == $((128 + $(kill -l "$signal"))) && ! $(ls -A) ]] || { echo "$signal: $status, $(files_here)"; false; }
			exec 9<&-
			rm ../hold
		done
	done
}

@test "outputs: killed, nothing of them is left where a file can be made without a name" {
	mkfifo ../hold
	exec 9<>../hold
	head -c 65536 /dev/zero >&9
	start "$BT" report "$REC" --json json --html html --csv tables -o - >&9
	eventually 10 is_writing "$STARTED"
	kill -KILL "$STARTED"
	status_of "$STARTED" || true
	[[ $(files_here) == 'tables ' && ! $(ls -A tables) ]]
}
