/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules about kernel arguments. Sources: the kernel's kernel-parameters.rst and, where it is silent
 * or wrong, its parsers (arch/x86/kernel/pci-dma.c, drivers/iommu/{intel/iommu.c,amd/init.c},
 * kernel/sched/isolation.c, drivers/pci/pci.c).
 */
#include "sections/kernel_args.h"

#include <fnmatch.h>
#include <string.h>

#include "base/karg.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/words.h"
#include "kinds/isolation.h"
#include "kinds/kernel_file.h"
#include "profile/tutorials.h"
#include "sys/kernel_names.h"
#include "sys/module.h"
#include "sys/sysctl_d.h"

#define SET "kernel_args.set"
#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

/* --- arguments that are wrong in themselves ------------------------------------------------ */

#define POOLS                                           \
	"the hugepages section sets page pools; write " \
	"hugepages: [{size: 1G, per_node: 32}]" TUTORIAL_HUGEPAGES
#define NO_OPTION "the kernel has no such option and ignores it; write iommu: "
#define INIT                                                                                    \
	"systemd then runs other programs, or leaves some out, in each boot of the nodes; put " \
	"the unit or its drop-in into the image"
#define FETCHED                                                                                \
	"the node then runs as root what this argument names; put the configuration into the " \
	"image"
#define MOUNTED "write mounts:, which keeps the directories of the system in sight"
#define OF_TRIAL "railhead sets this argument during a trial; leave it out"
#define ROOT_FS "only the boot loader may set this argument of the root file system; leave it out"

/* Arguments that never belong into set; value NULL: any value. */
static const struct {
	const char *key, *value, *why;
} bad_args[] = {
	{"iommu", "on", NO_OPTION "passthrough, lazy or strict" TUTORIAL_IOMMU_ON},
	{"iommu", "strict",
	 "the kernel has no such option on x86 and ignores it; "
	 "write iommu: strict" TUTORIAL_IOMMU_ON},
	{"iommu", "lazy", NO_OPTION "lazy" TUTORIAL_IOMMU_ON},
	{"iommu", "passthrough", NO_OPTION "passthrough" TUTORIAL_IOMMU_ON},
	{"amd_iommu", "on",
	 "the kernel has no such option (the AMD IOMMU is on by default); "
	 "leave it out" TUTORIAL_AMD_IOMMU_ON},
	{"amd_iommu", "pt", NO_OPTION "passthrough" TUTORIAL_AMD_IOMMU_ON},
	{"intel_iommu", "pt", NO_OPTION "passthrough" TUTORIAL_IOMMU_ON},
	{"pcie_acs_override", NULL,
	 "the argument belongs to a patch that was never merged, and the kernel ignores it; write "
	 "pci=config_acs=... or pci=disable_acs_redir=..."},
	{"hugepages", NULL, POOLS},
	{"hugepagesz", NULL, POOLS},
	{"default_hugepagesz", NULL,
	 "write hugepages: [{size: 1G, ..., default: true}]" TUTORIAL_HUGEPAGES},
	{"ro", NULL, ROOT_FS},
	{"rw", NULL, ROOT_FS},
	{"initrd", NULL, "only the boot loader may name the initramfs; leave it out"},
	{"BOOT_IMAGE", NULL, "the boot loader writes this itself; leave it out"},
	{"init", NULL, "railhead does nothing in a boot with init=; leave it out"},
	/* kernel-command-line(7), systemd-debug-generator(8), systemd.system-credentials(7) */
	{"systemd.run", NULL, INIT},
	{"systemd.mask", NULL, INIT},
	{"systemd.wants", NULL, INIT},
	{"systemd.setenv", NULL, INIT},
	{"systemd.set_credential", NULL, INIT},
	{"systemd.set_credential_binary", NULL, INIT},
	{"systemd.debug_shell", NULL, INIT},
	{"systemd.pull", NULL, INIT},
	{"systemd.mount-extra", NULL, MOUNTED},
	{"systemd.swap-extra", NULL, INIT},
	{"fstab.extra", NULL, MOUNTED},
	/* ignition and its forks; parse_cmdline_url() and tools/ds-identify of cloud-init */
	{"ignition.config.url", NULL, FETCHED},
	{"ignition.config.device", NULL, FETCHED},
	{"coreos.config.url", NULL, FETCHED},
	{"flatcar.config.url", NULL, FETCHED},
	{"cloud-config-url", NULL, FETCHED},
	{"url", NULL, FETCHED},
	{"ds", NULL, FETCHED},
	{"ci.ds", NULL, FETCHED},
	{"TOMOYO_loader", NULL, FETCHED},
	{"panic", NULL, OF_TRIAL},
	{"rd.shell", NULL, OF_TRIAL},
	{"rd.emergency", NULL, OF_TRIAL},
	{"rd.timeout", NULL, OF_TRIAL},
};

/*
 * Arguments that can keep a node from booting. Only warned about, because a trial protects the
 * node.
 */
static const struct {
	const char *key, *why;
} deadly_args[] = {
	{"rdinit", "the kernel starts this instead of the initramfs's own /init"},
	{"root", "every node of this profile looks there for its root file system"},
	{"rootfstype", "every node of this profile mounts its root file system with this argument"},
	{"rootflags", "every node of this profile mounts its root file system with this argument"},
};

static void warn_of_deadly(struct ruling *r, const struct ynode *arg)
{
	for (size_t i = 0; i < array_len(deadly_args); i++)
		if (arg_is(arg->text, deadly_args[i].key))
			rule_warn(r, arg, SET,
				  "%.80s: %s; if a node cannot boot with it, its trials fail, and "
				  "it returns, blocked, to its former arguments",
				  arg->text, deadly_args[i].why);
}

/* Skips malformed names, which are rejected elsewhere. */
static void warn_of_unknown(struct ruling *r, const struct ynode *arg)
{
	size_t len = arg_key_len(arg->text);
	cleanup_free char *near = NULL, *hint = NULL;

	if (!len || strspn(arg->text, NAME_CHARS) < len || kernel_arg_known(arg->text))
		return;
	near = kernel_arg_near(arg->text);
	hint = kernel_name_hint(near);
	rule_warn(r, arg, SET, "%.80s: the kernel's documentation has no such argument; %s",
		  arg->text, hint);
}

/*
 * The file that an argument sets: of a sysctl ("sysctl.vm.swappiness=1") or of a module's parameter
 * ("mlx5_core.prof_sel=2"). NULL: none. The caller frees.
 */
static char *file_of_arg(const char *arg)
{
	cleanup_free char *key = xstrndup(arg, arg_key_len(arg));
	char *file = sysctl_arg_file(key), *dot = strchr(key, '.');

	if (file || !dot)
		return file;
	*dot = '\0';
	return module_param_path(key, dot + 1);
}

/*
 * Whether cloud-init reads its configuration from the argument, behind "cc:" anywhere in the
 * command line (read_cc_from_cmdline() of its util.py). MAC and PCI addresses have "cc:", too.
 */
static bool is_cloud_config(const char *arg)
{
	static const char *const patterns[] = {"cc:*", "*cc:", "*cc:[!0-9a-fA-F:]*"};

	for (size_t i = 0; i < array_len(patterns); i++)
		if (fnmatch(patterns[i], arg, FNM_NOESCAPE) == 0)
			return true;
	return false;
}

/* Whether the argument has that key, also for systemd of the initramfs ("rd.systemd.mask"). */
static bool is_arg(const char *arg, const char *key)
{
	return arg_is(arg, key) || (str_starts(key, "systemd.") && str_starts(arg, "rd.") &&
				    arg_is(arg + strlen("rd."), key));
}

/* Why a profile must not have the argument, or NULL. */
static const char *arg_refusal(const char *arg)
{
	cleanup_free char *file = file_of_arg(arg);

	for (size_t i = 0; i < array_len(bad_args); i++)
		if (is_arg(arg, bad_args[i].key) &&
		    (!bad_args[i].value || commas_have(arg_value(arg), bad_args[i].value)))
			return bad_args[i].why;
	if (is_cloud_config(arg))
		return FETCHED;
	/* A mistake that takes the node down ends the trial. */
	return file ? kernel_file_refusal(file, arg_value(arg), true) : NULL;
}

static void judge_arg(struct ruling *r, const struct ynode *arg)
{
	const char *mode = arg_boot_mode(arg->text), *refusal = arg_refusal(arg->text);

	if (mode) {
		rule_error(r, arg, SET,
			   "%.80s: selects %s, in which railhead does nothing, so a trial of the "
			   "argument never gets a verdict; leave it out",
			   arg->text, mode);
		return;
	}
	warn_of_deadly(r, arg);
	if (refusal)
		rule_error(r, arg, SET, "%.80s: %s", arg->text, refusal);
	else
		warn_of_unknown(r, arg);
}

static void args_are_known_good(struct ruling *r)
{
	const struct ynode *set = set_list(r);

	for (size_t i = 0; i < count(set, YAML_LIST); i++)
		if (set->items.v[i]->kind == YAML_SCALAR)
			judge_arg(r, set->items.v[i]);
}

/* Arguments that accept a few words, and ignore any other value. */
static const struct {
	const char *key;
	const char *words[4];
} worded_args[] = {
	{"transparent_hugepage", {"always", "madvise", "never"}},
	{"numa_balancing", {"enable", "disable"}},
	{"skew_tick", {"0", "1"}},
};

static void words_are_known(struct ruling *r)
{
	for (size_t i = 0; i < array_len(worded_args); i++) {
		const struct ynode *arg = find_arg(r, worded_args[i].key);
		cleanup_str struct str known = {0};

		if (!arg || word_is_one_of(arg_value(arg->text), worded_args[i].words))
			continue;
		for (size_t j = 0; worded_args[i].words[j]; j++)
			str_addf(&known, "%s%s", j ? ", " : "", worded_args[i].words[j]);
		rule_error(r, arg, SET, "%.80s: the kernel ignores this value; expected one of: %s",
			   arg->text, str_get(&known));
	}
}

/* --- settings given twice ----------------------------------------------------------------- */

/* Arguments that iommu: and isolate_cpus: write themselves; value NULL: any value. */
static void args_are_not_both_ways(struct ruling *r)
{
	static const struct {
		const char *key, *arg, *value;
	} both[] = {
		{"iommu", "iommu", NULL},
		{"iommu", "iommu.passthrough", NULL},
		{"iommu", "iommu.strict", NULL},
		{"iommu", "intel_iommu", "on"},
		{"isolate_cpus", "isolcpus", NULL},
		{"isolate_cpus", "nohz_full", NULL},
		{"isolate_cpus", "irqaffinity", NULL},
	};

	for (size_t i = 0; i < array_len(both); i++) {
		const struct ynode *key = ynode_get(section(r, "kernel_args"), both[i].key);
		const struct ynode *arg = find_arg(r, both[i].arg);

		if (!key || !arg || (both[i].value && !streq(arg_value(arg->text), both[i].value)))
			continue;
		rule_error(r, arg, SET,
			   "%.80s: %s: at %s already writes this argument; keep one of the two",
			   arg->text, both[i].key, seen(r, key));
	}
}

/* Keys whose value is a comma list that is read word by word; the last word wins. */
static const char *const lists[] = {"iommu", "intel_iommu", "amd_iommu", "intremap",
				    "pci",   "efi",	    "memmap"};

static void words_of(const char *value, struct strv *ret)
{
	while (*value) {
		size_t len = strcspn(value, ",");
		cleanup_free char *word = xstrndup(value, len);

		strv_add(ret, word);
		value += len + (value[len] == ',');
	}
}

static void judge_list(struct ruling *r, const struct ynode *arg)
{
	cleanup_strv struct strv words = {0};

	words_of(arg_value(arg->text), &words);
	for (size_t i = 0; i < words.n; i++)
		for (size_t k = 0; k < i; k++)
			if (words_oppose(words.v[k], words.v[i])) {
				rule_error(r, arg, SET,
					   "%.80s: '%.40s' undoes '%.40s'; keep one of the two",
					   arg->text, words.v[i], words.v[k]);
				return;
			}
}

static void lists_agree_with_themselves(struct ruling *r)
{
	const struct ynode *set = set_list(r);

	for (size_t i = 0; i < count(set, YAML_LIST); i++)
		for (size_t k = 0; k < array_len(lists); k++)
			if (arg_is(scalar(set->items.v[i]), lists[k]))
				judge_list(r, set->items.v[i]);
}

/* iommu: passthrough together with intel_iommu=off. */
static void iommu_is_not_turned_off(struct ruling *r)
{
	static const char *const off[] = {"intel_iommu", "amd_iommu"};
	const struct ynode *iommu = ynode_get(section(r, "kernel_args"), "iommu");

	for (size_t i = 0; iommu && i < array_len(off); i++) {
		const struct ynode *arg = find_arg(r, off[i]);

		if (!arg || !commas_have(arg_value(arg->text), "off"))
			continue;
		rule_error(r, arg, SET,
			   "%.80s: iommu: %.20s at %s %s; "
			   "keep iommu: and drop the argument" TUTORIAL_IOMMU_OFF,
			   arg->text, scalar(iommu), seen(r, iommu),
			   ynode_is_word(iommu, IOMMU_DISABLED)
				   ? "already writes this argument"
				   : "needs the IOMMU that this turns off");
	}
}

/* iommu: disabled together with intel_iommu=on,sm_on; see above for plain "on". */
static void iommu_is_not_turned_on(struct ruling *r)
{
	const struct ynode *iommu = ynode_get(section(r, "kernel_args"), "iommu");
	const struct ynode *arg = find_arg(r, "intel_iommu");

	if (!arg || !ynode_is_word(iommu, IOMMU_DISABLED) ||
	    !commas_have(arg_value(arg->text), "on") || streq(arg_value(arg->text), "on"))
		return;
	rule_error(r, arg, SET,
		   "%.80s: turns on the IOMMU that iommu: disabled at %s turns off; keep one "
		   "of the two",
		   arg->text, seen(r, iommu));
}

static void passthrough_flushes_nothing(struct ruling *r)
{
	const struct ynode *pt = find_arg(r, "iommu.passthrough"), *old = find_arg(r, "iommu");
	const struct ynode *strict = find_arg(r, "iommu.strict");

	if (!pt || !streq(arg_value(pt->text), "1"))
		pt = old && streq(arg_value(old->text), "pt") ? old : NULL;
	if (pt && strict)
		rule_warn(r, strict, SET,
			  "%.80s: sets how translations are flushed, but %.40s (at %s) turns "
			  "translation off; drop one of the two",
			  strict->text, pt->text, seen(r, pt));
}

/* --- isolation ---------------------------------------------------------------------------- */

/* "domain,managed_irq,2-47" -> "2-47" */
static const char *cpus_text(const struct ynode *arg)
{
	const char *list = arg_value(arg->text);

	return list + strcspn(list, "0123456789");
}

static bool cpus_of(const struct ynode *arg, struct cpus *ret)
{
	return cpus_parse(cpus_text(arg), ret) == 0;
}

bool isolated_here(const struct ruling *r, struct cpus *ret, struct err *err)
{
	const struct ynode *isolate = ynode_get(section(r, "kernel_args"), "isolate_cpus");

	return isolate && (ynode_cpus(isolate) || (r->node && ynode_get(isolate, "keep"))) &&
	       isolated_on(r->node, isolate, ret, err) == 0;
}

/* Compares keep: with the cores of this machine. */
static void cores_are_there(struct ruling *r)
{
	const struct ynode *isolate = ynode_get(section(r, "kernel_args"), "isolate_cpus");
	const struct ynode *keep = ynode_get(isolate, "keep");
	struct err err = {0};
	struct cpus isolated;
	uint64_t n;

	if (r->node && ynode_exact(keep, &n) && !isolated_here(r, &isolated, &err))
		rule_error(r, keep, "kernel_args.isolate_cpus.keep", "%s", err.text);
}

static void isolation_agrees(struct ruling *r)
{
	const struct ynode *isolcpus = find_arg(r, "isolcpus");
	const struct ynode *nohz = find_arg(r, "nohz_full");
	struct cpus a, b;

	if (!isolcpus || !nohz || !cpus_of(isolcpus, &a) || !cpus_of(nohz, &b))
		return;
	if (memcmp(&a, &b, sizeof(a)) != 0)
		rule_error(r, nohz, SET,
			   "%.80s: isolcpus= at %s names other CPUs, and the kernel then ignores "
			   "one of the two; write isolate_cpus:",
			   nohz->text, seen(r, isolcpus));
}

static void cpu0_stays(struct ruling *r)
{
	const struct ynode *list = ynode_get(section(r, "kernel_args"), "isolate_cpus");
	const char *const args[] = {"isolcpus", "nohz_full"};
	struct cpus cpus;

	if (ynode_cpus(list) && cpus_has(ynode_cpus(list), 0))
		rule_error(r, list, "kernel_args.isolate_cpus",
			   "CPU 0 can't be isolated: the kernel boots on it and keeps it for "
			   "itself; begin at 1 or later" TUTORIAL_ISOLCPUS);
	for (size_t i = 0; i < array_len(args); i++) {
		const struct ynode *arg = find_arg(r, args[i]);

		if (arg && cpus_of(arg, &cpus) && cpus_has(&cpus, 0))
			rule_error(r, arg, SET,
				   "%.80s: CPU 0 can't be isolated: the kernel boots on it and "
				   "keeps it for itself" TUTORIAL_ISOLCPUS,
				   arg->text);
	}
}

static void isolcpus_flags_are_known(struct ruling *r)
{
	static const char *const flags[] = {"nohz", "domain", "managed_irq", NULL};
	const struct ynode *arg = find_arg(r, "isolcpus");
	const char *at = arg ? arg_value(arg->text) : "";

	/* the list of CPUs begins with a digit and ends the value */
	while (*at && !strchr("0123456789", *at)) {
		size_t len = strcspn(at, ",");
		cleanup_free char *flag = xstrndup(at, len);

		if (!word_is_one_of(flag, flags))
			rule_error(
				r, arg, SET,
				"%.80s: '%.40s' is not a flag of isolcpus=, and the kernel ignores "
				"the whole argument; expected one of: nohz, domain, managed_irq",
				arg->text, flag);
		at += len + (at[len] == ',');
	}
}

/* rcu_nocbs= for CPUs that nohz_full= offloads anyway. */
static void rcu_is_offloaded_once(struct ruling *r)
{
	const struct ynode *rcu = find_arg(r, "rcu_nocbs"), *nohz = find_arg(r, "nohz_full");
	const struct ynode *key = ynode_get(section(r, "kernel_args"), "isolate_cpus");
	struct cpus offloaded, more;

	if (!rcu || !cpus_of(rcu, &more) || !(nohz || key))
		return;
	if (nohz ? !cpus_of(nohz, &offloaded) : !isolated_here(r, &offloaded, NULL))
		return;
	cpus_remove_all(&more, &offloaded);
	if (!cpus_count(&more))
		rule_warn(r, rcu, SET,
			  "%.80s: %s (at %s) offloads these CPUs already; "
			  "leave it out" TUTORIAL_ISOLCPUS,
			  rcu->text, nohz ? "nohz_full=" : "isolate_cpus:", seen(r, (nohz ?: key)));
}

static void cpus_are_there(struct ruling *r)
{
	static const char *const args[] = {"isolcpus", "nohz_full", "irqaffinity", "rcu_nocbs"};
	const struct ynode *list = ynode_get(section(r, "kernel_args"), "isolate_cpus");
	struct cpus cpus;

	want_cpus(r, list, "kernel_args.isolate_cpus", ynode_cpus(list));
	for (size_t i = 0; i < array_len(args); i++) {
		const struct ynode *arg = find_arg(r, args[i]);

		if (arg && cpus_of(arg, &cpus))
			want_cpus(r, arg, SET, &cpus);
	}
}

/* The CPUs of the machine, or those that the profile expects. */
static bool known_cpus(const struct ruling *r, struct cpus *ret)
{
	uint64_t n = 0;

	if (r->node && cpus_count(&r->node->cpus)) {
		*ret = r->node->cpus;
		return true;
	}
	if (!ynode_exact(ynode_get(section(r, "expect"), "cpus"), &n))
		return false;
	memset(ret, 0, sizeof(*ret));
	for (uint64_t i = 0; i < n && i < CPUS_MAX; i++)
		cpus_add(ret, (unsigned int)i);
	return n > 0;
}

static void some_cpus_stay(struct ruling *r)
{
	const struct ynode *list = ynode_get(section(r, "kernel_args"), "isolate_cpus");
	struct cpus isolated, rest;

	if (!isolated_here(r, &isolated, NULL) || cpus_count(&isolated) < 2 ||
	    !known_cpus(r, &rest))
		return;
	cpus_remove_all(&rest, &isolated);
	if (cpus_count(&rest) < 2)
		rule_warn(r, list, "kernel_args.isolate_cpus",
			  "only CPU 0 stays for the system, its interrupts and unpinned tasks; "
			  "isolate fewer CPUs");
}

/* --- the vendor of the CPU ---------------------------------------------------------------- */

static const struct {
	const char *key;
	enum cpu_vendor vendor;
} vendor_args[] = {
	{"intel_iommu", CPU_INTEL},
	{"intel_idle.max_cstate", CPU_INTEL},
	{"intel_pstate", CPU_INTEL},
	{"amd_iommu", CPU_AMD},
	{"amd_iommu_intr", CPU_AMD},
	{"amd_iommu_dump", CPU_AMD},
	{"amd_pstate", CPU_AMD},
	{"amd_prefcore", CPU_AMD},
	{"intel_idle.states_off", CPU_INTEL},
};

/*
 * An argument for another vendor has no effect on this node. It is an error if the profile names
 * its vendor, and a warning otherwise.
 */
static void args_are_of_the_vendor(struct ruling *r)
{
	const struct ynode *said = vendor_said(r);

	for (size_t i = 0; i < array_len(vendor_args); i++) {
		const struct ynode *arg = find_arg(r, vendor_args[i].key);
		enum cpu_vendor vendor = arg ? wanted_vendor(r) : CPU_UNKNOWN;
		const char *of = cpu_vendor_name(vendor_args[i].vendor);

		if (vendor == CPU_UNKNOWN || vendor == vendor_args[i].vendor)
			continue;
		if (said)
			rule_error(
				r, arg, SET,
				"%.80s: the kernel reads it on %s CPUs only, and cpu_vendor: (at "
				"%s) is %s; leave it out",
				arg->text, of, seen(r, said), cpu_vendor_name(vendor));
		else
			rule_warn(r, arg, SET,
				  "%.80s: the kernel reads it on %s CPUs only, and this machine's "
				  "are %s",
				  arg->text, of, cpu_vendor_name(vendor));
	}
}

/* --- arguments with unexpected effects ----------------------------------------------------- */

static void aspm_is_not_turned_off(struct ruling *r)
{
	const struct ynode *arg = find_arg(r, "pcie_aspm");

	if (arg && streq(arg_value(arg->text), "off"))
		rule_warn(r, arg, SET,
			  "%.80s: leaves ASPM as the firmware set it, possibly on; write "
			  "pcie_aspm.policy=performance",
			  arg->text);
}

static void idle_states_are_limited(struct ruling *r)
{
	const struct ynode *arg = find_arg(r, "intel_idle.max_cstate");

	if (arg && streq(arg_value(arg->text), "0") && !find_arg(r, "processor.max_cstate"))
		rule_warn(r, arg, SET,
			  "%.80s: disables intel_idle, and acpi_idle replaces it with the "
			  "firmware's states; add processor.max_cstate=1",
			  arg->text);
}

/* --- number and length of the arguments --------------------------------------------------- */

static void args_fit_the_kernel(struct ruling *r)
{
	const struct ynode *set = set_list(r);
	size_t n = 0;

	for (size_t i = 0; i < count(set, YAML_LIST); i++) {
		const char *arg = set->items.v[i]->text;

		if (!arg || !strchr(arg, '=') || memchr(arg, '.', arg_key_len(arg)))
			continue;
		if (++n == KARGS_MAX + 1)
			rule_error(r, set->items.v[i], SET,
				   "more than %d arguments of the form key=value: the kernel "
				   "panics at the 32nd unknown argument; write fewer",
				   KARGS_MAX);
	}
}

/* A lower bound of the bytes that sections add; the exact line depends on the machine. */
static size_t derived_bytes(const struct ruling *r)
{
	const struct ynode *args = section(r, "kernel_args");
	size_t n = 2 * strlen(ynode_text(args, "isolate_cpus", ""));
	const struct ynode *pools = section(r, "hugepages");

	for (size_t i = 0; i < count(pools, YAML_LIST); i++)
		n += strlen("hugepagesz=1G hugepages= ") +
		     5 * count(ynode_get(pools->items.v[i], "nodes"), YAML_MAP);
	return n;
}

static void args_fit_the_line(struct ruling *r)
{
	const struct ynode *set = set_list(r);
	size_t bytes = derived_bytes(r);

	for (size_t i = 0; i < count(set, YAML_LIST); i++)
		if (set->items.v[i]->text)
			bytes += strlen(set->items.v[i]->text) + 1;
	if (bytes > KARGS_LINE_MAX + 1) /* a blank after each but the last */
		rule_error(r, set ? set : r->p->doc, "kernel_args",
			   "%zu bytes of arguments exceed the limit of %d (the kernel cuts the "
			   "whole line at 2048); write fewer",
			   bytes, KARGS_LINE_MAX);
}

const struct rule kernel_args_rules[] = {
	RULE("args-are-known-good", args_are_known_good),
	RULE("args-are-not-both-ways", args_are_not_both_ways),
	RULE("lists-agree-with-themselves", lists_agree_with_themselves),
	RULE("iommu-is-not-turned-off", iommu_is_not_turned_off),
	RULE("iommu-is-not-turned-on", iommu_is_not_turned_on),
	RULE("passthrough-flushes-nothing", passthrough_flushes_nothing),
	RULE("words-are-known", words_are_known),
	RULE("isolation-agrees", isolation_agrees),
	RULE("cpu0-stays", cpu0_stays),
	RULE("isolcpus-flags-are-known", isolcpus_flags_are_known),
	RULE("rcu-is-offloaded-once", rcu_is_offloaded_once),
	RULE("cpus-are-there", cpus_are_there),
	RULE("cores-are-there", cores_are_there),
	RULE("some-cpus-stay", some_cpus_stay),
	RULE("args-are-of-the-vendor", args_are_of_the_vendor),
	RULE("aspm-is-not-turned-off", aspm_is_not_turned_off),
	RULE_OF_WHOLE("idle-states-are-limited", idle_states_are_limited),
	RULE("args-fit-the-kernel", args_fit_the_kernel),
	RULE("args-fit-the-line", args_fit_the_line),
	NO_MORE_RULES,
};
