/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

int library_open(const char *soname, const char *purpose, const char *package,
		 const struct library_function *functions, size_t n, struct err *err)
{
	void *handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return err_set(err, -ELIBACC, "%s, needed to %s, can't be opened (%s); install %s",
			       soname, purpose, dlerror(), package);
	for (size_t i = 0; i < n; i++) {
		void *f = dlsym(handle, functions[i].name);

		if (!f) {
			dlclose(handle);
			return err_set(err, -ELIBACC,
				       "%s, needed to %s, is too old: it has no %s; update %s",
				       soname, purpose, functions[i].name, package);
		}
		/* ISO C knows no conversion from void * to a function. */
		memcpy(functions[i].slot, &f, sizeof(f));
	}
	return 0;
}
