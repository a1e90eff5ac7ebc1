/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/heard.h"

#include <errno.h>

#include "base/mem.h"
#include "base/str.h"
#include "kinds/netlink.h"

const struct heard *hear(struct hearing *table, const struct root *root, const char *addr)
{
	struct heard *h;

	for (size_t i = 0; i < table->memory.n; i++)
		if (streq(table->memory.v[i]->addr, addr))
			return table->memory.v[i];
	h = xnew(struct heard);
	h->addr = xstrdup(addr);
	if (table->held.code) {
		h->err = table->held;
		h->result = table->held.code;
	} else {
		h->result = table->ask(root, addr, &h->info, &h->err);
	}
	if (h->result < 0 && h->info) {
		table->free(h->info);
		h->info = NULL;
	}
	if (h->result == -ETIMEDOUT)
		table->held = h->err;
	vec_push(&table->memory, h);
	return h;
}

void hearing_forget(struct hearing *table, const struct change *c)
{
	size_t kept = 0;

	if (!c)
		table->held.code = 0;
	for (size_t i = 0; i < table->memory.n; i++) {
		struct heard *h = table->memory.v[i];

		if (change_concerns(c, h->addr)) {
			if (h->info)
				table->free(h->info);
			free(h->addr);
			free(h);
		} else {
			table->memory.v[kept++] = h;
		}
	}
	table->memory.n = kept;
	if (!kept)
		vec_free(&table->memory);
}
