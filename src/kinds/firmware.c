/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/firmware.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "sys/devlink.h"

/* Names the adapter's own parameters by devlink, because they need no extra program. */
static void by_devlink(const char *pf, const char *count, const struct devlink_sriov *now,
		       struct str *text)
{
	if (now->enable && now->total_vfs && now->total_vfs >= strtoul(count, NULL, 10)) {
		str_addf(text,
			 "it has total_vfs %u set already, which takes effect with a "
			 "power cycle",
			 now->total_vfs);
		return;
	}
	str_addf(text, "it has enable_sriov %s and total_vfs %u: run ",
		 now->enable ? "true" : "false", now->total_vfs);
	if (!now->enable)
		str_addf(text,
			 "`devlink dev param set pci/%s name enable_sriov value true cmode "
			 "permanent` and ",
			 pf);
	str_addf(text,
		 "`devlink dev param set pci/%s name total_vfs value %s cmode permanent`, then "
		 "reset the firmware or power-cycle the node",
		 pf, count);
}

static void remedy(const struct kind_ctx *ctx, const char *pf, const char *count, struct str *text)
{
	const struct pci_fn *fn = node_find(ctx->node, pf);
	struct devlink_sriov now;

	if (ctx->root->live && devlink_sriov(pf, &now, NULL) == 0)
		by_devlink(pf, count, &now, text);
	else if (fn && fn->vendor == VENDOR_MELLANOX)
		str_addf(text,
			 "run `mlxconfig -d %s set SRIOV_EN=1 NUM_OF_VFS=%s`, then power-cycle the "
			 "node; SR-IOV must be enabled in the BIOS too",
			 pf, count);
	else
		str_add(text, "with the adapter's own tool or in the BIOS setup, where "
			      "SR-IOV must be enabled too");
}

int firmware_lacks_vfs(const struct kind_ctx *ctx, const char *pf, const char *wanted,
		       unsigned int possible, struct err *err)
{
	const char *count = streq(wanted, "max") ? "N" : wanted;
	cleanup_str struct str text = {0};

	remedy(ctx, pf, count, &text);
	if (!possible)
		return err_set(err, -EOPNOTSUPP,
			       "the PF offers no SR-IOV" TO_MEND "have its firmware offer it: %s",
			       text.s);
	return err_set(err, -ERANGE,
		       "%s VFs requested, %u possible" TO_MEND
		       "request fewer, or let the firmware offer more: %s",
		       wanted, possible, text.s);
}
