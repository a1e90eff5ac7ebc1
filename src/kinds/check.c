/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts that are judged and never set: an item says how, or a target "CHECKER:ARGUMENT". */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "kinds/checks.h"
#include "kinds/target.h"
#include "sys/module.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

/* given: the section has judged topology already. */
static int check_given(const struct kind_ctx *ctx, struct change *c, const char *arg,
		       struct err *err)
{
	(void)ctx;
	(void)c;
	(void)arg;
	(void)err;
	return 0;
}

/* pages:KIB:NODE: 'nr_hugepages' of that node; exactly as many as asked */
static int check_pages(const struct kind_ctx *ctx, struct change *c, const char *arg,
		       struct err *err)
{
	unsigned int kib, node;
	struct str all = {0};
	uint64_t have;
	int r;

	if (sscanf(arg, "%u:%u", &kib, &node) != 2)
		return err_set(err, -EINVAL, "%s: not KIB:NODE", arg);
	r = read_u64(ctx->root, &have, err,
		     "/sys/devices/system/node/node%u/hugepages/hugepages-%ukB/nr_hugepages", node,
		     kib);
	if (r == -ENOENT)
		return err_set(err, r,
			       "node %u has no pages of that size; the CPU must offer it (pdpe1gb "
			       "for 1G) and the node must exist",
			       node);
	if (r < 0)
		return r;
	change_observe(c, "%llu", (unsigned long long)have);
	change_judge(c);
	if (c->state == CHANGE_SAME)
		return 0;
	for (int n = cpus_next(&ctx->node->nodes, -1); n >= 0;
	     n = cpus_next(&ctx->node->nodes, n)) {
		uint64_t v;

		if (read_u64(
			    ctx->root, &v, NULL,
			    "/sys/devices/system/node/node%d/hugepages/hugepages-%ukB/nr_hugepages",
			    n, kib) == 0)
			str_addf(&all, "%snode%d=%llu", all.len ? " " : "", n,
				 (unsigned long long)v);
	}
	change_reason(
		c,
		"node %u has %llu pages, expected %s (now %s); the kernel moves a shortage of "
		"one node to another: see HugeTLB in the kernel log, and ask fewer pages or "
		"fit more memory on that node",
		node, (unsigned long long)have, c->desired, str_get(&all));
	str_free(&all);
	return 0;
}

/* param:MODULE/NAME: value of a module parameter, where the module shows it */
static int check_param(const struct kind_ctx *ctx, struct change *c, const char *arg,
		       struct err *err)
{
	cleanup_free char *module = xstrndup(arg, strcspn(arg, "/"));
	cleanup_free char *dir = module_sysfs_name(module);
	cleanup_free char *text = NULL;
	const char *name = arg + strlen(module) + 1;
	int r;

	if (!root_exists(ctx->root, "/sys/module/%s", dir)) {
		change_observe(c, "module not loaded");
		change_reason(c, "the option holds once the module is loaded");
		c->state = CHANGE_WAITS;
		return 0;
	}
	r = read_text(ctx->root, &text, err, "/sys/module/%s/parameters/%s", dir, name);
	if (r == -ENOENT) {
		change_observe(c, "not shown");
		change_reason(c,
			      "the module does not show this parameter in sysfs (mode 0), so its "
			      "value can't be checked");
		c->state = CHANGE_UNSUPPORTED;
		return 0;
	}
	if (r < 0)
		return r;
	change_observe(c, "%s", text);
	change_judge(c);
	if (c->state == CHANGE_DIFFERS)
		change_reason(c,
			      "the module was loaded before /run/modprobe.d/zz-railhead.conf was "
			      "there, or "
			      "another option overrides it; is module railhead in the initramfs?");
	return 0;
}

/* unloaded:MODULE: a blacklisted module is not live */
static int check_unloaded(const struct kind_ctx *ctx, struct change *c, const char *arg,
			  struct err *err)
{
	enum module_state state;
	int r = module_state(ctx->root, arg, &state, err);

	if (r < 0)
		return r;
	change_observe(c, "%s",
		       state <= MODULE_ABSENT	 ? "absent"
		       : state == MODULE_BUILTIN ? "builtin"
						 : "live");
	change_judge(c);
	if (c->state == CHANGE_DIFFERS)
		change_reason(c, state == MODULE_BUILTIN
					 ? "the kernel has it built in; only initcall_blacklist= "
					   "keeps that off"
					 : "it was loaded before the blacklist was in force, or by "
					   "name; see modprobe.d(5), blacklist");
	return 0;
}

/* driver-version:MODULE */
static int check_driver_version(const struct kind_ctx *ctx, struct change *c, const char *arg,
				struct err *err)
{
	cleanup_free char *dir = module_sysfs_name(arg);
	cleanup_free char *text = NULL;

	(void)err;
	if (!root_exists(ctx->root, "/sys/module/%s", dir)) {
		change_observe(c, "not loaded");
		change_reason(c, "load it first: modules.load");
		c->state = CHANGE_DIFFERS;
		return 0;
	}
	if (read_text(ctx->root, &text, NULL, "/sys/module/%s/version", dir) < 0) {
		change_observe(c, "no version");
		change_reason(c,
			      "this driver shows none: it is the kernel's own, not the vendor's; "
			      "install the vendor's driver, or write require.kernel");
		c->state = CHANGE_DIFFERS;
		return 0;
	}
	change_observe(c, "%s", text);
	change_judge(c);
	if (c->state == CHANGE_DIFFERS)
		change_reason(c, "install the driver that the profile asks for");
	return 0;
}

/* The file that says what firmware runs on a function, by what it is. */
static int read_firmware(const struct kind_ctx *ctx, const char *addr, char **ret)
{
	static const char *const patterns[] = {
		DEV "%s/infiniband/*/fw_ver",
		DEV "%s/nvme/nvme*/firmware_rev",
	};

	for (size_t i = 0; i < array_len(patterns); i++) {
		cleanup_strv struct strv paths = {0};
		cleanup_free char *pattern = xasprintf(patterns[i], addr);

		if (read_glob(ctx->root, pattern, &paths, NULL) == 0 && paths.n)
			return read_text(ctx->root, ret, NULL, "%s", paths.v[0]);
	}
	return -ENOENT;
}

/* firmware-version:ADDR */
static int check_firmware_version(const struct kind_ctx *ctx, struct change *c, const char *arg,
				  struct err *err)
{
	cleanup_free char *text = NULL;

	(void)err;
	if (read_firmware(ctx, arg, &text) < 0) {
		change_observe(c, "not shown");
		change_reason(c,
			      "%s shows no firmware version: it has no RDMA or NVMe device; is "
			      "its driver loaded (modules.load)?",
			      arg);
		c->state = CHANGE_DIFFERS;
		return 0;
	}
	change_observe(c, "%s", text);
	change_judge(c);
	if (c->state == CHANGE_DIFFERS)
		change_reason(c, "flash %s with the firmware that the profile asks for", arg);
	return 0;
}

static const struct {
	const char *name;
	int (*look)(const struct kind_ctx *ctx, struct change *c, const char *arg, struct err *err);
} checkers[] = {
	{"given", check_given},
	{"pages", check_pages},
	{"param", check_param},
	{"unloaded", check_unloaded},
	{"carrier", check_carrier},
	{"speed", check_speed},
	{"pcie-width", check_pcie_width},
	{"pcie-speed", check_pcie_speed},
	{"pcie-payload", check_pcie_payload},
	{"pcie-errors", check_pcie_errors},
	{"pcie-corrected", check_pcie_corrected},
	{"rdma-link", check_rdma_link},
	{"rdma-speed", check_rdma_speed},
	{"memlock", check_memlock},
	{"gpu-driver", check_gpu_driver},
	{"gpudirect", check_gpudirect},
	{"gpu-xid", check_gpu_xid},
	{"iommu-group", check_iommu_group},
	{"iommu-type", check_iommu_type},
	{"driver-version", check_driver_version},
	{"firmware-version", check_firmware_version},
};

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	size_t len = strcspn(c->target, ":");

	if (c->on.item)
		return item_look(ctx, c, err);
	for (size_t i = 0; i < array_len(checkers); i++)
		if (strlen(checkers[i].name) == len &&
		    strncmp(c->target, checkers[i].name, len) == 0)
			return checkers[i].look(ctx, c, c->target + len + (c->target[len] == ':'),
						err);
	return err_set(err, -EINVAL, "%s: there is no such check", c->target);
}

const struct kind kind_check = {.name = "check", .look = look};
