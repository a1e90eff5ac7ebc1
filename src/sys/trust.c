/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum trust trust_of_writes(const struct root *root)
{
	return root->live || geteuid() == 0 ? TRUST_ROOT : TRUST_UNSHARED;
}

enum trust trust_of_reads(const struct root *root)
{
	return root->live || root->as_booted ? trust_of_writes(root) : TRUST_ALL;
}

struct judging {
	enum trust trust;
	bool refused;
	struct err *err;
};

static int judge(const struct stat *st, const char *at, void *arg)
{
	struct judging *j = arg;

	j->refused = true;
	if (j->trust == TRUST_ROOT && st->st_uid != 0)
		return err_set(j->err, -EPERM,
			       "%s belongs to user %u, not to root: run chown root %s", at,
			       (unsigned int)st->st_uid, at);
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return err_set(j->err, -EPERM,
			       "%s is writable by users other than root: run chmod go-w %s", at,
			       at);
	j->refused = false;
	return 0;
}

int trust_open(const struct root *root, enum trust trust, const char *path, int flags,
	       struct err *err)
{
	struct judging j = {.trust = trust, .err = err};
	int fd;

	if (trust == TRUST_ALL)
		return root_open(root, flags, err, "%s", path);
	fd = root_walk(root, path, flags, judge, &j);
	return fd < 0 && !j.refused ? err_errno(err, fd, "%s", path) : fd;
}

int trust_listing(const struct root *root, enum trust trust, const char *dir, struct err *err)
{
	int fd;

	if (trust == TRUST_ALL)
		return 0;
	fd = trust_open(root, trust, dir, O_PATH | O_DIRECTORY, err);
	if (fd >= 0)
		close(fd);
	return fd == -EPERM ? -EPERM : 0;
}

/* The object seen last is on the way if the walk goes on, and else is the end of the path. */
struct way {
	struct judging judging;
	struct stat last;
	char at[PATH_MAX];
};

static int judge_last(struct way *w)
{
	return *w->at ? judge(&w->last, w->at, &w->judging) : 0;
}

static int judge_way(const struct stat *st, const char *at, void *arg)
{
	struct way *w = arg;
	int r = streq(w->at, at) ? 0 : judge_last(w); /* "DIRECTORY/." asks twice */

	w->last = *st;
	snprintf(w->at, sizeof(w->at), "%s", at);
	return r;
}

/* The owner of such an object decides no file by it. */
static bool is_device_or_socket(mode_t mode)
{
	return S_ISCHR(mode) || S_ISBLK(mode) || S_ISSOCK(mode);
}

int trust_way(const struct root *root, const char *path, struct err *err)
{
	struct way w = {.judging = {.trust = TRUST_ROOT, .err = err}};
	int fd = root_walk(root, path, O_PATH, judge_way, &w), last = 0;

	if (fd < 0 || !is_device_or_socket(w.last.st_mode))
		last = w.judging.refused ? -EPERM : judge_last(&w);
	if (fd >= 0)
		close(fd);
	if (last < 0)
		return last;
	/* No file can be made at such a path. */
	if (fd < 0 && fd != -ENOENT && fd != -ENOTDIR && fd != -ELOOP && fd != -ENAMETOOLONG)
		return err_errno(err, fd, "%s", path);
	return 0;
}
