/* SPDX-License-Identifier: GPL-2.0-only */
/* notice.h - what a stage has to tell while it works. It does not speak itself: commands do, and the service will. */
#ifndef BT_UTIL_NOTICE_H
#define BT_UTIL_NOTICE_H

enum notice_level {
	NOTICE_DETAIL, /* for those who ask for details */
	NOTICE_NORMAL,
	NOTICE_ERROR,	 /* something is not as it should be, and the work goes on */
	NOTICE_PROGRESS, /* replaces the one before; "": there is none any more */
};

/* Zeroed: nobody listens. `text` is one line, or libbpf's with a verifier's log. */
struct notices {
	void (*tell)(void *ctx, enum notice_level level, const char *text);
	void *ctx;
};

void notice(const struct notices *to, enum notice_level level, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
