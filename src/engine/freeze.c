/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/freeze.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sys/state.h"

#define FILE_NAME "profile"

int freeze_profile(const struct root *root, const struct profile *profile, enum freeze how,
		   struct err *err)
{
	cleanup_free char *now = xasprintf("%s %s\n", profile->name, profile->digest);
	cleanup_free char *frozen = NULL;
	int r;

	if (how == FREEZE_IGNORE)
		return 0;
	r = state_read(root, FILE_NAME, &frozen, err);
	if (r == 0 && streq(frozen, now))
		return 0;
	if (r == 0 && how == FREEZE_BOOT) {
		str_chomp(frozen);
		str_chomp(now);
		return err_set(
			err, -ESTALE,
			"the profile changed during this boot (was %s, is %s); reboot, or run "
			"`railhead apply` and `railhead gate`",
			frozen, now);
	}
	if (r < 0 && r != -ENOENT)
		return r;
	return state_write(root, FILE_NAME, now, err);
}
