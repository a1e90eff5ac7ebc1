/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts right the menu entries that GRUB reads from /boot/loader/entries (see bls.h), after
 * grubby, grub2-mkconfig or kernel-install wrote them without our variable or with our
 * arguments as text.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "sys/root.h"

/* What came of one file, for people. */
struct mend_note {
	char *path;   /* "/boot/loader/entries/x.conf" */
	char *text;   /* "took out 'iommu=pt railhead.slot=a', added $railhead_kargs" */
	bool refused; /* it needs mending, and a person must do it */
};

struct mend_report {
	struct mend_note *v;
	size_t n;
	size_t cap;
	size_t entries; /* of GRUB's, rescue entries left out */
	size_t others;	/* not GRUB's: left alone */
	char *none;	/* why there is nothing to mend here at all, a sentence; or NULL */
};

enum mend_goal {
	MEND_TAKE,  /* each entry takes the variable, once */
	MEND_CLEAR, /* nothing of railhead's is left in them: it is being removed */
};

/*
 * Only files that change are replaced (machine_create_durable): after a power cut GRUB finds the
 * new entry, or, for half a minute on a mounted XFS, the old one; symbolic links and what is no
 * text are refused, by a note. /boot is mounted or made writable for as long as it takes, if
 * something is to be written. An error is a failure to look at all or to write; what was done
 * before it is in *ret. The caller frees the report in any case.
 */
int mend_entries(const struct root *root, enum mend_goal goal, struct mend_report *ret,
		 struct err *err);
void mend_report_free(struct mend_report *r);
#define cleanup_mend_report __attribute__((__cleanup__(mend_report_free)))
