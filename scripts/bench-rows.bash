# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# shellcheck disable=SC2034,SC2153 # used, or set, by scripts/bench and its other parts
#
# For scripts/bench: the table's rows. The first word of a row's id is the group that is measured together (measure_GROUP).

GROUPS_IN_ORDER=(block kept default own switch sync start rest load lost replay icount)

# id | limit: "<=" at most, ">=" at least, "-" none | unit | figure
ROWS='
block.none.randread             | <=170  | ns    | block histograms, BPF time per request: 4k random reads, no scheduler
block.none.randwrite            | <=170  | ns    | .. 4k random writes, no scheduler
block.none.fsync                | <=170  | ns    | .. 4k writes, an fsync after each, no scheduler
block.mq-deadline.randread      | <=170  | ns    | .. 4k random reads, mq-deadline
block.mq-deadline.randwrite     | <=170  | ns    | .. 4k random writes, mq-deadline
block.mq-deadline.fsync         | <=170  | ns    | .. 4k writes, an fsync after each, mq-deadline
block.ratio.none.randread       | <=0.25 | ×     | the same over that of biolatency -Q -F -D in the same round: random reads, no scheduler
block.ratio.none.randwrite      | <=0.25 | ×     | .. random writes, no scheduler
block.ratio.none.fsync          | <=0.25 | ×     | .. writes and fsyncs, no scheduler
block.ratio.mq-deadline.randread  | <=0.25 | ×   | .. random reads, mq-deadline
block.ratio.mq-deadline.randwrite | <=0.25 | ×   | .. random writes, mq-deadline
block.ratio.mq-deadline.fsync   | <=0.25 | ×     | .. writes and fsyncs, mq-deadline
block.unstamped.none            | <=260  | ns    | BPF time per request where its begin is not stamped (iostats=0): random reads, no scheduler
block.unstamped.mq-deadline     | <=360  | ns    | .. random reads, mq-deadline
kept.none                       | >=98   | %     | throughput kept: fio 4k randread, RAM-backed loop, no scheduler, block histograms on
kept.mq-deadline                | -      | %     | .. mq-deadline
kept.sync                       | >=95   | %     | throughput kept: one task that writes and calls fdatasync, ext4 on a RAM-backed loop, ledgers on
kept.sync4                      | -      | %     | .. four tasks
default.none                    | <=300  | ns    | the default command, nobody syncs for 10 s, BPF time per request: 4k random reads, no scheduler
default.mq-deadline             | <=520  | ns    | .. mq-deadline
default.ratio.none              | <=0.4  | ×     | the same over that of biolatency -Q -F -D in the same round: no scheduler
default.ratio.mq-deadline       | <=0.6  | ×     | .. mq-deadline
default.kept.none               | -      | %     | throughput kept: fio 4k randread, RAM-backed loop, no scheduler, the default command, nobody syncs for 10 s
default.kept.mq-deadline        | -      | %     | .. mq-deadline
default.kept.none.plain         | >=99   | %     | .. beside the default command over that beside --no-ledger, no scheduler
default.kept.mq-deadline.plain  | >=99   | %     | .. mq-deadline
default.kept.none.rival         | >=100  | %     | .. beside the default command over that beside biolatency -Q -F -D, no scheduler
default.kept.mq-deadline.rival  | >=100  | %     | .. mq-deadline
own.kept                        | -      | %     | throughput kept: fio 4k randread of a file on the disk below TMPDIR, the default command, nobody syncs
own.sync                        | -      | %     | throughput kept: one task that writes and calls fdatasync there, the default command with its ledgers
switch.unfollowed               | <=1.3  | ×     | context switch of a task nobody follows, over an empty program
switch.ns                       | -      | ns    | sched_switch of the same tasks, statistics included
switch.waking                   | -      | ns    | sched_waking of the same tasks, statistics included
switch.followed                 | -      | ns    | context switch while one task calls fdatasync all the time (followed tasks and others)
sync.bpf                        | <=3    | µs    | sync call with its whole ledger, BPF time per call: SQLite WAL FULL, rig at flush 0
sync.work.queue                 | -      | ns    | workqueue_queue_work, per run, statistics included: all work items of the machine, most of which no sync call waits for
sync.work.start                 | -      | ns    | .. workqueue_execute_start
sync.work.end                   | -      | ns    | .. workqueue_execute_end
start.attached                  | <=200  | ms    | start to attached, everything on
rest.memory                     | <=12   | MiB   | resident memory at rest, one disk, everything on
rest.cpu                        | -      | %     | userspace CPU at rest, of a core
load.cpu                        | <=10   | %     | userspace CPU at 20,000 sync calls a second, of a core
load.rate                       | -      | 1/s   | .. sync calls a second that were made
load.memory                     | -      | MiB   | .. resident memory after it
lost.events                     | <=0    |       | lost events, as many sync calls as the disk yields for 30 s
lost.rate                       | -      | 1/s   | .. sync calls a second, of 50,000 that are wanted
lost.told                       | -      |       | completions that the kernel told an empty program of and not this tool, of 10 s of the same
replay.time                     | <=2    | s     | replay and analysis of 1,000,000 sync calls
replay.memory                   | <=300  | MiB   | .. resident memory
replay.rate                     | -      | 1/s   | .. records a second
replay.beyond                     | >=50000 | 1/s  | .. sync calls a second (50,000 and more must be digested)
icount.none                     | -      | instr | instructions per request, in QEMU with -icount: null_blk, 4k reads, no scheduler, a device so fast that inserts and issues are traced
icount.mq-deadline              | -      | instr | .. the same, mq-deadline
icount.own                      | -      | instr | .. a device of 50 µs, no scheduler: by the clocks of the requests
icount.dd                       | <=1.03 | ×     | dd bs=1 from and to nowhere beside a watch whose disk is synced, over alone; instructions, as above
icount.dd.tp_btf                | <=1.35 | ×     | .. sync calls by the typed tracepoint of all system calls (--rung sync=tp_btf)
icount.dd.tp                    | <=1.8  | ×     | .. by the classic one (--rung sync=tp)
icount.call                     | -      | instr | fdatasync of a page that was written over, its ledger: instructions that the call takes more
icount.call.tp_btf              | -      | instr | .. sync calls by the typed tracepoint of all system calls
icount.call.plain               | -      | instr | .. of it for the block histograms (--no-ledger)
icount.start                    | <=2.5  | ×     | start until traced, over the same with sync calls by the typed tracepoint
'

declare -gA ROW_LIMIT ROW_UNIT ROW_FIGURE
ROW_IDS=()

trim() { # sets REPLY
	REPLY=${1#"${1%%[![:space:]]*}"}
	REPLY=${REPLY%"${REPLY##*[![:space:]]}"}
}

read_rows() {
	local id limit unit figure whole=''
	while IFS='|' read -r id limit unit figure; do
		[[ $id ]] || continue
		trim "$id" && id=$REPLY
		trim "$limit" && ROW_LIMIT[$id]=$REPLY
		trim "$unit" && ROW_UNIT[$id]=$REPLY
		trim "$figure" && figure=$REPLY
		# ".. mq-deadline": as the figure above it, up to its colon
		[[ $figure == ..* ]] && figure=${whole%%:*}:${figure#..} || whole=$figure
		ROW_FIGURE[$id]=$figure
		ROW_IDS+=("$id")
	done <<<"$ROWS"
}

# Whom a row's limit speaks of
tool_of() { # ROW
	case $1 in
	default.* | own.*) echo "$DEFAULT" ;;
	kept.sync* | start.* | rest.*) echo "$OURS, ledgers on" ;;
	*) echo "$OURS" ;;
	esac
}

list_rows() {
	local id
	for id in "${ROW_IDS[@]}"; do
		printf '%-34s %-8s %-6s %s\n' "$id" "${ROW_LIMIT[$id]}" "${ROW_UNIT[$id]}" "${ROW_FIGURE[$id]}"
	done
}

# Is this row, or any below it, asked for?
wanted() { # ROW-OR-GROUP
	local asked
	((${#ASKED[@]})) || return 0
	for asked in "${ASKED[@]}"; do
		[[ $1 != "$asked"* && $asked != "$1"* ]] || return 0
	done
	return 1
}

# ---- what was measured ----

sample() { # ROW TOOL VALUE
	printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$WORK/samples"
}

# What a figure consists of, such as the programs' shares
part() { # ROW TOOL NAME VALUE
	printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" >>"$WORK/parts"
}

missing() { # ROW TOOL REASON
	printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$WORK/missing"
}
