/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Items of kind check: read-only checks. on.name is the address of a function unless stated
 * otherwise. Items that belong to one check of the gate are in checks/.
 */
#pragma once

#include "kinds/target.h"

/* check.c: for topology, which the section has judged already */
extern const struct target_item given_item;
/*
 * The exact number of huge pages. The change has a part: its name is the directory of the page size
 * ("hugepages-1048576kB"), its index the NUMA node.
 */
extern const struct target_item pages_item;
/*
 * on.name: a module, on.key: its parameter, if sysfs shows the parameter. The wanted value is a
 * text.
 */
extern const struct target_item param_item;
/* on.name: a module that must be neither live nor built in */
extern const struct target_item unloaded_item;
/*
 * on.name: a module; for firmware_version_item, a function. The wanted value is a version
 * (COMPARE_VERSION).
 */
extern const struct target_item driver_version_item, firmware_version_item;

/*
 * check_kargs.c. on.name: an argument that the kernel of this boot was given and that no other
 * argument overrides
 */
extern const struct target_item arrived_item;
/*
 * Whether the menu entries still use railhead's variable. This matters only to the next boot, and
 * only where GRUB reads railhead's file: a network boot has no menu entries.
 */
extern const struct target_item entries_item;

/*
 * check_kubelet.c. The change has a part for each pool on each NUMA node: its name is the resource
 * ("hugepages-1Gi"), its index the node, its wanted value a number of bytes.
 */
#define KUBELET_STATE "/var/lib/kubelet/memory_manager_state"
extern const struct target_item kubelet_state_item;

/*
 * check_isolation.c. on.node: kernel_args.isolate_cpus of the profile. These CPUs must be among the
 * CPUs of isolcpus= and of nohz_full= in this boot, and must not serve unbound workqueues.
 */
extern const struct target_item isolated_item, tickless_item, workqueues_item;

/*
 * check_cpu_files.c. on.node: the same. The files of kubelet, systemd and tuned must agree with
 * isolate_cpus.
 */
extern const struct target_item kubelet_cpus_item, systemd_cpus_item, tuned_cpus_item;
/* Whether the files that item checks have anything to compare. */
bool cpu_files_say(const struct root *root, const struct target_item *item);

/*
 * check_payload.c: the payload of a packet must be at least the wanted value, which is a code of
 * the registers: 0 is 128 bytes, 5 is 4096
 */
extern const struct target_item pcie_payload_item;

/*
 * check_p2p.c. on.name: a NIC; the path between the NIC and its GPU must match the wish. The parts
 * are all pairs with this wish (in turn the NIC, the mover of its data and the GPU), since one
 * kernel argument names the bridges of all pairs.
 */
enum p2p_wish {
	P2P_WISH_DIRECT,     /* no bridge between them sends their traffic to the root complex */
	P2P_WISH_TRANSLATED, /* isolated, except for traffic that the IOMMU has translated for the
				NIC */
	P2P_WISH_ISOLATED,   /* all traffic between them passes the IOMMU */
};
extern const struct target_item p2p_item;

/*
 * limit.c. on.name: a service, each of whose processes must be able to lock at least the wanted
 * amount of memory: a number of bytes, or a word for unlimited
 */
extern const struct target_item unit_memlock_item;
