/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/workset.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "bench/pool.h"
#include "bench/facts.h"

#define SIZE_LEAST (64u << 20)

int workset_find(struct workset *w, int rootfd, const struct options *o, struct err *err)
{
	int r;

	w->node = (unsigned int)option_number(o, "node", 0);
	w->from = (unsigned int)option_number(o, "from", w->node);
	r = facts_node_cpus(rootfd, w->from, &w->cpus, err);
	if (r < 0)
		return r;
	if (cpus_count(&w->cpus) == 0)
		return err_set(err, -ENODEV,
			       "node %u has no CPUs: --from names the node whose CPUs measure",
			       w->from);
	w->all = w->cpus;
	w->cache = facts_last_level_cache(rootfd, &w->cpus);
	facts_one_per_core(rootfd, &w->cpus);
	return 0;
}

/*
 * Maps pages of the first size of the list that is available. If none is, returns the error of the
 * first size, because the profile prefers that size.
 */
static int map_first(struct workset *w, int rootfd, const struct options *o, size_t want,
		     struct err *err)
{
	cleanup_free char *list = xstrdup(option_text(o, "page", "1G"));
	char *rest = list, *word;
	struct err first = {0}, other;
	int r = -EINVAL;

	while ((word = strsep(&rest, ",")) != NULL) {
		uint64_t page = 0;

		parse_size(word, &page);
		r = membuf_map(&w->buf, rootfd, w->node, page, want, first.code ? &other : &first);
		if (r == 0)
			return 0;
	}
	*err = first;
	return first.code;
}

int workset_map(struct workset *w, int rootfd, const struct options *o, struct err *err)
{
	uint64_t want = 4 * w->cache > SIZE_LEAST ? 4 * w->cache : SIZE_LEAST;
	char page[24];
	int r;

	want = option_size(o, "size", want);
	r = map_first(w, rootfd, o, want, err);
	if (r < 0)
		return r;
	w->used = want < w->buf.len ? want : w->buf.len;
	if (option_text(o, "size", NULL) || w->used >= 2 * w->cache)
		return 0;
	return err_set(err, -ENOMEM,
		       "the free %s pages of node %u (%zu MiB) are less than twice the last-level "
		       "cache (%" PRIu64 " MiB)",
		       size_name(w->buf.page, page), w->node, w->used >> 20, w->cache >> 20);
}

void workset_watch(struct workset *w, int rootfd)
{
	w->rootfd = rootfd;
	disturb_look_at_time(&w->before, rootfd);
	w->own_before = clock_of(CLOCK_PROCESS_CPUTIME_ID);
}

static void report_others(struct workset *w, json_t *line)
{
	uint64_t own_ns = clock_of(CLOCK_PROCESS_CPUTIME_ID) - w->own_before;
	struct disturb after;
	struct others others;

	disturb_look_at_time(&after, w->rootfd);
	if (disturb_others(&w->before, &after, &w->all, own_ns, &others)) {
		json_object_set_new(line, "others_pct", json_real(others.pct));
		json_object_set_new(line, "steal_pct", json_real(others.steal_pct));
	}
	disturb_free(&after);
	disturb_free(&w->before);
}

void workset_report(struct workset *w, json_t *line)
{
	char page[24];

	json_object_set_new(line, "node", json_integer(w->node));
	json_object_set_new(line, "from", json_integer(w->from));
	json_object_set_new(line, "page", json_string(size_name(w->buf.page, page)));
	json_object_set_new(line, "size", json_integer((json_int_t)w->used));
	json_object_set_new(line, "last_level_cache", json_integer((json_int_t)w->cache));
	json_object_set_new(line, "touch_ms", json_integer((json_int_t)(w->touch_ns / 1000000)));
	report_others(w, line);
}

void workset_note(const struct workset *w, struct str *note)
{
	if (w->cache && w->used < 4 * w->cache)
		str_addf(note, "working set is %.1f times the last-level cache, not 4; ",
			 (double)w->used / (double)w->cache);
}
