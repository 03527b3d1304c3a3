// SPDX-License-Identifier: GPL-2.0-only
/* Numbers as people read and type them. */
#include <errno.h>
#include <locale.h>
#include <string.h>

#include "util/num.h"
#include "tap.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static void is(const char *got, const char *want, const char *what)
{
	if (!ok(!strcmp(got, want), "%s gives '%s'", what, want))
		diag("got '%s'", got);
}

static void test_duration(void)
{
	static const struct {
		uint64_t ns;
		const char *want;
	} cases[] = {
		{ 0, "0 ns" },
		{ 999, "999 ns" },
		{ 1005, "1.01 µs" },
		{ 9995, "10.0 µs" },
		{ 31600, "31.6 µs" },
		{ 99950, "100 µs" },
		{ 100500, "101 µs" },
		{ 999500, "1.00 ms" },
		{ 7123456, "7.12 ms" },
		{ 999999999, "1.00 s" },
		{ 1000000000000, "16.7 min" },
		{ 7200000000000, "2.00 h" },
		{ 259200000000000, "3.00 d" },
		{ UINT64_MAX, "213504 d" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char what[64];

		snprintf(what, sizeof(what), "%llu ns", (unsigned long long)cases[i].ns);
		is(num_duration(cases[i].ns, 0).s, cases[i].want, what);
	}
	is(num_duration(31600, NUM_ASCII).s, "31.6 us", "31.6 µs in ASCII");
	is(num_duration(31600, NUM_ASCII | NUM_TIGHT).s, "31.6us", "the same for a table");
}

static void test_duration_grows(void)
{
	bool three = true;

	/* three significant digits from 1 µs to 1000 s, and never a fourth */
	for (uint64_t v = 1000; v < 999000000000; v += v / 97 + 1) {
		struct num n = num_duration(v, NUM_ASCII);
		size_t digits = 0;

		for (const char *s = n.s; *s && *s != ' '; s++)
			digits += *s != '.';
		three = three && digits == 3;
	}
	ok(three, "three significant digits everywhere");
}

static void test_sizes(void)
{
	is(num_bytes(0, 0).s, "0 B", "no bytes");
	is(num_bytes(4096, 0).s, "4 KiB", "4096 bytes");
	is(num_bytes(4097, 0).s, "4.00 KiB", "4097 bytes, rounded and saying so");
	is(num_bytes(1536 * 1024, 0).s, "1.50 MiB", "1.5 MiB");
	is(num_bytes(500107862016, 0).s, "466 GiB", "a 500 GB disk");
	is(num_bytes(1ull << 60, NUM_TIGHT).s, "1EiB", "an EiB, tight");
	is(num_bytes(UINT64_MAX, 0).s, "16.0 EiB", "all there is");
	is(num_bytes((10ull << 10) - 5, 0).s, "10.0 KiB", "10 KiB less 5 bytes");
	is(num_bytes((100ull << 10) - 51, 0).s, "100 KiB", "100 KiB less 51 bytes");
	is(num_bytes((1ull << 20) - 512, 0).s, "1.00 MiB", "a MiB less 512 bytes");
}

static void test_counts(void)
{
	is(num_count(0).s, "0", "0");
	is(num_count(1000).s, "1,000", "1000");
	is(num_count(1234567).s, "1,234,567", "1234567");
	is(num_count(UINT64_MAX).s, "18,446,744,073,709,551,615", "the largest count");
	is(num_count_short(12345).s, "12.3k", "12345, short");
	is(num_count_short(999999).s, "1.00M", "999999, short");
	is(num_count_short(5000000000).s, "5.00G", "5e9, short");
}

static void test_shares(void)
{
	is(num_percent(3, 8, 0).s, "37.5 %", "3 of 8");
	is(num_percent(3, 8, NUM_TIGHT).s, "37.5%", "3 of 8, tight");
	is(num_percent(0, 8, 0).s, "0 %", "none");
	is(num_percent(8, 8, 0).s, "100 %", "all");
	is(num_percent(1, 100000, 0).s, "<0.1 %", "hardly any is not none");
	is(num_percent(99999, 100000, 0).s, ">99.9 %", "nearly all is not all");
	is(num_percent(1, 0, 0).s, "-", "a share of nothing");
	is(num_percent(UINT64_MAX / 2, UINT64_MAX, 0).s, "50.0 %", "half of the largest");
	is(num_percent(1, UINT64_MAX, 0).s, "<0.1 %", "hardly any of the largest");
	is(num_percent(3, 2, 0).s, "150.0 %", "more than all");
	is(num_percent(1, 2000, 0).s, "0.1 %", "1 of 2000 is rounded up");
	is(num_percent(99950, 100000, 0).s, ">99.9 %", "99.95 %");
	is(num_percent(UINT64_MAX, UINT64_MAX / 4 * 3, 0).s, "133.3 %", "more than all, of the largest");
	is(num_percent(1ull << 63, 1 << 20, 0).s, "879609302220800 %", "far more than all");
	is(num_plural(0), "s", "none");
	is(num_plural(1), "", "one");
	is(num_ratio(414, 207).s, "2.00", "414 / 207");
	is(num_ratio(1, 1000).s, "<0.01", "1 / 1000 is not nothing");
	is(num_ratio(1, 200).s, "0.01", "1 / 200 is rounded up");
	is(num_ratio(1, 1).s, "1.00", "1 / 1");
	is(num_ratio(0, 1000).s, "0.00", "0 / 1000 is");
	is(num_ratio(1, 0).s, "-", "1 / 0");
}

static void test_parse_u64(void)
{
	static const char *const bad[] = {
		"",    " ",   "-1",    "+1",	   " 1",
		"1 ",  "1x",  "0x10",  "1e3",	   "1.0",
		"nan", "inf", "1,000", "\xd9\xa3", "99999999999999999999x",
	};
	uint64_t v = 42;

	ok(num_parse_range("0", 0, UINT64_MAX, &v) == 0 && v == 0, "u64: 0");
	ok(num_parse_range("007", 0, UINT64_MAX, &v) == 0 && v == 7, "u64: 007");
	ok(num_parse_range("18446744073709551615", 0, UINT64_MAX, &v) == 0 && v == UINT64_MAX, "u64: the largest");
	v = 42;
	ok(num_parse_range("18446744073709551616", 0, UINT64_MAX, &v) == -ERANGE, "u64: one more is out of range");
	ok(num_parse_range("99999999999999999999999", 0, UINT64_MAX, &v) == -ERANGE, "u64: so is far more");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ok(num_parse_range(bad[i], 0, UINT64_MAX, &v) == -EINVAL, "u64: garbage %zu is refused", i);
	ok(num_parse_range(NULL, 0, UINT64_MAX, &v) == -EINVAL, "u64: NULL is refused");
	ok(v == 42, "u64: a refusal leaves the output alone");
	ok(num_parse_range("5", 1, 5, &v) == 0 && v == 5, "range: the upper end is in");
	ok(num_parse_range("1", 1, 5, &v) == 0 && v == 1, "range: the lower end is in");
	ok(num_parse_range("0", 1, 5, &v) == -ERANGE, "range: below is out");
	ok(num_parse_range("6", 1, 5, &v) == -ERANGE && v == 1, "range: above is out, output alone");
	ok(num_parse_range("x", 1, 5, &v) == -EINVAL, "range: garbage is garbage");
}

static void test_parse_seconds(void)
{
	static const struct {
		const char *s;
		uint64_t ns;
	} good[] = {
		{ "0", 0 },
		{ "0.0", 0 },
		{ "1", 1000000000 },
		{ "0.5", 500000000 },
		{ "500ms", 500000000 },
		{ "1.5s", 1500000000 },
		{ "250us", 250000 },
		{ "250µs", 250000 },
		{ "100ns", 100 },
		{ "2m", 120000000000 },
		{ "2min", 120000000000 },
		{ "1h", 3600000000000 },
		{ "0.25h", 900000000000 },
		{ "0.000000001", 1 },
		{ "1.0000000001", 1000000000 },
		{ "18446744073.709551615", UINT64_MAX },
		{ "1d", 86400000000000 },
		{ "0.0ns", 0 },
		{ "1.9ns", 1 },
		{ "0.001us", 1 },
		{ "0.05us", 50 },
		{ "0.010us", 10 },
		{ "0.0010us", 1 },
		{ "1.0019us", 1001 },
	};
	/* clang-format off */
	static const char *const bad[] = {
		"", ".", ".5", "5.", "-1", "+1", " 1", "1 ", "1 s", "s", "ms", "1e3", "0x1", "nan",
		"inf",
		"infinity", "1,5", "1.5.5", "1sec", "1S", "1MS", "--", "1\n", "1ss", "1.s",
		"99999999999999999999999x",
	};
	static const char *const range[] = {
		"18446744073.709551616", "18446744074", "99999999999999999999999", "6000000h",
		"0.0000000001", "0.1ns", "0.9ns", "0.0009us",
	};
	/* clang-format on */
	uint64_t v;

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		ok(num_parse_seconds(good[i].s, &v) == 0 && v == good[i].ns, "seconds: %s", good[i].s);
	v = 42;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ok(num_parse_seconds(bad[i], &v) == -EINVAL, "seconds: garbage %zu is refused", i);
	for (size_t i = 0; i < ARRAY_LEN(range); i++)
		ok(num_parse_seconds(range[i], &v) == -ERANGE, "seconds: %s is out of range", range[i]);
	ok(num_parse_seconds(NULL, &v) == -EINVAL, "seconds: NULL is refused");
	ok(v == 42, "seconds: a refusal leaves the output alone");
}

static void test_parse_bytes(void)
{
	/* clang-format off */
	static const struct { const char *s; uint64_t bytes; } good[] = {
		{ "0", 0 }, { "4096", 4096 }, { "1K", 1024 }, { "3M", 3145728 }, { "3MB", 3145728 }, { "2GiB", 2147483648 },
		{ "1KiB", 1024 }, { "1KB", 1024 }, { "1G", 1073741824 }, { "1T", 1099511627776 }, { "0T", 0 },
		{ "16777215T", 16777215ull << 40 }, { "18446744073709551615", UINT64_MAX },
	};
	/* clang-format on */
	static const char *const bad[] = { "", "K", "1k", "1 M", "1.5M", "-1", "+1", "1MM", "1iB", "1Bi", "1M,", "0x10" };
	static const char *const range[] = { "16777216T", "18446744073709551616", "18446744073709551615K" };
	uint64_t v;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(!num_parse_bytes(good[i].s, &v) && v == good[i].bytes, "bytes: %s", good[i].s);
	v = 42;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(num_parse_bytes(bad[i], &v) == -EINVAL, "bytes: '%s' is refused", bad[i]);
	for (size_t i = 0; i < sizeof(range) / sizeof(range[0]); i++)
		ok(num_parse_bytes(range[i], &v) == -ERANGE, "bytes: %s is out of range", range[i]);
	ok(num_parse_bytes(NULL, &v) == -EINVAL && v == 42, "bytes: NULL is refused, and the output left alone");
}

int main(void)
{
	/* a decimal comma must change nothing; where the locale is missing this proves less, and no harm */
	setlocale(LC_ALL, "de_DE.UTF-8");
	test_duration();
	test_duration_grows();
	test_sizes();
	test_counts();
	test_shares();
	test_parse_u64();
	test_parse_seconds();
	test_parse_bytes();
	return tap_done();
}
