/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of each queue of a function's netdevs: Documentation/ABI/testing/sysfs-class-net-queues. A
 * separate process reads them, because the kernel takes rtnl to show xps_cpus (xps_cpus_show() of
 * net/core/net-sysfs.c) and the name of a representor's port. A netdev with a single transmit queue
 * has no map of its queues: the read returns -ENOENT.
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "base/vec.h"
#include "kinds/cache.h"
#include "kinds/function.h"
#include "kinds/link.h"
#include "kinds/near_cpus.h"
#include "kinds/netlink.h"
#include "plan/change.h"
#include "profile/section.h"
#include "profile/value.h"
#include "sys/machine.h"
#include "sys/netlink.h"
#include "sys/port.h"
#include "sys/read.h"

/* --- what there is -------------------------------------------------------------------------- */

struct queue {
	const struct link_item *item; /* the row of the file */
	char netdev[IFNAMSIZ];
	unsigned int number, of; /* of: the number of queues in that direction */
	char *text;		 /* NULL: the kernel shows none */
};

struct queues {
	struct queue *v;
	size_t n;
	size_t cap;
};

static void queues_free(struct queues *q)
{
	for (size_t i = 0; i < q->n; i++)
		free(q->v[i].text);
	vec_free(q);
}
#define cleanup_queues __attribute__((__cleanup__(queues_free)))

struct question {
	const struct root *root;
	const struct link_item *item; /* NULL: all rows of section link about queues */
	const struct netdevs *netdevs;
};

static char *path_of(const struct link_item *item, const char *netdev, unsigned int number)
{
	return xasprintf("/sys/class/net/%s/queues/%s-%u/%s", netdev, item->queues, number,
			 item->of_queue);
}

/*
 * The n-th row of section link, if it is about queues and asked for; otherwise NULL. *end: there
 * are fewer rows.
 */
static const struct link_item *row_of(const struct link_item *only, size_t n, bool *end)
{
	const struct field *rows = section_find("link")->spec->item->fields;
	const struct link_item *item = rows[n].item;

	*end = !item;
	return item && item->how == LINK_QUEUES && (!only || only == item) ? item : NULL;
}

/* Adds "12 eth0 3 8 00ff": row, netdev, queue, number of queues, and text or "-". */
static int add_files(const struct root *root, size_t row, const struct link_item *item,
		     const char *netdev, struct str *out, struct err *err)
{
	unsigned int n = 0;

	while (root_exists(root, "/sys/class/net/%s/queues/%s-%u", netdev, item->queues, n))
		n++;
	for (unsigned int i = 0; i < n; i++) {
		cleanup_free char *path = path_of(item, netdev, i), *text = NULL;
		int r = read_attr(root, &text, err, "%s", path);

		if (r < 0 && r != -ENOENT && r != -EINVAL)
			return r;
		str_addf(out, "%zu %s %u %u %s\n", row, netdev, i, n, r == 0 ? text : "-");
	}
	return 0;
}

static int add_netdev(const struct question *q, const char *netdev, struct str *out,
		      struct err *err)
{
	cleanup_free char *port = NULL;
	bool end = false;
	int r = 0;

	if (read_attr(q->root, &port, NULL, "/sys/class/net/%s/phys_port_name", netdev) == 0 &&
	    port_is_representor(port))
		return 0;
	for (size_t row = 0; r == 0 && !end; row++) {
		const struct link_item *item = row_of(q->item, row, &end);

		if (item)
			r = add_files(q->root, row, item, netdev, out, err);
	}
	return r;
}

/* A netlink_question that uses no netlink; its text is the answer. */
static int ask(const void *arg, struct netlink_answer *ret, struct err *err)
{
	const struct question *q = arg;
	struct str out = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < q->netdevs->n; i++)
		r = add_netdev(q, q->netdevs->v[i].name, &out, err);
	if (r < 0) {
		str_free(&out);
		return r;
	}
	ret->len = out.len;
	ret->data = str_take(&out);
	return 0;
}

static void parse(const char *data, size_t len, struct queues *ret)
{
	cleanup_free char *all = xstrndup(len ? data : "", len);
	char *rest = all, *line;

	while ((line = strsep(&rest, "\n"))) {
		struct queue q = {0};
		int text = 0;
		size_t row;
		bool end;

		if (sscanf(line, "%zu %15s %u %u %n", &row, q.netdev, &q.number, &q.of, &text) !=
			    4 ||
		    !text)
			continue;
		q.item = row_of(NULL, row, &end);
		q.text = streq(line + text, "-") ? NULL : xstrdup(line + text);
		vec_push(ret, q);
	}
}

/* item: as in struct question. -ENODEV: the function has no netdev (yet). */
static int read_queues(const struct root *root, const char *addr, const struct link_item *item,
		       bool apart, struct queues *ret, struct err *err)
{
	struct netdevs netdevs = {0};
	struct question q = {.root = root, .item = item, .netdevs = &netdevs};
	struct netlink_answer answer cleanup_answer = {0};
	int r = function_netdevs(root, addr, &netdevs, err);

	if (r == 0)
		r = apart ? netlink_ask_apart(ask, &q, "rtnl", NETLINK_APART_MS, &answer, err)
			  : ask(&q, &answer, err);
	if (r == 0)
		parse(answer.data, answer.len, ret);
	vec_free(&netdevs);
	return r;
}

static int ask_apart(const struct root *root, const char *addr, void **ret, struct err *err)
{
	struct queues *all = xnew(struct queues);

	*ret = all;
	return read_queues(root, addr, NULL, root->live, all, err);
}

static void free_cached(void *arg)
{
	queues_free(arg);
	free(arg);
}

static struct cache functions = {.ask = ask_apart, .free = free_cached};

/* --- what is wanted ------------------------------------------------------------------------- */

enum { WORD_NONE = 1 }; /* follows local_node */

struct wanted {
	const struct link_item *item;
	const struct value *value;
	struct cpus cpus; /* empty for a number, and for the word none */
	char *where;	  /* "node 0", "CPUs 2-3", "no CPU", "4096 flows" */
};

static bool is_number(const struct value *v)
{
	return v->type == VALUE_NUMBER;
}

static int find_wanted(const struct kind_ctx *ctx, const struct change *c, struct wanted *ret,
		       struct err *err)
{
	const struct near_words words = {c->on.key, "packets"};
	const struct value *v = &c->parts.v[0].want;

	*ret = (struct wanted){.item = c->on.item, .value = v};
	if (is_number(v))
		ret->where = xasprintf("%lld flows", (long long)v->number);
	else if (v->type == VALUE_WORD && v->number == WORD_NONE)
		ret->where = xstrdup("no CPU");
	else
		return near_cpus(ctx, c, v, &words, &ret->cpus, &ret->where, err);
	return 0;
}

/*
 * The CPUs of a queue, in turn: several for each queue if there are more CPUs than queues,
 * otherwise one CPU for each queue.
 */
static void take_turn(const struct wanted *w, const struct queue *q, struct cpus *ret)
{
	size_t all = cpus_count(&w->cpus), i = 0;

	memset(ret, 0, sizeof(*ret));
	for (int n = cpus_next(&w->cpus, -1); n >= 0; n = cpus_next(&w->cpus, n), i++)
		if (all >= q->of ? i % q->of == q->number : q->number % all == i)
			cpus_add(ret, (unsigned int)n);
}

static char *text_of(const struct wanted *w, const struct queue *q)
{
	struct cpus turn;

	if (is_number(w->value))
		return xasprintf("%lld", (long long)w->value->number);
	if (!w->item->in_turn || !cpus_count(&w->cpus))
		return cpus_format_mask(&w->cpus);
	take_turn(w, q, &turn);
	return cpus_format_mask(&turn);
}

static bool is_right(const struct wanted *w, const struct queue *q)
{
	cleanup_free char *want = text_of(w, q);

	return is_number(w->value) ? streq(want, q->text) : cpus_same_mask(want, q->text);
}

char *queues_desired(const struct change *c)
{
	const struct value *v = &c->parts.v[0].want;

	return v->type == VALUE_SET ? cpus_format(v->set) : value_text(v, v->number);
}

/* --- look ----------------------------------------------------------------------------------- */

static int not_offered(const struct change *c, const struct queue *q, struct err *err)
{
	const struct link_item *item = c->on.item;

	return err_set(err, -EOPNOTSUPP,
		       "%s (%s) has no %s for its %u %s queue%s: this kernel was built without it, "
		       "or a single queue has no such file" TO_MEND
		       "leave link.SET.%s out, or name %s in "
		       "link.SET.optional",
		       q->netdev, c->on.name, item->of_queue, q->of, item->queues,
		       q->of == 1 ? "" : "s", c->on.key, c->on.key);
}

static int judge(struct change *c, const struct wanted *w, const struct queues *all,
		 struct err *err)
{
	const struct queue *wrong = NULL;
	struct err missing = {0};
	size_t right = 0, there = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct queue *q = &all->v[i];

		if (q->item != w->item)
			continue;
		if (!q->text) {
			not_offered(c, q, &missing);
			continue;
		}
		there++;
		if (is_right(w, q))
			right++;
		else if (!wrong)
			wrong = q;
	}
	if (wrong)
		change_observe(c, "%zu of %zu queues on %s; %s-%u of %s has %s", right, there,
			       w->where, w->item->queues, wrong->number, wrong->netdev,
			       wrong->text);
	else
		change_observe(c, "%zu queue%s on %s", there, there == 1 ? "" : "s", w->where);
	c->now.state = wrong ? CHANGE_DIFFERS : CHANGE_SAME;
	return target_lacks(c, &missing, err);
}

int queues_look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const struct cached *all = cache_get(&functions, ctx->root, c->on.name);
	const struct queues *queues = all->info;
	struct wanted w = {0};
	int r;

	if (all->result == -ENODEV)
		return target_no_netdev(ctx->root, c, " (modules.load)");
	if (all->result < 0)
		return cached_failure(all, err, "%s", c->on.name);
	if (!queues->n)
		return look_elsewhere(c); /* the tree was captured without queues */
	r = find_wanted(ctx, c, &w, err);
	if (r == 0)
		r = judge(c, &w, queues, err);
	free(w.where);
	return r;
}

/* --- set ------------------------------------------------------------------------------------ */

static int set_all(const struct kind_ctx *ctx, const struct change *c, const struct wanted *w,
		   const struct queues *all, struct err *err)
{
	struct err missing = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < all->n; i++) {
		const struct queue *q = &all->v[i];
		cleanup_free char *path = path_of(w->item, q->netdev, q->number);
		cleanup_free char *text = text_of(w, q);

		if (!q->text)
			not_offered(c, q, &missing);
		else if (!is_right(w, q))
			r = machine_write_attr(ctx->root, path, text, err);
	}
	return r == 0 && missing.code ? err_copy(err, missing.code, &missing) : r;
}

int queues_set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct queues all cleanup_queues = {0};
	struct wanted w = {0};
	int r = ctx->root->live ? function_wait_named(ctx->root, c->on.name, ctx->deadline, err)
				: 0;

	if (r == 0)
		r = read_queues(ctx->root, c->on.name, c->on.item, false, &all, err);
	if (r == 0)
		r = find_wanted(ctx, c, &w, err);
	if (r == 0)
		r = set_all(ctx, c, &w, &all, err);
	free(w.where);
	return r;
}
