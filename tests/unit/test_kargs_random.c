/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random lines against oracles that are simpler than what they judge: a line put together
 * from its parts, a machine that executes the words of an argument one after another. The
 * seed is fixed; RAILHEAD_SEED=N tries another one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kargs/env_layout.h"
#include "kargs/kargs.h"
#include "kargs/token.h"

enum { ROUNDS = 3000 };

static uint64_t seed;

static unsigned int below(unsigned int n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)(seed >> 33) % n;
}

#define PICK(list) ((list)[below(array_len(list))])

static void add_all(struct kargs *to, const struct kargs *from)
{
	for (size_t i = 0; i < from->n; i++)
		kargs_add(to, from->v[i].text, NULL);
}

static void assert_none(const char *what, const struct kargs *l, const char *line,
			const struct kargs *wanted)
{
	cleanup_free char *text = kargs_line(l), *want = kargs_line(wanted);

	if (l->n)
		fail_msg("%s: \"%s\", of \"%s\" wanted on \"%s\"", what, text, want, line);
}

/* --- splitting ----------------------------------------------------------------------------- */

/* What the kernel would hand to a handler, made by cutting a copy in place. */
struct heard {
	char *name;
	char *value;
};

static char *cut_token(char *s, char **rest)
{
	size_t quotes = 0, n = 0;

	for (; s[n]; n++) {
		if (strchr(" \t\n\v\f\r\xa0", s[n]) && quotes % 2 == 0)
			break;
		quotes += s[n] == '"';
	}
	*rest = s[n] ? s + n + 1 : s + n;
	s[n] = '\0';
	return s;
}

static struct heard hear(char *s)
{
	struct heard h = {.name = s};
	bool quoted = *s == '"', cut = false;
	size_t len;

	if (quoted)
		h.name = ++s;
	len = strlen(s);
	h.value = len > 1 ? strchr(s + 1, '=') : NULL;
	if (h.value && h.value[1] == '"') {
		h.value += 2;
		cut = s[len - 1] == '"';
	} else if (h.value) {
		h.value++;
	}
	cut = cut || (quoted && !(h.value && h.value[-1] == '"'));
	if (h.value)
		h.value[h.value[-1] == '"' ? -2 : -1] = '\0';
	if (cut && len && s[len - 1] == '"')
		s[len - 1] = '\0';
	return h;
}

static void test_split_as_the_kernel(void **state)
{
	static const char alphabet[] = "ab=\"\"== \t-_\xa0.,";

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		cleanup_kargs struct kargs l = {0};
		char line[24], copy[24], *rest = copy;
		size_t n = below(sizeof(line)), i = 0;

		for (size_t k = 0; k < n; k++)
			line[k] = alphabet[below(sizeof(alphabet) - 1)];
		line[n] = '\0';
		memcpy(copy, line, n + 1);
		kargs_split(&l, line, NULL);
		while (*rest) {
			char *token = cut_token(rest, &rest);
			struct token have;
			struct heard h;

			if (!*token)
				continue;
			h = hear(token);
			if (!h.value && streq(h.name, "--"))
				break;
			assert_true(i < l.n);
			have = token_of(l.v[i++].text);
			if (have.name_len != strlen(h.name) ||
			    memcmp(have.name, h.name, have.name_len) != 0)
				fail_msg("name %zu of <%s>", i, line);
			if (!have.value != !h.value)
				fail_msg("value %zu of <%s>", i, line);
			if (h.value && (have.value_len != strlen(h.value) ||
					memcmp(have.value, h.value, have.value_len) != 0))
				fail_msg("value %zu of <%s>", i, line);
		}
		if (i != l.n)
			fail_msg("%zu tokens of <%s>, expected %zu", l.n, line, i);
	}
}

static void test_line_and_split(void **state)
{
	static const char *const tokens[] = {"a",   "a=1", "k=\"x y\"", "\"k=x y\"",
					     "--x", "=",   "a="};

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		cleanup_kargs struct kargs l = {0}, again = {0};
		cleanup_free char *line = NULL;

		for (unsigned int n = below(6); n; n--)
			kargs_add(&l, PICK(tokens), NULL);
		line = kargs_line(&l);
		kargs_split(&again, line, NULL);
		assert_int_equal(again.n, l.n);
		for (size_t i = 0; i < l.n; i++)
			assert_string_equal(again.v[i].text, l.v[i].text);
		assert_true(kargs_same(&l, &again));
	}
}

/* --- in force ------------------------------------------------------------------------------ */

/* What intel_iommu= sets, word by word. */
struct machine {
	int dmar, sm, igfx;
};

static void execute(struct machine *m, const char *value)
{
	cleanup_free char *copy = xstrdup(value);
	char *save = NULL;

	for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		if (streq(w, "on") || streq(w, "off"))
			m->dmar = w[1] == 'n' ? 1 : -1;
		else if (streq(w, "igfx_off"))
			m->igfx = -1;
		else
			m->sm = w[4] == 'n' ? 1 : -1;
	}
}

static char *random_words(void)
{
	static const char *const words[] = {"on", "off", "sm_on", "sm_off", "igfx_off"};
	struct str s = {0};

	for (unsigned int n = 1 + below(3); n; n--)
		str_addf(&s, "%s%s", s.len ? "," : "", PICK(words));
	return str_take(&s);
}

static bool says_one_thing(const char *value)
{
	struct machine all = {0};
	cleanup_free char *copy = xstrdup(value);
	char *save = NULL;

	execute(&all, value);
	for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		struct machine then = all;

		execute(&then, w);
		if (memcmp(&then, &all, sizeof(all)) != 0)
			return false;
	}
	return true;
}

/* A list that does not contradict itself is in force iff to execute it again changes nothing. */
static void test_lists(void **state)
{
	int in_force = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		cleanup_free char *value = random_words(),
				  *token = xasprintf("intel-iommu=%s", value);
		cleanup_str struct str line = {0};
		struct machine before = {0}, after;
		bool want;

		for (unsigned int n = 1 + below(4); n; n--) {
			cleanup_free char *other = random_words();

			execute(&before, other);
			str_addf(&line, " quiet intel_iommu=%s", other);
		}
		after = before;
		execute(&after, value);
		want = memcmp(&before, &after, sizeof(after)) == 0 && says_one_thing(value);
		in_force += want;
		if (kargs_has(str_get(&line), token) != want)
			fail_msg("kargs_has(\"%s\", \"%s\")", str_get(&line), token);
	}
	assert_in_range(in_force, ROUNDS / 20, ROUNDS);
}

/* A plain key is a variable that is assigned to. */
static void test_plain(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		int value[3] = {-1, -1, -1};
		cleanup_str struct str line = {0};

		for (unsigned int n = below(7); n; n--) {
			unsigned int key = below(3), v = below(3);

			value[key] = (int)v;
			str_addf(&line, "k%s%u=%u ", below(2) ? "_" : "-", key, v);
		}
		for (unsigned int key = 0; key < 3; key++)
			for (int v = 0; v < 3; v++) {
				cleanup_free char *token = xasprintf("k-%u=%d", key, v);

				if (kargs_has(str_get(&line), token) != (value[key] == v))
					fail_msg("kargs_has(\"%s\", \"%s\")", str_get(&line),
						 token);
			}
	}
}

/* --- the next boot --------------------------------------------------------------------------- */

static const char *const theirs[] = {
	"ro",
	"quiet",
	"root=/dev/vda2",
	"console=tty0",
	"console=ttyS0",
	"net.ifnames=0",
	"panic=30",
	"rd.shell=0",
	"rd.lvm.lv=a/b",
	"cgroup_disable=memory",
	"mitigations=off",
	"intel_pstate=no_hwp",
	"crashkernel=256M",
	"isolcpus=1",
	"pci=noats",
	"hugepagesz=2M",
	"rd.emergency=reboot",
	"railhead.profile=x",
	"k=\"v w\"",
};

/* Each key once: what a profile may want. */
static const char *const ours[][3] = {
	{"intel_iommu=on", "intel_iommu=on,sm_on", "intel-iommu=sm_off"},
	{"iommu=pt", "iommu=nopt", "iommu=pt"},
	{"transparent_hugepage=never", "transparent_hugepage=madvise",
	 "transparent-hugepage=never"},
	{"isolcpus=2-3", "isolcpus=managed_irq,domain,2-3", "isolcpus=4"},
	{"pci=realloc", "pci=realloc=off", "pci=noats,realloc"},
	{"crashkernel=512M,high", "crashkernel=256M", "crashkernel=1G"},
	{"nosmt", "nosmt", "nosmt"},
	{"console=ttyS1", "console=tty0", "console=ttyS1"},
	{"nvme.poll=1", "nvme.poll=2", "nvme.poll"},
	{"rd.lvm.lv=c/d", "rd.lvm.lv=a/b", "rd.lvm.lv=c/d"},
};
static const char *const pages[] = {
	"default_hugepagesz=1G hugepagesz=1G hugepages=0:2,1:2",
	"hugepagesz=1G hugepages=4 hugepagesz=2M hugepages=8",
	"hugepagesz=2M hugepages=8 hugepagesz=1G hugepages=4",
	"default_hugepagesz=2M hugepagesz=1G hugepages=2",
};

static void random_theirs(struct kargs *l)
{
	for (unsigned int n = below(6); n; n--)
		kargs_add(l, PICK(theirs), NULL);
}

static void random_ours(struct kargs *l, bool with_pages)
{
	for (size_t i = 0; i < array_len(ours); i++)
		if (below(3) == 0)
			kargs_add(l, ours[i][below(3)], NULL);
	if (with_pages && below(2))
		kargs_split(l, PICK(pages), NULL);
}

struct boot {
	struct kargs before, owned, behind;
	char *line;
};

/* A trial, perhaps of an older snippet, or a boot that is counted. */
static void random_added(struct kargs *l)
{
	static const char *const added[] = {
		ENV_ARG_TRIAL "b " ENV_TRIAL_EXTRA,
		ENV_ARG_TRIAL "b " ENV_TRIAL_OLDER,
		ENV_ARG_BEGUN "1 " ENV_BEGUN_EXTRA,
	};

	kargs_split(l, PICK(added), NULL);
	while (l->n > 2 && below(3) == 0)
		free(l->v[--l->n].text);
}

/* The line as GRUB puts it together. */
static void random_boot(struct boot *b)
{
	cleanup_kargs struct kargs all = {0}, extra = {0};
	bool older = false;

	*b = (struct boot){0};
	random_theirs(&b->before);
	random_theirs(&b->behind);
	add_all(&all, &b->before);
	if (below(5)) {
		random_ours(&b->owned, true);
		if (below(2))
			random_added(&extra);
		older = extra.n && str_starts(extra.v[0].text, ENV_ARG_TRIAL) && below(2);
		if (!older)
			add_all(&all, &extra);
		if (!older && below(2))
			kargs_add(&all, ENV_ARG_BEGIN, NULL);
		add_all(&all, &b->owned);
		kargs_add(&all, ENV_ARG_SLOT "b", NULL);
		if (older)
			add_all(&all, &extra);
	}
	add_all(&all, &b->behind);
	b->line = kargs_line(&all);
}

static void free_boot(struct boot *b)
{
	kargs_free(&b->before);
	kargs_free(&b->owned);
	kargs_free(&b->behind);
	free(b->line);
}

static bool starts_like_extra(const struct kargs *behind)
{
	cleanup_kargs struct kargs extra = {0};

	kargs_split(&extra, ENV_TRIAL_OLDER, NULL);
	for (size_t i = 0; behind->n && i < extra.n; i++)
		if (streq(behind->v[0].text, extra.v[i].text))
			return true;
	return false;
}

static void test_predict_is_the_parts(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		cleanup(free_boot) struct boot b;
		cleanup_kargs struct kargs wanted = {0}, parts = {0};
		cleanup_free char *next = NULL, *expected = NULL;
		bool marked;

		random_boot(&b);
		marked = strstr(b.line, ENV_ARG_SLOT) != NULL;
		/* an older snippet's trial and a user's own of the same text can't be told apart */
		if (strstr(b.line, ENV_ARG_TRIAL) && starts_like_extra(&b.behind))
			continue;
		random_ours(&wanted, true);
		add_all(&parts, &b.before);
		if (marked)
			add_all(&parts, &wanted);
		add_all(&parts, &b.behind);
		if (!marked)
			add_all(&parts, &wanted);
		next = kargs_predict(b.line, &b.owned, &wanted);
		expected = kargs_line(&parts);
		if (!streq(next, expected))
			fail_msg("after \"%s\": \"%s\", expected \"%s\"", b.line, next, expected);
	}
}

/*
 * Where nothing of the user's contradicts, the next boot has all that is wanted and nothing
 * that was dropped: one reboot, never two.
 */
static void test_predict_converges(void **state)
{
	int clean = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		cleanup(free_boot) struct boot b;
		cleanup_kargs struct kargs wanted = {0}, conflicts = {0}, missing = {0},
					   dropped = {0};
		cleanup_free char *next = NULL;

		random_boot(&b);
		random_ours(&wanted, !strstr(b.line, "hugepagesz=2M"));
		kargs_conflicts(&wanted, &b.owned, b.line, &conflicts);
		if (conflicts.n)
			continue;
		clean++;
		next = kargs_predict(b.line, &b.owned, &wanted);
		kargs_missing(&wanted, next, &missing);
		assert_none("missing", &missing, next, &wanted);
		/* the slot that the next boot has is `wanted` */
		kargs_dropped(&wanted, &wanted, next, &dropped);
		assert_none("dropped", &dropped, next, &wanted);
	}
	assert_in_range(clean, ROUNDS / 4, ROUNDS);
}

/* What is dropped is of owned and on the line; with nothing wanted, it is all of it. */
static void test_dropped(void **state)
{
	static const struct kargs none = {0};

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		cleanup(free_boot) struct boot b;
		cleanup_kargs struct kargs all = {0}, some = {0}, line = {0}, wanted = {0};

		random_boot(&b);
		random_ours(&wanted, true);
		kargs_dropped(&b.owned, &none, b.line, &all);
		assert_int_equal(all.n, b.owned.n);
		kargs_dropped(&b.owned, &wanted, b.line, &some);
		kargs_split(&line, b.line, NULL);
		for (size_t i = 0; i < some.n; i++) {
			size_t owned = 0, there = 0, still = 0;

			for (size_t k = 0; k < b.owned.n; k++)
				owned += karg_equal(b.owned.v[k].text, some.v[i].text);
			for (size_t k = 0; k < line.n; k++)
				there += karg_equal(line.v[k].text, some.v[i].text);
			for (size_t k = 0; k < wanted.n; k++)
				still += karg_rule(some.v[i].text) != KARG_PAGES &&
					 karg_equal(wanted.v[k].text, some.v[i].text);
			assert_true(owned && there);
			assert_int_equal(still, 0);
		}
	}
}

/* Pairs are in force in any order of the pairs, and not if any two of their tokens are swapped. */
static void test_pages(void **state)
{
	static const char *const pairs[] = {"hugepagesz=1G hugepages=4",
					    "hugepagesz=2M hugepages=8",
					    "hugepagesz=16G hugepages=0:1,1:2"};

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		unsigned int from = below(3), n = 2 + below(2);
		cleanup_kargs struct kargs wanted = {0}, line = {0}, missing = {0}, lost = {0};
		cleanup_free char *text = NULL, *swapped = NULL;
		size_t i, k;

		for (unsigned int p = 0; p < n; p++)
			kargs_split(&wanted, pairs[p], NULL);
		for (unsigned int p = 0; p < 3; p++)
			if ((from + p) % 3 < n) {
				kargs_split(&line, pairs[(from + p) % 3], NULL);
				random_theirs(&line);
			}
		/* the user's size without a count voids what follows */
		for (k = 0, i = 0; i < line.n; i++)
			k += streq(line.v[i].text, "hugepagesz=2M");
		if (k != 1)
			continue;
		text = kargs_line(&line);
		kargs_missing(&wanted, text, &missing);
		assert_none("missing", &missing, text, &wanted);
		do {
			i = below((unsigned int)line.n);
			k = below((unsigned int)line.n);
		} while (!str_starts(line.v[i].text, "hugepages=") ||
			 !str_starts(line.v[k].text, "hugepagesz="));
		{
			struct karg t = line.v[i];

			line.v[i] = line.v[k];
			line.v[k] = t;
		}
		swapped = kargs_line(&line);
		kargs_missing(&wanted, swapped, &lost);
		if (!lost.n)
			fail_msg("nothing missing on \"%s\"", swapped);
	}
}

int main(void)
{
	const char *other = getenv("RAILHEAD_SEED");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split_as_the_kernel),
		cmocka_unit_test(test_line_and_split),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_predict_is_the_parts),
		cmocka_unit_test(test_predict_converges),
		cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_pages),
	};

	seed = other ? strtoull(other, NULL, 0) : 20261121;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
