/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/link_values.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "base/vec.h"
#include "kinds/function.h"
#include "plan/change.h"
#include "sys/read.h"

/*
 * Names that ethtool(8) gave to features before the kernel named all of them. A name may stand for
 * several features, of which a driver has some.
 */
static const struct {
	const char *name, *pattern;
} aliases[] = {
	{"rx-checksumming", "rx-checksum"},
	{"tx-checksumming", "tx-checksum-*"},
	{"scatter-gather", "tx-scatter-gather*"},
	{"tcp-segmentation-offload", "tx-tcp*-segmentation"},
	{"udp-fragmentation-offload", "tx-udp-fragmentation"},
	{"generic-segmentation-offload", "tx-generic-segmentation"},
	{"generic-receive-offload", "rx-gro"},
	{"large-receive-offload", "rx-lro"},
	{"rx-vlan-offload", "rx-vlan-hw-parse"},
	{"tx-vlan-offload", "tx-vlan-hw-insert"},
	{"ntuple-filters", "rx-ntuple-filter"},
	{"receive-hashing", "rx-hashing"},
};

/* --- what is wanted ------------------------------------------------------------------------- */

void link_job_begin(const struct root *root, const struct change *c, struct link_job *ret)
{
	*ret = (struct link_job){.c = c, .item = c->on.item, .addr = c->on.name, .key = c->on.key};
	ret->driver = function_driver(root, ret->addr) ?: xstrdup("none");
}

void link_job_free(struct link_job *job)
{
	free(job->driver);
}

uint64_t link_wanted(const struct link_job *job, const struct part *part)
{
	return (uint64_t)part->want.number * (job->item->scale ? job->item->scale : 1);
}

char *link_text(const struct link_job *job, const struct part *part, uint64_t number)
{
	if (part->want.type == VALUE_BOOL && job->item->how == LINK_ETHTOOL)
		return xstrdup(number ? "on" : "off");
	if (part->want.type == VALUE_BOOL && job->item->how == LINK_UP)
		return xstrdup(number ? "up" : "down");
	return xasprintf("%llu", (unsigned long long)number);
}

void link_add_text(struct str *text, const struct link_job *job, const struct part *part,
		   const char *number)
{
	if (job->item->how == LINK_ETHTOOL)
		str_addf(text, "%s%s ", text->len ? " " : "", part->name);
	str_add(text, number);
}

char *link_desired(const struct change *c)
{
	const struct link_job job = {.c = c, .item = c->on.item};
	struct str text = {0};

	for (size_t i = 0; i < c->parts.n; i++) {
		const struct part *part = &c->parts.v[i];
		cleanup_free char *number = link_text(&job, part, link_wanted(&job, part));

		link_add_text(&text, &job, part, number);
	}
	return str_take(&text);
}

/* --- what there is: numbers ------------------------------------------------------------------ */

static int not_offered(const struct link_job *job, const struct part *part, const struct port *port,
		       struct err *err)
{
	bool group = job->item->how == LINK_ETHTOOL;
	cleanup_free char *key =
		xasprintf("%s%s%s", job->key, group ? "." : "", group ? part->name : "");

	return err_set(err, -EOPNOTSUPP,
		       "%s (%s): the driver %s, or this kernel, offers no %s" TO_MEND
		       "leave link.SET.%s "
		       "out, or name %s in link.SET.optional",
		       port->name, job->addr, job->driver, key, key, job->key);
}

static int have_file(const struct link_job *job, const struct part *part, const struct port *port,
		     uint64_t *ret, struct err *err)
{
	const char *text = job->item->file ? port_file(port, job->item->file) : NULL;

	if (!text)
		return not_offered(job, part, port, err);
	if (parse_u64(text, ret) < 0)
		return err_set(err, -EBADMSG, "%s (%s): %s has '%s', which is not a number",
			       port->name, job->addr, job->item->file, text);
	return 0;
}

uint32_t link_max(const struct link_job *job, const struct part *part, const struct port *port)
{
	uint32_t max = 0;

	if (job->item->how == LINK_ATTR && job->item->max)
		port_attr(port, job->item->max, &max);
	if (job->item->how != LINK_ETHTOOL || eth_has_flags(job->item->group))
		return max;
	return port_number(port, part->item).max;
}

/* --- what there is: flags ----------------------------------------------------------------- */

static const char *pattern_of(const struct link_job *job, const struct part *part)
{
	for (size_t i = 0; job->item->group == ETH_FEATURES && i < array_len(aliases); i++)
		if (streq(aliases[i].name, part->name))
			return aliases[i].pattern;
	return part->name; /* the schema rejects the characters of patterns */
}

static const struct eth_flags *flags_of(const struct link_job *job, const struct port *port)
{
	return job->item->group == ETH_FEATURES ? &port->features : &port->private_flags;
}

/* Finds a similar name, to tell a misspelt flag from a flag that the driver lacks. */
static const char *near_flag(const char *name, const struct eth_flags *flags)
{
	const char *near = NULL;
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < flags->n; i++)
		if (str_is_near(name, flags->v[i].name, &best))
			near = flags->v[i].name;
	return near;
}

static int no_such_flag(const struct link_job *job, const struct part *part,
			const struct port *port, struct err *err)
{
	const char *near = near_flag(part->name, flags_of(job, port));
	cleanup_str struct str known = {0};

	if (near)
		return err_set(err, -ENOENT,
			       "%s (%s): link.SET.%s.%s: there is no such name; did you mean '%s'?",
			       port->name, job->addr, job->key, part->name, near);
	if (job->item->group == ETH_FEATURES)
		return err_set(
			err, -EOPNOTSUPP,
			"%s (%s): this kernel has no feature %s (ethtool -k %s lists them)" TO_MEND
			"leave "
			"link.SET.features.%s out, or name features in link.SET.optional",
			port->name, job->addr, part->name, port->name, part->name);
	for (size_t i = 0; i < port->private_flags.n; i++)
		str_addf(&known, "%s%s", i ? ", " : "", port->private_flags.v[i].name);
	return err_set(err, -EOPNOTSUPP,
		       "%s (%s): the driver %s has no private flag %s (it has: %.400s)" TO_MEND
		       "leave "
		       "link.SET.private_flags.%s out, or name private_flags in link.SET.optional",
		       port->name, job->addr, job->driver, part->name, known.len ? known.s : "none",
		       part->name);
}

struct flag_count {
	unsigned int all, on, changeable, changeable_on;
};

static struct flag_count count_flags(const struct eth_flags *flags, const char *pattern)
{
	struct flag_count n = {0};

	for (size_t i = 0; i < flags->n; i++) {
		const struct eth_flag *f = &flags->v[i];

		if (fnmatch(pattern, f->name, 0) != 0)
			continue;
		n.all++;
		n.on += f->on;
		n.changeable += !f->fixed;
		n.changeable_on += !f->fixed && f->on;
	}
	return n;
}

/*
 * A name of several flags is on if all flags that can be changed are on, and off if no flag is on.
 * The driver need not turn on flags that it lacks.
 */
static int have_flag(const struct link_job *job, const struct part *part, const struct port *port,
		     uint64_t *ret, struct err *err)
{
	struct flag_count n = count_flags(flags_of(job, port), pattern_of(job, part));
	bool want = part->want.number;
	bool have = want ? n.on && n.changeable_on == n.changeable : n.on;

	if (!n.all)
		return no_such_flag(job, part, port, err);
	if (have != want && (want ? !n.changeable : n.on > n.changeable_on))
		return err_set(err, -EOPNOTSUPP,
			       "%s (%s): the driver %s does not allow %s to be turned %s (ethtool "
			       "-k: [fixed])" TO_MEND "leave link.SET.%s.%s out",
			       port->name, job->addr, job->driver, part->name, want ? "on" : "off",
			       job->key, part->name);
	*ret = have;
	return 0;
}

/* --- what there is ------------------------------------------------------------------------ */

static int have_of_group(const struct link_job *job, const struct part *part,
			 const struct port *port, uint64_t *ret, struct err *err)
{
	int r = port->result[job->item->group];
	struct eth_number number;

	if (r == -EOPNOTSUPP)
		return not_offered(job, part, port, err);
	if (r < 0)
		return err_errno(err, r, "asking for %s of %s (%s)", job->key, port->name,
				 job->addr);
	if (eth_has_flags(job->item->group))
		return have_flag(job, part, port, ret, err);
	number = port_number(port, part->item);
	*ret = number.value;
	return number.there ? 0 : not_offered(job, part, port, err);
}

int link_have(const struct link_job *job, const struct part *part, const struct port *port,
	      uint64_t *ret, struct err *err)
{
	uint32_t number;

	switch (job->item->how) {
	case LINK_ETHTOOL:
		return have_of_group(job, part, port, ret, err);
	case LINK_ATTR: /* a captured tree has the attribute as a file */
		if (!port_attr(port, job->item->attr, &number))
			return have_file(job, part, port, ret, err);
		*ret = number;
		return 0;
	case LINK_UP:
		*ret = port->up;
		return 0;
	case LINK_FILE:
		return have_file(job, part, port, ret, err);
	case LINK_QUEUES: /* looked at by queues.c */
		break;
	}
	return not_offered(job, part, port, err);
}

/* --- what to send ------------------------------------------------------------------------- */

void link_settings(const struct link_job *job, const struct part *part, const struct port *port,
		   struct eth_settings *ret)
{
	const struct eth_flags *flags = flags_of(job, port);
	struct eth_setting setting = {.item = part->item,
				      .value = (uint32_t)link_wanted(job, part)};

	if (!eth_has_flags(job->item->group)) {
		vec_push(ret, setting);
		return;
	}
	for (size_t i = 0; i < flags->n; i++) {
		const struct eth_flag *f = &flags->v[i];

		if (f->fixed || f->on == (setting.value != 0) ||
		    fnmatch(pattern_of(job, part), f->name, 0) != 0)
			continue;
		setting.flag = f->name;
		vec_push(ret, setting);
	}
}
