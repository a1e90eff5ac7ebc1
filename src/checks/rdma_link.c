/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State and speed of the ports of a function's RDMA devices
 * (Documentation/ABI/stable/sysfs-class-infiniband). A worker reads them, because a read may query
 * the firmware, and for InfiniBand the port itself.
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "checks/check.h"
#include "checks/looks.h"
#include "kinds/function.h"
#include "kinds/roce.h"
#include "node/drivers.h"
#include "plan/change.h"
#include "profile/yaml.h"
#include "sys/netlink.h"
#include "sys/read.h"

#define IB "/sys/class/infiniband/"

enum { MEGABITS_PER_GIGABIT = 1000, BYTES_PER_MEGABIT = 125000 };

/* include/rdma/ib_verbs.h, enum ib_port_state; drivers/infiniband/core/sysfs.c prints them. */
enum { PORT_NOP, PORT_DOWN, PORT_INIT, PORT_ARMED, PORT_ACTIVE };
enum { PHYS_POLLING = 2, PHYS_DISABLED, PHYS_TRAINING, PHYS_LINK_UP, PHYS_RECOVERY };

/* One port, sent as a line of text by another process. */
struct rdma_port {
	char name[64]; /* "mlx5_0" */
	unsigned int port;
	unsigned int state, phys;
	unsigned int speed;    /* Mb/s; 0 unknown */
	char layer;	       /* I(nfiniBand) or E(thernet) */
	char lanes[24];	       /* "4X", of "400 Gb/sec (4X NDR)"; "-" unknown */
	char kind[24];	       /* "NDR" */
	char member[IFNAMSIZ]; /* the function's netdev if it is a member of a bond; or "-" */
	unsigned int carrier;  /* of member: 1: up */
};

struct question {
	const struct root *root;
	const struct strv *devices;
	const char *member; /* as above; read with the ports, under rtnl */
};

/* --- reading ----------------------------------------------------------------------------- */

/* The number before the colon of "4: ACTIVE"; 0 unknown. */
static unsigned int read_number(const struct root *root, const char *dir, const char *file)
{
	cleanup_free char *text = NULL;
	unsigned int n = 0;

	if (read_attr(root, &text, NULL, "%s/%s", dir, file) == 0)
		sscanf(text, "%u", &n);
	return n;
}

static void add_port(const struct question *q, const char *dir, struct str *text)
{
	const struct root *root = q->root;
	cleanup_free char *rate = NULL, *layer = NULL;
	char lanes[24] = "-", kind[24] = "-";
	double speed = 0;
	cleanup_free char *netdev = xasprintf("/sys/class/net/%s", q->member);
	const char *name = dir + strlen(IB);

	if (read_attr(root, &rate, NULL, "%s/rate", dir) == 0)
		sscanf(rate, "%lf Gb/sec (%23s %23[^)])", &speed, lanes, kind);
	read_attr(root, &layer, NULL, "%s/link_layer", dir);
	str_addf(text, "%.*s %s %u %u %.0f %c %s %s %s %u\n", (int)strcspn(name, "/"), name,
		 strrchr(dir, '/') + 1, read_number(root, dir, "state"),
		 read_number(root, dir, "phys_state"), speed * MEGABITS_PER_GIGABIT,
		 layer && streq(layer, "InfiniBand") ? 'I' : 'E', lanes, kind, q->member,
		 read_number(root, netdev, "carrier"));
}

static int read_ports(const void *arg, struct netlink_answer *ret, struct err *err)
{
	const struct question *q = arg;
	struct str text = {0};

	(void)err;
	for (size_t i = 0; i < q->devices->n; i++) {
		cleanup_free char *pattern = xasprintf(IB "%s/ports/*", q->devices->v[i]);
		cleanup_strv struct strv ports = {0};

		read_glob(q->root, pattern, &ports, NULL);
		for (size_t j = 0; j < ports.n; j++)
			add_port(q, ports.v[j], &text);
	}
	ret->len = text.len;
	ret->data = str_take(&text);
	return 0;
}

/* --- no device at all -------------------------------------------------------------------- */

static void blame_absence(const struct root *root, struct change *c, const struct cc_place *place)
{
	const char *module = driver_find(place->driver)->rdma;

	c->now.fault = place->driver ? FAULT_RDMA_DEVICE : FAULT_PCI_DRIVER;
	if (function_has(root, place->addr, "infiniband"))
		change_reason(c,
			      "the RDMA device of %s is in another network namespace: a container "
			      "has it (`rdma system show` says exclusive)",
			      place->addr);
	else if (!place->driver)
		change_reason(c,
			      "%s has no driver" TO_MEND "load the one of the card (modules.load)",
			      place->addr);
	else if (!module)
		change_reason(c,
			      "%s has made no RDMA device for %s; a NIC without RDMA needs a soft "
			      "RDMA device (rdma_rxe)",
			      place->driver, place->addr);
	else if (root_exists(root, "/sys/module/%s", module))
		change_reason(c,
			      "module %s is loaded, and has made no RDMA device for %s" TO_MEND
			      "see the kernel log, and the firmware's settings for RDMA",
			      module, place->addr);
	else
		change_reason(c, "module %s is not loaded" TO_MEND "add it to modules.load",
			      module);
}

/* --- judging ----------------------------------------------------------------------------- */

/* The fault of a port that is not active. */
static enum fault fault_of_link(const struct rdma_port *p)
{
	if (p->state == PORT_ARMED || (p->state == PORT_INIT && p->layer == 'I'))
		return FAULT_RDMA_SUBNET;
	return p->phys == PHYS_DISABLED ? FAULT_NIC_DOWN : FAULT_RDMA_LINK;
}

/*
 * The RDMA device of a bond is ACTIVE as long as any member has a carrier (RoCE LAG), so it proves
 * nothing about a single member. IPoIB is different: its carrier depends on multicast.
 */
static bool member_has_carrier(struct change *c, const struct rdma_port *p)
{
	if (p->carrier || streq(p->member, "-") || p->layer == 'I')
		return true;
	change_observe(c, "no carrier");
	change_reason(c,
		      "%s, a member of a bond, has no carrier, while the bond's RDMA device %s "
		      "lives on another member",
		      p->member, p->name);
	return false;
}

/* An InfiniBand port keeps its state while the link below it recovers or is switched off. */
static bool has_link(const struct rdma_port *p)
{
	return !p->phys || p->phys == PHYS_LINK_UP;
}

static bool judge_state(struct change *c, const struct rdma_port *p)
{
	static const char *const names[] = {"unknown", "DOWN", "INIT", "ARMED", "ACTIVE"};
	bool active = p->state == PORT_ACTIVE;

	change_observe(c, active && !has_link(p) ? "%s without a link" : "%s",
		       p->state < array_len(names) ? names[p->state] : "unknown");
	c->now.fault = fault_of_link(p);
	if (active && has_link(p))
		return member_has_carrier(c, p);
	if (p->state == PORT_INIT && p->layer == 'I')
		change_reason(c,
			      "port %u of %s has a link, and no subnet manager has configured it",
			      p->port, p->name);
	else if (p->state == PORT_ARMED)
		change_reason(c, "a subnet manager is configuring port %u of %s", p->port, p->name);
	else if (p->phys == PHYS_DISABLED)
		change_reason(c,
			      "port %u of %s is switched off: its netdev is down, or the subnet "
			      "manager or ibportstate disabled it",
			      p->port, p->name);
	else if (p->phys == PHYS_POLLING || p->phys == PHYS_TRAINING)
		change_reason(c, "port %u of %s finds no partner", p->port, p->name);
	else if (p->phys == PHYS_RECOVERY)
		change_reason(c, "port %u of %s is recovering from link errors", p->port, p->name);
	else
		change_reason(c, "port %u of %s is not up: its netdev must be up, with a carrier",
			      p->port, p->name);
	return false;
}

static bool judge_rate(struct change *c, const struct rdma_port *p)
{
	c->now.final = p->state == PORT_ACTIVE; /* it has trained; the next port may not have */
	if (p->state != PORT_ACTIVE || !p->speed) {
		c->now.fault =
			p->state != PORT_ACTIVE ? fault_of_link(p) : FAULT_PROFILE_CHECKS_NOTHING;
		change_observe(c, p->speed ? "no link" : "unknown");
		change_reason(c,
			      p->speed ? "port %u of %s is not active, and so has no speed"
				       : "port %u of %s reports no speed",
			      p->port, p->name);
		return false;
	}
	c->now.fault = FAULT_RDMA_SPEED;
	change_observe(c, p->speed % MEGABITS_PER_GIGABIT ? "%uMb/s" : "%uGb/s",
		       p->speed % MEGABITS_PER_GIGABIT ? p->speed
						       : p->speed / MEGABITS_PER_GIGABIT);
	if ((int64_t)p->speed * BYTES_PER_MEGABIT >= c->want.number)
		return true;
	change_reason(c,
		      "port %u of %s trained to a lower speed (%s %s)" TO_MEND
		      "check the cable or transceiver (a lane may be dead), and the speed of the "
		      "switch port",
		      p->port, p->name, p->lanes, p->kind);
	return false;
}

/* Judges every port, until one differs. */
static void judge_ports(struct change *c, char *lines,
			bool (*judge)(struct change *c, const struct rdma_port *p))
{
	char *rest = NULL;

	for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct rdma_port p;

		if (sscanf(line, "%63s %u %u %u %u %c %23s %23s %15s %u", p.name, &p.port, &p.state,
			   &p.phys, &p.speed, &p.layer, p.lanes, p.kind, p.member,
			   &p.carrier) != 10)
			continue;
		c->now.state = judge(c, &p) ? CHANGE_SAME : CHANGE_DIFFERS;
		if (c->now.state == CHANGE_DIFFERS)
			return;
	}
}

static int look(const struct kind_ctx *ctx, struct change *c,
		bool (*judge)(struct change *c, const struct rdma_port *p), struct err *err)
{
	struct netlink_answer got cleanup_answer = {0};
	cleanup_strv struct strv devices = {0};
	struct cc_place place cleanup_place = {0};
	cleanup_free char *addr = NULL;
	struct question q = {ctx->root, &devices, "-"};
	int r;

	c->now.state = CHANGE_DIFFERS;
	if (function_or_vf(ctx->root, c->on.name, c->on.vf, &addr, NULL) < 0) {
		change_observe(c, "no such VF");
		change_reason(c, "the VF does not exist");
		c->now.fault = FAULT_NIC_VF_ABSENT;
		return 0;
	}
	cc_place_find(ctx->root, addr, &place);
	cc_place_devices(&place, &devices);
	if (place.bonded)
		q.member = place.netdev;
	if (!devices.n) {
		change_observe(c, "no RDMA device");
		blame_absence(ctx->root, c, &place);
		return 0;
	}
	r = ctx->root->live
		    ? netlink_ask_apart(read_ports, &q, "firmware", NETLINK_APART_MS, &got, err)
		    : read_ports(&q, &got, err);
	if (r < 0)
		return r;
	c->now.fault = FAULT_RDMA_DEVICE;
	change_observe(c, "no port");
	change_reason(c, "%s shows no port", devices.v[0]);
	if (got.len)
		judge_ports(c, got.data, judge);
	if (c->now.state == CHANGE_SAME && judge == judge_state &&
	    driver_find(place.driver)->always_active)
		return err_set(
			err, -EOPNOTSUPP,
			"%s reports ACTIVE with and without a link, and has no netdev: measure it "
			"with a program of the site (run: command), and write optional: true here",
			devices.v[0]);
	return 0;
}

static int look_link(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	return look(ctx, c, judge_state, err);
}

const struct target_item rdma_link_item = {
	.kind = &kind_check, .look = look_link, .fault = FAULT_RDMA_LINK};

static int look_speed(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	return look(ctx, c, judge_rate, err);
}

const struct target_item rdma_speed_item = {
	.kind = &kind_check, .look = look_speed, .fault = FAULT_RDMA_SPEED};

static void emit(const struct checked *t, struct subject of)
{
	const struct ynode *least = ynode_get(t->map, "speed");

	check_settles(t, check_look(t, of, "", &rdma_link_item, "rdma-link", "ACTIVE"));
	if (least)
		check_settles(t, check_look_wanting(t, of, "/speed", &rdma_speed_item, "rdma-speed",
						    least, NULL));
}

CHECK(rdma_link, .required = {"on"}, .optional = {"speed"}, .look = emit);
