/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Read-only checks. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "kinds/checks.h"
#include "plan/change.h"
#include "sys/module.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"
#define PAGES "/sys/devices/system/node/node%u/hugepages/%s/nr_hugepages"

static int look_given(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	(void)ctx;
	(void)c;
	(void)err;
	return 0;
}

const struct target_item given_item = {.kind = &kind_check, .look = look_given};

#define SHORTAGE                                                                                  \
	"the kernel moves a shortage of one node to another: see HugeTLB in the kernel log, and " \
	"request fewer pages or fit more memory on that node"
/* The kernel allocates as many as it can; 0 is what hugepages=0:32 means before Linux 5.16. */
#define NO_PAGES                                                                       \
	"no NUMA node has any: Linux before 5.16 reads no count per NUMA node in its " \
	"arguments, so write `at: runtime` there; else see HugeTLB in the kernel log"

static int look_pages(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const struct part *part = &c->parts.v[0];
	unsigned int node = part->index;
	struct str all = {0};
	uint64_t have, on_all = 0;
	int r;

	r = read_u64(ctx->root, &have, err, PAGES, node, part->name);
	if (r == -ENOENT)
		return err_set(err, r,
			       "node %u has no pages of that size; the CPU must offer it (pdpe1gb "
			       "for 1G) and the node must exist",
			       node);
	if (r < 0)
		return r;
	change_found(c, (int64_t)have);
	if (c->now.state == CHANGE_SAME)
		return 0;
	for (int n = cpus_next(&ctx->node->nodes, -1); n >= 0;
	     n = cpus_next(&ctx->node->nodes, n)) {
		uint64_t v;

		if (read_u64(ctx->root, &v, NULL, PAGES, (unsigned int)n, part->name) != 0)
			continue;
		str_addf(&all, "%snode%d=%llu", all.len ? " " : "", n, (unsigned long long)v);
		on_all += v;
	}
	change_reason(c, "node %u has %llu pages, expected %lld (now %s); %s", node,
		      (unsigned long long)have, (long long)c->want.number, str_get(&all),
		      on_all ? SHORTAGE : NO_PAGES);
	str_free(&all);
	return 0;
}

const struct target_item pages_item = {
	.kind = &kind_check, .look = look_pages, .fault = FAULT_MEMORY_PAGES_SHORT};

/*
 * Judges a parameter that sysfs does not show: its mode is 0, or the module has no such parameter.
 */
static void judge_hidden(const struct kind_ctx *ctx, struct change *c)
{
	change_observe(c, "not shown");
	if (module_has_param(ctx->root, c->on.name, c->on.key) == 0) {
		change_reason(c,
			      "the module has no such parameter, and the kernel ignores it; is it "
			      "misspelt? `modinfo -p %s` lists them",
			      c->on.name);
		c->now.state = CHANGE_DIFFERS;
		return;
	}
	change_reason(c, "the module does not show this parameter in sysfs (mode 0), so its "
			 "value can't be checked");
	c->now.state = CHANGE_UNSUPPORTED;
}

static int look_param(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const char *module = c->on.name;
	cleanup_free char *dir = module_sysfs_name(module);
	cleanup_free char *text = NULL;
	int r;

	if (!root_exists(ctx->root, "/sys/module/%s", dir)) {
		change_observe(c, "module not loaded");
		change_reason(c, "the option takes effect when the module is loaded%s",
			      c->optional ? ", which nothing asks for" : "");
		c->now.fault = FAULT_KERNEL_MODULE_DIFFERS;
		c->now.state = c->optional ? CHANGE_UNSUPPORTED : CHANGE_WAITS;
		return 0;
	}
	r = read_attr(ctx->root, &text, err, "/sys/module/%s/parameters/%s", dir, c->on.key);
	if (r == -ENOENT) {
		judge_hidden(ctx, c);
		return 0;
	}
	if (r < 0)
		return r;
	change_observe(c, "%s", text);
	change_judge(c);
	if (c->now.state == CHANGE_DIFFERS)
		change_reason(c,
			      "the module was loaded before /run/modprobe.d/zz-railhead.conf was "
			      "there, or "
			      "another option overrides it; is module railhead in the initramfs?");
	return 0;
}

const struct target_item param_item = {
	.kind = &kind_check, .look = look_param, .fault = FAULT_KERNEL_MODULE_OPTION};

static int look_unloaded(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	enum module_state state;
	int r = module_state(ctx->root, c->on.name, &state, err);

	if (r < 0)
		return r;
	change_observe(c, "%s",
		       state <= MODULE_ABSENT	 ? "absent"
		       : state == MODULE_BUILTIN ? "builtin"
						 : "live");
	c->now.state = state <= MODULE_ABSENT ? CHANGE_SAME : CHANGE_DIFFERS;
	if (c->now.state == CHANGE_DIFFERS)
		change_reason(c, state == MODULE_BUILTIN
					 ? "the module is built into the kernel; only "
					   "initcall_blacklist= disables it"
					 : "the module was loaded before the blacklist was in "
					   "force, or by name" TO_MEND
					   "see modprobe.d(5), blacklist");
	return 0;
}

const struct target_item unloaded_item = {
	.kind = &kind_check, .look = look_unloaded, .fault = FAULT_KERNEL_MODULE_UNWANTED};

static int look_driver_version(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	cleanup_free char *dir = module_sysfs_name(c->on.name);
	cleanup_free char *text = NULL;

	(void)err;
	if (!root_exists(ctx->root, "/sys/module/%s", dir)) {
		change_observe(c, "not loaded");
		change_reason(c, "load it first: modules.load");
		c->now.fault = FAULT_KERNEL_MODULE_DIFFERS;
		c->now.state = CHANGE_DIFFERS;
		return 0;
	}
	if (read_attr(ctx->root, &text, NULL, "/sys/module/%s/version", dir) < 0) {
		change_observe(c, "no version");
		change_reason(c,
			      "this driver shows no version, because it is the kernel's own" TO_MEND
			      "install the vendor's driver, or write require.kernel");
		c->now.state = CHANGE_DIFFERS;
		return 0;
	}
	change_observe(c, "%s", text);
	change_judge(c);
	if (c->now.state == CHANGE_DIFFERS)
		change_reason(c, "install the driver that the profile asks for");
	return 0;
}

const struct target_item driver_version_item = {
	.kind = &kind_check, .look = look_driver_version, .fault = FAULT_KERNEL_MODULE_VERSION};

/* Reads the firmware version of an RDMA or NVMe device. -ENOENT: the function has neither. */
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
			return read_attr(ctx->root, ret, NULL, "%s", paths.v[0]);
	}
	return -ENOENT;
}

static int look_firmware_version(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const char *addr = c->on.name;
	cleanup_free char *text = NULL;

	(void)err;
	if (read_firmware(ctx, addr, &text) < 0) {
		change_observe(c, "not shown");
		c->now.fault = FAULT_PCI_DRIVER;
		change_reason(c,
			      "%s shows no firmware version: it has no RDMA or NVMe device; is "
			      "its driver loaded (modules.load)?",
			      addr);
		c->now.state = CHANGE_DIFFERS;
		return 0;
	}
	change_observe(c, "%s", text);
	change_judge(c);
	if (c->now.state == CHANGE_DIFFERS)
		change_reason(c, "flash %s with the firmware that the profile asks for", addr);
	return 0;
}

const struct target_item firmware_version_item = {
	.kind = &kind_check, .look = look_firmware_version, .fault = FAULT_PCI_FIRMWARE};

const struct kind kind_check = {.name = "check", .look = item_look};
