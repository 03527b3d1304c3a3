// SPDX-License-Identifier: GPL-2.0-only
/* Threads speak at once: each line stays whole. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "util/log.h"

#define SPEAKERS 4
#define LINES	 500

static void *speak(void *arg)
{
	for (int i = 0; i < LINES; i++)
		log_verbose("libbpf: speaker %d says line %03d", *(int *)arg, i);
	return NULL;
}

static void speak_at_once(void)
{
	pthread_t thread[SPEAKERS];
	int number[SPEAKERS], n = 0;

	for (; n < SPEAKERS; n++) {
		number[n] = n;
		if (pthread_create(&thread[n], NULL, speak, &number[n]))
			break;
	}
	ok(n == SPEAKERS, "threads");
	while (n--)
		pthread_join(thread[n], NULL);
}

/* Of each speaker the lines in their order, and nothing else. */
static int whole_lines(FILE *f)
{
	int next[SPEAKERS] = { 0 }, whole = 0, who, line, end;
	char text[256];

	while (fgets(text, sizeof(text), f)) {
		end = 0;
		if (sscanf(text, "barriertrace: libbpf: speaker %1d says line %3d%n", &who, &line, &end) == 2 &&
		    who >= 0 && who < SPEAKERS && !strcmp(text + end, "\n") && line == next[who]) {
			next[who]++;
			whole++;
		}
	}
	return whole;
}

int main(void)
{
	FILE *f = tmpfile();
	int told = dup(STDERR_FILENO), whole;

	if (!ok(f && told >= 0 && dup2(fileno(f), STDERR_FILENO) >= 0, "a file for what is said"))
		return tap_done();
	log_level(false, true);
	speak_at_once();
	dup2(told, STDERR_FILENO); /* the sanitizers speak there, too */
	close(told);
	rewind(f);
	whole = whole_lines(f);
	if (!ok(whole == SPEAKERS * LINES, "every line is whole and in its place"))
		diag("%d of %d", whole, SPEAKERS * LINES);
	fclose(f);
	return tap_done();
}
