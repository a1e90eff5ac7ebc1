/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/mem.h"

#define FILE_NAME "/proc/kallsyms"

/* "0000000000000000 t mlx5_ib_reg_user_mr_dmabuf\t[mlx5_ib]" */
static int walk(FILE *f, void (*each)(const char *name, const char *module, void *arg), void *arg)
{
	cleanup_free char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, f) >= 0) {
		char name[512], module[64] = "";

		if (sscanf(line, "%*x %*c %511s [%63[^]]]", name, module) >= 1)
			each(name, module, arg);
	}
	return ferror(f) ? -EIO : 0;
}

int kallsyms_walk(const struct root *root,
		  void (*each)(const char *name, const char *module, void *arg), void *arg,
		  struct err *err)
{
	int r, fd = root_open(root, O_RDONLY, err, FILE_NAME);
	cleanup_fclose FILE *f = fd < 0 ? NULL : fdopen(fd, "re");

	if (fd < 0)
		return fd;
	r = f ? walk(f, each, arg) : -errno;
	return r < 0 ? err_errno(err, r, FILE_NAME) : 0;
}
