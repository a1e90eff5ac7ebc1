/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a value of the node is as it is: from the line of the profile, and what that line overrides,
 * over the change and who else sets the same, to what the boot recorded of it and what is wrong
 * now.
 */
#pragma once

#include "engine/record.h"
#include "engine/writers.h"
#include "profile/lines.h"

struct why_change {
	const struct change *now;	    /* looked at */
	const struct record_change *then;   /* of the boot's record; NULL: there is none */
	const struct measurement *measured; /* of a benchmark; NULL: not in this boot */
	struct writers others;
};

/* A line of the profile and the changes that were made from it. */
struct why_key {
	char *path;			 /* "sysctl.vm.swappiness" */
	const struct profile_line *line; /* NULL: deleted, or of no line */
	struct {
		const struct shadow **v;
		size_t n, cap;
	} shadows; /* the last one was overridden last */
	VEC(struct why_change) changes;
};

struct why {
	struct profile_lines lines;
	char *about;		  /* of a device: what it is; or NULL */
	struct strv near;	  /* what may be meant, where nothing was found */
	VEC(struct why_key) keys; /* in document order */
};

/*
 * asked: the id of a change or the beginning of one, a key of the profile, a PCI address, the name
 * of a netdev, an RDMA device or a device set, a sysctl, a kernel argument. False: it is none of
 * them. The run's plan was looked at; run and record outlive the answer, which is freed either way.
 */
bool why_ask(const struct run *run, const struct record *record, const char *asked,
	     struct why *ret);
void why_free(struct why *why);

/* What to do about a change that is wrong; NULL: it holds, or may come. The caller frees. */
char *why_remedy(const struct why_change *c);
/* Whether the boot's record says that the change held when its stage ended, and it does not now. */
bool why_drifted(const struct why_change *c);
