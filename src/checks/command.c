/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A site's own program: it has the deadline and the line of JSON of the gate's own benchmarks, only
 * the privileges that its check names, and the isolation of sys/isolation.h.
 */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "checks/probe.h"
#include "profile/schema.h"
#include "profile/section.h"
#include "profile/yaml.h"
#include "sys/isolation.h"
#include "sys/trust.h"

/* The program's resources are unknown, so nothing else is measured at the same time. */
static void take_everything(const struct section_ctx *ctx, struct probe *p)
{
	for (int n = cpus_next(&ctx->node->nodes, -1); n >= 0; n = cpus_next(&ctx->node->nodes, n))
		probe_resource(p, "node%d", n);
	for (size_t i = 0; ctx->sets && i < ctx->sets->set.n; i++)
		for (size_t j = 0; j < ctx->sets->set.v[i].fn.n; j++)
			probe_resource(p, "%s", ctx->sets->set.v[i].fn.v[j]->addr);
	probe_resource(p, PROBE_STORAGE);
}

/*
 * Characters that part a word into paths: NAME=/a:/b, -I/a, @/a, file:/a, or the words of
 * `env -S "sh /a"`.
 */
#define PARTING "=:,;@|&<>(){}[]'\"` \t\n"

/* Refuses a path by a link that each process resolves to another place: proc_pid_cwd(5). */
static int refuse_varying(const char *path, struct err *err)
{
	static const char *const links[] = {"*/proc/*/cwd/*", "*/proc/*/root/*", "*/proc/*/fd/*"};
	cleanup_free char *whole = xasprintf("/%s/", path);

	for (size_t i = 0; i < array_len(links); i++)
		if (fnmatch(links[i], whole, FNM_NOESCAPE) == 0)
			return err_set(err, -EPERM,
				       "%s leads each process to another place: write the path of "
				       "the file itself",
				       path);
	return 0;
}

static int judge_way(const struct root *machine, const char *path, struct err *err)
{
	return isolation_hides(path) ? 0 : trust_way(machine, path, err);
}

static int judge_path(const struct root *machine, const char *path, struct err *err)
{
	int r = refuse_varying(path, err);

	return r == 0 ? judge_way(machine, path, err) : r;
}

/* A path that begins there ends at the next parting character, or has such characters itself. */
static int judge_paths_at(const struct root *machine, const char *at, struct err *err)
{
	cleanup_free char *first = xstrndup(at, strcspn(at, PARTING));
	int r = *first ? judge_path(machine, first, err) : 0;

	return r == 0 && !streq(first, at) ? judge_path(machine, at, err) : r;
}

/*
 * An argument may name a script, or a directory of scripts, so root alone must decide the path.
 * Each part of the word is judged as a path, from "/", where the program starts.
 */
static int judge_argument(const struct root *machine, const char *word, struct err *err)
{
	/* -f/etc/site.awk, -fetc/site.awk, -vf/etc/site.awk */
	const char *attached = *word == '-' && word[1] ? word + 2 : "";
	const char *slash = strchr(attached, '/'), *at = word;
	int r = judge_paths_at(machine, attached, err);

	if (r == 0 && slash)
		r = judge_paths_at(machine, slash, err);
	while (r == 0 && at) {
		r = judge_paths_at(machine, at, err);
		at = strpbrk(at, PARTING);
		if (at)
			at++;
	}
	return r;
}

/* Whether the word is the text of a script, as in [/bin/sh, -e, -c, TEXT]. */
static bool is_script(const struct ynode *command, size_t i)
{
	static const char *const shells[] = {"ash", "bash", "dash", "ksh", "sh", "zsh", NULL};
	const char *word = command->items.v[i - 1]->text;

	if (fnmatch("-*c", word, 0) != 0 || str_starts(word, "--"))
		return false;
	for (i--; i > 0 && *word == '-'; word = command->items.v[--i]->text)
		;
	return word_is_one_of(strrchr(word, '/') ? strrchr(word, '/') + 1 : word, shells);
}

static int judge_command(const struct root *machine, const struct ynode *command, struct err *err)
{
	const char *program = command->items.v[0]->text;
	int r;

	if (isolation_hides(program))
		return err_set(err, -ENOENT,
			       "%s is in a directory that is empty for the program: move it to "
			       "/usr/local/bin",
			       program);
	r = refuse_varying(program, err);
	if (r == 0)
		r = privileges_program(machine, program, err);
	for (size_t i = 1; r == 0 && i < command->items.n; i++) {
		const char *word = command->items.v[i]->text;

		r = is_script(command, i) ? judge_way(machine, word, err)
					  : judge_argument(machine, word, err);
	}
	return r;
}

/* The program is the machine's, whatever root the profile is of. */
static int set_program(const struct ynode *command, struct probe *p, struct err *err)
{
	struct root machine;
	int r = root_init(&machine, NULL, err);

	if (r < 0)
		return r;
	r = judge_command(&machine, command, err);
	root_close(&machine);
	strv_free(&p->argv);
	for (size_t i = 0; i < command->items.n; i++)
		strv_add(&p->argv, command->items.v[i]->text);
	return r;
}

static int set_privileges(const struct checked *t, struct probe *p, struct err *err)
{
	const struct ynode *names = ynode_get(t->map, "capabilities");
	struct privileges *as = p->as = xnew(struct privileges);
	const char *user = ynode_text(t->map, "user", NULL);
	int r = user ? privileges_user(t->ctx->root, user, as, err) : 0;

	as->own_user = !user;
	as->network = ynode_bool(t->map, "network", false);
	for (size_t i = 0; r == 0 && names && i < names->items.n; i++)
		r = privileges_add(as, names->items.v[i]->text, err);
	return r;
}

static void want_command(const struct checked *t, struct probes *ret)
{
	const struct ynode *command = ynode_get(t->map, "command");
	struct probe *p = probe_add(ret, t, "command");
	struct err err = {0};

	probe_subject(p, "command %s", command->items.v[0]->text);
	p->budget_ms = 0;
	take_everything(t->ctx, p);
	probe_judges(p, t, "min", "value", NULL);
	/* without min:, max: judges the value */
	probe_judges(p, t, "max", ynode_get(t->map, "min") ? "latency" : "value", NULL);
	if (set_program(command, p, &err) < 0 || set_privileges(t, p, &err) < 0)
		probe_declines(p, CHANGE_CANNOT_MEASURE, "not run: %s", err.text);
}

/* A failed program is a fault of the node, whatever its exit status. */
CHECK(command, .required = {"command"},
      .optional = {"min", "max", "user", "capabilities", "network"}, .measure = want_command,
      .slow = FAULT_HOST_COMMAND, .failed = FAULT_HOST_COMMAND);
