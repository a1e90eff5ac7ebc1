/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diff: two profiles, two machines, a profile and a machine, or two boots. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "profile/search.h"
#include "report/facts.h"
#include "report/inventory.h"
#include "report/sides.h"
#include "report/text.h"

struct side_kind;

/* One of the two sides. */
struct side {
	const char *arg;
	const struct side_kind *kind;
	char *title;		 /* a description of the side */
	struct profile *profile; /* set for a profile */
	const struct root *root; /* set for a machine: the root of --root, or own */
	struct root own;
	struct scratch scratch;
	struct node node;
	bool surveyed;
	struct history history; /* set for a boot */
	struct boot_at at; /* its place in history; at.history is NULL unless the side is a boot */
	struct run run;	   /* has the sets by which lines are folded */
	bool ran;
	struct facts facts;
};

/*
 * A new kind of side is a row: the test of an argument, and the way to open it. open() sets the
 * title and a profile, a machine or a boot, and returns an exit code after printing any error.
 */
struct side_kind {
	const char *name;
	bool (*is)(const char *arg);
	int (*open)(struct invocation *inv, struct side *s);
};

/* --- machines --------------------------------------------------------------------------------- */

static int survey(struct side *s)
{
	struct err err = {0};

	if (node_survey(s->root, &s->node, &err) < 0)
		return fail(EXIT_INTERNAL, "%s", err.text);
	s->surveyed = true;
	node_read_part_numbers(s->root, &s->node);
	s->title = xasprintf("%s %s: %s %s, kernel %s", s->kind->name, s->arg,
			     node_dmi(&s->node, "sys_vendor"), node_dmi(&s->node, "product_name"),
			     *s->node.kernel ? s->node.kernel : "unknown");
	str_make_line(s->title);
	return EXIT_OK;
}

static bool is_node(const char *arg)
{
	return streq(arg, "node");
}

static int open_node(struct invocation *inv, struct side *s)
{
	s->root = &inv->root;
	if (!inv->root.live)
		s->arg = inv->root_path;
	return survey(s);
}

/* An archive, or a directory in the form of a path: "./tree", "tree/". */
static bool is_snapshot(const char *arg)
{
	struct stat st;

	if (str_ends(arg, ".yaml"))
		return false;
	if (stat(arg, &st) < 0)
		return str_ends(arg, ".tar") || str_ends(arg, "/");
	return S_ISREG(st.st_mode) || (S_ISDIR(st.st_mode) && strchr(arg, '/'));
}

static int open_snapshot(struct invocation *inv, struct side *s)
{
	struct err err = {0};
	int r = open_machine(s->arg, &s->own, &s->scratch, &err);

	(void)inv;
	if (r == 0)
		r = machine_check(&s->own, s->arg, &err);
	if (r < 0)
		return fail(r == -ELIBACC ? EXIT_INTERNAL : EXIT_USAGE, "%s", err.text);
	s->root = &s->own;
	return survey(s);
}

/* --- profiles --------------------------------------------------------------------------------- */

static bool is_profile(const char *arg)
{
	(void)arg;
	return true;
}

static int open_profile(struct invocation *inv, struct side *s)
{
	if (!load_named(inv, s->arg, NULL, &s->profile))
		return EXIT_INVALID;
	s->title = xasprintf("profile %s%s%s (%.12s, %s)", s->profile->name,
			     *s->profile->version ? " " : "", s->profile->version,
			     s->profile->digest, s->profile->file);
	return EXIT_OK;
}

/* --- boots ------------------------------------------------------------------------------------ */

enum { ID_LEAST = 4 }; /* characters; shorter words are numbers */

static bool is_boot(const char *arg)
{
	return streq(arg, "boot") || str_starts(arg, "boot:");
}

/* Compares an id as the kernel writes it, or as journalctl does, without dashes. */
static bool begins_id(const char *id, const char *asked)
{
	for (; *asked; asked++, id++) {
		asked += *asked == '-';
		id += *id == '-';
		if (!*asked || tolower((unsigned char)*asked) != *id)
			return !*asked;
	}
	return true;
}

/* The number of boots in the history whose id begins so; *ret is the last of them. */
static size_t find_ids(const struct history *h, const char *asked, size_t *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < h->boots.n; i++)
		if (begins_id(h->boots.v[i].boot_id, asked)) {
			*ret = i;
			n++;
		}
	return n;
}

/*
 * Counts as `journalctl -b` does: 0 is the latest, -1 the one before, 1 the first. SIZE_MAX: the
 * history has no such boot.
 */
static size_t find_number(const struct history *h, long number)
{
	size_t n = h->boots.n, steps = (size_t)labs(number);

	if (number > 0)
		return steps <= n ? steps - 1 : SIZE_MAX;
	return steps < n ? n - 1 - steps : SIZE_MAX;
}

static bool is_number(const char *asked, long *ret)
{
	char *end;

	if (strlen(asked + strspn(asked, "+-")) >= ID_LEAST)
		return false;
	*ret = strtol(asked, &end, 10);
	return end > asked && !*end;
}

static int no_boot(const struct side *s)
{
	cleanup_free char *said = str_printable(s->arg, UNKNOWN_MAX);

	if (!s->history.boots.n)
		complain("diff %s: no gate has ended here since railhead keeps a history "
			 "(" HISTORY_PATH ")",
			 said);
	else
		complain("diff %s: the history has no such boot; give boot:-%zu to boot:-0 "
			 "(`railhead history`), or at least the first %d characters of an id",
			 said, s->history.boots.n - 1, ID_LEAST);
	return EXIT_USAGE;
}

static int find_boot(struct side *s)
{
	const char *asked = streq(s->arg, "boot") ? "0" : s->arg + strlen("boot:");
	size_t n = 0, boot = SIZE_MAX;
	long number;

	if (is_number(asked, &number))
		boot = find_number(&s->history, number);
	else if (strlen(asked) >= ID_LEAST)
		n = find_ids(&s->history, asked, &boot);
	if (n > 1)
		return fail(EXIT_USAGE,
			    "diff %s: the ids of %zu boots begin with these characters; give more "
			    "characters",
			    s->arg, n);
	if (boot == SIZE_MAX)
		return no_boot(s);
	s->at = (struct boot_at){&s->history, boot};
	return EXIT_OK;
}

static int open_boot(struct invocation *inv, struct side *s)
{
	cleanup_free char *time = NULL;
	const struct boot_past *b;
	int code;

	if (!load_history(&inv->root, &s->history))
		return EXIT_INTERNAL;
	code = find_boot(s);
	if (code)
		return code;
	b = &s->history.boots.v[s->at.boot];
	time = history_time(&s->history, s->at.boot);
	s->title = xasprintf("boot %s: %s, %s, profile %s, kernel %s", b->boot_id, time,
			     verdict_name(b->verdict), *b->profile ? b->profile : "none",
			     *b->kernel ? b->kernel : "unknown");
	return EXIT_OK;
}

/* An argument belongs to the first row that fits. */
static const struct side_kind kinds[] = {
	{"node", is_node, open_node},
	{"boot", is_boot, open_boot},
	{"snapshot", is_snapshot, open_snapshot},
	{"profile", is_profile, open_profile},
};

static int side_open(struct invocation *inv, const char *arg, struct side *s)
{
	s->arg = arg;
	for (size_t i = 0; !s->kind; i++)
		if (kinds[i].is(arg))
			s->kind = &kinds[i];
	return s->kind->open(inv, s);
}

static void side_close(struct side *s)
{
	facts_free(&s->facts);
	run_close(&s->run);
	node_free(&s->node);
	profile_free(s->profile);
	root_close(&s->own);
	scratch_remove(&s->scratch);
	history_free(&s->history);
	free(s->title);
}

/* --- what is held against what ---------------------------------------------------------------- */

/* Looks at a machine by a profile; NULL: by the matching one. False: no profile can be planned. */
static bool look(struct invocation *inv, struct side *s, const char *profile)
{
	bool own = !profile && profile_dirs_exist(s->root);
	struct run_options opt = {.profile = profile,
				  .profiles = own ? s->root : profiles_root(inv),
				  .freeze = FREEZE_IGNORE};
	struct err err = {0};

	if (run_open(s->root, &opt, &s->run, &err) < 0) {
		complain("%s", err.text);
		return false;
	}
	s->ran = true;
	if (s->run.status != RUN_OK)
		return false;
	run_look(&s->run, STAGES_ALL, STAGE_COUNT);
	return true;
}

static int profile_and_machine(struct invocation *inv, struct side *profile, struct side *machine)
{
	if (!look(inv, machine, profile->arg))
		return machine->ran ? explain_run(&machine->run) : EXIT_INTERNAL;
	facts_of_wanted(&machine->run.plan, &profile->facts, &machine->facts);
	return EXIT_OK;
}

/* The settings of profiles are known only for machines that a profile matches. */
static void take_machine(struct invocation *inv, struct side *s)
{
	cleanup(inventory_free) struct inventory inventory;

	inventory_take(s->root, &s->node, &inventory);
	facts_of_machine(&s->node, &inventory, &s->facts);
	look(inv, s, inv->profile);
}

static int take_machines(struct invocation *inv, struct side *a, struct side *b)
{
	take_machine(inv, a);
	take_machine(inv, b);
	if (a->run.status == RUN_OK && b->run.status == RUN_OK && a->ran && b->ran) {
		facts_of_plan(&a->run.plan, &a->facts);
		facts_of_plan(&b->run.plan, &b->facts);
	} else if (!inv->json) {
		fprintf(stderr,
			"note: set values are not compared: %s; --profile names a profile\n",
			a->ran && a->run.status != RUN_OK ? a->run.why.text : b->run.why.text);
	}
	return EXIT_OK;
}

static int take_boots(struct side *a, struct side *b)
{
	if (!a->at.history || !b->at.history)
		return fail(EXIT_USAGE,
			    "diff: a boot can be compared with another boot only, and %s is not a "
			    "boot; `railhead diff boot:-1 boot` lists the differences from the "
			    "boot before",
			    a->at.history ? b->arg : a->arg);
	facts_of_boot(&a->at, &b->at, &a->facts);
	facts_of_boot(&b->at, &a->at, &b->facts);
	return EXIT_OK;
}

static int take_facts(struct invocation *inv, struct side *a, struct side *b)
{
	if (a->at.history || b->at.history)
		return take_boots(a, b);
	if (a->profile && b->profile) {
		facts_of_profile(a->profile, &a->facts);
		facts_of_profile(b->profile, &b->facts);
		return EXIT_OK;
	}
	if (!a->profile && !b->profile)
		return take_machines(inv, a, b);
	return a->profile ? profile_and_machine(inv, a, b) : profile_and_machine(inv, b, a);
}

/* --- output ----------------------------------------------------------------------------------- */

static const char *label_of(const struct difference *d)
{
	if (d->noise)
		return "noise";
	return d->a && d->b ? "differs" : d->a ? "only in A" : "only in B";
}

/* The places of a difference and, between two numbers, the change in percent. */
static char *both_places(const struct difference *d)
{
	const char *at[] = {d->a ? d->a->place : NULL, d->b ? d->b->place : NULL};
	struct str out = {0};

	for (size_t i = 0; i < array_len(at); i++) {
		cleanup_free char *place = at[i] ? text_place(at[i]) : NULL;

		if (place)
			str_addf(&out, "%s%s", out.len ? " " : "", place);
	}
	if (!isnan(d->percent))
		str_addf(&out, "%s%+.1f%%", out.len ? " " : "", d->percent);
	return out.len ? str_take(&out) : NULL;
}

static void print_differences(const struct side *a, const struct side *b,
			      const struct differences *all, const struct screen *screen)
{
	cleanup(record_sets_free) struct record_sets sets = {0};
	cleanup(sides_free) struct sides lines = {0};

	for (size_t i = 0; i < all->list.n; i++) {
		const struct difference *d = &all->list.v[i];

		vec_push(&lines.list,
			 ((struct side_line){label_of(d), d->key, d->a ? d->a->value : d->b->value,
					     d->a && d->b ? d->b->value : NULL, NULL,
					     both_places(d)}));
	}
	if (a->ran)
		record_sets_add(&sets, &a->run.sets);
	else if (b->ran)
		record_sets_add(&sets, &b->run.sets);
	lines.all_places = a->profile && b->profile;
	if (screen->terminal)
		sides_render(stdout, &lines, &sets, screen, SIZE_MAX);
	for (size_t i = 0; !screen->terminal && i < lines.list.n; i++) {
		struct side_line *line = &lines.list.v[i];

		line->reason = take_ptr(line->place);
		sides_print_whole(stdout, line);
	}
}

static void print_text(struct invocation *inv, const struct side *a, const struct side *b,
		       const struct differences *all)
{
	struct screen screen = begin_page(inv);

	text_labelled(stdout, &screen, "A:", 4, "%s", a->title);
	text_labelled(stdout, &screen, "B:", 4, "%s", b->title);
	print_differences(a, b, all, &screen);
	if (all->list.n > all->noise)
		printf("%zu of %zu differ\n", all->list.n - all->noise, all->compared);
	else
		printf("equal%s: all %zu\n", all->noise ? ", but for noise" : "", all->compared);
}

static json_t *side_json(const struct side *s)
{
	return json_pack("{s:s, s:o, s:o}", "kind", s->kind->name, "name", text_json(s->arg),
			 "title", text_json(s->title));
}

static json_t *difference_json(const struct difference *d)
{
	return json_pack("{s:o, s:o?, s:o?, s:o?, s:o?, s:o?, s:b}", "key", text_json(d->key), "a",
			 text_json(d->a ? d->a->value : NULL), "b",
			 text_json(d->b ? d->b->value : NULL), "a_origin",
			 text_json(d->a ? d->a->place : NULL), "b_origin",
			 text_json(d->b ? d->b->place : NULL), "percent",
			 isfinite(d->percent) ? json_real(d->percent) : NULL, "noise", d->noise);
}

static void print_all_json(const struct side *a, const struct side *b,
			   const struct differences *all)
{
	json_t *list = json_array();

	for (size_t i = 0; i < all->list.n; i++)
		json_array_append_new(list, difference_json(&all->list.v[i]));
	print_json(json_pack("{s:o, s:o, s:b, s:I, s:o}", "a", side_json(a), "b", side_json(b),
			     "equal", all->list.n == all->noise, "compared",
			     (json_int_t)all->compared, "differences", list));
}

/* --- the verb --------------------------------------------------------------------------------- */

static int compare(struct invocation *inv, struct side *a, struct side *b)
{
	const struct side *other = !a->surveyed ? a : !b->surveyed ? b : NULL;
	struct differences all;
	int code;

	if (inv->profile && other)
		return fail(EXIT_USAGE,
			    "diff: --profile selects the values to compare on two machines, but %s "
			    "is a %s; leave out --profile",
			    other->arg, other->kind->name);
	code = take_facts(inv, a, b);
	if (code)
		return code;
	facts_compare(&a->facts, &b->facts, &all);
	if (inv->json)
		print_all_json(a, b, &all);
	else
		print_text(inv, a, b, &all);
	code = all.list.n > all.noise ? EXIT_PENDING : EXIT_OK;
	vec_free(&all.list);
	return code;
}

static int run_diff(struct invocation *inv)
{
	cleanup(side_close) struct side a = {.own = {.fd = -1}}, b = a;
	int code = side_open(inv, inv->args[0], &a);

	if (code == EXIT_OK)
		code = side_open(inv, inv->args[1], &b);
	return code == EXIT_OK ? compare(inv, &a, &b) : code;
}

const struct verb verb_diff = {
	.name = "diff",
	.args = "SIDE SIDE",
	.help = "compare profiles, this node, snapshots and boots; exit 5 if they differ",
	.options = OPT_ROOT | OPT_JSON | OPT_PROFILE | OPT_SCREEN,
	.min_args = 2,
	.max_args = 2,
	.run = run_diff,
};
