/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answer to the question is a sequence of messages. For each netdev it has the kernel's
 * RTM_NEWLINK, a message of ours with the texts of the files (an attribute for each), and the
 * kernel's answer for each group of ethtool, or an NLMSG_ERROR if the kernel rejects a group.
 */
#include "sys/port.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "sys/read.h"

enum { FILES_MESSAGE = NLMSG_MIN_TYPE - 1, FILE_MAX = 64 /* name and text */ };

void ports_free(struct ports *ports)
{
	for (size_t i = 0; i < ports->n; i++) {
		vec_free(&ports->v[i].features);
		vec_free(&ports->v[i].private_flags);
		strv_free(&ports->v[i].files);
		free(ports->v[i].link.data);
		for (size_t g = 0; g < ETH_GROUPS; g++)
			free(ports->v[i].answer[g].data);
	}
	vec_free(ports);
}

bool port_attr(const struct port *port, uint16_t type, uint32_t *ret)
{
	const struct nlattr *attr;
	const void *attrs;
	size_t size;

	if (!port->link.data)
		return false;
	attrs = netlink_attrs(port->link.data, port->link.len, sizeof(struct ifinfomsg), &size);
	mnl_attr_for_each_payload (attrs, size)
		if (mnl_attr_get_type(attr) == type &&
		    mnl_attr_get_payload_len(attr) >= sizeof(*ret)) {
			*ret = mnl_attr_get_u32(attr);
			return true;
		}
	return false;
}

const char *port_file(const struct port *port, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < port->files.n; i++)
		if (str_starts(port->files.v[i], name) && port->files.v[i][len] == '=')
			return port->files.v[i] + len + 1;
	return NULL;
}

struct eth_number port_number(const struct port *port, const struct eth_item *item)
{
	const struct port_answer *answer = &port->answer[item->group];

	return answer->data ? eth_parse_number(answer->data, answer->len, item)
			    : (struct eth_number){0};
}

/* --- the answer --------------------------------------------------------------------------- */

static void get_text(const struct nlattr *attr, char *ret, size_t size)
{
	if (mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) == 0)
		snprintf(ret, size, "%s", mnl_attr_get_str(attr));
}

bool port_is_representor(const char *port_name)
{
	if (*port_name == 'c')
		port_name += 1 + strspn(port_name + 1, "0123456789");
	return str_starts(port_name, "pf");
}

/* Returns whether the netdev is the function's own. */
static bool parse_link(const void *data, size_t len, struct port *ret)
{
	char port_name[IFNAMSIZ] = "";
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(data);
	const struct nlattr *attr;
	size_t size;
	const void *attrs = netlink_attrs(data, len, sizeof(*info), &size);

	if (attrs == data)
		return false;
	ret->ifindex = (unsigned int)info->ifi_index;
	ret->up = info->ifi_flags & IFF_UP;
	mnl_attr_for_each_payload (attrs, size) {
		switch (mnl_attr_get_type(attr)) {
		case IFLA_IFNAME:
			get_text(attr, ret->name, sizeof(ret->name));
			break;
		case IFLA_PHYS_PORT_NAME:
			get_text(attr, port_name, sizeof(port_name));
			break;
		}
	}
	return !port_is_representor(port_name);
}

static void parse_files(const void *data, size_t len, struct port *port)
{
	size_t size;
	const void *attrs = netlink_attrs(data, len, 0, &size);
	const struct nlattr *attr;

	mnl_attr_for_each_payload (attrs, size)
		if (mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) == 0)
			strv_add(&port->files, mnl_attr_get_str(attr));
}

static void keep(struct port_answer *answer, const void *data, size_t len)
{
	answer->data = xrealloc(NULL, len, 1);
	memcpy(answer->data, data, len);
	answer->len = len;
}

static void parse_group(const struct nlmsghdr *msg, size_t len, enum eth_group group,
			struct port *port)
{
	struct err why = {0};

	if (msg->nlmsg_type == NLMSG_ERROR)
		port->result[group] = netlink_error(msg, len, &why);
	else if (eth_has_flags(group))
		eth_parse_flags(msg, len, group,
				group == ETH_FEATURES ? &port->features : &port->private_flags);
	else if (!port->answer[group].data)
		keep(&port->answer[group], msg, len);
}

static int bad_answer(struct ports *ports, struct err *err)
{
	ports_free(ports);
	return err_set(err, -EBADMSG, "the answer about a function's netdevs is cut off");
}

int ports_parse(const void *data, size_t len, struct ports *ret, struct err *err)
{
	struct port *port = NULL;
	enum eth_group group = ETH_GROUPS;
	size_t size;

	memset(ret, 0, sizeof(*ret));
	for (size_t at = 0; at < len; at += MNL_ALIGN(size)) {
		const struct nlmsghdr *msg = (const void *)((const char *)data + at);

		size = netlink_size(msg, len - at);
		if (!size)
			return bad_answer(ret, err);
		if (msg->nlmsg_type == RTM_NEWLINK) {
			struct port link = {0};

			port = NULL;
			group = 0;
			if (!parse_link(msg, size, &link))
				continue;
			keep(&link.link, msg, size);
			vec_push(ret, link);
			port = &ret->v[ret->n - 1];
		} else if (group == ETH_GROUPS) {
			return bad_answer(ret, err);
		} else if (msg->nlmsg_type == FILES_MESSAGE) {
			if (port)
				parse_files(msg, size, port);
		} else {
			if (port)
				parse_group(msg, size, group, port);
			group++;
		}
	}
	return 0;
}

/* --- the question ------------------------------------------------------------------------- */

static void append(struct netlink_answer *to, const void *data, size_t len)
{
	size_t at = to->len;

	to->len += MNL_ALIGN(len);
	to->data = xrealloc(to->data, to->len, 1);
	memset(to->data + at, 0, to->len - at);
	memcpy(to->data + at, data, len);
}

static int ask(int protocol, struct nlmsghdr *msg, struct netlink_answer *to, struct err *err)
{
	struct netlink_answer got cleanup_answer = {0};
	int r = netlink_talk(protocol, msg, &got, err);

	if (r == 0 && got.len)
		append(to, got.data, ((const struct nlmsghdr *)got.data)->nlmsg_len);
	return r;
}

static void append_refusal(int code, struct netlink_answer *to)
{
	_Alignas(struct nlmsghdr) char buf[64];
	struct nlmsghdr *msg = netlink_message(buf, sizeof(buf), NLMSG_ERROR, 0);
	struct nlmsgerr *e = mnl_nlmsg_put_extra_header(msg, sizeof(*e));

	e->error = code;
	append(to, msg, msg->nlmsg_len);
}

/* family: 0 if this kernel lacks the family */
static void ask_groups(uint16_t family, unsigned int ifindex, struct netlink_answer *to)
{
	for (enum eth_group g = 0; g < ETH_GROUPS; g++) {
		_Alignas(struct nlmsghdr) char buf[ETH_QUESTION_MAX];
		struct err why = {0};
		int r = -EOPNOTSUPP;

		if (family)
			r = ask(NETLINK_GENERIC, eth_question(buf, family, ifindex, g), to, &why);
		if (r < 0)
			append_refusal(r, to);
	}
}

static void append_files(const struct port_question *q, const char *name, struct netlink_answer *to)
{
	size_t size = MNL_NLMSG_HDRLEN + q->files->n * FILE_MAX;
	cleanup_free void *buf = xcalloc(size, 1);
	struct nlmsghdr *msg = netlink_message(buf, size, FILES_MESSAGE, 0);

	for (size_t i = 0; i < q->files->n; i++) {
		cleanup_free char *text = NULL, *pair = NULL;

		if (read_attr(q->root, &text, NULL, "/sys/class/net/%s/%s", name, q->files->v[i]) <
		    0)
			continue;
		pair = xasprintf("%s=%s", q->files->v[i], text);
		if (MNL_ATTR_HDRLEN + MNL_ALIGN(strlen(pair) + 1) <= FILE_MAX)
			mnl_attr_put_strz(msg, MNL_TYPE_UNSPEC, pair);
	}
	append(to, msg, msg->nlmsg_len);
}

/*
 * Skips a netdev that is gone or has moved to a container, because the function no longer has the
 * netdev.
 */
static int ask_netdev(const struct port_question *q, uint16_t family, unsigned int ifindex,
		      struct netlink_answer *to, struct err *err)
{
	_Alignas(struct nlmsghdr) char buf[128];
	struct nlmsghdr *msg = netlink_link_message(buf, sizeof(buf), RTM_GETLINK, 0, ifindex);
	struct port link = {0};
	size_t at = to->len;
	int r;

	/* without counters, and without VFs */
	mnl_attr_put_u32(msg, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	r = ask(NETLINK_ROUTE, msg, to, err);
	if (r < 0)
		return r == -ENODEV ? 0 : r;
	if (!parse_link(to->data + at, to->len - at, &link)) {
		to->len = at;
		return 0;
	}
	append_files(q, link.name, to);
	ask_groups(family, ifindex, to);
	return 0;
}

int ports_question(const void *arg, struct netlink_answer *ret, struct err *err)
{
	const struct port_question *q = arg;
	uint16_t family = 0;
	int r = eth_family(&family, err);

	if (r == -ENOENT)
		r = 0;
	for (size_t i = 0; r == 0 && i < q->netdevs.list.n; i++)
		r = ask_netdev(q, family, q->netdevs.list.v[i], ret, err);
	if (r == 0 && !ret->len)
		return err_set(err, -ENODEV, "the function no longer has a netdev");
	return r;
}
