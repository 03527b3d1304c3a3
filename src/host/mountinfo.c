// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/buf.h"
#include "util/mem.h"
#include "host/mountinfo.h"
#include "host/sysfs.h"

static bool is_octal(const char *p)
{
	return p[0] >= '0' && p[0] <= '3' && p[1] >= '0' && p[1] <= '7' && p[2] >= '0' && p[2] <= '7';
}

/* The kernel writes white space, backslashes, # and more as \ooo. */
static char *unescaped(const char *text, size_t len)
{
	char *out = xcalloc(len + 1, 1), *o = out;

	for (const char *p = text, *end = text + len; p < end; p++) {
		if (*p == '\\' && end - p > 3 && is_octal(p + 1)) {
			*o++ = (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0'));
			p += 3;
		} else {
			*o++ = *p;
		}
	}
	return out;
}

/* Adds the options of a list, without rw and ro; true if ro was among them. */
static bool add_options(struct buf *b, const char *list)
{
	bool ro = false;

	for (size_t n; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		ro = ro || (n == 2 && !strncmp(list, "ro", 2));
		if (n && !(n == 2 && (!strncmp(list, "ro", 2) || !strncmp(list, "rw", 2)))) {
			buf_str(b, ",");
			buf_add(b, list, n);
		}
	}
	return ro;
}

/* Whether it can be written to is said twice: of this mount and of its file system. */
static char *joined_options(const char *mount, const char *fs)
{
	struct buf rest = { 0 };
	bool ro;
	char *all;

	buf_str(&rest, "");
	ro = add_options(&rest, mount);
	if (strcmp(mount, fs))
		ro = add_options(&rest, fs) || ro;
	all = xasprintf("%s%s", ro ? "ro" : "rw", rest.data);
	buf_free(&rest);
	return all;
}

/* ID PARENT MAJOR:MINOR ROOT DIR OPTIONS [TAG...] - FSTYPE SOURCE FS-OPTIONS; a source may be empty. */
static bool parse(char *line, struct mount_entry *m)
{
	char *root, *dir, *options, *fstype, *source, *save = NULL;
	char *second = strstr(line, " - ");
	int at;

	if (!second || sscanf(line, "%d %*d %u:%u %n", &m->id, &m->major, &m->minor, &at) != 3)
		return false;
	*second = '\0';
	second += strlen(" - ");
	root = strtok_r(line + at, " ", &save);
	dir = strtok_r(NULL, " ", &save);
	options = strtok_r(NULL, " ", &save);
	fstype = strsep(&second, " ");
	source = strsep(&second, " ");
	if (!options || !source)
		return false;
	m->root = unescaped(root, strlen(root));
	m->dir = unescaped(dir, strlen(dir));
	m->fstype = unescaped(fstype, strlen(fstype));
	m->source = unescaped(source, strlen(source));
	m->raw_options = joined_options(options, second ? second : "");
	m->options = unescaped(m->raw_options, strlen(m->raw_options));
	return true;
}

void mount_table_read(const char *path, struct mount_table *t)
{
	char *text = file_text(path), *rest = text, *line;
	struct mount_entry m;

	*t = (struct mount_table){ 0 };
	while (rest && (line = strsep(&rest, "\n"))) {
		if (parse(line, &m))
			*(struct mount_entry *)grow((void **)&t->mounts, &t->n, sizeof(m)) = m;
	}
	free(text);
}

void mount_table_free(struct mount_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct mount_entry *m = &t->mounts[i];

		free_all(m->root, m->dir, m->fstype, m->source, m->options, m->raw_options);
	}
	free(t->mounts);
	*t = (struct mount_table){ 0 };
}

bool path_within(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return !strcmp(folder, "/") || (!strncmp(path, folder, n) && (!path[n] || path[n] == '/'));
}

char *mount_option(const struct mount_entry *m, const char *name)
{
	size_t len = strlen(name);
	char *value = NULL;

	for (const char *p = m->raw_options; *p;) {
		size_t n = strcspn(p, ",");

		if (n >= len && !strncmp(p, name, len) && (n == len || p[len] == '=')) {
			free(value);
			value = n == len ? xstrdup("") : unescaped(p + len + 1, n - len - 1);
		}
		p += n + (p[n] == ',');
	}
	return value;
}
