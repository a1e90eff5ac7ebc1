/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pcie: settings in a function's config space. The payload size depends on the whole path and
 * belongs to the kernel, so it is judged and never set.
 */
#include <pci/header.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/words.h"
#include "kinds/checks.h"
#include "kinds/pci.h"
#include "profile/language.h"
#include "profile/rules.h"
#include "sections/members.h"

/* The index of a word is its code in the registers. */
static const struct spec size =
	ONE_OF_WORDS("a payload size in bytes", WORDS("128", "256", "512", "1024", "2048", "4096"),
		     .unit = "bytes");
static const struct spec aspm = ONE_OF(
	"an ASPM state", MEANS("disabled", "the link never sleeps: least latency"),
	MEANS("l0s", "one direction may sleep, for less than a microsecond"),
	MEANS("l1", "both directions may sleep, for some microseconds"), MEANS("l0s_l1", "both"));

#define SETTING(key, of, help, setting) KEY(key, of, help, .item = (setting))

/* A row for each key, with its place in the function. */
static const struct spec keys = MAP(
	"a map such as {max_read_request: 4096}",
	SETTING("max_read_request", &size, "Largest read request of the function.",
		PCI_BITS(PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_READRQ)),
	SETTING("relaxed_ordering", &spec_bool, "Whether the function may use relaxed ordering.",
		PCI_BITS(PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_RELAXED, .refuse = pci_refuse_disordered)),
	SETTING("aspm", &aspm, "Power saving states of the link above the function.", &pci_aspm),
	KEY("max_payload", &size, "Smallest payload size that the function must have.",
	    .class = KEY_JUDGES),
	GOVERNING_KEYS(keys));
static const struct spec by_set = BY_SET(keys, ", such as {rails: {max_read_request: 4096}}");

/* --- changes ------------------------------------------------------------------------------ */

static struct change *add(const struct pci_fn *fn, const struct field *f, const struct kind *kind,
			  const struct ynode *value, struct plan *plan)
{
	bool judged = f->class == KEY_JUDGES;
	struct change *c = plan_add(plan, "pcie", kind, judged ? STAGE_GATE : STAGE_DEVICES,
				    judged ? PHASE_CHECK : PHASE_PORT, value->at, "pcie/%s/%s",
				    fn->addr, f->name);

	change_want(c, value);
	return c;
}

static struct change *emit_setting(const struct pci_fn *fn, const struct field *f,
				   const struct ynode *value, struct plan *plan)
{
	const struct pci_setting *setting = f->item;
	struct change *c = add(fn, f, &kind_pci, value, plan);

	change_on(c, fn->addr, setting);
	change_target(c, "%s:%s", f->name, fn->addr);
	change_lane(c, "%s", fn->addr);
	if (setting->files)
		change_file(c, "/sys/bus/pci/devices/%s/%s", fn->addr, setting->files);
	return c;
}

static void emit_row(const struct member *m, const struct field *f, const struct ynode *value,
		     struct plan *plan)
{
	if (f->item) {
		member_govern(m, f->name, emit_setting(m->fn, f, value, plan));
	} else if (f->class == KEY_JUDGES) {
		struct change *c = add(m->fn, f, &kind_check, value, plan);

		change_on(c, m->fn->addr, &pcie_payload_item);
		change_target(c, "pcie-payload:%s", m->fn->addr);
	}
}

static int emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		struct err *err)
{
	(void)err;
	members_each_key(ctx, section, keys.fields, emit_row, plan);
	return 0;
}

/* --- rules -------------------------------------------------------------------------------- */

static bool pci_says(const struct ynode *arg, const char *word)
{
	return arg && commas_have(arg_value(arg->text), word);
}

/* drivers/pci/pci.c: pcie_bus_config */
static void kernel_leaves_the_sizes(struct ruling *r, const struct selector *s,
				    const struct ynode *view)
{
	const struct ynode *pci = find_arg(r, "pci");
	const struct ynode *payload = tree_get(view, "pcie.max_payload");

	if (tree_get(view, "pcie.max_read_request") && pci_says(pci, "pcie_bus_perf"))
		set_error(r, s, view, "pcie.max_read_request",
			  "pcie_bus_perf of %.80s (at %s) lowers it to the payload's size; drop "
			  "pcie_bus_perf",
			  pci->text, seen(r, pci));
	if (payload && payload->value.number && pci_says(pci, "pcie_bus_peer2peer"))
		set_error(r, s, view, "pcie.max_payload",
			  "pcie_bus_peer2peer of %.80s (at %s) sets 128 everywhere; drop one of "
			  "the two",
			  pci->text, seen(r, pci));
}

static const struct set_rule set_rules[] = {
	{"kernel-leaves-the-sizes", kernel_leaves_the_sizes},
	NO_MORE_SET_RULES,
};

const struct section section_pcie = {
	.name = "pcie",
	.spec = &by_set,
	.help = "PCIe settings of the members of a set.",
	.class = KEY_SETS,
	.differs = FAULT_PCI_SETTING_DIFFERS,
	.failed = FAULT_PCI_SETTING_FAILED,
	.set_rules = set_rules,
	.emit = emit,
};
