/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All histories of a node to a depth, breadth first over merged states (world.h).
 *
 *   histories [--depth N] [--faults N] [--incidents N] [--states N] [--keep-going] [--known]
 *   histories --files DIR N       writes N of the files that were reached, for GRUB's own reader
 *   histories --states-table      the states of the file and what leads from one to another
 *   histories --invariants        their table; both are in docs/trials.md
 *
 * --faults bounds those events that count as faults (world.h), --incidents those that are no
 * ordinary boot to its end; without them there is no bound.
 * --states ends the search at so many. Exit status 1: an invariant is broken; its shortest history
 * is printed. 2: --states was too few for the depth.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "boot/trial.h"
#include "judge.h"

static struct {
	unsigned int depth;
	struct bounds most;
	size_t states_max;
	bool keep_going, known, states;
	const char *files_dir;
	size_t files;
} opt = {.depth = 4, .most = {UNBOUNDED, UNBOUNDED}, .states_max = 60000000};

struct origin {
	uint32_t parent;
	struct event event;
};

static struct {
	struct state *state;
	struct origin *origin;
	uint32_t *next; /* of the same core; 0: none */
	size_t n, cap, cores;
	uint32_t *slot;
	size_t size;
} all;

static struct {
	uint64_t transitions, distinct, known;
	unsigned int depth;
	bool full;
	uint16_t moves[EVENT_COUNT][REST_COUNT]; /* sets of enum resting */
	uint64_t broken[INVARIANT_COUNT], of_kind[EVENT_COUNT];
} figures;

/* --- the set --------------------------------------------------------------------------------- */

/* What a state is but for what has been. */
static struct state core(const struct state *s)
{
	struct state c = *s;

	memset(&c.past, 0, sizeof(c.past));
	memset(&c.had, 0, sizeof(c.had));
	return c;
}

/* Where the states of a core begin: a list, the newest first. */
static uint32_t *place(const struct state *c)
{
	size_t at = world_hash(c) & (all.size - 1);

	for (; all.slot[at]; at = (at + 1) & (all.size - 1)) {
		struct state other = core(&all.state[all.slot[at] - 1]);

		if (memcmp(&other, c, sizeof(other)) == 0)
			break;
	}
	return &all.slot[at];
}

static void grow(void)
{
	uint32_t *was = all.slot;
	size_t size = all.size;

	all.size = size ? size * 2 : 1 << 20;
	all.slot = xcalloc(all.size, sizeof(*all.slot));
	for (size_t i = 0; i < size; i++)
		if (was[i]) {
			struct state c = core(&all.state[was[i] - 1]);

			*place(&c) = was[i];
		}
	free(was);
}

/* True: it is new, and none that was found before covers it. */
static bool add(const struct state *s, uint32_t parent, const struct event *e)
{
	struct state c = core(s);
	uint32_t *first;

	if (all.cores * 2 >= all.size)
		grow();
	first = place(&c);
	for (uint32_t i = *first; i; i = all.next[i - 1])
		if (judge_covers(&all.state[i - 1], s))
			return false;
	if (all.n == opt.states_max) {
		figures.full = true;
		return false;
	}
	if (all.n == all.cap) {
		all.cap = all.cap ? all.cap * 2 : 1 << 16;
		all.state = xrealloc(all.state, all.cap, sizeof(*all.state));
		all.origin = xrealloc(all.origin, all.cap, sizeof(*all.origin));
		all.next = xrealloc(all.next, all.cap, sizeof(*all.next));
	}
	all.cores += !*first;
	all.state[all.n] = *s;
	all.origin[all.n] = (struct origin){.parent = parent, .event = *e};
	all.next[all.n] = *first;
	*first = (uint32_t)++all.n;
	return true;
}

/* --- what people read ------------------------------------------------------------------------ */

static void print_event(unsigned int n, const struct event *e)
{
	printf("  %u. %s%s", n, event_text[e->kind], entry_text[e->entry]);
	if (e->kind == EVENT_FLIP)
		printf(": %s", flips[e->which].name);
	else if (e->which)
		printf(" (no. %u)", e->which);
	printf("\n");
}

static void print_bytes(const char *label, const char *text, size_t from, size_t len)
{
	printf("%s", label);
	for (size_t i = 0; i < len; i++)
		printf("%c", text[from + i] >= ' ' && text[from + i] < 127 ? text[from + i] : '?');
}

static void print_state(const struct state *s)
{
	size_t len;
	const char *text = machine_file(s->file, &len);

	printf("     ");
	if (!text || len < 4096) {
		printf("no file of 4096 bytes (%zu)", len);
	} else {
		print_bytes("good ", text, 39, 1);
		print_bytes(" try ", text, 54, 1);
		print_bytes(" begun ", text, 3599, 1);
		print_bytes(" reboots ", text, 91, 1);
		print_bytes(" a '", text, 523, 4);
		print_bytes("' b '", text, 2059, 4);
		printf("'");
	}
	printf("; wants %s; menu %s%s%s", *args_text[s->wanted] ? "" : "none",
	       kernel_name[s->kernel], s->up ? "; up" : "; off", s->counter ? "; counter" : "");
	printf(" %.4s; reboots counted %u, made %u\n", args_text[s->wanted],
	       machine_counted(s->file, s->record), s->unsettled);
	for (const char *p = machine_record(s->record); *p; p = strchr(p, '\n') + 1)
		printf("       %.*s\n", (int)strcspn(p, "\n"), p);
	if (s->up)
		printf("     kernel %s, %.160s\n", kernel_name[s->runs],
		       machine_line(s->line)->text);
}

static void print_history(uint32_t state, const struct event *last, const struct state *end,
			  unsigned int calm)
{
	VEC(uint32_t) path = {0};
	unsigned int n = 0;

	for (uint32_t i = state;; i = all.origin[i].parent) {
		vec_push(&path, i);
		if (all.origin[i].parent == UINT32_MAX)
			break;
	}
	printf("  on a machine where %s, whose profile wants a=1:\n",
	       natures[all.state[state].nature].name);
	for (size_t i = path.n - 1; i > 0; i--) {
		print_event(++n, &all.origin[path.v[i - 1]].event);
		print_state(&all.state[path.v[i - 1]]);
	}
	if (last) {
		print_event(++n, last);
		print_state(end);
	}
	if (!calm)
		return;
	printf("  then, undisturbed:\n");
	for (struct state s = *end, next; n < 40 && calm--; s = next) {
		struct seen seen;

		world_calm_boot(&s, &next, &seen);
		printf("  %u. a boot: %s%s%s%s\n", ++n, seen.killed ? "killed" : "",
		       seen.ready     ? "ready"
		       : seen.settled ? "not ready"
				      : "",
		       seen.rebooted ? " reboots" : "", seen.wrote ? " writes" : "");
		print_state(&next);
	}
	vec_free(&path);
}

static void report(enum invariant broken, uint32_t state, const struct event *last,
		   const struct state *end)
{
	if (figures.broken[broken]++)
		return;
	printf("broken: %s: %s\n", invariant_name[broken], invariant_text[broken]);
	print_history(state, last, end,
		      broken == INVARIANT_STUCK || broken == INVARIANT_QUIET ? 3 : 0);
	fflush(stdout);
}

/* --- the search ------------------------------------------------------------------------------ */

struct step {
	struct state next;
	struct event event;
	struct seen seen;
};
static VEC(struct step) steps;

static void collect(const struct state *next, const struct event *e, const struct seen *seen)
{
	struct step s = {.next = *next, .event = *e, .seen = *seen};

	vec_push(&steps, s);
}

static bool is_known(enum invariant broken, uint32_t at, const struct step *s)
{
	struct state before = all.state[at];
	const char *known = judge_known(broken, &before, &s->next, &s->event, &s->seen);

	if (!known)
		return false;
	figures.known++;
	if (opt.known)
		printf("known: %s: %s\n", invariant_name[broken], known);
	return true;
}

/* The page draws a node that keeps what GRUB and railhead write. */
static bool is_drawn(const struct state *before, const struct event *e)
{
	const struct nature *n = &natures[before->nature];

	return opt.states && e->entry == ENTRY_MENU && !n->read_only && !n->forgets;
}

static void take(uint32_t at, struct step *s)
{
	struct state before = all.state[at];
	enum invariant broken;

	judge_count(&before, &s->next, &s->event, &s->seen);
	figures.transitions++;
	figures.of_kind[s->event.kind]++;
	if (is_drawn(&before, &s->event))
		figures.moves[s->event.kind][machine_rest(before.file)] |=
			(uint16_t)(1 << machine_rest(s->next.file));
	if (memcmp(&before, &s->next, sizeof(before)) != 0)
		figures.distinct++;
	broken = judge_event(&before, &s->next, &s->event, &s->seen);
	if (broken != INVARIANT_NONE) {
		if (!is_known(broken, at, s))
			report(broken, at, &s->event, &s->next);
		return; /* what comes of it would break the same again */
	}
	if (!add(&s->next, at, &s->event))
		return;
	broken = judge_state(&s->next);
	if (broken != INVARIANT_NONE && !is_known(broken, at, s))
		report(broken, at, &s->event, &s->next);
}

static bool any_broken(void)
{
	for (int i = 0; i < INVARIANT_COUNT; i++)
		if (figures.broken[i])
			return true;
	return false;
}

static void search(void)
{
	size_t begin = 0, end;

	for (uint8_t i = 0; i < n_natures; i++) {
		struct state s;

		world_init(i, &s);
		add(&s, UINT32_MAX, &(struct event){0});
	}
	while (figures.depth < opt.depth && begin < all.n && !figures.full &&
	       (opt.keep_going || !any_broken())) {
		for (end = all.n; begin < end; begin++) {
			struct state s = all.state[begin];

			steps.n = 0;
			world_expand(&s, &opt.most, collect);
			for (size_t i = 0; i < steps.n; i++)
				take((uint32_t)begin, &steps.v[i]);
		}
		figures.depth++;
	}
}

/* --- the report ------------------------------------------------------------------------------ */

static void print_bound(uint8_t most, const char *what)
{
	if (most == UNBOUNDED)
		printf("any number of %ss", what);
	else
		printf("at most %u %s%s", most, what, most == 1 ? "" : "s");
}

static void print_figures(double seconds)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	printf("depth %u, ", figures.depth);
	print_bound(opt.most.faults, "fault");
	if (opt.most.incidents != UNBOUNDED) {
		printf(", ");
		print_bound(opt.most.incidents, "incident");
	}
	printf(": %zu states (%zu but for what has been), %llu transitions, %llu of them to a "
	       "different state, %zu files, "
	       "%zu calls of railhead and GRUB, %.0f s (%ld of a CPU), %ld MiB\n",
	       all.n, all.cores, (unsigned long long)figures.transitions,
	       (unsigned long long)figures.distinct, machine_files(), machine_calls(), seconds,
	       (long)(u.ru_utime.tv_sec + u.ru_stime.tv_sec), u.ru_maxrss / 1024);
	if (figures.known)
		printf("%llu transitions broke an invariant in a way that is known (judge.c)\n",
		       (unsigned long long)figures.known);
	for (int i = 0; i < INVARIANT_COUNT; i++)
		if (figures.broken[i])
			printf("%s was broken %llu times\n", invariant_name[i],
			       (unsigned long long)figures.broken[i]);
}

static void write_file(size_t n, uint32_t file)
{
	cleanup_free char *path = xasprintf("%s/%06zu", opt.files_dir, n);
	size_t len;
	const char *text = machine_file(file, &len);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, len) != (ssize_t)len || close(fd) < 0) {
		perror(path);
		exit(3);
	}
}

/* Half of them sound, if there are so many; spread, since those that were found first are alike. */
static void write_files(void)
{
	VEC(uint32_t) of[2] = {{0}};
	size_t done = 0, most[2];

	for (uint32_t i = 1; i < machine_files(); i++)
		vec_push(&of[machine_sound(i)], i);
	most[1] = of[1].n < opt.files / 2 ? of[1].n : opt.files / 2;
	most[0] = of[0].n < opt.files - most[1] ? of[0].n : opt.files - most[1];
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < most[k]; i++)
			write_file(done++, of[k].v[i * of[k].n / most[k]]);
	printf("%zu files of %zu, %zu of them sound\n", done, machine_files() - 1, most[1]);
	vec_free(&of[0]);
	vec_free(&of[1]);
}

static void print_invariants(void)
{
	printf("| name | what always holds | unless |\n|---|---|---|\n");
	for (int i = 0; i < INVARIANT_COUNT; i++)
		printf("| %s | %s | %s |\n", invariant_name[i], invariant_text[i],
		       invariant_unless[i]);
}

static const char *const rest_word[REST_COUNT] = {
#define X(name, word, text) word,
	RESTS(X)
#undef X
};
static const char *const rest_text[REST_COUNT] = {
#define X(name, word, text) text,
	RESTS(X)
#undef X
};

static void print_moves(enum event_kind kind)
{
	printf("| %s |", event_text[kind]);
	for (int from = 0; from < REST_DAMAGED; from++) {
		const char *between = "";

		for (int to = 0; to < REST_COUNT; to++)
			if (figures.moves[kind][from] & 1 << to) {
				printf("%s %s", between, to == from ? "·" : rest_word[to]);
				between = ",";
			}
		printf(" |");
	}
	printf("\n");
}

/* The edges of these events: what comes of boots. */
static void print_drawing(void)
{
	static const struct {
		enum event_kind kind;
		const char *word;
	} drawn[] = {{EVENT_BOOT, "boot"},
		     {EVENT_BOOT_FAILS, "an item fails"},
		     {EVENT_PANIC, "dies"},
		     {EVENT_STOP, "is stopped"},
		     {EVENT_NEW_KERNEL, "a kernel comes"}};

	printf("```mermaid\nstateDiagram-v2\n    [*] --> absent\n");
	for (int from = 0; from < REST_DAMAGED; from++)
		for (int to = 0; to < REST_DAMAGED; to++) {
			const char *between = ": ";

			if (from == to)
				continue;
			for (size_t i = 0; i < sizeof(drawn) / sizeof(*drawn); i++) {
				if (!(figures.moves[drawn[i].kind][from] & 1 << to))
					continue;
				if (*between == ':')
					printf("    %s --> %s", rest_word[from], rest_word[to]);
				printf("%s%s", between, drawn[i].word);
				between = "<br>";
			}
			if (*between != ':')
				printf("\n");
		}
	printf("```\n");
}

static void print_states(void)
{
	printf("| state | what the operator sees |\n|---|---|\n");
	for (int i = 0; i < REST_COUNT; i++)
		printf("| %s | %s |\n", rest_word[i], rest_text[i]);
	printf("\n");
	print_drawing();
	printf("\n| event |");
	for (int i = 0; i < REST_DAMAGED; i++)
		printf(" %s |", rest_word[i]);
	printf("\n|---|");
	for (int i = 0; i < REST_DAMAGED; i++)
		printf("---|");
	printf("\n");
	for (int i = 0; i < EVENT_COUNT; i++)
		if (i < EVENT_WANT_NONE) /* of the others none changes the state by itself, but by
					    its bytes */
			print_moves((enum event_kind)i);
}

static unsigned long number(const char *text)
{
	char *end;
	unsigned long n = text ? strtoul(text, &end, 10) : 0;

	if (!text || *end || !*text) {
		fprintf(stderr, "histories: a number is missing\n");
		exit(3);
	}
	return n;
}

static void parse(char **argv)
{
	for (argv++; *argv; argv++) {
		if (strcmp(*argv, "--depth") == 0)
			opt.depth = (unsigned int)number(*++argv);
		else if (strcmp(*argv, "--faults") == 0)
			opt.most.faults = (uint8_t)number(*++argv);
		else if (strcmp(*argv, "--incidents") == 0)
			opt.most.incidents = (uint8_t)number(*++argv);
		else if (strcmp(*argv, "--states") == 0)
			opt.states_max = number(*++argv);
		else if (strcmp(*argv, "--keep-going") == 0)
			opt.keep_going = true;
		else if (strcmp(*argv, "--known") == 0)
			opt.known = true;
		else if (strcmp(*argv, "--files") == 0 && argv[1])
			opt.files_dir = *++argv, opt.files = number(*++argv);
		else if (strcmp(*argv, "--states-table") == 0)
			opt.states = true;
		else if (strcmp(*argv, "--invariants") == 0)
			print_invariants(), exit(0);
		else
			fprintf(stderr, "histories: unknown: %s\n", *argv), exit(3);
	}
}

int main(int argc, char **argv)
{
	struct timespec from, to;

	(void)argc;
	parse(argv);
	clock_gettime(CLOCK_MONOTONIC, &from);
	search();
	clock_gettime(CLOCK_MONOTONIC, &to);
	if (opt.states) {
		print_states();
		return any_broken();
	}
	print_figures((double)(to.tv_sec - from.tv_sec) +
		      (double)(to.tv_nsec - from.tv_nsec) / 1e9);
	if (opt.files_dir)
		write_files();
	return any_broken() ? 1 : figures.full ? 2 : 0;
}
