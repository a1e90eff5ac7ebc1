/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/acs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sys/libpci.h"
#include "sys/pci.h"
#include "sys/read.h"

enum {
	REQUIRED = PCI_ACS_CTRL_VALID | PCI_ACS_CTRL_REQ_RED | PCI_ACS_CTRL_CMPLT_RED |
		   PCI_ACS_CTRL_FORWARD,
	MULTIFUNCTION = 0x80, /* bit of the header type */
};

struct acs {
	const struct root *root;
	struct pci_lib lib; /* opened on the first question */
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
	pci_lib_close(&acs->lib);
	free(acs);
}

static bool multifunction(const struct libpci *pci, struct pci_dev *dev)
{
	return dev->func || pci->pci_read_byte(dev, PCI_HEADER_TYPE) & MULTIFUNCTION;
}

/*
 * Ports that face downwards need ACS, and so does each function of a card with several functions.
 */
static enum acs_state judge_role(const struct libpci *pci, struct pci_dev *dev,
				 struct acs_port *port)
{
	struct pci_cap *exp = pci->pci_find_cap(dev, PCI_CAP_ID_EXP, PCI_CAP_NORMAL);

	if (!exp)
		return ACS_CONVENTIONAL;
	switch ((pci->pci_read_word(dev, (int)exp->addr + PCI_EXP_FLAGS) & PCI_EXP_FLAGS_TYPE) >>
		4) {
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
	return multifunction(pci, dev) ? ACS_MISSING : ACS_APART;
}

static enum ats_state ats_of(const struct libpci *pci, struct pci_dev *dev)
{
	struct pci_cap *ats = pci->pci_find_cap(dev, PCI_EXT_CAP_ID_ATS, PCI_CAP_EXTENDED);

	if (!ats)
		return ATS_NONE;
	return pci->pci_read_word(dev, (int)ats->addr + PCI_ATS_CTRL) & PCI_ATS_CTRL_ENABLE
		       ? ATS_ON
		       : ATS_OFF;
}

/* False: no such capability. */
static bool read_registers(const struct libpci *pci, struct pci_dev *dev, struct acs_port *port)
{
	struct pci_cap *acs = pci->pci_find_cap(dev, PCI_EXT_CAP_ID_ACS, PCI_CAP_EXTENDED);

	port->ats = ats_of(pci, dev);
	if (!acs)
		return false;
	port->can = pci->pci_read_word(dev, (int)acs->addr + PCI_ACS_CAP);
	port->does = pci->pci_read_word(dev, (int)acs->addr + PCI_ACS_CTRL);
	return true;
}

static enum acs_state judge(const struct libpci *pci, struct pci_dev *dev, enum pci_reach reach,
			    struct acs_port *port)
{
	enum acs_state state;
	bool has;

	if (reach <= PCI_REACH_HEADER)
		return reach == PCI_REACH_NONE ? ACS_UNREADABLE : ACS_HEADER;
	state = judge_role(pci, dev, port);
	has = reach == PCI_REACH_ALL && read_registers(pci, dev, port);
	if (state != ACS_MISSING)
		return state;
	if (!has)
		return reach == PCI_REACH_ALL ? ACS_MISSING : ACS_SHORT;
	/*
	 * Bits that the capability lacks are not needed, because they cannot be switched off
	 * either.
	 */
	port->needs = REQUIRED & port->can;
	return (port->does & port->needs) == port->needs ? ACS_APART : ACS_OFF;
}

static void read_port(const struct libpci *pci, struct pci_access *access, void *arg)
{
	struct acs_port *port = arg;
	enum pci_reach reach;
	struct pci_dev *dev = pci_lib_function(pci, access, port->addr, &reach);

	port->role = ACS_OTHER;
	port->state = judge(pci, dev, reach, port);
	pci->pci_free_dev(dev);
}

static bool is_address(const char *s)
{
	unsigned int part[4];

	return sscanf(s, "%x:%x:%x.%x", &part[0], &part[1], &part[2], &part[3]) == 4 &&
	       strlen(s) < sizeof(((struct acs_port *)0)->addr);
}

const struct acs_port *acs_port(struct acs *acs, const char *addr, struct err *err)
{
	cleanup_free struct acs_port *port = NULL;

	for (size_t i = 0; i < acs->ports.n; i++)
		if (streq(acs->ports.v[i]->addr, addr))
			return acs->ports.v[i];
	if (!is_address(addr)) {
		err_set(err, -EINVAL, "%s: not a PCI address", addr);
		return NULL;
	}
	if (!acs->lib.access && pci_lib_open(&acs->lib, acs->root, err) < 0)
		return NULL;
	port = xnew(struct acs_port);
	snprintf(port->addr, sizeof(port->addr), "%s", addr);
	if (pci_lib_call(&acs->lib, read_port, port, err) < 0)
		return NULL;
	vec_push(&acs->ports, port);
	return take_ptr(port);
}

/* Walks the device's path in the tree: ".../pci0000:40/0000:40:00.0/0000:41:00.0". */
int acs_ports_above(struct acs *acs, const char *addr, struct acs_ports *ret, struct err *err)
{
	cleanup_free char *path = NULL;
	char *last, *save = NULL;
	int r = read_link(acs->root, &path, err, "/sys/bus/pci/devices/%s", addr);

	if (r < 0)
		return r;
	last = strrchr(path, '/');
	if (last)
		*last = '\0'; /* leave out the function itself */
	for (char *p = strtok_r(path, "/", &save); p; p = strtok_r(NULL, "/", &save)) {
		const struct acs_port *port = is_address(p) ? acs_port(acs, p, err) : NULL;

		if (port)
			vec_push(ret, port);
		else if (is_address(p))
			return -EIO;
	}
	return 0;
}
