/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/follow.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/mem.h"

void follow_begin(struct follow *ret)
{
	ret->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

void follow_end(struct follow *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

/* Discards the events, because the caller looks at all files anyway. */
static void drain(int fd)
{
	char events[4096];

	while (read(fd, events, sizeof(events)) > 0)
		continue;
}

/*
 * Adds a watch through an fd, which stays below the root. Following a directory twice is permitted.
 */
static bool add(int fd, const struct root *root, const char *dir, uint32_t events)
{
	cleanup_close int at = root_open_path(root, dir, O_PATH | O_DIRECTORY);
	char path[64];

	if (at < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", at);
	return inotify_add_watch(fd, path, events | IN_ONLYDIR) >= 0;
}

bool follow_look(struct follow *f, const struct root *root, const char *dir)
{
	cleanup_free char *parent = xstrndup(dir, (size_t)(strrchr(dir, '/') - dir));
	bool in_parent;

	if (f->fd < 0)
		return false;
	drain(f->fd);
	/* First the parent: a directory that is made in between then has its event. */
	in_parent = add(f->fd, root, parent, IN_CREATE | IN_MOVED_TO);
	/* IN_CLOSE_WRITE also reports the release of a lock. */
	return add(f->fd, root, dir,
		   IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE |
			   IN_DELETE_SELF) ||
	       in_parent;
}
