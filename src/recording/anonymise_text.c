// SPDX-License-Identifier: GPL-2.0-only
#include "recording/anonymise_text.h"

#include <ctype.h>
#include <string.h>

#define LEN(a)	 (sizeof(a) / sizeof((a)[0]))
#define COMM_MAX 15 /* of a task's name the kernel keeps so many bytes: a command's is to be the same name */

static size_t digits(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && isdigit((unsigned char)s[n]))
		n++;
	return n;
}

static size_t word_len(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && isalnum((unsigned char)s[n]))
		n++;
	return n;
}

static bool starts_with(const char *s, size_t len, const char *prefix)
{
	return len >= strlen(prefix) && !memcmp(s, prefix, strlen(prefix));
}

/* ---- the kernel's own names of disks ---- */

/* What follows the first number: p1, n1p2, c0n1, boot0 */
static bool is_disk_number(const char *s, size_t len)
{
	static const char *const joints[] = { "n", "p", "c", "s", "boot" };
	size_t n = digits(s, len), i;

	while (n && n < len) {
		for (i = 0; i < LEN(joints) && !starts_with(s + n, len - n, joints[i]); i++)
			;
		if (i == LEN(joints))
			return false;
		s += n + strlen(joints[i]);
		len -= n + strlen(joints[i]);
		n = digits(s, len);
	}
	return n > 0;
}

/* sda1, vdb: at most three letters, and a partition */
static bool is_lettered(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && islower((unsigned char)s[n]))
		n++;
	return n > 0 && n <= 3 && digits(s + n, len - n) == len - n;
}

/* sda1, nvme0n1, dm-0; not md_NAME. What kind of disk it is decides what is plausible of it. */
static bool is_disk(const char *name, size_t len)
{
	static const char *const lettered[] = { "sd", "hd", "vd", "xvd", "dasd" };
	static const char *const numbered[] = { "nvme", "loop", "md",	  "md_d",   "dm-",     "ram",	"zram",
						"nbd",	"rbd",	"drbd",	  "bcache", "pmem",    "ublkb", "zd",
						"sr",	"fd",	"mmcblk", "nullb",  "mtdblock" };

	for (size_t i = 0; i < LEN(lettered); i++)
		if (starts_with(name, len, lettered[i]) &&
		    is_lettered(name + strlen(lettered[i]), len - strlen(lettered[i])))
			return true;
	for (size_t i = 0; i < LEN(numbered); i++)
		if (starts_with(name, len, numbered[i]) &&
		    is_disk_number(name + strlen(numbered[i]), len - strlen(numbered[i])))
			return true;
	return false;
}

/* "sda (diskseq 17)", "sda (2)": of several disks that had this name. Bytes of what is behind it. */
static size_t turn_len(const char *name, size_t len)
{
	size_t disk = 0, at;

	while (disk < len && name[disk] != ' ')
		disk++;
	at = disk + 2;
	if (!starts_with(name + disk, len - disk, " ("))
		return 0;
	if (starts_with(name + at, len - at, "diskseq "))
		at += strlen("diskseq ");
	at += digits(name + at, len - at);
	return at + 1 == len && name[at] == ')' ? len - disk : 0;
}

static void replace_disk(struct stand_ins *s, const char *name, size_t len, struct buf *b)
{
	size_t turn = turn_len(name, len);

	if (!len || is_disk(name, len - turn))
		buf_add(b, name, len);
	else
		stand_in_add(s, NAME_DISK, name, len, starts_with(name, len, "md_") ? "md_" : "disk", b);
}

/* ---- paths ---- */

void replace_part(struct stand_ins *s, const char *name, size_t len, struct buf *b)
{
	stand_in_add(s, NAME_PATH, name, len, "n", b);
}

static void replace_path(struct stand_ins *s, const char *path, size_t len, struct buf *b)
{
	if (starts_with(path, len, "/dev/") && is_disk(path + 5, len - 5)) {
		buf_add(b, path, len);
		return;
	}
	for (size_t n; len; path += n, len -= n) {
		const char *slash = memchr(path, '/', len);

		n = slash ? (size_t)(slash - path) : len;
		if (n)
			replace_part(s, path, n, b);
		if (slash) {
			buf_char(b, '/');
			n++;
		}
	}
}

void replace_model(struct stand_ins *s, const char *device, const char *model, struct buf *b)
{
	if (starts_with(device, strlen(device), "loop") || starts_with(device, strlen(device), "dm-") || *model == '/')
		replace_path(s, model, strlen(model), b);
	else
		buf_str(b, model);
}

/* "/srv/db is on dm-0, on sda, sdb", "dm-0 is on sda3": the user's own word, then disks. */
static void replace_via(struct stand_ins *s, const char *text, struct buf *b)
{
	while (*text) {
		size_t n = strcspn(text, " ,"), gap = strspn(text + n, " ,");

		if ((n == 2 && (!memcmp(text, "is", 2) || !memcmp(text, "on", 2))) || is_disk(text, n))
			buf_add(b, text, n);
		else if (starts_with(text, n, "md_"))
			replace_disk(s, text, n, b);
		else
			replace_path(s, text, n, b);
		buf_add(b, text + n, gap);
		text += n + gap;
	}
}

/* ---- tasks and commands ---- */

/* 253; of workers u8, 1H */
static bool is_number(const char *s, size_t len)
{
	size_t u = len && *s == 'u', n = digits(s + u, len - u);

	return n && (u + n == len || (u + n + 1 == len && s[u + n] == 'H'));
}

/* At a part of a thread's name: bytes of the disk or the number that stands here, or 0. */
static size_t open_part(const char *s, size_t len)
{
	for (size_t n = len; n > 0; n--)
		if ((n == len || !isalnum((unsigned char)s[n])) && (is_disk(s, n) || is_number(s, n)))
			return n;
	return 0;
}

/* "jbd2/sda1-8" as it is; of "jbd2/md_home-8" "jbd2/k1", of "kworker/u8:2-writeback", whose numbers mean nothing, "kworker/-k2". */
static void replace_thread(struct stand_ins *s, const char *name, size_t len, struct buf *b)
{
	size_t at = word_len(name, len), part;

	while (at < len) {
		part = open_part(name + at + 1, len - at - 1);
		if (!part)
			break;
		at += 1 + part;
	}
	if (at < len && starts_with(name, len, "kworker/")) {
		for (at = strlen("kworker/"); at < len && name[at] != '-' && name[at] != '+'; at++)
			;
		buf_printf(b, "kworker/%c", at < len ? name[at] : '-');
		at = at + 1 < len ? at + 1 : strlen("kworker/");
	} else {
		at += at < len;
		buf_add(b, name, at);
	}
	if (at < len)
		stand_in_add(s, NAME_TASK, name + at, len - at, "k", b);
}

/* A worker of io_uring is a thread of its user's, and its name the kernel's. */
static bool is_uring(const char *name, size_t len)
{
	return (starts_with(name, len, "iou-wrk-") || starts_with(name, len, "iou-sqp-")) && is_number(name + 8, len - 8);
}

void replace_task(struct stand_ins *s, const char *name, size_t len, bool kernel, struct buf *b)
{
	if (is_uring(name, len) || (len == 1 && *name == '?'))
		buf_add(b, name, len);
	else if (kernel)
		replace_thread(s, name, len, b);
	else if (len)
		stand_in_add(s, NAME_TASK, name, len, "task", b);
}

/* The arguments may be of any kind, a password too: only paths are looked into. A process is called as its program: both get one name. */
static void replace_word(struct stand_ins *s, const char *word, size_t len, size_t at, struct buf *b)
{
	const char *slash = memrchr(word, '/', len);
	size_t dir = slash ? (size_t)(slash + 1 - word) : 0;

	if (!at) {
		replace_path(s, word, dir, b);
		replace_task(s, word + dir, len - dir < COMM_MAX ? len - dir : COMM_MAX, false, b);
	} else if (len && *word == '/') {
		replace_path(s, word, len, b);
	} else if (len) {
		stand_in_add(s, NAME_ARGUMENT, word, len, "arg", b);
	}
}

static void replace_cmdline(struct stand_ins *s, const char *text, struct buf *b)
{
	for (size_t at = 0;; at++) {
		size_t n = strcspn(text, " ");

		replace_word(s, text, n, at, b);
		if (!text[n])
			return;
		buf_char(b, ' ');
		text += n + 1;
	}
}

/* ---- the kernel and its mounts ---- */

/* "6.1.0" of "6.1.0-18-amd64": what stands behind may be its owner's. */
static void keep_release(const char *text, struct buf *b)
{
	size_t len = 0;

	for (int i = 0; i < 3; i++) {
		size_t dot = i && text[len] == '.', n = digits(text + len + dot, strlen(text + len + dot));

		if (!n || dot != (i > 0))
			break;
		len += dot + n;
	}
	buf_add(b, text, len);
}

/* Whether writes are made durable. The rest is left out: a stand-in would be taken for another option by who compares two. */
static void keep_options(const char *text, struct buf *b)
{
	static const char *const kept[] = { "barrier", "barrier=0", "barrier=1", "nobarrier", "fsync_mode=nobarrier" };
	const size_t begin = b->len;

	while (*text) {
		size_t n = strcspn(text, ",");

		for (size_t i = 0; i < LEN(kept); i++)
			if (n == strlen(kept[i]) && !memcmp(text, kept[i], n))
				buf_printf(b, "%s%s", b->len > begin ? "," : "", kept[i]);
		text += n + (text[n] == ',');
	}
}

void replace_text(struct stand_ins *s, enum frame_text what, const char *text, size_t at, struct buf *b)
{
	size_t len = strlen(text);

	switch (what) {
	case TEXT_PRIVATE: stand_in_add(s, NAME_OTHER, text, len, "name", b); break;
	case TEXT_OPEN: buf_str(b, text); break;
	case TEXT_TASK: replace_task(s, text, len, false, b); break;
	case TEXT_COMMAND: replace_word(s, text, len, at, b); break;
	case TEXT_CMDLINE: replace_cmdline(s, text, b); break;
	case TEXT_PATH: replace_path(s, text, len, b); break;
	case TEXT_DISK: replace_disk(s, text, len, b); break;
	case TEXT_VIA: replace_via(s, text, b); break;
	case TEXT_NOTE: buf_str(b, NOTE_LEFT_OUT); break;
	case TEXT_RELEASE: keep_release(text, b); break;
	case TEXT_OPTIONS: keep_options(text, b); break;
	case TEXT_FSTYPE: buf_add(b, text, strcspn(text, ".")); break; /* of fuse.NAME the name is anybody's */
	}
}
