/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysfs: values passed to the kernel verbatim, in document order. */
#include <fnmatch.h>
#include <string.h>

#include "base/mem.h"
#include "base/pattern.h"
#include "base/words.h"
#include "kinds/link.h"
#include "profile/language.h"
#include "profile/section.h"
#include "sections/kernel_line.h"
#include "sys/module.h"

static const struct spec path =
	TEXT("a path below /sys/ such as /sys/block/sda/queue/nr_requests",
	     "^/sys" PATH_PARTS("[!-,0-~-]", "[!-.0-~]") "$",
	     "write it from /sys/ on, without blanks, control characters, bytes beyond "
	     "ASCII, and empty, . and .. parts");
static const struct spec keys =
	MAP_OF("PATH", "a map of paths below /sys/ to values", path, kernel_line);

/* --- changes ------------------------------------------------------------------------------ */

static void emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan)
{
	size_t from = plan->list.n;

	(void)ctx;
	for (size_t i = 0; i < section->keys.n; i++)
		kernel_line_emit("sysfs", PHASE_SYSFS, section->keys.v[i], section->items.v[i],
				 section->keys.v[i]->text, plan);
	plan_share_files(plan, from);
}

/* --- rules: contradictions with other sections and arguments ------------------------------- */

static void sysfs_has_settings(struct ruling *r)
{
	const struct ynode *sysfs = section(r, "sysfs");

	for (size_t i = 0; i < count(sysfs, YAML_MAP); i++)
		if (str_starts(sysfs->keys.v[i]->text, "/"))
			kernel_line_judge(r, "sysfs", sysfs->keys.v[i], sysfs->items.v[i],
					  sysfs->keys.v[i]->text);
}

static void huge_pages_agree(struct ruling *r)
{
	const char *enabled = "/sys/kernel/mm/transparent_hugepage/enabled";
	const struct ynode *arg = find_arg(r, "transparent_hugepage");
	const struct ynode *value = line_value(ynode_get(section(r, "sysfs"), enabled));

	if (arg && *scalar(value) && !streq(arg_value(arg->text), value->text))
		kernel_line_differs(r, value, "sysfs", arg);
}

/* --- rules: the files of other sections' keys, on any node ---------------------------------- */

/*
 * Names that no line of a profile can contain, and that only "*" matches both. A pattern that
 * matches both matches any device, so its contradictions are known without a node.
 */
#define ANY_NAME "\x7f"
#define OTHER_NAME "ee\x7f"

/* A key of sets whose value appears in a file of the device's netdev or RDMA device. */
struct shown {
	const char *key, *file; /* file: below the netdev's directory */
	unsigned int scale;	/* as in struct link_item */
};

static bool file_equals(const struct ynode *value, const struct ynode *said, unsigned int scale)
{
	const char *file = value->text;
	uint64_t number, there;

	if (value->value.at_least)
		return ynode_number(said, &number) &&
		       number * (scale ?: 1) >= (uint64_t)value->value.number;

	if (said->value.type == VALUE_BOOL)
		return streq(file, said->value.number ? "1" : "0");
	if (scale && ynode_number(said, &number) && parse_u64(file, &there) == 0)
		return there == number * scale;
	return scale || streq(file, said->text);
}

/* The same file of a device with another name. The caller frees. */
static char *of_other(const char *file)
{
	struct str out = {0};

	for (const char *p = file; *p; p++)
		str_addf(&out, *p == *ANY_NAME ? OTHER_NAME : "%c", *p);
	return str_take(&out);
}

/*
 * Whether a pattern has a negated class, which only a node can evaluate: ANY_NAME stands for no
 * excluded name.
 */
static bool leaves_out(const char *pattern)
{
	return strstr(pattern, "[!") || strstr(pattern, "[^");
}

/* The line of sysfs that sets a file: the most specific one, the last of equals. */
static const struct ynode *line_of(const struct ruling *r, const char *file,
				   const struct ynode **ret_value)
{
	const struct ynode *sysfs = section(r, "sysfs"), *best = NULL;
	cleanup_free char *other = of_other(file);

	for (size_t i = 0; i < count(sysfs, YAML_MAP); i++) {
		const struct ynode *line = sysfs->keys.v[i];

		if (leaves_out(line->text) ||
		    fnmatch(line->text, file, FNM_PATHNAME | FNM_NOESCAPE) != 0 ||
		    fnmatch(line->text, other, FNM_PATHNAME | FNM_NOESCAPE) != 0 ||
		    (best && pattern_weight(line->text) < pattern_weight(best->text)))
			continue;
		best = line;
		*ret_value = line_value(sysfs->items.v[i]);
	}
	return best;
}

/* Whether a more specific line may set the file of some device, so that only a node can decide. */
static bool has_exception(const struct ruling *r, const struct ynode *line)
{
	const struct ynode *sysfs = section(r, "sysfs");
	const char *name = strrchr(line->text, '/') + 1;

	for (size_t i = 0; i < count(sysfs, YAML_MAP); i++) {
		const struct ynode *other = sysfs->keys.v[i];
		const char *its_name = strrchr(other->text, '/');

		if (other != line && its_name && patterns_meet(its_name + 1, name) &&
		    pattern_weight(other->text) >= pattern_weight(line->text))
			return true;
	}
	return false;
}

static void contradict(struct ruling *r, const struct ynode *line, const struct ynode *value,
		       const char *key, const struct ynode *other)
{
	cleanup_free char *at = xasprintf("sysfs.%.120s", line->text);

	rule_error(r, line, at,
		   "the value here is %.40s, and %.120s at %s sets the same file to %.40s; drop "
		   "one of the two",
		   scalar(value), key, seen(r, other), other->text);
}

/* Whether a narrower set has the key, so that only a node can decide. */
static bool narrower_has(const struct ruling *r, const struct selector *s, const char *key)
{
	size_t len = strcspn(key, ".");
	cleanup_free char *of = xstrndup(key, len);

	for (size_t i = 0; i < r->p->devices.n; i++) {
		const struct selector *other = &r->p->devices.v[i];

		if (other != s && set_is_within(r, other, s) &&
		    tree_get(ynode_get(section(r, of), other->name), key + len + 1))
			return true;
	}
	return false;
}

static bool may_be_empty(const struct ruling *r, const struct selector *s)
{
	bool may = !selector_least(s);

	for (; s && !may; s = find_set(r, s->in))
		may = s->expect == 0;
	return may;
}

static void judge_shown(struct ruling *r, const struct selector *s, const struct ynode *view,
			const struct shown *shown)
{
	const struct ynode *said = tree_get(view, shown->key), *value = NULL, *line;
	bool of_vfs = str_starts(shown->key, "sriov.");
	cleanup_free char *by_class = xasprintf("/sys/class/net/" ANY_NAME "/%s", shown->file);
	cleanup_free char *by_function =
		xasprintf("/sys/bus/pci/devices/%s/net/" ANY_NAME "/%s",
			  s->address && !pattern_is(s->address) && !of_vfs ? s->address : ANY_NAME,
			  shown->file);
	cleanup_free char *key = NULL;

	if (!*scalar(said) || narrower_has(r, s, shown->key))
		return;
	if (of_vfs && (narrower_has(r, s, "sriov.vfs") || is_zero(tree_get(view, "sriov.vfs"))))
		return; /* there may be no VF */
	line = line_of(r, by_class, &value);
	if (!line)
		line = line_of(r, by_function, &value);
	if (!line || !*scalar(value) || has_exception(r, line) ||
	    file_equals(value, said, shown->scale))
		return;
	key = set_key(r, s, view, shown->key);
	contradict(r, line, value, key, said);
}

static void judge_all_shown(struct ruling *r, const struct selector *s, const struct ynode *view)
{
	static const struct shown of_vfs = {"sriov.vf.mtu", "mtu", 0};
	const struct field *row = section_find("link")->spec->item->fields;

	if (may_be_empty(r, s))
		return;
	for (; row->item; row++) {
		const struct link_item *item = row->item;
		cleanup_free char *key = xasprintf("link.%s", row->name);
		struct shown shown = {key, item->file, item->scale};

		if (item->file)
			judge_shown(r, s, view, &shown);
	}
	judge_shown(r, s, view, &of_vfs);
}

static void sysfs_agrees_with_sets(struct ruling *r)
{
	static const struct set_rule rules[] = {{"sysfs-agrees-with-set", judge_all_shown},
						NO_MORE_SET_RULES};

	if (section(r, "sysfs"))
		rule_each_set(r, rules);
}

static void judge_option(struct ruling *r, const char *module, const struct ynode *param,
			 const struct ynode *said)
{
	cleanup_free char *key = xasprintf("modules.options.%.64s.%.64s", module, param->text);
	cleanup_free char *file = module_param_path(module, param->text);
	const struct ynode *value = NULL, *line = line_of(r, file, &value);

	if (line && *scalar(value) && *scalar(said) && !value->value.at_least &&
	    !streq(param_value(value->text), param_value(said->text)))
		contradict(r, line, value, key, said);
}

static void sysfs_agrees_with_options(struct ruling *r)
{
	const struct ynode *options = ynode_get(section(r, "modules"), "options");

	for (size_t i = 0; i < count(options, YAML_MAP); i++)
		for (size_t j = 0; j < count(options->items.v[i], YAML_MAP); j++)
			judge_option(r, options->keys.v[i]->text, options->items.v[i]->keys.v[j],
				     options->items.v[i]->items.v[j]);
}

static const struct rule rules[] = {
	RULE("sysfs-has-settings", sysfs_has_settings),
	RULE("huge-pages-agree", huge_pages_agree),
	RULE("sysfs-agrees-with-sets", sysfs_agrees_with_sets),
	RULE("sysfs-agrees-with-options", sysfs_agrees_with_options),
	NO_MORE_RULES,
};

const struct section section_sysfs = {
	.name = "sysfs",
	.spec = &keys,
	.help = "Files below /sys; patterns are accepted.",
	.class = KEY_SETS,
	.differs = FAULT_KERNEL_SYSFS_DIFFERS,
	.failed = FAULT_KERNEL_SYSFS_FAILED,
	.rules = rules,
	.emit = emit,
};
