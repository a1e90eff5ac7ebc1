/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carrier and speed of a function's own netdevs. A worker reads both files, because the kernel
 * reads them under rtnl (the first one too since 6.1x: net/core/net-sysfs.c).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "checks/check.h"
#include "checks/looks.h"
#include "kinds/function.h"
#include "plan/change.h"
#include "profile/yaml.h"
#include "sys/port.h"
#include "sys/read.h"

enum {
	NO_SPEED = -1,
	NO_CHANGES = -1,
	ONE_LOSS = 2, /* with its return */
	BYTES_PER_MEGABIT = 125000,
};

struct question {
	const struct root *root;
	struct netdevs netdevs;
};

struct netdev_line {
	char name[IFNAMSIZ];
	char carrier; /* d(own), n(one), u(p) */
	int64_t speed;
	int64_t changes; /* carrier_changes: of each loss and each return */
};

/* "NAME CARRIER SPEED CHANGES" of one netdev; SPEED in Mb/s; either number may be -1. */
static void add_line(const struct root *root, const char *name, struct str *text)
{
	cleanup_free char *port = NULL;
	uint64_t carrier = 0;
	int64_t speed = NO_SPEED, changes = NO_CHANGES;
	int r;

	if (read_attr(root, &port, NULL, "/sys/class/net/%s/phys_port_name", name) == 0 &&
	    port_is_representor(port))
		return;
	/* EINVAL: administratively down */
	r = read_u64(root, &carrier, NULL, "/sys/class/net/%s/carrier", name);
	if (r == 0 && carrier)
		read_i64(root, &speed, NULL, "/sys/class/net/%s/speed", name);
	read_i64(root, &changes, NULL, "/sys/class/net/%s/carrier_changes", name);
	str_addf(text, "%s %c %" PRId64 " %" PRId64 "\n", name,
		 r < 0	   ? 'd'
		 : carrier ? 'u'
			   : 'n',
		 speed > 0 && speed < UINT32_MAX ? speed : NO_SPEED, changes);
}

static int read_lines(const void *arg, struct netlink_answer *ret, struct err *err)
{
	const struct question *q = arg;
	struct str text = {0};

	(void)err;
	for (size_t i = 0; i < q->netdevs.n; i++)
		add_line(q->root, q->netdevs.v[i].name, &text);
	ret->len = text.len;
	ret->data = str_take(&text);
	return 0;
}

/* Reads the lines; none if the function has no netdev here. */
static int ask(const struct root *root, const char *addr, struct netlink_answer *ret,
	       struct err *err)
{
	struct question q = {.root = root};
	int r = 0;

	if (function_netdevs(root, addr, &q.netdevs, NULL) == 0)
		r = root->live
			    ? netlink_ask_apart(read_lines, &q, "rtnl", NETLINK_APART_MS, ret, err)
			    : read_lines(&q, ret, err);
	vec_free(&q.netdevs);
	return r;
}

/* Judges each netdev, until one differs. */
static int each(const struct kind_ctx *ctx, struct change *c,
		bool (*judge)(struct change *c, const char *addr, const struct netdev_line *port),
		struct err *err)
{
	struct netlink_answer got cleanup_answer = {0};
	cleanup_free char *addr = NULL;
	char *rest = NULL;
	int r = 0;

	counts_free(&c->still);
	if (function_or_vf(ctx->root, c->on.name, c->on.vf, &addr, NULL) == 0)
		r = ask(ctx->root, addr, &got, err);
	else /* an absent function has no netdev */
		addr = xasprintf("%s/%d", c->on.name, c->on.vf);
	if (r < 0)
		return r;
	change_observe(c, "no netdev");
	c->now.state = CHANGE_DIFFERS;
	change_reason(c, "%s has no netdev (here); is its driver bound?", addr);
	c->now.fault = FAULT_NIC_NETDEV;
	for (char *line = got.len ? strtok_r(got.data, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest)) {
		struct netdev_line port;

		if (sscanf(line, "%15s %c %" SCNd64 " %" SCNd64, port.name, &port.carrier,
			   &port.speed, &port.changes) != 4)
			continue;
		c->now.state = judge(c, addr, &port) ? CHANGE_SAME : CHANGE_DIFFERS;
		if (c->now.state == CHANGE_DIFFERS)
			break;
	}
	return 0;
}

/* The port is up. While it is down nothing is noted: its return is no fault. */
static bool judge_changes(struct change *c, const char *addr, const struct netdev_line *port)
{
	cleanup_free char *name = xasprintf("%s carrier_changes", port->name);
	uint64_t rise = 0;

	if (port->changes >= 0)
		rise = change_count_still(c, name, (uint64_t)port->changes, ONE_LOSS);
	if (!rise)
		return true;
	change_observe(c, "up, after a loss");
	c->now.fault = FAULT_NIC_CARRIER;
	change_reason(c,
		      "%s of %s has its carrier, and has lost it more than once after "
		      "the verdict (carrier_changes rose by %" PRIu64 ", to %" PRId64 ")" TO_MEND
		      "clean or replace the cable or transceiver, and see the switch port's log",
		      port->name, addr, rise, port->changes);
	return false;
}

static bool judge_carrier(struct change *c, const char *addr, const struct netdev_line *port)
{
	bool down = port->carrier == 'd';

	change_observe(c, "%s", down ? "down" : port->carrier == 'u' ? "up" : "no carrier");
	if (port->carrier == 'u')
		return judge_changes(c, addr, port);
	c->now.fault = down ? FAULT_NIC_DOWN : FAULT_NIC_CARRIER;
	change_reason(c, "%s of %s is %s", port->name, addr,
		      down ? "switched off" : "up, and has no carrier");
	return false;
}

static int look_carrier(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	return each(ctx, c, judge_carrier, err);
}

const struct target_item carrier_item = {
	.kind = &kind_check, .look = look_carrier, .fault = FAULT_NIC_CARRIER};

static bool judge_speed(struct change *c, const char *addr, const struct netdev_line *port)
{
	int64_t speed = port->speed;

	c->now.final =
		port->carrier == 'u'; /* the link has trained; that of the next netdev may not */
	if (port->carrier != 'u') {
		change_observe(c, "no carrier");
		change_reason(c, "%s of %s has no link, and so no speed", port->name, addr);
		c->now.fault = port->carrier == 'd' ? FAULT_NIC_DOWN : FAULT_NIC_CARRIER;
		return false;
	}
	if (speed == NO_SPEED) {
		change_observe(c, "unknown");
		change_reason(
			c,
			"the driver reports no speed for %s (virtual devices have none)" TO_MEND
			"leave speed: out of the check",
			port->name);
		c->now.fault = FAULT_PROFILE_CHECKS_NOTHING;
		return false;
	}
	c->now.fault = FAULT_NIC_SPEED;
	change_observe(c, speed % 1000 ? "%" PRId64 "Mb/s" : "%" PRId64 "Gb/s",
		       speed % 1000 ? speed : speed / 1000);
	if (speed * BYTES_PER_MEGABIT >= c->want.number)
		return true;
	change_reason(c, "%s of %s trained to a lower speed", port->name, addr);
	return false;
}

static int look_speed(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	return each(ctx, c, judge_speed, err);
}

const struct target_item port_speed_item = {
	.kind = &kind_check, .look = look_speed, .fault = FAULT_NIC_SPEED};

static void emit(const struct checked *t, struct subject of)
{
	const struct ynode *least = ynode_get(t->map, "speed");

	check_settles(t, check_look(t, of, "", &carrier_item, "carrier", "up"));
	if (least)
		check_settles(t, check_look_wanting(t, of, "/speed", &port_speed_item, "speed",
						    least, NULL));
}

CHECK(carrier, .required = {"on"}, .optional = {"speed"}, .look = emit);
