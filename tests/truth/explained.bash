# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For explained.bats: what is set up, and what people do on it. A row is a line. load ../helpers and matrix first.

# NAME FILE-SYSTEM MOUNT-OPTIONS
SETUPS='
ext4             ext4            -
ext4-journal     ext4            data=journal
ext4-writeback   ext4            data=writeback
ext4-nobarrier   ext4            barrier=0
ext4-nojournal   ext4-nojournal  -
ext4-fastcommit  ext4-fastcommit -
xfs              xfs             -
btrfs            btrfs           -
btrfs-nodatacow  btrfs           nodatacow
btrfs-compress   btrfs           compress-force=zstd
'

# NAME COMMAND, run by sh in a folder of its own there, with $OWN for what was made before
WORKLOADS='
sqlite-delete    inserts delete 6
sqlite-persist   inserts persist 6
sqlite-wal       inserts wal 12
fio-fdatasync    fio --name=f --rw=randwrite --bs=4k --size=256k --fdatasync=1 --ioengine=psync --output=/dev/null
dd-dsync         dd if=/dev/zero of=f bs=4k count=40 oflag=dsync
dd-direct-dsync  dd if=/dev/zero of=f bs=4k count=40 oflag=direct,dsync
msync            "$SYNCS" msync f 40
rename           renames 10
fallocate        fallocated 20
dirty-200M       dd if=/dev/zero of=f bs=1M count=200 conv=fsync
dpkg             dpkg --root="$OWN/root" --force-script-chrootless --log=/dev/null -i "$OWN/p.deb"
git-commit       committed 3
git-gc           git -C "$OWN/git" -c core.fsync=all gc -q
sync-file        dd if=/dev/urandom of=f bs=1M count=4; sync f
rsync            rsync -a --fsync "$OWN/files/" copy/
'

# What the commands call; each is a program of its own, so that a cell's shell does nothing but start it.
make_programs() { # DIR
	mkdir -p "$1"
	cat >"$1/inserts" <<'X'
#!/bin/sh
i=0
{ echo "PRAGMA journal_mode=$1; PRAGMA synchronous=full; CREATE TABLE t (i);"
while [ $i -lt "$2" ]; do echo "INSERT INTO t VALUES ($i);"; i=$((i + 1)); done; } | exec sqlite3 f.db
X
	cat >"$1/renames" <<'X'
#!/usr/bin/env python3
import os, sys
folder = os.open(".", os.O_RDONLY)
for i in range(int(sys.argv[1])):
    f = os.open("new", os.O_CREAT | os.O_WRONLY, 0o644)
    os.write(f, b"x" * 5000)
    os.fsync(f)
    os.close(f)
    os.rename("new", "f")
    os.fsync(folder)
X
	cat >"$1/fallocated" <<'X'
#!/usr/bin/env python3
import os, sys
f = os.open("f", os.O_CREAT | os.O_RDWR, 0o644)
os.posix_fallocate(f, 0, 1 << 20)
for i in range(int(sys.argv[1])):
    os.pwrite(f, b"x" * 8192, i * 16384)
    os.fdatasync(f)
X
	cat >"$1/committed" <<'X'
#!/bin/sh
i=0
while [ $i -lt "$1" ]; do
	echo $i >>"$OWN/git/f"
	git -C "$OWN/git" -c core.fsync=all commit -q -a -m $i || exit
	i=$((i + 1))
done
X
	chmod +x "$1"/*
}

# What some of them find there, on the disk: a package and a root for it, a repository, a tree of files
make_own() { # DIR
	local i
	mkdir -p "$1"/{root/var/lib/dpkg/{info,updates},p/DEBIAN,p/usr/share/p,files}
	: >"$1/root/var/lib/dpkg/status"
	printf '%s\n' 'Package: p' 'Version: 1' 'Architecture: all' 'Maintainer: nobody' 'Description: p' >"$1/p/DEBIAN/control"
	for ((i = 0; i < 8; i++)); do
		head -c 6000 /dev/urandom | tee "$1/p/usr/share/p/$i" >"$1/files/$i"
	done
	dpkg-deb -b "$1/p" "$1/p.deb" >/dev/null || return
	git init -q "$1/git" && git -C "$1/git" config user.email nobody@localhost && git -C "$1/git" config user.name nobody &&
		cp "$1"/files/* "$1/git" && touch "$1/git/f" && git -C "$1/git" add . && git -C "$1/git" commit -q -m 0 || return
	sync -f "$1"
}

# Somebody else's works for the workers that all share, and a busy loop per CPU
neighbours() {
	local image=/dev/shm/barriertrace.$$.img mnt=$BATS_TEST_TMPDIR/theirs loop
	truncate -s 64M "$image"
	on_exit "rm -f $image"
	mkfs.ext4 -q -F "$image"
	loop=$(losetup -f --show "$image")
	on_exit "losetup -d $loop"
	mkdir "$mnt"
	mount "$loop" "$mnt"
	on_exit "umount $mnt"
	start fio --name=theirs --thread --time_based --runtime=800 --rw=randwrite --bs=16k --size=16M --fsync=8 --rate_iops=2000 \
		--directory="$mnt" --output=/dev/null
	cpu_hogs "$(nproc)"
}

# cell SETUP WORKLOAD COMMAND: traces it; sets CELL, a line of the table
cell() {
	local status=0
	J=$BATS_TEST_TMPDIR/report.json
	mkdir -p "$RIG_MNT/$2"
	(cd "$RIG_MNT/$2" && exec timeout 20 "$BT" -q --json "$J" -o "$BATS_TEST_TMPDIR/report.txt" "$RIG_MNT" -- sh -c "$3" >"$BATS_TEST_TMPDIR/output" 2>&1) ||
		status=$?
	CELL=$(jq -r --arg setup "$1" --arg load "$2" --argjson status "$status" '.sync as $s | [.devices[].kernel.flush_ns // 0] as $k |
		def flush: [.ledger | to_entries[] | select(.key | startswith("flush.p") or startswith("flush.only")) | .value] | add // 0;
		def exact: ([.ledger[]] | add // 0) == .total_ns;
		[$s, $s.by_process[], $s.by_file[]] as $all |
		[$s.count, $s.total_ns / 1e6, 100 * ($s.ledger.unknown // 0) / ([$s.total_ns, 1] | max),
		100 * ($s.ledger.worker // 0) / ([$s.total_ns, 1] | max), 100 * ($s | flush) / ([$s.total_ns, 1] | max), $s.no_ledger,
		.run.lost_events, $status, ($all | all(exact))] | [$setup, $load] + map(tostring) | @tsv' "$J" 2>/dev/null) || CELL=
	read -r -a FIGURES <<<"$CELL"
	[[ $CELL ]] || { echo "no report: status $status"; cat "$BATS_TEST_TMPDIR/output"; return 1; }
}
