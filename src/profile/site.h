/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Site policy: what the owner of the nodes decides, whatever their hardware. YAML through the
 * same front end as profiles, and trusted as they are: on the machine itself the file must be
 * root's and writable by root alone.
 *
 * As systemd's files: railhead.conf is the first of /etc/railhead, /run/railhead and
 * /usr/lib/railhead, and the files of railhead.conf.d in all three are laid over it in the order of
 * their names; of files of one name the first directory's counts.
 */
#pragma once

#include <stdbool.h>

#include "base/vec.h"
#include "profile/diag.h"
#include "sys/root.h"

#define SITE_FILE "/etc/railhead/railhead.conf"

struct site {
	bool admit_off;	 /* a node with railhead=off may work; default false */
	bool admit_none; /* so may one that no profile matches; default false */
	bool reboot;	 /* railhead may reboot the node by itself; default true */
	/* Healthy boots after which refused kernel args are tried again: 0..99, 0 never,
	 * default 10. */
	unsigned int retry_after;
};

/* Those that count, in the order in which they are laid over each other. Appends to *ret. */
void site_files(const struct root *root, struct strv *ret, struct diags *diags);

/*
 * Without a file: the defaults. With one that is invalid (*diags has errors): nothing is
 * admitted, nothing reboots and nothing is tried again.
 */
void site_load(const struct root *root, struct site *ret, struct diags *diags);
