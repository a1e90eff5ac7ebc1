/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The driver of a VF, and whether the VF is ready: the driver creates the netdev and RDMA device
 * after it is bound, and udev then names the netdev. A netdev that is used before udev has named it
 * keeps its old name.
 */
#include <errno.h>
#include <string.h>

#include "kinds/function.h"
#include "kinds/vf.h"
#include "node/drivers.h"
#include "node/node.h"
#include "plan/change.h"
#include "sys/clock.h"
#include "sys/machine.h"
#include "sys/read.h"
#include "sys/uevent.h"

#define DEV "/sys/bus/pci/devices/"
/* As a driver_override this word matches no driver: the documented way to keep a device unbound. */
#define NONE "none"

enum {
	PROBE_US = 500000,   /* after drivers_probe, for a probe that was deferred */
	LOAD_US = 2000000,   /* the same, if the driver itself may still be coming */
	SETTLE_US = 2000000, /* for devices that a driver bound earlier has yet to create */
};

const char *const vf_driver_words[] = {[VF_DRIVER_NETDEV] = "netdev",
				       [VF_DRIVER_VFIO] = DRIVER_VFIO,
				       [VF_DRIVER_NONE] = NONE,
				       NULL};

struct vf {
	const struct root *root;
	const char *pf;
	int index;
	int64_t want; /* VF_DRIVER_* */
	char *addr;
};

static void free_vf(struct vf *vf)
{
	free(vf->addr);
}

/* -ENOENT: the VF does not exist. ret then lacks only the address. */
static int find_vf(const struct root *root, const struct change *c, struct vf *ret, struct err *err)
{
	*ret = (struct vf){root, c->on.name, c->on.vf, c->want.number, NULL};
	return function_vf(root, ret->pf, ret->index, &ret->addr, err);
}

/* --- what it should be, and what it is --------------------------------------------------- */

static bool driver_fits(int64_t want, const char *driver)
{
	if (want == VF_DRIVER_NONE)
		return !driver;
	if (want == VF_DRIVER_VFIO)
		return driver && streq(driver, DRIVER_VFIO);
	return driver && !streq(driver, DRIVER_VFIO); /* netdev: any driver but vfio-pci */
}

static bool lacks_netdev(const struct vf *vf)
{
	return !function_has(vf->root, vf->addr, "net");
}

static bool lacks_rdma(const struct vf *vf)
{
	return !function_has(vf->root, vf->addr, "infiniband");
}

/* The device that the VF's own driver has not created (yet), or NULL. */
static const char *missing_device(const struct vf *vf, const char *driver)
{
	uint64_t class;

	if (read_u64(vf->root, &class, NULL, DEV "%s/class", vf->addr) < 0)
		return NULL;
	class >>= 8;
	if (class == CLASS_INFINIBAND)
		return lacks_rdma(vf) ? "no RDMA device" : NULL;
	if (class == CLASS_ETHERNET && lacks_netdev(vf))
		return "no netdev";
	if (class == CLASS_ETHERNET && lacks_rdma(vf) && driver_find(driver)->vfs_do_rdma &&
	    function_has(vf->root, vf->pf, "infiniband"))
		return "no RDMA device";
	/* ConnectX-3 and older: 0280 or 0c06, for any type of port */
	if ((class >> 8 == 0x02 || class == CLASS_SERIAL_INFINIBAND) && lacks_netdev(vf) &&
	    lacks_rdma(vf))
		return "no netdev and no RDMA device";
	return NULL;
}

static bool pinned_to_none(const struct vf *vf)
{
	cleanup_free char *override = NULL;

	return read_attr(vf->root, &override, NULL, DEV "%s/driver_override", vf->addr) == 0 &&
	       streq(override, NONE);
}

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct vf vf cleanup(free_vf) = {0};
	cleanup_free char *driver = NULL;
	const char *missing = NULL;
	int r = find_vf(ctx->root, c, &vf, err);

	if (r == -ENOENT && function_gone(ctx->root, vf.pf, err) < 0)
		return -ENODEV;
	if (r == -ENOENT)
		return target_no_vf(c);
	if (r < 0)
		return r;
	driver = function_driver(ctx->root, vf.addr);
	c->now.state = driver_fits(vf.want, driver) ? CHANGE_SAME : CHANGE_DIFFERS;
	/* Being unbound is not enough, because a driver that is loaded later would bind the VF. */
	if (c->now.state == CHANGE_SAME && vf.want == VF_DRIVER_NONE && !pinned_to_none(&vf))
		missing = "but open to any driver";
	else if (c->now.state == CHANGE_SAME && vf.want == VF_DRIVER_NETDEV)
		missing = missing_device(&vf, driver);
	if (missing)
		c->now.state = CHANGE_DIFFERS;
	change_observe(c, "%s%s%s", driver ? driver : "none", missing ? ", " : "",
		       missing ? missing : "");
	return 0;
}

/* --- binding ------------------------------------------------------------------------------ */

static int write_at(const struct vf *vf, const char *file, const char *text, struct err *err)
{
	cleanup_free char *path = xasprintf(DEV "%s/%s", vf->addr, file);

	return machine_write_attr(vf->root, path, text, err);
}

int vf_load_driver(const struct root *root, const char *addr, bool vfio, struct err *err)
{
	cleanup_free char *alias = NULL;

	if (!root->live)
		return 0;
	if (vfio)
		return machine_insert_module(DRIVER_VFIO, NULL, err);
	return read_attr(root, &alias, NULL, DEV "%s/modalias", addr) == 0
		       ? machine_insert_module(alias, NULL, err)
		       : 0;
}

static bool has_driver(void *arg)
{
	const struct vf *vf = arg;
	cleanup_free char *driver = function_driver(vf->root, vf->addr);

	return driver_fits(vf->want, driver);
}

/*
 * The driver for the VF, if it is registered: drivers_probe then returns only after that driver was
 * asked, even if the driver prefers asynchronous probes (device_attach(), drivers/base/dd.c).
 */
static const char *registered_driver(const struct vf *vf)
{
	cleanup_free char *pf = function_driver(vf->root, vf->pf);
	const char *driver = vf->want == VF_DRIVER_VFIO ? DRIVER_VFIO : driver_find(pf)->vf;

	return driver && root_exists(vf->root, "/sys/bus/pci/drivers/%s", driver) ? driver : NULL;
}

static int no_driver(const struct vf *vf, const char *tried, uint64_t waited, struct err *err)
{
	uint64_t autoprobe = 1;

	if (function_gone(vf->root, vf->pf, err) < 0)
		return -ENODEV;
	read_u64(vf->root, &autoprobe, NULL, DEV "%s/sriov_drivers_autoprobe", vf->pf);
	if (!autoprobe && vf->want == VF_DRIVER_NETDEV)
		return err_set(
			err, -ENODEV,
			"VF %s of %s: no driver may bind it, because sriov_drivers_autoprobe of "
			"the PF is 0; another program on the node sets this",
			vf->addr, vf->pf);
	if (tried)
		return err_set(err, -ENODEV,
			       "VF %s of %s: the probe of %s failed; the kernel log says why "
			       "(journalctl -k -g %s)",
			       vf->addr, vf->pf, tried, vf->addr);
	return err_set(err, -ENODEV,
		       "VF %s of %s: no driver bound it within %.1f s; is the module for it "
		       "installed and loaded, and what does the kernel log say of %s?",
		       vf->addr, vf->pf, (double)waited / 1e6, vf->addr);
}

static int ask_drivers(const struct vf *vf, struct err *err)
{
	return machine_write_attr(vf->root, "/sys/bus/pci/drivers_probe", vf->addr, err);
}

static int probe(struct vf *vf, uint64_t deadline, struct err *err)
{
	uint64_t started = clock_usec(), until;
	const char *tried;
	int r;

	tried = registered_driver(vf);
	r = ask_drivers(vf, err);
	if (r == 0 && !tried && !has_driver(vf)) {
		/* Searches the files of depmod only if no registered driver took the VF. */
		if (vf_load_driver(vf->root, vf->addr, vf->want == VF_DRIVER_VFIO, err) == -ELIBACC)
			return err_wrap(err, "VF %s of %s", vf->addr, vf->pf);
		tried = registered_driver(vf);
		r = ask_drivers(vf, err);
	}
	if (r < 0)
		return function_going(vf->root, vf->pf, r, err) < 0 ? -ENODEV : r;
	if (has_driver(vf))
		return 0;
	until = clock_usec() + (tried ? PROBE_US : LOAD_US);
	if (uevent_wait(has_driver, vf, until < deadline ? until : deadline))
		return 0;
	return no_driver(vf, tried, clock_usec() - started, err);
}

/* --- ready -------------------------------------------------------------------------------- */

/*
 * The text for the message if a VF with this driver (NULL: none) is not ready; NULL: the VF is
 * ready.
 */
static const char *lacks(const struct vf *vf, const char *driver)
{
	const char *missing;

	if (!driver_fits(vf->want, driver))
		return "the driver unbound from the VF";
	if (!driver || vf->want != VF_DRIVER_NETDEV)
		return NULL;
	missing = missing_device(vf, driver);
	if (missing)
		return missing;
	if (function_has(vf->root, vf->addr, "net") && !function_named(vf->root, vf->addr))
		return "udev has not named its netdev";
	return NULL;
}

static bool is_ready(void *arg)
{
	const struct vf *vf = arg;
	cleanup_free char *driver = function_driver(vf->root, vf->addr);

	return !lacks(vf, driver);
}

static int complete(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct vf vf cleanup(free_vf) = {0};
	cleanup_free char *driver = NULL;
	const char *missing = NULL;
	int r = find_vf(ctx->root, c, &vf, err);

	if (r == 0) {
		driver = function_driver(ctx->root, vf.addr);
		missing = lacks(&vf, driver);
	}
	if (r == 0 && !missing) {
		change_observe(c, "%s", driver ? driver : NONE);
		return 1;
	}
	if (function_gone(ctx->root, vf.pf, err) < 0)
		return -ENODEV;
	if (r == -ENOENT) /* mostly with its PF, which disappears last */
		return err_set(err, -EAGAIN,
			       "VF %s/%d disappeared after it was bound; what does the kernel log "
			       "say of %s?",
			       vf.pf, vf.index, vf.pf);
	if (r < 0)
		return r;
	return err_set(
		err, -EAGAIN, "VF %s of %s (driver: %s) is not ready after %.1f s: %s; %s", vf.addr,
		vf.pf, driver ? driver : "none",
		(double)(clock_usec() - c->started - c->written) / 1e6, missing,
		strstr(missing, "udev")
			? "is systemd-udevd running, and do its rules finish?"
			: "what does the kernel log say of it, and is vf.timeout long enough?");
}

/*
 * Sets the override that the wanted driver needs, or clears an override that prevents that driver.
 */
static int set_override(const struct vf *vf, struct err *err)
{
	cleanup_free char *override = NULL;

	if (vf->want != VF_DRIVER_NETDEV)
		return write_at(vf, "driver_override", vf_driver_words[vf->want], err);
	read_attr(vf->root, &override, NULL, DEV "%s/driver_override", vf->addr);
	if (override && (streq(override, DRIVER_VFIO) || streq(override, NONE)))
		/* set for another profile; "\n" is how the kernel clears it */
		return write_at(vf, "driver_override", "\n", err);
	return 0;
}

/* Waits for the devices, because the right driver may still be creating them. */
static bool comes_by_itself(struct vf *vf, uint64_t deadline)
{
	uint64_t until = clock_usec() + SETTLE_US;

	return uevent_wait(is_ready, vf, until < deadline ? until : deadline);
}

static int set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct vf vf cleanup(free_vf) = {0};
	cleanup_free char *driver = NULL;
	int r = find_vf(ctx->root, c, &vf, err);

	if (r < 0)
		return function_going(ctx->root, vf.pf, r, err) < 0 ? -ENODEV : r;
	driver = function_driver(ctx->root, vf.addr);
	if (vf.want == VF_DRIVER_NETDEV && driver_fits(vf.want, driver)) {
		/* A container or a program may use the devices that exist, so the driver stays. */
		if (!lacks_netdev(&vf) || !lacks_rdma(&vf))
			return 0;
		if (comes_by_itself(&vf, ctx->deadline))
			return 0;
	}
	r = set_override(&vf, err);
	if (r == 0 && driver)
		r = write_at(&vf, "driver/unbind", vf.addr, err);
	if (r < 0 || vf.want == VF_DRIVER_NONE)
		return r;
	return probe(&vf, ctx->deadline, err);
}

static char *desired(const struct change *c)
{
	return xstrdup(vf_driver_words[c->want.number]);
}

const struct target_item vf_driver = {
	.kind = &kind_vf, .look = look, .set = set, .complete = complete, .desired = desired};
