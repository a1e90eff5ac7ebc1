/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Contradictions, which are what is well formed value by value and still
 * can't work as a whole, each with its reason. A rule is a small function and a line in the
 * table of its subject (rules_devices.c, ...) or of its section. It may meet values
 * that the schema has refused already: those it passes over. Errors are for what does not work;
 * warnings for what works and is pointless.
 */
#pragma once

#include "base/str.h"
#include "base/units.h"
#include "profile/load.h"
#include "profile/schema.h"

struct ruling {
	const struct profile *p;
	const struct node *node;	/* or NULL */
	const struct device_sets *sets; /* as node has them; NULL where that is not known */
	const struct selector *
		*wider; /* by index of p->devices: the set that each is in, or NULL */
	struct diags *diags;
	/* Of the message that is written now, see seen(): */
	struct strv places;
	const struct ynode *cause; /* of the nodes seen() the one of the uppermost layer */
};

struct rule {
	const char *name;
	void (*check)(struct ruling *r);
	bool whole; /* not for a drop-in by itself: what that lacks, its profile has */
};

#define RULE(name, check)              \
	{                              \
		(name), (check), false \
	}
#define RULE_OF_WHOLE(name, check)    \
	{                             \
		(name), (check), true \
	}
#define NO_MORE_RULES RULE(NULL, NULL)

/* Each ends with NO_MORE_RULES. */
extern const struct rule rules_document[], rules_devices[], rules_references[];
extern const struct rule rules_overlap[];

/*
 * At n, which has a line and column; but where a layer above n's, such as the author's own file
 * above a base, holds what the message has seen(), at that line, and n's is named behind the text.
 */
void rule_error(struct ruling *r, const struct ynode *n, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void rule_warn(struct ruling *r, const struct ynode *n, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Where another node is that a message is about, as an argument of its text: "4:21", with the file
 * in front where that is another one than the message's. Valid until the message is written.
 */
const char *seen(struct ruling *r, const struct ynode *n);

/* --- the tree ----------------------------------------------------------------------------- */

static inline const struct ynode *section(const struct ruling *r, const char *name)
{
	return profile_section(r->p, name);
}

/* Items of a list, keys of a map: none where something else stands. */
static inline size_t count(const struct ynode *n, enum yaml_kind kind)
{
	return n && n->kind == kind ? n->items.n : 0;
}

static inline bool text_is(const struct ynode *map, const char *key, const char *text)
{
	return streq(ynode_text(map, key, ""), text);
}

/* "vf.driver" in a map, or NULL. */
const struct ynode *tree_get(const struct ynode *map, const char *path);
/* The text of a scalar, "" for anything else. */
static inline const char *scalar(const struct ynode *n)
{
	return n && n->kind == YAML_SCALAR ? n->text : "";
}
static inline bool is_zero(const struct ynode *n)
{
	uint64_t number;

	return ynode_exact(n, &number) && !number;
}
/* The value of a line of sysctl or sysfs: a text, or a map with value. */
static inline const struct ynode *line_value(const struct ynode *item)
{
	return item && item->kind == YAML_MAP ? ynode_get(item, "value") : item;
}

/* --- kernel arguments --------------------------------------------------------------------- */

/* kernel_args.set, or NULL. */
const struct ynode *set_list(const struct ruling *r);
bool arg_is(const char *arg, const char *key);
const char *arg_value(const char *arg);
/* The argument of that key in set, or NULL. */
const struct ynode *find_arg(const struct ruling *r, const char *key);
/* The words of kernel_args.iommu, by their index. */
enum { IOMMU_DISABLED, IOMMU_PASSTHROUGH, IOMMU_LAZY, IOMMU_STRICT };
/* What turns the IOMMU off, or NULL. */
const struct ynode *what_disables_iommu(const struct ruling *r);

/* --- CPUs --------------------------------------------------------------------------------- */

/* Where the profile says whose CPUs it is for, or NULL; its text is the vendor. */
const struct ynode *vendor_said(const struct ruling *r);
/* The vendor that the profile is for, or that the node has. */
enum cpu_vendor wanted_vendor(const struct ruling *r);
/* An error at n if a CPU list goes beyond the machine's CPUs, known or expected; NULL: no list. */
void want_cpus(struct ruling *r, const struct ynode *n, const char *key, const struct cpus *list);

/* --- device sets -------------------------------------------------------------------------- */

const struct selector *find_set(const struct ruling *r, const char *name);
/* expect: 0 */
bool must_be_absent(const struct selector *s);
/* A reference to a set from key at n: it must be there and may not be protected. */
void want_set(struct ruling *r, const struct ynode *n, const char *key, const char *name);
/* Whether s is a, or in a, or in a set that is in a. */
bool set_is_within(const struct ruling *r, const struct selector *s, const struct selector *a);
bool set_is_infiniband(const struct ruling *r, const struct selector *s);
bool set_is_ethernet(const struct ruling *r, const struct selector *s);
/*
 * Whether two sets share functions on this node; without a node, whether all functions of
 * one are sure to be of the other as well (surely), or could be (may).
 */
bool sets_surely_share(const struct ruling *r, const struct selector *a, const struct selector *b);
bool sets_may_share(const struct ruling *r, const struct selector *a, const struct selector *b);

/*
 * What all sections say of one set, wider sets under it: a map of sections. The nodes keep
 * the places where they were written. Caller frees.
 */
struct ynode *set_view(const struct ruling *r, const struct selector *s);

struct set_rule {
	const char *name;
	void (*check)(struct ruling *r, const struct selector *s, const struct ynode *view);
};
#define NO_MORE_SET_RULES  \
	{                  \
		NULL, NULL \
	}
/* Runs rules over each set, the wider first; what one of them has said is not said again. */
void rule_each_set(struct ruling *r, const struct set_rule *rules);
/* "qos.rails.trust": path "qos.trust" in the view, by the name of the set that has said it. */
char *set_key(const struct ruling *r, const struct selector *s, const char *path);
void set_error(struct ruling *r, const struct selector *s, const struct ynode *view,
	       const char *path, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void set_warn(struct ruling *r, const struct selector *s, const struct ynode *view,
	      const char *path, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Rejects a value of path `low` above that of `high`, where the set has both; 0 is no bound. */
void set_in_order(struct ruling *r, const struct selector *s, const struct ynode *view,
		  const char *low, const char *high);
