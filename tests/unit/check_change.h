/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A change of kind check by its target as a plan shows it: "speed:PF/2" and "400Gb/s". */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "checks/looks.h"
#include "kinds/checks.h"
#include "plan/change.h"
#include "profile/language.h"
#include "profile/yaml.h"

static const struct {
	const char *sort;
	const struct target_item *item;
	bool (*check)(const struct spec *spec, struct ynode *n, struct str *why);
} check_sorts[] = {
	{"carrier", &carrier_item, NULL},
	{"speed", &port_speed_item, value_speed},
	{"iommu-group", &iommu_group_item, NULL},
	{"iommu-type", &iommu_type_item, value_word},
	{"pcie-width", &pcie_width_item, NULL},
	{"pcie-speed", &pcie_speed_item, value_speed},
	{"pcie-payload", &pcie_payload_item, NULL},
	{"pcie-errors", &pcie_errors_item, NULL},
	{"pcie-corrected", &pcie_corrected_item, NULL},
	{"rdma-link", &rdma_link_item, NULL},
	{"rdma-speed", &rdma_speed_item, value_speed},
	{"memlock", &unit_memlock_item, value_amount},
	{"gpu-driver", &gpu_driver_item, NULL},
	{"gpudirect", &gpudirect_item, NULL},
	{"gpu-xid", &gpu_xid_item, NULL},
	{"driver-version", &driver_version_item, NULL},
	{"firmware-version", &firmware_version_item, NULL},
};

static const struct spec check_words = {
	.what = "a word",
	.words = WORDS("identity", "DMA", "DMA-FQ"),
	.units = &units_bytes,
};

/* max and unlimited are words, and so is what the kernel calls types of groups. */
static inline void check_wants(struct change *c, const char *desired, scalar_check *check)
{
	static const char *const flavors[] = {"open", "proprietary", "any"};
	struct ynode n = {.text = (char *)desired};
	cleanup_str struct str why = {0};

	if (streq(desired, "max") || streq(desired, "unlimited")) {
		c->want.type = VALUE_WORD;
	} else if (check) {
		assert_true(check(&check_words, &n, &why));
		c->want = n.value;
		c->want.spec = &check_words;
	} else {
		c->want = (struct value){
			.type = VALUE_NUMBER,
			.number = streq(desired, "isolated") ? 1 : strtoll(desired, NULL, 10)};
	}
	if (c->on.item == &pcie_payload_item)
		c->want.number = __builtin_ctzll((unsigned long long)c->want.number) - 7;
	for (size_t i = 0; c->on.item == &gpu_driver_item && i < array_len(flavors); i++)
		if (streq(desired, flavors[i]))
			c->want.number = (int64_t)i;
}

static inline void check_about(struct change *c, const char *target, const char *desired)
{
	const char *colon = strchr(target, ':'), *rest = colon + 1;
	size_t len = strcspn(rest, "/,");
	cleanup_free char *name = xstrndup(rest, len);

	change_target(c, "%s", target);
	change_desired(c, "%s", desired);
	for (size_t i = 0; i < array_len(check_sorts); i++)
		if (strncmp(target, check_sorts[i].sort, (size_t)(colon - target)) == 0 &&
		    !check_sorts[i].sort[colon - target]) {
			change_on(c, name, check_sorts[i].item);
			check_wants(c, desired, check_sorts[i].check);
		}
	assert_non_null(c->on.item);
	if (rest[len] == '/')
		c->on.vf = atoi(rest + len + 1);
	else if (rest[len] == ',')
		change_part(c, rest + len + 1, NULL, NULL);
}
