/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/module.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
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

/* Modules that libkmod finds for a name or an alias. */
struct found {
	const struct libkmod *lib;
	struct kmod_ctx *ctx;
	struct kmod_list *list;
	struct kmod_module *mod; /* the first of the list; NULL: no module */
};

static void found_free(struct found *f)
{
	if (f->mod)
		f->lib->kmod_module_unref(f->mod);
	if (f->ctx) {
		f->lib->kmod_module_unref_list(f->list);
		f->lib->kmod_unref(f->ctx);
	}
}
#define cleanup_found cleanup(found_free)

static int find(const char *name, struct found *ret, struct err *err)
{
	int r;

	*ret = (struct found){.lib = libkmod_get(err)};
	if (!ret->lib)
		return -ELIBACC;
	ret->ctx = ret->lib->kmod_new(NULL, NULL);
	r = ret->ctx ? ret->lib->kmod_module_new_from_lookup(ret->ctx, name, &ret->list) : -ENOMEM;
	if (r == 0 && ret->list)
		ret->mod = ret->lib->kmod_module_get_module(ret->list);
	return r < 0 ? err_errno(err, r, "module %s", name) : 0;
}

static int ask_libkmod(const char *name, enum module_state *ret, struct err *err)
{
	struct found f cleanup_found = {0};
	int r = find(name, &f, err);

	if (r < 0)
		return r;
	*ret = f.mod ? state_of(f.lib->kmod_module_get_initstate(f.mod)) : MODULE_MISSING;
	return 0;
}

/*
 * module_param() gives each parameter a type, "parmtype=NAME:TYPE"; a parameter of
 * module_param_cb() has at most a description, "parm=NAME:TEXT": include/linux/moduleparam.h.
 */
static int find_param(const struct libkmod *lib, struct kmod_list *info, const char *param)
{
	static const char *const of_all[] = {
		"async_probe", "dyndbg"}; /* parameters of every module: load_module() */
	cleanup_free char *name = module_sysfs_name(param);
	size_t len = strlen(name);

	for (struct kmod_list *i = info; i; i = lib->kmod_list_next(info, i)) {
		const char *value = lib->kmod_module_info_get_value(i);

		if (str_starts(lib->kmod_module_info_get_key(i), "parm") &&
		    strncmp(value, name, len) == 0 && value[len] == ':')
			return 1;
	}
	return str_index(name, of_all, array_len(of_all)) >= 0;
}

int module_has_param(const struct root *root, const char *name, const char *param)
{
	struct found f cleanup_found = {0};
	struct kmod_list *info = NULL;
	int r = -ENODATA;

	if (!root->live || find(name, &f, NULL) < 0 || !f.mod)
		return r;
	if (f.lib->kmod_module_get_info(f.mod, &info) > 0)
		r = find_param(f.lib, info, param);
	f.lib->kmod_module_info_free_list(info);
	return r;
}

int module_state(const struct root *root, const char *name, enum module_state *ret, struct err *err)
{
	cleanup_free char *dir = module_sysfs_name(name);
	cleanup_free char *state = NULL;

	if (read_attr(root, &state, NULL, "/sys/module/%s/initstate", dir) == 0)
		*ret = streq(state, "live") ? MODULE_LIVE : MODULE_COMING;
	else if (root_exists(root, "/sys/module/%s", dir))
		*ret = MODULE_BUILTIN; /* only built-in code has no initstate */
	else if (root->live)
		return ask_libkmod(name, ret, err);
	else
		*ret = MODULE_ABSENT;
	return 0;
}

char *module_param_path(const char *module, const char *param)
{
	cleanup_free char *dir = module_sysfs_name(module), *file = module_sysfs_name(param);

	return xasprintf("/sys/module/%s/parameters/%s", dir, file);
}
