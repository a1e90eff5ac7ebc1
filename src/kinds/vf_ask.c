/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks a PF about its VFs, once for all looks at one of them. */
#include <errno.h>

#include "base/mem.h"
#include "kinds/function.h"
#include "kinds/vf_address.h"
#include "sys/netlink.h"

int vf_no_ipoib(const char *pf, struct err *err)
{
	return err_set(err, -ENODEV,
		       "%s has no IPoIB netdev, through which the GUIDs of its VFs are set" TO_MEND
		       "load ib_ipoib (modules: {load: [ib_ipoib]})",
		       pf);
}

int vf_ask(const struct root *root, const char *pf, bool apart, struct pf_info *ret,
	   struct err *err)
{
	struct ifindexes netdevs = {0};
	struct netdevs found = {0};
	struct netlink_answer got cleanup_answer = {0};
	int r;

	r = function_netdevs(root, pf, &found, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < found.n; i++)
		vec_push(&netdevs.list, found.v[i].ifindex);
	vec_free(&found);
	r = apart ? netlink_ask_apart(pf_info_question, &netdevs, "rtnl", NETLINK_APART_MS, &got,
				      err)
		  : pf_info_question(&netdevs, &got, err);
	vec_free(&netdevs.list);
	return r < 0 ? r : pf_info_parse(got.data, got.len, ret, err);
}

static int ask_apart(const struct root *root, const char *pf, void **ret, struct err *err)
{
	struct pf_info *info = xnew(struct pf_info);

	*ret = info;
	return vf_ask(root, pf, true, info, err);
}

static void free_info(void *arg)
{
	struct pf_info *info = arg;

	pf_info_free(info);
	free(info);
}

static struct cache pfs = {.ask = ask_apart, .free = free_info};

const struct cached *vf_cached(const struct root *root, const char *pf)
{
	return cache_get(&pfs, root, pf);
}
