/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme_health: the drive's own SMART / Health Information log (sys/nvme.h). Its critical warnings
 * are bits (NVM Express Base Specification, Get Log Page, "Critical Warning"); its media errors
 * count since the drive was made.
 */
#include <stdio.h>

#include "checks/counters.h"
#include "kinds/function.h"
#include "plan/change.h"
#include "profile/section.h"
#include "sys/nvme.h"
#include "sys/read.h"

enum { CLASS_NVME = 0x010802 };

#define REPLACE "back up the drive, and replace it"
#define WARNING(bit_, fault_, remedy_, text_)                                               \
	{                                                                                   \
		.file = "critical_warning", .text = text_, .class = COUNTER_FAULT,          \
		.fault = FAULT_STORAGE_##fault_, .remedy = remedy_, .bytes = 1, .bit = bit_ \
	}

static const struct counter counters[] = {
	WARNING(1, FAILING, REPLACE, "its spare blocks are used up to their threshold"),
	WARNING(2, HOT, "check fans and air flow", "its temperature is beyond a threshold"),
	WARNING(3, FAILING, REPLACE, "its reliability is degraded by media or internal errors"),
	WARNING(4, FAILING, REPLACE, "it is read-only"),
	WARNING(5, FAILING, REPLACE, "the backup of its volatile memory has failed"),
	WARNING(6, FAILING, REPLACE, "its persistent memory region is unreliable, or is read-only"),
	WARNING(7, FAILING, REPLACE, "a critical warning that railhead does not know (bit 6)"),
	WARNING(8, FAILING, REPLACE, "a critical warning that railhead does not know (bit 7)"),
	{
		.file = "media_errors",
		.class = COUNTER_RISE,
		.fault = FAULT_STORAGE_FAILING,
		.remedy = REPLACE,
		.at = 160,
		.bytes = 8, /* of 16 bytes, whose upper ones stay 0 in the life of a drive */
	},
	{
		.file = "percentage_used",
		.class = COUNTER_WEAR,
		.fault = FAULT_STORAGE_WORN,
		.remedy = "plan to replace the drive",
		.at = 5,
		.bytes = 1,
	},
};

/* The controllers that the driver made of the function; their namespaces share the log. */
static int find(const struct root *root, const struct change *c, struct strv *ret, struct err *err)
{
	int r = function_gone(root, c->on.name, err);

	if (r == 0)
		read_dir(root, ret, NULL, "/sys/bus/pci/devices/%s/nvme", c->on.name);
	return r;
}

static char *name(const struct root *root, const char *path, const struct counter *k)
{
	(void)root;
	(void)k;
	return xstrdup(path);
}

static uint64_t value_at(const uint8_t *log, const struct counter *k)
{
	uint64_t v = 0;

	for (unsigned int i = k->bytes; i-- > 0;)
		v = v << 8 | log[k->at + i];
	return k->bit ? v >> (k->bit - 1) & 1 : v;
}

static int read_log(const struct root *root, const char *path, const struct counter_family *f,
		    uint64_t *values, bool *there, struct err *err)
{
	uint8_t log[NVME_HEALTH_SIZE];
	int r = root->live ? nvme_health(root, path, log, err) : 0;

	for (size_t i = 0; r == 0 && root->live && i < f->n; i++) {
		values[i] = value_at(log, &f->counters[i]);
		there[i] = true;
	}
	return r;
}

static const struct counter_family smart = {
	.sort = "nvme-health",
	.counters = counters,
	.n = array_len(counters),
	.waits_on = "nvme",
	.find = find,
	.name = name,
	.read = read_log,
	.absent = "it has no NVMe controller (here): its driver nvme is not bound, or a guest has "
		  "it (vfio-pci)",
};

const struct counter_look nvme_health_look =
	COUNTER_LOOK(&smart, FAULT_STORAGE_FAILING, .classes = COUNTER_FAULT);
const struct counter_look nvme_rise_look =
	COUNTER_LOOK(&smart, FAULT_STORAGE_FAILING, .classes = COUNTER_RISE, .follows = true);
const struct counter_look nvme_wear_look = COUNTER_LOOK(
	&smart, FAULT_STORAGE_WORN, .classes = COUNTER_WEAR, .at_most = true, .follows = true);

static void emit(const struct checked *t, struct subject of)
{
	struct change *wear;

	counters_emit(t, of, "", &nvme_health_look, "0");
	counters_emit_rise(t, of, "/rise", &nvme_rise_look, true);
	wear = counters_emit_at_most(t, of, "wear", &nvme_wear_look);
	if (wear) /* a worn drive still works */
		wear->on_fail = ON_FAIL_WARN;
}

/* Without a set: all drives of the node. */
static void emit_all(const struct checked *t)
{
	const struct pci_functions *functions = node_functions(t->ctx->node);

	for (size_t i = 0; i < functions->n; i++)
		if (functions->v[i].class == CLASS_NVME)
			emit(t, (struct subject){functions->v[i].addr, -1});
}

CHECK(nvme_health, .optional = {"on", "wear", "rise", "on_rise"}, .look = emit,
      .look_whole = emit_all);
