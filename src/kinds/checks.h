/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Items of kind check: facts that are judged and never set. on.name is the address of a function
 * where nothing else is said. Those of one check of the gate are in checks/.
 */
#pragma once

#include "kinds/target.h"

/* check.c: the section has judged topology already */
extern const struct target_item given_item;
/* How many pages there are, neither more nor less. A part: its name is the size's directory
 * ("hugepages-1048576kB"), its index the NUMA node. */
extern const struct target_item pages_item;
/* on.name: a module, on.key: its parameter, where the module shows it; a text is wanted */
extern const struct target_item param_item;
/* on.name: a module that is not live */
extern const struct target_item unloaded_item;
/* on.name: a module; and of a function. A version is wanted (COMPARE_VERSION). */
extern const struct target_item driver_version_item, firmware_version_item;

/* check_kargs.c. on.name: an argument that the kernel of this boot was given, and nothing
 * overrides it */
extern const struct target_item arrived_item;
/*
 * Menu entries still take railhead's variable: that matters only to the next boot, and only where
 * GRUB reads railhead's file at all, since a network boot has no such entries.
 */
extern const struct target_item entries_item;

/*
 * check_kubelet.c. A part for each pool on each NUMA node: its name is the resource's
 * ("hugepages-1Gi"), its index the node, a number of bytes is wanted.
 */
#define KUBELET_STATE "/var/lib/kubelet/memory_manager_state"
extern const struct target_item kubelet_state_item;

/*
 * check_isolation.c. on.node: kernel_args.isolate_cpus of the profile. Its CPUs are among those
 * of isolcpus= and of nohz_full= in this boot, and none of them serves unbound workqueues.
 */
extern const struct target_item isolated_item, tickless_item, workqueues_item;

/*
 * check_cpu_files.c. on.node: the same. The files of kubelet, of systemd and of tuned agree with
 * it.
 */
extern const struct target_item kubelet_cpus_item, systemd_cpus_item, tuned_cpus_item;
/* Whether the files of that one of these say anything of CPUs. */
bool cpu_files_say(const struct root *root, const struct target_item *item);

/* check_payload.c: at least that payload of a packet, by its code in the registers: 0 is 128 bytes,
 * 5 is 4096 */
extern const struct target_item pcie_payload_item;

/*
 * check_p2p.c. on.name: a NIC; the way between it and its GPU is as wanted. The parts are all pairs
 * that are wanted so, by turns a NIC and its GPU, since one kernel argument names the bridges of
 * all.
 */
enum p2p_wish {
	P2P_WISH_DIRECT,     /* no bridge between them sends their traffic to the root complex */
	P2P_WISH_TRANSLATED, /* isolated, but for what the IOMMU has translated for the NIC */
	P2P_WISH_ISOLATED,   /* all that they send each other passes the IOMMU */
};
extern const struct target_item p2p_item;

/* limit.c. on.name: a service; a word is unlimited, or so many bytes: each of its processes may
 * lock them at least */
extern const struct target_item unit_memlock_item;
