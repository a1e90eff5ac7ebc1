/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The profile language: the gate and the keys of its checks. */
#include "checks/check.h"
#include "checks/section.h"
#include "checks/xid.h"
#include "profile/language.h"

/*
 * Checks that settle may take the whole budget, and then the benchmarks the same time again: the
 * sum is within TimeoutStartSec of units/railhead-gate.service.
 */
static const struct spec gate_budget = DURATION("a duration such as 30s", SECOND, 240 * SECOND);
/*
 * The time that a check may stay "not yet" before it blocks; the time for which a pass may be used
 * again.
 */
static const struct spec gate_wait = DURATION("a duration such as 10m", SECOND, 24 * 3600 * SECOND);
static const struct spec gate_reuse =
	DURATION("a duration such as 24h", 60 * SECOND, 30 * 24 * 3600 * SECOND);
static const struct spec check_run = ONE_OF_WORDS(
	"a check", check_words,
	.meanings = WORDS(
		MEANS("memory_bandwidth", "rate of memory, of each NUMA node"),
		MEANS("memory_latency", "latency of memory"),
		MEANS("jitter", "longest wait for a CPU"),
		MEANS("pcie_link", "speed and width of the PCIe link"),
		MEANS("pcie_errors", "errors of the PCIe link since boot"),
		MEANS("memory_errors", "errors of DIMMs (EDAC)"),
		MEANS("port_errors", "error counters of RDMA ports"),
		MEANS("nvme_health", "SMART log of NVMe drives"),
		MEANS("throttling", "heat that slows CPUs down"),
		MEANS("iommu_groups", "members and type of IOMMU groups"),
		MEANS("carrier", "carrier and speed of netdevs"),
		MEANS("rdma_link", "state and speed of RDMA ports"),
		MEANS("rdma_loopback", "rate and latency of each NIC with itself"),
		MEANS("rdma_pairs", "rate and latency between NICs of the node"),
		MEANS("gpu_driver", "the driver of each GPU, and its flavor"),
		MEANS("gpu_health", "faults that NVML reports of each GPU, before and after load"),
		MEANS("gpu_fabric", "the NVLink fabric of each GPU"),
		MEANS("gpu_xid", "Xids of the kernel's log"),
		MEANS("gpu_copy", "rate between each GPU and memory"),
		MEANS("gpu_peer", "rate between GPUs"),
		MEANS("gpudirect", "whether NICs can reach the memory of GPUs"),
		MEANS("gpu_rdma", "rate of NICs from the memory of GPUs"),
		MEANS("storage_read", "rate and latency of a file or disk"),
		MEANS("memlock", "memory that processes of services may lock"),
		MEANS("command", "a program of the site")));
static const struct spec check_per =
	ONE_OF("a unit to measure each of", MEANS("node", "each NUMA node by itself"),
	       MEANS("node_pair", "the CPUs of each NUMA node with the memory of each other"));
static const struct spec check_cpus = SCALAR(
	"isolated or a CPU list such as 2-47", value_cpus, CPUS,
	.meanings = WORDS(MEANS("isolated", "those of kernel_args.isolate_cpus, or of this boot")));
static const struct spec rate =
	SCALAR("a rate such as 180GB/s, 400Gb/s or 92% of line", value_measure,
	       "^(" NUMBER_OF "[MG][Bb]/s|(100|[1-9][0-9]?)% of (line|pcie|set))$");
static const struct spec floor_rate =
	SCALAR("a rate such as 20GB/s or 160Gb/s", value_amount, "^" NUMBER_OF "[MG][Bb]/s$",
	       .units = &units_rate, .min = 1, .max = INT64_MAX);
static const struct spec message_rate = SCALAR("messages in a second, such as 2M/s", value_amount,
					       "^[1-9][0-9]*[KM]?/s$", .units = &units_messages);
static const struct spec latency = SCALAR("a latency such as 150ns or 50us", value_amount,
					  "^" NUMBER_OF "(ns|us|ms)$", .units = &units_latency);
static const struct spec message_size =
	SIZE("a size such as 64K", 1024, 1 << 30, .pattern = "^[1-9][0-9]*[KMG]$");
/* The speed of a PCIe link, or of the netdevs that have a carrier: rules.c decides which. */
static const struct spec speed = SCALAR("a speed such as 32GT/s (PCIe) or 400Gb/s (carrier)",
					value_speed, "^" NUMBER_OF "((\\.[0-9])?GT|[MG]b)/s$");
static const struct spec pcie_width =
	ONE_OF_WORDS("a PCIe width", WORDS("1", "2", "4", "8", "16", "32"));
/* As the kernel writes them in /sys/kernel/iommu_groups/N/type. */
static const struct spec group_type =
	ONE_OF("a type of IOMMU group", MEANS("identity", "DMA is not translated (passthrough)"),
	       MEANS("DMA", "translated, flushed at once (strict)"),
	       MEANS("DMA-FQ", "translated, flushed in batches (lazy)"));
static const struct spec timeout = DURATION("a duration such as 30s", SECOND / 1000, 240 * SECOND);
static const struct spec on_fail = ONE_OF(
	"a consequence", MEANS("block", "the node is not ready"),
	MEANS("degrade", "the node is degraded, and admits work where gate.admit_degraded says so"),
	MEANS("warn", "a warning in addition to the verdict"));
static const struct spec corrected = INT("a number of errors", 0, 1000000, .unit = "errors");
static const struct spec rise = INT("how much a counter may rise", 0, 1000000, .unit = "counts");
/* A drive may exceed its rated wear; 255 stands for more than 254. */
static const struct spec wear = INT("a part of the rated endurance", 0, 254, .unit = "percent");
static const struct spec gpu_flavor =
	ONE_OF("a flavor of NVIDIA's kernel modules",
	       MEANS("open", "the modules of which the source is published"),
	       MEANS("proprietary", "the closed modules"));
static const struct spec fabric_mode =
	ONE_OF("a mode", MEANS("none", "no NVLink fabric"),
	       MEANS("node", "the fabric of one node, by NVSwitch"),
	       MEANS("multinode", "a fabric of several nodes, such as NVL72"));
static const struct spec health_question =
	ONE_OF("a question of a GPU's health",
	       MEANS("ecc", "ECC is on, and stays on after the next reset"),
	       MEANS("ecc_errors", "uncorrected errors of this boot"),
	       MEANS("remapped_rows", "rows that failed and have spare ones; none is left to fail"),
	       MEANS("retired_pages", "pages that are out of use, of GPUs without row remapping"),
	       MEANS("pcie_width", "the width of the PCIe link"),
	       MEANS("clocks", "reasons that hold the clocks down"));
static const struct spec health_questions =
	LIST_OF("a list of questions, such as [ecc, remapped_rows]", health_question, ITEM_TEXT);
static const struct spec xids =
	SCALAR("one Xid or several, such as 79 or 46-48,79", value_numbers,
	       "^0*[0-9]{1,3}(-0*[0-9]{1,3})?(,0*[0-9]{1,3}(-0*[0-9]{1,3})?)*$", .max = XID_MAX);
static const struct spec user_name = LOWER_NAME("a user's name such as nobody");
static const struct spec capability =
	SCALAR("a capability such as CAP_NET_RAW", value_capability, "^CAP_[A-Z0-9_]+$");
static const struct spec capabilities =
	LIST_OF("a list of capabilities, such as [CAP_NET_RAW]", capability, ITEM_NONE);
static const struct spec read_path = TEXT("an absolute path such as /mnt/data", ABSOLUTE_PATH,
					  "write it from / on, without blanks, control characters, "
					  "backslashes, and empty, . and .. parts");
static const struct spec argument = LINE("an argument such as --fast (text on one line)");
static const struct spec command =
	LIST_OF("a program and its arguments, such as [/usr/local/bin/site-check, --fast]",
		argument, ITEM_NONE);
static const struct spec member_name = LINE("a member of the check, such as node1 or 0000:3b:00.0");
/* The thresholds of one member; the same keys as in gate_check. */
static const struct spec member =
	MAP("a map such as {min: 180GB/s}", KEY("min", &rate, "Lowest rate that passes."),
	    KEY("floor", &floor_rate, "Lowest rate, where min is a share of the set."),
	    KEY("min_messages", &message_rate, "Lowest rate of small messages."),
	    KEY("max", &latency, "Highest latency that passes."),
	    KEY("p9999", &latency, "Longest wait for a CPU, in 99.99% of the moments."));
static const struct spec members =
	MAP_OF("MEMBER", "a map of members to their thresholds, such as {node1: {min: 180GB/s}}",
	       member_name, member);
/* All keys of all checks; the row of each check lists the keys that its run accepts. */
static const struct spec gate_check = MAP(
	"a map such as {run: pcie_link, on: rails, width: 16}",
	KEY("run", &check_run, "Check to run.", .flags = FIELD_REQUIRED),
	KEY("on", &spec_on_set,
	    "Device set whose members are checked, or \"vfs of SET\" for their VFs.",
	    .class = KEY_SELECTS),
	KEY("with", &spec_set_name, "Device set at the other end.", .class = KEY_SELECTS),
	KEY("per", &check_per,
	    "Unit of measurement: each NUMA node, or each pair of one node's CPUs and another "
	    "node's memory.",
	    .class = KEY_SELECTS),
	KEY("cpus", &check_cpus,
	    "CPUs that are measured; isolated: the CPUs of kernel_args.isolate_cpus, or the "
	    "isolated CPUs of this boot.",
	    .class = KEY_SELECTS),
	KEY("path", &read_path, "File or block device to read.", .class = KEY_SELECTS),
	KEY("command", &command, "Program and arguments to run.", .class = KEY_SELECTS),
	KEY("user", &user_name,
	    "User that runs the program; default a user that no other process has.",
	    .class = KEY_GOVERNS),
	KEY("capabilities", &capabilities, "Capabilities that the program keeps; default none.",
	    .class = KEY_GOVERNS),
	KEY("network", &spec_bool,
	    "Whether the program has the node's network: netdevs, addresses (rdma_cm) and the "
	    "daemons of the loopback; default false: a loopback of its own.",
	    .class = KEY_GOVERNS),
	KEY("min", &rate,
	    "Lowest rate that passes; a share is of the line, the PCIe link or the other members "
	    "of the set."),
	KEY("floor", &floor_rate, "Lowest rate of each member, where min is a share of the set."),
	KEY("min_messages", &message_rate, "Lowest rate of small messages that passes."),
	KEY("max", &latency, "Highest latency that passes."),
	KEY("p50", &latency, "Highest latency that passes, of the faster half of the reads."),
	KEY("p99", &latency, "Highest latency that passes, of the fastest 99% of the reads."),
	KEY("p9999", &latency, "Longest wait for a CPU that passes, in 99.99% of the moments."),
	KEY("members", &members,
	    "Thresholds of members that differ from the others, in place of the check's "
	    "thresholds."),
	KEY("size", &message_size, "Size of a message, copy or read.", .class = KEY_GOVERNS),
	KEY("speed", &speed, "Lowest speed of the link that passes."),
	KEY("switches", &spec_bool,
	    "Whether the links of the PCIe switches above must be as good as both their ends are "
	    "capable of, too; default true."),
	KEY("corrected", &corrected,
	    "Corrected errors since boot that pass, of a function or DIMM; not judged by default."),
	KEY("rise", &rise,
	    "Most that each counter may rise under the load of the benchmarks; default 0, and 2 "
	    "symbol errors."),
	KEY("on_rise", &on_fail,
	    "Consequence of a counter that rises by more than rise; default warn.",
	    .class = KEY_GOVERNS),
	KEY("wear", &wear,
	    "Part of the rated endurance that a drive may have used up; more is a warning; not "
	    "judged by default."),
	KEY("flavor", &gpu_flavor, "Flavor of the kernel modules that passes; any by default."),
	KEY("must_show", &health_questions,
	    "Questions that each GPU must answer; default: all that its model can answer; []: "
	    "none."),
	KEY("mig", &spec_bool,
	    "Whether each GPU must be in MIG mode (true) or out of it (false); not judged by "
	    "default."),
	KEY("mode", &fabric_mode,
	    "NVLink fabric that each GPU must belong to: none, the fabric of its node (NVSwitch), "
	    "or a fabric of several nodes (NVL72)."),
	KEY("fatal", &xids,
	    "Xids that are faults of the node; default: all that NVIDIA's catalog does not "
	    "attribute to an application."),
	KEY("units", &spec_units, "Services whose processes are checked.", .class = KEY_SELECTS),
	KEY("limit", &spec_memlock,
	    "Least memory that the processes must be allowed to lock; default unlimited."),
	KEY("width", &pcie_width, "Lowest width of the PCIe link that passes."),
	KEY("isolated", &spec_bool,
	    "Whether nothing else may be in the IOMMU group; default false."),
	KEY("type", &group_type, "Type that each IOMMU group must have."),
	KEY("timeout", &timeout, "Time that the check may take; default 10s, 30s for GPUs.",
	    .class = KEY_GOVERNS),
	KEY("optional", &spec_bool,
	    "Whether the check is skipped, and does not fail, if the node lacks a part that the "
	    "check needs; default false.",
	    .class = KEY_GOVERNS),
	KEY("on_drift", &spec_on_drift,
	    "Consequence of a check that passed and fails after the verdict; default lapse.",
	    .class = KEY_GOVERNS),
	KEY("on_fail", &on_fail,
	    "Consequence of a check that fails or gives no figure; default block.",
	    .class = KEY_GOVERNS),
	KEY("on_intermittent", &on_fail,
	    "Consequence of a benchmark that is slow in one of its two looks; default warn.",
	    .class = KEY_GOVERNS));
static const struct spec check_name = NAME("a check's name such as loopback");
static const struct spec gate_checks = MAP_OF("NAME", "a map of checks", check_name, gate_check);
static const struct spec basis = LINE("a text such as \"kernel: 6.1.0-50-amd64\"");
static const struct spec calibrated_on =
	LIST_OF("a list of texts, as `railhead calibrate` prints them", basis, ITEM_TEXT);
const struct spec gate_language =
	MAP("a map (budget, admit_degraded, checks)",

	    KEY("budget", &gate_budget,
		"Time that the checks that may still pass, and then all benchmarks, may take; "
		"default 60s.",
		.class = KEY_GOVERNS),
	    KEY("admit_degraded", &spec_bool, "Whether a degraded node admits work; default false.",
		.class = KEY_GOVERNS),
	    KEY("wait", &gate_wait,
		"Time that a boot waits for checks that may still pass; default 10m.",
		.class = KEY_GOVERNS),
	    KEY("reuse", &gate_reuse,
		"Time for which measurements are reused after an orderly reboot; default "
		"never.",
		.class = KEY_GOVERNS),
	    KEY("calibrated_on", &calibrated_on,
		"Kernel, BIOS, microcode and firmware that the thresholds were measured with; "
		"others are reported as a warning.",
		.class = KEY_GOVERNS),
	    KEY("checks", &gate_checks, "Checks that the node must pass, by names of your own."));
