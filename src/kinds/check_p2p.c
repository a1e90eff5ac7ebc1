/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks pairs.p2p: ACS of the bridges between a NIC and its GPU, and ATS of the NIC. docs/p2p.md
 * has the rules and their sources. Registers are read, and never written.
 */
#include <pci/header.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kinds/checks.h"
#include "kinds/function.h"
#include "kinds/iommu.h"
#include "kinds/pci.h"
#include "node/p2p.h"
#include "plan/change.h"

/*
 * Bits of the control register, in the order of pci=config_acs= from its last digit
 * (kernel-parameters.txt).
 */
static const char *const bit_names[] = {
	"source validation",	 "translation blocking", "request redirect",
	"completion redirect",	 "upstream forwarding",	 "egress control",
	"direct translated P2P",
};

/* One pair, and the wish for it. */
struct wanted {
	enum p2p_wish wish;
	const char *nic, *gpu;
	const char *mover; /* of the NIC's data: the NIC or its Data Direct function; "": unknown */
	struct p2p_way way;
	struct acs_ports own; /* isolated: ports above a NIC that does not move its own data */
};

/* Whether all traffic goes straight, without a check by an IOMMU. */
static bool straight_alone(const struct wanted *w)
{
	return w->wish == P2P_WISH_DIRECT && !w->way.data_direct;
}

/* Whether only data from and to the Data Direct function goes straight. */
static bool straight_data(const struct wanted *w)
{
	return w->wish == P2P_WISH_DIRECT && w->way.data_direct;
}

/* Names of the parts of a change: NIC, mover and GPU of each pair of the section. */
enum { PARTS_OF_PAIR = 3 };

static struct wanted wanted_of(const struct change *c, size_t part)
{
	const struct part *of = &c->parts.v[part];
	struct wanted w = {.wish = (enum p2p_wish)c->want.number,
			   .nic = of[0].name,
			   .mover = of[1].name,
			   .gpu = of[2].name};

	w.way.data_direct = *w.mover && !streq(w.mover, w.nic);
	return w;
}

/* The index of the change's own pair, because each change has the parts of all pairs. */
static size_t part_of(const struct change *c)
{
	size_t i = 0;

	while (!streq(c->parts.v[i].name, c->on.name))
		i += PARTS_OF_PAIR;
	return i;
}

/*
 * The bits that keep a port from the wish: bits that must not be on, that must be on, and that the
 * port lacks.
 */
struct lack {
	uint16_t on, off, never;
};

/* --- what a port must have --------------------------------------------------------------- */

static struct lack lack_of(const struct wanted *w, const struct acs_port *p, bool of_nic)
{
	uint16_t off = w->wish == P2P_WISH_DIRECT ? p2p_off_for_direct(&w->way, p) : 0;
	struct lack lack = {.on = p->does & off};

	if (straight_alone(w) || p->role == ACS_SWITCH_UP) /* no traffic turns round there */
		return lack;
	lack.off = (uint16_t)(p->needs & ~p->does & ~off);
	if (w->wish != P2P_WISH_TRANSLATED || !of_nic)
		return lack;
	lack.on = p->does & PCI_ACS_CTRL_BLOCK;
	/*
	 * Only the highest port needs this bit: below it there is no GPU to send the data to
	 * straight.
	 */
	if (p == w->way.nic.v[0] && !(p->does & PCI_ACS_CTRL_TRANS))
		*(p->can & PCI_ACS_CAP_TRANS ? &lack.off : &lack.never) |= PCI_ACS_CTRL_TRANS;
	return lack;
}

/*
 * Each bit is stated, because a bit that is left open gets the value of the firmware instead of the
 * value that the kernel sets by default. Where traffic goes straight, the other bits of ACS isolate
 * nothing.
 */
static uint16_t control_for(const struct wanted *w, const struct acs_port *p, const struct lack *l)
{
	return straight_alone(w) ? 0 : (uint16_t)((p->does | l->off) & ~l->on);
}

/* --- the ports of the way ---------------------------------------------------------------- */

enum { LEGS = 4 };

struct leg {
	const struct acs_ports *ports;
	const char *above;
	bool of_nic;
};

/*
 * Straight traffic turns round below the bridge that is above both; traffic that the IOMMU checks
 * goes up to the root, and must not turn round anywhere.
 */
static size_t legs_of(const struct wanted *w, struct leg ret[LEGS])
{
	size_t n = 0;

	if (!straight_alone(w))
		ret[n++] = (struct leg){&w->way.common, "both", false};
	ret[n++] = (struct leg){&w->way.nic, w->mover, true};
	ret[n++] = (struct leg){&w->way.gpu, w->gpu, false};
	ret[n++] = (struct leg){&w->own, w->nic, false};
	return n;
}

static bool has_port(const struct acs_ports *ports, const struct acs_port *port)
{
	for (size_t i = 0; i < ports->n; i++)
		if (ports->v[i] == port)
			return true;
	return false;
}

/*
 * An isolated NIC must not reach the GPU itself, even if its Data Direct function moves the data.
 */
static int find_own(struct acs *acs, struct wanted *w, struct err *err)
{
	struct acs_ports all = {0};
	int r = acs_ports_above(acs, w->nic, &all, err);

	for (size_t i = 0; i < all.n; i++)
		if (!has_port(&w->way.common, all.v[i]) && !has_port(&w->way.nic, all.v[i]) &&
		    !has_port(&w->way.gpu, all.v[i]))
			vec_push(&w->own, all.v[i]);
	vec_free(&all);
	return r;
}

static int find_way(struct acs *acs, struct wanted *w, struct err *err)
{
	int r = p2p_way_find(acs, w->mover, w->gpu, &w->way, err);

	if (r == 0 && w->wish == P2P_WISH_ISOLATED)
		r = find_own(acs, w, err);
	return r;
}

static void free_way(struct wanted *w)
{
	p2p_way_free(&w->way);
	vec_free(&w->own);
}

static const char *role_name(const struct acs_port *p)
{
	static const char *const names[] = {[ACS_ROOT_PORT] = "root port",
					    [ACS_SWITCH_DOWN] = "switch port",
					    [ACS_SWITCH_UP] = "upstream port of a switch",
					    [ACS_OTHER] = "bridge"};

	return names[p->role];
}

static void begin(struct str *text, const char *separator)
{
	if (text->len)
		str_add(text, separator);
}

/* "request redirect and completion redirect are" */
static void name_bits(struct str *text, uint16_t bits)
{
	size_t left = (size_t)__builtin_popcount(bits), many = left;

	for (size_t i = 0; i < array_len(bit_names); i++)
		if (bits & 1U << i) {
			str_add(text, bit_names[i]);
			left--;
			str_add(text, left > 1 ? ", " : left ? " and " : "");
		}
	str_add(text, many > 1 ? " are" : " is");
}

static void add_clause(struct str *text, const struct acs_port *p, const char *above, uint16_t bits,
		       const char *how)
{
	if (!bits)
		return;
	begin(text, "; ");
	str_addf(text, "%s (%s above %s): ACS ", p->addr, role_name(p), above);
	name_bits(text, bits);
	str_addf(text, " %s", how);
}

/* Why the hardware of a port isolates nothing; NULL: there is no such reason. */
static const char *unfit(const struct acs_port *p)
{
	if (p->state == ACS_MISSING && p->role != ACS_SWITCH_UP)
		return "has no ACS capability: a limit of the hardware, unless a BIOS option 'ACS "
		       "enable' hides it";
	if (p->state == ACS_CONVENTIONAL)
		return "leads to conventional PCI, where nothing is isolated";
	return NULL;
}

static const char *unreadable(const struct acs_port *p)
{
	switch (p->state) {
	case ACS_HEADER:
		return "only the first 64 bytes of its config space can be read, which do not "
		       "include ACS: run railhead (or take the snapshot) as root";
	case ACS_SHORT:
		return "its extended config space, in which ACS is, can't be reached (ACPI table "
		       "MCFG, or pci=nommconf)";
	default:
		return "its config space cannot be read";
	}
}

struct verdict {
	struct str lacks;   /* sentences about settings that must change */
	struct str unknown; /* sentences about registers that cannot be read */
	bool mends;	    /* a kernel argument can set the bits that are wrong */
};

static void judge_port(const struct wanted *w, const struct leg *leg, const struct acs_port *p,
		       struct verdict *v)
{
	struct lack lack = lack_of(w, p, leg->of_nic);
	const char *why = w->wish == P2P_WISH_DIRECT ? NULL : unfit(p);

	if (!p2p_readable(p)) {
		begin(&v->unknown, "; ");
		str_addf(&v->unknown, "%s (bridge above %s): %s", p->addr, leg->above,
			 unreadable(p));
		return;
	}
	if (why) {
		begin(&v->lacks, "; ");
		str_addf(&v->lacks, "%s (%s above %s) %s", p->addr, role_name(p), leg->above, why);
	}
	add_clause(&v->lacks, p, leg->above, lack.on, "on");
	add_clause(&v->lacks, p, leg->above, lack.off, "off");
	add_clause(&v->lacks, p, leg->above, lack.never, "missing from the hardware");
	v->mends |= lack.on || lack.off;
}

static void judge_ports(const struct wanted *w, struct verdict *v)
{
	static const char *const consequences[] = {
		[P2P_WISH_DIRECT] = "goes through the root complex",
		[P2P_WISH_TRANSLATED] = "is not both checked by the IOMMU and straight",
		[P2P_WISH_ISOLATED] = "can bypass the IOMMU",
	};
	struct leg legs[LEGS];
	size_t n = legs_of(w, legs);

	for (size_t l = 0; l < n; l++)
		for (size_t i = 0; i < legs[l].ports->n; i++)
			judge_port(w, &legs[l], legs[l].ports->v[i], v);
	if (v->lacks.len && w->way.data_direct)
		str_addf(&v->lacks,
			 ": data between %s and %s goes by the NIC's Data Direct function %s, and "
			 "%s",
			 w->nic, w->gpu, w->mover,
			 straight_data(w) ? "these bridges must let only this data go straight"
					  : consequences[w->wish]);
	else if (v->lacks.len)
		str_addf(&v->lacks, ": traffic between %s and %s %s", w->nic, w->gpu,
			 consequences[w->wish]);
}

/* Judges the function too: if no bridge is above it, as in a VM, nothing may isolate it. */
static void judge_function(const struct kind_ctx *ctx, const char *addr, struct verdict *v)
{
	const struct acs_port *fn = acs_port(ctx->acs, addr, NULL);

	if (!fn || !p2p_readable(fn)) {
		begin(&v->unknown, "; ");
		str_addf(&v->unknown, "%s: %s", addr, fn ? unreadable(fn) : "not a PCI address");
	} else if (fn->state == ACS_CONVENTIONAL) {
		begin(&v->lacks, "; ");
		str_addf(&v->lacks,
			 "%s is conventional PCI, or a virtual machine shows it so, and nothing "
			 "isolates it",
			 addr);
	}
}

static void judge_functions(const struct kind_ctx *ctx, const struct wanted *w, struct verdict *v)
{
	if (straight_alone(w))
		return;
	judge_function(ctx, w->mover, v);
	judge_function(ctx, w->gpu, v);
	if (w->wish == P2P_WISH_ISOLATED && w->way.data_direct)
		judge_function(ctx, w->nic, v);
}

/*
 * As `rdma_topo check` does, because drivers of GPUs treat a path as straight only within one IOMMU
 * group.
 */
static void judge_groups(const struct kind_ctx *ctx, const struct wanted *w, struct verdict *v)
{
	cleanup_free char *mover = NULL, *gpu = NULL, *why = NULL;

	if (!straight_data(w) || v->lacks.len)
		return;
	mover = iommu_group_of(ctx, w->mover, &why);
	gpu = mover ? iommu_group_of(ctx, w->gpu, &why) : NULL;
	if (!gpu || streq(mover, gpu))
		return;
	str_addf(&v->lacks,
		 "the Data Direct function %s is in IOMMU group %s, and %s in %s: data goes "
		 "straight only within one group, and the kernel forms groups at boot; boot with "
		 "these bits set by pci=config_acs=, and not later (setpci)",
		 w->mover, mover, w->gpu, gpu);
}

static void judge_ats(const struct kind_ctx *ctx, const struct wanted *w, struct verdict *v)
{
	const struct acs_port *nic = acs_port(ctx->acs, w->nic, NULL);
	cleanup_free char *noats = pci_argument(ctx->node->cmdline, "noats");

	if (w->wish != P2P_WISH_TRANSLATED || !nic || !p2p_readable(nic) || nic->ats == ATS_ON)
		return;
	if (nic->ats == ATS_UNKNOWN) {
		begin(&v->unknown, "; ");
		str_addf(&v->unknown,
			 "%s: its extended config space, in which ATS is, can't be "
			 "reached",
			 w->nic);
		return;
	}
	begin(&v->lacks, "; ");
	if (nic->ats == ATS_NONE)
		str_addf(&v->lacks,
			 "%s has no ATS: switch it on in its firmware (ATS_ENABLED of mlxconfig), "
			 "which requires a reboot",
			 w->nic);
	else if (noats)
		str_addf(&v->lacks, "ATS of %s is off: %s of this boot forbids it", w->nic, noats);
	else
		str_addf(&v->lacks,
			 "ATS of %s is off: the kernel turns it on when an IOMMU that supports it "
			 "serves the NIC (kernel_args.iommu)",
			 w->nic);
}

/* --- the remedy -------------------------------------------------------------------------- */

static void add_ports_to_argument(const struct wanted *w, bool bits, struct str *arg)
{
	struct leg legs[LEGS];
	size_t n = legs_of(w, legs);

	for (size_t l = 0; l < n; l++)
		for (size_t i = 0; i < legs[l].ports->n; i++) {
			const struct acs_port *p = legs[l].ports->v[i];
			struct lack lack = lack_of(w, p, legs[l].of_nic);

			if (lack.on || lack.off)
				p2p_argument_add(arg, p->addr, control_for(w, p, &lack), bits);
		}
}

/*
 * The bits of Data Direct differ by port, and disable_acs_redir= sets the same bits on all ports.
 */
static bool can_be_set(const struct wanted *w, bool bits)
{
	return *w->mover && (bits || !w->way.data_direct);
}

/*
 * The kernel argument for all pairs of the section, because the kernel uses only the last of
 * several such arguments. *ret_first: the NIC of the first pair that needs the argument.
 */
static char *argument_for_all(const struct kind_ctx *ctx, const struct change *c, bool bits,
			      const char **ret_first)
{
	cleanup_str struct str arg = {0};

	*ret_first = c->on.name;
	for (size_t i = 0; i < c->parts.n; i += PARTS_OF_PAIR) {
		struct wanted w = wanted_of(c, i);
		bool none = !arg.len;

		if (can_be_set(&w, bits) && find_way(ctx->acs, &w, NULL) == 0)
			add_ports_to_argument(&w, bits, &arg);
		if (none && arg.len)
			*ret_first = w.nic;
		free_way(&w);
	}
	return p2p_argument(&arg, bits);
}

/*
 * Whether the argument of this boot has the bits of all ports of arg; it may have other ports too.
 */
static bool says_all(const char *present, const char *arg)
{
	size_t option = (size_t)(strrchr(arg, '=') + 1 - arg);
	cleanup_free char *copy = xstrdup(arg + option), *said = NULL;
	char *rest = copy, *port;

	if (!present || strncmp(present, arg, option) != 0)
		return false;
	said = xasprintf(";%s;", present + option);
	while ((port = strsep(&rest, ";"))) {
		cleanup_free char *whole = xasprintf(";%s;", port);

		if (!strstr(said, whole))
			return false;
	}
	return true;
}

static void add_remedy(const struct kind_ctx *ctx, const struct change *c, const struct wanted *w,
		       struct str *text)
{
	bool bits = p2p_kernel_has_bits(ctx->node->kernel);
	cleanup_free char *present = acs_argument(ctx->node->cmdline), *arg = NULL;
	const char *first;

	if (!bits && straight_data(w)) {
		str_addf(text,
			 "; Linux %s has no pci=config_acs=, which sets them: use Linux 6.11 or "
			 "later",
			 ctx->node->kernel);
		return;
	}
	if (!bits && !straight_alone(w)) {
		if (present)
			str_addf(text, "; %s of this boot turns it off", present);
		else
			str_add(text, "; switch ACS on in the BIOS ('ACS control', 'ACS enable') "
				      "and set kernel_args.iommu, by which the kernel sets it");
		return;
	}
	arg = argument_for_all(ctx, c, bits, &first);
	if (says_all(present, arg)) {
		str_addf(text,
			 "; this boot has %s, but the ports differ: kernels from 6.11 on before "
			 "6.12.23, 6.13.11 and 6.14.2 apply only its first device and clear no bit "
			 "that the firmware set, or something has set the ports since (setpci)",
			 present);
		return;
	}
	if (c->on.node) { /* pairs.acs */
		str_add(text, "; pairs.acs sets them by a kernel argument, which this boot lacks: "
			      "kernel_args/next_boot shows whether the next boot has it");
		return;
	}
	if (!streq(first, c->on.name)) {
		str_addf(text,
			 "; the kernel argument that pairs/%s/p2p names sets it for all pairs",
			 first);
		return;
	}
	str_addf(text,
		 "; write kernel_args: {set: [\"%s\"]}, which requires a reboot, or set ACS in the "
		 "BIOS ('ACS control', 'ACS enable')",
		 arg);
	if (present)
		str_addf(text,
			 "; this boot has %s: merge the two, because the kernel uses only the last "
			 "one",
			 present);
}

/* --- the look ---------------------------------------------------------------------------- */

static const char *name_of(enum p2p_wish wish, bool holds)
{
	static const char *const names[][2] = {
		[P2P_WISH_DIRECT] = {"redirected", "direct"},
		[P2P_WISH_TRANSLATED] = {"not translated", "translated"},
		[P2P_WISH_ISOLATED] = {"not isolated", "isolated"},
	};

	return names[wish][holds];
}

static void conclude(const struct kind_ctx *ctx, struct change *c, const struct wanted *w,
		     struct verdict *v)
{
	c->now.state = v->lacks.len || v->unknown.len ? CHANGE_DIFFERS : CHANGE_SAME;
	change_observe(c, "%s",
		       v->unknown.len && !v->lacks.len ? "unknown"
						       : name_of(w->wish, !v->lacks.len));
	if (v->mends)
		add_remedy(ctx, c, w, &v->lacks);
	if (v->unknown.len) {
		begin(&v->lacks, "; ");
		str_add(&v->lacks, v->unknown.s);
	}
	if (v->lacks.len)
		change_reason(c, "%s", v->lacks.s);
}

static bool tell_of_no_mover(struct change *c, const struct wanted *w)
{
	if (*w->mover)
		return false;
	change_observe(c, "unknown");
	change_reason(
		c,
		"this node has Data Direct functions (15b3:2100), but the VPD of %s or of one of "
		"them, which assigns them to NICs, can't be read: run railhead as root",
		w->nic);
	c->now.state = CHANGE_DIFFERS;
	return true;
}

/*
 * rdma_topo rejects --virt with Data Direct, because data goes straight without the IOMMU, or not
 * straight.
 */
static bool tell_of_data_direct(struct change *c, const struct wanted *w)
{
	if (w->wish != P2P_WISH_TRANSLATED || !w->way.data_direct)
		return false;
	change_observe(c, "Data Direct");
	change_reason(
		c,
		"data between %s and GPUs goes by its Data Direct function %s, for which no "
		"setting of ACS is known that is both checked by the IOMMU and straight" TO_MEND
		"write p2p: direct or isolated",
		w->nic, w->mover);
	c->now.state = CHANGE_UNSUPPORTED;
	return true;
}

/*
 * Without an IOMMU nothing checks the traffic, whatever the bits of the ports are. With an IOMMU,
 * the kernel sets the bits.
 */
static bool tell_of_no_iommu(const struct kind_ctx *ctx, struct change *c, const struct wanted *w)
{
	const char *const functions[] = {w->mover, w->gpu};

	for (size_t i = 0; !straight_alone(w) && i < array_len(functions); i++) {
		cleanup_free char *why = NULL;
		cleanup_free char *group = iommu_group_of(ctx, functions[i], &why);

		if (group)
			continue;
		change_observe(c, "no IOMMU");
		change_reason(c, "%s", why);
		c->now.state = CHANGE_DIFFERS;
		c->now.fault = FAULT_PCI_IOMMU_GROUP;
		return true;
	}
	return false;
}

static int look_p2p(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct wanted w = wanted_of(c, part_of(c));
	struct verdict v = {0};
	int r = function_gone(ctx->root, w.nic, err);

	if (r == 0)
		r = function_gone(ctx->root, w.gpu, err);
	if (r == 0 &&
	    (tell_of_no_mover(c, &w) || tell_of_data_direct(c, &w) || tell_of_no_iommu(ctx, c, &w)))
		return 0;
	if (r == 0)
		r = find_way(ctx->acs, &w, err);
	if (r == 0) {
		judge_ports(&w, &v);
		judge_functions(ctx, &w, &v);
		judge_ats(ctx, &w, &v);
		judge_groups(ctx, &w, &v);
		conclude(ctx, c, &w, &v);
	}
	str_free(&v.lacks);
	str_free(&v.unknown);
	free_way(&w);
	return r;
}

const struct target_item p2p_item = {.kind = &kind_check, .look = look_p2p, .fault = FAULT_PCI_ACS};
