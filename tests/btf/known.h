/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * known.h - the table of what is known: one line per form of a use, "use | form | series ...", `all` for all series.
 * A series is "6.12". Each architecture has a table of its own.
 */
#ifndef BT_BTF_KNOWN_H
#define BT_BTF_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct series {
	unsigned int major, minor;	/* 0.0: no kernel of a distribution's, anything known is expected of it */
};

/* Of a kernel by its label "6.12.107+deb13-cloud-arm64". */
struct series series_of(const char *label);
void series_print(FILE *f, struct series s);

struct known_row {
	char *use, *form, *series;
};

struct known {
	struct known_row *row;
	size_t n;
	struct series *series;	/* those that are named */
	size_t n_series;
};

enum verdict {
	AS_KNOWN,
	AS_ELSEWHERE,	/* a known form, but of other kernels; never for one without a series */
	NEW_FORM,
	NEW_USE,
};

/* Fails with one line on stderr. */
int known_open(struct known *k, const char *path);
void known_close(struct known *k);

/* The series whose forms are expected of a kernel: its own, else the last one before it, else the first. */
struct series known_nearest(const struct known *k, struct series s);

enum verdict known_verdict(const struct known *k, struct series nearest, const char *use, const char *form);

/* Writes the rows of a use as "form (series ...), ..." */
void known_print(const struct known *k, const char *use, FILE *f);

#endif
