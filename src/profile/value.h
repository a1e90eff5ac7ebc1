/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What single values must look like: the scalar_checks that the tables refer to. */
#pragma once

#include "profile/schema.h"

scalar_check value_schema, value_name, value_label, value_bool, value_int, value_count, value_word;
scalar_check value_size, value_duration, value_rate, value_gts, value_cpus;
scalar_check value_memory, value_set_name, value_on_set;
scalar_check value_pci_id, value_pci_address, value_module, value_param, value_pattern;
scalar_check value_sysctl_key, value_sysfs_path, value_line, value_kernel_arg, value_module_value;
