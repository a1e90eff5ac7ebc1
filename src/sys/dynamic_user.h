/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A user id that no other process has, for as long as it is held: one of those that systemd gives
 * to services with DynamicUser=, 61184 to 65519 (https://systemd.io/UIDS-GIDS). Needs no entry in a
 * password file, so an image needs no preparation.
 *
 * An id is free if no process has it, neither passwd(5) nor group(5) names it, and its file in
 * /run/systemd/dynamic-uid is not locked: systemd locks the file of each id that it gives away
 * (src/core/dynamic-user.c), and so does railhead.
 */
#pragma once

#include "sys/root.h"

#define DYNAMIC_USER_FIRST 61184u
#define DYNAMIC_USER_LAST 65519u

/* Zero: none is held. */
struct dynamic_user {
	unsigned int id; /* of the user, and of the group */
	int dir, lock;	 /* -1: there is no systemd */
};

/* root: of the machine that runs. -EAGAIN with a sentence: none is free. */
int dynamic_user_take(const struct root *root, struct dynamic_user *ret, struct err *err);
void dynamic_user_release(struct dynamic_user *user);
