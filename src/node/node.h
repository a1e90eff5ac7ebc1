/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The survey of a machine: its topology, never tunable values, read below a root, each part once.
 * The functions below read the parts that few profiles need on first use. Absent files are not
 * errors, because a captured tree or a container may lack DMI; unknown fields stay NULL, 0 or -1.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/units.h"
#include "base/vec.h"
#include "sys/root.h"

#define PCI_ADDR_MAX 20 /* "0000:3b:00.0"; domains have up to 8 digits (VMD, Hyper-V) */

/* PCI class codes, the upper 16 of their 24 bits. */
enum {
	CLASS_ETHERNET = 0x0200,
	CLASS_INFINIBAND = 0x0207,
	CLASS_BRIDGE = 0x0604,
	CLASS_SERIAL_INFINIBAND = 0x0c06, /* HCAs older than CLASS_INFINIBAND */
};

enum { VENDOR_AMD = 0x1002, VENDOR_NVIDIA = 0x10de, VENDOR_MELLANOX = 0x15b3 };

enum cpu_vendor { CPU_UNKNOWN, CPU_INTEL, CPU_AMD, CPU_ARM };

struct pci_fn {
	char addr[PCI_ADDR_MAX];   /* domain:bus:device.function, lower case */
	char physfn[PCI_ADDR_MAX]; /* the PF of a VF; else "" */
	uint16_t vendor, device, subsystem_vendor, subsystem_device;
	uint32_t class;	    /* 24 bits, as sysfs prints them */
	int numa;	    /* NUMA node, or -1 */
	char *driver;	    /* bound driver, or NULL */
	char *part_number;  /* of the VPD; NULL: unknown, or not read yet */
	uint32_t totalvfs;  /* 0: no SR-IOV capability */
	struct strv net;    /* its netdevs, by their current names */
	struct strv ibdevs; /* its RDMA devices */
	/*
	 * "vendor: Input/output error" of the first file that exists, or may exist, and could not
	 * be read: any field may be wrong; else NULL.
	 */
	char *unread;
};

struct pci_functions {
	struct pci_fn *v; /* sorted by address; VFs included */
	size_t n;
	size_t cap;
};

struct numa_memory {
	unsigned int node;
	uint64_t bytes; /* 0: a node with only CPUs or devices */
};

struct node_memory {
	uint64_t bytes;		    /* MemTotal; 0 unknown */
	VEC(struct numa_memory) of; /* by number: NUMA nodes that report their memory */
	VEC(uint64_t) page_sizes;   /* of huge pages in this kernel, in bytes; empty: unknown */
};

/* The core and the NUMA node of an online CPU. */
struct cpu_place {
	unsigned int cpu;
	int core; /* the first online CPU of its core; -1: unknown */
	int numa; /* -1: unknown */
};

struct cpu_places {
	VEC(struct cpu_place) list; /* by number */
};

struct node {
	char *kernel;		    /* release of the kernel that wrote the tree; "" unknown */
	char *cmdline;		    /* /proc/cmdline, "" if unknown */
	struct cpus cpus;	    /* present */
	struct cpus cpus_offline;   /* present but offline; empty if the kernel lists none */
	struct cpus nodes;	    /* online NUMA nodes; only node 0 without NUMA */
	struct cpus nodes_with_cpu; /* NUMA nodes that have CPUs */

	/* The functions below read the following fields on first use. */
	const struct root *root; /* root of the survey; NULL: a node that was not surveyed */
	unsigned int asked;	 /* bits of parts that were read */
	struct {
		char *sys_vendor, *product_name, *product_family, *product_sku, *product_version;
		char *board_vendor, *board_name, *chassis_vendor, *bios_vendor;
		char *chassis_asset_tag; /* identifies the cloud of a virtual machine */
	} dmi;
	enum cpu_vendor cpu_vendor;
	char *arch;
	unsigned int sockets;
	struct node_memory memory;
	struct cpu_places places;
	struct pci_functions pci;
};

/*
 * Parts of a surveyed node, which owns them. The first call for a part reads below the root of the
 * survey, so the root must still exist. Only one thread may make the first call.
 */
/* The DMI field with that name ("sys_vendor"); "" if unknown; NULL if no such name exists. */
const char *node_dmi(const struct node *node, const char *field);
enum cpu_vendor node_cpu_vendor(const struct node *node);
/* As uname -m prints it: "x86_64", "aarch64"; "" if unknown. */
const char *node_arch(const struct node *node);
/* Distinct physical packages of present CPUs; 0 unknown. */
unsigned int node_sockets(const struct node *node);
const struct node_memory *node_memory(const struct node *node);
/* Places of the online CPUs; empty where the kernel does not report them. */
const struct cpu_places *node_places(const struct node *node);
/*
 * The functions that the survey listed. A function that has left the bus since has only its
 * address; one that could not be read says so.
 */
const struct pci_functions *node_functions(const struct node *node);

/* The currently online CPUs of a NUMA node; empty where the kernel lists no CPUs. */
void node_cpus_of(const struct root *root, int numa, struct cpus *ret);
/*
 * The first per_node cores of each NUMA node that has CPUs, each core with all of its SMT siblings,
 * so that a core never serves both the system and isolated work. CPU 0, which the kernel boots on,
 * is always included. -ENODATA: the places of CPUs are unknown; -ERANGE: a node has no further
 * cores. The error begins with the NUMA node or CPU, and has no remedy.
 */
int node_first_cores(const struct node *node, unsigned int per_node, struct cpus *ret,
		     struct err *err);
/* The CPUs of a NUMA node, and the online CPUs, according to node_places(). */
void node_places_of(const struct node *node, int numa, struct cpus *ret);
void node_online(const struct node *node, struct cpus *ret);
/* The number of CPUs that can run work. */
size_t node_count_online(const struct node *node);
int node_survey(const struct root *root, struct node *ret, struct err *err);
void node_free(struct node *node);
/*
 * Reads the VPD of every network, display and accelerator function that is not a VF. The survey
 * does not include this read, because it is slow (milliseconds to a tenth of a second for each
 * function) and only root may do it. Returns the number of known part numbers.
 */
int node_read_part_numbers(const struct root *root, struct node *node);

const char *cpu_vendor_name(enum cpu_vendor v); /* "intel", "amd", "arm", "unknown" */
const struct pci_fn *node_find(const struct node *node, const char *addr);
/* A PCI bridge: a root port, a port of a switch, or a bridge to conventional PCI. */
bool pci_fn_is_bridge(const struct pci_fn *fn);
/* GPUs and accelerators lower the speed of their idle links; the width stays. */
bool pci_fn_may_idle(const struct pci_fn *fn);
/*
 * The number of functions on the card of fn, which share domain:bus:device; VFs are not counted.
 * *ret_place (may be NULL): the place of fn among them, from 1.
 */
int node_ports(const struct node *node, const struct pci_fn *fn, int *ret_place);

/*
 * A selector chooses the PCI functions of a device set; profile/ fills it. Every given predicate
 * must hold. VFs are never members.
 */
struct selector {
	char *name;				/* of the set */
	char *in;				/* the wider set that contains it, or NULL */
	int vendor, device;			/* -1: any */
	int subsystem_vendor, subsystem_device; /* -1: any */
	char *address;				/* shell pattern over the address, or NULL */
	char *driver;				/* bound driver, or NULL */
	int numa;				/* -1: any */
	char *part_number; /* shell pattern over the part number of the VPD, or NULL */
	int ports;	   /* functions of the card (same domain:bus:device); 0: any */
	int port;	   /* place of this function on the card, from 1; 0: any */
	int expect;	   /* required number of members; -1: not given. Not a predicate. */
	bool or_more;	   /* a minimum: ">=N" */
	bool named;   /* used by a section, check or pair: a set without members is then a fault */
	bool protect; /* never touched; every other set leaves its members out */
	bool ethernet, infiniband; /* link:, by class code or ARP type; both false: any */
};

/*
 * Whether a function that could not be read may belong to the set: only its address is certain, and
 * its ids where they were read.
 */
bool selector_may_hold(const struct selector *sels, size_t n, const struct selector *sel,
		       const struct pci_fn *fn);
/* The selector with that name; NULL if the name is NULL or unknown. */
const struct selector *selector_find(const struct selector *sels, size_t n, const char *name);

struct device_set {
	const struct selector *sel;
	VEC(const struct pci_fn *) fn; /* sorted by address */
	int least;		       /* the least number of members; see selector_least() */
	const char *absent_with; /* the wider set that is permitted to be absent, and is; or NULL */
	/* A function that may be a member, because it could not be read: the set holds not; or NULL
	 */
	const struct pci_fn *unread;
};

struct device_sets {
	VEC(struct device_set) set; /* in the selectors' order */
};

/* Reads part numbers if a selector uses them. Call before device_sets_resolve(). */
void device_sets_prepare(const struct root *root, struct node *node, const struct selector *sels,
			 size_t n);
/*
 * Resolves all selectors. -EINVAL if `in` names no set or forms a circle (the check of the profile
 * finds that first). The result points into node and sels.
 */
int device_sets_resolve(const struct node *node, const struct selector *sels, size_t n,
			struct device_sets *ret, struct err *err);
void device_sets_free(struct device_sets *sets);

/*
 * The least number of members of a set. Without expect: one if the profile uses the set or the set
 * protects its members, else 0. A device_set on a node may also be empty if it is within a set that
 * is permitted to be absent, and is.
 */
int selector_least(const struct selector *sel);
bool device_set_holds(const struct device_set *set);
bool device_set_has(const struct device_set *set, const struct pci_fn *fn);
/* "8", ">=1"; NULL: any number is accepted. Caller frees. */
char *device_set_expectation(const struct device_set *set);
/*
 * Explains why the number of members of a set is not accepted, and how to fix it. For an empty set
 * the text names the nearest functions: "rails: no function matches pci 15b3:1023; nearest:
 * 15b3:1021 (8)". sels: all selectors of the profile. Caller frees.
 */
char *device_set_fault(const struct node *node, const struct selector *sels, size_t n,
		       const struct device_set *set);
const struct device_set *device_sets_find(const struct device_sets *sets, const char *name);
/* Whether the set with that name exists and is empty. Also accepts "vfs of SET". */
bool device_sets_lack(const struct device_sets *sets, const char *name);
/* The name of the set in "SET" or "vfs of SET": a part of text. */
const char *set_name_in(const char *text, bool *ret_vfs);
/* A predicate that excludes a function: "ports", "the card has 2", "1". */
struct mismatch {
	const char *predicate; /* the key of the set; "vf": sets have PFs only */
	char *found, *wanted;
};

void mismatch_free(struct mismatch *m);

/*
 * Whether sel's own predicates exclude fn; those of wider sets are not looked at. *ret, if not
 * NULL, gets the first one that does; mismatch_free().
 */
bool selector_excludes(const struct node *node, const struct selector *sel, const struct pci_fn *fn,
		       struct mismatch *ret);
