/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/netlink.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "sys/clock.h"
#include "sys/worker.h"

void netlink_answer_free(struct netlink_answer *a)
{
	free(a->data);
	a->data = NULL;
	a->len = 0;
}

static void close_mnl(struct mnl_socket **s)
{
	if (*s)
		mnl_socket_close(*s);
}

size_t netlink_size(const void *data, size_t len)
{
	const struct nlmsghdr *msg = data;

	return len >= sizeof(*msg) && msg->nlmsg_len >= sizeof(*msg) && msg->nlmsg_len <= len
		       ? msg->nlmsg_len
		       : 0;
}

/* NLMSGERR_ATTR_MSG, behind the error and the repeated part of the request. */
static const char *kernel_words(const struct nlmsghdr *msg, size_t len)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(msg);
	size_t at = MNL_NLMSG_HDRLEN + sizeof(*e);
	const struct nlattr *attr;

	if (!(msg->nlmsg_flags & NLM_F_ACK_TLVS))
		return NULL;
	if (!(msg->nlmsg_flags & NLM_F_CAPPED)) {
		if (e->msg.nlmsg_len < MNL_NLMSG_HDRLEN || e->msg.nlmsg_len > len)
			return NULL;
		at += MNL_ALIGN(e->msg.nlmsg_len - MNL_NLMSG_HDRLEN);
	}
	if (at >= len)
		return NULL;
	mnl_attr_for_each_payload ((const void *)((const char *)msg + at), len - at)
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG &&
		    mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) == 0)
			return mnl_attr_get_str(attr);
	return NULL;
}

int netlink_error(const struct nlmsghdr *msg, size_t len, struct err *err)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(msg);
	size_t size = netlink_size(msg, len);
	const char *words;

	if (size < MNL_NLMSG_HDRLEN + sizeof(*e))
		return err_set(err, -EBADMSG, "the kernel's answer by netlink is cut off");
	if (e->error == 0)
		return 0;
	/* Every errno of the kernel is in this range, but a message may contain other numbers. */
	if (e->error > 0 || e->error < -4095)
		return err_set(err, -EBADMSG, "the kernel's answer by netlink is not an errno");
	words = kernel_words(msg, size);
	if (words)
		return err_set(err, e->error, "%s; the kernel says: %s", strerror(-e->error),
			       words);
	return err_set(err, e->error, "%s", strerror(-e->error));
}

const void *netlink_attrs(const void *data, size_t len, size_t extra, size_t *ret_size)
{
	size_t size = netlink_size(data, len), at = MNL_NLMSG_HDRLEN + MNL_ALIGN(extra);

	*ret_size = 0;
	if (size < at)
		return data;
	*ret_size = size - at;
	return (const char *)data + at;
}

struct nlmsghdr *netlink_message(void *buf, size_t size, uint16_t type, uint16_t flags)
{
	struct nlmsghdr *msg;

	memset(buf, 0, size);
	msg = mnl_nlmsg_put_header(buf);
	msg->nlmsg_type = type;
	msg->nlmsg_flags = flags;
	return msg;
}

struct nlmsghdr *netlink_link_message(void *buf, size_t size, uint16_t type, uint16_t flags,
				      unsigned int ifindex)
{
	struct nlmsghdr *msg = netlink_message(buf, size, type, (uint16_t)(NLM_F_REQUEST | flags));
	struct ifinfomsg *info;

	info = mnl_nlmsg_put_extra_header(msg, sizeof(*info));
	info->ifi_family = AF_UNSPEC;
	info->ifi_index = (int)ifindex;
	return msg;
}

static int open_socket(int protocol, struct mnl_socket **ret, struct err *err)
{
	int on = 1;

	*ret = mnl_socket_open2(protocol, SOCK_CLOEXEC);
	if (!*ret || mnl_socket_bind(*ret, 0, MNL_SOCKET_AUTOPID) < 0)
		return err_errno(err, -errno, "netlink");
	/* Kernels before 4.12 lack both, and then report only an errno. */
	mnl_socket_setsockopt(*ret, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(*ret, NETLINK_CAP_ACK, &on, sizeof(on));
	return 0;
}

/* Receives the next message of any length. */
static int receive(struct mnl_socket *nl, struct netlink_answer *ret, struct err *err)
{
	int fd = mnl_socket_get_fd(nl);
	ssize_t n;

	do
		n = recv(fd, NULL, 0, MSG_PEEK | MSG_TRUNC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_errno(err, -errno, "netlink");
	netlink_answer_free(ret);
	ret->data = xcalloc(1, (size_t)n + 1);
	n = recv(fd, ret->data, (size_t)n, 0);
	if (n < 0)
		return err_errno(err, -errno, "netlink");
	ret->len = (size_t)n;
	return 0;
}

int netlink_talk(int protocol, struct nlmsghdr *msg, struct netlink_answer *ret, struct err *err)
{
	struct mnl_socket *nl cleanup(close_mnl) = NULL;
	struct netlink_answer got cleanup_answer = {0};
	int r;

	msg->nlmsg_seq = 1;
	r = open_socket(protocol, &nl, err);
	if (r < 0)
		return r;
	if (mnl_socket_sendto(nl, msg, msg->nlmsg_len) < 0)
		return err_errno(err, -errno, "netlink");
	for (;;) {
		const struct nlmsghdr *head;

		r = receive(nl, &got, err);
		if (r < 0)
			return r;
		head = (const void *)got.data;
		if (!netlink_size(head, got.len))
			return err_set(err, -EBADMSG, "the kernel's answer by netlink is cut off");
		if (head->nlmsg_seq != msg->nlmsg_seq) /* an event for all sockets */
			continue;
		if (head->nlmsg_type == NLMSG_ERROR)
			return netlink_error(head, got.len, err);
		*ret = got;
		got = (struct netlink_answer){0};
		return 0;
	}
}

struct apart {
	netlink_question question;
	const void *arg;
	char *shared; /* the child stores its answer here */
};

static int ask_in_child(void *arg, struct err *err)
{
	struct apart *a = arg;
	struct netlink_answer got cleanup_answer = {0};
	int r = a->question(a->arg, &got, err);

	if (r < 0)
		return r;
	if (got.len > NETLINK_ANSWER_MAX)
		return err_set(err, -EFBIG, "the kernel's answer by netlink has %zu bytes",
			       got.len);
	if (got.len)
		memcpy(a->shared, got.data, got.len);
	return (int)got.len;
}

/* Returns the answer, or the fate of the child as an error. */
static int collect(const struct worker *w, const struct apart *a, const char *lock, unsigned int ms,
		   struct netlink_answer *ret, struct err *err)
{
	if (w->abandoned) {
		err_set(err, -ETIMEDOUT,
			"the kernel does not answer (%s is held) within %g s: a driver hangs; the "
			"kernel log and the tasks in state D show which driver",
			lock, ms / 1000.0);
		return err_fault(err, -ETIMEDOUT, FAULT_KERNEL_STUCK);
	}
	if (w->result < 0)
		return err_copy(err, w->result, &w->err);
	ret->len = (size_t)w->result;
	ret->data = xcalloc(1, ret->len + 1);
	memcpy(ret->data, a->shared, ret->len);
	return 0;
}

int netlink_ask_apart(netlink_question question, const void *arg, const char *lock, unsigned int ms,
		      struct netlink_answer *ret, struct err *err)
{
	struct apart a = {question, arg, NULL};
	struct worker worker;
	int r;

	/* Shared memory instead of a pipe, because an answer may be longer than a pipe's buffer. */
	a.shared = mmap(NULL, NETLINK_ANSWER_MAX, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (a.shared == MAP_FAILED)
		return err_errno(err, -errno, "netlink");
	r = worker_run(&worker, ask_in_child, &a, clock_usec() + ms * 1000ULL, err);
	if (r >= 0 || worker.pid > 0) /* the child was started */
		r = collect(&worker, &a, lock, ms, ret, err);
	munmap(a.shared, NETLINK_ANSWER_MAX);
	return r;
}
