/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Doors to the kernel that a test may close, and what it may count: the linker leads here (--wrap).
 */
#pragma once

#include <stdbool.h>

#include "engine/record.h"
#include "sys/netlink.h"

/* Answers every netlink_talk() instead of the kernel; NULL: the kernel again. */
typedef int (*netlink_kernel)(int protocol, const struct nlmsghdr *msg, struct netlink_answer *ret,
			      struct err *err);
void test_netlink(netlink_kernel kernel);

/* Answers every admin command to an NVMe drive instead of the kernel, as ioctl(2) does; NULL: the
 * kernel again. */
struct nvme_passthru_cmd;
typedef int (*nvme_drive)(const struct nvme_passthru_cmd *cmd);
void test_nvme(nvme_drive drive);

/* Whether this kernel has openat2(2). */
void test_openat2(bool there);

/*
 * The journal and the service manager of the verdict (engine/flow.c): into *log, a word each,
 * instead; NULL: they are told again.
 */
void test_told(struct strv *log);

/* How often that text was parsed as a number, size, time, rate, speed or list of CPUs since the
 * last test_forget_parses(). */
unsigned int test_parses(const char *text);
void test_forget_parses(void);

/* Called after each machine_overwrite(), whatever its result; NULL: nobody is. */
typedef void (*overwritten)(int dirfd, off_t offset, size_t len);
void test_overwrites(overwritten call);
