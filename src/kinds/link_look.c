/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings of a function's own netdevs, in the devices stage. One question, in a separate process,
 * reads all values of a function's netdevs. Sets use the interface index, and wait until udev has
 * named the netdev: udev's .link files set some of the same values (net_setup_link), and a netdev
 * that is up cannot be renamed.
 */
#include "kinds/link.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "kinds/function.h"
#include "kinds/cache.h"
#include "kinds/link_values.h"
#include "kinds/netlink.h"
#include "plan/change.h"
#include "profile/section.h"
#include "sys/read.h"
#include "sys/uevent.h"

/* --- asking ------------------------------------------------------------------------------- */

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

static struct cache functions = {.ask = ask_apart, .free = free_ports};

/* --- looking ------------------------------------------------------------------------------ */

static int no_netdev(const struct kind_ctx *ctx, struct change *c)
{
	return target_no_netdev(ctx->root, c, " (modules.load; of an InfiniBand port: ib_ipoib)");
}

/*
 * Compares one netdev; returns true if a value differs. *missing: the error of a value that is not
 * offered.
 */
static bool compare(struct change *c, const struct link_job *job, const struct port *port,
		    bool first, struct err *missing)
{
	cleanup_str struct str text = {0};
	bool differs = false;

	for (size_t i = 0; i < c->parts.n; i++) {
		const struct part *part = &c->parts.v[i];
		uint64_t have, want = link_wanted(job, part);
		bool known = link_have(job, part, port, &have, missing) == 0;
		uint32_t max = link_max(job, part, port);
		cleanup_free char *number = known ? link_text(job, part, have) : xstrdup("?");

		if (known && have != want) {
			differs = true;
			if (max && want > max)
				change_reason(c, "%s of %s is at most %u", part->name, port->name,
					      max);
		}
		link_add_text(&text, job, part, number);
	}
	if (first || differs)
		change_observe(c, "%s", str_get(&text));
	return differs;
}

static int judge(struct change *c, const struct link_job *job, const struct ports *ports,
		 struct err *err)
{
	struct err missing = {0};

	c->now.state = CHANGE_SAME;
	for (size_t i = 0; i < ports->n && c->now.state == CHANGE_SAME; i++)
		if (compare(c, job, &ports->v[i], i == 0, &missing))
			c->now.state = CHANGE_DIFFERS;
	return target_lacks(c, &missing, err);
}

/* --- a tree that is not the running machine ----------------------------------------------- */

/*
 * Reads a value that has a file. False: the tree does not have the value. A setting that is a file
 * may be lacking, on the running machine as in a tree.
 */
static bool read_port(const struct root *root, const char *name, const struct link_item *item,
		      struct port *ret)
{
	cleanup_free char *text = NULL, *pair = NULL;
	uint64_t flags = 0;
	bool known;

	*ret = (struct port){0};
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	if (item->how == LINK_UP) {
		known = read_u64(root, &flags, NULL, "/sys/class/net/%s/flags", name) == 0;
		ret->up = flags & IFF_UP;
		return known;
	}
	if (!item->file ||
	    read_attr(root, &text, NULL, "/sys/class/net/%s/%s", name, item->file) < 0)
		return item->how == LINK_FILE;
	pair = xasprintf("%s=%s", item->file, text);
	strv_add(&ret->files, pair);
	return true;
}

static int read_ports(const struct root *root, const struct link_job *job, struct ports *ret)
{
	struct netdevs found = {0};
	int r = function_netdevs(root, job->addr, &found, NULL);

	for (size_t i = 0; r == 0 && i < found.n; i++) {
		struct port port;

		if (!read_port(root, found.v[i].name, job->item, &port))
			r = -ENODATA;
		else
			vec_push(ret, port);
	}
	vec_free(&found);
	return r;
}

static int look_tree(const struct kind_ctx *ctx, struct change *c, const struct link_job *job,
		     struct err *err)
{
	struct ports ports cleanup_ports = {0};
	int r = read_ports(ctx->root, job, &ports);

	if (r == -ENODEV)
		return no_netdev(ctx, c);
	return r < 0 ? look_elsewhere(c) : judge(c, job, &ports, err);
}

int link_look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct link_job job cleanup_link_job;
	const struct cached *h;

	link_job_begin(ctx->root, c, &job);
	if (!ctx->root->live)
		return look_tree(ctx, c, &job, err);
	h = cache_get(&functions, ctx->root, job.addr);
	if (h->result == -ENODEV)
		return no_netdev(ctx, c);
	if (h->result < 0)
		return cached_failure(h, err, "%s", job.addr);
	return judge(c, &job, h->info, err);
}

/* --- setting ------------------------------------------------------------------------------ */

static int set_here(const struct kind_ctx *ctx, const struct link_job *job,
		    const struct ports *ports, struct err *err)
{
	struct err missing = {0};

	for (size_t i = 0; i < ports->n; i++) {
		int r = link_send(ctx, job, &ports->v[i], err);

		if (r == -EOPNOTSUPP && job->c->optional)
			missing = *err;
		else if (r < 0)
			return r;
	}
	return missing.code ? err_copy(err, missing.code, &missing) : 0;
}

int link_set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct link_job job cleanup_link_job;
	struct ports ports cleanup_ports = {0};
	int r;

	link_job_begin(ctx->root, c, &job);
	if (!ctx->root->live) {
		if (job.item->how != LINK_FILE)
			return netlink_only_here(ctx->root, err);
		r = read_ports(ctx->root, &job, &ports);
		return r < 0 ? err_errno(err, r, "%s", job.addr) : set_here(ctx, &job, &ports, err);
	}
	r = function_wait_named(ctx->root, job.addr, ctx->deadline, err);
	if (r == 0)
		r = link_ask(ctx->root, job.addr, 0, false, &ports, err);
	return r < 0 ? r : set_here(ctx, &job, &ports, err);
}
