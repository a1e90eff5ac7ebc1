/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/missing.h"

#include "base/mem.h"

STORED_TABLE(missing_stored, STORED(missing, addr, "address", TEXT, .required = true),
	     STORED_TEXTS(missing, ids, "ids"), STORED(missing, model, "model", STRING),
	     STORED(missing, root_port, "root_port", STRING, .omit = true),
	     STORED(missing, numa, "numa_node", STRING, .omit = true),
	     STORED(missing, last_seen, "last_seen", STRING),
	     STORED(missing, gone_since, "gone_since", STRING, .omit = true));

STORED_TABLE(missing_list_stored, STORED_ITEMS(missing_list, list, "", LIST, missing_stored));

char *missing_text(const struct missing *m)
{
	return xasprintf("last seen in the boot of %s, gone since %s%s", m->last_seen,
			 *m->gone_since ? "the boot of " : "this boot", m->gone_since);
}
