/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mends the menu entries that GRUB reads from /boot/loader/entries (see bls.h), after grubby,
 * grub2-mkconfig or kernel-install wrote them without our variable or with our arguments as text.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "sys/root.h"

/* The result for one file, for people. */
struct mend_note {
	char *path;   /* "/boot/loader/entries/x.conf" */
	char *text;   /* "took out 'iommu=pt railhead.slot=a', added $railhead_kargs" */
	bool refused; /* the file needs mending, but only a person can do it */
};

struct mend_report {
	struct mend_note *v;
	size_t n;
	size_t cap;
	size_t entries; /* GRUB's entries, without rescue entries */
	size_t others;	/* entries of other loaders, left alone */
	char *none;	/* why no entry can be mended here, a sentence; or NULL */
};

enum mend_goal {
	MEND_TAKE,  /* each entry has the variable once */
	MEND_CLEAR, /* nothing of railhead's is left in the entries: railhead is being removed */
};

/*
 * Replaces only files that change (machine_create_durable). After a power cut GRUB finds the new
 * entry, or, for half a minute on a mounted XFS, the old entry. Rejects symbolic links and files
 * that are not text, with a note. Mounts /boot or makes it writable for the duration, if a file
 * must be written. An error means that reading or writing failed; *ret has the work done before.
 * The caller frees the report in any case.
 */
int mend_entries(const struct root *root, enum mend_goal goal, struct mend_report *ret,
		 struct err *err);
void mend_report_free(struct mend_report *r);
#define cleanup_mend_report __attribute__((__cleanup__(mend_report_free)))
