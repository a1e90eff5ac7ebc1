/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * railhead.env: a file that is taken renders to the same bytes, and every plan made from it
 * leaves a file that is taken, after each of its writes. An input of 4096 bytes is a file;
 * any other is a list of changes to a sound one: two bytes where, one byte what.
 */
#include "fuzz.h"

#include "base/mem.h"
#include "boot/env.h"

static const struct boot_id id = {.id = "11111111-2222-3333-4444-555555555555",
				  .kernel = "6.1.0-40-amd64",
				  .time = 1790000000};

/* Writes the steps one by one, as a power cut may leave them. */
static void carry_out(const char *file, const struct env_plan *plan)
{
	struct boot_env now = {0};
	char buf[ENV_SIZE], after[ENV_SIZE];

	memcpy(buf, file, ENV_SIZE);
	must(plan->n <= ENV_STEPS_MAX);
	for (size_t i = 0; i < plan->n; i++) {
		const struct env_write *w = &plan->step[i];

		must(w->len <= sizeof(w->data) && w->offset + w->len <= ENV_SIZE);
		memcpy(buf + w->offset, w->data, w->len);
		/* The copy of the head may lag behind. */
		must(env_parse(buf, ENV_SIZE, &now, NULL) >= 0);
	}
	env_render(&plan->after, after);
	must(memcmp(buf, after, ENV_SIZE) == 0);
}

static void plans(const char *file, const struct boot_env *env)
{
	cleanup_kargs struct kargs args = {0};
	struct env_plan plan;

	kargs_split(&args, env->slot[0], NULL);
	if (env_plan_arm(env, &args, env->state.deaths + 1, &id, &plan, NULL) == 0)
		carry_out(file, &plan);
	if (env_plan_adopt(env, &args, true, &id, &plan, NULL) == 0)
		carry_out(file, &plan);
	for (char slot = 'a'; slot <= 'b'; slot++) {
		env_plan_commit(env, slot, &id, &plan);
		carry_out(file, &plan);
	}
	env_plan_disarm(env, &id, &plan);
	carry_out(file, &plan);
	env_plan_not_arrived(env, &id, &plan);
	carry_out(file, &plan);
	env_plan_no_variable(env, &id, &plan);
	carry_out(file, &plan);
	env_plan_died(env, 2, &id, &plan);
	carry_out(file, &plan);
	env_plan_ended(env, ENV_END_STOP, &plan);
	carry_out(file, &plan);
	env_plan_arrived(env, true, true, &plan);
	carry_out(file, &plan);
	env_plan_arrived(env, false, true, &plan);
	carry_out(file, &plan);
	env_plan_left_out(env, &id, &plan);
	carry_out(file, &plan);
	env_plan_reset(env, &id, &plan);
	carry_out(file, &plan);
}

static void sound_file(char ret[ENV_SIZE])
{
	struct boot_env env;

	env_init(&env, &id);
	strcpy(env.slot[0], "intel_iommu=on,sm_on hugepagesz=1G hugepages=0:32,1:32");
	strcpy(env.slot[1], "iommu=pt");
	strcpy(env.state.hash, "0123456789abcdef");
	strcpy(env.state.kernel, id.kernel);
	env.begun = '1';
	env.state.n_refused = 1;
	env.state.refused[0] =
		(struct env_refused){"fedcba9876543210", "76543210", 2, 1790000000, false};
	env_render(&env, ret);
}

/* What can be mended is mended, by the same values. */
static void mend(const char *file, const struct boot_env *env, char ret[ENV_SIZE])
{
	struct boot_env after;
	struct env_plan plan;

	env_plan_mend(file, env, &id, &plan);
	must(plan.n <= ENV_STEPS_MAX);
	memcpy(ret, file, ENV_SIZE);
	for (size_t i = 0; i < plan.n; i++)
		memcpy(ret + plan.step[i].offset, plan.step[i].data, plan.step[i].len);
	must(env_parse(ret, ENV_SIZE, &after, NULL) == 0);
	must(after.good == env->good && after.try_ == env->try_ &&
	     after.state.deaths == env->state.deaths &&
	     after.state.n_refused == env->state.n_refused);
}

static void of_file(const char *file)
{
	struct boot_env env = {0};
	char again[ENV_SIZE];
	int r = env_parse(file, ENV_SIZE, &env, NULL);

	if (r < 0)
		return;
	env_render(&env, again);
	must((memcmp(file, again, ENV_SIZE) == 0) == (r == 0));
	if (r > 0) {
		mend(file, &env, again);
		must(env_parse(again, ENV_SIZE, &env, NULL) == 0);
	}
	plans(again, &env);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct boot_env env = {0};
	char buf[ENV_SIZE];

	if (size == ENV_SIZE) {
		memcpy(buf, data, ENV_SIZE);
	} else {
		must(env_parse((const char *)data, size, &env, NULL) < 0);
		sound_file(buf);
		for (size_t i = 0; i + 2 < size; i += 3)
			buf[(data[i] | data[i + 1] << 8) % ENV_SIZE] = (char)data[i + 2];
	}
	of_file(buf);
	env_seal(buf);
	of_file(buf);
	return 0;
}
