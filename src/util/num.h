/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers as people read and type them. No locale, no floating point, so that the same number gives
 * the same bytes everywhere.
 *
 * A formatter returns its text by value: `buf_str(b, num_duration(ns, 0).s)`.
 */
#ifndef BT_UTIL_NUM_H
#define BT_UTIL_NUM_H

#include <stdint.h>

struct num {
	char s[40];
};

#define NUM_ASCII 1u /* "us" for the microsecond */
#define NUM_TIGHT 2u /* no space before the unit, for tables */

/* Three significant digits and a fitting unit: "850 ns", "31.6 µs", "7.12 ms", "20.6 min" */
struct num num_duration(uint64_t ns, unsigned int flags);

/* "512 B", "4 KiB" (exactly), "4.00 KiB" (rounded), "1.46 MiB" */
struct num num_bytes(uint64_t bytes, unsigned int flags);

/* "1,234,567" */
struct num num_count(uint64_t n);

/* "950", "12.3k", "1.24M" */
struct num num_count_short(uint64_t n);
struct num num_count_fit(uint64_t n); /* short from a million on: seven columns at most */

/*
 * "37.5 %". Only nothing is "0 %" and only all is "100 %": near them it says "<0.1 %" and
 * ">99.9 %". "-" when the whole is 0.
 */
struct num num_percent(uint64_t part, uint64_t whole, unsigned int flags);

/* What a noun takes behind the number n: "s", and nothing behind 1 */
const char *num_plural(uint64_t n);

/* a / b: "2.00", "31.6"; "<0.01" when there is something but less; "-" when b is 0 */
struct num num_ratio(uint64_t a, uint64_t b);

/*
 * Parsers for the command line. The whole string must be the number: no sign, no blanks, no
 * exponent, no inf or nan. 0, -EINVAL (not a number) or -ERANGE (too large, or too small to be told
 * from zero); *out is left alone on failure.
 */

/* A whole number within [min, max]; outside is -ERANGE. */
int num_parse_range(const char *s, uint64_t min, uint64_t max, uint64_t *out);

/* "0.5" (seconds), "500ms", "250us", "100ns", "2s", "5m", "5min", "1h", into nanoseconds */
int num_parse_seconds(const char *s, uint64_t *ns);

/* "4096", "64K", "100M", "2GiB": K is 1,024. Into bytes */
int num_parse_bytes(const char *s, uint64_t *bytes);

#endif
