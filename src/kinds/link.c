/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings of a function's own netdevs, in the devices stage. A function is asked once for all
 * that is to be known of its netdevs, apart. Settings go by interface index, and only when udev has
 * named the netdev: its own .link files set some of the same (net_setup_link), and a name can't
 * change any more once the netdev is up.
 */
#include "kinds/link.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "base/vec.h"
#include "kinds/function.h"
#include "kinds/heard.h"
#include "kinds/link_values.h"
#include "kinds/netlink.h"
#include "kinds/target.h"
#include "sys/read.h"
#include "sys/uevent.h"

/* --- asking ------------------------------------------------------------------------------- */

int link_ask(const struct root *root, const char *addr, unsigned int ifindex, bool apart,
	     struct ports *ret, struct err *err)
{
	struct port_question q = {.root = root};
	struct netdevs found = {0};
	struct netlink_answer got cleanup_answer = {0};
	int r = function_netdevs(root, addr, &found, err);

	for (size_t i = 0; r == 0 && i < found.n; i++)
		if (!ifindex || found.v[i].ifindex == ifindex)
			vec_push(&q.netdevs.list, found.v[i].ifindex);
	vec_free(&found);
	if (r == 0)
		r = apart ? netlink_ask_apart(ports_question, &q, "rtnl", NETLINK_APART_MS, &got,
					      err)
			  : ports_question(&q, &got, err);
	vec_free(&q.netdevs.list);
	if (r == 0)
		r = ports_parse(got.data, got.len, ret, err);
	if (r == 0 && !ret->n)
		return err_set(err, -ENODEV, "%s has no netdev of its own", addr);
	return r;
}

static int ask_apart(const struct root *root, const char *addr, void **ret, struct err *err)
{
	struct ports *ports = xnew(struct ports);

	*ret = ports;
	return link_ask(root, addr, 0, true, ports, err);
}

static void free_ports(void *arg)
{
	ports_free(arg);
	free(arg);
}

static struct hearing functions = {.ask = ask_apart, .free = free_ports};

void forget_link(const struct change *c)
{
	hearing_forget(&functions, c);
}

/* --- looking ------------------------------------------------------------------------------ */

static int no_netdev(const struct kind_ctx *ctx, struct change *c, const char *addr)
{
	change_observe(c, "no netdev");
	if (function_has(ctx->root, addr, "net")) {
		change_reason(c, "its netdev is in a network namespace of its own (a container), "
				 "and is left alone there");
		c->state = CHANGE_UNSUPPORTED;
		return 0;
	}
	change_reason(c,
		      "%s has no netdev (yet); is its driver bound (modules.load; of an "
		      "InfiniBand port: ib_ipoib)?",
		      addr);
	c->state = CHANGE_WAITS;
	return 0;
}

/* Compares one netdev; returns true if something differs. What is not offered: *missing. */
static bool compare(struct change *c, const struct link_wish *wish, const struct port *port,
		    bool first, struct err *missing)
{
	cleanup_str struct str text = {0};
	bool differs = false;

	for (size_t i = 0; i < wish->n; i++) {
		const struct link_pair *pair = &wish->v[i];
		char have[LINK_TEXT] = "?";
		uint64_t want;

		if (link_have(wish, pair, port, have, missing) == 0 && !streq(have, pair->value)) {
			differs = true;
			if (parse_u64(pair->value, &want) == 0 && link_max(wish, pair, port) &&
			    want > link_max(wish, pair, port))
				change_reason(c, "%s of %s is at most %u", pair->name, port->name,
					      link_max(wish, pair, port));
		}
		if (wish->what->how == LINK_ETHTOOL)
			str_addf(&text, "%s%s ", i ? " " : "", pair->name);
		str_add(&text, have);
	}
	if (first || differs)
		change_observe(c, "%s", str_get(&text));
	return differs;
}

static int judge(struct change *c, const struct link_wish *wish, const struct ports *ports,
		 struct err *err)
{
	struct err missing = {0};

	c->state = CHANGE_SAME;
	for (size_t i = 0; i < ports->n && c->state == CHANGE_SAME; i++)
		if (compare(c, wish, &ports->v[i], i == 0, &missing))
			c->state = CHANGE_DIFFERS;
	return target_lacks(c, &missing, err);
}

/* --- a tree that is not the running machine ----------------------------------------------- */

static bool read_number(const struct root *root, const char *name, const char *file, uint32_t *ret)
{
	uint64_t number;

	if (read_u64(root, &number, NULL, "/sys/class/net/%s/%s", name, file) < 0)
		return false;
	*ret = (uint32_t)number;
	return true;
}

/* What has a file; false: it is not known of this tree. */
static bool read_port(const struct root *root, const char *name, const struct link_what *what,
		      struct port *ret)
{
	cleanup_free char *text = NULL;
	uint32_t flags = 0;
	bool known;

	memset(ret, 0, sizeof(*ret));
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	switch (what->how) {
	case LINK_MTU:
		return read_number(root, name, "mtu", &ret->mtu);
	case LINK_QUEUE:
		return read_number(root, name, "tx_queue_len", &ret->tx_queue_len);
	case LINK_UP:
		known = read_number(root, name, "flags", &flags);
		ret->up = flags & IFF_UP;
		return known;
	case LINK_FILE:
		if (read_text(root, &text, NULL, "/sys/class/net/%s/%s", name,
			      port_file[what->file]) < 0)
			return false;
		snprintf(ret->file[what->file], PORT_TEXT, "%s", text);
		return true;
	case LINK_ETHTOOL:
		break;
	}
	return false;
}

static int read_ports(const struct root *root, const struct link_wish *wish, struct ports *ret)
{
	struct netdevs found = {0};
	int r = function_netdevs(root, wish->addr, &found, NULL);

	for (size_t i = 0; r == 0 && i < found.n; i++) {
		struct port port;

		if (!read_port(root, found.v[i].name, wish->what, &port))
			r = -ENODATA;
		else
			vec_push(ret, port);
	}
	vec_free(&found);
	return r;
}

static int look_tree(const struct kind_ctx *ctx, struct change *c, const struct link_wish *wish,
		     struct err *err)
{
	struct ports ports cleanup_ports = {0};
	int r = read_ports(ctx->root, wish, &ports);

	if (r == -ENODEV)
		return no_netdev(ctx, c, wish->addr);
	return r < 0 ? look_elsewhere(c) : judge(c, wish, &ports, err);
}

int look_link(const struct kind_ctx *ctx, struct change *c, const char *arg, struct err *err)
{
	struct link_wish wish cleanup_wish = {0};
	const struct heard *h;
	int r = link_wish_parse(ctx->root, arg, c->desired, &wish, err);

	if (r < 0)
		return r;
	if (!ctx->root->live)
		return look_tree(ctx, c, &wish, err);
	h = hear(&functions, ctx->root, wish.addr);
	if (h->result == -ENODEV)
		return no_netdev(ctx, c, wish.addr);
	if (h->result < 0)
		return err_set(err, h->result, "%s: %s", wish.addr, h->err.text);
	return judge(c, &wish, h->info, err);
}

/* --- setting ------------------------------------------------------------------------------ */

static int set_here(const struct kind_ctx *ctx, const struct change *c,
		    const struct link_wish *wish, const struct ports *ports, struct err *err)
{
	struct err missing = {0};

	for (size_t i = 0; i < ports->n; i++) {
		int r = link_send(ctx, c, wish, &ports->v[i], err);

		if (r == -EOPNOTSUPP && c->optional)
			missing = *err;
		else if (r < 0)
			return r;
	}
	return missing.code ? err_set(err, missing.code, "%s", missing.text) : 0;
}

int set_link(const struct kind_ctx *ctx, struct change *c, const char *arg, struct err *err)
{
	struct link_wish wish cleanup_wish = {0};
	struct ports ports cleanup_ports = {0};
	int r = link_wish_parse(ctx->root, arg, c->desired, &wish, err);

	if (r == 0 && !ctx->root->live) {
		if (wish.what->how != LINK_FILE)
			return netlink_only_here(ctx->root, err);
		r = read_ports(ctx->root, &wish, &ports);
		return r < 0 ? err_errno(err, r, "%s", wish.addr)
			     : set_here(ctx, c, &wish, &ports, err);
	}
	if (r == 0)
		r = function_wait_named(ctx->root, wish.addr, ctx->deadline, err);
	if (r == 0)
		r = link_ask(ctx->root, wish.addr, 0, false, &ports, err);
	return r < 0 ? r : set_here(ctx, c, &wish, &ports, err);
}
