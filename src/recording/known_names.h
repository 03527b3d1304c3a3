/* SPDX-License-Identifier: GPL-2.0-only */
/* known_names.h - names that tell nothing about a machine's owner: an anonymised recording keeps them. What is not known is somebody's. */
#ifndef BT_RECORDING_KNOWN_NAMES_H
#define BT_RECORDING_KNOWN_NAMES_H

#include <stdbool.h>
#include <stddef.h>

bool known_disk(const char *name, size_t len);	 /* sda1, nvme0n1, dm-0; not md_NAME */
bool known_thread(const char *name, size_t len); /* jbd2/sda1-8, kworker/u8:2-writeback */
bool known_fstype(const char *name, size_t len);
bool known_option(const char *option, size_t len);     /* of a mount: noatime, data=ordered */
bool known_release_word(const char *word, size_t len); /* of a kernel's release: 18, rc1, amd64 */

/* Bytes of the endings (.db-journal) behind at least one other byte; 0: none. */
size_t known_suffix(const char *name, size_t len);

#endif
