/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/mem.h"
#include "sys/machine.h"

static void close_mnl(struct mnl_socket **s)
{
	if (*s)
		mnl_socket_close(*s);
}

int machine_link_up(unsigned int ifindex, struct err *err)
{
	struct mnl_socket *nl cleanup(close_mnl) = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	/* The kernel answers at once or holds rtnl; the worker's deadline is the real limit. */
	struct timeval timeout = {.tv_sec = 30};
	_Alignas(struct nlmsghdr) char buf[8192];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *ifi;
	ssize_t n;

	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0)
		return err_errno(err, -errno, "netlink");
	setsockopt(mnl_socket_get_fd(nl), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	nlh->nlmsg_type = RTM_NEWLINK;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	nlh->nlmsg_seq = 1;
	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	ifi->ifi_index = (int)ifindex;
	ifi->ifi_change = IFF_UP;
	ifi->ifi_flags = IFF_UP;
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		return err_errno(err, -errno, "netlink");
	n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
	if (n < 0 || mnl_cb_run(buf, (size_t)n, 1, mnl_socket_get_portid(nl), NULL, NULL) < 0)
		return err_errno(err, -errno, "setting the link up");
	return 0;
}
