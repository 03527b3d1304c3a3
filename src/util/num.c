// SPDX-License-Identifier: GPL-2.0-only
#include "util/num.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NSEC_PER_SEC 1000000000ull
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* A value that rounds to `limit` or more is shown in the next unit. */
struct unit {
	const char *name, *ascii;
	uint64_t div, limit;
};

static const struct unit time_units[] = {
	{ "ns", "ns", 1, 1000 },
	{ "µs", "us", 1000, 1000 },
	{ "ms", "ms", 1000000, 1000 },
	{ "s", "s", NSEC_PER_SEC, 1000 },
	{ "min", "min", 60 * NSEC_PER_SEC, 120 },
	{ "h", "h", 3600 * NSEC_PER_SEC, 72 },
	{ "d", "d", 86400 * NSEC_PER_SEC, UINT64_MAX },
};

static const struct unit byte_units[] = {
	{ "B", "B", 1, 1024 },
	{ "KiB", "KiB", 1ull << 10, 1024 },
	{ "MiB", "MiB", 1ull << 20, 1024 },
	{ "GiB", "GiB", 1ull << 30, 1024 },
	{ "TiB", "TiB", 1ull << 40, 1024 },
	{ "PiB", "PiB", 1ull << 50, 1024 },
	{ "EiB", "EiB", 1ull << 60, UINT64_MAX },
};

static const struct unit count_units[] = {
	{ "", "", 1, 1000 },
	{ "k", "k", 1000, 1000 },
	{ "M", "M", 1000000, 1000 },
	{ "G", "G", 1000000000, UINT64_MAX },
};

/* v / div, rounded half up, with three significant digits as long as there are decimals to cut. */
static void sig3(char *s, size_t n, uint64_t v, uint64_t div)
{
	uint64_t whole, rem, x;

	while (div > 1ull << 50) { /* rem * 100 must fit */
		v >>= 1;
		div >>= 1;
	}
	whole = v / div;
	rem = v % div;
	if (whole < 10) {
		x = whole * 100 + (rem * 100 + div / 2) / div;
		if (x < 1000) {
			snprintf(s, n, "%" PRIu64 ".%02u", x / 100, (unsigned int)(x % 100));
			return;
		}
	}
	if (whole < 100) {
		x = whole * 10 + (rem * 10 + div / 2) / div;
		if (x < 1000) {
			snprintf(s, n, "%" PRIu64 ".%u", x / 10, (unsigned int)(x % 10));
			return;
		}
	}
	snprintf(s, n, "%" PRIu64, whole + (rem + div / 2) / div);
}

static const struct unit *unit_for(const struct unit *u, size_t n, uint64_t v)
{
	for (; n > 1; u++, n--) {
		uint64_t rounded = v / u->div + (v % u->div + u->div / 2) / u->div;

		if (rounded < u->limit)
			break;
	}
	return u;
}

static struct num with_unit(uint64_t v, const struct unit *u, bool whole, unsigned int flags)
{
	const char *name = flags & NUM_ASCII ? u->ascii : u->name;
	char digits[24];
	struct num r;

	if (whole)
		snprintf(digits, sizeof(digits), "%" PRIu64, v / u->div);
	else
		sig3(digits, sizeof(digits), v, u->div);
	snprintf(r.s, sizeof(r.s), "%s%s%s", digits, flags & NUM_TIGHT ? "" : " ", name);
	return r;
}

struct num num_duration(uint64_t ns, unsigned int flags)
{
	const struct unit *u = unit_for(time_units, ARRAY_LEN(time_units), ns);

	return with_unit(ns, u, u->div == 1, flags);
}

struct num num_bytes(uint64_t bytes, unsigned int flags)
{
	const struct unit *u = unit_for(byte_units, ARRAY_LEN(byte_units), bytes);

	return with_unit(bytes, u, bytes % u->div == 0, flags);
}

struct num num_count_short(uint64_t n)
{
	const struct unit *u = unit_for(count_units, ARRAY_LEN(count_units), n);

	return with_unit(n, u, u->div == 1, NUM_TIGHT);
}

struct num num_count(uint64_t n)
{
	char digits[24];
	struct num r;
	size_t len, at = 0;

	snprintf(digits, sizeof(digits), "%" PRIu64, n);
	len = strlen(digits);
	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			r.s[at++] = ',';
		r.s[at++] = digits[i];
	}
	r.s[at] = '\0';
	return r;
}

struct num num_count_fit(uint64_t n)
{
	return n < 1000000 ? num_count(n) : num_count_short(n);
}

struct num num_percent(uint64_t part, uint64_t whole, unsigned int flags)
{
	const char *gap = flags & NUM_TIGHT ? "" : " ";
	bool all = part == whole, less = part < whole, none = !part;
	struct num r;
	uint64_t tenths;

	if (!whole)
		return (struct num){ "-" };
	while (part > UINT64_MAX / 2000 || whole > UINT64_MAX / 2000) {
		part >>= 1;
		whole >>= 1;
	}
	if (!whole)
		return (struct num){ "-" };
	tenths = (part * 1000 + whole / 2) / whole;
	if (none)
		snprintf(r.s, sizeof(r.s), "0%s%%", gap);
	else if (!tenths)
		snprintf(r.s, sizeof(r.s), "<0.1%s%%", gap);
	else if (tenths == 1000 && !all)
		snprintf(r.s, sizeof(r.s), "%s%s%%", less ? ">99.9" : "100.0", gap);
	else if (tenths % 1000 == 0)
		snprintf(r.s, sizeof(r.s), "%" PRIu64 "%s%%", tenths / 10, gap);
	else
		snprintf(r.s, sizeof(r.s), "%" PRIu64 ".%u%s%%", tenths / 10, (unsigned int)(tenths % 10), gap);
	return r;
}

const char *num_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

struct num num_ratio(uint64_t a, uint64_t b)
{
	struct num r = { "-" };

	if (b && a && a <= (b - 1) / 200) /* less than half of it: rounded it would be nothing */
		return (struct num){ "<0.01" };
	if (b)
		sig3(r.s, sizeof(r.s), a, b);
	return r;
}

/* Reads a run of digits, to its end also after an overflow: garbage wins over range. */
static int parse_digits(const char **p, uint64_t *out)
{
	uint64_t v = 0;
	int err = 0;

	if (**p < '0' || **p > '9')
		return -EINVAL;
	for (; **p >= '0' && **p <= '9'; (*p)++) {
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(**p - '0'), &v))
			err = -ERANGE;
	}
	*out = v;
	return err;
}

int num_parse_range(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t v;
	int err;

	if (!s)
		return -EINVAL;
	err = parse_digits(&s, &v);
	if (*s)
		return -EINVAL;
	if (err || v < min || v > max)
		return err ? err : -ERANGE;
	*out = v;
	return 0;
}

static uint64_t parse_unit(const char *s)
{
	if (!*s)
		return NSEC_PER_SEC;
	if (!strcmp(s, "m"))
		return 60 * NSEC_PER_SEC;
	for (size_t i = 0; i < ARRAY_LEN(time_units); i++) {
		if (!strcmp(s, time_units[i].name) || !strcmp(s, time_units[i].ascii))
			return time_units[i].div;
	}
	return 0;
}

/* Digits after the point, in parts of `unit`. What is below a nanosecond is cut; *cut tells. */
static uint64_t parse_fraction(const char *s, size_t n, uint64_t unit, bool *cut)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++) {
		if (unit < 10 && s[i] != '0')
			*cut = true;
		unit /= 10;
		v += (uint64_t)(s[i] - '0') * unit;
	}
	return v;
}

int num_parse_seconds(const char *s, uint64_t *ns)
{
	const char *frac = NULL;
	uint64_t v, unit;
	size_t n_frac = 0;
	bool cut = false;
	int err;

	if (!s)
		return -EINVAL;
	err = parse_digits(&s, &v);
	if (err == -EINVAL)
		return err;
	if (*s == '.') {
		frac = s + 1;
		n_frac = strspn(frac, "0123456789");
		if (!n_frac)
			return -EINVAL;
		s = frac + n_frac;
	}
	unit = parse_unit(s);
	if (!unit)
		return -EINVAL;
	if (err || __builtin_mul_overflow(v, unit, &v) ||
	    __builtin_add_overflow(v, parse_fraction(frac, n_frac, unit, &cut), &v))
		return -ERANGE;
	if (cut && !v)
		return -ERANGE;
	*ns = v;
	return 0;
}

int num_parse_bytes(const char *s, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	const char *unit;
	unsigned int shift = 0;
	uint64_t v;
	int err;

	if (!s)
		return -EINVAL;
	err = parse_digits(&s, &v);
	if (err == -EINVAL)
		return err;
	unit = *s ? strchr(units, *s) : NULL;
	if (unit) {
		shift = 10 * (unsigned int)(unit - units + 1);
		s++;
		if (!strcmp(s, "iB") || !strcmp(s, "B"))
			s += strlen(s);
	}
	if (*s)
		return -EINVAL;
	if (err || v > UINT64_MAX >> shift)
		return -ERANGE;
	*bytes = v << shift;
	return 0;
}
