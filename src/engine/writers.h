/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who else sets what a change of the profile sets, where the node's own files say so: sysctl.d,
 * modprobe.d, tmpfiles.d, udev rules, units, tuned's profile, arguments of the boot loader, and the
 * programs that manage a link. Nothing is run: a rule or unit that is named may be for something
 * else.
 */
#pragma once

#include "plan/change.h"
#include "sys/root.h"

struct writer {
	char *by;    /* "/etc/sysctl.d/99-x.conf:3", or a program: "tuned" */
	char *says;  /* the line as it stands, or what the program does: "manages enp24s0" */
	char *value; /* that the line gives; NULL: not known */
};

struct writers {
	VEC(struct writer) list; /* of lines that overrule one another the one in force last */
};

struct writer_line;

/* Lines of such files: read once, and asked for many changes. */
struct writer_files {
	const struct root *root; /* outlives this */
	VEC(struct writer_line) lines;
	char *tuned; /* what it does; NULL: nothing */
};

void writer_files_read(const struct root *root, struct writer_files *ret);
void writer_files_free(struct writer_files *files);

/* Appends. */
void writers_find(const struct writer_files *files, const struct change *c, struct writers *ret);
void writers_free(struct writers *w);
/* The file of procfs or sysfs that the change sets, or a pattern; NULL: none is known. */
char *writers_file(const struct change *c);
/* The last of them whose line gives what the change has found; NULL: none. */
const struct writer *writers_in_force(const struct writers *w, const struct change *c);
/*
 * Of a change that differs, a sentence: "/etc/sysctl.d/99-x.conf:3 gives it that value",
 * "systemd-networkd manages enp24s0 by /etc/systemd/network/10-x.network", "tuned runs, with
 * profile throughput-performance". NULL: nothing is known. The caller frees.
 */
char *writers_blame(const struct writer_files *files, const struct change *c);
