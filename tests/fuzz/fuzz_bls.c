/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Menu entries: laws that mending keeps for any file. The input is three pieces between lines
 * "--8<--": the text of slot a, that of slot b, the entry; what is missing is empty.
 */
#include "fuzz.h"

#include "base/mem.h"
#include "base/str.h"
#include "kargs/kargs.h"
#include "loader/bls.h"

#define CUT "\n--8<--\n"
#define OPTIONS "options "

static const char *piece(char **rest)
{
	char *p = *rest, *cut = strstr(p, CUT);

	*rest = cut ? cut + strlen(CUT) : p + strlen(p);
	if (cut)
		*cut = '\0';
	return p;
}

/* Each word of `mended` but the variable is one of `text`, in order: nothing is made up. */
static void is_part(const char *mended, const char *text)
{
	cleanup_kargs struct kargs all = {0}, left = {0};
	size_t at = 0;

	kargs_split(&all, text, NULL);
	kargs_split(&left, mended, NULL);
	for (size_t i = 0; i < left.n; i++) {
		if (streq(left.v[i].text, "$" ENV_VAR_KARGS))
			continue;
		while (at < all.n && !streq(all.v[at].text, left.v[i].text))
			at++;
		must(at++ < all.n);
	}
}

static void laws(const char *text, const struct boot_env *env, const char *kernelopts)
{
	cleanup_bls_mended struct bls_mended m = {0}, again = {0};
	enum bls_state before = bls_judge(text, kernelopts);

	if (!bls_mend(text, env, kernelopts, &m))
		return;
	must(!streq(m.text, text));
	must(m.added || *m.taken);
	must(bls_is_grub(m.text) == bls_is_grub(text));
	must(before != BLS_NO_OPTIONS);
	must(bls_judge(m.text, kernelopts) == BLS_TAKES ||
	     bls_judge(m.text, kernelopts) == BLS_FLAT_KERNELOPTS);
	must(!bls_mend(m.text, env, kernelopts, &again));
	if (!strchr(text, '"') && !strstr(text, "--"))
		is_part(m.text, text);
}

/* Cleared, it has nothing of railhead's; what is then mended again takes the variable. */
static void clears(const char *text, const struct boot_env *env)
{
	cleanup_bls_mended struct bls_mended m = {0}, again = {0};

	if (!bls_clear(text, env, &m))
		return;
	must(!m.added && *m.taken);
	must(bls_judge(m.text, NULL) == BLS_LACKS || bls_judge(m.text, NULL) == BLS_NO_OPTIONS);
	must(!bls_clear(m.text, env, &again));
}

/* A value of one line, in which no word is railhead's and no quote may be open. */
static bool is_plain(const char *s)
{
	return !strpbrk(s, "\"\n\r") && !strstr(s, "railhead");
}

/* What railhead and grubby can have done to any options is undone word by word. */
static void undone(const char *options, const struct boot_env *env)
{
	cleanup_bls_mended struct bls_mended m = {0};
	cleanup_free char *flat = NULL, *want = NULL, *plain = NULL;
	struct kargs words cleanup_kargs = {0};

	kargs_split(&words, options, NULL);
	plain = kargs_line(&words);
	if (!words.n || !is_plain(plain) || !is_plain(env->slot[0]))
		return;
	want = xasprintf(OPTIONS "%s $" ENV_VAR_KARGS "\n", plain);
	flat = xasprintf(OPTIONS "%s " ENV_ARG_TRIAL "a " ENV_TRIAL_EXTRA " %s " ENV_ARG_SLOT "a\n",
			 plain, env->slot[0]);
	must(bls_judge(flat, NULL) == BLS_FLAT);
	must(bls_mend(flat, env, NULL, &m));
	must(strstr(env->slot[0], "--") || streq(m.text, want));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size);
	struct boot_env env = {.good = 'a'};
	char *rest = text;
	const char *entry;

	for (int i = 0; i < 2; i++)
		snprintf(env.slot[i], sizeof(env.slot[i]), "%s", piece(&rest));
	entry = rest;
	laws(entry, &env, NULL);
	laws(entry, NULL, NULL);
	laws(entry, &env, env.slot[1]);
	clears(entry, &env);
	clears(entry, NULL);
	undone(env.slot[1], &env);
	return 0;
}
