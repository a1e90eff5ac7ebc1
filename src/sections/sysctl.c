/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysctl: values passed to the kernel verbatim, in document order. */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "kinds/kernel_file.h"
#include "node/node.h"
#include "profile/language.h"
#include "sections/kernel_line.h"
#include "sys/kernel_names.h"
#include "sys/sysctl_d.h"

#define SYSCTL_PART "([A-Za-z0-9_*?:@-]|\\[|\\])+"
static const struct spec sysctl_key = {
	.what = "a sysctl key such as net.core.rmem_max",
	.check = value_sysctl_key,
	.pattern = "^" SYSCTL_PART "([./]" SYSCTL_PART ")+$",
};
static const struct spec keys = {
	.kind = SPEC_MAP_OF,
	.any = "KEY",
	.what = "a map such as {net.core.rmem_max: 268435456}",
	.key = &sysctl_key,
	.item = &kernel_line,
};

/* --- changes ------------------------------------------------------------------------------ */

static int emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		struct err *err)
{
	size_t from = plan->list.n;

	(void)ctx;
	(void)err;
	for (size_t i = 0; i < section->keys.n; i++) {
		const struct ynode *key = section->keys.v[i];
		cleanup_free char *path = sysctl_file(key->text);

		kernel_line_emit("sysctl", PHASE_SYSCTL, key, section->items.v[i], path, plan);
	}
	plan_share_files(plan, from);
	return 0;
}

/* --- rules -------------------------------------------------------------------------------- */

static void sysctls_are_settings(struct ruling *r)
{
	const struct ynode *sysctl = section(r, "sysctl");

	for (size_t i = 0; i < count(sysctl, YAML_MAP); i++) {
		const struct ynode *n = sysctl->keys.v[i];
		cleanup_free char *path = sysctl_file(n->text);
		cleanup_free char *key = xasprintf("sysctl.%.80s", n->text);

		kernel_line_judge(r, "sysctl", n, sysctl->items.v[i], path);
		if (streq(path, "/proc/sys/net/ipv4/tcp_low_latency"))
			rule_warn(r, n, key,
				  "the kernel keeps this file for old scripts and ignores it; "
				  "leave it out");
	}
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

static void names_are_known(struct ruling *r)
{
	const struct ynode *sysctl = section(r, "sysctl");

	for (size_t i = 0; i < count(sysctl, YAML_MAP); i++) {
		const struct ynode *n = sysctl->keys.v[i];
		cleanup_free char *path = sysctl_path(n->text), *near = NULL, *hint = NULL;
		cleanup_free char *key = xasprintf("sysctl.%.80s", n->text);

		if (!is_one_path(path) || sysctl_known(path))
			continue;
		near = sysctl_near(path);
		hint = kernel_name_hint(near);
		rule_warn(r, n, key, "the kernel's documentation has no such sysctl; %s", hint);
	}
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

/* Whether the sysctl accepts words that are booleans elsewhere. */
static bool takes_switch_words(const char *path)
{
	return streq(path, "kernel/printk_devkmsg"); /* on, off, ratelimit */
}

static bool is_switch(const char *text)
{
	static const char *const words[] = {"on", "off", "yes", "no", "true", "false", NULL};

	return word_is_one_of(text, words);
}

static void values_are_numbers(struct ruling *r)
{
	const struct ynode *sysctl = section(r, "sysctl");

	for (size_t i = 0; i < count(sysctl, YAML_MAP); i++) {
		const struct ynode *n = sysctl->keys.v[i], *value = line_value(sysctl->items.v[i]);
		cleanup_free char *path = sysctl_path(n->text);
		cleanup_free char *key = xasprintf("sysctl.%.80s", n->text);
		uint64_t bytes;

		if (has_unit(scalar(value), &bytes))
			rule_warn(r, value, key,
				  "'%.40s': the kernel accepts no unit here; write %llu",
				  value->text, (unsigned long long)bytes);
		else if (is_switch(scalar(value)) && !takes_switch_words(path))
			rule_warn(r, value, key,
				  "'%.40s': the kernel accepts numbers here; write %d", value->text,
				  streq(value->text, "on") || streq(value->text, "yes") ||
					  streq(value->text, "true"));
	}
}

/* The last line of the file; or NULL. */
static const struct ynode *line_of(const struct ruling *r, const char *path)
{
	const struct ynode *sysctl = section(r, "sysctl"), *line = NULL;

	for (size_t i = 0; i < count(sysctl, YAML_MAP); i++) {
		cleanup_free char *have = sysctl_path(sysctl->keys.v[i]->text);

		if (streq(have, path))
			line = sysctl->items.v[i];
	}
	return line;
}

static void balancing_agrees(struct ruling *r)
{
	const struct ynode *arg = find_arg(r, "numa_balancing");
	const struct ynode *value = line_value(line_of(r, "kernel/numa_balancing"));

	if (arg && *scalar(value) &&
	    streq(arg_value(arg->text), "disable") != streq(value->text, "0"))
		kernel_line_differs(r, value, "sysctl.kernel.numa_balancing", arg);
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

/* The number that the profile sets the sysctl to, unless by force. */
static bool number_of(const struct ruling *r, const char *path, uint64_t *ret)
{
	const struct ynode *line = line_of(r, path);

	return line && !kernel_line_forced(line) && parse_u64(scalar(line_value(line)), ret) == 0;
}

static void reject(struct ruling *r, const char *path, const char *why)
{
	const struct ynode *value = line_value(line_of(r, path));
	cleanup_free char *key = xasprintf("sysctl.%s", path);

	for (char *p = key; *p; p++)
		*p = *p == '/' ? '.' : *p;
	rule_error(r, value, key, "%.40s: %s; " FORCE_REMEDY, value->text, why);
}

/*
 * Lower bounds: Documentation/admin-guide/sysctl/{kernel,vm}.rst of the kernel, and PID_MAX_DEFAULT
 * of include/linux/threads.h.
 */
static const struct {
	const char *path;
	uint64_t least;
	const char *why;
} least_values[] = {
	{"kernel/pid_max", 32768,
	 "fewer than the kernel's default of 32768 processes and threads, so that logins and "
	 "services of the node fail"},
	{"vm/min_free_kbytes", 1024, "the kernel deadlocks under load with less than 1024"},
};

/*
 * With overcommit_memory=2, no more memory can be allocated than overcommit_ratio percent, or
 * overcommit_kbytes, and swap; the default is 50 percent (mm/util.c, vm_commit_limit()).
 */
static void judge_overcommit(struct ruling *r)
{
	uint64_t mode, percent, kb, memory = memory_of(r);

	if (!number_of(r, "vm/overcommit_memory", &mode) || mode != 2)
		return;
	if (number_of(r, "vm/overcommit_kbytes", &kb) && kb) {
		if (kb < memory / 1024 / 2)
			reject(r, "vm/overcommit_kbytes",
			       "overcommit_memory=2 then allows programs less than half of the "
			       "memory, and PID 1 fails to start services");
	} else if (number_of(r, "vm/overcommit_ratio", &percent) && percent < 50) {
		reject(r, "vm/overcommit_ratio",
		       "overcommit_memory=2 then allows programs less than the kernel's default of "
		       "50 percent of the memory, and PID 1 fails to start services");
	}
}

static void nodes_work_with_values(struct ruling *r)
{
	uint64_t n, memory = memory_of(r);

	for (size_t i = 0; i < array_len(least_values); i++)
		if (number_of(r, least_values[i].path, &n) && n < least_values[i].least)
			reject(r, least_values[i].path, least_values[i].why);
	if (memory && number_of(r, "vm/min_free_kbytes", &n) && n > memory / 1024 / 4)
		reject(r, "vm/min_free_kbytes",
		       "more than a quarter of the memory, which the kernel then gives to no "
		       "program");
	judge_overcommit(r);
}

static const struct rule rules[] = {
	RULE("sysctls-are-settings", sysctls_are_settings),
	RULE("sysctls-are-said-once", sysctls_are_said_once),
	RULE("names-are-known", names_are_known),
	RULE("values-are-numbers", values_are_numbers),
	RULE("balancing-agrees", balancing_agrees),
	RULE("nodes-work-with-values", nodes_work_with_values),
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
