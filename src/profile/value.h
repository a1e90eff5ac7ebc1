/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scalar_checks that the tables refer to. */
#pragma once

#include "profile/schema.h"

/*
 * A number in a profile's notation, in the type of v: true, 4096, the word with that index. NULL:
 * no notation exists. The caller frees.
 */
char *value_text(const struct value *v, int64_t number);

scalar_check value_schema, value_name, value_label, value_bool, value_int, value_count, value_word;
scalar_check value_size, value_page_size, value_mode, value_duration, value_latency, value_rate,
	value_measure, value_speed;
scalar_check value_message_rate, value_capability;
scalar_check value_percent, value_metres, value_per_node, value_numbers, value_cpus, value_memory,
	value_version;
scalar_check value_set_name, value_on_set, value_pci_id, value_pci_address, value_mac, value_guid;
scalar_check value_module, value_param, value_module_value, value_kernel_arg, value_pattern;
scalar_check value_sysctl_key, value_sysfs_path, value_line, value_feature;
scalar_check value_unit, value_mount_point, value_mount_options, value_fs_type;
