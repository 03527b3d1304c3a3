// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: compat FILE
 *
 * System calls of the 32-bit kind (i386's numbers and registers): 5 nanosleeps without a time (EFAULT), whose number is sync on
 * x86_64; then, of each sync call as many as its place in the table below; then 3 syncs of the 64-bit kind. Exit status: 0; 1 if
 * one fails that ought to do. A kernel without such calls ends it by a signal.
 */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

static long call32(long nr, const long a[6])
{
	register const long *args asm("r12") = a;
	long ret;

	/* the sixth argument goes into the frame pointer, which no asm can say that it changes */
	asm volatile("mov %%rbp, %%r13; mov 40(%%r12), %%rbp; int $0x80; mov %%r13, %%rbp"
		     : "=a"(ret) : "0"(nr), "b"(a[0]), "c"(a[1]), "d"(a[2]), "S"(a[3]), "D"(a[4]), "r"(args)
		     : "memory", "cc", "r8", "r9", "r10", "r11", "r13");
	return (int)ret;
}

/* What lies where 32 bits reach it. */
struct low {
	struct iocb iocb;
	uint32_t list[1], context;
	struct { uint32_t base, len; } iov;
	char data[512];
	struct io_event event;
};

static int all(int fd, int dsync, struct low *m)
{
	const struct {
		long nr, args[6];
	} calls[] = {
		{ 118, { fd } },							/* fsync */
		{ 148, { fd } },							/* fdatasync */
		{ 144, { (long)m & ~4095L, 4096, MS_SYNC } },				/* msync */
		{ 36, { 0 } },								/* sync */
		{ 344, { fd } },							/* syncfs */
		{ 314, { fd, 0, 0, 512, 0, SYNC_FILE_RANGE_WAIT_AFTER } },		/* sync_file_range */
		{ 379, { fd, (long)&m->iov, 1, 0, 0, RWF_DSYNC } },			/* pwritev2 */
		{ 181, { dsync, (long)m->data, 512, 0, 0 } },				/* pwrite64 */
		{ 248, { m->context, 1, (long)m->list } },				/* io_submit */
	}, others[] = {
		{ 144, { (long)m & ~4095L, 4096, MS_ASYNC } },
		{ 314, { fd, 0, 0, 512, 0, SYNC_FILE_RANGE_WRITE } },
		{ 379, { fd, (long)&m->iov, 1, 0, 0, 0 } },
		{ 181, { fd, (long)m->data, 512, 0, 0 } },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		for (size_t n = 0; n <= i; n++) {
			long ret = call32(calls[i].nr, calls[i].args);

			if (ret < 0) {
				fprintf(stderr, "32-bit call %ld: %s\n", calls[i].nr, strerror((int)-ret));
				return 1;
			}
			if (calls[i].nr == 248)
				call32(247, (long[6]){ m->context, 1, 1, (long)&m->event });	/* io_getevents */
		}
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		call32(others[i].nr, others[i].args);
	return 0;
}

int main(int argc, char **argv)
{
	struct low *m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	int fd, dsync, failed;

	if (argc != 2 || m == MAP_FAILED)
		return 1;
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	dsync = open(argv[1], O_WRONLY | O_DSYNC);
	if (fd < 0 || dsync < 0)
		return 1;
	for (int i = 0; i < 5; i++)
		call32(162, (long[6]){ 0 });
	m->iov.base = (uint32_t)(uintptr_t)m->data;
	m->iov.len = sizeof(m->data);
	m->iocb.aio_lio_opcode = IOCB_CMD_FDSYNC;
	m->iocb.aio_fildes = (uint32_t)fd;
	m->list[0] = (uint32_t)(uintptr_t)&m->iocb;
	failed = call32(245, (long[6]){ 1, (long)&m->context }) ? 1 : 0;	/* io_setup */
	failed |= all(fd, dsync, m);
	for (int i = 0; i < 3; i++)
		sync();
	return failed;
}
