/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way between a NIC and a GPU: the bridges that their traffic passes, and whether one of them
 * sends it up to the root complex instead of straight to the other (docs/p2p.md).
 */
#pragma once

#include "node/node.h"
#include "sys/acs.h"

struct p2p_way {
	struct acs_ports common;   /* above both, the root port first; none: no bridge is */
	struct acs_ports nic, gpu; /* above the one alone, the highest first */
};

/* The ports belong to acs; p2p_way_free() frees the lists. -ENOENT: no such function. */
int p2p_way_find(struct acs *acs, const char *nic, const char *gpu, struct p2p_way *ret,
		 struct err *err);
void p2p_way_free(struct p2p_way *way);

enum p2p_redirect {
	P2P_DIRECT,
	P2P_REDIRECTED,
	P2P_ROOT_COMPLEX, /* no bridge is above both: it is the root complex that joins them */
	P2P_UNKNOWN,	  /* no port redirects as far as can be read, which is not all of it */
};

/*
 * The control bits by which a port sends up what it could deliver below itself: those of
 * pci_bridge_has_acs_redir() in drivers/pci/p2pdma.c.
 */
uint16_t p2p_redirects(const struct acs_port *port);
bool p2p_readable(const struct acs_port *port);
enum p2p_redirect p2p_redirect_of(const struct p2p_way *way);

/*
 * The Data Direct function (15b3:2100) of a ConnectX-8: that moves the data to and from GPUs, below
 * another root port, while the NIC is the function that programs name. The two have the same
 * identifier in keyword V3 of their VPD, which a snapshot leaves out. NULL: the NIC has none.
 */
const struct pci_fn *p2p_data_direct_of(const struct root *root, const struct node *node,
					const char *nic);

/* Whether the node has such a function at all, of whichever NIC. */
bool p2p_has_data_direct(const struct node *node);

/*
 * Appends a port to the value of the kernel argument that sets ACS, unless it has the port; by the
 * seven bits of its control register, or by the address alone.
 */
void p2p_argument_add(struct str *value, const char *port, uint16_t control, bool bits);
/* "pci=config_acs=0000000@0000:02:00.0", or "pci=disable_acs_redir=..."; the caller frees. */
char *p2p_argument(const struct str *value, bool bits);
/* Whether that kernel has the first: 47c8846a49ba, "PCI: Extend ACS configurability". */
bool p2p_kernel_has_bits(const char *kernel);

/* What a survey shows of one pair. */
struct p2p_fact {
	enum p2p_redirect redirect;
	bool data_direct; /* ... of the NIC's own bridges; its data goes another way */
	enum ats_state nic_ats, gpu_ats;
	struct strv at; /* the ports that redirect */
};

/* libpci missing, or a function gone: all is unknown. strv_free() ret->at. */
void p2p_fact_take(const struct root *root, const struct node *node, struct acs *acs,
		   const char *nic, const char *gpu, struct p2p_fact *ret);
/* "no", "yes", "root complex", "unknown" */
const char *p2p_redirect_name(enum p2p_redirect r);
/* "on", "off", "none", "unknown" */
const char *p2p_ats_name(enum ats_state s);
