/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random files of the kind of railhead.env, and whether GRUB reads them as env_grub_read()
 * says. tests/grub_reader.bats brings GRUB: its editor, its file systems, its script.
 *
 *   grub_reader make DIR SEED N            writes them; a summary
 *   grub_reader proto DIR N                the same tree as a prototype for mkfs.xfs -p
 *   grub_reader editenv DIR SEED N JOBS    grub-editenv lists the same variables
 *   grub_reader config SNIPPET DEVICE N    a grub.cfg that runs the snippet on each file
 *   grub_reader results DIR N              empty files for what that grub.cfg finds
 *   grub_reader booted DIR SEED N ro|rw    what it found is what env_grub_read() says
 *   grub_reader after DIR SEED N           writes the files as they are after such a boot
 *
 * File i of a seed (grub_sample.h) is always the same: DIR/iii/jj/railhead.env. Exit status
 * 1: at least one disagrees.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "env_grub.h"
#include "grub_sample.h"
#include "loader/env.h"
#include "loader/envblk.h"

extern char **environ;

/* Results of so many files share one environment block of so many bytes. */
enum { BATCH = 20, BATCH_SIZE = 128 * 1024 };

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* --- files --------------------------------------------------------------------------- */

static void path_of(const char *dir, size_t i, char *ret, size_t size)
{
	snprintf(ret, size, "%s/%03zu/%02zu/%s", dir, i / 100, i % 100, ENV_FILE_NAME);
}

static void write_file(const char *dir, size_t i, const struct sample *s)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%03zu", dir, i / 100);
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		die(path);
	snprintf(path, sizeof(path), "%s/%03zu/%02zu", dir, i / 100, i % 100);
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		die(path);
	path_of(dir, i, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, s->text, s->len) != (ssize_t)s->len || close(fd) < 0)
		die(path);
}

static bool is_sound(const struct sample *s, struct boot_env *env)
{
	return env_parse(s->text, s->len, env, NULL) == 0;
}

struct tally {
	size_t valid, loads, slots, damaged_slots, trials, of_kind[32];
};

static void count(const struct sample *s, struct tally *t)
{
	struct boot_env env;
	struct env_grub g;
	bool valid = is_sound(s, &env);

	env_grub_read(s->text, s->len, true, &g);
	t->valid += valid;
	t->loads += g.loads;
	t->slots += g.slot != ENV_NONE;
	t->damaged_slots += g.slot != ENV_NONE && !valid;
	t->trials += g.trial;
	for (size_t k = 0; sample_kind(k); k++)
		t->of_kind[k] += streq(s->kind, sample_kind(k));
}

/* Files that are all refused, or all taken, would prove little. */
static bool one_sided(const struct tally *t, size_t n)
{
	for (size_t k = 0; sample_kind(k); k++)
		if (t->of_kind[k] == 0)
			return true;
	return t->valid < n / 3 || t->loads == n || t->damaged_slots < n / 10;
}

static int make(const char *dir, uint64_t seed, size_t n)
{
	static struct sample s;
	struct tally t = {0};

	for (size_t i = 0; i < n; i++) {
		sample_make(seed, i, &s);
		write_file(dir, i, &s);
		count(&s, &t);
	}
	printf("seed %" PRIu64 ": %zu files, %zu valid; GRUB loads %zu, boots a slot of %zu "
	       "(%zu of them damaged), takes %zu trials\n",
	       seed, n, t.valid, t.loads, t.slots, t.damaged_slots, t.trials);
	for (size_t k = 0; sample_kind(k); k++)
		printf("%s %zu%s", sample_kind(k), t.of_kind[k], sample_kind(k + 1) ? ", " : "\n");
	return n >= 1000 && sample_kind(0) && one_sided(&t, n);
}

static int proto(const char *dir, size_t n)
{
	char path[512];

	printf("/\n0 0\nd--755 0 0\n");
	for (size_t i = 0; i < n; i++) {
		path_of(dir, i, path, sizeof(path));
		if (i % 100 == 0)
			printf("%s%03zu d--755 0 0\n", i ? "$\n" : "", i / 100);
		printf("%02zu d--755 0 0\n%s ---644 0 0 %s\n$\n", i % 100, ENV_FILE_NAME, path);
	}
	printf("$\n$\n");
	return 0;
}

/* --- grub-editenv -------------------------------------------------------------------- */

static void print_var(const char *name, const char *value, void *data)
{
	str_addf(data, "%s=%s\n", name, value);
}

/* Its output and exit status; what it says on stderr is thrown away. */
static int run_editenv(const char *path, struct str *out)
{
	char *argv[] = {(char *)"grub-editenv", (char *)path, (char *)"list", NULL};
	posix_spawn_file_actions_t actions;
	int pipefd[2], status;
	char buf[4096];
	ssize_t r;
	pid_t pid;

	if (pipe2(pipefd, O_CLOEXEC) < 0)
		die("pipe2");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipefd[1], 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	errno = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	if (errno)
		die(argv[0]);
	posix_spawn_file_actions_destroy(&actions);
	close(pipefd[1]);
	while ((r = read(pipefd[0], buf, sizeof(buf))) > 0)
		str_addn(out, buf, (size_t)r);
	close(pipefd[0]);
	if (waitpid(pid, &status, 0) < 0)
		die("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int complain(size_t i, const struct sample *s, const char *what)
{
	fprintf(stderr, "file %03zu/%02zu (%s): %s\n", i / 100, i % 100, s->kind, what);
	return 1;
}

/* Each value that GRUB sees in a file that env_parse() takes is the one at its place. */
static void at_its_place(const char *name, const char *value, void *data)
{
	const char *text = *(const char **)data;

	if (!text)
		return;
#define X(member, field, offset, width)                                               \
	if (streq(name, field) &&                                                     \
	    (strlen(value) != (width) || memcmp(value, text + (offset), width) != 0)) \
		*(const char **)data = NULL;                                          \
	if (streq(name, field))                                                       \
		return;
	ENV_FIELDS(X)
#undef X
	*(const char **)data = NULL;
}

static int check_sound(size_t i, const struct sample *s, const struct boot_env *env)
{
	char args[ENV_GRUB_KARGS_SIZE], copy[ENV_SIZE];
	const char *text = s->text;
	cleanup_str struct str words = {0};
	struct env_grub g;

	memcpy(copy, s->text, ENV_SIZE);
	envblk_each(copy, ENV_SIZE, at_its_place, &text);
	if (!text)
		return complain(i, s, "a value is not what env_parse says");
	env_grub_read(s->text, s->len, true, &g);
	if (g.slot != env_next_slot(env) || g.trial != (env_slot_index(env->try_) >= 0))
		return complain(i, s, "env_parse says another slot or trial");
	if (g.left_out != (g.slot != ENV_NONE && !g.trial && env->begun == '2'))
		return complain(i, s, "env_parse says another count of begun boots");
	snprintf(args, sizeof(args), "%s", g.left_out ? "" : env_slot(env, g.slot));
	if (g.trial)
		str_addf(&words, "railhead.trial=%c " ENV_TRIAL_EXTRA " ", g.slot);
	else if (g.slot != ENV_NONE && env->begun != ENV_NONE && !g.left_out)
		str_addf(&words, "railhead.begun=%c " ENV_BEGUN_EXTRA " ", env->begun + 1);
	if (g.slot != ENV_NONE)
		str_add(&words, ENV_ARG_BEGIN " ");
	for (char *p, *w = strtok_r(args, " ", &p); w; w = strtok_r(NULL, " ", &p))
		str_addf(&words, "%s ", w);
	if (g.slot != ENV_NONE)
		str_addf(&words, "railhead.slot=%s%c", g.left_out ? "-" : "", g.slot);
	return streq(str_get(&words), g.kargs) ? 0 : complain(i, s, "env_parse says other args");
}

static int check_editenv(const char *dir, uint64_t seed, size_t i)
{
	cleanup_str struct str want = {0}, got = {0};
	static struct sample s, copy;
	struct boot_env env;
	char path[512];
	int r;

	sample_make(seed, i, &s);
	path_of(dir, i, path, sizeof(path));
	r = run_editenv(path, &got);
	if (r != (envblk_loads(s.text, s.len) ? 0 : 1))
		return complain(i, &s, r ? "grub-editenv refuses it" : "grub-editenv takes it");
	if (is_sound(&s, &env) && check_sound(i, &s, &env))
		return 1;
	if (r != 0)
		return got.len ? complain(i, &s, "refused and listed") : 0;
	copy = s;
	envblk_each(copy.text, copy.len, print_var, &want);
	if (streq(str_get(&want), str_get(&got)) && want.len == got.len)
		return 0;
	fprintf(stderr, "grub-editenv:\n%s\nenv_grub:\n%s\n", str_get(&got), str_get(&want));
	return complain(i, &s, "other variables");
}

static int editenv(const char *dir, uint64_t seed, size_t n, size_t jobs)
{
	int bad = 0, status;

	for (size_t job = 0; job < jobs; job++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid > 0)
			continue;
		for (size_t i = job; i < n; i += jobs)
			bad |= check_editenv(dir, seed, i);
		exit(bad);
	}
	while (wait(&status) > 0)
		bad |= status != 0;
	return bad;
}

/* --- GRUB's script ------------------------------------------------------------------- */

/*
 * Per batch one file /bNNN on (hd1), into which save_env writes variables r0 to r19. Their
 * names are few, as GRUB looks them up in lists.
 */
static int config(const char *snippet, const char *device, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t r = i % BATCH;

		if (r == 0)
			printf("vars=\n");
		printf("prefix=(%s)/%03zu/%02zu\nsource (host)%s\n", device, i / 100, i % 100,
		       snippet);
		/* A loop over words, as the words of a linux line are made. */
		printf("words=\nfor w in $railhead_kargs; do words=\"$words$w \"; done\n"
		       "known=-\nif [ \"$railhead_layout\" = 1 ]; then known=1; fi\n"
		       "set \"r%zu=$known:$words\"\nvars=\"$vars r%zu\"\n",
		       r, r);
		if (r == BATCH - 1 || i == n - 1)
			printf("save_env -f (hd1)/b%03zu $vars\n", i / BATCH);
	}
	printf("exit\n");
	return 0;
}

static void result_path(const char *dir, size_t i, char *ret, size_t size)
{
	snprintf(ret, size, "%s/b%03zu", dir, i / BATCH);
}

static int results(const char *dir, size_t n)
{
	static char block[BATCH_SIZE];
	char path[512];

	memset(block, '#', sizeof(block));
	memcpy(block, ENV_SIGNATURE, strlen(ENV_SIGNATURE));
	for (size_t i = 0; i < n; i += BATCH) {
		FILE *f;

		result_path(dir, i, path, sizeof(path));
		f = fopen(path, "w");
		if (!f || fwrite(block, 1, sizeof(block), f) != sizeof(block) || fclose(f) != 0)
			die(path);
	}
	return 0;
}

struct found {
	const char *value[BATCH];
};

static void found(const char *name, const char *value, void *data)
{
	struct found *f = data;
	size_t i;

	if (sscanf(name, "r%zu", &i) == 1 && i < BATCH)
		f->value[i] = value;
}

static int check_booted(uint64_t seed, size_t i, const char *value, bool can_save)
{
	cleanup_str struct str want = {0};
	static struct sample s;
	struct env_grub g;
	size_t len = 0;

	sample_make(seed, i, &s);
	if (!value)
		return complain(i, &s, "GRUB's script left no result");
	env_grub_read(s.text, s.len, can_save, &g);
	str_addf(&want, "%c:%s", g.taken_by_snippet ? '1' : '-', g.kargs);
	len = want.len;
	/* Either ends in one blank, or our line is cut. */
	if (*g.kargs && strlen(g.kargs) < ENV_GRUB_KARGS_SIZE - 1) {
		str_add(&want, " ");
		len = want.len + 1;
	} else if (!*g.kargs) {
		len++;
	}
	if (strncmp(str_get(&want), value, len) == 0)
		return 0;
	fprintf(stderr, "GRUB:     %s\nenv_grub: %s\n", value, str_get(&want));
	return complain(i, &s, "GRUB's script makes something else of it");
}

static int booted(const char *dir, uint64_t seed, size_t n, bool can_save)
{
	static char block[BATCH_SIZE];
	char path[512];
	int bad = 0;

	for (size_t i = 0; i < n; i += BATCH) {
		struct found r = {0};
		FILE *f;

		result_path(dir, i, path, sizeof(path));
		f = fopen(path, "r");
		if (!f || fread(block, 1, sizeof(block), f) != sizeof(block) || fclose(f) != 0)
			die(path);
		envblk_each(block, sizeof(block), found, &r);
		for (size_t j = i; j < i + BATCH && j < n; j++)
			bad |= check_booted(seed, j, r.value[j - i], can_save);
	}
	return bad;
}

struct selectors {
	const char *layout, *try_;
};

static void selector(const char *name, const char *value, void *data)
{
	struct selectors *ret = data;

	if (streq(name, "railhead_layout"))
		ret->layout = value;
	if (streq(name, ENV_VAR_TRY))
		ret->try_ = value;
}

static bool is_armed(const struct sample *s)
{
	static struct sample copy;
	struct selectors sel = {"", ""};

	copy = *s;
	if (envblk_loads(copy.text, copy.len))
		envblk_each(copy.text, copy.len, selector, &sel);
	return streq(sel.layout, ENV_LAYOUT) && (streq(sel.try_, "a") || streq(sel.try_, "b"));
}

/* Also where the script saves in vain: the last line of that name is not the one written. */
static int after(const char *dir, uint64_t seed, size_t n)
{
	size_t written = 0, in_vain = 0, counted = 0, left_out = 0;
	static struct sample s, copy;
	struct env_grub g;

	for (size_t i = 0; i < n; i++) {
		bool armed, changed;

		sample_make(seed, i, &s);
		copy = s;
		armed = is_armed(&s);
		env_grub_boot(s.text, s.len, true, &g);
		changed = memcmp(s.text, copy.text, s.len) != 0;
		written += changed;
		in_vain += changed && armed && !g.trial;
		counted += changed && !armed;
		left_out += g.left_out;
		write_file(dir, i, &s);
	}
	printf("%zu files written by save_env, %zu of them in vain, %zu to count a boot; "
	       "the args left out of %zu\n",
	       written, in_vain, counted, left_out);
	return n >= 1000 && sample_kind(0) &&
	       (written < n / 10 || in_vain == 0 || counted < n / 10 || left_out < n / 50);
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	if (!*text || *end) {
		fprintf(stderr, "grub_reader: not a number: %s\n", text);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";

	if (streq(verb, "make") && argc == 5)
		return make(argv[2], number(argv[3]), number(argv[4]));
	if (streq(verb, "proto") && argc == 4)
		return proto(argv[2], number(argv[3]));
	if (streq(verb, "editenv") && argc == 6)
		return editenv(argv[2], number(argv[3]), number(argv[4]), number(argv[5]));
	if (streq(verb, "config") && argc == 5)
		return config(argv[2], argv[3], number(argv[4]));
	if (streq(verb, "results") && argc == 4)
		return results(argv[2], number(argv[3]));
	if (streq(verb, "booted") && argc == 6)
		return booted(argv[2], number(argv[3]), number(argv[4]), streq(argv[5], "rw"));
	if (streq(verb, "after") && argc == 5)
		return after(argv[2], number(argv[3]), number(argv[4]));
	fprintf(stderr, "usage: see the head of tests/lib/grub_reader.c\n");
	return 2;
}
