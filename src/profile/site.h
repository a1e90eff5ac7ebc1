/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Site policy: decisions of the nodes' owner, independent of hardware. The file is YAML, read by
 * the same front end as profiles and trusted under the same conditions (sys/trust.h).
 *
 * As with systemd's files, railhead.conf is the first found in /etc/railhead, /run/railhead and
 * /usr/lib/railhead. The files of railhead.conf.d in all three are laid over it in the order of
 * their names; of files with the same name the one in the first directory counts.
 */
#pragma once

#include <stdbool.h>

#include "base/vec.h"
#include "profile/diag.h"
#include "sys/root.h"

#define SITE_FILE "/etc/railhead/railhead.conf"

struct site {
	bool admit_off;	  /* a node booted with railhead=off admits work; default false */
	bool admit_none;  /* a node that no profile matches admits work; default false */
	bool reboot;	  /* railhead may reboot the node; default true */
	bool recheck_off; /* nothing looks at a node again after its verdict; default false */
};

/* Appends the files in effect to *ret, in the order in which they are laid over each other. */
void site_files(const struct root *root, struct strv *ret, struct diags *diags);

/*
 * Without a file: the defaults. With an invalid file (*diags has errors): no work is admitted and
 * no reboot happens.
 */
void site_load(const struct root *root, struct site *ret, struct diags *diags);
/* Whether valid files say `recheck: off`, for those who need no more of them. */
bool site_ends_looks(const struct root *root);
