/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Warns of things that a boot of the tree needs and the tree lacks; rejects nothing. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "bake/bake.h"
#include "base/mem.h"
#include "base/str.h"
#include "boot/seal.h"
#include "sys/initramfs.h"
#include "sys/read.h"

static void judge_initramfs(struct bake *b, const char *path)
{
	struct err err = {0};
	struct stat st;
	bool there = false;
	int r;

	/* rescue images must boot without us; an empty file is a placeholder for GRUB's menu */
	if (strstr(path, "rescue") || strstr(path, "kdump") || root_stat(b->root, &st, path) < 0 ||
	    !S_ISREG(st.st_mode) || st.st_size == 0)
		return;
	r = initramfs_has(b->root, path, "railhead", &there, &err);
	if (r < 0)
		bake_warn(b, "can't tell whether %s contains railhead: %s", path, err.text);
	else if (!there)
		bake_warn(b,
			  "%s does not contain railhead: options of modules that the initramfs "
			  "loads are not set, and run-time pages come later; make the initramfs "
			  "again (dracut --force, update-initramfs -u)",
			  path);
}

static void judge_initramfses(struct bake *b)
{
	static const char *const patterns[] = {"/boot/initrd.img-*", "/boot/initramfs-*.img",
					       "/usr/lib/modules/*/initramfs.img",
					       "/usr/lib/modules/*/initrd"};

	for (size_t i = 0; i < array_len(patterns); i++) {
		cleanup_strv struct strv paths = {0};

		read_glob(b->root, patterns[i], &paths, NULL);
		for (size_t j = 0; j < paths.n; j++)
			judge_initramfs(b, paths.v[j]);
	}
}

static void judge_seals(struct bake *b)
{
	cleanup_free char *why = seal_why_refused(b->root);

	if (why)
		bake_warn(b, "%s", why);
}

void bake_judge(struct bake *b, bool args)
{
	if (!root_exists(b->root, "/usr/sbin/railhead"))
		bake_warn(b, "there is no /usr/sbin/railhead in this tree: its units fail, and "
			     "units that wait for it never start; install the package");
	judge_initramfses(b);
	if (args)
		judge_seals(b);
}
