/* SPDX-License-Identifier: GPL-2.0-only */
/* tap.h - "ok N - name" lines. ok() states a fact; the plan comes last, from tap_done(). */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

static int tap_run, tap_failed;

static bool __attribute__((format(printf, 2, 3), unused)) ok(bool good, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", good ? "" : "not ", ++tap_run);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout); /* a crash must not lose it, nor a child that is forked say it again */
	tap_failed += !good;
	return good;
}

/* FREED(report) struct report r; is freed with its block. */
#define FREED(type) __attribute__((cleanup(type##_free)))

/* A line for whoever looks at a failure. */
static void __attribute__((format(printf, 1, 2), unused)) diag(const char *fmt, ...)
{
	va_list ap;

	fputs("# ", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

/* TEST(name) { .. } is run by tests_run(), in the order in which they stand: constructors of a file are. */
struct tap_test {
	const char *name;
	void (*run)(void);
	struct tap_test *next;
};

static struct tap_test *tap_tests, **tap_end = &tap_tests;
static const char *tap_now __attribute__((unused)); /* the test that runs */

#define TEST(test) \
	static void test_##test(void); \
	static void __attribute__((constructor)) tap_add_##test(void) \
	{ \
		static struct tap_test tap_test = { .name = #test, .run = test_##test }; \
\
		*tap_end = &tap_test; \
		tap_end = &tap_test.next; \
	} \
	static void test_##test(void)

static void __attribute__((unused)) tests_run(void)
{
	for (const struct tap_test *t = tap_tests; t; t = t->next) {
		tap_now = t->name;
		t->run();
	}
	tap_now = NULL;
}

/* The exit status of a test program. */
static int __attribute__((unused)) tap_done(void)
{
	printf("1..%d\n", tap_run);
	fflush(stdout); /* before what the sanitizers do at the end */
	return tap_failed || !tap_run;
}

#endif
