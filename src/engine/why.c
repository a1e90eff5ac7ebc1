/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/why.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/pci_address.h"
#include "base/str.h"
#include "engine/history.h"
#include "plan/change.h"
#include "plan/render.h"
#include "profile/rows.h"
#include "profile/yaml.h"
#include "sections/sections.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

/* --- which changes and lines are asked about -------------------------------------------------- */

struct search {
	const struct run *run;
	const struct record *record;
	const char *asked;
	bool *chosen; /* one for each change of the plan */
	struct why *why;
};

static bool choose(struct search *s, bool (*is)(const struct change *c, const void *arg),
		   const void *arg)
{
	bool any = false;

	for (size_t i = 0; i < s->run->plan.list.n; i++)
		if (is(s->run->plan.list.v[i], arg))
			any = s->chosen[i] = true;
	return any;
}

/* Matches an id or the beginning of an id: "sriov/0000:18:00.0". */
static bool has_id(const struct change *c, const void *arg)
{
	const char *asked = arg;
	size_t len = strlen(asked);

	while (len && asked[len - 1] == '/')
		len--;
	return len && strncmp(c->id, asked, len) == 0 && (!c->id[len] || c->id[len] == '/');
}

static struct why_key *key_for(struct why *why, const char *path)
{
	struct why_key key = {0};

	for (size_t i = 0; i < why->keys.n; i++)
		if (streq(why->keys.v[i].path, path))
			return &why->keys.v[i];
	key.path = xstrdup(path);
	key.line = profile_lines_find(&why->lines, path);
	vec_push(&why->keys, key);
	return &why->keys.v[why->keys.n - 1];
}

/*
 * Chooses the changes of a line and of the lines below it; a line without changes is an answer too.
 */
static void choose_line(struct search *s, const char *top)
{
	bool any = false;

	for (size_t i = 0; i < s->run->plan.list.n; i++) {
		const struct change *c = s->run->plan.list.v[i];
		const struct profile_line *line =
			profile_lines_at(&s->why->lines, c->origin, c->id);

		if (line && profile_path_is_below(line->path, top))
			any = s->chosen[i] = true;
	}
	if (!any)
		key_for(s->why, top);
}

static bool is_deleted(const struct profile *p, const char *path)
{
	for (size_t i = 0; i < p->shadows.list.n; i++)
		if (p->shadows.list.v[i].deleted && streq(p->shadows.list.v[i].key, path))
			return true;
	return false;
}

static bool find_key(struct search *s)
{
	cleanup_free char *path = xstrdup(s->asked);
	size_t len = strlen(path);

	if (len && path[len - 1] == '+')
		path[len - 1] = '\0';
	if (!profile_lines_find(&s->why->lines, path) && !is_deleted(s->run->profile, path))
		return false;
	choose_line(s, path);
	return true;
}

/* Finds the kernel's names: "vm.swappiness", "/proc/sys/vm/swappiness", "/sys/...". */
static bool find_kernel_name(struct search *s)
{
	static const char proc[] = "/proc/sys/";
	bool is_proc = str_starts(s->asked, proc);
	cleanup_free char *path =
		xasprintf("%s.%s", *s->asked == '/' && !is_proc ? "sysfs" : "sysctl",
			  s->asked + (is_proc ? strlen(proc) : 0));

	for (char *p = is_proc ? path : path + strlen(path); *p; p++)
		*p = *p == '/' ? '.' : *p;
	if (!profile_lines_find(&s->why->lines, path))
		return false;
	choose_line(s, path);
	return true;
}

static size_t count_dots(const char *path)
{
	size_t n = 0;

	for (; *path; path++)
		n += *path == '.';
	return n;
}

/*
 * "link.SET.mtu" and "link.mtu" mean every set. "link.railss.mtu" means one set, which is misspelt.
 */
static bool is_of_every_set(const struct row *row, const char *asked)
{
	return streq(row->path, asked) || count_dots(asked) < count_dots(row->path);
}

static bool find_row(struct search *s)
{
	struct rows rows = {0};
	const struct row *row;
	bool any = false;

	rows_of(schema_profile(), &rows);
	row = rows_find(&rows, s->asked);
	if (row && !is_of_every_set(row, s->asked))
		row = NULL;
	for (size_t i = 0; row && i < s->why->lines.list.n; i++) {
		const char *path = s->why->lines.list.v[i].path;

		if (rows_find(&rows, path) != row)
			continue;
		choose_line(s, path);
		any = true;
	}
	rows_free(&rows);
	return any;
}

/* --- devices ---------------------------------------------------------------------------------- */

/* A function; for a VF also its PF and number, as in ids. */
struct device {
	char addr[PCI_ADDR_MAX];
	char *vf; /* "0000:18:00.0/vf3/"; or NULL */
};

static bool is_of_device(const struct change *c, const void *arg)
{
	const struct device *d = arg;
	size_t len = strlen(d->addr);

	for (const char *p = c->id; (p = strstr(p, d->addr)); p += len)
		if (p > c->id && p[-1] == '/' && (!p[len] || p[len] == '/'))
			return true;
	return d->vf && strstr(c->id, d->vf);
}

/* The number of a VF by its PF's links; -1: no link leads to the function. */
static int vf_number(const struct run *run, const struct pci_fn *fn)
{
	const struct pci_fn *pf = node_find(&run->node, fn->physfn);

	for (unsigned int i = 0; pf && i < pf->totalvfs; i++) {
		cleanup_free char *addr = NULL;

		if (read_link_name(run->root, &addr, NULL, DEV "%s/virtfn%u", pf->addr, i) == 0 &&
		    streq(addr, fn->addr))
			return (int)i;
	}
	return -1;
}

static bool choose_device(struct search *s, const struct pci_fn *fn)
{
	struct device d = {0};
	int vf = *fn->physfn ? vf_number(s->run, fn) : -1;
	bool any;

	strcpy(d.addr, fn->addr);
	if (vf >= 0)
		d.vf = xasprintf("%s/vf%d/", fn->physfn, vf);
	any = choose(s, is_of_device, &d);
	free(d.vf);
	return any;
}

static bool has_name(const struct pci_fn *fn, const char *name)
{
	return strcasecmp(fn->addr, name) == 0 || strv_contains(&fn->net, name) ||
	       strv_contains(&fn->ibdevs, name) ||
	       (str_starts(fn->addr, "0000:") && strcasecmp(fn->addr + strlen("0000:"), name) == 0);
}

static const struct pci_fn *function_named(const struct node *node, const char *name)
{
	const struct pci_functions *functions = node_functions(node);

	for (size_t i = 0; i < functions->n; i++)
		if (has_name(&functions->v[i], name))
			return &functions->v[i];
	return NULL;
}

static void add_sets(const struct run *run, const struct pci_fn *fn, struct str *out)
{
	const char *addr = *fn->physfn ? fn->physfn : fn->addr;
	size_t n = 0;

	for (size_t i = 0; i < run->sets.set.n; i++)
		for (size_t j = 0; j < run->sets.set.v[i].fn.n; j++)
			if (streq(run->sets.set.v[i].fn.v[j]->addr, addr))
				str_addf(out, "%s%s",
					 n++	       ? ", "
					 : *fn->physfn ? ", PF in "
						       : ", in ",
					 run->sets.set.v[i].sel->name);
	if (!n)
		str_add(out, ", in no device set of the profile");
}

/* "0000:18:00.0: 15b3:1021, mlx5_core, enp24s0, in rails" */
static char *describe_device(const struct run *run, const struct pci_fn *fn)
{
	struct str out = {0};

	str_addf(&out, "%s: %04x:%04x, %s", fn->addr, fn->vendor, fn->device,
		 fn->driver ? fn->driver : "no driver");
	for (size_t i = 0; i < fn->net.n; i++)
		str_addf(&out, ", %s", fn->net.v[i]);
	for (size_t i = 0; i < fn->ibdevs.n; i++)
		str_addf(&out, ", %s", fn->ibdevs.v[i]);
	if (*fn->physfn)
		str_addf(&out, ", VF %d of %s", vf_number(run, fn), fn->physfn);
	add_sets(run, fn, &out);
	return str_take(&out);
}

static char *describe_set(const struct device_set *set)
{
	cleanup_strv struct strv members = {0};
	cleanup_free char *list = NULL;

	for (size_t i = 0; i < set->fn.n; i++)
		strv_add(&members, set->fn.v[i]->addr);
	list = strv_some(&members, 4);
	return xasprintf("device set %s: %s", set->sel->name, set->fn.n ? list : "no members");
}

/* A function that an earlier boot had. */
static bool find_missing(struct search *s)
{
	struct missing *m = &s->why->missing;
	cleanup_free char *text = NULL;

	if (!history_had(s->run, s->asked, m))
		return false;
	text = missing_text(m);
	s->why->about = xasprintf("%s: %s, not on the bus: %s", m->addr, m->model, text);
	for (size_t i = 0; i < m->ids.n; i++)
		choose(s, has_id, m->ids.v[i]);
	return true;
}

static bool find_device(struct search *s)
{
	const struct pci_fn *fn = function_named(&s->run->node, s->asked);
	const struct device_set *set = device_sets_find(&s->run->sets, s->asked);

	if (fn) {
		s->why->about = describe_device(s->run, fn);
		choose_device(s, fn);
		return true;
	}
	if (!set)
		return find_missing(s);
	s->why->about = describe_set(set);
	for (size_t i = 0; i < set->fn.n; i++)
		choose_device(s, set->fn.v[i]);
	for (size_t i = 0; i < s->why->lines.list.n; i++) {
		const struct profile_line *line = &s->why->lines.list.v[i];

		if (line->key && streq(line->key->text, s->asked))
			choose_line(s, line->path);
	}
	return true;
}

/* --- kernel arguments ------------------------------------------------------------------------- */

static bool is_argument(const struct change *c, const void *arg)
{
	static const char arrived[] = "kernel_args/arrived/";

	return str_starts(c->id, arrived) && karg_same_key(c->id + strlen(arrived), arg);
}

static bool find_argument(struct search *s)
{
	return choose(s, is_argument, s->asked);
}

static bool find_id(struct search *s)
{
	return choose(s, has_id, s->asked);
}

/* --- the answer ------------------------------------------------------------------------------- */

static const struct record_change *find_recorded(const struct record_stage *stage, const char *id)
{
	for (size_t i = 0; i < stage->changes.n; i++)
		if (streq(stage->changes.v[i].now.id, id))
			return &stage->changes.v[i];
	return NULL;
}

/*
 * The record of the change in its own stage, which set it. A later stage has only looked at it, or
 * done the work that its stage left or could not do.
 */
static void find_record(const struct record *r, struct why_change *ret)
{
	ret->in = ret->change->stage;
	ret->then = find_recorded(&r->stage[ret->in], ret->change->id);
	for (enum stage s = STAGE_COUNT; s-- > 0;) {
		const struct record_change *other = find_recorded(&r->stage[s], ret->change->id);
		bool mended = other && ret->then && ret->then->now.state == CHANGE_FAILED &&
			      other->now.state == CHANGE_SET;

		if (!other || (ret->then && !mended))
			continue;
		ret->then = other;
		ret->in = s;
	}
}

static const struct measurement *measured(const struct record *r, const struct change *c)
{
	for (size_t i = 0; i < r->measurements.list.n; i++)
		if (streq(r->measurements.list.v[i].id, c->id))
			return &r->measurements.list.v[i];
	return NULL;
}

static void add_changes(struct search *s)
{
	cleanup(writer_files_free) struct writer_files files = {0};

	for (size_t i = 0; i < s->run->plan.list.n; i++) {
		const struct change *c = s->run->plan.list.v[i];
		const struct profile_line *line =
			profile_lines_at(&s->why->lines, c->origin, c->id);
		struct why_change change = {.change = c, .measured = measured(s->record, c)};

		if (!s->chosen[i])
			continue;
		if (!files.root)
			writer_files_read(s->run->root, &files);
		find_record(s->record, &change);
		writers_find(&files, c, &change.others);
		vec_push(&key_for(s->why, line ? line->path : c->section)->changes, change);
	}
}

/* Adds shadows of the key itself, or of a map that contained it. */
static void add_shadows(const struct search *s)
{
	const struct shadows *all = &s->run->profile->shadows;

	for (size_t k = 0; k < s->why->keys.n; k++)
		for (size_t i = 0; i < all->list.n; i++)
			if (profile_path_is_below(s->why->keys.v[k].path, all->list.v[i].key))
				vec_push(&s->why->keys.v[k].shadows, &all->list.v[i]);
}

static size_t order_of(const struct why *why, const struct why_key *key)
{
	return key->line ? (size_t)(key->line - why->lines.list.v) : why->lines.list.n;
}

static void sort_keys(struct why *why)
{
	for (size_t i = 1; i < why->keys.n; i++)
		for (size_t j = i;
		     j && order_of(why, &why->keys.v[j]) < order_of(why, &why->keys.v[j - 1]);
		     j--) {
			struct why_key key = why->keys.v[j];

			why->keys.v[j] = why->keys.v[j - 1];
			why->keys.v[j - 1] = key;
		}
}

/* --- what may be meant ------------------------------------------------------------------------ */

/* name: to be asked for instead, where word is near. */
static void take_near_word(struct search *s, const char *word, const char *name, size_t *best)
{
	size_t before = *best;

	if (!str_is_near(s->asked, word, best))
		return;
	if (*best < before)
		strv_free(&s->why->near);
	if (!strv_contains(&s->why->near, name))
		strv_add(&s->why->near, name);
}

static void take_near(struct search *s, const char *name, size_t *best)
{
	take_near_word(s, name, name, best);
}

/* By each end of a key or an id, without the value of an argument: "vm.swappiness", "swappiness".
 */
static void take_near_end(struct search *s, const char *name, size_t *best)
{
	cleanup_free char *end = xstrndup(name, strcspn(name, "="));

	for (char *p = end; (p = strpbrk(p, "./")); p++)
		take_near_word(s, p + 1, name, best);
}

static void find_near_end(struct search *s)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < s->why->lines.list.n; i++)
		take_near_end(s, s->why->lines.list.v[i].path, &best);
	for (size_t i = 0; i < s->run->plan.list.n; i++)
		take_near_end(s, s->run->plan.list.v[i]->id, &best);
}

static void find_near(struct search *s)
{
	const struct run *run = s->run;
	const struct pci_functions *functions = node_functions(&run->node);
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < s->why->lines.list.n; i++)
		take_near(s, s->why->lines.list.v[i].path, &best);
	for (size_t i = 0; i < run->plan.list.n; i++) {
		const struct change *c = run->plan.list.v[i];

		take_near(s, c->id, &best);
		take_near_word(s, or_empty(c->target), c->id, &best);
	}
	for (size_t i = 0; i < run->sets.set.n; i++)
		take_near(s, run->sets.set.v[i].sel->name, &best);
	for (size_t i = 0; i < functions->n; i++) {
		const struct pci_fn *fn = &functions->v[i];

		take_near(s, fn->addr, &best);
		take_near_word(s, strchr(fn->addr, ':') + 1, fn->addr, &best);
		for (size_t j = 0; j < fn->net.n; j++)
			take_near(s, fn->net.v[j], &best);
		for (size_t j = 0; j < fn->ibdevs.n; j++)
			take_near(s, fn->ibdevs.v[j], &best);
	}
	/* only the last word: */
	for (size_t i = 0; !s->why->near.n && i < s->why->lines.list.n; i++) {
		const char *path = s->why->lines.list.v[i].path, *dot = strrchr(path, '.');

		if (dot && streq(dot + 1, s->asked))
			strv_add(&s->why->near, path);
	}
	if (!s->why->near.n)
		find_near_end(s);
}

bool why_ask(const struct run *run, const struct record *record, const char *asked, struct why *ret)
{
	static bool (*const ways[])(struct search *) = {
		find_id, find_key, find_device, find_kernel_name, find_argument, find_row,
	};
	struct search s = {run, record, asked, xcalloc(run->plan.list.n + 1, sizeof(bool)), ret};
	bool found = false;

	*ret = (struct why){0};
	profile_lines_of(run->profile, &ret->lines);
	for (size_t i = 0; *asked && !found && i < array_len(ways); i++)
		found = ways[i](&s);
	if (found) {
		add_changes(&s);
		add_shadows(&s);
		sort_keys(ret);
	} else {
		find_near(&s);
	}
	free(s.chosen);
	return found;
}

void why_free(struct why *why)
{
	for (size_t i = 0; i < why->keys.n; i++) {
		struct why_key *key = &why->keys.v[i];

		for (size_t j = 0; j < key->changes.n; j++)
			writers_free(&key->changes.v[j].others);
		vec_free(&key->changes);
		vec_free(&key->shadows);
		free(key->path);
	}
	vec_free(&why->keys);
	strv_free(&why->near);
	free(why->about);
	stored_free(missing_stored, &why->missing);
	profile_lines_free(&why->lines);
}

/* --- what is wrong ---------------------------------------------------------------------------- */

bool why_drifted(const struct why_change *c)
{
	return c->then && c->change->kind->set && c->change->now.state == CHANGE_DIFFERS &&
	       (c->then->now.state == CHANGE_SAME || c->then->now.state == CHANGE_SET);
}

static bool is_wrong(const struct change *c)
{
	return !change_holds(c) && c->now.state != CHANGE_UNSUPPORTED &&
	       c->now.state != CHANGE_WAITS && c->now.state != CHANGE_TO_MEASURE;
}

char *why_remedy(const struct why_change *c)
{
	const struct writer *other = writers_in_force(&c->others, c->change);
	const struct finding *now = &c->change->now;
	bool refused = finding_was_refused(now);
	const char *own = refused ? now->tried.remedy : now->remedy;
	enum fault fault = fault_of_change(c->change);

	if (!is_wrong(c->change))
		return NULL;
	if (now->state == CHANGE_DIFFERS && c->change->kind->set && !own && !refused)
		return xasprintf("%s%s%s`railhead apply` sets it", other ? "change " : "",
				 other ? other->by : "",
				 other ? ", which otherwise sets the value again; " : "");
	if (own)
		return xasprintf("%s%s%s%s", other ? "change " : "", other ? other->by : "",
				 other ? "; " : "", own);
	if (!other)
		return fault ? xstrdup(fault_row(fault)->remedy) : NULL;
	return xasprintf("Change %s. %s", other->by, fault ? fault_row(fault)->remedy : "");
}
