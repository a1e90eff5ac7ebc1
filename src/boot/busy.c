/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/busy.h"

#include <fcntl.h>

#include "base/mem.h"
#include "base/str.h"
#include "sys/manager.h"

/* Locks by fcntl(2) over the whole of a transaction: dpkg(1), rpm's lib/rpmlock.c. */
static const struct {
	const char *path, *who;
} locks[] = {
	{"/var/lib/dpkg/lock-frontend", "apt or dpkg"},
	{"/var/lib/dpkg/lock", "dpkg"},
	{"/usr/lib/sysimage/rpm/.rpm.lock", "rpm"},
	{"/var/lib/rpm/.rpm.lock", "rpm"},
};

static bool is_held(const struct root *root, const char *path, pid_t *ret_holder)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	cleanup_close int fd = root_open(root, O_RDONLY, NULL, "%s", path);

	if (fd < 0 || fcntl(fd, F_GETLK, &l) < 0 || l.l_type == F_UNLCK)
		return false;
	*ret_holder = l.l_pid;
	return true;
}

char *busy_why(const struct root *root)
{
	cleanup_free char *state = NULL, *inhibitor = NULL;
	pid_t holder;

	for (size_t i = 0; i < array_len(locks); i++)
		if (is_held(root, locks[i].path, &holder))
			return xasprintf("%s is at work (process %d has locked %s)", locks[i].who,
					 holder, locks[i].path);
	if (!root->live)
		return NULL;
	state = manager_unit_state("cloud-final.service");
	if (state && streq(state, "activating"))
		return xstrdup("cloud-init sets this node up (cloud-final.service has a job)");
	inhibitor = manager_inhibitor();
	return inhibitor
		       ? xasprintf("%s blocks a shutdown; see `systemd-inhibit --list`", inhibitor)
		       : NULL;
}
