/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record of the trials of kernel arguments, next to railhead.env, which GRUB reads: one file,
 * /var/lib/railhead/kernel-args. It is replaced as a whole (state_keep()). A file that is absent,
 * or not as railhead wrote it, counts as empty: the count of reboots is in railhead.env, too, so
 * that a root file system that forgets can't make a loop.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "kargs/kargs.h"
#include "sys/root.h"

#define ATTEMPTS_FILE "kernel-args" /* in STATE_KEPT_DIR */
#define ATTEMPT_END_FILE \
	"trial-end" /* in STATE_KEPT_DIR: how the trial, or the boot before it, ends */

/*
 * TRIALS_MAX: dead trials after which arguments are refused. REBOOTS_MAX: reboots by railhead in a
 * row, without a settled verdict in between. NAMED: as many items as a message names.
 */
enum { TRIALS_MAX = 2, REBOOTS_MAX = 3, REFUSALS_MAX = 8, ATTEMPT_ITEMS_MAX = 2048, NAMED_MAX = 3 };

/* A set of arguments on a kernel, wanted by a profile: what is refused, and tried again. */
struct attempt {
	char hash[KARGS_HASH_LEN + 1];
	char *kernel;  /* release; "" if unknown */
	char *profile; /* name and version */
};

enum refusal {
	REFUSAL_DIED,  /* TRIALS_MAX trials died */
	REFUSAL_UNFIT, /* an item failed that held without them */
	REFUSAL_LOST,  /* they were not in force in their trial */
};

struct refused {
	struct attempt attempt;
	enum refusal why;
};

/*
 * The items that held in the last verdict, so that only news counts against the arguments of a
 * trial. An item is known by its id, a carrier by the PCI address of its function.
 */
struct before {
	char *profile; /* name, because a new version may be the reason for the trial */
	char *kernel;
	struct strv failed; /* looks that failed */
	struct strv held;   /* measurements that held */
	struct strv up;	    /* functions whose carrier was up */
};

struct attempts {
	struct attempt last;  /* the last one that was armed; hash "": none */
	char boot[37];	      /* the boot that armed it */
	bool armed;	      /* its end is not counted yet */
	unsigned int deaths;  /* attempts_deaths() of it */
	unsigned int reboots; /* by railhead in a row */
	char *new_kernel; /* the kernel whose first verdict ends GRUB's count; "": any; or NULL */
	VEC(struct refused) refused; /* oldest first */
	struct strv items;	     /* for which the last REFUSAL_UNFIT was refused */
	struct before before;
};

void attempts_free(struct attempts *a);
#define cleanup_attempts cleanup(attempts_free)

/* The text of the file. Caller frees. */
char *attempts_render(const struct attempts *a);
/* False: the text is not as railhead writes it, and *ret is empty. */
bool attempts_parse(const char *text, struct attempts *ret);
/* Returns 0 for an absent file, too; an error if the file is there and can't be read. */
int attempts_read(const struct root *root, struct attempts *ret, struct err *err);
/* Writes nothing if the file says the same. 1: wrote. */
int attempts_write(const struct root *root, const struct attempts *a, struct err *err);

bool attempt_same(const struct attempt *a, const struct attempt *b);
/*
 * Trials of the arguments that died, on whichever kernels, because between the arming and the trial
 * the kernel may change. TRIALS_MAX of them refuse the arguments on one; the next begins at 0.
 */
unsigned int attempts_deaths(const struct attempts *a, const struct attempt *now);
/* Makes that attempt the last one. */
void attempts_begin(struct attempts *a, const struct attempt *now);
const struct refused *attempts_refused(const struct attempts *a, const struct attempt *now);
void attempts_refuse(struct attempts *a, const struct attempt *now, enum refusal why);
/* The attempt may be made again, from the beginning. */
void attempts_forgive(struct attempts *a, const struct attempt *now);
/* The same for all. */
void attempts_forgive_all(struct attempts *a);

/* Adds an id once, without the characters that end a line. */
void attempts_add(struct strv *list, const char *id);
