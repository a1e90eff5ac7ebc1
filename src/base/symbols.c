/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/symbols.h"

#include <dlfcn.h>
#include <string.h>

const char *symbols_resolve(void *lib, const struct symbol *table, void *into)
{
	const char *missing = NULL;

	for (; table->name; table++) {
		void *p = dlsym(lib, table->name);

		/* POSIX permits a function's address in void *; copy it, because ISO C does not. */
		memcpy((char *)into + table->offset, &p, sizeof(p));
		if (!p && !table->optional && !missing)
			missing = table->name;
	}
	return missing;
}
