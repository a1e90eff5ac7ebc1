/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loader/env.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "kargs/kargs.h"
#include "sys/machine.h"
#include "sys/read.h"

static const struct {
	const char *name;
	size_t offset, width;
} fields[ENV_F_COUNT] = {
#define X(member, name, offset, width) {name, offset, width},
	ENV_FIELDS(X)
#undef X
};

/* The selectors are written as one piece, because they lie in one sector. */
#define HEAD_OFFSET (fields[ENV_F_GOOD].offset)
#define HEAD_LEN (fields[ENV_F_SUM].offset + ENV_SUM_SIZE - HEAD_OFFSET)
enum { SECTOR = 512, SLOTS_LEN = 6 * SECTOR, ONE_SUM = 8 };
/* The name behind the layout up to version 0.2. */
#define EARLIER_NAME "railhead_deaths="

int env_slot_index(char slot)
{
	return slot == 'a' ? 0 : slot == 'b' ? 1 : -1;
}

char env_free_slot(const struct boot_env *env)
{
	return env->good == 'a' ? 'b' : 'a';
}

char env_next_slot(const struct boot_env *env)
{
	return env_slot_index(env->try_) >= 0 ? env->try_ : env->good;
}

const char *env_slot(const struct boot_env *env, char slot)
{
	int i = env_slot_index(slot);

	return i < 0 ? "" : env->slot[i];
}

void env_set_slot(struct boot_env *env, char slot, const char *text)
{
	snprintf(env->slot[env_slot_index(slot)], ENV_SLOT_SIZE + 1, "%s", text);
}

void env_init(struct boot_env *ret)
{
	*ret = (struct boot_env){.good = 'a', .try_ = ENV_NONE, .begun = ENV_NONE};
}

/* --- text ------------------------------------------------------------------------- */

static enum env_field field_of_slot(char slot)
{
	return slot == 'a' ? ENV_F_A : ENV_F_B;
}

static void put(char *buf, enum env_field f, const char *value)
{
	memcpy(buf + fields[f].offset, value, strnlen(value, fields[f].width));
}

static void get(const char *buf, enum env_field f, char *ret)
{
	size_t len = fields[f].width;

	memcpy(ret, buf + fields[f].offset, len);
	while (len > 0 && ret[len - 1] == ' ')
		len--;
	ret[len] = '\0';
}

static void add_sum(const char *text, char ret[ONE_SUM])
{
	char hash[KARGS_HASH_LEN + 1];

	kargs_hash_line(text, hash);
	memcpy(ret, hash, ONE_SUM);
}

/* The sum of a slot, as it stands in the file. */
static void sum_slot(const char *buf, char slot, char ret[ONE_SUM])
{
	char text[ENV_SLOT_SIZE + 1];

	get(buf, field_of_slot(slot), text);
	add_sum(text, ret);
}

/* The sum of the selectors, which covers the sums of the slots. */
static void sum_head(const char *buf, char ret[ONE_SUM])
{
	cleanup_free char *text =
		xasprintf("%c%c%c%.*s", buf[fields[ENV_F_GOOD].offset],
			  buf[fields[ENV_F_LAYOUT].offset], buf[fields[ENV_F_REBOOTS].offset],
			  ENV_SUM_SIZE - ONE_SUM, buf + fields[ENV_F_SUM].offset + ONE_SUM);

	add_sum(text, ret);
}

void env_seal(char buf[ENV_SIZE])
{
	char *sum = buf + fields[ENV_F_SUM].offset;

	sum_slot(buf, 'a', sum + ONE_SUM);
	sum_slot(buf, 'b', sum + ONE_SUM + ONE_SUM);
	sum_head(buf, sum);
}

void env_render(const struct boot_env *env, char ret[ENV_SIZE])
{
	memset(ret, '#', ENV_SIZE);
	memcpy(ret, ENV_SIGNATURE, strlen(ENV_SIGNATURE));
	ret[SECTOR - 1] = '\n'; /* of the comment behind the selectors */
	for (int f = 0; f < ENV_F_COUNT; f++) {
		size_t len = strlen(fields[f].name), at = fields[f].offset;

		memcpy(ret + at - len - 1, fields[f].name, len);
		ret[at - 1] = '=';
		memset(ret + at, ' ', fields[f].width);
		ret[at + fields[f].width] = '\n';
	}
	ret[fields[ENV_F_GOOD].offset] = env->good;
	ret[fields[ENV_F_TRY].offset] = env->try_;
	put(ret, ENV_F_LAYOUT, ENV_LAYOUT);
	ret[fields[ENV_F_REBOOTS].offset] = (char)('0' + env->reboots);
	put(ret, ENV_F_A, env->slot[0]);
	put(ret, ENV_F_B, env->slot[1]);
	ret[fields[ENV_F_BEGUN].offset] = env->begun;
	env_seal(ret);
}

static int bad(struct err *err, enum env_field f, const char *what)
{
	return err_set(err, -EBADMSG,
		       "%s is damaged: %s at byte %zu %s; a program other than railhead or GRUB "
		       "edited the file",
		       ENV_FILE_NAME, fields[f].name, fields[f].offset, what);
}

/* Whether GRUB passes the text to the kernel as it stands there. */
static bool is_plain(const char *text)
{
	for (const char *p = text; *p; p++)
		if (*p < ' ' || *p > '~' || strchr("\"'\\$", *p))
			return false;
	return true;
}

static bool slot_adds_up(const char *buf, char slot)
{
	char sum[ONE_SUM];

	sum_slot(buf, slot, sum);
	return memcmp(buf + fields[ENV_F_SUM].offset + (slot == 'a' ? 1 : 2) * ONE_SUM, sum,
		      ONE_SUM) == 0;
}

/* check: the slot has a sum. */
static int parse_slot(const char *buf, char slot, bool check, struct boot_env *env, struct err *err)
{
	bool boots = env->good == slot || env->try_ == slot;
	char *text = env->slot[env_slot_index(slot)];

	get(buf, field_of_slot(slot), text);
	/* GRUB would find other values behind a backslash, or none. */
	if (!is_plain(text) ||
	    memchr(buf + fields[field_of_slot(slot)].offset, '\0', ENV_SLOT_SIZE))
		return bad(err, field_of_slot(slot), "is no list of arguments");
	if (!check || slot_adds_up(buf, slot))
		return 0;
	*text = '\0';
	return boots ? bad(err, field_of_slot(slot), "is not as it was written") : 0;
}

/* GRUB's own values are in no sum, so one that it never writes counts as absent. */
static int parse_grubs(const char *buf, struct boot_env *env, struct err *err)
{
	char values[] = {buf[fields[ENV_F_TRY].offset], buf[fields[ENV_F_BEGUN].offset], '\0'};

	if (strlen(values) < 2 || !is_plain(values))
		return bad(err, ENV_F_TRY, "or " ENV_VAR_BEGUN " is not as GRUB writes it");
	env->try_ = strchr("abt", values[0]) ? values[0] : ENV_NONE;
	env->begun = strchr("012", values[1]) ? values[1] : ENV_NONE;
	return 0;
}

static int parse_head(const char *buf, bool check, struct boot_env *env, struct err *err)
{
	char digit = buf[fields[ENV_F_REBOOTS].offset], sum[ONE_SUM];

	env->good = buf[fields[ENV_F_GOOD].offset];
	if (env->good == '\0' || !strchr("ab-", env->good))
		return bad(err, ENV_F_GOOD, "is not a, b or -");
	if (!check)
		return 0;
	sum_head(buf, sum);
	if (memcmp(buf + fields[ENV_F_SUM].offset, sum, ONE_SUM) != 0)
		return bad(err, ENV_F_SUM, "does not match the selectors");
	if (digit < '0' || digit > '9')
		return bad(err, ENV_F_REBOOTS, "is no digit");
	env->reboots = (unsigned int)(digit - '0');
	return 0;
}

static bool is_value(size_t at)
{
	for (int f = 0; f < ENV_F_COUNT; f++)
		if (at >= fields[f].offset && at < fields[f].offset + fields[f].width)
			return true;
	return false;
}

/* Whether all is in its place, so that GRUB finds the values that are read here, and can write. */
static int check_frame(const char *buf, struct err *err)
{
	struct boot_env empty;
	char frame[ENV_SIZE];

	env_init(&empty);
	env_render(&empty, frame);
	for (size_t i = 0; i < ENV_SIZE; i++)
		if (buf[i] != frame[i] && !is_value(i))
			return err_set(err, -EBADMSG,
				       "%s is damaged: byte %zu is 0x%02x instead of 0x%02x; a "
				       "program other than railhead or GRUB edited the file",
				       ENV_FILE_NAME, i, (unsigned char)buf[i],
				       (unsigned char)frame[i]);
	return 0;
}

static int parse(const char *buf, size_t len, struct boot_env *ret, struct err *err)
{
	bool earlier;
	int r;

	if (len != ENV_SIZE)
		return err_set(err, -EBADMSG, "%s is damaged: %zu bytes long instead of %d",
			       ENV_FILE_NAME, len, ENV_SIZE);
	earlier = memcmp(buf + fields[ENV_F_REBOOTS].offset - strlen("railhead_reboots="),
			 EARLIER_NAME, strlen(EARLIER_NAME)) == 0;
	r = earlier ? 0 : check_frame(buf, err);
	if (r == 0 && buf[fields[ENV_F_LAYOUT].offset] != *ENV_LAYOUT)
		r = bad(err, ENV_F_LAYOUT,
			"is not " ENV_LAYOUT ", the only layout that this railhead reads");
	if (r == 0)
		r = parse_head(buf, !earlier, ret, err);
	if (r < 0)
		return r;
	if (!earlier)
		r = parse_grubs(buf, ret, err);
	if (r == 0)
		r = parse_slot(buf, 'a', !earlier, ret, err);
	if (r == 0)
		r = parse_slot(buf, 'b', !earlier, ret, err);
	return r < 0 ? r : earlier;
}

/* The slots that GRUB may take from a damaged file. */
static void read_slots(const char *buf, size_t len, struct boot_env *ret)
{
	env_init(ret);
	for (char slot = 'a'; len == ENV_SIZE && slot <= 'b'; slot++) {
		char *text = ret->slot[env_slot_index(slot)];

		get(buf, field_of_slot(slot), text);
		if (!is_plain(text))
			*text = '\0';
	}
}

int env_parse(const char *buf, size_t len, struct boot_env *ret, struct err *err)
{
	int r;

	env_init(ret);
	r = parse(buf, len, ret, err);
	if (r < 0)
		read_slots(buf, len, ret);
	return r;
}

/* --- the file ----------------------------------------------------------------------- */

static int read_bytes(int dirfd, char **ret, size_t *ret_len, struct err *err)
{
	cleanup_close int fd = -1;
	int r;

	if (dirfd < 0)
		return err_errno(err, -ENOENT, "%s", ENV_FILE_NAME);
	fd = root_open_at(dirfd, ENV_FILE_NAME, O_RDONLY | O_NOFOLLOW);
	if (fd == -ELOOP || fd == -EISDIR || fd == -EBADFD)
		return err_set(err, -EBADMSG, "%s is damaged: it is %s", ENV_FILE_NAME,
			       fd == -ELOOP    ? "a symbolic link"
			       : fd == -EISDIR ? "a directory, which somebody must remove first"
					       : "not a regular file");
	if (fd < 0)
		return err_errno(err, fd, "%s", ENV_FILE_NAME);
	r = read_fd(fd, 64 * 1024, ret, ret_len);
	if (r == -EFBIG)
		return err_set(err, -EBADMSG, "%s is damaged: over 64K long instead of %d",
			       ENV_FILE_NAME, ENV_SIZE);
	if (r < 0)
		return err_errno(err, r, "%s", ENV_FILE_NAME);
	return *ret_len ? 0 : err_set(err, -ENOENT, "%s is empty", ENV_FILE_NAME);
}

int env_read(int dirfd, struct boot_env *ret, struct err *err)
{
	cleanup_free char *text = NULL;
	size_t len;
	int r = read_bytes(dirfd, &text, &len, err);

	env_init(ret);
	return r < 0 ? r : env_parse(text, len, ret, err);
}

int env_create(const struct root *root, int dirfd, const struct boot_env *env, struct err *err)
{
	char buf[ENV_SIZE];

	env_render(env, buf);
	return machine_create_durable(root, dirfd, ENV_FILE_NAME, buf, sizeof(buf), err);
}

/* Overwrites that piece of the file, which is `now`, if it differs in `after`. */
static int put_piece(int dirfd, char *now, const char *after, size_t offset, size_t len,
		     struct err *err)
{
	if (memcmp(now + offset, after + offset, len) == 0)
		return 0;
	memcpy(now + offset, after + offset, len);
	return machine_overwrite(dirfd, ENV_FILE_NAME, (off_t)offset, after + offset, len, err);
}

/* The slots that boot, or those that do not. */
static int put_slots(int dirfd, char *now, const char *after, char good, bool boots,
		     struct err *err)
{
	int r = 0;

	for (char slot = 'a'; r == 0 && slot <= 'b'; slot++)
		if ((slot == good) == boots)
			r = put_piece(dirfd, now, after, fields[field_of_slot(slot)].offset,
				      ENV_SLOT_SIZE, err);
	return r;
}

int env_store(int dirfd, const struct boot_env *env, struct err *err)
{
	cleanup_free char *now = NULL;
	char after[ENV_SIZE], disarmed[ENV_SIZE];
	struct boot_env before;
	size_t len;
	int r = read_bytes(dirfd, &now, &len, err);

	if (r == 0)
		r = env_parse(now, len, &before, err);
	if (r != 0)
		return r < 0 ? r
			     : err_set(err, -EBADMSG, "%s is of an earlier railhead",
				       ENV_FILE_NAME);
	env_render(env, after);
	memcpy(disarmed, now, ENV_SIZE);
	disarmed[fields[ENV_F_TRY].offset] = ENV_NONE;
	if (before.try_ != ENV_NONE && memcmp(now + SECTOR, after + SECTOR, SLOTS_LEN) != 0)
		r = put_piece(dirfd, now, disarmed, HEAD_OFFSET, HEAD_LEN, err);
	if (r == 0)
		r = put_slots(dirfd, now, after, before.good, false, err);
	if (r == 0)
		r = put_piece(dirfd, now, after, HEAD_OFFSET, HEAD_LEN, err);
	if (r == 0)
		r = put_slots(dirfd, now, after, before.good, true, err);
	if (r == 0)
		r = put_piece(dirfd, now, after, fields[ENV_F_BEGUN].offset, 1, err);
	return r;
}
