/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules: contradictions between values that are each well formed. A rule is a small function, and a
 * line in the table of its subject (rules_devices.c, ...) or of its section. It skips values that
 * the schema has already rejected. An error is for a profile that cannot work; a warning is for
 * settings that work but have no use.
 */
#pragma once

#include "base/str.h"
#include "base/units.h"
#include "profile/load.h"
#include "profile/schema.h"
#include "profile/yaml.h"

struct ruling {
	const struct profile *p;
	const struct node *node;	/* may be NULL */
	const struct device_sets *sets; /* the sets on node; NULL if unknown */
	const struct selector **wider;	/* by index of p->devices: the set named by in:, or NULL */
	struct diags *diags;
	/* State of the message that is being written, see seen(): */
	struct strv places;
	const struct ynode *cause; /* the node passed to seen() from the topmost layer */
};

struct rule {
	const char *name;
	void (*check)(struct ruling *r);
	bool whole; /* skipped for a drop-in on its own, which lacks its profile's keys */
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

/* Each table ends with NO_MORE_RULES. */
extern const struct rule rules_document[], rules_devices[], rules_references[];
extern const struct rule rules_overlap[];

/*
 * Reports at the place of n. If a node passed to seen() comes from a layer above n's, such as the
 * author's own file above a base, the message is at that node's place, and n's place is appended to
 * the text.
 */
void rule_error(struct ruling *r, const struct ynode *n, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void rule_warn(struct ruling *r, const struct ynode *n, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * The place of another node that the message mentions, for use as an argument of its text: "4:21",
 * with the file in front if it differs from the message's file. Valid until the message is written.
 */
const char *seen(struct ruling *r, const struct ynode *n);

/* --- the tree ----------------------------------------------------------------------------- */

static inline const struct ynode *section(const struct ruling *r, const char *name)
{
	return profile_section(r->p, name);
}

/* Number of list items or map keys; 0 if n is of another kind. */
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
/* The text of a scalar; "" for other nodes. */
static inline const char *scalar(const struct ynode *n)
{
	return n && n->kind == YAML_SCALAR ? n->text : "";
}
static inline bool is_zero(const struct ynode *n)
{
	uint64_t number;

	return ynode_exact(n, &number) && !number;
}
/* The value of a line of sysctl or sysfs: a text, or the key value of a map. */
static inline const struct ynode *line_value(const struct ynode *item)
{
	return item && item->kind == YAML_MAP ? ynode_get(item, "value") : item;
}

/* --- kernel arguments --------------------------------------------------------------------- */

/* kernel_args.set, or NULL. */
const struct ynode *set_list(const struct ruling *r);
bool arg_is(const char *arg, const char *key);
const char *arg_value(const char *arg);
/* The argument with that key in kernel_args.set, or NULL. */
const struct ynode *find_arg(const struct ruling *r, const char *key);
/* The words of kernel_args.iommu, by their index. */
enum { IOMMU_DISABLED, IOMMU_PASSTHROUGH, IOMMU_LAZY, IOMMU_STRICT };
/* The setting that turns the IOMMU off, or NULL. */
const struct ynode *what_disables_iommu(const struct ruling *r);

/* --- CPUs --------------------------------------------------------------------------------- */

/* The node whose text is the CPU vendor of the profile's machines, or NULL. */
const struct ynode *vendor_said(const struct ruling *r);
/* The CPU vendor that the profile gives, else the node's. */
enum cpu_vendor wanted_vendor(const struct ruling *r);
/*
 * Reports an error at n if a CPU list exceeds the machine's CPUs, known or expected. list may be
 * NULL.
 */
void want_cpus(struct ruling *r, const struct ynode *n, const char *key, const struct cpus *list);

/* --- device sets -------------------------------------------------------------------------- */

const struct selector *find_set(const struct ruling *r, const char *name);
/* Whether the set has expect: 0. */
bool must_be_absent(const struct selector *s);
/* Checks the reference to a set at n: the set must exist and must not be protected. */
void want_set(struct ruling *r, const struct ynode *n, const char *key, const char *name);
/* Whether s is a, or is nested in a by in:, at any depth. */
bool set_is_within(const struct ruling *r, const struct selector *s, const struct selector *a);
bool set_is_infiniband(const struct ruling *r, const struct selector *s);
bool set_is_ethernet(const struct ruling *r, const struct selector *s);
/*
 * Whether two sets share functions on this node. Without a node: whether all functions of one set
 * surely belong to the other (surely), or could belong to it (may).
 */
bool sets_surely_share(const struct ruling *r, const struct selector *a, const struct selector *b);
bool sets_may_share(const struct ruling *r, const struct selector *a, const struct selector *b);

struct set_rule {
	const char *name;
	void (*check)(struct ruling *r, const struct selector *s, const struct ynode *view);
};
#define NO_MORE_SET_RULES  \
	{                  \
		NULL, NULL \
	}
/*
 * Runs rules over the view (profile/view.h) of each set, wider sets first; a problem of a wider set
 * is not reported again. On a known node, also over the views of functions that are in several sets
 * of which none is around all others; s is then the narrowest.
 */
void rule_each_set(struct ruling *r, const struct set_rule *rules);
/* The set that has this very value at or below the path ("qos.trust"); NULL: none. */
const struct selector *set_with_value(const struct ruling *r, const char *path,
				      const struct ynode *value);
/* "qos.rails.trust" for path "qos.trust" in the view: names the set that the value comes from. */
char *set_key(const struct ruling *r, const struct selector *s, const struct ynode *view,
	      const char *path);
void set_error(struct ruling *r, const struct selector *s, const struct ynode *view,
	       const char *path, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void set_warn(struct ruling *r, const struct selector *s, const struct ynode *view,
	      const char *path, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/*
 * Rejects a value of path `low` above the value of `high`, if the set has both; 0 means no bound.
 */
void set_in_order(struct ruling *r, const struct selector *s, const struct ynode *view,
		  const char *low, const char *high);
