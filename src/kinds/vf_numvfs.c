/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The number of VFs of a PF. Contract of the files: Documentation/ABI/testing/sysfs-bus-pci and
 * drivers/pci/iov.c.
 */
#include <errno.h>

#include "kinds/firmware.h"
#include "kinds/function.h"
#include "kinds/refusal.h"
#include "kinds/vf.h"
#include "node/drivers.h"
#include "plan/change.h"
#include "sys/clock.h"
#include "sys/machine.h"
#include "sys/read.h"
#include "sys/uevent.h"

#define DEV "/sys/bus/pci/devices/"

/* The shortest wait for links that come late, because the write may have used up the time. */
enum { LINKS_US = 2000000 };

static int count_vfs(const struct root *root, const char *pf, unsigned int *ret, struct err *err)
{
	int r = function_count_vfs(root, pf, ret, err);

	return r == -ENOENT && function_gone(root, pf, err) < 0 ? -ENODEV : r;
}

/* Whether the value is the word max, because the PF's number is unknown. */
static bool wants_max(const struct change *c)
{
	return c->want.type == VALUE_WORD;
}

static char *desired(const struct change *c)
{
	return wants_max(c) ? xstrdup("max") : xasprintf("%lld", (long long)c->want.number);
}

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	cleanup_free char *want = desired(c);
	const char *pf = c->on.name;
	uint64_t total;
	unsigned int n;
	int r = count_vfs(ctx->root, pf, &n, err);

	if (r < 0)
		return r;
	change_observe(c, "%u", n);
	c->now.state = !wants_max(c) && n == c->want.number ? CHANGE_SAME : CHANGE_DIFFERS;
	if (c->now.state == CHANGE_SAME)
		return 0;
	if (read_u64(ctx->root, &total, NULL, DEV "%s/sriov_totalvfs", pf) < 0 || wants_max(c))
		return firmware_lacks_vfs(ctx, pf, want, 0, err);
	if ((uint64_t)c->want.number > total)
		return firmware_lacks_vfs(ctx, pf, want, (unsigned int)total, err);
	return 0;
}

/* --- the write ------------------------------------------------------------------------ */

/* Reports a PF without a driver, or a driver that makes no VFs. */
static int no_maker(const struct kind_ctx *ctx, const char *pf, struct err *err)
{
	cleanup_free char *driver = function_driver(ctx->root, pf), *after = NULL;

	if (ctx->waited)
		after = xasprintf(" after %.0f s", (double)ctx->waited / 1e6);
	if (driver)
		err_set(err, -ENOENT,
			"%s, the driver of %s, creates no VFs" TO_MEND "bind another driver to it",
			driver, pf);
	else
		err_set(err, -ENOENT,
			"%s has no driver%s; is its module in modules.load, and what does the "
			"kernel log say of its probe?",
			pf, after ? after : "");
	return err_fault(err, -ENOENT, FAULT_PCI_DRIVER);
}

static int write_numvfs(const struct kind_ctx *ctx, const char *pf, unsigned int vfs,
			struct err *err)
{
	const struct root *root = ctx->root;
	cleanup_free char *path = xasprintf(DEV "%s/sriov_numvfs", pf);
	cleanup_free char *value = xasprintf("%u", vfs);
	int r = machine_write_attr(root, path, value, err);
	const char *why;

	if (r == 0)
		return 0;
	if (r != -ENOENT && function_going(root, pf, r, err) < 0)
		return -ENODEV;
	if (r == -ENOENT)
		return function_gone(root, pf, err) < 0 ? -ENODEV : no_maker(ctx, pf, err);
	why = refusal(PF_NUMVFS, NULL, &r);
	if (why)
		err_explain(err, why);
	return r;
}

/*
 * The write succeeds even if the driver makes fewer VFs (sriov_numvfs_store()). The file has the
 * number right after the write, so nothing waits for links that will not come.
 */
static int check_made(const struct root *root, const char *pf, unsigned int asked, struct err *err)
{
	uint64_t made;
	int r = read_u64(root, &made, err, DEV "%s/sriov_numvfs", pf);

	if (r < 0)
		return function_going(root, pf, r, err) < 0 ? -ENODEV : r;
	if (made == asked)
		return 0;
	return err_set(err, -EIO,
		       "%u VFs requested, %llu created, none bound; the kernel log says what the "
		       "driver or firmware of %s ran out of: fix it, or request fewer",
		       asked, (unsigned long long)made, pf);
}

/* --- the links ------------------------------------------------------------------------ */

struct links {
	const struct root *root;
	const char *pf;
	unsigned int want, have;
};

static bool links_there(void *arg)
{
	struct links *w = arg;

	return count_vfs(w->root, w->pf, &w->have, NULL) == 0 && w->have == w->want;
}

static int wait_links(const struct kind_ctx *ctx, const char *pf, unsigned int vfs, struct err *err)
{
	struct links w = {ctx->root, pf, vfs, 0};
	uint64_t started = clock_usec(), deadline = started + LINKS_US;

	if (uevent_wait(links_there, &w, deadline < ctx->deadline ? ctx->deadline : deadline))
		return 0;
	if (function_gone(ctx->root, pf, err) < 0)
		return -ENODEV;
	return err_set(err, -ETIMEDOUT,
		       "the driver made %u VFs, and %u are on the bus after %.1f s; what does the "
		       "kernel log say of %s?",
		       vfs, w.have, (double)(clock_usec() - started) / 1e6, pf);
}

/*
 * Loads the module of the VFs' driver while autoprobe is off, because a module that comes after
 * autoprobe is on binds all VFs one after another (driver_attach()).
 */
static void prepare_driver(const struct root *root, const char *pf)
{
	cleanup_free char *own = function_driver(root, pf), *vf = NULL;
	const char *driver = driver_find(own)->vf;

	if (driver && root_exists(root, "/sys/bus/pci/drivers/%s", driver))
		return;
	if (read_link_name(root, &vf, NULL, DEV "%s/virtfn0", pf) == 0)
		vf_load_driver(root, vf, false, NULL); /* each bind reports a failure */
}

static int set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const struct root *root = ctx->root;
	const char *pf = c->on.name;
	unsigned int want = (unsigned int)c->want.number, have;
	int r = count_vfs(root, pf, &have, err);

	if (r == 0 && wants_max(c)) /* as the look has reported */
		return firmware_lacks_vfs(ctx, pf, "max", 0, err);
	if (r < 0)
		return r;
	/* The kernel rejects a change from one non-zero count to another (EBUSY). */
	if (have && want)
		r = write_numvfs(ctx, pf, 0, err);
	if (r == 0)
		r = write_numvfs(ctx, pf, want, err);
	if (r == 0)
		r = check_made(root, pf, want, err);
	if (r == 0)
		r = wait_links(ctx, pf, want, err);
	if (r == 0 && want)
		prepare_driver(root, pf);
	return r;
}

const struct target_item vf_numvfs = {
	.kind = &kind_vf, .look = look, .set = set, .desired = desired};
