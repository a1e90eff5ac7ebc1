/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/module.h"

#include <errno.h>

#include "base/mem.h"
#include "base/vec.h"
#include "sys/libkmod.h"
#include "sys/read.h"

char *module_sysfs_name(const char *name)
{
	char *s = xstrdup(name);

	for (char *p = s; *p; p++)
		if (*p == '-')
			*p = '_';
	return s;
}

static enum module_state state_of(int initstate)
{
	switch (initstate) {
	case KMOD_MODULE_BUILTIN:
		return MODULE_BUILTIN;
	case KMOD_MODULE_LIVE:
		return MODULE_LIVE;
	case KMOD_MODULE_COMING:
		return MODULE_COMING;
	default:
		return MODULE_ABSENT;
	}
}

static int ask_libkmod(const char *name, enum module_state *ret, struct err *err)
{
	const struct libkmod *lib = libkmod_get(err);
	struct kmod_ctx *ctx = lib ? lib->kmod_new(NULL, NULL) : NULL;
	struct kmod_list *list = NULL;
	int r;

	if (!lib)
		return -ELIBACC;
	r = ctx ? lib->kmod_module_new_from_lookup(ctx, name, &list) : -ENOMEM;
	if (r == 0)
		*ret = MODULE_MISSING;
	if (r == 0 && list) {
		struct kmod_module *mod = lib->kmod_module_get_module(list);

		*ret = state_of(lib->kmod_module_get_initstate(mod));
		lib->kmod_module_unref(mod);
	}
	lib->kmod_module_unref_list(list);
	lib->kmod_unref(ctx);
	return r < 0 ? err_errno(err, r, "module %s", name) : 0;
}

int module_state(const struct root *root, const char *name, enum module_state *ret, struct err *err)
{
	cleanup_free char *dir = module_sysfs_name(name);
	cleanup_free char *state = NULL;

	if (read_text(root, &state, NULL, "/sys/module/%s/initstate", dir) == 0)
		*ret = streq(state, "live") ? MODULE_LIVE : MODULE_COMING;
	else if (root_exists(root, "/sys/module/%s", dir))
		*ret = MODULE_BUILTIN; /* only built-in code has no initstate */
	else if (root->live)
		return ask_libkmod(name, ret, err);
	else
		*ret = MODULE_ABSENT;
	return 0;
}
