/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The faults that keep work off a node, each with a code for programs: RH-LAYER-NAME. A code names
 * the fault and never the device; the id and the sentence next to the code name the device.
 *
 * A published code keeps its name and its meaning for ever; a more specific fault gets a new code.
 * docs/faults.md, docs/runbook.md and the entries of the journal's catalog are made from this
 * table.
 */
#pragma once

enum fault {
	FAULT_NONE,
	/* profile: errors of the author of a profile */
	FAULT_PROFILE_NONE,
	FAULT_PROFILE_TWO,
	FAULT_PROFILE_INVALID,
	FAULT_PROFILE_UNKNOWN,
	FAULT_PROFILE_CHANGED,
	FAULT_PROFILE_UNFIT,
	FAULT_PROFILE_CONFLICT,
	FAULT_PROFILE_CHECKS_NOTHING,
	FAULT_PROFILE_EMPTY,
	FAULT_PROFILE_UNREAD,
	/* boot: kernel arguments, boot loader, initramfs */
	FAULT_BOOT_OFF,
	FAULT_BOOT_SPECIAL,
	FAULT_BOOT_ARGS_DIFFER,
	FAULT_BOOT_ARGS_FAILED,
	FAULT_BOOT_ARGS_REJECTED,
	FAULT_BOOT_ARGS_UNFIT,
	FAULT_BOOT_ARGS_LOST,
	FAULT_BOOT_ARGS_CONFLICT,
	FAULT_BOOT_ENV_DAMAGED,
	FAULT_BOOT_NO_LOADER,
	FAULT_BOOT_ENTRIES,
	FAULT_BOOT_COUNTED,
	FAULT_BOOT_SEALED,
	FAULT_BOOT_NO_GATE,
	FAULT_BOOT_LOOP,
	FAULT_BOOT_TRIAL_OPEN,
	/* kernel: its version, modules and values */
	FAULT_KERNEL_VERSION,
	FAULT_KERNEL_STUCK,
	FAULT_KERNEL_MODULE_DIFFERS,
	FAULT_KERNEL_MODULE_FAILED,
	FAULT_KERNEL_MODULE_OPTION,
	FAULT_KERNEL_MODULE_UNWANTED,
	FAULT_KERNEL_MODULE_VERSION,
	FAULT_KERNEL_SYSCTL_DIFFERS,
	FAULT_KERNEL_SYSCTL_FAILED,
	FAULT_KERNEL_SYSFS_DIFFERS,
	FAULT_KERNEL_SYSFS_FAILED,
	/* cpu */
	FAULT_CPU_SOCKETS,
	FAULT_CPU_COUNT,
	FAULT_CPU_VENDOR,
	FAULT_CPU_IRQ_DIFFERS,
	FAULT_CPU_IRQ_FAILED,
	FAULT_CPU_JITTER,
	FAULT_CPU_ISOLATION,
	FAULT_CPU_ISOLATION_CONFLICT,
	FAULT_CPU_SETTING_DIFFERS,
	FAULT_CPU_SETTING_FAILED,
	FAULT_CPU_THROTTLED,
	/* memory */
	FAULT_MEMORY_SETTING_DIFFERS,
	FAULT_MEMORY_SETTING_FAILED,
	FAULT_MEMORY_AMOUNT,
	FAULT_MEMORY_NODES,
	FAULT_MEMORY_PAGES_DIFFER,
	FAULT_MEMORY_PAGES_SHORT,
	FAULT_MEMORY_KUBELET_STATE,
	FAULT_MEMORY_PAGES_FAILED,
	FAULT_MEMORY_BANDWIDTH,
	FAULT_MEMORY_LATENCY,
	FAULT_MEMORY_ERRORS,
	FAULT_MEMORY_CORRECTED,
	/* pci: functions, their links, and the paths between them */
	FAULT_PCI_MISSING,
	FAULT_PCI_TOO_MANY,
	FAULT_PCI_DRIVER,
	FAULT_PCI_GONE,
	FAULT_PCI_LOST,
	FAULT_PCI_UNBOUND,
	FAULT_PCI_RETURNS,
	FAULT_PCI_INCOMPLETE,
	FAULT_PCI_NOT_RESTORED,
	FAULT_PCI_FLAPS,
	FAULT_PCI_FIRMWARE,
	FAULT_PCI_PAIRS,
	FAULT_PCI_ACS,
	FAULT_PCI_LINK_WIDTH,
	FAULT_PCI_LINK_SPEED,
	FAULT_PCI_CARD_LIMIT,
	FAULT_PCI_SLOT_LIMIT,
	FAULT_PCI_PAYLOAD,
	FAULT_PCI_ERRORS,
	FAULT_PCI_CORRECTED,
	FAULT_PCI_IOMMU_GROUP,
	FAULT_PCI_IOMMU_TYPE,
	FAULT_PCI_SETTING_DIFFERS,
	FAULT_PCI_SETTING_FAILED,
	/* nic: ports, their settings, and VFs */
	FAULT_NIC_LINK_WIDTH,
	FAULT_NIC_LINK_SPEED,
	FAULT_NIC_DOWN,
	FAULT_NIC_CARRIER,
	FAULT_NIC_SPEED,
	FAULT_NIC_NETDEV,
	FAULT_NIC_SETTING_DIFFERS,
	FAULT_NIC_SETTING_FAILED,
	FAULT_NIC_QOS_DIFFERS,
	FAULT_NIC_QOS_FAILED,
	FAULT_NIC_VF_ABSENT,
	FAULT_NIC_VF_DIFFERS,
	FAULT_NIC_VF_FAILED,
	/* rdma */
	FAULT_RDMA_DEVICE,
	FAULT_RDMA_SUBNET,
	FAULT_RDMA_LINK,
	FAULT_RDMA_SPEED,
	FAULT_RDMA_SETTING_DIFFERS,
	FAULT_RDMA_SETTING_FAILED,
	FAULT_RDMA_LOOPBACK,
	FAULT_RDMA_PAIRS,
	FAULT_RDMA_DATA,
	FAULT_RDMA_ERRORS,
	FAULT_RDMA_LOSS,
	/* gpu */
	FAULT_GPU_LINK_WIDTH,
	FAULT_GPU_LINK_SPEED,
	FAULT_GPU_DRIVER,
	FAULT_GPU_DIRECT,
	FAULT_GPU_XID,
	FAULT_GPU_NVLINK,
	FAULT_GPU_POWER,
	FAULT_GPU_MEMORY,
	FAULT_GPU_OFF_BUS,
	FAULT_GPU_ECC_OFF,
	FAULT_GPU_CLOCKS,
	FAULT_GPU_FABRIC,
	FAULT_GPU_FABRIC_DOWN,
	FAULT_GPU_FABRIC_HEALTH,
	FAULT_GPU_FABRIC_CLIQUE,
	FAULT_GPU_NOT_SHOWN,
	FAULT_GPU_MIG,
	FAULT_GPU_WORN,
	FAULT_GPU_HEALTH,
	FAULT_GPU_COPY,
	FAULT_GPU_PEER,
	FAULT_GPU_RDMA,
	/* storage */
	FAULT_STORAGE_QUEUE_DIFFERS,
	FAULT_STORAGE_QUEUE_FAILED,
	FAULT_STORAGE_DISK_ABSENT,
	FAULT_STORAGE_MOUNT_DIFFERS,
	FAULT_STORAGE_MOUNT_FAILED,
	FAULT_STORAGE_READ,
	FAULT_STORAGE_FAILING,
	FAULT_STORAGE_HOT,
	FAULT_STORAGE_WORN,
	/* host: installed software, and other programs */
	FAULT_HOST_CONF,
	FAULT_HOST_LIBRARY,
	FAULT_HOST_RECORD,
	FAULT_HOST_UNDONE,
	FAULT_HOST_GONE,
	FAULT_HOST_FLAPS,
	FAULT_HOST_LIMIT_DIFFERS,
	FAULT_HOST_LIMIT_PROCESS,
	FAULT_HOST_LIMIT_FAILED,
	FAULT_HOST_MEMLOCK,
	FAULT_HOST_COMMAND,
	/* gate: the judgement */
	FAULT_GATE_UNJUDGED,
	FAULT_GATE_AT_WORK,
	FAULT_GATE_KILLED,
	FAULT_GATE_STOPPED,
	FAULT_GATE_UNFINISHED,
	FAULT_GATE_FAILED,
	FAULT_GATE_WAIT_OVER,
	FAULT_GATE_STAGE_TIME,
	FAULT_GATE_CALIBRATION,
	FAULT_GATE_INTERMITTENT,
	FAULT_GATE_DISTURBED,
	FAULT_GATE_NOT_YET,
	FAULT_GATE_CANNOT_LOOK,
	FAULT_GATE_LOG_LOST,
	FAULT_GATE_CANNOT_MEASURE,
	FAULT_GATE_UNSUPPORTED,
	FAULT_GATE_PROGRAM,
	FAULT_COUNT,
};

enum { FAULT_CODE_MAX = 27 }; /* characters */

/* The action that corrects a fault. */
enum fault_action {
	ACTION_RETRY,	    /* run railhead again, or let it run again */
	ACTION_REBOOT,	    /* reboot the node, or reset the part */
	ACTION_POWER_CYCLE, /* power-cycle the node, because a reboot keeps the power on */
	ACTION_RESEAT,	    /* reseat a card, a cable or a DIMM by hand in the data centre */
	ACTION_REPLACE,	    /* replace a part */
	ACTION_PROFILE,	    /* the author changes the profile */
	ACTION_SITE, /* change the image, the BIOS, the fabric, or another program on the node */
	ACTION_COUNT,
};

/* When a person may admit work in spite of the fault (`railhead admit`). */
enum fault_admit {
	ADMIT_WAIT,    /* unnecessary: the next look may find the node fit */
	ADMIT_SETTING, /* for work that does not depend on the value that differs */
	ADMIT_SPEED,   /* for work of only this node: other nodes would wait for the slow node */
	ADMIT_PART,    /* for work that does not use the part */
	ADMIT_CHECKED, /* after a person has checked by hand */
	ADMIT_NEVER,
	ADMIT_COUNT,
};

struct fault_row {
	const char *code;
	enum fault_action action;
	enum fault_admit admit;
	/* A command that shows the fault; words in capitals stand for names in the reason. */
	const char *look;
	const char *meaning; /* sentences */
	const char *remedy;  /* sentences; the remedy of a reason may be more specific */
};

/* The row of any fault except FAULT_NONE. */
const struct fault_row *fault_row(enum fault f);
/* NULL for FAULT_NONE. */
const char *fault_code(enum fault f);
/* The fault that needs more effort to correct: hands, tools or parts; a if both are equal. */
enum fault fault_graver(enum fault a, enum fault b);
/* FAULT_NONE if no fault has that code. */
enum fault fault_parse(const char *code);
/* "nic": the part of the code between its first two hyphens, in lower case. Caller frees. */
char *fault_layer(enum fault f);
/* "power-cycle" */
const char *fault_action_name(enum fault_action a);
/* "reboot the node, or reset the part" */
const char *fault_action_meaning(enum fault_action a);
/* "speed" */
const char *fault_admit_name(enum fault_admit a);
/* "for work on this node alone that needs less speed" */
const char *fault_admit_meaning(enum fault_admit a);
