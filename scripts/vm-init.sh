#!/busybox/busybox sh
# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0-only
#
# The first process of a guest that scripts/vm starts: runs /command and tells the host, through virtio ports with the names
# out, err, files and status, what came of it.

PATH=/barriertrace/build:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/busybox
export PATH HOME=/root LC_ALL=C.UTF-8 TERM=dumb BUILD=/barriertrace/build
# for the tests: no bound on times that takes a real CPU, and waits may last so many times as long (the kernel's command line may say so)
export BARRIERTRACE_EMULATED=1 BARRIERTRACE_PATIENCE="${BARRIERTRACE_PATIENCE:-8}" BARRIERTRACE_CHECK_LIMIT=3600 BARRIERTRACE_TEST_LIMIT=3600
/busybox/busybox --install -s /busybox

make_mounts() {
	mkdir -p /proc /sys /dev /tmp /run /root /mnt /var/tmp
	mount -t proc proc /proc
	mount -t sysfs sysfs /sys
	mount -t devtmpfs dev /dev
	mkdir -p /dev/pts /dev/shm
	mount -t devpts devpts /dev/pts
	mount -t tmpfs shm /dev/shm
	mount -t tmpfs tmp /tmp
	mount -t tmpfs run /run
	mount -t debugfs debugfs /sys/kernel/debug
	mount -t tracefs tracefs /sys/kernel/tracing
	mount -t bpf bpf /sys/fs/bpf
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
	ln -s /proc/self/fd /dev/fd
	ln -s /proc/self/fd/0 /dev/stdin
	ln -s /proc/self/fd/1 /dev/stdout
	ln -s /proc/self/fd/2 /dev/stderr
	ln -sf /proc/self/mounts /etc/mtab
	[ -e /lib/modules ] || ln -s /usr/lib/modules /lib/modules
} 2>/dev/null

# They come as soon as the driver has talked to the host.
port() { # NAME
	local tries=0 name
	while [ $tries -lt 100 ]; do
		for name in /sys/class/virtio-ports/*/name; do
			if [ "$(cat "$name" 2>/dev/null)" = "$1" ]; then
				name=${name%/name}
				echo "/dev/${name##*/}"
				return
			fi
		done
		tries=$((tries + 1))
		usleep 50000
	done
	echo "init: no port $1" >/dev/console
	poweroff -f
}

# Through pipes: a port can be opened once only, /dev/stdout by whoever wants to.
run_command() {
	local status out err
	mkfifo /run/out /run/err
	cat </run/out >"$(port out)" &
	out=$!
	cat </run/err >"$(port err)" &
	err=$!
	(cd /barriertrace && exec setsid sh -c ". /command" </dev/null >/run/out 2>/run/err)
	status=$?
	# what it left behind may hold them open
	{ sleep 2 && kill $out $err; } 2>/dev/null &
	wait $out $err
	return $status
}

make_mounts
hostname guest
ip link set lo up
for module in virtio_pci virtio_console virtio_blk virtio_scsi sd_mod nvme ahci ata_piix loop fuse; do
	modprobe -q $module
done
exec 9>"$(port status)"
echo "booted $(uname -r)" >&9
/barriertrace/scripts/kernel-log begin /run/kernel-log
run_command
status=$?
/barriertrace/scripts/kernel-log complaints /run/kernel-log >/out/complaints ||
	echo "the kernel's log cannot be read" >>/out/complaints
dmesg >/out/dmesg
tar -C /out -cf - . >"$(port files)"
echo "exit $status" >&9
poweroff -f
