/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tunable.h - what an experiment may set: one table of keys, and the places where a key stands on this machine.
 *
 * To add a key: a row in tunable_table.c; a kind in tunable.c only if none of those there fits. Values are the words of --set.
 */
#ifndef BT_EXPERIMENT_TUNABLE_H
#define BT_EXPERIMENT_TUNABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

enum key_kind {
	KEY_QUEUE, /* an attribute of a disk's queue */
	KEY_EXT4,  /* an option of a mounted ext4 */
	KEY_ATIME, /* of a mount */
	KEY_CPU,   /* an attribute of every CPU's frequency */
	KEY_KINDS
};

enum key_values { VALUE_NUMBER, VALUE_SWITCH, VALUE_NAME, VALUE_CACHE };

struct key_row {
	const char *name;
	enum key_kind kind;
	const char *attr; /* the file or the option */
	enum key_values values;
	uint64_t min, max;	    /* of a number */
	const char *gone, *without; /* set to `gone`, the what-if without this cause or family predicts it; NULL: none does */
	bool at_most;		    /* ... and is its upper bound: not all of that need go */
	const char *risk_at, *risk; /* what it may cost when set to this; NULL: nothing */
	bool unsafe;		    /* only with --unsafe */
	const char *with;	    /* the kernel sets it anew whenever this key changes; that is set before it */
	bool left;		    /* ... and is left to do so in a variant that doesn't name it */
	bool hidden;		    /* not for --set: only ever put back */
	const char *what;	    /* a phrase */
};

/* Ends with a row without a name. A key that disturbs others (see `with`) comes before them. */
extern const struct key_row key_rows[];

/* NULL: no such key. */
const struct key_row *key_find(const char *name, size_t len);

/* The value as place_read() would tell it, owned by the caller; NULL and *e when it is none. */
char *key_value(const struct key_row *row, const char *text, struct err *e);

/* One place of a key. */
struct place {
	const struct key_row *row;
	char *unit;		   /* kernel name of a disk or a CPU; a mount point */
	char *sub;		   /* of the hidden row "iosched": the attribute; else NULL */
	unsigned int major, minor; /* of the disk or the file system; 0:0 for a CPU */
	uint64_t diskseq;	   /* of the disk; 0: not known. Not the same after another medium */
	char *before;		   /* the value at the beginning */
};

void places_free_all(struct place *p, size_t n);

/* "scheduler of loop0"; owned by the caller. */
char *place_name(const struct place *p);

/* What is set there now; NULL: it cannot be read. Owned by the caller. */
char *place_read(const struct place *p);

/* Does it take this value, as far as it tells? */
int place_offers(const struct place *p, const char *value, struct err *e);

/* Writes what differs, and reads it back. */
int place_write(const struct place *p, const char *value, struct err *e);

enum place_fate { PLACE_THERE, PLACE_GONE, PLACE_OTHER }; /* other: the name now belongs to another device */

enum place_fate place_fate(const struct place *p);

/* What a target is, for finding its places. Borrowed. */
struct place_target {
	char *const *disks;	   /* kernel names of whole disks with a queue of their own */
	const char *dir, *fstype;  /* its mount; NULL: none, and `no_mount` says why */
	unsigned int major, minor; /* of the file system */
	const char *no_mount;
};

/*
 * Adds the key's places, as they are now, and those that are disturbed when it is set; each once. The key order is the
 * table's.
 */
int places_find(const struct key_row *row, const struct place_target *t, struct place **places, size_t *n, struct err *e);

#endif
