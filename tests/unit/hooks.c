/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hooks.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdarg.h>
#include <sys/syscall.h>

int __real_netlink_talk(int protocol, struct nlmsghdr *msg, struct netlink_answer *ret,
			struct err *err);
int __wrap_netlink_talk(int protocol, struct nlmsghdr *msg, struct netlink_answer *ret,
			struct err *err);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static netlink_kernel kernel;
static bool lacks_openat2;

void test_netlink(netlink_kernel instead)
{
	kernel = instead;
}

int __wrap_netlink_talk(int protocol, struct nlmsghdr *msg, struct netlink_answer *ret,
			struct err *err)
{
	if (!kernel)
		return __real_netlink_talk(protocol, msg, ret, err);
	msg->nlmsg_seq = 1;
	return kernel(protocol, msg, ret, err);
}

void test_openat2(bool there)
{
	lacks_openat2 = !there;
}

/* No system call has more than six arguments; what lies beyond those that were given is unused. */
long __wrap_syscall(long number, ...)
{
	long arg[6];
	va_list ap;

	if (number == SYS_openat2 && lacks_openat2) {
		errno = ENOSYS;
		return -1;
	}
	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	return __real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}
