/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes the memory of receive rings: every descriptor of every queue has a buffer from the time
 * the link comes up. The result is a lower bound. A buffer is the frame rounded up to whole pages
 * of 4K, for small frames half a page. mlx5 with striding receive queues rounds up to a power of
 * two (mlx5e_rx_get_linear_stride_sz() of its en/params.c): 16K instead of 12K for an MTU of 9000.
 * Kernels with 64K pages need more, too. Transmit rings have no buffers of their own.
 */
#include "sections/link_memory.h"

#include "base/mem.h"
#include "base/str.h"
#include "profile/rules.h"
#include "profile/section.h"
#include "sections/members.h"

enum {
	HEADERS = 22, /* Ethernet with a VLAN tag, and the checksum */
	PAGE = 4096,
	DEFAULT_MTU = 1500,
	/*
	 * Drivers create a queue for each CPU. The lowest limit, MLX5E_MAX_NUM_CHANNELS of mlx5:
	 * 64, in later releases 128 or 256.
	 */
	QUEUES = 64,
	/*
	 * One fiftieth of the memory: far above the drivers' defaults (1024 descriptors and an MTU
	 * of 1500: 1G on eight ports with 64 queues), and noticeable on a node that works with
	 * RDMA.
	 */
	SHARE = 50,
};

/* Functions with equal rings. */
struct group {
	uint64_t functions, queues, descriptors, buffer;
	bool assumed;		/* the number of queues is unknown */
	const struct ynode *at; /* rings.rx */
};

struct groups {
	struct group *v;
	size_t n;
	size_t cap;
};

static uint64_t number_at(const struct ynode *n, uint64_t otherwise)
{
	uint64_t v;

	return ynode_number(n, &v) ? v : otherwise;
}

/* A queue for each CPU, up to the drivers' limit. */
static uint64_t default_queues(const struct ruling *r, bool *ret_assumed)
{
	uint64_t cpus = r->node ? node_count_online(r->node) : 0;

	if (!cpus)
		cpus = number_at(ynode_get(section(r, "expect"), "cpus"), 0);
	*ret_assumed = !cpus;
	return cpus && cpus < QUEUES ? cpus : QUEUES;
}

/* Combined and receive-only queues. */
static void count_queues(const struct ruling *r, const struct ynode *combined,
			 const struct ynode *rx, struct group *ret)
{
	if (combined || rx)
		ret->queues = number_at(combined, 0) + number_at(rx, 0);
	else
		ret->queues = default_queues(r, &ret->assumed);
}

static uint64_t buffer_of(uint64_t mtu)
{
	uint64_t frame = mtu + HEADERS;

	return frame <= PAGE / 2 ? PAGE / 2 : (frame + PAGE - 1) / PAGE * PAGE;
}

static void add(struct groups *all, const struct group *one)
{
	for (size_t i = 0; i < all->n; i++) {
		struct group *g = &all->v[i];

		if (g->queues != one->queues || g->descriptors != one->descriptors ||
		    g->buffer != one->buffer)
			continue;
		g->functions += one->functions;
		return;
	}
	vec_push(all, *one);
}

/* settings: of section link. Returns whether they have rings. */
static bool describe(const struct ruling *r, const struct ynode *settings, struct group *ret)
{
	ret->at = tree_get(settings, "rings.rx");
	if (!ynode_number(ret->at, &ret->descriptors))
		return false;
	count_queues(r, tree_get(settings, "channels.combined"), tree_get(settings, "channels.rx"),
		     ret);
	ret->buffer = buffer_of(number_at(tree_get(settings, "mtu"), DEFAULT_MTU));
	return true;
}

static void add_members(const struct ruling *r, const struct ynode *link, struct groups *all)
{
	const struct section_ctx ctx = {.node = r->node, .profile = r->p, .sets = r->sets};
	cleanup(members_free) struct members members = {0};

	members_find(&ctx, link, &members);
	for (size_t i = 0; i < members.list.n; i++) {
		struct group g = {.functions = 1};

		if (describe(r, members.list.v[i].settings, &g))
			add(all, &g);
	}
}

static bool has_rings(const struct ruling *r, const struct selector *s)
{
	cleanup_view struct ynode *view = s ? set_view(r->p, s) : NULL;

	return tree_get(view, "link.rings.rx");
}

/* Without a node. Skips a set within a set that has rings, because the wider set counts it. */
static void add_sets(const struct ruling *r, struct groups *all)
{
	for (size_t i = 0; i < r->p->devices.n; i++) {
		const struct selector *s = &r->p->devices.v[i];
		cleanup_view struct ynode *view = set_view(r->p, s);
		struct group g = {.functions = (uint64_t)selector_least(s)};

		if (g.functions && !has_rings(r, r->wider[i]) &&
		    describe(r, tree_get(view, "link"), &g))
			add(all, &g);
	}
}

/* Appends "8 functions x 64 queues x 8192 x 12K" to text; returns the bytes. */
static uint64_t add_product(struct str *text, const struct group *g)
{
	str_addf(text, "%s%llu function%s x %llu queue%s x %llu descriptors x %lluK",
		 text->len ? " + " : "", (unsigned long long)g->functions,
		 g->functions == 1 ? "" : "s", (unsigned long long)g->queues,
		 g->queues == 1 ? "" : "s", (unsigned long long)g->descriptors,
		 (unsigned long long)(g->buffer >> 10));
	return g->functions * g->queues * g->descriptors * g->buffer;
}

static void judge(struct ruling *r, const struct groups *all, uint64_t memory)
{
	cleanup_str struct str text = {0};
	const struct group *largest = NULL;
	uint64_t bytes = 0, most = 0;
	bool assumed = false;

	for (size_t i = 0; i < all->n; i++) {
		uint64_t n = add_product(&text, &all->v[i]);

		bytes += n;
		assumed |= all->v[i].assumed;
		if (!largest || n > most) {
			largest = &all->v[i];
			most = n;
		}
	}
	if (!largest || bytes <= memory / SHARE)
		return;
	rule_warn(r, largest->at, "link",
		  "buffers of receive rings take %lluM at least (%s) of %lluM of memory, and RDMA "
		  "uses none of them; write fewer descriptors, or channels: {combined: N}%s",
		  (unsigned long long)(bytes >> 20), str_get(&text),
		  (unsigned long long)(memory >> 20),
		  assumed ? " (the number of queues is assumed: expect.cpus would give it)" : "");
}

void rings_fit_the_memory(struct ruling *r)
{
	const struct ynode *link = section(r, "link");
	struct groups all = {0};
	uint64_t memory;

	if (!count(link, YAML_MAP))
		return;
	memory = r->node ? node_memory(r->node)->bytes : 0;
	if (!memory)
		memory = number_at(ynode_get(section(r, "expect"), "memory"), 0);
	if (!memory)
		return;
	if (r->sets)
		add_members(r, link, &all);
	else
		add_sets(r, &all);
	judge(r, &all, memory);
	vec_free(&all);
}
