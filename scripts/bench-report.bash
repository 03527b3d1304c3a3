# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For scripts/bench: from samples to bench.json, and from that to the table and to docs/reference/overhead.md.

# Functions of jq for all below
# shellcheck disable=SC2016 # its variables
JQ_WORDS='
	def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;
	def digits: if fabs >= 1000 then round elif fabs >= 100 then . * 10 | round / 10 elif fabs >= 10 then . * 100 | round / 100
		else . * 1000 | round / 1000 end;
	def spread: "\(.median | digits) [\(.min | digits)..\(.max | digits)]";
	def words: if .missing then "\(.tool): \(.missing | split(": ")[0])" else "\(.tool) \(spread)" end;
	def reasons: [.rows[].tools[] | select(.missing // "" | contains(": ")) | "\(.tool) \(.missing)"] | unique;
	def limit: if .limit == "-" then "" elif .limit[0:2] == "<=" then "at most \(.limit[2:])" else "at least \(.limit[2:])" end;
	# whom the row'"'"'s limit speaks of
	def ours: .tool as $t | [.tools[] | select(.tool == $t)][0] // {tool: $t, missing: "not measured"};
	def peers: .tool as $t | [.tools[] | select(.tool != $t)];
'

machine_json() {
	jq -n --arg cpu "$(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1)" --arg cpus "$(nproc)" --arg kernel "$(uname -r)" \
		--arg arch "$(uname -m)" --arg memory "$(awk '/^MemTotal:/ { print int($2 / 1048576 + 0.5) }' /proc/meminfo)" \
		--arg hypervisor "$(grep -qw hypervisor /proc/cpuinfo && echo yes || echo no)" \
		'{cpu: (if $cpu == "" then $arch else $cpu end), cpus: ($cpus | tonumber), kernel: $kernel, arch: $arch,
		memory_gib: ($memory | tonumber), virtual: ($hypervisor == "yes")}'
}

# What the measured code is: its commit, with a + if the tool's sources were changed since
commit_of() {
	local commit
	local -x GIT_OPTIONAL_LOCKS=0
	commit=$(git -C "$TOP" rev-parse --short=12 HEAD 2>/dev/null) || return 0
	git -C "$TOP" diff --quiet HEAD -- src bpf vmlinux 2>/dev/null || commit+=+
	echo "$commit"
}

rows_tsv() {
	local id
	for id in "${ROW_IDS[@]}"; do
		printf '%s\t%s\t%s\t%s\t%s\n' "$id" "${ROW_LIMIT[$id]}" "${ROW_UNIT[$id]}" "${ROW_FIGURE[$id]}" "$(tool_of "$id")"
	done
}

# write_results FILE: FILE.json from the samples, with the rows of an older one that weren't measured now
write_results() {
	local old=$1.json
	[[ -s $old ]] && jq -e '.format == 2' "$old" >/dev/null 2>&1 || old=/dev/null
	jq -n --slurpfile old "$old" --rawfile rows <(rows_tsv) --rawfile samples "$WORK/samples" --rawfile parts "$WORK/parts" \
		--rawfile missing "$WORK/missing" --argjson machine "$(machine_json)" --arg date "$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
		--arg commit "$(commit_of)" --arg quick "$QUICK" --argjson enough "$STARTS" --arg version "$("$BT" --version)" "$JQ_WORDS"'
		def lines: split("\n") | map(select(. != "") | split("\t"));
		($samples | lines) as $samples | ($parts | lines) as $parts | ($missing | lines | unique) as $missing |
		def figures($row; $tool): [$samples[] | select(.[0] == $row and .[1] == $tool) | .[2] | tonumber];
		def starts($row; $tool): [$samples[] | select(.[0] == $row and .[1] == $tool and .[3] == "start")] | length;
		def tools($row): reduce (($samples + $missing)[] | select(.[0] == $row) | .[1]) as $t ([]; if index([$t]) then . else . + [$t] end);
		def parts($row; $tool): [$parts[] | select(.[0] == $row and .[1] == $tool)] | group_by(.[2]) |
			map({key: .[0][2], value: (map(.[3] | tonumber) | median | digits)}) | from_entries;
		def tool($row; $tool): figures($row; $tool) as $f | {tool: $tool} + if $f == [] then
				{missing: ([$missing[] | select(.[0] == $row and .[1] == $tool) | .[2]][0])}
			else {median: ($f | median), min: ($f | min), max: ($f | max), runs: ($f | length)} +
				(starts($row; $tool) | if . > 0 then {starts: .} else {} end) +
				(parts($row; $tool) | if . == {} then {} else {parts: .} end) end;
		# of starts of a load the limit is met by all, of which there have to be enough for that to say something
		def judged: ours as $o | . + if .limit == "-" then {} elif ($o.median | not) then {result: "not measured"}
			else (.limit[2:] | tonumber) as $l | (if .limit[0:2] == "<=" then 1 else -1 end) as $sign |
				[$o.median, $o.min, $o.max | . * $sign <= $l * $sign] as [$median, $least, $most] |
			{result: (if $o.starts then (if $o.starts < $enough then "unsure" elif $least and $most then "met"
				elif $least or $most then "unsure" else "missed" end) elif $median then "met" else "missed" end)} end;
		($old[0].rows // [] | map({key: .id, value: .}) | from_entries) as $before |
		{format: 2, date: $date, commit: $commit, version: $version, quick: ($quick != ""), machine: $machine,
		rows: [$rows | lines[] | . as [$id, $limit, $unit, $figure, $tool] | tools($id) as $t |
			{id: $id, limit: $limit, unit: $unit, figure: $figure, tool: $tool} as $row |
			if $t == [] then $before[$id] | values | {date, commit, tools} + $row | judged
			else $row + {date: $date, commit: $commit, tools: [$t[] | tool($id; .)]} | judged end]}' >"$1.json.new" || return
	mv "$1.json.new" "$1.json"
}

# print_table FILE: a row per figure, its peers below it
print_table() {
	[[ -s $1 ]] || die "no $1: run scripts/bench first"
	jq -r "$JQ_WORDS"'
		.date as $date | .rows as $rows |
		"barriertrace \(.version | sub("barriertrace "; "")) (\(.commit)) on \(.machine.cpus) × \(.machine.cpu), \(.machine.memory_gib) GiB, " +
		"Linux \(.machine.kernel)\(if .machine.virtual then ", a virtual machine" else "" end), \(.date)" +
		(if .quick then ", --quick: not to be published" else "" end),
		"median [least..most] of the runs; throughput kept is met, or missed, if all its runs are, else unsure",
		"",
		(.rows[] | "\(.result // "-" | . + " " * (13 - length))\(.id | . + (" " * (34 - length) // "")) \(.unit as $unit | ours | if .median then "\(spread) \($unit)" elif .missing then .missing else "-" end)" +
			"\(limit | if . == "" then "" else ", \(.)" end)" +
			(if .date != $date then " (of \(.date))" else "" end),
			"        \(.figure)",
			(peers | select(. != []) | "        beside it: " + (map(words) | join("; "))),
			(ours.parts // empty | "        of which: " + (to_entries | sort_by(-.value) | map("\(.key) \(.value)") | join(", ")))),
		"",
		reasons[],
		([.rows[].result // empty] | "\(map(select(. == "met")) | length) met, \(map(select(. == "missed")) | length) missed" +
			(map(select(. == "unsure")) | length | if . > 0 then ", \(.) unsure" else "" end) +
			(map(select(. == "not measured")) | length | if . > 0 then ", \(.) not measured" else "" end))' "$1"
}

# ---- docs/reference/overhead.md ----

# Sentences about missed rows: "ROW-OR-BEGINNING|SENTENCE" lines
NOTES=$TOP/docs/reference/overhead-notes.txt

# write_doc JSON FILE [README]: the README has one of the figures, too
write_doc() {
	[[ -s $1 ]] || die "no $1: run scripts/bench first"
	jq -e '.quick | not' "$1" >/dev/null || die "$1 is of --quick: not to be published"
	jq -e '.format == 2' "$1" >/dev/null || die "$1 is of an older scripts/bench: measure again"
	jq -r --rawfile notes "$NOTES" --argjson enough "$STARTS" --argjson seconds "$START_SECONDS" \
		--argjson long "$LONG_START_SECONDS" "$JQ_WORDS"'
		($notes | split("\n") | map(select(test("^[a-z]")) | capture("^(?<row>[^|]*)\\|(?<text>.*)$"))) as $notes |
		def note($id): [$notes[] | select(.row as $r | $id | startswith($r))] | max_by(.row | length) | if . then .text else "no profile yet." end;
		def cell: gsub("\\|"; "\\|");
		def shares: ours.parts // {} | to_entries | sort_by(-.value) | map("`\(.key)` \(.value)") |
			if . == [] then "" else " By program: \(join(", "))." end;
		"# What it costs",
		"",
		"Written by `scripts/bench --doc` from what `make bench` measured last; don'\''t edit.",
		"",
		(.rows | group_by(.commit) | max_by(length)[0]) as $most |
		"\(.version), commit \($most.commit), \($most.date[0:10]), on \(.machine.cpus) × \(.machine.cpu), \(.machine.memory_gib) GiB, Linux \(.machine.kernel)" +
			(if .machine.virtual then ", a virtual machine" else "" end) + ". Rows that were measured at another",
		"commit name it. Figures: median [least..most] of the runs, in which the tools take turns. BPF times are the kernel'\''s own",
		"(`kernel.bpf_stats_enabled`); their offset per program run (30 to 60 ns: that of the empty program) is in",
		"all of them. Peers run as they are installed; what one can'\''t do here is said where it stands.",
		"",
		"| figure | limit | barriertrace | | peers |",
		"|---|---|---|---|---|",
		(.rows[] | "| \(.figure | cell) | \(limit)\(if .limit == "-" then "" else " \(.unit)" end) | " +
			"\(ours | if .median then spread elif .missing then .missing else "" end) \(.unit)" +
			"\(if .commit != $most.commit or .date[0:10] != $most.date[0:10] then " (\(.commit), \(.date[0:10]))" else "" end) | " +
			"\(if .result == "missed" or .result == "unsure" then "**\(.result)**" else .result // "" end) | " +
			"\(peers | map(words) | join("; ") | cell) |"),
		"",
		"## Not met",
		"",
		(.rows | map(select((.result // "met") != "met")) | if . == [] then "None." else
			.[] | "- `\(.id)`: \(ours.median // "-" | if type == "number" then digits else . end) \(.unit), \(limit).\(shares) \(note(.id))" end),
		"",
		(reasons | if . == [] then empty else "## Not run here", "", (.[] | "- \(.)"), "" end),
		"## How it is measured",
		"",
		"- The disk of most rows is a loop device on a file in memory, without direct I/O: the fastest that every machine has. `fio`, libaio, 4k, queue",
		"  depth 8; with fsync: one write, one fsync. The rig is the tests'\'' own disk (`tests/rig`), its delays set to 0.",
		"- Throughput kept is taken with the statistics off: in one run of a load the tools attach and detach their programs in turns of 90 to 130 ms,",
		"  and in one turn of each block none is attached. A run of \($seconds) s (\($long) s for the default command on this disk) gives one figure,",
		"  the median of the ratios within its blocks. A row has \($enough) runs. If they are independent, the range from their least to their most is a",
		"  96.9 % confidence interval of the median. The limit is met if all runs meet it, missed if none does.",
		"  What a tool has to do at certain times it does in its turns: rather more of it than without turns.",
		"- The instructions are exact: QEMU counts them (`-icount`), so they are the same on every machine; what a cache miss costs is not in them.",
		"- `make bench` measures all, `scripts/bench --quick ROW` a single row in some seconds; `scripts/bench --list` names them."' "$1" >"$2.new" || return
	mv "$2.new" "$2"
	[[ ! ${3-} ]] || write_kept "$1" "$3"
}

# write_kept JSON README: what the default command keeps of the throughput of the machine's own disk, between two comments
write_kept() {
	local kept
	grep -q '<!-- kept -->.*<!-- /kept -->' "$2" || die "$2 has no place for what is kept"
	kept=$(jq -r --argjson enough "$STARTS" "$JQ_WORDS"'[.rows[] | select(.id == "own.kept") | ours][0] |
		select((.starts // 0) >= $enough) | .median * 10 | round / 10 | "\(.) %"' "$1") || return
	[[ $kept ]] || { say "own.kept was not measured: $2 stays as it is"; return; }
	sed -i "s|<!-- kept -->.*<!-- /kept -->|<!-- kept -->$kept<!-- /kept -->|" "$2"
}
