/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output files that a person names. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/cmd.h"

/* Devices and pipes are written in place, because a new file would replace /dev/null. */
static bool is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int fill_special(const char *path, output_fn fill, void *arg, struct err *err)
{
	cleanup_close int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return err_errno(err, -errno, "%s", path);
	return fill(fd, arg, err) < 0 ? err_wrap(err, "%s", path) : 0;
}

int write_output(const char *path, mode_t mode, output_fn fill, void *arg, struct err *err)
{
	cleanup_free char *temp = xasprintf("%s.XXXXXX", path);
	cleanup_close int fd = -1;
	int r;

	if (!*path)
		return err_set(err, -EINVAL, "the name of the file is empty");
	if (is_special(path))
		return fill_special(path, fill, arg, err);
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, -errno, "%s", path);
	r = fill(fd, arg, err) < 0 ? err_wrap(err, "%s", path) : 0;
	if (r == 0 && (fchmod(fd, mode) < 0 || fsync(fd) < 0 || rename(temp, path) < 0))
		r = err_errno(err, -errno, "%s", path);
	if (r < 0)
		unlink(temp);
	return r;
}
