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
#include "sections/overlay.h"

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

static void add_members(const struct ruling *r, const struct ynode *link, struct groups *all)
{
	const struct section_ctx ctx = {.node = r->node, .profile = r->p, .sets = r->sets};
	struct fn_list fns = {0};

	overlay_functions(&ctx, link, &fns);
	for (size_t i = 0; i < fns.n; i++) {
		const struct pci_fn *fn = fns.v[i];
		const struct ynode *rx = overlay_value(&ctx, link, fn, "rings.rx");
		struct group g = {.functions = 1, .at = rx};

		if (!ynode_number(rx, &g.descriptors))
			continue;
		count_queues(r, overlay_value(&ctx, link, fn, "channels.combined"),
			     overlay_value(&ctx, link, fn, "channels.rx"), &g);
		g.buffer = buffer_of(number_at(overlay_value(&ctx, link, fn, "mtu"), DEFAULT_MTU));
		add(all, &g);
	}
	vec_free(&fns);
}

/*
 * The value from the narrowest of a set and its wider sets. Bounded, because sets may form a cycle.
 */
static const struct ynode *value_for(const struct ruling *r, const struct selector *s,
				     const char *path)
{
	const struct ynode *link = section(r, "link"), *value = NULL;

	for (size_t i = 0; s && !value && i < r->p->devices.n; i++, s = find_set(r, s->in))
		value = tree_get(ynode_get(link, s->name), path);
	return value;
}

/* Without a node. Skips a set within a set that has rings, because the wider set counts it. */
static void add_sets(const struct ruling *r, struct groups *all)
{
	for (size_t i = 0; i < r->p->devices.n; i++) {
		const struct selector *s = &r->p->devices.v[i];
		struct group g = {.functions = (uint64_t)selector_least(s),
				  .at = value_for(r, s, "rings.rx")};

		if (!ynode_number(g.at, &g.descriptors) || !g.functions ||
		    value_for(r, r->wider[i], "rings.rx"))
			continue;
		count_queues(r, value_for(r, s, "channels.combined"),
			     value_for(r, s, "channels.rx"), &g);
		g.buffer = buffer_of(number_at(value_for(r, s, "mtu"), DEFAULT_MTU));
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
