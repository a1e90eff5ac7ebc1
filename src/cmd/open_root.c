/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --root: this machine, a directory, or an archive that is unpacked while the program runs. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "cmd/cmd.h"
#include "node/snapshot.h"
#include "sys/archive.h"
#include "sys/read.h"

static bool is_tree(const struct root *root)
{
	return root_exists(root, "proc") || root_exists(root, "sys");
}

/* Other tools' archives often hold the tree in one directory with the machine's name. */
static void descend(struct root *root, const char *path)
{
	cleanup_strv struct strv names = {0};
	cleanup_free char *below = NULL;
	struct root inner;

	if (is_tree(root) || read_dir(root, &names, NULL, "/") < 0 || names.n != 1)
		return;
	below = xasprintf("%s/%s", path, names.v[0]);
	if (root_init(&inner, below, NULL) < 0)
		return;
	if (!is_tree(&inner)) {
		root_close(&inner);
		return;
	}
	root_close(root);
	*root = inner;
}

static int unpack(const char *path, struct root *root, struct scratch *scratch, struct err *err)
{
	cleanup_close int dir = -1;
	int r = scratch_make(scratch, err);

	if (r < 0)
		return r;
	dir = open(scratch->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_errno(err, -errno, "%s", scratch->path);
	r = tar_unpack(path, dir, err);
	if (r == 0)
		r = root_init(root, scratch->path, err);
	if (r < 0)
		return r;
	descend(root, scratch->path);
	return machine_check(root, path, err);
}

int machine_check(const struct root *root, const char *path, struct err *err)
{
	return is_tree(root) ? 0
			     : err_set(err, -EINVAL,
				       "%s: holds neither proc/ nor sys/; `railhead survey "
				       "--snapshot FILE` captures a machine",
				       path);
}

static bool is_archive(const char *path)
{
	struct stat st;

	return path && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* path: a directory; NULL: this machine. */
static int open_tree(const char *path, struct root *root, struct err *err)
{
	int r = root_init(root, path, err);

	if (r < 0)
		return path ? err_path(err, r, path) : r;
	if (!path || access(path, X_OK) == 0)
		return 0;
	r = -errno;
	root_close(root);
	return err_path(err, r, path);
}

int open_machine(const char *path, struct root *root, struct scratch *scratch, struct err *err)
{
	int r = open_tree(path, root, err);

	if (r == -ENOTDIR && is_archive(path))
		r = unpack(path, root, scratch, err);
	return r == 0 && !root->live ? snapshot_check(root, err) : r;
}

bool invocation_writes(const struct invocation *inv, const struct verb *verb)
{
	return verb->writes || inv->reset || inv->mend || inv->ended;
}

int invocation_open_root(struct invocation *inv, const struct verb *verb)
{
	struct err err = {0};
	int r;

	if (invocation_writes(inv, verb) && is_archive(inv->root_path))
		r = err_set(&err, -EINVAL,
			    "%s writes, but %s is not a directory; unpack the archive and give its "
			    "directory",
			    verb->name, inv->root_path);
	else
		r = open_machine(inv->root_path, &inv->root, &inv->scratch, &err);
	if (r == 0)
		return EXIT_OK;
	return fail(r == -ELIBACC ? EXIT_INTERNAL : EXIT_USAGE, "%s", err.text);
}

void invocation_close_root(struct invocation *inv)
{
	root_close(&inv->root);
	scratch_remove(&inv->scratch);
}
