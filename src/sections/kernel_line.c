/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sections/kernel_line.h"

#include <fnmatch.h>

#include "base/mem.h"
#include "kinds/kernel_file.h"
#include "plan/change.h"
#include "profile/language.h"
#include "sys/kernel_names.h"
#include "sys/read.h"
#include "sys/sysctl_d.h"

static const struct spec line_text =
	SCALAR("a value such as 1 or \">=1048576\" (text on one line)", value_line,
	       "^" LINE_CHAR "+$", .note = "remove line breaks and control characters");

static const struct spec line_map =
	MAP("a map such as {value: 1, optional: true}",
	    KEY("value", &line_text, "Value of the file.", .flags = FIELD_REQUIRED),
	    KEY("optional", &spec_bool, "Whether the kernel may lack the file; default false.",
		.class = KEY_GOVERNS),
	    KEY("force", &spec_bool,
		"Whether to write a file or value that a mistake makes fatal, such as a file of "
		"/sys/fs/cgroup; default false.",
		.class = KEY_GOVERNS),
	    KEY("on_drift", &spec_on_drift,
		"Consequence of a changed value after the verdict; default lapse.",
		.class = KEY_GOVERNS));
const struct spec kernel_line =
	EITHER("a value, or {value: ..., optional: true}", .scalar = &line_text, .map = &line_map);

/*
 * Handlers of the kernel other than proc_dointvec() and its kin, and stores of sysfs of which the
 * base is known. The first row that matches counts; "*" matches slashes, too.
 */
static const struct notation {
	const char *path;
	enum compare compare;
} notations[] = {
	/* proc_do_large_bitmap() of kernel/sysctl.c; ipvs_proc_est_cpulist_set() */
	{PROC_SYS "net/ipv4/ip_local_reserved_ports", COMPARE_LIST},
	{PROC_SYS "net/ipv6/icmp/ratemask", COMPARE_LIST},
	{PROC_SYS "kernel/watchdog_cpumask", COMPARE_LIST},
	{PROC_SYS "net/ipv4/vs/est_cpulist", COMPARE_LIST},
	/* cpumask_parse_user() and cpumask_parse(), %*pb */
	{PROC_SYS "net/core/flow_limit_cpu_bitmap", COMPARE_MASK},
	{PROC_SYS "net/core/rps_default_mask", COMPARE_MASK},
	/* tcp_set_allowed_congestion_control(), seccomp_actions_logged_handler() */
	{PROC_SYS "net/ipv4/tcp_allowed_congestion_control", COMPARE_WORDS},
	{PROC_SYS "kernel/seccomp/actions_logged", COMPARE_WORDS},
	/* proc_dostring() and its kin */
	{PROC_SYS "fs/binfmt_misc/*", COMPARE_TEXT},
	{PROC_SYS "kernel/arch", COMPARE_TEXT},
	{PROC_SYS "kernel/core_modes", COMPARE_TEXT},
	{PROC_SYS "kernel/core_pattern", COMPARE_TEXT},
	{PROC_SYS "kernel/domainname", COMPARE_TEXT},
	{PROC_SYS "kernel/ftrace_dump_on_oops", COMPARE_TEXT}, /* since 6.9 */
	{PROC_SYS "kernel/hostname", COMPARE_TEXT},
	{PROC_SYS "kernel/hotplug", COMPARE_TEXT},
	{PROC_SYS "kernel/modprobe", COMPARE_TEXT},
	{PROC_SYS "kernel/os*", COMPARE_TEXT},
	{PROC_SYS "kernel/panic_sys_info", COMPARE_TEXT},
	{PROC_SYS "kernel/poweroff_cmd", COMPARE_TEXT},
	{PROC_SYS "kernel/printk_devkmsg", COMPARE_TEXT},
	{PROC_SYS "kernel/random/uuid", COMPARE_TEXT},
	{PROC_SYS "kernel/reboot-cmd", COMPARE_TEXT},
	{PROC_SYS "kernel/version", COMPARE_TEXT},
	{PROC_SYS "net/core/default_qdisc", COMPARE_TEXT},
	{PROC_SYS "net/core/netdev_rss_key", COMPARE_TEXT},
	{PROC_SYS "net/ipv4/tcp_available_*", COMPARE_TEXT},
	{PROC_SYS "net/ipv4/tcp_congestion_control", COMPARE_TEXT},
	{PROC_SYS "net/ipv4/tcp_fastopen_key", COMPARE_TEXT},
	{PROC_SYS "net/ipv6/conf/*/stable_secret", COMPARE_TEXT},
	{PROC_SYS "net/mptcp/*scheduler*", COMPARE_TEXT},
	{PROC_SYS "net/sctp/cookie_hmac_alg", COMPARE_TEXT},
	{PROC_SYS "vm/numa_zonelist_order", COMPARE_TEXT},
	/* cpumask_parse() and bitmap_parse(), %*pb: kernel/workqueue.c, net/core/net-sysfs.c */
	{"/sys/*/workqueue/*cpumask", COMPARE_MASK},
	{"/sys/*/queues/*/rps_cpus", COMPARE_MASK},
	{"/sys/*/queues/*/xps_cpus", COMPARE_MASK},
	{"/sys/*/queues/*/xps_rxqs", COMPARE_MASK},
	/* cpulist_parse() and nodelist_parse(), %*pbl: kernel/cgroup/cpuset.c */
	{"/sys/fs/cgroup/*cpuset.cpus", COMPARE_LIST},
	{"/sys/fs/cgroup/*cpuset.mems", COMPARE_LIST},
	/* param_get_bool() of kernel/params.c */
	{"/sys/module/*/parameters/*", COMPARE_PARAM},
	/* mm/memory-tiers.c, mm/swap_state.c; kstrtouint() with base 0 of mm/vmscan.c */
	{"/sys/kernel/mm/numa/demotion_enabled", COMPARE_SWITCH},
	{"/sys/kernel/mm/swap/vma_ra_enabled", COMPARE_SWITCH},
	{"/sys/kernel/mm/lru_gen/enabled", COMPARE_NUMBERS},
};

/* TEXT where the notation is not known: then only the same text is the same value. */
static enum compare notation_of(const char *path)
{
	for (size_t i = 0; i < array_len(notations); i++)
		if (fnmatch(notations[i].path, path, FNM_NOESCAPE) == 0)
			return notations[i].compare;
	return str_starts(path, PROC_SYS) && sysctl_documented(path + strlen(PROC_SYS))
		       ? COMPARE_NUMBERS
		       : COMPARE_TEXT;
}

bool kernel_line_has_numbers(const char *path)
{
	return notation_of(path) == COMPARE_NUMBERS;
}

bool kernel_line_forced(const struct ynode *line)
{
	return line->kind == YAML_MAP && ynode_bool(line, "force", false);
}

bool kernel_line_may_drift(const struct ynode *line)
{
	return line->kind == YAML_MAP && ynode_is_word(ynode_get(line, "on_drift"), ON_DRIFT_WARN);
}

void kernel_line_judge(struct ruling *r, const char *section, const struct ynode *key,
		       const struct ynode *line, const char *path)
{
	const char *why =
		kernel_file_refusal(path, scalar(line_value(line)), kernel_line_forced(line));
	cleanup_free char *at = xasprintf("%s.%.120s", section, key->text);

	if (why)
		rule_error(r, key, at, "%s", why);
}

static void judge_files_of(const struct root *root, const char *section, const struct ynode *key,
			   const struct ynode *line, const char *path, struct diags *diags)
{
	const char *value = scalar(line_value(line));
	bool forced = kernel_line_forced(line);
	cleanup_free char *at = xasprintf("%s.%.120s", section, key->text);
	cleanup_strv struct strv files = {0};
	struct err err = {0};
	int r;

	if (kernel_file_refusal(path, value, forced))
		return; /* a rule has said so */
	r = read_glob(root, path, &files, &err);
	for (size_t i = 0; (r == 0 || root_lacks(r)) && i < files.n; i++)
		r = kernel_file_judge(root, files.v[i], value, forced, &err);
	if (r < 0 && !root_lacks(r))
		diag_error(diags, key->at, at, "%s", err.text);
}

void kernel_lines_judge_files(const struct root *root, const struct profile *p, struct diags *diags)
{
	const struct ynode *sysfs = profile_section(p, "sysfs");
	const struct ynode *sysctl = profile_section(p, "sysctl");

	diags->code = "kernel-file";
	for (size_t i = 0; i < count(sysfs, YAML_MAP); i++)
		judge_files_of(root, "sysfs", sysfs->keys.v[i], sysfs->items.v[i],
			       sysfs->keys.v[i]->text, diags);
	for (size_t i = 0; i < count(sysctl, YAML_MAP); i++) {
		cleanup_free char *path = sysctl_file(sysctl->keys.v[i]->text);

		judge_files_of(root, "sysctl", sysctl->keys.v[i], sysctl->items.v[i], path, diags);
	}
	diags->code = NULL;
}

void kernel_line_emit(const char *section, enum phase phase, const struct ynode *key,
		      const struct ynode *line, const char *path, struct plan *plan)
{
	struct change *c = plan_add(plan, section, &kind_attr, STAGE_EARLY, phase, key->at, "%s/%s",
				    section, key->text);

	change_target(c, "%s", path);
	change_want(c, line_value(line));
	c->compare = line_value(line)->value.at_least ? COMPARE_AT_LEAST : notation_of(path);
	c->optional = line->kind == YAML_MAP && ynode_bool(line, "optional", false);
	c->drift_warns = kernel_line_may_drift(line);
	c->late = true;
	c->named = true;
	c->forced = kernel_line_forced(line);
}

void kernel_line_differs(struct ruling *r, const struct ynode *value, const char *key,
			 const struct ynode *arg)
{
	rule_error(r, value, key,
		   "%.80s at %s of kernel_args.set sets a different value; make the two agree, "
		   "or drop one",
		   arg->text, seen(r, arg));
}
