/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks the netdevs of a function for all values that the rows of section link need. */
#include <errno.h>

#include "base/str.h"
#include "kinds/function.h"
#include "kinds/link_values.h"
#include "profile/section.h"
#include "sys/netlink.h"

/* The files of all rows, because a function is asked only once. */
static void find_files(struct strv *ret)
{
	for (const struct field *row = section_find("link")->spec->item->fields; row->item; row++) {
		const struct link_item *item = row->item;

		if (item->how == LINK_FILE)
			strv_add(ret, item->file);
	}
}

int link_ask(const struct root *root, const char *addr, unsigned int ifindex, bool apart,
	     struct ports *ret, struct err *err)
{
	cleanup_strv struct strv files = {0};
	struct port_question q = {.root = root, .files = &files};
	struct netdevs found = {0};
	struct netlink_answer got cleanup_answer = {0};
	int r = function_netdevs(root, addr, &found, err);

	find_files(&files);
	for (size_t i = 0; r == 0 && i < found.n; i++)
		if (!ifindex || found.v[i].ifindex == ifindex)
			vec_push(&q.netdevs.list, found.v[i].ifindex);
	vec_free(&found);
	if (r == 0)
		r = apart ? netlink_ask_apart(ports_question, &q, "rtnl", NETLINK_APART_MS, &got,
					      err)
			  : ports_question(&q, &got, err);
	vec_free(&q.netdevs.list);
	if (r == 0)
		r = ports_parse(got.data, got.len, ret, err);
	if (r == 0 && !ret->n)
		return err_set(err, -ENODEV, "%s has no netdev of its own", addr);
	return r;
}
