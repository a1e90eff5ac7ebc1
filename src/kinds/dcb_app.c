/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DSCPs to priorities, and whether they count at all. A driver with dcbnl_setapptrust() is told
 * whom to trust; of all others (mlx5, ice, bnxt) trust is the presence of DSCP entries in the
 * APP table: the first that is added turns it on, the last that is deleted off.
 *
 * An entry of a DSCP that the profile does not name stays: mlx5 shows all 64 once its firmware
 * trusts them. One that maps a named DSCP elsewhere goes.
 */
#include <errno.h>
#include <string.h>

#include "kinds/dcb.h"
#include "sys/machine.h"

/* Whose ieee_setapp() replaces what a DSCP had. For all others it must be deleted before: ice
 * refuses a second entry, bnxt keeps both. */
static const char *const replaces[] = {"mlx5_core"};

static bool is_dscp(const struct dcb_app *app)
{
	return app->selector == IEEE_8021QAZ_APP_SEL_DSCP;
}

/* How many entries map that DSCP to priority; -1: to any. */
static unsigned int count(const struct dcb_info *info, unsigned int dscp, int priority)
{
	unsigned int n = 0;

	for (size_t i = 0; i < info->app.n; i++)
		n += is_dscp(&info->app.v[i]) && info->app.v[i].protocol == dscp &&
		     (priority < 0 || info->app.v[i].priority == priority);
	return n;
}

/* --- trust ------------------------------------------------------------------------------------ */

static bool any(const struct dcb_info *info)
{
	(void)info;
	return true;
}

static bool trusts_dscp(const struct dcb_info *info)
{
	for (size_t i = 0; info->has_trust && i < info->trust.n; i++)
		if (info->trust.v[i] == IEEE_8021QAZ_APP_SEL_DSCP)
			return true;
	for (size_t i = 0; !info->has_trust && i < info->app.n; i++)
		if (is_dscp(&info->app.v[i]))
			return true;
	return false;
}

static void show_trust(const struct dcb_port *port, const char *desired, struct str *ret)
{
	(void)desired;
	str_add(ret, trusts_dscp(port->info) ? "dscp" : "pcp");
}

/* DSCP first, or not at all; the rest in its order, and nobody alone is nobody. */
static int send_table(const struct dcb_port *port, bool dscp, struct err *err)
{
	uint8_t list[16]; /* there are seven selectors; the message has room for so many */
	size_t n = 0;

	if (dscp)
		list[n++] = IEEE_8021QAZ_APP_SEL_DSCP;
	for (size_t i = 0; i < port->info->trust.n && n < array_len(list); i++)
		if (port->info->trust.v[i] != IEEE_8021QAZ_APP_SEL_DSCP)
			list[n++] = port->info->trust.v[i];
	if (!n)
		list[n++] = DCB_SELECTOR_PCP;
	return machine_dcb_trust(port->dev.name, list, n, err);
}

/* Each with the priority that it has: the driver knows no other way (ENOENT). */
static int drop_all(const struct dcb_port *port, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < port->info->app.n; i++)
		if (is_dscp(&port->info->app.v[i]))
			r = machine_dcb_app(port->dev.name, &port->info->app.v[i], false, err);
	return r;
}

static int send_trust(const struct dcb_port *port, const char *desired, struct err *err)
{
	/* An entry that says what holds anyway is enough. */
	static const struct dcb_app first = {.selector = IEEE_8021QAZ_APP_SEL_DSCP};
	bool dscp = streq(desired, "dscp");

	if (port->info->has_trust)
		return send_table(port, dscp, err);
	return dscp ? machine_dcb_app(port->dev.name, &first, true, err) : drop_all(port, err);
}

const struct dcb_key dcb_trust = {
	.name = "trust", .what = "trust", .offered = any, .show = show_trust, .send = send_trust};

/* --- roce_priority ---------------------------------------------------------------------------- */

/* RoCE v2 is UDP to this port; bnxt_en tells its firmware the priority of that entry
 * (bnxt_hwrm_set_dcbx_app()). */
enum { ROCE_UDP_PORT = 4791 };

static bool is_roce(const struct dcb_app *app)
{
	return app->selector == IEEE_8021QAZ_APP_SEL_DGRAM && app->protocol == ROCE_UDP_PORT;
}

static void show_roce(const struct dcb_port *port, const char *desired, struct str *ret)
{
	(void)desired;
	for (size_t i = 0; i < port->info->app.n; i++)
		if (is_roce(&port->info->app.v[i]))
			str_addf(ret, "%s%u", ret->len ? " " : "", port->info->app.v[i].priority);
	if (!ret->len)
		str_add(ret, "none");
}

static int send_roce(const struct dcb_port *port, const char *desired, struct err *err)
{
	struct dcb_app app = {.selector = IEEE_8021QAZ_APP_SEL_DGRAM,
			      .priority = (uint8_t)strtoul(desired, NULL, 10),
			      .protocol = ROCE_UDP_PORT};
	int r = 0;

	for (size_t i = 0; r == 0 && i < port->info->app.n; i++)
		if (is_roce(&port->info->app.v[i]))
			r = machine_dcb_app(port->dev.name, &port->info->app.v[i], false, err);
	return r < 0 ? r : machine_dcb_app(port->dev.name, &app, true, err);
}

const struct dcb_key dcb_roce = {.name = "roce_priority",
				 .what = "priority of RoCE",
				 .offered = any,
				 .show = show_roce,
				 .send = send_roce};

/* --- dscp_map --------------------------------------------------------------------------------- */

static void show_map(const struct dcb_port *port, const char *desired, struct str *ret)
{
	struct dcb_pair pair = {.section = ""};

	while (dcb_next(&desired, &pair)) {
		const char *sep = "";

		str_addf(ret, "%s%u:", ret->len ? " " : "", pair.key);
		for (size_t i = 0; i < port->info->app.n; i++) {
			const struct dcb_app *app = &port->info->app.v[i];

			if (!is_dscp(app) || app->protocol != pair.key)
				continue;
			str_addf(ret, "%s%u", sep, app->priority);
			sep = ",";
		}
		if (!*sep)
			str_add(ret, "none");
	}
}

static bool driver_replaces(const struct dcb_port *port)
{
	for (size_t i = 0; i < array_len(replaces); i++)
		if (streq(port->driver, replaces[i]))
			return true;
	return false;
}

static int add_entry(const struct dcb_port *port, const struct dcb_pair *pair, struct err *err)
{
	struct dcb_app app = {.selector = IEEE_8021QAZ_APP_SEL_DSCP,
			      .priority = (uint8_t)pair->number,
			      .protocol = (uint16_t)pair->key};

	return machine_dcb_app(port->dev.name, &app, true, err);
}

/* All of this DSCP: deleting one of two would take the mapping from the hardware with it. */
static int remap(const struct dcb_port *port, const struct dcb_pair *pair, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && !driver_replaces(port) && i < port->info->app.n; i++)
		if (is_dscp(&port->info->app.v[i]) && port->info->app.v[i].protocol == pair->key)
			r = machine_dcb_app(port->dev.name, &port->info->app.v[i], false, err);
	return r < 0 ? r : add_entry(port, pair, err);
}

/* New ones first, so that the last entry is never deleted on the way: that would turn trust off
 * and on again. */
static int send_map(const struct dcb_port *port, const char *desired, struct err *err)
{
	int r = 0;

	for (int again = 0; again <= 1; again++) {
		struct dcb_pair pair = {.section = ""};
		const char *at = desired;

		while (r == 0 && dcb_next(&at, &pair)) {
			unsigned int there = count(port->info, pair.key, -1);
			unsigned int right = count(port->info, pair.key, (int)pair.number);

			if (!there && !again)
				r = add_entry(port, &pair, err);
			else if (there && again && there != right)
				r = remap(port, &pair, err);
			if (r < 0)
				err_wrap(err, "DSCP %u to priority %lu", pair.key, pair.number);
		}
	}
	return r;
}

const struct dcb_key dcb_dscp_map = {.name = "dscp_map",
				     .what = "map of DSCPs",
				     .offered = any,
				     .show = show_map,
				     .send = send_map};
