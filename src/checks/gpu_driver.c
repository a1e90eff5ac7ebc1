/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GPUs: whether a driver of the wanted flavor is bound, and the device nodes that work opens exist.
 */
#include <stdio.h>
#include <string.h>

#include "checks/gpu.h"
#include "checks/looks.h"
#include "kinds/function.h"
#include "plan/change.h"
#include "profile/yaml.h"
#include "sys/read.h"

#define NVIDIA_GPU "/proc/driver/nvidia/gpus/"

static int differs(struct change *c)
{
	c->now.state = CHANGE_DIFFERS;
	return 0;
}

static int unsupported(struct change *c, const char *reason)
{
	c->now.state = CHANGE_UNSUPPORTED;
	change_reason(c, "%s", reason);
	return 0;
}

/* --- which modules -------------------------------------------------------------------------- */

static void observe_modules(const struct root *root, struct change *c, const char *flavor)
{
	cleanup_free char *version = NULL;

	if (read_attr(root, &version, NULL, "/sys/module/nvidia/version") == 0)
		change_observe(c, "%s, %s", flavor, version);
	else
		change_observe(c, "%s", flavor);
}

static int judge_flavor(const struct root *root, struct change *c)
{
	static const char *const names[] = {[GPU_OPEN] = "open", [GPU_PROPRIETARY] = "proprietary"};
	const char *flavor = gpu_nvidia_flavor(root);
	const char *want = c->want.number == GPU_ANY ? flavor : names[c->want.number];

	if (!flavor && !root->live)
		return unsupported(c, "this tree does not show which NVIDIA modules were loaded");
	if (!flavor) {
		change_observe(c, "not known");
		change_reason(c, GPU_NVIDIA_VERSION
			      " is missing though nvidia is bound: see NVRM in the kernel log");
		return differs(c);
	}
	observe_modules(root, c, flavor);
	c->now.state = streq(want, flavor) ? CHANGE_SAME : CHANGE_DIFFERS;
	if (c->now.state == CHANGE_DIFFERS)
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
 * CUDA opens all three device nodes. nvidia-modprobe makes them as root, on first use; they are
 * missing in a container that got the node's devices before that.
 */
static char *missing_node(const struct root *root, const char *addr)
{
	int minor = minor_of(root, addr);

	if (!root_exists(root, "/dev")) /* a captured tree has no /dev */
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
			"the driver rejected %s: see NVRM in the kernel log (a BAR without "
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

/* AMD's driver is the kernel's own, or built from the same sources. */
static int judge_amd(struct change *c)
{
	change_observe(c, "open, amdgpu");
	c->now.state = c->want.number == GPU_PROPRIETARY ? CHANGE_DIFFERS : CHANGE_SAME;
	if (c->now.state == CHANGE_DIFFERS)
		change_reason(c, "AMD's GPUs have only an open driver" TO_MEND "remove flavor");
	return 0;
}

static int look_driver(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const char *addr = c->on.name;
	cleanup_free char *driver = NULL;
	int r = function_gone(ctx->root, addr, err);

	if (r < 0)
		return r;
	driver = function_driver(ctx->root, addr);
	if (driver && streq(driver, "amdgpu"))
		return judge_amd(c);
	if (!driver || !streq(driver, "nvidia"))
		return gpu_unbound(c, addr, driver);
	r = judge_flavor(ctx->root, c);
	return c->now.state == CHANGE_SAME ? judge_nodes(ctx->root, c, addr) : r;
}

const struct target_item gpu_driver_item = {
	.kind = &kind_check, .look = look_driver, .fault = FAULT_GPU_DRIVER};

/* When the gate begins, a driver may still be initialising its GPUs and their device nodes. */
static void emit(const struct checked *t, struct subject of)
{
	const struct ynode *flavor = ynode_get(t->map, "flavor");
	struct change *c =
		check_look_wanting(t, of, "", &gpu_driver_item, "gpu-driver", flavor, "any");

	if (!flavor)
		c->want.number = GPU_ANY;
	check_settles(t, c);
}

CHECK(gpu_driver, .required = {"on"}, .optional = {"flavor"}, .look = emit);
