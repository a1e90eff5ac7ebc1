/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends a question or an order by netlink, and receives the answer. Code that only looks must ask
 * in a child (netlink_ask_apart()), because a hanging driver may hold rtnl or a devlink lock, and a
 * process that waits for such a lock cannot be interrupted. machine_link.c sends the orders, in a
 * worker.
 */
#pragma once

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct netlink_answer {
	char *data; /* a message with its header; NULL: only an acknowledgement came */
	size_t len;
};

void netlink_answer_free(struct netlink_answer *a);
#define cleanup_answer __attribute__((__cleanup__(netlink_answer_free)))

/*
 * Sends msg (NLM_F_REQUEST, and NLM_F_ACK if the message has no other answer) and waits for the
 * answer. A rejection returns its errno and a sentence with the kernel's own words
 * (NETLINK_EXT_ACK). Blocks as long as the kernel does.
 */
int netlink_talk(int protocol, struct nlmsghdr *msg, struct netlink_answer *ret, struct err *err);

/*
 * The length of the message at data, with its header, where len bytes were received; 0: no whole
 * message is there. (mnl_nlmsg_ok() of libmnl 1.0.4 takes a length from 0x80000000 on for a
 * negative number, which fits anywhere.)
 */
size_t netlink_size(const void *data, size_t len);

/*
 * The result in an NLMSG_ERROR message: 0 for an acknowledgement, else the negative errno with
 * "File exists; the kernel says: ...". -EBADMSG if the message is truncated.
 */
int netlink_error(const struct nlmsghdr *msg, size_t len, struct err *err);

/*
 * The start of a message's attributes, behind a header of `extra` bytes, and their size in bytes,
 * for mnl_attr_for_each_payload(). (mnl_attr_for_each() trusts that the length is a multiple of 4.)
 * A message that does not fit in len bytes has no attributes.
 */
const void *netlink_attrs(const void *data, size_t len, size_t extra, size_t *ret_size);

/*
 * Begins a message in buf (size bytes, aligned as struct nlmsghdr) and returns it. Fills buf with
 * zeros first, because libmnl 1.0.4 does not write the padding behind an attribute, and the kernel
 * would get bytes from the stack.
 */
struct nlmsghdr *netlink_message(void *buf, size_t size, uint16_t type, uint16_t flags);
/* Like netlink_message(), about a netdev; adds NLM_F_REQUEST. type: RTM_GETLINK, ... */
struct nlmsghdr *netlink_link_message(void *buf, size_t size, uint16_t type, uint16_t flags,
				      unsigned int ifindex);

/*
 * A question: any number of calls of netlink_talk(). It must not change arg, because it runs in a
 * child.
 */
typedef int (*netlink_question)(const void *arg, struct netlink_answer *ret, struct err *err);

enum {
	NETLINK_APART_MS = 5000,	  /* a healthy kernel answers in a few milliseconds */
	NETLINK_ANSWER_MAX = 1024 * 1024, /* a PF with 256 VFs fills 64 KiB */
};

/*
 * Asks in a child that is abandoned after ms milliseconds. -ETIMEDOUT in that case, with a sentence
 * that names the lock ("rtnl"). -EFBIG above NETLINK_ANSWER_MAX.
 */
int netlink_ask_apart(netlink_question question, const void *arg, const char *lock, unsigned int ms,
		      struct netlink_answer *ret, struct err *err);
