/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Other writers of the settings of the profile, as found in the node's files: sysctl.d, modprobe.d,
 * tmpfiles.d, udev rules, units, tuned's profile, arguments of the boot loader, and the programs
 * that manage a link. Nothing is executed, so a rule or unit may be named that does not apply.
 */
#pragma once

#include "sys/root.h"

struct change; /* of plan/change.h */

struct writer {
	char *by;    /* "/etc/sysctl.d/99-x.conf:3", or a program: "tuned" */
	char *says;  /* the line as written, or the program's action: "manages enp24s0" */
	char *value; /* the value that the line gives; NULL: not known */
};

struct writers {
	VEC(struct writer) list; /* if lines overrule one another, the line in force is last */
};

struct writer_line;

/* The lines of these files: read once, searched for many changes. */
struct writer_files {
	const struct root *root; /* outlives this */
	VEC(struct writer_line) lines;
	char *tuned; /* a clause about tuned's activity; NULL: none */
};

void writer_files_read(const struct root *root, struct writer_files *ret);
void writer_files_free(struct writer_files *files);

/* Appends. */
void writers_find(const struct writer_files *files, const struct change *c, struct writers *ret);
void writers_free(struct writers *w);
/* The file of procfs or sysfs that the change sets, or a pattern; NULL: no known file. */
char *writers_file(const struct change *c);
/* The last writer whose line gives the value that the change has found; NULL: none. */
const struct writer *writers_in_force(const struct writers *w, const struct change *c);
/*
 * For a change that differs, a sentence: "/etc/sysctl.d/99-x.conf:3 gives it that value",
 * "systemd-networkd manages enp24s0 by /etc/systemd/network/10-x.network", "tuned runs, with
 * profile throughput-performance". NULL: no writer is known. The caller frees.
 */
char *writers_blame(const struct writer_files *files, const struct change *c);
