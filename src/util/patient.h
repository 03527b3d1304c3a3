/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * patient.h - what may not return: done by a thread of its own, and waited for no longer than it is worth. Reading some files of /proc takes
 * locks of the process that they are about, which it may hold while it hangs.
 */
#ifndef BT_UTIL_PATIENT_H
#define BT_UTIL_PATIENT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Runs fn(job). True: it is done, and the job is the caller's again. False: it was not done within `ms`, or too many others are still under
 * way, and then drop(job) has been called or will be, by whoever has it last.
 */
bool patient_run(void (*fn)(void *job), void *job, void (*drop)(void *job), unsigned int ms);

/* A whole file, with a NUL behind it; the caller's. NULL: there is none, or it could not be read in time. */
char *patient_text(const char *path, size_t *size);

#endif
