/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Setting what differs on one netdev. In a worker: all of it waits for rtnl. */
#include <errno.h>
#include <linux/if_link.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "base/vec.h"
#include "kinds/link_values.h"
#include "sys/clock.h"
#include "sys/machine.h"
#include "sys/read.h"
#include "sys/uevent.h"

enum { CARRIER_US = 5000000 };

/* What is to be sent to a netdev. */
struct sending {
	const struct link_wish *wish;
	const struct port *port;
	const struct link_pair **v;
	size_t n;
	size_t cap;
};

/* "rx 8192 tx 8192", or the value alone */
static char *describe(const struct sending *s)
{
	struct str text = {0};

	for (size_t i = 0; i < s->n; i++) {
		if (s->wish->what->how == LINK_ETHTOOL)
			str_addf(&text, "%s%s ", i ? " " : "", s->v[i]->name);
		str_add(&text, s->v[i]->value);
	}
	return str_take(&text);
}

/* "; its maximum is 4096 (rx)" where that is what is wrong */
static char *above_maximum(const struct sending *s)
{
	struct str text = {0};

	for (size_t i = 0; i < s->n; i++) {
		uint32_t max = link_max(s->wish, s->v[i], s->port);
		uint64_t value;

		if (max && parse_u64(s->v[i]->value, &value) == 0 && value > max)
			str_addf(&text, "; its maximum is %u (%s)", max, s->v[i]->name);
	}
	return str_take(&text);
}

/* Puts around the kernel's words what was asked of whom. */
static int refused(int r, const struct sending *s, struct err *err)
{
	cleanup_free char *what = describe(s);
	cleanup_free char *max = above_maximum(s);
	const char *key = s->wish->what->name;

	if (r == -EOPNOTSUPP) {
		err_wrap(err, "%s %s of %s (%s): driver %s cannot set it; leave link.SET.%s out",
			 key, what, s->port->name, s->wish->addr, s->wish->driver, key);
		return r;
	}
	err_wrap(err, "%s %s of %s (%s): driver %s rejects the value%s", key, what, s->port->name,
		 s->wish->addr, s->wish->driver, max ? max : "");
	return r;
}

/* --- ethtool ------------------------------------------------------------------------------ */

static int send_group(const struct sending *s, bool no_autoneg, struct err *err)
{
	struct eth_settings settings = {0};
	int r;

	for (size_t i = 0; i < s->n; i++)
		link_settings(s->wish, s->v[i], s->port, &settings);
	if (no_autoneg)
		vec_push(&settings, ((struct eth_setting){.item = ETH_PAUSE_AUTONEG}));
	r = machine_ethtool_set(s->port->ifindex, s->wish->what->group, settings.v, settings.n,
				err);
	vec_free(&settings);
	return r < 0 ? refused(r, s, err) : 0;
}

/*
 * What the driver made of it: it may have taken another number without a word. mlx5 rounds rings
 * up to a power of two, igb to a multiple of eight, and others do with times. -ERANGE then: which
 * number is really wanted, the profile is to say.
 */
static int judge_kept(const struct sending *s, const struct port *now, struct err *err)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct link_pair *pair = s->v[i];
		char have[LINK_TEXT];
		int r = link_have(s->wish, pair, now, have, err);

		if (r < 0)
			return r;
		if (streq(have, pair->value))
			continue;
		if (streq(have, "on") || streq(have, "off"))
			return err_set(
				err, -ERANGE,
				"%s %s of %s (%s): driver %s accepted '%s' but kept '%s': a "
				"setting it depends on overrides it (see the kernel log), or the "
				"ports negotiate it",
				s->wish->what->name, pair->name, now->name, s->wish->addr,
				s->wish->driver, pair->value, have);
		return err_set(err, -ERANGE,
			       "%s %s of %s (%s): driver %s rounded %s to %s; set %s: %s",
			       s->wish->what->name, pair->name, now->name, s->wish->addr,
			       s->wish->driver, pair->value, have, pair->name, have);
	}
	return 0;
}

static int judge_again(const struct root *root, const struct sending *s, struct err *err)
{
	struct ports now cleanup_ports = {0};
	int r = link_ask(root, s->wish->addr, s->port->ifindex, false, &now, err);

	return r < 0 ? r : judge_kept(s, &now.v[0], err);
}

struct carrier {
	const struct root *root;
	const char *name;
};

/* Or there is none to come: it can't be read of a netdev that is down. */
static bool has_carrier(void *arg)
{
	const struct carrier *w = arg;
	uint64_t carrier;

	return read_u64(w->root, &carrier, NULL, "/sys/class/net/%s/carrier", w->name) < 0 ||
	       carrier;
}

/*
 * A link that comes up, as it does after most of what was set before, has its pause resolved from
 * what both ports advertised, over whatever was set meanwhile (igb_config_fc_after_link_up()).
 */
static void wait_for_link(const struct root *root, const struct sending *s, uint64_t deadline)
{
	struct carrier w = {root, s->port->name};
	uint64_t enough = clock_usec() + CARRIER_US;

	if (s->port->up)
		uevent_wait(has_carrier, &w, enough < deadline ? enough : deadline);
}

/*
 * Pause that the ports negotiate is what both of them want, once the link is up again: igb leaves
 * rx and tx alone then (igb_set_pauseparam()). So the negotiation goes first. i40e and ice refuse
 * that (their negotiation is one with that of the link's speed), and obey rx and tx all the same.
 */
static int send_pause(const struct kind_ctx *ctx, const struct sending *s, struct err *err)
{
	struct err first = {0};
	int r = -EOPNOTSUPP;

	if (s->port->number[ETH_PAUSE_AUTONEG].value) {
		wait_for_link(ctx->root, s, ctx->deadline);
		r = send_group(s, true, &first);
	}
	if (r == -EOPNOTSUPP || r == -EINVAL)
		r = send_group(s, false, err);
	else if (r < 0)
		return err_set(err, r, "%s", first.text);
	return r < 0 ? r : judge_again(ctx->root, s, err);
}

/* --- the rest ----------------------------------------------------------------------------- */

static int send_number(const struct sending *s, uint16_t attr, struct err *err)
{
	uint64_t number = 0;
	int r = parse_u64(s->v[0]->value, &number);

	if (r < 0)
		return err_set(err, r, "'%s' is no number", s->v[0]->value);
	r = machine_link_number(s->port->ifindex, attr, (uint32_t)number, err);
	return r < 0 ? refused(r, s, err) : 0;
}

static int send_file(const struct root *root, const struct sending *s, struct err *err)
{
	cleanup_free char *path =
		xasprintf("/sys/class/net/%s/%s", s->port->name, port_file[s->wish->what->file]);
	int r = machine_write_attr(root, path, s->v[0]->value, err);

	return r < 0 ? refused(r, s, err) : 0;
}

static int send_all(const struct kind_ctx *ctx, const struct sending *s, struct err *err)
{
	int r;

	switch (s->wish->what->how) {
	case LINK_ETHTOOL:
		if (s->wish->what->group == ETH_PAUSE)
			return send_pause(ctx, s, err);
		r = send_group(s, false, err);
		return r < 0 ? r : judge_again(ctx->root, s, err);
	case LINK_MTU:
		return send_number(s, IFLA_MTU, err);
	case LINK_QUEUE:
		return send_number(s, IFLA_TXQLEN, err);
	case LINK_UP:
		r = machine_link_up(s->port->ifindex, streq(s->v[0]->value, "up"), err);
		return r < 0 ? refused(r, s, err) : 0;
	case LINK_FILE:
		return send_file(ctx->root, s, err);
	}
	return 0;
}

int link_send(const struct kind_ctx *ctx, const struct change *c, const struct link_wish *wish,
	      const struct port *port, struct err *err)
{
	struct sending s = {.wish = wish, .port = port};
	struct err missing = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < wish->n; i++) {
		char have[LINK_TEXT];
		struct err why = {0};
		int looked = link_have(wish, &wish->v[i], port, have, &why);

		if (looked == -EOPNOTSUPP && c->optional)
			missing = why;
		else if (looked < 0)
			r = err_set(err, looked, "%s", why.text);
		else if (!streq(have, wish->v[i].value))
			vec_push(&s, &wish->v[i]);
	}
	if (r == 0 && s.n)
		r = send_all(ctx, &s, err);
	vec_free(&s);
	if (r < 0)
		return r;
	return missing.code ? err_set(err, missing.code, "%s", missing.text) : 0;
}
