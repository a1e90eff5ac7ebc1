/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happened, a line each, written out at once so that a test can wait for one:
 *
 *	1.204512 write /sys/bus/pci/devices/0000:18:00.0/sriov_numvfs 16
 *
 *	open NAME             opened for writing (also by a tree's own files: /run, /etc)
 *	write NAME TEXT       a write came in
 *	wrote NAME RESULT     it was answered
 *	sriov PF N            the driver of a PF is at work on so many VFs, below all locks ...
 *	sriov-end PF RESULT   ... and has ended
 *	probe ADDR DRIVER, probe-end ADDR RESULT, unbind ADDR DRIVER
 *	netdev ADDR NAME, rdma ADDR NAME    they are there
 *	named ADDR NAME       udev has renamed the netdev
 *	vanish ADDR           it was pulled out
 *	hang NAME             a request that will not be answered
 */
#include "simnode.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "sys/clock.h"

static FILE *file;
static uint64_t started;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int log_open(const char *path, struct err *err)
{
	started = clock_usec();
	/* Appended to, so that a test may empty it and go on: no hole of zero bytes before what
	 * follows. */
	file = fopen(path, "ae");
	return file ? 0 : err_errno(err, -errno, "%s", path);
}

void log_close(void)
{
	if (file)
		fclose(file);
	file = NULL;
}

void log_event(const char *fmt, ...)
{
	va_list ap;
	uint64_t now;

	if (!file)
		return;
	pthread_mutex_lock(&lock);
	now = clock_usec() - started; /* below the lock: the times never run backwards */
	fprintf(file, "%llu.%06llu ", (unsigned long long)(now / 1000000),
		(unsigned long long)(now % 1000000));
	va_start(ap, fmt);
	vfprintf(file, fmt, ap);
	va_end(ap);
	fputc('\n', file);
	fflush(file);
	pthread_mutex_unlock(&lock);
}

const char *log_result(int r)
{
	const char *name = r < 0 ? strerrorname_np(-r) : "ok";

	return name ? name : "error";
}
