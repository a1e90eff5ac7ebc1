/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/synonyms.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "node/drivers.h"
#include "profile/keypath.h"
#include "profile/yaml.h"

/* Words in lower case, without '-' and '_', with the path of the language's row. */
const struct synonym synonyms_of_keys[] = {
	/* SriovNetworkNodePolicy of sriov-network-operator; iproute2, sysfs */
	{"numvfs", "sriov.SET.vfs"},
	{"sriovnumvfs", "sriov.SET.vfs"},
	{"totalvfs", "sriov.SET.vfs"},
	{"vfcount", "sriov.SET.vfs"},
	{"devicetype", "sriov.SET.vf.driver"},
	{"eswitchmode", "sriov.SET.mode"},
	{"spoofchk", "sriov.SET.vf.spoof_check"},
	{"maxtxrate", "sriov.SET.vf.max_rate"},
	{"mintxrate", "sriov.SET.vf.min_rate"},
	{"linktype", "devices.SET.link"},
	{"rootdevices", "devices.SET.address"},
	{"pciaddress", "devices.SET.address"},
	{"bdf", "devices.SET.address"},
	{"deviceid", "devices.SET.pci"},
	{"vendorid", "devices.SET.pci"},
	{"nicselector", "devices.SET.pci"},
	{"pfnames", "devices.SET.pci"},
	{"numanode", "devices.SET.numa"},
	{"nodeselector", "match"},
	/* tuned */
	{"cmdline", "kernel_args.set"},
	{"isolatedcores", "kernel_args.isolate_cpus"},
	{"transparenthugepages", "memory.thp"},
	{"transparenthugepage", "memory.thp"},
	{"energyperfbias", "cpu.epp"},
	{"energyperformancepreference", "cpu.epp"},
	{"forcelatency", "cpu.max_cstate_latency"},
	{"elevator", "block.SET.scheduler"},
	{"readahead", "block.SET.read_ahead"},
	{"readaheadkb", "block.SET.read_ahead"},
	/* kubelet, PerformanceProfile, Talos, bootc, ignition */
	{"reservedsystemcpus", "kernel_args.isolate_cpus.keep"},
	{"reservedcpus", "kernel_args.isolate_cpus.keep"},
	{"isolatedcpus", "kernel_args.isolate_cpus"},
	{"isolcpus", "kernel_args.isolate_cpus"},
	{"nohzfull", "kernel_args.isolate_cpus"},
	{"additionalkernelargs", "kernel_args.set"},
	{"extrakernelargs", "kernel_args.set"},
	{"kernelarguments", "kernel_args.set"},
	{"kernelparameters", "kernel_args.set"},
	{"bootargs", "kernel_args.set"},
	{"kargs", "kernel_args.set"},
	{"append", "kernel_args.set"},
	{"hugepagessize", "hugepages[].size"},
	{"pagesize", "hugepages[].size"},
	{"defaulthugepagessize", "hugepages[].default"},
	{"nrhugepages", "hugepages[].per_node"},
	{"count", "hugepages[].per_node"},
	{"kernelmodules", "modules.load"},
	{"modulesload", "modules.load"},
	{"softdep", "modules.load"},
	{"modprobe", "modules.options"},
	{"denylist", "modules.blacklist"},
	{"iommumode", "kernel_args.iommu"},
	{"inteliommu", "kernel_args.iommu"},
	{"amdiommu", "kernel_args.iommu"},
	/* ethtool, ip link, networkd, nmstate */
	{"rxqueues", "link.SET.channels.rx"},
	{"txqueues", "link.SET.channels.tx"},
	{"combinedchannels", "link.SET.channels.combined"},
	{"combined", "link.SET.channels.combined"},
	{"numqueues", "link.SET.channels.combined"},
	{"queues", "link.SET.channels.combined"},
	{"ring", "link.SET.rings"},
	{"ringrx", "link.SET.rings.rx"},
	{"ringtx", "link.SET.rings.tx"},
	{"rxbuffersize", "link.SET.rings.rx"},
	{"txbuffersize", "link.SET.rings.tx"},
	{"rxring", "link.SET.rings.rx"},
	{"txring", "link.SET.rings.tx"},
	{"txqueuelen", "link.SET.tx_queue_len"},
	{"txqlen", "link.SET.tx_queue_len"},
	{"adaptiverx", "link.SET.coalesce.adaptive_rx"},
	{"adaptivetx", "link.SET.coalesce.adaptive_tx"},
	{"offloads", "link.SET.features"},
	{"privflags", "link.SET.private_flags"},
	{"mtubytes", "link.SET.mtu"},
	{"flowcontrol", "link.SET.pause"},
	/* mlnx_qos, cma_roce_tos, nic-configuration-operator, dcb */
	{"dscp2prio", "qos.SET.dscp_map"},
	{"dscpprio", "qos.SET.dscp_map"},
	{"prio2tc", "qos.SET.ets.priorities"},
	{"priotc", "qos.SET.ets.priorities"},
	{"tcbw", "qos.SET.ets.bandwidth"},
	{"tsa", "qos.SET.ets.scheduling"},
	{"prio2buffer", "qos.SET.buffers.priorities"},
	{"buffersize", "qos.SET.buffers.sizes"},
	{"cablelen", "qos.SET.cable_length"},
	{"tos", "qos.SET.roce_tos"},
	{"cmarocetos", "qos.SET.roce_tos"},
	{"cnpdscp", "qos.SET.dcqcn.np.cnp_dscp"},
	{"ecn", "qos.SET.dcqcn"},
	/* setpci, lspci, the BIOS */
	{"maxreadreq", "pcie.SET.max_read_request"},
	{"mrrs", "pcie.SET.max_read_request"},
	{"mps", "pcie.SET.max_payload"},
	{"maxpayloadsize", "pcie.SET.max_payload"},
	{"ro", "pcie.SET.relaxed_ordering"},
	/* irqbalance, systemd, limits.conf, fstab */
	{"smpaffinity", "irq.SET.affinity"},
	{"irqaffinity", "irq.SET.affinity"},
	{"ulimits", "limits"},
	{"limitmemlock", "limits.memlock"},
	{"maxlockedmemory", "limits.memlock"},
	{"limitnofile", "limits.nofile"},
	{"openfiles", "limits.nofile"},
	{"fstab", "mounts"},
	{"turbo", "cpu.boost"},
	{"noturbo", "cpu.boost"},
	{"scalinggovernor", "cpu.governor"},
	{"cstates", "cpu.max_cstate_latency"},
	{"autonuma", "cpu.numa_balancing"},
	{"zonereclaimmode", "memory.zone_reclaim"},
	{"vendor", "match.dmi.sys_vendor"},
	{"model", "match.dmi.product_name"},
	{"architecture", "match.arch"},
	{NULL, NULL},
};

/* Whole values; a row applies to every key that accepts the second word. */
const struct synonym synonyms_of_words[] = {
	{"pt", "passthrough"},
	{"iommu.passthrough", "passthrough"},
	{"iommu.passthrough=1", "passthrough"},
	{"iommu=pt", "passthrough"},
	{"nopt", "strict"},
	{"off", "disabled"},
	{"x86-64", "x86_64"},
	{"amd64", "x86_64"},
	{"arm64", "aarch64"},
	{"GenuineIntel", "intel"},
	{"AuthenticAMD", "amd"},
	{"Intel", "intel"},
	{"AMD", "amd"},
	{"Ethernet", "ethernet"},
	{"ETH", "ethernet"},
	{"eth", "ethernet"},
	{"RoCE", "ethernet"},
	{"roce", "ethernet"},
	{"InfiniBand", "infiniband"},
	{"IB", "infiniband"},
	{"ib", "infiniband"},
	{"netdevice", "netdev"},
	{"vfio", DRIVER_VFIO},
	{"vfio_pci", DRIVER_VFIO},
	{"Follow", "auto"},
	{"follow", "auto"},
	{"Up", "enable"},
	{"up", "enable"},
	{"Down", "disable"},
	{"down", "disable"},
	{"deadline", "mq-deadline"},
	{"noop", "none"},
	{"gen3", "8GT/s"},
	{"Gen3", "8GT/s"},
	{"gen4", "16GT/s"},
	{"Gen4", "16GT/s"},
	{"gen5", "32GT/s"},
	{"Gen5", "32GT/s"},
	{"gen6", "64GT/s"},
	{"Gen6", "64GT/s"},
	{"EDR", "100Gb/s"},
	{"HDR", "200Gb/s"},
	{"NDR", "400Gb/s"},
	{"XDR", "800Gb/s"},
	{"x1", "1"},
	{"x4", "4"},
	{"x8", "8"},
	{"x16", "16"},
	{"1024M", "1G"},
	{"1024MB", "1G"},
	{"1048576K", "1G"},
	{"1048576kB", "1G"},
	{"2048K", "2M"},
	{"2048kB", "2M"},
	{"infinity", "unlimited"},
	{"-1", "unlimited"},
	{"all", "max"},
	{NULL, NULL},
};

/* Endings of numbers elsewhere, and here; of two similar endings the longer comes first. */
static const struct synonym endings[] = {
	{"GiB/s", "GB/s"}, {"MiB/s", "MB/s"}, {"Gbit/s", "Gb/s"}, {"Mbit/s", "Mb/s"},
	{"Gbps", "Gb/s"},  {"gbps", "Gb/s"},  {"Mbps", "Mb/s"},	  {"mbps", "Mb/s"},
	{"Gbit", "Gb/s"},  {"gbit", "Gb/s"},  {"GBps", "GB/s"},	  {"Gb", "Gb/s"},
	{"G", "Gb/s"},	   {"g", "Gb/s"},     {"GT", "GT/s"},	  {"GTps", "GT/s"},
	{"GiB", "G"},	   {"MiB", "M"},      {"KiB", "K"},	  {"TiB", "T"},
	{"GB", "G"},	   {"MB", "M"},	      {"kB", "K"},	  {"KB", "K"},
	{"TB", "T"},	   {"Gi", "G"},	      {"Mi", "M"},	  {"Ki", "K"},
	{"Ti", "T"},	   {"g", "G"},	      {"m", "M"},	  {"k", "K"},
	{"seconds", "s"},  {"secs", "s"},     {"sec", "s"},	  {"minutes", "m"},
	{"mins", "m"},	   {"min", "m"},      {"hours", "h"},	  {"hour", "h"},
	{"msec", "ms"},	   {"usecs", "us"},   {"usec", "us"},	  {"\xc2\xb5s", "us"},
	{"percent", "%"},  {"bytes", ""},     {"b", ""},	  {NULL, NULL},
};

/*
 * Units that are none here, in bytes or bytes per second: the remedy converts the number. kB and MB
 * are powers of 1024, as the kernel and the sizes of messages have them.
 */
struct size {
	const char *unit;
	double bytes;
};
static const struct size foreign_units[] = {
	{"GiB/s", 0x1p30}, {"MiB/s", 0x1p20}, {"GB", 1e9}, {"TB", 1e12}, {NULL, 0}};

/* Folds a word to the form used in synonyms_of_keys. */
static char *fold(const char *word)
{
	struct str out = {0};

	for (; *word; word++)
		if (*word != '-' && *word != '_')
			str_addf(&out, "%c", tolower((unsigned char)*word));
	return str_take(&out);
}

const char *synonym_key(const char *said)
{
	cleanup_free char *folded = fold(said);

	for (const struct synonym *s = synonyms_of_keys; folded && s->said; s++)
		if (streq(s->said, folded))
			return s->meant;
	return NULL;
}

bool synonym_is_in(const struct ynode *map, const char *key)
{
	for (size_t i = 0; i < map->keys.n; i++) {
		const char *row = synonym_key(map->keys.v[i]->text);

		if (row && streq(keypath_last(row), key))
			return true;
	}
	return false;
}

static size_t number_end(const char *text)
{
	size_t start = strspn(text, ">= ");

	return start + strspn(text + start, "0123456789.");
}

static bool is_unit(const char *text)
{
	for (const struct synonym *s = endings; s->said; s++)
		if (streq(text, s->said) || streq(text, s->meant))
			return true;
	return false;
}

/* Removes blanks before a number or its unit: ">= 2", "400 Gb/s". NULL: nothing to remove. */
static char *without_blanks(const char *text)
{
	size_t end = number_end(text);
	const char *unit = text + end + strspn(text + end, " ");
	struct str out = {0};

	if (!strchr(text, ' ') || (*unit && !is_unit(unit)))
		return NULL;
	for (; *text; text++)
		if (*text != ' ')
			str_addf(&out, "%c", *text);
	return str_take(&out);
}

/*
 * 2000GB as 1862G, 180GiB/s as 193GB/s: in the largest unit in which less than 1% is cut off. NULL:
 * the unit is not foreign, or no unit fits. The caller frees.
 */
static char *convert(const char *text, size_t digits)
{
	static const struct size units[] = {{"T", 0x1p40}, {"G", 0x1p30}, {"M", 0x1p20},
					    {"K", 0x1p10}, {"GB/s", 1e9}, {"MB/s", 1e6}};
	size_t sign = strcspn(text, "0123456789");
	const struct size *from = foreign_units;
	double bytes;

	while (from->unit && !streq(text + digits, from->unit))
		from++;
	bytes = strtod(text + sign, NULL) * from->bytes;
	for (size_t i = 0; from->unit && i < array_len(units); i++)
		if (bytes >= 100 * units[i].bytes &&
		    str_ends(from->unit, "/s") == str_ends(units[i].unit, "/s"))
			return xasprintf("%.*s%llu%s", (int)sign, text,
					 (unsigned long long)(bytes / units[i].bytes),
					 units[i].unit);
	return NULL;
}

/*
 * "1GiB" becomes 1G, if spec accepts that. The text must have a number before the ending. The words
 * of a spec are the powers of two that 1GB stands for, a page size.
 */
static char *other_ending(const struct spec *spec, synonym_test *accepts, const char *text)
{
	size_t digits = number_end(text);

	if (!digits || !isdigit((unsigned char)text[digits - 1]))
		return NULL;
	for (const struct synonym *s = endings; s->said; s++) {
		cleanup_free char *same = NULL, *converted = NULL;

		if (!streq(text + digits, s->said))
			continue;
		same = xasprintf("%.*s%s", (int)digits, text, s->meant);
		converted = convert(text, digits);
		if (converted && accepts(spec, converted))
			return take_ptr(converted);
		if (accepts(spec, same))
			return take_ptr(same);
	}
	return NULL;
}

char *synonym_value(const struct spec *spec, synonym_test *accepts, const char *said)
{
	cleanup_free char *dense = without_blanks(said);
	const char *text = dense ?: said;

	if (dense && *dense && accepts(spec, dense))
		return take_ptr(dense);
	for (const struct synonym *s = synonyms_of_words; s->said; s++)
		if (streq(s->said, text) && accepts(spec, s->meant))
			return xstrdup(s->meant);
	return other_ending(spec, accepts, text);
}
