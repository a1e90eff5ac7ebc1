/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/fault.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static const struct {
	const char *name, *meaning;
} actions[] = {
	[ACTION_RETRY] = {"retry", "railhead looks again by itself, or a person runs it again"},
	[ACTION_REBOOT] = {"reboot", "reboot the node, or reset the part"},
	[ACTION_POWER_CYCLE] = {"power-cycle", "switch the node's power off and on"},
	[ACTION_RESEAT] = {"reseat", "reseat or check a card, a cable or a DIMM"},
	[ACTION_REPLACE] = {"replace", "replace a part"},
	[ACTION_PROFILE] = {"profile", "change the profile"},
	[ACTION_SITE] = {"site",
			 "change the image, the BIOS, the fabric or other programs on the node"},
};

static const struct {
	const char *name, *meaning;
} admits[] = {
	[ADMIT_WAIT] = {"wait", "railhead judges again by itself"},
	[ADMIT_SETTING] = {"setting", "for work that does not depend on the setting"},
	[ADMIT_SPEED] = {"speed", "for work on this node alone that needs less speed"},
	[ADMIT_PART] = {"part", "for work that does not use the part"},
	[ADMIT_CHECKED] = {"checked", "after a person has checked what railhead could not"},
	[ADMIT_NEVER] = {"never", "work can lose or damage data, or hang"},
};

#define APPLY "Run `railhead apply` and `railhead gate`."
#define CONTENDED                                                                     \
	APPLY " If the value differs again, another program sets it: look for it in " \
	      "sysctl.d, udev rules, tuned and the network manager."
#define SEE_REASON "The reason names the kernel object and its error."
#define SLOW_HERE "The reason names what may cause it."

#define F(fault, code, action, admit, look, meaning, remedy) \
	[FAULT_##fault] = {code, ACTION_##action, ADMIT_##admit, look, meaning, remedy}

static const struct fault_row rows[] = {
	F(PROFILE_NONE, "RH-PROFILE-NONE", PROFILE, CHECKED, "railhead match --explain",
	  "No profile matches the node.",
	  "`railhead match --explain` names the condition on which each profile fails. Install the "
	  "profile of this SKU, or correct its match."),
	F(PROFILE_TWO, "RH-PROFILE-TWO", PROFILE, CHECKED, "railhead match --explain",
	  "Two or more profiles match the node.",
	  "Narrow the match of one profile, or pin one by railhead.profile=NAME on the kernel "
	  "command "
	  "line."),
	F(PROFILE_INVALID, "RH-PROFILE-INVALID", PROFILE, CHECKED, "railhead check",
	  "The profile has errors.", "`railhead check` lists all errors, each with its line."),
	F(PROFILE_UNKNOWN, "RH-PROFILE-UNKNOWN", PROFILE, CHECKED, "railhead show",
	  "railhead cannot use the profile that railhead.profile= or --profile names.",
	  "`railhead show` lists the profiles of the node; an abstract profile is a base for "
	  "others."),
	F(PROFILE_CHANGED, "RH-PROFILE-CHANGED", REBOOT, CHECKED, "railhead status --all",
	  "The profile is not the one that this boot began with.",
	  "Reboot, or act on the new profile in this boot: run `railhead apply` and `railhead "
	  "gate` by hand."),
	F(PROFILE_UNFIT, "RH-PROFILE-UNFIT", PROFILE, CHECKED, "railhead plan",
	  "railhead cannot make a plan from the profile on this node.",
	  "Correct the profile; `railhead plan` prints the same error."),
	F(PROFILE_CONFLICT, "RH-PROFILE-CONFLICT", PROFILE, SETTING, "railhead plan",
	  "Two sections of the profile require different values of one file, so that railhead sets "
	  "neither.",
	  "Remove one of the two lines that the reason names."),
	F(PROFILE_CHECKS_NOTHING, "RH-PROFILE-CHECKS-NOTHING", PROFILE, CHECKED,
	  "railhead match --explain", "A check of the gate has no device to check on this node.",
	  "Correct the check's set, or remove the check."),
	F(PROFILE_EMPTY, "RH-PROFILE-EMPTY", PROFILE, CHECKED, "railhead show --resolved",
	  "The profile has no setting and no check for the node.",
	  "Write what the node must have, at least expect: and the checks of the gate."),
	F(PROFILE_UNREAD, "RH-PROFILE-UNREAD", PROFILE, CHECKED, "railhead check --root /",
	  "A file looks like a profile or a drop-in, and no boot reads the file: its name has "
	  "another ending, or its directory belongs to no profile.",
	  "Rename the file or its directory, or remove the file."),

	F(BOOT_OFF, "RH-BOOT-OFF", SITE, CHECKED, "cat /proc/cmdline",
	  "railhead=off is on the kernel command line.",
	  "Remove the argument and reboot; admit_off in railhead.conf admits work on such nodes."),
	F(BOOT_SPECIAL, "RH-BOOT-SPECIAL", SITE, CHECKED, "cat /proc/cmdline",
	  "This boot is a rescue, crash dump, live or container boot, in which railhead does "
	  "nothing.",
	  "End the maintenance, then boot the installed system."),
	F(BOOT_ARGS_DIFFER, "RH-BOOT-ARGS-DIFFER", REBOOT, SETTING, "railhead kargs",
	  "This boot lacks kernel arguments of the profile, or has others of railhead's: a reboot "
	  "is due.",
	  "Wait while the reason says what the gate waits for; the gate then reboots the node into "
	  "a trial. Where railhead.conf says reboot: false, or after a gate by hand, reboot it "
	  "yourself. `railhead kargs` shows the arguments of this boot and the next."),
	F(BOOT_ARGS_FAILED, "RH-BOOT-ARGS-FAILED", SITE, SETTING, "railhead kargs",
	  "railhead could not read or write the kernel arguments of the next boot.",
	  "Mend the file or the boot partition that the reason names, then run `railhead gate`."),
	F(BOOT_ARGS_REJECTED, "RH-BOOT-ARGS-REJECTED", PROFILE, SETTING, "railhead kargs",
	  "Boots with the profile's kernel arguments ended without a verdict, and the boot loader "
	  "went back to the arguments before.",
	  "Correct kernel_args and the profile's version, or mend the cause and run `railhead "
	  "apply --retry` and `railhead gate`."),
	F(BOOT_ARGS_UNFIT, "RH-BOOT-ARGS-UNFIT", PROFILE, SETTING, "railhead kargs",
	  "An item failed in a boot with the profile's kernel arguments that held without them, "
	  "and the boot loader goes back to the arguments before.",
	  "Correct kernel_args and the profile's version, or mend what the reason names and run "
	  "`railhead apply --retry` and `railhead gate`."),
	F(BOOT_ARGS_LOST, "RH-BOOT-ARGS-LOST", SITE, SETTING, "railhead kargs",
	  "The boot loader was given the profile's kernel arguments, and this boot lacks one or "
	  "more of them.",
	  "Check that the menu entry has $railhead_kargs (the snippet of the package, "
	  "grub-mkconfig), and that no later argument overrides one of them; then run `railhead "
	  "apply --retry` and `railhead gate`."),
	F(BOOT_ARGS_CONFLICT, "RH-BOOT-ARGS-CONFLICT", SITE, SETTING, "railhead kargs",
	  "A kernel argument of the profile contradicts one of the image, both together make the "
	  "command line too long, or GRUB would parse a part of one as a script.",
	  "Remove arguments from the boot loader's configuration (/etc/default/grub, grubby), or "
	  "from the profile."),
	F(BOOT_ENV_DAMAGED, "RH-BOOT-ENV-DAMAGED", SITE, SETTING, "railhead kargs",
	  "The file that passes kernel arguments to the boot loader is damaged, and this boot "
	  "lacks one or more of them.",
	  "Mend what the reason names, run `railhead kargs --reset`, then `railhead gate`."),
	F(BOOT_NO_LOADER, "RH-BOOT-NO-LOADER", SITE, SETTING, "railhead kargs",
	  "railhead cannot bring kernel arguments to the next boot: it does not know the boot "
	  "loader, or a failed boot would have no way back.",
	  "Write the arguments into the image: `railhead kargs --format line` prints them."),
	F(BOOT_ENTRIES, "RH-BOOT-ENTRIES", SITE, SETTING, "railhead verify",
	  "A menu entry of the boot loader does not pass railhead's arguments: the next boot may "
	  "lack them.",
	  "Write the boot loader's menu again (grub-mkconfig, grubby)."),
	F(BOOT_COUNTED, "RH-BOOT-COUNTED", RETRY, WAIT, "railhead kargs",
	  "An update of the operating system is not confirmed yet, the next boot is to install one "
	  "or to label files again, or a boot loader counts this boot, so that a reboot by "
	  "railhead could undo or cut the work.",
	  "Let the updater confirm this boot or do its work before anything else reboots the node: "
	  "the gate of the first boot that nothing else needs tries the kernel arguments."),
	F(BOOT_SEALED, "RH-BOOT-SEALED", SITE, SETTING, "railhead kargs",
	  "The TPM gives out the key of a disk only while PCRs keep their values that kernel "
	  "arguments change: other arguments would lock the disk.",
	  "Bind the key to other PCRs, such as 7 (systemd-cryptenroll, clevis luks edit), then run "
	  "`railhead gate`."),
	F(BOOT_NO_GATE, "RH-BOOT-NO-GATE", SITE, SETTING, "systemctl status railhead-gate.service",
	  "The gate's unit is masked or has not run in this boot, so that no boot would judge a "
	  "trial of kernel arguments: railhead arms none.",
	  "Unmask the unit, or enable railhead-early.service, railhead-devices.service and "
	  "railhead-ready.target, and reboot; where railhead was installed in this boot, reboot."),
	F(BOOT_LOOP, "RH-BOOT-LOOP", SITE, SETTING, "last -x reboot",
	  "railhead has rebooted the node for kernel arguments again and again without a settled "
	  "verdict: it does not reboot again.",
	  "Find the program that undoes railhead's writes (a disk or an EFI system partition that "
	  "is restored), or the arguments that differ from boot to boot, then run `railhead apply "
	  "--retry` and `railhead gate`."),
	F(BOOT_TRIAL_OPEN, "RH-BOOT-TRIAL-OPEN", SITE, SETTING, "findmnt /boot",
	  "A trial of kernel arguments could not be armed, or its outcome could not be recorded, "
	  "so that the next boot may have the arguments before.",
	  "Mend the file system that the reason names, then run `railhead gate`."),

	F(KERNEL_VERSION, "RH-KERNEL-VERSION", SITE, SETTING, "uname -r",
	  "The running kernel is not of the version that the profile requires.",
	  "Install that kernel, or boot it."),
	F(KERNEL_STUCK, "RH-KERNEL-STUCK", REBOOT, NEVER,
	  "journalctl -k -b -g 'blocked for more than'",
	  "The kernel did not answer within the time: a driver hangs, or holds a lock that others "
	  "wait for.",
	  "Read the kernel log; a driver that hangs keeps its lock until the node reboots."),
	F(KERNEL_MODULE_DIFFERS, "RH-KERNEL-MODULE-DIFFERS", RETRY, SETTING, "lsmod",
	  "A kernel module that the profile requires is not loaded.",
	  APPLY " If the module is required alone, name it in modules.load."),
	F(KERNEL_MODULE_FAILED, "RH-KERNEL-MODULE-FAILED", SITE, SETTING,
	  "journalctl -k -b -g MODULE", "A kernel module of the profile could not be loaded.",
	  "Install the module for the running kernel; the kernel log says why it rejected an "
	  "installed module."),
	F(KERNEL_MODULE_OPTION, "RH-KERNEL-MODULE-OPTION", SITE, SETTING,
	  "grep -r . /sys/module/MODULE/parameters",
	  "An option of a kernel module differs from the profile.",
	  "Put railhead into the initramfs (dracut --force, update-initramfs -u), and reboot."),
	F(KERNEL_MODULE_UNWANTED, "RH-KERNEL-MODULE-UNWANTED", SITE, SETTING, "lsmod",
	  "A module of the profile's blacklist is loaded, or built into the kernel.",
	  "Find what loads the module by name, put railhead into the initramfs, and reboot; "
	  "initcall_blacklist= disables a built-in module."),
	F(KERNEL_MODULE_VERSION, "RH-KERNEL-MODULE-VERSION", SITE, SETTING,
	  "cat /sys/module/MODULE/version",
	  "A driver is not of the version that the profile requires.",
	  "Install that driver in the image."),
	F(KERNEL_SYSCTL_DIFFERS, "RH-KERNEL-SYSCTL-DIFFERS", RETRY, SETTING, "railhead why KEY",
	  "A sysctl differs from the profile.", CONTENDED),
	F(KERNEL_SYSCTL_FAILED, "RH-KERNEL-SYSCTL-FAILED", PROFILE, SETTING, "sysctl KEY",
	  "A sysctl of the profile could not be set.", SEE_REASON " Correct the profile."),
	F(KERNEL_SYSFS_DIFFERS, "RH-KERNEL-SYSFS-DIFFERS", RETRY, SETTING, "railhead why PATH",
	  "A file of sysfs differs from the profile.", CONTENDED),
	F(KERNEL_SYSFS_FAILED, "RH-KERNEL-SYSFS-FAILED", PROFILE, SETTING, "cat PATH",
	  "A value of section sysfs could not be set.", SEE_REASON " Correct the profile."),

	F(CPU_SOCKETS, "RH-CPU-SOCKETS", RESEAT, PART, "lscpu",
	  "The number of CPU sockets differs from the profile.",
	  "Look for a CPU that is missing or disabled in the BMC's inventory."),
	F(CPU_COUNT, "RH-CPU-COUNT", SITE, PART, "lscpu -e",
	  "The number of CPUs differs from the profile.",
	  "Compare SMT and the number of cores in the BIOS with a good node."),
	F(CPU_VENDOR, "RH-CPU-VENDOR", PROFILE, CHECKED, "lscpu",
	  "The vendor of the CPU differs from the profile.",
	  "This is another SKU: correct the match of the profile."),
	F(CPU_IRQ_DIFFERS, "RH-CPU-IRQ-DIFFERS", RETRY, SETTING,
	  "grep . /proc/irq/*/smp_affinity_list",
	  "The CPUs of a device's interrupts differ from the profile.",
	  APPLY " irqbalance may have moved them: the package's policy script keeps it off them."),
	F(CPU_IRQ_FAILED, "RH-CPU-IRQ-FAILED", PROFILE, SETTING,
	  "grep . /proc/irq/*/smp_affinity_list", "Interrupts of a device could not be moved.",
	  SEE_REASON " Correct section irq."),
	F(CPU_JITTER, "RH-CPU-JITTER", SITE, SPEED,
	  "grep . /sys/devices/system/cpu/cpu*/cpuidle/state*/usage",
	  "A CPU that is kept for work was interrupted for too long.",
	  SLOW_HERE " Compare the BIOS (SMIs, C-states) with a good node."),
	F(CPU_ISOLATION, "RH-CPU-ISOLATION", SITE, SETTING, "cat /sys/devices/system/cpu/isolated",
	  "The CPUs that the kernel isolates differ from the profile.",
	  "Read the lines with 'Housekeeping' in the kernel log, and look for a program that "
	  "changes the masks."),
	F(CPU_ISOLATION_CONFLICT, "RH-CPU-ISOLATION-CONFLICT", SITE, SETTING,
	  "cat /sys/devices/system/cpu/isolated",
	  "A file of kubelet, systemd or tuned contradicts the profile on the isolated CPUs.",
	  "The reason names both files: make the two agree."),
	F(CPU_SETTING_DIFFERS, "RH-CPU-SETTING-DIFFERS", RETRY, SETTING, "railhead verify",
	  "A setting of the CPUs differs from the profile.", CONTENDED),
	F(CPU_SETTING_FAILED, "RH-CPU-SETTING-FAILED", PROFILE, SETTING, "railhead verify",
	  "A value of section cpu could not be set.", SEE_REASON " Correct the profile."),
	F(CPU_THROTTLED, "RH-CPU-THROTTLED", SITE, SPEED,
	  "grep . /sys/devices/system/cpu/cpu*/thermal_throttle/*_count",
	  "A CPU slowed itself down against its own heat.",
	  "Check fans, air flow, heat sinks and the BMC's log."),

	F(MEMORY_SETTING_DIFFERS, "RH-MEMORY-SETTING-DIFFERS", RETRY, SETTING, "railhead verify",
	  "A setting of the memory management differs from the profile.", CONTENDED),
	F(MEMORY_SETTING_FAILED, "RH-MEMORY-SETTING-FAILED", PROFILE, SETTING, "railhead verify",
	  "A value of section memory could not be set.", SEE_REASON " Correct the profile."),
	F(MEMORY_AMOUNT, "RH-MEMORY-AMOUNT", RESEAT, PART, "dmidecode -t memory",
	  "The amount of memory differs from the profile.",
	  "Look for a DIMM that is missing or disabled: `dmidecode -t memory` and the BMC's log."),
	F(MEMORY_NODES, "RH-MEMORY-NODES", SITE, SETTING, "lscpu",
	  "The number of NUMA nodes differs from the profile.",
	  "Correct the BIOS option (NPS, SNC, interleaving)."),
	F(MEMORY_PAGES_DIFFER, "RH-MEMORY-PAGES-DIFFER", RETRY, SETTING,
	  "grep . /sys/devices/system/node/node*/hugepages/*/nr_hugepages",
	  "The number of huge pages of a NUMA node differs from the profile.", APPLY),
	F(MEMORY_PAGES_SHORT, "RH-MEMORY-PAGES-SHORT", PROFILE, SETTING,
	  "journalctl -k -b -g HugeTLB",
	  "The number of huge pages that a NUMA node got from the kernel arguments differs from "
	  "the profile.",
	  "Require fewer pages, or fit more memory on that node; the kernel log (HugeTLB) says how "
	  "many it found."),
	F(MEMORY_KUBELET_STATE, "RH-MEMORY-KUBELET-STATE", SITE, SETTING,
	  "cat /var/lib/kubelet/memory_manager_state",
	  "The huge pages in the state of the kubelet's memory manager differ from the profile: "
	  "the kubelet will not start.",
	  "Drain the node, stop the kubelet and remove /var/lib/kubelet/memory_manager_state."),
	F(MEMORY_PAGES_FAILED, "RH-MEMORY-PAGES-FAILED", PROFILE, SETTING,
	  "grep . /sys/devices/system/node/node*/hugepages/*/free_hugepages",
	  "Huge pages could not be made.",
	  SEE_REASON " After `railhead apply` by hand, reboot: early in the boot, memory is not "
		     "fragmented. Otherwise require fewer pages."),
	F(MEMORY_BANDWIDTH, "RH-MEMORY-BANDWIDTH", RESEAT, SPEED, "dmidecode -t memory",
	  "Memory of a NUMA node is slower than required.",
	  SLOW_HERE " Look for a DIMM or channel that is missing, and for a lower memory clock."),
	F(MEMORY_LATENCY, "RH-MEMORY-LATENCY", SITE, SPEED, "dmidecode -t memory",
	  "Memory answers later than required.", SLOW_HERE " Compare the BIOS with a good node."),
	F(MEMORY_ERRORS, "RH-MEMORY-ERRORS", REPLACE, NEVER,
	  "grep . /sys/devices/system/edac/mc/mc*/dimm*/dimm_ue_count",
	  "The memory had errors that ECC could not correct.",
	  "Replace the DIMM that the reason names; where it names none, read the BMC's log."),
	F(MEMORY_CORRECTED, "RH-MEMORY-CORRECTED", RESEAT, NEVER,
	  "grep . /sys/devices/system/edac/mc/mc*/dimm*/dimm_ce_count",
	  "The memory has more errors that ECC corrected than allowed.",
	  "Reseat the DIMM that the reason names; replace it if the errors come again."),

	F(PCI_MISSING, "RH-PCI-MISSING", RESEAT, PART, "railhead survey",
	  "A device set has fewer members than the profile expects.",
	  "Reseat the card that the reason names, or power-cycle the node; replace a card that "
	  "stays "
	  "away. Where no earlier boot had the card, compare `lspci` with a good node; on a new "
	  "SKU "
	  "compare the predicates of the set."),
	F(PCI_TOO_MANY, "RH-PCI-TOO-MANY", PROFILE, CHECKED, "railhead survey",
	  "A device set has more members than the profile expects.",
	  "Describe the set more narrowly, or expect more."),
	F(PCI_DRIVER, "RH-PCI-DRIVER", SITE, PART, "lspci -k -s ADDRESS",
	  "A device has no driver, or one that does not offer what the profile requires.",
	  "Load the driver (modules.load); the kernel log says why a driver rejected the device."),
	F(PCI_GONE, "RH-PCI-GONE", POWER_CYCLE, PART, "journalctl -k -b -g 'AER|DPC|pciehp'",
	  "A device left the bus while railhead worked on it.",
	  "Read the kernel log (AER, DPC, pciehp). Power-cycle the node, and reseat the card if it "
	  "leaves again."),
	F(PCI_LOST, "RH-PCI-LOST", POWER_CYCLE, PART, "journalctl -k -b -g 'AER|DPC|pciehp'",
	  "A device left the bus after the node was ready.",
	  "railhead applies the profile by itself if the device comes back. Read the kernel log "
	  "(AER, DPC, pciehp); if the device stays away, end the work on the node and power-cycle "
	  "it."),
	F(PCI_UNBOUND, "RH-PCI-UNBOUND", RETRY, PART, "lspci -k -s ADDRESS",
	  "A device lost its driver after the node was ready.",
	  "railhead applies the profile by itself when the driver is back: see what unloaded or "
	  "unbound it."),
	F(PCI_RETURNS, "RH-PCI-RETURNS", RETRY, WAIT, "railhead status --watch",
	  "A device was lost after the node was ready, and is coming back.",
	  "railhead applies the profile by itself; wait."),
	F(PCI_INCOMPLETE, "RH-PCI-INCOMPLETE", REBOOT, PART, "lspci -k -s ADDRESS",
	  "A device is back, and its driver did not make its network or RDMA device.",
	  "Read the kernel log, then run `railhead apply --device ADDRESS`, or reboot."),
	F(PCI_NOT_RESTORED, "RH-PCI-NOT-RESTORED", REBOOT, PART, "railhead status --all",
	  "A device is back, and not all of the profile could be applied to it again.",
	  "Mend the other failures, then run `railhead apply --device ADDRESS`, or reboot."),
	F(PCI_FLAPS, "RH-PCI-FLAPS", RESEAT, PART, "journalctl -k -b -g ADDRESS",
	  "A device came and went too often within ten minutes.",
	  "See whether a program reloads the driver again and again. If not, reseat the card, and "
	  "replace it if it goes on; then run `railhead apply` and `railhead gate`."),
	F(PCI_FIRMWARE, "RH-PCI-FIRMWARE", SITE, SETTING, "devlink dev info pci/ADDRESS",
	  "The firmware of a device differs from the profile.",
	  "Flash the firmware that the profile requires."),
	F(PCI_PAIRS, "RH-PCI-PAIRS", SITE, SPEED, "railhead survey",
	  "A NIC has no GPU of its own as near as the profile requires.",
	  "Move cards to the slots of the SKU; `railhead survey` shows all pairs."),
	F(PCI_ACS, "RH-PCI-ACS", PROFILE, SPEED, "lspci -vv -s ADDRESS",
	  "The PCIe path between a NIC and its GPU differs from pairs.p2p of the profile.",
	  "Set ACS of the bridges that the reason names, by kernel_args.set as it says or in the "
	  "BIOS; docs/p2p.md explains the choice."),
	F(PCI_LINK_WIDTH, "RH-PCI-LINK-WIDTH", RESEAT, SPEED, "lspci -vv -s ADDRESS",
	  "The PCIe link of a device has fewer lanes than required.",
	  "Reseat the device; check the slot and the BIOS bifurcation."),
	F(PCI_LINK_SPEED, "RH-PCI-LINK-SPEED", RESEAT, SPEED, "lspci -vv -s ADDRESS",
	  "The PCIe link of a device trained to a lower speed than required.",
	  "Reseat the device; check the riser and the BIOS link speed."),
	F(PCI_CARD_LIMIT, "RH-PCI-CARD-LIMIT", PROFILE, SPEED, "lspci -vv -s ADDRESS",
	  "A card is not capable of the PCIe width or speed that the profile requires.",
	  "Correct the profile if the card is the right one; else fit the SKU's card."),
	F(PCI_SLOT_LIMIT, "RH-PCI-SLOT-LIMIT", SITE, SPEED, "lspci -tv",
	  "The port above a card is not capable of the PCIe width or speed that the profile "
	  "requires.",
	  "Move the card to another slot, or correct the BIOS bifurcation and link speed."),
	F(PCI_PAYLOAD, "RH-PCI-PAYLOAD", SITE, SPEED, "lspci -vv -s ADDRESS",
	  "The PCIe payload of a device is smaller than required.",
	  "Correct the BIOS option for the payload size, or pci= on the kernel command line."),
	F(PCI_ERRORS, "RH-PCI-ERRORS", RESEAT, NEVER,
	  "grep . /sys/bus/pci/devices/ADDRESS/aer_dev_nonfatal "
	  "/sys/bus/pci/devices/ADDRESS/aer_dev_fatal",
	  "A device has had uncorrected PCIe errors since boot.",
	  "Reseat the card and its riser; replace the card if errors come again."),
	F(PCI_CORRECTED, "RH-PCI-CORRECTED", RESEAT, SPEED,
	  "cat /sys/bus/pci/devices/ADDRESS/aer_dev_correctable",
	  "A device has had more corrected PCIe errors since boot than allowed.",
	  "Reseat the card and its riser; replace the card if errors come again."),
	F(PCI_IOMMU_GROUP, "RH-PCI-IOMMU-GROUP", SITE, SETTING,
	  "ls /sys/bus/pci/devices/ADDRESS/iommu_group/devices",
	  "A device has no IOMMU group, or shares one.",
	  "Switch the IOMMU on in the BIOS and by kernel_args.iommu; a shared group needs ACS on "
	  "the bridges above."),
	F(PCI_IOMMU_TYPE, "RH-PCI-IOMMU-TYPE", PROFILE, SETTING,
	  "cat /sys/bus/pci/devices/ADDRESS/iommu_group/type",
	  "The type of a device's IOMMU domain differs from the profile.",
	  "Correct kernel_args.iommu of the profile."),
	F(PCI_SETTING_DIFFERS, "RH-PCI-SETTING-DIFFERS", RETRY, SETTING, "lspci -vv -s ADDRESS",
	  "A setting of section pcie differs from the profile.", CONTENDED),
	F(PCI_SETTING_FAILED, "RH-PCI-SETTING-FAILED", PROFILE, SETTING, "lspci -vv -s ADDRESS",
	  "A setting of section pcie could not be set.", SEE_REASON " Correct the profile."),

	F(NIC_LINK_WIDTH, "RH-NIC-LINK-WIDTH", RESEAT, SPEED, "lspci -vv -s ADDRESS",
	  "The PCIe link of a NIC has fewer lanes than required.",
	  "Reseat the card; check the slot and the BIOS bifurcation."),
	F(NIC_LINK_SPEED, "RH-NIC-LINK-SPEED", RESEAT, SPEED, "lspci -vv -s ADDRESS",
	  "The PCIe link of a NIC trained to a lower speed than required.",
	  "Reseat the card; check the riser and the BIOS link speed."),
	F(NIC_DOWN, "RH-NIC-DOWN", SITE, PART, "ip link show NETDEV",
	  "A port is administratively down.",
	  "Bring the port up: link.SET.up of the profile, or the network manager of the node."),
	F(NIC_CARRIER, "RH-NIC-CARRIER", RESEAT, PART, "ethtool NETDEV",
	  "A port is up, and has no carrier.",
	  "Check the cable, the switch port, and speed and FEC of both ends; then replace the "
	  "transceiver."),
	F(NIC_SPEED, "RH-NIC-SPEED", RESEAT, SPEED, "ethtool NETDEV",
	  "A port trained to a lower speed than required.",
	  "Check the cable or transceiver, and speed and FEC of the switch port."),
	F(NIC_NETDEV, "RH-NIC-NETDEV", RETRY, PART, "lspci -k -s ADDRESS",
	  "A function has no network device.",
	  "Check that its driver is loaded (modules.load) and bound; the kernel log says why a "
	  "driver rejected it."),
	F(NIC_SETTING_DIFFERS, "RH-NIC-SETTING-DIFFERS", RETRY, SETTING, "railhead why ADDRESS",
	  "A setting of section link differs from the profile.", CONTENDED),
	F(NIC_SETTING_FAILED, "RH-NIC-SETTING-FAILED", PROFILE, SETTING,
	  "journalctl -k -b -g ADDRESS", "A setting of section link could not be set.",
	  SEE_REASON " Correct the profile, or update driver and firmware."),
	F(NIC_QOS_DIFFERS, "RH-NIC-QOS-DIFFERS", RETRY, SETTING, "railhead why ADDRESS",
	  "A setting of section qos differs from the profile.",
	  CONTENDED " lldpad and LLDP in firmware set QoS, too."),
	F(NIC_QOS_FAILED, "RH-NIC-QOS-FAILED", PROFILE, SETTING, "journalctl -k -b -g ADDRESS",
	  "A setting of section qos could not be set.",
	  SEE_REASON " Correct the profile, or update driver and firmware."),
	F(NIC_VF_ABSENT, "RH-NIC-VF-ABSENT", RETRY, PART,
	  "cat /sys/bus/pci/devices/ADDRESS/sriov_numvfs", "A VF of the profile is absent.", APPLY),
	F(NIC_VF_DIFFERS, "RH-NIC-VF-DIFFERS", RETRY, SETTING, "ip link show NETDEV",
	  "The VFs of a PF differ from section sriov.", CONTENDED),
	F(NIC_VF_FAILED, "RH-NIC-VF-FAILED", SITE, PART, "journalctl -k -b -g ADDRESS",
	  "VFs could not be made, bound or set.",
	  SEE_REASON " Check that SR-IOV is on in the BIOS, and that the card's firmware is "
		     "configured for that many VFs."),

	F(RDMA_DEVICE, "RH-RDMA-DEVICE", SITE, PART, "rdma link", "A function has no RDMA device.",
	  "Load the RDMA module of the driver (mlx5_ib, irdma, bnxt_re); the firmware may have "
	  "RDMA switched off."),
	F(RDMA_SUBNET, "RH-RDMA-SUBNET", SITE, PART,
	  "cat /sys/class/infiniband/DEVICE/ports/1/state",
	  "An InfiniBand port has a link, and no subnet manager has configured it.",
	  "Start a subnet manager in the fabric (opensm, UFM, that of the switch), and see that "
	  "its partition knows the port."),
	F(RDMA_LINK, "RH-RDMA-LINK", RESEAT, PART, "rdma link", "An RDMA port has no link.",
	  "Check the cable, the transceiver and the switch port."),
	F(RDMA_SPEED, "RH-RDMA-SPEED", RESEAT, SPEED,
	  "cat /sys/class/infiniband/DEVICE/ports/1/rate",
	  "An RDMA port has a lower rate than required.",
	  "Check the cable or transceiver, and the speed of the switch port."),
	F(RDMA_SETTING_DIFFERS, "RH-RDMA-SETTING-DIFFERS", RETRY, SETTING, "rdma system",
	  "A setting of section rdma differs from the profile.", CONTENDED),
	F(RDMA_SETTING_FAILED, "RH-RDMA-SETTING-FAILED", PROFILE, SETTING, "rdma system",
	  "A setting of section rdma could not be set.", SEE_REASON " Correct the profile."),
	F(RDMA_LOOPBACK, "RH-RDMA-LOOPBACK", RESEAT, SPEED,
	  "railhead-bench rdma_loopback --device DEVICE",
	  "A NIC is slower than required when it sends to itself.",
	  SLOW_HERE " Check the PCIe link of the NIC and its NUMA node."),
	F(RDMA_PAIRS, "RH-RDMA-PAIRS", RESEAT, SPEED, "rdma statistic show link DEVICE/1",
	  "RDMA between two ports of the node is slower than required.",
	  SLOW_HERE " Check cables, switch ports and congestion control."),
	F(RDMA_DATA, "RH-RDMA-DATA", SITE, NEVER, "journalctl -k -b -g 'DMAR|AMD-Vi|SMMU'",
	  "An RDMA write completed, and its bytes did not arrive.",
	  "Read the IOMMU's faults in the kernel log, and compare ACS and the IOMMU mode with a "
	  "good node; replace the card if neither explains the loss."),
	F(RDMA_ERRORS, "RH-RDMA-ERRORS", RESEAT, PART,
	  "grep . /sys/class/infiniband/DEVICE/ports/1/counters/*",
	  "An RDMA port has received damaged symbols or packets, or its link was interrupted.",
	  "Clean or replace the cable or transceiver, and check the switch port; replace the NIC "
	  "if "
	  "the errors come again."),
	F(RDMA_LOSS, "RH-RDMA-LOSS", SITE, SPEED, "rdma statistic show link DEVICE/1",
	  "Packets of RDMA were lost and sent again.",
	  "Check PFC and ECN on the way, and drops on the switch ports."),

	F(GPU_LINK_WIDTH, "RH-GPU-LINK-WIDTH", RESEAT, SPEED, "lspci -vv -s ADDRESS",
	  "The PCIe link of a GPU has fewer lanes than required.",
	  "Reseat the GPU or its board; check the BIOS bifurcation."),
	F(GPU_LINK_SPEED, "RH-GPU-LINK-SPEED", RESEAT, SPEED, "lspci -vv -s ADDRESS",
	  "The PCIe link of a GPU trained to a lower speed than required.",
	  "Reseat the GPU or its board; check the BIOS link speed."),
	F(GPU_DRIVER, "RH-GPU-DRIVER", SITE, PART, "nvidia-smi -L",
	  "A GPU has no driver, no device nodes, or a driver other than the profile or its own "
	  "library requires.",
	  "Install and load the driver that the profile requires, with libraries of its version; "
	  "NVRM in the kernel log says why it rejected a GPU."),
	F(GPU_DIRECT, "RH-GPU-DIRECT", SITE, PART, "cat /proc/driver/nvidia/version",
	  "A NIC cannot read a GPU's memory directly.",
	  "Install the open kernel modules, or load nvidia_peermem."),
	F(GPU_XID, "RH-GPU-XID", REBOOT, PART, "journalctl -k -b -g '^NVRM: Xid'",
	  "The driver has reported a fault of a GPU since boot (Xid).",
	  "Reset the GPU or reboot; replace it if the Xid comes again."),
	F(GPU_NVLINK, "RH-GPU-NVLINK", RESEAT, PART, "nvidia-smi nvlink -s",
	  "The driver has reported a fault of an NVLink.",
	  "Reset the GPUs; reseat the board or bridge if the fault comes again."),
	F(GPU_POWER, "RH-GPU-POWER", RESEAT, PART, "nvidia-smi -q -d POWER",
	  "The driver has reported that a GPU lacks power.", "Check the power cables of the GPU."),
	F(GPU_MEMORY, "RH-GPU-MEMORY", REBOOT, PART, "nvidia-smi -q -d ECC,ROW_REMAPPER",
	  "The driver has reported an error in the memory of a GPU.",
	  "Reset the GPU or reboot, then run the vendor's field diagnostic; replace the GPU if the "
	  "error comes again."),
	F(GPU_OFF_BUS, "RH-GPU-OFF-BUS", POWER_CYCLE, PART, "nvidia-smi -L",
	  "The driver has reported that it lost a GPU, which only a power cycle brings back.",
	  "Switch the node's power off and on; check the GPU's power, seat and riser if the fault "
	  "comes again."),
	F(GPU_ECC_OFF, "RH-GPU-ECC-OFF", SITE, NEVER, "nvidia-smi -q -d ECC",
	  "ECC of a GPU is off, or will be after the next reset.",
	  "Run `nvidia-smi -e 1`, then reset the GPU or reboot."),
	F(GPU_CLOCKS, "RH-GPU-CLOCKS", SITE, SPEED, "nvidia-smi -q -d PERFORMANCE",
	  "The clocks of a GPU are held down by heat or power.",
	  "Check fans, air flow, power supplies and the BMC's log."),
	F(GPU_FABRIC, "RH-GPU-FABRIC", SITE, PART, "journalctl -b -u nvidia-fabricmanager",
	  "The NVLink fabric has rejected a GPU.", "Read the log of nvidia-fabricmanager."),
	F(GPU_FABRIC_DOWN, "RH-GPU-FABRIC-DOWN", SITE, PART,
	  "systemctl status nvidia-fabricmanager",
	  "A GPU is not part of the NVLink fabric that its node has.",
	  "Start nvidia-fabricmanager, and read its log; on an NVL72, check the rack's NVLink "
	  "switches."),
	F(GPU_FABRIC_HEALTH, "RH-GPU-FABRIC-HEALTH", SITE, PART, "nvidia-smi -q",
	  "The NVLink fabric of a GPU reports that it is unhealthy or degraded.",
	  "The reason says in which way. Read `nvidia-smi -q` (Fabric) and the log of "
	  "nvidia-fabricmanager."),
	F(GPU_FABRIC_CLIQUE, "RH-GPU-FABRIC-CLIQUE", SITE, PART, "nvidia-smi -q",
	  "The GPUs of a node are not in one clique of the NVLink fabric of several nodes.",
	  "Assign the node's GPUs to one NVLink partition at the fabric manager of the rack."),
	F(GPU_NOT_SHOWN, "RH-GPU-NOT-SHOWN", SITE, CHECKED, "nvidia-smi -q",
	  "A GPU or its driver does not report a value that it must report.",
	  "Install a driver that supports the GPU; for a virtual GPU, set must_show in the "
	  "profile."),
	F(GPU_MIG, "RH-GPU-MIG", SITE, SETTING, "nvidia-smi -L",
	  "The MIG mode of a GPU differs from the profile.",
	  "Set the mode by `nvidia-smi -mig 0` or `-mig 1`, and reset the GPU or reboot."),
	F(GPU_WORN, "RH-GPU-WORN", REPLACE, PART, "nvidia-smi -q -d ROW_REMAPPER",
	  "The memory of a GPU has no spare rows left.", "Replace the GPU."),
	F(GPU_HEALTH, "RH-GPU-HEALTH", SITE, PART, "nvidia-smi -q",
	  "The driver reports a fault in the state of a GPU.",
	  SEE_REASON " Read NVRM in the kernel log."),
	F(GPU_COPY, "RH-GPU-COPY", RESEAT, SPEED, "nvidia-smi -q -d PERFORMANCE",
	  "Copies between host and GPU are slower than required.",
	  SLOW_HERE " Check the PCIe link of the GPU and its NUMA node."),
	F(GPU_PEER, "RH-GPU-PEER", RESEAT, SPEED, "nvidia-smi nvlink -s",
	  "Copies between two GPUs are slower than required.",
	  SLOW_HERE " Check NVLink (`nvidia-smi nvlink -s`) and the fabric manager."),
	F(GPU_RDMA, "RH-GPU-RDMA", SITE, SPEED, "nvidia-smi topo -m",
	  "RDMA between a NIC and a GPU is slower than required.",
	  SLOW_HERE " Check ACS and the IOMMU mode on the way between the two."),

	F(STORAGE_QUEUE_DIFFERS, "RH-STORAGE-QUEUE-DIFFERS", RETRY, SETTING,
	  "grep . /sys/block/DISK/queue/scheduler", "The queue of a disk differs from the profile.",
	  CONTENDED),
	F(STORAGE_QUEUE_FAILED, "RH-STORAGE-QUEUE-FAILED", PROFILE, SETTING,
	  "grep . /sys/block/DISK/queue/scheduler", "The queue of a disk could not be set.",
	  SEE_REASON " Correct section block."),
	F(STORAGE_DISK_ABSENT, "RH-STORAGE-DISK-ABSENT", SITE, PART, "lsblk",
	  "A storage controller of a device set has no disk.",
	  "Look for its namespaces (`nvme list-ns`) or drives, and for its driver."),
	F(STORAGE_MOUNT_DIFFERS, "RH-STORAGE-MOUNT-DIFFERS", RETRY, PART, "findmnt",
	  "A mount of the profile is absent or has other options.", APPLY),
	F(STORAGE_MOUNT_FAILED, "RH-STORAGE-MOUNT-FAILED", SITE, PART, "findmnt",
	  "A mount of the profile could not be made.",
	  SEE_REASON " Check the device or the server."),
	F(STORAGE_READ, "RH-STORAGE-READ", SITE, SPEED, "railhead-bench storage_read --path PATH",
	  "Storage is slower than required.",
	  SLOW_HERE " Check the device, or the server and the way to it."),
	F(STORAGE_FAILING, "RH-STORAGE-FAILING", REPLACE, NEVER, "nvme smart-log /dev/DISK",
	  "A drive reports that it is failing.", "Back up the drive, and replace it."),
	F(STORAGE_HOT, "RH-STORAGE-HOT", SITE, PART, "nvme smart-log /dev/DISK",
	  "A drive is hotter or colder than it may be.", "Check fans and air flow."),
	F(STORAGE_WORN, "RH-STORAGE-WORN", REPLACE, PART, "nvme smart-log /dev/DISK",
	  "A drive has used up more of its endurance than allowed.", "Plan to replace the drive."),

	F(HOST_CONF, "RH-HOST-CONF", SITE, CHECKED, "cat /etc/railhead/railhead.conf",
	  "railhead.conf has errors.",
	  "Correct the lines that the reasons name; railhead guesses no policy."),
	F(HOST_LIBRARY, "RH-HOST-LIBRARY", SITE, CHECKED, "ldconfig -p",
	  "A library that railhead needs for this is missing.",
	  "Install the library in the image."),
	F(HOST_RECORD, "RH-HOST-RECORD", RETRY, WAIT, "df /run",
	  "The verdict could not be recorded below /run/railhead.",
	  "Make room in /run; the gate judges again by itself."),
	F(HOST_UNDONE, "RH-HOST-UNDONE", SITE, SETTING, "railhead why KEY",
	  "railhead found or set the right value, and another program or another line of the "
	  "profile changed it before the stage ended.",
	  "Look for the other program in udev rules, tuned and the network manager."),
	F(HOST_GONE, "RH-HOST-GONE", SITE, PART, "journalctl -b -p warning",
	  "A device, file or part that was there when the node was judged is gone.",
	  "The kernel log, or the program that removed it, says why it is gone. When it is back as "
	  "it was judged, the node is ready again by itself; `railhead gate --again` judges the "
	  "node without it."),
	F(HOST_FLAPS, "RH-HOST-FLAPS", SITE, SETTING, "journalctl -b -t railhead",
	  "An item of the verdict failed and recovered too often since the gate.",
	  "The journal names the item each time. Look for a program that changes the item, or for "
	  "a bad cable; the node is ready when all items have held for an hour, or by `railhead "
	  "gate --again`."),
	F(HOST_LIMIT_DIFFERS, "RH-HOST-LIMIT-DIFFERS", RETRY, SETTING, "railhead verify",
	  "A file of section limits differs from the profile.", CONTENDED),
	F(HOST_LIMIT_PROCESS, "RH-HOST-LIMIT-PROCESS", SITE, SETTING, "cat /proc/PID/limits",
	  "A limit of a process differs from the profile.",
	  "Restart the service: limits hold for processes that start after `railhead apply`."),
	F(HOST_LIMIT_FAILED, "RH-HOST-LIMIT-FAILED", SITE, SETTING, "railhead verify",
	  "Limits could not be set or read.", SEE_REASON " Mend the cause."),
	F(HOST_MEMLOCK, "RH-HOST-MEMLOCK", SITE, SETTING, "systemctl show -p LimitMEMLOCK UNIT",
	  "A service may lock less memory than required.",
	  "Raise LimitMEMLOCK= of the service, by section limits, and restart it."),
	F(HOST_COMMAND, "RH-HOST-COMMAND", SITE, CHECKED, "journalctl -b -u railhead-gate",
	  "A program of the site failed, or measured less than required.",
	  "The site's documentation of the program has the remedy."),

	F(GATE_UNJUDGED, "RH-GATE-UNJUDGED", RETRY, CHECKED, "systemctl status railhead-gate",
	  "The gate has not judged the profile in this boot.",
	  "railhead-gate.service does it at the end of the boot; `railhead gate` does it "
	  "now."),
	F(GATE_AT_WORK, "RH-GATE-AT-WORK", RETRY, WAIT, "systemctl status railhead-gate",
	  "The gate is at work.", "Wait for its verdict."),
	F(GATE_KILLED, "RH-GATE-KILLED", RETRY, CHECKED, "journalctl -b -u railhead-gate",
	  "The gate ended before its verdict.",
	  "Read `journalctl -u railhead-gate` and the kernel log (out of memory?), then run "
	  "`railhead gate`."),
	F(GATE_STOPPED, "RH-GATE-STOPPED", RETRY, CHECKED, "systemctl status railhead-gate",
	  "railhead-gate.service was stopped.", "Start the service, or run `railhead gate`."),
	F(GATE_UNFINISHED, "RH-GATE-UNFINISHED", RETRY, CHECKED, "ls -l /run/railhead",
	  "The record admits work, and the ready file is absent: a judgement began, or did not "
	  "end.",
	  "Run `railhead gate`."),
	F(GATE_FAILED, "RH-GATE-FAILED", SITE, CHECKED, "journalctl -b -u railhead-gate",
	  "The gate could not run its benchmarks.",
	  SEE_REASON " Mend the cause, then run `railhead gate`."),
	F(GATE_WAIT_OVER, "RH-GATE-WAIT-OVER", SITE, PART, "railhead status",
	  "The gate waited as long as gate.wait allows.",
	  "Mend the other faults, then run `railhead gate`."),
	F(GATE_STAGE_TIME, "RH-GATE-STAGE-TIME", RETRY, SETTING, "railhead status --json",
	  "A stage reached its deadline before the change began.",
	  APPLY " `railhead status --json` has the duration of each change."),
	F(GATE_CALIBRATION, "RH-GATE-CALIBRATION", PROFILE, SPEED, "railhead status --all",
	  "The kernel, BIOS or firmware differs from those that the thresholds were measured with.",
	  "Run `railhead calibrate` on nodes like this one, or, if the thresholds fit this node "
	  "too, add its kernel, BIOS or firmware to gate.calibrated_on."),
	F(GATE_INTERMITTENT, "RH-GATE-INTERMITTENT", RETRY, SPEED, "railhead history",
	  "A part was slow in one look, and not in the next.",
	  "Watch the part: `railhead gate --again` measures again. Replace the part if that "
	  "happens often."),
	F(GATE_DISTURBED, "RH-GATE-DISTURBED", RETRY, WAIT, "top -b -n 1",
	  "Other work disturbed a measurement, so that its figure can't be judged.",
	  "Stop that work, or order it after railhead-ready.target; the gate measures again by "
	  "itself."),
	F(GATE_NOT_YET, "RH-GATE-NOT-YET", RETRY, WAIT, "railhead status --watch",
	  "A check waits for something that is still coming up: a link, a driver, a peer.",
	  "The gate looks again by itself until gate.wait is over."),
	F(GATE_CANNOT_LOOK, "RH-GATE-CANNOT-LOOK", SITE, CHECKED, "railhead verify",
	  "The kernel or a library did not report a value that a check needs.", SEE_REASON),
	F(GATE_LOG_LOST, "RH-GATE-LOG-LOST", SITE, CHECKED, "dmesg --kernel --noescape --raw",
	  "The kernel overwrote records of its log before a check could look at them.",
	  "Reboot. If that happens in each boot, find the driver that floods the log, or write "
	  "log_buf_len=4M in kernel_args."),
	F(GATE_CANNOT_MEASURE, "RH-GATE-CANNOT-MEASURE", SITE, CHECKED, "railhead status --all",
	  "A measurement could not be taken.",
	  "Provide what the reason asks for: a program, a user, a VF, a second port, a longer "
	  "gate.budget. Then run `railhead gate --again`."),
	F(GATE_UNSUPPORTED, "RH-GATE-UNSUPPORTED", PROFILE, CHECKED, "railhead status --all",
	  "The node cannot be measured in this way, and the profile requires a figure.",
	  "Remove the check, or write on_fail: warn."),
	F(GATE_PROGRAM, "RH-GATE-PROGRAM", SITE, CHECKED, "journalctl -k -b",
	  "The program of a measurement crashed, hung or printed no result.",
	  "Read the kernel log, which names a program that was killed, then run `railhead gate "
	  "--again`."),
};
#undef F

_Static_assert(array_len(rows) == FAULT_COUNT, "each fault has a row");

const struct fault_row *fault_row(enum fault f)
{
	return &rows[f];
}

const char *fault_code(enum fault f)
{
	return rows[f].code;
}

/*
 * The effort of each action. The order differs from the enum, because a change of the profile or of
 * the site ranks below a reboot.
 */
static const int ranks[] = {
	[ACTION_RETRY] = 0,  [ACTION_PROFILE] = 1,     [ACTION_SITE] = 2,    [ACTION_REBOOT] = 3,
	[ACTION_RESEAT] = 4, [ACTION_POWER_CYCLE] = 5, [ACTION_REPLACE] = 6,
};

enum fault fault_graver(enum fault a, enum fault b)
{
	if (!a || !b)
		return a ? a : b;
	return ranks[rows[b].action] > ranks[rows[a].action] ? b : a;
}

enum fault fault_parse(const char *code)
{
	for (enum fault f = FAULT_NONE + 1; f < FAULT_COUNT; f++)
		if (code && streq(rows[f].code, code))
			return f;
	return FAULT_NONE;
}

char *fault_layer(enum fault f)
{
	const char *begin = rows[f].code + strlen("RH-");
	char *layer = xstrndup(begin, strcspn(begin, "-"));

	for (char *p = layer; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return layer;
}

const char *fault_action_name(enum fault_action a)
{
	return actions[a].name;
}

const char *fault_action_meaning(enum fault_action a)
{
	return actions[a].meaning;
}

const char *fault_admit_name(enum fault_admit a)
{
	return admits[a].name;
}

const char *fault_admit_meaning(enum fault_admit a)
{
	return admits[a].meaning;
}
