/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profile language, schema 1: the keys of the document, and values that several sections share.
 * Each section's keys are in its file of the room sections/, the gate's in src/checks/language.c.
 */
#include "profile/language.h"
#include "profile/profile.h"

/* --- values ------------------------------------------------------------------------------- */

const struct spec spec_bool = {.what = "a boolean (true or false)", .check = value_bool};
static const struct spec name = LOWER_NAME("a profile's name such as hgx-h100");
const struct spec spec_cpus = SCALAR("a CPU list such as 2-47,50-95", value_cpus, CPUS);
static const struct spec pattern = LINE("a text or shell pattern such as ABC-12*", .bytes = 256);
/* IFLA_MTU; no driver accepts more than 65535. */
const struct spec spec_mtu = INT("an MTU in bytes", 68, 65535, .unit = "bytes");
/* Module names become file names and words of modprobe.d: no dots, slashes or blanks. */
const struct spec spec_module = TEXT("a module's name such as mlx5_core", "^[A-Za-z0-9_-]+$",
				     "use letters, digits, _ and -, without .ko", .bytes = 64);

/* --- match -------------------------------------------------------------------------------- */

static const struct spec match_dmi = MAP(
	"a map of DMI fields", KEY("sys_vendor", &pattern, "Maker of the machine."),
	KEY("product_name", &pattern, "Model of the machine."),
	KEY("product_family", &pattern, "Family of the model."),
	KEY("product_sku", &pattern, "SKU of the model."),
	KEY("product_version", &pattern, "Version of the model."),
	KEY("board_vendor", &pattern, "Maker of the board."),
	KEY("board_name", &pattern, "Name of the board."),
	KEY("chassis_vendor", &pattern, "Maker of the chassis."),
	KEY("bios_vendor", &pattern, "Maker of the firmware."),
	KEY("chassis_asset_tag", &pattern, "Asset tag, by which some clouds name their machines."));
static const struct spec match_arch =
	ONE_OF("an architecture", MEANS("x86_64", "CPUs of Intel and AMD"),
	       MEANS("aarch64", "CPUs of Arm's 64-bit architecture"));
const struct spec spec_cpu_vendor =
	ONE_OF("a CPU vendor", MEANS("intel", "CPUs of Intel"), MEANS("amd", "CPUs of AMD"),
	       MEANS("arm", "CPUs of Arm's architecture, of any vendor"));
static const struct spec pci_id =
	SCALAR("a PCI id such as \"15b3:1021\" (vendor and device, four hex digits each)", value_id,
	       "^[0-9A-Fa-f]{4}:[0-9A-Fa-f]{4}$", .note = "write both numbers, without 0x");
static const struct spec match_pci =
	LIST_OF("a list of PCI ids, such as [\"10de:2330\"]", pci_id, ITEM_TEXT);
/* All conditions must hold; conditions.c evaluates them. */
static const struct spec match =
	MAP("a map of conditions, such as dmi: {sys_vendor: ...}",
	    KEY("dmi", &match_dmi, "DMI fields of the machine, as texts or shell patterns."),
	    KEY("arch", &match_arch, "Architecture of the machine."),
	    KEY("cpu_vendor", &spec_cpu_vendor, "CPU vendor of the machine."),
	    KEY("pci", &match_pci, "PCI ids; the machine must have a function of each."));

/* --- devices ------------------------------------------------------------------------------ */

static const struct spec pci_address =
	TEXT("a PCI address or a shell pattern over one, such as \"0000:5e:00.0\"",
	     "^([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]|"
	     "([0-9a-f:.*?!-]|\\[|\\])*([*?]|\\[)([0-9a-f:.*?!-]|\\[|\\])*)$",
	     "write domain:bus:device.function in full, in lower case");
const struct spec spec_set_name = NAME("a device set's name such as rails");
const struct spec spec_on_set =
	TEXT("a device set such as rails or \"vfs of rails\"", "^(vfs of )?[A-Za-z0-9_-]+$", NULL);
static const struct spec card_ports =
	INT("a count of functions of one card", 1, 256, .unit = "functions");
static const struct spec card_port = INT("the place of a function on its card, from 1", 1, 256);
static const struct spec set_size = COUNT("a count of functions", "functions", 0, 1024);
const struct spec spec_numa_node = INT("a NUMA node's number", 0, 1023);
static const struct spec link_layer =
	ONE_OF("a link layer", MEANS("ethernet", "ports that are Ethernet now, including RoCE"),
	       MEANS("infiniband", "ports that are InfiniBand now"));
static const struct spec device_set = MAP(
	"a map of predicates, such as {pci: \"15b3:1021\", expect: 8}",
	KEY("pci", &pci_id, "Vendor and device id of the members."),
	KEY("subsystem", &pci_id, "Subsystem vendor and device id of the members."),
	KEY("ports", &card_ports, "Number of functions that the card of a member has."),
	KEY("expect", &set_size,
	    "Number of members that the machine must have; default \">=1\" for a set that is named "
	    "or protected.",
	    .class = KEY_JUDGES),
	KEY("link", &link_layer, "Kind of port that the members have."),
	KEY("in", &spec_set_name,
	    "Wider set that contains this set, and whose settings this set inherits."),
	KEY("address", &pci_address, "PCI address of the members."),
	KEY("driver", &spec_module, "Module that is bound to the members."),
	KEY("numa", &spec_numa_node, "NUMA node of the members."),
	KEY("protect", &spec_bool,
	    "Whether the members are left alone: no section may name the set, and no other set "
	    "includes the members; default false.",
	    .class = KEY_GOVERNS),
	KEY("port", &card_port, "Place of a member among the functions of its card."),
	KEY("part_number", &pattern,
	    "Part number in the vital product data of the members, as a text or shell pattern."));
static const struct spec devices = BY_SET(device_set, "");

const struct spec spec_on_drift =
	ONE_OF("a consequence of a later change",
	       MEANS("lapse", "the verdict lapses: the node accepts no more work"),
	       MEANS("warn", "the verdict stays, with a warning"));
const struct spec spec_page_size = {.what = "a page size",
				    .check = value_page_size,
				    .words = WORDS("64K", "2M", "32M", "512M", "1G", "16G")};
/* --- limits, also of checks --------------------------------------------------------------- */

/* The least is the default limit of kernels before 5.16. */
const struct spec spec_memlock =
	SIZE("a size such as 64G, or unlimited", 65536, INT64_C(1) << 50,
	     .meanings = WORDS(MEANS("unlimited", "no limit")), .pattern = "^" NUMBER_OF "[KMGT]$");
static const struct spec unit_name =
	TEXT("a service such as containerd.service", "^[A-Za-z0-9:_.@\\\\-]+\\.service$",
	     "write its whole name, with .service", .bytes = 255);
const struct spec spec_units = LIST_OF("a list of services", unit_name, ITEM_TEXT);

/* --- the document ------------------------------------------------------------------------- */

static const struct spec schema_number = {.what = "a schema number",
					  .check = value_schema,
					  .min = SCHEMA_MIN,
					  .max = SCHEMA_MAX,
					  .pattern = "^" NUMBER_OF "$"};
static const struct spec version = TEXT("a version such as 2.1", "^[A-Za-z0-9_.+~:-]+$",
					"use letters, digits and . + ~ : _ -", .bytes = 64);
static const struct spec base_list = LIST_OF("a list of profiles' names", name, ITEM_TEXT);
static const struct spec extends =
	EITHER("a profile's name or a list of them", .scalar = &name, .list = &base_list);
static const struct spec priority = INT("a number", -1000, 1000);

static const struct spec later_looks =
	ONE_OF("the word off", MEANS("off", "nothing looks at the node after its verdict"));

/* site.c applies the defaults and rejects keys that are not implemented. */
const struct spec schema_site = MAP(
	"a map of keys",
	KEY("schema", &schema_number, "Schema number of this file.", .flags = FIELD_OWN),
	KEY("admit_off", &spec_bool,
	    "Whether a node that was booted with railhead=off admits work; default false."),
	KEY("admit_none", &spec_bool,
	    "Whether a node that no profile matches admits work; default false."),
	KEY("require_signature", &spec_bool, "Whether profiles must be signed; not implemented."),
	KEY("boot_complete", &spec_bool,
	    "Whether boot-complete.target requires a verdict that admits work; default false."),
	KEY("reboot", &spec_bool,
	    "Whether railhead may reboot the node for new kernel arguments; default true."),
	KEY("recheck", &later_looks,
	    "Whether a node that may take work is looked at again; the word off ends these "
	    "looks."));

#define OF_THE_FILE (FIELD_NO_DROPIN | FIELD_NOT_INHERITED)

/* match is inherited, so a variant of a SKU need not repeat the conditions of its base. */
const struct spec schema_document =
	MAP("a map of sections",

	    KEY("schema", &schema_number, "Schema number of this document.",
		.flags = FIELD_OWN | FIELD_NOT_INHERITED),
	    KEY("name", &name, "Name of the profile: its file without .yaml.",
		.flags = FIELD_OWN | OF_THE_FILE),
	    KEY("version", &version,
		"Version of the profile; a new one has refused kernel arguments tried again.",
		.flags = OF_THE_FILE),
	    KEY("extends", &extends, "Bases that this profile is laid over, from left to right.",
		.flags = OF_THE_FILE),
	    KEY("abstract", &spec_bool,
		"Whether this profile is a base that no machine matches; default false.",
		.flags = OF_THE_FILE),
	    KEY("priority", &priority,
		"Rank among matching profiles that are not bases of each other; the "
		"highest wins, default 0.",
		.flags = OF_THE_FILE),
	    KEY("match", &match, "Conditions that the machines of this profile meet.",
		.class = KEY_SELECTS),
	    KEY("devices", &devices, "Sets of PCI functions that other sections name.",
		.class = KEY_SELECTS));
