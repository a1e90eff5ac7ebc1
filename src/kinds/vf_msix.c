/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The number of MSI-X vectors of a VF. The file sriov_vf_msix_count can only be written; the
 * present number is in the VF's config space (Documentation/ABI/testing/sysfs-bus-pci,
 * drivers/pci/iov.c). Every VF has the file, even if the PF's driver does not support it; the PF's
 * total is then 0. A look does not read the total, because the read takes the PF's device lock, and
 * a look must not hang behind a writer that is stuck.
 */
#include <errno.h>

#include "kinds/function.h"
#include "kinds/refusal.h"
#include "kinds/vf.h"
#include "plan/change.h"
#include "sys/machine.h"
#include "sys/pci.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	cleanup_free char *addr = NULL;
	unsigned int vectors;
	int r = function_vf(ctx->root, c->on.name, c->on.vf, &addr, err);

	if (r == -ENOENT)
		return target_no_vf(c);
	if (r == 0)
		r = pci_msix_vectors(ctx->root, addr, &vectors, err);
	if (r < 0)
		return r;
	change_found(c, vectors);
	return 0;
}

/* Checks, before the VF is unbound, that the PF has enough vectors for all its VFs. */
static int check_pool(const struct root *root, const char *pf, int64_t vectors, struct err *err)
{
	cleanup_free char *driver = NULL;
	int lacks = -ENXIO;
	unsigned int vfs;
	uint64_t total = 0;

	function_count_vfs(root, pf, &vfs, NULL);
	read_u64(root, &total, NULL, DEV "%s/sriov_vf_total_msix", pf);
	if (!total) {
		driver = function_driver(root, pf);
		err_set(err, lacks, "%s", pf);
		err_explain(err, refusal(VF_MSIX, driver, &lacks));
		return lacks;
	}
	if ((uint64_t)vectors * vfs > total)
		return err_set(err, -ERANGE,
			       "%s: %lld MSI-X vectors for each of its %u VFs, and %llu for all of "
			       "them (sriov_vf_total_msix): request fewer in vf.msix, or fewer VFs",
			       pf, (long long)vectors, vfs, (unsigned long long)total);
	return 0;
}

static int set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	cleanup_free char *addr = NULL, *path = NULL;
	cleanup_free char *count = xasprintf("%lld", (long long)c->want.number);
	const char *pf = c->on.name;
	int r = function_vf(ctx->root, pf, c->on.vf, &addr, err);

	if (r == 0)
		r = check_pool(ctx->root, pf, c->want.number, err);
	if (r == 0) /* the kernel rejects a change while any driver is bound (EBUSY) */
		r = vf_unbind(ctx->root, addr, true, err);
	if (r < 0)
		return r;
	path = xasprintf(DEV "%s/sriov_vf_msix_count", addr);
	r = machine_write_attr(ctx->root, path, count, err);
	if (r == -EBUSY)
		err_wrap(err, "VF %s of %s was bound again by another program on the node", addr,
			 pf);
	else if (r < 0)
		err_wrap(err,
			 "VF %s of %s: its firmware rejects %s MSI-X vectors; "
			 "request fewer",
			 addr, pf, count);
	return r;
}

const struct target_item vf_msix = {.kind = &kind_vf, .look = look, .set = set};
