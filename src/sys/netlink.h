/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A question or an order by netlink, and its answer. Who only looks asks apart: a driver that
 * hangs may hold rtnl or a devlink lock, and whoever waits for one of those can't be
 * interrupted. Orders are machine_link.c's, which runs in a worker.
 */
#pragma once

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct netlink_answer {
	char *data; /* one message, its header first; NULL: there was only an acknowledgement */
	size_t len;
};

void netlink_answer_free(struct netlink_answer *a);
#define cleanup_answer __attribute__((__cleanup__(netlink_answer_free)))

/*
 * Sends msg (NLM_F_REQUEST, and NLM_F_ACK if nothing else would answer it) and waits for what
 * the kernel says to it. A refusal is its errno and a sentence with the kernel's own words
 * (NETLINK_EXT_ACK). Blocks as long as the kernel does.
 */
int netlink_talk(int protocol, struct nlmsghdr *msg, struct netlink_answer *ret, struct err *err);

/*
 * What an NLMSG_ERROR message says: 0 for an acknowledgement, else the negative errno with
 * "File exists; the kernel says: ...". -EBADMSG if it is cut off.
 */
int netlink_error(const struct nlmsghdr *msg, size_t len, struct err *err);

/*
 * Where a message's attributes begin, behind a header of `extra` bytes, and how many bytes of
 * them there are: for mnl_attr_for_each_payload(). mnl_attr_for_each() trusts the length to be
 * a multiple of 4. Of a message that is in len bytes, else there are none.
 */
const void *netlink_attrs(const void *data, size_t len, size_t extra, size_t *ret_size);

/*
 * Begins a message in buf, size bytes aligned as struct nlmsghdr, and returns it. All of buf is
 * zero: libmnl 1.0.4 leaves the padding behind an attribute as it was, and the kernel would get
 * what happened to be on the stack.
 */
struct nlmsghdr *netlink_message(void *buf, size_t size, uint16_t type, uint16_t flags);
/* As netlink_message(), about a netdev; adds NLM_F_REQUEST. type: RTM_GETLINK, ... */
struct nlmsghdr *netlink_link_message(void *buf, size_t size, uint16_t type, uint16_t flags,
				      unsigned int ifindex);

/* A question: any number of netlink_talk(). arg is read only: it runs in a child. */
typedef int (*netlink_question)(const void *arg, struct netlink_answer *ret, struct err *err);

enum {
	NETLINK_APART_MS = 5000,	  /* a healthy kernel answers in a few milliseconds */
	NETLINK_ANSWER_MAX = 1024 * 1024, /* a PF with 256 VFs says 64 KiB */
};

/*
 * Asks in a child that is abandoned after ms milliseconds: -ETIMEDOUT then, with a sentence
 * that says which lock (its name: "rtnl") is held. -EFBIG above NETLINK_ANSWER_MAX.
 */
int netlink_ask_apart(netlink_question question, const void *arg, const char *lock, unsigned int ms,
		      struct netlink_answer *ret, struct err *err);
