// SPDX-License-Identifier: GPL-2.0-only
#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/mem.h"

/* Not mapped: the files of /sys/kernel/btf refuse that on some kernels. */
static int read_all(struct image *img, int fd)
{
	size_t room = 1 << 20;
	ssize_t got;

	img->data = xrealloc(NULL, room);
	while ((got = read(fd, img->data + img->size, room - img->size)) > 0) {
		img->size += (size_t)got;
		if (img->size == room)
			img->data = xrealloc(img->data, room *= 2);
	}
	if (got < 0)
		return -errno;
	img->data = xrealloc(img->data, img->size);	/* what reads beyond it is seen by the sanitizer */
	return 0;
}

int image_open(struct image *img, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	*img = (struct image){ .path = path };
	err = fd < 0 ? -errno : read_all(img, fd);
	if (fd >= 0)
		close(fd);
	if (err) {
		fprintf(stderr, "btfcheck: %s: %s\n", path, strerror(-err));
		image_close(img);
		return -1;
	}
	elf_version(EV_CURRENT);
	if (img->size > EI_NIDENT && !memcmp(img->data, ELFMAG, SELFMAG))
		img->elf = elf_memory(img->data, img->size);
	return 0;
}

void image_close(struct image *img)
{
	if (img->elf)
		elf_end(img->elf);
	free(img->data);
	*img = (struct image){ 0 };
}

Elf_Data *image_section(const struct image *img, const char *name, size_t *index)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (!img->elf || elf_getshdrstrndx(img->elf, &names))
		return NULL;
	while ((scn = elf_nextscn(img->elf, scn))) {
		GElf_Shdr sh;
		const char *s = gelf_getshdr(scn, &sh) ? elf_strptr(img->elf, names, sh.sh_name) : NULL;

		if (!s || strcmp(s, name) || sh.sh_type == SHT_NOBITS)
			continue;
		if (index)
			*index = elf_ndxscn(scn);
		return elf_rawdata(scn, NULL);
	}
	return NULL;
}

#define SMALLEST_OF_A_KERNEL (100u << 10)	/* bytes of names */

/* The header of a kernel's BTF at this place? */
static size_t btf_size_at(const char *p, size_t room)
{
	struct btf_header h;

	if (room < sizeof(h))
		return 0;
	memcpy(&h, p, sizeof(h));
	if (h.magic != BTF_MAGIC || h.version != BTF_VERSION || h.flags || h.hdr_len != sizeof(h) || h.type_off ||
	    h.str_off != h.type_len || h.str_len < SMALLEST_OF_A_KERNEL)
		return 0;
	if ((unsigned long long)h.hdr_len + h.str_off + h.str_len > room)
		return 0;
	return (size_t)h.hdr_len + h.str_off + h.str_len;
}

/* An arm64 image is no ELF file: its BTF has to be found by its header. */
static struct btf *flat_btf(const struct image *img)
{
	static const unsigned char magic[] = { BTF_MAGIC & 0xff, BTF_MAGIC >> 8, BTF_VERSION, 0 };
	const char *p = img->data, *end = img->data + img->size;

	while ((p = memmem(p, (size_t)(end - p), magic, sizeof(magic)))) {
		size_t size = btf_size_at(p, (size_t)(end - p));
		struct btf *btf = size ? btf__new(p, (__u32)size) : NULL;

		if (btf)
			return btf;
		p++;
	}
	return NULL;
}

/* Has it BTF that says so: a section, or nothing but BTF? */
static const void *said_btf(const struct image *img, size_t *size)
{
	static const unsigned char magic[] = { BTF_MAGIC & 0xff, BTF_MAGIC >> 8 };
	Elf_Data *section = image_section(img, ".BTF", NULL);

	if (section && section->d_buf && section->d_size) {
		*size = section->d_size;
		return section->d_buf;
	}
	*size = img->size;
	return img->size >= sizeof(magic) && !memcmp(img->data, magic, sizeof(magic)) ? img->data : NULL;
}

struct btf *image_btf(const struct image *img, struct btf *base, const char **why)
{
	size_t size;
	const void *data = said_btf(img, &size);
	struct btf *btf;

	*why = "no BTF in it";
	if (!data)
		return img->elf || base ? NULL : flat_btf(img);
	/* older libbpf does not export btf__new_split() */
	btf = base ? btf__parse_split(img->path, base) : btf__new(data, (__u32)size);
	if (!btf)
		*why = "its BTF is damaged, or of a kind that this libbpf does not know";
	return btf;
}
