/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls that the glibc of Debian 11 has no names for: the numbers of all architectures
 * (include/uapi/asm-generic/unistd.h). A kernel that lacks the call answers ENOSYS.
 */
#pragma once

#include <sys/syscall.h>

#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9 */
#endif
#ifndef SYS_openat2
#define SYS_openat2 437 /* Linux 5.6 */
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442 /* Linux 5.12 */
#endif
