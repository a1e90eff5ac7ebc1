/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

#define MODULE_VERSION "/sys/module/nvidia/version"

int symbols_open(void **ret, const char *library, struct err *err)
{
	void *lib = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	const char *why = lib ? "" : dlerror(); /* begins with the library's name */

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

const char *symbols_resolve(void *lib, const struct symbol *table, void *into)
{
	const char *missing = NULL;

	for (; table->name; table++) {
		void *p = dlsym(lib, table->name);

		/* POSIX lets a function's address pass through void *; copied, as ISO C doesn't. */
		memcpy((char *)into + table->offset, &p, sizeof(p));
		if (!p && !table->optional && !missing)
			missing = table->name;
	}
	return missing;
}

const char *symbols_driver_version(char buf[32])
{
	cleanup_fclose FILE *f = fopen(MODULE_VERSION, "re");

	if (!f || !fgets(buf, 32, f))
		strcpy(buf, "version unknown");
	str_chomp(buf);
	return buf;
}
