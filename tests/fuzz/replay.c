/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stands in for libFuzzer where there is no clang:
 *
 *   fuzz_NAME [-mutations=N] [-write=K] FILE|DIR...
 *
 * runs a target over files and over the files of directories, then over N inputs that are made of
 * these. The K-th of them (from 1) follows from K and the files alone, so it is the same on each
 * machine and in each run; -write=K prints it instead of running the target. An input that the
 * target does not survive is the last one named.
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/vec.h"

enum { CHANGES_MAX = 6, GROWTH = 4096 /* a mutated input is at most so much longer */ };

struct input {
	uint8_t *data;
	size_t len;
};

static struct {
	VEC(struct input) list;
} corpus;

/* As long as the input: the sanitizer sees a read behind its end. */
static void run(const uint8_t *data, size_t len)
{
	cleanup_free uint8_t *copy = xcalloc(len, 1);

	if (len)
		memcpy(copy, data, len);
	LLVMFuzzerTestOneInput(copy, len);
}

static void read_input(const char *path)
{
	cleanup_fclose FILE *f = fopen(path, "r");
	struct input in = {0};
	struct stat st;

	must(f && fstat(fileno(f), &st) == 0);
	in.len = (size_t)st.st_size;
	in.data = xcalloc(in.len, 1);
	must(fread(in.data, 1, in.len, f) == in.len);
	vec_push(&corpus.list, in);
}

static void add(const char *path, struct strv *names)
{
	cleanup_closedir DIR *dir = opendir(path);
	cleanup_strv struct strv own = {0};

	if (!dir && errno == ENOTDIR) {
		strv_add(names, path);
		return;
	}
	for (struct dirent *e; dir && (e = readdir(dir));)
		if (*e->d_name != '.')
			strv_add(&own, e->d_name);
	if (!own.n) { /* an empty corpus proves nothing */
		fprintf(stderr, "%s: no inputs: add some that the target must survive\n", path);
		exit(1);
	}
	strv_sort(&own);
	for (size_t i = 0; i < own.n; i++) {
		cleanup_free char *file = xasprintf("%s/%s", path, own.v[i]);

		strv_add(names, file);
	}
}

/* --- inputs that are made ------------------------------------------------------------------- */

/* splitmix64 (Vigna): no rand(), which differs between C libraries. */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* 0 to n - 1; 0 if n is 0 */
static size_t below(uint64_t *state, size_t n)
{
	return n ? (size_t)(next(state) % n) : 0;
}

static void insert(struct input *in, size_t at, const uint8_t *data, size_t len)
{
	in->data = xrealloc(in->data, in->len + len + 1, 1);
	memmove(in->data + at + len, in->data + at, in->len - at);
	memcpy(in->data + at, data, len);
	in->len += len;
}

static void cut(struct input *in, size_t at, size_t len)
{
	memmove(in->data + at, in->data + at + len, in->len - at - len);
	in->len -= len;
}

/* Numbers at which a length, a count or a sign turns over, and what delimits text. */
static const struct {
	uint8_t len, bytes[8];
} words[] = {
	{1, {0}},
	{1, {0xff}},
	{1, {'\n'}},
	{1, {' '}},
	{1, {'\t'}},
	{1, {'\v'}},
	{1, {'='}},
	{1, {'"'}},
	{1, {'\\'}},
	{1, {'$'}},
	{1, {'{'}},
	{1, {'}'}},
	{1, {'['}},
	{1, {']'}},
	{1, {':'}},
	{1, {','}},
	{1, {'#'}},
	{1, {'-'}},
	{2, {'$', '{'}},
	{2, {0xc2, 0x9b}},
	{2, {0xff, 0xff}},
	{2, {0, 0x80}},
	{4, {0, 0, 0, 0}},
	{4, {0, 0, 0, 0x80}},
	{4, {0xff, 0xff, 0xff, 0x7f}},
	{4, {0xff, 0xff, 0xff, 0xff}},
	{4, {'n', 'u', 'l', 'l'}},
	{4, {'1', 'e', '3', '0'}},
	{8, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}},
};

static void overwrite(struct input *in, size_t at, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len && at + i < in->len; i++)
		in->data[at + i] = data[i];
}

/* A piece of `from`, to its end at most. */
static void piece(const struct input *from, uint64_t *state, const uint8_t **ret, size_t *ret_len)
{
	size_t at = below(state, from->len);

	*ret = from->data + at;
	*ret_len = below(state, (from->len - at < 64 ? from->len - at : 64) + 1);
}

static void change(struct input *in, uint64_t *state)
{
	size_t at = below(state, in->len), n = below(state, 16) + 1, len;
	size_t word = below(state, array_len(words));
	const struct input *other = &corpus.list.v[below(state, corpus.list.n)];
	uint8_t byte = (uint8_t)next(state);
	cleanup_free uint8_t *copy = NULL;
	const uint8_t *from;

	if (n > in->len - at)
		n = in->len - at;
	switch (below(state, 9)) {
	case 0: /* another bit */
		if (in->len)
			in->data[at] ^= (uint8_t)(1 << below(state, 8));
		break;
	case 1: /* another byte */
		overwrite(in, at, &byte, 1);
		break;
	case 2: /* a byte more */
		insert(in, at, &byte, 1);
		break;
	case 3:
		cut(in, at, n);
		break;
	case 4: /* a piece twice */
		piece(in, state, &from, &len);
		copy = len ? memcpy(xcalloc(len, 1), from, len) : xcalloc(1, 1);
		insert(in, at, copy, len);
		break;
	case 5:
		overwrite(in, at, words[word].bytes, words[word].len);
		break;
	case 6:
		insert(in, at, words[word].bytes, words[word].len);
		break;
	case 7: /* a piece of another input */
		piece(other, state, &from, &len);
		insert(in, at, from, len);
		break;
	case 8: /* the end is missing */
		in->len = at;
		break;
	}
}

static struct input mutation(uint64_t number)
{
	uint64_t state = number;
	const struct input *base = &corpus.list.v[below(&state, corpus.list.n)];
	struct input in = {xcalloc(base->len + 1, 1), base->len};
	size_t n = below(&state, CHANGES_MAX) + 1;

	if (base->len)
		memcpy(in.data, base->data, base->len);
	for (size_t i = 0; i < n; i++)
		change(&in, &state);
	if (in.len > base->len + GROWTH)
		in.len = base->len + GROWTH;
	return in;
}

static void run_mutation(uint64_t number)
{
	struct input in = mutation(number);

	fprintf(stderr, "# mutation %llu\n", (unsigned long long)number);
	run(in.data, in.len);
	free(in.data);
}

/* --- all ---------------------------------------------------------------------------------------
 */

static uint64_t option(const char *arg, const char *name)
{
	size_t n = strlen(name);

	return strncmp(arg, name, n) == 0 ? strtoull(arg + n, NULL, 10) : 0;
}

int main(int argc, char **argv)
{
	uint64_t mutations = 0, wanted = 0;
	cleanup_strv struct strv names = {0};

	for (int i = 1; i < argc; i++)
		if (*argv[i] == '-') {
			mutations += option(argv[i], "-mutations=");
			wanted += option(argv[i], "-write=");
		} else {
			add(argv[i], &names);
		}
	must(names.n);
	for (size_t i = 0; i < names.n; i++)
		read_input(names.v[i]);
	if (wanted) {
		struct input in = mutation(wanted);

		must(fwrite(in.data, 1, in.len, stdout) == in.len);
		free(in.data);
	}
	for (size_t i = 0; i < names.n && !wanted; i++) {
		fprintf(stderr, "# %s\n", names.v[i]);
		run(corpus.list.v[i].data, corpus.list.v[i].len);
	}
	for (uint64_t k = 1; k <= mutations && !wanted; k++)
		run_mutation(k);
	for (size_t i = 0; i < names.n; i++)
		free(corpus.list.v[i].data);
	vec_free(&corpus.list);
	if (!wanted)
		printf("%zu inputs, %llu made of them\n", names.n, (unsigned long long)mutations);
	return 0;
}
