/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modules: options and blacklist are written to /run/modprobe.d in the initramfs, before udev or
 * railhead loads a module in the real root. Then each listed module is loaded, in list order.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kinds/checks.h"
#include "kinds/kernel_file.h"
#include "node/drivers.h"
#include "plan/change.h"
#include "profile/language.h"
#include "profile/rules.h"
#include "profile/section.h"
#include "profile/tutorials.h"
#include "sys/module.h"

/*
 * The files of all modprobe.d directories are read sorted by name, and the last option wins:
 * systemd.conf of systemd, for example, has "options dummy numdummies=0". The name begins with zz
 * so that the profile wins.
 */
#define CONF "/run/modprobe.d/zz-railhead.conf"

static const struct spec load_map =
	MAP("a map such as {name: nvidia_peermem, optional: true}",
	    KEY("name", &spec_module, "Name of the module.", .flags = FIELD_REQUIRED),
	    KEY("optional", &spec_bool, "Whether the module may be missing; default false.",
		.class = KEY_GOVERNS));
static const struct spec load_item = EITHER("a module's name, or {name: ..., optional: true}",
					    .scalar = &spec_module, .map = &load_map);
static const struct spec to_load = LIST_OF("a list of modules", load_item, ITEM_NAME);
static const struct spec to_blacklist = LIST_OF("a list of modules", spec_module, ITEM_NAME);

static const struct spec param_value =
	TEXT("a parameter's value such as 0", "^([!$-&(-Z^-~]|\\[|\\])+$",
	     "remove blanks, quotes, backslashes and #", .bytes = 1000);
static const struct spec param_name =
	TEXT("a module parameter's name such as netns_mode", "^[A-Za-z0-9_-]+$",
	     "use letters, digits, _ and -", .bytes = 64);
static const struct spec params_of =
	MAP_OF("PARAM", "a map of parameters, such as {netns_mode: 0}", param_name, param_value);
static const struct spec options_of = MAP_OF(
	"MODULE", "a map of modules, such as {ib_core: {netns_mode: 0}}", spec_module, params_of);
static const struct spec keys =
	MAP("a map (load, options, blacklist)",
	    KEY("load", &to_load, "Modules to load, in this order."),
	    KEY("options", &options_of,
		"Parameters of modules, for every program that loads the modules."),
	    KEY("blacklist", &to_blacklist, "Modules that must not be loaded by alias."));

/* --- changes ------------------------------------------------------------------------------ */

static void add_options(struct str *text, const struct ynode *options)
{
	for (size_t i = 0; options && i < options->keys.n; i++) {
		const struct ynode *params = options->items.v[i];

		str_addf(text, "options %s", options->keys.v[i]->text);
		for (size_t j = 0; j < params->keys.n; j++)
			str_addf(text, " %s=%s", params->keys.v[j]->text, params->items.v[j]->text);
		str_add(text, "\n");
	}
}

static void emit_conf(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan)
{
	const struct ynode *options = ynode_get(section, "options");
	const struct ynode *blacklist = ynode_get(section, "blacklist");
	cleanup_str struct str text = {0};

	if (!options && !blacklist)
		return;
	str_addf(&text, FILE_HEADER, ctx->profile->name);
	add_options(&text, options);
	for (size_t i = 0; blacklist && i < blacklist->items.n; i++)
		str_addf(&text, "blacklist %s\n", blacklist->items.v[i]->text);
	plan_add_file(plan, "modules", STAGE_INITRD, section->at, CONF, text.s,
		      "modules/modprobe.d");
}

/* An item is a name, or a map with name and optional. */
static const char *name_of(const struct ynode *item)
{
	return item->kind == YAML_SCALAR ? item->text : ynode_text(item, "name", "");
}

static bool is_optional(const struct ynode *item)
{
	return item->kind == YAML_MAP && ynode_bool(item, "optional", false);
}

static void emit_load(const struct ynode *load, struct plan *plan)
{
	for (size_t i = 0; load && i < load->items.n; i++) {
		const struct ynode *item = load->items.v[i];
		struct change *c =
			plan_add(plan, "modules", &kind_module, STAGE_EARLY, PHASE_MODULES,
				 item->at, "modules/load/%s", name_of(item));

		change_on(c, name_of(item), NULL);
		change_target(c, "%s", name_of(item));
		change_desired(c, "live");
		change_lane(c, "modules"); /* one lane keeps the list's order */
		c->optional = is_optional(item);
	}
}

static bool names_same(const char *a, const char *b)
{
	return a && b && strlen(a) == strlen(b) && dash_equal(a, b, strlen(a));
}

/* Whether the module serves functions with that driver; NULL: functions that may yet get any. */
static bool serves(const char *driver, const char *module)
{
	bool does = false;

	for (const struct driver *d = drivers; d->name && !does; d++)
		does = (!driver || streq(d->name, driver)) &&
		       (names_same(d->name, module) || names_same(d->rdma, module) ||
			names_same(d->vf, module));
	return does;
}

static bool set_asks_for(const struct device_set *set, const char *module)
{
	bool asks = names_same(set->sel->driver, module);

	for (size_t i = 0; i < set->fn.n && !asks; i++)
		asks = serves(set->fn.v[i]->driver, module);
	return asks;
}

static bool lists(const struct ynode *modules, const char *module)
{
	bool has = false;

	for (size_t i = 0; i < count(modules, YAML_LIST) && !has; i++)
		has = names_same(name_of(modules->items.v[i]), module) &&
		      !is_optional(modules->items.v[i]);
	return has;
}

/* Whether the profile needs the module, so that its options must be in force at the verdict. */
static bool is_asked_for(const struct section_ctx *ctx, const struct ynode *section,
			 const char *module)
{
	const struct ynode *versions =
		ynode_get(profile_section(ctx->profile, "require"), "driver");
	bool asked = lists(ynode_get(section, "load"), module);

	for (size_t i = 0; i < count(versions, YAML_MAP) && !asked; i++)
		asked = names_same(versions->keys.v[i]->text, module);
	if (lists(ynode_get(section, "blacklist"), module))
		return asked;
	for (size_t i = 0; i < ctx->sets->set.n && !asked; i++)
		asked = set_asks_for(&ctx->sets->set.v[i], module);
	return asked;
}

static void emit_options(const struct section_ctx *ctx, const struct ynode *section,
			 struct plan *plan)
{
	const struct ynode *options = ynode_get(section, "options");

	for (size_t i = 0; options && i < options->keys.n; i++) {
		const char *module = options->keys.v[i]->text;
		const struct ynode *params = options->items.v[i];
		cleanup_free char *dir = module_sysfs_name(module);
		bool asked = is_asked_for(ctx, section, module);

		for (size_t j = 0; j < params->keys.n; j++) {
			const char *param = params->keys.v[j]->text;
			struct change *c = plan_add(plan, "modules", &kind_check, STAGE_GATE,
						    PHASE_CHECK, params->keys.v[j]->at,
						    "modules/options/%s/%s", module, param);

			change_on(c, module, &param_item);
			c->on.key = param;
			change_target(c, "param:%s/%s", module, param);
			change_want(c, params->items.v[j]);
			c->compare = COMPARE_PARAM;
			c->optional = !asked;
			change_file(c, "/sys/module/%s/parameters/%s", dir, param);
		}
	}
}

static void emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan)
{
	const struct ynode *blacklist = ynode_get(section, "blacklist");

	emit_conf(ctx, section, plan);
	emit_load(ynode_get(section, "load"), plan);
	emit_options(ctx, section, plan);
	for (size_t i = 0; blacklist && i < blacklist->items.n; i++) {
		const struct ynode *item = blacklist->items.v[i];
		struct change *c = plan_add(plan, "modules", &kind_check, STAGE_GATE, PHASE_CHECK,
					    item->at, "modules/blacklist/%s", item->text);

		change_on(c, item->text, &unloaded_item);
		change_target(c, "unloaded:%s", item->text);
		change_desired(c, "absent");
	}
}

/* --- rules -------------------------------------------------------------------------------- */

static void loaded_is_not_blacklisted(struct ruling *r)
{
	const struct ynode *load = ynode_get(section(r, "modules"), "load");
	const struct ynode *black = ynode_get(section(r, "modules"), "blacklist");

	for (size_t i = 0; i < count(black, YAML_LIST); i++)
		for (size_t j = 0; j < count(load, YAML_LIST); j++) {
			const char *name = name_of(load->items.v[j]);

			if (item_same(ITEM_NAME, black->items.v[i], load->items.v[j]))
				rule_error(r, black->items.v[i], "modules.blacklist",
					   "%.64s must be loaded at %s; remove it from one of "
					   "the two",
					   name, seen(r, load->items.v[j]));
		}
}

/* Modules that tutorials load and that no kernel has. */
static const struct {
	const char *name, *why;
} no_modules[] = {
	{"ib_ucm", "the kernel no longer has this module; leave it out (rdma_ucm is a different "
		   "module)" TUTORIAL_IB_UCM},
	{"rpcrdma_core", "no kernel has such a module; write rpcrdma" TUTORIAL_RPCRDMA_CORE},
	{"dma_buf", "it is built into the kernel, never a module; leave it out" TUTORIAL_DMABUF},
	{"dmabuf", "it is built into the kernel, never a module; leave it out" TUTORIAL_DMABUF},
};

static void modules_exist(struct ruling *r)
{
	const struct ynode *load = ynode_get(section(r, "modules"), "load");

	for (size_t i = 0; i < count(load, YAML_LIST); i++)
		for (size_t j = 0; j < array_len(no_modules); j++)
			if (names_same(name_of(load->items.v[i]), no_modules[j].name))
				rule_error(r, load->items.v[i], "modules.load", "%.64s: %s",
					   name_of(load->items.v[i]), no_modules[j].why);
}

/* Common modules of nodes that railhead is for, and modules with similar names. */
/* clang-format off */
static const char *const usual[] = {
	"8021q", "amdgpu", "bnxt_en", "bnxt_re", "bonding", "br_netfilter", "bridge", "coretemp",
	"cxgb4", "dummy", "edac_core", "efa", "ena", "erdma", "fuse", "gdrdrv", "geneve", "gve",
	"hfi1", "i40e", "iavf", "ib_cm", "ib_core", "ib_ipoib", "ib_iser", "ib_isert", "ib_sdp",
	"ib_srp", "ib_srpt", "ib_ucm", "ib_umad", "ib_uverbs", "ice", "igb", "igbvf", "igc",
	"intel_rapl_msr", "ip6_tables", "ip_tables", "ip_vs", "ipmi_devintf", "ipmi_msghandler",
	"ipmi_si", "ipmi_ssif", "irdma", "iw_cm", "iw_cxgb4", "ixgb", "ixgbe", "ixgbevf", "knem",
	"ko2iblnd", "ksocklnd", "kvm", "kvm_amd", "kvm_intel", "lnet", "lustre", "macvlan",
	"macvtap", "mana", "mana_ib", "mlx4_core", "mlx4_en", "mlx4_ib", "mlx5_core",
	"mlx5_dpll", "mlx5_ib", "mlx5_vdpa", "mlx5_vfio_pci", "mlx_compat", "mlxfw", "msr",
	"nf_conntrack", "nf_nat", "nf_tables", "nfs", "nfsd", "nfsv3", "nfsv4", "nouveau",
	"nv_peer_mem", "nvidia", "nvidia_drm", "nvidia_fs", "nvidia_modeset", "nvidia_peermem",
	"nvidia_uvm", "nvme", "nvme_core", "nvme_fabrics", "nvme_fc", "nvme_loop", "nvme_rdma",
	"nvme_tcp", "nvmem_core", "nvmet", "nvmet_fc", "nvmet_rdma", "nvmet_tcp", "ocrdma",
	"overlay", "pcspkr", "qede", "qedr", "rdma_cm", "rdma_rxe", "rdma_ucm", "rds",
	"rds_rdma", "rpcrdma", "rpcsec_gss_krb5", "sch_fq", "sch_fq_codel", "sch_mqprio", "siw",
	"smc", "smc_diag", "sunrpc", "tcp_bbr", "tcp_dctcp", "tcp_htcp", "tls", "tun", "veth",
	"vfio", "vfio_iommu_type1", "vfio_pci", "vfio_pci_core", "vhost", "vhost_net",
	"virtio_blk", "virtio_net", "virtio_pci", "vxlan", "wireguard", "xfs", "xpmem",
	"xprtrdma", "xt_conntrack"
};
/* clang-format on */

/* Ignores digits: mlx4_ib is not a misspelt mlx5_ib. */
static bool same_but_digits(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, "0123456789");
		b += strspn(b, "0123456789");
		if (*a != *b || !*a)
			return *a == *b;
	}
}

/* Warns of names similar to a common one, because a misspelt optional module is never missed. */
static void want_usual(struct ruling *r, const struct ynode *at, const char *key, const char *given)
{
	cleanup_free char *name = module_sysfs_name(given);
	size_t changes = strlen(name) < 10 ? 2 : 3; /* names with fewer edits are similar */
	const char *near = NULL;

	if (strlen(name) < 5 || str_index(name, usual, array_len(usual)) >= 0)
		return;
	for (size_t i = 0; i < array_len(usual); i++)
		if (str_is_near(name, usual[i], &changes))
			near = usual[i];
	if (near && !same_but_digits(name, near))
		rule_warn(r, at, key, "%.64s: did you mean '%s'?", given, near);
}

static void names_are_usual(struct ruling *r)
{
	const struct ynode *load = ynode_get(section(r, "modules"), "load");
	const struct ynode *options = ynode_get(section(r, "modules"), "options");

	for (size_t i = 0; i < count(load, YAML_LIST); i++)
		want_usual(r, load->items.v[i], "modules.load", name_of(load->items.v[i]));
	for (size_t i = 0; i < count(options, YAML_MAP); i++)
		want_usual(r, options->keys.v[i], "modules.options", options->keys.v[i]->text);
}

/* --- options ------------------------------------------------------------------------------ */

static const struct {
	const char *module, *param, *why;
} no_params[] = {
	{"nvidia_peermem", "peermem_enabled",
	 "the module has no such parameter; leave it out, because loading the module suffices (its "
	 "parameters are peerdirect_support and persistent_api_support)" TUTORIAL_PEERMEM_ENABLED},
};

static void judge_option(struct ruling *r, const char *module, const struct ynode *param,
			 const struct ynode *value)
{
	cleanup_free char *key = xasprintf("modules.options.%.64s.%.64s", module, param->text);
	cleanup_free char *arg = xasprintf("%s.%s", module, param->text);
	cleanup_free char *file = module_param_path(module, param->text);
	const char *refusal = kernel_file_refusal(file, scalar(value), true);
	const struct ynode *given = find_arg(r, arg);

	for (size_t i = 0; i < array_len(no_params); i++)
		if (names_same(module, no_params[i].module) &&
		    names_same(param->text, no_params[i].param))
			rule_error(r, param, key, "%s", no_params[i].why);
	if (refusal)
		rule_error(r, param, key, "%s", refusal);
	if (given)
		rule_error(r, param, key,
			   "%.80s at %s of kernel_args.set sets this parameter too, and the "
			   "program that loads the module decides which value applies; keep one",
			   given->text, seen(r, given));
}

static void options_are_sound(struct ruling *r)
{
	const struct ynode *options = ynode_get(section(r, "modules"), "options");

	for (size_t i = 0; i < count(options, YAML_MAP); i++)
		for (size_t j = 0; j < count(options->items.v[i], YAML_MAP); j++)
			judge_option(r, options->keys.v[i]->text, options->items.v[i]->keys.v[j],
				     options->items.v[i]->items.v[j]);
}

static void blacklisted_needs_no_options(struct ruling *r)
{
	const struct ynode *options = ynode_get(section(r, "modules"), "options");
	const struct ynode *black = ynode_get(section(r, "modules"), "blacklist");

	for (size_t i = 0; i < count(options, YAML_MAP); i++)
		for (size_t j = 0; j < count(black, YAML_LIST); j++) {
			const struct ynode *module = options->keys.v[i];
			cleanup_free char *key = xasprintf("modules.options.%.64s", module->text);

			if (names_same(module->text, scalar(black->items.v[j])))
				rule_warn(r, module, key,
					  "the module is blacklisted at %s, so its options apply "
					  "only when it is loaded by hand",
					  seen(r, black->items.v[j]));
		}
}

static const struct rule rules[] = {
	RULE("loaded-is-not-blacklisted", loaded_is_not_blacklisted),
	RULE("modules-exist", modules_exist),
	RULE("names-are-usual", names_are_usual),
	RULE("options-are-sound", options_are_sound),
	RULE("blacklisted-needs-no-options", blacklisted_needs_no_options),
	NO_MORE_RULES,
};

const struct section section_modules = {
	.name = "modules",
	.spec = &keys,
	.help = "Kernel modules.",
	.class = KEY_SETS,
	.differs = FAULT_KERNEL_MODULE_DIFFERS,
	.failed = FAULT_KERNEL_MODULE_FAILED,
	.rules = rules,
	.emit = emit,
};
