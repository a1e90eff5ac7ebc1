/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory_errors: what EDAC has counted since its driver came (Documentation/ABI/testing/
 * sysfs-devices-edac). A controller's totals hold those of its DIMMs, or ranks, and those whose
 * DIMM is not known (drivers/edac/edac_mc.c, edac_inc_ce_error()): here each error is counted once.
 *
 * No corrected error may come under load, where the profile says nothing: mcelog reports a DIMM
 * that has ten of them in a day (ce-error-threshold of mcelog.conf), and the gate is a minute.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "checks/counters.h"
#include "sys/read.h"
#include "sys/smbios.h"

#define EDAC "/sys/devices/system/edac/mc/"

static const struct counter counters[] = {
	{
		.file = "ue_count",
		.text = "uncorrected errors",
		.class = COUNTER_FAULT,
		.fault = FAULT_MEMORY_ERRORS,
		.remedy = "data was lost: replace the DIMM; if no DIMM is named, see the BMC's log",
	},
	{
		.file = "ce_count",
		.text = "corrected errors",
		.class = COUNTER_RISE,
		.fault = FAULT_MEMORY_CORRECTED,
		.remedy = "the DIMM or its contacts are failing: reseat the DIMM, and replace it "
			  "if errors occur again",
	},
};

/* Finds the controllers and their DIMMs or ranks. */
static int find(const struct root *root, const struct change *c, struct strv *ret, struct err *err)
{
	static const char *const patterns[] = {
		EDAC "mc[0-9]*",
		EDAC "mc[0-9]*/dimm[0-9]*",
		EDAC "mc[0-9]*/rank[0-9]*",
	};
	int r = 0;

	(void)c;
	for (size_t i = 0; r == 0 && i < array_len(patterns); i++)
		r = read_glob(root, patterns[i], ret, err);
	return r;
}

static bool is_controller(const char *path)
{
	return !strchr(path + strlen(EDAC), '/');
}

/*
 * "CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (mc0/dimm2)"; the board's own names, if someone configured them
 */
static char *name(const struct root *root, const char *path, const struct counter *k)
{
	const char *place = path + strlen(EDAC);
	cleanup_free char *label = NULL;

	(void)k;
	if (is_controller(path))
		return xasprintf("%s, DIMM not known", place);
	if (read_attr(root, &label, NULL, "%s/dimm_label", path) < 0 || !*label)
		return xstrdup(place);
	return xasprintf("%.*s (%s)", (int)strcspn(label, "\n"), label, place);
}

/* The sum of a counter over the DIMMs of a controller. */
static uint64_t sum_dimms(const struct root *root, const char *controller, const char *file)
{
	cleanup_free char *pattern = xasprintf("%s/*[0-9]/dimm_%s", controller, file);
	cleanup_strv struct strv files = {0};
	uint64_t sum = 0;

	read_glob(root, pattern, &files, NULL);
	for (size_t i = 0; i < files.n; i++) {
		uint64_t n = 0;

		read_u64(root, &n, NULL, "%s", files.v[i]);
		sum += n;
	}
	return sum;
}

static int read_edac(const struct root *root, const char *path, const struct counter_family *f,
		     uint64_t *values, bool *there, struct err *err)
{
	bool whole = is_controller(path);

	(void)err;
	for (size_t i = 0; i < f->n; i++) {
		const char *file = f->counters[i].file;
		uint64_t dimms;

		there[i] = read_u64(root, &values[i], NULL, "%s/%s%s", path, whole ? "" : "dimm_",
				    file) == 0;
		if (!there[i] || !whole)
			continue;
		dimms = sum_dimms(root, path, file);
		/* an error may have come between the two */
		values[i] -= dimms < values[i] ? dimms : values[i];
	}
	return 0;
}

/* --- modules that nobody counts ---------------------------------------------------------- */

/* SMBIOS 3.7, 7.18: offsets in a memory device, little-endian words but for form and type. */
enum {
	DEVICE_WIDTH = 0x08, /* bits, with those of ECC */
	DEVICE_DATA_WIDTH = 0x0a,
	DEVICE_SIZE = 0x0c, /* 0: no module; 0xffff: unknown */
	DEVICE_FORM = 0x0e,
	DEVICE_TYPE = 0x12,
	FORM_DIMM = 0x09,
	UNKNOWN = 0xffff,
};

static unsigned int word(const struct smbios *s, size_t at)
{
	return s->at[at] | (unsigned int)s->at[at + 1] << 8;
}

/* A DIMM with ECC, which EDAC can count: no flash, no memory of a guest or on the board. */
static bool is_ecc_dimm(const struct smbios *s)
{
	static const uint8_t ddr[] = {0x18, 0x1a, 0x22}; /* DDR3, 4, 5 */

	return s->formatted > DEVICE_TYPE && s->at[DEVICE_FORM] == FORM_DIMM &&
	       memchr(ddr, s->at[DEVICE_TYPE], sizeof(ddr)) && word(s, DEVICE_SIZE) &&
	       word(s, DEVICE_SIZE) != UNKNOWN && word(s, DEVICE_WIDTH) != UNKNOWN &&
	       word(s, DEVICE_WIDTH) > word(s, DEVICE_DATA_WIDTH);
}

/*
 * Each DIMM once. A driver that knows chip selects has ranks (edac_mc.c, csbased), of which a DIMM
 * has those of an even select and the next.
 */
static void add_counted(const struct root *root, const char *path, struct strv *ret)
{
	cleanup_free char *location = NULL, *dimm = NULL;
	unsigned int row, channel;

	if (read_attr(root, &location, NULL, "%s/dimm_location", path) == 0 &&
	    sscanf(location, "csrow %u channel %u", &row, &channel) == 2)
		dimm = xasprintf("%.*s %u %u", (int)(strrchr(path, '/') - path), path, channel,
				 row / 2);
	if (!strv_contains(ret, dimm ?: path))
		strv_add(ret, dimm ?: path);
}

static char *uncounted(const struct root *root)
{
	cleanup_strv struct strv paths = {0}, counted = {0};
	struct smbios table;
	size_t n = 0;

	if (smbios_read(root, &table) < 0)
		return NULL;
	while (smbios_next(&table, SMBIOS_MEMORY_DEVICE))
		n += is_ecc_dimm(&table);
	free(table.table);
	find(root, NULL, &paths, NULL);
	for (size_t i = 0; i < paths.n; i++)
		if (!is_controller(paths.v[i]))
			add_counted(root, paths.v[i], &counted);
	return counted.n < n ? xasprintf("the kernel counts the errors of %zu of the %zu DIMMs "
					 "with ECC that the firmware lists",
					 counted.n, n)
			     : NULL;
}

static const struct counter_family edac = {
	.sort = "memory-errors",
	.counters = counters,
	.n = array_len(counters),
	.find = find,
	.name = name,
	.read = read_edac,
	.uncounted = uncounted,
	.to_count = "a DIMM is off, or EDAC has no driver for a memory controller (ECC may be "
		    "disabled there): see EDAC in the kernel log and `dmidecode -t memory`; where "
		    "the driver can't count them write optional: true",
	.of_node = true,
	.absent = "the kernel counts no memory errors here: no EDAC driver is bound to a memory "
		  "controller; load the driver of the CPU (modules.load: amd64_edac, skx_edac, "
		  "i10nm_edac), and see EDAC in the kernel log; for a virtual machine write "
		  "optional: true",
};

const struct counter_look memory_errors_look =
	COUNTER_LOOK(&edac, FAULT_MEMORY_ERRORS, .classes = COUNTER_FAULT);
const struct counter_look memory_rise_look =
	COUNTER_LOOK(&edac, FAULT_MEMORY_CORRECTED, .classes = COUNTER_RISE, .follows = true);
const struct counter_look memory_corrected_look = COUNTER_LOOK(
	&edac, FAULT_MEMORY_CORRECTED, .classes = COUNTER_RISE, .at_most = true, .follows = true);

static void emit(const struct checked *t)
{
	static const struct subject memory = {"memory", -1};

	counters_emit(t, memory, "", &memory_errors_look, "0");
	counters_emit_rise(t, memory, "/rise", &memory_rise_look, true);
	counters_emit_at_most(t, memory, "corrected", &memory_corrected_look);
}

CHECK(memory_errors, .optional = {"corrected", "rise", "on_rise"}, .look_whole = emit);
