/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/nvidia.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

#define MODULE_VERSION "/sys/module/nvidia/version"

int nvidia_open(void **ret, const char *library, struct err *err)
{
	void *lib = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	const char *why = lib ? "" : dlerror(); /* dlerror() begins with the library's name */

	if (!lib && access(MODULE_VERSION, F_OK) == 0)
		return err_set(
			err, -ENOENT,
			"%s; the nvidia module is loaded: install the driver's user space of "
			"the same version",
			why);
	if (!lib)
		return err_set(
			err, -ENOENT,
			"%s; the nvidia module is not loaded either: install NVIDIA's driver", why);
	*ret = lib;
	return 0;
}

const char *nvidia_driver_version(char buf[32])
{
	cleanup_fclose FILE *f = fopen(MODULE_VERSION, "re");

	if (!f || !fgets(buf, 32, f))
		strcpy(buf, "version unknown");
	str_chomp(buf);
	return buf;
}
