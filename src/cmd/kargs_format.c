/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kargs --format: the kernel arguments of a profile, for builders of images for other machines.
 * Needs no boot loader and no privilege. Prints all arguments or none, because an image with a part
 * of them is worse than one without.
 */
#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd/cmd.h"

/* A profile and where its facts come from. */
struct source {
	struct run run; /* without --profile; owns profile and node */
	bool have_run;
	struct profile *loaded; /* with --profile */
	struct node surveyed;
	const struct profile *profile;
	const struct node *node; /* NULL: the node that the profile expects */
};

static void source_close(struct source *s)
{
	if (s->have_run)
		run_close(&s->run);
	profile_free(s->loaded);
	node_free(&s->surveyed);
}

/* Uses this machine only if the profile matches it. */
static int source_given(struct invocation *inv, struct source *s)
{
	struct profile *on_node = NULL;
	struct err err = {0};

	if (!load_named(inv, inv->profile, NULL, &s->loaded))
		return EXIT_INVALID;
	if (node_survey(&inv->root, &s->surveyed, &err) < 0)
		return fail(EXIT_INTERNAL, "%s", err.text);
	s->profile = s->loaded;
	if (!profile_fits(s->profile, &s->surveyed)) {
		fprintf(stderr,
			"note: %s is not for this machine; the arguments follow from expect: of "
			"the profile\n",
			s->profile->name);
		return EXIT_OK;
	}
	/* loaded again, for drop-ins with a match, and for errors on this machine */
	if (!load_named(inv, inv->profile, &s->surveyed, &on_node))
		return EXIT_INVALID;
	profile_free(s->loaded);
	s->profile = s->loaded = on_node;
	device_sets_prepare(&inv->root, &s->surveyed, s->profile->devices.v, s->profile->devices.n);
	s->node = &s->surveyed;
	return EXIT_OK;
}

static int source_open(struct invocation *inv, struct source *s)
{
	int code = EXIT_OK;

	if (inv->profile)
		return source_given(inv, s);
	if (!open_look(inv, NULL, &s->run, &code))
		return code;
	s->have_run = true;
	s->profile = s->run.profile;
	s->node = &s->run.node;
	return EXIT_OK;
}

static int print_source(const struct invocation *inv, const struct source *s,
			enum karg_format format)
{
	struct karg_heading heading = heading_of(s->profile);
	cleanup_strv struct strv unknown = {0};
	cleanup_kargs struct kargs wanted = {0};
	cleanup_str struct str text = {0};
	struct err err = {0};

	gather_kargs(&inv->root, s->node, s->profile, &wanted, &unknown);
	for (size_t i = 0; i < unknown.n; i++)
		complain_text(unknown.v[i]);
	if (unknown.n)
		return EXIT_INVALID;
	if (kargs_check(&wanted, &err) < 0 ||
	    kargs_format(&wanted, format, &heading, &text, &err) < 0)
		return fail(EXIT_INVALID, "%s: %s", s->profile->name, err.text);
	fputs(str_get(&text), stdout);
	return EXIT_OK;
}

int print_kargs_format(struct invocation *inv)
{
	cleanup(source_close) struct source source = {0};
	enum karg_format format;
	int code;

	if (karg_format_parse(inv->format, &format) < 0)
		return fail(EXIT_USAGE, "--format %s: unknown format; expected one of: %s",
			    inv->format, karg_format_names);
	if (inv->json || inv->reset || inv->mend)
		return fail(EXIT_USAGE, "kargs: --format and --%s exclude each other",
			    inv->json	 ? "json"
			    : inv->reset ? "reset"
					 : "mend");
	code = source_open(inv, &source);
	return code == EXIT_OK ? print_source(inv, &source, format) : code;
}
