// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: compat FILE
 *
 * System calls of the 32-bit kind (i386's or arm's numbers and registers): 5 calls without sense (EFAULT, EINVAL), whose number is
 * sync in the 64-bit kind; then, of each sync call as many as its place in the table below; then, on x86_64, 3 syncs of the 64-bit
 * kind. Exit status: 0; 1 if the file can't be had; 2 and up: a call that ought to do failed, that place and 2. A kernel without such
 * calls ends it by a signal. For arm it is a program of that kind, as for arm64 no other has such calls, and has no libc.
 */
#include <stddef.h>
#include <stdint.h>

/* Both have these. */
enum { OPEN = 5, FSYNC = 118, FDATASYNC = 148, MSYNC = 144, SYNC = 36, PWRITE64 = 181 };

#ifdef __arm__

enum {
	NOT_SYNC = 81 /* setgroups */,
	SYNCFS = 373,
	SYNC_FILE_RANGE2 = 341,
	PWRITEV2 = 393,
	IO_SETUP = 243,
	IO_GETEVENTS = 245,
	IO_SUBMIT = 246,
	EXIT = 1
};
#define RANGE_CALL(fd, flags) \
	{ \
		SYNC_FILE_RANGE2, \
		{ \
			fd, flags, 0, 0, 512, 0 \
		} \
	}

static long call32(long nr, const long a[6])
{
	register long r7 asm("r7") = nr;
	register long r0 asm("r0") = a[0], r1 asm("r1") = a[1], r2 asm("r2") = a[2];
	register long r3 asm("r3") = a[3], r4 asm("r4") = a[4], r5 asm("r5") = a[5];

	asm volatile("svc #0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5) : "memory", "cc");
	return r0;
}

#else
#include <sys/mman.h>
#include <unistd.h>

enum {
	NOT_SYNC = 162 /* nanosleep */,
	SYNCFS = 344,
	SYNC_FILE_RANGE = 314,
	PWRITEV2 = 379,
	IO_SETUP = 245,
	IO_GETEVENTS = 247,
	IO_SUBMIT = 248
};
#define RANGE_CALL(fd, flags) \
	{ \
		SYNC_FILE_RANGE, \
		{ \
			fd, 0, 0, 512, 0, flags \
		} \
	}

static long call32(long nr, const long a[6])
{
	register const long *args asm("r12") = a;
	long ret;

	/* the sixth argument goes into the frame pointer, which no asm can say that it changes */
	asm volatile("mov %%rbp, %%r13; mov 40(%%r12), %%rbp; int $0x80; mov %%r13, %%rbp"
		     : "=a"(ret)
		     : "0"(nr), "b"(a[0]), "c"(a[1]), "d"(a[2]), "S"(a[3]), "D"(a[4]), "r"(args)
		     : "memory", "cc", "r8", "r9", "r10", "r11", "r13");
	return (int)ret;
}
#endif

/* uapi: these values never change, and both have the same. */
enum {
	RDWR_NEW = 2 | 0100 | 01000,
	WRONLY_DSYNC = 1 | 010000,
	ASYNC = 1,
	SYNCHRONOUS = 4,
	RANGE_WRITE = 2,
	RANGE_WAIT_AFTER = 4,
	DSYNC = 2,
	FDSYNC = 3
};

/* What lies where 32 bits reach it. */
struct low {
	struct {
		uint64_t data;
		uint32_t key, rw_flags;
		uint16_t opcode;
		int16_t priority;
		uint32_t fd;
		uint64_t buf, bytes, offset, reserved;
		uint32_t flags, eventfd;
	} iocb;
	uint32_t list[1], context;
	struct {
		uint32_t base, len;
	} iov;
	char data[512];
	uint64_t event[4];
};

static int all(int fd, int dsync, struct low *m)
{
	const struct {
		long nr, args[6];
	} calls[] = {
		{ FSYNC, { fd } },
		{ FDATASYNC, { fd } },
		{ MSYNC, { (long)m & ~4095L, 4096, SYNCHRONOUS } },
		{ SYNC, { 0 } },
		{ SYNCFS, { fd } },
		RANGE_CALL(fd, RANGE_WAIT_AFTER),
		{ PWRITEV2, { fd, (long)&m->iov, 1, 0, 0, DSYNC } },
		{ PWRITE64, { dsync, (long)m->data, 512, 0, 0 } },
		{ IO_SUBMIT, { m->context, 1, (long)m->list } },
	}, others[] = {
		{ MSYNC, { (long)m & ~4095L, 4096, ASYNC } },
		RANGE_CALL(fd, RANGE_WRITE),
		{ PWRITEV2, { fd, (long)&m->iov, 1, 0, 0, 0 } },
		{ PWRITE64, { fd, (long)m->data, 512, 0, 0 } },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		for (size_t n = 0; n <= i; n++) {
			if (call32(calls[i].nr, calls[i].args) < 0)
				return (int)i + 3;
			if (calls[i].nr == IO_SUBMIT)
				call32(IO_GETEVENTS, (long[6]){ m->context, 1, 1, (long)m->event });
		}
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		call32(others[i].nr, others[i].args);
	return 0;
}

static int run(struct low *m, const char *path)
{
	long fd, dsync;

	for (size_t i = 0; i < sizeof(m->data) && (m->data[i] = path[i]); i++)
		;
	fd = call32(OPEN, (long[6]){ (long)m->data, RDWR_NEW, 0600 });
	dsync = call32(OPEN, (long[6]){ (long)m->data, WRONLY_DSYNC });
	if (fd < 0 || dsync < 0)
		return 1;
	for (int i = 0; i < 5; i++)
		call32(NOT_SYNC, (long[6]){ -1 });
	m->iov.base = (uint32_t)(uintptr_t)m->data;
	m->iov.len = sizeof(m->data);
	m->iocb.opcode = FDSYNC;
	m->iocb.fd = (uint32_t)fd;
	m->list[0] = (uint32_t)(uintptr_t)&m->iocb;
	if (call32(IO_SETUP, (long[6]){ 1, (long)&m->context }))
		return 2;
	return all((int)fd, (int)dsync, m);
}

#ifdef __arm__

static struct low low __attribute__((aligned(4096)));

__attribute__((used, noreturn)) static void begin(const long *stack)
{
	call32(EXIT, (long[6]){ stack[0] == 2 ? run(&low, (const char *)stack[2]) : 1 });
	__builtin_unreachable();
}

__attribute__((naked, noreturn)) void _start(void)
{
	asm volatile("mov r0, sp; b begin");
}

#else

int main(int argc, char **argv)
{
	struct low *m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	int failed;

	if (argc != 2 || m == MAP_FAILED)
		return 1;
	failed = run(m, argv[1]);
	for (int i = 0; i < 3; i++)
		sync();
	return failed;
}
#endif
