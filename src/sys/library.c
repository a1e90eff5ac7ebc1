/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/library.h"

#include <dlfcn.h>
#include <errno.h>

int library_open(const char *soname, const char *purpose, const char *package,
		 const struct symbol *symbols, void *into, struct err *err)
{
	void *handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
	const char *missing;

	if (!handle)
		return err_set(err, -ELIBACC, "%s, needed to %s, can't be opened (%s); install %s",
			       soname, purpose, dlerror(), package);
	missing = symbols_resolve(handle, symbols, into);
	if (!missing)
		return 0;
	dlclose(handle);
	return err_set(err, -ELIBACC, "%s, needed to %s, is too old: it has no %s; update %s",
		       soname, purpose, missing, package);
}
