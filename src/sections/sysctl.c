/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysctl: values passed to the kernel verbatim, in document order. */
#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
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
		cleanup_free char *below = sysctl_path(key->text);
		cleanup_free char *path = xasprintf("/proc/sys/%s", below);

		kernel_line_emit("sysctl", PHASE_SYSCTL, key, section->items.v[i], path, plan);
	}
	plan_share_files(plan, from);
	return 0;
}

/* --- rules -------------------------------------------------------------------------------- */

static const struct {
	const char *path, *why;
} owned_sysctls[] = {
	{"vm/drop_caches", "the file is a command, not a setting; leave it out"},
	{"vm/compact_memory", "the file is a command, not a setting; leave it out"},
	{"net/ipv4/route/flush", "the file is a command, not a setting; leave it out"},
	{"net/ipv6/route/flush", "the file is a command, not a setting; leave it out"},
	{"kernel/modules_disabled",
	 "stage early writes it, and the kernel then loads no further drivers; leave it out"},
	{"vm/nr_hugepages",
	 "the hugepages section sets page pools; write hugepages: [{size: 2M, per_node: 512}]"},
	{"vm/nr_hugepages_mempolicy",
	 "the hugepages section sets page pools; write hugepages: [{size: 2M, per_node: 512}]"},
};

static void sysctls_have_no_section(struct ruling *r)
{
	const struct ynode *sysctl = section(r, "sysctl");

	for (size_t i = 0; i < count(sysctl, YAML_MAP); i++) {
		const struct ynode *n = sysctl->keys.v[i];
		cleanup_free char *path = sysctl_path(n->text);
		cleanup_free char *key = xasprintf("sysctl.%.80s", n->text);

		for (size_t j = 0; j < array_len(owned_sysctls); j++)
			if (fnmatch(path, owned_sysctls[j].path, FNM_PATHNAME | FNM_NOESCAPE) == 0)
				rule_error(r, n, key, "%s", owned_sysctls[j].why);
		if (streq(path, "net/ipv4/tcp_low_latency"))
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

static const struct ynode *sysctl_value(const struct ruling *r, const char *path)
{
	const struct ynode *sysctl = section(r, "sysctl");

	for (size_t i = 0; i < count(sysctl, YAML_MAP); i++) {
		cleanup_free char *have = sysctl_path(sysctl->keys.v[i]->text);

		if (streq(have, path))
			return line_value(sysctl->items.v[i]);
	}
	return NULL;
}

static void balancing_agrees(struct ruling *r)
{
	const struct ynode *arg = find_arg(r, "numa_balancing");
	const struct ynode *value = sysctl_value(r, "kernel/numa_balancing");

	if (arg && *scalar(value) &&
	    streq(arg_value(arg->text), "disable") != streq(value->text, "0"))
		kernel_line_differs(r, value, "sysctl.kernel.numa_balancing", arg);
}

static const struct rule rules[] = {
	RULE("sysctls-have-no-section", sysctls_have_no_section),
	RULE("sysctls-are-said-once", sysctls_are_said_once),
	RULE("names-are-known", names_are_known),
	RULE("values-are-numbers", values_are_numbers),
	RULE("balancing-agrees", balancing_agrees),
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
