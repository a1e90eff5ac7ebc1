/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about the match: of a profile. */
#include <string.h>

#include "profile/rules.h"
#include "profile/section.h"

/* An empty map or list is not a condition. */
static bool has_condition(const struct ynode *match)
{
	for (size_t i = 0; i < match->items.n; i++)
		if (match->items.v[i]->kind == YAML_SCALAR || match->items.v[i]->items.n)
			return true;
	return false;
}

static void match_is_there(struct ruling *r)
{
	const struct ynode *match = section(r, "match");

	if (r->p->abstract)
		return;
	/* an invalid abstract: is already reported; do not report it twice */
	if (!match && ynode_get(r->p->doc, "abstract") && !text_is(r->p->doc, "abstract", "false"))
		return;
	if (!match)
		rule_error(r, r->p->doc, "match",
			   "missing; write conditions for the machines of this profile, or "
			   "abstract: true for a base");
	else if (match->kind == YAML_MAP && !has_condition(match))
		rule_error(
			r, match, "match",
			"no condition, so every machine would match; write dmi: {sys_vendor: ...}");
}

/* Reports conditions that exclude each other. */
static void one_machine_is_meant(struct ruling *r)
{
	const struct ynode *match = section(r, "match");
	const struct ynode *arch = ynode_get(match, "arch"),
			   *vendor = ynode_get(match, "cpu_vendor");
	const struct ynode *expect = ynode_get(section(r, "expect"), "cpu_vendor");

	if (*scalar(vendor) && *scalar(expect) && !streq(vendor->text, expect->text))
		rule_error(r, expect, "expect.cpu_vendor",
			   "this profile matches CPUs of %.20s only (at %s), so this never holds",
			   vendor->text, seen(r, vendor));
	vendor = vendor ?: expect;
	if (*scalar(arch) && *scalar(vendor) &&
	    streq(arch->text, "aarch64") != streq(vendor->text, "arm"))
		rule_error(r, arch, "match.arch",
			   "no CPU of %.20s (at %s) is %.20s; drop one of the two", vendor->text,
			   seen(r, vendor), arch->text);
}

/*
 * Patterns are those of fnmatch(3) without FNM_EXTMATCH, so the alternatives of a shell's extglob
 * are plain text.
 */
static void patterns_are_plain(struct ruling *r)
{
	const struct ynode *dmi = ynode_get(section(r, "match"), "dmi");

	for (size_t i = 0; i < count(dmi, YAML_MAP); i++) {
		const char *text = scalar(dmi->items.v[i]), *bracket = strchr(text, '(');
		cleanup_free char *key = xasprintf("match.dmi.%.40s", dmi->keys.v[i]->text);

		if (bracket && bracket > text && strchr("@+!?*", bracket[-1]) &&
		    strchr(bracket, '|'))
			rule_warn(
				r, dmi->items.v[i], key,
				"patterns support only *, ? and [...], so brackets and | stand for "
				"themselves; write one pattern for all, or one profile for each");
	}
}

/* Sets without expect: are no demand. */
static bool asks(const char *name, const struct ynode *section)
{
	if (streq(name, "gate"))
		return count(ynode_get(section, "checks"), YAML_MAP);
	for (size_t i = 0; streq(name, "devices") && i < count(section, YAML_MAP); i++)
		if (ynode_get(section->items.v[i], "expect"))
			return true;
	return !streq(name, "devices") && section->items.n;
}

static void something_is_asked(struct ruling *r)
{
	if (r->p->abstract || r->diags->errors)
		return;
	for (const struct section *const *s = sections; *s; s++)
		if (section(r, (*s)->name) && asks((*s)->name, section(r, (*s)->name)))
			return;
	rule_warn(r, r->p->doc, "",
		  "no setting and no check, so no node with this profile becomes ready; write what "
		  "the node must have, such as expect: {cpu_sockets: 2}");
}

const struct rule rules_document[] = {
	RULE_OF_WHOLE("match-is-there", match_is_there),
	RULE_OF_WHOLE("something-is-asked", something_is_asked),
	RULE("one-machine-is-meant", one_machine_is_meant),
	RULE("patterns-are-plain", patterns_are_plain),
	NO_MORE_RULES,
};
