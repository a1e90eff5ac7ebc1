/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asking a PF after its VFs, once for all that look at one of them. */
#include "kinds/vf_values.h"

#include <errno.h>
#include <string.h>

#include "kinds/netlink.h"
#include "sys/netlink.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

static int by_index(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return (x > y) - (x < y);
}

/*
 * The PF's netdevs, oldest first: in switchdev mode its uplink, whose number stays, before the
 * representors.
 */
static void netdevs_of(const struct root *root, const char *pf, struct ifindexes *ret)
{
	cleanup_strv struct strv names = {0};

	read_dir(root, &names, NULL, DEV "%s/net", pf);
	for (size_t i = 0; i < names.n; i++) {
		uint64_t index;

		if (read_u64(root, &index, NULL, "/sys/class/net/%s/ifindex", names.v[i]) == 0)
			vec_push(&ret->list, (unsigned int)index);
	}
	if (ret->list.n)
		qsort(ret->list.v, ret->list.n, sizeof(*ret->list.v), by_index);
}

static int no_netdev(const char *pf, bool guid, struct err *err)
{
	if (guid)
		return err_set(
			err, -ENODEV,
			"%s has no IPoIB netdev, through which the GUIDs of its VFs are set; "
			"load ib_ipoib (modules: {load: [ib_ipoib]})",
			pf);
	return err_set(err, -ENODEV,
		       "%s has no netdev in this network namespace, through which its VFs are "
		       "addressed; is its driver loaded?",
		       pf);
}

int vf_ask(const struct root *root, const char *pf, bool guid, bool apart, struct pf_info *ret,
	   struct err *err)
{
	struct ifindexes netdevs = {0};
	struct netlink_answer got cleanup_answer = {0};
	int r;

	netdevs_of(root, pf, &netdevs);
	if (!netdevs.list.n)
		return no_netdev(pf, guid, err);
	r = apart ? netlink_ask_apart(pf_info_question, &netdevs, "rtnl", NETLINK_APART_MS, &got,
				      err)
		  : pf_info_question(&netdevs, &got, err);
	vec_free(&netdevs.list);
	return r < 0 ? r : pf_info_parse(got.data, got.len, ret, err);
}

static VEC(struct vf_heard *) memory;
/* All PFs have one rtnl: who does not get it once is not made to wait for each. */
static struct err rtnl_held;

void forget_vf_address(const struct change *c)
{
	size_t kept = 0;

	if (!c)
		rtnl_held.code = 0;
	for (size_t i = 0; i < memory.n; i++) {
		struct vf_heard *h = memory.v[i];

		if (change_concerns(c, h->pf)) {
			pf_info_free(&h->info);
			free(h->pf);
			free(h);
		} else {
			memory.v[kept++] = h;
		}
	}
	memory.n = kept;
	if (!kept)
		vec_free(&memory);
}

const struct vf_heard *vf_hear(const struct root *root, const char *pf, bool guid)
{
	struct vf_heard *h;

	for (size_t i = 0; i < memory.n; i++)
		if (streq(memory.v[i]->pf, pf))
			return memory.v[i];
	h = xnew(struct vf_heard);
	h->pf = xstrdup(pf);
	if (rtnl_held.code) {
		h->err = rtnl_held;
		h->result = rtnl_held.code;
	} else {
		h->result = vf_ask(root, pf, guid, true, &h->info, &h->err);
	}
	if (h->result == -ETIMEDOUT)
		rtnl_held = h->err;
	vec_push(&memory, h);
	return h;
}
