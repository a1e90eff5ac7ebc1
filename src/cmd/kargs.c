/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kargs: the kernel arguments required, of this boot, and of the next; --reset, --format. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/view.h"
#include "cmd/cmd.h"
#include "cmd/kargs_story.h"
#include "loader/loader.h"
#include "sys/clock.h"
#include "sys/state.h"

enum { LOCK_WAIT_US = 10 * 1000000 };

static int reset(struct invocation *inv)
{
	cleanup_free char *path = NULL;
	struct err err = {0};

	if (boot_env_reset(&inv->root, &path, &err) < 0)
		return fail(EXIT_INTERNAL, "kargs: %s", err.text);
	printf("%s: no kernel arguments of railhead at the next boot\n", path);
	return EXIT_OK;
}

static int expect_kernel(struct invocation *inv)
{
	struct err err = {0};
	int r = boot_expect_kernel(&inv->root, inv->new_kernel, &err);

	if (r > 0)
		printf("%s: GRUB counts boots until a verdict with the kernel %s\n", ENV_FILE_NAME,
		       *inv->new_kernel ? inv->new_kernel : "that is installed");
	if (r >= 0 || err.code == -ENOENT) /* without GRUB nothing counts */
		return EXIT_OK;
	return fail(EXIT_INTERNAL, "kargs: %s", err.text);
}

/* Takes the lock, so that nothing runs between the reads and writes of apply or the gate. */
static int write_alone(struct invocation *inv)
{
	cleanup_close int lock = -1;
	struct err err = {0};

	/* A tree of an image has no other writer, and must not get a lock. */
	if (inv->root.live || root_exists(&inv->root, STATE_DIR "/lock")) {
		lock = state_lock(&inv->root, clock_usec() + LOCK_WAIT_US, &err);
		if (lock < 0)
			return fail(EXIT_INTERNAL, "kargs: %s", err.text);
	}
	return inv->reset ? reset(inv) : inv->new_kernel ? expect_kernel(inv) : kargs_mend(inv);
}

/* Runs without the lock, because a gate that hangs holds it. */
static int note_end(const struct invocation *inv)
{
	struct err err = {0};
	int r;

	if (inv->reset || inv->mend)
		return fail(EXIT_USAGE, "kargs: --ended, --reset and --mend exclude each other");
	if (!streq(inv->ended, "timer") && !streq(inv->ended, "stop"))
		return fail(EXIT_USAGE, "kargs --ended %.*s: expected one of: timer, stop",
			    UNKNOWN_MAX, inv->ended);
	r = boot_note_end(&inv->root, inv->ended, &err);
	if (r < 0)
		return fail(EXIT_INTERNAL, "kargs --ended: %s", err.text);
	if (r > 0)
		printf("noted how this trial of kernel arguments ends: %s\n", inv->ended);
	return EXIT_OK;
}

static void print_line(const char *title, const struct kargs *l)
{
	cleanup_free char *line = kargs_line(l);

	printf("%-10s %s\n", title, *line ? line : "(none)");
}

static int show(struct invocation *inv, const struct run *run, struct boot_view *v)
{
	struct kargs next cleanup_kargs = {0};
	const struct trial *t = &v->trial;
	/* railhead creates the file only if a boot loader reads it. */
	const char *file = !v->facts.absent || !v->part.loader_why ? v->part.path : NULL;

	if (!v->facts.absent)
		kargs_split(&next, env_slot(&v->env, env_next_slot(&v->env)), NULL);
	if (inv->json) {
		print_json(json_pack(
			"{s:o, s:o, s:o, s:o, s:o, s:o*, s:s, s:o*, s:s, s:o*, s:o*, s:o}",
			"wanted", stored_to_json(kargs_stored, &run->kargs), "missing",
			stored_to_json(kargs_stored, &t->missing), "owned",
			stored_to_json(kargs_stored, &t->owned), "next_boot",
			stored_to_json(kargs_stored, &next), "conflicts",
			stored_to_json(kargs_stored, &t->conflicts), "cmdline",
			json_string(run->node.cmdline), "state", kargs_decision_name(t->decision),
			"reason", json_string(t->why), "loader", loader_find(&v->part)->name,
			"file", json_string(file), "device", json_string(v->part.device), "story",
			kargs_story_json(v)));
	} else {
		print_line("wanted", &run->kargs);
		print_line("missing", &t->missing);
		print_line("owned", &t->owned);
		print_line("next boot", &next);
		if (t->conflicts.n)
			print_line("conflicts", &t->conflicts);
		printf("%-10s %s\n", "this boot", run->node.cmdline);
		printf("%-10s %s%s%s\n", "file", file ? file : "(none)",
		       file && v->part.found ? ", " : "",
		       file && v->part.found ? v->part.found : "");
		printf("%-10s %s%s%s\n", "state", kargs_decision_name(t->decision),
		       t->why ? ": " : "", t->why ? t->why : "");
		kargs_story_print(v);
	}
	switch (t->decision) {
	case KARGS_SAME:
		return EXIT_OK;
	case KARGS_ARM:
	case KARGS_ARMED:
	case KARGS_ADOPT:
		return EXIT_PENDING;
	default:
		return EXIT_ARGS;
	}
}

static int run(struct invocation *inv)
{
	cleanup_free char *label = NULL;
	struct kargs_want want;
	struct boot_view view;
	struct err err = {0};
	struct run run;
	int code;

	if (inv->format)
		return print_kargs_format(inv);
	if (inv->ended)
		return note_end(inv);
	if (inv->reset + inv->mend + !!inv->new_kernel > 1)
		return fail(EXIT_USAGE, "kargs: --reset, --mend and --new-kernel exclude each "
					"other; run one after the other");
	if (inv->undo && !inv->mend)
		return fail(EXIT_USAGE, "kargs: --undo requires --mend");
	if (inv->reset || inv->mend || inv->new_kernel)
		return write_alone(inv);
	if (!open_look(inv, NULL, &run, &code))
		return code;
	label = profile_label(run.profile);
	want = (struct kargs_want){&inv->root, &run.node, &run.kargs, label};
	if (boot_view_open(&want, &view, &err) < 0) {
		complain("%s", err.text);
		code = EXIT_INTERNAL;
	} else {
		code = show(inv, &run, &view);
		boot_view_close(&view, NULL);
	}
	run_close(&run);
	return code;
}

const struct verb verb_kargs = {
	.name = "kargs",
	.args = "",
	.help = "show kernel arguments: wanted, current and next boot",
	.options = OPT_ROOT | OPT_JSON | OPT_PROFILE | OPT_RESET | OPT_MEND | OPT_UNDO |
		   OPT_FORMAT | OPT_ENDED | OPT_NEW_KERNEL,
	.run = run,
};
