/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loader/loader.h"

#include <errno.h>

int loader_open_to_write(const struct root *root, struct bootpart *b, struct err *err)
{
	int r = bootpart_close(b, err);

	return r < 0 ? r : bootpart_open(root, true, b, err);
}

/* --- GRUB ------------------------------------------------------------------------------------ */

static int look_grub(const struct bootpart *b, struct boot_env *ret, struct err *err)
{
	return env_read(b->dirfd, ret, err);
}

/*
 * A new file gets its arguments once the boot partition was closed and opened: closing unmounts it
 * or makes it read-only again, where railhead mounted it or made it writable, which puts the new
 * name where GRUB finds it on every file system, XFS too. On an XFS that stays mounted an orderly
 * shutdown does that; after a power cut GRUB may still find the earlier file (trial.c).
 */
static int store_grub(const struct root *root, struct bootpart *b, const struct boot_env *from,
		      const struct boot_env *env, struct err *err)
{
	int r = b->dirfd >= 0
			? 0
			: err_set(err, -ENOENT, "%s",
				  b->loader_why ? b->loader_why : "no directory of GRUB was found");

	if (r == 0 && from) {
		r = env_create(root, b->dirfd, from, err);
		if (r == 0)
			r = loader_open_to_write(root, b, err);
	}
	return r < 0 ? r : env_store(b->dirfd, env, err);
}

static const struct loader grub = {.name = "grub", .look = look_grub, .store = store_grub};

/* --- others ---------------------------------------------------------------------------------- */

static int look_printed(const struct bootpart *b, struct boot_env *ret, struct err *err)
{
	(void)b;
	env_init(ret);
	return err_set(err, -ENOENT, "there is no " ENV_FILE_NAME);
}

static int store_printed(const struct root *root, struct bootpart *b, const struct boot_env *from,
			 const struct boot_env *env, struct err *err)
{
	(void)root, (void)from, (void)env;
	return err_set(err, -ENOENT, "%s", b->loader_why);
}

static const struct loader printed = {.name = "none", .look = look_printed, .store = store_printed};

const struct loader *loader_find(const struct bootpart *b)
{
	return b->path ? &grub : &printed;
}
