// SPDX-License-Identifier: GPL-2.0-only
#include "known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

struct series series_of(const char *label)
{
	struct series s = { 0 };
	int used = 0;

	if (sscanf(label, "%3u.%3u%n", &s.major, &s.minor, &used) < 2 || !used)
		return (struct series){ 0 };
	return s;
}

void series_print(FILE *f, struct series s)
{
	fprintf(f, "%u.%u", s.major, s.minor);
}

static long order(struct series s)
{
	return (long)s.major * 1000 + s.minor;
}

/* ---- reading ---- */

static void note_series(struct known *k, const char *list)
{
	char *copy = xstrdup(list), *save;

	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		struct series s = series_of(word);
		size_t i = 0;

		while (i < k->n_series && order(k->series[i]) != order(s))
			i++;
		if (s.major && i == k->n_series)
			*(struct series *)grow((void **)&k->series, &k->n_series, sizeof(s)) = s;
	}
	free(copy);
}

static int take_line(struct known *k, char *line)
{
	char *form, *series;
	struct known_row *row;

	line[strcspn(line, "\n")] = '\0';
	if (!*line || *line == '#')
		return 0;
	form = strstr(line, " | ");
	series = form ? strstr(form + 3, " | ") : NULL;
	if (!series)
		return -1;
	*form = *series = '\0';
	row = grow((void **)&k->row, &k->n, sizeof(*row));
	*row = (struct known_row){ xstrdup(line), xstrdup(form + 3), xstrdup(series + 3) };
	note_series(k, row->series);
	return 0;
}

int known_open(struct known *k, const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	*k = (struct known){ 0 };
	if (!f) {
		fprintf(stderr, "btfcheck: %s: %s\n", path, strerror(errno));
		return -1;
	}
	for (int n = 1; !err && getline(&line, &room, f) > 0; n++) {
		err = take_line(k, line);
		if (err)
			fprintf(stderr, "btfcheck: %s:%d: not \"use | form | series\"\n", path, n);
	}
	free(line);
	fclose(f);
	if (err)
		known_close(k);
	return err;
}

void known_close(struct known *k)
{
	for (size_t i = 0; i < k->n; i++) {
		free(k->row[i].use);
		free(k->row[i].form);
		free(k->row[i].series);
	}
	free(k->row);
	free(k->series);
	*k = (struct known){ 0 };
}

/* ---- asking ---- */

struct series known_nearest(const struct known *k, struct series s)
{
	struct series first = { 0 }, last = { 0 };

	for (size_t i = 0; i < k->n_series; i++) {
		struct series here = k->series[i];

		if (!first.major || order(here) < order(first))
			first = here;
		if (order(here) <= order(s) && order(here) > order(last))
			last = here;
	}
	if (!s.major)
		return s;
	return last.major ? last : first;
}

static bool names(const char *list, struct series s)
{
	char word[32];
	size_t n = (size_t)snprintf(word, sizeof(word), "%u.%u", s.major, s.minor);

	if (!s.major || !strcmp(list, "all"))
		return true;
	for (const char *p = list; *p; p += strspn(p, " ")) {
		if (strcspn(p, " ") == n && !strncmp(p, word, n))
			return true;
		p += strcspn(p, " ");
	}
	return false;
}

enum verdict known_verdict(const struct known *k, struct series nearest, const char *use, const char *form)
{
	enum verdict v = NEW_USE;

	for (size_t i = 0; i < k->n; i++) {
		if (strcmp(k->row[i].use, use) != 0)
			continue;
		if (strcmp(k->row[i].form, form) != 0)
			v = v == NEW_USE ? NEW_FORM : v;
		else if (names(k->row[i].series, nearest))
			return AS_KNOWN;
		else
			v = AS_ELSEWHERE;
	}
	return v;
}

void known_print(const struct known *k, const char *use, FILE *f)
{
	const char *between = "";

	for (size_t i = 0; i < k->n; i++) {
		if (strcmp(k->row[i].use, use) != 0)
			continue;
		fprintf(f, "%s%s (%s)", between, k->row[i].form, k->row[i].series);
		between = ", ";
	}
}
