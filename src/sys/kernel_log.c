/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/kernel_log.h"

#include <errno.h>
#include <sys/klog.h>

#include "base/mem.h"

enum { READ_ALL = 3, SIZE_BUFFER = 10 }; /* syslog(2); glibc has no names for these */

/* Records are stored without their prefix, which may be longer than the text of a short record. */
#define PREFIX_ROOM 2

int kernel_log_read(char **ret, struct err *err)
{
	int size = klogctl(SIZE_BUFFER, NULL, 0), n;
	cleanup_free char *text = NULL;

	if (size < 0)
		return err_errno(err, -errno, "the kernel's log");
	text = xcalloc((size_t)size, PREFIX_ROOM);
	n = klogctl(READ_ALL, text, size * PREFIX_ROOM - 1);
	if (n < 0)
		return err_errno(err, -errno, "the kernel's log");
	text[n] = '\0';
	*ret = take_ptr(text);
	return 0;
}
