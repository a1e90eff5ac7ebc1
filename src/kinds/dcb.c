/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DCB of a PF's netdev: who is asked what, who decides (DCBX), and what a refusal means. Facts:
 * net/dcb/dcbnl.c, drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c,
 * drivers/net/ethernet/intel/ice/ice_dcb_nl.c, drivers/net/ethernet/broadcom/bnxt/bnxt_dcb.c.
 */
#include "kinds/dcb.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "kinds/heard.h"
#include "kinds/netlink.h"
#include "sys/ethtool.h"
#include "sys/machine.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

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

/* Who does not say is taken not to pause: then PFC is set, and whether it is there is seen. */
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

static struct hearing ports = {.ask = ask_function, .free = free_info};
static struct hearing pauses = {.ask = ask_function_pause, .free = free};

void forget_dcb(const struct change *c)
{
	hearing_forget(&ports, c);
	hearing_forget(&pauses, c);
}

/* --- what a refusal means -------------------------------------------------------------------- */

struct meaning {
	const char *driver; /* NULL: any */
	int code;
	const char *key; /* "trust,dscp_map"; NULL: any */
	int really;	 /* the errno that is meant; 0: the same */
	const char *text;
};

static const struct meaning meanings[] = {
	{"bnxt_en", -ENOMEM, "trust,dscp_map", -EOPNOTSUPP,
	 "this is its ENOTSUPP (-524), of which one byte arrives: the adapter's firmware maps no "
	 "DSCPs; write trust: pcp and leave dscp_map out"},
	{"bnxt_en", -EINVAL, NULL, 0,
	 "it takes this in the host's DCBX mode only, and with its own firmware agents off "
	 "(niccli, options dcbx_mode and lldp_nearest_bridge; then a cold boot)"},
	{"ice", -EINVAL, NULL, 0,
	 "it takes this only while its firmware's LLDP agent is off (ethtool --set-priv-flags "
	 "NETDEV fw-lldp-agent off) and the port is in no bond"},
	{"mlx5_core", -EOPNOTSUPP, "trust,dscp_map", 0,
	 "this function does not manage its port (multi-host, or privileges that the firmware "
	 "keeps from the host): leave trust and dscp_map to who does"},
	{NULL, -EINVAL, "ets", 0,
	 "shares of the classes that are ets must sum up to 100%, those that the profile does not "
	 "name included, and the driver must have so many classes"},
	{NULL, -EINVAL, "buffers", 0,
	 "together the buffers are larger than the port's, or a priority's buffer is too small"},
	{NULL, -EPERM, NULL, 0, "CAP_NET_ADMIN is required"},
};

static bool is_of(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += len)
		if ((at == list || at[-1] == ',') && (!at[len] || at[len] == ','))
			return true;
	return false;
}

static int explain(int r, const struct dcb_port *port, const struct dcb_key *key,
		   const char *desired, struct err *err)
{
	for (size_t i = 0; i < array_len(meanings); i++) {
		const struct meaning *m = &meanings[i];

		if (m->code != r || (m->driver && !streq(m->driver, port->driver)) ||
		    (m->key && !is_of(m->key, key->name)))
			continue;
		err_wrap(err, "%s (%s): driver %s rejects %s %s; %s", port->addr, port->dev.name,
			 port->driver, key->name, desired, m->text);
		if (m->really && err)
			err->code = m->really;
		return m->really ? m->really : r;
	}
	return err_wrap(err, "%s (%s): driver %s rejects %s %s", port->addr, port->dev.name,
			port->driver, key->name, desired);
}

/* Programs of vendors whose drivers leave DCB to them. */
static int no_dcb(const char *addr, const char *driver, struct err *err)
{
	if (streq(driver, "ionic"))
		return err_set(err, -EOPNOTSUPP,
			       "%s: the driver ionic offers no DCB; the adapter's own program "
			       "sets it (nicctl update qos, nicctl update port), so leave trust, "
			       "dscp_map, pfc and ets out of qos",
			       addr);
	return err_set(err, -EOPNOTSUPP,
		       "%s: the driver %s offers no DCB, or this kernel was built without "
		       "CONFIG_DCB; leave trust, dscp_map, pfc, ets, buffers and cable_length out "
		       "of qos, or write unsupported: skip",
		       addr, *driver ? driver : "(none)");
}

static int not_offered(const struct dcb_port *port, const struct dcb_key *key, struct err *err)
{
	return err_set(err, -EOPNOTSUPP,
		       "%s (%s): the driver %s offers no %s by DCB; leave qos.SET.%s out, or write "
		       "unsupported: skip",
		       port->addr, port->dev.name, port->driver, key->what, key->name);
}

/* --- words ----------------------------------------------------------------------------------- */

bool dcb_next(const char **at, struct dcb_pair *pair)
{
	const char *s = *at;

	for (;;) {
		char *end;

		while (*s == ' ')
			s++;
		if (!*s)
			return false;
		if (isdigit((unsigned char)*s)) {
			pair->key = (unsigned int)strtoul(s, &end, 10);
			if (*end != ':')
				return false;
			pair->value = end + 1;
			pair->number = strtoul(pair->value, NULL, 10);
			*at = s + strcspn(s, " ");
			return true;
		}
		pair->section = s;
		s += strcspn(s, " ");
	}
}

bool dcb_in(const struct dcb_pair *pair, const char *section)
{
	size_t len = strlen(section);

	return strncmp(pair->section, section, len) == 0 &&
	       (pair->section[len] == ' ' || !pair->section[len]);
}

/* --- who decides ------------------------------------------------------------------------------ */

static bool any(const struct dcb_info *info)
{
	(void)info;
	return true;
}

/* A driver that has no such mode has nobody beside the host. One that speaks the older CEE (ixgbe,
 * by default) refuses what IEEE says. */
static void show_dcbx(const struct dcb_port *port, const char *desired, struct str *ret)
{
	uint8_t mode = port->info->dcbx;

	(void)desired;
	if (port->info->has_dcbx && !(mode & DCB_CAP_DCBX_HOST))
		str_add(ret, "firmware");
	else if (port->info->has_dcbx && !(mode & DCB_CAP_DCBX_VER_IEEE))
		str_add(ret, "host by CEE");
	else
		str_add(ret, "host");
}

static int send_dcbx(const struct dcb_port *port, const char *desired, struct err *err)
{
	int r = machine_dcb_mode(port->dev.name, DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE, err);

	(void)desired;
	if (r == -EPERM && streq(port->driver, "ice"))
		return err_set(err, r,
			       "%s: the firmware's LLDP agent decides over DCB; turn it off: "
			       "ethtool --set-priv-flags %s fw-lldp-agent off",
			       port->addr, port->dev.name);
	if (r == -EPERM)
		return err_set(err, r,
			       "%s (%s): the driver %s leaves DCB to its firmware's DCBX or LLDP "
			       "agent, whose word would undo the host's; turn it off in the "
			       "firmware's settings (mlx5: LLDP_NB_DCBX_P1; bnxt: niccli, "
			       "lldp_nearest_bridge and dcbx_mode) and cold-boot",
			       port->addr, port->dev.name, port->driver);
	return r < 0 ? err_wrap(err, "%s (%s): DCBX mode of the host", port->addr, port->dev.name)
		     : 0;
}

static const struct dcb_key dcb_dcbx = {
	.name = "dcbx", .what = "DCBX mode", .offered = any, .show = show_dcbx, .send = send_dcbx};

static const struct dcb_key *const keys[] = {
	&dcb_dcbx, &dcb_trust, &dcb_dscp_map, &dcb_roce,
	&dcb_pfc,  &dcb_cable, &dcb_ets,      &dcb_buffers,
};

/* --- the kind's two sides ----------------------------------------------------------------- */

struct about {
	char addr[PCI_ADDR_MAX];
	const struct dcb_key *key;
	char *driver; /* never NULL */
};

static void about_free(struct about *a)
{
	free(a->driver);
}

static int parse_target(const struct root *root, const char *target, struct about *ret,
			struct err *err)
{
	size_t len = strcspn(target, "/");

	for (size_t i = 0; target[len] && i < array_len(keys); i++)
		if (streq(keys[i]->name, target + len + 1) && len < sizeof(ret->addr)) {
			memcpy(ret->addr, target, len);
			ret->addr[len] = '\0';
			ret->key = keys[i];
			if (read_link_name(root, &ret->driver, NULL, DEV "%s/driver", ret->addr) <
			    0)
				ret->driver = xstrdup("");
			return 0;
		}
	return err_set(err, -EINVAL, "%s: not ADDRESS/KEY", target);
}

/* No netdev (here, yet): nothing to ask. */
static int no_netdev(const struct root *root, struct change *c, const struct about *a)
{
	change_observe(c, "no netdev");
	if (function_has(root, a->addr, "net")) {
		change_reason(c, "its netdev is in a network namespace of its own (a container), "
				 "and is left alone there");
		c->state = CHANGE_UNSUPPORTED;
		return 0;
	}
	change_reason(c, "%s has no netdev (yet); is its driver bound?", a->addr);
	c->state = CHANGE_WAITS;
	return 0;
}

static bool wants_pause_off(const struct about *a, const char *desired)
{
	return a->key->pause && !streq(desired, "none");
}

static int look_heard(const struct kind_ctx *ctx, struct change *c, const struct about *a,
		      struct dcb_port *port, struct err *err)
{
	cleanup_str struct str there = {0};
	const struct heard *h = hear(&ports, ctx->root, a->addr);

	if (h->result == -EOPNOTSUPP)
		return no_dcb(a->addr, a->driver, err);
	if (h->result < 0)
		return err_set(err, h->result, "DCB of %s (%s): %s", a->addr, port->dev.name,
			       h->err.text);
	port->info = h->info;
	if (!a->key->offered(port->info))
		return not_offered(port, a->key, err);
	if (wants_pause_off(a, c->desired)) {
		h = hear(&pauses, ctx->root, a->addr);
		if (h->result < 0)
			return err_set(err, h->result, "pause frames of %s (%s): %s", a->addr,
				       port->dev.name, h->err.text);
		port->pause = *(const struct dcb_pause *)h->info;
	}
	a->key->show(port, c->desired, &there);
	change_observe(c, "%s", str_get(&there));
	change_judge(c);
	return 0;
}

int look_dcb(const struct kind_ctx *ctx, struct change *c, const char *target, struct err *err)
{
	struct about a cleanup(about_free) = {.driver = NULL};
	struct dcb_port port = {.root = ctx->root};
	int r;

	if (!ctx->root->live)
		return look_elsewhere(c);
	r = parse_target(ctx->root, target, &a, err);
	if (r < 0)
		return r;
	port.addr = a.addr;
	port.driver = a.driver;
	if (function_netdev(ctx->root, a.addr, &port.dev, NULL) < 0)
		return no_netdev(ctx->root, c, &a);
	return look_heard(ctx, c, &a, &port, err);
}

/* In a worker, which may ask without a deadline of its own. */
static int ask_now(struct dcb_port *port, const struct about *a, const char *desired,
		   struct dcb_info *info, struct err *err)
{
	int r = ask(port->dev.name, false, info, err);

	if (r == -EOPNOTSUPP)
		return no_dcb(a->addr, a->driver, err);
	if (r == 0 && wants_pause_off(a, desired))
		r = ask_pause(port->dev.ifindex, false, &port->pause, err);
	if (r < 0)
		return r;
	port->info = info;
	return a->key->offered(info) ? 0 : not_offered(port, a->key, err);
}

/* A driver without the function for it takes the order without a word. */
static int see(struct dcb_port *port, const struct about *a, const char *desired,
	       const char *before, struct err *err)
{
	struct dcb_info info cleanup_dcb = {0};
	cleanup_str struct str after = {0};
	int r = ask_now(port, a, desired, &info, err);

	if (r < 0)
		return r;
	a->key->show(port, desired, &after);
	if (streq(str_get(&after), desired) || !streq(str_get(&after), before))
		return 0;
	return err_set(err, -EOPNOTSUPP,
		       "%s (%s): the driver %s took %s %s without a word and left it at %s: it has "
		       "no function for it; leave qos.SET.%s out, or write unsupported: skip",
		       port->addr, port->dev.name, port->driver, a->key->name, desired, before,
		       a->key->name);
}

int set_dcb(const struct kind_ctx *ctx, struct change *c, const char *target, struct err *err)
{
	struct about a cleanup(about_free) = {.driver = NULL};
	struct dcb_port port = {.root = ctx->root};
	struct dcb_info info cleanup_dcb = {0};
	cleanup_str struct str before = {0};
	int r = netlink_only_here(ctx->root, err);

	if (r == 0)
		r = parse_target(ctx->root, target, &a, err);
	if (r == 0)
		r = function_netdev(ctx->root, a.addr, &port.dev, err);
	if (r < 0)
		return r;
	port.addr = a.addr;
	port.driver = a.driver;
	r = ask_now(&port, &a, c->desired, &info, err);
	if (r < 0)
		return r;
	a.key->show(&port, c->desired, &before);
	if (streq(str_get(&before), c->desired)) /* another change has done it along */
		return 0;
	r = a.key->send(&port, c->desired, err);
	if (r < 0)
		return a.key == &dcb_dcbx ? r : explain(r, &port, a.key, c->desired, err);
	return see(&port, &a, c->desired, str_get(&before), err);
}

/* --- a program that has its own word ------------------------------------------------------ */

/* lldpad(8), by its pid file and by its unit's control group; lldpd is another program, and harms
 * nothing. */
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

int look_lldpad(const struct kind_ctx *ctx, struct change *c, const char *none, struct err *err)
{
	(void)none;
	(void)err;
	change_observe(c, "%s", lldpad_runs(ctx->root) ? "runs" : "absent");
	change_judge(c);
	return 0;
}

int set_lldpad(const struct kind_ctx *ctx, struct change *c, const char *none, struct err *err)
{
	(void)ctx;
	(void)c;
	(void)none;
	return err_set(err, -EBUSY,
		       "lldpad runs, and where it has DCB on it undoes what qos sets: systemctl "
		       "disable --now lldpad, or keep it off these ports");
}
