/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much memory the processes of a running unit may lock, and so pin for RDMA: limits are
 * taken over when a process starts, so what the unit's files say now may not be what holds. All
 * processes of its control group are looked at, since containers have theirs from the runtime.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "kinds/checks.h"
#include "sys/read.h"

struct lock_limit {
	uint64_t soft, hard; /* bytes; UINT64_MAX unlimited */
};

/* Where systemd mounts the hierarchy that has its units: unified, hybrid, legacy (v1). */
static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified",
				     "/sys/fs/cgroup/systemd"};
/* A unit is in a slice, which is in another one where its name has a dash. */
static const char *const slices[] = {"", "/*.slice", "/*.slice/*.slice"};
/* The unit's own group, and those that it or a container runtime made in it. */
static const char *const inside[] = {"", "/*", "/*/*", "/*/*/*"};

static void find_groups(const struct root *root, const char *unit, struct strv *ret)
{
	for (size_t m = 0; m < array_len(mounts) && !ret->n; m++)
		for (size_t s = 0; s < array_len(slices); s++)
			for (size_t i = 0; i < array_len(inside); i++) {
				cleanup_free char *pattern =
					xasprintf("%s%s/%s%s/cgroup.procs", mounts[m], slices[s],
						  unit, inside[i]);

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

/* False: it has ended, or the tree does not have it. */
static bool read_limit(const struct root *root, const char *pid, struct lock_limit *ret)
{
	cleanup_free char *text = NULL;
	char soft[24], hard[24];
	const char *line;

	if (read_text(root, &text, NULL, "/proc/%s/limits", pid) < 0)
		return false;
	line = strstr(text, "Max locked memory");
	if (!line || sscanf(line, "Max locked memory %23s %23s", soft, hard) != 2)
		return false;
	*ret = (struct lock_limit){parse_limit(soft), parse_limit(hard)};
	return true;
}

/* "unlimited", "8M", "8000 bytes". */
static char *say(uint64_t bytes)
{
	static const char units[] = "TGMK";

	if (bytes == UINT64_MAX)
		return xstrdup("unlimited");
	for (size_t i = 0; i < sizeof(units) - 1; i++) {
		unsigned int shift = 40 - 10 * (unsigned int)i;

		if (bytes >> shift && bytes % (UINT64_C(1) << shift) == 0)
			return xasprintf("%" PRIu64 "%c", bytes >> shift, units[i]);
	}
	return xasprintf("%" PRIu64 " bytes", bytes);
}

static bool has_unit_file(const struct root *root, const char *unit)
{
	static const char *const dirs[] = {"/etc", "/run", "/usr/lib", "/lib"};

	for (size_t i = 0; i < array_len(dirs); i++)
		if (root_exists(root, "%s/systemd/system/%s", dirs[i], unit))
			return true;
	return false;
}

/*
 * No fault: a unit that waits for the gate can't run before it, and another one may not be
 * installed on this node. Nor is it as wanted: it has not been seen.
 */
static void say_idle(const struct kind_ctx *ctx, struct change *c, const char *unit)
{
	change_observe(c, "not running");
	c->state = CHANGE_UNSUPPORTED;
	if (!ctx->root->live && !root_exists(ctx->root, "/sys/fs/cgroup"))
		change_reason(c, "the tree has no control groups, so no running units");
	else if (has_unit_file(ctx->root, unit))
		change_reason(c, "%s does not run (yet); `railhead verify` judges it when it does",
			      unit);
	else
		change_reason(c, "%s does not run, and no file of that name says how it would",
			      unit);
}

static void say_low(const struct root *root, struct change *c, const char *unit, const char *pid,
		    const struct lock_limit *l)
{
	cleanup_free char *name = NULL, *soft = say(l->soft), *hard = say(l->hard);

	if (read_text(root, &name, NULL, "/proc/%s/comm", pid) < 0)
		name = xstrdup("?");
	change_observe(c, "%s", soft);
	change_reason(c,
		      "process %s (%.32s) of %s may lock %s (%s at most): give the unit "
		      "LimitMEMLOCK=infinity in a drop-in, reload systemd and restart it; a "
		      "container has it from its runtime's unit, or from its own settings",
		      pid, name, unit, soft, hard);
}

int check_memlock(const struct kind_ctx *ctx, struct change *c, const char *unit, struct err *err)
{
	cleanup_strv struct strv pids = {0};
	uint64_t want = UINT64_MAX;
	size_t seen = 0;

	(void)err;
	if (!streq(c->desired, "unlimited"))
		parse_size(c->desired, &want);
	find_processes(ctx->root, unit, &pids);
	for (size_t i = 0; i < pids.n; i++) {
		struct lock_limit l;

		if (!read_limit(ctx->root, pids.v[i], &l))
			continue;
		seen++;
		if (l.soft >= want && l.hard >= want)
			continue;
		c->state = CHANGE_DIFFERS;
		say_low(ctx->root, c, unit, pids.v[i], &l);
		return 0;
	}
	if (!seen) {
		say_idle(ctx, c, unit);
		return 0;
	}
	change_observe(c, "%s", c->desired);
	c->state = CHANGE_SAME;
	return 0;
}
