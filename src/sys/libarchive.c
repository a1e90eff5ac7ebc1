/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/libarchive.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"

#define SONAME "libarchive.so.13"

int libarchive_open(struct libarchive *ret, struct err *err)
{
	const struct {
		const char *name;
		void *slot;
	} symbols[] = {
#define X(fn) {#fn, &ret->fn},
		LIBARCHIVE_FUNCTIONS(X)
#undef X
	};

	ret->handle = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
	if (!ret->handle)
		return err_set(err, -ENOSYS,
			       "snapshots need " SONAME
			       " (%s): install libarchive13 (libarchive on "
			       "Fedora and RHEL), or unpack the archive and give the directory",
			       dlerror());
	for (size_t i = 0; i < array_len(symbols); i++) {
		void *f = dlsym(ret->handle, symbols[i].name);

		if (!f) {
			libarchive_close(ret);
			return err_set(err, -ENOSYS, SONAME " is too old: it has no %s",
				       symbols[i].name);
		}
		/* ISO C knows no conversion from void * to a function. */
		memcpy(symbols[i].slot, &f, sizeof(f));
	}
	return 0;
}

void libarchive_close(struct libarchive *lib)
{
	if (lib->handle)
		dlclose(lib->handle);
	lib->handle = NULL;
}
