// SPDX-License-Identifier: GPL-2.0-only
#include "util/edit_distance.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LONGEST 64

size_t near_distance(const char *a, size_t n, const char *b)
{
	size_t row[LONGEST], nb = strlen(b);

	if (nb >= LONGEST)
		return SIZE_MAX;
	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 0; i < n; i++) {
		size_t corner = row[0];

		row[0] = i + 1;
		for (size_t j = 1; j <= nb; j++) {
			bool same = tolower((unsigned char)a[i]) == tolower((unsigned char)b[j - 1]);
			size_t best = corner + !same;

			corner = row[j];
			if (corner + 1 < best)
				best = corner + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[nb];
}
