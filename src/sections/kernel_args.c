/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_args: the arguments that this profile wants on the kernel command line, its own
 * and those that other sections need (boot-time hugepages). One change writes them for the
 * next boot; one check per argument says whether it arrived in this one, and one whether the
 * boot loader's entries still take them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "profile/language.h"
#include "sections/sections.h"

static void want(struct kargs *l, const struct ynode *why, const char *text)
{
	cleanup_free char *origin =
		xasprintf("%s:%u", why->at.file ? why->at.file : "profile", why->at.line);

	kargs_add(l, text, origin);
}

/*
 * The arguments that each vendor's driver honours (arch/x86/kernel/pci-dma.c,
 * drivers/iommu/{intel/iommu.c,amd/init.c,iommu.c}): `iommu=on`,
 * `iommu=strict` and `amd_iommu=on` are not options of the x86 parser. AMD's IOMMU is on
 * by default; Intel's needs intel_iommu=on unless the kernel was built with it on.
 */
static const struct {
	const char *word;
	enum cpu_vendor vendor;
	const char *args[3];
} iommu_args[] = {
	{"disabled", CPU_INTEL, {"intel_iommu=off"}},
	{"disabled", CPU_AMD, {"amd_iommu=off"}},
	{"passthrough", CPU_INTEL, {"intel_iommu=on", "iommu=pt"}},
	{"passthrough", CPU_AMD, {"iommu=pt"}},
	{"passthrough", CPU_ARM, {"iommu.passthrough=1"}},
	{"lazy", CPU_INTEL, {"intel_iommu=on", "iommu=nopt", "iommu.strict=0"}},
	{"lazy", CPU_AMD, {"iommu=nopt", "iommu.strict=0"}},
	{"lazy", CPU_ARM, {"iommu.passthrough=0", "iommu.strict=0"}},
	{"strict", CPU_INTEL, {"intel_iommu=on", "iommu=nopt", "iommu.strict=1"}},
	{"strict", CPU_AMD, {"iommu=nopt", "iommu.strict=1"}},
	{"strict", CPU_ARM, {"iommu.passthrough=0", "iommu.strict=1"}},
};

static int want_iommu(const struct section_ctx *ctx, const struct ynode *iommu, struct kargs *l,
		      struct err *err)
{
	for (size_t i = 0; i < array_len(iommu_args); i++) {
		if (iommu_args[i].vendor != ctx->node->cpu_vendor ||
		    !streq(iommu_args[i].word, iommu->text))
			continue;
		for (size_t j = 0; j < array_len(iommu_args[i].args); j++)
			if (iommu_args[i].args[j])
				want(l, iommu, iommu_args[i].args[j]);
		return 0;
	}
	return err_set(err, -EOPNOTSUPP,
		       "iommu: '%s' has no known argument for the CPU vendor of this node (%s); "
		       "name the arguments in kernel_args.set",
		       iommu->text, cpu_vendor_name(ctx->node->cpu_vendor));
}

/* isolcpus and nohz_full must match; nohz_full offloads RCU callbacks as well. */
static int want_isolation(const struct section_ctx *ctx, const struct ynode *list, struct kargs *l,
			  struct err *err)
{
	const struct cpus *isolated = ynode_cpus(list);
	struct cpus rest = ctx->node->cpus;
	cleanup_free char *text = NULL, *irq = NULL, *arg = NULL;

	if (cpus_count(&rest) && cpus_last(isolated) > cpus_last(&rest))
		return err_set(err, -ERANGE,
			       "isolate_cpus: CPU %d is not there; this node has 0-%d",
			       cpus_last(isolated), cpus_last(&rest));
	cpus_remove_all(&rest, isolated);
	text = cpus_format(isolated);
	arg = xasprintf("isolcpus=%s", text);
	want(l, list, arg);
	free(take_ptr(arg));
	arg = xasprintf("nohz_full=%s", text);
	want(l, list, arg);
	if (!cpus_count(&rest))
		return 0;
	free(take_ptr(arg));
	irq = cpus_format(&rest);
	arg = xasprintf("irqaffinity=%s", irq);
	want(l, list, arg);
	return 0;
}

static int own_kargs(const struct section_ctx *ctx, const struct ynode *section,
		     struct kargs *wanted, struct err *err)
{
	const struct ynode *iommu = ynode_get(section, "iommu");
	const struct ynode *isolate = ynode_get(section, "isolate_cpus");
	const struct ynode *set = ynode_get(section, "set");
	int r = iommu ? want_iommu(ctx, iommu, wanted, err) : 0;

	if (r == 0 && isolate)
		r = want_isolation(ctx, isolate, wanted, err);
	for (size_t i = 0; r == 0 && set && i < set->items.n; i++)
		want(wanted, set->items.v[i], set->items.v[i]->text);
	return r;
}

/*
 * On a node whose arguments are in force nothing else would tell that grubby or a new kernel
 * took the next boot's away: that is no reason to keep this boot from its work.
 */
static void want_entries(struct plan *plan, const struct ynode *section)
{
	struct change *c = plan_add(plan, "kernel_args", &kind_check, STAGE_GATE, PHASE_CHECK,
				    section->at, "kernel_args/loader");

	change_target(c, "loader");
	change_desired(c, "menu entries take them");
	c->on_fail = ON_FAIL_WARN;
}

static int emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		struct err *err)
{
	struct kargs wanted cleanup_kargs = {0};
	cleanup_free char *line = NULL;
	struct change *c;
	int r = sections_kargs(ctx, &wanted, err);

	if (r < 0)
		return r;
	line = kargs_line(&wanted);
	/* Emitted without any argument too: what an earlier profile left must go. */
	c = plan_add(plan, "kernel_args", &kind_bootenv, STAGE_INITRD, PHASE_BOOT, section->at,
		     "kernel_args/next_boot");
	change_desired(c, "%s", line);
	for (size_t i = 0; i < wanted.n; i++) {
		/* hugepagesz=1G alone says nothing; the pair is verified by page counts */
		if (karg_rule(wanted.v[i].text) == KARG_PAGES)
			continue;
		c = plan_add(plan, "kernel_args", &kind_check, STAGE_GATE, PHASE_CHECK, section->at,
			     "kernel_args/arrived/%s", wanted.v[i].text);
		change_target(c, "cmdline:%s", wanted.v[i].text);
		change_desired(c, "on the command line");
		change_waits_for(c, "kernel_args/next_boot");
	}
	if (wanted.n)
		want_entries(plan, section);
	return 0;
}

const struct section section_kernel_args = {
	.name = "kernel_args",
	.spec = &spec_kernel_args,
	.help = "Kernel arguments of the next boots.",
	.class = KEY_SETS,
	.always = true,
	.emit = emit,
	.kargs = own_kargs,
};
