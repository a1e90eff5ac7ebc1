/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysctl: values passed to the kernel verbatim, in document order. */
#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "kinds/kernel_file.h"
#include "node/node.h"
#include "profile/language.h"
#include "profile/section.h"
#include "sections/kernel_line.h"
#include "sys/kernel_names.h"
#include "sys/module.h"
#include "sys/sysctl_d.h"

#define SYSCTL_PART "([A-Za-z0-9_*?:@-]|\\[|\\])+"
static const struct spec sysctl_key =
	SCALAR("a sysctl key such as net.core.rmem_max", value_sysctl_key,
	       "^" SYSCTL_PART "([./]" SYSCTL_PART ")+$",
	       .note = "write its two or more parts with one . or / between them");
static const struct spec keys =
	MAP_OF("KEY", "a map such as {net.core.rmem_max: 268435456}", sysctl_key, kernel_line);

/* --- changes ------------------------------------------------------------------------------ */

static void emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan)
{
	size_t from = plan->list.n;

	(void)ctx;
	for (size_t i = 0; i < section->keys.n; i++) {
		const struct ynode *key = section->keys.v[i];
		cleanup_free char *path = sysctl_file(key->text);

		kernel_line_emit("sysctl", PHASE_SYSCTL, key, section->items.v[i], path, plan);
	}
	plan_share_files(plan, from);
}

/* --- rules -------------------------------------------------------------------------------- */

/* A line of the section. */
struct line {
	const struct ynode *key, *said;
	const char *name; /* for rules: "sysctl.vm.swappiness" */
	const char *path; /* absolute; may be a pattern */
};

static void each_line(struct ruling *r, void (*judge)(struct ruling *r, const struct line *l))
{
	const struct ynode *sysctl = section(r, "sysctl");

	for (size_t i = 0; i < count(sysctl, YAML_MAP); i++) {
		const struct ynode *key = sysctl->keys.v[i];
		cleanup_free char *path = sysctl_file(key->text);
		cleanup_free char *name = xasprintf("sysctl.%.80s", key->text);

		judge(r, &(struct line){key, sysctl->items.v[i], name, path});
	}
}

static void judge_setting(struct ruling *r, const struct line *l)
{
	kernel_line_judge(r, "sysctl", l->key, l->said, l->path);
	if (streq(l->path, PROC_SYS "net/ipv4/tcp_low_latency"))
		rule_warn(
			r, l->key, l->name,
			"the kernel keeps this file for old scripts and ignores it; leave it out");
}

static void sysctls_are_settings(struct ruling *r)
{
	each_line(r, judge_setting);
}

/* Reports one file under two notations, because the later value would silently win. */
static void sysctls_are_said_once(struct ruling *r)
{
	const struct ynode *sysctl = section(r, "sysctl");
	VEC(char *) paths = {0};

	for (size_t i = 0; i < count(sysctl, YAML_MAP); i++) {
		const struct ynode *n = sysctl->keys.v[i];
		cleanup_free char *key = xasprintf("sysctl.%.80s", n->text);

		vec_push(&paths, sysctl_path(n->text));
		for (size_t j = 0; j < i; j++)
			if (streq(paths.v[i], paths.v[j]))
				rule_error(r, n, key, "%.80s at %s is the same file; keep one",
					   sysctl->keys.v[j]->text, seen(r, sysctl->keys.v[j]));
	}
	for (size_t i = 0; i < paths.n; i++)
		free(paths.v[i]);
	vec_free(&paths);
}

/* Whether path is neither a pattern nor malformed. */
static bool is_one_path(const char *path)
{
	return !strpbrk(path, "*?[") && strchr(path, '/') && *path != '/' && !strstr(path, "//") &&
	       !strstr(path, "..");
}

static void judge_name(struct ruling *r, const struct line *l)
{
	const char *below = l->path + strlen(PROC_SYS);
	cleanup_free char *near = NULL, *hint = NULL;

	if (!is_one_path(below) || sysctl_known(below))
		return;
	near = sysctl_near(below);
	hint = kernel_name_hint(near);
	rule_warn(r, l->key, l->name, "the kernel's documentation has no such sysctl; %s", hint);
}

static void names_are_known(struct ruling *r)
{
	each_line(r, judge_name);
}

static bool loads(const struct ruling *r, const struct sysctl_module *m)
{
	const struct ynode *load = ynode_get(section(r, "modules"), "load");
	const struct ynode *mounts = section(r, "mounts");
	bool does = false;

	for (size_t i = 0; i < count(load, YAML_LIST) && !does; i++) {
		const struct ynode *item = load->items.v[i];
		cleanup_free char *name = module_sysfs_name(
			item->kind == YAML_MAP ? ynode_text(item, "name", "") : scalar(item));

		does = streq(name, m->name) || (m->users && fnmatch(m->users, name, 0) == 0);
	}
	/* whose module comes with the mount, before the sysctls that are absent in stage early */
	for (size_t i = 0; m->users && i < count(mounts, YAML_MAP) && !does; i++)
		does = fnmatch(m->users, ynode_text(mounts->items.v[i], "type", ""), 0) == 0;
	return does;
}

static void judge_module(struct ruling *r, const struct line *l)
{
	const struct sysctl_module *m = sysctl_module_of(l->path);

	if (m && !loads(r, m))
		rule_warn(r, l->key, l->name,
			  "the file comes with module %s, and nothing sets the value if that is "
			  "loaded later; name %s in modules.load",
			  m->name, m->name);
}

static void modules_are_loaded(struct ruling *r)
{
	each_line(r, judge_module);
}

/*
 * Whether text is a number with a unit, which no sysctl accepts: kernel/sysctl.c, proc_get_long().
 */
static bool has_unit(const char *text, uint64_t *ret_bytes)
{
	size_t digits = strspn(text, "0123456789");
	const char *rest = text[digits] ? text + digits + 1 : text;
	cleanup_free char *size =
		xasprintf("%.*s%c", (int)digits, text, toupper((unsigned char)text[digits]));

	return (!*rest || streq(rest, "B") || streq(rest, "iB")) &&
	       parse_size(size, ret_bytes) == 0;
}

static bool is_switch(const char *text)
{
	static const char *const words[] = {"on", "off", "yes", "no", "true", "false", NULL};

	return word_is_one_of(text, words);
}

/* Whether each word is a number of the kernel, in any base: proc_get_long(). */
static bool has_numbers(const char *text)
{
	for (const char *p = text + strspn(text, " \t"); *p; p += strspn(p, " \t")) {
		char *end;

		if (!isdigit((unsigned char)p[*p == '-']))
			return false;
		strtoull(p, &end, 0);
		if (*end && *end != ' ' && *end != '\t')
			return false;
		p = end;
	}
	return true;
}

static void judge_number(struct ruling *r, const struct line *l)
{
	const struct ynode *value = line_value(l->said);
	uint64_t bytes;

	if (!kernel_line_has_numbers(l->path) || !value || !value->value.spec ||
	    value->value.at_least || has_numbers(scalar(value)))
		return;
	if (has_unit(value->text, &bytes))
		rule_error(r, value, l->name,
			   "'%.40s': the kernel accepts no unit here; write %llu", value->text,
			   (unsigned long long)bytes);
	else if (is_switch(value->text))
		rule_error(r, value, l->name, "'%.40s': the kernel accepts numbers here; write %d",
			   value->text,
			   streq(value->text, "on") || streq(value->text, "yes") ||
				   streq(value->text, "true"));
	else
		rule_error(r, value, l->name,
			   "'%.40s': the kernel accepts numbers here; write a number, such as 1",
			   value->text);
}

static void values_are_numbers(struct ruling *r)
{
	each_line(r, judge_number);
}

/* Whether a key, as sysctl_path() has it, names the file, by a pattern too. */
static bool sets(const char *key, const char *path)
{
	return fnmatch(key, path, FNM_PATHNAME | FNM_NOESCAPE) == 0;
}

/* Whether a line from *at on sets the file; *at is then the line. */
static bool file_is_set(const struct ruling *r, const char *path, size_t *at)
{
	const struct ynode *sysctl = section(r, "sysctl");

	for (; *at < count(sysctl, YAML_MAP); ++*at) {
		cleanup_free char *have = sysctl_path(sysctl->keys.v[*at]->text);

		if (sets(have, path))
			return true;
	}
	return false;
}

static void balancing_agrees(struct ruling *r)
{
	const struct ynode *arg = find_arg(r, "numa_balancing"), *sysctl = section(r, "sysctl");

	for (size_t i = 0; arg && file_is_set(r, "kernel/numa_balancing", &i); i++) {
		const struct ynode *value = line_value(sysctl->items.v[i]);

		if (*scalar(value) &&
		    streq(arg_value(arg->text), "disable") != streq(value->text, "0"))
			kernel_line_differs(r, value, "sysctl.kernel.numa_balancing", arg);
	}
}

/*
 * The number of N and ">=N". False also for the kernel's other spellings: octal, hexadecimal,
 * blanks (proc_get_long()).
 */
static bool plain_number(const char *text, uint64_t *ret)
{
	text += str_starts(text, ">=") ? 2 : 0;
	return parse_u64(text, ret) == 0 && (*text != '0' || !text[1]);
}

/* --- two names of one switch ----------------------------------------------------------------- */

/*
 * mm/page-writeback.c and mm/util.c: to set the one makes the other 0. net/ipv4/devinet.c,
 * nf_conntrack_standalone.c: one variable. neighbour.c: one variable, in seconds and milliseconds.
 */
static const struct pair {
	const char *a, *b;
	uint64_t scale; /* b is a * scale; 0: one of the two is 0 */
} pairs[] = {
	{"vm/dirty_ratio", "vm/dirty_bytes", 0},
	{"vm/dirty_background_ratio", "vm/dirty_background_bytes", 0},
	{"vm/overcommit_ratio", "vm/overcommit_kbytes", 0},
	{"net/ipv4/ip_forward", "net/ipv4/conf/all/forwarding", 1},
	{"net/nf_conntrack_max", "net/netfilter/nf_conntrack_max", 1},
	{"net/ipv4/neigh/default/base_reachable_time",
	 "net/ipv4/neigh/default/base_reachable_time_ms", 1000},
	{"net/ipv6/neigh/default/base_reachable_time",
	 "net/ipv6/neigh/default/base_reachable_time_ms", 1000},
};

static bool pair_agrees(const struct pair *p, const struct ynode *a, const struct ynode *b)
{
	uint64_t x, y;

	if (!plain_number(scalar(a), &x) || !plain_number(scalar(b), &y))
		return true;
	if (!p->scale)
		return !x || !y;
	x *= p->scale;
	return x == y || (a->value.at_least && (x < y || b->value.at_least)) ||
	       (b->value.at_least && y < x);
}

static void judge_pair(struct ruling *r, const struct pair *p)
{
	const struct ynode *sysctl = section(r, "sysctl");

	for (size_t i = 0; file_is_set(r, p->a, &i); i++)
		for (size_t j = 0; file_is_set(r, p->b, &j); j++) {
			const struct ynode *first = line_value(sysctl->items.v[i < j ? i : j]);
			const struct ynode *second = line_value(sysctl->items.v[i < j ? j : i]);
			const struct ynode *key = sysctl->keys.v[i < j ? j : i];
			cleanup_free char *at = xasprintf("sysctl.%.80s", key->text);

			/* A pattern may match both. */
			if (i == j || pair_agrees(p, line_value(sysctl->items.v[i]),
						  line_value(sysctl->items.v[j])))
				continue;
			rule_error(r, second, at, "%.80s at %s %s; keep one of the two",
				   sysctl->keys.v[i < j ? i : j]->text, seen(r, first),
				   p->scale ? "is another name of the same switch, with another "
					      "value"
					    : "becomes 0 when this line is set");
		}
}

static void names_agree(struct ruling *r)
{
	for (size_t i = 0; i < array_len(pairs); i++)
		judge_pair(r, &pairs[i]);
}

/* --- values with which no node works -------------------------------------------------------- */

/* Bytes of memory of the machine, known or expected; 0: unknown. */
static uint64_t memory_of(const struct ruling *r)
{
	uint64_t bytes = r->node ? node_memory(r->node)->bytes : 0;

	if (!bytes)
		ynode_number(ynode_get(section(r, "expect"), "memory"), &bytes);
	return bytes;
}

/*
 * Lower bounds: Documentation/admin-guide/sysctl/{kernel,vm}.rst of the kernel, PID_MAX_DEFAULT of
 * include/linux/threads.h, inotify_user_setup() of fs/notify/inotify/inotify_user.c. The upper
 * bound: ELF programs without PIE begin at 4 MiB, and no program can map what is below (mm/util.c).
 */
static const struct guarded {
	const char *path;
	uint64_t least, most;
	const char *why;
} guarded[] = {
	{"kernel/pid_max", 32768, UINT64_MAX,
	 "fewer than the kernel's default of 32768 processes and threads, so that logins and "
	 "services of the node fail"},
	{"vm/min_free_kbytes", 1024, UINT64_MAX,
	 "the kernel deadlocks under load with less than 1024"},
	{"vm/max_map_count", 1024, UINT64_MAX,
	 "programs that map more files and memory than this fail, PID 1 among them"},
	{"vm/mmap_min_addr", 0, 4 << 20,
	 "programs at fixed addresses, which begin at 4194304, can't start"},
	{"fs/nr_open", 1024, UINT64_MAX,
	 "less than the 1024 files that services and logins may open, and they fail to set this "
	 "limit"},
	{"fs/epoll/max_user_watches", 1024, UINT64_MAX,
	 "PID 1 and the services of a user then can't wait for events, and fail"},
	{"fs/inotify/max_user_instances", 128, UINT64_MAX,
	 "fewer than the kernel's default of 128, and udev and other services fail to start "
	 "without an instance"},
	{"user/max_mnt_namespaces", 128, UINT64_MAX,
	 "services that have mounts of their own, such as logind, fail to start without a "
	 "namespace"},
	{"vm/overcommit_memory", 0, UINT64_MAX, NULL},
	{"vm/overcommit_ratio", 0, UINT64_MAX, NULL},
	{"vm/overcommit_kbytes", 0, UINT64_MAX, NULL},
};

/* Whether a line from *at on sets the file to a number, not by force; *at is then the line. */
static bool number_is_set(const struct ruling *r, const char *path, size_t *at, uint64_t *ret)
{
	const struct ynode *sysctl = section(r, "sysctl");

	for (; file_is_set(r, path, at); ++*at)
		if (!kernel_line_forced(sysctl->items.v[*at]) &&
		    plain_number(scalar(line_value(sysctl->items.v[*at])), ret))
			return true;
	return false;
}

static void reject(struct ruling *r, size_t at, const char *why)
{
	const struct ynode *sysctl = section(r, "sysctl");
	cleanup_free char *key = xasprintf("sysctl.%.80s", sysctl->keys.v[at]->text);
	const struct ynode *value = line_value(sysctl->items.v[at]);

	rule_error(r, value, key, "%.40s: %s; " FORCE_REMEDY, value->text, why);
}

static void judge_guarded(struct ruling *r, size_t at, const struct guarded *g)
{
	const char *value = scalar(line_value(section(r, "sysctl")->items.v[at]));
	uint64_t n;

	if (!plain_number(value, &n))
		reject(r, at,
		       "a wrong number here takes the node down: write it in decimal digits alone");
	else if (n < g->least || n > g->most)
		reject(r, at, g->why);
}

static void values_are_safe(struct ruling *r)
{
	const struct ynode *sysctl = section(r, "sysctl");

	for (size_t i = 0; i < count(sysctl, YAML_MAP); i++) {
		cleanup_free char *path = sysctl_path(sysctl->keys.v[i]->text);

		if (kernel_line_forced(sysctl->items.v[i]))
			continue;
		for (size_t j = 0; j < array_len(guarded); j++)
			if (sets(path, guarded[j].path))
				judge_guarded(r, i, &guarded[j]);
	}
}

/*
 * With overcommit_memory=2, no more memory can be allocated than overcommit_ratio percent, or
 * overcommit_kbytes, and swap; the default is 50 percent (mm/util.c, vm_commit_limit()).
 */
static void judge_overcommit(struct ruling *r)
{
	uint64_t mode = 0, n, memory = memory_of(r);
	bool in_kbytes = false;

	for (size_t i = 0; mode != 2; i++)
		if (!number_is_set(r, "vm/overcommit_memory", &i, &mode))
			return;
	for (size_t i = 0; number_is_set(r, "vm/overcommit_kbytes", &i, &n); i++) {
		in_kbytes = in_kbytes || n;
		if (n && n < memory / 1024 / 2)
			reject(r, i,
			       "overcommit_memory=2 then allows programs less than half of the "
			       "memory, and PID 1 fails to start services");
	}
	for (size_t i = 0; !in_kbytes && number_is_set(r, "vm/overcommit_ratio", &i, &n); i++)
		if (n < 50)
			reject(r, i,
			       "overcommit_memory=2 then allows programs less than the kernel's "
			       "default of 50 percent of the memory, and PID 1 fails to start "
			       "services");
}

static void nodes_work_with_values(struct ruling *r)
{
	uint64_t n, memory = memory_of(r);

	for (size_t i = 0; memory && number_is_set(r, "vm/min_free_kbytes", &i, &n); i++)
		if (n > memory / 1024 / 4)
			reject(r, i,
			       "more than a quarter of the memory, which the kernel then gives to "
			       "no program");
	judge_overcommit(r);
}

/* --- values that other programs set after the verdict ---------------------------------------- */

enum { CONNTRACK_LEAST = 131072 }; /* kube-proxy's conntrack.min */

/*
 * kubelet: setupKernelTunables() of pkg/kubelet/cm/container_manager_linux.go; kube-proxy, which
 * only raises them: cmd/kube-proxy/app/conntrack.go and its default configuration, and
 * pkg/proxy/iptables/proxier.go; pod networks: EnableIP4Forward() and EnableIP6Forward() of
 * containernetworking/plugins, which the kernel passes on to each netdev (inet_forward_change() of
 * net/ipv4/devinet.c, addrconf_fixup_forwarding()).
 */
static const struct other {
	const char *path, *program; /* the path may be a pattern, too */
	uint64_t value;
	bool raises, each_cpu;
} others[] = {
	{"vm/overcommit_memory", "kubelet", 1, false, false},
	{"vm/panic_on_oom", "kubelet", 0, false, false},
	{"kernel/panic", "kubelet", 10, false, false},
	{"kernel/panic_on_oops", "kubelet", 1, false, false},
	{"kernel/keys/root_maxkeys", "kubelet", 1000000, false, false},
	{"kernel/keys/root_maxbytes", "kubelet", 25000000, false, false},
	{"net/netfilter/nf_conntrack_max", "kube-proxy", 32768, true, true},
	{"net/nf_conntrack_max", "kube-proxy", 32768, true, true},
	{"net/netfilter/nf_conntrack_tcp_timeout_established", "kube-proxy", 86400, true, false},
	{"net/netfilter/nf_conntrack_tcp_timeout_close_wait", "kube-proxy", 3600, true, false},
	{"net/ipv4/conf/all/route_localnet", "kube-proxy", 1, false, false},
	{"net/ipv4/ip_forward", "the plugin of the pod network", 1, false, false},
	{"net/ipv4/conf/*/forwarding", "the plugin of the pod network", 1, false, false},
	{"net/ipv6/conf/*/forwarding", "the plugin of the pod network", 1, false, false},
};

/* CPUs of the machine, known or expected; 0: unknown. */
static uint64_t cpus_of(const struct ruling *r)
{
	uint64_t n = r->node ? node_count_online(r->node) : 0;

	if (!n)
		ynode_exact(ynode_get(section(r, "expect"), "cpus"), &n);
	return n;
}

static void judge_other(struct ruling *r, size_t at, const struct other *o)
{
	const struct ynode *sysctl = section(r, "sysctl");
	const struct ynode *value = line_value(sysctl->items.v[at]);
	cleanup_free char *key = xasprintf("sysctl.%.80s", sysctl->keys.v[at]->text);
	uint64_t n, cpus = o->each_cpu ? cpus_of(r) : 1, theirs = o->value * (cpus ?: CPUS_MAX);

	if (o->each_cpu && theirs < CONNTRACK_LEAST)
		theirs = CONNTRACK_LEAST;
	if (!plain_number(scalar(value), &n) || n == theirs || (o->raises && n > theirs) ||
	    (value->value.at_least && (o->raises || n < theirs)))
		return;
	if (!cpus)
		rule_warn(r, value, key,
			  "on a node of Kubernetes, %s raises the value after the verdict to %llu "
			  "for each CPU, and the node lapses; write \">=%llu\"",
			  o->program, (unsigned long long)o->value, (unsigned long long)n);
	else if (o->raises)
		rule_warn(r, value, key,
			  "on a node of Kubernetes, %s raises the value to %llu after the verdict, "
			  "and the node lapses; write %llu, or \">=%llu\"",
			  o->program, (unsigned long long)theirs, (unsigned long long)theirs,
			  (unsigned long long)n);
	else
		rule_warn(
			r, value, key,
			"on a node of Kubernetes, %s sets the value to %llu after the verdict, and "
			"the node lapses; write %llu, or {value: %llu, on_drift: warn}",
			o->program, (unsigned long long)theirs, (unsigned long long)theirs,
			(unsigned long long)n);
}

static void others_agree(struct ruling *r)
{
	const struct ynode *sysctl = section(r, "sysctl");

	for (size_t i = 0; i < count(sysctl, YAML_MAP); i++) {
		cleanup_free char *path = sysctl_path(sysctl->keys.v[i]->text);

		for (size_t j = 0;
		     j < array_len(others) && !kernel_line_may_drift(sysctl->items.v[i]); j++)
			if (sets(path, others[j].path) || sets(others[j].path, path))
				judge_other(r, i, &others[j]);
	}
}

static const struct rule rules[] = {
	RULE("sysctls-are-settings", sysctls_are_settings),
	RULE("sysctls-are-said-once", sysctls_are_said_once),
	RULE("names-are-known", names_are_known),
	RULE_OF_WHOLE("modules-are-loaded", modules_are_loaded),
	RULE("values-are-numbers", values_are_numbers),
	RULE("balancing-agrees", balancing_agrees),
	RULE("names-agree", names_agree),
	RULE("values-are-safe", values_are_safe),
	RULE("nodes-work-with-values", nodes_work_with_values),
	RULE_OF_WHOLE("others-agree", others_agree),
	NO_MORE_RULES,
};

const struct section section_sysctl = {
	.name = "sysctl",
	.spec = &keys,
	.help = "Sysctls, by keys as in sysctl.d(5); patterns are accepted.",
	.class = KEY_SETS,
	.differs = FAULT_KERNEL_SYSCTL_DIFFERS,
	.failed = FAULT_KERNEL_SYSCTL_FAILED,
	.rules = rules,
	.emit = emit,
};
