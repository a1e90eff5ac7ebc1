/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a node is what a `match:` describes. Identity only: DMI, never what works. */
#include <fnmatch.h>

#include "profile/load.h"

static bool dmi_holds(const struct node *node, const char *field, const char *wanted,
		      struct strv *reasons)
{
	const char *found = node_dmi(node, field);
	bool ok = found && fnmatch(wanted, found, 0) == 0;
	cleanup_free char *line = NULL;

	if (!reasons)
		return ok;
	line = xasprintf("dmi.%s: wanted %s, found %s: %s", field, wanted,
			 found && *found ? found : "nothing", ok ? "ok" : "no");
	strv_add(reasons, line);
	return ok;
}

bool conditions_hold(const struct node *node, const struct ynode *match, struct strv *reasons)
{
	const struct ynode *dmi = ynode_get(match, "dmi");
	bool all = dmi && dmi->keys.n > 0;

	for (size_t i = 0; dmi && i < dmi->keys.n; i++)
		all &= dmi_holds(node, dmi->keys.v[i]->text,
				 ynode_text(dmi, dmi->keys.v[i]->text, ""), reasons);
	return all;
}
