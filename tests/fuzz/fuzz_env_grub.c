/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What GRUB takes of a file of any bytes. Where env_parse() accepts the file, it is what
 * that says; and no file makes GRUB boot on trial twice. An input that begins with '=' is
 * what follows the signature, one with '~' a list of changes to a sound file (two bytes
 * where, one byte what), any other the file.
 */
#include "fuzz.h"

#include "base/mem.h"
#include "base/str.h"
#include "boot/env.h"
#include "boot/env_grub.h"

static void sound_file(char ret[ENV_SIZE])
{
	struct boot_env env = {.good = 'a', .try_ = 'b'};

	strcpy(env.slot[0], "iommu=pt");
	strcpy(env.slot[1], "intel_iommu=on,sm_on  hugepagesz=1G hugepages=0:32,1:32");
	strcpy(env.state.kernel, "6.1.0-40-amd64");
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
	words_of(env_slot(env, rw->slot), &want);
	if (rw->slot != ENV_NONE)
		str_addf(&want, ENV_ARG_SLOT "%c", rw->slot);
	if (rw->trial)
		str_addf(&want, " " ENV_ARG_TRIAL "%c " ENV_TRIAL_EXTRA, rw->slot);
	must(streq(rw->kargs, str_get(&want)));
}

/* Whatever the file is: what is refused gives nothing, and a trial is taken once. */
static void of_any_file(char *buf, size_t len, const struct env_grub *rw, const struct env_grub *ro)
{
	struct env_grub again;

	must(rw->loads == ro->loads && rw->taken_by_snippet == ro->taken_by_snippet);
	must(rw->loads || !rw->taken_by_snippet);
	must(rw->taken_by_snippet || (rw->slot == ENV_NONE && !rw->trial));
	must((rw->slot == ENV_NONE) == !*rw->kargs);
	must(!ro->trial && (rw->trial || rw->slot == ro->slot));
	if (!rw->trial)
		return;
	must(env_grub_take(buf, len));
	env_grub_read(buf, len, true, &again);
	must(!again.trial);
}

/* What save_env refuses stays as it is; a sound file stays sound. */
static void taken(const char *buf, size_t len, bool sound)
{
	cleanup_free char *after = memcpy(xcalloc(len, 1), buf, len);
	struct boot_env env;

	if (!env_grub_take(after, len)) {
		must(memcmp(after, buf, len) == 0 && !sound);
		return;
	}
	must(env_grub_loads(after, len));
	must(!sound || (env_parse(after, len, &env, NULL) == 0 && env.try_ == ENV_TAKEN));
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
	if (rw.loads)
		taken(buf, len, sound);
	of_any_file(buf, len, &rw, &ro);
	return 0;
}
