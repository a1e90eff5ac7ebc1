/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/isolation.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "sys/syscalls.h"

/* Linux 5.12; the headers of Debian 11 lack them (include/uapi/linux/mount.h). */
enum { AT_RECURSIVELY = 0x8000, ATTR_RDONLY = 1 };

static const struct {
	const char *path, *type, *options;
	bool hides;
} own[] = {
	/* The bounds that systemd gives the tmpfs of a container (src/shared/mount-util.h). */
	{"/tmp", "tmpfs", "mode=1777,size=10%", true},
	{"/var/tmp", "tmpfs", "mode=1777,size=10%", true},
	/* The kernel's default, half of the memory: NCCL has its buffers there. */
	{"/dev/shm", "tmpfs", "mode=1777,size=50%", true},
	{"/dev/mqueue", "mqueue", NULL, false},
};

bool isolation_hides(const char *path)
{
	path += path[0] == '/';
	if (strstr(path, "..")) /* may lead out again */
		return false;
	for (size_t i = 0; i < array_len(own); i++) {
		const char *from_root = own[i].path + 1;

		if (own[i].hides && str_starts(path, from_root) &&
		    strchr("/", path[strlen(from_root)]))
			return true;
	}
	return false;
}

pid_t isolation_fork(const struct privileges *as)
{
	unsigned long flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | SIGCHLD;
	/* After the flags: stack, two thread ids and TLS, whose order depends on the CPU; all 0. */
	pid_t pid = (pid_t)syscall(SYS_clone, flags | (as->network ? 0 : CLONE_NEWNET), 0, 0, 0, 0);

	return pid < 0 ? -errno : pid;
}

/* Of struct mount_attr: attr_set, attr_clr, propagation, userns_fd. */
static int make_read_only(void)
{
	const uint64_t attr[4] = {ATTR_RDONLY};

	if (syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVELY, attr, sizeof(attr)) < 0 &&
	    errno != ENOSYS)
		return -errno;
	return 0;
}

static int mount_own(void)
{
	for (size_t i = 0; i < array_len(own); i++)
		if (mount(own[i].type, own[i].path, own[i].type, MS_NOSUID | MS_NODEV,
			  own[i].options) < 0 &&
		    errno != ENOENT) /* the image lacks the directory */
			return -errno;
	return 0;
}

static int bring_loopback_up(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	cleanup_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo) < 0 ? -errno : 0;
}

int isolation_enter(const struct privileges *as, const char **what)
{
	int r;

	*what = "keep mounts from the machine";
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return -errno;
	*what = "make the machine's files read-only";
	r = as->own_user ? make_read_only() : 0;
	if (r < 0)
		return r;
	/* If this fails (a container hides parts of /proc), most programs work with the machine's.
	 */
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		errno = 0;
	*what = "mount empty directories";
	r = mount_own();
	if (r < 0 || as->network)
		return r;
	*what = "bring the loopback up";
	return bring_loopback_up();
}
