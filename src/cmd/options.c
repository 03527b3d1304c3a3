// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/edit_distance.h"

#define NEAR_ENOUGH 3 /* edits from which a hint would only puzzle */

struct reading {
	const struct command_def *def;
	int (*set)(void *ctx, int id, const char *value, struct err *e);
	void *ctx;
	struct err *e;
	char *const *next; /* the word that follows; a value is taken from here */
	bool help;
};

static const struct option_def *find_long(const struct command_def *def, const char *name, size_t len)
{
	for (const struct option_def *o = def->options; !option_is_end(o); o++) {
		if (o->name && strlen(o->name) == len && !memcmp(o->name, name, len))
			return o;
	}
	return NULL;
}

static const struct option_def *find_short(const struct command_def *def, char c)
{
	for (const struct option_def *o = def->options; !option_is_end(o); o++) {
		if (o->short_name && o->short_name == c)
			return o;
	}
	return NULL;
}

/* The option that was probably meant: the beginning of one, or one that is a few edits away. */
static const char *nearest(const struct command_def *def, const char *name, size_t len)
{
	const char *best = NULL;
	size_t least = NEAR_ENOUGH + 1;

	for (const struct option_def *o = def->options; !option_is_end(o); o++) {
		size_t far;

		if (!o->name || !o->help)
			continue;
		far = len > 1 && !strncmp(o->name, name, len) ? 0 : near_distance(name, len, o->name);
		/* a word of two letters is two edits away from everything */
		if (far < least && far < strlen(o->name)) {
			least = far;
			best = o->name;
		}
	}
	return best;
}

static int unknown(const struct reading *r, const char *option, const char *name, size_t len)
{
	const char *near = nearest(r->def, name, len), *command = r->def->name;
	int shown = (int)(strlen(option) - strlen(name) + len);

	if (near)
		return err_set(r->e, EINVAL, EXIT_USAGE, "unknown option '%.*s': did you mean --%s?", shown, option, near);
	return err_set(r->e, EINVAL, EXIT_USAGE, "unknown option '%.*s' (see %s%s--help)", shown, option, command,
		       *command ? " " : "");
}

/*
 * The next word as a value. `--` is none: whoever forgot the value would lose the wrapped command
 * to it.
 */
static int take_value(struct reading *r, const char *dashes, const char *name, size_t len, const struct option_def *o,
		      const char **value)
{
	if (!*r->next || !strcmp(*r->next, "--"))
		return err_set(r->e, EINVAL, EXIT_USAGE, "option '%s%.*s' needs a value: %s", dashes, (int)len, name,
			       o->arg);
	*value = *r->next++;
	return 0;
}

static int give(struct reading *r, const struct option_def *o, const char *value)
{
	if (o->id != OPTION_HELP)
		return r->set(r->ctx, o->id, value, r->e);
	r->help = true;
	return 0;
}

static int read_long(struct reading *r, const char *word)
{
	const char *name = word + 2, *value = NULL;
	size_t len = strcspn(name, "=");
	const struct option_def *o = find_long(r->def, name, len);
	int ret;

	if (!o)
		return unknown(r, word, name, len);
	if (name[len] == '=')
		value = name + len + 1;
	if (value && !o->arg)
		return err_set(r->e, EINVAL, EXIT_USAGE, "option '--%s' takes no value", o->name);
	if (o->arg && !value) {
		ret = take_value(r, "--", name, len, o, &value);
		if (ret)
			return ret;
	}
	return give(r, o, value);
}

/* -v, -vq, -o FILE, -oFILE, -vo FILE */
static int read_shorts(struct reading *r, const char *word)
{
	for (const char *p = word + 1; *p; p++) {
		const struct option_def *o = find_short(r->def, *p);
		const char *value = NULL;
		int ret = 0;

		if (!o) {
			char one[] = { '-', *p, '\0' };

			/* -json was meant as --json */
			if (p == word + 1 && p[1] && find_long(r->def, p, strcspn(p, "=")))
				return unknown(r, word, p, strcspn(p, "="));
			return unknown(r, one, one + 1, 1);
		}
		if (o->arg && p[1])
			value = p + 1;
		else if (o->arg)
			ret = take_value(r, "-", p, 1, o, &value);
		if (!ret)
			ret = give(r, o, value);
		if (ret || value)
			return ret;
	}
	return 0;
}

/* What stands behind `--`: the wrapped command, or more words. */
static int read_rest(struct reading *r, struct options_result *found)
{
	if (!r->def->wraps) {
		while (*r->next)
			strv_add(&found->words, xstrdup(*r->next++));
		return 0;
	}
	if (!*r->next)
		return err_set(r->e, EINVAL, EXIT_USAGE, "no command behind '--'");
	found->command = r->next;
	return 0;
}

int options_parse(const struct command_def *def, char *const argv[],
		  int (*set)(void *ctx, int id, const char *value, struct err *e), void *ctx,
		  struct options_result *out, struct err *e)
{
	struct reading r = { .def = def, .set = set, .ctx = ctx, .e = e, .next = argv };
	struct options_result found = { 0 };
	int ret = 0;

	while (*r.next && !ret) {
		const char *word = *r.next++;

		if (!strcmp(word, "--")) {
			ret = read_rest(&r, &found);
			break;
		}
		if (!strncmp(word, "--", 2))
			ret = read_long(&r, word);
		else if (word[0] == '-' && word[1])
			ret = read_shorts(&r, word);
		else
			strv_add(&found.words, xstrdup(word));
	}
	if (ret && def->misread)
		ret = def->misread(found.words, ret, e);
	found.help = r.help;
	if (ret)
		options_result_free(&found);
	else
		*out = found;
	return ret;
}

void options_result_free(struct options_result *r)
{
	strv_free(r->words);
	*r = (struct options_result){ 0 };
}
