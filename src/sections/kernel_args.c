/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_args: kernel arguments that the profile wants, its own and those of other sections (huge
 * pages at boot). One change writes them for the next boot. One check per argument verifies that it
 * is in effect in this boot, and one check verifies that the boot loader's entries still have them.
 */
#include <errno.h>
#include <stdio.h>

#include "base/mem.h"
#include "kinds/checks.h"
#include "kinds/isolation.h"
#include "plan/change.h"
#include "profile/language.h"
#include "profile/section.h"
#include "sections/hugepages.h"
#include "sections/kernel_args.h"
#include "sections/want_arg.h"

static const struct spec iommu_mode = ONE_OF_WORDS(
	"an IOMMU mode",
	WORDS([IOMMU_DISABLED] = "disabled", [IOMMU_PASSTHROUGH] = "passthrough",
	      [IOMMU_LAZY] = "lazy", [IOMMU_STRICT] = "strict"),
	.meanings = WORDS(
		MEANS("disabled", "no IOMMU: no VFs for VMs, no interrupt remapping by it"),
		MEANS("passthrough",
		      "DMA of the host is not translated; VMs and vfio-pci still are"),
		MEANS("lazy", "DMA is translated, and stale translations are flushed in batches"),
		MEANS("strict", "DMA is translated, and each unmapping flushes at once")));
static const struct spec kernel_arg =
	SCALAR("a kernel argument such as pci=realloc", value_kernel_arg,
	       "^([!%&)+-.0-<>-Z^_a-~]|\\[|\\])([!#%&(-Z^_a-~]|\\[|\\])*$");
static const struct spec kernel_arg_list =
	LIST_OF("a list of kernel arguments", kernel_arg, ITEM_ARG);
/*
 * Counts cores instead of CPUs, so that SMT siblings stay together and the number is the same with
 * SMT on and off. The lowest-numbered cores stay, because CPU 0 must stay, and because the tools
 * that derive kubelet's reservedSystemCPUs choose them too (performance-profile-creator of
 * OpenShift's node tuning operator).
 */
static const struct spec cores_kept =
	SCALAR("a number of cores such as 2 per node", value_amount, "^[1-9][0-9]{0,3} per node$",
	       .units = &units_per_node, .min = 1, .max = CPUS_MAX - 1);
static const struct spec isolated_rest =
	MAP("a map such as {keep: 2 per node}",
	    KEY("keep", &cores_kept,
		"Number of cores of each NUMA node that stay for the system: the first cores, with "
		"all SMT siblings; all other CPUs are isolated.",
		.flags = FIELD_REQUIRED));
static const struct spec isolated_cpus =
	EITHER("a CPU list such as 2-47,50-95, or {keep: 2 per node}", .scalar = &spec_cpus,
	       .map = &isolated_rest);
static const struct spec keys =
	MAP("a map (iommu, isolate_cpus, set)",
	    KEY("iommu", &iommu_mode,
		"IOMMU mode, which railhead writes as the kernel arguments for the CPU vendor."),
	    KEY("isolate_cpus", &isolated_cpus,
		"CPUs to isolate: isolcpus and nohz_full for them, irqaffinity for the others."),
	    KEY("set", &kernel_arg_list, "Further kernel arguments."));

/* --- the arguments --------------------------------------------------------------------------- */

/*
 * The arguments that each vendor's driver honours (arch/x86/kernel/pci-dma.c,
 * drivers/iommu/{intel/iommu.c,amd/init.c,iommu.c}). `iommu=on`, `iommu=strict` and `amd_iommu=on`
 * are not options of the x86 parser. AMD's IOMMU is on by default; Intel's needs intel_iommu=on
 * unless the kernel was built with it on.
 */
static const struct {
	int64_t mode;
	enum cpu_vendor vendor;
	const char *args[3];
} iommu_args[] = {
	{IOMMU_DISABLED, CPU_INTEL, {"intel_iommu=off"}},
	{IOMMU_DISABLED, CPU_AMD, {"amd_iommu=off"}},
	{IOMMU_PASSTHROUGH, CPU_INTEL, {"intel_iommu=on", "iommu=pt"}},
	{IOMMU_PASSTHROUGH, CPU_AMD, {"iommu=pt"}},
	{IOMMU_PASSTHROUGH, CPU_ARM, {"iommu.passthrough=1"}},
	{IOMMU_LAZY, CPU_INTEL, {"intel_iommu=on", "iommu=nopt", "iommu.strict=0"}},
	{IOMMU_LAZY, CPU_AMD, {"iommu=nopt", "iommu.strict=0"}},
	{IOMMU_LAZY, CPU_ARM, {"iommu.passthrough=0", "iommu.strict=0"}},
	{IOMMU_STRICT, CPU_INTEL, {"intel_iommu=on", "iommu=nopt", "iommu.strict=1"}},
	{IOMMU_STRICT, CPU_AMD, {"iommu=nopt", "iommu.strict=1"}},
	{IOMMU_STRICT, CPU_ARM, {"iommu.passthrough=0", "iommu.strict=1"}},
};

static int want_iommu(const struct section_ctx *ctx, const struct ynode *iommu, struct kargs *l,
		      struct err *err)
{
	for (size_t i = 0; i < array_len(iommu_args); i++) {
		if (iommu_args[i].vendor != node_cpu_vendor(ctx->node) ||
		    !ynode_is_word(iommu, iommu_args[i].mode))
			continue;
		for (size_t j = 0; j < array_len(iommu_args[i].args); j++)
			if (iommu_args[i].args[j])
				kargs_want(l, iommu, iommu_args[i].args[j]);
		return 0;
	}
	return err_set(err, -EOPNOTSUPP,
		       "iommu: '%s' has no known argument for the CPU vendor of this node (%s); "
		       "name the arguments in kernel_args.set",
		       iommu->text, cpu_vendor_name(node_cpu_vendor(ctx->node)));
}

/* isolcpus and nohz_full must be equal; nohz_full offloads RCU callbacks too. */
static int want_isolation(const struct section_ctx *ctx, const struct ynode *list, struct kargs *l,
			  struct err *err)
{
	struct cpus isolated, rest = ctx->node->cpus;
	cleanup_free char *text = NULL, *irq = NULL, *arg = NULL;
	int r = isolated_on(ctx->node, list, &isolated, err);

	if (r < 0)
		return err_wrap(err, "isolate_cpus");
	if (cpus_count(&rest) && cpus_last(&isolated) > cpus_last(&rest))
		return err_set(err, -ERANGE,
			       "isolate_cpus: CPU %d does not exist; this node has CPUs 0-%d",
			       cpus_last(&isolated), cpus_last(&rest));
	cpus_remove_all(&rest, &isolated);
	text = cpus_format(&isolated);
	arg = xasprintf("isolcpus=%s", text);
	kargs_want(l, list, arg);
	free(take_ptr(arg));
	arg = xasprintf("nohz_full=%s", text);
	kargs_want(l, list, arg);
	if (!cpus_count(&rest))
		return 0;
	free(take_ptr(arg));
	irq = cpus_format(&rest);
	arg = xasprintf("irqaffinity=%s", irq);
	kargs_want(l, list, arg);
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
		kargs_want(wanted, set->items.v[i], set->items.v[i]->text);
	return r;
}

/* --- changes --------------------------------------------------------------------------------- */

/* Emitted even without arguments, to remove those of an earlier profile. */
static void emit_next_boot(const struct section_ctx *ctx, const struct kargs *wanted,
			   const struct ynode *section, struct plan *plan)
{
	cleanup_free char *line = kargs_line(wanted);
	cleanup_free char *lack = hugepages_lack(
		ctx->node, profile_section(ctx->profile, "hugepages"), ALL_NODES, true);
	struct change *c = plan_add(plan, "kernel_args", &kind_bootenv, STAGE_GATE, PHASE_CHECK,
				    section->at, "kernel_args/next_boot");
	cleanup_free char *label = profile_label(ctx->profile);

	for (size_t i = 0; i < wanted->n; i++)
		change_part(c, wanted->v[i].text, NULL, NULL);
	change_on(c, label, NULL);
	change_desired(c, "%s", line);
	c->of_args = true;
	/* A kernel whose pages take all of its memory cannot boot. */
	change_withhold(c, lack);
}

static void emit_arrived(const struct karg *arg, struct plan *plan)
{
	struct change *c = plan_add(plan, "kernel_args", &kind_check, STAGE_GATE, PHASE_CHECK,
				    arg->why->at, "kernel_args/arrived/%s", arg->text);

	change_on(c, arg->text, &arrived_item);
	change_target(c, "cmdline:%s", arg->text);
	c->of_args = true;
	item_desired(c);
	change_waits_for(c, "kernel_args/next_boot");
}

/* Checks the effect of the arguments in the kernel's own files. */
static void emit_isolation(const struct section_ctx *ctx, const struct ynode *isolate,
			   struct plan *plan)
{
	static const struct {
		const char *name;
		const struct target_item *item;
		enum on_fail on_fail;
		const char *before;
	} looks[] = {
		{"isolated", &isolated_item, ON_FAIL_BLOCK, ""},
		{"tickless", &tickless_item, ON_FAIL_BLOCK, ""},
		{"workqueues", &workqueues_item, ON_FAIL_WARN, "none of "},
	};
	cleanup_free char *list = NULL, *kept = NULL;
	struct cpus isolated;

	if (!isolate || isolated_on(ctx->node, isolate, &isolated, NULL) < 0)
		return;
	list = cpus_format(&isolated);
	kept = kept_text(ctx->node, &isolated);
	for (size_t i = 0; i < array_len(looks); i++) {
		struct change *c =
			plan_add(plan, "kernel_args", &kind_check, STAGE_GATE, PHASE_CHECK,
				 isolate->at, "kernel_args/isolate_cpus/%s", looks[i].name);

		change_on(c, NULL, looks[i].item);
		c->on.node = isolate;
		change_target(c, "cpus:%s", looks[i].name);
		change_desired(c, "%sCPUs %s%s", looks[i].before, list, i ? "" : kept);
		c->on_fail = looks[i].on_fail;
		c->of_args = true;
		change_waits_for(c, "kernel_args/next_boot");
	}
}

/* Compares the CPU sets of kubelet, systemd and tuned. Skips a program whose files name no CPUs. */
static void emit_others(const struct section_ctx *ctx, const struct ynode *isolate,
			struct plan *plan)
{
	static const struct {
		const char *name, *desired;
		const struct target_item *item;
	} others[] = {
		{"kubelet", "CPUs that stay reserved, the others pinned", &kubelet_cpus_item},
		{"systemd", "services on CPUs that stay", &systemd_cpus_item},
		{"tuned", "the same CPUs isolated", &tuned_cpus_item},
	};

	for (size_t i = 0; isolate && i < array_len(others); i++) {
		struct change *c;

		if (!cpu_files_say(ctx->root, others[i].item))
			continue;
		c = plan_add(plan, "kernel_args", &kind_check, STAGE_GATE, PHASE_CHECK, isolate->at,
			     "kernel_args/isolate_cpus/%s", others[i].name);
		change_on(c, NULL, others[i].item);
		c->on.node = isolate;
		change_target(c, "cpus:%s", others[i].name);
		change_desired(c, "%s", others[i].desired);
		c->on_fail = ON_FAIL_WARN;
		c->foreign = true;
	}
}

/*
 * Once the arguments are in force, only this check notices that grubby or a new kernel removed them
 * from the next boot. It only warns, because this boot can work.
 */
static void emit_entries(const struct ynode *section, struct plan *plan)
{
	struct change *c = plan_add(plan, "kernel_args", &kind_check, STAGE_GATE, PHASE_CHECK,
				    section->at, "kernel_args/loader");

	change_on(c, NULL, &entries_item);
	change_target(c, "loader");
	item_desired(c);
	c->on_fail = ON_FAIL_WARN;
	c->of_args = true;
}

static void emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan)
{
	const struct kargs *wanted = ctx->kargs;

	emit_next_boot(ctx, wanted, section, plan);
	for (size_t i = 0; i < wanted->n; i++)
		/* hugepagesz=1G alone proves nothing; page counts verify the pair */
		if (karg_rule(wanted->v[i].text) != KARG_PAGES)
			emit_arrived(&wanted->v[i], plan);
	emit_isolation(ctx, ynode_get(section, "isolate_cpus"), plan);
	emit_others(ctx, ynode_get(section, "isolate_cpus"), plan);
	if (wanted->n)
		emit_entries(section, plan);
}

/* --- without a node -------------------------------------------------------------------------- */

static const struct ynode *lacks_vendor(const struct node *node, const struct ynode *section)
{
	return node_cpu_vendor(node) == CPU_UNKNOWN ? ynode_get(section, "iommu") : NULL;
}

static const struct ynode *lacks_cpus(const struct node *node, const struct ynode *section)
{
	const struct ynode *list = ynode_get(section, "isolate_cpus");

	return ynode_cpus(list) && !cpus_count(&node->cpus) ? list : NULL;
}

static const struct ynode *lacks_cores(const struct node *node, const struct ynode *section)
{
	const struct ynode *rest = ynode_get(section, "isolate_cpus");

	return rest && !ynode_cpus(rest) && !node_places(node)->list.n ? rest : NULL;
}

static const struct kargs_need needs[] = {
	{"iommu", lacks_vendor,
	 "iommu: its arguments depend on the CPU vendor; write expect: {cpu_vendor: ...} or look "
	 "at a node"},
	/* isolcpus= and nohz_full= need only the CPUs that are listed */
	{"", lacks_cpus,
	 "isolate_cpus: irqaffinity= needs all CPUs; write expect: {cpus: N} or look at a node"},
	{"isolate_cpus", lacks_cores,
	 "isolate_cpus: the CPUs that stay depend on the machine's cores; look at a node, or list "
	 "the CPUs to isolate"},
	NO_MORE_NEEDS,
};

const struct section section_kernel_args = {
	.name = "kernel_args",
	.spec = &keys,
	.help = "Kernel arguments of the next boots.",
	.class = KEY_SETS,
	.differs = FAULT_BOOT_ARGS_DIFFER,
	.failed = FAULT_BOOT_ARGS_FAILED,
	.always = true,
	.rules = kernel_args_rules,
	.emit = emit,
	.kargs = own_kargs,
	.needs = needs,
};
