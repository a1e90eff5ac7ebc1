/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks how the kernel of this boot applied isolcpus= and nohz_full=, by its files in sysfs. The
 * command line is no proof, because the kernel drops an argument if it rejects the list or was
 * built without the feature (kernel/sched/isolation.c). Unbound workqueues stay off the CPUs of
 * either argument (workqueue_init_early() in kernel/workqueue.c), until a program writes their
 * mask.
 */
#include <errno.h>

#include "base/mem.h"
#include "kinds/checks.h"
#include "kinds/isolation.h"
#include "plan/change.h"
#include "sys/read.h"

#define CPU_DIR "/sys/devices/system/cpu/"
#define WORKQUEUES "/sys/devices/virtual/workqueue/cpumask"

/* Sets ret to the CPUs that the profile isolates. */
static int find_wanted(const struct kind_ctx *ctx, const struct change *c, struct cpus *ret,
		       struct err *err)
{
	int r = isolated_on(ctx->node, c->on.node, ret, err);

	return r < 0 ? err_wrap(err, "isolate_cpus") : 0;
}

/*
 * Whether all of the first CPUs are among the second, because cpusets may isolate more CPUs while
 * the node works.
 */
static bool cpus_within(const struct cpus *cpus, const struct cpus *in)
{
	struct cpus rest = *cpus;

	cpus_remove_all(&rest, in);
	return !cpus_count(&rest);
}

static void observe(struct change *c, const struct cpus *cpus)
{
	cleanup_free char *text = cpus_format(cpus);

	if (*text)
		change_observe(c, "CPUs %s", text);
	else
		change_observe(c, "none");
}

static int not_shown(struct change *c, const char *why)
{
	change_observe(c, "not shown");
	change_reason(c, "%s", why);
	c->now.state = CHANGE_UNSUPPORTED;
	return 0;
}

/*
 * A kernel that was given no nohz_full= shows "(null)", which is not a list and counts as no CPUs.
 */
static int look_list(const struct kind_ctx *ctx, struct change *c, const char *file,
		     const char *absent, const char *remedy, struct err *err)
{
	cleanup_free char *text = NULL;
	struct cpus wanted, have = {0};
	int r = find_wanted(ctx, c, &wanted, err);

	if (r < 0)
		return r;
	r = read_attr(ctx->root, &text, err, CPU_DIR "%s", file);
	if (r == -ENOENT)
		return not_shown(c, absent);
	if (r < 0)
		return r;
	if (cpus_parse(text, &have) < 0)
		have = (struct cpus){0};
	observe(c, &have);
	c->now.state = cpus_within(&wanted, &have) ? CHANGE_SAME : CHANGE_DIFFERS;
	if (c->now.state == CHANGE_DIFFERS)
		change_reason(c, "%s", remedy);
	return 0;
}

static int look_domains(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	return look_list(ctx, c, "isolated", "this kernel does not show which CPUs are isolated",
			 "the kernel was given isolcpus= but isolates other CPUs: see "
			 "'Housekeeping' in the kernel log of this boot",
			 err);
}

static int look_ticks(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	return look_list(ctx, c, "nohz_full",
			 "this kernel was built without CONFIG_NO_HZ_FULL and ignores nohz_full=: "
			 "the tick and RCU's callbacks stay on the isolated CPUs",
			 "the kernel was given nohz_full= but uses other CPUs: see 'Housekeeping' "
			 "and 'NO_HZ' in the kernel log of this boot",
			 err);
}

static int look_workqueues(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	cleanup_free char *text = NULL;
	struct cpus wanted, have, others;
	int r = find_wanted(ctx, c, &wanted, err);

	if (r < 0)
		return r;
	r = read_attr(ctx->root, &text, err, WORKQUEUES);
	if (r == -ENOENT)
		return not_shown(c, "this kernel does not show where its workqueues run");
	if (r < 0)
		return r;
	if (cpus_parse_mask(text, &have) < 0)
		return err_set(err, -EINVAL, WORKQUEUES ": '%.80s' is not a mask of CPUs", text);
	observe(c, &have);
	others = have;
	cpus_remove_all(&others, &wanted);
	c->now.state = cpus_within(&have, &others) ? CHANGE_SAME : CHANGE_DIFFERS;
	if (c->now.state == CHANGE_DIFFERS)
		change_reason(c, "kernel work of any program may run on isolated CPUs" TO_MEND
				 "look for "
				 "the program that writes " WORKQUEUES);
	return 0;
}

const struct target_item isolated_item = {
	.kind = &kind_check, .look = look_domains, .fault = FAULT_CPU_ISOLATION};
const struct target_item tickless_item = {
	.kind = &kind_check, .look = look_ticks, .fault = FAULT_CPU_ISOLATION};
const struct target_item workqueues_item = {
	.kind = &kind_check, .look = look_workqueues, .fault = FAULT_CPU_ISOLATION};
