/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The profile language: the gate, its checks and what each of them takes. */
#include "profile/language.h"

/*
 * Checks that settle may take as long as the budget, and then the benchmarks as long again: both
 * are within the TimeoutStartSec of units/railhead-gate.service.
 */
static const struct spec gate_budget = {
	.what = "a duration such as 30s",
	.check = value_duration,
	.min = SECOND,
	.max = 240 * SECOND,
};
/* How long a check may stay "not yet" before it blocks; how long a pass may be used again. */
static const struct spec gate_wait = {
	.what = "a duration such as 10m",
	.check = value_duration,
	.min = SECOND,
	.max = 24 * 3600 * SECOND,
};
static const struct spec gate_reuse = {
	.what = "a duration such as 24h",
	.check = value_duration,
	.min = 60 * SECOND,
	.max = 30 * 24 * 3600 * SECOND,
};
static const struct spec check_run = {
	.what = "a check",
	.check = value_word,
	.words = WORDS("memory_bandwidth", "memory_latency", "jitter", "pcie_link", "pcie_errors",
		       "iommu_groups", "carrier", "rdma_link", "rdma_loopback", "rdma_pairs",
		       "gpu_driver", "gpu_health", "gpu_xid", "gpu_copy", "gpu_peer", "gpudirect",
		       "gpu_rdma", "storage_read", "memlock", "command"),
};
static const struct spec check_on = {
	.what = "a device set, or \"vfs of SET\"",
	.check = value_on_set,
	.pattern = "^(vfs of )?[A-Za-z0-9_-]+$",
};
static const struct spec check_per = {
	.what = "a unit to measure each of",
	.check = value_word,
	.words = WORDS("node", "node_pair"),
};
static const struct spec check_cpus = {
	.what = "isolated or a CPU list such as 2-47",
	.check = value_cpus,
	.words = WORDS("isolated"),
	.pattern = CPUS,
};
static const struct spec rate = {
	.what = "a rate such as 180GB/s, 400Gb/s or 92% of line",
	.check = value_measure,
	.pattern = "^(" NUMBER_OF "[MG][Bb]/s|(100|[1-9][0-9]?)% of (line|pcie|set))$",
};
static const struct spec floor_rate = {
	.what = "a rate such as 20GB/s or 160Gb/s",
	.check = value_rate,
	.min = 1,
	.max = INT64_MAX,
	.pattern = "^" NUMBER_OF "[MG][Bb]/s$",
};
static const struct spec message_rate = {
	.what = "messages in a second, such as 2M/s",
	.check = value_message_rate,
	.pattern = "^[1-9][0-9]*[KM]?/s$",
};
static const struct spec latency = {
	.what = "a latency such as 150ns or 50us",
	.check = value_latency,
	.pattern = "^" NUMBER_OF "(ns|us|ms)$",
};
static const struct spec message_size = {
	.what = "a size such as 64K",
	.check = value_size,
	.min = 1024,
	.max = 1 << 30,
	.pattern = "^[1-9][0-9]*[KMG]$",
};
/* Of a PCIe link, or of the netdevs that have a carrier: rules_gate.c says which. */
static const struct spec speed = {
	.what = "a speed such as 32GT/s (PCIe) or 400Gb/s (carrier)",
	.check = value_speed,
	.pattern = "^" NUMBER_OF "((\\.[0-9])?GT|[MG]b)/s$",
};
static const struct spec pcie_width = {
	.what = "a PCIe width",
	.check = value_word,
	.words = WORDS("1", "2", "4", "8", "16", "32"),
};
/* As the kernel writes them in /sys/kernel/iommu_groups/N/type. */
static const struct spec group_type = {
	.what = "a type of IOMMU group",
	.check = value_word,
	.words = WORDS("identity", "DMA", "DMA-FQ"),
};
static const struct spec timeout = {
	.what = "a duration such as 30s",
	.check = value_duration,
	.min = SECOND / 1000,
	.max = 240 * SECOND,
};
static const struct spec on_fail = {
	.what = "a consequence",
	.check = value_word,
	.words = WORDS("block", "degrade", "warn"),
};
static const struct spec corrected = {
	.what = "a number of errors",
	.check = value_int,
	.min = 0,
	.max = 1000000,
};
static const struct spec gpu_flavor = {
	.what = "a flavor of NVIDIA's kernel modules",
	.check = value_word,
	.words = WORDS("open", "proprietary"),
};
static const struct spec user_name = {
	.what = "a user's name",
	.check = value_name,
	.pattern = "^[a-z0-9][a-z0-9._-]{0,63}$",
};
static const struct spec capability = {
	.what = "a capability such as CAP_NET_RAW",
	.check = value_capability,
	.pattern = "^CAP_[A-Z0-9_]+$",
};
static const struct spec capabilities = {
	.kind = SPEC_LIST,
	.what = "a list of capabilities, such as [CAP_NET_RAW]",
	.item = &capability,
};
static const struct spec read_path = {
	.what = "an absolute path",
	.check = value_mount_point,
	.pattern = ABSOLUTE_PATH,
};
static const struct spec argument = {
	.what = "an argument (text on one line)",
	.check = value_line,
	.pattern = "^" LINE_CHAR "+$",
};
static const struct spec command = {
	.kind = SPEC_LIST,
	.what = "a program and its arguments, such as [/usr/local/bin/site-check, --fast]",
	.item = &argument,
};
/* All keys of all checks; which run takes which is in rules_gate.c. */
static const struct spec gate_check = {
	.kind = SPEC_MAP,
	.what = "a map such as {run: pcie_link, on: rails, width: 16}",
	.fields = FIELDS(
		NEEDED("run", &check_run), KEY("on", &check_on), KEY("with", &spec_set_name),
		KEY("per", &check_per), KEY("cpus", &check_cpus), KEY("path", &read_path),
		KEY("command", &command), KEY("user", &user_name),
		KEY("capabilities", &capabilities), KEY("min", &rate), KEY("floor", &floor_rate),
		KEY("min_messages", &message_rate), KEY("max", &latency), KEY("p9999", &latency),
		KEY("size", &message_size), KEY("speed", &speed), KEY("corrected", &corrected),
		KEY("flavor", &gpu_flavor), KEY("units", &spec_units), KEY("limit", &spec_memlock),
		KEY("width", &pcie_width), KEY("isolated", &spec_bool), KEY("type", &group_type),
		KEY("timeout", &timeout), KEY("on_fail", &on_fail),
		KEY("on_intermittent", &on_fail)),
};
static const struct spec check_name = {
	.what = "a check's name",
	.check = value_set_name,
	.pattern = "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$",
};
static const struct spec gate_checks = {
	.kind = SPEC_MAP_OF,
	.what = "a map of checks",
	.key = &check_name,
	.item = &gate_check,
};
const struct spec spec_gate = {
	.kind = SPEC_MAP,
	.what = "a map (budget, admit_degraded, checks)",
	.fields = FIELDS(KEY("budget", &gate_budget), KEY("admit_degraded", &spec_bool),
			 KEY("wait", &gate_wait), KEY("reuse", &gate_reuse),
			 KEY("checks", &gate_checks)),
};
