/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profile language, schema 1: every section, key and value, as tables. Bottom up: the
 * values first, then the sections that are made of them, then the document.
 *
 * A key of the language that this railhead can't act on yet stands here with FIELD_LATER:
 * it is refused by name, so that no profile believes something was done.
 */
#include "profile/schema.h"

#include "profile/value.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define FIELDS(...) ((const struct field[]){__VA_ARGS__, {NULL, NULL, 0}})
#define KEY(key, spec)           \
	{                        \
		(key), (spec), 0 \
	}
#define KEY_IS(key, spec, flags)       \
	{                              \
		(key), (spec), (flags) \
	}
#define NEEDED(key, spec) KEY_IS(key, spec, FIELD_REQUIRED)
#define LATER(key) KEY_IS(key, NULL, FIELD_LATER)

#define SECOND 1000000LL

/* --- values ------------------------------------------------------------------------------- */

static const struct spec boolean = {
	.what = "a boolean (true or false)",
	.check = value_bool,
};
static const struct spec name = {
	.what = "a profile's name",
	.check = value_name,
};
static const struct spec cpu_list = {
	.what = "a CPU list such as 2-47,50-95",
	.check = value_cpus,
};
static const struct spec pattern = {
	.what = "a text or shell pattern",
	.check = value_pattern,
};
static const struct spec module = {
	.what = "a module's name",
	.check = value_module,
};
static const struct spec kernel_value = {
	.what = "a value (text on one line)",
	.check = value_line,
};

/* --- match -------------------------------------------------------------------------------- */

static const struct spec match_dmi = {
	.kind = SPEC_MAP,
	.what = "a map of DMI fields",
	.fields = FIELDS(KEY("sys_vendor", &pattern), KEY("product_name", &pattern),
			 KEY("product_family", &pattern), KEY("product_sku", &pattern),
			 KEY("product_version", &pattern), KEY("board_vendor", &pattern),
			 KEY("board_name", &pattern), KEY("chassis_vendor", &pattern),
			 KEY("bios_vendor", &pattern), KEY("chassis_asset_tag", &pattern)),
};
static const struct spec match_arch = {
	.what = "an architecture",
	.check = value_word,
	.words = WORDS("x86_64", "aarch64"),
};
static const struct spec cpu_vendor = {
	.what = "a CPU vendor",
	.check = value_word,
	.words = WORDS("intel", "amd", "arm"),
};
static const struct spec pci_id = {
	.what = "a PCI id, \"vvvv:dddd\" (vendor and device, four hex digits each)",
	.check = value_pci_id,
};
static const struct spec match_pci = {
	.kind = SPEC_LIST,
	.what = "a list of PCI ids, such as [\"10de:2330\"]",
	.item = &pci_id,
	.identity = ITEM_TEXT,
};
/* Each must hold; conditions.c knows how. */
static const struct spec match = {
	.kind = SPEC_MAP,
	.what = "a map of conditions, such as dmi: {sys_vendor: ...}",
	.fields = FIELDS(KEY("dmi", &match_dmi), KEY("arch", &match_arch),
			 KEY("cpu_vendor", &cpu_vendor), KEY("pci", &match_pci)),
};

/* --- devices ------------------------------------------------------------------------------ */

static const struct spec pci_address = {
	.what = "a PCI address or a shell pattern over one, such as \"0000:5e:00.0\"",
	.check = value_pci_address,
};
static const struct spec set_name = {
	.what = "a device set's name",
	.check = value_set_name,
};
static const struct spec card_ports = {
	.what = "a count of functions of one card",
	.check = value_int,
	.min = 1,
	.max = 256,
};
static const struct spec set_size = {
	.what = "a count of functions",
	.check = value_int,
	.min = 0,
	.max = 1024,
};
static const struct spec numa_node = {
	.what = "a NUMA node's number",
	.check = value_int,
	.min = 0,
	.max = 1023,
};
static const struct spec link_layer = {
	.what = "a link layer",
	.check = value_word,
	.words = WORDS("ethernet", "infiniband"),
};
static const struct spec device_set = {
	.kind = SPEC_MAP,
	.what = "a map of predicates, such as {pci: \"15b3:1021\", expect: 8}",
	.fields = FIELDS(KEY("pci", &pci_id), KEY("subsystem", &pci_id), KEY("ports", &card_ports),
			 KEY("expect", &set_size), KEY("link", &link_layer), KEY("in", &set_name),
			 KEY("address", &pci_address), KEY("driver", &module),
			 KEY("numa", &numa_node), KEY("protect", &boolean), LATER("port"),
			 LATER("part_number")),
};
static const struct spec devices = {
	.kind = SPEC_MAP_OF,
	.what = "a map of device sets",
	.key = &set_name,
	.item = &device_set,
};

/* --- expect ------------------------------------------------------------------------------- */

static const struct spec socket_count = {
	.what = "a count of sockets, or \">=N\"",
	.check = value_count,
	.min = 1,
	.max = 64,
};
static const struct spec node_count = {
	.what = "a count of NUMA nodes, or \">=N\"",
	.check = value_count,
	.min = 1,
	.max = 1024,
};
static const struct spec memory = {
	.what = "an amount of memory such as \">=2000G\" or 512G",
	.check = value_memory,
};
static const struct spec cpu_count = {
	.what = "a count of CPUs (threads), or \">=N\"",
	.check = value_count,
	.min = 1,
	.max = 8192,
};
static const struct spec expect = {
	.kind = SPEC_MAP,
	.what = "a map of what the machine must have",
	.fields = FIELDS(KEY("cpu_sockets", &socket_count), KEY("memory", &memory),
			 KEY("numa_nodes", &node_count), KEY("cpu_vendor", &cpu_vendor),
			 KEY("cpus", &cpu_count)),
};

/* --- kernel_args, hugepages, modules ------------------------------------------------------ */

static const struct spec iommu = {
	.what = "an IOMMU mode",
	.check = value_word,
	.words = WORDS("disabled", "passthrough", "lazy", "strict"),
};
static const struct spec kernel_arg = {
	.what = "a kernel argument such as pci=realloc",
	.check = value_kernel_arg,
};
static const struct spec kernel_arg_list = {
	.kind = SPEC_LIST,
	.what = "a list of kernel arguments",
	.item = &kernel_arg,
	.identity = ITEM_ARG,
};
static const struct spec kernel_args = {
	.kind = SPEC_MAP,
	.what = "a map (iommu, isolate_cpus, set)",
	.fields = FIELDS(KEY("iommu", &iommu), KEY("isolate_cpus", &cpu_list),
			 KEY("set", &kernel_arg_list)),
};

static const struct spec page_size = {
	.what = "a page size",
	.check = value_word,
	.words = WORDS("64K", "2M", "32M", "512M", "1G", "16G"),
};
static const struct spec page_count = {
	.what = "a count of pages",
	.check = value_int,
	.min = 0,
	.max = 10000000,
};
static const struct spec page_nodes = {
	.kind = SPEC_MAP_OF,
	.what = "a map of NUMA nodes to page counts, such as {0: 32, 1: 16}",
	.key = &numa_node,
	.item = &page_count,
};
static const struct spec page_when = {
	.what = "a time to allocate pages",
	.check = value_word,
	.words = WORDS("boot", "runtime"),
};
/* at: boot if not said; per_node counts nodes that have CPUs */
static const struct spec page_pool = {
	.kind = SPEC_MAP,
	.what = "a map such as {size: 1G, per_node: 32}",
	.fields =
		FIELDS(NEEDED("size", &page_size), KEY("per_node", &page_count),
		       KEY("nodes", &page_nodes), KEY("at", &page_when), KEY("default", &boolean)),
};
static const struct spec hugepages = {
	.kind = SPEC_LIST,
	.what = "a list of page pools, such as - {size: 1G, per_node: 32}",
	.item = &page_pool,
};

static const struct spec module_map = {
	.kind = SPEC_MAP,
	.what = "a map such as {name: nvidia_peermem, optional: true}",
	.fields = FIELDS(NEEDED("name", &module), KEY("optional", &boolean)),
};
static const struct spec module_item = {
	.kind = SPEC_EITHER,
	.what = "a module's name, or {name: ..., optional: true}",
	.scalar = &module,
	.map = &module_map,
};
static const struct spec module_load = {
	.kind = SPEC_LIST,
	.what = "a list of modules",
	.item = &module_item,
	.identity = ITEM_NAME,
};
static const struct spec module_blacklist = {
	.kind = SPEC_LIST,
	.what = "a list of modules",
	.item = &module,
	.identity = ITEM_NAME,
};

static const struct spec param_value = {
	.what = "a parameter's value",
	.check = value_module_value,
};
static const struct spec module_param = {
	.what = "a module parameter's name",
	.check = value_param,
};
static const struct spec module_params = {
	.kind = SPEC_MAP_OF,
	.what = "a map of parameters, such as {netns_mode: 0}",
	.key = &module_param,
	.item = &param_value,
};
static const struct spec module_options = {
	.kind = SPEC_MAP_OF,
	.what = "a map of modules, such as {ib_core: {netns_mode: 0}}",
	.key = &module,
	.item = &module_params,
};
static const struct spec modules = {
	.kind = SPEC_MAP,
	.what = "a map (load, options, blacklist)",
	.fields = FIELDS(KEY("load", &module_load), KEY("options", &module_options),
			 KEY("blacklist", &module_blacklist)),
};

/* --- sriov -------------------------------------------------------------------------------- */

static const struct spec vf_count = {
	.what = "a count of VFs, or max",
	.check = value_int,
	.words = WORDS("max"),
	.min = 0,
	.max = 65535,
};
static const struct spec vf_driver = {
	.what = "a binding of VFs",
	.check = value_word,
	.words = WORDS("netdev", "vfio-pci", "none"),
};
static const struct spec vf = {
	.kind = SPEC_MAP,
	.what = "a map such as {driver: netdev}",
	.fields = FIELDS(KEY("driver", &vf_driver), LATER("mtu"), LATER("mac"), LATER("guid"),
			 LATER("trust"), LATER("spoof_check"), LATER("vlan"), LATER("link_state"),
			 LATER("min_rate"), LATER("max_rate")),
};
/* Below the budget of the devices stage, 150 s. */
static const struct spec sriov_timeout = {
	.what = "a duration such as 30s",
	.check = value_duration,
	.min = SECOND,
	.max = 120 * SECOND,
};
static const struct spec sriov_set = {
	.kind = SPEC_MAP,
	.what = "a map such as {vfs: 8, vf: {driver: netdev}}",
	/* vfs may come from a wider set: see rules.c */
	.fields = FIELDS(KEY("vfs", &vf_count), KEY("vf", &vf), KEY("timeout", &sriov_timeout),
			 LATER("mode")),
};
static const struct spec sriov = {
	.kind = SPEC_MAP_OF,
	.what = "a map of device sets",
	.key = &set_name,
	.item = &sriov_set,
};

/* --- sysctl, sysfs ------------------------------------------------------------------------ */

static const struct spec kernel_value_map = {
	.kind = SPEC_MAP,
	.what = "a map such as {value: 1, optional: true}",
	.fields = FIELDS(NEEDED("value", &kernel_value), KEY("optional", &boolean)),
};
static const struct spec kernel_value_item = {
	.kind = SPEC_EITHER,
	.what = "a value, or {value: ..., optional: true}",
	.scalar = &kernel_value,
	.map = &kernel_value_map,
};
static const struct spec sysctl_key = {
	.what = "a sysctl key such as net.core.rmem_max",
	.check = value_sysctl_key,
};
static const struct spec sysfs_path = {
	.what = "a path below /sys/",
	.check = value_sysfs_path,
};
/* Both apply in document order. */
static const struct spec sysctl = {
	.kind = SPEC_MAP_OF,
	.what = "a map such as {net.core.rmem_max: 268435456}",
	.key = &sysctl_key,
	.item = &kernel_value_item,
};
static const struct spec sysfs = {
	.kind = SPEC_MAP_OF,
	.what = "a map of paths below /sys/ to values",
	.key = &sysfs_path,
	.item = &kernel_value_item,
};

/* --- gate --------------------------------------------------------------------------------- */

static const struct spec gate_budget = {
	.what = "a duration such as 30s",
	.check = value_duration,
	.min = SECOND,
	.max = 600 * SECOND,
};
static const struct spec check_run = {
	.what = "a check",
	.check = value_word,
	.words = WORDS("memory_bandwidth", "pcie_link", "carrier", "iommu_groups"),
	.later = WORDS("memory_latency", "jitter", "rdma_loopback", "rdma_pairs", "gpu_copy",
		       "gpu_peer", "dma"),
};
static const struct spec check_on = {
	.what = "a device set, or \"vfs of SET\"",
	.check = value_on_set,
};
static const struct spec check_per = {
	.what = "a unit to measure each of",
	.check = value_word,
	.words = WORDS("node"),
};
static const struct spec rate = {
	.what = "a rate such as 180GB/s, 400Gb/s or 92% of line",
	.check = value_rate,
};
static const struct spec pcie_speed = {
	.what = "a PCIe speed such as 32GT/s",
	.check = value_gts,
};
static const struct spec pcie_width = {
	.what = "a PCIe width",
	.check = value_word,
	.words = WORDS("1", "2", "4", "8", "16", "32"),
};
static const struct spec timeout = {
	.what = "a duration such as 30s",
	.check = value_duration,
	.min = SECOND / 1000,
	.max = 600 * SECOND,
};
static const struct spec on_fail = {
	.what = "a consequence",
	.check = value_word,
	.words = WORDS("block", "degrade", "warn"),
};
/* All keys of all checks; which run takes which is in rules.c. */
static const struct spec gate_check = {
	.kind = SPEC_MAP,
	.what = "a map such as {run: pcie_link, on: rails, width: 16}",
	.fields = FIELDS(NEEDED("run", &check_run), KEY("on", &check_on), KEY("per", &check_per),
			 KEY("min", &rate), KEY("speed", &pcie_speed), KEY("width", &pcie_width),
			 KEY("isolated", &boolean), KEY("timeout", &timeout),
			 KEY("on_fail", &on_fail)),
};
static const struct spec check_name = {
	.what = "a check's name",
	.check = value_set_name,
};
static const struct spec gate_checks = {
	.kind = SPEC_MAP_OF,
	.what = "a map of checks",
	.key = &check_name,
	.item = &gate_check,
};
static const struct spec gate = {
	.kind = SPEC_MAP,
	.what = "a map (budget, admit_degraded, checks)",
	.fields = FIELDS(KEY("budget", &gate_budget), KEY("admit_degraded", &boolean),
			 KEY("checks", &gate_checks)),
};

/* --- the document ------------------------------------------------------------------------- */

static const struct spec schema_number = {
	.what = "a schema number",
	.check = value_schema,
};
static const struct spec version = {
	.what = "a version",
	.check = value_label,
};
static const struct spec base_list = {
	.kind = SPEC_LIST,
	.what = "a list of profiles' names",
	.item = &name,
	.identity = ITEM_TEXT,
};
static const struct spec extends = {
	.kind = SPEC_EITHER,
	.what = "a profile's name or a list of them",
	.scalar = &name,
	.list = &base_list,
};
static const struct spec priority = {
	.what = "a number",
	.check = value_int,
	.min = -1000,
	.max = 1000,
};

#define OF_THE_FILE (FIELD_NO_DROPIN | FIELD_NOT_INHERITED)

/* match is inherited: a variant of a SKU need not repeat what it shares with its base. */
const struct spec schema_top = {
	.kind = SPEC_MAP,
	.what = "a map of sections",
	.fields = FIELDS(KEY_IS("schema", &schema_number, FIELD_OWN | FIELD_NOT_INHERITED),
			 KEY_IS("name", &name, FIELD_OWN | OF_THE_FILE),
			 KEY_IS("version", &version, OF_THE_FILE),
			 KEY_IS("extends", &extends, OF_THE_FILE),
			 KEY_IS("abstract", &boolean, OF_THE_FILE),
			 KEY_IS("priority", &priority, OF_THE_FILE), KEY("match", &match),
			 KEY("devices", &devices), LATER("require"), LATER("unsupported"),
			 KEY("expect", &expect), KEY("kernel_args", &kernel_args),
			 KEY("hugepages", &hugepages), KEY("modules", &modules),
			 KEY("sriov", &sriov), LATER("link"), LATER("qos"), LATER("pcie"),
			 LATER("irq"), KEY("sysctl", &sysctl), KEY("sysfs", &sysfs),
			 LATER("limits"), LATER("mounts"), LATER("pairs"), KEY("gate", &gate)),
};
