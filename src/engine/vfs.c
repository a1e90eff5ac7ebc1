/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/vfs.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "plan/change.h"

static STORED_TABLE(part_stored, STORED(vfs_part, name, "part", STRING),
		    STORED(vfs_part, from, "from_usec", NUMBER),
		    STORED(vfs_part, to, "to_usec", NUMBER));

static STORED_TABLE(work_stored, STORED(vfs_work, pf, "pf", STRING),
		    STORED(vfs_work, vfs, "vfs", NUMBER), STORED(vfs_work, bound, "bound", NUMBER),
		    STORED(vfs_work, failed, "failed", NUMBER),
		    STORED(vfs_work, numvfs, "numvfs", ENUM, STATE_WORDS, .omit = true),
		    STORED(vfs_work, numvfs_time, "numvfs_usec", NUMBER, .omit = true),
		    STORED(vfs_work, bind_min, "bind_min_usec", NUMBER, .omit = true),
		    STORED(vfs_work, bind_max, "bind_max_usec", NUMBER, .omit = true),
		    STORED_ITEMS(vfs_work, timeline, "timeline", LIST, part_stored));

STORED_TABLE(vfs_works_stored, STORED_ITEMS(vfs_works, list, "", LIST, work_stored));

/* The work of a PF in the list; adds it at the end if it is missing. */
static struct vfs_work *work_of(struct vfs_works *works, const char *pf)
{
	for (size_t i = 0; i < works->list.n; i++)
		if (streq(works->list.v[i].pf, pf))
			return &works->list.v[i];
	vec_push(&works->list, (struct vfs_work){.pf = xstrdup(pf)});
	return &works->list.v[works->list.n - 1];
}

static void add_numvfs(struct vfs_work *work, const struct change *c)
{
	work->numvfs_time = c->duration;
	work->numvfs = c->now.state;
}

static void add_bind(struct vfs_work *work, const struct change *c)
{
	work->vfs++;
	work->bound += change_holds(c);
	work->failed += c->now.state == CHANGE_FAILED;
	if (c->now.state != CHANGE_SET)
		return;
	if (!work->bind_max || c->duration < work->bind_min)
		work->bind_min = c->duration;
	if (c->duration > work->bind_max)
		work->bind_max = c->duration;
}

static bool was_worked_on(const struct vfs_work *work)
{
	return work->numvfs != CHANGE_UNKNOWN || work->bind_max;
}

/* --- the time line --------------------------------------------------------------------------- */

/*
 * The parts of the work of one PF, by the phases of its changes. A part has two names if the
 * kernel's own work and the waiting after it are shown separately.
 */
static const struct {
	enum phase phase;
	const char *name, *behind; /* behind: the part after the last write */
} parts[] = {
	{PHASE_LINK_UP, "link_up", NULL},      {PHASE_ESWITCH, "eswitch", NULL},
	{PHASE_NUMVFS, "numvfs", "vfs_seen"},  {PHASE_VF_ESWITCH, "eswitch", NULL},
	{PHASE_VF_ADDRESS, "addresses", NULL}, {PHASE_VF_DRIVER, "bind", "ready"},
	{PHASE_VF_LINK, "mtu", NULL},
};

struct span {
	uint64_t from, to; /* clock_usec(); to 0: no work */
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

static void add_part(struct vfs_work *work, const char *name, const struct span *span,
		     uint64_t start)
{
	if (span->to)
		vec_push(&work->timeline,
			 ((struct vfs_part){xstrdup(name), span->from - start, span->to - start}));
}

static void add_phase(struct vfs_work *work, const struct run *run, size_t part, uint64_t start)
{
	struct span own = {0}, behind = {0};

	for (size_t i = 0; i < run->plan.list.n; i++) {
		const struct change *c = run->plan.list.v[i];
		uint64_t end = c->started + c->duration;
		uint64_t written = parts[part].behind && c->written ? c->started + c->written : end;

		if (c->phase != parts[part].phase || !is_of(c, work->pf))
			continue;
		widen(&own, c->started, written);
		if (written < end)
			widen(&behind, written, end);
	}
	add_part(work, parts[part].name, &own, start);
	if (parts[part].behind)
		add_part(work, parts[part].behind, &behind, start);
}

static void add_timeline(struct vfs_work *work, const struct run *run,
			 const struct stage_result *result)
{
	struct span last = {result->look_again, result->started + result->duration};

	for (size_t i = 0; i < array_len(parts); i++)
		add_phase(work, run, i, result->started);
	if (result->look_again)
		add_part(work, "look_again", &last, result->started);
}

void vfs_works_find(const struct run *run, unsigned int stages, const struct stage_result *result,
		    struct vfs_works *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < run->plan.list.n; i++) {
		const struct change *c = run->plan.list.v[i];

		if (c->kind != &kind_vf || !run_covers(c, stages, result->stage))
			continue;
		if (c->phase == PHASE_VF_DRIVER)
			add_bind(work_of(ret, c->on.name), c);
		else if (c->phase == PHASE_NUMVFS && c->duration)
			add_numvfs(work_of(ret, c->on.name), c);
	}
	for (size_t i = 0; i < ret->list.n; i++) {
		struct vfs_work *work = &ret->list.v[i];

		if (was_worked_on(work)) {
			add_timeline(work, run, result);
			ret->list.v[kept++] = *work;
		} else {
			stored_free(work_stored, work);
		}
	}
	ret->list.n = kept;
}

char *vfs_work_line(const struct vfs_work *work)
{
	struct str line = {0};

	str_addf(&line, "%u VFs", work->vfs);
	if (work->numvfs != CHANGE_UNKNOWN)
		str_addf(&line, "  numvfs %s%.2f s",
			 work->numvfs == CHANGE_FAILED ? "failed after " : "",
			 (double)work->numvfs_time / 1e6);
	if (work->bind_max)
		str_addf(&line, "  bind %.2f..%.2f s", (double)work->bind_min / 1e6,
			 (double)work->bind_max / 1e6);
	if (work->failed)
		str_addf(&line, "  %u failed", work->failed);
	return str_take(&line);
}
