/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * devlink of a PCI function, by its address ("0000:3b:00.0"): eswitch mode, and the settings for
 * SR-IOV in the firmware. Documentation/networking/devlink/; include/uapi/linux/devlink.h.
 * Questions need CAP_NET_ADMIN and wait for the function's devlink lock, so a child must ask them.
 */
#pragma once

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/netlink.h"

enum eswitch_mode {
	ESWITCH_LEGACY, /* as DEVLINK_ESWITCH_MODE_* */
	ESWITCH_SWITCHDEV,
	ESWITCH_OTHER, /* a mode that only later kernels know */
};

/*
 * -ENODEV: the driver or the kernel has no devlink; -EOPNOTSUPP: the function has no eswitch. Both
 * are equivalent to legacy mode. -EPERM: not root.
 */
int devlink_eswitch(const char *addr, enum eswitch_mode *ret, struct err *err);

/*
 * The firmware's settings for the next power cycle: the permanent parameters enable_sriov and
 * total_vfs (mlx5 since Linux 6.18). -EOPNOTSUPP, -EINVAL or -ENODEV: the firmware has none.
 */
struct devlink_sriov {
	bool enable;
	uint32_t total_vfs;
};
int devlink_sriov(const char *addr, struct devlink_sriov *ret, struct err *err);

/* --- the parts, for machine_link.c and the tests ------------------------------------------ */

enum { DEVLINK_MESSAGE_MAX = 512 };

/* Each function fills buf (DEVLINK_MESSAGE_MAX, aligned as struct nlmsghdr) and returns buf. */
struct nlmsghdr *devlink_message(void *buf, uint16_t family, uint8_t cmd, uint16_t flags,
				 const char *addr);
struct nlmsghdr *devlink_eswitch_message(void *buf, uint16_t family, const char *addr,
					 enum eswitch_mode mode);
struct nlmsghdr *devlink_param_message(void *buf, uint16_t family, const char *addr,
				       const char *param);

/* Number of the family "devlink"; -ENODEV if the kernel lacks the family. Never blocks. */
int devlink_family(uint16_t *ret, struct err *err);

/* Parsers of answers with any content: -EBADMSG if the attribute is missing. */
int devlink_parse_eswitch(const void *data, size_t len, enum eswitch_mode *ret, struct err *err);
/*
 * The permanent value of a parameter; a flag is 0 or 1. -EOPNOTSUPP if the parameter has no
 * permanent value.
 */
int devlink_parse_param(const void *data, size_t len, uint32_t *ret, struct err *err);
