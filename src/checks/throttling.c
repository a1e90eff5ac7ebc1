/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * throttling: how often a CPU or its package slowed down because of heat since the CPU came online
 * (drivers/thermal/intel/therm_throt.c, which only Intel's CPUs have). Each thread keeps its own
 * count of events of its package, so the highest count is that of the package.
 */
#include <stdio.h>
#include <string.h>

#include "checks/counters.h"
#include "sys/read.h"

#define CPU "/sys/devices/system/cpu/cpu"

#define HEAT "the CPU is too hot for its load: check fans, air flow, heat sinks and the BMC's log"

#define ROW(file_)                                                                                 \
	{                                                                                          \
		.file = file_, .class = COUNTER_RISE, .fault = FAULT_CPU_THROTTLED, .remedy = HEAT \
	}

static const struct counter counters[] = {
	ROW("core_throttle_count"),
	ROW("package_throttle_count"),
};

static int find(const struct root *root, const struct change *c, struct strv *ret, struct err *err)
{
	(void)c;
	return read_glob(root, CPU "[0-9]*/thermal_throttle", ret, err);
}

static char *name(const struct root *root, const char *path, const struct counter *k)
{
	int len = (int)strcspn(path + strlen(CPU), "/");
	cleanup_free char *package = NULL;

	if (k == &counters[0] ||
	    read_attr(root, &package, NULL, CPU "%.*s/topology/physical_package_id", len,
		      path + strlen(CPU)) < 0)
		return xasprintf("CPU %.*s", len, path + strlen(CPU));
	return xasprintf("package %s", package);
}

static const struct counter_family throttle = {
	.sort = "throttling",
	.counters = counters,
	.n = array_len(counters),
	.find = find,
	.name = name,
	.of_node = true,
	.absent = "the kernel does not count throttling here, because it does so only on Intel's "
		  "CPUs; for other CPUs and for a virtual machine write optional: true",
};

const struct counter_look throttling_look =
	COUNTER_LOOK(&throttle, FAULT_CPU_THROTTLED, .classes = COUNTER_RISE);

static void emit(const struct checked *t)
{
	counters_emit_rise(t, (struct subject){"cpus", -1}, "", &throttling_look, false);
}

CHECK(throttling, .optional = {"rise"}, .look_whole = emit);
