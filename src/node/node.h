/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The survey: what this machine is (topology, never tunable values), read from below a root, and
 * each part of it once. Parts that few profiles need are read when they are first asked for, by
 * the functions below. Absent files are not errors: a captured tree or a container may lack DMI;
 * what is unknown stays NULL, 0 or -1.
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
	CLASS_SERIAL_INFINIBAND = 0x0c06, /* of HCAs older than that class */
};

enum { VENDOR_AMD = 0x1002, VENDOR_NVIDIA = 0x10de, VENDOR_MELLANOX = 0x15b3 };

enum cpu_vendor { CPU_UNKNOWN, CPU_INTEL, CPU_AMD, CPU_ARM };

struct pci_fn {
	char addr[PCI_ADDR_MAX];   /* domain:bus:device.function, lower case */
	char physfn[PCI_ADDR_MAX]; /* of a VF: its PF; else "" */
	uint16_t vendor, device, subsystem_vendor, subsystem_device;
	uint32_t class;	    /* 24 bits, as sysfs prints them */
	int numa;	    /* node, or -1 */
	char *driver;	    /* bound driver, or NULL */
	char *part_number;  /* of the VPD, or NULL: unknown, or not read (node_read_part_numbers) */
	uint32_t totalvfs;  /* 0: no SR-IOV capability */
	struct strv net;    /* its netdevs, by the names they have now */
	struct strv ibdevs; /* its RDMA devices */
};

struct pci_functions {
	struct pci_fn *v; /* sorted by address; VFs included */
	size_t n;
	size_t cap;
};

struct numa_memory {
	unsigned int node;
	uint64_t bytes; /* 0: a node of CPUs or devices alone */
};

struct node_memory {
	uint64_t bytes;		    /* MemTotal; 0 unknown */
	VEC(struct numa_memory) of; /* of NUMA nodes, as far as they say; by number */
	VEC(uint64_t) page_sizes;   /* huge pages that the kernel offers, in bytes; none: unknown */
};

/* Where an online CPU is. */
struct cpu_place {
	unsigned int cpu;
	int core; /* the first online CPU of its core; -1: the kernel does not say */
	int numa; /* -1: the kernel does not say */
};

struct cpu_places {
	VEC(struct cpu_place) list; /* by number */
};

struct node {
	char *kernel;		    /* release of the kernel that wrote the tree; "" unknown */
	char *cmdline;		    /* /proc/cmdline, "" if unknown */
	struct cpus cpus;	    /* present */
	struct cpus cpus_offline;   /* of those; none where the kernel does not say */
	struct cpus nodes;	    /* NUMA nodes that are online; node 0 alone without NUMA */
	struct cpus nodes_with_cpu; /* those that have CPUs */

	/* From here on: read by the functions below, when they are first asked. */
	const struct root *root; /* where; NULL: a node that was not surveyed */
	unsigned int asked;	 /* bits of parts */
	struct {
		char *sys_vendor, *product_name, *product_family, *product_sku, *product_version;
		char *board_vendor, *board_name, *chassis_vendor, *bios_vendor;
		char *chassis_asset_tag; /* of virtual machines: which cloud */
	} dmi;
	enum cpu_vendor cpu_vendor;
	char *arch;
	unsigned int sockets;
	struct node_memory memory;
	struct cpu_places places;
	struct pci_functions pci;
};

/*
 * Parts of a surveyed node. The first call reads below the root of the survey, which must be there
 * still, and is made by one thread alone. All belong to the node.
 */
/* The DMI field of that name ("sys_vendor"), NULL if there is no such name; "" if unknown. */
const char *node_dmi(const struct node *node, const char *field);
enum cpu_vendor node_cpu_vendor(const struct node *node);
/* As uname -m says it: "x86_64", "aarch64"; "" unknown. */
const char *node_arch(const struct node *node);
/* Distinct physical packages of present CPUs; 0 unknown. */
unsigned int node_sockets(const struct node *node);
const struct node_memory *node_memory(const struct node *node);
/* Of the online CPUs; none where the kernel does not say. */
const struct cpu_places *node_places(const struct node *node);
/* The survey has listed them: one that has left the bus since has its address alone. */
const struct pci_functions *node_functions(const struct node *node);

/* The CPUs of a NUMA node that are online now; none where the kernel tells of none. */
void node_cpus_of(const struct root *root, int numa, struct cpus *ret);
/*
 * The first per_node cores of each NUMA node that has CPUs, each core with all of its SMT siblings,
 * so that one core never serves both the system and isolated work. CPU 0, which the kernel boots
 * on, is among them. -ENODATA: where CPUs are is not known; -ERANGE: a node has no core beyond
 * these. The error begins with the node or CPU that it is about, and has no remedy.
 */
int node_first_cores(const struct node *node, unsigned int per_node, struct cpus *ret,
		     struct err *err);
/* The CPUs of a NUMA node, and those that are online, as places have them. */
void node_places_of(const struct node *node, int numa, struct cpus *ret);
void node_online(const struct node *node, struct cpus *ret);
/* How many CPUs there are that may run anything. */
size_t node_count_online(const struct node *node);
int node_survey(const struct root *root, struct node *ret, struct err *err);
void node_free(struct node *node);
/*
 * Reads the VPD of every network, display and accelerator function that is no VF. Not part
 * of the survey: it is slow (milliseconds to a tenth of a second each) and for root alone.
 * Returns how many part numbers are known.
 */
int node_read_part_numbers(const struct root *root, struct node *node);

const char *cpu_vendor_name(enum cpu_vendor v); /* "intel", "amd", "arm", "unknown" */
const struct pci_fn *node_find(const struct node *node, const char *addr);
/* A PCI bridge: a root port, a port of a switch, or one to conventional PCI. */
bool pci_fn_is_bridge(const struct pci_fn *fn);
/* GPUs and accelerators lower the speed of their link while they are idle; the width stays. */
bool pci_fn_may_idle(const struct pci_fn *fn);
/*
 * How many functions the card of fn has: they share domain:bus:device, and VFs are counted
 * nowhere. *ret_place (may be NULL): the place of fn among them, from 1.
 */
int node_ports(const struct node *node, const struct pci_fn *fn, int *ret_place);

/*
 * A selector says which PCI functions a device set has; profile/ fills it. Every
 * predicate that is given must hold. VFs are never members.
 */
struct selector {
	char *name;				/* of the set */
	char *in;				/* the set that it is a subset of, or NULL */
	int vendor, device;			/* -1: any */
	int subsystem_vendor, subsystem_device; /* -1: any */
	char *address;				/* shell pattern over the address, or NULL */
	char *driver;				/* bound driver, or NULL */
	int numa;				/* -1: any */
	char *part_number;			/* shell pattern over the VPD's, or NULL */
	int ports;    /* functions of the card (same domain:bus:device); 0: any */
	int port;     /* place of this function on the card, from 1; 0: any */
	int expect;   /* how many members there must be; -1: not said. No predicate. */
	bool or_more; /* ... at least: ">=N" */
	bool named;   /* a section, check or pair speaks of it: one without members is a fault */
	bool protect; /* never touched; its members are left out of every other set */
	bool ethernet, infiniband; /* link:, by class code or ARP type; both false: any */
};

/* The selector of that name; NULL if there is none, or no name. */
const struct selector *selector_find(const struct selector *sels, size_t n, const char *name);

struct device_set {
	const struct selector *sel;
	VEC(const struct pci_fn *) fn; /* sorted by address */
	int least;		       /* how many members it must have; see selector_least() */
	const char *absent_with;       /* the wider set that is absent, as it may be; or NULL */
};

struct device_sets {
	VEC(struct device_set) set; /* in the selectors' order */
};

/* Reads part numbers if one of the selectors asks for any. Before device_sets_resolve. */
void device_sets_prepare(const struct root *root, struct node *node, const struct selector *sels,
			 size_t n);
/*
 * Resolves all selectors. -EINVAL if `in` names no set or goes round in a circle (the
 * profile's check finds that first). The result points into node and sels.
 */
int device_sets_resolve(const struct node *node, const struct selector *sels, size_t n,
			struct device_sets *ret, struct err *err);
void device_sets_free(struct device_sets *sets);

/*
 * How many members a set must have. Where expect does not say: at least one, if anything in
 * the profile names the set, or if the set protects its members. A set of a node (device_set)
 * may be empty, too, where it is within one that may be absent, and is.
 */
int selector_least(const struct selector *sel);
bool device_set_holds(const struct device_set *set);
/* "8", ">=1"; NULL: any number will do. Caller frees. */
char *device_set_expectation(const struct device_set *set);
/*
 * Of a set whose number of members is not accepted: why, and what to do. For an empty set
 * that names the functions that come nearest: "rails: no function matches pci 15b3:1023;
 * nearest: 15b3:1021 (8)". sels: all selectors of the profile. Caller frees.
 */
char *device_set_fault(const struct node *node, const struct selector *sels, size_t n,
		       const struct device_set *set);
const struct device_set *device_sets_find(const struct device_sets *sets, const char *name);
/* Whether a set of that name ("vfs of SET" too) is there, and empty. */
bool device_sets_lack(const struct device_sets *sets, const char *name);
/* The set's name in "SET" or "vfs of SET": a part of text. */
const char *set_name_in(const char *text, bool *ret_vfs);
/*
 * Whether sel's own predicates (not those of the set that it is in) leave fn out. *why, if
 * not NULL, gets the first that does, with what was found and what was wanted appended.
 */
bool selector_excludes(const struct node *node, const struct selector *sel, const struct pci_fn *fn,
		       struct str *why);
