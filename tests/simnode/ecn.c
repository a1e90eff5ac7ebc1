/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DCQCN as DOCA-OFED's mlx5 has it (en_ecn.c), and the traffic class of all queue pairs
 * (main_ext.c); and as the kernel's mlx5 has it in debugfs (hw/mlx5/cong.c). What a write is worth
 * is the firmware's word; ranges are those that NVIDIA publishes, where it does.
 */
#include "simnode.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* Tells the firmware, which may have its own mind: see ignore and store in script.c. */
static int tell(const char *name, const char *value)
{
	cleanup_free char *instead = NULL, *old = tree_get("%s", name);
	int r;

	if (!old)
		return -ENODEV;
	r = script_meet_instead(OP_WRITE, name, NULL, &instead);
	if (r < 0 || (r == INSTEAD && !*instead))
		return r < 0 ? r : 0;
	return tree_replace(r == INSTEAD ? instead : value, name);
}

static int tell_number(const char *name, int value)
{
	cleanup_free char *text = xasprintf("%d", value);

	return tell(name, text);
}

/* Of another number the lowest bit counts; what is so already is not told again. */
int ecn_store_enable(const char *name, char *text)
{
	int value;

	if (sscanf(text, "%d", &value) != 1)
		return -EINVAL;
	if ((int)tree_number("%s", name) == (value & 1))
		return 0;
	return tell_number(name, value & 1);
}

static const struct {
	const char *file;
	int min, max;
} ranges[] = {
	{"cnp_dscp", 0, 63},	     {"cnp_802p_prio", 0, 7},	       {"clamp_tgt_rate", 0, 1},
	{"rpg_min_dec_fac", 0, 100}, {"dce_tcp_g", 0, 1023},	       {"dce_tcp_rtt", 1, 131071},
	{"rpg_gd", 10, 11},	     {"initial_alpha_value", 1, 1023},
};

static int in_range(const char *name, int value)
{
	const char *file = strrchr(name, '/') + 1;

	for (size_t i = 0; i < array_len(ranges); i++)
		if (streq(ranges[i].file, file))
			return value >= ranges[i].min && value <= ranges[i].max ? 0 : -EINVAL;
	return 0;
}

int ecn_store_np(const char *name, char *text)
{
	int value, r;

	if (sscanf(text, "%d", &value) != 1)
		return -EINVAL;
	r = in_range(name, value);
	return r < 0 ? r : tell_number(name, value);
}

/* The driver does not look whether there was a number: what lay on its stack goes. */
int ecn_store_rp(const char *name, char *text)
{
	int value, r;

	if (sscanf(text, "%d", &value) != 1)
		return tell_number(name, -1430532899);
	r = in_range(name, value);
	return r < 0 ? r : tell_number(name, value);
}

/* "106" or "tclass=106"; negative takes the rule away. Rules of single peers are not here. */
int ecn_store_class(const char *name, char *text)
{
	cleanup_free char *rule = NULL;
	int value;

	if (sscanf(text, "tclass=%d", &value) != 1 && sscanf(text, "%d", &value) != 1)
		return -EINVAL;
	if (value > UCHAR_MAX)
		return -EINVAL;
	rule = value < 0 ? xstrdup("") : xasprintf("Global tclass=%d", value);
	return tell(name, rule);
}

/* kstrtou32(): a number, in hexadecimal too. A priority of notifications counts from then on. */
int ecn_store_cc(const char *name, char *text)
{
	cleanup_free char *dir = xstrndup(name, (size_t)(strrchr(name, '/') - name)),
			  *number = NULL;
	unsigned long value;
	char *end;
	int r;

	str_chomp(text);
	value = strtoul(text, &end, 0);
	if (*end || end == text || *text == '-' || value > UINT32_MAX)
		return -EINVAL;
	number = xasprintf("%lu", value);
	r = tell(name, number);
	if (r == 0 && streq(name + strlen(dir), "/np_cnp_prio"))
		tree_put("0", "%s/np_cnp_prio_mode", dir);
	return r;
}
