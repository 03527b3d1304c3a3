// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/anonymise.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "recording/anonymise.h"
#include "recording/recording.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/num.h"

/* -o FILE says OUT as well. */
static int read_words(const struct trace_opts *o, const struct options_result *w, const char **in, const char **out,
		      struct err *e)
{
	size_t n = strv_len(w->words);

	if (w->command || o->run_options)
		return err_set(e, EINVAL, EXIT_USAGE,
			       "--anonymise traces nothing: it goes with no command, and with no other option but -o, --read-memory, --mode and --as-root");
	if (n + (o->record.path != NULL) != 2)
		return err_set(e, EINVAL, EXIT_USAGE,
			       "--anonymise takes two recordings: barriertrace record --anonymise IN OUT");
	*in = w->words[0];
	*out = n == 2 ? w->words[1] : o->record.path;
	return 0;
}

static bool regular(const char *path, int standard, struct stat *st)
{
	return !(strcmp(path, "-") ? stat(path, st) : fstat(standard, st)) && S_ISREG(st->st_mode);
}

/* The first block that is written would empty the file that is read. */
static int check_apart(const char *in, const char *out, struct err *e)
{
	struct stat from, to;

	if (regular(in, STDIN_FILENO, &from) && regular(out, STDOUT_FILENO, &to) && from.st_dev == to.st_dev &&
	    from.st_ino == to.st_ino)
		return err_set(e, EINVAL, EXIT_USAGE, "%s is the recording that is read: write to another file", out);
	return 0;
}

/* One line, whatever there is to be said. */
static int speak(const char *in, const char *out, char *damage, const struct anonymised *done)
{
	struct buf b = { 0 };

	if (damage)
		buf_str(&b, damage);
	if (done->left_out)
		buf_printf(&b, "%s%s record%s that this version does not know %s left out, as names may be in %s",
			   damage ? "; " : "", num_count(done->left_out).s, num_plural(done->left_out),
			   done->left_out == 1 ? "was" : "were", done->left_out == 1 ? "it" : "them");
	if (b.len)
		log_error("%s: %s", in, b.data);
	else
		log_note("%s fact%s written without names; look at them before you send them: barriertrace report %s",
			 num_count(done->records).s, num_plural(done->records), out);
	buf_free(&b);
	return damage || done->left_out ? EXIT_INCOMPLETE : EXIT_OK;
}

static int convert(const char *in, const char *out, int *status, struct err *e)
{
	struct recording *from = NULL;
	struct recording_writer *to = NULL;
	struct anonymised done = { 0 };
	char *damage;
	int err = check_apart(in, out, e);

	if (!err)
		err = recording_open(in, &from, e);
	if (!err)
		err = recording_create(out, &to, e);
	if (!err)
		err = anonymise(from, to, &done, e);
	if (err)
		recording_drop(to);
	else
		err = recording_close(to, e);
	if (!err) {
		damage = recording_damage_note(from);
		*status = speak(in, out, damage, &done);
		free(damage);
	}
	recording_free(from);
	return err;
}

int command_anonymise(const struct trace_opts *o, const struct options_result *words, int *status, struct err *e)
{
	const char *in = NULL, *out = NULL;
	int err = read_words(o, words, &in, &out, e);

	if (err)
		return err;
	outputs_limit_memory(&o->out);
	return convert(in, out, status, e);
}
