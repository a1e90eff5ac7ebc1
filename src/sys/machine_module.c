/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "base/mem.h"
#include "sys/libkmod.h"
#include "sys/machine.h"

/* The meaning of an errno of insmod for the administrator. */
static const struct {
	int code;
	const char *text;
} meanings[] = {
	{-ENOENT, "a module file or a symbol it needs is missing; is the package for the running "
		  "kernel installed, and did depmod run"},
	{-ENOEXEC, "built for another kernel; rebuild it for the running one"},
	{-EKEYREJECTED, "its signature is not trusted; sign it with an enrolled key"},
	{-EPERM, "rejected by kernel lockdown, or a capability is missing"},
	{-EINVAL, "its init failed; a bad parameter, or a symbol provider it does not fit "
		  "(see the kernel log)"},
	{-ENODEV, "its hardware is not there"},
	{-EACCES, "blacklisted by a file in modprobe.d"},
};

static int explain(int r, const char *name, struct err *err)
{
	for (size_t i = 0; i < array_len(meanings); i++)
		if (meanings[i].code == r)
			return err_errno(err, r, "module %s: %s", name, meanings[i].text);
	return err_errno(err, r, "module %s", name);
}

static int insert(const struct libkmod *lib, struct kmod_ctx *ctx, const char *name,
		  const char *options, struct err *err)
{
	struct kmod_list *list = NULL;
	int r = lib->kmod_module_new_from_lookup(ctx, name, &list);

	if (r < 0)
		return explain(r, name, err);
	if (!list) /* libkmod reports a missing module as 0 with an empty list */
		return err_set(err, -ENOENT,
			       "module %s: the running kernel has no such module; install the "
			       "package that brings it, or mark it optional",
			       name);
	for (struct kmod_list *i = list; i; i = lib->kmod_list_next(list, i)) {
		struct kmod_module *mod = lib->kmod_module_get_module(i);

		/* As in modprobe: a blacklist applies to aliases, not to names. */
		r = lib->kmod_module_probe_insert_module(mod, KMOD_PROBE_APPLY_BLACKLIST_ALIAS_ONLY,
							 options, NULL, NULL, NULL);
		lib->kmod_module_unref(mod);
		if (r > 0) /* the flag of the blacklist that applied */
			r = -EACCES;
		if (r < 0)
			break;
	}
	lib->kmod_module_unref_list(list);
	return r < 0 ? explain(r, name, err) : 0;
}

int machine_insert_module(const char *name, const char *options, struct err *err)
{
	const struct libkmod *lib = libkmod_get(err);
	struct kmod_ctx *ctx = lib ? lib->kmod_new(NULL, NULL) : NULL;
	int r;

	if (!lib)
		return -ELIBACC;
	if (!ctx)
		return err_errno(err, -ENOMEM, "module %s: libkmod", name);
	r = insert(lib, ctx, name, options, err);
	lib->kmod_unref(ctx);
	return r;
}
