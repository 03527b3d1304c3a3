/* SPDX-License-Identifier: GPL-2.0-only */
/* image.h - files that have BTF in them. */
#ifndef BT_BTF_IMAGE_H
#define BT_BTF_IMAGE_H

#include <bpf/btf.h>
#include <gelf.h>
#include <stddef.h>

struct image {
	const char *path;
	char *data;	/* the whole file, mapped */
	size_t size;
	Elf *elf;	/* NULL: it is none */
};

/* Fails with one line on stderr. */
int image_open(struct image *img, const char *path);
void image_close(struct image *img);

/* A section's content, NULL when there is none; *index: its number. */
Elf_Data *image_section(const struct image *img, const char *name, size_t *index);

/*
 * Its BTF: of the section .BTF, or the file's own, or what stands in a flat image. NULL, without a word, when there is
 * none (*why: what is wrong); owned by the caller.
 */
struct btf *image_btf(const struct image *img, struct btf *base, const char **why);

#endif
