/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is heard of a function's netdevs: one answer after the other, as port.c puts them. */
#include "fuzz.h"

#include <linux/if_link.h>

#include "base/mem.h"
#include "base/vec.h"
#include "sys/port.h"

static void check_flags(const struct eth_flags *flags, size_t size)
{
	must(flags->n <= size / 4);
	for (size_t i = 0; i < flags->n; i++)
		must(memchr(flags->v[i].name, '\0', sizeof(flags->v[i].name)));
}

static void check_port(const struct port *port, size_t size)
{
	uint32_t number;

	must(memchr(port->name, '\0', sizeof(port->name)));
	must(port->files.n <= size / 4);
	must(!port_file(port, "no such file of any kernel"));
	port_number(port, &eth_pause_rx);
	port_attr(port, IFLA_MTU, &number);
	for (size_t g = 0; g < ETH_GROUPS; g++)
		must(port->result[g] <= 0 && port->result[g] >= -4095);
	check_flags(&port->features, size);
	check_flags(&port->private_flags, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Aligned as an answer is, and not a byte longer than it is. */
	cleanup_free char *copy = xcalloc(1, size ? size : 1);
	struct ports ports cleanup_ports = {0};

	memcpy(copy, data, size);
	for (enum eth_group g = 0; g < ETH_GROUPS; g++) {
		struct eth_flags flags = {0};

		if (eth_has_flags(g))
			eth_parse_flags(copy, size, g, &flags);
		else
			eth_parse_number(copy, size, &eth_pause_autoneg);
		check_flags(&flags, size);
		vec_free(&flags);
	}
	if (ports_parse(copy, size, &ports, NULL) < 0)
		return 0;
	must(ports.n <= size / sizeof(struct nlmsghdr));
	for (size_t i = 0; i < ports.n; i++)
		check_port(&ports.v[i], size);
	return 0;
}
