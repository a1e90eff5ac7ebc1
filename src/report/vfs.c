/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/vfs.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* The object of a PF in the list; a new one at the end if there is none. */
static json_t *object_of(json_t *list, const char *target)
{
	cleanup_free char *pf = xstrndup(target, strcspn(target, "/"));
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

json_t *vfs_to_json(const struct run *run, unsigned int stages, enum stage stage)
{
	json_t *list = json_array();

	for (size_t i = 0; i < run->plan.list.n; i++) {
		const struct change *c = run->plan.list.v[i];

		if (c->kind != KIND_VF || !run_covers(c, stages, stage))
			continue;
		if (str_starts(c->target, "driver:"))
			add_bind(object_of(list, c->target + strlen("driver:")), c);
		else if (str_starts(c->target, "numvfs:") && c->duration)
			add_numvfs(object_of(list, c->target + strlen("numvfs:")), c);
	}
	for (size_t i = json_array_size(list); i-- > 0;)
		if (!was_worked_on(json_array_get(list, i)))
			json_array_remove(list, i);
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
