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
#include "plan/change.h"
#include "profile/language.h"
#include "profile/rules.h"
#include "profile/section.h"
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
	    .class = KEY_JUDGES, .item = &pcie_payload_item),
	GOVERNING_KEYS(keys));
static const struct spec by_set = BY_SET(keys, ", such as {rails: {max_read_request: 4096}}");

/* --- changes ------------------------------------------------------------------------------ */

static void extend(const struct section_ctx *ctx, const struct member *m, struct change *c)
{
	const struct pci_setting *setting = c->on.item;

	(void)ctx;
	if (c->kind == &kind_check) {
		change_target(c, "pcie-payload:%s", m->fn->addr);
		return;
	}
	change_target(c, "%s:%s", c->on.key, m->fn->addr);
	if (setting->files)
		change_file(c, "/sys/bus/pci/devices/%s/%s", m->fn->addr, setting->files);
}

static const struct settings settings = {.extend = extend};

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
	.emit = settings_emit,
	.settings = &settings,
};
