/* SPDX-License-Identifier: GPL-2.0-or-later */
/* on.item of a change of kind_file; NULL: only systemd reads the file, as a unit. */
#pragma once

#include "base/err.h"

struct file_item {
	int (*reload)(struct err *err); /* makes those who may have read the file read it again */
};

/* vf.c: rules of udev for VFs, and the file of systemd-networkd for these */
extern const struct file_item vf_rules_file, vf_network_file;
/* irq.c: the drop-in of irqbalance's unit, and the functions that irqbalance leaves alone */
extern const struct file_item irqbalance_unit_file, irqbalance_list_file;
