/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reports.h - what changed from one run to another.
 *
 * The confidence interval of the difference of two mean latencies is that of Welch's t-test (B. L. Welch, "The
 * generalization of 'Student's' problem when several different population variances are involved", Biometrika 34, 1947),
 * with the degrees of freedom of Welch and Satterthwaite (F. E. Satterthwaite, Biometrics Bulletin 2, 1946):
 *
 *	v = s^2 / n;   d = mean B - mean A;   d -+ t(0.975, f) * sqrt(vA + vB)
 *	f = (vA + vB)^2 / (vA^2 / (nA - 1) + vB^2 / (nB - 1))
 *
 * The means are exact. The variances s^2 come from the buckets of the histograms, as if the values of a bucket were spread
 * evenly over it. A value is off by at most 1/64 of itself, which makes the interval a little too wide rather than
 * too narrow where most values share a bucket.
 *
 * Its limits: it takes the calls for independent of each other. Calls that follow each other often aren't (a garbage
 * collection in the drive slows down many in a row), and calls of several threads share flushes; then the true interval is
 * wider. With few calls and a long tail the mean is not yet normal. And it tells two runs apart, not their cause: for that,
 * let the runs alternate.
 */
#ifndef BT_ANALYSE_COMPARE_REPORTS_H
#define BT_ANALYSE_COMPARE_REPORTS_H

#include "model/comparison.h"
#include "util/num.h"

/* Both reports must outlive *out, which is overwritten. */
void compare_reports(const struct report *a, const struct report *b, struct comparison *out);

/* The parts, for whoever wants to check them. */
double compare_variance(const struct hist *h); /* of a sample: by n - 1; 0 for less than two values */
double compare_student(double freedom);	       /* the 0.975 quantile of Student's t; freedom at least 1 */
struct comparison_interval compare_means(const struct hist *a, const struct hist *b);

struct compare_sample {
	double n, mean, variance; /* of a sample: by n - 1 */
};

/* The same of samples whose figures are known. */
struct comparison_interval compare_samples(const struct compare_sample *a, const struct compare_sample *b);

/* As words have them: a time without its sign, a ratio. */
struct num compare_duration(double ns);
struct num compare_ratio(double x);

#endif
