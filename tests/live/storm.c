// SPDX-License-Identifier: GPL-2.0-only
/*
 * storm.c - makes sync calls at a given rate, as far as the machine can, and says how many.
 *
 * usage: storm FILE THREADS RATE SECONDS
 *
 * fdatasync of a file to which nothing has been written: nothing waits, so the rate is bounded by CPUs only. RATE: calls a
 * second of all threads together. Prints the number of calls.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define BURST_NS 1000000 /* calls of so long are made at once */

static const char *path;
static uint64_t per_second, seconds; /* of one thread */

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void *work(void *calls)
{
	uint64_t start = now(), n = 0, due = 0, t;
	int fd = open(path, O_RDWR | O_CREAT, 0644);

	while ((t = now() - start) < seconds * 1000000000u) {
		struct timespec nap = { .tv_nsec = BURST_NS };

		/* no burst goes on beyond the end, should the rate be more than can be made */
		for (due = t * per_second / 1000000000u; n < due && (n % 64 || now() - start < seconds * 1000000000u); n++)
			if (fdatasync(fd))
				exit(1);
		nanosleep(&nap, NULL);
	}
	close(fd);
	*(uint64_t *)calls = n;
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t calls[64] = { 0 }, sum = 0;
	pthread_t thread[64];
	int n = argc == 5 ? atoi(argv[2]) : 0;

	if (n < 1 || n > 64)
		return 2;
	path = argv[1];
	per_second = strtoull(argv[3], NULL, 10) / (uint64_t)n;
	seconds = strtoull(argv[4], NULL, 10);
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, work, &calls[i]))
			return 1;
	for (int i = 0; i < n; i++) {
		pthread_join(thread[i], NULL);
		sum += calls[i];
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
