/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a value of the node is as it is: the line of the profile and the lines that it overrides, the
 * change and other writers of the same setting, the record of the boot, and the fault of now.
 */
#pragma once

#include "engine/record.h"
#include "engine/writers.h"
#include "profile/lines.h"

struct why_change {
	const struct change *change;	    /* looked at */
	const struct record_change *then;   /* of the boot's record; NULL: not recorded */
	enum stage in;			    /* the stage that recorded it */
	const struct measurement *measured; /* of a benchmark; NULL: not in this boot */
	struct writers others;
};

/* A line of the profile and the changes that were made from it. */
struct why_key {
	char *path;			 /* "sysctl.vm.swappiness" */
	const struct profile_line *line; /* NULL: deleted, or not from a line */
	struct {
		const struct shadow **v;
		size_t n, cap;
	} shadows; /* overridden lines, the last one overridden last */
	VEC(struct why_change) changes;
};

struct why {
	struct profile_lines lines;
	char *about;		  /* a description of the device; or NULL */
	struct missing missing;	  /* if the device is gone from the bus; else its addr is NULL */
	struct strv near;	  /* similar names, if nothing was found */
	VEC(struct why_key) keys; /* in document order */
};

/*
 * asked: the id of a change or the beginning of an id, a key of the profile, a PCI address, the
 * name of a netdev, an RDMA device or a device set, a sysctl, a kernel argument, the PCI address of
 * a function that is gone (engine/missing.h). Returns false for anything else. The caller has
 * looked at the run's plan, keeps run and record as long as the answer, and frees the answer in
 * both cases.
 */
bool why_ask(const struct run *run, const struct record *record, const char *asked,
	     struct why *ret);
void why_free(struct why *why);

/* The remedy for a change that is wrong; NULL: it holds, or may come. The caller frees. */
char *why_remedy(const struct why_change *c);
/* Whether the change held when its stage ended (by the boot's record), and does not hold now. */
bool why_drifted(const struct why_change *c);
