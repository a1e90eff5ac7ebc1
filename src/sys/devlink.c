/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/devlink.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <stdio.h>

#include "sys/genl.h"

/* --- messages -------------------------------------------------------------------------- */

struct nlmsghdr *devlink_message(void *buf, uint16_t family, uint8_t cmd, uint16_t flags,
				 const char *addr)
{
	struct nlmsghdr *msg =
		genl_message(buf, DEVLINK_MESSAGE_MAX, family, cmd, DEVLINK_GENL_VERSION,
			     (uint16_t)(NLM_F_REQUEST | flags));

	mnl_attr_put_strz(msg, DEVLINK_ATTR_BUS_NAME, "pci");
	mnl_attr_put_strz(msg, DEVLINK_ATTR_DEV_NAME, addr);
	return msg;
}

struct nlmsghdr *devlink_eswitch_message(void *buf, uint16_t family, const char *addr,
					 enum eswitch_mode mode)
{
	struct nlmsghdr *msg =
		devlink_message(buf, family, DEVLINK_CMD_ESWITCH_SET, NLM_F_ACK, addr);

	mnl_attr_put_u16(msg, DEVLINK_ATTR_ESWITCH_MODE, (uint16_t)mode);
	return msg;
}

struct nlmsghdr *devlink_param_message(void *buf, uint16_t family, const char *addr,
				       const char *param)
{
	struct nlmsghdr *msg = devlink_message(buf, family, DEVLINK_CMD_PARAM_GET, 0, addr);

	mnl_attr_put_strz(msg, DEVLINK_ATTR_PARAM_NAME, param);
	return msg;
}

/* --- answers --------------------------------------------------------------------------- */

int devlink_parse_eswitch(const void *data, size_t len, enum eswitch_mode *ret, struct err *err)
{
	uint16_t mode;
	int r = genl_parse_u16(data, len, DEVLINK_ATTR_ESWITCH_MODE, &mode, err);

	if (r < 0)
		return r;
	*ret = mode < ESWITCH_OTHER ? mode : ESWITCH_OTHER;
	return 0;
}

/* Numbers have their own size; a flag is present (1) or absent (0). */
static uint32_t value_of(const struct nlattr *value)
{
	const struct nlattr *data = genl_find_nested(value, DEVLINK_ATTR_PARAM_VALUE_DATA);

	if (!data)
		return 0;
	switch (mnl_attr_get_payload_len(data)) {
	case 0:
		return 1;
	case sizeof(uint8_t):
		return mnl_attr_get_u8(data);
	case sizeof(uint16_t):
		return mnl_attr_get_u16(data);
	case sizeof(uint32_t):
		return mnl_attr_get_u32(data);
	default:
		return 0;
	}
}

int devlink_parse_param(const void *data, size_t len, uint32_t *ret, struct err *err)
{
	const struct nlattr *param = genl_find(data, len, DEVLINK_ATTR_PARAM);
	const struct nlattr *values = genl_find_nested(param, DEVLINK_ATTR_PARAM_VALUES_LIST),
			    *value;

	if (!values)
		return err_set(err, -EBADMSG, "the kernel's answer has no devlink parameter");
	mnl_attr_for_each_nested (value, values) {
		const struct nlattr *mode;

		if (mnl_attr_get_type(value) != DEVLINK_ATTR_PARAM_VALUE)
			continue;
		mode = genl_find_nested(value, DEVLINK_ATTR_PARAM_VALUE_CMODE);
		if (!mode || mnl_attr_get_payload_len(mode) < 1 ||
		    mnl_attr_get_u8(mode) != DEVLINK_PARAM_CMODE_PERMANENT)
			continue;
		*ret = value_of(value);
		return 0;
	}
	return err_set(err, -EOPNOTSUPP, "the devlink parameter has no permanent value");
}

/* --- questions ------------------------------------------------------------------------- */

int devlink_family(uint16_t *ret, struct err *err)
{
	int r = genl_family(DEVLINK_GENL_NAME, ret, err);

	return r == -ENOENT ? err_set(err, -ENODEV, "this kernel has no devlink") : r;
}

struct about {
	const char *addr;
	const char *param; /* NULL: the eswitch */
};

static int question(const void *arg, struct netlink_answer *ret, struct err *err)
{
	const struct about *q = arg;
	_Alignas(struct nlmsghdr) char buf[DEVLINK_MESSAGE_MAX];
	uint16_t family;
	int r = devlink_family(&family, err);

	if (r < 0)
		return r;
	if (q->param)
		devlink_param_message(buf, family, q->addr, q->param);
	else
		devlink_message(buf, family, DEVLINK_CMD_ESWITCH_GET, 0, q->addr);
	return netlink_talk(NETLINK_GENERIC, (struct nlmsghdr *)buf, ret, err);
}

static int ask(const struct about *q, struct netlink_answer *ret, struct err *err)
{
	char lock[64];

	snprintf(lock, sizeof(lock), "the devlink lock of %s", q->addr);
	return netlink_ask_apart(question, q, lock, NETLINK_APART_MS, ret, err);
}

int devlink_eswitch(const char *addr, enum eswitch_mode *ret, struct err *err)
{
	struct about q = {addr, NULL};
	struct netlink_answer got cleanup_answer = {0};
	int r = ask(&q, &got, err);

	return r < 0 ? r : devlink_parse_eswitch(got.data, got.len, ret, err);
}

static int ask_param(const char *addr, const char *param, uint32_t *ret, struct err *err)
{
	struct about q = {addr, param};
	struct netlink_answer got cleanup_answer = {0};
	int r = ask(&q, &got, err);

	return r < 0 ? r : devlink_parse_param(got.data, got.len, ret, err);
}

int devlink_sriov(const char *addr, struct devlink_sriov *ret, struct err *err)
{
	uint32_t enable, total;
	int r = ask_param(addr, "enable_sriov", &enable, err);

	if (r == 0)
		r = ask_param(addr, "total_vfs", &total, err);
	if (r == 0)
		*ret = (struct devlink_sriov){enable != 0, total};
	return r;
}
