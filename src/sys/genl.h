/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Generic netlink: each boot assigns a number to the name of a family. The messages of a family are
 * in a separate file (devlink.c, ethtool.c).
 */
#pragma once

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { GENL_FAMILY_MESSAGE_MAX = 128 };

/* Number of a family; -ENOENT if the kernel has no family with that name. Never blocks. */
int genl_family(const char *name, uint16_t *ret, struct err *err);

/* Begins a message, as netlink_message() does. */
struct nlmsghdr *genl_message(void *buf, size_t size, uint16_t family, uint8_t cmd, uint8_t version,
			      uint16_t flags);
/* Fills buf (GENL_FAMILY_MESSAGE_MAX). */
struct nlmsghdr *genl_family_message(void *buf, const char *name);

/* Parsers of answers with any content: -EBADMSG if the attribute is missing. */
int genl_parse_family(const void *data, size_t len, uint16_t *ret, struct err *err);
int genl_parse_u16(const void *data, size_t len, uint16_t type, uint16_t *ret, struct err *err);
/*
 * The first attribute of that type in an answer, or in a nest (which may be NULL); NULL if missing.
 */
const struct nlattr *genl_find(const void *data, size_t len, uint16_t type);
const struct nlattr *genl_find_nested(const struct nlattr *in, uint16_t type);
