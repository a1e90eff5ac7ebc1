/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The priorities of DSCPs, and whether the port trusts DSCPs at all. A driver with
 * dcbnl_setapptrust() has a table of trust. For all other drivers (mlx5, ice, bnxt), trust is the
 * presence of DSCP entries in the APP table: adding the first entry turns trust on, deleting the
 * last entry turns it off.
 *
 * Entries of DSCPs that the profile does not name stay, because mlx5 shows all 64 once its firmware
 * trusts DSCPs. An entry that maps a named DSCP to a different priority is deleted.
 */
#include <string.h>

#include "kinds/dcb.h"
#include "node/drivers.h"
#include "plan/change.h"
#include "sys/machine.h"

enum { ANY = -1 };

static bool is_dscp(const struct dcb_app *app)
{
	return app->selector == IEEE_8021QAZ_APP_SEL_DSCP;
}

/*
 * Deletes the entries of a selector for one protocol, or for ANY. Each deletion names the entry's
 * priority, because the driver finds no entry otherwise (ENOENT).
 */
static int drop(const struct dcb_port *port, uint8_t selector, int protocol, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < port->info->app.n; i++) {
		const struct dcb_app *app = &port->info->app.v[i];

		if (app->selector == selector && (protocol == ANY || app->protocol == protocol))
			r = machine_dcb_app(port->dev.name, app, false, err);
	}
	return r;
}

/* The number of entries that map dscp to priority, or to ANY. */
static unsigned int count(const struct dcb_info *info, unsigned int dscp, int priority)
{
	unsigned int n = 0;

	for (size_t i = 0; i < info->app.n; i++)
		n += is_dscp(&info->app.v[i]) && info->app.v[i].protocol == dscp &&
		     (priority == ANY || info->app.v[i].priority == priority);
	return n;
}

/* --- trust ------------------------------------------------------------------------------------ */

const char *const dcb_trust_words[] = {[DCB_TRUST_DSCP] = "dscp", [DCB_TRUST_PCP] = "pcp", NULL};

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

static void make_trust(struct dcb_info *info, const struct change *c)
{
	info->has_trust = true;
	if (c->want.number == DCB_TRUST_DSCP)
		vec_push(&info->trust, IEEE_8021QAZ_APP_SEL_DSCP);
}

static void show_trust(const struct dcb_port *port, const struct change *c, struct str *ret)
{
	(void)c;
	str_add(ret, dcb_trust_words[trusts_dscp(port->info) ? DCB_TRUST_DSCP : DCB_TRUST_PCP]);
}

/*
 * Sends the table of trust: DSCP first or left out, then the others in their order. An empty table
 * becomes PCP.
 */
static int send_table(const struct dcb_port *port, bool dscp, struct err *err)
{
	uint8_t list[16]; /* there are seven selectors; the message has room for 16 */
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

static int send_trust(const struct dcb_port *port, const struct change *c, struct err *err)
{
	/* One entry is enough; this entry maps DSCP 0 to priority 0, as without a map. */
	static const struct dcb_app first = {.selector = IEEE_8021QAZ_APP_SEL_DSCP};
	bool dscp = c->want.number == DCB_TRUST_DSCP;

	if (port->info->has_trust)
		return send_table(port, dscp, err);
	return dscp ? machine_dcb_app(port->dev.name, &first, true, err)
		    : drop(port, IEEE_8021QAZ_APP_SEL_DSCP, ANY, err);
}

const struct dcb_item dcb_trust = {.sort = DCB_SORT,
				   .group = DCB_DSCP,
				   .make = make_trust,
				   .show = show_trust,
				   .send = send_trust};

/* --- roce_priority ---------------------------------------------------------------------------- */

/* RoCE v2 is UDP to this port; bnxt_en tells its firmware the priority of that entry
 * (bnxt_hwrm_set_dcbx_app()). */
enum { ROCE_UDP_PORT = 4791 };

static struct dcb_app roce_app(const struct change *c)
{
	return (struct dcb_app){.selector = IEEE_8021QAZ_APP_SEL_DGRAM,
				.priority = (uint8_t)c->want.number,
				.protocol = ROCE_UDP_PORT};
}

static void make_roce(struct dcb_info *info, const struct change *c)
{
	vec_push(&info->app, roce_app(c));
}

static void show_roce(const struct dcb_port *port, const struct change *c, struct str *ret)
{
	(void)c;
	for (size_t i = 0; i < port->info->app.n; i++)
		if (port->info->app.v[i].selector == IEEE_8021QAZ_APP_SEL_DGRAM &&
		    port->info->app.v[i].protocol == ROCE_UDP_PORT)
			str_addf(ret, "%s%u", ret->len ? " " : "", port->info->app.v[i].priority);
	if (!ret->len)
		str_add(ret, "none");
}

static int send_roce(const struct dcb_port *port, const struct change *c, struct err *err)
{
	struct dcb_app app = roce_app(c);
	int r = drop(port, app.selector, app.protocol, err);

	return r < 0 ? r : machine_dcb_app(port->dev.name, &app, true, err);
}

const struct dcb_item dcb_roce_priority = {.sort = DCB_SORT,
					   .group = DCB_ROCE,
					   .make = make_roce,
					   .show = show_roce,
					   .send = send_roce};

/* --- dscp_map --------------------------------------------------------------------------------- */

static struct dcb_app dscp_app(const struct part *part)
{
	return (struct dcb_app){.selector = IEEE_8021QAZ_APP_SEL_DSCP,
				.priority = (uint8_t)part->want.number,
				.protocol = (uint16_t)part->index};
}

static void make_map(struct dcb_info *info, const struct change *c)
{
	for (size_t i = 0; i < c->parts.n; i++)
		vec_push(&info->app, dscp_app(&c->parts.v[i]));
}

static void show_map(const struct dcb_port *port, const struct change *c, struct str *ret)
{
	for (size_t p = 0; p < c->parts.n; p++) {
		unsigned int dscp = c->parts.v[p].index;
		const char *sep = "";

		str_addf(ret, "%s%u:", ret->len ? " " : "", dscp);
		for (size_t i = 0; i < port->info->app.n; i++) {
			const struct dcb_app *app = &port->info->app.v[i];

			if (!is_dscp(app) || app->protocol != dscp)
				continue;
			str_addf(ret, "%s%u", sep, app->priority);
			sep = ",";
		}
		if (!*sep)
			str_add(ret, "none");
	}
}

static int add_entry(const struct dcb_port *port, const struct part *part, struct err *err)
{
	struct dcb_app app = dscp_app(part);

	return machine_dcb_app(port->dev.name, &app, true, err);
}

/*
 * Deletes all entries of the DSCP first, unless the driver replaces them: ice rejects a second
 * entry, bnxt keeps both, and deleting one of two would also remove the mapping from the hardware.
 */
static int remap(const struct dcb_port *port, const struct part *part, struct err *err)
{
	int r = driver_find(port->driver)->replaces_dscp
			? 0
			: drop(port, IEEE_8021QAZ_APP_SEL_DSCP, (int)part->index, err);

	return r < 0 ? r : add_entry(port, part, err);
}

/*
 * Adds new entries before it remaps others, because deleting the last entry would turn trust off
 * and on again.
 */
static int send_map(const struct dcb_port *port, const struct change *c, struct err *err)
{
	int r = 0;

	for (int again = 0; again <= 1; again++)
		for (size_t i = 0; r == 0 && i < c->parts.n; i++) {
			const struct part *part = &c->parts.v[i];
			unsigned int there = count(port->info, part->index, ANY);
			unsigned int right = count(port->info, part->index, (int)part->want.number);

			if (!there && !again)
				r = add_entry(port, part, err);
			else if (there && again && there != right)
				r = remap(port, part, err);
			if (r < 0)
				err_wrap(err, "DSCP %u to priority %lld", part->index,
					 (long long)part->want.number);
		}
	return r;
}

const struct dcb_item dcb_dscp_map = {
	.sort = DCB_SORT, .group = DCB_DSCP, .make = make_map, .show = show_map, .send = send_map};
