/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Config space, which a card, a hypervisor or who made a snapshot fills as they like. */
#include "fuzz.h"

#include <errno.h>
#include <pci/header.h>

#include "sys/acs.h"
#include "sys/pci.h"
#include "sys/pci_express.h"

#define FN "0000:41:00.0"

static void check_places(const struct pci_config *c)
{
	for (unsigned int id = 0; id <= 0xff; id++) {
		unsigned int at = pci_config_find(c, (uint8_t)id);

		must(at == 0 || (at >= 0x40 && at <= 0xfc && at % 4 == 0));
		must(at == 0 ||
		     (c->reach == PCI_REACH_STANDARD && (pci_config_word(c, at) & 0xff) == id));
	}
	for (unsigned int id = 0; id <= 0x40; id++) {
		unsigned int at = pci_config_find_extended(c, (uint16_t)id);

		must(at == 0 || (at >= 0x100 && at <= 0xffc && at % 4 == 0));
		must(at == 0 || (pci_config_is_extended(c) && pci_config_word(c, at) == id));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct root root = {.fd = -1};
	static char *dir;
	struct pci_config c cleanup_pci_config = {.fd = -1};
	struct pci_express x;
	const struct acs_port *port;
	unsigned int vectors = 0;
	struct acs *acs;
	int r;

	if (!dir) {
		dir = fuzz_dir();
		must(root_init(&root, dir, NULL) == 0);
	}
	fuzz_put(dir, "sys/bus/pci/devices/" FN "/config", data, size);
	must(pci_config_open(&root, FN, false, &c, NULL) == 0);
	check_places(&c);
	r = pci_express_read(&root, FN, &x, NULL);
	must(r == 0 || r == -ENOENT || r == -ENXIO || r == -EACCES || r == -EOPNOTSUPP);
	must(r < 0 || (x.size <= PCI_EXPRESS_SIZE && x.size % 2 == 0));
	must(pci_msix_vectors(&root, FN, &vectors, NULL) < 0 || vectors <= 2048);
	acs = acs_new(&root);
	port = acs_port(acs, FN, NULL);
	must((port->state == ACS_UNREADABLE) == (size < 4));
	must((port->does & port->needs) == port->needs || port->state == ACS_OFF);
	acs_free(acs);
	return 0;
}
