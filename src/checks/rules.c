/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contradictions: the gate and its checks. */
#include <string.h>

#include "checks/check.h"
#include "checks/measurement.h"
#include "checks/section.h"
#include "profile/language.h"

static bool has_own(const struct check *k, const char *key)
{
	for (size_t i = 0; i < array_len(k->required); i++)
		if (k->required[i] && streq(k->required[i], key))
			return true;
	for (size_t i = 0; i < array_len(k->optional); i++)
		if (k->optional[i] && streq(k->optional[i], key))
			return true;
	return false;
}

static bool has_figure(const struct check *c)
{
	for (const struct figure_key *k = figure_keys; k->key; k++)
		if (has_own(c, k->key))
			return true;
	return false;
}

static bool takes(const struct check *k, const char *key)
{
	static const char *const common[] = {"run", "timeout", "on_fail", "optional", "on_drift"};

	for (size_t i = 0; i < array_len(common); i++)
		if (streq(common[i], key))
			return true;
	return has_own(k, key) ||
	       (has_figure(k) && (streq(key, "on_intermittent") || streq(key, "members")));
}

static char *keys_text(const struct check *k)
{
	struct str out = {0};

	for (size_t i = 0; i < array_len(k->required) && k->required[i]; i++)
		str_addf(&out, "%s, ", k->required[i]);
	for (size_t i = 0; i < array_len(k->optional) && k->optional[i]; i++)
		str_addf(&out, "%s, ", k->optional[i]);
	str_addf(&out, "timeout, optional, on_drift, on_fail%s",
		 has_figure(k) ? ", on_intermittent, members" : "");
	return str_take(&out);
}

/* "none, node or multinode" for a key that accepts only words; else "". */
static char *words_text(const char *key)
{
	const struct spec *all = spec_child(spec_child(schema_profile(), "gate"), "checks");
	const struct spec *spec = spec_child(spec_child(all, "any"), key);
	const char *word = spec && spec->check == value_word ? spec_word(spec, 0) : NULL;
	struct str out = {0};

	for (size_t i = 1; word; i++) {
		const char *next = spec_word(spec, i);

		str_addf(&out, "%s%s", i == 1 ? "" : next ? ", " : " or ", word);
		word = next;
	}
	return str_take(&out);
}

static void want_key(struct ruling *r, const struct ynode *check, const char *name, const char *key,
		     const char *run)
{
	cleanup_free char *path = xasprintf("%s.%s", name, key);
	cleanup_free char *words = words_text(key);

	if (!ynode_get(check, key))
		rule_error(r, check, path, "missing; %s requires it%s%s", run, *words ? ": " : "",
			   words);
}

static void judge_keys(struct ruling *r, const struct ynode *check, const char *name,
		       const struct check *k)
{
	const struct spec *all = spec_child(spec_child(schema_profile(), "gate"), "checks");
	const struct spec *spec = spec_child(all, "any");
	cleanup_free char *known = keys_text(k);

	for (size_t i = 0; i < array_len(k->required) && k->required[i]; i++)
		want_key(r, check, name, k->required[i], k->run);
	for (size_t i = 0; i < check->keys.n; i++) {
		const char *key = check->keys.v[i]->text;
		cleanup_free char *path = xasprintf("%s.%s", name, key);

		/* the schema has already rejected a key that no check knows */
		if (!takes(k, key) && spec_field(spec, key))
			rule_error(r, check->keys.v[i], path,
				   "%s has no such key; expected one of: %s", k->run, known);
	}
}

static const char *shares_of(const struct check *k)
{
	return k->shares ? k->shares : "";
}

/* A share of a ceiling that the device lacks. */
static void judge_share(struct ruling *r, const struct ynode *check, const char *name,
			const struct check *k)
{
	const struct ynode *min = ynode_get(check, "min");
	const char *share = strstr(scalar(min), "% of ");
	cleanup_free char *key = xasprintf("%s.min", name);

	if (!share || strstr(shares_of(k), share + strlen("% of ")))
		return;
	if (streq(k->run, "memory_bandwidth"))
		rule_error(r, min, key,
			   "memory has no line rate; write a rate such as 180GB/s, or a share of "
			   "the set of NUMA nodes");
	else if (k->shares)
		rule_error(r, min, key,
			   "%s has no line rate; write a rate, or a share of pcie or set", k->run);
	else
		rule_error(r, min, key, "%s cannot be a share; write a rate such as 5GB/s", k->run);
}

/* All members may be equally slow, so a comparison among them proves nothing by itself. */
static void judge_floor(struct ruling *r, const struct ynode *check, const char *name,
			const struct check *k)
{
	const struct ynode *min = ynode_get(check, "min"), *floor = ynode_get(check, "floor");
	bool of_set = strstr(scalar(min), "% of set");
	cleanup_free char *key = xasprintf("%s.%s", name, of_set ? "min" : "floor");

	if (!strstr(shares_of(k), "set"))
		return;
	if (of_set && !floor)
		rule_error(r, min, key,
			   "a share of the set passes if all its members are equally slow; write "
			   "floor: too, a rate that each member must reach");
	else if (floor && !of_set)
		rule_error(r, floor, key, "only with a min: that is a share of the set");
}

/* Pairs of near and far nodes do not form a set of equal members. */
static void judge_pairs(struct ruling *r, const struct ynode *check, const char *name)
{
	const struct ynode *min = ynode_get(check, "min");
	cleanup_free char *key = xasprintf("%s.min", name);

	if (strstr(scalar(min), "% of set") && text_is(check, "per", "node_pair"))
		rule_error(r, min, key,
			   "the rates of pairs of nodes differ with their distance; write a rate, "
			   "or per: node");
}

/* A member's threshold replaces a threshold for all members. */
static void judge_members(struct ruling *r, const struct ynode *check, const char *name,
			  const struct check *k)
{
	const struct ynode *members = has_figure(k) ? ynode_get(check, "members") : NULL;

	for (size_t i = 0; i < count(members, YAML_MAP); i++) {
		const struct ynode *own = members->items.v[i];

		for (size_t j = 0; j < count(own, YAML_MAP); j++) {
			const char *key = own->keys.v[j]->text;
			cleanup_free char *path = xasprintf("%s.members.%.64s.%s", name,
							    members->keys.v[i]->text, key);

			if (!ynode_get(check, key))
				rule_error(r, own->keys.v[j], path,
					   "the check itself has no %s, which this would replace",
					   key);
		}
	}
}

static void judge_speed(struct ruling *r, const struct ynode *check, const char *name,
			const struct check *k)
{
	const struct ynode *speed = ynode_get(check, "speed");
	bool gts = strstr(scalar(speed), "GT/s"), bits = strstr(scalar(speed), "b/s");
	cleanup_free char *key = xasprintf("%s.speed", name);

	if (gts && !streq(k->run, "pcie_link"))
		rule_error(r, speed, key, "the speed of a PCIe link; write a rate such as 400Gb/s");
	else if (bits && streq(k->run, "pcie_link"))
		rule_error(r, speed, key, "the speed of a port; write a PCIe speed such as 32GT/s");
}

/* Floors that no machine misses. */
static const struct {
	const char *run;
	enum value_type type;
	int64_t least; /* as value.number has it: bytes/s, or 0.1 GT/s */
	const char *why;
} floors[] = {
	{"carrier", VALUE_NUMBER, 125000000,
	 "ports of servers have 1Gb/s at least, so each passes; write the port's speed, such as "
	 "400Gb/s"},
	{"rdma_link", VALUE_NUMBER, 125000000,
	 "each RDMA port passes; write the speed of the port, such as 400Gb/s"},
	{"pcie_link", VALUE_GTS, 26,
	 "each PCIe link passes; write the speed of the device, such as 32GT/s"},
};

static void judge_lowness(struct ruling *r, const struct ynode *check, const char *name,
			  const struct check *k)
{
	const struct ynode *speed = ynode_get(check, "speed"), *min = ynode_get(check, "min");
	cleanup_free char *speed_key = xasprintf("%s.speed", name);
	cleanup_free char *min_key = xasprintf("%s.min", name);

	for (size_t i = 0; speed && i < array_len(floors); i++)
		if (streq(k->run, floors[i].run) && speed->value.type == floors[i].type &&
		    speed->value.number < floors[i].least)
			rule_warn(r, speed, speed_key, "%s", floors[i].why);
	if (streq(k->run, "memory_bandwidth") && str_ends(scalar(min), "b/s"))
		rule_warn(r, min, min_key,
			  "a rate in bits; rates of memory are in bytes, eight times as much: "
			  "write GB/s");
}

static void judge_timeout(struct ruling *r, const struct ynode *check, const char *name)
{
	const struct ynode *timeout = ynode_get(check, "timeout");
	const struct ynode *budget = ynode_get(section(r, "gate"), "budget");
	cleanup_free char *key = xasprintf("%s.timeout", name);
	uint64_t t = 0, b = GATE_BUDGET_S * 1000000ull;

	ynode_number(budget, &b);
	if (!ynode_number(timeout, &t) || t <= b)
		return;
	if (budget)
		rule_error(r, timeout, key, "longer than the budget of all checks, %.40s (at %s)",
			   budget->text, seen(r, budget));
	else if (r->p->name && !r->p->abstract) /* without a name, the profile may have one */
		rule_error(r, timeout, key,
			   "longer than the %ds that all checks have; write a gate.budget",
			   GATE_BUDGET_S);
}

static void judge_isolation(struct ruling *r, const struct ynode *check, const char *name)
{
	const struct ynode *cpus = ynode_get(check, "cpus"), *on = ynode_get(check, "on");
	const struct ynode *off = what_disables_iommu(r);
	cleanup_free char *cpus_key = xasprintf("%s.cpus", name);
	cleanup_free char *on_key = xasprintf("%s.on", name);

	/* if this is a drop-in alone, the profile may isolate CPUs */
	if (r->p->name && streq(scalar(cpus), "isolated") &&
	    !ynode_get(section(r, "kernel_args"), "isolate_cpus") && !find_arg(r, "isolcpus"))
		rule_error(r, cpus, cpus_key,
			   "no CPU is isolated; write kernel_args: {isolate_cpus: ...} or a list");
	else if (cpus)
		want_cpus(r, cpus, cpus_key, ynode_cpus(cpus));
	if (on && off && text_is(check, "run", "iommu_groups"))
		rule_error(r, on, on_key,
			   "without an IOMMU (disabled at %s) there are no groups; drop one of "
			   "the two",
			   seen(r, off));
}

/* VFs of a GPU belong to guests, and use the guest's driver. */
static void judge_whole_gpus(struct ruling *r, const struct ynode *check, const char *name)
{
	const struct ynode *on = ynode_get(check, "on");
	cleanup_free char *key = xasprintf("%s.on", name);
	bool vfs;

	set_name_in(scalar(on), &vfs);
	if (vfs && str_starts(ynode_text(check, "run", ""), "gpu"))
		rule_error(r, on, key, "GPUs are checked only as a whole; name the set itself");
}

static int vendor_of(const struct ruling *r, const char *set)
{
	const struct selector *s = find_set(r, set);

	/* sets that contain each other have their own error */
	for (size_t i = 0; s && s->vendor < 0 && i < r->p->devices.n; i++)
		s = r->wider[s - r->p->devices.v];
	return s ? s->vendor : -1;
}

static void judge_vendor(struct ruling *r, const struct ynode *check, const char *name,
			 const struct check *k)
{
	static const char *const keys[] = {"on", "with"};

	for (size_t i = 0; k->nvidia && i < array_len(keys); i++) {
		const struct ynode *set = ynode_get(check, keys[i]);
		cleanup_free char *key = xasprintf("%s.%s", name, keys[i]);

		if (vendor_of(r, scalar(set)) == VENDOR_AMD)
			rule_error(r, set, key,
				   "%s asks libraries of NVIDIA, and the set is of AMD; remove the "
				   "check, or write a command: of the site",
				   k->run);
	}
}

static void judge_user(struct ruling *r, const struct ynode *check, const char *name)
{
	cleanup_free char *key = xasprintf("%s.user", name);

	if (text_is(check, "user", "nobody"))
		rule_warn(r, ynode_get(check, "user"), key,
			  "other programs run as nobody, too, and can alter the result in the "
			  "memory of this one; leave user out, and no other process has its user");
}

/* check: the row of its run word, or NULL; name: its path. */
static void each_check(struct ruling *r, void (*judge)(struct ruling *r, const struct ynode *map,
						       const char *name, const struct check *check))
{
	const struct ynode *checks = ynode_get(section(r, "gate"), "checks");

	for (size_t i = 0; i < count(checks, YAML_MAP); i++) {
		const struct ynode *map = checks->items.v[i];
		cleanup_free char *name = xasprintf("gate.checks.%.64s", checks->keys.v[i]->text);

		if (map->kind == YAML_MAP)
			judge(r, map, name, check_find(ynode_text(map, "run", "")));
	}
}

static void judge_own_keys(struct ruling *r, const struct ynode *map, const char *name,
			   const struct check *check)
{
	if (check)
		judge_keys(r, map, name, check);
}

static void checks_have_their_keys(struct ruling *r)
{
	each_check(r, judge_own_keys);
}

static void judge_soundness(struct ruling *r, const struct ynode *map, const char *name,
			    const struct check *check)
{
	if (check) {
		judge_share(r, map, name, check);
		judge_floor(r, map, name, check);
		judge_pairs(r, map, name);
		judge_speed(r, map, name, check);
		judge_lowness(r, map, name, check);
		judge_vendor(r, map, name, check);
		judge_members(r, map, name, check);
	}
	judge_timeout(r, map, name);
	judge_isolation(r, map, name);
	judge_whole_gpus(r, map, name);
	judge_user(r, map, name);
}

static void checks_are_sound(struct ruling *r)
{
	each_check(r, judge_soundness);
}

const struct rule gate_rules[] = {
	RULE_OF_WHOLE("checks-have-their-keys", checks_have_their_keys),
	RULE("checks-are-sound", checks_are_sound),
	NO_MORE_RULES,
};
