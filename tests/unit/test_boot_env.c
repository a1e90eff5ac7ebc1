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

#include "base/mem.h"
#include "boot/env.h"
#include "sys/machine.h"

/* A tree: nothing is flushed as it would be for the machine that runs the test. */
static const struct root ROOT = {.fd = -1};
static const struct boot_id ID = {.id = "01234567-89ab-cdef-0123-456789abcdef",
				  .kernel = "6.1.0-30-amd64",
				  .time = 1790000000};

static void args(struct kargs *l, const char *line)
{
	kargs_split(l, line, NULL);
}

/* The steps of a plan, the first n of them, upon a rendered file. */
static void play(const struct boot_env *from, const struct env_plan *plan, size_t n,
		 struct boot_env *ret)
{
	char buf[ENV_SIZE];
	struct err err;

	env_render(from, buf);
	for (size_t i = 0; i < n; i++)
		memcpy(buf + plan->step[i].offset, plan->step[i].data, plan->step[i].len);
	if (env_parse(buf, sizeof(buf), ret, &err) < 0)
		fail_msg("after step %zu: %s", n, err.text);
}

static void test_layout(void **state)
{
	struct boot_env env;
	char buf[ENV_SIZE];

	(void)state;
	env_init(&env, &ID);
	env_render(&env, buf);
	/* Fixed for ever: older boot loader configurations rely on it. */
	assert_memory_equal(buf,
			    "# GRUB Environment Block\nrailhead_good=a\nrailhead_try=-\n"
			    "railhead_layout=1\nrailhead_deaths=0 \nrailhead_result=-\n",
			    25 + 16 + 15 + 18 + 19 + 18);
	assert_memory_equal(buf + 512, "railhead_a= ", 12);
	assert_memory_equal(buf + 2048, "railhead_b= ", 12);
	assert_int_equal(buf[511], '\n');
	assert_int_equal(buf[2047], '\n');
	assert_int_equal(buf[3583], '\n');
	assert_memory_equal(buf + 3584, "railhead_begun=-\nrailhead_copy=a10 -", 17 + 19);
	assert_memory_equal(buf + 3942, "railhead_ends=        \nrailhead_healthy=0 \n", 23 + 20);
	for (int i = 3985; i < ENV_SIZE; i++)
		assert_int_equal(buf[i], '#');
	assert_null(memchr(buf, '\0', sizeof(buf)));
}

static void test_round_trip(void **state)
{
	struct boot_env env = {.good = 'b', .try_ = 't', .begun = '2', .slot = {"a=1 b", "quiet"}};
	struct boot_env back;
	char buf[ENV_SIZE];
	struct err err;

	(void)state;
	snprintf(env.ends, sizeof(env.ends), "psU");
	env.healthy = 42;
	env.state.deaths = 2;
	env.state.no_variable = true;
	env.state.n_refused = 2;
	env.state.refused[0] =
		(struct env_refused){"0123456789abcdef", "01234567", 2, 1790000000, false};
	env.state.refused[1] = (struct env_refused){"fedcba9876543210", "76543210", 0, 5, false};
	env.state.time = 1790000000;
	strcpy(env.state.hash, "0123456789abcdef");
	strcpy(env.state.kernel, "6.1");
	memset(env.slot[1], 'x', ENV_SLOT_SIZE);
	env_render(&env, buf);
	assert_int_equal(env_parse(buf, sizeof(buf), &back, &err), 0);
	assert_int_equal(back.good, 'b');
	assert_int_equal(back.try_, 't');
	assert_int_equal(back.begun, '2');
	assert_string_equal(back.slot[0], "a=1 b");
	assert_string_equal(back.slot[1], env.slot[1]);
	assert_int_equal(back.state.deaths, 2);
	assert_true(back.state.no_variable);
	assert_string_equal(back.ends, "psU");
	assert_int_equal(back.healthy, 42);
	assert_int_equal(back.state.n_refused, 2);
	assert_string_equal(back.state.refused[0].kernel, "01234567");
	assert_int_equal(back.state.refused[0].deaths, 2);
	assert_int_equal(back.state.refused[0].time, 1790000000);
	assert_string_equal(back.state.refused[1].hash, "fedcba9876543210");
	assert_int_equal(back.state.refused[1].deaths, 0);
	assert_string_equal(back.state.kernel, "6.1");
	assert_int_equal(back.state.time, 1790000000);
}

/* What is in no sum: GRUB's own, ends and healthy boots, and slots, of which GRUB takes what is
 * there. */
static bool is_taken_as_it_is(size_t i)
{
	return i == 54 || i == 3599 || (i >= 523 && i < 2047) || (i >= 2059 && i < 3583) ||
	       (i >= 3956 && i < 3964) || i == 3982 || i == 3983;
}

static void mends(const char *damaged, const char *sound, size_t i)
{
	struct boot_env env, back;
	struct env_plan plan;
	char buf[ENV_SIZE];
	struct err err = {0};

	if (env_parse(damaged, ENV_SIZE, &env, &err) < 0)
		fail_msg("byte %zu: %s", i, err.text);
	env_render(&env, buf);
	if (!is_taken_as_it_is(i))
		assert_memory_equal(buf, sound, ENV_SIZE);
	memcpy(buf, damaged, ENV_SIZE);
	env_plan_mend(damaged, &env, &ID, &plan);
	assert_true(plan.n <= ENV_STEPS_MAX);
	for (size_t n = 0; n < plan.n; n++) {
		memcpy(buf + plan.step[n].offset, plan.step[n].data, plan.step[n].len);
		/* whatever the power cut leaves can be mended as well */
		assert_true(env_parse(buf, ENV_SIZE, &back, &err) >= 0);
	}
	if (env_parse(buf, ENV_SIZE, &back, &err) != 0)
		fail_msg("byte %zu is not mended: %s", i, err.text);
}

/* Any one byte that is changed, to whatever. */
static void test_one_byte(void **state)
{
	static const unsigned char changes[] = {0x01, 0x02, 0x20, 0x80, 0xff};
	struct boot_env env;
	char buf[ENV_SIZE], sound[ENV_SIZE];
	struct err err;

	(void)state;
	env_init(&env, &ID);
	strcpy(env.slot[0], "good=1");
	strcpy(env.slot[1], "other=1");
	env.begun = '0';
	env.state.n_refused = 1;
	env.state.refused[0] =
		(struct env_refused){"0123456789abcdef", "01234567", 2, 1790000000, false};
	env_render(&env, sound);
	for (size_t i = 0; i < ENV_SIZE; i++)
		for (size_t j = 0; j < sizeof(changes); j++) {
			memcpy(buf, sound, ENV_SIZE);
			buf[i] = (char)(buf[i] ^ changes[j]);
			mends(buf, sound, i);
		}
	buf[40] = 'x';
	assert_int_equal(env_parse(buf, ENV_SIZE, &env, &err), 1);
	assert_non_null(strstr(err.text, "railhead.env is damaged: byte 40 is 0x78 instead of"));
}

static void test_damage(void **state)
{
	struct boot_env env, back;
	char buf[ENV_SIZE];
	struct err err;

	(void)state;
	env_init(&env, &ID);
	env_render(&env, buf);
	assert_int_equal(env_parse(buf, ENV_SIZE - 1, &back, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "4095 bytes long"));
	assert_int_equal(env_parse("", 0, &back, &err), -EBADMSG);
	/* a value and its copy */
	buf[125] = 'x';
	assert_int_equal(env_parse(buf, ENV_SIZE, &back, &err), 1);
	buf[3700] = 'x';
	assert_int_equal(env_parse(buf, ENV_SIZE, &back, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "neither its values nor their copy match their checksum"));
	/* they add up, and are none of ours */
	env_render(&env, buf);
	buf[39] = 'c';
	env_seal(buf);
	assert_int_equal(env_parse(buf, ENV_SIZE, &back, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "railhead_good at byte 39"));
}

/*
 * A power cut between any two steps leaves a file that boots either the args from before
 * or those that are armed, never a slot that is half written.
 */
static void test_arm_steps(void **state)
{
	struct boot_env env, now;
	struct env_plan plan;
	cleanup_kargs struct kargs l = {0};
	struct err err;

	(void)state;
	env_init(&env, &ID);
	strcpy(env.slot[0], "old=1");
	strcpy(env.slot[1], "older=1");
	env.try_ = 'b';
	env.begun = '0';
	args(&l, "new=1 hugepagesz=1G hugepages=0:1,1:1");
	assert_int_equal(env_plan_arm(&env, &l, 1, &ID, &plan, &err), 0);
	assert_int_equal(plan.n, 5);
	for (size_t n = 0; n <= plan.n; n++) {
		char next;

		play(&env, &plan, n, &now);
		next = env_next_slot(&now);
		assert_string_equal(env_slot(&now, 'a'), "old=1");
		if (n == 0)
			assert_string_equal(env_slot(&now, next), "older=1");
		else if (n < plan.n - 1)
			assert_string_equal(env_slot(&now, next), "old=1");
		else
			assert_string_equal(env_slot(&now, next),
					    "new=1 hugepagesz=1G hugepages=0:1,1:1");
	}
	assert_int_equal(now.try_, 'b');
	assert_int_equal(now.state.deaths, 1);
	assert_string_equal(now.state.kernel, ID.kernel);
	/* the head lies in one sector, so that it is written whole or not at all */
	assert_true(plan.step[0].offset + plan.step[0].len <= 512);
	assert_true(plan.step[3].offset + plan.step[3].len <= 512);
	/* ... and its copy in another */
	assert_true(plan.step[4].offset >= ENV_SIZE - 512);
}

static void test_commit_steps(void **state)
{
	struct boot_env env = {.good = 'a', .try_ = 't', .slot = {"old=1", "new=1"}}, now;
	struct env_plan plan;

	(void)state;
	env.state.deaths = 1;
	env_plan_commit(&env, 'b', &ID, &plan);
	for (size_t n = 0; n <= plan.n; n++) {
		play(&env, &plan, n, &now);
		assert_string_equal(env_slot(&now, env_next_slot(&now)), n > 1 ? "new=1" : "old=1");
		assert_int_equal(now.begun, n ? '0' : ENV_NONE);
	}
	assert_int_equal(now.begun, '0');
	assert_int_equal(now.try_, ENV_NONE);
	assert_int_equal(now.state.deaths, 0);
	assert_string_equal(now.slot[0], "old=1");
	assert_true(plan.step[1].offset + plan.step[1].len <= 512);
	/* once more: nothing */
	env_plan_commit(&now, 'b', &ID, &plan);
	assert_int_equal(plan.n, 0);
}

static void test_other_plans(void **state)
{
	struct boot_env env = {.good = 'a', .try_ = 't', .slot = {"old=1", "new=1"}}, now;
	cleanup_kargs struct kargs l = {0}, bad = {0};
	struct env_plan plan;
	struct err err;

	(void)state;
	env.state.deaths = 2;
	args(&l, "x=1");
	assert_int_equal(env_plan_adopt(&env, &l, true, &ID, &plan, &err), 0);
	play(&env, &plan, plan.n, &now);
	assert_int_equal(now.good, 'b');
	assert_string_equal(now.slot[1], "x=1");
	assert_string_equal(now.slot[0], "old=1");

	env_plan_disarm(&env, &ID, &plan);
	play(&env, &plan, plan.n, &now);
	assert_int_equal(now.try_, ENV_NONE);

	env_plan_reset(&env, &ID, &plan);
	assert_true(plan.n <= ENV_STEPS_MAX);
	play(&env, &plan, plan.n, &now);
	assert_int_equal(now.good, ENV_NONE);
	assert_string_equal(now.slot[0], "");
	assert_string_equal(now.slot[1], "");

	args(&bad, "a=\"b\"");
	assert_int_equal(env_plan_arm(&env, &bad, 0, &ID, &plan, &err), -EINVAL);
}

static void plan_arm(const struct boot_env *env, struct env_plan *plan)
{
	cleanup_kargs struct kargs l = {0};

	args(&l, "new=1");
	assert_int_equal(env_plan_arm(env, &l, env->state.deaths, &ID, plan, NULL), 0);
}

static void plan_arm_others(const struct boot_env *env, struct env_plan *plan)
{
	cleanup_kargs struct kargs l = {0};

	args(&l, "other=1");
	assert_int_equal(env_plan_arm(env, &l, 0, &ID, plan, NULL), 0);
}

static void plan_arm_anew(const struct boot_env *env, struct env_plan *plan)
{
	cleanup_kargs struct kargs l = {0};

	args(&l, "new=1");
	assert_int_equal(env_plan_arm(env, &l, env->state.deaths - 1, &ID, plan, NULL), 0);
}

static void plan_adopt(const struct boot_env *env, struct env_plan *plan)
{
	cleanup_kargs struct kargs l = {0};

	args(&l, "new=1");
	assert_int_equal(env_plan_adopt(env, &l, true, &ID, plan, NULL), 0);
}

static void plan_commit(const struct boot_env *env, struct env_plan *plan)
{
	env_plan_commit(env, 'b', &ID, plan);
}

static void plan_died(const struct boot_env *env, struct env_plan *plan)
{
	env_plan_died(env, 9, &ID, plan);
}

static void plan_left_out(const struct boot_env *env, struct env_plan *plan)
{
	env_plan_left_out(env, &ID, plan);
}

static void plan_disarm(const struct boot_env *env, struct env_plan *plan)
{
	env_plan_disarm(env, &ID, plan);
}

static void plan_not_arrived(const struct boot_env *env, struct env_plan *plan)
{
	env_plan_not_arrived(env, &ID, plan);
}

static void plan_no_variable(const struct boot_env *env, struct env_plan *plan)
{
	env_plan_no_variable(env, &ID, plan);
}

static void plan_unfit(const struct boot_env *env, struct env_plan *plan)
{
	env_plan_unfit(env, &ID, plan);
}

static void plan_look_back(const struct boot_env *env, struct env_plan *plan)
{
	env_plan_look_back(env, &ID, plan);
}

static void plan_look_again(const struct boot_env *env, struct env_plan *plan)
{
	env_plan_look_again(env, &ID, plan);
}

static void plan_stop(const struct boot_env *env, struct env_plan *plan)
{
	env_plan_ended(env, ENV_END_STOP, plan);
	assert_true(plan->n <= 1);
}

static void plan_reset(const struct boot_env *env, struct env_plan *plan)
{
	env_plan_reset(env, &ID, plan);
}

/* What each plan makes of how the trials of the args ended, and of the deaths, 1 before. */
static void test_ends(void **state)
{
	static const struct {
		void (*plan)(const struct boot_env *env, struct env_plan *plan);
		char try_;
		const char *before, *after;
		unsigned int deaths;
	} rows[] = {
		{plan_arm, 't', "U", "uU", 1},
		{plan_arm, 't', "sT", "stU", 1},
		{plan_arm, 'b', "pU", "pU", 1}, /* what was armed was not taken */
		{plan_arm, '-', "pU", "pU", 1},
		{plan_arm, '-', "pp", "ppU", 1},
		{plan_arm, 't', "ppppppp", "pppppppU", 1},
		{plan_arm, 't', "pppppppS", "ppppppps", 1}, /* full */
		{plan_arm_others, 't', "pU", "U", 0},
		{plan_arm_anew, '-', "pp", "U", 0},
		{plan_adopt, '-', "pU", "", 0},
		{plan_commit, 't', "pU", "p", 0},
		{plan_commit, 't', "pS", "p", 0}, /* a soft-reboot, and then a verdict */
		{plan_died, 't', "U", "u", 2},
		{plan_died, 't', "S", "s", 1},
		{plan_died, 't', "A", "a", 1},
		{plan_died, 't', "saS", "sas", 2},
		{plan_died, 't', "ss", "ss", 2}, /* the letter is lost */
		{plan_died, 't', "", "", 2},
		{plan_left_out, '-', "pp", "o", 1},
		{plan_disarm, 't', "pU", "p", 1},
		{plan_not_arrived, 't', "pU", "pl", 0},
		{plan_no_variable, 't', "pU", "p", 1},
		{plan_unfit, 't', "pS", "pl", 0},
		{plan_unfit, '-', "pl", "pl", 0},
		{plan_look_back, 't', "U", "l", 0},
		{plan_look_again, '-', "l", "lU", 1},
		{plan_stop, 't', "pU", "pS", 1},
		{plan_stop, 't', "pT", "pT", 1},
		{plan_stop, 't', "p", "p", 1},
		{plan_stop, '-', "pU", "pU", 1},
		{plan_stop, 'b', "pU", "pU", 1},
		{plan_reset, 't', "pU", "", 0},
	};

	(void)state;
	for (size_t i = 0; i < array_len(rows); i++) {
		struct boot_env env = {.good = 'a', .slot = {"old=1", "new=1"}}, now;
		struct env_plan plan;

		env.try_ = rows[i].try_;
		env.begun = ENV_NONE;
		env.state.deaths = 1;
		kargs_hash_line("new=1", env.state.hash);
		snprintf(env.state.kernel, sizeof(env.state.kernel), "%s", ID.kernel);
		snprintf(env.ends, sizeof(env.ends), "%s", rows[i].before);
		rows[i].plan(&env, &plan);
		play(&env, &plan, plan.n, &now);
		if (!streq(now.ends, rows[i].after) || now.state.deaths != rows[i].deaths)
			fail_msg("row %zu: '%s', %u deaths", i, now.ends, now.state.deaths);
	}
}

/* A second trial that is given back decides all the same; one that a person arms is a first one. */
static void test_second_is_given_back(void **state)
{
	struct boot_env env = {
		.good = 'a', .try_ = 't', .begun = ENV_NONE, .slot = {"old=1", "new=1"}};
	struct env_plan plan;

	(void)state;
	kargs_hash_line("new=1", env.state.hash);
	snprintf(env.state.kernel, sizeof(env.state.kernel), "%s", ID.kernel);
	env.state.look = ENV_LOOK_SECOND;
	snprintf(env.ends, sizeof(env.ends), "lS");
	plan_arm(&env, &plan);
	assert_int_equal(plan.after.state.look, ENV_LOOK_SECOND);
	assert_string_equal(plan.after.ends, "lsU");
	snprintf(env.ends, sizeof(env.ends), "lU");
	plan_arm(&env, &plan);
	assert_int_equal(plan.after.state.look, ENV_LOOK_NONE);
}

/* Healthy boots, one sector each; then one more trial, in which the args stay refused. */
static void test_try_again(void **state)
{
	cleanup_kargs struct kargs l = {0}, other = {0};
	struct boot_env env, now, then;
	struct env_plan plan;
	struct err err;

	(void)state;
	env_init(&env, &ID);
	args(&l, "x=1");
	args(&other, "y=1");
	assert_int_equal(env_plan_arm(&env, &l, 1, &ID, &plan, &err), 0);
	play(&env, &plan, plan.n, &now);
	now.try_ = ENV_TAKEN;
	now.healthy = 7;
	env_plan_died(&now, 2, &ID, &plan);
	play(&now, &plan, plan.n, &env);
	assert_int_equal(env.healthy, 0);
	assert_int_equal(env_refused(&env, &l, ID.kernel)->deaths, 2);
	for (unsigned int i = 1; i <= 101; i++) {
		env_plan_healthy(&env, &plan);
		assert_int_equal(plan.n, i < 100);
		if (plan.n)
			assert_true(plan.step[0].offset >= ENV_SIZE - 512);
		play(&env, &plan, plan.n, &now);
		env = now;
		assert_int_equal(env.healthy, i > 99 ? 99 : i);
	}
	assert_int_equal(env_plan_try_again(&env, &l, &ID, &plan, &err), 0);
	play(&env, &plan, plan.n, &now);
	assert_int_equal(now.healthy, 0);
	assert_int_equal(now.try_, 'b');
	assert_int_equal(env_refused(&now, &l, ID.kernel)->deaths, 2);
	now.try_ = ENV_TAKEN;
	/* dead: at once, whatever else would be needed */
	env_plan_died(&now, 2, &ID, &plan);
	play(&now, &plan, plan.n, &then);
	assert_int_equal(env_refused(&then, &l, ID.kernel)->deaths, 3);
	assert_int_equal(then.state.n_refused, 1);
	assert_int_equal(then.state.deaths, 0);
	/* well: no longer refused */
	now.healthy = 1;
	env_plan_commit(&now, 'b', &ID, &plan);
	play(&now, &plan, plan.n, &then);
	assert_null(env_refused(&then, &l, ID.kernel));
	assert_int_equal(then.healthy, 0);
	/* others in between forgive nothing */
	assert_int_equal(env_plan_arm(&now, &other, 0, &ID, &plan, &err), 0);
	play(&now, &plan, plan.n, &then);
	assert_non_null(env_refused(&then, &l, ID.kernel));
	assert_int_equal(then.healthy, 1);
	/* on the line of a boot by other means, or none are owned any more */
	assert_int_equal(env_plan_adopt(&now, &l, true, &ID, &plan, &err), 0);
	play(&now, &plan, plan.n, &then);
	assert_null(env_refused(&then, &l, ID.kernel));
	env_plan_reset(&now, &ID, &plan);
	play(&now, &plan, plan.n, &then);
	assert_int_equal(then.healthy, 0);
}

/* Trials that ended badly: counted, then refused; the newest four are remembered. */
static void test_refused(void **state)
{
	struct boot_env env, now;
	struct env_plan plan;
	struct err err;
	char text[16];

	(void)state;
	env_init(&env, &ID);
	for (int i = 0; i < 6; i++) {
		cleanup_kargs struct kargs l = {0};

		snprintf(text, sizeof(text), "x=%d", i);
		args(&l, text);
		assert_null(env_refused(&env, &l, ID.kernel));
		for (unsigned int deaths = 0; deaths < 2; deaths++) {
			assert_int_equal(env_plan_arm(&env, &l, deaths, &ID, &plan, &err), 0);
			play(&env, &plan, plan.n, &now);
			now.try_ = ENV_TAKEN;
			env_plan_died(&now, 2, &ID, &plan);
			assert_int_equal(plan.n, 2);
			play(&now, &plan, plan.n, &env);
			assert_int_equal(env.try_, ENV_NONE);
			assert_int_equal(env.state.deaths, deaths ? 0 : 1);
		}
		assert_int_equal(env_refused(&env, &l, ID.kernel)->deaths, 2);
		assert_int_equal(env_refused(&env, &l, ID.kernel)->time, ID.time);
		assert_null(env_refused(&env, &l, "another"));
		/* none was taken: none died */
		env_plan_died(&env, 2, &ID, &plan);
		assert_int_equal(plan.n, 0);
	}
	assert_int_equal(env.state.n_refused, ENV_REFUSED_MAX);
	for (int i = 0; i < 6; i++) {
		cleanup_kargs struct kargs l = {0};

		snprintf(text, sizeof(text), "x=%d", i);
		args(&l, text);
		assert_int_equal(env_refused(&env, &l, ID.kernel) != NULL, i >= 2);
		if (i != 4)
			continue;
		/* the operator wants it: only this one is forgiven */
		assert_int_equal(env_plan_arm(&env, &l, 0, &ID, &plan, &err), 0);
		play(&env, &plan, plan.n, &now);
		assert_null(env_refused(&now, &l, ID.kernel));
		assert_int_equal(now.state.n_refused, ENV_REFUSED_MAX - 1);
	}
	/* once more the same args: one entry, not two */
	now.try_ = ENV_TAKEN;
	env_plan_not_arrived(&now, &ID, &plan);
	play(&now, &plan, plan.n, &env);
	env_plan_not_arrived(&env, &ID, &plan);
	play(&env, &plan, plan.n, &now);
	assert_int_equal(now.state.n_refused, ENV_REFUSED_MAX);
	assert_int_equal(now.state.refused[ENV_REFUSED_MAX - 1].deaths, 0);
	env_plan_reset(&now, &ID, &plan);
	play(&now, &plan, plan.n, &env);
	assert_int_equal(env.state.n_refused, 0);
}

/* The list in the file: nothing but what we write is taken for one. */
static void test_refused_damage(void **state)
{
	static const char *const bad[] = {
		"x",
		"0123456789abcdef.01234567.0.1790000000",
		"0123456789abcdef.01234567.10.1790000000",
		"0123456789abcdef.01234567.2.",
		"0123456789abcdef.01234567.2.-1",
		"0123456789abcdef.01234567.2.01",
		"0123456789abcde.01234567.2.1",
		"0123456789abcdef.01234567.2.1.1",
		"0123456789abcdef.01234567.2.1  0123456789abcdef.01234567.2.1",
		"f.0.2.1 f.0.2.1 f.0.2.1 f.0.2.1 f.0.2.1",
	};
	struct boot_env env, back;
	char buf[ENV_SIZE];
	struct err err;

	(void)state;
	env_init(&env, &ID);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		env_render(&env, buf);
		memcpy(buf + 318, bad[i], strlen(bad[i]));
		env_seal(buf);
		if (env_parse(buf, sizeof(buf), &back, &err) == 0)
			fail_msg("taken: %s", bad[i]);
	}
}

/* After a reset no slot is good; a trial then still leaves a mark when it dies. */
static void test_arm_after_reset(void **state)
{
	struct boot_env env = {.good = ENV_NONE, .try_ = ENV_NONE}, now;
	cleanup_kargs struct kargs l = {0};
	struct env_plan plan;

	(void)state;
	strcpy(env.slot[1], "left=1");
	args(&l, "x=1");
	assert_int_equal(env_plan_arm(&env, &l, 0, &ID, &plan, NULL), 0);
	play(&env, &plan, plan.n, &now);
	assert_int_equal(now.try_, 'a');
	assert_int_equal(now.good, 'b');
	assert_string_equal(now.slot[0], "x=1");
	assert_string_equal(now.slot[1], "");
}

static int temp_dir(char *path)
{
	strcpy(path, "/tmp/railhead-test.XXXXXX");
	assert_non_null(mkdtemp(path));
	return open(path, O_RDONLY | O_DIRECTORY);
}

static void remove_dir(const char *path, int dirfd)
{
	unlinkat(dirfd, ENV_FILE_NAME, 0);
	close(dirfd);
	rmdir(path);
}

static void test_file(void **state)
{
	cleanup_kargs struct kargs l = {0};
	struct boot_env env, back;
	struct stat before, after;
	struct env_plan plan;
	struct err err;
	char path[64];
	int dir = temp_dir(path);

	(void)state;
	assert_int_equal(env_read(-1, &env, &err), -ENOENT);
	assert_int_equal(env_read(dir, &env, &err), -ENOENT);
	/* what a power cut can leave of a new name on vfat */
	close(openat(dir, ENV_FILE_NAME, O_WRONLY | O_CREAT, 0644));
	assert_int_equal(env_read(dir, &env, &err), -ENOENT);
	assert_int_equal(env_create(&ROOT, dir, &ID, &env, &err), 0);
	assert_int_equal(env_read(dir, &back, &err), 0);
	assert_int_equal(back.good, 'a');
	fstatat(dir, ENV_FILE_NAME, &before, 0);
	args(&l, "a=1");
	env_plan_arm(&env, &l, 0, &ID, &plan, &err);
	assert_int_equal(env_write(dir, &plan, &err), 0);
	assert_int_equal(env_read(dir, &back, &err), 0);
	assert_memory_equal(&back, &plan.after, sizeof(back.good) + sizeof(back.try_));
	assert_string_equal(back.slot[1], "a=1");
	/* in place: the same file, where a boot loader knows it */
	fstatat(dir, ENV_FILE_NAME, &after, 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(after.st_size, ENV_SIZE);
	/* never longer, never elsewhere */
	assert_int_equal(machine_overwrite(dir, ENV_FILE_NAME, ENV_SIZE - 1, "xy", 2, &err),
			 -ERANGE);
	assert_int_equal(machine_overwrite(dir, ENV_FILE_NAME, -1, "x", 1, &err), -ERANGE);
	assert_int_equal(machine_overwrite(dir, "absent", 0, "x", 1, &err), -ENOENT);
	assert_int_equal(faccessat(dir, ENV_FILE_NAME ".new", F_OK, 0), -1);
	/* a link in its place is not followed */
	unlinkat(dir, ENV_FILE_NAME, 0);
	assert_int_equal(symlinkat("/etc/passwd", dir, ENV_FILE_NAME), 0);
	assert_int_equal(env_read(dir, &env, &err), -ELOOP);
	assert_int_equal(env_write(dir, &plan, &err), -ELOOP);
	remove_dir(path, dir);
}

/* GRUB's own reader and writer, where they are installed. */
static void test_grub_agrees(void **state)
{
	cleanup_kargs struct kargs l = {0};
	cleanup_free char *cmd = NULL;
	struct boot_env env, back;
	struct env_plan plan;
	struct err err;
	char path[64];
	int dir;

	(void)state;
	if (system("command -v grub-editenv >/dev/null 2>&1") != 0)
		skip();
	dir = temp_dir(path);
	assert_int_equal(env_create(&ROOT, dir, &ID, &env, &err), 0);
	args(&l, "a=1 b hugepagesz=1G hugepages=0:1,1:1");
	env_plan_arm(&env, &l, 0, &ID, &plan, &err);
	assert_int_equal(env_write(dir, &plan, &err), 0);
	cmd = xasprintf("cd %s && grub-editenv railhead.env list | sed 's/ *$//' >list && "
			"grep -qx railhead_good=a list && grep -qx railhead_try=b list && "
			"grep -qx 'railhead_b=a=1 b hugepagesz=1G hugepages=0:1,1:1' list && "
			"grub-editenv railhead.env set railhead_try=t; r=$?; rm -f list; exit $r",
			path);
	assert_int_equal(system(cmd), 0);
	/* save_env moved nothing: the file is still ours to the byte */
	assert_int_equal(env_read(dir, &back, &err), 0);
	assert_int_equal(back.try_, ENV_TAKEN);
	assert_string_equal(back.slot[1], plan.after.slot[1]);
	remove_dir(path, dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_one_byte),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_arm_steps),
		cmocka_unit_test(test_commit_steps),
		cmocka_unit_test(test_other_plans),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_second_is_given_back),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_try_again),
		cmocka_unit_test(test_refused_damage),
		cmocka_unit_test(test_arm_after_reset),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_grub_agrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
