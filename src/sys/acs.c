/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/acs.h"

#include <errno.h>
#include <pci/header.h>
#include <stdio.h>
#include <string.h>

#include "base/pci_address.h"
#include "sys/pci.h"
#include "sys/pci_express.h"

enum {
	REQUIRED = PCI_ACS_CTRL_VALID | PCI_ACS_CTRL_REQ_RED | PCI_ACS_CTRL_CMPLT_RED |
		   PCI_ACS_CTRL_FORWARD,
	MULTIFUNCTION = 0x80, /* bit of the header type */
};

struct acs {
	const struct root *root;
	VEC(struct acs_port *) ports;
};

struct acs *acs_new(const struct root *root)
{
	struct acs *acs = xnew(struct acs);

	acs->root = root;
	return acs;
}

void acs_free(struct acs *acs)
{
	if (!acs)
		return;
	for (size_t i = 0; i < acs->ports.n; i++)
		free(acs->ports.v[i]);
	vec_free(&acs->ports);
	free(acs);
}

static bool is_multifunction(const struct pci_config *c, const char *addr)
{
	return addr[strlen(addr) - 1] != '0' || c->header[PCI_HEADER_TYPE] & MULTIFUNCTION;
}

/*
 * Ports that face downwards need ACS, and so does each function of a card with several functions.
 */
static enum acs_state judge_role(const struct pci_config *c, struct acs_port *port)
{
	unsigned int exp = pci_config_find(c, PCI_CAP_ID_EXP);

	if (!exp)
		return ACS_CONVENTIONAL;
	switch ((pci_config_word(c, exp + PCI_EXP_FLAGS) & PCI_EXP_FLAGS_TYPE) >> 4) {
	case PCI_EXP_TYPE_PCI_BRIDGE:
	case PCI_EXP_TYPE_PCIE_BRIDGE:
	case PCI_EXP_TYPE_ROOT_EC:
		return ACS_CONVENTIONAL;
	case PCI_EXP_TYPE_ROOT_PORT:
		port->role = ACS_ROOT_PORT;
		return ACS_MISSING;
	case PCI_EXP_TYPE_DOWNSTREAM:
		port->role = ACS_SWITCH_DOWN;
		return ACS_MISSING;
	case PCI_EXP_TYPE_UPSTREAM:
		port->role = ACS_SWITCH_UP;
		break;
	default:
		break;
	}
	return is_multifunction(c, port->addr) ? ACS_MISSING : ACS_APART;
}

static enum ats_state read_ats(const struct pci_config *c)
{
	unsigned int ats = pci_config_find_extended(c, PCI_EXT_CAP_ID_ATS);

	if (!ats)
		return ATS_NONE;
	return pci_config_word(c, ats + PCI_ATS_CTRL) & PCI_ATS_CTRL_ENABLE ? ATS_ON : ATS_OFF;
}

/* False: no such capability. */
static bool read_registers(const struct pci_config *c, struct acs_port *port)
{
	unsigned int acs = pci_config_find_extended(c, PCI_EXT_CAP_ID_ACS);

	port->ats = read_ats(c);
	if (!acs)
		return false;
	port->can = pci_config_word(c, acs + PCI_ACS_CAP);
	port->does = pci_config_word(c, acs + PCI_ACS_CTRL);
	return true;
}

static enum acs_state judge(const struct pci_config *c, struct acs_port *port)
{
	enum acs_state state;
	bool all, has;

	if (c->reach <= PCI_REACH_HEADER)
		return c->reach == PCI_REACH_NONE ? ACS_UNREADABLE : ACS_HEADER;
	state = judge_role(c, port);
	all = pci_config_is_extended(c);
	has = all && read_registers(c, port);
	if (state != ACS_MISSING)
		return state;
	if (!has)
		return all ? ACS_MISSING : ACS_SHORT;
	/*
	 * Bits that the capability lacks are not needed, because they cannot be switched off
	 * either.
	 */
	port->needs = REQUIRED & port->can;
	return (port->does & port->needs) == port->needs ? ACS_APART : ACS_OFF;
}

const struct acs_port *acs_port(struct acs *acs, const char *addr, struct err *err)
{
	struct pci_config c cleanup_pci_config = {.fd = -1};
	struct acs_port *port;
	size_t len = pci_address_len(addr);

	for (size_t i = 0; i < acs->ports.n; i++)
		if (streq(acs->ports.v[i]->addr, addr))
			return acs->ports.v[i];
	if (!len || addr[len]) {
		err_set(err, -EINVAL, "%s: not a PCI address", addr);
		return NULL;
	}
	port = xnew(struct acs_port);
	snprintf(port->addr, sizeof(port->addr), "%s", addr);
	port->role = ACS_OTHER;
	pci_config_open(acs->root, addr, false, &c, NULL);
	port->state = judge(&c, port);
	vec_push(&acs->ports, port);
	return port;
}

int acs_ports_above(struct acs *acs, const char *addr, struct acs_ports *ret, struct err *err)
{
	cleanup_strv struct strv above = {0};
	int r = pci_ports_above(acs->root, addr, &above, err);

	for (size_t i = 0; i < above.n; i++)
		vec_push(ret, acs_port(acs, above.v[i], NULL));
	return r;
}
