/* SPDX-License-Identifier: GPL-2.0-or-later */
/* argv -> verb table -> exit code. The only place that exits. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <jansson.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "report/pager.h"
#include "report/screen.h"
#include "sys/manager.h"

enum { LONG_HELP = 256 };

#define AT(name) offsetof(struct invocation, name)

/* Option, what it takes, what it does: getopt's table and the help come from here. */
static const struct {
	verb_options bit;
	const char *name;
	const char *arg;
	const char *help;
	/* of struct invocation: const char *, bool where arg is NULL, struct strv where it may be
	 * repeated */
	size_t field;
} options[] = {
	{OPT_ROOT, "root", "DIR|TAR", "use this directory or snapshot instead of this machine",
	 AT(root_path)},
	{OPT_JSON, "json", NULL, "print JSON", AT(json)},
	{OPT_STAGE, "stage", "STAGE", "only this stage: initrd, early, devices or gate",
	 AT(stage_name)},
	{OPT_PROFILE, "profile", "NAME|FILE", "use this profile instead of matching", AT(profile)},
	{OPT_RETRY, "retry", NULL,
	 "apply: try refused arguments again; gate: look again while waiting", AT(retry)},
	{OPT_EXPLAIN, "explain", NULL,
	 "print every profile with each condition, expected and found", AT(explain)},
	{OPT_AGAIN, "again", NULL, "measure again even though this boot has a verdict", AT(again)},
	{OPT_RESOLVED, "resolved", NULL, "also show derived settings", AT(resolved)},
	{OPT_SNAPSHOT, "snapshot", "FILE.tar",
	 "write what planning reads to an archive, without serials and names; - is stdout",
	 AT(snapshot)},
	{OPT_HTML, "html", "FILE",
	 "write a page with a drawing of the node, for a browser; - is stdout", AT(html)},
	{OPT_ALL, "all", NULL,
	 "print everything, also equal values (plan, verify), bridges and VFs (survey)", AT(all)},
	{OPT_COLOUR, "color", "WHEN", "auto, always or never; auto respects NO_COLOR", AT(colour)},
	{OPT_WATCH, "watch", NULL, "print the verdict whenever it changes, until ^C", AT(watch)},
	{OPT_NO_PAGER, "no-pager", NULL, "print directly, without less", AT(no_pager)},
	{OPT_STRICT, "strict", NULL, "treat warnings as errors (check, bake)", AT(strict)},
	{OPT_BASES, "bases", "DIR",
	 "look for bases here, too, before the search path; may be repeated", AT(bases)},
	{OPT_SCHEMA, "schema", NULL, "print the JSON Schema of profiles, for editors", AT(schema)},
	{OPT_FORMAT, "format", "FORMAT",
	 "print the arguments for an image: line, bootc, uki or grubby", AT(format)},
	{OPT_RESET, "reset", NULL, "give up all kernel arguments; create railhead.env", AT(reset)},
	{OPT_DEVICE, "device", "ADDRESS", "restore what this PCI function has lost", AT(device)},
	{OPT_KEEP, "keep", NULL,
	 "(used by railhead-gate.service) save this boot's measurements for the next boot",
	 AT(keep)},
	{OPT_RECHECK, "recheck", NULL,
	 "(used by railhead-recheck.timer) look again at a node that may take work", AT(recheck)},
	{OPT_FOR, "for", "DURATION",
	 "let the admission or the maintenance last this long: 1m to 7d", AT(for_time)},
	{OPT_REASON, "reason", "TEXT", "record this reason", AT(reason)},
	{OPT_END, "end", NULL, "end the admission or the maintenance now", AT(end)},
	{OPT_RUNS, "runs", "N", "measure this often (default 10)", AT(runs)},
	{OPT_CALIBRATE, "false-blocks", "PERCENT",
	 "block at most so many of the gates of good nodes (default 0.1%)", AT(false_blocks)},
	{OPT_CALIBRATE, "loss", "PERCENT", "find a member that is so much worse (default 5%)",
	 AT(loss)},
	{OPT_MERGE, "merge", NULL, "combine the --json output of many nodes into thresholds",
	 AT(merge)},
	{OPT_FORCE, "force", NULL, "measure even though the node is running work", AT(force)},
	{OPT_GATE, "gate", "UNIT",
	 "hold this service back until the node may take work; may be repeated", AT(gates)},
	{OPT_MEND, "mend", NULL, "repair GRUB's menu entries (Fedora, RHEL)", AT(mend)},
	{OPT_ENDED, "ended", "HOW",
	 "(used by railhead-trial.service) note how this trial of arguments ends: timer or stop",
	 AT(ended)},
	{OPT_NEW_KERNEL, "new-kernel", "RELEASE",
	 "(used by the hooks of a kernel's package) have GRUB count boots until its verdict",
	 AT(new_kernel)},
	{OPT_SETTLED, "settled", "HOW",
	 "(used by railhead-settled.service) the boot came up with its settings: up or stop",
	 AT(settled)},
	{OPT_UNDO, "undo", NULL, "remove what bake created, or what kargs --mend wrote", AT(undo)},
};

static void usage_option(FILE *out, size_t i)
{
	fprintf(out, "  --%-12s %-9s %s\n", options[i].name, options[i].arg ? options[i].arg : "",
		options[i].help);
}

static void usage(FILE *out)
{
	fprintf(out, "usage: railhead VERB [OPTION...]\n\n");
	for (const struct verb *const *v = verbs; *v; v++)
		fprintf(out, "  %-9s %-13s %s\n", (*v)->name, (*v)->args, (*v)->help);
	fprintf(out, "\n");
	for (size_t i = 0; i < array_len(options); i++)
		usage_option(out, i);
	fprintf(out,
		"\nExit codes: 0 done, 1 internal, 2 usage, 3 profile invalid, 4 no profile or "
		"two match,\n5 pending or different, 6 a change failed, 7 not admitted, 8 reboot "
		"due, 9 arguments\nrefused or not arrived.\n");
}

/* The shells' completions read this (packaging/completions). */
static void usage_verb(const struct verb *v)
{
	printf("usage: railhead %s", v->name);
	for (size_t i = 0; i < array_len(options); i++)
		if (v->options & options[i].bit)
			printf(" [--%s%s%s]", options[i].name, options[i].arg ? " " : "",
			       options[i].arg ? options[i].arg : "");
	printf("%s%s\n\n%s\n\n", *v->args ? " " : "", v->args, v->help);
	for (size_t i = 0; i < array_len(options); i++)
		if (v->options & options[i].bit)
			usage_option(stdout, i);
}

static const struct verb *find_verb(const char *name)
{
	for (const struct verb *const *v = verbs; *v; v++)
		if (streq((*v)->name, name))
			return *v;
	return NULL;
}

static int take_option(struct invocation *inv, size_t i, const char *arg)
{
	char *field = (char *)inv + options[i].field;

	/* With an unset variable `--root "$root"` must not mean this machine. */
	if (options[i].bit == OPT_ROOT && !*arg)
		return fail(EXIT_USAGE, "--root: the path is empty; this machine is --root /");
	if (options[i].bit & (OPT_GATE | OPT_BASES))
		strv_add((struct strv *)field, arg);
	else if (options[i].arg)
		*(const char **)field = arg;
	else
		*(bool *)field = true;
	if (options[i].bit != OPT_STAGE || stage_parse(arg, &inv->stage) == 0)
		return EXIT_OK;
	return fail(EXIT_USAGE,
		    "--stage %s: unknown stage; expected one of: initrd, early, devices, gate",
		    arg);
}

/* Returns an exit code, or -1 to go on. */
static int parse(const struct verb *v, int argc, char **argv, struct invocation *inv)
{
	struct option longs[array_len(options) + 2];
	size_t n = 0;
	int c;

	memset(longs, 0, sizeof(longs));
	for (size_t i = 0; i < array_len(options); i++)
		if (v->options & options[i].bit)
			longs[n++] = (struct option){
				options[i].name, options[i].arg ? required_argument : no_argument,
				NULL, (int)i + 1};
	longs[n] = (struct option){"help", no_argument, NULL, LONG_HELP};
	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		int code;

		if (c == LONG_HELP || c == 'h') {
			usage_verb(v);
			return EXIT_OK;
		}
		if (c == '?')
			return EXIT_USAGE;
		code = take_option(inv, (size_t)c - 1, optarg);
		if (code)
			return code;
	}
	inv->args = argv + optind;
	inv->nargs = argc - optind;
	if (inv->nargs < v->min_args || inv->nargs > v->max_args)
		return fail(EXIT_USAGE, "%s: %s; see railhead %s --help", v->name,
			    inv->nargs < v->min_args ? "too few arguments" : "too many arguments",
			    v->name);
	return -1;
}

/* Each, because what could not be read is in most results as if it were not there. */
static void say_irregular(void)
{
	const struct strv *paths = root_irregular();

	for (size_t i = 0; i < paths->n; i++)
		complain("warning: %s is not a regular file, so nothing was read from it or "
			 "written to it: put the file back, if railhead has not replaced it",
			 paths->v[i]);
}

static int open_and_run(struct invocation *inv, const struct verb *v)
{
	int code = invocation_open_root(inv, v);

	if (code == EXIT_OK)
		code = v->run(inv);
	say_irregular();
	root_close(&inv->foreign);
	invocation_close_root(inv);
	return code;
}

static int run_verb(const struct verb *v, int argc, char **argv)
{
	struct invocation inv = {.root = {.fd = -1}, .foreign = {.fd = -1}};
	int code = parse(v, argc, argv, &inv);

	if (code < 0 && screen_colour(inv.colour) < 0) {
		complain("--color %s: expected one of: auto, always, never", inv.colour);
		code = EXIT_USAGE;
	}
	/* A reader of the output may go (head, grep -q); the command is still carried to its end.
	 */
	if (invocation_writes(&inv, v))
		signal(SIGPIPE, SIG_IGN);
	if (code < 0)
		code = open_and_run(&inv, v);
	strv_free(&inv.gates);
	strv_free(&inv.bases);
	return code;
}

/*
 * Jansson would take its seed from /dev/urandom. In an initramfs on a CPU without RDRAND that is
 * not seeded yet, and who reads it first makes the kernel gather entropy for up to a second
 * (drivers/char/random.c, try_to_generate_entropy()). The kernel gave each process 16 random
 * bytes already (getauxval(3)).
 */
static void seed_json(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	size_t seed = 1;

	if (random)
		memcpy(&seed, random, sizeof(seed));
	json_object_seed(seed ? seed : 1); /* 0 means /dev/urandom */
}

/*
 * Half a result must not pass for a result. In a unit stdout is the journal, and the verdict of a
 * node does not depend on the journal; the caller acts on EXIT_REBOOT.
 */
static int close_stdout(int code)
{
	bool failed = ferror(stdout);
	int r = fclose(stdout) == 0 ? 0 : errno;

	if (pager_end())
		return code;
	/* Without a standard output, a verb that printed nothing has lost nothing. */
	if (!failed && (!r || r == EBADF))
		return code;
	return fail(code == EXIT_REBOOT || in_own_service() ? code : EXIT_INTERNAL,
		    "standard output: %s",
		    r ? strerror(r)
		      : "output was cut short: is the disk full, or has the reader gone?");
}

static int run_program(int argc, char **argv)
{
	const struct verb *v;

	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (streq(argv[1], "--help") || streq(argv[1], "-h") || streq(argv[1], "help")) {
		usage(stdout);
		return EXIT_OK;
	}
	if (streq(argv[1], "--version")) {
		printf("railhead %s\n", RAILHEAD_VERSION);
		return EXIT_OK;
	}
	v = find_verb(argv[1]);
	if (!v)
		return fail(EXIT_USAGE, "unknown verb '%s'; see railhead --help", argv[1]);
	return run_verb(v, argc - 1, argv + 1);
}

/* Started without one (<&-), no file that is opened later may become standard input. */
static void open_stdin(void)
{
	if (fcntl(STDIN_FILENO, F_GETFD) < 0)
		open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int main(int argc, char **argv)
{
	open_stdin();
	/* Whatever the caller's: systemd, udev, modprobe and others read what is written. */
	umask(022);
	seed_json();
	screen_begin();
	return close_stdout(run_program(argc, argv));
}
