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

enum { NO_SPEED = -1, BYTES_PER_MEGABIT = 125000 };

struct question {
	const struct root *root;
	struct netdevs netdevs;
};

/* "NAME CARRIER SPEED" of one netdev; CARRIER is d(own), n(one) or u(p), SPEED in Mb/s or -1. */
static void add_line(const struct root *root, const char *name, struct str *text)
{
	cleanup_free char *port = NULL;
	uint64_t carrier = 0;
	int64_t speed = NO_SPEED;
	int r;

	if (read_attr(root, &port, NULL, "/sys/class/net/%s/phys_port_name", name) == 0 &&
	    port_is_representor(port))
		return;
	/* EINVAL: administratively down */
	r = read_u64(root, &carrier, NULL, "/sys/class/net/%s/carrier", name);
	if (r == 0 && carrier)
		read_i64(root, &speed, NULL, "/sys/class/net/%s/speed", name);
	str_addf(text, "%s %c %" PRId64 "\n", name,
		 r < 0	   ? 'd'
		 : carrier ? 'u'
			   : 'n',
		 speed > 0 && speed < UINT32_MAX ? speed : NO_SPEED);
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
		bool (*judge)(struct change *c, const char *addr, const char *name, char carrier,
			      int64_t speed),
		struct err *err)
{
	struct netlink_answer got cleanup_answer = {0};
	cleanup_free char *addr = NULL;
	char *rest = NULL;
	int r = 0;

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
		char name[IFNAMSIZ], carrier;
		int64_t speed;

		if (sscanf(line, "%15s %c %" SCNd64, name, &carrier, &speed) != 3)
			continue;
		c->now.state = judge(c, addr, name, carrier, speed) ? CHANGE_SAME : CHANGE_DIFFERS;
		if (c->now.state == CHANGE_DIFFERS)
			break;
	}
	return 0;
}

static bool judge_carrier(struct change *c, const char *addr, const char *name, char carrier,
			  int64_t speed)
{
	(void)speed;
	change_observe(c, "%s", carrier == 'd' ? "down" : carrier == 'u' ? "up" : "no carrier");
	if (carrier == 'u')
		return true;
	c->now.fault = carrier == 'd' ? FAULT_NIC_DOWN : FAULT_NIC_CARRIER;
	change_reason(c, "%s of %s is %s", name, addr,
		      carrier == 'd' ? "switched off" : "up, and has no carrier");
	return false;
}

static int look_carrier(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	return each(ctx, c, judge_carrier, err);
}

const struct target_item carrier_item = {
	.kind = &kind_check, .look = look_carrier, .fault = FAULT_NIC_CARRIER};

static bool judge_speed(struct change *c, const char *addr, const char *name, char carrier,
			int64_t speed)
{
	c->now.final = carrier == 'u'; /* the link has trained; that of the next netdev may not */
	if (carrier != 'u') {
		change_observe(c, "no carrier");
		change_reason(c, "%s of %s has no link, and so no speed", name, addr);
		c->now.fault = carrier == 'd' ? FAULT_NIC_DOWN : FAULT_NIC_CARRIER;
		return false;
	}
	if (speed == NO_SPEED) {
		change_observe(c, "unknown");
		change_reason(
			c,
			"the driver reports no speed for %s (virtual devices have none)" TO_MEND
			"leave speed: out of the check",
			name);
		c->now.fault = FAULT_PROFILE_CHECKS_NOTHING;
		return false;
	}
	c->now.fault = FAULT_NIC_SPEED;
	change_observe(c, speed % 1000 ? "%" PRId64 "Mb/s" : "%" PRId64 "Gb/s",
		       speed % 1000 ? speed : speed / 1000);
	if (speed * BYTES_PER_MEGABIT >= c->want.number)
		return true;
	change_reason(c, "%s of %s trained to a lower speed", name, addr);
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
