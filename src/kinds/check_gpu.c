/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GPUs: whether their driver has them and what work opens is there, by which way a NIC may
 * read their memory, and what the driver has complained of since boot.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/version.h"
#include "kinds/checks.h"
#include "kinds/function.h"
#include "kinds/xid.h"
#include "sys/kernel_log.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"
#define NVIDIA_VERSION "/proc/driver/nvidia/version"
#define NVIDIA_GPU "/proc/driver/nvidia/gpus/"

static int differs(struct change *c)
{
	c->state = CHANGE_DIFFERS;
	return 0;
}

static int unsupported(struct change *c, const char *reason)
{
	c->state = CHANGE_UNSUPPORTED;
	change_reason(c, "%s", reason);
	return 0;
}

static char *driver_of(const struct root *root, const char *addr)
{
	char *driver = NULL;

	read_link_name(root, &driver, NULL, DEV "%s/driver", addr);
	return driver;
}

/* --- which modules -------------------------------------------------------------------------- */

/*
 * "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15 ...", of the proprietary
 * one "NVIDIA UNIX x86_64 Kernel Module  535.104.05 ..." (nv-procfs.c of the open modules).
 * NULL: the driver isn't loaded, or a captured tree does not tell.
 */
static const char *nvidia_flavor(const struct root *root)
{
	cleanup_free char *text = NULL;

	if (read_text(root, &text, NULL, NVIDIA_VERSION) < 0)
		return NULL;
	return strstr(text, "Open Kernel Module") ? "open" : "proprietary";
}

static void observe_modules(const struct root *root, struct change *c, const char *flavor)
{
	cleanup_free char *version = NULL;

	if (read_text(root, &version, NULL, "/sys/module/nvidia/version") == 0)
		change_observe(c, "%s, %s", flavor, version);
	else
		change_observe(c, "%s", flavor);
}

static int judge_flavor(const struct root *root, struct change *c)
{
	static const char *const names[] = {[GPU_OPEN] = "open", [GPU_PROPRIETARY] = "proprietary"};
	const char *flavor = nvidia_flavor(root);
	const char *want = c->want.number == GPU_ANY ? flavor : names[c->want.number];

	if (!flavor && !root->live)
		return unsupported(c, "this tree does not tell which modules of NVIDIA's ran");
	if (!flavor) {
		change_observe(c, "not known");
		change_reason(c, NVIDIA_VERSION
			      " is missing though nvidia is bound: see NVRM in the kernel log");
		return differs(c);
	}
	observe_modules(root, c, flavor);
	c->state = streq(want, flavor) ? CHANGE_SAME : CHANGE_DIFFERS;
	if (c->state == CHANGE_DIFFERS)
		change_reason(
			c,
			"the %s kernel modules are loaded: install the driver's %s ones%s, and "
			"reboot",
			flavor, want,
			c->want.number == GPU_OPEN ? " (packages nvidia-open or "
						     "nvidia-driver-N-open)"
						   : "");
	return 0;
}

/* --- what work opens ------------------------------------------------------------------------ */

/* "Device Minor: 	 3" of its information file, or -1. */
static int minor_of(const struct root *root, const char *addr)
{
	cleanup_free char *text = NULL;
	const char *line;
	int minor;

	if (read_text(root, &text, NULL, NVIDIA_GPU "%s/information", addr) < 0)
		return -1;
	line = strstr(text, "Device Minor:");
	return line && sscanf(line, "Device Minor: %d", &minor) == 1 ? minor : -1;
}

/*
 * CUDA opens all three. nvidia-modprobe makes them as root, on first use; in a container that
 * was given the node's devices before that they are missing.
 */
static char *missing_node(const struct root *root, const char *addr)
{
	int minor = minor_of(root, addr);

	if (!root_exists(root, "/dev")) /* a captured tree has none */
		return NULL;
	if (!root_exists(root, "/dev/nvidiactl"))
		return xstrdup("/dev/nvidiactl");
	if (!root_exists(root, "/dev/nvidia-uvm"))
		return xstrdup("/dev/nvidia-uvm");
	if (minor >= 0 && !root_exists(root, "/dev/nvidia%d", minor))
		return xasprintf("/dev/nvidia%d", minor);
	return NULL;
}

static int judge_nodes(const struct root *root, struct change *c, const char *addr)
{
	cleanup_free char *missing = NULL;

	if (root->live && !root_exists(root, NVIDIA_GPU "%s", addr)) {
		change_observe(c, "bound, and not known to the driver");
		change_reason(
			c,
			"the driver has not taken %s: see NVRM in the kernel log (a BAR without "
			"address space: kernel_args.set pci=realloc; a driver too old for it)",
			addr);
		return differs(c);
	}
	missing = missing_node(root, addr);
	if (!missing)
		return 0;
	change_observe(c, "no %s", missing);
	change_reason(
		c,
		"%s is missing, so that work which was given the node's devices can't use CUDA: "
		"load nvidia_uvm (modules.load), and run `nvidia-modprobe -u -c 0` or "
		"nvidia-persistenced",
		missing);
	return differs(c);
}

/* --- the driver ----------------------------------------------------------------------------- */

static int judge_unbound(struct change *c, const char *addr, const char *driver)
{
	c->fault = FAULT_GPU_DRIVER;
	change_observe(c, "%s", driver ? driver : "no driver");
	if (!driver)
		change_reason(
			c,
			"no driver is bound to %s: load nvidia (modules.load), and see NVRM in "
			"the kernel log for why it did not take it",
			addr);
	else if (streq(driver, "nouveau"))
		change_reason(c, "nouveau has it: name it in modules.blacklist, and in the "
				 "initramfs");
	else
		change_reason(c, "%s has %s: it was given away (to a virtual machine?)", driver,
			      addr);
	return differs(c);
}

/* AMD's is the kernel's own, or built from the same sources. */
static int judge_amd(struct change *c)
{
	change_observe(c, "open, amdgpu");
	c->state = c->want.number == GPU_PROPRIETARY ? CHANGE_DIFFERS : CHANGE_SAME;
	if (c->state == CHANGE_DIFFERS)
		change_reason(c, "there is no other driver for AMD's GPUs than the open one; leave "
				 "flavor out");
	return 0;
}

static int look_driver(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const char *addr = c->on.name;
	cleanup_free char *driver = NULL;
	int r = function_gone(ctx->root, addr, err);

	if (r < 0)
		return r;
	driver = driver_of(ctx->root, addr);
	if (driver && streq(driver, "amdgpu"))
		return judge_amd(c);
	if (!driver || !streq(driver, "nvidia"))
		return judge_unbound(c, addr, driver);
	r = judge_flavor(ctx->root, c);
	return c->state == CHANGE_SAME ? judge_nodes(ctx->root, c, addr) : r;
}

const struct target_item check_gpu_driver = {
	.kind = &kind_check, .look = look_driver, .fault = FAULT_GPU_DRIVER};

/* --- GPUDirect RDMA ------------------------------------------------------------------------- */

/* PCI drivers whose RDMA drivers have reg_user_mr_dmabuf: mlx5_ib, irdma, bnxt_re, efa. */
static const char *const takes_dmabuf[] = {"mlx5_core", "ice", "i40e", "idpf", "bnxt_en", "efa"};

static bool nic_takes_dmabuf(const char *driver)
{
	for (size_t i = 0; i < array_len(takes_dmabuf); i++)
		if (driver && streq(takes_dmabuf[i], driver))
			return true;
	return false;
}

/* Of the three things that dma-buf takes, the first that is missing; NULL: none. */
static char *no_dmabuf(const struct kind_ctx *ctx, const char *nic, const char *gpu_driver)
{
	cleanup_free char *driver = driver_of(ctx->root, nic);
	const char *flavor = streq(gpu_driver, "nvidia") ? nvidia_flavor(ctx->root) : "open";

	if (!nic_takes_dmabuf(driver))
		return xasprintf("the driver of %s (%s) takes no dma-buf", nic,
				 driver ? driver : "none");
	if (!flavor || !streq(flavor, "open"))
		return xstrdup("the nvidia modules are not the open ones");
	if (!version_fits(">=5.12", ctx->node->kernel))
		return xasprintf("kernel %s is older than 5.12", ctx->node->kernel);
	return NULL;
}

static bool has_peermem(const struct root *root)
{
	return root_exists(root, "/sys/module/nvidia_peermem") ||
	       root_exists(root, "/sys/module/nv_peer_mem");
}

static int judge_paths(const struct kind_ctx *ctx, struct change *c, const char *nic,
		       const char *gpu_driver)
{
	cleanup_free char *lacks = no_dmabuf(ctx, nic, gpu_driver);

	c->state = CHANGE_SAME;
	if (!lacks) {
		change_observe(c, "dma-buf");
		return 0;
	}
	if (streq(gpu_driver, "nvidia") && has_peermem(ctx->root)) {
		change_observe(c, "nvidia_peermem");
		return 0;
	}
	change_observe(c, "neither");
	change_reason(
		c,
		"%s, and nvidia_peermem is not loaded: install the open kernel modules, or load "
		"nvidia_peermem (modules.load), which needs the RDMA stack of DOCA-OFED",
		lacks);
	return differs(c);
}

static int look_direct(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const char *nic = c->on.name, *gpu = c->parts.v[0].name;
	cleanup_free char *driver = NULL;
	int r = function_gone(ctx->root, nic, err);

	if (r == 0)
		r = function_gone(ctx->root, gpu, err);
	if (r < 0)
		return r;
	driver = driver_of(ctx->root, gpu);
	if (!driver || (!streq(driver, "nvidia") && !streq(driver, "amdgpu")))
		return judge_unbound(c, gpu, driver);
	if (!ctx->root->live && streq(driver, "nvidia") && !nvidia_flavor(ctx->root))
		return unsupported(c, "this tree does not tell which modules of NVIDIA's ran");
	return judge_paths(ctx, c, nic, driver);
}

const struct target_item check_gpudirect = {
	.kind = &kind_check, .look = look_direct, .fault = FAULT_GPU_DIRECT};

/* --- Xids ----------------------------------------------------------------------------------- */

static int look_xid(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const char *addr = c->on.name;
	cleanup_free char *log = NULL;
	struct str text = {0};
	enum fault gravest;
	size_t n, harmless;
	int r;

	if (!ctx->root->live)
		return unsupported(c, "a captured tree does not hold the kernel's log");
	r = kernel_log_read(&log, err);
	if (r < 0)
		return r;
	n = xid_faults(log, addr, &text, &harmless, &gravest);
	c->state = n ? CHANGE_DIFFERS : CHANGE_SAME;
	if (n)
		change_observe(c, "%zu", n);
	else
		change_observe(c, harmless ? "none (%zu of applications)" : "none", harmless);
	if (n)
		c->fault = gravest;
	if (n)
		change_reason(c, "since boot the driver has told of %s: %s", addr, str_get(&text));
	str_free(&text);
	return 0;
}

const struct target_item check_gpu_xid = {
	.kind = &kind_check, .look = look_xid, .fault = FAULT_GPU_XID};
