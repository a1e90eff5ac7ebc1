/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DCB of a PF's netdev: the questions, and the side that decides (DCBX). */
#include "kinds/dcb.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "kinds/cache.h"
#include "kinds/netlink.h"
#include "plan/change.h"
#include "sys/ethtool.h"
#include "sys/machine.h"
#include "sys/read.h"

/* --- asking ---------------------------------------------------------------------------------- */

static int ask(const char *netdev, bool apart, struct dcb_info *ret, struct err *err)
{
	struct netlink_answer got cleanup_answer = {0};
	int r = apart ? netlink_ask_apart(dcb_question, netdev, "rtnl", NETLINK_APART_MS, &got, err)
		      : dcb_question(netdev, &got, err);

	return r < 0 ? r : dcb_parse(got.data, got.len, ret, err);
}

static int pause_question(const void *arg, struct netlink_answer *ret, struct err *err)
{
	_Alignas(struct nlmsghdr) char buf[ETH_QUESTION_MAX];
	const unsigned int *ifindex = arg;
	uint16_t family;
	int r = eth_family(&family, err);

	return r < 0 ? r
		     : netlink_talk(NETLINK_GENERIC, eth_question(buf, family, *ifindex, ETH_PAUSE),
				    ret, err);
}

/* If the driver does not report pause, assume it is off: PFC is then set and read back. */
static int ask_pause(unsigned int ifindex, bool apart, struct dcb_pause *ret, struct err *err)
{
	struct netlink_answer got cleanup_answer = {0};
	int r = apart ? netlink_ask_apart(pause_question, &ifindex, "rtnl", NETLINK_APART_MS, &got,
					  err)
		      : pause_question(&ifindex, &got, err);

	if (r == 0) {
		ret->on = eth_parse_number(got.data, got.len, &eth_pause_rx).value ||
			  eth_parse_number(got.data, got.len, &eth_pause_tx).value;
		ret->negotiated = eth_parse_number(got.data, got.len, &eth_pause_autoneg).value;
	}
	return r == -ETIMEDOUT ? r : 0;
}

static int ask_function(const struct root *root, const char *addr, void **ret, struct err *err)
{
	struct dcb_info *info = xnew(struct dcb_info);
	struct netdev dev;
	int r = function_netdev(root, addr, &dev, err);

	*ret = info;
	return r < 0 ? r : ask(dev.name, true, info, err);
}

static int ask_function_pause(const struct root *root, const char *addr, void **ret,
			      struct err *err)
{
	struct dcb_pause *info = xnew(struct dcb_pause);
	struct netdev dev;
	int r = function_netdev(root, addr, &dev, err);

	*ret = info;
	return r < 0 ? r : ask_pause(dev.ifindex, true, info, err);
}

static void free_info(void *info)
{
	dcb_info_free(info);
	free(info);
}

static struct cache ports = {.ask = ask_function, .free = free_info};
static struct cache pauses = {.ask = ask_function_pause, .free = free};

/* --- what a refusal means -------------------------------------------------------------------- */

/* The cause of errno *r, as by refusal(); NULL: unknown. The caller frees. */
static char *cause_of(int *r, const struct dcb_port *port, enum dcb_group group)
{
	const char *why = refusal(group, port->driver, r);
	const struct str_word netdev = {"{netdev}", port->dev.name};

	return why ? str_expand(why, &netdev, 1) : NULL;
}

static int explain(int r, const struct dcb_port *port, const struct change *c, struct err *err)
{
	const struct dcb_item *item = c->on.item;
	cleanup_free char *why = cause_of(&r, port, item->group);

	if (why)
		err_explain(err, why);
	err_wrap(err, "%s (%s): driver %s rejects %s %s", port->addr, port->dev.name, port->driver,
		 c->on.key, c->desired);
	if (err)
		err->code = r;
	return r;
}

static int no_dcb(const struct dcb_port *port, struct err *err)
{
	int r = -EOPNOTSUPP;
	const char *why = refusal(DCB_AT_ALL, port->driver, &r);

	return err_set(err, r,
		       "%s: the driver %s offers no DCB%s%s" TO_MEND
		       "leave trust, dscp_map, pfc, ets, buffers and cable_length out "
		       "of qos, or name them in qos.SET.optional",
		       port->addr, *port->driver ? port->driver : "(none)",
		       why ? "; " : ", or this kernel was built without CONFIG_DCB", or_empty(why));
}

/* A driver leaves a group that it lacks out of its answer. Every driver has the other groups. */
static int want_offered(const struct dcb_port *port, const struct change *c, struct err *err)
{
	static const char *const what[] = {[DCB_PFC] = "priority flow control",
					   [DCB_ETS] = "transmission selection",
					   [DCB_BUFFER] = "buffers"};
	const struct dcb_item *item = c->on.item;
	const struct dcb_info *info = port->info;

	if ((item->group != DCB_PFC || info->has_pfc) &&
	    (item->group != DCB_ETS || info->has_ets) &&
	    (item->group != DCB_BUFFER || info->has_buffer))
		return 0;
	return err_set(err, -EOPNOTSUPP,
		       "%s (%s): the driver %s offers no %s by DCB" TO_MEND
		       "leave qos.SET.%s out, or name "
		       "it in qos.SET.optional",
		       port->addr, port->dev.name, port->driver, what[item->group], c->on.key);
}

/* --- who decides ------------------------------------------------------------------------------ */

enum { HOST_BY_IEEE = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE };

static void make_dcbx(struct dcb_info *info, const struct change *c)
{
	(void)c;
	info->has_dcbx = true;
	info->dcbx = HOST_BY_IEEE;
}

/*
 * If the driver has no DCBX mode, only the host decides. A driver in the older mode, CEE (the
 * default of ixgbe), rejects settings by IEEE.
 */
static void show_dcbx(const struct dcb_port *port, const struct change *c, struct str *ret)
{
	uint8_t mode = port->info->dcbx;

	(void)c;
	if (port->info->has_dcbx && !(mode & DCB_CAP_DCBX_HOST))
		str_add(ret, "firmware");
	else if (port->info->has_dcbx && !(mode & DCB_CAP_DCBX_VER_IEEE))
		str_add(ret, "host by CEE");
	else
		str_add(ret, "host");
}

static int send_dcbx(const struct dcb_port *port, const struct change *c, struct err *err)
{
	int r = machine_dcb_mode(port->dev.name, HOST_BY_IEEE, err);
	cleanup_free char *remedy = r == -EPERM ? cause_of(&r, port, DCB_MODE) : NULL;

	(void)c;
	if (remedy)
		return err_set(err, r,
			       "%s (%s): the driver %s leaves DCB to its firmware's DCBX or LLDP "
			       "agent, which would override the host's settings" TO_MEND
			       "turn it off%s",
			       port->addr, port->dev.name, port->driver, remedy);
	return r < 0 ? err_wrap(err, "%s (%s): DCBX mode of the host", port->addr, port->dev.name)
		     : 0;
}

const struct dcb_item dcb_dcbx = {.sort = DCB_SORT,
				  .group = DCB_MODE,
				  .make = make_dcbx,
				  .show = show_dcbx,
				  .send = send_dcbx};

/* --- looking and setting --------------------------------------------------------------------- */

static void port_begin(const struct root *root, const struct change *c, struct dcb_port *port)
{
	*port = (struct dcb_port){.addr = c->on.name,
				  .driver = function_driver(root, c->on.name) ?: xstrdup("")};
}

static void port_end(struct dcb_port *port)
{
	free(port->driver);
}

static char *show(const struct dcb_port *port, const struct change *c)
{
	const struct dcb_item *item = c->on.item;
	struct str text = {0};

	item->show(port, c, &text);
	return str_take(&text);
}

char *dcb_desired(const struct change *c)
{
	const struct dcb_item *item = c->on.item;
	struct dcb_info info cleanup_dcb = {0};
	const struct dcb_port port = {.info = &info};

	item->make(&info, c);
	return show(&port, c);
}

static bool wants_pause_off(const struct change *c)
{
	const struct dcb_item *item = c->on.item;

	return item->excludes_pause && c->parts.n;
}

static int look_cached(const struct kind_ctx *ctx, struct change *c, struct dcb_port *port,
		       struct err *err)
{
	const struct cached *h = cache_get(&ports, ctx->root, port->addr);
	cleanup_free char *desired = dcb_desired(c), *there = NULL;
	int r;

	if (h->result == -EOPNOTSUPP)
		return no_dcb(port, err);
	if (h->result < 0)
		return cached_failure(h, err, "DCB of %s (%s)", port->addr, port->dev.name);
	port->info = h->info;
	r = want_offered(port, c, err);
	if (r < 0)
		return r;
	if (wants_pause_off(c)) {
		h = cache_get(&pauses, ctx->root, port->addr);
		if (h->result < 0)
			return cached_failure(h, err, "pause frames of %s (%s)", port->addr,
					      port->dev.name);
		port->pause = *(const struct dcb_pause *)h->info;
	}
	there = show(port, c);
	change_observe(c, "%s", there);
	c->now.state = streq(there, desired) ? CHANGE_SAME : CHANGE_DIFFERS;
	return 0;
}

int dcb_look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct dcb_port port cleanup(port_end);

	port_begin(ctx->root, c, &port);
	if (!ctx->root->live)
		return look_elsewhere(c);
	if (function_netdev(ctx->root, port.addr, &port.dev, NULL) < 0)
		return target_no_netdev(ctx->root, c, "");
	return look_cached(ctx, c, &port, err);
}

/* Runs in a worker, which has its own deadline, so the question needs none. */
static int ask_now(struct dcb_port *port, const struct change *c, struct dcb_info *info,
		   struct err *err)
{
	int r = ask(port->dev.name, false, info, err);

	if (r == -EOPNOTSUPP)
		return no_dcb(port, err);
	if (r == 0 && wants_pause_off(c))
		r = ask_pause(port->dev.ifindex, false, &port->pause, err);
	if (r < 0)
		return r;
	port->info = info;
	return want_offered(port, c, err);
}

/*
 * Reads the setting back, because the kernel accepts a setting that the driver has no function for.
 */
static int see(struct dcb_port *port, const struct change *c, const char *desired,
	       const char *before, struct err *err)
{
	struct dcb_info info cleanup_dcb = {0};
	cleanup_free char *after = NULL;
	int r = ask_now(port, c, &info, err);

	if (r < 0)
		return r;
	after = show(port, c);
	if (streq(after, desired) || !streq(after, before))
		return 0;
	return err_set(
		err, -EOPNOTSUPP,
		"%s (%s): driver %s accepted %s %s but kept %s, because it has no function "
		"for this key" TO_MEND "leave qos.SET.%s out, or name it in qos.SET.optional",
		port->addr, port->dev.name, port->driver, c->on.key, desired, before, c->on.key);
}

static int set_here(struct dcb_port *port, const struct change *c, struct err *err)
{
	const struct dcb_item *item = c->on.item;
	cleanup_free char *desired = dcb_desired(c), *before = NULL;
	struct dcb_info info cleanup_dcb = {0};
	int r = ask_now(port, c, &info, err);

	if (r < 0)
		return r;
	before = show(port, c);
	if (streq(before, desired)) /* another change has set it too */
		return 0;
	r = item->send(port, c, err);
	if (r < 0)
		return item == &dcb_dcbx ? r : explain(r, port, c, err);
	return see(port, c, desired, before, err);
}

int dcb_set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct dcb_port port cleanup(port_end);
	int r;

	port_begin(ctx->root, c, &port);
	r = netlink_only_here(ctx->root, err);
	if (r == 0)
		r = function_netdev(ctx->root, port.addr, &port.dev, err);
	return r < 0 ? r : set_here(&port, c, err);
}

/* --- a program that has its own word ------------------------------------------------------ */

/*
 * Finds lldpad(8) by its pid file or by its unit's control group. lldpd is a different program,
 * which does no harm.
 */
static bool lldpad_runs(const struct root *root)
{
	cleanup_free char *pid = NULL, *comm = NULL;
	uint64_t n;

	if (root_exists(root, "/sys/fs/cgroup/system.slice/lldpad.service") ||
	    root_exists(root, "/sys/fs/cgroup/systemd/system.slice/lldpad.service"))
		return true;
	return read_text(root, &pid, NULL, "/run/lldpad.pid") == 0 && parse_u64(pid, &n) == 0 &&
	       read_text(root, &comm, NULL, "/proc/%s/comm", pid) == 0 && streq(comm, "lldpad");
}

static int look_lldpad(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	bool runs = lldpad_runs(ctx->root);

	(void)err;
	change_observe(c, "%s", runs ? "runs" : "absent");
	c->now.state = runs ? CHANGE_DIFFERS : CHANGE_SAME;
	return 0;
}

/* railhead does not stop lldpad; the set only reports it. */
static int set_lldpad(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	(void)ctx;
	(void)c;
	return err_set(
		err, -EBUSY,
		"lldpad runs and overrides the settings of qos on each port where its DCB is on: "
		"run `systemctl disable --now lldpad`, or exclude these ports from lldpad");
}

static char *absent(const struct change *c)
{
	(void)c;
	return xstrdup("absent");
}

const struct target_item dcb_lldpad = {
	.kind = &kind_netlink, .look = look_lldpad, .set = set_lldpad, .desired = absent};
