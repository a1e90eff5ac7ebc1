/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks at all processes of a unit's control group, because containers get their limits from the
 * runtime. The service manager reports the default limits of services.
 */
#include "kinds/limit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "kinds/checks.h"
#include "plan/change.h"
#include "sys/manager.h"
#include "sys/read.h"

const struct limit limit_memlock = {
	.name = "memlock",
	.directive = "LimitMEMLOCK",
	.shown = "Max locked memory",
	.bytes = true,
	.soft_counts = true,
};

struct pair {
	uint64_t soft, hard; /* UINT64_MAX: unlimited */
};

/* The mount points of the hierarchy that has systemd's units: unified, hybrid, legacy (v1). */
static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified",
				     "/sys/fs/cgroup/systemd"};
/* A unit is in a slice; a slice with a dash in its name is in another slice. */
static const char *const slices[] = {"", "/*.slice", "/*.slice/*.slice"};
/* The unit's own group, and the groups that the unit or a container runtime created in it. */
static const char *const inside[] = {"", "/*", "/*/*", "/*/*/*"};

/*
 * The name of the unit's group; for a template, "slurmd@.service", a pattern of all instances. The
 * caller frees.
 */
static char *pattern_of(const char *unit)
{
	const char *at = strstr(unit, "@.");

	return at ? xasprintf("%.*s@*%s", (int)(at - unit), unit, at + 1) : xstrdup(unit);
}

static void find_groups(const struct root *root, const char *unit, struct strv *ret)
{
	cleanup_free char *units = pattern_of(unit);

	for (size_t m = 0; m < array_len(mounts) && !ret->n; m++)
		for (size_t s = 0; s < array_len(slices); s++)
			for (size_t i = 0; i < array_len(inside); i++) {
				cleanup_free char *pattern =
					xasprintf("%s%s/%s%s/cgroup.procs", mounts[m], slices[s],
						  units, inside[i]);

				read_glob(root, pattern, ret, NULL);
			}
}

static void find_processes(const struct root *root, const char *unit, struct strv *ret)
{
	cleanup_strv struct strv groups = {0};

	find_groups(root, unit, &groups);
	for (size_t i = 0; i < groups.n; i++) {
		cleanup_free char *text = NULL;
		char *rest, *pid;

		if (read_text(root, &text, NULL, "%s", groups.v[i]) < 0)
			continue;
		for (rest = text; (pid = strsep(&rest, "\n"));)
			if (*pid && !streq(pid, "0")) /* 0: of another PID namespace */
				strv_add(ret, pid);
	}
}

static uint64_t parse_limit(const char *word)
{
	uint64_t v;

	return parse_u64(word, &v) == 0 ? v : UINT64_MAX;
}

/* False: the process has ended, or the tree lacks its limits. */
static bool read_limit(const struct root *root, const char *pid, const struct limit *limit,
		       struct pair *ret)
{
	cleanup_free char *text = NULL;
	char soft[24], hard[24];
	const char *line;

	if (read_text(root, &text, NULL, "/proc/%s/limits", pid) < 0)
		return false;
	line = strstr(text, limit->shown);
	if (!line || sscanf(line + strlen(limit->shown), "%23s %23s", soft, hard) != 2)
		return false;
	*ret = (struct pair){parse_limit(soft), parse_limit(hard)};
	return true;
}

/* "unlimited", "8M", "8000 bytes"; "1024" */
static char *say(const struct limit *limit, uint64_t v)
{
	static const char units[] = "TGMK";

	if (v == UINT64_MAX)
		return xstrdup("unlimited");
	for (size_t i = 0; limit->bytes && i < sizeof(units) - 1; i++) {
		unsigned int shift = 40 - 10 * (unsigned int)i;

		if (v >> shift && v % (UINT64_C(1) << shift) == 0)
			return xasprintf("%" PRIu64 "%c", v >> shift, units[i]);
	}
	return xasprintf("%" PRIu64 "%s", v, limit->bytes ? " bytes" : "");
}

bool limit_unit_exists(const struct root *root, const char *unit)
{
	static const char *const dirs[] = {
		"/etc/systemd/system",		 "/run/systemd/system",
		"/run/systemd/transient",	 "/run/systemd/generator",
		"/run/systemd/generator.early",	 "/run/systemd/generator.late",
		"/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
		"/lib/systemd/system",
	};
	const char *at = strchr(unit, '@'), *type = strrchr(unit, '.');
	cleanup_free char *template =
		at && type ? xasprintf("%.*s@%s", (int)(at - unit), unit, type) : xstrdup(unit);

	for (size_t i = 0; i < array_len(dirs); i++)
		if (root_exists(root, "%s/%s", dirs[i], unit) ||
		    root_exists(root, "%s/%s", dirs[i], template))
			return true;
	return false;
}

/* Whether the tree can have running units: a captured tree may have no control groups. */
static bool has_units(const struct root *root)
{
	return root->live || root_exists(root, "/sys/fs/cgroup");
}

/*
 * A unit that does not run is no fault, because a unit that waits for the gate cannot run earlier,
 * and another unit may not be installed on this node. The change does not hold either, because no
 * process was seen.
 */
static void say_idle(const struct kind_ctx *ctx, struct change *c, const char *unit)
{
	change_observe(c, "not running");
	c->now.state = CHANGE_UNSUPPORTED;
	if (!has_units(ctx->root))
		change_reason(c, "the tree has no control groups, so no running units");
	else if (limit_unit_exists(ctx->root, unit))
		change_reason(c, "%s does not run (yet); `railhead verify` judges it when it does",
			      unit);
	else
		change_reason(c, "%s does not run, and no unit file of that name is installed",
			      unit);
}

static void say_low(const struct root *root, struct change *c, const char *unit, const char *pid,
		    const struct limit *limit, const struct pair *l, uint64_t want)
{
	cleanup_free char *name = NULL, *soft = say(limit, l->soft), *hard = say(limit, l->hard);

	if (read_text(root, &name, NULL, "/proc/%s/comm", pid) < 0)
		name = xstrdup("?");
	change_observe(c, "%s", limit->soft_counts ? soft : hard);
	change_reason(c,
		      "process %s (%.32s) of %s has the %s limit %s (%s at most): give the unit "
		      "%s=%s, which `limits:` of a profile does, and restart the unit; a container "
		      "gets its limit from its runtime's unit, or from its own settings",
		      pid, name, unit, limit->name, soft, hard, limit->directive,
		      want == UINT64_MAX ? "infinity" : c->desired);
}

/*
 * Judges whether each running process of a unit, including the processes of containers below it,
 * has at least the wanted limit. A unit that does not run is unsupported, so that it blocks
 * nothing.
 */
static void look_processes(const struct kind_ctx *ctx, struct change *c, const char *unit,
			   const struct limit *limit, uint64_t want)
{
	cleanup_strv struct strv pids = {0};
	size_t seen = 0;

	find_processes(ctx->root, unit, &pids);
	for (size_t i = 0; i < pids.n; i++) {
		struct pair l;

		if (!read_limit(ctx->root, pids.v[i], limit, &l))
			continue;
		seen++;
		if ((l.soft >= want || !limit->soft_counts) && l.hard >= want)
			continue;
		c->now.state = CHANGE_DIFFERS;
		if (c->kind == &kind_limit)
			c->now.fault = FAULT_HOST_LIMIT_PROCESS;
		say_low(ctx->root, c, unit, pids.v[i], limit, &l, want);
		return;
	}
	if (!seen) {
		say_idle(ctx, c, unit);
		return;
	}
	change_observe(c, "%s", c->desired);
	c->now.state = CHANGE_SAME;
}

/*
 * The unit neither runs nor is installed. This must differ, because otherwise every node would pass
 * with a misspelt name.
 */
static void complain_of_no_unit(struct change *c, const char *unit)
{
	change_observe(c, "not installed");
	change_reason(c,
		      "%s does not run, and no unit file of that name is installed: is the name "
		      "misspelt? Where a node may lack the service, write optional: true",
		      unit);
	c->now.fault = FAULT_PROFILE_CHECKS_NOTHING;
	c->now.state = CHANGE_DIFFERS;
}

static int look_memlock(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const char *unit = c->on.name;
	bool unlimited = c->want.type == VALUE_WORD;

	(void)err;
	look_processes(ctx, c, unit, &limit_memlock,
		       unlimited ? UINT64_MAX : (uint64_t)c->want.number);
	if (c->now.state == CHANGE_UNSUPPORTED && !c->optional && has_units(ctx->root) &&
	    !limit_unit_exists(ctx->root, unit))
		complain_of_no_unit(c, unit);
	return 0;
}

const struct target_item unit_memlock_item = {
	.kind = &kind_check, .look = look_memlock, .fault = FAULT_HOST_MEMLOCK};

/* --- as a kind of its own ------------------------------------------------------------------ */

/* Looks at the limit that the service manager gives to services without their own setting. */
static int look_default(const struct kind_ctx *ctx, struct change *c, const struct limit *limit,
			uint64_t want, struct err *err)
{
	cleanup_free char *property = xasprintf("Default%s", limit->directive), *hard = NULL;
	uint64_t have;
	int r = ctx->root->live ? manager_number(property, &have, err) : -EOPNOTSUPP;

	if (r == -EOPNOTSUPP) {
		c->now.state = CHANGE_UNSUPPORTED;
		change_reason(c, "no service manager answers here: only the running machine shows "
				 "its defaults");
		return 0;
	}
	if (r < 0)
		return r;
	hard = say(limit, have);
	change_observe(c, "%s", hard);
	c->now.state = have >= want ? CHANGE_SAME : CHANGE_DIFFERS;
	if (c->now.state == CHANGE_DIFFERS)
		change_reason(c, "systemd has not read the drop-in of system.conf, or another file "
				 "overrides it: run `systemctl daemon-reload`, and see "
				 "`systemd-analyze cat-config systemd/system.conf`");
	return 0;
}

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const struct limit *limit = c->on.item;
	uint64_t want = c->want.type == VALUE_NUMBER ? (uint64_t)c->want.number : UINT64_MAX;

	if (!c->on.name)
		return look_default(ctx, c, limit, want, err);
	look_processes(ctx, c, c->on.name, limit, want);
	return 0;
}

const struct kind kind_limit = {.name = "limit", .look = look};
