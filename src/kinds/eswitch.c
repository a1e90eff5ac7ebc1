/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Eswitch mode of a PF by devlink. A PF whose driver has no eswitch is treated as in legacy mode.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "kinds/cache.h"
#include "kinds/function.h"
#include "kinds/netlink.h"
#include "kinds/refusal.h"
#include "kinds/vf.h"
#include "plan/change.h"
#include "sys/clock.h"
#include "sys/machine.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

const char *const eswitch_words[] = {
	[ESWITCH_LEGACY] = "legacy", [ESWITCH_SWITCHDEV] = "switchdev", NULL};

static int ask(const struct root *root, const char *pf, void **ret, struct err *err)
{
	enum eswitch_mode *mode = xnew(enum eswitch_mode);
	int r = devlink_eswitch(pf, mode, err);

	(void)root;
	*ret = mode;
	/* mlx5 reports EPERM, even to root, for a function that does not manage the eswitch. */
	if (r == -ENODEV || r == -EOPNOTSUPP || (r == -EPERM && geteuid() == 0))
		return -ENODEV;
	return r;
}

static struct cache modes = {.ask = ask, .free = free};

static int no_eswitch(const struct kind_ctx *ctx, struct change *c, const char *pf, struct err *err)
{
	cleanup_free char *driver = function_driver(ctx->root, pf);

	change_found(c, ESWITCH_LEGACY);
	if (c->now.state == CHANGE_SAME)
		return 0;
	if (!driver) {
		change_reason(c, "the PF has no driver (yet)");
		c->now.state = CHANGE_WAITS;
		return 0;
	}
	return err_set(err, -EOPNOTSUPP,
		       "the driver %s offers no eswitch modes on %s" TO_MEND
		       "leave sriov.SET.mode out",
		       driver, pf);
}

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const char *pf = c->on.name;
	enum eswitch_mode mode;
	const struct cached *h;

	if (!ctx->root->live)
		return look_elsewhere(c);
	h = cache_get(&modes, ctx->root, pf);
	if (h->result == -ENODEV)
		return no_eswitch(ctx, c, pf, err);
	if (h->result == -EPERM) {
		change_observe(c, "unknown");
		change_reason(c, "only root may ask for the eswitch mode");
		c->now.state = CHANGE_DIFFERS;
		return 0;
	}
	if (h->result < 0)
		return cached_failure(h, err, "eswitch mode of %s", pf);
	mode = *(const enum eswitch_mode *)h->info;
	change_found(c, mode);
	if (mode == ESWITCH_OTHER)
		change_observe(c, "another mode");
	return 0;
}

/* -EBUSY ends without an event, so the set tries again until the worker's deadline. */
static int change_mode(const struct kind_ctx *ctx, const struct change *c, const char *pf,
		       struct err *err)
{
	enum eswitch_mode mode = (enum eswitch_mode)c->want.number;
	const char *why;
	long ms = 100;
	int r;

	while ((r = machine_eswitch_mode(pf, mode, err)) == -EBUSY) {
		struct timespec pause = {ms / 1000, ms % 1000 * 1000000};

		if (clock_usec() + (uint64_t)ms * 1000 > ctx->deadline)
			break;
		nanosleep(&pause, NULL);
		ms = ms * 2 < 2000 ? ms * 2 : 2000;
	}
	if (r == 0)
		return 0;
	why = refusal(PF_ESWITCH, NULL, &r);
	if (why)
		err_explain(err, why);
	return err_wrap(err, "eswitch mode %s of %s", eswitch_words[mode], pf);
}

static int vfs_of(const struct root *root, const char *pf, struct strv *ret, struct err *err)
{
	cleanup_strv struct strv names = {0};
	int r = read_dir(root, &names, err, DEV "%s", pf);

	for (size_t i = 0; r == 0 && i < names.n; i++) {
		cleanup_free char *addr = NULL;

		if (str_starts(names.v[i], "virtfn") &&
		    read_link_name(root, &addr, NULL, DEV "%s/%s", pf, names.v[i]) == 0)
			strv_add(ret, addr);
	}
	return r;
}

static int set_without_vfs(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const char *pf = c->on.name;
	cleanup_strv struct strv vfs = {0};
	cleanup_free char *numvfs = xasprintf(DEV "%s/sriov_numvfs", pf);
	int r = netlink_only_here(ctx->root, err);

	if (r == 0)
		r = vfs_of(ctx->root, pf, &vfs, err);
	for (size_t i = 0; r == 0 && i < vfs.n; i++) {
		const char *user = vf_user(ctx->root, vfs.v[i]);

		if (user)
			r = err_set(
				err, -EBUSY,
				"the eswitch mode of %s can be changed only without VFs, and %s "
				"is in use (%s)" TO_MEND "run railhead apply when it is free",
				pf, vfs.v[i], user);
	}
	if (r == 0 && vfs.n)
		r = machine_write_attr(ctx->root, numvfs, "0", err);
	return r < 0 ? r : change_mode(ctx, c, pf, err);
}

/* mlx5 needs the VFs, but none of them may have a driver while the mode changes. */
static int set_with_vfs(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	cleanup_strv struct strv vfs = {0};
	int r = netlink_only_here(ctx->root, err);

	if (r == 0)
		r = vfs_of(ctx->root, c->on.name, &vfs, err);
	for (size_t i = 0; r == 0 && i < vfs.n; i++)
		r = vf_unbind(ctx->root, vfs.v[i], false, err);
	return r < 0 ? r : change_mode(ctx, c, c->on.name, err);
}

const struct target_item eswitch_without_vfs = {
	.kind = &kind_netlink, .look = look, .set = set_without_vfs};
const struct target_item eswitch_with_vfs = {
	.kind = &kind_netlink, .look = look, .set = set_with_vfs};
