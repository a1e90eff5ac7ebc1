/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What GRUB takes of a file of any bytes. Where env_parse() accepts the file, it is what
 * that says; and no file makes GRUB boot on trial twice. An input that begins with '=' is
 * what follows the signature, one with '~' a list of changes to a sound file (two bytes
 * where, one byte what), any other the file.
 */
#include "fuzz.h"

#include "../lib/env_grub.h"
#include "base/mem.h"
#include "base/str.h"
#include "loader/env.h"
#include "loader/envblk.h"

static void sound_file(char ret[ENV_SIZE])
{
	struct boot_env env = {.good = 'a', .try_ = 'b', .begun = '1'};

	strcpy(env.slot[0], "iommu=pt");
	strcpy(env.slot[1], "intel_iommu=on,sm_on  hugepagesz=1G hugepages=0:32,1:32");
	env_render(&env, ret);
}

/* Caller frees. Not longer than it must be: the sanitizer sees a read behind its end. */
static char *file_of(const uint8_t *data, size_t size, size_t *len)
{
	size_t head = strlen(ENV_SIGNATURE);
	char *buf;

	if (size > 0 && *data == '~') {
		*len = ENV_SIZE;
		buf = xcalloc(ENV_SIZE, 1);
		sound_file(buf);
		for (size_t i = 1; i + 2 < size; i += 3)
			buf[(data[i] | data[i + 1] << 8) % ENV_SIZE] = (char)data[i + 2];
		if (size % 3 == 2)
			env_seal(buf);
	} else if (size > 0 && *data == '=') {
		*len = head + size - 1;
		buf = xcalloc(*len, 1);
		memcpy(buf, ENV_SIGNATURE, head);
		memcpy(buf + head, data + 1, size - 1);
	} else {
		*len = size;
		buf = xcalloc(size ? size : 1, 1);
		if (size)
			memcpy(buf, data, size);
	}
	return buf;
}

/* The words of a sound slot: they are parted by blanks alone. */
static void words_of(const char *text, struct str *ret)
{
	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		str_addn(ret, text, strcspn(text, " "));
		str_add(ret, " ");
		text += strcspn(text, " ");
	}
}

static void as_parsed(const struct boot_env *env, const struct env_grub *rw,
		      const struct env_grub *ro)
{
	cleanup_str struct str want = {0};

	must(rw->loads && rw->taken_by_snippet);
	must(rw->slot == env_next_slot(env));
	must(rw->trial == (env_slot_index(env->try_) >= 0));
	must(ro->slot == env->good);
	must(rw->left_out == (rw->slot != ENV_NONE && !rw->trial && env->begun == '2'));
	if (rw->trial)
		str_addf(&want, ENV_ARG_TRIAL "%c " ENV_TRIAL_EXTRA " ", rw->slot);
	else if (rw->slot != ENV_NONE && (env->begun == '0' || env->begun == '1'))
		str_addf(&want, ENV_ARG_BEGUN "%c " ENV_BEGUN_EXTRA " ", env->begun + 1);
	if (rw->slot != ENV_NONE)
		str_add(&want, ENV_ARG_BEGIN " ");
	if (!rw->left_out)
		words_of(env_slot(env, rw->slot), &want);
	if (rw->slot != ENV_NONE)
		str_addf(&want, ENV_ARG_SLOT "%s%c", rw->left_out ? ENV_LEFT_OUT : "", rw->slot);
	must(streq(rw->kargs, str_get(&want)));
}

/* Whatever the file is: what is refused gives nothing, and a trial is taken once. */
static void of_any_file(const char *buf, size_t len, const struct env_grub *rw,
			const struct env_grub *ro)
{
	cleanup_free char *after = memcpy(xcalloc(len ? len : 1, 1), buf, len);
	struct env_grub again;

	must(rw->loads == ro->loads && rw->taken_by_snippet == ro->taken_by_snippet);
	must(rw->loads || !rw->taken_by_snippet);
	must(rw->taken_by_snippet || (rw->slot == ENV_NONE && !rw->trial));
	must((rw->slot == ENV_NONE) == !*rw->kargs);
	must(!ro->trial && (rw->trial || rw->slot == ro->slot));
	must(!rw->left_out || !rw->trial);
	env_grub_boot(after, len, false, &again);
	must(memcmp(after, buf, len) == 0 && streq(again.kargs, ro->kargs));
	env_grub_boot(after, len, true, &again);
	must(streq(again.kargs, rw->kargs) && again.loads == envblk_loads(after, len));
	env_grub_read(after, len, true, &again);
	must(!again.trial || !rw->trial);
}

/* A sound file stays sound: GRUB writes the two selectors of its own. */
static void booted(const char *buf, size_t len, const struct env_grub *rw)
{
	cleanup_free char *after = memcpy(xcalloc(len, 1), buf, len);
	struct boot_env env, then;
	struct env_grub g;

	must(env_parse(buf, len, &env, NULL) == 0);
	env_grub_boot(after, len, true, &g);
	must(env_parse(after, len, &then, NULL) == 0);
	must(then.try_ == (rw->trial ? ENV_TAKEN : env.try_));
	if (rw->trial || rw->slot == ENV_NONE || (env.begun != '0' && env.begun != '1'))
		must(then.begun == env.begun);
	else
		must(then.begun == env.begun + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len;
	cleanup_free char *buf = file_of(data, size, &len);
	struct env_grub rw, ro;
	struct boot_env env;
	bool sound = env_parse(buf, len, &env, NULL) == 0;

	env_grub_read(buf, len, true, &rw);
	env_grub_read(buf, len, false, &ro);
	if (sound)
		as_parsed(&env, &rw, &ro);
	if (sound)
		booted(buf, len, &rw);
	of_any_file(buf, len, &rw, &ro);
	return 0;
}
