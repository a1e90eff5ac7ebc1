/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/vfs.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* The object of a PF in the list; a new one at the end if there is none. */
static json_t *object_of(json_t *list, const char *pf)
{
	json_t *obj;
	size_t i;

	json_array_foreach(list, i, obj) if (streq(json_string_value(json_object_get(obj, "pf")),
						   pf)) return obj;
	obj = json_pack("{s:s, s:i, s:i, s:i}", "pf", pf, "vfs", 0, "bound", 0, "failed", 0);
	json_array_append_new(list, obj);
	return obj;
}

static json_int_t number(const json_t *obj, const char *key)
{
	return json_integer_value(json_object_get(obj, key));
}

static void set_number(json_t *obj, const char *key, json_int_t n)
{
	json_object_set_new(obj, key, json_integer(n));
}

static void add_numvfs(json_t *obj, const struct change *c)
{
	set_number(obj, "numvfs_usec", (json_int_t)c->duration);
	json_object_set_new(obj, "numvfs", json_string(state_name(c->state)));
}

static void add_bind(json_t *obj, const struct change *c)
{
	json_int_t usec = (json_int_t)c->duration;

	set_number(obj, "vfs", number(obj, "vfs") + 1);
	if (change_holds(c))
		set_number(obj, "bound", number(obj, "bound") + 1);
	else if (c->state == CHANGE_FAILED)
		set_number(obj, "failed", number(obj, "failed") + 1);
	if (c->state != CHANGE_SET)
		return;
	if (!json_object_get(obj, "bind_min_usec") || usec < number(obj, "bind_min_usec"))
		set_number(obj, "bind_min_usec", usec);
	if (usec > number(obj, "bind_max_usec"))
		set_number(obj, "bind_max_usec", usec);
}

static bool was_worked_on(const json_t *obj)
{
	return json_object_get(obj, "numvfs_usec") || json_object_get(obj, "bind_max_usec");
}

/* --- the time line --------------------------------------------------------------------------- */

/* Parts of the work of one PF. Those of its changes, by their phases, have two names where the
 * kernel's own part and the waiting behind it are told apart. */
static const struct {
	enum phase phase;
	const char *name, *behind; /* behind: from the last write on */
} parts[] = {
	{PHASE_LINK_UP, "link_up", NULL},      {PHASE_ESWITCH, "eswitch", NULL},
	{PHASE_NUMVFS, "numvfs", "vfs_seen"},  {PHASE_VF_ESWITCH, "eswitch", NULL},
	{PHASE_VF_ADDRESS, "addresses", NULL}, {PHASE_VF_DRIVER, "bind", "ready"},
	{PHASE_VF_LINK, "mtu", NULL},
};

struct span {
	uint64_t from, to; /* clock_usec(); to 0: nothing was done */
};

static void widen(struct span *span, uint64_t from, uint64_t to)
{
	if (!span->to || from < span->from)
		span->from = from;
	if (to > span->to)
		span->to = to;
}

static bool is_of(const struct change *c, const char *pf)
{
	return streq(c->section, "sriov") && c->started && str_starts(c->lane, pf);
}

static void add_part(json_t *line, const char *name, const struct span *span, uint64_t start)
{
	if (span->to)
		json_array_append_new(line, json_pack("{s:s, s:I, s:I}", "part", name, "from_usec",
						      (json_int_t)(span->from - start), "to_usec",
						      (json_int_t)(span->to - start)));
}

static void add_phase(json_t *line, const struct run *run, const char *pf, size_t part,
		      uint64_t start)
{
	struct span own = {0}, behind = {0};

	for (size_t i = 0; i < run->plan.list.n; i++) {
		const struct change *c = run->plan.list.v[i];
		uint64_t end = c->started + c->duration;
		uint64_t written = parts[part].behind && c->written ? c->started + c->written : end;

		if (c->phase != parts[part].phase || !is_of(c, pf))
			continue;
		widen(&own, c->started, written);
		if (written < end)
			widen(&behind, written, end);
	}
	add_part(line, parts[part].name, &own, start);
	if (parts[part].behind)
		add_part(line, parts[part].behind, &behind, start);
}

static json_t *timeline(const struct run *run, const char *pf, const struct stage_result *result)
{
	struct span last = {result->look_again, result->started + result->duration};
	json_t *line = json_array();

	for (size_t i = 0; i < array_len(parts); i++)
		add_phase(line, run, pf, i, result->started);
	if (result->look_again)
		add_part(line, "look_again", &last, result->started);
	return line;
}

json_t *vfs_to_json(const struct run *run, unsigned int stages, const struct stage_result *result)
{
	json_t *list = json_array();

	for (size_t i = 0; i < run->plan.list.n; i++) {
		const struct change *c = run->plan.list.v[i];

		if (c->kind != &kind_vf || !run_covers(c, stages, result->stage))
			continue;
		if (c->phase == PHASE_VF_DRIVER)
			add_bind(object_of(list, c->on.name), c);
		else if (c->phase == PHASE_NUMVFS && c->duration)
			add_numvfs(object_of(list, c->on.name), c);
	}
	for (size_t i = json_array_size(list); i-- > 0;) {
		json_t *obj = json_array_get(list, i);

		if (was_worked_on(obj))
			json_object_set_new(obj, "timeline",
					    timeline(run,
						     json_string_value(json_object_get(obj, "pf")),
						     result));
		else
			json_array_remove(list, i);
	}
	return list;
}

char *vfs_line(const json_t *vfs)
{
	const char *numvfs = json_string_value(json_object_get(vfs, "numvfs"));
	struct str line = {0};

	str_addf(&line, "%lld VFs", (long long)number(vfs, "vfs"));
	if (numvfs)
		str_addf(&line, "  numvfs %s%.2f s",
			 streq(numvfs, state_name(CHANGE_FAILED)) ? "failed after " : "",
			 (double)number(vfs, "numvfs_usec") / 1e6);
	if (json_object_get(vfs, "bind_max_usec"))
		str_addf(&line, "  bind %.2f..%.2f s", (double)number(vfs, "bind_min_usec") / 1e6,
			 (double)number(vfs, "bind_max_usec") / 1e6);
	if (number(vfs, "failed"))
		str_addf(&line, "  %lld failed", (long long)number(vfs, "failed"));
	return str_take(&line);
}
