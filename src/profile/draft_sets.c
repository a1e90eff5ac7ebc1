/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selects the functions of a machine that an author may want to configure, and names their sets. */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "node/drivers.h"
#include "node/uplinks.h"
#include "profile/draft.h"

enum {
	CLASS_NVME = 0x0108,
	CLASS_3D = 0x0302,
	CLASS_VGA = 0x0300,
	CLASS_ACCELERATOR = 0x1200,
};

enum role { ROLE_NONE, ROLE_RDMA, ROLE_SRIOV, ROLE_MGMT, ROLE_GPU, ROLE_NVME };

/* Functions with the same role, id, class and number of ports per card. */
struct group {
	enum role role;
	const struct pci_fn *first;
	int ports;
	struct draft_set set;
};

struct sorter {
	const struct root *root;
	const struct node *node;
	struct strv uplinks; /* netdevs that carry the default route, and the netdevs below them */
	VEC(struct group) groups;
};

/* --- roles --------------------------------------------------------------------------------- */

static bool is_uplink(const struct sorter *s, const struct pci_fn *fn)
{
	for (size_t i = 0; i < fn->net.n; i++)
		if (strv_contains(&s->uplinks, fn->net.v[i]))
			return true;
	return false;
}

/* Whether a NIC can do RDMA: by its driver, even if its RDMA driver is not loaded. */
static bool does_rdma(const struct pci_fn *fn)
{
	const struct driver *driver = driver_find(fn->driver);

	return fn->ibdevs.n || fn->class >> 8 == CLASS_INFINIBAND ||
	       (driver->rdma && !driver->may_lack_rdma);
}

static enum role nic_role(const struct sorter *s, const struct pci_fn *fn)
{
	if (is_uplink(s, fn))
		return ROLE_MGMT;
	if (does_rdma(fn))
		return ROLE_RDMA;
	return fn->totalvfs ? ROLE_SRIOV : ROLE_MGMT;
}

/* A display controller of another vendor belongs to the BMC. */
static bool is_gpu(const struct pci_fn *fn, uint32_t class)
{
	bool vendor = fn->vendor == VENDOR_AMD || fn->vendor == VENDOR_NVIDIA;

	return vendor && (class == CLASS_3D || class == CLASS_ACCELERATOR || class == CLASS_VGA);
}

static enum role role_of(const struct sorter *s, const struct pci_fn *fn)
{
	uint32_t class = fn->class >> 8;

	if (*fn->physfn)
		return ROLE_NONE;
	if (class == CLASS_ETHERNET || class == CLASS_INFINIBAND)
		return nic_role(s, fn);
	if (is_gpu(fn, class))
		return ROLE_GPU;
	return class == CLASS_NVME ? ROLE_NVME : ROLE_NONE;
}

/* --- groups -------------------------------------------------------------------------------- */

static bool is_nic(enum role role)
{
	return role == ROLE_RDMA || role == ROLE_SRIOV || role == ROLE_MGMT;
}

static bool same_id(const struct pci_fn *a, const struct pci_fn *b)
{
	return a->vendor == b->vendor && a->device == b->device;
}

static void add_to_group(struct sorter *s, const struct pci_fn *fn, enum role role)
{
	struct group new = {.role = role, .first = fn};

	new.ports = is_nic(role) ? node_ports(s->node, fn, NULL) : 0;
	for (size_t i = 0; i < s->groups.n; i++) {
		struct group *g = &s->groups.v[i];

		if (g->role == role && g->ports == new.ports &&same_id(g->first, fn) &&
		    g->first->class == fn->class) {
			vec_push(&g->set.fn, fn);
			return;
		}
	}
	vec_push(&new.set.fn, fn);
	vec_push(&s->groups, new);
}

/* On a node without RDMA NICs, two or more like NICs with VFs are its data NICs. */
static void settle_sriov(struct sorter *s)
{
	bool rdma = false;

	for (size_t i = 0; i < s->groups.n; i++)
		rdma |= s->groups.v[i].role == ROLE_RDMA;
	for (size_t i = 0; i < s->groups.n; i++) {
		struct group *g = &s->groups.v[i];

		if (g->role == ROLE_SRIOV)
			g->role = rdma || g->set.fn.n < 2 ? ROLE_MGMT : ROLE_RDMA;
	}
}

/* Rails come one to a card; the largest RDMA group is taken for them. */
static struct group *find_rails(struct sorter *s)
{
	struct group *best = NULL;

	for (size_t i = 0; i < s->groups.n; i++) {
		struct group *g = &s->groups.v[i];

		if (g->role == ROLE_RDMA && (!best || g->set.fn.n > best->set.fn.n))
			best = g;
	}
	return best;
}

/* --- sets ---------------------------------------------------------------------------------- */

static void name_set(struct draft_sets *sets, struct draft_set *set, const char *name)
{
	int n = 1;

	for (size_t i = 0; i < sets->set.n; i++) {
		const char *other = sets->set.v[i].name;
		char next = str_starts(other, name) ? other[strlen(name)] : '-';

		n += !next || isdigit((unsigned char)next);
	}
	set->name = n > 1 ? xasprintf("%s%d", name, n) : xstrdup(name);
}

/* Distinguishes the group from others with the same id: by ports, or by address. */
static void distinguish(const struct sorter *s, struct group *g)
{
	for (size_t i = 0; i < s->groups.n; i++) {
		const struct group *o = &s->groups.v[i];

		if (o == g || !same_id(o->first, g->first))
			continue;
		if (o->ports != g->ports)
			g->set.ports = g->ports;
		else if (g->role == ROLE_MGMT)
			g->set.by_address = true; /* protected, so excluded from other sets */
	}
	if (is_nic(g->role)) {
		g->set.ethernet = g->first->class >> 8 == CLASS_ETHERNET;
		g->set.infiniband = !g->set.ethernet;
	}
}

static void add_group_sets(const struct sorter *s, struct draft_sets *sets, struct group *g,
			   const char *name, const char *why)
{
	distinguish(s, g);
	g->set.why = why;
	g->set.protect = g->role == ROLE_MGMT;
	if (!g->set.by_address) {
		name_set(sets, &g->set, name);
		vec_push(&sets->set, g->set);
		return;
	}
	for (size_t i = 0; i < g->set.fn.n; i++) {
		struct draft_set one = g->set;

		memset(&one.fn, 0, sizeof(one.fn));
		vec_push(&one.fn, g->set.fn.v[i]);
		name_set(sets, &one, name);
		vec_push(&sets->set, one);
	}
	vec_free(&g->set.fn);
}

/* Whether a function carries the default route, and therefore is protected. */
static bool has_way_in(const struct sorter *s)
{
	const struct pci_functions *functions = node_functions(s->node);
	for (size_t i = 0; i < functions->n; i++)
		if (is_uplink(s, &functions->v[i]))
			return true;
	return false;
}

void draft_sets_find(const struct root *root, const struct node *node, struct draft_sets *ret)
{
	const struct pci_functions *functions = node_functions(node);
	static const struct {
		enum role role;
		const char *name, *why;
	} rest[] = {
		{ROLE_RDMA, "storage", "other RDMA NICs: storage, front end"},
		{ROLE_GPU, "gpus", "GPUs"},
		{ROLE_NVME, "nvme", "NVMe drives"},
		{ROLE_MGMT, "mgmt",
		 "left alone: NICs for logins, and NICs that railhead need not configure"},
	};
	struct sorter s = {.root = root, .node = node};
	struct group *rails;

	memset(ret, 0, sizeof(*ret));
	node_uplinks(root, &s.uplinks);
	for (size_t i = 0; i < functions->n; i++) {
		enum role role = role_of(&s, &functions->v[i]);

		if (role != ROLE_NONE)
			add_to_group(&s, &functions->v[i], role);
	}
	settle_sriov(&s);
	rails = find_rails(&s);
	if (rails)
		add_group_sets(&s, ret, rails, "rails",
			       "the NICs of the compute fabric, one per GPU as a rule");
	for (size_t i = 0; i < array_len(rest); i++)
		for (size_t j = 0; j < s.groups.n; j++)
			if (s.groups.v[j].role == rest[i].role && &s.groups.v[j] != rails)
				add_group_sets(&s, ret, &s.groups.v[j], rest[i].name, rest[i].why);
	ret->way_in = has_way_in(&s);
	strv_free(&s.uplinks);
	vec_free(&s.groups);
}

void draft_sets_free(struct draft_sets *sets)
{
	for (size_t i = 0; i < sets->set.n; i++) {
		free(sets->set.v[i].name);
		vec_free(&sets->set.v[i].fn);
	}
	vec_free(&sets->set);
}
