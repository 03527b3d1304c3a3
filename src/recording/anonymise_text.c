// SPDX-License-Identifier: GPL-2.0-only
#include "recording/anonymise_text.h"

#include <ctype.h>
#include <string.h>

#include "recording/known_names.h"
#include "util/mem.h"

#define COMM_MAX 15 /* of a task's name the kernel keeps so many bytes: a command's is to be the same name */

/* ---- paths ---- */

void replace_component(struct stand_ins *s, const char *name, size_t len, const char *prefix, struct buf *b)
{
	size_t suffix = known_suffix(name, len);

	stand_in_add(s, NAME_PATH, name, len - suffix, prefix, b);
	buf_add(b, name + len - suffix, suffix);
}

static bool stays_in_path(const char *name, size_t len)
{
	return !len || (len == 1 && *name == '.') || (len == 2 && !memcmp(name, "..", 2));
}

static bool is_node(const char *path, size_t len)
{
	return len > 5 && !memcmp(path, "/dev/", 5) && known_disk(path + 5, len - 5);
}

/* `last`: the prefix of its last part */
static void replace_path(struct stand_ins *s, const char *path, size_t len, const char *last, struct buf *b)
{
	if (is_node(path, len)) {
		buf_add(b, path, len);
		return;
	}
	for (size_t n; len; path += n, len -= n) {
		const char *slash = memchr(path, '/', len);

		n = slash ? (size_t)(slash - path) : len;
		if (stays_in_path(path, n))
			buf_add(b, path, n);
		else
			replace_component(s, path, n, slash ? "d" : last, b);
		if (slash) {
			buf_char(b, '/');
			n++;
		}
	}
}

/* ---- disks ---- */

/* Bytes of a partition's number, with the p that parts it from a disk's. */
static size_t partition_len(const char *name, size_t len)
{
	size_t n = 0;

	while (n < len && isdigit((unsigned char)name[len - n - 1]))
		n++;
	if (n && len - n > 1 && name[len - n - 1] == 'p' && isdigit((unsigned char)name[len - n - 2]))
		n++;
	return n < len ? n : 0;
}

/* "sda (diskseq 17)", "sda (2)": of several disks that had this name. */
static size_t turn_len(const char *name, size_t len)
{
	size_t n = 1;

	if (len < 5 || name[len - 1] != ')')
		return 0;
	while (n < len && isdigit((unsigned char)name[len - n - 1]))
		n++;
	if (n + 8 < len && !memcmp(name + len - n - 8, "diskseq ", 8))
		n += 8;
	return n > 1 && n + 2 < len && !memcmp(name + len - n - 2, " (", 2) ? n + 2 : 0;
}

/* A partition stays one of its disk: the analysis looks for that in the name. A stand-in ends in a digit, so a p comes between. */
static void replace_disk(struct stand_ins *s, const char *name, size_t len, struct buf *b)
{
	size_t turn = turn_len(name, len), n = partition_len(name, len);

	if (turn) {
		replace_disk(s, name, len - turn, b);
		buf_add(b, name + len - turn, turn);
	} else if (!len || known_disk(name, len)) {
		buf_add(b, name, len);
	} else if (n) {
		replace_disk(s, name, len - n, b);
		buf_str(b, name[len - n] == 'p' ? "" : "p");
		buf_add(b, name + len - n, n);
	} else {
		stand_in_add(s, NAME_DISK, name, len, strncmp(name, "md_", 3) ? "disk" : "md_", b);
	}
}

void replace_model(struct stand_ins *s, const char *device, const char *model, struct buf *b)
{
	if (!strncmp(device, "loop", 4) || !strncmp(device, "dm-", 3) || *model == '/')
		replace_path(s, model, strlen(model), "f", b);
	else
		buf_str(b, model);
}

/* "/srv/db is on dm-0, on sda, sdb", "dm-0 is on sda3": the user's own word, then disks. */
static void replace_via(struct stand_ins *s, const char *text, struct buf *b)
{
	const char *rest = text + strlen(text), *at = text;
	size_t len;

	while ((at = strstr(at, " is ")))
		rest = at++;
	len = (size_t)(rest - text);
	if (known_disk(text, len) || !strncmp(text, "md_", 3))
		replace_disk(s, text, len, b);
	else
		replace_path(s, text, len, "f", b);
	while (*rest) {
		size_t n = strcspn(rest, " ,");

		if ((n == 2 && (!memcmp(rest, "is", 2) || !memcmp(rest, "on", 2))) || !n)
			buf_add(b, rest, n);
		else
			replace_disk(s, rest, n, b);
		rest += n;
		n = strspn(rest, " ,");
		buf_add(b, rest, n);
		rest += n;
	}
}

/* ---- tasks and commands ---- */

/* "jbd2/md_home-8": what stands behind the slash is a disk. */
static bool replace_disk_of_thread(struct stand_ins *s, const char *name, size_t len, struct buf *b)
{
	const char *slash = memchr(name, '/', len), *end = name + len;

	if (!slash || !known_thread(name, (size_t)(slash - name)) || strncmp(slash, "/md_", 4))
		return false;
	while (end > slash && isdigit((unsigned char)end[-1]))
		end--;
	if (end[-1] == '-')
		end--;
	else
		end = name + len;
	buf_add(b, name, (size_t)(slash + 1 - name));
	replace_disk(s, slash + 1, (size_t)(end - slash - 1), b);
	buf_add(b, end, (size_t)(name + len - end));
	return true;
}

/* "kworker/u8:2-NAME": the analysis joins workers by the work that they do, and there is no room for which worker it is. */
static bool replace_work(struct stand_ins *s, const char *name, size_t len, struct buf *b)
{
	size_t n = 0;

	if (strncmp(name, "kworker/", 8))
		return false;
	while (n < len && name[n] != '-' && name[n] != '+')
		n++;
	if (n == len || !known_thread(name, n))
		return false;
	buf_printf(b, "kworker/%c", name[n]);
	stand_in_add(s, NAME_TASK, name + n + 1, len - n - 1, "w", b);
	return true;
}

void replace_task(struct stand_ins *s, const char *name, size_t len, bool kernel, struct buf *b)
{
	if (known_thread(name, len) || (len == 1 && *name == '?'))
		buf_add(b, name, len);
	else if (len && !replace_work(s, name, len, b) && !replace_disk_of_thread(s, name, len, b))
		stand_in_add(s, NAME_TASK, name, len, kernel ? "kthread" : "task", b);
}

/* A process is called as its program: both get one name. */
static void replace_program(struct stand_ins *s, const char *path, size_t len, struct buf *b)
{
	const char *slash = memrchr(path, '/', len), *base = slash ? slash + 1 : path;
	size_t base_len = (size_t)(path + len - base);

	replace_path(s, path, (size_t)(base - path), "d", b);
	replace_task(s, base, base_len < COMM_MAX ? base_len : COMM_MAX, false, b);
}

/* The arguments may be of any kind, a password too: only paths are looked into. */
static void replace_word(struct stand_ins *s, const char *word, size_t len, size_t at, struct buf *b)
{
	if (!at)
		replace_program(s, word, len, b);
	else if (len && *word == '/')
		replace_path(s, word, len, "f", b);
	else if (len)
		stand_in_add(s, NAME_ARGUMENT, word, len, "arg", b);
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

/* ---- what was selected ---- */

static const char *const selectors[] = { "pid ", "comm ", "cgroup ", "unit ", "container " };
enum { BY_PID, BY_COMM, BY_CGROUP, BY_UNIT, BY_CONTAINER, SELECTORS };

static int selector_of(const char *text)
{
	int i = 0;

	while (i < SELECTORS && strncmp(text, selectors[i], strlen(selectors[i])))
		i++;
	return i;
}

/* A value may hold ", " itself: it ends where another selector begins. */
static size_t value_len(const char *text)
{
	size_t n = 0;

	while (text[n] && (strncmp(text + n, ", ", 2) || selector_of(text + n + 2) == SELECTORS))
		n++;
	return n;
}

static void replace_value(struct stand_ins *s, int selector, const char *value, size_t len, struct buf *b)
{
	if (selector == BY_PID && strspn(value, "0123456789") == len)
		buf_add(b, value, len);
	else if (selector == BY_COMM)
		replace_task(s, value, len < COMM_MAX ? len : COMM_MAX, false, b);
	else if (selector == BY_CGROUP)
		replace_path(s, value, len, "d", b);
	else if (selector == BY_UNIT)
		replace_component(s, value, len, "unit", b);
	else
		replace_component(s, value, len, "container", b);
}

/* "pid 42, comm postgres" */
static void replace_filter(struct stand_ins *s, const char *text, size_t len, struct buf *b)
{
	const char *end = text + len;

	while (text < end) {
		int selector = selector_of(text);
		size_t n;

		if (selector < SELECTORS) {
			buf_str(b, selectors[selector]);
			text += strlen(selectors[selector]);
		}
		n = value_len(text);
		n = n < (size_t)(end - text) ? n : (size_t)(end - text);
		replace_value(s, selector, text, n, b);
		text += n;
		if (text < end) {
			buf_str(b, ", ");
			text += 2;
		}
	}
}

/* ---- remarks ---- */

/* "1.25 s", "16 MiB", "3" */
static size_t quantity_len(const char *text)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "kB", "MB", "GB", "min",
					     "ns",  "us",  "µs",  "ms",	 "s",  "h",  "d",  "B" };
	size_t n = strspn(text, "0123456789.,"), i;

	if (!n || text[n] != ' ')
		return n;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t unit = strlen(units[i]);

		if (!strncmp(text + n + 1, units[i], unit) && !isalnum((unsigned char)text[n + 1 + unit]))
			return n + 1 + unit;
	}
	return n;
}

/* In a beginning # stands for a quantity. */
static bool begins(const char *text, const char *beginning)
{
	for (; *beginning; beginning++) {
		size_t n = *beginning == '#' ? quantity_len(text) : *text == *beginning;

		if (!n)
			return false;
		text += n;
	}
	return true;
}

/* The rest of these is the program's own too. */
static bool is_own_remark(const char *text)
{
	static const char *const beginnings[] = {
		"the ring buffer is #, to keep within --memory",
		"of each hardware queue # tag",
		"# disk appeared when there was no room left to trace it",
		"# disks appeared when there was no room left to trace them",
		"for # of the run only ",
		"sync calls were not traced: ",
		"process # ended during the run",
		FROM_DAMAGED,
		NOTE_LEFT_OUT,
	};

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (begins(text, beginnings[i]))
			return true;
	return false;
}

static const char *ending(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len >= n && !strcmp(text + len - n, end) ? text + len - n : NULL;
}

/* "the recording /srv/run.bt lies on sda, which is traced: .." */
static bool replace_place(struct stand_ins *s, const char *text, struct buf *b)
{
	static const char head[] = "the recording ", lies[] = " lies on ", tail[] = ", which is traced: ";
	const char *path = text + strlen(head), *disk = NULL, *at = text, *end;

	while ((at = strstr(at, lies)))
		disk = at++;
	end = disk ? strstr(disk, tail) : NULL;
	if (strncmp(text, head, strlen(head)) || !end || disk < path)
		return false;
	buf_str(b, head);
	replace_path(s, path, (size_t)(disk - path), "f", b);
	buf_str(b, lies);
	disk += strlen(lies);
	replace_disk(s, disk, (size_t)(end - disk), b);
	buf_printf(b, "%sits own writes are among those that are shown", tail);
	return true;
}

/* "sda was replaced during the run: "sda (diskseq 17)" is another disk, traced from 1.25 s on; .." */
static bool replace_disks(struct stand_ins *s, const char *text, struct buf *b)
{
	static const char middle[] = " was replaced during the run: \"";
	const char *first_end = strstr(text, middle), *second = first_end ? first_end + strlen(middle) : NULL;
	const char *end = second ? strchr(second, '"') : NULL;

	if (!end || !begins(end, "\" is another disk, traced from # on; what it did before is not counted."))
		return false;
	replace_disk(s, text, (size_t)(first_end - text), b);
	buf_str(b, middle);
	replace_disk(s, second, (size_t)(end - second), b);
	buf_str(b, end);
	return true;
}

/* One that is not known, of another version, may hold any name. */
static void replace_note(struct stand_ins *s, const char *text, struct buf *b)
{
	const char *ended = ending(text, " ended during the run");

	if (is_own_remark(text)) {
		buf_str(b, text);
	} else if (ended && selector_of(text) < SELECTORS) {
		replace_filter(s, text, (size_t)(ended - text), b);
		buf_str(b, ended);
	} else if (!replace_place(s, text, b) && !replace_disks(s, text, b)) {
		buf_str(b, NOTE_LEFT_OUT);
	}
}

/* ---- words parted by something ---- */

/* "6.1.0-18-amd64", "6.8.0-local": a kernel of one's own is named after its owner. */
static void replace_release(const char *text, struct buf *b)
{
	while (*text) {
		size_t n = 0;

		while (isalnum((unsigned char)text[n]))
			n++;
		if (known_release_word(text, n))
			buf_add(b, text, n);
		else
			buf_str(b, "local");
		text += n;
		n = strcspn(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
		for (size_t i = 0; i < n; i++)
			buf_char(b, strchr(".-+_~", text[i]) ? text[i] : '_');
		text += n;
	}
}

static void replace_options(struct stand_ins *s, const char *text, struct buf *b)
{
	while (*text) {
		size_t n = strcspn(text, ",");

		if (known_option(text, n))
			buf_add(b, text, n);
		else
			stand_in_add(s, NAME_OPTION, text, n, "option", b);
		text += n;
		if (*text)
			buf_char(b, *text++);
	}
}

static void replace_fstype(struct stand_ins *s, const char *text, struct buf *b)
{
	bool fuse = !strncmp(text, "fuse.", 5);

	if (known_fstype(text, strlen(text)) || !*text) {
		buf_str(b, text);
		return;
	}
	buf_str(b, fuse ? "fuse." : "");
	stand_in_add(s, NAME_FSTYPE, text, strlen(text), "fs", b);
}

void replace_text(struct stand_ins *s, enum frame_text what, const char *text, size_t at, struct buf *b)
{
	size_t len = strlen(text);

	switch (what) {
	case TEXT_OPEN: buf_str(b, text); break;
	case TEXT_TASK: replace_task(s, text, len, false, b); break;
	case TEXT_KERNEL_TASK: replace_task(s, text, len, true, b); break;
	case TEXT_COMMAND: replace_word(s, text, len, at, b); break;
	case TEXT_CMDLINE: replace_cmdline(s, text, b); break;
	case TEXT_DIRECTORY: replace_path(s, text, len, "d", b); break;
	case TEXT_FILE: replace_path(s, text, len, "f", b); break;
	case TEXT_DISK: replace_disk(s, text, len, b); break;
	case TEXT_VIA: replace_via(s, text, b); break;
	case TEXT_FILTER: replace_filter(s, text, len, b); break;
	case TEXT_NOTE: replace_note(s, text, b); break;
	case TEXT_RELEASE: replace_release(text, b); break;
	case TEXT_OPTIONS: replace_options(s, text, b); break;
	case TEXT_FSTYPE: replace_fstype(s, text, b); break;
	case TEXT_PRIVATE: stand_in_add(s, NAME_OTHER, text, len, "name", b); break;
	}
}
