/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/near_cpus.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "kinds/isolation.h"
#include "plan/change.h"
#include "sys/read.h"

#define CPU_DIR "/sys/devices/system/cpu/"

bool near_read_list(const struct root *root, struct cpus *ret, const char *path)
{
	cleanup_free char *text = NULL;

	memset(ret, 0, sizeof(*ret));
	return read_attr(root, &text, NULL, "%s", path) == 0 && cpus_parse(text, ret) == 0;
}

static int find_isolated(const struct kind_ctx *ctx, const struct ynode *planned, struct cpus *ret,
			 struct err *err)
{
	struct cpus list;
	int r;

	near_read_list(ctx->root, ret, CPU_DIR "isolated");
	near_read_list(ctx->root, &list, CPU_DIR "nohz_full");
	cpus_add_all(ret, &list);
	if (!planned)
		return 0;
	r = isolated_on(ctx->node, planned, &list, err);
	if (r < 0)
		return err_wrap(err, "isolate_cpus");
	cpus_add_all(ret, &list);
	return 0;
}

static void keep_online(const struct kind_ctx *ctx, struct cpus *cpus)
{
	struct cpus online, offline = *cpus;

	if (!near_read_list(ctx->root, &online, CPU_DIR "online"))
		online = ctx->node->cpus;
	cpus_remove_all(&offline, &online);
	cpus_remove_all(cpus, &offline);
}

static int find_local(const struct kind_ctx *ctx, const char *addr, const struct near_words *words,
		      struct cpus *ret, char **ret_where, struct err *err)
{
	const struct pci_fn *fn = node_find(ctx->node, addr);
	cleanup_free char *path = NULL;

	if (cpus_count(&ctx->node->nodes) <= 1) { /* the firmware need not report the only node */
		*ret = ctx->node->cpus;
		*ret_where = xstrdup("node 0");
		return 0;
	}
	if (!fn || fn->numa < 0)
		return err_set(err, -ENODATA,
			       "the firmware does not report the NUMA node of %s (numa_node -1): "
			       "name CPUs in %s, or see the BIOS (_PXM)",
			       addr, words->key);
	path = xasprintf("/sys/devices/system/node/node%d/cpulist", fn->numa);
	near_read_list(ctx->root, ret, path);
	if (!cpus_count(ret))
		return err_set(err, -ENODATA,
			       "node %d, which %s is on, has no CPUs: name CPUs in %s", fn->numa,
			       addr, words->key);
	*ret_where = xasprintf("node %d", fn->numa);
	return 0;
}

static int find(const struct kind_ctx *ctx, const struct change *c, const struct value *want,
		const struct near_words *words, struct cpus *ret, char **ret_where, struct err *err)
{
	cleanup_free char *list = NULL;

	if (want->type != VALUE_SET)
		return find_local(ctx, c->on.name, words, ret, ret_where, err);
	list = cpus_format(want->set);
	*ret = *want->set;
	*ret_where = xasprintf("CPUs %s", list);
	return 0;
}

int near_cpus(const struct kind_ctx *ctx, const struct change *c, const struct value *want,
	      const struct near_words *words, struct cpus *ret, char **ret_where, struct err *err)
{
	cleanup_free char *where = NULL;
	struct cpus isolated;
	int r = find(ctx, c, want, words, ret, &where, err);

	if (r < 0)
		return r;
	keep_online(ctx, ret);
	if (!cpus_count(ret))
		return err_set(err, -ENODATA, "%s: no CPU of %s is online", c->on.name, where);
	r = find_isolated(ctx, c->on.node, &isolated, err);
	if (r < 0)
		return r;
	cpus_remove_all(ret, &isolated);
	if (!cpus_count(ret))
		return err_set(
			err, -ENODATA,
			"%s: all CPUs of %s are isolated (isolate_cpus, isolcpus=, nohz_full=), so "
			"none is left for its %s: isolate fewer CPUs, or name other CPUs in %s",
			c->on.name, where, words->what, words->key);
	*ret_where = where;
	where = NULL;
	return 0;
}
