/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "env_grub.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "loader/envblk.h"

#define SIGNATURE_LEN strlen(ENV_SIGNATURE)

static size_t line_end(const char *buf, size_t len, size_t pos)
{
	while (pos < len && buf[pos] != '\n')
		pos += buf[pos] == '\\' ? 2 : 1;
	return pos;
}

/* --- grub_envblk_set ----------------------------------------------------------------- */

/* The position behind the last byte that is not '#'; the signature ends in one. */
static size_t used(const char *buf, size_t len)
{
	while (buf[len - 1] == '#')
		len--;
	return len;
}

/* Replaces the value of `old` bytes at pos by one byte; the bytes behind it move. */
static bool replace(char *buf, size_t len, size_t pos, size_t old, char value)
{
	size_t space = used(buf, len);

	if (pos + old >= len || (old == 0 && space == len))
		return false;
	if (old > 1) {
		memmove(buf + pos + 1, buf + pos + old, len - pos - old);
		memset(buf + space - (old - 1), '#', old - 1);
	} else {
		memmove(buf + pos + 1, buf + pos + old, len - pos - 1);
	}
	buf[pos] = value;
	buf[pos + 1] = '\n';
	return true;
}

static bool append(char *buf, size_t len, const char *line)
{
	size_t space = used(buf, len);

	if (len - space < strlen(line))
		return false;
	memcpy(buf + space, line, strlen(line));
	return true;
}

/* As save_env: false, and buf is unchanged, if GRUB rejects the file. */
static bool save(char *buf, size_t len, const char *name, char value)
{
	cleanup_free char *line = xasprintf("%s=%c\n", name, value);
	size_t space = used(buf, len), n = strlen(name) + 1;

	if (buf[space - 1] != '\n')
		return false;
	/* GRUB takes any line that begins so, even where the reader sees no name. */
	for (size_t pos = SIGNATURE_LEN; pos + n < space; pos = line_end(buf, len, pos) + 1)
		if (memcmp(buf + pos, line, n) == 0)
			return replace(buf, len, pos + n, line_end(buf, len, pos + n) - (pos + n),
				       value);
	return append(buf, len, line);
}

bool env_grub_take(char *buf, size_t len)
{
	return save(buf, len, ENV_VAR_TRY, ENV_TAKEN);
}

/* --- the snippet --------------------------------------------------------------------- */

static const char *const names[ENV_F_COUNT] = {
#define X(member, name, offset, width) name,
	ENV_FIELDS(X)
#undef X
};

/* A copy of the file, and the values in it; "" for variables that it does not set. */
struct vars {
	char *text;
	const char *value[ENV_F_COUNT];
};

static void set(const char *name, const char *value, void *data)
{
	struct vars *v = data;

	for (int f = 0; f < ENV_F_COUNT; f++)
		if (streq(name, names[f]))
			v->value[f] = value;
}

static char *copy(const char *buf, size_t len)
{
	return memcpy(xcalloc(len, 1), buf, len);
}

static void load(const char *buf, size_t len, struct vars *ret)
{
	ret->text = copy(buf, len);
	for (int f = 0; f < ENV_F_COUNT; f++)
		ret->value[f] = "";
	envblk_each(ret->text, len, set, ret);
}

/* The snippet compares the whole value: "a" and "b" name a slot. */
static char slot_of(const char *selector)
{
	return streq(selector, "a") || streq(selector, "b") ? *selector : ENV_NONE;
}

/* Whether save_env can write that the trial is taken; changes buf. */
static bool disarm(char *buf, size_t len)
{
	const char taken[] = {ENV_TAKEN, '\0'};
	struct vars v;
	bool r;

	if (!env_grub_take(buf, len))
		return false;
	load(buf, len, &v);
	r = streq(v.value[ENV_F_TRY], taken);
	free(v.text);
	return r;
}

/* Appends the words of s, cut at the size of line; the characters of grub_isspace() separate words.
 */
static void add_words(char *line, const char *s)
{
	static const char blanks[] = " \t\r\n";
	size_t at = strlen(line), n;

	for (s += strspn(s, blanks); *s; s += strspn(s, blanks)) {
		n = strcspn(s, blanks);
		snprintf(line + at, ENV_GRUB_KARGS_SIZE - at, "%s%.*s", at ? " " : "", (int)n, s);
		at = strlen(line);
		s += n;
	}
}

static void add_mark(char *line, const char *mark, const char *before, char slot)
{
	cleanup_free char *word = xasprintf("%s%s%c", mark, before, slot);

	add_words(line, word);
}

/* Counts the start of a boot with the good slot, if a kernel was installed. */
static void count_boot(char *buf, size_t len, const struct vars *v, bool can_save,
		       struct env_grub *ret)
{
	const char *begun = v->value[ENV_F_BEGUN];
	char next = streq(begun, "0") ? '1' : '2';

	ret->left_out = streq(begun, "2");
	if (!streq(begun, "0") && !streq(begun, "1"))
		return;
	if (can_save)
		save(buf, len, ENV_VAR_BEGUN, next);
	add_mark(ret->kargs, ENV_ARG_BEGUN, "", next);
	add_words(ret->kargs, ENV_BEGUN_EXTRA);
}

static void snippet(char *buf, size_t len, const struct vars *v, bool can_save,
		    struct env_grub *ret)
{
	char armed = slot_of(v->value[ENV_F_TRY]);

	ret->taken_by_snippet = streq(v->value[ENV_F_LAYOUT], ENV_LAYOUT);
	if (!ret->taken_by_snippet)
		return;
	ret->slot = slot_of(v->value[ENV_F_GOOD]);
	if (armed != ENV_NONE && can_save && disarm(buf, len)) {
		ret->slot = armed;
		ret->trial = true;
	}
	if (ret->slot == ENV_NONE)
		return;
	if (ret->trial) {
		add_mark(ret->kargs, ENV_ARG_TRIAL, "", ret->slot);
		add_words(ret->kargs, ENV_TRIAL_EXTRA);
	} else {
		count_boot(buf, len, v, can_save, ret);
	}
	add_words(ret->kargs, ENV_ARG_BEGIN);
	if (!ret->left_out)
		add_words(ret->kargs, v->value[ret->slot == 'a' ? ENV_F_A : ENV_F_B]);
	add_mark(ret->kargs, ENV_ARG_SLOT, ret->left_out ? ENV_LEFT_OUT : "", ret->slot);
}

void env_grub_boot(char *buf, size_t len, bool can_save, struct env_grub *ret)
{
	struct vars v;

	*ret = (struct env_grub){.slot = ENV_NONE};
	if (!envblk_loads(buf, len))
		return;
	ret->loads = true;
	load(buf, len, &v);
	snippet(buf, len, &v, can_save, ret);
	free(v.text);
}

void env_grub_read(const char *buf, size_t len, bool can_save, struct env_grub *ret)
{
	cleanup_free char *after = len ? copy(buf, len) : NULL;

	env_grub_boot(after, len, can_save, ret);
}
