/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the files of kubelet, systemd and tuned with the CPUs that the profile isolates. The
 * files belong to other programs, and a node whose files disagree still works, only slower, so the
 * section that emits these looks reports a difference as a warning.
 */
#include "base/mem.h"
#include "base/str.h"
#include "kinds/checks.h"
#include "kinds/cpu_files.h"
#include "kinds/isolation.h"
#include "plan/change.h"

/* The CPUs that the profile isolates and keeps for the system, and its key as a reason names it. */
struct wanted {
	struct cpus isolated, kept;
	char *profile; /* "isolate_cpus (/etc/railhead/profiles/sku.yaml:4)" */
};

static void wanted_free(struct wanted *w)
{
	free(w->profile);
}
#define cleanup_wanted __attribute__((__cleanup__(wanted_free)))

static int find_wanted(const struct kind_ctx *ctx, const struct change *c, struct wanted *ret,
		       struct err *err)
{
	int r = isolated_on(ctx->node, c->on.node, &ret->isolated, err);

	if (r < 0)
		return err_wrap(err, "isolate_cpus");
	node_online(ctx->node, &ret->kept);
	cpus_remove_all(&ret->kept, &ret->isolated);
	ret->profile = xasprintf("isolate_cpus (%s:%u)", or_empty(c->origin.file), c->origin.line);
	return 0;
}

/*
 * The CPUs of a that are in b too (in), or are not in b, as a list; "" if there are none. Caller
 * frees.
 */
static char *common(const struct cpus *a, const struct cpus *b, bool in)
{
	struct cpus out = *a, both = *a;

	cpus_remove_all(&out, b);
	cpus_remove_all(&both, &out);
	return cpus_format(in ? &both : &out);
}

static int judge(struct change *c, const struct str *reason)
{
	c->now.state = reason->len ? CHANGE_DIFFERS : CHANGE_SAME;
	if (reason->len)
		change_reason(c, "%s", reason->s);
	return 0;
}

/* --- kubelet --------------------------------------------------------------------------------- */

/*
 * kubelet pins pods to CPUs outside reservedSystemCPUs, so these must be the CPUs that the profile
 * keeps.
 */
static void judge_reserved(const struct kubelet *k, const struct wanted *w, struct str *reason)
{
	cleanup_free char *taken = NULL, *open = NULL, *kept = cpus_format(&w->kept);
	struct cpus reserved;

	if (!k->reserved.text) {
		str_addf(reason,
			 "%s: no reservedSystemCPUs: kubelet chooses the CPUs of the system by "
			 "number; write \"%s\", which %s keeps",
			 k->file ?: k->policy.at, kept, w->profile);
		return;
	}
	if (cpus_parse(k->reserved.text, &reserved) < 0) {
		str_addf(reason,
			 "%s: reservedSystemCPUs '%.80s' is not a list of CPUs; write \"%s\"",
			 k->reserved.at, k->reserved.text, kept);
		return;
	}
	taken = common(&reserved, &w->isolated, true);
	open = common(&w->kept, &reserved, false);
	if (*taken)
		str_addf(reason, "%s: reservedSystemCPUs has CPUs %s, which %s isolates",
			 k->reserved.at, taken, w->profile);
	if (*open) {
		str_begin_clause(reason);
		str_addf(
			reason,
			"%s: reservedSystemCPUs lacks CPUs %s, which %s keeps for the system: pods "
			"would share them with its interrupts",
			k->reserved.at, open, w->profile);
	}
	if (reason->len)
		str_addf(reason, "; write \"%s\", or change the profile", kept);
}

/*
 * The scheduler does not balance isolated CPUs (isolcpus=), so threads that are not pinned stay on
 * the CPU where they started.
 */
static void judge_policies(const struct kubelet *k, struct str *reason)
{
	const char *file = k->file ?: k->reserved.at, *policy = k->policy.text ?: "none";

	if (!streq(policy, "static")) {
		str_begin_clause(reason);
		str_addf(reason,
			 "%s: cpuManagerPolicy is %.40s: pods are not pinned, and the scheduler "
			 "does not balance isolated CPUs; write static",
			 k->policy.at ?: file, policy);
	} else if (streq(k->topology.text ?: "none", "none")) {
		str_begin_clause(reason);
		str_addf(reason,
			 "%s: topologyManagerPolicy is none: a pod's CPUs may be of another NUMA "
			 "node than its devices; write single-numa-node, restricted or best-effort",
			 k->topology.at ?: file);
	}
}

static int look_kubelet(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct kubelet cleanup_kubelet k = {0};
	struct wanted cleanup_wanted w = {0};
	cleanup_str struct str reason = {0};
	int r = find_wanted(ctx, c, &w, err);

	if (r < 0)
		return r;
	kubelet_read(ctx->root, &k);
	change_observe(c, "reservedSystemCPUs %s, cpuManagerPolicy %s, topologyManagerPolicy %s",
		       k.reserved.text ?: "none", k.policy.text ?: "none",
		       k.topology.text ?: "none");
	if (k.fault) {
		str_addf(&reason, "%s; kubelet does not start with such a file", k.fault);
		return judge(c, &reason);
	}
	judge_reserved(&k, &w, &reason);
	judge_policies(&k, &reason);
	return judge(c, &reason);
}

/* --- systemd and tuned ----------------------------------------------------------------------- */

static int look_systemd(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct said cleanup_said said = {0};
	struct wanted cleanup_wanted w = {0};
	cleanup_str struct str reason = {0};
	cleanup_free char *taken = NULL;
	struct cpus cpus;
	int r = find_wanted(ctx, c, &w, err);

	if (r < 0)
		return r;
	change_observe(c, "CPUAffinity=%s", systemd_affinity(ctx->root, &said) ? said.text : "");
	if (!said.text)
		return judge(c, &reason);
	if (cpus_parse(said.text, &cpus) < 0) {
		str_addf(&reason,
			 "%s: CPUAffinity=%.80s is not a list of CPUs, and systemd ignores it",
			 said.at, said.text);
		return judge(c, &reason);
	}
	taken = common(&cpus, &w.isolated, true);
	if (*taken)
		str_addf(&reason,
			 "%s: CPUAffinity= lets services run on CPUs %s, which %s isolates; remove "
			 "these CPUs",
			 said.at, taken, w.profile);
	return judge(c, &reason);
}

static int look_tuned(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct said cleanup_said said = {0};
	struct wanted cleanup_wanted w = {0};
	cleanup_str struct str reason = {0};
	cleanup_free char *more = NULL, *less = NULL, *list = NULL;
	struct cpus cpus;
	int r = find_wanted(ctx, c, &w, err);

	if (r < 0)
		return r;
	change_observe(c, "isolated_cores=%s", tuned_isolated(ctx->root, &said) ? said.text : "");
	if (!said.text)
		return judge(c, &reason);
	list = cpus_format(&w.isolated);
	if (cpus_parse(said.text, &cpus) < 0) {
		str_addf(&reason, "%s: isolated_cores=%.80s is not a list of CPUs; write %s",
			 said.at, said.text, list);
		return judge(c, &reason);
	}
	more = common(&cpus, &w.isolated, false);
	less = common(&w.isolated, &cpus, false);
	if (*more || *less)
		str_addf(&reason,
			 "%s: isolated_cores=%s, and %s isolates %s; write the same list there, or "
			 "use another profile of tuned",
			 said.at, said.text, w.profile, list);
	return judge(c, &reason);
}

bool cpu_files_say(const struct root *root, const struct target_item *item)
{
	struct kubelet cleanup_kubelet k = {0};
	struct said cleanup_said said = {0};

	if (item == &kubelet_cpus_item)
		return kubelet_read(root, &k);
	return item == &systemd_cpus_item ? systemd_affinity(root, &said)
					  : tuned_isolated(root, &said);
}

const struct target_item kubelet_cpus_item = {
	.kind = &kind_check, .look = look_kubelet, .fault = FAULT_CPU_ISOLATION_CONFLICT};
const struct target_item systemd_cpus_item = {
	.kind = &kind_check, .look = look_systemd, .fault = FAULT_CPU_ISOLATION_CONFLICT};
const struct target_item tuned_cpus_item = {
	.kind = &kind_check, .look = look_tuned, .fault = FAULT_CPU_ISOLATION_CONFLICT};
