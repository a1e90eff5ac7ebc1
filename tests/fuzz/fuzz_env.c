/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * railhead.env: a file that is taken renders to the same bytes, but for a slot that does not boot.
 * An input of 4096 bytes is a file; any other is a list of changes to a sound one: two bytes where,
 * one byte what.
 */
#include "fuzz.h"

#include "base/mem.h"
#include "base/str.h"
#include "loader/env.h"

static void sound_file(char ret[ENV_SIZE])
{
	struct boot_env env;

	env_init(&env);
	env_set_slot(&env, 'a', "intel_iommu=on,sm_on hugepagesz=1G hugepages=0:32,1:32");
	env_set_slot(&env, 'b', "iommu=pt");
	env.begun = '1';
	env.reboots = 2;
	env_render(&env, ret);
}

static bool says_the_same(const struct boot_env *a, const struct boot_env *b)
{
	return a->good == b->good && a->try_ == b->try_ && a->begun == b->begun &&
	       a->reboots == b->reboots && streq(a->slot[0], b->slot[0]) &&
	       streq(a->slot[1], b->slot[1]);
}

static void take_file(const char *file)
{
	struct boot_env env, back;
	char again[ENV_SIZE];
	int r = env_parse(file, ENV_SIZE, &env, NULL);

	if (r < 0) {
		must(env.good == 'a' && env.try_ == ENV_NONE && env.begun == ENV_NONE &&
		     env.reboots == 0);
		return;
	}
	/* what comes from an earlier railhead has no trial and no count */
	must(r == 0 || (env.try_ == ENV_NONE && env.begun == ENV_NONE && env.reboots == 0));
	env_render(&env, again);
	must(env_parse(again, ENV_SIZE, &back, NULL) == 0);
	must(says_the_same(&env, &back));
	must(r > 0 || memcmp(again, file, 91) == 0 || env.try_ == ENV_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct boot_env env;
	char buf[ENV_SIZE];

	if (size == ENV_SIZE) {
		memcpy(buf, data, ENV_SIZE);
	} else {
		must(env_parse((const char *)data, size, &env, NULL) < 0);
		sound_file(buf);
		for (size_t i = 0; i + 2 < size; i += 3)
			buf[(data[i] | data[i + 1] << 8) % ENV_SIZE] = (char)data[i + 2];
	}
	take_file(buf);
	env_seal(buf);
	take_file(buf);
	return 0;
}
