/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of another CPU can't be run with. `make check-arm64` runs them under qemu-user,
 * which hands not every system call on to the kernel. A test that needs such a one says so first;
 * it is then named as not run. Whether the emulator has it is tried each time, for a later one
 * may; and nowhere else is anything left out. Include after cmocka.h.
 */
#pragma once

#include <errno.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* prctl(PR_SET_CHILD_SUBREAPER), and clone(CLONE_NEWPID), of which qemu-user has neither. */
static inline bool has_subreapers(void)
{
	int on;

	return prctl(PR_GET_CHILD_SUBREAPER, &on) == 0;
}

/* Also of an execve() of /proc/self/exe, which is the emulator there. */
static inline bool has_ptrace(void)
{
	return ptrace(PTRACE_CONT, getpid(), 0, 0) == 0 || errno != ENOSYS;
}

/* qemu-user opens netlink sockets of the families route, uevent and audit. */
static inline bool has_generic_netlink(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);

	return fd >= 0 && close(fd) == 0;
}

/* Whether a page of this program is one of the kernel's: qemu-user -p sets the former alone. */
static inline bool has_kernel_pages(void)
{
	struct stat st;

	return stat("/sys/kernel/uevent_seqnum", &st) == 0 && st.st_size == sysconf(_SC_PAGESIZE);
}

/* test: its name; what: in words, what it needs. */
static inline void not_emulated(const char *test, bool has, const char *what)
{
	const char *emulator = getenv("RAILHEAD_EMULATOR");

	if (has || !emulator || !*emulator)
		return;
	printf("# not run: %s: %s has no %s\n", test, emulator, what);
	fflush(stdout);
	skip();
}

#define NEEDS_SUBREAPERS() not_emulated(__func__, has_subreapers(), "PID namespaces and subreapers")
#define NEEDS_PTRACE() not_emulated(__func__, has_ptrace(), "ptrace")
#define NEEDS_KERNEL_PAGES() \
	not_emulated(__func__, has_kernel_pages(), "pages of the kernel's size")
#define NEEDS_GENERIC_NETLINK() not_emulated(__func__, has_generic_netlink(), "generic netlink")
