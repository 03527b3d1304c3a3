# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For what scripts/bench runs in a guest of scripts/vm --icount. The clock there counts instructions, and doesn't stand still while
# others run.

ROUNDS=3

elapsed() { # COMMAND...: in ns, which are instructions; status 1 if it fails
	local from=${EPOCHREALTIME/./} to
	"$@" >/dev/null 2>&1 || return 1
	to=${EPOCHREALTIME/./}
	echo $(((to - from) * 1000))
}

# per_turn FUNCTION FEW MANY: instructions of one of what FUNCTION does so many of; of many less of few, for starts to cancel out
per_turn() {
	local few many
	few=$(elapsed "$1" "$2") && many=$(elapsed "$1" "$3") || return 1
	echo $(((many - few) / ($3 - $2)))
}

several() { # COMMAND...
	local i
	for ((i = 0; i < ROUNDS; i++)); do "$@"; done
}

median() { # of nothing: nothing
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

row() { # ROW TOOL FIGURE; or -REASON in its place; nothing: a part of it could not be measured
	printf '%s\t%s\t%s\n' "$1" "$2" "$(tr '\t' ' ' <<<"${3:--a part of it could not be measured}")"
}

links_of() { # PID
	find "/proc/$1/fd" -maxdepth 1 \( -lname '*bpf*link*' -o -lname '*perf_event*' -o -lname '*raw-tracepoint*' \) 2>/dev/null | wc -l
}

# Attached, and nothing is added any more
settled() { # PID
	local same=0 n=0 now
	while ((same < 4)); do
		kill -0 "$1" 2>/dev/null || return
		sleep 0.5
		now=$(links_of "$1")
		((now && now == n)) && ((++same)) || same=0
		n=$now
	done
}

# in_background COMMAND...: sets PID; status 1, and why in /tmp/err, if it doesn't start
in_background() {
	"$@" >/dev/null 2>/tmp/err </dev/null &
	PID=$!
	settled $PID
}

why() {
	head -n 1 /tmp/err
}

stop() { # PID...
	kill -TERM "$@" 2>/dev/null
	wait "$@" 2>/dev/null || true # ended by us
}
