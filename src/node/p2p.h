/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The path between a NIC and a GPU: the bridges that their traffic passes, and whether a bridge
 * redirects it to the root complex (docs/p2p.md).
 */
#pragma once

#include "node/node.h"
#include "sys/acs.h"

struct p2p_way {
	bool data_direct; /* the NIC's end is its Data Direct function; the caller sets this */
	struct acs_ports common;   /* above both, the root port first; empty: none */
	struct acs_ports nic, gpu; /* above only the NIC or only the GPU, the highest first */
};

/* The ports belong to acs; p2p_way_free() frees the lists. -ENOENT: no such function. */
int p2p_way_find(struct acs *acs, const char *nic, const char *gpu, struct p2p_way *ret,
		 struct err *err);
void p2p_way_free(struct p2p_way *way);

enum p2p_redirect {
	P2P_DIRECT,
	P2P_REDIRECTED,
	P2P_ROOT_COMPLEX, /* no bridge is above both: the root complex joins them */
	P2P_UNKNOWN,	  /* some ports cannot be read; the others do not redirect */
};

/*
 * The control bits that must be off in a port of the path so that traffic goes straight: those of
 * pci_bridge_has_acs_redir() in drivers/pci/p2pdma.c. Data Direct has other bits (rdma_topo of
 * rdma-core, compute_acs() of NVCX_DMA_Complex): where the path turns round, requests must pass the
 * port of the function, and answers the port of the GPU. Without source validation in the root port
 * the kernel puts everything below the port into one IOMMU group.
 */
uint16_t p2p_off_for_direct(const struct p2p_way *way, const struct acs_port *port);
bool p2p_readable(const struct acs_port *port);
enum p2p_redirect p2p_redirect_of(const struct p2p_way *way);

/* The Data Direct functions of a node. The VPD of each function is read once. */
struct p2p_mover {
	const struct pci_fn *fn;
	char *identifier; /* "": the VPD has no identifier; NULL: the VPD cannot be read */
};

struct p2p_movers {
	VEC(struct p2p_mover) list; /* by address */
};

void p2p_movers_find(const struct root *root, const struct node *node, struct p2p_movers *ret);
void p2p_movers_free(struct p2p_movers *movers);

/*
 * The function that moves a NIC's data to and from GPUs: the Data Direct function (15b3:2100) of a
 * ConnectX-8, below another root port, or the NIC itself. The two have the same identifier in
 * keyword V3 of their VPD (rdma_topo); of several functions with the same identifier, the first by
 * address counts. nic must not be a VF, because VFs have no VPD. NULL: the node has Data Direct
 * functions, and their NIC is unknown because a VPD cannot be read. On a node without Data Direct
 * functions no VPD is read.
 */
const struct pci_fn *p2p_mover_of(const struct root *root, const struct p2p_movers *movers,
				  const struct pci_fn *nic);

/*
 * Appends a port to the value of the kernel argument that sets ACS, unless the value already has
 * the port: with the seven bits of its control register, or the address alone.
 */
void p2p_argument_add(struct str *value, const char *port, uint16_t control, bool bits);
/* "pci=config_acs=0000000@0000:02:00.0", or "pci=disable_acs_redir=..."; the caller frees. */
char *p2p_argument(const struct str *value, bool bits);
/* Whether that kernel has pci=config_acs=: 47c8846a49ba, "PCI: Extend ACS configurability". */
bool p2p_kernel_has_bits(const char *kernel);

/* The facts that a survey shows for a pair. */
struct p2p_fact {
	enum p2p_redirect redirect;
	enum ats_state nic_ats, gpu_ats;
	struct strv at; /* ports that redirect */
};

/*
 * Reads the path between the function that moves the NIC's data and the GPU. mover: NULL if
 * unknown. All facts are unknown if a function is gone. The caller frees ret->at with
 * strv_free().
 */
void p2p_fact_take(struct acs *acs, const char *nic, const char *mover, const char *gpu,
		   struct p2p_fact *ret);
/* "no", "yes", "root complex", "unknown" */
const char *p2p_redirect_name(enum p2p_redirect r);
/* "on", "off", "none", "unknown" */
const char *p2p_ats_name(enum ats_state s);
