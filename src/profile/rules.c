/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Contradictions: what is well formed value by value and still can't work as a whole, each
 * with its reason. A rule is a function and a line in the table at the end. It may meet
 * values that the schema has refused already: those it passes over.
 *
 * Facts about kernel arguments: the kernel's kernel-parameters.rst and, where that is
 * silent or wrong, its parsers (arch/x86/kernel/pci-dma.c, drivers/iommu/amd/init.c,
 * mm/hugetlb.c, kernel/sched/isolation.c).
 */
#include <errno.h>

#include "base/str.h"
#include "base/units.h"
#include "profile/load.h"
#include "profile/schema.h"

enum {
	LINE_MAX_BYTES = 1600, /* a slot of the environment file */
	ARGS_MAX = 30, /* the kernel panics at the 32nd that it does not know; GRUB adds one */
};

struct ruling {
	const struct profile *p;
	const struct node *node; /* or NULL */
	struct diags *diags;
};

struct rule {
	const char *name;
	void (*check)(struct ruling *r);
};

#define error_at(r, n, key, ...) diag_error((r)->diags, (n)->at, (key), __VA_ARGS__)

static const struct ynode *section(const struct ruling *r, const char *name)
{
	return profile_section(r->p, name);
}

/* Items of a list, keys of a map: none where something else stands. */
static size_t count(const struct ynode *n, enum yaml_kind kind)
{
	return n && n->kind == kind ? n->items.n : 0;
}

static bool text_is(const struct ynode *map, const char *key, const char *text)
{
	return streq(ynode_text(map, key, ""), text);
}

/* --- match -------------------------------------------------------------------------------- */

/* An empty map or list asks for nothing. */
static bool has_condition(const struct ynode *match)
{
	for (size_t i = 0; i < match->items.n; i++)
		if (match->items.v[i]->kind == YAML_SCALAR || match->items.v[i]->items.n)
			return true;
	return false;
}

static void match_is_there(struct ruling *r)
{
	const struct ynode *match = section(r, "match");

	if (r->p->abstract)
		return;
	/* an abstract: that is no boolean is one mistake, not two */
	if (!match && ynode_get(r->p->doc, "abstract") && !text_is(r->p->doc, "abstract", "false"))
		return;
	if (!match)
		error_at(r, r->p->doc, "match",
			 "missing; say which machines this is for, or abstract: "
			 "true if it is a base for others");
	else if (match->kind == YAML_MAP && !has_condition(match))
		error_at(r, match, "match",
			 "no condition, which would match every machine; write dmi: {sys_vendor: "
			 "...}");
}

/* --- kernel arguments --------------------------------------------------------------------- */

static bool is_key(const char *arg, const char *key)
{
	size_t len = strlen(key);

	return arg_key_len(arg) == len && dash_equal(arg, key, len);
}

static const char *arg_value(const char *arg)
{
	const char *eq = strchr(arg, '=');

	return eq ? eq + 1 : "";
}

static const struct ynode *set_list(const struct ruling *r)
{
	return ynode_get(section(r, "kernel_args"), "set");
}

/* The argument of that key in set, or NULL. */
static const struct ynode *find_arg(const struct ruling *r, const char *key)
{
	const struct ynode *set = set_list(r);

	for (size_t i = 0; i < count(set, YAML_LIST); i++)
		if (set->items.v[i]->kind == YAML_SCALAR && is_key(set->items.v[i]->text, key))
			return set->items.v[i];
	return NULL;
}

/* Arguments that never belong into set; value NULL: whatever it is. */
static const struct {
	const char *key, *value, *why;
} bad_args[] = {
	{"iommu", "on",
	 "the kernel has no such option and ignores it; write iommu: passthrough, lazy or strict"},
	{"iommu", "strict",
	 "the kernel has no such option on x86 and ignores it; write iommu: strict"},
	{"amd_iommu", "on",
	 "the kernel has no such option (the AMD IOMMU is on by default); leave it out"},
	{"hugepages", NULL,
	 "page pools have a section of their own; write hugepages: [{size: 1G, per_node: 32}]"},
	{"hugepagesz", NULL,
	 "page pools have a section of their own; write hugepages: [{size: 1G, per_node: 32}]"},
	{"default_hugepagesz", NULL, "write hugepages: [{size: 1G, ..., default: true}]"},
	{"root", NULL, "the root file system is the boot loader's to name, not a profile's"},
	{"rootfstype", NULL, "the root file system is the boot loader's to name, not a profile's"},
	{"rootflags", NULL, "the root file system is the boot loader's to name, not a profile's"},
	{"ro", NULL, "the root file system is the boot loader's to name, not a profile's"},
	{"rw", NULL, "the root file system is the boot loader's to name, not a profile's"},
	{"initrd", NULL, "the initramfs is the boot loader's to name, not a profile's"},
	{"BOOT_IMAGE", NULL, "the boot loader writes this itself"},
	{"init", NULL, "railhead does nothing in a boot with init=, so this would turn it off"},
	{"rdinit", NULL, "railhead does nothing in a boot with rdinit=, so this would turn it off"},
	{"rd.break", NULL,
	 "railhead does nothing in a boot with rd.break, so this would turn it off"},
	{"single", NULL, "railhead does nothing in a rescue boot, so this would turn it off"},
	{"panic", NULL, "railhead sets it itself while it tries new arguments"},
	{"rd.shell", NULL, "railhead sets it itself while it tries new arguments"},
	{"rd.emergency", NULL, "railhead sets it itself while it tries new arguments"},
	{"railhead", NULL, "what steers railhead is the operator's to write, not a profile's"},
	{"--", NULL, "it ends the kernel's arguments; what follows would go to init"},
};

static void judge_arg(struct ruling *r, const struct ynode *arg)
{
	if (str_starts(arg->text, "railhead."))
		error_at(r, arg, "kernel_args.set",
			 "%.80s: railhead's own arguments are not a profile's", arg->text);
	for (size_t i = 0; i < array_len(bad_args); i++) {
		if (!is_key(arg->text, bad_args[i].key))
			continue;
		if (bad_args[i].value && !streq(arg_value(arg->text), bad_args[i].value))
			continue;
		error_at(r, arg, "kernel_args.set", "%.80s: %s", arg->text, bad_args[i].why);
		return;
	}
}

static void args_are_known_good(struct ruling *r)
{
	const struct ynode *set = set_list(r);

	for (size_t i = 0; i < count(set, YAML_LIST); i++)
		if (set->items.v[i]->kind == YAML_SCALAR)
			judge_arg(r, set->items.v[i]);
}

/* What iommu: and isolate_cpus: write themselves. */
static void args_are_not_both_ways(struct ruling *r)
{
	static const struct {
		const char *key, *arg;
	} both[] = {
		{"iommu", "iommu"},
		{"iommu", "iommu.passthrough"},
		{"iommu", "iommu.strict"},
		{"isolate_cpus", "isolcpus"},
		{"isolate_cpus", "nohz_full"},
		{"isolate_cpus", "irqaffinity"},
	};

	for (size_t i = 0; i < array_len(both); i++) {
		const struct ynode *key = ynode_get(section(r, "kernel_args"), both[i].key);
		const struct ynode *arg = find_arg(r, both[i].arg);

		if (key && arg)
			error_at(r, arg, "kernel_args.set",
				 "%.80s: %s: at %u:%u writes this argument already; keep one of "
				 "the two",
				 arg->text, both[i].key, key->at.line, key->at.col);
	}
}

/* "domain,managed_irq,2-47" -> the CPUs. */
static bool cpus_of(const struct ynode *arg, struct cpus *ret)
{
	const char *list = arg_value(arg->text);

	return cpus_parse(list + strcspn(list, "0123456789"), ret) == 0;
}

static void isolation_agrees(struct ruling *r)
{
	const struct ynode *isolcpus = find_arg(r, "isolcpus");
	const struct ynode *nohz = find_arg(r, "nohz_full");
	struct cpus a, b;

	if (!isolcpus || !nohz || !cpus_of(isolcpus, &a) || !cpus_of(nohz, &b))
		return;
	if (memcmp(&a, &b, sizeof(a)) != 0)
		error_at(r, nohz, "kernel_args.set",
			 "%.80s: isolcpus= at %u:%u names other CPUs, and the kernel then drops "
			 "one of "
			 "the two; write isolate_cpus:",
			 nohz->text, isolcpus->at.line, isolcpus->at.col);
}

static void cpu0_stays(struct ruling *r)
{
	const struct ynode *list = ynode_get(section(r, "kernel_args"), "isolate_cpus");
	const char *const args[] = {"isolcpus", "nohz_full"};
	struct cpus cpus;

	if (list && list->kind == YAML_SCALAR && cpus_parse(list->text, &cpus) == 0 &&
	    cpus_has(&cpus, 0))
		error_at(r, list, "kernel_args.isolate_cpus",
			 "CPU 0 can't be isolated: the kernel boots on it and keeps it for itself; "
			 "begin at 1 or later");
	for (size_t i = 0; i < array_len(args); i++) {
		const struct ynode *arg = find_arg(r, args[i]);

		if (arg && cpus_of(arg, &cpus) && cpus_has(&cpus, 0))
			error_at(r, arg, "kernel_args.set",
				 "%.80s: CPU 0 can't be isolated: the kernel boots on it and keeps "
				 "it "
				 "for itself",
				 arg->text);
	}
}

static void args_fit_the_kernel(struct ruling *r)
{
	const struct ynode *set = set_list(r);
	size_t n = 0;

	for (size_t i = 0; i < count(set, YAML_LIST); i++) {
		const char *arg = set->items.v[i]->text;

		if (!arg || !strchr(arg, '=') || memchr(arg, '.', arg_key_len(arg)))
			continue;
		if (++n == ARGS_MAX + 1)
			error_at(r, set->items.v[i], "kernel_args.set",
				 "more than %d arguments of the form key=value: the kernel panics "
				 "at the "
				 "32nd that it does not know; write fewer",
				 ARGS_MAX);
	}
}

/* What the sections write themselves, at least: the exact line depends on the machine. */
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
	if (bytes > LINE_MAX_BYTES)
		error_at(r, set ? set : r->p->doc, "kernel_args",
			 "%zu bytes of arguments; %d fit (the kernel cuts the whole line at 2048)",
			 bytes, LINE_MAX_BYTES);
}

/* --- hugepages ---------------------------------------------------------------------------- */

static void pool_counts_one_way(struct ruling *r, const struct ynode *pool, const char *key)
{
	bool per_node = ynode_get(pool, "per_node"), nodes = ynode_get(pool, "nodes");

	if (pool->kind != YAML_MAP || per_node != nodes)
		return;
	error_at(r, pool, key,
		 per_node ? "both per_node: and nodes: are there; keep one"
			  : "how many is missing; write per_node: 32 or nodes: {0: 32, 1: 16}");
}

static void pool_is_first_of(struct ruling *r, const struct ynode *pools, size_t i, const char *key)
{
	const struct ynode *pool = pools->items.v[i];

	for (size_t j = 0; j < i; j++) {
		const struct ynode *first = pools->items.v[j];

		if (ynode_get(pool, "size") &&
		    text_is(first, "size", ynode_text(pool, "size", "?")))
			error_at(r, pool, key,
				 "size %s is there already at %u:%u, and the kernel ignores the "
				 "second; "
				 "write one item",
				 ynode_text(pool, "size", ""), first->at.line, first->at.col);
		if (ynode_bool(pool, "default", false) && ynode_bool(first, "default", false))
			error_at(r, pool, key,
				 "the default size is set already at %u:%u; keep one default: true",
				 first->at.line, first->at.col);
	}
}

static void pools_are_sound(struct ruling *r)
{
	const struct ynode *pools = section(r, "hugepages");

	for (size_t i = 0; i < count(pools, YAML_LIST); i++) {
		cleanup_free char *key = xasprintf("hugepages[%zu]", i);

		pool_counts_one_way(r, pools->items.v[i], key);
		pool_is_first_of(r, pools, i, key);
	}
}

/* Pages that are larger than what the page allocator can give: 1G and 16G. */
static bool is_gigantic(const struct ynode *pool)
{
	return text_is(pool, "size", "1G") || text_is(pool, "size", "16G");
}

static void cma_leaves_boot_pages(struct ruling *r)
{
	const struct ynode *pools = section(r, "hugepages");
	const struct ynode *cma = find_arg(r, "hugetlb_cma");

	for (size_t i = 0; cma && i < count(pools, YAML_LIST); i++) {
		const struct ynode *pool = pools->items.v[i];

		if (is_gigantic(pool) && streq(ynode_text(pool, "at", "boot"), "boot"))
			error_at(r, pool, "hugepages",
				 "with hugetlb_cma= (at %u:%u) the kernel allocates no %s pages at "
				 "boot; "
				 "write at: runtime or drop hugetlb_cma=",
				 cma->at.line, cma->at.col, ynode_text(pool, "size", ""));
	}
}

/* --- device sets -------------------------------------------------------------------------- */

static const struct selector *find_set(const struct ruling *r, const char *name)
{
	for (size_t i = 0; i < r->p->devices.n; i++)
		if (streq(r->p->devices.v[i].name, name))
			return &r->p->devices.v[i];
	return NULL;
}

static char *set_names(const struct ruling *r)
{
	struct str out = {0};

	for (size_t i = 0; i < r->p->devices.n; i++)
		str_addf(&out, "%s%s", i ? ", " : "", r->p->devices.v[i].name);
	return str_take(&out);
}

/* A reference to a set from key at n. */
static void want_set(struct ruling *r, const struct ynode *n, const char *key, const char *name)
{
	const struct selector *set = find_set(r, name);
	cleanup_free char *known = set_names(r);

	if (strpbrk(name, " \t"))
		return; /* no name at all: the schema has said so */
	if (!set && !*known)
		error_at(r, n, key, "no device set '%.64s'; devices: names none", name);
	else if (!set)
		error_at(r, n, key, "no device set '%.64s'; devices: names %s", name, known);
	else if (set->protect)
		error_at(r, n, key, "the set '%.64s' is protected, so nothing may touch it", name);
}

static void sections_name_sets(struct ruling *r)
{
	const struct ynode *sriov = section(r, "sriov");
	const struct ynode *checks = ynode_get(section(r, "gate"), "checks");

	for (size_t i = 0; i < count(sriov, YAML_MAP); i++) {
		cleanup_free char *key = xasprintf("sriov.%.64s", sriov->keys.v[i]->text);

		want_set(r, sriov->keys.v[i], key, sriov->keys.v[i]->text);
	}
	for (size_t i = 0; i < count(checks, YAML_MAP); i++) {
		const struct ynode *on = ynode_get(checks->items.v[i], "on");
		cleanup_free char *key = xasprintf("gate.checks.%.64s.on", checks->keys.v[i]->text);

		if (on && on->kind == YAML_SCALAR)
			want_set(r, on, key, on->text + (str_starts(on->text, "vfs of ") ? 7 : 0));
	}
}

/* One that is written wrong is one all the same. */
static bool has_predicate(const struct ynode *set)
{
	for (size_t i = 0; i < set->keys.n; i++)
		if (!streq(set->keys.v[i]->text, "expect") &&
		    !streq(set->keys.v[i]->text, "protect"))
			return true;
	return false;
}

/* Whether following in: from s comes back to s (or to another circle). */
static bool goes_round(const struct ruling *r, const struct selector *s)
{
	const struct selector *at = s;

	for (size_t i = 0; at && at->in && i <= r->p->devices.n; i++) {
		at = find_set(r, at->in);
		if (at == s)
			return true;
	}
	return false;
}

static void judge_set(struct ruling *r, const struct selector *s, const struct ynode *n)
{
	cleanup_free char *key = xasprintf("devices.%.64s", s->name), *in_key = NULL;

	if (n->kind != YAML_MAP)
		return;
	if (!has_predicate(n))
		error_at(r, n, key,
			 "nothing says which functions these are; write pci:, address:, driver: or "
			 "in:");
	if (!s->in)
		return;
	in_key = xasprintf("%s.in", key);
	if (goes_round(r, s))
		error_at(r, ynode_get(n, "in"), in_key, "%.64s is itself in this set: a circle",
			 s->in);
	else
		want_set(r, ynode_get(n, "in"), in_key, s->in);
}

static void sets_are_sound(struct ruling *r)
{
	for (size_t i = 0; i < r->p->devices.n; i++) {
		const struct selector *s = &r->p->devices.v[i];

		judge_set(r, s, ynode_get(section(r, "devices"), s->name));
	}
}

/* --- VFs ---------------------------------------------------------------------------------- */

/* Whether the set or a wider one of the section says how many. */
static bool vfs_said(const struct ruling *r, const struct ynode *sriov, const char *name)
{
	for (size_t i = 0; name && i <= r->p->devices.n; i++) {
		const struct ynode *set = ynode_get(sriov, name);
		const struct selector *s = find_set(r, name);

		if (set && set->kind == YAML_MAP && ynode_get(set, "vfs"))
			return true;
		name = s ? s->in : NULL;
	}
	return false;
}

static void vfs_are_counted(struct ruling *r)
{
	const struct ynode *sriov = section(r, "sriov");

	for (size_t i = 0; i < count(sriov, YAML_MAP); i++) {
		const char *name = sriov->keys.v[i]->text;
		cleanup_free char *key = xasprintf("sriov.%.64s.vfs", name);

		if (sriov->items.v[i]->kind == YAML_MAP && !vfs_said(r, sriov, name))
			error_at(r, sriov->items.v[i], key,
				 "missing; a count of VFs, or max is wanted");
	}
}

static const struct ynode *what_disables_iommu(const struct ruling *r)
{
	static const char *const off[] = {"iommu", "intel_iommu", "amd_iommu"};
	const struct ynode *args = section(r, "kernel_args");

	if (text_is(args, "iommu", "disabled"))
		return ynode_get(args, "iommu");
	for (size_t i = 0; i < array_len(off); i++) {
		const struct ynode *arg = find_arg(r, off[i]);

		if (arg && streq(arg_value(arg->text), "off"))
			return arg;
	}
	return NULL;
}

static void vfio_has_iommu(struct ruling *r)
{
	const struct ynode *sriov = section(r, "sriov"), *off = what_disables_iommu(r);

	for (size_t i = 0; off && i < count(sriov, YAML_MAP); i++) {
		const struct ynode *set = sriov->items.v[i];
		cleanup_free char *key = xasprintf("sriov.%.64s.vf", sriov->keys.v[i]->text);

		if (text_is(set, "vfs", "0") ||
		    !text_is(ynode_get(set, "vf"), "driver", "vfio-pci"))
			continue;
		error_at(r, ynode_get(set, "vf"), key,
			 "vfio-pci needs the IOMMU, which is disabled at %u:%u; write driver: "
			 "netdev (VFs "
			 "for containers need no IOMMU) or iommu: passthrough",
			 off->at.line, off->at.col);
	}
}

/* --- modules ------------------------------------------------------------------------------ */

static const char *module_name(const struct ynode *item)
{
	return item->kind == YAML_SCALAR ? item->text : ynode_text(item, "name", "");
}

static void loaded_is_not_blacklisted(struct ruling *r)
{
	const struct ynode *load = ynode_get(section(r, "modules"), "load");
	const struct ynode *black = ynode_get(section(r, "modules"), "blacklist");

	for (size_t i = 0; i < count(black, YAML_LIST); i++)
		for (size_t j = 0; j < count(load, YAML_LIST); j++) {
			const char *name = module_name(load->items.v[j]);

			if (item_same(ITEM_NAME, black->items.v[i], load->items.v[j]))
				error_at(r, black->items.v[i], "modules.blacklist",
					 "%.64s is to be loaded at %u:%u; remove it from one of "
					 "the two",
					 name, load->items.v[j]->at.line, load->items.v[j]->at.col);
		}
}

/* --- checks of the gate ------------------------------------------------------------------- */

/* Besides run, timeout and on_fail, which each check takes. */
static const struct check_keys {
	const char *run;
	const char *required[3], *optional[3];
} check_keys[] = {
	{"memory_bandwidth", {"per", "min"}, {NULL}},
	{"pcie_link", {"on"}, {"speed", "width"}},
	{"carrier", {"on"}, {NULL}},
	{"iommu_groups", {"on"}, {"isolated"}},
};

static bool takes(const struct check_keys *k, const char *key)
{
	static const char *const common[] = {"run", "timeout", "on_fail"};

	for (size_t i = 0; i < array_len(common); i++)
		if (streq(common[i], key))
			return true;
	for (size_t i = 0; i < array_len(k->required); i++)
		if ((k->required[i] && streq(k->required[i], key)) ||
		    (k->optional[i] && streq(k->optional[i], key)))
			return true;
	return false;
}

static char *keys_text(const struct check_keys *k)
{
	struct str out = {0};

	for (size_t i = 0; i < array_len(k->required) && k->required[i]; i++)
		str_addf(&out, "%s, ", k->required[i]);
	for (size_t i = 0; i < array_len(k->optional) && k->optional[i]; i++)
		str_addf(&out, "%s, ", k->optional[i]);
	str_add(&out, "timeout, on_fail");
	return str_take(&out);
}

static void want_key(struct ruling *r, const struct ynode *check, const char *name, const char *key,
		     const char *run)
{
	cleanup_free char *path = xasprintf("%s.%s", name, key);

	if (!ynode_get(check, key))
		error_at(r, check, path, "missing; %s needs it", run);
}

static void judge_check(struct ruling *r, const struct ynode *check, const char *name,
			const struct check_keys *k)
{
	const struct spec *all = spec_child(spec_child(&schema_top, "gate"), "checks");
	const struct spec *spec = spec_child(all, "any");
	cleanup_free char *known = keys_text(k);

	for (size_t i = 0; i < array_len(k->required) && k->required[i]; i++)
		want_key(r, check, name, k->required[i], k->run);
	for (size_t i = 0; i < check->keys.n; i++) {
		const char *key = check->keys.v[i]->text;
		cleanup_free char *path = xasprintf("%s.%s", name, key);

		/* a key that no check knows has been refused by the schema */
		if (!takes(k, key) && spec_field(spec, key))
			diag_error(r->diags, check->keys.v[i]->at, path,
				   "%s does not take it; it takes %s", k->run, known);
	}
}

static void checks_have_their_keys(struct ruling *r)
{
	const struct ynode *checks = ynode_get(section(r, "gate"), "checks");

	for (size_t i = 0; i < count(checks, YAML_MAP); i++) {
		const struct ynode *check = checks->items.v[i];
		cleanup_free char *name = xasprintf("gate.checks.%.64s", checks->keys.v[i]->text);

		for (size_t j = 0; check->kind == YAML_MAP && j < array_len(check_keys); j++)
			if (text_is(check, "run", check_keys[j].run))
				judge_check(r, check, name, &check_keys[j]);
	}
}

/* A share of the line speed is a measure for links, not for memory. */
static void memory_has_no_line(struct ruling *r)
{
	const struct ynode *checks = ynode_get(section(r, "gate"), "checks");

	for (size_t i = 0; i < count(checks, YAML_MAP); i++) {
		const struct ynode *check = checks->items.v[i], *min = ynode_get(check, "min");
		cleanup_free char *key =
			xasprintf("gate.checks.%.64s.min", checks->keys.v[i]->text);

		if (min && text_is(check, "run", "memory_bandwidth") &&
		    strchr(ynode_text(check, "min", ""), '%'))
			error_at(r, min, key, "memory has no line; write a rate such as 180GB/s");
	}
}

/* --- the machine, when it is known -------------------------------------------------------- */

static void cpus_are_there(struct ruling *r)
{
	const struct ynode *list = ynode_get(section(r, "kernel_args"), "isolate_cpus");
	struct cpus beyond;
	cleanup_free char *text = NULL;

	if (!r->node || !cpus_count(&r->node->cpus) || !list || list->kind != YAML_SCALAR ||
	    cpus_parse(list->text, &beyond) < 0)
		return;
	cpus_remove_all(&beyond, &r->node->cpus);
	if (!cpus_count(&beyond))
		return;
	text = cpus_format(&beyond);
	error_at(r, list, "kernel_args.isolate_cpus", "this machine has no CPU %s; its last is %d",
		 text, cpus_last(&r->node->cpus));
}

static uint64_t pool_bytes(struct ruling *r, const struct ynode *pool, const char *key)
{
	const struct ynode *nodes = ynode_get(pool, "nodes");
	uint64_t size = 0, pages = 0, n = 0;

	if (parse_u64(ynode_text(pool, "per_node", "0"), &pages) == 0)
		pages *= cpus_count(&r->node->nodes_with_cpu);
	for (size_t i = 0; i < count(nodes, YAML_MAP); i++) {
		uint64_t id = 0;

		if (parse_u64(nodes->keys.v[i]->text, &id) == 0 &&
		    !cpus_has(&r->node->nodes, (unsigned int)id))
			error_at(r, nodes->keys.v[i], key, "this machine has no NUMA node %llu",
				 (unsigned long long)id);
		if (parse_u64(ynode_text(nodes, nodes->keys.v[i]->text, ""), &n) == 0)
			pages += n;
	}
	if (parse_size(ynode_text(pool, "size", ""), &size) < 0 ||
	    __builtin_mul_overflow(size, pages, &size))
		return 0;
	return size;
}

static void pages_are_there(struct ruling *r)
{
	const struct ynode *pools = section(r, "hugepages");
	uint64_t bytes = 0;

	if (!r->node || !cpus_count(&r->node->nodes))
		return;
	for (size_t i = 0; i < count(pools, YAML_LIST); i++) {
		cleanup_free char *key = xasprintf("hugepages[%zu].nodes", i);

		bytes += pool_bytes(r, pools->items.v[i], key);
	}
	if (r->node->memory && bytes > r->node->memory)
		error_at(r, pools, "hugepages",
			 "%lluM of pages, but this machine has %lluM of memory",
			 (unsigned long long)(bytes >> 20),
			 (unsigned long long)(r->node->memory >> 20));
}

/* --- the table ---------------------------------------------------------------------------- */

static const struct rule rules[] = {
	{"match-is-there", match_is_there},
	{"sets-are-sound", sets_are_sound},
	{"args-are-known-good", args_are_known_good},
	{"args-are-not-both-ways", args_are_not_both_ways},
	{"isolation-agrees", isolation_agrees},
	{"cpu0-stays", cpu0_stays},
	{"args-fit-the-kernel", args_fit_the_kernel},
	{"args-fit-the-line", args_fit_the_line},
	{"pools-are-sound", pools_are_sound},
	{"cma-leaves-boot-pages", cma_leaves_boot_pages},
	{"loaded-is-not-blacklisted", loaded_is_not_blacklisted},
	{"sections-name-sets", sections_name_sets},
	{"vfs-are-counted", vfs_are_counted},
	{"vfio-has-iommu", vfio_has_iommu},
	{"checks-have-their-keys", checks_have_their_keys},
	{"memory-has-no-line", memory_has_no_line},
	{"cpus-are-there", cpus_are_there},
	{"pages-are-there", pages_are_there},
};

/* What a drop-in by itself lacks, its profile has. */
static bool needs_whole(const struct rule *rule)
{
	static void (*const whole[])(struct ruling * r) = {
		match_is_there,	 sets_are_sound,	 sections_name_sets,
		vfs_are_counted, checks_have_their_keys,
	};

	for (size_t i = 0; i < array_len(whole); i++)
		if (rule->check == whole[i])
			return true;
	return false;
}

void rules_check(const struct profile *p, const struct node *node, struct diags *diags)
{
	struct ruling r = {.p = p, .node = node, .diags = diags};

	for (size_t i = 0; i < array_len(rules); i++)
		if (p->name || !needs_whole(&rules[i]))
			rules[i].check(&r);
}
