/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VFs: how many a PF has ("numvfs:PF") and which driver each has ("driver:PF/INDEX").
 * Contract of the files: Documentation/ABI/testing/sysfs-bus-pci and
 * drivers/pci/iov.c. All sets run in workers: a numvfs write holds the PF's device lock
 * and, on current kernels, one global lock around the whole creation.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "kinds/firmware.h"
#include "kinds/kind.h"
#include "sys/clock.h"
#include "sys/machine.h"
#include "sys/read.h"
#include "sys/uevent.h"

#define DEV "/sys/bus/pci/devices/"
#define VFIO "vfio-pci"
/* As a driver_override it matches no driver: the ABI's way to keep a device unbound. */
#define NONE "none"

static unsigned int as_number(const char *text)
{
	return (unsigned int)strtoul(text, NULL, 10);
}

/*
 * Counted by the virtfn links, not read from sriov_numvfs: that file's show() takes the
 * device lock, and a look must not hang behind a writer that is stuck.
 */
static int count_vfs(const struct root *root, const char *pf, unsigned int *ret, struct err *err)
{
	cleanup_strv struct strv names = {0};
	unsigned int n = 0;
	int r = read_dir(root, &names, err, DEV "%s", pf);

	if (r < 0)
		return r;
	for (size_t i = 0; i < names.n; i++)
		n += str_starts(names.v[i], "virtfn");
	*ret = n;
	return 0;
}

static int look_numvfs(const struct kind_ctx *ctx, struct change *c, const char *pf,
		       struct err *err)
{
	uint64_t total;
	unsigned int n;
	int r = count_vfs(ctx->root, pf, &n, err);

	if (r < 0)
		return r;
	change_observe(c, "%u", n);
	change_judge(c);
	if (c->state == CHANGE_SAME)
		return 0;
	if (read_u64(ctx->root, &total, NULL, DEV "%s/sriov_totalvfs", pf) < 0 ||
	    streq(c->desired, "max"))
		return firmware_lacks_vfs(ctx, pf, c->desired, 0, err);
	if (as_number(c->desired) > total)
		return firmware_lacks_vfs(ctx, pf, c->desired, (unsigned int)total, err);
	return 0;
}

struct vfs_ready {
	const struct root *root;
	const char *pf;
	unsigned int want;
};

static bool vfs_ready(void *arg)
{
	const struct vfs_ready *w = arg;
	unsigned int n;

	return count_vfs(w->root, w->pf, &n, NULL) == 0 && n == w->want;
}

static int write_numvfs(const struct root *root, const char *pf, const char *value, struct err *err)
{
	cleanup_free char *path = xasprintf(DEV "%s/sriov_numvfs", pf);
	int r = machine_write_attr(root, path, value, err);

	if (r == -ENOENT)
		err_wrap(err, "no driver with SR-IOV support is bound to the PF");
	else if (r == -ENOMEM)
		err_wrap(err,
			 "no room for the VFs' memory or bus numbers; pci=realloc, or the BIOS "
			 "options for SR-IOV and above-4G decoding, give it");
	return r;
}

static int set_numvfs(const struct kind_ctx *ctx, struct change *c, const char *pf, struct err *err)
{
	struct vfs_ready want = {ctx->root, pf, as_number(c->desired)};
	unsigned int have;
	int r = count_vfs(ctx->root, pf, &have, err);

	if (r < 0)
		return r;
	/* The kernel refuses to go from one non-zero count to another (EBUSY). */
	if (have && want.want)
		r = write_numvfs(ctx->root, pf, "0", err);
	if (r == 0)
		r = write_numvfs(ctx->root, pf, c->desired, err);
	if (r < 0)
		return r;
	/* A driver may make fewer and the write still succeeds: what counts is the links. */
	if (!uevent_wait(vfs_ready, &want, clock_usec() + 10 * 1000000ULL)) {
		count_vfs(ctx->root, pf, &have, NULL);
		return err_set(err, -EIO,
			       "%s VFs asked, %u came; the kernel log says what the driver refused",
			       c->desired, have);
	}
	return 0;
}

/* "PF/INDEX" -> address of the VF; -ENOENT while it does not exist. */
static int vf_address(const struct root *root, const char *vf, char **ret, struct err *err)
{
	const char *slash = strchr(vf, '/');

	if (!slash)
		return err_set(err, -EINVAL, "%s: not PF/INDEX", vf);
	return read_link_name(root, ret, err, DEV "%.*s/virtfn%s", (int)(slash - vf), vf,
			      slash + 1);
}

static bool driver_fits(const char *desired, const char *driver)
{
	if (streq(desired, NONE))
		return !driver;
	if (streq(desired, VFIO))
		return driver && streq(driver, VFIO);
	return driver && !streq(driver, VFIO); /* netdev: its own driver, whatever the name */
}

static bool pinned_to_none(const struct root *root, const char *addr)
{
	cleanup_free char *override = NULL;

	return read_text(root, &override, NULL, DEV "%s/driver_override", addr) == 0 &&
	       streq(override, NONE);
}

static int look_driver(const struct kind_ctx *ctx, struct change *c, const char *vf,
		       struct err *err)
{
	cleanup_free char *addr = NULL, *driver = NULL;
	int r = vf_address(ctx->root, vf, &addr, err);

	if (r == -ENOENT) {
		change_observe(c, "no such VF");
		change_reason(c, "the VF does not exist yet");
		c->state = CHANGE_WAITS;
		return 0;
	}
	if (r < 0)
		return r;
	read_link_name(ctx->root, &driver, NULL, DEV "%s/driver", addr);
	change_observe(c, "%s", driver ? driver : "none");
	c->state = driver_fits(c->desired, driver) ? CHANGE_SAME : CHANGE_DIFFERS;
	/* Unbound for now is not enough: a driver that is loaded later would take it. */
	if (c->state == CHANGE_SAME && streq(c->desired, NONE) &&
	    !pinned_to_none(ctx->root, addr)) {
		change_observe(c, "none, but open to any driver");
		c->state = CHANGE_DIFFERS;
	}
	return 0;
}

struct driver_ready {
	const struct root *root;
	const char *addr;
	const char *desired;
};

static bool driver_ready(void *arg)
{
	const struct driver_ready *w = arg;
	cleanup_free char *driver = NULL;

	read_link_name(w->root, &driver, NULL, DEV "%s/driver", w->addr);
	return driver_fits(w->desired, driver);
}

static int write_at(const struct root *root, const char *addr, const char *file, const char *text,
		    struct err *err)
{
	cleanup_free char *path = xasprintf(DEV "%s/%s", addr, file);

	return machine_write_attr(root, path, text, err);
}

/* udev would load the driver for the new VF too, some time; this makes it now. */
static void load_driver(const struct root *root, const char *addr, const char *desired)
{
	cleanup_free char *alias = NULL;

	if (!root->live)
		return;
	if (streq(desired, VFIO))
		machine_insert_module(VFIO, NULL, NULL);
	else if (read_text(root, &alias, NULL, DEV "%s/modalias", addr) == 0)
		machine_insert_module(alias, NULL, NULL);
	/* A failure here shows as a VF without a driver, which is what gets reported. */
}

static int set_driver(const struct kind_ctx *ctx, struct change *c, const char *vf, struct err *err)
{
	const struct root *root = ctx->root;
	cleanup_free char *addr = NULL, *driver = NULL, *override = NULL;
	struct driver_ready want = {root, NULL, c->desired};
	int r = vf_address(root, vf, &addr, err);

	if (r < 0)
		return r;
	want.addr = addr;
	read_link_name(root, &driver, NULL, DEV "%s/driver", addr);
	read_text(root, &override, NULL, DEV "%s/driver_override", addr);
	if (!streq(c->desired, "netdev"))
		r = write_at(root, addr, "driver_override", c->desired, err);
	else if (override && (streq(override, VFIO) || streq(override, NONE)))
		/* ours, of another profile; "\n" is how the kernel clears it */
		r = write_at(root, addr, "driver_override", "\n", err);
	if (r == 0 && driver)
		r = write_at(root, addr, "driver/unbind", addr, err);
	if (r < 0 || streq(c->desired, NONE))
		return r;
	load_driver(root, addr, c->desired);
	if (!driver_ready(&want)) {
		r = machine_write_attr(root, "/sys/bus/pci/drivers_probe", addr, err);
		if (r < 0)
			return r;
	}
	if (!uevent_wait(driver_ready, &want, clock_usec() + 10 * 1000000ULL))
		return err_set(
			err, -ENODEV,
			"VF %s: no driver took it within 10 s; is the driver's module there, "
			"and what does the kernel log say of %s",
			addr, addr);
	return 0;
}

static const struct {
	const char *prefix;
	int (*look)(const struct kind_ctx *ctx, struct change *c, const char *arg, struct err *err);
	int (*set)(const struct kind_ctx *ctx, struct change *c, const char *arg, struct err *err);
} targets[] = {
	{"numvfs:", look_numvfs, set_numvfs},
	{"driver:", look_driver, set_driver},
};

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	for (size_t i = 0; i < array_len(targets); i++)
		if (str_starts(c->target, targets[i].prefix))
			return targets[i].look(ctx, c, c->target + strlen(targets[i].prefix), err);
	return err_set(err, -EINVAL, "%s: not a target of kind vf", c->target);
}

static int set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	for (size_t i = 0; i < array_len(targets); i++)
		if (str_starts(c->target, targets[i].prefix))
			return targets[i].set(ctx, c, c->target + strlen(targets[i].prefix), err);
	return err_set(err, -EINVAL, "%s: not a target of kind vf", c->target);
}

const struct kind kind_vf = {.name = "vf", .blocks = true, .look = look, .set = set};
