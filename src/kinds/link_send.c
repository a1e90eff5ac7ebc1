/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets the values that differ on one netdev. Runs in a worker, because every set waits for rtnl. */
#include <errno.h>
#include <linux/if_link.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "kinds/link_values.h"
#include "plan/change.h"
#include "sys/clock.h"
#include "sys/machine.h"
#include "sys/read.h"
#include "sys/uevent.h"

enum { CARRIER_US = 5000000 };

/* The parts that are sent to a netdev. */
struct sending {
	const struct link_job *job;
	const struct port *port;
	const struct part **v;
	size_t n;
	size_t cap;
};

/* "rx 8192 tx 8192", or the value alone */
static char *describe(const struct sending *s)
{
	struct str text = {0};

	for (size_t i = 0; i < s->n; i++) {
		cleanup_free char *number =
			link_text(s->job, s->v[i], link_wanted(s->job, s->v[i]));

		link_add_text(&text, s->job, s->v[i], number);
	}
	return str_take(&text);
}

/* "; its maximum is 4096 (rx)" for each value above its maximum. Caller frees. */
static char *above_maximum(const struct sending *s)
{
	struct str text = {0};

	for (size_t i = 0; i < s->n; i++) {
		uint32_t max = link_max(s->job, s->v[i], s->port);

		if (max && link_wanted(s->job, s->v[i]) > max)
			str_addf(&text, "; its maximum is %u (%s)", max, s->v[i]->name);
	}
	return str_take(&text);
}

/* Adds the setting, the netdev and the driver to the kernel's error. */
static int refused(int r, const struct sending *s, struct err *err)
{
	cleanup_free char *what = describe(s);
	cleanup_free char *max = above_maximum(s);
	const char *key = s->job->key;

	if (r == -EOPNOTSUPP)
		err_wrap(err, "%s %s of %s (%s): driver %s cannot set it; leave link.SET.%s out",
			 key, what, s->port->name, s->job->addr, s->job->driver, key);
	else
		err_wrap(err, "%s %s of %s (%s): driver %s rejects the value%s", key, what,
			 s->port->name, s->job->addr, s->job->driver, max);
	return r;
}

/* --- ethtool ------------------------------------------------------------------------------ */

static int send_group(const struct sending *s, bool no_autoneg, struct err *err)
{
	struct eth_settings settings = {0};
	int r;

	for (size_t i = 0; i < s->n; i++)
		link_settings(s->job, s->v[i], s->port, &settings);
	if (no_autoneg)
		vec_push(&settings, ((struct eth_setting){.item = &eth_pause_autoneg}));
	r = machine_ethtool_set(s->port->ifindex, s->job->item->group, settings.v, settings.n, err);
	vec_free(&settings);
	return r < 0 ? refused(r, s, err) : 0;
}

/*
 * Compares the values after the set, because a driver may silently round: mlx5 rounds rings up to a
 * power of two, igb to a multiple of eight, and other drivers round times. -ERANGE: a value
 * differs, and the profile must name the number that the driver keeps.
 */
static int judge_kept(const struct sending *s, const struct port *now, struct err *err)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct part *part = s->v[i];
		cleanup_free char *want = link_text(s->job, part, link_wanted(s->job, part));
		cleanup_free char *kept = NULL;
		uint64_t have;
		int r = link_have(s->job, part, now, &have, err);

		if (r < 0)
			return r;
		if (have == link_wanted(s->job, part))
			continue;
		kept = link_text(s->job, part, have);
		if (part->want.type == VALUE_BOOL)
			return err_set(
				err, -ERANGE,
				"%s %s of %s (%s): driver %s accepted '%s' but kept '%s': a "
				"setting it depends on overrides it (see the kernel log), or the "
				"ports negotiate it",
				s->job->key, part->name, now->name, s->job->addr, s->job->driver,
				want, kept);
		return err_set(err, -ERANGE,
			       "%s %s of %s (%s): driver %s rounded %s to %s" TO_MEND "set %s: %s",
			       s->job->key, part->name, now->name, s->job->addr, s->job->driver,
			       want, kept, part->name, kept);
	}
	return 0;
}

static int judge_again(const struct root *root, const struct sending *s, struct err *err)
{
	struct ports now cleanup_ports = {0};
	int r = link_ask(root, s->job->addr, s->port->ifindex, false, &now, err);

	return r < 0 ? r : judge_kept(s, &now.v[0], err);
}

struct carrier {
	const struct root *root;
	const char *name;
};

/* True also if the carrier cannot be read, because a netdev that is down gets none. */
static bool has_carrier(void *arg)
{
	const struct carrier *w = arg;
	uint64_t carrier;

	return read_u64(w->root, &carrier, NULL, "/sys/class/net/%s/carrier", w->name) < 0 ||
	       carrier;
}

/*
 * Waits for the link, which most earlier settings take down: when it comes up, the driver derives
 * pause from the values that both ports advertised, and overrides settings made meanwhile
 * (igb_config_fc_after_link_up()).
 */
static void wait_for_link(const struct root *root, const struct sending *s, uint64_t deadline)
{
	struct carrier w = {root, s->port->name};
	uint64_t enough = clock_usec() + CARRIER_US;

	if (s->port->up)
		uevent_wait(has_carrier, &w, enough < deadline ? enough : deadline);
}

/*
 * Turns the negotiation of pause off first. With it, the result of both ports applies once the link
 * is up again, and igb ignores rx and tx (igb_set_pauseparam()). i40e and ice reject this, because
 * they negotiate pause together with the link's speed, but they apply rx and tx anyway.
 */
static int send_pause(const struct kind_ctx *ctx, const struct sending *s, struct err *err)
{
	struct err first = {0};
	int r = -EOPNOTSUPP;

	if (port_number(s->port, &eth_pause_autoneg).value) {
		wait_for_link(ctx->root, s, ctx->deadline);
		r = send_group(s, true, &first);
	}
	if (r == -EOPNOTSUPP || r == -EINVAL)
		r = send_group(s, false, err);
	else if (r < 0)
		return err_copy(err, r, &first);
	return r < 0 ? r : judge_again(ctx->root, s, err);
}

/* --- the rest ----------------------------------------------------------------------------- */

static int send_file(const struct root *root, const struct sending *s, struct err *err)
{
	cleanup_free char *path =
		xasprintf("/sys/class/net/%s/%s", s->port->name, s->job->item->file);
	cleanup_free char *text = link_text(s->job, s->v[0], link_wanted(s->job, s->v[0]));
	int r = machine_write_attr(root, path, text, err);

	return r < 0 ? refused(r, s, err) : 0;
}

static int send_all(const struct kind_ctx *ctx, const struct sending *s, struct err *err)
{
	int r;

	switch (s->job->item->how) {
	case LINK_ETHTOOL:
		if (s->job->item->group == ETH_PAUSE)
			return send_pause(ctx, s, err);
		r = send_group(s, false, err);
		return r < 0 ? r : judge_again(ctx->root, s, err);
	case LINK_ATTR:
		r = machine_link_number(s->port->ifindex, s->job->item->attr,
					(uint32_t)link_wanted(s->job, s->v[0]), err);
		return r < 0 ? refused(r, s, err) : 0;
	case LINK_UP:
		r = machine_link_up(s->port->ifindex, s->v[0]->want.number, err);
		return r < 0 ? refused(r, s, err) : 0;
	case LINK_FILE:
		return send_file(ctx->root, s, err);
	case LINK_QUEUES: /* set by queues.c */
		break;
	}
	return 0;
}

int link_send(const struct kind_ctx *ctx, const struct link_job *job, const struct port *port,
	      struct err *err)
{
	struct sending s = {.job = job, .port = port};
	struct err missing = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < job->c->parts.n; i++) {
		const struct part *part = &job->c->parts.v[i];
		struct err why = {0};
		uint64_t have;
		int looked = link_have(job, part, port, &have, &why);

		if (looked == -EOPNOTSUPP && job->c->optional)
			missing = why;
		else if (looked < 0)
			r = err_copy(err, looked, &why);
		else if (have != link_wanted(job, part))
			vec_push(&s, part);
	}
	if (r == 0 && s.n)
		r = send_all(ctx, &s, err);
	vec_free(&s);
	if (r < 0)
		return r;
	return missing.code ? err_copy(err, missing.code, &missing) : 0;
}
