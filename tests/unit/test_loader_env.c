/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/env_grub.h"
#include "base/mem.h"
#include "hooks.h"
#include "loader/env.h"
#include "sys/machine.h"

/* A tree: nothing is flushed as it would be for the machine that runs the test. */
static const struct root ROOT = {.fd = -1};

static void test_layout(void **state)
{
	struct boot_env env;
	char buf[ENV_SIZE];

	(void)state;
	env_init(&env);
	env_render(&env, buf);
	/* Fixed for ever: older boot loader configurations rely on it. */
	assert_memory_equal(buf,
			    "# GRUB Environment Block\nrailhead_good=a\nrailhead_try=-\n"
			    "railhead_layout=1\nrailhead_reboots=0\nrailhead_sum=",
			    25 + 16 + 15 + 18 + 19 + 13);
	assert_memory_equal(buf + 512, "railhead_a= ", 12);
	assert_memory_equal(buf + 2048, "railhead_b= ", 12);
	assert_int_equal(buf[511], '\n');
	assert_int_equal(buf[2047], '\n');
	assert_int_equal(buf[3583], '\n');
	assert_memory_equal(buf + 3584, "railhead_begun=-\n#", 18);
	for (int i = 3601; i < ENV_SIZE; i++)
		assert_int_equal(buf[i], '#');
	assert_null(memchr(buf, '\0', sizeof(buf)));
}

static void assert_same(const struct boot_env *a, const struct boot_env *b)
{
	assert_int_equal(a->good, b->good);
	assert_int_equal(a->try_, b->try_);
	assert_int_equal(a->begun, b->begun);
	assert_int_equal(a->reboots, b->reboots);
	assert_string_equal(a->slot[0], b->slot[0]);
	assert_string_equal(a->slot[1], b->slot[1]);
}

static void test_round_trip(void **state)
{
	struct boot_env env = {
		.good = 'b', .try_ = 't', .begun = '2', .reboots = 3, .slot = {"a=1 b", "quiet"}};
	struct boot_env back;
	char buf[ENV_SIZE];
	struct err err;

	(void)state;
	memset(env.slot[1], 'x', ENV_SLOT_SIZE);
	env_render(&env, buf);
	assert_int_equal(env_parse(buf, sizeof(buf), &back, &err), 0);
	assert_same(&back, &env);
}

/* GRUB's own bytes, which are in no sum. */
static bool is_grubs(size_t i)
{
	return i == 54 || i == 3599;
}

/* Of the slot that neither boots nor is armed, with its sum. */
static bool is_unused(size_t i)
{
	return i >= 2059 && i < 3583;
}

/* GRUB reads the values around it as they are in their places. */
static bool is_plain(char c)
{
	return c >= ' ' && c <= '~' && !strchr("\"'\\$", c);
}

/* Any one byte that is changed, to whatever, is damage, or the file says the same as before. */
static void test_one_byte(void **state)
{
	static const unsigned char changes[] = {0x01, 0x02, 0x20, 0x80, 0xff};
	struct boot_env env, back;
	char buf[ENV_SIZE], sound[ENV_SIZE];
	struct err err;

	(void)state;
	env_init(&env);
	env_set_slot(&env, 'a', "good=1");
	env_set_slot(&env, 'b', "other=1");
	env_render(&env, sound);
	for (size_t i = 0; i < ENV_SIZE; i++)
		for (size_t j = 0; j < sizeof(changes); j++) {
			int r;

			memcpy(buf, sound, ENV_SIZE);
			buf[i] = (char)(buf[i] ^ changes[j]);
			r = env_parse(buf, ENV_SIZE, &back, &err);
			if (is_plain(buf[i]) && is_unused(i)) {
				assert_int_equal(r, 0);
				assert_string_equal(back.slot[1], "");
			} else if (is_plain(buf[i]) && is_grubs(i)) {
				assert_int_equal(r, 0);
			} else if (r != -EBADMSG) {
				fail_msg("byte %zu, 0x%02x: %d", i, changes[j], r);
			}
			if (r == 0)
				assert_string_equal(back.slot[0], "good=1");
		}
	memcpy(buf, sound, ENV_SIZE);
	buf[40] = 'x';
	assert_int_equal(env_parse(buf, ENV_SIZE, &env, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "railhead.env is damaged: byte 40 is 0x78 instead of"));
}

static void test_damage(void **state)
{
	struct boot_env env, back;
	char buf[ENV_SIZE];
	struct err err;

	(void)state;
	env_init(&env);
	env_render(&env, buf);
	assert_int_equal(env_parse(buf, ENV_SIZE - 1, &back, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "4095 bytes long"));
	assert_int_equal(env_parse("", 0, &back, &err), -EBADMSG);
	buf[72] = '2';
	assert_int_equal(env_parse(buf, ENV_SIZE, &back, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "the only layout that this railhead reads"));
	/* a slot that boots, and one that is armed */
	env_set_slot(&env, 'a', "good=1");
	env_render(&env, buf);
	buf[525] = 'x';
	assert_int_equal(env_parse(buf, ENV_SIZE, &back, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "railhead_a at byte 523 is not as it was written"));
	env.try_ = 'b';
	env_render(&env, buf);
	buf[2061] = 'x';
	assert_int_equal(env_parse(buf, ENV_SIZE, &back, &err), -EBADMSG);
}

/* As version 0.2 wrote it: the good args stay, and nothing else. */
static void test_earlier(void **state)
{
	struct boot_env env, back;
	char buf[ENV_SIZE];
	struct err err;

	(void)state;
	env_init(&env);
	env.good = 'b';
	env_set_slot(&env, 'b', "iommu=pt");
	env_render(&env, buf);
	memset(buf + 74, '#', 511 - 74);
	memcpy(buf + 74, "railhead_deaths=1 \nrailhead_result=-\nrailhead_hash=", 51);
	buf[54] = 'a';
	buf[3599] = '2';
	assert_int_equal(env_parse(buf, ENV_SIZE, &back, &err), 1);
	assert_int_equal(back.good, 'b');
	assert_int_equal(back.try_, ENV_NONE);
	assert_int_equal(back.begun, ENV_NONE);
	assert_string_equal(back.slot[1], "iommu=pt");
	/* ... unless GRUB would not pass them as they are */
	buf[2060] = '$';
	assert_int_equal(env_parse(buf, ENV_SIZE, &back, &err), -EBADMSG);
}

/* --- the file ------------------------------------------------------------------------------- */

struct dir {
	char dir[32];
	int fd;
};

static void make_dir(struct dir *p, const struct boot_env *env)
{
	struct err err = {0};

	snprintf(p->dir, sizeof(p->dir), "/tmp/railhead-env.XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	p->fd = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(p->fd >= 0);
	if (env && env_create(&ROOT, p->fd, env, &err) < 0)
		fail_msg("%s", err.text);
}

static void remove_dir(struct dir *p)
{
	unlinkat(p->fd, ENV_FILE_NAME, 0);
	close(p->fd);
	rmdir(p->dir);
}

/* What the file says after each write. */
static struct {
	struct boot_env seen[8];
	size_t n;
} writes;

static void note_write(int dirfd, off_t offset, size_t len)
{
	assert_true(writes.n < array_len(writes.seen));
	assert_int_equal(env_read(dirfd, &writes.seen[writes.n++], NULL), 0);
	/* one sector, or a slot */
	assert_true(offset / 512 == (offset + (off_t)len - 1) / 512 || len == ENV_SLOT_SIZE);
}

static void store(const struct boot_env *before, const struct boot_env *after)
{
	struct err err = {0};
	struct boot_env back;
	struct dir p;

	make_dir(&p, before);
	writes.n = 0;
	test_overwrites(note_write);
	if (env_store(p.fd, after, &err) < 0)
		fail_msg("%s", err.text);
	test_overwrites(NULL);
	assert_int_equal(env_read(p.fd, &back, NULL), 0);
	assert_same(&back, after);
	remove_dir(&p);
}

/* Which args the next boot gets after each write: always those of before, or those of after. */
static void test_arm_steps(void **state)
{
	struct boot_env before = {.good = 'a', .try_ = 'b', .begun = '-', .slot = {"old", "older"}};
	struct boot_env after = before;

	(void)state;
	env_set_slot(&after, 'b', "new");
	after.reboots = 1;
	store(&before, &after);
	assert_int_equal(writes.n, 3);
	assert_string_equal(env_slot(&writes.seen[0], env_next_slot(&writes.seen[0])), "old");
	assert_string_equal(env_slot(&writes.seen[1], env_next_slot(&writes.seen[1])), "old");
	assert_string_equal(env_slot(&writes.seen[2], env_next_slot(&writes.seen[2])), "new");
	/* the same again writes nothing */
	store(&after, &after);
	assert_int_equal(writes.n, 0);
}

static void test_commit_steps(void **state)
{
	struct boot_env before = {.good = 'a', .try_ = 't', .begun = '-', .slot = {"old", "new"}};
	struct boot_env after = before;

	(void)state;
	after.good = 'b';
	after.try_ = ENV_NONE;
	store(&before, &after);
	assert_int_equal(writes.n, 1);
}

/* The slot that boots is emptied once it boots no more. */
static void test_reset_steps(void **state)
{
	struct boot_env before = {.good = 'a', .try_ = '-', .begun = '1', .slot = {"old", "older"}};
	struct boot_env after;

	(void)state;
	env_init(&after);
	after.good = ENV_NONE;
	store(&before, &after);
	assert_int_equal(writes.n, 4);
	assert_string_equal(env_slot(&writes.seen[0], writes.seen[0].good), "old");
	assert_int_equal(writes.seen[1].good, ENV_NONE);
}

/* What a power cut left in the slot that is not used must not boot, once that slot is good. */
static void test_torn_slot(void **state)
{
	struct boot_env env = {.good = 'a', .try_ = '-', .begun = '-', .slot = {"old", "new"}};
	struct boot_env back;
	struct err err = {0};
	struct dir p;

	(void)state;
	make_dir(&p, &env);
	assert_int_equal(machine_overwrite(p.fd, ENV_FILE_NAME, 2059, "t=1", 3, &err), 0);
	assert_int_equal(env_read(p.fd, &env, &err), 0);
	assert_string_equal(env.slot[1], "");
	env.good = 'b';
	assert_int_equal(env_store(p.fd, &env, &err), 0);
	assert_int_equal(env_read(p.fd, &back, &err), 0);
	assert_int_equal(back.good, 'b');
	assert_string_equal(back.slot[1], "");
	remove_dir(&p);
}

static void test_file(void **state)
{
	struct boot_env env, back;
	struct err err = {0};
	struct dir p;
	int fd;

	(void)state;
	make_dir(&p, NULL);
	assert_int_equal(env_read(p.fd, &back, &err), -ENOENT);
	assert_int_equal(env_read(-1, &back, &err), -ENOENT);
	env_init(&env);
	assert_int_equal(env_store(p.fd, &env, &err), -ENOENT);
	fd = openat(p.fd, ENV_FILE_NAME, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(env_read(p.fd, &back, &err), -ENOENT); /* empty */
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(env_read(p.fd, &back, &err), -EBADMSG);
	assert_int_equal(env_store(p.fd, &env, &err), -EBADMSG);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_int_equal(env_read(p.fd, &back, &err), -EBADMSG);
	close(fd);
	assert_int_equal(env_create(&ROOT, p.fd, &env, &err), 0);
	assert_int_equal(env_read(p.fd, &back, &err), 0);
	remove_dir(&p);
}

/* Whatever railhead accepts, GRUB boots the same slot with the same args. */
static void test_grub_agrees(void **state)
{
	static const char trys[] = {'a', 'b', 't', '-'}, goods[] = {'a', 'b', '-'};
	static const char counts[] = {'-', '0', '1', '2'};

	(void)state;
	for (size_t g = 0; g < sizeof(goods); g++)
		for (size_t t = 0; t < sizeof(trys); t++)
			for (size_t c = 0; c < sizeof(counts); c++) {
				struct boot_env env = {.good = goods[g],
						       .try_ = trys[t],
						       .begun = counts[c],
						       .slot = {"a=1", "b=1"}};
				bool trial = env_slot_index(env.try_) >= 0;
				struct env_grub seen;
				char buf[ENV_SIZE];

				env_render(&env, buf);
				env_grub_read(buf, sizeof(buf), true, &seen);
				assert_int_equal(seen.slot, env_next_slot(&env));
				assert_int_equal(seen.trial, trial);
				assert_int_equal(seen.left_out, seen.slot != ENV_NONE && !trial &&
									counts[c] == '2');
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),	     cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_one_byte),     cmocka_unit_test(test_damage),
		cmocka_unit_test(test_earlier),	     cmocka_unit_test(test_arm_steps),
		cmocka_unit_test(test_commit_steps), cmocka_unit_test(test_reset_steps),
		cmocka_unit_test(test_torn_slot),    cmocka_unit_test(test_file),
		cmocka_unit_test(test_grub_agrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
