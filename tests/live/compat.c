// SPDX-License-Identifier: GPL-2.0-only
/*
 * compat.c - five system calls of the 32-bit kind with the number that is sync on x86_64, and three syncs. A 32-bit nanosleep
 * without a time: EFAULT.
 */
#include <unistd.h>

int main(void)
{
	for (int i = 0; i < 5; i++) {
		long nr = 162;

		asm volatile("int $0x80" : "+a"(nr) : "b"(0L), "c"(0L) : "memory", "r8", "r9", "r10", "r11");
	}
	for (int i = 0; i < 3; i++)
		sync();
	return 0;
}
