/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * IOMMU groups: whether a function is alone in its group, the type of the group, and (if a value
 * differs) the cause: the hardware, the firmware, or the kernel's command line.
 */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "base/version.h"
#include "checks/check.h"
#include "checks/looks.h"
#include "kargs/kargs.h"
#include "kinds/function.h"
#include "kinds/iommu.h"
#include "kinds/pci.h"
#include "plan/change.h"
#include "profile/value.h"
#include "profile/yaml.h"
#include "sys/acs.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"
#define GROUPS "/sys/kernel/iommu_groups"

enum { NAMED = 2 }; /* at most this many members of a group are named, the others counted */

/* Finds the group's number. 1: no group, and the change has the reason. */
static int find_group(const struct kind_ctx *ctx, struct change *c, char **addr, char **group)
{
	cleanup_free char *why = NULL;

	c->now.state = CHANGE_DIFFERS;
	if (function_or_vf(ctx->root, c->on.name, c->on.vf, addr, NULL) < 0) {
		change_observe(c, "no such VF");
		change_reason(c, "the VF does not exist");
		c->now.fault = FAULT_NIC_VF_ABSENT;
		return 1;
	}
	*group = iommu_group_of(ctx, *addr, &why);
	if (*group)
		return 0;
	change_observe(c, "no group");
	change_reason(c, "%s", why);
	c->now.fault = FAULT_PCI_IOMMU_GROUP;
	return 1;
}

/* --- shared groups ----------------------------------------------------------------------- */

/* Appends the ports in one state: "0000:00:01.0 0000:01:00.0". */
static void name_ports(const struct acs_ports *ports, enum acs_state state, struct str *ret)
{
	for (size_t i = 0; i < ports->n; i++)
		if (ports->v[i]->state == state)
			str_addf(ret, "%s%s", ret->len ? " " : "", ports->v[i]->addr);
}

/*
 * With an IOMMU the kernel enables every capability of a port when it finds the port: an argument
 * or the firmware has disabled the missing ones.
 */
static void blame_control(const struct kind_ctx *ctx, const struct acs_ports *ports,
			  struct str *text)
{
	cleanup_free char *arg = acs_argument(ctx->node->cmdline);
	const char *separator = "";

	for (size_t i = 0; i < ports->n; i++) {
		const struct acs_port *p = ports->v[i];

		if (p->state != ACS_OFF)
			continue;
		str_addf(text,
			 "%sport %s is capable of ACS, but its control is 0x%04x, 0x%04x needed",
			 separator, p->addr, p->does, p->needs);
		separator = ", ";
	}
	if (arg) {
		str_addf(text, ": the kernel argument %s of this boot disables it", arg);
		return;
	}
	str_add(text, ": the firmware disables it (BIOS options such as 'ACS control' or 'PCIe "
		      "ARI/ACS'), or a program on the node has cleared it (setpci)");
	if (version_fits(">=6.11", ctx->node->kernel))
		str_add(text, "; where the BIOS has no such option, try "
			      "pci=config_acs=xx111x1@ADDRESS of the port");
}

/* The text for all ports in one state. %s: their addresses. */
static const struct {
	enum acs_state state;
	const char *text;
} port_faults[] = {
	{ACS_CONVENTIONAL,
	 "conventional PCI behind %s can't isolate devices: move the card to a PCIe slot"},
	{ACS_MISSING,
	 "port %s above it has no ACS capability: only another slot or other hardware isolates the "
	 "devices below it (unless a BIOS option 'ACS enable' hides ACS, as on AMD)"},
	{ACS_HEADER, "only the first 64 bytes of the config space of %s can be read, and ACS comes "
		     "after them: run railhead (or take the snapshot) as root"},
	{ACS_UNREADABLE, "the config space of %s can't be read, so its ACS is unknown"},
};

static void blame_short(const struct kind_ctx *ctx, const char *ports, struct str *text)
{
	cleanup_free char *arg = pci_argument(ctx->node->cmdline, "nommconf");

	str_addf(text, "the kernel can't reach the extended config space of %s, in which ACS is: ",
		 ports);
	if (arg)
		str_addf(text, "the kernel argument %s disables it", arg);
	else
		str_add(text, "the firmware offers no access to it (ACPI table MCFG)");
}

static void blame_ports(const struct kind_ctx *ctx, const struct acs_ports *ports, struct str *text)
{
	cleanup_str struct str off = {0}, brief = {0};

	name_ports(ports, ACS_OFF, &off);
	name_ports(ports, ACS_SHORT, &brief);
	for (size_t i = 0; i < array_len(port_faults); i++) {
		cleanup_str struct str names = {0};

		name_ports(ports, port_faults[i].state, &names);
		if (!names.len)
			continue;
		str_begin_clause(text);
		str_addf(text, port_faults[i].text, names.s);
	}
	if (off.len) {
		str_begin_clause(text);
		blame_control(ctx, ports, text);
	}
	if (brief.len) {
		str_begin_clause(text);
		blame_short(ctx, brief.s, text);
	}
}

/* A function of a multi-function card must isolate itself from the other functions. */
static void blame_card(const struct kind_ctx *ctx, const char *addr, struct str *text)
{
	const struct acs_port *own = NULL;

	if (!root_exists(ctx->root, DEV "%s/physfn", addr)) /* a VF counts as a separate card */
		own = acs_port(ctx->acs, addr, NULL);
	if (!own || (own->state != ACS_MISSING && own->state != ACS_OFF))
		return;
	str_begin_clause(text);
	str_addf(text,
		 "%s is a function of a multi-function card and has no ACS %s: the card's "
		 "functions share a group in any slot, and only VFs can be isolated",
		 addr, own->state == ACS_MISSING ? "of its own" : "switched on");
}

/* Why the kernel could not keep the function apart. */
static void blame_group(const struct kind_ctx *ctx, const char *addr, struct str *text)
{
	struct acs_ports ports = {0};
	struct err err = {0};

	if (acs_ports_above(ctx->acs, addr, &ports, &err) < 0) {
		str_addf(text, "the ports above it can't be looked at: %s", err.text);
	} else {
		blame_ports(ctx, &ports, text);
		blame_card(ctx, addr, text);
	}
	if (!text->len)
		str_addf(text,
			 "the %zu ports above it isolate it, but it uses the address of another "
			 "device, by a quirk of the kernel or the firmware's IVRS table",
			 ports.n);
	vec_free(&ports);
}

static void name_others(const struct strv *members, const char *addr, struct str *ret)
{
	size_t others = 0;

	for (size_t i = 0; i < members->n; i++)
		if (!streq(members->v[i], addr) && others++ < NAMED)
			str_addf(ret, "%s%s", ret->len ? " " : "", members->v[i]);
	if (others > NAMED)
		str_addf(ret, " and %zu more", others - NAMED);
}

static int look_group(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	cleanup_free char *addr = NULL, *group = NULL;
	cleanup_strv struct strv members = {0};
	cleanup_str struct str others = {0}, blame = {0};
	int r;

	if (find_group(ctx, c, &addr, &group))
		return 0;
	r = read_dir(ctx->root, &members, err, GROUPS "/%s/devices", group);
	if (r < 0)
		return r;
	name_others(&members, addr, &others);
	if (!others.len || !c->want.number) {
		change_observe(c, "group %s", group);
		c->now.state = CHANGE_SAME;
		return 0;
	}
	change_observe(c, "group %s with %s", group, others.s);
	blame_group(ctx, addr, &blame);
	change_reason(c, "%s shares its IOMMU group; %s", addr, blame.s);
	return 0;
}

const struct target_item iommu_group_item = {
	.kind = &kind_check, .look = look_group, .fault = FAULT_PCI_IOMMU_GROUP};

/* --- types ------------------------------------------------------------------------------- */

/* The value of the profile for each type. */
static const struct {
	const char *type, *iommu;
} remedies[] = {
	{"identity", "passthrough"},
	{"DMA-FQ", "lazy"},
	{"DMA", "strict"},
};

static const char *remedy_for(const char *type)
{
	for (size_t i = 0; i < array_len(remedies); i++)
		if (streq(remedies[i].type, type))
			return remedies[i].iommu;
	return "passthrough, lazy or strict";
}

/*
 * The arguments that choose the type of all groups, in the words of the parsers
 * (drivers/iommu/iommu.c, arch/x86/kernel/pci-dma.c): the last argument of each sort counts.
 */
static const struct type_word {
	const char *token;
	bool strictness; /* lazy or strict; false: translated or not */
	bool on;
} type_words[] = {
	{"iommu.passthrough=1", false, true},
	{"iommu.passthrough=0", false, false},
	{"iommu=pt", false, true},
	{"iommu=nopt", false, false},
	{"iommu.strict=1", true, true},
	{"iommu.strict=0", true, false},
	{"intel_iommu=strict", true, true},
	{"amd_iommu=fullflush", true, true},
};

struct type_args {
	const char *translation, *strictness; /* the argument that decides, or NULL */
	bool passthrough, strict;
};

static struct type_args type_arguments(const char *cmdline)
{
	cleanup_free char *copy = xstrdup(cmdline);
	struct type_args type_args = {0};
	char *rest = copy, *token;

	while ((token = strsep(&rest, " \t\n")))
		for (size_t i = 0; i < array_len(type_words); i++) {
			const struct type_word *w = &type_words[i];

			if (!kargs_has(token, w->token))
				continue;
			if (w->strictness) {
				type_args.strictness = w->token;
				type_args.strict = w->on;
			} else {
				type_args.translation = w->token;
				type_args.passthrough = w->on;
			}
		}
	return type_args;
}

/* Whether the arguments force that type; false if they leave the type open. */
static bool arguments_make(const struct type_args *type_args, const char *type)
{
	if (type_args->translation && type_args->passthrough)
		return streq(type, "identity");
	if (streq(type, "identity"))
		return false;
	return type_args->strictness && type_args->strict == streq(type, "DMA");
}

static const char *deciding(const struct type_args *type_args)
{
	return type_args->translation && (type_args->passthrough || !type_args->strictness)
		       ? type_args->translation
	       : type_args->strictness ? type_args->strictness
				       : NULL;
}

static void blame_type(const struct kind_ctx *ctx, struct change *c, const char *group,
		       const char *want, const char *type)
{
	struct type_args type_args = type_arguments(ctx->node->cmdline);
	const char *arg = deciding(&type_args);

	/* Strictness alone does not request translation. */
	if (arguments_make(&type_args, want) && (type_args.translation || !streq(type, "identity")))
		change_reason(c,
			      "%s of this boot requests %s, and this group is still %s: the "
			      "IOMMU's driver forces that type for a device of the group "
			      "(untrusted ports, memory encryption), or somebody wrote to " GROUPS
			      "/%s/type",
			      arg, want, type, group);
	else if (arguments_make(&type_args, type))
		change_reason(
			c, "%s of this boot makes it %s: set kernel_args.iommu to %s, and reboot",
			arg, type, remedy_for(want));
	else
		change_reason(
			c,
			"the kernel's default (CONFIG_IOMMU_DEFAULT_...) makes it %s, without an "
			"argument of this boot: set kernel_args.iommu to %s, and reboot",
			type, remedy_for(want));
}

/*
 * Lazy translation has a separate name since 5.15 (DMA-FQ). An older kernel writes DMA for lazy
 * translation too, which tells nothing unless an argument made it strict.
 */
static bool tells(const struct kind_ctx *ctx, const char *desired, const char *type)
{
	struct type_args type_args = type_arguments(ctx->node->cmdline);

	return !streq(desired, "DMA-FQ") || !streq(type, "DMA") ||
	       arguments_make(&type_args, "DMA") || version_fits(">=5.15", ctx->node->kernel);
}

static int look_type(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	cleanup_free char *want = value_text(&c->want, c->want.number);
	cleanup_free char *addr = NULL, *group = NULL, *type = NULL;
	int r;

	if (find_group(ctx, c, &addr, &group))
		return 0;
	r = read_attr(ctx->root, &type, err, GROUPS "/%s/type", group);
	if (r == -ENOENT)
		return err_set(err, -EOPNOTSUPP,
			       "this kernel (%s) does not show the type of an IOMMU group" TO_MEND
			       "write "
			       "optional: true for such kernels",
			       ctx->node->kernel);
	if (r < 0)
		return r;
	change_observe(c, "%s", type);
	if (!tells(ctx, want, type)) {
		change_reason(c, "the kernel of this tree (%s) does not show it",
			      ctx->node->kernel);
		c->now.state = CHANGE_UNSUPPORTED;
		return 0;
	}
	c->now.state = streq(type, want) ? CHANGE_SAME : CHANGE_DIFFERS;
	if (c->now.state == CHANGE_DIFFERS)
		blame_type(ctx, c, group, want, type);
	return 0;
}

const struct target_item iommu_type_item = {
	.kind = &kind_check, .look = look_type, .fault = FAULT_PCI_IOMMU_TYPE};

/* isolated (1), or in any group (0) */
static void emit(const struct checked *t, struct subject of)
{
	const struct ynode *type = ynode_get(t->map, "type");
	bool isolated = ynode_bool(t->map, "isolated", false);

	if (isolated || !type) {
		struct change *c = check_look(t, of, "", &iommu_group_item, "iommu-group",
					      isolated ? "isolated" : "any");

		c->want = (struct value){.type = VALUE_BOOL, .number = isolated};
		c->of_args = true;
	}
	if (type)
		check_look_wanting(t, of, "/type", &iommu_type_item, "iommu-type", type, NULL)
			->of_args = true;
}

CHECK(iommu_groups, .required = {"on"}, .optional = {"isolated", "type"}, .look = emit);
